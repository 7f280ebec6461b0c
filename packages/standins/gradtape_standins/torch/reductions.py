"""Sums, means, largest elements, sorted orders: what is done along axes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import gradtape as gt
from gradtape.errors import DtypeError
from gradtape.extend import Lifted, argument_error, concrete, leave_tape, plain
from gradtape.extend import Tensor as Value
from gradtape_standins.torch import dtypes
from gradtape_standins.torch.arithmetic import has_nan, larger
from gradtape_standins.torch.wrapping import by_dim, cast, floating, function, promoted


class _Pair:
    """Prints as PyTorch's return types do: a field on each line."""

    _name: str

    def __repr__(self) -> str:
        fields = zip(self._fields, self)  # type: ignore[attr-defined,call-overload]
        return f"torch.return_types.{self._name}(\n" + ",\n".join(f"{name}={value!r}" for name, value in fields) + ")"


class ValuesAndIndices(NamedTuple):
    """Elements, and their positions along an axis."""

    values: Any
    indices: Any


class Extremes(NamedTuple):
    """The smallest and the largest elements."""

    min: Any
    max: Any


def _pair(name: str, fields: type) -> Any:
    return type(name, (_Pair, fields), {"_name": name, "__slots__": ()})


return_types = {
    name: _pair(name, ValuesAndIndices)
    for name in ("max", "min", "sort", "topk", "median", "mode", "kthvalue", "cummax", "cummin", "nanmedian")
} | {"aminmax": _pair("aminmax", Extremes)}


def _axes(dim: Any) -> Any:
    return tuple(dim) if isinstance(dim, (list, tuple)) and dim else None if isinstance(dim, (list, tuple)) else dim


def _needs_floats(input: Any, name: str) -> None:
    if input.dtype.kind not in "fc":
        raise argument_error(
            DtypeError,
            f"torch.{name}: a floating point or complex type is accepted; got {dtypes.of(input.dtype)}.",
            f"x.float().{name}()",
        )


@function("Sum", by_dim)
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of all elements, or along `dim`."""
    input = input if dtype is None else cast(input, dtype)
    return gt.sum(input, _axes(dim), keepdims=keepdim)


@function("Nansum")
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum without what is NaN."""
    return gt.nansum(input if dtype is None else cast(input, dtype), _axes(dim), keepdims=keepdim)


@function("Mean", by_dim)
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean of all elements, or along `dim`."""
    input = input if dtype is None else cast(input, dtype)
    _needs_floats(input, "mean")
    return gt.mean(input, _axes(dim), keepdims=keepdim)


@function("Div")
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean without what is NaN."""
    return gt.nanmean(input if dtype is None else cast(input, dtype), _axes(dim), keepdims=keepdim)


@function("Prod", by_dim)
def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product of all elements, or along `dim`."""
    return gt.prod(input if dtype is None else cast(input, dtype), _axes(dim), keepdims=keepdim)


def _correction(dim: Any, unbiased: Any, correction: Any) -> tuple[Any, float]:
    if isinstance(dim, bool):  # x.std(False)
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    return _axes(dim), correction


@function("Var")
def var(input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> Any:
    """The variance: the sum of squares is divided by n - 1, unless `correction` says otherwise."""
    axes, less = _correction(dim, unbiased, correction)
    _needs_floats(input, "var")
    return gt.var(input, axes, ddof=less, keepdims=keepdim)


@function("Std")
def std(input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> Any:
    """The standard deviation: the sum of squares is divided by n - 1, unless `correction` says otherwise."""
    axes, less = _correction(dim, unbiased, correction)
    _needs_floats(input, "std")
    return gt.std(input, axes, ddof=less, keepdims=keepdim)


@function("VarMean")
def var_mean(input: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Any:
    """The variance and the mean."""
    axes = _axes(dim)
    return gt.var(input, axes, ddof=correction, keepdims=keepdim), gt.mean(input, axes, keepdims=keepdim)


@function("StdMean")
def std_mean(input: Any, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Any:
    """The standard deviation and the mean."""
    axes = _axes(dim)
    return gt.std(input, axes, ddof=correction, keepdims=keepdim), gt.mean(input, axes, keepdims=keepdim)


def _picked(input: Any, indices: Any, dim: int, keepdim: bool, name: str) -> Any:
    """The elements at one position each along `dim`: the gradient goes to these alone."""
    if not len(input.shape):
        return return_types[name](gt.positive(input), np.zeros((), np.int64))
    values = gt.take_along_axis(input, gt.expand_dims(indices, dim), dim)
    if not keepdim:
        return return_types[name](gt.squeeze(values, dim), indices)
    return return_types[name](values, gt.expand_dims(indices, dim))


def _extreme(name: str, whole: Any, position: Any, pairwise: Any) -> Any:
    def extreme(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is None:
            return whole(input)
        if not isinstance(dim, int):
            return pairwise(*promoted(input, dim))
        return _picked(input, position(gt.stop_gradient(input), dim), dim, keepdim, name)

    extreme.__name__ = name
    extreme.__doc__ = f"The {name}imum of all elements; along `dim` with its positions; or of two tensors by element."

    def overload(input: Any, dim: Any = None, keepdim: bool = False) -> int | str:
        return 1 if dim is None else 0 if isinstance(dim, int) else f"{name.capitalize()}imum"

    return function(name.capitalize(), overload)(extreme)


def _whole(compute: Any) -> Any:
    """The extreme of all elements; where it is NaN, the elements that are NaN share the gradient."""

    def extreme(input: Any) -> Any:
        return _mean_of_nan(input) if has_nan(input) else compute(input)

    return extreme


def _mean_of_nan(input: Any) -> Any:
    """NaN, with a gradient that the elements which are NaN share."""
    unknown = np.isnan(plain(input))
    return gt.sum(gt.where(unknown, input, np.asarray(0, input.dtype))) / np.asarray(unknown.sum(), input.dtype)


max = _extreme("max", _whole(gt.max), gt.argmax, larger(gt.maximum))
min = _extreme("min", _whole(gt.min), gt.argmin, larger(gt.minimum))


@function("Amax")
def amax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The largest elements along `dim`; those that are tied share the gradient."""
    return gt.max(input, _axes(dim), keepdims=keepdim)


