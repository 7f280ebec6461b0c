"""Reports of what makes the steps of compiled loops slow: NumPy kernels that they call, and arrays that they copy.

A kernel is called through Python, for which native code has to wait. An array is copied as a whole where a step writes
to a part of it, and the version before the write is needed later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gradtape.core.location import Location
from gradtape.jit.diagnostics.slowness_reason import COPY_IN_LOOP, KERNEL_IN_LOOP, Reason
from gradtape.jit.ir.program import Instruction
from gradtape.jit.native.lower.ir import CALLBACK
from gradtape.jit.native.lower.writes import WRITING, index_of
from gradtape.jit.native.schedule.loop_copies import LoopCopy
from gradtape.jit.runtime.schedule import NativeGroup, Step

FEW_STEPS = 16
"""Steps of a loop, up to which a kernel or a copy in each of them is not worth a report."""
SMALL_ARRAY = 4096
"""Bytes of an array, below which copying it takes no longer than the rest of a step."""
SCATTERS = frozenset({"scatter", "scatter_at"})
SMALL_PART = 4
"""How many times larger an array is than the part that is written, from which on a copy of it is reported."""
LINES_AT_MOST = 3
"""For how many lines one kind of report is made."""


class KernelInLoop(NamedTuple):
    """A kernel that is called in each step of a loop; `steps` is None where their number depends on values."""

    name: str
    location: Location
    steps: int | None


def explain_loops(steps: Sequence[Step]) -> list[Reason]:
    """A reason for each line that has a kernel in a loop, or copies an array in it."""
    kernels = {_line(found.location): found for found in reversed([*find_kernels_in_loops(steps)])}
    copies = {_line(found.write.location): found for found in reversed([*find_copies_in_loops(steps)])}
    return [
        *[_explain_kernel(found) for found in [*reversed(kernels.values())][:LINES_AT_MOST]],
        *[_explain_copy(found) for found in [*reversed(copies.values())][:LINES_AT_MOST]],
    ]


def _line(location: Location) -> tuple[str, int]:
    return location.file, location.line


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


def _explain_kernel(found: KernelInLoop) -> Reason:
    return Reason(
        KERNEL_IN_LOOP,
        f"calls a NumPy kernel ({found.name}) in {_times(found.steps)}",
        (found.location,),
        ("take it out of the loop, for all steps at once, where it does not depend on the step before",),
        (f"Native code has no {found.name} of these operands, and a call of NumPy takes some microseconds.",),
    )


def _times(steps: int | None) -> str:
    return "each step of a loop" if steps is None else f"each of the {steps} steps of a loop"


class CopyInLoop(NamedTuple):
    """A copy of an array in each step of a loop, the write that it is made for, and the loop."""

    copy: LoopCopy
    write: Instruction
    loop: Instruction


def find_copies_in_loops(steps: Sequence[Step]) -> Iterator[CopyInLoop]:
    """The copies of large arrays in native loops whose steps do less than that otherwise."""
    for step in steps:
        if not isinstance(step, NativeGroup):
            continue
        copies: Sequence[LoopCopy] = getattr(step.call, "loop_copies", ())
        for copy in copies:
            is_often = copy.steps is None or copy.steps > FEW_STEPS
            if is_often and copy.size >= SMALL_ARRAY and copy.size >= SMALL_PART * copy.part:
                found = _find_write(step.instructions, copy)
                if found is not None and _count_bytes(found) < copy.size:
                    yield found


def _find_write(instructions: Sequence[Instruction], copy: LoopCopy) -> CopyInLoop | None:
    """The write that a copy is made for, in the loops among some instructions."""
    for loop in instructions:
        if loop.op.kind == "loop":
            inside = loop.params["loop"].body.instructions
            for instruction in inside:
                if copy.result in instruction.results:
                    return CopyInLoop(copy, instruction, loop)
            found = _find_write(inside, copy)
            if found is not None:
                return found
    return None


def _count_bytes(found: CopyInLoop) -> int:
    """The bytes that a step of the loop moves besides: not those of writes to parts, and of their gradients' sums."""
    copied = found.write.result
    return sum(
        max(sum(x.nbytes for x in instruction.values), sum(x.nbytes for x in instruction.results))
        for instruction in found.loop.params["loop"].body.instructions
        if not instruction.op.view
        and instruction.name not in WRITING | SCATTERS
        and (instruction.name != "add" or instruction.result.shape != copied.shape)
    )


def _explain_copy(found: CopyInLoop) -> Reason:
    copy, write = found.copy, found.write
    is_while = not hasattr(found.loop.params["loop"], "length")
    if is_while:
        fix = "carry the part that changes as an array of its own, and write it to the whole array after the loop"
    elif any(isinstance(part, np.ndarray) for part in index_of(write)):
        fix = "write to a slice (`a[2:9:3] = ...`) and not to an array of positions"
    else:
        fix = "before the write, take the part that is needed later (`part = a[i]`), and keep that instead of all of it"
    return Reason(
        COPY_IN_LOOP,
        f"copies an array of {_bytes(copy.size)} in {_times(copy.steps)}, to write {_bytes(copy.part)} of it",
        (write.location,),
        (fix,),
        ("The array is needed as it was before the write, so that the write is made to a copy.",),
    )


def _bytes(size: int) -> str:
    if size < 10_000:
        return f"{size} bytes"
    return f"{size / 1e3:.0f} kB" if size < 10_000_000 else f"{size / 1e6:.0f} MB"
