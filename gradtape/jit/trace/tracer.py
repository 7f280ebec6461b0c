"""Tracing: an interpreter in the one door that writes down every operation, while it computes with the real values.

A traced tensor stands for a value of the program, and holds the array that it is in this call. So shapes and dtypes are
the kernels' own, and code that looks at a number (`if loss > 1.0`, `float(x)`, `x.numpy()`) gets it: what it saw is
written down as a guard, and a later call in which it would see something else is traced anew.

Tapes, `grad`, `vmap` and all other transforms run as ever in here, on top of this interpreter: what arrives is the
operations of the forward and the backward pass together.
"""

from __future__ import annotations

import functools
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradtape.core import graph, recording
from gradtape.core.graph import LIFTED_NODE, Node
from gradtape.core.location import Location
from gradtape.core.operation import Level, Lifted, Op, apply
from gradtape.core.rules import TABLE
from gradtape.core.shapes import Shape
from gradtape.core.tensor import Tensor, Variable
from gradtape.errors import TapeError
from gradtape.jit.errors import Unrollable, Untraceable, warn
from gradtape.jit.ir.locations import here
from gradtape.jit.ir.program import GUARD, LOOP, Constant, Instruction, Literal, Operand, Program, Value
from gradtape.jit.trace.loops.detect import FIRST_LOOK, Follower, Learning
from gradtape.jit.trace.loops.elide import REMEMBERED
from gradtape.jit.trace.loops.elide_op import Light
from gradtape.jit.trace.loops.template import NEVER, Row, Written
from gradtape.jit.trace.tracers import TraceTensor, TraceVariable, join

if TYPE_CHECKING:
    from gradtape.jit.passes.reroll.find import FoundLoops

NUMBERS = "fciub"
SMALL = 1 << 12  # bytes of a constant, up to which equal ones are one
TURN = 1e-3  # seconds after which other threads have theirs, if they draw: Python takes it away after 5 ms
LOOKED_AT_MOST = 32
"""How many numbers with fractions a function may look at: each of them has to be the same, to the last bit."""


under_way: ContextVar[TraceLevel | None] = ContextVar("gradtape trace", default=None)
"""The trace of the function that is running now."""


class Traits(NamedTuple):
    """What tracing wants to know of an operation."""

    custom: bool
    may_draw: bool  # random numbers, by a way that is not seen
    outputs: bool
    view: bool
    random: bool


_PLAIN = frozenset({int, float, bool, str, type(None)})  # parameters that are known as they are


