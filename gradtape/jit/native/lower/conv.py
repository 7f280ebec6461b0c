"""Which convolutions are native; `emit.conv` emits them."""

from __future__ import annotations

import math

import numpy as np

from gradtape.jit.native.lower.ir import AnyInstruction, are_values

CONVOLVE, SPREAD, CORRELATE = "convolve images", "spread images", "correlate images"
NAMES = frozenset({CONVOLVE, SPREAD, CORRELATE})


ROLES = {CONVOLVE: "xwy", SPREAD: "ywx", CORRELATE: "xyw"}
"""The roles of the operands and the result: x input, w kernel, y output."""


def multiplications(instruction: AnyInstruction) -> int:
    """The number of multiplications of a convolution."""
    values = dict(zip(ROLES[instruction.name], (*instruction.values, *instruction.results), strict=True))
    return int(math.prod(values["y"].shape) * math.prod(values["w"].shape[1:]))


def supports(instruction: AnyInstruction) -> bool:
    """Whether all arrays have one float dtype and none is empty."""
    dtype = instruction.results[0].dtype
    values = (*instruction.operands, *instruction.results)
    if dtype not in (np.dtype("f8"), np.dtype("f4")) or not dtype.isnative:
        return False
    return are_values(values) and all(x.dtype == dtype and math.prod(x.shape) for x in values)
