"""`keras.ops`: NumPy's names for tensors, symbolic ones too. Each is gradtape's function of that name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import arrays, elementwise, gather_and_sort, linalg, nest, nn, reductions
from gradtape_standins.tensorflow.conversion import Holder, value_of
from gradtape_standins.tensorflow.errors import in_tensorflow_terms
from gradtape_standins.tensorflow.keras import activations
from gradtape_standins.tensorflow.keras.symbolic import KerasTensor, symbolic_operation
from gradtape_standins.tensorflow.tape import stop_gradient
from gradtape_standins.tensorflow.tensor import wrap


def _op(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`function`, of tensors of the stand-in; of symbolic tensors it gives a symbolic one."""

    @in_tensorflow_terms
    def op(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, KerasTensor) for x in nest.flatten((args, kwargs))):
            return symbolic_operation(op, args, kwargs, name)
        return function(*args, **kwargs)

    op.__name__ = op.__qualname__ = name
    op.__doc__ = function.__doc__
    return op


def _of_gradtape(name: str) -> Callable[..., Any]:
    """gradtape's function of that name, for tensors of the stand-in."""
    function = getattr(gt, name)

    def op(*args: Any, **kwargs: Any) -> Any:
        if name in _REDUCTIONS:  # gradtape has tuples of axes, as NumPy; here lists are taken too
            args = (*args[:1], *(tuple(x) if isinstance(x, list) else x for x in args[1:]))
            kwargs = {key: tuple(x) if key == "axis" and isinstance(x, list) else x for key, x in kwargs.items()}
        bare = nest.map_structure(_bare, (args, kwargs))
        return nest.map_structure(wrap, function(*bare[0], **bare[1]))

    op.__doc__ = f"gradtape's `{name}`, of tensors."
    return _op(op, name)


def _bare(x: Any) -> Any:
    return value_of(x) if isinstance(x, Holder) else x


_REDUCTIONS = frozenset({"all", "any", "max", "mean", "min", "prod", "std", "sum", "var"})
_NUMPY = ["abs", "absolute", "add", "all", "any", "arange", "arccos", "arccosh", "arcsin", "arcsinh"]
_NUMPY += ["arctan", "arctan2", "arctanh", "argmax", "argmin", "argsort", "ceil", "concatenate", "conj", "cos"]
_NUMPY += ["cosh", "cross", "cumprod", "cumsum", "diag", "diagonal", "divide", "dot", "einsum", "equal", "exp"]
_NUMPY += ["expand_dims", "expm1", "eye", "flip", "floor", "floor_divide", "full", "full_like", "greater"]
_NUMPY += ["greater_equal", "hstack", "imag", "inner", "isfinite", "isinf", "isnan", "less", "less_equal"]
_NUMPY += ["linspace", "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not"]
_NUMPY += ["logical_or", "logical_xor", "matmul", "max", "maximum", "mean", "median", "meshgrid", "min"]
_NUMPY += ["minimum", "mod", "moveaxis", "multiply", "nan_to_num", "negative", "not_equal", "ones"]
_NUMPY += ["ones_like", "outer", "pad", "power", "prod", "ravel", "real", "reciprocal", "repeat", "reshape"]
_NUMPY += ["roll", "round", "sign", "sin", "sinh", "sort", "split", "sqrt", "square", "squeeze", "stack"]
_NUMPY += ["std", "subtract", "sum", "swapaxes", "take", "take_along_axis", "tan", "tanh", "tensordot", "tile"]
_NUMPY += ["trace", "transpose", "tril", "triu", "true_divide", "var", "vdot", "vstack", "where", "zeros"]
_NUMPY += ["zeros_like"]
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cast": arrays.cast,
    "clip": elementwise.clip_by_value,
    "convert_to_tensor": arrays.convert_to_tensor,
    "elu": activations.elu,
    "erf": elementwise.erf,
    "gelu": lambda x, approximate=True: activations.gelu(x, approximate),  # unlike the activation
    "leaky_relu": activations.leaky_relu,
    "log_softmax": activations.log_softmax,
    "logsumexp": reductions.reduce_logsumexp,
    "relu": lambda x: activations.relu(x),
    "relu6": activations.relu6,
    "rsqrt": elementwise.rsqrt,
    "selu": activations.selu,
    "sigmoid": activations.sigmoid,
    "silu": activations.silu,
    "softmax": activations.softmax,
    "softplus": activations.softplus,
    "stop_gradient": stop_gradient,
    "swish": activations.silu,
    "top_k": nn.top_k,
    "unstack": arrays.unstack,
}
_ready: dict[str, Callable[..., Any]] = {}
_missing = missing(__name__)


def convert_to_numpy(x: Any) -> Any:
    """The value as an array."""
    return arrays.convert_to_tensor(x).numpy()


def shape(x: Any) -> tuple[Any, ...]:
    """The length of each axis."""
    return tuple(x.shape)


def one_hot(x: Any, num_classes: int, axis: int = -1, dtype: Any = "float32") -> Any:
    """A row with a one for each class number."""
    return _op(arrays.one_hot, "one_hot")(x, num_classes, axis=axis, dtype=dtype)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm along `axis`."""
    how: Callable[..., Any] = linalg.norm
    return _op(how, "norm")(x, "euclidean" if ord is None else ord, axis=axis, keepdims=keepdims)


def scatter_update(inputs: Any, indices: Any, updates: Any) -> Any:
    """`inputs` with `updates` at `indices`."""
    return gather_and_sort.tensor_scatter_nd_update(inputs, indices, updates)


def __getattr__(name: str) -> Any:
    if name not in _ready and name in _FUNCTIONS:
        _ready[name] = _op(_FUNCTIONS[name], name)
    if name not in _ready and name in _NUMPY:
        _ready[name] = _of_gradtape(name)
    return _ready[name] if name in _ready else _missing(name)


__all__ = sorted([*_NUMPY, *_FUNCTIONS, "convert_to_numpy", "norm", "one_hot", "scatter_update", "shape"])
