"""Reading and writing elements: `x[index]`, `take`, and `at(x)[index].set(value)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from gradtape.core.batch import spread
from gradtape.core.operation import Lifted, Op, apply
from gradtape.core.rules import constant, linear
from gradtape.core.shapes import unbroadcast
from gradtape.core.tensor import Tensor, plain
from gradtape.ops.elementwise import maximum, minimum, multiply
from gradtape.ops.shaping import as_value, reshape
from gradtape.protocols import answers


def _is_advanced(part: Any) -> bool:
    return isinstance(part, np.ndarray | list) or (isinstance(part, int | np.integer | np.bool_) and False)


def _repeats(index: tuple[Any, ...]) -> bool:
    """Whether an index may name the same element twice: only integer arrays can."""
    return any(isinstance(part, np.ndarray) and part.dtype.kind != "b" and part.size > 1 for part in index)


def _scatter_kernel(x: Any, index: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """Zeros of `shape` with the elements of `x` added where `index` took them from."""
    out = np.zeros(shape, x.dtype)
    if _repeats(index):
        np.add.at(out, index, x)
    else:
        out[index] = x
    return out


def _with_batch(index: tuple[Any, ...], ndim: int) -> tuple[tuple[Any, ...], int]:
    """`index` for an array with a batch axis in front, and where that axis is in the result.

    Index arrays that are apart from one another put their axes first (in NumPy), before the batch axis.
    """
    places = [i for i, part in enumerate(index) if isinstance(part, np.ndarray)]
    integers = [i for i, part in enumerate(index) if isinstance(part, int)]
    together = places and sorted(places + integers) == list(range(min(places + integers), max(places + integers) + 1))
    moved = 0
    if places and not together:
        kinds = [index[i].nonzero()[0] if index[i].dtype.kind == "b" else index[i] for i in places]
        moved = np.broadcast_shapes(*(k.shape for k in kinds)).__len__()
    return (slice(None), *index), moved


def _batch_getitem(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    index, moved = _with_batch(params["index"], len(values[0].shape) - 1)
    out = apply(op, tuple(values), {"index": index})
    return np.moveaxis(out, moved, 0) if moved else out


def _batch_scatter(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    index, moved = _with_batch(params["index"], len(params["shape"]))
    (value,) = values
    value = np.moveaxis(value, 0, moved) if moved else value
    size = value.shape[moved]
    return apply(op, (value,), {"index": index, "shape": (size, *params["shape"])})


_INDICES: list[tuple[tuple[int, ...], tuple[Any, ...]]] = [
    ((4,), (1,)),
    ((4,), (slice(1, None, 2),)),
    ((3, 4), (slice(None), -1)),
    ((3, 4), (None, Ellipsis, 0)),
    ((3, 4), (np.array([0, 2, 0]),)),
    ((3, 4), (np.array([[0, 1], [2, 2]]), np.array([0, 3]))),
    ((2, 3, 4), (np.array([1, 0, 1]), slice(None), np.array([3, 0, 3]))),
    ((3, 4), (np.arange(12).reshape(3, 4) % 3 == 0,)),
    ((3, 4), (slice(None), np.array([True, False, True, True]))),
    ((0, 4), (slice(None), 1)),
]

_getitem = linear(
    lambda x, index: x[index],
    lambda g, x, index: _scatter(g, index=index, shape=x.shape),
    name="getitem",
    batch=_batch_getitem,
    view=True,
    samples=lambda draw: [((draw(*shape),), {"index": index}) for shape, index in _INDICES],
)
_scatter = linear(
    _scatter_kernel,
    lambda g, index: _getitem(g, index=index),
    name="scatter",
    batch=_batch_scatter,
    samples=lambda draw: [
        ((draw(*np.zeros(shape)[index].shape),), {"index": index, "shape": shape}) for shape, index in _INDICES
    ],
)

# with index arrays that are tensors inside vmap: they are inputs like any other, and fill the gaps in `template`
_GAP = "index array"


def _fill(template: tuple[Any, ...], arrays: Sequence[Any]) -> tuple[Any, ...]:
    supply = iter(arrays)
    return tuple(next(supply) if isinstance(part, str) else part for part in template)


def _gather(count: int) -> Op:
    names = ("x", *(f"i{n}" for n in range(count)))

    def transpose(g: Any, x: Any, inputs: Any, template: Any) -> Any:
        arrays = [plain(array) for array in inputs[1:]]
        return _scatter(g, index=_fill(template, arrays), shape=x.shape)

    return linear(
        lambda x, *arrays, template: x[_fill(template, arrays)],
        transpose,
        *([None] * count),
        name=f"gather{count}",
        names=names,
        samples=lambda draw: [((draw(3), *([np.array([0, 2, 2])] * count)), {"template": (_GAP,) * count})][
            : count == 1
        ],
    )


_gathers = {count: _gather(count) for count in (1, 2, 3)}


def _static(index: Any) -> tuple[Any, ...]:
    """An index as a tuple whose arrays nobody else can change."""
    parts = index if isinstance(index, tuple) else (index,)
    return tuple([_static_part(part) for part in parts])


def _static_part(part: Any) -> Any:
    if isinstance(part, int | slice) or part is None or part is Ellipsis:
        return part
    if isinstance(part, Lifted):
        return part
    array = np.array(plain(part))
    if array.dtype.kind == "f" and array.size == 0:
        array = array.astype(int)
    return int(array) if array.ndim == 0 and array.dtype.kind in "iu" else array


def getitem(x: Any, index: Any) -> Any:
    """`x[index]`, with every kind of index that NumPy has.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: x[[0, 0, 2]].sum())(gt.tensor([1.0, 2.0, 3.0]))
    Tensor([2., 0., 1.])
    """
    if type(index) is int:
        return apply(_getitem, (x,), {"index": (index,)})
    parts = _static(index)
    lifted = [part for part in parts if isinstance(part, Lifted)]
    if lifted:
        template = tuple(_GAP if isinstance(part, Lifted) else part for part in parts)
        return _gathers[len(lifted)](x, *lifted, template=template)
    return _getitem(x, index=parts)


@answers(np.take)
def take(x: Any, indices: Any, axis: int | None = None, out: None = None, mode: str = "raise") -> Any:
    """The elements (or slices along `axis`) at `indices`.

    >>> import gradtape as gt
    >>> gt.take(gt.tensor([1.0, 2.0, 3.0]), [2, 0])
    Tensor([3., 1.])
    """
    x = as_value(x)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = normalize_axis_index(axis, x.ndim)
    if mode != "raise":
        places = np.asarray(plain(indices))
        indices = places % x.shape[axis] if mode == "wrap" else np.clip(places, 0, x.shape[axis] - 1)
    return getitem(x, (*(slice(None),) * axis, indices))


@answers(np.take_along_axis)
def take_along_axis(x: Any, indices: Any, axis: int | None = -1) -> Any:
    """The elements at `indices` along one axis, the other axes in step (as `argsort` gives them).

    >>> import gradtape as gt
    >>> x = gt.tensor([[3.0, 1.0], [2.0, 4.0]])
    >>> gt.take_along_axis(x, gt.argsort(x, 1), 1)
    Tensor([[1., 3.],
            [2., 4.]])
    """
    x, indices = as_value(x), as_value(indices)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = normalize_axis_index(axis, x.ndim)
    grid = []
    for i, length in enumerate(x.shape):
        if i == axis:
            grid.append(indices)
        else:
            grid.append(np.arange(length).reshape((1,) * i + (length,) + (1,) * (x.ndim - i - 1)))
    return getitem(x, tuple(grid))


@answers(np.nonzero)
def nonzero(x: Any) -> tuple[Any, ...]:
    """The positions of the elements that are not zero.

    >>> import gradtape as gt
    >>> gt.nonzero(gt.tensor([0.0, 2.0]))
    (array([1]),)
    """
    return np.nonzero(as_value(x)._leave("nonzero") if isinstance(x, Tensor) else x)


# -- writing: new tensors with some elements replaced

_no_derivative_index = constant(lambda x: x, name="index")


def _set_kernel(x: Any, value: Any, index: tuple[Any, ...]) -> Any:
    out = np.array(x)
    out[index] = value
    return out


def _last_writes(index: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """For an index that names elements twice: which of the writes is the one that stays."""
    taken = np.arange(int(np.prod(shape))).reshape(shape)[index]
    order = np.arange(taken.size).reshape(taken.shape)
    last = np.empty(int(np.prod(shape)), int)
    last[taken] = order
    return last[taken] == order


def _set_cotangent(g: Any, x: Any, index: tuple[Any, ...]) -> Any:
    return _set(g, np.zeros((), x.dtype), index=index)


def _value_cotangent(g: Any, value: Any, index: tuple[Any, ...]) -> Any:
    picked = _getitem(g, index=index)
    if _repeats(index):
        picked = picked * _last_writes(index, g.shape).astype(g.dtype)
    return unbroadcast(picked, value.shape)


def _batch_writing(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    size = next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag)
    x, value = values
    x = x if flags[0] else spread(x, size)
    index, moved = _with_batch(params["index"], len(x.shape) - 1)
    if flags[1]:
        rank = len(_shape_of(x.shape[1:], params["index"]))
        value = value.reshape((size,) + (1,) * (rank - (len(value.shape) - 1)) + value.shape[1:])
        value = np.moveaxis(value, 0, moved) if moved else value
    return apply(op, (x, value), {"index": index})


def _shape_of(shape: tuple[int, ...], index: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape of `x[index]`, without an array of numbers."""
    picked: tuple[int, ...] = np.broadcast_to(np.int8(0), shape)[index].shape
    return picked


