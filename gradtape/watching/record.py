"""Records of operations that another library executed: what detectors read of a program written for it.

Each class here satisfies `gradtape.explain.model.record.Record`. A recorder makes one record for each operation that
the library executes, connected as the library connects them; values are held by reference until they are needed and
are NumPy arrays then.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, NamedTuple, Protocol

import numpy as np

from gradtape.core.location import Location
from gradtape.explain.model.record import Record, Shape

_orders = count(1)


class KeptValue(Protocol):
    """A value of the watched library, held for an explanation."""

    def array(self) -> Any:
        """The value as a NumPy array; None if it was overwritten since, or was too large to be held."""
        ...


class ArrayValue(NamedTuple):
    """A value that is a NumPy array already."""

    held: Any

    def array(self) -> Any:
        """The array."""
        return self.held


class OperandSpec(NamedTuple):
    """Shape and dtype of an operand, and whether a gradient can flow to it."""

    shape: Shape | None
    dtype: np.dtype[Any] | None
    is_tracked: bool


NOWHERE = Location(None, 0)
NOTHING: Mapping[str, Any] = {}


class WatchedRecord:
    """What all records of watched libraries have in common; as it is, a constant that no operation computed."""

    name: str = ""  # of a parameter or variable, as its library has it
    operation: str = ""
    kind: str = ""
    params: Mapping[str, Any] = NOTHING
    parents: Sequence[WatchedRecord] = ()
    operands: Sequence[OperandSpec] = ()
    reason: str = ""
    joined: Sequence[Record] = ()
    is_tracked: bool = False
    is_shared: bool = False
    requires_grad: bool = False
    is_variable: bool = False
    is_differentiable: bool = True
    has_several_results: bool = False
    reports_itself: bool = False
    has_lost_origins: bool = False
    has_values: bool = True
    freed: Location | None = None
    library: str = ""
    kept: KeptValue | None = None
    tapes: frozenset[int] = frozenset()

    def __init__(self, shape: Shape, dtype: np.dtype[Any], location: Location = NOWHERE) -> None:
        self.shape = shape
        self.dtype = dtype
        self.location = location
        self.order = next(_orders)

    @property
    def place_key(self) -> tuple[Hashable, ...]:
        """The code object and the instruction."""
        return id(self.location.code), self.location.offset

    @property
    def is_cut(self) -> bool:
        """Whether a value left the graph here."""
        return bool(self.reason)

    def operand_value(self, index: int) -> Any:
        """The value of an operand; None where it is not known."""
        return None

    def value(self) -> Any:
        """The result; None where it is not known."""
        return None if self.kept is None else self.kept.array()

    def is_on(self, tapes: Any) -> bool:
        """Whether it is on one of `tapes`, a set of numbers; with None, on the graph that the library keeps itself."""
        return self.is_tracked if tapes is None else not self.tapes.isdisjoint(tapes)

    def selects_by(self, index: int) -> bool:
        """Whether an operand only selects."""
        return self.operation == "where" and index == 0

    def origins(self) -> Iterator[WatchedRecord]:
        """What it was computed from."""
        yield from self.parents

    def __repr__(self) -> str:
        return f"<{self.operation or self.reason or 'leaf'} {self.shape} at {self.location}>"


class LeafRecord(WatchedRecord):
    """A parameter, a variable or a tensor that was asked to be tracked."""

    def __init__(
        self,
        shape: Shape,
        dtype: np.dtype[Any],
        location: Location,
        kept: KeptValue | None,
        *,
        is_tracked: bool = True,
        is_variable: bool = False,
        library: str = "",
    ) -> None:
        super().__init__(shape, dtype, location)
        self.kept = kept
        self.is_tracked = self.requires_grad = is_tracked
        self.is_variable = is_variable
        self.library = library


class CutRecord(WatchedRecord):
    """A value that left the graph at `reason`: detached, converted to a number, computed without recording.

    What it was cut from is held weakly, as the library does not hold it either.
    """

    def __init__(
        self, reason: str, shape: Shape, dtype: np.dtype[Any], location: Location, sources: Sequence[WatchedRecord]
    ) -> None:
        super().__init__(shape, dtype, location)
        self.reason = reason
        self._sources = tuple(weakref.ref(source) for source in sources)

    def origins(self) -> Iterator[WatchedRecord]:
        """What it was cut from, as far as that is alive."""
        return (source for reference in self._sources if (source := reference()) is not None)

    @property
    def has_lost_origins(self) -> bool:  # type: ignore[override]
        """Whether something that it was cut from is gone."""
        return any(reference() is None for reference in self._sources)


class JoinedCuts(WatchedRecord):
    """A constant that was computed from values which had left the graph."""

    CUTS_AT_MOST = 8

    def __init__(self, shape: Shape, dtype: np.dtype[Any], location: Location, cuts: Sequence[WatchedRecord]) -> None:
        super().__init__(shape, dtype, location)
        first = [cut for each in cuts for cut in (each.joined or [each])]
        self.joined = list(dict.fromkeys(first))[: self.CUTS_AT_MOST]
        self.reason = self.joined[0].reason

    def origins(self) -> Iterator[WatchedRecord]:
        """The cuts."""
        return (cut for cut in self.joined if isinstance(cut, WatchedRecord))


class Replay:
    """How an operation is executed again, with arrays for its operands: forward, and its gradient rule.

    What the library warns of then, it has warned of before: it is not shown a second time.
    """

    def __init__(
        self, forward: Callable[[Sequence[Any]], Any], reverse: Callable[[Sequence[Any], Any], Sequence[Any]]
    ) -> None:
        self._forward = forward
        self._reverse = reverse

    def forward(self, inputs: Sequence[Any]) -> Any:
        """The result for these operands."""
        with _without_warnings():
            return self._forward(inputs)

    def reverse(self, inputs: Sequence[Any], gradient: Any) -> Sequence[Any]:
        """A cotangent, or None, for each operand."""
        with _without_warnings():
            return self._reverse(inputs, gradient)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Inside, no warning is shown or raised.

    The list of filters is replaced, not changed as by `warnings.catch_warnings`: after a change Python shows again what
    it shows once for each place.
    """
    module: Any = warnings
    before = module.filters
    module.filters = [("ignore", None, Warning, None, 0)]
    try:
        yield
    finally:
        module.filters = before


