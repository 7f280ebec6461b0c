"""`tf.keras.activations`: functions by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.activations import scaled_elu
from gradtape_standins.tensorflow.conversion import tensors, value_of
from gradtape_standins.tensorflow.errors import in_tensorflow_terms
from gradtape_standins.tensorflow.tensor import check_kind, documented, wrap

functional = gt.nn.functional


def linear(x: Any) -> Any:
    """x itself."""
    return x


def _of_gradtape(
    function: Callable[..., Any], name: str, document: str, kinds: str = "f", **defaults: Any
) -> Callable[..., Any]:
    """An activation: gradtape's function, with the parameters of Keras and their defaults in this order."""

    @in_tensorflow_terms
    def activation(x: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) > len(defaults) or not set(kwargs) <= set(list(defaults)[len(args) :]):
            accepted = ", ".join(["x", *(f"{key}={value!r}" for key, value in defaults.items())])
            given = ", ".join([*map(repr, args), *(f"{key}={value!r}" for key, value in kwargs.items())])
            raise TypeError(f"{name}() takes ({accepted}); behind x it was given ({given})")
        value = value_of(x)
        check_kind(value, kinds, name)
        return wrap(function(value, *({**defaults, **dict(zip(defaults, args)), **kwargs}.values())))

    return documented(activation, name, document, "")


celu = _of_gradtape(functional.celu, "celu", "x where it is positive, else alpha (exp(x / alpha) - 1).", alpha=1.0)
elu = _of_gradtape(functional.elu, "elu", "x where it is positive, else alpha (exp(x) - 1).", alpha=1.0)
exponential = _of_gradtape(gt.exp, "exponential", "The exponential.", "fc")
gelu = _of_gradtape(
    lambda x, approximate: functional.gelu(x, "tanh" if approximate else "none"),
    "gelu",
    "x times the normal distribution function at x.",
    approximate=False,
)
hard_silu = hard_swish = _of_gradtape(functional.hardswish, "hard_silu", "x times a line between 0 and 1.")
hard_sigmoid = _of_gradtape(functional.hardsigmoid, "hard_sigmoid", "A line between 0 and 1.")
hard_tanh = _of_gradtape(lambda x: gt.clip(x, -1.0, 1.0), "hard_tanh", "Limited to the range from -1 to 1.")
leaky_relu = _of_gradtape(
    functional.leaky_relu, "leaky_relu", "x where it is positive, else `negative_slope` times x.", negative_slope=0.2
)
log_sigmoid = _of_gradtape(lambda x: -gt.softplus(-x), "log_sigmoid", "The logarithm of the sigmoid function.")
log_softmax = _of_gradtape(gt.log_softmax, "log_softmax", "The logarithm of the softmax along `axis`.", axis=-1)
mish = _of_gradtape(functional.mish, "mish", "x * tanh(softplus(x)).")
relu6 = _of_gradtape(functional.relu6, "relu6", "x limited to the range from 0 to 6.")
selu = _of_gradtape(scaled_elu, "selu", "The scaled exponential linear unit.")
sigmoid = _of_gradtape(gt.sigmoid, "sigmoid", "1 / (1 + exp(-x)).")
silu = swish = _of_gradtape(functional.silu, "silu", "x times the sigmoid of x.")
softmax = _of_gradtape(gt.softmax, "softmax", "exp(x) divided by its sum along `axis`.", axis=-1)
softplus = _of_gradtape(gt.softplus, "softplus", "log(1 + exp(x)).")
softsign = _of_gradtape(functional.softsign, "softsign", "x / (1 + |x|).")
tanh = _of_gradtape(gt.tanh, "tanh", "The hyperbolic tangent.", "fc")


@in_tensorflow_terms
def relu(x: Any, negative_slope: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Any:
    """x above `threshold`, at most `max_value`; below it `negative_slope` (x - threshold).

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.keras.activations.relu(tf.constant([-4.0, 1.0, 9.0]), negative_slope=0.5, max_value=6.0).numpy()
    array([-2.,  1.,  6.], dtype=float32)
    """
    value = value_of(x)
    check_kind(value, "fiu", "relu")
    if not negative_slope and max_value is None and not threshold:
        return wrap(gt.relu(value))
    if max_value is None and not threshold:
        return wrap(functional.leaky_relu(value, float(negative_slope)))
    bound = tensors(wrap(value), threshold, "relu")[1]
    if threshold:
        made = gt.where(gt.greater(value, bound), value, gt.zeros_like(value))
    elif max_value == 6:  # Keras has this by relu6, whose slope at 6 is 0
        made, max_value = functional.relu6(value), None
    else:
        made = gt.relu(value)
    if max_value is not None:
        top = tensors(wrap(value), max_value, "relu")[1]
        made = gt.clip(made, gt.zeros_like(top), top)
    if negative_slope:
        made = made - float(negative_slope) * gt.relu(bound - value)
    return wrap(made)


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
