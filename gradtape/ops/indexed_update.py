"""Writing elements: new tensors with some elements replaced, `at(x)[index].set(value)`."""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable, Sequence
from types import CodeType, FrameType
from typing import Any

import numpy as np

from gradtape.core.backprop import is_spare
from gradtape.core.batch import repeat_for_batch
from gradtape.core.graph import FLAGS, Node
from gradtape.core.operation import Lifted, Op, apply
from gradtape.core.rules import constant, linear
from gradtape.core.shapes import unbroadcast
from gradtape.core.structural_zeros import Support
from gradtape.core.tensor import Tensor
from gradtape.core.typing import Array, Draw, IndexLike, TensorLike
from gradtape.core.views import may_write_memory
from gradtape.errors import DtypeError, OperandError
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.elementwise import maximum, minimum, multiply, where
from gradtape.ops.indexing import (
    INDICES,
    POSITIONS,
    Index,
    add_flat,
    batch_axis_position,
    find_positions,
    getitem_static,
    is_basic,
    may_repeat,
    picked_shape,
    positions_of,
    static_index,
)
from gradtape.ops.products import _diagonal
from gradtape.ops.shaping import broadcast_to, reshape

__all__ = [
    "at",
]

NUMBERS = int | float | complex


def _set_kernel(x: Array, value: Array, index: Index) -> Any:
    out = np.array(x)
    out[index] = value
    return out


def _last_writes(positions: Array) -> Any:
    """For positions that name elements twice: whether each write is the one that stays."""
    order = np.arange(positions.size).reshape(positions.shape)
    last = np.empty(int(positions.max(initial=-1)) + 1, int)
    last[positions] = order
    return last[positions] == order


def _value_cotangent(g: Array, value: Array, index: Index) -> Any:
    picked = getitem_static(g, index=index)
    if may_repeat(index):
        stays = _last_writes(positions_of(template=index, shape=g.shape))
        picked = np.where(stays, picked, 0)
    return unbroadcast(picked, value.shape)


def _batch_writing(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    (x, value), index = values, params["index"]
    size = next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag)
    x = x if flags[0] else repeat_for_batch(x, size)
    place = batch_axis_position(x.shape[1:], index)
    if flags[1] or place:  # the value's axes stand where those of x[:, *index] are
        rest = value.shape[1:] if flags[1] else value.shape
        missing = len(picked_shape(x.shape[1:], index)) - len(rest)
        value = value.reshape((size if flags[1] else 1,) + (1,) * missing + rest)
        value = np.moveaxis(value, 0, place)
    return apply(op, (x, value), {"index": (slice(None), *index)})


def _writing_samples(draw: Draw) -> list[Any]:
    whole = [((draw(*shape), draw(*picked_shape(shape, index))), {"index": index}) for shape, index in INDICES]
    return [
        *whole,
        ((draw(3, 4), draw()), {"index": (1,)}),
        ((draw(3, 4), draw(4)), {"index": (slice(0, 2),)}),
        ((draw(2, 3, 4), draw(3)), {"index": (np.array([1, 0, 1]), slice(None), np.array([3, 0, 3]))}),
    ]


def _chosen_by_index(node: Node, out: Any, inputs: tuple[Any, ...]) -> list[Support | None]:
    """Where `x` stays after `x[mask] = value`. Slices are not looked at: few write over what is not finite."""
    index = node.params["index"]
    if not any(isinstance(part, np.ndarray) for part in index):
        return [None, None]

    def places() -> Any:
        left = np.ones(node.shape, bool)
        left[index] = False
        return left

    return [Support(places), None]


def _supports_of_writing(node: Node, own: Support) -> list[Support | None] | None:
    """Of `x[index] = value` with integers and slices: the value has its part of the support, and `x` has all of it.

    What is written over is not looked at, here as in `_chosen_by_index`.
    """
    index = node.params["index"]
    x, value = node.parents
    if not is_basic(index) or (value.bits > FLAGS and value.shape != picked_shape(node.shape, index)):
        return None
    part = Support(lambda places: np.broadcast_to(places, node.shape)[index], own)
    part.part_of = own, index
    return [own if x.bits > FLAGS else None, part if value.bits > FLAGS else None]


_set: Op = linear(
    _set_kernel,
    lambda g, x, index: _set(g, np.zeros((), x.dtype), index=index),
    _value_cotangent,
    name="set",
    moves_elements=True,
    names=("x", "value"),
    batch=_batch_writing,
    samples=_writing_samples,
    chosen=_chosen_by_index,
)


def _overwrite_kernel(x: Array, value: Array, index: Index) -> Any:
    x[index] = value
    return x


_set.supports = _supports_of_writing
_REPLACE = Tensor._replace  # another package may have put another function in its place
_overwrite = copy.copy(_set)  # the same operation and the same rules; what it computes is in the memory of `x`
_overwrite.kernel = _overwrite_kernel