class OperationRecord(WatchedRecord):
    """An operation that the library executed."""

    def __init__(
        self,
        operation: str,
        kind: str,
        params: Mapping[str, Any],
        parents: Sequence[WatchedRecord],
        operands: Sequence[OperandSpec],
        inputs: Sequence[KeptValue | None],
        shape: Shape,
        dtype: np.dtype[Any],
        location: Location,
        *,
        kept: KeptValue | None = None,
        replay: Replay | None = None,
        library: str = "",
        is_tracked: bool = True,
        is_differentiable: bool = True,
        tapes: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__(shape, dtype, location)
        self.operation = operation
        self.kind = kind
        self.params = params
        self.parents = parents
        self.operands = operands
        self.inputs = inputs
        self.kept = kept
        self.replay = replay
        self.library = library
        self.is_tracked = is_tracked
        self.is_differentiable = is_differentiable
        self.tapes = tapes
        self.finding: Any = None  # what is to be judged when a gradient is taken

    def operand_value(self, index: int) -> Any:
        """The value of an operand."""
        kept = self.inputs[index] if index < len(self.inputs) else None
        return None if kept is None else kept.array()


class ResultRecord(WatchedRecord):
    """One of several results of an operation: `values, indices = x.max(dim=1)`."""

    has_several_results = True

    def __init__(self, whole: OperationRecord, part: int, shape: Shape, dtype: np.dtype[Any], kept: Any) -> None:
        super().__init__(shape, dtype, whole.location)
        self.operation = whole.operation
        self.kind = whole.kind
        self.params = whole.params
        self.parents = (whole,)
        self.operands = (OperandSpec(whole.shape, whole.dtype, whole.is_tracked),)
        self.part = part
        self.kept = kept
        self.library = whole.library
        self.is_tracked = whole.is_tracked
        self.tapes = whole.tapes


CONSTANT = WatchedRecord((), np.dtype(float))
"""The record that operands without a history share."""
CONSTANT.is_shared = True
