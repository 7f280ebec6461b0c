"""Calls that run a block of their own: loops, and loops over large arrays in tiles.

The inner block is one function of the same module. The call fills its table of pointers and runs it for every iteration
of the loop, or for every tile.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gradtape.jit.ir.program import Loop, Walk
from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.block import Block, make_internal
from gradtape.jit.native.emit.builder import start_builder
from gradtape.jit.native.emit.loops import LONG, POINTER, STATUS, VOID, CallCode, Loops, SlotKey, copy_if_apart
from gradtape.jit.native.lower.ir import AnyInstruction, ArrayValue
from gradtape.jit.native.lower.support import LOOP
from gradtape.jit.native.schedule.fusion import FusionPlan
from gradtape.jit.native.schedule.layout import bytes_of
from gradtape.jit.native.schedule.workspace import align

BYTE = ir.IntType(8)
TILE_UNITS = 16


def emit_call(block: Block, name: str, instruction: AnyInstruction) -> CallCode:
    """Emit a loop, or loops in tiles."""
    emitter = (LoopBodyEmitter if instruction.name == LOOP else TileEmitter)(block, name, instruction)
    work = emitter.emit()
    return CallCode(work, emitter.units, None, emitter.memory)


class InnerBlockEmitter(Loops):
    """Emits `name(buffers, begin, end)` around a block of its own, whose table of pointers it fills."""

    inner: Block
    memory: int  # bytes of workspace, in the slot of the instruction
    units = 1

    def __init__(self, outer: Block, name: str, instruction: AnyInstruction) -> None:
        self.outer, self.name, self.instruction = outer, name, instruction
        self.module = outer.module
        self.operands = [outer.plan.layouts[x].root for x in instruction.values]  # in C order, from the start

    def open(
        self,
        instructions: Sequence[Any],
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        plan: FusionPlan | None = None,
    ) -> None:
        """Emit the inner block and start the function."""
        inner, body = self.emit_body(f"{self.name}_body_", instructions, inputs, outputs, plan)
        self.memory = inner.workspace
        self.start_function()
        self.use_body(inner, body)

    def emit_body(
        self, prefix: str, instructions: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], plan: Any
    ) -> tuple[Block, Any]:
        """Emit an inner block, and the function that runs it."""
        inner = Block(self.module, self.outer.machine, instructions, inputs, outputs, prefix=prefix, plan=plan)
        self.outer.addresses |= inner.addresses
        return inner, make_internal(inner.emit_run())

    def start_function(self) -> None:
        """Add the function to the module, and place the builder at its entry."""
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER, LONG, LONG]), self.name)
        self.entry = function.append_basic_block("entry")
        self.builder = start_builder(self.entry)
        self.lanes = _NoLanes()  # type: ignore[assignment]
        self.buffers, self.begin, self.end = function.args

    def use_body(self, inner: Block, body: Any) -> None:
        """Fill the table of, and run, this inner block from here on."""
        self.inner, self.body = inner, body
        table = self.builder.alloca(ir.ArrayType(POINTER, max(1, inner.count)))
        self.table = self.builder.inttoptr(self.builder.ptrtoint(table, LONG), POINTER)

    def prepare(self, space: ir.Value, constants: Mapping[int, Any]) -> None:
        """Fill the slots that are the same for every run of the inner block: temporaries and constants."""
        builder, inner = self.builder, self.inner
        for slot, offset in inner.temporaries:
            self.fill_slot(slot, self.advance(space, self.number(offset)))
        arrays = {**constants, **inner.constant_arrays}
        for slot, array in arrays.items():
            # by name, since addresses differ between processes, and the text is the key of the disk cache
            place = ir.GlobalVariable(self.module, BYTE, f"{inner.prefix}constant_{slot}")
            self.outer.addresses[place.name] = array.ctypes.data
            address = builder.inttoptr(builder.ptrtoint(place, LONG), POINTER)
            builder.store(address, self.inner_slot(slot))
        self.outer.kept += [*arrays.values(), *inner.kept]
        if inner.is_checked:
            builder.store(self.outer_slot(STATUS), self.inner_slot(inner.slots[STATUS]))

    def run(self) -> None:
        """Emit a call of the inner block with its table of pointers."""
        self.builder.call(self.body, [self.table])

    def work(self) -> int:
        """The work of one run of the inner block."""
        codes = self.inner.codes
        return max(sum(code.elements * (8 if code.heavy else 1) for code in codes), 50 * len(codes))

    # -- pointers

    def outer_slot(self, key: SlotKey) -> Any:
        """The address in a slot of the outer block."""
        index = self.number(self.outer.slots[key])
        return self.builder.load(self.builder.gep(self.buffers, [index], source_etype=POINTER), typ=POINTER)

    def inner_slot(self, index: int) -> Any:
        """The address of a slot in the table of the inner block."""
        return self.builder.gep(self.table, [self.number(index)], source_etype=POINTER)

    def fill_slot(self, slot: int, pointer: ir.Value) -> None:
        """Set a slot of the inner block."""
        if self.outer.checks is not None:
            pointer = self.builder.require(pointer, self.inner.sizes[slot], "hands its body")
        self.builder.store(pointer, self.inner_slot(slot))

    def advance(self, pointer: ir.Value, distance: ir.Value) -> Any:
        """The address `distance` bytes after a pointer."""
        return self.builder.gep(pointer, [distance], source_etype=BYTE)

    def room(self, space: ir.Value, value: ArrayValue) -> Any:
        """Allocate more memory in the workspace."""
        start = self.memory
        self.memory += align(bytes_of(value))
        return self.advance(space, self.number(start))


LARGE_CARRY = 512
"""Bytes of a carried value from which on it is not copied where its buffer can be handed on."""


class LoopBodyEmitter(InnerBlockEmitter):
    """Emits a loop: the inner block is its body, which runs once for each iteration.

    A carried value whose next version is made in place has one buffer, the memory of the result. The buffers of the
    others are exchanged after each iteration: where the next version of one value is in the memory of another (made in
    place there, or that value as it is, as in `old, new = new, step(new)`), it takes over that buffer. A value that is
    written anew is written to a spare buffer; or, if its versions are stacked for the gradient, to the next row of the
    stack, where the next iteration reads it.
    """

    def emit(self) -> int:
        """Emits the loop; a measure of its work, in elements of light loops."""
        loop = self.instruction.params["loop"]
        body, constants = loop.body, loop.body.constants
        plan = self.outer.plan.bodies.get(self.instruction)
        self.open(body.instructions, [*body.inputs, *(constant.value for constant in constants)], body.outputs, plan)
        space = self.outer_slot(self.instruction)
        self.prepare(space, {self.inner.slots[constant.value]: constant.array for constant in constants})
        self.outer.loop_copies += self.inner.find_copies(loop.length)
        self.emit_steps(loop, space, [self.outer_slot(key) for key in self.operands])
        self.builder.ret_void()
        return int(loop.length * self.work())

    def row_address(self, pointer: ir.Value, walk: Walk, step: ir.Value, value: ArrayValue) -> Any:
        """The address of the row that an iteration reads or writes."""
        size = bytes_of(value)
        distance = self.builder.mul(step, self.number(walk.step * size))
        return self.advance(pointer, self.builder.add(distance, self.number(walk.start * size)))

    def emit_steps(self, loop: Loop, space: ir.Value, operands: list[Any]) -> None:
        """Emit the iterations: set the pointers of each, run the body, swap the carried buffers."""
        inner, builder = self.inner, self.builder
        inputs, outputs = loop.body.inputs, loop.body.outputs
        carried, sliced = loop.carried, len(loop.sliced)
        results = [self.outer_slot(result) for result in self.instruction.results]
        moves = find_moves(loop, inner.plan.in_place)
        stacks = find_stacks(loop, moves)  # values that are read from, and written to, the rows of a stacked result
        pairs: dict[int, tuple[Any, Any]] = {}  # values with two buffers: one is read, the other is written
        buffers: dict[int, Any] = {}  # variables that point to the buffers of the others
        spare: dict[int, Any] = {}
        for i, (value, operand) in enumerate(zip(inputs[:carried], operands, strict=False)):
            if moves[i] == i:  # it stays in the memory of the result
                copy_if_apart(builder, results[i], operand, bytes_of(value))
                self.fill_slot(inner.slots[value], results[i])
                continue
            if i in stacks:
                first = self.row_address(results[carried + stacks[i]], loop.stacked[stacks[i]], self.number(0), value)
                self.copy_bytes(first, operand, bytes_of(value))
                continue
            room = self.room(space, value)
            self.copy_bytes(room, operand, bytes_of(value))
            if moves[i] is None and i not in moves:
                pairs[i] = room, self.room(space, value)
                continue
            buffers[i] = self.local(POINTER)
            builder.store(room, buffers[i])
            if moves[i] is None:
                spare[i] = self.local(POINTER)
                builder.store(self.room(space, value), spare[i])
        for value, operand in zip(inputs[carried + sliced :], operands[carried + sliced :], strict=True):
            self.fill_slot(inner.slots[value], operand)
        with self.loop(0, loop.length) as step:
            odd = builder.trunc(step, ir.IntType(1))
            now = {i: builder.load(pointer, typ=POINTER) for i, pointer in buffers.items()}
            free = {i: builder.load(pointer, typ=POINTER) for i, pointer in spare.items()}
            for i, number in stacks.items():
                stack, walk = results[carried + number], loop.stacked[number]
                now[i] = self.row_address(stack, walk, step, inputs[i])
                further = self.row_address(stack, walk, builder.add(step, self.number(1)), inputs[i])
                is_last = builder.icmp_signed("==", step, self.number(loop.length - 1))
                free[i] = builder.select(is_last, results[i], further)
            following = {i: free[i] if i in free else now[moves[i]] for i in buffers}  # type: ignore[index]
            for i, (one, other) in pairs.items():
                now[i] = builder.select(odd, other, one)
                free[i] = builder.select(odd, one, other)
            for i, pointer in now.items():
                self.fill_slot(inner.slots[inputs[i]], pointer)
            for walk, value, operand in zip(loop.sliced, inputs[carried:], operands[carried:], strict=False):
                self.fill_slot(inner.slots[value], self.row_address(operand, walk, step, value))
            targets = [(outputs[i], free[i]) for i in sorted(free)]
            for number, walk in enumerate(loop.stacked):
                if number not in stacks.values():
                    value = outputs[carried + number]
                    targets.append((value, self.row_address(results[carried + number], walk, step, value)))
            direct: dict[Any, Any] = {}
            for value, target in targets:
                if value in inner.written and value not in direct and value not in inner.plan.in_place:
                    direct[value] = target
                    self.fill_slot(inner.slots[value], target)
            self.run()
            for value, target in targets:
                if direct.get(value) is not target:
                    source = builder.load(self.inner_slot(inner.slots[value]), typ=POINTER)
                    self.copy_bytes(target, source, bytes_of(value))
            for i, pointer in following.items():
                builder.store(pointer, buffers[i])
            for i, pointer in spare.items():
                builder.store(now[_find_last(moves, i)], pointer)
        last = {i: builder.load(pointer, typ=POINTER) for i, pointer in buffers.items()}
        last |= {i: pair[loop.length % 2] for i, pair in pairs.items()}
        for i, pointer in last.items():
            self.copy_bytes(results[i], pointer, bytes_of(inputs[i]))


def find_moves(loop: Loop, in_place: Mapping[ArrayValue, ArrayValue]) -> list[int | None]:
    """For each carried value, the number of the one whose buffer its next version takes over; None for a spare one."""
    inputs, outputs = loop.body.inputs[: loop.carried], loop.body.outputs[: loop.carried]
    moves: list[int | None] = [None] * loop.carried
    places: dict[ArrayValue, int] = {value: i for i, value in enumerate(inputs)}
    sources = [
        places.get(in_place.get(output, output)) if output in in_place or bytes_of(output) >= LARGE_CARRY else None
        for output in outputs
    ]
    for own in (True, False):  # a value that stays where it is does so
        for i, source in enumerate(sources):
            if source is not None and moves[i] is None and source not in moves and (source == i) is own:
                moves[i] = source
    return moves


def find_stacks(loop: Loop, moves: Sequence[int | None]) -> dict[int, int]:
    """Carried values that are written anew, and of which the versions that the steps read are stacked: which result.

    Not single numbers, whose stack all tiles of a tiled loop share: each tile computes them for itself.
    """
    stacked = loop.body.outputs[loop.carried :]
    return {
        i: stacked.index(value)
        for i, (value, source) in enumerate(zip(loop.body.inputs, moves, strict=False))
        if source is None and value in stacked and math.prod(value.shape) > 1
    }


def _find_last(moves: Sequence[int | None], number: int) -> int:
    """The last of the values that take over one another's buffers, from this one on: its own becomes free."""
    while number in moves:
        number = moves.index(number)
    return number


