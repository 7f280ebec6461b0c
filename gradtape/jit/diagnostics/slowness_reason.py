"""A reason why a compiled function is slow, or is not compiled: a code, words, lines and a fix; and its report."""

from __future__ import annotations

import dataclasses

from gradtape.core.location import Location

RETRACED = "GT701"
KERNEL_IN_LOOP = "GT702"
COPY_IN_LOOP = "GT703"
UNCOMPILED = "GT704"


@dataclasses.dataclass(frozen=True)
class Reason:
    """Why a function is slow: `text` follows its name in a sentence; `places` are the user's lines behind it.

    >>> from gradtape.jit.diagnostics.slowness_reason import Reason, UNCOMPILED
    >>> print(Reason(UNCOMPILED, "is not compiled, because it returns an iterator", fixes=("return a list",)))
    is not compiled, because it returns an iterator.
      fix: return a list
    """

    code: str
    text: str
    places: tuple[Location, ...] = ()
    fixes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        rows = [f"{self.text}.", *self.notes, *(place.show() for place in self.places)]
        return "\n".join([*rows, *(f"  fix: {fix}" for fix in self.fixes)])

    @property
    def key(self) -> tuple[object, ...]:
        """What it is reported once by: the line where there is one, and the words otherwise."""
        if self.places and self.code in (KERNEL_IN_LOOP, COPY_IN_LOOP):
            return self.code, self.places[0].file, self.places[0].line
        return self.code, self.text, *((place.file, place.line) for place in self.places)

    def report(self, name: str) -> None:
        """Warn of it, or raise it, by the severity of its code. `name` is that of the function."""
        from gradtape.explain.emit import policy  # lazy: loaded when there is something to report
        from gradtape.explain.messages.build import at, problem

        called = at(Location.here(), "called here")
        found = problem(
            self.code,
            f"jit: {name} {self.text}",
            spans=[*(at(place) for place in self.places), called] if self.places else [called],
            fixes=self.fixes,
            notes=self.notes,
            function=name,
        )
        policy.report(found, subject=name)
