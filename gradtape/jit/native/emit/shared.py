"""Code that many steps of a block share.

Where the length of a slice moves with a Python loop (`A[i, :i] @ A[:i, j]`), a program has thousands of nests that
differ in numbers only: the slots of their arrays, the first elements, the lengths of the loops. Such nests have one
*form*. The code of a form is emitted once and reads the numbers from a *record*. The records of all steps are one
array, which a function of the block goes through: it calls the code of each form in turn. So the time to compile
depends on the number of forms, and a step costs what its slice does.

The arithmetic is that of a nest with code of its own, in the same order: the results have the same bits.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, cast

import numpy as np

from gradtape.jit.ir.program import Instruction, Literal, params_key
from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.builder import start_builder
from gradtape.jit.native.emit.elementwise import Elements
from gradtape.jit.native.emit.loops import LONG, POINTER, VOID, ArrayKey, Stored, copy_if_apart, emit_clear
from gradtape.jit.native.emit.memory_checks import Region
from gradtape.jit.native.emit.nest import NestCode, NestEmitter
from gradtape.jit.native.emit.reduction import FRESH, accumulator, sum_lanes
from gradtape.jit.native.emit.vectors import Lanes, Vector
from gradtape.jit.native.lower.ir import AnyInstruction, AnyOperand, ArrayValue, LoweredInstruction, LoweredNumber
from gradtape.jit.native.lower.support import ZERO_OUTSIDE
from gradtape.jit.native.runtime import threads

MANY = 100
"""Nests of a block, from which on those of one form share code; a few run faster with code of their own."""
ENOUGH = 4
"""How many steps of one form share code."""
MANY_LOOPS = 16
"""Loops of a block, from which on their bodies share code."""
STEP_WORK = 50
"""The work of reading a record, in elements of light loops."""

Form = Hashable
SharedForm = tuple[Form, dict[Any, int]]
"""The form of a step, and the numbers in which it differs from others of this form, in the order of the record."""
Slot = tuple[str, Any]
"""The name of a number that is a slot; in the checking mode, the size of the memory in it follows the record."""


def find_form(emitter: NestEmitter) -> Form | None:
    """What nests have in common that can share code; None if a nest has to have code of its own."""
    nest = emitter.nest
    if 0 in nest.shape or nest.is_checked or any(loop.windows for loop in emitter.loops):
        return None
    if emitter.chunks > 1 or emitter.row_chunks > 1 or emitter.parts > 1:
        return None
    blocks = -(-emitter.inner.size // emitter.width)
    if emitter.kind == "row" and blocks > FRESH * (sum_lanes(emitter.inner.size) // emitter.width):
        return None
    if any(accumulator(reduction).kind == "b" for reduction in nest.reductions):  # bits have no addresses
        return None
    if threads.worth_splitting(NestCode("", emitter.units, None, math.prod(nest.shape), emitter.heavy, {})):
        return None
    arrays: list[Any] = []
    for key in emitter.inner.steps:
        moves = tuple([step for _, step in find_moves(emitter, key)])
        arrays.append((*_describe_array(key), moves, *[loop.steps[key] for loop in emitter.loops]))
    numbering: dict[ArrayValue, int] = {value: number for number, value in enumerate(nest.loads)}
    computed = []
    for instruction in nest.instructions:
        if instruction.name == ZERO_OUTSIDE or len(instruction.results) != 1:
            return None
        params = () if instruction.name in ("broadcast_to", "astype") else params_key(instruction.params)
        if params is None:
            return None
        operands = tuple([_describe_operand(operand, numbering) for operand in instruction.operands])
        numbering[instruction.results[0]] = len(numbering)
        computed.append((instruction.name, params, operands, instruction.results[0].dtype))
    used = [numbering.get(value, -1) for value in nest.roots]
    if -1 in used:
        return None
    lengths = emitter.width, emitter.inner.size == 1, sum_lanes(emitter.inner.size) if emitter.kind == "row" else 0
    single = tuple([count == 1 for count in emitter.counts]), tuple([loop.reduced for loop in emitter.loops])
    reductions = tuple([_describe_reduction(reduction) for reduction in nest.reductions])
    return "nest", emitter.kind, lengths, single, tuple(arrays), tuple(computed), tuple(used), reductions


def find_moves(emitter: NestEmitter, key: ArrayKey) -> tuple[tuple[ArrayValue, int], ...]:
    """The positions of a moving view of the nest, each with the distance for which it stands."""
    layout = emitter.layout(key)
    return () if layout is None else layout.moves


def _describe_array(key: ArrayKey) -> tuple[Any, ...]:
    if isinstance(key, Stored):
        return "stored", key.value.dtype
    if isinstance(key, Instruction | LoweredInstruction):
        return key.name, key.values[0].dtype, key.results[0].dtype
    return "loaded", key.dtype


def _describe_operand(operand: AnyOperand, numbering: dict[ArrayValue, int]) -> Any:
    if isinstance(operand, Literal | LoweredNumber):
        return type(operand.value), repr(operand.value)
    return numbering[operand], operand.dtype


def _describe_reduction(reduction: AnyInstruction) -> tuple[Any, ...]:
    (result,), count = reduction.results, 0
    if reduction.name == "mean":  # it divides by that
        count = math.prod(reduction.values[0].shape) // max(1, math.prod(result.shape))
    return reduction.name, reduction.values[0].dtype, result.dtype, count


def find_numbers(emitter: NestEmitter) -> dict[Any, int]:
    """The numbers in which a nest may differ from others of its form, in the order of the record."""
    size = emitter.inner.size
    found: dict[Any, int] = {"units": emitter.units, "rows": 0 if emitter.rows is None else emitter.rows.size}
    found |= {"blocks": -(-size // emitter.width), "last": size - emitter.width, "new": size % emitter.width}
    found |= {("count", i): count for i, count in enumerate(emitter.counts)}
    for i, key in enumerate(emitter.inner.steps):
        found["slot", i] = emitter.slots[emitter.memory(key)]
        found["start", i] = emitter.start(key)
        for j, (index, _) in enumerate(find_moves(emitter, key)):
            place = emitter.plan.layouts[index]
            found["slot", (i, j)], found["start", (i, j)] = emitter.slots[place.root], place.offset
    return found


class Record:
    """The numbers that the code of a form was called with, as IR."""

    def __init__(self, builder: Any, buffers: ir.Value, record: ir.Value, names: Sequence[Any]) -> None:
        self.builder, self.buffers, self.record = builder, buffers, record
        self._places = {name: place for place, name in enumerate(names)}
        self._slots = [name for name in names if is_slot(name)]

    def number(self, name: Any) -> Any:
        """A number of the record."""
        return self._load(self._places[name])

    def pointer(self, name: Slot) -> Any:
        """The address in a slot."""
        builder = self.builder
        address = builder.gep(self.buffers, [self.number(name)], source_etype=POINTER)
        pointer = builder.load(address, typ=POINTER)
        checks = getattr(builder.module, "checks", None)
        if checks is None:
            return pointer
        size = self._load(len(self._places) + self._slots.index(name))
        return checks.track(pointer, Region(f"array {name[1]}", size, LONG(0)))

    def _load(self, place: int) -> Any:
        address = self.builder.gep(self.record, [LONG(place)], source_etype=LONG)
        return self.builder.load(address, typ=LONG, align=8)


def is_slot(name: Any) -> bool:
    """Whether a number of a record is that of a slot."""
    return isinstance(name, tuple) and name[0] == "slot"


class SharedNestEmitter(NestEmitter):
    """Emits the code of a form from one of its nests: `name(buffers, record)`."""

    def emit_shared(self) -> Any:
        """Emit the function."""
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER, POINTER]), self.name)
        self.buffers, record = function.args
        self.entry = function.append_basic_block("entry")
        self.builder = start_builder(self.entry)
        self.lanes = Lanes(self.builder, self.width, self.machine.fused)
        self.elements = Elements(self.lanes, self.outlined)
        given = Record(self.builder, self.buffers, record, [*find_numbers(self)])
        self.given = {name: given.number(name) for name in ("rows", "blocks", "last", "new")}
        self.limits = [LONG(1) if count == 1 else given.number(("count", i)) for i, count in enumerate(self.counts)]
        keys = [*self.inner.steps]
        self.pointers = {key: given.pointer(("slot", i)) for i, key in enumerate(keys)}
        self.starts = {key: self.emit_shared_start(given, i, key) for i, key in enumerate(keys)}
        with self.loop(0, 1 if self.units == 1 else given.number("units")) as unit:
            self.emit_unit(unit)
        self.builder.ret_void()
        return function

    def emit_shared_start(self, given: Record, number: int, key: ArrayKey) -> Any:
        """The first element of an array in its slot, with what the moves of a moving view add."""
        start = given.number(("start", number))
        for j, (_, step) in enumerate(find_moves(self, key)):
            place = given.number(("start", (number, j)))
            address = self.builder.gep(given.pointer(("slot", (number, j))), [place], source_etype=LONG)
            start = self.plus_steps(start, self.builder.load(address, typ=LONG, align=8), step)
        return start

    def split_unit(self, unit: ir.Value) -> list[Any]:
        """The index of each loop; what is left for the outermost one needs no division."""
        indices: list[Any] = []
        longer = [i for i, count in enumerate(self.counts) if count > 1]
        for i in reversed(range(len(self.counts))):
            if i not in longer:
                indices.append(self.number(0))
            elif i == longer[0]:
                indices.append(unit)
            else:
                indices.append(self.builder.urem(unit, self.limits[i]))
                unit = self.builder.udiv(unit, self.limits[i])
        return indices[::-1]

    def count_blocks(self) -> int | ir.Value:
        """The number of vectors of the inner loop."""
        return 1 if self.inner.size == 1 else cast(ir.Value, self.given["blocks"])

    def count_rows(self) -> int | ir.Value:
        """The number of rows of a column sum."""
        return cast(ir.Value, self.given["rows"])

    def place(self, first: ir.Value, block: ir.Value) -> tuple[Any, Any]:
        """The start of a vector, moved back if it would exceed the end of the row, and its start without that."""
        if self.width == 1:
            return super().place(first, block)
        wanted = self.builder.add(first, self.builder.mul(block, self.number(self.width)))
        return self.minimum(wanted, self.given["last"]), wanted

    def _without_repetition(self, reduction: AnyInstruction, term: Vector, place: ir.Value, wanted: ir.Value) -> Vector:
        """The last vector of a row may overlap the one before: new elements in the first lanes, identity elsewhere.

        They are taken from memory, where the identity follows them: the lanes of a shuffle would have to be known.
        """
        builder, kind = self.builder, self.lanes.type(term.element)
        chosen, both = self.local(kind), self.local(ir.ArrayType(kind, 2))
        builder.store(term.ir, chosen)
        with builder.if_then(builder.icmp_unsigned("!=", place, wanted)):
            for half, value in enumerate((term, self.identity(reduction))):
                builder.store(value.ir, builder.gep(both, [LONG(0), LONG(half)]))
            start = builder.sub(LONG(self.width), self.given["new"])
            moved = builder.load(builder.gep(both, [start], source_etype=term.element), typ=kind, align=1)
            builder.store(moved, chosen)
        return Vector(self.lanes, builder.load(chosen, typ=kind))


@dataclasses.dataclass(eq=False)
class SharedStep:
    """A step of a block that is run by the code of a form; it looks like a `NestCode` until steps are joined."""

    form: int
    numbers: dict[Any, int]
    elements: int
    heavy: bool


def _list_numbers(step: SharedStep, sizes: dict[int, int] | None) -> list[int]:
    """The record of a step: its numbers, and in the checking mode the sizes of the memory in its slots."""
    record = [*step.numbers.values()]
    if sizes is not None:
        record += [sizes[slot] for name, slot in step.numbers.items() if is_slot(name)]
    return record


def import_records(module: ir.Module, builder: Any, symbol: str) -> Any:
    """The address of records, which the module imports by name: they are no part of its text."""
    records = module.globals.get(symbol) or ir.GlobalVariable(module, ir.IntType(8), symbol)
    return builder.inttoptr(builder.ptrtoint(records, LONG), POINTER)


class SharedCode:
    """The forms of a block, and the functions that go through records."""

    def __init__(self, module: ir.Module, prefix: str) -> None:
        self.module, self.prefix = module, prefix
        self._forms: dict[Form, int] = {}
        self._functions: list[Any] = []

    def add(
        self, form: Form, numbers: dict[Any, int], emit: Callable[[str], Any], work: int, heavy: bool
    ) -> SharedStep:
        """A step of a form; `emit` is called with the name of the function for the first one."""
        if form not in self._forms:
            self._forms[form] = len(self._functions)
            code = emit(f"{self.prefix}form_{len(self._functions)}")
            code.linkage = "internal"
            self._functions.append(code)
        return SharedStep(self._forms[form], numbers, work, heavy)

    def add_copy(self, source: int, target: int, size: int) -> SharedStep:
        """A copy of memory from slot to slot, unless that is the same memory."""
        numbers = {("slot", 0): source, ("slot", 1): target, "size": size}

        def emit(name: str) -> Any:
            function, builder, given = self._start(name, [*numbers])
            copy_if_apart(builder, given.pointer(("slot", 1)), given.pointer(("slot", 0)), given.number("size"))
            builder.ret_void()
            return function

        return self.add("copy", numbers, emit, size // 64, False)

    def add_zeros(self, places: Sequence[tuple[int, int]]) -> SharedStep:
        """Memory that is cleared: (slot, bytes) of each buffer."""
        numbers: dict[Any, int] = {}
        for i, (slot, size) in enumerate(places):
            numbers |= {("slot", i): slot, ("size", i): size}

        def emit(name: str) -> Any:
            function, builder, given = self._start(name, [*numbers])
            for i in range(len(places)):
                emit_clear(builder, given.pointer(("slot", i)), given.number(("size", i)))
            builder.ret_void()
            return function

        return self.add(("zeros", len(places)), numbers, emit, 0, False)

    def _start(self, name: str, names: Sequence[Any]) -> tuple[Any, Any, Record]:
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER, POINTER]), name)
        builder = start_builder(function.append_basic_block("entry"))
        buffers, record = function.args
        return function, builder, Record(builder, buffers, record, names)

    def join(
        self, codes: Sequence[NestCode | SharedStep], sizes: dict[int, int] | None
    ) -> tuple[list[NestCode], dict[str, np.ndarray[Any, Any]]]:
        """The codes, with one function in the place of adjacent steps that share code; their records, by symbol.

        `sizes` are those of the memory in all slots, in the checking mode.
        """
        made: list[NestCode] = []
        records: dict[str, np.ndarray[Any, Any]] = {}
        run: list[SharedStep] = []

        def end_run() -> None:
            if run:
                name = f"{self.prefix}shared_{len(records)}"
                symbol = f"{name}_records"
                records[symbol] = self._list_records(run, sizes)
                self._emit_run(name, symbol, len(run))
                work = sum(step.elements * (8 if step.heavy else 1) for step in run)
                made.append(NestCode(name, 1, None, max(work, STEP_WORK * len(run)), False, {}))
                run.clear()

        for code in codes:
            if isinstance(code, SharedStep):
                run.append(code)
            else:
                end_run()
                made.append(code)
        end_run()
        return made, records

    def list_apart(
        self, codes: Sequence[NestCode | SharedStep], sizes: dict[int, int] | None
    ) -> tuple[list[NestCode], np.ndarray[Any, Any]]:
        """The codes of the body of a loop, which calls the code of each form itself; and all records."""
        made: list[NestCode] = []
        found: list[int] = []
        for code in codes:
            if isinstance(code, SharedStep):
                name = self._functions[code.form].name
                made.append(NestCode(name, 1, None, code.elements, code.heavy, {}, record=len(found)))
                found += _list_numbers(code, sizes)
            else:
                made.append(code)
        return made, np.array(found, np.int64)

    def _list_records(self, steps: Sequence[SharedStep], sizes: dict[int, int] | None) -> np.ndarray[Any, Any]:
        """For each step: its form, the length of all this, the numbers, and in the checking mode the sizes."""
        found: list[int] = []
        for step in steps:
            record = _list_numbers(step, sizes)
            found += [step.form, len(record) + 2, *record]
        return np.array(found, np.int64)

    def _emit_run(self, name: str, symbol: str, count: int) -> None:
        """Emit `name(buffers, begin, end)`, which runs the steps of a list of records."""
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER, LONG, LONG]), name)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        address = import_records(self.module, builder, symbol)
        builder.call(self._dispatch(), [function.args[0], address, LONG(count)])
        builder.ret_void()

    def _dispatch(self) -> Any:
        """The function that calls the code of each record in turn."""
        name = f"{self.prefix}dispatch"
        if name in self.module.globals:
            return self.module.globals[name]
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER, POINTER, LONG]), name)
        function.linkage = "internal"
        buffers, records, count = function.args
        entry, head, body, after, done = (
            function.append_basic_block(part) for part in ("entry", "head", "body", "after", "done")
        )
        ir.IRBuilder(entry).branch(head)
        builder = ir.IRBuilder(head)
        index, place = builder.phi(LONG), builder.phi(POINTER)
        builder.cbranch(builder.icmp_signed("<", index, count), body, done)
        builder.position_at_end(body)
        form, length = (
            builder.load(builder.gep(place, [LONG(i)], source_etype=LONG), typ=LONG, align=8) for i in (0, 1)
        )
        record = builder.gep(place, [LONG(2)], source_etype=LONG)
        chosen = builder.switch(form, after)
        for number, code in enumerate(self._functions):
            case = function.append_basic_block("form")
            chosen.add_case(LONG(number), case)
            builder.position_at_end(case)
            builder.call(code, [buffers, record])
            builder.branch(after)
        builder.position_at_end(after)
        following = builder.gep(place, [length], source_etype=LONG)
        index.add_incoming(LONG(0), entry)
        place.add_incoming(records, entry)
        index.add_incoming(builder.add(index, LONG(1)), after)
        place.add_incoming(following, after)
        builder.branch(head)
        ir.IRBuilder(done).ret_void()
        return function
