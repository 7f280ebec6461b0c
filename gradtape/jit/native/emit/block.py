"""A block: the native code of a list of instructions.

The code is called with a table of pointers. A slot of the table is the address of an input, an output, a temporary or a
constant; each block has its own slots, and its caller fills the table. The body of a loop is a block of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from gradtape.jit.ir.kernels import TooLong
from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.builder import start_builder
from gradtape.jit.native.emit.elementwise import find_outlined
from gradtape.jit.native.emit.loops import LONG, POINTER, STATUS, VOID, CallCode, SlotKey
from gradtape.jit.native.emit.memory_checks import GUARD, ModuleChecks, emit_poison
from gradtape.jit.native.emit.nest import NestCode, NestEmitter, emit_copy, emit_zeros
from gradtape.jit.native.emit.shared import (
    ENOUGH,
    MANY,
    MANY_LOOPS,
    Form,
    SharedCode,
    SharedForm,
    SharedNestEmitter,
    SharedStep,
    find_form,
    find_numbers,
    import_records,
)
from gradtape.jit.native.lower.decompose import decompose
from gradtape.jit.native.lower.ir import PART, SCATTER_ADD, WRITE, AnyInstruction, ArrayValue
from gradtape.jit.native.lower.support import CALLS, CHECKED, LOOPS, PRODUCTS
from gradtape.jit.native.runtime import threads
from gradtape.jit.native.runtime.llvm import Machine
from gradtape.jit.native.runtime.pool import PARALLEL
from gradtape.jit.native.schedule.fusion import FusionPlan
from gradtape.jit.native.schedule.layout import bytes_of
from gradtape.jit.native.schedule.loop_copies import LoopCopy
from gradtape.jit.native.schedule.steps import CallStep, Nest
from gradtape.jit.native.schedule.workspace import Workspace

LONGEST = 3000
"""Instructions with code of their own, from which on a long block takes less time to compile in parts."""
SHORT = 45
"""LLVM instructions up to which a function compiles faster when inlined than on its own."""


class Block:
    """The functions of a block in `module`, and the memory that the block needs.

    `codes` are its steps in order; `emit_run` makes one function of them. `temporaries` are slots with their offsets in
    `workspace` bytes of memory; `constant_arrays` are arrays that are the same in every run, by slot. A block that
    `is_checked` can fail: it has a slot for the address of a status, initially 0, that the code sets to 1.
    """

    def __init__(
        self,
        module: ir.Module,
        machine: Machine,
        instructions: Sequence[AnyInstruction],
        inputs: Sequence[ArrayValue],
        outputs: Sequence[ArrayValue],
        steps: Mapping[ArrayValue, tuple[int, ...]] | None = None,
        prefix: str = "",
        plan: FusionPlan | None = None,
    ) -> None:
        """`plan` is the plan of the instructions, where it was made before."""
        self.module, self.machine, self.prefix = module, machine, prefix
        self.checks = getattr(module, "checks", None)  # see `memory_checks`
        if plan is None:
            plan = FusionPlan(instructions, inputs, outputs, dict(steps or {}))
        self.plan = plan
        self.inputs, self.written = tuple(inputs), tuple(plan.written)
        self._steps: list[NestCode | SharedStep] = []
        self.addresses: dict[str, int] = {}  # symbol -> address, for the linker
        self._memory = Workspace({value: bytes_of(value) for value in plan.temporaries})
        reductions = [reduction for nest in plan.nests for reduction in nest.reductions]
        loops = [call.instruction for call in plan.calls if call.instruction.name in LOOPS]
        calls = [call.instruction for call in plan.calls if CALLS[call.instruction.name].has_memory]
        keys = [*inputs, *self.written, *plan.temporaries, *reductions, *calls, *plan.constants]
        self.is_checked = self._can_fail(loops)
        self.slots = {key: i for i, key in enumerate([*keys, STATUS] if self.is_checked else keys)}
        self.count = len(self.slots)
        self.slots |= {output: self.slots[value] for output, value in plan.in_place.items()}
        self.slots |= {value: self.slots[output] for value, output in (*plan.aliases.items(), *plan.merged.items())}
        self.constant_arrays = {self.slots[value]: array for value, array in plan.constants.items()}
        self.kept: list[Any] = []  # objects whose addresses are in the code
        self.bases: list[tuple[ArrayValue, AnyInstruction]] = []  # writes, each with the memory of what it writes to
        self.loop_copies: list[LoopCopy] = []  # of the loops in here
        self._outlined = find_outlined([instruction for nest in plan.nests for instruction in nest.instructions])
        self._of_loops: SharedCode | None = module.code_of_loops
        self._shared = self._of_loops
        if self._of_loops is None and len(plan.nests) + len(plan.calls) >= MANY:
            self._shared = SharedCode(module, prefix)
        emitters = {
            step: NestEmitter(module, machine, f"{prefix}nest_{i}", step, plan, self.slots, self._outlined)
            for i, step in enumerate(plan.steps)
            if isinstance(step, Nest)
        }
        forms = {} if self._shared is None else self._find_forms(emitters)
        if len(instructions) > LONGEST and self._count_own(forms) > LONGEST:
            raise TooLong
        if self._of_loops is None and len(loops) >= MANY_LOOPS:
            module.code_of_loops = SharedCode(module, f"{prefix}loops_")
        for i, step in enumerate(plan.steps):
            if isinstance(step, Nest):
                self._emit_nest(emitters[step], forms.get(step))
            else:
                self._emit_call(f"{prefix}call_{i}", step, forms.get(step))
        arranged = self._memory.arrange(len(self._steps), guard=0 if self.checks is None else GUARD)
        self.temporaries = [(self.slots[key], offset) for key, offset in arranged.offsets.items()]
        self.workspace = arranged.size
        self._offsets = arranged.offsets
        if self.checks is not None:
            self._insert_poison(arranged.starts)
            self._set_sizes(self.checks)
        self.codes = self._join_steps()

    def _find_forms(self, emitters: Mapping[Nest, NestEmitter]) -> dict[Nest | CallStep, SharedForm]:
        """The forms of the steps that share code, and the numbers of each."""
        found: dict[Nest | CallStep, SharedForm] = {}
        for nest, emitter in emitters.items():
            form = find_form(emitter)
            if form is not None:
                found[nest] = form, find_numbers(emitter)
        for call in self.plan.calls:
            if call.instruction.name in PRODUCTS:
                described = import_module("gradtape.jit.native.emit.matmul").describe(self, call.instruction)
                if described is not None:
                    found[call] = described
        if self._of_loops is not None:
            return found
        counts = Counter(form for form, _ in found.values())
        return {step: shared for step, shared in found.items() if counts[shared[0]] >= ENOUGH}

    def _count_own(self, forms: Mapping[Nest | CallStep, SharedForm]) -> int:
        """How many instructions need code of their own: those that share code count once."""
        seen: set[Form] = set()
        count = 0
        for step in self.plan.steps:
            form, _ = forms.get(step, (None, {}))
            if form is None or form not in seen:
                count += 1 + len(step.instructions) if isinstance(step, Nest) else 1
            seen.add(form)
        return count

    def _join_steps(self) -> list[NestCode]:
        """The steps as functions: one for adjacent steps that share code."""
        if self._shared is None:
            return [step for step in self._steps if isinstance(step, NestCode)]
        sizes = None if self.checks is None else self.sizes
        if self._of_loops is not None:
            codes, record = self._of_loops.list_apart(self._steps, sizes)
            records = {self._records: record}
        else:
            codes, records = self._shared.join(self._steps, sizes)
        self.addresses |= {symbol: array.ctypes.data for symbol, array in records.items()}
        self.kept += records.values()
        return codes

    @property
    def _records(self) -> str:
        """The symbol of the records of a body that shares code with others."""
        return f"{self.prefix}records"

    def _can_fail(self, loops: Sequence[AnyInstruction]) -> bool:
        """Whether an instruction may fail, also in the bodies of loops."""
        if any(instruction.name in CHECKED for instruction in self.plan.instructions):
            return True
        bodies = [inner for loop in loops for inner in loop.params["loop"].body.instructions]
        return any(i.name in CHECKED or i.name in LOOPS for i in decompose(bodies))

    def _emit_nest(self, emitter: NestEmitter, shared: SharedForm | None) -> None:
        """Emit a nest, or a step that runs the code of its form, and what has to be in memory before."""
        name, nest = emitter.name, emitter.nest
        # parts cover their result; a write begins with a copy of its base
        around = [scatter.results[0] for scatter in nest.scatters if scatter.name not in (PART, WRITE)]
        for scatter in nest.scatters:
            if scatter.name == WRITE:
                self._emit_base(f"{name}_base", scatter.results[0])
        if around:
            zeros = [(self.slots[value], bytes_of(value)) for value in around]
            if self._shared is not None:
                self._steps.append(self._shared.add_zeros(zeros))
            else:
                self._steps.append(emit_zeros(self.module, f"{name}_zeros", zeros))
            self._memory.record_uses(len(self._steps) - 1, around)
        partial_sizes: dict[Any, int] = {}
        if shared is not None and self._shared is not None:
            self._steps.append(self._share_nest(self._shared, emitter, shared))
        else:
            code = emitter.emit()
            partial_sizes = code.partial_sizes
            self._steps.append(code)
        self._memory.record_reuses(len(self._steps) - 1, emitter.reuses())
        self._memory.sizes |= partial_sizes
        made = [instruction.results[0] for instruction in nest.scatters + nest.reductions]
        roots = self.plan.memory_read(nest)
        self._memory.record_uses(len(self._steps) - 1, [*roots, *nest.stores, *made, *partial_sizes])

    def _share_nest(self, code: SharedCode, emitter: NestEmitter, shared: SharedForm) -> SharedStep:
        def emit(name: str) -> Any:
            nest, plan = emitter.nest, self.plan
            return SharedNestEmitter(
                self.module, self.machine, name, nest, plan, self.slots, self._outlined
            ).emit_shared()

        return code.add(*shared, emit, math.prod(emitter.nest.shape), emitter.heavy)

    def _emit_base(self, name: str, result: ArrayValue) -> None:
        """Emit the copy of what a result is a version of, unless it is in the same memory."""
        base = self.plan.links[result]
        source, target = self.slots[base], self.slots[result]
        if source != target:
            self.bases.append((base, self.plan.producers[result]))
            if self._shared is not None:
                self._steps.append(self._shared.add_copy(source, target, bytes_of(result)))
            else:
                self._steps.append(emit_copy(self.module, name, source, target, bytes_of(result)))
            self._memory.record_uses(len(self._steps) - 1, [base, result])
            self._memory.record_reuses(len(self._steps) - 1, [(base, result)])

    def _emit_call(self, name: str, step: CallStep, shared: SharedForm | None) -> None:
        """Emit a call. Its emitter is loaded by name: few programs have more than one kind of call."""
        instruction = step.instruction
        lowering = CALLS[instruction.name]
        emitter = import_module(f"gradtape.jit.native.emit.{lowering.emitter}")
        if shared is not None and self._shared is not None:
            form, numbers = shared

            def emit(name: str) -> Any:
                return emitter.emit_shared(self, name, instruction, [*numbers])

            self._steps.append(self._shared.add(form, numbers, emit, emitter.work_of(instruction), False))
        else:
            code: CallCode = emitter.emit_call(self, name, instruction)
            if lowering.has_memory:
                self._memory.sizes[instruction] = code.memory
            self._steps.append(NestCode(name, code.units, code.finish, code.work, False, {}))
        roots = [self.plan.layouts[value].root for value in instruction.values]
        self._memory.record_uses(len(self._steps) - 1, [*roots, *instruction.results, instruction])
        if instruction.name == SCATTER_ADD and len(instruction.values) == 3:
            self.bases.append((roots[2], instruction))
        links = self.plan.links
        versions = [(links[result], result) for result in instruction.results if result in links]
        self._memory.record_reuses(len(self._steps) - 1, [pair for pair in versions if roots.count(pair[0]) == 1])

    def find_copies(self, steps: int | None) -> list[LoopCopy]:
        """The copies that one run makes, as the body of a loop of so many steps, of arrays that are written to."""
        made = [
            LoopCopy(write.results[0], bytes_of(base), bytes_of(write.values[0]), steps)
            for base, write in self.bases
            if not self._is_same_memory(base, write.results[0])
        ]
        return [*made, *(copy.repeated(steps) for copy in self.loop_copies)]

    def _is_same_memory(self, base: ArrayValue, result: ArrayValue) -> bool:
        """Whether a result is in the memory of what it is a version of."""
        if self.slots[base] == self.slots[result]:
            return True
        return base in self._offsets and self._offsets[base] == self._offsets.get(result)

    def _insert_poison(self, starts: dict[Any, int]) -> None:
        """Fill outputs with poison before the first step, and temporaries before the step at which each starts."""
        at_step: dict[int, list[tuple[int, int]]] = {
            0: [(self.slots[value], bytes_of(value)) for value in self.written if value not in self.plan.in_place]
        }
        for key, step in starts.items():
            at_step.setdefault(step, []).append((self.slots[key], self._memory.sizes[key]))
        steps: list[NestCode | SharedStep] = []
        for i, code in enumerate(self._steps):
            if i in at_step:
                name = f"{self.prefix}poison_{i}"
                emit_poison(self.module, name, at_step[i])
                steps.append(NestCode(name, 1, None, 0, False, {}))
            steps.append(code)
        self._steps = steps

    def _set_sizes(self, checks: ModuleChecks) -> None:
        """Set the size of the memory in each slot, for the bounds checks of the code."""
        sizes: dict[SlotKey, int] = {
            value: bytes_of(value) for value in (*self.inputs, *self.written, *self.plan.constants)
        }
        sizes |= self._memory.sizes
        sizes[STATUS] = 8
        self.sizes = {self.slots[key]: size for key, size in sizes.items() if key in self.slots}
        for slot, size in self.sizes.items():
            checks.set_size(self.prefix, slot, size)

    def emit_run(self) -> Any:
        """Emit `{prefix}run(buffers)`: all steps in order, large ones over threads. The steps become internal."""
        run = ir.Function(self.module, ir.FunctionType(VOID, [POINTER]), f"{self.prefix}run")
        builder = start_builder(run.append_basic_block("entry"))
        (buffers,) = run.args
        for code in self.codes:
            if code.record is not None:
                records = import_records(self.module, builder, self._records)
                record = builder.gep(records, [ir.Constant(LONG, code.record)], source_etype=LONG)
                builder.call(self.module.globals[code.name], [buffers, record])
                continue
            function = self.module.globals[code.name]
            if threads.worth_splitting(code):
                function.linkage = "internal"
                builder.call(self._declare_parallel(), [function, buffers, ir.Constant(LONG, code.units)])
            else:
                bounds = [ir.Constant(LONG, 0), ir.Constant(LONG, code.units)]
                builder.call(make_internal(function), [buffers, *bounds])
            if code.finish:
                builder.call(make_internal(self.module.globals[code.finish]), [buffers])
        builder.ret_void()
        return run

    def _declare_parallel(self) -> Any:
        """The function of the thread pool that divides a step."""
        kind = ir.FunctionType(VOID, [POINTER, POINTER, LONG])
        return self.module.globals.get(PARALLEL) or ir.Function(self.module, kind, PARALLEL)


def make_internal(function: ir.Function) -> Any:
    """Make a function internal to the module, and inline it if it is short."""
    function.linkage = "internal"
    if sum(len(block.instructions) for block in function.blocks) <= SHORT:
        function.attributes.add("alwaysinline")
    return function
