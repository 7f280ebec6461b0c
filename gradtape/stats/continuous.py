"""The continuous distributions: a row each, of functions of a standardised point and the shape parameters."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

import numpy as np

from gradtape.ops.distributions import (
    log_beta_density,
    log_beta_mass,
    log_gamma_density,
    ndtri_exp,
    signed_betainc,
)
from gradtape.ops.special.entropy import expit, log_expit, logit, xlogy
from gradtape.ops.special.errorfunctions import erf, erfinv, log_ndtr, ndtr, ndtri
from gradtape.ops.special.gamma import betaln
from gradtape.ops.special.incomplete import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
)
from gradtape.random import continuous as random
from gradtape.stats.family import Continuous
from gradtape.stats.tails import (
    LOG_2,
    LOG_ROOT_2PI,
    any_of,
    beta_sides,
    log1mexp,
    log_beta_above,
    log_beta_below,
    log_beta_lower,
    log_beta_upper,
    log_gamma_lower,
    log_gamma_upper,
    log_normal_between,
    log_rise,
    power_of,
)

ROOT_HALF = sqrt(0.5)


def _half_line(*shapes: Any) -> tuple[float, float]:
    return 0.0, np.inf


def _unit(*shapes: Any) -> tuple[float, float]:
    return 0.0, 1.0


def _one_sided(negative: Any, below: Any, above: Any) -> Any:
    """`below` of what is negative and `above` of the rest, each evaluated where it is wanted only."""
    left = negative < 0
    return np.where(left, below(np.where(left, negative, -1)), above(np.where(left, 1, negative)))


def _log1p_square(x: Any) -> Any:
    """log(1 + x^2), also where x^2 is too small beside 1, or too large for a number."""
    is_small = np.abs(x) < 1
    small = np.where(is_small, x, 0)
    return np.where(is_small, np.log1p(small * small), 2 * np.log(np.hypot(1, np.where(is_small, 1, x))))


# -- normal and what is made of it

norm = Continuous(
    "norm",
    about="The normal distribution.",
    example="logpdf(gt.tensor([0.0, 1.0]), 1.0, 2.0) -> Tensor([-1.73708571, -1.61208571])",
    logpdf=lambda z: -0.5 * z * z - LOG_ROOT_2PI,
    cdf=lambda z: ndtr(z),
    logcdf=lambda z: log_ndtr(z),
    ppf=lambda q: ndtri(q),
    symmetric=True,
    draw=lambda rng, one, size: random.normal(rng, 0 * one, one, size),
)
lognorm = Continuous(
    "lognorm",
    "s",
    about="The distribution of exp(z), where z is normal with standard deviation s.",
    example="cdf(gt.tensor([1.0, 2.0]), 0.5) -> Tensor([0.5       , 0.91717148])",
    support=_half_line,
    ends=False,
    logpdf=lambda z, s: -0.5 * (np.log(z) / s) ** 2 - LOG_ROOT_2PI - np.log(s) - np.log(z),
    cdf=lambda z, s: ndtr(np.log(z) / s),
    sf=lambda z, s: ndtr(-np.log(z) / s),
    logcdf=lambda z, s: log_ndtr(np.log(z) / s),
    logsf=lambda z, s: log_ndtr(-np.log(z) / s),
    ppf=lambda q, s: np.exp(s * ndtri(q)),
    isf=lambda q, s: np.exp(-s * ndtri(q)),
    draw=lambda rng, one, size, s: random.lognormal(rng, 0 * one, s, size),
)


def _half_normal_logcdf(z: Any) -> Any:
    small = z < 1
    below = np.log(erf(np.where(small, z, 0.5) * ROOT_HALF))
    return np.where(small, below, np.log1p(-2 * ndtr(-np.where(small, 1, z))))


def _half_normal_logsf(z: Any) -> Any:
    small = z < 1
    near = np.log1p(-erf(np.where(small, z, 0.5) * ROOT_HALF))
    return np.where(small, near, LOG_2 + log_ndtr(-np.where(small, 1, z)))


halfnorm = Continuous(
    "halfnorm",
    about="The distribution of the absolute value of a normal variable.",
    example="sf(gt.tensor([0.0, 1.0])) -> Tensor([1.        , 0.31731051])",
    support=_half_line,
    logpdf=lambda z: 0.5 * log(2 / pi) - 0.5 * z * z,
    cdf=lambda z: erf(z * ROOT_HALF),
    sf=lambda z: 2 * ndtr(-z),
    logcdf=_half_normal_logcdf,
    logsf=_half_normal_logsf,
    ppf=lambda q: erfinv(q) / ROOT_HALF,
    isf=lambda q: -ndtri(0.5 * q),
    draw=lambda rng, one, size: random.half_normal(rng, one, size),
)


def _truncated_log(side: Any, other: Any) -> Any:
    """The logarithm of a side's share of the mass, from those of the masses of both."""
    is_less = side < other
    less, more = np.where(is_less, side, other), np.where(is_less, other, side)
    share = less - more - np.log1p(np.exp(less - more))
    return np.where(is_less, share, log1mexp(share))


