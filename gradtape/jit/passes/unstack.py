"""Stacks of the rows of an array: they are the array itself, or a slice of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Instruction, Operand, Program, Value
from gradtape.jit.passes.reroll.induction import STACKED
from gradtape.jit.passes.rewrite import RewriteContext, rewrite

LONG = 8
"""How many rows of one array have to follow one another to be taken together."""
PARTS_AT_MOST = 6
"""Of how many parts a stack may be put together."""


def collapse_stacks(program: Program) -> Program:
    """`np.stack([x[0], x[1], x[2], ...])` as what it is.

    >>> import numpy as np, gradtape as gt
    >>> program = gt.jit(lambda x: np.stack([row for row in x]) * 2.0).lower(np.ones((9, 2)))
    >>> [instruction.name for instruction in program.instructions]
    ['multiply']
    """
    return rewrite(program, _collapse_stack)


def _collapse_stack(instruction: Instruction, context: RewriteContext) -> Value | Instruction | None:
    is_stack = instruction.op is STACKED or (instruction.name == "stack" and instruction.params.get("axis") == 0)
    if not is_stack or len(instruction.operands) < LONG:
        return None
    runs = _find_runs([_row(operand, context) for operand in instruction.operands])
    if len(runs) > PARTS_AT_MOST or all(run.array is None for run in runs):
        return None
    parts = [_part(instruction, run, context) for run in runs]
    if len(parts) == 1:
        return parts[0]
    return instruction.replace(op=TABLE["concatenate"], operands=tuple(parts), params={"axis": 0})


class RowRun(NamedTuple):
    """Operands from `begin` to `end`: rows of an `array`, from `first` on, `step` apart; or others, without one."""

    begin: int
    end: int
    array: Value | None
    first: int
    step: int


def _row(operand: Operand, context: RewriteContext) -> tuple[Value, int] | None:
    """Of which array, and at which place, an operand is a row."""
    producer = context.producer(operand, "getitem")
    if producer is None or type(producer.operands[0]) is not Value:
        return None
    array, index = producer.operands[0], producer.params["index"]
    if len(index) != 1 or type(index[0]) is not int:
        return None
    return array, index[0] % array.shape[0]


def _find_runs(rows: Sequence[tuple[Value, int] | None]) -> list[RowRun]:
    """The operands of a stack as runs that are long, and others between them."""
    runs: list[RowRun] = []
    begin = 0
    while begin < len(rows):
        run = _find_run(rows, begin)
        if run.array is None and runs and runs[-1].array is None:
            run = runs.pop()._replace(end=run.end)
        runs.append(run)
        begin = run.end
    return runs


def _find_run(rows: Sequence[tuple[Value, int] | None], begin: int) -> RowRun:
    """The longest run from `begin` on, in order or in reverse; of the one operand, if that is short."""
    one, two = rows[begin], rows[begin + 1] if begin + 1 < len(rows) else None
    if one is not None and two is not None and abs(two[1] - one[1]) == 1:
        (array, first), step = one, two[1] - one[1]
        end = begin
        while end < len(rows) and rows[end] == (array, first + step * (end - begin)):
            end += 1
        if end - begin >= LONG:
            return RowRun(begin, end, array, first, step)
    return RowRun(begin, begin + 1, None, 0, 0)


def _part(instruction: Instruction, run: RowRun, context: RewriteContext) -> Value:
    """Some of the operands of a stack, in a stack of their own."""
    begin, end, array, first, step = run
    if array is not None and (first, step, end - begin) == (0, 1, array.shape[0]):
        return array
    made = context.new_value((end - begin, *instruction.result.shape[1:]), instruction.result.dtype)
    if array is None:
        context.extra.append(instruction.replace(operands=instruction.operands[begin:end], results=(made,)))
        return made
    stop = first + step * (end - begin)
    params = {"index": (slice(first, None if stop < 0 else stop, step),)}
    context.extra.append(instruction.replace(op=TABLE["getitem"], operands=(array,), params=params, results=(made,)))
    return made
