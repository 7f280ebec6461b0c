"""Elements put in, left out and laid out anew: `insert`, `delete`, `resize`, windows that slide."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view as numpy_windows

from gradtape.core.tensor import Tensor, plain
from gradtape.core.typing import Array, Axis, TensorLike
from gradtape.core.views import ViewFunction, lay_out, link_view
from gradtape.errors import IndexingError, MutationError, ShapeError
from gradtape.explain import messages
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import argument_error, as_shape, as_value, flat_or_axis, index_at_axis
from gradtape.ops.indexed_update import at
from gradtape.ops.indexing import getitem
from gradtape.ops.shaping import broadcast_to, moveaxis, ravel, reshape

Place = int | slice | Any


def _plain_places(obj: Any) -> Any:
    """Places as NumPy takes them: an integer, a slice, or an array."""
    if isinstance(obj, slice | int):
        return obj
    places = np.asarray(plain(obj))
    if places.dtype.kind == "f" and not places.size:
        return places.astype(int)
    if places.dtype.kind not in "iub":
        raise argument_error(
            IndexingError,
            f"places of dtype {places.dtype}.",
            "integers, booleans or a slice; x.astype(int) of whole numbers",
        )
    return places


@answers(np.delete)
def delete(arr: TensorLike, obj: Place, axis: int | None = None) -> Any:
    """`arr` without the slices along `axis` (elements of the flattened array by default) that `obj` names.

    >>> import gradtape as gt
    >>> gt.delete(gt.tensor([1.0, 2.0, 3.0]), 1)
    Tensor([1., 3.])
    """
    arr, axis = flat_or_axis(arr, axis)
    try:
        kept = np.delete(np.arange(arr.shape[axis]), _plain_places(obj))
    except (IndexError, ValueError) as error:
        raise argument_error(
            IndexingError if isinstance(error, IndexError) else ShapeError,
            f"delete: {error} (an array of shape {arr.shape}).",
            f"places below {arr.shape[axis]}",
        ) from None
    return getitem(arr, index_at_axis(axis, kept))


@answers(np.insert)
def insert(arr: TensorLike, obj: Place, values: Any, axis: int | None = None) -> Any:
    """`arr` with `values` put in before the places along `axis` that `obj` names; both keep their gradients.

    >>> import gradtape as gt
    >>> gt.insert(gt.tensor([1.0, 2.0]), 1, gt.tensor([8.0, 9.0]))
    Tensor([1., 8., 9., 2.])
    """
    arr, axis = flat_or_axis(arr, axis)
    values, obj = as_value(values), _plain_places(obj)
    values = values.astype(arr.dtype) if values.dtype != arr.dtype else values
    one_place = not isinstance(obj, slice) and np.ndim(obj) == 0
    single = one_place or (not isinstance(obj, slice) and np.size(obj) == 1 and np.asarray(obj).dtype.kind != "b")
    if single and values.ndim <= arr.ndim:  # any number of slices go in before one place
        values = reshape(values, (1,) * (arr.ndim - values.ndim) + values.shape)
        values = moveaxis(values, 0, axis) if one_place else values
        obj = np.full(values.shape[axis], int(np.asarray(obj).item()))
    length = arr.shape[axis]
    try:  # where each slice of the result comes from: -1 for a new one
        sources = np.insert(np.arange(length), obj, -1)
    except (IndexError, ValueError) as error:
        raise argument_error(
            IndexingError, f"insert: {error} (an array of shape {arr.shape}).", f"places from {-length} to {length}"
        ) from None
    new = np.flatnonzero(sources < 0)
    padded = at(np.zeros((*arr.shape[:axis], sources.size, *arr.shape[axis + 1 :]), arr.dtype))
    spread = padded[index_at_axis(axis, np.flatnonzero(sources >= 0))].set(arr)
    target = (*arr.shape[:axis], new.size, *arr.shape[axis + 1 :])
    filled = at(spread)[index_at_axis(axis, _in_given_order(obj, length, new))].set(broadcast_to(values, target))
    return lay_out(filled, "A", arr)


def _in_given_order(obj: Any, length: int, new: Any) -> Any:
    """The places of the new slices in the order in which they were given."""
    given = np.arange(length)[obj] if isinstance(obj, slice) else np.asarray(obj)
    if given.dtype.kind == "b" and new.size < given.size:  # a mask; to NumPy before 2.2 it is the places 0 and 1
        given = np.flatnonzero(given)
    given = np.where(given < 0, given + length, given)
    ordered = np.empty(new.size, int)
    ordered[np.argsort(given, kind="stable")] = new
    return ordered


@answers(np.resize)
def resize(a: TensorLike, new_shape: Any) -> Any:
    """The elements of `a` in order in another shape, repeated from the start as often as needed.

    >>> import gradtape as gt
    >>> gt.resize(gt.tensor([1.0, 2.0]), (2, 3))
    Tensor([[1., 2., 1.],
            [2., 1., 2.]])
    """
    flat, shape = ravel(as_value(a)), as_shape(new_shape)
    if any(n < 0 for n in shape):
        raise argument_error(ShapeError, f"resize: the shape {shape}.", "lengths of 0 or more")
    size = int(np.prod(shape))
    if not flat.size:
        return Tensor(np.zeros(shape, flat.dtype))
    return reshape(getitem(flat, np.arange(size) % flat.size), shape)


@answers(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    x: TensorLike, window_shape: Any, axis: Axis = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """Every window of a shape that fits into `x`, its axes last; an element gets the sum of its windows' gradients.

    What is written to `x` is seen in the windows. They overlap: what is written to them is written to a copy, and with
    `writeable=True`, where NumPy would write to `x`, it is an error.

    >>> import gradtape as gt
    >>> gt.sliding_window_view(gt.tensor([1.0, 2.0, 3.0, 4.0]), 2)
    Tensor([[1., 2.],
            [2., 3.],
            [3., 4.]])
    """
    x = as_value(x)
    places = np.arange(x.size).reshape(x.shape)
    try:
        windows = numpy_windows(places, window_shape, axis)
    except ValueError as error:
        raise argument_error(
            ShapeError,
            f"sliding_window_view: {error} (an array of shape {x.shape}).",
            "windows that fit into the array",
        ) from None
    return elements_view(x, windows, writeable)


def elements_view(x: Array, places: Any, writeable: bool) -> Any:
    """The elements of `x` at places of its flattened form, as a view: what is written to `x` later is seen there.

    If it is `writeable`, what is written there is written to `x`; that is refused if an element is there twice.
    Otherwise it is written to a copy.
    """
    taken = getitem(ravel(x), places)
    if isinstance(x, Tensor):
        link_view(taken, x, _writeable_elements if writeable else _elements, {"places": places})
    return taken


def _write_elements(base: Any, new: Any, places: Any) -> Any:
    if np.unique(places).size < np.size(places):
        raise messages.refused_argument(
            MutationError,
            "a write to a view in which elements of its array are several times.",
            "write to the array itself: the view sees it",
        )
    return reshape(at(ravel(base))[places].set(new), base.shape)


_elements = ViewFunction(lambda x, places: getitem(ravel(x), places))
_writeable_elements = ViewFunction(lambda x, places: getitem(ravel(x), places), _write_elements)

__all__ = ["delete", "insert", "resize", "sliding_window_view"]
