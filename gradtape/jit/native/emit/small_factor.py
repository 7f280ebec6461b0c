"""Emits factorisations of matrices of a few rows without loops or calls: all elements are in registers.

A call of LAPACK takes longer than the arithmetic of such a matrix. Rows are exchanged as LAPACK does, so that the
largest element of a column is its pivot, by selections in the place of branches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.elementwise import lane_type
from gradtape.jit.native.emit.factor import FactorEmitter
from gradtape.jit.native.emit.loops import STATUS
from gradtape.jit.native.emit.vectors import Vector
from gradtape.jit.native.lower.factor import (
    CHOLESKY,
    CHOLESKY_GRADIENT,
    COFACTOR,
    DETERMINANT,
    LOG_DETERMINANT,
    SOLVE,
    TRIANGULAR,
)
from gradtape.jit.native.lower.ir import AnyInstruction

_DOUBLE = np.dtype(np.float64)
LARGEST = 6
"""Rows, and columns of right sides, up to which everything is kept in registers."""

Matrix = list[list[Vector]]


def applies(instruction: AnyInstruction) -> bool:
    """Whether the matrices of an instruction are small."""
    return all(size <= LARGEST for x in instruction.values for size in x.shape[-2:])


class SmallFactorEmitter(FactorEmitter):
    """Emits `name(buffers, begin, end)` for a stack of small matrices, one after the other."""

    def emit_one(self, given: list[Any], out: list[Any]) -> None:
        """Emit the operation for one matrix."""
        name, size = self.instruction.name, self.size
        matrix = self.read_matrix(given[0], size, size)
        if name == CHOLESKY:
            self.write_matrix(self.cholesky(matrix), out[0])
        elif name == CHOLESKY_GRADIENT:
            self.write_matrix(self.cholesky_gradient(matrix, self.read_matrix(given[1], size, size)), out[0])
        elif name == COFACTOR:
            self.write_matrix(self.cofactors(matrix), out[0])
        elif name == TRIANGULAR:
            params = self.instruction.params
            matrix = transpose(matrix) if params["trans"] else matrix
            lower = bool(params["lower"]) != bool(params["trans"])
            right = self.read_matrix(given[1], size, self.columns)
            self.write_matrix(self.substitute_small(matrix, right, lower, bool(params["unit"])), out[0])
        elif name in (DETERMINANT, LOG_DETERMINANT):
            sign = self.eliminate(matrix, [[] for _ in range(size)])
            self.write_determinant([matrix[i][i] for i in range(size)], sign, out)
        else:
            right = self.read_matrix(given[1], size, self.columns) if name == SOLVE else self.identity()
            self.eliminate(matrix, right)
            self.write_matrix(self.substitute_small(matrix, right, False, False), out[0])

    # -- memory

    def read_matrix(self, pointer: ir.Value, rows: int, columns: int) -> Matrix:
        """The elements of a matrix."""
        return [[self.read(pointer, self.number(i * columns + j)) for j in range(columns)] for i in range(rows)]

    def write_matrix(self, matrix: Matrix, pointer: ir.Value) -> None:
        """Store all elements."""
        columns = len(matrix[0])
        for i, row in enumerate(matrix):
            for j, element in enumerate(row):
                self.write(element, pointer, self.number(i * columns + j))

    def constant_of(self, number: float) -> Vector:
        """A number in the dtype of the matrices."""
        return self.elements.constant(self.dtype, number)

    def identity(self) -> Matrix:
        """The identity matrix."""
        return [[self.constant_of(float(i == j)) for j in range(self.size)] for i in range(self.size)]

    def fail_if(self, mask: Vector) -> None:
        """Set the status where the mask holds."""
        with self.builder.if_then(self.lanes.any(mask), likely=False):
            self.builder.store(self.number(1), self.buffer(STATUS))

    # -- arithmetic

    def eliminate(self, matrix: Matrix, right: Matrix) -> Vector:
        """Make the matrix upper triangular, and do the same to the right sides; the sign of the exchanges of rows."""
        size, lanes, sign = self.size, self.lanes, self.constant_of(1.0)
        for k in range(size):
            for i in range(k + 1, size):
                larger = lanes.absolute(matrix[i][k]) > lanes.absolute(matrix[k][k])
                for rows in (matrix, right):
                    upper, lower = rows[k], rows[i]
                    pairs = list(zip(upper, lower, strict=True))
                    rows[k] = [lanes.select(larger, y, x) for x, y in pairs]
                    rows[i] = [lanes.select(larger, x, y) for x, y in pairs]
                sign = lanes.select(larger, -sign, sign)
            pivot = lanes.select(matrix[k][k].equals(0.0), 1.0, matrix[k][k])  # then all below it are 0, too
            for i in range(k + 1, size):
                factor = -(matrix[i][k] / pivot)
                for j in range(k + 1, size):
                    matrix[i][j] = lanes.multiply_add(factor, matrix[k][j], matrix[i][j])
                right[i] = [lanes.multiply_add(factor, x, y) for x, y in zip(right[k], right[i], strict=True)]
        return sign

    def substitute_small(self, matrix: Matrix, right: Matrix, lower: bool, unit: bool) -> Matrix:
        """The solution with a triangular matrix. It fails if an element of the diagonal is 0."""
        size, lanes = self.size, self.lanes
        if not unit:
            zero = matrix[0][0].equals(0.0)
            for i in range(1, size):
                zero = zero | matrix[i][i].equals(0.0)
            self.fail_if(zero)
        found: dict[int, list[Vector]] = {}
        for i in range(size) if lower else range(size - 1, -1, -1):
            row = right[i]
            for j, known in found.items():
                row = [lanes.multiply_add(-matrix[i][j], x, y) for x, y in zip(known, row, strict=True)]
            found[i] = row if unit else [x / matrix[i][i] for x in row]
        return [found[i] for i in range(size)]

    def cholesky(self, matrix: Matrix) -> Matrix:
        """The lower factor of the symmetric part. It fails if a pivot is not positive."""
        size, lanes = self.size, self.lanes
        zero = self.constant_of(0.0)
        factor = [[zero] * size for _ in range(size)]
        for j in range(size):
            for i in range(j, size):
                total = (matrix[i][j] + matrix[j][i]) / 2.0
                for k in range(j):
                    total = lanes.multiply_add(-factor[i][k], factor[j][k], total)
                if i == j:
                    self.fail_if(~(total > 0.0))
                    factor[j][j] = lanes.square_root(total)
                else:
                    factor[i][j] = total / factor[j][j]
        return factor

    def cholesky_gradient(self, g: Matrix, factor: Matrix) -> Matrix:
        """l^-T s l^-1 with the symmetric s that has the lower triangle of l^T g / 2."""
        size, lanes = self.size, self.lanes
        middle: Matrix = [[self.constant_of(0.0)] * size for _ in range(size)]
        for i in range(size):
            for j in range(i + 1):
                total = factor[i][i] * g[i][j]
                for k in range(i + 1, size):
                    total = lanes.multiply_add(factor[k][i], g[k][j], total)
                middle[i][j] = middle[j][i] = total / 2.0
        turned = transpose(factor)
        left = self.substitute_small(turned, middle, False, False)
        result = self.substitute_small(turned, transpose(left), False, False)
        return [[(result[i][j] + result[j][i]) / 2.0 for j in range(size)] for i in range(size)]

    def cofactors(self, x: Matrix) -> Matrix:
        """The cofactors of a matrix of up to three rows."""
        if self.size == 1:
            return [[self.constant_of(1.0)]]
        if self.size == 2:
            return [[x[1][1], -x[1][0]], [-x[0][1], x[0][0]]]
        turns = [((i + 1) % 3, (i + 2) % 3) for i in range(3)]
        return [[x[i][k] * x[j][m] - x[i][m] * x[j][k] for k, m in turns] for i, j in turns]

    def write_determinant(self, diagonal: list[Vector], sign: Vector, out: list[Any]) -> None:
        """Store the determinant, or its sign and the sum of logarithms of the diagonal."""
        elements, lanes = self.elements, self.lanes
        if self.instruction.name == DETERMINANT:
            for element in diagonal:
                sign = sign * element
            self.write(sign, out[0], self.number(0))
            return
        total = self.elements.constant(_DOUBLE, 0.0)
        zero = diagonal[0].equals(0.0)
        for element in diagonal:
            wide = elements.cast(element, self.dtype, _DOUBLE)
            total = total + elements.function("log", _DOUBLE, lanes.absolute(wide))
            sign = lanes.select(element < 0.0, -sign, sign)
            zero = zero | element.equals(0.0)
        total = lanes.select(zero, lanes.constant(lane_type(_DOUBLE), -np.inf), total)
        sign = lanes.select(zero, self.constant_of(0.0), sign)
        self.write(sign, out[0], self.number(0))
        self.write(elements.cast(total, _DOUBLE, self.dtype), out[1], self.number(0))


def transpose(matrix: Matrix) -> Matrix:
    """The transpose of a matrix of elements."""
    return [list(column) for column in zip(*matrix, strict=True)]
