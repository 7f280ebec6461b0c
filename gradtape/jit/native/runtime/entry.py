"""The native entry: a built-in function that reads array headers itself, without Python code per call.

`entry(group)` makes a built-in function (METH_FASTCALL) whose machine code checks that each argument is an ndarray of
the expected dtype and shape, in C order and aligned, creates the outputs with the allocator of NumPy, fills the table
of pointers and runs the loops. For any other argument (another class, dtype or layout, a wrong number of arguments) it
calls the `NativeFunction`, which copies or raises. `whole_entry(...)` is the same for a whole program: it returns None
for such arguments, and 0-dimensional results are NumPy scalars.

All groups share one machine code. What differs among them is in a description: see `_describe`.

The layout of an array header is part of the ABI of NumPy, that of tuples and bytes of the ABI of Python. Both are
compared with some known objects before they are relied on; where they differ (another interpreter, a free-threaded
build), the `NativeFunction` is called in the ordinary way.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from gradtape.jit.native.emit.loops import LONG, POINTER, VOID
from gradtape.jit.native.runtime import threads
from gradtape.jit.native.runtime.function import NativeFunction
from gradtape.jit.native.runtime.llvm import Library, host, once
from gradtape.jit.native.schedule.workspace import ALIGNMENT

# struct PyArrayObject_fields: PyObject_HEAD, char *data, int nd, npy_intp *dimensions, npy_intp *strides,
# PyObject *base, PyArray_Descr *descr, int flags ...; in bytes from the start on a machine of 64 bits
TYPE, DATA, RANK, DIMENSIONS, DESCRIPTION, FLAGS = 8, 16, 24, 32, 56, 64
C_ORDER_AND_ALIGNED = 0x0001 | 0x0100
PY_ARRAY_SCALAR, PY_ARRAY_EMPTY = 60, 184  # their indices in the function table of NumPy
TUPLE_ITEMS, BYTES_START = tuple.__basicsize__, bytes.__basicsize__ - 1  # offsets of the first item in these objects
METH_FASTCALL = 0x0080
PYTHON_FUNCTIONS = (
    *("PyObject_Vectorcall", "PyTuple_New", "PyTuple_SetItem", "Py_IncRef", "Py_DecRef", "PyMem_RawMalloc"),
    *("PyMem_RawFree", "PyErr_NoMemory", "PyEval_SaveThread", "PyEval_RestoreThread"),
)
OBJECTS = {"gradtape_none": None, "gradtape_ndarray": np.ndarray}  # by name: addresses differ between processes
INT32 = ir.IntType(32)
BYTE = ir.IntType(8)
ON_THE_STACK = 4096
SCALAR_SIZE = 16
LET_GO = 50_000  # nanoseconds of work from which on the GIL is released


class MethodDefinition(ctypes.Structure):
    """struct PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


