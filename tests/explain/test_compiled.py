"""Gradients that are not finite, from compiled functions and from those that push tangents forward."""

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import findings


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
        monkeypatch.setattr(findings, "explain", lambda *given: explained.append(given))
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
        assert [run for run in range(1, 20) if findings.is_suspect(answer, run)] == [1, 2, 4, 8, 16]


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
