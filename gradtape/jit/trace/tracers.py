"""Tracers: the tensors and variables that a traced function computes with (see `tracer`)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import recording
from gradtape.core.exits import note_departure, note_text
from gradtape.core.graph import AMBIENT, LIFTED, LIFTED_NODE, UNTRACKED, VARIABLE, Node, leaf
from gradtape.core.location import hidden_frames, is_library
from gradtape.core.operation import Lifted
from gradtape.core.tensor import Tensor, Variable
from gradtape.explain import messages
from gradtape.jit.errors import Unrollable, Untraceable
from gradtape.jit.ir.program import Value
from gradtape.jit.trace.unevaluated import UnevaluatedSample, evaluated

if TYPE_CHECKING:
    from gradtape.jit.trace.tracer import TracingLevel

unary_fast_paths: dict[np.ufunc | str, Callable[..., Any]] = {}
"""Fast paths of unary ufuncs, and of "item" (static indexing); filled by `gradtape.jit.trace.fast_path`."""
binary_fast_paths: dict[np.ufunc, tuple[Callable[..., Any], Callable[..., Any]]] = {}
"""Fast paths of binary ufuncs: with the tensor as the first operand, and as the second."""


_STATIC = frozenset({int, slice})
_PLACES = frozenset({"_node", "traced", "_held"})


class TraceTensor(Lifted):
    """A value of the program being traced, with its concrete array in the traced call."""

    __slots__ = ()

    traced: Any = Tensor._held  # type: ignore[attr-defined]  # slots of Tensor under other names
    viewed: Any = Tensor._viewed  # type: ignore[attr-defined]

    def __init__(self, sample: Any, traced: Value, level: TracingLevel, node: Node = LIFTED_NODE) -> None:
        self._array = sample
        self._node = node
        self.traced = traced
        self.level = level
        self.viewed = False  # whether it is a view or has views

    def _on(self, node: Node) -> TraceTensor:
        if node is UNTRACKED or node is LIFTED_NODE:
            moved = TraceTensor(self._array, self.traced, self.level)
        else:
            moved = TraceTensor(self._array, self.traced, self.level, node)
            self.level.value_of_node[node.order] = self.traced
            if self is self.level.without_node:
                self.level.set_recent_node(moved)
        return moved

    def __getattr__(self, name: str) -> Any:
        if name in _PLACES:  # a result of an elided loop: emit the loop first (see `loops.elide`)
            self.level.detector.stop()
        return object.__getattribute__(self, name)

    def __bool__(self) -> bool:
        """Whether it is not zero, which is all that later calls have to have in common with this one."""
        if self.size == 1 and self.dtype.kind != "b":
            return bool(self != 0)
        return super().__bool__()

    def __int__(self) -> int:
        """The whole number towards zero, which is all that later calls have to have in common with this one."""
        read: Any = self
        if self.size == 1 and self.dtype.kind == "f":
            note_departure(self._node, "int()", lambda: np.asarray(evaluated(self._array)), self.shape)
            read = np.trunc(self)
        return Tensor.__int__(read)

    def _memory(self) -> Any:
        sample = self._array
        return sample.layout if type(sample) is UnevaluatedSample else sample

    def _set_memory(self, array: Any) -> None:
        sample = self._array
        is_known = type(sample) is not UnevaluatedSample or sample.is_evaluated
        self._array = array if is_known else sample.samples.rearranged(sample, array)

    def _is_number(self) -> bool:
        sample = self._array
        return sample.is_scalar if type(sample) is UnevaluatedSample else isinstance(sample, np.generic)

    def _check_writable(self, how: str) -> None:
        if _level(self).inner is not None:
            raise Unrollable("it writes to a tensor from outside of the loop")
        super()._check_writable(how)

    def _become(self, new: Tensor) -> None:
        level = _level(self)
        if isinstance(new, Lifted) and new.level.depth > level.depth:  # a tensor of a nested interpreter
            super()._become(new)
            return
        fresh = new if isinstance(new, TraceTensor) and new.level is level else level.lift(new)
        super()._become(fresh)
        self.traced = fresh.traced

    def _concrete(self) -> Any:
        """The array of this call; adds a guard, because the program now depends on its value."""
        return _level(self).rely_on(self)

    def _leave(self, how: str) -> Any:
        if how.startswith("Variable.assign"):
            raise Untraceable("a Variable that jit could not find beforehand is assigned to")
        return super()._leave(how)

    def _shown(self, how: str, text_of: Callable[[Any], str]) -> str:
        """The text of the value in this call; adds a guard, unless it is only printed or logged."""
        level, array = _level(self), np.asarray(evaluated(self._array))
        level.check_open(self)
        if _is_only_shown():
            level.warn_once(
                "printing",
                "jit: a value is printed or formatted while the function is traced. That happens once for each trace, "
                "not in each call: return the value, and print it outside.",
            )
        else:
            level.rely_on(self)
        return note_text(self._node, how, text_of(array), self.shape)

    def __repr__(self) -> str:
        return self._shown("repr()", _traced_text)

    def __str__(self) -> str:
        return self._shown("str()", str)

    def __format__(self, spec: str) -> str:
        return self._shown("format()", lambda array: format(array.item(), spec) if array.size == 1 else str(array))

    def __getitem__(self, index: Any) -> Any:
        parts = index if type(index) is tuple else (index,)
        if type(index) is int or all(type(part) in _STATIC and _is_fixed(part) for part in parts):
            item = unary_fast_paths["item"](self, sys._getframe(1), {"index": parts})
            return super().__getitem__(index) if item is None else item
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[Any]:
        return self._rows() if self.shape else super().__iter__()

    def _rows(self) -> Iterator[Any]:
        """The parts along the first axis, each read where the code that iterates asks for it."""
        for index in range(self.shape[0]):
            row = unary_fast_paths["item"](self, sys._getframe(1), {"index": (index,)})
            yield super().__getitem__(index) if row is None else row

    def as_index(self) -> Any:
        """A boolean mask as its values, which are guarded: the shape of what it picks depends on them."""
        return self._concrete() if self.dtype == bool else self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        caller: Any = sys._getframe(1)
        if caller.f_code in hidden_frames:
            caller = caller.f_back
        if method == "__call__" and not kwargs and type(self) is TraceTensor:
            result = None
            if ufunc in unary_fast_paths:
                result = unary_fast_paths[ufunc](self, caller)
            elif ufunc in binary_fast_paths:
                reflected = inputs[0] is not self
                result = binary_fast_paths[ufunc][reflected](self, inputs[not reflected], caller)
            if result is not None:
                return result
        out = kwargs.get("out")
        plain = out is not None and method == "__call__" and not any(isinstance(x, Tensor) for x in out)
        if plain and is_library(caller.f_code.co_filename):  # a gradient rule that would reuse a cotangent's memory
            del kwargs["out"]
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)


class TraceVariable(Variable):
    """Stands for a Variable during tracing: assignments are recorded, and applied after each run of the program.

    It is a `Variable` to the tapes and a `Lifted` tensor to `apply`. Their memory layouts do not allow a class to
    inherit from both, so it inherits from `Variable` and reports `TraceTensor` as its `__class__`.
    """

    __slots__ = ("level", "original", "traced", "viewed")

    def __init__(self, original: Variable, traced: Value, level: TracingLevel) -> None:
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

    def _become(self, new: Tensor) -> None:
        self.assign(new._concrete() if isinstance(new, Lifted) and new.level.depth > self.level.depth else new)

    _on: Any = TraceTensor._on
    _memory: Any = TraceTensor._memory
    _set_memory: Any = TraceTensor._set_memory
    _concrete: Any = TraceTensor._concrete
    _shown: Any = TraceTensor._shown
    __array_ufunc__: Any = TraceTensor.__array_ufunc__

    __repr__: Any = TraceTensor.__repr__
    __str__: Any = TraceTensor.__str__
    __format__: Any = TraceTensor.__format__

    def assign(self, value: Any) -> Variable:
        """Write a new value, which the program writes back to the variable after each call."""
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
        """Add to the value; see `assign`."""
        with recording.during(recording.current().mute(True)):
            return self.assign(self.level.lift(self) + delta)

    def assign_sub(self, delta: Any) -> Variable:
        """Subtract from the value; see `assign`."""
        with recording.during(recording.current().mute(True)):
            return self.assign(self.level.lift(self) - delta)


def _traced_text(array: Any) -> str:
    return f"Traced({np.array2string(array, separator=', ', prefix='Traced(')})"


def _is_only_shown() -> bool:
    """Whether the statement of the user's that is being executed makes text only to print or to log it."""
    from gradtape.explain.detectors.shown_text import is_only_shown
    from gradtape.explain.source.expression import UserExpression

    site = UserExpression.present()
    return site.node is None or is_only_shown(site, site.node)


def _is_fixed(part: Any) -> bool:
    """Whether a part of an index, if it is a slice, has numbers for bounds."""
    if type(part) is not slice:
        return True
    return type(part.start) in _BOUNDS and type(part.stop) in _BOUNDS and type(part.step) in _BOUNDS


_BOUNDS = frozenset({int, type(None)})


def _level(tensor: Any) -> TracingLevel:
    level: TracingLevel = tensor.level
    return level
