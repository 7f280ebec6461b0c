"""Pooling: the largest element, or the mean, of windows that move over the last axes.

Both go one axis after the other: a window of k x k elements is k columns, then k rows. The mean is linear. For the
largest, the positions are found first, which has no derivative; taking the elements from there is linear again, so
derivatives of every order follow. Of equal elements the first one is taken, and gets the whole gradient.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.operation import Op, apply
from gradtape.core.rules import constant, linear
from gradtape.errors import OperandError, ShapeError
from gradtape.ops.arguments import refused
from gradtape.ops.convolution import Lengths, for_each_axis, images
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


class Windows(NamedTuple):
    """The windows along one axis of `length` elements: window q has the elements start + stride * q + step * k.

    Elements that are not there are left out. With `stride` 0 they are those of adaptive pooling: the axis is divided
    into `outputs` windows as evenly as can be.
    """

    length: int
    outputs: int
    size: int
    stride: int
    step: int
    start: int

    def members(self) -> tuple[Any, Any]:
        """The elements of each window as a table (size, outputs), and which of them are there.

        In place of one that is not there stands the nearest of the same window that is.
        """
        return _members(self)

    def counts(self) -> Any:
        """How many elements of each window are there."""
        return self.members()[1].sum(axis=0)


@functools.lru_cache(maxsize=512)
def _members(along: Windows) -> tuple[Any, Any]:
    if along.stride:
        first = along.start + along.stride * np.arange(along.outputs)
        stop = np.minimum(first + along.step * (along.size - 1) + 1, along.length)
    else:
        first = np.arange(along.outputs) * along.length // along.outputs
        stop = -(-(np.arange(1, along.outputs + 1) * along.length) // along.outputs)
    table = first + along.step * np.arange(along.size)[:, None]
    lowest = first + along.step * np.maximum(0, -(first // along.step))
    highest = first + along.step * ((stop - 1 - first) // along.step)
    nearest, there = np.clip(table, lowest, highest), (table >= lowest) & (table <= highest)
    for shared in (nearest, there):
        shared.flags.writeable = False
    return nearest, there


@functools.lru_cache(maxsize=512)
def _places(along: Windows) -> list[tuple[Any, Any]]:
    """For each tap, which windows have it and which elements it is there, as indices."""
    return [(_index(np.flatnonzero(inside)), _index(places[inside])) for places, inside in zip(*along.members())]


@functools.lru_cache(maxsize=512)
def _nearest(along: Windows) -> list[Any]:
    """For each tap, the element that it is in each window, or the nearest that is there, as an index."""
    return [_index(places) for places in along.members()[0]]


def _index(places: Any) -> Any:
    """`places` as an index; at equal distances as a slice, which copies nothing."""
    if len(places) == 0:
        return slice(0, 0)
    step = int(places[1] - places[0]) if len(places) > 1 else 1
    if step > 0 and np.all(np.diff(places) == step):
        return slice(int(places[0]), int(places[-1]) + 1, step)
    return places


def _at(axis: int, ndim: int, index: Any) -> tuple[Any, ...]:
    """`index` along `axis`, and everything along the others."""
    return (slice(None),) * axis + (index,) + (slice(None),) * (ndim - axis - 1)


# -- the mean: sums over windows, and their transpose


def _sums_kernel(x: Any, windows: tuple[Windows, ...]) -> Any:
    for axis, along in enumerate(windows, x.ndim - len(windows)):
        total = np.zeros((*x.shape[:axis], along.outputs, *x.shape[axis + 1 :]), x.dtype)
        for outputs, inputs in _places(along):
            total[_at(axis, x.ndim, outputs)] += x[_at(axis, x.ndim, inputs)]
        x = total
    return x


def _shares_kernel(x: Any, windows: tuple[Windows, ...]) -> Any:
    for axis, along in enumerate(windows, x.ndim - len(windows)):
        total = np.zeros((*x.shape[:axis], along.length, *x.shape[axis + 1 :]), x.dtype)
        for outputs, inputs in _places(along):
            into, part = _at(axis, x.ndim, inputs), x[_at(axis, x.ndim, outputs)]
            if along.stride or along.outputs <= along.length:
                total[into] += part
            else:  # more windows than elements: several start at the same one
                np.add.at(total, into, part)
        x = total
    return x


def _batch_first(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    """The batching rule of what works on the last axes and leaves the others alone."""
    return apply(op, tuple(values), params)


_WINDOWS = [
    (Windows(5, 2, 2, 2, 1, 0),),
    (Windows(4, 3, 3, 2, 1, -1),),
    (Windows(7, 3, 2, 2, 3, -1),),
    (Windows(5, 3, 3, 0, 1, 0), Windows(2, 3, 2, 0, 1, 0)),
    (Windows(3, 2, 2, 1, 1, 0), Windows(4, 2, 3, 2, 1, -1)),
    (Windows(2, 1, 2, 1, 1, 0), Windows(3, 1, 3, 3, 1, 0), Windows(2, 2, 1, 1, 1, 0)),
]


def _before(windows: tuple[Windows, ...]) -> Lengths:
    return tuple([along.length for along in windows])


def _after(windows: tuple[Windows, ...]) -> Lengths:
    return tuple([along.outputs for along in windows])


_sums: Op = linear(
    _sums_kernel,
    lambda g, windows: _shares(g, windows=windows),
    name="sums over windows",
    batch=_batch_first,
    samples=lambda draw: [((draw(2, *_before(windows)),), {"windows": windows}) for windows in _WINDOWS],
)
_shares: Op = linear(
    _shares_kernel,
    lambda g, windows: _sums(g, windows=windows),
    name="shares of windows",
    batch=_batch_first,
    samples=lambda draw: [((draw(2, *_after(windows)),), {"windows": windows}) for windows in _WINDOWS],
)


# -- the largest: where it is, and taking it from there


def _positions_kernel(x: Any, windows: tuple[Windows, ...]) -> Any:
    """Where in the last axes, laid out in a row, the first of the largest elements of each window is.

    While it looks, an element is known by its tap, its number within the window: of two taps the later one has the
    greater number, so that the winner so far is a maximum too, and small integers are compared faster than copied.
    """
    if x.dtype.kind == "c":
        raise TypeError("complex numbers have no order")
    ndim, inner = x.ndim, 1
    sizes = [along.size for along in windows]
    kind = np.int16 if np.prod(sizes) < 1 << 15 else np.int64
    nans = x.dtype.kind == "f" and x.size > 0 and bool(np.isnan(np.max(x)))
    largest, winner = x, np.zeros((1,) * ndim, kind)
    for axis in reversed(range(ndim - len(windows), ndim)):
        along = windows[axis - ndim]
        best, first = largest, winner
        for tap, places in enumerate(_nearest(along)):
            index = _at(axis, ndim, places)
            candidate = best[index]
            number = (first if first.shape[axis] == 1 else first[index]) + kind(tap * inner)
            if tap == 0:
                largest, winner = candidate, np.broadcast_to(number, candidate.shape)
                continue
            greater = candidate > largest
            if nans:
                greater |= np.isnan(candidate) & ~np.isnan(largest)
            largest = np.maximum(largest, candidate)
            winner = np.maximum(winner, greater * number)
        inner *= along.size
    return _decoded(winner, windows)


def _decoded(taps: Any, windows: tuple[Windows, ...]) -> Any:
    """Numbers of taps as positions in the row of all elements."""
    tables = [along.members() for along in windows]
    strides = [int(np.prod([other.length for other in windows[i + 1 :]])) for i in range(len(windows))]
    if all(there.all() for _, there in tables):  # each tap is at the same distance from the first in every window
        corner = offset = np.zeros((), np.intp)
        for (table, _), stride in zip(tables, strides, strict=True):
            corner = corner[..., None] + stride * table[0]
            offset = offset[..., None] + stride * (table[:, 0] - table[0, 0])
        return np.take(offset.reshape(-1), taps) + corner
    position: Any = 0
    inner = int(np.prod([along.size for along in windows]))
    for axis, ((table, _), stride) in enumerate(zip(tables, strides, strict=True)):
        inner //= windows[axis].size
        tap = taps // inner % windows[axis].size
        window = np.arange(windows[axis].outputs).reshape((-1,) + (1,) * (len(windows) - axis - 1))
        position = position + stride * table[tap, window]
    return position


def _rows(positions: Any, length: int, axes: int) -> Any:
    """Positions in the last axes of each image as positions in all images, laid out in a row."""
    lead = positions.shape[: positions.ndim - axes]
    starts = length * np.arange(int(np.prod(lead)), dtype=positions.dtype)
    return positions + starts.reshape((*lead, *(1,) * axes))


def _pick_kernel(x: Any, positions: Any, shape: Lengths, repeats: bool) -> Any:
    return np.take(x.reshape(-1), _rows(positions, int(np.prod(shape)), len(shape)))


def _place_kernel(x: Any, positions: Any, shape: Lengths, repeats: bool) -> Any:
    out = np.zeros((*x.shape[: x.ndim - len(shape)], *shape), x.dtype)
    places = _rows(positions, int(np.prod(shape)), len(shape)).reshape(-1)
    if repeats:
        np.add.at(out.reshape(-1), places, x.reshape(-1))
    else:
        out.reshape(-1)[places] = x.reshape(-1)
    return out


def _batch_positioned(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    """Both arrays with the examples in front; one that is the same for all is repeated."""
    size = next(value.shape[0] for value, flag in zip(values, flags, strict=True) if flag)
    each = [v if flag else np.broadcast_to(v, (size, *v.shape)) for v, flag in zip(values, flags, strict=True)]
    return apply(op, tuple(each), params)


_positions = constant(
    _positions_kernel,
    name="positions of the largest",
    batch=_batch_first,
    samples=lambda draw: [((draw(2, *_before(windows)),), {"windows": windows}) for windows in _WINDOWS],
)


def _positioned(draw: Any, before: bool) -> list[Any]:
    found = []
    for windows in _WINDOWS:
        shape, inside = _before(windows), (2, *_after(windows))
        positions = np.arange(int(np.prod(inside))).reshape(inside) % int(np.prod(shape))
        params = {"shape": shape, "repeats": True}
        found.append(((draw(2, *shape) if before else draw(*inside), positions), params))
    apart = np.array([[3, 1], [0, 2]])
    found.append(((draw(2, 4) if before else draw(2, 2), apart), {"shape": (4,), "repeats": False}))
    return found


_pick: Op = linear(
    _pick_kernel,
    lambda g, positions, shape, repeats: _place(g, positions, shape=shape, repeats=repeats),
    None,
    name="take from windows",
    names=("x", "positions"),
    batch=_batch_positioned,
    samples=lambda draw: _positioned(draw, True),
)
_place: Op = linear(
    _place_kernel,
    lambda g, positions, shape, repeats: _pick(g, positions, shape=shape, repeats=repeats),
    None,
    name="put into windows",
    names=("x", "positions"),
    batch=_batch_positioned,
    samples=lambda draw: _positioned(draw, False),
)


def _largest(name: str, input: Any, windows: tuple[Windows, ...], return_indices: bool) -> Any:
    if input.dtype.kind == "c":
        raise refused(
            OperandError, f"{name}: input has dtype {input.dtype}; complex numbers have no order.", "np.abs(input)"
        )
    positions = _positions(input, windows=windows)
    overlap = any(along.stride < along.step * (along.size - 1) + 1 for along in windows)
    out = _pick(input, positions, shape=_before(windows), repeats=overlap)
    return (out, positions) if return_indices else out


def _mean(input: Any, windows: tuple[Windows, ...], sizes: Any) -> Any:
    """The sums over windows, divided by `sizes`: a number, or one for each window."""
    total = _sums(input, windows=windows)
    return total / (sizes if isinstance(sizes, int) else sizes.astype(total.dtype))


def _products(each: Sequence[Any]) -> Any:
    """The outer product of numbers for each axis."""
    product: Any = np.ones(())
    for numbers in each:
        product = product[..., None] * numbers
    return product


# -- arguments


def _windows(
    name: str, input: Any, axes: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Windows, ...]:
    sizes = for_each_axis(name, "kernel_size", kernel_size, axes, 1)
    strides = sizes if stride is None else for_each_axis(name, "stride", stride, axes, 1)
    margins = for_each_axis(name, "padding", padding, axes, 0)
    steps = for_each_axis(name, "dilation", dilation, axes, 1)
    if any(2 * margin > size for margin, size in zip(margins, sizes, strict=True)):
        raise refused(
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
            raise refused(
                ShapeError,
                f"{name}: kernel_size={sizes} with dilation={steps} is longer than input of shape {input.shape} with "
                f"padding={margins}.",
                "a smaller kernel_size, or more padding",
            )
        found.append(Windows(length, count, size, step_out, step, -margin))
        if step > 1 and not found[-1].counts().all():
            raise refused(
                ShapeError,
                f"{name}: with dilation={steps} and padding={margins} there are windows without any element of input, "
                f"of shape {input.shape}.",
                "less padding or dilation",
            )
    return tuple(found)


def _max_pool(
    axes: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    name = f"max_pool{axes}d"
    input, single = images(name, input, axes)
    windows = _windows(name, input, axes, kernel_size, stride, padding, dilation, ceil_mode)
    out = _largest(name, input, windows, return_indices)
    if not single:
        return out
    return (out[0][0], out[1][0]) if return_indices else out[0]


def _avg_pool(
    axes: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: Any,
) -> Any:
    name = f"avg_pool{axes}d"
    input, single = images(name, input, axes)
    windows = _windows(name, input, axes, kernel_size, stride, padding, 1, ceil_mode)
    if divisor_override is not None:
        sizes: Any = for_each_axis(name, "divisor_override", divisor_override, 1, 1)[0]
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
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
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
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
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
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
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
    input: Any,
    kernel_size: Any,
    stride: Any = None,
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
    input: Any,
    kernel_size: Any,
    stride: Any = None,
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
    input: Any,
    kernel_size: Any,
    stride: Any = None,
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


def _even_windows(name: str, input: Any, axes: int, output_size: Any) -> tuple[Windows, ...]:
    """Windows that divide each axis into as many as `output_size` says; None there keeps the axis as it is."""
    shape = input.shape[-axes:]
    several = output_size if isinstance(output_size, tuple | list) else (output_size,) * axes
    if len(several) == axes:
        several = tuple([n if wanted is None else wanted for wanted, n in zip(several, shape, strict=True)])
    counts = for_each_axis(name, "output_size", several, axes, 1)
    if 0 in shape:
        raise refused(ShapeError, f"{name}: input of shape {input.shape} has nothing to pool.", "a longer input")
    found = []
    for length, count in zip(shape, counts, strict=True):
        if length % count == 0:
            found.append(Windows(length, count, length // count, length // count, 1, 0))
        else:
            longest = max(-(-(q + 1) * length // count) - q * length // count for q in range(count))
            found.append(Windows(length, count, longest, 0, 1, 0))
    return tuple(found)


def _adaptive_avg(axes: int, input: Any, output_size: Any) -> Any:
    name = f"adaptive_avg_pool{axes}d"
    input, single = images(name, input, axes)
    windows = _even_windows(name, input, axes, output_size)
    if all(along.stride for along in windows):  # all of one size: a mean over axes of their own
        split = [length for along in windows for length in (along.outputs, along.size)]
        apart = reshape(input, (*input.shape[:2], *split))
        out = apart.mean(axis=tuple(range(3, 3 + 2 * axes, 2)))
    else:
        out = _mean(input, windows, _products([along.counts() for along in windows]))
    return out[0] if single else out


def _adaptive_max(axes: int, input: Any, output_size: Any, return_indices: bool) -> Any:
    name = f"adaptive_max_pool{axes}d"
    input, single = images(name, input, axes)
    out = _largest(name, input, _even_windows(name, input, axes, output_size), return_indices)
    if not single:
        return out
    return (out[0][0], out[1][0]) if return_indices else out[0]


def adaptive_avg_pool1d(input: Any, output_size: Any) -> Any:
    """The means of `output_size` windows that divide signals (examples, channels, length) evenly.

    Where the length is no multiple of it, neighbouring windows overlap.

    >>> import gradtape as gt
    >>> gt.nn.functional.adaptive_avg_pool1d(gt.tensor([[[1.0, 3.0, 2.0, 0.0, 4.0]]]), 2)
    Tensor([[[2., 2.]]])
    """
    return _adaptive_avg(1, input, output_size)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """The means of windows that divide images (examples, channels, height, width), as `adaptive_avg_pool1d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.adaptive_avg_pool2d(gt.tensor(np.ones((2, 3, 5, 7))), (1, None)).shape
    (2, 3, 1, 7)
    """
    return _adaptive_avg(2, input, output_size)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """The means of windows that divide volumes (examples, channels, depth, height, width), as `adaptive_avg_pool1d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.adaptive_avg_pool3d(gt.tensor(np.ones((2, 3, 4, 5, 6))), 2).shape
    (2, 3, 2, 2, 2)
    """
    return _adaptive_avg(3, input, output_size)


def adaptive_max_pool1d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of the windows of `adaptive_avg_pool1d`; with `return_indices`, also where they are.

    >>> import gradtape as gt
    >>> gt.nn.functional.adaptive_max_pool1d(gt.tensor([[[1.0, 3.0, 2.0, 0.0, 4.0]]]), 2)
    Tensor([[[3., 4.]]])
    """
    return _adaptive_max(1, input, output_size, return_indices)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of the windows of `adaptive_avg_pool2d`; with `return_indices`, also where they are.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.adaptive_max_pool2d(gt.tensor(np.arange(6.0).reshape(1, 1, 2, 3)), 1).item()
    5.0
    """
    return _adaptive_max(2, input, output_size, return_indices)


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of the windows of `adaptive_avg_pool3d`; with `return_indices`, also where they are.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.adaptive_max_pool3d(gt.tensor(np.ones((2, 3, 4, 5, 6))), (None, 2, 1)).shape
    (2, 3, 4, 2, 1)
    """
    return _adaptive_max(3, input, output_size, return_indices)
