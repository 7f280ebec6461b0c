"""Detector: a difference quotient whose step is lost in rounding, so that it and its gradient are zero or noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.model.record import Record, Replayable

UNITS = 16.0  # in the last place: how far two values may be apart that should differ by a step


def judge_difference(node: Record, replay: Replayable) -> bool:
    """Report `(f(x + h) - f(x)) / h` with an `h` below the precision of the numbers; True if it was.

    `node` is the difference. Both sides are equal to the last places, and it is divided by a number of that size.
    """
    if len(node.parents) != 2 or not all(parent.is_tracked for parent in node.parents):
        return False
    step = _step_after(node, replay)
    if not step:
        return False
    left, right = (node.operand_value(i) for i in range(2))
    if left is None or right is None or np.asarray(left).dtype.kind != "f" or np.shape(left) != np.shape(right):
        return False
    rounding = UNITS * float(np.finfo(np.asarray(left).dtype).eps)
    scale = np.maximum(np.abs(left), np.abs(right))
    if abs(step) > rounding or not np.any(scale) or np.any(np.abs(left - right) > rounding * scale):
        return False
    dtype = np.asarray(left).dtype
    found = problem(
        "GT404",
        f"the step of this difference quotient is lost: {abs(step):.3g} is below the precision of {dtype}",
        spans=[node.location],
        notes=[f"both sides are equal to the last places; numbers of about 1 are {np.finfo(dtype).eps:.1g} apart"],
        consequence="the quotient is zero or rounding noise, and so is its gradient",
        fixes=[
            f"a larger step: about {float(np.cbrt(np.finfo(dtype).eps)):.0e} for {dtype}",
            "the derivative itself: jax.grad, torch.autograd.grad or a nested tape, which need no step",
        ],
    )
    if is_due("GT404", *found.place[1:]):
        report(found)
    return True


def _step_after(node: Record, replay: Replayable) -> Any:
    """The constant that a difference is divided by."""
    for consumer in replay.consumers.get(node, ()):
        if len(consumer.parents) != 2 or consumer.operation not in ("divide", "multiply"):
            continue
        slot = 1 if consumer.parents[0] is node else 0
        value = None if consumer.parents[slot].is_tracked else consumer.operand_value(slot)
        if value is None or not np.size(value) or np.ptp(value):
            continue
        number = float(np.ravel(value)[0])
        if consumer.operation == "divide" and slot == 1:
            return number
        if consumer.operation == "multiply" and number:
            return 1.0 / number
    return None


__all__ = ["judge_difference"]
