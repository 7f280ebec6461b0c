"""gradtape.scipy.integrate: SciPy's values, and gradients by arguments and by what the functions read around them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate as theirs

import gradtape as gt
from gradtape.jit import JitWarning
from gradtape.scipy import integrate as ours

METHODS = ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"]
REFUSED = {name for names in ours.REASONS.values() for name in names.split()}


def difference(function: Callable[[float], Any], x: float, step: float = 1e-5) -> Any:
    """The derivative of a function of one number by a central difference."""
    return (np.asarray(function(x + step)) - np.asarray(function(x - step))) / (2.0 * step)


def test_every_name_of_scipy_is_there() -> None:
    """Each public name is differentiated, refused with a reason, or no function of numbers."""
    names = [name for name in dir(theirs) if not name.startswith("_")]
    assert set(names) <= set(dir(ours))
    for name in names:
        found = getattr(ours, name)
        is_class_or_module = isinstance(found, type) or not callable(found)
        assert name in ours.original.functions or name in REFUSED or is_class_or_module or name == "test", name
    for name in REFUSED & set(names):
        if not isinstance(getattr(theirs, name), type):
            with pytest.raises((gt.UnsupportedError, ValueError)):
                getattr(ours, name)(gt.tensor(3.0, requires_grad=True), 1.0, 2.0)


def test_functions_that_are_refused_notice_what_their_callbacks_read() -> None:
    """A gradient is not lost where SciPy calls a function that reads a tensor."""
    scale = gt.tensor(2.0, requires_grad=True)
    with pytest.raises(gt.UnsupportedError, match="quad_vec"):
        ours.cubature(lambda x: scale * x[:, 0], [0.0], [1.0])


# -- initial value problems


def predators(k: Any, method: str, solve: Any = ours.solve_ivp, **options: Any) -> Any:
    """Two populations that feed on each other; k is read by closure."""
    fun = lambda t, y: [k * y[0] - 0.5 * y[0] * y[1], 0.3 * y[0] * y[1] - k * k * y[1]]
    return solve(fun, (0.0, 1.0), [1.0, 2.0], method=method, **{"rtol": 1e-5, "atol": 1e-7, **options})


def reference(k: float) -> Any:
    """The states at the end, to thirteen digits."""
    return predators(k, "DOP853", theirs.solve_ivp, rtol=1e-13, atol=1e-13).y[:, -1]


@pytest.mark.parametrize("method", METHODS)
def test_solutions_of_initial_value_problems(method: str) -> None:
    """Values are SciPy's; derivatives are those of the exact solution, in both modes; sol and t_eval too."""
    times = np.linspace(0.0, 1.0, 4)
    plain = predators(0.7, method, theirs.solve_ivp, t_eval=times, dense_output=True)
    same = predators(0.7, method, t_eval=times, dense_output=True)
    assert type(same.y) is np.ndarray
    assert np.array_equal(same.y, plain.y)
    assert type(same) is type(plain)
    found = predators(gt.tensor(0.7, requires_grad=True), method, t_eval=times, dense_output=True)
    np.testing.assert_allclose(found.y.numpy(), plain.y, rtol=1e-13)
    np.testing.assert_allclose(found.sol(times[::-1]).numpy(), plain.sol(times[::-1]), rtol=1e-12)
    np.testing.assert_allclose(found.sol(gt.tensor(0.3)).numpy(), plain.sol(0.3), rtol=1e-12)
    assert (found.nfev, found.status, found.message) == (plain.nfev, plain.status, plain.message)
    last = lambda k: predators(k, method).y[:, -1]
    expected = difference(reference, 0.7)
    np.testing.assert_allclose(gt.jacobian(last)(0.7), expected, rtol=2e-4)
    np.testing.assert_allclose(gt.jvp(last, [0.7], [1.0])[1], gt.jacobian(last)(0.7), rtol=1e-10)


@pytest.mark.parametrize("method", ["RK45", "Radau"])
def test_second_derivatives_and_batches_of_initial_value_problems(method: str) -> None:
    """Second derivatives are those of the exact solution; a batch takes common steps."""
    last = lambda k: predators(k, method).y[0, -1]
    step = 1e-3
    expected = (reference(0.7 + step) - 2.0 * reference(0.7) + reference(0.7 - step))[0] / step**2
    np.testing.assert_allclose(gt.grad(gt.grad(last))(0.7), expected, rtol=1e-3)
    k = np.array([0.7, 0.8])
    each = [gt.grad(last)(x) for x in k]
    np.testing.assert_allclose(gt.vmap(gt.grad(last))(k), each, rtol=1e-4)
    np.testing.assert_allclose(gt.grad(lambda k: gt.vmap(last)(k).sum())(k), each, rtol=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JitWarning)
        np.testing.assert_allclose(gt.jit(gt.grad(last))(np.array(0.7)), each[0], rtol=1e-10)


