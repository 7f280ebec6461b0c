"""The doors that most operations of a traced function come through: one operand or two, written out for the plain case.

Plain is an operation with one result and a rule, on values of one trace and Python's numbers, called by the user's
code. Whatever else comes is handed on to the door of all tensors, and through that to `TraceLevel.process`, which say
what is to be done. What is here says it again, in one go, for the sake of speed and of nothing else: a loop of
thousands of steps comes by here for each of its operations.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any
from weakref import ref

from gradtape import ops
from gradtape.config import config
from gradtape.core import recording
from gradtape.core.fast_apply import is_plain
from gradtape.core.graph import FLAGS, LIFTED, LIFTED_NODE, TENSOR, UNTRACKED, Node, keeping, next_order
from gradtape.core.location import user_files
from gradtape.core.operation import NO_PARAMS, Op, note_stretch
from gradtape.core.tensor import Tensor
from gradtape.jit.ir.locations import place
from gradtape.jit.ir.program import Instruction, Literal, Operand
from gradtape.jit.trace.loops.template import SMALL, Written
from gradtape.jit.trace.tracer import TraceLevel
from gradtape.jit.trace.tracers import TraceTensor, one_doors, two_doors
from gradtape.numpy_dispatch import methods, protocols
from gradtape.ops.indexing import getitem_static

_getframe = sys._getframe
_current_recording = recording.current
_NUMBERS = frozenset({float, int})
_OFF_TAPE = TENSOR | LIFTED


def one_door(op: Op) -> Callable[..., Any]:
    """`op` as a function of a traced tensor and the frame that calls it; None for what is not plain."""
    kernel, view = op.kernel, op.view

    def door(own: Any, frame: FrameType, params: dict[str, Any] = NO_PARAMS) -> Any:
        level = own.level
        if level.row is not None:
            result = level.row.one(op, own, frame, params)
            if result is not None:
                if view:
                    level.note_view(result, own)
                return result
        node = own._node
        state = _current_recording()
        live = node.bits & state.bits
        if not _is_plain(level, node.bits, live, state, frame.f_code):
            return None
        try:
            out = kernel(own._array, **params)
        except Exception:
            return None  # whoever is asked next says what is wrong
        result = _written(op, level, (own.traced,), (own,), (node,), live, state, out, frame, params)
        if view:
            level.note_view(result, own)
        return result

    return door


def unary_door(op: Op, general: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`op` as a method of traced tensors; what is not plain is handed on to `general`, which is one of all tensors."""
    door = one_door(op)

    def method(own: Any) -> Any:
        result = door(own, _getframe(1))
        return general(own) if result is None else result

    return method


def two_door(op: Op, general: Callable[[Any, Any], Any], reflected: bool) -> Callable[..., Any]:
    """`op` as a method of traced tensors; what is not plain is handed on to `general`, which is one of all tensors.

    The method of a tensor is called by the user's code; somebody else gives the frame of that.
    """
    kernel = op.kernel

    def door(own: Any, other: Any, frame: FrameType | None = None) -> Any:
        level = own.level
        if frame is None:
            frame = _getframe(1)
        if level.row is not None:
            result = level.row.two(op, reflected, own, other, frame)
            if result is not None:
                return result
        second: Operand
        node, array = own._node, own._array
        kind = type(other)
        if kind is TraceTensor:
            if other.level is not level:
                return general(own, other)
            parent, operand, second = other._node, other._array, other.traced
            bits = node.bits | parent.bits
        elif kind in _NUMBERS:
            parent, operand, second = UNTRACKED, other, Literal(other)
            bits = node.bits
        else:
            return general(own, other)
        state = _current_recording()
        live = bits & state.bits
        if not _is_plain(level, bits, live, state, frame.f_code):
            return general(own, other)
        try:
            out = kernel(operand, array) if reflected else kernel(array, operand)
        except Exception:
            return general(own, other)  # which says what is wrong
        if reflected:
            return _written(op, level, (second, own.traced), (other, own), (parent, node), live, state, out, frame)
        return _written(op, level, (own.traced, second), (own, other), (node, parent), live, state, out, frame)

    return door


