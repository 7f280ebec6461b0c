"""Trends and smooth parts of signals: `detrend`, Savitzky-Golay and Whittaker-Henderson smoothing, and their like."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from gradtape import signal as convolutions
from gradtape.errors import ShapeError, UnsupportedError
from gradtape.extend import one_axis
from gradtape.ops.elementwise import where
from gradtape.ops.fft import fft, fftshift, ifft, irfft, rfft
from gradtape.ops.filters import resample_signal
from gradtape.ops.padding import pad
from gradtape.scipy.arraylike import as_array, as_floating, as_vector, is_tensor, one_of, refusal, surely
from gradtape.scipy.linalg import solveh_banded
from gradtape.scipy.signal.mirrored import original
from gradtape.scipy.signal.rates import resample


@original.differentiated
def detrend(data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: bool = False) -> Any:
    """A signal without its mean, or without the straight line that fits it best between break points.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import detrend
    >>> detrend(gt.tensor([1.0, 2.0, 4.0])).round(6)
    Tensor([ 0.166667, -0.333333,  0.166667])
    """
    one_of("detrend: type", type, ("linear", "l", "constant", "c"))
    data = as_floating(data)
    if type in ("constant", "c"):
        return data - np.mean(data, axis=axis, keepdims=True)
    place = one_axis(axis, data.ndim)
    length = data.shape[place]
    ends = np.unique(np.concatenate([[0], np.atleast_1d(bp), [length]]).astype(int))
    if ends[0] < 0 or ends[-1] > length:
        raise refusal(f"detrend: bp={bp!r} with {length} samples.", f"break points between 0 and {length}")
    moved, parts = np.moveaxis(data, place, -1), []
    for start, stop in itertools.pairwise(ends.tolist()):
        line = np.stack([np.ones(stop - start), np.arange(1, stop - start + 1) / (stop - start)], axis=1)
        basis = np.linalg.qr(line)[0][:, : stop - start].astype(np.zeros(0, data.dtype).real.dtype)
        segment = moved[..., start:stop]
        parts.append(segment - np.matmul(np.matmul(segment, basis), basis.T))
    return np.moveaxis(np.concatenate(parts, axis=-1), -1, place)


# -- Savitzky-Golay filters: the value (or a derivative) of the polynomial that fits a window best


@original.differentiated
def savgol_coeffs(
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: Any = 1.0,
    pos: Any = None,
    use: str = "conv",
    *,
    xp: Any = None,
    device: Any = None,
) -> Any:
    """The coefficients of a Savitzky-Golay filter; differentiated by `delta` and `pos`."""
    one_of("savgol_coeffs: use", use, ("conv", "dot"))
    if polyorder >= window_length:
        raise refusal(
            f"savgol_coeffs: polyorder={polyorder} with window_length={window_length}.", "a smaller polyorder"
        )
    if pos is None:
        pos = (window_length - 1) / 2
    if not 0 <= pos < window_length:
        raise refusal("savgol_coeffs: pos is outside of the window.", f"pos from 0 to below {window_length}")
    if deriv > polyorder:
        return np.zeros(window_length) + 0.0 * pos * delta
    at = np.arange(window_length) - pos
    if use == "conv":
        at = at[::-1]
    powers = np.stack([at**k if k else np.ones(window_length) + 0.0 * at for k in range(polyorder + 1)])
    wanted = np.zeros(polyorder + 1)
    wanted[deriv] = math.factorial(deriv)
    # the shortest solution of powers @ coefficients = wanted
    return np.matmul(powers.T, np.linalg.solve(np.matmul(powers, powers.T), wanted)) / delta**deriv


PAD_MODES = {"mirror": "reflect", "nearest": "edge", "wrap": "wrap"}


@original.differentiated
def savgol_filter(
    x: Any,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: Any = 1.0,
    axis: int = -1,
    mode: str = "interp",
    cval: Any = 0.0,
) -> Any:
    """A signal smoothed by polynomials fitted to each window, or a derivative of it.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import savgol_filter
    >>> savgol_filter(gt.tensor([1.0, 4.0, 9.0, 16.0]), 3, 2, deriv=1).round(6)
    Tensor([2., 4., 6., 8.])
    """
    one_of("savgol_filter: mode", mode, ("interp", "mirror", "constant", "nearest", "wrap"))
    x = as_array(x)
    x = x if x.dtype in (np.float32, np.float64) else x.astype(float)
    place = one_axis(axis, x.ndim)
    length = x.shape[place]
    theirs = original.contents.savgol_coeffs
    coefficients = theirs(window_length, polyorder, deriv).astype(x.dtype)
    moved = np.moveaxis(x, place, -1)
    if mode == "interp":
        if window_length > length:
            raise refusal(
                f"savgol_filter: window_length={window_length} with {length} samples and mode='interp'.",
                f"window_length={length} or less, or another mode",
            )
        half = window_length // 2
        rows = [theirs(window_length, polyorder, deriv, pos=k, use="dot") for k in range(window_length)]
        at = np.stack(rows).astype(x.dtype)
        first = np.matmul(moved[..., :window_length], at[:half].T)
        last = np.matmul(moved[..., length - window_length :], at[window_length - half :].T)
        middle = _valid(moved, coefficients)
        if window_length % 2 == 0:  # the window reaches one sample further to one side
            middle = middle[..., 1:]
        found = np.concatenate([first, middle, last], axis=-1)
    else:
        widths = [(0, 0)] * (x.ndim - 1) + [((window_length - 1) // 2, window_length // 2)]
        if mode == "constant":
            wide = np.pad(moved, widths) + np.pad(np.zeros(length), widths[-1], constant_values=1.0) * cval
        else:
            wide = pad(moved, widths, mode=PAD_MODES[mode])
        found = _valid(wide, coefficients)
    if deriv:
        found = found / delta**deriv
    return np.moveaxis(found, -1, place)


def _valid(x: Any, coefficients: Any) -> Any:
    """The convolution along the last axis where the coefficients lie within the signal."""
    taps = coefficients.shape[0]
    full = resample_signal(x, coefficients, up=1, down=1, axis=x.ndim - 1)
    return full[..., taps - 1 : x.shape[-1]]


# -- the analytic signal


# -- Whittaker-Henderson smoothing: least squares with a penalty on differences


@original.differentiated
def whittaker_henderson(signal: Any, *, lamb: Any = "reml", order: int = 2, weights: Any = None) -> Any:
    """The smooth signal x that has the least `sum(weights * (signal - x)**2) + lamb * sum(diff(x, order)**2)`.

    It is differentiated by the signal, the weights and `lamb`, which has to be given.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import whittaker_henderson
    >>> whittaker_henderson(gt.tensor([1.0, 2.0, 4.0]), lamb=1.0).x.round(6)
    Tensor([0.857143, 2.285714, 3.857143])
    """
    y = as_vector(signal, "whittaker_henderson: signal")
    length, order = y.shape[0], int(order)
    if order < 1 or length < order + 1:
        raise refusal(f"whittaker_henderson: order={order} with {length} samples.", "1 <= order < samples")
    if isinstance(lamb, str):
        raise refusal(
            f"whittaker_henderson: lamb={lamb!r} is found by an iteration over the signal, and has no derivative.",
            "lamb=whittaker_henderson(signal.numpy()).lamb, or another number",
            UnsupportedError,
        )
    if surely(lamb < 0) or surely(lamb * np.finfo(float).eps > 8):
        raise refusal("whittaker_henderson: lamb is negative, or above 3.6e16.", "0 <= lamb < 3.6e16")
    w = np.ones(length) if weights is None else as_vector(weights, "whittaker_henderson: weights")
    if w.shape != y.shape:
        raise refusal(f"whittaker_henderson: {w.shape[0]} weights for {length} samples.", "as many weights", ShapeError)
    difference = np.diff(np.eye(length), n=order, axis=0)
    penalty = difference.T @ difference
    band = np.stack([np.pad(np.diagonal(penalty, place), (0, place)) for place in range(order + 1)])
    diagonal = np.concatenate([np.ones((1, length)), np.zeros((order, length))])
    known = y if weights is None else where(w == 0, 0.0, y)  # what has no weight may be NaN
    return OptimizeResult(x=solveh_banded(lamb * band + w * diagonal, w * known, lower=True), lamb=lamb)


def _one_sided(length: int) -> Any:
    """Weights that leave the positive frequencies, doubled, and those that stand for themselves."""
    weights = np.zeros(length)
    weights[0] = 1.0
    weights[1 : (length + 1) // 2] = 2.0
    if length % 2 == 0:
        weights[length // 2] = 1.0
    return weights


@original.differentiated
def hilbert(x: Any, N: int | None = None, axis: int = -1) -> Any:
    """The analytic signal: the signal, and its Hilbert transform as the imaginary part.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.signal import hilbert
    >>> np.abs(hilbert(gt.tensor(np.cos(np.arange(8) * np.pi / 4)))).round(6)
    Tensor([1., 1., 1., 1., 1., 1., 1., 1.])
    """
    x = as_floating(x)
    if x.dtype.kind == "c":
        raise refusal(f"hilbert: x is of {x.dtype}; real numbers are accepted.", "x.real")
    place = one_axis(axis, x.ndim)
    length = x.shape[place] if N is None else int(N)
    if length < 1:
        raise refusal(f"hilbert: N={N}; a positive whole number is accepted.", f"N={x.shape[place]}")
    weights = _one_sided(length).astype(x.dtype).reshape((-1,) + (1,) * (x.ndim - place - 1))
    return ifft(fft(x, length, place) * weights, None, place)


@original.differentiated
def hilbert2(x: Any, N: Any = None, axes: Any = (-2, -1)) -> Any:
    """The analytic signal of an image: the quadrant of positive frequencies."""
    x = as_floating(x)
    if x.dtype.kind == "c":
        raise refusal(f"hilbert2: x is of {x.dtype}; real numbers are accepted.", "x.real")
    x = x if x.ndim > 1 else x.reshape((1, -1))
    places = [one_axis(axis, x.ndim) for axis in axes]
    if len(set(places)) != 2:
        raise refusal(f"hilbert2: axes={axes!r}; two different axes are accepted.", "axes=(-2, -1)")
    lengths = [x.shape[place] for place in places] if N is None else [N, N] if isinstance(N, int) else list(N)
    if len(lengths) != 2 or min(lengths) < 1:
        raise refusal(f"hilbert2: N={N!r}; two positive whole numbers are accepted.", "N=None")
    # whether the frequency 0 is kept, and which are doubled, is SciPy's: read off an impulse, whose spectrum is flat
    impulse = np.zeros(lengths)
    impulse[0, 0] = 1.0
    weights = np.real(np.fft.fft2(original.contents.hilbert2(impulse))).round().astype(x.dtype)
    if places[0] > places[1]:
        weights = weights.T
    shape = [1] * x.ndim
    for place, length in zip(sorted(places), weights.shape, strict=True):
        shape[place] = length
    spectrum = x
    for place, length in zip(places, lengths, strict=True):
        spectrum = fft(spectrum, length, place)
    spectrum = spectrum * weights.reshape(shape)
    return ifft(ifft(spectrum, None, places[0]), None, places[1])


@original.differentiated
def envelope(
    z: Any,
    bp_in: Any = (1, None),
    *,
    n_out: int | None = None,
    squared: bool = False,
    residual: str | None = "lowpass",
    axis: int = -1,
) -> Any:
    """The envelope of the part of a signal within a band of frequencies, and what is left of the signal."""
    one_of("envelope: residual", residual, ("lowpass", "all", None))
    z = as_floating(z)
    place = one_axis(axis, z.ndim)
    n = z.shape[place]
    count = n if n_out is None else int(n_out)
    start, stop = (-(n // 2) if bp_in[0] is None else bp_in[0]), ((n + 1) // 2 if bp_in[1] is None else bp_in[1])
    if not -n // 2 <= start < stop <= (n + 1) // 2:
        raise refusal(f"envelope: bp_in={bp_in!r} with {n} samples.", f"bp_in within {(-(n // 2), (n + 1) // 2)}")
    is_complex = z.dtype.kind == "c"
    moved = np.moveaxis(z, place, -1)
    if is_complex:
        spectrum = fft(moved)
    else:
        half = rfft(moved)
        spectrum = np.concatenate([half, np.zeros((*half.shape[:-1], n - half.shape[-1]), half.dtype)], axis=-1)
        doubled = np.ones(n)
        doubled[max(start, 1) : max(stop, 1)] = 2.0
        spectrum = spectrum * doubled.astype(z.dtype)
    holds_zero = start <= 0 < stop
    band = fftshift(spectrum, -1)[..., start + n // 2 : stop + n // 2] if holds_zero else spectrum[..., start:stop]
    nothing = np.zeros((*spectrum.shape[:-1], 1), spectrum.dtype)  # a band that ends at 0 is empty in SciPy too
    base = ifft(band if band.shape[-1] else nothing + 0 * spectrum[..., :1], count) * (count / n)
    found = np.real(base) ** 2 + np.imag(base) ** 2 if squared else np.abs(base)
    found = np.moveaxis(found, -1, place)
    if residual is None:
        return found
    kept = np.ones(n)
    if holds_zero:
        kept[:stop] = 0
        kept[start:] = 0
    else:
        kept[start:stop] = 0
    if residual == "lowpass":
        if stop > 0:
            kept[stop : (n + 1) // 2] = 0
        else:
            kept[start:] = 0
            kept[: (n + 1) // 2] = 0
    spectrum = spectrum * kept.astype(np.zeros(0, spectrum.dtype).real.dtype)
    if is_complex:
        rest = resample(spectrum, count, axis=-1, domain="freq")
    else:
        shorter = min(n, count)
        if count != n and shorter % 2 == 0:
            scale = np.ones(n)
            scale[shorter // 2] = 2.0 if count < n else 0.5
            spectrum = spectrum * scale.astype(z.dtype)
        rest = irfft(spectrum, count) * (count / n)
    return np.stack([found, np.moveaxis(rest, -1, place)])


# -- noise


@original.differentiated
def wiener(im: Any, mysize: Any = None, noise: Any = None) -> Any:
    """Wiener's filter: less of the deviation from the local mean where it is no more than noise."""
    im = as_floating(im)
    sizes = [3] * im.ndim if mysize is None else [int(n) for n in np.broadcast_to(mysize, im.ndim)]
    ones, count = np.ones(sizes), float(math.prod(sizes))
    mean = convolutions.correlate(im, ones, "same") / count
    variance = convolutions.correlate(im**2, ones, "same") / count - mean**2
    noise = np.mean(variance) if noise is None else noise
    is_noise = variance < noise
    return where(is_noise, mean, mean + (im - mean) * (1 - noise / where(is_noise, 1.0, variance)))


@original.differentiated
def vectorstrength(events: Any, period: Any) -> tuple[Any, Any]:
    """The strength and the phase of the synchronisation of events with periods."""
    events, period = as_floating(events), as_floating(period)
    if events.ndim > 1 or period.ndim > 1:
        raise refusal(
            f"vectorstrength: events of shape {events.shape}, period of shape {period.shape}.", "vectors", ShapeError
        )
    if not is_tensor(period) and np.any(period <= 0):
        raise refusal("vectorstrength: a period is not positive.", "positive periods")
    turns = 2 * np.pi / period.reshape((-1, 1)) * events.reshape((1, -1))
    real, imaginary = np.mean(np.cos(turns), axis=1), np.mean(np.sin(turns), axis=1)
    strength, phase = np.hypot(real, imaginary), np.arctan2(imaginary, real)
    return (strength, phase) if period.ndim else (strength[0], phase[0])
