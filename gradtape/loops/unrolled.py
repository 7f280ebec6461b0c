"""Loops that Python has run, found in the graph: which nodes are the same operation in all steps, and what they read.

`jit` finds the repetition in the instructions (`gradtape.jit.reroll`). Here are the nodes behind them: a column for
each operation of a step, with a node for each step. What the nodes of a column have as parents and saved values says
how the walk back goes from step to step; where that is not the same in all of them, there is no loop, and they are
walked one by one.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from itertools import repeat
from operator import attrgetter, is_
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.graph import FIRST_TAPE, Node, Spec
from gradtape.core.rules import TABLE
from gradtape.jit.reroll import STACKED_AT_MOST, STEPS_AT_LEAST, Columns, Listing, Stretch
from gradtape.jit.trace import TraceLevel, TraceTensor

_order_of, _level_of, _traced_of, _id_of = map(attrgetter, ("order", "level", "traced", "id"))


class Walked(NamedTuple):
    """What a walk back is going to do: where it goes, and where it stops."""

    mask: int
    wanted: Collection[Node]
    oldest: int
    beginnings: Collection[Node]

    def follows(self, parent: Node) -> bool:
        """Whether a cotangent is handed on to `parent`."""
        return bool(parent.bits & self.mask) and parent.order >= self.oldest


class Reached:
    """All nodes that a walk will come to: by their order, and by the number of the value that they stand for."""

    def __init__(self, walked: Walked, seeds: Sequence[Node], level: TraceLevel, listing: Listing) -> None:
        self.nodes = self._found(walked, seeds)
        self.orders = sorted(self.nodes)
        values = [level.made.get(order) for order in self.orders]
        numbers = np.array([-1 if value is None else listing.numbers.get(value, -1) for value in values])
        self._sorting = np.argsort(numbers, kind="stable")
        self._numbers = numbers[self._sorting]
        self._all = np.fromiter(map(self.nodes.get, self.orders), object, len(self.orders))[self._sorting]

    def _found(self, walked: Walked, seeds: Sequence[Node]) -> dict[int, Node]:
        mask, oldest = walked.mask, walked.oldest
        found: dict[int, Node] = {}
        pending = [node for node in seeds if node.bits & mask]
        while pending:
            node = pending.pop()
            order = node.order
            if order in found:
                continue
            found[order] = node
            if node in walked.beginnings:
                continue
            pending += [p for p in node.parents if p.bits & mask and p.order >= oldest and p.order not in found]
        return found

    def behind(self, begin: int, end: int) -> tuple[Any, Any]:
        """The numbers from `begin` to `end` that nodes stand for, and those nodes."""
        first, last = np.searchsorted(self._numbers, [begin, end])
        return self._numbers[first:last], self._all[first:last]

    def since(self, order: int) -> list[int]:
        """The orders of all nodes that are younger."""
        return self.orders[bisect_right(self.orders, order) :]

    def replace(self, begin: int, end: int, nodes: Sequence[Node]) -> None:
        """Put `nodes` in the place of all whose order is from `begin` to `end`."""
        first, last = bisect_left(self.orders, begin), bisect_right(self.orders, end)
        for order in self.orders[first:last]:
            del self.nodes[order]
        self.nodes.update({node.order: node for node in nodes})
        self.orders[first:last] = sorted(node.order for node in nodes)


class Refused(Exception):
    """The nodes behind a stretch are no loop."""


class Slot(NamedTuple):
    """One parent, or one saved value, of a column: `kind` says where the body of the loop finds it.

    As parents: "inside" (the column `what` of the same step), "carried" (that of the step before), "same" (the node
    `what`, in all steps), "rows" (a node for each step), "none" (no cotangent is wanted).
    As values: "same" (the value `what`), "rows" (`what` is one of the columns of saved values).
    """

    kind: str
    what: Any = None


class Column:
    """One operation of a step: its nodes, from the first step to the last, and where they read."""

    def __init__(self, origin: int, nodes: list[Node]) -> None:
        self.origin, self.nodes = origin, nodes
        self.model = nodes[len(nodes) // 2]
        self.parents: list[Slot] = []
        self.inputs: list[Slot] = []
        self.out = Slot("same")


class Rows:
    """Values of which each step has saved another one: traced tensors, or numbers."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    @property
    def sample(self) -> Any:
        value = self.values[len(self.values) // 2]
        return value._array if isinstance(value, TraceTensor) else value

    def stacked(self) -> Any:
        """All of them in one array, with a row for each step."""
        return np.stack(self.values) if isinstance(self.values[0], TraceTensor) else np.array(self.values)


class Unrolled:
    """The nodes behind a stretch of instructions, as a loop. Raises `Refused` if they are none."""

    def __init__(self, level: TraceLevel, walked: Walked, listing: Listing, stretch: Stretch, reached: Reached) -> None:
        self.level, self.walked, self.listing, self.stretch = level, walked, listing, stretch
        self._layout = Columns(listing, stretch)
        self.columns = self._columns(reached)
        made = self._layout.made
        self.local: dict[int, int] = {}  # which step and column a node belongs to, as one number, by its order
        for column in self.columns:
            self.local.update(zip(map(_order_of, column.nodes), itertools.count(column.origin, made), strict=False))
        self._by_origin = {column.origin: column.nodes for column in self.columns}
        self.saved: list[Rows] = []
        self._saved: dict[Any, int] = {}
        self.firsts: dict[int, Node] = {}  # what the first step reads, by the column of the step before it would be
        self.same: dict[int, Node] = {}  # what all steps read, by order
        self.rows: list[list[Node]] = []
        self._rows: dict[Any, int] = {}
        for column in self.columns:
            column.parents = [self._parent(column, index) for index in range(len(column.model.parents))]
            column.inputs, column.out = self._values(column)
        self._arrange(reached)

    @property
    def steps(self) -> int:
        return len(self.columns[0].nodes)

    # -- the columns

    def _columns(self, reached: Reached) -> list[Column]:
        steps, made, base = self.stretch.steps, self._layout.made, self._layout.base
        numbers, behind = reached.behind(base, base + made * steps)
        at, origins = np.divmod(numbers - base, made)
        table = np.full((made, steps), None, object)
        table[origins, at] = behind
        grid: dict[int, list[Node | None]] = {origin: table[origin].tolist() for origin in np.unique(origins).tolist()}
        middle = steps // 2
        kept = {origin: nodes for origin, nodes in grid.items() if self._repeats(origin, nodes[middle])}
        agreed = np.ones(steps, bool)
        for nodes in kept.values():
            agreed &= self._agree(nodes)
        if not kept or not agreed[middle]:
            raise Refused
        off = np.flatnonzero(~agreed)
        first = int(off[off < middle].max(initial=-1)) + 1
        last = int(off[off > middle].min(initial=steps))
        if last - first < STEPS_AT_LEAST:
            raise Refused
        return [Column(origin, nodes[first:last]) for origin, nodes in kept.items()]  # type: ignore[arg-type]

    def _repeats(self, origin: int, node: Node | None) -> bool:
        """Whether the nodes of a column can be one in a loop: rows of the table, with the same parameters."""
        if node is None or node.op is None or TABLE.get(node.op.name) is not node.op:
            return False
        firsts = self.listing.firsts[self.stretch.begin : self.stretch.begin + self.stretch.period + 1]
        place = int(np.searchsorted(firsts - firsts[0], origin, "right")) - 1
        exact = self.listing.exact[self.stretch.begin + place : self.stretch.end : self.stretch.period]
        return bool((exact == exact[0]).all()) and not node.op.outputs

    def _agree(self, nodes: Sequence[Node | None]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """In which steps a node is like that in the middle: on the same tapes, and so are its parents."""
        model = nodes[len(nodes) // 2]
        assert model is not None
        if model.bits & ~(self.walked.mask | (FIRST_TAPE - 1)):  # on other tapes, which may be walked later
            raise Refused
        form = model.op, model.bits, None, [parent.bits for parent in model.parents]
        special = {*self.walked.wanted, *self.walked.beginnings}
        return np.array(
            [
                node is not None
                and (node.op, node.bits, node.extra, [parent.bits for parent in node.parents]) == form
                and node not in special
                for node in nodes
            ]
        )

    # -- what they read

    def _parent(self, column: Column, index: int) -> Slot:
        if not self.walked.follows(column.model.parents[index]):
            return Slot("none")
        nodes = [node.parents[index] for node in column.nodes]
        middle, made = self.steps // 2, self._layout.made
        place = self.local.get(nodes[middle].order)
        if place is None:
            return self._from_outside(nodes)
        step, origin = divmod(place, made)
        theirs = self._by_origin[origin]
        if step == middle and all(map(is_, nodes, theirs)):
            return Slot("inside", origin)
        if step != middle - 1 or not all(map(is_, nodes[1:], theirs)):
            raise Refused
        if nodes[0].order in self.local or not self.walked.follows(nodes[0]):
            raise Refused
        if self.firsts.setdefault(origin, nodes[0]) is not nodes[0]:
            raise Refused
        return Slot("carried", origin)

    def _from_outside(self, nodes: list[Node]) -> Slot:
        if all(map(is_, nodes, repeat(nodes[0]))):
            self.same[nodes[0].order] = nodes[0]
            return Slot("same", nodes[0].order)
        key = tuple([node.order for node in nodes])
        if min(key) < self.walked.oldest or not self.local.keys().isdisjoint(key):
            raise Refused
        if key not in self._rows:
            self._rows[key] = len(self.rows)
            self.rows.append(nodes)
        return Slot("rows", self._rows[key])

    def _values(self, column: Column) -> tuple[list[Slot], Slot]:
        model, nodes = column.model, column.nodes
        if type(model.inputs) is tuple:
            inputs = [node.inputs for node in nodes]
        else:  # arrays of the user's, which may have been written to
            inputs = [node.values(None)[1] for node in nodes]
        slots = [self._value(list(values), model) for values in zip(*inputs, strict=True)]
        return slots, self._value([node.out for node in nodes], model)

    def _value(self, values: list[Any], model: Node) -> Slot:
        value = values[0]
        if type(value) is Spec or all(map(is_, values, repeat(value))):
            return Slot("same", value)
        if type(value) is TraceTensor:
            return self._traced(values)
        if type(value) is float:
            if all(other == value for other in values) and value:
                return Slot("same", value)
            if model.op is not None and model.op.ufunc and model.dtype.kind in "fc":
                return self._kept(tuple(values), [model.dtype.type(other) for other in values])
        elif type(value) is int and all(type(other) is int and other == value for other in values):
            return Slot("same", value)
        elif isinstance(value, np.ndarray | np.generic) and value.nbytes <= STACKED_AT_MOST:
            return self._kept(tuple([id(other) for other in values]), values)
        raise Refused

    def _traced(self, values: list[Any]) -> Slot:
        if not all(map(is_, map(type, values), repeat(TraceTensor))):
            raise Refused
        if not all(map(is_, map(_level_of, values), repeat(self.level))):
            raise Refused
        traced = list(map(_traced_of, values))
        if all(map(is_, traced, repeat(traced[0]))):
            return Slot("same", values[0])
        numbers = list(map(self.listing.numbers.get, traced, repeat(-1)))
        moves = np.diff(numbers[1:])  # the first step may read what was there before
        if (moves != self._layout.made).any() and traced[0].nbytes > STACKED_AT_MOST:
            raise Refused  # not what the forward loop stacks: it would have to be brought together
        return self._kept(tuple(map(_id_of, traced)), values)

    def _kept(self, key: Any, values: list[Any]) -> Slot:
        if key not in self._saved:
            self._saved[key] = len(self.saved)
            self.saved.append(Rows(values))
        return Slot("rows", self._saved[key])

    # -- what surrounds them

    def _arrange(self, reached: Reached) -> None:
        """Who comes before the loop, and who after it; a node that does both is in the way."""
        local = self.local
        self.begin, self.end = min(local), max(local)
        if any(self.begin < node.order <= self.end for node in self.walked.wanted):
            raise Refused
        later = [order for order in reached.since(self.begin) if order not in local]
        after: set[int] = set()
        used: dict[int, Node] = {}  # nodes of the loop whose cotangent comes from outside, too
        for order in later:
            for parent in reached.nodes[order].parents:
                if parent.order in local:
                    used[parent.order] = parent
                    after.add(order)
                elif parent.order in after:
                    after.add(order)
        read = {*self.same, *(node.order for node in self.firsts.values())}
        read.update(node.order for nodes in self.rows for node in nodes)
        if not after.isdisjoint(read):
            raise Refused
        self.before = [reached.nodes[order] for order in later if order not in after and order < self.end]
        self.after = [reached.nodes[order] for order in later if order in after and order < self.end]
        self.used = used
