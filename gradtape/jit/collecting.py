"""Garbage while a function is compiled: looked for less often, as next to nothing of what is made then is any."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 2_000_000
"""After how many new objects it is looked for; Python does so after 700, and so looks at all of a long trace often."""
MANY = 100_000
"""How many new objects are too many to be looked at once more, at the end: a trace of that length is kept."""

_lock = threading.Lock()
_inside = 0
_before = gc.get_threshold()


@contextmanager
def seldom() -> Iterator[None]:
    """Let garbage be collected seldom; any number of threads may be in here.

    >>> import gc
    >>> from gradtape.jit.collecting import seldom
    >>> before = gc.get_threshold()
    >>> with seldom():
    ...     gc.get_threshold()[0] >= before[0]
    True
    >>> gc.get_threshold() == before
    True
    """
    global _inside, _before
    with _lock:
        if not _inside:
            _before = gc.get_threshold()
            if _before[0]:  # else it is switched off
                gc.set_threshold(max(OBJECTS, _before[0]), *_before[1:])
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                if gc.get_count()[0] > MANY:
                    age()
                gc.set_threshold(*_before)


def age() -> None:
    """Let all objects there are now be old ones, which are not looked at before all others are."""
    if not gc.get_freeze_count():  # else somebody has others that are never to be looked at
        gc.freeze()
        gc.unfreeze()
