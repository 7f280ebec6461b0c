"""The native backend of `jit.runtime`: implements the protocol `Backend` of `gradtape.jit.runtime.schedule`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtape.jit.ir.call_plan import CallPlan, Variables
from gradtape.jit.ir.kernels import Call
from gradtape.jit.ir.program import Instruction, Program, Value
from gradtape.jit.native.lower import prepare, support
from gradtape.jit.native.runtime.function import NativeFunction
from gradtape.jit.native.schedule.layout import Unsupported


class NativeBackend:
    """Compiles groups of instructions to native functions.

    >>> import numpy as np
    >>> from gradtape.jit.native.backend import NativeBackend
    >>> from gradtape.jit.ir.program import Instruction, Value
    >>> from gradtape.ops.elementwise import sin
    >>> x, y = Value(0, (2,), np.dtype(float)), Value(1, (2,), np.dtype(float))
    >>> call = NativeBackend().compile_group([Instruction(sin, (x,), {}, (y,))], [x], [y])
    >>> call(np.zeros(2))
    (array([0., 0.]),)
    """

    def supports(self, instruction: Instruction) -> bool:
        """Whether an instruction may be part of a group."""
        return support.supports(instruction) and not prepare.is_view_for_kernels(instruction)

    def can_fail(self, instruction: Instruction) -> bool:
        """Whether an instruction may raise an error for some operands: an index, or a matrix that is singular."""
        return support.can_fail(instruction)

    def compile_group(
        self, instructions: Sequence[Instruction], inputs: Sequence[Value], outputs: Sequence[Value]
    ) -> Call | None:
        """A function from arrays of any layout to a tuple of new arrays; None if native code would gain nothing."""
        if not outputs or not _is_worth_it(instructions):
            return None
        try:
            return NativeFunction(instructions, inputs, outputs)
        except Unsupported:  # a view that needs a copy in this group
            return None

    def quicken(self, call: Call) -> Call:
        """The same function with the least overhead, for more than one call."""
        if not isinstance(call, NativeFunction):
            return call
        from gradtape.jit.native.runtime import entry  # loaded for the second call only: many functions are called once

        return entry.entry(call)

    def prepare(self, program: Program) -> Program:
        """The program in the form that native code is compiled from."""
        return prepare.prepare(program)

    def native_call(self, program: Program, group: Call, plan: CallPlan) -> tuple[Any, ...] | None:
        """What a native call of a program whose only step is `group` needs; None if it cannot be called so."""
        if not isinstance(group, NativeFunction):
            return None
        from gradtape.jit.native.runtime import call  # loaded for the second call only

        constants = {constant.value: constant.array for constant in program.constants}
        return call.make_call(group, program.inputs, constants, program.outputs, plan)

    def install_call(self, kind: type, slot: str, variables: Variables) -> None:
        """Replace the `__call__` of a class by one in machine code, which reads the attribute `slot`."""
        from gradtape.jit.native.runtime import call

        call.install(kind, slot, variables)


_QUICK = frozenset({"add", "subtract", "multiply", "divide", "negative", "square", "where", "astype", "broadcast_to"})


def _is_worth_it(instructions: Sequence[Instruction]) -> bool:
    """Whether native code gains anything over the NumPy kernels, which need no compiling.

    Views cost nothing in NumPy, and a single exact operation gives the same bits in both.
    """
    busy = [instruction for instruction in instructions if not support.is_view(instruction)]
    return len(busy) > 1 or any(instruction.name not in _QUICK for instruction in busy)
