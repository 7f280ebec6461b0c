"""The records of PyTorch's tensors: what computed each, by the version of its memory, and who wrote to it."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from gradtape.core.location import Location
from gradtape.explain.model.record import Shape, SourceLocation
from gradtape.explain.source.files import source_of
from gradtape.watching.record import (
    CONSTANT,
    CutRecord,
    KeptValue,
    LeafRecord,
    OperandSpec,
    OperationRecord,
    Replay,
    ResultRecord,
    WatchedRecord,
)
from gradtape.watching.recorder import BYTES_HELD_AT_MOST, Entry, Recorder
from gradtape.watching.torch.replay import array_of_tensor

PLAIN_TYPES = {torch.Tensor, torch.nn.Parameter}
if hasattr(torch.nn, "Buffer"):
    PLAIN_TYPES.add(torch.nn.Buffer)
CUTS_HELD = 2048
CUTS_FOLLOWED = 16
SHARED_AT_MOST = 256
COPIED_AT_MOST = 1 << 22  # bytes of one tensor
CONSTANTS_FOLLOWED = 40
WRITES_AT_MOST = 4096
_DTYPES: dict[Any, np.dtype[Any]] = {
    torch.float32: np.dtype(np.float32),
    torch.float64: np.dtype(np.float64),
    torch.float16: np.dtype(np.float16),
    torch.bfloat16: np.dtype(np.float32),
    torch.int64: np.dtype(np.int64),
    torch.int32: np.dtype(np.int32),
    torch.int16: np.dtype(np.int16),
    torch.int8: np.dtype(np.int8),
    torch.uint8: np.dtype(np.uint8),
    torch.bool: np.dtype(bool),
    torch.complex64: np.dtype(np.complex64),
    torch.complex128: np.dtype(np.complex128),
}
_OTHER = np.dtype(np.float32)


def is_plain(value: Any) -> bool:
    """Whether a value is a tensor of PyTorch's own classes, in memory; no subclass, wrapper or fake."""
    return type(value) in PLAIN_TYPES


def node_of(tensor: Any) -> Any:
    """The `grad_fn` of a tensor; None of a leaf, and of a view that PyTorch refuses to differentiate."""
    try:
        return tensor.grad_fn
    except RuntimeError:  # "A view was created in no_grad mode and its base has been modified"
        return None


def is_leaf(tensor: Any) -> bool:
    """Whether a tensor requires a gradient and was not computed."""
    return bool(tensor.requires_grad) and node_of(tensor) is None


def version_of(tensor: Any) -> int:
    """The number of times that the memory of a tensor was written to."""
    return 0 if tensor.is_inference() else int(tensor._version)


class Write(NamedTuple):
    """A change of a tensor's memory."""

    order: int
    operation: str
    location: Location
    version: int
    is_silent: bool  # through .data or a NumPy array, which the version does not show


class KeptTensor:
    """A tensor's memory at one version; not a copy, so that it is known only until it is written to."""

    __slots__ = ("_recorder", "bare", "copy", "size", "version")

    def __init__(self, bare: Any, version: int, recorder: TorchRecorder) -> None:
        self.bare = bare
        self.version = version
        self.copy: Any = None  # of memory that a NumPy array shares, whose writes no version shows
        self.size = bare.numel() * bare.element_size()
        self._recorder = recorder
        recorder.bytes_held += self.size

    def __del__(self) -> None:
        self._recorder.bytes_held -= self.size if self.copy is None else 2 * self.size

    @property
    def is_current(self) -> bool:
        """Whether the memory still has the value."""
        bare = self.bare
        if not bare.is_inference() and bare._version != self.version:
            return False
        return bare.device.type != "cpu" or bare.untyped_storage().nbytes() >= self.size or not bare.numel()

    def array(self) -> Any:
        """The value; None if it was overwritten."""
        with torch._C.DisableTorchFunction():
            return array_of_tensor(self.bare) if self.is_current else None

    def take_copy(self) -> None:
        """Copy the value, to notice later if it was changed through a NumPy array."""
        if self.copy is None and self.is_current and self.size <= COPIED_AT_MOST:
            self.copy = self.bare.clone()
            self._recorder.bytes_held += self.size

    def was_changed_unnoticed(self) -> bool:
        """Whether the memory has another value than the copy, and no operation of PyTorch has written to it."""
        if self.copy is None or not self.is_current:
            return False
        before, now = array_of_tensor(self.copy), array_of_tensor(self.bare)
        return not np.array_equal(before, now, equal_nan=before.dtype.kind in "fc")


