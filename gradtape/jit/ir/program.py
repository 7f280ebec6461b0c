"""The program: a small typed SSA form, which tracing records, passes rewrite and the runner executes.

The specification, which `verify` (in `gradtape.jit.ir.verify`) checks:

1. A `Program` has `inputs`, `constants`, `instructions` and `outputs`. It computes with *values*: a `Value` has an id,
   a shape and a dtype, and stands for one array. Shapes are known: there is one program for each combination of them.
2. Every value is defined once: as an input, as a constant, or as a result of one instruction. Ids are unique.
3. An instruction's operands are values that were defined before it, or `Literal`s. A literal is a Python object that
   the operation is handed as it is. A literal number is *weak*, as in NumPy: `x * 2.0` has the dtype of `x`.
4. An instruction calls the NumPy kernel of one row of the operation table: `op.kernel(*operands, **params)`. It has
   one result, or as many as the kernel returns where `op.outputs` is set; their shapes and dtypes are the kernel's.
   Parameters are static; `params_key` gives a hashable form of them, or None where they cannot be compared.
   Where `depends_on_values(op)` says so, another call may give another shape or dtype: the runner checks it.
5. Instructions are pure (equal operands and parameters give equal results, and nothing is written to) unless
   `instruction.effect` is set: a `GUARD`, a random draw, or a call back into Python. Those are never dropped, merged or
   moved across one another.
6. A `GUARD` has one operand, no result and the parameter `expected`, an array: execution goes on only if the operand is
   equal to it bit for bit. What follows a guard may rely on it: no instruction that can fail is moved before a guard.
7. A result may share memory with an operand (a view) where `op.view` is set or the kernel does so; values are never
   written to. Memory may be reused only when no view of it is alive.
8. Outputs are defined values, in any order, the same one perhaps several times.
9. Every instruction knows the user's line it came from (`location`), and passes keep it.
10. A `LOOP` repeats an inner program, its *body*: its parameter `loop` is a `Loop`, and its operands are values.
    - Operands, in this order: one first value for each *carried* value; one array for each *sliced* input, whose first
      axis is walked along; the *invariant* inputs, which every step reads as they are.
    - Inputs of the body: the carried values, one slice of each sliced operand, the invariant inputs. Outputs of the
      body: the carried values of the next step, of the same shapes and dtypes, then the *stacked* outputs.
    - Step t, for t = 0, ..., length - 1, reads `array[start + step * t]` of a sliced operand, where `(start, step)` is
      its `Walk`, and writes a stacked output to row `start + step * t` of the result it belongs to, where the walk is
      (0, 1) or (length - 1, -1). No row is read or written outside of the array; length is at least 1.
    - Results: the carried values after the last step, then one array of `length` rows for each stacked output.
    - The body is a program of its own with ids and constants of its own, keeps this specification, and reads nothing
      else. Its steps run one after the other, and what they compute is the same, to the last bit, as if the body
      were written out `length` times. A loop has an effect where an instruction of its body has one.
11. A `WHILE` (in `gradtape.jit.ir.while_loop`) repeats its body as long as a condition holds: its parameter `loop` is a
    `WhileLoop`, and its operands are values.
    - Operands, inputs and outputs of the body, and results are those of a `LOOP`, but for the rows. The first carried
      value is the *condition*, a truth value, and the second is the number of the *row*, an int64; all steps change
      both as their bodies say.
    - A step runs as long as the condition holds before it, and, where the loop has sliced operands or stacked outputs,
      as the row is at least 0 and less than `rows`. There may be no step at all.
    - A step reads row `row` of each sliced operand, and writes row `row` of each stacked result, for the row that was
      carried into it. Sliced operands and stacked results have `rows` rows. A row may be written by several steps, of
      which the last one counts. What is in rows that no step has written is not specified: they must not be read.
"""

from __future__ import annotations

import copy
import dataclasses
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from gradtape.core.location import Location
from gradtape.core.operation import Op
from gradtape.core.shapes import Shape
from gradtape.errors import GradTapeError
from gradtape.forking import cached_property

NOWHERE = Location(None, 0)
NUMERIC_KINDS = "fciub"
"""The kinds of dtypes that programs compute with: floats, complex numbers, integers and truth values."""
SHARED_AT_MOST = 1 << 12
"""Bytes of a constant, up to which equal ones are one value."""


class ProgramError(GradTapeError, RuntimeError):
    """A program that breaks the specification: a mistake in a pass of gradtape's own.

    >>> from gradtape.jit import Program, ProgramError, verify
    >>> from gradtape.jit.ir.program import Value
    >>> import numpy as np
    >>> try:
    ...     verify(Program((), (), (), (Value(0, (2,), np.dtype(float)),)))
    ... except ProgramError as error:
    ...     print(str(error).splitlines()[0])
    [GT314] the output %0: float64[2] is not defined
    """


