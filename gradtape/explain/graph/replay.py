"""A second backward pass, after the first gave a gradient that needs explaining; it keeps every intermediate value.

The graph is as it was when the gradient was taken. Nothing is recorded, no hook is called, and nothing is overwritten.
Inside a trace of `jit` it computes with the arrays of the call that is traced, so that the trace does not change.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from gradtape.core import recording
from gradtape.core.explain_hooks import NanOrigins, ReverseRuleCall
from gradtape.core.graph import AMBIENT, FLAGS, LIFTED, PARTS, Node, concrete_value, leaf
from gradtape.core.operation import Lifted
from gradtape.core.rules import TABLE
from gradtape.explain.model.record import Record, operand_values
from gradtape.forking import cached_property


class Replay:
    """The graph behind some targets, and the cotangents that flow through it: the kernel's `Replayable` computation.

    `records` are the operations and leaves that the seeds reach, the youngest first, as the walk visits them;
    `consumers` lists, for each, the operations that used it.
    """

    def __init__(
        self,
        seeds: Sequence[tuple[Node, Any]],
        mask: int,
        boundary: Container[Node] = (),
        sources: Mapping[Node, Any] | None = None,
        nan_origins: NanOrigins | None = None,
    ) -> None:
        self.seeds = [(node, seed) for node, seed in seeds if node.bits & mask]
        self.mask = mask
        self.boundary = boundary
        self.sources: dict[Record, Any] = dict((sources or {}).items())  # values that the caller has
        # what the first pass kept of the operations that matter, because it releases saved values on its way
        kept = [] if nan_origins is None else [*nan_origins.zeros]
        if nan_origins is not None and nan_origins.first_nonfinite is not None:
            kept.append(nan_origins.first_nonfinite)
        self.kept: dict[Record, ReverseRuleCall] = {call.node: call for call in kept}
        self.lost: Node | None = None  # an operation whose saved values had been released
        self.records: list[Node] = []
        self.consumers: dict[Record, list[Node]] = {}
        heap: list[tuple[int, int]] = []
        waiting: dict[int, Node] = {}
        for node, _ in self.seeds:
            self._enqueue(node, heap, waiting)
        while heap:
            node = waiting[heappop(heap)[1]]
            self.records.append(node)
            for parent in self.parents(node):
                self._enqueue(parent, heap, waiting)
                self.consumers[parent].append(node)

    def _enqueue(self, node: Node, heap: list[tuple[int, int]], waiting: dict[int, Node]) -> None:
        if node not in self.consumers:
            self.consumers[node] = []
            waiting[id(node)] = node
            heappush(heap, (-node.order, id(node)))

    @property
    def targets(self) -> list[Node]:
        """The nodes that the gradient was taken of."""
        return [node for node, _ in self.seeds]

    def parents(self, node: Record) -> list[Node]:
        """The parents of `node` that receive a gradient."""
        assert isinstance(node, Node)
        if node in self.boundary:
            return []
        return [parent for parent in node.parents if parent.bits & self.mask]

    @cached_property
    def gradients(self) -> dict[Record, Any]:
        """The cotangent that arrives at each node; for an operation with several results, a list of them."""
        self._walk()
        return self._arrived

    @cached_property
    def cotangents(self) -> dict[Record, tuple[Any, ...]]:
        """The cotangents that the rule of each operation returned for its inputs."""
        self._walk()
        return self._given

    def _walk(self) -> None:
        self._arrived: dict[Record, Any] = {}
        self._given: dict[Record, tuple[Any, ...]] = {}
        for node, seed in self.seeds:
            self._add(node, seed)
        self._arrived |= {node: _arriving_gradient(call) for node, call in self.kept.items() if node in self.consumers}
        with np.errstate(all="ignore"), recording.during(recording.current().mute(True)):
            for node in self.records:
                gradient = self._arrived.get(node)
                if gradient is None or node.op is None or not self.parents(node):
                    continue
                if node.op.part is not None:
                    whole = node.parents[0]
                    parts = self._arrived.setdefault(whole, [None] * len(whole.params[PARTS]))
                    before = parts[node.op.part]
                    parts[node.op.part] = gradient if before is None else before + gradient
                    continue
                if node.op.several:
                    specs = node.params[PARTS]
                    gradient = [np.zeros(*spec) if part is None else part for part, spec in zip(gradient, specs)]
                if not node.inputs:  # released
                    self.lost = self.lost or node
                    continue
                self._given[node] = given = tuple(node.op.reverse(gradient, node, *recorded_values(node)))
                for parent, cotangent in zip(node.parents, given):
                    if cotangent is not None and parent.bits & self.mask and parent in self.consumers:
                        self._add(parent, _cast_like(cotangent, parent))

    def _add(self, node: Node, cotangent: Any) -> None:
        if node in self.kept:
            return  # known already: some contributions cannot be computed again
        before = self._arrived.get(node)
        self._arrived[node] = cotangent if before is None else before + cotangent

    # -- values of the forward pass

    @cached_property
    def values(self) -> dict[Record, Any]:
        """The results of operations, as far as they were saved or can be computed from saved values."""
        known: dict[Record, Any] = dict(self.sources)
        for node in self.records:
            if node.op is not None and node.out is not None and not node.op.several:
                known[node] = out = concrete_value(node.out)
            pairs = zip(node.parents, operand_values(node))
            known.update({parent: value for parent, value in pairs if value is not None and parent.bits > FLAGS})
            is_root = node.op is not None and node.op.name == "sqrt" and bool(node.parents)
            if is_root and node.out is not None and np.isfinite(out).all():
                known.setdefault(node.parents[0], np.square(out))
        with np.errstate(all="ignore"), recording.during(recording.current().mute(True)):
            for node in reversed(self.records):
                if node not in known and node.op is not None and not node.op.several:
                    inputs = self.inputs(node, known)
                    if inputs and all(value is not None for value in inputs):
                        known[node] = node.op.kernel(*inputs, **node.params)
        return known

    def inputs(self, node: Record, known: dict[Record, Any] | None = None) -> list[Any]:
        """The values that `node` was computed from; None where one is not known."""
        known = self.values if known is None else known
        return [
            known.get(parent) if value is None and parent.is_tracked else value
            for parent, value in zip(node.parents, operand_values(node))
        ]

    # -- the rules, once more

    def apply_forward(self, node: Record, inputs: Sequence[Any]) -> Any:
        """The result of a recorded operation for other inputs."""
        assert isinstance(node, Node)
        assert node.op is not None
        return node.op.kernel(*inputs, **node.params)

    def apply_reverse(
        self, node: Record, gradient: Any, value: Any = None, inputs: Sequence[Any] | None = None
    ) -> Sequence[Any]:
        """The cotangents of the inputs of a recorded operation; for other inputs and result, if given."""
        assert isinstance(node, Node)
        assert node.op is not None
        values = recorded_values(node) if inputs is None else (value, tuple(inputs))
        given: Sequence[Any] = node.op.reverse(gradient, node, *values)
        return given

    def gradient_of_constant(self, node: Record, index: int) -> Any:
        """The gradient that a constant operand would have got; None where its rule needs a value that was not saved."""
        assert isinstance(node, Node)
        gradient, inputs = self.gradients.get(node), tuple(self.inputs(node))
        if gradient is None or isinstance(gradient, list) or node.op is None:
            return None
        stand_in = Node()
        stand_in.op, stand_in.params, stand_in.shape, stand_in.dtype = node.op, node.params, node.shape, node.dtype
        stand_in.bits, stand_in.out, stand_in.inputs = node.bits, self.values.get(node), inputs
        constant = leaf(np.shape(inputs[index]) if inputs[index] is not None else (), node.dtype, AMBIENT)
        stand_in.parents = tuple(constant if i == index else parent for i, parent in enumerate(node.parents))
        try:
            with np.errstate(all="ignore"):
                return node.op.reverse(gradient, stand_in, stand_in.out, inputs)[index]
        except (TypeError, ValueError, AttributeError):
            return None


def _arriving_gradient(call: ReverseRuleCall) -> Any:
    """The gradient that arrived where the first non-finite value arose.

    Where the rule overwrote it: 0 at the NaNs, else 1. In the elementwise rules that do so, a NaN is zero times an
    infinite slope.
    """
    if not any(call.gradient is cotangent for cotangent in call.cotangents):
        return call.gradient
    return np.where(np.isnan(call.gradient), 0, 1).astype(call.gradient.dtype)


def recorded_values(node: Node) -> tuple[Any, tuple[Any, ...]]:
    """The result and the inputs that a node saved; traced values as the arrays of the present call."""
    out, inputs = node.values(None)
    if not node.bits & LIFTED:
        return out, inputs
    return tuple(map(concrete_value, out)) if isinstance(out, tuple) else concrete_value(out), tuple(
        map(concrete_value, inputs)
    )


def is_custom(node: Node) -> bool:
    """Whether the gradient rule of a node is the user's code, where a second call could have side effects."""
    return node.op is not None and node.op.kind == "custom"


def is_concrete(node: Node) -> bool:
    """Whether all values that a node has saved are plain arrays, not tensors of an interpreter.

    Inside `vmap` there is no single value. Inside `jit` there is, except where the operation is a whole loop.
    """
    if not node.bits & LIFTED or node.op is None:
        return True
    if node.op.part is None and not is_custom(node) and TABLE.get(node.op.name) is not node.op:
        return False
    out, inputs = recorded_values(node)
    parts = out if isinstance(out, tuple) else (out,)
    return not any(_has_lifted(item) for item in (*parts, *inputs, *node.params.values()))


def _has_lifted(item: Any) -> bool:
    if isinstance(item, tuple | list):
        return any(map(_has_lifted, item))
    return isinstance(item, Lifted)


def _cast_like(cotangent: Any, parent: Node) -> Any:
    if cotangent.dtype.kind == "c" and parent.dtype.kind != "c":
        cotangent = cotangent.real
    return cotangent.astype(parent.dtype, copy=False)
