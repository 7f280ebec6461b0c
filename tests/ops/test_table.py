"""Every operation of the table: against NumPy, finite differences, forward mode, itself twice over, and a loop.

The inputs come from the table too. An operation without samples fails here: it cannot exist untested.
"""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape import ops
from gradtape.core.operation import Op
from gradtape.core.rules import TABLE
from gradtape.numpy_dispatch.protocols import FUNCTIONS, UFUNCS

from .cases import (
    CONSTANT,
    DIFFERENTIABLE,
    EXAMPLES,
    LAYOUTS,
    OPERATIONS,
    Case,
    assert_close,
    cases,
    central_difference,
    directions,
    gradient_by_differences,
    inner,
    parts,
)

# operations whose inputs have to be apart: at x = y they jump
APART = {"remainder", "fmod", "clip"}

every = pytest.mark.parametrize("name", OPERATIONS)
differentiable = pytest.mark.parametrize("name", DIFFERENTIABLE)


def cotangent(case: Case, seed: int = 1) -> Any:
    """A random cotangent for the result of a case."""
    result = case.kernel(*case.point)
    drawn = directions(parts(result), seed)
    return tuple(drawn) if isinstance(result, tuple) else drawn[0]


def pulled(case: Case, point: Any, weights: Any) -> list[Any]:
    """The gradient, by reverse mode."""
    return list(gt.vjp(case.at, *point)[1](weights))


def pushed(case: Case, point: Any, direction: Any) -> list[Any]:
    """The directional derivative, by forward mode."""
    return parts(gt.jvp(case.at, tuple(point), tuple(direction))[1])


def in_single_precision(case: Case) -> Case:
    return case.mapped(lambda x: x.astype("complex64" if x.dtype.kind == "c" else "float32"))


# -- values, shapes and dtypes


@every
def test_has_samples(name: str) -> None:
    """An operation brings samples, or a domain that samples follow from, and a differentiable one moves in them."""
    found = cases(TABLE[name])
    assert found
    if TABLE[name].differentiable:
        assert any(case.moving for case in found)


@every
def test_value_is_the_kernels(name: str) -> None:
    """On tensors an operation gives what its kernel gives on arrays, in the same shape and dtype."""
    for case in cases(TABLE[name]):
        expected = parts(case.op.kernel(*case.arrays, **case.params))
        tensors = [gt.tensor(a) if isinstance(a, np.ndarray | np.generic) else a for a in case.arrays]
        actual = parts(case.op(*tensors, **case.params))
        for a, b in zip(actual, expected, strict=True):
            assert isinstance(a, gt.Tensor)
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_array_equal(a.numpy(), b)


@differentiable
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_gradient_has_shape_and_dtype_of_its_source(name: str, precision: str) -> None:
    """Every gradient has its input's shape and dtype, in double and in single precision."""
    for case in cases(TABLE[name]):
        if precision == "float32":
            case = in_single_precision(case)
        for x, gradient in zip(case.point, pulled(case, case.point, cotangent(case)), strict=True):
            assert (gradient.shape, gradient.dtype) == (x.shape, x.dtype)


@differentiable
def test_single_precision_never_widens(name: str) -> None:
    """The rules themselves compute in single precision, before any cast could hide a widening."""
    single = {np.dtype("float32"), np.dtype("complex64")}
    for case in map(in_single_precision, cases(TABLE[name])):
        with gt.GradientTape() as tape:
            sources = [tape.watch(x) for x in case.point]
            result = case.at(*sources)
        if isinstance(result, tuple) or result.dtype not in single:
            continue  # the kernel itself answers in another dtype
        node = result._node
        out, inputs = node.values(None)
        cotangents = case.op.reverse(cotangent(case), node, out, inputs)
        assert {g.dtype for g in cotangents if g is not None} <= single
        tangent = pushed(case, case.point, directions(case.point, 2))[0]
        assert tangent.dtype == result.dtype


