"""What losses are given: probabilities where logits are expected."""

from __future__ import annotations

from typing import Any

from gradtape.explain.detectors.loss_input import (
    warn_sigmoid_of_softmax,
    warn_sigmoid_twice,
    warn_softmax_twice,
)
from gradtape.watching.record import OperationRecord, WatchedRecord


def judge_loss_input(record: OperationRecord, input: Any) -> None:
    """Warn where what a logarithm of probabilities is taken of was made by a softmax or sigmoid."""
    if record.operation == "log":
        _judge_written_logsumexp(record)
        return
    made = _producer(record.parents[0]) if record.parents else None
    if made is None or not made.is_tracked:
        return
    if record.operation in ("log_softmax", "softmax", "logsumexp") and made.operation == "softmax":
        if _axis(made) == _axis(record):
            warn_softmax_twice(record.operation, input, _axis(record) or 0)
    elif record.operation == "log_sigmoid" and made.operation == "sigmoid":
        warn_sigmoid_twice(record.operation, made)
    elif record.operation == "log_sigmoid" and made.operation == "softmax":
        warn_sigmoid_of_softmax(record.operation, made)


def _judge_written_logsumexp(record: OperationRecord) -> None:
    """Warn where `log(sum(exp(x - shift)))` is computed of probabilities, step by step."""
    total = record.parents[0]
    exponential = total.parents[0] if total.operation == "sum" else total
    if total.operation != "sum" or exponential.operation != "exp":
        return
    x = exponential.parents[0]
    x = x.parents[0] if x.operation == "subtract" else x
    made = _producer(x)
    if made is not None and made.is_tracked and made.operation == "softmax" and _axis(made) == _axis(total):
        warn_softmax_twice("logsumexp", None, _axis(total) or 0, made)


def _axis(record: WatchedRecord) -> int | None:
    axes = record.params.get("axis")
    return None if not axes or len(axes) != 1 else int(axes[0]) % max(len(record.parents[0].shape), 1)


def _producer(record: WatchedRecord) -> WatchedRecord | None:
    """What made a value, before changes of its shape."""
    while record.operation in ("reshape", "getitem", "transpose", "astype") and record.parents:
        record = record.parents[0]
    return record if record.operation else None


__all__ = ["judge_loss_input"]
