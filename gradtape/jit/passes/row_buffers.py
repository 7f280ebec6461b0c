"""Arrays that a loop reads and writes row by row: the loop carries the rows that are in use instead of the array.

`for i in range(1, n): x[i] = f(x[i - 1], x[i])` carries `x`, and each step writes to it in memory. But in step i the
loop needs two rows of it: the row before, which the last step has computed, and row i as it was before the loop. So the
row before is carried, row i is a slice of the first `x`, and the new rows are stacked: what the same program would be
if it were written with a list of rows and `np.stack`.

In step k all accesses are to rows `start + step * (k + d)`, where the *shift* d is a constant of the access. Row m is
touched first by the access with the largest shift and last by that with the smallest one. Hence:

- a row at a shift that is at least the largest shift of a write is as it was before the loop: a slice of that array;
- a row at a smaller shift was written by a step before: it is carried, from shift d + 1 to shift d;
- a row at the smallest shift of a write is not written any more: it is stacked;
- rows between both are written to the array after the loop, from what is carried.

A row at the same place in all steps (`total[0] += x[i]`) is carried if it is written to.

Rows may be along any axis, and of a part of the array that is the same for all steps (`x[3, j]`, `x[1:-1, j]`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import TABLE
from gradtape.core.shapes import Shape
from gradtape.jit.ir.moving_index import Gap, SliceTemplate
from gradtape.jit.ir.program import LOOP, Constant, Instruction, Loop, Operand, Program, Value, Walk
from gradtape.jit.passes.reroll.induction import indexed_at
from gradtape.jit.passes.slice_sums import add_to_slices

ROW_AT_MOST = 1 << 12
"""Elements of a row: a larger one is as well written to the array itself."""
CARRIED_AT_MOST = 8
"""How many rows a loop may carry for one array."""
BODY_AT_MOST = 1 << 14
"""Elements of any array in the body: loops over larger ones run better with their writes."""

_READS, _SETS, _ADDS = (
    frozenset({"getitem_at", "getitem"}),
    frozenset({"set_at", "set"}),
    frozenset({"add_at_at", "add_at"}),
)
_ALL = slice(None)


def carry_rows(program: Program) -> Program:
    """Replace the arrays that loops read and write row by row by their rows, in loops in loops first.

    >>> import numpy as np, gradtape as gt
    >>> def running(x):
    ...     out = gt.zeros(len(x))
    ...     for i in range(1, len(x)):
    ...         out[i] = 0.5 * out[i - 1] + x[i]
    ...     return out
    >>> program = gt.jit(running).lower(np.ones(40))
    >>> (loop,) = [i.params["loop"] for i in program.instructions if i.name == "loop"]
    >>> [instruction.name for instruction in loop.body.instructions]
    ['multiply', 'add']
    """
    if not any(instruction.op is LOOP for instruction in program.instructions):
        return program
    writer = _Writer(program)
    changed = False
    for instruction in program.instructions:
        if instruction.op is not LOOP:
            writer.out.append(instruction)
            continue
        made = _carry_rows_of(instruction, writer)
        changed |= made is not instruction
    return writer.finish() if changed else program


def _carry_rows_of(instruction: Instruction, writer: _Writer) -> Instruction:
    """Append a loop with the arrays replaced by rows where that can be done; it is the same one if nothing changed."""
    loop: Loop = instruction.params["loop"]
    body = carry_rows(add_to_slices(loop.body, numbers=True))
    after: list[Instruction] = []
    changed = instruction
    if body is not loop.body:
        changed = instruction.replace(params={"loop": dataclasses.replace(loop, body=body)})
    number = 0
    while number < changed.params["loop"].carried and not instruction.effect:
        rows = _find_rows(changed, number, writer.constants)
        made = None if rows is None else _RowLoop(changed, number, rows, writer).build()
        if made is None:
            number += 1
            continue
        changed, last = made
        after = [*last, *after]
    writer.out += [changed, *after]
    return changed


class _Writer:
    """The program while it is being written."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.constants = {constant.value: constant.array for constant in program.constants}
        self.out: list[Instruction] = []
        self._next = program.next_id()

    def new_value(self, shape: Shape, dtype: np.dtype[Any]) -> Value:
        """A value with the next free id."""
        self._next += 1
        return Value(self._next - 1, shape, dtype)

    def finish(self) -> Program:
        """The new program."""
        from gradtape.jit.passes.cse import share_subexpressions
        from gradtape.jit.passes.dce import drop_dead
        from gradtape.jit.passes.layouts import cancel_layouts

        return drop_dead(share_subexpressions(cancel_layouts(self.program.replace(instructions=tuple(self.out)))))