@differentiable
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_makes_no_difference(name: str, layout: str) -> None:
    """Fortran-ordered and non-contiguous inputs give the value and the gradient of contiguous ones."""
    for case in cases(TABLE[name]):
        other = case.mapped(LAYOUTS[layout])
        weights = cotangent(case)
        assert_close(parts(case.kernel(*other.point)), parts(case.kernel(*case.point)), 1e-13)
        assert_close(pulled(case, other.point, weights), pulled(case, case.point, weights), 1e-13)


@differentiable
def test_numpy_scalars_are_arrays(name: str) -> None:
    """NumPy's scalars, which is what its functions return for shape (), do as well as arrays of shape ()."""
    for case in cases(TABLE[name]):
        if any(np.shape(x) == () for x in case.point):
            weights = cotangent(case)
            as_scalars = lambda *xs, case=case: case.at(*[x * 1.0 for x in xs])
            value, pull_back = gt.vjp(as_scalars, *case.point)
            assert_close(parts(value), parts(case.kernel(*case.point)), 1e-14)
            assert_close(list(pull_back(weights)), pulled(case, case.point, weights), 1e-14)
            direction = directions(case.point, 2)
            tangent = parts(gt.jvp(as_scalars, tuple(case.point), tuple(direction))[1])
            assert_close(tangent, pushed(case, case.point, direction), 1e-14)


def numpy_counterparts() -> list[str]:
    """The public rows that NumPy has a function of the same name for."""
    return [name for name in ops.__all__ if isinstance(getattr(ops, name), Op) and callable(getattr(np, name, None))]


NOT_THE_ROW = {
    "identity",  # NumPy's makes a matrix
    *(
        "power",
        "pow",
    ),  # `gt.power` is `**`, which makes 8-bit integers of squared truth values, as NumPy's operator does
}


@pytest.mark.parametrize("name", [name for name in numpy_counterparts() if name not in NOT_THE_ROW])
def test_numpy_function_is_answered_by_its_own_row(name: str) -> None:
    """`np.name` on a tensor is `gt.name`, and no other row that happens to share its kernel."""
    function = getattr(np, name)
    answer = UFUNCS[function] if isinstance(function, np.ufunc) else FUNCTIONS[function]
    assert answer is getattr(gt, name)


# -- first derivatives


@differentiable
def test_reverse_agrees_with_finite_differences(name: str) -> None:
    """The gradient of a randomly weighted result is the slope that small steps of each input find."""
    for case in cases(TABLE[name]):
        weights = cotangent(case)
        expected = gradient_by_differences(case.kernel, case.point, parts(weights), case.step)
        assert_close(pulled(case, case.point, weights), expected, tolerance_of(case))


@differentiable
def test_forward_agrees_with_finite_differences(name: str) -> None:
    """The derivative along a random direction is the slope that a small step in it finds."""
    for case in cases(TABLE[name]):
        direction = directions(case.point, 2)
        expected = central_difference(case.kernel, case.point, direction, case.step)
        assert_close(pushed(case, case.point, direction), expected, tolerance_of(case))


@differentiable
def test_forward_and_reverse_are_adjoint(name: str) -> None:
    """<g, J v> equals <J^T g, v>: the two modes are transposes of one another, to the last digits."""
    for case in cases(TABLE[name]):
        weights, direction = cotangent(case), directions(case.point, 2)
        left = inner(parts(weights), pushed(case, case.point, direction))
        right = inner(pulled(case, case.point, weights), direction)
        assert left == pytest.approx(right, rel=max(1e-11, tolerance_of(case, exact=True)), abs=1e-11)


@differentiable
def test_each_input_alone_moves_as_in_the_whole(name: str) -> None:
    """With only one input tracked, its gradient and its tangent are those it has when all are tracked."""
    for case in cases(TABLE[name]):
        weights = cotangent(case)
        gradients = pulled(case, case.point, weights)
        for k, x in enumerate(case.point):

            def alone(value: Any, k: int = k, case: Case = case) -> Any:
                return case.at(*case.point[:k], value, *case.point[k + 1 :])

            (gradient,) = gt.vjp(alone, x)[1](weights)
            assert_close([gradient], [gradients[k]], 1e-14)
            (direction,) = directions([x], 2)
            others = [np.zeros_like(y) for y in case.point]
            others[k] = direction
            tangent = parts(gt.jvp(alone, (x,), (direction,))[1])
            assert_close(tangent, pushed(case, case.point, others), 1e-14)


