"""Where a loop begins that was followed, and what it finds there: its first steps were written down before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.jit.ir.program import Instruction, Literal, Value
from gradtape.jit.trace.loops.match import is_same_number
from gradtape.jit.trace.loops.template import Row, Written
from gradtape.jit.trace.tracers import TraceTensor

if TYPE_CHECKING:
    from gradtape.jit.trace.tracer import TraceLevel

Key = tuple[int, int]
"""Which operation of a step, and how many steps ago."""


class Beginning:
    """How a loop begins: what its first step reads from before, and what all steps read.

    `entering` holds what is there before the first step, by the operation that makes it in the steps, and how many
    steps ago that is. `operands` are the tensors and numbers that are the same in all steps, by operation; None for
    others.
    """

    def __init__(self) -> None:
        self.entering: dict[Key, Any] = {}
        self.operands: list[list[Any]] = []


def is_same_place(one: Instruction, other: Instruction, following: Instruction) -> bool:
    """Whether an instruction is the same operation, at the same line, and comes right before `following`."""
    if one.op is not other.op or one.location is not other.location or one.effect or len(one.results) != 1:
        return False
    mine, theirs = one.results[0], other.results[0]
    in_order = mine.id + 1 == following.results[0].id if following.results else False
    return in_order and mine.shape == theirs.shape and mine.dtype is theirs.dtype


def beginning_at(
    level: TraceLevel, rows: Sequence[Row], begin: int, remembered: dict[int, Written]
) -> Beginning | None:
    """How the loop of `rows` begins, if the instructions from `begin` on are steps of it."""
    found = Beginning()
    for index in range(begin, len(level.instructions)):
        instruction = level.instructions[index]
        step, place = divmod(index - begin, len(rows))
        row = rows[place]
        known = remembered.get(instruction.results[0].id)
        if known is None or not (row.varies or instruction.params == row.params):
            return None
        operands = [_Operand(level, rows, instruction, known, step, place, at) for at in range(len(row.like.back))]
        if not all(operand.fits(found) for operand in operands):
            return None
        if not step:
            found.operands.append([operand.always() for operand in operands])
    return found


class _Operand:
    """One operand of an instruction in one of the first steps."""

    def __init__(
        self,
        level: TraceLevel,
        rows: Sequence[Row],
        instruction: Instruction,
        known: Written,
        step: int,
        place: int,
        at: int,
    ) -> None:
        self.level, self.row, self.step = level, rows[place], step
        self.operand, self.tensor, self.node = instruction.operands[at], known.inputs[at], known.parents[at]
        self.model, self.back = self.row.model.operands[at], self.row.like.back[at]
        self.model_node = self.row.node if at == (1 if self.row.reflected else 0) else self.row.other_node
        self.result = instruction.results[0]
        ago, self.origin = divmod(place - self.back, len(rows))
        self.ago = -ago  # how many steps

    def fits(self, beginning: Beginning) -> bool:
        """Whether it is what the operand is in all later steps; what was there before the loop is noted."""
        if not self.back:
            return self._is_the_same()
        if self.ago <= self.step:
            return type(self.operand) is Value and self.result.id - self.operand.id == self.back
        entering = self._entering()
        if entering is None:
            return False
        noted = beginning.entering.setdefault((self.origin, self.ago - self.step), entering)
        if type(noted) is not TraceTensor or type(entering) is not TraceTensor:
            return noted is entering
        return noted.traced is entering.traced and noted._node is entering._node

    def _is_the_same(self) -> bool:
        if type(self.operand) is Value or type(self.model) is Value:
            is_unchanged = self.operand is self.model and self.node is self.model_node
            return is_unchanged and self.tensor.traced is self.operand
        assert isinstance(self.operand, Literal)
        assert isinstance(self.model, Literal)
        one, other = self.operand.value, self.model.value
        return is_same_number(one, other) or (self.row.varies and type(one) is type(other))

    def _entering(self) -> Any:
        """What is there before the first step, as the later ones have it; None if it is something else."""
        shape, dtype = self.model.shape, self.model.dtype  # type: ignore[union-attr]  # what is carried is a value
        if isinstance(self.operand, Literal):  # a number, to which the steps add
            return np.full(shape, self.operand.value, dtype) if dtype.kind == "f" else None
        if self.tensor.traced is not self.operand or (self.operand.shape, self.operand.dtype) != (shape, dtype):
            return None
        return TraceTensor(self.tensor._array, self.operand, self.level, self.node)

    def always(self) -> Any:
        """The tensor or number, if it is the same in all steps."""
        if self.back:
            return None
        if isinstance(self.operand, Literal):
            return self.operand.value
        return TraceTensor(self.tensor._array, self.operand, self.level, self.node)
