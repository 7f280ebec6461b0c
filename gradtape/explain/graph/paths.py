"""Paths through the recorded graph from one tensor back to another, through cuts; and the places where values left it.

The graph records more than gradients need: where a value left the tape there is a cut, with the line and what it was
cut from, as long as that is alive.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count, pairwise
from typing import Any

from gradtape.explain.model.record import Record, Watch, operand_values


def route_back(start: Record, goal: Record, tapes: Any) -> list[Record]:
    """The path from `start` back to `goal` with the fewest gaps in `tapes`; empty if there is none.

    If the start itself is not on one of them, all operations before it may be gaps: then a path without cuts is better
    than a shorter one.
    """
    if goal.is_shared or (goal.is_cut and start is goal):
        return []  # records that many tensors share say nothing about any of them
    came_from: dict[Record, Record | None] = {}
    tie = count()
    counts_cuts = not start.is_on(tapes) and not start.is_cut
    heap: list[tuple[int, int, int, int, Record, Record | None]] = [
        (0, not start.is_on(tapes), 0, next(tie), start, None)
    ]
    while heap:
        cuts, gaps, length, _, node, previous = heappop(heap)
        if node in came_from:
            continue
        came_from[node] = previous
        if node is goal:
            break
        for index, origin in enumerate(node.origins()):
            if origin not in came_from:
                gap = not origin.is_on(tapes) or node.selects_by(index)
                cut = counts_cuts and (origin.is_cut or node.selects_by(index))
                heappush(heap, (cuts + cut, gaps + gap, length + 1, next(tie), origin, node))
    if goal not in came_from:
        return []
    route: list[Record] = []
    step: Record | None = goal
    while step is not None:
        route.append(step)
        step = came_from[step]
    return route[::-1]


def blocked(route: list[Record]) -> Record | None:
    """The first operation on the path that uses the next node only to select, so that no gradient passes."""
    for node, origin in pairwise(route):
        indices = [index for index, parent in enumerate(node.parents) if parent is origin]
        if indices and all(node.selects_by(index) for index in indices):
            return node
    return None


def all_behind(start: Record, reached: dict[Record, None] | None = None) -> dict[Record, None]:
    """`start` and every node it was computed from, as far as known; added to `reached` if given."""
    reached = {} if reached is None else reached
    pending = [start]
    while pending:
        node = pending.pop()
        if node not in reached:
            reached[node] = None
            pending.extend(node.origins())
    return reached


def is_freed(node: Record) -> bool:
    """Whether `node` was an operation whose parents have been released."""
    return bool(node.operation) and not node.parents


def departure_of(goal: Record, watch: Watch) -> Record | None:
    """The latest cut where a value computed from `goal` here left as a plain number or array."""
    elsewhere: dict[Record, None] = {}
    for departure in reversed(watch.departures):
        for node in departure.origins():
            if not node.is_on(watch.tapes):
                continue
            all_behind(node, elsewhere)
            if goal in elsewhere:
                return departure
    return None


def last_departure(start: Record | None, watch: Watch) -> Record | None:
    """The latest value that left this tape before the target was computed, if what it was computed from is gone.

    Whether it was computed from the source is no longer known, but nothing else explains the missing gradient.
    """
    if not watch.is_tape:
        return None
    for departure in reversed(watch.departures):
        is_before = start is None or not start.operation or departure.order < start.order
        if watch.has_lost(departure) and watch.opened < departure.order and is_before and departure.has_lost_origins:
            return departure
    return None


PLACES_SHOWN = 2


def latest_departures(watch: Watch) -> list[Record]:
    """The last few cuts where recorded values left as plain numbers or arrays, the latest first."""
    found: dict[str, Record] = {}
    for departure in reversed(watch.departures):
        if watch.has_lost(departure) and departure.order > watch.opened and departure.location.is_known:
            found.setdefault(departure.location.show(), departure)
        if len(found) == PLACES_SHOWN:
            break
    return list(found.values())


def use_of(value: Any, nodes: dict[Record, None]) -> Record | None:
    """An operation among `nodes` that saved exactly this array, from whichever tensor."""
    for node in nodes:
        if any(kept is value for kept in operand_values(node)):
            return node
    return None