@differentiable
def test_linearize_pushes_like_jvp(name: str) -> None:
    """The linear function of `linearize` is the derivative of `jvp`, and adds up like one."""
    for case in cases(TABLE[name]):
        first, second = directions(case.point, 2), directions(case.point, 3)
        value, push = gt.linearize(case.at, *case.point)
        assert_close(parts(value), parts(case.kernel(*case.point)), 1e-14)
        assert_close(parts(push(*first)), pushed(case, case.point, first), 1e-12)
        together = parts(push(*[a + b for a, b in zip(first, second, strict=True)]))
        apart = [a + b for a, b in zip(parts(push(*first)), parts(push(*second)), strict=True)]
        assert_close(together, apart, max(1e-11, tolerance_of(case, exact=True)))


def in_one_variable(case: Case) -> tuple[Any, list[Any]] | None:
    """A case whose inputs could all be the same array, as a function of that one array."""
    shapes = {np.shape(x) for x in case.point}
    if len(case.moving) < 2 or len(shapes) > 1 or case.op.name in APART:
        return None
    return lambda x: case.at(*[x] * len(case.moving)), [case.point[0]]


@differentiable
def test_operand_given_twice_collects_both_gradients(name: str) -> None:
    """The gradient of f(x, x) is that of f in its first place and in its second, added."""
    for case in cases(TABLE[name]):
        found = in_one_variable(case)
        if found is None:
            continue
        function, point = found
        same = Case(case.op, tuple(point[0] if i in case.moving else a for i, a in enumerate(case.arrays)), case.params)
        weights = cotangent(same)
        (gradient,) = gt.vjp(function, *point)[1](weights)
        kernel = lambda x, same=same: same.kernel(*[x] * len(same.moving))
        assert_close([gradient], gradient_by_differences(kernel, point, [weights], 1e-5), max(tolerance_of(case), 1e-6))
        assert_close([gradient], [np.sum(pulled(same, same.point, weights), axis=0)], 1e-12)


# -- second derivatives


def gradient_along(case: Case, weights: Any) -> Any:
    """The gradient as a function of the inputs."""
    return lambda *point: tuple(gt.vjp(case.at, *point)[1](weights))


@differentiable
def test_second_order_is_the_same_in_every_mode(name: str) -> None:
    """Both modes over both give one Hessian, and its product with v is the change of the gradient along v."""
    for case in cases(TABLE[name]):
        weights, direction = cotangent(case), directions(case.point, 2)
        point, along_v = tuple(case.point), tuple(direction)
        gradient = gradient_along(case, weights)

        def along(*point: Any, case: Case = case, along_v: Any = along_v) -> Any:
            return gt.jvp(case.at, point, along_v)[1]

        reverse_over_reverse = list(gt.vjp(gradient, *point)[1](along_v))
        forward_over_reverse = list(gt.jvp(gradient, point, along_v)[1])
        reverse_over_forward = list(gt.vjp(along, *point)[1](weights))
        forward_over_forward = parts(gt.jvp(along, point, along_v)[1])
        expected = central_difference(gradient, case.point, direction, case.step)
        assert_close(reverse_over_reverse, expected, max(tolerance_of(case), 5e-6))
        exact = tolerance_of(case, exact=True)
        assert_close(forward_over_reverse, reverse_over_reverse, max(1e-10, exact))
        assert_close(reverse_over_forward, reverse_over_reverse, max(1e-10, exact))
        curvature = pytest.approx(inner(forward_over_reverse, direction), rel=max(1e-9, exact), abs=1e-9)
        assert inner(parts(weights), forward_over_forward) == curvature


# -- batches


def subsets(count: int) -> Any:
    """The non-empty choices among `count` inputs, at most the first six."""
    return list(chain.from_iterable(combinations(range(count), n) for n in range(1, count + 1)))[:7]


