"""gt.odeint: closed forms, SciPy's solutions, exact gradients in both modes, and failures that say where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import integrate

import gradtape as gt
from gradtape.odes.steppers import ExplicitStepper, RosenbrockStepper, Stepper
from gradtape.odes.system import System
from gradtape.odes.tableaus import METHODS, Explicit

T = np.linspace(0.0, 2.0, 5)
METHODS_AND_STEPS: list[tuple[str, dict[str, Any]]] = [
    ("dopri5", {}),
    ("rodas4", {"rtol": 1e-5, "atol": 1e-7}),
    ("rk4", {"step_size": 0.05}),
]
WAYS = [pytest.param(method, options, id=method) for method, options in METHODS_AND_STEPS]


def decay(y: Any, t: Any, rate: Any) -> Any:
    return -rate * y


def swing(y: Any, t: Any) -> Any:
    return np.stack([y[1] * np.cos(t), -y[0] * y[1] + np.sin(t)])


def pendulum(y: Any, t: Any, friction: Any, pull: Any) -> Any:
    angle, speed = y
    return [speed, -friction * speed - pull * np.sin(angle)]


SWING = integrate.solve_ivp(
    lambda t, y: swing(y, t), (0.0, 2.0), [1.0, 0.5], rtol=1e-13, atol=1e-13, method="DOP853", t_eval=T
).y.T


# -- values


@pytest.mark.parametrize(
    ("method", "options", "tolerance"),
    [
        ("dopri5", {}, 1e-7),
        ("rodas4", {}, 1e-7),
        ("rk4", {"step_size": 0.02}, 1e-8),
        ("midpoint", {"step_size": 0.01}, 1e-4),
        ("euler", {"step_size": 0.005}, 1e-2),
    ],
)
def test_solutions_match(method: str, options: Any, tolerance: float) -> None:
    """Every method comes as close to a solution of high precision as it should, at every time asked for."""
    found = gt.odeint(swing, np.array([1.0, 0.5]), T, method=method, **options)
    np.testing.assert_allclose(found, SWING, atol=5 * tolerance)


@pytest.mark.parametrize("name", METHODS)
def test_order_of_convergence(name: str) -> None:
    """Halving the step divides the error by two to the order of the method."""
    table = METHODS[name]
    errors = []
    for count in (40, 80):
        system = System(swing, np.array([1.0, 0.5]))
        stepper: Stepper
        stepper = ExplicitStepper(system, table) if isinstance(table, Explicit) else RosenbrockStepper(system, table)
        y, h = system.start, 2.0 / count
        slope = stepper.first_slope(y, 0.0, ())
        for index in range(count):
            y, slope, _, _ = stepper.step(y, slope, index * h, h, [], ())
        errors.append(np.abs(y[0] - SWING[-1]).max())
    assert abs(np.log2(errors[0] / errors[1]) - table.order) < 0.3


def test_interpolation_is_of_fifth_order_locally() -> None:
    """States within a step are exact up to the fifth power of its length."""
    system = System(swing, np.array([1.0, 0.5]))
    table = METHODS["dopri5"]
    assert isinstance(table, Explicit)
    stepper = ExplicitStepper(system, table)
    errors = []
    for h in (0.2, 0.1):
        step = stepper.step(system.start, stepper.first_slope(system.start, 0.0, ()), 0.0, h, [0.3, 0.7], ())
        exact = integrate.solve_ivp(
            lambda t, y: swing(y, t), (0, h), [1.0, 0.5], rtol=1e-13, atol=1e-13, t_eval=[0.3 * h, 0.7 * h]
        ).y.T
        errors.append(max(np.abs(a[0] - b).max() for a, b in zip(step.within, exact, strict=True)))
    assert np.log2(errors[0] / errors[1]) > 4.6


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_tolerances_are_kept(method: str) -> None:
    """A smaller tolerance gives a smaller error, about in proportion."""
    errors = [
        np.abs(gt.odeint(swing, np.array([1.0, 0.5]), T, method=method, rtol=tol, atol=tol) - SWING).max()
        for tol in (1e-4, 1e-7)
    ]
    assert errors[1] < 2e-6
    assert errors[1] < errors[0] / 50


def test_as_scipy_odeint() -> None:
    """A function written for scipy.integrate.odeint, lists and all, gives SciPy's rows."""
    t = np.linspace(0.0, 10.0, 11)
    found = gt.odeint(pendulum, [np.pi - 0.1, 0.0], t, 0.25, 5.0)
    expected = integrate.odeint(pendulum, [np.pi - 0.1, 0.0], t, (0.25, 5.0), rtol=1e-10, atol=1e-10)
    assert found.shape == (11, 2)
    np.testing.assert_allclose(found, expected, atol=5e-6)
    np.testing.assert_array_equal(gt.odeint(pendulum, [np.pi - 0.1, 0.0], t, args=(0.25, 5.0)), found)


