"""Images at other places: spline interpolation, shifts, zooms, rotations, affine and other maps.

An image is the spline of an order through its values. It is differentiated by the values, through the coefficients of
the spline, and by the places, through the weights of the coefficients.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.extend import Tensor, concrete, one_axis
from gradtape.ops.creation_from import array
from gradtape.ops.elementwise import where
from gradtape.ops.padding import pad
from gradtape.ops.splines import spline_coefficients
from gradtape.scipy.arraylike import as_array, as_floating, is_tensor, one_of, refusal
from gradtape.scipy.ndimage.mirrored import as_image, as_output, for_each, original
from gradtape.scipy.neighbourhoods import MODES, inside
from gradtape.scipy.special import cosdg, sindg

MARGIN = 12
"""How far an image is continued before it is filtered, where its spline has no exact boundary condition."""


def _order(name: str, order: Any, least: int = 0) -> int:
    if not (isinstance(order, int | np.integer) and least <= order <= 5):
        raise refusal(f"{name}: order={order!r}; a whole number from {least} to 5 is accepted.", "order=3")
    return int(order)


# -- the coefficients


@original.differentiated
def spline_filter1d(input: Any, order: int = 3, axis: int = -1, output: Any = np.float64, mode: str = "mirror") -> Any:
    """The coefficients of the spline through the values along an axis.

    >>> import gradtape as gt
    >>> from gradtape.scipy.ndimage import spline_filter1d
    >>> spline_filter1d(gt.tensor([0.0, 1.0, 0.0]), 2).round(6)
    Tensor([-0.5,  1.5, -0.5])
    """
    one_of("spline_filter1d: mode", mode, MODES)
    image = as_floating(input)
    order = _order("spline_filter1d", order)
    found = image.astype(complex if image.dtype.kind == "c" else float)
    if order > 1:
        found = spline_coefficients(found, order=order, axis=one_axis(axis, image.ndim), mode=mode)
    return as_output("spline_filter1d", _complex_output(output, image), found, found.dtype)


def _complex_output(output: Any, image: Any) -> Any:
    """The dtype asked for, complex if the image is."""
    if image.dtype.kind != "c" or isinstance(output, np.ndarray | Tensor):
        return output
    return np.result_type(output, np.complex64)


@original.differentiated
def spline_filter(input: Any, order: int = 3, output: Any = np.float64, mode: str = "mirror") -> Any:
    """The coefficients of the spline through the values of an image."""
    _order("spline_filter", order, 2)
    found = as_floating(input)
    for axis in range(found.ndim):
        found = spline_filter1d(found, order, axis, output, mode)
    return found


def _coefficients(image: Any, order: int, mode: str, prefilter: bool) -> tuple[Any, int]:
    """The coefficients in double precision, and how many of them lie before the first element along each axis."""
    double = image.astype(complex if image.dtype.kind == "c" else float)
    if order < 2 or not prefilter:
        return double, 0
    margin = 0
    if mode in ("nearest", "grid-constant"):
        margin = MARGIN
        widths = [(margin, margin)] * image.ndim
        double = pad(double, widths, mode="edge") if mode == "nearest" else pad(double, widths)
    for axis in range(image.ndim):
        double = spline_coefficients(double, order=order, axis=axis, mode=mode)
    return double, margin


# -- places


def _mapped(places: Any, length: int, mode: str) -> tuple[Any, Any]:
    """Places along an axis brought between its ends, and where they are beyond them and constant (None: nowhere)."""
    if mode == "constant":
        beyond = (places < 0) | (places > length - 1)
        return where(beyond, 0.0, places), beyond
    if mode == "nearest":
        return np.clip(places, 0.0, length - 1.0), None
    if mode in ("mirror", "wrap") and length < 2:
        return 0.0 * places, None
    if mode == "mirror":
        turned = np.mod(places, 2.0 * (length - 1))
        return where(turned > length - 1, 2.0 * (length - 1) - turned, turned), None
    if mode in ("reflect", "grid-mirror"):
        turned = np.mod(places + 0.5, 2.0 * length) - 0.5
        return where(turned > length - 0.5, 2.0 * length - 1 - turned, turned), None
    if mode == "wrap":
        return where((places < 0) | (places > length - 1), np.mod(places, length - 1.0), places), None
    if mode == "grid-wrap":
        return np.mod(places, float(length)), None
    return places, None


TAPS = {"constant": "mirror", "wrap": "mirror"}
"""How coefficients continue beyond the edges, where that is not as places do."""


def _weights(places: Any, order: int) -> tuple[Any, Any]:
    """The first coefficient that counts at each place, and the weights of the `order + 1` from there on (last axis).

    Of B-splines: N_d[j] = ((t + d - j) N_(d-1)[j-1] + (1 - t + j) N_(d-1)[j]) / d, with t the place within its cell.
    """
    shifted = places + 0.5 if order % 2 == 0 else places
    cell = np.floor(shifted)
    t = shifted - cell
    parts: list[Any] = [np.ones(places.shape) + 0.0 * t]
    for degree in range(1, order + 1):
        parts = [
            ((0.0 if j == 0 else (t + (degree - j)) * parts[j - 1]) + (0.0 if j == degree else (1 - t + j) * parts[j]))
            / degree
            for j in range(degree + 1)
        ]
    return cell.astype(int) - order // 2, np.stack(parts, axis=-1)


def _taps(places: Any, length: int, order: int, mode: str) -> tuple[Any, Any, Any]:
    """The indices of coefficients along an axis, their weights (0 for those that are constant), and what is beyond."""
    places, beyond = _mapped(places, length, mode)
    first, weights = _weights(places, order)
    index = first[..., None] + np.arange(order + 1)
    index = inside(index, length, TAPS.get(mode, mode))
    if mode == "grid-constant":
        weights = where(index < 0, 0.0, weights)
        index = np.maximum(index, 0)
    return index, weights, beyond


def _at_places(coefficients: Any, places: list[Any], order: int, mode: str) -> tuple[Any, Any]:
    """The spline at places, an array of them for each axis, and where these are beyond the edges."""
    flat: Any = 0
    product: Any = 1.0
    beyond: Any = None
    for axis, length in enumerate(coefficients.shape):
        index, weights, outside = _taps(places[axis], length, order, mode)
        shape = (*index.shape[:-1], *(1,) * axis, order + 1, *(1,) * (coefficients.ndim - axis - 1))
        flat = flat * length + index.reshape(shape)
        product = product * weights.reshape(shape)
        if outside is not None:
            beyond = outside if beyond is None else beyond | outside
    around = coefficients.reshape((-1,))[flat]
    return np.sum(around * product, axis=tuple(range(-coefficients.ndim, 0))), beyond


def _along_axes(coefficients: Any, places: list[Any], order: int, mode: str) -> tuple[Any, Any]:
    """The same on a grid, given by a vector of places for each axis: one axis after the other."""
    beyond: Any = None
    found = coefficients
    for axis, length in enumerate(coefficients.shape):
        index, weights, outside = _taps(places[axis], length, order, mode)
        moved = np.moveaxis(found, axis, -1)
        found = np.moveaxis(np.sum(moved[..., index] * weights, axis=-1), -1, axis)
        if outside is not None:
            outside = outside.reshape((-1,) + (1,) * (coefficients.ndim - axis - 1))
            beyond = outside if beyond is None else beyond | outside
    return found, beyond


def _interpolated(
    name: str,
    image: Any,
    places: list[Any],
    order: Any,
    mode: str,
    cval: Any,
    prefilter: bool,
    output: Any,
    on_grid: bool = False,
) -> Any:
    one_of(f"{name}: mode", mode, MODES)
    order = _order(name, order)
    uses_constant = mode in ("constant", "grid-constant") and (is_tensor(cval) or cval != 0)
    # where the image ends and a constant begins, the spline is that of the image less the constant
    lowered = image - cval if uses_constant and mode == "grid-constant" else image
    coefficients, margin = _coefficients(lowered, order, mode, prefilter)
    moved = [place + float(margin) for place in places] if margin else places
    found, beyond = (_along_axes if on_grid else _at_places)(coefficients, moved, order, mode)
    if uses_constant and mode == "grid-constant":
        found = found + cval
    if beyond is not None:
        found = where(beyond, cval, found)
    return as_output(name, None if output is None else _complex_output(output, image), found, image.dtype)


@original.differentiated
def map_coordinates(
    input: Any,
    coordinates: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """An image at coordinates, which have an axis for the axes of the image first; differentiated by both.

    >>> import gradtape as gt
    >>> from gradtape.scipy.ndimage import map_coordinates
    >>> image = [[0.0, 1.0], [2.0, 3.0]]
    >>> gt.grad(lambda at: map_coordinates(image, at, order=1).sum())(gt.tensor([[0.25], [0.5]]))
    Tensor([[2.],
            [1.]])
    """
    name = "map_coordinates"
    image, at = as_image(name, input, coordinates, cval), as_floating(coordinates)
    if at.dtype.kind == "c":
        raise refusal(f"{name}: coordinates are of {at.dtype}; real numbers are accepted.", "coordinates.real")
    if at.ndim < 2 or at.shape[0] != image.ndim:
        raise refusal(
            f"{name}: coordinates of shape {at.shape} for an image of {image.ndim} axes.",
            f"coordinates of shape ({image.ndim}, ...)",
            ShapeError,
        )
    places = [at[k].astype(float) for k in range(image.ndim)]
    return _interpolated(name, image, places, order, mode, cval, prefilter, output)


@original.differentiated_with_callbacks
def geometric_transform(
    input: Any,
    mapping: Any,
    output_shape: Any = None,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
    extra_arguments: Any = (),
    extra_keywords: Any = None,
) -> Any:
    """An image at the places that `mapping` gives for each index of the result; differentiated by the places too."""
    name = "geometric_transform"
    image = as_array(input)
    shape = tuple(image.shape if output_shape is None else output_shape)
    keywords = {} if extra_keywords is None else extra_keywords
    found = [
        mapping(index, *extra_arguments, **keywords)
        for index in itertools.product(*[range(length) for length in shape])
    ]
    at: Any = as_array([list(place) for place in found]).reshape((*shape, image.ndim))
    if not is_tensor(image, at, cval):
        return original.contents.map_coordinates(image, np.moveaxis(at, -1, 0), output, order, mode, cval, prefilter)
    image = as_image(name, image, at, cval)
    places = [at[..., k].astype(float) for k in range(image.ndim)]
    return _interpolated(name, image, places, order, mode, cval, prefilter, output)


@original.differentiated
def affine_transform(
    input: Any,
    matrix: Any,
    offset: Any = 0.0,
    output_shape: Any = None,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """An image at `matrix @ index + offset`; differentiated by the image, the matrix and the offset.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.ndimage import affine_transform
    >>> affine_transform(gt.tensor([0.0, 1.0, 2.0, 3.0]), np.array([[0.5]]), order=1)
    Tensor([0. , 0.5, 1. , 1.5])
    """
    name = "affine_transform"
    image = as_image(name, input, matrix, offset, cval)
    matrix = as_floating(matrix).astype(float)
    ndim = image.ndim
    shape = tuple(image.shape if output_shape is None else output_shape)
    if matrix.ndim == 2 and matrix.shape[1] == ndim + 1 and matrix.shape[0] in (ndim, ndim + 1):  # homogeneous
        offset, matrix = matrix[:ndim, ndim], matrix[:ndim, :ndim]
    if matrix.ndim not in (1, 2) or matrix.shape[0] != ndim or (matrix.ndim == 2 and matrix.shape[1] != len(shape)):
        raise refusal(
            f"{name}: matrix of shape {matrix.shape} for an image of {ndim} axes and a result of {len(shape)}.",
            f"({ndim}, {len(shape)}), or ({ndim},) for a diagonal",
            ShapeError,
        )
    offsets = for_each(offset, ndim, f"{name}: offset")
    if matrix.ndim == 1:
        places = [matrix[k] * np.arange(shape[k]) + offsets[k] for k in range(ndim)]
        return _interpolated(name, image, places, order, mode, cval, prefilter, output, on_grid=True)
    grid = np.stack(np.meshgrid(*[np.arange(length) for length in shape], indexing="ij"), axis=-1)
    at = np.matmul(grid.reshape((-1, len(shape))), matrix.T)
    places = [(at[:, k] + offsets[k]).reshape(shape) for k in range(ndim)]
    return _interpolated(name, image, places, order, mode, cval, prefilter, output)


@original.differentiated
def shift(
    input: Any,
    shift: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """An image moved along its axes; differentiated by the image and by how far.

    >>> import gradtape as gt
    >>> from gradtape.scipy.ndimage import shift
    >>> shift(gt.tensor([1.0, 2.0, 4.0]), gt.tensor(0.5), order=1, mode="nearest")
    Tensor([1. , 1.5, 3. ])
    """
    image = as_image("shift", input, shift, cval)
    moves = for_each(shift if not isinstance(shift, list | tuple) else as_array(shift), image.ndim, "shift: shift")
    places = [np.arange(length) - 1.0 * move for length, move in zip(image.shape, moves, strict=True)]
    return _interpolated("shift", image, places, order, mode, cval, prefilter, output, on_grid=True)


@original.differentiated
def zoom(
    input: Any,
    zoom: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
    *,
    grid_mode: bool = False,
) -> Any:
    """An image with another number of elements; `zoom` only says how many, and has no derivative."""
    if is_tensor(zoom):
        raise refusal(
            "zoom: zoom is a tensor; it says how many elements the result has, and has no derivative.",
            "zoom.numpy(); affine_transform has a derivative by its matrix",
        )
    image = as_image("zoom", input, cval)
    factors = for_each(zoom, image.ndim, "zoom: zoom")
    shape = [round(length * factor) for length, factor in zip(image.shape, factors, strict=True)]
    if all(factor == 1 for factor in factors) and prefilter:
        return as_output("zoom", output, image + 0, image.dtype)
    places = []
    for length, count in zip(image.shape, shape, strict=True):
        if grid_mode:
            places.append((np.arange(count) + 0.5) * (length / max(count, 1)) - 0.5)
        else:
            step = (length - 1) / (count - 1) if count > 1 else 1.0
            places.append(np.arange(count) * step)
    return _interpolated("zoom", image, places, order, mode, cval, prefilter, output, on_grid=True)


@original.differentiated
def rotate(
    input: Any,
    angle: Any,
    axes: Any = (1, 0),
    reshape: bool = True,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """An image turned in a plane by an angle in degrees; differentiated by the image and by the angle.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.ndimage import rotate
    >>> rotate(gt.tensor([[1.0, 2.0], [3.0, 4.0]]), 90.0, order=1)
    Tensor([[2., 4.],
            [1., 3.]])
    """
    name = "rotate"
    image = as_image(name, input, angle, cval)
    if image.ndim < 2 or len(axes) != 2:
        raise refusal(f"{name}: an image of shape {image.shape} and axes={axes!r}.", "two axes of an image", ShapeError)
    places = sorted(one_axis(axis, image.ndim) for axis in axes)
    if places[0] == places[1]:
        raise refusal(f"{name}: axes={axes!r} are the same.", "two different axes")
    c, s = cosdg(angle), sindg(angle)
    matrix = array([[c, s], [-s, c]])
    plane = np.array([image.shape[axis] for axis in places])
    size = plane
    if reshape:
        turn = concrete(matrix) if isinstance(matrix, Tensor) else np.asarray(matrix)
        corners = turn @ [[0, 0, plane[0], plane[0]], [0, plane[1], 0, plane[1]]]
        size = (np.ptp(corners, axis=1) + 0.5).astype(int)
    offset = (plane - 1) / 2 - np.matmul(matrix, (size - 1) / 2)
    moved = np.moveaxis(image, places, (-2, -1))
    result = (int(size[0]), int(size[1]))
    if image.ndim == 2:
        return affine_transform(moved, matrix, offset, result, output, order, mode, cval, prefilter)
    outer = moved.shape[:-2]
    planes = moved.reshape((math.prod(outer), *moved.shape[-2:]))
    turned = [
        affine_transform(planes[k], matrix, offset, result, output, order, mode, cval, prefilter)
        for k in range(planes.shape[0])
    ]
    return np.moveaxis(np.stack(turned).reshape((*outer, *result)), (-2, -1), places)