def batches(op: Op) -> list[tuple[Case, list[Case]]]:
    """Each case with others of the same shapes."""
    drawn = [cases(op, seed) for seed in range(EXAMPLES)]
    return [(group[0], list(group)) for group in zip(*drawn, strict=True)]


def stacked(examples: list[Case], chosen: tuple[int, ...]) -> tuple[list[Any], list[Any], list[list[Any]]]:
    """The inputs with the chosen ones stacked, the axes to map over, and the inputs of each example."""
    first = examples[0].arrays
    inputs = [np.stack([e.arrays[i] for e in examples]) if i in chosen else first[i] for i in range(len(first))]
    axes = [0 if i in chosen else None for i in range(len(first))]
    singles = [[e.arrays[i] if i in chosen else first[i] for i in range(len(first))] for e in examples]
    return inputs, axes, singles


@every
def test_vmap_is_a_loop(name: str) -> None:
    """Mapped over any choice of its inputs, an operation gives what a Python loop gives."""
    for case, examples in batches(TABLE[name]):
        for chosen in subsets(len(case.arrays)):
            inputs, axes, singles = stacked(examples, chosen)
            actual = gt.vmap(lambda *xs, case=case: case.op(*xs, **case.params), in_axes=axes)(*inputs)
            loop = [parts(case.op.kernel(*single, **case.params)) for single in singles]
            expected = [np.stack(column) for column in zip(*loop, strict=True)]
            assert [a.dtype for a in parts(actual)] == [b.dtype for b in expected]
            assert_close(parts(actual), expected, 1e-12)


@every
def test_vmap_over_no_examples(name: str) -> None:
    """A batch of no examples gives results for no examples, in the right shape."""
    for case in cases(TABLE[name]):
        inputs = [np.zeros((0, *np.shape(a)), np.asarray(a).dtype) for a in case.arrays]
        actual = gt.vmap(lambda *xs, case=case: case.op(*xs, **case.params))(*inputs)
        for a, b in zip(parts(actual), parts(case.op.kernel(*case.arrays, **case.params)), strict=True):
            assert (a.shape, a.dtype) == ((0, *b.shape), b.dtype)


@differentiable
def test_vmap_of_the_gradient_is_a_loop(name: str) -> None:
    """Mapped over any choice of its inputs, the gradient is what a Python loop of gradients gives."""
    for case, examples in batches(TABLE[name]):
        weights = np.stack([cotangent(case, seed) for seed in range(EXAMPLES)]) if not case.op.outputs else None
        for chosen in subsets(len(case.arrays)):
            inputs, axes, singles = stacked(examples, chosen)

            def gradient(g: Any, *xs: Any, case: Case = case) -> Any:
                one = Case(case.op, xs, case.params)
                moving = case.moving
                return gt.vjp(lambda *vs: case.op(*_with(one.arrays, moving, vs), **case.params), *_at(xs, moving))[1](
                    g
                )

            seeds = weights if weights is not None else cotangent(case)
            axis_of_seed = 0 if weights is not None else None
            actual = gt.vmap(gradient, in_axes=[axis_of_seed, *axes])(seeds, *inputs)
            loop = [gradient(seeds[k] if weights is not None else seeds, *single) for k, single in enumerate(singles)]
            assert_close(list(actual), [np.stack(column) for column in zip(*loop, strict=True)], 1e-11)


def _with(arrays: Any, places: list[int], values: Any) -> list[Any]:
    filled = list(arrays)
    for place, value in zip(places, values, strict=True):
        filled[place] = value
    return filled


def _at(arrays: Any, places: list[int]) -> list[Any]:
    return [arrays[place] for place in places]


