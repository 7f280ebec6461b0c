"""Take short last axes apart: an array of shape (n, 3) becomes three arrays of shape (n,), its *columns*.

A loop nest whose inner loop has three iterations, or whose arrays are broadcast along it, computes little at a time.
With columns the long axis is the inner loop, sums over the short axis are additions in registers that end no nest, and
`x[:, 0]` is a column and not a view, for which the whole of x would have to be in memory. Columns of gathered rows
(`table[index][:, 4]`) are gathered by themselves, and gradients of columns are added to the rows of a table without an
array of all rows.

Values are taken apart in connected groups: along elementwise instructions, reductions, and views that leave the last
axis alone or take parts of it. What needs a whole array (an output, a call, another view) gets it in parts. Sums over
the short axis are added up in the order of `emit.reduction`.

Axes of up to `NARROW` elements are taken apart where that helps; longer ones, up to 16, where the group reads
and leaves no array of the full size, since columns of it are not contiguous.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower.column_access import is_short, kind_of, reads_columns, reduced_axes, view_of_columns
from gradtape.jit.native.lower.columns import ColumnRewriter, TakenApart
from gradtape.jit.native.lower.ir import GATHER, WRITE, AnyInstruction, ArrayValue

NARROW = 4
LARGEST = 1500
"""Instructions that a group may become."""


def take_short_axes_apart(
    instructions: Sequence[AnyInstruction], outputs: Sequence[ArrayValue], rows: dict[ArrayValue, ArrayValue]
) -> TakenApart:
    """Replace groups of instructions on arrays with a short last axis by instructions on their columns.

    `rows` has for positions of rows of a table the numbers of these rows.
    """
    groups = _find_groups(instructions, outputs, rows)
    if not groups:
        return TakenApart(list(instructions), set(), set())
    return ColumnRewriter(instructions, outputs, rows, groups).run()


class _Group:
    """A connected group of values, and what is known about it."""

    def __init__(self) -> None:
        self.values: list[ArrayValue] = []
        self.cost = 0
        self.helps = False
        self.size = 0
        self.widest = 0
        self.leaves: set[ArrayValue] = set()
        self.wholes: set[ArrayValue] = set()

    def is_worth_it(self) -> bool:
        """Whether it is taken apart."""
        if not self.helps or self.cost > LARGEST:
            return False
        if self.widest <= NARROW:
            return True
        return not any(math.prod(x.shape) * 2 > self.size for x in (*self.leaves, *self.wholes))


def _find_groups(
    instructions: Sequence[AnyInstruction], outputs: Sequence[ArrayValue], rows: dict[ArrayValue, ArrayValue]
) -> set[ArrayValue]:
    """The values that are taken apart."""
    parents: dict[ArrayValue, ArrayValue] = {}

    def find(value: ArrayValue) -> ArrayValue:
        while parents[value] is not value:
            parents[value] = parents[parents[value]]
            value = parents[value]
        return value

    kinds: list[str | None] = []
    for instruction in instructions:
        kind = (
            kind_of(instruction) if any(len(x.shape) > 1 for x in (*instruction.values, *instruction.results)) else None
        )
        if kind == "rows" and instruction.values[1] not in rows:
            kind = None
        kinds.append(kind)
        if kind is None:
            continue
        (result,) = instruction.results
        operands = [x for i, x in enumerate(instruction.values) if x in parents and reads_columns(instruction, kind, i)]
        makes = is_short(result) and (
            kind in ("map", "part", "put") or (kind in ("view", "reduce") and instruction.values[0] in operands)
        )
        if kind == "map" and instruction.name in elementwise.HEAVY:
            makes = makes and result.shape[-1] <= NARROW  # many columns would be much code
        if kind == "reduce" and makes:
            makes = len(instruction.values[0].shape) - 1 not in reduced_axes(instruction)
        if kind == "put" and makes and instruction.name == WRITE:
            makes = instruction.values[1] in operands
        if makes:
            parents.setdefault(result, result)
            for x in operands:
                parents[find(x)] = find(result)
    groups: dict[ArrayValue, _Group] = {}
    for value in parents:
        group = groups.setdefault(find(value), _Group())
        group.values.append(value)
        group.size = max(group.size, math.prod(value.shape))
        group.widest = max(group.widest, value.shape[-1])
    wanted = set(outputs)
    for instruction, kind in zip(instructions, kinds, strict=True):
        for number, x in enumerate(instruction.values):
            if kind == "rows" and number == 1 and instruction.values[0] in parents:
                continue  # the numbers of the rows are read instead
            if x in parents and (kind is None or not reads_columns(instruction, kind, number)):
                groups[find(x)].wholes.add(x)
        table = instruction.params.get("table")
        if table in parents:
            groups[find(table)].wholes.add(table)
        if kind is not None:
            _count(instruction, kind, parents, lambda x: groups[find(x)])
    for value in wanted:
        if value in parents:
            groups[find(value)].wholes.add(value)
    return {value for group in groups.values() if group.is_worth_it() for value in group.values}


def _count(instruction: AnyInstruction, kind: str, parents: Any, group_of: Any) -> None:
    """Note what an instruction costs and gains if its group is taken apart."""
    (result,) = instruction.results
    makes = result in parents
    known = [x for x in instruction.values if x in parents]
    if not makes and not known:
        return
    group: _Group = group_of(result if makes else known[0])
    if makes:
        group.cost += result.shape[-1]
    if kind == "view":
        found = view_of_columns(instruction)
        group.helps |= found is None or found[2]  # a single column
    elif kind in ("put", "rows") or instruction.name == GATHER:
        group.helps = True
    elif kind == "reduce":
        group.helps |= not makes and reads_columns(instruction, kind, 0)
    for x in instruction.values if makes and kind in ("map", "put") else ():
        if x not in parents and x.shape and x.shape[-1] > 1 and kind == "map":
            group.leaves.add(x)
        group.helps |= kind == "map" and len(x.shape) > 0 and 1 < math.prod(x.shape) < math.prod(result.shape)
