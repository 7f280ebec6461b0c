"""Distributions of integers and categories, given by probabilities or by their logits."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape import stats
from gradtape_standins.torch import creation, methods
from gradtape_standins.torch.distributions import constraints
from gradtape_standins.torch.distributions.continuous import Scalar
from gradtape_standins.torch.distributions.distribution import Distribution, broadcast_all, computed
from gradtape_standins.torch.nn import functional
from gradtape_standins.torch.tensor import unwrap

_F = methods.FUNCTIONS


class _Counted(Scalar):
    """A row of `gt.stats` over the integers."""

    has_rsample = False

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of a value."""
        if self._validate_args:
            self._validate_sample(value)
        return computed(self._row.logpmf, value, *self._arguments())

    def _drawn(self, shape: tuple[int, ...], rng: Any) -> Any:
        given = unwrap(self._arguments())
        drawn = self._row.rvs(*given, size=shape, random_state=rng)
        return gt.astype(drawn, next(x.dtype for x in given if hasattr(x, "dtype") and x.dtype.kind == "f"))


class Poisson(_Counted):
    """How many events happen where `rate` are expected."""

    _row, _region, _names = stats.poisson, constraints.nonnegative_integer, ("rate",)
    arg_constraints = {"rate": constraints.nonnegative}  # noqa: RUF012

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mode(self) -> Any:
        """The likeliest number."""
        return _F["floor"](self.rate)


class _ByProbability(_Counted):
    """Given by `probs` or by `logits`; the other is computed when it is asked for, and is shown from then on."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # noqa: RUF012

    def _given(self, probs: Any, logits: Any, *others: Any) -> list[Any]:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given, *rest = broadcast_all(logits if probs is None else probs, *others)
        self.__dict__["logits" if probs is None else "probs"] = given
        return [given, *rest]

    @property
    def param_shape(self) -> Any:
        """The shape of the probabilities."""
        held: dict[str, Any] = self.__dict__
        return (held["probs"] if "probs" in held else held["logits"]).shape

    def __getattr__(self, name: str) -> Any:
        with gt.enable_grad():  # it is kept, and may be asked for first where a draw is made
            if name == "probs" and "logits" in self.__dict__:
                self.__dict__["probs"] = self._probs_of(self.__dict__["logits"])
            elif name == "logits" and "probs" in self.__dict__:
                self.__dict__["logits"] = self._logits_of(self.__dict__["probs"])
            else:
                raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return self.__dict__[name]

    def _probs_of(self, logits: Any) -> Any:
        return _F["sigmoid"](logits)

    def _logits_of(self, probs: Any) -> Any:
        return _F["logit"](_clamped(probs))


def _clamped(probs: Any) -> Any:
    """Probabilities away from 0 and 1 by what the type can tell apart."""
    small = float(np.finfo(probs._value.dtype).eps)
    return _F["clamp"](probs, small, 1 - small)


class Bernoulli(_ByProbability):
    """1 with a probability, else 0."""

    _row, _region, _names = stats.bernoulli, constraints.boolean, ("probs",)
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (given,) = self._given(probs, logits)
        super().__init__(given.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The probability of 1."""
        return self.probs

    @property
    def mode(self) -> Any:
        """The likelier value; NaN where both are alike."""
        likelier = (self.probs >= 0.5).to(self.probs.dtype)
        return _F["masked_fill"](likelier, self.probs == 0.5, float("nan"))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of a value."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -functional.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        """The mean of minus the logarithm of the probability."""
        return functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        """0 and 1."""
        return _support([0.0, 1.0], self.probs.dtype, self.batch_shape, expand)


def _support(values: list[Any], kind: Any, batch: Any, expand: bool) -> Any:
    listed = creation.tensor(values, dtype=kind).reshape((-1, *(1 for _ in batch)))
    return listed.expand((-1, *batch)) if expand else listed


class Geometric(_ByProbability):
    """How many trials fail before one succeeds."""

    _row, _region = stats.geom, constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (given,) = self._given(probs, logits)
        super().__init__(given.shape, validate_args=validate_args)

    def _arguments(self) -> tuple[Any, ...]:
        return self.probs, -1.0  # gt.stats counts the trial that succeeds

    @property
    def mode(self) -> Any:
        """0."""
        return self.probs * 0


class Binomial(_ByProbability):
    """How many of `total_count` trials succeed."""

    _row, _names = stats.binom, ("total_count", "probs")
    arg_constraints = {  # noqa: RUF012
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given, self.total_count = self._given(probs, logits, total_count)
        self.total_count = self.total_count.to(given.dtype)
        super().__init__(given.shape, validate_args=validate_args)

    @property
    def support(self) -> Any:
        """The values that are possible."""
        return constraints.integer_interval(0, self.total_count)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of a value."""
        logits = self.logits  # PyTorch computes with them, and shows them from then on
        del logits
        return super().log_prob(value)

    def _drawn(self, shape: tuple[int, ...], rng: Any) -> Any:
        chances = self.probs._value
        trials = gt.astype(self.total_count._value, np.int64)
        return gt.astype(gt.random.binomial(rng, trials, chances, shape), chances.dtype)

    def enumerate_support(self, expand: bool = True) -> Any:
        """0, 1, 2 and so on."""
        most = int(self.total_count.max())
        if not int(self.total_count.min()) == most:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return _support([float(n) for n in range(most + 1)], self.probs.dtype, self.batch_shape, expand)

    def entropy(self) -> Any:
        """The mean of minus the logarithm of the probability, over all values."""
        logs = self.log_prob(self.enumerate_support(False))
        return -_F["sum"](_F["exp"](logs) * logs, 0)


