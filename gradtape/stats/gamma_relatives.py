"""Continuous distributions whose probabilities are incomplete gamma functions of the variable or of a power of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops.special.entropy import xlogy
from gradtape.ops.special.gamma import gammaln
from gradtape.stats.continuous import gamma, invgamma, weibull_min
from gradtape.stats.continuous import norm as normal
from gradtape.stats.derived import OPPOSITE, SIDES, half_line, mapped, two_sided
from gradtape.stats.family import Continuous
from gradtape.stats.tails import LOG_2, LOG_ROOT_2PI, any_of, log_gamma_lower

erlang = mapped(
    "erlang",
    "a",
    about="The gamma distribution of a whole number a of waiting times.",
    base=gamma,
    there=lambda z, a: z,
    back=lambda y, a: y,
    logpdf=gamma.standard("logpdf"),
    support=half_line,
)
chi = mapped(
    "chi",
    "df",
    about="The distribution of the root of a chi squared variable of df degrees of freedom.",
    base=gamma,
    parameters=lambda df: (0.5 * df,),
    there=lambda z, df: 0.5 * z * z,
    back=lambda y, df: np.sqrt(2 * y),
    logpdf=lambda z, df: xlogy(df - 1, z) - 0.5 * z * z - (0.5 * df - 1) * LOG_2 - gammaln(0.5 * df),
    support=half_line,
)
maxwell = mapped(
    "maxwell",
    about="The Maxwell distribution: the length of a vector of three normal numbers.",
    base=gamma,
    parameters=lambda: (1.5,),
    there=lambda z: 0.5 * z * z,
    back=lambda y: np.sqrt(2 * y),
    logpdf=lambda z: 2 * np.log(z) - 0.5 * z * z + LOG_2 - LOG_ROOT_2PI,
    support=half_line,
)
nakagami = mapped(
    "nakagami",
    "nu",
    about="The Nakagami distribution of shape nu: the root of a gamma variable of mean 1.",
    base=gamma,
    there=lambda z, nu: nu * z * z,
    back=lambda y, nu: np.sqrt(y / nu),
    logpdf=lambda z, nu: LOG_2 + xlogy(nu, nu) - gammaln(nu) + xlogy(2 * nu - 1, z) - nu * z * z,
    support=half_line,
)
halfgennorm = mapped(
    "halfgennorm",
    "beta",
    about="The positive half of the generalised normal distribution of exponent beta.",
    base=gamma,
    parameters=lambda beta: (1 / beta,),
    there=lambda z, beta: z**beta,
    back=lambda y, beta: y ** (1 / beta),
    logpdf=lambda z, beta: np.log(beta) - gammaln(1 / beta) - z**beta,
    support=half_line,
)
gennorm = two_sided("gennorm", "beta", about="The generalised normal distribution of exponent beta.", base=halfgennorm)
dgamma = two_sided("dgamma", "a", about="The double gamma distribution of shape a.", base=gamma)
dweibull = two_sided("dweibull", "c", about="The double Weibull distribution of exponent c.", base=weibull_min)
loggamma = mapped(
    "loggamma",
    "c",
    about="The distribution of the logarithm of a gamma variable of shape c.",
    base=gamma,
    there=lambda z, c: np.exp(z),
    back=lambda y, c: np.log(y),
    logpdf=lambda z, c: c * z - np.exp(z) - gammaln(c),
)
moyal = mapped(
    "moyal",
    about="The Moyal distribution.",
    base=gamma,
    parameters=lambda: (0.5,),
    there=lambda z: 0.5 * np.exp(-z),
    back=lambda y: -np.log(2 * y),
    logpdf=lambda z: -0.5 * (z + np.exp(-z)) - LOG_ROOT_2PI,
    is_decreasing=True,
)
levy = mapped(
    "levy",
    about="The Levy distribution.",
    base=invgamma,
    parameters=lambda: (np.float64(0.5),),
    there=lambda z: 2 * z,
    back=lambda y: 0.5 * y,
    logpdf=lambda z: -0.5 / z - 1.5 * np.log(z) - LOG_ROOT_2PI,
    support=half_line,
    ends=False,
)
levy_l = mapped(
    "levy_l",
    about="The Levy distribution turned round: of negative numbers.",
    base=levy,
    there=lambda z: -z,
    back=lambda y: -y,
    log_slope=lambda z: 0 * z,
    is_decreasing=True,
    support=lambda: (-np.inf, 0.0),
    typical=lambda: -1.0,
    ends=False,
)


def _by_sign(name: str) -> Any:
    """A function of z^c, where c may be negative: then large is small."""

    def choose(value: Any, a: Any, c: Any) -> Any:
        grows = c > 0
        if any_of(~grows):
            return np.where(grows, gamma.standard(name)(value, a), gamma.standard(OPPOSITE[name])(value, a))
        return gamma.standard(name)(value, a)

    if name in ("ppf", "isf"):
        return lambda q, a, c: choose(q, a, c) ** (1 / c)
    return lambda z, a, c: choose(z**c, a, c)


def _power_logpdf(z: Any, a: Any, c: Any) -> Any:
    is_end = (z == 0) & (c < 0)
    point = np.where(is_end, 1, z)
    return np.where(is_end, -np.inf, np.log(np.abs(c)) + xlogy(c * a - 1, point) - point**c - gammaln(a))


gengamma = Continuous(
    "gengamma",
    "a",
    "c",
    about="The distribution of x^(1 / c), where x is gamma of shape a; c may be negative.",
    support=half_line,
    valid=lambda a, c: (a > 0) & (c != 0),
    logpdf=_power_logpdf,
    **{name: _by_sign(name) for name in SIDES},
)


def _pearson(name: str) -> Any:
    """A function of Pearson's distribution: of 4 / skew^2 and 2 z / skew + 4 / skew^2; the normal one for no skew."""

    def function(value: Any, skew: Any) -> Any:
        skewed: Any
        y: Any
        is_normal = np.abs(skew) < 1.6e-5  # as in SciPy
        safe = np.where(is_normal, 1, skew)
        a = 4 / (safe * safe)
        if name in ("ppf", "isf"):
            y = np.where(safe > 0, gamma.standard(name)(value, a), gamma.standard(OPPOSITE[name])(value, a))
            skewed = (y - a) * safe / 2
        else:
            y = np.maximum(2 * np.where(is_normal, 0, value) / safe + a, 1e-300)
            if name == "logpdf":
                skewed = gamma.standard(name)(y, a) + np.log(2 / np.abs(safe))
            else:
                skewed = np.where(safe > 0, gamma.standard(name)(y, a), gamma.standard(OPPOSITE[name])(y, a))
        return np.where(is_normal, normal.standard(name)(value), skewed) if any_of(is_normal) else skewed

    return function


