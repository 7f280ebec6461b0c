"""Common subexpression elimination."""

from __future__ import annotations

from typing import Any

from gradtape.jit.ir.program import Instruction, Program, Value, operand_key, params_key
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
