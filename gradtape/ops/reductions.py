"""Sums, means, products, extremes and other reductions along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from gradtape.core.operation import Op, apply
from gradtape.core.rules import constant, general, linear
from gradtape.ops.elementwise import sqrt
from gradtape.ops.shaping import as_value, reshape, stretch
from gradtape.protocols import ACCUMULATIONS, REDUCTIONS, answers

Axes = tuple[int, ...] | None


def _axes(axis: Any, ndim: int) -> Axes:
    """Axes as a tuple of non-negative integers, or None for all."""
    return None if axis is None else normalize_axis_tuple(axis, ndim, "axis")


def restored(reduced: Any, axis: Axes, keepdims: bool, ndim: int) -> Any:
    """A reduced array with its axes back, at length 1, so that it broadcasts against what it came from."""
    if keepdims or not ndim:
        return reduced
    if axis is None:
        return reduced.reshape((1,) * ndim)
    lengths = iter(reduced.shape)
    return reduced.reshape(tuple([1 if i in axis else next(lengths) for i in range(ndim)]))


def _batch_reduction(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    axis = params["axis"]
    axes = tuple(range(1, len(values[0].shape))) if axis is None else tuple(a + 1 for a in axis)
    return apply(op, tuple(values), {**params, "axis": axes})


def _samples(draw: Any) -> list[Any]:
    return [
        ((draw(3, 4),), {"axis": None, "keepdims": False}),
        ((draw(3, 4),), {"axis": (0,), "keepdims": True}),
        ((draw(2, 3, 4),), {"axis": (0, 2), "keepdims": False}),
        ((draw(),), {"axis": None, "keepdims": False}),
        ((draw(3, 4).T,), {"axis": (1,), "keepdims": False}),
    ]


def _samples_with_empty(draw: Any) -> list[Any]:
    return [
        *_samples(draw),
        ((draw(0, 3),), {"axis": (0,), "keepdims": False}),
        ((draw(2),), {"axis": (), "keepdims": False}),
    ]


_sum = linear(
    lambda x, axis, keepdims: (
        np.sum(x, axis, keepdims=keepdims) if isinstance(x, np.generic) else x.sum(axis, keepdims=keepdims)
    ),
    lambda g, x, axis, keepdims: stretch(restored(g, axis, keepdims, x.ndim), x.shape),
    name="sum",
    batch=_batch_reduction,
    samples=_samples_with_empty,
)


@answers(np.sum)
def sum(x: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The sum along `axis`; every element that went in gets the gradient of its sum.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: gt.sum(x * x))(gt.tensor([1.0, 2.0]))
    Tensor([2., 4.])
    """
    x = as_value(x)
    if dtype is not None:
        x = x.astype(dtype)
    return _sum(x, axis=_axes(axis, x.ndim), keepdims=keepdims)


def _count(shape: tuple[int, ...], axis: Axes) -> int:
    return int(np.prod(shape)) if axis is None else int(np.prod([shape[a] for a in axis]))


_mean = linear(
    lambda x, axis, keepdims: x.mean(axis, keepdims=keepdims),
    lambda g, x, axis, keepdims: stretch(restored(g, axis, keepdims, x.ndim) / _count(x.shape, axis), x.shape),
    name="mean",
    batch=_batch_reduction,
    samples=_samples,
)


