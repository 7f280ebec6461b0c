"""What native code offers to the runner of programs: see `gradtape.jit.run.Backend`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradtape.jit.native import calls, planning
from gradtape.jit.native.groups import Group


class NativeBackend:
    """Groups of elementwise instructions and reductions as native loops.

    >>> import numpy as np
    >>> from gradtape.jit.native.backend import NativeBackend
    >>> from gradtape.jit.program import Instruction, Value
    >>> from gradtape.ops.elementwise import sin
    >>> x, y = Value(0, (2,), np.dtype(float)), Value(1, (2,), np.dtype(float))
    >>> call = NativeBackend().compile_group([Instruction(sin, (x,), {}, (y,))], [x], [y])
    >>> call(np.zeros(2))
    (array([0., 0.]),)
    """

    def supports(self, instruction: Any) -> bool:
        """Whether an instruction may be part of a group.

        Not a transpose, although groups can have them: mostly it is for a matrix product, which takes it as it is,
        while a group would have to copy.
        """
        return planning.supports(instruction) and instruction.name != "transpose"

    def compile_group(
        self, instructions: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any]
    ) -> Callable[..., tuple[Any, ...]] | None:
        """A function from the inputs' arrays, of any layout, to a tuple of the outputs', which are always new."""
        if all(planning.is_view(instruction) for instruction in instructions):
            return None
        try:
            return calls.entry(Group(instructions, inputs, outputs))
        except planning.Unsupported:  # a view that needs a copy, in this company
            return None
