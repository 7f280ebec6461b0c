"""Which matrix products are native, and how: inline loops for small ones, BLAS for the rest.

Operands are matrices or vectors in memory with rows or columns that are contiguous: a transpose is a flag of BLAS. A
small product is added up element by element, in binary64; which of the two it is depends on the shape alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.jit.native import blas

SMALL = 4096
"""Multiplications up to which a product is computed inline."""
_LARGEST = 2**31 - 1  # of C's int


def supports(instruction: Any) -> bool:
    """Whether an instruction is a product of matrices or vectors of one dtype of floats."""
    if len(instruction.operands) != 2 or instruction.params or len(instruction.results) != 1:
        return False
    left, right = instruction.operands
    (result,) = instruction.results
    if not all(hasattr(x, "dtype") and 1 <= len(x.shape) <= 2 for x in (left, right)):
        return False
    if len(left.shape) == len(right.shape) == 1:  # better a multiplication and a sum
        return False
    if not left.dtype == right.dtype == result.dtype or result.dtype not in (np.dtype("f8"), np.dtype("f4")):
        return False
    if not result.dtype.isnative or max(*left.shape, *right.shape) >= _LARGEST:
        return False
    return is_small(instruction) or bool(blas.addresses())


def sizes(instruction: Any) -> tuple[int, int, int]:
    """Rows of the left operand, columns of the right one, and what they have in common."""
    left, right = instruction.operands
    rows = left.shape[0] if len(left.shape) == 2 else 1
    columns = right.shape[1] if len(right.shape) == 2 else 1
    return rows, columns, left.shape[-1]


def is_small(instruction: Any) -> bool:
    rows, columns, common = sizes(instruction)
    return rows * columns * common <= SMALL


def takes(value: Any, place: Any) -> bool:
    """Whether a matrix or vector lies in memory so that BLAS can read it."""
    steps = [step for step, length in zip(place.steps, value.shape, strict=True) if length > 1]
    if any(step < 1 or step >= _LARGEST for step in steps):
        return False
    if len(steps) < 2 or 0 in value.shape:
        return True
    rows, columns = value.shape
    return bool((steps[1] == 1 and steps[0] >= columns) or (steps[0] == 1 and steps[1] >= rows))
