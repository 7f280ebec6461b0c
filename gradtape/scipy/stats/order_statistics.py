"""Quantiles, L-moments and lines through medians: functions of ordered numbers, which move with the sample."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from gradtape.errors import OperandError, UnsupportedError
from gradtape.extend import Lifted, argument_error, concrete, plain
from gradtape.scipy.stats.common import as_array, original
from gradtape.scipy.stats.samples import read_sample
from gradtape.scipy.stats.significance import Result, linregress
from gradtape.stats import norm

POSITIONS: dict[str, tuple[float, float]] = {
    "interpolated_inverted_cdf": (0.0, 0.0),
    "hazen": (0.5, 0.0),
    "weibull": (0.0, 1.0),
    "linear": (1.0, -1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (0.375, 0.25),
}
"""For each continuous method of Hyndman and Fan, a and b: the quantile p of n numbers is at p n + a + b p - 1."""


@original.differentiated
def quantile(
    x: Any,
    p: Any,
    *,
    method: str = "linear",
    axis: int | None = 0,
    nan_policy: str = "propagate",
    keepdims: bool | None = None,
    weights: Any = None,
) -> Any:
    """The quantiles p of a sample, by the sample and by p.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> gt.grad(lambda p: stats.quantile([1.0, 2.0, 5.0], p))(gt.tensor(0.75))
    Tensor(6.)
    """
    if method not in POSITIONS or weights is not None:
        raise argument_error(
            UnsupportedError,
            f"stats.quantile: method={method!r} {'' if weights is None else 'with weights '}has no derivative here.",
            f"weights=None, and one of {', '.join(POSITIONS)}",
        )
    sample, share = read_sample("quantile", x, nan_policy, "x"), as_array(p)
    rank = max(sample.ndim, share.ndim)
    if axis is None:
        sample, share, place = sample.reshape(-1), share.reshape(-1), 0
    else:
        place = axis
        sample, share = (each.reshape((1,) * (rank - each.ndim) + tuple(each.shape)) for each in (sample, share))
    ordered, share = np.moveaxis(np.sort(sample, axis=place), place, -1), np.moveaxis(share, place, -1)
    outer = np.broadcast_shapes(ordered.shape[:-1], share.shape[:-1])
    ordered, share = (np.broadcast_to(each, (*outer, each.shape[-1])) for each in (ordered, share))
    count = ordered.shape[-1]
    first, factor = POSITIONS[method]
    at = np.clip(share * (count + factor) + (first - 1.0), 0.0, count - 1.0)
    low = np.floor(plain(at) if not isinstance(at, Lifted) else at).astype(int)
    near, far = np.take_along_axis(ordered, low, -1), np.take_along_axis(ordered, np.minimum(low + 1, count - 1), -1)
    found = near + (at - low) * (far - near)
    is_share = (share >= 0) & (share <= 1)
    found = np.where(is_share & ~np.isnan(ordered[..., -1:]), found, np.nan)
    single = share.shape[-1] == 1
    if keepdims is False and not single:
        raise ValueError("`keepdims` may be False only if the length of `p` along `axis` is 1.")
    if single and not keepdims:
        return found[..., 0]
    return found.reshape((1,) * (rank - 1) + tuple(found.shape)) if axis is None else np.moveaxis(found, -1, place)


@original.differentiated
def scoreatpercentile(
    a: Any, per: Any, limit: Any = (), interpolation_method: str = "fraction", axis: int | None = None
) -> Any:
    """The percentiles `per` of a sample."""
    sample = as_array(a)
    methods = {"fraction": "linear", "lower": "lower", "higher": "higher"}
    if interpolation_method not in methods:
        raise argument_error(
            OperandError,
            f"stats.scoreatpercentile: interpolation_method={interpolation_method!r}.",
            "interpolation_method='fraction', 'lower' or 'higher'",
        )
    if limit:
        sample = sample[(sample >= limit[0]) & (sample <= limit[1])]
    percentile: Any = np.percentile
    return percentile(sample, per, axis=axis, method=methods[interpolation_method])


@original.differentiated
def lmoment(
    sample: Any,
    order: Any = None,
    *,
    axis: int | None = 0,
    sorted: bool = False,
    standardize: bool = True,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The L-moments of a sample: means of differences of ordered numbers, those from the third over the second."""
    values = read_sample("lmoment", sample, nan_policy, "sample")
    rank = values.ndim
    if axis is None:
        values, place = values.reshape(-1), 0
    else:
        place = axis % rank
    ordered = np.moveaxis(values if sorted else np.sort(values, axis=place), place, -1)
    orders = np.asarray([1, 2, 3, 4] if order is None else order)
    count, most = ordered.shape[-1], int(orders.max())
    if orders.dtype.kind not in "iu" or orders.min() < 1 or most > count:
        raise argument_error(
            OperandError,
            f"stats.lmoment: order={orders.tolist()} of {count} numbers.",
            "whole numbers from 1 to the size of the sample",
        )
    # b[k] is the mean of binom(i, k) / binom(n - 1, k) times the i-th number; the moments are sums of them
    shares = np.array([[comb(i, k) / comb(count - 1, k) / count for i in range(count)] for k in range(most)])
    signs = [[(-1.0) ** (r - k) * comb(r, k) * comb(r + k, k) for k in range(most)] for r in range(most)]
    moments = np.moveaxis(ordered @ (np.array(signs) @ shares).T, -1, 0)
    if standardize and most > 2:
        moments = np.concatenate([moments[:2], moments[2:] / moments[1:2]])
    found = moments[orders - 1]
    if keepdims:
        axes = tuple(range(rank)) if axis is None else (place,)
        found = np.expand_dims(found, tuple(each + orders.ndim for each in axes))
    return found


