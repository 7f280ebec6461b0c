"""What detectors read of a computation: protocols that each library's recorder satisfies in its own way.

A `Record` is one operation that was recorded. A `Computation` is the records behind some targets, with the values that
are known; a `Replayable` one can also run its gradient rules again. Detectors take these and nothing else, so that the
same detector judges a computation of gradtape, whose graph nodes are records, and one that was recorded in another
library. The module imports nothing of the kernel, which is above it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, MutableMapping, Sequence
from types import CodeType
from typing import Any, Protocol

import numpy as np

Shape = tuple[int, ...]
Positions = tuple[int | None, int | None, int | None, int | None]


class SourceLocation(Protocol):
    """A place in the user's source, as `gradtape.core.location.Location` is one.

    `positions` are the first and last line of the expression and the byte offsets in them, None where not known. `code`
    is the code object that was running and `offset` the instruction; recorders that know a file and a line only have
    None there.
    """

    @property
    def file(self) -> str:
        """The name of the source file."""
        ...

    @property
    def line(self) -> int:
        """The number of the first line, from 1."""
        ...

    @property
    def positions(self) -> Positions:
        """First line, last line, first column and end column of the expression; None where unknown."""
        ...

    @property
    def columns(self) -> tuple[int, int] | None:
        """The first column and the end column of the expression."""
        ...

    @property
    def source(self) -> str:
        """The text of the line; empty if the file cannot be read."""
        ...

    @property
    def segment(self) -> str:
        """The text of the expression; empty if it is not known."""
        ...

    @property
    def code(self) -> CodeType | None:
        """The code object that ran; None if it is not known."""
        ...

    @property
    def offset(self) -> int:
        """The offset of the instruction in the bytecode."""
        ...

    @property
    def in_rule(self) -> bool:
        """Whether it was computed by the gradient rule of the expression that stands here."""
        ...

    @property
    def is_known(self) -> bool:
        """Whether there is a line of the user's code."""
        ...

    def show(self) -> str:
        """The place and the source line, with the expression underlined."""
        ...


