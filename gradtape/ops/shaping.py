"""Changes of shape, order and copies: linear operations, each with its transpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from gradtape.core.batch import spread
from gradtape.core.operation import Op, apply
from gradtape.core.rules import linear
from gradtape.core.shapes import unbroadcast
from gradtape.core.tensor import Tensor
from gradtape.protocols import answers


def as_value(x: Any) -> Any:
    """`x` as something with a shape: tensors as they are, the rest as arrays."""
    return x if isinstance(x, Tensor | np.ndarray) else np.asarray(x)


def _behind_batch(*names: str) -> Any:
    """A batching rule for operations whose keywords in `names` are non-negative axes (or tuples of them)."""

    def batch(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
        moved = dict(params)
        for name in names:
            axis = moved[name]
            moved[name] = axis + 1 if isinstance(axis, int) else tuple(a + 1 for a in axis)
        return apply(op, tuple(values), moved)

    return batch


# -- reshape, transpose

_reshape = linear(
    lambda x, shape: np.reshape(x, shape),
    lambda g, x: g.reshape(x.shape),
    name="reshape",
    batch=lambda op, flags, values, params: apply(op, tuple(values), {"shape": (values[0].shape[0], *params["shape"])}),
    view=True,
    samples=lambda draw: [
        ((draw(2, 3),), {"shape": (3, 2)}),
        ((draw(6),), {"shape": (1, 2, 3)}),
        ((draw(),), {"shape": (1, 1)}),
        ((draw(2, 0),), {"shape": (0, 5)}),
        ((draw(3, 4).T,), {"shape": (12,)}),
    ],
)


@answers(np.reshape)
def reshape(x: Any, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None) -> Any:
    """The same elements in another shape; one length may be -1. The gradient is shaped back.

    >>> import gradtape as gt
    >>> gt.reshape(gt.tensor([[1.0, 2.0], [3.0, 4.0]]), (4,))
    Tensor([1., 2., 3., 4.])
    """
    x = as_value(x)
    shape = newshape if shape is None else shape
    lengths = tuple(int(n) for n in (shape if isinstance(shape, list | tuple | np.ndarray) else (shape,)))
    if -1 in lengths:
        known = -int(np.prod(lengths))
        if lengths.count(-1) == 1 and known and x.size % known == 0:
            lengths = tuple(x.size // known if n == -1 else n for n in lengths)
    if order == "F":
        return transpose(_reshape(transpose(x), shape=lengths[::-1]))
    return _reshape(x, shape=lengths)


@answers(np.ravel)
def ravel(x: Any, order: str = "C") -> Any:
    """All elements along one axis.

    >>> import gradtape as gt
    >>> gt.ravel(gt.tensor([[1.0, 2.0]]))
    Tensor([1., 2.])
    """
    return reshape(x, (-1,), order=order)


_transpose = linear(
    lambda x, axes: np.transpose(x, axes),
    lambda g, axes: g.transpose(tuple(int(i) for i in np.argsort(axes))),
    name="transpose",
    batch=lambda op, flags, values, params: apply(
        op, tuple(values), {"axes": (0, *(axis + 1 for axis in params["axes"]))}
    ),
    view=True,
    samples=lambda draw: [
        ((draw(2, 3),), {"axes": (1, 0)}),
        ((draw(2, 3, 4),), {"axes": (1, 2, 0)}),
        ((draw(),), {"axes": ()}),
        ((draw(0, 2),), {"axes": (1, 0)}),
    ],
)


@answers(np.transpose, np.permute_dims)
def transpose(x: Any, axes: Any = None) -> Any:
    """The axes in another order (reversed by default).

    >>> import gradtape as gt
    >>> gt.transpose(gt.tensor([[1.0, 2.0, 3.0]])).shape
    (3, 1)
    """
    x = as_value(x)
    order = tuple(reversed(range(x.ndim))) if axes is None else normalize_axis_tuple(axes, x.ndim, "axes")
    return _transpose(x, axes=order)


@answers(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x: Any) -> Any:
    """The last two axes exchanged.

    >>> import gradtape as gt
    >>> gt.matrix_transpose(gt.tensor([[[1.0, 2.0]]])).shape
    (1, 2, 1)
    """
    return swapaxes(x, -1, -2)


@answers(np.swapaxes)
def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged.

    >>> import gradtape as gt
    >>> gt.swapaxes(gt.tensor([[1.0, 2.0]]), 0, 1).shape
    (2, 1)
    """
    x = as_value(x)
    order = list(range(x.ndim))
    first, second = normalize_axis_index(axis1, x.ndim), normalize_axis_index(axis2, x.ndim)
    order[first], order[second] = order[second], order[first]
    return _transpose(x, axes=tuple(order))


