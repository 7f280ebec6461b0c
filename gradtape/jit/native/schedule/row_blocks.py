"""Blocks of rows: instructions on arrays with one row for each point, computed for some points at a time.

A sum over the distances of n points to k others in d dimensions goes through arrays of shape (n, k, d) in several nests
and products, each from memory to memory. What has the same first axis, the *rows*, and needs nothing from other rows is
computed for a block of rows instead, and all of it for one block before the next: intermediate arrays are as large as a
block and stay in the cache, and threads share the blocks. Sums over the rows are added up from block to block.

In a block the axis of the rows is the last one. So loops over it are long and contiguous, sums over the other axes are
additions of vectors, and products of small matrices have vectors along the rows. Inputs and outputs with rows have to
be transposed, and are much smaller than what is computed from them.

Inside of a block the same is done along what is then the first axis, where products are: for one index of it at a time,
as it is laid out, so that a product, what it is made of and what is made of it stay in the first cache.

Sums over rows depend on the shapes alone: on the length of a block, and on how many blocks are added up by one thread.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower import matmul
from gradtape.jit.native.lower.column_access import reduced_axes
from gradtape.jit.native.lower.ir import (
    AnyInstruction,
    ArrayValue,
    LoweredInstruction,
    LoweredValue,
    is_value,
    values_read,
)

Shape = tuple[int, ...]

ROW_BLOCKS = "row blocks"
LARGE = 1 << 16
"""Elements of an array from which on it is worth it."""
SMALLER = 4
"""How many times smaller than what is computed the inputs and outputs with rows have to be."""
FEWEST_ROWS = 128
SHORTEST, LONGEST = 32, 256
CACHED = 1 << 18  # bytes of the largest array of a block
LANES = 8
CHEAP = 3
"""Instructions from which on a value is stored rather than computed again."""
TWO_LENGTHS = 1.1  # how much better blocks of two lengths have to be, for which more code is compiled
UNITS = ((1 << 19, 8), (1 << 21, 4))  # bytes for each unit, and how many units there are
_REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod", "all", "any"})
_DOUBLE = np.dtype(np.float64)
_ADDED = ("sum", "product sum")
"""What is done to rows that are added up: these results have no rows."""
_ALL = slice(None)


@dataclasses.dataclass(eq=False)
class RowBlock:
    """The instructions for a block of `length` rows.

    `rows` are the inputs and outputs of which a block has its own part, `sums` the outputs that are added up, and
    `copies` the inputs after their axes were put in order, which are stored.
    """

    length: int
    instructions: tuple[LoweredInstruction, ...]
    inputs: tuple[LoweredValue, ...]
    outputs: tuple[LoweredValue, ...]
    rows: frozenset[LoweredValue]
    sums: frozenset[LoweredValue]
    copies: frozenset[LoweredValue]


@dataclasses.dataclass(eq=False)
class RowBlocks:
    """All rows: `count` blocks as the first body has them, and one as each other body; divided into units."""

    count: int
    bodies: tuple[RowBlock, ...]
    most_units: int


def divide_into_row_blocks(
    instructions: Sequence[AnyInstruction], outputs: Iterable[ArrayValue]
) -> list[AnyInstruction]:
    """Replace instructions on large arrays with one row for each point by one that computes them in blocks."""
    wanted = set(outputs)
    rows = _find_rows(instructions)
    if rows is None:
        return list(instructions)
    found = _Region(rows, True).partition(instructions, wanted)
    if found is None or not _is_worth_it(found, rows):
        return list(instructions)
    return [*found.before, _build_blocks(found, rows), *found.after]


def _find_rows(instructions: Sequence[AnyInstruction]) -> int | None:
    """The length of the first axis of the largest array that is multiplied or reduced."""
    large = [
        x.shape
        for instruction in instructions
        if instruction.name in _REDUCTIONS or instruction.name == matmul.EINSUM
        for x in instruction.values
        if len(x.shape) > 1 and x.shape[0] >= FEWEST_ROWS and math.prod(x.shape) >= LARGE
    ]
    return max(large, key=math.prod)[0] if large else None


class Part(NamedTuple):
    """A partition of instructions: before, in blocks, and after; and which values of the blocks are needed outside."""

    before: list[AnyInstruction]
    members: list[AnyInstruction]
    after: list[AnyInstruction]
    outputs: list[ArrayValue]
    roles: dict[AnyInstruction, str]


class _Region:
    """Finds the instructions that can be computed for some rows at a time, and rewrites them for a block."""

    def __init__(self, rows: int, moved: bool) -> None:
        self.rows, self.moved = rows, moved
        self.inside: set[ArrayValue] = set()

    # -- which instructions

    def has_rows(self, value: ArrayValue, rank: int) -> bool:
        return len(value.shape) == rank and value.shape[0] == self.rows

    def role(self, instruction: AnyInstruction) -> str | None:
        """What an instruction does with rows; None if it has none, or needs several of them at once."""
        if len(instruction.results) != 1 or instruction.effect or not instruction.values:
            return None
        name, (result,) = instruction.name, instruction.results
        if name == matmul.EINSUM:
            return self._role_of_product(instruction)
        first = instruction.values[0]
        if name in _REDUCTIONS:
            if not first.shape or not self.has_rows(first, len(first.shape)):
                return None
            axes = reduced_axes(instruction)
            if axes and 0 not in axes:
                return "reduce"
            plain = name == "sum" and first.dtype == result.dtype == _DOUBLE
            return "sum" if self.moved and axes == (0,) and plain else None
        if name in ("getitem", "reshape", "transpose"):
            kept = first.shape and result.shape and self.rows == first.shape[0] == result.shape[0]
            return "view" if kept and self._keeps_rows(instruction) else None
        if not result.shape or result.shape[0] != self.rows or not elementwise.supports(instruction):
            return None
        rank = len(result.shape)
        if any(x in self.inside and not self.has_rows(x, rank) for x in instruction.values):
            return None
        return "map" if any(self.has_rows(x, rank) for x in instruction.values) else None

    def _keeps_rows(self, instruction: AnyInstruction) -> bool:
        params = instruction.params
        if instruction.name == "reshape":
            return True
        if instruction.name == "transpose":
            rank = len(instruction.values[0].shape)
            axes = params.get("axes")
            return axes is not None and axes[0] % rank == 0
        index = params["index"] if isinstance(params["index"], tuple) else (params["index"],)
        basic = all(part is None or (isinstance(part, int | slice) and not isinstance(part, bool)) for part in index)
        return (
            bool(index) and basic and isinstance(index[0], slice) and index[0].indices(self.rows) == (0, self.rows, 1)
        )

    def _role_of_product(self, instruction: AnyInstruction) -> str | None:
        form, (result,) = matmul.form(instruction), instruction.results
        if form is None or result.dtype != _DOUBLE or any(x.dtype != _DOUBLE for x in instruction.values):
            return None
        if not form.pairs or not matmul.is_blocked(instruction, form):
            return None
        labels = self._labels(instruction)
        first = labels[0][0] if instruction.values[0].shape[0] == self.rows else labels[1][0]
        for given, value in zip(labels, (*instruction.values, result), strict=True):
            if first in given and (given[0] != first or value.shape[0] != self.rows):
                return None
            if first not in given and value in self.inside:
                return None
        if first in labels[2]:
            return "product"
        return "product sum" if self.moved and first in labels[0] and first in labels[1] else None

    def _labels(self, instruction: AnyInstruction) -> list[str]:
        given, out = instruction.params["subscripts"].replace(" ", "").split("->")
        return [*given.split(","), out]

    def partition(
        self, instructions: Sequence[AnyInstruction], wanted: set[ArrayValue], goal: AnyInstruction | None = None
    ) -> Part | None:
        """Divide instructions into those before the blocks, in them, and after them; None if there are none.

        With a `goal`, what it needs from all rows at once is before the blocks, with all that leads to that.
        """
        early = self._find_early(instructions, goal)
        before: list[AnyInstruction] = []
        members: list[AnyInstruction] = []
        after: list[AnyInstruction] = []
        behind: set[ArrayValue] = set()
        roles: dict[AnyInstruction, str] = {}
        for instruction in instructions:
            needs = values_read(instruction)
            role = None if instruction in early or any(x in behind for x in needs) else self.role(instruction)
            if role is not None:
                members.append(instruction)
                roles[instruction] = role
                (behind if role in _ADDED else self.inside).update(instruction.results)
            elif any(x in behind or x in self.inside for x in needs):
                after.append(instruction)
                behind.update(instruction.results)
            else:
                before.append(instruction)
        # what no other member reads is better computed with those that read it
        used: set[ArrayValue] = set()
        kept: list[AnyInstruction] = []
        for instruction in reversed(members):
            if roles[instruction] in ("map", "view") and instruction.results[0] not in used:
                after.insert(0, instruction)
                continue
            kept.append(instruction)
            used.update(instruction.values)
        members = kept[::-1]
        made = {result for instruction in members for result in instruction.results}
        read = {*wanted, *(x for instruction in after for x in values_read(instruction))}
        cheap: dict[ArrayValue, int] = {}  # what is computed again rather than stored -> by how many instructions
        for instruction in members:
            if roles[instruction] in ("map", "view") and instruction.name not in elementwise.HEAVY:
                own = [x for x in instruction.values if x in made]
                cost = sum(cheap.get(x, CHEAP) for x in own) + (roles[instruction] == "map")
                if cost <= CHEAP - 1:
                    cheap[instruction.results[0]] = cost
        outputs: list[ArrayValue] = []
        for instruction in reversed(members):
            (result,) = instruction.results
            if result not in read:
                continue
            if result in cheap:
                after.insert(0, instruction)
                read.update(instruction.values)
            else:
                outputs.append(result)
        return Part(before, members, after, outputs[::-1], roles) if members else None

    def _find_early(self, instructions: Sequence[AnyInstruction], goal: AnyInstruction | None) -> set[AnyInstruction]:
        """What is needed by instructions that the goal needs and that are not computed row by row."""
        if goal is None:
            return set()
        needed: set[ArrayValue] = set(goal.values)
        early_values: set[ArrayValue] = set()
        early: set[AnyInstruction] = set()
        for instruction in reversed(instructions):
            results = set(instruction.results)
            if results & early_values or (results & needed and self.role(instruction) is None):
                early.add(instruction)
                early_values.update(values_read(instruction))
            if results & needed:
                needed.update(values_read(instruction))
        return early

    # -- instructions for a block

    def build(self, part: Part, length: int) -> tuple[RowBlock, list[ArrayValue]]:
        """The instructions of a block, and the values outside that are its inputs."""
        self.length = length
        self.written: list[LoweredInstruction] = []
        self.names: dict[tuple[ArrayValue, bool], LoweredValue] = {}
        self.inputs: dict[LoweredValue, ArrayValue] = {}
        self.with_rows: set[LoweredValue] = set()
        self.copies: set[LoweredValue] = set()
        sums: set[LoweredValue] = set()
        outputs: list[LoweredValue] = []
        for instruction in part.members:
            self._rewrite(instruction, part.roles[instruction])
        for value in part.outputs:
            role = next(part.roles[i] for i in part.members if i.results[0] is value)
            found = self.names[value, role not in _ADDED]
            if role in _ADDED:
                sums.add(found)
            else:
                found = self._as_rows(found, value)
                self.with_rows.add(found)
            outputs.append(found)
        made: list[AnyInstruction] = list(self.written)
        if self.moved:
            made = _fuse_first_axis(made, set(outputs))
        block = RowBlock(
            length,
            tuple(made),  # type: ignore[arg-type]
            tuple(self.inputs),
            tuple(outputs),
            frozenset(self.with_rows),
            frozenset(sums),
            frozenset(self.copies),
        )
        return block, list(self.inputs.values())

    def block_shape(self, shape: Shape) -> Shape:
        """The shape that an array with rows has in a block."""
        return (*shape[1:], self.length) if self.moved else tuple(shape[1:])

    def write(
        self, name: str, operands: Sequence[Any], shape: Shape, dtype: Any, op: Any = None, /, **params: Any
    ) -> Any:
        result = LoweredValue(shape, dtype)
        self.written.append(LoweredInstruction(tuple(operands), (result,), name, params, op or TABLE.get(name)))
        return result

    def _as_rows(self, value: LoweredValue, outside: ArrayValue) -> LoweredValue:
        """An output, with its axes in the order that they have outside."""
        if not self.moved or len(outside.shape) == 1:
            return value
        rank = len(outside.shape)
        turned = (self.length, *outside.shape[1:])
        found = self.write("transpose", (value,), turned, value.dtype, axes=(rank - 1, *range(rank - 1)))
        return self.write("positive", (found,), turned, value.dtype)  # type: ignore[no-any-return]

    def _operand(self, value: ArrayValue, has_rows: bool) -> LoweredValue:
        """What a value is called in the block: an input, unless it is computed in it."""
        key = value, has_rows
        if key in self.names:
            return self.names[key]
        shape = value.shape
        if has_rows:
            shape = (self.length, *value.shape[1:]) if self.moved else value.shape[1:]
        found = LoweredValue(tuple(shape), value.dtype)
        self.inputs[found] = value
        if has_rows:
            self.with_rows.add(found)
            if self.moved and len(shape) > 1:
                axes = (*range(1, len(shape)), 0)
                turned = self.write("transpose", (found,), self.block_shape(value.shape), value.dtype, axes=axes)
                found = self.write("positive", (turned,), turned.shape, value.dtype)
                self.copies.add(found)
        self.names[key] = found
        return found

    def _beside_rows(self, value: ArrayValue, rank: int) -> LoweredValue:
        """An operand without rows of an elementwise instruction whose result has `rank` axes, rows included."""
        found = self._operand(value, False)
        shape = value.shape[1:] if len(value.shape) == rank else value.shape
        if self.moved and shape:
            shape = (*shape, 1)
        if tuple(shape) == found.shape or not found.shape:
            return found
        return self.write("reshape", (found,), tuple(shape), value.dtype, shape=tuple(shape))  # type: ignore[no-any-return]

    def _rewrite(self, instruction: AnyInstruction, role: str) -> None:
        (result,), name = instruction.results, instruction.name
        params: dict[str, Any] = dict(instruction.params)
        rank = len(result.shape)
        shape = self.block_shape(result.shape)
        operands: list[Any] = []
        if role == "map":
            for x in instruction.operands:
                if not is_value(x):
                    operands.append(x)
                elif self.has_rows(x, rank):
                    operands.append(self._operand(x, True))
                else:
                    operands.append(self._beside_rows(x, rank))
            if "shape" in params:
                params["shape"] = shape
        elif role == "view":
            (x,) = instruction.values
            operands = [self._operand(x, True)]
            params = self._view_params(instruction, shape)
        elif role in ("reduce", "sum"):
            (x,) = instruction.values
            operands = [self._operand(x, True)]
            if role == "sum":
                shape = tuple(x.shape[1:])
                params = {"axis": (len(shape),), "keepdims": False}
            else:
                keep = bool(params.get("keepdims", False))
                params = {"axis": tuple(axis - 1 for axis in reduced_axes(instruction)), "keepdims": keep}
        else:
            labels = self._labels(instruction)
            first = labels[0][0] if instruction.values[0].shape[0] == self.rows else labels[1][0]
            operands = [self._operand(x, first in given) for x, given in zip(instruction.values, labels, strict=False)]
            last = first if self.moved else ""
            new = [f"{part.replace(first, '')}{last}" if first in part else part for part in labels]
            params = {"subscripts": f"{new[0]},{new[1]}->{new[2]}", "blocked": True}
            if role == "product sum":
                shape = tuple(result.shape)
        found = self.write(name, operands, shape, result.dtype, instruction.op, **params)
        self.names[result, role not in _ADDED] = found

    def _view_params(self, instruction: AnyInstruction, shape: Shape) -> dict[str, Any]:
        (x,), params = instruction.values, instruction.params
        if instruction.name == "reshape":
            return {"shape": shape}
        last = (len(x.shape) - 1,) if self.moved else ()
        if instruction.name == "transpose":
            axes = [axis % len(x.shape) for axis in params["axes"]]
            return {"axes": (*(axis - 1 for axis in axes[1:]), *last)}
        index = params["index"] if isinstance(params["index"], tuple) else (params["index"],)
        missing = len(x.shape) - sum(part is not None for part in index)
        return {"index": (*index[1:], *[_ALL] * (missing + self.moved))}


def _is_worth_it(part: Part, rows: int) -> bool:
    """Whether large arrays are kept out of memory, and no large ones have to be transposed."""
    largest = 0
    steps = 0
    made = {result for instruction in part.members for result in instruction.results}
    outside: list[ArrayValue] = [x for x in part.outputs if x.shape and x.shape[0] == rows]
    for instruction in part.members:
        outside += [x for x in instruction.values if x not in made and x.shape and x.shape[0] == rows]
        if part.roles[instruction] not in ("map", "view"):
            size = max(math.prod(x.shape) for x in instruction.values)
            largest = max(largest, size)
            steps += 1
    return largest >= LARGE and steps > 1 and all(math.prod(x.shape) * SMALLER <= largest for x in outside)


def _build_blocks(part: Part, rows: int) -> LoweredInstruction:
    sums = sum(math.prod(i.results[0].shape) for i in part.members if part.roles[i] in _ADDED) * 8
    row = max(
        math.prod(x.shape) // rows * 8 for i in part.members for x in (*i.values, *i.results) if x.shape[:1] == (rows,)
    )
    units = next((count for size, count in UNITS if sums + CACHED <= size), 2)
    length = choose_length(rows, max(CACHED, 2 * sums) // row)
    rest = rows % length
    bodies = []
    for size in (length, rest) if rest else (length,):
        region = _Region(rows, True)
        region.inside = {result for i in part.members if part.roles[i] not in _ADDED for result in i.results}
        body, inputs = region.build(part, size)
        bodies.append(body)
    blocks = RowBlocks(rows // length, tuple(bodies), units)
    return LoweredInstruction(tuple(inputs), tuple(part.outputs), ROW_BLOCKS, {"blocks": blocks})


def choose_length(rows: int, wanted: int) -> int:
    """The rows of a block: about as many as wanted, vectors of which are full, in an even number of equal blocks.

    >>> from gradtape.jit.native.schedule.row_blocks import choose_length
    >>> choose_length(1000, 130), choose_length(1024, 130), choose_length(997, 100)
    (125, 128, 104)
    """
    wanted = min(LONGEST, max(SHORTEST, wanted), rows)

    def cost(length: int) -> tuple[float, int]:
        blocks = -(-rows // length)
        lanes = -(-length // LANES) * LANES / length
        balance = -(-blocks // 2) * 2 / blocks
        return lanes * balance * (TWO_LENGTHS if rows % length else 1.0), abs(length - wanted)

    return min(range(max(1, wanted // 2), min(rows, 2 * wanted) + 1), key=cost)


def _fuse_first_axis(instructions: list[AnyInstruction], wanted: set[Any]) -> list[AnyInstruction]:
    """Replace products and what surrounds them by loops over the first axis of their arrays, of a block of rows."""
    done: list[AnyInstruction] = []
    rest = instructions
    while True:
        products = [i for i in rest if i.name == matmul.EINSUM]
        if not products:
            return [*done, *rest]
        length = products[0].results[0].shape[0]
        part = _Region(length, False).partition(rest, wanted, products[0]) if length > 1 else None
        if part is None or not any(role == "product" for role in part.roles.values()):
            return [*done, *rest]
        region = _Region(length, False)
        region.inside = {result for i in part.members for result in i.results}
        body, inputs = region.build(part, 1)
        blocks = RowBlocks(length, (body,), 1)
        done += [*part.before, LoweredInstruction(tuple(inputs), tuple(part.outputs), ROW_BLOCKS, {"blocks": blocks})]
        rest = part.after
