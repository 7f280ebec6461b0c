"""Factorisations of `scipy.linalg`: Cholesky, LU, QR, LDL, polar, Schur and Hessenberg, and the singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import UnsupportedError
from gradtape.extend import Tensor, argument_error, as_value, is_tracked
from gradtape.ops import decompositions, matrix_functions, pivots, similarity, structured_systems
from gradtape.ops import ldl as _ldl
from gradtape.ops import polar as _polar
from gradtape.ops import svd as _svd
from gradtape.ops.linalg_common import adjoint, marked, transposed
from gradtape.scipy.linalg.arguments import (
    as_matrix,
    as_numbers,
    as_one_matrix,
    known_numbers,
    no_such_option,
    numbers_or_tensor,
    original,
)

__all__ = [
    *("cho_factor", "cholesky", "cholesky_banded", "hessenberg", "ldl", "lu", "lu_factor", "matrix_balance"),
    *("null_space", "orth", "orthogonal_procrustes", "polar", "qr", "qr_multiply", "rq", "schur", "subspace_angles"),
    *("svd", "svdvals"),
]


# -- Cholesky


@original.differentiated
def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The triangular factor of a positive definite matrix, upper unless `lower`, as `scipy.linalg.cholesky`.

    A Hermitian argument gets a Hermitian gradient; of any other, the triangle that is read.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.cholesky(gt.tensor([[4.0, 2.0], [2.0, 5.0]]), lower=True)
    Tensor([[2., 0.],
            [1., 2.]])
    """
    return decompositions.cholesky(as_matrix(a, check_finite, square=True), upper=not lower)


@original.differentiated
def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, bool]:
    """The Cholesky factor for `cho_solve`, as `scipy.linalg.cho_factor`; the other triangle is zero.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.cho_factor(gt.tensor([[4.0, 2.0], [2.0, 5.0]]))
    (Tensor([[2., 1.],
            [0., 2.]]), False)
    """
    return matrix_functions.cho_factor(as_matrix(a, check_finite, square=True), bool(lower))


@original.differentiated
def cholesky_banded(ab: Any, overwrite_ab: bool = False, lower: bool = False, check_finite: bool = True) -> Any:
    """The Cholesky factor of a banded matrix as an array of diagonals, as `scipy.linalg.cholesky_banded`.

    With a tensor it is computed from the whole matrix; `solveh_banded` solves systems in the band alone.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.cholesky_banded(gt.tensor([[4.0, 5.0], [2.0, 0.0]]), lower=True)
    Tensor([[2., 2.],
            [1., 0.]])
    """
    ab = as_one_matrix(ab, check_finite, "ab")
    beside = ab.shape[-2] - 1
    below = ab if lower else structured_systems.lower_band(ab)
    half = structured_systems.dense_of_band(below, beside, 0)
    factor = decompositions.cholesky(half + adjoint(np.tril(half, -1)))
    rows, inside = structured_systems.band_rows(beside, 0, ab.shape[-1])
    band = np.where(inside, factor[rows, np.arange(ab.shape[-1])], 0)
    if lower:
        return band
    across = structured_systems.band_transpose(band, beside, 0)
    return np.conj(across) if ab.dtype.kind == "c" else across


# -- LU


@original.differentiated
def lu(
    a: Any,
    permute_l: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    p_indices: bool = False,
) -> tuple[Any, ...]:
    """The permutation, the lower and the upper triangular factor of a = P @ L @ U, as `scipy.linalg.lu`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.lu(gt.tensor([[2.0, 1.0], [4.0, 4.0]]), p_indices=True)[2]
    Tensor([[ 4.,  4.],
            [ 0., -1.]])
    """
    a = as_matrix(a, check_finite)
    if p_indices and not permute_l:
        p, low, up = matrix_functions.lu(a)
        return np.argmax(p, axis=-1), low, up
    return matrix_functions.lu(a, permute_l)


