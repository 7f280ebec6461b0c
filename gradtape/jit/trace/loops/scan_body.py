"""Loops inside `jit`: the body is traced once, and becomes a loop of the program; so does its walk back.

The body may read anything from outside, tracked or not. Such tensors are found while it is traced (`BodyLevel`): they
are inputs of the loop that are the same in all steps, and of the operation that the whole loop is to the tapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core import recording
from gradtape.core.graph import FLAGS, Node, walk
from gradtape.core.operation import Lifted, Op, apply, attach
from gradtape.core.pytree import leaves, rebuild
from gradtape.core.tape import GradientTape
from gradtape.core.tensor import Tensor
from gradtape.jit.errors import Unrollable
from gradtape.jit.ir.program import Operand, Program, Value
from gradtape.jit.trace.tracer import TraceLevel, under_way
from gradtape.jit.trace.tracers import TraceTensor
from gradtape.loops import checks
from gradtape.transforms.custom.checkpoint import another_place

Function = Callable[..., Any]
Arrays = list[Any]


class BodyLevel(TraceLevel):
    """The trace of a loop's body: a program of its own, whose inputs are also what it reads from outside."""

    def __init__(self, outside: TraceLevel) -> None:
        with recording.during(_NOTHING):
            super().__init__()
        self.numpy = outside.numpy
        self.read: dict[tuple[Value, Node], tuple[TraceTensor, TraceTensor]] = {}

    def process(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if self.inner is None and (op.name.startswith("random.") or _holds_generator(params)):
            raise Unrollable("it draws random numbers")
        if op.kind == "custom":  # its rule gets tensors without their places: those that have one are noted before
            inputs = tuple([self.stand_in(x) if _is_from_outside(x, self) else x for x in inputs])
        return super().process(op, inputs, params)

    def stand_in(self, x: TraceTensor) -> TraceTensor:
        """What stands for a tensor from outside in the body."""
        key = x.traced, x._node
        if key not in self.read:
            self.read[key] = x, self.new_input(x._array)
        return self.read[key][1]

    def _operand(self, x: Any) -> Operand:
        if isinstance(x, TraceTensor):
            inside: Value = (x if x.level is self else self.stand_in(x)).traced
            return inside
        if isinstance(x, Lifted):
            raise Unrollable("it reads a tensor that is mapped over outside of it")
        return super()._operand(x)

    def lift(self, x: Any) -> TraceTensor:
        if isinstance(x, TraceTensor) and x.level is not self and self.inner is None:
            return self.stand_in(x)
        return super().lift(x)

    def rely_on(self, tensor: Any) -> Any:
        raise Unrollable("it looks at a value, which may be another one in each step")


_NOTHING = recording.Recording((), ambient=False)


def _is_from_outside(x: Any, level: TraceLevel) -> bool:
    return level.inner is None and isinstance(x, TraceTensor) and x.level is not level


def _holds_generator(params: dict[str, Any]) -> bool:
    return any(isinstance(value, np.random.Generator) for value in params.values())


def level_of(values: Sequence[Any]) -> TraceLevel | None:
    """The trace that is under way, if there are values of one among these and of nothing else that interprets."""
    found: TraceLevel | None = None
    for x in values:
        if isinstance(x, TraceTensor):
            level = x.level
            assert isinstance(level, TraceLevel)
            found = level if found is None or level.depth > found.depth else found
        elif isinstance(x, Lifted):
            return None
    while found is not None and found.inner is not None:
        found = found.inner
    return found


def level_under_way(values: Sequence[Any]) -> TraceLevel | None:
    """The trace that is under way in this thread, known by `values` of it; None in a batch."""
    if any(isinstance(x, Lifted) for x in values):
        return level_of(values)
    level = under_way.get()
    while level is not None and level.inner is not None:
        level = level.inner
    return level


class Traced:
    """A function of flat lists of tensors, traced: its program, and what it reads from outside."""

    def __init__(self, level: TraceLevel, function: Callable[[list[Any]], list[Any]], samples: Arrays) -> None:
        inner = BodyLevel(level)
        given = [inner.new_input(np.asarray(sample)) for sample in samples]
        level.follower.stop()
        before, level.inner = level.inner, inner
        try:
            with recording.during(_NOTHING):
                results = [inner.lift(x) for x in function(list(given))]
        finally:
            level.inner = before
            inner.open = False
        self.read = [outside for outside, _ in inner.read.values()]
        inputs = (*(x.traced for x in given), *(inside.traced for _, inside in inner.read.values()))
        outputs = tuple([x.traced for x in results])
        self.program = Program(inputs, tuple(inner.constants), tuple(inner.instructions), outputs)


class Body:
    """A loop's body as a function of flat lists: the arrays of the carry and of a row in, those of both results out."""

    def __init__(self, f: Function, carry: Any, xs: Any) -> None:
        self.f, self.carry, self.xs = f, carry, xs
        self.checked = checks.Checked(f, carry)
        self.carried = [x for x in leaves(carry) if x is not None]
        self.rows = [x for x in leaves(xs) if x is not None]
        self.y: Any = None

    def __call__(self, given: list[Any]) -> tuple[list[Any], list[Any]]:
        count = len(self.carried)
        carry, x = filled(self.carry, given[:count]), filled(self.xs, given[count:])
        new, self.y = self.checked.step(carry, x, 0)
        return [part for part in leaves(new) if part is not None], [part for part in leaves(self.y) if part is not None]


def filled(tree: Any, arrays: Sequence[Any]) -> Any:
    """A structure with `arrays` in the place of all that is not None."""
    supply = iter(arrays)
    return rebuild(tree, [None if leaf is None else next(supply) for leaf in leaves(tree)])


def is_smooth(x: Any) -> bool:
    return bool(x.dtype.kind in "fc")


def is_on_tape(x: Any) -> bool:
    """Whether a tensor is on some tape, or a variable: whether it may want a cotangent."""
    return isinstance(x, Tensor) and is_smooth(x) and x._node.bits > FLAGS


def pulled(
    body: Body, given: list[Any], read: Sequence[Any], cotangents: list[Any], again: bool
) -> tuple[list[Any], list[Any], list[Any]]:
    """One step and its walk back: the results, and the cotangents of what is given and of what is read from outside.

    What is read is watched at its own place while the body runs. With `again`, the walk can be differentiated itself.
    """
    tape = GradientTape(persistent=True, watch_accessed_variables=False)
    places = [tape.watch(another_place(x)) if is_smooth(x) else x for x in given]
    watched = [x._node for x in read]
    for node in watched:
        node.bits |= tape.bit
    try:
        with tape:
            new, y = body(places)
        results = [*new, *y]
        seeds = [
            (x._node, g) for x, g in zip(results, cotangents, strict=True) if isinstance(x, Tensor) and g is not None
        ]
        sources = [x._node for x in places if is_smooth(x)] + watched
        found = walk(seeds, tape.bit, sources=sources, beginnings={*watched}, attach=attach if again else None)
    finally:
        for node in watched:
            node.bits &= ~tape.bit
    mine = [found.get(x._node) if is_smooth(x) else None for x in places]
    return results, mine, [found.get(node) for node in watched]


def emitted(level: TraceLevel, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    """An operation in the trace that is under way."""
    with recording.during(_NOTHING):
        return apply(op, tuple([level.lift(x) for x in operands]), params)
