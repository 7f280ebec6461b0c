"""Virtual scatters: the gradient of a slice is not materialised; consumers read its source with a bounds check.

A scatter into a slice becomes a *window read* of its operand: the element at the same place where that is inside of the
window, 0 outside. The operand has to be in memory for that. Where it is cheap to compute, it is not stored but computed
again by the consumer, from window reads of what it is computed from, and set to *zero outside* of the window.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower.ir import (
    GATHER,
    WRITE,
    AnyInstruction,
    ArrayValue,
    LoweredInstruction,
    LoweredValue,
    is_value,
)
from gradtape.jit.native.lower.support import (
    SCATTER,
    WINDOW_READ,
    ZERO_OUTSIDE,
    is_call,
    is_reduction,
    is_scatter,
    is_view,
    leaves_memory,
)
from gradtape.jit.native.schedule.layout import find_window

MAX_RECOMPUTED = 24
"""Instructions and loads, for all windows of one shape, up to which values are computed again instead of stored."""

Window = tuple[tuple[int, int], ...]
Shape = tuple[int, ...]


def virtualise_scatters(instructions: Sequence[AnyInstruction], outputs: Sequence[ArrayValue]) -> list[AnyInstruction]:
    """Replace scatters that only elementwise instructions read by window reads."""
    needed, stored = set(outputs), set(outputs)
    for instruction in instructions:
        if is_view(instruction) or leaves_memory(instruction):
            needed.update(instruction.values)
            if not is_scatter(instruction) and not is_reduction(instruction):
                stored.update(instruction.values)
            elif instruction.name == WRITE:
                stored.update(instruction.values[1:])
        elif instruction.name == GATHER:
            needed.add(instruction.params["table"])
    windows: dict[AnyInstruction, Window] = {}
    for instruction in instructions:
        moving = instruction.params.get("moving")
        window = find_window(instruction) if instruction.name == SCATTER and not moving else None
        if window is not None and instruction.results[0] not in needed:
            windows[instruction] = window
    if not windows:
        return list(instructions)
    rematerialiser = _Rematerialiser(instructions, stored, windows)
    made: list[AnyInstruction] = []
    for instruction in instructions:
        made += (
            rematerialiser.lower_scatter(instruction, windows[instruction]) if instruction in windows else [instruction]
        )
    return made


class _Rematerialiser:
    """Computes the operands of scatters again, from window reads."""

    def __init__(
        self, instructions: Sequence[AnyInstruction], stored: set[ArrayValue], windows: dict[AnyInstruction, Window]
    ) -> None:
        self.makers: dict[ArrayValue, AnyInstruction] = {result: i for i in instructions for result in i.results}
        self.order = {instruction: number for number, instruction in enumerate(instructions)}
        self.stored = stored
        self.windowed = {scatter.results[0] for scatter in windows}
        self.seen: dict[
            tuple[ArrayValue, Window, Shape], LoweredValue
        ] = {}  # (value, window, shape of the result) -> the window read of the value
        costs: dict[Shape, set[tuple[ArrayValue, Window]]] = {}
        for scatter, window in windows.items():
            done = costs.setdefault(scatter.results[0].shape, set())
            if len(done) <= MAX_RECOMPUTED:
                done.update(
                    (x, window) for i in self._find_producers(scatter.values[0]) for x in (*i.results, *i.values)
                )
        self.expensive = {shape for shape, done in costs.items() if len(done) > MAX_RECOMPUTED}

    def lower_scatter(self, scatter: AnyInstruction, window: Window) -> list[AnyInstruction]:
        """Instructions that replace a scatter."""
        (operand,), (result,) = scatter.values, scatter.results
        chain = self._find_producers(operand)
        if not chain or result.shape in self.expensive:
            return [LoweredInstruction((operand,), (result,), WINDOW_READ, {"window": window}, scatter.op)]
        made: list[AnyInstruction] = []

        def read_window(value: ArrayValue) -> ArrayValue:
            """The window read of a value that is in memory."""
            key = value, window, result.shape
            if key not in self.seen:
                self.seen[key] = LoweredValue(result.shape, value.dtype)
                made.append(LoweredInstruction((value,), (self.seen[key],), WINDOW_READ, {"window": window}))
            return self.seen[key]

        leaf = None
        for instruction in chain:
            (value,) = instruction.results
            operands = []
            for x in instruction.operands:
                if is_value(x) and x.shape == operand.shape:
                    x = self.seen.get((x, window, result.shape)) or read_window(x)
                    leaf = x if leaf is None else leaf
                operands.append(x)
            key = value, window, result.shape
            if key not in self.seen:
                found = self.seen[key] = LoweredValue(result.shape, value.dtype)
                made.append(
                    LoweredInstruction(tuple(operands), (found,), instruction.name, instruction.params, instruction.op)
                )
        inside = {"window": window, "leaf": leaf}
        return [*made, LoweredInstruction((self.seen[operand, window, result.shape],), (result,), ZERO_OUTSIDE, inside)]

    def _find_producers(self, value: ArrayValue) -> list[AnyInstruction]:
        """The instructions that compute a value from values in memory; none if they are too many or too expensive."""
        found: dict[AnyInstruction, None] = {}
        waiting = [value]
        while waiting:
            one = waiting.pop()
            maker = self.makers.get(one)
            if one in self.windowed:  # a virtual scatter is not in memory: what is computed from it has to be stored
                return []
            if maker is None or maker in found or not _is_computed(maker) or one in self.stored:
                continue
            if maker.name in elementwise.HEAVY or not elementwise.supports(maker):
                return []
            if "shape" in maker.params or len(found) == MAX_RECOMPUTED:
                return []
            if any(is_value(x) and x.shape not in (value.shape, ()) for x in maker.operands):
                return []
            found[maker] = None
            waiting += [x for x in maker.operands if is_value(x) and x.shape == value.shape]
        return sorted(found, key=self.order.__getitem__)


def _is_computed(instruction: AnyInstruction) -> bool:
    """Whether the result of an instruction need not be stored in memory."""
    return not (is_view(instruction) or leaves_memory(instruction) or is_call(instruction))
