"""Template of one operation of the loop body; the next iteration is matched against it, and recorded if it is equal.

Inlined for speed, as `fast_path` is: a loop of thousands of iterations runs this for each of its operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np

from gradtape.core import recording
from gradtape.core.backprop import keep_saved
from gradtape.core.graph import FLAGS, LIFTED, LIFTED_NODE, TENSOR, UNTRACKED, Node, next_order
from gradtape.core.operation import Op, note_stretch
from gradtape.core.shapes import Shape
from gradtape.jit.ir.locations import place
from gradtape.jit.ir.program import QUICK, Instruction, Literal, Operand, Value
from gradtape.jit.trace.loops.match import OperandOffsets, is_alike_index, is_same_number, is_same_params, match
from gradtape.jit.trace.tracers import TraceTensor
from gradtape.jit.trace.unevaluated import UnevaluatedSample

if TYPE_CHECKING:
    from gradtape.core.recording import Recording
    from gradtape.jit.trace.loops.elide_op import ElidedOp
    from gradtape.jit.trace.tracer import TracingLevel

NEVER = 1 << 62
"""Greater than the number of values of any trace."""

MAX_ELIDED_BYTES = 1 << 10
"""Maximum size in bytes of results in an elided loop (see `elide`): a number of them are kept alive for a while."""

_current_recording = recording.current
_new = object.__new__
_float64 = np.float64
_DOUBLES = (float, _float64)
_DOUBLE = np.dtype(_float64)
_NOTHING = object()
_OFF_TAPE = TENSOR | LIFTED


class RecordedOp(NamedTuple):
    """A recorded operation: its inputs, their nodes, a weak reference to its result, and the node of that.

    The node is known for operations on the general path only.
    """

    inputs: tuple[Any, ...]
    parents: tuple[Node, ...]
    result: ref[Any]
    node: Node = LIFTED_NODE


class OpTemplate:
    """One operation of the loop body as it was in the iteration learned from; `unary` and `binary` match and record."""

    __slots__ = (
        "back",
        "bits",
        "code",
        "dtype",
        "is_small",
        "is_unevaluated",
        "keep",
        "keep_out",
        "kernel",
        "level",
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
        "offsets",
        "op",
        "other_back",
        "other_bits",
        "other_node",
        "other_same",
        "params",
        "parents",
        "quick",
        "quick_layout",
        "reflected",
        "same",
        "scalar",
        "shape",
        "state",
        "stretched",
        "varies",
    )

    level: TracingLevel
    model: Instruction
    offsets: OperandOffsets
    next: OpTemplate | ElidedOp  # the next operation of the body, cyclic
    nodes: list[Node | None]  # the nodes of all values of the loop so far
    made: Node  # the node of the result in the iteration learned from
    parents: tuple[Node, ...]  # those of the operands
    # the operation and its source location
    kernel: Any
    quick: Callable[[Any, Any], Any] | None
    reflected: bool
    code: CodeType
    offset: int
    state: Recording
    params: dict[str, Any]
    varies: bool
    # the operands; first the tensor whose method is called, then the other one, which may be a number. Each is either
    # loop-invariant (`same`, with its `node`) or computed `back` values ago, with a node of these `bits`
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
    scalar: bool  # whether it is a np.float64 scalar
    quick_layout: bool  # whether its layout follows from its shape
    is_unevaluated: bool  # whether it was left unevaluated in the iteration learned from
    is_small: bool
    live_bits: int
    keep: tuple[bool, ...] | None
    nothing: tuple[Any, ...]
    keep_out: bool
    stretched: bool

    def __init__(self, level: TracingLevel) -> None:
        self.level = level
        self.op: Op | None = None  # None for an operation on the general path

    @classmethod
    def from_operation(
        cls, level: TracingLevel, op: Op, inputs: Any, parents: Any, live: int, frame: FrameType, out: Any
    ) -> OpTemplate:
        """The template of an operation that took the fast path; `out` is its result."""
        template = cls(level)
        template.op, template.kernel = op, op.kernel
        template.quick = QUICK.get(op.name) if op.ufunc else None
        template.reflected = reflected = len(inputs) == 2 and type(inputs[0]) is not type(out)
        template.code, template.offset, template.state = frame.f_code, frame.f_lasti, _current_recording()
        template.node, template.other_node = parents[1 if reflected else 0], parents[0 if reflected else -1]
        template.made, template.parents = out._node, parents
        template.bits, template.other_bits = template.node.bits, template.other_node.bits
        template.shape, template.dtype, template.scalar = out.shape, out.dtype, _is_float(out._array)
        template.is_unevaluated = type(out._array) is UnevaluatedSample
        # operands have the shapes and dtypes of the iteration learned from, so that its result has those of that one
        template.quick_layout = op.ufunc and (template.scalar or len(out.shape) == 1)
        template.is_small = out._array.nbytes <= MAX_ELIDED_BYTES
        template.live_bits, template.keep, template.nothing = 0, None, ()
        template.keep_out, template.stretched = False, False
        if live:
            node = out._node
            template.live_bits, template.keep_out, template.nothing = node.bits, node.out is not None, node.inputs
            kept = tuple([x is not None for x in node.inputs])
            template.keep = kept if any(kept) else None
            if len(parents) == 2 and op.stretches:
                left, right = parents
                template.stretched = (left if left.bits > FLAGS else right).shape != out.shape
        return template

    def set_model(self, model: Instruction, offsets: OperandOffsets) -> None:
        """Set the instruction of the iteration learned from, and how it matches the iteration before."""
        self.model, self.offsets, self.varies, self.params = model, offsets, offsets.varies, model.params
        if self.op is None:
            return
        first, last = (1, 0) if self.reflected else (0, -1)
        operands = model.operands
        self.same, self.back = (None, offsets.back[first]) if offsets.back[first] else (operands[first], NEVER)
        self.other_same, self.other_back = (None, offsets.back[last]) if offsets.back[last] else (operands[last], NEVER)
        self.number = _NOTHING
        literal = operands[last]
        if isinstance(literal, Literal):
            self.number, self.literal = literal.value, literal

    def complete(self, recorded: RecordedOp) -> None:
        """Add what eliding an operation on the general path needs: it was `recorded` in the iteration learned from."""
        result, location = self.model.results[0], self.model.location
        self.kernel, self.quick, self.reflected, self.scalar = self.model.op.kernel, None, False, False
        assert location.code is not None
        self.code, self.offset = location.code, location.offset
        self.parents, self.made, self.live_bits = recorded.parents, recorded.node, recorded.node.bits & ~_OFF_TAPE
        self.shape, self.dtype = result.shape, result.dtype

    @property
    def number_at(self) -> int:
        """The position of the operand that may be a number."""
        return 0 if self.reflected else 1

    # -- operations on the fast path

    def _expects(self, op: Op, own: Any, frame: FrameType) -> bool:
        """Whether the operation, its source location, the recording state and the first tensor match."""
        if (
            self.op is not op
            or frame.f_code is not self.code
            or (frame.f_lasti != self.offset and not self.is_at(frame))
            or _current_recording() is not self.state
            or keep_saved.get()
        ):
            return False
        node, value = own._node, own.traced
        if value is self.same:
            fits = node is self.node
        else:
            fits = self.level._count - value.id == self.back and (self.nodes[-self.back] or node) is node
        return fits and node.bits == self.bits

    def unary(self, op: Op, own: Any, frame: FrameType, params: dict[str, Any]) -> Any:
        """Match, compute and record a unary operation; None if it does not match."""
        node, value = own._node, own.traced
        if not self._expects(op, own, frame):
            return self.on_mismatch()
        if params is not self.params and not is_same_params(params, self.params):
            if not self.varies or not is_alike_index(params["index"], self.params["index"]):
                return self.on_mismatch()
        else:
            params = self.params
        array = own._array
        if self.is_unevaluated or type(array) is UnevaluatedSample:
            out = self._unevaluated((array,), params)
        else:
            out = self.compute_unary(array, params)
        if out is None:
            return self.on_mismatch()
        return self._record((value,), (own,), (node,), out, params, type(own))

    def binary(self, op: Op, reflected: bool, own: Any, other: Any, frame: FrameType) -> Any:
        """Match, compute and record a binary operation; None if it does not match."""
        level, node, value = self.level, own._node, own.traced
        count = level._count
        if not self._expects(op, own, frame) or self.reflected is not reflected:
            return self.on_mismatch()
        kind, array = type(other), own._array
        second: Any
        if kind is type(own):
            second, parent, operand = other.traced, other._node, other._array
            if second is self.other_same:
                fits = parent is self.other_node
            else:
                fits = count - second.id == self.other_back and (self.nodes[-self.other_back] or parent) is parent
            if not fits or parent.bits != self.other_bits or other.level is not level:
                return self.on_mismatch()
        else:
            parent, operand = UNTRACKED, other
            if other is self.number or is_same_number(other, self.number):
                second = self.literal
            elif self.varies and kind is type(self.number):
                second = Literal(other)
            else:
                return self.on_mismatch()
        if self.is_unevaluated or type(array) is UnevaluatedSample or type(operand) is UnevaluatedSample:
            out = self._unevaluated((operand, array) if reflected else (array, operand), self.params)
        else:
            out = self.compute_binary(array, operand)
        if out is None:
            return self.on_mismatch()
        if reflected:
            return self._record((second, value), (other, own), (parent, node), out, self.params, type(own))
        return self._record((value, second), (own, other), (node, parent), out, self.params, type(own))

    def _unevaluated(self, samples: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """The result left unevaluated; None if it has to be computed, or if its shape or dtype changed."""
        lazy = self.level.samples
        if self.is_unevaluated and self.quick_layout and lazy.is_on:
            return UnevaluatedSample(lazy, self.dtype.type() if self.scalar else np.empty(self.shape, self.dtype))
        out = lazy.result(self.op, samples, params) if lazy.is_on else None  # type: ignore[arg-type]  # as in `_record`
        if out is None or out.shape != self.shape or out.dtype is not self.dtype:
            return None
        return None if self.scalar and not out.is_scalar else out

    def compute_unary(self, array: Any, params: dict[str, Any]) -> Any:
        """The result of the kernel for one array; None on an error or if its shape or dtype changed."""
        try:
            out = self.kernel(array, **params)
        except Exception:
            return None  # the general path computes it again and raises the explained error
        return out if out.shape == self.shape and out.dtype is self.dtype else None

    def compute(self, arrays: Sequence[Any], params: dict[str, Any]) -> Any:
        """The same for any number of arrays and numbers."""
        try:
            out = self.kernel(*arrays, **params)
        except Exception:
            return None  # the general path computes it again and raises the explained error
        return out if out.shape == self.shape and out.dtype is self.dtype else None

    def compute_binary(self, array: Any, operand: Any) -> Any:
        """The same for the array of the tensor whose method is called, and the other operand."""
        way = self.kernel
        if self.quick is not None and type(array) is _float64 and type(operand) in _DOUBLES:
            way = self.quick
        try:
            out = way(operand, array) if self.reflected else way(array, operand)
        except Exception:
            return None  # the general path computes it again and raises the explained error
        if self.scalar:
            return out if type(out) is _float64 else None
        return out if out.shape == self.shape and out.dtype is self.dtype else None

    def _record(self, operands: Any, inputs: Any, parents: Any, out: Any, params: dict[str, Any], kind: Any) -> Any:
        """Record the operation as `fast_path._record` does, from the values of the template."""
        level = self.level
        value = _new(Value)
        value.id = count = level._count
        value.shape = shape = self.shape
        value.dtype = dtype = self.dtype
        level._count = count + 1
        instruction = _new(Instruction)
        instruction.op = op = self.op  # type: ignore[assignment]  # not None on the fast path
        instruction.operands = operands
        instruction.params = params
        instruction.results = (value,)
        instruction.location = self.model.location
        instruction.effect = False
        level.instructions.append(instruction)
        if type(out) is UnevaluatedSample:
            level.samples.bind(out, value)
        level.expected = self.next
        result = _new(kind)
        result._array = out
        result.traced = value
        result.level = level
        result.viewed = False
        if self.is_small:
            level.recent_ops.append((count, RecordedOp(without_views(inputs), parents, ref(result))))
        if not self.live_bits:
            result._node = LIFTED_NODE
            self.nodes.append(LIFTED_NODE)
            return result
        # generated: loop_node (tools/generate_fast_paths.py)
        node = _new(Node)
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
            node.inputs = (_without_node(inputs[0], kind),)
        else:
            node.inputs = (
                _without_node(inputs[0], kind) if keep[0] else None,
                _without_node(inputs[1], kind) if keep[1] else None,
            )
        node.out = _without_node(result, kind) if self.keep_out else None
        # end of generated code
        result._node = node
        self.nodes.append(node)
        if self.stretched:
            note_stretch(node, inputs)
        return result

    def is_at(self, frame: FrameType) -> bool:
        """Whether a frame is at the location of this operation, which may have two offsets (see `locations.place`)."""
        if place(frame.f_code, frame.f_lasti) is not self.model.location:
            return False
        self.offset = frame.f_lasti
        return True

    def on_mismatch(self) -> None:
        """The operation does not match: end the loop, unless a general operation is expected here."""
        if self.op is not None:
            self.level.detector.stop()

    # -- operations on the general path, and other events

    def on_new_value(self) -> None:
        """The trace is about to create a value that the template did not predict: end the loop."""
        self.level.detector.stop()

    def before_general_op(self) -> OpTemplate | None:
        """Called before an operation on the general path; this template if one is expected here, else the loop ends."""
        if self.op is not None:
            self.level.detector.stop()
            return None
        self.level.detector.pause()
        return self

    def after_general_op(self, instruction: Instruction, count: int) -> None:
        """Called after it: compare its instruction. There were `count` values before it."""
        offsets = match(instruction, self.model)
        detector = self.level.detector
        known = offsets is not None and offsets.back == self.offsets.back and (self.varies or not offsets.varies)
        if known and instruction.results[0].id == count:
            detector.resume(self.next, len(instruction.results))
        else:
            detector.stop()


def without_views(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs of an operation, with copies in the place of views: a write visits all views of a tensor that live."""
    if any(map(_may_be_view, inputs)):
        return tuple([x._on(LIFTED_NODE) if _may_be_view(x) else x for x in inputs])
    return inputs


def _is_float(sample: Any) -> bool:
    """Whether a sample is a np.float64 scalar."""
    if type(sample) is UnevaluatedSample:
        return sample.is_scalar and sample.dtype is _DOUBLE
    return type(sample) is _float64


def _may_be_view(x: Any) -> bool:
    if type(x) is not TraceTensor:
        return False
    memory = x._memory()
    return type(memory) is np.ndarray and memory.base is not None


def _without_node(x: Any, kind: Any) -> Any:
    """A copy of an operand that is on no tape; a copy, because the operand may be written to later."""
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
