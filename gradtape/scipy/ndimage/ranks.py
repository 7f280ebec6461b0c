"""Filters that choose among neighbours: ranks, extremes, grey morphology. The gradient is that of the chosen one."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.extend import one_axis
from gradtape.scipy.arraylike import as_constant, as_floating, refusal
from gradtape.scipy.ndimage.mirrored import as_image, as_output, chosen_axes, for_each, original
from gradtape.scipy.neighbourhoods import neighbours, of_rank


def _footprint(name: str, size: Any, footprint: Any, places: list[int], ndim: int) -> Any:
    """What counts as a neighbour, with an axis of length 1 for each that is not filtered."""
    if footprint is None:
        if size is None:
            raise refusal(f"{name}: neither size nor footprint.", "size=3")
        window: Any = np.ones([int(n) for n in for_each(size, len(places), f"{name}: size")], bool)
    else:
        window = as_constant(footprint, f"{name}: footprint") != 0
    if window.ndim != len(places):
        raise refusal(f"{name}: footprint of shape {window.shape} for {len(places)} axes.", "as many axes", ShapeError)
    if not window.any():
        raise refusal(f"{name}: footprint marks no element.", "a footprint with a True")
    return _widened(window, places, ndim)


def _widened(window: Any, places: list[int], ndim: int) -> Any:
    if places == list(range(ndim)):
        return window
    lengths = [1] * ndim
    for place, length in zip(sorted(places), window.shape, strict=True):  # in the order of the axes, as SciPy has it
        lengths[place] = length
    return window.reshape(lengths)


def _around(name: str, image: Any, window: Any, mode: Any, cval: Any, origin: Any, places: list[int]) -> Any:
    if image.dtype.kind == "c":
        raise refusal(f"{name}: input is of {image.dtype}; complex numbers have no order.", "input.real")
    modes, origins = ["reflect"] * image.ndim, [0] * image.ndim
    for values, wanted in ((modes, mode), (origins, origin)):
        for place, value in zip(places, for_each(wanted, len(places), name), strict=True):
            values[place] = value
    for length, shift in zip(window.shape, origins, strict=True):
        if not 0 <= length // 2 + shift < length:
            raise refusal(f"{name}: origin={shift} with {length} neighbours.", "origin=0")
    return neighbours(image, window, modes, cval, origins)


def _ranked(name: str, rank: Any, input: Any, size: Any, footprint: Any, output: Any, details: Any, axes: Any) -> Any:
    mode, cval, origin = details
    image = as_image(name, input, cval)
    places = chosen_axes(axes, image.ndim)
    window = _footprint(name, size, footprint, places, image.ndim)
    count = int(window.sum())
    place = rank(count)
    if not -count <= place < count:
        raise refusal(f"{name}: rank {place} of {count} neighbours.", f"a rank from 0 to {count - 1}")
    around = _around(name, image, window, mode, cval, origin, places)
    return as_output(name, output, of_rank(around, place % count), image.dtype)


@original.differentiated
def rank_filter(
    input: Any,
    rank: int,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The neighbour of a rank."""
    return _ranked("rank_filter", lambda count: int(rank), input, size, footprint, output, (mode, cval, origin), axes)


@original.differentiated
def median_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The median of the neighbours.

    >>> import gradtape as gt
    >>> from gradtape.scipy.ndimage import median_filter
    >>> gt.grad(lambda x: median_filter(x, 3)[1])(gt.tensor([3.0, 1.0, 2.0]))
    Tensor([0., 0., 1.])
    """
    details = (mode, cval, origin)
    return _ranked("median_filter", lambda count: count // 2, input, size, footprint, output, details, axes)


@original.differentiated
def percentile_filter(
    input: Any,
    percentile: float,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The neighbour at a percentile."""
    share = float(percentile) + (100.0 if percentile < 0 else 0.0)
    if not 0 <= share <= 100:
        raise refusal(f"percentile_filter: percentile={percentile}; from -100 to 100 is accepted.", "percentile=50")
    rank = lambda count: count - 1 if share == 100 else int(count * share / 100.0)
    return _ranked("percentile_filter", rank, input, size, footprint, output, (mode, cval, origin), axes)


