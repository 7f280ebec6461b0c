"""Functions of `torch.nn.functional` that move elements: patches, pixels and channels, images in other sizes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete, integers_for_axes
from gradtape.nn import functional as ours
from gradtape_standins.torch.wrapping import function

__all__ = [
    "affine_grid",
    "channel_shuffle",
    "fold",
    "grid_sample",
    "interpolate",
    "max_unpool2d",
    "pixel_shuffle",
    "pixel_unshuffle",
    "unfold",
    "upsample",
]


def _pair(name: str, what: str, value: Any) -> tuple[int, ...]:
    """A number for both axes of images, or one for each."""
    return integers_for_axes(name, what, value, 2, 0 if what == "padding" else 1)


def _patches(
    name: str, shape: tuple[int, ...], kernel: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[Any, Any]:
    """Rows and columns, in the padded image, of the elements of patches: (patches, kernel) each."""
    found = []
    given = {"kernel_size": kernel, "dilation": dilation, "padding": padding, "stride": stride}
    options = [_pair(name, what, value) for what, value in given.items()]
    for length, size, step, width, apart in zip(shape, *options, strict=True):
        starts = np.arange(0, length + 2 * width - step * (size - 1), apart)
        found.append(starts[:, None] + step * np.arange(size))
    return found[0], found[1]


@function("View")
def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The patches of images (examples, channels, height, width) as columns."""
    (ph, pw), (kh, kw) = _pair("unfold", "padding", padding), _pair("unfold", "kernel_size", kernel_size)
    rows, columns = _patches("unfold", input.shape[2:], kernel_size, dilation, padding, stride)
    padded = gt.pad(input, [(0, 0), (0, 0), (ph, ph), (pw, pw)])
    patches = gt.getitem(padded, (slice(None), slice(None), rows[:, None, :, None], columns[None, :, None, :]))
    moved = gt.transpose(patches, (0, 1, 4, 5, 2, 3))
    return gt.reshape(moved, (input.shape[0], input.shape[1] * kh * kw, len(rows) * len(columns)))


