"""Which loops are divided among threads, and how many threads there are: see `pool` for the threads themselves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from gradtape.config import config

WORTH = 16_000
"""Nanoseconds that a loop is estimated to take from which on it is divided: a threshold that was chosen, not fitted."""
HEAVY_NANOSECONDS = 4.0
LIGHT_NANOSECONDS = 0.5
NAME = "gradtape-loops"  # of the helper threads


def available() -> int:
    """The number of cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def count() -> int:
    """The number of threads for large loops: `gt.config.threads`, or one for each core.

    >>> from gradtape.config import config
    >>> from gradtape.jit.native.runtime import threads
    >>> before, config.threads = config.threads, 1
    >>> threads.count()
    1
    >>> config.threads = before
    """
    return available() if config.threads is None else config.threads


def cost(nests: Sequence[Any]) -> float:
    """The estimated nanoseconds that nests take on one core."""
    return float(sum(nest.elements * (HEAVY_NANOSECONDS if nest.heavy else LIGHT_NANOSECONDS) for nest in nests))


def worth_splitting(nest: Any) -> bool:
    """Whether a nest has enough work and more than one unit."""
    return bool(nest.units > 1 and cost([nest]) > WORTH)
