"""Where the examples of a batch meet: the first operation whose result depends on two of them, for `gt.audit_batch`.

All operations behind the result are executed again, with one example of the arguments changed and then with the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradtape.explain.graph import paths
from gradtape.explain.model.problem import Span
from gradtape.explain.source.files import span_of
from gradtape.watching.record import OperationRecord

MEETINGS_SOUGHT = 3
"""For how many pairs of examples the place is looked for."""


def find_meetings(start: Any, sources: Mapping[Any, Any], pairs: Sequence[tuple[int, int]]) -> list[Span]:
    """The places at which the first pairs of examples meet on the way to the record `start`, each once.

    `sources` are the arguments that hold the examples: their records, and their values as arrays.
    """
    records = sorted(paths.all_behind(start), key=lambda record: record.order)
    spans: dict[tuple[str, int], Span] = {}
    for pair in pairs[:MEETINGS_SOUGHT]:
        changed = [_changed_elements(records, sources, example) for example in pair]
        span = _first_common(records, *changed)
        if span is not None:
            spans.setdefault((span.file, span.line), span)
    return list(spans.values())


def _first_common(records: Sequence[Any], first: Mapping[Any, Any], second: Mapping[Any, Any]) -> Span | None:
    """The place of the first operation with an element that changes with both examples."""
    for record in records:
        one, two = first.get(record), second.get(record)
        if one is not None and two is not None and one.shape == two.shape and bool((one & two).any()):
            return span_of(record.location).labelled("the examples meet here") if record.location.is_known else None
    return None


def _changed_elements(
    records: Sequence[Any], sources: Mapping[Any, Any], example: int
) -> dict[Any, np.ndarray[Any, Any]]:
    """For each record, the elements of its result that change when one example of the arguments is changed."""
    before: dict[Any, Any] = dict(sources)
    after: dict[Any, Any] = {}
    for record, array in sources.items():
        after[record] = moved = np.array(array)
        moved[example] += 0.1 + 0.1 * np.abs(moved[example])
    found: dict[Any, np.ndarray[Any, Any]] = {}
    for record in records:
        if not isinstance(record, OperationRecord) or not any(parent in after for parent in record.parents):
            continue
        if record.replay is None or record.has_several_results:
            continue
        results = []
        for held in (before, after):
            inputs = [held.get(parent, record.operand_value(index)) for index, parent in enumerate(record.parents)]
            results.append(None if any(value is None for value in inputs) else record.replay.forward(inputs))
        if results[0] is not None and results[1] is not None:
            before[record], after[record] = results
            found[record] = np.asarray(results[0] != results[1])
    return found


__all__ = ["MEETINGS_SOUGHT", "find_meetings"]
