"""The operations that are being run: read from the frames of the doors they came through, when one has failed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.batch import BatchTensor
from gradtape.core.location import is_library
from gradtape.core.operation import Op
from gradtape.core.tensor import Tensor

_DOORS = ("gradtape.core.operation", "gradtape.core.fast_apply")


class Running(NamedTuple):
    """An operation, what it was given, and its parameters."""

    op: Op
    inputs: tuple[Any, ...]
    params: dict[str, Any]


def running() -> Iterator[Running]:
    """The operations that are being run for the user's present expression, the innermost first.

    There are several where an interpreter runs one in terms of others: inside vmap, an operation on one example is run
    as one on all of them.
    """
    frame: Any = sys._getframe(1)
    while frame is not None and is_library(frame.f_code.co_filename):
        if frame.f_globals.get("__name__") in _DOORS and isinstance(frame.f_locals.get("op"), Op):
            names = frame.f_locals
            inputs = names["inputs"] if "inputs" in names else tuple(names[name] for name in "xy" if name in names)
            yield Running(names["op"], inputs, names.get("params", {}))
        frame = frame.f_back


def as_written(error: Exception) -> tuple[Exception, Running, int] | None:
    """The operation inside vmap as the user wrote it, on one example; the error that gives; and how many there are.

    None if no vmap is at work. Where one example alone gives no such error, it is `error` itself.
    """
    found = list(running())
    if not found:
        return None
    outermost = found[-1]
    levels = [x.level for x in outermost.inputs if isinstance(x, BatchTensor)]
    if not levels:
        return None
    size = max(levels, key=lambda level: level.depth).size
    if isinstance(error, np.linalg.LinAlgError):  # of the numbers, not of the shapes
        return error, outermost, size
    try:
        with np.errstate(all="ignore"):
            outermost.op.kernel(*[_example(x) for x in outermost.inputs], **outermost.params)
    except type(error) as same:
        return same, outermost, size
    except Exception:  # another complaint, about numbers that are made up
        return error, outermost, size
    return error, outermost, size


def _example(x: Any) -> Any:
    """An array like one example of `x`, or `x` as a bare array."""
    if isinstance(x, BatchTensor):
        return np.ones(x.shape, x.dtype)
    return x._array if isinstance(x, Tensor) else x
