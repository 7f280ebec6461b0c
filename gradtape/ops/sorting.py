"""Sorting, and what is found by sorting. The gradient goes through the permutation."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from gradtape.core.operation import Lifted, apply
from gradtape.core.rules import constant, elementwise
from gradtape.core.tensor import plain
from gradtape.core.typing import Array, Axis, TensorLike
from gradtape.core.views import lay_out
from gradtape.errors import IndexingError, OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import (
    all_axes,
    argument_error,
    as_value,
    batch_shift_axes,
    flat_or_axis,
    one_axis,
    write_result_into,
)
from gradtape.ops.elementwise import where
from gradtape.ops.indexing import getitem_static, take_along_axis
from gradtape.ops.reductions import mean
from gradtape.ops.shaping import atleast_1d, broadcast_to, expand_dims, moveaxis, reshape

__all__ = [
    "argpartition",
    "argsort",
    "lexsort",
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "partition",
    "percentile",
    "quantile",
    "sort",
    "sort_complex",
]


def _order(x: Any, axis: int, stable: bool = True, descending: bool = False) -> Any:
    """The positions that sort an array. In descending order, which NumPy has from 2.5 on, it is always stable."""
    if not descending:
        return np.argsort(x, axis=axis, stable=stable)
    order = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis=axis, stable=True), axis)
    if x.dtype.kind not in "fc":
        return order
    missing = 2 * np.isnan(x.real) + np.isnan(x.imag)  # NaN is last in both orders; of complex numbers in this one
    last = np.argsort(np.take_along_axis(missing, order, axis), axis=axis, stable=True)
    return np.take_along_axis(order, last, axis)


_argsort = constant(
    _order,
    name="argsort",
    batch=batch_shift_axes("axis"),
    samples=lambda draw: [
        ((draw(5),), {"axis": 0}),
        ((draw(3, 4),), {"axis": 0}),
        ((draw(2, 0),), {"axis": 1}),
        ((draw(3, 4),), {"axis": 1, "descending": True}),
    ],
)


@answers(np.argsort)
def argsort(
    x: TensorLike,
    axis: int | None = -1,
    kind: str | None = None,
    order: str | None = None,
    *,
    stable: Any = None,
    descending: bool | None = None,
) -> Any:
    """The positions that would sort `x`; equal elements stay in order. Positions have no gradient; `sort` has.

    >>> import gradtape as gt
    >>> gt.argsort(gt.tensor([3.0, 1.0]))
    Tensor([1, 0])
    >>> gt.argsort(gt.tensor([3.0, 1.0]), descending=True)
    Tensor([0, 1])
    """
    _check_kind(kind, order, stable, descending)
    x, axis = flat_or_axis(x, axis, number=True)
    return _argsort(x, axis=axis, descending=True) if descending else _argsort(x, axis=axis)


def _check_kind(kind: Any, order: Any, stable: Any, descending: Any) -> None:
    """Refuse ways to sort that there are not, and the names of fields."""
    if kind is order is stable is None:
        return
    if order is not None:
        raise argument_error(OperandError, f"order={order!r}: numbers have no fields.", "leave it out")
    for name, value in (("stable", stable), ("descending", descending)):
        if kind is not None and value is not None:
            raise argument_error(
                OperandError,
                f"kind={kind!r} and {name}={value!r} both say how to sort.",
                "one of them; the keywords stable= and descending= can be combined",
            )
    if kind is not None and str(kind)[:1].lower() not in ("q", "h", "m", "s"):
        raise argument_error(OperandError, f"kind={kind!r}.", "'quicksort', 'heapsort', 'mergesort' or 'stable'")


@answers(np.sort)
def sort(
    x: TensorLike,
    axis: int | None = -1,
    kind: str | None = None,
    order: str | None = None,
    *,
    stable: Any = None,
    descending: bool | None = None,
) -> Any:
    """The elements in ascending or `descending` order along `axis`; each keeps its gradient.

    Which of several equal elements stands first is NumPy's choice; with `stable=True` or `descending=True`, the one
    that came first. NaN is last in both orders.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: gt.sort(x)[0])(gt.tensor([3.0, 1.0, 2.0]))
    Tensor([0., 1., 0.])
    >>> gt.sort(gt.tensor([3.0, 1.0, 2.0]), descending=True)
    Tensor([3., 2., 1.])
    """
    _check_kind(kind, order, stable, descending)
    x = as_value(x)
    how = {"stable": bool(stable) or kind in ("stable", "mergesort")}
    if descending:
        how["descending"] = True
    if isinstance(x, Lifted):
        x, axis = flat_or_axis(x, axis)
        return lay_out(take_along_axis(x, _argsort(x, axis=axis, **how), axis), "K", x)
    x, axis = (x, 0) if x.ndim == 1 and axis in (-1, 0) else flat_or_axis(x, axis)
    places = _order(plain(x), axis, **how)  # plain, because positions leave no cut here
    if x.ndim == 1:
        return apply(getitem_static, (x,), {"index": (places,)})
    return lay_out(take_along_axis(x, places, axis), "K", x)


@answers(np.sort_complex)
def sort_complex(x: TensorLike) -> Any:
    """The elements as complex numbers, by their real and then their imaginary parts along the last axis.

    >>> import gradtape as gt
    >>> gt.sort_complex(gt.tensor([2.0, 1.0]))
    Tensor([1.+0.j, 2.+0.j], dtype=complex128)
    """
    x = as_value(x)
    return sort(x if x.dtype.kind == "c" else x.astype(np.result_type(x.dtype, np.complex64)))


_argpartition = constant(
    lambda x, kth, axis: np.argpartition(x, kth, axis=axis),
    name="argpartition",
    batch=batch_shift_axes("axis"),
    samples=lambda draw: [((draw(5),), {"kth": 2, "axis": 0}), ((draw(3, 4),), {"kth": (0, 2), "axis": 1})],
)


@answers(np.argpartition)
def argpartition(
    x: TensorLike, kth: Any, axis: int | None = -1, kind: str = "introselect", order: str | None = None
) -> Any:
    """The positions that would partition `x`: what stands at `kth` when sorted is there, smaller elements before it.

    Positions have no gradient; `partition` has.

    >>> import gradtape as gt
    >>> gt.argpartition(gt.tensor([3.0, 1.0]), 0)
    Tensor([1, 0])
    """
    if kind != "introselect" or order is not None:
        raise argument_error(
            OperandError, f"kind={kind!r}, order={order!r}.", "kind='introselect', which is the only one"
        )
    x, axis = flat_or_axis(x, axis, number=True)
    return _argpartition(x, kth=np.asarray(plain(kth)).tolist(), axis=axis)


@answers(np.partition)
def partition(
    x: TensorLike, kth: Any, axis: int | None = -1, kind: str = "introselect", order: str | None = None
) -> Any:
    """The elements with the sorted one at `kth` in its place, smaller ones before it, larger ones behind it.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: gt.partition(x, 0)[0])(gt.tensor([3.0, 1.0]))
    Tensor([0., 1.])
    """
    x, axis = flat_or_axis(x, axis)
    return lay_out(take_along_axis(x, argpartition(x, kth, axis, kind, order), axis), "K", x)


_lexsort = constant(
    lambda *keys, axis: np.lexsort(keys, axis),
    name="lexsort",
    samples=lambda draw: [
        ((draw(5), np.array([1, 0, 1, 0, 1])), {"axis": 0}),
        ((draw(2, 3), np.ones((2, 3))), {"axis": 0}),
    ],
)


@answers(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    """The positions that sort by several keys, the last of them first. Positions have no gradient.

    >>> import gradtape as gt
    >>> gt.lexsort((gt.tensor([3.0, 1.0, 2.0]), [1, 0, 1]))
    Tensor([1, 2, 0])
    """
    rows = [as_value(key) for key in keys]
    if not rows:
        raise argument_error(
            OperandError, "lexsort: no keys.", "a tuple of arrays of the same shape, the main key last"
        )
    found = _lexsort(*map(atleast_1d, rows), axis=one_axis(axis, max(rows[0].ndim, 1)))
    return found if rows[0].ndim else found[0]


# -- quantiles: a rank, which may lie between two sorted elements; these share by their distance from it. Which rank a
#    method means is asked of NumPy: it is the quantile of the numbers 0, 1, ..., n - 1.

_RANKS_PER_SHARE = {  # d rank / dq - n, for the methods that do not jump
    "interpolated_inverted_cdf": 0,
    "hazen": 0,
    "weibull": 1,
    "linear": -1,
    "median_unbiased": 1 / 3,
    "normal_unbiased": 1 / 4,
}
_CHOOSING = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")  # their ranks are whole numbers
METHODS = (*_RANKS_PER_SHARE, "averaged_inverted_cdf", "midpoint", *_CHOOSING)


def _rank_kernel(q: Array, length: Any, method: Any) -> Any:
    if np.iscomplexobj(q):
        raise TypeError("a quantile is at a real number q from 0 to 1, not at a complex one")
    q, length = np.broadcast_arrays(np.asarray(q, float), length)
    ranks = np.full(q.shape, np.nan)
    for n in np.unique(length).tolist():
        if n:
            here = length == n
            ranks[here] = np.quantile(np.arange(float(n)), q[here], method=method)
        else:
            warnings.warn("a quantile of no elements, or of nothing but NaN", RuntimeWarning, stacklevel=2)
    return ranks


def _rank_slope(out: Array, length: Any, method: str) -> Any:
    inside = (out > 0) & (out < length - 1)
    return np.where(inside, length + _RANKS_PER_SHARE[method], 0.0) if method in _RANKS_PER_SHARE else 0.0 * out


_rank = elementwise(
    _rank_kernel,
    _rank_slope,
    None,
    name="rank of a quantile",
    names=("q", "length"),
    samples=lambda draw: [
        ((draw.between((0.2, 0.8), (3,)), 7), {"method": "linear"}),
        ((draw.between((0.2, 0.8), (2, 1)), np.array([5, 7, 9])), {"method": "weibull"}),
        ((draw.between((0.2, 0.3), ()), 9), {"method": "higher"}),
    ],
)
_weighted_rank = constant(
    lambda positions, weights, q: np.moveaxis(
        np.quantile(positions, q.ravel(), axis=-1, weights=weights, method="inverted_cdf"), 0, -1
    ),
    name="rank of a weighted quantile",
    samples=lambda draw: [
        ((np.array([[1.0, 0.0, 2.0], [0.0, 2.0, 1.0]]), np.full((2, 3), 0.5), np.array([0.1, 0.6])), {}),
    ],
)


def _rows(x: Any, axes: tuple[int, ...]) -> Any:
    """`x` with `axes` joined to one, the last."""
    moved = moveaxis(x, axes, range(-len(axes), 0)) if axes else expand_dims(x, -1)
    kept = moved.shape[: x.ndim - len(axes)]
    return reshape(moved, (*kept, math.prod(moved.shape[len(kept) :])))


def _weights_of_rows(x: Array, weights: TensorLike, axis: Axis, axes: tuple[int, ...]) -> Any:
    """Weights for each element of the rows, from weights of the shape of `x` or of its lengths along `axis`."""
    weights = as_value(weights)
    if weights.shape != x.shape:
        if axis is None or weights.shape != tuple([x.shape[a] for a in axes]):
            raise argument_error(
                ShapeError,
                f"quantile: weights of shape {weights.shape} for an array of shape {x.shape} and axis {axis}.",
                "weights of the array's shape, or of the lengths along axis",
            )
        weights = weights.transpose(np.argsort(axes).tolist())
        weights = broadcast_to(weights.reshape([n if i in axes else 1 for i, n in enumerate(x.shape)]), x.shape)
    return _rows(weights, axes)


def _check_quantile(x: Array, q: Array, method: str, weights: TensorLike | None, whole: int, middle: bool) -> None:
    if x.dtype.kind == "c" and not middle:  # which NumPy takes by real parts, then by imaginary ones
        raise argument_error(
            OperandError, f"quantile: complex numbers ({x.dtype}) have no order.", "np.abs(x), x.real, ..."
        )
    if method not in METHODS:
        raise argument_error(OperandError, f"quantile: method={method!r}.", f"one of {', '.join(METHODS)}")
    if weights is not None and method != "inverted_cdf":
        raise argument_error(OperandError, f"quantile: weights with method={method!r}.", 'method="inverted_cdf"')
    if not isinstance(q, Lifted) and not np.all((np.asarray(plain(q)) >= 0) & (np.asarray(plain(q)) <= 1)):
        name, fix = ("quantile", "gt.percentile takes percents") if whole == 1 else ("percentile", "q=95 for 95 %")
        raise argument_error(OperandError, f"{name}: q is not from 0 to {whole}.", fix)


def _quantile(
    x: TensorLike,
    q: TensorLike,
    axis: Axis,
    method: str,
    keepdims: bool,
    weights: TensorLike | None,
    skip_nan: bool,
    whole: int = 1,
    middle: bool = False,
) -> Any:
    """The quantiles for the shares `q` of `whole`."""
    x = as_value(x)
    q = q if whole == 1 else _hundredths(q)
    share = as_value(q)
    _check_quantile(x, share, method, weights, whole, middle)
    axes = all_axes(axis, x.ndim)
    rows = _rows(x, axes)
    length = rows.shape[-1]
    if not x.size and skip_nan:  # as NumPy has it: nothing at all, whatever is asked of it
        return mean(x, axis, keepdims=keepdims)
    if not length:
        raise argument_error(
            IndexingError, f"quantile: no elements along axis {axis} of shape {x.shape}.", "an array with some"
        )
    floating = x.dtype.kind in "fc"
    missing = np.isnan(rows) if floating else np.zeros((1,) * rows.ndim, bool)
    flat_share = reshape(share, (-1,))
    order = argsort(rows)
    ordered = take_along_axis(rows, order, -1)
    if weights is not None:
        kept = _weights_of_rows(x, weights, axis, axes) * np.where(missing & skip_nan, 0, 1)
        rank = _weighted_rank(argsort(order).astype(float), kept, flat_share)
    else:
        count = length - np.sum(missing, axis=-1, keepdims=True) if skip_nan and floating else length
        rank = _rank(flat_share, count, method=method)
    shape = (*rows.shape[:-1], flat_share.shape[0])
    rank = where(np.isnan(rank), 0, rank)  # where nothing counts: all elements are NaN
    below = np.floor(rank).astype(int)
    found = take_along_axis(ordered, broadcast_to(below, shape), -1)
    if method not in _CHOOSING:
        weight = rank - below
        if floating and isinstance(q, int | float):  # a Python number does not widen
            weight = weight.astype(x.dtype.type(0).real.dtype)
        elif share.dtype.kind == "f" and not isinstance(q, int | float):
            weight = weight.astype(share.dtype)
        upper = take_along_axis(ordered, broadcast_to(np.minimum(below + 1, length - 1), shape), -1)
        # what has no weight is not multiplied: it may be infinite
        found = where(weight == 1, 0, found) * (1 - weight) + where(weight == 0, 0, upper) * weight
    if floating and not skip_nan:  # sorted to the end, a nan would not be seen
        found = where(np.any(missing, axis=-1, keepdims=True), np.array(np.nan, found.dtype), found)
    found = reshape(moveaxis(found, -1, 0), (*share.shape, *rows.shape[:-1]))
    return expand_dims(found, tuple([a + share.ndim for a in sorted(axes)])) if keepdims and axes else found


@answers(np.quantile)
def quantile(
    x: TensorLike,
    q: TensorLike,
    axis: Axis = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: TensorLike | None = None,
) -> Any:
    """The value below which a share `q` (from 0 to 1) of the elements along `axis` is, by any of NumPy's methods.

    The gradient goes to the one or two elements that it is made of, and to `q` where the method does not jump.
    `weights` count elements more than once, or less; they only choose, so that no gradient goes to them.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: gt.quantile(x, 0.25))(gt.tensor([3.0, 1.0, 2.0]))
    Tensor([0. , 0.5, 0.5])
    """
    if out is not None:
        return write_result_into(out, quantile, x, q, axis, None, False, method, keepdims, weights=weights)
    return _quantile(x, q, axis, method, keepdims, weights, skip_nan=False)


@answers(np.percentile)
def percentile(
    x: TensorLike,
    q: TensorLike,
    axis: Axis = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: TensorLike | None = None,
) -> Any:
    """The value below which `q` percent of the elements along `axis` are.

    >>> import gradtape as gt
    >>> gt.percentile(gt.tensor([1.0, 2.0, 4.0]), 75)
    Tensor(3.)
    """
    if out is not None:
        return write_result_into(out, percentile, x, q, axis, None, False, method, keepdims, weights=weights)
    return _quantile(x, q, axis, method, keepdims, weights, skip_nan=False, whole=100)


def _hundredths(q: Any) -> Any:
    return q / 100 if type(q) in (int, float) else as_value(as_value(q) / 100)  # NumPy's numbers have a dtype


@answers(np.median)
def median(
    x: TensorLike, axis: Axis = None, out: Array | None = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """The middle element along `axis`; of an even number, the mean of the two in the middle.

    >>> import gradtape as gt
    >>> gt.grad(gt.median)(gt.tensor([3.0, 1.0, 2.0, 8.0]))
    Tensor([0.5, 0. , 0.5, 0. ])
    """
    if out is not None:
        return write_result_into(out, median, x, axis, overwrite_input=overwrite_input, keepdims=keepdims)
    return _middle(x, axis, keepdims, skip_nan=False)


def _middle(x: TensorLike, axis: Axis, keepdims: bool, skip_nan: bool) -> Any:
    """The median; of nothing it is NumPy's NaN and warning, which are the mean's."""
    x = as_value(x)
    if not x.size and 0 in [x.shape[a] for a in all_axes(axis, x.ndim)]:
        return mean(x, axis, keepdims=keepdims)
    return _quantile(x, 0.5, axis, "linear", keepdims, None, skip_nan, middle=True)


# -- the same, as if NaN were not there: such elements are constants, with gradient zero


@answers(np.nanquantile)
def nanquantile(
    x: TensorLike,
    q: TensorLike,
    axis: Axis = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: TensorLike | None = None,
) -> Any:
    """The value below which a share `q` (from 0 to 1) of the elements along `axis` is that are not NaN.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: gt.nanquantile(x, 1.0))(gt.tensor([3.0, float("nan"), 2.0]))
    Tensor([1., 0., 0.])
    """
    if out is not None:
        return write_result_into(out, nanquantile, x, q, axis, None, False, method, keepdims, weights=weights)
    return _quantile(x, q, axis, method, keepdims, weights, skip_nan=True)


@answers(np.nanpercentile)
def nanpercentile(
    x: TensorLike,
    q: TensorLike,
    axis: Axis = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: TensorLike | None = None,
) -> Any:
    """The value below which `q` percent of the elements along `axis` are that are not NaN.

    >>> import gradtape as gt
    >>> gt.nanpercentile(gt.tensor([1.0, float("nan"), 4.0]), 50)
    Tensor(2.5)
    """
    if out is not None:
        return write_result_into(out, nanpercentile, x, q, axis, None, False, method, keepdims, weights=weights)
    return _quantile(x, q, axis, method, keepdims, weights, skip_nan=True, whole=100)


@answers(np.nanmedian)
def nanmedian(
    x: TensorLike, axis: Axis = None, out: Array | None = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """The middle element along `axis` of those that are not NaN.

    >>> import gradtape as gt
    >>> gt.nanmedian(gt.tensor([1.0, float("nan"), 4.0]))
    Tensor(2.5)
    """
    if out is not None:
        return write_result_into(out, nanmedian, x, axis, overwrite_input=overwrite_input, keepdims=keepdims)
    return _middle(x, axis, keepdims, skip_nan=True)
