"""A `tf.GradientTape`, as the search for a lost gradient asks it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from gradtape.core.location import Location
from gradtape.explain.model.record import Record
from gradtape.watching.record import WatchedRecord

_numbers = count(1)


class TapeWatch:
    """One recording of a tape of TensorFlow: what it has watched and read, and who has freed it."""

    is_tape = True

    def __init__(self, tape: Any, recorder: Any) -> None:
        self.number = next(_numbers)
        self.opened = WatchedRecord((), np.dtype(float)).order
        self.persistent = bool(tape._persistent)
        self.watches_variables = bool(tape._watch_accessed_variables)
        self.spent: Location | None = None
        self.cleared: Location | None = None  # where what it had recorded before was thrown away
        self.entered = Location.here()
        self.read: set[Record] = set()
        self._recorder = recorder

    @property
    def tapes(self) -> frozenset[int]:
        """What `Record.is_on` takes."""
        return frozenset({self.number})

    @property
    def departures(self) -> Sequence[Record]:
        """The latest values that left TensorFlow as numbers or arrays, or were assigned to a variable."""
        return list(self._recorder.departures)

    def has_lost(self, departure: Record) -> bool:
        """Whether the value that left was on this tape."""
        return any(origin.is_on(self.tapes) for origin in departure.origins())

    def was_recording(self, record: Record) -> bool:
        """Whether this tape was recording when an operation was executed."""
        return self.number in getattr(record, "recorded_by", ())

    def has_read(self, variable: Record) -> bool:
        """Whether an operation has read a variable while this tape was recording."""
        return variable in self.read


__all__ = ["TapeWatch"]