def test_initial_value_problems_by_start_times_and_arguments() -> None:
    """Derivatives by y0, args, both ends of the interval and t_eval; complex states; backwards in time."""
    options: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-11}
    end = lambda t: ours.solve_ivp(lambda t, y: -t * y, (0.1 * t, t), [1.0], **options).y[0, -1]
    np.testing.assert_allclose(gt.grad(end)(1.5), difference(end, 1.5), rtol=1e-6)
    inside = lambda t: ours.solve_ivp(lambda t, y: -t * y, (0, 3), [1.0], t_eval=[0.5 * t, t], **options).y[0].sum()
    exact = lambda t: np.exp(-(t**2) / 2.0) + np.exp(-(t**2) / 8.0)
    np.testing.assert_allclose(gt.grad(inside)(1.5), gt.grad(exact)(1.5), rtol=1e-6)
    turn = lambda k: ours.solve_ivp(lambda t, y: 1j * k * y, (0, 3), [1.0 + 0j], method="DOP853", **options).y[0, -1]
    np.testing.assert_allclose(gt.grad(lambda k: turn(k).real)(1.5), -3.0 * np.sin(4.5), rtol=1e-6)
    back = lambda y0, k: ours.solve_ivp(
        lambda t, y, k: -k * y, (2.0, 0.0), y0, t_eval=[1.0, 0.0], args=(k,), vectorized=True, **options
    )
    y0, k = np.array([1.0, 3.0]), 0.5
    np.testing.assert_allclose(gt.jacobian(lambda y: back(y, k).y[:, -1])(y0), np.exp(1.0) * np.eye(2), atol=1e-7)
    np.testing.assert_allclose(gt.grad(lambda k: back(y0, k).y[1, 0])(k), 3.0 * np.exp(0.5), rtol=1e-7)
    with pytest.raises(gt.OperandError, match="args"):
        gt.grad(lambda k: ours.solve_ivp(lambda t, y, k: y, (0, 1), [k], args=2.0).y[0, -1])(1.0)


@pytest.mark.parametrize("method", ["RK45", "BDF"])
def test_events_move(method: str) -> None:
    """The time and the state of an event are differentiated, and the end of an integration that one stops."""

    def flight(speed: Any, gravity: Any, solve: Any = ours.solve_ivp) -> Any:
        hit = lambda t, y: y[0]
        hit.terminal, hit.direction = True, -1  # type: ignore[attr-defined]
        top = lambda t, y: y[1]
        start = gt.stack([0.0, speed]) if isinstance(speed, gt.Tensor) else [0.0, speed]
        fun = lambda t, y: [y[1], -gravity]
        return solve(fun, (0.0, 9.0), start, events=[hit, top], method=method, max_step=0.5)

    plain = flight(10.0, 9.81, theirs.solve_ivp)
    found = flight(gt.tensor(10.0, requires_grad=True), 9.81)
    for mine, other in zip([*found.t_events, *found.y_events], [*plain.t_events, *plain.y_events], strict=True):
        np.testing.assert_allclose(mine.numpy(), other, atol=1e-12)
    assert found.status == 1
    assert found.t.shape == plain.t.shape
    np.testing.assert_allclose(gt.grad(lambda v: flight(v, 9.81).t[-1])(10.0), 2.0 / 9.81, rtol=1e-5)
    np.testing.assert_allclose(gt.grad(lambda v: flight(v, 9.81).y[1, -1])(10.0), -1.0, rtol=1e-5)
    np.testing.assert_allclose(gt.grad(lambda v: flight(v, 9.81).t_events[1][0])(10.0), 1.0 / 9.81, rtol=1e-5)
    np.testing.assert_allclose(gt.grad(lambda v: flight(v, 9.81).y_events[1][0, 0])(10.0), 10.0 / 9.81, rtol=1e-5)
    by_gravity = lambda g: flight(10.0, g).t_events[0][0]
    np.testing.assert_allclose(gt.grad(gt.grad(by_gravity))(9.81), 40.0 / 9.81**3, rtol=1e-4)