def test_arguments_are_given_once() -> None:
    """`args=` is a tuple or a single argument and has derivatives; what does not fit the function is explained."""
    last = lambda rates: gt.odeint(lambda y, t, rates: -rates * y, np.ones(2), [0.0, 2.0], args=rates)[-1].sum()
    np.testing.assert_allclose(gt.grad(last)(np.array([0.5, 1.0])), -2 * np.exp([-1.0, -2.0]), rtol=1e-6)
    with pytest.raises(gt.OperandError, match="and args= as well"):
        gt.odeint(lambda y, t, a, b: a * b * y, 1.0, [0.0, 1.0], 2.0, args=(3.0,))
    with pytest.raises(gt.OperandError, match="a tuple follows the times") as caught:
        gt.odeint(lambda y, t, a: -a * y, 1.0, [0.0, 1.0], (2.0,))
    assert "args=(a, b)" in str(caught.value)
    with pytest.raises(TypeError, match="missing 1 required"):
        gt.odeint(lambda y, t, a: -a * y, 1.0, [0.0, 1.0])


def test_functions_that_take_the_time_first() -> None:
    """`tfirst=True`, as in SciPy, is for functions that solve_ivp takes."""
    found = gt.odeint(lambda t, y: -t * y, 1.0, T, tfirst=True)
    np.testing.assert_allclose(found, np.exp(-0.5 * T**2), atol=1e-6)
    assert gt.odeint(np.multiply, 1.0, [0.0, 1.0]).shape == (2,)


def test_times_fall_repeat_or_are_one() -> None:
    """Times may go down, be equal, or be only the start."""
    grow = lambda y, t: y
    np.testing.assert_allclose(gt.odeint(grow, 1.0, T[::-1]), np.exp(T[::-1] - 2.0), atol=1e-7)
    np.testing.assert_allclose(gt.odeint(grow, 1.0, [0, 0, 1, 1, 2]), np.exp([0, 0, 1, 1, 2]), rtol=1e-6)
    assert gt.odeint(grow, 1, [0.0]).tolist() == [1.0]


class Phase(NamedTuple):
    q: Any
    p: Any


@dataclass
class Pair:
    q: Any
    p: Any


@pytest.mark.parametrize("kind", [Phase, Pair, dict])
@pytest.mark.parametrize(("method", "options"), WAYS)
def test_nested_states(kind: Any, method: str, options: Any) -> None:
    """States of any structure keep it, with the times as a first axis of each leaf."""
    build = (lambda q, p: {"q": q, "p": p}) if kind is dict else kind
    part = (lambda s, name: s[name]) if kind is dict else getattr
    stiffness = np.array([1.0, 4.0])
    slope = lambda s, t: build(part(s, "p"), -stiffness * part(s, "q"))
    found = gt.odeint(slope, build(np.ones(2), np.zeros(2)), T, method=method, **options)
    assert type(found) is kind
    np.testing.assert_allclose(part(found, "q"), np.cos(np.outer(T, [1.0, 2.0])), atol=1e-4)


@pytest.mark.parametrize("method", ["dopri5", "rk4", "rodas4"])
def test_precision_is_kept(method: str) -> None:
    """float32 states stay float32, and their gradients too."""
    loss = lambda y: np.sum(gt.odeint(decay, y, T, np.float32(0.5), method=method))
    assert gt.odeint(decay, np.float32(1.0), T, 0.5, method=method).dtype == np.float32
    assert gt.grad(loss)(np.ones(2, np.float32)).dtype == np.float32


def test_complex_states() -> None:
    """A complex oscillator stays on the circle."""
    np.testing.assert_allclose(gt.odeint(lambda y, t: 1j * y, 1.0 + 0j, T), np.exp(1j * T), atol=1e-7)


def test_a_slope_of_zero() -> None:
    """What does not move is solved as well."""
    assert gt.odeint(lambda y, t: 0.0 * y, 1.0, T).tolist() == [1.0] * 5


def test_stiff_systems() -> None:
    """Where an explicit method needs a million steps, the linearly implicit one needs a few hundred."""
    stiff = lambda y, t: -1e6 * (y - np.cos(t))
    with pytest.raises(gt.NumericsError, match="500 steps were not enough"):
        gt.odeint(stiff, 0.0, T, max_steps=500)
    np.testing.assert_allclose(gt.odeint(stiff, 0.0, T, max_steps=500, method="rodas4")[1:], np.cos(T[1:]), atol=1e-5)


# -- gradients


def exact_loss(y0: Any, t: Any, rate: Any) -> Any:
    return gt.sum((y0 * gt.exp(-gt.outer(t - t[0], rate))) ** 2)


