"""Decomposition of operations on class labels (one-hot, cross entropy) and on rows of tables (embedding)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gradtape.jit.native.emit.elementwise import has_type, is_index
from gradtape.jit.native.lower.ir import (
    CHECK_INDEX,
    GATHER,
    SCATTER_ADD,
    AnyInstruction,
    ArrayValue,
    LoweredBuilder,
    LoweredValue,
    add_constant,
    are_values,
)

CHECK, HOT, PICK, PLACE = "checked labels", "one hot", "pick labelled", "place labelled"
LOSS, EXCESS = "cross entropy of labels", "softmax less label"
ROWS, ADDED = "rows of a table", "rows added up"
NAMES = frozenset({CHECK, HOT, PICK, PLACE, LOSS, EXCESS, ROWS, ADDED})
_INTEGER = np.dtype(np.int64)


def supports(instruction: AnyInstruction) -> bool:
    """Whether labels and arrays are of native dtypes and not empty."""
    values = (*instruction.operands, *instruction.results)
    if not are_values(values) or not all(has_type(x.dtype) and math.prod(x.shape) for x in values):
        return False
    *_, labels, _ = values
    if not is_index(labels.dtype):
        return False
    (result,) = instruction.results
    if instruction.name == CHECK:
        return bool(result.dtype == _INTEGER and instruction.params["classes"] > 0)
    if instruction.name == HOT:
        return bool(result.dtype.kind in "iuf")
    given = values[0]
    return bool(given.dtype == result.dtype and (given.dtype.kind == "f" or instruction.name == ROWS))


def decompose_labels(
    write: LoweredBuilder, instruction: AnyInstruction, softmax: Callable[..., LoweredValue]
) -> LoweredValue:
    """Write the instructions that replace one on labels; the last one has the result."""
    name, params = instruction.name, instruction.params
    (result,) = instruction.results
    if name == CHECK:
        return _check_labels(write, instruction.values[0], **params)
    if name in (ROWS, ADDED):
        return _decompose_rows(write, instruction)
    *given, labels = instruction.values
    axis = params["axis"] % (len(labels.shape) + 1)
    longer = (*labels.shape[:axis], 1, *labels.shape[axis:])
    wide = write.reshape(labels, longer)
    classes = given[0].shape[axis] if name in (LOSS, EXCESS) else params["classes"]
    ladder = add_constant(write, np.arange(classes).reshape((-1,) + (1,) * (len(labels.shape) - axis)))
    hit = write("equal", write("astype", wide, dtype=_INTEGER), ladder, dtype=bool)
    if name == HOT:
        return write("astype", hit, dtype=result.dtype)
    x = given[0]
    ignored = write("less", wide, 0, dtype=bool)
    if name == EXCESS:
        found = softmax(write, x, "softmax", (axis,))
        chosen = write("where", hit, write("subtract", found, 1.0, dtype=x.dtype), found, dtype=x.dtype)
        return write("where", ignored, 0, chosen, dtype=x.dtype)
    if name == PLACE:
        stretched = write.reshape(x, longer)
        return write("where", hit, stretched, 0, dtype=x.dtype)
    if name == LOSS:
        x = write("negative", softmax(write, x, "log_softmax", (axis,)))
    return write("sum", write("where", hit, x, 0, dtype=x.dtype), shape=result.shape, axis=(axis,), keepdims=False)


def _check_labels(
    write: LoweredBuilder, labels: ArrayValue, classes: int, ignored: int | None, **names: str
) -> LoweredValue:
    """Labels in range unchanged, ignored labels as -1; any other fails the index check."""
    wide = write("astype", labels, dtype=_INTEGER)
    beyond = write("where", write("less", wide, 0, dtype=bool), classes, wide, dtype=_INTEGER)
    if ignored is None:
        return write(CHECK_INDEX, beyond, dtype=_INTEGER, length=classes)
    skip = write("equal", wide, ignored, dtype=bool)
    place = write(CHECK_INDEX, write("where", skip, 0, beyond, dtype=_INTEGER), dtype=_INTEGER, length=classes)
    return write("where", skip, -1, place, dtype=_INTEGER)


def _decompose_rows(write: LoweredBuilder, instruction: AnyInstruction) -> LoweredValue:
    x, positions = instruction.values
    (result,) = instruction.results
    table = x if instruction.name == ROWS else result
    width = math.prod(table.shape[1:])
    longer = (*positions.shape, *(1,) * (len(table.shape) - 1))
    place = write.reshape(positions, longer)
    place = write(CHECK_INDEX, place, dtype=_INTEGER, length=table.shape[0])
    columns = add_constant(write, np.arange(width).reshape(table.shape[1:]))
    where = write("add", write("multiply", place, width) if width != 1 else place, columns)
    where = write("broadcast_to", where, shape=(*positions.shape, *table.shape[1:]))
    if instruction.name == ADDED:
        return write(SCATTER_ADD, x, where, shape=result.shape, adds=True)
    flat = x if len(x.shape) == 1 else write.reshape(x, (math.prod(x.shape),))
    return write(GATHER, where, dtype=x.dtype, table=flat)
