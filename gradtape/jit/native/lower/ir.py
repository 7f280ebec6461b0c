"""The native IR: the instructions of `jit.ir`, and these, which only lowering makes.

PART            "part": write the operand to a part of the result; other parts fill the rest (concatenate, stack)
GATHER          "table": elements of an array in memory, `params["table"]`, at the positions of the operand; these are
                checked, unless they are `params["known"]` to be in range
CHECK_INDEX     "within": a position along an axis, made non-negative and checked against the length
SCATTER_ADD     "filling": add the first operand to an array of zeros, at the positions of the second operand; to a copy
                of the third operand if there is one
ADD_ROWS        "rows added": add arrays to columns of an array of zeros, in the rows that the last operand says
WRITE           "write": the second operand, with a part of it replaced by the first
MOVING_VIEW     "moving view": a part of the first operand, at a position that the others say
CONSTANT        "held": an array that is the same in every run
CALLBACK        "callback": call the NumPy kernel of `params["instruction"]` from native code
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import TABLE as ROWS
from gradtape.jit.ir.program import Instruction, Literal, Value

if TYPE_CHECKING:
    from typing_extensions import TypeIs  # mypy has it; Python does from 3.13 on

DType = np.dtype[Any]
Shape = tuple[int, ...]

PART = "part"
GATHER = "table"
CHECK_INDEX = "within"
SCATTER_ADD = "filling"
ADD_ROWS = "rows added"
WRITE = "write"
MOVING_VIEW = "moving view"
CONSTANT = "held"
CALLBACK = "callback"


# Not frozen, since frozen dataclasses take longer to load and to create; they are never modified.


@dataclasses.dataclass(eq=False)
class LoweredValue:
    """A value that lowering made: not a value of the program."""

    shape: Shape
    dtype: DType


@dataclasses.dataclass(eq=False)
class LoweredNumber:
    """A Python number as an operand."""

    value: Any


@dataclasses.dataclass(eq=False)
class LoweredInstruction:
    """An instruction that lowering made: a new one, or one of the program with other operands or results."""

    operands: tuple[AnyOperand, ...]
    results: tuple[ArrayValue, ...]
    name: str
    params: dict[str, Any]
    op: Op | None = None
    effect: bool = False

    @property
    def values(self) -> tuple[ArrayValue, ...]:
        """The operands that are values, without the literals."""
        return tuple(x for x in self.operands if is_value(x))


ArrayValue = Value | LoweredValue
"""An array: a value of the program, or one that lowering made."""
AnyOperand = ArrayValue | Literal | LoweredNumber
AnyInstruction = Instruction | LoweredInstruction


def is_value(operand: AnyOperand) -> TypeIs[ArrayValue]:
    """Whether an operand is an array (and not a Python number)."""
    return isinstance(operand, Value | LoweredValue)


def values_read(instruction: AnyInstruction) -> tuple[ArrayValue, ...]:
    """The values that an instruction reads: its operands, and the table of a gather."""
    table = instruction.params.get("table")
    return instruction.values if table is None else (*instruction.values, table)


def are_values(operands: tuple[AnyOperand, ...]) -> TypeIs[tuple[ArrayValue, ...]]:
    """Whether all operands are arrays."""
    return all(isinstance(operand, Value | LoweredValue) for operand in operands)


class LoweredBuilder:
    """Builds a list of instructions; called with a name and operands, it returns a new result."""

    def __init__(self) -> None:
        self.instructions: list[LoweredInstruction] = []

    def __call__(
        self,
        name: str,
        *operands: ArrayValue | float,
        shape: Shape | None = None,
        dtype: DType | type | None = None,
        **params: Any,
    ) -> LoweredValue:
        values = [x for x in operands if isinstance(x, Value | LoweredValue)]
        if shape is None:
            shape = np.broadcast_shapes(*[x.shape for x in values])
        result = LoweredValue(shape, values[0].dtype if dtype is None else np.dtype(dtype))
        wrapped = tuple(x if isinstance(x, Value | LoweredValue) else LoweredNumber(x) for x in operands)
        self.instructions.append(LoweredInstruction(wrapped, (result,), name, params, ROWS.get(name)))
        return result

    def reshape(self, value: ArrayValue, shape: Shape) -> LoweredValue:
        """A reshape of the value."""
        result = self("reshape", value, shape=shape)
        self.instructions[-1].params["shape"] = shape
        return result

    def finish(self, result: ArrayValue) -> list[LoweredInstruction]:
        """All instructions; the last one gets the given result."""
        self.instructions[-1] = dataclasses.replace(self.instructions[-1], results=(result,))
        return self.instructions


def add_constant(write: LoweredBuilder, array: np.ndarray[Any, Any]) -> LoweredValue:
    """Add a constant array, with length 1 along the axes on which it does not vary."""
    array = np.asarray(array)
    for axis in range(array.ndim):
        start = array.take([0], axis) if array.shape[axis] else array
        if array.shape[axis] > 1 and np.array_equal(array, np.broadcast_to(start, array.shape)):
            array = start
    result = LoweredValue(array.shape, array.dtype)
    write.instructions.append(
        LoweredInstruction((), (result,), CONSTANT, {"array": np.ascontiguousarray(array).reshape(array.shape)})
    )
    return result
