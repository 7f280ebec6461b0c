"""SciPy's own optimisers take gradtape's derivatives as they are."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import gradtape as gt


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


START = np.array([1.3, 0.7, 0.8, 1.9, 1.2])


@pytest.mark.parametrize("method", ["CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "trust-constr", "Newton-CG"])
def test_minimize_takes_value_and_grad(method: str) -> None:
    """`minimize(gt.value_and_grad(f), x0, jac=True)` finds the minimum with every method that takes gradients."""
    found = optimize.minimize(gt.value_and_grad(rosenbrock), START, jac=True, method=method, tol=1e-6)
    np.testing.assert_allclose(found.x, 1.0, atol=2e-3)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-ncg", "trust-krylov", "trust-constr"])
def test_hvp_is_a_hessp(method: str) -> None:
    """`functools.partial(gt.hvp, f)` has the signature of SciPy's `hessp`."""
    found = optimize.minimize(
        gt.value_and_grad(rosenbrock), START, jac=True, hessp=functools.partial(gt.hvp, rosenbrock), method=method
    )
    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)


@pytest.mark.parametrize("method", ["trust-exact", "trust-ncg", "trust-constr"])
def test_hessian_is_a_hess(method: str) -> None:
    """`gt.hessian(f)` is what SciPy's `hess` wants."""
    found = optimize.minimize(
        gt.value_and_grad(rosenbrock), START, jac=True, hess=gt.hessian(rosenbrock), method=method
    )
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


def test_arguments_are_passed_on() -> None:
    """SciPy's `args` reach the function, its gradient and its Hessian products."""

    def shifted(x: Any, centre: Any, scale: Any) -> Any:
        return scale * np.sum((x - centre) ** 2)

    found = optimize.minimize(
        gt.value_and_grad(shifted),
        np.zeros(2),
        args=(np.array([1.0, 2.0]), 3.0),
        jac=True,
        hessp=functools.partial(gt.hvp, shifted),
        method="trust-ncg",
    )
    np.testing.assert_allclose(found.x, [1.0, 2.0], atol=1e-6)


@pytest.mark.parametrize("start", [[1.3, 0.7], (1.3, 0.7), [2, 3], START.astype(np.float32)], ids=repr)
def test_starts_of_any_kind(start: Any) -> None:
    """Lists, tuples, integers and float32 starts work as they do with a function of NumPy's."""
    found = optimize.minimize(gt.value_and_grad(rosenbrock), start, jac=True, method="BFGS")
    np.testing.assert_allclose(found.x, 1.0, atol=1e-2)


def test_least_squares_takes_a_jacobian() -> None:
    """`least_squares(f, x0, jac=gt.jacobian(f))` finds what it finds by differences, dense and sparse."""

    def residuals(x: Any) -> Any:
        return np.concatenate([10.0 * (x[1:] - x[:-1] ** 2), 1.0 - x[:-1]])

    for jac in (gt.jacobian(residuals), gt.sparse_jacobian(residuals)):
        np.testing.assert_allclose(optimize.least_squares(residuals, START, jac=jac).x, 1.0, atol=1e-6)


def test_root_takes_a_jacobian() -> None:
    """`root(f, x0, jac=gt.jacobian(f))` solves the equations."""

    def equations(x: Any) -> Any:
        return gt.stack([x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1.0, 0.5 * (x[1] - x[0]) ** 3 + x[1]])

    def plain(x: Any) -> Any:
        return np.array([x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1.0, 0.5 * (x[1] - x[0]) ** 3 + x[1]])

    for method in ("hybr", "lm"):
        found = optimize.root(plain, [0.0, 0.0], jac=gt.jacobian(equations), method=method)
        assert found.success
        np.testing.assert_allclose(plain(found.x), 0.0, atol=1e-8)


def test_curve_fit_takes_a_jacobian() -> None:
    """`curve_fit(f, x, y, jac=...)` with the columns of `gt.jacobian` gives the fit without them."""

    def curve(x: Any, scale: Any, rate: Any) -> Any:
        return scale * np.exp(-rate * x)

    def columns(x: Any, *parameters: Any) -> Any:
        return np.stack(gt.jacobian(curve, argnums=(1, 2))(x, *parameters), axis=1)

    x = np.linspace(0.0, 3.0, 20)
    y = curve(x, 2.0, 1.5) + 0.01 * np.cos(9.0 * x)
    exact = optimize.curve_fit(curve, x, y, p0=[1.0, 1.0], jac=columns)
    guessed = optimize.curve_fit(curve, x, y, p0=[1.0, 1.0])
    np.testing.assert_allclose(exact[0], guessed[0], rtol=1e-6)
    np.testing.assert_allclose(exact[1], guessed[1], rtol=1e-4)
