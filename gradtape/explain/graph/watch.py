"""The kernel's `Watch`: a tape, or the graph behind `.backward()`, as the search for a lost gradient asks it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradtape.core.graph import AMBIENT, VARIABLE, Cut, Node, departures
from gradtape.core.location import Location
from gradtape.core.recording import Recording
from gradtape.explain.model.record import Record

if TYPE_CHECKING:
    from gradtape.core.tape import GradientTape


class GraphWatch:
    """The tapes in `tapes`; `tape` is the one that was asked, None for the graph behind `.backward()`."""

    def __init__(self, tapes: int = AMBIENT, tape: GradientTape | None = None) -> None:
        self.tapes = tapes
        self._tape = tape

    @property
    def is_tape(self) -> bool:
        """Whether it is a tape, which has to be told what to watch."""
        return self._tape is not None

    @property
    def opened(self) -> int:
        """When the tape was entered, as an order number of nodes; 0 without a tape."""
        return 0 if self._tape is None else self._tape._opened

    @property
    def spent(self) -> Location | None:
        """Where the gradient was taken that freed the recording; None if it was not freed."""
        return None if self._tape is None else self._tape._spent

    @property
    def watches_variables(self) -> bool:
        """Whether variables are watched without being named."""
        return self._tape is not None and self._tape.watches_variables

    @property
    def departures(self) -> Sequence[Cut]:
        """The latest values that left a tape, of all tapes."""
        return departures

    def has_lost(self, departure: Record) -> bool:
        """Whether a value that left a tape could have left one of these."""
        bits = departure.params.get("bits", 0)  # none of a value that was off the tape before it left
        return bool(bits & self.tapes or not bits)

    def was_recording(self, record: Record) -> bool:
        """Whether one of these tapes recorded while the operation ran."""
        state = record.recording if isinstance(record, Node) else None
        return isinstance(state, Recording) and bool(state.bits & self.tapes & ~VARIABLE)

    def has_read(self, variable: Record) -> bool:
        """Whether an operation read the variable while the tape recorded."""
        return self._tape is not None and variable in self._tape._variables
