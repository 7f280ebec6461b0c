"""Coasting: a long loop that has been followed for a while is no longer written down, only run.

The steps of a loop that was followed (`gradtape.jit.trace.loops.detect`) say nothing new. So from some step on, an
operation is compared with its row and computed (`gradtape.jit.trace.loops.elide_op`), and that is all: its result is a
tensor without a value of the program and without a node. When something else comes, or somebody asks for the one or the
other, the coast is settled: all steps, also those that were written down before, are made one loop, as `gt.scan` would
have made it (`gradtape.jit.trace.loops.scan_op`), and the tensors that are still held by somebody get their places in
its results.

Results that may be asked for the gradient of one another, by a tape of the user's, are run once more and written down.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import recording
from gradtape.core.graph import AMBIENT
from gradtape.core.location import Location, as_from
from gradtape.core.references import ALONE, COUNTS_ITEMS, references_of
from gradtape.errors import GradTapeError
from gradtape.jit.errors import Unrollable, Untraceable
from gradtape.jit.ir.locations import apply_at
from gradtape.jit.ir.program import Literal, Value
from gradtape.jit.trace.loops.elide_op import FirstLight, Light
from gradtape.jit.trace.loops.live_in import Beginning, beginning_at, is_same_place
from gradtape.jit.trace.loops.match import STEPS
from gradtape.jit.trace.loops.template import SMALL, Row, Written
from gradtape.jit.trace.tracers import TraceTensor

if TYPE_CHECKING:
    from gradtape.jit.trace.tracer import TraceLevel

STEPS_AT_LEAST = 50
"""How many steps have to be run for a loop to be made of them here."""
FIRST_SWEEP, SWEEP = 512, 4096
"""How many results are held before it is looked whether the first of them are held by somebody else."""
REMEMBERED = 1 << 13
"""How many operations that were written down are remembered with their operands: a loop may begin there."""

ELIDES = COUNTS_ITEMS
"""Whether steps are not written down: only where it can be told which of their results are still held."""


class Coast:
    """A loop that is run without being written down.

    Its operations are numbered from 0; those of the steps before it, which were written down, have negative numbers.
    """

    def __init__(self, level: TraceLevel, rows: Sequence[Row], begin: int, beginning: Beginning) -> None:
        self.level, self.rows, self.period = level, rows, len(rows)
        self.begin = begin  # the instruction with which the first step of the loop began
        self.beginning = beginning
        self.is_under_way = False
        self.limit = 0
        self.results: list[Any] = [None] * ((STEPS - 1) * self.period)
        self._first = -len(self.results)  # the number of the first of them
        self._before: dict[int, Any] = {}  # what the first steps read, by number
        self._kept: dict[int, Any] = {}  # results that somebody held, when it was looked
        self._written: list[tuple[Value, Written | None]] = []  # the steps before; None for what is forgotten already
        self.is_private = is_private(rows)
        self.lights = [(Light if place else FirstLight)(self, row) for place, row in enumerate(rows)]
        for place, light in enumerate(self.lights):
            light.next = self.lights[(place + 1) % self.period]

    @property
    def where(self) -> Location:
        """The place at which the loop begins."""
        return self.rows[0].model.location

    @property
    def _count(self) -> int:
        """How many operations were run."""
        return self._first + len(self.results)

    def _held(self, count: int) -> dict[int, Any]:
        """Those of the first `count` results that somebody else holds, by number."""
        references = enumerate(references_of(islice(self.results, count)))
        held = [place for place, references in references if references > ALONE and self._first + place >= 0]
        return {self._first + place: self.results[place] for place in held}

    # -- while it is under way

    def sweep(self) -> bool:
        """Let go of what nobody else holds any more. Whether it goes on: not if results are held that may be asked for
        the gradient of others."""
        results = self.results
        if not self.is_under_way:
            self._begin()
            return True
        old = len(results) - (STEPS - 1) * self.period
        held = self._held(old)
        if held and not self.is_private:
            self.level.follower.stop()
            return False
        self._kept.update(held)
        del results[:old]
        self._first += old
        self.limit = max(SWEEP, 2 * len(results))
        return True

    def _begin(self) -> None:
        level, period = self.level, self.period
        self.is_under_way = True
        self.limit = max(FIRST_SWEEP, 2 * len(self.results))
        self.start = len(level.instructions)
        self.level.follower.coast(self)
        self.written = (self.start - self.begin) // period  # so many steps were written down
        known = dict(level.remembered)
        results = [i.results[0] for i in level.instructions[self.begin : self.start]]
        self._written = [(value, known.get(value.id)) for value in results]

    def is_from_before(self, tensor: Any, back: int, bits: int) -> bool:
        """Whether `tensor` is the value that was made so many values ago, before the coast."""
        number = self._count - back
        if number >= 0:
            return False
        value, node = tensor.traced, tensor._node  # which ends it, if it is another result of this coast
        if not self.is_under_way:
            return False
        nodes = self.rows[0].nodes
        if self.level._count - value.id != -number or (nodes[number] or node) is not node or node.bits != bits:
            return False
        self._before[number] = TraceTensor(tensor._array, value, self.level, node)
        return True

    # -- when it is over

    def settle(self) -> bool:
        """Give all results their places that somebody holds. Whether all of it has become a loop."""
        self.is_under_way = False
        period, steps = self.period, self._count // self.period
        is_known = all(written is not None for _, written in self._written)
        held, before = self._all_held(), self._held_before()
        last = max(held, default=-1)
        if last < 0:
            return steps >= STEPS_AT_LEAST
        whole = steps
        if self.is_private:
            held.update(before)
        else:  # one may be asked for the gradient of another: they are written down, with what is between
            whole = min(held) // period
            if before or not is_known:
                self._forget_what_was_written()
        wanted = {*held, *self._read_by(range(whole * period, last + 1))}
        with recording.during(self.rows[0].state):
            places = self._folded(whole, {number for number in wanted if number < whole * period})
            is_loop = places is not None
            if places is None:
                places, whole = dict(self._before), 0
            for number in range(whole * period, last + 1):
                places[number] = self._again(number, places)
        for number, tensor in held.items():
            if number in places:
                tensor.traced, tensor._node = places[number].traced, places[number]._node
        return is_loop and whole >= steps - STEPS

    def _all_held(self) -> dict[int, Any]:
        """All results that somebody holds."""
        held = self._held(len(self.results))
        counts = zip(self._kept, references_of(self._kept.values()), strict=True)
        held.update({number: self._kept[number] for number in [n for n, count in counts if count > ALONE]})
        return held

    def _held_before(self) -> dict[int, Any]:
        """The results of steps that were written down, which somebody holds."""
        self.level.remembered.clear()  # which holds them, as this does
        results = [(value, None if written is None else written.result) for value, written in self._written]
        self._written.clear()
        tensors = [(value, None if result is None else result()) for value, result in results]
        return {
            number: tensor
            for number, (value, tensor) in enumerate(tensors, -len(tensors))
            if tensor is not None and tensor.traced is value
        }

    def _forget_what_was_written(self) -> None:
        """Let the loop begin here, and not with the steps before."""
        self.begin, self.written = self.start, 0
        self.beginning.entering = {
            (number % self.period, -(number // self.period)): tensor for number, tensor in self._before.items()
        }

    def let_go(self) -> None:
        """Forget all results, and what holds this."""
        self._kept.clear()
        for light in self.lights:
            del light.next, light.coast  # they go round
        self.results.clear()

    def _read_by(self, numbers: range) -> set[int]:
        """What operations read of each other and of what was before."""
        return {number - back for number in numbers for back in self.rows[number % self.period].like.back if back}

    def _again(self, number: int, places: dict[int, Any]) -> Any:
        """Run an operation once more, and write it down; `places` are the results of those before."""
        step, place = divmod(number, self.period)
        row, light = self.rows[place], self.lights[place]
        inputs = [
            places[number - back] if back else operand
            for back, operand in zip(row.like.back, self.beginning.operands[place], strict=True)
        ]
        params = row.params
        if row.varies:
            if len(inputs) == 1:
                params = light.seen[step]
            else:
                inputs[row.number_at] = light.seen[step]
        assert row.op is not None  # it came through a door
        return apply_at(row, row.op, inputs, params)

    def _varying(self, first: int, steps: int) -> dict[int, list[Any]]:
        """What varies, by operation: for the `first` steps, which were written down, and `steps` more."""
        found: dict[int, list[Any]] = {}
        for place, row in enumerate(self.rows):
            if row.varies:
                written = range(self.begin + place, self.begin + place + first * self.period, self.period)
                before = [self.level.instructions[index] for index in written]
                seen = self.lights[place].seen[:steps]
                if len(row.like.back) == 1:
                    found[place] = [i.params["index"] for i in before] + [params["index"] for params in seen]
                else:
                    operands = [i.operands[row.number_at] for i in before]
                    found[place] = [x.value for x in operands if isinstance(x, Literal)] + seen
        return found

    def _folded(self, steps: int, wanted: set[int]) -> dict[int, Any] | None:
        """All whole steps as one loop: the places of the results in `wanted`; None if it cannot be one."""
        period, first = self.period, self.written
        if first + steps < STEPS_AT_LEAST or steps < STEPS:
            return None
        from gradtape.jit.trace.loops.body import Body
        from gradtape.jit.trace.loops.scan_op import scanned
        from gradtape.loops.scan import PARTS

        entering = dict(self.beginning.entering)
        stacked = sorted({n % period for n in wanted if n < (steps - STEPS + 1) * period})
        keys = {n: (n % period, steps - n // period) for n in wanted if n % period not in stacked}
        for origin, ago in (*keys.values(), *entering):
            for earlier in range(1, ago + 1):
                if (origin, earlier) not in entering:
                    value = self.rows[origin].model.results[0]
                    entering[origin, earlier] = np.zeros(value.shape, value.dtype)
        order = sorted(entering)
        try:
            body = Body(self.rows, self.beginning, order, self._varying(first, steps), stacked)
            carry = [entering[key] for key in order]
            found = as_from(self.rows[0], scanned, self.level, body, carry, body.walked or None, first + steps, False)
        except (Unrollable, Untraceable, GradTapeError):
            return None
        if found is None:
            return None
        last = dict(zip(order, found[0], strict=True))
        rows = [apply_at(self.rows[0], PARTS, (stack,), {"bounds": None}) for stack in found[1]]
        by_origin = dict(zip(stacked, rows, strict=True))
        places = {number: last[key] for number, key in keys.items()}
        collected = [number for number in wanted if number not in keys]
        places.update({number: by_origin[number % period][first + number // period] for number in collected})
        return places


def is_private(rows: Sequence[Row]) -> bool:
    """Whether nobody can ask for the gradient of one result by another: all tapes are those of transforms."""
    bits = 0
    for row in rows:
        bits |= row.live_bits
    return not bits & AMBIENT and all(r.is_private for r in rows[0].state.recorders if r.bit & bits)


def coasting(level: TraceLevel, rows: Sequence[Row], grounded: Collection[Any]) -> tuple[Coast, int] | None:
    """A coast for a loop of which all operations are known by `rows`, and after how many of these it can begin.

    It begins where the steps do: at the first instruction of the trace that comes again in each step. Loops that begin
    at a place in `grounded`, with the period that is noted there, are not for that.
    """
    if not ELIDES:
        return None
    state = rows[0].op and rows[0].state
    if any(row.op is None or row.state is not state or not _is_small(row) for row in rows):
        return None
    instructions, period = level.instructions, len(rows)
    end = len(instructions)
    begin = end - period
    while begin and is_same_place(instructions[begin - 1], instructions[begin - 1 + period], instructions[begin]):
        begin -= 1
    offset = (begin - end) % period
    turned = [*rows[offset:], *rows[:offset]]
    if (turned[0].model.location, period) in grounded:
        return None
    remembered = dict(level.remembered)
    while end - begin >= period:
        beginning = beginning_at(level, turned, begin, remembered)
        if beginning is not None:
            return Coast(level, turned, begin, beginning), offset
        begin += period
    return None


def _is_small(row: Row) -> bool:
    """Whether an operation can coast: on small arrays; what varies has to be an element of one, or a number."""
    if row.model.results[0].nbytes > SMALL or len(row.model.results) != 1:
        return False
    if not row.varies:
        return True
    if len(row.like.back) == 1:
        return row.same is not None and row.model.name == "getitem"
    own = row.model.operands[1 if row.reflected else 0]
    return isinstance(own, Value) and own.dtype is row.dtype and row.dtype.kind == "f"
