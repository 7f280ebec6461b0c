"""Integrals of SciPy's inside `jit`: the compiled program integrates, on the numbers of each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gradtape as gt
import gradtape.numpy as np
from gradtape.jit import JitWarning
from gradtape.scipy import integrate

PROGRAMS: list[Callable[[Any], Any]] = []


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Add a program to the list."""
    PROGRAMS.append(function)
    return function


@program
def reads_a_name_and_a_limit(a: Any) -> Any:
    return integrate.quad(lambda x: np.exp(-a * x) * np.sin(x), 0.0, a)[0]


@program
def reads_a_vector(a: Any) -> Any:
    coefficients = np.array([a, 2 * a, a * a])
    return integrate.quad(lambda x: np.sum(coefficients * x ** numpy.arange(3)), 0.0, 1.0)[0] * a


@program
def infinite_limits(a: Any) -> Any:
    return integrate.quad(lambda x: np.exp(-a * x * x), -np.inf, np.inf)[0]


@program
def arguments(a: Any) -> Any:
    value, error = integrate.quad(lambda x, p, q: np.exp(-p * x) / q, 0, np.inf, args=(a, a**2))
    return value + 0.0 * error


@program
def flat_where_it_is_traced(a: Any) -> Any:
    return integrate.quad(lambda x: np.exp((a - 1.3) * np.sin(20 * x)), 0, 2)[0]


@program
def limits_from_infinity(a: Any) -> Any:
    return integrate.quad(lambda x: a / (1.0 + x * x), a, np.inf)[0]


@program
def custom_rule_inside(a: Any) -> Any:
    @gt.custom_gradient
    def doubled(x: Any) -> Any:
        return x * x, lambda g: 4.0 * g * x  # twice the derivative

    return integrate.quad(lambda x: x * doubled(a), 0.0, 1.0)[0]


@program
def two_variables(a: Any) -> Any:
    return integrate.dblquad(lambda y, x: a * x * y, 0, 1, 0, lambda x: x * a)[0]


@program
def several_values(a: Any) -> Any:
    powers = integrate.quad_vec(lambda x: np.array([[x * a, a * a], [np.sin(a * x), 1.0]]), 0.0, a)[0]
    return (powers @ powers).sum() + integrate.quad_vec(lambda x: np.exp(-a * x), 0.0, 2.0)[0]


@program
def ranges(a: Any) -> Any:
    return integrate.nquad(lambda x, y: np.cos(a * x) * y, [(0, 1), (0.0, a)], opts={"epsrel": 1e-10})[0]


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "value": lambda function: function,
    "grad": gt.grad,
    "second": lambda function: gt.grad(gt.grad(function)),
    "forward": lambda function: lambda a: gt.jvp(function, (a,), (numpy.array(1.0),))[1],
    "forward over reverse": lambda function: lambda a: gt.jvp(gt.grad(function), (a,), (numpy.array(1.0),))[1],
}
SLOW = {two_variables: ("value", "grad"), ranges: ("value", "grad")}


@pytest.mark.parametrize(
    ("function", "transform"),
    [(each, name) for each in PROGRAMS for name in TRANSFORMS if name in SLOW.get(each, TRANSFORMS)],
    ids=lambda x: x if isinstance(x, str) else x.__name__,
)
def test_the_compiled_program_integrates(function: Any, transform: str) -> None:
    """Values and derivatives are the eager ones in each call; nothing is traced again, and nothing runs uncompiled."""
    wanted = TRANSFORMS[transform](function)
    compiled = gt.jit(wanted)
    for a in (1.3, 0.7, 2.1):
        numpy.testing.assert_allclose(compiled(numpy.array(a)), wanted(numpy.array(a)), rtol=1e-7, atol=1e-9)
    assert (compiled.stats.traces, compiled.stats.uncompiled, compiled.stats.guards_failed) == (1, 0, 0)


def test_break_points() -> None:
    """They are handed to SciPy in each call."""
    compiled = gt.jit(gt.grad(lambda a: integrate.quad(lambda x: abs(x - a) + 0.0 * x, 0, 3, points=[1.3, 2.0])[0]))
    numpy.testing.assert_allclose(compiled(numpy.array(1.3)), -0.4, rtol=1e-9)
    numpy.testing.assert_allclose(compiled(numpy.array(2.0)), 1.0, rtol=1e-9)
    assert compiled.stats.uncompiled == 0


def test_integrals_that_do_not_converge_are_warned_of() -> None:
    """SciPy's warning is given in each call of the compiled program, not only where it is traced."""
    compiled = gt.jit(lambda a: integrate.quad(lambda x: np.sin(a * x), 0.0, 1000.0, limit=2)[0])
    for a in (50.0, 60.0):
        with pytest.warns(Warning, match="scipy.integrate.quad: The maximum number of subdivisions"):
            compiled(numpy.array(a))


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda a: integrate.quad(lambda x: np.cos(a * x), 0.0, 1.0, weight="cos", wvar=2.0)[0], "steps depend"),
        (lambda a: integrate.quad(lambda x: x * a if x * a < 1.0 else a, 0.0, 1.0)[0], "looks at a value"),
    ],
    ids=["weight", "branch"],
)
def test_what_is_not_compiled_is_right_and_said(call: Any, reason: str) -> None:
    """Weights of SciPy's, and integrands with branches, run uncompiled."""
    compiled = gt.jit(call)
    with pytest.warns(JitWarning, match=reason):
        found = compiled(numpy.array(1.3))
    numpy.testing.assert_allclose(found, call(numpy.array(1.3)), rtol=1e-9)
