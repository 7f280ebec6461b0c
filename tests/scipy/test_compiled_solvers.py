"""Solvers of SciPy's inside `jit`: the compiled program calls them, on the numbers of each call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gradtape as gt
import gradtape.numpy as np
from gradtape.jit import JitWarning
from gradtape.scipy import integrate, optimize

POINTS = numpy.linspace(0.0, 1.0, 6)
PROGRAMS: list[Callable[[Any], Any]] = []


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Add a program to the list."""
    PROGRAMS.append(function)
    return function


@program
def root_in_a_bracket(a: Any) -> Any:
    return optimize.brentq(lambda t: t**3 + a * t - 2.0, 0.0, 2.0, xtol=1e-13)


@program
def bracket_that_moves(a: Any) -> Any:
    return optimize.bisect(lambda t, b: t**3 + b * t - gt.stop_gradient(a), 0.0, a + 1.0, args=(a,), xtol=1e-13)


@program
def newton_from_a_tensor(a: Any) -> Any:
    return optimize.newton(lambda t: t**3 + a * t - 2.0, a, fprime=lambda t: 3.0 * t**2 + a)


@program
def root_with_its_record(a: Any) -> Any:
    root, found = optimize.brentq(lambda t: t**3 + a * t - 2.0, 0.0, 2.0, xtol=1e-13, full_output=True)
    return root + found.root if found.converged else 0.0 * a


@program
def newton_with_its_record(a: Any) -> Any:
    root, found = optimize.newton(lambda t: t**3 + a * t - 2.0, 1.0, full_output=True)
    return root * found.root + 0 * found.iterations


@program
def newton_for_each_element(a: Any) -> Any:
    roots, converged, flat = optimize.newton(lambda t: t**3 + a * t - POINTS, numpy.ones(6), full_output=True)
    return np.sum(roots * roots) if converged.all() and not flat.any() else 0.0 * a


@program
def equations_with_their_record(a: Any) -> Any:
    x, found, status, message = optimize.fsolve(
        lambda v: [v[0] ** 2 + a - 3.0, v[1] - v[0] * a], [1.0, 1.0], full_output=True, xtol=1e-12
    )
    if status != 1:
        raise RuntimeError(message)
    return x.sum() + 0.0 * (found["fvec"].sum() + found["nfev"])


@program
def scalar_root(a: Any) -> Any:
    found = optimize.root_scalar(lambda t: t**3 + a * t - 2.0, bracket=(0.0, 2.0), xtol=1e-13)
    return found.root * 2.0


@program
def equations(a: Any) -> Any:
    found = optimize.root(lambda v: np.array([v[0] ** 2 + a - 3.0, v[1] - v[0] * a]), numpy.ones(2), tol=1e-12)
    return found.x.sum() if found.success else 0.0 * a


@program
def start_of_tensors(a: Any) -> Any:
    return optimize.fsolve(lambda v: [v[0] ** 2 + a - 3.0, v[1] - v[0] * a], [1.0, a], xtol=1e-12)[1]


@program
def fixed_point(a: Any) -> Any:
    return optimize.fixed_point(lambda x: np.cos(a * x), 0.7, xtol=1e-12)


@program
def minimum_and_its_value(a: Any) -> Any:
    def loss(v: Any) -> Any:
        return (v[0] - a) ** 2 + (v[1] - a * v[0]) ** 2 + 0.1 * v[0] ** 4

    found = optimize.minimize(loss, numpy.zeros(2), jac=gt.grad(loss), tol=1e-12)
    return found.x.sum() + found.fun


@program
def minimum_at_a_bound(a: Any) -> Any:
    found = optimize.minimize(
        lambda v: (v[0] - a) ** 2 + (v[1] - a * v[0]) ** 2,
        [0.1, a * 0.2],
        method="L-BFGS-B",
        bounds=[(0.0, 0.5 * a), (None, None)],
    )
    return found.x[1] * a


@program
def minimum_of_one_number(a: Any) -> Any:
    return optimize.minimize_scalar(lambda x: (x - a) ** 2 + 0.1 * x**4).x


@program
def least_squares(a: Any) -> Any:
    found = optimize.least_squares(lambda v: np.array([v[0] - a, v[1] * a - 1.0, v[0] * v[1] - 0.3]), numpy.ones(2))
    return found.x.sum() + found.cost


@program
def fitted_curve(a: Any) -> Any:
    found, covariance = optimize.curve_fit(
        lambda t, k, c: np.exp(-k * t) * c + 0.1 * a * t, POINTS, np.sin(a * POINTS) + 1.0, p0=[1.0, 1.0]
    )
    return found[0] + found[1] * 2.0 + covariance[0, 0]


@program
def non_negative(a: Any) -> Any:
    found, rest = optimize.nnls(numpy.vander(POINTS, 3), np.cos(a * POINTS) - 0.3)
    return found.sum() + rest


