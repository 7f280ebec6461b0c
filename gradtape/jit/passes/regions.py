"""Parts of arrays that indices of integers and slices without steps select: boxes along the axes.

>>> from gradtape.jit.passes.regions import find_region, index_of, meets, shape_of
>>> left, right = find_region((slice(1, 3),), (4, 5)), find_region((..., -1), (4, 5))
>>> meets(left, right), shape_of(left), index_of(right)
(True, (2, 5), (slice(0, 4, None), 4))
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtape.core.shapes import Shape


class Part(NamedTuple):
    """The positions along an axis that an index selects, from `start` to `stop`; one position without its axis."""

    start: int
    stop: int
    single: bool

    def covers(self, other: Part) -> bool:
        """Whether all positions of another part are in this one."""
        return self.start <= other.start and other.stop <= self.stop

    def meets(self, other: Part) -> bool:
        """Whether a position is in both."""
        return self.start < other.stop and other.start < self.stop


Region = tuple[Part, ...]
"""The positions along each axis of an array."""


def find_region(index: Any, shape: Shape) -> Region | None:
    """The part of an array that an index selects; None if it is not made of integers and slices without steps."""
    parts: list[Any] = list(index) if isinstance(index, tuple) else [index]
    if any(type(part) not in (int, slice, type(Ellipsis)) for part in parts) or parts.count(Ellipsis) > 1:
        return None
    if Ellipsis in parts:
        place = parts.index(Ellipsis)
        parts[place : place + 1] = [slice(None)] * (len(shape) - len(parts) + 1)
    parts += [slice(None)] * (len(shape) - len(parts))
    region = []
    for part, length in zip(parts, shape, strict=True):
        if type(part) is int:
            region.append(Part(part % length, part % length + 1, True))
            continue
        start, stop, step = part.indices(length)
        if step != 1 or stop <= start:
            return None
        region.append(Part(start, stop, False))
    return tuple(region)


def is_whole(region: Region, shape: Shape) -> bool:
    """Whether a region is all of an array."""
    return all(not part.single and part[:2] == (0, length) for part, length in zip(region, shape, strict=True))


def covers(region: Region, other: Region) -> bool:
    """Whether all elements of another region are in this one."""
    return all(one.covers(part) for one, part in zip(region, other, strict=True))


def meets(region: Region, other: Region) -> bool:
    """Whether an element is in both regions."""
    return all(one.meets(part) for one, part in zip(region, other, strict=True))


def shape_of(region: Region) -> Shape:
    """The shape of what is read of a region."""
    return tuple([part.stop - part.start for part in region if not part.single])


def index_of(region: Region) -> tuple[Any, ...]:
    """The index that selects a region."""
    return tuple([part.start if part.single else slice(part.start, part.stop) for part in region])


def exchange_axes(region: Region, axes: tuple[int, ...]) -> tuple[Region, tuple[int, ...]]:
    """A part of an array with its axes exchanged as a part of the array, and how its own axes are exchanged."""
    inner = tuple([region[axes.index(axis)] for axis in range(len(axes))])
    kept = [axis for axis, part in zip(axes, region, strict=True) if not part.single]
    return inner, tuple([sorted(kept).index(axis) for axis in kept])
