"""Where a run of a function began: what its results were computed from that was there before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gradtape.core.graph import Cut, Node
from gradtape.core.tensor import Tensor


def is_interior(node: Node, start: int, mask: int) -> bool:
    """Whether `node` is an operation of a run that began at the order number `start`."""
    return bool(node.bits & mask) and node.order > start and node.op is not None


def interior_results(outs: list[Any], start: int, mask: int) -> list[int]:
    """Which results of a run were recorded by it."""
    return [index for index, x in enumerate(outs) if isinstance(x, Tensor) and is_interior(x._node, start, mask)]


def nodes_before_run(
    targets: Iterable[Node], start: int, mask: int, places: Mapping[Node, Node] | None = None
) -> dict[Node, None]:
    """Where a run began: the nodes of before, the leaves and the cuts that its results were computed from.

    With `places`, the operations of the run are moved: they get the nodes in `places` as parents instead.
    """
    found: dict[Node, None] = {}
    seen: set[Node] = set()
    pending = list(targets)
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if is_interior(node, start, mask):
            pending.extend(node.parents)
            if places is not None:
                node.parents = tuple([places.get(parent, parent) for parent in node.parents])
        elif node.bits & mask or isinstance(node, Cut):
            found[node] = None
    return found
