"""The native backend of `jit.runtime`: implements `gradtape.jit.runtime.schedule.Backend`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradtape.jit.ir.program import Program
from gradtape.jit.native.lower import prepare, support
from gradtape.jit.native.runtime.function import NativeFunction
from gradtape.jit.native.schedule.layout import Unsupported
from gradtape.jit.runtime.schedule import Group as GroupStep
from gradtape.jit.runtime.schedule import Step, schedule


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

    def supports(self, instruction: Any) -> bool:
        """Whether an instruction may be part of a group."""
        return support.supports(instruction) and not prepare.is_view_for_kernels(instruction)

    def compile_group(
        self, instructions: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any]
    ) -> Callable[..., tuple[Any, ...]] | None:
        """A function from arrays of any layout to a tuple of new arrays; None if native code would gain nothing."""
        if not outputs or not _is_worth_it(instructions):
            return None
        try:
            return NativeFunction(instructions, inputs, outputs)
        except Unsupported:  # a view that needs a copy in this group
            return None

    def quickened(self, call: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
        """The same function with the least overhead, for more than one call."""
        if not isinstance(call, NativeFunction):
            return call
        from gradtape.jit.native.runtime import entry  # loaded for the second call only: many functions are called once

        return entry.entry(call)

    def steps(self, program: Program) -> list[Step]:
        """The steps of the prepared program: groups for native code, and kernels."""
        return schedule(prepare.prepare(program), self)

    def whole(self, program: Program, steps: Sequence[Step], single: bool) -> Callable[..., Any] | None:
        """The native entry of a program that is one group and nothing else; None if it is more."""
        if len(steps) != 1 or not isinstance(steps[0], GroupStep):
            return None
        group = steps[0].call
        if not isinstance(group, NativeFunction):
            return None
        from gradtape.jit.native.runtime import entry

        constants = {constant.value: constant.array for constant in program.constants}
        return entry.whole_entry(group, program.inputs, constants, program.outputs, single)


_QUICK = frozenset({"add", "subtract", "multiply", "divide", "negative", "square", "where", "astype", "broadcast_to"})


def _is_worth_it(instructions: Sequence[Any]) -> bool:
    """Whether native code gains anything over the NumPy kernels, which need no compiling.

    Views cost nothing in NumPy, and a single exact operation gives the same bits in both.
    """
    busy = [instruction for instruction in instructions if not support.is_view(instruction)]
    return len(busy) > 1 or any(instruction.name not in _QUICK for instruction in busy)
