"""Normalisation: layer, batch, group and instance norm, rms norm, and vectors of length 1.

One row is behind all of them. With m the mean and r = 1 / sqrt(variance + eps) along some axes, it gives
s = (x - m) r, and m and r themselves. Its derivative needs nothing but these three:

    ds = r (dx - mean(dx) - s mean(s dx))        dm = mean(dx)        dr = -r^2 mean(s dx)

Without centring (rms norm) m is 0, the variance is the mean square, and the same holds with the mean of dx left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.operation import Lifted, Op
from gradtape.core.rules import elementwise, general
from gradtape.core.tensor import Tensor, plain
from gradtape.core.typing import Array, Axis, ShapeLike, TensorLike
from gradtape.errors import OperandError, ShapeError
from gradtape.ops.arguments import argument_error, as_shape, as_value, batch_shift_axes
from gradtape.ops.conversion import stop_gradient
from gradtape.ops.elementwise import maximum
from gradtape.ops.norms import vector_norm

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "normalize", "rms_norm"]

Axes = tuple[int, ...]


def _mean_product(a: Array, b: Array, axis: Axes) -> Any:
    """The mean of a * b along `axis`, which stays with length 1; by dot products where the last axes are among them."""
    ndim, count, inner = a.ndim, 1, 0
    for place in axis:
        count *= a.shape[place]
    while inner < len(axis) and ndim - 1 - inner in axis:
        inner += 1
    if not inner:
        return (a * b).mean(axis=axis, keepdims=True)
    flat = (*a.shape[: ndim - inner], int(np.prod(a.shape[ndim - inner :])))
    total = np.vecdot(a.reshape(flat), b.reshape(flat)).reshape((*flat[:-1], *(1,) * inner))
    outer = tuple([place for place in axis if place < ndim - inner])
    return (total.sum(axis=outer, keepdims=True) if outer else total) / count


def _standardise_kernel(x: Any, axis: Axes, eps: float, centred: bool) -> tuple[Any, Any, Any]:
    if x.dtype.kind == "c":
        raise TypeError("the numbers to normalise are real")
    centre = x.mean(axis=axis, keepdims=True)
    if not centred:
        centre = np.zeros_like(centre)
    apart = x - centre if centred else x
    scale = 1 / np.sqrt(_mean_product(apart, apart, axis) + x.dtype.type(eps))
    return np.multiply(apart, scale, out=apart if centred else None), centre, scale


def _standardise_reverse(g: Array, out: Array, axis: Axes, centred: bool) -> Any:
    (standard, _, scale), (g_standard, g_centre, g_scale) = out, g
    count = standard.size // max(scale.size, 1)
    along = _mean_product(g_standard, standard, axis) + g_scale * scale * (1 / count)
    shift = g_centre * (1 / count) - scale * g_standard.mean(axis=axis, keepdims=True) if centred else 0
    return (
        standard * -along + g_standard
    ) * scale + shift  # in this order NumPy reuses the memory of the first product


def _standardise_forward(dx: Array, out: Array, axis: Axes, centred: bool) -> Any:
    standard, _, scale = out
    along = _mean_product(dx, standard, axis)
    d_centre = dx.mean(axis=axis, keepdims=True)
    if not centred:
        d_centre = np.zeros(d_centre.shape, d_centre.dtype)
    return (dx - d_centre - standard * along) * scale, d_centre, -scale * scale * along


_standardise: Op = general(
    _standardise_kernel,
    reverse=_standardise_reverse,
    forward=_standardise_forward,
    name="standardise",
    outputs=True,
    batch=batch_shift_axes("axis"),
    samples=lambda draw: [
        ((draw(3, 4),), {"axis": (1,), "eps": 1e-2, "centred": True}),
        ((draw(2, 3, 4),), {"axis": (0, 2), "eps": 1e-2, "centred": True}),
        ((draw(4, 2),), {"axis": (0,), "eps": 1e-2, "centred": True}),
        ((draw(2, 2, 3),), {"axis": (1, 2), "eps": 1e-2, "centred": False}),
    ],
)


# -- arguments


def _floating(name: str, input: TensorLike) -> Array:
    input = as_value(input)
    if input.dtype.kind == "c":
        raise argument_error(OperandError, f"{name}: input has dtype {input.dtype}.", "real numbers")
    return input if input.dtype.kind == "f" else input.astype(float)


def _with_channels(name: str, input: TensorLike) -> Array:
    input = _floating(name, input)
    if input.ndim < 2:
        raise argument_error(
            ShapeError,
            f"{name}: input has shape {input.shape}; (examples, channels, ...) is accepted.",
            "input[:, None] for a single channel",
        )
    return input


_scale_and_shift = elementwise(
    lambda x, y, z: x * y + z,
    lambda y: y,
    lambda x: x,
    1,
    name="scale and shift",
)


def _affine(
    name: str, out: Array, weight: TensorLike | None, bias: TensorLike | None, shape: tuple[int, ...], behind: int
) -> Any:
    """out * weight + bias, both of `shape`, with `behind` axes after those of `out` that they belong to."""
    found: list[Any] = []
    for what, given in (("weight", weight), ("bias", bias)):
        if given is None:
            found.append(None)
            continue
        given = as_value(given)
        if given.shape != shape:
            raise argument_error(
                ShapeError,
                f"{name}: {what} has shape {given.shape}; {shape} is accepted.",
                f"a {what} of shape {shape}",
            )
        if given.dtype != out.dtype:
            given = given.astype(out.dtype)
        found.append(given.reshape((*shape, *(1,) * behind)) if behind else given)
    scale, shift = found
    if scale is None:
        return out if shift is None else out + shift
    return out * scale if shift is None else _scale_and_shift(out, scale, shift)


def _last_axes(name: str, input: Array, normalized_shape: ShapeLike) -> tuple[tuple[int, ...], Axes]:
    shape = as_shape(normalized_shape)
    if not shape or shape != input.shape[max(0, input.ndim - len(shape)) :] or 0 in shape:
        raise argument_error(
            ShapeError,
            f"{name}: normalized_shape={normalized_shape!r}, but input has shape {input.shape}; the lengths of its "
            "last axes are accepted.",
            f"normalized_shape={input.shape[-1:]!r} for the last axis",
        )
    return shape, tuple(range(input.ndim - len(shape), input.ndim))


def layer_norm(
    input: TensorLike,
    normalized_shape: ShapeLike,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Any:
    """Each example with mean 0 and variance 1 over its last axes, whose lengths are `normalized_shape`.

    `weight` and `bias`, of that shape, are multiplied and added then.

    >>> import gradtape as gt
    >>> gt.nn.functional.layer_norm(gt.tensor([[1.0, 3.0], [0.0, 200.0]]), 2, eps=0.0)
    Tensor([[-1.,  1.],
            [-1.,  1.]])
    """
    input = _floating("layer_norm", input)
    shape, axis = _last_axes("layer_norm", input, normalized_shape)
    standard, _, _ = _standardise(input, axis=axis, eps=float(eps), centred=True)
    return _affine("layer_norm", standard, weight, bias, shape, 0)


def rms_norm(
    input: TensorLike, normalized_shape: ShapeLike, weight: TensorLike | None = None, eps: float | None = None
) -> Any:
    """Each example divided by the root of the mean square over its last axes, whose lengths are `normalized_shape`.

    `eps` is added to the mean square; if it is not given, the smallest that makes a difference to 1.

    >>> import gradtape as gt
    >>> gt.nn.functional.rms_norm(gt.tensor([3.0, 3.0, 3.0, -3.0]), 4, eps=0.0)
    Tensor([ 1.,  1.,  1., -1.])
    """
    input = _floating("rms_norm", input)
    shape, axis = _last_axes("rms_norm", input, normalized_shape)
    least = float(np.finfo(input.dtype).eps) if eps is None else float(eps)
    standard, _, _ = _standardise(input, axis=axis, eps=least, centred=False)
    return _affine("rms_norm", standard, weight, None, shape, 0)


def group_norm(
    input: TensorLike,
    num_groups: int,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Any:
    """Each example of (examples, channels, ...) with mean 0 and variance 1 within each group of its channels.

    >>> import gradtape as gt
    >>> gt.nn.functional.group_norm(gt.tensor([[1.0, 3.0, 0.0, 200.0]]), 2, eps=0.0)
    Tensor([[-1.,  1., -1.,  1.]])
    """
    input = _with_channels("group_norm", input)
    examples, channels = input.shape[:2]
    each = int(np.prod(input.shape[1:]))
    if num_groups < 1 or channels % num_groups or not each:
        raise argument_error(
            ShapeError,
            f"group_norm: num_groups={num_groups!r} does not divide the {channels} channels (axis 1) of input, of "
            f"shape {input.shape}.",
            "a number of groups that divides the channels",
        )
    apart = input.reshape((examples, num_groups, each // num_groups))
    standard, _, _ = _standardise(apart, axis=(2,), eps=float(eps), centred=True)
    return _affine("group_norm", standard.reshape(input.shape), weight, bias, (channels,), input.ndim - 2)


def _channel_norm(
    name: str,
    input: Array,
    axis: Axes,
    running: tuple[Any, Any],
    weight: TensorLike | None,
    bias: TensorLike | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    channels, behind = input.shape[1], input.ndim - 2
    for what, given in zip(("running_mean", "running_var"), running, strict=True):
        if given is not None and np.shape(given) != (channels,):
            raise argument_error(
                ShapeError,
                f"{name}: {what} has shape {np.shape(given)}; one number for each of the {channels} channels is "
                "accepted.",
                f"an array of shape ({channels},)",
            )
    if not training:
        mean, variance = (stop_gradient(as_value(given)).astype(input.dtype) for given in running)
        scale = (1 / np.sqrt(variance + input.dtype.type(eps))).reshape((-1, *(1,) * behind))
        standard = (input - mean.reshape(scale.shape)) * scale
        return _affine(name, standard, weight, bias, (channels,), behind)
    count = int(np.prod([input.shape[place] for place in axis]))
    if count < 2:
        raise argument_error(
            ShapeError,
            f"{name}: input of shape {input.shape} has {count} number{'s' * (count != 1)} a channel to take the mean "
            "and the variance of; at least 2 are accepted.",
            "a larger batch, or the running statistics (training=False)",
        )
    standard, mean, scale = _standardise(input, axis=axis, eps=float(eps), centred=True)
    if running[0] is not None or running[1] is not None:
        _update(name, running, mean, scale, count, momentum, eps)
    return _affine(name, standard, weight, bias, (channels,), behind)


def _update(
    name: str, running: tuple[Any, Any], mean: Array, scale: Array, count: int, momentum: float, eps: float
) -> None:
    """Move the running statistics, in place, towards those of this batch."""
    if isinstance(mean, Lifted):
        raise argument_error(
            OperandError,
            f"{name}: inside vmap each example has statistics of its own, which one running_mean cannot keep.",
            "running_mean=None and running_var=None inside vmap",
        )
    for what, given in zip(("running_mean", "running_var"), running, strict=True):
        if isinstance(given, Tensor) or not isinstance(given, np.ndarray) or given.dtype.kind != "f":
            raise argument_error(
                OperandError,
                f"{name}: {what} is a {type(given).__name__}; it is written in place, so a NumPy array of floating "
                "point numbers is accepted.",
                f"{what}=np.zeros(channels), or np.ones for the variance, kept from call to call",
            )
    # the mean over the examples, where each has statistics of its own (instance norm)
    batch_mean = plain(mean).mean(axis=0).reshape(-1)
    variance = (plain(scale).astype(float) ** -2 - eps).mean(axis=0).reshape(-1)
    running[0][...] += momentum * (batch_mean - running[0])
    running[1][...] += momentum * (variance * (count / (count - 1)) - running[1])


def batch_norm(
    input: TensorLike,
    running_mean: TensorLike | None = None,
    running_var: TensorLike | None = None,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Each channel of (examples, channels, ...) with mean 0 and variance 1.

    When `training`, with the mean and variance of this batch; `running_mean` and `running_var`, NumPy arrays with a
    number for each channel, then move towards them, in place, by the share `momentum` (the variance as that of a
    sample: divided by n - 1). Otherwise the running statistics are used.

    >>> import numpy as np, gradtape as gt
    >>> mean, variance = np.zeros(1), np.ones(1)
    >>> gt.nn.functional.batch_norm(gt.tensor([[1.0], [3.0]]), mean, variance, training=True, eps=0.0)
    Tensor([[-1.],
            [ 1.]])
    >>> mean, variance
    (array([0.2]), array([1.1]))
    """
    input = _with_channels("batch_norm", input)
    if not training and (running_mean is None or running_var is None):
        raise argument_error(
            OperandError,
            "batch_norm: training=False uses running_mean and running_var, and they are not given.",
            "both of them, or training=True for the statistics of this batch",
        )
    axis = (0, *range(2, input.ndim))
    return _channel_norm("batch_norm", input, axis, (running_mean, running_var), weight, bias, training, momentum, eps)


