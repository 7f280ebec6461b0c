"""Who hears of a finding: it is raised, warned of, only noted, or nobody hears of it. And who listens.

report(problem)          speaks in the voice chosen for problem.code: raises, warns once per place, or notes
is_due(code, where)      whether anybody would hear of it: ask before building an expensive Problem
error(problem, kind)     the exception that carries a problem (listeners hear of it); the caller raises it
configure(GT101="off")   chooses the voice of a code, or of all that begin so (GT5="off")
expect("GT101")          for tests: fails unless the code is reported inside, and keeps it quiet
listening(callback)      calls back with every problem that is spoken, in whatever voice, once per place
overhearing(callback)    the same for all threads, for a command that runs a script, which does not notice
unheard()                inside, no listener is told of anything
withholding("GT401")     keeps what is reported inside in a list, for whoever knows more to say it or not
notes()                  what was only noted
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gradtape.errors import GradientWarning, GradTapeError
from gradtape.explain.model.codes import CODES, VOICES

if TYPE_CHECKING:
    from gradtape.explain.model.problem import Problem

Place = tuple[str, str, int, int]
NOTES_AT_MOST = 1000

_process: dict[str, str] = {}
_here: ContextVar[dict[str, str]] = ContextVar("gradtape voices", default={})  # noqa: B039  (it is never changed)
_ears: ContextVar[tuple[_Ear, ...]] = ContextVar("gradtape listeners", default=())
_overhearing: list[_Ear] = []  # those of the process; of the same length for every thread and context
_is_unheard: ContextVar[bool] = ContextVar("gradtape unheard", default=False)
_withheld: ContextVar[Withheld | None] = ContextVar("gradtape withheld", default=None)
_notes: deque[Problem] = deque(maxlen=NOTES_AT_MOST)
_noted: set[Place] = set()
recent: deque[Problem] = deque(maxlen=100)
"""What was warned of last: `tape.report` shows what is about its lines."""


class configure:
    """Choose how codes speak: "raise", "warn", "note" or "off". With `with`, for the block (and this thread) only.

    A code may be given by its beginning: `GT5="off"` is all of GT501 to GT508. Errors that nothing can go on after
    (those whose voice is "raise" from the start) keep their voice.

    >>> import gradtape as gt
    >>> with gt.explain.configure(GT101="raise", GT5="off"):
    ...     gt.explain.voice("GT101"), gt.explain.voice("GT503")
    ('raise', 'off')
    >>> gt.explain.voice("GT101")
    'warn'
    """

    def __init__(self, **voices: str) -> None:
        global _process
        self._chosen = _expanded(voices)
        self._before = _process
        _process = {**_process, **self._chosen}

    def __enter__(self) -> configure:
        global _process
        _process = self._before
        self._token = _here.set({**_here.get(), **self._chosen})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        _here.reset(self._token)


def _expanded(voices: dict[str, str]) -> dict[str, str]:
    """A voice for each code that the names in `voices` are the beginning of."""
    chosen = {}
    for name, voice in voices.items():
        if voice not in VOICES:
            raise ValueError(f"{name}={voice!r}: a voice is one of {', '.join(map(repr, VOICES))}")
        codes = [code for code in CODES if code.startswith(name)]
        if not codes:
            raise ValueError(f"{name} is no code; `gradtape why` lists them")
        if name in CODES and CODES[name].is_fixed and voice != "raise":
            raise ValueError(f"{name} ({CODES[name].title}) is always an error: nothing could go on after it")
        chosen.update({code: voice for code in codes if not CODES[code].is_fixed})
    return chosen


def voice(code: str) -> str:
    """How `code` speaks now."""
    chosen = _here.get().get(code) or _process.get(code)
    return chosen or CODES[code].voice


# -- speaking


def report(problem: Problem, words: str = "") -> None:
    """Say it in the voice of its code: raise it, warn (once per place), or note it for `notes()`.

    `words` are what a warning says instead, where a stand-in has to say it as the library does.
    """
    withheld = _withheld.get()
    if withheld is not None and withheld.wants(problem.code):
        withheld.problems.append(problem)
        return
    how = voice(problem.code)
    if how == "raise":
        raise CODES[problem.code].error(problem)
    if _heard(problem):
        return
    if how == "warn":
        _warn(problem, words)
    elif how == "note" and problem.place not in _noted:
        if len(_noted) >= NOTES_AT_MOST:
            _noted.clear()
        _noted.add(problem.place)
        _notes.append(problem)


def error(problem: Problem, kind: type[GradTapeError] | None = None) -> GradTapeError:
    """The exception that carries `problem`: of `kind`, or the class that its code is raised as."""
    return (kind or CODES[problem.code].error)(problem)


def is_due(code: str, file: str = "", line: int = 0, column: int | None = 0) -> bool:
    """Whether anybody would hear of `code` at this place: cheap to ask before a Problem is built."""
    how = voice(code)
    place = (code, file, line, column or 0)
    if any(place not in ear.seen for ear in _ears.get() if ear.wants is not None or how != "off"):
        return True
    if how == "off":
        return False
    return how == "raise" or place not in (_noted if how == "note" else _once.said())


class _Once:
    """The places that were warned of, for as long as the warning filters stay as they are.

    So a test that records warnings hears those that were said before, as with Python's own "once per place".
    """

    def __init__(self) -> None:
        self._filters: list[Any] = []
        self._state: list[Any] = []
        self._said: set[Place] = set()

    def said(self) -> set[Place]:
        filters: Any = warnings.filters
        if filters is not self._filters or list(filters) != self._state:
            self._filters, self._state, self._said = filters, list(filters), set()
        return self._said

    def forget(self) -> None:
        self._said.clear()


_once = _Once()


def forget_warned() -> None:
    """Warn again of places that were warned of before: for a test, which is to hear of all that is found in it."""
    _once.forget()


@functools.cache
def _as_user_warning(kind: type[GradientWarning]) -> type[GradientWarning]:
    """A class of ours under the name of Python's, which other libraries warn by."""
    return type("UserWarning", (kind,), {"__module__": "builtins", "__doc__": kind.__doc__})