@answers(np.moveaxis)
def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    """Axes moved to new positions, the others in their order.

    >>> import gradtape as gt
    >>> gt.moveaxis(gt.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = as_value(x)
    sources = normalize_axis_tuple(source, x.ndim, "source")
    places = normalize_axis_tuple(destination, x.ndim, "destination")
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return _transpose(x, axes=tuple(order))


@answers(np.expand_dims)
def expand_dims(x: Any, axis: Any) -> Any:
    """New axes of length 1 at the positions `axis` of the result.

    >>> import gradtape as gt
    >>> gt.expand_dims(gt.tensor([1.0, 2.0]), 0).shape
    (1, 2)
    """
    x = as_value(x)
    axes = (axis,) if isinstance(axis, int | np.integer) else tuple(axis)
    places = normalize_axis_tuple(axes, x.ndim + len(axes))
    lengths = iter(x.shape)
    return _reshape(x, shape=tuple(1 if i in places else next(lengths) for i in range(x.ndim + len(axes))))


@answers(np.squeeze)
def squeeze(x: Any, axis: Any = None) -> Any:
    """Without axes of length 1 (all of them, or those in `axis`).

    >>> import gradtape as gt
    >>> gt.squeeze(gt.tensor([[1.0, 2.0]])).shape
    (2,)
    """
    x = as_value(x)
    if axis is None:
        return _reshape(x, shape=tuple(n for n in x.shape if n != 1))
    axes = normalize_axis_tuple(axis, x.ndim)
    for a in axes:
        if x.shape[a] != 1:
            from gradtape.errors import ShapeError

            raise ShapeError(f"squeeze: axis {a} of an array of shape {x.shape} has length {x.shape[a]}, not 1")
    return _reshape(x, shape=tuple(n for i, n in enumerate(x.shape) if i not in axes))


@answers(np.atleast_1d)
def atleast_1d(*arrays: Any) -> Any:
    """Scalars as arrays of shape (1,).

    >>> import gradtape as gt
    >>> gt.atleast_1d(gt.tensor(2.0))
    Tensor([2.])
    """
    results = tuple(x if x.ndim else _reshape(x, shape=(1,)) for x in map(as_value, arrays))
    return results[0] if len(results) == 1 else results


@answers(np.atleast_2d)
def atleast_2d(*arrays: Any) -> Any:
    """At least two axes; new ones come first.

    >>> import gradtape as gt
    >>> gt.atleast_2d(gt.tensor([1.0, 2.0])).shape
    (1, 2)
    """
    values = [as_value(x) for x in arrays]
    results = tuple(x if x.ndim > 1 else _reshape(x, shape=(1, x.size)) for x in values)
    return results[0] if len(results) == 1 else results


# -- broadcasting


def stretch(x: Any, shape: tuple[int, ...]) -> Any:
    """`x` repeated to `shape`: a small array is filled, a large one is a view."""
    if isinstance(x, np.ndarray | np.generic) and np.prod(shape) <= 4096:
        filled = np.empty(shape, x.dtype)
        filled[...] = x
        return filled
    return np.broadcast_to(x, shape)


def _batch_broadcast(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    (value,), shape = values, params["shape"]
    missing = len(shape) - (len(value.shape) - 1)
    value = value.reshape((value.shape[0],) + (1,) * missing + value.shape[1:])
    return apply(op, (value,), {"shape": (value.shape[0], *shape)})


_broadcast_to = linear(
    lambda x, shape: stretch(x, shape),
    lambda g, x: unbroadcast(g, x.shape),
    name="broadcast_to",
    batch=_batch_broadcast,
    samples=lambda draw: [
        ((draw(3),), {"shape": (2, 3)}),
        ((draw(2, 1),), {"shape": (2, 3)}),
        ((draw(),), {"shape": (2, 2)}),
        ((draw(1),), {"shape": (0,)}),
        ((draw(1, 3),), {"shape": (4, 2, 3)}),
    ],
)


@answers(np.broadcast_to)
def broadcast_to(x: Any, shape: Any, subok: bool = False) -> Any:
    """`x` stretched to `shape`; the gradient is summed back.

    >>> import gradtape as gt
    >>> gt.broadcast_to(gt.tensor([1.0, 2.0]), (2, 2))
    Tensor([[1., 2.],
            [1., 2.]])
    """
    x = as_value(x)
    lengths = (int(shape),) if isinstance(shape, int | np.integer) else tuple(int(n) for n in shape)
    return x if x.shape == lengths else _broadcast_to(x, shape=lengths)


@answers(np.broadcast_arrays)
def broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    """All arrays stretched to their common shape.

    >>> import gradtape as gt
    >>> [x.shape for x in gt.broadcast_arrays(gt.tensor([1.0, 2.0]), gt.tensor(3.0))]
    [(2,), (2,)]
    """
    values = [as_value(x) for x in arrays]
    shape = np.broadcast_shapes(*(x.shape for x in values))
    return tuple(broadcast_to(x, shape) for x in values)


# -- joining


def _batch_joining(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    size = next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag)
    spreads = tuple(v if flag else spread(v, size) for v, flag in zip(values, flags, strict=True))
    return apply(op, spreads, {"axis": params["axis"] + 1})


def _split_cotangent(g: Any, inputs: Any, axis: int) -> list[Any]:
    parts, start = [], 0
    before = (slice(None),) * axis
    for spec in inputs:
        stop = start + spec.shape[axis]
        parts.append(g[(*before, slice(start, stop))])
        start = stop
    return parts


_concatenate = linear(
    lambda *arrays, axis: np.concatenate(arrays, axis),
    _split_cotangent,
    name="concatenate",
    variadic=True,
    batch=_batch_joining,
    samples=lambda draw: [
        ((draw(2, 3), draw(2, 1)), {"axis": 1}),
        ((draw(2), draw(0), draw(3)), {"axis": 0}),
        ((draw(1, 2),), {"axis": 0}),
    ],
)


@answers(np.concatenate, np.concat)
def concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Any:
    """Arrays joined along an axis they have.

    >>> import gradtape as gt
    >>> gt.concatenate([gt.tensor([1.0]), gt.tensor([2.0, 3.0])])
    Tensor([1., 2., 3.])
    """
    values = [as_value(x) for x in arrays]
    if axis is None:
        values, axis = [reshape(x, (-1,)) for x in values], 0
    joined = _concatenate(*values, axis=normalize_axis_index(axis, values[0].ndim) if values else axis)
    return joined if dtype is None else joined.astype(dtype)


def _unstack_cotangent(g: Any, inputs: Any, axis: int) -> list[Any]:
    before = (slice(None),) * axis
    return [g[(*before, i)] for i in range(len(inputs))]


_stack = linear(
    lambda *arrays, axis: np.stack(arrays, axis),
    _unstack_cotangent,
    name="stack",
    variadic=True,
    batch=_batch_joining,
    samples=lambda draw: [
        ((draw(2, 3), draw(2, 3)), {"axis": 1}),
        ((draw(), draw(), draw()), {"axis": 0}),
        ((draw(0),), {"axis": 1}),
    ],
)


@answers(np.stack)
def stack(arrays: Any, axis: int = 0, dtype: Any = None) -> Any:
    """Arrays of one shape joined along a new axis.

    >>> import gradtape as gt
    >>> gt.stack([gt.tensor(1.0), gt.tensor(2.0)])
    Tensor([1., 2.])
    """
    values = [as_value(x) for x in arrays]
    stacked = _stack(*values, axis=normalize_axis_index(axis, values[0].ndim + 1) if values else axis)
    return stacked if dtype is None else stacked.astype(dtype)


@answers(np.vstack)
def vstack(arrays: Any) -> Any:
    """Arrays joined as rows.

    >>> import gradtape as gt
    >>> gt.vstack([gt.tensor([1.0, 2.0]), [3.0, 4.0]]).shape
    (2, 2)
    """
    return concatenate([atleast_2d(x) for x in arrays], 0)


@answers(np.hstack)
def hstack(arrays: Any) -> Any:
    """Arrays joined along the second axis (the first for vectors).

    >>> import gradtape as gt
    >>> gt.hstack([gt.tensor([1.0]), [2.0]])
    Tensor([1., 2.])
    """
    values = [atleast_1d(x) for x in arrays]
    return concatenate(values, 0 if values and values[0].ndim == 1 else 1)


@answers(np.column_stack)
def column_stack(arrays: Any) -> Any:
    """Vectors joined as columns.

    >>> import gradtape as gt
    >>> gt.column_stack([gt.tensor([1.0, 2.0]), [3.0, 4.0]]).shape
    (2, 2)
    """
    values = [as_value(x) for x in arrays]
    return concatenate([x if x.ndim > 1 else reshape(x, (-1, 1)) for x in values], 1)


@answers(np.append)
def append(x: Any, values: Any, axis: int | None = None) -> Any:
    """`values` joined to the end of `x`.

    >>> import gradtape as gt
    >>> gt.append(gt.tensor([1.0]), 2.0)
    Tensor([1., 2.])
    """
    return concatenate([x, values], axis) if axis is not None else concatenate([ravel(x), ravel(values)])


# -- splitting


@answers(np.array_split)
def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Pieces of `x` along an axis: a number of nearly equal ones, or the places to cut at.

    >>> import gradtape as gt
    >>> gt.array_split(gt.tensor([1.0, 2.0, 3.0]), 2)
    [Tensor([1., 2.]), Tensor([3.])]
    """
    x = as_value(x)
    axis = normalize_axis_index(axis, x.ndim)
    pieces = np.array_split(np.arange(x.shape[axis]), indices_or_sections)
    before = (slice(None),) * axis
    return [x[(*before, slice(int(p[0]), int(p[-1]) + 1) if p.size else slice(0, 0))] for p in pieces]


