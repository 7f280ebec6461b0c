"""Categories and bits with a temperature, whose draws move with the probabilities; and their straight-through kind."""

from __future__ import annotations

import math
from typing import Any

from gradtape_standins.torch import creation, methods
from gradtape_standins.torch.distributions import constraints
from gradtape_standins.torch.distributions.composed import TransformedDistribution
from gradtape_standins.torch.distributions.discrete import Bernoulli, Categorical, OneHotCategorical
from gradtape_standins.torch.distributions.distribution import Distribution, broadcast_all
from gradtape_standins.torch.distributions.transforms import ExpTransform, SigmoidTransform
from gradtape_standins.torch.nn import functional
from gradtape_standins.torch.random import numpy_generator

_F = methods.FUNCTIONS


def _uniform_like(tensor: Any, shape: tuple[int, ...]) -> Any:
    """Numbers between 0 and 1, never one of them, in the type of a tensor."""
    kind = tensor._value.dtype
    numbers = numpy_generator().random(shape)
    return creation.tensor(numbers.clip(1e-7, 1 - 1e-7).astype(kind))


class _Relaxed(Distribution):
    """What a distribution of bits or categories is on the whole line, before it is squeezed."""

    _base: Any
    has_rsample = True
    probs = property(lambda self: self._base.probs)
    logits = property(lambda self: self._base.logits)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws, without gradients."""
        return self.rsample(sample_shape).detach()


class LogitRelaxedBernoulli(_Relaxed):
    """The logit of a relaxed bit."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # noqa: RUF012
    support: Any = constraints.real

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        self.temperature = temperature
        self._base = Bernoulli(probs, logits, validate_args)
        super().__init__(self._base.batch_shape, validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws that move with the parameters."""
        logits = self.logits
        noise = _uniform_like(logits, self._extended_shape(sample_shape))
        return (_F["log"](noise) - _F["log1p"](-noise) + logits) / self.temperature

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        logits, value = broadcast_all(self.logits, value)
        apart = logits - value * self.temperature
        return _F["log"](creation.as_tensor(self.temperature)) + apart - 2 * functional.softplus(apart)


class ExpRelaxedCategorical(_Relaxed):
    """The logarithm of a relaxed category."""

    support: Any = constraints.real_vector

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        self.temperature = temperature
        self._base = Categorical(probs, logits, validate_args)
        super().__init__(self._base.batch_shape, (self._base.logits.shape[-1],), validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws that move with the parameters."""
        noise = _uniform_like(self.logits, self._extended_shape(sample_shape))
        scores = (self.logits - _F["log"](-_F["log"](noise))) / self.temperature
        return functional.log_softmax(scores, -1)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        count = self.event_shape[0]
        logits, value = broadcast_all(self.logits, value)
        temperature = creation.as_tensor(self.temperature, dtype=value.dtype)
        score = logits - value * temperature
        score = _F["sum"](score - _F["logsumexp"](score, -1, True), -1)
        return score + math.lgamma(count) + (count - 1) * _F["log"](temperature)


class _Squeezed(TransformedDistribution):
    """A relaxed distribution on its own values: bits between 0 and 1, or proportions that sum to 1."""

    _kind: Any
    _squeeze: Any

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        base = type(self)._kind(temperature, probs, logits, validate_args)
        super().__init__(base, [type(self)._squeeze()], validate_args=validate_args)

    temperature = property(lambda self: self.base_dist.temperature)
    probs = property(lambda self: self.base_dist.probs)
    logits = property(lambda self: self.base_dist.logits)


class RelaxedBernoulli(_Squeezed):
    """A bit that may be anything between 0 and 1; the lower the temperature, the nearer to one of them."""

    _kind, _squeeze = LogitRelaxedBernoulli, SigmoidTransform
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # noqa: RUF012


class RelaxedOneHotCategorical(_Squeezed):
    """A category as proportions; the lower the temperature, the nearer to a single 1."""

    _kind, _squeeze = ExpRelaxedCategorical, ExpTransform
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012
    support: Any = constraints.simplex


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """A category as a single 1, whose gradient is that of the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws that have the gradient of the probabilities."""
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