def _truncated_quantile(log_q: Any, log_rest: Any, a: Any, b: Any) -> Any:
    """The point with a share q of the mass between a and b below it, counted from the end in the thinner tail."""
    mass = log_normal_between(a, b)
    left = a < 0
    start = np.where(left, a, -b)
    counted = np.where(left, log_q, log_rest) + mass
    is_open = np.isneginf(start)
    total = np.logaddexp(log_ndtr(np.where(is_open, -1, start)), counted)
    point = ndtri_exp(np.where(is_open, counted, total))
    return np.where(left, point, -point)


def _truncated_typical(a: Any, b: Any) -> Any:
    """A point between a and b, not far from where most of the mass is."""
    return 0.5 * (np.maximum(a, np.minimum(b, 0) - 1) + np.minimum(b, np.maximum(a, 0) + 1))


def _truncated_side(log_mass: Any) -> Any:
    """A side's share of the mass, from the logarithm of its own."""
    return power_of(lambda z, a, b: log_mass(z, a, b) - log_normal_between(a, b), np.exp, 0.0, _truncated_typical)


truncnorm: Continuous = Continuous(
    "truncnorm",
    "a",
    "b",
    is_moving=True,
    about="The normal distribution between a and b, which are in units of the scale from loc.",
    example="logpdf(gt.tensor([0.5, 3.0]), 0.0, 2.0) -> Tensor([-0.30422344,        -inf])",
    support=lambda a, b: (a, b),
    typical=_truncated_typical,
    valid=lambda a, b: a < b,
    logpdf=lambda z, a, b: -0.5 * z * z - LOG_ROOT_2PI - log_normal_between(a, b),
    cdf=_truncated_side(lambda z, a, b: log_normal_between(a, z)),
    sf=_truncated_side(lambda z, a, b: log_normal_between(z, b)),
    logcdf=lambda z, a, b: _truncated_log(log_normal_between(a, z), log_normal_between(z, b)),
    logsf=lambda z, a, b: _truncated_log(log_normal_between(z, b), log_normal_between(a, z)),
    ppf=lambda q, a, b: _truncated_quantile(np.log(q), np.log1p(-q), a, b),
    isf=lambda q, a, b: _truncated_quantile(np.log1p(-q), np.log(q), a, b),
    draw=lambda rng, one, size, a, b: truncnorm.ppf(random.uniform(rng, 0 * one, one, size), a, b),
)

# -- elementary

