"""Adaptive solvers of differential equations inside `jit`: one compiled loop, with the numbers of the eager solvers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit.ir.while_loop import WHILE
from gradtape.scipy.integrate import solve_ivp

START = np.array([1.0, 0.5])
TIMES = np.array([0.0, 0.3, 0.3, 2.0])


@pytest.fixture(autouse=True)
def warnings_are_errors() -> Any:
    """A solution that is not compiled fails the test: jit warns of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def rates(y: Any, t: Any, p: Any) -> Any:
    return np.stack([p[0] * y[0] - p[1] * y[0] * y[1], np.sin(t) - p[2] * y[1] + y[0] * y[1]])


def solution(p: Any, times: Any, y0: Any = START, **options: Any) -> Any:
    return gt.odeint(rates, y0, times, p, **options)


def loss(p: Any, times: Any, y0: Any) -> Any:
    return (solution(p, times, y0) * np.arange(8.0).reshape(4, 2)).sum()


P = np.array([1.5, 1.0, 3.0])


def test_gradients_by_everything_match() -> None:
    """Value and gradients by arguments, times and start are those of the eager solver, for any number of steps."""
    eager = gt.value_and_grad(loss, argnums=(0, 1, 2))
    compiled = gt.jit(eager)
    for factor in (1.0, 1.2, 0.2):
        value, gradients = compiled(factor * P, TIMES, START)
        expected, wanted = eager(factor * P, TIMES, START)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        for found, gradient in zip(gradients, wanted, strict=True):
            np.testing.assert_allclose(found, gradient, rtol=1e-9, atol=1e-10)


def test_the_steps_are_one_native_loop() -> None:
    """The program holds a while loop, all of which is one native group: no kernel of NumPy's is called."""
    compiled = gt.jit(lambda p: solution(p, np.array([0.0, 1.0])))
    np.testing.assert_allclose(compiled(P), solution(P, np.array([0.0, 1.0])), rtol=1e-12)
    assert [i.op for i in compiled.program.instructions].count(WHILE) == 1
    assert "NumPy kernel\n  %" not in compiled.stage("scheduled").replace("guard", "")


def test_jacobians_in_forward_mode_match() -> None:
    """`jacfwd` of a compiled solution is that of the eager one: a loop of tangents in a batch."""
    function = lambda p: solution(p, np.array([0.0, 0.5, 1.0]), rtol=1e-5)
    np.testing.assert_allclose(gt.jit(gt.jacfwd(function))(P), gt.jacfwd(function)(P), rtol=1e-9, atol=1e-11)


def test_the_method_for_stiff_systems_is_compiled() -> None:
    """rodas4, whose steps end at the times, takes the steps of the eager solver."""
    function = lambda p: solution(p, np.array([0.0, 0.5, 1.0]), method="rodas4", rtol=1e-4)
    np.testing.assert_allclose(gt.jit(function)(P), function(P), rtol=1e-11)


def test_nested_states_in_single_precision_backwards_in_time() -> None:
    """States in dicts, float32, and times that fall."""

    def last(k: Any) -> Any:
        start = {"a": np.ones(3, np.float32), "b": np.zeros(3, np.float32)}
        slope = lambda y, t: {"a": -k * y["b"], "b": y["a"]}
        found = gt.odeint(slope, start, np.array([1.0, -1.0]), rtol=1e-4, atol=1e-6)
        return found["a"][-1].sum() + (found["b"][-1] ** 2).sum()

    found, expected = gt.jit(gt.value_and_grad(last))(np.float32(2.0)), gt.value_and_grad(last)(np.float32(2.0))
    np.testing.assert_allclose(found, expected, rtol=2e-5)
    assert found[1].dtype == np.float32