Y0, RATE = np.array([1.0, 2.0]), np.array([0.5, 1.5])


@pytest.mark.parametrize("adjoint", [True, False], ids=["adjoint", "direct"])
@pytest.mark.parametrize(("method", "options"), WAYS)
def test_gradients_by_start_times_and_arguments(method: str, options: Any, adjoint: bool) -> None:
    """Gradients by y0, t and args, forward mode and second derivatives match the closed form."""

    def loss(y0: Any, t: Any, rate: Any) -> Any:
        return np.sum(gt.odeint(decay, y0, t, rate, method=method, adjoint=adjoint, **options) ** 2)

    t, close = T[::2], 5e-5 if method == "rodas4" else 1e-5
    found = gt.grad(loss, argnums=(0, 1, 2))(Y0, t, RATE)
    exact = gt.grad(exact_loss, argnums=(0, 1, 2))(Y0, t, RATE)
    for one, other in zip(found, exact, strict=True):
        np.testing.assert_allclose(one, other, atol=close)
    moved = gt.jvp(lambda rate: loss(Y0, t, rate), (RATE,), (np.ones(2),))[1]
    np.testing.assert_allclose(moved, exact[2].sum(), atol=close)
    second = gt.hvp(lambda rate: loss(Y0, t, rate), RATE, np.ones(2))
    np.testing.assert_allclose(second, gt.hvp(lambda r: exact_loss(Y0, t, r), RATE, np.ones(2)), atol=2 * close)


@pytest.mark.parametrize("adjoint", [True, False], ids=["adjoint", "direct"])
@pytest.mark.parametrize("method", ["rk4", "euler"])
def test_gradients_are_those_of_the_steps(method: str, adjoint: bool) -> None:
    """With fixed steps the gradient is that of the numbers computed, to the last digits, not of the equation."""
    options: dict[str, Any] = {"method": method, "adjoint": adjoint}
    times = T[:3]
    gt.gradcheck(lambda y, t, a: gt.odeint(lambda y, t, a: a * np.sin(y + t), y, t, a, **options), Y0, times, RATE)


def test_both_ways_agree() -> None:
    """Recomputing and keeping give the same gradient for adaptive steps, up to rounding."""
    loss = lambda friction, adjoint: gt.odeint(pendulum, [2.0, 0.0], T, friction, 5.0, adjoint=adjoint)[-1, 0]
    found = [gt.grad(loss)(0.25, adjoint) for adjoint in (True, False)]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-10)
    differences = (loss(0.25 + 1e-4, False) - loss(0.25 - 1e-4, False)) / 2e-4
    np.testing.assert_allclose(found[0], differences, rtol=1e-4)


def test_adjoint_keeps_the_states_only() -> None:
    """What a tape holds for the walk back grows by the states alone, not by what is inside the steps."""

    def kept(adjoint: bool) -> int:
        with gt.GradientTape() as tape:
            rate = tape.watch(np.full(500, 0.5))
            rows = gt.odeint(decay, np.ones(500), np.linspace(0.0, 1.0, 11), rate, method="rk4", adjoint=adjoint)
        assert rows.shape == (11, 500)
        return tape.saved().total

    assert kept(True) < kept(False) / 3


def test_variables_that_the_function_reads() -> None:
    """A variable or tensor that is no argument gets its gradient as well."""
    rate = gt.Variable(0.5)
    with gt.GradientTape() as tape:
        last = gt.odeint(lambda y, t: -rate * y, 1.0, T)[-1]
    np.testing.assert_allclose(tape.gradient(last, rate), -2.0 * np.exp(-1.0), rtol=1e-5)


def test_gradient_of_a_stiff_solution() -> None:
    """Van der Pol's equation in its stiff regime: the gradient matches differences."""
    equation = lambda y, t, mu: [y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0]]
    last = lambda mu: gt.odeint(equation, [2.0, 0.0], np.array([0.0, 1.0]), mu, method="rodas4", rtol=1e-6)[-1, 0]
    np.testing.assert_allclose(gt.grad(last)(100.0), (last(100.1) - last(99.9)) / 0.2, rtol=1e-3)


@pytest.mark.parametrize(("method", "options"), WAYS)
def test_batches(method: str, options: Any) -> None:
    """vmap over starts and arguments is one example after the other, values and gradients."""
    last = lambda y, rate: np.sum(gt.odeint(decay, y, T[::4], rate, method=method, **options)[-1])
    ys, rates = np.stack([Y0, 2.0 * Y0]), np.stack([RATE, 3.0 * RATE])
    expected = np.sum(ys * np.exp(-2.0 * rates), axis=1)
    np.testing.assert_allclose(gt.vmap(last)(ys, rates), expected, atol=1e-4)
    slopes = gt.vmap(gt.grad(last, argnums=1))(ys, rates)
    np.testing.assert_allclose(slopes, -2.0 * ys * np.exp(-2.0 * rates), atol=1e-4)


