"""Distributions with the names and arguments of `scipy.stats`, differentiable in every continuous argument.

`norm`, `gamma`, `beta` and the other continuous distributions have logpdf, pdf, cdf, sf, logcdf, logsf, ppf, isf and
rvs; `bernoulli`, `binom`, `poisson`, `nbinom` and `geom` have logpmf, pmf, cdf, sf, logcdf, logsf and rvs;
`multivariate_normal` and `dirichlet` have logpdf, pdf and rvs.

>>> import gradtape as gt
>>> gt.value_and_grad(gt.stats.norm.logpdf, 2)(1.0, 0.0, gt.tensor(2.0))
(Tensor(-1.73708571), Tensor(-0.375))
"""

from gradtape.stats.continuous import (
    beta,
    cauchy,
    chi2,
    expon,
    f,
    gamma,
    gumbel_r,
    halfnorm,
    invgamma,
    laplace,
    logistic,
    lognorm,
    norm,
    pareto,
    rayleigh,
    t,
    truncnorm,
    uniform,
    weibull_min,
)
from gradtape.stats.discrete import bernoulli, binom, geom, nbinom, poisson
from gradtape.stats.multivariate import dirichlet, multivariate_normal

__all__ = [
    "bernoulli",
    "beta",
    "binom",
    "cauchy",
    "chi2",
    "dirichlet",
    "expon",
    "f",
    "gamma",
    "geom",
    "gumbel_r",
    "halfnorm",
    "invgamma",
    "laplace",
    "logistic",
    "lognorm",
    "multivariate_normal",
    "nbinom",
    "norm",
    "pareto",
    "poisson",
    "rayleigh",
    "t",
    "truncnorm",
    "uniform",
    "weibull_min",
]
