"""Reading elements: `x[index]`, `take`, and positions.

An index is static: a tuple of integers, slices, None, Ellipsis and arrays, known when the operation is recorded. Index
arrays that differ between the examples of a `vmap` are inputs instead: they are turned into positions in the flattened
array, and the elements are taken from there.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.backprop import ScatteredCotangent
from gradtape.core.batch import repeat_for_batch
from gradtape.core.explain_hooks import suspect
from gradtape.core.graph import Node
from gradtape.core.operation import Lifted, Op, apply
from gradtape.core.rules import constant, linear
from gradtape.core.structural_zeros import Support
from gradtape.core.tensor import Tensor, plain
from gradtape.core.typing import Array, IndexLike, TensorLike
from gradtape.core.views import lay_out
from gradtape.errors import IndexingError, OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import argument_error, as_value, flat_or_axis, index_at_axis, write_result_into
from gradtape.ops.conversion import identity
from gradtape.ops.shaping import reshape

__all__ = [
    "getitem",
    "nonzero",
    "take",
    "take_along_axis",
]

Index = tuple[Any, ...]
Shape = tuple[int, ...]

# -- indices


def static_index(index: Any) -> Index:
    """An index as a tuple whose arrays nobody else can change."""
    return tuple([_static_part(part) for part in (index if isinstance(index, tuple) else (index,))])


def _static_part(part: Any) -> Any:
    if isinstance(part, int) or part is None or part is Ellipsis:
        return part
    if isinstance(part, slice):
        bounds = part.start, part.stop, part.step
        if all(bound is None or type(bound) is int for bound in bounds):
            return part
        return slice(*[None if bound is None else operator.index(bound) for bound in bounds])
    if isinstance(part, Lifted) and isinstance(part := part.as_index(), Lifted):
        return part
    array = np.array(plain(part))
    if array.dtype.kind == "f" and array.size == 0:
        array = array.astype(int)
    return int(array) if array.ndim == 0 and array.dtype.kind in "iu" else array


def _has_arrays(index: Index) -> bool:
    return any(isinstance(part, (np.ndarray, bool)) for part in index)


def may_repeat(index: Index) -> bool:
    """Whether an index may name the same element twice: only integer arrays can."""
    return any(isinstance(part, np.ndarray) and part.dtype.kind != "b" and part.size > 1 for part in index)


def is_basic(index: Index) -> bool:
    """Whether an index is made of integers and slices: it names a view."""
    return not any(isinstance(part, np.ndarray | bool | np.bool) for part in index)


def picked_shape(shape: Shape, index: Index) -> Shape:
    """The shape of `x[index]`, without the numbers of `x`."""
    picked: Shape = np.broadcast_to(np.int8(0), shape)[index].shape
    return picked


def _difference(one: Shape, other: Shape) -> int:
    """Where two shapes differ."""
    return next(axis for axis, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)


def batch_axis_position(shape: Shape, index: Index) -> int:
    """Where the batch axis of a batched `x` goes in `x[:, *index]`.

    It is first, unless index arrays stand apart from one another: NumPy puts their axes before all others.
    """
    if not _has_arrays(index):
        return 0
    behind = (slice(None), *index)
    return _difference(picked_shape((0, *shape), behind), picked_shape((1, *shape), behind))


# -- x[index], and its transpose: adding into zeros


def _scatter_kernel(x: Array, index: Index, shape: Shape) -> Any:
    """Zeros of `shape` with the elements of `x` added where `index` took them from."""
    out = np.zeros(shape, x.dtype)
    if may_repeat(index):
        np.add.at(out, index, x)
    else:
        out[index] = x
    return out


def _batch_getitem(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    (value,), index = values, params["index"]
    place = batch_axis_position(value.shape[1:], index)
    return np.moveaxis(apply(op, (value,), {"index": (slice(None), *index)}), place, 0)


def _batch_scatter(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    (value,), index, shape = values, params["index"], params["shape"]
    moved = np.moveaxis(value, 0, batch_axis_position(shape, index))
    return apply(op, (moved,), {"index": (slice(None), *index), "shape": (value.shape[0], *shape)})


INDICES: list[tuple[Shape, Index]] = [
    ((4,), (1,)),
    ((4,), (slice(1, None, 2),)),
    ((3, 4), (slice(None), -1)),
    ((3, 4), (None, Ellipsis, 0)),
    ((3, 4), (np.array([0, 2, 0]),)),
    ((3, 4), (np.array([[0, 1], [2, 2]]), np.array([0, 3]))),
    ((2, 3, 4), (np.array([1, 0, 1]), slice(None), np.array([3, 0, 3]))),
    ((2, 3, 4), (0, slice(None), np.array([3, 0, 3]))),
    ((3, 4), (np.arange(12).reshape(3, 4) % 3 == 0,)),
    ((3, 4), (slice(None), np.array([True, False, True, True]))),
    ((3,), (True, slice(1, None))),
    ((0, 4), (slice(None), 1)),
    ((), (None,)),
]


def _supports_of_reading(node: Node, own: Support) -> list[Support | None] | None:
    """Of `x[index]`: the support of `x`, with a note of the part that it is zero around."""
    index = node.params["index"]
    if not is_basic(index):
        return None
    shape = node.parents[0].shape

    def spread(places: Any) -> Any:
        return scatter(places.astype(float), index=index, shape=shape) != 0

    support = Support(spread, own)
    support.spread_of = own, index
    return [support]


getitem_static: Op = linear(
    lambda x, index: x[index],
    lambda g, x, index: scatter(g, index=index, shape=x.shape),
    name="getitem",
    moves_elements=True,
    batch=_batch_getitem,
    view=True,
    samples=lambda draw: [((draw(*shape),), {"index": index}) for shape, index in INDICES],
)
scatter: Op = linear(
    _scatter_kernel,
    lambda g, index: getitem_static(g, index=index),
    name="scatter",
    moves_elements=True,
    batch=_batch_scatter,
    samples=lambda draw: [
        ((draw(*picked_shape(shape, index)),), {"index": index, "shape": shape}) for shape, index in INDICES
    ],
)


def _getitem_reverse_large(g: Any, node: Node, out: Any, inputs: tuple[Any, ...]) -> Any:
    """The rule of `getitem` for a large operand: its cotangent is made where the walk has none for the operand yet."""
    index = node.params["index"]
    if not isinstance(g, (np.ndarray, np.generic)) or may_repeat(index):
        return getitem_static.reverse(g, node, out, inputs)
    return (ScatteredCotangent(g, index),)


getitem_static.supports = _supports_of_reading
getitem_static.reads_part = getitem_static.is_special = True
getitem_static.reverse_large = _getitem_reverse_large


# -- positions: index arrays that are inputs fill the gaps in `template`

_GAP = "index array"


def _fill(template: Index, arrays: Sequence[Any]) -> Index:
    supply = iter(arrays)
    return tuple([next(supply) if part is _GAP else part for part in template])


def positions_of(*arrays: Array, template: Index, shape: Shape) -> Any:
    """Where the elements of `x[index]` are in `x.ravel()`, for an `x` of `shape`."""
    index = _fill(template, arrays)
    total, stride = np.zeros(picked_shape(shape, index), int), 1
    for axis in reversed(range(len(shape))):
        coordinates = np.arange(shape[axis]).reshape((-1,) + (1,) * (len(shape) - axis - 1))
        total = total + stride * np.broadcast_to(coordinates, shape)[index]
        stride *= shape[axis]
    return total


def _batch_positions(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    """All examples at once: the batch axis is the first one of the index arrays' own."""
    template, shape = params["template"], params["shape"]
    ranks = [v.ndim - flag for v, flag in zip(values, flags, strict=True)]
    rank = max(ranks + [part.ndim for part in template if isinstance(part, np.ndarray)])
    arrays = [
        v.reshape((v.shape[0],) + (1,) * (rank - r) + v.shape[1:]) if flag else v
        for v, flag, r in zip(values, flags, ranks, strict=True)
    ]

    def result_shape(examples: int) -> Shape:
        ones = [np.zeros((examples, *v.shape[1:]), int) if f else np.zeros(v.shape, int) for v, f in zip(arrays, flags)]
        return picked_shape(shape, _fill(template, ones))

    place = _difference(result_shape(0), result_shape(1))
    return np.moveaxis(apply(op, tuple(arrays), params), place, 0)