class TraceLevel(Level):
    """One trace: the instructions so far, and where the values come from that are not arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs: list[Value] = []
        self.constants: list[Constant] = []
        self.instructions: list[Instruction] = []
        self._variables: dict[int, TraceVariable] = {}  # by the identity of those that they stand for
        self.open = True
        self.numpy = True  # whether the function was given arrays, and not tensors
        self.generators: dict[np.random.Generator, Any] = {}  # those that instructions draw from: their first states
        self.drew = False  # whether the function has drawn random numbers by another way
        self.is_beside_draws = False  # whether other threads draw meanwhile
        self.states: Callable[[], Any] = tuple  # the states of all generators within reach
        self._states: Any = ()
        self._count = 0
        self._traits: dict[Op, Traits] = {}
        self._relied_on: set[Value] = set()
        self._looked_at = 0  # how many of these are not whole numbers, nor yes or no
        self._small_constants: dict[Any, Value] = {}
        self._warned: set[str] = set()
        self.made: dict[int, Value] = {}  # what the nodes of the graph stand for, by their order
        self.searched = 0  # up to which instruction loops were looked for
        self.found: FoundLoops | None = None  # those that there were
        self.inner: TraceLevel | None = None  # while the body of a loop is traced: the trace that it goes to
        self.follower = Follower(self)
        self.row: Row | Learning | Light | None = None  # while a loop is followed: what the next operation should be
        self.remembered: deque[tuple[int, Written]] = deque(maxlen=REMEMBERED)  # the last operations, by their results
        self.look_at = FIRST_LOOK if type(self) is TraceLevel else NEVER  # how many values later loops are looked for

    # -- values

    def next_value(self, shape: Shape, dtype: np.dtype[Any]) -> Value:
        if self.row is not None:
            self.row.interrupt()
        elif self._count >= self.look_at:
            self.follower.look()
        count = self._count
        self._count = count + 1
        return Value(count, shape, dtype)

    def new_value(self, array: Any) -> Value:
        return self.next_value(array.shape, array.dtype)

    def new_input(self, array: Any, node: Node = LIFTED_NODE) -> TraceTensor:
        """A traced tensor for an array that a later call will bring another of."""
        value = self.new_value(array)
        self.inputs.append(value)
        return TraceTensor(array, value, self, node)

    def new_variable(self, variable: Variable) -> TraceVariable:
        """What stands for a Variable: the same, however often it is found, each time with an input of its own."""
        value = self.new_value(variable._array)
        self.inputs.append(value)
        if id(variable) not in self._variables:
            self._variables[id(variable)] = TraceVariable(variable, value, self)
        return self._variables[id(variable)]

    def constant(self, array: Any) -> Value:
        """The value of an array that was made while tracing: it will be the same in every run."""
        array = np.asarray(array)
        key = None
        if array.nbytes <= SMALL:
            key = array.shape, array.dtype.str, array.tobytes()
            if key in self._small_constants:
                return self._small_constants[key]
        value = self.new_value(array)
        self.constants.append(Constant(value, frozen_copy(array)))
        if key is not None:
            self._small_constants[key] = value
        return value

    def lift(self, x: Any) -> TraceTensor:
        """`x` as a traced tensor of this trace, on no tape."""
        if self.inner is not None:
            raise Unrollable("it changes a tensor from outside of the loop in place")
        if isinstance(x, TraceTensor) and x.level is self:
            return TraceTensor(x._array, x.traced, self)
        array = x._array if isinstance(x, Tensor) else np.asarray(x)
        return TraceTensor(array, self.constant(array), self)

    # -- operations

    def process(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if self.inner is not None:
            return self.inner.process(op, inputs, params)
        if not self.open:
            self.check_open(next(x for x in inputs if isinstance(x, TraceTensor)))
        traits = self._traits.get(op) or self._new_traits(op)
        if traits.custom:
            return self._through_rule(inputs)
        if graph.keeping.get():
            raise Untraceable("it looks for NaN with gt.check_numerics() inside; put that around the call")
        row, count = self.row, self._count
        if row is not None:
            row, self.row = row.before(), None
        operands: list[Operand] = []
        samples: list[Any] = []
        for x in inputs:
            if type(x) is TraceTensor and x.level is self:
                operands.append(x.traced)
                samples.append(x._array)
            elif type(x) is float or type(x) is int:
                operands.append(Literal(x))
                samples.append(x)
            else:
                x = self._stacked(x) if type(x) is list or type(x) is tuple else x
                operands.append(self._operand(x))
                samples.append(x._array if isinstance(x, Tensor) else x)
        effect = traits.random
        if params:
            params, drawn_from = self._static_params(params)
            effect = effect or drawn_from
        watched = traits.may_draw or self.is_beside_draws
        out = self._drawing(op, samples, params) if watched else _computed(op, samples, params)
        if traits.outputs:
            several = self._several(op, tuple(operands), params, tuple(out), inputs, effect)
            if row is not None:
                row.after(self.instructions[-1], count)
            return several
        value = self.next_value(out.shape, out.dtype)
        self.instructions.append(Instruction(op, tuple(operands), params, (value,), here(), effect))
        if row is not None:
            row.after(self.instructions[-1], count)
        tensor = TraceTensor(out, value, self)
        if traits.view and isinstance(inputs[0], TraceTensor):
            self.note_view(tensor, inputs[0])
        return tensor

    def written(self, op: Op, operands: tuple[Operand, ...], params: dict[str, Any], out: Any) -> TraceTensor:
        """An operation that was done already, written down; `out` is its result."""
        value = self.next_value(out.shape, out.dtype)
        self.instructions.append(Instruction(op, operands, params, (value,), here(2)))
        return TraceTensor(out, value, self)

    def _several(self, op: Op, operands: Any, params: Any, outs: Any, inputs: Any, effect: bool) -> Any:
        """The results of an operation that has several."""
        results = tuple([self.new_value(part) for part in outs])
        if op.name == "parts" and params["bounds"] is None:  # which is what the tapes want to know, and nobody else
            for index, value in enumerate(results):
                self.instructions.append(Instruction(TABLE["getitem"], operands, {"index": (index,)}, (value,), here()))
        else:
            self.instructions.append(Instruction(op, operands, params, results, here(), effect))
        tensors = tuple([TraceTensor(part, value, self) for part, value in zip(outs, results, strict=True)])
        if op.view and isinstance(inputs[0], TraceTensor):
            self.note_view(tensors[0], inputs[0])
        return tensors

    def _new_traits(self, op: Op) -> Traits:
        may_draw = not op.ufunc and op.kind in ("general", "constant")
        traits = Traits(op.kind == "custom", may_draw, op.outputs, op.view, op.name.startswith("random."))
        self._traits[op] = traits
        return traits

    def _static_params(self, params: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """Parameters that are known, and whether a generator that is drawn from is among them."""
        drawn_from = False
        changed: dict[str, Any] | None = None
        for name, value in params.items():
            if type(value) in _PLAIN:
                continue
            if isinstance(value, np.random.Generator):
                self.generators.setdefault(value, value.bit_generator.state)
                drawn_from = True
            elif (known := self._static(value)) is not value:
                changed = changed or dict(params)
                changed[name] = known
        return changed or params, drawn_from

    @contextmanager
    def under_way(self, contract: Callable[..., Any]) -> Iterator[None]:
        """While the function runs: loops know that they are traced, and walks back are made shorter by `contract`."""
        token, shorter = under_way.set(self), graph.shortening.set(functools.partial(contract, self))
        try:
            yield
        finally:
            under_way.reset(token)
            graph.shortening.reset(shorter)

    def watch_generators(self, states: Callable[[], Any]) -> None:
        """From now on, notice whether random numbers are drawn by anything but the kernels of operations."""
        self.states = states
        self._states = states()

    def expect_draws_of_others(self) -> None:
        """Notice what this thread draws, while other threads draw from the same generators.

        What they draw while an operation is computed is not noticed. They are given their turn then, before Python
        takes the turn away from this thread: so that they seldom have one while the function's own code runs.
        """
        self.is_beside_draws, self._turn = True, 0.0
        self.look_at = NEVER  # each operation of a loop is computed by itself

    def _drawing(self, op: Op, samples: list[Any], params: dict[str, Any]) -> Any:
        self.note_draws()
        try:
            return _computed(op, samples, params)
        finally:
            if self.is_beside_draws and time.perf_counter() - self._turn > TURN:
                time.sleep(0)
                self._turn = time.perf_counter()
            self._states = self.states()  # what a kernel draws, it draws in every run

    def note_draws(self) -> None:
        """Remember whether random numbers were drawn since an operation was last run."""
        self.drew = self.drew or self.states() != self._states

    def _through_rule(self, inputs: tuple[Any, ...]) -> Any:
        """A custom rule's own function, traced; what it keeps for its derivative are traced tensors."""
        from gradtape.transforms.custom.arrays import is_recorded
        from gradtape.transforms.custom.rules import Kept, Memory

        *arrays, rule = inputs
        bare = [x._on(LIFTED_NODE) if isinstance(x, Lifted) else x for x in arrays]
        with recording.during(rule.state):  # what its tapes record cannot have come from the inputs
            results, kept = rule.run(bare)
            if any(is_recorded(x) for x in results):
                raise rule.call.closed_over()
        rule.memory = Memory(Kept(kept.saved, kept.form), ())
        return tuple([x if isinstance(x, Lifted) else self.lift(x) for x in results])

    def _stacked(self, x: Any) -> Any:
        if isinstance(x, list | tuple) and any(isinstance(part, TraceTensor) for part in x):
            return np.stack(x)
        return x

    def _operand(self, x: Any) -> Operand:
        if isinstance(x, TraceTensor) and x.level is self:
            operand: Operand = x.traced
            return operand
        if isinstance(x, Variable):
            which = f"the Variable {x.name}" if x.name else "a Variable"
            raise Untraceable(f"{which} is read by a way that jit could not find beforehand")
        if isinstance(x, Lifted) or (isinstance(x, Tensor) and x._node.bits & self.outer.bits):
            raise Untraceable("it reads a tensor that is recorded, or mapped over, outside of it")
        if isinstance(x, Tensor):
            return self.constant(x._array)
        if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in NUMBERS:
            return self.constant(x)
        return Literal(x)

    def _static(self, value: Any) -> Any:
        """A parameter of an operation, which has to be known: a tensor there is relied on."""
        if isinstance(value, TraceTensor):
            return np.array(value._concrete())
        if isinstance(value, tuple | list):
            for part in value:
                if type(part) not in _PLAIN and isinstance(part, TraceTensor):
                    return type(value)([self._static(each) for each in value])
        return value

    def note_view(self, result: TraceTensor, base: Any) -> None:
        """Views know each other: writing to one of them would have to change the others, and is not traced."""
        if not isinstance(result._array, np.ndarray) or not np.may_share_memory(result._array, base._array):
            return  # one number is no view
        family = getattr(base, "_views", None)
        if family is None:
            family = base._views = [weakref.ref(base)]
        base.viewed = True
        join(result, family)

    def rely_on(self, tensor: Any) -> Any:
        """The array of a traced tensor, and a guard that it is the same in later runs."""
        self.check_open(tensor)
        value, array = tensor.traced, np.asarray(tensor._array)
        if value not in self._relied_on:
            self._relied_on.add(value)
            self.follower.stop()
            self._looked_at += array.dtype.kind in "fc"
            if self._looked_at > LOOKED_AT_MOST:
                raise Untraceable(
                    f"it looks at more than {LOOKED_AT_MOST} numbers that it computes (by float(x), x.item() or "
                    "x.numpy()), and they would have to be the same to the last bit in another call. Compare tensors "
                    "(`if x > 1.0`, not `if float(x) > 1.0`), which looks at yes or no only, or use np.where"
                )
            expected = frozen_copy(array)
            self.instructions.append(Instruction(GUARD, (value,), {"expected": expected}, (), here(2), True))
        view = array.view()
        view.flags.writeable = False
        return view

    def check_open(self, tensor: Any) -> None:
        """Raise if the trace that `tensor` belongs to is over."""
        if not self.open:
            raise TapeError(
                f"a tensor of shape {tensor.traced.shape} was kept from inside a function that jit compiled, and used "
                f"after it.\n{Location.here().show()}\n"
                f"  it exists only while the function is traced; in later calls nothing would be stored there\n"
                f"  fix: return it from the function, and keep what the call returns"
            )

    def warn_once(self, topic: str, message: str) -> None:
        if topic not in self._warned:
            self._warned.add(topic)
            warn(message)

    def finish(self, outputs: Sequence[Value]) -> Program:
        """The program, now that the function has returned."""
        self.follower.finish()
        self.open = False
        return Program(tuple(self.inputs), tuple(self.constants), tuple(self.instructions), tuple(outputs))


def _computed(op: Op, samples: list[Any], params: dict[str, Any]) -> Any:
    """What `op` makes of plain arrays and numbers."""
    try:
        if op is LOOP:  # once, here; whoever runs the program makes native code of it
            return params["loop"].sampler.call(*samples)
        return op.kernel(*samples, **params)
    except Exception:
        return apply(op, tuple(samples), params)  # which says what is wrong


def frozen_copy(array: Any) -> np.ndarray[Any, Any]:
    """A copy that nobody can write to; axes along which an array is only repeated stay so."""
    array = np.asarray(array)
    if array.size > 1 and 0 in array.strides:
        index = tuple([slice(0, 1) if stride == 0 else slice(None) for stride in array.strides])
        return np.broadcast_to(array[index].copy(), array.shape)
    copy: np.ndarray[Any, Any] = array.copy()
    copy.flags.writeable = False
    return copy
