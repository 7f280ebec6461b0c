"""Pooling: the largest element, or the mean, of windows that move over the last axes.

These are the functions, and how they read their arguments; what they compute is in `gradtape.ops.pooling_ops`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.typing import Array, ShapeLike, TensorLike
from gradtape.errors import OperandError, ShapeError
from gradtape.ops.arguments import argument_error
from gradtape.ops.convolution import as_images, integers_for_axes
from gradtape.ops.pooling_ops import Windows, _largest, _mean, _products
from gradtape.ops.pooling_ops import _pick as _pick
from gradtape.ops.pooling_ops import _place as _place
from gradtape.ops.pooling_ops import _positions as _positions
from gradtape.ops.pooling_ops import _shares as _shares
from gradtape.ops.pooling_ops import _sums as _sums
from gradtape.ops.shaping import reshape

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
]


def _windows(
    name: str,
    input: Array,
    axes: int,
    kernel_size: ShapeLike,
    stride: ShapeLike | None,
    padding: Any,
    dilation: ShapeLike,
    ceil_mode: bool,
) -> tuple[Windows, ...]:
    sizes = integers_for_axes(name, "kernel_size", kernel_size, axes, 1)
    strides = sizes if stride is None else integers_for_axes(name, "stride", stride, axes, 1)
    margins = integers_for_axes(name, "padding", padding, axes, 0)
    steps = integers_for_axes(name, "dilation", dilation, axes, 1)
    if any(2 * margin > size for margin, size in zip(margins, sizes, strict=True)):
        raise argument_error(
            OperandError,
            f"{name}: padding={margins} with kernel_size={sizes}: there would be windows of nothing but padding.",
            "a padding of at most half the kernel_size",
        )
    found = []
    for length, size, step_out, margin, step in zip(input.shape[-axes:], sizes, strides, margins, steps, strict=True):
        free = length + 2 * margin - step * (size - 1) - 1
        count = free // step_out + 1
        if ceil_mode and free % step_out and count * step_out < length + margin:
            count += 1  # one more window, if it starts at an element or before one
        if count < 1 or length < 1:
            raise argument_error(
                ShapeError,
                f"{name}: kernel_size={sizes} with dilation={steps} is longer than input of shape {input.shape} with "
                f"padding={margins}.",
                "a smaller kernel_size, or more padding",
            )
        found.append(Windows(length, count, size, step_out, step, -margin))
        if step > 1 and not found[-1].counts().all():
            raise argument_error(
                ShapeError,
                f"{name}: with dilation={steps} and padding={margins} there are windows without any element of input, "
                f"of shape {input.shape}.",
                "less padding or dilation",
            )
    return tuple(found)


def _max_pool(
    axes: int,
    input: TensorLike,
    kernel_size: ShapeLike,
    stride: ShapeLike | None,
    padding: Any,
    dilation: ShapeLike,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    name = f"max_pool{axes}d"
    input, single = as_images(name, input, axes)
    windows = _windows(name, input, axes, kernel_size, stride, padding, dilation, ceil_mode)
    out = _largest(name, input, windows, return_indices)
    if not single:
        return out
    return (out[0][0], out[1][0]) if return_indices else out[0]


def _avg_pool(
    axes: int,
    input: TensorLike,
    kernel_size: ShapeLike,
    stride: ShapeLike | None,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: Any,
) -> Any:
    name = f"avg_pool{axes}d"
    input, single = as_images(name, input, axes)
    windows = _windows(name, input, axes, kernel_size, stride, padding, 1, ceil_mode)
    if divisor_override is not None:
        sizes: Any = integers_for_axes(name, "divisor_override", divisor_override, 1, 1)[0]
    else:
        counts = [_padded(along) if count_include_pad else along.counts() for along in windows]
        even = all(np.all(numbers == numbers[0]) for numbers in counts)
        sizes = int(np.prod([numbers[0] for numbers in counts])) if even else _products(counts)
    out = _mean(input, windows, sizes)
    return out[0] if single else out


def _padded(along: Windows) -> Any:
    """How many elements of each window are there or padding; one that `ceil_mode` added may reach over the padding."""
    first = along.start + along.stride * np.arange(along.outputs)
    return np.minimum(first + along.size, along.length - along.start) - first


def max_pool1d(
    input: TensorLike,
    kernel_size: ShapeLike,
    stride: ShapeLike | None = None,
    padding: Any = 0,
    dilation: ShapeLike = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of signals (examples, channels, length).

    Windows are `stride` apart (the `kernel_size`, unless given). Padding never wins. Of equal elements the first one
    is taken and gets the gradient. With `ceil_mode` a last window that is not full counts too; with `return_indices`
    the positions of the elements are returned as well.

    >>> import gradtape as gt
    >>> gt.nn.functional.max_pool1d(gt.tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2)
    Tensor([[[3., 2.]]])
    """
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input: TensorLike,
    kernel_size: ShapeLike,
    stride: ShapeLike | None = None,
    padding: Any = 0,
    dilation: ShapeLike = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of images (examples, channels, height, width), otherwise as `max_pool1d`.

    >>> import numpy as np, gradtape as gt
    >>> image = gt.tensor(np.arange(16.0).reshape(1, 1, 4, 4))
    >>> gt.nn.functional.max_pool2d(image, 2)
    Tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: TensorLike,
    kernel_size: ShapeLike,
    stride: ShapeLike | None = None,
    padding: Any = 0,
    dilation: ShapeLike = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of volumes (examples, channels, depth, height, width), as `max_pool1d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.max_pool3d(gt.tensor(np.arange(8.0).reshape(1, 1, 2, 2, 2)), 2).item()
    7.0
    """
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def avg_pool1d(
    input: TensorLike,
    kernel_size: ShapeLike,
    stride: ShapeLike | None = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean of each window of signals (examples, channels, length).

    Padding counts as zeros among the elements, unless `count_include_pad` is False; `divisor_override` is divided by in
    place of the number of elements.

    >>> import gradtape as gt
    >>> gt.nn.functional.avg_pool1d(gt.tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2)
    Tensor([[[2., 1.]]])
    """
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool2d(
    input: TensorLike,
    kernel_size: ShapeLike,
    stride: ShapeLike | None = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean of each window of images (examples, channels, height, width), otherwise as `avg_pool1d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.avg_pool2d(gt.tensor(np.arange(16.0).reshape(1, 1, 4, 4)), 2)
    Tensor([[[[ 2.5,  4.5],
              [10.5, 12.5]]]])
    """
    return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: TensorLike,
    kernel_size: ShapeLike,
    stride: ShapeLike | None = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean of each window of volumes (examples, channels, depth, height, width), otherwise as `avg_pool1d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.avg_pool3d(gt.tensor(np.arange(8.0).reshape(1, 1, 2, 2, 2)), 2).item()
    3.5
    """
    return _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


