"""Loop nests: the code of what `planning` decided.

Within a nest nothing is stored but what somebody else will read. Inputs are strided, with strides that are known when
the nest is compiled; broadcasting is a stride of zero and costs no memory.

The order of arithmetic is fixed by shapes alone, so results are the same bits from run to run and for any number of
threads. A nest is divided into *units*, runs of the outer loops or pieces of the inner one, which can be computed in
any order by any thread. The inner loop works on vectors. Where the length is not a multiple of the vector's, the last
vector overlaps the one before it: elements are computed twice, to the same bits, rather than one at a time.

Sums are made in binary64, in as many separate lanes as the vector has, with fresh lanes every 32 vectors; each unit
leaves a partial sum, and partial sums are added up in their order with compensation.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir

from gradtape.jit.native import elementwise
from gradtape.jit.native.compiler import Machine
from gradtape.jit.native.elementwise import Elements, lane_type, memory_type
from gradtape.jit.native.expression import Lanes, Value
from gradtape.jit.native.planning import Nest, Plan, contiguous_steps

DType = np.dtype[Any]

LONG = ir.IntType(64)
POINTER = ir.PointerType()
VOID = ir.VoidType()

# Lanes of a vector: many where little is computed, to have more in flight; fewer where there is more to be kept in
# registers, and to be compiled.
LIGHT_WIDTH = 16
HEAVY_WIDTH = 8
LONG_WIDTH = 4
ROW_WIDTH = 32  # for short sums, which wait for their additions
SHORT = 4  # instructions
LIGHT = 24
LONG_BODY = 250
CHUNK = 8192  # elements of the inner loop in one unit
ROWS = 128  # rows of a column sum in one unit
FRESH = 32  # vectors added into one set of lanes

# -- from a nest to loops


@dataclasses.dataclass(frozen=True)
class Stored:
    """A value as something that is written."""

    value: Any


@dataclasses.dataclass
class Dimension:
    """One loop: its length, whether it is reduced, and the step of each array (in elements)."""

    size: int
    reduced: bool
    steps: dict[Any, int]


def _aligned(steps: Sequence[int], shape: tuple[int, ...], rank: int) -> list[int]:
    """The steps of a value along the axes of a nest: 0 along those it is stretched over."""
    own = [step if size != 1 else 0 for step, size in zip(steps, shape, strict=True)]
    return [0] * (rank - len(shape)) + own


def dimensions(nest: Nest, plan: Plan) -> list[Dimension]:
    """The loops of a nest, with neighbouring ones made one wherever all arrays allow it.

    Arrays are known by their value where they are read, by `Stored(value)` where they are written, and by the
    instruction for scatters and reductions.
    """
    rank = len(nest.shape)
    by_axis: dict[Any, list[int]] = {}
    for value in nest.loads:
        by_axis[value] = _aligned(plan.places[value].steps, value.shape, rank)
    for value in nest.stores:
        by_axis[Stored(value)] = _aligned(contiguous_steps(value.shape), value.shape, rank)
    for scatter in nest.scatters:
        by_axis[scatter] = _aligned(plan.target(scatter).steps, scatter.operands[0].shape, rank)
    for reduction in nest.reductions:
        kept = [axis for axis in range(rank) if axis not in nest.axes]
        along = dict(zip(kept, contiguous_steps(tuple(nest.shape[axis] for axis in kept)), strict=True))
        by_axis[reduction] = [along.get(axis, 0) for axis in range(rank)]
    made: list[Dimension] = []
    for axis, size in enumerate(nest.shape):
        if size == 1:
            continue
        new = Dimension(size, axis in nest.axes, {value: found[axis] for value, found in by_axis.items()})
        if made and made[-1].reduced == new.reduced:
            last = made[-1]
            if all(last.steps[value] == new.steps[value] * size for value in by_axis):
                made[-1] = Dimension(last.size * size, new.reduced, new.steps)
                continue
        made.append(new)
    if nest.reductions and not any(loop.reduced for loop in made):
        made.insert(0, Dimension(1, True, dict.fromkeys(by_axis, 0)))
    return made or [Dimension(1, False, dict.fromkeys(by_axis, 0))]


@dataclasses.dataclass
class NestCode:
    """What was emitted for a nest: the names of its functions, and how its work divides."""

    name: str
    units: int
    finish: str | None
    elements: int
    heavy: bool
    partial_sizes: dict[Any, int]  # reduction -> bytes of partial results


class NestEmitter:
    """Emits the functions of one nest: `name(buffers, begin, end)` for its units, `name_finish(buffers)` after them."""

    def __init__(
        self,
        module: Any,
        machine: Machine,
        name: str,
        nest: Nest,
        plan: Plan,
        slots: dict[Any, int],
        outlined: frozenset[str] = frozenset(),
    ) -> None:
        self.module, self.machine, self.name, self.nest, self.slots = module, machine, name, nest, slots
        self.plan, self.outlined = plan, outlined
        if 0 in nest.shape:
            return
        self.loops = dimensions(nest, plan)
        self.inner = self.loops[-1]
        self.heavy = any(instruction.name in elementwise.HEAVY for instruction in nest.instructions)
        length = len(nest.instructions)
        widest = LONG_WIDTH if length > LONG_BODY else HEAVY_WIDTH if self.heavy or length > LIGHT else LIGHT_WIDTH
        self.kind = "map" if not nest.reductions else "row" if self.inner.reduced else "column"
        if self.kind == "row" and not self.heavy and length <= SHORT and len(nest.reductions) == 1:
            widest = ROW_WIDTH
        self.width = 1 << (min(widest, self.inner.size).bit_length() - 1)
        self.chunks = -(-self.inner.size // CHUNK)
        self.outer = self.loops[:-1]
        self.rows: Dimension | None = None
        if self.kind == "column":  # the last reduced loop goes inside, its pieces outside
            position = max(i for i, loop in enumerate(self.outer) if loop.reduced)
            self.rows = self.outer[position]
            self.outer = self.outer[:position] + self.outer[position + 1 :]
        self.row_chunks = -(-self.rows.size // ROWS) if self.rows else 1
        self.counts = [loop.size for loop in self.outer] + [self.row_chunks, self.chunks]
        self.units = math.prod(self.counts)
        outer_reduced = math.prod(loop.size for loop in self.outer if loop.reduced)
        self.parts = outer_reduced * (self.chunks if self.kind == "row" else self.row_chunks)
        self.pointers: dict[Any, Any] = {}

    def emit(self) -> NestCode:
        if 0 in self.nest.shape:
            return self.emit_empty()
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER, LONG, LONG]), self.name)
        buffers, begin, end = function.args
        self.entry = function.append_basic_block("entry")
        self.builder = ir.IRBuilder(self.entry)
        self.lanes = Lanes(self.builder, self.width, self.machine.fused)
        self.elements = Elements(self.lanes, self.outlined)
        for key in self.inner.steps:
            address = self.builder.gep(buffers, [self.number(self.slots[self.memory(key)])], source_etype=POINTER)
            self.pointers[key] = self.builder.load(address, typ=POINTER)
        with self.loop(begin, end) as unit:
            self.emit_unit(unit)
        self.builder.ret_void()
        sizes, finish = {}, None
        if self.nest.reductions and self.parts > 1:
            finish = f"{self.name}_finish"
            self.emit_finish(finish)
            for reduction in self.nest.reductions:
                count = self.parts * max(1, math.prod(reduction.results[0].shape))
                sizes[reduction] = count * accumulator(reduction).itemsize
        elements = math.prod(loop.size for loop in self.loops)
        return NestCode(self.name, self.units, finish, elements, self.heavy, sizes)

    def memory(self, key: Any) -> Any:
        """In whose memory an array of the nest is: a value's, or that of a reduction's partial results."""
        if isinstance(key, Stored):
            return key.value
        if key in self.nest.reductions:
            return key.results[0] if self.parts == 1 else key
        return key.results[0] if key in self.nest.scatters else self.plan.places[key].root

    def start(self, key: Any) -> int:
        """At which element of that memory it begins."""
        if isinstance(key, Stored) or key in self.nest.reductions:
            return 0
        return self.plan.target(key).offset if key in self.nest.scatters else self.plan.places[key].offset

    def emit_empty(self) -> NestCode:
        """Nothing goes in: reductions are what they are of nothing, and there are no elements to store."""
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER, LONG, LONG]), self.name)
        self.entry = function.append_basic_block("entry")
        self.builder = ir.IRBuilder(self.entry)
        self.lanes = Lanes(self.builder, 1, self.machine.fused)
        self.elements = Elements(self.lanes)
        size = 0
        for reduction in self.nest.reductions:
            (result,) = reduction.results
            size = math.prod(result.shape)
            address = self.builder.gep(function.args[0], [self.number(self.slots[result])], source_etype=POINTER)
            pointer = self.builder.load(address, typ=POINTER)
            # a sum of nothing is plus zero
            value = self.elements.constant(result.dtype, identity(reduction) + 0)
            with self.loop(0, size) as place:
                self.store(value, result.dtype, pointer, place)
        self.builder.ret_void()
        return NestCode(self.name, 1 if size else 0, None, 0, False, {})

    # -- loops and addresses ----------------------------------------------------------------------------------

    @contextmanager
    def loop(self, begin: Any, end: Any) -> Iterator[Any]:
        """Code that is run for each whole number from begin up to end."""
        builder = self.builder
        if isinstance(begin, int) and isinstance(end, int) and end - begin == 1:
            yield ir.Constant(LONG, begin)
            return
        first, last = (ir.Constant(LONG, x) if isinstance(x, int) else x for x in (begin, end))
        before = builder.block
        head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
        builder.branch(head)
        builder.position_at_end(head)
        index = builder.phi(LONG)
        index.add_incoming(first, before)
        builder.cbranch(builder.icmp_signed("<", index, last), body, after)
        builder.position_at_end(body)
        self.lanes.enter()
        yield index
        self.lanes.leave()
        index.add_incoming(builder.add(index, ir.Constant(LONG, 1)), builder.block)
        builder.branch(head)
        builder.position_at_end(after)

    def number(self, value: int) -> Any:
        return ir.Constant(LONG, value)

    def minimum(self, left: Any, right: Any) -> Any:
        return self.builder.select(self.builder.icmp_signed("<", left, right), left, right)

    def plus_steps(self, offset: Any, index: Any, step: int) -> Any:
        if step == 0:
            return offset
        return self.builder.add(offset, index if step == 1 else self.builder.mul(index, self.number(step)))

    def local(self, kind: Any) -> Any:
        """Memory in the function's frame (a register, after optimisation)."""
        with self.builder.goto_block(self.entry):
            return self.builder.alloca(kind)

    def load(self, value: Any, offset: Any, step: int) -> Value:
        """A vector of elements from the offset on."""
        builder, kind, pointer = self.builder, memory_type(value.dtype), self.pointers[value]
        if step == 1:
            address = builder.gep(pointer, [offset], source_etype=kind)
            loaded = Value(self.lanes, builder.load(address, typ=self.lanes.type(kind), align=value.dtype.itemsize))
        elif step == 0:
            scalar = builder.load(
                builder.gep(pointer, [offset], source_etype=kind), typ=kind, align=value.dtype.itemsize
            )
            loaded = self.lanes.splat(scalar)
        else:
            vector = ir.Constant(self.lanes.type(kind), ir.Undefined)
            for lane in range(self.width):
                place = builder.add(offset, self.number(lane * step))
                address = builder.gep(pointer, [place], source_etype=kind)
                scalar = builder.load(address, typ=kind, align=value.dtype.itemsize)
                vector = builder.insert_element(vector, scalar, ir.Constant(ir.IntType(32), lane))
            loaded = Value(self.lanes, vector)
        return loaded.differs(0) if value.dtype == np.dtype(bool) else loaded

    def store(self, value: Value, dtype: DType, pointer: Any, offset: Any, step: int = 1) -> None:
        kind = memory_type(dtype)
        if dtype == np.dtype(bool):
            value = self.lanes.convert("zext", value, kind)
        if step != 1 and self.width > 1:
            for lane in range(self.width):
                place = self.builder.add(offset, self.number(lane * step))
                element = self.builder.extract_element(value.ir, ir.Constant(ir.IntType(32), lane))
                address = self.builder.gep(pointer, [place], source_etype=kind)
                self.builder.store(element, address, align=dtype.itemsize)
            return
        self.builder.store(value.ir, self.builder.gep(pointer, [offset], source_etype=kind), align=dtype.itemsize)

    # -- one unit ---------------------------------------------------------------------------------------------

    def emit_unit(self, unit: Any) -> None:
        builder = self.builder
        indices, rest = [], unit
        for count in reversed(self.counts):
            if count == 1:
                indices.append(self.number(0))
                continue
            indices.append(builder.urem(rest, self.number(count)))
            rest = builder.udiv(rest, self.number(count))
        indices.reverse()
        *outer, row_chunk, chunk = indices
        offsets = {}
        for key in self.inner.steps:
            offset = self.number(self.start(key))
            for loop, index in zip(self.outer, outer, strict=True):
                offset = self.plus_steps(offset, index, loop.steps[key])
            offsets[key] = offset
        part = self.number(0)
        for loop, index in zip(self.outer, outer, strict=True):
            if loop.reduced:
                part = builder.add(builder.mul(part, self.number(loop.size)), index)
        pieces, piece = (self.chunks, chunk) if self.kind == "row" else (self.row_chunks, row_chunk)
        part = builder.add(builder.mul(part, self.number(pieces)), piece)
        values: dict[Any, Value] = {}
        self.compute(values, 0, offsets, None)
        first = builder.mul(chunk, self.number(CHUNK))
        length = self.minimum(self.number(CHUNK), builder.sub(self.number(self.inner.size), first))
        blocks: Any = builder.udiv(builder.add(length, self.number(self.width - 1)), self.number(self.width))
        if self.chunks == 1:
            blocks = -(-self.inner.size // self.width)
        if self.kind == "row":
            self.emit_row(values, offsets, first, blocks, part)
            return
        with self.loop(0, blocks) as block:
            place, _ = self.place(first, block)
            if self.kind == "column":
                self.emit_column(values, offsets, place, row_chunk, part)
            else:
                self.compute(values, 1, offsets, place)
                self.store_all(values, offsets, place)

    def place(self, first: Any, block: Any) -> tuple[Any, Any]:
        """Where a block begins, moved back if it would reach over the end, and where it would have begun."""
        wanted = self.builder.add(first, self.builder.mul(block, self.number(self.width)))
        if self.inner.size % self.width == 0:
            return wanted, wanted
        return self.minimum(wanted, self.number(self.inner.size - self.width)), wanted

    def level(self, value: Any) -> int:
        """0: the same for the whole unit; 1: varies along the inner loop; 2: varies along the rows of a column sum."""
        if self.rows is not None and self.rows.steps[value]:
            return 2
        return 1 if self.inner.steps[value] else 0

    def compute(
        self, values: dict[Any, Value], level: int, offsets: dict[Any, Any], place: Any, row: Any = None
    ) -> None:
        """Loads and instructions that vary at this level and no deeper; adds to `values`."""
        levels: dict[Any, int] = {value: self.level(value) for value in self.nest.loads}
        for value in self.nest.loads:
            if levels[value] == level and value not in values:
                offset = offsets[value]
                if row is not None and self.rows is not None:
                    offset = self.plus_steps(offset, row, self.rows.steps[value])
                step = self.inner.steps[value]
                if place is not None:
                    offset = self.plus_steps(offset, place, step)
                values[value] = self.load(value, offset, step)
        for instruction in self.nest.instructions:
            operands = instruction.operands
            (result,) = instruction.results
            levels[result] = max((levels[x] for x in operands if hasattr(x, "dtype")), default=0)
            if levels[result] == level and result not in values:
                lanes = [values[x] if hasattr(x, "dtype") else None for x in operands]
                values[result] = elementwise.emit(self.elements, instruction, lanes)

    def store_all(self, values: dict[Any, Value], offsets: dict[Any, Any], place: Any, row: Any = None) -> None:
        targets = [(Stored(value), value) for value in self.nest.stores]
        targets += [(scatter, scatter.operands[0]) for scatter in self.nest.scatters]
        for key, value in targets:
            offset = offsets[key]
            if row is not None and self.rows is not None:
                offset = self.plus_steps(offset, row, self.rows.steps[key])
            step = self.inner.steps[key]
            offset = self.plus_steps(offset, place, step)
            self.store(values[value], value.dtype, self.pointers[key], offset, step)

    # -- reductions -------------------------------------------------------------------------------------------

    def accumulators(self) -> list[Any]:
        return [self.local(self.lanes.type(lane_type(accumulator(r)))) for r in self.nest.reductions]

    def reset(self, places: Sequence[Any]) -> None:
        for reduction, place in zip(self.nest.reductions, places, strict=True):
            self.builder.store(self.identity(reduction).ir, place)

    def identity(self, reduction: Any) -> Value:
        return self.elements.constant(accumulator(reduction), identity(reduction))

    def add(self, reduction: Any, place: Any, value: Value) -> None:
        old = Value(self.lanes, self.builder.load(place, typ=value.ir.type))
        self.builder.store(combine(self.elements, reduction, old, value).ir, place)

    def term(self, reduction: Any, values: dict[Any, Value]) -> Value:
        operand = reduction.operands[0]
        return self.elements.cast(values[operand], operand.dtype, accumulator(reduction))

    def emit_row(self, values: dict[Any, Value], offsets: dict[Any, Any], first: Any, blocks: Any, part: Any) -> None:
        """The inner loop is reduced: lanes are added up, then the lanes among themselves."""
        totals = self.accumulators()
        self.reset(totals)
        few = isinstance(blocks, int) and blocks <= FRESH
        fresh = totals if few else self.accumulators()
        rounds = 1 if few else -(-(CHUNK // self.width) // FRESH)
        with self.loop(0, rounds) as turn:
            last = blocks
            if not few:
                self.reset(fresh)
                count = self.number(blocks) if isinstance(blocks, int) else blocks
                begin = self.minimum(self.builder.mul(turn, self.number(FRESH)), count)
                last = self.minimum(self.builder.add(begin, self.number(FRESH)), count)
            with self.loop(0 if few else begin, last) as block:
                place, wanted = self.place(first, block)
                inside = dict(values)
                self.compute(inside, 1, offsets, place)
                self.store_all(inside, offsets, place)
                mask = None
                if place is not wanted:
                    lane_numbers = ir.Constant(self.lanes.type(LONG), [self.number(i) for i in range(self.width)])
                    skipped = self.lanes.splat(self.builder.sub(wanted, place))
                    mask = self.lanes.compare(">=", Value(self.lanes, lane_numbers), skipped)
                for reduction, memory in zip(self.nest.reductions, fresh, strict=True):
                    term = self.term(reduction, inside)
                    if mask is not None:
                        term = self.lanes.select(mask, term, self.identity(reduction))
                    self.add(reduction, memory, term)
            if not few:
                for reduction, total, memory in zip(self.nest.reductions, totals, fresh, strict=True):
                    kind = self.lanes.type(lane_type(accumulator(reduction)))
                    self.add(reduction, total, Value(self.lanes, self.builder.load(memory, typ=kind)))
        for reduction, total in zip(self.nest.reductions, totals, strict=True):
            kind = self.lanes.type(lane_type(accumulator(reduction)))
            value = self.across(reduction, Value(self.lanes, self.builder.load(total, typ=kind)))
            self.leave(reduction, value, offsets[reduction], part)

    def across(self, reduction: Any, value: Value) -> Value:
        """The lanes combined in halves, as a vector of one lane."""
        lanes = self.lanes
        while lanes.width > 1:
            half = Lanes(self.builder, lanes.width // 2, lanes.fused)
            parts = []
            for start in (0, half.width):
                mask = [ir.Constant(ir.IntType(32), start + i) for i in range(half.width)]
                index = ir.Constant(ir.VectorType(ir.IntType(32), half.width), mask)
                parts.append(Value(half, self.builder.shuffle_vector(value.ir, value.ir, index)))
            value = combine(Elements(half), reduction, parts[0], parts[1])
            lanes = half
        return value

    def emit_column(
        self, values: dict[Any, Value], offsets: dict[Any, Any], place: Any, row_chunk: Any, part: Any
    ) -> None:
        """The inner loop is kept: each lane adds up its column."""
        assert self.rows is not None
        inside = dict(values)
        self.compute(inside, 1, offsets, place)
        totals = self.accumulators()
        self.reset(totals)
        begin: Any = 0
        end: Any = self.rows.size
        if self.row_chunks > 1:
            begin = self.builder.mul(row_chunk, self.number(ROWS))
            end = self.minimum(self.builder.add(begin, self.number(ROWS)), self.number(self.rows.size))
        with self.loop(begin, end) as row:
            deep = dict(inside)
            self.compute(deep, 2, offsets, place, row)
            self.store_all(deep, offsets, place, row)
            for reduction, memory in zip(self.nest.reductions, totals, strict=True):
                self.add(reduction, memory, self.term(reduction, deep))
        for reduction, memory in zip(self.nest.reductions, totals, strict=True):
            kind = self.lanes.type(lane_type(accumulator(reduction)))
            value = Value(self.lanes, self.builder.load(memory, typ=kind))
            offset = self.plus_steps(offsets[reduction], place, self.inner.steps[reduction])
            self.leave(reduction, value, offset, part)

    def leave(self, reduction: Any, value: Value, offset: Any, part: Any) -> None:
        """Store a reduction's result, or what one unit contributes to it."""
        if self.parts == 1:
            dtype = reduction.results[0].dtype
            result = finished(Elements(value.lanes), reduction, value)
            self._store_in(value.lanes, result, dtype, self.pointers[reduction], offset)
            return
        size = max(1, math.prod(reduction.results[0].shape))
        offset = self.builder.add(self.builder.mul(part, self.number(size)), offset)
        self._store_in(value.lanes, value, accumulator(reduction), self.pointers[reduction], offset)

    def _store_in(self, lanes: Lanes, value: Value, dtype: DType, pointer: Any, offset: Any) -> None:
        mine, self.lanes = self.lanes, lanes
        self.store(value, dtype, pointer, offset)
        self.lanes = mine

    def emit_finish(self, name: str) -> None:
        """Add up what the units left, part by part in their order, for several results at a time."""
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER]), name)
        self.entry = function.append_basic_block("entry")
        self.builder = ir.IRBuilder(self.entry)
        for reduction in self.nest.reductions:
            (result,) = reduction.results
            size = max(1, math.prod(result.shape))
            width = 1 << (min(HEAVY_WIDTH, size).bit_length() - 1)
            self.lanes = Lanes(self.builder, width, self.machine.fused)
            self.elements = Elements(self.lanes)
            pointers = []
            for key in (reduction, result):
                address = self.builder.gep(function.args[0], [self.number(self.slots[key])], source_etype=POINTER)
                pointers.append(self.builder.load(address, typ=POINTER))
            dtype = accumulator(reduction)
            kind, memory = self.lanes.type(lane_type(dtype)), memory_type(dtype)
            total, error = self.local(kind), self.local(kind)
            compensated = dtype.kind == "f" and reduction.name in ("sum", "mean")
            with self.loop(0, -(-size // width)) as block:
                place = self.builder.mul(block, self.number(width))
                place = self.minimum(place, self.number(size - width))
                self.builder.store(self.identity(reduction).ir, total)
                if compensated:
                    self.builder.store(self.identity(reduction).ir, error)
                with self.loop(0, self.parts) as part:
                    offset = self.builder.add(self.builder.mul(part, self.number(size)), place)
                    address = self.builder.gep(pointers[0], [offset], source_etype=memory)
                    loaded = self.builder.load(address, typ=self.lanes.type(memory), align=dtype.itemsize)
                    term = Value(self.lanes, loaded)
                    if dtype == np.dtype(bool):
                        term = term.differs(0)
                    self.add_compensated(reduction, total, error, term, compensated)
                value = Value(self.lanes, self.builder.load(total, typ=kind))
                if compensated:
                    value = self.compensation(value, Value(self.lanes, self.builder.load(error, typ=kind)))
                self.store(finished(self.elements, reduction, value), result.dtype, pointers[1], place)
        self.builder.ret_void()

    def add_compensated(self, reduction: Any, total: Any, error: Any, term: Value, compensated: bool) -> None:
        if not compensated:
            self.add(reduction, total, term)
            return
        old = Value(self.lanes, self.builder.load(total, typ=term.ir.type))
        new = old + term
        shift = new - old
        lost = (old - (new - shift)) + (term - shift)
        self.builder.store(new.ir, total)
        self.add(reduction, error, lost)

    def compensation(self, total: Value, error: Value) -> Value:
        """Total plus what was lost, unless the total is infinite or NaN: then what was lost means nothing."""
        return self.lanes.select(self.lanes.absolute(total) < math.inf, total + error, total)


# -- what reductions are made of


def accumulator(reduction: Any) -> DType:
    """The dtype a reduction is computed in: sums and products of floats in binary64."""
    result: DType = reduction.results[0].dtype
    if result.kind == "f" and reduction.name in ("sum", "mean", "prod"):
        return np.dtype(np.float64)
    return result


def identity(reduction: Any) -> Any:
    """What makes no difference to a reduction."""
    dtype = accumulator(reduction)
    if reduction.name in ("max", "min"):
        lowest, highest = (-math.inf, math.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        return lowest if reduction.name == "max" else highest
    # minus zero, so that a sum of minus zeros is one too
    zero: float = -0.0 if dtype.kind == "f" else 0
    return {"sum": zero, "mean": zero, "prod": 1, "all": True, "any": False}[reduction.name]


def combine(elements: Elements, reduction: Any, left: Value, right: Value) -> Value:
    dtype = accumulator(reduction)
    table: dict[str, Callable[[], Value]] = {
        "max": lambda: elementwise.maximum(elements, dtype, left, right),
        "min": lambda: elementwise.minimum(elements, dtype, left, right),
        "prod": lambda: left * right,
        "all": lambda: left & right,
        "any": lambda: left | right,
    }
    return table[reduction.name]() if reduction.name in table else left + right


def finished(elements: Elements, reduction: Any, value: Value) -> Value:
    """The result of a reduction from its accumulator."""
    operand, result = reduction.operands[0], reduction.results[0]
    if reduction.name == "mean":
        value = value / float(math.prod(operand.shape) // max(1, math.prod(result.shape)))
    return elements.cast(value, accumulator(reduction), result.dtype)


def emit_zeros(module: Any, name: str, slot: int, size: int) -> NestCode:
    """A function like a nest's that fills `size` bytes of memory with zeros."""
    function = ir.Function(module, ir.FunctionType(VOID, [POINTER, LONG, LONG]), name)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    address = builder.gep(function.args[0], [ir.Constant(LONG, slot)], source_etype=POINTER)
    fill = module.declare_intrinsic("llvm.memset", (POINTER, LONG))
    byte, plain = ir.Constant(ir.IntType(8), 0), ir.Constant(ir.IntType(1), 0)
    builder.call(fill, [builder.load(address, typ=POINTER), byte, ir.Constant(LONG, size), plain])
    builder.ret_void()
    return NestCode(name, 1, None, 0, False, {})