def test_odeint() -> None:
    """The value is SciPy's; the derivative that of the exact solution, also where the system is stiff."""
    times = np.linspace(0.0, 1.0, 4)
    fun = lambda y, t, k: [k * y[0] - 0.5 * y[0] * y[1], 0.3 * y[0] * y[1] - k * k * y[1]]
    solved = lambda k: ours.odeint(fun, [1.0, 2.0], times, args=(k,))
    plain = theirs.odeint(fun, [1.0, 2.0], times, args=(0.7,))
    assert np.array_equal(solved(0.7), plain)
    assert type(solved(0.7)) is np.ndarray
    np.testing.assert_allclose(gt.jacobian(solved)(0.7)[-1], difference(reference, 0.7), rtol=1e-6)
    stiff = lambda k: ours.odeint(lambda t, y: -k * (y - np.cos(t)), 0.0, [0.0, 3.0], tfirst=True, full_output=True)
    np.testing.assert_allclose(
        gt.grad(lambda k: stiff(k)[0][-1, 0])(500.0), difference(lambda k: stiff(k)[0][-1, 0], 500.0, 5.0), rtol=1e-3
    )
    by_times = lambda t: ours.odeint(lambda y, t: -y, 1.0, t)[1:, 0]
    np.testing.assert_allclose(gt.jacobian(by_times)(times)[:, 1:], -np.diag(np.exp(-times[1:])), atol=1e-6)


# -- integrals of functions

INTEGRALS: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "to infinity": (lambda k: ours.quad(lambda x: np.exp(-k * x), 0, np.inf), 2.0, -0.25),
    "from minus infinity": (lambda k: ours.quad(lambda x: np.exp(k * x), -np.inf, 0), 2.0, -0.25),
    "everywhere": (
        lambda k: ours.quad(lambda x: np.exp(-k * x * x), -np.inf, np.inf),
        2.0,
        -0.5 * np.sqrt(np.pi) * 2.0**-1.5,
    ),
    "by limits": (lambda k: ours.quad(lambda x, k: k * x, k, 3.0 * k, args=(k,)), 2.0, 48.0),
    "singular at the end": (lambda k: ours.quad(lambda x: (1.0 - x) ** -k, 0.0, 1.0, epsabs=1e-6), 0.5, 4.0),
    "a bend that moves": (lambda k: ours.quad(lambda x: np.maximum(x - k, 0.0), 0.0, 1.0, epsabs=1e-6), 0.3, -0.7),
    "reads other tensors elsewhere": (
        lambda k: ours.quad(lambda x, a, b: a * x if x < 0.5 else b * x, 0.0, 1.0, args=(k, k**2), points=[0.5]),
        3.0,
        0.125 + 6.0 * 0.375,
    ),
    "a jump within": (lambda k: ours.quad(lambda x: (x > 1.0) * x, 0.0, k, points=[1.0]), 1.5, 1.5),
    "over two variables": (lambda k: ours.dblquad(lambda y, x: k * x * y, 0, 1, 0, lambda x: x), 2.0, 0.125),
    "a range with an option": (
        lambda k: ours.nquad(lambda x, y: k**2 * x * y, [(0, 1), (0, 2)], opts={"epsabs": 1e-6}),
        3.0,
        6.0,
    ),
    "of vectors": (lambda k: [ours.quad_vec(lambda x: x ** np.arange(3), 0.0, k)[0].sum()], 2.0, 7.0),
    "by Gauss' rule": (lambda k: ours.fixed_quad(lambda x: k * x**2, 0.0, k), 2.0, 4.0 * 8.0 / 3.0),
}


@pytest.mark.parametrize("name", INTEGRALS)
def test_integrals_of_functions(name: str) -> None:
    """The gradient in both modes; a call without tensors is SciPy's."""
    integral, k, expected = INTEGRALS[name]
    value = lambda k: integral(k)[0]
    np.testing.assert_allclose(gt.grad(value)(k), expected, rtol=1e-6)
    np.testing.assert_allclose(gt.jvp(value, [k], [1.0])[1], expected, rtol=1e-6)
    assert not isinstance(value(k), gt.Tensor)


def test_integrals_over_three_variables() -> None:
    """Limits that are numbers and functions; a call without tensors is SciPy's."""
    volume = lambda k, m=ours: m.tplquad(lambda z, y, x: k * z, 0, 1, 0, lambda x: x, 0, 2.0)[0]
    np.testing.assert_allclose(gt.grad(volume)(2.0), 1.0)
    assert volume(2.0) == volume(2.0, theirs)


