"""How a loop is differentiated in little memory: in segments that are run again, of segments that are run again, ...

What a step keeps is measured on the first one. With one level, the carry before each segment of L steps is kept, and on
the walk back one segment at a time is recorded: `N / L` carries and L steps. With d levels, each segment is itself run
in segments: `d * (N / L) ** (1 / d)` carries and L steps, and each step is run d + 1 times.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradtape.core import recording
from gradtape.core.graph import VARIABLE, Cut, Node, next_order
from gradtape.core.location import Location
from gradtape.core.operation import Lifted
from gradtape.core.pytree import leaves
from gradtape.core.saved_arrays import LockedArray
from gradtape.core.tensor import Tensor
from gradtape.errors import OperandError
from gradtape.transforms.custom.checkpoint import checkpoint
from gradtape.transforms.custom.frontier import is_interior

LEVELS_AT_MOST = 8
NODE = 900
"""Bytes that a recorded operation takes besides its arrays."""
SEGMENT = 6000
"""Bytes that a segment takes besides its carry: what it is run again with, and how to tell that it does the same."""
LEAF = 3000
"""Bytes that a segment takes for each array that it carries, besides the array."""

Function = Callable[..., Any]


class SegmentPlan(NamedTuple):
    """How many levels of segments there are, how many segments one is made of, and how long the shortest are."""

    levels: int
    branching: int
    segment: int

    def kept(self, function: Function) -> Function:
        """`function`, of which only the arguments are kept."""
        return checkpoint(function)


EVERYTHING = SegmentPlan(0, 1, 1)


def choose_plan(each: int, carry: Any, steps: int, budget: int) -> SegmentPlan:
    """The plan with the fewest levels that keeps a loop within `budget` bytes, if each step keeps `each`."""
    arrays = [x for x in leaves(carry) if x is not None]
    carried = sum(np.asarray(_array(x)).nbytes for x in arrays)
    return plan_for(each, carried, SEGMENT + LEAF * len(arrays), steps, budget)


def plan_for(each: int, carried: int, more: int, steps: int, budget: int) -> SegmentPlan:
    """The plan for steps that keep `each` bytes, with segments that keep `carried` and some `more`."""
    if each * steps <= budget:
        return EVERYTHING
    point = carried + more
    least = None
    for levels in range(1, LEVELS_AT_MOST + 1):
        plan, needed = min((_priced(levels, 2**i, steps, each, point) for i in range(steps.bit_length())), key=_price)
        if needed <= budget:
            return plan
        least = needed if least is None else min(least, needed)
    raise OperandError(
        f"scan: memory={budget} bytes are too few for {steps} steps, each of which keeps about {each} bytes and "
        f"carries {carried}.\n{Location.here().show()}\n"
        f"  fix: memory={least} or more"
    )


def _priced(levels: int, segment: int, steps: int, each: int, point: int) -> tuple[SegmentPlan, int]:
    branching = max(2, math.ceil(math.ceil(steps / segment) ** (1 / levels)))
    return SegmentPlan(levels, branching, segment), levels * branching * point + segment * each


def _price(found: tuple[SegmentPlan, int]) -> int:
    return found[1]


def record_step(step: Callable[[], Any]) -> tuple[int, Any]:
    """What the tapes that are on keep of a step, in bytes, and its result."""
    state = recording.current()
    mask = state.bits | (VARIABLE if state.variables else 0)
    start = next_order()
    result = step()
    pending = [x._node for x in leaves(result) if isinstance(x, Tensor)]
    seen: set[Node] = set()
    arrays: dict[int, int] = {}
    nodes = 0
    while pending:
        node = pending.pop()
        if node in seen or not is_interior(node, start, mask) or isinstance(node, Cut):
            continue
        seen.add(node)
        nodes += 1
        for value in (node.out, *node.inputs):
            array = _array(value)
            if isinstance(array, np.ndarray | np.generic) or hasattr(array, "check_later"):
                arrays[id(array)] = array.nbytes
        pending.extend(node.parents)
    return NODE * nodes + sum(arrays.values()), result


def _array(value: Any) -> Any:
    if isinstance(value, LockedArray):
        value = getattr(value, "array", None)
    while isinstance(value, Lifted):
        value = getattr(value, "value", value._array)
    return value._array if isinstance(value, Tensor) else value
