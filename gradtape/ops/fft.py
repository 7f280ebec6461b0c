"""Discrete Fourier transforms: `numpy.fft`.

Four transforms of one axis are linear rows; the others are made of them, axis by axis, as NumPy does. The adjoint of a
transform is the one in the other direction with the other's scale: fft and ifft are each other's inverse only because
one of them divides by n, and norm="backward", "ortho" and "forward" say which.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import linear
from gradtape.core.tensor import Tensor
from gradtape.core.typing import Array, Axis, Draw, DTypeLike, ShapeLike, TensorLike
from gradtape.errors import ShapeError
from gradtape.numpy_dispatch.protocols import answers, write_back
from gradtape.ops.arguments import argument_error, as_value, axes_tuple, batch_shift_axes, index_at_axis, one_axis
from gradtape.ops.conversion import conjugate
from gradtape.ops.rearranging import roll

_OTHER = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _resized(x: Array, length: int, axis: int) -> Any:
    """`x` cut, or filled with zeros, to a length along an axis: the adjoint of doing the reverse."""
    have = x.shape[axis]
    if have > length:
        return x[index_at_axis(axis, slice(0, length))]
    if have == length:
        return x
    missing = np.zeros((*x.shape[:axis], length - have, *x.shape[axis + 1 :]), x.dtype)
    return np.concatenate([x, missing], axis=axis)


def _shared(n: int, length: int, axis: int, ndim: int, dtype: DTypeLike, share: float) -> Any:
    """1 for the frequencies that a real transform of length `n` has once, `share` for those that stand for two."""
    weights = np.full(length, share, np.zeros(0, dtype).real.dtype)
    weights[0] = 1
    if n % 2 == 0 and n // 2 < length:
        weights[n // 2] = 1
    return weights.reshape((-1,) + (1,) * (ndim - axis - 1))


def _rfft_transpose(g: Array, x: Array, n: int, axis: int, norm: str | None) -> Any:
    halves = _shared(n, g.shape[axis], axis, g.ndim, g.dtype, 0.5)
    return _resized(_irfft(g * halves, n=n, axis=axis, norm=_OTHER[norm]), x.shape[axis], axis)


def _irfft_transpose(g: Array, x: Array, n: int, axis: int, norm: str | None) -> Any:
    spectrum = _rfft(g, n=n, axis=axis, norm=_OTHER[norm])
    twice = _shared(n, spectrum.shape[axis], axis, g.ndim, spectrum.dtype, 2)
    return _resized(spectrum * twice, x.shape[axis], axis)


def _samples(draw: Draw) -> list[Any]:
    return [
        ((draw(4),), {"n": 4, "axis": 0, "norm": None}),
        ((draw(2, 5),), {"n": 5, "axis": 1, "norm": "ortho"}),
        ((draw(3, 2),), {"n": 5, "axis": 0, "norm": "forward"}),
        ((draw(6),), {"n": 3, "axis": 0, "norm": "backward"}),
        ((draw(2, 3) + 1j * draw(2, 3),), {"n": 4, "axis": 1, "norm": None}),
        ((draw(1),), {"n": 1, "axis": 0, "norm": None}),
        ((draw(0, 3),), {"n": 3, "axis": 1, "norm": None}),
    ]


def _real_samples(draw: Draw) -> list[Any]:
    return [(arrays, params) for arrays, params in _samples(draw) if arrays[0].dtype.kind != "c"]


LONG = 2048
"""Points of a transform of real numbers, from which half of it is computed, and the rest is its conjugate."""


def _fft_kernel(x: Array, n: int, axis: int, norm: Any) -> Any:
    if x.dtype.char not in "fd" or n < LONG:
        return np.fft.fft(x, n, axis, norm)
    half = np.fft.rfft(x, n, axis, norm)
    whole = np.empty((*half.shape[:axis], n, *half.shape[axis + 1 :]), half.dtype)
    known = half.shape[axis]
    whole[index_at_axis(axis, slice(0, known))] = half
    mirrored = half[index_at_axis(axis, slice(n - known, 0, -1))]
    np.conjugate(mirrored, out=whole[index_at_axis(axis, slice(known, n))])
    return whole


_fft = linear(
    _fft_kernel,
    lambda g, x, n, axis, norm: _resized(_ifft(g, n=n, axis=axis, norm=_OTHER[norm]), x.shape[axis], axis),
    name="fft",
    batch=batch_shift_axes("axis"),
    samples=_samples,
)
_ifft: Op = linear(
    lambda x, n, axis, norm: np.fft.ifft(x, n, axis, norm),
    lambda g, x, n, axis, norm: _resized(_fft(g, n=n, axis=axis, norm=_OTHER[norm]), x.shape[axis], axis),
    name="ifft",
    batch=batch_shift_axes("axis"),
    samples=_samples,
)
_rfft = linear(
    lambda x, n, axis, norm: np.fft.rfft(x, n, axis, norm),
    _rfft_transpose,
    name="rfft",
    batch=batch_shift_axes("axis"),
    samples=_real_samples,
)
_irfft: Op = linear(
    lambda x, n, axis, norm: np.fft.irfft(x, n, axis, norm),
    _irfft_transpose,
    name="irfft",
    batch=batch_shift_axes("axis"),
    samples=_samples,
)


# -- along one axis


def _norm(norm: Any) -> Any:
    if norm not in _OTHER:
        raise argument_error(
            ShapeError, f"norm={norm!r} is not a scale of the transform.", "'backward', 'ortho' or 'forward'"
        )
    return norm


def _one(
    op: Op, a: TensorLike, n: Any, axis: Axis, norm: Any, default: Callable[[int], int] = lambda length: length
) -> Any:
    a = as_value(a)
    place = one_axis(axis, a.ndim)
    points = default(a.shape[place]) if n is None else operator.index(n)
    return op(a, n=points, axis=place, norm=_norm(norm))


def _into(out: Any, result: Any, name: str) -> Any:
    """`result`, written into `out` if one is given."""
    if out is None:
        return result
    return out._replace(result, f"np.fft.{name}(out=...)") if isinstance(out, Tensor) else write_back(result, out, True)


def _twice(length: int) -> int:
    return 2 * (length - 1)


@answers(np.fft.fft)
def fft(a: TensorLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: Array | None = None) -> Any:
    """The discrete Fourier transform along an axis, as `np.fft.fft`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.fft(gt.tensor([1.0, 0.0, 0.0, 0.0]))
    Tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    return _into(out, _one(_fft, a, n, axis, norm), "fft")


