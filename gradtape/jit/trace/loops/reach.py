"""The nodes that a backward pass will reach, computed before it starts, so that loops among them can be collapsed.

Most of them belong to loops that were detected during tracing (`gradtape.jit.trace.loops.detect`), where the parents of
each node are known. Such a part is a `ReachedRun`, which is not searched node by node: reachability is computed for the
positions of one iteration as a bit set, and mostly is the same for the iteration before it.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.graph import Node
from gradtape.jit.passes.reroll.find import Listing, Stretch
from gradtape.jit.passes.reroll.segment import Segment
from gradtape.jit.trace.tracer import TracingLevel

MIN_RUN_NODES = 400
"""Minimum number of nodes of a run."""

_order_of, _bits_of, _extra_of = map(attrgetter, ("order", "bits", "extra"))


class BackwardWalk(NamedTuple):
    """Arguments of a backward pass (see `walk` in `gradtape.core`): which nodes it visits, and where it stops."""

    mask: int
    wanted: Collection[Node]
    oldest: int
    boundary: Collection[Node]

    def follows(self, parent: Node) -> bool:
        """Whether a cotangent is passed on to `parent`."""
        return bool(parent.bits & self.mask) and parent.order >= self.oldest


class ReachedRun:
    """The nodes of a detected loop, from the instruction at `begin` to that at `end` of the listing.

    The node at `index` belongs to iteration `index // period`, at position `index % period`. Its parents are the nodes
    of the run that lie as far back as `back` says for its position, and loop-invariant nodes.
    """

    def __init__(self, segment: Segment, begin: int, end: int, first: int) -> None:
        self.begin, self.end, self.first = begin, end, first  # `first`: the number of the first value
        self.period = period = segment.period
        self.part = segment.nodes, begin - segment.begin, end - segment.begin
        self.nodes = segment.nodes[begin - segment.begin : end - segment.begin]
        turned = (begin - segment.begin) % period
        self.back = segment.back[turned:] + segment.back[:turned]
        live = np.array([node.op is not None for node in self.nodes[:period]])
        orders = np.fromiter(map(_order_of, self.nodes), np.int64, len(self.nodes))
        orders[~np.resize(live, len(orders))] = 0
        self.orders: list[int] = np.maximum.accumulate(orders).tolist()
        self.oldest, self.youngest = next(filter(None, self.orders), 0), self.orders[-1]
        self.bounds = range(len(self.nodes))  # the indices that still belong to the run, see `trim`
        self.entered: dict[int, int] = {}  # by iteration: positions reached from outside, as bits
        self.reached: list[int] = []  # by iteration: all reached positions, as bits

    def is_plain(self, walked: BackwardWalk) -> bool:
        """Whether the backward pass treats all iterations alike: equal bits, no hooks, no node where it stops."""
        nodes, period = self.nodes, self.period
        count = -(-len(nodes) // period)
        bits = list(map(_bits_of, nodes))
        if bits != (bits[:period] * count)[: len(nodes)] or any(map(_extra_of, nodes)):
            return False
        stops = [node.order for node in (*walked.wanted, *walked.boundary)]
        within = any(self.oldest <= order <= self.youngest for order in stops)
        return self.oldest > 0 and walked.oldest <= self.oldest and not within

    def index(self, node: Node) -> int | None:
        """The index of a node in the run, or None."""
        index = self.index_of(node.order)
        return None if index is None or self.nodes[index] is not node else index

    def index_of(self, order: int) -> int | None:
        """The index of the node with that order in the run, or None."""
        if not self.oldest <= order <= self.youngest:
            return None
        index = bisect_left(self.orders, order)
        return index if self.orders[index] == order and index in self.bounds else None

    def enter(self, index: int) -> None:
        """Mark a node as reached from outside of the run."""
        step, place = divmod(index, self.period)
        self.entered[step] = self.entered.get(step, 0) | 1 << place

    def propagate(self, walked: BackwardWalk) -> list[Node]:
        """Compute what is reached in the run; the nodes outside of it that are reached from there."""
        period, nodes = self.period, self.nodes
        followed = [bool(node.bits & walked.mask) for node in nodes[:period]]
        inside = [
            [back for back in self.back[place] if back and followed[(place - back) % period]] for place in range(period)
        ]
        known: dict[tuple[int, ...], tuple[int, tuple[int, ...]]] = {}
        steps = -(-len(nodes) // period)
        self.reached = [0] * steps
        depth = max(
            (_iterations_back(place, back, period) for place in range(period) for back in inside[place]), default=0
        )
        waiting = (0,) * max(depth, 1)  # reached by later iterations: in this one, in the one before, and so on
        for step in range(steps - 1, -1, -1):
            key = waiting[0] | self.entered.get(step, 0), *waiting[1:]
            if key not in known:
                known[key] = _close_step(key, inside, period)
            self.reached[step], waiting = known[key]
        outside: list[Node] = []
        seen = 0
        for step in range(min(max(depth, 2) + 1, steps)):  # later iterations read nothing from before the run
            outside += self._outside_parents(step, self.reached[step], walked)
            seen |= self.reached[step]
        for step, places in enumerate(self.reached):
            if places & ~seen:
                outside += self._outside_parents(step, places & ~seen, walked)
                seen |= places
        return outside

    def _outside_parents(self, step: int, places: int, walked: BackwardWalk) -> list[Node]:
        """The parents outside of the run of the nodes at `places` (bits) of an iteration."""
        found = []
        for place in range(self.period):
            if places >> place & 1:
                node = self.nodes[step * self.period + place]
                found += [p for p in node.parents if walked.follows(p) and self.index(p) is None]
        return found

    def reached_indices(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The indices of all reached nodes."""
        period = self.period
        rows = {places: [bool(places >> place & 1) for place in range(period)] for places in {*self.reached}}
        table = np.array([rows[places] for places in self.reached]).reshape(-1)
        return self.bounds.start + np.flatnonzero(table[self.bounds.start : self.bounds.stop])


