"""The spread of numbers: what is shown of the values and the gradient of an operation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradtape.core.tensor import Tensor

LARGEST_SPREAD = 1 << 24  # elements; larger arrays are sampled


@dataclass
class Spread:
    """The spread of numbers: smallest, mean, largest, root mean square, and how many are not finite."""

    low: float = math.inf
    high: float = -math.inf
    total: float = 0.0
    squares: float = 0.0
    count: int = 0
    bad: int = 0

    @classmethod
    def of(cls, value: Any) -> Spread | None:
        """The spread of an array or number; None for anything else."""
        array = plain(value)
        if array is None or array.dtype.kind not in "fciub" or not array.size:
            return None
        if array.size > LARGEST_SPREAD:
            array = array.reshape(-1)[:: -(-array.size // LARGEST_SPREAD)]
        if array.dtype.kind in "cb":
            array = np.abs(array) if array.dtype.kind == "c" else array.astype(np.int8)
        numbers = array.astype(np.float64).reshape(-1)
        square = float(numbers @ numbers)
        if not math.isfinite(square):  # an overflow of the squares, or numbers that are not finite themselves
            finite = numbers[np.isfinite(numbers)]
            bad = numbers.size - finite.size
            numbers = finite
            square = float(finite @ finite)
        else:
            bad = 0
        if not numbers.size:
            return cls(bad=bad)
        return cls(float(numbers.min()), float(numbers.max()), float(numbers.sum()), square, numbers.size, bad)

    def add(self, other: Spread) -> None:
        """Include the numbers of another spread."""
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.total += other.total
        self.squares += other.squares
        self.count += other.count
        self.bad += other.bad

    @property
    def mean(self) -> float:
        """The mean; NaN of no numbers."""
        return self.total / self.count if self.count else math.nan

    @property
    def rms(self) -> float:
        """The root mean square; NaN of no numbers."""
        return math.sqrt(self.squares / self.count) if self.count else math.nan

    @property
    def norm(self) -> float:
        """The Euclidean norm."""
        return math.sqrt(self.squares)


def plain(value: Any) -> Any:
    """`value` as an array, without recording a departure from the tape; None if it is not numeric."""
    if isinstance(value, Tensor):
        try:
            value = value._concrete()
        except (TypeError, ValueError):
            return None
    if isinstance(value, np.ndarray | np.generic | float | int | complex):
        array = np.asarray(value)
        return array if array.dtype.kind != "O" else None
    return None
