"""Emits the loop nests of a `FusionPlan`.

A nest stores only what other steps read. Inputs are strided, with strides that are known when the nest is compiled;
broadcasting is a stride of zero and costs no memory.

A nest is divided into *units*, ranges of the outer loops or chunks of the inner one, which can be computed in any order
by any thread. The inner loop works on vectors. Where the length is not a multiple of the vector's, the last vector
overlaps the one before it: elements are computed twice, to the same bits, rather than one at a time.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.jit.ir.program import Instruction
from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.emit.builder import start_builder
from gradtape.jit.native.emit.elementwise import Elements
from gradtape.jit.native.emit.loops import (
    LONG,
    POINTER,
    STATUS,
    VOID,
    ArrayKey,
    Dimension,
    SlotKey,
    Stored,
    copy_if_apart,
    dimensions,
    emit_clear,
)
from gradtape.jit.native.emit.reduction import CHUNK, ROWS, Reducing, accumulator, identity, sum_lanes
from gradtape.jit.native.emit.vectors import Lanes, Vector
from gradtape.jit.native.lower.ir import CHECK_INDEX, GATHER, AnyInstruction, ArrayValue, LoweredInstruction, is_value
from gradtape.jit.native.lower.support import ZERO_OUTSIDE
from gradtape.jit.native.runtime.llvm import Machine
from gradtape.jit.native.schedule.fusion import FusionPlan
from gradtape.jit.native.schedule.layout import Layout
from gradtape.jit.native.schedule.steps import Nest

# Lanes of a vector: many for short bodies, so that more loads are in flight; fewer for long ones, which need more
# registers and more time to compile. No result depends on the width.
LIGHT_WIDTH = 16
HEAVY_WIDTH = 8
LONG_WIDTH = 4
ROW_WIDTH = 32  # for sums of short bodies, which are bound by the latency of additions
APART_WIDTH = 8  # where elements are not adjacent in memory, so that each lane has its own load
SHORT = 4  # instructions
LIGHT = 24
LONG_BODY = 250
MANY_TOTALS = 4
SHORT_ROW = 4  # vectors
# For estimates of the time that a nest takes:
FEW_VECTORS = 2  # of an inner loop that is short
SHORT_LOOP = 1.5
USUAL, USUAL_HEAVY = 8, 128  # instructions and accesses of a body, which take the usual time for each element
LONG_LOOP_BODY = 40


@dataclasses.dataclass(eq=False)
class NestCode:
    """What was emitted for a nest: the names of its functions, the number of units, and a measure of its work.

    Where the body of a loop shares code with others, `record` is the place of the numbers that the function is given.
    """

    name: str
    units: int
    finish: str | None
    elements: int
    heavy: bool
    partial_sizes: dict[Any, int]  # reduction -> bytes of partial results
    record: int | None = None


class NestEmitter(Reducing):
    """Emits the functions of one nest: `name(buffers, begin, end)` for its units, `name_finish(buffers)` after them."""

    def __init__(
        self,
        module: ir.Module,
        machine: Machine,
        name: str,
        nest: Nest,
        plan: FusionPlan,
        slots: dict[Any, int],
        outlined: frozenset[str] = frozenset(),
    ) -> None:
        self.module, self.machine, self.name, self.nest, self.slots = module, machine, name, nest, slots
        self.plan = plan
        # a call would save and restore all totals of the reductions
        self.outlined = outlined if len(nest.reductions) < MANY_TOTALS else frozenset()
        if 0 in nest.shape:
            return
        self.loops = dimensions(nest, plan)
        self.inner = self.loops[-1]
        self.fixed = self.find_fixed()
        varying = [instruction for instruction in nest.instructions if instruction not in self.fixed]
        self.heavy = any(instruction.name in elementwise.HEAVY for instruction in varying)
        length = len(varying)
        long_width = HEAVY_WIDTH if "+avx512f" in machine.features else LONG_WIDTH  # of vectors in one register each
        widest = long_width if length > LONG_BODY else HEAVY_WIDTH if self.heavy or length > LIGHT else LIGHT_WIDTH
        if widest == HEAVY_WIDTH and elementwise.is_wide(varying):
            widest = LIGHT_WIDTH
        self.kind = "map" if not nest.reductions else "row" if self.inner.reduced else "column"
        if self.kind == "row" and not self.heavy and length <= SHORT and len(nest.reductions) == 1:
            widest = ROW_WIDTH
        if any(step not in (0, 1) for step in self.inner.steps.values()):
            widest = min(widest, APART_WIDTH)
        self.low = max((low for low, _ in self.inner.windows.values()), default=0)
        self.high = min((high for _, high in self.inner.windows.values()), default=self.inner.size)
        longest = sum_lanes(self.inner.size) if self.kind == "row" else self.high - self.low
        self.width = 1 << (max(min(widest, longest), 1).bit_length() - 1)
        self.chunks = -(-self.inner.size // CHUNK)
        self.outer = self.loops[:-1]
        self.rows: Dimension | None = None
        if self.kind == "column":  # the last reduced loop becomes the innermost one; its chunks are units
            position = max(i for i, loop in enumerate(self.outer) if loop.reduced)
            self.rows = self.outer[position]
            self.outer = self.outer[:position] + self.outer[position + 1 :]
        self.row_chunks = -(-self.rows.size // ROWS) if self.rows else 1
        self.counts = [loop.size for loop in self.outer] + [self.row_chunks, self.chunks]
        self.units = math.prod(self.counts)
        outer_reduced = math.prod(loop.size for loop in self.outer if loop.reduced)
        self.parts = outer_reduced * (self.chunks if self.kind == "row" else self.row_chunks)
        self.pointers: dict[Any, Any] = {}
        self.tables: dict[Any, Any] = {}
        self.inside: dict[Any, Any] = {}
        self.fixed_values: dict[Any, Vector] = {}
        self.repeated = 0  # lanes at the start of a vector that the one before it has stored

    def emit(self) -> NestCode:
        """Emit the function of the nest; returns its code with work, units and sizes of partial results."""
        if 0 in self.nest.shape:
            return self.emit_empty()
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER, LONG, LONG]), self.name)
        if len(self.nest.instructions) > LIGHT:  # vectors that find no register are aligned on the stack
            function.attributes.alignstack = 64
        self.buffers, begin, end = function.args
        self.entry = function.append_basic_block("entry")
        self.builder = start_builder(self.entry)
        self.lanes = Lanes(self.builder, self.width, self.machine.fused)
        self.elements = Elements(self.lanes, self.outlined)
        self.pointers = {key: self.buffer(self.memory(key)) for key in self.inner.steps}
        self.starts = {key: self.emit_start(key) for key in self.inner.steps}
        self.tables = {table: self.buffer(self.plan.layouts[table].root) for table in self.nest.tables}
        if self.nest.is_checked:
            self.status = self.buffer(STATUS)
        self.fixed_values = self.emit_fixed()
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
        return NestCode(self.name, self.units, finish, self.estimate_work(), self.heavy, sizes)

    def estimate_work(self) -> int:
        """The elements of a loop of usual length that take as long: short inner loops and long bodies take longer."""
        elements, nest = math.prod(loop.size for loop in self.loops), self.nest
        length = len(nest.instructions)
        vectors = -(-self.inner.size // self.width)
        computed = vectors * self.width / self.inner.size  # vectors at the end of a row overlap
        if vectors <= FEW_VECTORS:
            accesses = len(nest.loads) + len(nest.stores) + len(nest.scatters) + len(nest.reductions)
            light = SHORT_LOOP * (length + accesses) / USUAL
        else:
            light = length / LONG_LOOP_BODY
        factor = computed * ((1 + length / USUAL_HEAVY) if self.heavy and length > LIGHT else light)
        return int(elements * max(1.0, factor))

    def reuses(self) -> list[tuple[Any, Any]]:
        """Pairs of a loaded and a stored value that may share memory if the live range of the first ends here.

        Each element is read once, right before the other is written to the same address. This does not hold if vectors
        overlap, if a row is read more than once, or if elements are also read at other addresses.
        """
        nest, layouts = self.nest, self.plan.layouts
        if 0 in nest.shape or self.kind == "row" or self.inner.windows or self.inner.size % self.width:
            return []
        roots = [layouts[value].root for value in (*nest.loads, *nest.tables)]
        whole = math.prod(loop.size for loop in self.loops)
        pairs = []
        for value in nest.loads:
            root = layouts[value].root
            if roots.count(root) > 1 or layouts[value].offset or layouts[value].moves or math.prod(root.shape) != whole:
                continue
            for stored in nest.stores:
                steps = [(loop.steps[value], loop.steps[Stored(stored)]) for loop in self.loops]
                same = root.dtype.itemsize == stored.dtype.itemsize and math.prod(stored.shape) == whole
                if same and all(read == written for read, written in steps):
                    pairs.append((root, stored))
        return pairs

    def memory(self, key: ArrayKey) -> SlotKey:
        """The key of the slot in which an array of the nest is: a value, or a reduction for its partial results."""
        if isinstance(key, Stored):
            return key.value
        if isinstance(key, Instruction | LoweredInstruction):  # a reduction or a scatter
            is_partial = key in self.nest.reductions and self.parts > 1
            return key if is_partial else key.results[0]
        return self.plan.layouts[key].root

    def start(self, key: ArrayKey) -> int:
        """The first element of an array of the nest in its slot; of a moving view, as if it had not moved."""
        layout = self.layout(key)
        return 0 if layout is None else layout.offset

    def layout(self, key: ArrayKey) -> Layout | None:
        """Where a value is that the nest reads, or the part that a scatter writes to; None for a whole array."""
        if isinstance(key, Stored):
            return None
        if isinstance(key, Instruction | LoweredInstruction):
            return None if key in self.nest.reductions else self.plan.target(key)
        return self.plan.layouts[key]

    def emit_start(self, key: ArrayKey) -> Any:
        """The first element of an array of the nest in its slot, with what the moves of a moving view add."""
        start, layout = self.number(self.start(key)), self.layout(key)
        for index, step in layout.moves if layout is not None else ():
            place = self.plan.layouts[index]
            address = self.builder.gep(self.buffer(place.root), [self.number(place.offset)], source_etype=LONG)
            start = self.plus_steps(start, self.builder.load(address, typ=LONG, align=8), step)
        return start

    def emit_empty(self) -> NestCode:
        """A nest without elements: reductions have the value of an empty reduction, and nothing is stored."""
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER, LONG, LONG]), self.name)
        self.entry = function.append_basic_block("entry")
        self.builder = start_builder(self.entry)
        self.lanes = Lanes(self.builder, 1, self.machine.fused)
        self.elements = Elements(self.lanes)
        size = 0
        for reduction in self.nest.reductions:
            (result,) = reduction.results
            size = math.prod(result.shape)
            address = self.builder.gep(function.args[0], [self.number(self.slots[result])], source_etype=POINTER)
            pointer = self.builder.load(address, typ=POINTER)
            # an empty sum is +0.0, and the identity is -0.0
            value = self.elements.constant(result.dtype, identity(reduction) + 0)
            with self.loop(0, size) as place:
                self.store(value, result.dtype, pointer, self.number(0), place)
        self.builder.ret_void()
        return NestCode(self.name, 1 if size else 0, None, 0, False, {})

    def emit_unit(self, unit: ir.Value) -> None:
        """Emit one unit: a part of the outer loops that one thread runs."""
        builder = self.builder
        *outer, row_chunk, chunk = self.split_unit(unit)
        offsets = {}
        for key in self.inner.steps:
            offset = self.starts[key]
            for loop, index in zip(self.outer, outer, strict=True):
                offset = self.plus_steps(offset, index, loop.steps[key])
            offsets[key] = offset
        self.inside = {}
        for loop, index in zip(self.outer, outer, strict=True):
            for key, window in loop.windows.items():
                self.mark_inside(key, index, window)
        part = self.number(0)
        for loop, index in zip(self.outer, outer, strict=True):
            if loop.reduced:
                part = builder.add(builder.mul(part, self.number(loop.size)), index)
        pieces, piece = (self.chunks, chunk) if self.kind == "row" else (self.row_chunks, row_chunk)
        part = builder.add(builder.mul(part, self.number(pieces)), piece)
        values = dict(self.fixed_values)
        self.compute(values, 0, offsets, None)
        first = builder.mul(chunk, self.number(CHUNK))
        length = self.minimum(self.number(CHUNK), builder.sub(self.number(self.inner.size), first))
        blocks: Any = builder.udiv(builder.add(length, self.number(self.width - 1)), self.number(self.width))
        if self.chunks == 1:
            blocks = self.count_blocks()
        if self.kind == "row":
            self.emit_row(values, offsets, first, blocks, part)
            return
        if self.inner.windows:
            self.emit_windows(values, offsets, first, builder.add(first, length))
            return
        if self.kind == "column" and self.has_long_rows():
            self.emit_columns(values, offsets, first, blocks, row_chunk, part)
            return
        rest = self.inner.size % self.width
        apart = isinstance(blocks, int) and rest and blocks <= SHORT_ROW and bool(self.nest.stores)
        with self.loop(0, blocks - 1 if apart else blocks) as block:
            place, _ = self.place(first, block)
            self.emit_vector(dict(values), offsets, place, row_chunk, part)
        if apart:  # the last vector: what it shares with the one before it is not stored again
            self.repeated = self.width - rest
            self.emit_vector(dict(values), offsets, self.number(self.inner.size - self.width), row_chunk, part)
            self.repeated = 0

    def emit_vector(
        self, values: dict[Any, Vector], offsets: dict[Any, Any], place: Any, row_chunk: ir.Value, part: ir.Value
    ) -> None:
        """Emit one vector of the inner loop."""
        if self.kind == "column":
            self.emit_column(values, offsets, place, row_chunk, part)
        else:
            self.compute(values, 1, offsets, place)
            self.store_all(values, offsets, place)

    def find_fixed(self) -> list[AnyInstruction]:
        """The instructions on numbers that are the same for the whole nest, if one of them is heavy."""
        nest = self.nest
        if math.prod(nest.shape) == 1:
            return []
        values = {
            value
            for value in nest.loads
            if value not in self.plan.windows and not any(loop.steps[value] for loop in self.loops)
        }
        found = []
        for instruction in nest.instructions:
            special = instruction.name in (ZERO_OUTSIDE, GATHER, CHECK_INDEX)
            if not special and all(x in values for x in instruction.values):
                found.append(instruction)
                values.update(instruction.results)
        return found if any(instruction.name in elementwise.HEAVY for instruction in found) else []

    def emit_fixed(self) -> dict[Any, Vector]:
        """Emit what is the same for all units, before the loop over them."""
        values: dict[Any, Vector] = {}
        for instruction in self.fixed:
            for value in instruction.values:
                if value not in values:
                    start = self.starts[value]
                    values[value] = self.load(value.dtype, self.pointers[value], start, self.number(0), 0)
            lanes = [values[x] if is_value(x) else None for x in instruction.operands]
            values[instruction.results[0]] = elementwise.emit(self.elements, instruction, lanes)
        return values

    def has_long_rows(self) -> bool:
        """Whether the rows of a column sum are long, and nothing heavy is the same for all of them."""
        if self.rows is None or self.rows.size == 1 or -(-self.inner.size // self.width) <= SHORT_ROW:
            return False
        levels: dict[Any, int] = {value: self.level(value) for value in self.nest.loads}
        for instruction in self.nest.instructions:
            level = max((levels[x] for x in instruction.values), default=0)
            levels.update(dict.fromkeys(instruction.results, level))
            if level == 1 and instruction.name in elementwise.HEAVY:
                return False
        return True

    def split_unit(self, unit: ir.Value) -> list[Any]:
        """The index of each outer loop, of the chunk of rows, and of the chunk of the inner loop."""
        indices: list[Any] = []
        for count in reversed(self.counts):
            if count == 1:
                indices.append(self.number(0))
                continue
            indices.append(self.builder.urem(unit, self.number(count)))
            unit = self.builder.udiv(unit, self.number(count))
        return indices[::-1]

    def count_blocks(self) -> int | ir.Value:
        """The number of vectors of an inner loop that is one chunk."""
        return -(-self.inner.size // self.width)

    def mark_inside(self, key: ArrayValue, index: ir.Value, window: tuple[int, int]) -> None:
        """Emit the bounds check of a window along one axis; it is combined with those along other axes."""
        builder, (low, high) = self.builder, window
        found = builder.icmp_unsigned("<", builder.sub(index, self.number(low)), self.number(high - low))
        self.inside[key] = builder.and_(self.inside[key], found) if key in self.inside else found

    def emit_windows(self, values: dict[Any, Vector], offsets: dict[Any, Any], first: ir.Value, end: ir.Value) -> None:
        """Emit the inner loop from `first` to `end`: vectors inside of all windows, and those at the edges with masks.

        Vectors at the edges are as long as the others, so the last one may overlap the one before it.
        """
        builder, width = self.builder, self.number(self.width)
        zero, longer = self.number(0), self.number(self.width - 1)
        ahead = self.maximum(builder.sub(self.minimum(end, self.number(self.low)), first), zero)
        before = builder.udiv(builder.add(ahead, longer), width)
        begin = builder.add(first, builder.mul(before, width))
        length = self.maximum(builder.sub(self.minimum(end, self.number(self.high)), begin), zero)
        blocks = builder.udiv(length, width)
        with self.loop(0, blocks) as block:
            place = builder.add(begin, builder.mul(block, width))
            inner = dict(values)
            self.compute(inner, 1, offsets, place)
            self.store_all(inner, offsets, place)
        later = builder.add(begin, builder.mul(blocks, width))
        left = self.maximum(builder.sub(end, later), zero)
        after = builder.udiv(builder.add(left, longer), width)
        outside = dict(self.inside)
        with self.loop(0, builder.add(before, after)) as index:
            early = builder.icmp_signed("<", index, before)
            skipped = builder.sub(index, before)
            place = builder.select(
                early,
                builder.add(first, builder.mul(index, width)),
                builder.add(later, builder.mul(skipped, width)),
            )
            place = self.minimum(place, self.number(self.inner.size - self.width))
            for key, window in self.inner.windows.items():
                self.mark_lanes_inside(key, place, window)
            edge = dict(values)
            self.compute(edge, 1, offsets, place)
            self.store_all(edge, offsets, place)
        self.inside = outside

    def mark_lanes_inside(self, key: ArrayValue, place: ir.Value, window: tuple[int, int]) -> None:
        """Emit the bounds check of a window along the inner loop for each lane, combined with those of outer loops."""
        builder, lanes, (low, high) = self.builder, self.lanes, window
        numbers = ir.Constant(lanes.type(LONG), [LONG(lane) for lane in range(self.width)])
        first = lanes.splat(builder.sub(place, self.number(low)))
        distances = Vector(lanes, builder.add(first.ir, numbers))
        found = lanes.compare("<", distances, lanes.like(distances, high - low), signed=False).ir
        self.inside[key] = builder.and_(lanes.splat(self.inside[key]).ir, found) if key in self.inside else found

    def level(self, value: ArrayValue) -> int:
        """0: the same for the whole unit; 1: varies along the inner loop; 2: varies along the rows of a column sum."""
        if self.rows is not None and self.rows.steps[value]:
            return 2
        return 1 if self.inner.steps[value] or value in self.inner.windows else 0

    def compute(
        self,
        values: dict[Any, Vector],
        level: int,
        offsets: dict[Any, Any],
        place: ir.Value | None,
        row: ir.Value | None = None,
    ) -> None:
        """Emit the loads and instructions of this level, and add their results to `values`."""
        levels: dict[Any, int] = {value: self.level(value) for value in self.nest.loads}
        for value in self.nest.loads:
            if levels[value] == level and value not in values:
                offset = offsets[value]
                if row is not None and self.rows is not None:
                    offset = self.plus_steps(offset, row, self.rows.steps[value])
                step, inside = self.inner.steps[value], self.inside.get(value)
                values[value] = self.load(value.dtype, self.pointers[value], offset, place, step, inside)
        for instruction in self.nest.instructions:
            operands = instruction.operands
            (result,) = instruction.results
            levels[result] = max((levels[x] for x in instruction.values), default=0)
            if levels[result] == level and result not in values:
                lanes = [values[x] if is_value(x) else None for x in operands]
                if instruction.name == ZERO_OUTSIDE:
                    values[result] = self.emit_zero_outside(instruction, values[operands[0]])
                elif instruction.name in (GATHER, CHECK_INDEX):
                    values[result] = self.emit_checked(instruction, values[operands[0]])
                else:
                    values[result] = elementwise.emit(self.elements, instruction, lanes)

    def emit_zero_outside(self, instruction: AnyInstruction, value: Vector) -> Vector:
        """The value inside of a window, 0 outside."""
        inside = self.inside.get(instruction.params["leaf"])
        if inside is None:
            return value
        zero = self.elements.constant(instruction.results[0].dtype, 0)
        return Vector(self.lanes, self.builder.select(inside, value.ir, zero.ir))

    def emit_checked(self, instruction: AnyInstruction, index: Vector) -> Vector:
        """A checked index, or the element of a table at it; index 0 where it is out of range."""
        (operand,), (result,) = instruction.values, instruction.results
        table = instruction.params.get("table")
        length = instruction.params["length"] if table is None else table.shape[0]
        where = self.elements.cast(index, operand.dtype, np.dtype(np.int64))
        if not instruction.params.get("known"):
            where = self.check_index(where, length, self.status)
        if table is None:
            return where
        layout = self.plan.layouts[table]
        return self.gather(result.dtype, self.tables[table], where, layout.offset, layout.steps[0])

    def store_all(
        self, values: dict[Any, Vector], offsets: dict[Any, Any], place: ir.Value, row: ir.Value | None = None
    ) -> None:
        """Emit the stores and scatters of one vector of elements."""
        targets: list[tuple[ArrayKey, ArrayValue]] = [(Stored(value), value) for value in self.nest.stores]
        targets += [(scatter, scatter.values[0]) for scatter in self.nest.scatters]
        for key, value in targets:
            offset = offsets[key]
            if row is not None and self.rows is not None:
                offset = self.plus_steps(offset, row, self.rows.steps[key])
            step, stored, start = self.inner.steps[key], values[value], place
            if self.repeated and step == 1:
                stored = self.lanes.last(stored, self.width - self.repeated)
                start = self.builder.add(place, self.number(self.repeated))
            self.store(stored, value.dtype, self.pointers[key], offset, start, step)


def emit_copy(module: ir.Module, name: str, source: int, target: int, size: int) -> NestCode:
    """Emit a function like that of a nest which copies memory from slot to slot, unless that is the same memory."""
    function = ir.Function(module, ir.FunctionType(VOID, [POINTER, LONG, LONG]), name)
    builder = start_builder(function.append_basic_block("entry"))
    written, read = (_slot_address(builder, function.args[0], slot) for slot in (target, source))
    copy_if_apart(builder, written, read, size)
    builder.ret_void()
    return NestCode(name, 1, None, size // 64, False, {})


def _slot_address(builder: Any, buffers: ir.Value, slot: int) -> Any:
    return builder.load(builder.gep(buffers, [ir.Constant(LONG, slot)], source_etype=POINTER), typ=POINTER)


def emit_zeros(module: ir.Module, name: str, places: Sequence[tuple[int, int]]) -> NestCode:
    """Emit a function like that of a nest which clears memory: (slot, bytes) of each buffer."""
    function = ir.Function(module, ir.FunctionType(VOID, [POINTER, LONG, LONG]), name)
    builder = start_builder(function.append_basic_block("entry"))
    for slot, size in places:
        address = builder.gep(function.args[0], [ir.Constant(LONG, slot)], source_etype=POINTER)
        emit_clear(builder, builder.load(address, typ=POINTER), size)
    builder.ret_void()
    return NestCode(name, 1, None, 0, False, {})
