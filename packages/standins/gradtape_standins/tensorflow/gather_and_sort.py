"""The names of TensorFlow that pick elements out of tensors, put them in, choose among them and sort them."""

from __future__ import annotations

import builtins
from collections import namedtuple
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import Lifted, concrete
from gradtape_standins.tensorflow import dtypes
from gradtape_standins.tensorflow.conversion import integers, lengths, tensors, value_of
from gradtape_standins.tensorflow.errors import explained, in_tensorflow_terms, invalid
from gradtape_standins.tensorflow.slices import note
from gradtape_standins.tensorflow.tensor import wrap

Unique = namedtuple("Unique", ["y", "idx"])
UniqueWithCounts = namedtuple("UniqueWithCounts", ["y", "idx", "count"])


def _positions(indices: Any, what: str) -> Any:
    found = np.asarray(concrete(value_of(indices)))
    if found.dtype.kind not in "iu" and found.size:
        raise invalid(f"{what}: indices are integers; these are {dtypes.as_dtype(found.dtype).name}")
    return found.astype(np.int64)


@in_tensorflow_terms
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Any:
    """The slices of `params` at `indices` along `axis`. The gradient of rows is given as `tf.IndexedSlices`.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.gather([10.0, 20.0, 30.0], [2, 0]).numpy()
    array([30., 10.], dtype=float32)
    """
    value, index = value_of(params), value_of(indices)
    axis = (batch_dims if axis is None else integers(axis)) % max(value.ndim, 1)
    if value.ndim and not batch_dims and is_traced_in_range(index, value.shape[axis]):
        return _gathered(params, indices, gt.take(value, index, axis), axis)
    places = _positions(indices, "gather")
    if places.size and value.ndim and (places.min() < 0 or places.max() >= value.shape[axis]):
        wrong = places[(places < 0) | (places >= value.shape[axis])].ravel()[0]
        raise invalid(f"gather: index {wrong} is not in [0, {value.shape[axis]}), the range of axis {axis}")
    if not batch_dims:
        return _gathered(params, indices, gt.take(value, places, axis), axis)
    batch_dims %= places.ndim + 1
    if value.shape[:batch_dims] != places.shape[:batch_dims]:
        raise invalid(
            f"gather: batch_dims={batch_dims}, but the shapes begin differently: {value.shape}, {places.shape}"
        )
    inner = places.ndim - batch_dims
    parts: list[Any] = []
    for place in np.arange(value.ndim):
        if place < batch_dims:
            parts.append(
                np.arange(value.shape[place]).reshape([-1 if p == place else 1 for p in np.arange(places.ndim)])
            )
        else:
            parts.append(places if place == axis else builtins.slice(None))
    moved = value[tuple(parts)]
    if axis > batch_dims:  # advanced indices that are apart put their axes first
        inner_axes = np.arange(batch_dims, batch_dims + inner).tolist()
        moved = gt.moveaxis(moved, inner_axes, [a + axis - batch_dims for a in inner_axes])
    return wrap(moved)


def is_traced_in_range(index: Any, size: int) -> bool:
    """Whether `index` is being traced by `gt.jit`, and in range: its values are then no constants of the program.

    That they are in range is a condition the program looks at; where they are not, the function runs as it is.
    """
    if not isinstance(index, Lifted) or index.dtype.kind not in "iu":
        return False
    return bool(gt.all(gt.logical_and(gt.greater_equal(index, 0), gt.less(index, size))))


def _gathered(params: Any, indices: Any, made: Any, axis: int) -> Any:
    """What was gathered; rows are noted on the tapes that record."""
    if axis == 0:
        note(params, indices, made)
    return wrap(made)


@in_tensorflow_terms
def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: str | None = None) -> Any:
    """The elements or slices of `params` at places that are given along the last axis of `indices`."""
    value, places = value_of(params), _positions(indices, "gather_nd")
    if not batch_dims:
        return wrap(value[tuple(np.moveaxis(places, -1, 0))])
    head = [
        np.arange(value.shape[b]).reshape([-1 if p == b else 1 for p in np.arange(places.ndim - 1)])
        for b in np.arange(batch_dims)
    ]
    return wrap(value[(*head, *np.moveaxis(places, -1, 0))])


