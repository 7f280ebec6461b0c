"""One LU factorisation for all systems, inverses and determinants of the same matrix, and of its transpose.

The gradient of a system is a system with the transpose of the matrix, and that of a determinant is an inverse: programs
ask for the factors of a matrix several times.
"""

from __future__ import annotations

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Instruction, Program, Value
from gradtape.jit.passes.triangles import is_transpose

SMALLEST = 64
"""Rows of a matrix from which its factors are shared: native code factorises smaller ones where they are used."""
_PIVOTS = np.dtype(np.int32)
_SHARING = frozenset({"solve", "inv", "slogdet"})


def share_factors(program: Program) -> Program:
    """Factorise each large matrix once.

    >>> import numpy as np, gradtape as gt
    >>> step = gt.jit(gt.grad(lambda a, b: np.sum(np.linalg.solve(a, b))))
    >>> names = [instruction.name for instruction in step.lower(np.eye(80), np.ones(80)).instructions]
    >>> [names.count(name) for name in ("solve", "lu_factors", "lu_solution")]
    [0, 1, 2]
    """
    if not any(instruction.name in _SHARING for instruction in program.instructions):
        return program
    sources = {i.result: i.values[0] for i in program.instructions if is_transpose(i)}
    users: dict[Value, list[Instruction]] = {}
    for instruction in program.instructions:
        if instruction.name in _SHARING and _has_large_matrix(instruction):
            matrix = instruction.values[0]
            users.setdefault(sources.get(matrix, matrix), []).append(instruction)
    shared = {matrix for matrix, found in users.items() if len(found) > 1}
    if not shared:
        return program
    import gradtape.ops.shared_factors  # noqa: F401  (its rows)

    next_id = program.next_id()
    factors: dict[Value, tuple[Value, Value]] = {}
    made: list[Instruction] = []
    for instruction in program.instructions:
        if instruction.name not in _SHARING:
            made.append(instruction)
            continue
        given = instruction.values[0]
        matrix = sources.get(given, given)
        if matrix not in shared:
            made.append(instruction)
            continue
        if matrix not in factors:
            packed = Value(next_id, matrix.shape, matrix.dtype)
            factors[matrix] = packed, Value(next_id + 1, matrix.shape[:1], _PIVOTS)
            next_id += 2
            made.append(
                instruction.replace(op=TABLE["lu_factors"], operands=(matrix,), params={}, results=factors[matrix])
            )
        made.append(_by_factors(instruction, factors[matrix], matrix is not given))
    return program.replace(instructions=tuple(made))


def _by_factors(instruction: Instruction, factors: tuple[Value, Value], trans: bool) -> Instruction:
    if instruction.name == "solve":
        operands = (*factors, instruction.operands[1])
        return instruction.replace(op=TABLE["lu_solution"], operands=operands, params={"trans": trans})
    if instruction.name == "inv":
        return instruction.replace(op=TABLE["lu_inverse"], operands=factors, params={"trans": trans})
    return instruction.replace(op=TABLE["lu_log_determinant"], operands=factors, params={})


def _has_large_matrix(instruction: Instruction) -> bool:
    """Whether an instruction is about one large real matrix (and columns of right sides of the same dtype)."""
    if len(instruction.values) != len(instruction.operands):
        return False
    matrix = instruction.values[0]
    if matrix.ndim != 2 or matrix.shape[0] < SMALLEST or matrix.dtype.char not in "fd":
        return False
    return all(x.ndim == 2 and x.size and x.dtype == matrix.dtype for x in instruction.values[1:])
