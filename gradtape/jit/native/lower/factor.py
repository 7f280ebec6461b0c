"""Which matrix factorisations are native (through LAPACK); `emit.factor` emits them."""

from __future__ import annotations

import math

import numpy as np

from gradtape.jit.native.lower.ir import AnyInstruction, are_values
from gradtape.jit.native.runtime import blas

SOLVE, INVERSE, TRIANGULAR = "solve", "inv", "solve_triangular"
CHOLESKY, DETERMINANT, LOG_DETERMINANT = "cholesky", "det", "slogdet"
CHOLESKY_GRADIENT, COFACTOR = "cholesky_gradient", "cofactor"
NAMES = frozenset({SOLVE, INVERSE, TRIANGULAR, CHOLESKY, CHOLESKY_GRADIENT, COFACTOR, DETERMINANT, LOG_DETERMINANT})
CHECKED = NAMES - {COFACTOR, DETERMINANT, LOG_DETERMINANT}
"""Those that fail if the matrix is singular, or not positive definite."""
ROWS_WITH_COFACTORS = 3
"""Rows of a matrix up to which there is a formula for its cofactors."""
LARGEST = 256
"""Rows of a matrix up to which native code gains: for larger ones, the overhead of NumPy is negligible."""


def supports(instruction: AnyInstruction) -> bool:
    """Whether the operands are stacks of square float matrices (and right sides) of one dtype, without broadcasting."""
    values = (*instruction.operands, *instruction.results)
    if not are_values(values) or not all(x.dtype.isnative and math.prod(x.shape) for x in values):
        return False
    matrices = values[0]
    if matrices.dtype not in (np.dtype("f8"), np.dtype("f4")) or any(x.dtype != matrices.dtype for x in values):
        return False
    if len(matrices.shape) < 2 or matrices.shape[-1] != matrices.shape[-2] or matrices.shape[-1] > LARGEST:
        return False
    if instruction.name == COFACTOR:
        return bool(matrices.shape[-1] <= ROWS_WITH_COFACTORS)
    if instruction.name in (SOLVE, TRIANGULAR):
        right, (result,) = values[1], instruction.results
        if len(right.shape) < 2 or right.shape[-2] != matrices.shape[-1] or result.shape[-2:] != right.shape[-2:]:
            return False
        stack = result.shape[:-2]
        if not all(x.shape[:-2] == stack or math.prod(x.shape[:-2]) == 1 for x in (matrices, right)):
            return False
    if instruction.name == CHOLESKY_GRADIENT:
        if not all(x.shape == matrices.shape for x in values):
            return False
        return bool(blas.addresses())
    return bool(blas.factorisations())