# -- adaptive: the lengths of the output are given


def _even_windows(name: str, input: Array, axes: int, output_size: ShapeLike) -> tuple[Windows, ...]:
    """Windows that divide each axis into as many as `output_size` says; None there keeps the axis as it is."""
    shape = input.shape[-axes:]
    several = output_size if isinstance(output_size, tuple | list) else (output_size,) * axes
    if len(several) == axes:
        several = tuple([n if wanted is None else wanted for wanted, n in zip(several, shape, strict=True)])
    counts = integers_for_axes(name, "output_size", several, axes, 1)
    if 0 in shape:
        raise argument_error(ShapeError, f"{name}: input of shape {input.shape} has nothing to pool.", "a longer input")
    found = []
    for length, count in zip(shape, counts, strict=True):
        if length % count == 0:
            found.append(Windows(length, count, length // count, length // count, 1, 0))
        else:
            longest = max(-(-(q + 1) * length // count) - q * length // count for q in range(count))
            found.append(Windows(length, count, longest, 0, 1, 0))
    return tuple(found)


def _adaptive_avg(axes: int, input: TensorLike, output_size: ShapeLike) -> Any:
    name = f"adaptive_avg_pool{axes}d"
    input, single = as_images(name, input, axes)
    windows = _even_windows(name, input, axes, output_size)
    if all(along.stride for along in windows):  # all of one size: a mean over axes of their own
        split = [length for along in windows for length in (along.outputs, along.size)]
        apart = reshape(input, (*input.shape[:2], *split))
        out = apart.mean(axis=tuple(range(3, 3 + 2 * axes, 2)))
    else:
        out = _mean(input, windows, _products([along.counts() for along in windows]))
    return out[0] if single else out


def _adaptive_max(axes: int, input: TensorLike, output_size: ShapeLike, return_indices: bool) -> Any:
    name = f"adaptive_max_pool{axes}d"
    input, single = as_images(name, input, axes)
    out = _largest(name, input, _even_windows(name, input, axes, output_size), return_indices)
    if not single:
        return out
    return (out[0][0], out[1][0]) if return_indices else out[0]


def adaptive_avg_pool1d(input: TensorLike, output_size: ShapeLike) -> Any:
    """The means of `output_size` windows that divide signals (examples, channels, length) evenly.

    Where the length is no multiple of it, neighbouring windows overlap.

    >>> import gradtape as gt
    >>> gt.nn.functional.adaptive_avg_pool1d(gt.tensor([[[1.0, 3.0, 2.0, 0.0, 4.0]]]), 2)
    Tensor([[[2., 2.]]])
    """
    return _adaptive_avg(1, input, output_size)


def adaptive_avg_pool2d(input: TensorLike, output_size: ShapeLike) -> Any:
    """The means of windows that divide images (examples, channels, height, width), as `adaptive_avg_pool1d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.adaptive_avg_pool2d(gt.tensor(np.ones((2, 3, 5, 7))), (1, None)).shape
    (2, 3, 1, 7)
    """
    return _adaptive_avg(2, input, output_size)


def adaptive_avg_pool3d(input: TensorLike, output_size: ShapeLike) -> Any:
    """The means of windows that divide volumes (examples, channels, depth, height, width), as `adaptive_avg_pool1d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.adaptive_avg_pool3d(gt.tensor(np.ones((2, 3, 4, 5, 6))), 2).shape
    (2, 3, 2, 2, 2)
    """
    return _adaptive_avg(3, input, output_size)


def adaptive_max_pool1d(input: TensorLike, output_size: ShapeLike, return_indices: bool = False) -> Any:
    """The largest elements of the windows of `adaptive_avg_pool1d`; with `return_indices`, also where they are.

    >>> import gradtape as gt
    >>> gt.nn.functional.adaptive_max_pool1d(gt.tensor([[[1.0, 3.0, 2.0, 0.0, 4.0]]]), 2)
    Tensor([[[3., 4.]]])
    """
    return _adaptive_max(1, input, output_size, return_indices)


def adaptive_max_pool2d(input: TensorLike, output_size: ShapeLike, return_indices: bool = False) -> Any:
    """The largest elements of the windows of `adaptive_avg_pool2d`; with `return_indices`, also where they are.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.adaptive_max_pool2d(gt.tensor(np.arange(6.0).reshape(1, 1, 2, 3)), 1).item()
    5.0
    """
    return _adaptive_max(2, input, output_size, return_indices)


def adaptive_max_pool3d(input: TensorLike, output_size: ShapeLike, return_indices: bool = False) -> Any:
    """The largest elements of the windows of `adaptive_avg_pool3d`; with `return_indices`, also where they are.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.adaptive_max_pool3d(gt.tensor(np.ones((2, 3, 4, 5, 6))), (None, 2, 1)).shape
    (2, 3, 4, 2, 1)
    """
    return _adaptive_max(3, input, output_size, return_indices)
