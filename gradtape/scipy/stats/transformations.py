"""Transformations of Box and Cox, and of Yeo and Johnson, for a given exponent."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import UnsupportedError
from gradtape.extend import argument_error
from gradtape.ops.special.transforms import boxcox as power_transform
from gradtape.ops.special.transforms import boxcox1p
from gradtape.scipy.stats.common import as_array, original


def _given(function: str, lmbda: Any) -> Any:
    if lmbda is None:
        raise argument_error(
            UnsupportedError,
            f"stats.{function}: lmbda=None, which is found by iteration without a derivative.",
            f"lmbda = stats.{function}_normmax(x.numpy()), then stats.{function}(x, lmbda)",
        )
    return lmbda


@original.differentiated
def boxcox(x: Any, lmbda: Any = None, alpha: float | None = None, optimizer: Any = None) -> Any:
    """The power transform (x^lmbda - 1) / lmbda, by `x` and by `lmbda`, which has to be given.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> gt.value_and_grad(lambda p: stats.boxcox([2.0], p).sum())(gt.tensor(0.5))
    (Tensor(0.82842712), Tensor(0.30366204))
    """
    return power_transform(as_array(x), _given("boxcox", lmbda))


def _yeo(x: Any, lmbda: Any) -> Any:
    is_positive = x >= 0
    above = boxcox1p(np.where(is_positive, x, 1), lmbda)
    return np.where(is_positive, above, -boxcox1p(np.where(is_positive, 1, -x), 2 - lmbda))


@original.differentiated
def yeojohnson(x: Any, lmbda: Any = None) -> Any:
    """The power transform of 1 + |x| on either side of 0, by `x` and by `lmbda`, which has to be given."""
    return _yeo(as_array(x), _given("yeojohnson", lmbda))


@original.differentiated
def boxcox_llf(lmb: Any, data: Any, *, axis: Any = 0, keepdims: bool = False, nan_policy: str = "propagate") -> Any:
    """The logarithm of the likelihood of an exponent of the transform of Box and Cox."""
    data = as_array(data)
    count = data.size if axis is None else data.shape[axis]
    variance = power_transform(data, lmb).var(axis=axis, keepdims=keepdims)
    return (lmb - 1) * np.log(data).sum(axis=axis, keepdims=keepdims) - count / 2 * np.log(variance)


@original.differentiated
def yeojohnson_llf(lmb: Any, data: Any, *, axis: Any = 0, nan_policy: str = "propagate", keepdims: bool = False) -> Any:
    """The logarithm of the likelihood of an exponent of the transform of Yeo and Johnson."""
    data = as_array(data)
    count = data.size if axis is None else data.shape[axis]
    variance = _yeo(data, lmb).var(axis=axis, keepdims=keepdims)
    slope = (np.sign(data) * np.log1p(np.abs(data))).sum(axis=axis, keepdims=keepdims)
    return (lmb - 1) * slope - count / 2 * np.log(variance)
