"""Which poolings are native, and the boxes of elements that each result covers; `emit.pool` emits them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower.ir import AnyInstruction, are_values

POSITIONS, TAKE, PUT = "positions of the largest", "take from windows", "put into windows"
SUMS, SHARES = "sums over windows", "shares of windows"
LARGEST = "largest of windows"
"""Positions and elements at once."""
BOXED = frozenset({POSITIONS, SUMS, SHARES, LARGEST})
PICKED = frozenset({TAKE, PUT})
NAMES = BOXED | PICKED
_INTEGER = np.dtype(np.int64)


class Boxes(NamedTuple):
    """Along one axis: the first element and the number of elements of each result, and the step between elements."""

    starts: tuple[int, ...]
    counts: tuple[int, ...]
    step: int

    def full_range(self) -> tuple[int, int, int]:
        """The longest range of results whose boxes are full and at equal distances: begin, end, distance."""
        most, best, begin = max(self.counts), (0, 0, 1), 0
        while begin < len(self.starts):
            end = begin + 1
            if self.counts[begin] == most:
                distance = self.starts[end] - self.starts[begin] if end < len(self.starts) else 1
                while end < len(self.starts) and self.counts[end] == most:
                    if self.starts[end] - self.starts[end - 1] != distance:
                        break
                    end += 1
                if end - begin > best[1] - best[0] and distance > 0:
                    best = begin, end, distance
            begin = end
        return best


def find_boxes(windows: Any, shared: bool) -> Boxes | None:
    """The elements of each window along an axis; with `shared`, the windows of each element.

    None if they are not at equal distances.
    """
    places, there = windows.members()
    lists: list[list[int]] = [[] for _ in range(windows.length if shared else windows.outputs)]
    for window in range(windows.outputs):
        for place in places[:, window][there[:, window]]:
            lists[int(place) if shared else window].append(window if shared else int(place))
    steps = {b - a for one in lists for a, b in itertools.pairwise(one)} or {1}
    if len(steps) > 1 or min(steps) < 1:
        return None
    return Boxes(tuple(one[0] if one else 0 for one in lists), tuple(map(len, lists)), steps.pop())


def find_all_boxes(instruction: AnyInstruction) -> list[Boxes] | None:
    """The boxes along each axis; None if one axis has none."""
    found = [find_boxes(along, instruction.name == SHARES) for along in instruction.params["windows"]]
    return None if None in found else found  # type: ignore[return-value]


def supports(instruction: AnyInstruction) -> bool:
    """Whether the arrays are of native dtypes and not empty, and the windows can be described by boxes."""
    values = (*instruction.operands, *instruction.results)
    if not are_values(values) or not all(elementwise.has_type(x.dtype) and math.prod(x.shape) for x in values):
        return False
    x, result = values[0], instruction.results[0]
    if instruction.name in PICKED:
        return bool(x.dtype == result.dtype and x.dtype.kind == "f" and values[1].dtype == _INTEGER)
    if instruction.name == POSITIONS and (x.dtype.kind not in "iuf" or result.dtype != _INTEGER):
        return False
    if instruction.name in (SUMS, SHARES) and (x.dtype.kind != "f" or x.dtype != result.dtype):
        return False
    return find_all_boxes(instruction) is not None


def find_partners(instructions: Sequence[AnyInstruction]) -> dict[AnyInstruction, AnyInstruction]:
    """Instructions that find positions -> the instruction that reads the elements at these positions."""
    makers: dict[object, AnyInstruction] = {i.results[0]: i for i in instructions if i.name == POSITIONS}
    found: dict[AnyInstruction, AnyInstruction] = {}
    for instruction in instructions:
        if instruction.name == TAKE:
            maker = makers.get(instruction.operands[1])
            if maker is not None and maker.operands[0] is instruction.operands[0]:
                found.setdefault(maker, instruction)
    return found
