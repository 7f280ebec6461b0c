"""Scheduling: the instructions of a program as steps, some of which are groups that native code takes over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gradtape.jit.ir.kernels import Call
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
"""Instructions of a group: the time that LLVM takes for a longer one grows faster than its length."""


class Backend(Protocol):
    """The interface of native code: which instructions it supports, and a function for a group of them."""

    def supports(self, instruction: Instruction) -> bool:
        """Whether an instruction may be part of a group. Never asked about one with an effect."""

    def can_fail(self, instruction: Instruction) -> bool:
        """Whether an instruction that it supports may raise an error for some operands."""

    def compile_group(
        self, instructions: Sequence[Instruction], inputs: Sequence[Value], outputs: Sequence[Value]
    ) -> Call | None:
        """The function of `NativeGroup.call`; None to run the NumPy kernels instead."""


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
                for begin in range(0, len(taken), MOST_IN_GROUP):
                    later = [*taken[begin + MOST_IN_GROUP :], *rest]
                    steps += _group_instructions(taken[begin : begin + MOST_IN_GROUP], later, program, backend)
            else:
                steps += taken
    return steps


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
