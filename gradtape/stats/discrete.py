"""The discrete distributions: a row each, of functions of an integer inside the support and the parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops.distributions import log_beta_density, log_gamma_density
from gradtape.ops.special.entropy import xlog1py, xlogy
from gradtape.ops.special.incomplete import beta_density, betainc, betaincc, gamma_density, gammainc, gammaincc
from gradtape.random import discrete as random
from gradtape.stats.family import Discrete
from gradtape.stats.tails import log_beta_above, log_beta_below, log_gamma_lower, log_gamma_upper


def _counts(*parameters: Any) -> tuple[float, float]:
    return 0.0, np.inf


def _probability(p: Any) -> Any:
    return (p >= 0) & (p <= 1)


bernoulli = Discrete(
    "bernoulli",
    "p",
    about="1 with probability p, else 0.",
    example="logpmf([0, 1, 2], gt.tensor(0.25)) -> Tensor([-0.28768207, -1.38629436,        -inf])",
    support=lambda p: (0.0, 1.0),
    valid=_probability,
    typical=(0.5,),
    logpmf=lambda k, p: xlogy(k, p) + xlog1py(1 - k, -p),
    pmf=lambda k, p: k * p + (1 - k) * (1 - p),
    cdf=lambda k, p: 1 - p + 0 * k,
    sf=lambda k, p: p + 0 * k,
    logcdf=lambda k, p: np.log1p(-p) + 0 * k,
    logsf=lambda k, p: np.log(p) + 0 * k,
    draw=lambda rng, size, p: random.bernoulli(rng, p, size),
)
binom = Discrete(
    "binom",
    "n",
    "p",
    about="How many of n trials succeed, each with probability p.",
    example="pmf([0, 1, 3], 2, gt.tensor(0.25)) -> Tensor([0.5625, 0.375 , 0.    ])",
    support=lambda n, p: (0.0, n),
    valid=lambda n, p: (n >= 0) & (np.floor(n) == n) & _probability(p),
    typical=(2.0, 0.5),
    logpmf=lambda k, n, p: log_beta_density(k + 1, n - k + 1, p) - np.log(n + 1),
    pmf=lambda k, n, p: beta_density(k + 1, n - k + 1, p) / (n + 1),
    cdf=lambda k, n, p: betaincc(k + 1, np.maximum(n - k, 1), p),
    sf=lambda k, n, p: betainc(k + 1, np.maximum(n - k, 1), p),
    logcdf=lambda k, n, p: log_beta_above(k + 1, np.maximum(n - k, 1), p),
    logsf=lambda k, n, p: log_beta_below(k + 1, np.maximum(n - k, 1), p),
    draw=lambda rng, size, n, p: random.binomial(rng, n, p, size),
)
poisson = Discrete(
    "poisson",
    "mu",
    about="How many events happen where mu are expected.",
    example="logpmf([0, 1, 2], gt.tensor(2.0)) -> Tensor([-2.        , -1.30685282, -1.30685282])",
    support=_counts,
    valid=lambda mu: mu >= 0,
    typical=(1.0,),
    logpmf=lambda k, mu: log_gamma_density(k + 1, mu),
    pmf=lambda k, mu: gamma_density(k + 1, mu),
    cdf=lambda k, mu: gammaincc(k + 1, mu),
    sf=lambda k, mu: gammainc(k + 1, mu),
    logcdf=lambda k, mu: log_gamma_upper(k + 1, mu),
    logsf=lambda k, mu: log_gamma_lower(k + 1, mu),
    draw=lambda rng, size, mu: random.poisson(rng, mu, size),
)
nbinom = Discrete(
    "nbinom",
    "n",
    "p",
    about="How many trials fail before the n-th succeeds, each with probability p; n may be any positive number.",
    example="pmf([0, 1, 2], 2.0, gt.tensor(0.5)) -> Tensor([0.25  , 0.25  , 0.1875])",
    support=_counts,
    valid=lambda n, p: (n > 0) & (p > 0) & (p <= 1),
    typical=(1.0, 0.5),
    logpmf=lambda k, n, p: log_beta_density(n, k + 1, p) + np.log(p) - np.log(n + k),
    pmf=lambda k, n, p: beta_density(n, k + 1, p) * p / (n + k),
    cdf=lambda k, n, p: betainc(n, k + 1, p),
    sf=lambda k, n, p: betaincc(n, k + 1, p),
    logcdf=lambda k, n, p: log_beta_below(n, k + 1, p),
    logsf=lambda k, n, p: log_beta_above(n, k + 1, p),
    draw=lambda rng, size, n, p: random.negative_binomial(rng, n, p, size),
)
geom = Discrete(
    "geom",
    "p",
    about="How many trials it takes until one succeeds, each with probability p.",
    example="logsf([1, 1000], gt.tensor(0.5)) -> Tensor([  -0.69314718, -693.14718056])",
    support=lambda p: (1.0, np.inf),
    valid=lambda p: (p > 0) & (p <= 1),
    typical=(0.5,),
    logpmf=lambda k, p: np.log(p) + xlog1py(k - 1, -p),
    pmf=lambda k, p: beta_density(np.ones_like(k), k, p) * p / k,
    cdf=lambda k, p: betainc(np.ones_like(k), k, p),
    sf=lambda k, p: betaincc(np.ones_like(k), k, p),
    logcdf=lambda k, p: log_beta_below(np.ones_like(k), k, p),
    logsf=lambda k, p: xlog1py(k, -p),
    draw=lambda rng, size, p: random.geometric(rng, p, size),
)