@function("Col2Im")
def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Images from patches as columns: what `unfold` took from one place is added up there again."""
    height, width = _pair("fold", "output_size", output_size)
    (ph, pw), (kh, kw) = _pair("fold", "padding", padding), _pair("fold", "kernel_size", kernel_size)
    rows, columns = _patches("fold", (height, width), kernel_size, dilation, padding, stride)
    single = len(input.shape) == 2
    given = input[None] if single else input
    examples, channels = given.shape[0], given.shape[1] // (kh * kw)
    apart = gt.reshape(given, (examples, channels, kh, kw, len(rows), len(columns)))
    patches = gt.transpose(apart, (0, 1, 4, 5, 2, 3))
    empty = np.zeros((examples, channels, height + 2 * ph, width + 2 * pw), input.dtype)
    index = (slice(None), slice(None), rows[:, None, :, None], columns[None, :, None, :])
    image = gt.at(empty)[index].add(patches)[:, :, ph : ph + height, pw : pw + width]
    return image[0] if single else image


@function("PixelShuffle")
def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """Channels as places: (examples, c r^2, h, w) to (examples, c, h r, w r)."""
    *front, channels, height, width = input.shape
    r, n = upscale_factor, len(input.shape) - 3
    apart = gt.reshape(input, (*front, channels // r**2, r, r, height, width))
    moved = gt.transpose(apart, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return gt.reshape(moved, (*front, channels // r**2, height * r, width * r))


@function("PixelUnshuffle")
def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """Places as channels: (examples, c, h r, w r) to (examples, c r^2, h, w)."""
    *front, channels, height, width = input.shape
    r, n = downscale_factor, len(input.shape) - 3
    apart = gt.reshape(input, (*front, channels, height // r, r, width // r, r))
    moved = gt.transpose(apart, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return gt.reshape(moved, (*front, channels * r**2, height // r, width // r))


@function("View")
def channel_shuffle(input: Any, groups: int) -> Any:
    """The channels of groups, one of each group by turns."""
    examples, channels, *rest = input.shape
    apart = gt.reshape(input, (examples, groups, channels // groups, *rest))
    return gt.reshape(gt.swapaxes(apart, 1, 2), input.shape)


@function("MaxUnpool2D")
def max_unpool2d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """Maxima put back where `max_pool2d(..., return_indices=True)` found them, among zeros."""
    kh, kw = _pair("max_unpool2d", "kernel_size", kernel_size)
    ph, pw = _pair("max_unpool2d", "padding", padding)
    sh, sw = _pair("max_unpool2d", "stride", kernel_size if stride is None else stride)
    *front, height, width = input.shape
    sizes = ((height - 1) * sh - 2 * ph + kh, (width - 1) * sw - 2 * pw + kw)
    shape = tuple(sizes if output_size is None else output_size)[-2:]
    count = math.prod(front)
    places = (np.arange(count)[:, None], np.asarray(concrete(indices)).reshape(count, -1))
    flat = gt.at(np.zeros((count, math.prod(shape)), input.dtype))[places].set(gt.reshape(input, (count, -1)))
    return gt.reshape(flat, (*front, *shape))


# -- other sizes

_LABELS = {
    "nearest": "UpsampleNearest",
    "nearest-exact": "UpsampleNearestExact",
    "linear": "UpsampleLinear",
    "bilinear": "UpsampleBilinear",
    "trilinear": "UpsampleTrilinear",
    "bicubic": "UpsampleBicubic",
    "area": "AdaptiveAvgPool",
}
_RANKS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}


def _label(input: Any, *args: Any, mode: str = "nearest", **_: Any) -> str:
    given = args[2] if len(args) > 2 else mode
    return f"{_LABELS.get(given, 'Upsample')}{len(input.shape) - 2}D"


def _weighed(input: Any, axis: int, first: Any, weights: Any) -> Any:
    """The sum of `weights` (one row for each step) times the elements from `first` on; beyond the ends, the ends."""
    behind = (-1,) + (1,) * (len(input.shape) - axis - 1)
    total: Any = 0
    for step, share in enumerate(weights):
        taken = gt.take(input, np.clip(first + step, 0, input.shape[axis] - 1), axis)
        total = total + taken * np.asarray(share, input.dtype).reshape(behind)
    return total


def _between(input: Any, axis: int, places: Any) -> Any:
    """Values between the elements along an axis, in straight lines."""
    places = np.clip(places, 0, input.shape[axis] - 1)
    before = np.floor(places).astype(np.int64)
    share = places - before
    return _weighed(input, axis, before, [1 - share, share])


_BEND = -0.75
"""How much PyTorch's cubic curves bend."""


