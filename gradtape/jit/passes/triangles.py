"""Systems with a Cholesky factor: `np.linalg.solve` of a matrix that is known to be triangular factorises nothing."""

from __future__ import annotations

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Instruction, Program, Value


def use_triangles(program: Program) -> Program:
    """Replace `solve` by `solve_triangular` where the matrix is a Cholesky factor, or the transpose of one.

    >>> import numpy as np, gradtape as gt
    >>> step = gt.jit(lambda a, b: np.linalg.solve(np.linalg.cholesky(a), b))
    >>> program = step.lower(np.eye(3), np.ones(3))
    >>> [i.name for i in program.instructions if i.name.startswith("solve")]
    ['solve_triangular']
    """
    factors: dict[Value, tuple[Value, int]] = {}  # the factor, and 1 for its transpose
    changed: dict[Instruction, Instruction] = {}
    for instruction in program.instructions:
        if instruction.name == "cholesky" and instruction.result.ndim == 2:
            factors[instruction.result] = instruction.result, 0
        elif is_transpose(instruction) and instruction.values[0] in factors:
            factor, trans = factors[instruction.values[0]]
            factors[instruction.result] = factor, 1 - trans
        elif instruction.name == "solve" and instruction.operands[0] in factors:
            factor, trans = factors[instruction.values[0]]
            changed[instruction] = instruction.replace(
                op=TABLE["solve_triangular"],
                operands=(factor, *instruction.operands[1:]),
                params={"trans": trans, "lower": True, "unit": False},
            )
    if not changed:
        return program
    return program.replace(instructions=tuple([changed.get(i, i) for i in program.instructions]))


def is_transpose(instruction: Instruction) -> bool:
    """Whether an instruction exchanges the axes of a matrix."""
    return instruction.name == "transpose" and tuple(instruction.params.get("axes") or ()) == (1, 0)
