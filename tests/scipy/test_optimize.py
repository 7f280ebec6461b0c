"""gradtape.scipy.optimize: SciPy's solutions, which move with arguments and with what functions read around them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import optimize as theirs

import gradtape as gt
from gradtape.jit import JitWarning
from gradtape.scipy import integrate
from gradtape.scipy import optimize as ours

Solved = Callable[[Any], Any]
REFUSED = {name for names in ours.REASONS.values() for name in names.split()}
T = np.linspace(0.0, 1.0, 6)
DATA = np.exp(-2.0 * T) + 0.1 * np.sin(9.0 * T)


def bowl(k: Any) -> Solved:
    """A function of two numbers with a minimum that depends on k."""
    return lambda x: (x[0] - k) ** 2 + (x[1] - 1.0) ** 2 + (x[0] * x[1]) ** 2 + np.exp(x[1])


def best(k: float) -> Any:
    """Its minimum."""
    return theirs.minimize(bowl(k), [0.1, 0.2], tol=1e-12).x


BEST_SLOPE = (best(1.001) - best(0.999)) / 0.002


def equations(k: Any) -> Solved:
    """Two equations with the root (1, 2) for k = 3."""
    return lambda x: [x[0] + x[1] - k, x[0] * x[1] - 2.0]


def residuals(k: Any) -> Solved:
    """How far an exponential is from the data; only k p[1] matters, so that p[1] moves by -p[1] / k."""
    return lambda p: p[0] * np.exp(-k * p[1] * T) - DATA


ROOTS: dict[str, Solved] = {
    **{
        name: lambda k, name=name: getattr(ours, name)(lambda x: x * x - k, 0.0, 5.0)
        for name in ("brentq", "brenth", "ridder", "bisect", "toms748")
    },
    "brentq with args": lambda k: ours.brentq(lambda x, k: x * x - k, 0.0, 5.0, args=(k,), full_output=True)[1].root,
    "newton": lambda k: ours.newton(lambda x: x * x - k, 1.0),
    "newton with a slope": lambda k: ours.newton(lambda x: x * x - k, 1.0, fprime=lambda x: 2.0 * x),
    "root_scalar": lambda k: ours.root_scalar(lambda x: x * x - k, bracket=(0, 5)).root,
    "root_scalar secant": lambda k: ours.root_scalar(lambda x: x * x - k, method="secant", x0=1.0, x1=1.5).root,
    "root_scalar with both": lambda k: ours.root_scalar(lambda x: (x * x - k, 2.0 * x), x0=1.0, fprime=True).root,
    "fixed_point": lambda k: ours.fixed_point(lambda x: 0.5 * (x + k / x), 1.0),
    "fsolve": lambda k: ours.fsolve(lambda x: x * x - k, 1.0)[0],
    "newton_krylov": lambda k: ours.newton_krylov(lambda x: x * x - k, np.array([1.5]))[0],
}

MINIMA: dict[str, Solved] = {
    **{
        method: lambda k, method=method: ours.minimize(bowl(k), [0.1, 0.2], method=method).x
        for method in ("Nelder-Mead", "Powell", "CG", "BFGS", "L-BFGS-B", "TNC", "COBYLA", "SLSQP", "trust-constr")
    },
    "fmin": lambda k: ours.fmin(bowl(k), [0.1, 0.2], disp=False),
    "fmin_bfgs": lambda k: ours.fmin_bfgs(bowl(k), [0.1, 0.2], disp=False, full_output=True)[0],
    "differential_evolution": lambda k: ours.differential_evolution(bowl(k), [(-2, 2)] * 2, maxiter=40, popsize=5).x,
    "dual_annealing": lambda k: ours.dual_annealing(bowl(k), [(-2, 2)] * 2, maxiter=5).x,
    "direct": lambda k: ours.direct(bowl(k), [(-2, 2)] * 2).x,
    "basinhopping": lambda k: ours.basinhopping(bowl(k), [0.1, 0.2], niter=2).x,
    "brute": lambda k: ours.brute(bowl(k), [(-2, 2)] * 2, Ns=5),
}


def test_every_name_of_scipy_is_there() -> None:
    """Each public name is differentiated, refused with a reason, or no function."""
    names = [name for name in dir(theirs) if not name.startswith("_")]
    assert set(names) <= set(dir(ours))
    for name in names:
        known = name in ours.original.functions or name in REFUSED or name == "test"
        assert known or isinstance(getattr(ours, name), ModuleType | type), name
    with pytest.raises(gt.UnsupportedError, match="whole numbers"):
        ours.milp(gt.tensor([1.0], requires_grad=True))
    with pytest.raises(gt.UnsupportedError, match="minimize takes too"):
        gt.grad(lambda k: ours.fmin_slsqp(bowl(k), [0.1, 0.2])[0])(1.0)


@pytest.mark.parametrize("name", ROOTS)
def test_roots_of_one_number(name: str) -> None:
    """The root sqrt(k) of x**2 - k and its slope, in both modes; a plain call is SciPy's."""
    solved = ROOTS[name]
    np.testing.assert_allclose(gt.grad(solved)(4.0), 0.25, rtol=1e-6)
    np.testing.assert_allclose(gt.jvp(solved, [4.0], [1.0])[1], 0.25, rtol=1e-6)
    assert not isinstance(solved(4.0), gt.Tensor)


