"""Emits products of a sparse matrix in compressed rows with dense columns; see `lower.sparse`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.call_emitter import CallEmitter
from gradtape.jit.native.emit.elementwise import lane_type
from gradtape.jit.native.emit.loops import LONG, CallCode
from gradtape.jit.native.emit.vectors import Vector
from gradtape.jit.native.lower.ir import AnyInstruction

if TYPE_CHECKING:
    from gradtape.jit.native.emit.block import Block

WIDTH = 8
_LONG = np.dtype(np.int64)


class SparseEmitter(CallEmitter):
    """Emits `name(buffers, begin, end)` for the rows from `begin` to `end`.

    Lanes are columns of the dense matrix; if it has one only, elements of a row of the sparse one, in which the last
    ones that do not fill a vector are added one by one.
    """

    def __init__(self, block: Block, name: str, instruction: AnyInstruction) -> None:
        super().__init__(block, name, instruction)
        numbers, dense, starts, places = instruction.values
        self.dtype, self.columns, self.rows = numbers.dtype, dense.shape[1], starts.shape[0] - 1
        self.count = numbers.shape[0]
        lanes = self.columns if self.columns > 1 else self.count // self.rows // 2
        self.places_dtype = places.dtype
        self.start_function()
        self.use_lanes(1 << (max(1, min(WIDTH, lanes)).bit_length() - 1))

    def emit(self) -> CallCode:
        """Emits the function."""
        builder = self.builder
        keys = [self.plan.layouts[x].root for x in self.instruction.values]
        self.numbers, self.dense, starts, self.places = (self.buffer(key) for key in keys)
        self.out = self.buffer(self.instruction.results[0])
        self.total = self.local(self.lanes.type(lane_type(self.dtype)))
        self.rest = self.local(lane_type(self.dtype))
        with self.loop(self.begin, self.end) as row:
            first, last = (
                builder.load(builder.gep(starts, [place], source_etype=LONG), typ=LONG, align=8)
                for place in (row, builder.add(row, self.number(1)))
            )
            if self.columns > 1:
                self.emit_columns(row, first, last)
            else:
                self.emit_row(row, first, last)
        builder.ret_void()
        return CallCode(2 * self.count * self.columns, self.rows)

    def position(self, place: ir.Value) -> Any:
        """The column of one element of the sparse matrix."""
        kind = ir.IntType(8 * self.places_dtype.itemsize)
        found = self.builder.load(
            self.builder.gep(self.places, [place], source_etype=kind), typ=kind, align=self.places_dtype.itemsize
        )
        return self.builder.sext(found, LONG) if kind != LONG else found

    def number_at(self, pointer: ir.Value, place: ir.Value) -> Any:
        """One element of an array."""
        kind = lane_type(self.dtype)
        address = self.builder.gep(pointer, [place], source_etype=kind)
        return self.builder.load(address, typ=kind, align=self.dtype.itemsize)

    def emit_columns(self, row: ir.Value, first: ir.Value, last: ir.Value) -> None:
        """Emit one row of the result, in vectors of neighbours; the last one overlaps the one before."""
        builder, lanes = self.builder, self.lanes
        with self.loop(0, -(-self.columns // self.width)) as block:
            place = builder.mul(block, self.number(self.width))
            place = self.minimum(place, self.number(self.columns - self.width))
            builder.store(self.elements.constant(self.dtype, 0).ir, self.total)
            with self.loop(first, last) as index:
                factor = lanes.splat(self.number_at(self.numbers, index))
                start = builder.mul(self.position(index), self.number(self.columns))
                other = self.load(self.dtype, self.dense, start, place, 1)
                self.accumulate(factor, other)
            total = Vector(lanes, builder.load(self.total, typ=lanes.type(lane_type(self.dtype))))
            self.store(total, self.dtype, self.out, builder.mul(row, self.number(self.columns)), place)

    def accumulate(self, factor: Vector, other: Vector) -> None:
        """Add a product to the sums of the lanes."""
        old = Vector(self.lanes, self.builder.load(self.total, typ=self.lanes.type(lane_type(self.dtype))))
        self.builder.store(self.lanes.multiply_add(factor, other, old).ir, self.total)

    def emit_row(self, row: ir.Value, first: ir.Value, last: ir.Value) -> None:
        """Emit one element of the result: the sums of the lanes, and then the rest."""
        builder, kind = self.builder, lane_type(self.dtype)
        builder.store(self.elements.constant(self.dtype, 0).ir, self.total)
        blocks = builder.sdiv(builder.sub(last, first), self.number(self.width))
        with self.loop(self.number(0), blocks) as block:
            start = builder.add(first, builder.mul(block, self.number(self.width)))
            found = self.load(self.places_dtype, self.places, start, self.number(0), 1)
            where = self.elements.cast(found, self.places_dtype, _LONG)
            factor = self.load(self.dtype, self.numbers, start, self.number(0), 1)
            self.accumulate(factor, self.gather(self.dtype, self.dense, where, 0, 1))
        total = builder.load(self.total, typ=self.lanes.type(kind))
        parts = [builder.extract_element(total, ir.Constant(ir.IntType(32), lane)) for lane in range(self.width)]
        while len(parts) > 1:
            parts = [builder.fadd(parts[i], parts[i + 1]) for i in range(0, len(parts), 2)]
        builder.store(parts[0], self.rest)
        with self.loop(builder.add(first, builder.mul(blocks, self.number(self.width))), last) as index:
            product = builder.fmul(
                self.number_at(self.numbers, index), self.number_at(self.dense, self.position(index))
            )
            builder.store(builder.fadd(builder.load(self.rest, typ=kind), product), self.rest)
        builder.store(
            builder.load(self.rest, typ=kind),
            builder.gep(self.out, [row], source_etype=kind),
            align=self.dtype.itemsize,
        )


def emit_call(block: Block, name: str, instruction: AnyInstruction) -> CallCode:
    """Emit a product of a sparse matrix and columns."""
    return SparseEmitter(block, name, instruction).emit()
