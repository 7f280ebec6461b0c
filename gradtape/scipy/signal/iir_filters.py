"""The design of recursive filters: by cut-off frequencies, ripples, and the quality of a notch."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops.polynomials import poly
from gradtape.scipy.arraylike import as_array, as_floating, is_tensor, one_of, refusal, surely
from gradtape.scipy.signal.filter_forms import (
    bilinear_zpk,
    lp2bp_zpk,
    lp2bs_zpk,
    lp2hp_zpk,
    lp2lp_zpk,
    zpk2sos,
)
from gradtape.scipy.signal.fir_filters import sampling_frequency
from gradtape.scipy.signal.mirrored import original

BANDS = {
    alias: band
    for band, aliases in {
        "bandpass": "band bandpass pass bp",
        "bandstop": "bs bandstop bands stop",
        "lowpass": "l low lowpass lp",
        "highpass": "high highpass h hp",
    }.items()
    for alias in aliases.split()
}
FAMILIES = {
    alias: family
    for family, aliases in {
        "butter": "butter butterworth",
        "cheby1": "cheby1 chebyshev1 chebyshevi",
        "cheby2": "cheby2 chebyshev2 chebyshevii",
        "ellip": "ellip elliptic cauer cauerelliptic",
        "bessel": "bessel bessel_phase",
        "bessel_delay": "bessel_delay",
        "bessel_mag": "bessel_mag",
    }.items()
    for alias in aliases.split()
}


@original.differentiated
def cheb1ap(N: int, rp: Any, *, xp: Any = None, device: Any = None) -> tuple[Any, Any, Any]:
    """The zeros, poles and gain of an analog Chebyshev filter of the first kind, by its ripple in decibels."""
    if N == 0:
        return np.zeros(0), np.zeros(0), 10 ** (-rp / 20)
    ripple = np.sqrt(10 ** (0.1 * rp) - 1.0)
    spread = np.arcsinh(1 / ripple) / N
    poles = -np.sinh(spread + 1j * np.pi * np.arange(-N + 1, N, 2) / (2 * N))
    gain = np.real(np.prod(-poles))
    return np.zeros(0), poles, gain / np.sqrt(1 + ripple * ripple) if N % 2 == 0 else gain


@original.differentiated
def cheb2ap(N: int, rs: Any, *, xp: Any = None, device: Any = None) -> tuple[Any, Any, Any]:
    """The zeros, poles and gain of an analog Chebyshev filter of the second kind, by its attenuation in decibels."""
    if N == 0:
        return np.zeros(0), np.zeros(0), 1.0 + 0.0 * rs
    spread = np.arcsinh(np.sqrt(10 ** (0.1 * rs) - 1)) / N
    m = np.arange(-N + 1, N, 2)
    zeros = 1j / np.sin(m[m != 0] * np.pi / (2 * N))
    poles = -1 / np.sinh(spread + 1j * np.pi * m / (2 * N))
    return zeros, poles, np.real(np.prod(-poles) / np.prod(-zeros))


def _prototype(N: int, family: str, rp: Any, rs: Any) -> tuple[Any, Any, Any]:
    """The zeros, poles and gain of the analog low-pass filter with the cut-off frequency 1."""
    theirs = original.contents
    for name, value, needed in (("rp", rp, ("cheby1", "ellip")), ("rs", rs, ("cheby2", "ellip"))):
        if family in needed and value is None:
            raise refusal(f"iirfilter: {name}=None with ftype={family!r}.", f"{name} in decibels")
        if value is not None and surely(value < 0):
            raise refusal(f"iirfilter: {name} is negative.", f"a positive {name}")
    if family == "cheby1":
        found: tuple[Any, Any, Any] = cheb1ap(N, rp)
    elif family == "cheby2":
        found = cheb2ap(N, rs)
    elif family == "ellip":
        if is_tensor(rp, rs):
            raise refusal(
                "iirfilter: ftype='ellip' with rp or rs a tensor; only its cut-off frequencies may be.",
                "plain numbers for rp and rs, or ftype='cheby1'",
            )
        found = theirs.ellipap(N, rp, rs)
    elif family == "butter":
        found = theirs.buttap(N)
    else:
        norm = {"bessel": "phase", "bessel_delay": "delay", "bessel_mag": "mag"}[family]
        found = theirs.besselap(N, norm=norm)
    return found


@original.differentiated
def iirfilter(
    N: int,
    Wn: Any,
    rp: Any = None,
    rs: Any = None,
    btype: str = "band",
    analog: bool = False,
    ftype: str = "butter",
    output: str = "ba",
    fs: Any = None,
) -> Any:
    """A recursive filter of order `N`; differentiated by the cut-off frequencies, the ripples and `fs`."""
    btype, ftype, output = btype.lower(), ftype.lower(), output.lower()
    one_of("iirfilter: btype", btype, tuple(BANDS))
    one_of("iirfilter: ftype", ftype, tuple(FAMILIES))
    one_of("iirfilter: output", output, ("ba", "zpk", "sos"))
    edges = as_floating(Wn)
    if fs is not None:
        if analog:
            raise refusal("iirfilter: fs with analog=True.", "fs=None")
        edges = edges / (sampling_frequency("iirfilter", fs) / 2)
    if surely(np.any(edges <= 0)) or (not analog and surely(np.any(edges >= 1))):
        raise refusal(
            "iirfilter: a critical frequency is not above 0"
            + ("." if analog else " and below " + ("1." if fs is None else "fs/2.")),
            "Wn between 0 and the Nyquist frequency",
        )
    band = BANDS[btype]
    count = int(np.prod(edges.shape))
    if count != (1 if band in ("lowpass", "highpass") else 2):
        raise refusal(f"iirfilter: {count} critical frequencies for {band!r}.", "one for low- and highpass, else two")
    edges = edges.reshape((-1,))
    if count == 2 and surely(edges[0] >= edges[1]):
        raise refusal("iirfilter: Wn[0] is not below Wn[1].", "Wn in rising order")
    z, p, k = _prototype(N, FAMILIES[ftype], rp, rs)
    warped = edges if analog else 4.0 * np.tan(np.pi * edges / 2.0)
    if band == "lowpass":
        z, p, k = lp2lp_zpk(z, p, k, warped[0])
    elif band == "highpass":
        z, p, k = lp2hp_zpk(z, p, k, warped[0])
    else:
        change = lp2bp_zpk if band == "bandpass" else lp2bs_zpk
        z, p, k = change(z, p, k, np.sqrt(warped[0] * warped[1]), warped[1] - warped[0])
    if not analog:
        z, p, k = bilinear_zpk(z, p, k, 2.0)
    if output == "zpk":
        return z, p, k
    if output == "sos":
        return zpk2sos(z, p, k, analog=analog)
    return k * np.real(poly(z)), np.real(poly(p))


@original.differentiated
def butter(N: int, Wn: Any, btype: str = "low", analog: bool = False, output: str = "ba", fs: Any = None) -> Any:
    """A Butterworth filter; differentiated by its cut-off frequencies.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import butter
    >>> b, a = butter(1, gt.tensor(0.5))
    >>> b.round(6)
    Tensor([0.5, 0.5])
    >>> gt.grad(lambda cutoff: butter(1, cutoff)[0][0])(gt.tensor(0.5)).round(6)
    Tensor(0.785398)
    """
    return iirfilter(N, Wn, btype=btype, analog=analog, output=output, ftype="butter", fs=fs)


@original.differentiated
def cheby1(
    N: int, rp: Any, Wn: Any, btype: str = "low", analog: bool = False, output: str = "ba", fs: Any = None
) -> Any:
    """A Chebyshev filter of the first kind; differentiated by its ripple and its cut-off frequencies."""
    return iirfilter(N, Wn, rp=rp, btype=btype, analog=analog, output=output, ftype="cheby1", fs=fs)


@original.differentiated
def cheby2(
    N: int, rs: Any, Wn: Any, btype: str = "low", analog: bool = False, output: str = "ba", fs: Any = None
) -> Any:
    """A Chebyshev filter of the second kind; differentiated by its attenuation and its cut-off frequencies."""
    return iirfilter(N, Wn, rs=rs, btype=btype, analog=analog, output=output, ftype="cheby2", fs=fs)


@original.differentiated
def ellip(
    N: int, rp: Any, rs: Any, Wn: Any, btype: str = "low", analog: bool = False, output: str = "ba", fs: Any = None
) -> Any:
    """An elliptic filter; differentiated by its cut-off frequencies."""
    return iirfilter(N, Wn, rs=rs, rp=rp, btype=btype, analog=analog, output=output, ftype="elliptic", fs=fs)


@original.differentiated
def bessel(
    N: int,
    Wn: Any,
    btype: str = "low",
    analog: bool = False,
    output: str = "ba",
    norm: str = "phase",
    fs: Any = None,
) -> Any:
    """A Bessel filter; differentiated by its cut-off frequencies."""
    return iirfilter(N, Wn, btype=btype, analog=analog, output=output, ftype=f"bessel_{norm}", fs=fs)


# -- filters for one frequency


def _notch(name: str, w0: Any, Q: Any, fs: Any) -> tuple[Any, Any]:
    """The cosine of the frequency, and the gain 1 / (1 + tan(half the bandwidth))."""
    w0 = 2 * w0 / sampling_frequency(name, fs)
    if surely(np.any(w0 > 1)) or surely(np.any(w0 < 0)):
        raise refusal(f"{name}: w0 is not between 0 and fs/2.", "0 < w0 < fs/2")
    return np.cos(np.pi * w0), 1.0 / (1.0 + np.tan(np.pi * w0 / Q / 2.0))


@original.differentiated
def iirnotch(w0: Any, Q: Any, fs: Any = 2.0, *, xp: Any = None, device: Any = None) -> tuple[Any, Any]:
    """A filter that removes the frequency `w0`; differentiated by it, by the quality `Q` and by `fs`."""
    cosine, gain = _notch("iirnotch", w0, Q, fs)
    return gain * as_array([1.0, -2.0 * cosine, 1.0]), as_array([1.0, -2.0 * gain * cosine, 2.0 * gain - 1.0])


@original.differentiated
def iirpeak(w0: Any, Q: Any, fs: Any = 2.0, *, xp: Any = None, device: Any = None) -> tuple[Any, Any]:
    """A filter that keeps the frequency `w0`; differentiated by it, by the quality `Q` and by `fs`."""
    cosine, gain = _notch("iirpeak", w0, Q, fs)
    return (1.0 - gain) * np.array([1.0, 0.0, -1.0]), as_array([1.0, -2.0 * gain * cosine, 2.0 * gain - 1.0])
