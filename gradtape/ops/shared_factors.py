"""One LU factorisation for all that is asked of a matrix: solutions, also with its transpose, inverse, determinant.

A program that solves a system needs the same matrix again for the gradient, and often for its determinant. The kernels
of these operations ask here for the factors of a large matrix. The last ones are kept as long as the array that they
were made of exists, with a copy of it: they are used again only for a matrix that is equal in every element.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

from gradtape.core.typing import Array

SMALLEST = 64
"""Rows of a matrix from which factors are kept; below, the functions of NumPy take no longer than the search."""
LARGEST = 4096
"""Rows up to which they are: what is kept takes twice the memory of the matrix."""


class Factors:
    """The LU factors of the transpose of a matrix: LAPACK reads an array in C order so."""

    def __init__(self, matrix: Any) -> None:
        from scipy import linalg

        self.getrf, self.getrs, self.getri, self.gecon = linalg.get_lapack_funcs(
            ("getrf", "getrs", "getri", "gecon"), (matrix,)
        )
        self.packed, self.pivots, info = self.getrf(matrix.T)
        self.is_singular = info > 0
        self.given = matrix.copy()
        owner = matrix
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        self.owner = weakref.ref(owner, _forget_dead)

    def solve(self, right: Any, form: str) -> Any:
        """The solution with the matrix ("N"), its transpose ("T") or its conjugate transpose ("C")."""
        if self.is_singular:
            raise np.linalg.LinAlgError("Singular matrix")
        if form == "C":
            right = np.conj(right)
        found, _ = self.getrs(self.packed, self.pivots, right, trans=int(form == "N"))
        return np.ascontiguousarray(np.conj(found) if form == "C" else found)

    def invert(self, form: str) -> Any:
        """The inverse of the matrix, of its transpose, or of its conjugate transpose."""
        if self.is_singular:
            raise np.linalg.LinAlgError("Singular matrix")
        found, _ = self.getri(self.packed, self.pivots, lwork=64 * len(self.packed))
        if form == "N":
            return found.T
        return np.ascontiguousarray(np.conj(found) if form == "C" else found)

    def sign_and_log_determinant(self, form: str) -> tuple[Any, Any]:
        """The sign (or phase) of the determinant, and the logarithm of its size."""
        diagonal = np.diagonal(self.packed)
        sizes = np.abs(diagonal)
        if not sizes.all():
            return diagonal.dtype.type(0), sizes.dtype.type(-np.inf)
        exchanges = np.count_nonzero(self.pivots != np.arange(len(diagonal)))
        sign = np.prod(diagonal / sizes) * (-1) ** int(exchanges % 2)
        return (np.conj(sign) if form == "C" else sign), np.log(sizes).sum()

    def is_far_from_singular(self) -> bool:
        """Whether the condition number leaves more than half of the digits of an inverse."""
        norm = np.abs(self.given).sum(-1).max()
        reciprocal, _ = self.gecon(self.packed, norm)
        return bool(not self.is_singular and reciprocal > np.sqrt(np.finfo(norm.dtype).eps))


class _Last(threading.local):
    """The factors that were made last, in this thread."""

    factors: Factors | None = None


_last = _Last()


def _forget_dead(reference: Any = None) -> None:
    kept = _last.factors
    if kept is not None and kept.owner() is None:
        _last.factors = None


def factors_of(x: Array) -> tuple[Factors, str] | None:
    """The factors of one large matrix, and its form: "N" for the factorised matrix, "T" and "C" for its transposes.

    None for stacks, small matrices and other dtypes, which are left to NumPy.
    """
    if x.ndim != 2 or x.shape[0] != x.shape[1] or not SMALLEST <= len(x) <= LARGEST or x.dtype.char not in "fdFD":
        return None
    _forget_dead()
    kept = _last.factors
    if kept is not None and kept.given.shape == x.shape and kept.given.dtype == x.dtype:
        if _are_equal(kept.given, x):
            return kept, "N"
        if _are_equal(kept.given, x.T):
            return kept, "T"
        if x.dtype.kind == "c" and _are_equal(kept.given, x.T, conjugate=True):
            return kept, "C"
    matrix, form = (x, "N") if x.flags.c_contiguous else (x.T, "T")
    made = Factors(np.ascontiguousarray(matrix))
    _last.factors = made
    return made, form


def _are_equal(a: Any, b: Any, conjugate: bool = False) -> bool:
    """Whether all elements are equal. The first row is enough for most that are not."""
    return all(np.array_equal(a[part], np.conj(b[part]) if conjugate else b[part]) for part in (0, slice(1, None)))


# -- the kernels


def solve_kernel(x: Array, y: Array) -> Any:
    """As `np.linalg.solve`, for columns of right sides."""
    found = factors_of(x) if y.ndim == 2 and y.dtype == x.dtype and y.shape[0] == x.shape[-1] and y.size else None
    return np.linalg.solve(x, y) if found is None else found[0].solve(y, found[1])


def inverse_kernel(x: Array) -> Any:
    """As `np.linalg.inv`."""
    found = factors_of(x)
    return np.linalg.inv(x) if found is None else found[0].invert(found[1])


def log_determinant_kernel(x: Array) -> tuple[Any, Any]:
    """As `np.linalg.slogdet`, of arrays."""
    found = factors_of(x)
    parts = np.linalg.slogdet(x) if found is None else found[0].sign_and_log_determinant(found[1])
    return np.asarray(parts[0]), np.asarray(parts[1])


def determinant_kernel(x: Array) -> Any:
    """As `np.linalg.det`, of arrays."""
    found = factors_of(x)
    if found is None:
        return np.asarray(np.linalg.det(x))
    sign, size = found[0].sign_and_log_determinant(found[1])
    return np.asarray(sign * np.exp(size))


def inverse_if_accurate(x: Array) -> Any:
    """The inverse of one large matrix that is far from singular; None of any other."""
    found = factors_of(x)
    return found[0].invert(found[1]) if found is not None and found[0].is_far_from_singular() else None
