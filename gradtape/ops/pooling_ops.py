"""The rows of pooling, and their kernels.

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
from gradtape.core.typing import Array, Draw, IndexLike
from gradtape.errors import OperandError
from gradtape.ops.arguments import argument_error
from gradtape.ops.convolution_ops import Lengths


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


def _at(axis: int, ndim: int, index: IndexLike) -> tuple[Any, ...]:
    """`index` along `axis`, and everything along the others."""
    return (slice(None),) * axis + (index,) + (slice(None),) * (ndim - axis - 1)


# -- the mean: sums over windows, and their transpose


def _sums_kernel(x: Array, windows: tuple[Windows, ...]) -> Any:
    for axis, along in enumerate(windows, x.ndim - len(windows)):
        total = np.zeros((*x.shape[:axis], along.outputs, *x.shape[axis + 1 :]), x.dtype)
        for outputs, inputs in _places(along):
            total[_at(axis, x.ndim, outputs)] += x[_at(axis, x.ndim, inputs)]
        x = total
    return x


def _shares_kernel(x: Array, windows: tuple[Windows, ...]) -> Any:
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


def _positions_kernel(x: Array, windows: tuple[Windows, ...]) -> Any:
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


def _rows(positions: Array, length: int, axes: int) -> Any:
    """Positions in the last axes of each image as positions in all images, laid out in a row."""
    lead = positions.shape[: positions.ndim - axes]
    starts = length * np.arange(int(np.prod(lead)), dtype=positions.dtype)
    return positions + starts.reshape((*lead, *(1,) * axes))


def _pick_kernel(x: Array, positions: Array, shape: Lengths, repeats: bool) -> Any:
    return np.take(x.reshape(-1), _rows(positions, int(np.prod(shape)), len(shape)))


def _place_kernel(x: Array, positions: Array, shape: Lengths, repeats: bool) -> Any:
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


def _positioned(draw: Draw, before: bool) -> list[Any]:
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


def _largest(name: str, input: Array, windows: tuple[Windows, ...], return_indices: bool) -> Any:
    if input.dtype.kind == "c":
        raise argument_error(
            OperandError, f"{name}: input has dtype {input.dtype}; complex numbers have no order.", "np.abs(input)"
        )
    positions = _positions(input, windows=windows)
    overlap = any(along.stride < along.step * (along.size - 1) + 1 for along in windows)
    out = _pick(input, positions, shape=_before(windows), repeats=overlap)
    return (out, positions) if return_indices else out


def _mean(input: Array, windows: tuple[Windows, ...], sizes: Any) -> Any:
    """The sums over windows, divided by `sizes`: a number, or one for each window."""
    total = _sums(input, windows=windows)
    return total / (sizes if isinstance(sizes, int) else sizes.astype(total.dtype))


def _products(each: Sequence[Any]) -> Any:
    """The outer product of numbers for each axis."""
    product: Any = np.ones(())
    for numbers in each:
        product = product[..., None] * numbers
    return product
