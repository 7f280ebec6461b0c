"""The parts that native entries have in common, in machine code: checks of arrays, results, and the call of the loops.

All programs share this code. What differs among them is in a description of 64-bit integers: a header, whose first
numbers are named here, and records that are read one after the other.
"""

from __future__ import annotations

import ctypes
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.loops import LONG, POINTER, VOID
from gradtape.jit.native.runtime import threads
from gradtape.jit.native.runtime.abi import (
    C_ORDER_AND_ALIGNED,
    DATA,
    DESCRIPTION,
    DIMENSIONS,
    FLAGS,
    OBJECTS,
    PY_ARRAY_EMPTY,
    PY_ARRAY_SCALAR,
    PYTHON_FUNCTIONS,
    RANK,
    TYPE,
    array_functions,
)
from gradtape.jit.native.runtime.function import NativeFunction
from gradtape.jit.native.schedule.workspace import ALIGNMENT

INT32 = ir.IntType(32)
BYTE = ir.IntType(8)
ON_THE_STACK = 4096
MOST_KEPT = 1 << 28
"""Bytes of a workspace up to which it is kept from call to call: the pages of a new one are cleared by the system."""
LET_GO = 50_000  # nanoseconds of work from which on the GIL is released
ARGUMENTS, CONSTANTS, RESULTS, TEMPORARIES, SLOTS, WORKSPACE, RUN, RELEASES_GIL, STATUS_SLOT, ARENA = HEADER = range(10)


def is_simple(group: NativeFunction) -> bool:
    """Whether a group can have a native entry: no checking mode, arrays in C order."""
    canonical = all(is_canonical(value.dtype) for value in (*group.inputs, *group.written))
    plain = not group.has_steps and group.checks is None
    return bool(array_functions() and group.outputs and canonical and plain)


def is_canonical(dtype: np.dtype[Any]) -> bool:
    """Whether all plain arrays of this dtype have the same dtype object."""
    return dtype is np.dtype(dtype.char)


class Description:
    """The numbers of the common header, and the records of a group."""

    def __init__(self, group: NativeFunction, constants: Mapping[Any, Any]) -> None:
        self.group = group
        self.slots = {value: i for i, value in enumerate([*group.inputs, *group.written])}
        self.constants = [(array, self.slots[value]) for value, array in constants.items() if value in self.slots]
        self.constants += [(array, slot) for slot, array in group.constant_arrays.items()]

    def header(self, arguments: int, results: int) -> list[int]:
        """The numbers that all entries have, in the order of `HEADER`."""
        group = self.group
        # releasing the GIL is safe: arguments are held during the call, and NumPy releases it in its loops, too
        releases = threads.cost(group.nests) > LET_GO
        numbers = [arguments, len(self.constants), results, len(group.temporaries), group.slots, group.workspace]
        status = group.status if group.status >= 0 else group.slots  # without a status: the slot after the last
        arena = group.arena.address if group.workspace <= MOST_KEPT else 0
        return [*numbers, group.library.address("run"), releases, status, arena]

    def array_records(self, values: Sequence[Any]) -> list[int]:
        """For each array: its dtype, its rank, its slot in the table of pointers or -1, its lengths."""
        numbers: list[int] = []
        for value in values:
            numbers += [id(value.dtype), len(value.shape), self.slots.get(value, -1), *value.shape]
        return numbers

    def other_records(self, results: Sequence[Any]) -> list[int]:
        """For each constant its address and slot; the results' records; for each temporary its slot and offset."""
        numbers = [number for array, slot in self.constants for number in (array.ctypes.data, slot)]
        numbers += self.array_records(results)
        return numbers + [number for pair in self.group.temporaries for number in pair]


def symbols() -> dict[str, int]:
    """The addresses of the functions and objects that entries refer to, by name."""
    functions = array_functions() or 0
    found = {
        "gradtape_empty": int(ctypes.c_void_p.from_address(functions + 8 * PY_ARRAY_EMPTY).value or 0),
        "gradtape_scalar": int(ctypes.c_void_p.from_address(functions + 8 * PY_ARRAY_SCALAR).value or 0),
    }
    found |= {name: id(item) for name, item in OBJECTS.items()}
    for name in PYTHON_FUNCTIONS:
        found[name] = int(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)
    return found


