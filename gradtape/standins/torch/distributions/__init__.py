"""`torch.distributions`: gradtape's densities, draws and summaries under PyTorch's names."""

from __future__ import annotations

from gradtape.standins.names import missing
from gradtape.standins.torch.distributions import constraints, kl, transforms
from gradtape.standins.torch.distributions.composed import Independent, MixtureSameFamily, TransformedDistribution
from gradtape.standins.torch.distributions.continuous import (
    Beta,
    Cauchy,
    Chi2,
    Exponential,
    FisherSnedecor,
    Gamma,
    Gumbel,
    HalfNormal,
    InverseGamma,
    Laplace,
    LogNormal,
    Normal,
    Pareto,
    StudentT,
    Uniform,
    Weibull,
)
from gradtape.standins.torch.distributions.discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    Poisson,
)
from gradtape.standins.torch.distributions.distribution import Distribution, ExponentialFamily
from gradtape.standins.torch.distributions.kl import kl_divergence, register_kl
from gradtape.standins.torch.distributions.multivariate import Dirichlet, MultivariateNormal
from gradtape.standins.torch.distributions.transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
    Transform,
)

__all__ = [
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Laplace",
    "LogNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "Pareto",
    "Poisson",
    "PowerTransform",
    "SigmoidTransform",
    "SoftplusTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "Weibull",
    "constraints",
    "kl",
    "kl_divergence",
    "register_kl",
    "transforms",
]
__getattr__ = missing(__name__)