def _place(indices: Any, what: str, shape: tuple[int, ...]) -> tuple[Any, ...]:
    places = np.moveaxis(_positions(indices, what), -1, 0)
    for axis, (part, length) in enumerate(zip(places, shape)):
        if part.size and (part.min() < 0 or part.max() >= length):
            raise invalid(f"{what}: an index is not in [0, {length}), the range of axis {axis}")
    return tuple(places)


@in_tensorflow_terms
def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """Zeros of `shape`, to which `updates` are added at `indices`."""
    new = value_of(updates)
    empty = np.zeros(lengths(shape), new.dtype)
    return wrap(gt.at(gt.Tensor(empty))[_place(indices, "scatter_nd", empty.shape)].add(new))


@in_tensorflow_terms
def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """`tensor` with `updates` at `indices`; gradients go to both.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.tensor_scatter_nd_update([1.0, 2.0, 3.0], [[1]], [9.0]).numpy()
    array([1., 9., 3.], dtype=float32)
    """
    old, new = tensors(tensor, updates, "tensor_scatter_nd_update")
    return wrap(gt.at(old)[_place(indices, "tensor_scatter_nd_update", old.shape)].set(new))


@in_tensorflow_terms
def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """`tensor` with `updates` added at `indices`."""
    old, new = tensors(tensor, updates, "tensor_scatter_nd_add")
    return wrap(gt.at(old)[_place(indices, "tensor_scatter_nd_add", old.shape)].add(new))