_positions = constant(
    positions_of,
    name="positions",
    batch=_batch_positions,
    samples=lambda draw: [
        ((np.array([0, 2, 2]),), {"template": (_GAP,), "shape": (3,)}),
        ((np.array(1),), {"template": (slice(None), _GAP), "shape": (2, 3)}),
        ((np.array([0, 1]), np.array([[1], [0]])), {"template": (_GAP, slice(None), _GAP), "shape": (2, 2, 3)}),
        ((np.array([0, 1]),), {"template": (np.array([[1], [0]]), _GAP, None), "shape": (2, 3)}),
    ],
)


def _batch_offsets(flags: Sequence[bool], values: Sequence[Any], length: int) -> tuple[int, Any]:
    """How many examples there are, and positions of each in the flattened batch of rows of `length`."""
    positions, size = values[1], next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag)
    starts = length * np.arange(size).reshape((-1,) + (1,) * (positions.ndim - flags[1]))
    return size, positions + starts


def _batch_take_flat(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    x, positions = values
    if not flags[0]:
        return apply(op, (x, positions), params)
    _, places = _batch_offsets(flags, values, x.shape[1])
    return apply(op, (x.reshape((-1,)), places), params)


def _batch_add_flat(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    length = params["length"]
    size, places = _batch_offsets(flags, values, length)
    x = values[0] if flags[0] else repeat_for_batch(values[0], size)
    return apply(op, (x, places), {"length": size * length}).reshape((size, length))


def _add_flat_kernel(x: Array, positions: Array, length: int) -> Any:
    out = np.zeros(length, x.dtype)
    np.add.at(out, positions, x)
    return out


POSITIONS = np.array([[0, 2], [2, 1]])

_take_flat: Op = linear(
    lambda x, positions: x[positions],
    lambda g, x, positions: add_flat(g, positions, length=x.shape[0]),
    None,
    name="take at positions",
    moves_elements=True,
    names=("x", "positions"),
    batch=_batch_take_flat,
    samples=lambda draw: [((draw(3), POSITIONS), {}), ((draw(3), np.array(1)), {})],
)
add_flat: Op = linear(
    _add_flat_kernel,
    lambda g, positions: _take_flat(g, positions),
    None,
    name="add at positions",
    moves_elements=True,
    names=("x", "positions"),
    batch=_batch_add_flat,
    samples=lambda draw: [((draw(2, 2), POSITIONS), {"length": 3}), ((draw(), np.array(1)), {"length": 3})],
)


def find_positions(shape: Shape, parts: Index) -> Any:
    """The positions that an index with arrays of a `vmap` in it names."""
    inputs = [part for part in parts if isinstance(part, Lifted)]
    for part in inputs:
        if part.dtype.kind == "b":
            raise argument_error(
                IndexingError,
                "a boolean index inside vmap picks another number of elements in every example.",
                "gt.where(mask, x, 0) keeps the shape",
            )
    template = tuple([_GAP if isinstance(part, Lifted) else part for part in parts])
    return _positions(*inputs, template=template, shape=shape)


# -- reading


def getitem(x: Any, index: IndexLike) -> Any:
    """`x[index]`, with every kind of index that NumPy has.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: x[[0, 0, 2]].sum())(gt.tensor([1.0, 2.0, 3.0]))
    Tensor([2., 0., 1.])
    """
    if type(index) is int:
        return apply(getitem_static, (x,), {"index": (index,)})
    parts = static_index(index)
    if any(isinstance(part, Lifted) for part in parts):
        out = _take_flat(reshape(x, (-1,)), find_positions(x.shape, parts))
        _note_pick(out, x)
        return _lay_out_reading(out, x, parts)
    out = getitem_static(x, index=parts)
    if isinstance(x, Lifted) and not is_basic(parts) and x._memory().ndim > x.ndim:
        _lay_out_reading(out, x, parts)
    if len(parts) == 2 and type(parts[1]) is np.ndarray and type(parts[0]) in (np.ndarray, slice):
        _note_pick(out)
    return out


def example_memory(x: Tensor) -> Any:
    """The memory of a tensor, as an array in its layout; of a batch, that of one example."""
    memory = x._memory()
    return memory[(0,) * (memory.ndim - x.ndim)]


def _lay_out_reading(out: Any, x: Any, parts: Index) -> Any:
    """`out`, which is `x[parts]` with index arrays, laid out in memory as NumPy does it for one example."""
    if not isinstance(out, Tensor) or not out.ndim or not math.prod(out.shape):
        return out
    example = example_memory(x) if isinstance(x, Tensor) else x
    index = tuple([np.zeros(part.shape, int) if isinstance(part, Lifted) else part for part in parts])
    return lay_out(out, "K", example[index])


_NORMALISED = frozenset(  # or what comes after that
    ["softmax", "log_softmax", "log", "negative", "divide", "subtract", "add", "clip", "maximum", "minimum"]
)


def _note_pick(out: Array, table: Any = None) -> None:
    """Let `p[np.arange(n), labels]` be compared, when a gradient is taken, with how p was normalised, and
    `p[:, labels]` with what is done with all of its elements. With labels that are traced, p is the `table`.
    """
    node = getattr(out, "_node", None)
    if node is None or not node.parents:
        return
    if table is None:
        is_pick = node.op is getitem_static and node.parents[0].op is not None
    else:
        made = table._node.op if isinstance(table, Tensor) and table.ndim == 2 else None
        is_pick = made is not None and made.name in _NORMALISED
    if is_pick:
        suspect(node)


@answers(np.take)
def take(
    x: TensorLike, indices: TensorLike, axis: int | None = None, out: Array | None = None, mode: str = "raise"
) -> Any:
    """The elements (or slices along `axis`) at `indices`.

    >>> import gradtape as gt
    >>> gt.take(gt.tensor([1.0, 2.0, 3.0]), [2, 0])
    Tensor([3., 1.])
    """
    if out is not None:
        return write_result_into(out, take, x, indices, axis, mode=mode)
    x, axis = flat_or_axis(x, axis, number=True)
    if mode not in ("raise", "wrap", "clip"):
        raise argument_error(OperandError, f"take: mode={mode!r}.", "mode 'raise', 'wrap' or 'clip'")
    places = as_value(indices)
    if places.dtype == bool:
        places = places.astype(int)  # positions 0 and 1, not a mask
    if mode == "wrap":
        places = places % x.shape[axis]
    elif mode == "clip":
        places = np.clip(places, 0, x.shape[axis] - 1)
    taken = getitem(x, index_at_axis(axis, places))
    if getattr(taken, "_base", None) is not None:  # one slice, which is a copy here and a view as x[i]
        taken = identity(taken)
    return lay_out(taken, "C")


@answers(np.take_along_axis)
def take_along_axis(x: TensorLike, indices: TensorLike, axis: int | None = -1) -> Any:
    """The elements at `indices` along one axis, the other axes in step (as `argsort` gives them).

    >>> import gradtape as gt
    >>> x = gt.tensor([[3.0, 1.0], [2.0, 4.0]])
    >>> gt.take_along_axis(x, gt.argsort(x, 1), 1)
    Tensor([[1., 3.],
            [2., 4.]])
    """
    x, axis = flat_or_axis(x, axis)
    indices = as_value(indices)
    if indices.ndim != x.ndim:
        raise argument_error(
            ShapeError,
            f"indices has {indices.ndim} axes (shape {indices.shape}), x has {x.ndim} dimensions (shape {x.shape}).",
            f"as many axes as x has: one index for each row is indices[:, None], x[np.arange({x.shape[0]}), indices]",
        )
    grid = [np.arange(n).reshape((-1,) + (1,) * (x.ndim - i - 1)) for i, n in enumerate(x.shape)]
    return getitem(x, (*grid[:axis], indices, *grid[axis + 1 :]))


@answers(np.nonzero)
def nonzero(x: Any) -> tuple[Any, ...]:
    """The positions of the elements that are not zero, an array for each axis.

    >>> import gradtape as gt
    >>> gt.nonzero(gt.tensor([0.0, 2.0]))
    (array([1]),)
    """
    return np.nonzero(x._leave("nonzero") if isinstance(x, Tensor) else x)
