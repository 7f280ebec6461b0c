"""`gradcheck`: right derivatives pass, wrong ones are named, and a kink is told apart from a mistake."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ops.cases import DIFFERENTIABLE, cases, parts

import gradtape as gt
from gradtape.checking import GradcheckError, GradcheckReport, comparison, gradcheck
from gradtape.core.operation import Op
from gradtape.core.rules import TABLE

Function = Callable[..., Any]
BOTH = ("reverse", "forward")
SECOND = ("reverse over reverse", "forward over reverse", "reverse over forward", "forward over forward")


def failing(function: Function, *args: Any, **options: Any) -> GradcheckReport:
    """The report of a check that must fail, taken from the error that it raises."""
    with pytest.raises(GradcheckError) as caught:
        gradcheck(function, *args, **options)
    report = caught.value.report
    assert not report
    assert str(caught.value) == str(report)
    return report


def faulty(reverse: Function = lambda slope: slope, forward: Function = lambda slope: slope) -> Op:
    """The sine, whose derivative is changed by `reverse` in reverse mode and by `forward` in forward mode."""
    return Op(
        "faulty",
        np.sin,
        reverse=lambda g, node, out, inputs: (g * reverse(np.cos(inputs[0])),),
        forward=lambda node, out, inputs, tangents: tangents[0] * forward(np.cos(inputs[0])),
        needs=(frozenset({0}),),
    )


def bumped(index: Any) -> Function:
    """A slope with one element a tenth too large."""

    def change(slope: Any) -> Any:
        factor = np.ones(slope.shape)
        factor[index] = 1.1
        return slope * factor

    return change


# -- what is right


@pytest.mark.parametrize("name", DIFFERENTIABLE[::3])
def test_operations_of_the_table_pass(name: str) -> None:
    """Operations of the table pass on two of their samples, in all modes; on the first in both orders.

    One in three: that the rules of all of them are right is tested with the table itself.
    """
    orders = [1, 2]
    for case in cases(TABLE[name]):
        numbers = [*case.point, *(part for part in parts(case.at(*case.point)) if part.dtype.kind in "fc")]
        if any(x.dtype.itemsize < 8 * (1 + (x.dtype.kind == "c")) or not np.isfinite(x).all() for x in numbers):
            continue  # coarse numbers and those that are not finite are refused
        if any(np.array_equal(a, b) for i, a in enumerate(case.point) for b in case.point[:i]):
            continue  # ties: the derivative is a choice
        if orders:
            report = gradcheck(case.at, *case.point, order=orders.pop(), raise_exception=False)
            assert report, str(report)


def test_passing_report() -> None:
    """The report of a check that passed is true, counts, names the modes and reads well."""
    report = gradcheck(np.sin, np.array([0.5, 1.0]))
    assert report
    assert report.ok
    assert (report.compared, report.failed, report.modes, report.kink, report.problem) == (8, 0, BOTH, "", "")
    assert report.worst is not None
    assert report.worst.difference <= report.worst.tolerance
    assert "gradcheck of sin passed: 8 derivatives compared" in str(report)


def test_second_order_compares_each_mode_over_each() -> None:
    """With order=2 the derivatives of gradients and of tangents are compared too."""
    report = gradcheck(lambda x, y: x**3 * np.exp(y), np.array([1.0, 2.0]), np.array([0.5, -0.5]), order=2)
    assert report.modes == BOTH + SECOND
    assert report.compared == 2 * (2 * 4) + 2 * (4 * 4) + 2 * (2 * 4)


Pair = collections.namedtuple("Pair", ["left", "right"])


@dataclasses.dataclass
class Parameters:
    weight: Any
    steps: int


def test_nested_arguments_and_results() -> None:
    """Floating point leaves are found in every container, others are handed on, and results may be nested too."""

    def function(tree: Any, pair: Any, parameters: Parameters) -> Any:
        assert tree["name"] == "word"
        assert parameters.steps == 3
        total = tree["list"][0] * pair.left + parameters.weight
        return {"total": total, "count": 3, "pair": (np.sum(pair.right), [total * 2])}

    args = (
        {"name": "word", "list": [np.array([1.0, 2.0]), np.arange(3)]},
        Pair(0.5, np.array([[1.0], [2.0]])),
        Parameters(gt.tensor([3.0, 4.0]), 3),
    )
    report = gradcheck(function, *args)
    assert report.compared == 2 * (2 + 1 + 2) * (2 + 1 + 2 + 2)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("dict", "argument 0['w']"),
        ("list", "argument 0[1]"),
        ("namedtuple", "argument 0.right"),
        ("dataclass", "argument 0.weight"),
        ("plain", "argument 0"),
    ],
)
def test_arguments_are_named_as_they_are_reached(path: str, name: str) -> None:
    """The report names a nested element by the expression that picks it."""
    wrong = faulty(reverse=bumped(1))
    x = np.array([0.1, 0.2])
    call: tuple[Function, Any] = {
        "dict": (lambda tree: wrong(tree["w"]), {"w": x}),
        "list": (lambda tree: wrong(tree[1]), [0.5, x]),
        "namedtuple": (lambda tree: wrong(tree.right), Pair(1.0, x)),
        "dataclass": (lambda tree: wrong(tree.weight), Parameters(x, 3)),
        "plain": (wrong, x),
    }[path]
    worst = failing(*call).worst
    assert worst is not None
    assert worst.argument == f"{name}[1]"


def test_outputs_are_named_as_they_are_reached() -> None:
    """The report names an element of a nested result in the same way."""
    wrong = faulty(reverse=bumped((0, 1)))
    worst = failing(lambda x: {"a": x, "b": (3, wrong(x))}, np.ones((1, 2))).worst
    assert worst is not None
    assert (worst.output, worst.argument) == ("output['b'][1][0, 1]", "argument 0[0, 1]")


def test_complex_arguments_are_varied_in_both_parts() -> None:
    """Holomorphic functions and others pass, in both orders; real and imaginary parts count apiece."""
    z = np.array([0.5 + 0.7j, -0.3 + 0.2j])
    assert gradcheck(lambda z: z * z, z).compared == 2 * 16
    for function in (np.exp, np.conj, lambda z: np.real(z) * np.imag(z) + 1j, lambda z: z * np.conj(z)):
        gradcheck(function, z, order=2)
    gradcheck(lambda x, z: x * z, np.array([1.0, 2.0]), z, order=2)


def test_modulus_passes_in_both_orders() -> None:
    """The direction of a complex number changes with it, so its modulus has a second derivative."""
    gradcheck(np.abs, np.array([0.5 + 0.7j, -0.3 + 0.2j]), order=2)


def test_wrong_complex_rule_names_the_part() -> None:
    """A rule that forgets to conjugate is found in the parts where that shows."""
    square = Op(
        "square",
        lambda z: z * z,
        reverse=lambda g, node, out, inputs: (g * 2 * inputs[0],),
        forward=lambda node, out, inputs, tangents: tangents[0] * 2 * inputs[0],
        needs=(frozenset({0}),),
    )
    report = failing(square, np.array([1.0 + 1.0j]))
    assert report.worst is not None
    assert report.worst.mode == "reverse"
    assert report.worst.argument in ("argument 0[0], real part", "argument 0[0], imaginary part")
    assert report.worst.argument.removeprefix("argument 0[0]") != report.worst.output.removeprefix("output[0]")


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1, 1)])
def test_scalars_and_empty_arrays(shape: tuple[int, ...]) -> None:
    """Arguments of any shape pass; where there is no element there is nothing to compare."""
    report = gradcheck(np.sin, np.full(shape, 0.5), order=2)
    assert report
    assert bool(report.compared) == bool(np.prod(shape))
    assert str(report)


def test_python_numbers_are_taken() -> None:
    """A float is an argument to vary; an integer is handed on."""
    assert gradcheck(lambda x, n: x**n, 1.5, 3).compared == 2


def test_fast_changes_are_not_mistakes() -> None:
    """A smooth function that bends a lot within the step passes, because the difference is extrapolated."""
    gradcheck(lambda x: np.sin(3e4 * x), np.array([0.3]))
    gradcheck(lambda x: np.sum(np.exp(40 * x)), np.array([0.3, 0.8]))


def test_large_values_are_not_mistakes() -> None:
    """The rounding of a large value is allowed for."""
    gradcheck(lambda x: 1e9 + x * x, np.array([0.5, 1.0]))
    gradcheck(lambda x: x * x, np.array([1e6, -3e5, 1e-6]))


def test_arguments_are_left_alone() -> None:
    """A check changes neither its arguments nor the gradients that tensors have accumulated."""
    x = np.array([1.0, 2.0])
    t = gt.tensor([3.0, 4.0], requires_grad=True)
    gradcheck(lambda x, t: x * t, x, t)
    np.testing.assert_array_equal(x, [1.0, 2.0])
    assert x.flags.writeable
    assert t.grad is None


def test_works_on_an_active_tape() -> None:
    """Inside a tape the check gives the same verdict, and the tape goes on."""
    x = gt.tensor([1.0, 2.0])
    with gt.GradientTape() as tape:
        tape.watch(x)
        assert gradcheck(lambda y: y * y, x)
        loss = (x * x).sum()
    np.testing.assert_array_equal(tape.gradient(loss, x).numpy(), [2.0, 4.0])


# -- what is wrong


@pytest.mark.parametrize("mode", BOTH)
def test_wrong_rule_is_found_in_its_mode(mode: str) -> None:
    """A rule that is wrong in one element and one mode is reported with element, numbers, tolerance and mode."""
    wrong = faulty(**{mode: bumped((1, 2))})
    x = np.arange(6.0).reshape(2, 3) / 10
    report = failing(wrong, x)
    assert (report.compared, report.failed) == (72, 1)
    worst = report.worst
    assert worst is not None
    assert (worst.mode, worst.output, worst.argument) == (mode, "output[1, 2]", "argument 0[1, 2]")
    assert worst.analytic == pytest.approx(1.1 * np.cos(0.5))
    assert worst.numeric == pytest.approx(np.cos(0.5), rel=1e-8)
    assert worst.difference == pytest.approx(0.1 * np.cos(0.5), rel=1e-6)
    assert worst.tolerance == pytest.approx(1e-7 + 1e-5 * np.cos(0.5), rel=1e-3)
    other, number = worst.other_mode or ("", 0.0)
    assert {mode, other} == set(BOTH)
    assert number == pytest.approx(np.cos(0.5))


def test_message_of_a_failure() -> None:
    """The text has the line, the element, both numbers, difference, tolerance, step, the other mode and a fix."""
    wrong = faulty(reverse=bumped(0))

    def model(x: Any) -> Any:
        return wrong(x)

    text = str(failing(model, np.array([0.0, 0.5])))
    assert text.splitlines()[0] == "gradcheck of model failed; wrong derivatives: 1 of 8."
    assert "test_checking.py" in text
    for row in (
        "d output[0] / d argument 0[0], reverse mode",
        "analytic    1.1",
        "numeric     1   (central difference, step 6.1e-06)",
        "difference  0.1   (tolerance 1.01e-05)",
        "forward     1",
        "fix:",
    ):
        assert row in text
    assert "kink" not in text


def test_raise_exception_can_be_switched_off() -> None:
    """With raise_exception=False the report is returned, and is false."""
    report = gradcheck(faulty(reverse=bumped(0)), np.array([0.5]), raise_exception=False)
    assert isinstance(report, GradcheckReport)
    assert not report


def test_error_is_an_assertion_and_a_gradtape_error() -> None:
    """The error fits both a test runner and those who catch gradtape's errors."""
    assert issubclass(GradcheckError, AssertionError)
    assert issubclass(GradcheckError, gt.GradTapeError)


