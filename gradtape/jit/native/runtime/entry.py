"""The native entry of a group: a built-in function that reads array headers itself, without Python code per call.

`entry(group)` makes a built-in function (METH_FASTCALL) whose machine code checks that each argument is an ndarray of
the expected dtype and shape, in C order and aligned, creates the outputs with the allocator of NumPy, fills the table
of pointers and runs the loops. For any other argument (another class, dtype or layout, a wrong number of arguments) it
calls the `NativeFunction`, which copies or raises. For a program that is one group see
`call`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.loops import LONG, POINTER
from gradtape.jit.native.runtime.abi import BYTES_START, METH_FASTCALL, TUPLE_ITEMS, MethodDefinition
from gradtape.jit.native.runtime.entry_emitter import (
    ARGUMENTS,
    BYTE,
    HEADER,
    INT32,
    Description,
    EntryEmitter,
    is_simple,
    symbols,
)
from gradtape.jit.native.runtime.function import NativeFunction
from gradtape.jit.native.runtime.llvm import Library, host, once


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
    if group.written != group.outputs or not is_simple(group):
        return group
    parts = Description(group, {})
    numbers = parts.header(len(group.inputs), len(group.written))
    numbers += parts.array_records(group.inputs) + parts.other_records(group.written)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    description = np.array(numbers, np.int64).tobytes()
    function: Callable[..., Any] = make(ctypes.addressof(_library()[1]), (group, description), None)
    return function


@once
def _library() -> tuple[Library, MethodDefinition]:
    """The machine code of all entries, and its definition for Python, which is never freed."""
    library = host().compile(GroupEntryEmitter(POINTER, LONG).text, ["entry"], symbols(), hasty=True)
    return library, MethodDefinition(b"native", library.address("entry"), METH_FASTCALL, None)


class GroupEntryEmitter(EntryEmitter):
    """Emits the machine code that the entries of all groups share."""

    def emit(self, this: ir.Value, *given: ir.Value) -> None:
        """Emit the entry: check the arguments, allocate results, run the loops, return a tuple."""
        builder, (arguments, count) = self.builder, given
        group = self.read(self.at(this, TUPLE_ITEMS, BYTE), 0, POINTER)
        self.start(self.at(self.read(self.at(this, TUPLE_ITEMS, BYTE), 1, POINTER), BYTES_START, BYTE), len(HEADER))
        self.equal(count, self.read(self.header, ARGUMENTS))
        with self.loop(count) as i:
            self.check(self.read(arguments, i, POINTER))
        self.read_constants()
        with self.loop(self.count) as i:
            (description, rank, slot), lengths = self.next_record(3, with_lengths=True)
            self.make_array(i, description, rank, slot, lengths)
        self.run()
        result = builder.call(self.declare("PyTuple_New", POINTER, LONG), [self.count])
        self.require(builder.icmp_unsigned("!=", result, self.null), self.failed)
        set_item = self.declare("PyTuple_SetItem", INT32, POINTER, LONG, POINTER)
        with self.loop(self.count) as i:
            builder.call(set_item, [result, i, self.read(self.results, i, POINTER)])
        builder.ret(result)
        builder.position_at_end(self.failed)
        self.drop_results()
        builder.ret(self.null)
        builder.position_at_end(self.slow)
        vector_call = self.declare("PyObject_Vectorcall", POINTER, POINTER, POINTER, LONG, POINTER)
        builder.ret(builder.call(vector_call, [group, arguments, count, self.null]))
