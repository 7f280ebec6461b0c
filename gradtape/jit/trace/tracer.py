"""The tracing interpreter: `TracingLevel.process` computes each operation and records it as an `Instruction`.

A traced tensor stands for a value of the program and holds its array in this call. So shapes and dtypes come from the
kernels, and code that reads a number (`if loss > 1.0`, `float(x)`, `x.numpy()`) gets it; the value read is recorded as
a guard, and a later call in which it differs is traced again.

Tapes, `grad`, `vmap` and all other transforms run on top of this interpreter as they do without it: it receives the
operations of the forward and the backward pass alike.
"""

from __future__ import annotations

import functools
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np

from gradtape.core import backprop, recording
from gradtape.core.graph import FLAGS, LIFTED_NODE, UNTRACKED, Node
from gradtape.core.location import Location
from gradtape.core.operation import Level, Lifted, Op, apply
from gradtape.core.rules import TABLE
from gradtape.core.shapes import Shape
from gradtape.core.tensor import Tensor, Variable
from gradtape.errors import TapeError
from gradtape.explain import messages
from gradtape.jit.errors import Unrollable, Untraceable, warn
from gradtape.jit.ir.locations import here
from gradtape.jit.ir.program import (
    GUARD,
    NUMERIC_KINDS,
    SHARED_AT_MOST,
    Constant,
    Instruction,
    Literal,
    Operand,
    Program,
    Value,
    frozen_copy,
)
from gradtape.jit.trace.loops.detect import FIRST_SEARCH, LoopDetector, TemplateLearner
from gradtape.jit.trace.loops.elide import RECENT_OPS
from gradtape.jit.trace.loops.elide_op import ElidedOp
from gradtape.jit.trace.loops.template import MAX_ELIDED_BYTES, NEVER, OpTemplate, RecordedOp, without_views
from gradtape.jit.trace.sample_layouts import SHARING
from gradtape.jit.trace.tracers import TraceTensor, TraceVariable
from gradtape.jit.trace.unevaluated import LazySamples, UnevaluatedSample, evaluated
from gradtape.transforms.custom.arrays import is_recorded
from gradtape.transforms.custom.rules import CallMemory, KeptValues

if TYPE_CHECKING:
    from gradtape.jit.passes.reroll.find import FoundLoops

NEVER_DRAW = frozenset(
    {
        "solve",
        "inv",
        "det",
        "slogdet",
        "cofactor",
        "cholesky",
        "cholesky_gradient",
        "solve_triangular",
        "length",
        "max",
        "min",
    }
)
"""Operations of small arrays in loops, which draw nothing: to compare the states of generators takes longer."""
YIELD_INTERVAL = 1e-3  # seconds between yields to threads that draw random numbers; Python switches threads after 5 ms
YIELD_TIME = 5e-5  # seconds of a yield: after a shorter one this thread would go on before another has woken up
MAX_ELEMENT_GUARDS = 8
"""How many elements of an input of integers are guards of their own: if more are read, the whole array is one."""
RECENT_READS = 64
"""Among how many instructions that of an element is looked for."""
MAX_FLOAT_GUARDS = 32
"""How many floating-point values a function may read: each is a guard that must match to the last bit."""


current_trace: ContextVar[TracingLevel | None] = ContextVar("gradtape trace", default=None)
"""The trace of the function that runs now in this context."""


class OpTraits(NamedTuple):
    """Properties of an operation that tracing depends on."""

    custom: bool
    may_draw: bool  # whether its kernel may draw random numbers unseen
    outputs: bool
    view: bool
    random: bool
    takes_double: bool  # whether a np.float64 beside an array of these is the same as a Python number


ARITHMETIC = frozenset({"add", "subtract", "multiply", "divide"})
_DOUBLE = np.dtype(np.float64)
_PLAIN = frozenset({int, float, bool, str, type(None)})  # types of parameters that are static as they are


