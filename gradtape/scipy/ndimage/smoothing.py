"""Linear filters of images: correlation, Gaussians, derivatives, means."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape import signal
from gradtape.errors import ShapeError
from gradtape.extend import Tensor, one_axis
from gradtape.ops.elementwise import where
from gradtape.ops.filters import resample_signal
from gradtape.ops.padding import pad
from gradtape.scipy.arraylike import as_floating, is_tensor, one_of, refusal
from gradtape.scipy.ndimage.mirrored import as_image, as_output, chosen_axes, for_each, original
from gradtape.scipy.neighbourhoods import MODES

PAD_MODES = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "grid-wrap": "wrap",
}
"""What NumPy calls what lies beyond the edges."""


def extended(x: Any, widths: list[tuple[int, int]], mode: str, cval: Any) -> Any:
    """`x` with as many elements beyond its edges."""
    one_of("filter: mode", mode, MODES)
    if mode in PAD_MODES:
        return pad(x, widths, mode=PAD_MODES[mode])
    wide = pad(x, widths)
    if is_tensor(cval) or cval != 0:
        outside = np.pad(np.zeros(x.shape, np.zeros(0, x.dtype).real.dtype), widths, constant_values=1.0)
        wide = wide + outside * cval
    return wide


def _middle(called: str, length: int, origin: Any) -> int:
    """Which of the weights is at the element itself."""
    middle = length // 2 + int(origin)
    if not 0 <= middle < length:
        raise refusal(f"{called}: origin={origin} with {length} weights.", "origin=0")
    return middle


def _correlated(x: Any, weights: Any, axis: int, mode: str, cval: Any, middle: int) -> Any:
    """sum_j weights[j] x[i + j - middle] along an axis; the weights are a vector."""
    taps = weights.shape[0]
    widths = [(0, 0)] * x.ndim
    widths[axis] = (middle, taps - 1 - middle)
    wide = extended(x, widths, mode, cval)
    full = resample_signal(wide, np.flip(weights, 0), up=1, down=1, axis=axis)
    return full[(*(slice(None),) * axis, slice(taps - 1, wide.shape[axis]))]


def _floating(x: Any) -> Any:
    return x if x.dtype.kind in "fc" else x.astype(float)


def _like(weights: Any, x: Any) -> Any:
    """Weights in the precision of the image."""
    real = np.zeros(0, x.dtype).real.dtype
    wanted = np.result_type(real, np.complex64) if weights.dtype.kind == "c" else real
    return weights if weights.dtype == wanted else weights.astype(wanted)


@original.differentiated
def correlate1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """The correlation along an axis with a vector of weights; differentiated by the image, the weights and `cval`.

    >>> import gradtape as gt
    >>> from gradtape.scipy.ndimage import correlate1d
    >>> correlate1d(gt.tensor([1.0, 2.0, 4.0]), [-1.0, 0.0, 1.0])
    Tensor([1., 3., 2.])
    """
    return _along("correlate1d", input, weights, axis, output, mode, cval, origin, turned=False)


@original.differentiated
def convolve1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """The convolution along an axis with a vector of weights."""
    return _along("convolve1d", input, weights, axis, output, mode, cval, origin, turned=True)


def _along(
    name: str, input: Any, weights: Any, axis: int, output: Any, mode: str, cval: Any, origin: int, turned: bool
) -> Any:
    image, weights = as_image(name, input, weights, cval), as_floating(weights)
    if weights.ndim != 1 or not weights.shape[0]:
        raise refusal(f"{name}: weights of shape {weights.shape}; a vector is accepted.", "weights.ravel()", ShapeError)
    place, taps = one_axis(axis, image.ndim), weights.shape[0]
    if turned:
        weights, origin = np.flip(weights, 0), -origin - (taps % 2 == 0)
    elif weights.dtype.kind == "c":
        weights = np.conj(weights)
    x = _floating(image)
    found = _correlated(x, _like(weights, x), place, mode, cval, _middle(name, taps, origin))
    return as_output(name, output, found, _result_dtype(image, found))


def _result_dtype(image: Any, found: Any) -> Any:
    return found.dtype if found.dtype.kind == "c" else image.dtype


@original.differentiated
def correlate(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The correlation with an array of weights; differentiated by the image, the weights and `cval`.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.ndimage import correlate
    >>> correlate(gt.tensor(np.eye(2)), np.ones((3, 3)), mode="constant")
    Tensor([[2., 2.],
            [2., 2.]])
    """
    return _by_weights("correlate", input, weights, output, mode, cval, origin, axes, turned=False)


