"""Tests of hypotheses and regression: statistics and p-values, with derivatives by the samples."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from gradtape.errors import OperandError, UnsupportedError
from gradtape.extend import argument_error
from gradtape.ops.special.entropy import xlogy
from gradtape.scipy.stats.common import as_array, joined, original
from gradtape.scipy.stats.samples import central_moment, kurtosis, read_sample, sample_size, skew
from gradtape.stats import beta as beta_distribution
from gradtape.stats import chi2, f, norm, t

ALTERNATIVES = ("two-sided", "less", "greater")


class Result(tuple[Any, ...]):
    """A tuple with names for its elements, and further attributes that are not among them."""

    fields: tuple[str, ...] = ()

    def __new__(cls, *values: Any, **others: Any) -> Result:
        made = super().__new__(cls, values)
        made.__dict__.update(zip(cls.fields, values))
        made.__dict__.update(others)
        return made

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items() if name[0] != "_")
        return f"{type(self).__name__}({inside})"


class SignificanceResult(Result):
    """A statistic and its p-value."""

    fields = ("statistic", "pvalue")
    statistic: Any
    pvalue: Any


class TtestResult(SignificanceResult):
    """A statistic of Student's, its p-value and, as an attribute, the degrees of freedom `df`."""

    df: Any
    _estimate: Any
    _standard_error: Any
    _alternative: str

    def confidence_interval(self, confidence_level: float = 0.95) -> tuple[Any, Any]:
        """The interval for the (difference of the) mean that has this probability."""
        if self._alternative == "two-sided":
            reach = t.isf(0.5 * (1 - confidence_level), self.df) * self._standard_error
            return self._estimate - reach, self._estimate + reach
        reach = t.isf(1 - confidence_level, self.df) * self._standard_error
        if self._alternative == "less":
            return np.full_like(reach, -np.inf), self._estimate + reach
        return self._estimate - reach, np.full_like(reach, np.inf)


class LinregressResult(Result):
    """A line, its correlation, the p-value of its slope and the standard errors."""

    fields = ("slope", "intercept", "rvalue", "pvalue", "stderr")
    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any
    intercept_stderr: Any


def p_value(distribution: Any, statistic: Any, alternative: str, *shapes: Any) -> Any:
    """The probability of a statistic that is as extreme, of a symmetric distribution for both sides."""
    if alternative not in ALTERNATIVES:
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")
    if alternative == "less":
        return distribution.cdf(statistic, *shapes)
    if alternative == "greater":
        return distribution.sf(statistic, *shapes)
    return 2 * distribution.sf(np.abs(statistic), *shapes)


def _student(estimate: Any, expected: Any, error: Any, df: Any, alternative: str) -> TtestResult:
    statistic = (estimate - expected) / error
    pvalue = p_value(t, statistic, alternative, df)
    details = {"_estimate": estimate, "_standard_error": error, "_alternative": alternative}
    return TtestResult(statistic, pvalue, df=df, **details)


