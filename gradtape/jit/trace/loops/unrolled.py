"""Unrolled loops in the graph: which nodes are the same operation in all iterations, and what they read.

The repetition is found in the instructions (`gradtape.jit.passes.reroll.find`). This module arranges their nodes: a
column for each operation of the body, with a node for each iteration. The parents and the saved values of a column
determine how cotangents flow from iteration to iteration. If these differ between iterations, the part is not a loop
(`NotALoop`), and the backward pass visits its nodes one by one.
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
from gradtape.jit.trace.loops.reach import BackwardWalk, ReachedNodes, ReachedRun
from gradtape.jit.trace.tracer import TracingLevel
from gradtape.jit.trace.tracers import TraceTensor
from gradtape.jit.trace.unevaluated import UnevaluatedSample, evaluated

_order_of, _level_of, _traced_of, _id_of = map(attrgetter, ("order", "level", "traced", "id"))
_array_of, _out_of = attrgetter("_array"), attrgetter("out")
_bits_of, _parents_of, _form_of = attrgetter("bits"), attrgetter("parents"), attrgetter("op", "bits", "extra")


class NotALoop(Exception):
    """The nodes of a stretch do not form a loop that can be collapsed."""


class Slot(NamedTuple):
    """One parent, or one saved value, of a column: `kind` says where the loop body finds it.

    Parents: "inside" (column `what` of the same iteration), "carried" (that of the iteration before), "same" (the
    loop-invariant node `what`), "rows" (a node for each iteration), "none" (no cotangent is wanted).
    Values: "same" (the loop-invariant `what`), "rows" (`what` is an index into the saved `StepValues`).
    """

    kind: str
    what: Any = None


class Column:
    """One operation of the body: its nodes, from the first iteration to the last, and what they read."""

    def __init__(self, origin: int, nodes: list[Node], in_run: range) -> None:
        self.origin, self.nodes = origin, nodes
        self.model = nodes[len(nodes) // 2]
        self.in_run = in_run  # iterations in a run: their parents and saved values are known

        self.parents: list[Slot] = []
        self.inputs: list[Slot] = []
        self.out = Slot("same")

    def others(self) -> list[int]:
        """All iterations outside of the run."""
        return [*range(self.in_run.start), *range(self.in_run.stop, len(self.nodes))]


def _all_alike(nodes: Sequence[Node | None], model: Node) -> bool:
    """Whether all nodes have the form of `model`: a fast check for `UnrolledLoop._find_agreeing_steps`."""
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


class StepValues:
    """A saved value that differs between iterations: a tracer or a number for each."""

    def __init__(self, values: Iterable[Any], model: Any) -> None:
        """`model` is the value of one of the iterations."""
        self._values, self._model = values, model

    @property
    def sample(self) -> Any:
        """The array of one step, for its shape and dtype."""
        return self._model._array if isinstance(self._model, TraceTensor) else self._model

    def stack(self, level: TracingLevel) -> Any:
        """All of them in one array, with a row for each iteration."""
        self._values = values = list(self._values)
        if not isinstance(self._model, TraceTensor):
            return np.array(values)
        operands, samples = tuple(map(_traced_of, values)), list(map(_array_of, values))
        array, op, params = None, TABLE["stack"], {"axis": 0}
        if level.samples.is_on and any(type(sample) is UnevaluatedSample for sample in samples):
            array = level.samples.result(op, samples, params)
        if array is None:
            samples = [evaluated(sample) for sample in samples]
            array = np.array(samples) if not operands[0].shape else np.stack(samples)
        return level.record(op, operands, params, array)


def _saved_at(index: int) -> Callable[[Node], Any]:
    return lambda node: node.inputs[index]


class NodePositions:
    """Iteration and column of each node of a loop, as one number, by the order of the node."""

    def __init__(self, columns: Sequence[Column], made: int, run: ReachedRun | None, base: int) -> None:
        """In the `run`, value numbers are greater by `base`."""
        self._run, self._base = run, base
        self._others: dict[int, int] = {}
        for column in columns:
            numbered = zip(map(_order_of, column.nodes), itertools.count(column.origin, made), strict=False)
            if column.in_run:
                others = [*itertools.islice(numbered, column.in_run.start)]
                later = zip(column.nodes[column.in_run.stop :], itertools.count(column.in_run.stop), strict=False)
                others += [(node.order, column.origin + made * step) for node, step in later]
                self._others.update(others)
            else:
                self._others.update(numbered)
        self._orders = [] if run is None else [run.orders[index] for index in run.reached_indices().tolist()]
        self.begin = min([*self._others, *self._orders[:1]])
        self.end = max([*self._others, *self._orders[-1:]])

    def get(self, order: int) -> int | None:
        """The position of the node with this order number among the loop's nodes; None if it is not one."""
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