uniform = Continuous(
    "uniform",
    about="The uniform distribution between loc and loc + scale.",
    example="logpdf(gt.tensor([1.5, 4.0]), 1.0, 2.0) -> Tensor([-0.69314718,        -inf])",
    support=_unit,
    typical=lambda: 0.5,
    logpdf=lambda z: 0 * z,
    cdf=lambda z: z,
    sf=lambda z: 1 - z,
    logcdf=lambda z: np.log(z),
    logsf=lambda z: np.log1p(-z),
    ppf=lambda q: q,
    isf=lambda q: 1 - q,
    draw=lambda rng, one, size: random.uniform(rng, 0 * one, one, size),
)
expon = Continuous(
    "expon",
    about="The exponential distribution, of mean loc + scale.",
    example="logsf(gt.tensor([1.0, 1000.0]), scale=2.0) -> Tensor([  -0.5, -500. ])",
    support=_half_line,
    logpdf=lambda z: -z,
    logsf=lambda z: -z,
    ppf=lambda q: -np.log1p(-q),
    isf=lambda q: -np.log(q),
    draw=lambda rng, one, size: random.exponential(rng, one, size),
)


def _cauchy_quantile(q: Any) -> Any:
    left = q < 0.5
    cotangent = 1 / np.tan(pi * np.where(left, q, 1 - q))
    return np.where(left, -cotangent, cotangent)


def _cauchy_log(z: Any) -> Any:
    return _one_sided(z, lambda z: np.log(np.arctan2(1, -z) / pi), lambda z: np.log1p(-np.arctan2(1, z) / pi))


cauchy = Continuous(
    "cauchy",
    about="The Cauchy distribution.",
    example="sf(gt.tensor([0.0, 1e20])) -> Tensor([5.00000000e-01, 3.18309886e-21])",
    logpdf=lambda z: -log(pi) - _log1p_square(z),
    cdf=lambda z: np.arctan2(1, -z) / pi,
    logcdf=_cauchy_log,
    ppf=_cauchy_quantile,
    symmetric=True,
    draw=lambda rng, one, size: random.cauchy(rng, 0 * one, one, size),
)


def _laplace_quantile(q: Any) -> Any:
    left = q < 0.5
    depth = np.log(2 * np.where(left, q, 1 - q))
    return np.where(left, depth, -depth)


