"""Means of functions of a continuous variable, as sums over nodes that are differentiated through.

The mean of g is the integral of g(x) times the density, by the trapezoidal rule after a substitution that suits the
support: x = low + m exp(w sinh(t)) on a half line, x = m + w sinh(t) on a line, the tanh-sinh rule between two ends,
where m is about the middle of the mass and w its width, in the logarithm on a half line. The nodes do not move with the
shapes, which is right where the support does not either. Where it does, the mean is the integral of g(Q(u)) over u from
0 to 1, with the quantile function Q.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import pi
from typing import Any

import numpy as np

from gradtape.random.drawing import fixed

Function = Callable[..., Any]

_T = np.arange(0.0125, 6.0, 0.025)
SHARES = 1 / (1 + np.exp(pi * np.sinh(_T)))
"""Nodes of the tanh-sinh rule between 0 and 1 / 2; the others are 1 minus these."""
SHARE_WEIGHTS = 0.025 * pi * np.cosh(_T) * SHARES * (1 - SHARES)
LINE = np.arange(-22.0, 22.05, 0.1)
HALF_LINE = np.arange(-9.5, 9.52, 0.05)


def _in_front(nodes: Any, rank: int, dtype: Any) -> Any:
    """Nodes along an axis in front of `rank` others."""
    return nodes.reshape(-1, *(1,) * rank).astype(dtype)


def mean_by_quantiles(function: Function, ppf: Function, isf: Function, shapes: Sequence[Any]) -> Any:
    """The mean of a function of the point and the shapes, from the quantile functions."""
    rank, dtype = max(shape.ndim for shape in shapes), shapes[0].dtype
    shares, weights = _in_front(SHARES, rank, dtype), _in_front(SHARE_WEIGHTS, rank, dtype)
    constants, total = [fixed(shape) for shape in shapes], 0.0
    for quantile in (ppf, isf):
        is_finite = np.isfinite(function(quantile(shares, *constants), *constants))
        value = function(quantile(np.where(is_finite, shares, 0.25), *shapes), *shapes)
        total = total + np.where(is_finite, weights * value, 0).sum(0)
    return total


def _nodes(low: Any, high: Any, middle: Any, width: Any, rank: int, dtype: Any) -> Iterator[tuple[Any, Any]]:
    """Points and weights between two ends, which may be infinite."""
    if np.all(np.isfinite(low)) and np.all(np.isfinite(high)):
        shares, weights = _in_front(SHARES, rank, dtype), _in_front(SHARE_WEIGHTS, rank, dtype) * (high - low)
        yield low + (high - low) * shares, weights
        yield high - (high - low) * shares, weights
    elif np.all(np.isfinite(low)) or np.all(np.isfinite(high)):
        end, sign = (low, 1) if np.all(np.isfinite(low)) else (high, -1)
        t, apart = _in_front(HALF_LINE, rank, dtype), np.abs(middle - end)
        apart = np.where(apart > 0, apart, width)
        relative = np.clip(width / apart, 0.02, 1)
        distance = apart * np.exp(relative * np.sinh(t))
        yield end + sign * distance, 0.05 * relative * np.cosh(t) * distance
    else:
        t = _in_front(LINE, rank, dtype)
        yield middle + width * np.sinh(t), 0.1 * width * np.cosh(t)


def mean_by_density(
    function: Function,
    logpdf: Function,
    ends: Sequence[Any],
    middle: Any,
    width: Any,
    typical: Any,
    shapes: Sequence[Any],
) -> Any:
    """The mean of a function of the point and the shapes, from the density, over the stretches between `ends`.

    `middle` and `width` say about where the mass is, and `typical` is a point where the density is not 0.
    """
    rank = max((shape.ndim for shape in shapes), default=0)
    dtype = shapes[0].dtype if shapes else np.dtype(float)
    constants, total = [fixed(shape) for shape in shapes], 0.0
    smallest = np.log(np.finfo(dtype).tiny)
    for low, high in pairwise(ends):
        for x, weights in _nodes(low, high, middle, width, rank, dtype):
            height = logpdf(x, *constants)
            is_inside = (x > low) & (x < high) & np.isfinite(x * weights) & (height > smallest) & (height < np.inf)
            x, weights = np.where(is_inside, x, typical), np.where(is_inside, weights, 0)
            terms = weights * np.exp(logpdf(x, *shapes)) * function(x, *shapes)
            total = total + terms.sum(0)
    return total
