"""Which places in the user's code were diagnosed for accidental broadcasts: each place once for each pair of shapes."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from gradtape.explain.detectors.broadcast import Finding, Residual
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.model.record import Record, Shape

PLACES_AT_MOST = 4096

_diagnoses: dict[tuple[int, int, Shape, Shape], tuple[Any, Finding | None]] = {}


def diagnose_once(
    record: Record, code: Any, offset: int, shapes: tuple[Shape, Shape], diagnose: Callable[[], Finding | None]
) -> Residual | None:
    """Report what `diagnose` finds at this place; what can only be judged when a gradient is taken is returned.

    `code` and `offset` are the place of the operation that `record` is.
    """
    key = (id(code), offset, *shapes)
    known = _diagnoses.get(key)
    if known is None:
        if len(_diagnoses) >= PLACES_AT_MOST:
            _diagnoses.clear()
        try:
            finding = diagnose()
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            finding = None  # source that cannot be read must not stop the operation
        known = _diagnoses[key] = (code, finding)  # holds the code object, so that its id stays unique
    finding = known[1]
    if finding is None:
        return None
    if finding.waits:
        return Residual(weakref.ref(record), finding)
    if is_due("GT101", *finding.problem.place[1:]):
        report(finding.problem)
    return None


__all__ = ["diagnose_once"]
