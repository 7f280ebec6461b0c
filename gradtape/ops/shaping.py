"""The same elements in another shape, order of axes, or stretched: linear operations, each with its transpose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Lifted, Op, apply
from gradtape.core.rules import linear
from gradtape.core.shapes import unbroadcast
from gradtape.core.tensor import Tensor, plain
from gradtape.core.typing import Array, Axis, ShapeLike, TensorLike
from gradtape.core.views import ViewFunction, link_view
from gradtape.errors import MutationError, OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import argument_error, as_shape, as_value, axes_tuple, one_axis, stretch
from gradtape.ops.conversion import identity, imag, real

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_to",
    "expand",
    "expand_dims",
    "matrix_transpose",
    "meshgrid",
    "moveaxis",
    "ndim",
    "permute_dims",
    "ravel",
    "reshape",
    "rollaxis",
    "shape",
    "size",
    "squeeze",
    "swapaxes",
    "transpose",
]

# -- reshape

_reshape = linear(
    lambda x, shape: np.reshape(x, shape),
    lambda g, x: g.reshape(x.shape),
    name="reshape",
    moves_elements=True,
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
_reshape.write_back = lambda base, new, shape: _reshape(new, shape=base.shape)


@answers(np.reshape)
def reshape(x: Any, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None) -> Any:
    """The same elements in another shape; one length may be -1. The gradient is shaped back.

    >>> import gradtape as gt
    >>> gt.reshape(gt.tensor([[1.0, 2.0], [3.0, 4.0]]), (4,))
    Tensor([1., 2., 3., 4.])
    """
    x = as_value(x)
    wanted = as_shape(newshape if shape is None else shape)
    if wanted.count(-1) == 1:
        known = -math.prod(wanted)
        if known and x.size % known == 0:
            wanted = tuple([x.size // known if n == -1 else n for n in wanted])
    if order != "C":
        order = _order(x, order, "CFA")
    if copy is not None:
        x = _copied(x, wanted, order, copy)
    if order == "C":
        if len(wanted) == len(x.shape) > 1 and wanted != x.shape and sorted(wanted) == sorted(x.shape):
            from gradtape.explain.detectors.reshape_for_transpose import check_reshape

            check_reshape(x.shape, wanted)
        return _reshape(x, shape=wanted)
    return transpose(_reshape(transpose(x), shape=wanted[::-1]))


def _order(x: Array, order: str, known: str) -> str:
    """An order of elements in one of the letters C, F and K: "A" depends on the memory of the array."""
    letter = str(order).upper()
    if letter not in tuple(known):
        raise argument_error(OperandError, f"order={order!r}.", ", ".join(map(repr, known)))
    if letter in "CF":
        return letter
    if isinstance(x, Lifted):
        raise argument_error(
            OperandError, f"order={order!r} inside vmap, where an example has no memory.", "'C' or 'F'"
        )
    if letter == "A":
        return "F" if plain(x).flags.fnc else "C"
    return letter


def _copied(x: Array, shape: tuple[int, ...], order: str, copy: bool) -> Any:
    """A copy of `x`; without `copy`, `x` itself, if it can be looked at in that shape."""
    if copy:
        return identity(x)
    if not isinstance(x, Lifted):
        try:
            np.reshape(plain(x), shape, "F" if order == "F" else "C", copy=False)
        except ValueError:
            raise argument_error(
                ShapeError, f"reshape: {x.shape} to {shape} with copy=False, which takes a copy.", "copy=None"
            ) from None
    return x


@answers(np.ravel)
def ravel(x: TensorLike, order: str = "C") -> Any:
    """All elements along one axis.

    `order` says in which order they are read: "C", "F", or with "A" and "K" as they are in memory.

    >>> import gradtape as gt
    >>> gt.ravel(gt.tensor([[1.0, 2.0]]))
    Tensor([1., 2.])
    """
    x = as_value(x)
    if order == "C":
        return _reshape(x if _is_contiguous(x) else identity(x), shape=(x.size,))
    order = _order(x, order, "CFAK")
    if order == "K":
        steps = np.abs(plain(x).strides)
        return reshape(transpose(x, sorted(range(x.ndim), key=lambda axis: -steps[axis])), (-1,))
    return reshape(x, (-1,), order=order)


def _is_contiguous(x: Any) -> bool:
    """Whether the elements lie in memory one after the other: if not, NumPy's `ravel` gives a copy and not a view."""
    memory = x._memory() if isinstance(x, Tensor) else x
    if memory.ndim > x.ndim and memory.size:  # of a batch, one example
        memory = memory[(0,) * (memory.ndim - x.ndim)]
    return bool(memory.flags.c_contiguous)


