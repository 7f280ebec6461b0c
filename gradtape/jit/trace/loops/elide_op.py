"""While a loop is elided: check that the operation equals its template, run the kernel, record nothing.

Inlined for speed, as `template` is: a loop of thousands of iterations runs this for each of its operations.
"""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any

from gradtape.core import recording
from gradtape.core.backprop import keep_saved
from gradtape.core.operation import Op
from gradtape.core.views import note_view
from gradtape.jit.ir.program import Value, params_key
from gradtape.jit.trace.loops.match import is_alike_index, is_same_number, is_same_params
from gradtape.jit.trace.loops.template import OpTemplate
from gradtape.jit.trace.tracers import TraceTensor
from gradtape.jit.trace.unevaluated import UnevaluatedSample

if TYPE_CHECKING:
    from gradtape.jit.trace.loops.elide import ElidedLoop

_current_recording = recording.current
_new = object.__new__


class ElidedOp:
    """One operation of an elided loop: it must equal its template and have the same operands."""

    __slots__ = (
        "at",
        "bits",
        "code",
        "level",
        "loop",
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
        "seen",
        "state",
        "template",
        "varies",
    )

    next: ElidedOp

    def __init__(self, loop: ElidedLoop, template: OpTemplate) -> None:
        self.loop, self.template, self.level, self.results = loop, template, loop.level, loop.results
        self.seen: list[Any] = []  # the varying literal or parameters of each iteration
        self._set_template(template)

    def _set_template(self, template: OpTemplate) -> None:
        self.op, self.params, self.varies, self.number = template.op, template.params, template.varies, template.number
        self.code, self.offset = template.code, template.offset
        self.reflected, self.state = template.reflected, template.state
        first, last = (1, 0) if template.reflected else (0, -1)
        self.at, self.other_at = (
            -template.offsets.back[first],
            -template.offsets.back[last],
        )  # indices into results; 0: loop-invariant
        self.own: Any = None  # the loop-invariant operand, once it was checked
        self.other: Any = None

    def unary(self, op: Op, own: Any, frame: FrameType, params: dict[str, Any]) -> Any:
        """Match and compute a unary operation; None if it does not match."""
        if (
            op is not self.op
            or frame.f_code is not self.code
            or (frame.f_lasti != self.offset and not self._is_at(frame))
            or _current_recording() is not self.state
            or keep_saved.get()
            or (own is not (self.results[self.at] if self.at else self.own) and not self._is_own(own))
        ):
            return self.on_mismatch()
        if self.varies:
            if not is_alike_index(params["index"], self.params["index"]):
                return self.on_mismatch()
        elif params is not self.params and not is_same_params(params, self.params):
            return self.on_mismatch()
        out = self.template.compute_unary(_numbers_of(own), params)
        if out is None:
            return self.on_mismatch()
        if self.varies:
            self.seen.append(params)
        return self._result(out)

    def binary(self, op: Op, reflected: bool, own: Any, other: Any, frame: FrameType) -> Any:
        """Match and compute a binary operation; None if it does not match."""
        results = self.results
        if (
            op is not self.op
            or frame.f_code is not self.code
            or (frame.f_lasti != self.offset and not self._is_at(frame))
            or reflected is not self.reflected
            or _current_recording() is not self.state
            or keep_saved.get()
            or (own is not (results[self.at] if self.at else self.own) and not self._is_own(own))
        ):
            return self.on_mismatch()
        kind = type(other)
        if kind is TraceTensor:
            if other is not (results[self.other_at] if self.other_at else self.other) and not self._is_other(other):
                return self.on_mismatch()
            operand = _numbers_of(other)
        else:
            operand = other
            if other is not self.number and not is_same_number(other, self.number) and not self._may_vary(kind):
                return self.on_mismatch()
        out = self.template.compute_binary(_numbers_of(own), operand)
        if out is None:
            return self.on_mismatch()
        if self.varies:
            self.seen.append(operand)
        return self._result(out)

    def _result(self, out: Any) -> Any:
        """A tensor without value and node: reading these ends the loop (`TraceTensor.__getattr__`)."""
        result = _new(TraceTensor)
        result._array = out
        result.level = level = self.level
        result.viewed = False
        self.results.append(result)
        level.expected = self.next
        return result

    def _may_vary(self, kind: type) -> bool:
        """Whether the literal may differ, within its type."""
        return self.varies and kind is type(self.number)

    def _is_at(self, frame: FrameType) -> bool:
        if not self.template.is_at(frame):
            return False
        self.offset = frame.f_lasti
        return True

    def _is_own(self, tensor: Any) -> bool:
        """Whether a recorded tensor is the expected first tensor."""
        template = self.template
        if not self._is_operand(tensor, self.at, template.bits, template.same, template.node):
            return False
        self.own = None if self.at else tensor
        return True

    def _is_other(self, tensor: Any) -> bool:
        """The same for the other operand."""
        template = self.template
        if not self._is_operand(tensor, self.other_at, template.other_bits, template.other_same, template.other_node):
            return False
        self.other = None if self.other_at else tensor
        return True

    def _is_operand(self, tensor: Any, at: int, bits: int, same: Any, node: Any) -> bool:
        """Whether a tensor is the result of a recorded iteration, or the loop-invariant operand."""
        if tensor.level is not self.level:
            return False
        if at:
            return self.loop.is_recorded_operand(tensor, -at, bits)
        return tensor.traced is same and tensor._node is node and self.loop.is_active

    def on_mismatch(self) -> None:
        """Stop eliding: the operation does not match."""
        self.level.detector.stop()

    def on_new_value(self) -> None:
        """Stop eliding: the trace is about to create a value that the template did not predict."""
        self.level.detector.stop()

    def before_general_op(self) -> None:
        """Stop eliding: an operation on the general path is about to run."""
        self.level.detector.stop()


