"""Tracing: an interpreter in the one door that writes down every operation, while it computes with the real values.

A traced tensor stands for a value of the program, and holds the array that it is in this call. So shapes and dtypes are
the kernels' own, and code that looks at a number (`if loss > 1.0`, `float(x)`, `x.numpy()`) gets it: what it saw is
written down as a guard, and a later call in which it would see something else is traced anew.

Tapes, `grad`, `vmap` and all other transforms run as ever in here, on top of this interpreter: what arrives is the
operations of the forward and the backward pass together.
"""

from __future__ import annotations

import functools
import sys
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradtape.core import graph, recording
from gradtape.core.graph import AMBIENT, LIFTED, LIFTED_NODE, UNTRACKED, VARIABLE, Node, leaf
from gradtape.core.location import Location, is_library
from gradtape.core.operation import Level, Lifted, Op, apply
from gradtape.core.rules import TABLE
from gradtape.core.shapes import Shape
from gradtape.core.tensor import Tensor, Variable
from gradtape.errors import TapeError
from gradtape.explain import messages
from gradtape.jit.coasting import REMEMBERED
from gradtape.jit.following import FIRST_LOOK, Follower, Learning
from gradtape.jit.lights import Light
from gradtape.jit.lines import here
from gradtape.jit.program import GUARD, LOOP, Constant, Instruction, Literal, Operand, Program, Value
from gradtape.jit.rows import NEVER, Row, Written

if TYPE_CHECKING:
    from gradtape.jit.reroll import Found

NUMBERS = "fciub"
SMALL = 1 << 12  # bytes of a constant, up to which equal ones are one
LOOKED_AT_MOST = 32
"""How many numbers with fractions a function may look at: each of them has to be the same, to the last bit."""


class JitWarning(UserWarning):
    """Something inside a compiled function that behaves differently there, or that keeps it from being compiled.

    >>> import warnings, numpy as np
    >>> from gradtape.jit import JitWarning, jit
    >>> @jit
    ... def noisy(x):
    ...     return x + np.random.normal()
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = noisy(np.ones(2))
    >>> caught[0].category is JitWarning
    True
    """


class Untraceable(BaseException):
    """A reason why a call cannot be compiled and has to run as it is. No `except Exception` of the user's stops it."""


class Unrollable(BaseException):
    """A reason why the body of a loop cannot be traced once for all steps: they are traced one by one then."""


def complain(message: str, where: Location | None = None) -> None:
    """Warn the user, at the user's line."""
    place = (where or Location.here()).show()
    depth, frame = 1, sys._getframe(0)
    while frame.f_back is not None and is_library(frame.f_code.co_filename):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(f"{message}\n{place}", JitWarning, stacklevel=depth)


one_doors: dict[np.ufunc | str, Callable[..., Any]] = {}
"""Shorter ways for functions of one tensor, and for "item", where there are any: see `gradtape.jit.doors`."""
two_doors: dict[np.ufunc, tuple[Callable[..., Any], Callable[..., Any]]] = {}
"""The same for functions of two operands: for a tensor that is the first of them, and for one that is the second."""


_STATIC = frozenset({int, slice})
_PLACES = frozenset({"_node", "traced", "_held"})


