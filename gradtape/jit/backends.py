"""Which native code there is for stretches of a program: none, or what a backend offers."""

from __future__ import annotations

from typing import Any

from gradtape.jit.program import Program
from gradtape.jit.run import Backend, Step, scheduled

_backend: Backend | None = None


def use(backend: Backend | None) -> Backend | None:
    """Make `backend` the one that programs compiled from now on are given to; None for none. Returns the one before.

    >>> from gradtape.jit import backends
    >>> before = backends.use(None)
    >>> backends.use(before) is None
    True
    """
    global _backend
    before, _backend = _backend, backend
    return before


def steps(program: Program) -> list[Step] | list[Any]:
    """The steps in which a program is run: its instructions, or groups of them as native functions."""
    return list(program.instructions) if _backend is None else scheduled(program, _backend)
