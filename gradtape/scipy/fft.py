"""`scipy.fft` with gradients: Fourier, cosine, sine and Hankel transforms.

>>> import numpy as np, gradtape as gt
>>> from gradtape.scipy import fft
>>> gt.grad(lambda x: np.sum(fft.dct(x, norm="ortho") ** 2))(np.array([1.0, 2.0]))
array([2., 4.])
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradtape.errors import DtypeError, ShapeError
from gradtape.extend import one_axis
from gradtape.mirror import Original
from gradtape.ops import fft as transforms
from gradtape.ops.cosine_transforms import TRANSPOSED_TYPE, trigonometric
from gradtape.ops.special import loggamma, poch
from gradtape.scipy.arraylike import as_array, as_floating, one_of, refusal

original = Original("scipy.fft")

OTHER_NORM = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
NORMS = ("backward", "ortho", "forward", None)


def _real(name: str, x: Any) -> Any:
    x = as_array(x)
    if x.dtype.kind == "c":
        raise refusal(f"{name}: x is of {x.dtype}; real numbers are accepted.", "x.real", DtypeError)
    return x


def _axes(x: Any, s: Any, axes: Any) -> tuple[Any, Any]:
    """Lengths and axes: the last axes, if there are lengths only."""
    if s is not None and isinstance(s, int | np.integer):
        s = (s,)
    if axes is not None and isinstance(axes, int | np.integer):
        axes = (axes,)
    if s is not None and axes is None:
        axes = tuple(range(x.ndim - len(s), x.ndim))
    return s, axes


# -- Fourier transforms


@original.differentiated
def fft(
    x: Any,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
) -> Any:
    """The discrete Fourier transform along an axis.

    >>> import gradtape as gt
    >>> from gradtape.scipy.fft import fft
    >>> fft(gt.tensor([1.0, 0.0]))
    Tensor([1.+0.j, 1.+0.j], dtype=complex128)
    """
    return transforms.fft(as_array(x), n, axis, norm)


@original.differentiated
def ifft(
    x: Any,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
) -> Any:
    """The inverse of `fft`."""
    return transforms.ifft(as_array(x), n, axis, norm)


@original.differentiated
def rfft(
    x: Any,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
) -> Any:
    """The frequencies from 0 up of the transform of real numbers."""
    return transforms.rfft(_real("rfft", x), n, axis, norm)


@original.differentiated
def irfft(
    x: Any,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
) -> Any:
    """The inverse of `rfft`."""
    return transforms.irfft(as_array(x), n, axis, norm)


@original.differentiated
def hfft(
    x: Any,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
) -> Any:
    """The transform of a signal that is its own conjugate backwards, given by its first half."""
    return transforms.hfft(as_array(x), n, axis, norm)


@original.differentiated
def ihfft(
    x: Any,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
) -> Any:
    """The inverse of `hfft`."""
    return transforms.ihfft(_real("ihfft", x), n, axis, norm)


@original.differentiated
def fftn(
    x: Any,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
) -> Any:
    """The Fourier transform along several axes."""
    x = as_array(x)
    return transforms.fftn(x, *_axes(x, s, axes), norm)


@original.differentiated
def ifftn(
    x: Any,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
) -> Any:
    """The inverse of `fftn`."""
    x = as_array(x)
    return transforms.ifftn(x, *_axes(x, s, axes), norm)


@original.differentiated
def rfftn(
    x: Any,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
) -> Any:
    """The transform of real numbers along several axes, the last of them halved."""
    x = _real("rfftn", x)
    return transforms.rfftn(x, *_axes(x, s, axes), norm)


@original.differentiated
def irfftn(
    x: Any,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
) -> Any:
    """The inverse of `rfftn`."""
    x = as_array(x)
    return transforms.irfftn(x, *_axes(x, s, axes), norm)


@original.differentiated
def hfftn(
    x: Any,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
) -> Any:
    """`hfft` along several axes."""
    one_of("hfftn: norm", norm, NORMS)
    return irfftn(np.conj(as_array(x)), s, axes, OTHER_NORM[norm])


@original.differentiated
def ihfftn(
    x: Any,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: Any = None,
) -> Any:
    """The inverse of `hfftn`."""
    one_of("ihfftn: norm", norm, NORMS)
    return np.conj(rfftn(x, s, axes, OTHER_NORM[norm]))


def _of_two_axes(function: Any, called: str) -> Any:
    """A transform along several axes, of the last two unless others are given."""

    def transform(
        x: Any,
        s: Any = None,
        axes: Any = (-2, -1),
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        plan: Any = None,
    ) -> Any:
        return function(x, s, axes, norm)

    transform.__name__ = transform.__qualname__ = called
    transform.__doc__ = f"`{function.__name__}` of two axes, the last ones by default."
    return original.differentiated(transform)


fft2 = _of_two_axes(fftn, "fft2")
ifft2 = _of_two_axes(ifftn, "ifft2")
rfft2 = _of_two_axes(rfftn, "rfft2")
irfft2 = _of_two_axes(irfftn, "irfft2")
hfft2 = _of_two_axes(hfftn, "hfft2")
ihfft2 = _of_two_axes(ihfftn, "ihfft2")


@original.differentiated
def fftshift(x: Any, axes: Any = None) -> Any:
    """The elements shifted so that frequency 0 is in the middle."""
    return transforms.fftshift(as_array(x), axes)


@original.differentiated
def ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of `fftshift`."""
    return transforms.ifftshift(as_array(x), axes)


