"""Scheduling: the instructions of a program as steps, some of which are groups that native code takes over."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from gradtape.core.location import Location
from gradtape.core.operation import Op
from gradtape.jit.ir.kernels import Call, TooLong
from gradtape.jit.ir.program import Instruction, Program, Value


class NativeGroup:
    """A stretch of instructions that one native function stands for.

    `call` takes the arrays of `inputs`, in their order and with any strides, and returns a tuple of the arrays of
    `outputs`: fresh ones, in C order. It writes to no array it was given, and keeps none.
    """

    __slots__ = ("call", "inputs", "instructions", "outputs")

    def __init__(
        self, instructions: Sequence[Instruction], inputs: tuple[Value, ...], outputs: tuple[Value, ...], call: Call
    ) -> None:
        self.instructions, self.inputs, self.outputs, self.call = tuple(instructions), inputs, outputs, call

    @property
    def results(self) -> tuple[Value, ...]:
        """The values that the group writes, under the name that instructions use."""
        return self.outputs

    @property
    def values(self) -> tuple[Value, ...]:
        """The values that the group reads, under the name that instructions use."""
        return self.inputs


Step = Instruction | NativeGroup
MOST_IN_GROUP = 2000
"""Instructions of a group that need code of their own: the time that LLVM takes grows faster than their number."""
MOST_REPEATED = 16_000
"""Instructions of a group in all."""
REPEATED = 16
"""Instructions of one operation and one expression of the user's; more of them probably share the code of these."""


class Backend(Protocol):
    """The interface of native code: which instructions it supports, and a function for a group of them."""

    def supports(self, instruction: Instruction) -> bool:
        """Whether an instruction may be part of a group. Never asked about one with an effect."""

    def can_fail(self, instruction: Instruction) -> bool:
        """Whether an instruction that it supports may raise an error for some operands."""

    def compile_group(
        self, instructions: Sequence[Instruction], inputs: Sequence[Value], outputs: Sequence[Value]
    ) -> Call | None:
        """The function of `NativeGroup.call`; None to run the NumPy kernels instead.

        Raises `TooLong` for more than `MOST_IN_GROUP` instructions that are better compiled in parts.
        """


def schedule(program: Program, backend: Backend) -> list[Step]:
    """The steps of a program: instructions that `backend` supports are brought together, each stretch as one group.

    An instruction waits for its operands; those with an effect keep their order, and what can fail stays behind the
    guards before it. What cannot fail may be computed before a guard, so that guards do not divide groups.
    """
    steps: list[Step] = []
    waiting = list(program.instructions)
    fitting = {i for i in waiting if not i.effect and backend.supports(i)}
    guarded = any(i.effect for i in waiting)
    free = {i for i in fitting if not backend.can_fail(i)} if guarded else fitting
    defined: set[Value] = {*program.inputs, *(constant.value for constant in program.constants)}
    while waiting:
        for native in (True, False):
            taken: list[Instruction] = []
            rest: list[Instruction] = []
            produced: set[Value] = set()
            blocked = False  # by an effect, which nothing may overtake
            for instruction in waiting:
                fits = instruction in fitting
                held = blocked and not (native and instruction in free)
                ready = not held and all(value in defined or value in produced for value in instruction.values)
                if ready and (fits if native else not fits):
                    taken.append(instruction)
                    produced.update(instruction.results)
                else:
                    rest.append(instruction)
                    blocked |= instruction.effect
            if native and blocked:
                taken, rest = _put_back_views(taken, rest, waiting, fitting)
                produced = {value for instruction in taken for value in instruction.results}
            defined |= produced
            waiting = rest
            if native:
                steps += _divide(taken, rest, program, backend)
            else:
                steps += taken
    return steps


def _divide(taken: list[Instruction], rest: list[Instruction], program: Program, backend: Backend) -> list[Step]:
    """`taken` as groups that are not too long to compile."""
    steps: list[Step] = []
    begin = 0
    while begin < len(taken):
        end = begin + _count_in_group(taken, begin)
        try:
            steps += _group_instructions(taken[begin:end], [*taken[end:], *rest], program, backend)
        except TooLong:
            for first in range(begin, end, MOST_IN_GROUP):
                last = min(first + MOST_IN_GROUP, end)
                steps += _group_instructions(taken[first:last], [*taken[last:], *rest], program, backend)
        begin = end
    return steps


def _count_in_group(instructions: Sequence[Instruction], begin: int) -> int:
    """How many instructions from `begin` on are one group."""
    seen: Counter[tuple[Op, Location]] = Counter()
    own = 0  # how many need code of their own
    for count, instruction in enumerate(itertools.islice(instructions, begin, None)):
        key = instruction.op, instruction.location
        seen[key] += 1
        own += instruction.op.kind in ("loop", "general") or seen[key] <= REPEATED
        if own > MOST_IN_GROUP or count == MOST_REPEATED:
            return count
    return len(instructions) - begin


def _put_back_views(
    taken: list[Instruction], rest: list[Instruction], waiting: list[Instruction], fitting: set[Instruction]
) -> tuple[list[Instruction], list[Instruction]]:
    """`taken` without the views that only native instructions of `rest` read: they belong to a later group."""
    later = {value for instruction in rest if instruction in fitting for value in instruction.values}
    read = {value for instruction in rest if instruction not in fitting for value in instruction.values}
    kept: set[Instruction] = set()
    for instruction in reversed(taken):
        results = instruction.results
        if instruction.op.view and read.isdisjoint(results) and not later.isdisjoint(results):
            later.update(instruction.values)
        else:
            kept.add(instruction)
            read.update(instruction.values)
    return [i for i in taken if i in kept], [i for i in waiting if i not in kept]


def _group_instructions(
    taken: list[Instruction], rest: list[Instruction], program: Program, backend: Backend
) -> Sequence[Step]:
    """`taken` as one group; as single instructions where `backend` declines it."""
    produced = {value for instruction in taken for value in instruction.results}
    inputs = tuple(dict.fromkeys(v for i in taken for v in i.values if v not in produced))
    wanted = {*program.outputs, *(value for instruction in rest for value in instruction.values)}
    outputs = tuple(v for i in taken for v in i.results if v in wanted)
    call = backend.compile_group(taken, inputs, outputs)
    return taken if call is None else [NativeGroup(taken, inputs, outputs, call)]
