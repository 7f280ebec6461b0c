"""Hoisting of scatter-adds: if each iteration adds at indices of its own, one addition after the loop replaces them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Value
from gradtape.jit.passes.reroll.find import varying_params
from gradtape.jit.passes.reroll.induction import progression

if TYPE_CHECKING:
    from gradtape.jit.passes.reroll.build import LoopBuilder


class HoistedSums:
    """Sums to which each step adds at a place of its own: `total = total + scatter(x, index=(t,))`.

    They are taken out of the loop: all x are stacked, and added at once. That gives the same bits: a place gets one x,
    and adding zero to the others, however often, does no more than adding it once.
    """

    def __init__(self, rolled: LoopBuilder) -> None:
        self.rolled = rolled
        self.dropped: set[int] = set()
        self.totals: dict[int, tuple[Any, int, int]] = {}  # by which value of a step: index, x's column, place
        stretch, columns, listing = rolled.stretch, rolled.columns, rolled.listing
        if not columns.made or not any(i.name == "scatter" for i in rolled.period):
            return
        reads = np.bincount(columns.origin[columns.internal], minlength=columns.made)
        used = listing.last_use[columns.base : rolled.stop].reshape(stretch.steps, columns.made) >= stretch.end
        firsts = listing.firsts[stretch.begin : stretch.begin + stretch.period] - columns.base
        self._begins = listing.begins[stretch.begin : stretch.begin + stretch.period] - listing.begins[stretch.begin]
        for place, instruction in enumerate(rolled.period):
            if instruction.name != "add" or len(instruction.values) != 2:
                continue
            result, column = int(firsts[place]), int(self._begins[place])
            total, part = column, column + 1
            if not self._is(total, result, 1):
                total, part = part, total
            if not self._is(total, result, 1) or reads[result] != 1 or used[:-1, result].any():
                continue
            origin = int(columns.origin[part])
            if not columns.internal[part] or columns.distance[part] or reads[origin] != 1 or used[:, origin].any():
                continue
            maker = int(np.searchsorted(firsts, origin, "right")) - 1
            index = self._index(maker)
            if index is not None:
                self.dropped |= {place, maker}
                self.totals[result] = index, int(self._begins[maker]), place

    def _is(self, column: int, origin: int, distance: int) -> bool:
        columns = self.rolled.columns
        return bool(columns.internal[column]) and (int(columns.origin[column]), int(columns.distance[column])) == (
            origin,
            distance,
        )

    def _index(self, place: int) -> Any:
        """The index of the combined scatter, if each iteration adds to rows of its own; else None."""
        rolled = self.rolled
        instruction = rolled.period[place]
        params = varying_params(rolled.listing, rolled.stretch, place) if instruction.name == "scatter" else None
        if params is None or type(instruction.operands[0]) is not Value:
            return None
        column = int(self._begins[place])
        if not rolled.columns.internal[column] or rolled.columns.distance[column]:
            return None
        indices = [given["index"] for given in params]
        if any(type(index[0]) is not int or any(type(part) not in (int, slice) for part in index) for index in indices):
            return None
        if any(index[1:] != indices[0][1:] for index in indices):
            return None
        rows = instruction.params["shape"][0]
        walk = progression(np.array([index[0] % rows for index in indices]))
        return None if walk is None or not walk.step else (walk.rows(rolled.stretch.steps), *indices[0][1:])

    def added(self) -> list[int]:
        """The values of an iteration that are stacked for the combined addition."""
        return [int(self.rolled.columns.origin[column]) for _, column, _ in self.totals.values()]

    def finish(self) -> None:
        """Emit the combined addition after the loop."""
        rolled, writer = self.rolled, self.rolled.writer
        for result, (index, column, place) in self.totals.items():
            instruction = rolled.period[place]
            spec = instruction.result.shape, instruction.result.dtype
            rows = rolled.stacks[int(rolled.columns.origin[column])]
            params = {"index": index, "shape": spec[0]}
            part = writer.emit(TABLE["scatter"], (rows,), params, spec, instruction)
            begin = int(self._begins[place])
            total = begin if self._is(begin, result, 1) else begin + 1
            first = writer.value(int(rolled.columns.table[0, total]), instruction)
            operands = (first, part) if total == begin else (part, first)
            rolled.last[result] = writer.emit(instruction.op, operands, {}, spec, instruction)
