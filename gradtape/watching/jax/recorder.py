"""The operations that a function of the user's executes while JAX traces it, as records.

JAX calls the function that `jax.grad` or `jax.jit` is given with tracers. A `Session` is one such call: it records the
operations on the tracers of that call, in the thread that makes it. Under `jax.grad` the tracers hold values. Under
`jax.jit` they do not: a `Program` keeps what was traced, and evaluates it with the arguments of a call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import numpy as np

from gradtape.core.location import Location
from gradtape.watching.jax.evaluate import HasEffects, as_array, evaluate
from gradtape.watching.jax.loops import BODIES, Body, SpoiledConstant
from gradtape.watching.jax.losses import judge_loss_input
from gradtape.watching.jax.operations import CONSTANT as WITHOUT_DERIVATIVE
from gradtape.watching.jax.operations import Operation, called_jaxpr, describe
from gradtape.watching.jax.replay import replay_of
from gradtape.watching.jax.values import (
    HeldValue,
    IndexParams,
    ProgramValue,
    SlotValue,
    Tracer,
    bytes_of,
    dtype_of,
    is_concrete,
    shape_of,
    trace_key,
)
from gradtape.watching.judge import judge_broadcast
from gradtape.watching.record import (
    CONSTANT,
    CutRecord,
    JoinedCuts,
    KeptValue,
    LeafRecord,
    OperandSpec,
    OperationRecord,
    ResultRecord,
    WatchedRecord,
)
from gradtape.watching.recorder import BYTES_HELD_AT_MOST, Recorder


class CustomCall(NamedTuple):
    """A call of a function with a rule of its own, `jax.custom_vjp` or `jax.custom_jvp`."""

    function: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


class RuleUse(NamedTuple):
    """A call of a function with a rule of its own, how its operands are read, and where it is in the user's code."""

    call: CustomCall
    operands: Sequence[KeptValue | None]
    location: Location


class _Local(threading.local):
    """What is being traced in this thread."""

    def __init__(self) -> None:
        self.sessions: dict[int, Session] = {}
        self.order: list[Session] = []
        self.customs: list[CustomCall] = []
        self.calls: list[Any] = []
        self.is_judging = False
        self.gradients: Sequence[Any] = ()  # the latest, until updates are applied
        self.updates: tuple[Any, Any] = ((), ())  # the latest gradients that an optimiser was given, and its updates
        self.depth = 0  # of operations on recorded tracers that are being executed


local = _Local()


