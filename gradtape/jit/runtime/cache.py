"""The executables of one compiled function, by the key of the call that each of them is for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from gradtape.forking import fork_safe
from gradtape.jit.runtime.executable import Executable


class ExecutableCache:
    """Executables by the key of a call (shapes, dtypes, structure and static values): least recently used go first.

    A key has several executables where the function took other branches, or read other captured values.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._kept: OrderedDict[Any, list[Executable] | None] = OrderedDict()
        self._lock = fork_safe(threading.RLock())

    def lookup(self, key: Any) -> list[Executable] | None:
        """The executables of a key, which becomes the most recently used one; None if it is not to be compiled."""
        with self._lock:
            executables = self._kept.get(key, [])
            if executables != []:
                self._kept.move_to_end(key)
            return executables

    def keep(self, key: Any, executables: list[Executable] | None) -> bool:
        """Store the `executables` of a key, or None for one not to be compiled. Returns whether others were evicted."""
        with self._lock:
            self._kept[key] = executables
            self._kept.move_to_end(key)
            evicts = len(self._kept) > self.size
            while len(self._kept) > self.size:
                self._kept.popitem(last=False)
            return evicts

    def disable(self, executable: Executable) -> None:
        """Never run an executable again, nor compile another one for its key."""
        with self._lock:
            for key, executables in list(self._kept.items()):
                if executables and executable in executables:
                    self._kept[key] = None

    def clear(self) -> None:
        """Drop all executables."""
        with self._lock:
            self._kept.clear()