# -- which rows a loop accesses


class _Access(NamedTuple):
    """A read of, or a write to, a version of the array: `parts` are its index with one part for each axis.

    A part that an operand says is that operand. `shift` and `chain` say which row it is: see `_Rows`.
    """

    instruction: Instruction
    parts: tuple[Any, ...]
    chain: int = 0
    shift: int = 0

    @property
    def is_write(self) -> bool:
        return self.instruction.name not in _READS


class _Chain(NamedTuple):
    """Rows `start + step * m` of the array, and the shifts at which they are accessed and written to.

    Without writes, `first_write` and `last_write` are None. A row that is the same in all steps has step 0.
    """

    start: int
    step: int
    smallest: int
    largest: int
    first_write: int | None
    last_write: int | None

    def carried(self) -> range:
        """The shifts of the rows that are carried."""
        if self.last_write is None:
            return range(0)
        return range(self.smallest, self.last_write) if self.step else range(1)

    def follows(self, shift: int) -> int:
        """The shift that a carried row has in the step before."""
        return shift + 1 if self.step else shift

    def rows(self, length: int) -> set[int]:
        """All rows that are accessed."""
        steps = range(self.smallest, self.largest + (length if self.step else 1))
        return {self.start + self.step * m for m in steps}


class _Rows(NamedTuple):
    """What a loop accesses of an array that it carries: rows along `axis`, of the part that `common` selects.

    `common` has one part for each axis; that of `axis` is all of it. Rows `chain.start + chain.step * (k + shift)` are
    accessed in step k.
    """

    accesses: dict[Instruction, _Access]
    common: tuple[Any, ...]
    axis: int
    chains: tuple[_Chain, ...]

    @property
    def moves(self) -> bool:
        """Whether some rows are others in each step."""
        return any(chain.step for chain in self.chains)


def _find_rows(instruction: Instruction, number: int, constants: dict[Value, np.ndarray[Any, Any]]) -> _Rows | None:
    """The rows that a loop accesses of its carried value `number`; None if it does not access it row by row."""
    loop: Loop = instruction.params["loop"]
    body, array = loop.body, loop.body.inputs[number]
    accesses = _find_accesses(loop, number)
    if not accesses or not any(access.is_write for access in accesses):
        return None
    tables = _find_tables(instruction, constants)
    fixed = {*body.inputs[loop.carried + len(loop.sliced) :]}
    for moves in (True, False):
        for axis in range(array.ndim):
            walks = [_progression(access.parts, axis, array.shape[axis], tables) for access in accesses]
            known = [walk for walk in walks if walk is not None]
            steps = {walk.step for walk in known if walk.step}
            if len(known) < len(walks) or len(steps) != moves:
                continue
            placed, chains = _place(accesses, known)
            length, count = loop.length, sum(len(chain.carried()) for chain in chains)
            rows = [chain.rows(length) for chain in chains]
            if count > CARRIED_AT_MOST or any(len(chain.carried()) >= length for chain in chains):
                return None
            if sum(map(len, rows)) > len(set().union(*rows)):
                return None
            common = tuple(
                [_ALL if other == axis else _common_part(accesses, other, fixed) for other in range(array.ndim)]
            )
            return _Rows({access.instruction: access for access in placed}, common, axis, chains)
    return None