class Session:
    """The records of one traced call of a function."""

    is_program = False

    def __init__(self, trace: Any, location: Location) -> None:
        self.trace = trace
        self.location = location
        self.outer: Session | None = local.order[-1] if local.order else None
        self.entries: dict[int, tuple[Any, WatchedRecord]] = {}  # holds the tracer, so that its id stays
        self.leaves: list[LeafRecord] = []
        self.cuts: list[WatchedRecord] = []
        self.records: list[WatchedRecord] = []
        self.muted = 0
        self.depth = 0  # of operations on tracers of this session that are being executed
        self.bytes_held = 0
        self.rules: list[RuleUse] = []
        self.bodies: dict[WatchedRecord, Body] = {}
        self.spoiled: list[SpoiledConstant] = []

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Inside, the operations on tracers of this session are recorded."""
        key = trace_key(self.trace)
        before = local.sessions.get(key)
        local.sessions[key] = self
        local.order.append(self)
        try:
            yield
        finally:
            local.order.remove(self)
            if before is None:
                del local.sessions[key]
            else:
                local.sessions[key] = before

    # -- values

    def kept_of(self, value: Any) -> KeptValue | None:
        """How the value of an operand can be read; None if it cannot."""
        known = self.find(value)
        if known is not None and known.kept is not None:
            return known.kept
        if is_concrete(value):
            return self.hold(value)
        primal = getattr(value, "primal", None)
        if primal is not None and primal is not value:
            return self.kept_of(primal)
        return None if self.outer is None else self.outer.kept_of(value)

    def hold(self, value: Any) -> KeptValue | None:
        """A concrete value, unless too much is held already."""
        size = bytes_of(value)
        if self.bytes_held + size > BYTES_HELD_AT_MOST:
            return None
        self.bytes_held += size
        return HeldValue(value)

    # -- records

    def find(self, value: Any) -> WatchedRecord | None:
        """The record of a tracer, or of an array that came out of a recorded operation, in this session."""
        entry = self.entries.get(id(value))
        return entry[1] if entry is not None and entry[0] is value else None

    def note(self, value: Any, record: WatchedRecord) -> None:
        """Remember the record of a value."""
        self.entries[id(value)] = (value, record)

    def parent_of(self, value: Any) -> WatchedRecord:
        """The record of an operand; `CONSTANT` for what this session did not compute."""
        return self.find(value) or CONSTANT

    def add_leaf(self, value: Any, name: str, is_tracked: bool) -> LeafRecord:
        """The record of an argument of the function."""
        kept = self.kept_of(value)
        leaf = LeafRecord(shape_of(value), dtype_of(value), self.location, kept, is_tracked=is_tracked, library="jax")
        leaf.name, leaf.params = name, {"name": name}
        self.note(value, leaf)
        self.leaves.append(leaf)
        return leaf

    def record(self, primitive: Any, args: Sequence[Any], params: Mapping[str, Any], results: Sequence[Any]) -> None:
        """Record an operation that was executed."""
        if not results:
            return
        jaxpr = called_jaxpr(primitive.name, params)
        custom = local.customs[-1] if primitive.name.startswith("custom_") and local.customs else None
        if self._is_alias(primitive, jaxpr, args, results):
            for result, source in zip(results, self._sources(jaxpr, args)):
                if (known := self.find(source)) is not None:
                    self.note(result, known)
            return
        operation = describe(primitive.name, params, [shape_of(x) for x in args], shape_of(results[0]), jaxpr)
        if custom is not None:
            operation = _describe_custom(custom)
            function, args = custom.function, [x for x in args if hasattr(x, "shape")]
            replay = replay_of(lambda *given: function(*_restored(custom, given)), len(results) > 1)
        else:
            replay = replay_of(lambda *given: primitive.bind(*given, **params), primitive.multiple_results)
        order = operation.order or range(len(args))
        operands = [args[index] for index in order]
        if operation.order is not None:
            inverse = [operation.order.index(index) for index in range(len(args))]
            replay = replay.reordered(inverse)
        if operation.name == "take_along_axis":
            operation = self._described_pick(operation, operands)
        if primitive.name == "integer_pow":
            operands, replay = [*operands, params["y"]], replay.with_constants(1)
        made = self.add(operation, operands, results, replay, custom)
        if primitive.name in BODIES:
            self.bodies[made] = Body(primitive, params)

    def _described_pick(self, operation: Operation, operands: Sequence[Any]) -> Operation:
        """`x[np.arange(n)[:, None], labels]` for `take_along_axis(x, labels, axis=1)` with labels of shape (n, 1)."""
        rows = shape_of(operands[0])
        if len(operands) != 2 or len(rows) != 2 or shape_of(operands[1]) != (rows[0], 1):
            return operation
        parts = [np.arange(rows[0])[:, None], operands[1]]
        return Operation("getitem", "linear", IndexParams(parts, {1: self.kept_of(operands[1])}))

    def add(
        self,
        operation: Operation,
        operands: Sequence[Any],
        results: Sequence[Any],
        replay: Any,
        custom: CustomCall | None = None,
        location: Location | None = None,
    ) -> WatchedRecord:
        """Record an operation with these operands, in gradtape's order, and judge how it broadcast them."""
        location = Location.here() if location is None else location
        parents = [self.parent_of(operand) for operand in operands]
        is_tracked = any(parent.is_tracked for parent in parents)
        first = results[0]
        shape, dtype = shape_of(first), dtype_of(first)
        is_cut = is_tracked and not self.is_program and self._is_cut(operation, results)
        cuts = [parent for parent in parents if parent.is_cut]
        if is_cut or (cuts and not is_tracked):
            return self.add_cut(operation, parents, cuts if not is_tracked else [], results, location)
        whole = OperationRecord(
            operation.name,
            operation.kind,
            operation.params,
            [parent if parent.is_tracked or parent.is_cut or self.is_program else CONSTANT for parent in parents],
            [OperandSpec(shape_of(x), dtype_of(x), p.is_tracked) for x, p in zip(operands, parents)],
            [self.kept_of(operand) for operand in operands],
            shape,
            dtype,
            location,
            replay=replay.as_replay() if replay is not None else None,
            library="jax",
            is_tracked=is_tracked,
            is_differentiable=operation.name not in WITHOUT_DERIVATIVE,
        )
        if custom is not None:
            self.rules.append(RuleUse(custom, [self.kept_of(operand) for operand in operands], location))
        self.records.append(whole)
        if len(results) == 1:
            whole.kept = self.kept_of_result(first)
            self.note(first, whole)
        else:
            whole.has_several_results = True
            for part, result in enumerate(results):
                made = ResultRecord(whole, part, shape_of(result), dtype_of(result), self.kept_of_result(result))
                self.note(result, made)
                self.records.append(made)
        if operation.name in ("log_softmax", "softmax", "logsumexp", "log_sigmoid", "log"):
            judge_loss_input(whole, operands[0])
        if len(operands) == 2 and operation.kind == "elementwise":
            judge_broadcast(whole, operands, (shape_of(operands[0]), shape_of(operands[1])))
        return whole

    def kept_of_result(self, result: Any) -> KeptValue | None:
        """How the value of a result can be read."""
        return self.kept_of(result)

    def _is_cut(self, operation: Operation, results: Sequence[Any]) -> bool:
        """Whether no gradient can flow through an operation on tracked values."""
        if operation.name in WITHOUT_DERIVATIVE or all(dtype_of(result).kind in "iub" for result in results):
            return True
        return not any(isinstance(r, Tracer) and trace_key(r._trace) == trace_key(self.trace) for r in results)

    def add_cut(
        self,
        operation: Operation,
        parents: Sequence[WatchedRecord],
        cuts: Sequence[WatchedRecord],
        results: Sequence[Any],
        location: Location,
    ) -> WatchedRecord:
        """Record that no gradient comes back through an operation, or that it was computed from such `cuts` only."""
        shape, dtype = shape_of(results[0]), dtype_of(results[0])
        record: WatchedRecord
        if len(cuts) == 1:
            record = cuts[0]
        elif cuts:
            record = JoinedCuts(shape, dtype, location, cuts)
        else:
            to_integer = operation.name == "astype"
            reason = "a cast to integer or bool" if to_integer else operation.name
            record = CutRecord(reason, shape, dtype, location, [p for p in parents if p is not CONSTANT])
            record.library = "jax"
            self.cuts.append(record)
        for result in results:
            self.note(result, record)
        return record

    @staticmethod
    def _is_alias(primitive: Any, jaxpr: Any, args: Sequence[Any], results: Sequence[Any]) -> bool:
        """Whether nothing was computed: a conversion to the dtype that is there, or a call without equations."""
        if primitive.name == "convert_element_type":
            return dtype_of(args[0]) == dtype_of(results[0])
        if primitive.name in ("copy", "copy_p", "name"):
            return True
        return jaxpr is not None and not getattr(jaxpr, "jaxpr", jaxpr).eqns

    @staticmethod
    def _sources(jaxpr: Any, args: Sequence[Any]) -> list[Any]:
        """The operand that each result of a call without equations is."""
        if jaxpr is None:
            return [args[0]]
        inner = getattr(jaxpr, "jaxpr", jaxpr)
        index = {variable: i for i, variable in enumerate(inner.invars)}
        return [args[index[v]] if not hasattr(v, "val") and v in index else None for v in inner.outvars]


