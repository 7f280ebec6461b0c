"""Negative results: how often a search at one place of the program found nothing wrong.

A program that is right is examined in each step of its training. After `SEARCHES_AT_MOST` searches without a result the
place is not searched again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtape.explain.model.record import Record

ENTRIES_AT_MOST = 1024
SEARCHES_AT_MOST = 3

# The number of searches, and the locations whose place keys are in the key: those are unique as long as these are held.
_negatives: dict[tuple[Any, ...], tuple[int, Any]] = {}


def is_cleared(key: tuple[Any, ...]) -> bool:
    """Whether `key` was searched often enough without a result."""
    return _negatives.get(key, (0, None))[0] >= SEARCHES_AT_MOST


def record_negative(key: tuple[Any, ...], records: Sequence[Record]) -> bool:
    """Count one more search at `key`, in which are the places of `records`, that found nothing.

    Returns whether the table was full and has been emptied, for others who count by the same places.
    """
    is_full = len(_negatives) >= ENTRIES_AT_MOST
    if is_full:
        _negatives.clear()
    held = [record.location for record in records]
    _negatives[key] = (_negatives.get(key, (0, None))[0] + 1, held)
    return is_full
