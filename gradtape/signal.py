"""Convolution and correlation with SciPy's signatures: arrays of any rank, by products or by Fourier transforms.

`scipy.signal`'s own functions turn what they are given into arrays, so that they cannot take tensors whose gradient is
wanted; these do. They are made of operations that are there already: `gt.convolve` of vectors and `gt.fft`.

>>> import gradtape as gt
>>> gt.signal.convolve(gt.tensor([[1.0, 2.0], [3.0, 4.0]]), [[1.0, 1.0]])
Tensor([[1., 3., 2.],
        [3., 7., 4.]])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.ops.arguments import all_axes, argument_error, as_value
from gradtape.ops.fft import fftn, ifftn, irfftn, rfftn
from gradtape.ops.numerics import convolve as convolve_vectors
from gradtape.ops.rearranging import flip

MODES = ("full", "same", "valid")
METHODS = ("auto", "direct", "fft")


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """The convolution of two arrays of the same rank. Derivatives: correlations with the other one.

    `mode` "full" has every place where they overlap, "same" those around the middle in the shape of `in1`, "valid"
    those where one lies within the other. `method` "direct" adds up products, "fft" multiplies Fourier transforms,
    "auto" takes what SciPy expects to be faster for these shapes.

    >>> import gradtape as gt
    >>> gt.signal.convolve(gt.tensor([1.0, 2.0, 3.0]), [0.0, 1.0, 0.5], mode="same")
    Tensor([1. , 2.5, 4. ])
    """
    a, b = _operands("convolve", in1, in2, mode)
    if method not in METHODS:
        raise argument_error(ShapeError, f"signal.convolve: method={method!r}.", "method 'auto', 'direct' or 'fft'")
    if not a.ndim:
        return a * b
    axes = tuple(range(a.ndim))
    if mode == "valid":
        a, b = _larger_first("convolve", a, b, axes)
    if not (a.size and b.size):
        raise argument_error(
            ShapeError, f"signal.convolve: arrays of shapes {a.shape} and {b.shape}.", "arrays with elements"
        )
    if method == "auto":
        method = _faster(a, b, mode)
    full = _by_transforms(a, b, axes) if method == "fft" else _by_products(a, b)
    if method == "fft" and np.result_type(a.dtype, b.dtype).kind in "iub":
        full = np.rint(full).astype(np.result_type(a.dtype, b.dtype))
    return _cut_out(full, a.shape, b.shape, mode, axes)


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """The correlation of two arrays of the same rank: the convolution with the second turned round and conjugated.

    >>> import gradtape as gt
    >>> gt.signal.correlate(gt.tensor([1.0, 2.0, 3.0]), [1.0, 10.0], mode="valid")
    Tensor([21., 32.])
    """
    a, b = _operands("correlate", in1, in2, mode)
    turned = flip(b) if b.ndim else b
    return convolve(a, np.conj(turned) if turned.dtype.kind == "c" else turned, mode, method)


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """The convolution along `axes` (all by default) by Fourier transforms; other axes broadcast.

    >>> import gradtape as gt
    >>> gt.signal.fftconvolve(gt.tensor([[1.0, 2.0], [3.0, 4.0]]), [[1.0, 1.0]], axes=1).round(6)
    Tensor([[1., 3., 2.],
            [3., 7., 4.]])
    """
    a, b = _operands("fftconvolve", in1, in2, mode)
    if not a.ndim:
        return a * b
    places = all_axes(axes, a.ndim)
    if not places:
        raise argument_error(ShapeError, "signal.fftconvolve: axes=().", "at least one axis, or None for all")
    for axis in set(range(a.ndim)) - set(places):
        if a.shape[axis] != b.shape[axis] and 1 not in (a.shape[axis], b.shape[axis]):
            raise argument_error(
                ShapeError,
                f"signal.fftconvolve: arrays of shapes {a.shape} and {b.shape} along axes {places}.",
                "axes that are not convolved have equal lengths, or length 1",
            )
    places = tuple(axis for axis in places if 1 not in (a.shape[axis], b.shape[axis]))  # one element broadcasts
    if mode == "valid":
        a, b = _larger_first("fftconvolve", a, b, places)
    if not (a.size and b.size):
        return np.zeros(0, np.result_type(a.dtype, b.dtype))  # as SciPy has it
    full = _by_transforms(a, b, places) if places else a * b
    return _cut_out(full, a.shape, b.shape, mode, range(a.ndim) if mode == "same" else places)


def oaconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """The convolution along `axes`, as `fftconvolve`: SciPy's takes it block by block, which gives the same numbers.

    >>> import gradtape as gt
    >>> gt.signal.oaconvolve(gt.tensor([1.0, 2.0, 3.0]), [1.0, -1.0]).round(6)
    Tensor([ 1.,  1.,  1., -3.])
    """
    return fftconvolve(in1, in2, mode, axes)


# -- how it is done


def _operands(function: str, in1: Any, in2: Any, mode: str) -> tuple[Any, Any]:
    a, b = as_value(in1), as_value(in2)
    if a.ndim != b.ndim:
        raise argument_error(
            ShapeError,
            f"signal.{function}: arrays of shapes {a.shape} and {b.shape}.",
            "two arrays of the same number of axes: x[None] adds one",
        )
    if mode not in MODES:
        raise argument_error(ShapeError, f"signal.{function}: mode={mode!r}.", "mode 'full', 'same' or 'valid'")
    return a, b


def _larger_first(function: str, a: Any, b: Any, axes: Sequence[int]) -> tuple[Any, Any]:
    """The two arrays, the one that the other lies within first."""
    if all(a.shape[axis] >= b.shape[axis] for axis in axes):
        return a, b
    if all(a.shape[axis] <= b.shape[axis] for axis in axes):
        return b, a
    raise argument_error(
        ShapeError,
        f"signal.{function}: mode='valid' and arrays of shapes {a.shape} and {b.shape}, neither within the other.",
        "one that is at least as long along every axis, or another mode",
    )


def _faster(a: Any, b: Any, mode: str) -> str:
    """What SciPy takes for arrays of these shapes and dtypes. Integers that a transform would round are added up."""
    from scipy.signal import choose_conv_method

    if a.dtype.kind in "iub" or b.dtype.kind in "iub":
        return "direct"
    stand_ins = (np.broadcast_to(np.zeros((), x.dtype), x.shape) for x in (a, b))
    method: str = choose_conv_method(*stand_ins, mode=mode)
    return method


def _full_shape(a: Any, b: Any, axes: Sequence[int]) -> list[int]:
    return [
        a.shape[i] + b.shape[i] - 1 if i in axes else max(a.shape[i], b.shape[i]) * (min(a.shape[i], b.shape[i]) > 0)
        for i in range(a.ndim)
    ]


def _by_products(a: Any, b: Any) -> Any:
    """All axes in a row: with rows filled up to their length in the result, nothing runs into its neighbours."""
    shape = _full_shape(a, b, range(a.ndim))
    if a.ndim == 1:
        return convolve_vectors(a, b)
    rows: list[Any] = [
        np.pad(x, [(0, 0), *((0, full - have) for full, have in zip(shape[1:], x.shape[1:], strict=True))]).reshape(-1)
        for x in (a, b)
    ]
    whole = convolve_vectors(*rows)
    return whole[: int(np.prod(shape))].reshape(shape)


def _by_transforms(a: Any, b: Any, axes: tuple[int, ...]) -> Any:
    """The convolution by Fourier transforms, at lengths that are quick to transform."""
    from scipy.fft import next_fast_len

    is_complex = "c" in (a.dtype.kind, b.dtype.kind)
    shape = _full_shape(a, b, axes)
    lengths = [next_fast_len(shape[axis], not is_complex) for axis in axes]
    forward, back = (fftn, ifftn) if is_complex else (rfftn, irfftn)
    product = back(forward(a, lengths, axes) * forward(b, lengths, axes), lengths, axes)
    return product[tuple(slice(shape[i]) if i in axes else slice(None) for i in range(a.ndim))]


def _cut_out(full: Any, first: Sequence[int], second: Sequence[int], mode: str, axes: Sequence[int]) -> Any:
    """The part of the whole convolution that `mode` asks for."""
    if mode == "full":
        return full
    index: list[slice] = [slice(None)] * full.ndim
    for axis in axes:
        wanted = first[axis] if mode == "same" else first[axis] - second[axis] + 1
        start = (full.shape[axis] - wanted) // 2
        index[axis] = slice(start, start + wanted)
    return full[tuple(index)]


__all__ = ["convolve", "correlate", "fftconvolve", "oaconvolve"]
