"""Online detection of Python loops while they are traced.

A loop of thousands of iterations calls the same operations at the same source locations, on values equally far back.
`LoopDetector.search` looks at the end of the trace now and then. When the last iterations match (see `match`), a
`TemplateLearner` builds an `OpTemplate` for each operation of one more iteration. From then on the fast path only
compares an operation with its template, which records the same instruction and node as the general path, but faster.
The first operation that differs, or any other value that the trace creates, ends the loop.

Each matched part is kept as a `Segment`: instructions that are known to repeat those before them. Later stages (the
backward pass, the re-rolling pass) need not compare these again.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Sequence
from operator import itemgetter
from types import FrameType
from typing import TYPE_CHECKING, Any

from gradtape.core.graph import Node
from gradtape.core.location import Location
from gradtape.core.operation import Op
from gradtape.jit.ir.program import Instruction
from gradtape.jit.passes.reroll.segment import MIN_MATCHES, Segment
from gradtape.jit.trace.loops.elide import ElidedLoop, plan_elided_loop
from gradtape.jit.trace.loops.elide_op import ElidedOp
from gradtape.jit.trace.loops.match import match_periods
from gradtape.jit.trace.loops.template import NEVER, OpTemplate

if TYPE_CHECKING:
    from gradtape.jit.trace.tracer import TracingLevel

MAX_SHORT_LOOPS = 2
"""How many short loops of one period are matched before that period is ignored."""
MIN_LONG_STEPS = 50
"""Loops of fewer iterations count as short."""
FIRST_SEARCH = 256
"""Number of traced values at the first search."""
MAX_SEARCHES = 60
"""Maximum number of searches: bounds the cost for a trace without loops."""
MAX_CANDIDATES = 4
"""How many candidate periods, with equal source locations, a search compares in full."""


class TemplateLearner:
    """Builds the templates from the operations of the first iteration after a loop was detected."""

    def __init__(self, level: TracingLevel, period: int) -> None:
        self.level, self.period = level, period
        self.begin = len(level.instructions)
        self._templates: dict[int, OpTemplate] = {}

    def learn(self, op: Op, inputs: Any, parents: Any, live: int, frame: FrameType, result: Any) -> None:
        """Make a template of an operation that took the fast path."""
        place = len(self.level.instructions) - 1 - self.begin
        self._templates[place] = OpTemplate.from_operation(self.level, op, inputs, parents, live, frame, result)

    def unary(self, op: Op, own: Any, frame: FrameType, params: dict[str, Any]) -> Any:
        """Let the next template of the loop body match an operation on one tensor; None if there is none."""
        template = self._next_expected()
        return None if template is None or template is self else template.unary(op, own, frame, params)

    def binary(self, op: Op, reflected: bool, own: Any, other: Any, frame: FrameType) -> Any:
        """Let the next template of the loop body match an operation on two operands; None if there is none."""
        template = self._next_expected()
        return None if template is None or template is self else template.binary(op, reflected, own, other, frame)

    def on_new_value(self) -> None:
        """Nothing to do for a new value: the whole iteration is compared at its end."""

    def before_general_op(self) -> OpTemplate | TemplateLearner | None:
        """Called before an operation on the general path; the object whose `after_general_op` is to be called."""
        template = self._next_expected()
        return template if template is None or template is self else template.before_general_op()

    def after_general_op(self, instruction: Instruction, count: int) -> None:
        """Called after an operation on the general path."""
        self.level.expected = self

    def _next_expected(self) -> OpTemplate | TemplateLearner | ElidedOp | None:
        """What the next operation is compared with: this learner until the iteration ends, then its templates if it
        matches; None, and the loop ends, if it does not."""
        level = self.level
        length = len(level.instructions) - self.begin
        if length < self.period:
            return self
        offsets = match_periods(level.instructions, self.period) if length == self.period else None
        if offsets is None:
            level.detector.stop()
            return None
        templates = [self._templates.get(place) or OpTemplate(level) for place in range(self.period)]
        for place, template in enumerate(templates):
            template.set_model(level.instructions[self.begin + place], offsets[place])
            template.next = templates[(place + 1) % self.period]
        level.detector.start(templates)
        return level.expected


class LoopDetector:
    """Searches the end of the trace for repetition, drives the detected loop, and keeps the matched segments."""

    def __init__(self, level: TracingLevel) -> None:
        self._level = weakref.ref(level)  # weak: the level holds this object
        self.segments: list[Segment] = []
        self._open: Segment | None = None  # the current one; its end is not known yet
        self._end: int | None = None  # set while a general operation runs, which may end it
        self._templates: list[OpTemplate] = []
        self._nodes: list[Node | None] = []  # of the values of the segment, after `_before` earlier ones
        self._before = 0
        self._registered = 0  # the nodes of so many segments are in level.value_of_node
        self._searches = 0
        self._elided: ElidedLoop | None = None  # while iterations are executed without recording
        self._planned: ElidedLoop | None = None  # eliding starts at the next iteration
        self._not_elidable: set[tuple[Location, int]] = set()  # loops never to elide: start and period
        self._short_lived: Counter[int] = (
            Counter()
        )  # how often loops of a period were soon over: perhaps in steps of another

    @property
    def level(self) -> TracingLevel:
        """The tracer that this detector belongs to, which is alive while it traces."""
        level = self._level()
        assert level is not None
        return level

    def search(self) -> None:
        """Search for a loop at the end of the trace; if there is one, learn its templates from the next iteration."""
        level = self.level
        self._searches += 1
        period = self._period(level.instructions)
        if period is not None:
            level.expected, level.next_search = TemplateLearner(level, period), NEVER
        else:
            self._wait()

    def _wait(self) -> None:
        count = self.level._count
        self.level.next_search = NEVER if self._searches >= MAX_SEARCHES else count + max(FIRST_SEARCH // 2, count // 4)

    def _period(self, instructions: Sequence[Instruction]) -> int | None:
        """The shortest period with which the last instructions repeat, except periods of short loops."""
        if not instructions:
            return None
        end = len(instructions)
        lines = [instruction.location for instruction in instructions]

        def same_lines(period: int) -> bool:
            steps = [lines[end - (step + 1) * period : end - step * period] for step in range(MIN_MATCHES)]
            return end >= MIN_MATCHES * period and all(step == steps[0] for step in steps)

        def is_repeated(period: int) -> bool:
            return same_lines(period) and match_periods(instructions, period) is not None

        short = {period for period, times in self._short_lived.items() if times >= MAX_SHORT_LOOPS}
        within = [period for period in short if is_repeated(period)]
        tried = 0
        for period in range(1, end // MIN_MATCHES + 1):
            if lines[end - 1 - period] is not lines[-1] or period in short or not same_lines(period):
                continue
            if any(period % inner == 0 for inner in within):
                continue
            if match_periods(instructions, period) is not None:
                return period
            tried += 1
            if tried == MAX_CANDIDATES:
                return None
        return None

    def start(self, templates: list[OpTemplate]) -> None:
        """Compare operations with `templates` from here on, and plan to elide the loop if possible."""
        begin = len(self.level.instructions)
        varying = frozenset([place for place, template in enumerate(templates) if template.varies])
        back = tuple([template.offsets.back for template in templates])
        self._open = Segment(begin, begin, len(templates), varying, back, [])
        self._end, self._templates = None, templates
        made = sum([len(template.model.results) for template in templates])
        nodes: list[Node | None] = [None] * ((MIN_MATCHES - 1) * made)
        for template in templates:
            nodes += [template.made] if template.op is not None else [None] * len(template.model.results)
        self._nodes, self._before = nodes, len(nodes)
        for template in templates:
            template.nodes = nodes
        self.level.expected = templates[0]
        found = plan_elided_loop(self.level, templates, self._not_elidable)
        if found is not None:
            self._planned, begins = found
            first = self._planned.elided_ops[0]
            if begins:
                templates[begins - 1].next = first
            else:
                self.level.expected = first

    def begin_eliding(self, loop: ElidedLoop) -> None:
        """Called when the first elided iteration begins: nothing is recorded from here on."""
        self._elided, self._planned = loop, None
        self._close()

    def pause(self) -> None:
        """A general operation starts, which may not be the expected one: remember where the segment would end."""
        self._end = len(self.level.instructions)

    def resume(self, template: OpTemplate | ElidedOp, made: int) -> None:
        """The general operation was the expected one and created `made` values; continue with `template`."""
        self._end, self.level.expected = None, template
        self._nodes += [None] * made

    def stop(self) -> None:
        """End the current loop (emit it if it was elided), and schedule the next search."""
        level = self.level
        if self._elided is not None:
            loop, self._elided, level.expected = self._elided, None, None
            if loop.emit():  # the same loop may start again soon
                level.next_search = level._count + (MIN_MATCHES + 1) * loop.period
            else:
                self._not_elidable.add((loop.where, loop.period))
                self._wait()
            loop.release()
        elif level.expected is not None or self._open is not None:
            learning, level.expected = level.expected, None
            if type(learning) is TemplateLearner:
                self._short_lived[learning.period] += 1
            self._close()
            self._wait()

    def _close(self) -> None:
        """Close the current segment: its end is known now."""
        level, segment, self._open = self.level, self._open, None
        if segment is not None:
            end = len(level.instructions) if self._end is None else self._end
            if end > segment.begin:
                nodes = self._nodes[self._before :]
                is_known = all(template.op is not None for template in self._templates)
                self.segments.append(segment._replace(end=end, nodes=nodes if is_known else []))
                if not is_known:
                    self._register(nodes, segment.begin)
            if end - segment.begin < MIN_LONG_STEPS * segment.period and self._elided is None:
                self._short_lived[segment.period] += 1
        for template in self._templates:
            del template.next  # a reference cycle
        if self._planned is not None:
            self._planned.release()
            self._planned = None
        self._templates, self._nodes = [], []

    def register_nodes(self, runs: Sequence[tuple[list[Any], int, int]]) -> None:
        """Enter the nodes of new segments into `level.value_of_node`, except those in `runs`, which know their values.

        A run is (nodes of a segment, begin, end).
        """
        for segment in self.segments[self._registered :]:
            nodes, position = segment.nodes, 0
            for _, begin, end in sorted([run for run in runs if run[0] is nodes], key=itemgetter(1)):
                self._register(nodes[position:begin], segment.begin + position)
                position = end
            self._register(nodes[position:], segment.begin + position)
        self._registered = len(self.segments)

    def _register(self, nodes: Sequence[Node | None], begin: int) -> None:
        """Map `nodes` to the values computed from the instruction at `begin` on."""
        level = self.level
        values = [value for i in level.instructions[begin : begin + len(nodes)] for value in i.results]
        level.value_of_node.update(
            {
                node.order: value
                for node, value in zip(nodes, values, strict=False)
                if node is not None and node.op is not None
            }
        )

    def segments_since(self, begin: int) -> list[Segment]:
        """The segments after the instruction at `begin`, including the iterations they repeat, relative to `begin`."""
        return [
            segment._replace(begin=segment.begin - begin, end=segment.end - begin)
            for segment in self.segments
            if segment.begin - MIN_MATCHES * segment.period >= begin
        ]

    def forget_nodes(self) -> None:
        """Drop the nodes of all segments: they keep the trace alive."""
        self.segments = [segment._replace(nodes=[]) for segment in self.segments]

    def finish(self) -> None:
        """End detection: the trace is complete."""
        self.stop()
        self.level.recent_ops.clear()
        self.forget_nodes()
        self.level.next_search = NEVER
