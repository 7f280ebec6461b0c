"""The base class of the emitters of calls: instructions that have a function of their own instead of a loop nest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.builder import start_builder
from gradtape.jit.native.emit.elementwise import Elements
from gradtape.jit.native.emit.loops import LONG, POINTER, VOID, Loops
from gradtape.jit.native.emit.vectors import Lanes
from gradtape.jit.native.lower.ir import AnyInstruction

if TYPE_CHECKING:
    from gradtape.jit.native.emit.block import Block


class CallEmitter(Loops):
    """Emits `name(buffers, begin, end)` for one instruction of a block: the units from `begin` to `end` of its work."""

    begin: ir.Value
    end: ir.Value

    def __init__(self, block: Block, name: str, instruction: AnyInstruction) -> None:
        self.module, self.machine, self.plan, self.slots = block.module, block.machine, block.plan, block.slots
        self.name, self.instruction = name, instruction

    def start_function(self) -> None:
        """Add the function to the module, and place the builder at its entry."""
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER, LONG, LONG]), self.name)
        self.buffers, self.begin, self.end = function.args
        self.entry = function.append_basic_block("entry")
        self.builder = start_builder(self.entry)

    def use_lanes(self, width: int) -> None:
        """Compute with vectors of `width` elements from here on."""
        self.width = width
        self.lanes = Lanes(self.builder, width, self.machine.fused)
        self.elements = Elements(self.lanes)
