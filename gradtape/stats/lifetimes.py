"""Distributions of extreme values, lifetimes and incomes: the logarithms of their probabilities are elementary.

Many have the form log F = d log_expit(w), or log(1 - F) = -exp(w), where w is linear in log z; then both sides are
exact however small they are.
"""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from gradtape.ops.special.entropy import exprel, log_expit, logit, xlogy
from gradtape.ops.special.hypergeometric import log1p_quotient
from gradtape.ops.special.transforms import boxcox, boxcox1p
from gradtape.stats.continuous import gumbel_r, laplace, weibull_min
from gradtape.stats.derived import half_line, mapped, piecewise
from gradtape.stats.family import Continuous
from gradtape.stats.tails import LOG_2, log1mexp, log_rise

LOG_PI = log(pi)

# -- extreme values

gumbel_l = mapped(
    "gumbel_l",
    about="The Gumbel distribution of smallest values.",
    base=gumbel_r,
    there=lambda z: -z,
    back=lambda y: -y,
    log_slope=lambda z: 0.0,
    is_decreasing=True,
)
weibull_max = mapped(
    "weibull_max",
    "c",
    about="The Weibull distribution of largest values, which are negative, with the exponent c.",
    base=weibull_min,
    there=lambda z, c: -z,
    back=lambda y, c: -y,
    log_slope=lambda z, c: 0.0,
    is_decreasing=True,
    support=lambda c: (-np.inf, 0.0),
    typical=lambda c: -1.0,
)
invweibull = Continuous(
    "invweibull",
    "c",
    about="The distribution of 1 / x, where x is Weibull with the exponent c (Frechet's distribution).",
    support=half_line,
    ends=False,
    logpdf=lambda z, c: np.log(c) - (c + 1) * np.log(z) - z**-c,
    logcdf=lambda z, c: -(z**-c),
    logsf=lambda z, c: log_rise(-c * np.log(z)),
    ppf=lambda q, c: (-np.log(q)) ** (-1 / c),
    isf=lambda q, c: (-np.log1p(-q)) ** (-1 / c),
)


def _reduced(z: Any, c: Any) -> Any:
    """log(1 - c z) / c, and -z for c = 0."""
    return -z * log1p_quotient(-c * z)


def _extreme_support(c: Any) -> tuple[Any, Any]:
    end = 1 / np.where(c == 0, 1, c)
    return np.where(c < 0, end, -np.inf), np.where(c > 0, end, np.inf)


genextreme = Continuous(
    "genextreme",
    "c",
    is_moving=True,
    about="The generalised distribution of extreme values of shape c; SciPy's sign of c.",
    support=_extreme_support,
    typical=lambda c: 0.0,
    valid=np.isfinite,
    ends=False,
    logpdf=lambda z, c: -np.exp(_reduced(z, c)) + _reduced(z, c) - np.log1p(-c * z),
    logcdf=lambda z, c: -np.exp(_reduced(z, c)),
    logsf=lambda z, c: log_rise(_reduced(z, c)),
    ppf=lambda q, c: _extreme_quantile(-np.log(-np.log(q)), c),
    isf=lambda q, c: _extreme_quantile(-np.log(-np.log1p(-q)), c),
)


def _extreme_quantile(y: Any, c: Any) -> Any:
    return y * exprel(-c * y)


def _excess_support(c: Any) -> tuple[Any, Any]:
    return 0.0, np.where(c < 0, -1 / np.where(c < 0, c, -1), np.inf)


genpareto = Continuous(
    "genpareto",
    "c",
    is_moving=True,
    about="The generalised Pareto distribution of excesses over a threshold, of shape c.",
    support=_excess_support,
    typical=lambda c: 0.5 / np.maximum(np.abs(c), 1),
    valid=np.isfinite,
    logpdf=lambda z, c: (1 + c) * _reduced(z, -c),
    logsf=lambda z, c: _reduced(z, -c),
    ppf=lambda q, c: -boxcox1p(-q, -c),
    isf=lambda q, c: -boxcox(q, -c),
)


def _kappa_log(z: Any, h: Any, k: Any) -> Any:
    """The logarithm of the distribution function: log(1 - h w) / h, where w = (1 - k z)^(1 / k)."""
    return _reduced(np.exp(_reduced(z, k)), h)


def _kappa_support(h: Any, k: Any) -> tuple[Any, Any]:
    log_h = np.log(np.where(h > 0, h, 1))
    bounded = 1 / np.where(k == 0, 1, k)
    low = np.where(h > 0, log_h * exprel(-k * log_h), np.where(k < 0, bounded, -np.inf))
    return low, np.where(k > 0, bounded, np.inf)