@answers(np.expand_dims)
def expand_dims(x: TensorLike, axis: Axis) -> Any:
    """New axes of length 1 at the positions `axis` of the result.

    >>> import gradtape as gt
    >>> gt.expand_dims(gt.tensor([1.0, 2.0]), 0).shape
    (1, 2)
    """
    x = as_value(x)
    ndim = x.ndim + (len(axis) if isinstance(axis, (list, tuple)) else 1)
    places = axes_tuple(axis, ndim)
    remaining = iter(x.shape)
    return _reshape(x, shape=tuple([1 if i in places else next(remaining) for i in range(ndim)]))


@answers(np.squeeze)
def squeeze(x: TensorLike, axis: Axis = None) -> Any:
    """Without axes of length 1 (all of them, or those in `axis`).

    >>> import gradtape as gt
    >>> gt.squeeze(gt.tensor([[1.0, 2.0]])).shape
    (2,)
    """
    x = as_value(x)
    if axis is None:
        return _reshape(x, shape=tuple([n for n in x.shape if n != 1]))
    axes = axes_tuple(axis, x.ndim)
    for a in axes:
        if x.shape[a] != 1:
            raise argument_error(
                ShapeError,
                f"squeeze: axis {a} of an array of shape {x.shape} has length {x.shape[a]}, not 1.",
                "name axes of length 1, or reduce the axis (x.sum(axis), x[0])",
            )
    return _reshape(x, shape=tuple([n for i, n in enumerate(x.shape) if i not in axes]))


def _each(arrays: Sequence[Any], change: Any) -> Any:
    """`change` of each array; of one array, not in a tuple."""
    results = tuple([change(as_value(x)) for x in arrays])
    return results[0] if len(results) == 1 else results


@answers(np.atleast_1d)
def atleast_1d(*arrays: TensorLike) -> Any:
    """Scalars as arrays of shape (1,).

    >>> import gradtape as gt
    >>> gt.atleast_1d(gt.tensor(2.0))
    Tensor([2.])
    """
    return _each(arrays, lambda x: x if x.ndim else _reshape(x, shape=(1,)))


@answers(np.atleast_2d)
def atleast_2d(*arrays: TensorLike) -> Any:
    """At least two axes; new ones come first.

    >>> import gradtape as gt
    >>> gt.atleast_2d(gt.tensor([1.0, 2.0])).shape
    (1, 2)
    """
    return _each(arrays, lambda x: x if x.ndim > 1 else _reshape(x, shape=(1, x.size)))


@answers(np.atleast_3d)
def atleast_3d(*arrays: TensorLike) -> Any:
    """At least three axes: a vector in the middle, a matrix in front.

    >>> import gradtape as gt
    >>> gt.atleast_3d(gt.tensor([1.0, 2.0])).shape
    (1, 2, 1)
    """

    def change(x: Array) -> Any:
        if x.ndim > 2:
            return x
        return _reshape(x, shape=(*x.shape, 1) if x.ndim == 2 else (1, x.size, 1))

    return _each(arrays, change)


# -- the order of axes

