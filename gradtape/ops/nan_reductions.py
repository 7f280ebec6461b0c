"""Statistics: reductions that pass over NaN, and running sums by their newer names.

An element that is NaN counts as absent: it is a constant, and its gradient is zero.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Op, apply
from gradtape.core.rules import constant
from gradtape.core.tensor import plain
from gradtape.core.typing import Array, Axis, DTypeLike, TensorLike
from gradtape.errors import OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops import reductions
from gradtape.ops.arguments import (
    all_axes,
    argument_error,
    as_value,
    cast_to,
    flat_or_axis,
    one_axis,
    reduced_axes,
    write_result_into,
)
from gradtape.ops.cumulative import cumprod, cumsum
from gradtape.ops.elementwise import root_of_squares, where
from gradtape.ops.joining import concatenate
from gradtape.ops.shaping import atleast_1d, broadcast_to, reshape

# -- which elements count


def _batch_present(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    return apply(op, tuple(values), {**params, "axis": tuple([a + 1 for a in params["axis"]])})


def _count_kernel(x: Array, axis: tuple[int, ...], least: float, otherwise: str) -> Any:
    """How many elements along `axis` are true; a warning where they are no more than `least`."""
    count = np.sum(x, axis=axis, keepdims=True)
    if np.any(count <= least):
        warnings.warn(otherwise, RuntimeWarning, stacklevel=2)
    return count


_count = constant(
    _count_kernel,
    name="count of what is not nan",
    batch=_batch_present,
    samples=lambda draw: [
        ((np.array([[True, False], [True, True]]),), {"axis": (1,), "least": 0, "otherwise": "none"}),
        ((np.array([True, False]),), {"axis": (0,), "least": 0, "otherwise": "none"}),
    ],
)


def _present(x: Array, included: TensorLike = True) -> Any:
    """Where elements count: not NaN, and not left out by `where=`."""
    included = included if included is True and x.dtype.kind in "fc" else broadcast_to(included, x.shape)
    return np.logical_not(np.isnan(x)) & included if x.dtype.kind in "fc" else included


def _prepared(x: TensorLike, dtype: DTypeLike) -> Array:
    x = as_value(x)
    return x if dtype is None else x.astype(dtype)


def _inexact(x: TensorLike, dtype: DTypeLike) -> Array:
    """`x` in `dtype`, which has to be one of numbers that can be NaN if `x` has them."""
    if dtype is not None and as_value(x).dtype.kind in "fc" and np.dtype(dtype).kind not in "fc":
        raise argument_error(
            OperandError, f"dtype={dtype!r} for numbers of dtype {as_value(x).dtype}.", "a floating dtype"
        )
    return _prepared(x, dtype)


# -- sums, products, means


@answers(np.nansum)
def nansum(
    x: TensorLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Any:
    """The sum along `axis` of the elements that are not NaN.

    >>> import gradtape as gt
    >>> gt.value_and_grad(gt.nansum)(gt.tensor([1.0, float("nan"), 2.0]))
    (Tensor(3.), Tensor([1., 0., 1.]))
    """
    if out is not None:
        return write_result_into(out, nansum, x, axis, dtype, keepdims=keepdims, initial=initial, where=where)
    x = _prepared(x, dtype)
    return reductions.sum(_filled(x, 0, where), axis, dtype, keepdims=keepdims, initial=initial)


def _filled(x: Array, value: TensorLike, included: TensorLike = True) -> Any:
    """`x` with `value` for what does not count."""
    return where(_present(x, included), x, np.asarray(value, x.dtype))


@answers(np.nanprod)
def nanprod(
    x: TensorLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Any:
    """The product along `axis` of the elements that are not NaN.

    >>> import gradtape as gt
    >>> gt.grad(gt.nanprod)(gt.tensor([2.0, float("nan"), 3.0]))
    Tensor([3., 0., 2.])
    """
    if out is not None:
        return write_result_into(out, nanprod, x, axis, dtype, keepdims=keepdims, initial=initial, where=where)
    x = _prepared(x, dtype)
    return reductions.prod(_filled(x, 1, where), axis, dtype, keepdims=keepdims, initial=initial)


@answers(np.nancumsum)
def nancumsum(x: TensorLike, axis: int | None = None, dtype: DTypeLike = None, out: Array | None = None) -> Any:
    """Running sums along `axis` (of all elements in order by default), as if NaN were 0.

    >>> import gradtape as gt
    >>> gt.nancumsum(gt.tensor([1.0, float("nan"), 2.0]))
    Tensor([1., 1., 3.])
    """
    if out is not None:
        return write_result_into(out, nancumsum, x, axis, dtype)
    return cumsum(_filled(_prepared(x, dtype), 0), axis, dtype)


@answers(np.nancumprod)
def nancumprod(x: TensorLike, axis: int | None = None, dtype: DTypeLike = None, out: Array | None = None) -> Any:
    """Running products along `axis` (of all elements in order by default), as if NaN were 1.

    >>> import gradtape as gt
    >>> gt.nancumprod(gt.tensor([2.0, float("nan"), 3.0]))
    Tensor([2., 2., 6.])
    """
    if out is not None:
        return write_result_into(out, nancumprod, x, axis, dtype)
    return cumprod(_filled(_prepared(x, dtype), 1), axis, dtype)


def _totals(x: Array, axes: tuple[int, ...], included: TensorLike, least: float, otherwise: str) -> tuple[Any, Any]:
    """The sum and the number of the elements that count, along axes that are kept."""
    present = _present(x, included)
    count = _count(present, axis=axes, least=plain(least), otherwise=otherwise)
    return reductions.sum(_filled(x, 0, included), axes, keepdims=True), count


def _quotient(total: Array, count: Any) -> Any:
    """total / count in the dtype of the total; NaN where nothing counts, which was said already."""
    dtype = total.dtype if total.dtype.kind in "fc" else np.dtype(float)
    real = np.zeros(0, dtype).real.dtype
    quotient = total / np.where(count > 0, count, 1).astype(real)
    return where(count > 0, quotient, np.asarray(np.nan, dtype))


def _dropped(x: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return x if keepdims else reshape(x, [n for i, n in enumerate(x.shape) if i not in axes])


@answers(np.nanmean)
def nanmean(
    x: TensorLike,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Array | None = None,
    keepdims: bool = False,
    *,
    where: TensorLike = True,
) -> Any:
    """The mean along `axis` of the elements that are not NaN.

    >>> import gradtape as gt
    >>> gt.grad(gt.nanmean)(gt.tensor([1.0, float("nan"), 2.0]))
    Tensor([0.5, 0. , 0.5])
    """
    if out is not None:
        return write_result_into(out, nanmean, x, axis, dtype, keepdims=keepdims, where=where)
    x = _inexact(x, dtype)
    axes = all_axes(reduced_axes(axis, x.ndim), x.ndim)
    found = _dropped(_quotient(*_totals(x, axes, where, 0, "Mean of empty slice")), axes, keepdims)
    return cast_to(found, dtype)


@answers(np.nanvar)
def nanvar(
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
    """The variance along `axis` of the elements that are not NaN, divided by their number - `ddof`.

    >>> import gradtape as gt
    >>> gt.nanvar(gt.tensor([1.0, float("nan"), 3.0]))
    Tensor(1.)
    """
    if out is not None:
        return write_result_into(
            out, nanvar, x, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
        )
    if as_value(x).dtype.kind not in "fc":
        return reductions.var(x, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return cast_to(_variance(x, axis, dtype, reductions.choose_ddof(ddof, correction), keepdims, where, mean), dtype)


def _variance(
    x: TensorLike, axis: Axis, dtype: DTypeLike, less: float, keepdims: bool, included: TensorLike, mean: Any
) -> Any:
    x = _inexact(x, dtype)
    axes = all_axes(reduced_axes(axis, x.ndim), x.ndim)
    total, count = _totals(x, axes, included, max(less, 0), "Degrees of freedom <= 0 for slice.")
    centre = _quotient(total, count) if mean is None else as_value(mean)
    if centre.dtype != x.dtype and x.dtype.kind in "fc":
        centre = centre.astype(x.dtype)
    centred = _filled(x - centre, 0, _present(x, included))
    squared = centred * centred if x.dtype.kind != "c" else (centred * centred.conj()).real
    return _dropped(_quotient(reductions.sum(squared, axes, keepdims=True), count - less), axes, keepdims)


@answers(np.nanstd)
def nanstd(
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
    """The standard deviation along `axis` of the elements that are not NaN; where they are equal its gradient is zero.

    >>> import gradtape as gt
    >>> gt.nanstd(gt.tensor([1.0, float("nan"), 3.0]))
    Tensor(1.)
    """
    if out is not None:
        return write_result_into(
            out, nanstd, x, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
        )
    if as_value(x).dtype.kind not in "fc":
        return reductions.std(x, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    variance = _variance(x, axis, dtype, reductions.choose_ddof(ddof, correction), keepdims, where, mean)
    return cast_to(root_of_squares(variance), dtype)


# -- extremes


def _extreme(
    x: TensorLike, axis: Axis, keepdims: bool, initial: TensorLike | None, included: TensorLike, largest: bool
) -> Any:
    x = as_value(x)
    axes = all_axes(reduced_axes(axis, x.ndim), x.ndim)
    reduce = reductions.max if largest else reductions.min
    if x.dtype.kind not in "fc":
        return reduce(x, axis, keepdims=keepdims, initial=initial, where=included)
    if included is not True and initial is None:
        raise argument_error(OperandError, "where= without initial=.", "initial= for slices without any element")
    nothing = -np.inf if largest else np.inf
    found = reduce(_filled(x, nothing, included), axes, keepdims=True, initial=initial)
    if initial is None:
        count = _count(_present(x), axis=axes, least=0, otherwise="All-NaN slice encountered")
        found = where(count > 0, found, np.asarray(np.nan, x.dtype))
    return _dropped(found, axes, keepdims)


@answers(np.nanmax)
def nanmax(
    x: TensorLike,
    axis: Axis = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Any:
    """The largest element along `axis` that is not NaN; tied elements share its gradient equally.

    >>> import gradtape as gt
    >>> gt.grad(gt.nanmax)(gt.tensor([1.0, float("nan"), 3.0]))
    Tensor([0., 0., 1.])
    """
    if out is not None:
        return write_result_into(out, nanmax, x, axis, keepdims=keepdims, initial=initial, where=where)
    return _extreme(x, axis, keepdims, initial, where, largest=True)


@answers(np.nanmin)
def nanmin(
    x: TensorLike,
    axis: Axis = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Any:
    """The smallest element along `axis` that is not NaN; tied elements share its gradient equally.

    >>> import gradtape as gt
    >>> gt.nanmin(gt.tensor([1.0, float("nan"), 3.0]))
    Tensor(1.)
    """
    if out is not None:
        return write_result_into(out, nanmin, x, axis, keepdims=keepdims, initial=initial, where=where)
    return _extreme(x, axis, keepdims, initial, where, largest=False)


def _nan_position(kernel: Any, name: str) -> Op:
    return constant(
        lambda x, axis, keepdims: np.asarray(kernel(x, axis=axis, keepdims=keepdims)),
        name=name,
        batch=lambda op, flags, values, params: apply(op, tuple(values), {**params, "axis": params["axis"] + 1}),
        samples=lambda draw: [
            ((draw(3, 4),), {"axis": 1, "keepdims": False}),
            ((np.array([[np.nan, 1.0, 2.0]]),), {"axis": 1, "keepdims": True}),
        ],
    )


_nanargmax, _nanargmin = _nan_position(np.nanargmax, "nanargmax"), _nan_position(np.nanargmin, "nanargmin")


def _position(op: Op, x: TensorLike, axis: int | None, keepdims: bool) -> Any:
    row, place = flat_or_axis(x, axis, number=True)
    found = op(row, axis=place, keepdims=keepdims and axis is not None)
    return reshape(found, (1,) * as_value(x).ndim) if keepdims and axis is None else found


@answers(np.nanargmax)
def nanargmax(x: TensorLike, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False) -> Any:
    """The position of the largest element that is not NaN. Positions have no gradient.

    >>> import gradtape as gt
    >>> gt.nanargmax(gt.tensor([1.0, float("nan"), 3.0]))
    Tensor(2)
    """
    if out is not None:
        return write_result_into(out, nanargmax, x, axis, keepdims=keepdims)
    return _position(_nanargmax, x, axis, keepdims)


@answers(np.nanargmin)
def nanargmin(x: TensorLike, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False) -> Any:
    """The position of the smallest element that is not NaN. Positions have no gradient.

    >>> import gradtape as gt
    >>> gt.nanargmin(gt.tensor([1.0, float("nan"), 3.0]))
    Tensor(0)
    """
    if out is not None:
        return write_result_into(out, nanargmin, x, axis, keepdims=keepdims)
    return _position(_nanargmin, x, axis, keepdims)


# -- running sums and products, as the array API names them


def _running(x: Any, axis: int | None, dtype: Any, include_initial: bool, name: str) -> Any:
    x = atleast_1d(_prepared(x, dtype))
    if axis is None:
        if x.ndim != 1:
            raise argument_error(
                ShapeError, f"{name}: an array of {x.ndim} axes needs an axis.", "axis=0, axis=-1, ..."
            )
        axis = 0
    axis = one_axis(axis, x.ndim)
    product = name == "cumulative_prod"
    found = (cumprod if product else cumsum)(x, axis, dtype)
    if include_initial:
        first = np.full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), 1 if product else 0, found.dtype)
        found = concatenate([first, found], axis)
    return found


@answers(np.cumulative_sum)
def cumulative_sum(
    x: TensorLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: Array | None = None,
    include_initial: bool = False,
) -> Any:
    """Running sums along `axis`; with `include_initial`, beginning with the 0 before the first.

    >>> import gradtape as gt
    >>> gt.cumulative_sum(gt.tensor([1.0, 2.0]), include_initial=True)
    Tensor([0., 1., 3.])
    """
    if out is not None:
        return write_result_into(out, cumulative_sum, x, axis=axis, dtype=dtype, include_initial=include_initial)
    return _running(x, axis, dtype, include_initial, "cumulative_sum")


@answers(np.cumulative_prod)
def cumulative_prod(
    x: TensorLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: Array | None = None,
    include_initial: bool = False,
) -> Any:
    """Running products along `axis`; with `include_initial`, beginning with the 1 before the first.

    >>> import gradtape as gt
    >>> gt.cumulative_prod(gt.tensor([2.0, 3.0]), include_initial=True)
    Tensor([1., 2., 6.])
    """
    if out is not None:
        return write_result_into(out, cumulative_prod, x, axis=axis, dtype=dtype, include_initial=include_initial)
    return _running(x, axis, dtype, include_initial, "cumulative_prod")


__all__ = [
    "cumulative_prod",
    "cumulative_sum",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]