@original.differentiated
def fftfreq(n: int, d: Any = 1.0, *, xp: Any = None, device: Any = None) -> Any:
    """The frequencies of `fft` of `n` samples at a distance of `d`."""
    return transforms.fftfreq(n, d)


@original.differentiated
def rfftfreq(n: int, d: Any = 1.0, *, xp: Any = None, device: Any = None) -> Any:
    """The frequencies of `rfft` of `n` samples at a distance of `d`."""
    return transforms.rfftfreq(n, d)


# -- cosine and sine transforms


def _resized(x: Any, length: int, axis: int) -> Any:
    """`x` cut, or filled with zeros, to a length along an axis."""
    have = x.shape[axis]
    if length < 1:
        raise refusal(f"transform: n={length}; a positive whole number is accepted.", "n=None")
    if have >= length:
        return x if have == length else x[(*(slice(None),) * axis, slice(0, length))]
    zeros = np.zeros((*x.shape[:axis], length - have, *x.shape[axis + 1 :]), x.dtype)
    return np.concatenate([x, zeros], axis)


def _trigonometric(
    kind: str, x: Any, type: int, n: Any, axis: int, norm: Any, orthogonalize: Any, is_inverse: bool
) -> Any:
    name = ("i" if is_inverse else "") + ("dct" if kind == "cosine" else "dst")
    one_of(f"{name}: type", type, (1, 2, 3, 4))
    one_of(f"{name}: norm", norm, NORMS)
    x = as_floating(x)
    place = one_axis(axis, x.ndim)
    x = x if n is None else _resized(x, operator.index(n), place)
    if type == 1 and kind == "cosine" and x.shape[place] < 2:
        raise refusal(f"{name}: type=1 of {x.shape[place]} elements.", "at least 2, or another type", ShapeError)
    orthogonal = norm == "ortho" if orthogonalize is None else bool(orthogonalize)
    if is_inverse:
        type, norm = TRANSPOSED_TYPE[type], OTHER_NORM[norm]
    return trigonometric(x, kind=kind, type=type, axis=place, norm=norm or "backward", orthogonalize=orthogonal)


@original.differentiated
def dct(
    x: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
) -> Any:
    """The discrete cosine transform of a type from 1 to 4.

    >>> import gradtape as gt
    >>> from gradtape.scipy.fft import dct
    >>> dct(gt.tensor([1.0, 1.0]), norm="ortho").round(6)
    Tensor([1.414214, 0.      ])
    """
    return _trigonometric("cosine", x, type, n, axis, norm, orthogonalize, False)


@original.differentiated
def idct(
    x: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
) -> Any:
    """The inverse of `dct`."""
    return _trigonometric("cosine", x, type, n, axis, norm, orthogonalize, True)


@original.differentiated
def dst(
    x: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
) -> Any:
    """The discrete sine transform of a type from 1 to 4."""
    return _trigonometric("sine", x, type, n, axis, norm, orthogonalize, False)


@original.differentiated
def idst(
    x: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
) -> Any:
    """The inverse of `dst`."""
    return _trigonometric("sine", x, type, n, axis, norm, orthogonalize, True)


def _each_axis(function: Any, x: Any, type: int, s: Any, axes: Any, norm: Any, orthogonalize: Any) -> Any:
    x = as_floating(x)
    s, axes = _axes(x, s, axes)
    places = range(x.ndim) if axes is None else axes
    lengths = [None] * len(places) if s is None else s
    if len(lengths) != len(places):
        raise refusal(f"{function.__name__}n: s={s!r} and axes={axes!r} differ in number.", "a length for each axis")
    for place, length in zip(places, lengths, strict=True):
        x = function(x, type, length, place, norm, orthogonalize=orthogonalize)
    return x


