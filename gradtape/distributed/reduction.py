"""Sums over chunks whose bits depend on the chunks alone: float64, weighted by rows, in a fixed binary tree.

The tree pairs neighbours, level by level; the last one of an odd level goes up as it is. An aligned block of 2^k chunks
is a subtree of it, so a task that adds up such a block changes nothing, however many there are and wherever they run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Part(NamedTuple):
    """The sum over some neighbouring chunks: arrays in double precision, and what is needed to hand them out."""

    arrays: list[Array]
    dtypes: list[np.dtype[Any]]
    """The dtypes that the function computed in, which the answer gets again."""
    form: Any
    """The structure of the answer, with the number of an array in the place of each."""

    def plus(self, other: Part) -> Part:
        """The sum of this part and that of the chunks behind it; the arrays of this one are written to."""
        for left, right in zip(self.arrays, other.arrays, strict=True):
            np.add(left, right, out=left)
        dtypes = [np.promote_types(one, two) for one, two in zip(self.dtypes, other.dtypes, strict=True)]
        return Part(self.arrays, dtypes, self.form)


def weigh(found: Sequence[Any], weight: float, form: Any) -> Part:
    """What a function gave for one chunk as a part: times `weight`, in double precision, in memory of its own."""
    arrays = [np.asarray(x) for x in found]
    wide = [np.array(x, np.complex128 if x.dtype.kind == "c" else np.float64) for x in arrays]
    if weight != 1.0:
        for x in wide:
            np.multiply(x, weight, out=x)
    return Part(wide, [x.dtype for x in arrays], form)


class TreeSum:
    """The sum of parts that come one after the other, as the binary tree adds them; log2 of them are kept.

    >>> total = TreeSum()
    >>> for x in (1.0, 2.0, 3.0):
    ...     total.add(weigh([np.array(x)], 1.0, 0))
    >>> float(total.result().arrays[0])
    6.0
    """

    def __init__(self) -> None:
        self._pending: list[tuple[int, Part]] = []  # (level, part), levels falling

    def add(self, part: Part, level: int = 0) -> None:
        """Add the next part: one of the lowest level, or a subtree of 2^level of them that begins at a multiple."""
        while self._pending and self._pending[-1][0] == level:
            part = self._pending.pop()[1].plus(part)
            level += 1
        self._pending.append((level, part))

    def result(self) -> Part:
        """The sum of all parts; there has to be one."""
        *others, (_, part) = self._pending
        for _, other in reversed(others):
            part = other.plus(part)
        return part


def add_parts(parts: Iterable[Part]) -> Part:
    """The sum of neighbouring parts, all of them subtrees of the same height but for the last."""
    total = TreeSum()
    for part in parts:
        total.add(part)
    return total.result()


def aligned_ranges(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """The subtrees that make up the parts from `start` to `stop`: where each begins, and its level.

    >>> list(aligned_ranges(3, 9))
    [(3, 0), (4, 2), (8, 0)]
    """
    while start < stop:
        level = (stop - start).bit_length() - 1
        if start:
            level = min(level, (start & -start).bit_length() - 1)
        yield start, level
        start += 1 << level


def hand_out(array: Array, dtype: np.dtype[Any]) -> Any:
    """A sum in the dtype of the answer; a scalar where it has no axes."""
    return array.astype(dtype, copy=False)[()]
