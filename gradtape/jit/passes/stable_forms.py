"""Numerically stable forms: one operation in the place of two between which digits are lost."""

from __future__ import annotations

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Instruction, Program, Value
from gradtape.jit.passes.rewrite import RewriteContext, has_same_type, is_one, rewrite


def use_stable_forms(program: Program) -> Program:
    """`log(1 + x)` is log1p, and the logarithm of a softmax is a log_softmax: no digits are lost on the way."""

    def rule(instruction: Instruction, context: RewriteContext) -> Value | Instruction | None:
        if instruction.name != "log" or instruction.result.dtype.kind != "f":
            return None
        (x,) = instruction.operands
        added = context.producer(x, "add")
        if added is not None:
            for one, other in (added.operands, added.operands[::-1]):
                if is_one(context.number(one)) and has_same_type(other, instruction.result):
                    return instruction.replace(op=TABLE["log1p"], operands=(other,))
        softmax = context.producer(x, "softmax")
        if softmax is not None and "log_softmax" in TABLE:
            return instruction.replace(op=TABLE["log_softmax"], operands=softmax.operands, params=softmax.params)
        return None

    return rewrite(program, rule)
