"""Common subexpression elimination."""

from __future__ import annotations

import dataclasses
from typing import Any

from gradtape.jit.ir.program import LOOP, Instruction, Loop, Program, Value, operand_key, params_key
from gradtape.jit.passes.dce import drop_dead
from gradtape.jit.passes.rewrite import rename_operands


def share_subexpressions(program: Program) -> Program:
    """The same operation on the same operands is done once."""
    known: dict[Any, Instruction] = {}
    names: dict[Value, Value] = {}
    instructions: list[Instruction] = []
    for instruction in program.instructions:
        instruction = rename_operands(instruction, names)
        key = None if instruction.effect else _find_key(instruction)
        if key is not None and key in known:
            names.update(zip(instruction.results, known[key].results, strict=True))
            continue
        if key is not None:
            known[key] = instruction
        instructions.append(instruction)
    outputs = tuple([names.get(value, value) for value in program.outputs])
    return program.replace(instructions=tuple(instructions), outputs=outputs)


def _find_key(instruction: Instruction) -> Any:
    """A hashable form of operation, parameters and operands; None where they cannot be compared."""
    params = params_key(instruction.params) if instruction.params else ()
    operands = [x if type(x) is Value else operand_key(x) for x in instruction.operands]
    if params is None or None in operands:
        return None
    return instruction.op, params, *operands


def share_stacks(program: Program) -> Program:
    """A value that a loop stacks twice in the same order is stacked once, in loops in loops as well.

    `path[:] = step(path)` has two names for one array, which both are stacked for the way back; that they are one is
    known when the write is gone.

    >>> import numpy as np, gradtape as gt
    >>> def shortest(path):
    ...     for k in range(len(path)):
    ...         path[:] = np.minimum(path, path[:, k, None] + path[None, k, :])
    ...     return path.sum()
    >>> program = gt.jit(gt.grad(shortest)).lower(np.ones((9, 9)))
    >>> loop, *_ = [i.params["loop"] for i in program.instructions if i.name == "loop"]
    >>> stacks = list(zip(loop.body.outputs[loop.carried :], loop.stacked))
    >>> len(stacks) == len(set(stacks))
    True
    """
    names: dict[Value, Value] = {}
    instructions: list[Instruction] = []
    changed = False
    for instruction in program.instructions:
        new = rename_operands(instruction, names)
        if new.op is LOOP:
            loop: Loop = new.params["loop"]
            body = share_stacks(loop.body)
            if body is not loop.body:
                new = new.replace(params={"loop": dataclasses.replace(loop, body=body)})
            first: dict[Any, Value] = {}
            stacked = zip(body.outputs[loop.carried :], loop.stacked, strict=True)
            for key, result in zip(stacked, new.results[loop.carried :], strict=True):
                if first.setdefault(key, result) is not result:
                    names[result] = first[key]
        changed |= new is not instruction
        instructions.append(new)
    if not names and not changed:
        return program
    outputs = tuple([names.get(value, value) for value in program.outputs])
    return drop_dead(program.replace(instructions=tuple(instructions), outputs=outputs))
