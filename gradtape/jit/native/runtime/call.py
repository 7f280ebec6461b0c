"""The native `__call__` of compiled functions: from arguments to results without a Python frame.

`make_call(...)` describes the calls of one executable that is a single group; the class of compiled functions holds it
in an attribute with a fixed offset, and `install(...)` replaces the `__call__` of the class by a method in machine
code. A call that is like the one that was described takes these steps:

1. the context variables of recording and of checks have their usual values;
2. what the function reads besides its arguments is what it was: words in memory, items of dictionaries and lists are
   compared with the objects that were found there; arrays are read again;
3. the arguments are arrays of the expected dtypes and shapes, in C order and aligned. Where they are nested or named,
   or there are conditions of other kinds, a generated Python function takes them apart, or returns None;
4. results are allocated, the loops run, and the structure of the answer is built.

In any other case, and wherever a result may have to be explained, the Python `__call__` is called. A call counts as a
run in `Counters`, which Python code reads and writes as well.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradtape.jit.ir.call_plan import ABSENT, CallPlan, Variables
from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.loops import LONG, POINTER, VOID
from gradtape.jit.native.runtime.abi import (
    BYTES_START,
    CELL_CONTENT,
    INTEGER_DIGITS,
    METH_FASTCALL,
    METH_KEYWORDS,
    SIZE,
    TUPLE_ITEMS,
    TYPE,
    MethodDefinition,
    code_offset,
    objects_are_known,
    slot_offset,
)
from gradtape.jit.native.runtime.entry_emitter import (
    ARGUMENTS,
    BYTE,
    HEADER,
    INT32,
    Description,
    EntryEmitter,
    is_canonical,
    is_simple,
    symbols,
)
from gradtape.jit.native.runtime.function import NativeFunction
from gradtape.jit.native.runtime.llvm import Library, host, once

GUARDS, LEAVES, COUNTERS, NUMBER, NUMBER_MASK, ANSWER, UNPACKS, PACKS = FURTHER = range(len(HEADER), len(HEADER) + 8)
DESCRIPTION, UNPACK, PACK = range(3)  # items of the tuple that describes a call
WORD, ITEM, LIST = range(3)  # ways in which a value is read
RESULT, TUPLE, LIST_OF, NONE = range(4)  # instructions that build the answer
RUNS, IS_EXPLAINED, IS_LATEST = range(3)  # members of `gradtape.jit.ir.call_plan.Counters`
SCALAR_SIZE = 16
EXPONENTS = {np.dtype("float64"): 0x7FF0000000000000, np.dtype("float32"): 0x7F800000}
"""The bits of the exponent, all of which are set in a number that is not finite."""


def make_call(
    group: NativeFunction, inputs: Sequence[Any], constants: Mapping[Any, Any], outputs: Sequence[Any], plan: CallPlan
) -> tuple[Any, ...] | None:
    """What the native `__call__` needs to run a program that is one group; None if it cannot.

    `constants` are values with their arrays.
    """
    known = {*inputs, *constants}
    plain = all(array.flags.c_contiguous and array.flags.aligned for array in constants.values())
    if not objects_are_known() or not is_simple(group) or not plain or not all(v in known for v in group.inputs):
        return None
    if set(outputs) != set(group.written) or len(outputs) != len(group.written):
        return None
    if not all(is_canonical(value.dtype) for value in inputs):
        return None
    parts = Description(group, constants)
    count = len(inputs) - len(plan.leaves)
    number, mask = -1, 0
    if plan.first is not None and outputs[plan.first].shape == () and outputs[plan.first].dtype in EXPONENTS:
        number, mask = plan.first, EXPONENTS[outputs[plan.first].dtype]
    answer = [] if plan.pack is not None else list(_instructions(plan.answer))
    numbers = parts.header(count, len(outputs))
    numbers += [len(plan.guards), len(plan.leaves), ctypes.addressof(plan.counters), number, mask]
    numbers += [len(answer), plan.unpack is not None, plan.pack is not None]
    for way, container, key, value in plan.guards:
        numbers += [*_read(way, container, key), value if way == "size" else 0 if value is ABSENT else id(value)]
    numbers += parts.array_records(inputs[:count])
    for leaf, (way, container, key) in zip(inputs[count:], plan.leaves, strict=True):
        numbers += [*_read(way, container, key), *parts.array_records([leaf])]
    numbers += parts.other_records(outputs)
    numbers += [part for instruction in answer for part in instruction]
    description = np.array(numbers, np.int64).tobytes()
    return description, plan.unpack, plan.pack, group, tuple(constants.values()), plan  # the last ones are kept alive


def _read(way: str, container: Any, key: Any) -> tuple[int, int, int]:
    """How native code reads a value: the way, and two numbers."""
    if way == "item":
        return ITEM, id(container), id(key)
    if way == "list":
        return LIST, id(container), key
    offsets = {"cell": CELL_CONTENT, "type": TYPE, "size": SIZE}
    offset = code_offset() if way == "code" else TUPLE_ITEMS + 8 * key if way == "tuple" else offsets[way]
    return WORD, id(container) + offset, 0


def _instructions(tree: Any) -> Sequence[tuple[int, int]]:
    """Build an answer on a stack: push a result or None, make a tuple or a list of the topmost items."""
    if tree is None:
        return [(NONE, 0)]
    if isinstance(tree, int):
        return [(RESULT, tree)]
    parts = [instruction for part in tree for instruction in _instructions(part)]
    return [*parts, (TUPLE if isinstance(tree, tuple) else LIST_OF, len(tree))]


@once
def install(kind: type, slot: str, variables: Variables) -> None:
    """Replace the `__call__` of a class by the native one, for objects whose attribute `slot` describes a call."""
    python_call: Any = vars(kind)["__call__"]
    bits = slot_offset(type(variables.state.get()), "bits")
    emitter = CallEmitter(slot_offset(kind, slot), bits, variables.ambient)
    addresses = symbols() | {
        "gradtape_python_call": id(python_call),
        "gradtape_checks": id(variables.checks),
        "gradtape_state": id(variables.state),
        "gradtape_false": id(False),
    }
    library = host().compile(emitter.text, ["entry"], addresses, hasty=True)
    documentation = (python_call.__doc__ or "").encode()
    definition = MethodDefinition(b"__call__", library.address("entry"), METH_FASTCALL | METH_KEYWORDS, documentation)
    make = ctypes.pythonapi.PyDescr_NewMethod
    make.restype, make.argtypes = ctypes.py_object, (ctypes.py_object, ctypes.c_void_p)
    _kept.append((library, definition, documentation, python_call, variables))
    setattr(kind, "__call__", make(kind, ctypes.addressof(definition)))  # noqa: B010  (mypy knows the method only)


_kept: list[tuple[Library, MethodDefinition, Any, Any, Any]] = []
"""What an installed method refers to by addresses."""


class CallEmitter(EntryEmitter):
    """Emits the machine code of `__call__`."""

    def __init__(self, slot: int, bits: int, ambient: int) -> None:
        self.slot, self.bits, self.ambient = slot, bits, ambient
        super().__init__(POINTER, LONG, POINTER)

    def emit(self, this: ir.Value, *given: ir.Value) -> None:
        """Emit the method: it takes the object, the arguments, how many are given by position, and other names."""
        builder, (arguments, count, names) = self.builder, given
        self.release = builder.append_basic_block("release")
        entry = self.entry = self.field(this, self.slot, POINTER)
        self.differ(entry, self.null)
        self.differ(entry, self.symbol("gradtape_none"))
        items = self.at(entry, TUPLE_ITEMS, BYTE)
        header = self.at(self.read(items, DESCRIPTION, POINTER), BYTES_START, BYTE)
        counters = builder.inttoptr(self.read(header, COUNTERS), POINTER)
        runs = self.read(counters, RUNS)
        following = builder.add(runs, self.number(1))
        # results are looked at in the first, second, fourth, eighth run and so on
        self.differ(builder.and_(runs, following), self.number(0))
        self.check_context()
        builder.call(self.hold, [entry])  # another thread may replace it
        self.slow, python_call = self.release, self.slow
        self.prepare(header)
        self.check_guards()
        given_arrays, given_count = self.unpack(items, arguments, count, names)
        self.equal(given_count, self.read(self.header, ARGUMENTS))
        with self.loop(self.read(self.header, ARGUMENTS)) as i:
            self.check(self.read(given_arrays, i, POINTER))
        with self.loop(self.read(self.header, LEAVES)) as i:
            leaf = self.read_value()
            self.differ(leaf, self.null)
            builder.call(self.hold, [leaf])
            builder.store(leaf, self.at(self.held, i, POINTER))
            self.check(leaf)
        self.read_constants()
        outputs = builder.load(self.cursor, typ=POINTER)
        with self.loop(self.count) as i:
            self.make_result(i)
        self.run()
        self.check_number(counters)
        behind = builder.load(self.cursor, typ=POINTER)
        builder.store(outputs, self.cursor)
        with self.loop(self.count) as i:
            self.make_scalar(i)
        builder.store(behind, self.cursor)
        answer = self.build_answer(items)
        builder.store(following, self.at(counters, RUNS))
        builder.store(self.number(1), self.at(counters, IS_LATEST))
        self.release_all()
        builder.ret(answer)
        builder.position_at_end(self.failed)
        self.drop_results()
        self.drop_all(self.stack, builder.load(self.depth, typ=LONG))
        self.release_all()
        builder.ret(self.null)
        builder.position_at_end(self.release)
        self.drop_results()
        self.release_all()
        builder.branch(python_call)
        builder.position_at_end(python_call)
        self.call_python(this, arguments, count, names)

    def symbol(self, name: str) -> Any:
        """The address of an object that is never freed, by the name that it is linked with."""
        place = self.module.globals.get(name) or ir.GlobalVariable(self.module, BYTE, name)
        return self.builder.inttoptr(self.builder.ptrtoint(place, LONG), POINTER)

    def differ(self, found: ir.Value, expected: ir.Value) -> None:
        """Continue if two values are different, else take the slow path."""
        self.require(self.builder.icmp_unsigned("!=", found, expected), self.slow)

    def check_context(self) -> None:
        """Take the slow path unless the context variables have their usual values."""
        builder = self.builder
        get = self.declare("PyContextVar_Get", INT32, POINTER, POINTER, POINTER)
        found = builder.alloca(POINTER)

        def read(name: str) -> Any:
            failed = builder.call(get, [self.symbol(name), self.null, self.opaque(found)])
            self.equal(failed, ir.Constant(INT32, 0))
            value = builder.load(found, typ=POINTER)
            builder.call(self.drop, [value])  # the context, or the variable for its default, holds it
            return value

        self.equal(read("gradtape_checks"), self.symbol("gradtape_false"))
        bits = self.field(read("gradtape_state"), self.bits, POINTER)
        digit = builder.and_(self.field(bits, INTEGER_DIGITS, INT32), ir.Constant(INT32, self.ambient))
        self.differ(digit, ir.Constant(INT32, 0))

    def prepare(self, header: ir.Value) -> None:
        """Allocate what a call needs on the stack."""
        builder = self.builder
        self.unpacked, self.depth, self.value = builder.alloca(POINTER), builder.alloca(LONG), builder.alloca(POINTER)
        builder.store(self.null, self.unpacked)
        builder.store(self.number(0), self.depth)
        self.start(header, len(HEADER) + len(FURTHER))
        self.scalars = self.room(builder.mul(self.count, self.number(SCALAR_SIZE)), BYTE)
        self.stack = self.room(self.read(header, ANSWER), POINTER)
        self.held = self.room(self.read(header, LEAVES), POINTER)
        with self.loop(self.read(header, LEAVES)) as i:
            builder.store(self.null, self.at(self.held, i, POINTER))

    def read_value(self) -> Any:
        """Read the value that the next record tells of; a null pointer if there is none."""
        builder = self.builder
        (way, container, key), _ = self.next_record(3)
        place = builder.inttoptr(container, POINTER)
        builder.store(self.null, self.value)
        with builder.if_then(self.is_equal(way, WORD)):
            builder.store(builder.load(place, typ=POINTER), self.value)
        with builder.if_then(self.is_equal(way, ITEM)):
            get = self.declare("PyDict_GetItemWithError", POINTER, POINTER, POINTER)
            builder.store(builder.call(get, [place, builder.inttoptr(key, POINTER)]), self.value)
        with builder.if_then(self.is_equal(way, LIST)):
            get = self.declare("PyList_GetItem", POINTER, POINTER, LONG)
            builder.store(builder.call(get, [place, key]), self.value)
        return builder.load(self.value, typ=POINTER)

    def is_equal(self, found: ir.Value, expected: int) -> Any:
        """Whether a number is the expected one."""
        return self.builder.icmp_unsigned("==", found, self.number(expected))

    def check_guards(self) -> None:
        """Take the slow path unless what the function reads besides its arguments is what it was."""
        with self.loop(self.read(self.header, GUARDS)):
            found = self.read_value()
            (expected,), _ = self.next_record(1)
            self.equal(self.builder.ptrtoint(found, LONG), expected)

    def unpack(self, items: ir.Value, arguments: ir.Value, count: ir.Value, names: ir.Value) -> tuple[Any, Any]:
        """The arrays among the arguments, and their number: the arguments themselves if they are arrays only."""
        builder = self.builder
        arrays, number = builder.alloca(POINTER), builder.alloca(LONG)
        builder.store(arguments, arrays)
        builder.store(count, number)
        size = self.declare("PyTuple_Size", LONG, POINTER)
        with builder.if_else(self.is_equal(self.read(self.header, UNPACKS), 0)) as (plain, nested):
            with plain, builder.if_then(builder.icmp_unsigned("!=", names, self.null)):
                self.equal(builder.call(size, [names]), self.number(0))
            with nested:
                call = self.declare("PyObject_Vectorcall", POINTER, POINTER, POINTER, LONG, POINTER)
                found = builder.call(call, [self.read(items, UNPACK, POINTER), arguments, count, names])
                builder.store(found, self.unpacked)
                self.require(builder.icmp_unsigned("!=", found, self.null), self.failed)
                self.differ(found, self.symbol("gradtape_none"))
                builder.store(self.at(found, TUPLE_ITEMS, BYTE), arrays)
                builder.store(builder.call(size, [found]), number)
        return builder.load(arrays, typ=POINTER), builder.load(number, typ=LONG)

    def scalar(self, index: ir.Value) -> Any:
        """The memory for the number of a result without axes."""
        return self.at(self.scalars, self.builder.mul(index, self.number(SCALAR_SIZE)), BYTE)

    def make_result(self, index: ir.Value) -> None:
        """Allocate a result: an empty array, or memory for a number."""
        builder = self.builder
        (description, rank, slot), lengths = self.next_record(3, with_lengths=True)
        with builder.if_else(self.is_equal(rank, 0)) as (number, array):
            with number:
                builder.store(self.scalar(index), self.at(self.table, slot, POINTER))
            with array:
                self.make_array(index, description, rank, slot, lengths)

    def check_number(self, counters: ir.Value) -> None:
        """Take the slow path, which explains it, if a result that is looked at in each run is not finite."""
        builder = self.builder
        index, mask = self.read(self.header, NUMBER), self.read(self.header, NUMBER_MASK)
        is_one = builder.icmp_signed(">=", index, self.number(0))
        with builder.if_then(builder.and_(is_one, self.is_equal(self.read(counters, IS_EXPLAINED), 0))):
            exponent = builder.and_(self.read(self.scalar(index), 0), mask)
            self.differ(exponent, mask)

    def make_scalar(self, index: ir.Value) -> None:
        """Make a NumPy scalar of a result without axes."""
        builder = self.builder
        (description, rank, _), _ = self.next_record(3, with_lengths=True)
        scalar = self.declare("gradtape_scalar", POINTER, POINTER, POINTER, POINTER)
        with builder.if_then(self.is_equal(rank, 0)):
            made = builder.call(scalar, [self.scalar(index), builder.inttoptr(description, POINTER), self.null])
            builder.store(made, self.at(self.results, index, POINTER))
            self.require(builder.icmp_unsigned("!=", made, self.null), self.failed)

    def build_answer(self, items: ir.Value) -> Any:
        """The answer: built from the results on a stack, or by a Python function."""
        builder = self.builder
        answer = builder.alloca(POINTER)
        with builder.if_else(self.is_equal(self.read(self.header, PACKS), 0)) as (native, python):
            with native:
                with self.loop(self.read(self.header, ANSWER)):
                    self.build_part()
                builder.store(self.read(self.stack, 0, POINTER), answer)
            with python:
                call = self.declare("PyObject_Vectorcall", POINTER, POINTER, POINTER, LONG, POINTER)
                made = builder.call(call, [self.read(items, PACK, POINTER), self.results, self.count, self.null])
                builder.store(made, answer)
                self.require(builder.icmp_unsigned("!=", made, self.null), self.failed)
                self.drop_results()
        return builder.load(answer, typ=POINTER)

    def build_part(self) -> None:
        """Run one instruction of the answer: the item that it makes becomes the topmost one of the stack."""
        builder = self.builder
        (what, number), _ = self.next_record(2)
        depth = builder.load(self.depth, typ=LONG)
        with builder.if_then(self.is_equal(what, RESULT)):  # which is the stack's from now on
            place = self.at(self.results, number, POINTER)
            builder.store(builder.load(place, typ=POINTER), self.at(self.stack, depth, POINTER))
            builder.store(self.null, place)
            builder.store(builder.add(depth, self.number(1)), self.depth)
        with builder.if_then(self.is_equal(what, NONE)):
            builder.call(self.hold, [self.symbol("gradtape_none")])
            builder.store(self.symbol("gradtape_none"), self.at(self.stack, depth, POINTER))
            builder.store(builder.add(depth, self.number(1)), self.depth)
        for code, kind in ((TUPLE, "PyTuple"), (LIST_OF, "PyList")):
            with builder.if_then(self.is_equal(what, code)):
                made = builder.call(self.declare(f"{kind}_New", POINTER, LONG), [number])
                self.require(builder.icmp_unsigned("!=", made, self.null), self.failed)
                start = builder.sub(depth, number)
                set_item = self.declare(f"{kind}_SetItem", INT32, POINTER, LONG, POINTER)
                with self.loop(number) as i:
                    builder.call(set_item, [made, i, self.read(self.stack, builder.add(start, i), POINTER)])
                builder.store(made, self.at(self.stack, start, POINTER))
                builder.store(builder.add(start, self.number(1)), self.depth)

    def release_all(self) -> None:
        """Release what was held during the call."""
        self.builder.call(self.drop, [self.builder.load(self.unpacked, typ=POINTER)])
        self.drop_all(self.held, self.read(self.header, LEAVES))
        self.builder.call(self.drop, [self.entry])

    def call_python(self, this: ir.Value, arguments: ir.Value, count: ir.Value, names: ir.Value) -> None:
        """Call the Python method with the same arguments."""
        builder = self.builder
        builder.call(self.declare("PyErr_Clear", VOID), [])
        named = builder.alloca(LONG)
        builder.store(self.number(0), named)
        with builder.if_then(builder.icmp_unsigned("!=", names, self.null)):
            builder.store(builder.call(self.declare("PyTuple_Size", LONG, POINTER), [names]), named)
        total = builder.add(count, builder.load(named, typ=LONG))
        given = self.room(builder.add(total, self.number(1)), POINTER)
        builder.store(this, given)
        with self.loop(total) as i:
            argument = self.read(arguments, i, POINTER)
            builder.store(argument, self.at(given, builder.add(i, self.number(1)), POINTER))
        call = self.declare("PyObject_Vectorcall", POINTER, POINTER, POINTER, LONG, POINTER)
        positional = builder.add(count, self.number(1))
        builder.ret(builder.call(call, [self.symbol("gradtape_python_call"), given, positional, names]))
