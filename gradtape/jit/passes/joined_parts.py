"""Sums of arrays that are zero but for a part each, if the parts cover the whole: the parts joined.

The gradient of `q, k, v = parts` is the sum of three arrays as large as `parts`, each of them zero but for one row.
That of `np.split` is the same with slices. Stacking or concatenating the parts writes every element once.
"""

from __future__ import annotations

from typing import NamedTuple

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Instruction, Program, Value
from gradtape.jit.passes.dce import drop_dead


class Parts(NamedTuple):
    """The parts of a sum of scatters that are not zero: by start, each with its end, along one axis."""

    axis: int
    is_row: bool
    """Whether each part is one row, without that axis."""
    values: dict[int, tuple[int, Value]]


def join_parts(program: Program) -> Program:
    """Replace sums of scatters that cover an array by `stack` or `concatenate`.

    A transpose of such a stack becomes a stack of transposes, which needs no other copy.

    >>> import numpy as np, gradtape as gt
    >>> program = gt.jit(gt.grad(lambda x: np.sum(np.sin(x[0]) * np.cos(x[1])))).lower(np.ones((2, 3)))
    >>> [instruction.name for instruction in program.instructions][-1]
    'stack'
    """
    if not any(instruction.name == "scatter" for instruction in program.instructions):
        return program
    uses = program.uses()
    found: dict[Value, Parts] = {}
    joined: dict[Value, tuple[Parts, tuple[Value, ...]]] = {}
    for instruction in program.instructions:
        parts = _find_parts(instruction, found, uses)
        if parts is None:
            continue
        found[instruction.result] = parts
        ordered = _order_parts(parts, instruction.result.shape[parts.axis])
        if ordered is not None:
            joined[instruction.result] = parts, ordered
    if not joined:
        return program
    made: list[Instruction] = []
    next_id = program.next_id()
    for instruction in program.instructions:
        source = instruction.operands[0] if instruction.name == "transpose" else None
        if instruction.results and instruction.results[0] in joined:
            parts, ordered = joined[instruction.results[0]]
            op = TABLE["stack" if parts.is_row else "concatenate"]
            made.append(instruction.replace(op=op, operands=ordered, params={"axis": parts.axis}))
        elif type(source) is Value and source in joined and joined[source][0].is_row and uses[source] == 1:
            parts, ordered = joined[source]
            axes = tuple(axis % source.ndim for axis in instruction.params["axes"])
            order = tuple(axis - (axis > parts.axis) for axis in axes if axis != parts.axis)
            turned = []
            for row in ordered:
                turned.append(Value(next_id, tuple(row.shape[axis] for axis in order), row.dtype))
                next_id += 1
                made.append(instruction.replace(operands=(row,), params={"axes": order}, results=(turned[-1],)))
            params = {"axis": axes.index(parts.axis)}
            made.append(instruction.replace(op=TABLE["stack"], operands=tuple(turned), params=params))
        else:
            made.append(instruction)
    return drop_dead(program.replace(instructions=tuple(made)))


def _find_parts(instruction: Instruction, found: dict[Value, Parts], uses: dict[Value, int]) -> Parts | None:
    """The part of a scatter along one axis, or those of a sum of two values with parts along the same axis."""
    if len(instruction.results) != 1 or instruction.effect:
        return None
    if instruction.name == "scatter":
        return _find_part(instruction)
    if instruction.name not in ("add", "add_at") or len(instruction.values) != 2 or len(instruction.operands) != 2:
        return None
    one, two = instruction.values
    left = found.get(one) if uses[one] == 1 and one.shape == instruction.result.shape else None
    if instruction.name == "add_at":
        right = _find_part(instruction)
    else:
        right = found.get(two) if uses[two] == 1 and one.shape == two.shape else None
    if left is None or right is None or left[:2] != right[:2] or left.values.keys() & right.values.keys():
        return None
    return left._replace(values={**left.values, **right.values})


def _find_part(scatter: Instruction) -> Parts | None:
    """The part that a scatter or an `add_at` writes, if its index is an integer or a slice along one axis."""
    index, shape = scatter.params["index"], scatter.result.shape
    value = scatter.operands[-1]
    if not isinstance(index, tuple) or type(value) is not Value or value.dtype != scatter.result.dtype:
        return None
    if index and index[0] is Ellipsis:
        index = (*[slice(None)] * (len(shape) - len(index) + 1), *index[1:])
    if not index or any(type(part) is not slice or part != slice(None) for part in index[:-1]):
        return None
    axis, last = len(index) - 1, index[-1]
    if type(last) is int:
        start = last % shape[axis]
        return Parts(axis, True, {start: (start + 1, value)})
    if type(last) is not slice or last.step not in (None, 1):
        return None
    start, stop, _ = last.indices(shape[axis])
    return Parts(axis, False, {start: (stop, value)}) if start < stop else None


def _order_parts(parts: Parts, length: int) -> tuple[Value, ...] | None:
    """The parts in their order, if there are several and they cover the axis without overlap."""
    place, ordered = 0, []
    while place in parts.values:
        place, value = parts.values[place]
        ordered.append(value)
    whole = place == length and len(ordered) == len(parts.values) > 1
    return tuple(ordered) if whole else None
