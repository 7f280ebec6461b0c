"""Which scans along an axis are native: cumulative operations, argmax and argmin; `emit.scan` emits them."""

from __future__ import annotations

import math

import numpy as np

from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.emit.elementwise import EMITTERS
from gradtape.jit.native.lower.ir import AnyInstruction, are_values

CUMULATIVE = {"cumsum": "add", "cumprod": "multiply"} | {
    f"{name} so far": name for name in ("maximum", "minimum", "fmax", "fmin", "logaddexp")
}
"""Cumulative operations: the binary operation that combines an element with the previous result."""
ARG_EXTREMA = {"argmax": ">", "argmin": "<"}
NAMES = frozenset({*CUMULATIVE, *ARG_EXTREMA})
_INTEGER = np.dtype(np.int64)


def supports(instruction: AnyInstruction) -> bool:
    """Whether the scan is along one axis (or all, for argmax and argmin) of a non-empty array of a native dtype."""
    values = (*instruction.operands, *instruction.results)
    if len(values) != 2 or not are_values(values) or not all(elementwise.has_type(x.dtype) for x in values):
        return False
    x, result = values
    axis = instruction.params.get("axis")
    if not math.prod(x.shape):
        return False
    if instruction.name in ARG_EXTREMA:
        return bool((axis is None or type(axis) is int) and x.dtype.kind in "iuf" and result.dtype == _INTEGER)
    return bool(type(axis) is int and x.shape and result.dtype.kind in EMITTERS[CUMULATIVE[instruction.name]][0])
