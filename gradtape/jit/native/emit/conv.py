"""Emits convolutions and their two derivatives (the operations of `gradtape.ops.convolution_ops`).

The images of one or a few examples are copied to rows, one for each channel and each phase of the stride, with zeros
for the padding. A tap of the kernel is then a shift of such a row, and an output channel is a sum of shifted rows, each
times a number. The sum is computed for a few output channels and a few vectors at a time, which stay in registers. The
gradient with respect to the inputs is a sum of the same kind; the gradient with respect to the kernel consists of dot
products of two rows.

A unit is a range of examples, or a range of their channels if there are few examples. The order of all additions
depends on the shapes only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.builder import start_builder
from gradtape.jit.native.emit.call_emitter import CallEmitter
from gradtape.jit.native.emit.elementwise import Elements, lane_type
from gradtape.jit.native.emit.loops import LONG, POINTER, VOID, CallCode, SlotKey
from gradtape.jit.native.emit.vectors import DOUBLE, Lanes, Vector
from gradtape.jit.native.lower.conv import CONVOLVE, CORRELATE, ROLES, SPREAD, multiplications
from gradtape.jit.native.lower.ir import AnyInstruction
from gradtape.ops.convolution_ops import row_layout

if TYPE_CHECKING:
    from gradtape.jit.native.emit.block import Block

VECTOR = 32  # bytes
TILE = 4  # output channels that are computed together,
COLUMNS = {1: 8, 2: 6, 3: 4, 4: 3}  # and as many vectors as there are registers for
TERMS = 256  # that are added in registers before they are added to memory
PIECE = 128  # vectors of a row in one product of rows
ROW = 512  # elements that a row should have: it holds several examples if they are small
CACHED = 1 << 19  # bytes that the rows of one or several examples may take
UNITS = 16
FEW = 4  # rows of examples up to which channels are divided among units, too
PARTIAL = 1 << 19  # elements of the partial sums of all units, for the gradient of the kernel; at least two units


class Images(NamedTuple):
    """Cells of a row and the elements of images that belong to them, as slices along each axis."""

    cells: tuple[slice, ...]
    elements: tuple[slice, ...]


class Terms(NamedTuple):
    """Sums of rows times numbers: `made` channels are computed from `given` ones.

    `taps` are pairs: the shift in the row of a given channel, and the index of the factor in the kernel.
    """

    made: int
    given: int
    taps: Sequence[tuple[int, int]]
    kernel_steps: tuple[int, int]
    source: Any
    source_step: int
    target: Any
    target_step: int
    length: int


def _split(length: int, size: int) -> list[tuple[int, int, int]]:
    """Divide a length into pieces of a size and a rest: (size, start, count) of each kind."""
    full, rest = divmod(length, size)
    found = [(size, 0, full)] if full else []
    return [*found, (rest, full * size, 1)] if rest else found


class ConvolutionEmitter(CallEmitter):
    """Emits `name(buffers, begin, end)`, and `name_finish(buffers)` for the gradient of the kernel."""

    def __init__(self, block: Block, name: str, instruction: AnyInstruction) -> None:
        super().__init__(block, name, instruction)
        self.kind = instruction.name
        values = (*(self.plan.layouts[x].root for x in instruction.values), *instruction.results)
        self.values = dict(zip(ROLES[self.kind], values, strict=True))
        shapes = dict(zip(ROLES[self.kind], (*instruction.values, *instruction.results), strict=True))
        self.dtype = instruction.results[0].dtype
        self.width = VECTOR // self.dtype.itemsize
        geometry = self.geometry = instruction.params["geometry"]
        self.groups, self.taps = geometry.groups, math.prod(geometry.taps)
        self.layout = row_layout(geometry)
        self.examples = shapes["x"].shape[0]
        self.inputs, self.outputs = (shapes[role].shape[1] // self.groups for role in "xy")  # channels of a group
        self.phases = len(self.layout.phases)
        self.cells = math.prod(self.layout.cells)
        self.reach = max(shift for _, shift in self.layout.taps)
        self._arrange()

    def _arrange(self) -> None:
        """Choose the number of examples in a row and of rows in a unit, and the offsets in the workspace."""
        each = (self.inputs * self.phases + self.outputs) * self.cells * self.dtype.itemsize
        room = CACHED * (4 if self.kind == CORRELATE else 1)  # short rows cost more for dot products
        self.together = max(1, min(self.examples, -(-ROW // self.cells), room // each))
        self.length = self.together * self.cells
        spare = max(COLUMNS.values()) * self.width  # whole tiles are computed, beyond the end
        self.step = -(-(self.length + self.reach + spare) // 16) * 16
        if self.step * self.dtype.itemsize % 1024 == 0:  # avoid rows that map to the same cache sets
            self.step += 16
        self.blocks = -(-self.examples // self.together)
        self.made = self.inputs if self.kind == SPREAD else self.outputs
        self.weights = self.groups * self.outputs * self.inputs * self.taps
        self.spans, self.parts = min(UNITS, self.blocks), 1
        if self.blocks < FEW and (self.kind != SPREAD or self._is_covered()):
            self.parts = max(1, min(2 * FEW // self.blocks, self.made // (4 * TILE)))
        if self.kind == CORRELATE:
            self.spans = min(self.spans, max(1 if self.parts > 1 else 2, PARTIAL // self.weights))
        self.units = self.spans * self.parts
        self.wide_start = self.inputs * self.phases * self.step
        self.region = (self.wide_start + self.outputs * self.step) * self.dtype.itemsize
        self.sums = self.units * self.region  # offset of the partial sums of each span, in binary64
        self.memory = self.sums + (8 * self.spans * self.weights if self.kind == CORRELATE else 0)
        self.finish = f"{self.name}_finish" if self.kind == CORRELATE else None

    def emit(self) -> int:
        """Emits the functions; a measure of their work, in elements of light loops."""
        self._begin(self.name, [POINTER, LONG, LONG])
        buffers, begin, end = self.arguments
        images = {role: self.slot(buffers, value) for role, value in self.values.items()}
        memory = self.slot(buffers, self.instruction)
        rows = self.bytes_on(
            memory, self.builder.mul(begin, self.number(self.region))
        )  # each thread has its own region
        wide = self.advance(rows, self.number(self.wide_start))
        self.clear(rows, self.region)
        with self.loop(begin, end) as unit:
            span, part = unit, self.number(0)
            if self.parts > 1:
                span, part = (
                    self.builder.udiv(unit, self.number(self.parts)),
                    self.builder.urem(unit, self.number(self.parts)),
                )
            self.tiles = self._share(part, -(-self.made // TILE), self.parts)
            if self.kind == CORRELATE:
                start = self.builder.add(self.number(self.sums), self.builder.mul(span, self.number(8 * self.weights)))
                images["w"] = self.bytes_on(memory, start)
                self.clear_sums(images["w"])
            with self.loop(*self._share(span, self.blocks, self.spans)) as block:
                self.emit_block(images, rows, wide, block)
        self.builder.ret_void()
        if self.finish:
            self.emit_finish(self.finish)
        return multiplications(self.instruction) // (2 * self.width)

    def _share(self, number: ir.Value, count: int, shares: int) -> tuple[Any, Any]:
        """The bounds of one of `shares` equal shares of `count` things."""
        if shares == 1:
            return self.number(0), self.number(count)
        begin, end = (
            self.builder.udiv(
                self.builder.mul(self.builder.add(number, self.number(i)), self.number(count)), self.number(shares)
            )
            for i in (0, 1)
        )
        return begin, end

    def channels(self) -> tuple[Any, Any]:
        """The channels of a group that a unit makes."""
        first, last = (self.builder.mul(tile, self.number(TILE)) for tile in self.tiles)
        return first, self.minimum(last, self.number(self.made))

    def clear_sums(self, sums: ir.Value) -> None:
        """Emit zeros into the partial sums of the kernel's gradient, for the channels of a unit."""
        size = 8 * self.inputs * self.taps
        first, last = self.channels()
        with self.loop(0, self.groups) as group:
            channel = self.builder.add(self.builder.mul(group, self.number(self.outputs)), first)
            start = self.bytes_on(sums, self.builder.mul(channel, self.number(size)))
            self.clear(start, self.builder.mul(self.builder.sub(last, first), self.number(size)))

    def emit_block(self, images: dict[str, Any], rows: ir.Value, wide: ir.Value, block: ir.Value) -> None:
        """Emit the convolution of the examples that share a row."""
        builder = self.builder
        first = builder.mul(block, self.number(self.together))
        count = self.minimum(self.number(self.together), builder.sub(self.number(self.examples), first))
        if self.kind == CORRELATE and self.examples % self.together:
            with builder.if_then(builder.icmp_signed("<", count, self.number(self.together)), likely=False):
                self.clear(rows, self.region)
        if self.kind == SPREAD and not self._is_covered():
            size = self.groups * self.inputs * math.prod(self.geometry.inputs)
            start = self.advance(images["x"], builder.mul(first, self.number(size)))
            self.clear(start, builder.mul(count, self.number(size * self.dtype.itemsize)))
        with self.loop(0, self.groups) as group:
            if self.kind != SPREAD:
                self.copy_inputs(images["x"], rows, first, count, group, to_cells=True)
            if self.kind != CONVOLVE:
                start = self.advance(wide, self.number(self.reach if self.kind == SPREAD else 0))
                self.copy_outputs(images["y"], start, first, count, group, to_cells=True)
            kernel = self.outputs * self.inputs * self.taps
            place = builder.mul(group, self.number(kernel))
            if self.kind == CONVOLVE:
                self.emit_terms(self._convolution(rows, wide), self.advance(images["w"], place))
                self.copy_outputs(images["y"], wide, first, count, group, to_cells=False)
            elif self.kind == SPREAD:
                for phase in range(self.phases):
                    self.emit_terms(self._transposed(rows, wide, phase), self.advance(images["w"], place))
                self.copy_inputs(images["x"], rows, first, count, group, to_cells=False)
            else:
                self.emit_dots(rows, wide, builder.gep(images["w"], [place], source_etype=DOUBLE))

    def _convolution(self, rows: ir.Value, wide: ir.Value) -> Terms:
        taps = [(phase * self.step + shift, tap) for tap, (phase, shift) in enumerate(self.layout.taps)]
        steps = self.inputs * self.taps, self.taps
        return Terms(
            self.outputs, self.inputs, taps, steps, rows, self.phases * self.step, wide, self.step, self._last_output()
        )

    def _transposed(self, rows: ir.Value, wide: ir.Value, phase: int) -> Terms:
        """The terms of one phase of the input gradient: the taps of the kernel in reverse."""
        taps = [(self.reach - shift, tap) for tap, (own, shift) in enumerate(self.layout.taps) if own == phase]
        steps = self.taps, self.inputs * self.taps
        target = self.advance(rows, self.number(phase * self.step))
        return Terms(
            self.inputs, self.outputs, taps, steps, wide, self.step, target, self.phases * self.step, self.length
        )

    def _last_output(self) -> int:
        """The length of a row up to its last output."""
        steps = [math.prod(self.layout.cells[axis + 1 :]) for axis in range(len(self.layout.cells))]
        last = sum((n - 1) * step for n, step in zip(self.geometry.outputs, steps, strict=True))
        return int((self.together - 1) * self.cells + last + 1)

    def _is_covered(self) -> bool:
        """Whether every input element has a cell."""
        counts = [math.prod(s.stop - s.start for s in filled) for _, filled, _ in self.layout.phases]
        return bool(sum(counts) == math.prod(self.geometry.inputs))

    # -- helpers

    def _begin(self, name: str, arguments: Sequence[Any]) -> None:
        function = ir.Function(self.module, ir.FunctionType(VOID, arguments), name)
        self.entry = function.append_basic_block("entry")
        self.builder = start_builder(self.entry)
        self.arguments = function.args
        self.lanes = Lanes(self.builder, self.width, self.machine.fused)
        self.elements = Elements(self.lanes)

    def slot(self, buffers: ir.Value, key: SlotKey) -> Any:
        """The address in the slot of a value, read from the table `buffers`."""
        address = self.builder.gep(buffers, [self.number(self.slots[key])], source_etype=POINTER)
        return self.builder.load(address, typ=POINTER)

    def advance(self, pointer: ir.Value, distance: ir.Value) -> Any:
        """The address `distance` elements after a pointer."""
        return self.builder.gep(pointer, [distance], source_etype=lane_type(self.dtype))

    def bytes_on(self, pointer: ir.Value, distance: ir.Value) -> Any:
        """The address `distance` bytes after a pointer."""
        return self.builder.gep(pointer, [distance], source_etype=ir.IntType(8))

    def _own(self, first: int, count: int) -> tuple[Any, Any]:
        """The bounds of the tiles of the unit, among `count` tiles from a channel on."""
        if self.parts == 1:
            return 0, count
        begin, end = (
            self.minimum(
                self.maximum(self.builder.sub(tile, self.number(first // TILE)), self.number(0)), self.number(count)
            )
            for tile in self.tiles
        )
        return begin, end

    # -- images and rows

    def copy_inputs(
        self, images: ir.Value, rows: ir.Value, first: ir.Value, count: ir.Value, group: ir.Value, to_cells: bool
    ) -> None:
        """Emit the copy of images into the rows of all channels and phases of the stride."""
        for number, filled, taken in self.layout.phases:
            start = self.advance(rows, self.number(number * self.step))
            part = Images(filled, taken)
            lengths = self.geometry.inputs
            self._copy(images, start, part, lengths, self.inputs, self.phases, (first, count, group), to_cells)

    def copy_outputs(
        self, images: ir.Value, wide: ir.Value, first: ir.Value, count: ir.Value, group: ir.Value, to_cells: bool
    ) -> None:
        """Emit the copy of the outputs, or their gradients, into rows."""
        part = Images(self.layout.outputs, self.layout.outputs)
        lengths = self.geometry.outputs
        self._copy(images, wide, part, lengths, self.outputs, 1, (first, count, group), to_cells)

    def _copy(
        self,
        images: ir.Value,
        cells: ir.Value,
        part: Images,
        lengths: Sequence[int],
        channels: int,
        phases: int,
        which: tuple[Any, Any, Any],
        to_cells: bool,
    ) -> None:
        """Copy elements of images to their cells, or back, line by line."""
        first, count, group = which
        channels_of_unit = self.parts > 1 and not to_cells
        counts = [s.stop - s.start for s in part.cells]
        if 0 in counts:
            return
        size = math.prod(lengths)
        image_steps = [math.prod(lengths[axis + 1 :]) for axis in range(len(lengths))]
        cell_steps = [math.prod(self.layout.cells[axis + 1 :]) for axis in range(len(lengths))]
        builder, total = self.builder, self.groups * channels
        image_start = sum(s.start * step for s, step in zip(part.elements, image_steps, strict=True))
        cell_start = sum(s.start * step for s, step in zip(part.cells, cell_steps, strict=True))
        bounds = self.channels() if channels_of_unit else (0, channels)
        with self.loop(*bounds) as channel, self.loop(0, count) as example:
            number = builder.add(builder.mul(builder.add(first, example), self.number(total)), channel)
            number = builder.add(number, builder.mul(group, self.number(channels)))
            image = builder.add(builder.mul(number, self.number(size)), self.number(image_start))
            cell = builder.mul(channel, self.number(phases * self.step))
            cell = builder.add(cell, builder.mul(example, self.number(self.cells)))
            cell = builder.add(cell, self.number(cell_start))
            outer, axes = math.prod(counts[:-1]), len(counts) - 1
            with self.loop(0, outer) as line:
                rest, image_line, cell_line = line, image, cell
                for axis in reversed(range(axes)):
                    index = rest if axis == 0 else builder.urem(rest, self.number(counts[axis]))
                    rest = rest if axis == 0 else builder.udiv(rest, self.number(counts[axis]))
                    step = (part.elements[axis].step or 1) * image_steps[axis]
                    image_line = self.plus_steps(image_line, index, step)
                    cell_line = self.plus_steps(cell_line, index, cell_steps[axis])
                source, target = self.advance(images, image_line), self.advance(cells, cell_line)
                self._copy_line(source, target, counts[-1], part.elements[-1].step or 1, to_cells)

    def _copy_line(self, image: ir.Value, cell: ir.Value, count: int, step: int, to_cells: bool) -> None:
        """Copy elements that are `step` apart to adjacent cells, or back."""
        builder = self.builder
        if step == 1:
            self.copy_bytes(*((cell, image) if to_cells else (image, cell)), count * self.dtype.itemsize)
            return
        kind, size = lane_type(self.dtype), self.dtype.itemsize
        with self.loop(0, count) as index:
            places = self.advance(image, builder.mul(index, self.number(step))), self.advance(cell, index)
            source, target = places if to_cells else places[::-1]
            builder.store(builder.load(source, typ=kind, align=size), target, align=size)

    # -- sums of rows times numbers

    def emit_terms(self, terms: Terms, kernel: ir.Value) -> None:
        """Emit sums of shifted rows times numbers of the kernel, tile by tile."""
        most = max(1, TERMS // len(terms.taps))
        most = terms.given if terms.given * len(terms.taps) <= 3 * TERMS // 2 else most
        builder = self.builder
        with self.loop(0, -(-terms.given // most)) as turn:
            given: tuple[Any, Any] = 0, terms.given
            if most < terms.given:
                begin = builder.mul(turn, self.number(most))
                given = begin, self.minimum(builder.add(begin, self.number(most)), self.number(terms.given))
            again = builder.icmp_signed(">", turn, self.number(0)) if most < terms.given else None
            for tile, first, tiles in _split(terms.made, TILE):
                with self.loop(*self._own(first, tiles)) as i:
                    channel = builder.add(builder.mul(i, self.number(tile)), self.number(first))
                    self._emit_tile(terms, kernel, tile, channel, given, again)

    def _emit_tile(
        self,
        terms: Terms,
        kernel: ir.Value,
        count: int,
        channel: ir.Value,
        given: tuple[Any, Any],
        again: ir.Value | None,
    ) -> None:
        """Compute a tile of channels from a range of given ones; `again`: add to the sums in memory."""
        builder, columns, kind = self.builder, COLUMNS[count], self.lanes.type(lane_type(self.dtype))
        target = self.advance(terms.target, builder.mul(channel, self.number(terms.target_step)))
        made_step, given_step = terms.kernel_steps
        factors = self.advance(kernel, builder.mul(channel, self.number(made_step)))
        zero = self.elements.constant(self.dtype, 0.0).ir
        totals = [[self.local(kind) for _ in range(columns)] for _ in range(count)]
        with self.loop(0, -(-terms.length // (columns * self.width))) as block:
            place = builder.mul(block, self.number(columns * self.width))
            for memory in (memory for line in totals for memory in line):
                builder.store(zero, memory)
            with self.loop(*given) as one, self.loop(0, len(terms.taps)) as tap:
                distance = self.table_lookup([distance for distance, _ in terms.taps], tap)
                distance = builder.add(builder.mul(one, self.number(terms.source_step)), distance)
                source = self.advance(terms.source, builder.add(place, distance))
                vectors = [self.vector(source, i * self.width) for i in range(columns)]
                number = self.table_lookup([number for _, number in terms.taps], tap)
                factor = self.advance(factors, builder.add(builder.mul(one, self.number(given_step)), number))
                for i, line in enumerate(totals):
                    address = self.advance(factor, self.number(i * made_step))
                    scalar = builder.load(address, typ=lane_type(self.dtype), align=self.dtype.itemsize)
                    self._add_products(line, self.lanes.splat(scalar), vectors)
            for i, line in enumerate(totals):
                for j, memory in enumerate(line):
                    address = self.advance(target, self.number(i * terms.target_step + j * self.width))
                    address = self.advance(address, place)
                    total = builder.load(memory, typ=kind)
                    if again is not None:
                        old = builder.load(address, typ=kind, align=self.dtype.itemsize)
                        total = builder.fadd(total, builder.select(again, old, zero))
                    builder.store(total, address, align=self.dtype.itemsize)

    def vector(self, pointer: ir.Value, distance: int) -> Vector:
        """Load a vector `distance` elements after a pointer."""
        kind = self.lanes.type(lane_type(self.dtype))
        address = self.advance(pointer, self.number(distance))
        return Vector(self.lanes, self.builder.load(address, typ=kind, align=self.dtype.itemsize))

    def _add_products(self, totals: Sequence[Any], factor: Vector, vectors: Sequence[Vector]) -> None:
        for memory, vector in zip(totals, vectors, strict=True):
            old = Vector(self.lanes, self.builder.load(memory, typ=vector.ir.type))
            self.builder.store(self.lanes.multiply_add(factor, vector, old).ir, memory)

    # -- dot products of rows

    def emit_dots(self, rows: ir.Value, wide: ir.Value, sums: ir.Value) -> None:
        """Add the dot products of all rows of outputs with all shifted rows of inputs to the sums."""
        builder = self.builder
        vectors, columns = -(-self.length // self.width), self.inputs * self.taps
        with self.loop(0, -(-vectors // PIECE)) as piece:
            begin = builder.mul(piece, self.number(PIECE))
            end = self.minimum(builder.add(begin, self.number(PIECE)), self.number(vectors))
            for tile, first, tiles in _split(self.outputs, TILE):
                most = COLUMNS[tile]
                with self.loop(*self._own(first, tiles)) as i:
                    row = builder.add(builder.mul(i, self.number(tile)), self.number(first))
                    for width, start, turns in _split(columns, most):
                        with self.loop(0, turns) as j:
                            column = builder.add(builder.mul(j, self.number(width)), self.number(start))
                            self._emit_dots(rows, wide, sums, (row, tile), (column, width), (begin, end))

    def _emit_dots(
        self,
        rows: ir.Value,
        wide: ir.Value,
        sums: ir.Value,
        lines: tuple[Any, int],
        columns: tuple[Any, int],
        bounds: tuple[Any, Any],
    ) -> None:
        builder, kind = self.builder, self.lanes.type(lane_type(self.dtype))
        zero = self.elements.constant(self.dtype, 0.0).ir
        (row, height), (column, width) = lines, columns
        left = self.advance(wide, builder.mul(row, self.number(self.step)))
        right = []
        for j in range(width):
            number = builder.add(column, self.number(j))
            tap = builder.urem(number, self.number(self.taps))
            channel = builder.udiv(number, self.number(self.taps))
            places = [phase * self.step + shift for phase, shift in self.layout.taps]
            distance = builder.mul(channel, self.number(self.phases * self.step))
            right.append(self.advance(rows, builder.add(distance, self.table_lookup(places, tap))))
        totals = [[self.local(kind) for _ in range(width)] for _ in range(height)]
        for memory in (memory for line in totals for memory in line):
            builder.store(zero, memory)
        with self.loop(*bounds) as block:
            place = builder.mul(block, self.number(self.width))
            vectors = [self.vector(self.advance(pointer, place), 0) for pointer in right]
            for i, line in enumerate(totals):
                self._add_products(line, self.vector(self.advance(left, place), i * self.step), vectors)
        for i, line in enumerate(totals):
            start = builder.mul(builder.add(row, self.number(i)), self.number(self.inputs * self.taps))
            for j, memory in enumerate(line):
                total = self._across(builder.load(memory, typ=kind))
                where = builder.add(builder.add(start, column), self.number(j))
                address = builder.gep(sums, [where], source_etype=DOUBLE)
                builder.store(builder.fadd(builder.load(address, typ=DOUBLE), total), address)

    def _across(self, vector: ir.Value) -> Any:
        """The sum of all lanes, pairwise in halves, as binary64."""
        width = self.width
        while width > 1:
            width //= 2
            halves = []
            for start in (0, width):
                numbers = ir.Constant(ir.VectorType(ir.IntType(32), width), [start + i for i in range(width)])
                halves.append(self.builder.shuffle_vector(vector, vector, numbers))
            vector = self.builder.fadd(*halves)
        scalar = self.builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))
        return scalar if self.dtype == np.dtype("f8") else self.builder.fpext(scalar, DOUBLE)

    def emit_finish(self, name: str) -> None:
        """Emit the sum of the partial sums of the spans, in their order."""
        self._begin(name, [POINTER])
        builder, double = self.builder, np.dtype("f8")
        (buffers,) = self.arguments
        sums = self.bytes_on(self.slot(buffers, self.instruction), self.number(self.sums))
        out = self.slot(buffers, self.instruction.results[0])
        width = 1 << (min(8, self.weights).bit_length() - 1)
        self.lanes = Lanes(builder, width, self.machine.fused)
        self.elements = Elements(self.lanes)
        memory = self.local(self.lanes.type(DOUBLE))
        with self.loop(0, -(-self.weights // width)) as block:
            place = self.minimum(builder.mul(block, self.number(width)), self.number(self.weights - width))
            builder.store(self.elements.constant(double, 0.0).ir, memory)
            with self.loop(0, self.spans) as span:
                term = self.load(double, sums, builder.mul(span, self.number(self.weights)), place, 1)
                old = Vector(self.lanes, builder.load(memory, typ=term.ir.type))
                builder.store((old + term).ir, memory)
            total = Vector(self.lanes, builder.load(memory, typ=self.lanes.type(DOUBLE)))
            self.store(self.elements.cast(total, double, self.dtype), self.dtype, out, self.number(0), place)
        builder.ret_void()


def emit_call(block: Block, name: str, instruction: AnyInstruction) -> CallCode:
    """Emit a convolution or one of its derivatives."""
    emitter = ConvolutionEmitter(block, name, instruction)
    return CallCode(emitter.emit(), emitter.units, emitter.finish, emitter.memory)
