"""Distributions of numbers and vectors that are seldom asked for: made of others, or of a formula of their own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradtape as gt
from gradtape_standins.torch import creation, methods
from gradtape_standins.torch.distributions import constraints
from gradtape_standins.torch.distributions.composed import TransformedDistribution
from gradtape_standins.torch.distributions.continuous import Cauchy, Uniform
from gradtape_standins.torch.distributions.distribution import Centred, broadcast_all, computed
from gradtape_standins.torch.distributions.multivariate import MultivariateNormal
from gradtape_standins.torch.distributions.transforms import AbsTransform, AffineTransform, PowerTransform

_F = methods.FUNCTIONS


class HalfCauchy(TransformedDistribution):
    """The absolute value of a Cauchy number."""

    arg_constraints = {"scale": constraints.positive}  # noqa: RUF012
    support: Any = constraints.nonnegative
    scale = property(lambda self: self.base_dist.scale)

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """There is none: infinite."""
        return creation.full(tuple(self._extended_shape()), math.inf)

    @property
    def mode(self) -> Any:
        """0."""
        return creation.zeros_like(self.scale)

    @property
    def variance(self) -> Any:
        """There is none: infinite."""
        return self.mean

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        density = self.base_dist.log_prob(value) + math.log(2)
        return _F["where"](value >= 0, density, -math.inf)

    def cdf(self, value: Any) -> Any:
        """The probability of a value up to this one."""
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Any) -> Any:
        """The value that is not exceeded with this probability."""
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Any:
        """The mean of minus the logarithm of the density."""
        return self.base_dist.entropy() - math.log(2)


class VonMises(Centred):
    """Angles around `loc`."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}  # noqa: RUF012
    support: Any = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        size = computed(lambda k: gt.log(gt.special.i0e(k)) + k, self.concentration)
        return self.concentration * _F["cos"](value - self.loc) - math.log(2 * math.pi) - size

    @property
    def variance(self) -> Any:
        """The circular variance."""
        return computed(lambda k: 1 - gt.special.i1e(k) / gt.special.i0e(k), self.concentration)

    def _drawn(self, shape: tuple[int, ...], rng: Any) -> Any:
        drawn = rng.vonmises(self.loc._numbers, self.concentration._numbers, shape)
        return np.asarray(drawn, self.loc._numbers.dtype)


class Kumaraswamy(TransformedDistribution):
    """Numbers between 0 and 1, nearly as by a beta distribution, with a simple cumulative probability."""

    arg_constraints = {  # noqa: RUF012
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support: Any = constraints.unit_interval

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(creation.zeros_like(self.concentration0), creation.ones_like(self.concentration0), False)
        steps = [
            PowerTransform(1 / self.concentration0),
            AffineTransform(1.0, -1.0),
            PowerTransform(1 / self.concentration1),
        ]
        super().__init__(base, steps, validate_args=validate_args)

    def _moment(self, order: int) -> Any:
        a, b = self.concentration1, self.concentration0
        lgamma = _F["lgamma"]
        share = 1 + order / a
        return _F["exp"](_F["log"](b) + lgamma(share) + lgamma(b) - lgamma(share + b))

    @property
    def mean(self) -> Any:
        """The mean."""
        return self._moment(1)

    @property
    def variance(self) -> Any:
        """The variance."""
        return self._moment(2) - self.mean**2

    @property
    def mode(self) -> Any:
        """The likeliest value, where there is one inside."""
        a, b = self.concentration1, self.concentration0
        inside = ((a - 1) / (a * b - 1)) ** (1 / a)
        return _F["where"]((a < 1) | (b < 1), math.nan, inside)

    def entropy(self) -> Any:
        """The mean of minus the logarithm of the density."""
        a, b = self.concentration1, self.concentration0
        harmonic = _F["digamma"](b + 1) + float(np.euler_gamma)
        return (1 - 1 / b) + (1 - 1 / a) * harmonic - _F["log"](a) - _F["log"](b)


class LowRankMultivariateNormal(MultivariateNormal):
    """The normal distribution of vectors with the covariance W W^T + diag(d)."""

    arg_constraints = {  # noqa: RUF012
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        self.cov_factor, self.cov_diag = cov_factor, cov_diag
        spread = _F["matmul"](cov_factor, _F["transpose"](cov_factor, -1, -2)) + _F["diag_embed"](cov_diag)
        super().__init__(loc, spread, validate_args=validate_args)

    def _expandable(self) -> dict[str, int]:
        return {**super()._expandable(), "cov_factor": 2, "cov_diag": 1}
