"""Writes to the same part of an array, one after the other: one write.

The gradient of `x[i] = y` sets a part of an array to zero, and the gradients of other reads of `x[i]` are added to that
part: an array of which a part is read and written several times. The sum is computed first and written once. That
keeps the order of the additions, and so the bits; zero and -0.0 are -0.0.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.ir.moving_index import Gap, SliceTemplate
from gradtape.jit.ir.program import LOOP, Instruction, Operand, Program, Value
from gradtape.jit.passes.dce import drop_dead
from gradtape.jit.passes.rewrite import RewriteContext, rename_operands
from gradtape.jit.passes.slice_sums import SCATTERS, add_to_slice
from gradtape.ops.indexing import picked_shape

_SETTING = frozenset({"set", "set_at"})
_ADDING = {"add_at": "set", "add_at_at": "set_at"}
_READING = {"getitem": "set", "getitem_at": "set_at"}


def merge_writes(program: Program) -> Program:
    """Compute what is added to a part that was just set before it is set, also in the bodies of loops.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.jit.passes.merge_writes import merge_writes
    >>> def step(x, y):
    ...     x[2:] = y
    ...     x[2:] += y * 2.0
    ...     return x
    >>> program = gt.jit(gt.grad(lambda x, y: np.sum(step(x, y)), 1)).lower(np.ones(9), np.ones(7))
    >>> merge_writes(program) is program  # there is nothing left to merge
    True
    """
    if not any(i.op is LOOP or i.name in _SETTING for i in program.instructions):
        return program
    merger = _Merger(program)
    for instruction in program.instructions:
        merger.append(instruction)
    return merger.finish() if merger.changed else program


class _Merger:
    """The program while it is being written."""

    def __init__(self, program: Program) -> None:
        self.program, self.uses, self.context = program, program.uses(), RewriteContext(program)
        self.names: dict[Value, Value] = {}
        self.writes: dict[Value, Instruction] = {}  # version of an array -> the instruction that set a part of it
        self.reads: dict[Value, Instruction] = {}
        self.scatters: dict[Value, Instruction] = {}
        self.dropped: set[Value] = set()
        self.made: list[Instruction] = []
        self.changed = False

    def append(self, instruction: Instruction) -> None:
        """Append an instruction, or what it is replaced by."""
        new = rename_operands(instruction, self.names)
        if new.op is LOOP and not new.effect:
            new = _merge_in_loop(new)
        elif new.name in _READING:
            self.reads[new.result] = new
        elif new.name in SCATTERS:
            self.scatters[new.result] = new
        for addition in self._find_additions(new):
            write = self._find_write(addition)
            value = None if write is None else self._add(write.operands[1], addition)
            if write is not None and value is not None:
                assert write.results[0] not in self.dropped
                self.dropped.add(write.result)
                self.changed = True
                read = self.reads.get(value)
                if read is not None and read.operands[0] is write.operands[0] and _is_same_part(read, write, 1):
                    self.names[new.result] = read.operands[0]  # type: ignore[assignment]
                    return
                new = write.replace(
                    operands=(write.operands[0], value, *write.operands[2:]), results=new.results, location=new.location
                )
                break
        if new.name in _SETTING:
            self.writes[new.result] = new
        self.changed |= new is not instruction
        self.made.append(new)

    def finish(self) -> Program:
        """The new program."""
        outputs = tuple([self.names.get(value, value) for value in self.program.outputs])
        made = [i for i in self.made if not i.results or i.results[0] not in self.dropped]
        return drop_dead(Program(self.program.inputs, self.program.constants, tuple(made), outputs))

    def _find_additions(self, instruction: Instruction) -> list[Instruction]:
        """What an instruction adds to a part of an array: `add_at`, or the sum with an array that is zero elsewhere."""
        if instruction.name in _ADDING:
            return [instruction]
        values = instruction.values
        if instruction.name != "add" or len(values) != 2 or values[0] is values[1]:
            return []
        same = all((value.shape, value.dtype) == (values[0].shape, instruction.result.dtype) for value in values)
        pairs = [(value, self.scatters.get(other)) for value, other in (values, values[::-1])] if same else []
        return [add_to_slice(instruction, array, scatter) for array, scatter in pairs if scatter is not None]

    def _find_write(self, addition: Instruction) -> Instruction | None:
        """The write to the same part, whose result nothing but the addition reads; None if there is none."""
        array = addition.operands[0]
        write = self.writes.get(array) if type(array) is Value else None
        if write is None or self.uses.get(array) != 1 or write.name != _ADDING[addition.name]:  # type: ignore[arg-type]
            return None
        return write if _is_same_part(addition, write, 2) else None

    def _add(self, old: Operand, addition: Instruction) -> Value | None:
        """The sum of what was written and what is added; None if one of them is broadcast or converted."""
        new = addition.operands[1]
        part = _part_shape(addition)
        if type(new) is not Value or new.dtype != addition.result.dtype or new.shape != part:
            return None
        number = self.context.number(old)
        if number is not None and not isinstance(number, bool) and number == 0 and not np.signbit(number):
            return new
        if type(old) is not Value or old.dtype != new.dtype or old.shape != part:
            return None
        total = self.context.new_value(new.shape, new.dtype)
        self.made.append(Instruction(TABLE["add"], (old, new), {}, (total,), addition.location))
        return total


def _merge_in_loop(instruction: Instruction) -> Instruction:
    loop = instruction.params["loop"]
    body = merge_writes(loop.body)
    if body is loop.body:
        return instruction
    return instruction.replace(params={"loop": dataclasses.replace(loop, body=body)})


def _index_of(instruction: Instruction) -> tuple[Any, ...]:
    params = instruction.params
    index = params["template"] if "template" in params else params["index"]
    return index if isinstance(index, tuple) else (index,)


def _is_same_part(instruction: Instruction, write: Instruction, operands: int) -> bool:
    """Whether an instruction, with its index after that many operands, is about the part that was written to."""
    one, other = _index_of(instruction), _index_of(write)
    if any(isinstance(part, np.ndarray | bool | np.bool) for part in (*one, *other)):
        return False
    return one == other and instruction.operands[operands:] == write.operands[2:]


def _part_shape(addition: Instruction) -> tuple[int, ...]:
    """The shape of the part that an addition adds to."""
    index = [
        0 if isinstance(part, Gap) else slice(0, part.length, part.step) if isinstance(part, SliceTemplate) else part
        for part in _index_of(addition)
    ]
    return picked_shape(addition.result.shape, tuple(index))