def _writing_samples(draw: Any) -> list[Any]:
    cases = [((draw(*shape), draw(*np.zeros(shape)[index].shape)), {"index": index}) for shape, index in _INDICES]
    return [*cases, ((draw(3, 4), draw()), {"index": (1,)}), ((draw(3, 4), draw(4)), {"index": (slice(0, 2),)})]


_set = linear(
    _set_kernel,
    _set_cotangent,
    _value_cotangent,
    name="set",
    names=("x", "value"),
    batch=_batch_writing,
    samples=_writing_samples,
)


def _add_kernel(x: Any, value: Any, index: tuple[Any, ...]) -> Any:
    out = np.array(x)
    if _repeats(index):
        np.add.at(out, index, value)
    else:
        out[index] += value
    return out


_add_at = linear(
    _add_kernel,
    lambda g: g,
    lambda g, value, index: unbroadcast(_getitem(g, index=index), value.shape),
    name="add_at",
    names=("x", "value"),
    batch=_batch_writing,
    samples=_writing_samples,
)


class at:
    """`gt.at(x)[index].set(value)`: a new tensor like `x` with some elements replaced. Also add, multiply, min, max.

    >>> import gradtape as gt
    >>> x = gt.tensor([1.0, 2.0, 3.0])
    >>> gt.at(x)[0].set(10.0)
    Tensor([10.,  2.,  3.])
    >>> gt.at(x)[[1, 1]].add(5.0)
    Tensor([ 1., 12.,  3.])
    """

    def __init__(self, x: Any) -> None:
        self._x = as_value(x)

    def __getitem__(self, index: Any) -> _Place:
        return _Place(self._x, _static(index))


