"""Calls without Python in between: a native entry that reads the arrays' headers itself.

`entry(group)` makes a built-in function (METH_FASTCALL) whose machine code checks that each argument is an ndarray of
the expected dtype and shape, in C order and aligned, makes the outputs with NumPy's own allocator, fills the table of
pointers and runs the loops. Anything else (another class, dtype or layout, a wrong number of arguments) is handed to
the group itself, which copies or raises: nothing is ever assumed. Large loops always go there, for its threads.

The layout of an array's header is part of NumPy's ABI. It is compared with what NumPy says of some arrays before it is
relied on; where it differs (another interpreter, a free-threaded build), the group is called the ordinary way.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from gradtape.jit.native import threads
from gradtape.jit.native.groups import ALIGNMENT, Group
from gradtape.jit.native.loops import LONG, POINTER, VOID

# struct PyArrayObject_fields: PyObject_HEAD, char *data, int nd, npy_intp *dimensions, npy_intp *strides,
# PyObject *base, PyArray_Descr *descr, int flags ...; in bytes from the start on a machine of 64 bits
TYPE, DATA, RANK, DIMENSIONS, DESCRIPTION, FLAGS = 8, 16, 24, 32, 56, 64
C_ORDER_AND_ALIGNED = 0x0001 | 0x0100
PY_ARRAY_EMPTY = 184  # its place in NumPy's table of functions
METH_FASTCALL = 0x0080
PYTHON_FUNCTIONS = (
    *("PyObject_Vectorcall", "PyTuple_New", "PyTuple_SetItem", "Py_IncRef", "Py_DecRef", "PyMem_RawMalloc"),
    *("PyMem_RawFree", "PyErr_NoMemory", "PyEval_SaveThread", "PyEval_RestoreThread"),
)
INT32 = ir.IntType(32)
BYTE = ir.IntType(8)
ON_THE_STACK = 4096
LET_GO = 50_000  # nanoseconds of work from which other Python threads may run meanwhile


class MethodDefinition(ctypes.Structure):
    """struct PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


# A built-in function reads its definition while it is being freed, in whatever order the collector takes the rest:
# definitions (32 bytes each) are never freed.
_definitions: list[MethodDefinition] = []


