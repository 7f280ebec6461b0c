"""The walk back through a loop that Python has run, written as one loop: before it begins, the graph is made shorter.

While a function is traced, `graph.walk` calls `contract`. Where the graph is a long loop
(`gradtape.jit.trace.loops.unrolled`), the walk back through one step is traced once, and a single node stands for all
the nodes of the loop until the walk is over. When the walk comes to it, it writes a loop from the last step to the
first, along what the steps have saved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from gradtape.core.graph import LIFTED, PARTS, Node, leaf, next_order, walk
from gradtape.core.operation import Op, _pick
from gradtape.errors import GradTapeError
from gradtape.jit.errors import Unrollable, Untraceable
from gradtape.jit.ir.program import Program, Value, Walk
from gradtape.jit.passes import optimise
from gradtape.jit.passes.reroll.find import FoundLoops, Listing, find_stretches
from gradtape.jit.trace.loops.reach import Reached, Walked
from gradtape.jit.trace.loops.scan_body import Traced
from gradtape.jit.trace.loops.scan_rule import Writing
from gradtape.jit.trace.loops.unrolled import Refused, Unrolled
from gradtape.jit.trace.tracer import TraceLevel


def contract(
    level: TraceLevel,
    at_least: int,
    seeds: Sequence[tuple[Node, Any]],
    mask: int,
    wanted: Collection[Node],
    oldest: int,
    beginnings: Collection[Node],
    visited: list[Node],
) -> Callable[[], None] | None:
    """Shorten the graph that is about to be walked; a function that makes it what it was, if there was a loop.

    Loops of fewer than `at_least` instructions are left as they are.
    """
    begin, end = level.searched, len(level.instructions)
    if level.inner is not None or not level.open:
        return None
    level.searched = end
    level.follower.stop()
    listing = Listing(_traced_since(level, begin), level.follower.since(begin))
    stretches = find_stretches(listing)
    if not stretches:
        return None
    nodes = [node for node, _ in seeds]
    walked = Walked(mask, wanted, oldest, beginnings)
    made: list[Contraction] = []
    reached = Reached(walked, nodes, level, listing, stretches)
    level.follower.let_go()
    listing.segments = ()
    for stretch in reversed(stretches):
        if stretch.period * stretch.steps < at_least:
            continue
        try:
            contraction = Contraction(Unrolled(level, walked, listing, stretch, reached), nodes)
        except (Refused, Unrollable, Untraceable, GradTapeError):
            # it is walked step by step, and an error of the user's is one there, with its line
            reached.dissolve(int(listing.firsts[stretch.begin]), int(listing.firsts[stretch.end]))
            continue
        made.append(contraction)
        reached.replace(contraction.unrolled.begin, contraction.unrolled.end, contraction.replaced)
        if level.found is None:
            level.found = FoundLoops(listing)
        level.found.stretches.append(stretch._replace(begin=stretch.begin + begin))
    if not made:
        return None

    def restore() -> None:
        for contraction in reversed(made):
            contraction.restore()
            visited.extend(contraction.nodes)

    return restore


def _traced_since(level: TraceLevel, begin: int) -> Program:
    """The instructions from `begin` on, as a program."""
    part = level.instructions[begin:]
    inputs = dict.fromkeys(level.inputs)
    if begin:
        made = {value for instruction in part for value in instruction.results}
        made.update(constant.value for constant in level.constants)
        inputs.update(dict.fromkeys(value for i in part for value in i.values if value not in made))
    return Program(tuple(inputs), tuple(level.constants), tuple(part), ())


class Contraction:
    """One loop of the graph as one node, whose rule writes the loop that walks back."""

    def __init__(self, unrolled: Unrolled, seeds: Sequence[Node]) -> None:
        self.unrolled = unrolled
        self.nodes = [node for column in unrolled.columns for node in column.nodes]
        used = dict(unrolled.used)
        used.update({node.order: node for node in seeds if node.order in unrolled.local})
        if len(used) >= len(self.nodes):
            raise Refused
        self.used = [used[order] for order in sorted(used)]  # they hand on what comes from outside
        self.columns = {column.origin: column for column in unrolled.columns}
        self._sort_arrivals()
        self.step = BackwardStep(self)
        self._replace()

    def _sort_arrivals(self) -> None:
        """What arrives from outside: at the last step only, or at others, too."""
        unrolled = self.unrolled
        made = unrolled._layout.made
        self.arrivals: dict[int, dict[int, int]] = {}  # by column and step: which of the used nodes
        for index, node in enumerate(self.used):
            step, origin = divmod(unrolled.local[node.order], made)
            self.arrivals.setdefault(origin, {})[step] = index
        last = unrolled.steps - 1
        self.by_row = [origin for origin, steps in self.arrivals.items() if [*steps] != [last]]
        self.state = sorted({*unrolled.firsts, *self.arrivals} - {*self.by_row} | {*unrolled.firsts})

    # -- the graph

    def _replace(self) -> None:
        unrolled = self.unrolled
        self._were = [(node, node.op, node.parents, node.order) for node in self.used]
        self._were += [(node, node.op, node.parents, node.order) for node in (*unrolled.before, *unrolled.after)]
        model = unrolled.columns[-1].model
        self.node = node = Node()
        node.op = Op("loop", _never_run, reverse=self._pull, outputs=True)
        node.parents = (*unrolled.firsts.values(), *unrolled.same.values(), *(n for row in unrolled.rows for n in row))
        node.inputs, node.out, node.bits = (), None, model.bits
        node.params = {PARTS: tuple([(n.shape, n.dtype) for n in self.used])}
        node.shape, node.dtype, node.extra = (), np.dtype(float), None
        node.recording, node.code, node.offset = model.recording, model.code, model.offset
        orders = sorted([*unrolled.local, *(n.order for n in (*unrolled.before, *unrolled.after))])
        count = len(unrolled.before)
        node.order = orders[count]
        moved = [*zip(unrolled.before, orders, strict=False), *zip(self.used, orders[count + 1 :], strict=False)]
        moved += zip(reversed(unrolled.after), reversed(orders), strict=False)
        for other, order in moved:
            other.order = order
        for index, other in enumerate(self.used):
            other.op, other.parents = _pick(index), (node,)
        self.replaced = [node, *self.used, *unrolled.before, *unrolled.after]

    def restore(self) -> None:
        """Make the graph what it was."""
        for node, op, parents, order in self._were:
            node.op, node.parents, node.order = op, parents, order
        self.node.op, self.node.parents = None, ()  # the rule holds this, and so the whole loop

    # -- the loop

    def _pull(self, cotangents: Any, node: Node, out: Any, inputs: Any) -> list[Any]:
        """Write the loop; the cotangents of what it reads."""
        unrolled, step = self.unrolled, self.step
        steps = unrolled.steps
        back = Walk(steps - 1, -1)
        given = iter(step.program.inputs)
        carried = []
        outside: dict[Value, Any] = {}  # what no step changes
        by_origin: dict[int, Any] = {}
        for origin in self.state:
            model = self.columns[origin].model
            arrived = {} if origin in self.by_row else self.arrivals.get(origin, {})
            first = cotangents[arrived[steps - 1]] if arrived else _zeros(model)
            value, following = next(given), step.carries.get(origin)
            if following is value:
                outside[value] = by_origin[origin] = first
            else:
                carried.append((value, first, following))
        for node, total in zip(unrolled.same.values(), step.sums, strict=True):
            carried.append((next(given), _zeros(node), total))
        sliced = []
        for origin in self.by_row:
            arrived, zeros = self.arrivals[origin], _zeros(self.columns[origin].model)
            rows = [cotangents[arrived[t]] if t in arrived else zeros for t in range(steps)]
            sliced.append((next(given), np.stack(rows), back))
        sliced += [(next(given), rows.stacked(unrolled.level), back) for rows in unrolled.saved]
        stacked = [(value, back) for value in step.rows if value is not None]
        outside.update(zip(given, step.read, strict=True))
        writing = Writing(unrolled.level, step.program, outside)
        last, _, stacks = writing.emit_back(step.program.instructions, carried, (), sliced, stacked, steps)
        changed = [origin for origin in self.state if origin not in by_origin]
        by_origin.update(zip(changed, last, strict=False))
        found: list[Any] = [by_origin[origin] for origin in unrolled.firsts]
        found += last[len(changed) :]
        supply = iter(stacks)
        for gradient in step.rows:
            stack = None if gradient is None else next(supply)
            found += [None if stack is None else stack[t] for t in range(steps)]
        return found


def _zeros(node: Node) -> Any:
    return np.zeros(node.shape, node.dtype)  # which native code takes as it is


def _never_run(*arrays: Any) -> Any:
    raise AssertionError("what stands for a loop is walked through, and never run")


class BackwardStep:
    """The walk back through one step, traced: a program, and which of its values are what."""

    def __init__(self, contraction: Contraction) -> None:
        self._contraction = contraction
        unrolled = contraction.unrolled
        columns = contraction.columns
        seeds = [columns[origin].model for origin in contraction.state]
        seeds += unrolled.same.values()
        seeds += [columns[origin].model for origin in contraction.by_row]
        samples = [np.ones(node.shape, node.dtype) for node in seeds] + [rows.sample for rows in unrolled.saved]
        self._missing: list[bool] = []
        traced = Traced(unrolled.level, self._walk_back, samples)
        self.read = traced.read
        self.program = optimise(traced.program)
        supply = iter(self.program.outputs)
        values = [None if missing else next(supply) for missing in self._missing]
        one, two = len(unrolled.firsts), len(unrolled.firsts) + len(unrolled.same)
        self.carries = dict(zip(unrolled.firsts, values[:one], strict=True))
        self.sums, self.rows = values[one:two], values[two:]
        del self._contraction  # which holds this

    def _walk_back(self, given: list[Any]) -> list[Any]:
        contraction = self._contraction
        unrolled = contraction.unrolled
        mask = unrolled.walked.mask
        bits = mask | LIFTED
        carried = {o: leaf(n.shape, n.dtype, bits) for o, n in unrolled.firsts.items()}
        same = {order: leaf(n.shape, n.dtype, bits) for order, n in unrolled.same.items()}
        rows = [leaf(nodes[0].shape, nodes[0].dtype, bits) for nodes in unrolled.rows]
        saved = given[len(contraction.state) + len(same) + len(contraction.by_row) :]
        inside: dict[int, Node] = {}
        places: dict[str, Any] = {"carried": carried, "same": same, "rows": rows, "inside": inside}
        for column in unrolled.columns:
            model = column.model
            node = Node()
            node.op, node.params, node.bits, node.order = model.op, model.params, model.bits, next_order()
            node.shape, node.dtype, node.recording, node.extra = model.shape, model.dtype, model.recording, None
            node.code, node.offset = model.code, model.offset
            pairs = zip(column.parents, model.parents, strict=True)
            node.parents = tuple(
                [parent if slot.kind == "none" else places[slot.kind][slot.what] for slot, parent in pairs]
            )
            found = [saved[slot.what] if slot.kind == "rows" else slot.what for slot in (*column.inputs, column.out)]
            node.inputs, node.out = tuple(found[:-1]), found[-1]
            inside[column.origin] = node
        sources = [*carried.values(), *same.values(), *rows]
        seeds = [inside[origin] for origin in contraction.state]
        seeds += same.values()  # to which the steps add, one after the other
        seeds += [inside[origin] for origin in contraction.by_row]
        arrived = walk(list(zip(seeds, given, strict=False)), mask, sources=sources)
        gradients = [arrived.get(node) for node in sources]
        self._missing = [gradient is None for gradient in gradients]
        return [gradient for gradient in gradients if gradient is not None]
