"""How the steps of a loop are alike: instructions that come again, on values that stand in the same relation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gradtape.jit.ir.program import Instruction, Literal, Value, params_key

STEPS = 3
"""How many steps have to be the same before they are followed."""
INDEXED = frozenset({"getitem", "scatter", "set", "add_at"})
"""Operations whose parameter `index` may advance from step to step."""
_NUMBERS = (float, int)
_ARITHMETIC = frozenset({"add", "subtract", "multiply", "divide", "maximum", "minimum"})


class Segment(NamedTuple):
    """Instructions from `begin` to `end` of a trace that repeat those `period` before them.

    That is: the same operation, at the same line, on the same literals, and on values that are the same, or that were
    made as many values before. So do those of the `STEPS` periods before `begin`, and the values that all of them make
    are numbered one after the other. Only parameters that are an index, and literals that are floats, may be others,
    at the places of the period that are named in `varying`.

    Where all of them came through the doors, `nodes` are those that stand behind them, of the same form and on the same
    tapes in all steps. Their parents are the nodes that stand behind the operands, as far back as `back` says for each
    place and operand, and they save these operands themselves; so it is from the second period on. An operand that is
    the same in all steps, with the same node, has 0 in `back`.
    """

    begin: int
    end: int
    period: int
    varying: frozenset[int]
    back: tuple[tuple[int, ...], ...]
    nodes: list[Any]


class Likeness(NamedTuple):
    """How an instruction is like that of the step before: how many values back its operands were made (0 for those that
    are the same), and whether a number varies."""

    back: tuple[int, ...]
    varies: bool


def likeness(one: Instruction, other: Instruction) -> Likeness | None:
    """How `one` is like `other`, of the step before; None if it is not."""
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
    return Likeness(tuple(back), varies)


def may_vary(instruction: Instruction, kind: type) -> bool:
    """Whether a number of this kind among the operands may be another one in each step: an array in its place would do
    the same. Integers are numbers like others where they are added to or multiplied with such."""
    if kind is float:
        return instruction.op.ufunc
    return kind is int and instruction.name in _ARITHMETIC and instruction.results[0].dtype.kind == "f"


def is_same_number(one: Any, other: Any) -> bool:
    """Whether two numbers are of the same kind and have the same bits."""
    return type(one) is type(other) and one == other and (bool(one) or repr(one) == repr(other))


def _has_index(instruction: Instruction) -> bool:
    """Whether the parameters are an index, and nothing else."""
    return instruction.name in INDEXED and [*instruction.params] == ["index"]


def is_alike_index(index: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether indices are of integers and slices, and differ in their integers only."""
    return len(index) == len(other) and all(
        type(part) is type(its) and (type(part) is int or (type(part) is slice and part == its))
        for part, its in zip(index, other, strict=True)
    )


def repeated(instructions: Sequence[Instruction], period: int) -> list[Likeness] | None:
    """How the last `period` instructions are like those before, if the last `STEPS` periods are the same."""
    end = len(instructions)
    begin = end - STEPS * period
    if begin < 0:
        return None
    found: list[Likeness] = []
    made = 0
    for index in range(end - 1, end - 1 - period, -1):
        one = likeness(instructions[index], instructions[index - period])
        other = None if one is None else likeness(instructions[index - period], instructions[index - 2 * period])
        if one is None or other is None or one.back != other.back:
            return None
        found.append(Likeness(one.back, one.varies or other.varies))
        made += len(instructions[index].results)
    found.reverse()
    last, first = instructions[-1].results[-1].id, instructions[begin].results[0].id
    if last - first + 1 != STEPS * made:
        return None  # something else was made in between
    if any(back > (STEPS - 1) * made for each in found for back in each.back):
        return None
    return found
