"""First calls of compiled Python loops by their number of steps: tracing, compiling and the first run.

    python benchmarks/first_calls.py [--rows ode,kalman,...] [--steps 200,2000,20000] [--clock cpu] [--scan]

Each row is the value and gradient (or the Jacobian) of a loop in plain Python, in a process of its own for each number
of steps. A loop that is found while it is traced is compiled once; what grows with its steps is running its Python
code, step by step. "a step" is what each further step adds to the first call, "eager, a step" what a step takes in a
call without `jit`, with which results are compared. `--scan` times the same steps by `gt.scan`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Loop = Callable[[Any, Any, int], Any]  # of parameters, data and the number of steps
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
COMPARED = 2000
"""Steps of the loops whose results are compared with those without `jit`."""
STEP = 1e-3
"""The step of the differential equation."""


def _rates(y: Any) -> Any:
    """The oscillator of van der Pol."""
    return np.stack([y[1], (1.0 - y[0] ** 2) * y[1] - y[0]])


def _runge_kutta(y: Any) -> Any:
    one = _rates(y)
    two = _rates(y + STEP / 2 * one)
    three = _rates(y + STEP / 2 * two)
    four = _rates(y + STEP * three)
    return y + STEP / 6 * (one + 2 * two + 2 * three + four)


def solve_ode(y: Any, data: Any, steps: int) -> Any:
    """A differential equation, by the classical Runge-Kutta method."""
    for _ in range(steps):
        y = _runge_kutta(y)
    return y


def solve_ode_by_scan(y: Any, data: Any, steps: int) -> Any:
    """The same with `gt.scan`."""
    import gradtape as gt

    return gt.scan(lambda y, _: (_runge_kutta(y), None), y, length=steps)[0]


def drive_oscillator(p: Any, data: Any, steps: int) -> Any:
    """An oscillator that is driven: a number of NumPy's differs in each step."""
    x, v = p[0], p[1]
    for i in range(steps):
        x, v = x + STEP * v, v + STEP * (np.sin(0.01 * i) * p[2] - x)
    return x * x + v * v


def filter_kalman(p: Any, data: Any, steps: int) -> Any:
    """The log likelihood of a Kalman filter with two states."""
    dynamics, watched = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    process, noise = np.eye(2) * np.exp(p[0]), np.eye(1) * np.exp(p[1])
    x, covariance, total = np.zeros(2), np.eye(2), 0.0
    for i in range(steps):
        x = dynamics @ x
        covariance = dynamics @ covariance @ dynamics.T + process
        spread = watched @ covariance @ watched.T + noise
        gap = data[i] - watched @ x
        gain = covariance @ watched.T @ np.linalg.inv(spread)
        total = total - 0.5 * (gap @ np.linalg.inv(spread) @ gap + np.log(np.linalg.det(spread)))
        x = x + gain @ gap
        covariance = covariance - gain @ watched @ covariance
    return total


def run_lstm(p: Any, data: Any, steps: int) -> Any:
    """An LSTM of 8 inputs and 16 units; the weights are parts of one array."""
    h = c = np.zeros(16)
    for i in range(steps):
        z = data[i] @ p[:8] + h @ p[8:24] + p[24]
        ingate, forget, outgate, new = z[:16], z[16:32], z[32:48], z[48:]
        c = c / (1.0 + np.exp(-forget)) + np.tanh(new) / (1.0 + np.exp(-ingate))
        h = np.tanh(c) / (1.0 + np.exp(-outgate))
    return np.sum(h * h)


def collect_states(p: Any, data: Any, steps: int) -> Any:
    """States that are collected in a list and stacked."""
    states, h = [], p
    for _ in range(steps):
        h = np.tanh(0.9 * h + 0.1 * p)
        states.append(h)
    return np.sum(np.stack(states) ** 2)


def make_weights() -> Any:
    """The parameters of the LSTM."""
    return 0.1 * np.random.default_rng(0).normal(size=(25, 64))