def _place(accesses: Sequence[_Access], walks: Sequence[Walk]) -> tuple[list[_Access], tuple[_Chain, ...]]:
    """The accesses with their chains and shifts: one chain for all rows that are a multiple of the step apart."""
    starts: dict[tuple[int, int], int] = {}
    placed = []
    for access, (first, step) in zip(accesses, walks, strict=True):
        key = step, first % abs(step) if step else first
        start = starts.setdefault(key, first)
        shift = (first - start) // step if step else 0
        placed.append(access._replace(chain=list(starts).index(key), shift=shift))
    chains = []
    for number, ((step, _), start) in enumerate(starts.items()):
        shifts = [access.shift for access in placed if access.chain == number]
        writes = [access.shift for access in placed if access.chain == number and access.is_write]
        last = max(writes, default=None)
        chains.append(_Chain(start, step, min(shifts), max(shifts), min(writes, default=None), last))
    return placed, tuple(chains)


def _find_accesses(loop: Loop, number: int) -> list[_Access] | None:
    """All accesses to the versions of a carried value; None if it is used in other ways, too."""
    body = loop.body
    last = body.outputs[number]
    versions = {body.inputs[number]}
    found: list[_Access] = []
    for instruction in body.instructions:
        if not any(value in versions for value in instruction.values):
            continue
        first, *others = instruction.operands
        writes = instruction.name in _SETS or instruction.name in _ADDS
        if not writes and instruction.name not in _READS:
            return None
        if first not in versions or any(x in versions for x in others) or instruction.effect:
            return None
        params = instruction.params
        template = params["template"] if "template" in params else params["index"]
        parts = _expand(template, others[1:] if writes else others, body.inputs[number].ndim)
        if parts is None or (writes and None in parts):
            return None
        found.append(_Access(instruction, parts))
        if writes:
            versions.add(instruction.result)
    used = [value for value in body.outputs if value in versions]
    return found if used == [last] and last is not body.inputs[number] else None


def _expand(template: tuple[Any, ...], operands: Sequence[Operand], rank: int) -> tuple[Any, ...] | None:
    """The index with one part for each axis, and with the operands in the gaps; None if it has arrays in it."""
    kinds = (int, slice, Gap, type(None), type(Ellipsis))
    if any(not isinstance(part, kinds) or isinstance(part, bool) for part in template):
        return None
    named = sum(part is not None and part is not Ellipsis for part in template)
    supply = iter(operands)
    parts: list[Any] = []
    for part in template:
        if part is Ellipsis:
            parts += [_ALL] * (rank - named)
        else:
            parts.append(next(supply) if isinstance(part, Gap) else part)
    axes = sum(part is not None for part in parts)
    return (*parts, *[_ALL] * (rank - axes))


def _part(parts: tuple[Any, ...], axis: int) -> Any:
    """The part of an index for an axis of the array."""
    return [part for part in parts if part is not None][axis]


def _find_tables(
    instruction: Instruction, constants: dict[Value, np.ndarray[Any, Any]]
) -> dict[Value, np.ndarray[Any, Any]]:
    """The inputs of the body that are integers known for each step."""
    loop: Loop = instruction.params["loop"]
    found = {}
    for place, walk in enumerate(loop.sliced, loop.carried):
        array = constants.get(instruction.operands[place])  # type: ignore[arg-type]
        if array is not None and array.ndim == 1 and array.dtype.kind == "i":
            found[loop.body.inputs[place]] = array[walk.rows(loop.length)]
    return found


def _progression(
    parts: tuple[Any, ...], axis: int, length: int, tables: dict[Value, np.ndarray[Any, Any]]
) -> Walk | None:
    """How an index advances along an axis of that length; None if that is not known, or if it is a slice."""
    part = _part(parts, axis)
    if type(part) is int:
        return Walk(part % length, 0)
    table = tables.get(part) if type(part) is Value else None
    if table is None or len(table) < 2:
        return None
    moves = np.diff(table)
    return Walk(int(table[0]), int(moves[0])) if (moves == moves[0]).all() else None


