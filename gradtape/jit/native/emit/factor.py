"""Emits matrix factorisations through LAPACK; see `lower.factor`.

LAPACK stores matrices by columns, arrays here are stored by rows. As in NumPy, a matrix is transposed to column order
before it is factorised. A triangular matrix is not copied: LAPACK solves with its transpose.

For small matrices with several right sides, the substitution is emitted here, for all right sides at once: LAPACK would
distribute them over threads, which takes longer than the work, and far longer if the cores are busy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.elementwise import Elements, lane_type
from gradtape.jit.native.emit.fortran_call import INT, FortranCalls
from gradtape.jit.native.emit.loops import LONG, STATUS, CallCode
from gradtape.jit.native.emit.vectors import Lanes, Vector
from gradtape.jit.native.lower.factor import (
    CHECKED,
    CHOLESKY,
    CHOLESKY_GRADIENT,
    COFACTOR,
    DETERMINANT,
    LOG_DETERMINANT,
    SOLVE,
    TRIANGULAR,
)
from gradtape.jit.native.lower.ir import AnyInstruction, ArrayValue

if TYPE_CHECKING:
    from gradtape.jit.native.emit.block import Block

_DOUBLE = np.dtype(np.float64)
ALIGNMENT = 64
WIDTH = 8
SMALL = 1 << 18
"""Multiplications up to which the substitution with several right sides is emitted here."""


class FactorEmitter(FortranCalls):
    """Emits `name(buffers, begin, end)` for a stack of matrices, in sequence."""

    def __init__(self, block: Block, name: str, instruction: AnyInstruction) -> None:
        super().__init__(block, name, instruction)
        self.dtype = instruction.values[0].dtype
        self.size = instruction.values[0].shape[-1]
        alone = (CHOLESKY, CHOLESKY_GRADIENT, COFACTOR, DETERMINANT, LOG_DETERMINANT)
        self.columns = 0 if instruction.name in alone else self.size
        if instruction.name in (SOLVE, TRIANGULAR):
            self.columns = instruction.values[1].shape[-1]
        self.start_function()
        self.use_lanes(1)
        self.by_rows = self.columns > 1 and self.size**2 * self.columns <= SMALL
        parts = [self.size**2, self.size * self.columns]
        item = self.dtype.itemsize
        self.starts = [0, *np.cumsum([-(-count * item // ALIGNMENT) * ALIGNMENT for count in parts]).tolist()]
        self.memory = self.starts[2] + 4 * self.size  # for the matrix, the right side and the row numbers

    def emit(self) -> int:
        """Emits the function; a measure of its work, in elements of light loops."""
        operands, results = self.instruction.values, self.instruction.results
        count = max(1, math.prod(results[0].shape[: len(results[0].shape) - 2]))
        if self.instruction.name in (DETERMINANT, LOG_DETERMINANT):
            count = max(1, math.prod(results[0].shape))
        given = [self.buffer(self.plan.layouts[x].root) for x in operands]
        out = [self.buffer(x) for x in results]
        self.space = self.buffer(self.instruction)
        self.info = self.local(INT)
        with self.loop(0, count) as number:
            first = [self.nth(pointer, x, number, count) for pointer, x in zip(given, operands, strict=True)]
            last = [self.nth(pointer, x, number, count) for pointer, x in zip(out, results, strict=True)]
            self.emit_one(first, last)
        self.builder.ret_void()
        return int(count * (1000 + self.size**2 * (self.size + self.columns) // 4))

    def nth(self, pointer: ir.Value, value: ArrayValue, number: ir.Value, count: int) -> Any:
        """The address of a matrix (or scalar) of a stack; the same for all if the operand is broadcast."""
        single = value in self.instruction.results and self.instruction.name in (DETERMINANT, LOG_DETERMINANT)
        each = 1 if single else math.prod(value.shape[-2:])
        step = each if math.prod(value.shape) == each * count else 0
        return self.at(pointer, self.builder.mul(number, self.number(step)))

    def at(self, pointer: ir.Value, place: ir.Value) -> Any:
        """The address `place` elements after a pointer."""
        return self.builder.gep(pointer, [place], source_etype=lane_type(self.dtype))

    def part(self, number: int) -> Any:
        """The workspace's part for the matrix, the right side or the row numbers."""
        return self.builder.gep(self.space, [self.number(self.starts[number])], source_etype=ir.IntType(8))

    # -- single elements

    def read(self, pointer: ir.Value, place: ir.Value) -> Vector:
        """Load one element."""
        kind = lane_type(self.dtype)
        found = self.builder.load(self.at(pointer, place), typ=kind, align=self.dtype.itemsize)
        return self.lanes.splat(found)

    def write(self, value: Vector, pointer: ir.Value, place: ir.Value) -> None:
        """Store one element."""
        self.store(value, self.dtype, pointer, place, self.number(0))

    def place(self, row: ir.Value, column: ir.Value, length: int) -> Any:
        """The position of an element in a matrix of rows of `length`."""
        return self.builder.add(self.builder.mul(row, self.number(length)), column)

    def each(self, rows: int, columns: int, action: Callable[[Any, Any], None]) -> None:
        """Emit a loop over all elements of a matrix."""
        with self.loop(0, rows) as row, self.loop(0, columns) as column:
            action(row, column)

    def transpose(self, source: ir.Value, target: ir.Value, rows: int, columns: int) -> None:
        """Transpose a matrix stored by rows into one stored by columns."""
        if 1 in (rows, columns):
            self.each(1, rows * columns, lambda _, place: self.write(self.read(source, place), target, place))
            return
        self.each(
            rows,
            columns,
            lambda row, column: self.write(
                self.read(source, self.place(row, column, columns)), target, self.place(column, row, rows)
            ),
        )

    # -- the functions

    def square(self, pointer: ir.Value) -> Any:
        """The address of a matrix of the size of the factorised ones, after a bounds check."""
        return self.matrix(pointer, self.size, self.size, self.size)

    def emit_one(self, given: list[Any], out: list[Any]) -> None:
        """Emit the factorisation of one matrix."""
        name, size = self.instruction.name, self.size
        if name == CHOLESKY:
            self.emit_cholesky(given[0], out[0])
        elif name == CHOLESKY_GRADIENT:
            self.emit_cholesky_gradient(given, out[0])
        elif name == TRIANGULAR:
            self.emit_triangular(given, out[0])
        else:
            self.transpose(given[0], self.part(0), size, size)
            self.call("getrf", size, size, self.square(self.part(0)), size, self.part(2), self.address(self.info))
            if name in (DETERMINANT, LOG_DETERMINANT):
                self.emit_determinant(out)
            else:
                self.emit_solution(given, out[0])

    def failed(self) -> Any:
        """Whether LAPACK has reported a failure."""
        return self.builder.icmp_signed("!=", self.builder.load(self.info, typ=INT), ir.Constant(INT, 0))

    def check(self) -> None:
        """Set the status if the last call of LAPACK failed."""
        assert self.instruction.name in CHECKED
        with self.builder.if_then(self.failed(), likely=False):
            self.builder.store(self.number(1), self.buffer(STATUS))

    def emit_solution(self, given: list[Any], out: ir.Value) -> None:
        """Emit the solution with a factorised matrix, or its inverse."""
        size, columns, right = self.size, self.columns, self.part(1)
        self.check()
        if self.by_rows:
            self.emit_rows(given, out)
            return
        if self.instruction.name == SOLVE:
            self.transpose(given[1], right, size, columns)
        else:
            self.emit_identity(right)
        right = self.matrix(right, size, columns, size)
        arguments = (self.square(self.part(0)), size, self.part(2), right, size, self.address(self.info))
        self.call("getrs", "N", size, columns, *arguments)
        self.transpose(right, out, columns, size)

    def emit_identity(self, target: ir.Value) -> None:
        """Emit an identity matrix as the right side."""
        size = self.size
        one, zero = (self.elements.constant(self.dtype, x) for x in (1, 0))
        self.each(size, size, lambda row, column: self.write(zero, target, self.place(row, column, size)))
        self.each(1, size, lambda _, row: self.write(one, target, self.place(row, row, size)))

    def emit_rows(self, given: list[Any], out: ir.Value) -> None:
        """Permute the rows of the right side, then substitute with both triangles of LU, in place in the result."""
        builder, size, columns = self.builder, self.size, self.columns
        if self.instruction.name == SOLVE:
            self.each(1, size * columns, lambda _, place: self.write(self.read(given[1], place), out, place))
        else:
            self.emit_identity(out)
        with self.loop(0, size) as row:
            where = builder.load(builder.gep(self.part(2), [row], source_etype=INT), typ=INT)
            other = builder.sub(builder.sext(where, LONG), self.number(1))
            with builder.if_then(builder.icmp_signed("!=", row, other)), self.loop(0, columns) as column:
                places = [self.place(x, column, columns) for x in (row, other)]
                values = [self.read(out, place) for place in places]
                for value, place in zip(values, reversed(places), strict=True):
                    self.write(value, out, place)
        matrix = self.part(0)
        self.substitute(lambda row, column: self.place(column, row, size), matrix, out, lower=True, unit=True)
        self.substitute(lambda row, column: self.place(column, row, size), matrix, out, lower=False, unit=False)

    def substitute(
        self, place_of: Callable[[Any, Any], Any], matrix: ir.Value, out: ir.Value, lower: bool, unit: bool
    ) -> None:
        """Solve with a triangular matrix, row by row, for a vector of columns of the right side at a time."""
        builder, size, columns = self.builder, self.size, self.columns
        narrow = self.lanes, self.elements
        width = 1 << (min(WIDTH, columns).bit_length() - 1)
        kind = ir.VectorType(lane_type(self.dtype), width)
        total = self.local(kind)
        blocks, rest = divmod(columns, width)
        for count, lanes_wide, first in ((blocks, width, 0), (rest, 1, blocks * width)):
            if not count:
                continue
            self.lanes = Lanes(builder, lanes_wide, self.machine.fused)
            self.elements = Elements(self.lanes)
            memory = total if lanes_wide == width else self.local(self.lanes.type(lane_type(self.dtype)))
            vector = self.lanes.type(lane_type(self.dtype))
            with self.loop(0, count) as block, self.loop(0, size) as step:
                column = builder.add(builder.mul(block, self.number(lanes_wide)), self.number(first))
                row = step if lower else builder.sub(self.number(size - 1), step)
                here = builder.mul(row, self.number(columns))
                builder.store(self.load(self.dtype, out, here, column, 1).ir, memory)
                begin: Any = 0 if lower else builder.add(row, self.number(1))
                with self.loop(begin, row if lower else self.number(size)) as other:
                    factor = self.read(matrix, place_of(row, other))
                    there = self.load(self.dtype, out, builder.mul(other, self.number(columns)), column, 1)
                    old = Vector(self.lanes, builder.load(memory, typ=vector))
                    builder.store((old - factor * there).ir, memory)
                found = Vector(self.lanes, builder.load(memory, typ=vector))
                if not unit:
                    found = found / self.read(matrix, place_of(row, row))
                self.store(found, self.dtype, out, here, column)
        self.lanes, self.elements = narrow

    def check_diagonal(self, matrix: ir.Value) -> None:
        """Set the status if an element of the diagonal is 0."""
        with self.loop(0, self.size) as row:
            zero = self.read(matrix, self.place(row, row, self.size)).equals(0)
            with self.builder.if_then(self.lanes.any(zero), likely=False):
                self.builder.store(self.number(1), self.buffer(STATUS))

    def emit_triangle_by_rows(self, given: list[Any], out: ir.Value) -> None:
        """Emit the substitution with a triangular matrix, for all right sides at once."""
        size, params = self.size, self.instruction.params
        self.each(1, size * self.columns, lambda _, place: self.write(self.read(given[1], place), out, place))
        lower = bool(params["lower"]) != bool(params["trans"])
        if not params["unit"]:
            self.check_diagonal(given[0])

        def place_of(row: ir.Value, column: ir.Value) -> Any:
            return self.place(column, row, size) if params["trans"] else self.place(row, column, size)

        self.substitute(place_of, given[0], out, lower=lower, unit=bool(params["unit"]))

    def emit_triangular(self, given: list[Any], out: ir.Value) -> None:
        """Emit the solution with a triangular matrix, by LAPACK unless it is small."""
        size, columns, params = self.size, self.columns, self.instruction.params
        if self.by_rows:
            self.emit_triangle_by_rows(given, out)
            return
        right = self.part(1)
        self.transpose(given[1], right, size, columns)
        flags = ("U" if params["lower"] else "L", "N" if params["trans"] else "T", "U" if params["unit"] else "N")
        arguments = (self.square(given[0]), size, self.matrix(right, size, columns, size), size)
        self.call("trtrs", *flags, size, columns, *arguments, self.address(self.info))
        self.check()
        self.transpose(right, out, columns, size)

    def emit_cholesky(self, matrix: ir.Value, out: ir.Value) -> None:
        """Cholesky factor of the symmetric part. By rows, the lower factor is the upper one for LAPACK."""
        size, half = self.size, self.elements.constant(self.dtype, 2)

        def mean(row: ir.Value, column: ir.Value) -> None:
            here, there = self.place(row, column, size), self.place(column, row, size)
            self.write((self.read(matrix, here) + self.read(matrix, there)) / half, out, here)

        self.each(size, size, mean)
        self.call("potrf", "U", size, self.square(out), size, self.address(self.info))
        self.check()
        zero = self.elements.constant(self.dtype, 0)
        with self.loop(0, size) as row, self.loop(self.builder.add(row, self.number(1)), self.number(size)) as column:
            self.write(zero, out, self.place(row, column, size))

    def emit_cholesky_gradient(self, given: list[Any], out: ir.Value) -> None:
        """l^-T s l^-1 with the symmetric s that has the lower triangle of l^T g / 2; by rows, l is upper for BLAS."""
        size, factor = self.size, given[1]
        self.check_diagonal(factor)
        self.each(1, size * size, lambda _, place: self.write(self.read(given[0], place), out, place))
        matrices = (self.square(factor), size, self.square(out), size)
        self.call("trmm", "R", "U", "T", "N", size, size, 0.5, *matrices)

        def mirror(row: ir.Value, column: ir.Value) -> None:
            self.write(self.read(out, self.place(row, column, size)), out, self.place(column, row, size))

        def mean(row: ir.Value, column: ir.Value) -> None:
            here, there = self.place(row, column, size), self.place(column, row, size)
            half = (self.read(out, here) + self.read(out, there)) / self.elements.constant(self.dtype, 2)
            self.write(half, out, here)
            self.write(half, out, there)

        self.below_diagonal(mirror)
        self.call("trsm", "R", "U", "T", "N", size, size, 1.0, *matrices)
        self.call("trsm", "L", "U", "N", "N", size, size, 1.0, *matrices)
        self.below_diagonal(mean)

    def below_diagonal(self, action: Callable[[Any, Any], None]) -> None:
        """Emit a loop over the elements below the diagonal."""
        with self.loop(0, self.size) as row, self.loop(0, row) as column:
            action(row, column)

    def emit_determinant(self, out: list[Any]) -> None:
        """The sign and the sum of logarithms of the diagonal; 0 and -inf for a singular matrix."""
        builder, lanes, elements = self.builder, self.lanes, self.elements
        kind = lane_type(_DOUBLE)
        total, sign = (self.local(lanes.type(kind)) for _ in range(2))
        builder.store(elements.constant(_DOUBLE, 0).ir, total)
        builder.store(elements.constant(_DOUBLE, 1).ir, sign)
        with self.loop(0, self.size) as row:
            found = elements.cast(self.read(self.part(0), self.place(row, row, self.size)), self.dtype, _DOUBLE)
            where = builder.gep(self.part(2), [row], source_etype=INT)
            moved = builder.icmp_signed(
                "!=", builder.sext(builder.load(where, typ=INT), LONG), builder.add(row, self.number(1))
            )
            turns = builder.xor(moved, builder.extract_element((found < 0.0).ir, ir.Constant(INT, 0)))
            old = Vector(lanes, builder.load(sign, typ=lanes.type(kind)))
            builder.store(builder.select(turns, (-old).ir, old.ir), sign)
            logarithm = elements.function("log", _DOUBLE, lanes.absolute(found))
            before = Vector(lanes, builder.load(total, typ=lanes.type(kind)))
            builder.store((before + logarithm).ir, total)
        with builder.if_then(self.failed(), likely=False):
            builder.store(elements.constant(_DOUBLE, 0).ir, sign)
            builder.store(elements.constant(_DOUBLE, -np.inf).ir, total)
        answers = [Vector(lanes, builder.load(x, typ=lanes.type(kind))) for x in (sign, total)]
        if self.instruction.name == DETERMINANT:
            answers = [answers[0] * elements.function("exp", _DOUBLE, answers[1])]
        for pointer, answer in zip(out, answers, strict=True):
            self.write(elements.cast(answer, _DOUBLE, self.dtype), pointer, self.number(0))


def emit_call(block: Block, name: str, instruction: AnyInstruction) -> CallCode:
    """Emit a factorisation."""
    from gradtape.jit.native.emit import small_factor  # it extends the class above

    small = small_factor.applies(instruction)
    emitter = (small_factor.SmallFactorEmitter if small else FactorEmitter)(block, name, instruction)
    return CallCode(emitter.emit(), memory=emitter.memory)
