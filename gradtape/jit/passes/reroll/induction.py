"""Induction indices: how a loop reads and writes `X[t]`, `X[:, t]` and `X[t:t + 3]`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.operation import Op
from gradtape.jit.ir.moving_index import Gap, SliceTemplate
from gradtape.jit.ir.program import Value, Walk, new_stack

Index = tuple[Any, ...]


class Advancing(NamedTuple):
    """The indices of all iterations: a template, and for each part that varies a table with one row per iteration."""

    template: Index
    tables: tuple[np.ndarray[Any, Any], ...]


def find_advancing(indices: Sequence[Index]) -> Advancing | None:
    """The template and tables of `indices`, which have the same form; None if a part cannot be tabulated.

    >>> from gradtape.jit.passes.reroll.induction import find_advancing
    >>> found = find_advancing([(0, slice(4)), (1, slice(4)), (2, slice(4))])
    >>> found.template, found.tables[0].tolist()
    ((Gap(), slice(None, 4, None)), [0, 1, 2])
    """
    template: list[Any] = []
    tables: list[np.ndarray[Any, Any]] = []
    for parts in zip(*indices, strict=True):
        first = parts[0]
        if isinstance(first, np.ndarray):
            if all(np.array_equal(part, first) for part in parts):
                template.append(first)
                continue
            template.append(Gap())
            tables.append(np.array(parts))
        elif all(part == first for part in parts):
            template.append(first)
        elif type(first) is int:
            template.append(Gap())
            tables.append(np.array(parts))
        elif type(first) is slice and first.start is not None and first.stop is not None:
            length = first.stop - first.start
            starts = np.array([part.start for part in parts])
            same = all(part.stop - part.start == length and part.step == first.step for part in parts)
            if not same or length < 0 or starts.min() < 0 or (first.step or 1) < 0:
                return None
            template.append(SliceTemplate(length, first.step))
            tables.append(starts)
        else:
            return None
    return Advancing(tuple(template), tuple(tables))


def without_negatives(indices: Advancing, shape: tuple[int, ...]) -> list[np.ndarray[Any, Any]]:
    """The tables of indices into an array of that shape, counted from the beginning of their axes.

    >>> import numpy as np
    >>> from gradtape.jit.passes.reroll.induction import Advancing, Gap, without_negatives
    >>> [table.tolist() for table in without_negatives(Advancing((..., Gap()), (np.array([0, -1]),)), (2, 3))]
    [[0, 2]]
    """
    supply, axis, found = iter(indices.tables), 0, []
    for part in _without_ellipsis(indices.template, len(shape)):
        if isinstance(part, Gap | SliceTemplate):
            table = next(supply)
            found.append(np.where(table < 0, table + shape[axis], table) if table.dtype.kind == "i" else table)
        axis += part is not None
    return found


def progression(numbers: np.ndarray[Any, Any]) -> Walk | None:
    """The start and stride of `numbers`, if they form an arithmetic progression."""
    if numbers.ndim != 1 or numbers.dtype.kind != "i":
        return None
    moves = np.diff(numbers)
    if len(moves) and (moves != moves[0]).any():
        return None
    return Walk(int(numbers[0]), int(moves[0]) if len(moves) else 0)


class Reading(NamedTuple):
    """How to read an array slice by slice: the operation on the array before the loop, and on each slice."""

    before: tuple[Op | str, dict[str, Any]] | None
    walk: Walk
    rest: Index  # what is taken of a row; empty if all of it is


def plan_reading(array: Value, indices: Advancing) -> Reading | None:
    """How to read `array` at `indices` slice by slice; None if more than one number of the index advances."""
    if len(indices.tables) != 1 or any(isinstance(part, np.ndarray | bool) for part in indices.template):
        return None
    parts = _without_ellipsis(indices.template, array.ndim)
    place = next(i for i, part in enumerate(parts) if isinstance(part, Gap | SliceTemplate))
    axis = sum(part is not None for part in parts[:place])
    table, part = indices.tables[0], parts[place]
    length = array.shape[axis]
    walk = progression(np.where(table < 0, table + length, table))
    if walk is None:
        return None
    if isinstance(part, SliceTemplate):
        if table.max() + part.length > length:
            return None
        rest = (*parts[:place], slice(None, None, part.step), *parts[place + 1 :])
        return Reading((WINDOWS, {"axis": axis, "width": part.length}), walk, _unless_all(rest))
    rest = (*parts[:place], *parts[place + 1 :])
    axes = (axis, *(other for other in range(array.ndim) if other != axis))
    return Reading(None if axis == 0 else ("transpose", {"axes": axes}), walk, _unless_all(rest))


def _without_ellipsis(template: Index, ndim: int) -> Index:
    places = [i for i, part in enumerate(template) if part is Ellipsis]
    if not places:
        return template
    missing = ndim - sum(part is not None and part is not Ellipsis for part in template)
    return (*template[: places[0]], *(slice(None),) * missing, *template[places[0] + 1 :])


def _unless_all(index: Index) -> Index:
    """An index; empty if it selects the whole array unchanged."""
    return () if all(isinstance(part, slice) and part == slice(None) for part in index) else index


def fill_template(template: Index, values: Sequence[Any]) -> Index:
    """The index of one iteration: the template with its gaps filled."""
    supply = iter(values)
    return tuple([_fill_part(part, supply) if isinstance(part, Gap | SliceTemplate) else part for part in template])


def _fill_part(part: Gap | SliceTemplate, supply: Any) -> Any:
    value = next(supply)
    if isinstance(part, SliceTemplate):
        return slice(int(value), int(value) + part.length, part.step)
    return value


@functools.cache
def indexed_at(op: Op) -> Op:
    """An operation like `op`, but for its index: operands after the others fill the gaps of the parameter `template`.

    >>> import numpy as np
    >>> from gradtape.core.rules import TABLE
    >>> from gradtape.jit.passes.reroll.induction import Gap, indexed_at
    >>> indexed_at(TABLE["getitem"]).kernel(np.eye(3), 2, template=(slice(None), Gap()))
    array([0., 0., 1.])
    """

    def kernel(*operands: Any, template: Index, **params: Any) -> Any:
        count = len(operands) - sum(isinstance(part, Gap | SliceTemplate) for part in template)
        return op.kernel(*operands[:count], index=fill_template(template, operands[count:]), **params)

    return Op(f"{op.name}_at", kernel, kind=op.kind, view=op.view)


def _windows(x: Any, axis: int, width: int) -> Any:
    """All windows of `width` along `axis`, as rows of a view."""
    return np.moveaxis(np.lib.stride_tricks.sliding_window_view(x, width, axis), (axis, -1), (0, axis + 1))


def stack_rows(*rows: Any) -> Any:
    """The rows stacked in one array, each with the memory layout of the first."""
    if not rows[0].shape:
        return np.array(rows, rows[0].dtype)
    out = new_stack(rows[0], len(rows))
    for number, row in enumerate(rows):
        out[number] = row
    return out


WINDOWS = Op("windows", _windows, kind="linear", view=True)
"""All `x[i:i + width]` along an axis, stacked; a view."""
STACKED = Op("stacked", stack_rows, kind="linear")
"""Arrays of one shape, stacked as the steps of a loop stack them."""
