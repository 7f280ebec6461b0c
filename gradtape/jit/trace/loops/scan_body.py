"""Tracing of a loop body: `gt.scan` inside `jit`, and loops that the tracer emits itself.

The body is traced once, into a program of its own. It may read tensors from outside, on a tape or not. `BodyLevel`
collects these: they are loop-invariant inputs of the `Loop`, and inputs of the operation that the tapes record for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtape.core import recording
from gradtape.core.backprop import walk
from gradtape.core.forward import push_tangents
from gradtape.core.graph import AMBIENT, FLAGS, LIFTED, VARIABLE, Node
from gradtape.core.operation import Lifted, Op, apply, attach
from gradtape.core.pytree import leaves, rebuild
from gradtape.core.tape import GradientTape
from gradtape.core.tensor import Tensor, Variable
from gradtape.core.unshared import unshare, unshared
from gradtape.jit.errors import Unrollable, Untraceable
from gradtape.jit.ir.program import Operand, Program, Value
from gradtape.jit.trace.tracer import TracingLevel, current_trace
from gradtape.jit.trace.tracers import TraceTensor
from gradtape.jit.trace.unevaluated import LazySamples, UnevaluatedSample
from gradtape.loops import checks
from gradtape.transforms.custom.checkpoint import copy_to_new_node
from gradtape.transforms.implicit.outside_tape import off_tape

Function = Callable[..., Any]
Arrays = list[Any]


class BodyLevel(TracingLevel):
    """The trace of a loop body: a program whose inputs include the tensors that it reads from outside."""

    def __init__(self, outside: TracingLevel) -> None:
        with recording.during(_NOTHING):
            super().__init__()
        self.numpy = outside.numpy
        self.samples = LazySamples(self, outside.samples)
        self.recorded_outside: int = outside.outer.bits  # tapes that record around the compiled function
        if isinstance(outside, BodyLevel):
            self.recorded_outside |= outside.recorded_outside
        self.read: dict[tuple[Value | None, Node], tuple[Tensor, TraceTensor]] = {}

    def process(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Trace an operation of the body; raises `Unrollable` if the body draws random numbers."""
        if self.inner is None and (op.name.startswith("random.") or _holds_generator(params)):
            raise Unrollable("it draws random numbers")
        if op.kind == "custom":  # its rule gets tensors without nodes: register outside tensors before
            inputs = tuple([self.stand_in(x) if _is_from_outside(x, self) else x for x in inputs])
        return super().process(op, inputs, params)

    def register(self, values: Sequence[Any]) -> None:
        """Make tensors from outside inputs of the body, with their places on tapes."""
        for x in values:
            if _is_from_outside(x, self):
                self.stand_in(x)

    def stand_in(self, x: Tensor) -> TraceTensor:
        """The input of the body that stands for a tensor from outside: a tracer, or a constant that is on a tape."""
        key = x.traced if isinstance(x, TraceTensor) else None, x._node
        if key not in self.read:
            if x._node.bits & self.recorded_outside:
                raise Untraceable("it reads a tensor that is recorded, or mapped over, outside of it")
            self.read[key] = unshared(x) if _has_versions(x) else x, self.new_input(x._array)
        return self.read[key][1]

    def _operand(self, x: Any) -> Operand:
        if isinstance(x, TraceTensor):
            inside: Value = (x if x.level is self else self.stand_in(x)).traced
            return inside
        if isinstance(x, Lifted):
            raise Unrollable("it reads a tensor that is mapped over outside of it")
        if _is_from_outside(x, self):
            return self.stand_in(x).traced  # type: ignore[no-any-return]
        return super()._operand(x)

    def lift(self, x: Any) -> TraceTensor:
        """A value of the body; tensors of the outer trace become its invariants."""
        if isinstance(x, Lifted) and not isinstance(x, TraceTensor):
            raise Unrollable("it returns a tensor that is mapped over outside of it")
        return self.stand_in(x) if _is_from_outside(x, self) else super().lift(x)

    def rely_on(self, tensor: Any) -> Any:
        """Raise `Unrollable`: control flow that depends on a value may differ in each step."""
        raise Unrollable("it looks at a value, which may be another one in each step")


