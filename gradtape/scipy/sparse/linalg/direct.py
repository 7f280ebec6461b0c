"""Sparse systems by LU factors, and functions of sparse matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from gradtape.errors import LinearAlgebraError, OperandError, ShapeError, UnsupportedError
from gradtape.extend import Tensor, argument_error, as_value
from gradtape.ops import matrix_functions
from gradtape.ops.norms import norm as _norm
from gradtape.ops.sparse_methods import expm_product
from gradtape.ops.sparse_products import Pattern, sparse_solve
from gradtape.scipy.sparse import operators
from gradtape.scipy.sparse.classes import as_dense
from gradtape.scipy.sparse.linalg.arguments import as_right_side, as_square, differentiated, original
from gradtape.scipy.sparse.matrices import SparseTensor, as_sparse, is_sparse

__all__ = [
    *(
        "SuperLU",
        "expm",
        "expm_multiply",
        "factorized",
        "inv",
        "is_sptriangular",
        "matrix_power",
        "norm",
        "spbandwidth",
    ),
    *("splu", "spsolve", "spsolve_triangular"),
]

SuperLU = original.contents.SuperLU


def _solved(a: SparseTensor, b: Any, adjoint: bool = False) -> Any:
    values = a.entries.astype(np.float64) if a.entries.dtype.kind in "iub" else a.entries
    if b.ndim == 1:
        return sparse_solve(values, b[:, None], pattern=a.pattern, adjoint=adjoint)[:, 0]
    return sparse_solve(values, b, pattern=a.pattern, adjoint=adjoint)


@differentiated
def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    """The solution of the sparse system A @ x = b, as `scipy.sparse.linalg.spsolve`, by the values of A and by b.

    >>> import gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> sparse.linalg.spsolve(sparse.diags(gt.tensor([2.0, 4.0]), format="csc"), [2.0, 8.0])
    Tensor([1., 2.])
    """
    a = as_square(A, "spsolve")
    right = as_right_side(b, a.shape[0], "spsolve")
    is_column = right.ndim == 2 and right.shape[1] == 1
    if is_sparse(b) and not is_column:
        solution = as_sparse(_solved(a, right), a.is_matrix)
        return SparseTensor(solution.entries, solution.pattern, "coo", a.is_matrix).asformat("csc")
    return _solved(a, right[:, 0] if is_column else right)


class TensorLU:
    """The LU factors of a sparse matrix of tensors, as `scipy.sparse.linalg.SuperLU`: `solve` and `shape`."""

    def __init__(self, matrix: SparseTensor) -> None:
        self._matrix = matrix.copy()  # what is written to the matrix later does not change its factors
        self.shape = matrix.shape
        self.nnz = matrix.nnz

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """The solution of A @ x = rhs, with trans="T" of A^T @ x = rhs, with "H" of A^H @ x = rhs."""
        if trans not in ("N", "T", "H"):
            raise argument_error(OperandError, f"solve: trans={trans!r}.", "'N', 'T' or 'H'")
        right = as_right_side(rhs, self.shape[0], "solve")
        if trans == "T" and self._matrix.dtype.kind == "c":
            return np.conj(_solved(self._matrix, np.conj(right), adjoint=True))
        return _solved(self._matrix, right, adjoint=trans != "N")


class ConstantLU(TensorLU):
    """The LU factors that SciPy has found, whose `solve` takes tensors too."""

    def __init__(self, factors: Any, matrix: Any) -> None:
        super().__init__(as_sparse(matrix))
        self._factors = factors

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """The solution for another right-hand side."""
        from gradtape.extend import Tensor

        return super().solve(rhs, trans) if isinstance(rhs, Tensor) else self._factors.solve(rhs, trans)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._factors, name)


def splu(A: Any, *args: Any, **kwargs: Any) -> Any:
    """The LU factors of a sparse matrix, as `scipy.sparse.linalg.splu`; `.solve` takes tensors.

    >>> import gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> sparse.linalg.splu(sparse.diags([2.0, 4.0], format="csc")).solve(gt.tensor([2.0, 8.0]))
    Tensor([1., 2.])
    """
    if isinstance(A, SparseTensor):
        return TensorLU(as_square(A, "splu"))
    return ConstantLU(original.contents.splu(A, *args, **kwargs), A)


def factorized(A: Any) -> Callable[[Any], Any]:
    """A function that solves A @ x = b, as `scipy.sparse.linalg.factorized`; it takes tensors.

    >>> import gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> sparse.linalg.factorized(sparse.diags([2.0, 4.0], format="csc"))(gt.tensor([2.0, 8.0]))
    Tensor([1., 2.])
    """
    solve: Callable[[Any], Any] = splu(A if isinstance(A, SparseTensor) else scipy.sparse.csc_array(A)).solve
    return solve


original.functions.update(splu=splu, factorized=factorized)


@differentiated
def spsolve_triangular(
    A: Any,
    b: Any,
    lower: bool = True,
    overwrite_A: bool = False,
    overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """The solution of a sparse triangular system, as `scipy.sparse.linalg.spsolve_triangular`."""
    a = as_square(A, "spsolve_triangular")
    places = a.coords
    if np.any(places[0] < places[1] if lower else places[0] > places[1]):
        raise argument_error(
            OperandError,
            "spsolve_triangular: A has values outside the triangle.",
            "sparse.tril(A) or sparse.triu(A)",
        )
    rows, columns = a.pattern.rows, a.pattern.columns
    inside = np.flatnonzero(rows >= columns if lower else rows <= columns)
    if len(inside) < len(rows):  # zeros that are not stored
        rows, columns = rows[inside], columns[inside]
        a = SparseTensor(a.entries[inside], Pattern(rows, columns, a.shape), "coo", a.is_matrix)
    if unit_diagonal:
        beside = np.flatnonzero(rows != columns)
        each = np.arange(a.shape[0])
        pattern = Pattern(np.append(rows[beside], each), np.append(columns[beside], each), a.shape)
        a = SparseTensor(np.concatenate([as_value(a.entries)[beside], np.ones(len(each))]), pattern, "coo", a.is_matrix)
    elif len(np.unique(rows[rows == columns])) < a.shape[0]:
        raise argument_error(LinearAlgebraError, "spsolve_triangular: the matrix is singular.", "a full diagonal")
    return _solved(a, as_right_side(b, a.shape[0], "spsolve_triangular"))


@differentiated
def inv(A: Any) -> Any:
    """The inverse of a sparse matrix, as `scipy.sparse.linalg.inv`: with all of its values."""
    a = as_square(A, "inv")
    whole = _solved(a, np.eye(a.shape[0]))
    rows, columns = np.indices(a.shape).reshape(2, -1)
    made = SparseTensor(whole.reshape((-1,)), Pattern(rows, columns, a.shape), "csr", a.is_matrix)
    return made.asformat("csc")


@differentiated
def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """The norm of a sparse matrix, or of its rows or columns, as `scipy.sparse.linalg.norm`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> sparse.linalg.norm(sparse.diags(gt.tensor([3.0, 4.0])))
    Tensor(5.)
    """
    if not is_sparse(x):
        raise argument_error(OperandError, f"norm: {type(x).__name__} is not sparse.", "gradtape.scipy.linalg.norm")
    a = as_sparse(x)._distinct()
    if axis is None and ord in (None, "fro", "f"):
        return _norm(a.entries)
    if axis is None and ord in (1, -1, math.inf, -math.inf):
        sums = abs(a).sum(axis=0 if ord in (1, -1) else 1).reshape((-1,))
        return np.max(sums) if ord > 0 else np.min(sums)
    if axis is None:
        if ord == 2:
            return _norm(a.toarray(), 2)
        raise argument_error(OperandError, f"norm: ord={ord!r}.", "None, 'fro', 1, -1, 2, np.inf, -np.inf")
    if isinstance(axis, tuple):
        axis = axis[0] if len(axis) == 1 else axis
        if isinstance(axis, tuple):
            return norm(x, ord)
    if ord in (None, 2):
        squares = a._like(np.real(a.entries * np.conj(a.entries)) if a.dtype.kind == "c" else a.entries * a.entries)
        return _roots(squares.sum(axis=axis).reshape((-1,)))
    return _norm(a.toarray(), ord, axis)


def _roots(sums: Any) -> Any:
    """Square roots, whose gradient at zero is zero."""
    return np.where(sums == 0, 0, np.sqrt(np.where(sums == 0, 1, sums)))


@differentiated
def matrix_power(A: Any, power: int) -> Any:
    """A multiplied with itself, as `scipy.sparse.linalg.matrix_power`."""
    return operators.matrix_power(as_square(A, "matrix_power"), power)


@differentiated
def expm(A: Any) -> Any:
    """The exponential of a sparse matrix, as `scipy.sparse.linalg.expm`: with all of its values."""
    a = as_square(A, "expm")
    whole = matrix_functions.expm(a.toarray())
    rows, columns = np.indices(a.shape).reshape(2, -1)
    return SparseTensor(whole.reshape((-1,)), Pattern(rows, columns, a.shape), "csr", a.is_matrix).asformat("csc")


@differentiated
def expm_multiply(
    A: Any, B: Any, start: Any = None, stop: Any = None, num: Any = None, endpoint: Any = None, traceA: Any = None
) -> Any:
    """The exponential of A times B, as `scipy.sparse.linalg.expm_multiply`.

    For a constant A the exponential is never formed; for one of tensors it is, as a dense matrix. With `start`, `stop`
    and `num` the exponentials of the multiples of A.

    >>> import gradtape as gt
    >>> from gradtape.scipy import sparse
    >>> sparse.linalg.expm_multiply(sparse.csr_array([[0.0, 1.0], [0.0, 0.0]]), gt.tensor([1.0, 2.0]))
    Tensor([3., 2.])
    """
    b = as_dense(B)
    if np.ndim(A) != 2 and not is_sparse(A):
        raise argument_error(UnsupportedError, f"expm_multiply: A is {type(A).__name__}.", "a sparse or a dense matrix")
    if A.shape[1] != b.shape[0]:
        raise argument_error(ShapeError, f"expm_multiply: shapes {A.shape} and {b.shape}.", "as many rows as columns")
    if start is None and stop is None and num is None and endpoint is None:
        return _exponential_times(A, 1.0, b)
    times: Any = np.linspace(start, stop, 50 if num is None else num, endpoint=True if endpoint is None else endpoint)
    return np.stack([_exponential_times(A, time if isinstance(times, Tensor) else float(time), b) for time in times])


def _exponential_times(A: Any, time: Any, b: Any) -> Any:
    if (
        isinstance(A, SparseTensor)
        or isinstance(time, Tensor)
        or not isinstance(A, np.ndarray | scipy.sparse.sparray | scipy.sparse.spmatrix)
    ):
        dense = A.toarray() if is_sparse(A) else as_dense(A)
        return matrix_functions.expm(dense * time) @ b
    if isinstance(A, np.ndarray):
        return matrix_functions.expm(A * time) @ b
    matrix = A.astype(np.result_type(A.dtype, b.dtype, np.float64)) * time
    return expm_product(b, matrix=scipy.sparse.csr_array(matrix), adjoint=False)


@differentiated
def is_sptriangular(A: Any) -> tuple[bool, bool]:
    """Whether there are values only in the lower, and only in the upper triangle; a value that is zero counts."""
    rows, columns = as_sparse(A).coords
    return bool(np.all(rows >= columns)), bool(np.all(rows <= columns))


@differentiated
def spbandwidth(A: Any) -> tuple[int, int]:
    """How many diagonals with values there are below and above the main one."""
    rows, columns = as_sparse(A).coords
    return int(np.max(rows - columns, initial=0)), int(np.max(columns - rows, initial=0))
