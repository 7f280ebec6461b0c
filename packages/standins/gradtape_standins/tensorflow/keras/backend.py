"""`tf.keras.backend`: the names of it that old code still uses, each the function of TensorFlow behind it."""

from __future__ import annotations

from typing import Any

from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import arrays, elementwise, linalg, nn, reductions
from gradtape_standins.tensorflow.keras import activations
from gradtape_standins.tensorflow.keras.default_dtype import floatx, set_floatx
from gradtape_standins.tensorflow.keras.variables import clear_names
from gradtape_standins.tensorflow.tape import stop_gradient
from gradtape_standins.tensorflow.variable import Variable


def epsilon() -> float:
    """The small number that keeps logarithms finite."""
    return 1e-7


def backend() -> str:
    """Whose tensors Keras computes with."""
    return "tensorflow"


def image_data_format() -> str:
    """Channels are the last axis of images."""
    return "channels_last"


def clear_session() -> None:
    """Begin to count the names of layers anew."""
    clear_names()


def int_shape(x: Any) -> tuple[Any, ...]:
    """The length of each axis."""
    return tuple(x.shape)


def get_value(x: Any) -> Any:
    """The value as an array."""
    return x.numpy()


def set_value(x: Any, value: Any) -> None:
    """Give a variable another value."""
    x.assign(value)


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Variable:
    """A variable."""
    return Variable(value, dtype=dtype or floatx(), name=name, constraint=constraint)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """A tensor."""
    return arrays.constant(value, dtype or floatx(), shape)


def clip(x: Any, min_value: Any, max_value: Any) -> Any:
    """Limited to a range."""
    return elementwise.clip_by_value(x, min_value, max_value)


def flatten(x: Any) -> Any:
    """All elements along one axis."""
    return arrays.reshape(x, [-1])


def concatenate(tensors: Any, axis: int = -1) -> Any:
    """Joined along `axis`."""
    return arrays.concat(tensors, axis)


def ndim(x: Any) -> int:
    """The number of axes."""
    return len(x.shape)


abs, exp, log, sqrt, square, sign = (
    elementwise.abs,
    elementwise.exp,
    elementwise.log,
    elementwise.sqrt,
    elementwise.square,
    elementwise.sign,
)
sin, cos, tanh, sigmoid, softplus = (
    elementwise.sin,
    elementwise.cos,
    elementwise.tanh,
    elementwise.sigmoid,
    elementwise.softplus,
)
pow, round, maximum, minimum = elementwise.pow, elementwise.round, elementwise.maximum, elementwise.minimum
equal, not_equal, greater, less = elementwise.equal, elementwise.not_equal, elementwise.greater, elementwise.less
greater_equal, less_equal = elementwise.greater_equal, elementwise.less_equal
sum, mean, prod, max, min = (
    reductions.reduce_sum,
    reductions.reduce_mean,
    reductions.reduce_prod,
    reductions.reduce_max,
    reductions.reduce_min,
)
std, var, any, all = (
    reductions.reduce_std,
    reductions.reduce_variance,
    reductions.reduce_any,
    reductions.reduce_all,
)
argmax, argmin, l2_normalize = reductions.argmax, reductions.argmin, reductions.l2_normalize
cast, expand_dims, squeeze, reshape, transpose, stack, tile = (
    arrays.cast,
    arrays.expand_dims,
    arrays.squeeze,
    arrays.reshape,
    arrays.transpose,
    arrays.stack,
    arrays.tile,
)
ones, zeros, ones_like, zeros_like, one_hot = (
    arrays.ones,
    arrays.zeros,
    arrays.ones_like,
    arrays.zeros_like,
    arrays.one_hot,
)
shape, eye, dot = arrays.shape, linalg.eye, linalg.matmul
elu, softmax = activations.elu, nn.softmax


def relu(x: Any, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Any:
    """x above `threshold`, at most `max_value`; below it `alpha` (x - threshold)."""
    return activations.relu(x, alpha, max_value, threshold)


__all__ = ["abs", "all", "any", "argmax", "argmin", "backend", "cast", "clear_session", "clip", "concatenate"]
__all__ += ["constant", "cos", "dot", "elu", "epsilon", "equal", "exp", "expand_dims", "eye", "flatten", "floatx"]
__all__ += ["set_floatx"]
__all__ += ["get_value", "greater", "greater_equal", "image_data_format", "int_shape", "l2_normalize", "less"]
__all__ += ["less_equal", "log", "max", "maximum", "mean", "min", "minimum", "ndim", "not_equal", "one_hot", "ones"]
__all__ += ["ones_like", "pow", "prod", "relu", "reshape", "round", "set_value", "shape", "sigmoid", "sign", "sin"]
__all__ += ["softmax", "softplus", "sqrt", "square", "squeeze", "stack", "std", "stop_gradient", "sum", "tanh"]
__all__ += ["tile", "transpose", "var", "variable", "zeros", "zeros_like"]
__getattr__ = missing(__name__)
