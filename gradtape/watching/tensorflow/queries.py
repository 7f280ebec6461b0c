"""Questions about tensors of TensorFlow: why a gradient is what it is, and whether examples of a batch are independent.

The recorder of the block that is watching answers, or of the last one that was, with what it has recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from gradtape.errors import OperandError
from gradtape.explain.model.problem import Span
from gradtape.explain.model.why import Why
from gradtape.explain.source.libraries import recognising
from gradtape.watching.budget import Budget
from gradtape.watching.examples import Leak, count_examples, leaks_of, weights_of
from gradtape.watching.meetings import find_meetings
from gradtape.watching.recent_watchers import RecentWatchers
from gradtape.watching.tensorflow import missing
from gradtape.watching.tensorflow.recorder import TensorFlowRecorder
from gradtape.watching.tensorflow.replay import as_array, muted

watchers = RecentWatchers()
"""The watchers that answer."""


def why(tape: Any, target: Any, source: Any) -> Why:
    """Why `tape.gradient(target, source)` is what it is: the path that the gradient takes, or where it was lost."""
    watcher = watchers.current
    watch = None if watcher is None else watcher.tapes.get(tape)
    if watcher is None or watch is None:
        raise OperandError(
            "why: nothing was recorded of this tape of TensorFlow.\n  fix: compute inside `with gt.watch():`, or run "
            "the program with `gradtape run`"
        )
    with recognising(watcher.recorder):
        return missing.why(target, source, watch, watcher.recorder)


# -- examples of a batch


def find_leaks(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], numbers: Sequence[int]
) -> tuple[int, list[Leak], list[Span]]:
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
        watcher.stop(keep=False)


def _search(
    recorder: TensorFlowRecorder, tape: Any, output: Any, sources: Sequence[Any], numbers: Sequence[int]
) -> tuple[int, list[Leak], list[Span]]:
    size = count_examples(output, tf.is_tensor(output), sources)
    weights = weights_of(tuple(output.shape))
    leaks: list[Leak] = []
    with muted():
        for example in range(size):
            seed = np.zeros(tuple(output.shape), output.dtype.as_numpy_dtype)
            seed[example] = weights[example]
            found = tape.gradient(output, list(sources), output_gradients=tf.constant(seed))
            for number, gradient in zip(numbers, found):
                array = as_array(gradient)
                if array is not None:
                    leaks += leaks_of(example, size, number, array, float(np.finfo(array.dtype).eps))
        start = recorder.record_of(output)
        held = {recorder.record_of(source): np.array(recorder.array_of(source)) for source in sources}
        places = [] if start is None else find_meetings(start, held, [leak[:2] for leak in leaks])
    return size, leaks, places


__all__ = ["find_leaks", "watchers", "why"]
