"""What `os.fork` would leave broken in the child, which has the calling thread only: locks that other threads hold.

A lock made by `fork_safe` is free in the child, unless the thread that forked holds it. What locks protect is made such
that a thread may stop between any two bytecodes: something half made is never found, and is made again by the child.
State that has to be put right itself is handed to `after_fork_in_child`. Imports that are under way are waited for
before the fork, as the child could neither finish nor repeat them.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from importlib import _bootstrap
from typing import Any, TypeVar

Lock = TypeVar("Lock")
T = TypeVar("T")

lazy_packages = {"gradtape", "llvmlite", "scipy", "numpy", *sys.stdlib_module_names}
"""Packages whose modules gradtape imports inside functions, so that another thread may be importing one at a fork."""
_locks: weakref.WeakSet[Any] = weakref.WeakSet()


def fork_safe(lock: Lock) -> Lock:
    """`lock` itself, which is free in a child process if another thread held it when the process forked.

    >>> import threading
    >>> from gradtape.forking import fork_safe
    >>> with fork_safe(threading.Lock()) as is_held:
    ...     is_held
    True
    """
    _locks.add(lock)
    return lock


class cached_property(functools.cached_property[T]):
    """`functools.cached_property`, whose lock (up to Python 3.11) is free in a child process.

    >>> from gradtape.forking import cached_property
    >>> class Circle:
    ...     radius = 2.0
    ...
    ...     @cached_property
    ...     def area(self):
    ...         return 3.0 * self.radius**2
    >>> Circle().area
    12.0
    """

    def __init__(self, func: Callable[[Any], T]) -> None:
        super().__init__(func)
        lock = getattr(self, "lock", None)
        if lock is not None:
            fork_safe(lock)


def after_fork_in_child(function: Callable[[], None]) -> None:
    """Have `function` called in each child process, when its locks are free; where processes can fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def wait_for_imports() -> None:
    """Return when no other thread is importing gradtape, or what it imports when it is needed.

    A module that this thread is importing itself, by whose code it is called, is not waited for.
    """
    waited: set[str] = set()
    while new := _modules_under_way() - waited:
        for name in new:
            with suppress(Exception):  # is raised in the thread that imports it
                importlib.import_module(name)
        waited |= new


def _modules_under_way() -> set[str]:
    """The modules that a thread is importing now, or looks for: those of which Python has a lock."""
    locked = getattr(_bootstrap, "_module_locks", {})
    return {name for name in list(locked) if name.partition(".")[0] in lazy_packages}


_held: list[Any] = []  # LLVM's lock, while the process forks


def _before_fork() -> None:
    """Wait until no thread is importing anything or is inside of LLVM, which none can enter from then on.

    A thread that imports something may need LLVM for that, and one that is waited for inside of LLVM may be followed by
    one that begins to import: so neither is kept from going on while the other is waited for.
    """
    own: set[str] = set()
    while True:
        wait_for_imports()
        ffi = sys.modules.get("llvmlite.binding.ffi")
        if ffi is not None:
            ffi.lib._lock.__enter__()
            _held.append(ffi.lib._lock)
        new = _modules_under_way() - own
        if not new:
            return
        _release_llvm()
        own |= new  # those that were waited for, and are still under way, are so in this thread


def _release_llvm() -> None:
    while _held:
        _held.pop().__exit__(None, None, None)


def _free_locks() -> None:
    _release_llvm()
    for lock in list(_locks):
        if lock.acquire(blocking=False):  # free, or held by this thread, which goes on
            lock.release()
        else:
            lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_release_llvm, after_in_child=_free_locks)
