"""From step to step: how long each one is, which are taken, and what comes out at the times asked for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.errors import NumericsError, OperandError, ShapeError
from gradtape.extend import (
    WRONG_VALUE,
    BatchTensor,
    Tensor,
    is_followed,
    is_tracing,
    leaves,
    numbers_if_known,
    off_tape,
    plain,
    rebuild,
    solver_error,
)
from gradtape.odes.steppers import ExplicitStepper, RosenbrockStepper, Stepper, StepResult
from gradtape.odes.system import TITLE, State, System
from gradtape.odes.tableaus import METHODS, Explicit
from gradtape.odes.traced import NOT_FINITE, RUNNING, TOO_MANY_STEPS, NotTraced, Position
from gradtape.odes.traced_steps import AdaptiveSteps, check_times
from gradtape.transforms.custom import checkpoint

SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0


def integrate(
    system: System,
    t: Any,
    args: tuple[Any, ...],
    method: str,
    rtol: float,
    atol: float,
    adjoint: bool,
    max_steps: int,
    first_step: float | None,
    max_step: float | None,
    step_size: float | None,
) -> Any:
    """The states at all times, in the structure of the first one."""
    if method not in METHODS:
        raise solver_error(OperandError, f"{TITLE}: method={method!r}.", f"one of {', '.join(METHODS)}")
    for name, value in {"rtol": rtol, "atol": atol, "max_steps": max_steps}.items():
        if not value >= 0 or (name == "max_steps" and value < 1):
            raise solver_error(OperandError, f"{TITLE}: {name}={value!r}.", f"a positive {name}")
    table = METHODS[method]
    stepper: Stepper
    stepper = ExplicitStepper(system, table) if isinstance(table, Explicit) else RosenbrockStepper(system, table)
    if stepper.adaptive:
        if step_size is not None:
            raise solver_error(
                OperandError,
                f"{TITLE}: {method} chooses its steps; step_size={step_size} is for fixed ones.",
                "rtol= and atol=, or max_step=",
            )
        rtol = max(rtol, 8.0 * system.precision)
        if is_tracing(leaves((system.start, t, args))):
            found = _integrate_traced(stepper, t, args, rtol, atol, max_steps, first_step, max_step)
            if found is not None:
                return found[0] if system.single else rebuild(system.tree, found)
    run = Integration(stepper, _Times(t), args, adjoint, max_steps)
    if stepper.adaptive:
        run.adaptively(rtol, atol, first_step, max_step)
    else:
        run.with_fixed_steps(step_size)
    rows = [np.stack([state[n] for state in run.outputs]) for n in range(len(system.start))]
    return rows[0] if system.single else rebuild(system.tree, rows)


def _integrate_traced(
    stepper: Stepper,
    t: Any,
    args: tuple[Any, ...],
    rtol: float,
    atol: float,
    max_steps: int,
    first_step: float | None,
    max_step: float | None,
) -> list[Any] | None:
    """The states at all times, with the steps as one loop of the program that is traced; None if they cannot be."""
    times = check_times(t) if isinstance(t, Tensor) else np.array(_Times(t).numbers)
    longest = math.inf if max_step is None else abs(float(max_step))
    first = None if first_step is None else float(first_step)
    if not longest > 0:
        raise solver_error(OperandError, f"{TITLE}: max_step={max_step!r}.", "a positive max_step")
    steps = AdaptiveSteps(stepper, times, args, rtol, atol, longest, max_steps)
    start = stepper.system.start
    if times.shape[0] == 1:
        return [leaf[None] for leaf in start]
    try:
        end, found = steps.walk(steps.start(first), times[1:])
    except NotTraced:
        return None
    if end.status != RUNNING:  # a guard: a call in which the solution fails is traced again, and raises here
        raise failure(
            stepper.system, end.y, float(plain(end.t)), float(plain(times[-1])), *_told(end, rtol, atol, max_steps)
        )
    return [np.concatenate([leaf[None], rows]) for leaf, rows in zip(start, found, strict=True)]


def _told(end: Position, rtol: float, atol: float, max_steps: int) -> tuple[str, str, str]:
    """What went wrong in a traced integration, what helps, and the code of the error."""
    status = int(plain(end.status))
    if status == TOO_MANY_STEPS:
        return too_many_steps(max_steps)
    return too_small_steps(rtol, atol, status == NOT_FINITE)


def too_many_steps(max_steps: int) -> tuple[str, str, str]:
    """The words for a solution that takes more steps than it may."""
    fix = 'max_steps=, a larger rtol=; method="rodas4" if the system is stiff'
    return f"{max_steps} steps were not enough", fix, WRONG_VALUE


def too_small_steps(rtol: float, atol: float, is_undefined: bool) -> tuple[str, str, str]:
    """The words for a solution that cannot be followed any further."""
    why = f"no step is small enough for rtol={rtol:.1e}, atol={atol:.1e} (it may run off to infinity)"
    if is_undefined:
        why = "the slope is NaN or infinite from here on"
    return why, "check the function there, or stop before", ""


def failure(system: System, y: State, now: float, ahead: float, what: str, fix: str, code: str = "") -> Exception:
    """The error of an integration that has got to the state `y` at the time `now`."""
    named = zip(system.names, y, strict=True)
    sizes = {name.replace("y0", "y", 1): float(np.abs(_numbers(leaf)).max(initial=0.0)) for name, leaf in named}
    state = ", ".join(f"|{name}| up to {size:.3g}" for name, size in list(sizes.items())[:4])
    return solver_error(
        NumericsError,
        f"{TITLE}: {what}: stopped at t = {now:.6g} on the way to {ahead:.6g}, {state}.",
        fix,
        code,
    )


class _Times:
    """The times asked for: as numbers, and as they came where somebody follows them."""

    def __init__(self, t: Any) -> None:
        given = t if isinstance(t, Tensor) else np.asarray(t)
        if isinstance(given, BatchTensor):
            raise solver_error(
                OperandError,
                f"{TITLE}: the times differ between the examples of a batch.",
                "the same times for all: vmap(in_axes=(..., None)); a change of variable makes intervals alike",
            )
        numbers = np.asarray(plain(given))
        if numbers.ndim != 1 or numbers.size < 1 or numbers.dtype.kind not in "fiu":
            raise solver_error(
                ShapeError,
                f"{TITLE}: t has shape {numbers.shape} and dtype {numbers.dtype}.",
                "a vector of times, the first for y0: np.linspace(0.0, 1.0, 11)",
            )
        steps = np.diff(numbers)
        if not np.isfinite(numbers).all() or not ((steps >= 0).all() or (steps <= 0).all()):
            raise solver_error(
                ShapeError,
                f"{TITLE}: the times are not in order, or not finite.",
                "times that only grow, or only fall",
                WRONG_VALUE,
            )
        self.numbers = [float(x) for x in numbers]
        self.followed = is_followed(given)
        self.values: list[Any] = [given[i] for i in range(len(self.numbers))] if self.followed else self.numbers
        self.direction = -1.0 if self.numbers[-1] < self.numbers[0] else 1.0

    def __len__(self) -> int:
        return len(self.numbers)


class Integration:
    """One integration: where it is, and the states it has passed at the times asked for."""

    def __init__(self, stepper: Stepper, times: _Times, args: tuple[Any, ...], adjoint: bool, max_steps: int) -> None:
        self.stepper, self.times, self.args, self.max_steps = stepper, times, args, max_steps
        self.attempt = checkpoint(stepper.step) if adjoint else stepper.step
        self.y: State = stepper.system.start
        self.slope: State = []
        self.now, self.t = times.numbers[0], times.values[0]
        self.outputs: list[State] = [self.y]
        self.steps = 0

    def _try(self, h: Any, within: list[Any]) -> StepResult:
        self.steps += 1
        if self.steps > self.max_steps:
            raise self._failure(*too_many_steps(self.max_steps))
        step: StepResult = self.attempt(self.y, self.slope, self.t, h, within, self.args)
        return step

    def _failure(self, what: str, fix: str, code: str = "") -> Exception:
        ahead = self.times.numbers[len(self.outputs)] if len(self.outputs) < len(self.times) else self.times.numbers[-1]
        return failure(self.stepper.system, self.y, self.now, ahead, what, fix, code)

    # -- fixed steps

    def with_fixed_steps(self, step_size: float | None) -> None:
        """From time to time in equal steps, each at most `step_size` long."""
        if step_size is not None and not step_size > 0:
            raise solver_error(OperandError, f"{TITLE}: step_size={step_size!r}.", "a positive step_size")
        for index in range(1, len(self.times)):
            length = self.times.numbers[index] - self.times.numbers[index - 1]
            count = 1 if step_size is None else max(1, math.ceil(abs(length) / step_size * (1.0 - 1e-12)))
            whole = self.times.values[index] - self.times.values[index - 1]
            start = self.times.values[index - 1]
            for part in range(count if length else 0):
                self.t = start + whole * (part / count)
                self.now = self.times.numbers[index - 1] + length * (part / count)
                self.y = self._try(whole / count, []).state
                if any(seen is not None and not np.isfinite(seen).all() for seen in map(numbers_if_known, self.y)):
                    raise self._failure(
                        "the state is no longer finite", "smaller steps: step_size=; or an adaptive method"
                    )
            self.outputs.append(self.y)

    # -- adaptive steps

    def adaptively(self, rtol: float, atol: float, first_step: float | None, max_step: float | None) -> None:
        """Steps as long as the error estimate allows."""
        times, system = self.times, self.stepper.system
        self.slope = self.stepper.first_slope(self.y, self.t, self.args)
        longest = math.inf if max_step is None else abs(float(max_step))
        h = abs(float(first_step)) if first_step else self._first_step(rtol, atol)
        h = min(h, longest)
        if not (h > 0 and longest > 0):
            raise solver_error(OperandError, f"{TITLE}: a step of length {h}.", "a positive first_step and max_step")
        self._repeat_equal_times()
        ratio = 0.0
        while len(self.outputs) < len(times):
            goal = len(times) - 1 if self.stepper.interpolates else len(self.outputs)
            left = (times.numbers[goal] - self.now) * times.direction
            if h < 16.0 * np.finfo(float).eps * max(abs(self.now), left):
                raise self._failure(*too_small_steps(rtol, atol, not math.isfinite(ratio)))
            lands = h >= left * (1.0 - 1e-10)
            length = left if lands else h
            step: Any = times.values[goal] - self.t if lands else length * times.direction
            done = self._try(step, self._within(goal, length, step))
            assert done.error is not None
            ratio = _ratio(done.error, self.y, done.state, system.shapes, rtol, atol)
            if ratio <= 1.0:
                self._accept(done, goal if lands else None, step)
            factor = SAFETY * ratio ** (-1.0 / self.stepper.order) if ratio else GROW
            factor = min(GROW, max(SHRINK, factor)) if math.isfinite(ratio) else SHRINK
            proposed = length * (factor if ratio <= 1.0 else min(1.0, factor))
            h = min(longest, max(h, proposed) if ratio <= 1.0 and lands else proposed)

    def _within(self, goal: int, length: float, step: Any) -> list[Any]:
        """The times before the end of a step, as fractions of it."""
        if not self.stepper.interpolates:
            return []
        found = []
        for index in range(len(self.outputs), goal + 1):
            if (self.times.numbers[index] - self.now) * self.times.direction >= length:
                break
            found.append((self.times.values[index] - self.t) / step)
        return found

    def _accept(self, done: StepResult, landed: int | None, step: Any) -> None:
        self.outputs.extend(done.within)
        self.y, self.slope = done.state, done.slope
        if landed is None:
            self.t, length = self.t + step, float(step)
            self.now += length
        else:
            self.t, self.now = self.times.values[landed], self.times.numbers[landed]
            self._repeat_equal_times()

    def _repeat_equal_times(self) -> None:
        while len(self.outputs) < len(self.times) and self.times.numbers[len(self.outputs)] == self.now:
            self.outputs.append(self.y)

    def _first_step(self, rtol: float, atol: float) -> float:
        """A length from the sizes of the state, its slope and its curvature."""
        span = abs(self.times.numbers[-1] - self.times.numbers[0])
        system = self.stepper.system
        y = [off_tape(leaf) for leaf in self.y]
        slope = [off_tape(leaf) for leaf in system.slope(y, self.now, self.args)]
        if not all(np.isfinite(_numbers(leaf)).all() for leaf in slope):
            raise self._failure("the slope is NaN or infinite at the start", "check the function at y0 and t[0]")
        size = _ratio(y, y, y, system.shapes, rtol, atol)
        speed = _ratio(slope, y, y, system.shapes, rtol, atol)
        small = 1e-6 if size < 1e-5 or speed < 1e-5 else 0.01 * size / speed
        small = min(small, span)
        ahead = [leaf + small * self.times.direction * k for leaf, k in zip(y, slope, strict=True)]
        later = system.slope(ahead, self.now + small * self.times.direction, self.args)
        bend = [off_tape(b) - a for a, b in zip(slope, later, strict=True)]
        curvature = _ratio(bend, y, y, system.shapes, rtol, atol) / small if small else 0.0
        fastest = max(speed, curvature)
        if not fastest > 1e-15 or not math.isfinite(fastest):
            return max(1e-6, small * 1e-3)
        return min(100.0 * small, (0.01 / fastest) ** (1.0 / self.stepper.order), span) or 1.0


def _numbers(value: Any) -> Any:
    """The numbers behind a value, of all examples of a batch."""
    while isinstance(value, BatchTensor):
        value = value.value
    return np.asarray(plain(value))


def _ratio(error: State, y: State, new: State, shapes: list[Any], rtol: float, atol: float) -> float:
    """The error over what is allowed, as a root mean square over the state; the largest of a batch."""
    total: Any = 0.0
    count = 0
    with np.errstate(all="ignore"):
        for e, a, b, shape in zip(error, y, new, shapes, strict=True):
            allowed = atol + rtol * np.maximum(np.abs(_numbers(a)), np.abs(_numbers(b)))
            squares = (np.abs(_numbers(e)) / np.where(allowed > 0, allowed, np.finfo(float).tiny)) ** 2
            axes = tuple(range(squares.ndim - len(shape), squares.ndim))
            total = total + squares.sum(axis=axes)
            count += int(np.prod(shape))
        largest = np.max(np.sqrt(total / max(count, 1)))
    return float(largest) if np.isfinite(largest) else math.inf