@pytest.mark.parametrize("method", ["hybr", "lm", "broyden1", "krylov", "df-sane"])
def test_roots_of_several_numbers(method: str) -> None:
    """The value is SciPy's; the derivative that of the implicit function theorem."""
    solved = lambda k: ours.root(equations(k), [0.9, 2.2], method=method).x
    np.testing.assert_allclose(gt.jacobian(solved)(3.0), [-1.0, 2.0], rtol=1e-4)
    assert np.array_equal(solved(3.0), theirs.root(equations(3.0), [0.9, 2.2], method=method).x)
    assert np.array_equal(ours.root(equations(gt.tensor(3.0)), [0.9, 2.2], method=method).x, solved(3.0))


@pytest.mark.parametrize("name", MINIMA)
def test_minima(name: str) -> None:
    """However a minimum was found, its derivative is that of the condition that the slope is zero."""
    np.testing.assert_allclose(gt.jacobian(MINIMA[name])(1.0), BEST_SLOPE, rtol=1e-3, atol=1e-3)


def test_minima_with_values_slopes_bounds_and_constraints() -> None:
    """The least value; functions that return their slope; bounds that hold, and move; constraints of every form."""
    value = lambda k: ours.minimize(bowl(k), [0.1, 0.2]).fun
    np.testing.assert_allclose(gt.grad(value)(1.0), (value(1.001) - value(0.999)) / 0.002, rtol=1e-3)
    both = lambda k: ours.minimize(lambda x: (((x - k) ** 2).sum(), 2.0 * (x - k)), [0.1, 0.2], jac=True).x
    np.testing.assert_allclose(gt.jacobian(both)(2.0), [1.0, 1.0])
    held = lambda k: ours.minimize(lambda x: ((x - k) ** 2).sum() + x[0] * x[1], [0.1, 0.2], bounds=[(0, 0.5), (0, 9)])
    np.testing.assert_allclose(gt.jacobian(lambda k: held(k).x)(2.0), [0.0, 1.0], atol=1e-6)
    moving = lambda k: ours.minimize(lambda x: ((x - 3.0) ** 2).sum(), [0.1, 0.2], bounds=[(0, k), (None, None)]).x
    np.testing.assert_allclose(gt.jacobian(moving)(2.0), [1.0, 0.0], atol=1e-6)
    equal = lambda k: {"type": "eq", "fun": lambda x: x[0] + 2.0 * x[1] - k}
    on_line = lambda k: ours.minimize(lambda x: (x**2).sum(), [1.0, 1.0], constraints=equal(k)).x
    np.testing.assert_allclose(gt.jacobian(on_line)(2.0), [0.2, 0.4], rtol=1e-5)
    disc = lambda k: theirs.NonlinearConstraint(lambda x: k * (x**2).sum(), -np.inf, 1.0)
    aim = lambda x: (x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2
    in_disc = lambda k: ours.minimize(aim, [0.1, 0.1], constraints=disc(k), method="SLSQP").x
    np.testing.assert_allclose(gt.jacobian(in_disc)(1.0), -0.5 * np.array([2.0, 1.0]) / 5.0**0.5, rtol=1e-3)
    half = theirs.LinearConstraint([[1.0, 1.0]], -np.inf, 1.0)
    inside = lambda k: (
        ours.minimize(
            lambda x: (x[0] - k) ** 2 + (x[1] - 1.0) ** 2, [0.1, 0.1], constraints=half, method="trust-constr"
        ).x
    )
    np.testing.assert_allclose(gt.jacobian(inside)(2.0), [0.5, -0.5], rtol=1e-3)
    curved = lambda k: ours.minimize_scalar(lambda x: (x - k) ** 2 + 0.1 * x**4).x
    np.testing.assert_allclose(gt.grad(curved)(1.0), (curved(1.001) - curved(0.999)) / 0.002, rtol=1e-3)
    at_end = lambda k: ours.minimize_scalar(lambda x: (x - 3.0) ** 2, bounds=(0.0, k)).x
    np.testing.assert_allclose(gt.grad(at_end)(1.0), 1.0)


def test_second_derivatives_batches_and_jit() -> None:
    """Second derivatives; each example of a batch has its own solution; batches run uncompiled inside of jit."""
    root = lambda k: ours.brentq(lambda x: x * x - k, 0.0, 5.0)
    np.testing.assert_allclose(gt.grad(gt.grad(root))(4.0), -1.0 / 32.0)
    np.testing.assert_allclose(gt.grad(gt.grad(gt.grad(root)))(4.0), 3.0 / 256.0)
    k = np.array([1.0, 4.0])
    np.testing.assert_allclose(gt.vmap(gt.grad(root))(k), 0.5 / np.sqrt(k))
    np.testing.assert_allclose(gt.grad(lambda k: gt.vmap(root)(k).sum())(k), 0.5 / np.sqrt(k))
    lowest = lambda k: ours.minimize(bowl(k), [0.1, 0.2]).x
    np.testing.assert_allclose(gt.vmap(lowest)(k), [lowest(each) for each in k], rtol=1e-6)
    slope = gt.grad(lambda k: lowest(k)[0])
    np.testing.assert_allclose(gt.grad(slope)(1.0), (slope(1.001) - slope(0.999)) / 0.002, rtol=1e-3)
    np.testing.assert_allclose(gt.jit(gt.grad(root))(np.array(4.0)), 0.25)
    with pytest.warns(JitWarning, match="depend on the numbers"):
        np.testing.assert_allclose(gt.jit(gt.vmap(root))(np.array([4.0, 9.0])), [2.0, 3.0])


@pytest.mark.parametrize("loss", ["linear", "soft_l1", "huber", "cauchy", "arctan"])
def test_least_squares(loss: str) -> None:
    """Every loss."""
    tight: dict[str, Any] = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}
    solved = lambda k: ours.least_squares(residuals(k), [1.0, 1.0], loss=loss, f_scale=0.05, **tight).x
    np.testing.assert_allclose(gt.jacobian(solved)(1.0), [0.0, -solved(1.0)[1]], atol=1e-6)


