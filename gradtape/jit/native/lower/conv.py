"""Which convolutions are native: see `convolving` for their code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

CONVOLVE, SPREAD, CORRELATE = "convolve images", "spread images", "correlate images"
NAMES = frozenset({CONVOLVE, SPREAD, CORRELATE})


ROLES = {CONVOLVE: "xwy", SPREAD: "ywx", CORRELATE: "xyw"}
"""Inputs, kernel and outputs among the operands and the result."""


def multiplications(instruction: Any) -> int:
    """How many products of two numbers a convolution is made of."""
    values = dict(zip(ROLES[instruction.name], (*instruction.operands, *instruction.results), strict=True))
    return int(math.prod(values["y"].shape) * math.prod(values["w"].shape[1:]))


def supports(instruction: Any) -> bool:
    """Whether a convolution is one of floats of one dtype, with something in it."""
    dtype = instruction.results[0].dtype
    values = (*instruction.operands, *instruction.results)
    if dtype not in (np.dtype("f8"), np.dtype("f4")) or not dtype.isnative:
        return False
    return all(hasattr(x, "dtype") and x.dtype == dtype and math.prod(x.shape) for x in values)
