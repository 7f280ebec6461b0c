"""Opt-in survey of healthy gradients, for findings that are only worth a note; `gradtape run` turns it on.

A survey replays the graph, so it is not made for every gradient: for each line that takes one, it is made the first,
second, fourth, eighth time and so on. Only the number of examples in a summed loss is checked each time.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import numpy as np

from gradtape.core import explain_hooks
from gradtape.core.graph import Node
from gradtape.core.location import Location
from gradtape.explain.detectors.loss_reduction import SumHistories, sums_over_uneven_batches
from gradtape.explain.detectors.training_dynamics import survey_graph
from gradtape.explain.emit.listeners import without_listeners
from gradtape.explain.emit.policy import report
from gradtape.explain.graph.replay import Replay, is_concrete, is_custom
from gradtape.explain.model.problem import Problem


@contextmanager
def surveying(tell: Callable[[Problem], None] = report) -> Iterator[None]:
    """Inside, gradients are looked at for saturated and dead units, for vanishing and exploding, and the like.

    What is found is reported in the voice of its code: a note, unless `configure` says otherwise. With `tell`, that is
    called with it instead, and the program that is looked at does not notice.

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
    histories: SumHistories = {}

    def look(
        seeds: Iterable[tuple[Node, Any]], mask: int, sources: Iterable[Node] | None, boundary: Container[Node]
    ) -> None:
        seeds = list(seeds)
        if not all(isinstance(seed, np.ndarray | np.generic) for _, seed in seeds):
            return  # a backward pass inside another, whose seeds are tensors
        where = Location.here()
        place = where.code, where.offset
        count = calls[place] = calls.get(place, 0) + 1
        for found in _survey_gradient(seeds, mask, boundary, histories, is_due=not count & (count - 1)):
            tell(found)

    explain_hooks.observers.append(look)
    try:
        yield
    finally:
        explain_hooks.observers.remove(look)


def _survey_gradient(
    seeds: list[tuple[Node, Any]], mask: int, boundary: Container[Node], histories: SumHistories, is_due: bool
) -> list[Problem]:
    """The problems of a gradient that is about to be taken; the gradient itself is not affected."""
    try:
        with without_listeners(), np.errstate(all="ignore"):
            found = list(sums_over_uneven_batches([node for node, _ in seeds if node.freed is None], histories))
            if is_due:
                replay = Replay(seeds, mask, boundary)
                if all(_is_replayable(node) for node in replay.records):
                    found += survey_graph(replay)
            return found
    except Exception:  # an operand that was changed since: the backward pass itself reports that
        return []


def _is_replayable(node: Node) -> bool:
    """Whether the rule of a node can run once more without side effects: not custom, not freed, not traced."""
    return node.freed is None and not is_custom(node) and is_concrete(node)