@original.differentiated
def ttest_1samp(
    a: Any,
    popmean: Any,
    axis: Any = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> TtestResult:
    """Whether the mean of a sample may be `popmean`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> gt.grad(lambda mean: stats.ttest_1samp([1.0, 2.0, 4.0], mean).statistic)(gt.tensor(0.0))
    Tensor(-1.13389342)
    """
    sample, expected = read_sample("ttest_1samp", a, nan_policy), joined(popmean)
    count = sample_size(sample, axis)
    mean = sample.mean(axis=axis, keepdims=keepdims)
    error = sample.std(axis=axis, ddof=1, keepdims=keepdims) / sqrt(count)
    if np.ndim(expected) == mean.ndim + 1 and not keepdims and isinstance(axis, int):
        expected = np.squeeze(expected, axis)
    return _student(mean, expected, error, count - 1, alternative)


@original.differentiated
def ttest_rel(
    a: Any,
    b: Any,
    axis: Any = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> TtestResult:
    """Whether two samples of pairs may have the same mean."""
    first, second = read_sample("ttest_rel", a, nan_policy), read_sample("ttest_rel", b, nan_policy, "b")
    if first.shape != second.shape:
        raise ValueError("unequal length arrays")
    return ttest_1samp(first - second, 0.0, axis, alternative=alternative, keepdims=keepdims)


def _two_means(
    mean1: Any, var1: Any, n1: Any, mean2: Any, var2: Any, n2: Any, equal_var: bool, alternative: str
) -> TtestResult:
    """Student's test of two means, or Welch's for variances that differ."""
    if equal_var:
        df = n1 + n2 - 2.0
        error = np.sqrt(((n1 - 1) * var1 + (n2 - 1) * var2) / df * (1.0 / n1 + 1.0 / n2))
    else:
        share1, share2 = var1 / n1, var2 / n2
        df = (share1 + share2) ** 2 / (share1**2 / (n1 - 1) + share2**2 / (n2 - 1))
        error = np.sqrt(share1 + share2)
    return _student(mean1 - mean2, 0.0, error, df, alternative)


@original.differentiated
def ttest_ind(
    a: Any,
    b: Any,
    *,
    axis: Any = 0,
    equal_var: bool = True,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    trim: float = 0,
    method: Any = None,
    keepdims: bool = False,
    permutations: Any = None,
    random_state: Any = None,
) -> TtestResult:
    """Whether two samples may have the same mean; with `equal_var=False`, by Welch's test."""
    if trim or method is not None or permutations:
        raise argument_error(
            UnsupportedError,
            f"stats.ttest_ind: trim={trim!r}, method={method!r} have no derivative in gradtape.",
            "trim=0 and method=None",
        )
    samples = [read_sample("ttest_ind", x, nan_policy, name) for x, name in ((a, "a"), (b, "b"))]
    parts = [
        (x.mean(axis=axis, keepdims=keepdims), x.var(axis=axis, ddof=1, keepdims=keepdims), sample_size(x, axis))
        for x in samples
    ]
    return _two_means(*parts[0], *parts[1], equal_var, alternative)


@original.differentiated
def ttest_ind_from_stats(
    mean1: Any,
    std1: Any,
    nobs1: Any,
    mean2: Any,
    std2: Any,
    nobs2: Any,
    equal_var: bool = True,
    alternative: str = "two-sided",
) -> TtestResult:
    """The same test from means, standard deviations and counts."""
    mean1, std1, mean2, std2 = (as_array(value) for value in (mean1, std1, mean2, std2))
    return _two_means(mean1, std1**2, nobs1, mean2, std2**2, nobs2, equal_var, alternative)


# -- correlation and regression


def _correlation(x: Any, y: Any, axis: int = -1) -> Any:
    first, second = x - x.mean(axis=axis, keepdims=True), y - y.mean(axis=axis, keepdims=True)
    sizes = (first * first).sum(axis=axis) * (second * second).sum(axis=axis)
    return (first * second).sum(axis=axis) / np.sqrt(sizes)


@original.differentiated
def pearsonr(
    x: Any, y: Any, *, alternative: str = "two-sided", method: Any = None, axis: Any = 0
) -> SignificanceResult:
    """The correlation of two samples, and the probability of a larger one of independent normal samples.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> stats.pearsonr(gt.tensor([1.0, 2.0, 4.0]), [1.0, 3.0, 4.0]).statistic
    Tensor(0.92857143)
    """
    if method is not None:
        raise argument_error(
            UnsupportedError, f"stats.pearsonr: method={method!r} has no derivative in gradtape.", "method=None"
        )
    first, second = read_sample("pearsonr", x, argument="x"), read_sample("pearsonr", y, argument="y")
    if axis is None:
        first, second, axis = first.reshape(-1), second.reshape(-1), 0
    count = first.shape[axis]
    if second.shape[axis] != count:
        raise ValueError("`x` and `y` must have the same length along `axis`.")
    statistic = _correlation(first, second, axis)
    half = count / 2 - 1
    return SignificanceResult(statistic, p_value(beta_distribution, statistic, alternative, half, half, -1, 2))


@original.differentiated
def pointbiserialr(
    x: Any, y: Any, *, axis: Any = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> SignificanceResult:
    """The correlation of truth values and numbers."""
    return pearsonr(x, y)


@original.differentiated
def linregress(
    x: Any, y: Any, alternative: str = "two-sided", *, axis: int = 0, nan_policy: str = "propagate"
) -> LinregressResult:
    """The line of least squares through points.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> gt.grad(lambda y: stats.linregress([0.0, 1.0, 2.0], y).slope)(gt.tensor([1.0, 2.0, 5.0]))
    Tensor([-0.5,  0. ,  0.5])
    """
    first, second = read_sample("linregress", x, nan_policy, "x"), read_sample("linregress", y, nan_policy, "y")
    count = first.shape[axis]
    means = [sample.mean(axis=axis, keepdims=True) for sample in (first, second)]
    apart = [sample - mean for sample, mean in zip((first, second), means)]
    square, other, product = ((apart[i] * apart[j]).mean(axis=axis) for i, j in ((0, 0), (1, 1), (0, 1)))
    slope = product / square
    rvalue = product / np.sqrt(square * other)
    place = first.mean(axis=axis)
    df = count - 2
    statistic = rvalue * np.sqrt(df / ((1 - rvalue) * (1 + rvalue)))
    error = np.sqrt((1 - rvalue**2) * other / square / df)
    return LinregressResult(
        slope,
        second.mean(axis=axis) - slope * place,
        rvalue,
        p_value(t, statistic, alternative, df),
        error,
        intercept_stderr=error * np.sqrt(square + place**2),
    )


# -- several samples, counts, normality


@original.differentiated
def f_oneway(
    *samples: Any, axis: Any = 0, equal_var: bool = True, nan_policy: str = "propagate", keepdims: bool = False
) -> SignificanceResult:
    """Whether several samples may have the same mean: the analysis of variance."""
    groups = [read_sample("f_oneway", sample, nan_policy, "samples") for sample in samples]
    if not equal_var:
        return _welch(groups, axis, keepdims)
    counts = [sample_size(group, axis) for group in groups]
    means = [group.mean(axis=axis, keepdims=keepdims) for group in groups]
    total = sum(counts)
    overall = sum(count * mean for count, mean in zip(counts, means)) / total
    between = sum(count * (mean - overall) ** 2 for count, mean in zip(counts, means))
    within = sum(count * group.var(axis=axis, keepdims=keepdims) for count, group in zip(counts, groups))
    free, rest = len(groups) - 1, total - len(groups)
    statistic = (between / free) / (within / rest)
    return SignificanceResult(statistic, f.sf(statistic, free, rest))


def _welch(groups: list[Any], axis: Any, keepdims: bool) -> SignificanceResult:
    """Whether several samples may have the same mean, if their variances differ."""
    counts = [sample_size(group, axis) for group in groups]
    means = [group.mean(axis=axis, keepdims=keepdims) for group in groups]
    weights = [n / group.var(axis=axis, ddof=1, keepdims=keepdims) for n, group in zip(counts, groups)]
    total, free = sum(weights), len(groups) - 1
    overall = sum(weight * mean for weight, mean in zip(weights, means)) / total
    between = sum(weight * (mean - overall) ** 2 for weight, mean in zip(weights, means)) / free
    uneven = sum((1 - weight / total) ** 2 / (n - 1) for weight, n in zip(weights, counts))
    statistic = between / (1 + 2 * (free - 1) / (free * (free + 2)) * uneven)
    return SignificanceResult(statistic, f.sf(statistic, free, free * (free + 2) / (3 * uneven)))


@original.differentiated
def levene(
    *samples: Any,
    center: str = "median",
    proportiontocut: float = 0.05,
    axis: Any = 0,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> SignificanceResult:
    """Whether several samples may have the same variance, from the distances to their medians or means.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> stats.levene(gt.tensor([1.0, 2.0, 4.0]), [1.0, 5.0, 6.0], center="mean").statistic.round(6)
    Tensor(1.6)
    """
    if center not in ("median", "mean"):
        raise argument_error(
            UnsupportedError, f"stats.levene: center={center!r} of tensors.", "center='median' or 'mean'"
        )
    groups = [read_sample("levene", sample, nan_policy, "samples") for sample in samples]
    middle: Any = np.median if center == "median" else np.mean
    return f_oneway(*[np.abs(x - middle(x, axis=axis, keepdims=True)) for x in groups], axis=axis, keepdims=keepdims)


@original.differentiated
def obrientransform(*samples: Any) -> Any:
    """The transforms of O'Brien: their means are the variances of the samples, which have the same size."""
    found = []
    for sample in samples:
        values = read_sample("obrientransform", sample, argument="samples")
        n, squares = values.shape[0], (values - values.mean()) ** 2
        found.append(((n - 1.5) * n * squares - 0.5 * squares.sum()) / ((n - 1) * (n - 2)))
    if len({tuple(each.shape) for each in found}) > 1:
        raise argument_error(
            OperandError, "stats.obrientransform: tensors of different sizes.", "a call for each sample, and its [0]"
        )
    return np.stack(found)


@original.differentiated
def bartlett(*samples: Any, axis: Any = 0, nan_policy: str = "propagate", keepdims: bool = False) -> SignificanceResult:
    """Whether several normal samples may have the same variance."""
    groups = [read_sample("bartlett", sample, nan_policy, "samples") for sample in samples]
    counts = np.array([sample_size(group, axis) for group in groups])
    variances = [group.var(axis=axis, ddof=1, keepdims=keepdims) for group in groups]
    free, rest = counts - 1, counts.sum() - len(groups)
    pooled = sum(k * variance for k, variance in zip(free, variances)) / rest
    apart = rest * np.log(pooled) - sum(k * np.log(variance) for k, variance in zip(free, variances))
    statistic = apart / (1 + ((1 / free).sum() - 1 / rest) / (3 * (len(groups) - 1)))
    return SignificanceResult(statistic, chi2.sf(statistic, len(groups) - 1))


POWERS = {
    "pearson": 1.0,
    "log-likelihood": 0.0,
    "freeman-tukey": -0.5,
    "mod-log-likelihood": -1.0,
    "neyman": -2.0,
    "cressie-read": 2 / 3,
}


@original.differentiated
def power_divergence(
    f_obs: Any,
    f_exp: Any = None,
    ddof: Any = 0,
    axis: Any = 0,
    lambda_: Any = None,
    *,
    keepdims: bool = False,
    nan_policy: str = "propagate",
    sum_check: bool = True,
) -> SignificanceResult:
    """How far counts are from expected ones, and the probability of a larger divergence."""
    if isinstance(lambda_, str) and lambda_ not in POWERS:
        raise ValueError(f"invalid string for lambda_: {lambda_!r}. Valid strings are {str(list(POWERS))[1:-1]}")
    power: Any = 1.0 if lambda_ is None else POWERS[lambda_] if isinstance(lambda_, str) else lambda_
    observed = read_sample("power_divergence", f_obs, nan_policy, "f_obs")
    if f_exp is None:
        expected = observed.mean(axis=axis, keepdims=True)
    else:
        expected = read_sample("power_divergence", f_exp, nan_policy, "f_exp")
    if power == 1:
        terms = (observed - expected) ** 2 / expected
    elif power == 0:
        terms = 2 * xlogy(observed, observed / expected)
    elif power == -1:
        terms = 2 * xlogy(expected, expected / observed)
    else:
        terms = observed * ((observed / expected) ** power - 1) * (2 / (power * (power + 1)))
    statistic = terms.sum(axis=axis, keepdims=keepdims)
    return SignificanceResult(statistic, chi2.sf(statistic, sample_size(terms, axis) - 1 - ddof))


@original.differentiated
def chisquare(f_obs: Any, f_exp: Any = None, ddof: Any = 0, axis: Any = 0, **details: Any) -> SignificanceResult:
    """Pearson's chi squared of counts and expected ones."""
    return power_divergence(f_obs, f_exp, ddof, axis, "pearson", **details)


@original.differentiated
def jarque_bera(
    x: Any, *, axis: Any = None, nan_policy: str = "propagate", keepdims: bool = False
) -> SignificanceResult:
    """Whether a sample may be normal, from its skewness and its kurtosis."""
    sample = read_sample("jarque_bera", x, nan_policy, "x")
    count = sample_size(sample, axis)
    asymmetry, excess = skew(sample, axis, keepdims=keepdims), kurtosis(sample, axis, keepdims=keepdims)
    statistic = count / 6 * (asymmetry**2 + excess**2 / 4)
    return SignificanceResult(statistic, chi2.sf(statistic, 2))


@original.differentiated
def skewtest(
    a: Any,
    axis: Any = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> SignificanceResult:
    """Whether the skewness of a sample may be that of a normal distribution (D'Agostino)."""
    sample = read_sample("skewtest", a, nan_policy)
    n = sample_size(sample, axis)
    if n < 8:
        raise ValueError(f"`skewtest` requires at least 8 observations; only {n} observations were given.")
    y = skew(sample, axis, keepdims=keepdims) * sqrt((n + 1) * (n + 3) / (6.0 * (n - 2)))
    spread = 3.0 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2.0) * (n + 5) * (n + 7) * (n + 9))
    square = -1 + sqrt(2 * (spread - 1))
    statistic = np.arcsinh(y / sqrt(2.0 / (square - 1))) / sqrt(0.5 * np.log(square))
    return SignificanceResult(statistic, p_value(norm, statistic, alternative))


@original.differentiated
def kurtosistest(
    a: Any,
    axis: Any = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> SignificanceResult:
    """Whether the kurtosis of a sample may be that of a normal distribution (Anscombe and Glynn)."""
    sample = read_sample("kurtosistest", a, nan_policy)
    n = sample_size(sample, axis)
    if n < 5:
        raise ValueError(f"`kurtosistest` requires at least 5 observations; only {n} observations were given.")
    second, fourth = (central_moment(sample, k, axis, keepdims=keepdims) for k in (2, 4))
    variance = 24.0 * n * (n - 2) * (n - 3) / ((n + 1) ** 2.0 * (n + 3) * (n + 5))
    x = (fourth / second**2 - 3.0 * (n - 1) / (n + 1)) / sqrt(variance)
    root = sqrt(6.0 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    asymmetry = 6.0 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) * root
    shape = 6.0 + 8.0 / asymmetry * (2.0 / asymmetry + sqrt(1 + 4.0 / asymmetry**2))
    middle = 1 - 2 / (9.0 * shape)
    denominator = 1 + x * sqrt(2 / (shape - 4.0))
    size = np.cbrt((1 - 2.0 / shape) / np.abs(denominator))
    statistic = (middle - np.sign(denominator) * size) / sqrt(2 / (9.0 * shape))
    return SignificanceResult(statistic, p_value(norm, statistic, alternative))


@original.differentiated
def normaltest(a: Any, axis: Any = 0, nan_policy: str = "propagate", *, keepdims: bool = False) -> SignificanceResult:
    """Whether a sample may be normal, from the tests of its skewness and of its kurtosis."""
    sample = read_sample("normaltest", a, nan_policy)
    first = skewtest(sample, axis, keepdims=keepdims).statistic
    second = kurtosistest(sample, axis, keepdims=keepdims).statistic
    statistic = first**2 + second**2
    return SignificanceResult(statistic, chi2.sf(statistic, 2))


@original.differentiated
def combine_pvalues(
    pvalues: Any,
    method: str = "fisher",
    weights: Any = None,
    *,
    axis: int = 0,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> SignificanceResult:
    """One p-value of several, by the methods of Fisher, Pearson, Tippett or Stouffer."""
    values = read_sample("combine_pvalues", pvalues, nan_policy, "pvalues")
    count = values.shape[axis]
    if method == "fisher":
        statistic = -2 * np.log(values).sum(axis=axis, keepdims=keepdims)
        return SignificanceResult(statistic, chi2.sf(statistic, 2 * count))
    if method == "pearson":
        statistic = 2 * np.log1p(-values).sum(axis=axis, keepdims=keepdims)
        return SignificanceResult(statistic, chi2.cdf(-statistic, 2 * count))
    if method == "tippett":
        statistic = values.min(axis=axis, keepdims=keepdims)
        return SignificanceResult(statistic, 1 - (1 - statistic) ** count)
    if method == "stouffer":
        shares = np.ones(count) if weights is None else as_array(weights)
        shares = shares.reshape([-1 if k == axis % values.ndim else 1 for k in range(values.ndim)])
        scores = (shares * norm.isf(values)).sum(axis=axis, keepdims=keepdims)
        statistic = scores / np.sqrt((shares * shares).sum())
        return SignificanceResult(statistic, norm.sf(statistic))
    raise argument_error(
        OperandError,
        f"stats.combine_pvalues: method={method!r} has no derivative in gradtape.",
        "method='fisher', 'pearson', 'tippett' or 'stouffer'",
    )


@original.differentiated
def false_discovery_control(ps: Any, *, axis: int | None = 0, method: str = "bh") -> Any:
    """The p-values of Benjamini and Hochberg, or of Benjamini and Yekutieli."""
    values = read_sample("false_discovery_control", ps, argument="ps")
    if method.lower() not in ("bh", "by"):
        raise ValueError(f"Unrecognized `method` '{method}'.Method must be one of {{'bh', 'by'}}.")
    place = 0 if axis is None else axis
    moved = np.moveaxis(values.reshape(-1) if axis is None else values, place, -1)
    count = moved.shape[-1]
    if count <= 1:
        return values
    order = np.argsort(moved, axis=-1)
    ranks = np.arange(1, count + 1.0)
    factor = (1 / ranks).sum() if method.lower() == "by" else 1.0
    scaled = np.take_along_axis(moved, order, -1) * (count / ranks * factor)
    least = np.minimum.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    found = np.take_along_axis(least, np.argsort(order, axis=-1), -1)
    return np.clip(np.moveaxis(found, -1, place), 0.0, 1.0)
