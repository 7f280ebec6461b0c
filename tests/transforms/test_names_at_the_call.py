"""Functions that run again for a gradient, or in a compiled program, read names as they were at the call.

All programs are loops whose variable is read by a function that is given away: when the gradient is computed, or the
compiled program runs, the loop is over, and the variable has its last value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gradtape as gt
import gradtape.numpy as np
from gradtape.scipy import integrate, optimize

PROGRAMS: list[Callable[[Any, float], Any]] = []
SLOPES = (1.0, 2.0, 3.0)


def of_each_slope(term: Callable[[Any, Any], Any]) -> Callable[[Any, float], Any]:
    """A program: the sum of `term(a, k)`, where the second argument is a function that reads the loop's variable."""
    PROGRAMS.append(term)
    return term


@of_each_slope
def checkpointed(a: Any, k: Any) -> Any:
    return gt.checkpoint(lambda x: np.sin(k() * x) * x)(a)


@of_each_slope
def reverse_rule(a: Any, k: Any) -> Any:
    function = gt.custom_vjp(lambda x: np.sin(k() * x))
    function.defvjp(lambda x: (np.sin(k() * x), x), lambda x, g: (g * k() * np.cos(k() * x),))
    return function(a)


@of_each_slope
def forward_rule(a: Any, k: Any) -> Any:
    function = gt.custom_jvp(lambda x: np.sin(k() * x))
    function.defjvp(lambda at, by: (np.sin(k() * at[0]), by[0] * k() * np.cos(k() * at[0])))
    return function(a)


@of_each_slope
def gradient_rule(a: Any, k: Any) -> Any:
    @gt.custom_gradient
    def function(x: Any) -> Any:
        return np.sin(k() * x), lambda g: g * k() * np.cos(k() * x)

    return function(a)


@of_each_slope
def integral(a: Any, k: Any) -> Any:
    return gt.quad(lambda x, a: np.cos(k() * x * a), 0.0, 1.0, args=(a,)).value


@of_each_slope
def integral_of_scipy(a: Any, k: Any) -> Any:
    return integrate.quad(lambda x: np.cos(k() * x * a), 0.0, 1.0)[0]


@of_each_slope
def equation(a: Any, k: Any) -> Any:
    return gt.optimize.root(lambda x, a: x**3 + k() * a * x - 2.0, numpy.array(1.0), args=(a,), tol=1e-12).x


@of_each_slope
def fixed_point(a: Any, k: Any) -> Any:
    return gt.optimize.fixed_point(lambda x, a: np.cos(0.3 * k() * a * x), numpy.array(0.7), args=(a,), tol=1e-13).x


@of_each_slope
def minimum(a: Any, k: Any) -> Any:
    return gt.optimize.minimize(lambda x, a: (x - k() * a) ** 2 + 0.1 * x**4, numpy.array(1.0), args=(a,), tol=1e-12).x


@of_each_slope
def condition(a: Any, k: Any) -> Any:
    def solver(a: Any) -> Any:
        x = 1.0
        for _ in range(40):
            x = x - (x**3 + k() * a * x - 2.0) / (3 * x**2 + k() * a)
        return x

    return gt.implicit.root(lambda x, a: x**3 + k() * a * x - 2.0, has_start=False)(solver)(a)


@of_each_slope
def bracket(a: Any, k: Any) -> Any:
    return optimize.brentq(lambda x: x**3 + k() * a * x - 2.0, 0.0, 2.0, xtol=1e-13)


@of_each_slope
def differential_equation(a: Any, k: Any) -> Any:
    return gt.odeint(lambda y, t, a: -k() * a * y, numpy.array(1.0), numpy.array([0.0, 1.0]), a)[-1]


@of_each_slope
def scan(a: Any, k: Any) -> Any:
    return gt.scan(lambda c, x: (0.5 * np.sin(k() * c) + a * x, None), a, numpy.ones(20), memory=1e5)[0]


@of_each_slope
def counted_loop(a: Any, k: Any) -> Any:
    return gt.fori_loop(0, 10, lambda i, c: 0.5 * np.sin(k() * c) + a, a)


@of_each_slope
def conditional_loop(a: Any, k: Any) -> Any:
    return gt.while_loop(lambda c: c < 10.0 + k(), lambda c: c * (1.5 + 0.1 * k()) + a, a)


def total(term: Any, a: Any) -> Any:
    """The sum over a loop, after which the variable of the loop has another value."""
    found = 0.0
    for slope in SLOPES:
        found = found + term(a, lambda: slope)  # noqa: B023 - that it is not bound is the point
    return found


@pytest.mark.parametrize("term", PROGRAMS, ids=lambda term: term.__name__)
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_a_gradient_is_the_sum_of_the_gradients(term: Any, compiled: bool) -> None:
    """As if each term had been differentiated by itself, before the next; so are values of compiled programs."""
    function, slope = (lambda a: total(term, a)), gt.grad(lambda a: total(term, a))
    if compiled:
        function, slope = gt.jit(function), gt.jit(slope)
    at = numpy.array(1.2)
    wanted = sum(gt.grad(functools.partial(lambda each, a: term(a, lambda: each), each))(at) for each in SLOPES)
    values = sum(functools.partial(lambda each: term(at, lambda: each), each)() for each in SLOPES)
    for _ in range(2):
        numpy.testing.assert_allclose(slope(at), wanted, rtol=1e-7)
        numpy.testing.assert_allclose(function(at), values, rtol=1e-7)


def test_in_a_batch() -> None:
    """A checkpoint inside of vmap runs again, too."""

    def terms(a: Any) -> Any:
        found = 0.0
        for slope in SLOPES:
            inner = gt.checkpoint(lambda q: np.sin(slope * q))  # noqa: B023 - that it is not bound is the point
            found = found + gt.vmap(lambda x, inner=inner: inner(x * a))(numpy.ones(2)).sum()
        return found

    wanted = sum(2.0 * slope * numpy.cos(slope * 1.2) for slope in SLOPES)
    numpy.testing.assert_allclose(gt.grad(terms)(numpy.array(1.2)), wanted)
