"""Spectra: periodograms, short-time Fourier transforms and their inverse, spectra of unevenly sampled signals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.extend import one_axis
from gradtape.ops.fft import fft, fftfreq, ifft, irfft, rfft, rfftfreq
from gradtape.ops.indexing import scatter
from gradtape.scipy.arraylike import as_array, as_floating, is_tensor, one_of, refusal
from gradtape.scipy.signal.linear_filters import extended
from gradtape.scipy.signal.mirrored import original
from gradtape.scipy.signal.trends import detrend as remove_trend
from gradtape.scipy.signal.windows import get_window

SCALINGS = ("density", "spectrum")


def _window(name: str, window: Any, nperseg: Any, length: int) -> Any:
    """The samples of a window, by its name or as they are; no longer than the signal."""
    if nperseg is not None:
        nperseg = int(nperseg)
        if nperseg < 1:
            raise refusal(f"{name}: nperseg={nperseg}; a positive whole number is accepted.", "nperseg=256")
    if isinstance(window, str | tuple):
        nperseg = 256 if nperseg is None else nperseg
        if nperseg > length:
            warnings.warn(f"nperseg={nperseg} is greater than the signal's length, using {length}", stacklevel=4)
            nperseg = length
        return get_window(window, nperseg)
    samples = as_array(window)
    if samples.ndim != 1:
        raise refusal(f"{name}: window has shape {samples.shape}; a vector is accepted.", "window.ravel()", ShapeError)
    if samples.shape[0] > length:
        raise refusal(f"{name}: window has {samples.shape[0]} samples, the signal {length}.", "a shorter window")
    if nperseg is not None and nperseg != samples.shape[0]:
        raise refusal(
            f"{name}: nperseg={nperseg} with a window of {samples.shape[0]} samples.", f"nperseg={samples.shape[0]}"
        )
    return samples


def _steps(name: str, taps: int, noverlap: Any, nfft: Any, overlap: int) -> tuple[int, int]:
    """From a segment to the next, and the length of the transforms."""
    noverlap, nfft = (overlap if noverlap is None else int(noverlap)), (taps if nfft is None else int(nfft))
    if noverlap >= taps:
        raise refusal(f"{name}: noverlap={noverlap} with nperseg={taps}.", f"noverlap={taps // 2}")
    if nfft < taps:
        raise refusal(f"{name}: nfft={nfft} with nperseg={taps}.", f"nfft={taps}")
    return taps - noverlap, nfft


def _transforms(x: Any, window: Any, step: int, nfft: int, detrend: Any, is_onesided: bool, axis: int) -> Any:
    """The transform of each segment along the last axis: (..., segments, frequencies)."""
    starts = np.arange(0, x.shape[-1] - window.shape[0] + 1, step)
    segments = x[..., starts[:, None] + np.arange(window.shape[0])]
    if callable(detrend):
        segments = np.moveaxis(detrend(np.moveaxis(segments, -1, axis)), axis, -1) if axis != -1 else detrend(segments)
    elif detrend:
        segments = remove_trend(segments, type=detrend, axis=-1)
    return (rfft if is_onesided else fft)(segments * window, nfft, -1)


def _scale(name: str, window: Any, fs: Any, scaling: str) -> Any:
    one_of(f"{name}: scaling", scaling, SCALINGS)
    return 1.0 / (fs * np.sum(window * window)) if scaling == "density" else 1.0 / np.sum(window) ** 2


def _frequencies(nfft: int, fs: Any, is_onesided: bool) -> Any:
    return (rfftfreq if is_onesided else fftfreq)(nfft, 1 / fs)


def _doubled(spectrum: Any, nfft: int) -> Any:
    """Half a spectrum with the frequencies that stand for two counted twice; frequencies are the last axis."""
    weights = np.full(spectrum.shape[-1], 2.0)
    weights[0] = 1.0
    if nfft % 2 == 0:
        weights[-1] = 1.0
    return spectrum * weights


def _cast(x: Any, dtype: Any) -> Any:
    return x if x.dtype == dtype else x.astype(dtype)


@original.differentiated
def csd(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Any, Any]:
    """The cross power spectral density of two signals by Welch's method; differentiated by signals, window and `fs`."""
    one_of("csd: average", average, ("mean", "median"))
    same = y is x
    x = as_array(x)
    y = x if same else as_array(y)
    one_axis(axis, x.ndim)
    out = np.result_type(x.dtype, y.dtype, np.complex64)
    length = max(x.shape[axis], y.shape[axis])
    samples = _window("csd", window, nperseg, length)
    step, nfft = _steps("csd", samples.shape[0], noverlap, nfft, samples.shape[0] // 2)
    is_onesided = return_onesided and x.dtype.kind != "c" and y.dtype.kind != "c"
    spectra = []
    for signal in (x,) if same else (x, y):
        moved = np.moveaxis(signal, axis, -1)
        if moved.shape[-1] < length:
            zeros = np.zeros((*moved.shape[:-1], length - moved.shape[-1]), moved.dtype)
            moved = np.concatenate([moved, zeros], axis=-1)
        spectra.append(_transforms(moved, samples, step, nfft, detrend, is_onesided, axis))
    power = np.conj(spectra[0]) * spectra[-1] * _scale("csd", samples, fs, scaling)
    if same:
        power = np.real(power)
    if is_onesided:
        power = _doubled(power, nfft)
    count = power.shape[-2]
    if average == "mean" or count == 1:
        power = np.mean(power, axis=-2)
    else:
        if power.dtype.kind == "c":
            power = np.median(np.real(power), axis=-2) + 1j * np.median(np.imag(power), axis=-2)
        else:
            power = np.median(power, axis=-2)
        even = 2 * np.arange(1.0, (count - 1) // 2 + 1)
        power = power / (1 + np.sum(1.0 / (even + 1) - 1.0 / even))  # the expectation of the median of exponentials
    power = _cast(power, np.zeros(0, out).real.dtype if same else out)
    return _frequencies(nfft, fs, is_onesided), np.moveaxis(power, -1, axis)


@original.differentiated
def welch(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Any, Any]:
    """The power spectral density of a signal by Welch's method: frequencies, and the density at them.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.signal import welch
    >>> wave = np.sin(np.arange(64) * np.pi / 4)
    >>> frequencies, power = welch(gt.tensor(wave), nperseg=16)
    >>> float(frequencies[np.argmax(power)])
    0.125
    """
    x = as_array(x)
    return csd(
        x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
    )  # the same object twice: a real result


@original.differentiated
def periodogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = "boxcar",
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> tuple[Any, Any]:
    """The power spectral density of a signal by one transform of all of it."""
    x = as_array(x)
    place = one_axis(axis, x.ndim)
    length = x.shape[place]
    if nfft is not None and nfft < length:
        x = x[(*(slice(None),) * place, slice(0, nfft))]
        length, nfft = nfft, None
    window = "boxcar" if window is None else window
    return csd(x, x, fs, window, length, 0, nfft, detrend, return_onesided, scaling, axis)


@original.differentiated
def coherence(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    axis: int = -1,
) -> tuple[Any, Any]:
    """The squared magnitude of the coherence of two signals by Welch's method."""
    x, y = as_array(x), as_array(y)
    details: Any = {"nperseg": nperseg, "noverlap": noverlap, "nfft": nfft, "detrend": detrend, "axis": axis}
    frequencies, first = csd(x, x, fs, window, **details)
    second = csd(y, y, fs, window, **details)[1]
    cross = csd(x, y, fs, window, **details)[1]
    return frequencies, (np.real(cross) ** 2 + np.imag(cross) ** 2) / first / second


# -- spectra over time


def _over_time(
    name: str,
    x: Any,
    fs: Any,
    window: Any,
    step: int,
    nfft: int,
    detrend: Any,
    return_onesided: bool,
    axis: int,
    boundary: str | None = None,
    padded: bool = False,
) -> tuple[Any, Any, Any, bool]:
    """Frequencies, times, the transforms (..., frequencies, times), and whether they are those from 0 up."""
    one_of(f"{name}: boundary", boundary, ("zeros", "even", "odd", "constant", None))
    taps = window.shape[0]
    x = np.moveaxis(x, axis, -1)
    if boundary is not None:
        x = extended(x, taps // 2, boundary, x.ndim - 1)
    if padded:
        missing = (-(x.shape[-1] - taps) % step) % taps
        x = np.concatenate([x, np.zeros((*x.shape[:-1], missing), x.dtype)], axis=-1)
    if return_onesided and x.dtype.kind == "c":
        warnings.warn("complex signals have no one-sided spectrum: both sides are returned", stacklevel=4)
    is_onesided = return_onesided and x.dtype.kind != "c"
    found = _transforms(x, window, step, nfft, detrend, is_onesided, axis)
    times = np.arange(taps / 2, x.shape[-1] - taps / 2 + 1, step)
    if boundary is not None:
        times = times - taps / 2
    return _frequencies(nfft, fs, is_onesided), times / fs, found, is_onesided


def _frequencies_at_axis(found: Any, axis: int) -> Any:
    """(..., times, frequencies) with frequencies where time was and the times last, as SciPy has them."""
    return np.moveaxis(np.swapaxes(found, -1, -2), -2, axis - 1 if axis < 0 else axis)


@original.differentiated
def stft(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: str = "spectrum",
) -> tuple[Any, Any, Any]:
    """The short-time Fourier transform: frequencies, times and values.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.signal import istft, stft
    >>> x = gt.tensor(np.arange(16.0))
    >>> frequencies, times, values = stft(x, nperseg=8)
    >>> bool(np.allclose(istft(values)[1], x))
    True
    """
    one_of("stft: scaling", scaling, ("spectrum", "psd"))
    x = as_array(x)
    samples = _window("stft", window, nperseg, x.shape[one_axis(axis, x.ndim)])
    step, nfft = _steps("stft", samples.shape[0], noverlap, nfft, samples.shape[0] // 2)
    frequencies, times, found, _ = _over_time(
        "stft", x, fs, samples, step, nfft, detrend, return_onesided, axis, boundary, padded
    )
    scale = np.sqrt(_scale("stft", samples, fs, "density" if scaling == "psd" else "spectrum"))
    found = _cast(found * scale, np.result_type(x.dtype, np.complex64))
    return frequencies, times, _frequencies_at_axis(found, axis)


@original.differentiated
def spectrogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = ("tukey", 0.25),
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    mode: str = "psd",
) -> tuple[Any, Any, Any]:
    """The spectrum of a signal over time: frequencies, times and values."""
    one_of("spectrogram: mode", mode, ("psd", "complex", "magnitude", "angle", "phase"))
    x = as_array(x)
    samples = _window("spectrogram", window, nperseg, x.shape[one_axis(axis, x.ndim)])
    step, nfft = _steps("spectrogram", samples.shape[0], noverlap, nfft, samples.shape[0] // 8)
    frequencies, times, found, is_onesided = _over_time(
        "spectrogram", x, fs, samples, step, nfft, detrend, return_onesided, axis
    )
    scale, out = _scale("spectrogram", samples, fs, scaling), np.result_type(x.dtype, np.complex64)
    if mode == "psd":
        found = (np.real(found) ** 2 + np.imag(found) ** 2) * scale
        found = _cast(_doubled(found, nfft) if is_onesided else found, np.zeros(0, out).real.dtype)
        return frequencies, times, _frequencies_at_axis(found, axis)
    found = _frequencies_at_axis(_cast(found * np.sqrt(scale), out), axis)
    if mode == "complex":
        return frequencies, times, found
    if mode == "magnitude":
        return frequencies, times, np.abs(found)
    angles = np.angle(found)
    return frequencies, times, np.unwrap(angles, axis=axis - 1 if axis < 0 else axis) if mode == "phase" else angles


@original.differentiated
def istft(
    Zxx: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
) -> tuple[Any, Any]:
    """The signal of a short-time Fourier transform: times and values. Segments are added where they overlap."""
    one_of("istft: scaling", scaling, ("spectrum", "psd"))
    values = as_array(Zxx)
    values = values if values.dtype.kind == "c" else values + 0j
    if values.ndim < 2:
        raise refusal(f"istft: Zxx has shape {values.shape}; at least two axes are accepted.", "Zxx[None]", ShapeError)
    time, frequency = one_axis(time_axis, values.ndim), one_axis(freq_axis, values.ndim)
    if time == frequency:
        raise refusal(f"istft: time_axis={time_axis} and freq_axis={freq_axis} are the same.", "two different axes")
    count = values.shape[frequency]
    usual = 2 * (count - 1) if input_onesided else count
    taps = usual if nperseg is None else int(nperseg)
    if nfft is None:
        nfft = taps if input_onesided and taps == usual + 1 else usual
    step, nfft = _steps("istft", taps, noverlap, nfft, taps // 2)
    samples = get_window(window, taps) if isinstance(window, str | tuple) else as_array(window)
    if samples.shape != (taps,):
        raise refusal(f"istft: window has shape {samples.shape}; ({taps},) is accepted.", "nperseg=len(window)")
    values = np.moveaxis(values, (time, frequency), (-2, -1))
    segments = (irfft if input_onesided else ifft)(values, nfft, -1)[..., :taps]
    samples = _cast(samples, np.zeros(0, segments.dtype).real.dtype)
    scale = np.sum(samples) if scaling == "spectrum" else np.sqrt(fs * np.sum(samples**2))
    number = segments.shape[-2]
    length = taps + (number - 1) * step
    places = np.arange(number)[:, None] * step + np.arange(taps)
    x = scatter(segments * (samples * scale), index=(Ellipsis, places), shape=(*segments.shape[:-2], length))
    weight = scatter(np.broadcast_to(samples**2, (number, taps)), index=(places,), shape=(length,))
    if boundary:
        x, weight = x[..., taps // 2 : length - taps // 2], weight[taps // 2 : length - taps // 2]
    if not np.all(weight > 1e-10):
        warnings.warn("NOLA condition failed, STFT may not be invertible", stacklevel=3)
    x = x / np.where(weight > 1e-10, weight, 1.0)
    if x.ndim > 1:
        x = np.moveaxis(x, -1, time - (frequency < time))
    return np.arange(x.shape[0]) / (fs if is_tensor(fs) else float(fs)), x


@original.differentiated
def lombscargle(
    x: Any,
    y: Any,
    freqs: Any,
    *,
    precenter: bool = False,
    normalize: Any = False,
    weights: Any = None,
    floating_mean: bool = False,
) -> Any:
    """The generalised Lomb-Scargle periodogram of unevenly sampled values; differentiated by all its arrays.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.signal import lombscargle
    >>> t = np.array([0.0, 0.7, 1.1, 2.4, 3.0])
    >>> lombscargle(t, gt.tensor(np.sin(2 * t)), [1.0, 2.0], normalize=True).round(3)
    Tensor([0.559, 1.   ])
    """
    x, y, freqs = (as_floating(v).astype(float) for v in (x, y, freqs))
    weights = np.ones(y.shape) if weights is None else as_floating(weights).astype(float)
    if x.ndim != 1 or not x.shape[0] or not x.shape == y.shape == weights.shape:
        raise refusal(
            f"lombscargle: x, y, weights of shapes {x.shape}, {y.shape}, {weights.shape}.", "vectors of one length"
        )
    if freqs.ndim != 1 or not freqs.shape[0]:
        raise refusal(f"lombscargle: freqs has shape {freqs.shape}; a vector is accepted.", "freqs.ravel()")
    kind = {False: "power", True: "normalize"}.get(normalize, normalize)
    one_of("lombscargle: normalize", kind, ("power", "normalize", "amplitude"))
    weights = weights / np.sum(weights)
    y = y - np.mean(y) if precenter else y
    turn = freqs * x[:, None]
    cosines, sines = np.cos(turn), np.sin(turn)
    mean, weighted = np.sum(weights * y), weights * y
    cc, cs = np.matmul(weights, cosines * cosines), np.matmul(weights, cosines * sines)
    ss = 1.0 - cc
    if floating_mean:
        c, s = np.matmul(weights, cosines), np.matmul(weights, sines)
        cc, ss, cs = cc - c * c, ss - s * s, cs - c * s
    delay = 0.5 * np.arctan2(2.0 * cs, cc - ss)  # makes the two orthogonal
    cosines, sines = np.cos(turn - delay), np.sin(turn - delay)
    yc, ys = np.matmul(weighted, cosines), np.matmul(weighted, sines)
    cc = np.matmul(weights, cosines * cosines)
    ss = 1.0 - cc
    if floating_mean:
        c, s = np.matmul(weights, cosines), np.matmul(weights, sines)
        yc, ys, cc, ss = yc - mean * c, ys - mean * s, cc - c * c, ss - s * s
    smallest = np.finfo(float).epsneg
    a, b = yc / np.maximum(cc, smallest), ys / np.maximum(ss, smallest)
    if kind == "amplitude":
        return np.squeeze((a + 1j * b) * np.exp(1j * delay))
    power = 2.0 * (a * yc + b * ys)
    if kind == "power":
        return np.squeeze(power * (x.shape[0] / 4.0))
    total = np.sum(weighted * y) - (mean * mean if floating_mean else 0.0)
    return np.squeeze(power * 0.5 / total)
