"""Filters of Fourier transforms: shifts, Gaussians, boxes and ellipsoids; differentiated by their sizes as well."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.extend import one_axis
from gradtape.scipy.arraylike import as_array, refusal
from gradtape.scipy.ndimage.mirrored import as_output, for_each, original


def _filtered(name: str, input: Any, output: Any, factor: Any, is_complex: bool) -> Any:
    image = as_array(input)
    found = image * factor
    single = image.dtype in (np.float32, np.complex64)
    if is_complex or image.dtype.kind == "c":
        dtype = np.dtype(np.complex64 if image.dtype == np.complex64 else np.complex128)
    else:
        dtype = np.dtype(np.float32 if single else np.float64)
    return as_output(name, output, found, dtype)


def _lengths(name: str, input: Any, axis: int) -> tuple[tuple[int, ...], int]:
    """The shape of the transform, and the axis that is half of a real one if `n` is given."""
    shape = tuple(as_array(input).shape)
    if not shape:
        raise refusal(f"{name}: input is a single number.", "a transform with at least one axis")
    place = one_axis(axis, len(shape))
    return shape, place


def _frequencies(shape: tuple[int, ...], axis: int, n: int, half: int) -> tuple[Any, int]:
    """The whole frequencies along an axis, and the length of the signal."""
    length = shape[axis]
    if axis == half and n >= 0:
        return np.arange(length), n
    k = np.arange(length)
    return np.where(k < (length + 1) // 2, k, k - length), length


def _as_axis(values: Any, axis: int, ndim: int) -> Any:
    return values.reshape((-1,) + (1,) * (ndim - axis - 1))


@original.differentiated
def fourier_shift(input: Any, shift: Any, n: int = -1, axis: int = -1, output: Any = None) -> Any:
    """The transform of a signal moved by `shift` elements; differentiated by both.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.ndimage import fourier_shift
    >>> spectrum = np.fft.fft([0.0, 1.0, 0.0, 0.0])
    >>> np.abs(np.fft.ifft(fourier_shift(spectrum, gt.tensor(1.0)))).round(6)
    Tensor([0., 0., 1., 0.])
    """
    shape, half = _lengths("fourier_shift", input, axis)
    moves = for_each(shift, len(shape), "fourier_shift: shift")
    turn: Any = 0.0
    for place in range(len(shape)):
        k, length = _frequencies(shape, place, n, half)
        turn = turn + _as_axis(moves[place] * (-2.0 * np.pi / length * k), place, len(shape))
    return _filtered("fourier_shift", input, output, np.cos(turn) + 1j * np.sin(turn), True)


@original.differentiated
def fourier_gaussian(input: Any, sigma: Any, n: int = -1, axis: int = -1, output: Any = None) -> Any:
    """The transform of a signal behind a Gaussian filter; differentiated by both."""
    shape, half = _lengths("fourier_gaussian", input, axis)
    sigmas = for_each(sigma, len(shape), "fourier_gaussian: sigma")
    exponent: Any = 0.0
    for place in range(len(shape)):
        k, length = _frequencies(shape, place, n, half)
        term = (k / length) ** 2 * (-2.0 * np.pi**2) * sigmas[place] * sigmas[place]
        exponent = exponent + _as_axis(term, place, len(shape))
    return _filtered("fourier_gaussian", input, output, np.exp(exponent), False)


@original.differentiated
def fourier_uniform(input: Any, size: Any, n: int = -1, axis: int = -1, output: Any = None) -> Any:
    """The transform of a signal behind a mean of `size` elements; differentiated by both."""
    shape, half = _lengths("fourier_uniform", input, axis)
    sizes = for_each(size, len(shape), "fourier_uniform: size")
    factor: Any = 1.0
    for place in range(len(shape)):
        k, length = _frequencies(shape, place, n, half)
        factor = factor * _as_axis(np.sinc(sizes[place] * k / length), place, len(shape))
    return _filtered("fourier_uniform", input, output, factor, False)
