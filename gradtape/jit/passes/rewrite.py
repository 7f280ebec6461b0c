"""The rewrite engine that most passes use: one walk over the program, with a rule for each instruction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.jit.ir.program import (
    SHARED_AT_MOST,
    Constant,
    Instruction,
    Literal,
    Operand,
    Program,
    Value,
    frozen_copy,
    spec_of,
)

FOLDED_AT_MOST = 1 << 20
"""Bytes of a constant that folding may make."""


class RewriteContext:
    """What a rule may look at: the producers of values and the constants so far. It makes new values with it, too."""

    def __init__(self, program: Program) -> None:
        self.producers: dict[Value, Instruction] = {}  # those that are made by one of `MATCHED_PRODUCERS`
        self.constants: dict[Value, np.ndarray[Any, Any]] = {c.value: c.array for c in program.constants}
        self.added: list[Constant] = []
        self.extra: list[Instruction] = []  # instructions to come before the one that is being rewritten
        self._next = program.next_id()
        self._small = {
            (*spec_of(c.array), c.array.tobytes()): c.value
            for c in program.constants
            if c.array.nbytes <= SHARED_AT_MOST and not c.cleared
        }

    def producer(self, operand: Operand, *names: str) -> Instruction | None:
        """The instruction that made `operand`, if it is one of the operations `names`."""
        found = self.producers.get(operand) if type(operand) is Value else None
        return found if found is not None and found.name in names else None

    def number(self, operand: Operand) -> Any:
        """The one number that `operand` is everywhere, if it is known; else None."""
        if type(operand) is Literal:
            value = operand.value
            return value if isinstance(value, bool | int | float) else None
        array = self.constants.get(operand)  # type: ignore[arg-type]
        if array is None or not array.size or array.dtype.kind not in "fiub":
            return None
        return uniform_number(array)

    def new_value(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Value:
        """A value with the next free id."""
        self._next += 1
        return Value(self._next - 1, shape, dtype)

    def new_constant(self, array: Any, cleared: bool = False) -> Value:
        """A constant of the program; small ones with equal bytes are shared, if they are not `cleared`."""
        shape, dtype = spec_of(array)
        small = np.asarray(array).nbytes <= SHARED_AT_MOST and not cleared
        key = (shape, dtype, np.asarray(array).tobytes()) if small else None
        if key is not None and key in self._small:
            return self._small[key]
        value = self.new_value(shape, dtype)
        if key is not None:
            self._small[key] = value
        self.added.append(Constant(value, frozen_copy(array), cleared))
        self.constants[value] = self.added[-1].array
        return value


def uniform_number(array: np.ndarray[Any, Any]) -> Any:
    """The number that all elements of `array` are, bit for bit; None if they differ."""
    first = array[(slice(0, 1),) * array.ndim].reshape(())
    if array.size > 1 and any(array.strides[i] for i in range(array.ndim) if array.shape[i] > 1):
        if array.nbytes > FOLDED_AT_MOST:
            return None
        flat = np.ascontiguousarray(array).view(np.uint8).reshape(array.size, -1)
        if not (flat == flat[0]).all():
            return None
    return first.item()


Rule = Callable[[Instruction, RewriteContext], Value | Instruction | None]
"""What an instruction is replaced by: another one, a value that exists already, or None to keep it."""

MATCHED_PRODUCERS = frozenset(
    {"getitem", "negative", "divide", "reshape", "transpose", "broadcast_to", "astype", "add", "softmax"}
)
"""Operations that a rule about another one may look for among its operands."""


def rewrite(program: Program, rule: Rule) -> Program:
    """`program` with each instruction replaced by what `rule` says: another one, a value that is there, or itself."""
    context = RewriteContext(program)
    names: dict[Value, Value] = {}
    instructions: list[Instruction] = []
    for instruction in program.instructions:
        instruction = rename_operands(instruction, names)
        answer = None if instruction.effect else rule(instruction, context)
        if context.extra:
            instructions += context.extra
            context.extra.clear()
        if type(answer) is Value:
            names[instruction.result] = answer
            continue
        final = instruction if answer is None else answer
        assert isinstance(final, Instruction)
        instructions.append(final)
        if final.op.name in MATCHED_PRODUCERS:
            context.producers[final.results[0]] = final
    outputs = tuple([names.get(value, value) for value in program.outputs])
    constants = (*program.constants, *context.added)
    return Program(program.inputs, constants, tuple(instructions), outputs)


def rename_operands(instruction: Instruction, names: dict[Value, Value]) -> Instruction:
    """`instruction` with those operands exchanged that `names` maps to another value."""
    if names:
        for x in instruction.operands:
            if x in names:
                operands = tuple([names.get(x, x) if type(x) is Value else x for x in instruction.operands])
                return instruction.replace(operands=operands)
    return instruction


def has_same_type(value: Operand, result: Value) -> bool:
    """Whether an operand is a value of the same shape and dtype as `result`, and so can take its place."""
    return type(value) is Value and value.shape == result.shape and value.dtype == result.dtype


def is_one(number: Any) -> bool:
    """Whether a literal is 1; False for None, which stands for a value."""
    return number is not None and number == 1
