"""`tf.keras.constraints`: what is done to a variable after each step of an optimiser."""

from __future__ import annotations

from typing import Any

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.conversion import value_of
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.keras.constructor_arguments import KeepsConstructorArguments
from gradtape_standins.tensorflow.tensor import wrap


class Constraint(KeepsConstructorArguments):
    """The base of constraints: called with a variable's value, gives what it is to be."""

    def __call__(self, w: Any) -> Any:
        return w


def _norms(value: Any, axis: Any) -> Any:
    return gt.sqrt(gt.sum(gt.square(value), axis, keepdims=True))


class NonNeg(Constraint):
    """No number is negative.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.keras.constraints.NonNeg()([-1.0, 2.0]).numpy()
    array([0., 2.], dtype=float32)
    """

    def __call__(self, w: Any) -> Any:
        return wrap(gt.maximum(value_of(w), 0.0))


class MaxNorm(Constraint):
    """No norm along `axis` is greater than `max_value`."""

    def __init__(self, max_value: float = 2.0, axis: Any = 0) -> None:
        self.max_value, self.axis = max_value, axis

    def __call__(self, w: Any) -> Any:
        value = value_of(w)
        norms = _norms(value, self.axis)
        return wrap(value * (gt.clip(norms, 0.0, self.max_value) / (norms + 1e-7)))


class UnitNorm(Constraint):
    """Every norm along `axis` is one."""

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        value = value_of(w)
        return wrap(value / (_norms(value, self.axis) + 1e-7))


class MinMaxNorm(Constraint):
    """Norms along `axis` move at `rate` into the range from `min_value` to `max_value`."""

    def __init__(self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0) -> None:
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w: Any) -> Any:
        value = value_of(w)
        norms = _norms(value, self.axis)
        wanted = self.rate * gt.clip(norms, self.min_value, self.max_value) + (1.0 - self.rate) * norms
        return wrap(value * (wanted / (norms + 1e-7)))


non_neg, max_norm, unit_norm, min_max_norm = NonNeg, MaxNorm, UnitNorm, MinMaxNorm
_BY_NAME = {"non_neg": NonNeg, "max_norm": MaxNorm, "unit_norm": UnitNorm, "min_max_norm": MinMaxNorm}


def get(identifier: Any) -> Any:
    """The constraint of a name, or itself."""
    if not isinstance(identifier, str):
        return identifier() if isinstance(identifier, type) else identifier
    if identifier in _BY_NAME:
        return _BY_NAME[identifier]()
    raise ValueError(
        explained(f"there is no constraint {identifier!r}; there are: {', '.join(sorted(_BY_NAME))}", "one of these")
    )


__all__ = ["Constraint", "MaxNorm", "MinMaxNorm", "NonNeg", "UnitNorm", "get", "max_norm", "min_max_norm", "non_neg"]
__all__ += ["unit_norm"]
__getattr__ = missing(__name__)