@in_tensorflow_terms
def tensor_scatter_nd_sub(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """`tensor` with `updates` subtracted at `indices`."""
    old, new = tensors(tensor, updates, "tensor_scatter_nd_sub")
    return wrap(gt.at(old)[_place(indices, "tensor_scatter_nd_sub", old.shape)].add(-new))


@in_tensorflow_terms
def tensor_scatter_nd_max(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """`tensor` with the greater of its elements and `updates` at `indices`."""
    old, new = tensors(tensor, updates, "tensor_scatter_nd_max")
    return wrap(gt.at(old)[_place(indices, "tensor_scatter_nd_max", old.shape)].max(new))


@in_tensorflow_terms
def tensor_scatter_nd_min(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """`tensor` with the lesser of its elements and `updates` at `indices`."""
    old, new = tensors(tensor, updates, "tensor_scatter_nd_min")
    return wrap(gt.at(old)[_place(indices, "tensor_scatter_nd_min", old.shape)].min(new))


@in_tensorflow_terms
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`x` where `condition` is true, else `y`; without them, the places where it is true."""
    chosen = value_of(condition)
    if x is None and y is None:
        return wrap(gt.Tensor(np.argwhere(concrete(chosen))))
    if x is None or y is None:
        raise ValueError(explained("tf.where: x and y must both be given, or neither"))
    if chosen.dtype.kind != "b":
        raise invalid(f"where: the condition is {dtypes.as_dtype(chosen.dtype).name}; booleans are wanted", "x > 0")
    one, other = tensors(x, y, "where")
    return wrap(gt.where(chosen, one, other))


@in_tensorflow_terms
def boolean_mask(tensor: Any, mask: Any, axis: int | None = None, name: str = "boolean_mask") -> Any:
    """The elements (or slices) where `mask` is true."""
    value, chosen = value_of(tensor), np.asarray(concrete(value_of(mask)))
    first = 0 if axis is None else integers(axis) % value.ndim
    if value.shape[first : first + chosen.ndim] != chosen.shape:
        raise ValueError(
            explained(f"boolean_mask: the mask of shape {chosen.shape} does not fit the shape {value.shape}")
        )
    return wrap(value[(*(builtins.slice(None),) * first, chosen)])


def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list[Any]:
    """The elements (or slices) of `data` in as many parts, by the number of the part that each belongs to."""
    numbers = np.asarray(concrete(value_of(partitions)))
    return [boolean_mask(data, numbers == number) for number in range(num_partitions)]


@in_tensorflow_terms
def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """Sorted along `axis`."""
    found = gt.sort(value_of(values), axis)
    return wrap(gt.flip(found, axis) if direction.upper() == "DESCENDING" else found)


@in_tensorflow_terms
def argsort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Any:
    """The places that would sort along `axis`."""
    array = np.asarray(concrete(value_of(values)))
    if direction.upper() == "DESCENDING":
        array = -array.astype(np.float64) if array.dtype.kind in "ub" else -array
    return wrap(gt.Tensor(np.argsort(array, axis, kind="stable").astype(np.int32)))


@in_tensorflow_terms
def searchsorted(
    sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = dtypes.int32, name: str | None = None
) -> Any:
    """Where `values` would have to be put in to keep the order."""
    found = gt.searchsorted(value_of(sorted_sequence), value_of(values), side=side)
    return wrap(gt.Tensor(np.asarray(_plain(found)).astype(dtypes.numpy_of(out_type))))


def _plain(value: Any) -> Any:
    """The array behind a gradtape tensor, or an array itself."""
    return concrete(value) if isinstance(value, gt.Tensor) else np.asarray(value)


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """The different elements in the order of their first appearance, and for each element which one it is."""
    y, idx, _ = _first_seen(x)
    return Unique(wrap(gt.Tensor(y)), wrap(gt.Tensor(idx.astype(dtypes.numpy_of(out_idx)))))


def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """As `unique`, with how often each appears."""
    y, *others = _first_seen(x)
    idx, count = (wrap(gt.Tensor(part.astype(dtypes.numpy_of(out_idx)))) for part in others)
    return UniqueWithCounts(wrap(gt.Tensor(y)), idx, count)


def _first_seen(x: Any) -> tuple[Any, Any, Any]:
    array = np.asarray(concrete(value_of(x)))
    values, first, inverse, counts = np.unique(array, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return values[order], place[inverse], counts[order]


@in_tensorflow_terms
def bitcast(input: Any, type: Any, name: str | None = None) -> Any:
    """The same bits as numbers of another kind; no gradient passes."""
    return wrap(gt.Tensor(np.array(concrete(value_of(input))).view(dtypes.numpy_of(type))))


@in_tensorflow_terms
def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Any:
    """The rows of several tensors, each at the place that `indices` gives it; of two, the later one."""
    places = [_positions(one, "dynamic_stitch") for one in indices]
    parts = [value_of(part) for part in data]
    rest = parts[0].shape[places[0].ndim :]
    flat = gt.concatenate([gt.reshape(part, (-1, *rest)) for part in parts], 0)
    order = np.concatenate([place.ravel() for place in places])
    last = np.zeros(order.max(initial=-1) + 1, np.int64)
    last[order] = np.arange(len(order))
    return wrap(gt.take(flat, last, 0))


@in_tensorflow_terms
def reverse_sequence(
    input: Any, seq_lengths: Any, seq_axis: int | None = None, batch_axis: int | None = None, name: str | None = None
) -> Any:
    """The first `seq_lengths` elements of each example in the other order."""
    value, along, over = value_of(input), seq_axis or 0, batch_axis or 0
    places = np.broadcast_to(np.arange(value.shape[along]), (value.shape[over], value.shape[along])).copy()
    for row, length in enumerate(lengths(seq_lengths)):
        places[row, :length] = np.arange(length)[::-1]
    shape = [value.shape[n] if n in (along, over) else 1 for n in builtins.range(value.ndim)]
    index = (places if over < along else places.T).reshape(shape)
    return wrap(gt.take_along_axis(value, np.broadcast_to(index, value.shape), along))


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Any:
    """For each place in the flat tensor, its place along each axis."""
    flat = _positions(indices, "unravel_index")
    return wrap(gt.Tensor(np.stack(np.unravel_index(flat, lengths(dims))).astype(np.int32)))


@in_tensorflow_terms
def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32, name: str | None = None
) -> Any:
    """How many values are in each of `nbins` parts of a range; those beyond it are in the first and last."""
    low, high = np.asarray(concrete(value_of(value_range)), np.float64)
    many = integers(nbins)
    array = np.asarray(concrete(value_of(values)), np.float64)
    place = np.clip(np.floor(many * (array - low) / (high - low)), 0, many - 1).astype(np.int64)
    return wrap(gt.Tensor(np.bincount(place.ravel(), minlength=many).astype(dtypes.numpy_of(dtype))))


__all__ = ["argsort", "boolean_mask", "dynamic_partition", "gather", "gather_nd", "scatter_nd", "searchsorted", "sort"]
__all__ += ["tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_sub"]
__all__ += ["tensor_scatter_nd_update", "unique", "unique_with_counts", "where"]
__all__ += ["bitcast", "dynamic_stitch", "histogram_fixed_width", "reverse_sequence", "unravel_index"]
