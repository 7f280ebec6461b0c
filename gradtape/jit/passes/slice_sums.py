"""Sums with arrays that are zero but for a slice: additions to that slice.

The gradient of `x[i]` is an array of zeros with one row set, and the gradient of x is the sum of such arrays: an
addition of the size of x for each row. `add_at` adds to the row only, and native code does that in place.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import LOOP, Instruction, Program, Value
from gradtape.jit.passes.reroll.induction import indexed_at

SMALLER = 4
"""How many times smaller than the array a slice has to be: larger ones are added while the sum is computed."""
SCATTERS = frozenset({"scatter", "scatter_at"})
"""Operations whose result is zero but for the part that their index names."""


def add_to_slices(program: Program, numbers: bool = False) -> Program:
    """Replace `x + scatter(value, index)` by `add_at(x, value, index)`, also in the bodies of loops.

    With `numbers`, also where a single number is added to a small array.

    >>> import numpy as np, gradtape as gt
    >>> program = gt.jit(gt.grad(lambda x: x[0] * x[1] * np.sum(x))).lower(np.ones(9))
    >>> [instruction.name for instruction in program.instructions].count("add_at")
    1
    """
    scatters = {i.result: i for i in program.instructions if i.name in SCATTERS and _is_small_slice(i, numbers)}
    has_loops = any(instruction.op is LOOP for instruction in program.instructions)
    if not scatters and not has_loops:
        return program
    uses = program.uses()
    made: list[Instruction] = []
    dropped: set[Value] = set()
    has_changed = False
    for instruction in program.instructions:
        if instruction.op is LOOP:
            loop = instruction.params["loop"]
            body = add_to_slices(loop.body, numbers)
            if body is not loop.body:
                instruction = instruction.replace(params={"loop": dataclasses.replace(loop, body=body)})
                has_changed = True
        part = _find_slice(instruction, scatters, uses)
        if part is not None:
            scatter = scatters[instruction.values[part]]
            dropped.add(scatter.result)
            instruction = add_to_slice(instruction, instruction.values[1 - part], scatter)
        made.append(instruction)
    if not dropped and not has_changed:
        return program
    return program.replace(instructions=tuple([i for i in made if not (i.results and i.results[0] in dropped)]))


def _is_small_slice(scatter: Instruction, numbers: bool) -> bool:
    """Whether a scatter writes to a small part of its result, which its index names by integers and slices."""
    index = scatter.params["index" if scatter.name == "scatter" else "template"]
    if any(isinstance(part, np.ndarray | bool) for part in index) or type(scatter.operands[0]) is not Value:
        return False
    if any(value.shape for value in scatter.values[1:]):
        return False
    if numbers and not scatter.values[0].shape:
        return True
    return scatter.values[0].size * SMALLER <= math.prod(scatter.result.shape)


def _find_slice(instruction: Instruction, scatters: dict[Value, Instruction], uses: dict[Value, int]) -> int | None:
    """Which of the two operands of an addition is a scatter that nothing else reads; None if neither is."""
    if instruction.name != "add" or len(instruction.values) != 2 or instruction.values[0] is instruction.values[1]:
        return None
    for number in (1, 0):
        part, other = instruction.values[number], instruction.values[1 - number]
        same = other.shape == part.shape and other.dtype == part.dtype == instruction.result.dtype
        if part in scatters and uses[part] == 1 and same:
            return number
    return None


def add_to_slice(addition: Instruction, whole: Value, scatter: Instruction) -> Instruction:
    """The sum of an array and of what a scatter gives, as an addition to that part of the array."""
    value, *indices = scatter.operands
    if scatter.name == "scatter":
        op, params = TABLE["add_at"], {"index": scatter.params["index"]}
    else:
        op, params = indexed_at(TABLE["add_at"]), {"template": scatter.params["template"]}
    return addition.replace(op=op, operands=(whole, value, *indices), params=params)
