"""`torch.nn.functional`: the operations of neural networks, which are gradtape's own under nearly the same names."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import Tensor as Value
from gradtape.extend import concrete
from gradtape.nn import functional as ours
from gradtape_standins.missing_names import missing
from gradtape_standins.torch.arithmetic import FUNCTIONS as ARITHMETIC
from gradtape_standins.torch.arithmetic import through_nan
from gradtape_standins.torch.nn.composed_functions import *  # noqa: F403  (its names are all torch's)
from gradtape_standins.torch.nn.composed_losses import *  # noqa: F403  (its names are all torch's)
from gradtape_standins.torch.nn.loss_functions import *  # noqa: F403
from gradtape_standins.torch.nn.vision_functions import *  # noqa: F403
from gradtape_standins.torch.random import numpy_generator
from gradtape_standins.torch.tensor import Tensor
from gradtape_standins.torch.wrapping import Function, function, one_type

# -- activations

_ACTIVATIONS: dict[str, str] = {
    "celu": "Celu",
    "elu": "Elu",
    "gelu": "Gelu",
    "hardshrink": "Hardshrink",
    "hardsigmoid": "Hardsigmoid",
    "hardswish": "Hardswish",
    "hardtanh": "Hardtanh",
    "leaky_relu": "LeakyRelu",
    "logsigmoid": "LogSigmoid",
    "mish": "Mish",
    "prelu": "PreluKernel",
    "relu6": "Hardtanh",
    "selu": "Elu",
    "silu": "Silu",
    "softplus": "Softplus",
    "softshrink": "Softshrink",
    "softsign": "Div",
    "threshold": "Threshold",
}


_SLOPES_AT_NAN = {
    "celu": 1.0,
    "elu": 1.0,
    "hardshrink": 1.0,
    "hardswish": 1.0,
    "hardtanh": 1.0,
    "relu6": 1.0,
    "selu": 1.0507009873554805,
    "softshrink": 1.0,
    "threshold": 1.0,
}
"""The derivatives that PyTorch takes at NaN, where all comparisons are false: of the others, it is NaN."""


def _activation(name: str, label: str) -> Function:
    compute = getattr(ours, name)
    slope = _SLOPES_AT_NAN.get(name)
    followed = compute if slope is None else through_nan(compute, slope)
    names = list(inspect.signature(compute).parameters)

    def activation(input: Any, *args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        if len(args) >= len(names):  # the last one by position is `inplace`
            args = args[: len(names) - 1]
        return followed(input, *args, **kwargs)

    activation.__name__, activation.__doc__ = name, compute.__doc__.partition("\n")[0]
    plainly = function(label)(activation)

    def acting(input: Any, *args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        result = plainly(input, *args, **kwargs)
        return input._write(result._value, f"{name}(inplace=True)") if inplace else result

    acting.__name__, acting.__doc__ = name, activation.__doc__
    return acting


globals().update({name: _activation(name, label) for name, label in _ACTIVATIONS.items()})
globals().update({name: ARITHMETIC[name] for name in ("softmax", "log_softmax", "softmin", "sigmoid", "tanh")})


def tanhshrink(input: Any) -> Any:
    """x - tanh(x)."""
    return input - ARITHMETIC["tanh"](input)


def relu(input: Any, inplace: bool = False) -> Any:
    """max(x, 0)."""
    result = ARITHMETIC["relu"](input)
    return input._write(result._value, "relu(inplace=True)") if inplace else result


def _written(name: str) -> Function:
    def writing(input: Any, *args: Any, **kwargs: Any) -> Any:
        return globals()[name](input, *args, inplace=True, **kwargs)

    writing.__name__, writing.__doc__ = f"{name}_", f"`{name}`, in place."
    return writing


globals().update({f"{n}_": _written(n) for n in ("relu", "celu", "elu", "hardtanh", "leaky_relu", "selu", "threshold")})


@function("Glu")
def glu(input: Any, dim: int = -1) -> Any:
    """The first half along `dim`, times the sigmoid of the second."""
    return ours.glu(input, dim)


@function("Softmax")
def gumbel_softmax(logits: Any, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Any:
    """A random distribution from logits, or with `hard` one of the classes; the gradient is the soft one's."""
    noise = numpy_generator().gumbel(size=logits.shape).astype(logits.dtype)
    soft = gt.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    top = gt.equal(gt.stop_gradient(soft), gt.max(gt.stop_gradient(soft), dim, keepdims=True))
    return gt.astype(top, soft.dtype) - gt.stop_gradient(soft) + soft


