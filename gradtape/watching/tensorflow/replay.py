"""Executes a recorded operation again, and its gradient rule, with TensorFlow, on copies of its operands.

No tape records it, no callback sees it, and no variable is read or written: an operation with a state of its own
(random numbers, resources) is not executed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from tensorflow.python.eager import backprop, context, execute
from tensorflow.python.eager import record as tape_record
from tensorflow.python.framework import indexed_slices, op_def_registry, ops, tensor_conversion

from gradtape.watching.record import Replay
from gradtape.watching.tensorflow.values import HeldBytes, is_eager, to_numpy


class _State:
    muted = 0


@contextmanager
def muted() -> Iterator[None]:
    """Inside, what TensorFlow executes is not recorded, neither by tapes nor here."""
    _State.muted += 1
    try:
        with ops.init_scope(), tape_record.stop_recording():
            yield
    finally:
        _State.muted -= 1


def is_muted() -> bool:
    """Whether TensorFlow is executing something for an explanation."""
    return bool(_State.muted)


def replay_of(
    kind: str, inputs: Sequence[Any], attributes: Mapping[str, Any], results: int, slots: Sequence[int], held: HeldBytes
) -> Replay | None:
    """How an operation is executed again with other values for the inputs `slots`; None if it has a state."""
    definition = op_def_registry.get(kind)
    if definition is None or definition.is_stateful or not all(is_eager(x) for x in inputs):
        return None
    dtypes = [x.dtype for x in inputs]
    if any(dtype.name in ("resource", "variant", "string") for dtype in dtypes):
        return None
    others = {k: x for k, x in enumerate(inputs) if k not in slots}
    if any(held.hold(x, np.dtype(dtypes[k].as_numpy_dtype), tuple(x.shape)) is None for k, x in others.items()):
        return None
    return replay_with(kind, dtypes, attributes, results, slots, lambda: others)


def replay_with(
    kind: str,
    dtypes: Sequence[Any],
    attributes: Mapping[str, Any],
    results: int,
    slots: Sequence[int],
    others: Callable[[], Mapping[int, Any]],
) -> Replay:
    """How an operation is executed with values for the inputs `slots` and what `others` gives for the rest."""
    flat = tuple(part for pair in attributes.items() for part in pair)

    def run(values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        given = {**others(), **dict(zip(slots, values))}
        operands = [tensor_conversion.convert_to_tensor_v2(given[k], dtypes[k]) for k in range(len(dtypes))]
        return operands, execute.quick_execute(kind, results, operands, flat, context.context())

    def forward(values: Sequence[Any]) -> Any:
        with muted():
            found = [to_numpy(result) for result in run(values)[1]]
        return found[0] if results == 1 else found

    def reverse(values: Sequence[Any], gradient: Any) -> Sequence[Any]:
        with muted():
            operands, outputs = run(values)
            parts = [gradient] if results == 1 else [gradient.get(k) for k in range(results)]
            seeds = [
                np.zeros(tuple(out.shape), out.dtype.as_numpy_dtype) if part is None else part
                for part, out in zip(parts, outputs)
            ]
            seeds = [tensor_conversion.convert_to_tensor_v2(seed, out.dtype) for seed, out in zip(seeds, outputs)]
            given = backprop._gradient_function(kind, flat, len(operands), operands, outputs, seeds, (), "")
            listed = list(given) if isinstance(given, (list, tuple)) else [given]
            return [as_array(listed[k]) if k < len(listed) else None for k in slots]

    return Replay(forward, reverse)


def as_array(gradient: Any) -> Any:
    """A gradient as an array; None for None."""
    if gradient is None:
        return None
    if isinstance(gradient, indexed_slices.IndexedSlices):
        gradient = ops.convert_to_tensor(gradient)
    return to_numpy(gradient) if is_eager(gradient) else None


__all__ = ["as_array", "is_muted", "muted", "replay_of", "replay_with"]