_NOTHING = recording.Recording((), ambient=False)


def _has_versions(x: Tensor) -> bool:
    """Whether a tensor may be written to after it was read, so that this version is kept; a parameter may not be."""
    return type(x) in (Tensor, TraceTensor) and not (x._node.op is None and x._node.bits & (AMBIENT | VARIABLE))


def _is_from_outside(x: Any, level: TracingLevel) -> bool:
    """Whether `x` is an input of the body: a tracer of another trace, or a tensor that is the same in every run.

    The latter is one if it is on a tape, which needs its gradient: an argument of `grad` that is a Python number.
    """
    if level.inner is not None or not isinstance(x, Tensor):
        return False
    if isinstance(x, Lifted):
        return isinstance(x, TraceTensor) and x.level is not level
    return not isinstance(x, Variable) and is_on_tape(x)


def _holds_generator(params: dict[str, Any]) -> bool:
    return any(isinstance(value, np.random.Generator) for value in params.values())


def level_of(values: Sequence[Any]) -> TracingLevel | None:
    """The innermost active trace of the tracers among `values`; None without tracers, or with another interpreter's."""
    found: TracingLevel | None = None
    for x in values:
        if isinstance(x, TraceTensor):
            level = x.level
            assert isinstance(level, TracingLevel)
            found = level if found is None or level.depth > found.depth else found
        elif isinstance(x, Lifted):
            return None
    while found is not None and found.inner is not None:
        found = found.inner
    return found


def current_level(values: Sequence[Any]) -> TracingLevel | None:
    """The innermost active trace of this thread; None if `values` belong to another interpreter, such as a batch."""
    if any(isinstance(x, Lifted) for x in values):
        return level_of(values)
    level = current_trace.get()
    while level is not None and level.inner is not None:
        level = level.inner
    return level


class TracedFunction:
    """A traced function of a flat list of tensors: its program, and the tensors that it reads from outside."""

    def __init__(self, level: TracingLevel, function: Callable[[list[Any]], list[Any]], samples: Arrays) -> None:
        inner = BodyLevel(level)
        given = [inner.new_input(x if type(x) is UnevaluatedSample else np.asarray(x)) for x in samples]
        level.detector.stop()
        before, level.inner = level.inner, inner
        try:
            with recording.during(recording.Recording((), ambient=False, interpreter=inner)):
                results = [inner.lift(x) for x in function(list(given))]
        finally:
            level.inner = before
            inner.open = False
            inner.forget_recent_ops()
        self.read = [outside for outside, _ in inner.read.values()]
        inputs = (*(x.traced for x in given), *(inside.traced for _, inside in inner.read.values()))
        outputs = tuple([x.traced for x in results])
        self.program = Program(inputs, tuple(inner.constants), tuple(inner.instructions), outputs)


class ScanBody:
    """The body of a scan as a function of flat lists: leaves of carry and row in, of new carry and result out."""

    def __init__(self, f: Function, carry: Any, xs: Any) -> None:
        self.f, self.carry, self.xs = f, carry, xs
        self.checked = checks.CheckedBody(f, carry)
        self.carried = [x for x in leaves(carry) if x is not None]
        self.rows = [x for x in leaves(xs) if x is not None]
        self.y: Any = None

    def __call__(self, given: list[Any]) -> tuple[list[Any], list[Any]]:
        count = len(self.carried)
        given = unshare(given)  # the step may write to them
        carry, x = fill(self.carry, given[:count]), fill(self.xs, given[count:])
        new, self.y = self.checked.step(carry, x, 0)
        return [part for part in leaves(new) if part is not None], [part for part in leaves(self.y) if part is not None]


def fill(tree: Any, arrays: Sequence[Any]) -> Any:
    """The structure with its leaves that are not None replaced by `arrays`."""
    supply = iter(arrays)
    return rebuild(tree, [None if leaf is None else next(supply) for leaf in leaves(tree)])


