"""Distributions made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtape_standins.torch import methods
from gradtape_standins.torch.distributions import constraints
from gradtape_standins.torch.distributions.discrete import Categorical
from gradtape_standins.torch.distributions.distribution import Distribution
from gradtape_standins.torch.distributions.transforms import ComposeTransform, Transform
from gradtape_standins.torch.tensor import Tensor

_F = methods.FUNCTIONS


def sum_of_last(value: Any, count: int) -> Any:
    """The sum over the last `count` axes."""
    return value if not count else _F["sum"](value, tuple(range(-count, 0)))


class Independent(Distribution):
    """A distribution whose last axes of parameters are those of one draw."""

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        shape, count = tuple(base_distribution.batch_shape), reinterpreted_batch_ndims
        if count > len(shape):
            raise ValueError(
                f"Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual {count} vs "
                f"{len(shape)}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, count
        kept = len(shape) - count
        super().__init__(shape[:kept], (*shape[kept:], *base_distribution.event_shape), validate_args)

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    @property
    def support(self) -> Any:
        """The values that have a density."""
        return constraints.independent(self.base_dist.support, self.reinterpreted_batch_ndims)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draws, without gradients."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draws that move with the parameters."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density of a draw: the sum over its numbers."""
        return sum_of_last(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        """The sum of the entropies."""
        return sum_of_last(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with parameters of a larger shape."""
        own = len(self.event_shape) - len(self.base_dist.event_shape)
        base = self.base_dist.expand((*batch_shape, *self.event_shape[:own]))
        return Independent(base, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamily(Distribution):
    """One of several distributions of a family, chosen by a category: they are along the last axis of the batch."""

    def __init__(
        self, mixture_distribution: Any, component_distribution: Distribution, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an instance of torch.distributions.Categorical")
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        self._events = len(component_distribution.event_shape)
        super().__init__(component_distribution.batch_shape[:-1], component_distribution.event_shape, validate_args)

    @property
    def support(self) -> Any:
        """The values that have a density."""
        return self.component_distribution.support

    def _weights(self) -> Any:
        probs = self.mixture_distribution.probs
        return probs.reshape((*probs.shape, *(1 for _ in range(self._events))))

    @property
    def mean(self) -> Any:
        """The mean of the means."""
        return _F["sum"](self._weights() * self.component_distribution.mean, -1 - self._events)

    @property
    def variance(self) -> Any:
        """The mean of the variances, and the variance of the means."""
        apart = self.component_distribution.mean - self.mean.unsqueeze(-1 - self._events)
        spread = self.component_distribution.variance + apart**2
        return _F["sum"](self._weights() * spread, -1 - self._events)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        each = self.component_distribution.log_prob(value.unsqueeze(-1 - self._events))
        return _F["logsumexp"](each + _F["log_softmax"](self.mixture_distribution.logits, -1), -1)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws, without gradients."""
        chosen = self.mixture_distribution.sample(sample_shape)
        each = self.component_distribution.sample(sample_shape)
        place = each.ndim - 1 - self._events
        chosen = chosen.reshape((*chosen.shape, 1, *(1 for _ in range(self._events))))
        return _F["squeeze"](_F["gather"](each, place, chosen.expand(_one_at(each.shape, place))), place)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"


def _one_at(shape: Any, place: int) -> tuple[int, ...]:
    return tuple(1 if axis == place else length for axis, length in enumerate(shape))


class TransformedDistribution(Distribution):
    """The distribution of a function of draws of another."""

    def __init__(
        self, base_distribution: Distribution, transforms: Transform | Sequence[Transform], **options: Any
    ) -> None:
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        self.base_dist = base_distribution
        super().__init__(base_distribution.batch_shape, base_distribution.event_shape, options.get("validate_args"))

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    @property
    def support(self) -> Any:
        """The values that have a density."""
        return self.transforms[-1].codomain if self.transforms else self.base_dist.support

    def _transform(self) -> ComposeTransform:
        return ComposeTransform(self.transforms)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws, without gradients."""
        return self._transform()(self.base_dist.sample(sample_shape)).detach()

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws that move with the parameters."""
        return self._transform()(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """The density of the other distribution, over how the function stretches there."""
        if self._validate_args:
            self._validate_sample(value)
        x = self._transform().inv(value)
        stretch = self._transform().log_abs_det_jacobian(x, value)
        return self.base_dist.log_prob(x) - sum_of_last(stretch, len(self.event_shape))

    def cdf(self, value: Any) -> Any:
        """The probability of a value up to this one, for functions that grow."""
        return self.base_dist.cdf(self._transform().inv(value))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
