"""Emits matrix products: loops for small ones, calls of BLAS for the rest; see `lower.matmul`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir

from gradtape.jit.native.emit.elementwise import lane_type
from gradtape.jit.native.emit.fortran_call import FortranCalls
from gradtape.jit.native.emit.loops import CallCode, SlotKey
from gradtape.jit.native.emit.vectors import Lanes, Vector
from gradtape.jit.native.lower.ir import AnyInstruction
from gradtape.jit.native.lower.matmul import form, is_small, steps_of
from gradtape.jit.native.schedule.layout import contiguous_steps

if TYPE_CHECKING:
    from gradtape.jit.native.emit.block import Block

WIDTH = 8


class ProductEmitter(FortranCalls):
    """Emits `name(buffers, begin, end)` for one product, or for a range of a batch. A unit is one pair of matrices."""

    def __init__(self, block: Block, name: str, instruction: AnyInstruction) -> None:
        super().__init__(block, name, instruction)
        self.dtype = instruction.results[0].dtype
        self.start_function()
        self.layouts = [self.plan.layouts[x] for x in instruction.values]
        found = form(instruction)
        assert found is not None
        self.form = found
        all_steps = [*(layout.steps for layout in self.layouts), contiguous_steps(instruction.results[0].shape)]
        self.steps = [steps_of(found, number, steps) for number, steps in enumerate(all_steps)]
        self.pairs = [
            (length, [0 if axis is None else steps[axis] for axis, steps in zip(axes, all_steps, strict=True)])
            for length, *axes in found.pairs
        ]
        self.sizes = found.rows[0], found.columns[0], found.common[0]
        self.units = math.prod(length for length, _ in self.pairs) if math.prod(self.sizes[:2]) else 0

    def pointer(self, value: SlotKey, offset: int) -> Any:
        """The address of the element of a value at `offset`."""
        return self.advance(self.buffer(value), self.number(offset))

    def advance(self, pointer: ir.Value, distance: ir.Value) -> Any:
        """The address `distance` elements after a pointer."""
        return self.builder.gep(pointer, [distance], source_etype=lane_type(self.dtype))

    def emit(self) -> int:
        """Emits the function; a measure of its work, in elements of light loops."""
        pointers = [self.pointer(layout.root, layout.offset) for layout in self.layouts]
        pointers.append(self.pointer(self.instruction.results[0], 0))
        if self.units == 1:
            self.emit_pair(*pointers)
        elif self.units:
            self.lanes = Lanes(self.builder, 1, self.machine.fused)
            with self.loop(self.begin, self.end) as pair:
                self.emit_pair(*[self.advance(x, self.distance(pair, i)) for i, x in enumerate(pointers)])
        self.builder.ret_void()
        return self.units * math.prod(self.sizes) // 8

    def distance(self, pair: ir.Value, number: int) -> Any:
        """The distance in elements from the first pair of matrices of a batch to another one."""
        distance, rest = self.number(0), pair
        for length, steps in reversed(self.pairs):
            if length > 1:
                distance = self.plus_steps(distance, self.builder.urem(rest, self.number(length)), steps[number])
                rest = self.builder.udiv(rest, self.number(length))
        return distance

    def emit_pair(self, left: ir.Value, right: ir.Value, out: ir.Value) -> None:
        """Emit the product of two matrices: inline, by gemv or by gemm."""
        rows, columns, _ = self.sizes
        if is_small(self.form):
            self.emit_inline(left, right, out)
        elif 1 in (rows, columns):
            self.emit_vector(left, right, out)
        else:
            self.emit_matrix(left, right, out)

    # -- small products

    def emit_inline(self, left: ir.Value, right: ir.Value, out: ir.Value) -> None:
        """Emit loops for a small product, with sums in binary64."""
        rows, columns, common = self.sizes
        (left_row, left_common), (right_common, right_column), (out_row, out_column) = self.steps
        if columns >= rows:  # vectors are along the columns, otherwise along the rows
            outer, inner = rows, columns
            outer_steps, inner_steps = (left_row, 0, out_row), (0, right_column, out_column)
        else:
            outer, inner = columns, rows
            outer_steps, inner_steps = (0, right_column, out_column), (left_row, 0, out_row)
        if inner == 1:  # the stride does not matter; with 1, stores are vector stores
            inner_steps = (inner_steps[0], inner_steps[1], 1)
        double = np.dtype(np.float64)
        self.use_lanes(1 << (min(WIDTH, inner).bit_length() - 1))
        total = self.local(self.lanes.type(lane_type(double)))
        with self.loop(0, outer) as i, self.loop(0, -(-inner // self.width)) as block:
            place = self.minimum(self.builder.mul(block, self.number(self.width)), self.number(inner - self.width))
            self.builder.store(self.elements.constant(double, 0.0).ir, total)
            starts = [self.plus_steps(self.number(0), i, step) for step in outer_steps]
            with self.loop(0, common) as j:
                factors = []
                for k, (pointer, step) in enumerate(((left, left_common), (right, right_common))):
                    offset = self.plus_steps(starts[k], j, step)
                    loaded = self.load(self.dtype, pointer, offset, place, inner_steps[k])
                    factors.append(self.elements.cast(loaded, self.dtype, double))
                old = Vector(self.lanes, self.builder.load(total, typ=factors[0].ir.type))
                self.builder.store((old + factors[0] * factors[1]).ir, total)
            found = Vector(self.lanes, self.builder.load(total, typ=self.lanes.type(lane_type(double))))
            self.store(self.elements.cast(found, double, self.dtype), self.dtype, out, starts[2], place, inner_steps[2])

    # -- BLAS

    def blas_layout(self, steps: tuple[int, int], rows: int, columns: int) -> tuple[str, int]:
        """The flag and leading dimension with which BLAS, which stores by columns, reads the transpose of a matrix."""
        row_step, column_step = steps
        if columns == 1 or column_step == 1:
            return "N", max(row_step if rows > 1 else columns, columns, 1)
        return "T", max(column_step, rows, 1)

    def emit_matrix(self, left: ir.Value, right: ir.Value, out: ir.Value) -> None:
        """Emit gemm: the transpose of the result is the product of the transposes in reverse order."""
        rows, columns, common = self.sizes
        one, two, (out_step, distance) = self.steps
        if distance != 1:  # the result is stored by columns
            left, right, one, two = right, left, two[::-1], one[::-1]
            rows, columns, out_step = columns, rows, distance
        right_flag, right_step = self.blas_layout(two, common, columns)
        left_flag, left_step = self.blas_layout(one, rows, common)
        right = self.matrix(right, *((columns, common) if right_flag == "N" else (common, columns)), right_step)
        left = self.matrix(left, *((common, rows) if left_flag == "N" else (rows, common)), left_step)
        out_step = max(out_step, columns)
        out = self.matrix(out, columns, rows, out_step)
        matrices = (1.0, right, right_step, left, left_step, 0.0, out, out_step)
        self.call("gemm", right_flag, left_flag, columns, rows, common, *matrices)

    def emit_vector(self, left: ir.Value, right: ir.Value, out: ir.Value) -> None:
        """Emit gemv: one of the operands is a vector."""
        rows, columns, common = self.sizes
        one, two, (row_step, column_step) = self.steps
        if columns == 1:
            flag, step = self.blas_layout(one, rows, common)
            shape = (common, rows) if flag == "N" else (rows, common)
            turned, matrix, vector, distance = "T" if flag == "N" else "N", left, right, two[0]
        else:
            flag, step = self.blas_layout(two, common, columns)
            shape = (columns, common) if flag == "N" else (common, columns)
            turned, matrix, vector, distance = flag, right, left, one[1]
        out_step, distance = max(1, row_step if columns == 1 else column_step), max(1, distance)
        matrix = self.matrix(matrix, *shape, step)
        vector, out = self.matrix(vector, 1, common, distance), self.matrix(out, 1, max(rows, columns), out_step)
        self.call("gemv", turned, *shape, 1.0, matrix, step, vector, distance, 0.0, out, out_step)


def emit_call(block: Block, name: str, instruction: AnyInstruction) -> CallCode:
    """Emit a matrix product."""
    emitter = ProductEmitter(block, name, instruction)
    return CallCode(emitter.emit(), emitter.units)
