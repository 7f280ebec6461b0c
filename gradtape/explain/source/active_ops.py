"""The operations that are being executed, found on Python's stack after one has failed.

`apply` and the functions of `core.fast_apply` keep the operation, its inputs and its parameters in local variables
named `op`, `inputs` (or `x` and `y`) and `params`, which are read from their frames. An explicit stack would have to be
pushed and popped by every operation, also by those that no interpreter sees, because NumPy reports a floating point
error from inside a kernel. That takes about 90 ns, a tenth of a small operation that is not recorded; frames cost
nothing until there is a failure.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.batch import BatchTensor
from gradtape.core.location import is_library
from gradtape.core.operation import Op
from gradtape.core.tensor import Tensor

_MODULES_OF_APPLY = ("gradtape.core.operation", "gradtape.core.fast_apply")


class ActiveOp(NamedTuple):
    """An operation that is being executed, its inputs and its parameters."""

    op: Op
    inputs: tuple[Any, ...]
    params: dict[str, Any]


def active_ops() -> Iterator[ActiveOp]:
    """The operations that are being executed for the user's present expression, the innermost first.

    There are several where an interpreter executes one in terms of others: inside vmap, an operation on one example is
    executed as one on the whole batch.
    """
    frame: Any = sys._getframe(1)
    while frame is not None and is_library(frame.f_code.co_filename):
        if frame.f_globals.get("__name__") in _MODULES_OF_APPLY and isinstance(frame.f_locals.get("op"), Op):
            names = frame.f_locals
            inputs = names["inputs"] if "inputs" in names else tuple(names[name] for name in "xy" if name in names)
            yield ActiveOp(names["op"], inputs, names.get("params", {}))
        frame = frame.f_back


def refusal_of_one_example(error: Exception) -> tuple[Exception, ActiveOp, int] | None:
    """For an error inside vmap: the error of the same operation on one example, that operation, and the batch size.

    The user wrote the operation for one example. Where one example alone gives no such error, it is `error` itself.
    None outside vmap.
    """
    found = list(active_ops())
    if not found:
        return None
    outermost = found[-1]
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
    return x._array if isinstance(x, Tensor) else x