def _numbers_of(tensor: Any) -> Any:
    """The sample of an operand, computed: results of an elided loop have no instructions to compute them with."""
    sample = tensor._array
    return sample.evaluate() if type(sample) is UnevaluatedSample else sample


class FirstElidedOp(ElidedOp):
    """The first operation of an iteration: it also drops unreferenced results now and then."""

    __slots__ = ()

    def unary(self, op: Op, own: Any, frame: FrameType, params: dict[str, Any]) -> Any:
        """As `ElidedOp.unary`, after unused results were dropped; None if eliding has to stop."""
        if len(self.results) >= self.loop.limit and not self.loop.sweep():
            return None
        return super().unary(op, own, frame, params)

    def binary(self, op: Op, reflected: bool, own: Any, other: Any, frame: FrameType) -> Any:
        """As `ElidedOp.binary`, after unused results were dropped; None if eliding has to stop."""
        if len(self.results) >= self.loop.limit and not self.loop.sweep():
            return None
        return super().binary(op, reflected, own, other, frame)


class ElidedGeneralOp(ElidedOp):
    """An operation on the general path: any number of operands, and parameters."""

    __slots__ = ("known", "params_key")

    def _set_template(self, template: OpTemplate) -> None:
        self.op, self.params, self.state = template.model.op, template.params, self.loop.state
        self.params_key = params_key(template.params)
        self.known: list[Any] = [None] * len(template.offsets.back)  # loop-invariant operands that were checked

    def unary(self, op: Op, own: Any, frame: FrameType, params: dict[str, Any]) -> Any:
        """Match and compute an operation that begins on the fast path; None, and the loop ends, if it differs."""
        result = self.apply(op, (own,), params)
        return self.on_mismatch() if result is NotImplemented else result

    def binary(self, op: Op, reflected: bool, own: Any, other: Any, frame: FrameType) -> Any:
        """The same for two operands: the other one may be an array, with which the fast path does not go on."""
        result = self.apply(op, (other, own) if reflected else (own, other), {})
        return self.on_mismatch() if result is NotImplemented else result

    def apply(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Match and compute the operation; NotImplemented if it does not match, so that it is recorded."""
        loop = self.loop
        if (
            op is not self.op
            or len(inputs) != len(self.known)
            or _current_recording() is not self.state
            or keep_saved.get()
            or (params is not self.params and params_key(params) != self.params_key)
            or not any(type(x) is TraceTensor and x.level is self.level for x in inputs)
        ):
            return NotImplemented
        if self is loop.elided_ops[0] and len(self.results) >= loop.limit and not loop.sweep():
            return NotImplemented
        arrays = []
        for at, (x, back) in enumerate(zip(inputs, self.template.offsets.back, strict=True)):
            if x is not (self.results[-back] if back else self.known[at]) and not self._is_input(x, back, at):
                return NotImplemented
            arrays.append(_numbers_of(x) if type(x) is TraceTensor else x)
        out = self.template.compute(arrays, params)
        if out is None:
            return NotImplemented
        result = self._result(out)
        if op.view:
            note_view(result, inputs[0], op, params)
        return result

    def _is_input(self, x: Any, back: int, at: int) -> bool:
        """Whether an operand that was not checked before is the expected one."""
        template = self.template
        model = template.model.operands[at]
        if type(x) is TraceTensor:
            same = model if type(model) is Value else None
            if not self._is_operand(x, -back, template.parents[at].bits, same, template.parents[at]):
                return False
        elif isinstance(model, Value):  # an array, whose elements may be others in each iteration
            return self.level.find_constant(x) is model
        elif not is_same_number(x, model.value):
            return False
        if not back:
            self.known[at] = x
        return True
