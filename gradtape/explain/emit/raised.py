"""What gradtape's errors do when they are made and shown: listeners hear of them, and frames are left out."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from gradtape.explain.emit.excepthook import traceback_for_ipython, watch
from gradtape.explain.emit.listeners import notify_of_error

if TYPE_CHECKING:
    from gradtape.explain.model.problem import Problem

__all__ = ["notify_and_watch", "traceback_for_ipython"]


def notify_and_watch(problem: Problem) -> None:
    """Call the listeners with the problem of an error; if it is the first, install the hook that shows such errors."""
    notify_of_error(problem)
    _watch_once()


@functools.cache
def _watch_once() -> None:
    watch()
