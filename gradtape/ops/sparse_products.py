"""Products and linear systems with sparse matrices, which are an array of values and a pattern of places.

The values are an input like any other, so that there are derivatives by them; the pattern is a keyword. A product is
one operation, and one instruction of a compiled program.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Op, apply
from gradtape.core.rules import general, multilinear
from gradtape.core.shapes import unbroadcast
from gradtape.core.typing import Array, Draw
from gradtape.errors import LinearAlgebraError
from gradtape.forking import cached_property
from gradtape.ops.arguments import argument_error


class Pattern:
    """The places of the values of a sparse matrix: one row and one column for each, in the order of the values.

    It is not changed after it is made, and the arrays are its own.
    """

    def __init__(self, rows: Any, columns: Any, shape: tuple[int, int]) -> None:
        self.rows = np.array(rows, np.intp)
        self.columns = np.array(columns, np.intp)
        self.shape = shape
        self.count = len(self.rows)
        self.last_factors: tuple[Any, Any] | None = None

    @classmethod
    def of_compressed(cls, matrix: Any) -> Pattern:
        """The pattern of a csr or csc matrix of SciPy's, whose values are in the order of its array of values."""
        made = cls.__new__(cls)
        template = copy.copy(matrix)
        template.indices, template.indptr = matrix.indices.copy(), matrix.indptr.copy()
        made.shape, made.count, made.last_factors = matrix.shape, len(matrix.indices), None
        made.__dict__["_compressed"] = None, template
        return made

    def __getattr__(self, name: str) -> Any:
        """The rows and columns of a compressed matrix, when they are first asked for."""
        if name not in ("rows", "columns"):
            raise AttributeError(name)
        template = self._compressed[1]
        along = np.repeat(np.arange(len(template.indptr) - 1), np.diff(template.indptr))
        across = template.indices.astype(np.intp)
        self.rows, self.columns = (across, along) if template.format == "csc" else (along, across)
        return getattr(self, name)

    @cached_property
    def transposed(self) -> Pattern:
        turned = Pattern.__new__(Pattern)
        turned.shape, turned.count, turned.last_factors = self.shape[::-1], self.count, None
        turned.__dict__["transposed"] = self
        compressed = self.__dict__.get("_compressed")
        if compressed is None:
            turned.rows, turned.columns = self.columns, self.rows
        else:
            order, matrix = compressed
            turned.__dict__["_compressed"] = order, matrix.T
            if order is not None:  # the rows and columns are in the order of the values
                turned.rows, turned.columns = self.columns, self.rows
        return turned

    @cached_property
    def _compressed(self) -> tuple[Any, Any]:
        """The order of the values in compressed rows (None: as it is), and a matrix of SciPy's with this pattern."""
        from scipy import sparse

        is_sorted = bool(np.all(self.rows[1:] >= self.rows[:-1]))
        order = None if is_sorted else np.argsort(self.rows, kind="stable")
        columns = self.columns if order is None else self.columns[order]
        starts = np.zeros(self.shape[0] + 1, np.intp)
        np.cumsum(np.bincount(self.rows, minlength=self.shape[0]), out=starts[1:])
        return order, sparse.csr_array((np.ones(self.count), columns, starts), shape=self.shape)

    @cached_property
    def compressed_rows(self) -> tuple[Any, Any] | None:
        """The starts of the rows and the columns, if the values are in the order of rows; None if they are not."""
        order, template = self._compressed
        if order is not None or template.format != "csr":
            return None
        starts, places = np.array(template.indptr, np.int64), np.asarray(template.indices)
        is_valid = starts[0] == 0 and starts[-1] == len(places) == self.count and np.all(starts[1:] >= starts[:-1])
        if not is_valid or (len(places) and not 0 <= places.min() <= places.max() < self.shape[1]):
            return None
        return starts, np.array(places, np.int32 if self.shape[1] < 1 << 31 else np.int64)

    def in_rows(self) -> tuple[Any, Pattern] | None:
        """The order of the values by rows, and the pattern in that order; None if they are in it."""
        order, template = self._compressed
        if order is None and template.format == "csr":
            return None
        order = np.argsort(self.rows, kind="stable")
        return order, Pattern(self.rows[order], self.columns[order], self.shape)

    def matrix(self, values: Array) -> Any:
        """The sparse matrix with these values; with the same value in two places, their sum is meant."""
        order, template = self._compressed
        made = copy.copy(template)
        made.data = np.ascontiguousarray(values if order is None else values[order])
        return made

    def factors(self, values: Array) -> Any:
        """The LU factors of the matrix with these values; those of the last values are kept."""
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        if self.last_factors is not None and np.array_equal(self.last_factors[0], values):
            return self.last_factors[1]
        kind = np.result_type(values.dtype, np.float32)
        factors = splu(csc_array(self.matrix(values.astype(kind))))
        self.last_factors = values.copy(), factors
        return factors


