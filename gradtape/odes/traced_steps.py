"""The adaptive methods of `gt.odeint` inside `jit`: see `traced`. The same steps as in `integration`, as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.extend import WRONG_VALUE, Tensor, off_tape, solver_error
from gradtape.odes.steppers import ExplicitStepper, Stepper
from gradtape.odes.system import TITLE, State
from gradtape.odes.traced import (
    NOT_FINITE,
    RUNNING,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    LastStep,
    Position,
    TracedSteps,
    choose,
    detached,
    ratio_of_errors,
)

SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0


class AdaptiveSteps(TracedSteps):
    """Steps of an adaptive method; `longest` is the largest length of a step."""

    def __init__(
        self, stepper: Stepper, times: Any, args: tuple[Any, ...], rtol: float, atol: float, longest: float, most: int
    ) -> None:
        self.stepper, self.system, self.times, self.args = stepper, stepper.system, times, args
        self.rtol, self.atol, self.longest, self.most = rtol, atol, longest, most
        first, last = off_tape(times[0]), off_tape(times[-1])
        self.direction = np.where(last < first, -1.0, 1.0)

    def start(self, first_step: float | None) -> Position:
        """The position before the first step."""
        system, t = self.system, self.times[0]
        y = system.start
        slope = self.stepper.first_slope(y, t, self.args)
        h: Any = np.float64(abs(first_step)) if first_step else self._first_step()
        zeros = [np.zeros(leaf.shape, leaf.dtype) for leaf in y]
        last = LastStep(t, np.float64(1.0), y, slope, zeros) if self.stepper.interpolates else ()
        return Position(t, np.minimum(h, self.longest), y, slope, last, np.int64(0), np.int64(RUNNING))

    def attempt(self, at: Position, target: Any, accepted: bool | None) -> tuple[Position, Any]:
        """One step towards the last time, or the target where the method does not interpolate."""
        goal = self.times[-1] if self.stepper.interpolates else target
        t, h = off_tape(at.t), off_tape(at.h)
        left = (off_tape(goal) - t) * self.direction
        lands = h >= left * (1.0 - 1e-10)
        length = np.where(lands, left, h)
        step = np.where(lands, goal - at.t, length * self.direction)
        new, slope, error, rest = self._step(at, step)
        end = Position(
            np.where(lands, goal, at.t + step),
            at.h,
            new,
            slope,
            LastStep(at.t, step, at.y, at.slope, rest) if self.stepper.interpolates else (),
            at.steps,
            at.status,
        )
        if accepted:
            return end, True
        with np.errstate(all="ignore"):
            ratio = ratio_of_errors(detached(error), detached(at.y), detached(new), self.rtol, self.atol)
            is_accepted = ratio <= 1.0
            factor = np.where(ratio > 0.0, SAFETY * ratio ** (-1.0 / self.stepper.order), GROW)
        factor = np.where(np.isfinite(ratio), np.minimum(GROW, np.maximum(SHRINK, factor)), SHRINK)
        proposed = length * np.where(is_accepted, factor, np.minimum(1.0, factor))
        following = np.minimum(self.longest, np.where(is_accepted & lands, np.maximum(h, proposed), proposed))
        found = choose(is_accepted, end, at)
        failed = np.where(np.isfinite(ratio), STEP_TOO_SMALL, NOT_FINITE)
        status = np.where(h < 16.0 * np.finfo(float).eps * np.maximum(np.abs(t), left), failed, at.status)
        status = np.where(at.steps >= self.most, TOO_MANY_STEPS, status)
        return found.replace(h=following, steps=at.steps + 1, status=status), is_accepted

    def _step(self, at: Position, step: Any) -> tuple[State, State, State, list[Any]]:
        """The state and the slope after a step, the error estimate, and what the interpolation needs besides."""
        stepper = self.stepper
        if not isinstance(stepper, ExplicitStepper):
            found = stepper.step(at.y, at.slope, at.t, step, [], self.args)
            assert found.error is not None
            return found.state, found.slope, found.error, []
        slopes, new = stepper.stages(at.y, at.slope, at.t, step, self.args)
        error = _scaled(step, stepper.combine(slopes, stepper.table.errors))
        return new, slopes[-1], error, _scaled(step, stepper.combine(slopes, stepper.table.dense))

    def state_at(self, at: Position, target: Any) -> State:
        """The state at the end of the last step, or within it, by the polynomial of degree 4 of the dense output."""
        last = at.last
        if not isinstance(last, LastStep):
            return at.y
        fraction = (target - last.t) / last.length
        is_end = off_tape(target) == off_tape(at.t)
        found = []
        for n, (old, new) in enumerate(zip(last.y, at.y, strict=True)):
            x, length = (_as(part, old) for part in (fraction, last.length))
            rise, first, end = new - old, length * last.slope[n], length * at.slope[n]
            rest = (first - rise) + x * ((2.0 * rise - end - first) + (1.0 - x) * last.rest[n])
            found.append(np.where(is_end, new, old + x * (rise + (1.0 - x) * rest)))
        return found

    def _first_step(self) -> Any:
        """A length from the sizes of the state, its slope and its curvature."""
        system, direction, t = self.system, self.direction, off_tape(self.times[0])
        span = np.abs(off_tape(self.times[-1]) - t)
        y = detached(system.start)
        slope = detached(system.slope(y, t, self.args))
        size = ratio_of_errors(y, y, y, self.rtol, self.atol)
        speed = ratio_of_errors(slope, y, y, self.rtol, self.atol)
        with np.errstate(all="ignore"):
            small = np.where((size < 1e-5) | (speed < 1e-5), 1e-6, 0.01 * size / speed)
            small = np.minimum(small, span)
            ahead = [leaf + _as(small * direction, leaf) * k for leaf, k in zip(y, slope, strict=True)]
            later = detached(system.slope(ahead, t + small * direction, self.args))
            bend = [b - a for a, b in zip(slope, later, strict=True)]
            bent = ratio_of_errors(bend, y, y, self.rtol, self.atol)
            curvature = np.where(small > 0.0, bent / np.where(small > 0.0, small, 1.0), 0.0)
            fastest = np.maximum(speed, curvature)
            usual = np.minimum(np.minimum(100.0 * small, (0.01 / fastest) ** (1.0 / self.stepper.order)), span)
        usual = np.where(usual == 0.0, 1.0, usual)
        return np.where((fastest > 1e-15) & np.isfinite(fastest), usual, np.maximum(1e-6, small * 1e-3))


def check_times(t: Any) -> Any:
    """Traced times as float64, if they are in order: that they are is a guard."""
    if t.ndim != 1 or not t.shape[0] or t.dtype.kind not in "fiu":
        raise solver_error(
            ShapeError,
            f"{TITLE}: t has shape {t.shape} and dtype {t.dtype}.",
            "a vector of times, the first for y0: np.linspace(0.0, 1.0, 11)",
        )
    times = t.astype(float)
    steps = off_tape(times[1:]) - off_tape(times[:-1])
    in_order = np.isfinite(off_tape(times)).all() & ((steps >= 0.0).all() | (steps <= 0.0).all())
    if not in_order:
        raise solver_error(
            ShapeError,
            f"{TITLE}: the times are not in order, or not finite.",
            "times that only grow, or only fall",
            WRONG_VALUE,
        )
    return times


def _as(number: Any, like: Any) -> Any:
    """A number in the dtype of a leaf, or of its real part."""
    return number.astype(like.real.dtype) if isinstance(number, Tensor | np.generic | np.ndarray) else number


def _scaled(number: Any, state: State) -> State:
    return [_as(number, leaf) * leaf for leaf in state]