def test_value_that_leaves_the_tape_is_found() -> None:
    """A function that computes with float(x) has a derivative of zero by the rules, and another by differences."""
    report = failing(lambda x: float(x) ** 2, 3.0)
    assert report.worst is not None
    assert (report.worst.analytic, round(report.worst.numeric, 6)) == (0.0, 6.0)


def test_second_order_finds_a_partial_that_left_the_tape() -> None:
    """A rule that is right at first order, but computes its partial with .numpy(), is wrong at second order."""

    def detached(slope: Any) -> Any:
        return slope.numpy() if isinstance(slope, gt.Tensor) else slope

    half_wrong = faulty(reverse=detached)
    x = np.array([0.3, 0.6])
    assert gradcheck(half_wrong, x)
    report = failing(half_wrong, x, order=2)
    assert report.worst is not None
    assert report.worst.mode in ("reverse over reverse", "forward over reverse")
    assert (report.worst.output, report.worst.argument) == ("gradient by argument 0[1]", "argument 0[1]")
    assert report.worst.analytic == 0
    assert "over reverse mode" in str(report)
    forward_wrong = failing(faulty(forward=detached), x, order=2)
    assert forward_wrong.worst is not None
    assert forward_wrong.worst.mode in ("reverse over forward", "forward over forward")
    assert forward_wrong.worst.output == "tangent of output[1]"


