"""Linear systems, inverses and matrix equations of `scipy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops import (
    decompositions,
    determinants,
    least_squares,
    matrix_functions,
    riccati,
    structured_systems,
    triangular,
)
from gradtape.ops.linalg_common import adjoint, as_hermitian, transposed
from gradtape.ops.norms import norm as _norm
from gradtape.ops.pivots import order_of_rows
from gradtape.scipy.linalg.arguments import (
    as_matrix,
    as_numbers,
    as_one_matrix,
    known_numbers,
    no_such_option,
    original,
    singular,
)

__all__ = [
    *("cho_solve", "cho_solve_banded", "det", "inv", "lstsq", "lu_solve", "norm", "pinv", "pinvh", "solve"),
    *("solve_banded", "solve_circulant", "solve_continuous_are", "solve_continuous_lyapunov", "solve_discrete_are"),
    *("solve_discrete_lyapunov", "solve_lyapunov", "solve_sylvester", "solve_toeplitz", "solve_triangular"),
    *("matmul_toeplitz", "solveh_banded"),
]

STRUCTURES: dict[str | None, str] = {
    **dict.fromkeys((None, "gen", "general", "banded"), "general"),
    **dict.fromkeys(("sym", "symmetric"), "symmetric"),
    **dict.fromkeys(("her", "hermitian"), "hermitian"),
    **dict.fromkeys(("pos", "positive definite"), "positive definite"),
    **{name: name for name in ("diagonal", "tridiagonal", "upper triangular", "lower triangular")},
}
"""The names of `assume_a`, and what they stand for."""


def _read(a: Any, assume_a: Any, lower: bool, function: str) -> tuple[str, Any]:
    """What `assume_a` stands for, and the matrix with the elements that it has LAPACK read."""
    if assume_a not in STRUCTURES:
        raise no_such_option(function, "assume_a", assume_a, ", ".join(repr(name) for name in STRUCTURES if name))
    structure = STRUCTURES[assume_a]
    if structure == "symmetric" and a.dtype.kind == "c":
        half = np.tril(a) if lower else np.triu(a)
        a = half + transposed(np.tril(half, -1) if lower else np.triu(half, 1))
    elif structure in ("symmetric", "hermitian", "positive definite"):
        a = as_hermitian(a, "L" if lower else "U")
    elif structure == "tridiagonal":
        a = np.triu(np.tril(a, 1), -1)
    return structure, a


def _solved(structure: str, a: Any, b: Any) -> Any:
    """The solution, by what the structure allows."""
    if structure == "positive definite":
        return matrix_functions.cho_solve(matrix_functions.cho_factor(a), b)
    if structure in ("upper triangular", "lower triangular"):
        diagonal = np.diagonal(a, axis1=-2, axis2=-1)
        _require_nonzero(diagonal, "solve")
        return triangular.solve_triangular(a, b, lower=structure == "lower triangular")
    if structure == "diagonal":
        diagonal = np.diagonal(a, axis1=-2, axis2=-1)
        _require_nonzero(diagonal, "solve")
        return b / diagonal if b.ndim == 1 else b / diagonal[..., :, None]
    return decompositions.solve(a, b)


def _require_nonzero(diagonal: Any, function: str) -> None:
    from gradtape.extend import Tensor, numbers_if_known

    numbers = numbers_if_known(diagonal) if isinstance(diagonal, Tensor) else diagonal
    if numbers is not None and np.any(np.asarray(numbers) == 0):
        raise singular(f"{function}: the matrix is singular.", "a matrix with full rank; lstsq for others")


@original.differentiated
def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: str | None = None,
    transposed: bool = False,
) -> Any:
    """The solution x of a @ x = b, or with `transposed` of a.T @ x = b, as `scipy.linalg.solve`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.solve(gt.tensor([[2.0, 0.0], [0.0, 4.0]]), [2.0, 4.0], assume_a="pos")
    Tensor([1., 1.])
    """
    a, b = as_matrix(a, check_finite, "a", square=True), as_numbers(b, check_finite, "b")
    structure, a = _read(a, assume_a, lower, "solve")
    if transposed:
        a = np.swapaxes(a, -1, -2)
        swapped = {"upper triangular": "lower triangular", "lower triangular": "upper triangular"}
        structure = swapped.get(structure, structure)
    return _solved(structure, a, b)


@original.differentiated
def inv(
    a: Any, overwrite_a: bool = False, check_finite: bool = True, *, assume_a: str | None = None, lower: bool = False
) -> Any:
    """The inverse of a matrix, as `scipy.linalg.inv`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.inv(gt.tensor([[2.0, 0.0], [1.0, 1.0]]))
    Tensor([[ 0.5,  0. ],
            [-0.5,  1. ]])
    """
    a = as_matrix(a, check_finite, square=True)
    structure, a = _read(a, assume_a, lower, "inv")
    if structure in ("general", "symmetric", "hermitian", "tridiagonal"):
        return decompositions.inv(a)
    return _solved(structure, a, np.eye(a.shape[-1], dtype=a.dtype))


@original.differentiated
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The determinant, as `scipy.linalg.det`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.det(gt.tensor([[2.0, 1.0], [0.0, 3.0]])).round(12)
    Tensor(6.)
    """
    return determinants.det(as_matrix(a, check_finite, square=True))


