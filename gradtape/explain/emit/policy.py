"""What happens to a problem, by the severity of its code: it is raised, warned of, kept as a note, or dropped.

report(problem)          raises, warns once per place, or keeps a note
warn(problem)            warns, also of what is an error in gradtape's own programs
is_due(code, where)      whether a report would reach anyone: ask before building an expensive Problem
error(problem, kind)     the exception that carries a problem; the caller raises it
notes()                  the problems that were kept as notes
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections import deque
from typing import TYPE_CHECKING, Any

from gradtape.errors import GradTapeError
from gradtape.explain.emit import listeners, withhold
from gradtape.explain.emit.listeners import Place
from gradtape.explain.emit.severity import severity
from gradtape.explain.model.codes import CODES

if TYPE_CHECKING:
    from gradtape.explain.model.problem import Problem

NOTES_AT_MOST = 1000

_notes: deque[Problem] = deque(maxlen=NOTES_AT_MOST)
_noted: set[Place] = set()
recent: deque[Problem] = deque(maxlen=100)
"""The latest warnings: `tape.report` shows those about its lines."""


def report(problem: Problem, words: str = "", subject: str = "") -> None:
    """Raise `problem`, warn of it (once per place), or keep it for `notes()`, by the severity of its code.

    `words` replace the text of a warning, where a stand-in has to warn in the words of the library it stands for.
    `subject` is the name of what it is about, where a place is warned of once for each.
    """
    withheld = withhold.current.get()
    if withheld is not None and withheld.wants(problem.code):
        withheld.problems.append(problem)
        return
    how = severity(problem.code)
    if how == "raise":
        raise CODES[problem.code].error(problem)
    if listeners.notify(problem):
        return
    if how == "warn":
        _warn(problem, words, subject)
    elif how == "note" and problem.place not in _noted:
        if len(_noted) >= NOTES_AT_MOST:
            _noted.clear()
        _noted.add(problem.place)
        _notes.append(problem)


def warn(problem: Problem, is_certain: bool = False) -> None:
    """Warn of a problem of a program that another library executes: it goes on, also where the code is an error.

    Of one that `is_certain`, it warns also where the code is a note, unless that was chosen.
    """
    how = severity(problem.code)
    if how == "note" and not (is_certain and CODES[problem.code].severity == how):
        report(problem)
    elif how != "off" and not listeners.notify(problem):
        _warn(problem)


def error(problem: Problem, kind: type[GradTapeError] | None = None) -> GradTapeError:
    """The exception that carries `problem`: of `kind`, or the class that its code is raised as."""
    return (kind or CODES[problem.code].error)(problem)


def is_due(code: str, file: str = "", line: int = 0, column: int | None = 0) -> bool:
    """Whether a report of `code` at this place would have an effect: cheap to ask before a Problem is built."""
    how = severity(code)
    place = (code, file, line, column or 0)
    if any(place not in each.seen for each in listeners.of_context.get() if each.expected is not None or how != "off"):
        return True
    if how == "off":
        return False
    return how == "raise" or place not in (_noted if how == "note" else _warned.places())


class _WarnedPlaces:
    """The places that were warned of since the warning filters last changed.

    So a test that records warnings gets those that were given before, as with Python's own "once per place".
    """

    def __init__(self) -> None:
        self._filters: list[Any] = []
        self._state: list[Any] = []
        self._places: set[Place | tuple[str, str, int, int, str]] = set()  # with a subject, where there is one

    def places(self) -> set[Any]:
        filters: Any = warnings.filters
        if filters is not self._filters or list(filters) != self._state:
            self._filters, self._state, self._places = filters, list(filters), set()
        return self._places

    def forget(self) -> None:
        self._places.clear()


_warned = _WarnedPlaces()


def forget_warned() -> None:
    """Warn again of places that were warned of before: for a test that is to get all warnings of its own."""
    _warned.forget()


@functools.cache
def _as_user_warning(kind: type[Warning]) -> type[Warning]:
    """A subclass of our warning class named UserWarning, the class that other libraries warn with."""
    return type("UserWarning", (kind,), {"__module__": "builtins", "__doc__": kind.__doc__})


def _warn(problem: Problem, words: str = "", subject: str = "") -> None:
    places = _warned.places()
    place = (*problem.place, subject) if subject else problem.place
    if place in places:
        return
    places.add(place)
    recent.append(problem)
    kind = CODES[problem.code].warning
    message = _as_user_warning(kind)(problem) if words else kind(problem)  # type: ignore[arg-type]
    if words:
        message.args = (words,)
    span = problem.main
    file, line = ("<unknown>", 1) if span is None else (span.file, span.line)
    modules = [name for name, module in list(sys.modules.items()) if getattr(module, "__file__", None) == file]
    module = modules[0] if modules else "__main__"
    warnings.warn_explicit(message, type(message), file, line, module, registry={})


def notes(clear: bool = False) -> list[Problem]:
    """The problems that were kept as notes so far, the oldest first; with `clear`, they are forgotten."""
    found = list(_notes)
    if clear:
        _notes.clear()
        _noted.clear()
    return found
