"""Calls of BLAS and LAPACK from native code: all arguments by address."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from gradtape.jit.native.emit.elementwise import lane_type
from gradtape.jit.native.emit.loops import LONG, POINTER, VOID, Loops

INT = ir.IntType(32)


class FortranCalls(Loops):
    """Emits calls of functions that are named without the letter of their precision."""

    module: Any
    dtype: np.dtype[Any]

    def address(self, memory: Any) -> Any:
        """The address of a variable, without the type of what it points to."""
        return self.builder.inttoptr(self.builder.ptrtoint(memory, LONG), POINTER)

    def constant(self, kind: Any, value: Any) -> Any:
        """The address of a number."""
        memory = self.local(kind)
        self.builder.store(ir.Constant(kind, value), memory)
        return self.address(memory)

    def matrix(self, pointer: Any, rows: int, columns: int, distance: int) -> Any:
        """The address of a matrix that is stored by columns, `distance` elements apart."""
        size = (distance * (columns - 1) + rows) * self.dtype.itemsize if rows and columns else 0
        return self.builder.require(pointer, size, "hands BLAS")

    def call(self, function: str, *arguments: Any) -> None:
        """A call with characters, whole numbers, floats of the call's precision, and addresses."""
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
