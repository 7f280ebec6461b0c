"""A program as a user prints it: the optimised instructions and, in the last line, how it is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradtape.jit.ir.program import GUARD, Program
from gradtape.jit.runtime.schedule import NativeGroup, Step

NAMES_AT_MOST = 6


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScheduledProgram(Program):
    """An optimised program that knows how many instructions were recorded for it, and the steps in which it is run.

    >>> import numpy as np
    >>> from gradtape.jit import jit
    >>> step = jit(lambda x: np.exp(x * 1.0) + 2.0)
    >>> _ = step(np.zeros(3))
    >>> str(step.program).splitlines()[-1]
    'made     of 3 recorded instructions; run as 1 native group of 2 instructions'
    """

    recorded: int = 0
    steps: tuple[Step, ...] = ()

    def __str__(self) -> str:
        made = f"made     of {_plural(self.recorded, 'recorded instruction')}; run as {_describe_steps(self.steps)}"
        return f"{Program.__str__(self)}\n{made}"

    __repr__ = __str__

    @classmethod
    def of(cls, traced: Program, program: Program, steps: Sequence[Step]) -> ScheduledProgram:
        """`program`, which was optimised from `traced` and is run in `steps`."""
        parts = program.inputs, program.constants, program.instructions, program.outputs
        return cls(*parts, len(traced), tuple(steps))


def _describe_steps(steps: Sequence[Step]) -> str:
    groups = [step for step in steps if isinstance(step, NativeGroup)]
    kernels = [step.name for step in steps if not isinstance(step, NativeGroup) and step.op is not GUARD]
    parts = []
    if groups:
        fused = sum(len(group.instructions) for group in groups)
        parts.append(f"{_plural(len(groups), 'native group')} of {_plural(fused, 'instruction')}")
    if kernels:
        names = list(dict.fromkeys(kernels))
        shown = ", ".join(names[:NAMES_AT_MOST]) + (" ..." if len(names) > NAMES_AT_MOST else "")
        parts.append(f"{_plural(len(kernels), 'NumPy kernel')} ({shown})")
    return " and ".join(parts) or "nothing: there is nothing to compute"


def _plural(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
