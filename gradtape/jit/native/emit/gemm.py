"""Emits `dgemm` and `sgemm` for machines with vectors of 512 bits, called like those of BLAS.

The BLAS that SciPy carries chooses its kernels by the model of the CPU, and computes with half of the vector registers,
or of their width, on models that are newer than itself. These functions are made for the machine that is there.

Columns of the result are along vectors, as in BLAS. The common axis is divided into stretches, and for each stretch the
rows of the result into parts: a part of the left operand is copied so that its vectors are contiguous, and then
multiplied with some columns of the right one at a time, which are copied as well. Blocks of three vectors, or one, by
eight columns are added up in registers.

Every element of the result is added up in the order of the common axis, stretch by stretch: its bits depend on its row
and its column only, and not on how a product is divided among threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.builder import Builder
from gradtape.jit.native.emit.elementwise import lane_type
from gradtape.jit.native.emit.loops import LONG, POINTER, VOID, Loops
from gradtape.jit.native.emit.vectors import Lanes, Vector
from gradtape.jit.native.runtime.llvm import Library, Machine, once

INT, BIT = ir.IntType(32), ir.IntType(1)
REGISTER = 64
"""Bytes of a vector."""
COLUMNS = 8
"""Columns of a block of the result,"""
MOST_VECTORS = 3
"""and vectors of each; one where there are fewer."""
FEW_COLUMNS = 4
"""Columns of the blocks at the end of a row, if these are enough."""
STRETCH = {8: 192, 4: 256}
PART = {8: 96, 4: 144}
"""Elements of the common axis, and rows, that are copied at a time, by the bytes of an element: 147 kB."""
PRECISIONS: dict[str, np.dtype[Any]] = {"d": np.dtype(np.float64), "s": np.dtype(np.float32)}


def supports(machine: Machine) -> bool:
    """Whether a machine has the instructions that the functions are emitted for."""
    return "+avx512f" in machine.features


@once
def find_addresses(machine: Machine, letters: str) -> dict[str, int]:
    """Name -> address of the functions for these precisions, which stay in memory; empty without the instructions.

    >>> from gradtape.jit.native.emit.gemm import find_addresses
    >>> from gradtape.jit.native.runtime.llvm import Machine
    >>> find_addresses(Machine(features="-avx512f"), "ds")
    {}
    """
    if not supports(machine):
        return {}
    return {f"{letter}gemm": _library(machine, letter).address(gemm_name(PRECISIONS[letter])) for letter in letters}


@once
def _library(machine: Machine, letter: str) -> Library:
    dtype = PRECISIONS[letter]
    return machine.compile(make_text(dtype), [gemm_name(dtype)])


def gemm_name(dtype: np.dtype[Any]) -> str:
    """The symbol of the function for a dtype.

    >>> import numpy as np
    >>> from gradtape.jit.native.emit.gemm import gemm_name
    >>> gemm_name(np.dtype(np.float32))
    'gradtape_own_sgemm'
    """
    return f"gradtape_own_{'d' if dtype.itemsize == 8 else 's'}gemm"


def make_text(dtype: np.dtype[Any]) -> str:
    """The module with the function for a dtype."""
    module = ir.Module("gradtape_gemm")
    GemmEmitter(module, dtype).emit()
    return str(module)


class GemmEmitter(Loops):
    """Emits the function for a dtype, and those that it calls."""

    def __init__(self, module: ir.Module, dtype: np.dtype[Any]) -> None:
        self.module, self.dtype = module, dtype
        self.kind = lane_type(dtype)
        self.width = REGISTER // dtype.itemsize
        self.stretch, self.part = STRETCH[dtype.itemsize], PART[dtype.itemsize]

    def start(self, name: str, kinds: Sequence[ir.Type]) -> Sequence[Any]:
        """Start a function; its arguments."""
        function = ir.Function(self.module, ir.FunctionType(VOID, kinds), name)
        self.entry = function.append_basic_block("entry")
        self.builder = Builder(self.entry)
        self.lanes = Lanes(self.builder, self.width, fused=True)
        return function.args

    def start_internal(self, name: str, kinds: Sequence[ir.Type]) -> tuple[Any, Sequence[Any]]:
        """Start a function that only this module calls; the function and its arguments."""
        arguments = self.start(name, kinds)
        function = self.builder.function
        function.linkage = "internal"
        return function, arguments

    # -- vectors

    def at(self, pointer: ir.Value, *offsets: Any) -> Any:
        """The address so many elements after a pointer."""
        total: Any = self.number(0)
        for offset in offsets:
            total = self.builder.add(total, offset)
        return self.builder.gep(pointer, [total], source_etype=self.kind)

    def times(self, left: Any, right: Any) -> Any:
        """The product of two integers."""
        return self.builder.mul(left, right)

    def first_lanes(self, count: ir.Value, width: int) -> Any:
        """The mask of the first `count` lanes of `width`; of all of them if there are fewer."""
        limit = self.builder.trunc(self.minimum(count, self.number(width)), INT)
        kind = ir.VectorType(INT, width)
        splat = Lanes(self.builder, width, fused=True).splat(limit).ir
        numbers = ir.Constant(kind, [ir.Constant(INT, lane) for lane in range(width)])
        return self.builder.icmp_signed("<", numbers, splat)

    def load_first(self, pointer: ir.Value, mask: Any) -> Any:
        """The lanes of a vector in memory that are set in a mask, and zeros."""
        kind = ir.VectorType(self.kind, mask.type.count)
        return self.builder.load_masked(pointer, mask, kind, self.dtype.itemsize)

    def store_first(self, value: ir.Value, pointer: ir.Value, mask: Any) -> None:
        """Store the lanes of a vector that are set in a mask."""
        kind = value.type
        name = f"llvm.masked.store.{kind.intrinsic_name}.p0"
        found = self.module.globals.get(name)
        if found is None:
            found = ir.Function(self.module, ir.FunctionType(VOID, [kind, POINTER, INT, mask.type]), name)
        self.builder.call(found, [value, pointer, INT(self.dtype.itemsize), mask])

    def transpose(self, rows: list[Any]) -> list[Any]:
        """The columns of a square of vectors, by exchanging blocks of 1, 2, 4 ... lanes of two of them."""
        width = len(rows)
        distance = 1
        while distance < width:
            exchanged = list(rows)
            for i in range(width):
                if not i & distance:
                    upper = [lane if not lane & distance else width + lane - distance for lane in range(width)]
                    lower = [lane + distance if not lane & distance else width + lane for lane in range(width)]
                    for place, chosen in ((i, upper), (i + distance, lower)):
                        mask = ir.Constant(ir.VectorType(INT, width), [ir.Constant(INT, lane) for lane in chosen])
                        exchanged[place] = self.builder.shuffle_vector(rows[i], rows[i + distance], mask)
            rows = exchanged
            distance *= 2
        return rows

    # -- copies of the operands

    def emit_pack(self, name: str, width: int, by_groups: bool) -> Any:
        """Emit `name(from, step, is_along, lines, length, group, to)`: groups of `width` lines, interleaved.

        Element p of line i is at `i + p * step` of what is copied, or at `i * step + p` if `is_along`, and goes to
        `(i // width) * group + p * width + i % width`. Behind the last line, lanes have any numbers.
        """
        kinds = [POINTER, LONG, BIT, LONG, LONG, LONG, POINTER]
        function, (source, step, is_along, lines, length, group, target) = self.start_internal(name, kinds)
        builder = self.builder
        groups = builder.udiv(builder.add(lines, self.number(width - 1)), self.number(width)) if by_groups else 1
        with builder.if_else(is_along) as (along, across):
            with along, self.loop(0, groups) as number:
                self._pack_along(source, step, lines, length, width, number, self.at(target, self.times(number, group)))
            with across, self.loop(0, length) as p, self.loop(0, groups) as number:
                first = self.times(number, self.number(width))
                mask = self.first_lanes(builder.sub(lines, first), width)
                loaded = self.load_first(self.at(source, self.times(p, step), first), mask)
                place = self.at(target, self.times(number, group), self.times(p, self.number(width)))
                builder.store(loaded, place, align=self.dtype.itemsize)
        builder.ret_void()
        return function

    def _pack_along(
        self, source: Any, step: Any, lines: Any, length: Any, width: int, number: Any, target: Any
    ) -> None:
        """Emit the copy of a group of lines that are contiguous along the common axis."""
        builder = self.builder
        last = builder.sub(lines, self.number(1))
        starts = []
        for i in range(width):
            line = self.minimum(builder.add(self.times(number, self.number(width)), self.number(i)), last)
            starts.append(self.at(source, self.times(line, step)))
        with self.loop(0, self._divide_up(length, width)) as block:
            p = self.times(block, self.number(width))
            mask = self.first_lanes(builder.sub(length, p), width)
            for i, column in enumerate(self.transpose([self.load_first(self.at(start, p), mask) for start in starts])):
                place = self.at(target, self.times(builder.add(p, self.number(i)), self.number(width)))
                builder.store(column, place, align=self.dtype.itemsize)

    def _divide_up(self, length: Any, width: int) -> Any:
        return self.builder.udiv(self.builder.add(length, self.number(width - 1)), self.number(width))

    # -- blocks of the result

    def emit_kernel(self, vectors: int, columns: int) -> Any:
        """Emit `kernel(left, group, right, length, tile)`, which computes the products of a block of the result."""
        kinds = [POINTER, LONG, POINTER, LONG, POINTER]
        function, (left, group, right, length, tile) = self.start_internal(f"kernel_{vectors}_{columns}", kinds)
        builder, kind = self.builder, ir.VectorType(self.kind, self.width)
        cells = [(i, j) for j in range(columns) for i in range(vectors)]
        totals = {cell: self.local(kind) for cell in cells}
        for total in totals.values():
            builder.store(ir.Constant(kind, None), total)
        streams = [self.at(left, self.times(group, self.number(i))) for i in range(vectors)]
        with self.loop(0, length) as p:
            place = self.times(p, self.number(self.width))
            found = [builder.load(self.at(x, place), typ=kind, align=self.dtype.itemsize) for x in streams]
            for j in range(columns):
                where = self.at(right, self.times(p, self.number(COLUMNS)), self.number(j))
                factor = self.lanes.splat(builder.load(where, typ=self.kind, align=self.dtype.itemsize))
                for i in range(vectors):
                    old = Vector(self.lanes, builder.load(totals[i, j], typ=kind))
                    new = self.lanes.multiply_add(Vector(self.lanes, found[i]), factor, old)
                    builder.store(new.ir, totals[i, j])
        for (i, j), total in totals.items():
            value = builder.load(total, typ=kind)
            place = self.number((j * MOST_VECTORS + i) * self.width)
            builder.store(value, self.at(tile, place), align=REGISTER)
        builder.ret_void()
        return function

    def emit_finish(self) -> Any:
        """Emit `finish(tile, vectors, out, step, rows, columns, alpha, beta)`, which adds a block to the result.

        Memory that is multiplied with zero is not read: it may hold anything.
        """
        kinds = [POINTER, LONG, POINTER, LONG, LONG, LONG, self.kind, self.kind]
        function, arguments = self.start_internal("finish", kinds)
        tile, vectors, out, step, rows, columns, alpha, beta = arguments
        builder, kind = self.builder, ir.VectorType(self.kind, self.width)
        adds = self.lanes.splat(builder.fcmp_unordered("!=", beta, ir.Constant(self.kind, 0.0))).ir
        one, other = (self.lanes.splat(number) for number in (alpha, beta))
        with self.loop(0, vectors) as i:
            row = self.times(i, self.number(self.width))
            mask = self.first_lanes(builder.sub(rows, row), self.width)
            read = builder.and_(mask, adds)
            with self.loop(0, columns) as j:
                place = builder.add(row, self.times(j, self.number(MOST_VECTORS * self.width)))
                found = Vector(self.lanes, builder.load(self.at(tile, place), typ=kind, align=REGISTER))
                where = self.at(out, row, self.times(j, step))
                before = Vector(self.lanes, self.load_first(where, read))
                self.store_first(self.lanes.multiply_add(before, other, found * one).ir, where, mask)
        builder.ret_void()
        return function

    def emit_columns(self, columns: int, single: Any, finish: Any) -> Any:
        """Emit `columns(left, group, right, length, out, step, rows, columns, alpha, beta)`, for blocks in a column."""
        full = self.emit_kernel(MOST_VECTORS, columns)
        kinds = [POINTER, LONG, POINTER, LONG, POINTER, LONG, LONG, LONG, self.kind, self.kind]
        function, arguments = self.start_internal(f"columns_{columns}", kinds)
        left, group, right, length, out, step, rows, some, alpha, beta = arguments
        builder = self.builder
        tile = self._scratch(MOST_VECTORS * self.width * COLUMNS)
        count = self._divide_up(rows, self.width)
        whole = builder.udiv(count, self.number(MOST_VECTORS))
        done = self.times(whole, self.number(MOST_VECTORS))
        for kernel, vectors, first, blocks in (
            (full, MOST_VECTORS, self.number(0), whole),
            (single, 1, done, builder.sub(count, done)),
        ):
            with self.loop(0, blocks) as number:
                begin = builder.add(first, self.times(number, self.number(vectors)))
                row = self.times(begin, self.number(self.width))
                builder.call(kernel, [self.at(left, self.times(begin, group)), group, right, length, tile])
                where = [self.at(out, row), step, builder.sub(rows, row), some]
                builder.call(finish, [tile, self.number(vectors), *where, alpha, beta])
        builder.ret_void()
        return function

    def emit(self) -> None:
        """Emit the function, whose arguments are those of BLAS."""
        pack_left = self.emit_pack("pack_left", self.width, by_groups=True)
        pack_right = self.emit_pack("pack_right", COLUMNS, by_groups=False)
        finish, single = self.emit_finish(), self.emit_kernel(1, COLUMNS)
        few, many = (self.emit_columns(columns, single, finish) for columns in (FEW_COLUMNS, COLUMNS))
        given = self.start(gemm_name(self.dtype), [POINTER] * 13)
        builder = self.builder
        flags = [builder.load(pointer, typ=ir.IntType(8), align=1) for pointer in given[:2]]
        left_turned, right_turned = (self._is_turned(flag) for flag in flags)
        rows, columns, common = (self._integer(pointer) for pointer in given[2:5])
        alpha, beta = (builder.load(given[i], typ=self.kind, align=self.dtype.itemsize) for i in (5, 10))
        left, right, out = given[6], given[8], given[11]
        left_step, right_step, out_step = (self._integer(given[i]) for i in (7, 9, 12))
        panel, strip = (self._scratch(lines * self.stretch) for lines in (self.part, COLUMNS))
        stretches = self._divide_up(self.maximum(common, self.number(1)), self.stretch)
        with self.loop(0, stretches) as number:
            p = self.times(number, self.number(self.stretch))
            length = self.minimum(self.number(self.stretch), builder.sub(common, p))
            scale = builder.select(builder.icmp_signed("==", number, self.number(0)), beta, ir.Constant(self.kind, 1.0))
            group = self.times(self._divide_up(length, self.width), self.number(self.width * self.width))
            with self.loop(0, self._divide_up(rows, self.part)) as part:
                row = self.times(part, self.number(self.part))
                height = self.minimum(self.number(self.part), builder.sub(rows, row))
                source = self.at(left, self._offset(left_turned, row, p, left_step))
                builder.call(pack_left, [source, left_step, left_turned, height, length, group, panel])
                with self.loop(0, self._divide_up(columns, COLUMNS)) as block:
                    column = self.times(block, self.number(COLUMNS))
                    some = self.minimum(self.number(COLUMNS), builder.sub(columns, column))
                    is_along = builder.not_(right_turned)
                    source = self.at(right, self._offset(is_along, column, p, right_step))
                    builder.call(pack_right, [source, right_step, is_along, some, length, self.number(0), strip])
                    place = self.at(out, self.times(column, out_step), row)
                    arguments = [panel, group, strip, length, place, out_step, height, some, alpha, scale]
                    with builder.if_else(builder.icmp_signed("<", self.number(FEW_COLUMNS), some)) as (yes, no):
                        with yes:
                            builder.call(many, arguments)
                        with no:
                            builder.call(few, arguments)
        builder.ret_void()

    def _is_turned(self, flag: ir.Value) -> Any:
        """Whether the flag of an operand is T or C."""
        upper = self.builder.and_(flag, ir.IntType(8)(0xDF))
        return self.builder.icmp_signed("!=", upper, ir.IntType(8)(ord("N")))

    def _integer(self, pointer: ir.Value) -> Any:
        return self.builder.sext(self.builder.load(pointer, typ=INT, align=4), LONG)

    def _scratch(self, size: int) -> Any:
        """Memory on the stack."""
        memory = self.local(ir.ArrayType(self.kind, size))
        memory.align = REGISTER
        return self.builder.inttoptr(self.builder.ptrtoint(memory, LONG), POINTER)

    def _offset(self, is_along: ir.Value, line: Any, p: Any, step: ir.Value) -> Any:
        """The offset of element p of a line of an operand."""
        builder = self.builder
        along = builder.add(self.times(line, step), p)
        return builder.select(is_along, along, builder.add(self.times(p, step), line))