def test_failures_are_those_of_the_eager_solver() -> None:
    """A call in which the solution fails raises the eager solver's error; other calls go on."""
    explode = gt.jit(lambda k: gt.odeint(lambda y, t: k * y**2, 1.0, np.array([0.0, 2.0]), max_steps=400)[-1])
    np.testing.assert_allclose(explode(np.float64(0.25)), 2.0, rtol=1e-6)
    with pytest.raises(gt.NumericsError, match=r"no step is small enough.*stopped at t = 1 "):
        explode(np.float64(1.0))
    np.testing.assert_allclose(explode(np.float64(0.25)), 2.0, rtol=1e-6)
    hurry = gt.jit(lambda k: gt.odeint(lambda y, t: -k * y, 1.0, np.array([0.0, 2.0]), max_steps=20)[-1])
    hurry(np.float64(0.1))
    with pytest.raises(gt.NumericsError, match="20 steps were not enough"):
        hurry(np.float64(100.0))
    with pytest.raises(gt.ShapeError, match="not in order"):
        gt.jit(lambda t: gt.odeint(lambda y, t: -y, 1.0, t))(np.array([0.0, 2.0, 1.0]))


def test_a_function_that_looks_at_values_is_not_compiled() -> None:
    """A slope that branches on a value has the eager result, and a warning that names the solver."""

    def slope(y: Any, t: Any, k: Any) -> Any:
        return -k * y if y > 0.5 else -y

    function = lambda k: gt.odeint(slope, 1.0, np.array([0.0, 2.0]), k)[-1]
    with pytest.warns(gt.jit.JitWarning, match="is not compiled"):
        found = gt.jit(function)(np.float64(1.5))
    np.testing.assert_allclose(found, function(1.5), rtol=1e-13)


def by_scipy(p: Any, method: str, t_eval: Any) -> Any:
    options = {"method": method, "t_eval": t_eval, "args": (p,), "rtol": 1e-5, "atol": 1e-7}
    return solve_ivp(lambda t, y, p: rates(y, t, p), (0.0, 2.0), START, **options)


def test_gradients_of_solve_ivp_match() -> None:
    """Value and gradient of states at given times, some of them within a step, are those of the eager solver."""
    eager = gt.value_and_grad(lambda p: (by_scipy(p, "RK45", np.array([0.0, 0.7, 1.9])).y ** 2).sum())
    value, gradient = gt.jit(eager)(P)
    expected, wanted = eager(P)
    np.testing.assert_allclose(value, expected, rtol=1e-10)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-8)


def test_order_eight_has_the_numbers_of_scipy() -> None:
    """DOP853, with its interpolation of order 7."""
    function = lambda p: by_scipy(p, "DOP853", np.array([0.5, 2.0])).y
    np.testing.assert_allclose(gt.jit(function)(P), function(P), rtol=1e-9)


def test_all_steps_of_solve_ivp() -> None:
    """Without t_eval, the times and states of all steps are SciPy's; another number of steps is traced again."""
    compiled = gt.jit(lambda p: (lambda found: (found.t, found.y))(by_scipy(p, "RK23", None)))
    for factor in (1.0, 1.4):
        t, y = compiled(factor * P)
        found = by_scipy(factor * P, "RK23", None)
        np.testing.assert_allclose(t, found.t, rtol=1e-7)
        np.testing.assert_allclose(y, found.y, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"method": "Radau"}, 'method="Radau" is not compiled'),
        ({"events": lambda t, y: y[0]}, "events= are not compiled"),
        ({"dense_output": True}, "dense_output=True is not compiled"),
    ],
)
def test_what_is_not_compiled_says_so(options: Any, reason: str) -> None:
    """Implicit methods, events and dense output run uncompiled, with a warning that names the argument."""
    function = lambda k: solve_ivp(lambda t, y: -k * y, (0.0, 1.0), [1.0], **options).y[0, -1]
    with pytest.warns(gt.jit.JitWarning, match=reason):
        found = gt.jit(function)(np.float64(1.5))
    np.testing.assert_allclose(found, function(1.5), rtol=1e-12)
