"""Arrays that a loop reads and writes row by row: the loop carries the rows that are in use instead of the array.

`for i in range(1, n): x[i] = f(x[i - 1], x[i])` carries `x`, and each step writes to it in memory. But in step i the
loop needs two rows of it: the row before, which the last step has computed, and row i as it was before the loop. So the
row before is carried, row i is a slice of the first `x`, and the new rows are stacked: what the same program would be
if it were written with a list of rows and `np.stack`.

In step k all accesses are to rows `start + step * (k + d)`, where the *shift* d is a constant of the access (see
`row_accesses`). Row m is touched first by the access with the largest shift and last by that with the smallest one.
Hence:

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
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import TABLE
from gradtape.core.shapes import Shape
from gradtape.jit.ir.moving_index import Gap
from gradtape.jit.ir.program import LOOP, Constant, Instruction, Loop, Operand, Program, Value, Walk
from gradtape.jit.passes.reroll.induction import indexed_at
from gradtape.jit.passes.row_accesses import ALL, SETS, Access, Rows, find_rows
from gradtape.jit.passes.slice_sums import add_to_slices

ROW_AT_MOST = 1 << 12
"""Elements of a row: a larger one is as well written to the array itself."""
BODY_AT_MOST = 1 << 14
"""Elements of any array in the body: loops over larger ones run better with their writes."""


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
        rows = find_rows(changed, number, writer.constants)
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


class _RowLoop:
    """Builds a loop that carries, slices and stacks rows in the place of an array."""

    def __init__(self, instruction: Instruction, number: int, rows: Rows, writer: _Writer) -> None:
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

    def _row(self, state: dict[tuple[int, int], Value], access: Access) -> Value | None:
        """The row that an access reads or changes; None if it overwrites all of it."""
        if access.instruction.name in SETS and self._is_all(self._rest(access)):
            return None
        return self._at(state, (access.chain, access.shift))

    def _rest(self, access: Access) -> tuple[Any, ...]:
        """What of a row is accessed: without the axis of the rows, and without what is common to all accesses."""
        rest: list[Any] = []
        axis = 0
        for part in access.parts:
            if part is None:
                rest.append(part)
                continue
            common = self.rows.common[axis]
            if axis != self.rows.axis and isinstance(common, slice):
                rest.append(part if common == ALL else ALL)
            axis += 1
        return tuple(rest)

    def _is_all(self, rest: tuple[Any, ...]) -> bool:
        return all(isinstance(part, slice) and part == ALL for part in rest)

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

    def _take(self, access: Access, row: Value | None, renamed: dict[Value, Value]) -> Value:
        """What is read of a row."""
        assert row is not None
        rest = self._rest(access)
        if self._is_all(rest):
            return self._whole_row(row)
        op, params, moving = self._index("getitem", rest, renamed)
        result = access.instruction.result
        return self._emit(op, (self._whole_row(row), *moving), params, result.shape, access.instruction)

    def _write(self, access: Access, row: Value | None, renamed: dict[Value, Value]) -> Value:
        """The row after a write to it."""
        instruction, rest = access.instruction, self._rest(access)
        value = instruction.operands[1]
        value = renamed.get(value, value) if type(value) is Value else value
        name = "set" if instruction.name in SETS else "add_at"
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
