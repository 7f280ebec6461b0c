"""`torch.distributions`: gradtape's densities, draws and summaries under PyTorch's names."""

from __future__ import annotations

from gradtape_standins.missing_names import missing
from gradtape_standins.torch.distributions import constraint_registry, constraints, kl, transforms
from gradtape_standins.torch.distributions.composed import Independent, MixtureSameFamily, TransformedDistribution
from gradtape_standins.torch.distributions.constraint_registry import biject_to, transform_to
from gradtape_standins.torch.distributions.continuous import (
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
from gradtape_standins.torch.distributions.discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    Poisson,
)
from gradtape_standins.torch.distributions.distribution import Distribution, ExponentialFamily
from gradtape_standins.torch.distributions.kl import kl_divergence, register_kl
from gradtape_standins.torch.distributions.less_common import (
    HalfCauchy,
    Kumaraswamy,
    LowRankMultivariateNormal,
    VonMises,
)
from gradtape_standins.torch.distributions.multivariate import Dirichlet, MultivariateNormal
from gradtape_standins.torch.distributions.relaxed import (
    OneHotCategoricalStraightThrough,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from gradtape_standins.torch.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    LowerCholeskyTransform,
    PowerTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from gradtape_standins.torch.module_aliases import modules_of

__all__ = [
    "AbsTransform",
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
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Kumaraswamy",
    "Laplace",
    "LogNormal",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "biject_to",
    "constraint_registry",
    "constraints",
    "identity_transform",
    "kl",
    "kl_divergence",
    "register_kl",
    "transform_to",
    "transforms",
]
globals().update(modules_of(__name__))
__getattr__ = missing(__name__)
