"""`tf.signal`: Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.conversion import integers, value_of
from gradtape_standins.tensorflow.errors import in_tensorflow_terms
from gradtape_standins.tensorflow.tensor import check_kind, documented, wrap


def _narrow(value: Any, single: bool) -> Any:
    """The result in the precision of the input: NumPy's transforms may come back in double precision."""
    kinds = (np.float32, np.complex64) if single else (np.float64, np.complex128)
    return gt.astype(value, kinds[value.dtype.kind == "c"])


def _complex(op: Callable[..., Any], name: str, document: str) -> Callable[..., Any]:
    @in_tensorflow_terms
    def transform(input: Any, name: str | None = None) -> Any:
        value = value_of(input)
        check_kind(value, "c", label)
        return wrap(_narrow(op(value), value.dtype == np.complex64))

    label = name
    return documented(transform, name, document, "")


def _real(op: Callable[..., Any], name: str, document: str) -> Callable[..., Any]:
    @in_tensorflow_terms
    def transform(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
        value = value_of(input_tensor)
        check_kind(value, "f" if label.startswith("r") else "c", label)
        size = integers(fft_length)
        size = size[0] if isinstance(size, list) and not label.endswith("2d") else size
        return wrap(_narrow(op(value, size), value.dtype in (np.float32, np.complex64)))

    label = name
    return documented(transform, name, document, "")


fft = _complex(gt.fft.fft, "fft", "The Fourier transform along the last axis.")
ifft = _complex(gt.fft.ifft, "ifft", "The inverse Fourier transform along the last axis.")
fft2d = _complex(gt.fft.fft2, "fft2d", "The Fourier transform along the last two axes.")
ifft2d = _complex(gt.fft.ifft2, "ifft2d", "The inverse Fourier transform along the last two axes.")
rfft = _real(gt.fft.rfft, "rfft", "The Fourier transform of real numbers along the last axis.")
irfft = _real(gt.fft.irfft, "irfft", "The inverse of `rfft`.")
rfft2d = _real(gt.fft.rfft2, "rfft2d", "The Fourier transform of real numbers along the last two axes.")
irfft2d = _real(gt.fft.irfft2, "irfft2d", "The inverse of `rfft2d`.")


@in_tensorflow_terms
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """The zero frequency moved to the middle."""
    return wrap(gt.fft.fftshift(value_of(x), integers(axes)))


@in_tensorflow_terms
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """The inverse of `fftshift`."""
    return wrap(gt.fft.ifftshift(value_of(x), integers(axes)))


def _window(function: Callable[[int], Any], name: str) -> Callable[..., Any]:
    def window(window_length: Any, periodic: bool = True, dtype: Any = "float32", name: str | None = None) -> Any:
        length = integers(window_length)
        return wrap(gt.Tensor(function(length + 1)[:-1] if periodic else function(length)).astype(dtype))

    return documented(window, name, f"A window of the shape of {name.split('_')[0].title()}.", "")


hann_window = _window(np.hanning, "hann_window")
hamming_window = _window(np.hamming, "hamming_window")

__all__ = ["fft", "fft2d", "fftshift", "hamming_window", "hann_window", "ifft", "ifft2d", "ifftshift", "irfft"]
__all__ += ["irfft2d", "rfft", "rfft2d"]
__getattr__ = missing(__name__)
