"""Where a loop begins that was followed, and what it finds there: its first steps were written down before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.graph import Node
from gradtape.jit.likeness import is_same_number
from gradtape.jit.program import Instruction, Operand, Value
from gradtape.jit.rows import Row, Written

if TYPE_CHECKING:
    from gradtape.jit.trace import TraceLevel

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
    level: TraceLevel, rows: Sequence[Row], begin: int, remembered: dict[int, Written], kind: Any
) -> Beginning | None:
    """How the loop begins, if the instructions from `begin` on are steps of it."""
    found, period = Beginning(), len(rows)
    for index in range(begin, len(level.instructions)):
        instruction = level.instructions[index]
        step, place = divmod(index - begin, period)
        row = rows[place]
        known = remembered.get(instruction.results[0].id)
        if known is None or (
            instruction.params is not row.params and not row.varies and instruction.params != row.params
        ):
            return None
        operands: list[Any] = []
        for at, operand in enumerate(instruction.operands):
            back, model = row.like.back[at], row.model.operands[at]
            tensor, node = known.inputs[at], known.parents[at]
            ago, origin = divmod(place - back, period)
            if not back:
                if not _is_alike(operand, model, row.varies):
                    return None
                is_value = type(operand) is Value
                if is_value and (tensor.traced is not operand or node is not _node_of(row, at)):
                    return None
                operands.append(kind(tensor._array, operand, level, node) if is_value else operand.value)  # type: ignore[union-attr]
            elif -ago <= step:
                if instruction.results[0].id - operand.id != back:  # type: ignore[union-attr]  # a number has no `back`
                    return None
                operands.append(None)
            elif type(operand) is Value:
                if tensor.traced is not operand or not _is_like(operand, model):
                    return None
                entered = found.entering.setdefault((origin, -ago - step), kind(tensor._array, operand, level, node))
                if type(entered) is not kind or entered.traced is not operand or entered._node is not node:
                    return None
                operands.append(None)
            else:  # a number, to which the steps add
                entered = np.full(model.shape, operand.value, model.dtype)  # type: ignore[union-attr]
                if model.dtype.kind != "f" or found.entering.setdefault((origin, -ago - step), entered) is not entered:  # type: ignore[union-attr]
                    return None
                operands.append(None)
        if len(found.operands) < period:
            found.operands.append(operands)
    return found


def _is_like(value: Value, model: Any) -> bool:
    return value.shape == model.shape and value.dtype is model.dtype


def _node_of(row: Row, at: int) -> Node:
    """The node behind an operand in the step that was learned from."""
    own = 1 if row.reflected else 0
    return row.node if at == own else row.other_node


def _is_alike(operand: Operand, model: Operand, varies: bool) -> bool:
    if type(operand) is Value or type(model) is Value:
        return operand is model
    one, other = operand.value, model.value  # type: ignore[union-attr]
    return is_same_number(one, other) or (varies and type(one) is float and type(other) is float)