def test_integrals_with_weights_and_complex_values() -> None:
    """Weights of QUADPACK's are factors; what converges by their own rules only is refused."""
    wave = lambda k: ours.quad(lambda x: np.exp(-k * x), 0, 1, weight="cos", wvar=3.0 * k)[0]
    np.testing.assert_allclose(gt.grad(wave)(1.5), difference(wave, 1.5), rtol=1e-7)
    power = lambda k: ours.quad(lambda x: np.exp(-k * x), 0, 1, weight="alg", wvar=(k, -0.25), epsabs=1e-6)[0]
    np.testing.assert_allclose(gt.grad(power)(0.8), difference(power, 0.8), rtol=1e-6)
    turning = lambda k: ours.quad(lambda x: np.exp(1j * k * x), 0, 1, complex_func=True)[0].imag
    np.testing.assert_allclose(gt.grad(turning)(1.5), difference(turning, 1.5), rtol=1e-7)
    with pytest.raises(gt.UnsupportedError, match="cauchy"):
        gt.grad(lambda k: ours.quad(lambda x: k * x, -1, 1, weight="cauchy", wvar=0.2)[0])(1.0)
    assert ours.quad(np.sin, 0, 1, full_output=1)[2].keys() == theirs.quad(np.sin, 0, 1, full_output=1)[2].keys()


def test_integrals_of_higher_order_in_batches_and_compiled() -> None:
    """Second derivatives; batches of parameters and of limits; batches inside of jit run uncompiled, and are said."""
    decay = lambda k: ours.quad(lambda x: np.exp(-k * x), 0, np.inf)[0]
    np.testing.assert_allclose(gt.grad(gt.grad(decay))(2.0), 0.25, rtol=1e-6)
    product = lambda k: ours.quad(lambda x: k * x, 0, k)[0]
    np.testing.assert_allclose(gt.grad(gt.grad(product))(2.0), 6.0, rtol=1e-9)
    k = np.array([2.0, 3.0])
    np.testing.assert_allclose(gt.vmap(gt.grad(decay))(k), -(k**-2), rtol=1e-6)
    np.testing.assert_allclose(gt.grad(lambda k: gt.vmap(product)(k).sum())(k), 1.5 * k**2, rtol=1e-9)
    with pytest.warns(JitWarning, match="depend on the numbers"):
        np.testing.assert_allclose(gt.jit(gt.vmap(gt.grad(decay)))(k), -(k**-2), rtol=1e-6)


# -- integrals of samples


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 9])
def test_integrals_of_samples(count: int) -> None:
    """Values are SciPy's, for points of every kind; derivatives by values and points."""
    rng = np.random.default_rng(count)
    y, x = rng.normal(size=(2, count)), np.sort(rng.uniform(size=count))
    rows = np.sort(rng.uniform(size=(2, count)), axis=1)
    for name in ("trapezoid", "simpson", "cumulative_trapezoid", "cumulative_simpson"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        for options in ({}, {"x": x}, {"x": rows}, {"dx": 0.3}, {"initial": 0}):
            if "initial" not in options or name.startswith("cumulative"):
                found, expected = mine(gt.tensor(y), **options), other(y, **options)
                assert found.shape == expected.shape
                assert found.dtype == expected.dtype
                np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-12)
        if count > 1:
            gt.gradcheck(lambda y, x, mine=mine: mine(y, x=x), y, x)
            np.testing.assert_allclose(gt.jit(lambda y, x, mine=mine: mine(y, x=x))(y, x), other(y, x=x))
    if count in (2, 3, 5, 9):
        np.testing.assert_allclose(ours.romb(gt.tensor(y), 0.2).numpy(), theirs.romb(y, 0.2))
        gt.gradcheck(lambda y: ours.romb(y, 0.2, axis=0), y.T)


# -- boundary value problems


def test_boundary_value_problems() -> None:
    """Values are SciPy's; states, unknown parameters and `sol` move with what the functions read."""
    x = np.linspace(0.0, 1.0, 5)

    def solved(k: Any, solve: Any = ours.solve_bvp) -> Any:  # y'' = -p**2 y, y(0) = y(1) = 0, y'(0) = k
        fun = lambda x, y, p: np.stack([y[1], -(p[0] ** 2) * y[0]])
        bc = lambda ya, yb, p: np.stack([ya[0], yb[0], ya[1] - k])
        guess = np.stack([np.sin(3.0 * x), 3.0 * np.cos(3.0 * x)])
        return solve(fun, bc, x, guess, p=[3.0], tol=1e-5)

    plain = solved(2.0, theirs.solve_bvp)
    found = solved(gt.tensor(2.0, requires_grad=True))
    np.testing.assert_allclose(found.y.numpy(), plain.y)
    np.testing.assert_allclose(found.sol(0.3).numpy(), plain.sol(0.3), rtol=1e-12)
    assert np.array_equal(solved(2.0).y, plain.y)
    np.testing.assert_allclose(gt.grad(lambda k: solved(k).sol(0.5)[0])(2.0), 1.0 / np.pi, rtol=1e-4)
    np.testing.assert_allclose(gt.grad(lambda k: solved(k).p[0])(2.0), 0.0, atol=1e-6)


