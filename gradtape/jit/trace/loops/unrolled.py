"""Loops that Python has run, found in the graph: which nodes are the same operation in all steps, and what they read.

`jit` finds the repetition in the instructions (`gradtape.jit.passes.reroll.find`). Here are the nodes behind them: a
column for each operation of a step, with a node for each step. What the nodes of a column have as parents and saved
values says how the walk back goes from step to step; where that is not the same in all of them, there is no loop, and
they are walked one by one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import repeat
from operator import attrgetter, eq, is_, itemgetter
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.graph import FIRST_TAPE, Node, Spec
from gradtape.core.rules import TABLE
from gradtape.jit.passes.reroll.find import STACKED_AT_MOST, STEPS_AT_LEAST, Columns, Listing, Numbers, Stretch
from gradtape.jit.trace.loops.match import is_same_number
from gradtape.jit.trace.loops.reach import Reached, Run, Walked
from gradtape.jit.trace.tracer import TraceLevel
from gradtape.jit.trace.tracers import TraceTensor

_order_of, _level_of, _traced_of, _id_of = map(attrgetter, ("order", "level", "traced", "id"))
_array_of, _out_of = attrgetter("_array"), attrgetter("out")
_bits_of, _parents_of, _form_of = attrgetter("bits"), attrgetter("parents"), attrgetter("op", "bits", "extra")


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

    def __init__(self, origin: int, nodes: list[Node], followed: range) -> None:
        self.origin, self.nodes = origin, nodes
        self.model = nodes[len(nodes) // 2]
        self.followed = followed  # steps in a run: what their parents are is known, and what they save

        self.parents: list[Slot] = []
        self.inputs: list[Slot] = []
        self.out = Slot("same")

    def others(self) -> list[int]:
        """All other steps of the loop."""
        return [*range(self.followed.start), *range(self.followed.stop, len(self.nodes))]


def _all_alike(nodes: Sequence[Node | None], model: Node) -> bool:
    """Whether all nodes are like `model`: the question of `Unrolled._agree`, in a quick form."""
    expected = model.op, model.bits, None
    if not all(map(eq, map(_form_of, nodes), repeat(expected))):
        return False
    parents = list(map(_parents_of, nodes))
    if not all(map(eq, map(len, parents), repeat(len(model.parents)))):
        return False
    return all(
        all(map(eq, map(_bits_of, map(itemgetter(index), parents)), repeat(parent.bits)))
        for index, parent in enumerate(model.parents)
    )


class Rows:
    """Values of which each step has saved another one: traced tensors, or numbers."""

    def __init__(self, values: Iterable[Any], model: Any) -> None:
        """`model` is the value of some step."""
        self._values, self._model = values, model

    @property
    def sample(self) -> Any:
        return self._model._array if isinstance(self._model, TraceTensor) else self._model

    def stacked(self, level: TraceLevel) -> Any:
        """All of them in one array, with a row for each step."""
        self._values = values = list(self._values)
        if not isinstance(self._model, TraceTensor):
            return np.array(values)
        operands, samples = tuple(map(_traced_of, values)), list(map(_array_of, values))
        array = np.array(samples) if not operands[0].shape else np.stack(samples)
        return level.written(TABLE["stack"], operands, {"axis": 0}, array)


def _saved_at(index: int) -> Callable[[Node], Any]:
    return lambda node: node.inputs[index]


class Local:
    """Which step and column a node of a loop belongs to, as one number, by the order of the node."""

    def __init__(self, columns: Sequence[Column], made: int, run: Run | None, base: int) -> None:
        """In the `run`, the number of a value is `base` more."""
        self._run, self._base = run, base
        self._others: dict[int, int] = {}
        for column in columns:
            numbered = zip(map(_order_of, column.nodes), itertools.count(column.origin, made), strict=False)
            if column.followed:
                others = [*itertools.islice(numbered, column.followed.start)]
                later = zip(column.nodes[column.followed.stop :], itertools.count(column.followed.stop), strict=False)
                others += [(node.order, column.origin + made * step) for node, step in later]
                self._others.update(others)
            else:
                self._others.update(numbered)
        self._orders = [] if run is None else [run.orders[index] for index in run.reached_at().tolist()]
        self.begin = min([*self._others, *self._orders[:1]])
        self.end = max([*self._others, *self._orders[-1:]])

    def get(self, order: int) -> int | None:
        found = self._others.get(order)
        if found is None and self._run is not None:
            index = self._run.index_of(order)
            return None if index is None else self._run.first + index - self._base
        return found

    def __getitem__(self, order: int) -> int:
        found = self.get(order)
        if found is None:
            raise KeyError(order)
        return found

    def __contains__(self, order: int) -> bool:
        return self.get(order) is not None

    def __iter__(self) -> Iterator[int]:
        return itertools.chain(self._others, self._orders)


class Unrolled:
    """The nodes behind a stretch of instructions, as a loop. Raises `Refused` if they are none."""

    def __init__(self, level: TraceLevel, walked: Walked, listing: Listing, stretch: Stretch, reached: Reached) -> None:
        self.level, self.walked, self.listing, self.stretch = level, walked, listing, stretch
        self._layout = Columns(listing, stretch)
        self.columns = self._columns(reached)
        made = self._layout.made
        self.local = Local(self.columns, made, self._run, self._layout.base + made * self._first)
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
        columns = sorted(set(origins.tolist()))
        grid: dict[int, list[Node | None]] = {origin: table[origin].tolist() for origin in columns}
        middle = steps // 2
        self._run = reached.run_behind(base + made * middle)
        kept = {origin: nodes for origin, nodes in grid.items() if self._repeats(origin, nodes[middle])}
        agreed = np.ones(steps, bool)
        for origin, nodes in kept.items():
            agreed &= self._agree(nodes, self._followed(origin))
        if not kept or not agreed[middle]:
            raise Refused
        off = np.flatnonzero(~agreed)
        first = int(off[off < middle].max(initial=-1)) + 1
        last = int(off[off > middle].min(initial=steps))
        if last - first < STEPS_AT_LEAST:
            raise Refused
        self._first = first  # which step of the stretch is the first one of the loop
        self._trim(reached, kept.keys(), base + made * first, base + made * last)
        found = []
        for origin, nodes in kept.items():
            followed = self._followed(origin)
            known = range(max(followed.start - first, 0), max(min(followed.stop, last) - first, 0))
            found.append(Column(origin, nodes[first:last], known))  # type: ignore[arg-type]
        return found

    def _trim(self, reached: Reached, kept: Collection[int], begin: int, end: int) -> None:
        """Let the run be part of the loop, from value to value, with all that is reached in it; or be none."""
        run, base, made = self._run, self._layout.base, self._layout.made
        if run is None:
            return
        bounds = range(max(begin - run.first, 0), min(end - run.first, len(run.nodes)))
        origins = np.unique((run.first + run.reached_at() - base) % made)
        is_whole = made == run.period and all(origin in kept for origin in origins.tolist())
        reached.trim(run, bounds if is_whole else range(0))
        self._run = run if is_whole and bounds else None

    def _repeats(self, origin: int, node: Node | None) -> bool:
        """Whether the nodes of a column can be one in a loop: rows of the table, with the same parameters."""
        if node is None or node.op is None or TABLE.get(node.op.name) is not node.op:
            return False
        place = self._place(origin)
        exact = self.listing.exact[self.stretch.begin + place : self.stretch.end : self.stretch.period]
        return bool((exact == exact[0]).all()) and not node.op.outputs

    def _place(self, origin: int) -> int:
        """Which instruction of the period makes the value `origin` of a step."""
        firsts = self.listing.firsts[self.stretch.begin : self.stretch.begin + self.stretch.period + 1]
        return int(np.searchsorted(firsts - firsts[0], origin, "right")) - 1

    def _followed(self, origin: int) -> range:
        """The steps in which a column is part of the run: all nodes there are alike."""
        run, made = self._run, self._layout.made
        if run is None or made != run.period:
            return range(0)
        first = self._layout.base + origin - run.first  # where the node of the first step would be in the run
        since, until = (-((first - bound) // made) for bound in (run.bounds.start, run.bounds.stop))
        return range(max(since, 0), min(until, self.stretch.steps))

    def _agree(self, nodes: Sequence[Node | None], followed: range) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """In which steps a node is like that in the middle: on the same tapes, and so are its parents."""
        model = nodes[len(nodes) // 2]
        assert model is not None
        if model.bits & ~(self.walked.mask | (FIRST_TAPE - 1)):  # on other tapes, which may be walked later
            raise Refused
        form = model.op, model.bits, None, [parent.bits for parent in model.parents]
        special = {*self.walked.wanted, *self.walked.beginnings}
        others = [*nodes[: followed.start], *nodes[followed.stop :]] if followed else nodes
        if None not in nodes and _all_alike(others, model) and special.isdisjoint(others):
            return np.ones(len(nodes), bool)
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
        model = column.model.parents[index]
        if not self.walked.follows(model):
            return Slot("none")
        middle, made = self.steps // 2, self._layout.made
        others = column.others()
        place = self.local.get(model.order)
        if place is None:
            if column.followed and all(column.nodes[t].parents[index] is model for t in others):
                self.same[model.order] = model
                return Slot("same", model.order)
            return self._from_outside(list(map(itemgetter(index), map(_parents_of, column.nodes))))
        step, origin = divmod(place, made)
        theirs = self._by_origin[origin]
        back = middle - step
        if back not in (0, 1) or any(
            column.nodes[t].parents[index] is not theirs[t - back] for t in others if t >= back
        ):
            raise Refused
        if not back:
            return Slot("inside", origin)
        first = column.nodes[0].parents[index]
        if first.order in self.local or not self.walked.follows(first):
            raise Refused
        if self.firsts.setdefault(origin, first) is not first:
            raise Refused
        return Slot("carried", origin)

    def _from_outside(self, nodes: list[Node]) -> Slot:
        if all(map(is_, nodes, repeat(nodes[0]))):
            self.same[nodes[0].order] = nodes[0]
            return Slot("same", nodes[0].order)
        key = tuple([node.order for node in nodes])
        if min(key) < self.walked.oldest or any(order in self.local for order in key):
            raise Refused
        if key not in self._rows:
            self._rows[key] = len(self.rows)
            self.rows.append(nodes)
        return Slot("rows", self._rows[key])

    def _values(self, column: Column) -> tuple[list[Slot], Slot]:
        model, nodes = column.model, column.nodes
        if self.steps // 2 in column.followed:
            return self._known_values(column)
        if type(model.inputs) is tuple:
            inputs = [node.inputs for node in nodes]
        else:  # arrays of the user's, which may have been written to
            inputs = [node.values(None)[1] for node in nodes]
        slots = [self._value(list(values), model) for values in zip(*inputs, strict=True)]
        return slots, self._value([node.out for node in nodes], model)

    def _known_values(self, column: Column) -> tuple[list[Slot], Slot]:
        """The same in a run, where nodes save the very operands of their instructions, and the result."""
        model, layout = column.model, self._layout
        steps = slice(self._first, self._first + self.steps)
        begins = self.listing.begins[self.stretch.begin : self.stretch.begin + self._place(column.origin) + 1]
        slots = []
        for index, value in enumerate(model.inputs):
            if type(value) is TraceTensor:
                numbers = layout.table[steps, int(begins[-1] - begins[0]) + index]
                slots.append(self._known(column, numbers, _saved_at(index), value))
            else:
                slots.append(self._value([node.inputs[index] for node in column.nodes], model))
        out = Slot("same")
        if model.out is not None:
            numbers = layout.base + column.origin + layout.made * np.arange(steps.start, steps.stop)
            out = self._known(column, numbers, _out_of, model.out)
        return slots, out

    def _known(self, column: Column, numbers: Numbers, saved: Callable[[Node], Any], model: Any) -> Slot:
        """Tensors that are known by the numbers of their values, but for the steps that are not in the run."""
        nodes = column.nodes
        if any(self._number(saved(nodes[step])) != numbers[step] for step in column.others()):
            return self._traced([saved(node) for node in nodes])
        return self._numbered(numbers, map(saved, nodes), model)

    def _number(self, value: Any) -> int | None:
        """The number of the value of a tensor that was saved; None if it is no tensor of this trace."""
        if type(value) is not TraceTensor or value.level is not self.level:
            return None
        return self.listing.numbers.get(value.traced)

    def _value(self, values: list[Any], model: Node) -> Slot:
        value = values[0]
        if type(value) is Spec or all(map(is_, values, repeat(value))):
            return Slot("same", value)
        if type(value) is TraceTensor:
            return self._traced(values)
        if type(value) in (float, int) and all(type(other) is type(value) for other in values):
            if all(is_same_number(other, value) for other in values):
                return Slot("same", value)
            if model.op is not None and model.op.ufunc and model.dtype.kind in "fc":
                numbers = np.array(values, model.dtype)
                return self._kept((model.dtype, numbers.tobytes()), numbers, numbers[0])
        elif isinstance(value, np.ndarray | np.generic) and value.nbytes <= STACKED_AT_MOST:
            return self._kept(tuple([id(other) for other in values]), values, value)
        raise Refused

    def _traced(self, values: list[Any]) -> Slot:
        if not all(map(is_, map(type, values), repeat(TraceTensor))):
            raise Refused
        if not all(map(is_, map(_level_of, values), repeat(self.level))):
            raise Refused
        traced = list(map(_traced_of, values))
        if all(map(is_, traced, repeat(traced[0]))):
            return Slot("same", values[0])
        numbers = np.array([*map(self.listing.numbers.get, traced, repeat(-1))])
        if numbers.min() < 0:  # made since
            numbers = -2 - np.array([*map(_id_of, traced)])
        return self._numbered(numbers, values, values[len(values) // 2])

    def _numbered(self, numbers: Numbers, values: Iterable[Any], model: Any) -> Slot:
        if (numbers == numbers[0]).all():
            return Slot("same", model)
        moves = np.diff(numbers[1:])  # the first step may read what was there before
        if (moves != self._layout.made).any() and model.traced.nbytes > STACKED_AT_MOST:
            raise Refused  # not what the forward loop stacks: it would have to be brought together
        return self._kept(numbers.tobytes(), values, model)

    def _kept(self, key: Any, values: Iterable[Any], model: Any) -> Slot:
        if key not in self._saved:
            self._saved[key] = len(self.saved)
            self.saved.append(Rows(values, model))
        return Slot("rows", self._saved[key])

    # -- what surrounds them

    def _arrange(self, reached: Reached) -> None:
        """Who comes before the loop, and who after it; a node that does both is in the way."""
        local = self.local
        self.begin, self.end = local.begin, local.end
        for run in [*reached.runs]:
            if run is not self._run and run.youngest >= self.begin:
                reached.trim(run, range(0))
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
