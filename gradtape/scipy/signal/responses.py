"""What filters do to frequencies, and the chirp z-transform."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.extend import one_axis
from gradtape.ops.elementwise import where
from gradtape.ops.fft import fft, ifft
from gradtape.ops.numerics import convolve
from gradtape.ops.polynomials import polyval
from gradtape.scipy.arraylike import as_array, as_floating, as_vector, refusal
from gradtape.scipy.signal.filter_forms import numbers_of
from gradtape.scipy.signal.fir_filters import sampling_frequency
from gradtape.scipy.signal.mirrored import original


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _angles(worN: Any, whole: bool, fs: Any, endpoint: bool = False) -> Any:
    """The frequencies in radians for each sample."""
    if worN is None or _is_count(worN):
        count = 512 if worN is None else operator.index(worN)
        if count < 0:
            raise refusal(f"freqz: worN={count}; a number from 0 on is accepted.", "worN=512")
        return np.linspace(0, 2 * np.pi if whole else np.pi, count, endpoint=endpoint and not whole)
    given = as_floating(worN)
    given = given if given.ndim else given.reshape((1,))
    return 2 * np.pi * given / fs


def _at_angles(c: Any, w: Any) -> Any:
    """sum_k c_k exp(-i k w), with coefficients along the first axis of `c` and the others broadcast against `w`."""
    if c.ndim == 1:
        return np.matmul(c + 0j, np.exp(-1j * np.arange(c.shape[0]).reshape((-1, 1)) * w.reshape((1, -1)))).reshape(
            w.shape
        )
    total: Any = 0.0
    for k in range(c.shape[0]):
        total = total + c[k] * np.exp(-1j * k * w)
    return total


@original.differentiated
def freqz(
    b: Any,
    a: Any = 1,
    worN: Any = 512,
    whole: bool = False,
    plot: Any = None,
    fs: Any = 2 * np.pi,
    include_nyquist: bool = False,
) -> tuple[Any, Any]:
    """The frequencies, and the response of a digital filter at them; differentiated by coefficients and frequencies.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import freqz
    >>> freqz(gt.tensor([0.5, 0.5]), worN=[0.0])[1]
    Tensor([1.+0.j], dtype=complex128)
    """
    b, a = as_floating(b), as_floating(a)
    b, a = (c if c.ndim else c.reshape((1,)) for c in (b, a))
    fs = sampling_frequency("freqz", fs, 2 * np.pi)
    w = _angles(worN, whole, fs, include_nyquist)
    h = _at_angles(b, w) / _at_angles(a, w)
    w = w * (fs / (2 * np.pi))
    if plot is not None:
        plot(w, h)
    return w, h


def _from_roots(x: Any, roots: Any) -> Any:
    """The product of x - r over the roots."""
    return np.prod(x.reshape((*x.shape, 1)) - roots, axis=-1)


@original.differentiated
def freqz_zpk(z: Any, p: Any, k: Any, worN: Any = 512, whole: bool = False, fs: Any = 2 * np.pi) -> tuple[Any, Any]:
    """`freqz` of zeros, poles and a gain."""
    z, p = as_vector(z, "freqz_zpk: z"), as_vector(p, "freqz_zpk: p")
    fs = sampling_frequency("freqz_zpk", fs, 2 * np.pi)
    w = _angles(worN, whole, fs)
    turned = np.exp(1j * w)
    return w * (fs / (2 * np.pi)), as_floating(k) * _from_roots(turned, z) / _from_roots(turned, p)


@original.differentiated
def freqz_sos(sos: Any, worN: Any = 512, whole: bool = False, fs: Any = 2 * np.pi) -> tuple[Any, Any]:
    """`freqz` of second-order sections."""
    sos = as_floating(sos)
    if sos.ndim != 2 or sos.shape[1] != 6 or not sos.shape[0]:
        raise refusal(f"freqz_sos: sos has shape {sos.shape}; (sections, 6) is accepted.", "output='sos'", ShapeError)
    h: Any = 1.0
    for section in range(sos.shape[0]):
        w, row = freqz(sos[section, :3], sos[section, 3:], worN, whole, fs=fs)
        h = h * row
    return w, h


@original.differentiated
def sosfreqz(sos: Any, worN: Any = 512, whole: bool = False, fs: Any = 2 * np.pi) -> tuple[Any, Any]:
    """The former name of `freqz_sos`."""
    return freqz_sos(sos, worN, whole, fs)


@original.differentiated
def freqs(b: Any, a: Any, worN: Any = 200, plot: Any = None) -> tuple[Any, Any]:
    """The frequencies, and the response of an analog filter at them."""
    b, a = as_vector(b, "freqs: b"), as_vector(a, "freqs: a")
    if worN is None or _is_count(worN):
        w = original.contents.findfreqs(numbers_of(b), numbers_of(a), 200 if worN is None else worN)
    else:
        w = as_vector(worN, "freqs: worN")
    h = polyval(b, 1j * w) / polyval(a, 1j * w)
    if plot is not None:
        plot(w, h)
    return w, h


@original.differentiated
def freqs_zpk(z: Any, p: Any, k: Any, worN: Any = 200) -> tuple[Any, Any]:
    """`freqs` of zeros, poles and a gain."""
    z, p = as_vector(z, "freqs_zpk: z"), as_vector(p, "freqs_zpk: p")
    if worN is None or _is_count(worN):
        w = original.contents.findfreqs(numbers_of(z), numbers_of(p), 200 if worN is None else worN, kind="zp")
    else:
        w = as_vector(worN, "freqs_zpk: worN")
    return w, as_floating(k) * _from_roots(1j * w, z) / _from_roots(1j * w, p)


@original.differentiated
def group_delay(system: Any, w: Any = 512, whole: bool = False, fs: Any = 2 * np.pi) -> tuple[Any, Any]:
    """The frequencies, and the delay of a digital filter (b, a) at them, in samples."""
    b, a = (as_vector(c, f"group_delay: {name}") for c, name in zip(system, "ba", strict=True))
    fs = sampling_frequency("group_delay", fs, 2 * np.pi)
    angles = _angles(w, whole, fs)
    c = convolve(b, np.conj(a[::-1]))
    below = _at_angles(c, angles)
    singular = below == 0
    ratio = _at_angles(c * np.arange(c.shape[0]), angles) / where(singular, 1.0, below)
    return angles * (fs / (2 * np.pi)), where(singular, 0.0, np.real(ratio) - a.shape[0] + 1)


# -- the chirp z-transform, by Bluestein's algorithm: n k = (n^2 + k^2 - (k - n)^2) / 2


@original.differentiated
def czt_points(m: int, w: Any = None, a: Any = 1 + 0j) -> Any:
    """The points in the plane at which the chirp z-transform is taken: a w^-k."""
    if m < 1:
        raise refusal(f"czt_points: m={m}; a number from 1 on is accepted.", "m=1")
    k = np.arange(m)
    step = np.exp(-2j * np.pi / m) if w is None else as_array(w) + 0j
    return a * step ** (-1.0 * k)


@original.differentiated
def czt(x: Any, m: int | None = None, w: Any = None, a: Any = 1 + 0j, *, axis: int = -1) -> Any:
    """The z-transform along a spiral; differentiated by the signal, the step `w` and the start `a`.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.signal import czt
    >>> np.real(czt(gt.tensor([1.0, 2.0, 3.0]))).round(6)
    Tensor([ 6. , -1.5, -1.5])
    """
    x = as_array(x)
    place = one_axis(axis, x.ndim)
    n = x.shape[place]
    m = n if m is None else operator.index(m)
    if n < 1 or m < 1:
        raise refusal(f"czt: {n} samples and m={m}; both are at least 1.", "m=None")
    step = np.exp(-2j * np.pi / m) if w is None else as_array(w) + 0j
    start = as_array(a) + 0j
    k = np.arange(max(m, n))
    if w is None:
        chirp = np.exp(-1j * np.pi * ((k * k) % (2 * m)) / m)  # the exponent is exact for large k too
    else:
        chirp = step ** (k**2 / 2.0)
    size = _fast_length(n + m - 1)
    weighted = np.moveaxis(x, place, -1) * (start ** (-1.0 * np.arange(n)) * chirp[:n])
    kernel = np.concatenate([chirp[n - 1 : 0 : -1], chirp[:m]])
    product = ifft(fft(weighted, size) * fft(1 / kernel, size))
    return np.moveaxis(product[..., n - 1 : n + m - 1] * chirp[:m], -1, place)


def _fast_length(target: int) -> int:
    from scipy.fft import next_fast_len

    return int(next_fast_len(target))


@original.differentiated
def zoom_fft(x: Any, fn: Any, m: int | None = None, *, fs: Any = 2, endpoint: bool = False, axis: int = -1) -> Any:
    """The Fourier transform of a signal at `m` frequencies within the band `fn`."""
    x = as_array(x)
    m = x.shape[one_axis(axis, x.ndim)] if m is None else operator.index(m)
    fn = as_floating(fn)
    first, last = (0.0, fn) if not fn.ndim else (fn[0], fn[1])
    if endpoint and m > 1:
        step = (last - first) / (m - 1)
    else:
        step = (last - first) / m
    turn = 2j * np.pi / fs
    return czt(x, m, np.exp(-turn * step), np.exp(turn * first), axis=axis)
