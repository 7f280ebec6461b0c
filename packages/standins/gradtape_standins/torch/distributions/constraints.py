"""`torch.distributions.constraints`: what parameters have to be, and what values a distribution gives."""

from __future__ import annotations

from typing import Any

from gradtape_standins.missing_names import missing
from gradtape_standins.torch import methods

__all__ = [
    "Constraint",
    "boolean",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "less_than",
    "lower_cholesky",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "real",
    "real_vector",
    "simplex",
    "square",
    "symmetric",
    "unit_interval",
]

_F = methods.FUNCTIONS


class Constraint:
    """A region of numbers (or of vectors, along the last `event_dim` axes).

    >>> from gradtape_standins import torch
    >>> torch.distributions.constraints.positive.check(torch.tensor([1.0, -1.0]))
    tensor([ True, False])
    """

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """Whether each number (or vector) is in the region."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}()"


class _Real(Constraint):
    def check(self, value: Any) -> Any:
        return value == value


class _Bounded(Constraint):
    """Between bounds, either of which may be missing, and may belong to the region or not."""

    def __init__(
        self, low: Any = None, high: Any = None, open_low: bool = False, open_high: bool = False, integer: bool = False
    ) -> None:
        self.lower_bound, self.upper_bound = low, high
        self._open_low, self._open_high, self.is_discrete = open_low, open_high, integer

    def check(self, value: Any) -> Any:
        inside = value == value
        if self.lower_bound is not None:
            inside = inside & ((value > self.lower_bound) if self._open_low else (value >= self.lower_bound))
        if self.upper_bound is not None:
            inside = inside & ((value < self.upper_bound) if self._open_high else (value <= self.upper_bound))
        return inside & (value % 1 == 0) if self.is_discrete else inside

    def __repr__(self) -> str:
        kind = "IntegerInterval" if self.is_discrete else "Interval"
        if self.upper_bound is None:
            return f"GreaterThan{'' if self._open_low else 'Eq'}(lower_bound={self.lower_bound})"
        return f"{kind}(lower_bound={self.lower_bound}, upper_bound={self.upper_bound})"


class _Independent(Constraint):
    def __init__(self, base: Constraint, count: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base, count
        self.event_dim, self.is_discrete = base.event_dim + count, base.is_discrete

    def check(self, value: Any) -> Any:
        inside = self.base_constraint.check(value)
        for _ in range(self.reinterpreted_batch_ndims):
            inside = _F["all"](inside, -1)
        return inside


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Any) -> Any:
        return _F["all"](value >= 0, -1) & (_F["abs"](_F["sum"](value, -1) - 1) < 1e-6)


class _OneHot(Constraint):
    event_dim, is_discrete = 1, True

    def check(self, value: Any) -> Any:
        return _F["all"]((value == 0) | (value == 1), -1) & (_F["sum"](value, -1) == 1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        is_square = value.shape[-1] == value.shape[-2]
        return _F["all"](_F["all"](value == value, -1), -1) & is_square


class _Symmetric(_Square):
    def check(self, value: Any) -> Any:
        near = _F["abs"](value - _F["transpose"](value, -1, -2)) <= 1e-6 + 1e-5 * _F["abs"](value)
        return super().check(value) & _F["all"](_F["all"](near, -1), -1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        from gradtape_standins.torch import linalg

        return super().check(value) & _F["all"](linalg.eigvalsh(value) > 0, -1)


class _LowerCholesky(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        lower = _F["all"](_F["all"](_F["tril"](value) == value, -1), -1)
        return lower & _F["all"](_F["diagonal"](value, dim1=-2, dim2=-1) > 0, -1)


def greater_than(lower_bound: Any) -> Constraint:
    """Numbers above a bound."""
    return _Bounded(lower_bound, open_low=True)


def greater_than_eq(lower_bound: Any) -> Constraint:
    """Numbers from a bound on."""
    return _Bounded(lower_bound)


def less_than(upper_bound: Any) -> Constraint:
    """Numbers below a bound."""
    return _Bounded(high=upper_bound, open_high=True)


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Numbers between bounds, both included."""
    return _Bounded(lower_bound, upper_bound)


def half_open_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Numbers between bounds, the lower one included."""
    return _Bounded(lower_bound, upper_bound, open_high=True)


def integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Integers between bounds, both included."""
    return _Bounded(lower_bound, upper_bound, integer=True)


def independent(base_constraint: Constraint, reinterpreted_batch_ndims: int) -> Constraint:
    """Vectors (or more) of numbers that are each in a region."""
    return _Independent(base_constraint, reinterpreted_batch_ndims)


real = _Real()
real_vector = independent(real, 1)
boolean = integer_interval(0, 1)
nonnegative_integer = _Bounded(0, integer=True)
positive_integer = _Bounded(1, integer=True)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
simplex = _Simplex()
one_hot = _OneHot()
square = _Square()
symmetric = _Symmetric()
positive_definite = _PositiveDefinite()
lower_cholesky = _LowerCholesky()

__getattr__ = missing(__name__)
