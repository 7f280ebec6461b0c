"""A block: the native code of a list of instructions, and of the bodies of the loops among them.

A block is a function of a table of pointers. A slot of the table is the memory of an input, of an output, or of what
the block keeps in between; the slots of a block are its own, and whoever calls it fills the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llvmlite import ir

from gradtape.jit.native.compiler import Machine
from gradtape.jit.native.elementwise import often_used
from gradtape.jit.native.expanding import CHECKED, FILLING, PART, expanded
from gradtape.jit.native.filling import FillingEmitter
from gradtape.jit.native.loops import LONG, POINTER, STATUS, VOID, Loops
from gradtape.jit.native.multiplying import ProductEmitter
from gradtape.jit.native.nests import NestCode, NestEmitter, emit_zeros
from gradtape.jit.native.planning import LOOP, CallStep, Nest, Plan

ALIGNMENT = 64
BYTE = ir.IntType(8)


class Block:
    """The functions of a block in `module`, and the memory that the block needs.

    `codes` are its steps in order; `{prefix}run(table)` runs them all. `temporaries` are slots with their offsets in
    `workspace` bytes of memory; `held` are arrays that are the same in every run, by their slots. A block that
    `is_checked` has a slot for the address of a number, 0 to begin with, that it sets if a position does not exist.
    """

    def __init__(
        self,
        module: Any,
        machine: Machine,
        instructions: Sequence[Any],
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        steps: Mapping[Any, tuple[int, ...]] | None = None,
        prefix: str = "",
    ) -> None:
        self.module, self.machine, self.prefix = module, machine, prefix
        self.plan = plan = Plan(instructions, inputs, outputs, dict(steps or {}))
        self.inputs, self.written = tuple(inputs), tuple(plan.written)
        self.codes: list[NestCode] = []
        self.addresses: dict[str, int] = {}  # where the arrays are that the code reads by name
        self._sizes = {value: _bytes(value) for value in plan.handed_on}
        self._lives: dict[Any, list[int]] = {}
        reductions = [reduction for nest in plan.nests for reduction in nest.reductions]
        loops = [call.instruction for call in plan.calls if call.instruction.name == LOOP]
        keys = [*inputs, *self.written, *plan.handed_on, *reductions, *loops, *plan.held]
        self.is_checked = self._looks_at_positions(loops)
        self.slots = {key: i for i, key in enumerate([*keys, STATUS] if self.is_checked else keys)}
        self.count = len(self.slots)
        self.slots |= {value: self.slots[output] for value, output in plan.aliases.items()}
        self.held = {self.slots[value]: array for value, array in plan.held.items()}
        self.kept: list[Any] = []  # arrays whose addresses the code knows
        self._outlined = often_used([instruction for nest in plan.nests for instruction in nest.instructions])
        for i, step in enumerate(plan.steps):
            if isinstance(step, Nest):
                self._emit_nest(f"{prefix}nest_{i}", step)
            else:
                self._emit_call(f"{prefix}call_{i}", step)
        self.temporaries, self.workspace = self._arranged()
        self._emit_run()

    def _looks_at_positions(self, loops: Sequence[Any]) -> bool:
        """Whether there are positions that may not exist, in the bodies of loops, too."""
        if any(instruction.name in CHECKED for instruction in self.plan.instructions):
            return True
        bodies = [inner for loop in loops for inner in loop.params["loop"].body.instructions]
        return any(i.name in CHECKED or i.name == LOOP for i in expanded(bodies))

    def _uses(self, keys: Iterable[Any]) -> None:
        """What the step that was emitted last reads or writes."""
        for key in keys:
            if key in self._sizes:
                self._lives.setdefault(key, []).append(len(self.codes) - 1)

    def _emit_nest(self, name: str, nest: Nest) -> None:
        for j, scatter in enumerate(nest.scatters):
            (result,) = scatter.results
            if scatter.name == PART:  # all of it is written
                continue
            self.codes.append(emit_zeros(self.module, f"{name}_zeros_{j}", self.slots[result], _bytes(result)))
            self._uses([result])
        code = NestEmitter(self.module, self.machine, name, nest, self.plan, self.slots, self._outlined).emit()
        self.codes.append(code)
        self._sizes |= code.partial_sizes
        made = [instruction.results[0] for instruction in nest.scatters + nest.reductions]
        roots = [self.plan.places[value].root for value in (*nest.loads, *nest.tables)]
        self._uses([*roots, *nest.stores, *made, *code.partial_sizes])

    def _emit_call(self, name: str, step: CallStep) -> None:
        instruction, units = step.instruction, 1
        if instruction.name == LOOP:
            emitter = LoopEmitter(self, name, instruction)
            work = emitter.emit()
            self._sizes[instruction] = emitter.memory
        elif instruction.name == FILLING:
            work = FillingEmitter(self.module, name, instruction, self.plan, self.slots).emit()
        else:
            product = ProductEmitter(self.module, self.machine, name, instruction, self.plan, self.slots)
            work, units = product.emit(), product.units
        self.codes.append(NestCode(name, units, None, work, False, {}))
        roots = [self.plan.places[value].root for value in instruction.operands]
        self._uses([*roots, *instruction.results, instruction])

    def _arranged(self) -> tuple[list[tuple[int, int]], int]:
        """The offset of each temporary in one piece of memory: two may share it if they are never needed at once."""
        placed: list[tuple[int, int, int, int]] = []  # offset, end, first step, last step
        temporaries: list[tuple[int, int]] = []
        for key, size in sorted(self._sizes.items(), key=lambda item: -item[1]):
            steps = self._lives.get(key, [0, len(self.codes)])
            first, last = min(steps), max(steps)
            length = -(-size // ALIGNMENT) * ALIGNMENT
            offset = 0
            for start, end, begin, finish in sorted(placed):
                if begin <= last and first <= finish and start < offset + length and offset < end:
                    offset = end
            placed.append((offset, offset + length, first, last))
            temporaries.append((self.slots[key], offset))
        return temporaries, max((end for _, end, _, _ in placed), default=0)

    def _emit_run(self) -> None:
        """`run(buffers)`: all steps in order, by the calling thread."""
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER]), f"{self.prefix}run")
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        (buffers,) = function.args
        for code in self.codes:
            bounds = [ir.Constant(LONG, 0), ir.Constant(LONG, code.units)]
            builder.call(self.module.globals[code.name], [buffers, *bounds])
            if code.finish:
                builder.call(self.module.globals[code.finish], [buffers])
        builder.ret_void()


class LoopEmitter(Loops):
    """Emits `name(buffers, begin, end)` for a loop: its body as a block of its own, run once for each step.

    Carried values have two places each, of which every step reads one and writes the other.
    """

    def __init__(self, outer: Block, name: str, instruction: Any) -> None:
        self.outer, self.name, self.instruction = outer, name, instruction
        self.loop_form = instruction.params["loop"]
        self.memory = 0

    def emit(self) -> int:
        loop, module = self.loop_form, self.outer.module
        body = loop.body
        constants = [constant.value for constant in body.constants]
        inner = self.inner = Block(
            module,
            self.outer.machine,
            body.instructions,
            [*body.inputs, *constants],
            body.outputs,
            prefix=f"{self.name}_body_",
        )
        self.outer.addresses |= inner.addresses
        function = ir.Function(module, ir.FunctionType(VOID, [POINTER, LONG, LONG]), self.name)
        self.entry = function.append_basic_block("entry")
        builder = self.builder = ir.IRBuilder(self.entry)
        self.lanes = _NoLanes()  # type: ignore[assignment]
        self.buffers = function.args[0]
        self.copy = module.declare_intrinsic("llvm.memcpy", [POINTER, POINTER, LONG])
        table = builder.alloca(ir.ArrayType(POINTER, max(1, inner.count)))
        self.table = builder.inttoptr(builder.ptrtoint(table, LONG), POINTER)
        space = self.outer_slot(self.instruction)
        for slot, offset in inner.temporaries:
            builder.store(self.moved(space, self.number(offset)), self.inner_slot(slot))
        self.memory = inner.workspace
        arrays = {inner.slots[constant.value]: constant.array for constant in body.constants} | inner.held
        for slot, array in arrays.items():
            # by name, so that the text is the same in every process
            place = ir.GlobalVariable(module, BYTE, f"{self.name}_constant_{slot}")
            self.outer.addresses[place.name] = array.ctypes.data
            address = builder.inttoptr(builder.ptrtoint(place, LONG), POINTER)
            builder.store(address, self.inner_slot(slot))
        self.outer.kept += [*arrays.values(), *inner.kept]
        if inner.is_checked:
            builder.store(self.outer_slot(STATUS), self.inner_slot(inner.slots[STATUS]))
        operands = [
            self.outer_slot(self.outer.plan.places[x].root) for x in self.instruction.operands
        ]  # each at the start of its memory, in C order
        self.emit_steps(space, operands)
        builder.ret_void()
        work = sum(code.elements * (8 if code.heavy else 1) for code in inner.codes)
        return int(loop.length * max(work, 50 * len(inner.codes)))

    # -- pointers

    def outer_slot(self, key: Any) -> Any:
        index = self.number(self.outer.slots[key])
        return self.builder.load(self.builder.gep(self.buffers, [index], source_etype=POINTER), typ=POINTER)

    def inner_slot(self, index: int) -> Any:
        return self.builder.gep(self.table, [self.number(index)], source_etype=POINTER)

    def moved(self, pointer: Any, distance: Any) -> Any:
        return self.builder.gep(pointer, [distance], source_etype=BYTE)

    def room(self, space: Any, value: Any) -> Any:
        """More memory of the loop's own."""
        start = self.memory
        self.memory += -(-_bytes(value) // ALIGNMENT) * ALIGNMENT
        return self.moved(space, self.number(start))

    def copied(self, target: Any, source: Any, value: Any) -> None:
        plain = ir.Constant(ir.IntType(1), 0)
        self.builder.call(self.copy, [target, source, self.number(_bytes(value)), plain])

    def walked(self, pointer: Any, walk: Any, step: Any, value: Any) -> Any:
        """Where the row of a step is."""
        size = _bytes(value)
        distance = self.builder.mul(step, self.number(walk.step * size))
        return self.moved(pointer, self.builder.add(distance, self.number(walk.start * size)))

    # -- the steps

    def emit_steps(self, space: Any, operands: list[Any]) -> None:
        loop, inner, builder = self.loop_form, self.inner, self.builder
        inputs, outputs = loop.body.inputs, loop.body.outputs
        carried, sliced = loop.carried, len(loop.sliced)
        pairs = [(self.room(space, value), self.room(space, value)) for value in inputs[:carried]]
        for (first, _), operand, value in zip(pairs, operands, inputs, strict=False):
            self.copied(first, operand, value)
        for value, operand in zip(inputs[carried + sliced :], operands[carried + sliced :], strict=True):
            builder.store(operand, self.inner_slot(inner.slots[value]))
        results = [self.outer_slot(result) for result in self.instruction.results]
        run = self.outer.module.globals[f"{inner.prefix}run"]
        with self.loop(0, loop.length) as step:
            odd = builder.trunc(step, ir.IntType(1))
            targets = []
            for (one, other), value in zip(pairs, inputs, strict=False):
                builder.store(builder.select(odd, other, one), self.inner_slot(inner.slots[value]))
                targets.append(builder.select(odd, one, other))
            for walk, value, operand in zip(loop.sliced, inputs[carried:], operands[carried:], strict=False):
                builder.store(self.walked(operand, walk, step, value), self.inner_slot(inner.slots[value]))
            for walk, value, result in zip(loop.stacked, outputs[carried:], results[carried:], strict=True):
                targets.append(self.walked(result, walk, step, value))
            direct: dict[Any, Any] = {}
            for value, target in zip(outputs, targets, strict=True):
                if value in inner.written and value not in direct:
                    direct[value] = target
                    builder.store(target, self.inner_slot(inner.slots[value]))
            builder.call(run, [self.table])
            for value, target in zip(outputs, targets, strict=True):
                if direct.get(value) is not target:
                    source = builder.load(self.inner_slot(inner.slots[value]), typ=POINTER)
                    self.copied(target, source, value)
        for (one, other), result, value in zip(pairs, results, outputs, strict=False):
            self.copied(result, other if loop.length % 2 else one, value)


class _NoLanes:
    """A loop has no vectors of its own."""

    def enter(self) -> None:
        """Nothing is emitted that could be shared."""

    def leave(self) -> None:
        """Nothing was."""


def _bytes(value: Any) -> int:
    return int(math.prod(value.shape) * value.dtype.itemsize)
