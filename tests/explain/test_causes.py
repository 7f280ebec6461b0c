"""`why` tells which cause it is, with its line, and gains along a path that flows."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain import Why


def never_used() -> Why:
    x, w = gt.Variable(2.0), gt.Variable(3.0)
    with gt.GradientTape() as tape:
        y = w * w
    return tape.why(y, x)


def not_watched() -> Why:
    x = gt.tensor([1.0, 2.0])  # guilty
    with gt.GradientTape() as tape:
        y = (x * x).sum()
    return tape.why(y, x)


def watched_too_late() -> Why:
    x = gt.tensor([1.0, 2.0])
    with gt.GradientTape() as tape:
        y = np.sin(x)  # guilty
        z = y.sum()
        tape.watch(x)
    return tape.why(z, x)


def required_too_late() -> Why:
    x = gt.tensor([1.0, 2.0])
    y = (x * x).sum()  # guilty
    x.requires_grad_()
    return x.why(y)


def rebound() -> Why:
    with gt.GradientTape() as tape:
        x = tape.watch(np.ones(2))
        y = (x * x).sum()
        x = x + 1.0  # guilty
    return tape.why(y, x)


def attribute_rebound() -> Why:
    class Model:
        weights: Any = gt.Variable(np.ones(2))

    model = Model()
    model.weights = model.weights * 0.5  # guilty
    with gt.GradientTape() as tape:
        y = (model.weights**2).sum()
    return tape.why(y, model.weights)


def assigned() -> Why:
    x, state = gt.Variable(2.0), gt.Variable(0.0)
    with gt.GradientTape() as tape:
        state.assign(x * 3.0)  # guilty
        y = state * state
    return tape.why(y, x)


def integer_cast() -> Why:
    x = gt.Variable([1.0, 2.0])
    with gt.GradientTape() as tape:
        y = x.astype(int).sum()  # guilty
    return tape.why(y, x)


def integer_source() -> Why:
    n = gt.tensor([1, 2])
    with gt.GradientTape() as tape:
        y = (n * 2.0).sum()
    return tape.why(y, n)


def stopped() -> Why:
    x = gt.Variable(2.0)
    with gt.GradientTape() as tape:
        y = gt.stop_gradient(x) * 3.0  # guilty
    return tape.why(y, x)


def under_no_grad() -> Why:
    x = gt.tensor(2.0, requires_grad=True)
    with gt.no_grad():
        y = x * 3.0  # guilty
    return x.why(y)


def numpy_and_back() -> Why:
    x, w = gt.Variable([1.0, 2.0]), gt.Variable([1.0, 2.0])
    with gt.GradientTape() as tape:
        features = np.tanh(x).numpy()  # guilty
        y = (features * w).sum()
    return tape.why(y, x)


def rounded() -> Why:
    x = gt.Variable([1.2, 2.7])
    with gt.GradientTape() as tape:
        y = np.round(x).sum()  # guilty
    return tape.why(y, x)


def compared() -> Why:
    x, w = gt.Variable([1.2, 2.7]), gt.Variable(1.0)
    with gt.GradientTape() as tape:
        y = gt.where(x > 2.0, w, 2.0 * w).sum()  # guilty
    return tape.why(y, x)


def left_as_a_number() -> Why:
    x, w = gt.Variable(2.0), gt.Variable(1.0)
    with gt.GradientTape() as tape:
        scale = math.exp(x)  # guilty
        y = w * scale
    return tape.why(y, x)


def after_the_tape() -> Why:
    x = gt.Variable(2.0)
    with gt.GradientTape() as tape:
        y = x * x
    z = y * 2.0  # guilty
    return tape.why(z, x)


def frozen() -> Why:
    x = gt.Variable(2.0, trainable=False)  # guilty
    with gt.GradientTape() as tape:
        y = x * x
    return tape.why(y, x)


CAUSES: list[tuple[Callable[[], Why], str]] = [
    (never_used, "GT202"),
    (not_watched, "GT203"),
    (watched_too_late, "GT204"),
    (required_too_late, "GT204"),
    (rebound, "GT205"),
    (attribute_rebound, "GT205"),
    (assigned, "GT206"),
    (integer_cast, "GT207"),
    (integer_source, "GT207"),
    (stopped, "GT208"),
    (under_no_grad, "GT208"),
    (numpy_and_back, "GT208"),
    (rounded, "GT209"),
    (compared, "GT209"),
    (left_as_a_number, "GT210"),
    (after_the_tape, "GT211"),
    (frozen, "GT212"),
]


@pytest.mark.parametrize(("situation", "code"), CAUSES, ids=[f.__name__ for f, _ in CAUSES])
def test_cause(situation: Callable[[], Why], code: str) -> None:
    """Each cause has its code, a fix, and the guilty line among its spans."""
    answer = situation()
    assert answer.code == code
    assert answer.startswith(f"[{code}] no gradient: ")
    assert not answer.flows
    assert answer.problem.fixes
    lines, first = inspect.getsourcelines(situation)
    guilty = [number for number, text in enumerate(lines, first) if text.rstrip().endswith("# guilty")]
    assert {span.line for span in answer.problem.spans} >= set(guilty)


class TestFlows:
    """A path, with the size of the gradient."""

    def test_gains(self) -> None:
        """Each step says by how much the gradient grows or shrinks going back through it."""
        x = gt.tensor([3.0, 4.0], requires_grad=True)
        loss = (x * 5.0).sum() * 0.5
        answer = x.why(loss)
        assert answer.flows
        assert answer.code == ""
        assert [(step.operation, step.gain) for step in answer.path] == [
            ("multiply", 0.5),
            ("sum", 1.0),
            ("multiply", 5.0),
        ]
        assert "x 5" in answer
        loss.backward()
        np.testing.assert_array_equal(x.grad.numpy(), [2.5, 2.5])

    def test_zero(self) -> None:
        """Connected and zero: the operation where it died."""
        x = gt.tensor([-1.0, -2.0], requires_grad=True)
        loss = gt.maximum(x * 3.0, 0.0).sum()
        answer = x.why(loss)
        assert answer.code == "GT404"
        assert answer.flows
        assert answer.problem.main is not None
        assert answer.problem.main.text == "gt.maximum(x * 3.0, 0.0)"

    def test_asking_changes_nothing(self) -> None:
        """Hooks are not called, nothing is freed, and no warning is given."""
        calls: list[int] = []
        x = gt.tensor([1.0, 0.0], requires_grad=True)
        y = gt.where(x > 0.5, np.sqrt(x), x)
        y.register_hook(lambda g: calls.append(1))
        loss = y.sum()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            answer = x.why(loss)
        assert answer.flows
        assert calls == []
        assert x.grad is None

    def test_infinite_slopes_are_no_error(self) -> None:
        """A NaN on the way is left to the gradient to report."""
        x = gt.tensor([1.0, 0.0], requires_grad=True)
        loss = gt.where(x > 0.5, np.sqrt(x), x).sum()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert x.why(loss).path

    def test_notebooks(self) -> None:
        """An answer shows itself like its problem."""
        answer = stopped()
        assert answer._repr_mimebundle_() == answer.problem._repr_mimebundle_()


class TestGradIsMissing:
    """`t.why()` about `.grad`, without a target."""

    def test_there_is_one(self) -> None:
        """Nothing is wrong."""
        x = gt.tensor([1.0, 2.0], requires_grad=True)
        (x * x).sum().backward()
        assert x.why() == "there is a gradient: .grad has shape (2,)"

    def test_zero(self) -> None:
        """A gradient of zeros."""
        x = gt.tensor([1.0, 2.0], requires_grad=True)
        (x * 0.0).sum().backward()
        assert x.why().code == "GT404"

    def test_computed_tensor(self) -> None:
        """`gt.tensor(..., requires_grad=True) * 0.1` is not the leaf."""
        w = gt.tensor([1.0, 2.0], requires_grad=True) * 0.1
        w.sum().backward()
        assert w.why().code == "GT205"

    def test_no_backward_yet(self) -> None:
        """No backward has come by."""
        assert gt.tensor(1.0, requires_grad=True).why().code == "GT202"

    def test_not_required(self) -> None:
        """A constant, and a detached tensor."""
        assert gt.tensor(1.0).why().code == "GT203"
        assert (gt.tensor(1.0, requires_grad=True).detach() * 2.0).why().code == "GT208"

    def test_left_as_a_number(self) -> None:
        """A value that left with `float()` is the likely reason."""
        x = gt.tensor(2.0, requires_grad=True)
        with gt.expect("GT210"):
            (gt.tensor(3.0, requires_grad=True) * float(x)).backward()
        assert x.why().code == "GT210"


class TestWarning:
    """Where every gradient is None, the warning is about the cause."""

    def test_main_span_is_the_cause(self) -> None:
        """The guilty expression comes first, then the request."""
        x = gt.Variable([1.2, 2.7])
        with gt.GradientTape() as tape:
            y = np.round(x).sum()
        with pytest.warns(gt.GradientWarning) as caught:
            tape.gradient(y, x)
        problem = caught[0].message.problem  # type: ignore[union-attr]
        assert problem.codes == ("GT201", "GT209")
        assert [span.text for span in problem.spans] == ["np.round(x)", "tape.gradient(y, x)"]

    def test_once_per_place_in_a_loop(self) -> None:
        """A loop is warned of once."""
        x = gt.Variable([1.2, 2.7])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                with gt.GradientTape() as tape:
                    y = np.round(x).sum()
                tape.gradient(y, x)
        assert len(caught) == 1

    def test_backward_of_a_detached_loss(self) -> None:
        """`.backward()` raises with the cause."""
        x = gt.tensor([1.0, 2.0], requires_grad=True)
        loss = x.detach().sum()
        with pytest.raises(gt.UntrackedError) as caught:
            loss.backward()
        assert caught.value.problem.codes == ("GT305", "GT208")


class TestBesideALostCut:
    """Where a value was cut off whose origin is gone, the others are still told apart."""

    def test_variable_that_was_never_read(self) -> None:
        """A variable that no operation met is not blamed on somebody else's stop_gradient."""
        used, unused = gt.Variable([1.0, 2.0]), gt.Variable(3.0)
        with gt.GradientTape(persistent=True) as tape:
            loss = (gt.stop_gradient(np.tanh(used * 2.0)) * used).sum()
        assert tape.why(loss, unused).code == "GT202"

    def test_variable_that_left_as_a_number(self) -> None:
        """Its own departure explains it, not the cut of another value."""
        used, scale = gt.Variable([1.0, 2.0]), gt.Variable(3.0)
        with gt.GradientTape(persistent=True) as tape:
            loss = (gt.stop_gradient(np.tanh(used * 2.0)) * used).sum() * float(scale)
        assert tape.why(loss, scale).code == "GT210"


