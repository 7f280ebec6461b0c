"""Which products of sparse matrices are native: those of compressed rows and dense columns; `emit.sparse` emits them.

The pattern of the matrix is known when the program is compiled, so that its places are constants that were checked.
"""

from __future__ import annotations

import math

import numpy as np

from gradtape.jit.native.lower.ir import (
    CONSTANT,
    AnyInstruction,
    LoweredInstruction,
    LoweredValue,
    are_values,
)
from gradtape.jit.native.lower.lowering import Lowering

SPARSE_PRODUCT = "sparse product"
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def _supports(instruction: AnyInstruction) -> bool:
    """Whether one matrix in compressed rows is multiplied with columns, all of one dtype."""
    values = (*instruction.operands, *instruction.results)
    if len(values) != 3 or not are_values(values) or not all(math.prod(x.shape) for x in values):
        return False
    numbers, columns, result = values
    if len(numbers.shape) != 1 or len(columns.shape) != 2 or len(result.shape) != 2:
        return False
    if numbers.dtype not in _FLOATS or any(x.dtype != numbers.dtype or not x.dtype.isnative for x in values):
        return False
    return instruction.params["pattern"].compressed_rows is not None


def _decompose(instruction: AnyInstruction) -> list[LoweredInstruction]:
    """The starts of the rows and the columns of the elements as constants, and the product with them."""
    made, places = [], []
    for array in instruction.params["pattern"].compressed_rows:
        value = LoweredValue(array.shape, array.dtype)
        made.append(LoweredInstruction((), (value,), CONSTANT, {"array": array}))
        places.append(value)
    operands = (*instruction.values, *places)
    return [*made, LoweredInstruction(operands, instruction.results, SPARSE_PRODUCT, {})]


LOWERINGS = (Lowering(frozenset({"sparse_matmul"}), _supports, decompose=_decompose),)
