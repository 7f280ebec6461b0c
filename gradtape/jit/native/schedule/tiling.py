"""Cache tiling of elementwise loops over large arrays.

If all of a loop body is elementwise, all iterations can run for a few hundred elements, then for the next few hundred:
carried and stacked values stay in the cache, and threads can share the tiles. The same holds for several loops and the
elementwise instructions between them: the loop of a gradient reads what the forward loop has stacked. All of them
become one instruction, `tiled`, whose `params` hold the same instructions for arrays of the length of a tile.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence

from gradtape.jit.ir.program import Value
from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower.ir import (
    AnyInstruction,
    ArrayValue,
    LoweredInstruction,
    LoweredValue,
    is_value,
    values_read,
)

Shape = tuple[int, ...]

TILED = "tiled"
LOOP = "loop"
LARGE = 1 << 14
"""Elements of an array above which it is tiled."""
CACHED = 1 << 18  # bytes that all arrays of a tile together should take
SHORTEST, LONGEST = 128, 2048


@dataclasses.dataclass(eq=False)
class Tile:
    """Instructions for one tile of `length` elements; the arrays have `whole` elements."""

    instructions: tuple[LoweredInstruction, ...]
    inputs: tuple[LoweredValue, ...]
    outputs: tuple[LoweredValue, ...]
    length: int
    whole: int
    rows: dict[LoweredValue, int]  # tiled input or output -> its number of rows


def loop_shape(instruction: AnyInstruction) -> Shape | None:
    """The shape of the large arrays in a loop that can be tiled; None if it cannot."""
    loop = instruction.params.get("loop") if instruction.name == LOOP else None
    if loop is None or instruction.effect or not instruction.results or not loop.body.instructions:
        return None
    body = loop.body
    made = [result for inner in body.instructions for result in inner.results]
    shape: Shape = max((value.shape for value in (*body.inputs, *made)), key=math.prod)
    if math.prod(shape) <= LARGE or any(constant.array.size != 1 for constant in body.constants):
        return None
    if not all(_fits(value, shape) and elementwise.has_type(value.dtype) for value in (*body.inputs, *made)):
        return None
    return shape if all(_is_elementwise(inner, shape) for inner in body.instructions) else None


def _fits(value: ArrayValue, shape: Shape) -> bool:
    return bool(value.shape == shape or math.prod(value.shape) == 1)


def _is_elementwise(instruction: AnyInstruction, shape: Shape) -> bool:
    """Whether each element of the result depends on elements at the same index and on scalars only."""
    if instruction.effect or "shape" in instruction.params:
        return False
    values = instruction.values
    if not elementwise.supports(instruction) or not all(_fits(x, shape) for x in values):
        return False
    return bool(any(x.shape == shape for x in values) == (instruction.results[0].shape == shape))


def tile_loops(instructions: Sequence[AnyInstruction], outputs: Iterable[ArrayValue]) -> list[AnyInstruction]:
    """Replace large elementwise loops, and the elementwise instructions around them, by tiled instructions."""
    wanted, rest = set(outputs), list(instructions)
    done: list[AnyInstruction] = []
    while True:
        shape = next((found for found in map(loop_shape, rest) if found is not None), None)
        if shape is None:
            return [*done, *rest]
        before, members, after = _partition(rest, shape, wanted)
        done += before
        if members:
            done.append(_build_tile(members, shape, {*wanted, *(x for i in after for x in values_read(i))}))
        rest = after


def _partition(
    instructions: Sequence[AnyInstruction], shape: Shape, wanted: set[ArrayValue]
) -> tuple[list[AnyInstruction], list[AnyInstruction], list[AnyInstruction]]:
    """The instructions before those that are tiled, the tiled ones, and those after them."""
    before: list[AnyInstruction] = []
    members: list[AnyInstruction] = []
    after: list[AnyInstruction] = []
    inside: set[ArrayValue] = set()
    behind: set[ArrayValue] = set()
    for instruction in instructions:
        needs = values_read(instruction)
        is_row = instruction.name == "getitem" and needs[0] in inside and _is_row(instruction, shape)
        if any(x in behind for x in needs):
            after.append(instruction)
            behind.update(instruction.results)
        elif is_row or loop_shape(instruction) == shape or _is_whole(instruction, shape):
            members.append(instruction)
            inside.update(instruction.results)
        elif any(x in inside for x in needs):
            after.append(instruction)
            behind.update(instruction.results)
        else:
            before.append(instruction)
    if not any(member.name == LOOP for member in members):  # the loop depends on an instruction that depends on these
        return [*before, *members], [], after
    # a result that no tiled instruction reads is better fused with its consumers
    used: set[ArrayValue] = set(wanted)
    kept: list[AnyInstruction] = []
    for instruction in reversed(members):
        if instruction.name == LOOP or any(result in used for result in instruction.results):
            kept.append(instruction)
            used.update(values_read(instruction))
        else:
            after.insert(0, instruction)
    return before, kept[::-1], after


def _is_whole(instruction: AnyInstruction, shape: Shape) -> bool:
    return instruction.results[0].shape == shape and _is_elementwise(instruction, shape)


def _is_row(instruction: AnyInstruction, shape: Shape) -> bool:
    """Whether an instruction reads one row of a stacked value."""
    index = instruction.params["index"]
    single = isinstance(index, tuple) and len(index) == 1 and type(index[0]) is int
    return single and instruction.values[0].shape[1:] == shape == instruction.results[0].shape


def _build_tile(members: Sequence[AnyInstruction], shape: Shape, wanted: set[ArrayValue]) -> LoweredInstruction:
    made = [result for member in members for result in member.results]
    known = set(made)
    inputs = tuple(dict.fromkeys(x for member in members for x in values_read(member) if x not in known))
    outputs = tuple(value for value in made if value in wanted)
    each = sum(
        math.prod(value.shape) * value.dtype.itemsize // math.prod(shape) for value in {*inputs, *made}
    )  # bytes for each element
    length = 1 << ((CACHED // max(1, each)).bit_length() - 1) if each < CACHED else 1
    length = min(LONGEST, max(SHORTEST, length))
    names: dict[ArrayValue, LoweredValue] = {}

    def shorter(value: ArrayValue) -> LoweredValue:
        if value not in names:
            names[value] = LoweredValue(_tile_shape(value.shape, shape, length), value.dtype)
        return names[value]

    short = [_shorten(member, shape, length, shorter) for member in members]
    rows = {shorter(x): math.prod(shorter(x).shape[:-1]) for x in (*inputs, *outputs) if shorter(x).shape != x.shape}
    tile = Tile(tuple(short), tuple(map(shorter, inputs)), tuple(map(shorter, outputs)), length, math.prod(shape), rows)
    return LoweredInstruction(inputs, outputs, TILED, {"tile": tile})


def _tile_shape(own: Shape, shape: Shape, length: int) -> Shape:
    """The shape that a value has in one tile."""
    rank = len(own) - len(shape)
    if math.prod(own) == 1 or rank < 0 or own[rank:] != shape:
        return own
    return (*own[:rank], length)


def _shorten(
    instruction: AnyInstruction, shape: Shape, length: int, shorter: Callable[[ArrayValue], LoweredValue]
) -> LoweredInstruction:
    operands = tuple(shorter(x) if is_value(x) else x for x in instruction.operands)
    params = instruction.params
    if instruction.name == LOOP:
        loop = params["loop"]
        names: dict[Value, Value] = {}

        def inner(value: Value) -> Value:
            if value not in names:
                names[value] = Value(value.id, _tile_shape(value.shape, shape, length), value.dtype)
            return names[value]

        body = loop.body
        changed = [
            dataclasses.replace(
                found,
                operands=tuple(inner(x) if type(x) is Value else x for x in found.operands),
                results=tuple(map(inner, found.results)),
            )
            for found in body.instructions
        ]
        constants = tuple(dataclasses.replace(constant, value=inner(constant.value)) for constant in body.constants)
        shortened = body.replace(
            inputs=tuple(map(inner, body.inputs)),
            constants=constants,
            instructions=tuple(changed),
            outputs=tuple(map(inner, body.outputs)),
        )
        params = {"loop": dataclasses.replace(loop, body=shortened)}
    return LoweredInstruction(
        operands, tuple(map(shorter, instruction.results)), instruction.name, params, instruction.op
    )
