"""Structural comparison of instructions and iterations: equal operations, with operands equally far back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.jit.ir.program import Instruction, Literal, Value, params_key
from gradtape.jit.passes.reroll.segment import INDEXED, MIN_MATCHES, may_vary

_NUMBERS = (float, int)
_ARRAYS = (np.ndarray, list)


class OperandOffsets(NamedTuple):
    """Match of an instruction with that of the iteration before: how many values back each operand was computed (0 for
    loop-invariant operands), and whether a literal or an index differs."""

    back: tuple[int, ...]
    varies: bool


def match(one: Instruction, other: Instruction) -> OperandOffsets | None:
    """Match `one` with `other`, one iteration before; None if they differ."""
    if one.op is not other.op or one.location is not other.location or one.effect or other.effect:
        return None
    if len(one.operands) != len(other.operands) or len(one.results) != len(other.results) or not one.results:
        return None
    back, varies = [], False
    first, second = one.results[0].id, other.results[0].id
    for a, b in zip(one.operands, other.operands, strict=True):
        if a is b:
            back.append(0)
        elif type(a) is Value and type(b) is Value:
            if first - a.id != second - b.id or a.shape != b.shape or a.dtype is not b.dtype:
                return None
            back.append(first - a.id)
        elif type(a) is Literal and type(b) is Literal:
            if type(a.value) not in _NUMBERS or type(b.value) is not type(a.value):
                return None
            if not is_same_number(a.value, b.value):
                if not may_vary(one, type(a.value)):
                    return None
                varies = True
            back.append(0)
        else:
            return None
    for mine, theirs in zip(one.results, other.results, strict=True):
        if mine.shape != theirs.shape or mine.dtype is not theirs.dtype:
            return None
    if one.params is not other.params:
        key = params_key(one.params)
        if key is None or key != params_key(other.params):
            if not _has_index(one) or not _has_index(other):
                return None
            if not is_alike_index(one.params["index"], other.params["index"]):
                return None
            varies = True
    return OperandOffsets(tuple(back), varies)


def is_same_number(one: Any, other: Any) -> bool:
    """Whether two numbers have the same type and bits: 0.0 and -0.0 differ."""
    return type(one) is type(other) and one == other and (bool(one) or repr(one) == repr(other))


def is_same_params(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two sets of parameters are equal, arrays in an index by shape, dtype and elements."""
    try:
        is_equal = one == other
        has_arrays = any(type(part) in _ARRAYS for value in one.values() if type(value) is tuple for part in value)
    except ValueError:  # arrays have no single truth value
        is_equal = has_arrays = True
    if not is_equal or not has_arrays:
        return is_equal
    key = params_key(one)
    return key is not None and key == params_key(other)


def _has_index(instruction: Instruction) -> bool:
    """Whether the only parameter is an index."""
    return instruction.name in INDEXED and [*instruction.params] == ["index"]


def is_alike_index(index: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two indices consist of integers and slices, and differ in integers only."""
    return len(index) == len(other) and all(
        type(part) is type(its) and (type(part) is int or (type(part) is slice and part == its))
        for part, its in zip(index, other, strict=True)
    )


def match_periods(instructions: Sequence[Instruction], period: int) -> list[OperandOffsets] | None:
    """Match the last `MIN_MATCHES` periods; the operand offsets of the last one, or None if they differ."""
    end = len(instructions)
    begin = end - MIN_MATCHES * period
    if begin < 0:
        return None
    found: list[OperandOffsets] = []
    made = 0
    for index in range(end - 1, end - 1 - period, -1):
        one = match(instructions[index], instructions[index - period])
        other = None if one is None else match(instructions[index - period], instructions[index - 2 * period])
        if one is None or other is None or one.back != other.back:
            return None
        found.append(OperandOffsets(one.back, one.varies or other.varies))
        made += len(instructions[index].results)
    found.reverse()
    last, first = instructions[-1].results[-1].id, instructions[begin].results[0].id
    if last - first + 1 != MIN_MATCHES * made:
        return None  # other values were created in between
    if any(back > (MIN_MATCHES - 1) * made for each in found for back in each.back):
        return None
    return found