def instance_norm(
    input: TensorLike,
    running_mean: TensorLike | None = None,
    running_var: TensorLike | None = None,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Each channel of each example of (examples, channels, ...) with mean 0 and variance 1.

    The arguments are those of `batch_norm`; `use_input_stats` is its `training`.

    >>> import gradtape as gt
    >>> gt.nn.functional.instance_norm(gt.tensor([[[1.0, 3.0], [0.0, 200.0]]]), eps=0.0)
    Tensor([[[-1.,  1.],
             [-1.,  1.]]])
    """
    input = _with_channels("instance_norm", input)
    if not use_input_stats and (running_mean is None or running_var is None):
        raise argument_error(
            OperandError,
            "instance_norm: use_input_stats=False uses running_mean and running_var, and they are not given.",
            "both of them, or use_input_stats=True",
        )
    axis = tuple(range(2, input.ndim))
    running = (running_mean, running_var)
    return _channel_norm("instance_norm", input, axis, running, weight, bias, use_input_stats, momentum, eps)


def normalize(input: TensorLike, p: float = 2.0, axis: Axis = 1, eps: float = 1e-12) -> Any:
    """`input` divided by its p-norm along `axis`; by `eps`, where the norm is smaller.

    >>> import gradtape as gt
    >>> gt.nn.functional.normalize(gt.tensor([[3.0, 4.0], [0.0, 0.0]]))
    Tensor([[0.6, 0.8],
            [0. , 0. ]])
    """
    input = _floating("normalize", input)
    size = vector_norm(input, axis=axis, keepdims=True, ord=p)
    return input / maximum(size, input.dtype.type(eps))
