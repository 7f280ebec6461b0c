"""The registry of native lowerings, and predicates on instructions: view, reduction, scatter, call."""

from __future__ import annotations

import numpy as np

from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower import conv, decompose, factor, matmul, pool, scan, sparse
from gradtape.jit.native.lower.ir import (
    ADD_ROWS,
    CALLBACK,
    CHECK_INDEX,
    CONSTANT,
    GATHER,
    MOVING_VIEW,
    PART,
    SCATTER_ADD,
    WRITE,
    AnyInstruction,
    are_values,
)
from gradtape.jit.native.lower.lowering import Lowering, find_lowering, index_by_name
from gradtape.jit.native.schedule import row_blocks, tiling
from gradtape.jit.native.schedule.layout import diagonal_of, index_part

REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod", "all", "any"})
VIEWS = frozenset({"getitem", "transpose", "reshape", "flip", "diagonal"})
SCATTER = "scatter"
FROM_DIAGONAL = "from_diagonal"
WINDOW_READ = "window"  # a scatter that is not materialised: see `virtual_scatter`
ZERO_OUTSIDE = "inside"  # of a value computed from window reads: 0 outside of the window
JOINED_VIEW = "several"  # values at equal distances in memory, as one value with one more axis
PRODUCTS = (matmul.MATMUL, matmul.EINSUM)
LOOP = tiling.LOOP
WHILE = "while"
LOOPS = frozenset({LOOP, WHILE})
CHECKED = frozenset({GATHER, CHECK_INDEX, SCATTER_ADD, ADD_ROWS, CALLBACK, *factor.CHECKED, *pool.PICKED})
"""Instructions that may fail: an index out of range, a singular matrix, or a kernel that raises."""


def is_reduction(instruction: AnyInstruction) -> bool:
    """Whether an instruction reduces axes in a loop nest."""
    return instruction.name in REDUCTIONS


def is_view(instruction: AnyInstruction) -> bool:
    """Whether the result is a view of the operand's memory, so that no code is emitted."""
    if instruction.name == "getitem":
        return not decompose.has_arrays(instruction.params["index"])
    return instruction.name in VIEWS or instruction.name in (WINDOW_READ, JOINED_VIEW, MOVING_VIEW)


def is_call(instruction: AnyInstruction) -> bool:
    """Whether an instruction is a step of its own, outside of loop nests."""
    return instruction.name in CALLS


def is_scatter(instruction: AnyInstruction) -> bool:
    """Whether an instruction writes its operand to a part of its result."""
    return instruction.name in (SCATTER, FROM_DIAGONAL, PART, WRITE)


def leaves_memory(instruction: AnyInstruction) -> bool:
    """Whether the results of an instruction are always stored in memory."""
    return is_reduction(instruction) or is_call(instruction) or is_scatter(instruction) or instruction.name == CONSTANT


def supports(instruction: AnyInstruction) -> bool:
    """Whether an instruction has a native form for its operands.

    >>> import numpy as np
    >>> from gradtape.jit.native.lower.support import supports
    >>> from gradtape.jit.ir.program import Instruction, Value
    >>> from gradtape.ops.elementwise import sin
    >>> x, z = Value(0, (3,), np.dtype(float)), Value(1, (3,), np.dtype(complex))
    >>> [supports(Instruction(sin, (v,), {}, (Value(2, (3,), v.dtype),))) for v in (x, z)]
    [True, False]
    """
    lowering = find_lowering(_BY_NAME, instruction)
    return elementwise.supports(instruction) if lowering is None else lowering.supports(instruction)


def can_fail(instruction: AnyInstruction) -> bool:
    """Whether an instruction with a native form may fail for some operands."""
    lowering = find_lowering(_BY_NAME, instruction)
    if lowering is None:
        return False
    if lowering.decompose is not None:
        return any(smaller.name in CHECKED for smaller in lowering.decompose(instruction))
    return lowering.emitter is not None and instruction.name not in PRODUCTS


def _has_one_array(instruction: AnyInstruction) -> bool:
    """Whether there are one operand and one result, both of them arrays of native dtypes."""
    if len(instruction.results) != 1 or len(instruction.operands) != 1 or not are_values(instruction.operands):
        return False
    return elementwise.has_type(instruction.operands[0].dtype) and elementwise.has_type(instruction.results[0].dtype)


def _keeps_dtype(instruction: AnyInstruction) -> bool:
    return bool(_has_one_array(instruction) and instruction.values[0].dtype == instruction.results[0].dtype)


def _supports_view(instruction: AnyInstruction) -> bool:
    index = instruction.params.get("index", ())
    return _keeps_dtype(instruction) and all(_is_basic(i) for i in (index if isinstance(index, tuple) else (index,)))


