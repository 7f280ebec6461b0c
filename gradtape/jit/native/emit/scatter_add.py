"""Emits scatter-add: the gradient of indexing with an array."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.call_emitter import CallEmitter
from gradtape.jit.native.emit.elementwise import memory_type
from gradtape.jit.native.emit.loops import STATUS, CallCode, copy_if_apart
from gradtape.jit.native.emit.vectors import Vector
from gradtape.jit.native.lower.ir import AnyInstruction

if TYPE_CHECKING:
    from gradtape.jit.native.emit.block import Block


class ScatterAddEmitter(CallEmitter):
    """Emits `name(buffers, begin, end)`: clear the result, then add the elements at their positions, in order.

    Where there is a base, the result begins as a copy of it.
    """

    def __init__(self, block: Block, name: str, instruction: AnyInstruction) -> None:
        super().__init__(block, name, instruction)
        self.start_function()
        self.use_lanes(1)

    def emit(self) -> int:
        """Emits the function; a measure of its work, in elements of light loops."""
        builder = self.builder
        given, positions, *base = self.instruction.values
        (result,) = self.instruction.results
        size, count = math.prod(result.shape), math.prod(given.shape)
        source, places = (self.buffer(self.plan.layouts[x].root) for x in (given, positions))
        out, status = self.buffer(result), self.buffer(STATUS)
        if base:
            copy_if_apart(builder, out, self.buffer(self.plan.layouts[base[0]].root), size * result.dtype.itemsize)
        else:
            self.clear(out, size * result.dtype.itemsize)
        if size:
            kind = memory_type(result.dtype)
            with self.loop(0, count) as index:
                found = self.load(positions.dtype, places, self.number(0), index, 1)
                wide = self.elements.cast(found, positions.dtype, np.dtype(np.int64))
                where = builder.extract_element(self.check_index(wide, size, status).ir, ir.Constant(ir.IntType(32), 0))
                term = self.load(result.dtype, source, self.number(0), index, 1)
                if self.instruction.params["adds"]:
                    address = builder.gep(out, [where], source_etype=kind)
                    old = builder.load(address, typ=self.lanes.type(kind), align=result.dtype.itemsize)
                    term = Vector(self.lanes, old) + term
                self.store(term, result.dtype, out, where, self.number(0))
        builder.ret_void()
        return int(size // 8 + 4 * count)


def emit_call(block: Block, name: str, instruction: AnyInstruction) -> CallCode:
    """Emit a scatter-add."""
    emitter = ScatterAddEmitter(block, name, instruction)
    return CallCode(emitter.emit())