def test_second_order_stops_at_a_wrong_first() -> None:
    """Where the first derivatives are wrong, only they are reported."""
    assert failing(faulty(reverse=bumped(0)), np.array([0.5]), order=2).modes == BOTH


@pytest.mark.parametrize("full", [comparison.FULL, 0], ids=["elements", "projections"])
def test_operation_without_a_forward_rule(full: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forward mode is left out where an operation has no rule for it, and the report says so."""
    monkeypatch.setattr(comparison, "FULL", full)
    plain = Op(
        "plain",
        np.sin,
        reverse=lambda g, node, out, inputs: (g * np.cos(inputs[0]),),
        needs=(frozenset({0}),),
    )
    report = gradcheck(plain, np.array([0.5, 0.7]), order=2)
    assert report.modes == ("reverse", "reverse over reverse", "forward over reverse")


# -- what is not smooth


@pytest.mark.parametrize(
    ("function", "x", "sides"),
    [
        (lambda x: gt.relu(x), 0.0, "0 and 1"),
        (np.abs, 1e-7, "-0.966972 and 1"),
        (lambda x: np.maximum(x, 1) * 3, 1 + 5e-6, "2.47709 and 3"),
    ],
    ids=["at the kink", "beside it", "within the step"],
)
def test_kink_is_recognised(function: Function, x: float, sides: str) -> None:
    """Where the step straddles a kink, the report says so and gives the slopes of both sides."""
    report = failing(function, np.array([2.0, x]))
    assert "at d output[1] / d argument 0[1] the step straddles a kink" in report.kink
    assert f"the two one-sided slopes are {sides}" in report.kink
    assert report.kink in str(report)
    assert "smaller eps" in str(report)


def test_kink_with_the_right_mean_is_noted() -> None:
    """The absolute value at 0 passes, since 0 is the mean of its two slopes, but the kink is noted."""
    report = gradcheck(np.abs, np.array([1.0, 0.0]))
    assert report
    assert "the two one-sided slopes are -1 and 1" in report.kink
    assert "d output[1] / d argument 0[1]" in report.kink
    assert report.kink in str(report)


def test_jump_is_recognised() -> None:
    """A jump is told apart from a kink: its slopes grow as the step shrinks."""
    assert "straddles a jump" in failing(lambda x: np.floor(x) * x, np.array([1.0])).kink
    assert "straddles a jump" in failing(np.floor, np.array([2.0 - 1e-6])).kink
    assert "straddles a jump" in failing(lambda x: np.maximum(x, 0.0), np.array([0.0]), order=2).kink


def test_curvature_is_not_a_kink() -> None:
    """Smooth functions are not called kinked, however much they bend, and whether they pass or not."""
    for function in (np.square, lambda x: np.exp(20 * x), lambda x: 1e4 * x**2, lambda x: x * np.abs(x)):
        assert gradcheck(function, np.array([0.0, 0.7])).kink == ""
    assert failing(lambda x: gt.stop_gradient(x) * x * 1e3, np.array([0.0, 0.7])).kink == ""


def test_step_out_of_the_domain_is_told() -> None:
    """Where a value beside the point is not finite, that is what is said, and a smaller step helps."""
    report = failing(np.log, np.array([1e-7, 1.0]))
    assert "d output[0] / d argument 0[0] the step leaves the domain" in report.kink
    assert gradcheck(np.log, np.array([1e-7, 1.0]), eps=1e-12, rtol=1e-3)


def test_other_shapes_beside_the_point_are_told() -> None:
    """A function whose result has another shape beside the point has no derivative there."""
    report = failing(lambda x: x[x <= 1.0], np.array([0.5, 1.0]))
    assert "argument 0[1]" in report.kink


def test_value_that_is_not_finite_is_told() -> None:
    """Where an argument or the value is infinite or not a number nothing is compared, and the element is named."""
    report = failing(lambda x: np.log(x), np.array([1.0, 0.0]))
    assert "output[1] is -inf" in report.problem
    assert (report.compared, report.worst) == (0, None)
    assert report.problem in str(report)
    assert "argument 0[0] is nan" in failing(np.nan_to_num, np.array([np.nan, 0.0])).problem


def test_derivative_that_is_not_finite_fails() -> None:
    """An infinite or undefined analytic derivative is never within tolerance."""
    report = failing(faulty(reverse=lambda slope: slope * np.nan), np.array([0.5]))
    assert report.worst is not None
    assert np.isnan(report.worst.analytic)
    assert report.worst.excess == np.inf


def test_function_that_is_not_deterministic_is_told() -> None:
    """A function that draws random numbers is called that, with both values, rather than wrong."""
    generator = np.random.default_rng(0)
    report = failing(lambda x: x * generator.random(), np.array([1.0, 2.0]))
    assert "not deterministic: at the same point output[0] was" in report.problem
    assert "seed" in str(report)
    sizes = iter(range(2, 10))
    assert "other shapes" in failing(lambda x: np.broadcast_to(x, (next(sizes),)), 1.0).problem


# -- more than fits


@pytest.fixture
def projected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare random projections from the first element on."""
    monkeypatch.setattr(comparison, "FULL", 0)


@pytest.mark.usefixtures("projected")
@pytest.mark.parametrize("mode", BOTH)
def test_projections_find_the_element(mode: str) -> None:
    """Where not all elements are compared, one that is wrong is found by halving."""
    wrong = faulty(**{mode: bumped((3, 2))})
    report = failing(lambda x: np.sum(wrong(x), axis=0) + x[0], np.linspace(0.1, 1.3, 20).reshape(5, 4))
    assert report.worst is not None
    worst = report.worst
    assert (worst.mode, worst.output, worst.argument) == (mode, "output[2]", "argument 0[3, 2]")
    assert worst.analytic == pytest.approx(1.1 * worst.numeric)


@pytest.mark.usefixtures("projected")
def test_projections_of_right_functions_pass() -> None:
    """Projections pass in both orders, bend or not, with steps of all sizes."""
    x = np.concatenate([np.linspace(-1, 1, 30), [1e5]])
    report = gradcheck(lambda x: np.sin(x) * x[0], x, order=2)
    assert report.compared == comparison.PROJECTIONS * 3 * (1 + 31)
    assert "random direction" in str(report)
    gradcheck(lambda x: np.sum(np.sin(3e4 * x)), np.array([0.1, 0.2]))
    gradcheck(lambda x: x * x, np.array([0.1, 0.2]), eps=1e-4)
    gradcheck(lambda x: x - 1e8, 1e8 + np.linspace(0, 1, 4))


@pytest.mark.usefixtures("projected")
def test_projections_find_kinks_and_edges() -> None:
    """What is not smooth is named behind a projection too."""
    x = np.linspace(0.5, 1.5, 9)
    x[4] = 0
    assert "d output[4] / d argument 0[4] the step straddles a kink" in failing(lambda x: gt.relu(x), x).kink
    x[4] = 1e-8
    assert "d output[4] / d argument 0[4] the step leaves the domain" in failing(np.log, x).kink


def test_large_arguments_are_projected() -> None:
    """Beyond the limit the number of evaluations does not grow with the number of elements."""
    calls = []

    def function(x: Any) -> Any:
        calls.append(1)
        return np.sum(x**2)

    gradcheck(function, np.linspace(-1, 1, comparison.FULL + 1))
    assert len(calls) < 20


# -- what is refused


@pytest.mark.parametrize(
    ("args", "options", "kind", "message"),
    [
        (
            (np.ones(2, np.float32),),
            {},
            gt.DtypeError,
            r"argument 0 has dtype float32.*\n.*\n.*\n.*float64 and complex128",
        ),
        ((np.ones(2, np.float16),), {}, gt.DtypeError, r"astype\('float64'\)"),
        (([1.0, np.ones(2, np.complex64)],), {}, gt.DtypeError, r"argument 0\[1\] has dtype complex64"),
        ((np.ones(2), gt.tensor([1.0], dtype=np.float32)), {}, gt.DtypeError, "argument 1 has dtype float32"),
        ((np.arange(3),), {}, gt.OperandError, "no floating point number among the 1 arguments"),
        ((), {}, gt.OperandError, "no floating point number among the 0 arguments"),
        ((np.ones(2),), {"order": 3}, gt.OperandError, "order=3; accepted are 1 and 2"),
        ((np.ones(2),), {"eps": 0.0}, gt.OperandError, "eps=0.0; a step is a positive number"),
    ],
)
def test_arguments_that_are_refused(args: Any, options: Any, kind: type[Exception], message: str) -> None:
    """What cannot be checked is refused by name, with the line and what is accepted."""
    with pytest.raises(kind, match=message) as caught:
        gradcheck(lambda *args: args[0], *args, **options)
    assert "test_checking.py" in str(caught.value)


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (lambda x: None, gt.OperandError, "returned a NoneType without floating point numbers"),
        (lambda x: [3, "word"], gt.OperandError, "is a return statement missing"),
        (
            lambda x: x.astype(np.float32),
            gt.DtypeError,
            r"output has dtype float32.*\n.*\n.*\n.*\n.*compute it in 'float64'",
        ),
    ],
)
def test_results_that_are_refused(function: Function, kind: type[Exception], message: str) -> None:
    """A result without numbers to differentiate, or with coarse ones, is refused."""
    with pytest.raises(kind, match=message):
        gradcheck(function, np.ones(2))