def _close_step(waiting: tuple[int, ...], inside: list[list[int]], period: int) -> tuple[int, tuple[int, ...]]:
    """Close an iteration under "is a parent of": all reached positions of it, and those of the iterations before.

    `waiting` are the positions known to be reached, of this iteration, of the one before, and so on.
    """
    places = [*waiting, 0]
    for place in range(period - 1, -1, -1):
        if places[0] >> place & 1:
            for back in inside[place]:
                iterations = _iterations_back(place, back, period)
                places[iterations] |= 1 << place + iterations * period - back
    return places[0], tuple(places[1:])


def _iterations_back(place: int, back: int, period: int) -> int:
    """How many iterations before its own a node at `place` has the parent that is `back` nodes before it."""
    return max(0, -((place - back) // period))


class ReachedNodes:
    """All nodes that a backward pass will reach, by order, and by the number of the value they stand for."""

    def __init__(
        self,
        walked: BackwardWalk,
        seeds: Sequence[Node],
        level: TracingLevel,
        listing: Listing,
        stretches: Sequence[Stretch],
    ) -> None:
        self.walked, self.level = walked, level
        self.runs = [run for stretch in stretches for run in _find_runs(listing, stretch) if run.is_plain(walked)]
        level.detector.register_nodes([run.part for run in self.runs])
        self.nodes = self._walk_nodes(seeds)
        self.orders = sorted(self.nodes)
        values = map(level.value_of_node.get, self.orders)
        numbers = [np.array([*map(listing.numbers.get, values, repeat(-1))], np.int64)]  # type: ignore[arg-type]
        nodes = [np.fromiter(map(self.nodes.get, self.orders), object, len(self.orders))]
        for run in self.runs:
            places = run.reached_indices()
            numbers.append(run.first + places)
            nodes.append(np.fromiter(run.nodes, object, len(run.nodes))[places])
        together = np.concatenate(numbers)
        sorting = np.argsort(together, kind="stable")
        self._numbers = together[sorting]
        self._all = np.concatenate(nodes)[sorting]

    def _walk_nodes(self, seeds: Sequence[Node]) -> dict[int, Node]:
        """All reached nodes outside of runs, by order; nodes in runs are marked there."""
        mask, oldest, boundary = self.walked.mask, self.walked.oldest, self.walked.boundary
        runs = sorted(self.runs, key=lambda run: run.oldest)
        lowest = runs[0].oldest if runs else sys.maxsize
        found: dict[int, Node] = {}
        arriving = [node for node in seeds if node.bits & mask]
        while True:
            pending: list[Node] = []
            for node in arriving:
                if node.order not in found and not (node.order >= lowest and self._enter(node)):
                    found[node.order] = node
                    pending.append(node)
            while pending:
                node = pending.pop()
                if boundary and node in boundary:
                    continue
                for parent in node.parents:
                    if parent.bits & mask:
                        order = parent.order
                        if order >= oldest and order not in found and not (order >= lowest and self._enter(parent)):
                            found[order] = parent
                            pending.append(parent)
            if not runs:
                return found
            arriving = runs.pop().propagate(self.walked)  # the youngest: older nodes do not lead to it

    def _enter(self, node: Node) -> bool:
        """Mark a node as reached if it is in a run; whether it is."""
        for run in self.runs:
            index = run.index(node)
            if index is not None:
                run.enter(index)
                return True
        return False

    def nodes_of_values(self, begin: int, end: int) -> tuple[Any, Any]:
        """The value numbers from `begin` to `end` that have reached nodes, and these nodes."""
        first, last = np.searchsorted(self._numbers, [begin, end])
        return self._numbers[first:last], self._all[first:last]

    def run_of_value(self, number: int) -> ReachedRun | None:
        """The run that computes the value of that number."""
        return next((run for run in self.runs if number - run.first in run.bounds), None)

    def trim(self, run: ReachedRun, bounds: range) -> None:
        """Restrict a run to `bounds`; the other nodes become ordinary ones."""
        places = run.reached_indices()
        for index in places[(places < bounds.start) | (places >= bounds.stop)].tolist():
            self.nodes[run.orders[index]] = run.nodes[index]
        self.orders = sorted(self.nodes)
        if bounds:
            run.bounds = bounds
        else:
            self.runs.remove(run)

    def dissolve(self, begin: int, end: int) -> None:
        """Remove all runs that overlap the value numbers from `begin` to `end`."""
        for run in [*self.runs]:
            if run.first + run.bounds.start < end and run.first + run.bounds.stop > begin:
                self.trim(run, range(0))

    def orders_since(self, order: int) -> list[int]:
        """The orders of all nodes younger than `order` that are in no run."""
        return self.orders[bisect_right(self.orders, order) :]

    def replace(self, begin: int, end: int, nodes: Sequence[Node]) -> None:
        """Replace all nodes whose order is from `begin` to `end` by `nodes`."""
        self.runs = [run for run in self.runs if not begin <= run.youngest <= end]
        first, last = bisect_left(self.orders, begin), bisect_right(self.orders, end)
        for order in self.orders[first:last]:
            del self.nodes[order]
        self.nodes.update({node.order: node for node in nodes})
        self.orders[first:last] = sorted(node.order for node in nodes)


def _find_runs(listing: Listing, stretch: Stretch) -> list[ReachedRun]:
    """The parts of a stretch that were matched during tracing, if all their operations took the fast path."""
    found = []
    for segment in listing.segments:
        if segment.nodes and segment.period == stretch.period:
            begin, end = max(segment.begin + segment.period, stretch.begin), min(segment.end, stretch.end)
            if end - begin >= max(MIN_RUN_NODES, 2 * segment.period):
                found.append(ReachedRun(segment, begin, end, int(listing.firsts[begin])))
    return found
