"""More discrete distributions: mixtures, geometric and power laws, differences of counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.extend import Lifted, concrete, plain
from gradtape.ops.special.entropy import log_expit
from gradtape.ops.special.gamma import betaln, zeta
from gradtape.ops.special.noncentral import chi_density, chndtr
from gradtape.stats.family import Discrete
from gradtape.stats.summaries import harmonic_sum
from gradtape.stats.tails import log1mexp

Function = Callable[..., Any]


def _counts(*parameters: Any) -> tuple[float, float]:
    return 0.0, np.inf


def _from_one(*parameters: Any) -> tuple[float, float]:
    return 1.0, np.inf


def _logarithms(cdf: Function, sf: Function) -> dict[str, Any]:
    """Both sides and their logarithms."""
    return {
        "cdf": cdf,
        "sf": sf,
        "logcdf": lambda k, *parameters: np.log(cdf(k, *parameters)),
        "logsf": lambda k, *parameters: np.log(sf(k, *parameters)),
    }


def _from_mass(logpmf: Function, first: int, last: Function | None = None) -> dict[str, Any]:
    """The mass and its sums from the first integer on; with `last`, those from above are sums too."""

    def highest(values: Any) -> int:
        numbers = concrete(values) if isinstance(values, Lifted) else plain(values)
        return int(np.max(numbers, initial=first))

    def total(k: Any, parameters: tuple[Any, ...], start: Any, stop: int) -> Any:
        terms = np.arange(first, stop + 1.0).reshape(-1, *(1,) * max(np.ndim(v) for v in (k, *parameters)))
        is_wanted = (terms > k) if start is None else (terms <= k)
        if last is not None:
            is_wanted = is_wanted & (terms <= last(*parameters))
        points = np.where(is_wanted, terms, first)
        return np.where(is_wanted, np.exp(logpmf(points, *parameters)), 0).sum(0)

    def cdf(k: Any, *parameters: Any) -> Any:
        return total(k, parameters, first, highest(k))

    def sf(k: Any, *parameters: Any) -> Any:
        if last is None:
            return 1 - cdf(k, *parameters)
        return total(k, parameters, None, highest(last(*parameters)))

    return {
        "logpmf": logpmf,
        "pmf": lambda k, *parameters: np.exp(logpmf(k, *parameters)),
        **_logarithms(cdf, sf),
    }


# -- mixtures with a beta distribution


def _is_count(n: Any) -> Any:
    return (n >= 0) & (np.floor(n) == n)


betabinom = Discrete(
    "betabinom",
    "n",
    "a",
    "b",
    about="How many of n trials succeed, with a probability that is beta of shapes a and b.",
    support=lambda n, a, b: (0.0, n),
    valid=lambda n, a, b: _is_count(n) & (a > 0) & (b > 0),
    typical=(2.0, 1.0, 1.0),
    **_from_mass(
        lambda k, n, a, b: -np.log(n + 1) - betaln(n - k + 1, k + 1) + betaln(k + a, n - k + b) - betaln(a, b),
        0,
        lambda n, a, b: n,
    ),
)
betanbinom = Discrete(
    "betanbinom",
    "n",
    "a",
    "b",
    about="How many trials fail before the n-th succeeds, with a probability that is beta of shapes a and b.",
    support=_counts,
    valid=lambda n, a, b: _is_count(n) & (a > 0) & (b > 0),
    typical=(2.0, 1.0, 1.0),
    **_from_mass(
        lambda k, n, a, b: -np.log(n + k) - betaln(n, k + 1) + betaln(a + n, b + k) - betaln(a, b),
        0,
    ),
)

# -- geometric laws


def _rate_logpmf(k: Any, rate: Any) -> Any:
    return log1mexp(-rate) - rate * k


planck = Discrete(
    "planck",
    "lambda_",
    about="The discrete exponential distribution of rate lambda_, from 0 on.",
    support=_counts,
    valid=lambda rate: rate > 0,
    typical=(1.0,),
    logpmf=_rate_logpmf,
    pmf=lambda k, rate: np.exp(_rate_logpmf(k, rate)),
    cdf=lambda k, rate: -np.expm1(-rate * (k + 1)),
    sf=lambda k, rate: np.exp(-rate * (k + 1)),
    logcdf=lambda k, rate: log1mexp(-rate * (k + 1)),
    logsf=lambda k, rate: -rate * (k + 1),
)


def _truncated_logpmf(k: Any, rate: Any, N: Any) -> Any:
    return log1mexp(-rate) - rate * k - log1mexp(-rate * N)


boltzmann = Discrete(
    "boltzmann",
    "lambda_",
    "N",
    about="The discrete exponential distribution of rate lambda_, on the integers below N.",
    support=lambda rate, N: (0.0, N - 1),
    valid=lambda rate, N: (rate > 0) & (N > 0) & (np.floor(N) == N),
    typical=(1.0, 3.0),
    logpmf=_truncated_logpmf,
    pmf=lambda k, rate, N: np.exp(_truncated_logpmf(k, rate, N)),
    **_logarithms(
        lambda k, rate, N: np.expm1(-rate * (k + 1)) / np.expm1(-rate * N),
        lambda k, rate, N: np.exp(-rate * (k + 1)) * np.expm1(-rate * (N - k - 1)) / np.expm1(-rate * N),
    ),
)


def _laplace_logpmf(k: Any, a: Any) -> Any:
    return np.log(np.tanh(0.5 * a)) - a * np.abs(k)


def _laplace_below(k: Any, a: Any) -> Any:
    """The mass up to k: exp(a (k + 1)) / (1 + exp(a)) for negative k."""
    tail = np.exp(-a * np.where(k < 0, -k - 1, 0) + log_expit(-a))
    return np.where(k < 0, tail, 1 - np.exp(-a * np.where(k < 0, 0, k) + log_expit(-a)))


dlaplace = Discrete(
    "dlaplace",
    "a",
    about="The discrete Laplace distribution of rate a.",
    support=lambda a: (-np.inf, np.inf),
    valid=lambda a: a > 0,
    typical=(1.0,),
    logpmf=_laplace_logpmf,
    pmf=lambda k, a: np.exp(_laplace_logpmf(k, a)),
    **_logarithms(_laplace_below, lambda k, a: _laplace_below(-k - 1, a)),
)
logser = Discrete(
    "logser",
    "p",
    about="The logarithmic series distribution: a mass like p^k / k, from 1 on.",
    support=_from_one,
    valid=lambda p: (p > 0) & (p < 1),
    typical=(0.5,),
    **_from_mass(lambda k, p: k * np.log(p) - np.log(k) - np.log(-np.log1p(-p)), 1),
)

# -- power laws


def _yule_logsf(k: Any, alpha: Any) -> Any:
    return np.log(k) + betaln(k, alpha + 1)


yulesimon = Discrete(
    "yulesimon",
    "alpha",
    about="The distribution of Yule and Simon: a mass of alpha B(k, alpha + 1), from 1 on.",
    support=_from_one,
    valid=lambda alpha: alpha > 0,
    typical=(1.0,),
    logpmf=lambda k, alpha: np.log(alpha) + betaln(k, alpha + 1),
    pmf=lambda k, alpha: alpha * np.exp(betaln(k, alpha + 1)),
    cdf=lambda k, alpha: -np.expm1(_yule_logsf(k, alpha)),
    sf=lambda k, alpha: np.exp(_yule_logsf(k, alpha)),
    logcdf=lambda k, alpha: log1mexp(_yule_logsf(k, alpha)),
    logsf=_yule_logsf,
)
zipf = Discrete(
    "zipf",
    "a",
    about="Zipf's distribution: a mass like 1 / k^a, from 1 on.",
    support=_from_one,
    valid=lambda a: a > 1,
    typical=(2.0,),
    **{
        **_from_mass(lambda k, a: -a * np.log(k) - np.log(zeta(a, 1.0)), 1),
        **_logarithms(
            lambda k, a: 1 - zeta(a, k + 1) / zeta(a, 1.0),
            lambda k, a: zeta(a, k + 1) / zeta(a, 1.0),
        ),
    },
)


zipfian = Discrete(
    "zipfian",
    "a",
    "n",
    about="Zipf's distribution on the integers from 1 to n.",
    support=lambda a, n: (1.0, n),
    valid=lambda a, n: (a >= 0) & (n > 0) & (np.floor(n) == n),
    typical=(1.0, 3.0),
    **_from_mass(lambda k, a, n: -a * np.log(k) - np.log(harmonic_sum(a, n)), 1, lambda a, n: n),
)

# -- a difference of counts


def _difference_pmf(k: Any, mu1: Any, mu2: Any) -> Any:
    is_negative = k < 0
    first, second = np.where(is_negative, mu2, mu1), np.where(is_negative, mu1, mu2)
    return 2 * chi_density(2 * first, 2 * (1 + np.abs(k)), 2 * second, i=0, j=0)


def _difference_below(k: Any, mu1: Any, mu2: Any) -> Any:
    """The mass up to k, as a probability of noncentral chi squared."""
    is_negative = k < 0
    first, second = np.where(is_negative, mu2, mu1), np.where(is_negative, mu1, mu2)
    value = chndtr(2 * first, 2 * np.where(is_negative, -k, k + 1), 2 * second)
    return np.where(is_negative, value, 1 - value)


skellam = Discrete(
    "skellam",
    "mu1",
    "mu2",
    about="The difference of two Poisson counts of means mu1 and mu2.",
    support=lambda mu1, mu2: (-np.inf, np.inf),
    valid=lambda mu1, mu2: (mu1 > 0) & (mu2 > 0),
    typical=(1.0, 1.0),
    logpmf=lambda k, mu1, mu2: np.log(_difference_pmf(k, mu1, mu2)),
    pmf=_difference_pmf,
    **_logarithms(_difference_below, lambda k, mu1, mu2: _difference_below(-k - 1, mu2, mu1)),
)
