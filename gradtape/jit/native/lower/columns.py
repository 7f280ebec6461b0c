"""The instructions on the columns of arrays that `short_axes` takes apart.

A column is an array without the last axis, or a number; columns of a value that was not taken apart are views of it.
Whole arrays are put together in parts where something needs them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower.column_access import (
    ALL,
    Shape,
    find_access,
    is_short,
    keeps_all,
    kind_of,
    reduced_axes,
    view_of_columns,
)
from gradtape.jit.native.lower.ir import (
    ADD_ROWS,
    CONSTANT,
    GATHER,
    PART,
    WRITE,
    AnyInstruction,
    AnyOperand,
    ArrayValue,
    LoweredInstruction,
    LoweredNumber,
    LoweredValue,
    is_value,
)

SUM_LANES = 32
"""Lanes in which a row is added up: see `emit.reduction`."""
_COMBINING = {"sum": "add", "mean": "add", "max": "maximum", "min": "minimum", "prod": "multiply"}


class TakenApart(NamedTuple):
    """Instructions on columns, and which of their results are best stored before they are used."""

    instructions: list[AnyInstruction]
    copies: set[ArrayValue]  # columns of small arrays, which are not contiguous in these
    sums: set[ArrayValue]  # results of many instructions


class _Zero(LoweredNumber):
    """The column of zeros around what a scatter puts into an array."""


class ColumnRewriter:
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
            kind = kind_of(instruction)
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

    def as_whole(self, value: ArrayValue) -> ArrayValue:
        """A value that becomes one column of another one: if it was taken apart itself, it is put together."""
        self.provide(value)
        return self.same.get(value, value)

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
        if kind_of(maker) == "map" and maker.name not in elementwise.HEAVY and maker.name != GATHER:
            operands = tuple([self.column(x, 0, value.shape) for x in maker.operands])
            params = {**maker.params, "shape": value.shape[:-1]} if "shape" in maker.params else maker.params
            column = self.map_column(maker, operands, params, value.shape[:-1])
            self.columns[value] = [column]
            self.whole.add(value)  # it is also computed as it was
            return column
        if maker.name not in ("getitem", "reshape") or (*maker.values[0].shape, 1) != value.shape:
            return None
        (source,) = maker.values
        if maker.name == "getitem" and not keeps_all(maker.params["index"], source.shape):
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
        if instruction.name == "scatter" and not keeps_all(instruction.params["index"], result.shape):
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
        access = find_access(instruction.params["index"], result.shape)
        assert access is not None
        columns = self.columns.setdefault(result, [None] * result.shape[-1])
        for i, number in enumerate(access.columns):
            columns[number] = self.as_whole(operand) if access.is_single else self.column(operand, i, result.shape)
        return True

    def rewrite_put(self, instruction: AnyInstruction) -> bool:
        """A scatter to columns of zeros, or a write to columns of another array."""
        (result,) = instruction.results
        access = find_access(instruction.params["index"], result.shape)
        assert access is not None
        new = instruction.values[0]
        if instruction.name == WRITE:
            base = instruction.values[1]
            columns = [self.column(base, i, result.shape) for i in range(result.shape[-1])]
        else:
            columns = [_Zero(result.dtype.type(0).item()) for _ in range(result.shape[-1])]
        for i, number in enumerate(access.columns):
            columns[number] = self.as_whole(new) if access.is_single else self.column(new, i, result.shape)
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
        found = view_of_columns(instruction)
        assert found is not None
        params, numbers, single = found
        access = find_access(params["index"] + (ALL,), source.shape) if "index" in params else None
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
        access = find_access(instruction.params["index"], result.shape)
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
        axes, last = reduced_axes(instruction), len(source.shape) - 1
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