def set_in_place(x: Any, index: Any, value: Any) -> None:
    """`x[index] = value`: in the memory of `x` if nothing else needs what is there, else in a copy."""
    how = "x[...] = value"
    x._check_writable(how)
    place = at(x)[index]
    is_plain = type(x) is Tensor and not isinstance(value, Lifted) and type(place) is _Place
    if not is_plain or Tensor._replace is not _REPLACE or not may_write_memory(x):
        x._replace(place.set(value), how)
        return
    new = apply(_overwrite, (x, place._value(value)), {"index": place._index})
    if new._node.op is _overwrite:
        new._node.op = _set  # what explanations compute again must not write
    x._replace(new, how)


def _set_reverse_large(g: Any, node: Node, out: Any, inputs: tuple[Any, ...]) -> Any:
    """The rule of `set`, which writes its zeros into the cotangent where no other reference to it exists."""
    if not is_spare(sys.getrefcount(g), g):
        return _set.reverse(g, node, out, inputs)
    index = node.params["index"]
    of_value = None
    if node.parents[1].bits > FLAGS:
        of_value = np.array(_value_cotangent(g, inputs[1], index))
    g[index] = 0
    return g, of_value


_set.reverse_large = _set_reverse_large


def _write_diagonal(base: Any, new: Any, offset: int, axis1: int, axis2: int) -> Any:
    """`base` with `new` on one of its diagonals."""
    moved = np.moveaxis(base, (axis1, axis2), (-2, -1))
    steps = np.arange(new.shape[-1])
    written = _set(moved, new, index=(Ellipsis, steps - min(offset, 0), steps + max(offset, 0)))
    return np.moveaxis(written, (-2, -1), (axis1, axis2))


getitem_static.write_back = lambda base, new, index: _set(base, new, index=index)
_diagonal.write_back = _write_diagonal


def _add_kernel(x: Array, value: Array, index: Index) -> Any:
    out = np.array(x)
    if may_repeat(index):
        np.add.at(out, index, value)
    else:
        out[index] += value
    return out


_add_at = linear(
    _add_kernel,
    lambda g: g,
    lambda g, value, index: unbroadcast(getitem_static(g, index=index), value.shape),
    name="add_at",
    names=("x", "value"),
    batch=_batch_writing,
    samples=_writing_samples,
)
_stays = constant(
    lambda positions: _last_writes(positions), name="last writes", samples=lambda draw: [((POSITIONS,), {})]
)
_written = constant(
    lambda positions, length: np.bincount(np.ravel(positions), minlength=length) > 0,
    name="written",
    samples=lambda draw: [((POSITIONS,), {"length": 4})],
)


def writes_element(frame: FrameType) -> bool:
    """Whether what `frame` is computing right now is stored as an element next, as in `x[i] += y`."""
    return _stores_element(frame.f_code, frame.f_lasti)


def operates_in_place(frame: FrameType) -> bool:
    """Whether what `frame` is computing right now is an operator that works in place, as in `x += y`."""
    return _is_in_place(frame.f_code, frame.f_lasti)


@functools.lru_cache(256)
def _is_in_place(code: CodeType, place: int) -> bool:
    import dis

    step = next((step for step in dis.get_instructions(code) if step.offset == place), None)
    return step is not None and step.opname == "BINARY_OP" and step.argrepr.endswith("=")


@functools.lru_cache(256)
def _stores_element(code: CodeType, place: int) -> bool:
    import dis

    following = (step.opname for step in dis.get_instructions(code) if step.offset > place)
    name = next((name for name in following if name not in ("CACHE", "NOP", "SWAP", "EXTENDED_ARG")), "")
    return name in ("STORE_SUBSCR", "STORE_SLICE")


class at:
    """`gt.at(x)[index].set(value)`: a new tensor like `x` with some elements replaced. Also add, multiply, min, max.

    >>> import gradtape as gt
    >>> x = gt.tensor([1.0, 2.0, 3.0])
    >>> gt.at(x)[0].set(10.0)
    Tensor([10.,  2.,  3.])
    >>> gt.at(x)[[1, 1]].add(5.0)
    Tensor([ 1., 12.,  3.])
    """

    def __init__(self, x: TensorLike) -> None:
        self._x = as_value(x)

    def __getitem__(self, index: IndexLike) -> _Place:
        if isinstance(index, Lifted) and index.dtype.kind == "b":
            return _MaskedPlace(self._x, (index,))
        parts = static_index(index)
        return (_MovingPlace if any(isinstance(part, Lifted) for part in parts) else _Place)(self._x, parts)