def reported(function: Callable[[Any], Any], at: Any) -> Any:
    """The one thing that is reported when the gradient of `function` is taken."""
    problems: list[Any] = []
    with gt.explain.configure(GT2="note"), gt.explain.listening(problems.append):
        gt.grad(function)(at)
    (problem,) = problems
    return problem


def test_a_value_that_is_no_tensor_names_where_it_left() -> None:
    """An array that was written into, math.exp and an index: the place, and what to write instead."""

    def written(x: Any) -> Any:
        trace = np.zeros(2)
        trace[0] = x * 2.0
        return trace.sum()

    problem = reported(written, 3.0)
    assert (problem.codes, problem.main.text) == (("GT201", "GT210"), "trace[0]")
    assert problem.fixes[0] == "trace = gt.zeros(2)"
    problem = reported(lambda x: math.exp(-x) * 2.0, 3.0)
    assert (problem.codes, problem.fixes[0]) == (("GT201", "GT210"), "np.exp(-x)")
    problem = reported(lambda x: np.arange(9.0)[x.astype(int)], 3.0)
    assert (problem.codes, problem.main.text) == (("GT201", "GT207"), "x.astype(int)")


def test_a_value_that_never_met_the_argument() -> None:
    """Nothing left the tape, so the names are what is wrong."""
    problem = reported(lambda x: np.ones(3).sum(), 3.0)
    assert problem.codes == ("GT201", "GT202")
    assert problem.fixes == ("compute with it, or leave it out of what is differentiated",)


