"""Adaptive integration inside `jit`: the steps as one compiled loop, whose number of steps depends on values.

From one time asked for to the next, attempts of steps are a loop of `gradtape.loops.while_loop`, and the times are
walked by a scan. What fails is a number in the carry: it is looked at after the last step, as a guard, so that a call
in which a solution fails is traced again and raises the error there.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from gradtape.extend import (
    Attempts,
    Tensor,
    current_recording,
    leaves,
    number_in_trace,
    off_tape,
    rebuild,
    scan_in_trace,
    trace_attempts,
    use_recording,
)
from gradtape.odes.system import State

RUNNING, TOO_MANY_STEPS, STEP_TOO_SMALL, NOT_FINITE, TOO_FEW_ROWS, OTHER_NUMBER_OF_STEPS = range(6)
"""The states of an integration. With too few rows, the memory for the steps of a gradient is full."""
FEWEST_ROWS = 64
"""Steps between two times that there is memory for at first."""
STACKED_AT_MOST = 1 << 26
"""Bytes of the steps between all times, up to which they are kept for a gradient; more are computed again."""


class NotTraced(Exception):
    """Nothing of the integration is traced, or a step cannot be: it looks at a value."""


class LastStep(NamedTuple):
    """The last step that was accepted, for the states within it."""

    t: Any
    length: Any  # with the sign of the direction
    y: State
    slope: State
    rest: list[Any]  # what else the interpolation needs


class Position(NamedTuple):
    """Where an integration is: what is carried from attempt to attempt."""

    t: Any
    h: Any  # the length of the next step, which counts as given
    y: State
    slope: State
    last: LastStep | tuple[()]
    steps: Any
    status: Any

    def replace(self, **changes: Any) -> Position:
        """The same position with some of its fields changed."""
        return Position(**{**dict(zip(self._fields, self, strict=True)), **changes})


class TracedSteps(ABC):
    """The attempts of one method for one problem."""

    direction: Any  # 1.0 or -1.0

    @abstractmethod
    def attempt(self, at: Position, target: Any, accepted: bool | None) -> tuple[Position, Any]:
        """One step towards `target`, or what is to be reached at last, and whether it is accepted.

        With `accepted` the step is known to be, and nothing but what is differentiated is computed.
        """

    @abstractmethod
    def state_at(self, at: Position, target: Any) -> State:
        """The state at a time that is at the position or within the step before it."""

    def walk(self, start: Position, targets: Any) -> tuple[Position, list[Any]]:
        """The position after the last of the target times, and for each leaf of the state a row for each of them.

        Raises `NotTraced` where the steps cannot be one loop of the program that is traced.
        """
        rows = FEWEST_ROWS
        while True:
            end, found = self._walk(start, targets, rows)
            if int(number_in_trace(end.status)) != TOO_FEW_ROWS:
                return end, found
            rows *= 4

    def _walk(self, start: Position, targets: Any, rows: int) -> tuple[Position, list[Any]]:
        def segment(at: Position, target: Any) -> tuple[Position, State]:
            found = trace_attempts(
                Attempts(
                    lambda at: self._is_before(at, target),
                    lambda at, accepted: self.attempt(at, target, accepted),
                    at,
                ),
                rows,
            )
            if found is None:
                raise NotTraced
            status = np.where(found.is_full & (found.carry.status == RUNNING), TOO_FEW_ROWS, found.carry.status)
            end = found.carry.replace(status=status)
            return end, self.state_at(end, target)

        if targets.shape[0] == 1:
            end, state = segment(start, targets[0])
            return end, [leaf[None] for leaf in state]
        stacked = targets.shape[0] * rows * sum(leaf.nbytes for leaf in (*start.y, *start.slope))
        walked = scan_in_trace(segment, start, targets, recompute=stacked > STACKED_AT_MOST)
        if walked is None:
            raise NotTraced
        return walked[0], walked[1]

    def walk_steps(self, start: Position, goal: Any) -> tuple[Position, Any, list[Any]]:
        """The position at `goal`; the times after all accepted steps, and for each leaf of the state a row for each.

        The number of the steps is that of the call that is traced, and a guard: it is the shape of the result.
        """
        with use_recording(current_recording().mute(True)):
            found = trace_attempts(
                Attempts(
                    lambda at: self._is_before(at, goal), lambda at, accepted: self.attempt(at, goal, accepted), start
                )
            )
        if found is None:
            raise NotTraced
        steps = int(number_in_trace(found.accepted))
        if not steps:
            return found.carry, np.zeros(0), [np.zeros((0, *leaf.shape), leaf.dtype) for leaf in start.y]

        def one_step(at: Position, _: Any) -> tuple[Position, Any]:
            is_early = (off_tape(at.t) == off_tape(goal)) & (at.status == RUNNING)
            at = at.replace(status=np.where(is_early, OTHER_NUMBER_OF_STEPS, at.status))
            found = trace_attempts(
                Attempts(
                    lambda carry: self._is_before(carry[0], goal) & ~carry[1],
                    lambda carry, accepted: self._attempt_one(carry, goal, accepted),
                    (at, np.bool_(False)),
                ),
                1,
            )
            if found is None:
                raise NotTraced
            end = found.carry[0]
            return end, (end.t, end.y)

        walked = scan_in_trace(one_step, start, np.arange(steps), recompute=False)
        if walked is None:
            raise NotTraced
        end, (times, states) = walked
        if (off_tape(end.t) != off_tape(goal)) & (end.status == RUNNING) | (end.status == OTHER_NUMBER_OF_STEPS):
            raise AssertionError("the number of steps differs from that of the same attempts before")
        return end, times, states

    def _is_before(self, at: Position, target: Any) -> Any:
        return (at.status == RUNNING) & ((off_tape(target) - off_tape(at.t)) * self.direction > 0.0)

    def _attempt_one(self, carry: Any, goal: Any, accepted: bool | None) -> tuple[Any, Any]:
        end, is_accepted = self.attempt(carry[0], goal, accepted)
        return (end, np.bool_(True) if is_accepted is True else is_accepted), is_accepted


def choose(condition: Any, new: Any, old: Any) -> Any:
    """`new` where the condition holds and `old` elsewhere, of all parts of two structures; `new` if it is True."""
    if condition is True:
        return new
    pairs = zip(leaves(new), leaves(old), strict=True)
    return rebuild(new, [np.where(condition, one, other) for one, other in pairs])


def ratio_of_errors(error: State, y: State, new: State, rtol: Any, atol: Any) -> Any:
    """The error over what is allowed, as a root mean square over the state; infinite where it is not finite."""
    total: Any = 0.0
    count = 0
    for e, a, b in zip(error, y, new, strict=True):
        allowed = atol + rtol * np.maximum(np.abs(a), np.abs(b))
        total = total + ((np.abs(e) / np.where(allowed > 0, allowed, np.finfo(allowed.dtype).tiny)) ** 2).sum()
        count += math.prod(e.shape)
    ratio = np.sqrt(total / max(count, 1))
    ratio = ratio.astype(float) if isinstance(ratio, Tensor) else np.float64(ratio)
    return np.where(np.isfinite(ratio), ratio, math.inf)


def detached(state: State) -> State:
    """The leaves of a state on no tape."""
    return [off_tape(leaf) for leaf in state]
