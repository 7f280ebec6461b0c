"""Take short last axes apart: an array of shape (n, 3) becomes three arrays of shape (n,), its *columns*.

A loop nest whose inner loop has three iterations, or whose arrays are broadcast along it, computes little at a time.
With columns the long axis is the inner loop, sums over the short axis are additions in registers that end no nest, and
`x[:, 0]` is a column and not a view, for which the whole of x would have to be in memory. Columns of gathered rows
(`table[index][:, 4]`) are gathered by themselves, and gradients of columns are added to the rows of a table without an
array of all rows.

Values are taken apart in connected groups: along elementwise instructions, reductions, and views that leave the last
axis alone or take parts of it. What needs a whole array (an output, a call, another view) gets it in parts. Sums over
the short axis are added up in the order of `emit.reduction`.

Axes of up to `NARROW` elements are taken apart where that helps; longer ones, up to `LONGEST`, where the group reads
and leaves no array of the full size, since columns of it are not contiguous.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower.ir import (
    ADD_ROWS,
    CHECK_INDEX,
    CONSTANT,
    GATHER,
    PART,
    SCATTER_ADD,
    WRITE,
    AnyInstruction,
    AnyOperand,
    ArrayValue,
    LoweredInstruction,
    LoweredNumber,
    LoweredValue,
    is_value,
)

Index = tuple[Any, ...]
Shape = tuple[int, ...]

NARROW = 4
LONGEST = 16
SHORTEST = 16
"""Elements of a column from which on it is worth it."""
LARGEST = 1500
"""Instructions that a group may become."""
SUM_LANES = 32
"""Lanes in which a row is added up: see `emit.reduction`."""
ALL = slice(None)
REDUCED = frozenset({"sum", "mean", "max", "min", "prod"})
_COMBINING = {"sum": "add", "mean": "add", "max": "maximum", "min": "minimum", "prod": "multiply"}


class TakenApart(NamedTuple):
    """Instructions on columns, and which of their results are best stored before they are used."""

    instructions: list[AnyInstruction]
    copies: set[ArrayValue]  # columns of small arrays, which are not contiguous in these
    sums: set[ArrayValue]  # results of many instructions


def take_short_axes_apart(
    instructions: Sequence[AnyInstruction], outputs: Sequence[ArrayValue], rows: dict[ArrayValue, ArrayValue]
) -> TakenApart:
    """Replace groups of instructions on arrays with a short last axis by instructions on their columns.

    `rows` has for positions of rows of a table the numbers of these rows.
    """
    groups = _find_groups(instructions, outputs, rows)
    if not groups:
        return TakenApart(list(instructions), set(), set())
    return _Rewriter(instructions, outputs, rows, groups).run()


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


def _keeps_all(index: Any, shape: Shape) -> bool:
    """Whether an index takes all elements in order, and at most adds axes."""
    lengths = iter(shape)
    for part in index if isinstance(index, tuple) else (index,):
        if part is None or part is Ellipsis:
            continue
        if not _is_all(part, next(lengths)):
            return False
    return True


class _Access(NamedTuple):
    """How an index treats an array: what remains for each column, and which columns it takes."""

    rest: Index
    columns: list[int]
    is_single: bool  # an integer: the result has no last axis
    is_whole: bool  # all of the other axes, in order


def _access(index: Any, shape: Shape) -> _Access | None:
    full = _full_index(index, len(shape))
    if full is None:
        return None
    *rest, last = full
    single = isinstance(last, int)
    columns = [last % shape[-1]] if single else list(range(*last.indices(shape[-1])))
    lengths = iter(shape)
    whole = all(part is not None and _is_all(part, next(lengths)) for part in rest)
    return _Access(tuple(rest), columns, single, whole)


def _kind(instruction: AnyInstruction) -> str | None:
    """What an instruction is to columns; None if it needs whole arrays."""
    name, params = instruction.name, instruction.params
    if len(instruction.results) != 1 or instruction.effect or params.get("moving"):
        return None
    (result,) = instruction.results
    if name in (GATHER, CHECK_INDEX):
        return "map"
    if name == PART:
        access = _access(params["index"], result.shape)
        return "part" if access is not None and access.is_whole else None
    if name == SCATTER_ADD:
        return "rows"
    if name in ("scatter", WRITE):
        access = _access(params["index"], result.shape)
        if access is None:
            return None
        every = access.columns == list(range(result.shape[-1])) and not access.is_single
        if access.is_whole and not every:
            return "put"
        return "view" if every and name == "scatter" else None
    if name in REDUCED:
        return "reduce"
    if name in ("getitem", "reshape", "transpose"):
        return "view" if _view_of_columns(instruction) is not None else None
    if elementwise.supports(instruction):
        return "map"
    return None


def _view_of_columns(instruction: AnyInstruction) -> tuple[dict[str, Any], list[int], bool] | None:
    """The parameters of a view for each column, which columns it takes, and whether it takes a single one."""
    (operand,), (result,), params = instruction.values, instruction.results, instruction.params
    if not operand.shape:
        return None
    if instruction.name == "getitem":
        access = _access(params["index"], operand.shape)
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


def _axes(instruction: AnyInstruction) -> tuple[int, ...]:
    rank, axis = len(instruction.values[0].shape), instruction.params.get("axis")
    if axis is None:
        return tuple(range(rank))
    return tuple(sorted(a % rank for a in ((axis,) if isinstance(axis, int) else axis)))


def _reads_columns(instruction: AnyInstruction, kind: str, number: int) -> bool:
    """Whether an instruction can use the columns of its operand of that number."""
    if kind == "reduce":
        axes, last = _axes(instruction), len(instruction.values[0].shape) - 1
        return axes == (last,) or (bool(axes) and last not in axes)
    return kind in ("map", "view") or (kind in ("rows", "part") and number == 0) or (kind == "put" and number < 2)


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
            _kind(instruction) if any(len(x.shape) > 1 for x in (*instruction.values, *instruction.results)) else None
        )
        if kind == "rows" and instruction.values[1] not in rows:
            kind = None
        kinds.append(kind)
        if kind is None:
            continue
        (result,) = instruction.results
        operands = [
            x for i, x in enumerate(instruction.values) if x in parents and _reads_columns(instruction, kind, i)
        ]
        makes = is_short(result) and (
            kind in ("map", "part", "put") or (kind in ("view", "reduce") and instruction.values[0] in operands)
        )
        if kind == "map" and instruction.name in elementwise.HEAVY:
            makes = makes and result.shape[-1] <= NARROW  # many columns would be much code
        if kind == "reduce" and makes:
            makes = len(instruction.values[0].shape) - 1 not in _axes(instruction)
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
            if x in parents and (kind is None or not _reads_columns(instruction, kind, number)):
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
        found = _view_of_columns(instruction)
        group.helps |= found is None or found[2]  # a single column
    elif kind in ("put", "rows") or instruction.name == GATHER:
        group.helps = True
    elif kind == "reduce":
        group.helps |= not makes and _reads_columns(instruction, kind, 0)
    for x in instruction.values if makes and kind in ("map", "put") else ():
        if x not in parents and x.shape and x.shape[-1] > 1 and kind == "map":
            group.leaves.add(x)
        group.helps |= kind == "map" and len(x.shape) > 0 and 1 < math.prod(x.shape) < math.prod(result.shape)


class _Rewriter:
    """Writes the instructions on columns."""

    def __init__(
        self,
        instructions: Sequence[AnyInstruction],
        outputs: Sequence[ArrayValue],
        rows: dict[ArrayValue, ArrayValue],
        apart: set[ArrayValue],
    ) -> None:
        self.instructions, self.rows, self.apart = instructions, rows, apart
        self.outputs = set(outputs)
        self.made: list[AnyInstruction] = []
        self.columns: dict[ArrayValue, list[AnyOperand | None]] = {}
        self.same: dict[ArrayValue, ArrayValue] = {}  # value -> column that it is
        self.leaves: dict[tuple[ArrayValue, int], ArrayValue] = {}
        self.makers = {result: i for i in instructions for result in i.results}
        self.arrays: dict[ArrayValue, np.ndarray[Any, Any]] = {
            i.results[0]: i.params["array"] for i in instructions if i.name == CONSTANT
        }
        self.whole: set[ArrayValue] = set()
        self.copies: set[ArrayValue] = set()
        self.sums: set[ArrayValue] = set()

    def run(self) -> TakenApart:
        """All instructions, without those that nothing uses any more."""
        for instruction in self.instructions:
            kind = _kind(instruction)
            if kind == "rows" and instruction.values[1] not in self.rows:
                kind = None
            if not self.rewrite(instruction, kind):
                self.keep(instruction)
        for value in self.outputs:
            self.provide(value)
        return TakenApart(self._drop_unused(), self.copies, self.sums)

    def _drop_unused(self) -> list[AnyInstruction]:
        used: set[ArrayValue] = set(self.outputs)
        kept: list[AnyInstruction] = []
        for instruction in reversed(self.made):
            if instruction.effect or not instruction.results or any(result in used for result in instruction.results):
                kept.append(instruction)
                used.update(instruction.values)
                if instruction.params.get("table") is not None:
                    used.add(instruction.params["table"])
        return kept[::-1]

    # -- values

    def write(
        self,
        name: str,
        operands: Sequence[AnyOperand],
        shape: Shape,
        dtype: np.dtype[Any],
        params: dict[str, Any] | None = None,
    ) -> LoweredValue:
        """A new instruction; its result."""
        result = LoweredValue(shape, dtype)
        self.made.append(LoweredInstruction(tuple(operands), (result,), name, params or {}, TABLE.get(name)))
        return result

    def keep(self, instruction: AnyInstruction) -> None:
        """An instruction as it was, on whole arrays."""
        for x in instruction.values:
            self.provide(x)
        params, table = instruction.params, instruction.params.get("table")
        if table is not None:
            self.provide(table)
            params = {**params, "table": self.same.get(table, table)}
        if any(x in self.same for x in instruction.values) or table in self.same:
            operands = tuple([self.same.get(x, x) if is_value(x) else x for x in instruction.operands])
            instruction = LoweredInstruction(
                operands, instruction.results, instruction.name, params, instruction.op, instruction.effect
            )
        self.made.append(instruction)

    def provide(self, value: ArrayValue) -> None:
        """Write a value that was taken apart as a whole, in parts, once; an output that is a column, as a copy."""
        if value in self.whole:
            return
        if value in self.same:
            if value in self.outputs:
                self.whole.add(value)
                self.made.append(LoweredInstruction((self.same[value],), (value,), "positive", {}, TABLE["positive"]))
            return
        columns = self.columns.get(value)
        if columns is None:
            return
        self.whole.add(value)
        ahead = [ALL] * (len(value.shape) - 1)
        for number, column in enumerate(columns):
            part = self.as_array(column, value.shape[:-1], value.dtype)
            self.made.append(LoweredInstruction((part,), (value,), PART, {"index": (*ahead, number)}))

    def as_array(self, column: AnyOperand | None, shape: Shape, dtype: np.dtype[Any]) -> ArrayValue:
        """A column as an array of the full shape."""
        assert column is not None
        if not is_value(column):
            constant: ArrayValue = LoweredValue((), dtype)
            array = np.asarray(column.value, dtype)
            self.made.append(LoweredInstruction((), (constant,), CONSTANT, {"array": array}))
            column = constant
        if column.shape != shape:
            column = self.write("broadcast_to", (column,), shape, dtype, {"shape": shape})
        return column

    def column(self, operand: AnyOperand, number: int, whole: Shape) -> AnyOperand:
        """A column of an operand of an instruction whose result has the shape `whole`."""
        if not is_value(operand):
            return operand
        operand = self.same.get(operand, operand)
        if not operand.shape:
            return operand
        number = number if operand.shape[-1] > 1 else 0
        found = self.columns.get(operand)
        if found is not None:
            column = found[number]
            assert column is not None
            return column
        array = self.arrays.get(operand)
        if array is not None and array.size == operand.shape[-1] and array.dtype == np.dtype(np.int64):
            return LoweredNumber(array.reshape(-1)[number].item())
        if operand.shape[-1] == 1:
            source = self._without_last(operand)
            if source is not None:
                return source
        return self.leaf(operand, number, whole)

    def _without_last(self, value: ArrayValue) -> AnyOperand | None:
        """A value without its last axis, which has length 1, computed like that; None if it has to be a view."""
        maker = self.makers.get(value)
        if maker is None:
            return None
        if _kind(maker) == "map" and maker.name not in elementwise.HEAVY and maker.name != GATHER:
            operands = tuple([self.column(x, 0, value.shape) for x in maker.operands])
            params = {**maker.params, "shape": value.shape[:-1]} if "shape" in maker.params else maker.params
            column = self.map_column(maker, operands, params, value.shape[:-1])
            self.columns[value] = [column]
            self.whole.add(value)  # it is also computed as it was
            return column
        if maker.name not in ("getitem", "reshape") or (*maker.values[0].shape, 1) != value.shape:
            return None
        (source,) = maker.values
        if maker.name == "getitem" and not _keeps_all(maker.params["index"], source.shape):
            return None
        return None if source in self.columns else self.same.get(source, source)

    def leaf(self, value: ArrayValue, number: int, whole: Shape) -> ArrayValue:
        """A column of a value in memory. Columns of small arrays are copied: each is read many times."""
        key = value, number
        if key not in self.leaves:
            shape = value.shape[:-1]
            index = (*[ALL] * len(shape), number)
            found = self.write("getitem", (value,), shape, value.dtype, {"index": index})
            if value.shape[-1] > 1 and shape and shape[-1] > 1 and math.prod(value.shape) * 4 <= math.prod(whole):
                found = self.write("positive", (found,), shape, value.dtype)
                self.copies.add(found)
            self.leaves[key] = found
        return self.leaves[key]

    # -- instructions

    def rewrite(self, instruction: AnyInstruction, kind: str | None) -> bool:
        """Write an instruction on columns; False if it is one of whole arrays."""
        if self._rewrite_single(instruction):
            return True
        if kind is None:
            return False
        (result,) = instruction.results
        if kind == "map":
            return result in self.apart and self.rewrite_map(instruction)
        if kind == "part":
            return result in self.apart and self.rewrite_part(instruction)
        if kind == "put":
            return result in self.apart and self.rewrite_put(instruction)
        source = self.same.get(instruction.values[0], instruction.values[0])
        if kind == "rows":
            return source in self.columns and self.rewrite_rows(instruction, self.columns[source])
        if kind == "reduce":
            return source in self.columns and self.rewrite_reduction(instruction, source)
        return self.rewrite_view(instruction, source)

    def _rewrite_single(self, instruction: AnyInstruction) -> bool:
        """An instruction that takes a last axis of length 1 away from a sum that kept it."""
        if instruction.name not in ("scatter", "reshape") or instruction.params.get("moving"):
            return False
        (source,), (result,) = instruction.values, instruction.results
        columns = self.columns.get(source)
        if columns is None or len(columns) != 1 or source.shape != (*result.shape, 1):
            return False
        if instruction.name == "scatter" and not _keeps_all(instruction.params["index"], result.shape):
            return False
        self.same[result] = self.as_array(columns[0], result.shape, result.dtype)
        return True

    def rewrite_map(self, instruction: AnyInstruction) -> bool:
        (result,) = instruction.results
        shape = result.shape[:-1]
        params = {**instruction.params, "shape": shape} if "shape" in instruction.params else instruction.params
        if params.get("table") is not None:
            self.provide(params["table"])
            params = {**params, "table": self.same.get(params["table"], params["table"])}
        seen: dict[Any, AnyOperand] = {}
        columns: list[AnyOperand | None] = []
        for number in range(result.shape[-1]):
            operands = tuple([self.column(x, number, result.shape) for x in instruction.operands])
            key = tuple([x if is_value(x) else ("number", repr(x.value)) for x in operands])
            if key not in seen:
                seen[key] = self.map_column(instruction, operands, params, shape)
            columns.append(seen[key])
        self.columns[result] = columns
        return True

    def map_column(
        self, instruction: AnyInstruction, operands: tuple[AnyOperand, ...], params: dict[str, Any], shape: Shape
    ) -> AnyOperand:
        """One column of the result of an elementwise instruction."""
        dtype = instruction.results[0].dtype
        if instruction.name == "add":  # what is put into columns of zeros is not added to these
            for one, other in (operands, operands[::-1]):
                if isinstance(one, _Zero) and is_value(other) and other.dtype == dtype and other.shape == shape:
                    return other
            if all(isinstance(x, _Zero) for x in operands):
                return operands[0]
        # a number in the place of an array has no dtype: it is one where the dtype is known to be that of the result
        numbers = instruction.name in ("add", "subtract", "multiply") and any(is_value(x) for x in operands)
        given = []
        for x, before in zip(operands, instruction.operands, strict=True):
            if is_value(before) and not is_value(x):
                x = LoweredNumber(x.value) if numbers and before.dtype == dtype else self.as_array(x, (), before.dtype)
            given.append(x)
        operands = tuple(given)
        found = LoweredValue(shape if "shape" in params else self._broadcast(operands, shape), dtype)
        self.made.append(LoweredInstruction(operands, (found,), instruction.name, params, instruction.op))
        return found

    @staticmethod
    def _broadcast(operands: tuple[AnyOperand, ...], shape: Shape) -> Shape:
        """The shape of what operands give: columns are not larger than they have to be."""
        return np.broadcast_shapes(*[x.shape for x in operands if is_value(x)])

    def rewrite_part(self, instruction: AnyInstruction) -> bool:
        """A part of an array that is joined along the last axis."""
        (operand,), (result,) = instruction.values, instruction.results
        access = _access(instruction.params["index"], result.shape)
        assert access is not None
        columns = self.columns.setdefault(result, [None] * result.shape[-1])
        for i, number in enumerate(access.columns):
            same = self.same.get(operand, operand)
            columns[number] = same if access.is_single else self.column(operand, i, result.shape)
        return True

    def rewrite_put(self, instruction: AnyInstruction) -> bool:
        """A scatter to columns of zeros, or a write to columns of another array."""
        (result,) = instruction.results
        access = _access(instruction.params["index"], result.shape)
        assert access is not None
        new = instruction.values[0]
        if instruction.name == WRITE:
            base = instruction.values[1]
            columns = [self.column(base, i, result.shape) for i in range(result.shape[-1])]
        else:
            columns = [_Zero(result.dtype.type(0).item()) for _ in range(result.shape[-1])]
        for i, number in enumerate(access.columns):
            self_new = self.same.get(new, new)
            columns[number] = self_new if access.is_single else self.column(new, i, result.shape)
        self.columns[result] = list(columns)
        return True

    def rewrite_view(self, instruction: AnyInstruction, source: ArrayValue) -> bool:
        """A view that takes columns, or is one of each column."""
        (result,) = instruction.results
        if instruction.name == "scatter":
            return self._rewrite_scatter(instruction, source)
        known = self.columns.get(source)
        if known is None:
            return False
        found = _view_of_columns(instruction)
        assert found is not None
        params, numbers, single = found
        access = _access(params["index"] + (ALL,), source.shape) if "index" in params else None
        plain = access is not None and access.is_whole
        if not single and not (is_short(result) and result in self.apart):
            return False
        columns: list[AnyOperand | None] = []
        for number in numbers:
            column = known[number]
            assert column is not None
            if not plain:
                whole = self.as_array(column, source.shape[:-1], source.dtype)
                shape = result.shape if single else result.shape[:-1]
                column = self.write(instruction.name, (whole,), shape, result.dtype, params)
            columns.append(column)
        if not single:
            self.columns[result] = columns
            return True
        self.same[result] = self.as_array(columns[0], result.shape, result.dtype)
        return True

    def _rewrite_scatter(self, instruction: AnyInstruction, source: ArrayValue) -> bool:
        """A scatter that leaves the last axis alone."""
        (result,) = instruction.results
        known = self.columns.get(source)
        if known is None or result not in self.apart:
            return False
        access = _access(instruction.params["index"], result.shape)
        assert access is not None
        columns: list[AnyOperand | None] = []
        for column in known:
            whole = self.as_array(column, source.shape[:-1], source.dtype)
            columns.append(self.write("scatter", (whole,), result.shape[:-1], result.dtype, {"index": access.rest}))
        self.columns[result] = columns
        return True

    def rewrite_rows(self, instruction: AnyInstruction, columns: list[AnyOperand | None]) -> bool:
        """Columns that are added to rows of a table."""
        given, positions, *base = instruction.values
        if not instruction.params["adds"] or base:
            return False
        numbers = [i for i, column in enumerate(columns) if not isinstance(column, _Zero)]
        arrays = [self.as_array(columns[i], given.shape[:-1], given.dtype) for i in numbers]
        index = self.rows[positions]
        index = self.same.get(index, index)
        params = {"columns": tuple(numbers), "width": given.shape[-1]}
        self.made.append(LoweredInstruction((*arrays, index), instruction.results, ADD_ROWS, params))
        return True

    def rewrite_reduction(self, instruction: AnyInstruction, source: ArrayValue) -> bool:
        (result,) = instruction.results
        axes, last = _axes(instruction), len(source.shape) - 1
        keep = instruction.params.get("keepdims", False)
        columns = self.columns[source]
        if axes != (last,):
            if last in axes or not axes or result not in self.apart:
                return False
            made: list[AnyOperand | None] = []
            for column in columns:
                whole = self.as_array(column, source.shape[:-1], source.dtype)
                params = {"axis": axes, "keepdims": keep}
                made.append(self.write(instruction.name, (whole,), result.shape[:-1], result.dtype, params))
            self.columns[result] = made
            return True
        total = self._add_up(instruction, source, columns)
        if keep:
            self.columns[result] = [total]
        else:
            self.same[result] = total
        return True

    def _add_up(
        self, instruction: AnyInstruction, source: ArrayValue, columns: Sequence[AnyOperand | None]
    ) -> ArrayValue:
        """The reduction of all columns, in the order in which a row is added up in lanes."""
        (result,) = instruction.results
        shape = source.shape[:-1]
        wide = result.dtype.kind == "f" and instruction.name in ("sum", "mean", "prod")
        dtype = np.dtype(np.float64) if wide else result.dtype
        terms = [self.as_array(column, shape, source.dtype) for column in columns]
        if source.dtype != dtype:
            terms = [self.write("astype", (x,), shape, dtype, {"dtype": dtype}) for x in terms]
        lanes = 1 << (min(SUM_LANES, len(terms)).bit_length() - 1)
        name = _COMBINING[instruction.name]
        for i in range(lanes, len(terms)):
            terms[i % lanes] = self.write(name, (terms[i % lanes], terms[i]), shape, dtype)
        terms = terms[:lanes]
        while len(terms) > 1:
            half = len(terms) // 2
            terms = [self.write(name, (terms[i], terms[i + half]), shape, dtype) for i in range(half)]
        (total,) = terms
        if instruction.name == "mean":
            total = self.write("divide", (total, LoweredNumber(float(len(columns)))), shape, dtype)
        if dtype != result.dtype:
            total = self.write("astype", (total,), shape, result.dtype, {"dtype": result.dtype})
        self.sums.add(total)
        return total


class _Zero(LoweredNumber):
    """The column of zeros around what a scatter puts into an array."""
