"""Divergences of Kullback and Leibler between two distributions of one family: the mean of log(p / q) under p.

>>> from gradtape.stats import divergences
>>> round(float(divergences.normal(0.0, 1.0, 1.0, 2.0)), 4)
0.4431
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops.special.entropy import rel_entr
from gradtape.ops.special.gamma import betaln, gammaln, psi
from gradtape.ops.triangular import solve_triangular
from gradtape.stats.summaries import EULER


def normal(loc: Any, scale: Any, loc_of_other: Any, scale_of_other: Any) -> Any:
    """Between normal distributions."""
    ratio = (scale / scale_of_other) ** 2
    return 0.5 * (ratio + ((loc - loc_of_other) / scale_of_other) ** 2 - 1 - np.log(ratio))


def half_normal(scale: Any, scale_of_other: Any) -> Any:
    """Between distributions of the absolute value of a normal variable: that between the normal ones."""
    return normal(0.0, scale, 0.0, scale_of_other)


def laplace(loc: Any, scale: Any, loc_of_other: Any, scale_of_other: Any) -> Any:
    """Between Laplace distributions."""
    ratio, apart = scale / scale_of_other, np.abs(loc - loc_of_other)
    return -np.log(ratio) + ratio * np.exp(-apart / scale) + apart / scale_of_other - 1


def cauchy(loc: Any, scale: Any, loc_of_other: Any, scale_of_other: Any) -> Any:
    """Between Cauchy distributions."""
    apart = (scale + scale_of_other) ** 2 + (loc - loc_of_other) ** 2
    return np.log(apart) - np.log(4 * scale * scale_of_other)


def gumbel(loc: Any, scale: Any, loc_of_other: Any, scale_of_other: Any) -> Any:
    """Between Gumbel distributions of largest values."""
    ratio, apart = scale / scale_of_other, (loc_of_other - loc) / scale_of_other
    grown = np.exp(apart + gammaln(ratio + 1))
    return -np.log(ratio) - apart + ratio * EULER + grown - (1 + EULER)


def uniform(low: Any, high: Any, low_of_other: Any, high_of_other: Any) -> Any:
    """Between uniform distributions; infinite where the other does not reach."""
    inside = (low_of_other <= low) & (high_of_other >= high)
    return np.where(inside, np.log((high_of_other - low_of_other) / (high - low)), np.inf)


def exponential(rate: Any, rate_of_other: Any) -> Any:
    """Between exponential distributions."""
    ratio = rate_of_other / rate
    return ratio - 1 - np.log(ratio)


def gamma(a: Any, rate: Any, a_of_other: Any, rate_of_other: Any) -> Any:
    """Between gamma distributions."""
    growth = a_of_other * np.log(rate / rate_of_other) + gammaln(a_of_other) - gammaln(a)
    return growth + (a - a_of_other) * psi(a) + (rate_of_other - rate) * (a / rate)


def beta(a: Any, b: Any, a_of_other: Any, b_of_other: Any) -> Any:
    """Between beta distributions."""
    moved = (a - a_of_other) * psi(a) + (b - b_of_other) * psi(b)
    return betaln(a_of_other, b_of_other) - betaln(a, b) + moved + (a_of_other + b_of_other - a - b) * psi(a + b)


def dirichlet(alpha: Any, alpha_of_other: Any) -> Any:
    """Between Dirichlet distributions, whose parameters are along the last axis."""
    total, other = alpha.sum(-1), alpha_of_other.sum(-1)
    moved = ((alpha - alpha_of_other) * (psi(alpha) - psi(total)[..., None])).sum(-1)
    return gammaln(total) - gammaln(other) + (gammaln(alpha_of_other) - gammaln(alpha)).sum(-1) + moved


def bernoulli(p: Any, p_of_other: Any) -> Any:
    """Between distributions of one trial."""
    return rel_entr(p, p_of_other) + rel_entr(1 - p, 1 - p_of_other)


def categorical(p: Any, p_of_other: Any) -> Any:
    """Between distributions of categories, whose probabilities are along the last axis."""
    return rel_entr(p, p_of_other).sum(-1)


def geometric(p: Any, p_of_other: Any) -> Any:
    """Between geometric distributions: that of one trial, for each of the trials."""
    return bernoulli(p, p_of_other) / p


def poisson(rate: Any, rate_of_other: Any) -> Any:
    """Between Poisson distributions."""
    return rel_entr(rate, rate_of_other) - rate + rate_of_other


def pareto(scale: Any, alpha: Any, scale_of_other: Any, alpha_of_other: Any) -> Any:
    """Between Pareto distributions; infinite where the other begins later."""
    ratio = alpha_of_other / alpha
    value = alpha_of_other * np.log(scale / scale_of_other) - np.log(ratio) + ratio - 1
    return np.where(scale >= scale_of_other, value, np.inf)


def multivariate_normal(loc: Any, factor: Any, loc_of_other: Any, factor_of_other: Any) -> Any:
    """Between normal distributions of vectors, given by the lower triangular factors of their covariances."""

    def height(lower: Any) -> Any:
        return np.log(np.diagonal(lower, axis1=-2, axis2=-1)).sum(-1)

    spread = solve_triangular(factor_of_other, factor, lower=True)
    apart = solve_triangular(factor_of_other, (loc_of_other - loc)[..., None], lower=True)[..., 0]
    squares = (spread * spread).sum((-2, -1)) + (apart * apart).sum(-1)
    return height(factor_of_other) - height(factor) + 0.5 * (squares - loc.shape[-1])
