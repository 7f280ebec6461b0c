"""Fast paths of `apply` for one input and for two, in the plain case.

Plain is an operation with one result and a rule, without parameters, on tensors of no interpreter, arrays and Python
numbers. All other calls go to `apply`, which defines what an operation does; the functions here repeat it inline, for
speed only. Each is made for one operation, so that the properties of the operation are not tested at every call. The
lines that run the kernel and record the node are generated from the template in `tools/generate_fast_paths.py`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.config import config
from gradtape.core import recording
from gradtape.core.graph import FLAGS, LIFTED, TENSOR, UNTRACKED, VARIABLE, Node, next_order
from gradtape.core.location import first_user_frame, user_files
from gradtape.core.operation import (
    CUT_OR_TAPE,
    NO_PARAMS,
    NOWHERE,
    Op,
    apply,
    note_stretch,
    off_tape,
    parent_of,
    push,
    values_to_save,
)
from gradtape.core.tensor import Tensor, Variable
from gradtape.explain import messages

_getframe = sys._getframe
_new = object.__new__
_current_recording = recording.current
_DOUBLE = np.dtype(float)
ndarray = np.ndarray


class _Scalars(dict[float, Any]):
    """Python's floats as arrays: NumPy takes those in half the time, and double precision stays what it is."""

    def __missing__(self, value: float) -> Any:
        if not value:  # 0.0 and -0.0 are one key
            return value
        if len(self) >= 1000:
            self.clear()
        array = self[value] = np.array(value)
        array.flags.writeable = False
        return array


_scalars = _Scalars()


def is_plain(op: Op) -> bool:
    """Whether `op` can have fast paths of its own."""
    return op.differentiable and not (op.outputs or op.view or op.specs)


def fast_unary(op: Op, depth: int) -> Callable[[Any], Any]:
    """`op` as a function of one input; at `depth` 1 the user's code calls it, at 2 one of our functions does."""
    kernel, plans = op.kernel, op.plans

    def fast_path(x: Any) -> Any:
        kind = type(x)
        if (kind is not Tensor and kind is not Variable) or x._node.bits & LIFTED:
            return apply(op, (x,), NO_PARAMS)
        parent, array = x._node, x._array
        bits = parent.bits
        # generated: fast_unary (tools/generate_fast_paths.py)
        try:
            out = kernel(array)
        except Exception as error:
            refusal = messages.refused_operands(error, op, (x,), NO_PARAMS)
            raise refusal from refusal.__cause__
        state = _current_recording()
        live = bits & state.bits
        if bits & VARIABLE:
            live |= state.notify_of_variables([x] if kind is Variable else [])
        if not live:
            if bits > TENSOR:
                return off_tape(op, out, (parent,), bits, 0, (x,), NO_PARAMS)
            result = _new(Tensor)
            result._array = out
            result._node = UNTRACKED
            return result
        node = _new(Node)
        node.op = op
        node.params = NO_PARAMS
        node.parents = (parent,)
        node.bits = live | TENSOR
        node.order = next_order()
        node.recording = state
        node.extra = None
        if config.locations:
            frame: Any = _getframe(depth)
            code = frame.f_code
            if code is not state.code:
                if code.co_filename in user_files:
                    state.code = code
                else:
                    frame = first_user_frame(frame) or NOWHERE
                    code = frame.f_code
            node.code = code
            node.offset = frame.f_lasti
        else:
            node.code, node.offset = None, 0
        node.shape = out.shape
        node.dtype = out.dtype
        keep, node.inputs, keep_out = plans[1] or op.plan(1, 1)
        if keep is not None:
            node.inputs = (array,)
        node.out = out if keep_out else None
        result = _new(Tensor)
        result._array = out
        result._node = node
        if live & state.forward:
            push(node, live, state)
        return result
        # end of generated code

    return fast_path


def _applied(op: Op, x: Any, y: Any) -> Any:
    return apply(op, (x, y), NO_PARAMS)


def fast_binary(op: Op, depth: int, general: Callable[[Any, Any], Any] | None = None) -> Callable[[Any, Any], Any]:
    """`op` as a function of two inputs; those that are not plain are handed on to `general`, by default `apply`."""
    if general is None:
        general = functools.partial(_applied, op)

    kernel, plans, takes_scalars, stretches = op.kernel, op.plans, op.ufunc, op.stretches

    def fast_path(x: Any, y: Any) -> Any:
        a, b = x, y
        left = right = UNTRACKED
        kind, other = type(x), type(y)
        if kind is Tensor or kind is Variable:
            left, a = x._node, x._array
            bits = left.bits
            if other is float:
                if takes_scalars and (left.dtype if bits > FLAGS else a.dtype) is _DOUBLE:
                    b = _scalars[y]
            elif other is Tensor or other is Variable:
                right, b = y._node, y._array
                bits |= right.bits
            elif other is not int and (other is not ndarray or y.dtype.hasobject):
                return general(x, y)
        elif (other is Tensor or other is Variable) and (
            kind is float or kind is int or (kind is ndarray and not x.dtype.hasobject)
        ):
            right, b = y._node, y._array
            bits = right.bits
            if kind is float and takes_scalars and (right.dtype if bits > FLAGS else b.dtype) is _DOUBLE:
                a = _scalars[x]
        else:
            return general(x, y)
        if bits & LIFTED:
            return general(x, y)
        # generated: fast_binary (tools/generate_fast_paths.py)
        try:
            out = kernel(a, b)
        except Exception as error:
            refusal = messages.refused_operands(error, op, (x, y), NO_PARAMS)
            raise refusal from refusal.__cause__
        state = _current_recording()
        live = bits & state.bits
        if bits & VARIABLE:
            live |= state.notify_of_variables([v for v in (x, y) if type(v) is Variable and v._node.bits & VARIABLE])
        if not live:
            if bits > TENSOR:
                return off_tape(op, out, (left, right), bits, 0, (x, y), NO_PARAMS)
            result = _new(Tensor)
            result._array = out
            result._node = UNTRACKED
            return result
        if bits & CUT_OR_TAPE & ~live:
            left, right = parent_of(left, live), parent_of(right, live)
        node = _new(Node)
        node.op = op
        node.params = NO_PARAMS
        node.parents = left, right
        node.bits = live | TENSOR
        node.order = next_order()
        node.recording = state
        node.extra = None
        if config.locations:
            frame: Any = _getframe(depth)
            code = frame.f_code
            if code is not state.code:
                if code.co_filename in user_files:
                    state.code = code
                else:
                    frame = first_user_frame(frame) or NOWHERE
                    code = frame.f_code
            node.code = code
            node.offset = frame.f_lasti
        else:
            node.code, node.offset = None, 0
        node.shape = out.shape
        node.dtype = out.dtype
        tracked = (left.bits > FLAGS) + 2 * (right.bits > FLAGS)
        keep, node.inputs, keep_out = plans[tracked + 1] or op.plan(tracked, 2)
        if keep is not None:
            if kind is ndarray or other is ndarray:
                node.inputs = values_to_save((x, y), (a, b), keep, specs=False)
            else:
                node.inputs = (a if keep[0] else None, b if keep[1] else None)
        node.out = out if keep_out else None
        if stretches and (left if tracked & 1 else right).shape != node.shape:
            note_stretch(node, (x, y))
        result = _new(Tensor)
        result._array = out
        result._node = node
        if live & state.forward:
            push(node, live, state)
        return result
        # end of generated code

    return fast_path
