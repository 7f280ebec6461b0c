"""Rows that need not be stacked: those that are all the same, and those of an array that is there.

A loop stacks what a later loop reads of each of its steps. Where that is the same value in every step, such as a
coefficient that is saved for the gradient, later loops read that value. Where it is a row of an array that the loop
walks along, they read that array.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import LOOP, Instruction, Loop, Operand, Program, Value, Walk
from gradtape.jit.passes.reroll.induction import STACKED
from gradtape.jit.passes.rewrite import RewriteContext, rename_operands


def share_rows(program: Program) -> Program:
    """Replace arrays of equal rows by the row, as far as loops and indices can read it instead.

    >>> import numpy as np, gradtape as gt
    >>> def decay(x, c):
    ...     out = gt.zeros(len(x))
    ...     for i in range(1, len(x)):
    ...         out[i] = out[i - 1] * c[0] + x[i]
    ...     return np.sum(out**2)
    >>> program = gt.jit(gt.grad(decay)).lower(np.ones(300), np.ones(2))
    >>> [len(i.params["loop"].stacked) for i in program.instructions if i.name == "loop"]
    [1, 1]
    """
    if not any(instruction.op is LOOP for instruction in program.instructions):
        return program
    context = RewriteContext(program)
    rows: dict[Value, Value] = {}
    names: dict[Value, Value] = {}
    made: list[Instruction] = []
    changed = False
    for instruction in program.instructions:
        new = rename_operands(instruction, names)
        if new.op is LOOP and not new.effect:
            new = _read_rows(_share_in_body(new), rows)
            found = _find_stacked_rows(new, context)
            for result, (array, index) in _find_walked_rows(new).items():
                view = context.new_value(result.shape, result.dtype)
                made.append(Instruction(TABLE["getitem"], (array,), {"index": (index,)}, (view,), new.location))
                names[result] = view
                changed = True
        else:
            found = _find_rows(new, rows)
            if new.name == "getitem" and new.operands[0] in rows and _is_one(new.params["index"]):
                names[new.result] = rows[new.operands[0]]
                changed = True
                continue
        changed |= new is not instruction
        made.append(new)
        rows.update(found)
        for value, row in found.items():
            if new.op is LOOP:
                wide = context.new_value(value.shape, value.dtype)
                params = {"shape": value.shape}
                made.append(Instruction(TABLE["broadcast_to"], (row,), params, (wide,), new.location))
                names[value] = wide
                rows[wide] = row
                changed = True
    if not changed:
        return program
    from gradtape.jit.passes.dce import drop_dead

    outputs = tuple([names.get(value, value) for value in program.outputs])
    constants = (*program.constants, *context.added)
    return drop_dead(Program(program.inputs, constants, tuple(made), outputs))


def _share_in_body(instruction: Instruction) -> Instruction:
    loop: Loop = instruction.params["loop"]
    body = share_rows(loop.body)
    if body is loop.body:
        return instruction
    return instruction.replace(params={"loop": dataclasses.replace(loop, body=body)})


def _is_one(index: Any) -> bool:
    """Whether an index selects one row."""
    return len(index) == 1 and type(index[0]) is int


def _read_rows(instruction: Instruction, rows: dict[Value, Value]) -> Instruction:
    """A loop that reads the row of each array of equal rows, instead of walking along it."""
    loop: Loop = instruction.params["loop"]
    first, last = loop.carried, loop.carried + len(loop.sliced)
    operands, inputs = instruction.operands, loop.body.inputs
    equal = [i for i in range(first, last) if operands[i] in rows]
    if not equal:
        return instruction
    order = [i for i in range(last) if i not in equal] + list(range(last, len(inputs)))
    smaller = dataclasses.replace(
        loop,
        body=loop.body.replace(inputs=tuple([inputs[i] for i in (*order, *equal)])),
        sliced=tuple([walk for i, walk in enumerate(loop.sliced, first) if i not in equal]),
    )
    read = [rows[operands[i]] for i in equal]  # type: ignore[index]
    return instruction.replace(operands=(*(operands[i] for i in order), *read), params={"loop": smaller})


def _find_stacked_rows(instruction: Instruction, context: RewriteContext) -> dict[Value, Value]:
    """The stacked results of a loop whose rows are all the same, each with its row."""
    loop: Loop = instruction.params["loop"]
    first = loop.carried + len(loop.sliced)
    fixed: dict[Value, Any] = dict(zip(loop.body.inputs[first:], instruction.operands[first:], strict=True))
    constants = {constant.value: constant.array for constant in loop.body.constants}
    found: dict[Value, Value] = {}
    stacked = zip(loop.body.outputs[loop.carried :], instruction.results[loop.carried :], strict=True)
    for inner, result in stacked:
        if inner in constants:
            found[result] = context.new_constant(np.asarray(constants[inner]))
        elif inner in fixed:
            found[result] = fixed[inner]
    return found


def _find_walked_rows(instruction: Instruction) -> dict[Value, tuple[Operand, slice]]:
    """The stacked results of a loop that are rows of an array that it walks along, with that array and the rows."""
    loop: Loop = instruction.params["loop"]
    arrays = dict(zip(loop.body.inputs[loop.carried :], instruction.operands[loop.carried :], strict=True))
    walks = dict(zip(loop.body.inputs[loop.carried :], loop.sliced, strict=False))
    found: dict[Value, tuple[Operand, slice]] = {}
    outputs = loop.body.outputs[loop.carried :]
    for inner, result, stacked in zip(outputs, instruction.results[loop.carried :], loop.stacked, strict=True):
        walk = walks.get(inner)
        if walk is not None and walk.step:
            if stacked.step < 0:
                walk = Walk(walk.start + walk.step * (loop.length - 1), -walk.step)
            found[result] = arrays[inner], walk.rows(loop.length)
    return found


def _find_rows(instruction: Instruction, rows: dict[Value, Value]) -> dict[Value, Value]:
    """The result of an instruction with its row, if all its rows are the same."""
    operands = instruction.operands
    if instruction.name == "getitem" and operands[0] in rows:
        index = instruction.params["index"]
        if len(index) == 1 and isinstance(index[0], slice):
            return {instruction.result: rows[operands[0]]}
    elif instruction.op is STACKED or (instruction.name == "stack" and instruction.params.get("axis") == 0):
        if type(operands[0]) is Value and all(x is operands[0] for x in operands):
            return {instruction.result: operands[0]}
    elif instruction.name == "concatenate" and instruction.params.get("axis") == 0:
        found = [rows.get(x) if type(x) is Value else None for x in operands]
        if found[0] is not None and all(row is found[0] for row in found):
            return {instruction.result: found[0]}
    return {}