_transpose = linear(
    lambda x, axes: np.transpose(x, axes),
    lambda g, axes: g.transpose(tuple([int(i) for i in np.argsort(axes)])),
    name="transpose",
    moves_elements=True,
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
_transpose.write_back = lambda base, new, axes: _transpose(new, axes=tuple([int(i) for i in np.argsort(axes)]))


@answers(np.transpose, np.permute_dims)
def transpose(x: TensorLike, axes: Any = None) -> Any:
    """The axes in another order (reversed by default).

    >>> import gradtape as gt
    >>> gt.transpose(gt.tensor([[1.0, 2.0, 3.0]])).shape
    (3, 1)
    """
    x = as_value(x)
    order = tuple(range(x.ndim - 1, -1, -1)) if axes is None else axes_tuple(axes, x.ndim)
    return _transpose(x, axes=order)


@answers(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x: TensorLike) -> Any:
    """The last two axes exchanged.

    >>> import gradtape as gt
    >>> gt.matrix_transpose(gt.tensor([[[1.0, 2.0]]])).shape
    (1, 2, 1)
    """
    return swapaxes(x, -1, -2)


@answers(np.swapaxes)
def swapaxes(x: TensorLike, axis1: int, axis2: int) -> Any:
    """Two axes exchanged.

    >>> import gradtape as gt
    >>> gt.swapaxes(gt.tensor([[1.0, 2.0]]), 0, 1).shape
    (2, 1)
    """
    x = as_value(x)
    order = list(range(x.ndim))
    first, second = one_axis(axis1, x.ndim), one_axis(axis2, x.ndim)
    order[first], order[second] = second, first
    return _transpose(x, axes=tuple(order))


@answers(np.moveaxis)
def moveaxis(x: TensorLike, source: Any, destination: Any) -> Any:
    """Axes moved to new positions, the others in their order.

    >>> import gradtape as gt
    >>> gt.moveaxis(gt.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = as_value(x)
    sources, places = axes_tuple(source, x.ndim), axes_tuple(destination, x.ndim)
    if len(sources) != len(places):
        raise argument_error(
            ShapeError,
            f"moveaxis: {len(sources)} axes {source} are to go to {len(places)} places {destination}.",
            "as many destinations as sources",
        )
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return _transpose(x, axes=tuple(order))


@answers(np.rollaxis)
def rollaxis(x: TensorLike, axis: int, start: int = 0) -> Any:
    """One axis moved back until it is before what was the axis `start`.

    >>> import gradtape as gt
    >>> gt.rollaxis(gt.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    x = as_value(x)
    axis, start = one_axis(axis, x.ndim), one_axis(start, x.ndim if start < 0 else x.ndim + 1)
    return moveaxis(x, axis, start - 1 if start > axis else start)


# -- stretching


def _batch_broadcast(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    (value,), shape = values, params["shape"]
    missing = len(shape) - (len(value.shape) - 1)
    value = value.reshape((value.shape[0],) + (1,) * missing + value.shape[1:])
    return apply(op, (value,), {"shape": (value.shape[0], *shape)})


_broadcast_to = linear(
    lambda x, shape: stretch(x, shape),
    lambda g, x: unbroadcast(g, x.shape),
    name="broadcast_to",
    moves_elements=True,
    batch=_batch_broadcast,
    samples=lambda draw: [
        ((draw(3),), {"shape": (2, 3)}),
        ((draw(2, 1),), {"shape": (2, 3)}),
        ((draw(),), {"shape": (2, 2)}),
        ((draw(1),), {"shape": (0,)}),
        ((draw(1, 3),), {"shape": (4, 2, 3)}),
    ],
)


def broadcast_to(x: TensorLike, shape: ShapeLike, subok: bool = False) -> Any:
    """`x` stretched to `shape`, as a copy; the gradient is summed back.

    >>> import gradtape as gt
    >>> gt.broadcast_to(gt.tensor([1.0, 2.0]), (2, 2))
    Tensor([[1., 2.],
            [1., 2.]])
    """
    x, wanted = as_value(x), as_shape(shape)
    return x if x.shape == wanted else _broadcast_to(x, shape=wanted)


def _refuse_write(base: Any, new: Any, shape: Any) -> Any:
    raise argument_error(
        MutationError,
        "a write to a stretched array, in which elements of its array are several times.",
        "a write to the array itself, which the stretched one sees; or to x.copy()",
    )


_stretched = ViewFunction(lambda x, shape: _broadcast_to(x, shape=shape))
_writeable_in_numpy = ViewFunction(lambda x, shape: _broadcast_to(x, shape=shape), _refuse_write)


@answers(np.broadcast_to)
def broadcast_view(x: TensorLike, shape: ShapeLike, subok: bool = False) -> Any:
    """`broadcast_to` as NumPy has it: what is written to `x` later is seen in the result."""
    return _stretch_view(x, shape, _stretched)


def _stretch_view(x: TensorLike, shape: ShapeLike, kind: ViewFunction) -> Any:
    x = as_value(x)
    result = broadcast_to(x, shape)
    if result is not x and isinstance(x, Tensor):
        link_view(result, x, kind, {"shape": result.shape})
    return result


def _pairs(x: Any) -> Any:
    """Complex numbers as their real and imaginary parts, side by side along the last axis."""
    parts = expand_dims(real(x), -1), expand_dims(imag(x), -1)
    return reshape(np.concatenate(parts, axis=-1), (*x.shape[:-1], 2 * x.shape[-1]))


def _from_pairs(x: Any) -> Any:
    """Complex numbers of pairs along the last axis."""
    pairs = reshape(x, (*x.shape[:-1], x.shape[-1] // 2, 2))
    return pairs[..., 0] + x.dtype.type(1) * 1j * pairs[..., 1]


_as_pairs = ViewFunction(_pairs, lambda base, new: _from_pairs(new))
_as_complex = ViewFunction(_from_pairs, lambda base, new: _pairs(new))


def view_as(x: Any, dtype: Any) -> Any:
    """The numbers of `x` as pairs of real numbers or as complex ones, in its memory; None for any other dtype.

    >>> import gradtape as gt
    >>> view_as(gt.tensor([1.0 + 2.0j]), float)
    Tensor([1., 2.])
    """
    wanted, given = np.dtype(dtype), x.dtype
    if wanted == given:
        return reshape(x, x.shape)
    if x.ndim == 0 or {wanted.kind, given.kind} != {"c", "f"}:
        return None
    if given.kind == "c" and wanted.itemsize * 2 == given.itemsize:
        step = _as_pairs
    elif given.kind == "f" and wanted.itemsize == given.itemsize * 2 and x.shape[-1] % 2 == 0:
        step = _as_complex
    else:
        return None
    result = step(x)
    link_view(result, x, step, {})
    return result


def expand(x: TensorLike, shape: ShapeLike) -> Any:
    """`x` stretched to `shape`, in which -1 keeps a length as it is.

    >>> import gradtape as gt
    >>> gt.expand(gt.tensor([[1.0], [2.0]]), (-1, 3)).shape
    (2, 3)
    """
    x, wanted = as_value(x), as_shape(shape)
    known = (1,) * (len(wanted) - x.ndim) + x.shape
    if len(known) != len(wanted):
        raise argument_error(ShapeError, f"expand: {wanted} has fewer axes than shape {x.shape}.", "x.reshape before")
    return broadcast_to(x, tuple(has if n == -1 else n for n, has in zip(wanted, known, strict=True)))


@answers(np.broadcast_arrays)
def broadcast_arrays(*arrays: TensorLike, subok: bool = False) -> Any:
    """All arrays stretched to their common shape.

    >>> import gradtape as gt
    >>> [x.shape for x in gt.broadcast_arrays(gt.tensor([1.0, 2.0]), gt.tensor(3.0))]
    [(2,), (2,)]
    """
    values = [as_value(x) for x in arrays]
    try:
        shape = np.broadcast_shapes(*(x.shape for x in values))
    except ValueError:
        shapes = ", ".join(str(x.shape) for x in values)
        raise argument_error(
            ShapeError, f"broadcast_arrays: {shapes} have no common shape.", "axes of equal length, or of length 1"
        ) from None
    return tuple([_stretch_view(x, shape, _writeable_in_numpy) for x in values])


@answers(np.meshgrid)
def meshgrid(*vectors: TensorLike, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Any]:
    """The coordinates of a grid with the given ones along its axes, as `np.meshgrid`.

    >>> import gradtape as gt
    >>> [x.shape for x in gt.meshgrid(gt.tensor([1.0, 2.0]), gt.tensor([1.0, 2.0, 3.0]))]
    [(3, 2), (3, 2)]
    """
    if indexing not in ("xy", "ij"):
        raise argument_error(OperandError, f"meshgrid: indexing={indexing!r}.", "indexing='xy' or 'ij'")
    values = [ravel(x) for x in vectors]
    places = list(range(len(values)))
    if indexing == "xy" and len(values) > 1:
        places[:2] = [1, 0]
    shapes = [tuple([-1 if axis == place else 1 for axis in range(len(values))]) for place in places]
    grid = [reshape(x, shape) for x, shape in zip(values, shapes, strict=True)]
    if not grid or not copy:
        return grid if sparse else list(broadcast_arrays(*grid))
    whole = () if sparse else np.broadcast_shapes(*(x.shape for x in grid))
    return [identity(x) if sparse or x.shape == whole else broadcast_to(x, whole) for x in grid]


# -- what NumPy asks about shapes


@answers(np.shape)
def shape(x: TensorLike) -> tuple[int, ...]:
    """The shape of `x`.

    >>> import gradtape as gt
    >>> gt.shape(gt.tensor([1.0, 2.0]))
    (2,)
    """
    found: tuple[int, ...] = as_value(x).shape
    return found


@answers(np.ndim)
def ndim(x: TensorLike) -> int:
    """The number of axes of `x`.

    >>> import gradtape as gt
    >>> gt.ndim(gt.tensor([1.0, 2.0]))
    1
    """
    return len(shape(x))


@answers(np.size)
def size(x: TensorLike, axis: Axis = None) -> int:
    """The number of elements of `x`, or its length along `axis`.

    >>> import gradtape as gt
    >>> gt.size(gt.tensor([1.0, 2.0]))
    2
    """
    x = as_value(x)
    return math.prod([x.shape[a] for a in axes_tuple(axis, x.ndim)]) if axis is not None else int(x.size)


# the names of the array API standard
permute_dims = transpose
