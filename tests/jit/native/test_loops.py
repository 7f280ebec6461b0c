"""Loops inside native code, those of `scan` and those found again in plain Python, against the same without `jit`."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import jit
from gradtape.jit.native.runtime.pool import pool
from gradtape.jit.runtime import loops
from gradtape.jit.runtime.schedule import NativeGroup

RNG = np.random.default_rng(21)


def recurrent(w, u, xs):
    h = np.zeros((3, 5), xs.dtype)
    for t in range(xs.shape[0]):
        h = np.tanh(xs[t] @ u + h @ w)
    return np.mean(h * h)


def runge_kutta(p, start):
    def slope(x, y):
        return p[0] * x - p[1] * x * y, p[2] * x * y - p[3] * y

    x, y = start[0], start[1]
    h = 0.05
    for _ in range(30):
        a, b = slope(x, y)
        c, d = slope(x + h / 2 * a, y + h / 2 * b)
        e, f = slope(x + h / 2 * c, y + h / 2 * d)
        g, k = slope(x + h * e, y + h * f)
        x, y = x + h / 6 * (a + 2 * c + 2 * e + g), y + h / 6 * (b + 2 * d + 2 * f + k)
    return x * x + y


def leapfrog(q, p):
    for _ in range(50):
        p = p - 0.05 * np.sin(q)
        q = q + 0.1 * p / np.sqrt(1 + p * p)
        p = p - 0.05 * np.sin(q)
    return np.sum(q * p)


def heat(u):
    for _ in range(40):
        inner = u[1:-1, 1:-1]
        laplacian = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner
        middle = np.concatenate([u[:1, 1:-1], inner + 0.2 * laplacian, u[-1:, 1:-1]])
        u = np.concatenate([u[:, :1], middle, u[:, -1:]], axis=1)
    return np.sum(u * u)


def nested(x):
    for _ in range(12):
        y = x * 0.5
        for _ in range(9):
            y = y - 0.1 * np.sin(y) * x
        x = x + 0.1 * y
    return np.sum(x * x)


def scanned(w, xs):
    def step(h, x):
        new = np.tanh(w @ h + x)
        return new, np.sum(new)

    last, sums = gt.scan(step, np.zeros(4, xs.dtype), xs)
    return np.sum(last) + np.sum(sums * sums)


def counted(x):
    return np.sum(gt.fori_loop(0, 30, lambda i, h: np.cos(h) * 0.9 + 0.01 * x, x))


def in_two(x, xs):
    def outer(h, row):
        inner, _ = gt.scan(lambda g, y: (np.sin(g) * y + x, None), h, row)
        return inner, inner * 2

    last, all_of_them = gt.scan(outer, x, xs)
    return np.sum(last) + np.sum(all_of_them)


CASES = {
    "recurrent": (recurrent, [(5, 5), (4, 5), (30, 3, 4)]),
    "runge_kutta": (runge_kutta, [(4,), (2,)]),
    "leapfrog": (leapfrog, [(7,), (7,)]),
    "heat": (heat, [(12, 15)]),
    "nested": (nested, [(6,)]),
    "scanned": (scanned, [(4, 4), (25, 4)]),
    "counted": (counted, [(6,)]),
    "in_two": (in_two, [(3,), (7, 9)]),
}


def agree(function, *arguments, tolerance=1e-11):
    """Compare a compiled function with itself, and check that nothing was left to Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step = jit(function)
        found, again, wanted = step(*arguments), step(*arguments), function(*arguments)
    assert step.stats.uncompiled == 0
    for one, other, expected in zip(_flat(found), _flat(again), _flat(wanted), strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
        assert np.asarray(one).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(one, expected, rtol=tolerance, atol=tolerance)
    return step


def _flat(tree):
    return [leaf for part in tree for leaf in _flat(part)] if isinstance(tree, tuple | list) else [tree]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_loops_agree_with_eager_ones(name, dtype):
    """A loop's value and gradients are one native function, and those of the loop without `jit`."""
    function, shapes = CASES[name]
    arrays = [RNG.uniform(0.2, 0.9, shape).astype(dtype) for shape in shapes]
    step = agree(
        gt.value_and_grad(function, tuple(range(len(arrays)))), *arrays, tolerance=1e-11 if dtype == "float64" else 2e-4
    )
    assert [type(part) for part in step._last().runner.steps] == [NativeGroup]


def test_second_derivatives_of_loops():
    """Forward over reverse through a loop, in native code."""
    x = RNG.uniform(0.2, 0.9, 5)
    agree(lambda x: gt.jvp(gt.grad(nested), (x,), (np.ones(5),))[1], x)


def test_loops_from_a_number():
    """A scan from a constant number, whose first values are numbers that native code would rather write down."""
    power = lambda x: gt.scan(lambda c, _: (np.sin(c) * x, None), x, length=1000)[0]
    agree(gt.grad(power), np.float64(0.9))
    agree(lambda x: gt.scan(lambda c, _: (c * x, c), np.float64(1.0), length=9), np.float64(0.9))


@pytest.mark.parametrize("memory", [900, 2_000, 100_000])
def test_scans_within_a_budget(memory):
    """A scan that computes steps again, for want of memory, has the gradient of one that does not."""
    w, xs = 0.4 * RNG.normal(size=(4, 4)), RNG.normal(size=(60, 4))

    def loss(w, xs, memory=None):
        last, _ = gt.scan(lambda h, x: (np.tanh(w @ h + x), None), np.zeros(4), xs, memory=memory)
        return np.sum(last)

    step = jit(gt.value_and_grad(lambda w, xs: loss(w, xs, memory), (0, 1)))
    value, gradients = step(w, xs)
    assert step.stats.uncompiled == 0
    expected, slopes = gt.value_and_grad(loss, (0, 1))(w, xs)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    for one, other in zip(gradients, slopes, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-13)


def test_the_first_and_the_last_step():
    """Loops of one step, of an odd and of an even number of steps hand out what they carried last."""
    for steps in (1, 2, 3, 8):
        agree(lambda x, n=steps: gt.scan(lambda c, _: (np.exp(-c), (c, c * 2)), x, length=n), np.arange(3.0))


def diffuse(k, u):
    """A few steps of heat conduction: each cell needs its neighbours, so the loop cannot be tiled."""
    for _ in range(6):
        flow = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        u = np.pad(u[1:-1, 1:-1] + k * flow, 1)
    return np.sum(u * u)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_loops_over_large_arrays_are_native(dtype, monkeypatch):
    """One native group runs all steps and divides what is large in each; the bits do not depend on threads."""
    k, u = RNG.uniform(0.1, 0.2, (249, 181)).astype(dtype), RNG.normal(size=(251, 183)).astype(dtype)
    expected = gt.value_and_grad(diffuse)(k, u)
    step = jit(gt.value_and_grad(diffuse))
    found = []
    for count in (1, 2, 3):
        monkeypatch.setattr(gt.config, "threads", count)
        before = pool().regions
        value, gradient = step(k, u)
        found.append((value.tobytes(), gradient.tobytes()))
        assert (pool().regions - before >= 10) is (count > 1)
    assert found == [found[0]] * 3
    assert [type(part) for part in step._last().runner.steps] == [NativeGroup]
    np.testing.assert_allclose(value, expected[0], rtol=1e-5 if dtype is np.float32 else 1e-13)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-4, atol=1e-5 if dtype is np.float32 else 1e-13)