ROWS: dict[str, tuple[Loop, Any, int]] = {
    "ode": (solve_ode, np.array([1.0, 0.5]), 0),
    "jacobian": (solve_ode, np.array([1.0, 0.5]), 0),
    "driven": (drive_oscillator, np.array([1.0, 0.5, 0.3]), 0),
    "kalman": (filter_kalman, np.array([-2.0, -1.0]), 1),
    "lstm": (run_lstm, make_weights(), 8),
    "list": (collect_states, np.linspace(-1.0, 1.0, 8), 0),
}
"""The loops, their parameters, and how many numbers of data each step reads."""
SCANS: dict[str, Loop] = {"ode": solve_ode_by_scan, "jacobian": solve_ode_by_scan}


def make_step(row: str, steps: int, by_scan: bool) -> tuple[Callable[..., Any], list[Any]]:
    """The function that is compiled, and its arguments."""
    import gradtape as gt

    loop, start, width = ROWS[row]
    loop = SCANS[row] if by_scan else loop
    data = np.sin(np.arange(float(steps * width))).reshape(steps, width)
    if row == "jacobian":
        return gt.jacfwd(lambda x, data: loop(x, data, steps)), [start, data]
    return gt.value_and_grad(lambda x, data: np.sum(loop(x, data, steps))), [start, data]


def measure(row: str, steps: int, clock: str, by_scan: bool) -> tuple[float, float]:
    """The seconds of the first call, and of one call without `jit`, which is compared; NaN where it is not."""
    import gradtape as gt

    now = CLOCKS[clock]
    function, arguments = make_step(row, steps, by_scan)
    gt.jit(np.sum)(arguments[0])
    compiled = gt.jit(function)
    begun = now()
    found = compiled(*arguments)
    first, eager = now() - begun, np.nan
    if compiled.stats.uncompiled:
        raise SystemExit(f"{row}: {steps} steps are not compiled")
    if steps <= COMPARED:
        begun = now()
        wanted = function(*arguments)
        eager = now() - begun
        for one, other in zip(found, wanted, strict=True):
            if not np.allclose(one, other, rtol=1e-8, atol=1e-12):
                raise SystemExit(f"{row}: {steps} steps have another result than without jit")
    return first, eager


def measure_apart(row: str, steps: int, options: argparse.Namespace) -> tuple[float, float]:
    """The same in a process of its own, which prints both."""
    command = [sys.executable, __file__, "--rows", row, "--steps", str(steps), "--clock", options.clock, "--one"]
    result = subprocess.run([*command, *(["--scan"] if options.scan else [])], capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(result.stderr.strip().splitlines()[-1])
    first, eager = result.stdout.split()
    return float(first), float(eager)


def print_table(rows: list[str], counts: list[int], options: argparse.Namespace) -> None:
    """A row for each loop: the first calls by steps, what a step adds, and a call without `jit`."""
    print(f"seconds of the first call ({options.clock} time)\n")
    print("| loop |" + "".join(f" {count:,} steps |" for count in counts) + " a step, us | eager, a step, us |")
    print("|---|" + "---|" * (len(counts) + 2))
    for row in rows:
        times = [measure_apart(row, count, options) for count in counts]
        first = [seconds for seconds, _ in times]
        added = (first[-1] - first[0]) / max(1, counts[-1] - counts[0])
        eager = max((1e6 * each / count for (_, each), count in zip(times, counts, strict=True) if each > 0), default=0)
        cells = "".join(f" {seconds:.2f} |" for seconds in first)
        print(f"| {row} |{cells} {1e6 * added:.0f} | {f'{eager:.0f}' if eager else '-'} |", flush=True)


def main() -> None:
    """Print the table, or one pair of times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="")
    parser.add_argument("--steps", default="200,2000,20000")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--scan", action="store_true", help="the same steps by gt.scan")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    known = SCANS if options.scan else ROWS
    rows = options.rows.split(",") if options.rows else list(known)
    unknown = [row for row in rows if row not in known]
    if unknown:
        parser.error(f"there is no row {unknown[0]!r}; there are {', '.join(known)}")
    counts = [int(count) for count in options.steps.split(",")]
    if options.one:
        print(*measure(rows[0], counts[0], options.clock, options.scan))
    else:
        print_table(rows, counts, options)


if __name__ == "__main__":
    main()