class FixedValue(NamedTuple):
    """A number that was given as an operand."""

    held: Any

    def array(self) -> Any:
        """The number."""
        return self.held


class TorchOperation(OperationRecord):
    """An operation that PyTorch executed; `node_name` is the class of its `grad_fn`, `func` the function itself."""

    node_name: str = ""
    func: Any = None
    depth: int = 0
    own_name: str = ""
    chosen_by: Sequence[WatchedRecord] = ()  # what the indices were computed from that it picks elements with
    saved_versions: Sequence[tuple[Any, int]] = ()


class Switch(NamedTuple):
    """Where the program switched gradients off: a place, or the function that a decorator stands above."""

    location: Location
    function: Any = None


class TorchCut(CutRecord):
    """A cut that also holds what it was cut from, for a while."""

    alias_of: weakref.ref[Any] | None = None
    operation_name: str = ""
    switched: Switch | None = None  # where gradients were switched off, for what was computed under no_grad


def _is_changed_cut(record: WatchedRecord) -> bool:
    """Whether a constant is what was taken off the graph, after functions of one operand: `x.detach().clamp(0, 1)`."""
    for _ in range(4):
        known = [parent for parent in record.parents if parent is not CONSTANT]
        if record.is_tracked or not record.operation or len(record.parents) != 1 or not known:
            return False
        if known[0].is_cut:
            return True
        record = known[0]
    return False


def _refers_to(entry: Entry, value: Any) -> bool:
    return entry.reference() is value


class CopiedLeaf(LeafRecord):
    """A leaf that was made of numbers which had left the graph: `torch.tensor(losses, requires_grad=True)`."""

    copied_from: WatchedRecord | None = None
    is_parameter = False  # whether it was made by nn.Parameter(...)

    def origins(self) -> Iterator[WatchedRecord]:
        """The cut."""
        return iter([] if self.copied_from is None else [self.copied_from])


