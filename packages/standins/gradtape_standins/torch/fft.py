"""`torch.fft`: discrete Fourier transforms."""

from __future__ import annotations

from typing import Any

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.torch import dtypes
from gradtape_standins.torch.tensor import Tensor, wrap
from gradtape_standins.torch.wrapping import Function, function


def _one(name: str, label: str) -> Function:
    def transform(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        return getattr(gt.fft, name)(input, n, dim, norm)

    transform.__name__, transform.__doc__ = name, f"`{name}` along `dim`."
    return function(label)(transform)


def _many(name: str, label: str, axes: Any) -> Function:
    def transform(input: Any, s: Any = None, dim: Any = axes, norm: str | None = None) -> Any:
        return getattr(gt.fft, name)(input, s, dim, norm)

    transform.__name__, transform.__doc__ = name, f"`{name}` along the axes `dim`."
    return function(label)(transform)


fft = _one("fft", "FftC2C")
ifft = _one("ifft", "FftC2C")
rfft = _one("rfft", "FftR2C")
irfft = _one("irfft", "FftC2R")
hfft = _one("hfft", "FftC2R")
ihfft = _one("ihfft", "FftR2C")
fft2 = _many("fft2", "FftC2C", (-2, -1))
ifft2 = _many("ifft2", "FftC2C", (-2, -1))
rfft2 = _many("rfft2", "FftR2C", (-2, -1))
irfft2 = _many("irfft2", "FftC2R", (-2, -1))
fftn = _many("fftn", "FftC2C", None)
ifftn = _many("ifftn", "FftC2C", None)
rfftn = _many("rfftn", "FftR2C", None)
irfftn = _many("irfftn", "FftC2R", None)


@function("Roll")
def fftshift(input: Any, dim: Any = None) -> Any:
    """Frequency 0 in the middle."""
    return gt.fft.fftshift(input, dim)


@function("Roll")
def ifftshift(input: Any, dim: Any = None) -> Any:
    """Frequency 0 back at the beginning."""
    return gt.fft.ifftshift(input, dim)


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, **_: Any) -> Tensor:
    """The frequencies of `fft`."""
    made: Tensor = wrap(gt.tensor(gt.fft.fftfreq(n, d), dtypes.as_numpy(dtype) or dtypes.default()))
    return made


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, **_: Any) -> Tensor:
    """The frequencies of `rfft`."""
    made: Tensor = wrap(gt.tensor(gt.fft.rfftfreq(n, d), dtypes.as_numpy(dtype) or dtypes.default()))
    return made


__getattr__ = missing(__name__)