class TraceTensor(Lifted):
    """A value of the program that is being written; its array is what the value is in the call that is traced."""

    __slots__ = ()

    traced: Any = Tensor._held  # type: ignore[attr-defined]  # slots that every tensor has, under their names here
    viewed: Any = Tensor._viewed  # type: ignore[attr-defined]

    def __init__(self, sample: Any, traced: Value, level: TraceLevel, node: Node = LIFTED_NODE) -> None:
        self._array = sample
        self._node = node
        self.traced = traced
        self.level = level
        self.viewed = False  # whether it is a view, or has one

    def _on(self, node: Node) -> TraceTensor:
        if node is UNTRACKED or node is LIFTED_NODE:
            moved = TraceTensor(self._array, self.traced, self.level)
        else:
            moved = TraceTensor(self._array, self.traced, self.level, node)
            self.level.made[node.order] = self.traced
        if self.viewed:
            _join(moved, self._views)
        return moved

    def __getattr__(self, name: str) -> Any:
        if name in _PLACES:  # a result of a loop that was not written down (see `coasting`)
            self.level.follower.stop()
        return object.__getattribute__(self, name)

    @property
    def shape(self) -> Shape:
        shape: Shape = self._array.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self._array.dtype
        return dtype

    def _replace(self, new: Any, how: str) -> Tensor:
        if isinstance(self._array, np.generic) and self._node is LIFTED_NODE and _level(self).numpy:
            return new  # type: ignore[no-any-return]  # NumPy's numbers do not change: `s += 1` is a new one
        return super()._replace(new, how)

    def _become(self, new: Tensor, keep_node: bool) -> None:
        level = _level(self)
        if isinstance(new, Lifted) and new.level.depth > level.depth:  # what an interpreter inside of this one has
            super()._become(new, keep_node)
            return
        fresh = new if isinstance(new, TraceTensor) and new.level is level else level.lift(new)
        super()._become(fresh, keep_node)
        self.traced, self.viewed = fresh.traced, False  # in memory of its own now

    def _concrete(self) -> Any:
        """The array of this call, after writing down that the program relies on it."""
        return _level(self).rely_on(self)

    def _leave(self, how: str) -> Any:
        if how.startswith("Variable.assign"):
            raise Untraceable("a Variable that jit could not find beforehand is assigned to")
        return super()._leave(how)

    def _shown(self) -> Any:
        level = _level(self)
        level.check_open(self)
        level.warn_once(
            "printing",
            "jit: a value is printed or formatted while the function is traced. That happens once for each trace, "
            "not in each call: return the value, and print it outside.",
        )
        return np.asarray(self._array)

    def __repr__(self) -> str:
        return f"Traced({np.array2string(self._shown(), separator=', ', prefix='Traced(')})"

    def __str__(self) -> str:
        return str(self._shown())

    def __format__(self, spec: str) -> str:
        shown = self._shown()
        return format(shown.item(), spec) if shown.size == 1 else str(shown)

    def __getitem__(self, index: Any) -> Any:
        parts = index if type(index) is tuple else (index,)
        if type(index) is int or all(type(part) in _STATIC for part in parts):
            item = one_doors["item"](self, sys._getframe(1), {"index": parts})
            return super().__getitem__(index) if item is None else item
        return super().__getitem__(_known_masks(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(_known_masks(index), value)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs and type(self) is TraceTensor:
            result = None
            if ufunc in one_doors:
                result = one_doors[ufunc](self, sys._getframe(1))
            elif ufunc in two_doors:
                reflected = inputs[0] is not self
                result = two_doors[ufunc][reflected](self, inputs[not reflected], sys._getframe(1))
            if result is not None:
                return result
        out = kwargs.get("out")
        plain = out is not None and method == "__call__" and not any(isinstance(x, Tensor) for x in out)
        if plain and is_library(sys._getframe(1).f_code.co_filename):  # a rule that would reuse a cotangent's memory
            del kwargs["out"]
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)


class TraceVariable(Variable):
    """A Variable while a function that reads it is traced: assignments are written down, and made after each run.

    It is a `Variable` to the tapes and a `Lifted` tensor to the door; memory layouts allow a class to inherit only one
    of them, so it is the one by inheritance and the other by what it says its class is.
    """

    __slots__ = ("level", "original", "traced", "viewed")

    def __init__(self, original: Variable, traced: Value, level: TraceLevel) -> None:
        self._array = original._array
        bits = original._node.bits & (VARIABLE | AMBIENT)
        self._node = leaf(traced.shape, traced.dtype, bits | LIFTED)
        self._trainable, self.name = original._trainable, original.name
        self.original, self.traced, self.level, self.viewed = original, traced, level, False

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return TraceTensor

    def _make_alike(self, other: Tensor) -> None:
        self._on(self._node)._make_alike(other)

    def _become(self, new: Tensor, keep_node: bool) -> None:
        self.assign(new._concrete() if isinstance(new, Lifted) and new.level.depth > self.level.depth else new)

    _on: Any = TraceTensor._on
    _concrete: Any = TraceTensor._concrete
    _shown: Any = TraceTensor._shown
    __array_ufunc__: Any = TraceTensor.__array_ufunc__

    def __repr__(self) -> str:
        return f"Traced({np.array2string(self._shown(), separator=', ', prefix='Traced(')})"

    def assign(self, value: Any) -> Variable:
        level = self.level
        with recording.during(recording.current().mute(True)):
            new = level.lift(value)
            if new.shape != self.shape:
                raise messages.wrong_assigned_shape(self.name, self.shape, new.shape)
            if not np.can_cast(new.dtype, self.dtype, "same_kind"):
                raise messages.wrong_assigned_dtype(self.dtype, new.dtype)
            if new.dtype != self.dtype:
                new = level.lift(new.astype(self.dtype))
        self._array, self.traced = new._array, new.traced
        return self

    def assign_add(self, delta: Any) -> Variable:
        with recording.during(recording.current().mute(True)):
            return self.assign(self.level.lift(self) + delta)

    def assign_sub(self, delta: Any) -> Variable:
        with recording.during(recording.current().mute(True)):
            return self.assign(self.level.lift(self) - delta)


def _known_masks(index: Any) -> Any:
    """An index whose masks are known: how many elements they pick is a matter of shapes, so they are relied on."""
    if isinstance(index, tuple):
        return tuple([_known_masks(part) for part in index])
    return index._concrete() if isinstance(index, TraceTensor) and index.dtype == bool else index


def _level(tensor: Any) -> TraceLevel:
    level = tensor.level
    assert isinstance(level, TraceLevel)
    return level


def _join(tensor: Any, family: list[weakref.ref[Tensor]]) -> None:
    count = len(family)
    if not count & (count - 1):  # now and then: a loop takes a view of the same array in each step
        family[:] = [view for view in family if view() is not None]
    family.append(weakref.ref(tensor))
    tensor._views = family
    tensor.viewed = True


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
        self.found: Found | None = None  # those that there were
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
        out = self._drawing(op, samples, params) if traits.may_draw else _computed(op, samples, params)
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

    def _drawing(self, op: Op, samples: list[Any], params: dict[str, Any]) -> Any:
        self.note_draws()
        try:
            return _computed(op, samples, params)
        finally:
            self._states = self.states()  # what a kernel draws, it draws in every run

    def note_draws(self) -> None:
        """Remember whether random numbers were drawn since an operation was last run."""
        self.drew = self.drew or self.states() != self._states

    def _through_rule(self, inputs: tuple[Any, ...]) -> Any:
        """A custom rule's own function, traced; what it keeps for its derivative are traced tensors."""
        from gradtape.custom.arrays import is_recorded
        from gradtape.custom.rules import Kept, Memory

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
        _join(result, family)

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
            complain(message)

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
