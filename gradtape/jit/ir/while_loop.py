"""The instruction of a loop whose number of steps depends on values: see the specification in `program`, number 11."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.shapes import Shape
from gradtape.forking import cached_property
from gradtape.jit.ir.program import Instruction, LoopFunction, LoopRunners, Program, ProgramError, Value

GOES_ON, ROW = 0, 1
"""The places of the condition and of the number of the row among the carried values."""
CONTROLS = 2
"""How many carried values control the loop."""

while_runners: LoopRunners[WhileLoop] = LoopRunners()


@dataclasses.dataclass(eq=False)
class WhileLoop:
    """What a `WHILE` repeats, and how its operands and results are laid out.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.jit import jit
    >>> halve = jit(lambda x: gt.while_loop(lambda x: x > 1.0, lambda x: x / 2.0, x))
    >>> print(halve.lower(np.float64(100.0)))  # doctest: +ELLIPSIS
    inputs   %0: float64[]
    constant %2: int64[] = 0
      %1: bool[] = greater(%0, 1.0)...
      %3: bool[], %4: int64[], %5: float64[] = while, carry %1 %2 %0...
        inputs   %0: bool[], %1: int64[], %2: float64[]
          %3: float64[] = divide(%2, 2.0)...
          %4: bool[] = greater(%3, 1.0)...
          %5: int64[] = add(%1, 1)...
        outputs  %4, %5, %3
    outputs  %5
    made     of 2 recorded instructions; run as 1 native group of 2 instructions
    """

    body: Program
    carried: int
    sliced: int = 0
    stacked: int = 0
    rows: int = 0

    @property
    def effect(self) -> bool:
        """Whether an instruction of the body has an effect besides its results."""
        return any(instruction.effect for instruction in self.body.instructions)

    @property
    def has_rows(self) -> bool:
        """Whether the steps read or write rows of arrays."""
        return bool(self.sliced or self.stacked)

    @cached_property
    def runner(self) -> LoopFunction:
        """The loop as a function of its operands' arrays, made when it is first asked for."""
        return while_runners.compile(self)

    @property
    def evaluator(self) -> LoopFunction:
        """The loop as a function that is called once or twice."""
        return while_runners.evaluator(self)

    def result_specs(self) -> list[tuple[Shape, np.dtype[Any]]]:
        """The shapes and dtypes of the results."""
        outputs = self.body.outputs
        last = [(value.shape, value.dtype) for value in outputs[: self.carried]]
        return last + [((self.rows, *value.shape), value.dtype) for value in outputs[self.carried :]]

    def head(self, values: tuple[Value, ...]) -> str:
        """One line that tells what is carried, read and stacked; `values` are the operands."""
        names = [f"%{value.id}" for value in values]
        first = self.carried + self.sliced
        parts = {
            "carry": names[: self.carried],
            "slice": [f"{name}[row]" for name in names[self.carried : first]],
            "read": names[first:],
            "stack": ["[row]"] * self.stacked,
        }
        return "while" + "".join(f", {what} {' '.join(items)}" for what, items in parts.items() if items)


def _run_while(*arrays: Any, loop: WhileLoop) -> tuple[Any, ...]:
    return loop.runner.call(*arrays)


WHILE = Op("while", _run_while, kind="loop", outputs=True)
"""The operation of an instruction that repeats the body of its parameter `loop` while a carried condition holds."""


def find_partly_written(instructions: Sequence[Instruction]) -> set[Value]:
    """The results that may have rows which no step of a while loop has written, and which nothing reads."""
    found: set[Value] = set()
    for instruction in instructions:
        if instruction.op.kind != "loop":
            continue
        loop = instruction.params["loop"]
        inside = find_partly_written(loop.body.instructions)
        for index, (result, output) in enumerate(zip(instruction.results, loop.body.outputs, strict=True)):
            if output in inside or (instruction.op is WHILE and index >= loop.carried):
                found.add(result)
    return found


def verify_while(instruction: Instruction) -> None:
    """Raise a `ProgramError` unless a `WHILE` keeps the specification; its body is verified by the caller."""
    loop, values = instruction.params["loop"], instruction.values
    inputs, outputs = loop.body.inputs, loop.body.outputs
    counts = len(instruction.operands), len(values), len(outputs), len(instruction.results)
    if counts != (len(inputs), len(inputs), loop.carried + loop.stacked, len(outputs)):
        raise ProgramError(f"a loop has other operands or results than its body, in {instruction!r}")
    if loop.carried < CONTROLS or len(inputs) < loop.carried + loop.sliced or loop.effect != instruction.effect:
        raise ProgramError(f"a loop is not what it says about itself, in {instruction!r}")
    controls = [(value.shape, value.dtype) for value in inputs[:CONTROLS]]
    if controls != [((), np.dtype(bool)), ((), np.dtype(np.int64))]:
        raise ProgramError(f"a condition and the number of a row come first among the carried values: {instruction!r}")
    for index, (inner, outer) in enumerate(zip(inputs, values, strict=True)):
        is_sliced = loop.carried <= index < loop.carried + loop.sliced
        shape = (loop.rows, *inner.shape) if is_sliced else inner.shape
        if outer.shape != shape or outer.dtype != inner.dtype:
            raise ProgramError(f"the body reads {outer!r} as {inner!r}, in {instruction!r}")
    for inner, outer in zip(inputs[: loop.carried], outputs[: loop.carried], strict=True):
        if (inner.shape, inner.dtype) != (outer.shape, outer.dtype):
            raise ProgramError(f"{inner!r} is carried as {outer!r}, in {instruction!r}")
    if [(value.shape, value.dtype) for value in instruction.results] != loop.result_specs():
        raise ProgramError(f"the results have other shapes or dtypes than the body's, in {instruction!r}")
