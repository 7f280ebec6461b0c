"""Listeners: callbacks that receive every problem that is reported or raised, each place once.

listening(callback)                  for this thread and context
listening_in_all_threads(callback)   for the process, for a command that runs a script; the script does not notice
without_listeners()                  inside, no listener is called
expect("GT101")                      for tests: fails unless the code is reported inside, and keeps it from all others
notify(problem)                      calls the listeners
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gradtape.explain.emit.severity import severity
from gradtape.explain.model.codes import CODES

if TYPE_CHECKING:
    from gradtape.explain.model.problem import Problem

Place = tuple[str, str, int, int]


class Listener:
    """A callback, and the places it was called for.

    With `expected`, it receives problems of that code only, and keeps them from all other listeners.
    """

    def __init__(self, callback: Callable[[Problem], Any], expected: str | None = None) -> None:
        self.callback = callback
        self.expected = expected
        self.seen: set[Place] = set()

    def receive(self, problem: Problem) -> bool:
        """Call back, once per place; whether no other listener is to receive the problem."""
        if self.expected is not None and self.expected not in problem.codes:
            return False
        if problem.place not in self.seen:
            self.seen.add(problem.place)
            self.callback(problem)
        return self.expected is not None


of_context: ContextVar[tuple[Listener, ...]] = ContextVar("gradtape listeners", default=())
_of_process: list[Listener] = []
_is_suspended: ContextVar[bool] = ContextVar("gradtape listeners suspended", default=False)


def notify(problem: Problem) -> bool:
    """Call the listeners, the innermost first, until one expects the problem; whether one did.

    A code that is "off" reaches only those that expect it.
    """
    if _is_suspended.get():
        return False
    is_off = severity(problem.code) == "off"
    found = [each for each in reversed((*_of_process, *of_context.get())) if each.expected is not None or not is_off]
    return any(listener.receive(problem) for listener in found)


def notify_of_error(problem: Problem) -> None:
    """Call the listeners with the problem of an exception; `GradTapeError` does this when it is constructed."""
    if problem.code:
        notify(problem)


@contextmanager
def listening(callback: Callable[[Problem], Any]) -> Iterator[None]:
    """Call `callback` with every problem inside, whatever its severity (unless "off"), once per place.

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
    token = of_context.set((*of_context.get(), Listener(callback)))
    try:
        yield
    finally:
        of_context.reset(token)


@contextmanager
def listening_in_all_threads(callback: Callable[[Problem], Any]) -> Iterator[None]:
    """Call `callback` with every problem inside, in every thread; the program does not notice.

    Unlike `listening` this sets no context variable and does not make `is_due` true: the answer of `is_due` decides
    how often a function is run, and must not depend on a listener that the program does not know of.
    """
    listener = Listener(callback)
    _of_process.append(listener)
    try:
        yield
    finally:
        _of_process.remove(listener)


@contextmanager
def without_listeners() -> Iterator[None]:
    """Call no listener inside: problems there are met by an observer, not by the program."""
    token = _is_suspended.set(True)
    try:
        yield
    finally:
        _is_suspended.reset(token)


class expect:
    """For tests: the block must report `code`, as an error, a warning or a note (or as the cause behind one).

    What was expected goes no further: the error does not leave the block, and no warning is given. `problems` has it.

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
        self._token = of_context.set((*of_context.get(), Listener(self.problems.append, self.code)))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> bool:
        of_context.reset(self._token)
        problem = getattr(error, "problem", None)
        if problem is not None and self.code in problem.codes:
            return True
        if error is None and not self.problems:
            raise AssertionError(f"{self.code} ({CODES[self.code].title}) was not reported in this block")
        return False
