"""The memory plan: which large intermediate values share a buffer, and when each value is dead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtape.jit.ir.program import Instruction, LoopFunction, Program, Value
from gradtape.jit.runtime.schedule import NativeGroup, Step

LARGE = 1 << 14
"""Bytes of a value, from which its memory is planned; the memory of smaller ones costs less than a plan of it."""
_NEVER_VIEWS = frozenset({"sum", "mean", "max", "min", "prod", "matmul", "concatenate", "stack", "where"})
"""Operations that are no ufuncs and yet never hand back a view of what they were given."""


class BufferPlan:
    """Which values share a buffer, when each is dead, and how many bytes are alive at most."""

    def __init__(self, program: Program, steps: Sequence[Step], loops: dict[Any, LoopFunction]) -> None:
        """`loops` are the functions of the loops among the steps."""
        self.last: dict[Value, int] = {}  # after which step a value is dead; values that share memory die together
        self.slots: dict[Value, int] = {}
        self.buffers: list[Value] = []  # one value for each buffer, whose shape and dtype it has
        self.fresh: set[Value] = set()  # results in memory of their own
        self._leader: dict[Value, Value] = {}
        self._share_memory(steps)
        self._find_ends(program, steps)
        self.peak = self._assign(program, steps, loops)

    def leader(self, value: Value) -> Value:
        """The value that stands for all that may share its memory."""
        while value in self._leader:
            value = self._leader[value]
        return value

    def _share_memory(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if isinstance(step, NativeGroup) or step.op.ufunc or step.op.name in _NEVER_VIEWS:
                self.fresh.update(step.results)
                continue
            results = step.results
            if step.op.kind == "loop":  # the arrays it stacks are new; what it carries may be what it was given
                results, stacked = results[: step.params["loop"].carried], results[step.params["loop"].carried :]
                self.fresh.update(stacked)
            for result in results:
                for value in step.values:
                    mine, other = self.leader(result), self.leader(value)
                    if mine is not other:
                        self._leader[mine] = other

    def _find_ends(self, program: Program, steps: Sequence[Step]) -> None:
        for index, step in enumerate(steps):
            for value in (*step.values, *step.results):
                self.last[self.leader(value)] = index
        for value in program.outputs:
            self.last[self.leader(value)] = len(steps)
        for constant in program.constants:
            self.last[self.leader(constant.value)] = len(steps)
        for value in program.inputs:
            self.last[self.leader(value)] = len(steps)

    def _assign(self, program: Program, steps: Sequence[Step], loops: dict[Any, LoopFunction]) -> int:
        end = len(steps)
        free: dict[Any, list[int]] = {}
        ending: dict[int, list[Value]] = {}
        alive = peak = 0
        for index, step in enumerate(steps):
            if self._uses_buffer(step, end):
                (result,) = step.results
                spec = result.shape, result.dtype
                slot = self._find_dead_operand(step, index)
                if slot is None:
                    held = free.get(spec)
                    slot = held.pop() if held else len(self.buffers)
                if slot == len(self.buffers):
                    self.buffers.append(result)
                    alive += result.nbytes
                self.slots[result] = slot
            else:
                alive += sum(value.nbytes for value in step.results if value in self.fresh)
            inside = loops[step].peak if step in loops else 0
            peak = max(peak, alive + inside)
            for value in step.results:
                ending.setdefault(self.last[self.leader(value)], []).append(value)
            for value in ending.pop(index, ()):
                if value not in self.slots:
                    alive -= value.nbytes if value in self.fresh else 0
                elif not any(self.slots.get(r) == self.slots[value] for r in step.results):
                    spot = free.setdefault((value.shape, value.dtype), [])
                    if self.slots[value] not in spot:
                        spot.append(self.slots[value])
        return peak

    def _uses_buffer(self, step: Step, end: int) -> bool:
        if isinstance(step, NativeGroup) or not step.op.ufunc or step.params or len(step.results) != 1:
            return False
        (result,) = step.results
        return result.nbytes >= LARGE and bool(result.shape) and self.last[self.leader(result)] < end

    def _find_dead_operand(self, step: Step, index: int) -> int | None:
        """The buffer of an operand that is dead after this step, and may be written over by it."""
        assert isinstance(step, Instruction)
        if getattr(step.op.kernel, "signature", None) is not None:  # a product reads what it would have written
            return None
        result = step.result
        for value in step.values:
            same = (value.shape, value.dtype) == (result.shape, result.dtype)
            if value in self.slots and same and self.last[self.leader(value)] == index:
                return self.slots[value]
        return None
