"""Convolution in one to three dimensions, and its transpose: the functions, and how they read their arguments.

What they compute is in `gradtape.ops.convolution_ops`.
"""

from __future__ import annotations

import operator
from typing import Any

from gradtape.core.typing import Array, ShapeLike, TensorLike
from gradtape.errors import OperandError, ShapeError
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.convolution_ops import CHUNK_BYTES as CHUNK_BYTES
from gradtape.ops.convolution_ops import Geometry, Lengths, _convolve, _spread
from gradtape.ops.convolution_ops import _correlate as _correlate

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
]


def integers_for_axes(name: str, what: str, given: Any, axes: int, least: int) -> Lengths:
    """An integer for each axis, from one for all or a sequence of them."""
    accepted = f"{what}= takes an integer of at least {least}, or a tuple of {axes}"
    several = given if isinstance(given, tuple | list) else (given,) * axes
    try:
        found = tuple([operator.index(length) for length in several])
    except TypeError:
        raise argument_error(OperandError, f"{name}: {what}={given!r} is not of integers.", accepted) from None
    if len(found) != axes or min(found) < least:
        raise argument_error(OperandError, f"{name}: {what}={given!r} does not fit {axes} axes.", accepted)
    return found


def as_images(name: str, input: TensorLike, axes: int) -> tuple[Array, bool]:
    """`input` as (examples, channels, ...), and whether it was a single example without the first axis."""
    input = as_value(input)
    if input.ndim not in (axes + 1, axes + 2):
        raise argument_error(
            ShapeError,
            f"{name}: input has shape {input.shape}, of {input.ndim} axes; (examples, channels"
            f"{', length' * axes}) is accepted, or the same without examples.",
            "input[None] adds the axis of examples, input[:, None] one of channels",
        )
    single = input.ndim == axes + 1
    return (input[None] if single else input), single