def walk_up(x: Any) -> Any:
    """Numbers and rows that are carried, read and stacked."""

    def step(carry: Any, row: Any) -> Any:
        total, h = carry
        h = np.tanh(0.9 * h + row)
        return (total + h[0] * 0.1, h), h * 2.0

    (total, h), rows = gt.scan(step, (np.float64(0.1), x), np.linspace(0.0, 1.0, 40)[:, None] * np.ones(3))
    return (total * 1.0 if total > 0.0 else total * 3.0) + np.sum(h) + np.sum(rows)


def walk_down(x: Any) -> Any:
    """The same backwards, with a kernel of NumPy's in each step and a value that is looked at."""
    h, rows = gt.scan(lambda h, row: (np.sort(h * 0.9 + row), h), x, np.ones((12, 3)), reverse=True)
    return np.sum(h) * (1.0 if float(np.round(np.sum(rows))) > 0.0 else 2.0)


def solve_all(x: Any) -> Any:
    """A matrix that is singular in the last step."""
    scales = np.array([*[1.0] * 9, 0.0])
    return np.sum(gt.scan(lambda h, s: (np.linalg.solve(np.eye(3) * s, h), None), x, scales)[0])


@pytest.mark.parametrize("function", [walk_up, walk_down])
def test_samples_of_long_loops_are_computed_natively(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One native function gives the values that the trace looks at; they are those of the function without `jit`."""
    monkeypatch.setattr(loops, "KERNELS_AT_MOST", 0)
    called = []
    monkeypatch.setattr(loops.LongLoop, "call", _counting(loops.LongLoop.call, called))
    x = np.array([0.3, -0.2, 0.5])
    compiled = gt.jit(function)
    np.testing.assert_allclose(compiled(x), function(x), rtol=1e-12)
    assert called
    assert compiled.stats.uncompiled == 0
    np.testing.assert_allclose(gt.jit(gt.grad(function))(x), gt.grad(function)(x), rtol=1e-11)


def test_errors_in_long_loops_are_those_of_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """A factorisation that fails in one step is explained."""
    monkeypatch.setattr(loops, "KERNELS_AT_MOST", 0)
    with pytest.raises(np.linalg.LinAlgError, match=r"GT405.*Singular matrix"):
        gt.jit(solve_all)(np.ones(3))


def _counting(call: Any, called: list[Any]) -> Any:
    def counted(own: Any, *arrays: Any) -> Any:
        called.append(len(arrays))
        return call(own, *arrays)

    return counted
