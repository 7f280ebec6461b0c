"""The explicit methods of `scipy.integrate.solve_ivp` inside `jit`: SciPy's coefficients and its choice of steps.

The attempts are those of `gradtape.odes.traced`; what differs from `gt.odeint` is how long the next step is, and the
interpolation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.extend import Tensor, off_tape
from gradtape.odes.system import State
from gradtape.odes.traced import RUNNING, STEP_TOO_SMALL, LastStep, Position, TracedSteps, choose
from gradtape.scipy.integrate.steps import ExplicitStep, Slope

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
SMALLEST = 10.0 * np.finfo(float).eps
"""The smallest step, as a part of the time."""


class ExplicitSteps(TracedSteps):
    """Steps of an explicit method of SciPy's; `method` is its class. `interpolates`: states within steps are wanted."""

    def __init__(
        self,
        method: Any,
        slope: Slope,
        span: tuple[Any, Any],
        rtol: float,
        atol: Any,
        longest: float,
        interpolates: bool,
    ) -> None:
        self.method, self.slope, (self.begin, self.end) = method, slope, span
        self.rtol, self.atol, self.longest, self.interpolates = rtol, atol, longest, interpolates
        self.exponent = -1.0 / (method.error_estimator_order + 1)
        self.direction = np.where(off_tape(self.end) < off_tape(self.begin), -1.0, 1.0)

    def start(self, y: Any, first_step: float | None) -> Position:
        """The position before the first step."""
        slope = self.slope(self.begin, y)
        h = self._first_step(off_tape(y), off_tape(slope)) if first_step is None else np.float64(first_step)
        last: LastStep | tuple[()] = ()
        if self.interpolates:
            count = 4 if hasattr(self.method, "A_EXTRA") else self.method.P.shape[1]
            zeros = [np.zeros(y.shape, y.dtype) for _ in range(count)]
            last = LastStep(self.begin, np.float64(1.0), [y], [slope], zeros)
        steps, status = np.int64(0), np.int64(RUNNING)
        return Position(self.begin, (h, np.bool_(False)), [y], [slope], last, steps, status)

    def attempt(self, at: Position, target: Any, accepted: bool | None) -> tuple[Position, Any]:
        """One step towards the end of the interval."""
        (old,), (slope,) = at.y, at.slope
        t, (given, was_rejected) = off_tape(at.t), at.h
        given = off_tape(given)
        smallest = np.maximum(SMALLEST * np.abs(t), np.finfo(float).tiny)
        clipped = np.minimum(np.maximum(given, smallest), self.longest)
        h = np.where(was_rejected, given, clipped)
        lands = (t + h * self.direction - off_tape(self.end)) * self.direction > 0.0
        end = np.where(lands, self.end, at.t + h * self.direction)
        step = ExplicitStep(self.method, self.slope, at.t, end, old, slope)
        new = step.last
        last = LastStep(at.t, step.h, [old], [slope], self._interpolation(step)) if self.interpolates else ()
        following = Position(end, at.h, [new], [step.last_slope], last, at.steps, at.status)
        if accepted:
            return following, True
        length = np.abs(off_tape(step.h))
        with np.errstate(all="ignore"):
            error = self._error(step, length, off_tape(old), off_tape(new))
            is_accepted = error < 1.0
            factor = np.where(error > 0.0, SAFETY * error**self.exponent, GROW)
        factor = np.where(np.isfinite(error), factor, SHRINK)
        grown = np.where(was_rejected, np.minimum(1.0, factor), np.minimum(GROW, factor))
        h = length * np.where(is_accepted, grown, np.maximum(SHRINK, factor))
        status = np.where(was_rejected & (given < smallest), STEP_TOO_SMALL, at.status)
        found = choose(is_accepted, following, at)
        return found.replace(h=(h, ~is_accepted), steps=at.steps + 1, status=status), is_accepted

    def state_at(self, at: Position, target: Any) -> State:
        """The state at the end of the last step, or within it."""
        (new,), last = at.y, at.last
        assert isinstance(last, LastStep)
        (old,), (first,), (end,) = last.y, last.slope, at.slope
        x, h = (_as(part, old) for part in ((target - last.t) / last.length, last.length))
        if not hasattr(self.method, "A_EXTRA"):
            moved: Any = 0.0
            for part in reversed(last.rest):
                moved = (moved + part) * x
            inside = old + h * moved
        else:
            rise = new - old
            parts = [rise, h * first - rise, 2.0 * rise - h * (end + first), *last.rest]
            moved = 0.0
            for index, part in enumerate(reversed(parts)):
                moved = (moved + part) * (1.0 - x if index % 2 else x)
            inside = moved + old
        return [np.where(off_tape(target) == off_tape(at.t), new, inside)]

    def _interpolation(self, step: ExplicitStep) -> list[Any]:
        """What the polynomial within a step needs besides the states and slopes at its ends."""
        if hasattr(self.method, "A_EXTRA"):
            step.add_extra_stages()
            return [_as(step.h, step.y) * part for part in step.combine(self.method.D)]
        return step.combine(self.method.P.T)

    def _error(self, step: ExplicitStep, length: Any, old: Any, new: Any) -> Any:
        """The error estimate over what is allowed, as SciPy's methods have it."""
        scale = self.atol + np.maximum(np.abs(old), np.abs(new)) * self.rtol
        if not hasattr(self.method, "E3"):
            (estimate,) = step.combine([self.method.E])
            return _norm(off_tape(estimate) * _as(length, old) / scale)
        fifth, third = (_squares(off_tape(e) / scale) for e in step.combine([self.method.E5, self.method.E3]))
        total = fifth + 0.01 * third
        norm = length * fifth / np.sqrt(np.where(total > 0.0, total, 1.0) * math.prod(old.shape))
        return np.where((fifth == 0.0) & (third == 0.0), 0.0, norm)

    def _first_step(self, y: Any, slope: Any) -> Any:
        """SciPy's first length, from the sizes of the state, its slope and its curvature."""
        t, end, direction = off_tape(self.begin), off_tape(self.end), self.direction
        span = np.abs(end - t)
        scale = self.atol + np.abs(y) * self.rtol
        size, speed = _norm(y / scale), _norm(slope / scale)
        with np.errstate(all="ignore"):
            small = np.where((size < 1e-5) | (speed < 1e-5), 1e-6, 0.01 * size / speed)
            small = np.minimum(small, span)
            later = off_tape(self.slope(t + small * direction, y + _as(small * direction, y) * slope))
            bend = _norm((later - slope) / scale) / small
            usual = (0.01 / np.maximum(speed, bend)) ** -self.exponent
        longer = np.where((speed <= 1e-15) & (bend <= 1e-15), np.maximum(1e-6, small * 1e-3), usual)
        return np.minimum(np.minimum(100.0 * small, longer), np.minimum(span, self.longest))


def _squares(x: Any) -> Any:
    total = (np.abs(x) ** 2).sum()
    return total.astype(float) if isinstance(total, Tensor) else np.float64(total)


def _norm(x: Any) -> Any:
    return np.sqrt(_squares(x) / max(1, math.prod(x.shape)))


def _as(number: Any, like: Any) -> Any:
    """A number in the dtype of a state, or of its real part."""
    return number.astype(like.real.dtype) if isinstance(number, Tensor | np.generic | np.ndarray) else number