laplace = Continuous(
    "laplace",
    about="The Laplace, or double exponential, distribution.",
    example="logcdf(gt.tensor([-1000.0, 0.0])) -> Tensor([-1.00069315e+03, -6.93147181e-01])",
    logpdf=lambda z: -np.abs(z) - LOG_2,
    cdf=lambda z: _one_sided(z, lambda z: 0.5 * np.exp(z), lambda z: 1 - 0.5 * np.exp(-z)),
    logcdf=lambda z: _one_sided(z, lambda z: z - LOG_2, lambda z: np.log1p(-0.5 * np.exp(-z))),
    ppf=_laplace_quantile,
    symmetric=True,
    draw=lambda rng, one, size: random.laplace(rng, 0 * one, one, size),
)
logistic = Continuous(
    "logistic",
    about="The logistic distribution.",
    example="logcdf(gt.tensor([-1000.0, 0.0])) -> Tensor([-1.00000000e+03, -6.93147181e-01])",
    logpdf=lambda z: log_expit(z) + log_expit(-z),
    cdf=lambda z: expit(z),
    logcdf=lambda z: log_expit(z),
    ppf=lambda q: logit(q),
    symmetric=True,
    draw=lambda rng, one, size: random.logistic(rng, 0 * one, one, size),
)
gumbel_r = Continuous(
    "gumbel_r",
    about="The Gumbel distribution of largest values.",
    example="cdf(gt.tensor([0.0, 1.0])) -> Tensor([0.36787944, 0.69220063])",
    logpdf=lambda z: -z - np.exp(-z),
    logcdf=lambda z: -np.exp(-z),
    logsf=lambda z: log_rise(-z),
    ppf=lambda q: -np.log(-np.log(q)),
    isf=lambda q: -np.log(-np.log1p(-q)),
    draw=lambda rng, one, size: random.gumbel(rng, 0 * one, one, size),
)
weibull_min = Continuous(
    "weibull_min",
    "c",
    about="The Weibull distribution of smallest values, with the exponent c.",
    example="logsf(gt.tensor([1.0, 10.0]), 2.0) -> Tensor([  -1., -100.])",
    support=_half_line,
    logpdf=lambda z, c: np.log(c) + xlogy(c - 1, z) - z**c,
    logsf=lambda z, c: -(z**c),
    logcdf=lambda z, c: log_rise(c * np.log(z)),
    ppf=lambda q, c: (-np.log1p(-q)) ** (1 / c),
    isf=lambda q, c: (-np.log(q)) ** (1 / c),
    draw=lambda rng, one, size, c: random.weibull(rng, c, size),
)
pareto = Continuous(
    "pareto",
    "b",
    about="The Pareto distribution: a power law with the exponent b, from 1 up.",
    example="sf(gt.tensor([1.0, 10.0]), 2.0) -> Tensor([1.  , 0.01])",
    support=lambda b: (1.0, np.inf),
    typical=lambda b: 2.0,
    logpdf=lambda z, b: np.log(b) - (b + 1) * np.log(z),
    logsf=lambda z, b: -b * np.log(z),
    ppf=lambda q, b: np.exp(-np.log1p(-q) / b),
    isf=lambda q, b: np.exp(-np.log(q) / b),
    draw=lambda rng, one, size, b: random.pareto(rng, b, size) + 1,
)
rayleigh = Continuous(
    "rayleigh",
    about="The Rayleigh distribution: the length of a vector of two normal numbers.",
    example="logsf(gt.tensor([1.0, 100.0])) -> Tensor([-5.e-01, -5.e+03])",
    support=_half_line,
    ends=False,
    logpdf=lambda z: np.log(z) - 0.5 * z * z,
    logsf=lambda z: -0.5 * z * z,
    logcdf=lambda z: log_rise(2 * np.log(z) - LOG_2),
    ppf=lambda q: np.sqrt(-2 * np.log1p(-q)),
    isf=lambda q: np.sqrt(-2 * np.log(q)),
    draw=lambda rng, one, size: random.rayleigh(rng, one, size),
)

# -- gamma and its relatives

gamma = Continuous(
    "gamma",
    "a",
    about="The gamma distribution of shape a.",
    example="logsf(gt.tensor([1.0, 2000.0]), 2.0) -> Tensor([-3.06852819e-01, -1.99239860e+03])",
    support=_half_line,
    logpdf=lambda z, a: log_gamma_density(a, z),
    cdf=lambda z, a: gammainc(a, z),
    sf=lambda z, a: gammaincc(a, z),
    logcdf=lambda z, a: log_gamma_lower(a, z),
    logsf=lambda z, a: log_gamma_upper(a, z),
    ppf=lambda q, a: gammaincinv(a, q),
    isf=lambda q, a: gammainccinv(a, q),
    draw=lambda rng, one, size, a: random.gamma(rng, a, one, size),
)
chi2 = Continuous(
    "chi2",
    "df",
    about="The chi squared distribution of df degrees of freedom.",
    example="sf(gt.tensor([1.0, 4.0]), 2.0) -> Tensor([0.60653066, 0.13533528])",
    support=_half_line,
    logpdf=lambda z, df: log_gamma_density(0.5 * df, 0.5 * z) - LOG_2,
    cdf=lambda z, df: gammainc(0.5 * df, 0.5 * z),
    sf=lambda z, df: gammaincc(0.5 * df, 0.5 * z),
    logcdf=lambda z, df: log_gamma_lower(0.5 * df, 0.5 * z),
    logsf=lambda z, df: log_gamma_upper(0.5 * df, 0.5 * z),
    ppf=lambda q, df: 2 * gammaincinv(0.5 * df, q),
    isf=lambda q, df: 2 * gammainccinv(0.5 * df, q),
    draw=lambda rng, one, size, df: random.chisquare(rng, df, size),
)


def _turned_over(z: Any) -> Any:
    """1 / z, without a slope too large for a number: there all of the mass is above."""
    return 1 / np.maximum(z, np.finfo(z.dtype).tiny ** 0.5)