@original.differentiated
def convolve(
    input: Any,
    weights: Any,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The convolution with an array of weights."""
    return _by_weights("convolve", input, weights, output, mode, cval, origin, axes, turned=True)


def _by_weights(
    name: str, input: Any, weights: Any, output: Any, mode: str, cval: Any, origin: Any, axes: Any, turned: bool
) -> Any:
    image, weights = as_image(name, input, weights, cval), as_floating(weights)
    places = chosen_axes(axes, image.ndim)
    if weights.ndim != len(places):
        raise refusal(
            f"{name}: weights of shape {weights.shape} for {len(places)} axes.",
            "as many axes as are filtered",
            ShapeError,
        )
    origins = [0] * image.ndim
    lengths = [1] * image.ndim
    for place, shift in zip(places, for_each(origin, len(places), f"{name}: origin"), strict=True):
        origins[place] = int(shift)
    for place, length in zip(sorted(places), weights.shape, strict=True):  # in the order of the axes, as SciPy has it
        lengths[place] = length
    weights = weights.reshape(lengths)
    if not turned and weights.dtype.kind == "c":
        weights = np.conj(weights)
    if turned:
        weights = np.flip(weights)
        origins = [-shift - (length % 2 == 0) for shift, length in zip(origins, lengths, strict=True)]
    middles = [_middle(name, length, shift) for length, shift in zip(lengths, origins, strict=True)]
    x = _floating(image)
    widths = [(middle, length - 1 - middle) for middle, length in zip(middles, lengths, strict=True)]
    wide = extended(x, widths, mode, cval)
    found = signal.convolve(wide, np.flip(_like(weights, x)), "valid")
    return as_output(name, output, found, _result_dtype(image, found))


# -- Gaussians


def _gaussian_weights(sigma: Any, order: int, radius: int) -> Any:
    """A Gaussian, or its derivative of an order: a polynomial q times it with q' = dq/dx - q x / sigma^2."""
    x = np.arange(-radius, radius + 1)
    variance = sigma * sigma
    bell = np.exp(-0.5 / variance * x**2)
    bell = bell / np.sum(bell)
    if not order:
        return bell
    powers = np.arange(order + 1)
    q: Any = np.eye(1, order + 1)[0]
    slope, shift = np.diag(powers[1:], 1), np.diag(np.ones(order), -1)
    for _ in range(order):
        q = np.matmul(slope, q) - np.matmul(shift, q) / variance
    return np.matmul(x[:, None] ** powers, q) * bell


@original.differentiated
def gaussian_filter1d(
    input: Any,
    sigma: Any,
    axis: int = -1,
    order: int = 0,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | None = None,
) -> Any:
    """A Gaussian filter along an axis, or a derivative of it; differentiated by the image and by `sigma`.

    How many weights there are follows from `sigma` too: the derivative is that of the weights, at their number.

    >>> import gradtape as gt
    >>> from gradtape.scipy.ndimage import gaussian_filter1d
    >>> gaussian_filter1d(gt.tensor([0.0, 1.0, 0.0]), gt.tensor(0.5)).round(6)
    Tensor([0.106715, 0.786571, 0.106715])
    """
    image = as_image("gaussian_filter1d", input, sigma, cval)
    if radius is None:
        radius = int(truncate * sigma + 0.5)
    if int(radius) != radius or radius < 0:
        raise refusal(f"gaussian_filter1d: radius={radius!r}; a whole number from 0 on is accepted.", "radius=None")
    weights = _gaussian_weights(sigma, int(order), int(radius))[::-1]
    return correlate1d(image, weights, axis, output, mode, cval, 0)


@original.differentiated
def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: float = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> Any:
    """A Gaussian filter, or a derivative of it; differentiated by the image and by `sigma`.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.ndimage import gaussian_filter
    >>> image = np.eye(3)
    >>> gt.grad(lambda sigma: gaussian_filter(image, sigma)[1, 1])(gt.tensor(0.5)).round(4)
    Tensor(-1.8397)
    """
    name = "gaussian_filter"
    image = as_image(name, input, sigma, cval)
    places = chosen_axes(axes, image.ndim)
    sigmas, orders, modes, radii = (
        for_each(v, len(places), f"{name}: {called}")
        for v, called in ((sigma, "sigma"), (order, "order"), (mode, "mode"), (radius, "radius"))
    )
    found = image
    for place, width, k, beyond, reach in zip(places, sigmas, orders, modes, radii, strict=True):
        if is_tensor(width) or width > 1e-15:
            found = gaussian_filter1d(found, width, place, k, output, beyond, cval, truncate, radius=reach)
    return as_output(name, output, found, image.dtype)


# -- derivatives


def _stencils(name: str, input: Any, axis: int, output: Any, mode: Any, cval: Any, smooth: list[float]) -> Any:
    image = as_image(name, input, cval)
    place = one_axis(axis, image.ndim)
    modes = for_each(mode, image.ndim, f"{name}: mode")
    found = correlate1d(image, [-1.0, 0.0, 1.0], place, output, modes[place], cval)
    for other in range(image.ndim):
        if other != place:
            found = correlate1d(found, smooth, other, output, modes[other], cval)
    return found


@original.differentiated
def sobel(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    """Sobel's filter: a difference along an axis, smoothed along the others."""
    return _stencils("sobel", input, axis, output, mode, cval, [1.0, 2.0, 1.0])


@original.differentiated
def prewitt(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    """Prewitt's filter: a difference along an axis, summed along the others."""
    return _stencils("prewitt", input, axis, output, mode, cval, [1.0, 1.0, 1.0])


@original.differentiated
def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> Any:
    """The sum of second differences along the axes.

    >>> import gradtape as gt
    >>> from gradtape.scipy.ndimage import laplace
    >>> laplace(gt.tensor([0.0, 1.0, 4.0, 9.0]))
    Tensor([ 1.,  2.,  2., -5.])
    """
    image = as_image("laplace", input, cval)
    places = chosen_axes(axes, image.ndim)
    modes = for_each(mode, len(places), "laplace: mode")
    parts = [
        correlate1d(image, [1.0, -2.0, 1.0], place, output, beyond, cval)
        for place, beyond in zip(places, modes, strict=True)
    ]
    return sum(parts[1:], parts[0]) if parts else image + 0


def _gaussian_derivatives(
    name: str, order: int, input: Any, sigma: Any, output: Any, mode: Any, cval: Any, axes: Any, details: Any
) -> list[Any]:
    """The derivative of an order along each axis of the image behind a Gaussian filter."""
    image = as_image(name, input, sigma, cval)
    places = chosen_axes(axes, image.ndim)
    orders = [[order * (one == other) for one in places] for other in places]
    return [gaussian_filter(image, sigma, k, output, mode, cval, axes=tuple(places), **details) for k in orders]


@original.differentiated
def gaussian_laplace(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    **kwargs: Any,
) -> Any:
    """The sum of the second derivatives of a Gaussian filter."""
    parts = _gaussian_derivatives("gaussian_laplace", 2, input, sigma, output, mode, cval, axes, kwargs)
    return sum(parts[1:], parts[0])


@original.differentiated
def gaussian_gradient_magnitude(
    input: Any,
    sigma: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    **kwargs: Any,
) -> Any:
    """The length of the gradient of a Gaussian filter; where it is 0 its derivative is taken as 0."""
    name = "gaussian_gradient_magnitude"
    return _length(_gaussian_derivatives(name, 1, input, sigma, output, mode, cval, axes, kwargs))


def _length(parts: list[Any]) -> Any:
    """The square root of the sum of squares; where it is 0 its derivative is taken as 0."""
    squares = [part * part for part in parts]
    total = sum(squares[1:], squares[0])
    flat = total == 0
    return where(flat, 0.0, np.sqrt(where(flat, 1.0, total))).astype(total.dtype)


# -- with derivatives that are given as functions


def _derivatives(
    name: str, input: Any, function: Any, output: Any, mode: Any, cval: Any, given: Any, named: Any, axes: Any
) -> tuple[Any, list[Any]]:
    """The image, and what a function returns for each axis of it: function(image, axis, output, mode, cval, ...)."""
    image = as_image(name, input, cval)
    places = chosen_axes(axes, image.ndim)
    modes = for_each(mode, len(places), f"{name}: mode")
    kind = image.dtype if output is None or isinstance(output, (np.ndarray, Tensor)) else np.dtype(output)
    return image, [
        function(image, place, kind, beyond, cval, *given, **(named or {}))
        for place, beyond in zip(places, modes, strict=True)
    ]


@original.differentiated_with_callbacks
def generic_laplace(
    input: Any,
    derivative2: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    extra_arguments: Any = (),
    extra_keywords: Any = None,
    *,
    axes: Any = None,
) -> Any:
    """The sum of second derivatives along the axes, which `derivative2(input, axis, output, mode, cval)` computes.

    >>> import gradtape as gt
    >>> from gradtape.scipy.ndimage import correlate1d, generic_laplace
    >>> def second(image, axis, output, mode, cval):
    ...     return correlate1d(image, [1.0, -2.0, 1.0], axis, output, mode, cval)
    >>> generic_laplace(gt.tensor([0.0, 1.0, 4.0, 9.0]), second)
    Tensor([ 1.,  2.,  2., -5.])
    """
    name = "generic_laplace"
    image, parts = _derivatives(name, input, derivative2, output, mode, cval, extra_arguments, extra_keywords, axes)
    return as_output(name, output, sum(parts[1:], parts[0]) if parts else image + 0, image.dtype)


@original.differentiated_with_callbacks
def generic_gradient_magnitude(
    input: Any,
    derivative: Any,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    extra_arguments: Any = (),
    extra_keywords: Any = None,
    *,
    axes: Any = None,
) -> Any:
    """The length of the gradient, whose parts `derivative(input, axis, output, mode, cval)` computes.

    Where it is 0 its derivative is taken as 0.

    >>> import gradtape as gt
    >>> from gradtape.scipy.ndimage import generic_gradient_magnitude, sobel
    >>> generic_gradient_magnitude(gt.tensor([0.0, 1.0, 4.0, 9.0]), sobel)
    Tensor([1., 4., 8., 5.])
    """
    name = "generic_gradient_magnitude"
    image, parts = _derivatives(name, input, derivative, output, mode, cval, extra_arguments, extra_keywords, axes)
    return as_output(name, output, _length(parts) if parts else image + 0, image.dtype)


# -- means


@original.differentiated
def uniform_filter1d(
    input: Any,
    size: int,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """The mean of `size` neighbours along an axis."""
    if size < 1:
        raise refusal(f"uniform_filter1d: size={size}; a number from 1 on is accepted.", "size=3")
    return correlate1d(input, np.full(int(size), 1.0 / size), axis, output, mode, cval, origin)


@original.differentiated
def uniform_filter(
    input: Any,
    size: Any = 3,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The mean of the neighbours."""
    image = as_image("uniform_filter", input, cval)
    places = chosen_axes(axes, image.ndim)
    values = [for_each(v, len(places), "uniform_filter") for v in (size, mode, origin)]
    found = image
    for place, length, beyond, shift in zip(places, *values, strict=True):
        if length > 1:
            found = uniform_filter1d(found, int(length), place, output, beyond, cval, shift)
    return as_output("uniform_filter", output, found, image.dtype)
