"""Continuous distributions that are made of the normal one: transformed, folded, skewed, mixed, first passages."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np

from gradtape.ops.distributions import ndtri_exp
from gradtape.ops.special.entropy import expit, logit
from gradtape.ops.special.errorfunctions import log_ndtr, ndtr, ndtri
from gradtape.ops.special.faddeeva import owens_t
from gradtape.stats.continuous import lognorm, norm
from gradtape.stats.derived import half_line, mapped, unit
from gradtape.stats.family import Continuous
from gradtape.stats.tails import LOG_2, LOG_ROOT_2PI, log1mexp


def _log_density(z: Any) -> Any:
    """The logarithm of the normal density."""
    return -0.5 * z * z - LOG_ROOT_2PI


# -- monotone functions of a normal variable

gibrat = mapped(
    "gibrat",
    about="The distribution of exp(z), where z is normal.",
    base=lognorm,
    parameters=lambda: (np.float64(1.0),),
    there=lambda z: z,
    back=lambda y: y,
    log_slope=lambda z: 0.0,
    support=half_line,
    ends=False,
)
johnsonsu = mapped(
    "johnsonsu",
    "a",
    "b",
    about="Johnson's unbounded distribution: a + b arcsinh(z) is normal.",
    base=norm,
    parameters=lambda a, b: (),
    there=lambda z, a, b: a + b * np.arcsinh(z),
    back=lambda y, a, b: np.sinh((y - a) / b),
    log_slope=lambda z, a, b: np.log(b) - np.log(np.hypot(1, z)),
    valid=lambda a, b: (b > 0) & (a == a),
)
johnsonsb = mapped(
    "johnsonsb",
    "a",
    "b",
    about="Johnson's bounded distribution: a + b logit(z) is normal.",
    base=norm,
    parameters=lambda a, b: (),
    there=lambda z, a, b: a + b * logit(z),
    back=lambda y, a, b: expit((y - a) / b),
    log_slope=lambda z, a, b: np.log(b) - np.log(z) - np.log1p(-z),
    valid=lambda a, b: (b > 0) & (a == a),
    support=unit,
    typical=lambda a, b: 0.5,
    ends=False,
)
fatiguelife = mapped(
    "fatiguelife",
    "c",
    about="The distribution of lifetimes of Birnbaum and Saunders: (sqrt(z) - 1 / sqrt(z)) / c is normal.",
    base=norm,
    parameters=lambda c: (),
    there=lambda z, c: (np.sqrt(z) - 1 / np.sqrt(z)) / c,
    back=lambda y, c: 0.25 * (c * y + np.sqrt((c * y) ** 2 + 4)) ** 2,
    log_slope=lambda z, c: np.log1p(z) - LOG_2 - np.log(c) - 1.5 * np.log(z),
    support=half_line,
    ends=False,
)

# -- the smallest of c, folded, skewed, a density with a factor

powernorm = Continuous(
    "powernorm",
    "c",
    about="The smallest of c normal numbers.",
    logpdf=lambda z, c: np.log(c) + _log_density(z) + (c - 1) * log_ndtr(-z),
    logsf=lambda z, c: c * log_ndtr(-z),
    ppf=lambda q, c: -ndtri_exp(np.log1p(-q) / c),
    isf=lambda q, c: -ndtri_exp(np.log(q) / c),
)
powerlognorm = Continuous(
    "powerlognorm",
    "c",
    "s",
    about="The smallest of c lognormal numbers of shape s.",
    support=half_line,
    ends=False,
    logpdf=lambda z, c, s: (
        np.log(c) - np.log(z) - np.log(s) + _log_density(np.log(z) / s) + (c - 1) * log_ndtr(-np.log(z) / s)
    ),
    logsf=lambda z, c, s: c * log_ndtr(-np.log(z) / s),
    ppf=lambda q, c, s: np.exp(-s * ndtri_exp(np.log1p(-q) / c)),
    isf=lambda q, c, s: np.exp(-s * ndtri_exp(np.log(q) / c)),
)
foldnorm = Continuous(
    "foldnorm",
    "c",
    about="The distribution of the absolute value of a normal variable around c.",
    support=half_line,
    valid=lambda c: c >= 0,
    logpdf=lambda z, c: np.logaddexp(_log_density(z - c), _log_density(z + c)),
    cdf=lambda z, c: np.where(z + c > 2, 1 - ndtr(c - z) - ndtr(-z - c), ndtr(z - c) - ndtr(-z - c)),
    sf=lambda z, c: ndtr(c - z) + ndtr(-z - c),
    logsf=lambda z, c: np.logaddexp(log_ndtr(c - z), log_ndtr(-z - c)),
)


def _skewed_cdf(z: Any, a: Any) -> Any:
    return ndtr(z) - 2 * owens_t(z, a)


skewnorm = Continuous(
    "skewnorm",
    "a",
    about="The skew normal distribution of shape a.",
    valid=np.isfinite,
    logpdf=lambda z, a: LOG_2 + _log_density(z) + log_ndtr(a * z),
    cdf=_skewed_cdf,
    sf=lambda z, a: _skewed_cdf(-z, -a),
    typical=lambda a: 0.0,
)
alpha = Continuous(
    "alpha",
    "a",
    about="The alpha distribution: of 1 / x, where x is normal around a and positive.",
    support=half_line,
    ends=False,
    logpdf=lambda z, a: _log_density(a - 1 / z) - 2 * np.log(z) - log_ndtr(a),
    logcdf=lambda z, a: log_ndtr(a - 1 / z) - log_ndtr(a),
    ppf=lambda q, a: 1 / (a - ndtri(q * ndtr(a))),
    isf=lambda q, a: 1 / (a - ndtri((1 - q) * ndtr(a))),
)

# -- sums with exponential variables


def _exponential_part(z: Any, K: Any) -> Any:
    """The logarithm of exp(1 / (2 K^2) - z / K) Phi(z - 1 / K)."""
    rate = 1 / K
    return rate * (0.5 * rate - z) + log_ndtr(z - rate)


exponnorm = Continuous(
    "exponnorm",
    "K",
    about="The distribution of the sum of a normal variable and an exponential one of mean K.",
    logpdf=lambda z, K: _exponential_part(z, K) - np.log(K),
    cdf=lambda z, K: ndtr(z) - np.exp(_exponential_part(z, K)),
    sf=lambda z, K: ndtr(-z) + np.exp(_exponential_part(z, K)),
    logsf=lambda z, K: np.logaddexp(log_ndtr(-z), _exponential_part(z, K)),
    logcdf=lambda z, K: log_ndtr(z) + log1mexp(np.minimum(_exponential_part(z, K) - log_ndtr(z), -1e-300)),
    typical=lambda K: K,
)


def _mills(z: Any) -> Any:
    """The logarithm of Mills' ratio, that of the tail above z to the density."""
    return log_ndtr(-z) - _log_density(z)


