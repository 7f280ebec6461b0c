"""Builds a `Loop` from each stretch that `find` has found: body, operands (carried, sliced, invariant) and results."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import LOOP, Constant, Instruction, Literal, Loop, Operand, Program, Value, Walk, spec_of
from gradtape.jit.passes.reroll.accumulate import HoistedSums
from gradtape.jit.passes.reroll.find import STEPS_AT_LEAST, Columns, Listing, Numbers, Stretch, varying_params
from gradtape.jit.passes.reroll.induction import (
    STACKED,
    find_advancing,
    indexed_at,
    plan_reading,
    progression,
    stack_rows,
    without_negatives,
)

_PARTS_AT_MOST = 6
"""Of how many stacks, and rows between them, a stack may be made."""


def build_loops(listing: Listing, stretches: Sequence[Stretch]) -> Program:
    """The program with loops in place of the stretches, without instructions that are dead afterwards."""
    from gradtape.jit.passes.dce import drop_dead

    writer = ProgramWriter(listing)
    position = 0
    for stretch in stretches:
        writer.copy(position, stretch.begin)
        writer.roll(stretch)
        position = stretch.end
    writer.copy(position, len(listing.instructions))
    return drop_dead(writer.finish())


class ProgramWriter:
    """The new program while it is being written."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.constants = {constant.value: constant.array for constant in listing.program.constants}
        self.added: list[Constant] = []
        self.out: list[Instruction] = []
        self.rolled: list[LoopBuilder] = []
        self._begins: list[int] = []  # the numbers of the first values of the loops
        self._made: dict[Any, Value] = {}
        self._starts = self._starts_of_stacks()
        self._joined: dict[int, Value] = {}  # replacements of stacks of loop results
        self._next = listing.program.next_id()

    def _starts_of_stacks(self) -> set[tuple[int, int]]:
        """The first two operands of all long stacks: a stack of carried values may be needed as a loop result."""
        listing = self.listing
        long = np.flatnonzero(np.diff(listing.begins) >= STEPS_AT_LEAST)
        begins = [int(listing.begins[index]) for index in long if listing.instructions[index].name == "stack"]
        return {(int(listing.reads[begin]), int(listing.reads[begin + 1])) for begin in begins}

    def new_value(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Value:
        """A value with the next free id."""
        self._next += 1
        return Value(self._next - 1, shape, dtype)

    def new_constant(self, array: np.ndarray[Any, Any]) -> Value:
        """A constant of the new program; the array becomes read-only."""
        value = self.new_value(*spec_of(array))
        array.flags.writeable = False
        self.added.append(Constant(value, array))
        self.constants[value] = array
        return value

    def emit(
        self, op: Op, operands: tuple[Operand, ...], params: dict[str, Any], like: Any, near: Instruction
    ) -> Value:
        """Append an instruction outside of loops; `like` has the shape and dtype of its result."""
        result = self.new_value(*like)
        self.out.append(Instruction(op, operands, params, (result,), near.location))
        return result

    def loop_of(self, number: int) -> LoopBuilder | None:
        """The loop that defines the value of that number."""
        place = bisect_right(self._begins, number) - 1
        if place < 0:
            return None
        rolled = self.rolled[place]
        return rolled if number < rolled.stop else None

    def value(self, number: int, near: Instruction) -> Value:
        """The value of that number, extracted from the results if a loop defines it."""
        rolled = self.loop_of(number)
        if rolled is None:
            return self._joined.get(number, self.listing.values[number])
        step, origin = divmod(number - rolled.columns.base, rolled.columns.made)
        if step == rolled.stretch.steps - 1 and origin in rolled.last:
            return rolled.last[origin]
        key = rolled, step, origin
        if key not in self._made:
            rows = rolled.stacks[origin]
            spec = rows.shape[1:], rows.dtype
            self._made[key] = self.emit(TABLE["getitem"], (rows,), {"index": (step,)}, spec, near)
        return self._made[key]

    def copy(self, begin: int, end: int) -> None:
        """Copy instructions outside of stretches, with operands that loops define replaced."""
        listing = self.listing
        for index in range(begin, end):
            instruction = listing.instructions[index]
            reads = listing.reads[listing.begins[index] : listing.begins[index + 1]]
            if self._begins and int(reads.max(initial=-1)) >= self._begins[0]:
                if instruction.name == "stack" and len(reads) >= STEPS_AT_LEAST and self._join(instruction, reads):
                    continue
                operands = tuple(
                    [
                        self.value(listing.numbers[x], instruction) if type(x) is Value else x
                        for x in instruction.operands
                    ]
                )
                if any(a is not b for a, b in zip(operands, instruction.operands, strict=True)):
                    instruction = instruction.replace(operands=operands)
            self.out.append(instruction)

    def _join(self, instruction: Instruction, reads: Numbers) -> bool:
        """Replace a stack of loop results by a concatenation of the stacked results; False if that is not possible."""
        if instruction.params.get("axis") != 0 or reads.min() < 0:
            return False
        whole = self.join_rows(reads, instruction)
        if whole is None:
            return False
        self._joined[self.listing.numbers[instruction.result]] = whole
        return True

    def join_rows(self, numbers: Numbers, near: Instruction) -> Value | None:
        """Values as rows of one array, concatenated from slices of stacked loop results; None if these are too many."""
        parts: list[Value] = []
        begin = 0
        while begin < len(numbers):
            if len(parts) == _PARTS_AT_MOST:
                return None
            part, length = self._part(numbers[begin:], near)
            parts.append(part)
            begin += length
        if len(parts) == 1:
            return parts[0]
        spec = (len(numbers), *parts[0].shape[1:]), parts[0].dtype
        return self.emit(TABLE["concatenate"], tuple(parts), {"axis": 0}, spec, near)

    def _part(self, numbers: Numbers, near: Instruction) -> tuple[Value, int]:
        """The longest slice of one stacked result that begins with the first of some values, and its length."""
        entering = self._entering(numbers)
        if entering is not None:
            rows, length = entering
            return self._rows(rows, 0, 1, length, near), length
        rolled = self.loop_of(int(numbers[0]))
        if rolled is not None and len(numbers) > 1:
            steps, origins = np.divmod(numbers - rolled.columns.base, rolled.columns.made)
            move = int(np.sign(steps[1] - steps[0]))
            run = (origins == origins[0]) & (steps == steps[0] + move * np.arange(len(steps)))
            run &= (steps >= 0) & (steps < rolled.stretch.steps)
            length = len(run) if run.all() else int(np.argmin(run))
            if move and length > 1:
                return self._rows(rolled.stacks[int(origins[0])], int(steps[0]), move, length, near), length
        value = self.value(int(numbers[0]), near)
        return self.emit(STACKED, (value,), {}, ((1, *value.shape), value.dtype), near), 1

    def _entering(self, reads: Numbers) -> tuple[Value, int] | None:
        """The stack of a carried value at the start of each iteration, if `reads` begins with it, and its length."""
        rolled = self.loop_of(int(reads[1])) if len(reads) > 1 else None
        if rolled is None:
            return None
        columns = rolled.columns
        step, origin = divmod(int(reads[1]) - columns.base, columns.made)
        rows = rolled.entering.get((int(reads[0]), origin)) if not step else None
        if rows is None:
            return None
        expected = reads[1] + columns.made * np.arange(min(len(reads), rolled.stretch.steps) - 1)
        same = reads[1 : 1 + len(expected)] == expected
        return rows, 1 + (len(same) if same.all() else int(np.argmin(same)))

    def _rows(self, rows: Value, begin: int, step: int, length: int, near: Instruction) -> Value:
        walk = Walk(begin, step)
        if walk == Walk(0, 1) and length == rows.shape[0]:
            return rows
        spec = (length, *rows.shape[1:]), rows.dtype
        return self.emit(TABLE["getitem"], (rows,), {"index": (walk.rows(length),)}, spec, near)

    def roll(self, stretch: Stretch) -> None:
        """Build the loop of a stretch, and continue after it."""
        rolled = LoopBuilder(self, stretch)
        self.rolled.append(rolled)
        self._begins.append(rolled.columns.base)

    def finish(self) -> Program:
        """The new program, without dead instructions."""
        program = self.listing.program
        last = self.listing.instructions[-1]
        outputs = tuple([self.value(self.listing.numbers[value], last) for value in program.outputs])
        return Program(program.inputs, (*program.constants, *self.added), tuple(self.out), outputs)


class LoopBuilder:
    """One loop under construction: takes its operands from the writer and maps old values to its results."""

    def __init__(self, writer: ProgramWriter, stretch: Stretch) -> None:
        self.writer, self.stretch, self.listing = writer, stretch, writer.listing
        self.columns = columns = Columns(self.listing, stretch)
        self.stop = columns.base + columns.made * stretch.steps
        self.period = self.listing.instructions[stretch.begin : stretch.begin + stretch.period]
        self.near = self.period[0]
        self.stacks: dict[int, Value] = {}  # stacked results, by the value of an iteration, ...
        self.last: dict[int, Value] = {}  # ... and final values
        self.entering: dict[tuple[int, int], Value] = {}  # carried values before each step, by the first two of them
        # inputs of the body, by what they are: (first value, what comes next), (array, walk), value
        self._carried: dict[Any, Value] = {}
        self._first: list[Value] = []
        self._next: list[Any] = []
        self._sliced: dict[tuple[Value, Walk], Value] = {}
        self._read: dict[Value, Value] = {}
        self._constants: dict[Value, Constant] = {}
        self._results: list[Value] = []
        self._body: list[Instruction] = []
        self._ids = 0
        self._sums = HoistedSums(self)
        self._write_body()
        self._finish()

    def _new(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Value:
        self._ids += 1
        return Value(self._ids - 1, shape, dtype)

    # -- the body

    def _write_body(self) -> None:
        begins = self.listing.begins[self.stretch.begin : self.stretch.begin + self.stretch.period + 1]
        begins = begins - begins[0]
        for instruction in self.period:
            self._results += [self._new(value.shape, value.dtype) for value in instruction.results]
        made = 0
        for place, instruction in enumerate(self.period):
            results = tuple(self._results[made : made + len(instruction.results)])
            columns = range(int(begins[place]), int(begins[place + 1]))
            made += len(results)
            if place in self._sums.dropped:
                continue
            params = varying_params(self.listing, self.stretch, place)
            if params is None:
                operands = tuple([self._operand(c, instruction) for c in columns])
                self._body.append(instruction.replace(operands=operands, results=results))
            else:
                self._advance(instruction, columns, [given["index"] for given in params], made - 1)

    def _advance(self, instruction: Instruction, columns: range, indices: list[Any], result: int) -> None:
        """Add an instruction whose index advances with the iteration."""
        found = find_advancing(indices)
        assert found is not None  # `reroll` has made sure of it
        value = self._results[result]
        if instruction.name == "getitem" and self._is_invariant(columns[0]):
            outer = self.writer.value(int(self.columns.table[0, columns[0]]), self.near)
            way = plan_reading(outer, found)
            if way is not None:
                row = self._slice(self._prepare_array(outer, way.before), way.walk)
                if not way.rest:
                    self._results[result] = row
                    return
                params = {"index": way.rest}
                self._body.append(instruction.replace(operands=(row,), params=params, results=(value,)))
                return
        shape = instruction.params.get("shape") or self._shape_at(columns[0])
        tables = [self._table(table) for table in without_negatives(found, shape)]
        params = {**instruction.params, "template": found.template}
        del params["index"]
        op = indexed_at(instruction.op)
        operands = (*(self._operand(column, instruction) for column in columns), *tables)
        self._body.append(instruction.replace(op=op, operands=operands, params=params, results=(value,)))

    def _shape_at(self, column: int) -> tuple[int, ...]:
        """The shape of an operand, which is an array."""
        return self.listing.values[int(self.columns.table[0, column])].shape

    def _is_invariant(self, column: int) -> bool:
        numbers = self.columns.table[:, column]
        return not self.columns.internal[column] and bool((numbers == numbers[0]).all()) and numbers[0] >= 0

    def _prepare_array(self, array: Value, before: Any) -> Value:
        if before is None:
            return array
        op, params = before
        if op == "transpose":
            op, shape = TABLE["transpose"], tuple([array.shape[axis] for axis in params["axes"]])
        else:
            axis, width = params["axis"], params["width"]
            rest = array.shape[:axis], array.shape[axis + 1 :]
            shape = (array.shape[axis] - width + 1, *rest[0], width, *rest[1])
        key = array, op, tuple(params.values())
        made = self.writer._made
        if key not in made:
            made[key] = self.writer.emit(op, (array,), params, (shape, array.dtype), self.near)
        return made[key]

    def _operand(self, column: int, instruction: Instruction) -> Operand:
        columns = self.columns
        numbers = columns.table[:, column]
        if columns.internal[column]:
            origin, distance = int(columns.origin[column]), int(columns.distance[column])
            return self._results[origin] if not distance else self._carry(origin, tuple(numbers[:distance].tolist()))
        first = int(numbers[0])
        if not (numbers == first).all():
            return self._walk_operand(numbers, instruction)
        if first < 0:
            return self.listing.literals[-1 - first]
        return self._invariant(self.writer.value(first, self.near))

    def _carry(self, origin: int, firsts: tuple[int, ...]) -> Value:
        """A carried value: that of some iterations ago; `firsts` are the initial ones."""
        key = origin, firsts
        if key not in self._carried:
            like = self._results[origin]
            self._carried[key] = self._new(like.shape, like.dtype)
            self._first.append(self.writer.value(firsts[0], self.near))
            place = len(self._next)
            self._next.append(origin)
            if len(firsts) > 1:
                self._next[place] = self._carry(origin, firsts[1:])
        return self._carried[key]

    def _invariant(self, value: Value) -> Value:
        array = self.writer.constants.get(value)
        if array is not None:
            if value not in self._constants:
                self._constants[value] = Constant(self._new(value.shape, value.dtype), array)
            return self._constants[value].value
        if value not in self._read:
            self._read[value] = self._new(value.shape, value.dtype)
        return self._read[value]

    def _slice(self, array: Value, walk: Walk) -> Value:
        key = array, walk
        if key not in self._sliced:
            self._sliced[key] = self._new(array.shape[1:], array.dtype)
        return self._sliced[key]

    def _table(self, rows: np.ndarray[Any, Any]) -> Value:
        key = "table", rows.shape, rows.dtype.str, rows.tobytes()
        made = self.writer._made
        if key not in made:
            made[key] = self.writer.new_constant(rows)
        return self._slice(made[key], Walk(0, 1))

    def _walk_operand(self, numbers: Any, instruction: Instruction) -> Value:
        """An operand from outside the loop that differs in each iteration: a slice of an array."""
        writer, listing = self.writer, self.listing
        if numbers[0] < 0:
            values = [listing.literals[-1 - number].value for number in numbers.tolist()]
            dtype = next(value.dtype for value in instruction.values)
            return self._table(np.array(values, dtype))
        loop = writer.loop_of(int(numbers[0]))
        if loop is not None:
            steps, origins = np.divmod(numbers - loop.columns.base, loop.columns.made)
            walk = progression(steps)
            inside = steps.min() >= 0 and steps.max() < loop.stretch.steps
            if walk is not None and inside and (origins == origins[0]).all() and int(origins[0]) in loop.stacks:
                return self._slice(loop.stacks[int(origins[0])], walk)
        parts = self._parts_of_one(numbers)
        if parts is not None:
            return parts
        if loop is not None:
            rows = writer.join_rows(numbers, self.near)
            if rows is not None:
                return self._slice(rows, Walk(0, 1))
        values = [writer.value(number, self.near) for number in numbers.tolist()]
        arrays = [writer.constants.get(value) for value in values]
        if all(array is not None for array in arrays):
            return self._table(stack_rows(*arrays))
        key = (STACKED, *values)
        if key not in writer._made:
            spec = (len(values), *values[0].shape), values[0].dtype
            writer._made[key] = writer.emit(STACKED, tuple(values), {}, spec, self.near)
        return self._slice(writer._made[key], Walk(0, 1))

    def _parts_of_one(self, numbers: Any) -> Value | None:
        """The array whose rows the values of `numbers` are, if they were all taken from one."""
        listing = self.listing
        if numbers.min() < listing.outside or self.writer.loop_of(int(numbers[0])) is not None:
            return None
        makers = np.searchsorted(listing.firsts, numbers, "right") - 1
        instructions = [listing.instructions[maker] for maker in makers.tolist()]
        array = instructions[0].operands[0]
        if not all(i.name == "getitem" and i.operands[0] is array for i in instructions) or type(array) is not Value:
            return None
        if len({len(i.params["index"]) for i in instructions}) != 1:
            return None
        found = find_advancing([i.params["index"] for i in instructions])
        outer = self.writer.value(listing.numbers[array], self.near)
        way = None if found is None else plan_reading(outer, found)
        if way is None or way.rest:
            return None
        return self._slice(self._prepare_array(outer, way.before), way.walk)

    # -- results

    def _finish(self) -> None:
        writer, stretch, columns = self.writer, self.stretch, self.columns
        used = self.listing.last_use[columns.base : self.stop].reshape(stretch.steps, columns.made) >= stretch.end
        stacks = [int(origin) for origin in np.flatnonzero(used[:-1].any(axis=0)) if origin not in self._sums.totals]
        stacks += [origin for origin in self._sums.added() if origin not in stacks]
        wanted = [int(origin) for origin in np.flatnonzero(used[-1]) if origin not in self._sums.totals]
        direct = {next_: place for place, next_ in reversed(list(enumerate(self._next))) if type(next_) is int}
        for origin in wanted:
            if origin not in direct and origin not in stacks:
                direct[origin] = self._keep_last(origin)
        there = self._rows_there(stacks)
        stacks = [origin for origin in stacks if origin not in there]
        entering = self._wanted_entering()
        inputs = (*self._carried.values(), *self._sliced.values(), *self._read.values())
        following = [self._results[next_] if type(next_) is int else next_ for next_ in self._next]
        outputs = (*following, *(self._results[origin] for origin in stacks), *entering.values())
        body = renumber(Program(inputs, tuple(self._constants.values()), tuple(self._body), outputs))
        sliced = tuple([walk for _, walk in self._sliced])
        loop = Loop(body, stretch.steps, len(self._carried), sliced, (Walk(0, 1),) * (len(stacks) + len(entering)))
        operands = (*self._first, *(array for array, _ in self._sliced), *self._read)
        results = tuple([writer.new_value(*spec) for spec in loop.result_specs()])
        writer.out.append(Instruction(LOOP, operands, {"loop": loop}, results, self.near.location, loop.effect))
        for origin, place in direct.items():
            self.last[origin] = results[place]
        self.stacks = {**there, **dict(zip(stacks, results[loop.carried :], strict=False))}
        self.entering = dict(zip(entering, results[loop.carried + len(stacks) :], strict=True))
        self._sums.finish()

    def _rows_there(self, stacks: Sequence[int]) -> dict[int, Value]:
        """The needed stacks that equal an array which the loop slices: they need not be computed."""
        walked = {value: key for key, value in self._sliced.items()}
        found: dict[int, Value] = {}
        for origin in stacks:
            array, walk = walked.get(self._results[origin], (None, None))
            if array is None or walk is None or not walk.step:
                continue
            found[origin] = array
            if walk != Walk(0, 1) or array.shape[0] != self.stretch.steps:
                spec = (self.stretch.steps, *array.shape[1:]), array.dtype
                index = (walk.rows(self.stretch.steps),)
                found[origin] = self.writer.emit(TABLE["getitem"], (array,), {"index": index}, spec, self.near)
        return found

    def _wanted_entering(self) -> dict[tuple[int, int], Value]:
        """The carried values whose stack over all iterations is needed, by the initial value."""
        found: dict[tuple[int, int], Value] = {}
        for key, value in self._carried.items():
            origin, firsts = key
            if (
                type(firsts) is tuple
                and len(firsts) == 1
                and (firsts[0], self.columns.base + origin) in self.writer._starts
            ):
                found[firsts[0], origin] = value
        return found

    def _keep_last(self, origin: int) -> int:
        """Carry a value only so that it is available after the last iteration."""
        like = self._results[origin]
        key = "last", like.shape, like.dtype
        made = self.writer._made
        if key not in made:
            made[key] = self.writer.new_constant(np.broadcast_to(np.zeros((), like.dtype), like.shape))
        self._carried["last", origin] = self._new(like.shape, like.dtype)
        self._first.append(made[key])
        self._next.append(origin)
        return len(self._next) - 1


def renumber(program: Program) -> Program:
    """The same program with ids in the order of definition, from 0."""
    new: dict[Value, Value] = {}

    def rename(value: Value) -> Value:
        if value not in new:
            new[value] = Value(len(new), value.shape, value.dtype)
        return new[value]

    inputs = tuple([rename(value) for value in program.inputs])
    constants = tuple(
        [Constant(rename(constant.value), constant.array, constant.cleared) for constant in program.constants]
    )
    instructions = tuple(
        [
            i.replace(
                operands=tuple([x if type(x) is Literal else rename(x) for x in i.operands]),  # type: ignore[arg-type]
                results=tuple([rename(value) for value in i.results]),
            )
            for i in program.instructions
        ]
    )
    return Program(inputs, constants, instructions, tuple([rename(value) for value in program.outputs]))
