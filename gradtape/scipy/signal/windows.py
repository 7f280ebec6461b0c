"""`scipy.signal.windows`: those with a continuous parameter are differentiated by it.

>>> import gradtape as gt
>>> from gradtape.scipy.signal import windows
>>> gt.grad(lambda std: windows.gaussian(3, std)[0])(gt.tensor(1.0)).round(6)
Tensor(0.606531)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.extend import Tensor
from gradtape.mirror import Original
from gradtape.ops.elementwise import where
from gradtape.ops.special import i0
from gradtape.scipy.arraylike import as_array, refusal

original = Original("scipy.signal.windows")


def _length(M: int, sym: bool) -> tuple[int, int]:
    """The length to compute and the one to keep: a periodic window is a symmetric one without its last sample."""
    if int(M) != M or M < 0:
        raise refusal(f"window: M={M!r}; a whole number from 0 on is accepted.", "M=64")
    return (int(M) if sym or M <= 1 else int(M) + 1), int(M)


@original.differentiated
def gaussian(M: int, std: Any, sym: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """A Gaussian window with a standard deviation in samples."""
    length, kept = _length(M, sym)
    if length <= 1:
        return np.ones(kept) + 0.0 * std
    n = np.arange(length) - (length - 1) / 2
    return np.exp(-(n**2) / (2 * std * std))[:kept]


@original.differentiated
def general_gaussian(M: int, p: Any, sig: Any, sym: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """A window exp(-|n / sig|^(2 p) / 2)."""
    length, kept = _length(M, sym)
    if length <= 1:
        return np.ones(kept) + 0.0 * p * sig
    n = np.arange(length) - (length - 1) / 2
    middle = n == 0
    power = (np.where(middle, 1.0, np.abs(n)) / np.abs(sig)) ** (2 * p)
    return where(middle, 1.0, np.exp(-0.5 * power))[:kept]


@original.differentiated
def general_cosine(M: int, a: Any, sym: bool = True) -> Any:
    """A window that is a weighted sum of cosines: sum of a[k] cos(k t), t from -pi to pi."""
    length, kept = _length(M, sym)
    a = as_array(a)
    if length <= 1:
        return np.ones(kept) + 0.0 * np.sum(a)
    t = np.linspace(-np.pi, np.pi, length)
    return np.matmul(a, np.cos(np.arange(a.shape[0])[:, None] * t))[:kept]


@original.differentiated
def general_hamming(M: int, alpha: Any, sym: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """The window alpha - (1 - alpha) cos(t)."""
    return general_cosine(M, [alpha, 1.0 - alpha], sym)


@original.differentiated
def kaiser(M: int, beta: Any, sym: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """A Kaiser window of the shape parameter `beta`.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal.windows import kaiser
    >>> kaiser(3, gt.tensor(2.0)).round(6)
    Tensor([0.438676, 1.      , 0.438676])
    """
    length, kept = _length(M, sym)
    if length <= 1:
        return np.ones(kept) + 0.0 * beta
    half = (length - 1) / 2
    place = np.sqrt(np.maximum(1 - ((np.arange(length) - half) / half) ** 2, 0.0))
    return (i0(beta * place) / i0(beta))[:kept]


@original.differentiated
def kaiser_bessel_derived(M: int, beta: Any, *, sym: bool = True, xp: Any = None, device: Any = None) -> Any:
    """A window whose squares add up to 1 at half its length, from the running sums of a Kaiser window."""
    if not sym:
        raise refusal("kaiser_bessel_derived: sym=False; only True is accepted.", "sym=True")
    if M % 2 or M < 1:
        raise refusal(f"kaiser_bessel_derived: M={M}; an even number is accepted.", f"M={M + 1}")
    sums = np.cumsum(kaiser(M // 2 + 1, beta))
    half = np.sqrt(sums[:-1] / sums[-1])
    return np.concatenate([half, half[::-1]])


@original.differentiated
def tukey(M: int, alpha: Any = 0.5, sym: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """A window that is flat in the middle and a cosine over the fraction `alpha` at its ends."""
    length, kept = _length(M, sym)
    if length <= 1 or alpha <= 0:
        return np.ones(kept) + 0.0 * alpha
    if alpha >= 1.0:
        return original.contents.hann(M, sym) + 0.0 * alpha
    n, width = np.arange(length), int(np.floor(alpha * (length - 1) / 2.0))
    place = 2.0 / alpha / (length - 1)
    rising = 0.5 * (1 + np.cos(np.pi * (-1 + n * place)))
    falling = 0.5 * (1 + np.cos(np.pi * (1 - 2.0 / alpha + n * place)))
    return where(n <= width, rising, where(n >= length - width - 1, falling, 1.0))[:kept]


@original.differentiated
def exponential(
    M: int, center: Any = None, tau: Any = 1.0, sym: bool = True, *, xp: Any = None, device: Any = None
) -> Any:
    """A window exp(-|n - center| / tau)."""
    if sym and center is not None:
        raise refusal("exponential: center with sym=True; only None is accepted.", "sym=False")
    length, kept = _length(M, sym)
    middle = (length - 1) / 2 if center is None else center
    if length <= 1:
        return np.ones(kept) + 0.0 * middle * tau
    return np.exp(-np.abs(np.arange(length) - middle) / tau)[:kept]


@original.differentiated
def chebwin(M: int, at: Any, sym: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """A Dolph-Chebyshev window with side lobes `at` decibels down."""
    length, kept = _length(M, sym)
    if length <= 1:
        return np.ones(kept) + 0.0 * at
    order = length - 1.0
    beta = np.cosh(np.arccosh(10 ** (np.abs(at) / 20.0)) / order)
    x = beta * np.cos(np.pi * np.arange(length) / length)
    outside = np.abs(x) > 1
    sign = where(x > 1, 1.0, 2.0 * (length % 2) - 1)
    spectrum = where(
        outside,
        sign * np.cosh(order * np.arccosh(where(outside, np.abs(x), 2.0))),
        np.cos(order * np.arccos(where(outside, 0.0, x))),
    )
    half = (length + 1) // 2
    if length % 2:
        found = np.real(np.fft.fft(spectrum))[:half]
        found = np.concatenate([found[:0:-1], found])
    else:
        turned = spectrum * np.exp(1j * np.pi / length * np.arange(length))
        found = np.real(np.fft.fft(turned))[1 : length // 2 + 1]
        found = np.concatenate([found[::-1], found])
    return (found / np.max(found))[:kept]


@original.differentiated
def taylor(
    M: int, nbar: int = 4, sll: Any = 30, norm: bool = True, sym: bool = True, *, xp: Any = None, device: Any = None
) -> Any:
    """A Taylor window with `nbar` side lobes `sll` decibels down."""
    length, kept = _length(M, sym)
    if length <= 1:
        return np.ones(kept) + 0.0 * sll
    a2 = (np.arccosh(10 ** (sll / 20)) / np.pi) ** 2
    s2 = nbar**2 / (a2 + (nbar - 0.5) ** 2)
    m = np.arange(1.0, nbar)
    numerators = np.prod(1 - (m**2)[:, None] / s2 / (a2 + (m - 0.5) ** 2), axis=1)
    factors = 1 - (m**2)[:, None] / (m**2) + np.eye(nbar - 1)
    weights = (-1.0) ** (m + 1) * numerators / (2 * np.prod(factors, axis=1))

    def at(n: Any) -> Any:
        return 1 + 2 * np.matmul(weights, np.cos(2 * np.pi * m[:, None] * (n - length / 2.0 + 0.5) / length))

    found = at(np.arange(length))
    if norm:
        found = found / at(np.array([(length - 1) / 2]))
    return found[:kept]


WITH_PARAMETERS: dict[str, Any] = {
    alias: function
    for function, aliases in {
        gaussian: "gaussian gauss gss",
        general_gaussian: "general_gaussian general_gauss ggs",
        general_cosine: "general_cosine",
        general_hamming: "general_hamming",
        kaiser: "kaiser ksr",
        kaiser_bessel_derived: "kaiser_bessel_derived kbd",
        tukey: "tukey tuk",
        exponential: "exponential poisson",
        chebwin: "chebwin cheb",
        taylor: "taylor taylorwin",
    }.items()
    for alias in aliases.split()
}
"""The windows with parameters, by the names that `get_window` takes."""


@original.differentiated
def get_window(window: Any, Nx: int, fftbins: bool = True, *, xp: Any = None, device: Any = None) -> Any:
    """A window by its name and parameters, `("gaussian", std)`, or the `beta` of a Kaiser window.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import get_window
    >>> get_window(("general_hamming", gt.tensor(0.5)), 4)
    Tensor([0. , 0.5, 1. , 0.5])
    """
    if isinstance(window, Tensor):
        return kaiser(Nx, window, not fftbins)
    name, *parameters = window
    symmetric = not fftbins
    for suffix, is_symmetric in (("_symmetric", True), ("_periodic", False)):
        if name.endswith(suffix):
            name, symmetric = name.removesuffix(suffix), is_symmetric
    if name not in WITH_PARAMETERS:
        raise refusal(
            f"get_window: {name!r} with a tensor as parameter; accepted are {', '.join(WITH_PARAMETERS)}.",
            "plain numbers as parameters, if no gradient is wanted",
        )
    return WITH_PARAMETERS[name](Nx, *parameters, sym=symmetric)


REASONS = {
    "is an eigenvector whose sign and order are chosen among others": "dpss",
}
__getattr__, __dir__, __test__ = original.module(globals(), REASONS)
