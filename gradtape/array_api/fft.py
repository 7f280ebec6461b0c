"""The Fourier transform extension of the standard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.array_api.arguments import ArgumentError, array, as_dtype, check_device
from gradtape.extend import Tensor, argument_error
from gradtape.ops import fft as transforms

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

Lengths = Sequence[int] | None


def fft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The Fourier transform along an axis.

    >>> import gradtape.array_api as xp
    >>> xp.fft.fft(xp.asarray([1.0, 1.0]))
    Tensor([2.+0.j, 0.+0.j], dtype=complex128)
    """
    return transforms.fft(_input(x, "fft", norm), n, axis, norm)


def ifft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The inverse of `fft`."""
    return transforms.ifft(_input(x, "ifft", norm), n, axis, norm)


def fftn(x: Any, /, *, s: Lengths = None, axes: Lengths = None, norm: str = "backward") -> Any:
    """The Fourier transform along several axes, by default all."""
    return transforms.fftn(_input(x, "fftn", norm, s, axes), s, axes, norm)


def ifftn(x: Any, /, *, s: Lengths = None, axes: Lengths = None, norm: str = "backward") -> Any:
    """The inverse of `fftn`."""
    return transforms.ifftn(_input(x, "ifftn", norm, s, axes), s, axes, norm)


def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The Fourier transform of real numbers along an axis, without the half that repeats it."""
    return transforms.rfft(_input(x, "rfft", norm), n, axis, norm)


def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The inverse of `rfft`."""
    return transforms.irfft(_input(x, "irfft", norm), n, axis, norm)


def rfftn(x: Any, /, *, s: Lengths = None, axes: Lengths = None, norm: str = "backward") -> Any:
    """The Fourier transform of real numbers along several axes, without the half that repeats it."""
    return transforms.rfftn(_input(x, "rfftn", norm, s, axes), s, axes, norm)


def irfftn(x: Any, /, *, s: Lengths = None, axes: Lengths = None, norm: str = "backward") -> Any:
    """The inverse of `rfftn`."""
    return transforms.irfftn(_input(x, "irfftn", norm, s, axes), s, axes, norm)


def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The Fourier transform of a signal with a real spectrum."""
    return transforms.hfft(_input(x, "hfft", norm), n, axis, norm)


def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The inverse of `hfft`."""
    return transforms.ihfft(_input(x, "ihfft", norm), n, axis, norm)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies that the results of `fft` of `n` samples at distance `d` belong to."""
    return _frequencies(np.fft.fftfreq(n, d), "fft.fftfreq", dtype, device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies that the results of `rfft` of `n` samples at distance `d` belong to."""
    return _frequencies(np.fft.rfftfreq(n, d), "fft.rfftfreq", dtype, device)


def fftshift(x: Any, /, *, axes: int | Lengths = None) -> Any:
    """The zero frequency moved to the middle."""
    return transforms.fftshift(array(x, "fft.fftshift"), axes)


def ifftshift(x: Any, /, *, axes: int | Lengths = None) -> Any:
    """The inverse of `fftshift`."""
    return transforms.ifftshift(array(x, "fft.ifftshift"), axes)


def _input(x: Any, function: str, norm: str, s: Lengths = None, axes: Lengths = None) -> Tensor:
    if norm not in ("backward", "ortho", "forward"):
        raise argument_error(ArgumentError, f"fft.{function}: norm={norm!r}.", "'backward', 'ortho' or 'forward'")
    if s is not None and axes is None:
        raise argument_error(
            ArgumentError, f"fft.{function}: s={tuple(s)} without axes.", "axes=, one for each length in s"
        )
    return array(x, f"fft.{function}")


def _frequencies(values: Any, function: str, dtype: Any, device: Any) -> Tensor:
    check_device(device, function)
    dtype = as_dtype(dtype, function)
    if dtype is not None and dtype.kind != "f":
        raise argument_error(ArgumentError, f"{function}: dtype={dtype}.", "a real floating point type")
    return Tensor(values if dtype is None else values.astype(dtype))
