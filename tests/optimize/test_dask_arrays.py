"""Solvers with Dask arrays among args: the solutions of all rows in memory, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt

da = pytest.importorskip("dask.array", reason="Dask is not installed: solvers over its rows are not tested")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(211, 3))
Y = np.sign(X @ np.array([1.0, -2.0, 0.5]) + RNG.logistic(size=211))
ROWS = da.from_array(X, chunks=(50, 3)), da.from_array(Y, chunks=50)
START = {"w": np.zeros(3), "b": 0.0}


def loss(p: Any, x: Any, y: Any) -> Any:
    return np.mean(np.logaddexp(0.0, -y * (x @ p["w"] + p["b"])))


@pytest.mark.parametrize(
    "method", [None, "L-BFGS-B", "trust-ncg", "Newton-CG", "trust-exact", "trust-constr", "Powell"]
)
def test_the_minimum_is_that_of_all_rows(method: str | None) -> None:
    """With values, gradients, products and Hessians of chunks, a method finds what it finds in memory."""
    found = gt.optimize.minimize(loss, START, method, args=ROWS)
    expected = gt.optimize.minimize(loss, START, "trust-exact", args=(X, Y), options={"gtol": 1e-10})
    assert found.success
    assert found.fun == pytest.approx(expected.fun, rel=1e-6)
    np.testing.assert_allclose(found.x["w"], expected.x["w"], rtol=5e-3)
    assert np.shape(found.x["b"]) == ()


def test_methods_without_derivatives_get_values() -> None:
    """A method that asks for values alone is not charged for gradients, and its steps are those in memory."""
    options = {"maxiter": 8}
    found = gt.optimize.minimize(loss, START, "Nelder-Mead", args=ROWS, options=options)
    expected = gt.optimize.minimize(loss, START, "Nelder-Mead", args=(X, Y), options=options)
    assert found.fun == pytest.approx(expected.fun, rel=1e-12)


def test_the_hessian_can_be_asked_for() -> None:
    """hess="dense" gives methods with a choice the matrix; a sparse one is refused."""
    found = gt.optimize.minimize(loss, START, "trust-ncg", args=ROWS, hess="dense")
    assert found.nhev > 0
    with pytest.raises(gt.UnsupportedError, match='hess="sparse" with Dask arrays'):
        gt.optimize.minimize(loss, START, "trust-ncg", args=ROWS, hess="sparse")


def test_bounds_and_constraints_work_over_rows() -> None:
    """Unknowns stay between their bounds, and constraints hold."""
    found = gt.optimize.minimize(loss, START, args=ROWS, bounds=(-0.5, 0.5))
    assert np.abs(found.x["w"]).max() == pytest.approx(0.5)
    equal = {"type": "eq", "fun": lambda p: np.sum(p["w"]) - 1.0}
    assert np.sum(gt.optimize.minimize(loss, START, args=ROWS, constraints=equal).x["w"]) == pytest.approx(1.0)


def test_mistakes_are_found_as_without_dask() -> None:
    """An unknown that the value does not depend on, a start that is not finite, a loss that is no sum of rows."""
    with pytest.raises(gt.UntrackedError, match="does not depend on"):
        gt.optimize.minimize(loss, {**START, "unused": 1.0}, args=ROWS)
    with (
        np.errstate(all="ignore"),
        gt.explain.configure(GT401="note"),
        pytest.raises(gt.GradTapeError, match=r"nan at x0|not finite"),
    ):
        gt.optimize.minimize(lambda p, x, y: np.mean(np.log(p - 1.0) * x[:, 0]), np.array(0.0), args=ROWS)
    with pytest.raises(gt.OperandError, match="GT601"):
        gt.optimize.minimize(lambda p, x, y: np.sqrt(loss(p, x, y)), START, args=ROWS)


def test_a_tracked_argument_is_refused() -> None:
    """The solution over rows is not differentiated by other arguments, which is said."""
    with gt.GradientTape() as tape:
        scale = gt.Variable(1.0)
        tape.watch(scale)
        with pytest.raises(gt.DetachError, match="not differentiated"):
            gt.optimize.minimize(lambda p, x, y, s: s * loss(p, x, y), START, args=(*ROWS, scale * 1.0))


def residuals(p: Any, x: Any, y: Any) -> Any:
    return p["scale"] * np.tanh(x @ p["w"]) - y


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares_are_those_of_all_rows(method: str) -> None:
    """The sum of squares of all rows is smallest where it is in memory, with the same J^T J there."""
    start = {"w": np.full(3, 0.1), "scale": 1.0}
    found = gt.optimize.least_squares(residuals, start, method, args=ROWS)
    expected = gt.optimize.least_squares(residuals, start, method, args=(X, Y))
    assert found.success
    assert found.cost == pytest.approx(expected.cost, rel=1e-10)
    np.testing.assert_allclose(found.x["w"], expected.x["w"], rtol=1e-4)
    np.testing.assert_allclose(found.jac.T @ found.jac, expected.jac.T @ expected.jac, rtol=1e-3, atol=1e-3)
    assert "fun" not in found


def test_least_squares_over_rows_refuse_robust_losses() -> None:
    """What is not a sum of squares is not put together from J^T J."""
    with pytest.raises(gt.UnsupportedError, match="loss='huber' with Dask arrays"):
        gt.optimize.least_squares(residuals, {"w": np.ones(3), "scale": 1.0}, args=ROWS, loss="huber")