@differentiable
def test_derivatives_of_vmap_are_a_loop(name: str) -> None:
    """Both modes pass through a mapped operation: gradients and tangents are those of the loop."""
    for case, examples in batches(TABLE[name]):
        if case.op.outputs:
            continue
        inputs, axes, singles = stacked(examples, tuple(range(len(case.arrays))))
        moving = case.moving
        weights = np.stack([cotangent(case, seed) for seed in range(EXAMPLES)])

        def mapped(*values: Any, case: Case = case, inputs: Any = inputs, axes: Any = axes) -> Any:
            function = gt.vmap(lambda *xs: case.op(*xs, **case.params), in_axes=axes)
            return function(*_with(inputs, case.moving, values))

        point = _at(inputs, moving)
        direction = directions(point, 4)
        ones = [Case(case.op, tuple(single), case.params) for single in singles]
        gradients = [pulled(one, one.point, g) for one, g in zip(ones, weights, strict=True)]
        expected = [np.stack(column) for column in zip(*gradients, strict=True)]
        assert_close(list(gt.vjp(mapped, *point)[1](weights)), expected, 1e-11)
        tangents = [pushed(one, one.point, [d[k] for d in direction])[0] for k, one in enumerate(ones)]
        assert_close([gt.jvp(mapped, tuple(point), tuple(direction))[1]], [np.stack(tangents)], 1e-11)


# -- complex numbers


def in_the_plane(case: Case) -> Case | None:
    """The case at complex numbers, if its kernel takes them and answers with them."""
    generator = np.random.default_rng(7)
    if case.op.name in REAL_ONLY or not case.moving:
        return None
    moved_off = case.mapped(lambda x: x + 1j * generator.uniform(0.1, 0.4, np.shape(x)))
    try:
        moved_off.kernel(*moved_off.point)
    except TypeError:
        return None
    return moved_off


# of complex numbers NumPy takes these in an order of its own, or not as functions that have a derivative
REAL_ONLY = {"maximum", "minimum", "fmax", "fmin", "clip", "max", "min", "astype", "relu", "logsumexp", "softmax"}
REAL_ONLY |= {"log_softmax", "softplus", "nan_to_num", "root of squares"}
REAL_ONLY |= {"schur_or_hessenberg"}  # the phases of complex vectors are free


@differentiable
def test_complex_gradient_is_the_steepest_ascent(name: str) -> None:
    """For complex inputs both modes agree with steps along the real and along the imaginary axis."""
    for case in filter(None, map(in_the_plane, cases(TABLE[name]))):
        weights, direction = cotangent(case), directions(case.point, 2)
        gradients = pulled(case, case.point, weights)
        expected = gradient_by_differences(case.kernel, case.point, parts(weights), 1e-5)
        assert_close(gradients, expected, 1e-6)
        tangents = pushed(case, case.point, direction)
        assert_close(tangents, central_difference(case.kernel, case.point, direction, 1e-5), 1e-6)
        assert inner(parts(weights), tangents) == pytest.approx(inner(gradients, direction), rel=1e-10, abs=1e-10)


@differentiable
def test_complex_second_order(name: str) -> None:
    """For complex inputs the gradient of <gradient, v> is the change of the gradient along v."""
    for case in filter(None, map(in_the_plane, cases(TABLE[name]))):
        weights, direction = cotangent(case), directions(case.point, 2)
        gradient = gradient_along(case, weights)
        curved = list(gt.vjp(gradient, *case.point)[1](tuple(direction)))
        assert_close(curved, central_difference(gradient, case.point, direction, 1e-5), 1e-5)


# -- operations without a derivative


@pytest.mark.parametrize("name", CONSTANT)
def test_constant_leaves_the_tape(name: str) -> None:
    """The result of an operation without a derivative is not tracked, and no gradient comes through it."""
    for case in cases(TABLE[name]):
        if not case.moving:
            continue
        with gt.GradientTape(persistent=True) as tape:
            sources = [tape.watch(x) for x in case.point]
            result = case.at(*sources)
            for part in parts(result):
                assert not part.is_tracked
        for part in parts(result):
            if part.dtype.kind in "fc":
                found = tape.gradient(part, sources, unconnected_gradients="none")
                assert found == [None] * len(sources)


def tolerance_of(case: Case, exact: bool = False) -> float:
    """What rounding allows: single precision where the operation itself goes through it."""
    single = any(np.asarray(part).dtype in (np.float32, np.complex64) for part in parts(case.kernel(*case.point)))
    return 2e-6 if single else 0.0 if exact else 1e-7
