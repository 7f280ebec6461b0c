"""Backward pass through a Python loop as one `Loop`: before the pass, the loop is collapsed to one node in the graph.

`collapse_loops` is the hook that a backward pass calls during tracing. Where the graph contains a long unrolled loop
(`gradtape.jit.trace.loops.unrolled`), the backward pass through one iteration is traced once, and a single node
replaces all nodes of the loop until the pass ends. The gradient rule of that node emits a loop from the last iteration
to the first, which reads the values that the iterations saved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from gradtape.core.backprop import walk
from gradtape.core.graph import LIFTED, PARTS, Node, leaf, next_order
from gradtape.core.operation import Op, _pick
from gradtape.errors import GradTapeError
from gradtape.jit.errors import Unrollable, Untraceable
from gradtape.jit.ir.program import Program, Value, Walk
from gradtape.jit.passes import optimise
from gradtape.jit.passes.reroll.find import FoundLoops, Listing, find_stretches
from gradtape.jit.trace.loops.reach import BackwardWalk, ReachedNodes
from gradtape.jit.trace.loops.scan_body import TracedFunction
from gradtape.jit.trace.loops.scan_rule import LoopEmitter
from gradtape.jit.trace.loops.unrolled import NotALoop, UnrolledLoop
from gradtape.jit.trace.tracer import TracingLevel


def collapse_loops(
    level: TracingLevel,
    at_least: int,
    seeds: Sequence[tuple[Node, Any]],
    mask: int,
    wanted: Collection[Node],
    oldest: int,
    boundary: Collection[Node],
    visited: list[Node],
) -> Callable[[], None] | None:
    """Collapse the loops of the graph before a backward pass; a function that undoes it, or None if there are none.

    Loops of fewer than `at_least` instructions are not collapsed. The last six arguments are those of `walk`.
    """
    begin, end = level.searched, len(level.instructions)
    if level.inner is not None or not level.open:
        return None
    level.searched = end
    level.detector.stop()
    listing = Listing(_program_since(level, begin), level.detector.segments_since(begin))
    stretches = find_stretches(listing)
    if not stretches:
        return None
    nodes = [node for node, _ in seeds]
    walked = BackwardWalk(mask, wanted, oldest, boundary)
    made: list[CollapsedLoop] = []
    reached = ReachedNodes(walked, nodes, level, listing, stretches)
    level.detector.forget_nodes()
    listing.segments = ()
    for stretch in reversed(stretches):
        if stretch.period * stretch.steps < at_least:
            continue
        try:
            collapsed = CollapsedLoop(UnrolledLoop(level, walked, listing, stretch, reached), nodes)
        except (NotALoop, Unrollable, Untraceable, GradTapeError):
            # not collapsed: the pass visits it node by node, and reports an error of the user with its line
            reached.dissolve(int(listing.firsts[stretch.begin]), int(listing.firsts[stretch.end]))
            continue
        made.append(collapsed)
        reached.replace(collapsed.unrolled.begin, collapsed.unrolled.end, collapsed.replaced)
        if level.loops is None:
            level.loops = FoundLoops(listing)
        level.loops.stretches.append(stretch._replace(begin=stretch.begin + begin))
    if not made:
        return None

    def restore() -> None:
        for collapsed in reversed(made):
            collapsed.restore()
            visited.extend(collapsed.nodes)

    return restore


def _program_since(level: TracingLevel, begin: int) -> Program:
    """The instructions from `begin` on as a program without outputs."""
    part = level.instructions[begin:]
    inputs = dict.fromkeys(level.inputs)
    if begin:
        made = {value for instruction in part for value in instruction.results}
        made.update(constant.value for constant in level.constants)
        inputs.update(dict.fromkeys(value for i in part for value in i.values if value not in made))
    return Program(tuple(inputs), tuple(level.constants), tuple(part), ())


class CollapsedLoop:
    """A loop of the graph, replaced by one node whose gradient rule emits the backward loop."""

    def __init__(self, unrolled: UnrolledLoop, seeds: Sequence[Node]) -> None:
        self.unrolled = unrolled
        self.nodes = [node for column in unrolled.columns for node in column.nodes]
        used = dict(unrolled.used)
        used.update({node.order: node for node in seeds if node.order in unrolled.local})
        if len(used) >= len(self.nodes):
            raise NotALoop
        self.used = [used[order] for order in sorted(used)]  # they pass on cotangents from outside of the loop
        self.columns = {column.origin: column for column in unrolled.columns}
        self._sort_arrivals()
        self.step = BackwardStep(self)
        self._replace()

    def _sort_arrivals(self) -> None:
        """Sort the columns with cotangents from outside: at the last iteration only (initial carry), or at others."""
        unrolled = self.unrolled
        made = unrolled._layout.made
        self.arrivals: dict[int, dict[int, int]] = {}  # by column and iteration: index in `used`
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
        """Undo the replacement."""
        for node, op, parents, order in self._were:
            node.op, node.parents, node.order = op, parents, order
        self.node.op, self.node.parents = None, ()  # the rule references this object, and so the whole loop

    # -- the loop

    def _pull(self, cotangents: Any, node: Node, out: Any, inputs: Any) -> list[Any]:
        """Gradient rule of the node: emit the backward loop; the cotangents of what the loop reads."""
        unrolled, step = self.unrolled, self.step
        steps = unrolled.steps
        back = Walk(steps - 1, -1)
        given = iter(step.program.inputs)
        carried = []
        outside: dict[Value, Any] = {}  # loop-invariant inputs
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
        sliced += [(next(given), rows.stack(unrolled.level), back) for rows in unrolled.saved]
        stacked = [(value, back) for value in step.rows if value is not None]
        outside.update(zip(given, step.read, strict=True))
        emitter = LoopEmitter(unrolled.level, step.program, outside)
        last, _, stacks = emitter.emit_back(step.program.instructions, carried, (), sliced, stacked, steps)
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
    return np.zeros(node.shape, node.dtype)  # native code takes an array as it is


def _never_run(*arrays: Any) -> Any:
    raise AssertionError("what stands for a loop is walked through, and never run")


class BackwardStep:
    """The backward pass through one iteration, traced: the program, and the roles of its values."""

    def __init__(self, collapsed: CollapsedLoop) -> None:
        self._collapsed = collapsed
        unrolled = collapsed.unrolled
        columns = collapsed.columns
        seeds = [columns[origin].model for origin in collapsed.state]
        seeds += unrolled.same.values()
        seeds += [columns[origin].model for origin in collapsed.by_row]
        samples = [np.ones(node.shape, node.dtype) for node in seeds] + [rows.sample for rows in unrolled.saved]
        self._missing: list[bool] = []
        traced = TracedFunction(unrolled.level, self._walk_back, samples)
        self.read = traced.read
        self.program = optimise(traced.program)
        supply = iter(self.program.outputs)
        values = [None if missing else next(supply) for missing in self._missing]
        one, two = len(unrolled.firsts), len(unrolled.firsts) + len(unrolled.same)
        self.carries = dict(zip(unrolled.firsts, values[:one], strict=True))
        self.sums, self.rows = values[one:two], values[two:]
        del self._collapsed  # a reference cycle

    def _walk_back(self, given: list[Any]) -> list[Any]:
        collapsed = self._collapsed
        unrolled = collapsed.unrolled
        mask = unrolled.walked.mask
        bits = mask | LIFTED
        carried = {o: leaf(n.shape, n.dtype, bits) for o, n in unrolled.firsts.items()}
        same = {order: leaf(n.shape, n.dtype, bits) for order, n in unrolled.same.items()}
        rows = [leaf(nodes[0].shape, nodes[0].dtype, bits) for nodes in unrolled.rows]
        saved = given[len(collapsed.state) + len(same) + len(collapsed.by_row) :]
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
        seeds = [inside[origin] for origin in collapsed.state]
        seeds += same.values()  # running sums, to which each iteration adds
        seeds += [inside[origin] for origin in collapsed.by_row]
        arrived = walk(list(zip(seeds, given, strict=False)), mask, sources=sources)
        gradients = [arrived.get(node) for node in sources]
        self._missing = [gradient is None for gradient in gradients]
        return [gradient for gradient in gradients if gradient is not None]
