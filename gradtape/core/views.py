"""Tensors that share memory, as NumPy's views do: what is written to one of them is seen by all.

A view holds the tensor that it was taken of (`_base`) and the operation that took it (`_step`); a tensor knows its
views weakly (`_views`). A write to a view is a write to its base, by the `write_back` of the operation in between, and
so on up to a tensor that is no view: that one gets a new value. All its views become stale: each takes its value from
its base when it is next used. What is recorded are operations without side effects, so that derivatives of every kind
and order, and every interpreter, need no rule for writes.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from gradtape.core import recording
from gradtape.core.references import COUNTS_LOCALS

if TYPE_CHECKING:
    from gradtape.core.operation import Op
    from gradtape.core.tensor import Tensor


T = TypeVar("T")


class ViewStep(NamedTuple):
    """The operation by which a view is taken of its base, and what recorded when the base was last written to."""

    op: Op | ViewFunction
    params: dict[str, Any]
    state: recording.Recording


class ViewFunction:
    """What takes a view that no single operation computes in the memory of its base: windows, stretched axes.

    `write_back` is as that of an operation; without it, what is written to such a view is written to a copy.
    """

    def __init__(self, function: Callable[..., Any], write_back: Callable[..., Any] | None = None) -> None:
        self._function = function
        self.write_back: Any = write_back

    def __call__(self, base: Any, **params: Any) -> Any:
        return self._function(base, **params)


def note_view(result: Tensor, base: Tensor, op: Op, params: dict[str, Any]) -> None:
    """Link `result` with `base`, of which `op` computed it, if they share memory and it is no number of NumPy's."""
    if not _share_memory(result, base):
        return
    if not result.shape:  # of a batch: the memory of all examples is shared, where each by itself would be a number
        if _is_element(params):
            return
        result._hold_array()
    link_view(result, base, op, params)


def _is_element(params: dict[str, Any]) -> bool:
    """Whether an index names one element, which NumPy gives as a number; with an ellipsis, it gives a view."""
    index = params.get("index")
    return isinstance(index, tuple) and not any(part is Ellipsis for part in index)


def link_view(result: Tensor, base: Tensor, op: Op | ViewFunction, params: dict[str, Any]) -> None:
    """Link `result` with `base`, of which it is a view in NumPy; its own memory may be another one."""
    result._base = base
    result._step = ViewStep(op, params, recording.current())
    try:
        views = base._views
    except AttributeError:
        base._views = [weakref.ref(result)]
        return
    count = len(views)
    if not count & (count - 1):  # at powers of two, so that the cost per view is constant
        views[:] = [view for view in views if view() is not None]
    views.append(weakref.ref(result))


def _share_memory(one: Tensor, other: Tensor) -> bool:
    first, second = one._memory(), other._memory()
    return isinstance(first, np.ndarray) and isinstance(second, np.ndarray) and np.may_share_memory(first, second)


def _references_alone() -> int:
    """How many references `_is_alone` counts for an array that only one tensor holds."""

    class Holder:
        def __init__(self) -> None:
            self._array = np.empty(1)

    holder = Holder()
    return _count_references(holder)


def _count_references(tensor: Any) -> int:
    array = object.__getattribute__(tensor, "_array")
    return sys.getrefcount(array)


_ALONE = _references_alone() if COUNTS_LOCALS else 0


def may_write_memory(tensor: Tensor) -> bool:
    """Whether nothing but `tensor` and its views refers to its memory, so that a write need not copy it.

    A node that has saved the value, a tensor with an equal value and an array that was handed out are references.
    """
    array = tensor._array
    if not COUNTS_LOCALS or type(array) is not np.ndarray or array.base is not None or not array.flags.writeable:
        return False
    views = 0
    pending = [tensor]
    while pending:
        for view in _live_views(pending.pop()):
            pending.append(view)
            seen = object.__getattribute__(view, "_array")
            if seen.base is array:
                views += 1
                del seen
                if _count_references(view) > _ALONE:
                    return False
    del array
    return _count_references(tensor) <= _ALONE + views


def _unlink(view: Tensor) -> None:
    """Make a view a tensor that is none."""
    others = view._base._views
    others[:] = [other for other in others if other() is not view]
    del view._base, view._step


def overwrite(tensor: Tensor, new: Any, how: str) -> None:
    """Make `new` the value of `tensor`, and let every tensor that shares its memory see it."""
    tensor._check_writable(how)
    while (base := getattr(tensor, "_base", None)) is not None:
        op, params, _ = tensor._step
        if op.write_back is None:
            _unlink(tensor)  # NumPy refuses to write there; here it becomes a tensor of its own
            break
        base._check_writable(how)
        new = op.write_back(base, new, **params)
        tensor = base
    before = tensor._memory()
    tensor._become(new)
    _keep_layout(tensor, before)
    invalidate_views(tensor)


