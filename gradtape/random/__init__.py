"""Random numbers from NumPy's generators, with derivatives in the parameters of their distributions.

The generator is the first argument, so that `gt.random.normal(rng, loc, scale, size)` reads like NumPy's
`rng.normal(loc, scale, size)`, and has to be given: hidden randomness can be neither repeated nor explained. From the
same state come the draws that the generator's own method gives.

>>> import numpy as np, gradtape as gt
>>> rng = np.random.default_rng(0)
>>> scale = gt.tensor([1.0, 2.0], requires_grad=True)
>>> gt.random.normal(rng, 0.0, scale).sum().backward()
>>> scale.grad
Tensor([ 0.12573022, -0.13210486])
"""

from gradtape.random.continuous import (
    beta,
    cauchy,
    chisquare,
    dirichlet,
    exponential,
    gamma,
    gumbel,
    gumbel_softmax,
    half_normal,
    inverse_gamma,
    laplace,
    logistic,
    lognormal,
    multivariate_normal,
    normal,
    pareto,
    rayleigh,
    student_t,
    uniform,
    weibull,
)
from gradtape.random.discrete import (
    bernoulli,
    binomial,
    categorical,
    choice,
    geometric,
    integers,
    negative_binomial,
    permutation,
    poisson,
)
from gradtape.random.drawing import ParameterError

__all__ = [
    "ParameterError",
    "bernoulli",
    "beta",
    "binomial",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "exponential",
    "gamma",
    "geometric",
    "gumbel",
    "gumbel_softmax",
    "half_normal",
    "integers",
    "inverse_gamma",
    "laplace",
    "logistic",
    "lognormal",
    "multivariate_normal",
    "negative_binomial",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "rayleigh",
    "student_t",
    "uniform",
    "weibull",
]
