"""Forward mode: `ForwardAccumulator` computes tangents at every operation, `push_tangents` along a recorded graph."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from types import TracebackType
from typing import Any

import numpy as np

from gradtape.core import recording
from gradtape.core.graph import Node
from gradtape.core.pytree import aligned, leaves, map_structure
from gradtape.core.tape import check_seed, check_unconnected
from gradtape.core.tensor import Tensor, check_differentiable, watch_node
from gradtape.explain import entry_points, messages

KEPT_BYTES = 1 << 26
_BYTES_OF_NODE = 1 << 10


class ForwardAccumulator(recording.Recorder):
    """Directional derivatives of what is computed inside the `with` block, in the direction `tangents`.

    >>> import gradtape as gt
    >>> x = gt.tensor([1.0, 2.0])
    >>> with gt.ForwardAccumulator(x, [1.0, 0.0]) as accumulator:
    ...     y = (x ** 3).sum()
    >>> accumulator.jvp(y)
    Tensor(3.)
    """

    pushes_forward = True

    def __init__(self, primals: Any, tangents: Any) -> None:
        super().__init__()
        self._active = False
        if isinstance(primals, Tensor):
            pairs = [(primals, tangents)]
        else:
            given = aligned(primals, tangents, "primals", "tangents", arrays=True)
            pairs = list(zip(leaves(primals), given, strict=True))
        for primal, tangent in pairs:
            self._start(primal, tangent)

    def _start(self, primal: Any, tangent: Any) -> None:
        if not isinstance(primal, Tensor):
            raise messages.primal_not_tensor(primal)
        check_differentiable(primal.dtype, "ForwardAccumulator", primal.shape)
        if np.shape(tangent) != primal.shape:
            raise messages.wrong_tangent_shape(np.shape(tangent), primal.shape)
        tangent = check_tangent(tangent, primal)
        node = watch_node(primal)
        node.bits |= self.bit
        self._watched[node] = None
        held = node.extras().tangents
        held[self.bit] = tangent if held.get(self.bit) is None else held[self.bit] + tangent

    def __enter__(self) -> ForwardAccumulator:
        if self._active:
            raise messages.entered_twice()
        self._active = True
        self._kept_bytes = 0
        recording.forget_departures(self.bit)
        recording.threads_of_tapes[self.bit] = get_ident()
        recording.switch(recording.current().with_recorder(self))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._active = False
        recording.threads_of_tapes.pop(self.bit, None)
        recording.switch(recording.current().without(self))
        if isinstance(error, Exception):
            messages.explain_failure(error)

    def push(self, node: Node, attach: Callable[[Any, Node], Any]) -> None:
        """Compute the tangent of `node` from its parents' (in the state outside of this accumulator)."""
        assert node.op is not None
        assert node.op.forward is not None
        tangents = [self._tangent(parent) for parent in node.parents]
        out, inputs = node.values(attach if recording.current().bits & node.bits else None)
        with np.errstate(all="ignore"):
            tangent = node.op.forward(node, out, inputs, tangents)
        if tangent is not None:
            node.extras().tangents[self.bit] = tangent

    def keeps(self, node: Node) -> bool:
        """Whether the graph since a value has left is kept, to see whether it came back; not more than `KEPT_BYTES`."""
        self._kept_bytes += _BYTES_OF_NODE + sum(getattr(value, "nbytes", 0) for value in node.inputs)
        if self._kept_bytes < KEPT_BYTES:
            return True
        judge_departures([node], self.bit)
        recording.forget_departures(self.bit)
        self._kept_bytes = 0
        return False

    def _tangent(self, node: Node) -> Any:
        return None if node.extra is None else node.extra.tangents.get(self.bit)

    def jvp(self, primals: Any, unconnected_gradients: str = "none") -> Any:
        """The tangents of `primals`, computed inside the block; None (or zeros) where they do not depend."""
        check_unconnected(unconnected_gradients)
        if recording.departed_bits & self.bit:
            judge_departures([x._node for x in leaves(primals) if isinstance(x, Tensor)], self.bit)

        def tangent_of(primal: Any) -> Any:
            tangent = self._tangent(primal._node) if isinstance(primal, Tensor) else None
            if tangent is None:
                return Tensor(np.zeros(primal.shape, primal.dtype)) if unconnected_gradients == "zero" else None
            return tangent if isinstance(tangent, Tensor) else Tensor(tangent)

        return tangent_of(primals) if isinstance(primals, Tensor) else map_structure(tangent_of, primals)


def judge_departures(targets: list[Node], mask: int) -> None:
    """Report values that left the recorder with the bit `mask` and came back as constants on the way to `targets`."""
    seeds = [(target, np.ones(target.shape, target.dtype)) for target in targets if target.bits & mask]
    entry_points.examine(seeds, mask, (), (), judges_zeros=False)


def check_tangent(tangent: Any, primal: Tensor) -> Any:
    """`tangent` as a direction for `primal` to move in, of the same shape and kind of number."""
    if tangent is None:
        raise messages.different_structures("primals", "tangents", "", "an array", "None")
    return check_seed(tangent, primal, "tangents")


def push_tangents(
    targets: list[Node], tangents: dict[Node, Any], mask: int, attach: Callable[[Any, Node], Any] | None
) -> list[Any]:
    """Send tangents forward along a recorded graph; those of `targets`, None where nothing arrives."""
    reached: dict[Node, None] = {}
    pending = [target for target in targets if target.bits & mask]
    while pending:
        node = pending.pop()
        if node not in reached:
            reached[node] = None
            pending.extend(parent for parent in node.parents if parent.bits & mask)
    moving = {node: tangent for node, tangent in tangents.items() if tangent is not None}
    with np.errstate(all="ignore"):
        for node in sorted(reached, key=lambda node: node.order):
            if node in moving or node.op is None or not any(parent in moving for parent in node.parents):
                continue
            if node.op.part is not None:
                tangent = moving[node.parents[0]][node.op.part]
            else:
                assert node.op.forward is not None
                out, inputs = node.values(attach)
                tangent = node.op.forward(node, out, inputs, [moving.get(parent) for parent in node.parents])
            if tangent is not None:
                moving[node] = tangent
    return [moving.get(target) for target in targets]