def test_compiled() -> None:
    """Fixed steps compile into one program that serves all arguments."""
    loss = lambda rate: np.sum(gt.odeint(decay, np.ones(2), T, rate, method="rk4"))
    compiled = gt.jit(gt.grad(loss))
    for rate in (RATE, 2.0 * RATE):
        np.testing.assert_allclose(compiled(rate), gt.grad(loss)(rate), rtol=1e-12)
    assert compiled.stats.traces == 1


# -- failures


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (
            lambda: gt.odeint(lambda y, t: y**2, {"a": 1.0}["a"], T),
            gt.NumericsError,
            "stopped at t = 1 on the way to 1.5",
        ),
        (lambda: gt.odeint(lambda y, t: {"a": y["a"] ** 2}, {"a": np.ones(2)}, T), gt.NumericsError, "|y['a']| up to"),
        (lambda: gt.odeint(lambda y, t: y * np.nan, 1.0, T), gt.NumericsError, "NaN or infinite at the start"),
        (lambda: gt.odeint(lambda y, t: np.where(t > 1.0, np.nan, y), 1.0, T), gt.NumericsError, "slope is NaN"),
        (lambda: gt.odeint(lambda y, t: y * 1e200, 1.0, T, method="rk4"), gt.NumericsError, "no longer finite"),
        (lambda: gt.odeint(lambda y, t: y[:1], np.ones(2), T), gt.ShapeError, "returned shape (1,) for y0"),
        (lambda: gt.odeint(lambda y, t: None, 1.0, T), gt.OperandError, "returned None"),
        (lambda: gt.odeint(lambda y, t: {"a": 1.0}, {"a": 1.0, "b": 2.0}, T), gt.StructureError, "structure of y0"),
        (lambda: gt.odeint(lambda y, t: 1j * y, 1.0, T), gt.DtypeError, "complex"),
        (lambda: gt.odeint(lambda y, t: y, 1j, T, method="rodas4"), gt.DtypeError, "takes real states"),
        (lambda: gt.odeint(lambda y, t: y, "one", T), gt.OperandError, "y0 is a str"),
        (lambda: gt.odeint(lambda y, t: y, [], T), gt.ShapeError, "no numbers"),
        (lambda: gt.odeint(3.0, 1.0, T), gt.OperandError, "got a float"),
        (lambda: gt.odeint(lambda t, y: -y, 1.0, T), gt.OperandError, "tfirst=True"),
        (lambda: gt.odeint(lambda y, t: y, 1.0, [0.0, 2.0, 1.0]), gt.ShapeError, "not in order"),
        (lambda: gt.odeint(lambda y, t: y, 1.0, 3.0), gt.ShapeError, "t has shape ()"),
        (lambda: gt.odeint(lambda y, t: y, 1.0, T, method="rk5"), gt.OperandError, "method='rk5'"),
        (lambda: gt.odeint(lambda y, t: y, 1.0, T, step_size=0.1), gt.OperandError, "chooses its steps"),
        (lambda: gt.odeint(lambda y, t: y, 1.0, T, method="rk4", step_size=-0.1), gt.OperandError, "positive step"),
        (lambda: gt.odeint(lambda y, t: y, 1.0, T, rtol=-1.0), gt.OperandError, "rtol=-1.0"),
        (lambda: gt.odeint(lambda y, t: y, 1.0, T, max_step=0.0), gt.OperandError, "positive first_step and max_step"),
        (lambda: gt.odeint(lambda y, t: y, 1.0, T, max_steps=0), gt.OperandError, "max_steps=0"),
        (lambda: gt.vmap(lambda t: gt.odeint(lambda y, t: y, 1.0, t))(np.stack([T, T])), gt.OperandError, "batch"),
    ],
)
def test_failures_say_where(call: Any, error: type[Exception], says: str) -> None:
    """Steps that fail name the time and the state; arguments that cannot be are refused in words."""
    with np.errstate(all="ignore"), pytest.raises(error) as caught:
        call()
    assert says in " ".join(str(caught.value).split())


def test_steps_can_be_limited() -> None:
    """A narrow pulse that a long step would pass over is seen with max_step, and first_step is taken."""
    pulse = lambda y, t: np.exp(-(((t - 50.0) / 0.1) ** 2)) + 0.0 * y
    seen = gt.odeint(pulse, 0.0, [0.0, 100.0], max_step=0.5, first_step=0.1)
    np.testing.assert_allclose(seen[-1], 0.1 * np.sqrt(np.pi), rtol=1e-6)
