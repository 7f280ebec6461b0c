"""First iteration of a detected loop and its live-in values (initial carries, loop invariants).

The first iterations were recorded before the loop was detected; these are compared with the templates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.jit.ir.program import Instruction, Literal, Value
from gradtape.jit.trace.loops.match import is_same_number, is_same_params
from gradtape.jit.trace.loops.template import OpTemplate, RecordedOp
from gradtape.jit.trace.tracers import TraceTensor

if TYPE_CHECKING:
    from gradtape.jit.trace.tracer import TracingLevel

CarryKey = tuple[int, int]
"""A carried value: the operation of the body that computes it, and how many iterations ago."""


class LiveIn:
    """Values that enter a loop.

    `initial_carries` are the values before the first iteration of what later iterations carry. `operands` are the
    loop-invariant tensors and numbers, by operation and operand; None for operands that are not invariant.
    """

    def __init__(self) -> None:
        self.initial_carries: dict[CarryKey, Any] = {}
        self.operands: list[list[Any]] = []


def is_same_place(one: Instruction, other: Instruction, following: Instruction) -> bool:
    """Whether two instructions are the same operation at the same location, `one` directly before `following`."""
    if one.op is not other.op or one.location is not other.location or one.effect or len(one.results) != 1:
        return False
    mine, theirs = one.results[0], other.results[0]
    in_order = mine.id + 1 == following.results[0].id if following.results else False
    return in_order and mine.shape == theirs.shape and mine.dtype is theirs.dtype


def find_live_in(
    level: TracingLevel, templates: Sequence[OpTemplate], begin: int, recent_ops: dict[int, RecordedOp]
) -> LiveIn | None:
    """The live-in values of the loop, if the instructions from `begin` on are iterations of it; else None."""
    found = LiveIn()
    for index in range(begin, len(level.instructions)):
        instruction = level.instructions[index]
        step, place = divmod(index - begin, len(templates))
        template = templates[place]
        known = recent_ops.get(instruction.results[0].id)
        if known is None or not (template.varies or is_same_params(instruction.params, template.params)):
            return None
        operands = [
            _FirstStepsOperand(level, templates, instruction, known, step, place, at)
            for at in range(len(template.offsets.back))
        ]
        if not all(operand.fits(found) for operand in operands):
            return None
        if not step:
            found.operands.append([operand.invariant() for operand in operands])
    return found


class _FirstStepsOperand:
    """One operand of an instruction in one of the first iterations."""

    def __init__(
        self,
        level: TracingLevel,
        templates: Sequence[OpTemplate],
        instruction: Instruction,
        known: RecordedOp,
        step: int,
        place: int,
        at: int,
    ) -> None:
        self.level, self.template, self.step = level, templates[place], step
        self.operand, self.tensor, self.node = instruction.operands[at], known.inputs[at], known.parents[at]
        self.model, self.back = self.template.model.operands[at], self.template.offsets.back[at]
        self.model_node = self.template.parents[at]
        self.result = instruction.results[0]
        ago, self.origin = divmod(place - self.back, len(templates))
        self.ago = -ago  # how many iterations

    def fits(self, live_in: LiveIn) -> bool:
        """Whether it is consistent with the template; an initial carry is added to `live_in`."""
        if not self.back:
            return self._is_invariant()
        if self.ago <= self.step:
            return type(self.operand) is Value and self.result.id - self.operand.id == self.back
        carry = self._initial_carry()
        if carry is None:
            return False
        noted = live_in.initial_carries.setdefault((self.origin, self.ago - self.step), carry)
        if type(noted) is not TraceTensor or type(carry) is not TraceTensor:
            return noted is carry
        return noted.traced is carry.traced and noted._node is carry._node

    def _is_invariant(self) -> bool:
        if type(self.operand) is Value or type(self.model) is Value:
            is_unchanged = self.operand is self.model and self.node is self.model_node
            return is_unchanged and self.tensor.traced is self.operand
        assert isinstance(self.operand, Literal)
        assert isinstance(self.model, Literal)
        one, other = self.operand.value, self.model.value
        return is_same_number(one, other) or (self.template.varies and type(one) is type(other))

    def _initial_carry(self) -> Any:
        """The value before the first iteration, in the form that later ones carry; None if its form differs."""
        shape, dtype = self.model.shape, self.model.dtype  # type: ignore[union-attr]  # a carried operand is a Value
        if isinstance(self.operand, Literal):  # e.g. `total = 0.0` before the loop
            return np.full(shape, self.operand.value, dtype) if dtype.kind == "f" else None
        if self.tensor.traced is not self.operand or (self.operand.shape, self.operand.dtype) != (shape, dtype):
            return None
        return TraceTensor(self.tensor._array, self.operand, self.level, self.node)

    def invariant(self) -> Any:
        """The tensor or number, if it is loop-invariant; else None."""
        if self.back:
            return None
        if isinstance(self.operand, Literal):
            return self.operand.value
        return TraceTensor(self.tensor._array, self.operand, self.level, self.node)
