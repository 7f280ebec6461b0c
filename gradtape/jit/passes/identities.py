"""Algebraic identities that are exact to the bit: `x * 1` is `x`, `--x` is `x`."""

from __future__ import annotations

import math
from typing import Any

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Instruction, Literal, Program, Value
from gradtape.jit.passes.rewrite import RewriteContext, has_same_type, is_one, rewrite

_MAY_CHANGE_NOTHING = frozenset(
    {"positive", "identity", "stop_gradient", "conjugate", "negative", "multiply", "divide", "power", "subtract"}
)


def drop_identities(program: Program) -> Program:
    """Operations that change nothing: `+x`, `x * 1`, `x / 1`, `x - 0`, `x ** 1`, `--x`, the conjugate of a real x."""

    def rule(instruction: Instruction, context: RewriteContext) -> Value | Instruction | None:
        name, operands = instruction.op.name, instruction.operands
        if name not in _MAY_CHANGE_NOTHING:
            return None
        x = operands[0]
        y = operands[1] if len(operands) > 1 else None
        if len(instruction.results) != 1:
            return None
        result = instruction.result
        if name in ("positive", "identity", "stop_gradient") and has_same_type(x, result):
            return x  # type: ignore[return-value]
        if name == "conjugate" and result.dtype.kind in "fiu" and has_same_type(x, result):
            return x  # type: ignore[return-value]
        if name == "negative" and (inner := context.producer(x, "negative")) is not None:
            return inner.operands[0] if has_same_type(inner.operands[0], result) else None  # type: ignore[return-value]
        if y is None or not any(type(operand) is Literal or operand in context.constants for operand in operands):
            return None
        if result.dtype.kind not in "fiu":
            return None
        one, other = context.number(x), context.number(y)
        if name == "multiply" and is_one(other) and has_same_type(x, result):
            return x  # type: ignore[return-value]
        if name == "multiply" and is_one(one) and has_same_type(y, result):
            return y  # type: ignore[return-value]
        if name in ("divide", "power") and is_one(other) and has_same_type(x, result):
            return x  # type: ignore[return-value]
        if name == "subtract" and _is_zero(other, result) and has_same_type(x, result):
            return x  # type: ignore[return-value]
        is_square = name == "power" and type(y) is Literal and other == 2 and result.dtype.kind == "f"
        if is_square and has_same_type(x, result):
            return instruction.replace(op=TABLE["square"], operands=(x,))
        return None

    return rewrite(program, rule)


def _is_zero(number: Any, result: Value) -> bool:
    """Whether taking `number` away changes nothing: 0 for integers, and for floats 0.0 but not -0.0."""
    return number is not None and number == 0 and (result.dtype.kind != "f" or math.copysign(1.0, number) > 0)
