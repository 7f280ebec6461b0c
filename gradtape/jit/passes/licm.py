"""Loop-invariant code motion: what is the same in all steps of a loop is computed once, before it."""

from __future__ import annotations

import dataclasses

from gradtape.jit.ir.program import LOOP, Instruction, Operand, Program, Value
from gradtape.jit.passes.rewrite import RewriteContext, rewrite


def hoist_invariants(program: Program) -> Program:
    """What is the same in all steps of a loop is computed once, before it."""
    if not any(i.op is LOOP for i in program.instructions):
        return program

    def rule(instruction: Instruction, context: RewriteContext) -> Value | Instruction | None:
        return _hoist_from(instruction, context) if instruction.op is LOOP else None

    return rewrite(program, rule)


def _hoist_from(instruction: Instruction, context: RewriteContext) -> Instruction | None:
    loop, body = instruction.params["loop"], instruction.params["loop"].body
    first = loop.carried + len(loop.sliced)
    outside: dict[Value, Operand] = dict(zip(body.inputs[first:], instruction.operands[first:], strict=True))
    constants = {constant.value: constant.array for constant in body.constants}
    before = len(outside)
    rest: list[Instruction] = []
    for inner in body.instructions:
        values = inner.values
        if (
            inner.effect
            or not any(v in outside for v in values)
            or not all(v in outside or v in constants for v in values)
        ):
            rest.append(inner)
            continue
        for value in values:
            if value not in outside:
                outside[value] = context.new_constant(constants[value])
        operands = tuple([outside[x] if type(x) is Value else x for x in inner.operands])
        results = tuple([context.new_value(value.shape, value.dtype) for value in inner.results])
        context.extra.append(inner.replace(operands=operands, results=results))
        outside.update(zip(inner.results, results, strict=True))
    if len(outside) == before:
        return None
    read = {value for i in rest for value in i.values} | {*body.outputs}
    invariant = [value for value in outside if value in read and value not in constants]
    inputs = (*body.inputs[:first], *invariant)
    operands = (*instruction.operands[:first], *(outside[value] for value in invariant))
    changed = dataclasses.replace(loop, body=body.replace(inputs=inputs, instructions=tuple(rest)))
    return instruction.replace(operands=operands, params={"loop": changed})