@answers(np.fft.ifft)
def ifft(a: TensorLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: Array | None = None) -> Any:
    """The inverse of `fft`, as `np.fft.ifft`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.ifft(gt.tensor([4.0, 0.0, 0.0, 0.0]))
    Tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    return _into(out, _one(_ifft, a, n, axis, norm), "ifft")


@answers(np.fft.rfft)
def rfft(a: TensorLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: Array | None = None) -> Any:
    """The frequencies from 0 up of the transform of real numbers, as `np.fft.rfft`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.rfft(gt.tensor([1.0, 2.0, 1.0, 0.0]))
    Tensor([4.+0.j, 0.-2.j, 0.+0.j], dtype=complex128)
    >>> gt.grad(lambda x: np.sum(np.abs(np.fft.rfft(x, norm="ortho")) ** 2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _into(out, _one(_rfft, a, n, axis, norm), "rfft")


@answers(np.fft.irfft)
def irfft(
    a: TensorLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: Array | None = None
) -> Any:
    """The inverse of `rfft`, to `n` real numbers, as `np.fft.irfft`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.irfft(gt.tensor([4.0, 0.0, 0.0]))
    Tensor([1., 1., 1., 1.])
    """
    return _into(out, _one(_irfft, a, n, axis, norm, _twice), "irfft")


@answers(np.fft.hfft)
def hfft(a: TensorLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: Array | None = None) -> Any:
    """The transform of a signal that is its own conjugate backwards, given by its first half, as `np.fft.hfft`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.hfft(gt.tensor([1.0, 0.0, 0.0]))
    Tensor([1., 1., 1., 1.])
    """
    _norm(norm)
    return _into(out, _one(_irfft, conjugate(as_value(a)), n, axis, _OTHER[norm], _twice), "hfft")


@answers(np.fft.ihfft)
def ihfft(
    a: TensorLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: Array | None = None
) -> Any:
    """The inverse of `hfft`, as `np.fft.ihfft`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.ihfft(gt.tensor([1.0, 1.0, 1.0, 1.0]))
    Tensor([1.-0.j, 0.-0.j, 0.-0.j], dtype=complex128)
    """
    _norm(norm)
    return _into(out, conjugate(_one(_rfft, a, n, axis, _OTHER[norm])), "ihfft")


# -- along several axes


def _lengths(a: Any, s: Any, axes: Any) -> tuple[list[int | None], list[int]]:
    """The number of points (None: as many as there are) and the axis of each transform."""
    if s is None:
        places = list(range(a.ndim)) if axes is None else list(axes)
        return [None] * len(places), places
    if axes is None:
        warnings.warn(
            "transforms of several axes with s= and without axes= are deprecated by NumPy; say axes=range(len(s)) or "
            "the axes that are meant",
            DeprecationWarning,
            stacklevel=4,
        )
        axes = range(-len(s), 0)
    if len(s) != len(axes):
        raise argument_error(
            ShapeError, f"s={tuple(s)} and axes={tuple(axes)} differ in number.", "one length for each axis"
        )
    points = [a.shape[axis] if n == -1 else n for n, axis in zip(s, axes, strict=True)]
    return [None if n is None else operator.index(n) for n in points], list(axes)


def _several(transforms: Sequence[tuple[Any, int | None, int]], a: Array, norm: Any) -> Any:
    for function, n, axis in transforms:
        a = function(a, n, axis, norm)
    return a


def _each_axis(function: Any, a: TensorLike, s: ShapeLike | None, axes: Any, norm: Any) -> Any:
    a = as_value(a)
    lengths, places = _lengths(a, s, axes)
    return _several([(function, n, axis) for n, axis in zip(lengths, places, strict=True)][::-1], a, _norm(norm))


@answers(np.fft.fftn)
def fftn(
    a: TensorLike, s: ShapeLike | None = None, axes: Any = None, norm: str | None = None, out: Array | None = None
) -> Any:
    """The Fourier transform along several axes (all by default), as `np.fft.fftn`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.fftn(gt.tensor([[1.0, 1.0], [1.0, 1.0]]))
    Tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]], dtype=complex128)
    """
    return _into(out, _each_axis(fft, a, s, axes, norm), "fftn")


@answers(np.fft.ifftn)
def ifftn(
    a: TensorLike, s: ShapeLike | None = None, axes: Any = None, norm: str | None = None, out: Array | None = None
) -> Any:
    """The inverse of `fftn`, as `np.fft.ifftn`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.ifftn(gt.tensor([[4.0, 0.0], [0.0, 0.0]]))
    Tensor([[1.+0.j, 1.+0.j],
            [1.+0.j, 1.+0.j]], dtype=complex128)
    """
    return _into(out, _each_axis(ifft, a, s, axes, norm), "ifftn")


@answers(np.fft.rfftn)
def rfftn(
    a: TensorLike, s: ShapeLike | None = None, axes: Any = None, norm: str | None = None, out: Array | None = None
) -> Any:
    """The transform of real numbers along several axes, the last of them halved, as `np.fft.rfftn`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.rfftn(gt.tensor([[1.0, 1.0], [1.0, 1.0]])).shape
    (2, 2)
    """
    a = as_value(a)
    lengths, places = _lengths(a, s, axes)
    steps = [(fft, n, axis) for n, axis in zip(lengths, places, strict=True)][::-1]
    return _into(out, _several([(rfft, *steps[0][1:]), *steps[1:]], a, _norm(norm)), "rfftn")


@answers(np.fft.irfftn)
def irfftn(
    a: TensorLike, s: ShapeLike | None = None, axes: Any = None, norm: str | None = None, out: Array | None = None
) -> Any:
    """The inverse of `rfftn`, as `np.fft.irfftn`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.irfftn(gt.tensor([[4.0, 0.0], [0.0, 0.0]]))
    Tensor([[1., 1.],
            [1., 1.]])
    """
    a = as_value(a)
    lengths, places = _lengths(a, s, axes)
    steps = [(ifft, n, axis) for n, axis in zip(lengths, places, strict=True)]
    return _into(out, _several([*steps[:-1], (irfft, *steps[-1][1:])], a, _norm(norm)), "irfftn")


@answers(np.fft.fft2)
def fft2(
    a: TensorLike, s: ShapeLike | None = None, axes: Any = (-2, -1), norm: str | None = None, out: Array | None = None
) -> Any:
    """The Fourier transform along two axes (the last two by default), as `np.fft.fft2`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.fft2(gt.tensor([[1.0, 0.0], [0.0, 0.0]]))
    Tensor([[1.+0.j, 1.+0.j],
            [1.+0.j, 1.+0.j]], dtype=complex128)
    """
    return fftn(a, s, axes, norm, out)


@answers(np.fft.ifft2)
def ifft2(
    a: TensorLike, s: ShapeLike | None = None, axes: Any = (-2, -1), norm: str | None = None, out: Array | None = None
) -> Any:
    """The inverse of `fft2`, as `np.fft.ifft2`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.ifft2(gt.tensor([[4.0, 0.0], [0.0, 0.0]])).real
    Tensor([[1., 1.],
            [1., 1.]])
    """
    return ifftn(a, s, axes, norm, out)


@answers(np.fft.rfft2)
def rfft2(
    a: TensorLike, s: ShapeLike | None = None, axes: Any = (-2, -1), norm: str | None = None, out: Array | None = None
) -> Any:
    """The transform of real numbers along two axes, as `np.fft.rfft2`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.rfft2(gt.zeros((4, 4))).shape
    (4, 3)
    """
    return rfftn(a, s, axes, norm, out)


@answers(np.fft.irfft2)
def irfft2(
    a: TensorLike, s: ShapeLike | None = None, axes: Any = (-2, -1), norm: str | None = None, out: Array | None = None
) -> Any:
    """The inverse of `rfft2`, as `np.fft.irfft2`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.irfft2(gt.zeros((4, 3))).shape
    (4, 4)
    """
    return irfftn(a, s, axes, norm, out)


# -- the order of frequencies


@answers(np.fft.fftshift)
def fftshift(x: TensorLike, axes: Any = None) -> Any:
    """The elements shifted so that frequency 0 is in the middle, as `np.fft.fftshift`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.fftshift(gt.tensor([0.0, 1.0, 2.0, -2.0, -1.0]))
    Tensor([-2., -1.,  0.,  1.,  2.])
    """
    x = as_value(x)
    places = tuple(range(x.ndim)) if axes is None else axes_tuple(axes, x.ndim, repeated=True)
    return roll(x, tuple(x.shape[axis] // 2 for axis in places), places)


@answers(np.fft.ifftshift)
def ifftshift(x: TensorLike, axes: Any = None) -> Any:
    """The inverse of `fftshift`, as `np.fft.ifftshift`.

    >>> import numpy as np, gradtape as gt
    >>> np.fft.ifftshift(gt.tensor([-2.0, -1.0, 0.0, 1.0, 2.0]))
    Tensor([ 0.,  1.,  2., -2., -1.])
    """
    x = as_value(x)
    places = tuple(range(x.ndim)) if axes is None else axes_tuple(axes, x.ndim, repeated=True)
    return roll(x, tuple(-(x.shape[axis] // 2) for axis in places), places)


def fftfreq(n: int, d: Any = 1.0) -> Any:
    """The frequencies that `fft` of `n` samples at a distance of `d` has, as `np.fft.fftfreq`.

    >>> import gradtape as gt
    >>> fftfreq(4, gt.tensor(0.5))
    Tensor([ 0. ,  0.5, -1. , -0.5])
    """
    return np.fft.fftfreq(n, 1.0) / d


def rfftfreq(n: int, d: Any = 1.0) -> Any:
    """The frequencies that `rfft` of `n` samples at a distance of `d` has, as `np.fft.rfftfreq`.

    >>> import gradtape as gt
    >>> rfftfreq(4, gt.tensor(0.5))
    Tensor([0. , 0.5, 1. ])
    """
    return np.fft.rfftfreq(n, 1.0) / d