class RecordedOperand(Protocol):
    """Shape and dtype of an operand, None where nothing of it was kept; and whether it is tracked."""

    @property
    def shape(self) -> Shape | None:
        """The shape; None if nothing of the operand was kept."""
        ...

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The dtype; None if nothing of the operand was kept."""
        ...

    @property
    def is_tracked(self) -> bool:
        """Whether a gradient can flow to the operand."""
        ...


class Record(Protocol):
    """One recorded operation, or a value that no recorded operation computed: a leaf, a constant, a cut.

    Records are compared by identity and can be keys of dictionaries.
    """

    @property
    def operation(self) -> str:
        """The name of the operation as in gradtape's table ("subtract", "matmul"); empty if none computed this value.

        An operation that gradtape does not have keeps the name that its library gives it.
        """
        ...

    @property
    def kind(self) -> str:
        """The kind of the operation: "elementwise", "linear", "multilinear", "custom" (the user's rule) or another."""
        ...

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters that are not operands, under the names of gradtape's table: `axis`, `keepdims`, `index`."""
        ...

    @property
    def shape(self) -> Shape:
        """The shape of the result."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the result."""
        ...

    @property
    def order(self) -> int:
        """A number that grows with each record: a younger record has the larger one."""
        ...

    @property
    def location(self) -> SourceLocation:
        """The expression in the user's code that was executed."""
        ...

    @property
    def place_key(self) -> tuple[Hashable, ...]:
        """The place in the program, to compare and to count by; unique as long as the location is held."""
        ...

    @property
    def library(self) -> str:
        """The library in whose spelling advice is written ("torch"); empty if the imports of the file decide."""
        ...

    # -- operands and values

    @property
    def parents(self) -> Sequence[Record]:
        """A record for each operand. Operands without a history share one that is not tracked and has no operation.

        Empty for values that no operation computed, and after the recording was freed.
        """
        ...

    @property
    def operands(self) -> Sequence[RecordedOperand]:
        """What is known of each operand, in the order of `parents`."""
        ...

    def operand_value(self, index: int) -> Any:
        """The value of an operand as a bare array or number; None where it was not kept."""
        ...

    def value(self) -> Any:
        """The result as a bare array; None where it was not kept."""
        ...

    @property
    def has_values(self) -> bool:
        """Whether the values that its gradient rule needs have not been released."""
        ...

    # -- gradients

    @property
    def is_tracked(self) -> bool:
        """Whether a gradient is or may be wanted of it: it is on some tape, or requires a gradient."""
        ...

    @property
    def is_shared(self) -> bool:
        """Whether values without a history share this record, so that it says nothing about one of them."""
        ...

    @property
    def requires_grad(self) -> bool:
        """Whether `backward` gives it a gradient, without a tape."""
        ...

    @property
    def is_variable(self) -> bool:
        """Whether it is a trainable variable."""
        ...

    @property
    def is_differentiable(self) -> bool:
        """Whether its operation has a gradient rule."""
        ...

    @property
    def has_several_results(self) -> bool:
        """Whether its operation returns several arrays, or it is one of those."""
        ...

    @property
    def freed(self) -> SourceLocation | None:
        """The backward pass that freed what was recorded, if one did."""
        ...

    @property
    def reports_itself(self) -> bool:
        """Whether its gradient rule runs a backward pass of its own, which reports where NaN and infinity arose."""
        ...

    def is_on(self, tapes: Any) -> bool:
        """Whether it is on one of the tapes that a `Watch` names."""
        ...

    def selects_by(self, index: int) -> bool:
        """Whether operand `index` only selects (the condition of `where`), so that it gets no gradient."""
        ...

    # -- cuts: where a value left the recording

    @property
    def reason(self) -> str:
        """How the value left the recording (".item()", "stop_gradient", "no_grad"); empty unless this is a cut."""
        ...

    @property
    def is_cut(self) -> bool:
        """Whether the value left the recorder here, as a constant or another library's array."""
        ...

    @property
    def joined(self) -> Sequence[Record]:
        """The cuts that met in one value, if several did."""
        ...

    def origins(self) -> Iterable[Record]:
        """What it was computed from: its parents, and what a cut was cut from, as far as that is alive."""
        ...

    @property
    def has_lost_origins(self) -> bool:
        """Whether something that a cut was cut from is gone."""
        ...


def operand_values(record: Record) -> list[Any]:
    """The values of all operands of a record, None for those that were not kept."""
    return [record.operand_value(index) for index in range(len(record.parents))]


class Computation(Protocol):
    """The records behind some targets, and the values that are known."""

    @property
    def targets(self) -> Sequence[Record]:
        """The records that the gradient was taken of."""
        ...

    @property
    def records(self) -> Sequence[Record]:
        """The records that the targets were computed from and that receive a gradient, the youngest first."""
        ...

    @property
    def consumers(self) -> Mapping[Record, Sequence[Record]]:
        """For each record, those that used it."""
        ...

    @property
    def values(self) -> MutableMapping[Record, Any]:
        """The results that were kept, or can be computed from what was kept."""
        ...

    def parents(self, record: Record, /) -> Sequence[Record]:
        """The parents of a record that receive a gradient."""
        ...

    def inputs(self, record: Record, /) -> list[Any]:
        """The values that a record was computed from; None where one is not known."""
        ...


class Replayable(Computation, Protocol):
    """A computation whose backward pass was run again, with everything kept, and whose rules can be run once more."""

    @property
    def seeds(self) -> Sequence[tuple[Any, Any]]:
        """The targets with the gradients that the backward pass began with."""
        ...

    @property
    def gradients(self) -> Mapping[Record, Any]:
        """The gradient that arrived at each record; for an operation with several results, a list of them."""
        ...

    @property
    def cotangents(self) -> Mapping[Record, Sequence[Any]]:
        """What the rule of each record gave for its operands."""
        ...

    @property
    def lost(self) -> Record | None:
        """A record whose values had been released, so that its rule could not run."""
        ...

    def apply_forward(self, record: Record, /, inputs: Sequence[Any]) -> Any:
        """The result of a record's operation for other inputs."""
        ...

    def apply_reverse(
        self, record: Record, /, gradient: Any, value: Any = None, inputs: Sequence[Any] | None = None
    ) -> Sequence[Any]:
        """What the rule of a record gives for a gradient: with the values that were kept, or with `inputs`, whose
        result is `value`.
        """
        ...

    def gradient_of_constant(self, record: Record, /, index: int) -> Any:
        """The gradient that an operand which is a constant would have got; None where that cannot be computed."""
        ...


class Watch(Protocol):
    """What was asked for a gradient: a tape of the user's, or the graph behind `backward`."""

    @property
    def tapes(self) -> Any:
        """What `Record.is_on` takes."""
        ...

    @property
    def is_tape(self) -> bool:
        """Whether it is a tape, which has to be told what to watch."""
        ...

    @property
    def opened(self) -> int:
        """The order of the last record before it began to record."""
        ...

    @property
    def spent(self) -> SourceLocation | None:
        """The gradient that freed the recording of a tape, if one did."""
        ...

    @property
    def watches_variables(self) -> bool:
        """Whether it records trainable variables without being told."""
        ...

    @property
    def departures(self) -> Sequence[Record]:
        """The latest cuts where values left as plain numbers or arrays, the oldest first."""
        ...

    def has_lost(self, departure: Record, /) -> bool:
        """Whether the value that left at a departure was recorded here, or nowhere."""
        ...

    def was_recording(self, record: Record, /) -> bool:
        """Whether it was recording when the operation was executed."""
        ...

    def has_read(self, variable: Record, /) -> bool:
        """Whether an operation has read the variable while it was recording."""
        ...


class ArrayLibrary(Protocol):
    """What explanations ask about the values of one array library."""

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a tensor of this library."""
        ...

    def is_variable(self, value: Any) -> bool:
        """Whether a value is a variable of this library, trainable or not."""
        ...

    def record_of(self, value: Any) -> Record | None:
        """The record of the operation that computed a tensor, or of the leaf that it is; None for other values."""
        ...

    def source_record_of(self, value: Any) -> Record | None:
        """The record that a gradient by a tensor is taken at: the leaf that it was, if it was written to since."""
        ...

    def array_of(self, value: Any) -> Any:
        """The NumPy array that a tensor holds, without a copy where possible; None for other values."""
        ...


__all__ = [
    "ArrayLibrary",
    "Computation",
    "Record",
    "RecordedOperand",
    "Replayable",
    "Shape",
    "SourceLocation",
    "Watch",
    "operand_values",
]
