"""Calls that run a block of their own as long as a carried condition holds: see `gradtape.jit.ir.while_loop`."""

from __future__ import annotations

from typing import Any

from gradtape.jit.ir.while_loop import GOES_ON, ROW, WhileLoop
from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.block import Block
from gradtape.jit.native.emit.inner_block import BYTE, InnerBlockEmitter
from gradtape.jit.native.emit.loops import LONG, POINTER, STATUS, CallCode
from gradtape.jit.native.lower.ir import AnyInstruction, ArrayValue
from gradtape.jit.native.schedule.layout import bytes_of

USUAL_STEPS = 100
"""How many steps a loop is taken to have where its work is estimated."""


def emit_call(block: Block, name: str, instruction: AnyInstruction) -> CallCode:
    """Emit a while loop."""
    emitter = WhileLoopEmitter(block, name, instruction)
    work = emitter.emit()
    return CallCode(work, emitter.units, None, emitter.memory)


class WhileLoopEmitter(InnerBlockEmitter):
    """Emits a while loop: the inner block is its body. Each carried value has two buffers, which steps exchange."""

    def emit(self) -> int:
        """Emits the loop; a measure of its work, in elements of light loops."""
        loop = self.instruction.params["loop"]
        body, constants = loop.body, loop.body.constants
        self.open(body.instructions, [*body.inputs, *(constant.value for constant in constants)], body.outputs)
        self.outer.loop_copies += self.inner.find_copies(None)
        space = self.outer_slot(self.instruction)
        self.prepare(space, {self.inner.slots[constant.value]: constant.array for constant in constants})
        operands = [self.outer_slot(key) for key in self.operands]
        results = [self.outer_slot(result) for result in self.instruction.results]
        pairs = []
        for value, operand in zip(body.inputs[: loop.carried], operands, strict=False):
            room = self.room(space, value)
            self.copy_bytes(room, operand, bytes_of(value))
            pairs.append((room, self.room(space, value)))
        first = loop.carried + loop.sliced
        for value, operand in zip(body.inputs[first:], operands[first:], strict=True):
            self.fill_slot(self.inner.slots[value], operand)
        last = self._emit_steps(loop, pairs, operands[loop.carried : first], results[loop.carried :])
        for value, pointer, result in zip(body.inputs, last, results, strict=False):
            self.copy_bytes(result, pointer, bytes_of(value))
        self.builder.ret_void()
        return int(USUAL_STEPS * self.work())

    def _emit_steps(
        self, loop: WhileLoop, pairs: list[tuple[Any, Any]], walked: list[Any], stacks: list[Any]
    ) -> list[Any]:
        """Emit the steps; the addresses of the carried values after the last one."""
        builder, inputs, outputs = self.builder, loop.body.inputs, loop.body.outputs
        before = builder.block
        head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
        builder.branch(head)
        builder.position_at_end(head)
        step = builder.phi(LONG)
        step.add_incoming(self.number(0), before)
        odd = builder.trunc(step, ir.IntType(1))
        now = [builder.select(odd, other, one) for one, other in pairs]
        free = [builder.select(odd, one, other) for one, other in pairs]
        row = builder.load(builder.require(now[ROW], 8, "reads"), typ=LONG)
        builder.cbranch(self._goes_on(loop, now[GOES_ON], row), body, after)
        builder.position_at_end(body)
        for value, pointer in zip(inputs, now, strict=False):
            self.fill_slot(self.inner.slots[value], pointer)
        for value, array in zip(inputs[loop.carried :], walked, strict=False):
            self.fill_slot(self.inner.slots[value], self._row_address(array, row, value))
        targets = list(zip(outputs, free, strict=False))
        for value, stack in zip(outputs[loop.carried :], stacks, strict=True):
            targets.append((value, self._row_address(stack, row, value)))
        direct: dict[Any, Any] = {}
        for value, target in targets:
            if value in self.inner.written and value not in direct:
                direct[value] = target
                self.fill_slot(self.inner.slots[value], target)
        self.run()
        for value, target in targets:
            if direct.get(value) is not target:
                source = builder.load(self.inner_slot(self.inner.slots[value]), typ=POINTER)
                self.copy_bytes(target, source, bytes_of(value))
        step.add_incoming(builder.add(step, self.number(1)), builder.block)
        builder.branch(head)
        builder.position_at_end(after)
        return now

    def _goes_on(self, loop: WhileLoop, condition: Any, row: Any) -> Any:
        """Whether another step is run: a failed one, whose results mean nothing, is the last."""
        builder = self.builder
        flag = builder.load(builder.require(condition, 1, "reads"), typ=BYTE)
        goes_on = builder.icmp_unsigned("!=", flag, ir.Constant(BYTE, 0))
        if loop.has_rows:  # unsigned: a negative row is a large number
            goes_on = builder.and_(goes_on, builder.icmp_unsigned("<", row, self.number(loop.rows)))
        if self.inner.is_checked:
            status = builder.load(self.outer_slot(STATUS), typ=LONG)
            goes_on = builder.and_(goes_on, builder.icmp_unsigned("==", status, self.number(0)))
        return goes_on

    def _row_address(self, array: Any, row: Any, value: ArrayValue) -> Any:
        return self.advance(array, self.builder.mul(row, self.number(bytes_of(value))))
