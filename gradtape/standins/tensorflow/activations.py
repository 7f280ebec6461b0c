"""TensorFlow's activation functions."""

from __future__ import annotations

from typing import Any

import gradtape as gt
from gradtape.standins.tensorflow.conversion import integers, value_of
from gradtape.standins.tensorflow.elementwise import log_sigmoid, sigmoid, softplus, softsign, tanh
from gradtape.standins.tensorflow.errors import in_tensorflow_terms
from gradtape.standins.tensorflow.tensor import check_kind, unary, wrap

functional = gt.nn.functional

relu = unary(gt.relu, "relu", "x where it is positive, else 0.", kinds="fiu")
relu6 = unary(functional.relu6, "relu6", "x limited to the range from 0 to 6.", kinds="f")
selu = unary(functional.selu, "selu", "The scaled exponential linear unit.", kinds="f")


@in_tensorflow_terms
def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Any:
    """x where it is positive, else `alpha` times x."""
    return wrap(functional.leaky_relu(value_of(features), float(alpha)))


@in_tensorflow_terms
def elu(features: Any, name: str | None = None) -> Any:
    """x where it is positive, else exp(x) - 1."""
    return wrap(functional.elu(value_of(features)))


@in_tensorflow_terms
def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Any:
    """x times the normal distribution function at x."""
    return wrap(functional.gelu(value_of(features), "tanh" if approximate else "none"))


@in_tensorflow_terms
def silu(features: Any, beta: float = 1.0) -> Any:
    """x times the sigmoid of `beta` x."""
    value = value_of(features)
    return wrap(functional.silu(value) if beta == 1.0 else value * gt.sigmoid(value * beta))


swish = silu


@in_tensorflow_terms
def crelu(features: Any, axis: int = -1, name: str | None = None) -> Any:
    """The positive and the negative part, joined."""
    value = value_of(features)
    return wrap(gt.concatenate([gt.relu(value), gt.relu(-value)], axis))


@in_tensorflow_terms
def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """exp(x) divided by its sum along `axis` (the last one by default).

    >>> from gradtape.standins import tensorflow as tf
    >>> tf.nn.softmax([1.0, 1.0]).numpy()
    array([0.5, 0.5], dtype=float32)
    """
    value = value_of(logits)
    check_kind(value, "f", "softmax")
    return wrap(gt.softmax(value, -1 if axis is None else integers(axis)))


@in_tensorflow_terms
def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """The logarithm of the softmax along `axis` (the last one by default)."""
    value = value_of(logits)
    check_kind(value, "f", "log_softmax")
    return wrap(gt.log_softmax(value, -1 if axis is None else integers(axis)))


__all__ = ["crelu", "elu", "gelu", "leaky_relu", "log_sigmoid", "log_softmax", "relu", "relu6", "selu", "sigmoid"]
__all__ += ["silu", "softmax", "softplus", "softsign", "swish", "tanh"]