class TracingLevel(Level):
    """One trace: the instructions recorded so far, the inputs and the constants."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs: list[Value] = []
        self.constants: list[Constant] = []
        self.instructions: list[Instruction] = []
        self._variables: dict[int, TraceVariable] = {}  # by the id of the original Variable
        self.open = True
        self.numpy = True  # whether the arguments are arrays, not tensors
        self.generators: dict[np.random.Generator, Any] = {}  # generators that instructions draw from: initial states
        self.drawn_after: set[int] = set()  # numbers of the watched operations behind which random numbers were drawn
        self._watched = 0  # how many operations were watched so far
        self.is_beside_draws = False  # whether other threads may draw meanwhile
        self.states: Callable[[], Any] = tuple  # reads the states of all reachable generators
        self._states: Any = ()
        self._count = 0
        self._traits: dict[Op, OpTraits] = {}
        self._relied_on: set[Value] = set()
        self._float_guards = 0  # how many of these are floating-point
        self._given: dict[Value, Any] = {}  # the arrays of the inputs of integers
        self._elements_read: dict[Value, int] = {}  # how many elements of an input of integers were relied on
        self._small_constants: dict[Any, Value] = {}
        self._warned: set[str] = set()
        self.value_of_node: dict[int, Value] = {}  # values by the order of their graph node
        self.searched = 0  # instructions before this one were searched for loops
        self.loops: FoundLoops | None = None  # the loops found by backward passes
        self.inner: TracingLevel | None = None  # while a loop body is traced: the trace of that body
        self.samples = LazySamples(self)
        self.detector = LoopDetector(self)
        # in a detected loop: what the next operation should be
        self.expected: OpTemplate | TemplateLearner | ElidedOp | None = None
        # the last operations, each with the number of its result
        self.recent_ops: deque[tuple[int, RecordedOp]] = deque(maxlen=RECENT_OPS)
        # the result of the last one, if it was on the general path and `apply` is about to give it a node
        self.without_node: TraceTensor | None = None
        # at how many values the detector searches for a loop
        self.next_search = FIRST_SEARCH if type(self) is TracingLevel else NEVER

    # -- values

    def next_value(self, shape: Shape, dtype: np.dtype[Any]) -> Value:
        """A value with the next id; may start a search for loops, or stop eliding one."""
        if self.expected is not None:
            self.expected.on_new_value()
        elif self._count >= self.next_search:
            self.detector.search()
        count = self._count
        self._count = count + 1
        return Value(count, shape, dtype)

    def new_value(self, array: Any) -> Value:
        """A value of the shape and dtype of an array."""
        return self.next_value(array.shape, array.dtype)

    def new_input(self, array: Any, node: Node = LIFTED_NODE) -> TraceTensor:
        """A tracer for an array that is an input of the program."""
        value = self.new_value(array)
        self.inputs.append(value)
        self.samples.given[value] = array
        if value.dtype.kind in "iu":
            self._given[value] = array
        return TraceTensor(array, value, self, node)

    def new_variable(self, variable: Variable) -> TraceVariable:
        """The tracer of a Variable: one for each Variable; every occurrence adds an input of its own."""
        value = self.new_value(variable._array)
        self.inputs.append(value)
        self.samples.given[value] = variable._array
        if id(variable) not in self._variables:
            self._variables[id(variable)] = TraceVariable(variable, value, self)
        return self._variables[id(variable)]

    def constant(self, array: Any) -> Value:
        """The value of an array that does not depend on the inputs: the same in every run."""
        array = np.asarray(array)
        key = None
        if array.nbytes <= SHARED_AT_MOST:
            key = array.shape, array.dtype.str, array.tobytes()
            if key in self._small_constants:
                return self._small_constants[key]
        value = self.new_value(array)
        self.constants.append(Constant(value, frozen_copy(array)))
        if key is not None:
            self._small_constants[key] = value
        return value

    def find_constant(self, array: Any) -> Value | None:
        """The value of a small constant that has the same elements as an array, if there is one."""
        if type(array) is not np.ndarray or array.nbytes > SHARED_AT_MOST:
            return None
        return self._small_constants.get((array.shape, array.dtype.str, array.tobytes()))

    def lift(self, x: Any) -> TraceTensor:
        """`x` as a tracer of this trace, on no tape."""
        if self.inner is not None:
            raise Unrollable("it changes a tensor from outside of the loop in place")
        if isinstance(x, TraceTensor) and x.level is self:
            return TraceTensor(x._array, x.traced, self)
        array = evaluated(x._array) if isinstance(x, Tensor) else np.asarray(x)
        return TraceTensor(array, self.constant(array), self)

    # -- operations

    def process(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Run an operation on traced tensors and record its instruction."""
        if self.inner is not None:
            return self.inner.process(op, inputs, params)
        if not self.open:
            self.check_open(next(x for x in inputs if isinstance(x, TraceTensor)))
        traits = self._traits.get(op) or self._new_traits(op)
        if traits.custom:
            return self._trace_custom_rule(inputs)
        if backprop.keep_saved.get():
            raise Untraceable("it looks for NaN with gt.check_numerics() inside; put that around the call")
        expected, count = self.expected, self._count
        if expected is not None:
            expected, self.expected = expected.before_general_op(), None
        operands: list[Operand] = []
        samples: list[Any] = []
        if traits.takes_double:
            inputs = _with_literals(inputs)
        for x in inputs:
            if type(x) is TraceTensor and x.level is self:
                operands.append(x.traced)
                samples.append(x._array)
            elif type(x) is float or type(x) is int:
                operands.append(Literal(x))
                samples.append(x)
            else:
                x = self._stack_list(x) if type(x) is list or type(x) is tuple else x
                operands.append(self._operand(x))
                samples.append(x._array if isinstance(x, Tensor) else x)
        effect = traits.random
        if params:
            params, drawn_from = self._static_params(op, params)
            effect = effect or drawn_from
        out = None
        if self.samples.is_on and not effect and not self.is_beside_draws:
            out = self.samples.result(op, samples, params)
        if out is None:
            samples = [evaluated(sample) for sample in samples]
            watched = traits.may_draw or self.is_beside_draws
            out = self._compute_watching_draws(op, samples, params) if watched else _compute(op, samples, params)
        if traits.outputs:
            several = self._record_outputs(op, tuple(operands), params, tuple(out), inputs, effect)
            if effect or traits.may_draw:
                self._keep_samples(op, several)
            if expected is not None:
                expected.after_general_op(self.instructions[-1], count)
            return several
        value = self.next_value(out.shape, out.dtype)
        self.instructions.append(Instruction(op, tuple(operands), params, (value,), here(), effect))
        if expected is not None:
            expected.after_general_op(self.instructions[-1], count)
        result = TraceTensor(out, value, self)
        if type(out) is UnevaluatedSample:
            self.samples.bind(out, value)
        elif effect or traits.may_draw:
            self._keep_samples(op, (result,))
        if value.nbytes <= MAX_ELIDED_BYTES and not effect:
            self._note_recent(operands, inputs, samples, result)
        return result

    def _keep_samples(self, op: Op, results: Sequence[TraceTensor]) -> None:
        """Keep the results of an operation that gives others when it is computed again: it may draw random numbers."""
        is_pure = TABLE.get(op.name) is op or op.kind == "loop" or op in SHARING
        if self.samples.is_on and (not is_pure or op.name.startswith("random.")):
            self.samples.given.update({result.traced: result._array for result in results})

    def _note_recent(
        self, operands: Sequence[Operand], inputs: Sequence[Any], samples: Sequence[Any], out: Any
    ) -> None:
        """Keep an operation with its operands: it may be of the first iterations of a loop (see `loops.elide`).

        Large operands are kept alive by the trace only if they are its inputs: an operation on others is not elided.
        """
        tensors, nodes = [], []
        for operand, x, sample in zip(operands, inputs, samples, strict=True):
            if type(operand) is Value and operand.nbytes > MAX_ELIDED_BYTES and operand.id >= len(self.inputs):
                return
            if type(x) is TraceTensor and x.level is self:
                tensors.append(x)
                nodes.append(x._node)
            elif type(operand) is Value:
                tensors.append(TraceTensor(sample, operand, self))
                nodes.append(LIFTED_NODE)
            else:
                tensors.append(x)
                nodes.append(UNTRACKED)
        recorded = RecordedOp(without_views(tuple(tensors)), tuple(nodes), ref(out))
        self.recent_ops.append((out.traced.id, recorded))
        self.without_node = out if any(node.bits > FLAGS for node in nodes) else None

    def forget_recent_ops(self) -> None:
        """Release the tensors of the last operations: they refer to this trace and keep arrays locked."""
        self.recent_ops.clear()
        self.without_node = None

    def set_recent_node(self, result: TraceTensor) -> None:
        """The result of the last operation on the general path, at its node."""
        self.without_node = None
        number, recorded = self.recent_ops[-1]
        self.recent_ops[-1] = number, recorded._replace(result=ref(result), node=result._node)

    def draws_nothing(self, op: Op) -> bool:
        """Whether no run of an operation draws random numbers, or is a gradient rule of the user's."""
        traits = self._traits.get(op) or self._new_traits(op)
        return not (traits.custom or traits.may_draw or traits.random or traits.outputs)

    def record(self, op: Op, operands: tuple[Operand, ...], params: dict[str, Any], out: Any) -> TraceTensor:
        """Record an operation that was computed already; `out` is its result."""
        value = self.next_value(out.shape, out.dtype)
        self.instructions.append(Instruction(op, operands, params, (value,), here(2)))
        if type(out) is UnevaluatedSample:
            self.samples.bind(out, value)
        return TraceTensor(out, value, self)

    def _record_outputs(self, op: Op, operands: Any, params: Any, outs: Any, inputs: Any, effect: bool) -> Any:
        """Record an operation with several results; their tracers."""
        results = tuple([self.new_value(part) for part in outs])
        if op.name == "parts" and params["bounds"] is None:  # a distinction for the tapes only: the program indexes
            for index, value in enumerate(results):
                self.instructions.append(Instruction(TABLE["getitem"], operands, {"index": (index,)}, (value,), here()))
        else:
            self.instructions.append(Instruction(op, operands, params, results, here(), effect))
        for part, value in zip(outs, results, strict=True):
            if type(part) is UnevaluatedSample:
                self.samples.bind(part, value)
        return tuple([TraceTensor(part, value, self) for part, value in zip(outs, results, strict=True)])

    def _new_traits(self, op: Op) -> OpTraits:
        may_draw = not op.ufunc and op.kind in ("general", "constant") and op.name not in NEVER_DRAW
        traits = OpTraits(
            op.kind == "custom", may_draw, op.outputs, op.view, op.name.startswith("random."), op.name in ARITHMETIC
        )
        self._traits[op] = traits
        return traits

    def _static_params(self, op: Op, params: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """The parameters as static values, and whether a random generator is among them."""
        drawn_from = False
        changed: dict[str, Any] | None = None
        for name, value in params.items():
            if type(value) in _PLAIN:
                continue
            if isinstance(value, np.random.Generator):
                self.generators.setdefault(value, value.bit_generator.state)
                drawn_from = True
            elif (known := self._require_static(value, op, name)) is not value:
                changed = changed or dict(params)
                changed[name] = known
        return changed or params, drawn_from

    @contextmanager
    def activate(self, collapse_loops: Callable[..., Any]) -> Iterator[None]:
        """While the function runs: `gt.scan` finds this trace, and backward passes call the hook `collapse_loops`."""
        token, shorter = current_trace.set(self), backprop.collapse_hook.set(functools.partial(collapse_loops, self))
        recording.interpreters.add(id(self))
        try:
            yield
        finally:
            self.forget_recent_ops()
            recording.interpreters.discard(id(self))
            current_trace.reset(token)
            backprop.collapse_hook.reset(shorter)

    def watch_generators(self, states: Callable[[], Any]) -> None:
        """From now on, detect random numbers that are drawn outside of the kernels of operations."""
        self.states = states
        self._states = states()

    def expect_draws_of_others(self) -> None:
        """Detect what this thread draws, while other threads draw from the same generators.

        Draws of other threads while an operation is computed are ignored. So this thread yields to them there, before
        Python switches threads by itself: they rarely run while the function's own code does. Where they do all the
        same, `drawn_after` has the position, which is another one in another attempt.
        """
        self.is_beside_draws, self._turn = True, 0.0
        self.next_search = NEVER  # no eliding: each operation goes through `process`

    def _compute_watching_draws(self, op: Op, samples: list[Any], params: dict[str, Any]) -> Any:
        self.note_draws()
        self._watched += 1
        try:
            return _compute(op, samples, params)
        finally:
            if self.is_beside_draws and time.perf_counter() - self._turn > YIELD_INTERVAL:
                time.sleep(YIELD_TIME)
                self._turn = time.perf_counter()
            self._states = self.states()  # a kernel draws in every run: not an impurity

    def note_draws(self) -> None:
        """Note whether random numbers were drawn since the last operation that was watched."""
        states = self.states()
        if states != self._states:
            self.drawn_after.add(self._watched)
            self._states = states

    def _trace_custom_rule(self, inputs: tuple[Any, ...]) -> Any:
        """Trace the function of a custom gradient rule; the residuals it keeps are tracers."""
        *arrays, rule = inputs
        bare = [x._on(LIFTED_NODE) if isinstance(x, Lifted) else x for x in arrays]
        with recording.during(rule.state):  # the inputs are off tape: what its tapes record is closed over
            results, kept = rule.run(bare)
            if any(is_recorded(x) for x in results):
                raise rule.call.closed_over()
        rule.memory = CallMemory(KeptValues(kept.saved, kept.form), ())
        return tuple([x if isinstance(x, Lifted) else self.lift(x) for x in results])

    def _stack_list(self, x: Any) -> Any:
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
        if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in NUMERIC_KINDS:
            return self.constant(x)
        return Literal(x)

    def _require_static(self, value: Any, op: Op, name: str) -> Any:
        """A parameter as a static value; a tensor there becomes a guard, unless that would lose its gradient."""
        if isinstance(value, TraceTensor):
            with recording.during(self.seen[0]):  # the tapes that record the operation
                if value.is_tracked:
                    raise messages.tracked_parameter(op.name, name, value.shape)
            return np.array(value._concrete())
        if isinstance(value, tuple | list):
            for part in value:
                if type(part) not in _PLAIN and isinstance(part, TraceTensor):
                    return type(value)([self._require_static(each, op, name) for each in value])
        return value

    def rely_on(self, tensor: Any) -> Any:
        """The array of a tracer; adds a guard that its value is the same in later runs."""
        self.check_open(tensor)
        value, array = tensor.traced, np.asarray(evaluated(tensor._array))
        expected, source = array, self._integer_source(value)
        if source is not None:
            self._elements_read[source] = self._elements_read.get(source, 0) + 1
            if self._elements_read[source] > MAX_ELEMENT_GUARDS:
                value, expected = source, evaluated(self._given[source])
        if value not in self._relied_on:
            self._relied_on.add(value)
            self.detector.stop()
            self._float_guards += array.dtype.kind in "fc"
            if self._float_guards > MAX_FLOAT_GUARDS:
                raise Untraceable(
                    f"it looks at more than {MAX_FLOAT_GUARDS} numbers that it computes, and they would have to be the "
                    "same to the last bit in another call. Look at comparisons (`x > 1.0`), which are yes or no only, "
                    "or use np.where or gt.while_loop"
                )
            params = {"expected": frozen_copy(expected)}
            self.instructions.append(Instruction(GUARD, (value,), params, (), here(2), True))
        view = array.view()
        view.flags.writeable = False
        return view

    def _integer_source(self, value: Value) -> Value | None:
        """The input of which `value`, which was just read, is an element or a part, if it is an array of integers."""
        for instruction in reversed(self.instructions[-RECENT_READS:]):
            if value in instruction.results:
                source = instruction.operands[0] if instruction.name == "getitem" else None
                if type(source) is Value and source in self._given:
                    return source
                break
        return None

    def check_open(self, tensor: Any) -> None:
        """Raise `TapeError` if the trace of `tensor` has ended."""
        if not self.open:
            raise TapeError(
                f"a tensor of shape {tensor.traced.shape} was kept from inside a function that jit compiled, and used "
                f"after it.\n{Location.here().show()}\n"
                f"  it exists only while the function is traced; in later calls nothing would be stored there\n"
                f"  fix: return it from the function, and keep what the call returns"
            )

    def warn_once(self, topic: str, message: str) -> None:
        """Warn, once for each topic in a trace."""
        if topic not in self._warned:
            self._warned.add(topic)
            warn(message)

    def finish(self, outputs: Sequence[Value]) -> Program:
        """End the trace; its program."""
        self.detector.finish()
        self.open = False
        return Program(tuple(self.inputs), tuple(self.constants), tuple(self.instructions), tuple(outputs))


def _with_literals(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands with a Python number for a np.float64 beside a tensor of float64: it may differ between steps."""
    for x, other in (inputs, inputs[::-1]):
        if type(x) is np.float64 and type(other) is TraceTensor and other.dtype is _DOUBLE:
            return tuple([float(y) if y is x else y for y in inputs])
    return inputs


def _compute(op: Op, samples: list[Any], params: dict[str, Any]) -> Any:
    """The result of `op` for plain arrays and numbers."""
    try:
        if op.kind == "loop":  # runs once here: not worth native code
            return params["loop"].evaluator.call(*samples)
        return op.kernel(*samples, **params)
    except Exception:
        return apply(op, tuple(samples), params)  # raises the explained error