@cache
def array_functions() -> int | None:
    """The address of the C function table of NumPy; None if array headers have another layout than is assumed here."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return None
    if sysconfig.get_config_var("Py_GIL_DISABLED") or hasattr(sys, "gettotalrefcount"):
        return None
    if not all(_header_is_known(array) for array in (np.zeros((3, 5, 7)), np.ones((4, 2), np.int8).T, np.zeros(()))):
        return None
    if not _items_are_known((object(), b"description"), b"some bytes"):
        return None
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    address = get_pointer(np._core.multiarray._ARRAY_API, None)  # type: ignore[attr-defined]
    return int(address) if address else None


def _header_is_known(array: np.ndarray[Any, Any]) -> bool:
    def read(kind: Any, offset: int) -> Any:
        return kind.from_address(id(array) + offset).value

    dimensions = ctypes.cast(read(ctypes.c_void_p, DIMENSIONS), ctypes.POINTER(ctypes.c_int64))
    return bool(
        read(ctypes.c_void_p, TYPE) == id(type(array))
        and read(ctypes.c_void_p, DATA) == array.ctypes.data
        and read(ctypes.c_int, RANK) == array.ndim
        and all(dimensions[i] == n for i, n in enumerate(array.shape))
        and read(ctypes.c_void_p, DESCRIPTION) == id(array.dtype)
        and bool(read(ctypes.c_int, FLAGS) & 0x0001) == array.flags.c_contiguous
        and bool(read(ctypes.c_int, FLAGS) & 0x0100) == array.flags.aligned
    )


def _items_are_known(pair: tuple[Any, Any], text: bytes) -> bool:
    """Whether the items of tuples and bytes are at the assumed offsets; Python 3.14 moved those of tuples."""
    places = [ctypes.c_void_p.from_address(id(pair) + TUPLE_ITEMS + 8 * i).value for i in range(2)]
    return places == [id(item) for item in pair] and ctypes.string_at(id(text) + BYTES_START, len(text)) == text


def entry(group: NativeFunction) -> Callable[..., tuple[Any, ...]]:
    """The group as a function with the least overhead that the interpreter allows.

    >>> import numpy as np
    >>> from gradtape.jit.native.runtime.entry import entry
    >>> from gradtape.jit.native.runtime.function import compile_function
    >>> from gradtape.jit.ir.program import Instruction, Value
    >>> from gradtape.ops.elementwise import add
    >>> x, y = Value(0, (2,), np.dtype(float)), Value(1, (2,), np.dtype(float))
    >>> double = entry(compile_function([Instruction(add, (x, x), {}, (y,))], [x], [y]))
    >>> double(np.array([1.0, 2.0])), double(np.arange(4.0)[::2])
    ((array([2., 4.]),), (array([0., 4.]),))
    """
    if group.written != group.outputs or not _is_simple(group):
        return group
    return _function(group, _describe(group, group.inputs, {}, group.written, whole=False, single=False))


def whole_entry(
    group: NativeFunction, inputs: Sequence[Any], constants: Mapping[Any, Any], outputs: Sequence[Any], single: bool
) -> Callable[..., Any] | None:
    """A function for a program that is one group: from arrays for `inputs` to a tuple of outputs, or the `single` one.

    The function returns None for arguments that it cannot read without a copy. `constants` are values with their
    arrays. None if there can be no such function.
    """
    known = {*inputs, *constants}
    plain = all(array.flags.c_contiguous and array.flags.aligned for array in constants.values())
    if not _is_simple(group) or not plain or not all(value in known for value in group.inputs):
        return None
    if set(outputs) != set(group.written) or len(outputs) != len(group.written):
        return None
    if not all(_is_canonical(value.dtype) for value in inputs):
        return None
    description = _describe(group, inputs, constants, outputs, whole=True, single=single)
    function = _function(group, description)
    group.constants = tuple(constants.values())  # their addresses are in the description
    return function


def _is_simple(group: NativeFunction) -> bool:
    canonical = all(_is_canonical(value.dtype) for value in (*group.inputs, *group.written))
    plain = not group.has_steps and group.checks is None
    return bool(array_functions() and group.outputs and canonical and plain)


def _is_canonical(dtype: np.dtype[Any]) -> bool:
    """Whether all plain arrays of this dtype have the same dtype object."""
    return dtype is np.dtype(dtype.char)


def _function(group: NativeFunction, description: bytes) -> Callable[..., Any]:
    library = _library()
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    function: Callable[..., Any] = make(ctypes.addressof(library[1]), (group, description), None)
    return function


ARGUMENTS, CONSTANTS, RESULTS, TEMPORARIES, SLOTS, WORKSPACE, RUN, FLAG_BITS, STATUS_SLOT, HEADER = range(10)
WHOLE, SINGLE, PATIENT = 1, 2, 4


def _describe(
    group: NativeFunction,
    inputs: Sequence[Any],
    constants: Mapping[Any, Any],
    outputs: Sequence[Any],
    whole: bool,
    single: bool,
) -> bytes:
    """The description of a group for the entry, as 64-bit integers.

    A header; a record for each argument (dtype, rank, slot in the table of pointers or -1, lengths); one for each
    constant (address, slot); one for each result, like an argument's; one for each temporary (slot, offset).
    """
    slots = {value: i for i, value in enumerate([*group.inputs, *group.written])}
    used = [(array, slots[value]) for value, array in constants.items() if value in slots]
    used += [(array, slot) for slot, array in group.constant_arrays.items()]
    # releasing the GIL is safe: the caller holds the arguments during the call, and NumPy releases it in its loops, too
    patient = threads.cost(group.nests) > LET_GO
    numbers = [len(inputs), len(used), len(outputs), len(group.temporaries), group.slots, group.workspace]
    numbers += [group.library.address("run"), WHOLE * whole | SINGLE * single | PATIENT * patient]
    numbers += [group.status if group.status >= 0 else group.slots]  # without a status: the slot after the last
    for value in inputs:
        numbers += [id(value.dtype), len(value.shape), slots.get(value, -1), *value.shape]
    for array, slot in used:
        numbers += [array.ctypes.data, slot]
    for value in outputs:
        numbers += [id(value.dtype), len(value.shape), slots[value], *value.shape]
    for slot, offset in group.temporaries:
        numbers += [slot, offset]
    return np.array(numbers, np.int64).tobytes()


@once
def _library() -> tuple[Library, MethodDefinition]:
    """The machine code of all entries, and its definition for Python, which is never freed."""
    functions = array_functions() or 0
    symbols = {
        "gradtape_empty": int(ctypes.c_void_p.from_address(functions + 8 * PY_ARRAY_EMPTY).value or 0),
        "gradtape_scalar": int(ctypes.c_void_p.from_address(functions + 8 * PY_ARRAY_SCALAR).value or 0),
    }
    symbols |= {name: id(item) for name, item in OBJECTS.items()}
    for name in PYTHON_FUNCTIONS:
        symbols[name] = int(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)
    library = host().compile(EntryEmitter().text, ["entry"], symbols, hasty=True)
    return library, MethodDefinition(b"native", library.address("entry"), METH_FASTCALL, None)


class EntryEmitter:
    """Emits the machine code that all entries share."""

    def __init__(self) -> None:
        self.module = ir.Module("gradtape_entry")
        function = self.declare("entry", POINTER, POINTER, POINTER, LONG)
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.slow, self.failed = (function.append_basic_block(name) for name in ("slow", "failed"))
        self.hold = self.declare("Py_IncRef", VOID, POINTER)
        self.drop = self.declare("Py_DecRef", VOID, POINTER)
        self.emit(*function.args)
        self.text = str(self.module)

    # -- helpers

    def declare(self, name: str, result: ir.Type, *arguments: ir.Type) -> Any:
        """Declare an external function."""
        return ir.Function(self.module, ir.FunctionType(result, arguments), name)

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

    def room(self, count: int | ir.Value, kind: ir.Type, align: int = 16) -> Any:
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

    # -- the entry

    def emit(self, this: ir.Value, arguments: ir.Value, count: ir.Value) -> None:
        """Emit the entry: check the arguments, allocate results, run the program, return them."""
        builder = self.builder
        vector_call = self.declare("PyObject_Vectorcall", POINTER, POINTER, POINTER, LONG, POINTER)
        null = self.null = ir.Constant(POINTER, None)
        group = self.read(self.at(this, TUPLE_ITEMS, BYTE), 0, POINTER)
        self.header = self.at(self.read(self.at(this, TUPLE_ITEMS, BYTE), 1, POINTER), BYTES_START, BYTE)
        self.flags = self.read(self.header, FLAG_BITS)
        self.count = self.read(self.header, RESULTS)
        cursor = self.cursor = builder.alloca(POINTER)
        builder.store(self.at(self.header, HEADER), cursor)
        slots = builder.add(self.read(self.header, SLOTS), self.number(1))
        table = self.table = self.room(slots, POINTER)
        results = self.results = self.room(self.count, POINTER)
        self.scalars = self.room(builder.mul(self.count, self.number(SCALAR_SIZE)), BYTE)
        small = builder.icmp_signed("<=", self.read(self.header, WORKSPACE), self.number(ON_THE_STACK))
        size = builder.select(small, self.read(self.header, WORKSPACE), self.number(0))
        frame = self.room(size, BYTE, ALIGNMENT)
        with self.loop(self.count) as i:
            builder.store(null, self.at(results, i, POINTER))
        self.equal(count, self.read(self.header, ARGUMENTS))
        with self.loop(count) as i:
            self.check(self.read(arguments, i, POINTER))
        with self.loop(self.read(self.header, CONSTANTS)):
            (address, slot), _ = self.next_record(2)
            builder.store(builder.inttoptr(address, POINTER), self.at(table, slot, POINTER))
        outputs = builder.load(cursor, typ=POINTER)
        with self.loop(self.count) as i:
            self.make_result(i)
        self.run(frame, small)
        builder.store(outputs, cursor)
        with self.loop(self.count) as i:
            self.make_scalar(i)
        self.give_back()
        builder.position_at_end(self.failed)
        self.drop_results()
        builder.ret(null)
        builder.position_at_end(self.slow)
        with builder.if_then(self.flag(WHOLE)):
            builder.call(self.hold, [self.object(None)])
            builder.ret(self.object(None))
        builder.ret(builder.call(vector_call, [group, arguments, count, null]))

    def drop_results(self) -> None:
        """Release the results that were allocated, before the slow path is taken."""
        with self.loop(self.count) as i:
            self.builder.call(self.drop, [self.read(self.results, i, POINTER)])  # Py_DecRef ignores null pointers

    def flag(self, bit: int) -> Any:
        """Whether a flag of the program is set."""
        return self.builder.icmp_unsigned("!=", self.builder.and_(self.flags, self.number(bit)), self.number(0))

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

    def is_scalar(self, rank: ir.Value) -> Any:
        """Whether a result of this rank is returned as a NumPy scalar."""
        return self.builder.and_(self.flag(WHOLE), self.builder.icmp_signed("==", rank, self.number(0)))

    def scalar(self, index: ir.Value) -> Any:
        """The memory for the number of a scalar result."""
        return self.at(self.scalars, self.builder.mul(index, self.number(SCALAR_SIZE)), BYTE)

    def make_result(self, index: ir.Value) -> None:
        """Allocate a result: an empty array, or memory for a scalar."""
        builder = self.builder
        (description, rank, slot), lengths = self.next_record(3, with_lengths=True)
        empty = self.declare("gradtape_empty", POINTER, INT32, POINTER, POINTER, INT32)
        with builder.if_else(self.is_scalar(rank)) as (then, otherwise):
            with then:
                builder.store(self.scalar(index), self.at(self.table, slot, POINTER))
            with otherwise:
                kind = builder.inttoptr(description, POINTER)
                builder.call(self.hold, [kind])  # PyArray_Empty steals a reference to the dtype
                made = builder.call(empty, [builder.trunc(rank, INT32), lengths, kind, ir.Constant(INT32, 0)])
                builder.store(made, self.at(self.results, index, POINTER))
                self.require(builder.icmp_unsigned("!=", made, self.null), self.failed)
                builder.store(self.field(made, DATA, POINTER), self.at(self.table, slot, POINTER))

    def make_scalar(self, index: ir.Value) -> None:
        """Make a NumPy scalar of a result without axes."""
        builder = self.builder
        (description, rank, _), _ = self.next_record(3, with_lengths=True)
        scalar = self.declare("gradtape_scalar", POINTER, POINTER, POINTER, POINTER)
        with builder.if_then(self.is_scalar(rank)):
            kind = builder.inttoptr(description, POINTER)
            made = builder.call(scalar, [self.scalar(index), kind, self.null])
            builder.store(made, self.at(self.results, index, POINTER))
            self.require(builder.icmp_unsigned("!=", made, self.null), self.failed)

    def run(self, frame: ir.Value, small: ir.Value) -> None:
        """Run the loops, with a workspace that is in the stack frame if it is `small`."""
        builder = self.builder
        allocate = self.declare("PyMem_RawMalloc", POINTER, LONG)
        free = self.declare("PyMem_RawFree", VOID, POINTER)
        space, memory = builder.alloca(POINTER), builder.alloca(POINTER)
        builder.store(frame, space)
        builder.store(self.null, memory)
        with builder.if_then(builder.not_(small)):
            size = builder.add(self.read(self.header, WORKSPACE), self.number(ALIGNMENT))
            made = builder.call(allocate, [size])
            with builder.if_then(builder.icmp_unsigned("==", made, self.null), likely=False):
                builder.call(self.declare("PyErr_NoMemory", POINTER), [])
                builder.branch(self.failed)
            builder.store(made, memory)
            number = builder.add(builder.ptrtoint(made, LONG), self.number(ALIGNMENT - 1))
            builder.store(builder.inttoptr(builder.and_(number, self.number(-ALIGNMENT)), POINTER), space)
        start = builder.load(space, typ=POINTER)
        with self.loop(self.read(self.header, TEMPORARIES)):
            (slot, offset), _ = self.next_record(2)
            builder.store(self.at(start, offset, BYTE), self.at(self.table, slot, POINTER))
        state = builder.alloca(POINTER)
        with builder.if_then(self.flag(PATIENT)):
            builder.store(builder.call(self.declare("PyEval_SaveThread", POINTER), []), state)
        status = builder.alloca(LONG)
        builder.store(self.number(0), status)
        builder.store(self.opaque(status), self.at(self.table, self.read(self.header, STATUS_SLOT), POINTER))
        run = builder.inttoptr(self.read(self.header, RUN), ir.FunctionType(VOID, [POINTER]).as_pointer())
        builder.call(run, [self.table])
        with builder.if_then(self.flag(PATIENT)):
            restore = self.declare("PyEval_RestoreThread", VOID, POINTER)
            builder.call(restore, [builder.load(state, typ=POINTER)])
        with builder.if_then(builder.not_(small)):
            builder.call(free, [builder.load(memory, typ=POINTER)])
        missing = builder.icmp_unsigned("!=", builder.load(status, typ=LONG), self.number(0))
        with builder.if_then(missing, likely=False):
            self.drop_results()
            builder.branch(self.slow)

    def give_back(self) -> None:
        """Return the results: one as it is, several as a tuple."""
        builder = self.builder
        with builder.if_then(self.flag(SINGLE)):
            builder.ret(self.read(self.results, 0, POINTER))
        result = builder.call(self.declare("PyTuple_New", POINTER, LONG), [self.count])
        self.require(builder.icmp_unsigned("!=", result, self.null), self.failed)
        set_item = self.declare("PyTuple_SetItem", INT32, POINTER, LONG, POINTER)
        with self.loop(self.count) as i:
            builder.call(set_item, [result, i, self.read(self.results, i, POINTER)])
        builder.ret(result)
