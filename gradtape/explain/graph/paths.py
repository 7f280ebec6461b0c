"""Paths through the recorded graph from one tensor back to another, through cuts; and the places where values left it.

The graph records more than gradients need: where a value left the tape there is a `Cut`, with the line and weak
references to what it was cut from.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

from gradtape.core.graph import LIFTED_NODE, UNTRACKED, Cut, Node, departures
from gradtape.core.saved_arrays import Guarded

if TYPE_CHECKING:
    from gradtape.core.tape import GradientTape


def origins(node: Node) -> Iterator[Node]:
    """The nodes that `node` was computed from: its parents, and what a cut was cut from, if that is still alive."""
    yield from node.parents
    if isinstance(node, Cut):
        yield from node.joined
        for reference in node.sources:
            source = reference()
            if source is not None:
                yield source


def route_back(start: Node, goal: Node, mask: int) -> list[Node]:
    """The path from `start` back to `goal` with the fewest gaps in the tapes of `mask`; empty if there is none."""
    if goal is UNTRACKED or goal is LIFTED_NODE or (isinstance(goal, Cut) and start is goal):
        return []  # nodes that many tensors share say nothing about any of them
    came_from: dict[Node, Node | None] = {}
    tie = count()
    heap: list[tuple[int, int, int, Node, Node | None]] = [(not start.bits & mask, 0, next(tie), start, None)]
    while heap:
        gaps, length, _, node, previous = heappop(heap)
        if node in came_from:
            continue
        came_from[node] = previous
        if node is goal:
            break
        for index, origin in enumerate(origins(node)):
            if origin not in came_from:
                gap = not origin.bits & mask or steers(node, index)
                heappush(heap, (gaps + gap, length + 1, next(tie), origin, node))
    if goal not in came_from:
        return []
    route: list[Node] = []
    step: Node | None = goal
    while step is not None:
        route.append(step)
        step = came_from[step]
    return route[::-1]


def steers(node: Node, index: int) -> bool:
    """Whether input `index` only selects (the condition of `where`): then it gets no gradient."""
    op = node.op
    if op is None or op.kind != "linear" or not op.needs:
        return False
    return index in op.needs[index]  # a linear rule uses the value of an input for its own gradient only if it selects


def blocked(route: list[Node]) -> Node | None:
    """The first operation on the path that uses the next node only to select, so that no gradient passes."""
    for node, origin in pairwise(route):
        indices = [index for index, parent in enumerate(node.parents) if parent is origin]
        if indices and all(steers(node, index) for index in indices):
            return node
    return None


def all_behind(start: Node, reached: dict[Node, None] | None = None) -> dict[Node, None]:
    """`start` and every node it was computed from, as far as known; added to `reached` if given."""
    reached = {} if reached is None else reached
    pending = [start]
    while pending:
        node = pending.pop()
        if node not in reached:
            reached[node] = None
            pending.extend(origins(node))
    return reached


def is_freed(node: Node) -> bool:
    """Whether `node` was an operation whose parents have been released."""
    return node.op is not None and not node.parents


def departure_of(goal: Node, mask: int) -> Cut | None:
    """The latest cut where a value computed from `goal` on this tape left as a plain number or array."""
    elsewhere: dict[Node, None] = {}
    for departure in reversed(departures):
        for reference in departure.sources:
            node = reference()
            if node is None or not node.bits & mask:
                continue
            all_behind(node, elsewhere)
            if goal in elsewhere:
                return departure
    return None


def last_departure(start: Node, goal: Node, mask: int, tape: GradientTape | None) -> Cut | None:
    """The latest value that left this tape before the target was computed, if what it was computed from is gone.

    Whether it was computed from `goal` is no longer known, but nothing else explains the missing gradient.
    """
    if tape is None:
        return None
    for departure in reversed(departures):
        bits = departure.params.get("bits", 0)  # none of a value that was off the tape when it became an index
        in_time = tape._opened < departure.order and (start.op is None or departure.order < start.order)
        if (bits & mask or not bits) and in_time and has_lost_sources(departure):
            return departure
    return None


PLACES_SHOWN = 2


def latest_departures(mask: int, since: int = 0) -> list[Cut]:
    """The last few cuts where values of the tapes in `mask` left as plain numbers or arrays, the latest first."""
    found: dict[str, Cut] = {}
    for departure in reversed(departures):
        bits = departure.params.get("bits", 0)  # none of a value that was off the tape before it left
        if (bits & mask or not bits) and departure.order > since and departure.code is not None:
            found.setdefault(departure.location.show(), departure)
        if len(found) == PLACES_SHOWN:
            break
    return list(found.values())


def use_of(value: Any, nodes: dict[Node, None]) -> Node | None:
    """An operation among `nodes` that saved exactly this array, from whichever tensor."""
    for node in nodes:
        for item in node.inputs:
            if (item.array if type(item) is Guarded else item) is value:
                return node
    return None


def has_lost_sources(cut: Cut) -> bool:
    """Whether something that `cut` was cut from is gone."""
    return any(reference() is None for reference in cut.sources)