def _double_pareto(z: Any, u: Any, s: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    y = (np.log(z) - u) / s
    return y, _mills(a * s - y), _mills(b * s + y)


def _double_pareto_logpdf(z: Any, u: Any, s: Any, a: Any, b: Any) -> Any:
    y, left, right = _double_pareto(z, u, s, a, b)
    return np.log(a * b / (a + b)) - np.log(z) + _log_density(y) + np.logaddexp(left, right)


def _double_pareto_side(sign: int) -> Any:
    def function(z: Any, u: Any, s: Any, a: Any, b: Any) -> Any:
        y, left, right = _double_pareto(z, u, s, a, b)
        moved = (b * np.exp(left + _log_density(y)) - a * np.exp(right + _log_density(y))) / (a + b)
        return ndtr(sign * y) - sign * moved

    return function


dpareto_lognorm = Continuous(
    "dpareto_lognorm",
    "u",
    "s",
    "a",
    "b",
    about="A lognormal distribution with the tails of a Pareto distribution at both ends.",
    support=half_line,
    ends=False,
    valid=lambda u, s, a, b: (u == u) & (s > 0) & (a > 0) & (b > 0),
    likely=(0.0, 1.0, 1.0, 1.0),
    logpdf=_double_pareto_logpdf,
    cdf=_double_pareto_side(1),
    sf=_double_pareto_side(-1),
)

# -- first passages of a walk with drift


def _passage(z: Any, mu: Any) -> tuple[Any, Any]:
    root = np.sqrt(z)
    return (z / mu - 1) / root, 2 / mu + log_ndtr(-(z / mu + 1) / root)


def _passage_logcdf(z: Any, mu: Any) -> Any:
    at, turned = _passage(z, mu)
    return np.logaddexp(log_ndtr(at), turned)


def _passage_logsf(z: Any, mu: Any) -> Any:
    at, turned = _passage(z, mu)
    above = log_ndtr(-at)
    return above + log1mexp(np.minimum(turned - above, -1e-300))


def _passage_logpdf(z: Any, mu: Any) -> Any:
    return -LOG_ROOT_2PI - 1.5 * np.log(z) - (z / mu - 1) ** 2 / (2 * z)


invgauss = Continuous(
    "invgauss",
    "mu",
    about="The inverse Gaussian distribution of mean mu: how long a walk takes to reach a line.",
    support=half_line,
    ends=False,
    typical=lambda mu: mu,
    logpdf=_passage_logpdf,
    logcdf=_passage_logcdf,
    logsf=_passage_logsf,
)
wald = mapped(
    "wald",
    about="The inverse Gaussian distribution of mean 1.",
    base=invgauss,
    parameters=lambda: (np.float64(1.0),),
    there=lambda z: z,
    back=lambda y: y,
    log_slope=lambda z: 0.0,
    support=half_line,
    ends=False,
)
recipinvgauss = mapped(
    "recipinvgauss",
    "mu",
    about="The distribution of 1 / x, where x is inverse Gaussian of mean mu.",
    base=invgauss,
    there=lambda z, mu: 1 / z,
    back=lambda y, mu: 1 / y,
    log_slope=lambda z, mu: -2 * np.log(z),
    is_decreasing=True,
    support=half_line,
    ends=False,
)

# -- a normal peak with a power law on the left


def _ball_parts(beta: Any, m: Any) -> tuple[Any, Any, Any]:
    """The mass of the tail, that of the peak, and where the power law would be infinite; masses as without a norm."""
    tail = m / beta / (m - 1) * np.exp(-0.5 * beta * beta)
    return tail, sqrt(2 * np.pi) * ndtr(beta), m / beta - beta


def _ball_logpdf(z: Any, beta: Any, m: Any) -> Any:
    tail, peak, pole = _ball_parts(beta, m)
    is_peak = z > -beta
    far = m * np.log(m / beta) - 0.5 * beta * beta - m * np.log(pole - np.where(is_peak, -beta - 1, z))
    return np.where(is_peak, -0.5 * z * z, far) - np.log(tail + peak)


def _ball_logcdf(z: Any, beta: Any, m: Any) -> Any:
    tail, peak, pole = _ball_parts(beta, m)
    is_peak = z > -beta
    far = np.log(tail) - (m - 1) * (np.log(pole - np.where(is_peak, -beta - 1, z)) - np.log(m / beta))
    near = np.log(tail + sqrt(2 * np.pi) * (ndtr(np.where(is_peak, z, 1 - beta)) - ndtr(-beta)))
    return np.where(is_peak, near, far) - np.log(tail + peak)


def _ball_logsf(z: Any, beta: Any, m: Any) -> Any:
    tail, peak, _ = _ball_parts(beta, m)
    is_peak = z > -beta
    near = 0.5 * log(2 * np.pi) + log_ndtr(-np.where(is_peak, z, 1 - beta)) - np.log(tail + peak)
    return np.where(is_peak, near, log1mexp(_ball_logcdf(np.where(is_peak, -beta - 1, z), beta, m)))


def _ball_quantile(log_q: Any, log_rest: Any, beta: Any, m: Any) -> Any:
    tail, peak, pole = _ball_parts(beta, m)
    total = np.log(tail + peak)
    is_peak = log_q + total > np.log(tail)
    near = -ndtri_exp(np.where(is_peak, log_rest, -1) + total - 0.5 * log(2 * np.pi))
    far = pole - m / beta * np.exp((np.log(tail) - np.where(is_peak, -5, log_q) - total) / (m - 1))
    return np.where(is_peak, near, far)


crystalball = Continuous(
    "crystalball",
    "beta",
    "m",
    kinks=lambda beta, m: (-beta,),
    about="A normal peak with a power law of exponent m on the left, from -beta on.",
    valid=lambda beta, m: (beta > 0) & (m > 1),
    logpdf=_ball_logpdf,
    logcdf=_ball_logcdf,
    logsf=_ball_logsf,
    ppf=lambda q, beta, m: _ball_quantile(np.log(q), np.log1p(-q), beta, m),
    isf=lambda q, beta, m: _ball_quantile(np.log1p(-q), np.log(q), beta, m),
)
