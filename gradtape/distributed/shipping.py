"""Functions on their way to other processes: sent by value, unpacked and compiled once in each process.

A task of Dask is unpacked by itself, and with it the function that it calls: a compiled one would be compiled again in
every task. `Shipped` is unpacked to the object that this process made of the same bytes before. It brings along the
text of the function's files, so that messages about a notebook's cells have names and carets, and the settings that
numbers depend on.
"""

from __future__ import annotations

import functools
import hashlib
import linecache
import sys
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gradtape.config import config
from gradtape.extend import cached_property, fork_safe, import_library, is_library

SETTINGS = ("native", "native_features", "check", "locations")
KEPT_AT_MOST = 64
FILES_AT_MOST = 32
"""How many files' texts are sent along at most: those of the functions that are reached first."""

_lock = fork_safe(threading.RLock())
_received: OrderedDict[str, Any] = OrderedDict()


class Shipped:
    """What `make(*parts)` gives, made once in each process that it is sent to.

    >>> from gradtape.distributed.shipping import Shipped
    >>> Shipped(dict, [("a", 1)]).content
    {'a': 1}
    """

    def __init__(self, make: Callable[..., Any], *parts: Any) -> None:
        self._make, self._parts = make, parts
        self._packed: tuple[str, bytes] | None = None

    @cached_property
    def content(self) -> Any:
        """The object, in this process."""
        return self._make(*self._parts)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._packed is None:
            pickler = import_library("cloudpickle", "gt.distributed")
            settings = {name: getattr(config, name) for name in SETTINGS}
            packed = pickler.dumps((self._make, self._parts, source_texts(self._parts), settings))
            self._packed = hashlib.sha256(packed).hexdigest(), packed
        return receive, self._packed


def receive(token: str, packed: bytes) -> Shipped:
    """Unpack a `Shipped`: the one that this process has of the same bytes, or a new one."""
    with _lock:
        found = _received.get(token)
        if found is None:
            pickler = import_library("cloudpickle", "gt.distributed")
            make, parts, texts, settings = pickler.loads(packed)
            for name, text in texts.items():
                if not linecache.getlines(name):
                    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
            for name, value in settings.items():
                if getattr(config, name) != value:
                    setattr(config, name, value)
            found = Shipped(make, *parts)
            found._packed = token, packed
            _received[token] = found
            while len(_received) > KEPT_AT_MOST:
                _received.popitem(last=False)
        _received.move_to_end(token)
        return found


def source_texts(parts: Any) -> dict[str, str]:
    """The text of the user's files that the functions among `parts`, and those that they call, are written in."""
    texts: dict[str, str] = {}
    seen: set[int] = set()
    pending = [part for part in parts if callable(part)]
    while pending and len(texts) < FILES_AT_MOST:
        value = pending.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, functools.partial):
            pending.append(value.func)
        elif isinstance(value, types.MethodType):
            pending.append(value.__func__)
        elif not isinstance(value, types.FunctionType):
            inner = (getattr(value, "__wrapped__", None), vars(type(value)).get("__call__"))
            pending += [function for function in inner if function is not None]
        elif not is_library(value.__code__.co_filename):
            file = value.__code__.co_filename
            lines = linecache.getlines(file, value.__globals__)
            if lines:
                texts.setdefault(file, "".join(lines))
            pending += _functions_named_by(value)
    return texts


def _functions_named_by(function: types.FunctionType) -> Iterator[Any]:
    """The functions in the closure of a function, and those that its code names."""
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_bound(cell)]
    named = [function.__globals__.get(name) for name in function.__code__.co_names]
    return (x for x in (*cells, *named) if isinstance(x, types.FunctionType | types.MethodType | functools.partial))


def _is_bound(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


# -- threads of BLAS and of native code


class _OneThread:
    """One thread for BLAS and for native code while tasks run: other tasks have the other cores.

    OpenBLAS rounds otherwise on another number of threads, so that bits would depend on the machine. The number is the
    whole process's: the first task that begins sets it, and the last one that ends sets it back.
    """

    def __init__(self) -> None:
        self.running = 0
        self.threads: int | None = None
        self.libraries: Any = None
        self.known = 0  # how many modules there were when the libraries were looked for
        self.limits: Any = None

    def begin(self) -> None:
        if not self.running:
            if self.known != len(sys.modules):
                self.libraries = import_library("threadpoolctl", "gt.distributed").ThreadpoolController()
                self.known = len(sys.modules)
            self.limits = self.libraries.limit(limits=1, user_api="blas")
            self.limits.__enter__()
            self.threads, config.threads = config.threads, 1
        self.running += 1

    def end(self) -> None:
        self.running -= 1
        if not self.running:
            config.threads = self.threads
            self.limits.__exit__(None, None, None)


_one_thread = _OneThread()


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, BLAS and native code use one thread each, in the whole process."""
    with _lock:
        _one_thread.begin()
    try:
        yield
    finally:
        with _lock:
            _one_thread.end()
