"""Running a loop once, while it is traced, for the numbers of that call: native code would take longer to be made.

Loops over single numbers are the longest ones. NumPy's numbers add and multiply by themselves, to the same bit, in a
tenth of the time that a kernel takes for one number.
"""

from __future__ import annotations

import numpy as np

from gradtape.core.operation import Op
from gradtape.jit.ir.program import QUICK, Instruction, Literal, Operand
from gradtape.jit.runtime.runner import LoopRunner
from gradtape.jit.runtime.schedule import Step

_DOUBLE = np.dtype(float)


class Sampler(LoopRunner):
    """A loop as a function that is run once or twice.

    >>> import numpy as np
    >>> from gradtape.jit import jit
    >>> from gradtape.jit.trace.loops.evaluate import Sampler
    >>> def doubled(x):
    ...     for _ in range(50):
    ...         x = x + x
    ...     return x
    >>> (loop,) = jit(doubled).lower(np.float64(1.0)).instructions
    >>> Sampler(loop.params["loop"]).call(np.float64(1.0)) == (2.0**50,)
    True
    """

    _is_of_numbers = False

    def _line(self, index: int, step: Step) -> str:
        values = (*step.values, *step.results)
        self._is_of_numbers = all(value.dtype == _DOUBLE and not value.shape for value in values)
        return super()._line(index, step)

    def _kernel(self, op: Op) -> str:
        quick = QUICK.get(op.name) if self._is_of_numbers and op.ufunc else None
        return super()._kernel(op) if quick is None else self._bind(quick, op.name)

    def _operand(self, operand: Operand, step: Instruction) -> str:
        if self._is_of_numbers and type(operand) is Literal and type(operand.value) is float:
            return self._bind(operand.value, f"n{len(self._bound)}")
        return super()._operand(operand, step)
