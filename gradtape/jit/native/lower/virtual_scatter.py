"""Windows in the place of scatters: gradients of slices that are read, and never made.

What is put into a window has to be in memory to be read through it; or it is computed again by whoever reads it, where
that takes little, from what is read through windows itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower.ir import GATHER, Changed, Made
from gradtape.jit.native.lower.support import (
    INSIDE,
    SCATTER,
    WINDOW,
    is_call,
    is_reduction,
    is_scatter,
    is_value,
    is_view,
    leaves_memory,
)
from gradtape.jit.native.schedule.layout import window_of

MOST = 24
"""Instructions and loads that rather are done again, for all windows of one shape, than their results stored."""

Window = tuple[tuple[int, int], ...]


def with_windows(instructions: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """The instructions, with windows in the place of scatters that only elementwise ones read."""
    needed, stored = set(outputs), set(outputs)
    for instruction in instructions:
        if is_view(instruction) or leaves_memory(instruction):
            needed.update(instruction.values)
            if not is_scatter(instruction) and not is_reduction(instruction):
                stored.update(instruction.values)
        elif instruction.name == GATHER:
            needed.add(instruction.params["table"])
    windows: dict[Any, Window] = {}
    for instruction in instructions:
        window = window_of(instruction) if instruction.name == SCATTER else None
        if window is not None and instruction.results[0] not in needed:
            windows[instruction] = window
    if not windows:
        return list(instructions)
    again = _Again(instructions, stored, windows)
    made: list[Any] = []
    for instruction in instructions:
        made += again.through(instruction, windows[instruction]) if instruction in windows else [instruction]
    return made


class _Again:
    """Computes values again, as they are seen through windows."""

    def __init__(self, instructions: Sequence[Any], stored: set[Any], windows: dict[Any, Window]) -> None:
        self.makers = {result: i for i in instructions for result in i.results}
        self.order = {instruction: number for number, instruction in enumerate(instructions)}
        self.stored = stored
        self.windowed = {scatter.results[0] for scatter in windows}
        self.seen: dict[Any, Any] = {}  # a value through a window onto an array of some shape
        costs: dict[Any, set[Any]] = {}
        for scatter, window in windows.items():
            done = costs.setdefault(scatter.results[0].shape, set())
            if len(done) <= MOST:
                done.update((x, window) for i in self._chain(scatter.operands[0]) for x in (*i.results, *i.values))
        self.dear = {shape for shape, done in costs.items() if len(done) > MOST}

    def through(self, scatter: Any, window: Window) -> list[Any]:
        """Instructions that make of a scatter's operand what the scatter gives."""
        (operand,), (result,) = scatter.operands, scatter.results
        chain = self._chain(operand)
        if not chain or result.shape in self.dear:
            return [Changed((operand,), (result,), WINDOW, {"window": window}, scatter.op)]
        made: list[Any] = []

        def looked_at(value: Any) -> Any:
            """A value that is in memory, through the window."""
            key = value, window, result.shape
            if key not in self.seen:
                self.seen[key] = Made(result.shape, value.dtype)
                made.append(Changed((value,), (self.seen[key],), WINDOW, {"window": window}))
            return self.seen[key]

        leaf = None
        for instruction in chain:
            (value,) = instruction.results
            operands = []
            for x in instruction.operands:
                if is_value(x) and x.shape == operand.shape:
                    x = self.seen.get((x, window, result.shape)) or looked_at(x)
                    leaf = x if leaf is None else leaf
                operands.append(x)
            key = value, window, result.shape
            if key not in self.seen:
                found = self.seen[key] = Made(result.shape, value.dtype)
                made.append(Changed(tuple(operands), (found,), instruction.name, instruction.params, instruction.op))
        inside = {"window": window, "leaf": leaf}
        return [*made, Changed((self.seen[operand, window, result.shape],), (result,), INSIDE, inside)]

    def _chain(self, value: Any) -> list[Any]:
        """What a value is computed by, from what is in memory; empty if that is too much."""
        found: dict[Any, None] = {}
        waiting = [value]
        while waiting:
            one = waiting.pop()
            maker = self.makers.get(one)
            if one in self.windowed:  # not in memory itself: what is computed from it has to be, to be looked at
                return []
            if maker is None or maker in found or not _is_computed(maker) or one in self.stored:
                continue
            if maker.name in elementwise.HEAVY or not elementwise.supports(maker):
                return []
            if "shape" in maker.params or len(found) == MOST:
                return []
            if any(is_value(x) and x.shape not in (value.shape, ()) for x in maker.operands):
                return []
            found[maker] = None
            waiting += [x for x in maker.operands if is_value(x) and x.shape == value.shape]
        return sorted(found, key=self.order.__getitem__)


def _is_computed(instruction: Any) -> bool:
    """Whether the result of an instruction need not be in memory."""
    return not (is_view(instruction) or leaves_memory(instruction) or is_call(instruction))
