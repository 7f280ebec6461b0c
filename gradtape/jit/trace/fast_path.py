"""Fast path for unary and binary operations on traced tensors in the plain case.

Plain: an operation with one result and a gradient rule, on values of one trace and Python numbers, called from user
code. Everything else goes to the general path (`core.operation.apply`, then `TracingLevel.process`), which defines the
semantics. This module repeats it inlined, for speed only: a loop of thousands of iterations takes this path for each of
its operations.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any
from weakref import ref

import numpy as np

from gradtape import ops
from gradtape.config import config
from gradtape.core import recording
from gradtape.core.backprop import keep_saved
from gradtape.core.fast_apply import is_plain
from gradtape.core.graph import FLAGS, LIFTED, LIFTED_NODE, TENSOR, UNTRACKED, Node, next_order
from gradtape.core.location import user_files
from gradtape.core.operation import NO_PARAMS, Op, note_stretch
from gradtape.core.tensor import Tensor
from gradtape.core.views import note_view
from gradtape.jit.ir.locations import place
from gradtape.jit.ir.program import Instruction, Literal, Operand
from gradtape.jit.trace import unevaluated
from gradtape.jit.trace.loops.template import MAX_ELIDED_BYTES, RecordedOp, without_views
from gradtape.jit.trace.tracer import ARITHMETIC, TracingLevel
from gradtape.jit.trace.tracers import TraceTensor, binary_fast_paths, unary_fast_paths
from gradtape.jit.trace.unevaluated import UnevaluatedSample
from gradtape.numpy_dispatch import methods, protocols
from gradtape.ops.indexing import getitem_static

_getframe = sys._getframe
_new = object.__new__
_current_recording = recording.current
_NUMBERS = frozenset({float, int})
_double, _DOUBLE = np.float64, np.dtype(np.float64)
_OFF_TAPE = TENSOR | LIFTED


def unary_fast_path(op: Op) -> Callable[..., Any]:
    """`op` as a function of a traced tensor and the calling frame; it returns None if the case is not plain."""
    kernel, view = op.kernel, op.view

    def fast_path(own: Any, frame: FrameType, params: dict[str, Any] = NO_PARAMS) -> Any:
        level = own.level
        if level.expected is not None:
            result = level.expected.unary(op, own, frame, params)
            if result is not None:
                if view:
                    note_view(result, own, op, params)
                return result
        node = own._node
        state = _current_recording()
        live = node.bits & state.bits
        if not _is_plain(level, node.bits, live, state, frame.f_code):
            return None
        array = own._array
        if type(array) is UnevaluatedSample or (array.nbytes > unevaluated.LARGE and not view):
            out = level.samples.result(op, (array,), params) if level.samples.is_on else None
            if out is None:
                return None
        else:
            try:
                out = kernel(array, **params)
            except Exception:
                return None  # the general path raises the explained error
        result = _record(op, level, (own.traced,), (own,), (node,), live, state, out, frame, params)
        if view:
            note_view(result, own, op, params)
        return result

    return fast_path


def unary_method(op: Op, general: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`op` as a method of traced tensors; cases that are not plain call `general`, the method of `Tensor`."""
    fast_path = unary_fast_path(op)

    def method(own: Any) -> Any:
        result = fast_path(own, _getframe(1))
        return general(own) if result is None else result

    return method


def binary_fast_path(op: Op, general: Callable[[Any, Any], Any], reflected: bool) -> Callable[..., Any]:
    """`op` as a method of traced tensors; cases that are not plain call `general`, the method of `Tensor`.

    Called as a method, the caller is user code; other callers pass the frame of the user code.
    """
    kernel, is_arithmetic = op.kernel, op.name in ARITHMETIC

    def fast_path(own: Any, other: Any, frame: FrameType | None = None) -> Any:
        level = own.level
        if frame is None:
            frame = _getframe(1)
        if type(other) is _double and is_arithmetic and own._array.dtype is _DOUBLE:
            other = float(other)  # the same number and the same result; as a literal it may differ between iterations
        if level.expected is not None:
            result = level.expected.binary(op, reflected, own, other, frame)
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
        if _is_left_unevaluated(array) or _is_left_unevaluated(operand):
            samples = (operand, array) if reflected else (array, operand)
            out = level.samples.result(op, samples, NO_PARAMS) if level.samples.is_on else None
            if out is None:
                return general(own, other)
        else:
            try:
                out = kernel(operand, array) if reflected else kernel(array, operand)
            except Exception:
                return general(own, other)  # raises the explained error
        if reflected:
            return _record(op, level, (second, own.traced), (other, own), (parent, node), live, state, out, frame)
        return _record(op, level, (own.traced, second), (own, other), (node, parent), live, state, out, frame)

    return fast_path