@program
def assignment(a: Any) -> Any:
    cost = np.abs(np.array([a, 1.5, 0.2 * a])[:, None] - numpy.array([0.1, 1.4, 1.55])) ** 2
    rows, columns = optimize.linear_sum_assignment(cost)
    return cost[rows, columns].sum()


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("transform", [lambda f: f, gt.grad, lambda f: gt.grad(gt.grad(f)), gt.jacfwd])
def test_the_compiled_program_calls_the_solver(function: Callable[[Any], Any], transform: Any) -> None:
    """Values and derivatives are the eager ones, in each call; nothing is traced again, and nothing runs uncompiled."""
    wanted = transform(function)
    compiled = gt.jit(wanted)
    for a in (1.3, 1.45, 1.6):
        numpy.testing.assert_allclose(compiled(numpy.array(a)), wanted(numpy.array(a)), rtol=2e-4)
    assert (compiled.stats.traces, compiled.stats.uncompiled, compiled.stats.guards_failed) == (1, 0, 0)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_gradients_are_differences(function: Callable[[Any], Any]) -> None:
    """What is compiled is the derivative of what is compiled."""
    value, slope = gt.jit(function), gt.jit(gt.grad(function))
    difference = (value(numpy.array(1.4 + 1e-4)) - value(numpy.array(1.4 - 1e-4))) / 2e-4
    if function is bracket_that_moves:
        difference += (1.0 / (3.0 * value(numpy.array(1.4)) ** 2 + 1.4)) * -1.0  # what stop_gradient leaves out
    numpy.testing.assert_allclose(slope(numpy.array(1.4)), difference, rtol=1e-3)


def test_numbers_of_the_result_are_those_of_the_call() -> None:
    """Success, counts and the like are not those of the call that was traced; what is no number is not there."""
    fields = gt.jit(lambda a: [*_result(a).values()])
    plain = optimize.minimize(lambda v: ((v - 3.0) ** 4).sum(), numpy.zeros(2), method="Nelder-Mead")

    def _result(a: Any) -> Any:
        found = optimize.minimize(lambda v: ((v - a) ** 4).sum(), numpy.zeros(2), method="Nelder-Mead")
        assert not hasattr(found, "message")
        return {name: found[name] for name in ("nit", "nfev", "success", "fun")}

    fields(numpy.array(1.0))
    nit, nfev, success, fun = fields(numpy.array(3.0))
    assert (int(nit), int(nfev), bool(success)) == (plain.nit, plain.nfev, plain.success)
    numpy.testing.assert_allclose(fun, plain.fun, rtol=1e-6)


def test_errors_of_the_solver_are_scipys() -> None:
    """A call in which SciPy refuses raises its error, and later calls are right."""
    compiled = gt.jit(root_in_a_bracket)
    first = compiled(numpy.array(1.3))
    with pytest.raises(ValueError, match="different signs"):
        compiled(numpy.array(-90.0))
    assert compiled(numpy.array(1.3)) == first


def test_a_function_that_looks_at_a_value_is_not_compiled() -> None:
    """It is right, and said with the reason."""

    def branches(a: Any) -> Any:
        return optimize.brentq(lambda t: t - a if t > 0.5 else a * t - 1.0, 0.0, 2.0)

    compiled = gt.jit(branches)
    with pytest.warns(JitWarning, match="whose function cannot be traced: it looks at a value"):
        assert compiled(numpy.array(1.0)) == branches(numpy.array(1.0))
    assert compiled.stats.uncompiled == 1


def test_a_solver_that_reads_no_tensor_is_a_constant() -> None:
    """What does not depend on the arguments is computed once."""
    compiled = gt.jit(lambda a: a * optimize.brentq(lambda t: t**2 - 2.0, 0.0, 2.0))
    numpy.testing.assert_allclose(compiled(numpy.array(3.0)), 3.0 * 2.0**0.5)
    assert compiled.stats.uncompiled == 0


def test_threads_have_their_own_numbers() -> None:
    """One compiled function in several threads: each solves its own equation."""
    compiled = gt.jit(equations)
    compiled(numpy.array(1.3))
    found: dict[float, float] = {}

    def work(a: float) -> None:
        for _ in range(30):
            found[a] = float(compiled(numpy.array(a)))

    threads = [threading.Thread(target=work, args=(a,)) for a in (1.2, 1.4, 1.6, 1.8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for a, value in found.items():
        numpy.testing.assert_allclose(value, float(equations(numpy.array(a))), rtol=1e-9)


def shooting(a: Any) -> Any:
    def miss(slope: Any) -> Any:
        found = integrate.solve_ivp(
            lambda t, y: [y[1], -0.1 * a * np.exp(y[0])], (0.0, 1.0), [0.0, slope], t_eval=[1.0], rtol=1e-9, atol=1e-10
        )
        return found.y[0, -1] - 0.05

    return optimize.brentq(miss, -1.0, 2.0, xtol=1e-13)


def test_a_differential_equation_in_the_function_of_a_solver() -> None:
    """Boundary values by shooting: value and gradient are compiled."""
    wanted = gt.value_and_grad(shooting)
    compiled = gt.jit(wanted)
    for a in (1.3, 1.6):
        numpy.testing.assert_allclose(compiled(numpy.array(a)), wanted(numpy.array(a)), rtol=1e-8)
    assert (compiled.stats.traces, compiled.stats.uncompiled) == (1, 0)