@cache
def array_functions() -> int | None:
    """The address of NumPy's table of C functions; None where arrays are not laid out as is assumed here."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return None
    if sysconfig.get_config_var("Py_GIL_DISABLED") or hasattr(sys, "gettotalrefcount"):
        return None
    if not all(_header_is_known(array) for array in (np.zeros((3, 5, 7)), np.ones((4, 2), np.int8).T, np.zeros(()))):
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


def entry(group: Group) -> Callable[..., tuple[Any, ...]]:
    """The group as a function with the least overhead that this interpreter allows.

    >>> import numpy as np
    >>> from gradtape.jit.native.calls import entry
    >>> from gradtape.jit.native.groups import compile_group
    >>> from gradtape.jit.program import Instruction, Value
    >>> from gradtape.ops.elementwise import add
    >>> x, y = Value(0, (2,), np.dtype(float)), Value(1, (2,), np.dtype(float))
    >>> double = entry(compile_group([Instruction(add, (x, x), {}, (y,))], [x], [y]))
    >>> double(np.array([1.0, 2.0])), double(np.arange(4.0)[::2])
    ((array([2., 4.]),), (array([0., 4.]),))
    """
    functions = array_functions()
    simple = group.written == group.outputs and not group.has_steps and group.outputs
    canonical = all(value.dtype is np.dtype(value.dtype.char) for value in (*group.inputs, *group.written))
    if functions is None or not simple or not canonical or group.large:
        return group
    return _Entry(group, functions).function


class _Entry:
    """Emits the entry of one group and keeps alive what its code refers to."""

    def __init__(self, group: Group, functions: int) -> None:
        self.group = group
        self.module = ir.Module("gradtape_entry")
        self.empty_address = ctypes.c_void_p.from_address(functions + 8 * PY_ARRAY_EMPTY).value
        self.dtypes = [value.dtype for value in (*group.inputs, *group.written)]
        self.emit()
        symbols = {"gradtape_run": group.library.address("run"), "gradtape_empty": int(self.empty_address or 0)}
        for name in PYTHON_FUNCTIONS:
            symbols[name] = int(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)
        self.library = group.machine.compile(str(self.module), ["entry"], symbols)
        self.definition = MethodDefinition(b"group", self.library.address("entry"), METH_FASTCALL, None)
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        _definitions.append(self.definition)
        group.entry = self  # the built-in function holds the group, and the group holds this
        self.function: Callable[..., tuple[Any, ...]] = make(ctypes.addressof(self.definition), group, None)

    def declare(self, name: str, result: Any, *arguments: Any) -> Any:
        return ir.Function(self.module, ir.FunctionType(result, arguments), name)

    def opaque(self, pointer: Any) -> Any:
        """A pointer without the type of what it points to."""
        return self.builder.inttoptr(self.builder.ptrtoint(pointer, LONG), POINTER)

    def field(self, pointer: Any, offset: int, kind: Any) -> Any:
        builder = self.builder
        return builder.load(builder.gep(pointer, [ir.Constant(LONG, offset)], source_etype=BYTE), typ=kind)

    def address(self, value: Any) -> Any:
        """The address of a Python object that is kept alive."""
        return ir.Constant(LONG, id(value)).inttoptr(POINTER)

    def emit(self) -> None:
        group = self.group
        function = self.declare("entry", POINTER, POINTER, POINTER, LONG)
        this, arguments, count = function.args
        run = self.declare("gradtape_run", VOID, POINTER)
        vector_call = self.declare("PyObject_Vectorcall", POINTER, POINTER, POINTER, LONG, POINTER)
        builder = self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        table_type = ir.ArrayType(POINTER, max(1, group.slots))
        table = self.opaque(builder.alloca(table_type))
        outputs = [builder.alloca(POINTER) for _ in group.written]
        space = None
        if group.workspace <= ON_THE_STACK:
            frame = builder.alloca(ir.ArrayType(BYTE, group.workspace or 1))
            frame.align = ALIGNMENT
            space = self.opaque(frame)
        self.slow = function.append_basic_block("slow")
        self.failed = function.append_basic_block("failed")
        null = ir.Constant(POINTER, None)
        for output in outputs:
            builder.store(null, output)

        def slot(index: int) -> Any:
            return builder.gep(table, [ir.Constant(LONG, index)], source_etype=POINTER)

        self.require(builder.icmp_signed("==", count, ir.Constant(LONG, len(group.inputs))), self.slow)
        for i, value in enumerate(group.inputs):
            array = builder.load(builder.gep(arguments, [ir.Constant(LONG, i)], source_etype=POINTER), typ=POINTER)
            self.check(array, value)
            builder.store(self.field(array, DATA, POINTER), slot(i))
        self.make_outputs(outputs, slot)
        if space is None:
            allocate, free = (
                self.declare("PyMem_RawMalloc", POINTER, LONG),
                self.declare("PyMem_RawFree", VOID, POINTER),
            )
            memory = builder.call(allocate, [ir.Constant(LONG, group.workspace + ALIGNMENT)])
            with builder.if_then(builder.icmp_unsigned("==", memory, null), likely=False):
                builder.call(self.declare("PyErr_NoMemory", POINTER), [])
                builder.branch(self.failed)
            number = builder.add(builder.ptrtoint(memory, LONG), ir.Constant(LONG, ALIGNMENT - 1))
            aligned = builder.inttoptr(builder.and_(number, ir.Constant(LONG, -ALIGNMENT)), POINTER)
        else:
            aligned = space
        for index, offset in group.temporaries:
            place = builder.gep(aligned, [ir.Constant(LONG, offset)], source_etype=BYTE)
            builder.store(place, slot(index))
        patient = threads.cost(group.nests) > LET_GO
        if patient:  # arguments are alive for the length of the call; NumPy lets others run in its loops, too
            state = builder.call(self.declare("PyEval_SaveThread", POINTER), [])
        builder.call(run, [table])
        if patient:
            builder.call(self.declare("PyEval_RestoreThread", VOID, POINTER), [state])
        if space is None:
            builder.call(free, [memory])
        self.give_back(outputs)
        builder.position_at_end(self.failed)
        drop = self.declare("Py_DecRef", VOID, POINTER)
        for output in outputs:
            builder.call(drop, [builder.load(output, typ=POINTER)])  # nothing is done for a null pointer
        builder.ret(null)
        builder.position_at_end(self.slow)
        builder.ret(builder.call(vector_call, [this, arguments, count, null]))

    def require(self, condition: Any, otherwise: Any) -> None:
        following = self.builder.append_basic_block("checked")
        self.builder.cbranch(condition, following, otherwise)
        self.builder.position_at_end(following)

    def check(self, array: Any, value: Any) -> None:
        """Go to the slow path unless an argument is an array as the loops expect it."""
        builder = self.builder

        def equal(found: Any, expected: Any) -> None:
            self.require(builder.icmp_unsigned("==", found, expected), self.slow)

        equal(self.field(array, TYPE, POINTER), self.address(np.ndarray))
        equal(self.field(array, DESCRIPTION, POINTER), self.address(value.dtype))
        equal(self.field(array, RANK, INT32), ir.Constant(INT32, len(value.shape)))
        wanted = ir.Constant(INT32, C_ORDER_AND_ALIGNED)
        equal(builder.and_(self.field(array, FLAGS, INT32), wanted), wanted)
        dimensions = self.field(array, DIMENSIONS, POINTER) if value.shape else None
        for i, size in enumerate(value.shape):
            equal(self.field(dimensions, 8 * i, LONG), ir.Constant(LONG, size))

    def make_outputs(self, outputs: list[Any], slot: Callable[[int], Any]) -> None:
        builder, group = self.builder, self.group
        hold = self.declare("Py_IncRef", VOID, POINTER)
        empty = self.declare("gradtape_empty", POINTER, INT32, POINTER, POINTER, INT32)
        for i, (value, output) in enumerate(zip(group.written, outputs, strict=True)):
            kind = ir.ArrayType(LONG, max(1, len(value.shape)))
            shape = ir.GlobalVariable(self.module, kind, f"shape_{i}")
            shape.global_constant = True
            shape.linkage = "internal"
            shape.initializer = ir.Constant(kind, [ir.Constant(LONG, n) for n in value.shape or (0,)])
            builder.call(hold, [self.address(value.dtype)])  # the maker of arrays takes a reference away
            rank = ir.Constant(INT32, len(value.shape))
            made = builder.call(empty, [rank, self.opaque(shape), self.address(value.dtype), ir.Constant(INT32, 0)])
            builder.store(made, output)
            self.require(builder.icmp_unsigned("!=", made, ir.Constant(POINTER, None)), self.failed)
            builder.store(self.field(made, DATA, POINTER), slot(len(group.inputs) + i))

    def give_back(self, outputs: list[Any]) -> None:
        builder = self.builder
        result = builder.call(self.declare("PyTuple_New", POINTER, LONG), [ir.Constant(LONG, len(outputs))])
        self.require(builder.icmp_unsigned("!=", result, ir.Constant(POINTER, None)), self.failed)
        set_item = self.declare("PyTuple_SetItem", INT32, POINTER, LONG, POINTER)
        for i, output in enumerate(outputs):
            builder.call(set_item, [result, ir.Constant(LONG, i), builder.load(output, typ=POINTER)])
        builder.ret(result)
