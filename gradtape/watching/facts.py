"""The facts of a gradient that another library took, for the report: what the places of the program computed, and how
large the gradient is on every edge between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradtape.core.location import Location
from gradtape.explain.model.problem import Problem
from gradtape.explain.report.facts import Edge, ExpressionGroup, Facts, GradientSource
from gradtape.explain.report.names import name_of
from gradtape.explain.report.spread import Spread
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.record import CONSTANT, LeafRecord, WatchedRecord

Arrival = tuple[WatchedRecord, Any]


def facts_of(
    computation: RecordedComputation,
    arrivals: Sequence[Arrival],
    asked: Location | None,
    reasons: Mapping[WatchedRecord, Problem],
) -> Facts:
    """The facts of the gradient of `computation`; `arrivals` are the sources with the gradients that the library gave.

    `reasons` say why some have none. What arrives at operations in between is computed by `computation`; where an
    operation cannot be executed again, the sizes before it are not known.
    """
    facts = Facts(asked)
    collector = _FactsCollector(facts, computation)
    with np.errstate(all="ignore"):
        for record in computation.records:
            collector.add(record)
        for record in computation.targets or computation.unreached:  # no gradient begins at the latter
            group = collector.group(record)
            group.is_target = True
            facts.targets.append(group.key)
        for record, gradient in arrivals:
            collector.add_source(record, gradient, reasons.get(record))
    collector.put_origins_first()
    if computation.lost is not None:
        facts.missing = f"{computation.lost.operation} cannot be executed again: what it passes back is not known."
    return facts


class _FactsCollector:
    """Adds records to facts, those of one expression to the same group."""

    def __init__(self, facts: Facts, computation: RecordedComputation) -> None:
        self.facts = facts
        self.computation = computation
        self._groups: dict[WatchedRecord, ExpressionGroup] = {}

    def group(self, record: WatchedRecord) -> ExpressionGroup:
        """The group of a record; a new record is added to it."""
        found = self._groups.get(record)
        if found is not None:
            return found
        if record.is_cut:
            key, kind, name = ("cut", *record.place_key, record.reason), "cut", record.reason
        elif record.operation:
            key, kind, name = (*record.place_key, record.operation), "operation", record.operation
        else:
            key, kind, name = ("leaf", record.order), "leaf", record.name or name_of(record.location)
        found = self.facts.places.get(key)
        if found is None:
            found = self.facts.places[key] = ExpressionGroup(key, kind, name, record.location)
        self._groups[record] = found
        found.meet(record)
        return found

    def add(self, record: WatchedRecord) -> None:
        """Add a record: its value, the gradient that arrives there, and what it passes on to its operands."""
        group = self.group(record)
        values = Spread.of(self.computation.values.get(record))
        if values is not None:
            group.values = _joined(group.values, values)
            taken = [Spread.of(value) for value in self.computation.inputs(record)]
            if values.bad and taken and not any(part is not None and part.bad for part in taken):
                group.birth = group.birth or "forward"
        arrived = self.computation.gradients.get(record)
        size = 0.0
        if arrived is not None:
            group.arrived += 1
            for part in arrived.values() if isinstance(arrived, dict) else [arrived]:
                spread = Spread.of(part)
                if spread is not None:
                    group.gradient = _joined(group.gradient, spread)
                    size = math.nan if spread.bad else spread.rms
                    group.zero += size == 0.0
                    group.size(size)
        self._add_edges(record, group, size)

    def _add_edges(self, record: WatchedRecord, group: ExpressionGroup, size: float) -> None:
        given = self.computation.cotangents.get(record, ())
        largest = 0.0
        for index, parent in enumerate(record.parents):
            if parent is CONSTANT or (not parent.is_tracked and not parent.is_cut):
                continue
            passed = Spread.of(given[index]) if index < len(given) and given[index] is not None else None
            kind = "cut" if parent.is_cut else "none" if record.selects_by(index) else "flow"
            edge = self._edge(parent, record, kind)
            for origin in parent.origins() if parent.is_cut else ():
                if isinstance(origin, LeafRecord):
                    self._edge(origin, parent, "cut")
            if passed is not None and passed.count:
                edge.squares += passed.squares / passed.count
                edge.sized += 1
                largest = max(largest, passed.rms)
            if passed is not None and passed.bad:
                edge.bad = True
                if not math.isnan(size) and not any(place.birth for place in self.facts.places.values()):
                    group.birth = "backward"
        if size and largest and math.isfinite(size):
            ratio, gains = largest / size, group.gains
            group.gains = [gains[0] + 1, gains[1] + math.log(ratio), min(gains[2], ratio), max(gains[3], ratio)]

    def _edge(self, parent: WatchedRecord, child: WatchedRecord, kind: str) -> Edge:
        above, below = self.group(parent), self.group(child)
        if above.kind == "cut":
            above.cuts += 1
        edge = self.facts.edges.setdefault((above.key, below.key), Edge(kind))
        edge.count += 1
        if child.kind == "elementwise" and parent.shape != child.shape:
            edge.stretch = parent.shape, child.shape
        return edge

    def put_origins_first(self) -> None:
        """Give cuts and leaves an order before all their uses: a leaf has a record from one of its uses on only."""
        for kind in ("cut", "leaf"):
            for above, below in self.facts.edges:
                group = self.facts.places[above]
                if group.kind == kind:
                    group.order = group.last = min(group.order, self.facts.places[below].order - 0.5)

    def add_source(self, record: WatchedRecord, gradient: Any, reason: Problem | None) -> None:
        """Add a tensor that the gradient was taken by."""
        group = self.group(record)
        group.is_source = True
        spread = None if gradient is None else Spread.of(gradient)
        shape = None if gradient is None else np.shape(gradient)
        self.facts.sources.append(
            GradientSource(
                group.name, record.shape, str(record.dtype), record.location, group.key, spread, shape, reason
            )
        )


def _joined(held: Spread | None, more: Spread) -> Spread:
    held = Spread() if held is None else held
    held.add(more)
    return held


__all__ = ["facts_of"]