# -- lines


class SlopesResult(Result):
    """A line, and for `theilslopes` the limits of its slope."""

    fields = ("slope", "intercept", "low_slope", "high_slope")


def _numbers(x: Any) -> Any:
    return np.asarray(concrete(x) if isinstance(x, Lifted) else plain(x))


def _points(name: str, y: Any, x: Any) -> tuple[Any, Any]:
    second = read_sample(name, y, argument="y").reshape(-1)
    first = np.arange(float(second.shape[0])) if x is None else read_sample(name, x, argument="x").reshape(-1)
    if first.shape != second.shape or first.shape[0] < 2:
        raise ValueError("Array shapes are incompatible for broadcasting, or shorter than 2.")
    return first, second


@original.differentiated
def theilslopes(y: Any, x: Any = None, alpha: float = 0.95, method: str = "separate") -> SlopesResult:
    """The line with the median of the slopes between all points, and the limits of its slope.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> gt.grad(lambda y: stats.theilslopes(y).slope)(gt.tensor([0.0, 1.0, 5.0]))
    Tensor([-0.5,  0. ,  0.5])
    """
    if method not in ("joint", "separate"):
        raise ValueError(f"method must be either 'joint' or 'separate'.'{method}' is invalid.")
    first, second = _points("theilslopes", y, x)
    known_x, known_y = _numbers(first), _numbers(second)
    ahead, behind = np.nonzero(known_x[:, None] > known_x)
    slopes = np.sort((second[ahead] - second[behind]) / (first[ahead] - first[behind]))
    slope = np.median(slopes)
    intercept = np.median(second - slope * first) if method == "joint" else np.median(second) - slope * np.median(first)
    z = norm.ppf((1.0 - alpha if alpha > 0.5 else alpha) / 2.0)
    count, pairs = len(known_y), slopes.shape[0]
    spread = count * (count - 1) * (2 * count + 5)
    for known in (known_x, known_y):
        repeats = np.unique(known, return_counts=True)[1]
        spread -= int((repeats * (repeats - 1) * (2 * repeats + 5)).sum())
    reach = z * np.sqrt(spread / 18.0) if spread >= 0 else np.nan
    if not np.isfinite(reach) or not pairs:
        return SlopesResult(slope, intercept, np.nan, np.nan)
    low, high = max(int(np.round((pairs + reach) / 2.0)) - 1, 0), min(int(np.round((pairs - reach) / 2.0)), pairs - 1)
    return SlopesResult(slope, intercept, slopes[low], slopes[high])


@original.differentiated
def siegelslopes(y: Any, x: Any = None, method: str = "hierarchical") -> SlopesResult:
    """The line with the median of the medians of the slopes from each point."""
    if method not in ("hierarchical", "separate"):
        raise ValueError("method can only be 'hierarchical' or 'separate'")
    first, second = _points("siegelslopes", y, x)
    known = _numbers(first)
    slopes, intercepts = [], []
    for index in range(len(known)):
        others = np.flatnonzero(known != known[index])
        width = first[index] - first[others]
        slopes.append(np.median((second[index] - second[others]) / width))
        crossed = second[others] * first[index] - second[index] * first[others]
        intercepts.append(np.median(crossed / width))
    slope = np.median(np.stack(slopes))
    intercept = np.median(np.stack(intercepts)) if method == "separate" else np.median(second - slope * first)
    return SlopesResult(slope, intercept)


@original.differentiated
def probplot(
    x: Any, sparams: Any = (), dist: Any = "norm", fit: bool = True, plot: Any = None, rvalue: bool = False
) -> Any:
    """The ordered sample against the quantiles of a distribution, and the line through both."""
    sample = read_sample("probplot", x, argument="x")
    if plot is not None:
        raise argument_error(
            OperandError, "stats.probplot: plot= with a tensor.", "plot=None, and stats.probplot(x.numpy(), plot=plot)"
        )
    if sample.ndim != 1 or not sample.shape[0]:
        raise argument_error(OperandError, f"stats.probplot: x has shape {sample.shape}.", "a vector")
    places = original.contents.probplot(np.arange(float(sample.shape[0])), sparams, dist, fit=False)[0]
    ordered = np.sort(sample)
    if not fit:
        return places, ordered
    line = linregress(places, ordered)
    return (places, ordered), (line.slope, line.intercept, line.rvalue)