@function("Amin")
def amin(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest elements along `dim`; those that are tied share the gradient."""
    return gt.min(input, _axes(dim), keepdims=keepdim)


@function("Aminmax")
def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest and the largest elements."""
    return return_types["aminmax"](gt.min(input, dim, keepdims=keepdim), gt.max(input, dim, keepdims=keepdim))


@function()
def argmax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The position of the largest element."""
    return gt.argmax(input, dim, keepdims=keepdim)


@function()
def argmin(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The position of the smallest element."""
    return gt.argmin(input, dim, keepdims=keepdim)


@function()
def all(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether all elements are true."""
    return gt.all(input, _axes(dim), keepdims=keepdim)


@function()
def any(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether any element is true."""
    return gt.any(input, _axes(dim), keepdims=keepdim)


@function()
def count_nonzero(input: Any, dim: Any = None) -> Any:
    """How many elements are not 0."""
    return np.asarray(gt.count_nonzero(input, axis=_axes(dim)))


@function("Logsumexp")
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """log(sum(exp(x))) along `dim`, without overflow."""
    return gt.logsumexp(floating(input), _axes(dim), keepdim)


@function("Cumsum")
def cumsum(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Running sums along `dim`."""
    return gt.cumsum(input if dtype is None else cast(input, dtype), dim)


@function("Cumprod")
def cumprod(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Running products along `dim`."""
    return gt.cumprod(input if dtype is None else cast(input, dtype), dim)


@function("Logcumsumexp")
def logcumsumexp(input: Any, dim: int) -> Any:
    """The logarithm of running sums of exp(x) along `dim`."""
    fixed = plain(gt.stop_gradient(input))
    if isinstance(input, Lifted) or np.isfinite(fixed).all():
        top = gt.stop_gradient(gt.max(input, dim, keepdims=True))
        return gt.log(gt.cumsum(gt.exp(input - top), dim)) + top
    rows = [gt.take(input, place, dim) for place in range(input.shape[dim])]
    sums = rows[:1]
    for row in rows[1:]:
        sums.append(gt.logaddexp(sums[-1], row))
    return gt.stack(sums, dim)


def _running(name: str, accumulate: Any) -> Any:
    def running(input: Any, dim: int) -> Any:
        array = np.moveaxis(np.asarray(concrete(gt.stop_gradient(input))), dim, 0)
        best = accumulate.accumulate(array, axis=0)
        here = np.arange(len(array)).reshape(-1, *(1,) * (array.ndim - 1))
        reached = (array == best) | ((array != array) & (best != best))
        places = np.maximum.accumulate(np.where(reached, here, 0), axis=0)
        indices = np.moveaxis(places, 0, dim)
        return return_types[name](gt.take_along_axis(input, indices, dim), indices)

    running.__name__, running.__doc__ = name, f"The {name[3:]}imum so far along `dim`, and its positions."
    return function(name.capitalize())(running)


cummax = _running("cummax", np.maximum)
cummin = _running("cummin", np.minimum)


@function("Sort")
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The elements in order along `dim`, and their positions."""
    order = _order(input, dim, descending)
    return return_types["sort"](gt.take_along_axis(input, order, dim), order)


def _order(input: Any, dim: int, descending: bool) -> Any:
    fixed = gt.stop_gradient(input)
    if not descending:
        return gt.argsort(fixed, dim, stable=True)
    backwards = gt.argsort(gt.flip(fixed, dim), dim, stable=True)
    return input.shape[dim] - 1 - gt.flip(backwards, dim)


@function()
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The positions that put the elements in order along `dim`."""
    return _order(input, dim, descending)


@function("Topk")
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest (or smallest) elements along `dim`, and their positions."""
    if not 0 <= k <= input.shape[dim]:
        raise RuntimeError(f"topk: k={k} of {input.shape[dim]} elements along dim {dim}.\n  fix: a k up to that length")
    order = gt.take(_order(input, dim, largest), np.arange(k), dim)
    return return_types["topk"](gt.take_along_axis(input, order, dim), order)


@function("Kthvalue")
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th smallest element along `dim` (from 1), and its position."""
    place = gt.take(_order(input, dim, False), k - 1, dim)
    return _picked(input, place, dim, keepdim, "kthvalue")


def _middle(input: Any, dim: int, skips_nan: bool) -> Any:
    """The position of the median along `dim`: the lower of two in the middle.

    Where there is a NaN it is that of the first one, unless these are skipped.
    """
    order = _order(input, dim, False)
    if not has_nan(input):
        return gt.take(order, (input.shape[dim] - 1) // 2, dim)
    unknown = np.isnan(plain(input))
    known = input.shape[dim] - unknown.sum(dim, keepdims=True)
    middle = np.take_along_axis(np.asarray(plain(order)), np.maximum(known - 1, 0) // 2, dim).squeeze(dim)
    first = np.argmax(unknown, axis=dim)
    return np.where(known.squeeze(dim) == 0, first, middle) if skips_nan else np.where(unknown.any(dim), first, middle)


def _median(name: str, skips_nan: bool, doc: str) -> Any:
    def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is not None:
            place = _middle(input, dim, skips_nan) if len(input.shape) else 0
            return _picked(input, place, dim, keepdim, name)
        flat = gt.reshape(input, (-1,))
        if not flat.size:
            return np.asarray(np.nan, input.dtype)
        middle = gt.take(flat, _middle(flat, 0, skips_nan), 0)
        if flat.dtype.kind != "f" or isinstance(flat, Lifted):
            return middle
        if np.isnan(plain(middle)):
            return _mean_of_nan(flat)
        tied = plain(flat) == plain(middle)
        return gt.max(gt.where(tied, flat, np.asarray(-np.inf, flat.dtype)))  # those that are tied share the gradient

    median.__name__, median.__doc__ = name, doc
    return function(name.capitalize(), lambda input, dim=None, keepdim=False: int(dim is not None))(median)


median = _median(
    "median",
    False,
    "The middle element, the lower of two (equal ones share the gradient); along `dim` with its position.",
)
nanmedian = _median("nanmedian", True, "The median of what is not NaN; along `dim` with its position.")


@function("Mode")
def mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along `dim`, the smallest of several, and the last of its positions."""
    array = np.moveaxis(concrete(gt.stop_gradient(input)), dim, -1)

    def last_place(row: Any) -> Any:
        values, counts = np.unique(row, return_counts=True, equal_nan=False)
        most = values[np.argmax(counts)]
        return np.flatnonzero(row == most)[-1] if most == most else 0

    places = np.apply_along_axis(last_place, -1, array)
    return _picked(input, places, dim, keepdim, "mode")


@function("Squeeze", lambda *args, **kwargs: 4)
def quantile(input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
    """The q-quantiles, along a first axis if there are several."""
    return gt.quantile(input, q, dim, method=interpolation, keepdims=keepdim)


@function("LinalgVectorNorm")
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The p-norm of all elements, or along `dim`."""
    axes = _axes(dim)
    order = 2 if p in ("fro", None) else p
    input = input if dtype is None else cast(input, dtype)
    return gt.linalg.vector_norm(input, axis=axes, keepdims=keepdim, ord=math.inf if order == "inf" else order)


@function("Dist")
def dist(input: Any, other: Any, p: Any = 2) -> Any:
    """The p-norm of the difference."""
    return gt.linalg.vector_norm(input - other, ord=p)


@function()
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each of the integers from 0 on occurs."""
    return gt.bincount(input, weights, minlength)


@function()
def histc(input: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """How many elements fall into each of `bins` equal intervals."""
    array = _array(input)
    low, high = (array.min(), array.max()) if min == max == 0 else (min, max)
    return np.histogram(array, bins, (low, high))[0].astype(array.dtype)


@function()
def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The elements that occur, each once and in order."""
    options: Any = {"return_inverse": return_inverse, "return_counts": return_counts, "axis": dim, "equal_nan": False}
    return np.unique(_array(input), **options)


@function()
def unique_consecutive(input: Any, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """The elements without those that equal their predecessor."""
    array = _array(input).ravel()
    starts = np.flatnonzero(np.append(True, array[1:] != array[:-1])[: array.size])
    groups = np.repeat(np.arange(starts.size), np.diff(np.append(starts, array.size)))
    found = [array[starts]] + [groups] * return_inverse + [np.diff(np.append(starts, array.size))] * return_counts
    return tuple(found) if len(found) > 1 else found[0]


def _array(value: Any) -> Any:
    return leave_tape(value, "torch") if isinstance(value, Value) else np.asarray(value)


_NAMES = (
    "sum nansum mean nanmean prod var std var_mean std_mean max min amax amin aminmax argmax argmin all any "
    "count_nonzero logsumexp cumsum cumprod logcumsumexp cummax cummin sort argsort topk kthvalue median mode "
    "quantile norm dist bincount histc unique unique_consecutive nanmedian"
)
FUNCTIONS = {name: globals()[name] for name in _NAMES.split()}
"""Every function of this chapter by its name in `torch`; all are methods too."""
