"""Evaluate a `Loop` once at trace time, for its values in the traced call: compiling it would take longer.

The longest loops work on scalars. The operators of NumPy scalars give the same bits as the kernels in a tenth of the
time, so operations on float64 scalars use these.
"""

from __future__ import annotations

import numpy as np

from gradtape.core.operation import Op
from gradtape.jit.ir.program import QUICK, Instruction, Literal, Operand
from gradtape.jit.runtime.runner import LoopRunner
from gradtape.jit.runtime.schedule import Step

_DOUBLE = np.dtype(float)


class LoopEvaluator(LoopRunner):
    """A loop as a function that is called once or twice.

    >>> import numpy as np
    >>> from gradtape.jit import jit
    >>> from gradtape.jit.trace.loops.evaluate import LoopEvaluator
    >>> def doubled(x):
    ...     for _ in range(50):
    ...         x = x + x
    ...     return x
    >>> (loop,) = jit(doubled).lower(np.float64(1.0)).instructions
    >>> LoopEvaluator(loop.params["loop"]).call(np.float64(1.0)) == (2.0**50,)
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
