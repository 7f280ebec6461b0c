"""Gradients of Cholesky factors in likelihoods, whose cotangents are a diagonal and products of few columns.

The log-determinant is a sum over the diagonal of the factor, and a quadratic form is a triangular system: the cotangent
of the factor is a diagonal matrix and lower triangles of products of vectors. The gradient of the matrix from these is
its inverse and products of vectors, in the place of a product of matrices and two triangular systems.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Instruction, Literal, Operand, Program, Value
from gradtape.jit.passes.dce import drop_dead
from gradtape.jit.passes.triangles import is_transpose

SMALLEST = 64
"""Rows of a matrix from which this is done."""
NARROW = 8
"""How many times more rows than columns the products have."""


class _Parts(NamedTuple):
    """A cotangent: diagonals, and the lower triangles of sign * l^-T left right^T."""

    diagonals: tuple[Value, ...] = ()
    products: tuple[tuple[int, Value, Value], ...] = ()


def split_cholesky_gradients(program: Program) -> Program:
    """Replace `cholesky_gradient` where the parts of its cotangent are known.

    >>> import numpy as np, gradtape as gt
    >>> def likelihood(covariance, y):
    ...     factor = np.linalg.cholesky(covariance)
    ...     white = gt.linalg.solve_triangular(factor, y, lower=True)
    ...     return white @ white + np.sum(np.log(np.diag(factor)))
    >>> program = gt.jit(gt.grad(likelihood)).lower(np.eye(80), np.ones(80))
    >>> [i.name for i in program.instructions if i.name.startswith("cholesky")]
    ['cholesky', 'cholesky_gradient_of_parts']
    """
    found = [i for i in program.instructions if i.name == "cholesky_gradient" and _is_large(i)]
    if not found:
        return program
    search = _Search(program)
    changed: dict[Instruction, Instruction] = {}
    for instruction in found:
        cotangent, factor = instruction.values
        parts = search.parts(cotangent, factor, False)
        if parts is not None and len(parts.diagonals) <= 1:
            changed[instruction] = _from_parts(instruction, factor, parts)
    if not changed:
        return program
    return drop_dead(program.replace(instructions=tuple([changed.get(i, i) for i in program.instructions])))


def _is_large(instruction: Instruction) -> bool:
    return (
        len(instruction.values) == 2
        and all(x.shape == instruction.result.shape and x.dtype.char in "fd" for x in instruction.values)
        and instruction.result.ndim == 2
        and instruction.result.shape[0] >= SMALLEST
    )


def _from_parts(instruction: Instruction, factor: Value, parts: _Parts) -> Instruction:
    columns = [value for _, left, right in parts.products for value in (left, right)]
    signs = tuple([sign for sign, _, _ in parts.products])
    return instruction.replace(
        op=TABLE["cholesky_gradient_of_parts"],
        operands=(factor, *parts.diagonals, *columns),
        params={"diagonal": bool(parts.diagonals), "signs": signs},
    )


class _Search:
    """Takes cotangents apart. With `turned`, a value stands for its transpose."""

    def __init__(self, program: Program) -> None:
        self.makers = {result: i for i in program.instructions for result in i.results if len(i.results) == 1}
        self.constants: dict[Operand, Any] = {constant.value: constant.array for constant in program.constants}

    def maker(self, operand: Operand, *names: str) -> Instruction | None:
        """The instruction of one of these names that made an operand."""
        found = self.makers.get(operand) if type(operand) is Value else None
        return found if found is not None and found.name in names and not found.effect else None

    def is_zero(self, operand: Operand) -> bool:
        """Whether an operand is 0 in every run."""
        number = operand.value if type(operand) is Literal else self.constants.get(operand, 1)
        return not np.any(number)

    def turned(self, operand: Operand) -> Value | None:
        """The matrix of which `operand` is the transpose."""
        maker = self.maker(operand, "transpose")
        return maker.values[0] if maker is not None and is_transpose(maker) else None

    def parts(self, value: Operand, factor: Value, turned: bool) -> _Parts | None:
        """The parts of a cotangent of the factor; None if some of it is none of them."""
        source = self.turned(value)
        if source is not None:
            return self.parts(source, factor, not turned)
        added = self.maker(value, "add")
        if added is not None:
            terms = [self.parts(x, factor, turned) for x in added.operands if _has_shape(x, factor)]
            if len(terms) != 2 or terms[0] is None or terms[1] is None:
                return None
            return _Parts(terms[0].diagonals + terms[1].diagonals, terms[0].products + terms[1].products)
        diagonal = self.maker(value, "from_diagonal")
        if diagonal is not None and _is_main(diagonal):
            return _Parts(diagonals=(diagonal.values[0],))
        product = self.product(value, factor, turned)
        return None if product is None else _Parts(products=(product,))

    def product(self, value: Operand, factor: Value, turned: bool) -> tuple[int, Value, Value] | None:
        """The sign, left and right of the triangle of a product."""
        masked = self.maker(value, "where")
        if masked is None:  # above the diagonal it does not count
            return self.whole_product(value, factor, turned)
        mask = self.constants.get(masked.operands[0])
        if mask is None or mask.dtype != bool:
            return None
        _, inside, outside = masked.operands
        if self.is_zero(inside):
            mask, inside, outside = ~mask, outside, inside
        square = np.ones(factor.shape, bool)
        if not self.is_zero(outside) or not np.array_equal(mask, np.triu(square) if turned else np.tril(square)):
            return None
        return self.whole_product(inside, factor, turned)

    def whole_product(self, value: Operand, factor: Value, turned: bool) -> tuple[int, Value, Value] | None:
        source = self.turned(value)
        if source is not None:
            return self.whole_product(source, factor, not turned)
        negated = self.maker(value, "negative")
        if negated is not None:
            found = self.whole_product(negated.operands[0], factor, turned)
            return None if found is None else (-found[0], *found[1:])
        product = self.maker(value, "matmul")
        if product is None or product.params or len(product.values) != 2 or not _has_shape(value, factor):
            return None
        first, second = product.values
        sign_first, left = self.without_sign(first)
        other = self.turned(second)
        if other is None or left.ndim != 2 or left.shape[1] * NARROW > left.shape[0]:
            return None
        sign_second, right = self.without_sign(other)
        if turned:
            left, right = right, left
        solved = self.solved(left, factor)
        return None if solved is None else (sign_first * sign_second, solved, right)

    def without_sign(self, value: Value) -> tuple[int, Value]:
        """The sign of a value, and what is left of it."""
        negated = self.maker(value, "negative")
        return (1, value) if negated is None else (-1, negated.values[0])

    def solved(self, value: Value, factor: Value) -> Value | None:
        """The right side of the system of which `value` is the solution, with the transpose of the factor."""
        system = self.maker(value, "solve_triangular")
        if system is None or system.params["unit"] or len(system.values) != 2:
            return None
        matrix, right = system.values
        if matrix is factor:
            return right if system.params["trans"] and system.params["lower"] else None
        if self.turned(matrix) is factor:
            return right if not system.params["trans"] and not system.params["lower"] else None
        return None


def _has_shape(operand: Operand, factor: Value) -> bool:
    return type(operand) is Value and (operand.shape, operand.dtype) == (factor.shape, factor.dtype)


def _is_main(diagonal: Instruction) -> bool:
    params = diagonal.params
    return params["offset"] == 0 and {params["axis1"], params["axis2"]} == {0, 1} and len(params["shape"]) == 2
