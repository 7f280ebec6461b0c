"""The choice of the backend: native code from `gradtape.jit.native`, unless `gt.config.native` is off, or NumPy."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradtape.config import config
from gradtape.core import recording
from gradtape.core.backprop import keep_saved
from gradtape.core.graph import AMBIENT
from gradtape.jit.ir.call_plan import CallPlan, Variables
from gradtape.jit.ir.program import Program
from gradtape.jit.runtime.gc_pause import age
from gradtape.jit.runtime.runner import Runner
from gradtape.jit.runtime.schedule import Backend, NativeGroup, Step, schedule

if TYPE_CHECKING:
    from gradtape.jit.native.backend import NativeBackend

_backend: Backend | None = None


def use(backend: Backend | None) -> Backend | None:
    """Make `backend` the one that programs compiled from now on are given to; None for the usual one.

    Returns the one before.

    >>> from gradtape.jit.runtime import backends
    >>> before = backends.use(None)
    >>> backends.use(before) is None
    True
    """
    global _backend
    before, _backend = _backend, backend
    return before


def steps(program: Program) -> list[Step]:
    """The steps in which a program is run: its instructions, or groups of them as native functions."""
    if _backend is not None:
        return schedule(program, _backend)
    native = _native() if config.native else None
    return list(program.instructions) if native is None else schedule(native.prepare(program), native)


def native_call(program: Program, steps: Sequence[Step], plan: CallPlan) -> tuple[Any, ...] | None:
    """What a native call of a program that is one group needs; None if it cannot be called so."""
    native = _native() if _backend is None and config.native else None
    if native is None or len(steps) != 1 or not isinstance(steps[0], NativeGroup):
        return None
    return native.native_call(program, steps[0].call, plan)


def install_call(kind: type, slot: str) -> None:
    """Make the `__call__` of a class the native one, which reads what it needs from the attribute `slot`."""
    native = _native()
    if native is not None:
        native.install_call(kind, slot, Variables(keep_saved, recording.recording_state, AMBIENT))


def quicken(runner: Runner) -> None:
    """Give a runner native entries with less overhead per call. They take time to make: not worth it for one run."""
    native = _native() if runner.groups and _backend is None and config.native else None
    if native is not None:
        runner.quicken(native.quicken)


def workspace(steps: Sequence[Step]) -> int:
    """The bytes of workspace of native code: those of the group among `steps` that needs most."""
    found = 0
    for step in steps:
        if isinstance(step, NativeGroup):
            found = max(found, getattr(step.call, "workspace", 0))
    return found


@functools.cache
def _native() -> NativeBackend | None:
    """Native code; None where LLVM cannot be loaded, or has no code for this machine."""
    try:
        from gradtape.jit.native import backend  # lazy: it loads LLVM
    except (ImportError, OSError):
        return None
    age()  # LLVM's modules stay: scanning so many new objects would take longer than optimising a program
    return backend.NativeBackend()
