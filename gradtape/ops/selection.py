"""Choosing among arrays by conditions, and calling functions of the user's slice by slice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.tensor import Tensor, plain
from gradtape.core.typing import Array, Axis, TensorLike
from gradtape.core.unshared import unshared
from gradtape.core.views import lay_out
from gradtape.errors import OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import (
    all_axes,
    argument_error,
    as_value,
    flat_or_axis,
    index_at_axis,
    one_axis,
    write_result_into,
)
from gradtape.ops.elementwise import where
from gradtape.ops.elementwise_probe import is_elementwise
from gradtape.ops.indexed_update import at
from gradtape.ops.indexing import nonzero
from gradtape.ops.joining import stack
from gradtape.ops.shaping import broadcast_arrays, broadcast_to, expand_dims, moveaxis, reshape

# -- choices


@answers(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """The elements of the first choice whose condition holds, `default` where none does.

    >>> import gradtape as gt
    >>> x = gt.tensor([-1.0, 0.5, 3.0])
    >>> gt.select([x < 0, x > 1], [-x, x * x], default=7.0)
    Tensor([1., 7., 9.])
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise argument_error(
            ShapeError, f"select: {len(condlist)} conditions for {len(choicelist)} choices.", "as many of both"
        )
    conditions = [as_value(condition) for condition in condlist]
    for condition in conditions:
        if condition.dtype.kind != "b":
            raise argument_error(
                OperandError, f"select: a condition of {condition.dtype}.", "booleans: x > 0, mask != 0"
            )
    values = [*choicelist, default]
    dtype = np.result_type(*[v if isinstance(v, int | float | complex) else as_value(v).dtype for v in values])
    chosen: Any = as_value(default)
    for condition, choice in zip(reversed(conditions), reversed(list(choicelist)), strict=True):
        chosen = where(condition, choice, chosen)
    return lay_out(chosen if chosen.dtype == dtype else chosen.astype(dtype), "C")


@answers(np.choose)
def choose(a: TensorLike, choices: Any, out: Array | None = None, mode: str = "raise") -> Any:
    """For each integer in `a`, the element of that one of the `choices`.

    >>> import gradtape as gt
    >>> gt.choose([1, 0], [gt.tensor([1.0, 2.0]), gt.tensor([10.0, 20.0])])
    Tensor([10.,  2.])
    """
    if out is not None:
        return write_result_into(out, choose, a, choices, mode=mode)
    a, count = as_value(a), len(choices)
    if mode == "wrap":
        a = a % count
    elif mode == "clip":
        a = np.clip(a, 0, count - 1)
    elif mode != "raise":
        raise argument_error(OperandError, f"choose: mode={mode!r}.", "mode 'raise', 'wrap' or 'clip'")
    elif not isinstance(a, Lifted) and np.any((plain(a) < 0) | (plain(a) >= count)):
        raise argument_error(OperandError, f"choose: an index outside of the {count} choices.", "mode='wrap' or 'clip'")
    chosen: Any = as_value(choices[count - 1])
    chosen = where(np.ones_like(a, dtype=bool), chosen, chosen)
    for k in reversed(range(count - 1)):
        chosen = where(a == k, choices[k], chosen)
    return lay_out(chosen, "C")


@answers(np.compress)
def compress(condition: TensorLike, a: TensorLike, axis: int | None = None, out: Array | None = None) -> Any:
    """The slices along `axis` (elements of the flattened array by default) where `condition` holds.

    >>> import gradtape as gt
    >>> gt.compress([False, True], gt.tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    Tensor([[3., 4.]])
    """
    if out is not None:
        return write_result_into(out, compress, condition, a, axis)
    a, axis = flat_or_axis(a, axis)
    (places,) = nonzero(condition if isinstance(condition, Tensor) else np.asarray(condition))
    return lay_out(a[index_at_axis(axis, places)], "C")


@answers(np.extract)
def extract(condition: TensorLike, arr: TensorLike) -> Any:
    """The elements of the flattened array where the flattened `condition` holds.

    >>> import gradtape as gt
    >>> gt.extract([[True, False], [False, True]], gt.tensor([[1.0, 2.0], [3.0, 4.0]]))
    Tensor([1., 4.])
    """
    return compress(reshape(as_value(condition), (-1,)), arr)


@answers(np.trim_zeros)
def trim_zeros(filt: TensorLike, trim: str = "fb", axis: Axis = None) -> Any:
    """The array without the slices of zeros in front (`f` in `trim`) and behind (`b`), along every `axis`.

    >>> import gradtape as gt
    >>> gt.trim_zeros(gt.tensor([0.0, 1.0, 0.0, 2.0, 0.0]))
    Tensor([1., 0., 2.])
    """
    filt = as_value(filt)
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise argument_error(
            OperandError, f"trim_zeros: trim={trim!r}.", "'f' for the front, 'b' for the back, or 'fb'"
        )
    places = nonzero(filt)
    kept: list[slice] = [slice(None)] * filt.ndim
    for along_axis in all_axes(axis, filt.ndim):
        where_not, length = places[along_axis], filt.shape[along_axis]
        if where_not.size:
            first, last = int(where_not.min()), int(where_not.max()) + 1
            kept[along_axis] = slice(first if "f" in trim else 0, last if "b" in trim else length)
        else:
            kept[along_axis] = slice(0, 0)
    return filt[tuple(kept)]


