"""gt.optimize.least_squares and curve_fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from scipy import optimize

import gradtape as gt

T = np.linspace(0.0, 4.0, 40)
Y = 2.5 * np.exp(-1.3 * T) + 0.05 * np.cos(7.0 * T)


def residuals(p: Any, y: Any = Y) -> Any:
    return {"fit": p["A"] * np.exp(-p["k"] * T) - y, "prior": 0.01 * p["A"]}


def plain(p: Any) -> Any:
    return np.append(p[0] * np.exp(-p[1] * T) - Y, 0.01 * p[0])


def chain(x: Any) -> Any:
    return np.concatenate([10.0 * (x[1:] - x[:-1] ** 2), 1.0 - x[:-1]])


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares_as_scipy(method: str) -> None:
    """Nested unknowns and nested residuals give SciPy's solution and cost."""
    found = gt.optimize.least_squares(residuals, {"A": 1.0, "k": 1.0}, method=method)
    other = optimize.least_squares(plain, [1.0, 1.0], method=method)
    np.testing.assert_allclose([found.x["A"], found.x["k"]], other.x, rtol=1e-5)
    np.testing.assert_allclose(found.cost, other.cost, rtol=1e-8)


@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy", "arctan"])
def test_robust_losses(loss: str) -> None:
    """SciPy's losses are passed on: outliers count less."""
    spoilt = Y.copy()
    spoilt[::10] += 5.0
    options: dict[str, Any] = {"loss": loss, "f_scale": 0.1}
    found = gt.optimize.least_squares(residuals, {"A": 1.0, "k": 1.0}, args=(spoilt,), **options)
    other = optimize.least_squares(
        lambda p: np.append(p[0] * np.exp(-p[1] * T) - spoilt, 0.01 * p[0]), [1.0, 1.0], **options
    )
    np.testing.assert_allclose([found.x["A"], found.x["k"]], other.x, rtol=1e-3)


@pytest.mark.parametrize(("jac", "sparse"), [("auto", True), ("sparse", True), ("dense", False)])
def test_jacobians_dense_and_sparse(jac: str, sparse: bool) -> None:
    """A large Jacobian that is mostly zeros is sparse by default; both kinds arrive."""
    found = gt.optimize.least_squares(chain, np.full(80, 0.8), jac=jac)
    assert scipy.sparse.issparse(found.jac) is sparse
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)


def test_compiled_residuals() -> None:
    """jit=True compiles the residuals and their Jacobian, and finds the same."""
    found = gt.optimize.least_squares(residuals, {"A": 1.0, "k": 1.0}, jit=True)
    plain_found = gt.optimize.least_squares(residuals, {"A": 1.0, "k": 1.0})
    np.testing.assert_allclose(found.x["k"], plain_found.x["k"], rtol=1e-7)


def test_bounds_hold() -> None:
    """Unknowns stay between bounds given for a part of the structure."""
    found = gt.optimize.least_squares(residuals, {"A": 1.0, "k": 1.0}, bounds={"A": (0.0, 2.0)})
    assert found.x["A"] <= 2.0
    np.testing.assert_allclose(found.x["A"], 2.0, atol=1e-6)


def test_two_rows_are_the_lower_and_the_upper_bounds() -> None:
    """Of two unknowns too, as in SciPy's function of that name."""
    found = gt.optimize.least_squares(lambda x: x - 5.0, np.array([0.5, 0.5]), bounds=([0, 0], [1, 2]))
    np.testing.assert_allclose(found.x, [1.0, 2.0], atol=1e-5)


@pytest.mark.parametrize("bounds", [None, {"A": (0.0, 2.0)}], ids=["free", "held"])
def test_solution_can_be_differentiated(bounds: Any) -> None:
    """The fit moves with its data as differences say; an unknown at its bound does not."""
    tight: dict[str, Any] = {"bounds": bounds, "tol": 1e-15, "method": "dogbox"}
    rate = lambda y: gt.optimize.least_squares(residuals, {"A": 1.0, "k": 1.0}, args=(y,), **tight).x["k"]
    direction = np.cos(3.0 * T)
    slope = (rate(Y + 1e-4 * direction) - rate(Y - 1e-4 * direction)) / 2e-4
    np.testing.assert_allclose(gt.grad(rate)(Y) @ direction, slope, rtol=1e-4)
    np.testing.assert_allclose(gt.jvp(rate, (Y,), (direction,))[1], gt.grad(rate)(Y) @ direction, rtol=1e-8)
    if bounds:
        scale = lambda y: gt.optimize.least_squares(residuals, {"A": 1.0, "k": 1.0}, args=(y,), **tight).x["A"]
        assert not gt.grad(scale)(Y).any()