def is_differentiable(x: Any) -> bool:
    """Whether a value has a floating point dtype."""
    return bool(x.dtype.kind in "fc")


def is_on_tape(x: Any) -> bool:
    """Whether `x` may need a cotangent: a differentiable tensor on a tape, or a Variable."""
    return isinstance(x, Tensor) and is_differentiable(x) and x._node.bits > FLAGS


FlatBody = Callable[[list[Any]], tuple[list[Any], list[Any]]]
"""One iteration of a loop, from flat lists to a flat list of carried values and one of stacked ones."""


def pull_step(
    body: FlatBody, given: list[Any], read: Sequence[Any], cotangents: list[Any], again: bool
) -> tuple[list[Any], list[Any], list[Any]]:
    """One iteration forward and backward: the results, and the cotangents of `given` and of `read` (from outside).

    With `again`, the backward pass is differentiable.
    """
    tape = GradientTape(persistent=True, watch_accessed_variables=False)
    places = [tape.watch(copy_to_new_node(x)) if is_differentiable(x) else x for x in given]
    watched = [x._node for x in read]
    with _on_tape(tape, read):
        with tape:
            new, y = body(places)
        results = [*new, *y]
        seeds = [
            (x._node, g) for x, g in zip(results, cotangents, strict=True) if isinstance(x, Tensor) and g is not None
        ]
        sources = [x._node for x in places if is_differentiable(x)] + watched
        found = walk(seeds, tape.bit, sources=sources, boundary={*watched}, attach=attach if again else None)
    mine = [found.get(x._node) if is_differentiable(x) else None for x in places]
    return results, mine, [found.get(node) for node in watched]


def push_step(
    body: FlatBody, given: list[Any], moving: Sequence[Any], read: Sequence[Any], by_read: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """One iteration and its tangents: the results, and the tangents of the differentiable ones, zeros where none is.

    `moving` are the tangents of the differentiable ones of `given`, and `by_read` those of `read` (from outside).
    """
    tape = GradientTape(persistent=True, watch_accessed_variables=False)
    places = [tape.watch(copy_to_new_node(x)) if is_differentiable(x) else x for x in given]
    nodes = [x._node for x in read]
    with _on_tape(tape, read):
        with tape:
            new, y = body(places)
        results = [*new, *y]
        outs = [x for x in results if is_differentiable(x)]
        tangents = dict(zip([x._node for x in places if is_differentiable(x)], moving, strict=True))
        tangents |= dict(zip(nodes, by_read, strict=True))
        connected = [x._node for x in outs if isinstance(x, Tensor)]
        found = dict(zip(connected, push_tangents(connected, tangents, tape.bit, None), strict=True))
    pushed = [found.get(x._node) if isinstance(x, Tensor) else None for x in outs]
    zeros = [np.zeros(x.shape, x.dtype) if t is None else t for x, t in zip(outs, pushed, strict=True)]
    return [off_tape(x) for x in results], zeros


@contextmanager
def _on_tape(tape: GradientTape, read: Sequence[Any]) -> Iterator[None]:
    """Put the nodes of tensors from outside on a tape, while a body runs and is differentiated.

    Operations on those that are constants of the program are traced, so that other tapes see that the result depends
    on them.
    """
    watched = [x._node for x in read]
    traced = recording.current().interpreter is not None
    constants = [x._node for x in read if traced and not isinstance(x, Lifted) and not x._node.bits & LIFTED]
    for node in watched:
        node.bits |= tape.bit
    for node in constants:
        node.bits |= LIFTED
    try:
        yield
    finally:
        for node in watched:
            node.bits &= ~tape.bit
        for node in constants:
            node.bits &= ~LIFTED


def emit_op(level: TracingLevel, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    """Apply an operation in the trace, on no tape."""
    with recording.during(_NOTHING):
        return apply(op, tuple([level.lift(x) for x in operands]), params)
