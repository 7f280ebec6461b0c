"""What `sys.getrefcount` can be relied on for in this interpreter, found out when this is imported.

Memory is reused, and the iterations of a loop are elided, where an object has no other reference. Both ask for its
number of references, which is exact in CPython with its lock. Without that lock (a free-threaded build) those of other
threads are counted otherwise. From Python 3.14 on, what a function has on its stack need not be counted at all, so that
the number depends on how the code around was compiled. Where a number cannot be relied on, the object is taken to be
held.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np


def has_gil() -> bool:
    """Whether one thread at a time runs Python code, in CPython."""
    is_enabled: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
    return sys.implementation.name == "cpython" and is_enabled()


def _counts_locals() -> bool:
    """Whether a local variable and an argument are a reference each, as they are up to Python 3.13."""

    def passed(argument: Any) -> int:
        return sys.getrefcount(argument)

    held = object()
    return has_gil() and sys.getrefcount(held) == 2 and passed(held) == 3


def _counts_items(alone: int) -> bool:
    """Whether `references_of` tells the items of a list and of a dictionary that are held elsewhere from others."""

    class Holder:
        pass

    items: list[Any] = [object() for _ in range(5)]
    local, listed, holder = items[1], [items[2]], Holder()
    holder.attribute = items[3]  # type: ignore[attr-defined]
    expected = [alone, alone + 1, alone + 1, alone + 1, alone]
    found = references_of(islice(items, 5))
    kept = dict(enumerate(items))
    items.clear()
    again = references_of(kept.values())
    return has_gil() and found == again == expected and local is not listed and holder is not None


def references_of(objects: Any) -> list[int]:
    """The number of references to each of some objects, none of which is on the stack of a function for that.

    >>> from gradtape.core.references import ALONE, references_of
    >>> references_of([object()]) == [ALONE]
    True
    """
    return list(map(sys.getrefcount, objects))


def _of_view(view: Any) -> int:
    return sys.getrefcount(view.base)


ALONE = references_of([object()])[0]
"""What `references_of` gives for what is in a list or a dictionary and nowhere else."""
COUNTS_LOCALS = _counts_locals()
"""Whether local variables, arguments and what is on the stack count as references."""
COUNTS_ITEMS = _counts_items(ALONE)
"""Whether `references_of` can be relied on."""
_ONE_VIEW = _of_view(np.empty(2)[:]) if has_gil() else 0


def is_viewed_otherwise(view: np.ndarray[Any, Any]) -> bool:
    """Whether there may be another reference to the array that `view` is a view of; False for what is no view.

    >>> import numpy as np
    >>> from gradtape.core.references import is_viewed_otherwise
    >>> array = np.ones(3)
    >>> is_viewed_otherwise(array), is_viewed_otherwise(array[:2])
    (False, True)
    """
    return view.base is not None and _of_view(view) > _ONE_VIEW
