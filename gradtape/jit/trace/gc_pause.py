"""Garbage while a function is compiled: looked for less often, as next to nothing of what is made then is any."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from gradtape.forking import after_fork_in_child, fork_safe

OBJECTS = 2_000_000
"""After how many new objects it is looked for; Python does so after 700, and so looks at all of a long trace often."""
MANY = 100_000
"""How many new objects are too many to be looked at once more, at the end: a trace of that length is kept."""

_lock = fork_safe(threading.Lock())
_inside: dict[int, int] = {}  # how often each thread is in here, by its identity
_before = gc.get_threshold()


@contextmanager
def seldom() -> Iterator[None]:
    """Let garbage be collected seldom; any number of threads may be in here.

    >>> import gc
    >>> from gradtape.jit.trace.gc_pause import seldom
    >>> before = gc.get_threshold()
    >>> with seldom():
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
        if is_first and _before[0]:  # else it is switched off
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
    """In a child process: the threads that were in here, and would have put the threshold back, are not there."""
    here = threading.get_ident()
    others = [thread for thread in _inside if thread != here]
    for thread in others:
        del _inside[thread]
    if others and not _inside:
        gc.set_threshold(*_before)


after_fork_in_child(_forget_other_threads)


def age() -> None:
    """Let all objects there are now be old ones, which are not looked at before all others are."""
    if not gc.get_freeze_count():  # else somebody has others that are never to be looked at
        gc.freeze()
        gc.unfreeze()
