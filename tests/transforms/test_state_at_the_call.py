"""Functions that run again for a gradient read attributes, items and elements as they were at the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest

import gradtape as gt
import gradtape.numpy as np
from gradtape.scipy import integrate, optimize

POINT = onp.array([0.6, 1.1, 1.7])


class Model:
    """State that changes from call to call, and functions that read it."""

    rate: Any = 0.0

    def wave(self, s: Any) -> Any:
        return np.cos(self.rate * s)

    def slope(self, t: Any, y: Any) -> Any:
        return -self.rate * y

    def slope_of_buffer(self, t: Any, y: Any) -> Any:
        return -self.rate[0] * y


def integral(model: Model, x: Any) -> Any:
    return integrate.quad(model.wave, 0.0, 1.0)[0]


def integral_of_item(model: Model, x: Any) -> Any:
    held = {"rates": [model.rate]}
    value = integrate.quad(lambda s: np.cos(held["rates"][0] * s), 0.0, 1.0)[0]
    held["rates"][0] = 0.0
    return value


def integral_of_buffer(model: Model, x: Any) -> Any:
    buffer = np.zeros(1)
    buffer[0] = model.rate
    value = integrate.quad(lambda s, buffer: np.cos(buffer[0] * s), 0.0, 1.0, args=(buffer,))[0]
    buffer[0] = 0.0
    return value


def solution(model: Model, x: Any) -> Any:
    return integrate.solve_ivp(model.slope, (0.0, 1.0), np.ones(1), rtol=1e-8, atol=1e-8).y[0, -1]


def solution_of_buffer(model: Model, x: Any) -> Any:
    rate, model.rate = model.rate, np.zeros(1)
    model.rate[:] = rate
    value = integrate.solve_ivp(model.slope_of_buffer, (0.0, 1.0), np.ones(1), rtol=1e-8, atol=1e-8).y[0, -1]
    model.rate[:] = 0.0
    return value


def own_solution(model: Model, x: Any) -> Any:
    return gt.odeint(model.slope, np.ones(1), np.array([0.0, 1.0]), tfirst=True)[-1, 0]


def root(model: Model, x: Any) -> Any:
    return optimize.brentq(lambda y: y**3 + y - model.rate, -5.0, 5.0)


def checkpointed(model: Model, x: Any) -> Any:
    return gt.checkpoint(model.wave)(x[0])


def loop(model: Model, x: Any) -> Any:
    return gt.while_loop(lambda c: c < 20.0, lambda c: c * (1.0 + model.rate), x[0])


def scanned(model: Model, x: Any) -> Any:
    return gt.scan(lambda c, u: (np.sin(c * model.rate) + u, c), x[0], np.ones(60), memory=100_000)[0]


SOLVERS = [
    *(integral, integral_of_item, integral_of_buffer, solution, solution_of_buffer, own_solution, root, checkpointed),
    *(loop, scanned),
]


def total(solver: Callable[[Model, Any], Any], x: Any) -> Any:
    """The sum over three states of one object."""
    model, found = Model(), 0.0
    for index in range(3):
        model.rate = x[index]
        found = found + (index + 1.0) * solver(model, x)
    return found


def differences(function: Callable[[Any], Any]) -> Any:
    steps = 1e-5 * onp.eye(3)
    return onp.array([(function(POINT + h) - function(POINT - h)) / 2e-5 for h in steps], float)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
def test_a_solver_keeps_the_state_that_its_function_reads(solver: Any) -> None:
    """The gradient is that of the states in which the solver was called, eager and compiled."""

    def function(x: Any) -> Any:
        return total(solver, x)

    expected = differences(function)
    compiled = gt.jit(gt.grad(function))
    compiled(1.2 * POINT)
    for found in (gt.grad(function)(POINT), compiled(POINT)):
        onp.testing.assert_allclose(found, expected, rtol=2e-4, atol=1e-5)


def rule_of_gradient(state: dict[str, float]) -> Any:
    return gt.custom_gradient(lambda x: (np.sin(x), lambda g: g * state["slope"]))


def rule_of_vjp(state: dict[str, float]) -> Any:
    function = gt.custom_vjp(lambda x: np.sin(x))
    function.defvjp(lambda x: (np.sin(x), None), lambda _, g: (g * state["slope"],))
    return function


def rule_of_jvp(state: dict[str, float]) -> Any:
    function = gt.custom_jvp(lambda x: np.sin(x))
    function.defjvp(lambda primals, tangents: (np.sin(primals[0]), tangents[0] * state["slope"]))
    return function


@pytest.mark.parametrize("make", [rule_of_gradient, rule_of_vjp, rule_of_jvp], ids=lambda make: make.__name__)
def test_a_custom_rule_reads_the_state_of_the_call(make: Any) -> None:
    """A rule that reads what changes between the call and the walk back has the slope of the call."""

    def function(x: Any) -> Any:
        state: dict[str, float] = {}
        rule, found = make(state), 0.0
        for index, slope in enumerate([2.0, 3.0, 4.0]):
            state["slope"] = slope
            found = found + rule(x[index])
        return found

    for gradient in (gt.grad(function), gt.jit(gt.grad(function)), gt.grad(gt.jit(function))):
        onp.testing.assert_allclose(gradient(POINT), [2.0, 3.0, 4.0])
    onp.testing.assert_allclose(gt.vmap(gt.grad(function))(onp.stack([POINT, POINT])), [[2.0, 3.0, 4.0]] * 2)


def test_a_rule_reads_what_its_forward_function_left() -> None:
    """`fwd` may leave values in an object for `bwd`: those of the same call."""

    class Sine:
        def forwards(self, x: Any) -> Any:
            self.cosine = np.cos(x)
            return np.sin(x), None

        def backwards(self, _: Any, g: Any) -> Any:
            return (g * self.cosine,)

    rule = Sine()
    sine = gt.custom_vjp(lambda x: np.sin(x))
    sine.defvjp(rule.forwards, rule.backwards)
    found = gt.grad(lambda x: sine(x[0]) + sine(x[1]) + sine(x[2]))(POINT)
    onp.testing.assert_allclose(found, onp.cos(POINT))


def test_what_a_function_of_a_solver_collects_is_there() -> None:
    """Side effects of the first run are those of the user's program."""
    seen: list[float] = []

    def slope(y: Any, t: Any) -> Any:
        seen.append(1.0)
        return -y

    gt.grad(lambda y: gt.odeint(slope, y, onp.array([0.0, 1.0]))[-1])(1.0)
    assert len(seen) > 6
