"""Withholding problems: they are collected instead of reported, for a caller that decides later whether to report them.

withhold("GT401")      collects what is reported inside, of these codes or of all that are not errors
collect_reports()      collects all that is reported inside, for another process to report
is_provisional()       whether everything reported here is withheld
defer(what)            leaves a costly check to that caller
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from gradtape.explain.model.codes import CODES

if TYPE_CHECKING:
    from gradtape.explain.model.problem import Problem

current: ContextVar[Withheld | None] = ContextVar("gradtape withheld", default=None)


class Withheld:
    """The problems that were withheld: those of `codes`, or, without any, of all codes that are not errors."""

    def __init__(self, codes: tuple[str, ...]) -> None:
        self.codes = codes
        self.problems: list[Problem] = []
        self.deferred: set[str] = set()  # checks that were left to the caller: "zero", "not finite", "picked"

    def __bool__(self) -> bool:
        return bool(self.problems or self.deferred)

    def wants(self, code: str) -> bool:
        """Whether problems of `code` are withheld here."""
        return code in self.codes if self.codes else not CODES[code].is_fixed


@contextmanager
def withhold(*codes: str) -> Iterator[Withheld]:
    """Collect problems of these codes instead of reporting them; without codes, all whose severity can be chosen."""
    kept = Withheld(codes)
    token = current.set(kept)
    try:
        yield kept
    finally:
        current.reset(token)


def is_provisional() -> bool:
    """Whether everything reported here is withheld, so that a caller may still discard or complete it."""
    withheld = current.get()
    return withheld is not None and not withheld.codes


def defer(what: str) -> bool:
    """Leave the check `what` to the caller that withholds everything reported here; False if there is none."""
    withheld = current.get()
    if withheld is None or withheld.codes:
        return False
    withheld.deferred.add(what)
    return True


def collect_reports() -> AbstractContextManager[Withheld]:
    """Collect all problems that are no errors, for a process that reports them later.

    Unlike with `withhold()`, no check is left to that process: it has not what the check would need.
    """
    return withhold(*(code for code, row in CODES.items() if not row.is_fixed))