def test_computed_on_another_tape() -> None:
    """The line is that of the first tape, not the innocent one under the second."""
    x = gt.tensor(3.0)
    with gt.GradientTape() as first:
        first.watch(x)
        y = x**2
    with gt.GradientTape(persistent=True) as second:
        second.watch(x)
        z = y * 2.0
    answer = second.why(z, x)
    assert answer.code == "GT211"
    assert answer.problem.main is not None
    assert answer.problem.main.text == "x**2"


def test_backward_from_variables() -> None:
    """The parameters of a layer are variables: the fix is a tape, not another leaf."""
    weights = gt.Variable(np.ones(3))
    loss = (weights**2).sum()
    with pytest.raises(gt.UntrackedError) as caught:
        loss.backward()
    assert "tape.gradient(loss, variables)" in caught.value.problem.fixes[0]


def test_advice_on_a_parameter_is_an_edit_of_the_call() -> None:
    """The names in a fix are the user's, and the first can be pasted."""
    logits, marks = np.zeros((4, 3)), np.zeros((4, 1), int)
    functional = gt.nn.functional
    with pytest.raises(gt.ShapeError) as caught:
        functional.cross_entropy(logits, marks)
    assert caught.value.problem.fixes[0] == "functional.cross_entropy(logits, marks[:, 0])"
    with pytest.raises(gt.ShapeError) as caught:
        functional.cross_entropy(np.zeros((2, 7, 5)), np.zeros((2, 7), int))
    assert caught.value.problem.fixes[0].endswith("axis=-1)")


def test_tensors_in_np_array() -> None:
    """gt.array takes what np.array would lose."""
    x = gt.tensor(1.0, requires_grad=True)
    with pytest.raises(gt.DetachError) as caught:
        np.array([x, 2.0])
    assert caught.value.problem.fixes[0] == "gt.array([x, 2.0])"


def test_an_index_made_by_rounding() -> None:
    """A rounded value that is an index of a table is said to be read between the entries."""
    table = np.exp(-np.linspace(0.0, 5.0, 51))

    def effect(t: Any) -> Any:
        k = np.round(t * 10).astype(int)
        return np.sum(table[k])

    found: list[Any] = []
    with gt.explain.configure(GT2="note"), gt.explain.listening(found.append):
        gt.grad(effect)(np.array([0.33, 1.27]))
    assert "np.interp(x, np.arange(len(table)), table)" in str(found[-1].fixes[0])
