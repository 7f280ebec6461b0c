"""The operations that are being executed for the user's present expression.

Inside vmap, an operation on one example is executed as one on the whole batch: interpreters note the former in
`gradtape.core.operation.interpreted`, and only the number of their frames below the user's is counted here.

An operation on plain tensors is noted nowhere, because that would take about 90 ns, a tenth of a small operation that
is not recorded. Errors need no note, as the function that calls the kernel explains them. `op_of_running_kernel` is for
NumPy's reports of floating point errors, which come from inside a kernel and do not end it: it reads the operation from
the frame of the function that called the kernel. It is used by `check_numerics` only.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.batch import BatchTensor
from gradtape.core.fast_apply import fast_binary, fast_unary
from gradtape.core.graph import with_numbers
from gradtape.core.location import is_library
from gradtape.core.operation import INTERPRET, NO_PARAMS, Op, apply, interpreted
from gradtape.core.tensor import Tensor

_NONE = Op("none", np.positive)
_UNARY, _BINARY = fast_unary(_NONE, 1).__code__, fast_binary(_NONE, 1).__code__  # shared by all operations


class ActiveOp(NamedTuple):
    """An operation that is being executed, its inputs and its parameters."""

    op: Op
    inputs: tuple[Any, ...]
    params: dict[str, Any]


def op_of_running_kernel() -> ActiveOp | None:
    """The innermost operation whose kernel is running for the user's present expression."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_library(frame.f_code.co_filename):
        if frame.f_code is apply.__code__:
            names = frame.f_locals
            return ActiveOp(names["op"], names["inputs"], names["params"])
        if frame.f_code is _UNARY:
            return ActiveOp(frame.f_locals["op"], (frame.f_locals["x"],), NO_PARAMS)
        if frame.f_code is _BINARY:
            return ActiveOp(frame.f_locals["op"], (frame.f_locals["x"], frame.f_locals["y"]), NO_PARAMS)
        frame = frame.f_back
    return None


def interpreted_op() -> ActiveOp | None:
    """The operation of the user's present expression, if an interpreter executes it; the outermost, if several do."""
    count = 0
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_library(frame.f_code.co_filename):
        count += frame.f_code is INTERPRET
        frame = frame.f_back
    return ActiveOp(*interpreted.ops[-count]) if count else None


def refusal_of_one_example(error: Exception) -> tuple[Exception, ActiveOp, int] | None:
    """For an error inside vmap: the error of the same operation on one example, that operation, and the batch size.

    The user wrote the operation for one example. Where one example alone gives no such error, it is `error` itself.
    None outside vmap.
    """
    outermost = interpreted_op()
    if outermost is None:
        return None
    levels = [x.level for x in outermost.inputs if isinstance(x, BatchTensor)]
    if not levels:
        return None
    size = max(levels, key=lambda level: level.depth).size
    if isinstance(error, np.linalg.LinAlgError):  # caused by the numbers, not by the shapes
        return error, outermost, size
    try:
        with np.errstate(all="ignore"):
            outermost.op.kernel(*[_example(x) for x in outermost.inputs], **outermost.params)
    except type(error) as same:
        return same, outermost, size
    except Exception:  # another error, caused by the made-up numbers
        return error, outermost, size
    return error, outermost, size


def _example(x: Any) -> Any:
    """An array like one example of `x`, or `x` as a bare array."""
    if isinstance(x, BatchTensor):
        return np.ones(x.shape, x.dtype)
    return with_numbers(x._array) if isinstance(x, Tensor) else x