def test_fits() -> None:
    """Parameters and covariance of a fit by the data, their errors, and what the model reads; bounds."""
    tight: dict[str, Any] = {"xtol": 1e-14, "ftol": 1e-14}
    model = lambda t, a, b: a * np.exp(-b * t)
    plain = theirs.curve_fit(model, T, DATA, sigma=1.0 + T, **tight)
    slopes = lambda t, a, b: np.stack([np.exp(-b * t), -a * t * np.exp(-b * t)], axis=1)
    fit = lambda t, data, sigma: ours.curve_fit(model, t, data, sigma=sigma, jac=slopes, **tight)
    np.testing.assert_allclose(fit(T, gt.tensor(DATA, requires_grad=True), 1.0 + T)[1].numpy(), plain[1], rtol=1e-5)
    gt.gradcheck(fit, T, DATA, 1.0 + T, rtol=1e-3, atol=1e-5)
    held = lambda k: ours.least_squares(residuals(k), [0.5, 1.0], bounds=([0.0, 0.0], [k, 9.0]), **tight).x
    np.testing.assert_allclose(gt.jacobian(held)(0.9)[0], 1.0)
    old = lambda k: ours.leastsq(residuals(k), [1.0, 1.0], **tight)[0]
    np.testing.assert_allclose(gt.jacobian(old)(1.0), [0.0, -old(1.0)[1]], atol=1e-6)