def _supports_scatter(instruction: AnyInstruction) -> bool:
    if not _supports_view(instruction):
        return False
    whole = np.empty(instruction.results[0].shape, bool)
    return bool(index_part(whole, instruction.params.get("index", ())).shape == instruction.values[0].shape)


def _supports_from_diagonal(instruction: AnyInstruction) -> bool:
    if not _keeps_dtype(instruction):
        return False
    whole = np.empty(instruction.results[0].shape, bool)
    return bool(diagonal_of(whole, instruction).shape == instruction.values[0].shape)


def _supports_loop(instruction: AnyInstruction) -> bool:
    """Whether the whole body of a loop is native, or the loop can be tiled."""
    if not _has_native_arrays(instruction):
        return False
    return tiling.loop_shape(instruction) is not None or _has_native_body(instruction)


def _supports_while(instruction: AnyInstruction) -> bool:
    """Whether the whole body of a while loop is native."""
    return _has_native_arrays(instruction) and _has_native_body(instruction)


def _has_native_body(instruction: AnyInstruction) -> bool:
    body = instruction.params["loop"].body
    return bool(body.instructions) and all(not inner.effect and supports(inner) for inner in body.instructions)


def _has_native_arrays(instruction: AnyInstruction) -> bool:
    """Whether native code can read and write the operands, results and constants of a loop."""
    loop = instruction.params.get("loop")
    if loop is None or instruction.effect or not instruction.results:
        return False
    body = loop.body
    values = [*body.inputs, *body.outputs, *(constant.value for constant in body.constants), *instruction.values]
    if not all(value.dtype.isnative and value.dtype.kind in "biufc" for value in values):
        return False
    return all(constant.array.flags.c_contiguous and constant.array.flags.aligned for constant in body.constants)


def _is_basic(index: object) -> bool:
    """Whether an index gives a view. A bool, although it is an int in Python, makes a copy."""
    return isinstance(index, int | slice | None | type(Ellipsis)) and not isinstance(index, bool)


def _supports_reduction(instruction: AnyInstruction) -> bool:
    if not _has_one_array(instruction):
        return False
    name, params = instruction.name, instruction.params
    given, result = instruction.values[0], instruction.results[0]
    if set(params) - {"axis", "keepdims"} or not isinstance(params.get("keepdims", False), bool):
        return False
    if name in ("max", "min") and (0 in given.shape or given.dtype.kind == "b"):
        return False
    if name == "mean" and (given.dtype != result.dtype or 0 in given.shape):
        return False
    return not (name in ("all", "any") and result.dtype != np.dtype(bool))


def reduced_axes(instruction: AnyInstruction) -> tuple[int, ...]:
    """The axes of a reduction, sorted and non-negative."""
    rank = len(instruction.values[0].shape)
    axis = instruction.params.get("axis")
    if axis is None:
        return tuple(range(rank))
    return tuple(sorted(a % rank for a in ((axis,) if isinstance(axis, int) else axis)))


def _is_lowered_only(instruction: AnyInstruction) -> bool:
    """False: only lowering makes the operation, so no program contains it."""
    return False


LOWERINGS = (
    *decompose.LOWERINGS,
    Lowering(REDUCTIONS, _supports_reduction),
    Lowering(VIEWS, _supports_view),
    Lowering(frozenset({SCATTER}), _supports_scatter),
    Lowering(frozenset({FROM_DIAGONAL}), _supports_from_diagonal),
    Lowering(frozenset({LOOP}), _supports_loop, emitter="inner_block", has_memory=True),
    Lowering(frozenset({WHILE}), _supports_while, emitter="while_loop", has_memory=True),
    Lowering(frozenset({tiling.TILED}), _is_lowered_only, emitter="inner_block", has_memory=True),
    Lowering(frozenset({row_blocks.ROW_BLOCKS}), lambda instruction: True, emitter="row_blocks", has_memory=True),
    Lowering(frozenset({SCATTER_ADD}), _is_lowered_only, emitter="scatter_add"),
    Lowering(frozenset({ADD_ROWS}), _is_lowered_only, emitter="add_rows"),
    Lowering(frozenset(PRODUCTS), matmul.supports, emitter="matmul"),
    Lowering(conv.NAMES, conv.supports, emitter="conv", has_memory=True),
    Lowering(pool.NAMES, pool.supports, emitter="pool"),
    Lowering(scan.NAMES, scan.supports, emitter="scan"),
    Lowering(frozenset({sparse.SPARSE_PRODUCT}), _is_lowered_only, emitter="sparse"),
    Lowering(factor.NAMES, factor.supports, emitter="factor", has_memory=True),
)
"""The registry: one row for each family of operations. What is in no row is elementwise: see `emit.elementwise`."""
_BY_NAME = index_by_name(LOWERINGS)
CALLS = {name: lowering for lowering in LOWERINGS if lowering.emitter is not None for name in lowering.names}
"""The operations that are a step of their own, each with its row."""
