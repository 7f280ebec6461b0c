"""Values that a compiled function reads from outside: they are constants of its program, whatever they become later.

JAX reads a global or a variable of the function around when it traces. A name that is bound to another number or array
afterwards is not read again, as long as the compiled program serves.
"""

from __future__ import annotations

import ast
import dis
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

import jax
import numpy as np

from gradtape.core.location import Location, is_library
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.files import source_of, span_of

CALLS_WATCHED = 200
FUNCTIONS_AT_MOST = 20
BYTES_AT_MOST = 1 << 20


class CapturedValues:
    """The numbers and arrays that a function reads from outside, as they were when it was traced."""

    def __init__(self, function: Any) -> None:
        self._read = list(_read_by(function))
        self._calls = 0

    @property
    def is_watched(self) -> bool:
        """Whether there is something to look at, and has not been looked at too often."""
        return bool(self._read) and self._calls < CALLS_WATCHED

    def judge(self) -> None:
        """Report a name that is bound to another value now, when the compiled function is called again."""
        self._calls += 1
        for reading in self._read:
            now = reading.now()
            if now is reading.value or _are_equal(now, reading.value):
                continue
            self._read = []
            found = reading.problem(now)
            if is_due("GT205", *found.place[1:]):
                report(found)
            return


class Reading:
    """A name that a function reads from outside."""

    def __init__(self, name: str, function: FunctionType, cell: Any) -> None:
        self.name = name
        self.function = function
        self._cell = cell
        self.value = self.now()

    def now(self) -> Any:
        """Its value at present."""
        if self._cell is None:
            return self.function.__globals__.get(self.name)
        try:
            return self._cell.cell_contents
        except ValueError:  # deleted
            return None

    def problem(self, now: Any) -> Problem:
        """The problem for a name that has another value now."""
        name = self.name
        was, became = _short(self.value), _short(now)
        change = f" was {was} then, and is {became} now" if was and became else " is another array now"
        return problem(
            "GT205",
            f"the compiled {self.function.__name__} goes on with the {name} that it was traced with:{change}",
            spans=[_use_of(self.function.__code__, name), span_of(Location.here(), "called again here")],
            consequence="what a compiled function reads from outside is a constant in it: the gradient is that of the "
            "old value",
            fixes=[f"make {name} an argument of {self.function.__name__}, and pass it with every call"],
        )


def _short(value: Any) -> str:
    return str(value) if isinstance(value, int | float) or np.ndim(value) == 0 else ""


def _use_of(code: CodeType, name: str) -> Any:
    """The expression of a function that reads a name."""
    source = source_of(code.co_filename)
    for instruction in dis.get_instructions(code):
        place = instruction.positions
        if instruction.argval == name and instruction.opname.startswith("LOAD") and place and place.lineno:
            for node in [] if source.tree is None else ast.walk(source.tree):
                if isinstance(node, ast.Name) and node.id == name and node.lineno == place.lineno:
                    return source.span(node, "read here, when JAX traced it")
    return Location(code, 0)


def _read_by(function: Any) -> Iterator[Reading]:
    """The names of numbers and arrays that a function of the user's, or one that it calls, reads from outside."""
    pending: list[Any] = [function]
    seen: set[CodeType] = set()
    while pending and len(seen) < FUNCTIONS_AT_MOST:
        each = pending.pop()
        if not isinstance(each, FunctionType) or each.__code__ in seen or is_library(each.__code__.co_filename):
            continue
        code = each.__code__
        seen.add(code)
        codes = list(_codes(code))
        if any("callback" in name for each_code in codes for name in each_code.co_names):
            continue  # what is called back reads names when the program runs
        written = {i.argval for c in codes for i in dis.get_instructions(c) if i.opname.startswith("STORE_")}
        cells = dict(zip(code.co_freevars, each.__closure__ or ()))
        names = {i.argval for c in codes for i in dis.get_instructions(c) if i.opname == "LOAD_GLOBAL"}
        for name in sorted({*cells, *names} - written):
            reading = Reading(name, each, cells.get(name))
            if _is_number_or_array(reading.value):
                yield reading
            elif isinstance(reading.value, FunctionType):
                pending.append(reading.value)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_number_or_array(value: Any) -> bool:
    if isinstance(value, bool | jax.core.Tracer):
        return False
    if isinstance(value, int | float | complex | np.number):
        return True
    return isinstance(value, np.ndarray | jax.Array) and value.dtype.kind in "fciu" and value.nbytes <= BYTES_AT_MOST


def _are_equal(one: Any, other: Any) -> bool:
    """Whether two values are no different numbers; also if they cannot be compared."""
    if not (_is_number_or_array(one) and _is_number_or_array(other)):
        return True
    return np.shape(one) == np.shape(other) and bool(np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True))


__all__ = ["CapturedValues"]