@answers(np.mean)
def mean(x: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The mean along `axis`; of n elements each gets one n-th of the gradient.

    >>> import gradtape as gt
    >>> gt.grad(gt.mean)(gt.tensor([1.0, 2.0, 3.0, 4.0]))
    Tensor([0.25, 0.25, 0.25, 0.25])
    """
    x = as_value(x)
    if dtype is not None:
        x = x.astype(dtype)
    return _mean(x, axis=_axes(axis, x.ndim), keepdims=keepdims)


@answers(np.var)
def var(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,
    correction: float | None = None,
) -> Any:
    """The variance along `axis`, divided by n - `ddof`.

    >>> import gradtape as gt
    >>> gt.var(gt.tensor([1.0, 3.0]))
    Tensor(1.)
    """
    x = as_value(x)
    axes = _axes(axis, x.ndim)
    centred = x - _mean(x, axis=axes, keepdims=True)
    squared = centred * centred if x.dtype.kind != "c" else (centred * centred.conj()).real
    divisor = _count(x.shape, axes) - (ddof if correction is None else correction)
    return _sum(squared, axis=axes, keepdims=keepdims) / divisor


@answers(np.std)
def std(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: float = 0,
    keepdims: bool = False,
    correction: float | None = None,
) -> Any:
    """The standard deviation along `axis`.

    >>> import gradtape as gt
    >>> gt.std(gt.tensor([1.0, 3.0]))
    Tensor(1.)
    """
    return sqrt(var(x, axis, ddof=ddof, keepdims=keepdims, correction=correction))


# -- extremes: ties share equally


def _tie_share(x: Any, out: Any, axis: Axes, keepdims: bool) -> Any:
    """1 at the only extreme element of each reduced slice, 1/n at each of n tied ones."""
    ties = np.equal(x, restored(out, axis, keepdims, x.ndim)).astype(x.dtype)
    return ties / ties.sum(axis=axis, keepdims=True)


def _extreme(kernel: Any, name: str) -> Op:
    return general(
        lambda x, axis, keepdims: kernel(x, axis=axis, keepdims=keepdims),
        reverse=lambda g, x, out, axis, keepdims: (
            restored(g, axis, keepdims, x.ndim) * _tie_share(x, out, axis, keepdims)
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


@answers(np.max, np.amax)
def max(x: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The largest element along `axis`; tied elements share its gradient equally.

    >>> import gradtape as gt
    >>> gt.grad(gt.max)(gt.tensor([1.0, 3.0, 3.0]))
    Tensor([0. , 0.5, 0.5])
    """
    x = as_value(x)
    return _max(x, axis=_axes(axis, x.ndim), keepdims=keepdims)


@answers(np.min, np.amin)
def min(x: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The smallest element along `axis`; tied elements share its gradient equally.

    >>> import gradtape as gt
    >>> gt.min(gt.tensor([2.0, 1.0]))
    Tensor(1.)
    """
    x = as_value(x)
    return _min(x, axis=_axes(axis, x.ndim), keepdims=keepdims)


# -- products: the derivative with respect to one factor is the product of the others, zeros or not


def _product_of_others(x: Any) -> Any:
    """For each element along the last axis, the product of all the others: pairs first, then pairs of pairs."""
    length = x.shape[-1]
    if length == 1:
        return np.ones_like(x)
    half = length // 2
    left, right, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    others = _product_of_others(np.concatenate([left * right, rest], axis=-1))
    return np.concatenate([others[..., :half] * right, others[..., :half] * left, others[..., half:]], axis=-1)


def _product_slopes(x: Any, axis: Axes) -> Any:
    axes = tuple(range(x.ndim)) if axis is None else axis
    if not axes or 0 in x.shape:
        return np.ones_like(x)
    kept = [a for a in range(x.ndim) if a not in axes]
    order = (*kept, *axes)
    turned = x.transpose(order)
    flat = turned.reshape((*(x.shape[a] for a in kept), -1))
    slopes = _product_of_others(flat).reshape(turned.shape)
    return slopes.transpose(tuple(int(i) for i in np.argsort(order)))


_prod = general(
    lambda x, axis, keepdims: np.prod(x, axis=axis, keepdims=keepdims),
    reverse=lambda g, x, axis, keepdims: restored(g, axis, keepdims, x.ndim) * np.conj(_product_slopes(x, axis)),
    forward=lambda dx, x, axis, keepdims: (dx * _product_slopes(x, axis)).sum(axis=axis, keepdims=keepdims),
    name="prod",
    batch=_batch_reduction,
    samples=lambda draw: [
        *_samples_with_empty(draw),
        ((np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 1.5]]),), {"axis": (1,), "keepdims": False}),
    ],
)


@answers(np.prod)
def prod(x: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The product along `axis`; the gradient is exact with zeros among the factors too.

    >>> import gradtape as gt
    >>> gt.grad(gt.prod)(gt.tensor([0.0, 2.0, 3.0]))
    Tensor([6., 0., 0.])
    """
    x = as_value(x)
    if dtype is not None:
        x = x.astype(dtype)
    return _prod(x, axis=_axes(axis, x.ndim), keepdims=keepdims)


# -- running sums

_cumsum = linear(
    lambda x, axis: np.cumsum(x, axis),
    lambda g, axis: np.flip(np.cumsum(np.flip(g, axis), axis), axis),
    name="cumsum",
    batch=lambda op, flags, values, params: apply(op, tuple(values), {"axis": params["axis"] + 1}),
    samples=lambda draw: [((draw(4),), {"axis": 0}), ((draw(2, 3),), {"axis": 1}), ((draw(0, 2),), {"axis": 0})],
)


@answers(np.cumsum)
def cumsum(x: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
    """Running sums along `axis` (of all elements in order by default).

    >>> import gradtape as gt
    >>> gt.cumsum(gt.tensor([1.0, 2.0, 3.0]))
    Tensor([1., 3., 6.])
    """
    x = as_value(x)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    return _cumsum(x, axis=normalize_axis_index(axis, x.ndim))


# -- no derivative


def _steering(kernel: Any, name: str) -> Op:
    return constant(lambda x, axis, keepdims: kernel(x, axis=axis, keepdims=keepdims), name=name, batch=_batch_one_axis)


def _batch_one_axis(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    (value,), axis = values, params["axis"]
    if axis is None and len(value.shape) != 2:
        flat = apply(op, (value.reshape((value.shape[0], -1)),), {**params, "axis": 1})
        return flat.reshape((value.shape[0],) + (1,) * (len(value.shape) - 1)) if params["keepdims"] else flat
    return apply(op, (value,), {**params, "axis": 1 if axis is None else axis + 1})


_argmax = _steering(np.argmax, "argmax")
_argmin = _steering(np.argmin, "argmin")
_all = constant(lambda x, axis, keepdims: np.all(x, axis=axis, keepdims=keepdims), name="all", batch=_batch_reduction)
_any = constant(lambda x, axis, keepdims: np.any(x, axis=axis, keepdims=keepdims), name="any", batch=_batch_reduction)
_count_nonzero = constant(
    lambda x, axis, keepdims: np.asarray(np.count_nonzero(x, axis=axis, keepdims=keepdims)),
    name="count_nonzero",
    batch=_batch_reduction,
)
_argsort = constant(
    lambda x, axis: np.argsort(x, axis=axis, kind="stable"),
    name="argsort",
    batch=lambda op, flags, values, params: apply(op, tuple(values), {"axis": params["axis"] + 1}),
)


@answers(np.argmax)
def argmax(x: Any, axis: int | None = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The position of the largest element. Positions have no gradient.

    >>> import gradtape as gt
    >>> gt.argmax(gt.tensor([1.0, 3.0, 2.0]))
    Tensor(1)
    """
    x = as_value(x)
    return _argmax(x, axis=None if axis is None else normalize_axis_index(axis, x.ndim), keepdims=keepdims)


@answers(np.argmin)
def argmin(x: Any, axis: int | None = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The position of the smallest element. Positions have no gradient.

    >>> import gradtape as gt
    >>> gt.argmin(gt.tensor([1.0, 3.0, 2.0]))
    Tensor(0)
    """
    x = as_value(x)
    return _argmin(x, axis=None if axis is None else normalize_axis_index(axis, x.ndim), keepdims=keepdims)


@answers(np.argsort)
def argsort(x: Any, axis: int | None = -1, kind: Any = None, order: None = None, *, stable: Any = None) -> Any:
    """The positions that would sort `x`. Positions have no gradient; `x[argsort(x)]` has.

    >>> import gradtape as gt
    >>> gt.argsort(gt.tensor([3.0, 1.0]))
    Tensor([1, 0])
    """
    x = as_value(x)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    return _argsort(x, axis=normalize_axis_index(axis, x.ndim))


@answers(np.all)
def all(x: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """Whether all elements along `axis` are true.

    >>> import gradtape as gt
    >>> gt.all(gt.tensor([1.0, 0.0]))
    Tensor(False)
    """
    x = as_value(x)
    return _all(x, axis=_axes(axis, x.ndim), keepdims=keepdims)


@answers(np.any)
def any(x: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """Whether any element along `axis` is true.

    >>> import gradtape as gt
    >>> gt.any(gt.tensor([1.0, 0.0]))
    Tensor(True)
    """
    x = as_value(x)
    return _any(x, axis=_axes(axis, x.ndim), keepdims=keepdims)


@answers(np.count_nonzero)
def count_nonzero(x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """How many elements along `axis` are not zero.

    >>> import gradtape as gt
    >>> gt.count_nonzero(gt.tensor([1.0, 0.0]))
    Tensor(1)
    """
    x = as_value(x)
    return _count_nonzero(x, axis=_axes(axis, x.ndim), keepdims=keepdims)


@answers(np.allclose)
def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether two arrays agree within a tolerance.

    >>> import gradtape as gt
    >>> gt.allclose(gt.tensor([1.0]), [1.0])
    True
    """
    from gradtape.ops.elementwise import isclose

    return bool(all(isclose(a, b, rtol, atol, equal_nan)))


@answers(np.array_equal)
def array_equal(a: Any, b: Any, equal_nan: bool = False) -> bool:
    """Whether two arrays have the same shape and elements.

    >>> import gradtape as gt
    >>> gt.array_equal(gt.tensor([1.0]), [1.0])
    True
    """
    from gradtape.core.tensor import plain

    return np.array_equal(plain(a), plain(b), equal_nan=equal_nan)


REDUCTIONS.update(
    {np.add: sum, np.multiply: prod, np.maximum: max, np.minimum: min, np.logical_and: all, np.logical_or: any}
)
ACCUMULATIONS.update({np.add: cumsum})