# -- layers


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    """input @ weight.T + bias."""
    if not isinstance(input, Tensor):
        raise TypeError(f"linear(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if input.ndim == 2:
        return (_mm if bias is None else _addmm)(input, weight, bias)
    return _linear(input, weight, bias)


def _product(input: Any, weight: Any, bias: Any) -> Any:
    one_type("linear", input=input, weight=weight)
    return ours.linear(input, weight, bias)


_addmm = function("Addmm")(_product)
_mm = function("Mm")(_product)
_LINEAR = {(1, True): "SqueezeBackward4", (3, True): "UnsafeView"}
_linear = function("View", lambda input, weight, bias: _LINEAR.get((len(input.shape), bias is None), 0))(_product)


@function("Add")
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """input1 @ weight[out] @ input2 + bias."""
    return ours.bilinear(input1, input2, weight, bias)


def _convolution(name: str) -> Function:
    compute = getattr(ours, name)

    def convolved(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        one_type(name, input=input, weight=weight)
        single = len(input.shape) == len(weight.shape) - 1
        result = compute(input[None] if single else input, weight, bias, stride, padding, dilation, groups)
        return result[0] if single else result

    convolved.__name__, convolved.__doc__ = name, compute.__doc__.partition("\n")[0]
    return function("Convolution")(convolved)


def _transposed(name: str) -> Function:
    compute = getattr(ours, name)

    def convolved(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Any:
        return compute(input, weight, bias, stride, padding, output_padding, groups, dilation)

    convolved.__name__, convolved.__doc__ = name, compute.__doc__.partition("\n")[0]
    return function("Convolution")(convolved)


conv1d, conv2d, conv3d = (_convolution(f"conv{rank}d") for rank in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (_transposed(f"conv_transpose{rank}d") for rank in (1, 2, 3))


def _pooling(name: str, label: str) -> Function:
    compute = getattr(ours, name)

    def pooled(input: Any, *args: Any, **kwargs: Any) -> Any:
        rank = int(name[-2])
        single = len(input.shape) == rank + 1
        result = compute(input[None] if single else input, *args, **kwargs)
        if not single:
            return result
        return tuple(part[0] for part in result) if isinstance(result, tuple) else result[0]

    pooled.__name__, pooled.__doc__ = name, compute.__doc__.partition("\n")[0]
    return function(label.removesuffix("Backward1"), lambda *args, **kwargs: int(label.endswith("1")))(pooled)


_POOLS = {
    "max_pool1d": "SqueezeBackward1",
    "max_pool2d": "MaxPool2DWithIndices",
    "max_pool3d": "MaxPool3DWithIndices",
    "avg_pool1d": "SqueezeBackward1",
    "avg_pool2d": "AvgPool2D",
    "avg_pool3d": "AvgPool3D",
    "adaptive_avg_pool1d": "SqueezeBackward1",
    "adaptive_avg_pool2d": "AdaptiveAvgPool2D",
    "adaptive_avg_pool3d": "AdaptiveAvgPool3D",
    "adaptive_max_pool1d": "SqueezeBackward1",
    "adaptive_max_pool2d": "AdaptiveMaxPool2D",
    "adaptive_max_pool3d": "AdaptiveMaxPool3D",
}
globals().update({name: _pooling(name, label) for name, label in _POOLS.items()})


def _dropping(name: str) -> Function:
    compute = getattr(ours, name)

    def dropped(input: Any, p: float = 0.5, training: bool = True) -> Any:
        return compute(input, p, training, numpy_generator()) if training and p else input

    dropped.__name__, dropped.__doc__ = name, compute.__doc__.partition("\n")[0]
    plainly = function("Mul")(dropped)

    def dropping(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        if not training or not p:
            return input
        result = plainly(input, p, training)
        return input._write(result._value, f"{name}(inplace=True)") if inplace else result

    dropping.__name__, dropping.__doc__ = name, dropped.__doc__
    return dropping


dropout, dropout1d, dropout2d, dropout3d = (_dropping(f"dropout{rank}") for rank in ("", "1d", "2d", "3d"))


_embedding = function("Embedding")(lambda *arguments: ours.embedding(*arguments))


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: Any = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of `weight` at the integers in `input`; those longer than `max_norm` are shortened in place first."""
    if scale_grad_by_freq:
        raise NotImplementedError("embedding: scale_grad_by_freq is not in the stand-in")
    if max_norm is not None:
        with gt.no_grad():
            rows = input.unique()
            weight[rows] = weight[rows].renorm(norm_type, 0, max_norm)
    return _embedding(input, weight, padding_idx)


@function("NativeLayerNorm")
def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Mean 0 and variance 1 over the last axes."""
    return ours.layer_norm(input, tuple(normalized_shape), weight, bias, eps)


@function("Mul")
def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """Divided by the root of the mean square over the last axes."""
    return ours.rms_norm(input, tuple(normalized_shape), weight, eps)


@function("NativeGroupNorm")
def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Mean 0 and variance 1 over groups of channels."""
    return ours.group_norm(input, num_groups, weight, bias, eps)


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Mean 0 and variance 1 of each channel over the batch; when training, running statistics follow."""
    if training and input.ndim > 1 and input.numel() == input.shape[1]:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {input.shape}.\n"
            "  fix: more examples in the batch (drop_last=True leaves out a last one of one), or model.eval()"
        )
    return _with_statistics(_batch_norm, input, (running_mean, running_var), (weight, bias, training, momentum, eps))


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Mean 0 and variance 1 of each channel of each example."""
    rest = (weight, bias, use_input_stats, momentum, eps)
    return _with_statistics(_instance_norm, input, (running_mean, running_var), rest)


_batch_norm = function("NativeBatchNorm")(lambda *arguments: ours.batch_norm(*arguments))
_instance_norm = function("View")(lambda *arguments: ours.instance_norm(*arguments))


def _with_statistics(compute: Function, input: Tensor, running: tuple[Any, Any], rest: tuple[Any, ...]) -> Any:
    """Running statistics are arrays that gradtape writes in place; what it wrote goes back into the tensors."""
    arrays = [None if part is None else np.array(part._numbers) for part in running]
    result = compute(input, *arrays, *rest)
    if rest[2]:
        for part, array in zip(running, arrays, strict=True):
            if part is not None:
                part._put(Value(array), True)
    return result


@function("Div")
def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Any:
    """Divided by the p-norm along `dim`."""
    return ours.normalize(input, p, dim, eps)


@function("ScaledDotProductFlashAttentionForCpu")
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """softmax(query @ key.T * scale + mask) @ value."""
    if enable_gqa:
        raise NotImplementedError("scaled_dot_product_attention: enable_gqa is not in the stand-in")
    rng = numpy_generator() if dropout_p else None
    return ours.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, rng)


@function()
def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """Ones at the classes, zeros elsewhere."""
    labels = concrete(tensor)
    if labels.size and (labels.min() < 0 or (num_classes != -1 and labels.max() >= num_classes)):
        raise RuntimeError(
            f"one_hot: class values from {labels.min()} to {labels.max()}; they have to be at least 0"
            + ("." if num_classes == -1 else f" and smaller than num_classes={num_classes}.")
        )
    classes = int(labels.max()) + 1 if num_classes == -1 else num_classes
    return ours.one_hot(tensor, classes, dtype=np.int64)


_PADS = {"reflect": "ReflectionPad", "replicate": "ReplicationPad"}


def _padding(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> int | str:
    return f"{_PADS[mode]}{len(pad) // 2}D" if mode in _PADS else 0


@function("ConstantPadNd", _padding)
def pad(input: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """With elements added around it: `pad` has pairs, from the last axis on."""
    if len(pad) % 2 or len(pad) > 2 * len(input.shape):
        raise RuntimeError(
            f"pad: {len(pad)} widths for {len(input.shape)} axes; a pair (before, behind) for each axis from the last "
            "on is accepted"
        )
    widths = [(0, 0)] * len(input.shape)
    for index in range(0, len(pad), 2):
        widths[-1 - index // 2] = (pad[index], pad[index + 1])
    inner = tuple(slice(max(-low, 0), n - max(-high, 0)) for (low, high), n in zip(widths, input.shape))
    cut = gt.getitem(input, inner) if any(n < 0 for n in pad) else input
    added = [(max(low, 0), max(high, 0)) for low, high in widths]
    if mode == "constant":
        return gt.pad(cut, added, "constant", constant_values=0 if value is None else value)
    return gt.pad(cut, added, {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode])


__getattr__ = missing(__name__)