def test_inside_no_grad() -> None:
    """What gradcheck records is its own, so that `no_grad` around it does not matter."""
    with gt.no_grad():
        assert gradcheck(np.sin, 1.0)


@gt.custom_vjp
def squared(x: Any) -> Any:
    return x * x


squared.defvjp(lambda x: (x * x, x), lambda x, g: (2 * x * g,))


@gt.custom_gradient
def cubed(x: Any) -> Any:
    def slope(upstream: Any) -> Any:
        return upstream * 3 * x

    return x * x * x, slope


@pytest.mark.parametrize("transform", [lambda f: f, gt.vmap])
def test_the_rule_that_is_wrong_is_named(transform: Any) -> None:
    """Of several rules of the user's on the way, each is checked by itself; the wrong one is named, with its line."""
    report = gt.gradcheck(transform(lambda x: squared(x) + cubed(x)), np.array([0.5, 2.0]), raise_exception=False)
    assert "'slope', the rule of 'cubed', is wrong by itself" in report.rules
    assert "return upstream * 3 * x" in report.rules
    assert "squared" not in report.rules
    assert report.rules in str(report)


def test_no_rule_is_blamed_for_another() -> None:
    """Where all rules of the user's are right, none is named."""
    report = gt.gradcheck(lambda x: squared(gt.stop_gradient(x) * x), 3.0, raise_exception=False)
    assert (report.ok, report.rules) == (False, "")
