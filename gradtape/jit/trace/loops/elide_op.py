"""The operations of a loop that coasts (see `coasting`): each has to be that of its row, and is computed, no more.

What is here is written out for speed, as `rows` is: thousands of steps come by here for each of their operations.
"""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any

from gradtape.core import recording
from gradtape.core.graph import keeping
from gradtape.core.operation import Op
from gradtape.jit.trace.loops.match import is_alike_index, is_same_number
from gradtape.jit.trace.loops.template import Row
from gradtape.jit.trace.tracers import TraceTensor

if TYPE_CHECKING:
    from gradtape.jit.trace.loops.elide import Coast

_current_recording = recording.current
_new = object.__new__


class Light:
    """One operation of a loop that coasts: it has to be that of the row, on the same operands."""

    __slots__ = (
        "at",
        "bits",
        "coast",
        "code",
        "level",
        "next",
        "number",
        "offset",
        "op",
        "other",
        "other_at",
        "own",
        "params",
        "reflected",
        "results",
        "row",
        "seen",
        "state",
        "varies",
    )

    next: Light

    def __init__(self, coast: Coast, row: Row) -> None:
        self.coast, self.row, self.level, self.results = coast, row, coast.level, coast.results
        self.op, self.params, self.varies, self.number = row.op, row.params, row.varies, row.number
        self.code, self.offset, self.reflected, self.state = row.code, row.offset, row.reflected, row.state
        first, last = (1, 0) if row.reflected else (0, -1)
        self.at, self.other_at = -row.like.back[first], -row.like.back[last]  # 0: the same in all steps
        self.own: Any = None  # then this one, once it has been seen
        self.other: Any = None
        self.seen: list[Any] = []  # what varies

    def one(self, op: Op, own: Any, frame: FrameType, params: dict[str, Any]) -> Any:
        """The result of an operation on one tensor; None if it is not the one that is expected."""
        if (
            op is not self.op
            or frame.f_code is not self.code
            or (frame.f_lasti != self.offset and not self._is_here(frame))
            or _current_recording() is not self.state
            or keeping.get()
            or (own is not (self.results[self.at] if self.at else self.own) and not self._is_own(own))
        ):
            return self.missed()
        if self.varies:
            if not is_alike_index(params["index"], self.params["index"]):
                return self.missed()
        elif params is not self.params and params != self.params:
            return self.missed()
        out = self.row.of_one(own._array, params)
        if out is None:
            return self.missed()
        if self.varies:
            self.seen.append(params)
        return self._result(out)

    def two(self, op: Op, reflected: bool, own: Any, other: Any, frame: FrameType) -> Any:
        """The result of an operation on two operands; None if it is not the one that is expected."""
        results = self.results
        if (
            op is not self.op
            or frame.f_code is not self.code
            or (frame.f_lasti != self.offset and not self._is_here(frame))
            or reflected is not self.reflected
            or _current_recording() is not self.state
            or keeping.get()
            or (own is not (results[self.at] if self.at else self.own) and not self._is_own(own))
        ):
            return self.missed()
        kind = type(other)
        if kind is TraceTensor:
            if other is not (results[self.other_at] if self.other_at else self.other) and not self._is_other(other):
                return self.missed()
            operand = other._array
        else:
            operand = other
            if other is not self.number and not is_same_number(other, self.number) and not self._may_vary(kind):
                return self.missed()
        out = self.row.of_two(own._array, operand)
        if out is None:
            return self.missed()
        if self.varies:
            self.seen.append(operand)
        return self._result(out)

    def _result(self, out: Any) -> Any:
        """A tensor that has neither value nor node: `TraceTensor.__getattr__` says what happens if these are read."""
        result = _new(TraceTensor)
        result._array = out
        result.level = level = self.level
        result.viewed = False
        self.results.append(result)
        level.row = self.next
        return result

    def _may_vary(self, kind: type) -> bool:
        """Whether the number may be another one of its kind."""
        return self.varies and kind is type(self.number)

    def _is_here(self, frame: FrameType) -> bool:
        if not self.row.is_here(frame):
            return False
        self.offset = frame.f_lasti
        return True

    def _is_own(self, tensor: Any) -> bool:
        """Whether a tensor from before the coast is the one with the door that is expected."""
        row = self.row
        if not self._is_operand(tensor, self.at, row.bits, row.same, row.node):
            return False
        self.own = None if self.at else tensor
        return True

    def _is_other(self, tensor: Any) -> bool:
        """The same for the other operand."""
        row = self.row
        if not self._is_operand(tensor, self.other_at, row.other_bits, row.other_same, row.other_node):
            return False
        self.other = None if self.other_at else tensor
        return True

    def _is_operand(self, tensor: Any, at: int, bits: int, same: Any, node: Any) -> bool:
        """Whether a tensor is of one of the steps before, or the one that is the same in all steps."""
        if tensor.level is not self.level:
            return False
        if at:
            return self.coast.is_from_before(tensor, -at, bits)
        return tensor.traced is same and tensor._node is node and self.coast.is_under_way

    def missed(self) -> None:
        """Another operation has come: it is over."""
        self.level.follower.stop()

    def interrupt(self) -> None:
        """A value is about to be made."""
        self.level.follower.stop()

    def before(self) -> None:
        """An operation is about to come by another way."""
        self.level.follower.stop()


class FirstLight(Light):
    """The first operation of a step: now and then it is looked who holds the results."""

    __slots__ = ()

    def one(self, op: Op, own: Any, frame: FrameType, params: dict[str, Any]) -> Any:
        if len(self.results) >= self.coast.limit and not self.coast.sweep():
            return None
        return super().one(op, own, frame, params)

    def two(self, op: Op, reflected: bool, own: Any, other: Any, frame: FrameType) -> Any:
        if len(self.results) >= self.coast.limit and not self.coast.sweep():
            return None
        return super().two(op, reflected, own, other, frame)