def _is_plain(level: Any, bits: int, live: int, state: Any, code: CodeType) -> bool:
    """Whether an operation is recorded where its operands are and nowhere else, at a line of the user's."""
    return not (
        bits & ~(live | _OFF_TAPE)
        or live & (state.forward | level.outer.bits)
        or code.co_filename not in user_files
        or type(level) is not TraceLevel
        or level.inner is not None
        or not level.open
        or not config.locations
        or keeping.get()
    )


def _written(
    op: Op,
    level: Any,
    operands: tuple[Operand, ...],
    inputs: tuple[Any, ...],
    parents: tuple[Node, ...],
    live: int,
    state: Any,
    out: Any,
    frame: FrameType,
    params: dict[str, Any] = NO_PARAMS,
) -> TraceTensor:
    """The result of an operation, written down in the trace and on the tapes that are on."""
    code, offset = frame.f_code, frame.f_lasti
    shape, dtype = out.shape, out.dtype
    value = level.next_value(shape, dtype)
    level.instructions.append(Instruction(op, operands, params, (value,), place(code, offset), False))
    if not live:
        result = TraceTensor(out, value, level)
        _remember(level, op, inputs, parents, live, frame, result)
        return result
    node = Node()
    node.op = op
    node.params = params
    node.parents = parents
    node.bits = live | _OFF_TAPE
    node.order = order = next_order()
    node.recording = state
    node.extra = None
    node.code = code
    node.offset = offset
    if len(parents) == 1:
        keep, node.inputs, keep_out = op.plans[1] or op.plan(1, 1)
        if keep is not None:
            node.inputs = (_bare(inputs[0]),)
    else:
        left, right = parents
        tracked = (left.bits > FLAGS) + 2 * (right.bits > FLAGS)
        keep, node.inputs, keep_out = op.plans[tracked + 1] or op.plan(tracked, 2)
        if keep is not None:
            node.inputs = (_bare(inputs[0]) if keep[0] else None, _bare(inputs[1]) if keep[1] else None)
        if op.stretches and (left if tracked & 1 else right).shape != shape:
            node.shape, node.dtype, node.out = shape, dtype, None
            note_stretch(node, inputs)
    node.out = TraceTensor(out, value, level) if keep_out else None
    node.shape = shape
    node.dtype = dtype
    level.made[order] = value
    result = TraceTensor(out, value, level, node)
    _remember(level, op, inputs, parents, live, frame, result)
    return result


def _remember(level: Any, op: Op, inputs: Any, parents: Any, live: int, frame: FrameType, result: Any) -> None:
    """For the sake of loops: this may be one of their operations."""
    if result._array.nbytes <= SMALL:
        level.remembered.append((result.traced.id, Written(inputs, parents, ref(result))))
    if level.row is not None:
        level.row.learn(op, inputs, parents, live, frame, result)


def _bare(x: Any) -> Any:
    """An operand without its place on the tapes, as it is now: it may be written to."""
    if type(x) is not TraceTensor:
        return x
    return x._on(LIFTED_NODE) if x.viewed else TraceTensor(x._array, x.traced, x.level)


def _no_other(own: Any, other: Any) -> None:
    """There is no shorter way."""


def bind() -> None:
    """Give traced tensors these doors."""
    for name, function in methods._OPERATORS.items():
        op = getattr(ops, function)
        if is_plain(op):
            for method, reflected in ((f"__{name}__", False), (f"__r{name}__", True)):
                setattr(TraceTensor, method, two_door(op, getattr(Tensor, method), reflected))
    for name, function in methods._UNARY.items():
        op = getattr(ops, function)
        if is_plain(op):
            setattr(TraceTensor, f"__{name}__", unary_door(op, getattr(Tensor, f"__{name}__")))
    for ufunc, op in protocols.UFUNCS.items():
        if not isinstance(op, Op) or not is_plain(op):
            continue
        if ufunc.nin == 1:
            one_doors[ufunc] = one_door(op)
        elif ufunc.nin == 2:
            two_doors[ufunc] = two_door(op, _no_other, False), two_door(op, _no_other, True)
    one_doors["item"] = one_door(getitem_static)
