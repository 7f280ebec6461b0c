"""Adaptive differential equations: value and gradient by `gt.jit` of `gt.odeint`, against diffrax and SciPy.

    python benchmarks/odes.py [--rows lorenz,neural] [--seconds 1] [--clock wall|cpu] [--threads 1]

Each row is the gradient of a squared distance from data by the parameters of a system, from solutions of order 5 with
rtol=1e-6 and atol=1e-8. diffrax (Dopri5 with its default adjoint) is left out where it is not installed. SciPy's
gradient is that of finite differences, one solution for each parameter and one more. Results are compared first.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

RTOL, ATOL = 1e-6, 1e-8
Rates = Callable[[Any, Any, Any, Any], Any]  # of NumPy or jax.numpy, the state, the time and the parameters
Step = Callable[[], tuple[Any, Any]]


@dataclass(frozen=True)
class Row:
    """A system, its start, the times of its data, and the parameters at which the gradient is taken."""

    name: str
    rates: Rates
    start: Any
    times: Any
    parameters: Any


def lotka_volterra(xp: Any, y: Any, t: Any, p: Any) -> Any:
    """Prey and predators."""
    return xp.stack([p[0] * y[0] - p[1] * y[0] * y[1], p[3] * y[0] * y[1] - p[2] * y[1]])


def van_der_pol(xp: Any, y: Any, t: Any, p: Any) -> Any:
    """An oscillator that is not stiff."""
    return xp.stack([y[1], p[0] * (1.0 - y[0] ** 2) * y[1] - p[1] * y[0]])


def lorenz(xp: Any, y: Any, t: Any, p: Any) -> Any:
    """The butterfly."""
    return xp.stack([p[0] * (y[1] - y[0]), y[0] * (p[1] - y[2]) - y[1], y[0] * y[1] - p[2] * y[2]])


def pendulum(xp: Any, y: Any, t: Any, p: Any) -> Any:
    """A pendulum with friction that is driven."""
    return xp.stack([y[1], -p[0] * y[1] - p[1] * xp.sin(y[0]) + p[2] * xp.cos(t)])


def brusselator(xp: Any, y: Any, t: Any, p: Any) -> Any:
    """A reaction with diffusion along a line, by differences of second order at 50 points."""
    u, v = y[:50], y[50:]
    one, three = xp.ones(1), 3.0 * xp.ones(1)
    left, right = xp.concatenate([one, u[:-1]]), xp.concatenate([u[1:], one])
    below, above = xp.concatenate([three, v[:-1]]), xp.concatenate([v[1:], three])
    spread = p[2] * 51.0**2
    by_u = p[0] + u**2 * v - (p[1] + 1.0) * u + spread * (left - 2.0 * u + right)
    by_v = p[1] * u - u**2 * v + spread * (below - 2.0 * v + above)
    return xp.concatenate([by_u, by_v])


def neural(xp: Any, y: Any, t: Any, p: Any) -> Any:
    """A network with one hidden layer of 32."""
    hidden = xp.tanh(y @ p[:64].reshape(2, 32) + p[64:96])
    return hidden @ p[96:160].reshape(32, 2) + p[160:162]


def rows() -> list[Row]:
    """All systems."""
    points = np.arange(1.0, 51.0) / 51.0
    wave = np.concatenate([1.0 + np.sin(2.0 * np.pi * points), np.full(50, 3.0)])
    weights = 0.4 * np.random.default_rng(0).standard_normal(162)
    pair = np.array([1.0, 1.0])
    return [
        Row("lotka_volterra", lotka_volterra, pair, np.linspace(0.0, 10.0, 21), np.array([1.5, 1.0, 3.0, 1.0])),
        Row("van_der_pol", van_der_pol, np.array([2.0, 0.0]), np.linspace(0.0, 10.0, 21), np.array([1.0, 1.0])),
        Row("lorenz", lorenz, np.ones(3), np.linspace(0.0, 2.0, 21), np.array([10.0, 28.0, 8.0 / 3.0])),
        Row("pendulum", pendulum, np.array([1.0, 0.0]), np.linspace(0.0, 10.0, 21), np.array([0.2, 9.8, 0.5])),
        Row("brusselator", brusselator, wave, np.linspace(0.0, 1.0, 6), np.array([1.0, 3.0, 0.02])),
        Row("neural", neural, np.array([2.0, 0.0]), np.linspace(0.0, 2.0, 21), weights),
    ]


def by_gradtape(row: Row) -> Step:
    """The compiled gradient of `gt.odeint`."""
    import gradtape as gt

    def loss(p: Any) -> Any:
        found = gt.odeint(lambda y, t, p: row.rates(np, y, t, p), row.start, row.times, p, rtol=RTOL, atol=ATOL)
        return ((found - 1.0) ** 2).sum()

    compiled = gt.jit(gt.value_and_grad(loss))
    return lambda: compiled(row.parameters)


def by_diffrax(row: Row) -> Step:
    """The compiled gradient of diffrax, with NumPy arrays in and out."""
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    term = diffrax.ODETerm(lambda t, y, p: row.rates(jnp, y, t, p))

    def loss(p: Any) -> Any:
        solution = diffrax.diffeqsolve(
            term,
            diffrax.Dopri5(),
            row.times[0],
            row.times[-1],
            None,
            jnp.asarray(row.start),
            p,
            saveat=diffrax.SaveAt(ts=jnp.asarray(row.times)),
            stepsize_controller=diffrax.PIDController(rtol=RTOL, atol=ATOL),
            max_steps=10_000,
        )
        return ((solution.ys - 1.0) ** 2).sum()

    compiled = jax.jit(jax.value_and_grad(loss))

    def step() -> tuple[Any, Any]:
        value, gradient = compiled(row.parameters)
        return float(value), np.asarray(gradient)

    return step


def by_scipy(row: Row) -> Step:
    """Finite differences of solutions of SciPy's RK45."""
    from scipy.integrate import solve_ivp

    def loss(p: Any) -> float:
        span = row.times[0], row.times[-1]
        rates = lambda t, y: row.rates(np, y, t, p)
        found = solve_ivp(rates, span, row.start, t_eval=row.times, rtol=RTOL, atol=ATOL).y.T
        return float(((found - 1.0) ** 2).sum())

    def step() -> tuple[Any, Any]:
        value, gradient = loss(row.parameters), np.zeros_like(row.parameters)
        for index, x in enumerate(row.parameters):
            moved = row.parameters.copy()
            moved[index] = x + 1e-6 * max(1.0, abs(x))
            gradient[index] = (loss(moved) - value) / (moved[index] - x)
        return value, gradient

    return step