invgamma = Continuous(
    "invgamma",
    "a",
    about="The distribution of 1 / x, where x is gamma of shape a.",
    example="cdf(gt.tensor([0.5, 1.0]), 2.0) -> Tensor([0.40600585, 0.73575888])",
    support=_half_line,
    ends=False,
    logpdf=lambda z, a: log_gamma_density(a, 1 / z) - 2 * np.log(z),
    cdf=lambda z, a: gammaincc(a, _turned_over(z)),
    sf=lambda z, a: gammainc(a, _turned_over(z)),
    logcdf=lambda z, a: log_gamma_upper(a, 1 / z),
    logsf=lambda z, a: log_gamma_lower(a, _turned_over(z)),
    ppf=lambda q, a: 1 / gammainccinv(a, q),
    isf=lambda q, a: 1 / gammaincinv(a, q),
    draw=lambda rng, one, size, a: random.inverse_gamma(rng, a, one, size),
)

# -- beta and its relatives

beta = Continuous(
    "beta",
    "a",
    "b",
    about="The beta distribution of shapes a and b.",
    example="logpdf(gt.tensor([0.25, 2.0]), 2.0, 3.0) -> Tensor([0.52324814,       -inf])",
    support=_unit,
    typical=lambda a, b: 0.5,
    logpdf=lambda z, a, b: log_beta_density(a, b, z),
    cdf=lambda z, a, b: betainc(a, b, z),
    sf=lambda z, a, b: betaincc(a, b, z),
    logcdf=lambda z, a, b: log_beta_below(a, b, z),
    logsf=lambda z, a, b: log_beta_above(a, b, z),
    ppf=lambda q, a, b: betaincinv(a, b, q),
    isf=lambda q, a, b: betainccinv(a, b, q),
    draw=lambda rng, one, size, a, b: random.beta(rng, a, b, size),
)


def _f_logpdf(z: Any, dfn: Any, dfd: Any) -> Any:
    """By its formula; for many degrees of freedom, which cost that its digits, from the odds z dfn / dfd."""
    is_large = (dfn > 4) & (z > 0)
    few, near = np.where(is_large, 4, dfn), np.where(is_large, 1, z)
    formula = (
        0.5 * few * np.log(few / dfd)
        + xlogy(0.5 * few - 1, near)
        - 0.5 * (few + dfd) * np.log1p(near * few / dfd)
        - betaln(0.5 * few, 0.5 * dfd)
    )
    away = np.where(is_large, z, 1)
    from_odds = log_beta_mass(0.5 * dfn, 0.5 * dfd, np.log(away * (dfn / dfd))) - np.log(away)
    return np.where(is_large, from_odds, formula)


f = Continuous(
    "f",
    "dfn",
    "dfd",
    about="The F distribution: a quotient of two chi squared variables, each over its degrees of freedom.",
    example="sf(gt.tensor([1.0, 4.0]), 2.0, 10.0) -> Tensor([0.40187757, 0.05292215])",
    support=_half_line,
    logpdf=_f_logpdf,
    cdf=lambda z, dfn, dfd: beta_sides(0.5 * dfn, 0.5 * dfd, z * dfn / dfd)[0],
    sf=lambda z, dfn, dfd: beta_sides(0.5 * dfn, 0.5 * dfd, z * dfn / dfd)[1],
    logcdf=lambda z, dfn, dfd: log_beta_lower(0.5 * dfn, 0.5 * dfd, z * dfn / dfd),
    logsf=lambda z, dfn, dfd: log_beta_upper(0.5 * dfn, 0.5 * dfd, z * dfn / dfd),
    ppf=lambda q, dfn, dfd: odds_quantile(q, 0.5 * dfn, 0.5 * dfd, upper=False) * dfd / dfn,
    isf=lambda q, dfn, dfd: odds_quantile(q, 0.5 * dfn, 0.5 * dfd, upper=True) * dfd / dfn,
    draw=lambda rng, one, size, dfn, dfd: (
        random.chisquare(rng, dfn, size) / dfn * dfd / random.chisquare(rng, dfd, size)
    ),
)


