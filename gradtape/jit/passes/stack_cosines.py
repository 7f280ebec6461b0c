"""Stack the cosine of an angle in the loop that computes its sine, instead of the angle.

The gradient of `sin(x)` is `cos(x)`, so its loop walks along the angles that the forward loop has stacked, and computes
their cosines. A sine and a cosine of one angle take little longer than one of them: most of it is the reduction of the
angle, and two polynomials that both need. So where the loop of a gradient reads an angle for its cosine only, and the
forward loop computes the sine, it computes the cosine as well and stacks that. The numbers are the same, to the last
bit. The same holds for the sines in the gradient of a cosine.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from gradtape.jit.ir.program import LOOP, Instruction, Loop, Program, Value, Walk
from gradtape.jit.passes.dce import drop_dead
from gradtape.jit.passes.recompute import ROW, Use, find_uses

PARTNERS = {"sin": "cos", "cos": "sin"}
"""Operations that share most of their work."""


class _Exchange(NamedTuple):
    """A stack to exchange: the number of the output, what reads it, the function that is applied to it, and of what."""

    number: int
    uses: list[Use]
    function: Instruction  # one that is applied to the rows
    angle: Value  # in the body of the forward loop
    shift: int  # how many rows later the same angle is in the new stack


def stack_cosines(program: Program) -> Program:
    """`program` with stacks of cosines (sines) where stacks of angles were read for these only."""
    for forward in program.instructions:
        if forward.op is not LOOP or forward.effect:
            continue
        loop: Loop = forward.params["loop"]
        for number in range(loop.carried, len(loop.body.outputs)):
            exchange = _find_exchange(program, forward, number)
            if exchange is not None:
                return stack_cosines(drop_dead(_exchange_stack(program, forward, exchange)))
    return program


def _find_exchange(program: Program, forward: Instruction, number: int) -> _Exchange | None:
    """How an output of a loop can be exchanged; None if it is read for anything else, or nothing would be shared."""
    loop: Loop = forward.params["loop"]
    body, stacked = loop.body, loop.body.outputs[number]
    if loop.stacked[number - loop.carried] != Walk(0, 1):
        return None
    uses = find_uses(program, forward.results[number])
    readers = [reader for use in uses for reader in _find_readers(program, use)]
    if not readers or any(reader is None for reader in readers):
        return None
    function = next(reader for reader in readers if reader is not None)
    partner = PARTNERS.get(function.name)
    if partner is None or any(reader is None or reader.name != function.name for reader in readers):
        return None
    computed = {i.values[0] for i in body.instructions if i.name == partner and i.values}
    if stacked in computed:
        return _Exchange(number, uses, function, stacked, 0)
    # a carried value: the angle of one step is what the step before it has stacked
    for value, following in zip(body.inputs[: loop.carried], body.outputs[: loop.carried], strict=True):
        if following is stacked and value in computed and max(map(_find_last_row, uses)) < loop.length - 1:
            return _Exchange(number, uses, function, value, 1)
    return None


def _find_last_row(use: Use) -> int:
    if use.place == ROW:
        return use.walk.start
    loop: Loop = use.instruction.params["loop"]
    return max(use.walk.start, use.walk.start + use.walk.step * (loop.length - 1))


def _find_readers(program: Program, use: Use) -> list[Instruction | None]:
    """The instructions that are applied to the rows that a use reads; None if a row is handed on as it is."""
    if use.place == ROW:
        scope, value = program, use.instruction.result
    else:
        scope = use.instruction.params["loop"].body
        value = scope.inputs[use.place]
    found: list[Instruction | None] = [i for i in scope.instructions if value in i.values]
    return [None] if value in scope.outputs or not found else found


def _exchange_stack(program: Program, forward: Instruction, exchange: _Exchange) -> Program:
    """The program with a stack of another function of the same angles."""
    loop: Loop = forward.params["loop"]
    body, number = loop.body, exchange.number
    made = Value(body.next_id(), body.outputs[number].shape, body.outputs[number].dtype)
    stack = Value(program.next_id(), forward.results[number].shape, made.dtype)
    outputs = tuple([made if n == number else value for n, value in enumerate(body.outputs)])
    new = exchange.function.replace(operands=(exchange.angle,), results=(made,))
    changed = body.replace(instructions=(*body.instructions, new), outputs=outputs)
    results = tuple([stack if n == number else value for n, value in enumerate(forward.results)])
    replaced = {
        forward: forward.replace(params={"loop": dataclasses.replace(loop, body=changed)}, results=results),
    }
    same: dict[Value, Value] = {}  # what was computed from a row -> the row of the new stack
    for use in exchange.uses:
        current = replaced.get(use.instruction, use.instruction)
        if use.place == ROW:
            params = {"index": (use.walk.start + exchange.shift,)}
            replaced[use.instruction] = current.replace(operands=(stack,), params=params)
            row = use.instruction.result
            same |= {i.result: row for i in program.instructions if row in i.values}
        else:
            replaced[use.instruction] = _read_stack(current, use, stack, exchange.shift)
    instructions = [
        _rename(replaced.get(i, i), same)
        for i in program.instructions
        if not any(result in same for result in i.results)
    ]
    return program.replace(
        instructions=tuple(instructions), outputs=tuple([same.get(value, value) for value in program.outputs])
    )


def _read_stack(instruction: Instruction, use: Use, stack: Value, shift: int) -> Instruction:
    """A loop that reads the rows of the new stack, in place of what it computed from those of the old one."""
    loop: Loop = instruction.params["loop"]
    body = loop.body
    row = body.inputs[use.place]
    same = {i.result: row for i in body.instructions if row in i.values}
    shorter = body.replace(
        instructions=tuple([_rename(i, same) for i in body.instructions if row not in i.values]),
        outputs=tuple([same.get(value, value) for value in body.outputs]),
    )
    walks = list(loop.sliced)
    walks[use.place - loop.carried] = Walk(use.walk.start + shift, use.walk.step)
    operands = list(instruction.operands)
    operands[use.place] = stack
    changed = dataclasses.replace(loop, body=shorter, sliced=tuple(walks))
    return instruction.replace(operands=tuple(operands), params={"loop": changed})


def _rename(instruction: Instruction, names: dict[Value, Value]) -> Instruction:
    """An instruction that reads values under their new names."""
    if not any(value in names for value in instruction.values):
        return instruction
    operands = [names.get(x, x) if type(x) is Value else x for x in instruction.operands]
    return instruction.replace(operands=tuple(operands))
