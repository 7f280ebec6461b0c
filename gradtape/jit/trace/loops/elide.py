"""Loop eliding: after enough matching iterations, later ones are executed but not recorded; then one `Loop` is emitted.

Further iterations of a detected loop (`gradtape.jit.trace.loops.detect`) add no information. So an operation is only
compared with its template and computed (`gradtape.jit.trace.loops.elide_op`); its result is a tensor without a program
value and without a node. When another operation comes, or the value or the node of a result is read, the loop ends: all
iterations, including those recorded before, are emitted as one loop, as `gt.scan` would emit it
(`gradtape.jit.trace.loops.scan_op`), and results that are still referenced get their values and nodes from it.

Results of which a user's tape may be asked for the gradient with respect to one another are computed again and
recorded one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import recording
from gradtape.core.graph import AMBIENT, LIFTED, TENSOR
from gradtape.core.location import Location, call_at
from gradtape.core.operation import Op, elision_hooks
from gradtape.core.references import ALONE, COUNTS_ITEMS, references_of
from gradtape.errors import GradTapeError
from gradtape.jit.errors import Unrollable, Untraceable
from gradtape.jit.ir.locations import apply_at
from gradtape.jit.ir.program import Literal, Value, params_key
from gradtape.jit.passes.reroll.segment import MIN_MATCHES
from gradtape.jit.trace.loops.elide_op import ElidedGeneralOp, ElidedOp, FirstElidedOp
from gradtape.jit.trace.loops.live_in import LiveIn, find_live_in, is_same_place
from gradtape.jit.trace.loops.template import MAX_ELIDED_BYTES, OpTemplate, RecordedOp
from gradtape.jit.trace.tracers import TraceTensor
from gradtape.loops.scan import PARTS

if TYPE_CHECKING:
    from gradtape.jit.trace.tracer import TracingLevel

MIN_EMITTED_STEPS = 50
"""Minimum number of iterations for which a loop is emitted."""
FIRST_SWEEP, SWEEP = 512, 4096
"""How many results are kept before those without other references are dropped: the first time, and later."""
RECENT_OPS = 1 << 13
"""How many recorded operations are kept with their operands: the first iterations of a loop may be among them."""

VIEWS_OF_VIEWS = 8
"""How many views of views of a tensor are dropped one after the other."""

ELIDES = COUNTS_ITEMS
"""Whether loops are elided: requires reference counts that tell which results are still referenced."""


class ElidedLoop:
    """A loop whose iterations are executed without being recorded.

    Its operations are numbered from 0; operations of the recorded iterations before it have negative numbers.
    """

    def __init__(self, level: TracingLevel, templates: Sequence[OpTemplate], begin: int, live_in: LiveIn) -> None:
        self.level, self.templates, self.period = level, templates, len(templates)
        self.begin = begin  # the first instruction of the first iteration
        self.live_in = live_in
        self.is_active = False
        self.limit = 0
        self.results: list[Any] = [None] * ((MIN_MATCHES - 1) * self.period)
        self._first = -len(self.results)  # the number of results[0]
        self._before: dict[int, Any] = {}  # recorded values that the first elided iterations read, by number
        self._kept: dict[int, Any] = {}  # results with other references at the last sweep
        # the recorded iterations; None for operations that are no longer in `recent_ops`
        self._recorded_ops: list[tuple[Value, RecordedOp | None]] = []
        self.state = next(template.state for template in templates if template.op is not None)
        self.is_private = is_private(templates, self.state)
        self.elided_ops = [_elided_op(self, template, place) for place, template in enumerate(templates)]
        for place, elided_op in enumerate(self.elided_ops):
            elided_op.next = self.elided_ops[(place + 1) % self.period]
        self._hook = self._apply
        if any(template.op is None for template in templates):
            elision_hooks.append(self._hook)

    @property
    def where(self) -> Location:
        """The source location of the first operation."""
        return self.templates[0].model.location

    @property
    def _count(self) -> int:
        """How many operations were executed without recording."""
        return self._first + len(self.results)

    def _referenced(self, count: int) -> dict[int, Any]:
        """Those of the first `count` results that have other references, by number; the others are dropped.

        A view refers to the tensor that it is a view of. So views are dropped first, and what they refer to after them.
        """
        results = self.results
        for _ in range(VIEWS_OF_VIEWS):
            references = references_of(islice(results, count))
            alone = [place for place, found in enumerate(references) if found <= ALONE]
            for place in alone:
                results[place] = None
            if not alone:
                break
        held = [place for place, found in enumerate(references) if found > ALONE and results[place] is not None]
        return {self._first + place: results[place] for place in held if self._first + place >= 0}

    # -- while iterations are elided

    def _apply(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Compute an operation on the general path, if it is the expected one; else NotImplemented."""
        expected = self.level.expected
        return expected.apply(op, inputs, params) if type(expected) is ElidedGeneralOp else NotImplemented

    def sweep(self) -> bool:
        """Drop results without other references. False (stop eliding) if a kept result could be a gradient source."""
        results = self.results
        if not self.is_active:
            self._activate()
            return True
        old = len(results) - (MIN_MATCHES - 1) * self.period
        held = self._referenced(old)
        if held and not self.is_private:
            self.level.detector.stop()
            return False
        self._kept.update(held)
        del results[:old]
        self._first += old
        self.limit = max(SWEEP, 2 * len(results))
        return True

    def _activate(self) -> None:
        level, period = self.level, self.period
        self.is_active = True
        self.limit = max(FIRST_SWEEP, 2 * len(self.results))
        self.start = len(level.instructions)
        self.level.detector.begin_eliding(self)
        self.recorded_steps = (self.start - self.begin) // period  # how many iterations were recorded
        known = dict(level.recent_ops)
        results = [i.results[0] for i in level.instructions[self.begin : self.start]]
        self._recorded_ops = [(value, known.get(value.id)) for value in results]

    def is_recorded_operand(self, tensor: Any, back: int, bits: int) -> bool:
        """Whether `tensor` is the value recorded `back` values ago, before the first elided operation."""
        number = self._count - back
        if number >= 0:
            return False
        value, node = tensor.traced, tensor._node  # ends the loop if `tensor` is a result of this loop
        if not self.is_active:
            return False
        nodes = self.templates[0].nodes
        if self.level._count - value.id != -number or (nodes[number] or node) is not node or node.bits != bits:
            return False
        self._before[number] = TraceTensor(tensor._array, value, self.level, node)
        return True

    # -- when the loop ends

    def emit(self) -> bool:
        """Emit the loop, and give referenced results their values and nodes. Whether all of it became one loop."""
        self.is_active = False
        period, steps = self.period, self._count // self.period
        is_known = all(written is not None for _, written in self._recorded_ops)
        held, before = self._all_referenced(), self._referenced_before()
        last = max(held, default=-1)
        if last < 0:
            return steps >= MIN_EMITTED_STEPS
        whole = steps
        if self.is_private:
            held.update(before)
        else:  # gradients between results are possible: record from the first referenced iteration on
            whole = min(held) // period
            if before or not is_known:
                self._exclude_recorded_steps()
        wanted = {*held, *self._operands_of(range(whole * period, last + 1))}
        with recording.during(self.state):
            places = self._emit_loop(whole, {number for number in wanted if number < whole * period})
            is_loop = places is not None
            if places is None:
                places, whole = dict(self._before), 0
            for number in range(whole * period, last + 1):
                places[number] = self._replay(number, places)
        for number, tensor in held.items():
            if number in places:
                tensor.traced, tensor._node = places[number].traced, places[number]._node
        self.level.recent_ops.clear()  # the results of what was recorded here are those of other tensors
        return is_loop and whole >= steps - MIN_MATCHES

    def _all_referenced(self) -> dict[int, Any]:
        """All results that have other references."""
        held, kept = self._referenced(len(self.results)), self._kept
        for _ in range(VIEWS_OF_VIEWS):
            references = references_of(kept.values())
            alone = [number for number, found in zip(kept, references, strict=True) if found <= ALONE]
            for number in alone:
                del kept[number]
            if not alone:
                break
        return held | kept

    def _referenced_before(self) -> dict[int, Any]:
        """The results of recorded iterations that have other references."""
        self.level.recent_ops.clear()  # it keeps inputs alive, as `_recorded_ops` does
        results = [(value, None if written is None else written.result) for value, written in self._recorded_ops]
        self._recorded_ops.clear()
        tensors = [(value, None if result is None else result()) for value, result in results]
        return {
            number: tensor
            for number, (value, tensor) in enumerate(tensors, -len(tensors))
            if tensor is not None and tensor.traced is value
        }

    def _exclude_recorded_steps(self) -> None:
        """Let the loop begin with the first elided iteration instead of the recorded ones."""
        self.begin, self.recorded_steps = self.start, 0
        self.live_in.initial_carries = {
            (number % self.period, -(number // self.period)): tensor for number, tensor in self._before.items()
        }

    def release(self) -> None:
        """Drop all results and break reference cycles."""
        self._kept.clear()
        if self._hook in elision_hooks:
            elision_hooks.remove(self._hook)
        for elided_op in self.elided_ops:
            del elided_op.next, elided_op.loop  # reference cycles
        self.results.clear()

    def _operands_of(self, numbers: range) -> set[int]:
        """The numbers of the operations whose results the operations `numbers` read."""
        return {
            number - back for number in numbers for back in self.templates[number % self.period].offsets.back if back
        }

    def _replay(self, number: int, places: dict[int, Any]) -> Any:
        """Compute an operation again and record it; `places` are the results of earlier operations."""
        step, place = divmod(number, self.period)
        template, elided_op = self.templates[place], self.elided_ops[place]
        inputs = [
            places[number - back] if back else operand
            for back, operand in zip(template.offsets.back, self.live_in.operands[place], strict=True)
        ]
        params = template.params
        if template.varies:
            if len(inputs) == 1:
                params = elided_op.seen[step]
            else:
                inputs[template.number_at] = elided_op.seen[step]
        return apply_at(template, template.model.op, inputs, params)

    def _collect_varying(self, first: int, steps: int) -> dict[int, list[Any]]:
        """The literals or indices that vary, by operation: of the `first` recorded iterations and of `steps` more."""
        found: dict[int, list[Any]] = {}
        for place, template in enumerate(self.templates):
            if template.varies:
                written = range(self.begin + place, self.begin + place + first * self.period, self.period)
                before = [self.level.instructions[index] for index in written]
                seen = self.elided_ops[place].seen[:steps]
                if len(template.offsets.back) == 1:
                    found[place] = [i.params["index"] for i in before] + [params["index"] for params in seen]
                else:
                    operands = [i.operands[template.number_at] for i in before]
                    found[place] = [x.value for x in operands if isinstance(x, Literal)] + seen
        return found

    def _emit_loop(self, steps: int, wanted: set[int]) -> dict[int, Any] | None:
        """Emit all complete iterations as one loop; the tensors of the results in `wanted`. None if it is refused."""
        period, first = self.period, self.recorded_steps
        if first + steps < MIN_EMITTED_STEPS or steps < MIN_MATCHES:
            return None
        from gradtape.jit.trace.loops.body import ElidedBody, invariant_operations
        from gradtape.jit.trace.loops.scan_op import trace_scan

        initial_carries = dict(self.live_in.initial_carries)
        invariant = set(invariant_operations(self.templates))
        constant = {n for n in wanted if n % period in invariant}  # hoisted out of the loop
        wanted = wanted - constant
        stacked = sorted({n % period for n in wanted if n < (steps - MIN_MATCHES + 1) * period})
        keys = {n: (n % period, steps - n // period) for n in wanted if n % period not in stacked}
        for origin, ago in (*keys.values(), *initial_carries):
            for earlier in range(1, ago + 1):
                if (origin, earlier) not in initial_carries:
                    value = self.templates[origin].model.results[0]
                    initial_carries[origin, earlier] = np.zeros(value.shape, value.dtype)
        order = sorted(initial_carries)
        try:
            body = ElidedBody(self.templates, self.live_in, order, self._collect_varying(first, steps), stacked)
            carry = [initial_carries[key] for key in order]
            found = call_at(
                self.templates[0], trace_scan, self.level, body, carry, body.walked or None, first + steps, False
            )
        except (Unrollable, Untraceable, GradTapeError):
            return None
        if found is None:
            return None
        last = dict(zip(order, found[0], strict=True))
        stacks = [apply_at(self.templates[0], PARTS, (stack,), {"bounds": None}) for stack in found[1]]
        by_origin = dict(zip(stacked, stacks, strict=True))
        places = {number: last[key] for number, key in keys.items()}
        places.update({number: body.invariant[number % period] for number in constant})
        collected = [number for number in wanted if number not in keys]
        places.update({number: by_origin[number % period][first + number // period] for number in collected})
        return places


def _elided_op(loop: ElidedLoop, template: OpTemplate, place: int) -> ElidedOp:
    if template.op is None:
        return ElidedGeneralOp(loop, template)
    return ElidedOp(loop, template) if place else FirstElidedOp(loop, template)


def is_private(templates: Sequence[OpTemplate], state: recording.Recording) -> bool:
    """Whether no gradient between results can be requested: all tapes belong to transforms, not to the user."""
    bits = 0
    for template in templates:
        bits |= template.live_bits
    return not bits & AMBIENT and all(r.is_private for r in state.recorders if r.bit & bits)


def plan_elided_loop(
    level: TracingLevel, templates: Sequence[OpTemplate], not_elidable: Collection[Any]
) -> tuple[ElidedLoop, int] | None:
    """The loop to elide, and after how many operations of `templates` its first elided iteration begins; None if not.

    An iteration begins with the first instruction of the trace that repeats in each iteration. Loops whose start and
    period are in `not_elidable` are excluded.
    """
    if not ELIDES:
        return None
    states = {id(template.state): template.state for template in templates if template.op is not None}
    if len(states) != 1 or not all(_is_small(template) for template in templates):
        return None
    ((_, state),) = states.items()
    recent_ops = dict(level.recent_ops)
    if not all(template.op is not None or _complete(level, template, recent_ops, state) for template in templates):
        return None
    instructions, period = level.instructions, len(templates)
    end = len(instructions)
    begin = end - period
    while begin and is_same_place(instructions[begin - 1], instructions[begin - 1 + period], instructions[begin]):
        begin -= 1
    offset = (begin - end) % period
    rotated = [*templates[offset:], *templates[:offset]]
    if (rotated[0].model.location, period) in not_elidable:
        return None
    while end - begin >= period:
        live_in = find_live_in(level, rotated, begin, recent_ops)
        if live_in is not None:
            return ElidedLoop(level, rotated, begin, live_in), offset
        begin += period
    return None


def _complete(
    level: TracingLevel, template: OpTemplate, recent_ops: dict[int, RecordedOp], state: recording.Recording
) -> bool:
    """Whether an operation on the general path can be elided: it is recorded as one on the fast path would be."""
    model = template.model
    recorded = recent_ops.get(model.results[0].id)
    if recorded is None or model.location.code is None:
        return False
    if params_key(model.params) is None or not level.draws_nothing(model.op):
        return False
    template.complete(recorded)
    live = template.live_bits
    bits = 0
    for parent in template.parents:
        bits |= parent.bits
    if bits & ~(live | TENSOR | LIFTED) or live & (state.forward | level.outer.bits):
        return False
    return not live or template.made.recording is state


def _is_small(template: OpTemplate) -> bool:
    """Whether an operation can be elided: a small result; what varies is an index or a number in float arithmetic."""
    if template.model.results[0].nbytes > MAX_ELIDED_BYTES or len(template.model.results) != 1:
        return False
    if not template.varies:
        return True
    if template.op is None:
        return False
    if len(template.offsets.back) == 1:
        return template.same is not None and template.model.name == "getitem"
    own = template.model.operands[1 if template.reflected else 0]
    return isinstance(own, Value) and own.dtype is template.dtype and template.dtype.kind == "f"