class _Place:
    """Some elements of an array, about to be replaced."""

    def __init__(self, x: Any, index: tuple[Any, ...]) -> None:
        self._x = x
        self._index = index

    def _value(self, value: Any) -> Any:
        return as_value(value) if not isinstance(value, int | float | complex) else np.asarray(value, self._x.dtype)

    def set(self, value: Any) -> Any:
        """`x[index] = value`; where an element is named twice the last value stays."""
        return _set(self._x, self._value(value), index=self._index)

    def add(self, value: Any) -> Any:
        """`x[index] += value`; elements named twice are added to twice."""
        return _add_at(self._x, self._value(value), index=self._index)

    def multiply(self, value: Any) -> Any:
        """`x[index] *= value`; elements named twice are multiplied twice."""
        return self._each(multiply, value)

    def min(self, value: Any) -> Any:
        """`x[index] = minimum(x[index], value)`."""
        return self._each(minimum, value)

    def max(self, value: Any) -> Any:
        """`x[index] = maximum(x[index], value)`."""
        return self._each(maximum, value)

    def _each(self, op: Op, value: Any) -> Any:
        """Apply `op` to the named elements, in rounds: an element that is named k times is met in k rounds."""
        value = self._value(value)
        if not _repeats(self._index):
            return _set(self._x, op(_getitem(self._x, index=self._index), value), index=self._index)
        taken = np.arange(self._x.size).reshape(self._x.shape)[self._index]
        values = reshape(np.broadcast_to(value, taken.shape), (-1,))
        result, left = reshape(self._x, (-1,)), np.arange(taken.size)
        places = taken.ravel()
        while left.size:
            _, first = np.unique(places[left], return_index=True)
            now = left[first]
            target = (places[now],)
            result = _set(result, op(_getitem(result, index=target), _getitem(values, index=(now,))), index=target)
            left = np.delete(left, first)
        return reshape(result, self._x.shape)
