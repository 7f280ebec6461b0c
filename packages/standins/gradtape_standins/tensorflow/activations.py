"""TensorFlow's activation functions."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape_standins.tensorflow.conversion import Holder, integers, tensors, value_of
from gradtape_standins.tensorflow.elementwise import log_sigmoid, sigmoid, softplus, softsign, tanh
from gradtape_standins.tensorflow.errors import in_tensorflow_terms
from gradtape_standins.tensorflow.tensor import check_kind, unary, wrap

functional = gt.nn.functional

relu = unary(gt.relu, "relu", "x where it is positive, else 0.", kinds="fiu", parameter="features")
relu6 = unary(functional.relu6, "relu6", "x limited to the range from 0 to 6.", kinds="f", parameter="features")
selu = unary(lambda x: scaled_elu(x), "selu", "The scaled exponential linear unit.", kinds="f", parameter="features")
_SCALE = 1.0507009873554805  # of selu, for positive numbers


def scaled_elu(x: Any) -> Any:
    """gradtape's selu, whose slope at 0 is that of the positive side, as in TensorFlow."""
    return gt.where(gt.less(x, 0), functional.selu(x), x * _SCALE)


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
def silu(features: Any, beta: Any = 1.0) -> Any:
    """x times the sigmoid of `beta` x; both have gradients."""
    if not isinstance(beta, Holder) and np.ndim(beta) == 0 and beta == 1:
        return wrap(functional.silu(value_of(features)))
    value, factor = tensors(features, beta, "silu")
    return wrap(value * gt.sigmoid(value * factor))


swish = silu


@in_tensorflow_terms
def crelu(features: Any, axis: int = -1, name: str | None = None) -> Any:
    """The positive and the negative part, joined."""
    value = value_of(features)
    return wrap(gt.concatenate([gt.relu(value), gt.relu(-value)], axis))


@in_tensorflow_terms
def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """exp(x) divided by its sum along `axis` (the last one by default).

    >>> from gradtape_standins import tensorflow as tf
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