@dataclasses.dataclass(slots=True, eq=False, repr=False)  # not frozen, which takes three times as long; never changed
class Value:
    """One array of a program. Two values are the same only if they are the same object.

    >>> import numpy as np
    >>> from gradtape.jit.ir.program import Value
    >>> Value(3, (2, 5), np.dtype("float32"))
    %3: float32[2,5]
    """

    id: int
    shape: Shape
    dtype: np.dtype[Any]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for length in self.shape:
            size *= length
        return size

    @property
    def nbytes(self) -> int:
        """The number of bytes of the elements."""
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"%{self.id}: {self.dtype.name}[{','.join(map(str, self.shape))}]"


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Literal:
    """A Python object among the operands, mostly a number, handed to the kernel as it is."""

    value: Any

    def __repr__(self) -> str:
        text = repr(self.value)
        return text if len(text) <= 24 else f"<{type(self.value).__name__}>"


Operand = Value | Literal


@dataclasses.dataclass(slots=True, eq=False)
class Constant:
    """A value that is the same in every run: its array is never written to.

    One that is `cleared` stands for an array that was set to zero. As nothing was there before, a sum with it is the
    other operand; of zeros that a program adds itself, the sum has to be taken, which makes 0.0 of -0.0.
    """

    value: Value
    array: np.ndarray[Any, Any]
    cleared: bool = False


def frozen_copy(array: Any) -> np.ndarray[Any, Any]:
    """A read-only copy; broadcast axes (stride 0) stay broadcast."""
    array = np.asarray(array)
    if array.size > 1 and 0 in array.strides:
        index = tuple([slice(0, 1) if stride == 0 else slice(None) for stride in array.strides])
        return np.broadcast_to(array[index].copy(), array.shape)
    copy: np.ndarray[Any, Any] = array.copy()
    copy.flags.writeable = False
    return copy