@original.differentiated
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, Any]:
    """Both triangular factors in one matrix, and the exchanges of rows, for `lu_solve`, as `scipy.linalg.lu_factor`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.lu_factor(gt.tensor([[2.0, 1.0], [4.0, 4.0]]))
    (Tensor([[ 4. ,  4. ],
            [ 0.5, -1. ]]), array([1, 1], dtype=int32))
    """
    a = as_matrix(a, check_finite)
    rows, columns = a.shape[-2:]
    p, low, up = matrix_functions.lu(a)
    low = np.tril(low, -1)
    if columns > rows:
        low = np.concatenate([low, np.zeros((*low.shape[:-1], columns - rows), low.dtype)], axis=-1)
    if rows > columns:
        up = np.concatenate([up, np.zeros((*up.shape[:-2], rows - columns, columns), up.dtype)], axis=-2)
    exchanged = pivots.exchanges(np.argmax(p, axis=-2))[..., : min(rows, columns)]
    return low + up, numbers_or_tensor(exchanged)


# -- QR


def _pivoted(a: Any, pivoting: bool) -> tuple[Any, tuple[Any, ...]]:
    """`a` with its columns in the order of pivoting, and that order."""
    if not pivoting:
        return a, ()
    order = pivots.order_of_columns(a)
    return np.take_along_axis(a, order[..., None, :], axis=-1), (numbers_or_tensor(order),)


