"""Messages that explain why a function is traced again or not compiled: the reason, the user's line, and a fix."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.location import Location, is_library
from gradtape.jit.errors import Untraceable
from gradtape.jit.guards.holders import GONE, Place, same_scalar
from gradtape.jit.guards.impure_reads import codes_of, functions_of, within_reach

if TYPE_CHECKING:
    from gradtape.jit.guards.captures import Survey
    from gradtape.jit.runtime.executable import Executable

_STORES = ("STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR")


def explain_untraceable(reason: BaseException, function: Any) -> str:
    """Message for a function that cannot be traced."""
    return f"is not compiled, because {reason}.{_find_line_of(reason, function)}"


def explain_trace_error(error: Exception, function: Any) -> str:
    """Message for a function that fails when it is traced, and not otherwise."""
    return f"is not compiled, because tracing it failed: {first_line(error)}{_find_line_of(error, function)}"


def explain_unsettled(function: Any, executable: Executable) -> str:
    """Message for a function that changes what it reads in each call, so that no trace can be used again."""
    name, has_grown = _find_change(function, executable.survey)
    what = "something that it reads" if name is None else f"{name!r}, which it also reads"
    line = _find_line(_functions(function, executable.survey), lambda _, member: member.argval == name)
    keeping = "return what is to be kept, and collect it outside"
    counting = "pass it in as an array, and return the new one; or do this outside"
    return f"is traced anew in each call, because it changes {what}.{line}\n  fix: {keeping if has_grown else counting}"


def explain_too_many(function: Any, executables: list[Executable]) -> str:
    """Message for a function that was traced too often for the same arguments."""
    why, more = _explain_variants(function, executables[-1])
    return f"was traced {len(executables)} times because {why}, and is not compiled any more.{more}"


def explain_variants(function: Any, executables: list[Executable], most: int) -> str:
    """Message for a function that is traced again for arguments that it was traced for before."""
    why, more = _explain_variants(function, executables[-1])
    return (
        f"was traced {len(executables) + 1} times for the same kind of arguments, because {why}; after {most} times it "
        f"is not compiled any more.{more}"
    )


def _explain_variants(function: Any, last: Executable) -> tuple[str, str]:
    """Why the last trace of the same arguments did not fit, and what to write instead."""
    if last.survey.read() is not None:
        return "a value it looks at was another one each time", f" {_show_guards(last)}"
    name, _ = _find_change(function, last.survey)
    what = "something that it reads" if name is None else f"{name!r}, which it reads,"
    return f"{what} was another one each time", "\n  fix: pass what changes as an argument, as an array"


def explain_inexact(executable: Executable) -> str:
    """Message for a function with a guard on the last bit of a value, which its own program does not reproduce."""
    return (
        f"is not compiled, because it looks at a value to the last bit, and compiled code may compute that in another "
        f"order. {_show_guards(executable)}"
    )


def _show_guards(executable: Executable) -> str:
    """The lines at which a function has looked at values, the last ones of them, and what to do instead."""
    lines = "\n".join(guard.location.show() for guard in executable.program.guards[-2:])
    fix = "look at comparisons (`x > 1.0`) and not at numbers, use np.where or gt.while_loop, or return the value"
    return f"It looks at\n{lines}\n  fix: {fix}"


def first_line(error: Exception) -> str:
    """The kind of an error, and the first line of its text."""
    text = str(error).splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"


# -- what has changed, and where


def _find_change(function: Any, survey: Survey) -> tuple[str | None, bool]:
    """The name of what is not as it was, if it has one, and whether it has grown or shrunk."""
    for container, size in survey.sizes:
        if len(container) != size:
            holders = (place for place in survey.fixed if place.value is container)
            name = next((_name(place, function, survey) for place in holders), None)
            return name or _find_default(container, function, survey), True
    changed = (place for place in survey.fixed if not _is_unchanged(place))
    return next((_name(place, function, survey) for place in changed), None), False


def _is_unchanged(place: Place) -> bool:
    try:
        value = place.read()
    except GONE:
        return False
    return value is place.value or same_scalar(value, place.value)


def _name(place: Place, function: Any, survey: Survey) -> str | None:
    """The name, attribute or key that a place has; what is in a closure is known by the name it has there."""
    if place.key is not None:
        return place.key if isinstance(place.key, str) else None
    for reached in _functions(function, survey):
        for name, cell in zip(reached.__code__.co_freevars, reached.__closure__ or (), strict=False):
            if cell is place.container:
                return name
    return None


def _find_default(value: Any, function: Any, survey: Survey) -> str | None:
    """The parameter whose default a value is."""
    for reached in _functions(function, survey):
        defaults = reached.__defaults__ or ()
        names = reached.__code__.co_varnames[: reached.__code__.co_argcount]
        for name, default in zip(names[len(names) - len(defaults) :], defaults, strict=True):
            if default is value:
                return name
    return None


def _find_line_of(reason: BaseException, function: Any) -> str:
    """The user's line behind a reason not to compile a function, as a line of a message; nothing if it is not known."""
    if isinstance(reason, Untraceable) and reason.location is not None:
        return f"\n{reason.location.show()}"
    raised, trace = None, reason.__traceback__
    while trace is not None:
        if not is_library(trace.tb_frame.f_code.co_filename):
            raised = trace
        trace = trace.tb_next
    if raised is not None:
        return f"\n{Location(raised.tb_frame.f_code, raised.tb_lasti).show()}"
    text = str(reason)
    named = text.split("'")[1] if text.count("'") > 1 else ""
    if "random numbers" in text:
        return _find_line(within_reach(function), _is_draw)
    if "a list" in text:
        return _find_line(within_reach(function), _is_growth)
    return _find_line(within_reach(function), lambda _, member: member.argval == named)