def _along_curves(input: Any, axis: int, places: Any) -> Any:
    """Values between the elements along an axis, on cubic curves through four of them."""
    before = np.floor(places).astype(np.int64)
    share = places - before

    def near(x: Any) -> Any:
        return ((_BEND + 2) * x - (_BEND + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((_BEND * x - 5 * _BEND) * x + 8 * _BEND) * x - 4 * _BEND

    return _weighed(input, axis, before - 1, [far(share + 1), near(share), near(1 - share), far(2 - share)])


def _sizes(input: Any, size: Any, scale_factor: Any) -> tuple[list[int], list[Any]]:
    """The lengths that are wanted, and the factors that they were given by (None where they were not)."""
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: either size or scale_factor should be defined")
    lengths = input.shape[2:]
    given = size if scale_factor is None else scale_factor
    listed = list(given) if isinstance(given, (list, tuple)) else [given] * len(lengths)
    if len(listed) != len(lengths):
        raise ValueError(
            f"Input and output must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {list(lengths)} and {'output size' if scale_factor is None else 'scale_factor'} of {listed}.\n"
            "  fix: input of shape (examples, channels, *lengths)"
        )
    if scale_factor is None:
        return [int(length) for length in listed], [None] * len(listed)
    return [int(length * factor) for length, factor in zip(lengths, listed, strict=True)], listed


@function("UpsampleNearest2D", _label)
def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """Images and signals in another size: the nearest elements, straight lines or curves between them, or means."""
    if mode not in _LABELS or antialias:
        raise NotImplementedError(
            f"interpolate: mode={mode!r}, antialias={antialias}; the stand-in has {', '.join(map(repr, _LABELS))}"
        )
    rank = len(input.shape)
    if rank not in (3, 4, 5) or rank != _RANKS.get(mode, rank):
        raise NotImplementedError(
            f"interpolate: an input of {rank} axes; {mode!r} takes {_RANKS.get(mode, '3, 4 or 5')}.\n"
            "  fix: input of shape (examples, channels, *lengths): unsqueeze(0) for a single example"
        )
    wanted, factors = _sizes(input, size, scale_factor)
    if mode == "area":
        return getattr(ours, f"adaptive_avg_pool{len(wanted)}d")(input, tuple(wanted))
    for axis, (count, factor) in enumerate(zip(wanted, factors, strict=True), 2):
        length = input.shape[axis]
        ratio = length / count if factor is None or recompute_scale_factor else 1 / factor
        if mode.startswith("nearest"):
            first = np.floor((np.arange(count) + (0.5 if mode == "nearest-exact" else 0.0)) * ratio)
            input = gt.take(input, np.minimum(first.astype(np.int64), length - 1), axis)
            continue
        places = (np.arange(count) + 0.5) * ratio - 0.5
        if align_corners:
            places = np.arange(count) * ((length - 1) / max(count - 1, 1))
        input = (_along_curves if mode == "bicubic" else _between)(input, axis, places)
    return input


upsample = interpolate


@function("AffineGridGenerator")
def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """Where the pixels of images come from by matrices (examples, 2, 3), with -1 and 1 at the edges."""
    height, width = tuple(size)[-2:]

    def along(count: int) -> Any:
        if align_corners:
            return np.linspace(-1, 1, count)
        return (np.arange(count) * 2 + 1) / count - 1

    x, y = np.meshgrid(along(width), along(height))
    points = np.stack([x, y, np.ones_like(x)], axis=-1).astype(theta.dtype)
    return gt.einsum("hwk,nik->nhwi", points, theta)


@function("GridSampler2D")
def grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Any:
    """Images read at places (examples, height, width, 2) between -1 and 1: zeros, or the border, beyond the edges."""
    if mode not in ("bilinear", "nearest") or padding_mode not in ("zeros", "border"):
        raise NotImplementedError(
            f"grid_sample: mode={mode!r}, padding_mode={padding_mode!r}; the stand-in has 'bilinear' and 'nearest', "
            "'zeros' and 'border'"
        )
    examples, _, height, width = input.shape

    def placed(coordinate: Any, length: int) -> Any:
        place = (coordinate + 1) / 2 * (length - 1) if align_corners else ((coordinate + 1) * length - 1) / 2
        return gt.clip(place, 0, length - 1) if padding_mode == "border" else place

    x, y = placed(grid[..., 0], width), placed(grid[..., 1], height)

    def read(row: Any, column: Any) -> Any:
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        index = (
            np.arange(examples)[:, None, None],
            slice(None),
            np.clip(row, 0, height - 1),
            np.clip(column, 0, width - 1),
        )
        return gt.moveaxis(gt.getitem(input, index), -1, 1) * inside[:, None].astype(input.dtype)

    def whole(place: Any) -> Any:
        return np.asarray(gt.stop_gradient(place)).astype(np.int64)

    if mode == "nearest":
        return read(whole(gt.round(y)), whole(gt.round(x)))
    row, column = whole(gt.floor(gt.stop_gradient(y))), whole(gt.floor(gt.stop_gradient(x)))
    down, right = (y - row.astype(input.dtype))[:, None], (x - column.astype(input.dtype))[:, None]
    upper = read(row, column) * (1 - right) + read(row, column + 1) * right
    lower = read(row + 1, column) * (1 - right) + read(row + 1, column + 1) * right
    return upper * (1 - down) + lower * down
