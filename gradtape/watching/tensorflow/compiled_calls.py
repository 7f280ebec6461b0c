"""A compiled function that a tape outside of it has recorded as one operation: which of its own operations failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tensorflow.python.framework import dtypes
from tensorflow.python.ops import gen_resource_variable_ops

from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.expression import site_at
from gradtape.explain.source.files import one_line, span_of
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.tensorflow.functions import GraphEvaluation, evaluated
from gradtape.watching.tensorflow.recorder import TensorFlowRecorder
from gradtape.watching.tensorflow.replay import muted
from gradtape.watching.tensorflow.values import is_eager, to_numpy

ELEMENTS_AT_LEAST = 4
PREFIXES = ("__inference_", "__forward_")


def note_call(outputs: Any, graph: Any, arguments: Any, recorder: TensorFlowRecorder) -> None:
    """Remember which graph was executed, and with which arguments, for a tape that records the call."""
    if graph is None or not recorder.active:
        return
    for output in outputs:
        record = recorder.record_of(output)
        if record is not None and not record.is_shared:
            record.function_call = graph, list(arguments)  # type: ignore[attr-defined]


def explain_inside(computation: RecordedComputation, recorder: TensorFlowRecorder) -> Problem | None:
    """The first operation inside a compiled function that made finite numbers infinite or NaN; None if there is none.

    The graph is evaluated once more, operation by operation, on copies.
    """
    for record in sorted(computation.records, key=lambda record: record.order):
        call = getattr(record, "function_call", None)
        if call is None:
            continue
        graph, arguments = call
        GraphEvaluation(_variables(arguments), ()).run(graph, arguments)
        try:
            found = _first_nonfinite(graph, recorder)
        finally:
            evaluated.clear()
        if found is not None:
            return found
    return None


def explain_flat(
    computation: RecordedComputation, zeros: Sequence[Any], recorder: TensorFlowRecorder
) -> Problem | None:
    """The activation inside a compiled function that is flat everywhere, between the result and the variables `zeros`.

    Their gradients are exactly zero because of it.
    """
    handles: list[Any] = [getattr(x, "handle", None) for x in zeros]
    wanted = {handle._id for handle in handles if is_eager(handle)}
    for record in sorted(computation.records, key=lambda record: record.order) if wanted else ():
        call = getattr(record, "function_call", None)
        if call is None:
            continue
        graph, arguments = call
        inputs = {id(t) for t, x in zip(graph.inputs, arguments) if is_eager(x) and x._id in wanted}
        if not inputs:
            continue
        GraphEvaluation(_variables(arguments), ()).run(graph, arguments)
        try:
            found = _first_flat(graph, inputs, recorder)
        finally:
            evaluated.clear()
        if found is not None:
            return found
    return None


def _first_flat(graph: Any, inputs: set[int], recorder: TensorFlowRecorder) -> Problem | None:
    reached = set(inputs)  # the tensors that are computed from the variables
    for operation in graph.get_operations():
        if not any(id(tensor) in reached for tensor in operation.inputs):
            continue
        reached |= {id(tensor) for tensor in operation.outputs}
        value = evaluated.get(id(operation.outputs[0])) if operation.outputs else None
        slope = _SLOPES.get(operation.type)
        if slope is None or value is None or value.size < ELEMENTS_AT_LEAST or np.any(slope(value)):
            continue
        record = recorder.record_of(operation.outputs[0])
        if record is None or not record.location.is_known:
            continue
        text = one_line(site_at(record.location).span.text)
        is_dead = operation.type == "Relu"
        return problem(
            "GT404",
            f"the gradient is zero everywhere: {text} is {'zero' if is_dead else 'saturated'} for all {value.size} "
            "elements, inside a compiled function",
            spans=[span_of(record.location)],
            consequence="nothing before it learns",
            fixes="smaller initial weights, and inputs of about 1: (x - mean) / std, or keras.layers.Normalization"
            + ("; tf.nn.leaky_relu has a slope everywhere" if is_dead else ""),
        )
    return None


_SLOPES: dict[str, Callable[[Any], Any]] = {
    "Sigmoid": lambda y: y * (1 - y),
    "Tanh": lambda y: 1 - y * y,
    "Relu": lambda y: y,
}


def _variables(arguments: Any) -> dict[int, Any]:
    """The values of the variables that a graph was given, by the number of their handles."""
    found: dict[int, Any] = {}
    with muted():
        for handle in arguments:
            data = getattr(handle, "_handle_data", None)
            if is_eager(handle) and data is not None and data.shape_and_type:
                kind = dtypes.as_dtype(data.shape_and_type[0].dtype)
                found[handle._id] = to_numpy(gen_resource_variable_ops.read_variable_op(handle, kind))
    return found


def _first_nonfinite(graph: Any, recorder: TensorFlowRecorder) -> Problem | None:
    """The first operation of an evaluated graph whose result is not finite although what it was given is."""
    is_lost = any(not _is_finite(evaluated.get(id(tensor))) for tensor in graph.outputs)
    for operation in graph.get_operations():
        results = [evaluated.get(id(tensor)) for tensor in operation.outputs]
        given = [evaluated.get(id(tensor)) for tensor in operation.inputs]
        if operation.type == "Const" or not given or all(map(_is_finite, results)) or not all(map(_is_finite, given)):
            continue
        record = recorder.record_of(operation.outputs[0])
        if record is None or not record.location.is_known:
            continue
        array: Any = next(result for result in results if not _is_finite(result))
        where = np.argwhere(~np.isfinite(array))[0]
        text = one_line(site_at(record.location).span.text)
        place = f" at {[int(k) for k in where]}" if array.ndim else ""
        return problem(
            "GT401" if is_lost else "GT403",
            f"{text} is {array[tuple(where)]}{place}, inside a compiled function"
            + ("" if is_lost else ": the result does not show it, its gradient does"),
            spans=[span_of(record.location)],
            notes=[f"{int((~np.isfinite(array)).sum())} of {array.size} elements are not finite"],
            consequence="everything that is computed from it, and its gradient, is lost"
            if is_lost
            else "tf.where multiplies the infinite derivative of the branch that is not taken by zero, which is NaN",
            fixes="keep its operand where it is defined: a small number added to it, tf.clip_by_value"
            if is_lost
            else "give the branch a safe operand, too: tf.where(x > 0, tf.math.log(tf.where(x > 0, x, 1.0)), 0.0)",
        )
    return None


def _is_finite(array: Any) -> bool:
    """Whether an array of floating point numbers is finite; what is not known, or of another kind, counts as finite."""
    return array is None or np.asarray(array).dtype.kind not in "fc" or bool(np.isfinite(array).all())


__all__ = ["PREFIXES", "explain_flat", "explain_inside", "note_call"]
