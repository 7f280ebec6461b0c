"""What the watcher reads from calls of Keras and TensorFlow: batches of `fit`, graphs, results that are not finite."""

from __future__ import annotations

import cmath
import math
from types import FrameType
from typing import Any

import numpy as np
import tensorflow as tf

from gradtape.watching.tensorflow import values

_FLOATING = frozenset(
    kind.as_datatype_enum for kind in (tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128)
)


def called_graph(caller: FrameType) -> tuple[Any, Any]:
    """The graph that is being executed below `caller`, and what it was given; None if it is not known."""
    frame: FrameType | None = caller
    while frame is not None and frame.f_code.co_name != "call_flat":
        frame = frame.f_back
    function = None if frame is None else frame.f_locals.get("self")
    return getattr(function, "_cached_graph", None), () if frame is None else frame.f_locals.get("args", ())


def has_lost_number(outputs: Any) -> bool:
    """Whether a number, or an eager tensor that is one, is not finite; those on an accelerator are not awaited.

    It is asked of what each call of a graph returns: the tensors' own attributes would take as long as a small graph.
    """
    for x in outputs:
        if isinstance(x, values.EagerTensor):
            is_number = x._rank() == 0 and x._datatype_enum() in _FLOATING and "CPU" in x.device
            if is_number and not cmath.isfinite(values.to_numpy(x)):
                return True
        elif isinstance(x, (float, np.floating)) and not math.isfinite(x):
            return True
    return False


def batch_length(x: Any, arguments: Any, options: Any, name: str) -> int:
    """How many examples the first batch of `fit` has."""
    length = len(x) if hasattr(x, "__len__") and hasattr(x, "shape") else 0
    given = options.get("batch_size") or (arguments[0] if arguments and name in ("fit", "evaluate") else None)
    if name.endswith("on_batch"):
        return length or 32
    size = given if isinstance(given, int) else 32
    return min(size, length) if length else size


def first_batch(x: Any, y: Any, length: int) -> list[Any]:
    """The first examples of arrays that `fit` was given; empty for data that is read from somewhere else."""
    parts = tf.nest.flatten([x] if y is None else [x, y])
    if not all(isinstance(part, np.ndarray) or values.is_eager(part) for part in parts):
        return []
    arrays = [values.to_numpy(part) if values.is_eager(part) else part for part in parts]
    return [array[:length] for array in arrays] if all(array.ndim for array in arrays) else []


def uses_none(error: BaseException) -> bool:
    """Whether an error is about None, or about gradients that are not there."""
    return isinstance(error, (TypeError, ValueError, AttributeError)) and any(
        words in str(error)
        for words in (
            "None",
            "No gradients provided",
            "no gradients",
            "not enough values to unpack (expected 2, got 0)",
        )
    )


__all__ = ["batch_length", "called_graph", "first_batch", "has_lost_number", "uses_none"]