def _keep_layout(tensor: Tensor, before: Any) -> None:
    """Give the memory of a tensor that was written the layout it had: on that depends what is a view of it later.

    In a batch, each example has it: a write may make a tensor differ between examples, or no longer differ.
    """
    now = tensor._memory()
    if type(before) is not np.ndarray or type(now) is not np.ndarray or not now.size or now.strides == before.strides:
        return
    example = before[(0,) * (before.ndim - tensor.ndim)]
    if now[(0,) * (now.ndim - tensor.ndim)].strides != example.strides:
        _arrange_axes(tensor, now, _axes_by_stride(example))


def lay_out(result: T, order: str, like: Any = None) -> T:
    """`result`, a tensor that shares memory with no other, laid out in memory as NumPy would have done it.

    On the layout depends what is a view of it later: `ravel` of an array in the order "C" is one, of another is a copy.
    `order` is "C" or "F"; or "A" or "K", which follow the layout of the tensor or array `like`. Plain arrays stay as
    they are.
    """
    if not hasattr(result, "_memory"):
        return result
    tensor: Any = result
    now = tensor._memory()
    rank = tensor.ndim
    if type(now) is not np.ndarray or not now.size or not rank or now.ndim < 2:
        return result
    axes = list(range(rank))
    if order in ("A", "K"):
        memory = getattr(like, "_memory", lambda: like)()
        if type(memory) is not np.ndarray or not memory.size:
            return result
        example = memory[(0,) * (memory.ndim - np.ndim(like))]
        if order == "K" and example.ndim == rank:
            axes = _axes_by_stride(example)
        else:
            order = "F" if example.flags.fnc else "C"
    if order == "F":
        axes.reverse()
    if not now[(0,) * (now.ndim - rank)].transpose(axes).flags.c_contiguous:
        _arrange_axes(tensor, now, axes)
    return result


def _axes_by_stride(array: Any) -> list[int]:
    """The axes of an array, that of the largest steps in memory first."""
    return sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))


def _arrange_axes(tensor: Tensor, now: Any, order: list[int]) -> None:
    """Copy the memory `now` of a tensor so that its axes lie in this order; those of a batch stay in front."""
    rank = len(order)
    batch = now.shape[: now.ndim - rank]
    shape = now.shape[now.ndim - rank :]
    kept = np.empty((*batch, *(shape[axis] for axis in order)), now.dtype)
    places = [len(batch) + order.index(axis) for axis in range(rank)]
    kept = kept.transpose((*range(len(batch)), *places))
    kept[...] = now
    tensor._set_memory(kept)


def invalidate_views(root: Tensor) -> None:
    """Make the views of `root`, and theirs, stale."""
    state = recording.current()
    pending = [root]
    while pending:
        for view in _live_views(pending.pop()):
            pending.append(view)
            op, params, _ = object.__getattribute__(view, "_step")
            object.__setattr__(view, "_step", ViewStep(op, params, state))
            kind = type(view)
            if not issubclass(kind, Stale):
                object.__setattr__(view, "__class__", _stale_class(kind))


def _live_views(tensor: Tensor) -> Iterator[Tensor]:
    """The views of a tensor that are alive; reading them makes no stale one compute its value."""
    try:
        views = object.__getattribute__(tensor, "_views")
    except AttributeError:
        return
    for reference in list(views):
        view = reference()
        if view is not None:
            yield view


def is_shared(tensor: Tensor) -> bool:
    """Whether it is a view, or one of it is alive."""
    return getattr(tensor, "_base", None) is not None or next(_live_views(tensor), None) is not None


def root_of(tensor: Tensor) -> Tensor:
    """The tensor that `tensor` is a view of, itself no view; no stale one on the way is made to compute its value."""
    while True:
        try:
            tensor = object.__getattribute__(tensor, "_base")
        except AttributeError:
            return tensor


class Stale:
    """A view whose base was written to since its value was computed; it is computed again when it is used."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        _refresh(self)
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _refresh(self)
        setattr(self, name, value)


_stale_classes: dict[type, type] = {}


def _stale_class(kind: type) -> type:
    """The class of stale tensors of a class."""
    known = _stale_classes.get(kind)
    if known is None:
        known = _stale_classes[kind] = type(f"Stale{kind.__name__}", (Stale, kind), {"__slots__": ()})
    return known


def _refresh(view: Any) -> None:
    """Compute a stale view from its base."""
    stale = type(view)
    object.__setattr__(view, "__class__", stale.__mro__[2])
    try:
        op, params, state = view._step
        with recording.during(state):
            value = op(view._base, **params)
        view._become(value)
    except BaseException:
        object.__setattr__(view, "__class__", stale)
        raise