class NegativeBinomial(_ByProbability):
    """How many trials succeed before `total_count` have failed."""

    _row, _region = stats.nbinom, constraints.nonnegative_integer
    arg_constraints = {  # noqa: RUF012
        "total_count": constraints.nonnegative,
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given, self.total_count = self._given(probs, logits, total_count)
        self.total_count = self.total_count.to(given.dtype)
        super().__init__(given.shape, validate_args=validate_args)

    def _arguments(self) -> tuple[Any, ...]:
        return self.total_count, 1 - self.probs


class Categorical(_ByProbability):
    """Categories with probabilities (or logits) along the last axis.

    >>> from gradtape_standins import torch
    >>> torch.distributions.Categorical(torch.tensor([1.0, 3.0])).log_prob(torch.tensor(1))
    tensor(-0.2877)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (given,) = self._given(probs, logits)
        if not given.ndim:
            raise ValueError("`probs` (or `logits`) parameter must be at least one-dimensional.")
        if probs is None:
            self.logits = given - _F["logsumexp"](given, -1, keepdim=True)
        else:
            self.probs = given / _F["sum"](given, -1, keepdim=True)
        self._num_events = int(given.shape[-1])
        super().__init__(given.shape[:-1], validate_args=validate_args)

    def _probs_of(self, logits: Any) -> Any:
        return _F["softmax"](logits, -1)

    def _logits_of(self, probs: Any) -> Any:
        return _F["log"](_clamped(probs))

    def _expandable(self) -> dict[str, int]:
        return {"probs": 1, "logits": 1}

    @property
    def support(self) -> Any:
        """The numbers of the categories."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self) -> Any:
        """The shape of the probabilities."""
        return (self.probs if "probs" in self.__dict__ else self.logits).shape

    @property
    def mean(self) -> Any:
        """NaN: categories are no numbers."""
        return creation.full(tuple(self.batch_shape), float("nan"), dtype=self.probs.dtype)

    variance = mean

    @property
    def mode(self) -> Any:
        """The likeliest category."""
        return _F["argmax"](self.probs, -1)

    def _drawn(self, shape: tuple[int, ...], rng: Any) -> Any:
        with np.errstate(divide="ignore"):
            return gt.random.categorical(rng, gt.log(self.probs._value), shape)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of a category."""
        if self._validate_args:
            self._validate_sample(value)
        places = value.long().unsqueeze(-1)
        shape = np.broadcast_shapes(tuple(places.shape[:-1]), tuple(self.batch_shape))
        logits = self.logits.expand((*shape, self._num_events))
        return _F["squeeze"](_F["gather"](logits, -1, places.expand((*shape, 1))), -1)

    def entropy(self) -> Any:
        """The mean of minus the logarithm of the probability."""
        smallest = float(np.finfo(self.logits._value.dtype).min)
        return -_F["sum"](_F["clamp"](self.logits, min=smallest) * self.probs, -1)

    def enumerate_support(self, expand: bool = True) -> Any:
        """The numbers of all categories."""
        return _support(list(range(self._num_events)), None, self.batch_shape, expand)


class OneHotCategorical(Distribution):
    """Categories as vectors: a 1 among zeros."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012
    has_enumerate_support = True
    support: Any = constraints.one_hot

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(self._categorical.batch_shape, shape[-1:], validate_args)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    mean = property(lambda self: self._categorical.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))
    mode = property(lambda self: self._hot(self._categorical.mode))

    def _hot(self, places: Any) -> Any:
        return functional.one_hot(places, self.event_shape[0]).to(self.probs.dtype)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        return self._hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of a category."""
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(_F["argmax"](value, -1))

    def entropy(self) -> Any:
        """The mean of minus the logarithm of the probability."""
        return self._categorical.entropy()

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with parameters of a larger shape."""
        made = super().expand(batch_shape)
        made._categorical = self._categorical.expand(batch_shape)
        return made


class Multinomial(Distribution):
    """How often each category comes up in `total_count` draws."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count, self._categorical = total_count, Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    @property
    def support(self) -> Any:
        """Counts that add up."""
        return constraints.independent(constraints.integer_interval(0, self.total_count), 1)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws."""
        drawn = self._categorical.sample((self.total_count, *sample_shape))
        return _F["sum"](functional.one_hot(drawn, self.event_shape[0]), 0).to(self.probs.dtype)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of counts."""
        if self._validate_args:
            self._validate_sample(value)
        ways = _F["lgamma"](_F["sum"](value, -1) + 1) - _F["sum"](_F["lgamma"](value + 1), -1)
        return ways + _F["sum"](_F["xlogy"](value, self.probs), -1)
