"""Large loops over several threads. Which thread computes a unit makes no difference to any bit of the result."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from gradtape.config import config

# A pool's round trip takes 30 to 80 us, so a loop has to be estimated at several hundred to be split.
WORTH = 400_000  # nanoseconds
HEAVY_NANOSECONDS = 4.0
LIGHT_NANOSECONDS = 0.5

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_pool_size = 0


def available() -> int:
    """The number of cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def count() -> int:
    """How many threads large loops are split over: `gt.config.threads`, or one for each core.

    >>> from gradtape.config import config
    >>> from gradtape.jit.native import threads
    >>> config.threads = 1
    >>> threads.count()
    1
    >>> config.threads = None
    """
    return available() if config.threads is None else config.threads


def cost(nests: Sequence[Any]) -> float:
    """A guess at the nanoseconds that nests take on one core."""
    return float(sum(nest.elements * (HEAVY_NANOSECONDS if nest.heavy else LIGHT_NANOSECONDS) for nest in nests))


def worth_splitting(nest: Any) -> bool:
    """Whether a nest has enough work, in more than one unit."""
    return bool(nest.units > 1 and cost([nest]) > WORTH)


def _executor(size: int) -> ThreadPoolExecutor:
    global _pool, _pool_size
    with _lock:
        if _pool is None or _pool_size < size:
            _pool = ThreadPoolExecutor(size, "gradtape-loops")
            _pool_size = size
        return _pool


def run(nest: Any, function: Any, buffers: Any) -> None:
    """All units of a nest: by the calling thread, and by others if that is worth it."""
    number = min(count(), nest.units)
    if number == 1 or not worth_splitting(nest):
        function(buffers, 0, nest.units)
        return
    bounds = [nest.units * i // number for i in range(number + 1)]
    pool = _executor(number - 1)
    others = [pool.submit(function, buffers, bounds[i], bounds[i + 1]) for i in range(1, number)]
    try:
        function(buffers, bounds[0], bounds[1])
    finally:
        for other in others:
            other.result()


def _forget() -> None:
    """A child process has none of its parent's threads."""
    global _pool, _pool_size, _lock
    _pool, _pool_size, _lock = None, 0, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
