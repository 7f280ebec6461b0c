"""Negative results: how often a search at one place of the program found nothing wrong.

A program that is right is examined in each step of its training. After `SEARCHES_AT_MOST` searches without a result the
place is not searched again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradtape.core.explain_hooks import times_cleared
from gradtape.core.graph import Node

if TYPE_CHECKING:
    from gradtape.explain.graph.replay import Replay

ENTRIES_AT_MOST = 1024
SEARCHES_AT_MOST = 3

# The number of searches, and the code objects: keys have their ids, which are unique only as long as they live.
_negatives: dict[tuple[Any, ...], tuple[int, Any]] = {}


def is_cleared(key: tuple[Any, ...]) -> bool:
    """Whether `key` was searched often enough without a result."""
    return _negatives.get(key, (0, None))[0] >= SEARCHES_AT_MOST


def record_negative(key: tuple[Any, ...], replay: Replay, node: Node | None = None) -> None:
    """Count one more search at `key` that found nothing; at `node`, if it is one operation that was judged."""
    if len(_negatives) >= ENTRIES_AT_MOST:
        _negatives.clear()
        times_cleared.clear()
    if node is not None:
        place = key[:3]
        times_cleared[place] = times_cleared.get(place, 0) + 1
    codes = [None if node is None else node.code, *(target.code for target, _ in replay.seeds)]
    _negatives[key] = (_negatives.get(key, (0, None))[0] + 1, codes)
