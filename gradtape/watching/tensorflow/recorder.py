"""The records of TensorFlow's tensors: one for each operation that is executed, or built into a graph.

A variable has one record as long as it lives; what is read from it has the record of the variable. An operation is on
a tape if that was recording and one of the operands was on it, as TensorFlow itself decides it.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from tensorflow.python.framework import op_def_registry, ops

from gradtape.core.location import Location, is_library
from gradtape.explain.detectors.lost_update import judge_lost_update
from gradtape.explain.detectors.reshape_for_transpose import is_swap
from gradtape.explain.model.problem import Span
from gradtape.explain.model.record import Shape
from gradtape.explain.report.names import name_of
from gradtape.watching.judge import judge_broadcast
from gradtape.watching.record import (
    CONSTANT,
    NOWHERE,
    CutRecord,
    LeafRecord,
    OperandSpec,
    OperationRecord,
    ResultRecord,
    WatchedRecord,
)
from gradtape.watching.recorder import Recorder
from gradtape.watching.tensorflow import values
from gradtape.watching.tensorflow.functions import GraphValue, graph_replay
from gradtape.watching.tensorflow.merged_operations import (
    constant_of,
    gather_row,
    merge_reduction,
    merge_softmax,
)
from gradtape.watching.tensorflow.operations import (
    ASSIGNED_INPUTS,
    ASSIGNMENTS,
    ELEMENTWISE_PAIRS,
    POSITIONS,
    READS,
    STEPS,
    STRUCTURAL,
    TABLE,
    Row,
)
from gradtape.watching.tensorflow.replay import replay_of
from gradtape.watching.tensorflow.tapes import TapeWatch
from gradtape.watching.tensorflow.values import (
    HeldBytes,
    SeenTensor,
    array_in,
    handle_of,
    is_eager,
    is_floating,
    is_symbolic,
    numpy_dtype,
)

DEPTH_AT_MOST = 20_000
CALLERS_AT_MOST = 6
DETOURS_AT_MOST = 32
UNKNOWN = 0
DATA = frozenset({-1})
"""The number, in the place of a tape's, of operations on data, which no tape records."""


class VariableRecord(LeafRecord):
    """A variable. `tapes` are all that have watched it."""

    def __init__(self, variable: Any, location: Location, is_trainable: bool, is_named_by: str) -> None:
        shape, dtype = spec_of_variable(variable)
        super().__init__(
            shape, dtype, location, None, is_tracked=is_trainable, is_variable=is_trainable, library="tensorflow"
        )
        self.reference = weakref.ref(variable)
        self._name = is_named_by.split(":")[0]
        self.writes = 0  # how often it was assigned to while it was watched, its first value included
        self.assigned: CutRecord | None = None  # the latest value that came from a tape and was assigned to it

    @property
    def name(self) -> str:  # type: ignore[override]
        """Its own name; where TensorFlow has made that up, the one that it has in the program."""
        is_made_up = self._name.partition("_")[0] == "Variable" and self.location.is_known
        return name_of(self.location) if is_made_up else self._name

    def value(self) -> Any:
        """Not kept: what operations read is kept with them."""
        return None


def spec_of_variable(variable: Any) -> tuple[Shape, np.dtype[Any]]:
    """Shape and dtype of a variable; unknown lengths are 0."""
    shape = variable.shape
    lengths = tuple(n or UNKNOWN for n in shape.as_list()) if shape.rank is not None else ()
    return lengths, numpy_dtype(variable.dtype)


class HeldCut(CutRecord):
    """A cut that holds what it was cut from, as the tape does until its gradient is taken."""

    def __init__(
        self, reason: str, shape: Shape, dtype: Any, location: Location, held: Sequence[WatchedRecord]
    ) -> None:
        super().__init__(reason, shape, dtype, location, held)
        self.held = tuple(held)
        self.library = "tensorflow"

    def origins(self) -> Any:
        """What it was cut from."""
        return iter(self.held)

    @property
    def has_lost_origins(self) -> bool:  # type: ignore[override]
        """Never: they are held."""
        return False


class NumpyDetour(NamedTuple):
    """A function of NumPy that was given a tensor on a tape, and where its array became a tensor again."""

    function: str
    span: Span
    entered: Location
    order: int
    is_write: bool = False  # to an array: `function` is the part that was written to


