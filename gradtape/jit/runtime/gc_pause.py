"""Raise the GC threshold while compiling: almost nothing allocated then is garbage."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gradtape.forking import after_fork_in_child, fork_safe

OBJECTS = 2_000_000
"""Threshold of the youngest generation; Python's default of 700 would rescan a long trace many times."""
MANY = 100_000
"""With more new objects than this, move them to the oldest generation at the end: a long trace is kept."""

_lock = fork_safe(threading.Lock())
_inside: dict[int, int] = {}  # nesting depth by thread identity
_before = gc.get_threshold()


@contextmanager
def collect_less_often() -> Iterator[None]:
    """Raise the GC threshold inside the block; reentrant, and shared by all threads.

    >>> import gc
    >>> from gradtape.jit.runtime.gc_pause import collect_less_often
    >>> before = gc.get_threshold()
    >>> with collect_less_often():
    ...     gc.get_threshold()[0] >= before[0]
    True
    >>> gc.get_threshold() == before
    True
    """
    global _before
    thread = threading.get_ident()
    with _lock:
        is_first = not _inside
        if is_first:
            _before = gc.get_threshold()
        _inside[thread] = _inside.get(thread, 0) + 1
        if is_first and _before[0]:  # 0: the collector is off
            gc.set_threshold(max(OBJECTS, _before[0]), *_before[1:])
    try:
        yield
    finally:
        with _lock:
            if sum(_inside.values()) == 1:
                if gc.get_count()[0] > MANY:
                    age()
                gc.set_threshold(*_before)
            _inside[thread] -= 1
            if not _inside[thread]:
                del _inside[thread]


def _forget_other_threads() -> None:
    """In a forked child: drop the entries of threads that no longer exist and would never restore the threshold."""
    here = threading.get_ident()
    others = [thread for thread in _inside if thread != here]
    for thread in others:
        del _inside[thread]
    if others and not _inside:
        gc.set_threshold(*_before)


after_fork_in_child(_forget_other_threads)


def age() -> None:
    """Move all existing objects to the oldest generation, which is scanned last."""
    if not gc.get_freeze_count():  # else the application froze objects itself, and unfreeze would undo that
        gc.freeze()
        gc.unfreeze()
