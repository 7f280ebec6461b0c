"""Emits the sum of columns into the rows of a table: the gradient of `table[index]`, column by column."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.call_emitter import CallEmitter
from gradtape.jit.native.emit.elementwise import memory_type
from gradtape.jit.native.emit.loops import STATUS, CallCode
from gradtape.jit.native.emit.vectors import Vector
from gradtape.jit.native.lower.ir import AnyInstruction

if TYPE_CHECKING:
    from gradtape.jit.native.emit.block import Block


class AddRowsEmitter(CallEmitter):
    """Emits `name(buffers, begin, end)`: clear the result, then add the elements of the columns, row by row."""

    def __init__(self, block: Block, name: str, instruction: AnyInstruction) -> None:
        super().__init__(block, name, instruction)
        self.start_function()
        self.use_lanes(1)

    def emit(self) -> int:
        """Emits the function; a measure of its work, in elements of light loops."""
        builder = self.builder
        *columns, index = self.instruction.values
        (result,) = self.instruction.results
        numbers, width = self.instruction.params["columns"], self.instruction.params["width"]
        size, count = math.prod(result.shape), math.prod(index.shape)
        *sources, places = (self.buffer(self.plan.layouts[x].root) for x in (*columns, index))
        out, status = self.buffer(result), self.buffer(STATUS)
        self.clear(out, size * result.dtype.itemsize)
        if size:
            kind, zero = memory_type(result.dtype), ir.Constant(ir.IntType(32), 0)
            with self.loop(0, count) as number:
                found = self.load(index.dtype, places, self.number(0), number, 1)
                wide = self.elements.cast(found, index.dtype, np.dtype(np.int64))
                row = builder.extract_element(self.check_index(wide, size // width, status).ir, zero)
                first = builder.mul(row, self.number(width))
                for column, source in zip(numbers, sources, strict=True):
                    term = self.load(result.dtype, source, self.number(0), number, 1)
                    where = builder.add(first, self.number(column))
                    address = builder.gep(out, [where], source_etype=kind)
                    old = builder.load(address, typ=self.lanes.type(kind), align=result.dtype.itemsize)
                    self.store(Vector(self.lanes, old) + term, result.dtype, out, where, self.number(0))
        builder.ret_void()
        return int(size // 8 + 4 * count * len(columns))


def emit_call(block: Block, name: str, instruction: AnyInstruction) -> CallCode:
    """Emit the sum of columns into rows."""
    emitter = AddRowsEmitter(block, name, instruction)
    return CallCode(emitter.emit())