CONTENDERS = {"gradtape": by_gradtape, "diffrax": by_diffrax, "scipy differences": by_scipy}
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def measure(step: Step, seconds: float, clock: Callable[[], float]) -> float:
    """The best time of a call, in seconds."""
    best, begun, calls = math.inf, clock(), 0
    while clock() - begun < seconds or calls < 3:
        start = clock()
        step()
        best, calls = min(best, clock() - start), calls + 1
    return best


def main(arguments: list[str]) -> None:
    """Print a line for each row: microseconds of each contender, and the first call of the compiled ones in seconds."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", default="", help="names of rows, with commas; all if left out")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each contender is measured")
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall")
    parser.add_argument("--threads", type=int, default=0, help="how many threads may be used; 0 for all")
    options = parser.parse_args(arguments)
    if options.threads:
        import gradtape as gt

        gt.config.threads = options.threads
        os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if options.threads > 1 else 'false'}"
    chosen = options.rows.split(",") if options.rows else [row.name for row in rows()]
    there = [name for name in CONTENDERS if name != "diffrax" or importlib.util.find_spec("diffrax") is not None]
    print(f"{'us for value and gradient':<28}" + "".join(f"{name:>20}" for name in there) + f"{'first call, s':>24}")
    for row in rows():
        if row.name not in chosen:
            continue
        times, firsts, answers = {}, {}, {}
        for name in there:
            step = CONTENDERS[name](row)
            begun = time.perf_counter()
            answers[name] = step()
            firsts[name] = time.perf_counter() - begun
            times[name] = measure(step, options.seconds, CLOCKS[options.clock])
        value, gradient = answers["gradtape"]
        for name, (other, found) in answers.items():
            error = np.abs(found - gradient).max() / np.abs(gradient).max()
            if not (abs(other - value) < 1e-3 * abs(value) and error < 2e-2):
                print(f"{row.name}: {name} has another result: {other} for {value}, gradients differ by {error:.1e}")
        first = " / ".join(f"{firsts[name]:.1f}" for name in there if name != "scipy differences")
        print(f"{row.name:<28}" + "".join(f"{1e6 * times[name]:>20.1f}" for name in there) + f"{first:>24}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