@original.differentiated
def qr(
    a: Any,
    overwrite_a: bool = False,
    lwork: int | None = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Any:
    """The factors of a = Q @ R, and with `pivoting` the order of the columns, as `scipy.linalg.qr`.

    A gradient that depends on the columns that mode "full" adds to Q, which are arbitrary, raises `UnsupportedError`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> q, r = linalg.qr(gt.tensor([[3.0, 1.0], [4.0, 2.0]]), mode="economic")
    >>> abs(r).round(12)
    Tensor([[5. , 2.2],
            [0. , 0.4]])
    """
    a = as_matrix(a, check_finite)
    if mode not in ("full", "qr", "r", "economic", "raw"):
        raise no_such_option("qr", "mode", mode, "'full', 'r', 'economic' or 'raw'")
    if mode == "raw":
        if isinstance(a, Tensor) and is_tracked(a):
            raise argument_error(
                UnsupportedError,
                "qr: mode='raw' has no derivative: it is packed as LAPACK likes.",
                "mode='economic' or mode='full' have one",
            )
        return original.contents.qr(known_numbers(a, "qr"), False, lwork, mode, pivoting, check_finite)
    a, order = _pivoted(a, pivoting)
    q, r = decompositions.qr(a, "reduced" if mode == "economic" else "complete")
    return (r, *order) if mode == "r" else (q, r, *order)


@original.differentiated
def rq(
    a: Any, overwrite_a: bool = False, lwork: int | None = None, mode: str = "full", check_finite: bool = True
) -> Any:
    """The factors of a = R @ Q with an upper triangular R and orthonormal rows of Q, as `scipy.linalg.rq`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> abs(linalg.rq(gt.tensor([[3.0, 4.0]]), mode="r")).round(12)
    Tensor([[0., 5.]])
    """
    a = as_one_matrix(a, check_finite)
    if mode not in ("full", "r", "economic"):
        raise no_such_option("rq", "mode", mode, "'full', 'r' or 'economic'")
    turned = adjoint(a[..., ::-1, :])[..., ::-1, :]  # its rows and columns as qr eliminates them
    q, r = decompositions.qr(turned, "reduced" if mode == "economic" else "complete")
    upper = adjoint(r)[..., ::-1, ::-1]
    rows = adjoint(q)[..., ::-1, ::-1]
    return upper if mode == "r" else (upper, rows)


@original.differentiated
def qr_multiply(
    a: Any,
    c: Any,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Any, ...]:
    """The product of c with the factor Q of a, and R, as `scipy.linalg.qr_multiply`."""
    if mode not in ("left", "right"):
        raise no_such_option("qr_multiply", "mode", mode, "'left' for Q @ c, 'right' for c @ Q")
    a, c = as_one_matrix(a), as_numbers(c, name="c")
    a, order = _pivoted(a, pivoting)
    q, r = decompositions.qr(a, "reduced")
    if conjugate:
        q = np.conj(q)
    return (q @ c if mode == "left" else c @ q, r, *order)


# -- LDL, polar, Schur, Hessenberg


@original.differentiated
def ldl(
    A: Any, lower: bool = True, hermitian: bool = True, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Any, Any, Any]:
    """The factors of A = L @ D @ L^H for a symmetric or Hermitian matrix, as `scipy.linalg.ldl`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.ldl(gt.tensor([[4.0, 2.0], [2.0, 3.0]]))[1]
    Tensor([[4., 0.],
            [0., 2.]])
    """
    outer, d, order = _ldl.ldl(as_one_matrix(A, check_finite, "A", square=True), lower, hermitian)
    return outer, d, numbers_or_tensor(order)


@original.differentiated
def polar(a: Any, side: str = "right") -> tuple[Any, Any]:
    """The factors u, with orthonormal columns, and p, positive semi-definite, of a = u @ p, as `scipy.linalg.polar`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.polar(gt.tensor([[3.0, 0.0], [0.0, 2.0]]))[0].round(12)
    Tensor([[1., 0.],
            [0., 1.]])
    """
    return _polar.polar(as_matrix(a), side)


@original.differentiated
def schur(
    a: Any,
    output: str = "real",
    lwork: int | None = None,
    overwrite_a: bool = False,
    sort: Any = None,
    check_finite: bool = True,
) -> Any:
    """The Schur form T and the unitary Z of a = Z @ T @ Z^H, as `scipy.linalg.schur`.

    A derivative costs the sixth power of the number of rows. The eigenvalues have to be distinct; of a complex matrix a
    gradient that depends on the phases of the columns of Z does not exist and raises `LinearAlgebraError`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.schur(gt.tensor([[1.0, 2.0], [0.0, 3.0]]))[0]
    Tensor([[1., 2.],
            [0., 3.]])
    """
    return similarity.schur(as_one_matrix(a, check_finite, square=True), output, sort)


@original.differentiated
def hessenberg(a: Any, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The Hessenberg form H of a = Q @ H @ Q^T, and with `calc_q` Q, as `scipy.linalg.hessenberg`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.hessenberg(gt.tensor([[1.0, 2.0], [4.0, 3.0]]))
    Tensor([[1., 2.],
            [4., 3.]])
    """
    return similarity.hessenberg(as_one_matrix(a, check_finite, square=True), calc_q)


@original.differentiated
def matrix_balance(
    A: Any, permute: bool = True, scale: bool = True, separate: bool = False, overwrite_a: bool = False
) -> tuple[Any, Any]:
    """A similar matrix with rows and columns of like size, as `scipy.linalg.matrix_balance`.

    The scaling is by powers of two and the permutation by whole numbers: both stay the same nearby.
    """
    a = as_one_matrix(A, True, "A", square=True)
    scaling, order = (as_value(numbers_or_tensor(part)) for part in pivots.balance(a, permute=permute, scale=scale))
    rows = np.take_along_axis(a, order[:, None], axis=0)
    balanced = np.take_along_axis(rows, order[None, :], axis=1) / scaling[:, None] * scaling[None, :]
    if separate:
        return balanced, (scaling, order)
    return balanced, np.take_along_axis(np.diag(scaling), np.argsort(order)[:, None], axis=0)


# -- singular values


@original.differentiated
def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """The singular value decomposition a = U @ diag(s) @ Vh, as `scipy.linalg.svd`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.svd(gt.tensor([[3.0, 0.0], [0.0, 2.0]]), compute_uv=False)
    Tensor([3., 2.])
    """
    a = as_matrix(a, check_finite)
    if lapack_driver not in ("gesdd", "gesvd"):
        raise no_such_option("svd", "lapack_driver", lapack_driver, "'gesdd' or 'gesvd'")
    if not compute_uv:
        return _svd.svdvals(a)
    if lapack_driver == "gesdd" or (full_matrices and a.shape[-1] != a.shape[-2]):
        return tuple(_svd.svd(a, full_matrices))
    u, s, vh = _svd.svd_by_driver(a, strict=False, driver=lapack_driver)
    return u, marked(s), vh


@original.differentiated
def svdvals(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The singular values in descending order, as `scipy.linalg.svdvals`; the gradient of one that is 0 is 0.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.svdvals(gt.tensor([[3.0, 0.0], [0.0, -4.0]]))
    Tensor([4., 3.])
    """
    return _svd.svdvals(as_matrix(a, check_finite))


def _rank(s: Any, rcond: float | None, longest: int, function: str) -> int:
    numbers = known_numbers(s, function)
    if numbers.ndim > 1:
        raise argument_error(
            UnsupportedError,
            f"{function}: how many columns there are depends on the numbers of each example of a batch.",
            "a loop over the examples",
        )
    limit = float(np.finfo(numbers.dtype).eps) * longest if rcond is None else rcond
    return int(np.sum(numbers > limit * np.max(numbers, initial=0)))


@original.differentiated
def orth(A: Any, rcond: float | None = None) -> Any:
    """An orthonormal basis of the columns of A, its left singular vectors, as `scipy.linalg.orth`."""
    a = as_one_matrix(A, name="A")
    u, s, _ = _svd.svd(a, full_matrices=False)
    return u[:, : _rank(s, rcond, max(a.shape), "orth")]


@original.differentiated
def null_space(
    A: Any,
    rcond: float | None = None,
    *,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """An orthonormal basis of the vectors that A takes to zero, as `scipy.linalg.null_space`.

    The basis is arbitrary: a gradient that depends on it raises `UnsupportedError`. The projection on these vectors,
    np.eye(n) - pinv(A) @ A, has a derivative.
    """
    a = as_one_matrix(A, check_finite, "A")
    rank = _rank(_svd.svdvals(a), rcond, max(a.shape), "null_space")
    if isinstance(a, Tensor) and is_tracked(a) and rank < a.shape[1]:
        raise argument_error(
            UnsupportedError,
            f"null_space of a matrix of shape {a.shape}: the vectors are any basis and have no derivative.",
            "np.eye(n) - pinv(A) @ A, the projection on them, has one; null_space(A.numpy()) if no gradient is wanted",
        )
    vh = _svd.svd(a, full_matrices=True)[2]
    return adjoint(vh[rank:])


def _basis(a: Any, name: str) -> Any:
    """Orthonormal columns that span those of a: any will do for what depends on the span alone."""
    rank = _rank(_svd.svdvals(a), None, max(a.shape), name)
    if rank == a.shape[1]:
        return decompositions.qr(a)[0]
    return _svd.svd(a, full_matrices=False)[0][:, :rank]


@original.differentiated
def subspace_angles(A: Any, B: Any) -> Any:
    """The angles between the spans of the columns of A and of B, the largest first, as `scipy.linalg.subspace_angles`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.subspace_angles(gt.tensor([[1.0], [0.0]]), [[1.0], [1.0]]).round(4)
    Tensor([0.7854])
    """
    a, b = as_one_matrix(A, True, "A"), as_one_matrix(B, True, "B")
    if a.shape[0] != b.shape[0]:
        raise no_such_option("subspace_angles", "the shapes", (a.shape, b.shape), "as many rows of A as of B")
    qa, qb = _basis(a, "subspace_angles"), _basis(b, "subspace_angles")
    product = adjoint(qa) @ qb
    cosines = _svd.svdvals(product)
    outside = qb - qa @ product if qa.shape[1] >= qb.shape[1] else qa - qb @ adjoint(product)
    sines = _svd.svdvals(outside)[: cosines.shape[0]]
    cosines = cosines[::-1]
    # each is taken from the function whose slope is finite where the angle is
    by_sine = cosines**2 >= 0.5
    of_sine = np.arcsin(np.where(by_sine, np.clip(sines, -1.0, 1.0), 0.0))
    of_cosine = np.arccos(np.where(by_sine, 0.0, np.clip(cosines, -1.0, 1.0)))
    return np.where(by_sine, of_sine, of_cosine)


@original.differentiated
def orthogonal_procrustes(A: Any, B: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """The orthogonal R that makes A @ R closest to B, and the scale, as `scipy.linalg.orthogonal_procrustes`.

    R is the orthogonal factor of the polar decomposition of A^H B, the scale the sum of its singular values.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.orthogonal_procrustes(gt.tensor([[2.0, 0.0], [0.0, 1.0]]), [[0.0, 2.0], [1.0, 0.0]])[1].round(12)
    Tensor(5.)
    """
    a, b = as_one_matrix(A, check_finite, "A"), as_one_matrix(B, check_finite, "B")
    if a.shape != b.shape:
        raise no_such_option("orthogonal_procrustes", "the shapes", (a.shape, b.shape), "one shape for A and B")
    product = transposed(transposed(b) @ np.conj(a))
    rotation, _ = _polar.polar(product)
    return rotation, np.sum(_svd.svdvals(product))
