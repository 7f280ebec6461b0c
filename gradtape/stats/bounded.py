"""Continuous distributions of a bounded variable, and those whose probabilities are incomplete beta functions."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from gradtape.ops.special.entropy import log_expit, xlogy
from gradtape.ops.special.gamma import betaln
from gradtape.ops.special.transforms import boxcox, boxcox1p
from gradtape.random.drawing import fixed
from gradtape.stats.continuous import beta as beta_distribution
from gradtape.stats.continuous import odds_quantile
from gradtape.stats.derived import half_line, mapped, unit
from gradtape.stats.family import Continuous
from gradtape.stats.scipy_values import scipy_value
from gradtape.stats.tails import LOG_2, beta_sides, log1mexp, log_beta_lower, log_beta_upper

# -- beta

betaprime = Continuous(
    "betaprime",
    "a",
    "b",
    about="The distribution of the odds x / (1 - x) of a beta variable of shapes a and b.",
    support=half_line,
    ends=False,
    logpdf=lambda z, a, b: (a - 1) * np.log(z) - (a + b) * np.log1p(z) - betaln(a, b),
    cdf=lambda z, a, b: beta_sides(a, b, z)[0],
    sf=lambda z, a, b: beta_sides(a, b, z)[1],
    logcdf=lambda z, a, b: log_beta_lower(a, b, z),
    logsf=lambda z, a, b: log_beta_upper(a, b, z),
    ppf=lambda q, a, b: odds_quantile(q, a, b, upper=False),
    isf=lambda q, a, b: odds_quantile(q, a, b, upper=True),
)


def _log_odds(z: Any, a: Any, b: Any) -> Any:
    return 2 * np.arcsinh(z / np.sqrt(a + b))


def _from_odds(odds: Any, a: Any, b: Any) -> Any:
    return np.sqrt(a + b) * np.sinh(0.5 * np.log(odds))


def _skew_logpdf(z: Any, a: Any, b: Any) -> Any:
    r = _log_odds(z, a, b)
    powers = (a + 0.5) * log_expit(r) + (b + 0.5) * log_expit(-r)
    return powers + 2 * LOG_2 - betaln(a, b) - 0.5 * np.log(a + b)


jf_skew_t = Continuous(
    "jf_skew_t",
    "a",
    "b",
    about="The skew t distribution of Jones and Faddy: of a function of beta odds.",
    logpdf=_skew_logpdf,
    cdf=lambda z, a, b: beta_sides(a, b, np.exp(_log_odds(z, a, b)))[0],
    sf=lambda z, a, b: beta_sides(a, b, np.exp(_log_odds(z, a, b)))[1],
    logcdf=lambda z, a, b: log_beta_lower(a, b, np.exp(_log_odds(z, a, b))),
    logsf=lambda z, a, b: log_beta_upper(a, b, np.exp(_log_odds(z, a, b))),
    ppf=lambda q, a, b: _from_odds(odds_quantile(q, a, b, upper=False), a, b),
    isf=lambda q, a, b: _from_odds(odds_quantile(q, a, b, upper=True), a, b),
)


def _around_zero(*shapes: Any) -> tuple[float, float]:
    return -1.0, 1.0


rdist = mapped(
    "rdist",
    "c",
    about="A symmetric beta distribution of shapes c / 2, between -1 and 1.",
    base=beta_distribution,
    parameters=lambda c: (0.5 * c, 0.5 * c),
    there=lambda z, c: 0.5 * (1 + z),
    back=lambda y, c: 2 * y - 1,
    log_slope=lambda z, c: -LOG_2,
    support=_around_zero,
    typical=lambda c: 0.5,
)
semicircular = mapped(
    "semicircular",
    about="The distribution of Wigner: a half circle between -1 and 1.",
    base=beta_distribution,
    parameters=lambda: (1.5, 1.5),
    there=lambda z: 0.5 * (1 + z),
    back=lambda y: 2 * y - 1,
    log_slope=lambda z: -LOG_2,
    support=_around_zero,
    typical=lambda: 0.5,
)
arcsine = Continuous(
    "arcsine",
    about="The arcsine distribution: beta of shapes 1 / 2.",
    support=unit,
    typical=lambda: 0.5,
    logpdf=lambda z: -np.log(pi) - 0.5 * np.log(z) - 0.5 * np.log1p(-z),
    cdf=lambda z: np.arcsin(np.sqrt(z)) * (2 / pi),
    sf=lambda z: np.arcsin(np.sqrt(1 - z)) * (2 / pi),
    ppf=lambda q: np.sin(0.5 * pi * q) ** 2,
    isf=lambda q: np.cos(0.5 * pi * q) ** 2,
)
powerlaw = Continuous(
    "powerlaw",
    "a",
    about="A power law with the exponent a - 1 between 0 and 1.",
    support=unit,
    typical=lambda a: 0.5,
    logpdf=lambda z, a: np.log(a) + xlogy(a - 1, z),
    logcdf=lambda z, a: a * np.log(z),
    ppf=lambda q, a: q ** (1 / a),
    isf=lambda q, a: np.exp(np.log1p(-q) / a),
)

# -- logarithms and exponentials between two ends


def _loguniform(name: str) -> Continuous:
    return Continuous(
        name,
        "a",
        "b",
        is_moving=True,
        about="The distribution of a number between a and b whose logarithm is uniform.",
        support=lambda a, b: (a, b),
        typical=lambda a, b: np.sqrt(a * b),
        valid=lambda a, b: (a > 0) & (b > a),
        logpdf=lambda z, a, b: -np.log(z) - np.log(np.log(b / a)),
        cdf=lambda z, a, b: np.log(z / a) / np.log(b / a),
        sf=lambda z, a, b: np.log(b / z) / np.log(b / a),
        ppf=lambda q, a, b: a * np.exp(q * np.log(b / a)),
        isf=lambda q, a, b: b * np.exp(-q * np.log(b / a)),
    )


loguniform = _loguniform("loguniform")
reciprocal = _loguniform("reciprocal")
bradford = Continuous(
    "bradford",
    "c",
    about="Bradford's distribution between 0 and 1: a density like 1 / (1 + c z).",
    support=unit,
    typical=lambda c: 0.5,
    logpdf=lambda z, c: np.log(c) - np.log1p(c * z) - np.log(np.log1p(c)),
    cdf=lambda z, c: np.log1p(c * z) / np.log1p(c),
    sf=lambda z, c: np.log1p(c * (1 - z) / (1 + c * z)) / np.log1p(c),
    ppf=lambda q, c: np.expm1(q * np.log1p(c)) / c,
    isf=lambda q, c: np.expm1((1 - q) * np.log1p(c)) / c,
)
truncexpon = Continuous(
    "truncexpon",
    "b",
    is_moving=True,
    about="The exponential distribution between 0 and b.",
    support=lambda b: (0.0, b),
    typical=lambda b: 0.5 * b,
    logpdf=lambda z, b: -z - log1mexp(-b),
    cdf=lambda z, b: np.expm1(-z) / np.expm1(-b),
    sf=lambda z, b: np.exp(-z) * np.expm1(z - b) / np.expm1(-b),
    logcdf=lambda z, b: log1mexp(-z) - log1mexp(-b),
    logsf=lambda z, b: -z + log1mexp(z - b) - log1mexp(-b),
    ppf=lambda q, b: -np.log1p(q * np.expm1(-b)),
    isf=lambda q, b: -np.log1p((1 - q) * np.expm1(-b)),
)


def _pareto_cdf(y: Any, b: Any, length: Any) -> Any:
    return np.expm1(-b * y) / np.expm1(-b * length)


truncpareto = Continuous(
    "truncpareto",
    "b",
    "c",
    is_moving=True,
    about="The Pareto distribution with the exponent b between 1 and c.",
    support=lambda b, c: (1.0, c),
    typical=lambda b, c: np.sqrt(c),
    valid=lambda b, c: (b != 0) & (c > 1),
    logpdf=lambda z, b, c: np.log(-b / np.expm1(-b * np.log(c))) - (b + 1) * np.log(z),
    cdf=lambda z, b, c: _pareto_cdf(np.log(z), b, np.log(c)),
    sf=lambda z, b, c: np.exp(-b * np.log(z)) * _pareto_cdf(np.log(c / z), b, np.log(c)),
    ppf=lambda q, b, c: np.exp(-np.log1p(q * np.expm1(-b * np.log(c))) / b),
    isf=lambda q, b, c: np.exp(-np.log1p((1 - q) * np.expm1(-b * np.log(c))) / b),
)


def _power_of_end(end: Any, c: Any) -> Any:
    """end^c, also where the end is 0 or infinite, as constants."""
    is_plain = (end > 0) & (end < np.inf)
    return np.where(is_plain, np.where(is_plain, end, 1) ** c, end)


def _weibull_parts(z: Any, c: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """How far z^c is from a^c and from b^c, and how far these are apart."""
    low, high, at = _power_of_end(a, c), _power_of_end(b, c), z**c
    return at - low, high - at, high - low


def _weibull_logcdf(z: Any, c: Any, a: Any, b: Any) -> Any:
    below, _, width = _weibull_parts(z, c, a, b)
    return log1mexp(-below) - log1mexp(-width)


def _weibull_logsf(z: Any, c: Any, a: Any, b: Any) -> Any:
    below, above, width = _weibull_parts(z, c, a, b)
    return -below + log1mexp(-above) - log1mexp(-width)


def _weibull_quantile(q: Any, c: Any, a: Any, b: Any) -> Any:
    low, high = _power_of_end(a, c), _power_of_end(b, c)
    return (low - np.log1p(q * np.expm1(low - high))) ** (1 / c)


def _weibull_typical(c: Any, a: Any, b: Any) -> Any:
    return a + 0.5 * np.minimum(b - a, 1)


truncweibull_min = Continuous(
    "truncweibull_min",
    "c",
    "a",
    "b",
    is_moving=True,
    about="The Weibull distribution with the exponent c between a and b.",
    support=lambda c, a, b: (a, b),
    typical=_weibull_typical,
    valid=lambda c, a, b: (c > 0) & (a >= 0) & (b > a),
    likely=(1.0, 1.0, 2.0),
    logpdf=lambda z, c, a, b: (
        np.log(c) + xlogy(c - 1, z) - _weibull_parts(z, c, a, b)[0] - log1mexp(-_weibull_parts(z, c, a, b)[2])
    ),
    logcdf=_weibull_logcdf,
    logsf=_weibull_logsf,
    ppf=_weibull_quantile,
    isf=lambda q, c, a, b: _weibull_quantile(1 - q, c, a, b),
)

# -- straight lines


def _trapezoid_height(c: Any, d: Any) -> Any:
    return 2 / (d - c + 1)


def _rising(z: Any, c: Any) -> tuple[Any, Any, Any]:
    """Whether z is on the rising slope, z there, and the length of the slope; both without a 0."""
    is_rising = z < c
    return is_rising, np.where(is_rising, z, 0.5), np.where(is_rising, c, 1)


def _trapezoid_logpdf(z: Any, c: Any, d: Any) -> Any:
    is_rising, low, base = _rising(z, c)
    is_falling, high, other = _rising(1 - z, 1 - d)
    shape = np.where(is_rising, np.log(low / base), np.where(is_falling, np.log(high / other), 0 * z))
    return shape + np.log(_trapezoid_height(c, d))


def _trapezoid_cdf(z: Any, c: Any, d: Any) -> Any:
    is_rising, low, base = _rising(z, c)
    is_falling, high, other = _rising(1 - z, 1 - d)
    height = _trapezoid_height(c, d)
    level = height * (z - 0.5 * c)
    return np.where(
        is_rising,
        0.5 * height * low * low / base,
        np.where(is_falling, 1 - 0.5 * height * high * high / other, level),
    )


def _trapezoid_quantile(q: Any, c: Any, d: Any) -> Any:
    height = _trapezoid_height(c, d)
    is_rising, is_falling = q < 0.5 * height * c, 1 - q < 0.5 * height * (1 - d)
    rising = np.sqrt(2 * np.where(is_rising, q * c, 1) / height)
    falling = 1 - np.sqrt(2 * np.where(is_falling, (1 - q) * (1 - d), 1) / height)
    return np.where(is_rising, rising, np.where(is_falling, falling, q / height + 0.5 * c))


trapezoid = Continuous(
    "trapezoid",
    "c",
    "d",
    kinks=lambda c, d: (c, d),
    about="A density that rises until c, is level until d and falls until 1.",
    support=unit,
    typical=lambda c, d: 0.5,
    valid=lambda c, d: (c >= 0) & (c <= d) & (d <= 1),
    likely=(0.25, 0.75),
    logpdf=_trapezoid_logpdf,
    cdf=_trapezoid_cdf,
    sf=lambda z, c, d: _trapezoid_cdf(1 - z, 1 - d, 1 - c),
    ppf=_trapezoid_quantile,
    isf=lambda q, c, d: 1 - _trapezoid_quantile(q, 1 - d, 1 - c),
)
triang = mapped(
    "triang",
    "c",
    kinks=lambda c: (c,),
    about="A density that rises until c and falls until 1.",
    base=trapezoid,
    parameters=lambda c: (c, c),
    there=lambda z, c: z,
    back=lambda y, c: y,
    log_slope=lambda z, c: 0.0,
    support=unit,
    typical=lambda c: 0.5 + 0 * c,
    valid=lambda c: (c >= 0) & (c <= 1),
    likely=(0.25,),
)

# -- cosines


def _minus_sine(y: Any) -> Any:
    """y - sin(y), by its series near 0."""
    square = np.where(y < 1, y, 0) ** 2
    series: Any = 1.0
    for n in (17, 15, 13, 11, 9, 7, 5):
        series = 1 - square / (n * (n - 1)) * series
    return np.where(y < 1, np.where(y < 1, y, 0) ** 3 / 6 * series, y - np.sin(y))


cosine = Continuous(
    "cosine",
    about="A density like 1 + cos(z) between -pi and pi.",
    support=lambda: (-pi, pi),
    logpdf=lambda z: 2 * np.log(np.cos(0.5 * z)) - np.log(pi),
    cdf=lambda z: _minus_sine(pi + z) / (2 * pi),
    sf=lambda z: _minus_sine(pi - z) / (2 * pi),
    ends=False,
)
anglit = Continuous(
    "anglit",
    about="A density of cos(2 z) between -pi / 4 and pi / 4.",
    support=lambda: (-pi / 4, pi / 4),
    typical=lambda: 0.0,
    logpdf=lambda z: np.log(np.cos(2 * z)),
    cdf=lambda z: np.sin(z + pi / 4) ** 2,
    sf=lambda z: np.sin(pi / 4 - z) ** 2,
    ppf=lambda q: np.arcsin(np.sqrt(q)) - pi / 4,
    isf=lambda q: pi / 4 - np.arcsin(np.sqrt(q)),
)

# -- a quantile function


def _tukey_quantile(q: Any, lam: Any) -> Any:
    return boxcox(q, lam) - boxcox1p(-q, lam)


def _tukey_slope(p: Any, lam: Any) -> Any:
    """The derivative of the quantile function."""
    return p ** (lam - 1) + np.exp((lam - 1) * np.log1p(-p))


def _tukey_cdf(z: Any, lam: Any) -> Any:
    """The solution p of quantile(p) = z: SciPy's, with derivatives by two steps of Newton's."""
    p = scipy_value("tukeylambda", "cdf", z, lam)
    for _ in range(2):
        step = (_tukey_quantile(p, lam) - z) / _tukey_slope(p, lam)
        p = p - (step - fixed(step))
    return p


tukeylambda = Continuous(
    "tukeylambda",
    "lam",
    is_moving=True,
    about="Tukey's lambda distribution: a quantile function of (q^lam - (1 - q)^lam) / lam.",
    support=lambda lam: tuple(sign * np.where(lam > 0, 1 / np.where(lam > 0, lam, 1), np.inf) for sign in (-1, 1)),
    typical=lambda lam: 0.0,
    valid=np.isfinite,
    ends=False,
    logpdf=lambda z, lam: -np.log(_tukey_slope(_tukey_cdf(z, lam), lam)),
    cdf=_tukey_cdf,
    ppf=_tukey_quantile,
    logcdf=lambda z, lam: np.log(_tukey_cdf(z, lam)),
    symmetric=True,
)