def _describe_custom(custom: CustomCall) -> Operation:
    function = getattr(custom.function, "fun", custom.function)
    name = getattr(function, "__name__", "custom")
    module = getattr(function, "__module__", "") or ""
    if module.startswith("jax."):
        from gradtape.watching.jax.operations import function_name, kind_of

        return Operation(function_name(name), kind_of(function_name(name)), {})
    return Operation(name, "custom", {})


def _restored(custom: CustomCall, given: Sequence[Any]) -> list[Any]:
    """The arguments of a call of a custom function with the arrays in them replaced by those in `given`."""
    leaves, tree = jax.tree_util.tree_flatten(custom.args)
    fresh = iter(given)
    return list(tree.unflatten([next(fresh, leaf) if hasattr(leaf, "shape") else leaf for leaf in leaves]))


class Step(NamedTuple):
    """An operation of a program: how it is evaluated, from which slots or constants, and into which slots."""

    compute: Callable[[Sequence[Any]], list[Any]]
    inputs: Sequence[tuple[int, Any]]  # a slot, or -1 and how a constant is read
    outputs: Sequence[int]


class Program(Session):
    """What was traced of a function under `jax.jit`, to be evaluated with the arguments of a call."""

    is_program = True

    def __init__(self, trace: Any, location: Location) -> None:
        super().__init__(trace, location)
        self.steps: list[Step] = []
        self.slots: dict[int, int] = {}
        self.values: dict[int, Any] = {}
        self.given: dict[int, Any] = {}  # the arguments of the call that is evaluated, by their slots
        self.arguments: list[int | None] = []  # the slot of each leaf of the arguments, None for those that are static
        self.outputs: list[WatchedRecord | None] = []  # the record of each leaf of what the function returned
        self.pending: list[Any] = []  # gradients that were taken inside
        self.nested: list[Evaluation] = []  # programs that were called inside
        self.slot_of_record: dict[WatchedRecord, int] = {}
        self.size = 0  # how many bytes the results of all operations take
        self.was_broken = False

    def slot_of(self, value: Any) -> int:
        """The slot of a tracer, a new one if it has none."""
        self.note(value, self.find(value) or CONSTANT)  # holds the tracer
        return self.slots.setdefault(id(value), len(self.slots))

    def kept_of(self, value: Any) -> KeptValue | None:
        """How a value is read: from an evaluation, if it is a tracer of this program."""
        if id(value) in self.slots and id(value) in self.entries and self.entries[id(value)][0] is value:
            return ProgramValue(self, self.slots[id(value)])
        return super().kept_of(value)

    def add_leaf(self, value: Any, name: str, is_tracked: bool) -> LeafRecord:
        """The record of an argument, which has a slot."""
        self.arguments.append(self.slot_of(value))
        return super().add_leaf(value, name, is_tracked)

    def record(self, primitive: Any, args: Sequence[Any], params: Mapping[str, Any], results: Sequence[Any]) -> None:
        """Record an operation, and how it is evaluated."""
        custom = local.customs[-1] if primitive.name.startswith("custom_") and local.customs else None
        if custom is not None:

            def compute(values: Sequence[Any]) -> list[Any]:
                leaves = jax.tree_util.tree_leaves(custom.function(*_restored(custom, values)))
                return [as_array(leaf) for leaf in leaves]

        else:

            def compute(values: Sequence[Any]) -> list[Any]:
                return evaluate(primitive, params, values)

        self.add_step(compute, args, results)
        super().record(primitive, args, params, results)

    def add_step(
        self, compute: Callable[[Sequence[Any]], list[Any]], args: Sequence[Any], results: Sequence[Any]
    ) -> None:
        """Keep how an operation is evaluated."""
        inputs: list[tuple[int, Any]] = []
        for value in args:
            if id(value) in self.slots:
                inputs.append((self.slots[id(value)], None))
            else:
                inputs.append((-1, self.kept_of(value)))
        self.steps.append(Step(compute, inputs, [self.slot_of(result) for result in results]))

    def close(self, outputs: Sequence[Any]) -> None:
        """Keep what is needed to evaluate the program, and let go of JAX's tracers."""
        self.outputs = [self.find(output) for output in outputs]
        for key, (value, record) in self.entries.items():
            self.size += bytes_of(value)
            if key in self.slots and record is not CONSTANT:
                self.slot_of_record[record] = self.slots[key]
        self.entries.clear()
        self.slots.clear()
        self.trace = None
        self.outer = None

    @property
    def has_gradients(self) -> bool:
        """Whether a gradient is taken in it, or in a program that it calls."""
        return bool(self.pending) or any(inner.program.has_gradients for inner in self.nested)

    def evaluate(self, arguments: Sequence[Any]) -> None:
        """Compute all values, and those of the programs that are called inside, for the arguments of a call."""
        self.given = {slot: value for slot, value in zip(self.arguments, arguments) if slot is not None}
        self.values = self.evaluated(arguments)
        for inner in self.nested:
            inner.program.evaluate(inner.arguments())

    def all_pending(self) -> Iterator[Any]:
        """The gradients that are taken in it, and in the programs that it calls."""
        yield from self.pending
        for inner in self.nested:
            yield from inner.program.all_pending()

    def forget(self) -> None:
        """Let go of the values."""
        self.values, self.given = {}, {}
        for inner in self.nested:
            inner.program.forget()

    def evaluated(self, arguments: Sequence[Any]) -> dict[int, Any]:
        """The values of all slots for the leaves of the arguments of a call, as far as they can be computed."""
        values: dict[int, Any] = {}
        for slot, value in zip(self.arguments, arguments):
            is_there = value is not None and not (isinstance(value, jax.Array) and value.is_deleted())
            if slot is not None and is_there:
                values[slot] = as_array(value)
        for step in self.steps:
            inputs = [
                (kept.array() if kept is not None else None) if slot < 0 else values.get(slot)
                for slot, kept in step.inputs
            ]
            if any(value is None for value in inputs):
                continue
            try:
                values.update(zip(step.outputs, step.compute(inputs)))
            except HasEffects:
                continue
        return values


