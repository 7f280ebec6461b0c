"""The program: what tracing writes down, what passes rewrite and what is run. A small typed SSA form.

The specification, which `verify` checks:

1. A `Program` has `inputs`, `constants`, `instructions` and `outputs`. It computes with *values*: a `Value` has an id,
   a shape and a dtype, and stands for one array. Shapes are known: there is one program for each combination of them.
2. Every value is defined once: as an input, as a constant, or as a result of one instruction. Ids are unique.
3. An instruction's operands are values that were defined before it, or `Literal`s. A literal is a Python object that
   the operation is handed as it is. A literal number is *weak*, as in NumPy: `x * 2.0` has the dtype of `x`.
4. An instruction calls the NumPy kernel of one row of the operation table: `op.kernel(*operands, **params)`. It has
   one result, or as many as the kernel returns where `op.outputs` is set; their shapes and dtypes are the kernel's.
   Parameters are static; `params_key` gives a hashable form of them, or None where they cannot be compared.
   Where `depends_on_values(op)` says so, another call may give another form; whoever runs it checks, as with a guard.
5. Instructions are pure (equal operands and parameters give equal results, and nothing is written to) unless
   `instruction.effect` is set: a `GUARD`, a random draw, or a call back into Python. Those are never dropped, merged or
   moved across one another.
6. A `GUARD` has one operand, no result and the parameter `expected`, an array: execution goes on only if the operand is
   equal to it bit for bit. What follows a guard may rely on it: no instruction that can fail is moved before a guard.
7. A result may share memory with an operand (a view) where `op.view` is set or the kernel does so; nobody writes to a
   value. Whoever reuses memory has to know that no view of it is alive.
8. Outputs are defined values, in any order, the same one perhaps several times.
9. Every instruction knows the user's line it came from (`location`), and passes keep it.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtape.core.location import Location
from gradtape.core.operation import Op
from gradtape.core.shapes import Shape
from gradtape.errors import GradTapeError

NOWHERE = Location(None, 0)


class ProgramError(GradTapeError, RuntimeError):
    """A program that breaks the specification: a mistake in a pass of gradtape's own.

    >>> from gradtape.jit.program import Program, ProgramError, Value, verify
    >>> import numpy as np
    >>> try:
    ...     verify(Program((), (), (), (Value(0, (2,), np.dtype(float)),)))
    ... except ProgramError as error:
    ...     print(str(error).splitlines()[0])
    [GT314] the output %0: float64[2] is not defined
    """


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One array of a program. Two values are the same only if they are the same object.

    >>> import numpy as np
    >>> from gradtape.jit.program import Value
    >>> Value(3, (2, 5), np.dtype("float32"))
    %3: float32[2,5]
    """

    id: int
    shape: Shape
    dtype: np.dtype[Any]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for length in self.shape:
            size *= length
        return size

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"%{self.id}: {self.dtype.name}[{','.join(map(str, self.shape))}]"


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A Python object among the operands, mostly a number, handed to the kernel as it is."""

    value: Any

    def __repr__(self) -> str:
        text = repr(self.value)
        return text if len(text) <= 24 else f"<{type(self.value).__name__}>"


Operand = Value | Literal


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A value that is the same in every run: its array is never written to."""

    value: Value
    array: np.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Instruction:
    """One call of an operation's kernel."""

    op: Op
    operands: tuple[Operand, ...]
    params: dict[str, Any]
    results: tuple[Value, ...]
    location: Location = NOWHERE
    effect: bool = False

    @property
    def name(self) -> str:
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
        return dataclasses.replace(self, **changes)

    def __repr__(self) -> str:
        operands = ", ".join(f"%{x.id}" if type(x) is Value else repr(x) for x in self.operands)
        if self.op is GUARD:
            return f"guard {operands} == {_shown(self.params['expected'])}"
        given = "".join(f", {name}={_shown(value)}" for name, value in self.params.items())
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
        lines += [f"constant {c.value!r} = {_shown(c.array)}" for c in self.constants]
        texts = [f"  {instruction!r}" for instruction in self.instructions]
        width = min(max(map(len, texts), default=0), 72)
        for text, instruction in zip(texts, self.instructions, strict=True):
            where = instruction.location
            note = f"# {where}  {where.segment}" if where.line else ""
            lines.append(f"{text:<{width}}  {note}".rstrip())
        lines.append(f"outputs  {', '.join(f'%{value.id}' for value in self.outputs)}")
        return "\n".join(lines)


def _shown(value: Any) -> str:
    """A parameter or constant in a few characters; arrays by their shape, unless they are one number."""
    if isinstance(value, np.ndarray):
        return repr(value.item()) if value.size == 1 else f"<{value.dtype.name}[{','.join(map(str, value.shape))}]>"
    text = repr(value)
    return text if len(text) <= 40 else f"<{type(value).__name__}>"


