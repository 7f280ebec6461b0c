"""TensorFlow's convolutions and pooling: channels last, `SAME` and `VALID`, over gradtape's functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.tensorflow.conversion import integers, tensors, value_of
from gradtape_standins.tensorflow.errors import explained, in_tensorflow_terms, invalid
from gradtape_standins.tensorflow.tensor import wrap

functional = gt.nn.functional
_CONVOLUTIONS = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
_TRANSPOSED = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d}
_MAX_POOLS = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}
_AVERAGE_POOLS = {1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d}


def _is_channels_last(data_format: str | None) -> bool:
    return data_format is None or not data_format.upper().startswith("NC")


def channels_first(value: Any) -> Any:
    """The last axis moved behind the first."""
    return gt.moveaxis(value, -1, 1)


def channels_last(value: Any) -> Any:
    """The axis behind the first moved to the end."""
    return gt.moveaxis(value, 1, -1)


def spread(size: Any, rank: int, data_format: str | None = None) -> tuple[int, ...]:
    """A size for each of `rank` axes in space: from one number, one for each, or one for each axis of the tensor."""
    found = integers(size)
    if isinstance(found, int):
        return (found,) * rank
    if len(found) == 1:
        return (int(found[0]),) * rank
    if len(found) == rank + 2:
        return tuple(found[1:-1]) if _is_channels_last(data_format) else tuple(found[2:])
    if len(found) != rank:
        raise ValueError(explained(f"one number or {rank} are wanted for {rank} axes; got {found}"))
    return tuple(found)


def margins(
    lengths: Sequence[int], window: Sequence[int], strides: Sequence[int], padding: Any, what: str
) -> list[tuple[int, int]]:
    """How many places to add before and after each axis in space."""
    if not isinstance(padding, str):
        given = integers(padding)
        inner = given[1:-1] if len(given) == len(lengths) + 2 else given
        return [(int(before), int(after)) for before, after in inner]
    if padding.upper() == "VALID":
        return [(0, 0)] * len(lengths)
    if padding.upper() != "SAME":
        raise ValueError(explained(f"{what}: padding={padding!r}; 'SAME', 'VALID' or a list of pairs is wanted"))
    found = []
    for length, size, stride in zip(lengths, window, strides, strict=True):
        total = max((-(-length // stride) - 1) * stride + size - length, 0)
        found.append((total // 2, total - total // 2))
    return found


def padded(value: Any, space: list[tuple[int, int]], fill: float = 0.0) -> Any:
    """A channels-first batch with places added around each axis in space."""
    if not any(before or after for before, after in space):
        return value
    return gt.pad(value, [(0, 0), (0, 0), *space], "constant", constant_values=fill)


def convolution_of(
    value: Any, filters: Any, strides: Any, padding: Any, dilations: Any, data_format: str | None, groups: int = 1
) -> Any:
    """The convolution of a batch with filters of shape (*window, channels in, channels out)."""
    rank = filters.ndim - 2
    if rank not in _CONVOLUTIONS:
        raise ValueError(
            explained(
                f"convolution: `num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={rank}, from filters "
                f"of shape {filters.shape}",
                "filters of shape (*window, channels in, channels out)",
            )
        )
    if value.ndim != rank + 2:
        raise invalid(
            f"conv{rank}d: {rank + 2} axes (batch, {rank} in space, channels) are wanted; the shape is {value.shape}",
            "x[tf.newaxis, ...] for one example, x[..., tf.newaxis] for one channel",
        )
    last = _is_channels_last(data_format)
    value = channels_first(value) if last else value
    steps, widths = spread(strides, rank, data_format), spread(dilations or 1, rank, data_format)
    window = [(size - 1) * width + 1 for size, width in zip(filters.shape[:rank], widths)]
    weight = gt.moveaxis(filters, (-1, -2), (0, 1))
    value = padded(value, margins(value.shape[2:], window, steps, padding, f"conv{rank}d"))
    made = _CONVOLUTIONS[rank](value, weight, stride=steps, dilation=widths, groups=groups)
    return channels_last(made) if last else made


def _check_filters(filters: Any, rank: int, what: str) -> None:
    if filters.ndim != rank + 2:
        raise invalid(
            f"{what}: filters of {rank + 2} axes ({rank} in space, channels in, channels out) are wanted; their shape "
            f"is {filters.shape}"
        )


def _convolution(rank: int) -> Callable[..., Any]:
    @in_tensorflow_terms
    def convolve(
        input: Any,
        filters: Any,
        strides: Any = 1,
        padding: Any = "VALID",
        data_format: str | None = None,
        dilations: Any = None,
        name: str | None = None,
    ) -> Any:
        value, weight = tensors(input, filters, f"conv{rank}d")
        _check_filters(weight, rank, f"conv{rank}d")
        return wrap(convolution_of(value, weight, strides, padding, dilations, data_format))

    convolve.__name__ = convolve.__qualname__ = f"conv{rank}d"
    convolve.__doc__ = f"The convolution over {rank} axes in space; filters of shape (*window, channels in, out)."
    return convolve


conv1d, conv2d, conv3d = _convolution(1), _convolution(2), _convolution(3)


@in_tensorflow_terms
def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The convolution over as many axes in space as the filters have."""
    value, weight = tensors(input, filters, "convolution")
    return wrap(convolution_of(value, weight, strides or 1, padding, dilations, data_format))


