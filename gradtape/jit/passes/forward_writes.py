"""Writes that need not go through memory: what is read of an array that was just written to is what was written.

The rules are about arrays of which parts are written to, `set(x, value, index)` and `add_at(x, value, index)`:

- a write to the whole array is the value that is written, and a read of the whole array is the array;
- a read inside of the part that was written is a part of the value, and one outside of it is of the array before;
- a read of a part to which was added is the sum with what was there, if nothing else reads the whole;
- a write that a later one covers is dropped; parts that cover the whole array are concatenated;
- a part that is set to zero, and to which what it was is added again, as in the gradient of `x[1:] += y`, stays as it
  is (-0.0 stays -0.0, where the sum would be 0.0);
- in a loop, a write to nearly all of an array is the value between the edges of the array: nothing is copied for that,
  and the old version may be read while the new one is computed;
- a read of, or a write to, an array with its axes exchanged is one of that array, and so is that array with its axes
  exchanged back; an array of zeros that was written to, with its axes exchanged, is written to with them exchanged;
- a loop that carries a constant, and gives the same constant, reads it;
- a sum with an array that was set to zero, as the gradient of `x[:] = y` has them, is its other operand (-0.0 stays
  -0.0 here too).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.core.shapes import Shape
from gradtape.jit.ir.program import LOOP, Instruction, Literal, Loop, Operand, Program, Value
from gradtape.jit.passes.regions import (
    Part,
    Region,
    covers,
    exchange_axes,
    find_region,
    index_of,
    is_whole,
    meets,
    shape_of,
)
from gradtape.jit.passes.rewrite import RewriteContext, has_same_type, rename_operands, uniform_number

PARTS_AT_MOST = 4
"""Of how many parts an array is concatenated; more are written one after the other."""
FAR = 8
"""How many versions back writes are looked at."""
ROUNDS_AT_MOST = 3
NEARLY_ALL = 0.75
"""Of an array, from which on a write to it in a loop leaves little of the old version."""
BODY_AT_MOST = 1 << 14
"""Elements of any array in the body of a loop, up to which it is better without writes."""


class _Write(NamedTuple):
    """A version of an array: `array` with `value` set at, or added to, a part of it."""

    array: Value
    value: Operand
    region: Region
    adds: bool


def forward_writes(program: Program) -> Program:
    """Drop writes and reads that need not go through memory, in the bodies of loops as well.

    >>> import numpy as np, gradtape as gt
    >>> def step(x):
    ...     y = gt.zeros(6)
    ...     y[1:-1] = x[1:-1] * 2.0
    ...     y[0], y[-1] = y[1], y[-2]
    ...     return y
    >>> names = [instruction.name for instruction in gt.jit(step).lower(np.ones(6)).instructions]
    >>> "set" in names, names[-1]
    (False, 'concatenate')
    """
    if not any(i.op is LOOP or i.name in ("set", "add_at") for i in program.instructions):
        return program
    return _forward(program, in_loop=False)


def _forward(program: Program, in_loop: bool) -> Program:
    """The program after the rules; they are applied again, since more of them fit when dead writes are gone."""
    for _ in range(ROUNDS_AT_MOST):
        forwarder = _Forwarder(program, in_loop and all(value.size <= BODY_AT_MOST for value in program.values()))
        for instruction in program.instructions:
            forwarder.append(instruction)
        if not forwarder.changed:
            break
        program = forwarder.finish()
    return program


class _Forwarder:
    """The program while it is being written."""

    def __init__(self, program: Program, joins: bool) -> None:
        """With `joins`, writes to nearly all of an array are concatenations."""
        self.program, self.context, self.joins = program, RewriteContext(program), joins
        self.cleared = {constant.value for constant in program.constants if constant.cleared}
        self.uses = program.uses()
        self.names: dict[Value, Value] = {}
        self.writes: dict[Value, _Write] = {}
        self.reads: dict[Value, tuple[Value, Region]] = {}
        self.turned: dict[Value, tuple[Value, tuple[int, ...]]] = {}  # arrays with their axes exchanged
        self.joined: dict[Value, tuple[int, tuple[Operand, ...]]] = {}  # concatenations: axis, and parts
        self.scattered: dict[Value, tuple[Value, Region]] = {}  # arrays that are zero but for a part
        self.made: list[Instruction] = []
        self.changed = False

    def append(self, instruction: Instruction) -> None:
        """Append an instruction, or what it is replaced by."""
        new = rename_operands(instruction, self.names)
        found: Value | None = None
        if new.op is LOOP and not new.effect:
            new = self._forward_in_loop(new)
        elif new.name == "getitem" and type(new.operands[0]) is Value:
            found = self._read(new, new.operands[0])
        elif new.name in ("set", "add_at") and type(new.operands[0]) is Value:
            found = self._write(new, new.operands[0])
        elif new.name == "add" and len(new.values) == 2:
            found = self._add(new)
        elif new.name == "transpose" and type(new.operands[0]) is Value:
            found = self._turn_back(new, new.operands[0])
        elif new.name == "concatenate":
            new = self._flatten(new)
        elif new.name == "scatter" and type(new.operands[0]) is Value:
            region = find_region(new.params["index"], new.result.shape)
            if region is not None and shape_of(region) == new.operands[0].shape:
                self.scattered[new.result] = new.operands[0], region
        if found is not None:
            self.names[new.result] = found
            self.changed = True
            return
        self.changed |= new is not instruction
        self.made.append(new)

    def finish(self) -> Program:
        """The new program."""
        from gradtape.jit.passes.dce import drop_dead

        outputs = tuple([self.names.get(value, value) for value in self.program.outputs])
        constants = (*self.program.constants, *self.context.added)
        return drop_dead(Program(self.program.inputs, constants, tuple(self.made), outputs))

    # -- instructions

    def _emit(self, name: str, operands: Sequence[Operand], params: dict[str, Any], shape: Shape, like: Value) -> Value:
        result = self.context.new_value(shape, like.dtype)
        near = self.made[-1].location if self.made else self.program.instructions[0].location
        self.made.append(Instruction(TABLE[name], tuple(operands), params, (result,), near))
        return result

    def _flatten(self, instruction: Instruction) -> Instruction:
        """A concatenation with the parts of those operands that are concatenations along the same axis."""
        axis = instruction.params.get("axis", 0)
        parts: list[Operand] = []
        for operand in instruction.operands:
            inner = self.joined.get(operand) if type(operand) is Value else None
            parts += [operand] if inner is None or inner[0] != axis else inner[1]
        if len(parts) > 2 * PARTS_AT_MOST:
            parts = list(instruction.operands)
        self.joined[instruction.result] = axis, tuple(parts)
        return instruction if len(parts) == len(instruction.operands) else instruction.replace(operands=tuple(parts))

    def _read(self, instruction: Instruction, array: Value) -> Value | None:
        """What a read gives: a value that is there, or None to keep it."""
        region = find_region(instruction.params["index"], array.shape)
        if region is None:
            return None
        if array not in self.turned and array not in self.writes:
            self.reads[instruction.result] = array, region
        return self._read_region(array, region)

    def _read_region(self, array: Value, region: Region) -> Value | None:
        """The value of a part of an array; None if it has to be read of that array."""
        if is_whole(region, array.shape):
            return array
        if array in self.turned:
            return self._read_turned(region, *self.turned[array])
        source = array
        for _ in range(FAR):
            write = self.writes.get(source)
            if write is None:
                break
            if not meets(write.region, region):
                source = write.array
                continue
            found = None
            if write.adds and covers(region, write.region) and self.uses.get(source) == 1:
                found = self._add_to_part(write, region)
            elif not write.adds:
                covered = covers(write.region, region)
                found = self._part_of(write, region, array.dtype) if covered else self._read_parts(source, region)
            if found is not None:
                return found
            break
        if source in self.turned and source is not array:
            return self._read_turned(region, *self.turned[source])
        if source is array and array not in self.writes:
            return None
        found = self._emit("getitem", (source,), {"index": index_of(region)}, shape_of(region), array)
        self.reads[found] = source, region
        return found

    def _add_to_part(self, write: _Write, region: Region) -> Value | None:
        """A part of an array to which was added inside of it: the addition to the part; None if axes do not fit."""
        pairs = list(zip(region, write.region, strict=True))
        if any(part.single and not one.single for part, one in pairs):
            return None
        part = self._read_region(write.array, region)
        if part is None:
            part = self._emit("getitem", (write.array,), {"index": index_of(region)}, shape_of(region), write.array)
        moved = tuple(
            [Part(one.start - own.start, one.stop - own.start, one.single) for own, one in pairs if not own.single]
        )
        return self._emit("add_at", (part, write.value), {"index": index_of(moved)}, part.shape, part)

    def _read_turned(self, region: Region, source: Value, axes: tuple[int, ...]) -> Value:
        """A part of an array with its axes exchanged: that of the array itself, with its axes exchanged."""
        inner, order = exchange_axes(region, axes)
        found = self._read_region(source, inner)
        if found is None:
            found = self._emit("getitem", (source,), {"index": index_of(inner)}, shape_of(inner), source)
            self.reads[found] = source, inner
        return found if order == tuple(range(len(order))) else self._transpose(found, order)

    def _turn_back(self, instruction: Instruction, array: Value) -> Value | None:
        """The array whose axes were exchanged twice, and are in their order again; None to keep the exchange."""
        axes = instruction.params.get("axes")
        if not isinstance(axes, tuple):
            return None
        order = tuple([axis % len(axes) for axis in axes])
        if array in self.turned:
            source, before = self.turned[array]
            if all(before[axis] == place for place, axis in enumerate(order)):
                return source
        found = self._exchange_writes(array, order)
        if found is None:
            self.turned[instruction.result] = array, order
        return found

    def _exchange_writes(self, array: Value, order: tuple[int, ...]) -> Value | None:
        """Writes to an array of zeros, whose axes are then exchanged: writes to one with exchanged axes; or None."""
        writes: list[_Write] = []
        base = array
        while base in self.writes and len(writes) < FAR:
            writes.append(self.writes[base])
            base = writes[-1].array
        if base not in self.scattered:
            return None
        value, region = self.scattered[base]
        if any(type(x) is Value and x.ndim > 1 for x in (value, *(write.value for write in writes))):
            return None

        def index(parts: Region) -> tuple[Any, ...]:
            return index_of(tuple([parts[axis] for axis in order]))

        shape = tuple([base.shape[axis] for axis in order])
        found = self._emit("scatter", (value,), {"index": index(region), "shape": shape}, shape, base)
        for write in reversed(writes):
            name = "add_at" if write.adds else "set"
            found = self._emit(name, (found, write.value), {"index": index(write.region)}, shape, base)
        return found

    def _transpose(self, array: Value, axes: tuple[int, ...]) -> Value:
        shape = tuple([array.shape[axis] for axis in axes])
        found = self._emit("transpose", (array,), {"axes": axes}, shape, array)
        self.turned[found] = array, axes
        return found

    def _read_parts(self, version: Value, region: Region) -> Value | None:
        """A part of an array as the parts that were written to it last; None if these do not cover it."""
        shape = version.shape
        axes = [axis for axis, part in enumerate(region) if part.single or part[:2] != (0, shape[axis])]
        if len(axes) != 1 or region[axes[0]].single:
            return None
        return self._join_parts(version, axes[0], region[axes[0]].start, region[axes[0]].stop)

    def _part_of(self, write: _Write, region: Region, dtype: np.dtype[Any]) -> Value | None:
        """The part of what was written that a read selects; None if it was broadcast to more than a number."""
        shape, number = shape_of(region), self._number(write.value, dtype)
        if number is not None:
            return self._new_constant(shape, number)
        value = write.value
        if type(value) is not Value or value.dtype != dtype or value.shape != shape_of(write.region):
            return None
        pairs = list(zip(write.region, region, strict=True))
        if any(one.single and not part.single for one, part in pairs):  # the value lacks an axis of the read
            return None
        moved = tuple(
            [Part(part.start - one.start, part.stop - one.start, part.single) for one, part in pairs if not one.single]
        )
        if is_whole(moved, value.shape):
            return value
        found = self._read_region(value, moved)
        if found is None:
            found = self._emit("getitem", (value,), {"index": index_of(moved)}, shape, value)
        return found

    def _number(self, value: Operand, dtype: np.dtype[Any]) -> np.ndarray[Any, Any] | None:
        """The number that a value is everywhere, in this dtype; None if it is not known."""
        if type(value) is Literal:
            known = isinstance(value.value, bool | int | float | np.generic)
            return np.asarray(value.value).astype(dtype) if known else None
        array = self.context.constants.get(value)  # type: ignore[arg-type]
        if array is None or not array.size or array.dtype != dtype or dtype.kind not in "fiub":
            return None
        number = uniform_number(array)
        return None if number is None else np.asarray(number, dtype)

    def _new_constant(self, shape: Shape, number: np.ndarray[Any, Any]) -> Value:
        """An array of one number that was written to all of it."""
        cleared = _is_positive_zero(number)
        found = self.context.new_constant(np.full(shape, number), cleared)
        if cleared:
            self.cleared.add(found)
        return found

    def _write(self, instruction: Instruction, array: Value) -> Value | None:
        """What a write gives: a value, or None to keep it."""
        region = find_region(instruction.params["index"], array.shape)
        value = instruction.operands[1]
        if region is None:
            return None
        adds = instruction.name == "add_at"
        if array in self.turned and not is_whole(region, array.shape):
            return self._write_turned(instruction.name, value, region, *self.turned[array])
        if adds:
            found = self._put_back(array, value, region)
            if found is not None:
                return found
        elif is_whole(region, array.shape):
            number = self._number(value, array.dtype)
            if number is not None:
                return self._new_constant(array.shape, number)
            if type(value) is Value and value.dtype == array.dtype:
                if value.shape == array.shape:
                    return value
                return self._emit("broadcast_to", (value,), {"shape": array.shape}, array.shape, array)
        self.writes[instruction.result] = _Write(array, value, region, adds)
        if adds:
            return None
        found = self._concatenate(instruction.result)
        if found is None and self.joins:
            found = self._between_edges(array, value, region)
            if found is not None:
                self.writes[found] = self.writes[instruction.result]
        return found

    def _write_turned(
        self, name: str, value: Operand, region: Region, source: Value, axes: tuple[int, ...]
    ) -> Value | None:
        """A write to an array with its axes exchanged: to the array itself. None if the value is broadcast."""
        inner, order = exchange_axes(region, axes)
        rank = value.ndim if type(value) is Value else 0
        if rank and rank != len(order):
            return None
        if type(value) is Value and rank > 1 and order != tuple(range(rank)):
            value = self._transpose(value, tuple(np.argsort(order).tolist()))
        self._emit(name, (source, value), {"index": index_of(inner)}, source.shape, source)
        write = self.made.pop()
        found = self._write(write, source)
        if found is None:
            self.made.append(write)
        return self._transpose(write.result if found is None else found, axes)

    def _add(self, instruction: Instruction) -> Value | None:
        """What a sum is if one operand is zero, or a value that is put back at a part of the other; None to keep it."""
        for array, other in (instruction.values, instruction.values[::-1]):
            if other in self.cleared and has_same_type(array, instruction.result):
                return array
            if other in self.scattered and array.shape == other.shape and array.dtype == other.dtype:
                value, region = self.scattered[other]
                found = self._put_back(array, value, region)
                if found is not None:
                    return found
        return None

    def _put_back(self, array: Value, value: Operand, region: Region) -> Value | None:
        """The array before a part of it was set to zero, if `value` is what was there."""
        write = self.writes.get(array)
        read = self.reads.get(value) if type(value) is Value else None
        if write is None or read is None or write.adds or write.region != region != ():
            return None
        number = self._number(write.value, array.dtype)
        zero = number is not None and _is_positive_zero(number)
        return write.array if zero and read == (write.array, region) else None

    def _concatenate(self, version: Value) -> Value | None:
        """The array as its parts, if these cover it along one axis; None if they do not."""
        write = self.writes[version]
        shape = version.shape
        axes = [axis for axis, part in enumerate(write.region) if (part.start, part.stop) != (0, shape[axis])]
        if len(axes) != 1:
            return None
        return self._join_parts(version, axes[0], 0, shape[axes[0]])

    def _between_edges(self, array: Value, value: Operand, region: Region) -> Value | None:
        """A value between the edges of an array, if it is nearly all of it; None to write it."""
        shape = array.shape
        axes = [axis for axis, part in enumerate(region) if part[:2] != (0, shape[axis]) or part.single]
        if len(axes) != 1 or region[axes[0]].single:
            return None
        (axis,) = axes
        part = region[axis]
        if part.stop - part.start < NEARLY_ALL * shape[axis]:
            return None
        number = self._number(value, array.dtype)
        if number is not None and not _is_positive_zero(number):
            return None
        if number is None and (
            type(value) is not Value or (value.shape, value.dtype) != (shape_of(region), array.dtype)
        ):
            return None
        edges: list[tuple[int, Value, slice]] = []
        for begin, end in ((0, part.start), (part.stop, shape[axis])):
            if begin < end:
                edge = (*region[:axis], Part(begin, end, False), *region[axis + 1 :])
                found = self._read_region(array, edge)
                if found is None:
                    found = self._emit("getitem", (array,), {"index": index_of(edge)}, shape_of(edge), array)
                edges.append((begin, found, slice(begin, end)))
        if number is None:
            assert type(value) is Value
            operands = [
                operand for _, operand, _ in sorted([*edges, (part.start, value, slice(0))], key=lambda x: x[0])
            ]
            found = self._emit("concatenate", operands, {"axis": axis}, shape, array)
            self.joined[found] = axis, tuple(operands)
            return found
        _, first, place = edges[0]
        where = (*[slice(None)] * axis, place)
        found = self._emit("scatter", (first,), {"index": where, "shape": shape}, shape, array)
        for _, edge_value, place in edges[1:]:
            where = (*[slice(None)] * axis, place)
            found = self._emit("set", (found, edge_value), {"index": where}, shape, array)
        return found

    def _join_parts(self, version: Value, axis: int, begin: int, end: int) -> Value | None:
        """The array from `begin` to `end` along an axis as parts of what was written; None if that is not all of it."""
        shape, dtype = version.shape, version.dtype
        free = [(begin, end)]  # what no write has covered so far
        pieces: list[tuple[Part, Part, Operand, bool]] = []
        seen: Value = version
        for _ in range(FAR):
            found = self.writes.get(seen)
            if found is None or not free:
                break
            others = [i for i, part in enumerate(found.region) if (part.start, part.stop) != (0, shape[i])]
            part = found.region[axis]
            if others != [axis]:
                return None
            left: list[tuple[int, int]] = []
            for low, high in free:
                first, last = max(low, part.start), min(high, part.stop)
                if first >= last:
                    left.append((low, high))
                    continue
                if found.adds:
                    return None
                single = any(one.single for one in found.region)
                if any(one.single for i, one in enumerate(found.region) if i != axis):
                    return None
                pieces.append((Part(first, last, False), part, found.value, single))
                left += [pair for pair in ((low, first), (last, high)) if pair[0] < pair[1]]
            free, seen = left, found.array
        if free or len(pieces) > PARTS_AT_MOST:
            return None
        numbers = [self._number(value, dtype) for _, _, value, _ in pieces]
        known = [number.tobytes() for number in numbers if number is not None]
        if len(known) == len(pieces) and len(set(known)) == 1:
            assert numbers[0] is not None
            return self._new_constant((*shape[:axis], end - begin, *shape[axis + 1 :]), numbers[0])
        return self._join(pieces, axis, shape, version)

    def _join(
        self, pieces: Sequence[tuple[Part, Part, Operand, bool]], axis: int, shape: Shape, like: Value
    ) -> Value | None:
        """The concatenation of parts of values that were written along an axis; None if a value was broadcast."""
        operands: list[Value] = []
        plans: list[tuple[Value, Any, Shape]] = []
        for seen, part, value, single in sorted(pieces, key=lambda piece: piece[0]):
            length = part.stop - part.start
            rest = (*shape[:axis], *shape[axis + 1 :])
            own = rest if single else (*shape[:axis], length, *shape[axis + 1 :])
            if type(value) is not Value or value.dtype != like.dtype or value.shape != own:
                return None
            cut = None if single else slice(seen.start - part.start, seen.stop - part.start)
            wide = (*shape[:axis], seen.stop - seen.start, *shape[axis + 1 :])
            plans.append((value, (*[slice(None)] * axis, cut), wide))
        for value, index, wide in plans:
            whole = value.shape == wide
            operands.append(value if whole else self._emit("getitem", (value,), {"index": index}, wide, like))
        if len(operands) == 1:
            return operands[0]
        length = sum(operand.shape[axis] for operand in operands)
        joined = (*shape[:axis], length, *shape[axis + 1 :])
        found = self._emit("concatenate", operands, {"axis": axis}, joined, like)
        self.joined[found] = axis, tuple(operands)
        return found

    # -- loops

    def _forward_in_loop(self, instruction: Instruction) -> Instruction:
        """The loop with its body rewritten, and without carried constants."""
        loop: Loop = instruction.params["loop"]
        body = _forward(loop.body, in_loop=True)
        if body is not loop.body:
            instruction = instruction.replace(params={"loop": dataclasses.replace(loop, body=body)})
        while True:
            smaller = self._drop_constant(instruction)
            if smaller is None:
                return instruction
            instruction = smaller

    def _drop_constant(self, instruction: Instruction) -> Instruction | None:
        """The loop without a carried value that is a constant all the time; None if there is none."""
        loop: Loop = instruction.params["loop"]
        body = loop.body
        constants = {constant.value: constant.array for constant in body.constants}
        for number in range(loop.carried):
            inner, outer = constants.get(body.outputs[number]), self.context.constants.get(instruction.values[number])
            if inner is None or outer is None:
                continue
            one, other = uniform_number(inner), uniform_number(outer)
            if one is None or other is None or np.asarray(one).tobytes() != np.asarray(other).tobytes():
                continue
            names = {body.inputs[number]: body.outputs[number]}
            made = [rename_operands(inner_instruction, names) for inner_instruction in body.instructions]
            outputs = [names.get(value, value) for value in body.outputs]
            cleared = any(c.cleared for c in body.constants if c.value is body.outputs[number])
            zero = np.asarray(other, outer.dtype)
            result = self._new_constant(outer.shape, zero) if cleared else instruction.values[number]
            self.names[instruction.results[number]] = result
            kept = [i for i in range(len(body.inputs)) if i != number]
            del outputs[number]
            smaller = dataclasses.replace(
                loop,
                body=_forward(
                    body.replace(
                        inputs=tuple([body.inputs[i] for i in kept]),
                        instructions=tuple(made),
                        outputs=tuple(outputs),
                    ),
                    in_loop=True,
                ),
                carried=loop.carried - 1,
            )
            results = tuple([result for i, result in enumerate(instruction.results) if i != number])
            operands = tuple([instruction.operands[i] for i in kept])
            return instruction.replace(operands=operands, params={"loop": smaller}, results=results)
        return None


def _is_positive_zero(number: np.ndarray[Any, Any]) -> bool:
    return not number.any() and not np.signbit(number).any()
