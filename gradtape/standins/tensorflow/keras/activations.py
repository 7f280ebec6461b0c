"""`tf.keras.activations`: functions by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape.standins.names import missing
from gradtape.standins.tensorflow.activations import (
    elu,
    gelu,
    leaky_relu,
    log_softmax,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softmax,
    softplus,
    softsign,
    swish,
    tanh,
)
from gradtape.standins.tensorflow.arrays import convert_to_tensor
from gradtape.standins.tensorflow.conversion import value_of
from gradtape.standins.tensorflow.elementwise import exp
from gradtape.standins.tensorflow.tensor import documented, wrap


def linear(x: Any) -> Any:
    """x itself."""
    return x


def _of_gradtape(name: str, document: str) -> Callable[..., Any]:
    """gradtape's activation of that name."""
    function = getattr(gt.nn.functional, name)

    def activation(x: Any) -> Any:
        return wrap(function(value_of(x)))

    return documented(activation, name, document, "")


celu = _of_gradtape("celu", "x where it is positive, else exp(x) - 1.")
hard_silu = hard_swish = _of_gradtape("hardswish", "x times a line between 0 and 1.")
hard_sigmoid = _of_gradtape("hardsigmoid", "A line between 0 and 1.")
hard_tanh = _of_gradtape("hardtanh", "Limited to the range from -1 to 1.")
mish = _of_gradtape("mish", "x * tanh(softplus(x)).")


def log_sigmoid(x: Any) -> Any:
    """The logarithm of the sigmoid function."""
    return -softplus(-convert_to_tensor(x))


exponential = exp
_BY_NAME: dict[str, Callable[..., Any]] = {
    "elu": elu,
    "exponential": exponential,
    "celu": celu,
    "gelu": gelu,
    "hard_sigmoid": hard_sigmoid,
    "hard_silu": hard_silu,
    "hard_swish": hard_swish,
    "hard_tanh": hard_tanh,
    "log_sigmoid": log_sigmoid,
    "mish": mish,
    "leaky_relu": leaky_relu,
    "linear": linear,
    "log_softmax": log_softmax,
    "relu": relu,
    "relu6": relu6,
    "selu": selu,
    "sigmoid": sigmoid,
    "silu": silu,
    "softmax": softmax,
    "softplus": softplus,
    "softsign": softsign,
    "swish": swish,
    "tanh": tanh,
}


def get(identifier: Any) -> Callable[..., Any]:
    """The activation of a name, or itself; none is the linear one."""
    if identifier is None:
        return linear
    if callable(identifier):
        found: Callable[..., Any] = identifier
        return found
    if identifier in _BY_NAME:
        return _BY_NAME[identifier]
    raise ValueError(f"there is no activation {identifier!r}; there are: {', '.join(sorted(_BY_NAME))}")


__all__ = ["elu", "exponential", "gelu", "get", "leaky_relu", "linear", "log_softmax", "relu", "relu6", "selu"]
__all__ += ["celu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "log_sigmoid", "mish"]
__all__ += ["sigmoid", "silu", "softmax", "softplus", "softsign", "swish", "tanh"]
__getattr__ = missing(__name__)
