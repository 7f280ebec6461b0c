"""The records behind some targets, with their values, and a backward pass over them: what detectors search.

The gradients are computed by executing each recorded operation again, with the library that it belongs to, on copies
of its operands: no hook of the user's is called, nothing is accumulated anywhere, and no state of a layer changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from gradtape.explain.model.record import Record
from gradtape.forking import cached_property
from gradtape.watching.record import CONSTANT, OperationRecord, ResultRecord, WatchedRecord

_WITHOUT_SLOPE = frozenset({"bernoulli", "ceil", "floor", "round", "sign", "trunc"})
"""Operations whose gradient is zero whatever their operand was, which may be gone."""


class RecordedComputation:
    """The `Replayable` computation of records that a watched library executed.

    `seeds` are the targets with the gradients that the backward pass begins with; `tapes` as `Record.is_on` takes them.
    """

    def __init__(self, seeds: Sequence[tuple[WatchedRecord, Any]], tapes: Any = None) -> None:
        self.seeds = [(record, seed) for record, seed in seeds if record.is_on(tapes)]
        known = [record for record, _ in seeds if record is not CONSTANT and not record.is_cut]
        self.unreached = [record for record in known if not record.is_on(tapes)]
        self.tapes = tapes
        self.lost: WatchedRecord | None = None
        self.records: list[WatchedRecord] = []
        self.consumers: dict[Record, list[WatchedRecord]] = {}
        heap: list[tuple[int, int]] = []
        waiting: dict[int, WatchedRecord] = {}

        def enqueue(record: WatchedRecord) -> None:
            if record not in self.consumers:
                self.consumers[record] = []
                waiting[id(record)] = record
                heappush(heap, (-record.order, id(record)))

        for record, _ in self.seeds:
            enqueue(record)
        while heap:
            record = waiting[heappop(heap)[1]]
            self.records.append(record)
            for parent in self.parents(record):
                enqueue(parent)
                self.consumers[parent].append(record)

    @property
    def targets(self) -> list[WatchedRecord]:
        """The records that the gradient was taken of."""
        return [record for record, _ in self.seeds]

    def parents(self, record: Record) -> list[WatchedRecord]:
        """The parents of a record that receive a gradient."""
        assert isinstance(record, WatchedRecord)
        return [parent for parent in record.parents if parent is not CONSTANT and parent.is_on(self.tapes)]

    @cached_property
    def values(self) -> dict[Record, Any]:
        """The results that were kept and not overwritten since, or that a consumer has kept as its operand."""
        known: dict[Record, Any] = {}
        for record in self.records:
            if not record.has_several_results and (value := record.value()) is not None:
                known[record] = value
        for record in self.records:
            for index, parent in enumerate(record.parents):
                if parent not in known and parent is not CONSTANT and parent in self.consumers:
                    value = record.operand_value(index)
                    if value is not None:
                        known[parent] = value
        return known

    def inputs(self, record: Record) -> list[Any]:
        """The values that a record was computed from; None where one is not known."""
        found = []
        for index, parent in enumerate(record.parents):
            value = record.operand_value(index)
            found.append(self.values.get(parent) if value is None and parent.is_tracked else value)
        return found

    # -- the backward pass

    @cached_property
    def gradients(self) -> dict[Record, Any]:
        """The gradient that arrives at each record; for an operation with several results, a list of them."""
        self._walk()
        return self._arrived

    @cached_property
    def cotangents(self) -> dict[Record, Sequence[Any]]:
        """What the rule of each record gave for its operands."""
        self._walk()
        return self._given

    def _walk(self) -> None:
        self._arrived: dict[Record, Any] = {}
        self._given: dict[Record, Sequence[Any]] = {}
        for record, seed in self.seeds:
            self._add(record, seed)
        with np.errstate(all="ignore"):
            for record in self.records:
                gradient = self._arrived.get(record)
                if gradient is None:
                    continue
                if isinstance(record, ResultRecord):
                    parts = self._arrived.setdefault(record.parents[0], {})
                    parts[record.part] = gradient if record.part not in parts else parts[record.part] + gradient
                elif isinstance(record, OperationRecord) and self.parents(record):
                    self._step(record, gradient)
                    if isinstance(gradient, dict):
                        self._arrived[record] = [gradient.get(part) for part in range(max(gradient) + 1)]

    def _step(self, record: OperationRecord, gradient: Any) -> None:
        """Run the rule of one operation and add what it gives to the gradients of its operands."""
        inputs = self.inputs(record)
        given: Sequence[Any]
        if record.operation in _WITHOUT_SLOPE and not isinstance(gradient, dict):
            given = [np.zeros(operand.shape or (), np.asarray(gradient).dtype) for operand in record.operands]
        elif record.replay is None or any(value is None for value in inputs):
            self.lost = self.lost or record
            return
        else:
            given = record.replay.reverse(inputs, gradient)
        self._given[record] = given
        for parent, cotangent in zip(record.parents, given):
            if cotangent is not None and parent in self.consumers:
                self._add(parent, cotangent)

    def _add(self, record: WatchedRecord, cotangent: Any) -> None:
        before = self._arrived.get(record)
        self._arrived[record] = cotangent if before is None else before + cotangent

    # -- the rules, once more

    def apply_forward(self, record: Record, inputs: Sequence[Any]) -> Any:
        """The result of a recorded operation for other inputs."""
        assert isinstance(record, OperationRecord)
        assert record.replay is not None
        return record.replay.forward(inputs)

    def apply_reverse(
        self, record: Record, gradient: Any, value: Any = None, inputs: Sequence[Any] | None = None
    ) -> Sequence[Any]:
        """What the rule of a record gives for a gradient; for other inputs, if given."""
        assert isinstance(record, OperationRecord)
        assert record.replay is not None
        return record.replay.reverse(self.inputs(record) if inputs is None else inputs, gradient)

    def gradient_of_constant(self, record: Record, index: int) -> Any:
        """The gradient that a constant operand would have got; None where that cannot be computed."""
        gradient, inputs = self.gradients.get(record), self.inputs(record)
        if gradient is None or not isinstance(record, OperationRecord) or record.replay is None:
            return None
        if isinstance(gradient, dict | list) or any(value is None for value in inputs):
            return None
        return record.replay.reverse(inputs, gradient)[index]
