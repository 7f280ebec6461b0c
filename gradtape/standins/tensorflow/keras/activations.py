"""`tf.keras.activations`: functions by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from gradtape.standins.tensorflow.elementwise import exp


def linear(x: Any) -> Any:
    """x itself."""
    return x


exponential = exp
_BY_NAME: dict[str, Callable[..., Any]] = {
    "elu": elu,
    "exponential": exponential,
    "gelu": gelu,
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
__all__ += ["sigmoid", "silu", "softmax", "softplus", "softsign", "swish", "tanh"]
__getattr__ = missing(__name__)
