"""How kernels are called: without the warnings of NumPy about overflow and the like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import Context
from typing import Any

import numpy as np

Call = Callable[..., tuple[Any, ...]]
"""A function of arrays that returns a tuple of arrays."""

_contexts: list[Context] = []


def call_silently(call: Call, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Call `call(*arrays)` without NumPy's warnings about overflow and the like.

    NumPy keeps what it warns of in the context. Entering one in which that is switched off takes a fifth of the time
    of `np.errstate`; a context can be entered once at a time, so there are as many as calls at the same time.
    """
    try:
        context = _contexts.pop()
    except IndexError:
        context = Context()
        context.run(np.seterr, all="ignore")
    try:
        return context.run(call, *arrays)
    finally:
        _contexts.append(context)


class TooLong(Exception):
    """A group of instructions that takes less time to compile in parts."""