@pytest.mark.parametrize("loss", ["linear", "soft_l1", "huber", "cauchy", "arctan"])
def test_robust_fits_can_be_differentiated(loss: str) -> None:
    """With every loss, the solution and the cost move with the data as differences say."""
    spoilt = Y + np.where(np.arange(T.size) % 10 == 0, 1.0, 0.0)
    options: dict[str, Any] = {"loss": loss, "f_scale": 0.1, "tol": 1e-15}
    fit = lambda y: gt.optimize.least_squares(residuals, {"A": 2.0, "k": 1.0}, args=(y,), **options)
    direction = np.cos(3.0 * T)
    for what in (lambda y: fit(y).x["k"], lambda y: fit(y).cost):
        slope = (what(spoilt + 1e-4 * direction) - what(spoilt - 1e-4 * direction)) / 2e-4
        np.testing.assert_allclose(gt.grad(what)(spoilt) @ direction, slope, rtol=1e-3)


def test_batches_of_fits() -> None:
    """vmap fits example by example, and has the cost of each."""
    fit = lambda y: gt.optimize.least_squares(residuals, {"A": 1.0, "k": 1.0}, args=(y,))
    found = gt.vmap(lambda y: (fit(y).x["k"], fit(y).cost))(np.stack([Y, 2.0 * Y]))
    np.testing.assert_allclose(found[0], [fit(Y).x["k"], fit(2.0 * Y).x["k"]], rtol=1e-6)
    np.testing.assert_allclose(found[1], [fit(Y).cost, fit(2.0 * Y).cost], rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: gt.optimize.least_squares(residuals, {"A": 1.0, "k": 1.0}, jac="2-point"), gt.OperandError, "jac="),
        (lambda: gt.optimize.least_squares(residuals, {"A": 1.0, "k": 1.0}, loss="l2"), gt.OperandError, "soft_l1"),
        (lambda: gt.optimize.least_squares(lambda p: "no", [1.0]), gt.DtypeError, "real numbers"),
        (
            lambda: gt.grad(
                lambda y: gt.optimize.least_squares(
                    residuals, {"A": 1.0, "k": 1.0}, args=(y,), loss=lambda z: np.stack([z, 1.0 + 0.0 * z, 0.0 * z])
                ).x["k"]
            )(Y),
            gt.UnsupportedError,
            "with a function for loss=",
        ),
        (lambda: gt.optimize.curve_fit(lambda x, *p: x, T, Y), gt.OperandError, "give p0"),
        (lambda: gt.optimize.curve_fit(lambda x, a: a * x, T, Y[:-1]), gt.ShapeError, "40 values for 39 in y"),
        (lambda: gt.optimize.curve_fit(lambda x, a: a * x, T, Y, p0=[[1.0]]), gt.OperandError, "p0 is a list"),
        (
            lambda: gt.grad(lambda y: gt.optimize.curve_fit(lambda x, a: a * x, T, y).x[0])(Y),
            gt.DetachError,
            "y is tracked",
        ),
    ],
)
def test_mistakes_are_explained(call: Any, error: type[Exception], says: str) -> None:
    """What cannot be fitted is refused in words."""
    with pytest.raises(error) as caught:
        call()
    assert says in " ".join(str(caught.value).split())


def curve(x: Any, scale: Any, rate: Any) -> Any:
    return scale * np.exp(-rate * x)


@pytest.mark.parametrize("p0", [None, [1.0, 1.0], np.ones(2), {"scale": 1.0, "rate": 1.0}], ids=repr)
def test_curve_fit_as_scipy(p0: Any) -> None:
    """Parameters and covariance are SciPy's, whatever form the start has."""
    parameters, covariance = gt.optimize.curve_fit(curve, T, Y, p0)
    expected, expected_covariance = optimize.curve_fit(curve, T, Y)
    values = list(parameters.values()) if isinstance(parameters, dict) else parameters
    np.testing.assert_allclose(values, expected, rtol=1e-7)
    np.testing.assert_allclose(covariance, expected_covariance, rtol=1e-5)
    fit = gt.optimize.curve_fit(curve, T, Y, p0)
    np.testing.assert_array_equal(fit[1], covariance)
    assert fit[0] is fit.x
    assert len(fit[:2]) == 2


def test_curve_fit_of_lists() -> None:
    """Data in lists is data."""
    parameters, _ = gt.optimize.curve_fit(lambda x, a, b: a * x + b, [0, 1, 2, 3], [1.0, 3.1, 5.0, 7.0])
    np.testing.assert_allclose(parameters, [1.99, 1.04], atol=1e-6)


def test_curve_fit_with_weights_and_bounds() -> None:
    """Known errors of the data and bounds are passed on, and the standard deviations have the start's structure."""
    options: dict[str, Any] = {"sigma": np.linspace(0.1, 0.2, T.size), "absolute_sigma": True}
    fit = gt.optimize.curve_fit(curve, T, Y, {"scale": 1.0, "rate": 1.0}, bounds=(0.0, 2.0), **options)
    expected, covariance = optimize.curve_fit(curve, T, Y, [1.0, 1.0], bounds=(0.0, 2.0), **options)
    np.testing.assert_allclose(list(fit.x.values()), expected, rtol=1e-5)
    np.testing.assert_allclose(list(fit.errors.values()), np.sqrt(np.diag(covariance)), rtol=1e-4)
    assert "errors['rate']" in repr(fit)