@answers(np.split)
def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Equal pieces of `x` along an axis, or cut at the given places.

    >>> import gradtape as gt
    >>> gt.split(gt.tensor([1.0, 2.0]), 2)
    [Tensor([1.]), Tensor([2.])]
    """
    x = as_value(x)
    if isinstance(indices_or_sections, int | np.integer) and x.shape[axis] % indices_or_sections:
        from gradtape.errors import ShapeError

        raise ShapeError(
            f"split: axis {axis} of an array of shape {x.shape} cannot be cut into {indices_or_sections} equal pieces.\n"
            f"  fix: gt.array_split allows unequal ones"
        )
    return array_split(x, indices_or_sections, axis)


@answers(np.unstack)
def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    """The slices of `x` along an axis.

    >>> import gradtape as gt
    >>> gt.unstack(gt.tensor([1.0, 2.0]))
    (Tensor(1.), Tensor(2.))
    """
    return tuple(moveaxis(x, axis, 0))


# -- copies and turns

_flip = linear(
    lambda x, axis: np.flip(x, axis),
    lambda g, axis: _flip(g, axis=axis),
    name="flip",
    batch=_behind_batch("axis"),
    view=True,
    samples=lambda draw: [
        ((draw(2, 3),), {"axis": (0,)}),
        ((draw(2, 3),), {"axis": (0, 1)}),
        ((draw(0),), {"axis": (0,)}),
    ],
)


@answers(np.flip)
def flip(x: Any, axis: Any = None) -> Any:
    """The elements in reverse order along `axis` (all axes by default).

    >>> import gradtape as gt
    >>> gt.flip(gt.tensor([1.0, 2.0]))
    Tensor([2., 1.])
    """
    x = as_value(x)
    return _flip(x, axis=tuple(range(x.ndim)) if axis is None else normalize_axis_tuple(axis, x.ndim))


_roll = linear(
    lambda x, shift, axis: np.roll(x, shift, axis),
    lambda g, shift, axis: _roll(g, shift=tuple(-s for s in shift), axis=axis),
    name="roll",
    batch=_behind_batch("axis"),
    samples=lambda draw: [
        ((draw(5),), {"shift": (2,), "axis": (0,)}),
        ((draw(2, 3),), {"shift": (1, -1), "axis": (0, 1)}),
    ],
)


@answers(np.roll)
def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """The elements shifted along `axis`, those that fall off the end coming in at the front.

    >>> import gradtape as gt
    >>> gt.roll(gt.tensor([1.0, 2.0, 3.0]), 1)
    Tensor([3., 1., 2.])
    """
    x = as_value(x)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes = normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    shifts = tuple(int(s) for s in np.broadcast_to(shift, (max(len(axes), np.size(shift)),)))
    return _roll(x, shift=shifts, axis=axes * (len(shifts) if len(axes) == 1 else 1))


@answers(np.repeat)
def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element (or slice along `axis`) repeated.

    >>> import gradtape as gt
    >>> gt.repeat(gt.tensor([1.0, 2.0]), 2)
    Tensor([1., 1., 2., 2.])
    """
    x = as_value(x)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normalize_axis_index(axis, x.ndim)
    places = np.repeat(np.arange(x.shape[axis]), repeats)
    return x[(*(slice(None),) * axis, places)]


