"""Following a loop while Python runs it: what comes again as it came before is written down in a short way.

A loop of thousands of steps calls the same operations at the same lines, on values that stand in the same relation to
one another. Once the end of a trace has repeated itself (see `likeness`), one more step is watched as it comes through
the doors of traced tensors, and for each operation a `Row` remembers all that was the same. From then on a door has to
compare with its row and no more. What is written down, instructions and nodes, is what would have been written
otherwise. The first operation that is another one, or anything else that the trace writes down, ends it: then the doors
do as they always do.

What was followed is kept as a `Segment`: instructions of which it is known that they repeat those before them.
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
from gradtape.jit.trace.loops.elide import Coast, coasting
from gradtape.jit.trace.loops.elide_op import Light
from gradtape.jit.trace.loops.match import STEPS, Segment, repeated
from gradtape.jit.trace.loops.template import NEVER, Row

if TYPE_CHECKING:
    from gradtape.jit.trace.tracer import TraceLevel

SHORT_AT_MOST = 2
"""How often loops of one period may be soon over before no more of them are followed."""
LONG = 50
"""How many steps a loop has to have not to be soon over."""
FIRST_LOOK = 256
"""How many values are traced before it is looked for a repetition."""
LOOKS_AT_MOST = 60
"""How often it is looked: a trace that never repeats itself costs no more than that."""
TRIED_AT_MOST = 4
"""How many periods a look compares in full, where the lines are the same."""


class Learning:
    """The step after it was found that the trace repeats itself: its operations become rows."""

    def __init__(self, level: TraceLevel, period: int) -> None:
        self.level, self.period = level, period
        self.begin = len(level.instructions)
        self._rows: dict[int, Row] = {}

    def learn(self, op: Op, inputs: Any, parents: Any, live: int, frame: FrameType, result: Any) -> None:
        """Remember an operation that has come through a door."""
        place = len(self.level.instructions) - 1 - self.begin
        self._rows[place] = Row.learned(self.level, op, inputs, parents, live, frame, result)

    def one(self, op: Op, own: Any, frame: FrameType, params: dict[str, Any]) -> Any:
        row = self._expected()
        return None if row is None or row is self else row.one(op, own, frame, params)

    def two(self, op: Op, reflected: bool, own: Any, other: Any, frame: FrameType) -> Any:
        row = self._expected()
        return None if row is None or row is self else row.two(op, reflected, own, other, frame)

    def interrupt(self) -> None:
        """A value is about to be made: that is looked at when the step is over."""

    def before(self) -> Row | Learning | None:
        """An operation is about to come by another way: who is to be told when it has."""
        row = self._expected()
        return row if row is None or row is self else row.before()

    def after(self, instruction: Instruction, count: int) -> None:
        """It has come."""
        self.level.row = self

    def _expected(self) -> Row | Learning | Light | None:
        """Who knows about the next operation: the rows, once the step is over, if it was like those before."""
        level = self.level
        length = len(level.instructions) - self.begin
        if length < self.period:
            return self
        likes = repeated(level.instructions, self.period) if length == self.period else None
        if likes is None:
            level.follower.stop()
            return None
        rows = [self._rows.get(place) or Row(level) for place in range(self.period)]
        for place, row in enumerate(rows):
            row.settle(level.instructions[self.begin + place], likes[place])
            row.next = rows[(place + 1) % self.period]
        level.follower.start(rows)
        return level.row


class Follower:
    """Looks for repetitions at the end of a trace, now and then, and knows what was followed so far."""

    def __init__(self, level: TraceLevel) -> None:
        self._level = weakref.ref(level)  # which holds this
        self.segments: list[Segment] = []
        self._open: Segment | None = None  # the one that is followed now; where it ends is not known yet
        self._end: int | None = None  # unless an operation is under way, and may be the one that ends it
        self._rows: list[Row] = []
        self._nodes: list[Node | None] = []  # behind the values of the segment, after `_before` that were there before
        self._before = 0
        self._told = 0  # of how many segments the nodes are known to the level
        self._looks = 0
        self._coast: Coast | None = None  # while a loop is run and not written down
        self._planned: Coast | None = None  # while that is going to be so, at the next step
        self._grounded: set[tuple[Location, int]] = set()  # loops not for that: where they begin, and their periods
        self._over: Counter[int] = Counter()  # how often loops of a period were soon over: perhaps in steps of another

    @property
    def level(self) -> TraceLevel:
        level = self._level()
        assert level is not None
        return level

    def look(self) -> None:
        """Look whether the trace repeats itself; if so, learn how, from the next instruction on."""
        level = self.level
        self._looks += 1
        period = self._period(level.instructions)
        if period is not None:
            level.row, level.look_at = Learning(level, period), NEVER
        else:
            self._wait()

    def _wait(self) -> None:
        count = self.level._count
        self.level.look_at = NEVER if self._looks >= LOOKS_AT_MOST else count + max(FIRST_LOOK // 2, count // 4)

    def _period(self, instructions: Sequence[Instruction]) -> int | None:
        """The shortest period of which the last instructions are a repetition, but not one that was soon over."""
        if not instructions:
            return None
        end = len(instructions)
        lines = [instruction.location for instruction in instructions]

        def same_lines(period: int) -> bool:
            steps = [lines[end - (step + 1) * period : end - step * period] for step in range(STEPS)]
            return end >= STEPS * period and all(step == steps[0] for step in steps)

        def is_repeated(period: int) -> bool:
            return same_lines(period) and repeated(instructions, period) is not None

        short = {period for period, times in self._over.items() if times >= SHORT_AT_MOST}
        within = [period for period in short if is_repeated(period)]
        tried = 0
        for period in range(1, end // STEPS + 1):
            if lines[end - 1 - period] is not lines[-1] or period in short or not same_lines(period):
                continue
            if any(period % inner == 0 for inner in within):
                continue
            if repeated(instructions, period) is not None:
                return period
            tried += 1
            if tried == TRIED_AT_MOST:
                return None
        return None

    def start(self, rows: list[Row]) -> None:
        """From here on, operations are compared with `rows`."""
        begin = len(self.level.instructions)
        varying = frozenset([place for place, row in enumerate(rows) if row.varies])
        back = tuple([row.like.back for row in rows])
        self._open, self._end, self._rows = Segment(begin, begin, len(rows), varying, back, []), None, rows
        made = sum([len(row.model.results) for row in rows])
        nodes: list[Node | None] = [None] * ((STEPS - 1) * made)
        for row in rows:
            nodes += [row.made] if row.op is not None else [None] * len(row.model.results)
        self._nodes, self._before = nodes, len(nodes)
        for row in rows:
            row.nodes = nodes
        self.level.row = rows[0]
        found = coasting(self.level, rows, self._grounded)
        if found is not None:
            self._planned, begins = found
            first = self._planned.lights[0]
            if begins:
                rows[begins - 1].next = first
            else:
                self.level.row = first

    def coast(self, coast: Coast) -> None:
        """From here on, nothing is written down."""
        self._coast, self._planned = coast, None
        self._close()

    def pause(self) -> None:
        """An operation is under way that may not be the expected one."""
        self._end = len(self.level.instructions)

    def resume(self, row: Row | Light, made: int) -> None:
        """It was, and made so many values; the next is `row`."""
        self._end, self.level.row = None, row
        self._nodes += [None] * made

    def stop(self) -> None:
        """Follow no longer, and look again later."""
        level = self.level
        if self._coast is not None:
            coast, self._coast, level.row = self._coast, None, None
            if coast.settle():  # perhaps it comes again soon
                level.look_at = level._count + (STEPS + 1) * coast.period
            else:
                self._grounded.add((coast.where, coast.period))
                self._wait()
            coast.let_go()
        elif level.row is not None or self._open is not None:
            learning, level.row = level.row, None
            if type(learning) is Learning:
                self._over[learning.period] += 1
            self._close()
            self._wait()

    def _close(self) -> None:
        """Note what was followed, now that it is known where it ends."""
        level, segment, self._open = self.level, self._open, None
        if segment is not None:
            end = len(level.instructions) if self._end is None else self._end
            if end > segment.begin:
                nodes = self._nodes[self._before :]
                is_known = all(row.op is not None for row in self._rows)
                self.segments.append(segment._replace(end=end, nodes=nodes if is_known else []))
                if not is_known:
                    self._note(nodes, segment.begin)
            if end - segment.begin < LONG * segment.period and self._coast is None:
                self._over[segment.period] += 1
        for row in self._rows:
            del row.next  # they go round
        if self._planned is not None:
            self._planned.let_go()
            self._planned = None
        self._rows, self._nodes = [], []

    def tell(self, runs: Sequence[tuple[list[Any], int, int]]) -> None:
        """Let the level know what the nodes stand for that were followed; those of `runs` are known by themselves.

        A run is a list of nodes of a segment, and which part of it.
        """
        for segment in self.segments[self._told :]:
            nodes, position = segment.nodes, 0
            for _, begin, end in sorted([run for run in runs if run[0] is nodes], key=itemgetter(1)):
                self._note(nodes[position:begin], segment.begin + position)
                position = end
            self._note(nodes[position:], segment.begin + position)
        self._told = len(self.segments)

    def _note(self, nodes: Sequence[Node | None], begin: int) -> None:
        """Nodes stand behind the values that are made from the instruction at `begin` on."""
        level = self.level
        values = [value for i in level.instructions[begin : begin + len(nodes)] for value in i.results]
        level.made.update(
            {
                node.order: value
                for node, value in zip(nodes, values, strict=False)
                if node is not None and node.op is not None
            }
        )

    def since(self, begin: int) -> list[Segment]:
        """What was followed after the instruction at `begin`, with what it repeats; counted from there."""
        return [
            segment._replace(begin=segment.begin - begin, end=segment.end - begin)
            for segment in self.segments
            if segment.begin - STEPS * segment.period >= begin
        ]

    def let_go(self) -> None:
        """Forget the nodes of what was followed, which hold the trace."""
        self.segments = [segment._replace(nodes=[]) for segment in self.segments]

    def finish(self) -> None:
        """Nothing more will be traced."""
        self.stop()
        self.level.remembered.clear()
        self.let_go()
        self.level.look_at = NEVER
