"""Running sums and products along an axis, and the differences that undo them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.rules import general, linear
from gradtape.core.typing import Array, DTypeLike, TensorLike
from gradtape.errors import OperandError
from gradtape.numpy_dispatch.protocols import ACCUMULATIONS, answers
from gradtape.ops.arguments import (
    argument_error,
    as_value,
    batch_shift_axes,
    cast_to,
    flat_or_axis,
    index_at_axis,
    one_axis,
    write_result_into,
)
from gradtape.ops.joining import concatenate
from gradtape.ops.reductions import sum

__all__ = [
    "cumprod",
    "cumsum",
    "diff",
    "trapezoid",
]


def _cumsum_from_behind(g: Array, axis: int) -> Any:
    backwards = index_at_axis(axis, slice(None, None, -1))
    return np.add.accumulate(g[backwards], axis)[backwards]


_cumsum = linear(
    lambda x, axis: np.add.accumulate(x, axis),
    _cumsum_from_behind,
    name="cumsum",
    batch=batch_shift_axes("axis"),
    samples=lambda draw: [((draw(4),), {"axis": 0}), ((draw(2, 3),), {"axis": 1}), ((draw(0, 2),), {"axis": 0})],
)


@answers(np.cumsum)
def cumsum(x: TensorLike, axis: int | None = None, dtype: DTypeLike = None, out: Array | None = None) -> Any:
    """Running sums along `axis` (of all elements in order by default).

    >>> import gradtape as gt
    >>> gt.cumsum(gt.tensor([1.0, 2.0, 3.0]))
    Tensor([1., 3., 6.])
    """
    if out is not None:
        return write_result_into(out, cumsum, x, axis, dtype)
    x, axis = flat_or_axis(x, axis, number=True)
    return cast_to(_cumsum(cast_to(x, dtype), axis=axis), dtype)


# -- running products. With p_k = x_0 ... x_(k-1) the product before x_k, out_k = p_k x_k, and
#      forward:  dout_k = x_k dout_(k-1) + p_k dx_k
#      reverse:  dx_k = p_k s_k,  s_k = g_k + x_(k+1) s_(k+1)
#    Neither divides, so zeros do no harm.


def recurrence(a: Array, b: Array, axis: int) -> Any:
    """The solution of s_k = a_k s_(k-1) + b_k along an axis, in log2(n) rounds that double the step."""
    length, step = b.shape[axis], 1
    while step < length:
        early, late = index_at_axis(axis, slice(0, step)), index_at_axis(axis, slice(step, None))
        behind = index_at_axis(axis, slice(0, length - step))
        b = np.concatenate([b[early], b[late] + a[late] * b[behind]], axis)
        a = np.concatenate([a[early], a[late] * a[behind]], axis)
        step *= 2
    return b


def _before(x: Array, axis: int) -> Any:
    """The products of all elements before each."""
    ones = np.ones_like(x[index_at_axis(axis, slice(0, 1))])
    return np.concatenate([ones, np.cumprod(x, axis)[index_at_axis(axis, slice(0, -1))]], axis)


def _cumprod_reverse(g: Array, x: Array, axis: int) -> Any:
    x = np.conj(x) if x.dtype.kind == "c" else x
    following = np.roll(np.flip(x, axis), 1, axis)  # x_(k+1); the first one there is multiplied by nothing
    return _before(x, axis) * np.flip(recurrence(following, np.flip(g, axis), axis), axis)


_cumprod = general(
    lambda x, axis: np.cumprod(x, axis),
    reverse=_cumprod_reverse,
    forward=lambda dx, x, axis: recurrence(x, dx * _before(x, axis), axis),
    name="cumprod",
    batch=batch_shift_axes("axis"),
    samples=lambda draw: [
        ((draw(5),), {"axis": 0}),
        ((draw(2, 3),), {"axis": 1}),
        ((draw(0, 2),), {"axis": 0}),
        ((np.array([2.0, 0.0, 3.0, 0.0, 1.5]),), {"axis": 0}),
    ],
)


@answers(np.cumprod)
def cumprod(x: TensorLike, axis: int | None = None, dtype: DTypeLike = None, out: Array | None = None) -> Any:
    """Running products along `axis`; the gradient is exact with zeros among the factors too.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: gt.cumprod(x).sum())(gt.tensor([2.0, 0.0, 3.0]))
    Tensor([1., 8., 0.])
    """
    if out is not None:
        return write_result_into(out, cumprod, x, axis, dtype)
    x, axis = flat_or_axis(x, axis, number=True)
    return cast_to(_cumprod(cast_to(x, dtype), axis=axis), dtype)


# -- differences


@answers(np.diff)
def diff(
    x: Any, n: int = 1, axis: int = -1, prepend: TensorLike | None = None, append: TensorLike | None = None
) -> Any:
    """The differences of neighbours along `axis`, taken `n` times.

    >>> import gradtape as gt
    >>> gt.diff(gt.tensor([1.0, 3.0, 6.0]))
    Tensor([2., 3.])
    """
    x = as_value(x)
    if n < 0:
        raise argument_error(OperandError, f"diff: n={n}.", "n is the number of times, 0 or more")
    if not n:
        return x
    axis = one_axis(axis, x.ndim)
    ends = [None if end is None else _end(end, x, axis) for end in (prepend, append)]
    before, after = ends
    if before is not None or after is not None:
        x = concatenate([piece for piece in (before, x, after) if piece is not None], axis)
    for _ in range(n):
        late, early = x[index_at_axis(axis, slice(1, None))], x[index_at_axis(axis, slice(None, -1))]
        x = late - early if x.dtype.kind != "b" else late != early
    return x


def _end(end: Any, x: Array, axis: int) -> Any:
    """What is put before or after: a number is one slice of `x` filled with it."""
    end = as_value(end)
    return end if end.ndim else np.broadcast_to(end, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))


@answers(np.trapezoid)
def trapezoid(y: TensorLike, x: TensorLike | None = None, dx: float = 1.0, axis: int = -1) -> Any:
    """The integral of `y` along `axis` by the trapezoidal rule, at the points `x` or `dx` apart.

    >>> import gradtape as gt
    >>> gt.trapezoid(gt.tensor([1.0, 3.0, 1.0]))
    Tensor(4.)
    """
    y = as_value(y)
    axis = one_axis(axis, y.ndim)
    widths: Any = dx
    if x is not None:
        x = as_value(x)
        widths = diff(x, axis=axis if x.ndim > 1 else 0)
        if x.ndim == 1:
            widths = widths.reshape((-1,) + (1,) * (y.ndim - axis - 1))
    heights = y[index_at_axis(axis, slice(1, None))] + y[index_at_axis(axis, slice(None, -1))]
    return sum(widths * heights, axis) / 2


ACCUMULATIONS.update({np.add: cumsum, np.multiply: cumprod})