class UnrolledLoop:
    """The nodes of a stretch of instructions as a loop. Raises `NotALoop` if they are not one."""

    def __init__(
        self, level: TracingLevel, walked: BackwardWalk, listing: Listing, stretch: Stretch, reached: ReachedNodes
    ) -> None:
        self.level, self.walked, self.listing, self.stretch = level, walked, listing, stretch
        self._layout = Columns(listing, stretch)
        self.columns = self._find_columns(reached)
        made = self._layout.made
        self.local = NodePositions(self.columns, made, self._run, self._layout.base + made * self._first)
        self._by_origin = {column.origin: column.nodes for column in self.columns}
        self.saved: list[StepValues] = []
        self._saved: dict[Any, int] = {}
        self.firsts: dict[int, Node] = {}  # initial carries, by the column that later iterations carry
        self.same: dict[int, Node] = {}  # loop-invariant nodes, by order
        self.rows: list[list[Node]] = []
        self._rows: dict[Any, int] = {}
        for column in self.columns:
            column.parents = [self._parent_slot(column, index) for index in range(len(column.model.parents))]
            column.inputs, column.out = self._value_slots(column)
        self._find_surroundings(reached)

    @property
    def steps(self) -> int:
        """The number of iterations."""
        return len(self.columns[0].nodes)

    # -- columns

    def _find_columns(self, reached: ReachedNodes) -> list[Column]:
        steps, made, base = self.stretch.steps, self._layout.made, self._layout.base
        numbers, behind = reached.nodes_of_values(base, base + made * steps)
        at, origins = np.divmod(numbers - base, made)
        table = np.full((made, steps), None, object)
        table[origins, at] = behind
        columns = sorted(set(origins.tolist()))
        grid: dict[int, list[Node | None]] = {origin: table[origin].tolist() for origin in columns}
        middle = steps // 2
        self._run = reached.run_of_value(base + made * middle)
        kept = {origin: nodes for origin, nodes in grid.items() if self._repeats(origin, nodes[middle])}
        agreed = np.ones(steps, bool)
        for origin, nodes in kept.items():
            agreed &= self._find_agreeing_steps(nodes, self._steps_in_run(origin))
        if not kept or not agreed[middle]:
            raise NotALoop
        off = np.flatnonzero(~agreed)
        first = int(off[off < middle].max(initial=-1)) + 1
        last = int(off[off > middle].min(initial=steps))
        if last - first < STEPS_AT_LEAST:
            raise NotALoop
        self._first = first  # the iteration of the stretch with which the loop begins
        self._trim(reached, kept.keys(), base + made * first, base + made * last)
        found = []
        for origin, nodes in kept.items():
            in_run = self._steps_in_run(origin)
            known = range(max(in_run.start - first, 0), max(min(in_run.stop, last) - first, 0))
            found.append(Column(origin, nodes[first:last], known))  # type: ignore[arg-type]
        return found

    def _trim(self, reached: ReachedNodes, kept: Collection[int], begin: int, end: int) -> None:
        """Restrict the run to the loop, which must contain all its reached nodes; otherwise remove it."""
        run, base, made = self._run, self._layout.base, self._layout.made
        if run is None:
            return
        bounds = range(max(begin - run.first, 0), min(end - run.first, len(run.nodes)))
        origins = np.unique((run.first + run.reached_indices() - base) % made)
        is_whole = made == run.period and all(origin in kept for origin in origins.tolist())
        reached.trim(run, bounds if is_whole else range(0))
        self._run = run if is_whole and bounds else None

    def _repeats(self, origin: int, node: Node | None) -> bool:
        """Whether the nodes of a column can be one operation of a body: of the table, with the same parameters."""
        if node is None or node.op is None or TABLE.get(node.op.name) is not node.op:
            return False
        place = self._place(origin)
        exact = self.listing.exact[self.stretch.begin + place : self.stretch.end : self.stretch.period]
        return bool((exact == exact[0]).all()) and not node.op.outputs

    def _place(self, origin: int) -> int:
        """The instruction of the period that computes the value `origin` of an iteration."""
        firsts = self.listing.firsts[self.stretch.begin : self.stretch.begin + self.stretch.period + 1]
        return int(np.searchsorted(firsts - firsts[0], origin, "right")) - 1

    def _steps_in_run(self, origin: int) -> range:
        """The iterations in which a column is part of the run, where all its nodes have the same form."""
        run, made = self._run, self._layout.made
        if run is None or made != run.period:
            return range(0)
        first = self._layout.base + origin - run.first  # the index in the run of the node of the first iteration
        since, until = (-((first - bound) // made) for bound in (run.bounds.start, run.bounds.stop))
        return range(max(since, 0), min(until, self.stretch.steps))

    def _find_agreeing_steps(self, nodes: Sequence[Node | None], in_run: range) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For each iteration, whether the node has the form of that in the middle: same tapes, also of its parents."""
        model = nodes[len(nodes) // 2]
        assert model is not None
        if model.bits & ~(self.walked.mask | (FIRST_TAPE - 1)):  # on other tapes, whose backward pass may come later
            raise NotALoop
        form = model.op, model.bits, None, [parent.bits for parent in model.parents]
        special = {*self.walked.wanted, *self.walked.boundary}
        others = [*nodes[: in_run.start], *nodes[in_run.stop :]] if in_run else nodes
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

    # -- parents and saved values

    def _parent_slot(self, column: Column, index: int) -> Slot:
        model = column.model.parents[index]
        if not self.walked.follows(model):
            return Slot("none")
        middle, made = self.steps // 2, self._layout.made
        others = column.others()
        place = self.local.get(model.order)
        if place is None:
            if column.in_run and all(column.nodes[t].parents[index] is model for t in others):
                self.same[model.order] = model
                return Slot("same", model.order)
            return self._from_outside(list(map(itemgetter(index), map(_parents_of, column.nodes))))
        step, origin = divmod(place, made)
        theirs = self._by_origin[origin]
        back = middle - step
        if back not in (0, 1) or any(
            column.nodes[t].parents[index] is not theirs[t - back] for t in others if t >= back
        ):
            raise NotALoop
        if not back:
            return Slot("inside", origin)
        first = column.nodes[0].parents[index]
        if first.order in self.local or not self.walked.follows(first):
            raise NotALoop
        if self.firsts.setdefault(origin, first) is not first:
            raise NotALoop
        return Slot("carried", origin)

    def _from_outside(self, nodes: list[Node]) -> Slot:
        if all(map(is_, nodes, repeat(nodes[0]))):
            self.same[nodes[0].order] = nodes[0]
            return Slot("same", nodes[0].order)
        key = tuple([node.order for node in nodes])
        if min(key) < self.walked.oldest or any(order in self.local for order in key):
            raise NotALoop
        if key not in self._rows:
            self._rows[key] = len(self.rows)
            self.rows.append(nodes)
        return Slot("rows", self._rows[key])

    def _value_slots(self, column: Column) -> tuple[list[Slot], Slot]:
        model, nodes = column.model, column.nodes
        if self.steps // 2 in column.in_run:
            return self._value_slots_in_run(column)
        if type(model.inputs) is tuple:
            inputs = [node.inputs for node in nodes]
        else:  # user arrays: check that they were not written to
            inputs = [node.values(None)[1] for node in nodes]
        slots = [self._value_slot(list(values), model) for values in zip(*inputs, strict=True)]
        return slots, self._value_slot([node.out for node in nodes], model)

    def _value_slots_in_run(self, column: Column) -> tuple[list[Slot], Slot]:
        """The same in a run, where nodes save exactly the operands and the result of their instructions."""
        model, layout = column.model, self._layout
        steps = slice(self._first, self._first + self.steps)
        begins = self.listing.begins[self.stretch.begin : self.stretch.begin + self._place(column.origin) + 1]
        slots = []
        for index, value in enumerate(model.inputs):
            if type(value) is TraceTensor:
                numbers = layout.table[steps, int(begins[-1] - begins[0]) + index]
                slots.append(self._tensor_slot_in_run(column, numbers, _saved_at(index), value))
            else:
                slots.append(self._value_slot([node.inputs[index] for node in column.nodes], model))
        out = Slot("same")
        if model.out is not None:
            numbers = layout.base + column.origin + layout.made * np.arange(steps.start, steps.stop)
            out = self._tensor_slot_in_run(column, numbers, _out_of, model.out)
        return slots, out

    def _tensor_slot_in_run(self, column: Column, numbers: Numbers, saved: Callable[[Node], Any], model: Any) -> Slot:
        """The slot of tensors with known value numbers; iterations outside of the run are checked."""
        nodes = column.nodes
        if any(self._number(saved(nodes[step])) != numbers[step] for step in column.others()):
            return self._tensor_slot([saved(node) for node in nodes])
        return self._numbered_slot(numbers, map(saved, nodes), model)

    def _number(self, value: Any) -> int | None:
        """The value number of a saved tensor; None if it is not a tensor of this trace."""
        if type(value) is not TraceTensor or value.level is not self.level:
            return None
        return self.listing.numbers.get(value.traced)

    def _value_slot(self, values: list[Any], model: Node) -> Slot:
        value = values[0]
        if type(value) is Spec or all(map(is_, values, repeat(value))):
            return Slot("same", value)
        if type(value) is TraceTensor:
            return self._tensor_slot(values)
        if type(value) in (float, int) and all(type(other) is type(value) for other in values):
            if all(is_same_number(other, value) for other in values):
                return Slot("same", value)
            if model.op is not None and model.op.ufunc and model.dtype.kind in "fc":
                numbers = np.array(values, model.dtype)
                return self._step_values_slot((model.dtype, numbers.tobytes()), numbers, numbers[0])
        elif isinstance(value, np.ndarray | np.generic) and value.nbytes <= STACKED_AT_MOST:
            return self._step_values_slot(tuple([id(other) for other in values]), values, value)
        raise NotALoop

    def _tensor_slot(self, values: list[Any]) -> Slot:
        if not all(map(is_, map(type, values), repeat(TraceTensor))):
            raise NotALoop
        if not all(map(is_, map(_level_of, values), repeat(self.level))):
            raise NotALoop
        traced = list(map(_traced_of, values))
        if all(map(is_, traced, repeat(traced[0]))):
            return Slot("same", values[0])
        numbers = np.array([*map(self.listing.numbers.get, traced, repeat(-1))])
        if numbers.min() < 0:  # created after the listing
            numbers = -2 - np.array([*map(_id_of, traced)])
        return self._numbered_slot(numbers, values, values[len(values) // 2])

    def _numbered_slot(self, numbers: Numbers, values: Iterable[Any], model: Any) -> Slot:
        if (numbers == numbers[0]).all():
            return Slot("same", model)
        moves = np.diff(numbers[1:])  # the first iteration may read a value from before the loop
        if (moves != self._layout.made).any() and model.traced.nbytes > STACKED_AT_MOST:
            raise NotALoop  # not a stack of the forward loop: gathering it would copy much
        return self._step_values_slot(numbers.tobytes(), values, model)

    def _step_values_slot(self, key: Any, values: Iterable[Any], model: Any) -> Slot:
        if key not in self._saved:
            self._saved[key] = len(self.saved)
            self.saved.append(StepValues(values, model))
        return Slot("rows", self._saved[key])

    # -- surrounding nodes

    def _find_surroundings(self, reached: ReachedNodes) -> None:
        """Sort nodes among the loop into those before and those after it. Raises `NotALoop` if one must be both."""
        local = self.local
        self.begin, self.end = local.begin, local.end
        for run in [*reached.runs]:
            if run is not self._run and run.youngest >= self.begin:
                reached.trim(run, range(0))
        if any(self.begin < node.order <= self.end for node in self.walked.wanted):
            raise NotALoop
        later = [order for order in reached.orders_since(self.begin) if order not in local]
        after: set[int] = set()
        used: dict[int, Node] = {}  # nodes of the loop that also get a cotangent from outside
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
            raise NotALoop
        self.before = [reached.nodes[order] for order in later if order not in after and order < self.end]
        self.after = [reached.nodes[order] for order in later if order in after and order < self.end]
        self.used = used
