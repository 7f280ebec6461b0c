"""What a native call of an executable does besides running its program: see `gradtape.jit.native.runtime.call`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

ABSENT = object()
"""In a guard: there has to be no such item."""


class Counters(ctypes.Structure):
    """What native and Python calls of a compiled function share."""

    _fields_ = (("runs", ctypes.c_int64), ("is_explained", ctypes.c_int64), ("is_latest", ctypes.c_int64))


class CallPlan(NamedTuple):
    """The guards of a call, how its arguments are read, and how its answer is built."""

    guards: Sequence[tuple[str, Any, Any, Any]]
    """What has to be what it was: how it is read ("cell", "item" ...), from what, by which key, and what it was."""
    leaves: Sequence[tuple[str, Any, Any]]
    """Captured arrays, the last inputs of the program: how each is read, from what, and by which key."""
    unpack: Callable[..., tuple[Any, ...] | None] | None
    """From the arguments to the arrays among them, and to captured arrays that are read otherwise."""
    answer: Any
    """The structure of the answer: numbers of results, None, and tuples and lists of these."""
    pack: Callable[..., Any] | None
    """Makes the answer from the results, in place of `answer`."""
    first: int | None
    """The result that is looked at in each run, if it is one number: the value of a loss."""
    counters: Counters


class Variables(NamedTuple):
    """The context variables that a call reads: `checks` has to be False, and `state.bits` to have the `ambient` bit."""

    checks: ContextVar[bool]
    state: ContextVar[Any]
    ambient: int
