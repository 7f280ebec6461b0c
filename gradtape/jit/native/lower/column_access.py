"""What instructions are to the columns of an array with a short last axis: see `short_axes`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower.ir import CHECK_INDEX, GATHER, PART, SCATTER_ADD, WRITE, AnyInstruction, ArrayValue

Index = tuple[Any, ...]
Shape = tuple[int, ...]

LONGEST = 16
SHORTEST = 16
"""Elements of a column from which on it is worth it."""
ALL = slice(None)
REDUCED = frozenset({"sum", "mean", "max", "min", "prod"})


def is_short(value: ArrayValue) -> bool:
    """Whether the last axis is short, and columns are long enough."""
    shape = value.shape
    return len(shape) > 1 and 2 <= shape[-1] <= LONGEST and math.prod(shape[:-1]) >= SHORTEST


def _full_index(index: Any, rank: int) -> Index | None:
    """An index with an entry for each axis; None if it does not end with one for the last axis."""
    parts = index if isinstance(index, tuple) else (index,)
    if not all(part is None or part is Ellipsis or isinstance(part, int | slice) for part in parts):
        return None
    named = sum(part is not None and part is not Ellipsis for part in parts)
    made: list[Any] = []
    seen = False
    for part in parts:
        if part is Ellipsis:
            made += [ALL] * (rank - named)
            seen = True
        else:
            made.append(part)
    if not seen:
        made += [ALL] * (rank - named)
    return tuple(made) if made and made[-1] is not None else None


def _is_all(part: Any, length: int) -> bool:
    return isinstance(part, slice) and part.indices(length) == (0, length, 1)


def keeps_all(index: Any, shape: Shape) -> bool:
    """Whether an index takes all elements in order, and at most adds axes."""
    lengths = iter(shape)
    for part in index if isinstance(index, tuple) else (index,):
        if part is None or part is Ellipsis:
            continue
        if not _is_all(part, next(lengths)):
            return False
    return True


class Access(NamedTuple):
    """How an index treats an array: what remains for each column, and which columns it takes."""

    rest: Index
    columns: list[int]
    is_single: bool  # an integer: the result has no last axis
    is_whole: bool  # all of the other axes, in order


def find_access(index: Any, shape: Shape) -> Access | None:
    full = _full_index(index, len(shape))
    if full is None:
        return None
    *rest, last = full
    single = isinstance(last, int)
    columns = [last % shape[-1]] if single else list(range(*last.indices(shape[-1])))
    lengths = iter(shape)
    whole = all(part is not None and _is_all(part, next(lengths)) for part in rest)
    return Access(tuple(rest), columns, single, whole)


def kind_of(instruction: AnyInstruction) -> str | None:
    """What an instruction is to columns; None if it needs whole arrays."""
    name, params = instruction.name, instruction.params
    if len(instruction.results) != 1 or instruction.effect or params.get("moving"):
        return None
    (result,) = instruction.results
    if name in (GATHER, CHECK_INDEX):
        return "map"
    if name == PART:
        access = find_access(params["index"], result.shape)
        return "part" if access is not None and access.is_whole else None
    if name == SCATTER_ADD:
        return "rows"
    if name in ("scatter", WRITE):
        access = find_access(params["index"], result.shape)
        if access is None:
            return None
        every = access.columns == list(range(result.shape[-1])) and not access.is_single
        if access.is_whole and not every:
            return "put"
        return "view" if every and name == "scatter" else None
    if name in REDUCED:
        return "reduce"
    if name in ("getitem", "reshape", "transpose"):
        return "view" if view_of_columns(instruction) is not None else None
    if elementwise.supports(instruction):
        return "map"
    return None


def view_of_columns(instruction: AnyInstruction) -> tuple[dict[str, Any], list[int], bool] | None:
    """The parameters of a view for each column, which columns it takes, and whether it takes a single one."""
    (operand,), (result,), params = instruction.values, instruction.results, instruction.params
    if not operand.shape:
        return None
    if instruction.name == "getitem":
        access = find_access(params["index"], operand.shape)
        return None if access is None else ({"index": access.rest}, access.columns, access.is_single)
    every = list(range(operand.shape[-1]))
    if instruction.name == "reshape" and result.shape and result.shape[-1] == operand.shape[-1]:
        return {"shape": result.shape[:-1]}, every, False
    if instruction.name == "transpose":
        rank = len(operand.shape)
        axes = tuple(axis % rank for axis in (params.get("axes") or range(rank)[::-1]))
        if axes[-1] == rank - 1:
            return {"axes": axes[:-1]}, every, False
    return None


def reduced_axes(instruction: AnyInstruction) -> tuple[int, ...]:
    rank, axis = len(instruction.values[0].shape), instruction.params.get("axis")
    if axis is None:
        return tuple(range(rank))
    return tuple(sorted(a % rank for a in ((axis,) if isinstance(axis, int) else axis)))


def reads_columns(instruction: AnyInstruction, kind: str, number: int) -> bool:
    """Whether an instruction can use the columns of its operand of that number."""
    if kind == "reduce":
        axes, last = reduced_axes(instruction), len(instruction.values[0].shape) - 1
        return axes == (last,) or (bool(axes) and last not in axes)
    if kind in ("part", "put") and number == 0:
        access = find_access(instruction.params["index"], instruction.results[0].shape)
        return access is not None and not access.is_single  # it is a column itself otherwise
    return kind in ("map", "view") or (kind == "rows" and number == 0) or (kind == "put" and number == 1)
