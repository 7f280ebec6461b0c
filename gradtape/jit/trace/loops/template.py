"""The operations of a loop that is followed: what each of them was in the last step, and has to be in the next one.

A row is written out for speed, as `doors` is: thousands of steps come by here for each of their operations.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np

from gradtape.core import recording
from gradtape.core.graph import FLAGS, LIFTED_NODE, UNTRACKED, Node, keeping, next_order
from gradtape.core.operation import Op, note_stretch
from gradtape.core.shapes import Shape
from gradtape.jit.ir.locations import place
from gradtape.jit.ir.program import QUICK, Instruction, Literal, Operand, Value
from gradtape.jit.trace.loops.match import Likeness, is_alike_index, is_same_number, likeness

if TYPE_CHECKING:
    from gradtape.core.recording import Recording
    from gradtape.jit.trace.loops.elide_op import Light
    from gradtape.jit.trace.tracer import TraceLevel

NEVER = 1 << 62
"""More values than any trace has."""

SMALL = 1 << 10
"""Bytes of arrays, up to which loops over them are not written down (see `coasting`): some are held for a while."""

_current_recording = recording.current
_new = object.__new__
_float64 = np.float64
_DOUBLES = (float, _float64)
_NOTHING = object()


class Written(NamedTuple):
    """An operation that was written down: its inputs, the nodes behind them, and its result, if somebody holds it."""

    inputs: tuple[Any, ...]
    parents: tuple[Node, ...]
    result: ref[Any]


class Row:
    """One operation of the loop as it was in the last step: the next one has to be the same."""

    __slots__ = (
        "back",
        "bits",
        "code",
        "dtype",
        "is_small",
        "keep",
        "keep_out",
        "kernel",
        "level",
        "like",
        "literal",
        "live_bits",
        "made",
        "model",
        "next",
        "node",
        "nodes",
        "nothing",
        "number",
        "offset",
        "op",
        "other_back",
        "other_bits",
        "other_node",
        "other_same",
        "params",
        "quick",
        "reflected",
        "same",
        "scalar",
        "shape",
        "state",
        "stretched",
        "varies",
    )

    level: TraceLevel
    model: Instruction
    like: Likeness
    next: Row | Light  # the operation after this one; after the last, the first of the next step
    nodes: list[Node | None]  # behind all values so far
    made: Node  # the node behind the result, in the step that was learned from
    # what the operation is, and where
    kernel: Any
    quick: Callable[[Any, Any], Any] | None
    reflected: bool
    code: CodeType
    offset: int
    state: Recording
    params: dict[str, Any]
    varies: bool
    # the operands, the tensor that has the door before the other one: each is the same in all steps, with its node, or
    # a value so many values back, with a node of these bits; the other one may be a number
    same: Operand | None
    node: Node
    back: int
    bits: int
    other_same: Operand | None
    other_node: Node
    other_back: int
    other_bits: int
    number: Any
    literal: Literal
    # the result and its node
    shape: Shape
    dtype: np.dtype[Any]
    scalar: bool  # whether it is one of NumPy's doubles
    is_small: bool
    live_bits: int
    keep: tuple[bool, ...] | None
    nothing: tuple[Any, ...]
    keep_out: bool
    stretched: bool

    def __init__(self, level: TraceLevel) -> None:
        self.level = level
        self.op: Op | None = None  # None where the operation comes by another way than the doors

    @classmethod
    def learned(
        cls, level: TraceLevel, op: Op, inputs: Any, parents: Any, live: int, frame: FrameType, out: Any
    ) -> Row:
        """An operation that has come through a door; `out` is its result."""
        row = cls(level)
        row.op, row.kernel = op, op.kernel
        row.quick = QUICK.get(op.name) if op.ufunc else None
        row.reflected = reflected = len(inputs) == 2 and type(inputs[0]) is not type(out)
        row.code, row.offset, row.state = frame.f_code, frame.f_lasti, _current_recording()
        row.node, row.other_node, row.made = parents[1 if reflected else 0], parents[0 if reflected else -1], out._node
        row.bits, row.other_bits = row.node.bits, row.other_node.bits
        row.shape, row.dtype, row.scalar = out.shape, out.dtype, type(out._array) is _float64
        row.is_small = out._array.nbytes <= SMALL
        row.live_bits, row.keep_out, row.stretched, row.keep, row.nothing = 0, False, False, None, ()
        if live:
            node = out._node
            row.live_bits, row.keep_out, row.nothing = node.bits, node.out is not None, node.inputs
            kept = tuple([x is not None for x in node.inputs])
            row.keep = kept if any(kept) else None
            if len(parents) == 2 and op.stretches:
                left, right = parents
                row.stretched = (left if left.bits > FLAGS else right).shape != out.shape
        return row

    def settle(self, model: Instruction, like: Likeness) -> None:
        """Know what the operation has in common with that of the step before."""
        self.model, self.like, self.varies, self.params = model, like, like.varies, model.params
        if self.op is None:
            return
        first, last = (1, 0) if self.reflected else (0, -1)
        operands = model.operands
        self.same, self.back = (None, like.back[first]) if like.back[first] else (operands[first], NEVER)
        self.other_same, self.other_back = (None, like.back[last]) if like.back[last] else (operands[last], NEVER)
        self.number = _NOTHING
        literal = operands[last]
        if isinstance(literal, Literal):
            self.number, self.literal = literal.value, literal

    @property
    def number_at(self) -> int:
        """Which of two operands may be a number."""
        return 0 if self.reflected else 1

    # -- through the doors

    def _expects(self, op: Op, own: Any, frame: FrameType) -> bool:
        """Whether this is the operation of the row, at its place, on the tensor that it has in each step."""
        if (
            self.op is not op
            or frame.f_code is not self.code
            or (frame.f_lasti != self.offset and not self.is_here(frame))
            or _current_recording() is not self.state
            or keeping.get()
        ):
            return False
        node, value = own._node, own.traced
        if value is self.same:
            fits = node is self.node
        else:
            fits = self.level._count - value.id == self.back and (self.nodes[-self.back] or node) is node
        return fits and node.bits == self.bits

    def one(self, op: Op, own: Any, frame: FrameType, params: dict[str, Any]) -> Any:
        """The result of an operation on one tensor, written down; None if it is not the one that is expected."""
        node, value = own._node, own.traced
        if not self._expects(op, own, frame):
            return self.missed()
        if params is not self.params and params != self.params:
            if not self.varies or not is_alike_index(params["index"], self.params["index"]):
                return self.missed()
        else:
            params = self.params
        out = self.of_one(own._array, params)
        if out is None:
            return self.missed()
        return self._write((value,), (own,), (node,), out, params, type(own))

    def two(self, op: Op, reflected: bool, own: Any, other: Any, frame: FrameType) -> Any:
        """The result of an operation on two operands, written down; None if it is not the one that is expected."""
        level, node, value = self.level, own._node, own.traced
        count = level._count
        if not self._expects(op, own, frame) or self.reflected is not reflected:
            return self.missed()
        kind, array = type(other), own._array
        second: Any
        if kind is type(own):
            second, parent, operand = other.traced, other._node, other._array
            if second is self.other_same:
                fits = parent is self.other_node
            else:
                fits = count - second.id == self.other_back and (self.nodes[-self.other_back] or parent) is parent
            if not fits or parent.bits != self.other_bits or other.level is not level:
                return self.missed()
        else:
            parent, operand = UNTRACKED, other
            if other is self.number or is_same_number(other, self.number):
                second = self.literal
            elif self.varies and kind is type(self.number):
                second = Literal(other)
            else:
                return self.missed()
        out = self.of_two(array, operand)
        if out is None:
            return self.missed()
        if reflected:
            return self._write((second, value), (other, own), (parent, node), out, self.params, type(own))
        return self._write((value, second), (own, other), (node, parent), out, self.params, type(own))

    def of_one(self, array: Any, params: dict[str, Any]) -> Any:
        """What the operation makes of one array; None if that is no longer of the same form."""
        try:
            out = self.kernel(array, **params)
        except Exception:
            return None  # it is done again by the general way, which says what is wrong
        return out if out.shape == self.shape and out.dtype is self.dtype else None

    def of_two(self, array: Any, operand: Any) -> Any:
        """The same of the array of the tensor that has the door, and of the other operand."""
        way = self.kernel
        if self.quick is not None and type(array) is _float64 and type(operand) in _DOUBLES:
            way = self.quick
        try:
            out = way(operand, array) if self.reflected else way(array, operand)
        except Exception:
            return None  # it is done again by the general way, which says what is wrong
        if self.scalar:
            return out if type(out) is _float64 else None
        return out if out.shape == self.shape and out.dtype is self.dtype else None

    def _write(self, operands: Any, inputs: Any, parents: Any, out: Any, params: dict[str, Any], kind: Any) -> Any:
        """What `doors` writes, from what the row knows."""
        level = self.level
        value = _new(Value)
        value.id = count = level._count
        value.shape = shape = self.shape
        value.dtype = dtype = self.dtype
        level._count = count + 1
        instruction = _new(Instruction)
        instruction.op = op = self.op  # type: ignore[assignment]  # here it has come through a door
        instruction.operands = operands
        instruction.params = params
        instruction.results = (value,)
        instruction.location = self.model.location
        instruction.effect = False
        level.instructions.append(instruction)
        level.row = self.next
        result = _new(kind)
        result._array = out
        result.traced = value
        result.level = level
        result.viewed = False
        if self.is_small:
            level.remembered.append((count, Written(inputs, parents, ref(result))))
        if not self.live_bits:
            result._node = LIFTED_NODE
            self.nodes.append(LIFTED_NODE)
            return result
        result._node = node = _new(Node)
        self.nodes.append(node)
        node.op = op
        node.params = params
        node.parents = parents
        node.bits = self.live_bits
        node.order = next_order()
        node.recording = self.state
        node.extra = None
        node.code = self.code
        node.offset = self.offset
        node.shape = shape
        node.dtype = dtype
        keep = self.keep
        if keep is None:
            node.inputs = self.nothing
        elif len(keep) == 1:
            node.inputs = (_bare(inputs[0], kind),)
        else:
            node.inputs = (
                _bare(inputs[0], kind) if keep[0] else None,
                _bare(inputs[1], kind) if keep[1] else None,
            )
        node.out = None
        if self.stretched:
            note_stretch(node, inputs)
        if self.keep_out:
            node.out = _bare(result, kind)
        return result

    def is_here(self, frame: FrameType) -> bool:
        """Whether a frame is at the line of this operation; the same place has two names (see `lines.place`)."""
        if place(frame.f_code, frame.f_lasti) is not self.model.location:
            return False
        self.offset = frame.f_lasti
        return True

    def missed(self) -> None:
        """Another operation has come: follow no longer, unless it may be one that comes by another way."""
        if self.op is not None:
            self.level.follower.stop()

    # -- by other ways

    def interrupt(self) -> None:
        """A value is about to be made that nobody has expected."""
        self.level.follower.stop()

    def before(self) -> Row | None:
        """An operation is about to come by another way: this row, if that was expected."""
        if self.op is not None:
            self.level.follower.stop()
            return None
        self.level.follower.pause()
        return self

    def after(self, instruction: Instruction, count: int) -> None:
        """It has come; before it, there were `count` values."""
        like = likeness(instruction, self.model)
        follower = self.level.follower
        known = like is not None and like.back == self.like.back and (self.varies or not like.varies)
        if known and instruction.results[0].id == count:
            follower.resume(self.next, len(instruction.results))
        else:
            follower.stop()


def _bare(x: Any, kind: Any) -> Any:
    """An operand without its place on the tapes, as it is now: it may be written to."""
    if type(x) is not kind:
        return x
    if x.viewed:
        return x._on(LIFTED_NODE)
    bare = _new(kind)
    bare._array = x._array
    bare._node = LIFTED_NODE
    bare.traced = x.traced
    bare.level = x.level
    bare.viewed = False
    return bare