class Evaluation:
    """The values of a program that was called inside another session, computed when one of them is read."""

    def __init__(self, program: Program, given: Sequence[KeptValue | None]) -> None:
        self.program = program
        self.given = given
        self._values: dict[int, Any] = {}
        self._for: list[Any] | None = None

    def arguments(self) -> list[Any]:
        """The arguments of the call."""
        return [None if kept is None else kept.array() for kept in self.given]

    def get(self, slot: int) -> Any:
        """The value in a slot; None if it is not known."""
        arguments = self.arguments()
        if self._for is None or any(one is not other for one, other in zip(arguments, self._for)):
            self._for, self._values = arguments, self.program.evaluated(arguments)
        return self._values.get(slot)


class JaxRecorder(Recorder):
    """JAX's arrays and tracers, as explanations ask about them."""

    name = "jax"

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is an array or a tracer of JAX."""
        return isinstance(value, jax.Array | Tracer)

    def is_variable(self, value: Any) -> bool:
        """JAX has no variables."""
        return False

    def record_of(self, value: Any) -> WatchedRecord | None:
        """The record of a tracer in the sessions of this thread; `CONSTANT` for other arrays of JAX."""
        for session in reversed(local.order):
            if (found := session.find(value)) is not None:
                return found
        return CONSTANT if self.is_tensor(value) else None

    source_record_of = record_of

    def array_of(self, value: Any) -> Any:
        """The NumPy array of a concrete array."""
        return as_array(value) if isinstance(value, jax.Array) and not isinstance(value, Tracer) else None


__all__ = [
    "CustomCall",
    "Evaluation",
    "HeldValue",
    "IndexParams",
    "JaxRecorder",
    "Program",
    "Session",
    "SlotValue",
    "bytes_of",
    "dtype_of",
    "is_concrete",
    "local",
    "shape_of",
    "trace_key",
]
