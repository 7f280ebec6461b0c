"""What goes along an axis one element after the other: running sums and their kin, and where the largest one is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.emit.elementwise import EMITTERS

RUNNING = {"cumsum": "add", "cumprod": "multiply"} | {
    f"{name} so far": name for name in ("maximum", "minimum", "fmax", "fmin", "logaddexp")
}
"""Operations that have a result for each element: what is done with it and the result before."""
WHERE = {"argmax": ">", "argmin": "<"}
NAMES = frozenset({*RUNNING, *WHERE})
_INTEGER = np.dtype(np.int64)


def supports(instruction: Any) -> bool:
    """Whether an operation goes along one axis (or all, for positions) of numbers that native code has."""
    values = (*instruction.operands, *instruction.results)
    if len(values) != 2 or not all(hasattr(x, "dtype") and elementwise.has_type(x.dtype) for x in values):
        return False
    x, result = values
    axis = instruction.params.get("axis")
    if not math.prod(x.shape):
        return False
    if instruction.name in WHERE:
        return bool((axis is None or type(axis) is int) and x.dtype.kind in "iuf" and result.dtype == _INTEGER)
    return bool(type(axis) is int and x.shape and result.dtype.kind in EMITTERS[RUNNING[instruction.name]][0])
