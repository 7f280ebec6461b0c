"""Sums, means, products, extremes and other reductions along axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Lifted, Op, apply
from gradtape.core.rules import constant, general, linear
from gradtape.core.tensor import Tensor, plain
from gradtape.core.typing import Array, Axis, Draw, DTypeLike, TensorLike
from gradtape.errors import OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import REDUCTIONS, answers
from gradtape.ops.arguments import (
    Axes,
    argument_error,
    as_value,
    axes_or_none,
    axes_tuple,
    cast_to,
    note_reduction,
    one_axis,
    reduced_axes,
    restore_reduced_axes,
    stretch,
    write_result_into,
)
from gradtape.ops.elementwise import maximum, minimum, root_of_squares
from gradtape.ops.elementwise import where as choose
from gradtape.ops.shaping import broadcast_to

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "average",
    "count_nonzero",
    "max",
    "mean",
    "min",
    "prod",
    "ptp",
    "std",
    "sum",
    "var",
]


def _batch_reduction(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    axis = params["axis"]
    axes = tuple(range(1, len(values[0].shape))) if axis is None else tuple([a + 1 for a in axis])
    return apply(op, tuple(values), {**params, "axis": axes})


def _samples(draw: Draw) -> list[Any]:
    return [
        ((draw(3, 4),), {"axis": None, "keepdims": False}),
        ((draw(3, 4),), {"axis": (0,), "keepdims": True}),
        ((draw(2, 3, 4),), {"axis": (0, 2), "keepdims": False}),
        ((draw(),), {"axis": None, "keepdims": False}),
        ((draw(3, 4).T,), {"axis": (1,), "keepdims": False}),
        ((draw(0, 3),), {"axis": (1,), "keepdims": False}),
        ((draw(2),), {"axis": (), "keepdims": False}),
    ]


def _samples_with_empty(draw: Draw) -> list[Any]:
    return [
        *_samples(draw),
        ((draw(0, 3),), {"axis": (0,), "keepdims": False}),
        ((draw(2, 0),), {"axis": None, "keepdims": True}),
    ]


def _only(x: Array, where: TensorLike, other: TensorLike) -> Any:
    """`x` where it counts, and `other`, which makes no difference, elsewhere."""
    return x if where is True else choose(broadcast_to(where, x.shape), x, np.asarray(other, x.dtype))


# -- sums and means

_sum = linear(
    lambda x, axis, keepdims: np.add.reduce(x, axis=axis, keepdims=keepdims),
    lambda g, x, axis, keepdims: stretch(restore_reduced_axes(g, axis, keepdims, x.ndim), x.shape),
    name="sum",
    moves_elements=True,
    batch=_batch_reduction,
    samples=_samples_with_empty,
)


@answers(np.sum)
def sum(
    x: TensorLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Any:
    """The sum along `axis`; every element that went in gets the gradient of its sum.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: gt.sum(x * x))(gt.tensor([1.0, 2.0]))
    Tensor([2., 4.])
    """
    if out is not None:
        return write_result_into(out, sum, x, axis, dtype, keepdims=keepdims, initial=initial, where=where)
    x = cast_to(as_value(x), dtype)
    axes = reduced_axes(axis, x.ndim)
    total = cast_to(note_reduction(_sum(_only(x, where, 0), axis=axes, keepdims=keepdims), x, axes, keepdims), dtype)
    return total if initial is None else total + _start(initial, total.dtype)


def _start(initial: TensorLike, dtype: np.dtype[Any]) -> Any:
    """The `initial` value of a reduction, in the dtype of its result, which it does not change."""
    return cast_to(initial, dtype) if isinstance(initial, Tensor) else np.asarray(initial, dtype)


def _count(shape: tuple[int, ...], axis: Axes) -> int:
    return math.prod(shape) if axis is None else math.prod([shape[a] for a in axis])


_mean = linear(
    lambda x, axis, keepdims: x.mean(axis, keepdims=keepdims),
    lambda g, x, axis, keepdims: stretch(
        restore_reduced_axes(g, axis, keepdims, x.ndim) / _count(x.shape, axis), x.shape
    ),
    name="mean",
    moves_elements=True,
    batch=_batch_reduction,
    samples=_samples,
)


@answers(np.mean)
def mean(
    x: TensorLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Array | None = None,
    keepdims: bool = False,
    *,
    where: TensorLike = True,
) -> Any:
    """The mean along `axis`; of n elements each gets one n-th of the gradient.

    >>> import gradtape as gt
    >>> gt.grad(gt.mean)(gt.tensor([1.0, 2.0, 3.0, 4.0]))
    Tensor([0.25, 0.25, 0.25, 0.25])
    """
    if out is not None:
        return write_result_into(out, mean, x, axis, dtype, keepdims=keepdims, where=where)
    x = as_value(x)
    if dtype is not None:
        x = x.astype(dtype)
    if where is not True:
        counted = broadcast_to(where, x.shape).astype(x.dtype)
        found = sum(x, axis, keepdims=keepdims, where=where) / sum(counted, axis, keepdims=keepdims)
    else:
        axes = axes_or_none(axis, x.ndim)
        found = note_reduction(_mean(x, axis=axes, keepdims=keepdims), x, axes, keepdims)
    return cast_to(found, dtype)


average_of = mean  # for functions that have a keyword of this name


class _NoWeight(OperandError, ZeroDivisionError):
    """Weights by which nothing can be divided, as NumPy has it."""


@answers(np.average)
def average(
    x: TensorLike,
    axis: Axis = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """The mean along `axis`, weighted by `weights`; with `returned`, also the sum of the weights.

    >>> import gradtape as gt
    >>> gt.average(gt.tensor([1.0, 4.0]), weights=[2.0, 1.0])
    Tensor(2.)
    """
    x = as_value(x)
    axes = None if axis is None else axes_tuple(axis, x.ndim)
    if weights is None:
        found = mean(x, axes, keepdims=keepdims)
        total = np.full(found.shape, x.size / found.size if found.size else 0.0, found.dtype)
        return (found, total) if returned else found
    weights = as_value(weights)
    if weights.shape != x.shape:
        if axes is None or weights.shape != tuple([x.shape[a] for a in axes]):
            raise argument_error(
                OperandError if axes is None else ShapeError,
                f"average: weights of shape {weights.shape} for an array of shape {x.shape} and axis {axis}.",
                "weights of the array's shape, or of the lengths along axis",
            )
        places = np.argsort(axes).tolist()
        weights = weights.transpose(places).reshape([n if i in axes else 1 for i, n in enumerate(x.shape)])
    kinds = [x.dtype, weights.dtype, *([] if x.dtype.kind in "fc" else [float])]
    weights = cast_to(weights, np.result_type(*kinds))
    total = _sum(weights + np.zeros(x.shape, weights.dtype), axis=axes, keepdims=keepdims)
    if not isinstance(total, Lifted) and np.any(plain(total) == 0):
        raise argument_error(
            _NoWeight, f"average: the weights, of shape {weights.shape}, add up to 0.", "weights that do not"
        )
    found = _sum(x * weights, axis=axes, keepdims=keepdims) / total
    return (found, total) if returned else found


@answers(np.var)
def var(
    x: TensorLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Array | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: TensorLike = True,
    mean: TensorLike | None = None,
    correction: float | None = None,
) -> Any:
    """The variance along `axis`, divided by n - `ddof`.

    >>> import gradtape as gt
    >>> gt.var(gt.tensor([1.0, 3.0]))
    Tensor(1.)
    """
    if out is not None:
        return write_result_into(
            out, var, x, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
        )
    return cast_to(_variance(x, axis, dtype, choose_ddof(ddof, correction), keepdims, where, mean), dtype)


def _variance(
    x: TensorLike, axis: Axis, dtype: DTypeLike, less: float, keepdims: bool, where: TensorLike, mean: TensorLike | None
) -> Any:
    x = as_value(x)
    if dtype is not None:
        x = x.astype(dtype)
    axes = axes_or_none(axis, x.ndim)
    if where is not True:
        centred = x - (average_of(x, axes, keepdims=True, where=where) if mean is None else mean)
        counted = sum(broadcast_to(where, x.shape).astype(x.real.dtype), axes, keepdims=keepdims)
        left = counted - less
        return sum(_squared(centred), axes, keepdims=keepdims, where=where) / choose(left > 0, left, 0)
    centred = x - (_mean(x, axis=axes, keepdims=True) if mean is None else mean)
    total = note_reduction(_sum(_squared(centred), axis=axes, keepdims=keepdims), x, axes, keepdims)
    left = _count(x.shape, axes) - less
    return total / (left if left > 0 else 0)  # by nothing, as NumPy does, rather than by less than that


def choose_ddof(ddof: float, correction: float | None) -> float:
    """By how much the number of elements is diminished, which has two names."""
    if correction is not None and ddof != 0:
        raise argument_error(
            OperandError, f"ddof={ddof} and correction={correction}: two names of one number.", "one of them"
        )
    return ddof if correction is None else correction


def _squared(x: Array) -> Any:
    return x * x if x.dtype.kind != "c" else (x * x.conj()).real


@answers(np.std)
def std(
    x: TensorLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Array | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: TensorLike = True,
    mean: TensorLike | None = None,
    correction: float | None = None,
) -> Any:
    """The standard deviation along `axis`; where all elements are equal its gradient is zero.

    >>> import gradtape as gt
    >>> gt.std(gt.tensor([1.0, 3.0]))
    Tensor(1.)
    """
    if out is not None:
        return write_result_into(
            out, std, x, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
        )
    variance = _variance(x, axis, dtype, choose_ddof(ddof, correction), keepdims, where, mean)
    return cast_to(root_of_squares(variance), dtype)


# -- extremes: ties share equally


def _tie_share(x: Array, out: Array, axis: Axes, keepdims: bool) -> Any:
    """1 at the only extreme element of each reduced slice, 1/n at each of n tied ones."""
    ties = np.equal(x, restore_reduced_axes(out, axis, keepdims, x.ndim)).astype(x.dtype)
    return ties / ties.sum(axis=axis, keepdims=True)


def _extreme(kernel: Any, name: str) -> Op:
    return general(
        lambda x, axis, keepdims: kernel(x, axis=axis, keepdims=keepdims),
        reverse=lambda g, x, out, axis, keepdims: (
            restore_reduced_axes(g, axis, keepdims, x.ndim) * _tie_share(x, out, axis, keepdims)
        ),
        forward=lambda dx, x, out, axis, keepdims: (dx * _tie_share(x, out, axis, keepdims)).sum(
            axis=axis, keepdims=keepdims
        ),
        name=name,
        batch=_batch_reduction,
        samples=_samples,
    )


_max = _extreme(np.max, "max")
_min = _extreme(np.min, "min")


def _extreme_from(
    op: Op, pair: Op, x: Array, axis: Axis, keepdims: bool, initial: TensorLike | None, where: TensorLike
) -> Any:
    """An extreme along axes, where an `initial` value takes part and stands for elements that do not count."""
    if initial is None and where is not True:
        raise argument_error(
            OperandError, f"{op.name}: where= without initial=.", "initial= for slices without any element"
        )
    if initial is None:
        axes = reduced_axes(axis, x.ndim)
        return note_reduction(op(x, axis=axes, keepdims=keepdims), x, axes, keepdims)
    start = _start(initial, x.dtype)
    if 0 in x.shape:
        return (sum(x, axis, keepdims=keepdims) + start).astype(x.dtype)  # a sum of nothing
    return pair(op(_only(x, where, start), axis=reduced_axes(axis, x.ndim), keepdims=keepdims), start)


@answers(np.max, np.amax)
def max(
    x: TensorLike,
    axis: Axis = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Any:
    """The largest element along `axis`; tied elements share its gradient equally.

    >>> import gradtape as gt
    >>> gt.grad(gt.max)(gt.tensor([1.0, 3.0, 3.0]))
    Tensor([0. , 0.5, 0.5])
    """
    if out is not None:
        return write_result_into(out, max, x, axis, keepdims=keepdims, initial=initial, where=where)
    x = as_value(x)
    return _extreme_from(_max, maximum, x, axis, keepdims, initial, where)


@answers(np.min, np.amin)
def min(
    x: TensorLike,
    axis: Axis = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Any:
    """The smallest element along `axis`; tied elements share its gradient equally.

    >>> import gradtape as gt
    >>> gt.min(gt.tensor([2.0, 1.0]))
    Tensor(1.)
    """
    if out is not None:
        return write_result_into(out, min, x, axis, keepdims=keepdims, initial=initial, where=where)
    x = as_value(x)
    return _extreme_from(_min, minimum, x, axis, keepdims, initial, where)


@answers(np.ptp)
def ptp(x: TensorLike, axis: Axis = None, out: Array | None = None, keepdims: bool = False) -> Any:
    """The largest element minus the smallest along `axis`.

    >>> import gradtape as gt
    >>> gt.grad(gt.ptp)(gt.tensor([1.0, 3.0, 2.0]))
    Tensor([-1.,  1.,  0.])
    """
    if out is not None:
        return write_result_into(out, ptp, x, axis, keepdims=keepdims)
    return max(x, axis, keepdims=keepdims) - min(x, axis, keepdims=keepdims)


# -- products: the derivative with respect to one factor is the product of the others, zeros or not


def _product_of_others(x: Array) -> Any:
    """For each element along the last axis, the product of all the others: pairs first, then pairs of pairs."""
    length = x.shape[-1]
    if length == 1:
        return np.ones_like(x)
    half = length // 2
    left, right, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    others = _product_of_others(np.concatenate([left * right, rest], axis=-1))
    return np.concatenate([others[..., :half] * right, others[..., :half] * left, others[..., half:]], axis=-1)


def _product_slopes(x: Array, axis: Axes) -> Any:
    axes = tuple(range(x.ndim)) if axis is None else axis
    if not axes or 0 in x.shape:
        return np.ones_like(x)
    kept = [a for a in range(x.ndim) if a not in axes]
    order = (*kept, *axes)
    turned = x.transpose(order)
    flat = turned.reshape((*(x.shape[a] for a in kept), -1))
    slopes = _product_of_others(flat).reshape(turned.shape)
    return slopes.transpose(tuple([int(i) for i in np.argsort(order)]))


def _quotients(out: Array, x: Array, axis: Axes, keepdims: bool) -> Any:
    """The products of all other factors: the product divided by each, where that is known to be safe."""
    if isinstance(x, np.ndarray) and x.size and np.all(np.isfinite(out) & (np.abs(out) > _TINY)):
        return restore_reduced_axes(np.asarray(out), axis, keepdims, x.ndim) / x
    return _product_slopes(x, axis)


_TINY = 1e-30  # a product below that may have lost digits, in single precision
_prod = general(
    lambda x, axis, keepdims: np.prod(x, axis=axis, keepdims=keepdims),
    reverse=lambda g, out, x, axis, keepdims: (
        restore_reduced_axes(g, axis, keepdims, x.ndim) * np.conj(_quotients(out, x, axis, keepdims))
    ),
    forward=lambda dx, x, axis, keepdims: (dx * _product_slopes(x, axis)).sum(axis=axis, keepdims=keepdims),
    name="prod",
    batch=_batch_reduction,
    samples=lambda draw: [
        *_samples_with_empty(draw),
        ((np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 1.5]]),), {"axis": (1,), "keepdims": False}),
    ],
)


@answers(np.prod)
def prod(
    x: TensorLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Any:
    """The product along `axis`; the gradient is exact with zeros among the factors too.

    >>> import gradtape as gt
    >>> gt.grad(gt.prod)(gt.tensor([0.0, 2.0, 3.0]))
    Tensor([6., 0., 0.])
    """
    if out is not None:
        return write_result_into(out, prod, x, axis, dtype, keepdims=keepdims, initial=initial, where=where)
    x = cast_to(as_value(x), dtype)
    product = cast_to(_prod(_only(x, where, 1), axis=reduced_axes(axis, x.ndim), keepdims=keepdims), dtype)
    return product if initial is None else product * _start(initial, product.dtype)


# -- no derivative


def _batch_one_axis(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    """The batching rule of reductions that take one axis, or all elements in a row."""
    (value,), axis = values, params["axis"]
    if axis is not None:
        return apply(op, (value,), {**params, "axis": axis + 1})
    count, rest = value.shape[0], value.shape[1:]
    flat = apply(op, (value.reshape((count, math.prod(rest))),), {**params, "axis": 1})
    return flat.reshape((count,) + (1,) * len(rest)) if params["keepdims"] else flat


def _position(kernel: Any, name: str) -> Op:
    return constant(
        lambda x, axis, keepdims: kernel(x, axis=axis, keepdims=keepdims),
        name=name,
        batch=_batch_one_axis,
        samples=lambda draw: [
            ((draw(3, 4),), {"axis": None, "keepdims": False}),
            ((draw(3, 4),), {"axis": None, "keepdims": True}),
            ((draw(3, 4),), {"axis": 0, "keepdims": True}),
            ((draw(),), {"axis": None, "keepdims": False}),
        ],
    )


def _question(kernel: Any, name: str) -> Op:
    return constant(
        lambda x, axis, keepdims: kernel(x, axis=axis, keepdims=keepdims),
        name=name,
        batch=_batch_reduction,
        samples=lambda draw: [(((arrays[0] > 0) * arrays[0],), params) for arrays, params in _samples_with_empty(draw)],
    )


_argmax = _position(np.argmax, "argmax")
_argmin = _position(np.argmin, "argmin")
_all = _question(np.all, "all")
_any = _question(np.any, "any")
_count_nonzero = _question(lambda x, **how: np.asarray(np.count_nonzero(x, **how)), "count_nonzero")


def _position_axis(axis: int | None, ndim: int) -> int | None:
    several = isinstance(axis, list | tuple)  # which are refused
    return None if not several and reduced_axes(axis, ndim) is None else one_axis(axis, ndim)


@answers(np.argmax)
def argmax(x: TensorLike, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False) -> Any:
    """The position of the largest element. Positions have no gradient.

    >>> import gradtape as gt
    >>> gt.argmax(gt.tensor([1.0, 3.0, 2.0]))
    Tensor(1)
    """
    if out is not None:
        return write_result_into(out, argmax, x, axis, keepdims=keepdims)
    x = as_value(x)
    return _argmax(x, axis=_position_axis(axis, x.ndim), keepdims=keepdims)


@answers(np.argmin)
def argmin(x: TensorLike, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False) -> Any:
    """The position of the smallest element. Positions have no gradient.

    >>> import gradtape as gt
    >>> gt.argmin(gt.tensor([1.0, 3.0, 2.0]))
    Tensor(0)
    """
    if out is not None:
        return write_result_into(out, argmin, x, axis, keepdims=keepdims)
    x = as_value(x)
    return _argmin(x, axis=_position_axis(axis, x.ndim), keepdims=keepdims)


@answers(np.all)
def all(
    x: TensorLike, axis: Axis = None, out: Array | None = None, keepdims: bool = False, *, where: TensorLike = True
) -> Any:
    """Whether all elements along `axis` are true.

    >>> import gradtape as gt
    >>> gt.all(gt.tensor([1.0, 0.0]))
    Tensor(False)
    """
    if out is not None:
        return write_result_into(out, all, x, axis, keepdims=keepdims, where=where)
    x = as_value(x)
    return _all(_only(x, where, 1), axis=reduced_axes(axis, x.ndim), keepdims=keepdims)


@answers(np.any)
def any(
    x: TensorLike, axis: Axis = None, out: Array | None = None, keepdims: bool = False, *, where: TensorLike = True
) -> Any:
    """Whether any element along `axis` is true.

    >>> import gradtape as gt
    >>> gt.any(gt.tensor([1.0, 0.0]))
    Tensor(True)
    """
    if out is not None:
        return write_result_into(out, any, x, axis, keepdims=keepdims, where=where)
    x = as_value(x)
    return _any(_only(x, where, 0), axis=reduced_axes(axis, x.ndim), keepdims=keepdims)


@answers(np.count_nonzero)
def count_nonzero(x: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """How many elements along `axis` are not zero.

    >>> import gradtape as gt
    >>> gt.count_nonzero(gt.tensor([1.0, 0.0]))
    Tensor(1)
    """
    x = as_value(x)
    return _count_nonzero(x, axis=reduced_axes(axis, x.ndim), keepdims=keepdims)


REDUCTIONS.update(
    {np.add: sum, np.multiply: prod, np.maximum: max, np.minimum: min, np.logical_and: all, np.logical_or: any}
)
