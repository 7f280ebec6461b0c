"""The kinds of instructions that native code knows, and which of them it takes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower import conv, decompose, factor, matmul, pool, scan
from gradtape.jit.native.lower.ir import CALLBACK, FILLING, HELD, PART
from gradtape.jit.native.schedule import tiling
from gradtape.jit.native.schedule.layout import diagonal_of, part_of

REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod", "all", "any"})
VIEWS = frozenset({"getitem", "transpose", "reshape", "flip", "diagonal"})
SCATTER = "scatter"
SPREAD = "from_diagonal"
WINDOW = "window"
INSIDE = "inside"  # zero outside of a window
SEVERAL = "several"  # values that lie in memory one after the other, seen as one
PRODUCTS = (matmul.MATMUL, matmul.EINSUM)
LOOP = tiling.LOOP
CALLS = frozenset(
    {*PRODUCTS, LOOP, tiling.TILED, FILLING, CALLBACK, *conv.NAMES, *pool.NAMES, *factor.NAMES, *scan.NAMES}
)


def is_reduction(instruction: Any) -> bool:
    return instruction.name in REDUCTIONS


def is_view(instruction: Any) -> bool:
    if instruction.name == "getitem":
        return not decompose.has_arrays(instruction.params["index"])
    return instruction.name in VIEWS or instruction.name in (WINDOW, SEVERAL)


def is_call(instruction: Any) -> bool:
    """Whether an instruction is a step of its own."""
    return instruction.name in CALLS


def is_scatter(instruction: Any) -> bool:
    """Whether an instruction puts its operand into a part of its result."""
    return instruction.name in (SCATTER, SPREAD, PART)


def leaves_memory(instruction: Any) -> bool:
    """Whether the results of an instruction are in memory in any case."""
    return is_reduction(instruction) or is_call(instruction) or is_scatter(instruction) or instruction.name == HELD


def is_value(operand: Any) -> bool:
    """Whether an operand is an array (and not a Python number)."""
    return hasattr(operand, "dtype")


def supports(instruction: Any) -> bool:
    """Whether an instruction can be part of a group.

    >>> import numpy as np
    >>> from gradtape.jit.native.lower.support import supports
    >>> from gradtape.jit.ir.program import Instruction, Value
    >>> from gradtape.ops.elementwise import sin
    >>> x, z = Value(0, (3,), np.dtype(float)), Value(1, (3,), np.dtype(complex))
    >>> [supports(Instruction(sin, (v,), {}, (Value(2, (3,), v.dtype),))) for v in (x, z)]
    [True, False]
    """
    name = instruction.name
    if name == LOOP:
        return _supports_loop(instruction)
    if name == CALLBACK:
        return True
    by_parts = decompose.supports(instruction)
    if by_parts is not None:
        return by_parts
    if name in PRODUCTS:
        return matmul.supports(instruction)
    if name in conv.NAMES:
        return conv.supports(instruction)
    if name in pool.NAMES:
        return pool.supports(instruction)
    if name in scan.NAMES:
        return scan.supports(instruction)
    if name in factor.NAMES:
        return factor.supports(instruction)
    if name not in REDUCTIONS and name not in VIEWS and name not in (SCATTER, SPREAD):
        return elementwise.supports(instruction)
    if len(instruction.results) != 1 or len(instruction.operands) != 1 or not is_value(instruction.operands[0]):
        return False
    given, result = instruction.operands[0], instruction.results[0]
    if not (elementwise.has_type(given.dtype) and elementwise.has_type(result.dtype)):
        return False
    if name in REDUCTIONS:
        return _supports_reduction(instruction, given, result)
    if name == SPREAD:
        whole = np.empty(result.shape, bool)
        return bool(given.dtype == result.dtype and diagonal_of(whole, instruction).shape == given.shape)
    index = instruction.params.get("index", ())
    basic = all(_is_basic(i) for i in (index if isinstance(index, tuple) else (index,)))
    if name == SCATTER:
        return (
            basic and given.dtype == result.dtype and part_of(np.empty(result.shape, bool), index).shape == given.shape
        )
    return basic and given.dtype == result.dtype


def _supports_loop(instruction: Any) -> bool:
    """Whether a loop's body is native as a whole: none of its steps is large, or all of it goes into tiles."""
    loop = instruction.params.get("loop")
    if loop is None or instruction.effect or not instruction.results:
        return False
    body = loop.body
    values = [*body.inputs, *body.outputs, *(constant.value for constant in body.constants), *instruction.values]
    if not all(value.dtype.isnative and value.dtype.kind in "biufc" and 0 not in value.shape for value in values):
        return False
    if not all(constant.array.flags.c_contiguous and constant.array.flags.aligned for constant in body.constants):
        return False
    made = [result for inner in body.instructions for result in inner.results]
    if any(math.prod(value.shape) > tiling.LARGE for value in (*made, *body.inputs)):
        # the steps of a loop over large arrays are called one by one, and use threads, if there is no better way
        return tiling.loop_shape(instruction) is not None
    return bool(body.instructions) and all(not inner.effect and supports(inner) for inner in body.instructions)


def _is_basic(index: Any) -> bool:
    """Whether an index gives a view. A truth value, although Python has it for an int, makes a copy."""
    return isinstance(index, int | slice | None | type(Ellipsis)) and not isinstance(index, bool)


def _supports_reduction(instruction: Any, given: Any, result: Any) -> bool:
    name, params = instruction.name, instruction.params
    if set(params) - {"axis", "keepdims"} or not isinstance(params.get("keepdims", False), bool):
        return False
    if name in ("max", "min") and (0 in given.shape or given.dtype.kind == "b"):
        return False
    if name == "mean" and (given.dtype != result.dtype or 0 in given.shape):
        return False
    return not (name in ("all", "any") and result.dtype != np.dtype(bool))


def reduced_axes(instruction: Any) -> tuple[int, ...]:
    """The axes that a reduction takes away, as sorted positive numbers."""
    rank = len(instruction.operands[0].shape)
    axis = instruction.params.get("axis")
    if axis is None:
        return tuple(range(rank))
    return tuple(sorted(a % rank for a in ((axis,) if isinstance(axis, int) else axis)))
