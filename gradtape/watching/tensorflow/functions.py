"""Values inside a `tf.function` or `fit`: the graph is evaluated once more, operation by operation, on copies.

The compiled function runs as it is, so that its bits are its own. Variables are those that were read while the function
was traced, which is before its first run. Nothing is written: assignments, queues and iterators are left out, random
numbers come from a generator of our own, and what cannot be evaluated has no value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import op_def_registry, tensor_conversion, tensor_util

from gradtape.watching.record import Replay
from gradtape.watching.tensorflow.replay import muted, replay_with
from gradtape.watching.tensorflow.values import is_eager, numpy_dtype, to_numpy

OPERATIONS_AT_MOST = 20_000
BYTES_AT_MOST = 1 << 26
DEPTH_AT_MOST = 8

evaluated: dict[int, Any] = {}
"""The arrays of the graph that was evaluated last, by the identity of its tensors."""


class GraphValue:
    """A tensor of a graph, whose numbers are known while the graph's evaluation is."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def array(self) -> Any:
        """The numbers; None if they are not known."""
        return evaluated.get(id(self.tensor))


def graph_replay(kind: str, operation: Any, attributes: Mapping[str, Any], slots: Sequence[int]) -> Replay | None:
    """How an operation of a graph is executed, with other values for the inputs `slots`."""
    definition = op_def_registry.get(kind)
    if definition is None or definition.is_stateful:
        return None
    inputs = list(operation.inputs)
    if any(x.dtype.name in ("resource", "variant", "string") for x in inputs):
        return None

    def others() -> dict[int, Any]:
        return {k: evaluated.get(id(x)) for k, x in enumerate(inputs) if k not in slots}

    return replay_with(kind, [x.dtype for x in inputs], attributes, len(operation.outputs), slots, others)


class GraphEvaluation:
    """Evaluates a graph with given inputs; `variables` are arrays by the number of a variable's handle."""

    def __init__(self, variables: Mapping[int, Any], batch: Sequence[Any]) -> None:
        self._variables = variables
        self._batch = batch  # what an iterator gives
        self._generator = np.random.default_rng(0)
        self._count = 0

    def run(self, graph: Any, inputs: Sequence[Any]) -> None:
        """Evaluate `graph`; the results are in `evaluated`."""
        evaluated.clear()
        with muted(), np.errstate(all="ignore"):
            self._run(graph, list(inputs), {}, 0)

    def _run(self, graph: Any, inputs: Sequence[Any], written: dict[int, Any], depth: int) -> list[Any]:
        handles: dict[int, int] = {}  # from a resource of this graph to the number of the variable's handle
        for tensor, value in zip(graph.inputs, inputs):
            if isinstance(value, Handle):
                handles[id(tensor)] = value.number
            elif is_eager(value) and value.dtype.name == "resource":
                handles[id(tensor)] = value._id
            elif is_eager(value):
                self._keep(tensor, to_numpy(value))
            elif value is not None:
                self._keep(tensor, value)
        for operation in graph.get_operations():
            self._count += 1
            if self._count > OPERATIONS_AT_MOST:
                return []
            self._evaluate(operation, graph, handles, written, depth)
        return [
            Handle(handles[id(tensor)]) if id(tensor) in handles else evaluated.get(id(tensor))
            for tensor in graph.outputs
        ]

    def _keep(self, tensor: Any, value: Any) -> None:
        if value is not None and np.asarray(value).dtype.kind in "fciub" and np.asarray(value).nbytes <= BYTES_AT_MOST:
            evaluated[id(tensor)] = np.asarray(value)

    def _evaluate(
        self, operation: Any, graph: Any, handles: dict[int, int], written: dict[int, Any], depth: int
    ) -> None:
        kind, inputs, outputs = operation.type, list(operation.inputs), list(operation.outputs)
        if kind in ("Placeholder", "NoOp"):
            return
        if kind == "Const":
            self._keep(outputs[0], tensor_util.constant_value(outputs[0]))
        elif kind == "ReadVariableOp":
            number = handles.get(id(inputs[0]), -1)
            self._keep(outputs[0], written.get(number, self._variables.get(number)))
        elif kind == "AssignVariableOp":
            value = evaluated.get(id(inputs[1]))
            if value is not None and id(inputs[0]) in handles:
                written[handles[id(inputs[0])]] = value
        elif kind == "IteratorGetNext":
            if len(outputs) == len(self._batch):
                for tensor, value in zip(outputs, self._batch):
                    self._keep(tensor, np.asarray(value, numpy_dtype(tensor.dtype)))
        elif kind in ("PartitionedCall", "StatefulPartitionedCall"):
            self._call(operation, graph, handles, written, depth)
        elif kind in ("RandomStandardNormal", "RandomUniform", "TruncatedNormal"):
            shape = evaluated.get(id(inputs[0]))
            if shape is not None:
                draw = self._generator.random if kind == "RandomUniform" else self._generator.standard_normal
                self._keep(outputs[0], draw(tuple(shape)).astype(numpy_dtype(outputs[0].dtype)))
        else:
            self._execute(operation, inputs, outputs)

    def _call(self, operation: Any, graph: Any, handles: dict[int, int], written: dict[int, Any], depth: int) -> None:
        name = operation.get_attr("f").name
        function = graph._get_function(name)
        inner = getattr(function, "graph", None)
        if inner is None or depth >= DEPTH_AT_MOST:
            return
        given = [Handle(handles[id(x)]) if id(x) in handles else evaluated.get(id(x)) for x in operation.inputs]
        found = self._run(inner, given, written, depth + 1)
        for tensor, value in zip(operation.outputs, found):
            if isinstance(value, Handle):
                handles[id(tensor)] = value.number
            else:
                self._keep(tensor, value)

    def _execute(self, operation: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        definition = op_def_registry.get(operation.type)
        if (
            definition is None
            or definition.is_stateful
            or any(attribute.type == "func" for attribute in definition.attr)
        ):
            return
        if any(tensor.dtype.name in ("resource", "variant", "string") for tensor in [*inputs, *outputs]):
            return
        given = [evaluated.get(id(tensor)) for tensor in inputs]
        if any(value is None for value in given):
            return
        tensors = [tensor_conversion.convert_to_tensor_v2(v, t.dtype) for v, t in zip(given, inputs)]
        attributes = tuple(
            part for attribute in definition.attr for part in (attribute.name, operation.get_attr(attribute.name))
        )
        try:
            found = execute.quick_execute(operation.type, len(outputs), tensors, attributes, context.context())
        except Exception:  # an operation that is for graphs only: what comes of it has no value
            return
        for tensor, value in zip(outputs, found):
            self._keep(tensor, to_numpy(value))


class Handle:
    """The handle of a variable inside a graph."""

    def __init__(self, number: int) -> None:
        self.number = number


__all__ = ["GraphEvaluation", "GraphValue", "evaluated", "graph_replay"]
