"""Why a function is traced again or not compiled: the reason, the user's lines, and a fix."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.location import Location, is_library
from gradtape.jit.diagnostics.slowness_reason import RETRACED, UNCOMPILED, Reason
from gradtape.jit.errors import Untraceable
from gradtape.jit.guards.holders import GONE, Place, same_scalar
from gradtape.jit.guards.impure_reads import codes_of, functions_of, within_reach

if TYPE_CHECKING:
    from gradtape.jit.guards.captures import Survey
    from gradtape.jit.runtime.executable import Executable

_STORES = ("STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR")


def explain_untraceable(reason: BaseException, function: Any) -> Reason:
    """Why a function cannot be traced. The second sentence of a reason is what to write instead."""
    why, _, fix = str(reason).partition(". ")
    fixes = (fix[0].lower() + fix[1:],) if fix else ()
    return Reason(UNCOMPILED, f"is not compiled, because {why}", _find_line_of(reason, function), fixes)


def explain_trace_error(error: Exception, function: Any) -> Reason:
    """Why a function is not compiled that fails when it is traced, and not otherwise."""
    text = f"is not compiled, because tracing it failed: {first_line(error)}"
    return Reason(UNCOMPILED, text, _find_line_of(error, function))


def explain_unsettled(function: Any, executable: Executable) -> Reason:
    """Why no trace can be used again: the function changes what it reads in each call."""
    name, has_grown = _find_change(function, executable.survey)
    what = "something that it reads" if name is None else f"{name!r}, which it also reads"
    line = _find_line(_functions(function, executable.survey), lambda _, member: member.argval == name)
    keeping = "return what is to be kept, and collect it outside"
    counting = "pass it in as an array, and return the new one; or do this outside"
    text = f"is traced anew in each call, because it changes {what}"
    return Reason(RETRACED, text, line, (keeping if has_grown else counting,))


def explain_too_many(function: Any, executables: list[Executable]) -> Reason:
    """Why a function is not compiled any more: it was traced too often for the same arguments."""
    why, places, fix = _explain_variants(function, executables[-1])
    text = f"was traced {len(executables)} times because {why}, and is not compiled any more"
    return Reason(UNCOMPILED, text, places, (fix,))


def explain_variants(function: Any, executables: list[Executable], most: int) -> Reason:
    """Why a function is traced again for arguments that it was traced for before."""
    why, places, fix = _explain_variants(function, executables[-1])
    text = f"was traced {len(executables) + 1} times for the same kind of arguments, because {why}"
    return Reason(RETRACED, text, places, (fix,), (f"After {most} times it is not compiled any more.",))


def _explain_variants(function: Any, last: Executable) -> tuple[str, tuple[Location, ...], str]:
    """Why the last trace of the same arguments did not fit, the lines behind that, and what to write instead."""
    if last.survey.read() is not None:
        return "a value it looks at was another one each time", _find_guards(last), _WITHOUT_LOOKING
    name, _ = _find_change(function, last.survey)
    what = "something that it reads" if name is None else f"{name!r}, which it reads,"
    line = _find_line(_functions(function, last.survey), lambda _, member: name is not None and member.argval == name)
    return f"{what} was another one each time", line, "pass what changes as an argument, as an array"


def explain_inexact(executable: Executable) -> Reason:
    """Why a function is not compiled that has a guard on the last bit of a value, which its program may not have."""
    text = (
        "is not compiled, because it looks at a value to the last bit, and compiled code may compute that in another "
        "order"
    )
    places = inexact_guards(executable) or _find_guards(executable)
    return Reason(UNCOMPILED, text, places[-2:], (_WITHOUT_LOOKING,))


def inexact_guards(executable: Executable) -> tuple[Location, ...]:
    """The lines at which a function has looked at floating point numbers: later calls have to have the same bits."""
    guards = [guard for guard in executable.program.guards if np.asarray(guard.params["expected"]).dtype.kind in "fc"]
    return tuple({(guard.location.file, guard.location.line): guard.location for guard in guards}.values())


_WITHOUT_LOOKING = (
    "look at comparisons (`x > 1.0`) and not at numbers, use np.where or gt.while_loop, or return the value"
)


def _find_guards(executable: Executable) -> tuple[Location, ...]:
    """The lines at which a function has looked at values, the last ones of them."""
    return tuple([guard.location for guard in executable.program.guards[-2:]])


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
    if isinstance(place.key, str):
        return place.key
    if place.key is not None:  # an item of a list, which is known by the name of the list
        holders = (other for other in survey.fixed if other.value is place.container and other is not place)
        return next((name for holder in holders if (name := _name(holder, function, survey))), None)
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


def _find_line_of(reason: BaseException, function: Any) -> tuple[Location, ...]:
    """The user's line behind a reason not to compile a function; nothing if it is not known."""
    if isinstance(reason, Untraceable) and reason.location is not None:
        return (reason.location,)
    raised, trace = None, reason.__traceback__
    while trace is not None:
        if not is_library(trace.tb_frame.f_code.co_filename):
            raised = trace
        trace = trace.tb_next
    if raised is not None:
        return (Location(raised.tb_frame.f_code, raised.tb_lasti),)
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


def _find_line(
    functions: Iterable[types.FunctionType], fits: Callable[[Any, dis.Instruction], bool]
) -> tuple[Location, ...]:
    """The user's line that binds a name that `fits`, or else the first one that reads it; nothing if there is none.

    It is asked with the instruction before, which loads what a method is of, and the one with the name.
    """
    reading: Location | None = None
    for function in functions:
        previous: dis.Instruction | None = None
        for code, instruction in _instructions(function.__code__):
            if isinstance(instruction.argval, str) and fits(previous, instruction):
                where = Location(code, instruction.offset)
                if instruction.opname in _STORES:
                    return (where,)
                reading = reading or where
            previous = instruction
    return () if reading is None else (reading,)


def _functions(function: Any, survey: Survey) -> Iterator[types.FunctionType]:
    """The user's functions that can be called in there: itself, those known by name, and methods of what is known."""
    for value in (function, *(place.value for place in survey.fixed)):
        yield from functions_of(value)


def _instructions(code: types.CodeType) -> Iterator[tuple[types.CodeType, dis.Instruction]]:
    for part in codes_of(code):
        yield from ((part, instruction) for instruction in dis.get_instructions(part))