@original.differentiated
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True) -> Any:
    """The norm of a vector or a matrix, as `scipy.linalg.norm`; its gradient at zero is zero.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> gt.grad(linalg.norm)(gt.tensor([3.0, 4.0]))
    Tensor([0.6, 0.8])
    """
    return _norm(as_numbers(a, check_finite), ord, axis, keepdims)


@original.differentiated
def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """The solution of a triangular system, as `scipy.linalg.solve_triangular`; only the triangle gets a gradient.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.solve_triangular(gt.tensor([[2.0, 0.0], [1.0, 1.0]]), [2.0, 3.0], lower=True)
    Tensor([1., 2.])
    """
    a, b = as_matrix(a, check_finite, "a", square=True), as_numbers(b, check_finite, "b")
    if not unit_diagonal:
        _require_nonzero(np.diagonal(a, axis1=-2, axis2=-1), "solve_triangular")
    return triangular.solve_triangular(a, b, trans, lower, unit_diagonal)


@original.differentiated
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """The solution of a @ x = b from `cho_factor(a)`, as `scipy.linalg.cho_solve`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.cho_solve(linalg.cho_factor(gt.tensor([[4.0, 0.0], [0.0, 1.0]])), [4.0, 3.0])
    Tensor([1., 3.])
    """
    factor, lower = c_and_lower
    factor, b = as_matrix(factor, check_finite, "c", square=True), as_numbers(b, check_finite, "b")
    return matrix_functions.cho_solve((factor, bool(lower)), b)


