"""The design of filters without feedback, by their cut-off frequencies, gains and weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy
from numpy.lib import NumpyVersion

from gradtape.errors import ShapeError
from gradtape.ops.elementwise import where
from gradtape.ops.fft import fft, ifft, irfft
from gradtape.ops.numerics import interp
from gradtape.scipy.arraylike import as_floating, as_vector, is_tensor, one_of, refusal, surely
from gradtape.scipy.signal.mirrored import original
from gradtape.scipy.signal.windows import get_window


def sampling_frequency(name: str, fs: Any, default: float = 2.0) -> Any:
    """`fs`, or the default for None."""
    if fs is None:
        return default
    if np.ndim(fs):
        raise refusal(f"{name}: fs has shape {np.shape(fs)}; one number is accepted.", "fs=1.0", ShapeError)
    return fs


@original.differentiated
def kaiser_beta(a: Any) -> Any:
    """The parameter of a Kaiser window with an attenuation of `a` decibels."""
    if a > 50:
        return 0.1102 * (a - 8.7)
    if a > 21:
        return 0.5842 * (a - 21) ** 0.4 + 0.07886 * (a - 21)
    return 0.0 * a


@original.differentiated
def kaiser_atten(numtaps: int, width: Any) -> Any:
    """The attenuation in decibels of a Kaiser filter with a transition of `width`."""
    return 2.285 * (numtaps - 1) * np.pi * width + 7.95


@original.differentiated
def firwin(
    numtaps: int,
    cutoff: Any,
    *,
    width: Any = None,
    window: Any = "hamming",
    pass_zero: Any = True,
    scale: bool = True,
    fs: Any = None,
) -> Any:
    """A filter by the window method; differentiated by `cutoff`, `width`, `fs` and the parameters of the window.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import firwin
    >>> firwin(3, gt.tensor(0.5)).round(6)
    Tensor([0.046221, 0.907557, 0.046221])
    """
    nyquist = 0.5 * sampling_frequency("firwin", fs)
    cutoff = as_vector(cutoff, "firwin: cutoff") / nyquist
    count = cutoff.shape[0]
    if not count:
        raise refusal("firwin: cutoff is empty.", "at least one frequency")
    rising = count < 2 or not surely(np.any(cutoff[1:] <= cutoff[:-1]))
    if surely(np.min(cutoff) <= 0) or surely(np.max(cutoff) >= 1) or not rising:
        raise refusal("firwin: cutoff frequencies do not rise from above 0 to below fs/2.", "rising frequencies")
    if width is not None:
        window = ("kaiser", kaiser_beta(kaiser_atten(numtaps, width / nyquist)))
    one_of("firwin: pass_zero", pass_zero, (True, False, "bandpass", "lowpass", "highpass", "bandstop"))
    if isinstance(pass_zero, str):
        if (count == 1) != (pass_zero in ("lowpass", "highpass")):
            raise refusal(
                f"firwin: {count} cut-off frequencies for pass_zero={pass_zero!r}.", "one for low- or highpass"
            )
        pass_zero = pass_zero in ("lowpass", "bandstop")
    pass_nyquist = (count % 2 == 0) == bool(pass_zero)
    if pass_nyquist and numtaps % 2 == 0:
        raise refusal(f"firwin: numtaps={numtaps} and a gain at fs/2.", f"numtaps={numtaps + 1}")
    edges = [0.0] * bool(pass_zero) + [cutoff[k] for k in range(count)] + [1.0] * pass_nyquist
    m = np.arange(numtaps) - 0.5 * (numtaps - 1)
    h: Any = 0.0
    for left, right in zip(edges[::2], edges[1::2], strict=True):
        h = h + right * np.sinc(right * m) - left * np.sinc(left * m)
    h = h * get_window(window, numtaps, fftbins=False)
    if scale:
        left, right = edges[0], edges[1]
        middle: Any = 0.5 * (left + right)
        at = 0.0 if isinstance(left, float) else 1.0 if isinstance(right, float) else middle
        h = h / np.sum(h * np.cos(np.pi * m * at))
    return h


@original.differentiated
def firwin2(
    numtaps: int,
    freq: Any,
    gain: Any,
    *,
    nfreqs: int | None = None,
    window: Any = "hamming",
    antisymmetric: bool = False,
    fs: Any = None,
) -> Any:
    """A filter whose gain at the frequencies `freq` is `gain`, by the window method."""
    nyquist = 0.5 * sampling_frequency("firwin2", fs)
    freq, gain = as_vector(freq, "firwin2: freq"), as_vector(gain, "firwin2: gain")
    if freq.shape != gain.shape:
        raise refusal(
            f"firwin2: freq of shape {freq.shape}, gain of shape {gain.shape}.", "one gain for each frequency"
        )
    if nfreqs is not None and numtaps >= nfreqs:
        raise refusal(f"firwin2: numtaps={numtaps} with nfreqs={nfreqs}.", f"nfreqs={numtaps + 1} or more")
    if surely(freq[0] != 0) or surely(freq[-1] != nyquist):
        raise refusal("firwin2: freq does not begin at 0 and end at fs/2.", "freq from 0 to fs/2")
    steps = freq[1:] - freq[:-1]
    if surely(np.any(steps < 0)):
        raise refusal("firwin2: freq is not sorted.", "frequencies that do not fall")
    if surely(np.any(steps == 0)):
        if is_tensor(freq):
            raise refusal("firwin2: freq is a tensor and has a frequency twice.", "frequencies that rise, or an array")
        apart = np.finfo(float).eps * float(nyquist)
        (twice,) = np.nonzero(freq[:-1] == freq[1:])
        if freq[1] == 0 or freq[-2] == nyquist or np.any(np.diff(twice) == 1):
            raise refusal("firwin2: freq has 0 or fs/2 twice, or a frequency three times.", "fewer of them")
        freq = freq.copy()
        freq[twice] -= apart
        freq[twice + 1] += apart
    kind = (4 if numtaps % 2 == 0 else 3) if antisymmetric else (2 if numtaps % 2 == 0 else 1)
    if (kind in (2, 3) and surely(gain[-1] != 0)) or (kind in (3, 4) and surely(gain[0] != 0)):
        raise refusal(
            f"firwin2: a filter of type {kind} has no gain at {'fs/2' if kind == 2 else 'its end frequencies'}.",
            "gains of 0 there, or another numtaps",
        )
    if nfreqs is None:
        nfreqs = 1 + 2 ** math.ceil(math.log2(numtaps))
    share = np.linspace(0.0, 1.0, nfreqs)
    at = share * nyquist
    shift = np.exp(-(numtaps - 1) / 2.0 * 1j * np.pi * share) * (1j if kind > 2 else 1.0)
    taps = irfft(interp(at, freq, gain) * shift)[:numtaps]
    if window is not None:
        taps = taps * get_window(window, numtaps, fftbins=False)
    if kind == 3:
        taps = taps * (np.arange(numtaps) != numtaps // 2)
    return taps


@original.differentiated
def firls(numtaps: int, bands: Any, desired: Any, *, weight: Any = None, fs: Any = None) -> Any:
    """The filter that is closest to the desired gains in the bands, by least squares."""
    nyquist = 0.5 * sampling_frequency("firls", fs)
    if numtaps % 2 == 0 or numtaps < 1:
        raise refusal(f"firls: numtaps={numtaps}; an odd number is accepted.", f"numtaps={numtaps + 1}")
    bands, desired = as_floating(bands).reshape((-1,)) / nyquist, as_floating(desired).reshape((-1,))
    if bands.shape[0] % 2 or bands.shape != desired.shape:
        raise refusal(f"firls: {bands.shape[0]} frequencies, {desired.shape[0]} gains.", "pairs, one gain for each")
    falls = np.any(bands[1:] < bands[:-1]) | np.any(bands[1::2] <= bands[::2])
    if surely(np.any(bands < 0) | np.any(bands > 1) | falls):
        raise refusal("firls: bands do not rise from 0 to fs/2, or overlap.", "bands that rise")
    if surely(np.any(desired < 0)):
        raise refusal("firls: a desired gain is negative.", "gains from 0 on")
    low, high = bands[::2], bands[1::2]
    weight = np.ones(low.shape[0]) if weight is None else as_floating(weight).reshape((-1,))
    if weight.shape != low.shape:
        raise refusal(f"firls: {weight.shape[0]} weights for {low.shape[0]} bands.", "one weight for each band")
    half = (numtaps - 1) // 2
    n = np.arange(numtaps)[:, None]
    # integrals over the bands of cos(pi n f), and of (slope f + offset) cos(pi n f)
    cosines = np.matmul(np.sinc(high * n) * high - np.sinc(low * n) * low, weight)
    rows, columns = np.arange(half + 1)[:, None], np.arange(half + 1)
    matrix = cosines[np.abs(rows - columns)] + cosines[rows + columns]
    slope = (desired[1::2] - desired[::2]) / (high - low)
    offset = desired[::2] - low * slope
    n = n[: half + 1]
    safe = np.where(n == 0, 1, n)

    def integral(f: Any) -> Any:
        around = where(n == 0, -slope * f * f / 2.0, slope * np.cos(n * np.pi * f) / (np.pi * safe) ** 2)
        return f * (slope * f + offset) * np.sinc(f * n) + around

    solution = np.linalg.solve(matrix, np.matmul(integral(high) - integral(low), weight))
    return np.concatenate([solution[:0:-1], 2 * solution[:1], solution[1:]])


_KEEPS_HIGHEST_FREQUENCY = int(NumpyVersion(scipy.__version__) >= "1.18.0")
"""The weight that `minimum_phase` adds to the middle of the cepstrum: older versions leave it out."""


@original.differentiated
def minimum_phase(h: Any, method: str = "homomorphic", n_fft: int | None = None, *, half: bool = True) -> Any:
    """The filter with the same gain (or, with `half`, its square root) and the least delay."""
    one_of("minimum_phase: method", method, ("homomorphic", "hilbert"))
    h = as_floating(h)
    if h.dtype.kind == "c" or h.ndim != 1 or h.shape[0] <= 2:
        raise refusal(
            f"minimum_phase: h of shape {h.shape} and {h.dtype}.", "a real vector of more than 2 coefficients"
        )
    if method == "hilbert" and not half:
        raise refusal("minimum_phase: half=False with method='hilbert'.", "method='homomorphic'")
    middle = h.shape[0] // 2
    size = 2 ** math.ceil(math.log2(2 * (h.shape[0] - 1) / 0.01)) if n_fft is None else int(n_fft)
    if size < h.shape[0]:
        raise refusal(f"minimum_phase: n_fft={size} with {h.shape[0]} coefficients.", f"n_fft={h.shape[0]} or more")
    spectrum = fft(h, size)
    if method == "hilbert":
        gain = np.real(spectrum * np.exp(1j * np.arange(size) * (2 * np.pi / size * middle)))
        above, below = np.max(gain) - 1, -np.min(gain)
        scale = 4.0 / (np.sqrt(1 + above + below) + np.sqrt(1 - above + below)) ** 2
        lifted = (gain + below) * scale
        touches = lifted == 0  # where the root has no derivative
        gain = where(touches, 0.0, np.sqrt(where(touches, 1.0, lifted))) + 1e-10
        sign = np.zeros(size)
        sign[1 : size // 2], sign[size // 2 + 1 :] = 1, -1
        found = np.real(ifft(gain * np.exp(fft(sign * ifft(np.log(gain))))))
    else:
        size_of = np.abs(spectrum)
        logarithm = np.log(size_of + 1e-7 * np.min(where(size_of > 0, size_of, np.inf))) * (0.5 if half else 1.0)
        folded = np.zeros(size)
        folded[0], folded[1 : size // 2] = 1, 2
        folded[size // 2] = size % 2 + _KEEPS_HIGHEST_FREQUENCY
        found = np.real(ifft(np.exp(fft(np.real(ifft(logarithm)) * folded))))
    return found[: middle + h.shape[0] % 2 if half else h.shape[0]]