kappa4 = Continuous(
    "kappa4",
    "h",
    "k",
    is_moving=True,
    about="The kappa distribution of two shapes, which has those of extreme values, logistic and Pareto among it.",
    support=_kappa_support,
    typical=lambda h, k: -boxcox(-boxcox(0.5 + 0 * h, h), k),
    valid=lambda h, k: np.isfinite(h) & np.isfinite(k),
    likely=(0.5, 0.5),
    ends=False,
    logpdf=lambda z, h, k: _reduced(z, k) - np.log1p(-k * z) + (1 - h) * _kappa_log(z, h, k),
    logcdf=_kappa_log,
    ppf=lambda q, h, k: -boxcox(-boxcox(q, h), k),
    isf=lambda q, h, k: -boxcox(-boxcox1p(-q, h), k),
)

# -- lifetimes

exponweib = Continuous(
    "exponweib",
    "a",
    "c",
    about="The exponentiated Weibull distribution: the largest of a numbers with the exponent c.",
    support=half_line,
    ends=False,
    logpdf=lambda z, a, c: np.log(a) + np.log(c) + (a - 1) * log_rise(c * np.log(z)) + (c - 1) * np.log(z) - z**c,
    logcdf=lambda z, a, c: a * log_rise(c * np.log(z)),
    ppf=lambda q, a, c: (-log1mexp(np.log(q) / a)) ** (1 / c),
    isf=lambda q, a, c: (-log1mexp(np.log1p(-q) / a)) ** (1 / c),
)
exponpow = Continuous(
    "exponpow",
    "b",
    about="The exponential power distribution of lifetimes, with the exponent b.",
    support=half_line,
    logpdf=lambda z, b: 1 + np.log(b) + xlogy(b - 1, z) + z**b - np.exp(z**b),
    logsf=lambda z, b: -np.expm1(z**b),
    ppf=lambda q, b: np.log1p(-np.log1p(-q)) ** (1 / b),
    isf=lambda q, b: np.log1p(-np.log(q)) ** (1 / b),
)
gompertz = Continuous(
    "gompertz",
    "c",
    about="The Gompertz distribution: a hazard of c exp(z).",
    support=half_line,
    logpdf=lambda z, c: np.log(c) + z - c * np.expm1(z),
    logsf=lambda z, c: -c * np.expm1(z),
    ppf=lambda q, c: np.log1p(-np.log1p(-q) / c),
    isf=lambda q, c: np.log1p(-np.log(q) / c),
)


def _general_logsf(z: Any, a: Any, b: Any, c: Any) -> Any:
    return -(a + b) * z - b * np.expm1(-c * z) / c


genexpon = Continuous(
    "genexpon",
    "a",
    "b",
    "c",
    about="The generalised exponential distribution: a hazard of a + b (1 - exp(-c z)).",
    support=half_line,
    logpdf=lambda z, a, b, c: np.log(a - b * np.expm1(-c * z)) + _general_logsf(z, a, b, c),
    logsf=_general_logsf,
)

# -- logistic and what is made of it


def _logit_of_log(log_p: Any) -> Any:
    """log(p / (1 - p)), from log p."""
    return log_p - log1mexp(log_p)


genlogistic = Continuous(
    "genlogistic",
    "c",
    about="The generalised logistic distribution: the largest of c logistic numbers.",
    logpdf=lambda z, c: np.log(c) + c * log_expit(z) + log_expit(-z),
    logcdf=lambda z, c: c * log_expit(z),
    ppf=lambda q, c: _logit_of_log(np.log(q) / c),
    isf=lambda q, c: _logit_of_log(np.log1p(-q) / c),
)
halflogistic = Continuous(
    "halflogistic",
    about="The distribution of the absolute value of a logistic variable.",
    support=half_line,
    logpdf=lambda z: LOG_2 + log_expit(z) + log_expit(-z),
    logsf=lambda z: LOG_2 + log_expit(-z),
    cdf=lambda z: np.tanh(0.5 * z),
    ppf=lambda q: 2 * np.arctanh(q),
    isf=lambda q: np.log(2 - q) - np.log(q),
)


def _bounded_log(z: Any, c: Any) -> Any:
    return np.log1p(-c * z) / c