def _checked_weight(
    name: str, input: Array, weight: TensorLike, axes: int, groups: Any, transposed: bool
) -> tuple[Array, int]:
    weight = as_value(weight)
    layout = "(in channels, out channels / groups" if transposed else "(out channels, in channels / groups"
    layout += f"{', taps' * axes})"
    if weight.ndim != axes + 2:
        raise argument_error(
            ShapeError,
            f"{name}: weight has shape {weight.shape}; {layout} is accepted.",
            f"a weight of {axes + 2} axes",
        )
    (groups,) = integers_for_axes(name, "groups", groups, 1, 1)
    channels, taken = input.shape[1], weight.shape[0] if transposed else weight.shape[1] * groups
    if channels != taken:
        out, taps = weight.shape[1 if transposed else 0], weight.shape[2:]
        wanted = (channels, out, *taps) if transposed else (out, channels // groups, *taps)
        raise argument_error(
            ShapeError,
            f"{name}: input of shape {input.shape} has {channels} channels (axis 1), but weight of shape "
            f"{weight.shape} with groups={groups} takes {taken}; weight is {layout}.",
            "channels come first: np.moveaxis(input, -1, 1) turns (examples, ..., channels) round"
            if input.shape[-1] == taken or channels % groups
            else f"a weight of shape {wanted} takes this input",
        )
    if weight.shape[0] % groups:
        raise argument_error(
            ShapeError,
            f"{name}: weight of shape {weight.shape} has {weight.shape[0]} channels, which groups={groups} does not "
            "divide.",
            "a number of groups that divides the channels on both sides",
        )
    if 0 in weight.shape[2:]:
        raise argument_error(
            ShapeError, f"{name}: weight of shape {weight.shape} has no taps.", "at least one tap an axis"
        )
    return weight, groups


def _with_bias(name: str, out: Array, bias: Any, axes: int, single: bool) -> Any:
    if bias is not None:
        bias = as_value(bias)
        if bias.shape != (out.shape[1],):
            raise argument_error(
                ShapeError,
                f"{name}: bias has shape {bias.shape}; one number for each of the {out.shape[1]} output channels is "
                "accepted.",
                f"a bias of shape ({out.shape[1]},)",
            )
        out = out + bias.reshape((-1,) + (1,) * axes)
    return out[0] if single else out


def padding_widths(padding: Any, name: str, stride: Lengths, dilation: Lengths, taps: Lengths) -> list[tuple[int, int]]:
    """How much is added before and behind, along each axis."""
    if isinstance(padding, str):
        if padding == "valid":
            return [(0, 0)] * len(taps)
        if padding != "same":
            raise argument_error(
                OperandError, f"{name}: padding={padding!r}.", "'same', 'valid', integers or a tuple of them"
            )
        if max(stride) > 1:
            raise argument_error(
                OperandError,
                f"{name}: padding='same' with stride={stride}: the output cannot have the input's lengths.",
                "stride=1, or a padding in numbers",
            )
        return [(d * (t - 1) // 2, d * (t - 1) - d * (t - 1) // 2) for d, t in zip(dilation, taps, strict=True)]
    return [(each, each) for each in integers_for_axes(name, "padding", padding, len(taps), 0)]


def _convolution(
    axes: int,
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None,
    stride: ShapeLike,
    padding: Any,
    dilation: ShapeLike,
    groups: Any,
) -> Any:
    name = f"conv{axes}d"
    input, single = as_images(name, input, axes)
    weight, groups = _checked_weight(name, input, weight, axes, groups, False)
    stride = integers_for_axes(name, "stride", stride, axes, 1)
    dilation = integers_for_axes(name, "dilation", dilation, axes, 1)
    inputs, taps = tuple(input.shape[2:]), tuple(weight.shape[2:])
    margins = padding_widths(padding, name, stride, dilation, taps)
    outputs = tuple(
        [
            (length + low + high - d * (t - 1) - 1) // s + 1
            for length, (low, high), d, t, s in zip(inputs, margins, dilation, taps, stride, strict=True)
        ]
    )
    if min(outputs) < 1:
        raise argument_error(
            ShapeError,
            f"{name}: the kernel {taps} with dilation={dilation} is longer than the input {inputs} with "
            f"padding={padding!r}.",
            "a smaller kernel or dilation, or more padding",
        )
    geometry = Geometry(stride, dilation, tuple([low for low, _ in margins]), inputs, taps, outputs, groups)
    return _with_bias(name, _convolve(input, weight, geometry=geometry), bias, axes, single)


def conv1d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: ShapeLike = 1,
    padding: Any = 0,
    dilation: ShapeLike = 1,
    groups: int = 1,
) -> Any:
    """The convolution of signals (examples, channels, length) with `weight` (out channels, in channels / groups, taps).

    As in all neural networks the kernel is not turned round: out[q] = sum of weight[k] * input[stride q + dilation k].
    `padding` is how many zeros are put at both ends, or "same" or "valid".

    >>> import numpy as np, gradtape as gt
    >>> signal = gt.tensor([[[1.0, 2.0, 4.0, 8.0]]])
    >>> gt.nn.functional.conv1d(signal, np.array([[[-1.0, 1.0]]]))
    Tensor([[[1., 2., 4.]]])
    """
    return _convolution(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: ShapeLike = 1,
    padding: Any = 0,
    dilation: ShapeLike = 1,
    groups: int = 1,
) -> Any:
    """The convolution of images (examples, channels, height, width), otherwise as `conv1d`.

    >>> import numpy as np, gradtape as gt
    >>> images, weight = np.ones((2, 3, 8, 8), np.float32), np.ones((4, 3, 3, 3), np.float32)
    >>> gt.nn.functional.conv2d(gt.tensor(images), weight, stride=2, padding=1).shape
    (2, 4, 4, 4)
    """
    return _convolution(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: ShapeLike = 1,
    padding: Any = 0,
    dilation: ShapeLike = 1,
    groups: int = 1,
) -> Any:
    """The convolution of volumes (examples, channels, depth, height, width), otherwise as `conv1d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.conv3d(gt.tensor(np.ones((1, 1, 4, 4, 4))), np.ones((2, 1, 3, 3, 3)), padding="same").shape
    (1, 2, 4, 4, 4)
    """
    return _convolution(3, input, weight, bias, stride, padding, dilation, groups)


def _transposed(
    axes: int,
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None,
    stride: ShapeLike,
    padding: Any,
    output_padding: ShapeLike,
    groups: Any,
    dilation: ShapeLike,
) -> Any:
    name = f"conv_transpose{axes}d"
    input, single = as_images(name, input, axes)
    weight, groups = _checked_weight(name, input, weight, axes, groups, True)
    stride = integers_for_axes(name, "stride", stride, axes, 1)
    dilation = integers_for_axes(name, "dilation", dilation, axes, 1)
    padding = integers_for_axes(name, "padding", padding, axes, 0)
    extra = integers_for_axes(name, "output_padding", output_padding, axes, 0)
    if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise argument_error(
            OperandError,
            f"{name}: output_padding={output_padding!r} with stride={stride} and dilation={dilation}.",
            "an output_padding smaller than the stride or the dilation, along each axis",
        )
    given, taps = tuple(input.shape[2:]), tuple(weight.shape[2:])
    lengths = tuple(
        [
            s * (length - 1) - 2 * p + d * (t - 1) + e + 1
            for length, p, d, t, s, e in zip(given, padding, dilation, taps, stride, extra, strict=True)
        ]
    )
    if min(lengths) < 1 or min(given) < 1:
        raise argument_error(
            ShapeError,
            f"{name}: input of shape {input.shape} with padding={padding} leaves an output of lengths {lengths}.",
            "less padding, or a longer input",
        )
    geometry = Geometry(stride, dilation, padding, lengths, taps, given, groups)
    return _with_bias(name, _spread(input, weight, geometry=geometry), bias, axes, single)


def conv_transpose1d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: ShapeLike = 1,
    padding: Any = 0,
    output_padding: ShapeLike = 0,
    groups: int = 1,
    dilation: ShapeLike = 1,
) -> Any:
    """The transpose of `conv1d` as a linear map, with a `weight` of (in channels, out channels / groups, taps).

    Each input adds a copy of the kernel to the output. `padding` is what `conv1d` would have padded, so it is cut off;
    `output_padding` makes the output longer at its end.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.conv_transpose1d(gt.tensor([[[1.0, 10.0]]]), np.array([[[1.0, 2.0]]]), stride=2)
    Tensor([[[ 1.,  2., 10., 20.]]])
    """
    return _transposed(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: ShapeLike = 1,
    padding: Any = 0,
    output_padding: ShapeLike = 0,
    groups: int = 1,
    dilation: ShapeLike = 1,
) -> Any:
    """The transpose of `conv2d` as a linear map; the arguments are those of `conv_transpose1d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.conv_transpose2d(gt.tensor(np.ones((1, 4, 5, 5))), np.ones((4, 2, 3, 3)), stride=2).shape
    (1, 2, 11, 11)
    """
    return _transposed(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: ShapeLike = 1,
    padding: Any = 0,
    output_padding: ShapeLike = 0,
    groups: int = 1,
    dilation: ShapeLike = 1,
) -> Any:
    """The transpose of `conv3d` as a linear map; the arguments are those of `conv_transpose1d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.conv_transpose3d(gt.tensor(np.ones((1, 1, 2, 2, 2))), np.ones((1, 1, 2, 2, 2))).shape
    (1, 1, 3, 3, 3)
    """
    return _transposed(3, input, weight, bias, stride, padding, output_padding, groups, dilation)