_GROWING = frozenset({"append", "extend", "insert", "appendleft"})
_GENERATORS = frozenset({"default_rng", "RandomState", "SeedSequence"})


def _is_growth(owner: dis.Instruction | None, member: dis.Instruction) -> bool:
    """Whether a method makes something longer that outlives a call."""
    return member.argval in _GROWING and owner is not None and not owner.opname.startswith("LOAD_FAST")


def _is_draw(owner: dis.Instruction | None, member: dis.Instruction) -> bool:
    """Whether a name is that of a function that draws random numbers, of a generator as it seems, or makes one."""
    if member.argval in _GENERATORS:
        return True
    if owner is None or member.argval not in _find_drawing_names():
        return False
    is_method = member.opname.startswith(("LOAD_ATTR", "LOAD_METHOD"))
    return is_method and any(word in str(owner.argval).lower() for word in ("random", "rng", "gen"))


@functools.cache
def _find_drawing_names() -> frozenset[str]:
    """The names of functions and methods that draw random numbers."""
    kinds = (np.random.Generator, np.random.RandomState, Random)
    return frozenset(name for kind in kinds for name in vars(kind) if not name.startswith("_"))


def _find_line(functions: Iterable[types.FunctionType], fits: Callable[[Any, dis.Instruction], bool]) -> str:
    """The user's line that binds a name that `fits`, or else the first one that reads it, as a line of a message.

    It is asked with the instruction before, which loads what a method is of, and the one with the name.
    """
    reading: Location | None = None
    for function in functions:
        previous: dis.Instruction | None = None
        for code, instruction in _instructions(function.__code__):
            if isinstance(instruction.argval, str) and fits(previous, instruction):
                where = Location(code, instruction.offset)
                if instruction.opname in _STORES:
                    return f"\n{where.show()}"
                reading = reading or where
            previous = instruction
    return "" if reading is None else f"\n{reading.show()}"


def _functions(function: Any, survey: Survey) -> Iterator[types.FunctionType]:
    """The user's functions that can be called in there: itself, those known by name, and methods of what is known."""
    for value in (function, *(place.value for place in survey.fixed)):
        yield from functions_of(value)


def _instructions(code: types.CodeType) -> Iterator[tuple[types.CodeType, dis.Instruction]]:
    for part in codes_of(code):
        yield from ((part, instruction) for instruction in dis.get_instructions(part))