class TensorFlowRecorder(Recorder):
    """The records of TensorFlow's tensors and variables."""

    name = "tensorflow"

    def __init__(self) -> None:
        super().__init__()
        self.held = HeldBytes()
        self.active: list[TapeWatch] = []
        self.variables: dict[int, VariableRecord] = {}  # by the number of the handle
        self.accessed: VariableRecord | None = None
        self.in_backward = 0
        self.losses: Any = None  # a LossJudge
        self.traced: dict[int, Any] = {}  # variables that a graph reads, as they were when it was traced
        self.batch_length: int | None = None  # what an unknown first length of a graph's tensors stands for
        self.detours: deque[NumpyDetour] = deque(maxlen=DETOURS_AT_MOST)
        self._updates: set[tuple[int, int]] = set()
        self.unknown_shapes: weakref.WeakSet[WatchedRecord] = weakref.WeakSet()

    # -- what a library answers

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a tensor or a variable."""
        return is_eager(value) or is_symbolic(value) or handle_of(value) is not None

    def is_variable(self, value: Any) -> bool:
        """Whether a value is a variable of TensorFlow or Keras."""
        return handle_of(value) is not None

    def is_tracked(self, value: Any) -> bool:
        """Whether a value without a record is watched: only variables are, and they have one."""
        return False

    def array_of(self, value: Any) -> Any:
        """The numbers of a tensor or a variable."""
        if is_eager(value):
            return array_in(value)
        if handle_of(value) is not None and ops.executing_eagerly_outside_functions():
            inner = values.variable_of(value)
            with ops.init_scope():
                return np.array(values.to_numpy(inner.read_value())) if is_eager(inner.handle) else None
        return None

    def spec_of(self, value: Any) -> tuple[Shape, np.dtype[Any]]:
        """Shape and dtype; of a tensor of a graph, unknown lengths are those of the batch."""
        dtype = numpy_dtype(value.dtype)
        if is_eager(value):
            return tuple(value.shape), dtype
        shape = value.shape
        if shape.rank is None:
            return (), dtype
        lengths = shape.as_list()
        batch = self.batch_length
        return tuple(
            n if n is not None else (batch if k == 0 and batch is not None else UNKNOWN) for k, n in enumerate(lengths)
        ), dtype

    def has_known_shape(self, value: Any) -> bool:
        """Whether all lengths are known, or the first is that of a known batch."""
        if is_eager(value):
            return True
        shape = value.shape
        if shape.rank is None:
            return False
        return all(n is not None or (k == 0 and self.batch_length is not None) for k, n in enumerate(shape.as_list()))

    def keep(self, value: Any) -> Any:
        """A reference to the numbers of a tensor."""
        return self.held.hold(value, *reversed(self.spec_of(value))) if is_eager(value) else None

    # -- records

    def record_of(self, value: Any) -> WatchedRecord | None:
        """The record of a tensor or variable; None for other values."""
        handle = handle_of(value)
        if handle is not None:
            return self.variable_record(value)
        if not is_eager(value) and not is_symbolic(value):
            return None
        entry = self._entries.get(id(value))
        if entry is not None and entry.reference() is value:
            return entry.record
        return CONSTANT

    source_record_of = record_of

    def variable_record(self, value: Any, location: Location | None = None) -> VariableRecord:
        """The record of a variable, made when it is met for the first time."""
        handle = handle_of(value)
        key = handle._id if is_eager(handle) else id(handle)
        found = self.variables.get(key)
        if found is None:
            inner = values.variable_of(value)
            where = location or NOWHERE
            found = VariableRecord(inner, where, bool(inner.trainable), inner.name)
            self.variables[key] = found
        return found

    def note_read(self, value: Any) -> None:
        """Note that a tensor is what was read of the variable that was accessed last."""
        if self.accessed is not None:
            self.note(value, self._read_record(self.accessed))

    def watch(self, watch: TapeWatch, value: Any) -> None:
        """Note that a tape was told to watch a tensor or a variable."""
        record = self.record_of(value)
        if isinstance(record, VariableRecord):
            record.tapes |= {watch.number}
            record.is_tracked = record.is_variable = True
        elif record is None or not record.is_tracked:
            shape, dtype = self.spec_of(value)
            leaf = LeafRecord(shape, dtype, Location.here(), self.keep(value), library=self.name)
            leaf.tapes = frozenset({watch.number})
            self.note(value, leaf)
        else:
            record.tapes |= {watch.number}
            record.is_tracked = True

    # -- operations

    def record_operation(self, kind: str, inputs: Sequence[Any], attributes: Any, outputs: Sequence[Any]) -> None:
        """Record an operation that was executed, or built into a graph."""
        if kind in READS:
            if self.accessed is not None and outputs:
                self.note(outputs[0], self._read_record(self.accessed))
            return
        if kind in ASSIGNMENTS:
            self._record_assignment(kind, inputs)
            return
        if kind in STRUCTURAL or not outputs:
            return
        parents = [self._operand_record(x) for x in inputs]
        if kind == "ResourceGather" and self.accessed is not None:
            parents[0] = self._read_record(self.accessed)
        if all(parent is CONSTANT for parent in parents):
            if any(is_symbolic(output) for output in outputs):
                self._record_symbolic_constant(outputs)
            if self._is_data_operation(kind, inputs, outputs):
                self._record_data(kind, inputs, attributes, outputs, parents, Location.here())
            return
        tracked = [p for p, x in zip(parents, inputs) if p.is_tracked and self._can_have_gradient(p, x)]
        location = self._location() if tracked else Location.here()
        if kind in ("Sub", "AddV2") and not self.active and isinstance(parents[0], VariableRecord):
            self._judge_update(location)
        if not tracked and any(parent.is_cut for parent in parents):
            for output in outputs:
                self.constant(output, parents, location)
            if kind in ("Equal", "NotEqual") and is_eager(outputs[0]):
                self._judge_comparison(kind, parents, inputs, outputs, location)
            return
        if not tracked:
            if self._is_data_operation(kind, inputs, outputs):
                self._record_data(kind, inputs, attributes, outputs, parents, location)
            return
        row = TABLE.get(kind) or Row(kind, "general")
        reason = self._cut_reason(kind, outputs, tracked)
        if reason:
            for output in outputs:
                shape, dtype = self.spec_of(output)
                self.note(output, HeldCut(reason, shape, dtype, location, tracked))
            return
        self._record_tracked(kind, row, inputs, attributes, outputs, parents, tracked, location)

    def _judge_update(self, location: Location) -> None:
        """Report a new value of a variable that is only bound to the name of a loop."""
        place = id(location.code), location.offset
        if place not in self._updates:
            self._updates.add(place)
            judge_lost_update(location, self.name)

    def _is_data_operation(self, kind: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
        """Whether an operation computes with data only, where a NaN in it may matter to a gradient."""
        if self.in_backward or len(outputs) != 1 or not inputs or kind.startswith("__"):
            return False
        is_seen = self.active or is_symbolic(outputs[0]) or (kind == "Reshape" and self._is_swap(inputs, outputs))
        if not is_seen or not is_floating(outputs[0].dtype):
            return False
        return any(is_floating(x.dtype) for x in inputs) and not any(x.dtype.name == "resource" for x in inputs)

    def _is_swap(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
        """Whether a reshape only brings the lengths into another order, which is judged when a gradient is taken."""
        return is_eager(outputs[0]) and is_swap(tuple(inputs[0].shape), tuple(outputs[0].shape))

    def _record_data(
        self,
        kind: str,
        inputs: Sequence[Any],
        attributes: Any,
        outputs: Sequence[Any],
        parents: Sequence[WatchedRecord],
        location: Location,
    ) -> None:
        """Record an operation on data: it is no part of a gradient, but may be where a NaN comes from."""
        row = TABLE.get(kind) or Row(kind, "general")
        self._record_tracked(kind, row, inputs, attributes, outputs, parents, (), location)

    def _location(self) -> Location:
        """The user's expression that is being executed; a loss on the way there is judged."""
        frame: Any = sys._getframe(1)
        codes = {} if self.losses is None else self.losses.codes
        inside = []
        while frame is not None and is_library(frame.f_code.co_filename):
            if frame.f_code in codes:
                inside.append(frame)
            frame = frame.f_back
        if frame is None:
            return NOWHERE
        location = Location(frame.f_code, ~frame.f_lasti if self.in_backward else frame.f_lasti)
        if not self.in_backward:
            for each in inside:
                self.losses.judge(each, location)
        return location

    def _operand_record(self, value: Any) -> WatchedRecord:
        entry = self._entries.get(id(value))
        if entry is not None and entry.reference() is value:
            return entry.record
        if is_eager(value) and value.dtype.name == "resource":  # a variable that a function has captured
            known = self.variables.get(value._id)
            return CONSTANT if known is None else self._read_record(known)
        return CONSTANT

    def _read_record(self, variable: VariableRecord) -> WatchedRecord:
        if variable.assigned is not None and not variable.is_variable:
            return variable.assigned
        return variable

    def _can_have_gradient(self, record: WatchedRecord, value: Any) -> bool:
        return bool(is_floating(value.dtype)) or value.dtype.name in ("resource", "variant")

    def _cut_reason(self, kind: str, outputs: Sequence[Any], tracked: Sequence[WatchedRecord]) -> str:
        if kind in ("StopGradient", "PreventGradient"):
            return "stop_gradient"
        if kind in STEPS:
            return STEPS[kind]
        if kind == "Cast" and not is_floating(outputs[0].dtype):
            return "a cast to integer or bool"
        return "" if any(is_floating(output.dtype) or output.dtype.name == "variant" for output in outputs) else kind

    def _record_symbolic_constant(self, outputs: Sequence[Any]) -> None:
        """A tensor of a graph that is data: its record has the lengths that its own shape lacks."""
        for output in outputs:
            if output.dtype.name in ("resource", "variant", "string") or not self.has_known_shape(output):
                continue
            if None in (output.shape.as_list() or ()):
                shape, dtype = self.spec_of(output)
                self.note(output, LeafRecord(shape, dtype, NOWHERE, None, is_tracked=False, library=self.name))

    def _record_assignment(self, kind: str, inputs: Sequence[Any]) -> None:
        written = inputs[ASSIGNED_INPUTS.get(kind, 1)]
        value = self._operand_record(written)
        handle = inputs[0]
        known = self.variables.get(handle._id) if is_eager(handle) else self._captured_variable(handle)
        if known is not None:
            known.writes += 1
        if not value.is_tracked or self.in_backward:
            return
        shape, dtype = self.spec_of(written)
        cut = HeldCut(ASSIGNMENTS[kind], shape, dtype, Location.here(), [value])
        self.departures.append(cut)
        if known is not None:
            known.assigned = cut

    def _captured_variable(self, handle: Any) -> VariableRecord | None:
        """The variable that a graph has captured as `handle`, if it is one that is not trained."""
        captures = getattr(getattr(handle, "graph", None), "captures", ())
        outer = next((outer for outer, inner in captures if inner is handle and is_eager(outer)), None)
        found = None if outer is None else self.variables.get(outer._id)
        return None if found is None or found.is_variable else found

    def _record_tracked(
        self,
        kind: str,
        row: Row,
        inputs: Sequence[Any],
        attributes: Any,
        outputs: Sequence[Any],
        parents: Sequence[WatchedRecord],
        tracked: Sequence[WatchedRecord],
        location: Location,
    ) -> None:
        depth = 1 + max((getattr(parent, "depth", 0) for parent in tracked or parents), default=0)
        if depth > DEPTH_AT_MOST:
            return
        slots = [k for k in (row.operands or range(len(inputs))) if k < len(inputs)]
        on = frozenset(watch.number for watch in self.active)
        tapes = on & frozenset().union(*(parent.tapes for parent in tracked)) if tracked else DATA
        attributes = as_mapping(kind, attributes, outputs)
        specs = [self.spec_of(inputs[k]) if inputs[k].dtype.name != "resource" else parents[k] for k in slots]
        first = specs[0].shape if isinstance(specs[0], WatchedRecord) else specs[0][0]
        if kind in ("GatherV2", "GatherNd"):
            row, picked = gather_row(kind, row, inputs, attributes, first)
            params = picked
        else:
            params = (
                {} if row.parameters is None else row.parameters(attributes, lambda k: constant_of(inputs, k), first)
            )
        shape, dtype = self.spec_of(outputs[0])
        operands = [
            OperandSpec(spec.shape, spec.dtype, parents[k].is_tracked)
            if isinstance(spec, WatchedRecord)
            else OperandSpec(*spec, parents[k].is_tracked)
            for k, spec in zip(slots, specs)
        ]
        own = [parents[k] for k in slots]
        is_eager_here = is_eager(outputs[0])
        record = OperationRecord(
            row.name,
            row.kind,
            params,
            own,
            operands,
            [self.keep(inputs[k]) if is_eager_here else GraphValue(inputs[k]) for k in slots],
            shape,
            dtype,
            location,
            kept=None if len(outputs) > 1 else SeenTensor(outputs[0]) if is_eager_here else GraphValue(outputs[0]),
            replay=replay_of(kind, inputs, attributes, len(outputs), slots, self.held)
            if is_eager_here
            else graph_replay(kind, outputs[0].op, attributes, slots),
            library=self.name,
            is_tracked=bool(tracked),
            tapes=tapes,
        )
        record.depth = depth  # type: ignore[attr-defined]
        record.theirs = kind  # type: ignore[attr-defined]
        record.recorded_by = on  # type: ignore[attr-defined]
        record.chosen_by = [p for k, p in enumerate(parents) if k not in slots and p.is_cut]  # type: ignore[attr-defined]
        if tracked and not on:
            record.callers = user_frames()  # type: ignore[attr-defined]
        if len(outputs) == 1:
            self.note(outputs[0], merge_reduction(merge_softmax(record)))
            if tracked:
                self._judge(kind, record, inputs, outputs)
            return
        record.has_several_results = True
        for part, output in enumerate(outputs):
            shape, dtype = self.spec_of(output)
            if tracked and dtype.kind in "iub":  # positions, as of tf.argsort
                self.note(output, HeldCut(POSITIONS.get(kind, row.name), shape, dtype, location, tracked))
                continue
            result = ResultRecord(
                record, part, shape, dtype, SeenTensor(output) if is_eager_here else GraphValue(output)
            )
            result.depth = depth  # type: ignore[attr-defined]
            result.theirs = kind  # type: ignore[attr-defined]
            self.note(output, result)

    def record_custom(
        self, name: str, outputs: Sequence[Any], inputs: Sequence[Any]
    ) -> tuple[OperationRecord, WatchedRecord] | None:
        """Record a function with a gradient rule of the user's; also the record of what is inside of it."""
        if len(outputs) != 1 or not is_eager(outputs[0]):
            return None
        copied = self._operand_record(outputs[0])
        if not isinstance(copied, OperationRecord) or not copied.parents:
            return None
        parents = [self._operand_record(x) for x in inputs]
        tracked = [parent for parent in parents if parent.is_tracked]
        if not tracked:
            return None
        on = frozenset(watch.number for watch in self.active)
        record = OperationRecord(
            name,
            "custom",
            {},
            parents,
            [OperandSpec(*self.spec_of(x), parent.is_tracked) for x, parent in zip(inputs, parents)],
            [self.keep(x) for x in inputs],
            copied.shape,
            copied.dtype,
            copied.location,
            kept=SeenTensor(outputs[0]),
            library=self.name,
            tapes=on & frozenset().union(*(parent.tapes for parent in tracked)),
        )
        record.depth = getattr(copied, "depth", 0)  # type: ignore[attr-defined]
        record.theirs = ""  # type: ignore[attr-defined]
        record.recorded_by = on  # type: ignore[attr-defined]
        self.note(outputs[0], record)
        return record, copied.parents[0]

    def _judge_comparison(
        self,
        kind: str,
        parents: Sequence[WatchedRecord],
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        location: Location,
    ) -> None:
        """Judge the comparison of predicted classes with labels in a metric, which has no gradient."""
        specs = [self.spec_of(x) for x in inputs]
        if specs[0][0] == specs[1][0]:
            return
        operands = [OperandSpec(*spec, False) for spec in specs]
        shape, dtype = self.spec_of(outputs[0])
        own, kept = list(parents), [None] * len(inputs)
        record = OperationRecord(
            TABLE[kind].name, "elementwise", {}, own, operands, kept, shape, dtype, location, library=self.name,
            is_tracked=False,
        )  # fmt: skip
        self._judge(kind, record, inputs, outputs)

    def _judge(self, kind: str, record: OperationRecord, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        if record.location.in_rule:
            return
        if kind in ELEMENTWISE_PAIRS and len(inputs) == 2:
            pairs = [(0, 1)]
        elif kind == "SelectV2":  # the condition against each of the branches, and these against each other
            pairs = [(0, 1), (0, 2), (1, 2)]
        else:
            return
        for pair in pairs:
            left, right = (record.operands[k].shape for k in pair)
            given = [inputs[k] for k in pair]
            if left is None or right is None or left == right:
                continue
            if not all(self.has_known_shape(x) for x in given):
                continue
            judge_broadcast(record, given, (left, right))


def as_mapping(kind: str, attributes: Any, outputs: Sequence[Any]) -> Mapping[str, Any]:
    """The attributes of an operation by their names; of one in a graph, as TensorFlow decodes them."""
    if is_symbolic(outputs[0]):
        operation = outputs[0].op
        return {name: operation.get_attr(name) for name in attributes[::2]}
    given = dict(zip(attributes[::2], attributes[1::2]))
    if None not in given.values():
        return given
    # an argument that was left out is None there: TensorFlow takes the default, which is empty for a list
    definition = op_def_registry.get(kind)
    lists = {a.name for a in definition.attr if a.type.startswith("list(")} if definition is not None else set()
    return {k: [] if v is None else v for k, v in given.items() if v is not None or k in lists}


def user_frames() -> tuple[Location, ...]:
    """The user's expressions that are being executed, the innermost first, without the innermost."""
    found: list[Location] = []
    frame: Any = sys._getframe(1)
    while frame is not None and len(found) < CALLERS_AT_MOST:
        if not is_library(frame.f_code.co_filename):
            found.append(Location(frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(found[1:])


__all__ = ["HeldCut", "NumpyDetour", "TensorFlowRecorder", "VariableRecord"]
