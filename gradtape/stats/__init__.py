"""Distributions with the names and arguments of `scipy.stats`, differentiable in every continuous argument.

`norm`, `gamma`, `beta` and the other continuous distributions have logpdf, pdf, cdf, sf, logcdf, logsf, ppf, isf and
rvs; `bernoulli`, `binom`, `poisson`, `nbinom` and `geom` have logpmf, pmf, cdf, sf, logcdf, logsf and rvs;
`multivariate_normal` and `dirichlet` have logpdf, pdf and rvs.

The other continuous and discrete distributions of `scipy.stats` are here under its names too, each imported when it is
first used; `gradtape.scipy.stats` has them all, with SciPy's own answers where there is no tensor.

>>> import gradtape as gt
>>> gt.value_and_grad(gt.stats.norm.logpdf, 2)(1.0, 0.0, gt.tensor(2.0))
(Tensor(-1.73708571), Tensor(-0.375))
"""

import importlib
from typing import Any

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

OTHERS = {
    "bounded": "anglit arcsine betaprime bradford cosine jf_skew_t loguniform powerlaw rdist reciprocal semicircular "
    "trapezoid triang truncexpon truncpareto truncweibull_min tukeylambda",
    "circular": "vonmises vonmises_line wrapcauchy",
    "counts": "betabinom betanbinom boltzmann dlaplace logser planck skellam yulesimon zipf zipfian",
    "gamma_relatives": "argus chi dgamma dweibull erlang gengamma gennorm halfgennorm levy levy_l loggamma maxwell "
    "moyal nakagami pearson3",
    "lifetimes": "burr burr12 exponpow exponweib fisk foldcauchy genexpon genextreme genhalflogistic genlogistic "
    "genpareto gompertz gumbel_l halfcauchy halflogistic hypsecant invweibull kappa3 kappa4 laplace_asymmetric "
    "loglaplace lomax mielke skewcauchy weibull_max",
    "noncentral": "genhyperbolic geninvgauss kstwobign nct ncx2 norminvgauss rice",
    "normal_relatives": "alpha crystalball dpareto_lognorm exponnorm fatiguelife foldnorm gibrat invgauss johnsonsb "
    "johnsonsu powerlognorm powernorm recipinvgauss skewnorm wald",
}
"""Modules that are imported when one of their distributions is first used."""

_HOMES = {name: module for module, names in OTHERS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"gradtape.stats has no name {name!r}")
    value = getattr(importlib.import_module(f"gradtape.stats.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