genhalflogistic = Continuous(
    "genhalflogistic",
    "c",
    is_moving=True,
    about="The generalised half-logistic distribution, from 0 to 1 / c.",
    support=lambda c: (0.0, 1 / c),
    typical=lambda c: 0.5 / c,
    logpdf=lambda z, c: LOG_2 + (1 - c) * _bounded_log(z, c) + 2 * log_expit(-_bounded_log(z, c)),
    logsf=lambda z, c: LOG_2 + log_expit(_bounded_log(z, c)),
    cdf=lambda z, c: np.tanh(-0.5 * _bounded_log(z, c)),
    ppf=lambda q, c: -np.expm1(-2 * c * np.arctanh(q)) / c,
    isf=lambda q, c: -np.expm1(c * logit(0.5 * q)) / c,
)
fisk = Continuous(
    "fisk",
    "c",
    about="The log-logistic distribution with the exponent c.",
    support=half_line,
    logpdf=lambda z, c: np.log(c) + xlogy(c - 1, z) + 2 * log_expit(-c * np.log(z)),
    logcdf=lambda z, c: log_expit(c * np.log(z)),
    logsf=lambda z, c: log_expit(-c * np.log(z)),
    ppf=lambda q, c: np.exp(logit(q) / c),
    isf=lambda q, c: np.exp(-logit(q) / c),
)
burr = Continuous(
    "burr",
    "c",
    "d",
    about="Burr's distribution of type III.",
    support=half_line,
    logpdf=lambda z, c, d: np.log(c) + np.log(d) + xlogy(c * d - 1, z) + (d + 1) * log_expit(-c * np.log(z)),
    logcdf=lambda z, c, d: d * log_expit(c * np.log(z)),
    ppf=lambda q, c, d: np.exp(_logit_of_log(np.log(q) / d) / c),
    isf=lambda q, c, d: np.exp(_logit_of_log(np.log1p(-q) / d) / c),
)
burr12 = Continuous(
    "burr12",
    "c",
    "d",
    about="Burr's distribution of type XII.",
    support=half_line,
    logpdf=lambda z, c, d: np.log(c) + np.log(d) + xlogy(c - 1, z) + (d + 1) * log_expit(-c * np.log(z)),
    logsf=lambda z, c, d: d * log_expit(-c * np.log(z)),
    ppf=lambda q, c, d: np.expm1(-np.log1p(-q) / d) ** (1 / c),
    isf=lambda q, c, d: np.expm1(-np.log(q) / d) ** (1 / c),
)
mielke = Continuous(
    "mielke",
    "k",
    "s",
    about="Mielke's beta-kappa distribution.",
    support=half_line,
    logpdf=lambda z, k, s: np.log(k) + xlogy(k - 1, z) + (1 + k / s) * log_expit(-s * np.log(z)),
    logcdf=lambda z, k, s: k / s * log_expit(s * np.log(z)),
    ppf=lambda q, k, s: np.exp(_logit_of_log(np.log(q) * s / k) / s),
    isf=lambda q, k, s: np.exp(_logit_of_log(np.log1p(-q) * s / k) / s),
)
kappa3 = Continuous(
    "kappa3",
    "a",
    about="The kappa distribution of one shape.",
    support=half_line,
    logpdf=lambda z, a: -np.log(a) / a + (1 / a + 1) * log_expit(np.log(a) - a * np.log(z)),
    logcdf=lambda z, a: log_expit(a * np.log(z) - np.log(a)) / a,
    ppf=lambda q, a: np.exp((_logit_of_log(np.log(q) * a) + np.log(a)) / a),
    isf=lambda q, a: np.exp((_logit_of_log(np.log1p(-q) * a) + np.log(a)) / a),
)
lomax = Continuous(
    "lomax",
    "c",
    about="The Pareto distribution from 0 on, with the exponent c.",
    support=half_line,
    logpdf=lambda z, c: np.log(c) - (c + 1) * np.log1p(z),
    logsf=lambda z, c: -c * np.log1p(z),
    ppf=lambda q, c: np.expm1(-np.log1p(-q) / c),
    isf=lambda q, c: np.expm1(-np.log(q) / c),
)

# -- two branches


loglaplace = mapped(
    "loglaplace",
    "c",
    kinks=lambda c: (1.0,),
    about="The distribution of exp(x / c), where x is of Laplace's.",
    base=laplace,
    there=lambda z, c: c * np.log(z),
    back=lambda y, c: np.exp(y / c),
    logpdf=lambda z, c: np.log(c) - LOG_2 + xlogy(np.where(z < 1, c - 1, -c - 1), z),
    support=half_line,
    parameters=lambda c: (),
)


def _asymmetric_side(is_log: bool, is_upper: bool) -> Any:
    """The mass below z is k^2 exp(z / k) / (1 + k^2) for z < 0, and above z exp(-k z) / (1 + k^2) for z > 0."""

    def function(z: Any, kappa: Any) -> Any:
        inner = kappa if is_upper else 1 / kappa
        z = z if is_upper else -z  # from here on the mass above z, and small for positive z
        share = -np.log1p(inner * inner)
        log_tail = share - inner * np.where(z > 0, z, 1)
        log_rest = share + 2 * np.log(inner) + np.where(z > 0, 0, z) / inner
        if is_log:
            return np.where(z > 0, log_tail, np.log1p(-np.exp(log_rest)))
        return np.where(z > 0, np.exp(log_tail), 1 - np.exp(log_rest))

    return function


