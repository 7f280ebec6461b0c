"""Workspace: one block of memory that holds all temporaries of a `Block`.

A temporary has a live range: from the first to the last step that reads or writes it. Two temporaries may have the same
memory if their live ranges do not overlap. In-place reuse: a temporary also takes over the memory of another one in the
step that reads that one for the last time, where the emitter of the step allows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from gradtape.config import config

ALIGNMENT = 64
"""Bytes: the start of the workspace, and of each temporary in it, is a multiple of this."""


_PAGE = 4096
_STAGGER = 320


def align(size: int) -> int:
    """The size in bytes, rounded up to the alignment.

    >>> from gradtape.jit.native.schedule.workspace import align
    >>> [align(size) for size in (0, 1, 64, 65)]
    [0, 64, 64, 128]
    """
    return -(-size // ALIGNMENT) * ALIGNMENT


def padded(size: int) -> int:
    """The aligned size of a temporary, and a gap after it where its size is close to a multiple of 4096 bytes.

    Such arrays side by side would have their elements at addresses that agree in the last twelve bits: they would share
    the few lines of one set of the first cache, and loads would wait for stores to the other array.

    >>> from gradtape.jit.native.schedule.workspace import padded
    >>> [padded(size) for size in (1000, 4096, 5000, 8192)]
    [1024, 4416, 5056, 8512]
    """
    size = align(size)
    near = min(size % _PAGE, -size % _PAGE)
    return size + _STAGGER if size >= _PAGE and near < _STAGGER else size


class Arrangement(NamedTuple):
    """The offset of each temporary, the size of the workspace, and the first step of each chain of reuse.

    `starts` has the temporaries that do not take over the memory of another one: in the checking mode, that memory is
    filled with poison before the step.
    """

    offsets: dict[Any, int]
    size: int
    starts: dict[Any, int]


class _Placed:
    """The pieces of memory that are taken, by their offsets; a program may have tens of thousands of them."""

    def __init__(self, most: int) -> None:
        self._table = np.zeros((4, most), np.int64)  # offset, end, first step, last step
        self._count = 0
        self.size = 0

    def add(self, length: int, first: int, last: int) -> int:
        """Take `length` bytes for some steps, at the lowest offset that is free; that offset."""
        table, count = self._table, self._count
        begins, ends = table[:2, :count].compress((table[2, :count] <= last) & (table[3, :count] >= first), axis=1)
        offset = 0
        if len(begins):
            free_from = np.maximum.accumulate(ends)
            before = np.concatenate(([0], free_from[:-1]))
            fits = before + length <= begins
            offset = int(before[fits.argmax()] if fits.any() else free_from[-1])
        place = int(np.searchsorted(table[0, :count], offset))
        table[:, place + 1 : count + 1] = table[:, place:count].copy()
        table[:, place] = offset, offset + length, first, last
        self._count, self.size = count + 1, max(self.size, offset + length)
        return offset


class Workspace:
    """Sizes, live ranges and in-place reuse of temporaries, recorded while the steps are emitted.

    >>> from gradtape.jit.native.schedule.workspace import Workspace
    >>> workspace = Workspace({"a": 64, "b": 128, "c": 64})
    >>> for step, keys in enumerate([["a"], ["a", "b"], ["b", "c"]]):
    ...     workspace.record_uses(step, keys)
    >>> workspace.arrange(3).offsets
    {'b': 0, 'a': 128, 'c': 128}
    """

    def __init__(self, sizes: dict[Any, int]) -> None:
        self.sizes = sizes
        self._uses: dict[Any, list[int]] = {}
        self._reuses: list[tuple[int, Any, Any]] = []

    def record_uses(self, step: int, keys: Iterable[Any]) -> None:
        """Record that a step reads or writes these values; those that are not temporaries are ignored."""
        for key in keys:
            if key in self.sizes:
                self._uses.setdefault(key, []).append(step)

    def record_reuses(self, step: int, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Record pairs of a value that the step reads and one that it may write to the same memory."""
        self._reuses += [(step, *pair) for pair in pairs]

    def arrange(self, steps: int, guard: int = 0) -> Arrangement:
        """Choose the offsets, for code of so many steps: the largest first, each at the lowest offset that is free.

        `guard` is the size of the guard zone after each temporary, in the checking mode.
        """
        ranges = {key: (min(uses), max(uses)) for key, uses in self._uses.items()}
        successors = self._find_successors(ranges)
        inherits = set(successors.values())
        placed = _Placed(len(self.sizes))
        offsets: dict[Any, int] = {}
        starts = {key: ranges.get(key, (0, 0))[0] for key in self.sizes if key not in inherits}
        for key, size in sorted(self.sizes.items(), key=lambda item: -item[1]):
            if key in inherits:
                continue
            chain = [key]
            while chain[-1] in successors:
                chain.append(successors[chain[-1]])
            first, last = ranges.get(key, (0, steps))[0], ranges.get(chain[-1], (0, steps))[1]
            offset = placed.add(padded(size) + guard, first, last)
            offsets.update(dict.fromkeys(chain, offset))
        if config.check != "off":
            from gradtape.jit.native.schedule.verify import verify_workspace

            verify_workspace(ranges, {key: (offsets[key], size) for key, size in self.sizes.items()}, successors)
        return Arrangement(offsets, placed.size, starts)

    def _find_successors(self, ranges: dict[Any, tuple[int, int]]) -> dict[Any, Any]:
        """In-place reuse: temporary -> the one that takes over its memory, whose live range starts where its own ends.

        Each has at most one successor, and is the successor of at most one. One that is needed in a single step has
        no successor and no predecessor at once: these would have the same memory in that step.
        """
        successors: dict[Any, Any] = {}
        taken: set[Any] = set()
        for step, key, successor in self._reuses:
            if key in successors or successor in taken or key not in ranges or successor not in ranges:
                continue
            meets_three = key in taken and ranges[key][0] == step
            meets_three |= successor in successors and ranges[successor][1] == step
            if meets_three or self.sizes[key] < self.sizes[successor]:
                continue
            if ranges[key][1] == step == ranges[successor][0]:
                successors[key] = successor
                taken.add(successor)
        return successors