@answers(np.piecewise)
def piecewise(x: TensorLike, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """A function given by pieces: each function (or number) is used where its condition holds, the later one first.

    A function more than there are conditions is used elsewhere. Functions see only the elements that are theirs, so
    that a piece cannot spoil the gradient of another; inside `vmap` and `jit` they see all, unless a look at a few
    numbers shows that an element of the result depends on more than one of the argument.

    >>> import gradtape as gt
    >>> f = lambda x: gt.piecewise(x, [x < 0, x >= 0], [lambda x: -x, lambda x: x * x]).sum()
    >>> gt.grad(f)(gt.tensor([-1.0, 3.0]))
    Tensor([-1.,  6.])
    """
    x = as_value(x)
    several = isinstance(condlist, list | tuple) and len(condlist) > 0 and (x.ndim == 0 or np.ndim(condlist[0]) > 0)
    conditions = [as_value(c) for c in condlist] if several else _conditions(condlist, x)
    functions = list(funclist)
    if len(functions) == len(conditions) + 1:
        taken = conditions[0]
        for condition in conditions[1:]:
            taken = taken | condition
        conditions.append(np.logical_not(taken))
    if len(functions) != len(conditions):
        raise argument_error(
            ShapeError,
            f"piecewise: {len(functions)} functions for {len(conditions)} conditions.",
            "as many, or one more",
        )
    found: Any = np.zeros_like(x)
    for condition, function in zip(conditions, functions, strict=True):
        found = _piece(x, broadcast_to(condition.astype(bool), x.shape), function, found, args, kw)
    return found


def _conditions(condlist: Any, x: Array) -> list[Any]:
    """The conditions of an array of them, or the only one there is."""
    array = as_value(condlist)
    return [array[k] for k in range(array.shape[0])] if array.ndim > x.ndim else [array]


def _piece(x: Array, condition: Array, function: Any, found: Any, args: Any, kw: Any) -> Any:
    if not callable(function):
        return where(condition, np.asarray(function, x.dtype) if not isinstance(function, Tensor) else function, found)
    is_lifted = isinstance(condition, Lifted) or isinstance(x, Lifted)
    if is_lifted and is_elementwise(function, args, kw, x.dtype):
        return where(condition, function(x, *args, **kw), found)
    if is_lifted:
        return at(found)[condition].set(as_value(function(x[condition], *args, **kw)).astype(x.dtype))
    mask = plain(condition)
    return at(found)[mask].set(as_value(function(x[mask], *args, **kw)).astype(x.dtype)) if mask.any() else found


# -- functions of the user's


def _all_places(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return iter(np.ndindex(*shape))


@answers(np.apply_along_axis)
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: TensorLike, *args: Any, **kwargs: Any) -> Any:
    """`func1d` of every slice along `axis`; what it returns takes the place of that axis.

    The calls are made one after the other; `gt.vmap(func1d)` makes them at once.

    >>> import gradtape as gt
    >>> gt.apply_along_axis(lambda row: row.max() - row, 1, gt.tensor([[1.0, 2.0], [5.0, 3.0]]))
    Tensor([[1., 0.],
            [0., 2.]])
    """
    arr = as_value(arr)
    axis = one_axis(axis, arr.ndim)
    rows = moveaxis(arr, axis, -1)
    others = rows.shape[:-1]
    if 0 in others:
        raise argument_error(
            ShapeError, f"apply_along_axis: no slices in an array of shape {arr.shape}.", "an array with some"
        )
    results = [unshared(as_value(func1d(rows[place], *args, **kwargs))) for place in _all_places(others)]
    joined = stack(results)
    shape = joined.shape[1:]
    joined = reshape(joined, (*others, *shape))
    return moveaxis(joined, tuple(range(len(others), joined.ndim)), tuple(range(axis, axis + len(shape))))


@answers(np.apply_over_axes)
def apply_over_axes(func: Callable[[Any, int], Any], a: TensorLike, axes: Any) -> Any:
    """`func(a, axis)` for one axis after the other; an axis that it takes away is put back with length 1.

    >>> import gradtape as gt
    >>> gt.apply_over_axes(gt.sum, gt.tensor([[1.0, 2.0], [3.0, 4.0]]), [0, 1])
    Tensor([[10.]])
    """
    found = as_value(a)
    count = found.ndim
    for axis in [axes] if np.ndim(axes) == 0 else list(axes):
        place = one_axis(int(axis), count)
        result = as_value(func(found, place))
        found = result if result.ndim == count else expand_dims(result, place)
        if found.ndim != count:
            raise argument_error(
                ShapeError,
                f"apply_over_axes: the function returned {result.ndim} axes of {count}.",
                "it takes away one",
            )
    return found


class vectorize:
    """`function`, made for single numbers, as a function of arrays: called once for every element.

    `np.vectorize` turns its arguments into arrays of objects, where gradients end; this one keeps them. It is a loop:
    where the function does not branch on values, `gt.vmap` makes all the calls at once.

    >>> import gradtape as gt
    >>> from gradtape.ops.selection import vectorize
    >>> hinge = vectorize(lambda x, y: x - y if x > y else 0 * x)
    >>> gt.grad(lambda x: hinge(x, 1.0).sum())(gt.tensor([0.5, 3.0]))
    Tensor([0., 1.])
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__doc__ = function.__doc__ or type(self).__doc__

    def __call__(self, *arrays: Array, **keywords: Any) -> Any:
        values = broadcast_arrays(*arrays)
        shape = values[0].shape
        if 0 in shape:
            raise argument_error(ShapeError, f"vectorize: no elements in shape {shape}.", "arrays with some")
        calls = (self._function(*[v[place] for v in values], **keywords) for place in _all_places(shape))
        results = [unshared(as_value(result)) for result in calls]
        return reshape(stack(results), (*shape, *results[0].shape))


__all__ = [
    "apply_along_axis",
    "apply_over_axes",
    "choose",
    "compress",
    "extract",
    "piecewise",
    "select",
    "trim_zeros",
    "vectorize",
]