@original.differentiated
def dctn(
    x: Any,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    orthogonalize: bool | None = None,
) -> Any:
    """`dct` along several axes."""
    return _each_axis(dct, x, type, s, axes, norm, orthogonalize)


@original.differentiated
def idctn(
    x: Any,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
) -> Any:
    """The inverse of `dctn`."""
    return _each_axis(idct, x, type, s, axes, norm, orthogonalize)


@original.differentiated
def dstn(
    x: Any,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
) -> Any:
    """`dst` along several axes."""
    return _each_axis(dst, x, type, s, axes, norm, orthogonalize)


@original.differentiated
def idstn(
    x: Any,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
) -> Any:
    """The inverse of `dstn`."""
    return _each_axis(idst, x, type, s, axes, norm, orthogonalize)


# -- Hankel transforms on a logarithmic grid (Hamilton's FFTLog): in Fourier space a product with
#      u = (2 / kr)^(2 i y) 2^bias gamma((mu + 1 + bias) / 2 + i y) / gamma((mu + 1 - bias) / 2 - i y)


def _hankel_factor(n: int, dln: Any, mu: Any, offset: Any, bias: Any) -> Any:
    y = np.linspace(0.0, np.pi * (n // 2) / n, n // 2 + 1) / dln
    above, below = loggamma((mu + 1 + bias) / 2 + 1j * y), loggamma((mu + 1 - bias) / 2 + 1j * y)
    size = np.real(above) - np.real(below) + np.log(2.0) * bias
    turn = np.imag(above) + np.imag(below) + 2 * y * (np.log(2.0) - offset)
    is_complex = (np.arange(n // 2 + 1) < n // 2) | (n % 2 == 1)  # of an even number the last one is real
    factor = np.exp(size) * (np.cos(turn) + 1j * np.sin(turn) * is_complex)
    if not np.isfinite(factor[0]):  # both gamma functions are infinite, their ratio is not
        low, high = (mu + 1 - bias) / 2, (mu + 1 + bias) / 2
        factor = np.concatenate([as_array([2**bias * poch(low, high - low) + 0j]), factor[1:]])
    if not np.isfinite(factor[0]) or factor[0] == 0:
        raise refusal("fht: mu and bias make the transform singular.", "another bias")
    return factor


def _hankel(name: str, a: Any, dln: Any, mu: Any, offset: Any, bias: Any, is_inverse: bool) -> Any:
    a = _real(name, as_floating(a))
    if not a.ndim:
        raise refusal(f"{name}: a is a single number.", "an array of at least one axis", ShapeError)
    n = a.shape[-1]
    steps = np.arange(n) - (n - 1) / 2
    factor = _hankel_factor(n, dln, mu, offset, bias)
    if is_inverse:
        a = a * np.exp(bias * (steps * dln + offset))
        found = transforms.irfft(transforms.rfft(a) / np.conj(factor), n)[..., ::-1]
        return found / np.exp(-bias * steps * dln)
    a = a * np.exp(-bias * steps * dln)
    found = transforms.irfft(transforms.rfft(a) * factor, n)[..., ::-1]
    return found * np.exp(-bias * (steps * dln + offset))


@original.differentiated
def fht(a: Any, dln: Any, mu: Any, offset: Any = 0.0, bias: Any = 0.0) -> Any:
    """The Hankel transform of order `mu` on a logarithmic grid; differentiated by all its arguments.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.fft import fht, ifht
    >>> a = gt.tensor([1.0, 2.0, 0.5])
    >>> bool(np.allclose(ifht(fht(a, 0.3, 0.5), 0.3, 0.5), a))
    True
    """
    return _hankel("fht", a, dln, mu, offset, bias, False)


@original.differentiated
def ifht(A: Any, dln: Any, mu: Any, offset: Any = 0.0, bias: Any = 0.0) -> Any:
    """The inverse of `fht`."""
    return _hankel("ifht", A, dln, mu, offset, bias, True)


REASONS = {
    "rounds to the closest offset at which the transform is well-conditioned": "fhtoffset",
    "returns whole numbers, which have no gradient": "get_workers next_fast_len prev_fast_len",
    "sets how transforms are run, and takes no numbers": (
        "register_backend set_backend set_global_backend set_workers skip_backend"
    ),
    "runs the tests of SciPy": "test",
}
"""Why functions refuse tensors whose gradient is recorded: names for each reason."""

__getattr__, __dir__, __test__ = original.module(globals(), REASONS)