class _Place:
    """Some elements of an array, about to be replaced."""

    def __init__(self, x: Array, index: Index) -> None:
        self._x = x
        self._index = index

    def _value(self, value: Array) -> Any:
        """`value` as an array that has no more axes than the place."""
        value = self._in_kind(value)
        surplus = value.ndim - len(picked_shape(self._x.shape, self._index)) if value.ndim else 0
        if surplus > 0 and all(n == 1 for n in value.shape[:surplus]):
            value = reshape(value, value.shape[surplus:])
        return value

    def _in_kind(self, value: TensorLike) -> Any:
        """`value` as an array of numbers that can be written into `x` without being cut short."""
        kind = self._x.dtype
        if not np.can_cast(
            np.result_type(kind, value if isinstance(value, NUMBERS) else as_value(value)), kind, "same_kind"
        ):
            raise argument_error(
                DtypeError,
                f"at(x)[index]: numbers of dtype {as_value(value).dtype} into an array of dtype {kind}.",
                "x.astype(float) before, or value.astype(x.dtype) if that loss is meant",
            )
        return np.asarray(value, kind) if isinstance(value, NUMBERS) else as_value(value)

    def set(self, value: Any) -> Any:
        """`x[index] = value`; where an element is named twice the last value stays."""
        return _set(self._x, self._value(value), index=self._index)

    def add(self, value: Any) -> Any:
        """`x[index] += value`; elements named twice are added to twice."""
        return _add_at(self._x, self._value(value), index=self._index)

    def multiply(self, value: Any) -> Any:
        """`x[index] *= value`; elements named twice are multiplied twice."""
        return self.each(multiply, value)

    def min(self, value: Any) -> Any:
        """`x[index] = minimum(x[index], value)`."""
        return self.each(minimum, value)

    def max(self, value: Any) -> Any:
        """`x[index] = maximum(x[index], value)`."""
        return self.each(maximum, value)

    def each(self, op: Callable[..., Any], value: Array) -> Any:
        """Apply `op` to the named elements, in rounds: an element that is named k times is met in k rounds."""
        value = self._value(value)
        if not may_repeat(self._index):
            return _set(self._x, op(getitem_static(self._x, index=self._index), value), index=self._index)
        positions = positions_of(template=self._index, shape=self._x.shape)
        values = reshape(broadcast_to(value, positions.shape), (-1,))
        result, left, places = reshape(self._x, (-1,)), np.arange(positions.size), positions.ravel()
        while left.size:
            _, first = np.unique(places[left], return_index=True)
            now = left[first]
            target = (places[now],)
            result = _set(
                result, op(getitem_static(result, index=target), getitem_static(values, index=(now,))), index=target
            )
            left = np.delete(left, first)
        return reshape(result, self._x.shape)


class _MaskedPlace(_Place):
    """The elements of a mask whose numbers are known in the call only: which they are, but not how many."""

    def set(self, value: Any) -> Any:
        chosen = self._select(value, lambda new: new)
        return self._known().set(value) if chosen is None else chosen

    def add(self, value: Any) -> Any:
        chosen = self._select(value, lambda new: self._x + new)
        return self._known().add(value) if chosen is None else chosen

    def each(self, op: Callable[..., Any], value: Array) -> Any:
        chosen = self._select(value, lambda new: op(self._x, new))
        return self._known().each(op, value) if chosen is None else chosen

    def _select(self, value: Any, make: Callable[[Any], Any]) -> Any:
        """The elements of the mask from `make`, all others as they are, if the same number goes to all of them."""
        mask, new = self._index[0], self._in_kind(value)
        if new.ndim or mask.shape != self._x.shape[: mask.ndim]:
            return None
        wide = reshape(mask, mask.shape + (1,) * (self._x.ndim - mask.ndim))
        return where(wide, make(new.astype(self._x.dtype)), self._x)

    def _known(self) -> _Place:
        """The same place with the mask of this call."""
        return _Place(self._x, static_index(self._index[0]._concrete()))


class _MovingPlace(_Place):
    """Elements that are not the same in all examples of a `vmap`."""

    def _value(self, value: Array) -> Any:
        return broadcast_to(self._in_kind(value).astype(self._x.dtype), self._positions.shape)

    @property
    def _positions(self) -> Any:
        return find_positions(self._x.shape, self._index)

    def set(self, value: Any) -> Any:
        positions, shape = self._positions, self._x.shape
        staying = where(_stays(positions), self._value(value), 0)
        written = reshape(_written(positions, length=self._x.size), shape)
        return where(written, reshape(add_flat(staying, positions, length=self._x.size), shape), self._x)

    def add(self, value: Any) -> Any:
        added = add_flat(self._value(value), self._positions, length=self._x.size)
        return self._x + reshape(added, self._x.shape)

    def each(self, op: Callable[..., Any], value: Array) -> Any:
        raise argument_error(
            OperandError,
            f"at(x)[index]: {op.__name__} with an index that differs between the examples of a vmap.",
            f"at(x)[index].set(gt.{op.__name__}(x[index], value)), where index names no element twice",
        )
