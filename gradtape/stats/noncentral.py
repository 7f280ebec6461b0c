"""Noncentral distributions, and others whose functions are special functions of several parameters."""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from gradtape.ops.special.bessel import i0e, k1e, kve
from gradtape.ops.special.kolmogorov_smirnov import kolmogi, kolmogorov, kolmogorov_derivative
from gradtape.ops.special.noncentral import chi_density, chndtr, chndtrix, nctdtr, nctdtrit, student_derivative
from gradtape.random.drawing import fixed
from gradtape.stats.derived import half_line
from gradtape.stats.family import Continuous
from gradtape.stats.scipy_values import scipy_value
from gradtape.stats.tails import LOG_2


def _other_side(distribution: str, method: str, side: Any) -> Any:
    """1 - side, with SciPy's value, which is exact where it is small."""

    def function(z: Any, *shapes: Any) -> Any:
        value = side(z, *shapes)
        return scipy_value(distribution, method, z, *shapes) - (value - fixed(value))

    return function


ncx2 = Continuous(
    "ncx2",
    "df",
    "nc",
    about="The noncentral chi squared distribution of df degrees of freedom.",
    support=half_line,
    valid=lambda df, nc: (df > 0) & (df < np.inf) & (nc >= 0),
    ends=False,
    logpdf=lambda z, df, nc: np.log(chi_density(z, df, nc, i=0, j=0)),
    cdf=lambda z, df, nc: chndtr(z, df, nc),
    sf=_other_side("ncx2", "sf", lambda z, df, nc: chndtr(z, df, nc)),
    ppf=lambda q, df, nc: chndtrix(q, df, nc),
)
nct = Continuous(
    "nct",
    "df",
    "nc",
    about="The noncentral t distribution of df degrees of freedom.",
    valid=lambda df, nc: (df > 0) & (nc == nc),
    logpdf=lambda z, df, nc: np.log(student_derivative(df, nc, z, i=1, k=1, n=0)),
    cdf=lambda z, df, nc: nctdtr(df, nc, z),
    sf=_other_side("nct", "sf", lambda z, df, nc: nctdtr(df, nc, z)),
    ppf=lambda q, df, nc: nctdtrit(df, nc, q),
)
rice = Continuous(
    "rice",
    "b",
    about="The distribution of Rice: the length of a vector of two normal numbers around a point at distance b.",
    support=half_line,
    ends=False,
    valid=lambda b: b >= 0,
    logpdf=lambda z, b: np.log(z) - 0.5 * (z - b) ** 2 + np.log(i0e(z * b)),
    cdf=lambda z, b: chndtr(z * z, 2.0, b * b),
    sf=_other_side("rice", "sf", lambda z, b: chndtr(z * z, 2.0, b * b)),
    ppf=lambda q, b: np.sqrt(chndtrix(q, 2.0, b * b)),
)
kstwobign = Continuous(
    "kstwobign",
    about="The limit of the distribution of the two-sided statistic of Kolmogorov and Smirnov.",
    support=half_line,
    ends=False,
    logpdf=lambda z: np.log(-kolmogorov_derivative(z, order=1)),
    sf=lambda z: kolmogorov(z),
    cdf=_other_side("kstwobign", "cdf", lambda z: kolmogorov(z)),
    isf=lambda q: kolmogi(q),
)

# -- densities alone: there is no formula for the probabilities


def _hyperbolic_logpdf(z: Any, p: Any, a: Any, b: Any) -> Any:
    root, order = np.sqrt((a - b) * (a + b)), p - 0.5
    length = np.hypot(1, z)
    height = p * np.log(root) - 0.5 * log(2 * pi) - order * np.log(a) - np.log(kve(p, root)) + root
    return height + b * z - a * length + np.log(kve(order, a * length)) + order * np.log(length)


norminvgauss = Continuous(
    "norminvgauss",
    "a",
    "b",
    about="The normal-inverse Gaussian distribution: normal, with a variance that is inverse Gaussian.",
    valid=lambda a, b: (a > 0) & (np.abs(b) < a),
    likely=(2.0, 1.0),
    logpdf=lambda z, a, b: (
        np.log(a)
        - log(pi)
        + np.log(k1e(a * np.hypot(1, z)))
        + b * z
        - a * np.hypot(1, z)
        + np.sqrt((a - b) * (a + b))
        - np.log(np.hypot(1, z))
    ),
)
genhyperbolic = Continuous(
    "genhyperbolic",
    "p",
    "a",
    "b",
    about="The generalised hyperbolic distribution, of order p.",
    valid=lambda p, a, b: np.where(p >= 0, np.abs(b) < a, np.abs(b) <= a),
    likely=(1.0, 2.0, 1.0),
    logpdf=_hyperbolic_logpdf,
)
geninvgauss = Continuous(
    "geninvgauss",
    "p",
    "b",
    about="The generalised inverse Gaussian distribution, of order p.",
    support=half_line,
    ends=False,
    valid=lambda p, b: (p == p) & (b > 0),
    logpdf=lambda z, p, b: (p - 1) * np.log(z) - 0.5 * b * (z + 1 / z) - LOG_2 - np.log(kve(p, b)) + b,
)