@dataclasses.dataclass(slots=True, eq=False, repr=False)
class Instruction:
    """One call of an operation's kernel. It is never changed: `replace` makes another one."""

    op: Op
    operands: tuple[Operand, ...]
    params: dict[str, Any]
    results: tuple[Value, ...]
    location: Location = NOWHERE
    effect: bool = False

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self.op.name

    @property
    def values(self) -> tuple[Value, ...]:
        """The operands that are values."""
        return tuple([x for x in self.operands if type(x) is Value])

    @property
    def result(self) -> Value:
        """The one result of an instruction that has one."""
        (result,) = self.results
        return result

    def replace(self, **changes: Any) -> Instruction:
        """The same instruction with some of its fields changed."""
        new = copy.copy(self)
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def __repr__(self) -> str:
        operands = ", ".join(f"%{x.id}" if type(x) is Value else repr(x) for x in self.operands)
        if self.op is GUARD:
            return f"guard {operands} == {show_param(self.params['expected'])}"
        if self.op.kind == "loop":
            return f"{', '.join(map(repr, self.results))} = {self.params['loop'].head(self.values)}"
        given = "".join(f", {name}={show_param(value)}" for name, value in self.params.items())
        call = f"{self.name}({operands}{given})"
        return f"{', '.join(map(repr, self.results))} = {call}"


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A traced function, ready to be rewritten and run: `print` shows it with the user's lines.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.jit import jit
    >>> step = jit(lambda x: np.tanh(x) * 2.0)
    >>> step(np.array([0.0, 0.0]))
    array([0., 0.])
    >>> print(step.program)  # doctest: +ELLIPSIS
    inputs   %0: float64[2]
      %1: float64[2] = tanh(%0)...
      %2: float64[2] = multiply(%1, 2.0)...
    outputs  %2
    made     of 2 recorded instructions; run as 1 native group of 2 instructions
    """

    inputs: tuple[Value, ...]
    constants: tuple[Constant, ...]
    instructions: tuple[Instruction, ...]
    outputs: tuple[Value, ...]

    def __len__(self) -> int:
        return len(self.instructions)

    def replace(self, **changes: Any) -> Program:
        """The same program with some of its fields changed."""
        return dataclasses.replace(self, **changes)

    @property
    def guards(self) -> tuple[Instruction, ...]:
        """The instructions that check what the trace relied on."""
        return tuple([i for i in self.instructions if i.op is GUARD])

    def values(self) -> Iterator[Value]:
        """Every value, where it is defined."""
        yield from self.inputs
        for constant in self.constants:
            yield constant.value
        for instruction in self.instructions:
            yield from instruction.results

    def next_id(self) -> int:
        """An id that no value has."""
        return 1 + max((value.id for value in self.values()), default=-1)

    def uses(self) -> dict[Value, int]:
        """How often each value is an operand or an output."""
        count = dict.fromkeys(self.values(), 0)
        for instruction in self.instructions:
            for value in instruction.values:
                count[value] += 1
        for value in self.outputs:
            count[value] += 1
        return count

    def __str__(self) -> str:
        lines = [f"inputs   {', '.join(map(repr, self.inputs))}"]
        lines += [f"constant {c.value!r} = {show_param(c.array)}" for c in self.constants]
        texts = [f"  {instruction!r}" for instruction in self.instructions]
        width = min(max(map(len, texts), default=0), 72)
        for text, instruction in zip(texts, self.instructions, strict=True):
            where = instruction.location
            note = f"# {where}  {where.segment}" if where.line else ""
            lines.append(f"{text:<{width}}  {note}".rstrip())
            if instruction.op.kind == "loop":
                lines += [f"    {line}" for line in str(instruction.params["loop"].body).splitlines()]
        lines.append(f"outputs  {', '.join(f'%{value.id}' for value in self.outputs)}")
        return "\n".join(lines)


def show_param(value: Any) -> str:
    """A parameter or constant in a few characters; arrays by their shape, unless they are one number."""
    if isinstance(value, np.ndarray):
        return repr(value.item()) if value.size == 1 else f"<{value.dtype.name}[{','.join(map(str, value.shape))}]>"
    text = repr(value)
    return text if len(text) <= 40 else f"<{type(value).__name__}>"


def depends_on_values(op: Op) -> bool:
    """Whether the shape or dtype of what `op` gives may depend on the numbers, as that of `np.nonzero` does.

    >>> from gradtape.core.rules import TABLE
    >>> from gradtape.jit.ir.program import depends_on_values
    >>> depends_on_values(TABLE["sum"]), depends_on_values(TABLE["argmax"])
    (False, True)
    """
    return op.kind in ("general", "constant") and not op.ufunc


def _no_kernel(x: Any, **params: Any) -> Any:
    raise ProgramError("a guard is checked by whoever runs the program; it has no kernel")


GUARD = Op("guard", _no_kernel, kind="constant")
"""The operation of an instruction that stops the run unless its operand equals the parameter `expected`."""


class Walk(NamedTuple):
    """Which row of an array a step reads or writes: `start + step * t` in step t."""

    start: int
    step: int

    def rows(self, length: int) -> slice:
        """The rows that `length` steps touch, in their order."""
        stop = self.start + self.step * length
        return slice(self.start, None if stop < 0 else stop, self.step)


QUICK: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
}
"""What NumPy's numbers do by themselves, to the same bit, in a tenth of the time that a kernel takes."""


class LoopFunction(Protocol):
    """A loop as a function of its operands' arrays."""

    @property
    def call(self) -> Callable[..., tuple[Any, ...]]:
        """Runs the loop on the operands, and returns its results."""
        ...

    @property
    def source(self) -> str:
        """The source of the function, for printing."""
        ...

    @property
    def peak(self) -> int:
        """The largest number of bytes that the temporaries of an iteration take at once; see `BufferPlan`."""
        ...

    @property
    def steps(self) -> Sequence[Any]:
        """What an iteration runs: instructions and native groups, in order."""
        ...


AnyLoop = TypeVar("AnyLoop")


class LoopRunners(Generic[AnyLoop]):
    """What makes functions of loops. They are the runtime's, which is above this layer, so they are registered."""

    def register(
        self, compile: Callable[[AnyLoop], LoopFunction], evaluator: Callable[[AnyLoop], LoopFunction]
    ) -> None:
        """`compile` makes a function for many calls, `evaluator` one for a single call."""
        self.compile, self.evaluator = compile, evaluator


loop_runners: LoopRunners[Loop] = LoopRunners()


