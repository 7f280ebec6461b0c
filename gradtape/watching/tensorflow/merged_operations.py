"""Operations of TensorFlow that stand for one of ours together: softmax, reductions, rows that are gathered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tensorflow.python.framework import tensor_util

from gradtape.explain.model.record import Shape
from gradtape.watching.record import (
    OperationRecord,
)
from gradtape.watching.tensorflow.operations import (
    Row,
)
from gradtape.watching.tensorflow.values import (
    array_in,
    is_eager,
)


def constant_of(inputs: Sequence[Any], index: int) -> Any:
    """The value of an input as a number or a list; None if it is not known."""
    if not -len(inputs) <= index < len(inputs):
        return None
    found = inputs[index]
    array = array_in(found) if is_eager(found) else tensor_util.constant_value(found)
    return None if array is None else np.asarray(array).tolist()


def gather_row(
    kind: str, row: Row, inputs: Sequence[Any], attributes: Mapping[str, Any], shape: Shape
) -> tuple[Row, dict[str, Any]]:
    """`x[rows, labels]` for `tf.gather(x, labels, batch_dims=1)`, `x[:, columns]` for `tf.gather(x, columns, axis=1)`.

    An index that is not known, or has more axes, stays TensorFlow's operation.
    """
    picked = array_in(inputs[1]) if is_eager(inputs[1]) else None
    if picked is None or picked.dtype.kind not in "iu":
        return row, {}
    picked = np.array(picked)
    whole = Row("getitem", "linear", row.operands)
    if kind == "GatherNd":
        if picked.ndim == 2 and picked.shape[1] == len(shape):
            return whole, {"index": tuple(picked[:, k] for k in range(picked.shape[1]))}
        return row, {}
    axis = (constant_of(inputs, 2) or 0) % max(len(shape), 1)
    batch = int(attributes.get("batch_dims") or 0)
    if batch == 0:
        return whole, {"index": (*[slice(None)] * axis, picked)}
    if batch == axis == len(shape) - 1 == picked.ndim:
        return whole, {"index": (*np.indices(picked.shape, sparse=True), picked)}
    return row, {}


def merge_softmax(record: OperationRecord) -> OperationRecord:
    """One softmax over the axis that was asked for, where TensorFlow has swapped axes before and after it."""
    inner = record.parents[0] if record.operation == "transpose" else None
    if not isinstance(inner, OperationRecord) or inner.operation not in ("softmax", "log_softmax"):
        return record
    outer = inner.parents[0]
    if not isinstance(outer, OperationRecord) or outer.operation != "transpose" or outer.params != record.params:
        return record
    axes = record.params.get("axes") or swapped_axes(outer.parents[0].shape, inner.shape)
    if not axes or not record.place_key == inner.place_key == outer.place_key:
        return record
    replays = outer.replay, inner.replay, record.replay
    record.operation, record.kind = inner.operation, inner.kind
    record.params = {"axis": (axes[-1],)}
    record.parents, record.operands, record.inputs = outer.parents, outer.operands, outer.inputs
    record.replay = chain(replays)
    return record


def swapped_axes(before: Shape, after: Shape) -> tuple[int, ...] | None:
    """The order of axes that brings one to the end, by the shapes before and after; None where they do not tell.

    In a graph TensorFlow computes that order, and it is not known.
    """
    last = len(before) - 1
    found = [
        tuple(last if axis == k else k if axis == last else axis for axis in range(last + 1))
        for k in range(last)
        if before[k] != before[last]
    ]
    fitting = [axes for axes in found if tuple(before[axis] for axis in axes) == after]
    return fitting[0] if len(fitting) == 1 and len(before) == len(after) else None


def merge_reduction(record: OperationRecord) -> OperationRecord:
    """A reduction whose axis a function of TensorFlow kept, and took off at its end: tf.norm, tf.reduce_logsumexp.

    The record of the last step says what was reduced; its operand is still that of the step.
    """
    inner: Any = record.parents[0] if record.theirs == "Squeeze" else None  # type: ignore[attr-defined]
    while isinstance(inner, OperationRecord) and inner.place_key == record.place_key:
        if inner.params.get("keepdims") is True and inner.params.get("axis"):
            record.reduced = inner  # type: ignore[attr-defined]
            return record
        inner = next((p for p in inner.parents if p.is_tracked and p.shape == inner.shape), None)
    return record


def chain(replays: Sequence[Any]) -> Any:
    """Several operations, each of the result of the one before, as one."""
    from gradtape.watching.record import Replay

    if any(each is None for each in replays):
        return None

    def forward(inputs: Sequence[Any]) -> Any:
        for each in replays:
            inputs = [each.forward(inputs)]
        return inputs[0]

    def reverse(inputs: Sequence[Any], gradient: Any) -> Sequence[Any]:
        stages = [inputs]
        for each in replays[:-1]:
            stages.append([each.forward(stages[-1])])
        for each, given in zip(reversed(replays), reversed(stages)):
            gradient = each.reverse(given, gradient)[0]
        return [gradient]

    return Replay(forward, reverse)