@original.differentiated
def lu_solve(lu_and_piv: Any, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """The solution of a @ x = b from `lu_factor(a)`, as `scipy.linalg.lu_solve`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.lu_solve(linalg.lu_factor(gt.tensor([[0.0, 2.0], [4.0, 0.0]])), [2.0, 8.0])
    Tensor([2., 1.])
    """
    packed, pivots = lu_and_piv
    packed, b = as_matrix(packed, check_finite, "lu", square=True), as_numbers(b, check_finite, "b")
    if trans not in (0, 1, 2):
        raise no_such_option("lu_solve", "trans", trans, "0 for a x = b, 1 for a^T x = b, 2 for a^H x = b")
    is_vector = b.ndim == 1
    columns = b[:, None] if is_vector else b
    order = order_of_rows(pivots)
    steps = [(True, True), (False, False)]  # lower with ones on the diagonal, then upper
    if trans == 0:
        columns = np.take_along_axis(columns, order[..., None], axis=-2)
    for lower, unit in steps if trans == 0 else steps[::-1]:
        columns = triangular.solve_triangular(packed, columns, trans, lower, unit)
    if trans:
        columns = np.take_along_axis(columns, np.argsort(order, axis=-1)[..., None], axis=-2)
    return columns[..., 0] if is_vector else columns


@original.differentiated
def solve_banded(
    l_and_u: Any,
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """The solution of a @ x = b for a banded matrix given by its diagonals, as `scipy.linalg.solve_banded`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.solve_banded((1, 0), gt.tensor([[2.0, 1.0], [1.0, 0.0]]), [2.0, 3.0])
    Tensor([1., 2.])
    """
    ab, b = as_matrix(ab, check_finite, "ab"), as_numbers(b, check_finite, "b")
    lower, upper = (int(number) for number in l_and_u)
    _check_band(ab, b, lower + upper + 1, "solve_banded")
    if b.ndim == 1:
        return structured_systems.banded_solution(ab, b[:, None], lower=lower, upper=upper)[..., 0]
    return structured_systems.banded_solution(ab, b, lower=lower, upper=upper)


def _check_band(ab: Any, b: Any, rows: int | None, function: str) -> None:
    if rows is not None and ab.shape[-2] != rows:
        raise no_such_option(function, "ab.shape", ab.shape, f"l + u + 1 = {rows} rows, one for each diagonal")
    length = b.shape[0] if b.ndim == 1 else b.shape[-2]
    if ab.shape[-1] != length:
        raise no_such_option(function, "b.shape", b.shape, f"{ab.shape[-1]} rows, as many as ab has columns")


@original.differentiated
def solveh_banded(
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
) -> Any:
    """The same for a Hermitian positive definite matrix, as `scipy.linalg.solveh_banded`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.solveh_banded(gt.tensor([[4.0, 4.0], [0.0, 0.0]]), [4.0, 8.0], lower=True)
    Tensor([1., 2.])
    """
    ab, b = as_matrix(ab, check_finite, "ab"), as_numbers(b, check_finite, "b")
    _check_band(ab, b, None, "solveh_banded")
    if not lower:
        ab = structured_systems.lower_band(ab)
    if b.ndim == 1:
        return structured_systems.definite_banded_solution(ab, b[:, None])[..., 0]
    return structured_systems.definite_banded_solution(ab, b)


@original.differentiated
def cho_solve_banded(cb_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """The solution of a @ x = b from `cholesky_banded(a)`, as `scipy.linalg.cho_solve_banded`."""
    cb, lower = cb_and_lower
    cb, b = as_matrix(cb, check_finite, "cb"), as_numbers(b, check_finite, "b")
    _check_band(cb, b, None, "cho_solve_banded")
    beside = cb.shape[-2] - 1
    if not lower:
        cb = structured_systems.lower_band(cb)
    columns = b[:, None] if b.ndim == 1 else b
    across = structured_systems.band_transpose(cb, beside, 0)
    half = structured_systems.banded_solution(cb, columns, lower=beside, upper=0)
    whole = structured_systems.banded_solution(np.conj(across), half, lower=0, upper=beside)
    return whole[..., 0] if b.ndim == 1 else whole


def _column_and_row(c_or_cr: Any, check_finite: bool) -> tuple[Any, Any]:
    if isinstance(c_or_cr, tuple):
        column, row = (as_numbers(part, check_finite, name) for part, name in zip(c_or_cr, "cr", strict=True))
        return column.reshape((-1,)), row.reshape((-1,))
    column = as_numbers(c_or_cr, check_finite, "c").reshape((-1,))
    return column, np.conj(column) if column.dtype.kind == "c" else column


@original.differentiated
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    """The solution of a system with a Toeplitz matrix, by Levinson's recursion, as `scipy.linalg.solve_toeplitz`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.solve_toeplitz(gt.tensor([2.0, 0.0]), [2.0, 4.0])
    Tensor([1., 2.])
    """
    column, row = _column_and_row(c_or_cr, check_finite)
    b = as_numbers(b, check_finite, "b")
    if column.shape != row.shape or not b.ndim or b.shape[0] != column.shape[0]:
        shapes = f"a column of {column.shape[0]}, a row of {row.shape[0]} and b of shape {b.shape}"
        raise no_such_option("solve_toeplitz", "the shapes", shapes, "the same length for c, r and the first axis of b")
    return structured_systems.toeplitz_solution(column, row, b.reshape((b.shape[0], -1))).reshape(b.shape)


@original.differentiated
def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: bool = False, workers: Any = None) -> Any:
    """The product of a Toeplitz matrix and x by Fourier transforms, as `scipy.linalg.matmul_toeplitz`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.matmul_toeplitz(gt.tensor([2.0, 1.0]), [1.0, 1.0]).round(12)
    Tensor([3., 3.])
    """
    column, row = _column_and_row(c_or_cr, check_finite)
    x = as_numbers(x, check_finite, "x")
    if not x.ndim or x.shape[0] != row.shape[0]:
        raise no_such_option("matmul_toeplitz", "x.shape", x.shape, f"{row.shape[0]} along the first axis, as r has")
    product = structured_systems.toeplitz_matmul(column, row, x.reshape((x.shape[0], -1)))
    return product.reshape((column.shape[0], *x.shape[1:]))


@original.differentiated
def solve_circulant(
    c: Any, b: Any, singular: str = "raise", tol: Any = None, caxis: int = -1, baxis: int = 0, outaxis: int = 0
) -> Any:
    """The solution of systems with circulant matrices by Fourier transforms, as `scipy.linalg.solve_circulant`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.solve_circulant(gt.tensor([2.0, 0.0]), [2.0, 4.0]).round(12)
    Tensor([1., 2.])
    """
    from gradtape.scipy.linalg import arguments

    c, b = as_numbers(c, name="c"), as_numbers(b, name="b")
    c, b = (x.reshape((1,)) if x.ndim == 0 else x for x in (c, b))
    if c.shape[caxis] != b.shape[baxis]:
        raise no_such_option("solve_circulant", "b.shape", b.shape, f"{c.shape[caxis]} along baxis, as c has")
    if singular not in ("raise", "lstsq"):
        raise no_such_option("solve_circulant", "singular", singular, "'raise' or 'lstsq'")
    spectrum = np.fft.fft(np.moveaxis(c, caxis, -1), axis=-1)
    sizes = np.abs(spectrum)
    limit = tol
    if tol is None:
        limit = np.max(sizes, axis=-1, keepdims=True) * c.shape[caxis] * np.finfo(np.float64).eps
    vanishing = sizes <= limit
    if singular == "raise" and np.any(known_numbers(vanishing, "solve_circulant with singular='raise'")):
        raise arguments.singular("solve_circulant: the circulant matrix is nearly singular.", "singular='lstsq'")
    transformed = np.fft.fft(np.moveaxis(b, baxis, -1), axis=-1)
    quotient = np.where(vanishing, 0, transformed / np.where(vanishing, 1, spectrum))
    x = np.fft.ifft(quotient, axis=-1)
    if c.dtype.kind != "c" and b.dtype.kind != "c":
        x = np.real(x)
    return np.moveaxis(x, -1, outaxis)


@original.differentiated
def lstsq(
    a: Any,
    b: Any,
    cond: float | None = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    lapack_driver: str | None = None,
) -> tuple[Any, Any, Any, Any]:
    """The x that makes a @ x closest to b, the squared distances, the rank and the singular values of a.

    As `scipy.linalg.lstsq`; with `lapack_driver="gelsy"` there are no distances and no singular values.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> x, distance, rank, singular = linalg.lstsq(gt.tensor([[1.0], [1.0]]), [1.0, 3.0])
    >>> x.round(12), distance.round(12), rank
    (Tensor([2.]), Tensor(2.), 1)
    """
    a, b = as_one_matrix(a, check_finite), as_numbers(b, check_finite, "b")
    if lapack_driver not in (None, "gelsd", "gelss", "gelsy"):
        raise no_such_option("lstsq", "lapack_driver", lapack_driver, "'gelsd', 'gelss' or 'gelsy'")
    kind = np.result_type(a.dtype, b.dtype)
    limit = float(np.finfo(kind).eps) if cond is None else float(cond)
    x, squares, rank, values = least_squares.lstsq(a, b, limit)
    if lapack_driver == "gelsy":
        return x, np.array([], kind), rank, None
    return x, squares[0] if b.ndim == 1 and squares.shape[0] else squares, rank, values


def _relative_limit(a: Any, atol: float | None, rtol: float | None, largest: Any) -> Any:
    relative = max(a.shape[-2:]) * float(np.finfo(a.dtype).eps) if rtol is None else rtol
    absolute = 0.0 if atol is None else atol
    if absolute < 0 or relative < 0:
        raise no_such_option("pinv", "atol, rtol", (atol, rtol), "numbers that are not negative")
    if not absolute:
        return relative
    size = float(known_numbers(largest, "pinv with atol"))
    return relative + absolute / size if size else relative


@original.differentiated
def pinv(
    a: Any,
    *,
    atol: float | None = None,
    rtol: float | None = None,
    return_rank: bool = False,
    check_finite: bool = True,
) -> Any:
    """The pseudo-inverse, as `scipy.linalg.pinv`; the gradient is that among matrices of the same rank.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.pinv(gt.tensor([[2.0, 0.0], [0.0, 0.0]]))
    Tensor([[0.5, 0. ],
            [0. , 0. ]])
    """
    a = as_one_matrix(a, check_finite)
    largest = _norm(a, 2) if a.shape[-1] and a.shape[-2] else np.array(0.0)
    limit = _relative_limit(a, atol, rtol, largest)
    inverse = least_squares.pinv(a, limit)
    return (inverse, _rank(a, limit)) if return_rank else inverse


def _rank(a: Any, limit: float) -> Any:
    from gradtape.ops.svd import svdvals

    values = known_numbers(svdvals(a), "pinv with return_rank=True")
    return np.sum(values > limit * np.max(values, initial=0))


@original.differentiated
def pinvh(
    a: Any,
    atol: float | None = None,
    rtol: float | None = None,
    lower: bool = True,
    return_rank: bool = False,
    check_finite: bool = True,
) -> Any:
    """The pseudo-inverse of a Hermitian matrix given by one triangle, as `scipy.linalg.pinvh`."""
    a = as_hermitian(as_one_matrix(a, check_finite, square=True), "L" if lower else "U")
    limit = _relative_limit(a, atol, rtol, _norm(a, 2))
    inverse = least_squares.pinv(a, limit)
    return (inverse, int(_rank(a, limit))) if return_rank else inverse


# -- matrix equations


@original.differentiated
def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """The x with a @ x + x @ b = q, as `scipy.linalg.solve_sylvester`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.solve_sylvester(gt.tensor([[1.0]]), [[2.0]], [[6.0]])
    Tensor([[2.]])
    """
    return matrix_functions.solve_sylvester(
        as_matrix(a, square=True), as_matrix(b, name="b", square=True), as_matrix(q, name="q")
    )


@original.differentiated
def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """The x with a @ x + x @ a^H = q, as `scipy.linalg.solve_continuous_lyapunov`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.solve_continuous_lyapunov(gt.tensor([[2.0]]), [[8.0]])
    Tensor([[2.]])
    """
    a, q = as_matrix(a, square=True), as_matrix(q, name="q", square=True)
    return matrix_functions.solve_sylvester(a, adjoint(a), q)


@original.differentiated
def solve_lyapunov(a: Any, q: Any) -> Any:
    """Another name of `solve_continuous_lyapunov`."""
    a, q = as_matrix(a, square=True), as_matrix(q, name="q", square=True)
    return matrix_functions.solve_sylvester(a, adjoint(a), q)


@original.differentiated
def solve_discrete_lyapunov(a: Any, q: Any, method: str | None = None) -> Any:
    """The x with a @ x @ a^H - x + q = 0, as `scipy.linalg.solve_discrete_lyapunov`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.solve_discrete_lyapunov(gt.tensor([[0.5]]), [[3.0]])
    Tensor([[4.]])
    """
    a, q = as_one_matrix(a, square=True), as_one_matrix(q, name="q", square=True)
    if method is not None and method.lower() not in ("direct", "bilinear"):
        raise no_such_option("solve_discrete_lyapunov", "method", method, "'direct' or 'bilinear'")
    return riccati.stein_solution(a, q, None if method is None else method.lower() == "direct")


def _reduced(a: Any, b: Any, q: Any, r: Any, e: Any, s: Any) -> tuple[Any, Any, Any]:
    """The equation without `e` and `s`: a, b r^-1 b^H and q."""
    a, q = as_one_matrix(a, square=True), as_one_matrix(q, name="q", square=True)
    b, r = as_one_matrix(b, name="b"), as_one_matrix(r, name="r", square=True)
    half = decompositions.solve(r, adjoint(b))
    if s is not None:
        s = as_one_matrix(s, name="s")
        inner = decompositions.solve(r, adjoint(s))
        a, q = a - b @ inner, q - s @ inner
    weights = b @ half
    if e is not None:
        e = as_one_matrix(e, name="e", square=True)
        inverse = decompositions.inv(e)
        a, q = a @ inverse, adjoint(inverse) @ q @ inverse
    return a, weights, q


@original.differentiated
def solve_continuous_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True) -> Any:
    """The solution of the continuous-time algebraic Riccati equation, as `scipy.linalg.solve_continuous_are`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.solve_continuous_are(gt.tensor([[0.0]]), [[1.0]], [[4.0]], [[1.0]]).round(12)
    Tensor([[2.]])
    """
    return riccati.continuous_riccati(*_reduced(a, b, q, r, e, s))


@original.differentiated
def solve_discrete_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True) -> Any:
    """The solution of the discrete-time algebraic Riccati equation, as `scipy.linalg.solve_discrete_are`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.solve_discrete_are(gt.tensor([[0.0]]), [[1.0]], [[4.0]], [[1.0]]).round(12)
    Tensor([[4.]])
    """
    return riccati.discrete_riccati(*_reduced(a, b, q, r, e, s))
