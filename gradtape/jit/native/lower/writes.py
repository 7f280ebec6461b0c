"""Writes to parts of arrays, and reads and writes at positions that another value says: `set`, `add_at`, `getitem_at`.

`x[index] = value` is a new version of `x`. It becomes a WRITE: the result begins as a copy of the base, and a loop nest
stores the value to a part of it. Where the base is not read afterwards, the result takes over its memory, and nothing
is copied: see `schedule.fusion` and `schedule.workspace`.

In a loop, an index may advance from step to step: integers that are operands of the instruction. A part of an array at
such a position is a *moving view*: its layout has an offset that is computed in each step.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.ir.moving_index import Gap, SliceTemplate
from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower.ir import (
    CONSTANT,
    MOVING_VIEW,
    SCATTER_ADD,
    WRITE,
    AnyInstruction,
    ArrayValue,
    LoweredBuilder,
    LoweredInstruction,
    LoweredValue,
    add_constant,
    is_value,
)
from gradtape.jit.native.lower.lowering import Lowering
from gradtape.jit.native.schedule.layout import index_part

Index = tuple[Any, ...]

SETTING = frozenset({"set", "set_at"})
ADDING = frozenset({"add_at", "add_at_at"})
WRITING = SETTING | ADDING
READING = frozenset({"getitem_at"})
SCATTERING = frozenset({"scatter_at"})
LARGEST_INDEX = 1 << 20
"""Elements of a constant index up to which it becomes a constant array."""


def index_of(instruction: AnyInstruction) -> Index:
    """The index of an instruction, or its template."""
    params = instruction.params
    index = params["template"] if "template" in params else params["index"]
    return index if isinstance(index, tuple) else (index,)


def _at_zero(index: Index) -> Index:
    """A template with all its moving parts at position 0."""
    return tuple(
        [
            0
            if isinstance(part, Gap)
            else slice(0, part.length, part.step)
            if isinstance(part, SliceTemplate)
            else part
            for part in index
        ]
    )


def find_moving_axes(index: Index, rank: int) -> tuple[int, ...]:
    """The axes of an array of that rank along which the moving parts of an index move.

    >>> from gradtape.jit.native.lower.writes import find_moving_axes
    >>> from gradtape.jit.ir.moving_index import Gap
    >>> find_moving_axes((Gap(), ..., Gap()), 3)
    (0, 2)
    """
    named = sum(part is not None and part is not Ellipsis for part in index)
    axis, found = 0, []
    for part in index:
        if part is Ellipsis:
            axis += rank - named
        elif part is not None:
            if isinstance(part, Gap | SliceTemplate):
                found.append(axis)
            axis += 1
    return tuple(found)


def _is_basic(index: Index) -> bool:
    """Whether an index is made of integers and slices, fixed or moving."""
    kinds = (int, slice, Gap, SliceTemplate, type(None), type(Ellipsis))
    return all(isinstance(part, kinds) and not isinstance(part, bool) for part in index)


def _is_array(part: Any) -> bool:
    return isinstance(part, np.ndarray) and part.dtype.kind in "iub"


def _has_scalars(indices: tuple[Any, ...]) -> bool:
    """Whether all moving parts of an index are single integers."""
    return all(is_value(x) and not x.shape and x.dtype.kind == "i" and x.dtype.itemsize == 8 for x in indices)


def _supports_writing(instruction: AnyInstruction) -> bool:
    if len(instruction.results) != 1 or len(instruction.operands) < 2:
        return False
    (base, value, *indices), (result,) = instruction.operands, instruction.results
    if not is_value(base) or not elementwise.has_type(base.dtype) or base.dtype != result.dtype or 0 in base.shape:
        return False
    if is_value(value):
        if not elementwise.has_type(value.dtype) or (
            value.dtype != base.dtype and value.dtype.kind == "f" != base.dtype.kind
        ):
            return False
    elif not isinstance(value.value, bool | int | float | np.generic):
        return False
    index = index_of(instruction)
    if _is_basic(index):
        return _has_scalars(tuple(indices))
    if indices or not all(_is_basic((part,)) or _is_array(part) for part in index):
        return False
    if instruction.name in ADDING and base.dtype.kind not in "iuf":
        return False
    return bool(np.empty(base.shape, bool)[index].size <= LARGEST_INDEX)


def _supports_reading(instruction: AnyInstruction) -> bool:
    if len(instruction.results) != 1 or not instruction.operands:
        return False
    (base, *indices), (result,) = instruction.operands, instruction.results
    if not is_value(base) or not elementwise.has_type(base.dtype) or base.dtype != result.dtype or 0 in base.shape:
        return False
    return _is_basic(index_of(instruction)) and _has_scalars(tuple(indices))


def _supports_scattering(instruction: AnyInstruction) -> bool:
    if len(instruction.results) != 1 or not instruction.operands:
        return False
    (value, *indices), (result,) = instruction.operands, instruction.results
    if not is_value(value) or not elementwise.has_type(value.dtype) or value.dtype != result.dtype or 0 in result.shape:
        return False
    index = index_of(instruction)
    if not _is_basic(index) or not _has_scalars(tuple(indices)):
        return False
    return bool(index_part(np.empty(result.shape, bool), _at_zero(index)).shape == value.shape)


def _prepare_value(write: LoweredBuilder, value: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> ArrayValue:
    """What is written, in the dtype and the shape of the part that it is written to."""
    if not is_value(value):
        value = add_constant(write, np.asarray(value.value).astype(dtype))
    if value.dtype != dtype:
        value = write("astype", value, dtype=dtype)
    if value.shape != shape:
        value = write("broadcast_to", value, shape=shape)
        write.instructions[-1].params["shape"] = shape
    return value  # type: ignore[no-any-return]


def _decompose_writing(instruction: AnyInstruction) -> list[LoweredInstruction]:
    write = LoweredBuilder()
    base, value, *indices = instruction.operands
    (result,) = instruction.results
    assert is_value(base)
    index = index_of(instruction)
    if not _is_basic(index):
        return _write_at_positions(write, instruction, base, value, index)
    moving, place = find_moving_axes(index, len(base.shape)), _at_zero(index)
    shape = index_part(np.empty(base.shape, bool), place).shape
    new = _prepare_value(write, value, shape, base.dtype)
    if instruction.name in ADDING:
        old = LoweredValue(shape, base.dtype)
        write.instructions.append(_read_part(base, indices, old, place, moving))
        new = write("add", old, new)
    write.instructions.append(
        LoweredInstruction((new, base, *indices), (result,), WRITE, {"index": place, "moving": moving})
    )
    return write.instructions


def _read_part(
    base: ArrayValue, indices: list[Any], result: ArrayValue, place: Index, moving: tuple[int, ...]
) -> LoweredInstruction:
    if not moving:
        return LoweredInstruction((base,), (result,), "getitem", {"index": place}, TABLE["getitem"])
    return LoweredInstruction((base, *indices), (result,), MOVING_VIEW, {"index": place, "moving": moving})


def _write_at_positions(
    write: LoweredBuilder, instruction: AnyInstruction, base: ArrayValue, value: Any, index: Index
) -> list[LoweredInstruction]:
    """A write to elements that constant arrays name: at their positions in memory, in order."""
    (result,) = instruction.results
    where = np.arange(math.prod(base.shape)).reshape(base.shape)[index]
    new = _prepare_value(write, value, where.shape, base.dtype)
    positions = LoweredValue(where.shape, np.dtype(np.int64))
    array = np.ascontiguousarray(where).reshape(where.shape)
    write.instructions.append(LoweredInstruction((), (positions,), CONSTANT, {"array": array}))
    adds = instruction.name in ADDING
    write.instructions.append(LoweredInstruction((new, positions, base), (result,), SCATTER_ADD, {"adds": adds}))
    return write.instructions


def _decompose_reading(instruction: AnyInstruction) -> list[LoweredInstruction]:
    base, *indices = instruction.operands
    assert is_value(base)
    index = index_of(instruction)
    (result,) = instruction.results
    return [_read_part(base, indices, result, _at_zero(index), find_moving_axes(index, len(base.shape)))]


def _decompose_scattering(instruction: AnyInstruction) -> list[LoweredInstruction]:
    index, (result,) = index_of(instruction), instruction.results
    params = {"index": _at_zero(index), "moving": find_moving_axes(index, len(result.shape))}
    return [LoweredInstruction(instruction.operands, (result,), "scatter", params)]


LOWERINGS = (
    Lowering(WRITING, _supports_writing, decompose=_decompose_writing),
    Lowering(READING, _supports_reading, decompose=_decompose_reading),
    Lowering(SCATTERING, _supports_scattering, decompose=_decompose_scattering),
)
"""The families of writes, and of reads and writes at positions that advance in a loop."""