def pattern_of(matrix: Any) -> tuple[Any, Pattern]:
    """The values and the pattern of a sparse matrix of SciPy's; of a csr or csc matrix its own array of values."""
    if matrix.format not in ("csr", "csc"):
        matrix = matrix.tocsr()
    if len(matrix.data) != matrix.indptr[-1]:  # there is more room than is used
        matrix = matrix.copy()
        matrix.prune()
    return matrix.data, Pattern.of_compressed(matrix)


def _example(draw: Draw) -> Pattern:
    return Pattern([0, 0, 1, 2, 2], [0, 2, 1, 2, 0], (3, 3))


def _each(function: Callable[..., Any], arrays: Sequence[Array], core: Sequence[int], like: int | None = None) -> Any:
    """`function` of each example of stacks of arrays, of which the last `core` axes belong to the example.

    The result for one has the shape of the array number `like`, if that is given.
    """
    stacks = [array.shape[: array.ndim - axes] for array, axes in zip(arrays, core, strict=True)]
    stack = np.broadcast_shapes(*stacks)
    if not stack:
        return function(*arrays)
    spread = [
        np.broadcast_to(array, stack + array.shape[array.ndim - axes :])
        for array, axes in zip(arrays, core, strict=True)
    ]
    if 0 in stack and like is not None:
        return np.zeros(spread[like].shape, np.result_type(*arrays, np.float32))
    if 0 in stack:
        example = function(*(np.ones(array.shape[len(stack) :], array.dtype) for array in spread))
        return np.zeros(stack + example.shape, example.dtype)
    results = np.stack([function(*(array[place] for array in spread)) for place in np.ndindex(stack)])
    return results.reshape(stack + results.shape[1:])


