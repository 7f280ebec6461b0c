"""The code of matrix products: see `products` for which there are."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from gradtape.jit.native.compiler import Machine
from gradtape.jit.native.elementwise import Elements, lane_type
from gradtape.jit.native.expression import Lanes, Value
from gradtape.jit.native.loops import LONG, POINTER, VOID, Loops
from gradtape.jit.native.products import is_small, sizes

WIDTH = 8
INT = ir.IntType(32)


class ProductEmitter(Loops):
    """Emits `name(buffers, begin, end)` for one product."""

    def __init__(self, module: Any, machine: Machine, name: str, instruction: Any, plan: Any, slots: Any) -> None:
        self.module, self.name, self.instruction = module, name, instruction
        self.dtype = instruction.results[0].dtype
        function = ir.Function(module, ir.FunctionType(VOID, [POINTER, LONG, LONG]), name)
        self.entry = function.append_basic_block("entry")
        self.builder = ir.IRBuilder(self.entry)
        self.machine, self.buffers, self.slots = machine, function.args[0], slots
        self.places = [plan.places[x] for x in instruction.operands]
        self.steps = [self.matrix_steps(i) for i in range(2)]

    def matrix_steps(self, number: int) -> tuple[int, int]:
        """The steps of an operand as a matrix: a vector on the left is a row, on the right a column."""
        steps = tuple(self.places[number].steps)
        if len(steps) == 1:
            return (0, steps[0]) if number == 0 else (steps[0], 0)
        return (steps[0], steps[1])

    def pointer(self, value: Any, offset: int) -> Any:
        address = self.builder.gep(self.buffers, [self.number(self.slots[value])], source_etype=POINTER)
        start = self.builder.load(address, typ=POINTER)
        return self.builder.gep(start, [self.number(offset)], source_etype=lane_type(self.dtype))

    def emit(self) -> int:
        """Emits the function; a measure of its work, in elements of light loops."""
        left, right = (self.pointer(place.root, place.offset) for place in self.places)
        out = self.pointer(self.instruction.results[0], 0)
        rows, columns, common = sizes(self.instruction)
        if is_small(self.instruction):
            self.emit_inline(left, right, out)
        elif 1 in (rows, columns) and rows * columns:
            self.emit_vector(left, right, out)
        else:
            self.emit_matrix(left, right, out)
        self.builder.ret_void()
        return rows * columns * common // 8

    # -- small ones

    def emit_inline(self, left: Any, right: Any, out: Any) -> None:
        rows, columns, common = sizes(self.instruction)
        (left_row, left_common), (right_common, right_column) = self.steps
        if columns >= rows:  # lanes go along the columns, or else along the rows
            outer, inner = rows, columns
            outer_steps, inner_steps = (left_row, 0, columns), (0, right_column, 1)
        else:
            outer, inner = columns, rows
            outer_steps, inner_steps = (0, right_column, 1), (left_row, 0, columns)
        if not outer * inner:
            return
        double = np.dtype(np.float64)
        self.width = 1 << (min(WIDTH, inner).bit_length() - 1)
        self.lanes = Lanes(self.builder, self.width, self.machine.fused)
        self.elements = Elements(self.lanes)
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
                old = Value(self.lanes, self.builder.load(total, typ=factors[0].ir.type))
                self.builder.store((old + factors[0] * factors[1]).ir, total)
            found = Value(self.lanes, self.builder.load(total, typ=self.lanes.type(lane_type(double))))
            self.store(self.elements.cast(found, double, self.dtype), self.dtype, out, starts[2], place, inner_steps[2])

    # -- the rest

    def constant(self, kind: Any, value: Any) -> Any:
        """The address of a number: BLAS takes all its arguments by address."""
        memory = self.local(kind)
        self.builder.store(ir.Constant(kind, value), memory)
        return self.builder.inttoptr(self.builder.ptrtoint(memory, LONG), POINTER)

    def call(self, function: str, *arguments: Any) -> None:
        letter = "d" if self.dtype == np.dtype(np.float64) else "s"
        name = f"gradtape_{letter}{function}"
        found = self.module.globals.get(name)
        if found is None:
            found = ir.Function(self.module, ir.FunctionType(VOID, [POINTER] * len(arguments)), name)
        element = lane_type(self.dtype)
        given = []
        for x in arguments:
            if isinstance(x, str):
                given.append(self.constant(ir.IntType(8), ord(x)))
            elif isinstance(x, float):
                given.append(self.constant(element, x))
            else:
                given.append(self.constant(INT, x) if isinstance(x, int) else x)
        self.builder.call(found, given)

    def stored(self, number: int, rows: int, columns: int) -> tuple[str, int]:
        """How BLAS, for which matrices are stored by columns, sees an operand's transpose: as it is or transposed."""
        row_step, column_step = self.steps[number]
        if columns == 1 or column_step == 1:
            return "N", max(row_step if rows > 1 else columns, columns, 1)
        return "T", max(column_step, rows, 1)

    def emit_matrix(self, left: Any, right: Any, out: Any) -> None:
        """The transpose of the result is the product of the transposes, in reverse order."""
        rows, columns, common = sizes(self.instruction)
        right_flag, right_step = self.stored(1, common, columns)
        left_flag, left_step = self.stored(0, rows, common)
        matrices = (1.0, right, right_step, left, left_step, 0.0, out, columns)
        self.call("gemm", right_flag, left_flag, columns, rows, common, *matrices)

    def emit_vector(self, left: Any, right: Any, out: Any) -> None:
        rows, columns, common = sizes(self.instruction)
        if columns == 1:
            flag, step = self.stored(0, rows, common)
            shape = (common, rows) if flag == "N" else (rows, common)
            turned, matrix, vector, distance = "T" if flag == "N" else "N", left, right, self.steps[1][0]
        else:
            flag, step = self.stored(1, common, columns)
            shape = (columns, common) if flag == "N" else (common, columns)
            turned, matrix, vector, distance = flag, right, left, self.steps[0][1]
        self.call("gemv", turned, *shape, 1.0, matrix, step, vector, max(1, distance), 0.0, out, 1)