@dataclasses.dataclass(eq=False)
class Loop:
    """What a `LOOP` repeats, and how its operands and results are laid out: see the specification, number 10.

    >>> import numpy as np
    >>> from gradtape.jit import jit
    >>> def decay(x):
    ...     for _ in range(100):
    ...         x = x - 0.1 * np.sin(x)
    ...     return x
    >>> print(jit(decay).lower(np.ones(2)))  # doctest: +ELLIPSIS
    inputs   %0: float64[2]
      %259: float64[2] = loop 100 steps, carry %0...
        inputs   %0: float64[2]
          %1: float64[2] = sin(%0)...
          %2: float64[2] = multiply(0.1, %1)...
          %3: float64[2] = subtract(%0, %2)...
        outputs  %3
    outputs  %259
    made     of 259 recorded instructions; run as 1 native group of 1 instruction
    """

    body: Program
    length: int
    carried: int
    sliced: tuple[Walk, ...] = ()
    stacked: tuple[Walk, ...] = ()

    @property
    def effect(self) -> bool:
        """Whether an instruction of the body has an effect besides its results."""
        return any(instruction.effect for instruction in self.body.instructions)

    @cached_property
    def runner(self) -> LoopFunction:
        """The loop as a function of its operands' arrays, made when it is first asked for."""
        return loop_runners.compile(self)

    @property
    def evaluator(self) -> LoopFunction:
        """The loop as a function that is called once or twice."""
        return loop_runners.evaluator(self)

    def result_specs(self) -> list[tuple[Shape, np.dtype[Any]]]:
        """The shapes and dtypes of the results."""
        outputs = self.body.outputs
        last = [(value.shape, value.dtype) for value in outputs[: self.carried]]
        return last + [((self.length, *value.shape), value.dtype) for value in outputs[self.carried :]]

    def head(self, values: tuple[Value, ...]) -> str:
        """One line that tells what goes round and what is walked along; `values` are the operands."""
        names = [f"%{value.id}" for value in values]
        slices = zip(names[self.carried :], self.sliced, strict=False)
        parts = {
            "carry": names[: self.carried],
            "slice": [f"{name}[{_row(walk)}]" for name, walk in slices],
            "read": names[self.carried + len(self.sliced) :],
            "stack": [f"[{_row(walk)}]" for walk in self.stacked],
        }
        told = "".join(f", {what} {' '.join(items)}" for what, items in parts.items() if items)
        return f"loop {self.length} steps{told}"


def _row(walk: Walk) -> str:
    factor = {1: "t", -1: "-t", 0: ""}.get(walk.step, f"{walk.step}*t")
    if not walk.start and factor:
        return factor
    return f"{walk.start}{'+' if factor and not factor.startswith('-') else ''}{factor}"


def _run_loop(*arrays: Any, loop: Loop) -> tuple[Any, ...]:
    return loop.runner.call(*arrays)


LOOP = Op("loop", _run_loop, kind="loop", outputs=True)
"""The operation of an instruction that repeats the body of its parameter `loop`."""


def new_stack(row: np.ndarray[Any, Any], length: int) -> np.ndarray[Any, Any]:
    """An array of `length` rows, each of them laid out in memory as `row` is: kernels may round by the layout."""
    order = sorted(range(row.ndim), key=lambda axis: -abs(row.strides[axis]))
    out = np.empty((length, *(row.shape[axis] for axis in order)), row.dtype)
    return out.transpose(0, *(1 + order.index(axis) for axis in range(row.ndim)))


def params_key(params: dict[str, Any]) -> Any:
    """A hashable form of parameters, equal only where the parameters are; None where they cannot be compared.

    >>> from gradtape.jit.ir.program import params_key
    >>> params_key({"axis": [0, 1]}) == params_key({"axis": [0, 1]})
    True
    >>> params_key({"axis": 1}) == params_key({"axis": 1.0})
    False
    """
    try:
        return tuple([(name, _frozen(params[name])) for name in (sorted(params) if len(params) > 1 else params)])
    except TypeError:
        return None


def _frozen(value: Any) -> Any:
    if type(value) is int:
        return int, value
    if type(value) is float and value == value and value:
        return float, value  # all others but zeros and nan are equal only if their bits are
    if type(value) is tuple:
        return tuple, tuple([_frozen(item) for item in value])
    if value is None or value is Ellipsis or isinstance(value, np.dtype | type):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError
        return "array", value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, slice):
        return "slice", _frozen(value.start), _frozen(value.stop), _frozen(value.step)
    if isinstance(value, tuple | list):
        return type(value), tuple([_frozen(item) for item in value])
    if isinstance(value, dict):
        return dict, tuple([(_frozen(key), _frozen(item)) for key, item in value.items()])
    if isinstance(value, bool | int | str | bytes):
        return type(value), value
    if isinstance(value, float | complex | np.generic):  # by its bits: nan equals itself, 0.0 and -0.0 differ
        return type(value), np.asarray(value).tobytes()
    if callable(value):
        return value
    raise TypeError


def operand_key(operand: Operand) -> Any:
    """A hashable form of an operand; None where it cannot be compared."""
    if type(operand) is Value:
        return operand
    try:
        return Literal, _frozen(operand.value)  # type: ignore[union-attr]
    except TypeError:
        return None


def spec_of(array: Any) -> tuple[Shape, np.dtype[Any]]:
    """The shape and dtype of an array or number, as a value has them."""
    return tuple(np.shape(array)), np.asarray(array).dtype if not hasattr(array, "dtype") else array.dtype