def _common_part(accesses: Sequence[_Access], axis: int, fixed: set[Value]) -> Any:
    """The part of the index for an axis, if all accesses have the same one and it is the same in all steps."""
    first, *others = [_part(access.parts, axis) for access in accesses]
    if type(first) is Value:
        return first if first in fixed and not first.shape and all(part is first for part in others) else _ALL
    same = all(type(part) is type(first) and part == first for part in others)
    return first if same and not isinstance(first, SliceTemplate) else _ALL


# -- the loop with rows


class _RowLoop:
    """Builds a loop that carries, slices and stacks rows in the place of an array."""

    def __init__(self, instruction: Instruction, number: int, rows: _Rows, writer: _Writer) -> None:
        self.instruction, self.number, self.rows, self.writer = instruction, number, rows, writer
        self.loop: Loop = instruction.params["loop"]
        self.array = self.loop.body.inputs[number]
        self.before: list[Instruction] = []
        self.made: list[Instruction] = []  # the body
        self.constants: list[Constant] = list(self.loop.body.constants)
        self._next = self.loop.body.next_id()
        taken = [axis for axis, part in enumerate(rows.common) if not isinstance(part, slice)]
        rest = [axis for axis in range(self.array.ndim) if axis != rows.axis and axis not in taken]
        self.order = (*taken, rows.axis, *rest) if rows.moves else tuple(range(self.array.ndim))
        """The axes of the array: those along which one position is common, that of the rows, and those of a row."""
        self.at = self.order.index(rows.axis)

    def build(self) -> tuple[Instruction, list[Instruction]] | None:
        """The loop, and the instructions after it; None if it is not worth it."""
        loop, rows, body = self.loop, self.rows, self.loop.body
        outer = self.instruction.values[self.number]
        names = dict(zip(body.inputs, self.instruction.operands, strict=True))
        turned = self._transpose(outer, self.order)
        parts = [rows.common[axis] for axis in self.order]
        common = tuple([names[part] if type(part) is Value else part for part in parts])
        self.turned, self.common = turned, common
        whole = self._read(turned, common) if rows.moves else turned
        self.row_shape, dtype = self._shape(turned, self._row_index(0)), self.array.dtype
        if math.prod(self.row_shape) > ROW_AT_MOST:
            return None
        carried = [(chain, shift) for chain, found in enumerate(rows.chains) for shift in found.carried()]
        inputs = {key: self._new(self.row_shape, dtype) for key in carried}
        self.sliced: dict[tuple[int, int], Value] = {}  # rows as they are before the loop
        states: dict[Value, dict[tuple[int, int], Value]] = {self.array: dict(inputs)}
        renamed: dict[Value, Value] = {}
        for inner in body.instructions:
            access = rows.accesses.get(inner)
            if access is None:
                self.made.append(_rename(inner, renamed))
                continue
            state = states[inner.operands[0]]  # type: ignore[index]
            row = self._row(state, access)
            if access.is_write:
                state = dict(state)
                state[access.chain, access.shift] = self._write(access, row, renamed)
                states[inner.result] = state
            else:
                renamed[inner.result] = self._take(access, row, renamed)
        last = states[body.outputs[self.number]]
        place = [place for place in range(loop.carried) if place != self.number]
        stacks = [(i, chain) for i, chain in enumerate(rows.chains) if chain.step and chain.first_write is not None]
        outputs = [renamed.get(body.outputs[i], body.outputs[i]) for i in place]
        outputs += [
            self._whole_row(self._at(last, (chain, rows.chains[chain].follows(shift)))) for chain, shift in carried
        ]
        outputs += [renamed.get(value, value) for value in body.outputs[loop.carried :]]
        outputs += [self._whole_row(self._at(last, (i, chain.first_write))) for i, chain in stacks]  # type: ignore[arg-type]
        sliced = [(key, value) for key, value in self.sliced.items() if rows.chains[key[0]].step]
        same = [(key, value) for key, value in self.sliced.items() if not rows.chains[key[0]].step]
        read = {value for inner in self.made for value in inner.values} | {*outputs}
        first_fixed = loop.carried + len(loop.sliced)
        old_sliced = [i for i in range(loop.carried, first_fixed) if body.inputs[i] in read]
        fixed = [i for i in range(first_fixed, len(body.inputs)) if body.inputs[i] in read]
        new_inputs = [body.inputs[i] for i in place] + list(inputs.values())
        new_inputs += [body.inputs[i] for i in old_sliced] + [value for _, value in sliced]
        new_inputs += [body.inputs[i] for i in fixed] + [value for _, value in same]
        new_body = Program(tuple(new_inputs), tuple(self.constants), tuple(self.made), tuple(outputs))
        sizes = [value.size for value in new_body.values()]
        if max(sizes) > BODY_AT_MOST:
            return None
        walks = [Walk(self._place(*key), rows.chains[key[0]].step) for key, _ in sliced]
        stacked = [Walk(0, 1) if chain.step > 0 else Walk(loop.length - 1, -1) for _, chain in stacks]
        new_loop = Loop(
            new_body,
            loop.length,
            len(place) + len(carried),
            (*(loop.sliced[i - loop.carried] for i in old_sliced), *walks),
            (*loop.stacked, *stacked),
        )
        operands = [self.instruction.operands[i] for i in place]
        operands += [self._first(*key) for key in carried]
        operands += [self.instruction.operands[i] for i in old_sliced] + [whole] * len(sliced)
        operands += [self.instruction.operands[i] for i in fixed] + [self._first(*key) for key, _ in same]
        old = self.instruction.results
        ends = {key: self._outside(self.row_shape, dtype) for key in carried}
        tall = (loop.length, *self.row_shape)
        new_stacks = {i: self._outside(tall, dtype) for i, _ in stacks}
        result, after = old[self.number], _After(self)
        is_whole = len(stacks) == 1 and tall == turned.shape and abs(stacks[0][1].step) == 1
        if is_whole and not any(found.carried() and not found.step for found in rows.chains):
            (end,) = new_stacks.values()  # all rows are written to, and none is carried further
            if self.order == tuple(range(len(self.order))):
                new_stacks = {stacks[0][0]: result}
            else:
                after.transpose_back(end, result)
        else:
            after.write(new_stacks, ends, result)
        results = [*(old[i] for i in place), *ends.values(), *old[loop.carried :], *new_stacks.values()]
        self.writer.out += self.before
        made = self.instruction.replace(operands=tuple(operands), params={"loop": new_loop}, results=tuple(results))
        return made, after.made

    # -- in the body

    def _new(self, shape: Shape, dtype: np.dtype[Any]) -> Value:
        self._next += 1
        return Value(self._next - 1, shape, dtype)

    def _emit(self, op: Op, operands: Sequence[Operand], params: dict[str, Any], shape: Shape, like: Any) -> Value:
        result = self._new(shape, self.array.dtype)
        self.made.append(Instruction(op, tuple(operands), params, (result,), like.location))
        return result

    def _at(self, state: dict[tuple[int, int], Value], key: tuple[int, int]) -> Value:
        """The row of a state: a slice of the array before the loop if it was not written to."""
        if key in state:
            return state[key]
        if key not in self.sliced:
            self.sliced[key] = self._new(self.row_shape, self.array.dtype)
        return self.sliced[key]

    def _row(self, state: dict[tuple[int, int], Value], access: _Access) -> Value | None:
        """The row that an access reads or changes; None if it overwrites all of it."""
        if access.instruction.name in _SETS and self._is_all(self._rest(access)):
            return None
        return self._at(state, (access.chain, access.shift))

    def _rest(self, access: _Access) -> tuple[Any, ...]:
        """What of a row is accessed: without the axis of the rows, and without what is common to all accesses."""
        rest: list[Any] = []
        axis = 0
        for part in access.parts:
            if part is None:
                rest.append(part)
                continue
            common = self.rows.common[axis]
            if axis != self.rows.axis and isinstance(common, slice):
                rest.append(part if common == _ALL else _ALL)
            axis += 1
        return tuple(rest)

    def _is_all(self, rest: tuple[Any, ...]) -> bool:
        return all(isinstance(part, slice) and part == _ALL for part in rest)

    def _whole_row(self, value: Value) -> Value:
        """A row in its shape: one that was set to a number may be a single one so far."""
        if value.shape == self.row_shape:
            return value
        result = self._new(self.row_shape, value.dtype)
        for constant in self.constants:
            if constant.value is value:
                self.constants.append(Constant(result, np.full(self.row_shape, constant.array)))
                return result
        self.made.append(Instruction(TABLE["broadcast_to"], (value,), {"shape": self.row_shape}, (result,)))
        return result

    def _index(
        self, name: str, rest: tuple[Any, ...], renamed: dict[Value, Value]
    ) -> tuple[Op, dict[str, Any], list[Value]]:
        """The operation and the parameters for an index in a row, and the operands that are parts of it."""
        moving = [renamed.get(part, part) for part in rest if type(part) is Value]
        if not moving:
            return TABLE[name], {"index": rest}, []
        template = tuple([Gap() if type(part) is Value else part for part in rest])
        return indexed_at(TABLE[name]), {"template": template}, moving

    def _take(self, access: _Access, row: Value | None, renamed: dict[Value, Value]) -> Value:
        """What is read of a row."""
        assert row is not None
        rest = self._rest(access)
        if self._is_all(rest):
            return self._whole_row(row)
        op, params, moving = self._index("getitem", rest, renamed)
        result = access.instruction.result
        return self._emit(op, (self._whole_row(row), *moving), params, result.shape, access.instruction)

    def _write(self, access: _Access, row: Value | None, renamed: dict[Value, Value]) -> Value:
        """The row after a write to it."""
        instruction, rest = access.instruction, self._rest(access)
        value = instruction.operands[1]
        value = renamed.get(value, value) if type(value) is Value else value
        name = "set" if instruction.name in _SETS else "add_at"
        dtype = self.array.dtype
        if self._is_all(rest) and type(value) is Value and value.dtype == dtype:
            fits = value.shape == self.row_shape
            if name == "set" and (fits or not value.shape):
                return value
            if name == "add_at" and fits:
                assert row is not None
                return self._emit(TABLE["add"], (row, value), {}, self.row_shape, instruction)
        if row is None:
            row = self._new(self.row_shape, dtype)
            self.constants.append(Constant(row, np.zeros(self.row_shape, dtype)))
        op, params, moving = self._index(name, rest, renamed)
        return self._emit(op, (self._whole_row(row), value, *moving), params, self.row_shape, instruction)

    # -- before the loop

    def _outside(self, shape: Shape, dtype: np.dtype[Any]) -> Value:
        return self.writer.new_value(shape, dtype)

    def _prepare(self, op: Op, operands: Sequence[Operand], params: dict[str, Any], shape: Shape) -> Value:
        result = self._outside(shape, self.array.dtype)
        self.before.append(Instruction(op, tuple(operands), params, (result,), self.instruction.location))
        return result

    def _transpose(self, array: Value, axes: tuple[int, ...]) -> Value:
        if axes == tuple(range(len(axes))):
            return array
        shape = tuple([array.shape[axis] for axis in axes])
        return self._prepare(TABLE["transpose"], (array,), {"axes": axes}, shape)

    def _read(self, array: Value, index: tuple[Any, ...]) -> Value:
        """The part of an array at an index, of which some parts may be values."""
        if self._is_all(index):
            return array
        op, params, moving = self._index("getitem", index, {})
        return self._prepare(op, (array, *moving), params, self._shape(array, index))

    def _shape(self, array: Value, index: tuple[Any, ...]) -> Shape:
        sample = np.broadcast_to(np.zeros((), bool), array.shape)
        return np.shape(sample[tuple([0 if type(part) is Value else part for part in index])])

    def _row_index(self, place: int | slice) -> tuple[Any, ...]:
        """The index of a row, or of several rows, of the array with its axes in `order`."""
        return (*self.common[: self.at], place, *self.common[self.at + 1 :])

    def _place(self, chain: int, shift: int) -> int:
        """The row that is at a shift in the first step."""
        return self.rows.chains[chain].start + self.rows.chains[chain].step * shift

    def _first(self, chain: int, shift: int) -> Value:
        """A row before the loop."""
        return self._read(self.turned, self._row_index(self._place(chain, shift)))