def _by_leading(*core: int) -> Any:
    """The batching rule of operations of which the last `core` axes of each input belong to one example."""

    def batch(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
        ranks = [len(np.shape(v)) - flag - axes for v, flag, axes in zip(values, flags, core, strict=True)]
        rank = max(ranks)
        aligned = [
            v.reshape((v.shape[0],) + (1,) * (rank - own) + v.shape[1:]) if flag and own < rank else v
            for v, flag, own in zip(values, flags, ranks, strict=True)
        ]
        return apply(op, tuple(aligned), params)

    return batch


def _conjugate(x: Array) -> Any:
    return np.conj(x) if x.dtype.kind == "c" else x


# -- the product of a sparse matrix and columns


def _matmul_kernel(values: Array, x: Array, pattern: Pattern) -> Any:
    values, x = np.asarray(values), np.asarray(x)
    if values.ndim > 1:
        return _each(lambda v, x: pattern.matrix(v) @ x, (values, x), (1, 2))
    if x.ndim == 2:
        return pattern.matrix(values) @ x
    side_by_side = np.moveaxis(x, -2, 0)
    product = pattern.matrix(values) @ side_by_side.reshape((x.shape[-2], -1))
    return np.moveaxis(product.reshape((pattern.shape[0], *side_by_side.shape[1:])), 0, -2)


sparse_matmul: Op = multilinear(
    _matmul_kernel,
    lambda g, values, x, pattern: unbroadcast(sparse_sample(g, _conjugate(x), pattern=pattern), values.shape),
    lambda g, values, x, pattern: unbroadcast(
        sparse_matmul(_conjugate(values), g, pattern=pattern.transposed), x.shape
    ),
    name="sparse_matmul",
    names=("values", "x"),
    batch=_by_leading(1, 2),
    samples=lambda draw: [
        ((draw(5), draw(3, 2)), {"pattern": _example(draw)}),
        ((draw(5), draw(2, 3, 1)), {"pattern": _example(draw)}),
        ((draw(4), draw(3, 1)), {"pattern": Pattern([1, 0, 1, 1], [2, 0, 0, 2], (2, 3))}),
    ],
    doc="The product of the sparse matrix with these values and the columns of x.",
)


# -- the elements of a product x y^T at the places of a pattern


def _sample_kernel(x: Array, y: Array, pattern: Pattern) -> Any:
    return np.einsum("...ij,...ij->...i", x[..., pattern.rows, :], y[..., pattern.columns, :])


sparse_sample: Op = multilinear(
    _sample_kernel,
    lambda g, x, y, pattern: unbroadcast(sparse_matmul(g, _conjugate(y), pattern=pattern), x.shape),
    lambda g, x, y, pattern: unbroadcast(sparse_matmul(g, _conjugate(x), pattern=pattern.transposed), y.shape),
    name="sparse_sample",
    batch=_by_leading(2, 2),
    samples=lambda draw: [
        ((draw(3, 2), draw(3, 2)), {"pattern": _example(draw)}),
        ((draw(2, 1), draw(3, 1)), {"pattern": Pattern([1, 0, 1], [2, 0, 0], (2, 3))}),
    ],
    doc="The elements of x @ y.T at the places of a pattern, of which nothing else is computed.",
)


# -- a sparse system, or with `adjoint` the one with the conjugate transpose: a x = b,  a dx = db - da x


def _solve_kernel(values: Array, b: Array, pattern: Pattern, adjoint: bool) -> Any:
    def one(values: Array, b: Array) -> Any:
        kind = np.result_type(values, b, np.float32)
        if not b.size:
            return np.zeros(b.shape, kind)
        try:
            factors = pattern.factors(values.astype(kind))
        except RuntimeError as error:
            raise np.linalg.LinAlgError(f"the sparse matrix is singular: {error}") from None
        return factors.solve(np.asarray(b, kind), "H" if adjoint and kind.kind == "c" else "T" if adjoint else "N")

    return _each(one, (np.asarray(values), np.asarray(b)), (1, 2), like=1)


def _solve_reverse(g: Array, values: Array, b: Array, out: Array, pattern: Pattern, adjoint: bool) -> Any:
    right = sparse_solve(values, g, pattern=pattern, adjoint=not adjoint)
    first, second = (out, right) if adjoint else (right, out)
    change = -sparse_sample(first, _conjugate(second), pattern=pattern)
    return unbroadcast(change, values.shape), unbroadcast(right, b.shape)


def _solve_forward(dvalues: Array, db: Array, values: Array, out: Array, pattern: Pattern, adjoint: bool) -> Any:
    if adjoint:
        moved = sparse_matmul(_conjugate(dvalues), out, pattern=pattern.transposed)
    else:
        moved = sparse_matmul(dvalues, out, pattern=pattern)
    return sparse_solve(values, db - moved, pattern=pattern, adjoint=adjoint)


def _regular(draw: Draw) -> Any:
    return np.array([3.0, 0.0, 4.0, 5.0, 0.0]) + 0.5 * draw(5)


sparse_solve: Op = general(
    _solve_kernel,
    reverse=_solve_reverse,
    forward=_solve_forward,
    name="sparse_solve",
    names=("values", "b"),
    inputs=2,
    batch=_by_leading(1, 2),
    samples=lambda draw: [
        ((_regular(draw), draw(3, 2)), {"pattern": _example(draw), "adjoint": False}),
        ((_regular(draw), draw(3, 1)), {"pattern": _example(draw), "adjoint": True}),
    ],
    doc="The solution of a sparse system by LU factors.",
)


# -- the same by an iterative method of SciPy's, for one right-hand side


def _iterate_kernel(values: Array, b: Array, start: Array, pattern: Pattern, adjoint: bool, method: Any) -> Any:
    def one(values: Array, b: Array, start: Array) -> Any:
        matrix = pattern.matrix(values)
        return method.solve(matrix.conj().T if adjoint else matrix, b, start, adjoint)

    return _each(one, tuple(map(np.asarray, (values, b, start))), (1, 1, 1), like=1)


def _iterate_reverse(
    g: Array, values: Array, b: Array, start: Array, out: Array, pattern: Pattern, adjoint: bool, method: Any
) -> Any:
    zeros = np.zeros(pattern.shape[0], out.dtype)
    right = sparse_iterate(values, g, zeros, pattern=pattern, adjoint=not adjoint, method=method.of_derivative)
    first, second = (out, right) if adjoint else (right, out)
    change = -sparse_sample(first[..., None], _conjugate(second)[..., None], pattern=pattern)
    return unbroadcast(change, values.shape), unbroadcast(right, b.shape), None


def _iterate_forward(
    dvalues: Array, db: Array, values: Array, out: Array, pattern: Pattern, adjoint: bool, method: Any
) -> Any:
    if adjoint:
        moved = sparse_matmul(_conjugate(dvalues), out[..., None], pattern=pattern.transposed)[..., 0]
    else:
        moved = sparse_matmul(dvalues, out[..., None], pattern=pattern)[..., 0]
    zeros = np.zeros(pattern.shape[0], out.dtype)
    return sparse_iterate(values, db - moved, zeros, pattern=pattern, adjoint=adjoint, method=method.of_derivative)


class _ByLU:
    """A stand-in for an iterative method, for the samples."""

    @property
    def of_derivative(self) -> Any:
        return self

    def solve(self, matrix: Any, b: Any, start: Any, adjoint: bool) -> Any:
        from scipy.sparse.linalg import spsolve

        return spsolve(matrix.tocsc(), b)


sparse_iterate: Op = general(
    _iterate_kernel,
    reverse=_iterate_reverse,
    forward=_iterate_forward,
    name="sparse_iterate",
    names=("values", "b", "start"),
    inputs=3,
    batch=_by_leading(1, 1, 1),
    samples=lambda draw: [
        (
            (_regular(draw), draw(3), np.zeros(3, int)),
            {"pattern": _example(draw), "adjoint": False, "method": _ByLU()},
        )
    ],
    doc="The solution of a sparse system by an iterative method.",
)


def check_converged(info: int, title: str) -> None:
    """Raise if the solver that a derivative needs has not converged."""
    if info:
        raise argument_error(
            LinearAlgebraError,
            f"the derivative of {title} needs the solution of a system with the same matrix (or its conjugate "
            f"transpose), and the iteration for it has not converged (info={info}).",
            "a preconditioner M, a larger maxiter, or spsolve",
        )
