"""Which native code there is: none, or what `gradtape.jit.native` offers, where `gt.config.native` asks for it."""

from __future__ import annotations

import functools
from typing import Any

from gradtape.config import config
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
    backend = _backend or (_native() if config.native else None)
    return list(program.instructions) if backend is None else scheduled(program, backend)


@functools.cache
def _native() -> Backend:
    from gradtape.jit.native.backend import NativeBackend  # LLVM is loaded here, by those who want it

    return NativeBackend()
