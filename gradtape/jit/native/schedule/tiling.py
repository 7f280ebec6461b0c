"""Loops over large arrays whose elements have nothing to do with each other, in tiles.

Where everything in a loop is elementwise, all its steps can be made for a few hundred elements, then for the next few
hundred: what is carried and stacked stays in the cache, and each tile can be made by another thread. The same goes for
several loops, and what is computed between them: the loop of a gradient reads what the loop before it has stacked.
All of them together become one instruction, `tiled`, whose `params` are the same instructions for arrays that are as
long as a tile.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any

from gradtape.jit.ir.program import Value
from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower.ir import Changed, Made

Shape = tuple[int, ...]

TILED = "tiled"
LOOP = "loop"
LARGE = 1 << 14
"""Elements from which on arrays are cut into tiles."""
CACHED = 1 << 18  # bytes that all of a tile should take
SHORTEST, LONGEST = 128, 2048


@dataclasses.dataclass(eq=False)
class Tile:
    """Instructions for one tile of `length` elements, of `whole` in all."""

    instructions: tuple[Any, ...]
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    length: int
    whole: int
    rows: dict[Any, int]  # of those inputs and outputs that are cut: how many rows they have


def loop_shape(instruction: Any) -> Shape | None:
    """The shape of the large arrays in a loop that can be cut into tiles; None if it cannot."""
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


def _fits(value: Any, shape: Shape) -> bool:
    return bool(value.shape == shape or math.prod(value.shape) == 1)


def _is_elementwise(instruction: Any, shape: Shape) -> bool:
    """Whether each element of the result depends on the elements at the same place, and on single numbers."""
    if instruction.effect or "shape" in instruction.params:
        return False
    values = [x for x in instruction.operands if hasattr(x, "dtype")]
    if not elementwise.supports(instruction) or not all(_fits(x, shape) for x in values):
        return False
    return bool(any(x.shape == shape for x in values) == (instruction.results[0].shape == shape))


def tiled(instructions: Sequence[Any], outputs: Iterable[Any]) -> list[Any]:
    """The instructions, in which large elementwise loops and what is around them are made tile by tile."""
    wanted, rest = set(outputs), list(instructions)
    done: list[Any] = []
    while True:
        shape = next((found for found in map(loop_shape, rest) if found is not None), None)
        if shape is None:
            return [*done, *rest]
        before, members, after = _apart(rest, shape, wanted)
        done += before
        if members:
            done.append(_call(members, shape, {*wanted, *(x for i in after for x in _needs(i))}))
        rest = after


def _needs(instruction: Any) -> list[Any]:
    """The values that an instruction reads."""
    table = instruction.params.get("table")
    return [x for x in (*instruction.operands, table) if hasattr(x, "dtype")]


def _apart(instructions: Sequence[Any], shape: Shape, wanted: set[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """What goes into tiles, what comes before it and what comes after it."""
    before: list[Any] = []
    members: list[Any] = []
    after: list[Any] = []
    inside: set[Any] = set()
    behind: set[Any] = set()
    for instruction in instructions:
        needs = _needs(instruction)
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
    if not any(member.name == LOOP for member in members):  # the loop waits for something that waits for these
        return [*before, *members], [], after
    # what nobody in here needs is better made together with what needs it
    used: set[Any] = set(wanted)
    kept: list[Any] = []
    for instruction in reversed(members):
        if instruction.name == LOOP or any(result in used for result in instruction.results):
            kept.append(instruction)
            used.update(_needs(instruction))
        else:
            after.insert(0, instruction)
    return before, kept[::-1], after


def _is_whole(instruction: Any, shape: Shape) -> bool:
    return instruction.results[0].shape == shape and _is_elementwise(instruction, shape)


def _is_row(instruction: Any, shape: Shape) -> bool:
    """Whether an instruction takes a row of a stack."""
    index = instruction.params["index"]
    single = isinstance(index, tuple) and len(index) == 1 and type(index[0]) is int
    return single and instruction.operands[0].shape[1:] == shape == instruction.results[0].shape


def _call(members: Sequence[Any], shape: Shape, wanted: set[Any]) -> Changed:
    made = [result for member in members for result in member.results]
    known = set(made)
    inputs = tuple(dict.fromkeys(x for member in members for x in _needs(member) if x not in known))
    outputs = tuple(value for value in made if value in wanted)
    each = sum(
        math.prod(value.shape) * value.dtype.itemsize // math.prod(shape) for value in {*inputs, *made}
    )  # bytes for each element
    length = 1 << ((CACHED // max(1, each)).bit_length() - 1) if each < CACHED else 1
    length = min(LONGEST, max(SHORTEST, length))
    names: dict[Any, Any] = {}

    def shorter(value: Any) -> Any:
        if value not in names:
            names[value] = Made(_cut(value.shape, shape, length), value.dtype)
        return names[value]

    short = [_shortened(member, shape, length, shorter) for member in members]
    rows = {shorter(x): math.prod(shorter(x).shape[:-1]) for x in (*inputs, *outputs) if shorter(x).shape != x.shape}
    tile = Tile(tuple(short), tuple(map(shorter, inputs)), tuple(map(shorter, outputs)), length, math.prod(shape), rows)
    return Changed(inputs, outputs, TILED, {"tile": tile})


def _cut(own: Shape, shape: Shape, length: int) -> Shape:
    """A shape with the elements of a tile in the place of all."""
    rank = len(own) - len(shape)
    if math.prod(own) == 1 or rank < 0 or own[rank:] != shape:
        return own
    return (*own[:rank], length)


def _shortened(instruction: Any, shape: Shape, length: int, shorter: Any) -> Changed:
    operands = tuple(shorter(x) if hasattr(x, "dtype") else x for x in instruction.operands)
    params = instruction.params
    if instruction.name == LOOP:
        loop = params["loop"]
        names: dict[Any, Value] = {}

        def inner(value: Any) -> Value:
            if value not in names:
                names[value] = Value(value.id, _cut(value.shape, shape, length), value.dtype)
            return names[value]

        body = loop.body
        changed = [
            dataclasses.replace(
                found,
                operands=tuple(inner(x) if hasattr(x, "dtype") else x for x in found.operands),
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
    return Changed(operands, tuple(map(shorter, instruction.results)), instruction.name, params, instruction.op)