class _After:
    """The instructions after a loop: the rows are written to the array."""

    def __init__(self, loop: _RowLoop) -> None:
        self.loop = loop
        self.made: list[Instruction] = []

    def transpose_back(self, turned: Value, result: Value) -> None:
        """The array with its axes in their own order."""
        axes = tuple(np.argsort(self.loop.order).tolist())
        self._emit(TABLE["transpose"], (turned,), {"axes": axes}, result)

    def write(self, stacked: dict[int, Value], ends: dict[tuple[int, int], Value], result: Value) -> None:
        """The array with the stacked rows, and with those that are carried after the last step."""
        loop = self.loop
        steps = loop.loop.length
        writes: list[tuple[Any, Value]] = []
        for number, chain in enumerate(loop.rows.chains):
            if chain.first_write is None or chain.last_write is None:
                continue
            if not chain.step:
                writes.append((chain.start, ends[number, 0]))
                continue
            first = loop._place(number, chain.first_write)
            last = first + chain.step * (steps - 1)
            writes.append((slice(min(first, last), max(first, last) + 1, abs(chain.step)), stacked[number]))
            further = range(chain.first_write + 1, chain.last_write + 1)
            writes += [(loop._place(number, steps - 1 + shift), ends[number, shift - 1]) for shift in further]
        array, turned = loop.turned, loop.turned
        direct = loop.order == tuple(range(len(loop.order)))
        if len(loop.rows.chains) == 1 and abs(loop.rows.chains[0].step) == 1 and loop._is_all(loop.common):
            whole = result if direct else loop._outside(turned.shape, turned.dtype)
            self._concatenate(writes, whole)
            if not direct:
                self.transpose_back(whole, result)
            return
        for number, (place, value) in enumerate(writes, 1):
            op, params, moving = loop._index("set", loop._row_index(place), {})
            is_last = direct and number == len(writes)
            new = result if is_last else loop._outside(turned.shape, turned.dtype)
            self._emit(op, (array, value, *moving), params, new)
            array = new
        if not direct:
            self.transpose_back(array, result)

    def _concatenate(self, writes: Sequence[tuple[Any, Value]], result: Value) -> None:
        """The rows that are written, which follow one another, with the rows of the array before and after them."""
        array = self.loop.turned
        parts: dict[int, Value] = {}
        low, high = array.shape[0], 0
        for place, value in writes:
            if not isinstance(place, slice):
                wide = self.loop._outside((1, *value.shape), value.dtype)
                self._emit(TABLE["getitem"], (value,), {"index": (None,)}, wide)
                place, value = slice(place, place + 1), wide
            parts[place.start] = value
            low, high = min(low, place.start), max(high, place.stop)
        for begin, end in ((0, low), (high, array.shape[0])):
            if begin < end:
                part = self.loop._outside((end - begin, *array.shape[1:]), array.dtype)
                self._emit(TABLE["getitem"], (array,), {"index": (slice(begin, end),)}, part)
                parts[begin] = part
        operands = tuple([parts[begin] for begin in sorted(parts)])
        self._emit(TABLE["concatenate"], operands, {"axis": 0}, result)

    def _emit(self, op: Op, operands: tuple[Operand, ...], params: dict[str, Any], result: Value) -> None:
        self.made.append(Instruction(op, operands, params, (result,), self.loop.instruction.location))


def _rename(instruction: Instruction, names: dict[Value, Value]) -> Instruction:
    if not any(x in names for x in instruction.operands):
        return instruction
    operands = tuple([names.get(x, x) if type(x) is Value else x for x in instruction.operands])
    return instruction.replace(operands=operands)
