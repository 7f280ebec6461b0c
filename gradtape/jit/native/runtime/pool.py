"""A thread pool for the units of large loops. The result does not depend on which thread computes a unit.

Native code divides a loop into pieces (`pool_code`), also inside of loops and without the GIL. Each thread takes the
next piece: the calling thread, and helpers that are woken for it, if they do not wait for work already. So no thread
waits for one that the system does not schedule, unless that one is in the middle of a piece. One loop at a time is
divided: others that are entered meanwhile, by other threads or within a piece, are computed by their own thread.

Helpers are Python threads that never return from native code while the process runs. They are started when a function
is made that has something for them, and in a child process again when the first such function is made there.
"""

from __future__ import annotations

import atexit
import ctypes
import threading

from gradtape.config import on_change
from gradtape.forking import after_fork_in_child, fork_safe
from gradtape.jit.native.runtime.llvm import Library, host, once
from gradtape.jit.native.runtime.pool_code import FIELDS, LINE, MOST_HELPERS, Field, make_text
from gradtape.jit.native.runtime.threads import NAME, count

SECONDS_TO_STOP = 1.0

PARALLEL = "gradtape_parallel"
"""The symbol of the function that native code calls with a function of units, the table of pointers, and the units."""


class Pool:
    """The memory of the pool, its code, and its helpers. There is one in a process: `pool()`."""

    def __init__(self) -> None:
        self.fields = (ctypes.c_int64 * (FIELDS + LINE))()
        start = ctypes.addressof(self.fields)
        self._first = (-start // 8) % LINE  # of the fields, such that each is in its line
        self._lock = fork_safe(threading.Lock())
        self._threads: list[threading.Thread] = []
        self.has_work = False  # whether there is a function that divides a loop
        self._make_lock = ctypes.pythonapi.PyThread_allocate_lock
        self._make_lock.restype, self._make_lock.argtypes = ctypes.c_void_p, ()
        self._take_lock = ctypes.pythonapi.PyThread_acquire_lock
        self._take_lock.restype, self._take_lock.argtypes = ctypes.c_int, (ctypes.c_void_p, ctypes.c_int)
        symbols = {"gradtape_pool": start + 8 * self._first}
        for name in ("PyThread_acquire_lock", "PyThread_release_lock"):
            symbols[name] = int(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)
        names = [PARALLEL, "gradtape_help", "gradtape_stop"]
        self.library: Library = host().compile(make_text(host().architecture), names, symbols)
        self._help = self.library.function("gradtape_help", None, ctypes.c_int64)
        self._stop = self.library.function("gradtape_stop", None)
        self._set_lock(Field.FINISHED)
        self.set_limit()

    def __getitem__(self, field: int) -> int:
        return int(self.fields[self._first + field])

    def __setitem__(self, field: int, value: int) -> None:
        self.fields[self._first + field] = value

    @property
    def regions(self) -> int:
        """How many loops have been divided so far."""
        return self[Field.WORK] >> 32

    def set_limit(self) -> None:
        """Set the number of threads of a loop to what the configuration says."""
        self[Field.LIMIT] = min(count(), MOST_HELPERS + 1)

    def start_helpers(self) -> None:
        """Start helpers, so that there are as many threads as the configuration says."""
        self.has_work = True
        self.set_limit()
        with self._lock:
            while self[Field.HELPERS] < self[Field.LIMIT] - 1 and not self[Field.STOPPED]:
                number = self[Field.HELPERS]
                self._set_lock(Field.FIRST_HELPER + LINE * number + 1)
                helper = threading.Thread(target=self._help, args=(number,), name=NAME, daemon=True)
                helper.start()
                self._threads.append(helper)
                self[Field.HELPERS] = number + 1

    def stop(self) -> None:
        """Have the helpers return, at the end of the process before its code is unloaded. No loop is divided then."""
        self._stop()
        with self._lock:
            helpers, self._threads = self._threads, []
            self[Field.HELPERS] = 0
        for helper in helpers:
            helper.join(SECONDS_TO_STOP)

    def forget_helpers(self) -> None:
        """Reset the pool in a child process, which has no threads of its parent, wherever these were."""
        self._threads = []
        for field in (Field.MISSING, Field.BUSY, Field.HELPERS, Field.WAITING):
            self[field] = 0
        for number in range(MOST_HELPERS):
            self[Field.FIRST_HELPER + LINE * number] = 0
        self[Field.WORK] = self.regions << 32
        self._set_lock(Field.FINISHED)

    def _set_lock(self, field: int) -> None:
        """Make a lock that is held, so that the next thread that acquires it waits."""
        lock = self._make_lock()
        self._take_lock(lock, 1)
        self[field] = lock


_made: list[Pool] = []


@once
def pool() -> Pool:
    """The pool of this process, without helpers as long as `start_helpers` was not called."""
    made = Pool()
    _made.append(made)
    atexit.register(made.stop)
    return made


def _follow_config() -> None:
    """Use as many threads as the configuration says from now on."""
    for made in _made:
        made.set_limit()
        if made.has_work:
            made.start_helpers()


def _forget() -> None:
    for made in _made:
        made.forget_helpers()


on_change("threads", _follow_config)
after_fork_in_child(_forget)
