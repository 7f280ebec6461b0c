"""Emits calls of BLAS and LAPACK: all arguments are passed by address."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.call_emitter import CallEmitter
from gradtape.jit.native.emit.elementwise import lane_type
from gradtape.jit.native.emit.loops import LONG, POINTER, VOID

INT = ir.IntType(32)


Argument = ir.Value | str | int | float
"""Of a call: an address, a character, an integer, or a number of the precision of the call."""


class FortranCalls(CallEmitter):
    """Emits calls of BLAS and LAPACK functions, named without the letter of the precision."""

    dtype: np.dtype[Any]

    def address(self, memory: ir.Value) -> Any:
        """The address of a variable, without the type of what it points to."""
        return self.builder.inttoptr(self.builder.ptrtoint(memory, LONG), POINTER)

    def constant(self, kind: ir.Type, value: float) -> Any:
        """The address of a constant."""
        memory = self.local(kind)
        self.builder.store(ir.Constant(kind, value), memory)
        return self.address(memory)

    def matrix(self, pointer: ir.Value, rows: int, columns: int, distance: int) -> Any:
        """The address of a matrix stored by columns that are `distance` elements apart, after a bounds check."""
        return self.builder.require(pointer, self.area(rows, columns, distance), "hands BLAS")

    def area(self, rows: int, columns: int, distance: int) -> int:
        """The bytes from the first to the last element of a matrix."""
        return (distance * (columns - 1) + rows) * self.dtype.itemsize if rows and columns else 0

    def call(self, function: str, *arguments: Argument) -> None:
        """Emit a call; arguments are characters, integers, floats of the precision of the call, and addresses."""
        letter = "d" if self.dtype == np.dtype(np.float64) else "s"
        name = f"gradtape_{letter}{function}"
        found = self.module.globals.get(name)
        if found is None:
            found = ir.Function(self.module, ir.FunctionType(VOID, [POINTER] * len(arguments)), name)
        element = lane_type(self.dtype)
        given = []
        for x in arguments:
            if isinstance(x, str):
                given.append(self.constant(ir.IntType(8), ord(x)))
            elif isinstance(x, float):
                given.append(self.constant(element, x))
            else:
                given.append(self.constant(INT, x) if isinstance(x, int) else x)
        self.builder.call(found, given)
