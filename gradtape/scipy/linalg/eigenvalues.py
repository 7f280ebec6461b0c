"""Eigenvalues and eigenvectors of `scipy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import UnsupportedError
from gradtape.extend import argument_error
from gradtape.ops import decompositions, structured_systems, triangular
from gradtape.ops import eigen as _eigen
from gradtape.ops.conversion import stop_gradient
from gradtape.ops.linalg_common import adjoint, as_hermitian, marked
from gradtape.scipy.linalg.arguments import (
    as_matrix,
    as_numbers,
    as_one_matrix,
    known_numbers,
    no_such_option,
    original,
)

__all__ = [
    *("eig", "eig_banded", "eigh", "eigh_tridiagonal", "eigvals", "eigvals_banded", "eigvalsh"),
    "eigvalsh_tridiagonal",
]


# -- any square matrix


def _left_vectors(a: Any, right: Any) -> Any:
    """The left eigenvectors: the columns of v^-H, of unit length, their largest components real as in LAPACK."""
    left = adjoint(decompositions.inv(right))
    left = left / np.sqrt(np.sum(np.real(left * np.conj(left)), axis=-2, keepdims=True))
    sizes = np.abs(stop_gradient(left))
    largest = np.arange(left.shape[-2])[:, None] == np.argmax(sizes, axis=-2)[..., None, :]
    pivot = np.sum(np.where(largest, left, 0), axis=-2, keepdims=True)
    left = left * (np.conj(pivot) / np.abs(pivot))
    agreement = np.sum(np.conj(_eigen.left_reference(a)) * stop_gradient(left), axis=-2, keepdims=True)
    return left * np.where(np.real(agreement) < 0, -1.0, 1.0).astype(np.real(np.zeros(0, left.dtype)).dtype)


def _generalised(a: Any, b: Any, function: str) -> Any:
    """The matrix b^-1 a, which has the eigenvalues of the pair."""
    if a.shape != b.shape:
        raise no_such_option(function, "b.shape", b.shape, f"the shape of a, {a.shape}")
    return decompositions.solve(b, a)


def _eigenvalues_of_pair(a: Any, b: Any, function: str) -> Any:
    values = _eigen.complex_eigvals(_generalised(a, b, function))
    return values[_eigen.order_of_pair(a, b, values)]


def _no_homogeneous(function: str) -> Exception:
    return argument_error(
        UnsupportedError,
        f"{function}: homogeneous_eigvals=True has no derivative: only the ratio of the two numbers is determined.",
        "homogeneous_eigvals=False",
    )


@original.differentiated
def eig(
    a: Any,
    b: Any = None,
    left: bool = False,
    right: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Any:
    """The eigenvalues, always complex, and the left and right eigenvectors of a matrix, as `scipy.linalg.eig`.

    With `b` the eigenvalues alone have a derivative, as the phases of the vectors are not fixed then.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> values, vectors = linalg.eig(gt.tensor([[1.0, 2.0], [0.0, 3.0]]))
    >>> values.real
    Tensor([1., 3.])
    """
    a = as_matrix(a, check_finite, square=True)
    if homogeneous_eigvals:
        raise _no_homogeneous("eig")
    if b is not None:
        b = as_one_matrix(b, check_finite, "b", square=True)
        if left or right:
            raise argument_error(
                UnsupportedError,
                "eig: the eigenvectors of a pair of matrices have no derivative: LAPACK leaves their phases open.",
                "eigvals(a, b) for the eigenvalues; eig(solve(b, a)) for vectors with a derivative; "
                "eigh(a, b) if a is Hermitian and b positive definite",
            )
        return _eigenvalues_of_pair(a, b, "eig")
    values, vectors = _eigen.complex_eig(a)
    if not (left or right):
        return values
    found = []
    if left:
        found.append(_left_vectors(a, vectors))
    if right:
        found.append(vectors)
    return values, *(_eigen.real_if_all_are(a, values, part)[1] for part in found)


@original.differentiated
def eigvals(
    a: Any, b: Any = None, overwrite_a: bool = False, check_finite: bool = True, homogeneous_eigvals: bool = False
) -> Any:
    """The eigenvalues of a matrix, or with `b` of a pair, always complex, as `scipy.linalg.eigvals`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.eigvals(gt.tensor([[0.0, 1.0], [-1.0, 0.0]]))
    Tensor([0.+1.j, 0.-1.j], dtype=complex128)
    """
    a = as_matrix(a, check_finite, square=True)
    if homogeneous_eigvals:
        raise _no_homogeneous("eigvals")
    if b is not None:
        return _eigenvalues_of_pair(a, as_one_matrix(b, check_finite, "b", square=True), "eigvals")
    return _eigen.complex_eigvals(a)


# -- Hermitian matrices


def _chosen(values: Any, vectors: Any, by_index: Any, by_value: Any, function: str) -> tuple[Any, Any]:
    """The eigenvalues and eigenvectors of a subset: the numbers first and last, or the values between two."""
    if by_index is not None and by_value is not None:
        raise no_such_option(function, "subset_by_index, subset_by_value", (by_index, by_value), "one of them")
    if by_index is not None:
        first, last = (int(number) for number in by_index)
        if not 0 <= first <= last < values.shape[-1]:
            raise no_such_option(
                function, "subset_by_index", by_index, f"first and last from 0 to {values.shape[-1] - 1}"
            )
        chosen = slice(first, last + 1)
    elif by_value is not None:
        low, high = (float(number) for number in by_value)
        if not low < high:
            raise no_such_option(function, "subset_by_value", by_value, "two numbers, the lower one first")
        numbers = known_numbers(values, function)
        if numbers.ndim > 1:
            raise no_such_option(function, "subset_by_value", by_value, "subset_by_index for a stack of matrices")
        chosen = slice(*np.searchsorted(numbers, [low, high], side="right"))
    else:
        return values, vectors
    return values[..., chosen], None if vectors is None else vectors[..., chosen]


@original.differentiated
def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: str | None = None,
) -> Any:
    """The eigenvalues and eigenvectors of a Hermitian matrix, or of a @ v = w * b @ v, as `scipy.linalg.eigh`.

    A Hermitian argument gets a Hermitian gradient; of any other, the triangle that is read. A gradient that depends on
    the choice of vectors within a repeated eigenvalue does not exist and raises `LinearAlgebraError`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.eigh(gt.tensor([[2.0, 1.0], [1.0, 2.0]]), eigvals_only=True, subset_by_index=[1, 1])
    Tensor([3.])
    """
    triangle = "L" if lower else "U"
    a = as_hermitian(as_matrix(a, check_finite, square=True), triangle)
    if driver not in (None, "ev", "evd", "evr", "evx", "gv", "gvd", "gvx"):
        raise no_such_option("eigh", "driver", driver, "'ev', 'evd', 'evr', 'evx', or with b 'gv', 'gvd', 'gvx'")
    if type not in (1, 2, 3):
        raise no_such_option("eigh", "type", type, "1 for a v = w b v, 2 for a b v = w v, 3 for b a v = w v")
    if b is None:
        if eigvals_only:
            return _chosen(_eigen.eigvalsh(a), None, subset_by_index, subset_by_value, "eigh")[0]
        standard = driver if driver in ("ev", "evd", "evr", "evx") else None
        values, vectors = _eigen.eigh_by_driver(a, triangle=triangle, strict=False, driver=standard)
        return _chosen(marked(values), vectors, subset_by_index, subset_by_value, "eigh")
    b = as_hermitian(as_matrix(b, check_finite, "b", square=True), triangle)
    if a.shape != b.shape:
        raise no_such_option("eigh", "b.shape", b.shape, f"the shape of a, {a.shape}")
    factor = decompositions.cholesky(b)
    if type == 1:
        half = triangular.solve_triangular(factor, a, lower=True)
        inner = adjoint(triangular.solve_triangular(factor, adjoint(half), lower=True))
    else:
        inner = adjoint(factor) @ a @ factor
    inner = (inner + adjoint(inner)) / 2
    if eigvals_only:
        return _chosen(_eigen.eigvalsh(inner), None, subset_by_index, subset_by_value, "eigh")[0]
    values, vectors = _eigen.eigh_by_driver(inner, triangle=triangle, strict=False, driver="evd")
    if type == 3:
        vectors = factor @ vectors
    else:
        vectors = triangular.solve_triangular(factor, vectors, trans=2, lower=True)
    return _chosen(marked(values), vectors, subset_by_index, subset_by_value, "eigh")


@original.differentiated
def eigvalsh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: str | None = None,
) -> Any:
    """The eigenvalues that `eigh` gives, as `scipy.linalg.eigvalsh`; repeated ones are no obstacle.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> gt.grad(lambda a: linalg.eigvalsh(a).sum())(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """
    return eigh(
        a,
        b,
        lower=lower,
        eigvals_only=True,
        type=type,
        check_finite=check_finite,
        subset_by_index=subset_by_index,
        subset_by_value=subset_by_value,
        driver=driver,
    )


# -- banded and tridiagonal matrices


def _subset(select: Any, select_range: Any, function: str) -> dict[str, Any]:
    """`select` and `select_range` as the keywords of `eigh`."""
    kinds = {0: "a", 1: "v", 2: "i", "a": "a", "v": "v", "i": "i", "all": "a", "value": "v", "index": "i"}
    if select not in kinds:
        raise no_such_option(
            function, "select", select, "'a' for all, 'v' for a range of values, 'i' for one of numbers"
        )
    kind = kinds[select]
    return {} if kind == "a" else {"subset_by_value" if kind == "v" else "subset_by_index": select_range}


def _dense(a_band: Any, lower: bool, check_finite: bool) -> Any:
    band = as_one_matrix(a_band, check_finite, "a_band")
    if not lower:
        band = structured_systems.lower_band(band)
    half = structured_systems.dense_of_band(band, band.shape[-2] - 1, 0)
    return half + adjoint(np.tril(half, -1))


@original.differentiated
def eig_banded(
    a_band: Any,
    lower: bool = False,
    eigvals_only: bool = False,
    overwrite_a_band: bool = False,
    select: Any = "a",
    select_range: Any = None,
    max_ev: int = 0,
    check_finite: bool = True,
) -> Any:
    """The eigenvalues and eigenvectors of a Hermitian banded matrix, as `scipy.linalg.eig_banded`.

    The sign of a vector is that of `scipy.linalg.eigh`.
    """
    a = _dense(a_band, lower, check_finite)
    return eigh(a, eigvals_only=eigvals_only, check_finite=False, **_subset(select, select_range, "eig_banded"))


@original.differentiated
def eigvals_banded(
    a_band: Any,
    lower: bool = False,
    overwrite_a_band: bool = False,
    select: Any = "a",
    select_range: Any = None,
    check_finite: bool = True,
) -> Any:
    """The eigenvalues of a Hermitian banded matrix, as `scipy.linalg.eigvals_banded`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.eigvals_banded(gt.tensor([[2.0, 2.0], [1.0, 0.0]]), lower=True).round(12)
    Tensor([1., 3.])
    """
    a = _dense(a_band, lower, check_finite)
    return eigh(a, eigvals_only=True, check_finite=False, **_subset(select, select_range, "eigvals_banded"))


def _diagonals(d: Any, e: Any, check_finite: bool) -> tuple[Any, Any]:
    d, e = as_numbers(d, check_finite, "d"), as_numbers(e, check_finite, "e")
    if d.ndim != 1 or e.shape != (d.shape[0] - 1,):
        raise no_such_option("eigh_tridiagonal", "the shapes", (d.shape, e.shape), "(n,) for d and (n - 1,) for e")
    return d, e


@original.differentiated
def eigh_tridiagonal(
    d: Any,
    e: Any,
    eigvals_only: bool = False,
    select: Any = "a",
    select_range: Any = None,
    check_finite: bool = True,
    tol: float = 0.0,
    lapack_driver: str = "auto",
) -> Any:
    """The eigenvalues and eigenvectors of a symmetric tridiagonal matrix, as `scipy.linalg.eigh_tridiagonal`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.eigh_tridiagonal(gt.tensor([2.0, 2.0]), [1.0], eigvals_only=True).round(12)
    Tensor([1., 3.])
    """
    d, e = _diagonals(d, e, check_finite)
    subset = _subset(select, select_range, "eigh_tridiagonal")
    values, vectors = _eigen.eigh_tridiagonal(d, e)
    index, value = subset.get("subset_by_index"), subset.get("subset_by_value")
    values, vectors = _chosen(marked(values), vectors, index, value, "eigh_tridiagonal")
    return values if eigvals_only else (values, vectors)


@original.differentiated
def eigvalsh_tridiagonal(
    d: Any,
    e: Any,
    select: Any = "a",
    select_range: Any = None,
    check_finite: bool = True,
    tol: float = 0.0,
    lapack_driver: str = "auto",
) -> Any:
    """The eigenvalues of a symmetric tridiagonal matrix, as `scipy.linalg.eigvalsh_tridiagonal`."""
    return eigh_tridiagonal(d, e, True, select, select_range, check_finite, tol, lapack_driver)
