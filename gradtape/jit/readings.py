"""What a function reads by another way than a name, seen while it is traced: the clock, the environment, files, chance.

That is what it was in the trace, in each call from then on.
"""

from __future__ import annotations

import builtins
import datetime
import dis
import functools
import io
import os
import sys
import time
import types
from collections.abc import Iterator
from contextlib import contextmanager
from random import SystemRandom
from typing import Any

from gradtape.core.location import Location, is_library
from gradtape.jit.refusing import Untraceable, complain

_CLOCKS = frozenset(
    [
        *(time.time, time.time_ns, time.perf_counter, time.perf_counter_ns, time.monotonic, time.monotonic_ns),
        *(time.process_time, time.process_time_ns, time.localtime, time.gmtime, time.strftime, time.ctime),
        *(os.listdir, os.getcwd, os.getpid, builtins.open, builtins.input),
    ]
)
_DATES = ("now", "today", "utcnow")
_NAMES = frozenset(
    [
        *(function.__name__ for function in _CLOCKS),
        *_DATES,
        *("environ", "getenv", "default_rng", "RandomState", "SeedSequence", "urandom", "uuid4", "uuid1"),
    ]
)
_ENTROPY = SystemRandom.getrandbits.__code__
_ENVIRONMENT = type(os.environ).__getitem__.__code__
REACHED_AT_MOST = 256


class Readings:
    """What a function has read that its program will not read again: where, in the order in which it was met."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, int], Location] = {}
        self.drew = False  # whether random numbers come from a generator that was made for them

    def note(self, frame: types.FrameType) -> None:
        self.places.setdefault((id(frame.f_code), frame.f_lasti), Location(frame.f_code, frame.f_lasti))

    def checked(self) -> Readings:
        """These, if the function can be compiled in spite of them."""
        if self.drew:
            raise Untraceable(
                "it makes a generator of random numbers anew, and what it draws would be the same in every call. "
                "Draw outside and pass the numbers in, or give the generator a seed"
            )
        return self

    def tell(self, name: str, told: dict[tuple[int, int], Location]) -> None:
        """Warn of each of them that was not `told` before."""
        for key, place in self.places.items():
            if key not in told:
                told[key] = place
                complain(
                    f"jit: this is done when {name} is traced, and not in each call; what it gave stays as it is.\n"
                    f"{place.show()}\n  fix: do it outside, and pass what it gives in as an array"
                )


@contextmanager
def watching(function: Any) -> Iterator[Readings]:
    """See what `function` reads of the world inside, if it looks as though it would: most do not, and cost nothing."""
    readings = Readings()
    codes = _mentioning(function)
    if not codes or sys.getprofile() is not None:
        yield readings
        return

    def see(frame: types.FrameType, event: str, argument: Any) -> None:
        if event == "c_call":
            if id(frame.f_code) in codes and _is_reading(argument):
                readings.note(frame)
        elif event == "call" and (frame.f_code is _ENTROPY or frame.f_code is _ENVIRONMENT):
            asking = _asking(frame.f_back, codes)
            if asking is not None and frame.f_code is _ENTROPY:
                readings.drew = True
            elif asking is not None:
                readings.note(asking)

    sys.setprofile(see)
    try:
        yield readings
    finally:
        sys.setprofile(None)


def _is_reading(function: Any) -> bool:
    if isinstance(getattr(function, "__self__", None), type):
        return function.__name__ in _DATES and issubclass(function.__self__, datetime.date)
    return isinstance(function, types.BuiltinFunctionType) and function in _CLOCKS


def _asking(frame: types.FrameType | None, codes: dict[int, types.CodeType]) -> types.FrameType | None:
    """The frame of the user's that a call comes from, by way of a few of Python's own."""
    for _ in range(8):
        if frame is None or id(frame.f_code) in codes:
            return frame
        frame = frame.f_back
    return None


def _mentioning(function: Any) -> dict[int, types.CodeType]:
    """The codes within reach that have the name of something that is read of the world, by their identity."""
    pairs = [(code, reached.__globals__) for reached in within_reach(function) for code in codes_of(reached.__code__)]
    return {id(code): code for code, scope in pairs if _mentions(code, scope)}


def _mentions(code: types.CodeType, scope: dict[str, Any]) -> bool:
    """Whether code names something that is read of the world, by its own name or another."""
    if not _NAMES.isdisjoint(code.co_names):
        return True
    known = (scope.get(name) for name in code.co_names)
    return any(type(value) is types.BuiltinFunctionType and value in _CLOCKS for value in known)


def reads_on(function: types.FunctionType, name: Any, value: Any) -> bool:
    """Whether a function reads an iterator, from which each call takes more; not a file, which may be written to.

    `name` is that of a global, which may be one of an attribute only, or None for what is in its closure.
    """
    if not hasattr(type(value), "__next__") or isinstance(value, io.IOBase):
        return False
    steps = (step for code in codes_of(function.__code__) for step in dis.get_instructions(code))
    return name is None or any(step.opname == "LOAD_GLOBAL" and step.argval == name for step in steps)


def within_reach(function: Any) -> Iterator[types.FunctionType]:
    """The user's functions that `function` is, or reaches by name; some of them, where there are very many."""
    seen: set[int] = set()
    pending = [function]
    while pending and len(seen) < REACHED_AT_MOST:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, types.FunctionType):
            pending += [cell.cell_contents for cell in value.__closure__ or () if _is_bound(cell)]
            if not is_library(value.__code__.co_filename):
                names = value.__globals__
                yield value
                pending += [names[name] for part in codes_of(value.__code__) for name in part.co_names if name in names]
        elif isinstance(value, types.MethodType):
            pending += [value.__func__, value.__self__]
        elif isinstance(value, functools.partial):
            pending.append(value.func)
        elif hasattr(type(value), "traced_function"):
            pending.append(value.traced_function)
        elif not isinstance(value, type | types.ModuleType):
            pending += functions_of(value)


def functions_of(value: Any) -> list[types.FunctionType]:
    """The user's functions that a value is or has."""
    plain = getattr(value, "__func__", value)
    if isinstance(plain, types.FunctionType):
        return [] if is_library(plain.__code__.co_filename) else [plain]
    members = [member for base in type(value).__mro__ for name, member in vars(base).items() if name != "__init__"]
    functions = [member for member in members if isinstance(member, types.FunctionType)]
    return [function for function in functions if not is_library(function.__code__.co_filename)]


def _is_bound(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a function, and of those that are written in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)
