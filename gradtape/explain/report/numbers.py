"""Formats numbers for people."""

from __future__ import annotations

import math

from gradtape.core.shapes import Shape


def number(value: float | None) -> str:
    """A number in three digits.

    >>> number(0.012345), number(1e-9), number(float("nan")), number(None)
    ('0.0123', '1e-09', 'NaN', 'not known')
    """
    if value is None:
        return "not known"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"{value:.3g}"


def count(value: int) -> str:
    """An integer with thousands separated by spaces.

    >>> count(40000), count(999)
    ('40 000', '999')
    """
    return f"{value:,}".replace(",", " ")


def size(bytes_: int) -> str:
    """A number of bytes in kB, MB or GB.

    >>> size(0), size(2048), size(3_400_000)
    ('0 B', '2.0 kB', '3.4 MB')
    """
    if bytes_ < 1000:
        return f"{bytes_} B"
    for unit, worth in (("kB", 1e3), ("MB", 1e6), ("GB", 1e9)):
        if bytes_ < worth * 1000 or unit == "GB":
            return f"{bytes_ / worth:.1f} {unit}"
    raise AssertionError("every number of bytes has a unit")


def stretch(small: Shape, large: Shape) -> tuple[str, int]:
    """The axes of the result along which an operand was stretched, and how many times it is repeated in all.

    >>> stretch((200, 1), (200, 200)), stretch((3,), (5, 3))
    (('1', 200), ('0', 5))
    """
    extra = len(large) - len(small)
    axes = list(range(max(extra, 0)))
    axes += [extra + i for i, length in enumerate(small) if 0 <= extra + i < len(large) and length != large[extra + i]]
    return ", ".join(map(str, axes)), math.prod(large[axis] for axis in axes)