def _is_left_unevaluated(sample: Any) -> bool:
    """Whether the result of an operation on a sample may be left unevaluated: the sample is, or it is large."""
    kind = type(sample)
    return kind is UnevaluatedSample or (kind is np.ndarray and sample.nbytes > unevaluated.LARGE)


def _is_plain(level: Any, bits: int, live: int, state: Any, code: CodeType) -> bool:
    """Whether an operation is recorded on exactly the tapes of its operands, and called from user code."""
    return not (
        bits & ~(live | _OFF_TAPE)
        or live & (state.forward | level.outer.bits)
        or code.co_filename not in user_files
        or type(level) is not TracingLevel
        or level.inner is not None
        or not level.open
        or not config.locations
        or keep_saved.get()
    )


def _record(
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
    """Record an operation in the trace and on the active tapes; its result."""
    code, offset = frame.f_code, frame.f_lasti
    shape, dtype = out.shape, out.dtype
    value = level.next_value(shape, dtype)
    level.instructions.append(Instruction(op, operands, params, (value,), place(code, offset), False))
    if type(out) is UnevaluatedSample:
        level.samples.bind(out, value)
    if not live:
        result = TraceTensor(out, value, level)
        _remember(level, op, inputs, parents, live, frame, result)
        return result
    # generated: traced_node (tools/generate_fast_paths.py)
    node = _new(Node)
    node.op = op
    node.params = params
    node.parents = parents
    node.bits = live | _OFF_TAPE
    node.order = next_order()
    node.recording = state
    node.extra = None
    node.code = code
    node.offset = offset
    node.shape = shape
    node.dtype = dtype
    if len(parents) == 1:
        keep, node.inputs, keep_out = op.plans[1] or op.plan(1, 1)
        if keep is not None:
            node.inputs = (_without_node(inputs[0]),)
    else:
        left, right = parents
        tracked = (left.bits > FLAGS) + 2 * (right.bits > FLAGS)
        keep, node.inputs, keep_out = op.plans[tracked + 1] or op.plan(tracked, 2)
        if keep is not None:
            node.inputs = (_without_node(inputs[0]) if keep[0] else None, _without_node(inputs[1]) if keep[1] else None)
    node.out = TraceTensor(out, value, level) if keep_out else None
    if len(parents) == 2 and op.stretches and (left if tracked & 1 else right).shape != shape:
        note_stretch(node, inputs)
    # end of generated code
    level.value_of_node[node.order] = value
    result = TraceTensor(out, value, level, node)
    _remember(level, op, inputs, parents, live, frame, result)
    return result


def _remember(level: Any, op: Op, inputs: Any, parents: Any, live: int, frame: FrameType, result: Any) -> None:
    """Tell the loop detector of an operation: it may belong to a loop."""
    if result._array.nbytes <= MAX_ELIDED_BYTES:
        level.recent_ops.append((result.traced.id, RecordedOp(without_views(inputs), parents, ref(result))))
    if level.expected is not None:
        level.expected.learn(op, inputs, parents, live, frame, result)


def _without_node(x: Any) -> Any:
    """A copy of an operand that is on no tape; a copy, because the operand may be written to later."""
    if type(x) is not TraceTensor:
        return x
    return x._on(LIFTED_NODE) if x.viewed else TraceTensor(x._array, x.traced, x.level)


def _no_general_method(own: Any, other: Any) -> None:
    """For ufuncs: None makes `TraceTensor.__array_ufunc__` take the general path."""


def bind() -> None:
    """Install the fast paths as methods and ufunc handlers of traced tensors."""
    for name, function in methods._OPERATORS.items():
        op = getattr(ops, function)
        if is_plain(op):
            for method, reflected in ((f"__{name}__", False), (f"__r{name}__", True)):
                setattr(TraceTensor, method, binary_fast_path(op, getattr(Tensor, method), reflected))
    for name, function in methods._UNARY.items():
        op = getattr(ops, function)
        if is_plain(op):
            setattr(TraceTensor, f"__{name}__", unary_method(op, getattr(Tensor, f"__{name}__")))
    for ufunc, op in protocols.UFUNCS.items():
        if not isinstance(op, Op) or not is_plain(op):
            continue
        if ufunc.nin == 1:
            unary_fast_paths[ufunc] = unary_fast_path(op)
        elif ufunc.nin == 2:
            binary_fast_paths[ufunc] = (
                binary_fast_path(op, _no_general_method, False),
                binary_fast_path(op, _no_general_method, True),
            )
    unary_fast_paths["item"] = unary_fast_path(getitem_static)
