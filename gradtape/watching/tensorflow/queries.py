"""Questions about tensors of TensorFlow: why a gradient is what it is, and whether examples of a batch are independent.

The recorder of the block that is watching answers, with what it has recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from gradtape.errors import OperandError, ShapeError
from gradtape.explain.graph import paths
from gradtape.explain.model.problem import Span
from gradtape.explain.model.why import Why
from gradtape.explain.source.files import span_of
from gradtape.watching.budget import Budget
from gradtape.watching.record import OperationRecord
from gradtape.watching.tensorflow import missing
from gradtape.watching.tensorflow.recorder import TensorFlowRecorder
from gradtape.watching.tensorflow.replay import as_array, muted

active: list[Any] = []
"""The watchers that are recording, the innermost last."""

MEETINGS_SOUGHT = 3


def why(tape: Any, target: Any, source: Any) -> Why:
    """Why `tape.gradient(target, source)` is what it is: the path that the gradient takes, or where it was lost."""
    watcher = active[-1] if active else None
    watch = None if watcher is None else watcher.tapes.get(tape)
    if watcher is None or watch is None:
        raise OperandError(
            "why: nothing was recorded of this tape of TensorFlow.\n  fix: compute inside `with gt.watch():`, or run "
            "the program with `gradtape run`"
        )
    return missing.why(target, source, watch, watcher.recorder)


# -- examples of a batch


def find_leaks(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], numbers: Sequence[int]
) -> tuple[int, list[tuple[int, int, int, float]], list[Span]]:
    """The number of examples, the pairs that leak (result, example, argument, size), and where they meet."""
    from gradtape.watching.tensorflow.watcher import Watcher

    given = [tf.identity(tf.convert_to_tensor(x)) if index in numbers else x for index, x in enumerate(args)]
    sources = [given[index] for index in numbers]
    watcher = Watcher(Budget(seconds=float("inf")), lambda note: None)
    watcher.start()
    try:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(sources)
            output = function(*given, **kwargs)
        return _search(watcher.recorder, tape, output, sources, numbers)
    finally:
        watcher.stop()


def _search(
    recorder: TensorFlowRecorder, tape: Any, output: Any, sources: Sequence[Any], numbers: Sequence[int]
) -> tuple[int, list[tuple[int, int, int, float]], list[Span]]:
    if not tf.is_tensor(output):
        raise OperandError(f"audit_batch: the function returned {type(output).__name__}, not a tensor")
    lengths = {x.shape[0] if len(x.shape) else None for x in (output, *sources)}
    if len(lengths) != 1 or None in lengths:
        raise ShapeError(
            f"audit_batch: the result {tuple(output.shape)} and the arguments {[tuple(x.shape) for x in sources]} do "
            "not share their first axis, the one of the examples.\n  fix: return one row for each example"
        )
    size = int(output.shape[0])
    weights = np.random.default_rng(0).uniform(0.5, 1.5, tuple(output.shape))
    leaks: list[tuple[int, int, int, float]] = []
    with muted():
        for example in range(size):
            seed = np.zeros(tuple(output.shape), output.dtype.as_numpy_dtype)
            seed[example] = weights[example]
            found = tape.gradient(output, list(sources), output_gradients=tf.constant(seed))
            for number, gradient in zip(numbers, found):
                array = as_array(gradient)
                if array is None:
                    continue
                sizes = np.abs(array).reshape(size, -1).max(axis=1, initial=0.0)
                least = 64 * np.finfo(array.dtype).eps * float(sizes.max())
                others = [other for other in range(size) if other != example and sizes[other] > least]
                leaks += [(example, other, number, float(sizes[other])) for other in others]
        spans: dict[tuple[str, int], Span] = {}
        for example, other, _, _ in leaks[:MEETINGS_SOUGHT]:
            span = _meeting(recorder, output, sources, example, other)
            if span is not None:
                spans.setdefault((span.file, span.line), span)
    return size, leaks, list(spans.values())


def _meeting(
    recorder: TensorFlowRecorder, output: Any, sources: Sequence[Any], example: int, other: int
) -> Span | None:
    """The first operation with an element that changes with both examples; all are run again with each one changed."""
    start = recorder.record_of(output)
    if start is None:
        return None
    records = sorted(paths.all_behind(start), key=lambda record: record.order)
    changed = [_changed_elements(recorder, records, sources, each) for each in (example, other)]
    for record in records:
        one, two = (each.get(record) for each in changed)
        if one is not None and two is not None and one.shape == two.shape and bool((one & two).any()):
            return span_of(record.location).labelled("the examples meet here") if record.location.is_known else None
    return None


def _changed_elements(
    recorder: TensorFlowRecorder, records: Sequence[Any], sources: Sequence[Any], example: int
) -> dict[Any, np.ndarray[Any, Any]]:
    """For each record, the elements of its result that change when one example of the arguments is changed."""
    before: dict[Any, Any] = {}
    after: dict[Any, Any] = {}
    for source in sources:
        array = np.array(recorder.array_of(source))
        before[recorder.record_of(source)] = array
        moved = array.copy()
        moved[example] += 0.1 + 0.1 * np.abs(array[example])
        after[recorder.record_of(source)] = moved
    found: dict[Any, np.ndarray[Any, Any]] = {}
    for record in records:
        if not isinstance(record, OperationRecord) or not any(parent in after for parent in record.parents):
            continue
        if record.replay is None or record.has_several_results:
            continue
        results = []
        for held in (before, after):
            inputs = [held.get(parent, record.operand_value(index)) for index, parent in enumerate(record.parents)]
            results.append(None if any(value is None for value in inputs) else record.replay.forward(inputs))
        if results[0] is not None and results[1] is not None:
            before[record], after[record] = results
            found[record] = np.asarray(results[0] != results[1])
    return found


__all__ = ["active", "find_leaks", "why"]
