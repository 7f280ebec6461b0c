"""Looking at healthy gradients too, for what is only worth a note: `gradtape run` does, and whoever asks for it.

A survey walks the graph once more, so it is not made of every gradient: of each line that asks for one the first,
second, fourth, eighth time and so on. Only over how many examples a loss is summed is looked at each time.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import numpy as np

from gradtape.core import graph
from gradtape.core.graph import LIFTED, Node
from gradtape.core.location import Location
from gradtape.explain.replay import Replay
from gradtape.explain.sums import over_batches
from gradtape.explain.training import survey
from gradtape.explain.voices import doubt, report


@contextmanager
def surveying() -> Iterator[None]:
    """Inside, gradients are looked at for saturated and dead units, for vanishing and exploding, and the like.

    What is found is reported in the voice of its code: a note, unless `configure` says otherwise.

    >>> import numpy as np, gradtape as gt
    >>> x = gt.Variable(np.linspace(-30.0, 30.0, 8))
    >>> with gt.GradientTape() as tape:
    ...     y = np.tanh(x).sum()
    >>> with gt.explain.surveying():
    ...     gradient = tape.gradient(y, x)
    >>> [note.code for note in gt.explain.notes(clear=True)]
    ['GT503']
    """
    calls: dict[tuple[CodeType | None, int], int] = {}

    def look(
        seeds: Iterable[tuple[Node, Any]], mask: int, sources: Iterable[Node] | None, beginnings: Container[Node]
    ) -> None:
        if not isinstance(seeds, list) or not all(isinstance(seed, np.ndarray | np.generic) for _, seed in seeds):
            return  # a walk inside another: its seeds are the walk's to use up, or tensors
        if doubt("surveyed"):
            return  # traced: the function itself will be looked at
        for found in over_batches([node for node, _ in seeds if node.freed is None]):
            report(found)
        where = Location.here()
        place = where.code, where.offset
        count = calls[place] = calls.get(place, 0) + 1
        if count & (count - 1):
            return
        replay = Replay(seeds, mask, beginnings)
        if not any(_is_not_to_be_walked(node) for node in replay.nodes):
            for found in survey(replay):
                report(found)

    graph.observers.append(look)
    try:
        yield
    finally:
        graph.observers.remove(look)


def _is_not_to_be_walked(node: Node) -> bool:
    """Whether looking would be noticed: a rule or function of the user's is called when its gradient is taken, once.

    Of a batch inside vmap there is no single value, and of a graph that was freed nothing is left to look at.
    """
    return bool(node.bits & LIFTED) or node.freed is not None or (node.op is not None and node.op.kind == "custom")
