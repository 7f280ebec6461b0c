"""Emits poolings: the largest element of boxes, sums over boxes, and elements at positions; see `lower.pool`.

A unit is a range of images. Results are computed in vectors where the boxes are full and at equal distances, and one by
one at the edges. Sums are computed in binary64, in the order of the elements.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.call_emitter import CallEmitter
from gradtape.jit.native.emit.elementwise import lane_type
from gradtape.jit.native.emit.loops import LONG, STATUS, CallCode
from gradtape.jit.native.emit.vectors import Vector
from gradtape.jit.native.lower.ir import AnyInstruction
from gradtape.jit.native.lower.pool import PICKED, PUT, SHARES, SUMS, find_all_boxes
from gradtape.jit.native.schedule.layout import contiguous_steps

if TYPE_CHECKING:
    from gradtape.jit.native.emit.block import Block

UNITS = 64
WIDTH = 8
INT32 = ir.IntType(32)
_DOUBLE, _INTEGER = np.dtype(np.float64), np.dtype(np.int64)


class PoolingEmitter(CallEmitter, abc.ABC):
    """Emits `name(buffers, begin, end)`: `emit_image` for each image of a range of units."""

    axes: int  # of an image

    def __init__(self, block: Block, name: str, instruction: AnyInstruction) -> None:
        super().__init__(block, name, instruction)
        self.start_function()
        self.results, self.dtype = instruction.results, instruction.values[0].dtype
        shape = instruction.values[0].shape
        self.images = math.prod(shape[: len(shape) - self.axes])
        self.units = min(UNITS, self.images)
        self.values = [*instruction.values, *instruction.results]
        self.keys = [*(self.plan.layouts[x].root for x in instruction.values), *instruction.results]
        self.use_lanes(1)

    def emit(self) -> int:
        """Emits the function; a measure of its work, in elements of light loops."""
        builder = self.builder
        pointers = [self.buffer(key) for key in self.keys]
        with self.loop(self.begin, self.end) as unit:
            first, last = (
                builder.udiv(
                    builder.mul(builder.add(unit, self.number(i)), self.number(self.images)), self.number(self.units)
                )
                for i in (0, 1)
            )
            with self.loop(first, last) as image:
                moved = []
                for value, pointer in zip(self.values, pointers, strict=True):
                    start = builder.mul(image, self.number(math.prod(value.shape) // self.images))
                    moved.append(builder.gep(pointer, [start], source_etype=lane_type(value.dtype)))
                self.emit_image(moved)
        builder.ret_void()
        return int(self.images * self.work())

    @abc.abstractmethod
    def emit_image(self, pointers: Sequence[Any]) -> None:
        """Emit the code of one image; the pointers are to its parts of the operands and results."""

    @abc.abstractmethod
    def work(self) -> int:
        """The work of one image."""


class BoxEmitter(PoolingEmitter):
    """The largest element of each box, and where it is; or the sum."""

    def __init__(self, block: Block, name: str, instruction: AnyInstruction) -> None:
        found = find_all_boxes(instruction)
        assert found is not None
        self.boxes, self.axes = found, len(found)
        super().__init__(block, name, instruction)
        self.sums = instruction.name in (SUMS, SHARES)
        self.lengths = instruction.values[0].shape[-self.axes :]
        self.steps = contiguous_steps(self.lengths)
        narrow = self.dtype.itemsize <= 4 and math.prod(self.lengths) < 1 << 31
        self.positions = np.dtype(np.int32 if narrow else np.int64)

    def work(self) -> int:
        """The number of elements in the boxes of an image."""
        return math.prod(len(boxes.starts) * max(boxes.counts) for boxes in self.boxes)

    def bounds(self, axis: int, index: ir.Value) -> tuple[Any, Any]:
        """The first element of a box along an axis, and the number of elements."""
        return self.table_lookup(self.boxes[axis].starts, index), self.table_lookup(self.boxes[axis].counts, index)

    def emit_image(self, pointers: Sequence[Any]) -> None:
        """Emit the boxes of one image: in vectors where they are full, one by one at the edges."""
        builder, inner = self.builder, self.boxes[-1]
        shape = tuple(len(boxes.starts) for boxes in self.boxes)
        begin, end, distance = inner.full_range()
        edges = begin + shape[-1] - end
        with ExitStack() as loops:
            indices = [loops.enter_context(self.loop(0, length)) for length in shape[:-1]]
            line = self.number(0)
            for index, step in zip(indices, contiguous_steps(shape), strict=False):
                line = self.plus_steps(line, index, step)
            outside = [self.bounds(axis, index) for axis, index in enumerate(indices)]
            if end > begin:
                whole = self.lanes, self.elements
                self.use_lanes(1 << (min(WIDTH, end - begin).bit_length() - 1))
                wide = self.width
                with self.loop(0, -(-(end - begin) // wide)) as block:
                    place = builder.add(builder.mul(block, self.number(wide)), self.number(begin))
                    place = self.minimum(place, self.number(end - wide))
                    further = builder.mul(builder.sub(place, self.number(begin)), self.number(distance))
                    start = builder.add(further, self.number(inner.starts[begin]))
                    found = self.emit_box(pointers[0], [*outside, (start, self.number(max(inner.counts)))], distance)
                    self.store_results(found, pointers, line, place)
                (self.lanes, self.elements), self.width = whole, 1
            if edges:
                with self.loop(0, edges) as number:
                    early = builder.icmp_signed("<", number, self.number(begin))
                    place = builder.select(early, number, builder.add(number, self.number(end - begin)))
                    own = self.bounds(self.axes - 1, place)
                    self.store_results(self.emit_box(pointers[0], [*outside, own], 1), pointers, line, place)

    def emit_box(self, pointer: ir.Value, bounds: Sequence[Sequence[Any]], distance: int) -> list[Vector]:
        """The largest and its position, or the sum, of boxes whose first elements are `distance` apart."""
        builder, dtype = self.builder, _DOUBLE if self.sums else self.dtype
        kind, where = self.lanes.type(lane_type(dtype)), self.lanes.type(lane_type(self.positions))
        best, place = self.local(kind), self.local(where)
        first = self.number(0)
        for (start, _), step in zip(bounds, self.steps, strict=True):
            first = self.plus_steps(first, start, step)
        builder.store(self.elements.constant(dtype, 0.0 if self.sums else _lowest(dtype)).ir, best)
        if not self.sums:
            builder.store(self.place(first, distance).ir, place)
        with ExitStack() as loops:
            offset = first
            for (_, count), step, boxes in zip(bounds, self.steps, self.boxes, strict=True):
                number = loops.enter_context(self.loop(0, count))
                offset = self.plus_steps(offset, number, step * boxes.step)
            value = self.load(self.dtype, pointer, offset, self.number(0), distance)
            old = Vector(self.lanes, builder.load(best, typ=kind))
            if self.sums:
                builder.store((old + self.elements.cast(value, self.dtype, dtype)).ir, best)
            else:
                greater = self.lanes.compare(">", value, old, signed=dtype.kind == "i")
                if dtype.kind == "f":
                    greater = greater | (value.is_nan & ~old.is_nan)
                builder.store(self.lanes.select(greater, value, old).ir, best)
                known = Vector(self.lanes, builder.load(place, typ=where))
                builder.store(self.lanes.select(greater, self.place(offset, distance), known).ir, place)
        found = Vector(self.lanes, builder.load(best, typ=kind))
        if self.sums:
            return [self.elements.cast(found, dtype, self.dtype)]
        return [self.elements.cast(Vector(self.lanes, builder.load(place, typ=where)), self.positions, _INTEGER), found]

    def place(self, offset: ir.Value, distance: int) -> Vector:
        """The positions of elements `distance` apart."""
        element = lane_type(self.positions)
        further = ir.Constant(self.lanes.type(element), [ir.Constant(element, distance * i) for i in range(self.width)])
        scalar = offset if element == LONG else self.builder.trunc(offset, element)
        return self.lanes.splat(scalar) + Vector(self.lanes, further)

    def store_results(self, found: Sequence[Vector], pointers: Sequence[Any], line: ir.Value, place: ir.Value) -> None:
        """Emit the stores of the results of one box, or of a vector of boxes."""
        for value, result, pointer in zip(found, self.results, pointers[1:], strict=False):
            self.store(value, result.dtype, pointer, line, place)


class PickEmitter(PoolingEmitter):
    """Reads elements of images at positions, or writes them there."""

    def __init__(self, block: Block, name: str, instruction: AnyInstruction) -> None:
        self.axes = len(instruction.params["shape"])
        super().__init__(block, name, instruction)
        self.size = math.prod(instruction.params["shape"])
        self.count = math.prod(instruction.values[1].shape) // self.images

    def work(self) -> int:
        """Two operations for each position, and clearing the image."""
        return int(2 * self.count + self.size // 8)

    def emit_image(self, pointers: Sequence[Any]) -> None:
        """Emit the reads from, or writes to, the positions in one image."""
        builder = self.builder
        images, positions, out = pointers
        puts = self.instruction.name == PUT
        if puts:
            self.clear(out, self.size * self.dtype.itemsize)
        status = self.buffer(STATUS)
        with self.loop(0, self.count) as index:
            found = self.load(_INTEGER, positions, self.number(0), index, 1)
            where = builder.extract_element(self.check_index(found, self.size, status).ir, ir.Constant(INT32, 0))
            source, target = (index, where) if puts else (where, index)
            value = self.load(self.dtype, images, source, self.number(0), 1)
            if puts and self.instruction.params["repeats"]:
                value = self.load(self.dtype, out, where, self.number(0), 1) + value
            self.store(value, self.dtype, out, target, self.number(0))


def _lowest(dtype: np.dtype[Any]) -> Any:
    return -math.inf if dtype.kind == "f" else np.iinfo(dtype).min


def emit_call(block: Block, name: str, instruction: AnyInstruction) -> CallCode:
    """Emit a pooling."""
    kind = PickEmitter if instruction.name in PICKED else BoxEmitter
    emitter = kind(block, name, instruction)
    return CallCode(emitter.emit(), emitter.units)