@original.differentiated
def minimum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The least of the neighbours."""
    return _ranked("minimum_filter", lambda count: 0, input, size, footprint, output, (mode, cval, origin), axes)


@original.differentiated
def maximum_filter(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The greatest of the neighbours."""
    return _ranked(
        "maximum_filter", lambda count: count - 1, input, size, footprint, output, (mode, cval, origin), axes
    )


@original.differentiated
def minimum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Any:
    """The least of the neighbours along an axis."""
    image = as_image("minimum_filter1d", input, cval)
    axes = (one_axis(axis, image.ndim),)
    return _ranked("minimum_filter1d", lambda count: 0, image, size, None, output, (mode, cval, origin), axes)


@original.differentiated
def maximum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Any:
    """The greatest of the neighbours along an axis."""
    image = as_image("maximum_filter1d", input, cval)
    axes = (one_axis(axis, image.ndim),)
    return _ranked("maximum_filter1d", lambda count: count - 1, image, size, None, output, (mode, cval, origin), axes)


# -- grey morphology: the least of x - structure, the greatest of x + structure turned round


def _morphed(
    name: str, is_dilation: bool, input: Any, size: Any, footprint: Any, structure: Any, output: Any, rest: Any
) -> Any:
    mode, cval, origin, axes = rest
    image = as_image(name, input, structure, cval)
    places = chosen_axes(axes, image.ndim)
    height = None if structure is None else as_floating(structure)
    if height is not None and footprint is None:
        footprint = np.ones(height.shape, bool)
    if footprint is None and size is None:
        raise refusal(f"{name}: none of size, footprint and structure.", "size=3")
    window = _footprint(name, size, footprint, places, image.ndim)
    origins = for_each(origin, len(places), f"{name}: origin")
    if is_dilation:
        lengths = [window.shape[place] for place in places]
        window = np.flip(window)
        origins = [-int(shift) - (length % 2 == 0) for shift, length in zip(origins, lengths, strict=True)]
    around = _around(name, image, window, mode, cval, origins, places)
    if height is not None:
        height = _widened(height, places, image.ndim)
        height = np.flip(height) if is_dilation else -height
        around = around + height[np.nonzero(window)]
    return as_output(name, output, np.max(around, -1) if is_dilation else np.min(around, -1), image.dtype)


@original.differentiated
def grey_erosion(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The least of the neighbours less the structure; differentiated by both."""
    return _morphed("grey_erosion", False, input, size, footprint, structure, output, (mode, cval, origin, axes))


@original.differentiated
def grey_dilation(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The greatest of the neighbours and the structure together; differentiated by both."""
    return _morphed("grey_dilation", True, input, size, footprint, structure, output, (mode, cval, origin, axes))


@original.differentiated
def grey_opening(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """An erosion, then a dilation."""
    rest = (mode, cval, origin)
    eroded = grey_erosion(input, size, footprint, structure, None, *rest, axes=axes)
    return grey_dilation(eroded, size, footprint, structure, output, *rest, axes=axes)


@original.differentiated
def grey_closing(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """A dilation, then an erosion."""
    rest = (mode, cval, origin)
    dilated = grey_dilation(input, size, footprint, structure, None, *rest, axes=axes)
    return grey_erosion(dilated, size, footprint, structure, output, *rest, axes=axes)


@original.differentiated
def morphological_gradient(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """A dilation less an erosion."""
    rest = (size, footprint, structure, output, mode, cval, origin)
    return grey_dilation(input, *rest, axes=axes) - grey_erosion(input, *rest, axes=axes)


@original.differentiated
def morphological_laplace(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """A dilation and an erosion, less the image twice."""
    rest = (size, footprint, structure, output, mode, cval, origin)
    return grey_dilation(input, *rest, axes=axes) + grey_erosion(input, *rest, axes=axes) - 2 * as_floating(input)


@original.differentiated
def white_tophat(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """An image less its opening."""
    rest = (size, footprint, structure, output, mode, cval, origin)
    return as_floating(input) - grey_opening(input, *rest, axes=axes)


@original.differentiated
def black_tophat(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The closing of an image less the image."""
    rest = (size, footprint, structure, output, mode, cval, origin)
    return grey_closing(input, *rest, axes=axes) - as_floating(input)