def depends_on_values(op: Op) -> bool:
    """Whether the shape or dtype of what `op` gives may depend on the numbers, as that of `np.nonzero` does.

    >>> from gradtape.core.rules import TABLE
    >>> from gradtape.jit.program import depends_on_values
    >>> depends_on_values(TABLE["sum"]), depends_on_values(TABLE["argmax"])
    (False, True)
    """
    return op.kind in ("general", "constant") and not op.ufunc


def _no_kernel(x: Any, **params: Any) -> Any:
    raise ProgramError("a guard is checked by whoever runs the program; it has no kernel")


GUARD = Op("guard", _no_kernel, kind="constant")
"""The operation of an instruction that stops the run unless its operand equals the parameter `expected`."""


def params_key(params: dict[str, Any]) -> Any:
    """A hashable form of parameters, equal only where the parameters are; None where they cannot be compared.

    >>> from gradtape.jit.program import params_key
    >>> params_key({"axis": [0, 1]}) == params_key({"axis": [0, 1]})
    True
    >>> params_key({"axis": 1}) == params_key({"axis": 1.0})
    False
    """
    try:
        return tuple([(name, _frozen(params[name])) for name in sorted(params)])
    except TypeError:
        return None


def _frozen(value: Any) -> Any:
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


def dummy(value: Value) -> np.ndarray[Any, Any]:
    """An array like `value` that holds one element in memory, for finding out what a kernel makes of such arrays."""
    return np.broadcast_to(np.ones((), value.dtype), value.shape)


def verify(program: Program, run: bool = True) -> Program:
    """`program`, if it keeps the specification; raises a `ProgramError` that names the instruction if not.

    With `run`, every kernel is called on arrays of ones, and the results' shapes and dtypes are compared.

    >>> import numpy as np
    >>> from gradtape.jit import jit
    >>> from gradtape.jit.program import verify
    >>> step = jit(lambda x: x + 1.0)
    >>> verify(step.lower(np.ones(3))) is step.program
    True
    """
    defined: set[Value] = set()
    ids: set[int] = set()

    def define(value: Value, what: str) -> None:
        if value in defined or value.id in ids:
            raise ProgramError(f"{what} {value!r} is defined twice")
        if any(length < 0 for length in value.shape) or not isinstance(value.dtype, np.dtype):
            raise ProgramError(f"{what} {value!r} has no shape and dtype")
        defined.add(value)
        ids.add(value.id)

    for value in program.inputs:
        define(value, "the input")
    for constant in program.constants:
        define(constant.value, "the constant")
        if spec_of(constant.array) != (constant.value.shape, constant.value.dtype):
            raise ProgramError(f"the constant {constant.value!r} holds {_shown(constant.array)}")
    for instruction in program.instructions:
        for operand in instruction.operands:
            if type(operand) is Value and operand not in defined:
                raise ProgramError(f"{operand!r} is used before it is defined, in {instruction!r}")
            if type(operand) is not Value and type(operand) is not Literal:
                raise ProgramError(f"an operand is neither a value nor a literal, in {instruction!r}")
        for result in instruction.results:
            define(result, f"in {instruction!r}:")
        params_key(instruction.params)
        if instruction.op is GUARD:
            _verify_guard(instruction)
        elif run and not instruction.effect and not depends_on_values(instruction.op):
            _verify_kernel(instruction)
    for value in program.outputs:
        if value not in defined:
            raise ProgramError(f"the output {value!r} is not defined")
    return program


def _verify_guard(instruction: Instruction) -> None:
    if len(instruction.operands) != 1 or instruction.results or not instruction.effect:
        raise ProgramError(f"a guard has one operand, no result and an effect: {instruction!r}")
    (operand,) = instruction.values
    if spec_of(instruction.params["expected"]) != (operand.shape, operand.dtype):
        raise ProgramError(f"a guard expects what {operand!r} cannot be: {instruction!r}")


def _verify_kernel(instruction: Instruction) -> None:
    arguments = [dummy(x) if type(x) is Value else x.value for x in instruction.operands]  # type: ignore[union-attr]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = instruction.op.kernel(*arguments, **instruction.params)
    except (ValueError, TypeError, IndexError, ArithmeticError, np.linalg.LinAlgError):
        return  # ones are not in its domain: what it makes of them says nothing about the program
    outs = tuple(out) if instruction.op.outputs else (out,)
    if len(outs) != len(instruction.results):
        raise ProgramError(f"the kernel has {len(outs)} results, in {instruction!r}")
    for found, result in zip(outs, instruction.results, strict=True):
        shape, dtype = spec_of(found)
        if (shape, dtype) != (result.shape, result.dtype):
            text = f"{dtype.name}[{','.join(map(str, shape))}]"
            raise ProgramError(f"the kernel gives {text}, in {instruction!r}")
