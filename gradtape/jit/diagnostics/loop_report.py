"""A report of NumPy kernels that a compiled loop calls in each step: native code has to wait for Python there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gradtape.core.location import Location
from gradtape.jit.ir.program import Instruction
from gradtape.jit.native.lower.ir import CALLBACK
from gradtape.jit.runtime.schedule import NativeGroup, Step

FEW_STEPS = 16
"""Steps of a loop, up to which a kernel in each of them is not worth a report."""


class KernelInLoop(NamedTuple):
    """A kernel that is called in each step of a loop; `steps` is None where their number depends on values."""

    name: str
    location: Location
    steps: int | None


def find_kernels_in_loops(steps: Sequence[Step]) -> Iterator[KernelInLoop]:
    """The kernels of NumPy's that loops among `steps`, or in native groups, call in each of their steps."""
    for step in steps:
        for instruction in step.instructions if isinstance(step, NativeGroup) else (step,):
            if instruction.op.kind == "loop":
                yield from _find_in_loop(instruction, 1)


def _find_in_loop(instruction: Instruction, around: int | None) -> Iterator[KernelInLoop]:
    loop = instruction.params["loop"]
    length = getattr(loop, "length", None)
    steps = None if length is None or around is None else around * length
    for inner in loop.body.instructions:
        if inner.op.kind == "loop":
            yield from _find_in_loop(inner, steps)
        elif inner.name == CALLBACK and (steps is None or steps > FEW_STEPS):
            yield KernelInLoop(inner.op.name, inner.location, steps)


def explain_kernels_in_loops(steps: Sequence[Step]) -> str:
    """The message for the first line that has such a kernel; empty if there is none."""
    found = next(find_kernels_in_loops(steps), None)
    if found is None:
        return ""
    times = "each step of a loop" if found.steps is None else f"each of the {found.steps} steps of a loop"
    return (
        f"calls a NumPy kernel ({found.name}) in {times}, since native code has no {found.name} of these operands: a "
        f"call takes some microseconds.\n{found.location.show()}\n"
        f"  fix: take it out of the loop, for all steps at once, where it does not depend on the step before"
    )
