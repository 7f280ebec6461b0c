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

from gradtape.core.rules import constant
from gradtape.core.typing import Array, Draw
from gradtape.ops.linalg_common import regular_matrix

SMALLEST = 64
"""Rows of a matrix from which factors are kept; below, the functions of NumPy take no longer than the search."""
LARGEST = 4096
"""Rows up to which they are: what is kept takes twice the memory of the matrix."""


# -- from the factors of LAPACK, which are those of the transpose of a matrix in C order. `form` is "N" for the matrix,
#    "T" for its transpose, "C" for its conjugate transpose


def factorise(matrix: Any) -> tuple[Any, Any]:
    """Both triangular factors in one array, and the exchanges of rows, for a matrix in C order. It may be singular."""
    from scipy import linalg

    (getrf,) = linalg.get_lapack_funcs(("getrf",), (matrix,))
    packed, pivots, _ = getrf(matrix.T)
    return packed, pivots


def is_singular(packed: Any) -> bool:
    """Whether an element of the diagonal is 0."""
    return not np.diagonal(packed).all()


def solve_by_factors(packed: Any, pivots: Any, right: Any, form: str) -> Any:
    """The solution for columns of right sides."""
    from scipy import linalg

    if is_singular(packed):
        raise np.linalg.LinAlgError("Singular matrix")
    (getrs,) = linalg.get_lapack_funcs(("getrs",), (packed,))
    found, _ = getrs(packed, pivots, np.conj(right) if form == "C" else right, trans=int(form == "N"))
    return np.ascontiguousarray(np.conj(found) if form == "C" else found)


def invert_by_factors(packed: Any, pivots: Any, form: str) -> Any:
    """The inverse."""
    from scipy import linalg

    if is_singular(packed):
        raise np.linalg.LinAlgError("Singular matrix")
    (getri,) = linalg.get_lapack_funcs(("getri",), (packed,))
    found, _ = getri(packed, pivots, lwork=64 * len(packed))
    if form == "N":
        return found.T
    return np.ascontiguousarray(np.conj(found) if form == "C" else found)


def log_determinant_by_factors(packed: Any, pivots: Any, form: str) -> tuple[Any, Any]:
    """The sign (or phase) of the determinant, and the logarithm of its size."""
    diagonal = np.diagonal(packed)
    sizes = np.abs(diagonal)
    if not sizes.all():
        return diagonal.dtype.type(0), sizes.dtype.type(-np.inf)
    exchanges = np.count_nonzero(pivots != np.arange(len(diagonal)))
    sign = np.prod(diagonal / sizes) * (-1) ** int(exchanges % 2)
    return (np.conj(sign) if form == "C" else sign), np.log(sizes).sum()


# -- the last factors


class Factors:
    """The factors of a matrix, with a copy of it and a reference to the array that it is a part of."""

    def __init__(self, matrix: Any) -> None:
        self.packed, self.pivots = factorise(matrix)
        self.given = matrix.copy()
        owner = matrix
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        self.owner = weakref.ref(owner, _forget_dead)

    def is_far_from_singular(self) -> bool:
        """Whether the condition number leaves more than half of the digits of an inverse."""
        from scipy import linalg

        if is_singular(self.packed):
            return False
        norm = np.abs(self.given).sum(-1).max()
        (gecon,) = linalg.get_lapack_funcs(("gecon",), (self.packed,))
        reciprocal, _ = gecon(self.packed, norm)
        return bool(reciprocal > np.sqrt(np.finfo(norm.dtype).eps))


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
    if found is None:
        return np.linalg.solve(x, y)
    factors, form = found
    return solve_by_factors(factors.packed, factors.pivots, y, form)


def inverse_kernel(x: Array) -> Any:
    """As `np.linalg.inv`."""
    found = factors_of(x)
    if found is None:
        return np.linalg.inv(x)
    factors, form = found
    return invert_by_factors(factors.packed, factors.pivots, form)


def log_determinant_kernel(x: Array) -> tuple[Any, Any]:
    """As `np.linalg.slogdet`, of arrays."""
    found = factors_of(x)
    if found is None:
        sign, size = np.linalg.slogdet(x)
    else:
        factors, form = found
        sign, size = log_determinant_by_factors(factors.packed, factors.pivots, form)
    return np.asarray(sign), np.asarray(size)


def determinant_kernel(x: Array) -> Any:
    """As `np.linalg.det`, of arrays."""
    if factors_of(x) is None:
        return np.asarray(np.linalg.det(x))
    sign, size = log_determinant_kernel(x)
    return np.asarray(sign * np.exp(size))


def inverse_if_accurate(x: Array) -> Any:
    """The inverse of one large matrix that is far from singular; None of any other."""
    found = factors_of(x)
    if found is None or not found[0].is_far_from_singular():
        return None
    return invert_by_factors(found[0].packed, found[0].pivots, found[1])


# -- rows for compiled programs, in which a pass finds the operations of one matrix. `trans` asks for the transpose


def _factors(draw: Draw) -> tuple[Any, Any]:
    return factorise(regular_matrix(draw, 3))


lu_factors = constant(
    lambda x: factorise(np.ascontiguousarray(x)),
    name="lu_factors",
    outputs=True,
    samples=lambda draw: [((regular_matrix(draw, 3),), {})],
    doc="The factors of a real matrix, for the three operations below. What is computed from them has its own rules.",
)
lu_solution = constant(
    lambda x, y, z, trans: solve_by_factors(x, y, z, "T" if trans else "N"),
    name="lu_solution",
    samples=lambda draw: [((*_factors(draw), draw(3, 2)), {"trans": trans}) for trans in (False, True)],
    doc="The solution of a system from the factors of its matrix.",
)
lu_inverse = constant(
    lambda x, y, trans: invert_by_factors(x, y, "T" if trans else "N"),
    name="lu_inverse",
    samples=lambda draw: [(_factors(draw), {"trans": trans}) for trans in (False, True)],
    doc="The inverse of a matrix from its factors.",
)
lu_log_determinant = constant(
    lambda x, y: tuple(np.asarray(part) for part in log_determinant_by_factors(x, y, "N")),
    name="lu_log_determinant",
    outputs=True,
    samples=lambda draw: [(_factors(draw), {})],
    doc="The sign of the determinant, and the logarithm of its size, from the factors of a matrix.",
)