@in_tensorflow_terms
def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """A convolution of each channel for itself; filters of shape (height, width, channels, multiplier)."""
    value, weight = tensors(input, filter, "depthwise_conv2d")
    _check_filters(weight, 2, "depthwise_conv2d")
    height, width, channels, multiplier = weight.shape
    merged = gt.reshape(weight, (height, width, 1, channels * multiplier))
    return wrap(convolution_of(value, merged, strides, padding, dilations, data_format, channels))


def transposed_convolution_of(
    value: Any,
    filters: Any,
    output: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
) -> Any:
    """The adjoint of a convolution: filters of shape (*window, channels out, channels in)."""
    rank, last = filters.ndim - 2, _is_channels_last(data_format)
    steps, widths = spread(strides, rank, data_format), spread(dilations or 1, rank, data_format)
    window = [(size - 1) * width + 1 for size, width in zip(filters.shape[:rank], widths)]
    length = tuple(output[1:-1] if last else output[2:])
    space = margins(length, window, steps, padding, f"conv{rank}d_transpose")
    weight = gt.moveaxis(filters, (-1, -2), (0, 1))
    full = _TRANSPOSED[rank](channels_first(value) if last else value, weight, stride=steps, dilation=widths)
    short = [max(before + n - have, 0) for (before, _), n, have in zip(space, length, full.shape[2:])]
    full = padded(full, [(0, n) for n in short])
    cut = tuple(slice(before, before + n) for (before, _), n in zip(space, length))
    made = full[(slice(None), slice(None), *cut)]
    return channels_last(made) if last else made


def _transposed(rank: int) -> Callable[..., Any]:
    @in_tensorflow_terms
    def convolve(
        input: Any,
        filters: Any,
        output_shape: Any,
        strides: Any,
        padding: Any = "SAME",
        data_format: str | None = None,
        dilations: Any = None,
        name: str | None = None,
    ) -> Any:
        value, weight = tensors(input, filters, f"conv{rank}d_transpose")
        _check_filters(weight, rank, f"conv{rank}d_transpose")
        output = integers(output_shape)
        return wrap(transposed_convolution_of(value, weight, output, strides, padding, data_format, dilations))

    convolve.__name__ = convolve.__qualname__ = f"conv{rank}d_transpose"
    convolve.__doc__ = f"The adjoint of `conv{rank}d`; filters of shape (*window, channels out, channels in)."
    return convolve


conv1d_transpose, conv2d_transpose, conv3d_transpose = _transposed(1), _transposed(2), _transposed(3)


def pooled(value: Any, kind: str, size: Any, strides: Any, padding: Any, data_format: str | None = None) -> Any:
    """The greatest element (`kind` "max") or the mean ("avg") of each window of a batch."""
    rank, last = value.ndim - 2, _is_channels_last(data_format)
    value = channels_first(value) if last else value
    window = spread(size, rank, data_format)
    steps = window if strides is None else spread(strides, rank, data_format)
    space = margins(value.shape[2:], window, steps, padding, f"{kind}_pool{rank}d")
    if kind == "max":
        made = _MAX_POOLS[rank](padded(value, space, -np.inf), window, steps)
    else:
        made = _AVERAGE_POOLS[rank](padded(value, space), window, steps)
        if any(before or after for before, after in space):  # places that were added do not count
            ones = np.pad(np.ones((1, 1, *value.shape[2:]), value.dtype), [(0, 0), (0, 0), *space])
            share = _AVERAGE_POOLS[rank](gt.Tensor(ones), window, steps)
            made = made / gt.Tensor(np.asarray(concrete(share)))
    return channels_last(made) if last else made


def _pool(kind: str, rank: int | None) -> Callable[..., Any]:
    label = f"{kind}_pool" + ("" if rank is None else f"{rank}d")

    @in_tensorflow_terms
    def pool(
        input: Any,
        ksize: Any,
        strides: Any,
        padding: Any,
        data_format: str | None = None,
        name: str | None = None,
    ) -> Any:
        value = value_of(input)
        if rank is None and value.ndim not in (3, 4, 5):
            raise ValueError(
                explained(
                    f"{label}: `input.shape.rank` must be 3, 4 or 5 (batch, 1 to 3 axes in space, channels). Received: "
                    f"input.shape={value.shape} of rank {value.ndim}",
                    "tf.reshape to fewer axes, pool, and tf.reshape back"
                    if value.ndim > 5
                    else "x[tf.newaxis, ...] for one example, x[..., tf.newaxis] for one channel",
                )
            )
        if rank is not None and value.ndim != rank + 2:
            raise invalid(f"{label}: {rank + 2} axes (batch, space, channels) are wanted; the shape is {value.shape}")
        return wrap(pooled(value, kind, ksize, strides, padding, data_format))

    pool.__name__ = pool.__qualname__ = label
    pool.__doc__ = f"The {'greatest element' if kind == 'max' else 'mean'} of each window."
    return pool


max_pool, max_pool1d, max_pool2d, max_pool3d = (_pool("max", rank) for rank in (None, 1, 2, 3))
avg_pool, avg_pool1d, avg_pool2d, avg_pool3d = (_pool("avg", rank) for rank in (None, 1, 2, 3))

__all__ = ["avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d", "conv1d", "conv1d_transpose", "conv2d"]
__all__ += ["conv2d_transpose", "conv3d", "conv3d_transpose", "convolution", "depthwise_conv2d", "max_pool"]
__all__ += ["max_pool1d", "max_pool2d", "max_pool3d"]
