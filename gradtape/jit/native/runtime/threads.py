"""A thread pool for the units of large loops. The result does not depend on which thread computes a unit.

A loop is divided into pieces. Each idle thread takes the next one: the calling thread, and helpers that are woken for
it. So no thread waits for one that the system does not schedule, unless that one is in the middle of a piece.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradtape.config import config
from gradtape.forking import after_fork_in_child, fork_safe

if TYPE_CHECKING:
    from queue import SimpleQueue

# Waking another thread takes 10 to 30 us, so a loop is split only if it is estimated to take several times that.
WORTH = 250_000  # nanoseconds
HEAVY_NANOSECONDS = 4.0
LIGHT_NANOSECONDS = 0.5
PIECES = 2  # for each thread
NAME = "gradtape-loops"  # of the helper threads

_lock = fork_safe(threading.Lock())
_tasks: SimpleQueue[Task] | None = None
_helpers = 0


class Task:
    """The units of a nest in pieces; each is taken by one thread."""

    def __init__(self, function: Any, buffers: Any, bounds: Sequence[int]) -> None:
        self._function, self._buffers, self._bounds = function, buffers, bounds
        self._lock, self._finished = threading.Lock(), threading.Lock()
        self._taken, self._missing = 0, len(bounds) - 1
        self._error: BaseException | None = None
        self._finished.acquire()

    def work(self) -> None:
        """Compute pieces until all are taken."""
        while True:
            with self._lock:
                number = self._taken
                self._taken += 1
            if number + 1 >= len(self._bounds):
                return
            try:
                self._function(self._buffers, self._bounds[number], self._bounds[number + 1])
            except BaseException as error:  # raised by `wait`, when no thread works on a piece any more
                self._error = error
            finally:
                with self._lock:
                    self._missing -= 1
                    if not self._missing:
                        self._finished.release()

    def wait(self) -> None:
        """Wait until no thread works on a piece any more; raise the error of a piece."""
        self._finished.acquire()
        if self._error is not None:
            raise self._error


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


def _help(tasks: SimpleQueue[Task]) -> None:
    """The main function of a helper thread."""
    while True:
        tasks.get().work()


def _call_helpers(number: int) -> SimpleQueue[Task]:
    """The queue of tasks for this many helpers, which are started when they are first needed."""
    global _tasks, _helpers
    with _lock:
        if _tasks is None:
            from queue import SimpleQueue  # loaded when first needed

            _tasks = SimpleQueue()
        while _helpers < number:
            threading.Thread(target=_help, args=(_tasks,), name=NAME, daemon=True).start()
            _helpers += 1
        return _tasks


def run(nest: Any, function: Any, buffers: Any) -> None:
    """Run all units of a nest: in the calling thread, and in helpers if that is worth it."""
    number = min(count(), nest.units)
    if number == 1 or not worth_splitting(nest):
        function(buffers, 0, nest.units)
        return
    pieces = min(PIECES * number, nest.units)
    task = Task(function, buffers, [nest.units * i // pieces for i in range(pieces + 1)])
    tasks = _call_helpers(number - 1)
    for _ in range(number - 1):
        tasks.put(task)
    try:
        task.work()
    finally:
        task.wait()


def _forget() -> None:
    """Reset the pool: a child process has no threads of its parent."""
    global _tasks, _helpers
    _tasks, _helpers = None, 0


after_fork_in_child(_forget)