def test_odeint_is_compiled() -> None:
    """Values are LSODA's, and derivatives those of the eager ones; stiff systems run uncompiled, and are said."""
    times = np.linspace(0.0, 2.0, 5)

    def epidemic(x: Any) -> Any:
        def slope(y: Any, t: Any, contact: Any, recovery: Any) -> Any:
            return [-contact * y[0] * y[1], contact * y[0] * y[1] - recovery * y[1]]

        return ours.odeint(slope, [0.9, 0.1 * x[2]], times, args=(x[0], x[1]))[:, 1].sum()

    compiled = gt.jit(gt.value_and_grad(epidemic))
    for factor in (1.0, 1.2):
        x = factor * np.array([1.4, 0.5, 1.1])
        for found, wanted in zip(compiled(x), gt.value_and_grad(epidemic)(x), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9)
    assert (compiled.stats.traces, compiled.stats.uncompiled) == (1, 0)

    stiff = lambda k: ours.odeint(lambda y, t: -1e5 * k * (y - np.cos(t)), 1.0, times)[-1, 0]
    with pytest.warns(JitWarning, match="depend on the numbers"):
        np.testing.assert_allclose(gt.jit(stiff)(np.array(1.0)), stiff(1.0), rtol=1e-9)


def test_integrands_that_underflow_far_out() -> None:
    """Planck's law to infinity: exp overflows there, and infinity times zero in the derivative counts as zero."""

    def radiance(temperature: Any) -> Any:
        return ours.quad(lambda x: x**3 / np.expm1(x / temperature), 0.0, np.inf, limit=200)[0]

    with np.errstate(over="ignore"):
        for derivative in (gt.grad(radiance), gt.jit(gt.grad(radiance))):
            np.testing.assert_allclose(derivative(np.array(0.9)), 4.0 * 0.9**3 * np.pi**4 / 15.0, rtol=1e-7)


def test_several_events_are_no_value_that_left_the_tape() -> None:
    """A terminal event before another one: nothing is reported, and the gradient is that of the difference quotient."""

    def landing(x: Any) -> Any:
        def ground(t: Any, s: Any) -> Any:
            return s[0]

        ground.terminal, ground.direction = True, -1  # type: ignore[attr-defined]
        found = ours.solve_ivp(
            lambda t, s: [s[1], -x[0]], (0, 5), [1.0, x[1]], events=(ground, lambda t, s: s[1]), dense_output=True
        )
        end = found.t_events[0][0]
        return found.sol(0.5 * end)[0] + end * found.y_events[1][0][0] + found.y[1, -1]

    x = np.array([9.8, 1.0])
    steps = 1e-6 * np.eye(2)
    wanted = [(landing(x + step) - landing(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gt.grad(landing)(x), wanted, rtol=1e-6)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "LSODA", "odeint"])
def test_right_hand_sides_that_fill_one_buffer(method: str) -> None:
    """What the function returns is kept as it was when it returned: the next call fills the same buffer."""
    import gradtape.numpy as gnp

    def total(x: Any, fills: bool) -> Any:
        buffer = gnp.zeros(2)

        def slope(t: Any, y: Any) -> Any:
            if not fills:
                return gnp.array([y[1], -x[2] * y[0]])
            buffer[0] = y[1]
            buffer[1] = -x[2] * y[0]
            return buffer

        if method == "odeint":
            return ours.odeint(slope, [x[0], x[1]], np.array([0.0, 1.0]), tfirst=True)[-1].sum()
        return ours.solve_ivp(slope, (0.0, 1.0), [x[0], x[1]], method=method, rtol=1e-6).y[:, -1].sum()

    x = np.array([1.5, 1.2, 0.8])
    found, wanted = (gt.value_and_grad(lambda x, fills=fills: total(x, fills))(x) for fills in (True, False))
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-10)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-10)
