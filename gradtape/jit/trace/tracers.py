"""Traced tensors and variables: what a function that is traced computes with (see `trace`)."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import recording
from gradtape.core.graph import AMBIENT, LIFTED, LIFTED_NODE, UNTRACKED, VARIABLE, Node, leaf
from gradtape.core.location import is_library
from gradtape.core.operation import Lifted
from gradtape.core.tensor import Tensor, Variable
from gradtape.explain import messages
from gradtape.jit.errors import Untraceable
from gradtape.jit.ir.program import Value

if TYPE_CHECKING:
    from gradtape.jit.trace.tracer import TraceLevel

one_doors: dict[np.ufunc | str, Callable[..., Any]] = {}
"""Shorter ways for functions of one tensor, and for "item", where there are any: see `gradtape.jit.trace.fast_path`."""
two_doors: dict[np.ufunc, tuple[Callable[..., Any], Callable[..., Any]]] = {}
"""The same for functions of two operands: for a tensor that is the first of them, and for one that is the second."""


_STATIC = frozenset({int, slice})
_PLACES = frozenset({"_node", "traced", "_held"})


class TraceTensor(Lifted):
    """A value of the program that is being written; its array is what the value is in the call that is traced."""

    __slots__ = ()

    traced: Any = Tensor._held  # type: ignore[attr-defined]  # slots that every tensor has, under their names here
    viewed: Any = Tensor._viewed  # type: ignore[attr-defined]

    def __init__(self, sample: Any, traced: Value, level: TraceLevel, node: Node = LIFTED_NODE) -> None:
        self._array = sample
        self._node = node
        self.traced = traced
        self.level = level
        self.viewed = False  # whether it is a view, or has one

    def _on(self, node: Node) -> TraceTensor:
        if node is UNTRACKED or node is LIFTED_NODE:
            moved = TraceTensor(self._array, self.traced, self.level)
        else:
            moved = TraceTensor(self._array, self.traced, self.level, node)
            self.level.made[node.order] = self.traced
        if self.viewed:
            join(moved, self._views)
        return moved

    def __getattr__(self, name: str) -> Any:
        if name in _PLACES:  # a result of a loop that was not written down (see `coasting`)
            self.level.follower.stop()
        return object.__getattribute__(self, name)

    def _replace(self, new: Any, how: str) -> Tensor:
        if isinstance(self._array, np.generic) and self._node is LIFTED_NODE and _level(self).numpy:
            return new  # type: ignore[no-any-return]  # NumPy's numbers do not change: `s += 1` is a new one
        return super()._replace(new, how)

    def _become(self, new: Tensor, keep_node: bool) -> None:
        level = _level(self)
        if isinstance(new, Lifted) and new.level.depth > level.depth:  # what an interpreter inside of this one has
            super()._become(new, keep_node)
            return
        fresh = new if isinstance(new, TraceTensor) and new.level is level else level.lift(new)
        super()._become(fresh, keep_node)
        self.traced, self.viewed = fresh.traced, False  # in memory of its own now

    def _concrete(self) -> Any:
        """The array of this call, after writing down that the program relies on it."""
        return _level(self).rely_on(self)

    def _leave(self, how: str) -> Any:
        if how.startswith("Variable.assign"):
            raise Untraceable("a Variable that jit could not find beforehand is assigned to")
        return super()._leave(how)

    def _shown(self) -> Any:
        level = _level(self)
        level.check_open(self)
        level.warn_once(
            "printing",
            "jit: a value is printed or formatted while the function is traced. That happens once for each trace, "
            "not in each call: return the value, and print it outside.",
        )
        return np.asarray(self._array)

    def __repr__(self) -> str:
        return f"Traced({np.array2string(self._shown(), separator=', ', prefix='Traced(')})"

    def __str__(self) -> str:
        return str(self._shown())

    def __format__(self, spec: str) -> str:
        shown = self._shown()
        return format(shown.item(), spec) if shown.size == 1 else str(shown)

    def __getitem__(self, index: Any) -> Any:
        parts = index if type(index) is tuple else (index,)
        if type(index) is int or all(type(part) in _STATIC for part in parts):
            item = one_doors["item"](self, sys._getframe(1), {"index": parts})
            return super().__getitem__(index) if item is None else item
        return super().__getitem__(_known_masks(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(_known_masks(index), value)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs and type(self) is TraceTensor:
            result = None
            if ufunc in one_doors:
                result = one_doors[ufunc](self, sys._getframe(1))
            elif ufunc in two_doors:
                reflected = inputs[0] is not self
                result = two_doors[ufunc][reflected](self, inputs[not reflected], sys._getframe(1))
            if result is not None:
                return result
        out = kwargs.get("out")
        plain = out is not None and method == "__call__" and not any(isinstance(x, Tensor) for x in out)
        if plain and is_library(sys._getframe(1).f_code.co_filename):  # a rule that would reuse a cotangent's memory
            del kwargs["out"]
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)


class TraceVariable(Variable):
    """A Variable while a function that reads it is traced: assignments are written down, and made after each run.

    It is a `Variable` to the tapes and a `Lifted` tensor to the door; memory layouts allow a class to inherit only one
    of them, so it is the one by inheritance and the other by what it says its class is.
    """

    __slots__ = ("level", "original", "traced", "viewed")

    def __init__(self, original: Variable, traced: Value, level: TraceLevel) -> None:
        self._array = original._array
        bits = original._node.bits & (VARIABLE | AMBIENT)
        self._node = leaf(traced.shape, traced.dtype, bits | LIFTED)
        self._trainable, self.name = original._trainable, original.name
        self.original, self.traced, self.level, self.viewed = original, traced, level, False

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return TraceTensor

    def _make_alike(self, other: Tensor) -> None:
        self._on(self._node)._make_alike(other)

    def _become(self, new: Tensor, keep_node: bool) -> None:
        self.assign(new._concrete() if isinstance(new, Lifted) and new.level.depth > self.level.depth else new)

    _on: Any = TraceTensor._on
    _concrete: Any = TraceTensor._concrete
    _shown: Any = TraceTensor._shown
    __array_ufunc__: Any = TraceTensor.__array_ufunc__

    def __repr__(self) -> str:
        return f"Traced({np.array2string(self._shown(), separator=', ', prefix='Traced(')})"

    def assign(self, value: Any) -> Variable:
        level = self.level
        with recording.during(recording.current().mute(True)):
            new = level.lift(value)
            if new.shape != self.shape:
                raise messages.wrong_assigned_shape(self.name, self.shape, new.shape)
            if not np.can_cast(new.dtype, self.dtype, "same_kind"):
                raise messages.wrong_assigned_dtype(self.dtype, new.dtype)
            if new.dtype != self.dtype:
                new = level.lift(new.astype(self.dtype))
        self._array, self.traced = new._array, new.traced
        return self

    def assign_add(self, delta: Any) -> Variable:
        with recording.during(recording.current().mute(True)):
            return self.assign(self.level.lift(self) + delta)

    def assign_sub(self, delta: Any) -> Variable:
        with recording.during(recording.current().mute(True)):
            return self.assign(self.level.lift(self) - delta)


def _known_masks(index: Any) -> Any:
    """An index whose masks are known: how many elements they pick is a matter of shapes, so they are relied on."""
    if isinstance(index, tuple):
        return tuple([_known_masks(part) for part in index])
    return index._concrete() if isinstance(index, TraceTensor) and index.dtype == bool else index


def _level(tensor: Any) -> TraceLevel:
    level: TraceLevel = tensor.level
    return level


def join(tensor: Any, family: list[weakref.ref[Tensor]]) -> None:
    count = len(family)
    if not count & (count - 1):  # now and then: a loop takes a view of the same array in each step
        family[:] = [view for view in family if view() is not None]
    family.append(weakref.ref(tensor))
    tensor._views = family
    tensor.viewed = True