@answers(np.tile)
def tile(x: Any, reps: Any) -> Any:
    """The whole of `x` repeated along each axis.

    >>> import gradtape as gt
    >>> gt.tile(gt.tensor([1.0, 2.0]), 2)
    Tensor([1., 2., 1., 2.])
    """
    x = as_value(x)
    counts = (int(reps),) if isinstance(reps, int | np.integer) else tuple(int(r) for r in reps)
    counts = (1,) * (x.ndim - len(counts)) + counts
    shape = (1,) * (len(counts) - x.ndim) + x.shape
    paired = [n for length in shape for n in (1, length)]
    stretched = [n for count, length in zip(counts, shape, strict=True) for n in (count, length)]
    flat = [count * length for count, length in zip(counts, shape, strict=True)]
    return reshape(broadcast_to(reshape(x, paired), stretched), flat)


# -- what NumPy asks about shapes


@answers(np.shape)
def shape(x: Any) -> tuple[int, ...]:
    """The shape of `x`.

    >>> import gradtape as gt
    >>> gt.shape(gt.tensor([1.0, 2.0]))
    (2,)
    """
    lengths: tuple[int, ...] = as_value(x).shape
    return lengths


@answers(np.ndim)
def ndim(x: Any) -> int:
    """The number of axes of `x`.

    >>> import gradtape as gt
    >>> gt.ndim(gt.tensor([1.0, 2.0]))
    1
    """
    return len(shape(x))


@answers(np.size)
def size(x: Any, axis: Any = None) -> int:
    """The number of elements of `x`, or its length along `axis`.

    >>> import gradtape as gt
    >>> gt.size(gt.tensor([1.0, 2.0]))
    2
    """
    lengths = shape(x)
    return int(np.prod(lengths)) if axis is None else lengths[axis]