def _warn(problem: Problem, words: str = "") -> None:
    said = _once.said()
    if problem.place in said:
        return
    said.add(problem.place)
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


# -- listening


class _Ear:
    """Somebody who hears problems, each place once; with `wants`, one who keeps them from everybody else."""

    def __init__(self, callback: Callable[[Problem], Any], wants: str | None = None) -> None:
        self.callback = callback
        self.wants = wants
        self.seen: set[Place] = set()

    def hear(self, problem: Problem) -> bool:
        """Take notice; whether this keeps the problem quiet."""
        if self.wants is not None and self.wants not in problem.codes:
            return False
        if problem.place not in self.seen:
            self.seen.add(problem.place)
            self.callback(problem)
        return self.wants is not None


def _heard(problem: Problem) -> bool:
    """Tell those who listen, the innermost first, until one keeps it quiet; whether one did."""
    if _is_unheard.get():
        return False
    muted = voice(problem.code) == "off"
    listening = [ear for ear in reversed((*_overhearing, *_ears.get())) if ear.wants is not None or not muted]
    return any(ear.hear(problem) for ear in listening)


def spoken(problem: Problem) -> None:
    """Told of every problem that an exception is made of; `GradTapeError` does this by itself."""
    if problem.code:
        _heard(problem)


def told(problem: Problem) -> None:
    """Tell those who listen of what everybody else has been told already, in the words of another library."""
    _heard(problem)


@contextmanager
def listening(callback: Callable[[Problem], Any]) -> Iterator[None]:
    """Call `callback` with every problem that is spoken inside, in whatever voice, once per place.

    >>> import gradtape as gt
    >>> found = []
    >>> with gt.explain.listening(found.append):
    ...     try:
    ...         gt.tensor([1.0, 2.0]) + gt.tensor([1.0, 2.0, 3.0])
    ...     except gt.ShapeError:
    ...         pass
    >>> [problem.code for problem in found]
    ['GT110']
    """
    token = _ears.set((*_ears.get(), _Ear(callback)))
    try:
        yield
    finally:
        _ears.reset(token)


@contextmanager
def overhearing(callback: Callable[[Problem], Any]) -> Iterator[None]:
    """Call `callback` with every problem that is spoken inside, in every thread; the program does not notice.

    Unlike `listening` this sets no context variable, and no problem is due because of it: what `is_due` says decides
    how often a function is run, and must not depend on a listener that the program does not know.
    """
    ear = _Ear(callback)
    _overhearing.append(ear)
    try:
        yield
    finally:
        _overhearing.remove(ear)


@contextmanager
def unheard() -> Iterator[None]:
    """Tell no listener of the problems that are spoken inside: an observer meets them, and not the program."""
    token = _is_unheard.set(True)
    try:
        yield
    finally:
        _is_unheard.reset(token)


class Withheld:
    """What was found where nobody was to hear of it yet: these codes, or all that are no errors."""

    def __init__(self, codes: tuple[str, ...]) -> None:
        self.codes = codes
        self.problems: list[Problem] = []
        self.doubts: set[str] = set()  # what looked odd, and was not looked into: "zero", "not finite"

    def __bool__(self) -> bool:
        return bool(self.problems or self.doubts)

    def wants(self, code: str) -> bool:
        """Whether a code is kept here."""
        return code in self.codes if self.codes else not CODES[code].is_fixed


@contextmanager
def withholding(*codes: str) -> Iterator[Withheld]:
    """Nobody hears of these codes inside, in whatever voice; without any, of none that can be chosen a voice for."""
    kept = Withheld(codes)
    token = _withheld.set(kept)
    try:
        yield kept
    finally:
        _withheld.reset(token)


def is_provisional() -> bool:
    """Whether all that is reported here is withheld, so that what is found is not the last word."""
    withheld = _withheld.get()
    return withheld is not None and not withheld.codes


def doubt(what: str) -> bool:
    """Leave it to those who withhold all that is reported here to look into something; whether there are any."""
    withheld = _withheld.get()
    if withheld is None or withheld.codes:
        return False
    withheld.doubts.add(what)
    return True


class expect:
    """For tests: the block must report `code`, as an error, a warning or a note (or as the cause behind one).

    What was expected is kept quiet: the error does not leave the block, nobody is warned. `problems` has what came.

    >>> import gradtape as gt
    >>> with gt.expect("GT110") as expected:
    ...     gt.tensor([1.0, 2.0]) + gt.tensor([1.0, 2.0, 3.0])
    >>> expected.problems[0].title
    'these shapes do not fit: (2,) and (3,)'
    """

    def __init__(self, code: str) -> None:
        if code not in CODES:
            raise ValueError(f"{code} is no code; `gradtape why` lists them")
        self.code = code
        self.problems: list[Problem] = []

    def __enter__(self) -> expect:
        self._token = _ears.set((*_ears.get(), _Ear(self.problems.append, self.code)))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> bool:
        _ears.reset(self._token)
        problem = getattr(error, "problem", None)
        if problem is not None and self.code in problem.codes:
            return True
        if error is None and not self.problems:
            raise AssertionError(f"{self.code} ({CODES[self.code].title}) was not reported in this block")
        return False


def notes(clear: bool = False) -> list[Problem]:
    """What was only noted so far, the oldest first; with `clear`, they are forgotten."""
    found = list(_notes)
    if clear:
        _notes.clear()
        _noted.clear()
    return found
