"""Distributions of real numbers: PyTorch's parameters, and gradtape's densities, draws and summaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape import stats
from gradtape.errors import GradTapeError
from gradtape_standins.torch import methods
from gradtape_standins.torch.distributions import constraints
from gradtape_standins.torch.distributions.distribution import (
    Centred,
    Distribution,
    ExponentialFamily,
    broadcast_all,
    computed,
)
from gradtape_standins.torch.errors import as_torch
from gradtape_standins.torch.tensor import unwrap, wrap

_F = methods.FUNCTIONS


class Scalar(Distribution):
    """A distribution of one number that is a row of `gt.stats`."""

    _row: Any
    _region: Any
    _names: tuple[str, ...] = ()
    has_rsample = True

    def _arguments(self) -> tuple[Any, ...]:
        """The parameters as `gt.stats` takes them: shapes, location, scale."""
        return tuple(getattr(self, name) for name in self._names)

    @property
    def support(self) -> Any:
        """The values that have a density."""
        return self._region

    def _summary(self, name: str, label: str) -> Any:
        """What `gt.stats` knows of the distribution; where it has no formula, that is not implemented."""
        try:
            return wrap(getattr(self._row, name)(*unwrap(self._arguments())), label)
        except GradTapeError as error:
            raise as_torch(error, NotImplementedError if error.problem.code == "GT314" else None) from None

    @property
    def mean(self) -> Any:
        """The mean."""
        return self._summary("mean", "DivBackward0")

    @property
    def variance(self) -> Any:
        """The variance."""
        return self._summary("var", "PowBackward0")

    def entropy(self) -> Any:
        """The mean of minus the logarithm of the density."""
        return self._summary("entropy", "AddBackward0")

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density of a value."""
        if self._validate_args:
            self._validate_sample(value)
        return computed(self._row.logpdf, value, *self._arguments())

    def cdf(self, value: Any) -> Any:
        """The probability of a value up to this one."""
        if self._validate_args:
            self._validate_sample(value)
        return computed(self._row.cdf, value, *self._arguments(), label="MulBackward0")

    def icdf(self, value: Any) -> Any:
        """The value that is not exceeded with this probability."""
        return computed(self._row.ppf, value, *self._arguments(), label="AddBackward0")

    def _drawn(self, shape: tuple[int, ...], rng: Any) -> Any:
        return self._row.rvs(*unwrap(self._arguments()), size=shape, random_state=rng)


def _over_one(rate: Any) -> Any:
    return 1 / rate


class Normal(Centred, Scalar, ExponentialFamily):
    """The normal distribution.

    >>> from gradtape_standins import torch
    >>> torch.distributions.Normal(0.0, 2.0).log_prob(torch.tensor(1.0))
    tensor(-1.7371)
    """

    _row, _region, _names = stats.norm, constraints.real, ("loc", "scale")
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def stddev(self) -> Any:
        """The scale."""
        return self.scale


def _located(name: str, row: Any, doc: str, centred: bool = True) -> type[Scalar]:
    """A distribution with a location and a scale."""

    def __init__(self: Any, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        Distribution.__init__(self, self.loc.shape, validate_args=validate_args)

    body = {
        "_row": row,
        "_region": constraints.real,
        "_names": ("loc", "scale"),
        "arg_constraints": {"loc": constraints.real, "scale": constraints.positive},
        "__init__": __init__,
        "__doc__": doc,
        "__module__": __name__,
        "mode": property(lambda self: self.loc),
    }
    if centred:
        body["mean"] = property(lambda self: self.loc)
    return type(name, (Scalar,), body)


Laplace = _located("Laplace", stats.laplace, "The Laplace distribution.")
Cauchy = _located("Cauchy", stats.cauchy, "The Cauchy distribution, which has no mean.", centred=False)
Gumbel = _located("Gumbel", stats.gumbel_r, "The Gumbel distribution of largest values.", centred=False)


class Uniform(Scalar):
    """All numbers between `low` and `high` alike."""

    _row = stats.uniform
    arg_constraints = {"low": constraints.real, "high": constraints.real}  # noqa: RUF012

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args and not bool(_F["all"](self.low < self.high)):
            raise ValueError("Uniform is not defined when low >= high")

    def _arguments(self) -> tuple[Any, ...]:
        return self.low, self.high - self.low

    @property
    def support(self) -> Any:
        """The values that have a density."""
        return constraints.interval(self.low, self.high)


class _OfRates(Scalar, ExponentialFamily):
    """A distribution on the positive numbers whose scale is 1 / rate."""

    _region = constraints.nonnegative


class Exponential(_OfRates):
    """The exponential distribution."""

    _row = stats.expon
    arg_constraints = {"rate": constraints.positive}  # noqa: RUF012

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    def _arguments(self) -> tuple[Any, ...]:
        return 0.0, _over_one(self.rate)

    @property
    def mode(self) -> Any:
        """0."""
        return self.rate * 0


class Gamma(_OfRates):
    """The gamma distribution."""

    _row = stats.gamma
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}  # noqa: RUF012

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    def _arguments(self) -> tuple[Any, ...]:
        return self.concentration, 0.0, _over_one(self.rate)

    @property
    def mode(self) -> Any:
        """Where the density is highest."""
        return _F["clamp"]((self.concentration - 1) / self.rate, min=0)


class Chi2(Gamma):
    """The sum of the squares of `df` standard normal numbers."""

    arg_constraints = {"df": constraints.positive}  # noqa: RUF012

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        (given,) = broadcast_all(df)
        super().__init__(0.5 * given, 0.5, validate_args)

    @property
    def df(self) -> Any:
        """How many numbers."""
        return self.concentration * 2

    def _expandable(self) -> dict[str, int]:
        return {"concentration": 0, "rate": 0}