def _asymmetric_quantile(is_upper: bool) -> Any:
    def function(q: Any, kappa: Any) -> Any:
        inner = kappa if is_upper else 1 / kappa
        square = inner * inner
        is_tail = q * (1 + square) < 1
        tail = -np.log(np.where(is_tail, q, 0.5) * (1 + square)) / inner
        rest = np.log((1 - np.where(is_tail, 0.5, q)) * (1 + square) / square) * inner
        z = np.where(is_tail, tail, rest)
        return z if is_upper else -z

    return function


laplace_asymmetric = Continuous(
    "laplace_asymmetric",
    "kappa",
    kinks=lambda shape: (0.0,),
    about="The Laplace distribution with decay 1 / kappa on the left and kappa on the right.",
    logpdf=lambda z, kappa: np.where(z < 0, z / kappa, -z * kappa) - np.log(kappa + 1 / kappa),
    cdf=_asymmetric_side(is_log=False, is_upper=False),
    sf=_asymmetric_side(is_log=False, is_upper=True),
    logcdf=_asymmetric_side(is_log=True, is_upper=False),
    logsf=_asymmetric_side(is_log=True, is_upper=True),
    ppf=_asymmetric_quantile(is_upper=False),
    isf=_asymmetric_quantile(is_upper=True),
)
halfcauchy = Continuous(
    "halfcauchy",
    about="The distribution of the absolute value of a Cauchy variable.",
    support=half_line,
    logpdf=lambda z: LOG_2 - LOG_PI - np.log1p(z * z),
    cdf=lambda z: np.arctan2(z, 1) * (2 / pi),
    sf=lambda z: np.arctan2(1, z) * (2 / pi),
    ppf=lambda q: np.tan(0.5 * pi * q),
    isf=lambda q: 1 / np.tan(0.5 * pi * q),
)
foldcauchy = Continuous(
    "foldcauchy",
    "c",
    about="The distribution of the absolute value of a Cauchy variable around c.",
    support=half_line,
    valid=lambda c: c >= 0,
    logpdf=lambda z, c: np.logaddexp(-np.log1p((z - c) ** 2), -np.log1p((z + c) ** 2)) - LOG_PI,
    cdf=lambda z, c: (np.arctan(z - c) + np.arctan(z + c)) / pi,
    sf=lambda z, c: (np.arctan2(1, z - c) + np.arctan2(1, z + c)) / pi,
)


def _skewed_tail(z: Any, a: Any) -> Any:
    """The mass above z of Cauchy's distribution with the scales 1 - a on the left and 1 + a on the right."""
    above = (1 + a) / pi * np.arctan2(1, np.where(z > 0, z, 1) / (1 + a))
    return np.where(z > 0, above, 1 - (1 - a) / pi * np.arctan2(1, -np.where(z > 0, -1, z) / (1 - a)))


def _skewed_quantile(q: Any, a: Any) -> Any:
    """The point that is exceeded with probability q."""
    is_tail = q < 0.5 * (1 + a)
    tail = (1 + a) / np.tan(pi * np.where(is_tail, q, 0.25 * (1 + a)) / (1 + a))
    rest = -(1 - a) / np.tan(pi * np.where(is_tail, 0.25 * (1 - a), 1 - q) / (1 - a))
    return np.where(is_tail, tail, rest)


skewcauchy = Continuous(
    "skewcauchy",
    "a",
    kinks=lambda shape: (0.0,),
    about="The Cauchy distribution with the scale 1 - a on the left and 1 + a on the right.",
    valid=lambda a: np.abs(a) < 1,
    likely=(0.5,),
    logpdf=lambda z, a: -LOG_PI - np.log1p((z / (1 + a * np.sign(z))) ** 2),
    cdf=lambda z, a: _skewed_tail(-z, -a),
    sf=_skewed_tail,
    ppf=lambda q, a: -_skewed_quantile(q, -a),
    isf=_skewed_quantile,
)


def _secant_log(z: Any) -> Any:
    return piecewise(
        z < -20,
        lambda z: z,
        lambda z: np.log(np.arctan(np.exp(np.minimum(z, 0)))) + 0 * z,
        z,
        -21.0,
        0.0,
    ) + log(2 / pi)


hypsecant = Continuous(
    "hypsecant",
    about="The hyperbolic secant distribution.",
    logpdf=lambda z: LOG_2 - LOG_PI - np.logaddexp(z, -z),
    cdf=lambda z: np.arctan(np.exp(z)) * (2 / pi),
    logcdf=lambda z: np.where(
        z < 0,
        _secant_log(np.where(z < 0, z, -1)),
        np.log1p(-np.arctan(np.exp(-np.where(z < 0, 0, z))) * (2 / pi)),
    ),
    ppf=lambda q: np.log(np.tan(0.5 * pi * q)),
    symmetric=True,
)
