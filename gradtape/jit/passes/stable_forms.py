"""Numerically stable forms, one operation in the place of two between which digits are lost; squares of reciprocals."""

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


def square_reciprocals(program: Program) -> Program:
    """The derivative `-r / x` of `r = 1.0 / x` is `-(r * r)`, without a division and without x.

    It is rounded otherwise: by one and a half units in the last place at most, instead of one.

    >>> import numpy as np, gradtape as gt
    >>> program = gt.jit(gt.grad(lambda x: np.sum(1.0 / x))).lower(np.ones(3))
    >>> [i.name for i in program.instructions if i.name == "divide"]
    ['divide']
    """

    def rule(instruction: Instruction, context: RewriteContext) -> Value | Instruction | None:
        if instruction.name != "divide" or instruction.result.dtype.kind != "f":
            return None
        negative = context.producer(instruction.operands[0], "negative")
        inverse = None if negative is None else context.producer(negative.operands[0], "divide")
        if inverse is None or not is_one(context.number(inverse.operands[0])):
            return None
        found, result = inverse.result, instruction.result
        if inverse.operands[1] is not instruction.operands[1] or not has_same_type(found, result):
            return None
        square = context.new_value(result.shape, result.dtype)
        context.extra.append(instruction.replace(op=TABLE["multiply"], operands=(found, found), results=(square,)))
        return instruction.replace(op=TABLE["negative"], operands=(square,))

    return rewrite(program, rule)