class TileEmitter(InnerBlockEmitter):
    """Emits loops over large arrays, tile by tile: see `schedule.tiling`. A unit is a range of tiles."""

    def emit(self) -> int:
        """Emits the loop over tiles; a measure of its work, in elements of light loops."""
        self.tile = tile = self.instruction.params["tile"]
        count = -(-tile.whole // tile.length)
        self.units = min(TILE_UNITS, count)
        self.open(tile.instructions, tile.inputs, tile.outputs)
        self.outer.loop_copies += self.inner.loop_copies
        builder = self.builder
        short = [*tile.inputs, *tile.outputs]
        size = self.memory + sum(align(bytes_of(x)) for x in short if tile.rows.get(x, 1) > 1)
        # each thread has its own region of the workspace
        space = self.advance(self.outer_slot(self.instruction), builder.mul(self.begin, self.number(size)))
        self.prepare(space, {})
        wholes = [self.outer_slot(key) for key in (*self.operands, *self.instruction.results)]
        rooms = [self.room(space, value) if tile.rows.get(value, 1) > 1 else None for value in short]
        with self.loop(self.begin, self.end) as unit:
            first, last = (
                builder.udiv(
                    builder.mul(builder.add(unit, self.number(i)), self.number(count)), self.number(self.units)
                )
                for i in (0, 1)
            )
            with self.loop(first, last) as number:
                # the last tile overlaps the one before, and computes the same bits there
                place = builder.mul(number, self.number(tile.length))
                place = self.minimum(place, self.number(tile.whole - tile.length))
                parts = list(zip(short, wholes, rooms, strict=True))
                for value, whole, room in parts:
                    self.point(value, whole, room, place)
                for value, whole, room in parts[: len(tile.inputs)]:
                    self.copy_rows(value, whole, room, place, inwards=True)
                self.run()
                for value, whole, room in parts[len(tile.inputs) :]:
                    self.copy_rows(value, whole, room, place, inwards=False)
        builder.ret_void()
        self.memory = self.units * size
        return int(count * self.work())

    def point(self, value: ArrayValue, whole: ir.Value, room: ir.Value | None, place: ir.Value) -> None:
        """Set the slot of an array: the address of its tile, or of the copy of it."""
        if room is None:
            room = self.part(value, whole, place) if value in self.tile.rows else whole
        self.fill_slot(self.inner.slots[value], room)

    def part(self, value: ArrayValue, whole: ir.Value, place: ir.Value) -> Any:
        """The address of the part of an array that belongs to a tile."""
        return self.advance(whole, self.builder.mul(place, self.number(value.dtype.itemsize)))

    def copy_rows(
        self, value: ArrayValue, whole: ir.Value, room: ir.Value | None, place: ir.Value, inwards: bool
    ) -> None:
        """Copy the tile of each row of a stacked value to the buffer of the inner block, or back."""
        if room is None:
            return
        size, row = value.dtype.itemsize, self.tile.length * value.dtype.itemsize
        with self.loop(0, self.tile.rows[value]) as number:
            outside = self.advance(whole, self.builder.mul(number, self.number(self.tile.whole * size)))
            outside = self.part(value, outside, place)
            inside = self.advance(room, self.builder.mul(number, self.number(row)))
            self.copy_bytes(*((inside, outside) if inwards else (outside, inside)), row)


class _NoLanes:
    """In place of `Lanes`: the code around an inner block has no vectors."""

    def enter(self) -> None:
        """Nothing to do: no common subexpressions are shared."""

    def leave(self) -> None:
        """Nothing to do."""
