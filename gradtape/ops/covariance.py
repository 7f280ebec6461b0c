"""Covariance and correlation."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.tensor import plain
from gradtape.core.typing import Array, DTypeLike, TensorLike
from gradtape.errors import OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops import reductions
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.conversion import stop_gradient
from gradtape.ops.elementwise import clip
from gradtape.ops.joining import concatenate
from gradtape.ops.shaping import expand_dims, reshape

__all__ = ["corrcoef", "cov"]


@answers(np.cov)
def cov(
    m: TensorLike,
    y: TensorLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: TensorLike | None = None,
    aweights: TensorLike | None = None,
    *,
    dtype: DTypeLike = None,
) -> Any:
    """The covariance matrix of variables in rows (in columns without `rowvar`); differentiable in `aweights` too.

    >>> import gradtape as gt
    >>> gt.cov(gt.tensor([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]))
    Tensor([[ 1. , -0.5],
            [-0.5,  1. ]])
    """
    rows = _variables(m, rowvar, dtype)
    if y is not None:
        rows = concatenate([rows, _variables(y, rowvar, dtype)], 0)
    less = ddof if ddof is not None else 0 if bias else 1
    if less != int(less):
        raise argument_error(OperandError, f"cov: ddof={ddof}.", "an integer")
    weights: Any = None
    if fweights is not None:
        if np.any(plain(fweights) != np.rint(plain(fweights))):
            raise argument_error(OperandError, "cov: fweights that are not integers.", "aweights, which need not be")
        weights = _observation_weights(fweights, rows.shape[1], "fweights")
    if aweights is not None:
        relative = _observation_weights(aweights, rows.shape[1], "aweights")
        weights = relative if weights is None else weights * relative
    if weights is None:
        divisor: Any = rows.shape[1] - less
        centred = rows - reductions.mean(rows, 1, keepdims=True)
        other = centred
    else:
        total = reductions.sum(weights)
        centred = rows - reductions.sum(rows * weights, 1, keepdims=True) / total
        other = centred * weights
        divisor = total - less
        if aweights is not None and less:
            divisor = total - less * reductions.sum(weights * as_value(aweights)) / total
    if not isinstance(divisor, Lifted) and plain(divisor) <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        divisor = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.matmul(centred, np.conj(other).T) / divisor
    return _without_single_axes(found)


def _variables(m: TensorLike, rowvar: bool, dtype: DTypeLike) -> Any:
    """A matrix of floating point numbers with a variable in each row."""
    m = as_value(m)
    if m.ndim > 2:
        raise argument_error(ShapeError, f"cov: an array of {m.ndim} axes.", "a matrix with a variable in each row")
    m = m.astype(dtype) if dtype is not None else m if m.dtype.kind in "fc" else m.astype(float)
    if m.ndim < 2:
        return reshape(m, (1, -1))
    return m if rowvar else m.T


class _Miscounted(ShapeError, RuntimeError):
    """Weights that are not one for each observation, which is a `RuntimeError` of NumPy's."""


def _observation_weights(weights: TensorLike, count: int, name: str) -> Any:
    weights = as_value(weights)
    if weights.shape != (count,):
        raise argument_error(
            _Miscounted, f"cov: {name} of shape {weights.shape} for {count} observations.", "one for each"
        )
    return weights


def _without_single_axes(x: Array) -> Any:
    return reshape(x, tuple(n for n in x.shape if n != 1))


@answers(np.corrcoef)
def corrcoef(x: TensorLike, y: TensorLike | None = None, rowvar: bool = True, *, dtype: DTypeLike = None) -> Any:
    """The correlation coefficients of variables in rows (in columns without `rowvar`).

    >>> import gradtape as gt
    >>> gt.corrcoef(gt.tensor([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]))
    Tensor([[ 1. , -0.5],
            [-0.5,  1. ]])
    """
    found = cov(x, y, rowvar, dtype=dtype)
    if not found.ndim:
        return found / found
    deviation = np.sqrt(np.diagonal(found).real)
    found = found / expand_dims(deviation, 1) / deviation
    if found.dtype.kind == "c":
        return found
    return found + stop_gradient(clip(found, -1, 1) - found)  # rounding may have gone beyond 1; the slope has not
