"""Constructs problems and errors at the user's present expression; locations of the kernel become ranges of source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gradtape.core.location import Location
from gradtape.errors import GradTapeError

if TYPE_CHECKING:
    from gradtape.explain.model.problem import Operand, Problem, Span
    from gradtape.explain.model.record import SourceLocation


def problem(
    code: str,
    title: str,
    *,
    spans: Iterable[Span | SourceLocation] | None = None,
    fixes: str | Iterable[str] = (),
    consequence: str = "",
    notes: Sequence[str] = (),
    operands: Iterable[Operand] = (),
    intent: str = "",
    **details: Any,
) -> Problem:
    """A problem at the user's present expression, or at `spans`. Locations are converted to spans.

    Advice is rewritten with the names that the user's file imports; a `Fix` that is source, checked or an
    edit, stays as it is, and so does an intent with source in it.
    """
    from gradtape.explain.model.problem import Fix, Problem, Span
    from gradtape.explain.render.elide_arrays import elide_arrays
    from gradtape.explain.render.spelling import respell
    from gradtape.explain.source.files import source_of, span_of

    found = [here()] if spans is None else [s if isinstance(s, Span) else span_of(s) for s in spans]
    imports = source_of(found[0].file).imports if found else {}
    if notes:
        details["notes"] = [respell(elide_arrays(note), imports) for note in notes]
    listed = [fixes] if isinstance(fixes, str) else list(fixes)
    listed = [fix if isinstance(fix, Fix) and (fix.checked or fix.is_edit) else respell(fix, imports) for fix in listed]
    intent = intent if isinstance(intent, Fix) else respell(intent, imports)
    return Problem(
        code, elide_arrays(title), [s for s in found if s.line], operands, consequence, listed, intent, details
    )


def failure(code: str, title: str, kind: type[GradTapeError] | None = None, **parts: Any) -> GradTapeError:
    """The error of a code, by default of the class that the code has; `parts` are those of `problem`."""
    from gradtape.explain.model.codes import CODES

    return (kind or CODES[code].error)(problem(code, title, **parts))


def at(place: SourceLocation, label: str = "") -> Span:
    """The source range of a location, with a label for its underline."""
    from gradtape.explain.source.files import span_of

    return span_of(place, label)


def here(label: str = "") -> Span:
    """The source range of the user's present expression."""
    return at(Location.here(), label)


__all__ = ["problem"]
