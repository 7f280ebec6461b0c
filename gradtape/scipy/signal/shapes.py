"""Signals by formulas: chirps, pulses, sawtooth and square waves, splines."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.ops.elementwise import where
from gradtape.ops.polynomials import polyint, polyval
from gradtape.scipy.arraylike import as_array, one_of, refusal
from gradtape.scipy.signal.mirrored import original

METHODS = {
    "linear": ("linear", "lin", "li"),
    "quadratic": ("quadratic", "quad", "q"),
    "logarithmic": ("logarithmic", "log", "lo"),
    "hyperbolic": ("hyperbolic", "hyp"),
}


@original.differentiated
def chirp(
    t: Any,
    f0: Any,
    t1: Any,
    f1: Any,
    method: str = "linear",
    phi: Any = 0,
    vertex_zero: bool = True,
    *,
    complex: bool = False,
) -> Any:
    """A cosine whose frequency goes from `f0` to `f1` at the time `t1`.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import chirp
    >>> chirp(gt.tensor([0.0, 1.0]), 1.0, 2.0, 3.0).round(6)
    Tensor([ 1., -1.])
    """
    t = as_array(t)
    kind = next((name for name, names in METHODS.items() if method in names), method)
    one_of("chirp: method", kind, tuple(METHODS))
    if kind == "linear":
        cycles = f0 * t + 0.5 * ((f1 - f0) / t1) * t * t
    elif kind == "quadratic":
        rate = (f1 - f0) / t1**2
        cycles = f0 * t + rate * t**3 / 3 if vertex_zero else f1 * t + rate * ((t1 - t) ** 3 - t1**3) / 3
    elif kind == "logarithmic":
        if f0 * f1 <= 0:
            raise refusal("chirp: f0 and f1 differ in sign, or one is 0, with method='logarithmic'.", "both positive")
        # (r^(t / t1) - 1) t1 / log(r) with r = f1 / f0, smooth at r = 1 too
        exponent = np.log(f1 / f0)
        cycles = f0 * t * _exponential_ratio(exponent * t / t1)
    else:
        if f0 == 0 or f1 == 0:
            raise refusal("chirp: f0 or f1 is 0 with method='hyperbolic'.", "frequencies that are not 0")
        # -log|1 - t / s| s f0 with 1 / s = (f1 - f0) / (f1 t1), smooth at f0 = f1 too
        inverse = (f1 - f0) / (f1 * t1)
        cycles = f0 * t * _logarithm_ratio(inverse * t)
    phase = 2 * np.pi * cycles + np.deg2rad(phi)
    return np.exp(1j * phase) if complex else np.cos(phase)


def _exponential_ratio(u: Any) -> Any:
    """(exp(u) - 1) / u, by its series near 0."""
    small = np.abs(u) < 1e-3
    safe = where(small, 1.0, u)
    return where(small, 1 + u / 2 * (1 + u / 3 * (1 + u / 4 * (1 + u / 5))), np.expm1(safe) / safe)


def _logarithm_ratio(u: Any) -> Any:
    """-log|1 - u| / u, by its series near 0."""
    small = np.abs(u) < 1e-3
    safe = where(small, 2.0, u)
    series = 1 + u * (1 / 2 + u * (1 / 3 + u * (1 / 4 + u * (1 / 5 + u / 6))))
    return where(small, series, -np.log(np.abs(1 - safe)) / safe)


@original.differentiated
def sweep_poly(t: Any, poly: Any, phi: Any = 0) -> Any:
    """A cosine whose frequency is a polynomial of the time."""
    t = as_array(t)
    poly = poly.coeffs if isinstance(poly, np.poly1d) else as_array(poly)
    return np.cos(2 * np.pi * polyval(polyint(poly), t) + np.deg2rad(phi))


@original.differentiated
def gausspulse(
    t: Any,
    fc: Any = 1000,
    bw: Any = 0.5,
    bwr: Any = -6,
    tpr: Any = -60,
    retquad: bool = False,
    retenv: bool = False,
) -> Any:
    """A cosine under a Gaussian, by its frequency and bandwidth; with t="cutoff" the time at which it has faded."""
    if fc < 0 or bw <= 0 or bwr >= 0:
        raise refusal("gausspulse: fc is negative, bw not positive, or bwr not negative.", "fc >= 0, bw > 0, bwr < 0")
    decay = -((np.pi * fc * bw) ** 2) / (4.0 * (np.log(10.0) / 20.0) * bwr)
    if isinstance(t, str):
        one_of("gausspulse: t", t, ("cutoff",))
        if tpr >= 0:
            raise refusal("gausspulse: tpr is not negative.", "tpr=-60")
        return np.sqrt(-(np.log(10.0) / 20.0) * tpr / decay)
    t = as_array(t)
    around = np.exp(-decay * t * t)
    parts = [around * np.cos(2 * np.pi * fc * t)]
    if retquad:
        parts.append(around * np.sin(2 * np.pi * fc * t))
    if retenv:
        parts.append(around)
    return parts[0] if len(parts) == 1 else tuple(parts)


def _turn(t: Any, width: Any) -> tuple[Any, Any, Any, Any]:
    """Time within a period, the share of the period up to the switch, whether it is before, whether it makes sense."""
    t, width = as_array(t) * 1.0, as_array(width) * 1.0
    within = np.mod(t + 0.0 * width, 2 * np.pi)
    return within, width, within < width * (2 * np.pi), (width >= 0) & (width <= 1)


@original.differentiated
def sawtooth(t: Any, width: Any = 1) -> Any:
    """A wave that rises over the share `width` of its period and falls over the rest; differentiated by both."""
    within, width, rises, valid = _turn(t, width)
    rising = within / (np.pi * where(rises & valid, width, 1.0)) - 1
    falling = (np.pi * (width + 1) - within) / (np.pi * where(rises | ~valid, 1.0, 1 - width))
    return where(valid, where(rises, rising, falling), np.nan)


@original.differentiated
def square(t: Any, duty: Any = 0.5) -> Any:
    """A wave of 1 and -1. Its derivative is 0 wherever it has one."""
    within, duty, high, valid = _turn(t, duty)
    return where(valid, where(high, 1.0, -1.0), np.nan) + 0.0 * within


@original.differentiated
def gauss_spline(x: Any, n: Any) -> Any:
    """The Gaussian that a B-spline of order `n` comes close to."""
    variance = (n + 1) / 12.0
    return np.exp(-(as_array(x) ** 2) / 2 / variance) / np.sqrt(2 * np.pi * variance)
