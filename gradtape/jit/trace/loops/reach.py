"""The nodes that a walk back will come to: all of them before it begins, so that loops among them can be told.

Most of them are in loops that were followed while they were traced (`gradtape.jit.trace.loops.detect`), and there it is
known what is whose parent. Such a part is a `Run`, in which nothing has to be looked at node by node: of a step it is
found out which of its places are reached, and the step before it mostly is the same.
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
from gradtape.jit.trace.loops.match import Segment
from gradtape.jit.trace.tracer import TraceLevel

RUNS_AT_LEAST = 400
"""How many nodes are worth being a run."""

_order_of, _bits_of, _extra_of = map(attrgetter, ("order", "bits", "extra"))


class Walked(NamedTuple):
    """What a walk back is going to do: where it goes, and where it stops."""

    mask: int
    wanted: Collection[Node]
    oldest: int
    beginnings: Collection[Node]

    def follows(self, parent: Node) -> bool:
        """Whether a cotangent is handed on to `parent`."""
        return bool(parent.bits & self.mask) and parent.order >= self.oldest


class Run:
    """The nodes of a loop that was followed, from the instruction at `begin` to that at `end` of the listing.

    The node at `index` is of step `index // period`, and at the place `index % period`. Its parents are those nodes of
    the run that are as many places back as `back` says for its place, and others, which are the same in all steps.
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
        self.bounds = range(len(self.nodes))  # the nodes that it is about
        self.entered: dict[int, int] = {}  # by step: the places that are reached from outside, as bits
        self.reached: list[int] = []  # the places that are reached, by step

    def is_plain(self, walked: Walked) -> bool:
        """Whether the walk will go through all nodes in the same way."""
        nodes, period = self.nodes, self.period
        count = -(-len(nodes) // period)
        bits = list(map(_bits_of, nodes))
        if bits != (bits[:period] * count)[: len(nodes)] or any(map(_extra_of, nodes)):
            return False
        stops = [node.order for node in (*walked.wanted, *walked.beginnings)]
        within = any(self.oldest <= order <= self.youngest for order in stops)
        return self.oldest > 0 and walked.oldest <= self.oldest and not within

    def index(self, node: Node) -> int | None:
        """Where a node is in the run, if it is."""
        index = self.index_of(node.order)
        return None if index is None or self.nodes[index] is not node else index

    def index_of(self, order: int) -> int | None:
        """Where the node of that order is in the run, if it is."""
        if not self.oldest <= order <= self.youngest:
            return None
        index = bisect_left(self.orders, order)
        return index if self.orders[index] == order and index in self.bounds else None

    def enter(self, index: int) -> None:
        """A node is reached from outside."""
        step, place = divmod(index, self.period)
        self.entered[step] = self.entered.get(step, 0) | 1 << place

    def spread(self, walked: Walked) -> list[Node]:
        """Find what is reached in the run; the nodes outside of it that are reached from there."""
        period, nodes = self.period, self.nodes
        followed = [bool(node.bits & walked.mask) for node in nodes[:period]]
        inside = [
            [back for back in self.back[place] if back and followed[(place - back) % period]] for place in range(period)
        ]
        known: dict[tuple[int, ...], tuple[int, int, int]] = {}
        steps = -(-len(nodes) // period)
        self.reached = [0] * steps
        here = before = 0  # what later steps reach in this one, and in the one before
        for step in range(steps - 1, -1, -1):
            key = here | self.entered.get(step, 0), before
            if key not in known:
                known[key] = _closed(*key, inside, period)
            self.reached[step], here, before = known[key]
        outside: list[Node] = []
        seen = 0
        for step in range(min(3, steps)):  # further on, nothing is read from before the run
            outside += self._parents(step, self.reached[step], walked)
            seen |= self.reached[step]
        for step, places in enumerate(self.reached):
            if places & ~seen:
                outside += self._parents(step, places & ~seen, walked)
                seen |= places
        return outside

    def _parents(self, step: int, places: int, walked: Walked) -> list[Node]:
        """The parents, outside of the run, of the nodes at some places of a step."""
        found = []
        for place in range(self.period):
            if places >> place & 1:
                node = self.nodes[step * self.period + place]
                found += [p for p in node.parents if walked.follows(p) and self.index(p) is None]
        return found

    def reached_at(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The indices of all nodes that are reached."""
        period = self.period
        rows = {places: [bool(places >> place & 1) for place in range(period)] for places in {*self.reached}}
        table = np.array([rows[places] for places in self.reached]).reshape(-1)
        return self.bounds.start + np.flatnonzero(table[self.bounds.start : self.bounds.stop])


def _closed(here: int, before: int, inside: list[list[int]], period: int) -> tuple[int, int, int]:
    """All places of a step that are reached from those in `here`, and those of the two steps before it.

    `before` are places of the step before that are reached from later ones.
    """
    earlier = 0
    for place in range(period - 1, -1, -1):
        if here >> place & 1:
            for back in inside[place]:
                if back <= place:
                    here |= 1 << place - back
                elif back <= place + period:
                    before |= 1 << place + period - back
                else:
                    earlier |= 1 << place + 2 * period - back
    return here, before, earlier


class Reached:
    """All nodes that a walk will come to: by their order, and by the number of the value that they stand for."""

    def __init__(
        self, walked: Walked, seeds: Sequence[Node], level: TraceLevel, listing: Listing, stretches: Sequence[Stretch]
    ) -> None:
        self.walked, self.level = walked, level
        self.runs = [run for stretch in stretches for run in _runs(listing, stretch) if run.is_plain(walked)]
        level.follower.tell([run.part for run in self.runs])
        self.nodes = self._found(seeds)
        self.orders = sorted(self.nodes)
        values = map(level.made.get, self.orders)
        numbers = [np.array([*map(listing.numbers.get, values, repeat(-1))], np.int64)]  # type: ignore[arg-type]
        nodes = [np.fromiter(map(self.nodes.get, self.orders), object, len(self.orders))]
        for run in self.runs:
            places = run.reached_at()
            numbers.append(run.first + places)
            nodes.append(np.fromiter(run.nodes, object, len(run.nodes))[places])
        together = np.concatenate(numbers)
        sorting = np.argsort(together, kind="stable")
        self._numbers = together[sorting]
        self._all = np.concatenate(nodes)[sorting]

    def _found(self, seeds: Sequence[Node]) -> dict[int, Node]:
        """All that are reached, but for those in runs, which know that themselves."""
        mask, oldest, beginnings = self.walked.mask, self.walked.oldest, self.walked.beginnings
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
                if beginnings and node in beginnings:
                    continue
                for parent in node.parents:
                    if parent.bits & mask:
                        order = parent.order
                        if order >= oldest and order not in found and not (order >= lowest and self._enter(parent)):
                            found[order] = parent
                            pending.append(parent)
            if not runs:
                return found
            arriving = runs.pop().spread(self.walked)  # the youngest: nothing older leads there

    def _enter(self, node: Node) -> bool:
        """Whether a node is in a run, which is told of it."""
        for run in self.runs:
            index = run.index(node)
            if index is not None:
                run.enter(index)
                return True
        return False

    def behind(self, begin: int, end: int) -> tuple[Any, Any]:
        """The numbers from `begin` to `end` that nodes stand for, and those nodes."""
        first, last = np.searchsorted(self._numbers, [begin, end])
        return self._numbers[first:last], self._all[first:last]

    def run_behind(self, number: int) -> Run | None:
        """The run in which the value of that number is made."""
        return next((run for run in self.runs if number - run.first in run.bounds), None)

    def trim(self, run: Run, bounds: range) -> None:
        """Let a run be about fewer nodes; the others are in none then."""
        places = run.reached_at()
        for index in places[(places < bounds.start) | (places >= bounds.stop)].tolist():
            self.nodes[run.orders[index]] = run.nodes[index]
        self.orders = sorted(self.nodes)
        if bounds:
            run.bounds = bounds
        else:
            self.runs.remove(run)

    def dissolve(self, begin: int, end: int) -> None:
        """Let there be no run among the values of which the numbers are from `begin` to `end`."""
        for run in [*self.runs]:
            if run.first + run.bounds.start < end and run.first + run.bounds.stop > begin:
                self.trim(run, range(0))

    def since(self, order: int) -> list[int]:
        """The orders of all nodes that are younger, and in no run."""
        return self.orders[bisect_right(self.orders, order) :]

    def replace(self, begin: int, end: int, nodes: Sequence[Node]) -> None:
        """Put `nodes` in the place of all whose order is from `begin` to `end`."""
        self.runs = [run for run in self.runs if not begin <= run.youngest <= end]
        first, last = bisect_left(self.orders, begin), bisect_right(self.orders, end)
        for order in self.orders[first:last]:
            del self.nodes[order]
        self.nodes.update({node.order: node for node in nodes})
        self.orders[first:last] = sorted(node.order for node in nodes)


def _runs(listing: Listing, stretch: Stretch) -> list[Run]:
    """The parts of a stretch that were followed, if all that they did came through the doors."""
    found = []
    for segment in listing.segments:
        if segment.nodes and segment.period == stretch.period:
            begin, end = max(segment.begin + segment.period, stretch.begin), min(segment.end, stretch.end)
            if end - begin >= max(RUNS_AT_LEAST, 2 * segment.period):
                found.append(Run(segment, begin, end, int(listing.firsts[begin])))
    return found
