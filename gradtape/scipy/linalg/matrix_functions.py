"""Functions of matrices of `scipy.linalg`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.extend import Tensor, numbers_if_known
from gradtape.ops import decompositions
from gradtape.ops import eigen as _eigen
from gradtape.ops import matrix_functions as _functions
from gradtape.ops.conversion import stop_gradient
from gradtape.ops.norms import norm
from gradtape.scipy.linalg.arguments import as_matrix, as_numbers, as_one_matrix, no_such_option, original

__all__ = [
    *("coshm", "cosm", "expm", "expm_frechet", "fractional_matrix_power", "funm", "logm", "signm", "sinhm", "sinm"),
    *("sqrtm", "tanhm", "tanm"),
]

_NOT_GIVEN = object()


@original.differentiated
def expm(A: Any) -> Any:
    """The exponential of a matrix, as `scipy.linalg.expm`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.expm(gt.tensor([[0.0, 1.0], [0.0, 0.0]]))
    Tensor([[1., 1.],
            [0., 1.]])
    """
    return _functions.expm(as_matrix(A, name="A", square=True))


@original.differentiated
def expm_frechet(
    A: Any, E: Any, method: str | None = None, compute_expm: bool = True, check_finite: bool = True
) -> Any:
    """The exponential of A, and its derivative along E, as `scipy.linalg.expm_frechet`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.expm_frechet(gt.tensor([[0.0]]), [[2.0]], compute_expm=False)
    Tensor([[2.]])
    """
    a, e = as_one_matrix(A, check_finite, "A", square=True), as_one_matrix(E, check_finite, "E", square=True)
    if a.shape != e.shape:
        raise no_such_option("expm_frechet", "the shapes", (a.shape, e.shape), "one shape for A and E")
    if method not in (None, "SPS", "blockEnlarge"):
        raise no_such_option("expm_frechet", "method", method, "'SPS' or 'blockEnlarge'")
    n = a.shape[-1]
    upper = np.concatenate([a, e], axis=-1)
    lower = np.concatenate([np.zeros_like(a), a], axis=-1)
    whole = _functions.expm(np.concatenate([upper, lower], axis=-2))
    return (whole[:n, :n], whole[:n, n:]) if compute_expm else whole[:n, n:]


@original.differentiated
def logm(A: Any, disp: Any = _NOT_GIVEN) -> Any:
    """The principal logarithm of a matrix, as `scipy.linalg.logm`: complex if it has negative eigenvalues.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.logm(gt.tensor([[1.0, 1.0], [0.0, 1.0]])).round(12)
    Tensor([[0., 1.],
            [0., 0.]])
    """
    a = as_matrix(A, name="A", square=True)
    logarithm = _functions.logm(a)
    if disp is _NOT_GIVEN or disp:
        return logarithm
    return logarithm, norm(_functions.expm(stop_gradient(logarithm)) - stop_gradient(a), 1) / norm(stop_gradient(a), 1)


@original.differentiated
def sqrtm(A: Any, disp: Any = _NOT_GIVEN, blocksize: Any = _NOT_GIVEN) -> Any:
    """The principal square root of a matrix, as `scipy.linalg.sqrtm`: complex if it has negative eigenvalues.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.sqrtm(gt.tensor([[4.0, 0.0], [0.0, 9.0]]))
    Tensor([[2., 0.],
            [0., 3.]])
    """
    a = as_matrix(A, name="A", square=True)
    root = _functions.sqrtm(a)
    if disp is _NOT_GIVEN or disp:
        return root
    known = stop_gradient(root)
    return root, norm(known @ known - stop_gradient(a), "fro") ** 2 / norm(stop_gradient(a), "fro")


@original.differentiated
def fractional_matrix_power(A: Any, t: Any) -> Any:
    """The power of a matrix with any exponent, as `scipy.linalg.fractional_matrix_power`, by both arguments.

    It is real for a real matrix without negative eigenvalues.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.fractional_matrix_power(gt.tensor([[4.0, 0.0], [0.0, 9.0]]), 0.5).round(12)
    Tensor([[2., 0.],
            [0., 3.]])
    """
    a = as_one_matrix(A, name="A", square=True)
    if not isinstance(t, Tensor):
        try:
            return decompositions.matrix_power(a, operator.index(int(t) if float(t).is_integer() else t))
        except TypeError:
            pass  # not a whole number
    return _functions.fractional_power(a, as_numbers(t, name="t"))


# -- by the exponential


def _turned(a: Any) -> Any:
    return _functions.expm(1j * a)


@original.differentiated
def cosm(A: Any) -> Any:
    """The cosine of a matrix, as `scipy.linalg.cosm`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.cosm(gt.tensor([[0.0, 1.0], [0.0, 0.0]]))
    Tensor([[1., 0.],
            [0., 1.]])
    """
    a = as_matrix(A, name="A", square=True)
    return (_turned(a) + _turned(-a)) / 2 if a.dtype.kind == "c" else np.real(_turned(a))


@original.differentiated
def sinm(A: Any) -> Any:
    """The sine of a matrix, as `scipy.linalg.sinm`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.sinm(gt.tensor([[0.0, 1.0], [0.0, 0.0]]))
    Tensor([[0., 1.],
            [0., 0.]])
    """
    a = as_matrix(A, name="A", square=True)
    return -0.5j * (_turned(a) - _turned(-a)) if a.dtype.kind == "c" else np.imag(_turned(a))


@original.differentiated
def tanm(A: Any) -> Any:
    """The tangent of a matrix, as `scipy.linalg.tanm`."""
    a = as_matrix(A, name="A", square=True)
    return decompositions.solve(cosm(a), sinm(a))


@original.differentiated
def coshm(A: Any) -> Any:
    """The hyperbolic cosine of a matrix, as `scipy.linalg.coshm`."""
    a = as_matrix(A, name="A", square=True)
    return (_functions.expm(a) + _functions.expm(-a)) / 2


@original.differentiated
def sinhm(A: Any) -> Any:
    """The hyperbolic sine of a matrix, as `scipy.linalg.sinhm`."""
    a = as_matrix(A, name="A", square=True)
    return (_functions.expm(a) - _functions.expm(-a)) / 2


@original.differentiated
def tanhm(A: Any) -> Any:
    """The hyperbolic tangent of a matrix, as `scipy.linalg.tanhm`."""
    a = as_matrix(A, name="A", square=True)
    return decompositions.solve(coshm(a), sinhm(a))


@original.differentiated
def signm(A: Any, disp: Any = _NOT_GIVEN) -> Any:
    """The matrix with the eigenvectors of A and the signs of its eigenvalues, A (A^2)^(-1/2), as `scipy.linalg.signm`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.signm(gt.tensor([[2.0, 1.0], [0.0, -3.0]])).round(12)
    Tensor([[ 1. ,  0.4],
            [ 0. , -1. ]])
    """
    a = as_one_matrix(A, name="A", square=True)
    return decompositions.solve(_functions.sqrtm(a @ a), a)


@original.differentiated_with_callbacks
def funm(A: Any, func: Callable[[Any], Any], disp: bool = True) -> Any:
    """The function of a matrix with this function of its eigenvalues, as `scipy.linalg.funm`.

    It is computed from the eigenvectors, which have to be independent, and its derivative from those of `func`; the
    eigenvalues have to be distinct for that.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.funm(gt.tensor([[4.0, 0.0], [0.0, 9.0]]), np.sqrt).round(12)
    Tensor([[2., 0.],
            [0., 3.]])
    """
    a = as_one_matrix(A, name="A", square=True)
    values, vectors = _eigen.complex_eig(a)
    scaled = vectors * func(values)
    result = np.swapaxes(decompositions.solve(np.swapaxes(vectors, 0, 1), np.swapaxes(scaled, 0, 1)), 0, 1)
    if a.dtype.kind != "c":
        known = numbers_if_known(result) if isinstance(result, Tensor) else result
        tolerance = 1e6 * np.finfo(a.dtype).eps if a.dtype == np.float64 else 1e3 * np.finfo(a.dtype).eps
        if known is not None and np.allclose(np.imag(known), 0, atol=tolerance):
            result = np.real(result)
    if disp:
        return result
    condition = np.linalg.cond(np.asarray(numbers_if_known(vectors) if isinstance(vectors, Tensor) else vectors))
    return result, float(min(1.0, condition * np.finfo(a.dtype).eps))