class InverseGamma(_OfRates):
    """The distribution of 1 / x, where x has a gamma distribution."""

    _row, _region = stats.invgamma, constraints.positive
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}  # noqa: RUF012

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._concentration, self._rate = broadcast_all(concentration, rate)
        super().__init__(self._rate.shape, validate_args=validate_args)

    concentration = property(lambda self: self._concentration)
    rate = property(lambda self: self._rate)

    def _arguments(self) -> tuple[Any, ...]:
        return self._concentration, 0.0, self._rate

    def _expandable(self) -> dict[str, int]:
        return {"_concentration": 0, "_rate": 0}


class Beta(Scalar, ExponentialFamily):
    """The beta distribution."""

    _row, _region, _names = stats.beta, constraints.unit_interval, ("_one", "_zero")
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}  # noqa: RUF012

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self._one, self._zero = broadcast_all(concentration1, concentration0)
        super().__init__(self._one.shape, validate_args=validate_args)

    def _check_arguments(self) -> None:
        checked = Gamma(self._one, self._zero)  # the same constraints: both above 0
        del checked

    concentration1 = property(lambda self: self._one)
    concentration0 = property(lambda self: self._zero)

    def _expandable(self) -> dict[str, int]:
        return {"_one": 0, "_zero": 0}


class StudentT(Scalar):
    """Student's distribution."""

    _row, _region, _names = stats.t, constraints.real, ("df", "loc", "scale")
    arg_constraints = {  # noqa: RUF012
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mode(self) -> Any:
        """The location."""
        return self.loc


class FisherSnedecor(Scalar):
    """The distribution of a ratio of mean squares."""

    _row, _region, _names = stats.f, constraints.positive, ("df1", "df2")
    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}  # noqa: RUF012

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(self.df1.shape, validate_args=validate_args)


def _held(parameter: str) -> property:
    return property(lambda self: self._held[parameter])


def _transformed(
    name: str,
    row: Any,
    doc: str,
    parameters: tuple[str, ...],
    region: Any,
    order: Callable[..., Any],
    shown: tuple[str, ...] = (),
) -> Any:
    """A distribution that PyTorch makes of another by a transformation; few of them show their parameters."""

    def __init__(self: Any, *args: Any, validate_args: bool | None = None, **named: Any) -> None:
        given = {**dict(zip(parameters, args)), **named}
        held = broadcast_all(*[given[parameter] for parameter in parameters])
        self._held = dict(zip(parameters, held, strict=True))
        vars(self).update({parameter: self._held[parameter] for parameter in shown})
        Distribution.__init__(self, held[0].shape, validate_args=validate_args)

    def check(self: Any) -> None:
        for parameter, constraint in self.arg_constraints.items():
            if not bool(_F["all"](constraint.check(self._held[parameter]))):
                raise ValueError(f"{name}: {parameter} has values that do not satisfy {constraint!r}")

    def expand(self: Any, batch_shape: Any, _instance: Any = None) -> Any:
        return type(self)(*[held.expand(tuple(batch_shape)) for held in self._held.values()])

    body: dict[str, Any] = {
        "_row": row,
        "_region": region,
        "__init__": __init__,
        "__doc__": doc,
        "__module__": __name__,
        "_check_arguments": check,
        "expand": expand,
        "_arguments": lambda self: order(*self._held.values()),
        "arg_constraints": {p: constraints.real if p == "loc" else constraints.positive for p in shown or parameters},
    }
    body |= {parameter: _held(parameter) for parameter in parameters}
    return type(name, (Scalar,), body)


LogNormal = _transformed(
    "LogNormal",
    stats.lognorm,
    "The distribution of exp(x), where x is normal.",
    ("loc", "scale"),
    constraints.positive,
    lambda loc, scale: (scale, 0.0, _F["exp"](loc)),
)
HalfNormal = _transformed(
    "HalfNormal",
    stats.halfnorm,
    "The distribution of the absolute value of a normal number.",
    ("scale",),
    constraints.nonnegative,
    lambda scale: (0.0, scale),
)
Pareto = _transformed(
    "Pareto",
    stats.pareto,
    "The Pareto distribution.",
    ("scale", "alpha"),
    constraints.positive,
    lambda scale, alpha: (alpha, 0.0, scale),
    ("alpha", "scale"),
)
Weibull = _transformed(
    "Weibull",
    stats.weibull_min,
    "The Weibull distribution.",
    ("scale", "concentration"),
    constraints.positive,
    lambda scale, concentration: (concentration, 0.0, scale),
    ("scale", "concentration"),
)


def _mode_of_beta(self: Any) -> Any:
    """Where the density is largest; NaN where both ends are."""
    above_one, above_zero = self.concentration1 - 1, self.concentration0 - 1
    inside = (above_one / (above_one + above_zero)).clamp(0, 1)
    return _F["where"]((above_one <= 0) & (above_zero <= 0), float("nan"), inside)


_MODES: dict[Any, Callable[[Any], Any]] = {
    Beta: _mode_of_beta,
    HalfNormal: lambda self: self.scale * 0,
    LogNormal: lambda self: _F["exp"](self.loc - self.scale**2),
    Pareto: lambda self: self.scale,
    Uniform: lambda self: self.low * float("nan"),
    Weibull: lambda self: self.scale * (1 - 1 / self.concentration).clamp(min=0) ** (1 / self.concentration),
}
for _kind, _mode in _MODES.items():
    _kind.mode = property(_mode, doc="The likeliest value.")