def _pearson_support(skew: Any) -> tuple[Any, Any]:
    safe = np.where(np.abs(skew) < 1.6e-5, 1, skew)
    end = np.where(np.abs(skew) < 1.6e-5, np.inf, -2 / safe)
    return np.where(end < 0, end, -np.inf), np.where(end < 0, np.inf, end)


pearson3 = Continuous(
    "pearson3",
    "skew",
    is_moving=True,
    about="The gamma distribution of a given skewness, with mean 0 and variance 1.",
    support=_pearson_support,
    typical=lambda skew: 0.0,
    valid=np.isfinite,
    ends=False,
    **{name: _pearson(name) for name in ("logpdf", *SIDES)},
)


def _argus_logsf(z: Any, chi: Any) -> Any:
    a = 1.5 + 0 * chi
    return log_gamma_lower(a, 0.5 * chi**2 * (1 - z) * (1 + z)) - log_gamma_lower(a, 0.5 * chi**2)


argus = Continuous(
    "argus",
    "chi",
    about="The ARGUS distribution of shape chi, between 0 and 1.",
    support=lambda chi: (0.0, 1.0),
    typical=lambda chi: 0.5,
    logpdf=lambda z, chi: (
        3 * np.log(chi)
        - LOG_ROOT_2PI
        + LOG_2
        - log_gamma_lower(1.5 + 0 * chi, 0.5 * chi**2)
        + np.log(z)
        + 0.5 * np.log1p(-z * z)
        - 0.5 * chi**2 * (1 - z * z)
    ),
    logsf=_argus_logsf,
    ends=False,
)