class EntryEmitter:
    """Emits the machine code of an entry: a function of the built-in kind, with `arguments` after its first one."""

    def __init__(self, *arguments: ir.Type) -> None:
        self.module = ir.Module("gradtape_entry")
        function = self.declare("entry", POINTER, POINTER, *arguments)
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.slow, self.failed = (function.append_basic_block(name) for name in ("slow", "failed"))
        self.null = ir.Constant(POINTER, None)
        self.hold = self.declare("Py_IncRef", VOID, POINTER)
        self.drop = self.declare("Py_DecRef", VOID, POINTER)
        self.emit(*function.args)
        self.text = str(self.module)

    @abstractmethod
    def emit(self, this: ir.Value, *arguments: ir.Value) -> None:
        """Emit the function."""

    # -- helpers

    def declare(self, name: str, result: ir.Type, *arguments: ir.Type) -> Any:
        """Declare an external function."""
        known = self.module.globals.get(name)
        return known or ir.Function(self.module, ir.FunctionType(result, arguments), name)

    def number(self, value: int) -> Any:
        """A constant of 64 bits."""
        return ir.Constant(LONG, value)

    def object(self, value: Any) -> Any:
        """The address of a Python object that is never freed."""
        name = next(name for name, item in OBJECTS.items() if item is value)
        place = self.module.globals.get(name) or ir.GlobalVariable(self.module, BYTE, name)
        return self.builder.inttoptr(self.builder.ptrtoint(place, LONG), POINTER)

    def at(self, pointer: ir.Value, index: int | ir.Value, kind: ir.Type = LONG) -> Any:
        """The address of element `index` of an array of `kind`."""
        number = self.number(index) if isinstance(index, int) else index
        return self.builder.gep(pointer, [number], source_etype=kind)

    def read(self, pointer: ir.Value, index: int | ir.Value, kind: Any = LONG) -> Any:
        """The element `index` of an array of such elements."""
        return self.builder.load(self.at(pointer, index, kind), typ=kind)

    def field(self, pointer: ir.Value, offset: int, kind: ir.Type) -> Any:
        """Load a field of a C struct, by its offset in bytes."""
        return self.builder.load(self.at(pointer, offset, BYTE), typ=kind)

    def opaque(self, pointer: ir.Value) -> Any:
        """A pointer without the type of what it points to."""
        return self.builder.inttoptr(self.builder.ptrtoint(pointer, LONG), POINTER)

    def room(self, count: ir.Value, kind: ir.Type, align: int = 16) -> Any:
        """Allocate memory in the stack frame."""
        made = self.builder.alloca(kind, size=count)
        made.align = align
        return self.opaque(made)

    def require(self, condition: ir.Value, otherwise: ir.Block) -> None:
        """Continue if the condition holds, else branch to `otherwise`."""
        following = self.builder.append_basic_block("checked")
        self.builder.cbranch(condition, following, otherwise)
        self.builder.position_at_end(following)

    def equal(self, found: ir.Value, expected: ir.Value) -> None:
        """Continue if two values are equal, else take the slow path through Python."""
        self.require(self.builder.icmp_unsigned("==", found, expected), self.slow)

    @contextmanager
    def loop(self, count: ir.Value) -> Iterator[Any]:
        """Emit a loop from 0 to `count`; yields the index."""
        builder = self.builder
        before = builder.block
        head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
        builder.branch(head)
        builder.position_at_end(head)
        index = builder.phi(LONG)
        index.add_incoming(self.number(0), before)
        builder.cbranch(builder.icmp_signed("<", index, count), body, after)
        builder.position_at_end(body)
        yield index
        index.add_incoming(builder.add(index, self.number(1)), builder.block)
        builder.branch(head)
        builder.position_at_end(after)

    # -- the parts of an entry

    def start(self, header: ir.Value, length: int) -> None:
        """Read the header, of this `length`, and allocate the table of pointers and the results."""
        builder = self.builder
        self.header = header
        self.count = self.read(header, RESULTS)
        self.cursor = builder.alloca(POINTER)
        builder.store(self.at(header, length), self.cursor)
        self.table = self.room(builder.add(self.read(header, SLOTS), self.number(1)), POINTER)
        self.results = self.room(self.count, POINTER)
        self.small = builder.icmp_signed("<=", self.read(header, WORKSPACE), self.number(ON_THE_STACK))
        size = builder.select(self.small, self.read(header, WORKSPACE), self.number(0))
        self.frame = self.room(size, BYTE, ALIGNMENT)
        with self.loop(self.count) as i:
            builder.store(self.null, self.at(self.results, i, POINTER))

    def drop_results(self) -> None:
        """Release the results that were allocated, before the slow path is taken."""
        self.drop_all(self.results, self.count)

    def drop_all(self, objects: ir.Value, count: ir.Value) -> None:
        """Release the objects of an array of pointers, in which null pointers are left."""
        with self.loop(count) as i:
            self.builder.call(self.drop, [self.read(objects, i, POINTER)])  # Py_DecRef ignores null pointers
            self.builder.store(self.null, self.at(objects, i, POINTER))

    def next_record(self, length: int, with_lengths: bool = False) -> tuple[list[Any], Any]:
        """Read a record and advance to the next one; the lengths of an array, if it has any, are skipped."""
        builder = self.builder
        record = builder.load(self.cursor, typ=POINTER)
        numbers = [self.read(record, i) for i in range(length)]
        behind = self.at(record, length)
        builder.store(self.at(behind, numbers[1]) if with_lengths else behind, self.cursor)
        return numbers, behind

    def check(self, array: ir.Value) -> None:
        """Branch to the slow path unless an argument is an array that the loops can read."""
        builder = self.builder
        (description, rank, slot), lengths = self.next_record(3, with_lengths=True)
        self.equal(self.field(array, TYPE, POINTER), self.object(np.ndarray))
        self.equal(self.field(array, DESCRIPTION, LONG), description)
        self.equal(builder.sext(self.field(array, RANK, INT32), LONG), rank)
        wanted = ir.Constant(INT32, C_ORDER_AND_ALIGNED)
        self.equal(builder.and_(self.field(array, FLAGS, INT32), wanted), wanted)
        dimensions = self.field(array, DIMENSIONS, POINTER)
        with self.loop(rank) as axis:
            self.equal(self.read(dimensions, axis), self.read(lengths, axis))
        with builder.if_then(builder.icmp_signed(">=", slot, self.number(0))):
            builder.store(self.field(array, DATA, POINTER), self.at(self.table, slot, POINTER))

    def read_constants(self) -> None:
        """Store the addresses of the constants in the table of pointers."""
        with self.loop(self.read(self.header, CONSTANTS)):
            (address, slot), _ = self.next_record(2)
            self.builder.store(self.builder.inttoptr(address, POINTER), self.at(self.table, slot, POINTER))

    def make_array(self, index: ir.Value, description: ir.Value, rank: ir.Value, slot: ir.Value, lengths: Any) -> None:
        """Allocate the result `index`, an empty array."""
        builder = self.builder
        empty = self.declare("gradtape_empty", POINTER, INT32, POINTER, POINTER, INT32)
        kind = builder.inttoptr(description, POINTER)
        builder.call(self.hold, [kind])  # PyArray_Empty steals a reference to the dtype
        made = builder.call(empty, [builder.trunc(rank, INT32), lengths, kind, ir.Constant(INT32, 0)])
        builder.store(made, self.at(self.results, index, POINTER))
        self.require(builder.icmp_unsigned("!=", made, self.null), self.failed)
        builder.store(self.field(made, DATA, POINTER), self.at(self.table, slot, POINTER))

    def run(self) -> None:
        """Run the loops, with a workspace that is in the stack frame if it is small."""
        builder, small = self.builder, self.small
        allocate = self.declare("PyMem_RawMalloc", POINTER, LONG)
        free = self.declare("PyMem_RawFree", VOID, POINTER)
        space, memory = builder.alloca(POINTER), builder.alloca(POINTER)
        builder.store(self.frame, space)
        builder.store(self.null, memory)
        with builder.if_then(builder.not_(small)):
            self.swap_arena(memory)
            is_new = builder.icmp_unsigned("==", builder.load(memory, typ=POINTER), self.null)
            with builder.if_then(is_new, likely=False):
                size = builder.add(self.read(self.header, WORKSPACE), self.number(ALIGNMENT))
                new = builder.call(allocate, [size])
                with builder.if_then(builder.icmp_unsigned("==", new, self.null), likely=False):
                    builder.call(self.declare("PyErr_NoMemory", POINTER), [])
                    builder.branch(self.failed)
                builder.store(new, memory)
            made = builder.load(memory, typ=POINTER)
            number = builder.add(builder.ptrtoint(made, LONG), self.number(ALIGNMENT - 1))
            builder.store(builder.inttoptr(builder.and_(number, self.number(-ALIGNMENT)), POINTER), space)
        start = builder.load(space, typ=POINTER)
        with self.loop(self.read(self.header, TEMPORARIES)):
            (slot, offset), _ = self.next_record(2)
            builder.store(self.at(start, offset, BYTE), self.at(self.table, slot, POINTER))
        state = builder.alloca(POINTER)
        releases = builder.icmp_unsigned("!=", self.read(self.header, RELEASES_GIL), self.number(0))
        with builder.if_then(releases):
            builder.store(builder.call(self.declare("PyEval_SaveThread", POINTER), []), state)
        status = builder.alloca(LONG)
        builder.store(self.number(0), status)
        builder.store(self.opaque(status), self.at(self.table, self.read(self.header, STATUS_SLOT), POINTER))
        run = builder.inttoptr(self.read(self.header, RUN), ir.FunctionType(VOID, [POINTER]).as_pointer())
        builder.call(run, [self.table])
        with builder.if_then(releases):
            restore = self.declare("PyEval_RestoreThread", VOID, POINTER)
            builder.call(restore, [builder.load(state, typ=POINTER)])
        with builder.if_then(builder.not_(small)):
            self.swap_arena(memory)
            builder.call(free, [builder.load(memory, typ=POINTER)])  # null, or that of another thread
        missing = builder.icmp_unsigned("!=", builder.load(status, typ=LONG), self.number(0))
        with builder.if_then(missing, likely=False):
            self.drop_results()
            builder.branch(self.slow)

    def swap_arena(self, memory: ir.Value) -> None:
        """Exchange the memory in a variable for what the arena of the program holds, if it has one: null, or memory."""
        builder = self.builder
        arena = self.read(self.header, ARENA)
        with builder.if_then(builder.icmp_unsigned("!=", arena, self.number(0))):
            cell = builder.inttoptr(arena, LONG.as_pointer())
            given = builder.ptrtoint(builder.load(memory, typ=POINTER), LONG)
            taken = builder.atomic_rmw("xchg", cell, given, "seq_cst")
            builder.store(builder.inttoptr(taken, POINTER), memory)
