"""Gradients that are not finite, from compiled functions and from those that push tangents forward."""

import math
import warnings
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit.diagnostics import explain_call


def _root(x: Any) -> Any:
    return np.sum(np.sqrt(x))


def _log(x: Any) -> Any:
    return np.sum(np.log(x) * x)


X = np.array([0.0, 1.0])


class TestCompiled:
    """`gt.jit` around what takes a gradient."""

    def test_a_gradient_that_is_not_finite_is_explained_at_the_line(self) -> None:
        """A compiled gradient with an infinite slope gives the finding of the function itself."""
        step = gt.jit(gt.value_and_grad(_root))
        with gt.expect("GT402") as expected:
            _, gradient = step(X)
        assert not np.isfinite(gradient).all()
        assert expected.problems[0].main is not None
        assert expected.problems[0].main.text == "np.sqrt(x)" or "np.sqrt(x)" in expected.problems[0].title

    def test_a_value_that_becomes_infinite_later_is_noticed_at_once(self) -> None:
        """After many healthy runs, the first loss that is not finite is explained."""
        step = gt.jit(gt.value_and_grad(lambda x: np.sum(np.log(x))))
        for _ in range(6):
            step(X + 1.0)
        with gt.expect("GT401"):
            step(X)

    def test_it_is_said_once_for_a_function(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The function is run a second time for the first such result only."""
        explained: list[Any] = []
        monkeypatch.setattr(explain_call, "explain", lambda *given: explained.append(given))
        step = gt.jit(gt.value_and_grad(_root))
        for _ in range(5):
            step(X)
        assert len(explained) == 1

    def test_infinity_without_a_gradient_is_nobodys_concern(self) -> None:
        """A compiled function that returns infinity and takes no gradient is not commented on."""
        np.testing.assert_array_equal(gt.jit(lambda x: np.where(x > 0, x, np.inf))(X), [np.inf, 1.0])

    def test_what_is_drawn_is_drawn_once(self) -> None:
        """Looking for the cause leaves a generator where the call has left it."""
        rng, other = np.random.default_rng(0), np.random.default_rng(0)

        def noisy(x: Any) -> Any:
            return np.sum(np.sqrt(x) + gt.random.normal(rng, x, 1.0))

        step = gt.jit(gt.value_and_grad(noisy))
        with gt.expect("GT402"):
            step(X)
        other.normal(size=2)
        assert rng.bit_generator.state == other.bit_generator.state

    def test_fit_names_the_line(self) -> None:
        """A loss that is NaN under `gt.fit` is explained at the operation that made it so."""

        def loss(params: Any, x: Any) -> Any:
            return np.mean(np.log(x @ params))

        with gt.expect("GT401") as expected, np.errstate(all="ignore"):
            gt.fit(-np.ones(2), (np.ones((4, 2)),), loss, epochs=1)
        assert any("np.log(x @ params) is nan" in problem.title for problem in expected.problems)

    @pytest.mark.parametrize("answer", [np.float64(1.0), (np.float64(2.0), X), X, (X, X), None, ()])
    def test_most_runs_are_not_looked_at(self, answer: Any) -> None:
        """Of results that begin with no infinite number, only those of the runs 1, 2, 4, 8 and so on are."""
        assert [run for run in range(1, 20) if explain_call.is_suspect(answer, run)] == [1, 2, 4, 8, 16]


def _said(run: Any, calls: int = 3) -> list[tuple[str, str]]:
    """The codes and titles of what is said in some calls."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(calls):
            run()
    found = [getattr(warning.message, "problem", None) for warning in caught]
    return [(problem.code, problem.title) for problem in found if problem is not None]


W = np.array([0.4, -1.0, 2.0])
DATA = np.linspace(-1.0, 1.0, 18).reshape(6, 3)
LABELS = np.array([0, 1, 2, 0, 1, 1])


def _helper(w: Any) -> Any:
    return w.numpy() * 2.0


def _scores(w: Any) -> Any:
    return DATA @ np.outer(w, np.array([1.0, 2.0, 3.0]))


def _shares(scores: Any) -> Any:
    powers = np.exp(scores - np.max(scores))
    return powers / powers.sum()


def _filled(w: Any) -> Any:
    out = np.zeros(3)
    for i in range(3):
        out[i] = w[i] ** 2
    return np.sum(out * w)


FAULTY = {
    "a root at zero": lambda w: np.sum(np.sqrt((w * 0.0) ** 2)),
    "a branch not taken": lambda w: np.sum(np.where(w > 0, np.sqrt(w - 0.4), 0.0)),
    "a helper that leaves": lambda w: np.sum(_helper(w) ** 2),
    "a cast to integers": lambda w: np.sum((w * 3).astype(int) * 2.0),
    "float in the path": lambda w: math.exp(float(w[0])) * np.sum(w),
    "a table of all pairs": lambda w: np.mean((DATA @ w.reshape(3, 1) - LABELS) ** 2),
    "rounded": lambda w: np.sum(np.round(w)),
    "dead": lambda w: np.mean((gt.relu(DATA @ w - 100.0) - 1.0) ** 2),
    "saturated": lambda w: np.mean((np.tanh(DATA @ (w * 1e9)) - 0.5) ** 2),
    "overflow": lambda w: np.sum(np.exp(1000.0 * (w + 1.0))),
    "stopped": lambda w: np.sum(gt.stop_gradient(w) ** 2),
    "an element of an array": _filled,
    "a softmax over the examples": lambda w: -np.mean(np.log(gt.softmax(_scores(w), axis=0)[np.arange(6), LABELS])),
    "a softmax over everything": lambda w: -np.mean(np.log(_shares(_scores(w))[np.arange(6), LABELS])),
    "labels that pick rows": lambda w: -np.mean(gt.log_softmax(_scores(w), axis=1)[LABELS]),
    "labels that pick columns": lambda w: -np.mean(gt.log_softmax(_scores(w), axis=1)[:, LABELS]),
}


class TestLater:
    """Values that are not finite after many healthy runs."""

    @pytest.mark.parametrize(
        ("function", "arguments"),
        [
            (gt.value_and_grad(lambda x: np.sum(np.log(x))), lambda x: x),
            (gt.value_and_grad(lambda x: np.sum(np.log(x))), lambda x: x.astype(np.float32)),
            (gt.value_and_grad(lambda x: np.sum(np.log(x))), gt.tensor),
            (gt.value_and_grad(lambda x: (np.sum(np.log(x)), x), has_aux=True), lambda x: x),
        ],
    )
    def test_the_value_is_noticed_at_once(self, function: Any, arguments: Any) -> None:
        """Whatever kind of number it is, and whatever comes along with it."""
        step = gt.jit(function)
        for _ in range(6):
            step(arguments(X + 1.0))
        with gt.expect("GT401"):
            step(arguments(X))


class TestAsTheFunctionItself:
    """What is said about a gradient that is zero, missing, cut or not finite is said of the compiled one, too."""

    @pytest.mark.parametrize("name", FAULTY)
    @pytest.mark.parametrize("derivative", [gt.grad, gt.value_and_grad, gt.jacobian])
    def test_derivatives(self, name: str, derivative: Any) -> None:
        """A compiled derivative says what the derivative says, in the same words, once."""
        function = derivative(FAULTY[name])
        step = gt.jit(function)
        expected = _said(lambda: function(W))
        assert expected or derivative is gt.jacobian
        assert _said(lambda: step(W)) == expected

    def test_the_jacobian_of_one_number(self) -> None:
        """A derivative of one number that is not finite is explained like a gradient, compiled or not."""
        for derivative in (gt.jacobian(_root), gt.jit(gt.jacobian(_root))):
            with gt.expect("GT402"):
                derivative(X)

    @pytest.mark.parametrize("name", FAULTY)
    def test_tape_inside(self, name: str) -> None:
        """So does a compiled function with a tape in it."""
        variable = gt.Variable(W)

        def slope() -> Any:
            with gt.GradientTape() as tape:
                value = FAULTY[name](variable)
            return tape.gradient(value, variable) if isinstance(value, gt.Tensor) else None

        expected = _said(slope)
        assert _said(gt.jit(slope)) == expected

    @pytest.mark.parametrize("name", ["a root at zero", "dead", "overflow", "a table of all pairs"])
    def test_steps_that_assign(self, name: str) -> None:
        """So does a compiled step that assigns, where only the first of several NaN is explained; it assigns once."""

        def made() -> tuple[Any, Any]:
            variable = gt.Variable(W)

            def step() -> Any:
                with gt.GradientTape() as tape:
                    value = FAULTY[name](variable)
                variable.assign_sub(0.1 * tape.gradient(value, variable))
                return value

            return step, variable

        (plain, expected), (step, variable) = made(), made()
        said = _said(plain)
        assert _said(gt.jit(step)) == said[:1]
        np.testing.assert_allclose(variable.numpy(), expected.numpy(), rtol=1e-12)

    def test_a_step_that_spoils_its_own_variables_later(self) -> None:
        """The line is found with the values that the variables had before the call."""
        variable = gt.Variable([1.0, 2.0])

        @gt.jit
        def step(x: Any) -> Any:
            with gt.GradientTape() as tape:
                value = np.sum(np.log(variable - x))
            variable.assign_add(0.1 * tape.gradient(value, variable))
            return value

        for _ in range(5):
            step(np.float64(0.0))
        with gt.expect("GT401") as expected:
            step(variable.numpy()[0])
        assert "np.log(variable - x) is -inf at [0], where variable - x is 0" in expected.problems[0].title
        assert np.isinf(variable.numpy()[0])

    def test_nothing_is_left_behind(self) -> None:
        """Whatever the function does besides computing is done once, though it is run twice."""
        seen: list[int] = []
        names: set[int] = set()
        state = {"calls": 0}
        buffer = np.zeros(2)

        def slope(x: Any) -> Any:
            seen.append(1)
            names.add(len(names))
            state["calls"] += 1
            buffer[:] = buffer + 1.0
            return gt.grad(_root)(x)

        with gt.expect("GT402"):
            gt.jit(slope)(X)
        assert (len(seen), names, state, buffer.tolist()) == (1, {0}, {"calls": 1}, [1.0, 1.0])

    def test_healthy_functions_are_run_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing is looked into where nothing is odd, softmax and labels included."""
        looked: list[Any] = []
        monkeypatch.setattr(explain_call, "explain", lambda *given: looked.append(given))

        def loss(w: Any) -> Any:
            scores = gt.log_softmax(DATA @ w.reshape(3, 1) * np.ones(3), axis=1)
            return -np.mean(scores[np.arange(6), LABELS]) + np.mean((DATA @ w - 0.3) ** 2)

        step = gt.jit(gt.value_and_grad(loss))
        for _ in range(3):
            step(W)
        assert looked == []

    def test_an_explanation_that_is_to_be_an_error_is_raised_before_anything_is_assigned(self) -> None:
        """As without `jit`: the gradient is not there, so nobody can use it."""
        variable = gt.Variable(X)

        @gt.jit
        def step() -> Any:
            with gt.GradientTape() as tape:
                value = np.sum(np.sqrt(variable))
            variable.assign_sub(tape.gradient(value, variable))
            return value

        with gt.explain.configure(GT402="raise"), pytest.raises(gt.NumericsError, match=r"np\.sqrt\(variable\)"):
            step()
        np.testing.assert_array_equal(variable.numpy(), X)

    def test_lower_says_it(self) -> None:
        """A function that is compiled ahead of its first call is explained then."""
        with gt.expect("GT402"):
            gt.jit(gt.grad(_root)).lower(X)

    def test_notes_are_made(self) -> None:
        """Those who survey gradients hear of compiled ones."""
        gt.explain.notes(clear=True)
        with gt.explain.surveying():
            gt.jit(gt.grad(lambda x: np.sum(np.tanh(x))))(np.linspace(-30.0, 30.0, 8))
        assert [note.code for note in gt.explain.notes(clear=True)] == ["GT503"]


class TestPushed:
    """Tangents that are not finite."""

    def test_jvp(self) -> None:
        """The tangent at an infinite slope is explained as a gradient is."""
        with gt.expect("GT402"):
            gt.jvp(_root, (X,), (np.ones(2),))

    def test_hvp(self) -> None:
        """So is a product with the Hessian."""
        with gt.expect("GT402"):
            gt.hvp(_root, X + np.array([0.0, 1.0]), np.ones(2))

    def test_linearize(self) -> None:
        """So is what a linearised function gives."""
        with np.errstate(all="ignore"):
            _, push = gt.linearize(_log, X)
        with gt.expect("GT401"):
            push(np.ones(2))

    def test_a_tangent_of_the_users_that_is_not_finite_is_not_blamed_on_the_function(self) -> None:
        """Infinity times a finite slope is infinity."""
        assert gt.jvp(np.sin, (1.0,), (np.inf,))[1] == np.inf


class TestProducts:
    """Logarithms of products that underflow."""

    def test_a_product_that_underflows_gets_a_sum_of_logarithms(self) -> None:
        """No small number is added to a product that is too small itself."""
        with gt.expect("GT401") as expected, np.errstate(all="ignore"):
            gt.grad(lambda x: np.log(np.prod(x * np.ones(2000))))(0.5)
        assert "np.sum(np.log(x * np.ones(2000)))" in expected.problems[0].fixes[0]

    def test_a_product_with_a_zero_in_it_does_not(self) -> None:
        """The logarithm of that factor is infinite, too."""
        with gt.expect("GT401") as expected, np.errstate(all="ignore"):
            gt.grad(lambda x: np.log(np.prod(x * np.array([0.0, 1.0]))))(0.5)
        assert "np.sum(np.log" not in expected.problems[0].fixes[0]

    def test_a_determinant_of_a_large_matrix(self) -> None:
        """What single numbers were is known even where large arrays have been let go."""

        def loss(x: Any) -> Any:
            return np.log(np.linalg.det(np.exp(x) * np.eye(100)))

        with gt.expect("GT401") as expected, np.errstate(all="ignore"):
            gt.grad(loss)(-20.0)
        assert "slogdet(" in expected.problems[0].fixes[0]


class TestOutside:
    """Values that were computed before, or outside of the tape that is asked."""

    def test_a_layer_called_before_the_tape(self) -> None:
        """Each of several variables is known to have gone into what was computed before the tape was opened."""
        w, b = gt.Variable(np.ones((3, 2))), gt.Variable(np.ones(2))
        prediction = np.ones((4, 3)) @ w + b
        with gt.GradientTape() as tape:
            loss = np.mean(prediction**2)
        assert [tape.why(loss, v).code for v in (w, b)] == ["GT211", "GT211"]

    def test_a_gradient_taken_outside(self) -> None:
        """A second derivative whose first was taken after the outer tape had closed."""
        x = gt.Variable(1.3)
        with gt.GradientTape() as outer, gt.GradientTape() as inner:
            y = np.sin(x) * x
        first = inner.gradient(y, x)
        with gt.expect("GT211") as expected:
            assert outer.gradient(first, x) is None
        assert "first = inner.gradient" in expected.problems[0].spans[0].source

    def test_a_gradient_taken_inside_is_no_cause(self) -> None:
        """A constant gradient that was taken inside the block is not said to be outside of it."""
        x = gt.Variable(1.3)
        with gt.GradientTape() as outer:
            with gt.GradientTape() as inner:
                y = 2.0 * x
            first = inner.gradient(y, x)
        with gt.expect("GT201") as expected:
            outer.gradient(first, x)
        assert "GT211" not in expected.problems[0].codes

    def test_a_spent_tape_asked_for_the_target_of_another(self) -> None:
        """The tape that recorded the target is named."""
        x = gt.Variable(2.0)
        with gt.GradientTape() as one:
            y = x * x
        with gt.GradientTape() as two:
            z = x * 3.0
        two.gradient(z, x)
        with pytest.raises(gt.TapeError, match=r"ask one\.gradient"):
            two.gradient(y, x)
        with pytest.raises(gt.TapeError, match="given its gradient already, and what"):
            two.gradient(z, x)
        del one
