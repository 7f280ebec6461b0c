"""Loops that walk along a slice of an array: they walk along the array itself, so that no slice is copied for them."""

from __future__ import annotations

import dataclasses
from typing import Any

from gradtape.jit.ir.program import LOOP, Instruction, Loop, Program, Value, Walk


def walk_whole_arrays(program: Program) -> Program:
    """Replace the sliced operand `x[a:b:c]` of a loop by `x`, with the rows numbered accordingly; in bodies as well.

    >>> import numpy as np, gradtape as gt
    >>> def last_rows(x, w):
    ...     return gt.scan(lambda h, row: (np.tanh(w * h + row), None), np.zeros(3), x[2:])[0]
    >>> program = gt.jit(last_rows).lower(np.ones((200, 3)), 0.5)
    >>> [instruction.name for instruction in program.instructions]
    ['loop']
    """
    if not any(instruction.op is LOOP for instruction in program.instructions):
        return program
    slices: dict[Value, tuple[Value, range]] = {}  # a slice along the first axis -> the array and its rows
    made: list[Instruction] = []
    for instruction in program.instructions:
        if instruction.name == "getitem" and type(instruction.operands[0]) is Value:
            found = _find_rows(instruction.operands[0], instruction.params["index"])
            if found is not None:
                slices[instruction.result] = instruction.operands[0], found
        elif instruction.op is LOOP:
            instruction = _walk(instruction, slices)
        made.append(instruction)
    if all(new is old for new, old in zip(made, program.instructions, strict=True)):
        return program
    from gradtape.jit.passes.dce import drop_dead

    return drop_dead(program.replace(instructions=tuple(made)))


def _find_rows(array: Value, index: Any) -> range | None:
    """The rows that an index selects, if it is one slice along the first axis."""
    parts = index if isinstance(index, tuple) else (index,)
    if not parts or type(parts[0]) is not slice or not array.shape:
        return None
    if any(type(part) is not slice or part != slice(None) for part in parts[1:]):
        return None
    return range(*parts[0].indices(array.shape[0]))


def _walk(instruction: Instruction, slices: dict[Value, tuple[Value, range]]) -> Instruction:
    """The loop without slices among its sliced operands."""
    loop: Loop = instruction.params["loop"]
    body = walk_whole_arrays(loop.body)
    operands, walks = list(instruction.operands), list(loop.sliced)
    for number, walk in enumerate(loop.sliced):
        operand = operands[loop.carried + number]
        while type(operand) is Value and operand in slices:
            array, rows = slices[operand]
            walk = Walk(rows.start + rows.step * walk.start, rows.step * walk.step)
            operand = array
        operands[loop.carried + number], walks[number] = operand, walk
    if body is loop.body and tuple(walks) == loop.sliced and tuple(operands) == instruction.operands:
        return instruction
    changed = dataclasses.replace(loop, body=body, sliced=tuple(walks))
    return instruction.replace(operands=tuple(operands), params={"loop": changed})
