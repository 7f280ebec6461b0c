"""Constant folding: what depends on constants alone is computed while compiling."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.jit.ir.program import Instruction, Program, Value, depends_on_values, spec_of
from gradtape.jit.passes.rewrite import FOLDED_AT_MOST, RewriteContext, rewrite


def fold_constants(program: Program) -> Program:
    """What is computed from constants alone is computed now; a guard that is kept anyway is dropped."""
    kept = {constant.value: constant.array for constant in program.constants}
    dead = {i for i in program.guards if i.values[0] in kept and _same_bits(kept[i.values[0]], i.params["expected"])}

    def rule(instruction: Instruction, context: RewriteContext) -> Value | Instruction | None:
        known = context.constants
        if any(type(x) is Value and x not in known for x in instruction.operands):
            return None
        if len(instruction.results) != 1 or depends_on_values(instruction.op):
            return None
        if instruction.result.nbytes > FOLDED_AT_MOST or not instruction.values:
            return None
        arguments = [context.constants[x] if type(x) is Value else x.value for x in instruction.operands]  # type: ignore[union-attr]
        try:
            with np.errstate(all="ignore"):
                out = instruction.op.kernel(*arguments, **instruction.params)
        except (ValueError, TypeError, IndexError, ArithmeticError, np.linalg.LinAlgError):
            return None  # it fails when it is run, as it should
        if spec_of(out) != (instruction.result.shape, instruction.result.dtype):
            return None
        return context.new_constant(out)

    remaining = tuple([i for i in program.instructions if i not in dead])
    return rewrite(program.replace(instructions=remaining), rule)


def _same_bits(one: Any, other: Any) -> bool:
    return spec_of(one) == spec_of(other) and np.asarray(one).tobytes() == np.asarray(other).tobytes()
