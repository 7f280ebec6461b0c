"""Convolution and correlation of arrays, and its inverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape import signal as convolutions
from gradtape.errors import ShapeError
from gradtape.scipy.arraylike import as_array, as_vector, one_of, refusal
from gradtape.scipy.signal.linear_filters import lfilter
from gradtape.scipy.signal.mirrored import original


@original.differentiated
def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """The convolution of two arrays of the same rank.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import convolve
    >>> gt.grad(lambda kernel: convolve([1.0, 2.0, 4.0], kernel, "valid").sum())(gt.tensor([1.0, 1.0]))
    Tensor([6., 3.])
    """
    return convolutions.convolve(as_array(in1), as_array(in2), mode, method)


@original.differentiated
def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """The correlation of two arrays of the same rank."""
    return convolutions.correlate(as_array(in1), as_array(in2), mode, method)


@original.differentiated
def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """The convolution by Fourier transforms."""
    return convolutions.fftconvolve(as_array(in1), as_array(in2), mode, axes)


@original.differentiated
def oaconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """The convolution by Fourier transforms; the blocks of SciPy's overlap-add method give the same numbers."""
    return convolutions.oaconvolve(as_array(in1), as_array(in2), mode, axes)


@original.differentiated
def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    """The convolution of two matrices, with what lies beyond the edges of the first filled, wrapped or mirrored.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import convolve2d
    >>> convolve2d(gt.tensor([[1.0, 2.0], [3.0, 4.0]]), [[1.0, 1.0]], mode="same", boundary="wrap")
    Tensor([[3., 3.],
            [7., 7.]])
    """
    one_of("convolve2d: mode", mode, ("full", "same", "valid"))
    a, b = _matrices("convolve2d", in1, in2, boundary)
    if mode == "valid":
        return convolutions.convolve(a, b, "valid", "direct")
    full = convolutions.convolve(_extended(a, b.shape, boundary, fillvalue), b, "valid", "direct")
    if mode == "full":
        return full
    rows, columns = ((full.shape[k] - a.shape[k]) // 2 for k in (0, 1))
    return full[rows : rows + a.shape[0], columns : columns + a.shape[1]]


@original.differentiated
def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    """The correlation of two matrices: the convolution with the second turned round and conjugated."""
    one_of("correlate2d: mode", mode, ("full", "same", "valid"))
    a, b = _matrices("correlate2d", in1, in2, boundary)
    turned = np.conj(b)[::-1, ::-1]
    if mode == "valid":
        if a.shape[0] >= b.shape[0] and a.shape[1] >= b.shape[1]:
            return convolutions.convolve(a, turned, "valid", "direct")
        # SciPy then correlates the second with the first, turns the result round and leaves it conjugate
        return convolutions.convolve(b, np.conj(a)[::-1, ::-1], "valid", "direct")[::-1, ::-1]
    full = convolutions.convolve(_extended(a, b.shape, boundary, fillvalue), turned, "valid", "direct")
    if mode == "full":
        return full
    rows, columns = ((full.shape[k] - a.shape[k] + 1) // 2 for k in (0, 1))
    return full[rows : rows + a.shape[0], columns : columns + a.shape[1]]


def _matrices(name: str, in1: Any, in2: Any, boundary: str) -> tuple[Any, Any]:
    one_of(f"{name}: boundary", boundary, ("fill", "wrap", "symm"))
    a, b = as_array(in1), as_array(in2)
    if a.ndim != 2 or b.ndim != 2:
        raise refusal(f"{name}: arrays of shapes {a.shape} and {b.shape}.", "two matrices", ShapeError)
    return a, b


def _extended(a: Any, kernel: tuple[int, ...], boundary: str, fillvalue: Any) -> Any:
    """A matrix with as much beyond each edge as a kernel of this shape reaches."""
    widths = [(length - 1, length - 1) for length in kernel]
    if boundary != "fill":
        return np.pad(a, widths, mode="wrap" if boundary == "wrap" else "symmetric")
    inside = np.pad(a, widths)
    if not isinstance(fillvalue, int | float) or fillvalue:
        inside = inside + np.pad(np.zeros(a.shape), widths, constant_values=1.0) * fillvalue
    return inside


@original.differentiated
def deconvolve(signal: Any, divisor: Any) -> tuple[Any, Any]:
    """The quotient and the remainder of a signal by a divisor: signal = convolve(divisor, quotient) + remainder.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import deconvolve
    >>> deconvolve(gt.tensor([1.0, 3.0, 3.0]), [1.0, 2.0])
    (Tensor([1., 1.]), Tensor([0., 0., 1.]))
    """
    numerator, denominator = as_vector(signal, "deconvolve: signal"), as_vector(divisor, "deconvolve: divisor")
    count = numerator.shape[0] - denominator.shape[0] + 1
    if count < 1:
        return [], numerator
    quotient = lfilter(numerator, denominator, np.eye(1, count)[0])
    return quotient, numerator - convolve(denominator, quotient, "full")
