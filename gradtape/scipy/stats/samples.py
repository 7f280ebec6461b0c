"""Statistics of samples: means, moments, spreads, statistics between limits.

Each is composed of operations, so that it has derivatives by the sample, by weights and by whatever else is continuous.
Ranks, counts and limits are constants.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from gradtape.errors import OperandError
from gradtape.extend import Lifted, Tensor, argument_error, concrete, is_tracked, messages, plain
from gradtape.scipy.stats.common import as_array, original

Axis = int | tuple[int, ...] | None
Inclusive = tuple[bool, bool]


def read_sample(function: str, value: Any, nan_policy: str = "propagate", argument: str = "a") -> Any:
    """An array or tensor of floating point numbers, after NaN was looked for if `nan_policy` asks for that."""
    sample = as_array(value)
    if nan_policy not in ("propagate", "raise", "omit"):
        raise argument_error(
            OperandError, f"stats.{function}: nan_policy={nan_policy!r}.", "nan_policy='propagate', 'raise' or 'omit'"
        )
    if nan_policy != "propagate":
        numbers = concrete(sample) if isinstance(sample, Lifted) else plain(sample)
        if np.isnan(numbers).any():
            if nan_policy == "raise":
                raise ValueError(f"The input contains nan values: {argument} of stats.{function}")
            raise argument_error(
                OperandError,
                f"stats.{function}: nan_policy='omit' for {argument}, a tensor with NaN in it.",
                f"{argument}[~np.isnan({argument})]",
            )
    return sample


def sample_size(sample: Any, axis: Axis) -> int:
    """How many numbers are reduced along an axis."""
    if axis is None:
        return int(np.prod(sample.shape))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return int(np.prod([sample.shape[a] for a in axes]))


def keep_reduced_axes(value: Any, sample: Any, axis: Axis, keepdims: bool) -> Any:
    """A result, with the reduced axes of the sample as axes of length 1 if they are to be kept."""
    if not keepdims:
        return value
    return np.expand_dims(value, tuple(range(np.ndim(as_array(sample)))) if axis is None else axis)


def weighted_mean(sample: Any, axis: Axis, weights: Any = None, keepdims: bool = False) -> Any:
    """The mean along an axis, of equal weights or of given ones."""
    if weights is None:
        return sample.mean(axis=axis, keepdims=keepdims)
    weights = as_array(weights)
    if weights.shape != sample.shape and weights.ndim == 1 and isinstance(axis, int):
        weights = weights.reshape([-1 if k == axis % sample.ndim else 1 for k in range(sample.ndim)])
    weights = weights * np.ones(sample.shape, weights.dtype)
    return (sample * weights).sum(axis=axis, keepdims=keepdims) / weights.sum(axis=axis, keepdims=keepdims)


def central_moment(sample: Any, order: int, axis: Axis, center: Any = None, keepdims: bool = False) -> Any:
    """The mean of a power of the distance from the mean, or from another centre."""
    if order == 1 and center is None:
        return 0 * sample.mean(axis=axis, keepdims=keepdims)
    middle = sample.mean(axis=axis, keepdims=True) if center is None else center
    return ((sample - middle) ** order).mean(axis=axis, keepdims=keepdims)


# -- means


def _cast(sample: Any, dtype: Any) -> Any:
    return sample if dtype is None else sample.astype(dtype)


@original.differentiated
def gmean(
    a: Any,
    axis: Axis = 0,
    dtype: Any = None,
    weights: Any = None,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The geometric mean.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> gt.value_and_grad(stats.gmean)(gt.tensor([1.0, 4.0]))
    (Tensor(2.), Tensor([1.  , 0.25]))
    """
    sample = _cast(read_sample("gmean", a, nan_policy), dtype)
    return np.exp(weighted_mean(np.log(sample), axis, weights, keepdims))


