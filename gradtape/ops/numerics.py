"""Numerical analysis: interpolation, convolution, slopes on a grid, phases, and the parts of floating point numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import batch_elementwise, repeat_for_batch
from gradtape.core.operation import Lifted, Op, apply
from gradtape.core.rules import constant, elementwise, general, multilinear
from gradtape.core.tensor import Tensor, plain
from gradtape.core.typing import Array, Axis, TensorLike
from gradtape.core.views import lay_out
from gradtape.errors import OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import all_axes, argument_error, as_value, batch_shift_axes, index_at_axis, one_axis
from gradtape.ops.documentation import flat, slopes
from gradtape.ops.elementwise import remainder, where
from gradtape.ops.indexing import getitem
from gradtape.ops.joining import concatenate
from gradtape.ops.rearranging import flip
from gradtape.ops.searching import searchsorted
from gradtape.ops.shaping import reshape
from gradtape.ops.sorting import argsort

# -- interpolation


@answers(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """The values at `x` of the broken line through the points (`xp`, `fp`), `xp` increasing; constant beyond its ends.

    It has a gradient in `x`, `fp`, `xp`, `left` and `right`. At a corner the slope is that of the segment to the
    right. Single precision stays so, where NumPy would widen.

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda x: gt.interp(x, [0.0, 1.0, 3.0], [0.0, 10.0, 20.0]))(gt.tensor(2.0))
    (Tensor(15.), Tensor(5.))
    """
    x, xp, fp = as_value(x), as_value(xp), as_value(fp)
    if x.dtype.kind == "c" or xp.dtype.kind == "c":
        raise argument_error(
            OperandError, f"interp: at {x.dtype} between {xp.dtype}.", "real x and xp; fp may be complex"
        )
    if xp.ndim != 1 or xp.shape != fp.shape or not xp.shape[0]:
        raise argument_error(
            ShapeError, f"interp: points of shapes {xp.shape} and {fp.shape}.", "two vectors of one length"
        )
    if period is not None:
        if not isinstance(period, Lifted) and period == 0:
            raise argument_error(OperandError, "interp: period=0.", "the length after which the function repeats")
        x, xp, fp = _unrolled(x, xp, fp, abs(period))
        left = right = None
    first, last = fp[0], fp[-1]
    if xp.shape[0] == 1:
        inside = first + 0.0 * x
    else:
        place = np.clip(searchsorted(xp, x, "right") - 1, 0, xp.shape[0] - 2)
        start = getitem(xp, place)
        share = (x - start) / (getitem(xp, place + 1) - start)
        inside = getitem(fp, place) * (1 - share) + getitem(fp, place + 1) * share
    below = where(x < xp[0], first if left is None else left, inside)
    return where(x > xp[-1], last if right is None else right, below)


def _unrolled(x: Array, xp: Array, fp: Array, period: float) -> tuple[Any, Any, Any]:
    """A periodic function as one that is not: a point more on each side."""
    xp = remainder(xp, period)
    order = argsort(xp)
    xp, fp = getitem(xp, order), getitem(fp, order)
    xp = concatenate([xp[-1:] - period, xp, xp[:1] + period])
    return remainder(x, period), xp, concatenate([fp[-1:], fp, fp[:1]])


# -- convolution: along the last axis, all others in step


def _convolve_kernel(x: Array, y: Array) -> Any:
    """out_k = sum_j x_(k-j) y_j, for all k where the two overlap."""
    if x.ndim == y.ndim == 1:
        return np.convolve(x, y)
    if x.shape[-1] < y.shape[-1]:
        x, y = y, x
    margin = y.shape[-1] - 1
    padded = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(margin, margin)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, y.shape[-1], axis=-1)
    return np.matmul(windows, y[..., ::-1, None])[..., 0]


def _correlated(g: Array, other: Array, length: int) -> Any:
    """The transpose of a convolution with `other`: sum_k g_k other_(k-j) for j below `length`."""
    turned = np.flip(np.conj(other) if other.dtype.kind == "c" else other, -1)
    return _convolve(g, turned)[..., other.shape[-1] - 1 : other.shape[-1] - 1 + length]


def _batch_convolve(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    size = next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag)
    rank = max(v.ndim - flag for v, flag in zip(values, flags, strict=True))
    lined_up = []
    for value, flag in zip(values, flags, strict=True):
        batched = value if flag else repeat_for_batch(value, size)
        lined_up.append(batched.reshape((size,) + (1,) * (rank + 1 - batched.ndim) + batched.shape[1:]))
    return apply(op, tuple(lined_up), params)


_convolve: Op = multilinear(
    _convolve_kernel,
    lambda g, x, y: _correlated(g, y, x.shape[-1]),
    lambda g, x, y: _correlated(g, x, y.shape[-1]),
    name="convolve",
    batch=_batch_convolve,
    samples=lambda draw: [
        ((draw(5), draw(3)), {}),
        ((draw(2), draw(4)), {}),
        ((draw(2, 3), draw(2, 2)), {}),
        ((draw(1), draw(1)), {}),
    ],
)


@answers(np.convolve)
def convolve(a: TensorLike, v: TensorLike, mode: str = "full") -> Any:
    """The convolution of two vectors: sums of products with one of them reversed.

    >>> import gradtape as gt
    >>> gt.convolve(gt.tensor([1.0, 2.0, 3.0]), [1.0, -1.0])
    Tensor([ 1.,  1.,  1., -3.])
    """
    a, v = as_value(a), as_value(v)
    a, v = (x if x.ndim else reshape(x, (1,)) for x in (a, v))
    if a.ndim != 1 or v.ndim != 1 or not (a.shape[0] and v.shape[0]):
        raise argument_error(
            ShapeError, f"convolve: arrays of shapes {a.shape} and {v.shape}.", "two vectors, not empty"
        )
    if mode not in ("full", "same", "valid"):
        raise argument_error(OperandError, f"convolve: mode={mode!r}.", "mode 'full', 'same' or 'valid'")
    full = _convolve(a, v)
    long, short = sorted((a.shape[0], v.shape[0]), reverse=True)
    if mode == "full":
        return full
    if mode == "valid":
        return full[short - 1 : long]
    return full[(short - 1) // 2 : (short - 1) // 2 + long]


@answers(np.correlate)
def correlate(a: TensorLike, v: TensorLike, mode: str = "valid") -> Any:
    """The correlation of two vectors: sums of products of `a` with `v` moved along it.

    >>> import gradtape as gt
    >>> gt.correlate(gt.tensor([1.0, 2.0, 3.0]), [1.0, 10.0])
    Tensor([21., 32.])
    """
    a, v = as_value(a), as_value(v)
    if a.ndim != 1 or v.ndim != 1:
        raise argument_error(ShapeError, f"correlate: arrays of shapes {a.shape} and {v.shape}.", "two vectors")
    if mode != "same":
        return convolve(a, np.conj(flip(v)), mode)
    full = convolve(a, np.conj(flip(v)))
    long, short = sorted((a.shape[0], v.shape[0]), reverse=True)
    start = (short - 1) // 2 if a.shape[0] >= v.shape[0] else short // 2
    return full[start : start + long]


# -- derivatives on a grid


@answers(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Axis = None, edge_order: int = 1) -> Any:
    """The slopes of `f` along `axis` by differences of neighbours; a spacing, or coordinates, for each axis.

    Inside they are of second order, at the ends of `edge_order`. Coordinates have a gradient, too.

    >>> import gradtape as gt
    >>> gt.gradient(gt.tensor([1.0, 2.0, 4.0, 7.0]))
    Tensor([1. , 1.5, 2.5, 3. ])
    """
    f = as_value(f)
    axes = all_axes(axis, f.ndim)
    spacings = list(varargs) or [1.0]
    if len(spacings) == 1 and not np.ndim(spacings[0]):
        spacings = spacings * len(axes)
    if len(spacings) != len(axes):
        raise argument_error(
            OperandError, f"gradient: {len(varargs)} spacings for {len(axes)} axes.", "one, or one for each"
        )
    if edge_order not in (1, 2):
        raise argument_error(OperandError, f"gradient: edge_order={edge_order!r}.", "edge_order 1 or 2")
    if f.dtype.kind == "b":
        raise argument_error(OperandError, "gradient: of booleans, which have no differences.", "x.astype(float)")
    f = f if f.dtype.kind in "fc" else f.astype(float)
    found = tuple([lay_out(_slope_along(f, h, a, edge_order), "K", f) for a, h in zip(axes, spacings, strict=True)])
    return found[0] if len(found) == 1 else found


def _slope_along(f: Any, spacing: Any, axis: int, edge_order: int) -> Any:
    length = f.shape[axis]
    if length < edge_order + 1:
        raise argument_error(
            ShapeError, f"gradient: {length} elements along axis {axis} of shape {f.shape}.", "edge_order + 1 or more"
        )
    spacing = as_value(spacing)
    if spacing.ndim > 1 or (spacing.ndim and spacing.shape[0] != length):
        raise argument_error(
            ShapeError, f"gradient: coordinates of shape {spacing.shape} for {length} elements.", "a vector of those"
        )

    def at(start: int, stop: int | None) -> Any:
        return f[index_at_axis(axis, slice(start, stop))]

    if spacing.ndim:
        steps = spacing[1:] - spacing[:-1]
        steps = reshape(steps, (-1,) + (1,) * (f.ndim - axis - 1))
    else:
        steps = spacing * np.ones((length - 1,) + (1,) * (f.ndim - axis - 1), np.float16)
    kind = np.zeros(0, f.dtype).real.dtype
    if steps.dtype.kind not in "fc" or kind.itemsize < steps.real.dtype.itemsize:
        steps = steps.astype(kind if steps.dtype.kind != "c" else f.dtype)
    rise = (at(1, None) - at(0, -1)) / steps
    h, k = steps[:-1], steps[1:]  # before and behind an inner point
    left, right = rise[index_at_axis(axis, slice(0, -1))], rise[index_at_axis(axis, slice(1, None))]
    inner = (k * left + h * right) / (h + k)
    if edge_order == 1:
        ends = rise[index_at_axis(axis, slice(0, 1))], rise[index_at_axis(axis, slice(-1, None))]
    else:
        ends = (_edge(left, right, h, k, axis, slice(0, 1)), _edge(right, left, k, h, axis, slice(-1, None)))
    return concatenate([ends[0], inner, ends[1]], axis)


def _edge(near: Any, far: Any, h: Array, k: Any, axis: int, place: slice) -> Any:
    """The slope at an end of the parabola through the last three points."""
    near, far, h, k = near[index_at_axis(axis, place)], far[index_at_axis(axis, place)], h[place], k[place]
    return near + (near - far) * h / (h + k)


@answers(np.ediff1d)
def ediff1d(ary: TensorLike, to_end: TensorLike | None = None, to_begin: TensorLike | None = None) -> Any:
    """The differences of neighbours in the flattened array, between `to_begin` and `to_end`.

    >>> import gradtape as gt
    >>> gt.ediff1d(gt.tensor([1.0, 3.0, 6.0]), to_begin=0.0)
    Tensor([0., 2., 3.])
    """
    row = reshape(as_value(ary), (-1,))
    ends = [None if end is None else reshape(as_value(end), (-1,)) for end in (to_begin, to_end)]
    for end in ends:
        if end is not None and not np.can_cast(end.dtype, row.dtype, "same_kind"):
            raise argument_error(
                OperandError, f"ediff1d: {end.dtype} beside differences of {row.dtype}.", f"{row.dtype}"
            )
    between = [ends[0], row[1:] - row[:-1], ends[1]]
    pieces = [piece.astype(row.dtype) for piece in between if piece is not None]
    return concatenate(pieces) if len(pieces) > 1 else pieces[0]


# -- phases

_windings = constant(
    lambda x, discont, axis, period: np.unwrap(x, discont, axis, period=period) - x,
    name="windings of a phase",
    batch=batch_shift_axes("axis"),
    samples=lambda draw: [
        ((3 * draw(6),), {"discont": None, "axis": 0, "period": 6.0}),
        ((3 * draw(2, 3),), {"discont": 2.5, "axis": 1, "period": 4.0}),
    ],
)


def _turns(p: Array, discont: Any, axis: int, period: Any) -> Any:
    """How many periods `unwrap` adds, of which a number is a tensor: so many less than at the place before."""
    steps = p[index_at_axis(axis, slice(1, None))] - p[index_at_axis(axis, slice(None, -1))]
    shifted = steps + period / 2
    is_half_a_period_up = (np.remainder(shifted, period) == 0) & (steps > 0)
    turns = np.where(is_half_a_period_up, 1.0, 0.0) - np.floor(shifted / period)
    least = period / 2 if discont is None else np.maximum(discont, period / 2)
    added = np.cumsum(np.where(np.abs(steps) < least, 0.0, turns), axis)
    return concatenate([np.zeros_like(p[index_at_axis(axis, slice(0, 1))]), added], axis)


@answers(np.unwrap)
def unwrap(p: TensorLike, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    """Phases without jumps: whole periods are added along `axis`, through which the gradient passes unchanged.

    It has a gradient in `period` too: how many periods are added.

    >>> import gradtape as gt
    >>> gt.unwrap(gt.tensor([0.0, 3.0, 2.0]), period=4.0)
    Tensor([ 0., -1., -2.])
    """
    p = as_value(p)
    if not p.ndim:
        raise argument_error(ShapeError, "unwrap: an array of shape ().", "a vector of phases")
    if isinstance(period, Tensor) or isinstance(discont, Tensor):
        return p + period * _turns(p, discont, one_axis(axis, p.ndim), period)
    return p + _windings(p, discont=discont, axis=one_axis(axis, p.ndim), period=period)


# -- the parts of a floating point number

ldexp = elementwise(
    np.ldexp,
    lambda x, y: np.ldexp(np.ones((), x.dtype), y),
    None,
    samples=lambda draw: [
        ((draw(3), np.array([-1, 0, 3])), {}),
        ((draw(2, 1), np.array([2, -2, 1])), {}),
        ((draw(), np.array(2)), {}),
    ],
    doc="""x times 2 to the power y, an integer. Derivative: 2 to the power y.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: gt.ldexp(x, 3))(gt.tensor(1.5))
    Tensor(8.)
    """,
)
_exponent = constant(lambda x: np.frexp(x)[1], name="exponent", batch=batch_elementwise, domain=[(-2.0, 2.0)])
frexp = general(
    np.frexp,
    reverse=lambda g, x: np.ldexp(g[0], -_exponent(x)),
    forward=lambda dx, x: (np.ldexp(dx, -_exponent(x)), None),
    batch=batch_elementwise,
    outputs=True,
    doc="""x as (m, e) with x = m 2^e, m from 1/2 to 1 in size and e an integer. Derivatives: of m, 2^-e.

    >>> import gradtape as gt
    >>> gt.frexp(gt.tensor(6.0))
    (Tensor(0.75), Tensor(3, dtype=int32))
    """,
)
nextafter = elementwise(
    np.nextafter,
    1,
    None,
    doc=slopes("The next number after x towards y", "1 in x, none in y", "nextafter(1.0, 2.0) -> 1., 1."),
)
spacing = constant(
    np.spacing,
    batch=batch_elementwise,
    doc=flat("The distance from x to the next number away from 0", "spacing([1.0]) -> [2.22044605e-16]"),
)
fix = constant(
    lambda x: np.trunc(x),  # which is the same; NumPy 2.5 warns of the other name
    name="fix",
    batch=batch_elementwise,
    domain=[(-2.0, 2.0)],
    answers=[np.fix],
    doc=flat("The nearest integer towards 0", "fix([-1.5, 1.5]) -> [-1.,  1.]"),
)
iscomplex = constant(
    lambda x: np.iscomplex(x),
    name="iscomplex",
    batch=batch_elementwise,
    domain=[(-2.0, 2.0)],
    answers=[np.iscomplex],
    doc=flat("Whether there is an imaginary part", "iscomplex([1j, 1.0]) -> [ True, False]"),
)
isreal = constant(
    lambda x: np.isreal(x),
    name="isreal",
    batch=batch_elementwise,
    domain=[(-2.0, 2.0)],
    answers=[np.isreal],
    doc=flat("Whether there is no imaginary part", "isreal([1j, 1.0]) -> [False,  True]"),
)


@answers(np.real_if_close)
def real_if_close(x: TensorLike, tol: float = 100) -> Any:
    """The real part, if all imaginary parts are within `tol` machine epsilons (or within `tol` itself, below 1) of 0.

    >>> import gradtape as gt
    >>> gt.real_if_close(gt.tensor([1.0 + 1e-16j]))
    Tensor([1.])
    """
    x = as_value(x)
    if x.dtype.kind != "c":
        return x
    bound = tol * np.finfo(x.dtype).eps if tol > 1 else tol
    return x.real if bool(np.all(np.absolute(plain(x).imag) < bound)) else x


__all__ = [
    "convolve",
    "correlate",
    "ediff1d",
    "fix",
    "frexp",
    "gradient",
    "interp",
    "iscomplex",
    "isreal",
    "ldexp",
    "nextafter",
    "real_if_close",
    "spacing",
    "unwrap",
]