def odds_quantile(q: Any, a: Any, b: Any, upper: bool) -> Any:
    """The odds that a beta variable stays below (or above) with probability q, from the smaller of x and 1 - x."""
    x = betainccinv(a, b, q) if upper else betaincinv(a, b, q)
    rest = betaincinv(b, a, q) if upper else betainccinv(b, a, q)
    is_small = x < rest
    small = np.where(is_small, x, rest)
    return np.where(is_small, small / (1 - small), (1 - small) / small)


def _student_cdf(t: Any, df: Any) -> Any:
    """Half of a beta probability beyond 1, where it may be small; a smooth odd function between -1 and 1."""
    is_middle = np.abs(t) < 1
    middle, outer = np.where(is_middle, t, 0.5), np.where(is_middle, 2, t)
    inner = 0.5 + 0.5 * signed_betainc(0.5 * df, middle / np.sqrt(df + middle * middle), order=0)
    tail = 0.5 * beta_sides(0 * df + 0.5, 0.5 * df, outer * outer / df)[1]
    return np.where(is_middle, inner, np.where(outer < 0, tail, 1 - tail))


def _student_logcdf(t: Any, df: Any) -> Any:
    is_tail = t < -1
    near = np.where(is_tail, 0, t)
    above = near > 1
    tail = np.log1p(-_student_cdf(-np.where(above, near, 2), df))
    inner = np.where(above, tail, np.log(_student_cdf(np.where(above, 0, near), df)))
    far = np.where(is_tail, t, -2)
    odds, log_odds = df / (far * far), np.log(df) - 2 * np.log(-far)
    return np.where(is_tail, log_beta_lower(0.5 * df, 0 * df + 0.5, odds, log_odds) - LOG_2, inner)


def _student_quantile(q: Any, df: Any) -> Any:
    """t^2 / df are the odds of a beta variable that are exceeded with probability 2 q; near 0, through its root."""
    left = q < 0.5
    small = np.where(left, q, 1 - q)
    odds = odds_quantile(2 * np.where(small == 0.5, 0.25, small), 0 * df + 0.5, 0.5 * df, upper=True)
    t = np.sqrt(df * odds)
    middle = (q - 0.5) * np.exp(betaln(0 * df + 0.5, 0.5 * df)) * np.sqrt(df)  # the tangent at q = 1/2
    return np.where(small == 0.5, middle, np.where(left, -t, t))


def _student_logpdf(t: Any, df: Any) -> Any:
    return -0.5 * (df + 1) * _log1p_square(t / np.sqrt(df)) - betaln(0 * df + 0.5, 0.5 * df) - 0.5 * np.log(df)


def _or_normal(student: Any, normal: Any) -> Any:
    """A function of Student's distribution, and that of the normal one for infinitely many degrees of freedom."""

    def function(z: Any, df: Any) -> Any:
        is_normal = np.isposinf(df)
        if not any_of(is_normal):
            return student(z, df)
        return np.where(is_normal, normal(z), student(z, np.where(is_normal, 1, df)))

    return function


t = Continuous(
    "t",
    "df",
    about="Student's distribution of df degrees of freedom.",
    example="logcdf(gt.tensor([-1e100, 0.0]), 4.0) -> Tensor([-9.19935425e+02, -6.93147181e-01])",
    logpdf=_or_normal(_student_logpdf, lambda z: -0.5 * z * z - LOG_ROOT_2PI),
    cdf=_or_normal(_student_cdf, ndtr),
    logcdf=_or_normal(_student_logcdf, log_ndtr),
    ppf=_or_normal(_student_quantile, ndtri),
    symmetric=True,
    draw=lambda rng, one, size, df: random.student_t(rng, df, 0 * one, one, size),
)