@original.differentiated
def hmean(
    a: Any,
    axis: Axis = 0,
    dtype: Any = None,
    *,
    weights: Any = None,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The harmonic mean: 1 over the mean of the reciprocals.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> stats.hmean(gt.tensor([1.0, 4.0]))
    Tensor(1.6)
    """
    sample = _cast(read_sample("hmean", a, nan_policy), dtype)
    return 1 / weighted_mean(1 / sample, axis, weights, keepdims)


@original.differentiated
def pmean(
    a: Any,
    p: Any,
    *,
    axis: Axis = 0,
    dtype: Any = None,
    weights: Any = None,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The power mean of exponent `p`, which has a derivative too; for 0 that is the geometric mean."""
    sample = _cast(read_sample("pmean", a, nan_policy), dtype)
    if not isinstance(p, Tensor) and p == 0:
        return np.exp(weighted_mean(np.log(sample), axis, weights, keepdims))
    return weighted_mean(sample**p, axis, weights, keepdims) ** (1 / p)


@original.differentiated
def trim_mean(
    a: Any,
    proportiontocut: float,
    axis: int | None = 0,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The mean without a share of the smallest and of the largest numbers."""
    sample, reduced = read_sample("trim_mean", a, nan_policy), axis
    if axis is None:
        sample, axis = sample.reshape(-1), 0
    count = sample.shape[axis]
    cut = int(proportiontocut * count)
    if cut > count - cut:
        raise ValueError("Proportion too big.")
    ordered = np.moveaxis(np.sort(sample, axis=axis), axis, 0)
    return keep_reduced_axes(ordered[cut : count - cut].mean(axis=0), a, reduced, keepdims)


# -- moments


@original.differentiated
def moment(
    a: Any,
    order: Any = 1,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    *,
    center: Any = None,
    keepdims: bool = False,
) -> Any:
    """Central moments of a sample: of one order, or of a sequence of them along a new first axis."""
    sample = read_sample("moment", a, nan_policy)
    if isinstance(order, Tensor) and is_tracked(order):
        raise messages.tracked_parameter("stats.moment", "order", order.shape)
    if np.ndim(order):
        return np.stack([central_moment(sample, int(k), axis, center, keepdims) for k in order])
    return central_moment(sample, int(order), axis, center, keepdims)


@original.differentiated
def skew(a: Any, axis: Axis = 0, bias: bool = True, nan_policy: str = "propagate", *, keepdims: bool = False) -> Any:
    """The skewness of a sample.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> stats.skew(gt.tensor([1.0, 2.0, 6.0]))
    Tensor(0.59517006)
    """
    sample = read_sample("skew", a, nan_policy)
    count = sample_size(sample, axis)
    second, third = (central_moment(sample, k, axis, keepdims=keepdims) for k in (2, 3))
    value = third / second**1.5
    return value if bias or count < 3 else value * sqrt((count - 1.0) * count) / (count - 2.0)


@original.differentiated
def kurtosis(
    a: Any,
    axis: Axis = 0,
    fisher: bool = True,
    bias: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Any:
    """The kurtosis of a sample; 0 for a normal distribution, or 3 without `fisher`."""
    sample = read_sample("kurtosis", a, nan_policy)
    n = sample_size(sample, axis)
    second, fourth = (central_moment(sample, k, axis, keepdims=keepdims) for k in (2, 4))
    value = fourth / second**2
    if not bias and n > 3:
        value = ((n**2 - 1.0) * value - 3 * (n - 1) ** 2.0) / ((n - 2) * (n - 3)) + 3
    return value - 3 if fisher else value


@original.differentiated
def kstat(data: Any, n: int = 2, *, axis: Axis = None, nan_policy: str = "propagate", keepdims: bool = False) -> Any:
    """The unbiased estimate of the n-th cumulant, for n from 1 to 4."""
    sample = read_sample("kstat", data, nan_policy, "data")
    if n not in (1, 2, 3, 4):
        raise ValueError("k-statistics only supported for 1<=n<=4")
    count = sample_size(sample, axis)
    if n == 1:
        return sample.mean(axis=axis, keepdims=keepdims)
    second, third, fourth = (central_moment(sample, k, axis, keepdims=keepdims) for k in (2, 3, 4))
    if n == 2:
        return second * count / (count - 1)
    if n == 3:
        return third * count**2 / ((count - 1) * (count - 2))
    return count**2 * ((count + 1) * fourth - 3 * (count - 1) * second**2) / ((count - 1) * (count - 2) * (count - 3))


@original.differentiated
def kstatvar(data: Any, n: int = 2, *, axis: Axis = None, nan_policy: str = "propagate", keepdims: bool = False) -> Any:
    """The unbiased estimate of the variance of `kstat`, for n of 1 or 2."""
    sample = read_sample("kstatvar", data, nan_policy, "data")
    count = sample_size(sample, axis)
    second = kstat(sample, 2, axis=axis, keepdims=keepdims)
    if n == 1:
        return second / count
    if n == 2:
        fourth = kstat(sample, 4, axis=axis, keepdims=keepdims)
        return (2 * count * second**2 + (count - 1) * fourth) / (count * (count + 1))
    raise ValueError("Only n=1 or n=2 supported.")


class DescribeResult(NamedTuple):
    """What `describe` finds."""

    nobs: int
    minmax: tuple[Any, Any]
    mean: Any
    variance: Any
    skewness: Any
    kurtosis: Any


def _beside(sample: Any, ddof: Any) -> Any:
    """The sample, as a tensor if `ddof` is one: a method of an array would make a number of that."""
    return Tensor(sample) if isinstance(ddof, Tensor) and not isinstance(sample, Tensor) else sample


@original.differentiated
def describe(a: Any, axis: Axis = 0, ddof: int = 1, bias: bool = True, nan_policy: str = "propagate") -> DescribeResult:
    """The count, the range, the mean, the variance, the skewness and the kurtosis of a sample."""
    sample = read_sample("describe", a, nan_policy)
    return DescribeResult(
        sample_size(sample, axis),
        (sample.min(axis=axis), sample.max(axis=axis)),
        sample.mean(axis=axis),
        _beside(sample, ddof).var(axis=axis, ddof=ddof),
        skew(sample, axis, bias),
        kurtosis(sample, axis, bias=bias),
    )


# -- spreads


@original.differentiated
def variation(a: Any, axis: Axis = 0, nan_policy: str = "propagate", ddof: int = 0, *, keepdims: bool = False) -> Any:
    """The standard deviation over the mean."""
    sample = read_sample("variation", a, nan_policy)
    return _beside(sample, ddof).std(axis=axis, ddof=ddof, keepdims=keepdims) / sample.mean(
        axis=axis, keepdims=keepdims
    )


@original.differentiated
def sem(a: Any, axis: Axis = 0, ddof: int = 1, nan_policy: str = "propagate", *, keepdims: bool = False) -> Any:
    """The standard error of the mean."""
    sample = read_sample("sem", a, nan_policy)
    return _beside(sample, ddof).std(axis=axis, ddof=ddof, keepdims=keepdims) / sqrt(sample_size(sample, axis))


@original.differentiated
def gstd(a: Any, axis: Axis = 0, ddof: int = 1, *, keepdims: bool = False, nan_policy: str = "propagate") -> Any:
    """The geometric standard deviation: the exponential of that of the logarithms."""
    logarithms = np.log(read_sample("gstd", a, nan_policy))
    return np.exp(_beside(logarithms, ddof).std(axis=axis, ddof=ddof, keepdims=keepdims))


@original.differentiated
def zmap(scores: Any, compare: Any, axis: int | None = 0, ddof: int = 0, nan_policy: str = "propagate") -> Any:
    """Scores in standard deviations from the mean of another sample."""
    other = read_sample("zmap", compare, nan_policy, "compare")
    spread = _beside(other, ddof).std(axis=axis, ddof=ddof, keepdims=True)
    return (as_array(scores) - other.mean(axis=axis, keepdims=True)) / spread


@original.differentiated
def zscore(a: Any, axis: int | None = 0, ddof: int = 0, nan_policy: str = "propagate") -> Any:
    """A sample in standard deviations from its mean.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> stats.zscore(gt.tensor([1.0, 2.0, 3.0]))
    Tensor([-1.22474487,  0.        ,  1.22474487])
    """
    return zmap(a, a, axis, ddof, nan_policy)


@original.differentiated
def gzscore(a: Any, *, axis: int | None = 0, ddof: int = 0, nan_policy: str = "propagate") -> Any:
    """The same for the logarithms of a sample."""
    return zscore(np.log(read_sample("gzscore", a, nan_policy)), axis, ddof)


NORMAL_IQR = 1.3489795003921634
NORMAL_MAD = 0.6744897501960817


def _scale(function: str, scale: Any, normal: float) -> Any:
    if isinstance(scale, str):
        if scale.lower() != "normal":
            raise ValueError(f"{scale} is not a valid scale value: stats.{function} takes 'normal' or a number")
        return normal
    return scale


@original.differentiated
def iqr(
    x: Any,
    axis: Axis = None,
    rng: tuple[float, float] = (25, 75),
    scale: Any = 1.0,
    nan_policy: str = "propagate",
    interpolation: str = "linear",
    keepdims: bool = False,
) -> Any:
    """The distance between two percentiles."""
    sample = read_sample("iqr", x, nan_policy, "x")
    low, high = sorted(rng)
    percentile: Any = np.percentile
    ends = [percentile(sample, q, axis=axis, method=interpolation, keepdims=keepdims) for q in (low, high)]
    return (ends[1] - ends[0]) / _scale("iqr", scale, NORMAL_IQR)


@original.differentiated
def median_abs_deviation(
    x: Any,
    axis: int | None = 0,
    center: Callable[..., Any] = np.median,
    scale: Any = 1.0,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The median distance from the median, or from what `center(x, axis=axis)` gives."""
    sample = read_sample("median_abs_deviation", x, nan_policy, "x")
    if axis is None:
        middle = center(sample, axis=None)
    else:
        middle = np.expand_dims(center(sample, axis=axis), axis)
    distance = np.median(np.abs(sample - middle), axis=axis, keepdims=keepdims)
    return distance / _scale("median_abs_deviation", scale, NORMAL_MAD)


# -- between limits


def _between(sample: Any, limits: Any, inclusive: tuple[bool, bool]) -> Any:
    """Which numbers are between the limits."""
    low, high = (None, None) if limits is None else limits
    mask: Any = np.ones(sample.shape, bool)
    if low is not None:
        mask = mask & ((sample >= low) if inclusive[0] else (sample > low))
    if high is not None:
        mask = mask & ((sample <= high) if inclusive[1] else (sample < high))
    return mask


def _trimmed(
    function: str, a: Any, limits: Any, inclusive: Inclusive, axis: Axis, ddof: int, nan_policy: str
) -> tuple[Any, ...]:
    """The count, the mean and the variance of the numbers between limits."""
    sample = read_sample(function, a, nan_policy)
    mask = _between(sample, limits, inclusive)
    count = mask.sum(axis=axis)
    inside = np.where(mask, sample, 0)
    mean = inside.sum(axis=axis) / count
    middle = mean if axis is None else np.expand_dims(mean, axis)
    variance = np.where(mask, (sample - middle) ** 2, 0).sum(axis=axis) / (count - ddof)
    return count, mean, variance


@original.differentiated
def tmean(
    a: Any,
    limits: Any = None,
    inclusive: Inclusive = (True, True),
    axis: int | None = None,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The mean of the numbers between limits."""
    return keep_reduced_axes(_trimmed("tmean", a, limits, inclusive, axis, 0, nan_policy)[1], a, axis, keepdims)


@original.differentiated
def tvar(
    a: Any,
    limits: Any = None,
    inclusive: Inclusive = (True, True),
    axis: int | None = 0,
    ddof: int = 1,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The variance of the numbers between limits."""
    return keep_reduced_axes(_trimmed("tvar", a, limits, inclusive, axis, ddof, nan_policy)[2], a, axis, keepdims)


@original.differentiated
def tstd(
    a: Any,
    limits: Any = None,
    inclusive: Inclusive = (True, True),
    axis: int | None = 0,
    ddof: int = 1,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The standard deviation of the numbers between limits."""
    return keep_reduced_axes(
        np.sqrt(_trimmed("tstd", a, limits, inclusive, axis, ddof, nan_policy)[2]), a, axis, keepdims
    )


@original.differentiated
def tsem(
    a: Any,
    limits: Any = None,
    inclusive: Inclusive = (True, True),
    axis: int | None = 0,
    ddof: int = 1,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The standard error of the mean of the numbers between limits."""
    count, _, variance = _trimmed("tsem", a, limits, inclusive, axis, ddof, nan_policy)
    return keep_reduced_axes(np.sqrt(variance / count), a, axis, keepdims)


@original.differentiated
def tmin(
    a: Any,
    lowerlimit: Any = None,
    axis: int | None = 0,
    inclusive: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Any:
    """The smallest number that is not below a limit."""
    sample = read_sample("tmin", a, nan_policy)
    return np.where(_between(sample, (lowerlimit, None), (inclusive, True)), sample, np.inf).min(
        axis=axis, keepdims=keepdims
    )


@original.differentiated
def tmax(
    a: Any,
    upperlimit: Any = None,
    axis: int | None = 0,
    inclusive: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Any:
    """The largest number that is not above a limit."""
    sample = read_sample("tmax", a, nan_policy)
    return np.where(_between(sample, (None, upperlimit), (True, inclusive)), sample, -np.inf).max(
        axis=axis, keepdims=keepdims
    )