class TorchRecorder(Recorder):
    """The records of the tensors of one program."""

    name = "torch"

    def __init__(self) -> None:
        super().__init__()
        self.bytes_held = 0
        self._held: deque[tuple[WatchedRecord, ...]] = deque(maxlen=CUTS_HELD)
        self._cuts: deque[TorchCut] = deque(maxlen=CUTS_FOLLOWED)
        self.writes: dict[int, deque[Write]] = {}
        self.written_from: dict[int, WatchedRecord] = {}  # by memory: the record of the last write to it
        self.made: dict[int, tuple[weakref.ref[Any], Location]] = {}
        self.shared: dict[int, Location] = {}  # by memory: where it became that of a NumPy array too

    # -- what the library answers

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a plain tensor."""
        return is_plain(value)

    def is_variable(self, value: Any) -> bool:
        """Whether a value is a parameter."""
        return type(value) is torch.nn.Parameter

    def is_tracked(self, value: Any) -> bool:
        """Whether a tensor requires a gradient."""
        return bool(value.requires_grad)

    def array_of(self, value: Any) -> Any:
        """The array of a tensor."""
        if not is_plain(value):
            return None
        with torch._C.DisableTorchFunction():
            return array_of_tensor(value)

    def spec_of(self, value: Any) -> tuple[Shape, np.dtype[Any]]:
        """Shape and dtype."""
        return tuple(value.shape), _DTYPES.get(value.dtype, _OTHER)

    def version_of(self, value: Any) -> int:
        """The version of its memory."""
        return version_of(value)

    def keep(self, value: Any) -> KeptValue | None:
        """The memory of a tensor, unless too much is held already."""
        if self.bytes_held > BYTES_HELD_AT_MOST or value.layout is not torch.strided or value.is_meta:
            return None
        kept = KeptTensor(value.detach(), version_of(value), self)
        if kept.size and value.device.type == "cpu" and not value.untyped_storage().resizable():
            kept.take_copy()  # NumPy has the memory too
        return kept

    def share(self, tensor: Any, location: Location) -> None:
        """The memory of a tensor is from now on that of a NumPy array as well."""
        key = storage_key(tensor)
        self.shared.pop(key, None)
        self.shared[key] = location
        while len(self.shared) > SHARED_AT_MOST:
            del self.shared[next(iter(self.shared))]
        pending: list[WatchedRecord | None] = [self.record_of(tensor)]
        seen: set[WatchedRecord] = set()
        while pending and len(seen) < 8:  # the tensor, and those that it is a detached alias of
            record = pending.pop()
            if record is None or record is CONSTANT or record in seen:
                continue
            seen.add(record)
            kept = record.kept
            if isinstance(kept, KeptTensor) and storage_key(kept.bare) == key:
                kept.take_copy()
                pending.extend(record.origins())

    # -- records of values

    def record_of(self, value: Any) -> WatchedRecord | None:
        """The record of what computed a tensor, or of the leaf that it is; None for all else."""
        if not is_plain(value):
            return None
        with torch._C.DisableTorchFunction():
            entry = self._entries.get(id(value))
            if entry is not None and _refers_to(entry, value):
                record = entry.record
                if entry.version == version_of(value) and record.is_tracked == value.requires_grad:
                    return record
                return self.note(value, self.rewritten(value, entry))
            return self.note(value, self.first_record(value)) if value.requires_grad else CONSTANT

    source_record_of = record_of

    def first_record(self, value: Any) -> WatchedRecord:
        """The record of a tracked tensor that is met for the first time: a leaf, or a result of what was not seen."""
        shape, dtype = self.spec_of(value)
        node = node_of(value)
        if node is None:
            place = self.made_at(value) or Location.here()
            origin = self._alias_of(value, place)
            if origin is not None:
                return self.copied_leaf(value, origin, origin.location)  # Variable(x.data, requires_grad=True)
            return LeafRecord(
                shape, dtype, place, self.keep(value), is_variable=self.is_variable(value), library=self.name
            )
        leaves = [self.record_of(leaf) for leaf in leaves_behind([node])[0]]
        parents = [leaf for leaf in leaves if leaf is not None]
        record = TorchOperation(
            type(node).__name__, "", {}, parents,
            [OperandSpec(parent.shape, parent.dtype, True) for parent in parents], [None] * len(parents),
            shape, dtype, Location(None, 0), kept=self.keep(value), library=self.name,
        )  # fmt: skip
        record.node_name = type(node).__name__
        return record

    def made_at(self, value: Any) -> Location | None:
        """Where a function of PyTorch made a tensor; None if that was not seen."""
        known = self.made.get(id(value))
        return known[1] if known is not None and known[0]() is value else None

    def copied_leaf(self, value: Any, cut: WatchedRecord, place: Any) -> CopiedLeaf:
        """The record of a leaf that has the numbers of what left the graph at `cut`."""
        shape, dtype = self.spec_of(value)
        leaf = CopiedLeaf(shape, dtype, place, self.keep(value), library=self.name)
        leaf.copied_from = cut
        return leaf

    def _alias_of(self, value: Any, made: Location) -> WatchedRecord | None:
        """The latest cut that has the memory of a leaf which is met for the first time, or is in its statement."""
        if not value.numel() or isinstance(value, torch.nn.Parameter):
            return None
        for cut in reversed(self._cuts):
            kept = cut.kept
            if isinstance(kept, KeptTensor) and kept.bare.data_ptr() == value.data_ptr() and cut.shape == value.shape:
                return cut
        for departure in reversed(self.departures):
            if departure.reason in (".numpy()", "np.asarray()") and is_same_statement(departure.location, made):
                return departure  # torch.from_numpy(f(x.detach().numpy())).requires_grad_()
        return None

    def rewritten(self, value: Any, entry: Entry) -> WatchedRecord:
        """The record of a tensor that was written to, or whose requires_grad was changed, since `entry`."""
        node = node_of(value)
        if node is None:
            if not value.requires_grad:
                return CONSTANT
            shape, dtype = self.spec_of(value)
            if entry.record.is_cut or _is_changed_cut(entry.record):
                return self.copied_leaf(value, entry.record, entry.record.location)  # x.detach().requires_grad_()
            place = entry.record.location if isinstance(entry.record, LeafRecord) else Location.here()
            return LeafRecord(
                shape, dtype, place, self.keep(value), is_variable=self.is_variable(value), library=self.name
            )
        write = self.last_write(value)
        others = self.written_from.get(storage_key(value))
        parents = [entry.record, *([] if others is None else [others])]
        return self.overwritten(value, parents, entry.record.location if write is None else write.location)

    def overwritten(self, value: Any, parents: list[WatchedRecord], location: Any) -> TorchOperation:
        """The record of a computed tensor that was written to: `parents` are what it was before, and what it got."""
        shape, dtype = self.spec_of(value)
        specs = [OperandSpec(shape, dtype, parents[0].is_tracked)]
        specs += [OperandSpec(parent.shape, parent.dtype, parent.is_tracked) for parent in parents[1:]]
        record = TorchOperation(
            "setitem", "linear", {}, parents, specs, [None] * len(parents), shape, dtype, location,
            kept=self.keep(value), library=self.name,
        )  # fmt: skip
        node = node_of(value)
        if node is not None:
            record.node_name = type(node).__name__
        return record

    def operation(
        self,
        name: str,
        kind: str,
        params: dict[str, Any],
        operands: Sequence[Any],
        result: Any,
        location: Location,
        replay: Replay | None,
    ) -> TorchOperation:
        """The record of an operation on `operands`, tensors and numbers, with one tensor for its result."""
        parents: list[WatchedRecord] = []
        specs: list[OperandSpec] = []
        inputs: list[KeptValue | None] = []
        operand: Any
        for operand in operands:
            record = self.record_of(operand)
            if record is None:
                parents.append(CONSTANT)
                specs.append(OperandSpec((), np.dtype(type(operand)), False))
                inputs.append(FixedValue(np.asarray(operand)))
                continue
            parents.append(record)
            shape, dtype = self.spec_of(operand)
            specs.append(OperandSpec(shape, dtype, bool(operand.requires_grad)))
            kept: Any = record.kept if record is not CONSTANT else None
            if isinstance(kept, KeptTensor) and kept.was_changed_unnoticed():
                kept = None  # a NumPy array was written to before this operation
            reusable = isinstance(kept, KeptTensor) and kept.version == version_of(operand) and record.shape == shape
            inputs.append(kept if reusable else self.keep(operand))
        shape, dtype = self.spec_of(result)
        made = TorchOperation(
            name, kind, params, parents, specs, inputs, shape, dtype, location, kept=self.keep(result), replay=replay,
            library=self.name, is_tracked=bool(result.requires_grad),
        )  # fmt: skip
        node = node_of(result)
        if node is not None:
            made.node_name = type(node).__name__
        return made

    def untracked(self, record: TorchOperation) -> WatchedRecord:
        """The record of an operation on constants; a constant without a history where that is long."""
        known = [parent for parent in record.parents if parent is not CONSTANT]
        depth = 1 + max((getattr(parent, "depth", 0) for parent in known), default=0)
        record.depth = depth
        if depth > CONSTANTS_FOLLOWED:
            record.parents = [parent if parent.is_cut else CONSTANT for parent in record.parents]
            record.inputs = [None] * len(record.parents)
            record.depth = 0
        record.requires_grad = False
        return record

    def results(self, whole: TorchOperation, tensors: Sequence[Any]) -> None:
        """Note the tensors of an operation that has several."""
        whole.has_several_results = True
        for part, tensor in enumerate(tensors):
            if is_plain(tensor) and tensor.requires_grad:
                shape, dtype = self.spec_of(tensor)
                self.note(tensor, ResultRecord(whole, part, shape, dtype, self.keep(tensor)))

    def cut_from(self, reason: str, sources: Sequence[WatchedRecord], result: Any, place: Location) -> TorchCut:
        """A cut whose origins are held until some gradients later."""
        shape, dtype = self.spec_of(result)
        origins = [source for source in sources if source is not CONSTANT]
        found = TorchCut(reason, shape, dtype, place, origins)
        found.kept = self.keep(result)
        found.library = self.name
        self.hold(origins)
        self.note(result, found)
        self._cuts.append(found)
        return found

    def hold(self, records: Sequence[WatchedRecord]) -> None:
        """Hold records for a while that the graph of the library does not hold."""
        if records:
            self._held.append(tuple(records))

    # -- writes

    def note_write(self, tensor: Any, operation: str, location: Location, is_silent: bool = False) -> None:
        """Remember who wrote to the memory of a tensor."""
        key = storage_key(tensor)
        if key not in self.writes and len(self.writes) >= WRITES_AT_MOST:
            del self.writes[next(iter(self.writes))]
        order = WatchedRecord((), _OTHER).order
        self.writes.setdefault(key, deque(maxlen=8)).append(
            Write(order, operation, location, version_of(tensor), is_silent)
        )

    def version_seen(self, tensor: Any) -> int:
        """The version that the record of a tensor describes; -1 if it has none."""
        entry = self._entries.get(id(tensor))
        return entry.version if entry is not None and entry.reference() is tensor else -1

    def last_write(self, tensor: Any) -> Write | None:
        """The latest write to the memory of a tensor."""
        known = self.writes.get(storage_key(tensor))
        return known[-1] if known else None

    def last_write_of_program(self, tensor: Any) -> Write | None:
        """The latest write to the memory of a tensor that is not the step of an optimiser."""
        known = self.writes.get(storage_key(tensor), ())
        steps = {(write.location.code, write.location.offset) for write in known if write.operation.endswith(".step")}
        return next(
            (write for write in reversed(known) if (write.location.code, write.location.offset) not in steps), None
        )

    def forget(self) -> None:
        """Release all records."""
        super().forget()
        self._held.clear()
        self._cuts.clear()
        self.shared.clear()
        self.writes.clear()
        self.written_from.clear()


def is_same_statement(one: SourceLocation, other: SourceLocation) -> bool:
    """Whether two places are in one statement of the user's."""
    if one.code is not other.code:
        return False
    source = source_of(one.file)
    nodes = source.find(one), source.find(other)
    return None not in nodes and source.statement(nodes[0]) is source.statement(nodes[1])  # type: ignore[arg-type]


def storage_key(tensor: Any) -> int:
    """A number for the memory of a tensor, which its views share."""
    if tensor.layout is not torch.strided:
        return id(tensor)
    return int(tensor.untyped_storage().data_ptr())


NODES_AT_MOST = 50_000


def leaves_behind(nodes: Sequence[Any]) -> tuple[list[Any], bool]:
    """The leaves that gradients of these nodes of the library's graph are accumulated in; whether all were visited."""
    found: dict[int, Any] = {}
    seen: set[Any] = set()
    pending = [node for node in nodes if node is not None]
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if len(seen) > NODES_AT_MOST:
            return list(found.values()), False
        if type(node).__name__ == "AccumulateGrad":
            found[id(node.variable)] = node.variable
        pending.extend(after for after, _ in node.next_functions if after is not None)
    return list(found.values()), True
