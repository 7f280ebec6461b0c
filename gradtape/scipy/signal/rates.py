"""Signals at other rates: `resample`, `resample_poly`, `decimate`, `upfirdn`."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.extend import one_axis
from gradtape.ops.fft import fft, fftfreq, fftshift, ifft, irfft, rfft
from gradtape.ops.filters import resample_signal
from gradtape.ops.padding import pad
from gradtape.scipy.arraylike import along, as_array, as_vector, is_tensor, one_of, refusal
from gradtape.scipy.signal.fir_filters import firwin
from gradtape.scipy.signal.linear_filters import filtfilt, lfilter, sosfilt, sosfiltfilt
from gradtape.scipy.signal.mirrored import original
from gradtape.scipy.signal.windows import get_window

EXTENSIONS = (*("constant", "wrap", "edge", "smooth", "symmetric", "reflect", "antisymmetric", "antireflect", "line"),)
"""What `upfirdn` takes the signal for beyond its ends."""


def _result_length(taps: int, length: int, up: int, down: int) -> int:
    return ((length - 1) * up + taps - 1) // down + 1


def _reach(x: Any, before: int, behind: int, mode: str, cval: Any) -> Any:
    """`x` continued along its last axis."""
    n = x.shape[-1]
    widths = [(0, 0)] * (x.ndim - 1) + [(before, behind)]
    first, last = x[..., :1], x[..., n - 1 :]
    early, late = np.arange(-before, 0), np.arange(1, behind + 1)
    if mode == "constant":
        return np.pad(x, widths) + np.pad(np.zeros(n), widths[-1], constant_values=1.0) * cval
    if mode in ("wrap", "edge", "symmetric", "reflect"):
        return pad(x, widths, mode=mode)
    if mode == "antireflect":
        return np.pad(x, widths, mode="reflect", reflect_type="odd")
    if mode == "antisymmetric":
        turns = np.arange(-before, n + behind) % (2 * n)
        return x[..., np.where(turns < n, turns, 2 * n - 1 - turns)] * np.where(turns < n, 1.0, -1.0)
    slopes = (
        (x[..., 1:2] - first, last - x[..., n - 2 : n - 1]) if mode == "smooth" else ((last - first) / (n - 1),) * 2
    )
    return np.concatenate([first + slopes[0] * early, x, last + slopes[1] * late], axis=-1)


@original.differentiated
def upfirdn(h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant", cval: Any = 0) -> Any:
    """A filter between rates: `up - 1` zeros between samples, the coefficients `h`, each `down`-th sample kept.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import upfirdn
    >>> upfirdn([1.0, 1.0], gt.tensor([1.0, 2.0, 3.0]), up=2)
    Tensor([1., 1., 2., 2., 3., 3.])
    """
    one_of("upfirdn: mode", mode, EXTENSIONS)
    h, x = as_vector(h, "upfirdn: h"), as_array(x)
    up, down = operator.index(up), operator.index(down)
    if up < 1 or down < 1:
        raise refusal(f"upfirdn: up={up}, down={down}; both are at least 1.", "up=1, down=1")
    if not h.shape[0]:
        raise refusal("upfirdn: h is empty.", "at least one coefficient", ShapeError)
    place = one_axis(axis, x.ndim)
    if mode == "constant" and not is_tensor(cval) and cval == 0:
        return resample_signal(x, h, up=up, down=down, axis=place)
    taps, n = h.shape[0], x.shape[place]
    count = _result_length(taps, n, up, down)
    unit = down // math.gcd(up, down)  # so that the results of the longer signal are at the same places
    before = math.ceil((taps - 1) / up / unit) * unit
    behind = max((count - 1) * down // up - (n - 1), 0)
    wide = _reach(np.moveaxis(x, place, -1), before, behind, mode, cval)
    start = before * up // down
    found = resample_signal(wide, h, up=up, down=down, axis=x.ndim - 1)[..., start : start + count]
    return np.moveaxis(found, -1, place)


@original.differentiated
def resample(x: Any, num: int, t: Any = None, axis: int = 0, window: Any = None, domain: str = "time") -> Any:
    """A periodic signal at `num` samples, by its Fourier transform.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.signal import resample
    >>> resample(gt.tensor([0.0, 1.0, 0.0, -1.0]), 8).round(6)
    Tensor([ 0.      ,  0.707107,  1.      ,  0.707107,  0.      , -0.707107,
            -1.      , -0.707107])
    """
    one_of("resample: domain", domain, ("time", "freq"))
    x = as_array(x)
    place = one_axis(axis, x.ndim)
    moved = np.moveaxis(x, place, -1)
    n, num = moved.shape[-1], operator.index(num)
    shorter = min(num, n)
    half = shorter // 2 + 1
    weights = None
    if callable(window):
        weights = as_array(window(fftfreq(n)))
    elif window is not None:
        is_array = hasattr(window, "shape")
        weights = as_array(window) if is_array else fftshift(get_window(window, n))
        if weights.shape != (n,):
            raise refusal(f"resample: window has shape {weights.shape}; ({n},) is accepted.", "window=None", ShapeError)
    if domain == "time" and x.dtype.kind != "c":
        spectrum = rfft(moved)
        if weights is not None:  # of a real signal, only what is even in the frequency counts
            count = spectrum.shape[-1]
            both = (weights[1:count] + weights[: n - count : -1]) / 2
            spectrum = spectrum * np.concatenate([weights[:1], both])
        spectrum = spectrum[..., :half]
        if shorter % 2 == 0 and num != n:
            scale = np.ones(half)
            scale[shorter // 2] = 2.0 if num < n else 0.5
            spectrum = spectrum * scale.astype(np.zeros(0, spectrum.dtype).real.dtype)
        found = irfft(spectrum * (num / n), num)
    else:
        spectrum = fft(moved) if domain == "time" else moved
        if weights is not None:
            spectrum = spectrum * weights
        found = ifft(_other_length(spectrum, num) * (num / n), num)
    found = np.moveaxis(found, -1, place)
    if t is None:
        return found
    t = as_array(t)
    return found, t[0] + (t[1] - t[0]) * (n / num) * np.arange(num)


def _other_length(spectrum: Any, num: int) -> Any:
    """A spectrum cut or filled up in its middle, the frequency that stands for two of them shared between both."""
    n = spectrum.shape[-1]
    if num == n:
        return spectrum
    shorter = min(num, n)
    low, high = (shorter + 1) // 2, shorter // 2  # without the frequency at the middle of an even number
    first, last = spectrum[..., :low], spectrum[..., n - (shorter - low) :]
    if shorter % 2 == 0:
        middle = spectrum[..., high : high + 1]
        last = last[..., 1:]
        if num < n:
            return np.concatenate([first, middle + spectrum[..., n - high : n - high + 1], last], axis=-1)
        zeros = np.zeros((*spectrum.shape[:-1], num - n - 1), spectrum.dtype)
        return np.concatenate([first, middle / 2, zeros, middle / 2, last], axis=-1)
    zeros = np.zeros((*spectrum.shape[:-1], max(num - n, 0)), spectrum.dtype)
    return np.concatenate([first, zeros, last], axis=-1)


BACKGROUNDS: dict[str, Any] = {"mean": np.mean, "median": np.median, "minimum": np.min, "maximum": np.max}


@original.differentiated
def resample_poly(
    x: Any,
    up: int,
    down: int,
    axis: int = 0,
    window: Any = ("kaiser", 5.0),
    padtype: str = "constant",
    cval: Any = None,
) -> Any:
    """A signal at `up / down` times its rate, by a filter between the rates; differentiated by `window` too."""
    x = as_array(x)
    if int(up) != up or int(down) != down or up < 1 or down < 1:
        raise refusal(f"resample_poly: up={up!r}, down={down!r}; whole numbers from 1 on are accepted.", "up=1, down=2")
    if cval is not None and padtype != "constant":
        raise refusal(f"resample_poly: cval with padtype={padtype!r}.", "padtype='constant'")
    one_of("resample_poly: padtype", padtype, (*EXTENSIONS, *BACKGROUNDS))
    common = math.gcd(int(up), int(down))
    up, down = int(up) // common, int(down) // common
    place = one_axis(axis, x.ndim)
    if up == down == 1:
        return x + 0
    length = x.shape[place]
    count = -(-length * up // down)
    if isinstance(window, list) or hasattr(window, "shape"):
        h = as_vector(window, "resample_poly: window")
        half = (h.shape[0] - 1) // 2
    else:
        half = 10 * max(up, down)
        h = firwin(2 * half + 1, 1.0 / max(up, down), window=window)
        h = h.astype(x.dtype) if x.dtype.kind in "fc" else h
    before, behind = down - half % down, 0
    removed = (half + before) // down
    while _result_length(h.shape[0] + before + behind, length, up, down) < count + removed:
        behind += 1
    h = np.concatenate([np.zeros(before, h.dtype), h * up, np.zeros(behind, h.dtype)])
    kept = along(place, slice(removed, removed + count))
    if padtype in BACKGROUNDS:
        background = BACKGROUNDS[padtype](x, axis=place, keepdims=True)
        return upfirdn(h, x - background, up, down, place)[kept] + background
    return upfirdn(h, x, up, down, place, padtype, 0 if cval is None else cval)[kept]


@original.differentiated
def decimate(x: Any, q: int, n: int | None = None, ftype: Any = "iir", axis: int = -1, zero_phase: bool = True) -> Any:
    """Each `q`-th sample of a signal behind a filter against aliasing."""
    x = as_array(x)
    q, place = operator.index(q), one_axis(axis, x.ndim)
    dtype = x.dtype if x.dtype.kind in "fc" and x.dtype != np.float16 else np.dtype(float)
    theirs = original.contents
    sections, b, a = None, None, np.ones(1)
    if ftype == "fir":
        b = theirs.firwin((20 * q if n is None else operator.index(n)) + 1, 1.0 / q, window="hamming").astype(dtype)
    elif ftype == "iir":
        sections = theirs.cheby1(8 if n is None else operator.index(n), 0.05, 0.8 / q, output="sos").astype(dtype)
    elif isinstance(ftype, theirs.dlti):
        roots = ftype.to_zpk()
        if roots.poles.shape[0] and not (np.any(np.iscomplex(roots.poles)) or np.iscomplex(roots.gain)):
            sections = theirs.zpk2sos(roots.zeros, roots.poles, roots.gain).astype(dtype)
        else:
            ratio = ftype.to_tf()
            b, a = np.atleast_1d(ratio.num), np.atleast_1d(ratio.den)
            if not roots.poles.shape[0]:
                b, ftype = b / a, "fir"
    else:
        raise refusal(f"decimate: ftype={ftype!r}; accepted are 'iir', 'fir' and a dlti.", "ftype='iir'")
    if ftype == "fir":
        if zero_phase:
            return resample_poly(x, 1, q, place, window=b)
        return upfirdn(b, x, 1, q, place)[along(place, slice(0, -(-x.shape[place] // q)))]
    if sections is not None:
        y = (sosfiltfilt if zero_phase else sosfilt)(sections, x, place)
    else:
        y = (filtfilt if zero_phase else lfilter)(b, a, x, place)
    return y[along(place, slice(None, None, q))]
