"""Emits scatter-add: the gradient of indexing with an array."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from llvmlite import ir

from gradtape.jit.native.emit.builder import start_builder
from gradtape.jit.native.emit.elementwise import Elements, memory_type
from gradtape.jit.native.emit.loops import LONG, POINTER, STATUS, VOID, CallCode, Loops, Slots
from gradtape.jit.native.emit.vectors import Lanes, Vector
from gradtape.jit.native.lower.ir import AnyInstruction
from gradtape.jit.native.schedule.fusion import FusionPlan

if TYPE_CHECKING:
    from gradtape.jit.native.emit.block import Block


class ScatterAddEmitter(Loops):
    """Emits `name(buffers, begin, end)`: clear the result, then add the elements at their positions, in order."""

    def __init__(
        self, module: ir.Module, name: str, instruction: AnyInstruction, plan: FusionPlan, slots: Slots
    ) -> None:
        self.instruction, self.plan, self.slots = instruction, plan, slots
        function = ir.Function(module, ir.FunctionType(VOID, [POINTER, LONG, LONG]), name)
        self.buffers = function.args[0]
        self.entry = function.append_basic_block("entry")
        self.builder = start_builder(self.entry)
        self.lanes = Lanes(self.builder, 1, False)
        self.elements = Elements(self.lanes)

    def emit(self) -> int:
        """Emits the function; a measure of its work, in elements of light loops."""
        builder = self.builder
        given, positions = self.instruction.values
        (result,) = self.instruction.results
        size, count = math.prod(result.shape), math.prod(given.shape)
        source, places = (self.buffer(self.plan.layouts[x].root) for x in (given, positions))
        out, status = self.buffer(result), self.buffer(STATUS)
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
    emitter = ScatterAddEmitter(block.module, name, instruction, block.plan, block.slots)
    return CallCode(emitter.emit())
