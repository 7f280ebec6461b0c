"""The stand-in for `autograd.scipy.linalg`: SciPy's names; those that gradtape has a rule for take traced values."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as _linalg

import gradtape as gt
from gradtape_standins import missing_names
from gradtape_standins.autograd.scipy.choosing import either as _either

_ALIKE = (
    "cho_factor",
    "cho_solve",
    "det",
    "eigvalsh",
    "expm",
    "inv",
    "logm",
    "lu",
    "norm",
    "pinv",
    "solve_sylvester",
    "solve_triangular",
    "sqrtm",
    "svdvals",
)
"""What gradtape and SciPy mean the same by."""


def _cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The upper factor, unless `lower`: SciPy's custom, which is not NumPy's."""
    factor = gt.linalg.cholesky(a)
    return factor if lower else np.conj(np.swapaxes(factor, -1, -2))


def _solve(a: Any, b: Any, **options: Any) -> Any:
    """SciPy's options say what is known about `a`, and change no result."""
    return gt.linalg.solve(a, b)


def _solve_banded(l_and_u: tuple[int, int], ab: Any, b: Any, *options: Any, **more: Any) -> Any:
    """The bands on their diagonals in a whole matrix, and its solution."""
    below, above = l_and_u
    size = ab.shape[1]
    matrix: Any = np.zeros((size, size))
    for row, offset in enumerate(range(above, -below - 1, -1)):
        band = ab[row, max(offset, 0) : size + min(offset, 0)]
        matrix = matrix + gt.diag(band, offset)
    return gt.linalg.solve(matrix, b)


_OURS = {name: getattr(gt.linalg, name) for name in _ALIKE} | {
    "cholesky": _cholesky,
    "solve": _solve,
    "solve_banded": _solve_banded,
}

globals().update(
    {
        name: _either(function, _OURS.get(name, function))
        if callable(function) and not isinstance(function, type)
        else function
        for name, function in vars(_linalg).items()
        if name in _linalg.__all__
    }
)

__getattr__ = missing_names.missing(__name__)