def test_linear_problems() -> None:
    """Corners of linear programs, least squares with bounds, assignments."""
    matrix, right, cost = np.array([[1.0, 1.0], [1.0, 3.0]]), np.array([4.0, 6.0]), np.array([-1.0, -2.0])
    gt.gradcheck(lambda a, b: ours.linprog(cost, a, b).x, matrix, right)
    gt.gradcheck(lambda a, b, c: ours.linprog(c, a, b).fun, matrix, right, cost)
    gt.gradcheck(lambda high: ours.linprog(cost, matrix, right, bounds=[(0, None), (0, high)]).x, 0.5)
    with pytest.raises(gt.LinearAlgebraError, match="degenerate"):
        gt.grad(lambda b: ours.linprog(cost, [[1.0, 1.0], [1.0, 3.0], [2.0, 2.0]], b).fun)(np.array([4.0, 6.0, 8.0]))
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(5, 3)), rng.normal(size=5)
    np.testing.assert_allclose(ours.nnls(gt.tensor(a, requires_grad=True), b)[0].numpy(), theirs.nnls(a, b)[0])
    gt.gradcheck(lambda a, b: ours.nnls(a, b), a, b)
    gt.gradcheck(lambda a, b, high: ours.lsq_linear(a, b, (-np.inf, high)).x, a, b, 0.1, rtol=1e-4)
    gt.gradcheck(lambda cost: cost[ours.linear_sum_assignment(cost)].sum(), rng.normal(size=(3, 3)))
    x = np.array([1.0, 2.0, 0.5])
    gt.gradcheck(ours.rosen, x)
    np.testing.assert_allclose(ours.rosen_der(gt.tensor(x)).numpy(), theirs.rosen_der(x))


def test_what_is_not_determined_is_refused() -> None:
    """A singular Jacobian is an error, and a solution that has not converged a warning."""
    with pytest.raises(gt.LinearAlgebraError, match="singular"):
        gt.grad(lambda k: ours.minimize(lambda x: (x[0] + x[1] - k) ** 2, [0.1, 0.2]).x[0])(1.0)
    with pytest.warns(Warning, match="does not satisfy its condition"):
        gt.grad(lambda k: ours.minimize(bowl(k), [5.0, 5.0], options={"maxiter": 1}).x[0])(1.0)


def test_a_fit_of_an_initial_value_problem() -> None:
    """The rate that fits a solution to data, by the data: a solver inside of a solver."""
    times = np.linspace(0.0, 1.0, 4)

    def rate(data: Any) -> Any:
        def loss(k: Any) -> Any:
            solution = integrate.solve_ivp(lambda t, y: -k[0] * y, (0, 1), [1.0], t_eval=times, rtol=1e-8, atol=1e-10)
            return ((solution.y[0] - data) ** 2).sum()

        return ours.minimize(loss, [1.0], tol=1e-10).x[0]

    data = np.exp(-2.0 * times)
    found = gt.grad(rate)(data)
    slopes = -times * np.exp(-2.0 * times)
    np.testing.assert_allclose(rate(data), 2.0, rtol=1e-4)
    np.testing.assert_allclose(found, slopes / (slopes**2).sum(), rtol=1e-3)
