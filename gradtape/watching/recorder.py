"""`Recorder`: keeps the records of one library's values, and tells detectors about them.

Each watched library has a subclass that translates what it executes. The records live as long as the values do: a
value refers weakly to its record here, and a record holds its parents, as the graph of the library does.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.location import Location
from gradtape.explain.model.record import Record, Shape
from gradtape.watching.record import CONSTANT, CutRecord, JoinedCuts, KeptValue, LeafRecord, WatchedRecord

DEPARTURES_AT_MOST = 256
BYTES_HELD_AT_MOST = 1 << 28


class Entry:
    """The record of a value, and the version of the value that it describes."""

    __slots__ = ("record", "reference", "version")

    def __init__(self, reference: weakref.ref[Any], record: WatchedRecord, version: int) -> None:
        self.reference = reference
        self.record = record
        self.version = version


class Recorder:
    """The records of the values of one library. It is the library's `ArrayLibrary` and `Watch` for explanations."""

    name = ""
    """The library's import name, in whose spelling advice is written."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}
        self.departures: deque[WatchedRecord] = deque(maxlen=DEPARTURES_AT_MOST)

    # -- what a library answers

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a tensor of this library."""
        raise NotImplementedError

    def is_variable(self, value: Any) -> bool:
        """Whether a value is a parameter or variable of this library."""
        raise NotImplementedError

    def is_tracked(self, value: Any) -> bool:
        """Whether the library gives gradients for a tensor that no operation computed."""
        raise NotImplementedError

    def array_of(self, value: Any) -> Any:
        """The NumPy array that a tensor holds; None for other values."""
        raise NotImplementedError

    def spec_of(self, value: Any) -> tuple[Shape, np.dtype[Any]]:
        """Shape and dtype of a tensor."""
        raise NotImplementedError

    def keep(self, value: Any) -> KeptValue | None:
        """A reference to the present value of a tensor; None if it is not to be held."""
        raise NotImplementedError

    def version_of(self, value: Any) -> int:
        """A number that changes when a tensor is written to; 0 for libraries whose tensors are immutable."""
        return 0

    # -- records of values

    def record_of(self, value: Any) -> WatchedRecord | None:
        """The record of what computed a tensor, or of the leaf that it is; None for values that are no tensors."""
        if not self.is_tensor(value):
            return None
        entry = self._entries.get(id(value))
        if entry is not None and entry.reference() is value:
            if entry.version == self.version_of(value):
                return entry.record
            return self.note(value, self.rewritten(value, entry))
        return self.note(value, self.first_record(value)) if self.is_tracked(value) else CONSTANT

    source_record_of = record_of

    def first_record(self, value: Any) -> WatchedRecord:
        """The record of a tracked tensor that is met for the first time: a leaf."""
        shape, dtype = self.spec_of(value)
        return LeafRecord(
            shape, dtype, Location.here(), self.keep(value), is_variable=self.is_variable(value), library=self.name
        )

    def rewritten(self, value: Any, entry: Entry) -> WatchedRecord:
        """The record of a tensor that was written to since `entry` was made; by default, of a leaf again."""
        return self.first_record(value) if self.is_tracked(value) else CONSTANT

    def note(self, value: Any, record: WatchedRecord) -> WatchedRecord:
        """Remember the record of a value as long as the value lives; the record."""
        if record is CONSTANT:
            return record
        key = id(value)
        entries = self._entries

        def forget(reference: weakref.ref[Any]) -> None:
            entry = entries.get(key)
            if entry is not None and entry.reference is reference:
                del entries[key]

        entries[key] = Entry(weakref.ref(value, forget), record, self.version_of(value))
        return record

    def has_record(self, value: Any) -> bool:
        """Whether a value was met while the library was watched."""
        entry = self._entries.get(id(value))
        return entry is not None and entry.reference() is value

    def forget(self) -> None:
        """Release all records."""
        self._entries.clear()
        self.departures.clear()

    # -- cuts

    def cut(
        self, reason: str, sources: Sequence[WatchedRecord], result: Any, location: Location, value: Any = None
    ) -> WatchedRecord:
        """Record that a value left the graph at `reason`; `result` is what came of it, a tensor or anything else.

        A result that is no tensor has no record of its own: the cut is kept among the latest departures.
        """
        shape, dtype = self.spec_of(result) if self.is_tensor(result) else ((), np.dtype(float))
        found = CutRecord(reason, shape, dtype, location, [source for source in sources if source is not CONSTANT])
        if self.is_tensor(result):
            self.note(result, found)
        else:
            found.params = {"value": value}
            self.departures.append(found)
        return found

    def constant(self, result: Any, parents: Sequence[WatchedRecord], location: Location) -> WatchedRecord:
        """The record of a tensor that was computed from constants: which cuts went into it, if any did."""
        cuts = [parent for parent in parents if parent.is_cut]
        if not cuts:
            return CONSTANT
        shape, dtype = self.spec_of(result)
        return self.note(result, cuts[0] if len(cuts) == 1 else JoinedCuts(shape, dtype, location, cuts))

    # -- what is asked about the graph behind `backward`, as `Watch`

    tapes: Any = None
    is_tape = False
    opened = 0
    spent: Location | None = None
    watches_variables = True

    def has_lost(self, departure: Record) -> bool:
        """Whether the value that left at a departure was recorded here."""
        return True

    def was_recording(self, record: Record) -> bool:
        """Whether gradients were recorded when an operation was executed."""
        return record.is_tracked

    def has_read(self, variable: Record) -> bool:
        """Whether an operation has read a variable."""
        return True


__all__ = ["BYTES_HELD_AT_MOST", "Entry", "Recorder"]
