"""How long a program is watched: its first gradients at each place, and as long as watching has cost little."""

from __future__ import annotations

from collections.abc import Hashable

STEPS = 3
SECONDS = 2.0
SECONDS_BEFORE_THE_FIRST = 10.0


class Budget:
    """Decides whether the operations before the next gradient are recorded.

    Recorded are the first `steps` gradients that each place of the program takes, and all others until recording has
    taken `seconds` in all. Afterwards the program runs at full speed. A program that takes no gradient is recorded for
    `SECONDS_BEFORE_THE_FIRST` at most. `extend` records again for some gradients: when the loss became NaN, or when a
    gradient is taken at a place that is met for the first time.

    >>> from gradtape.watching.budget import Budget
    >>> budget = Budget(steps=1, seconds=0.0)
    >>> budget.is_left, budget.spend("train.py:12"), budget.is_left
    (True, None, False)
    >>> budget.spend("validate.py:3"), budget.is_left
    (None, True)
    """

    def __init__(self, steps: int = STEPS, seconds: float = SECONDS) -> None:
        self.steps = steps
        self.seconds = seconds
        self.spent = 0.0  # seconds that recording and judging took so far
        self._gradients: dict[Hashable, int] = {}
        self._extended = 0

    @property
    def is_left(self) -> bool:
        """Whether operations are to be recorded now."""
        if self._extended or self.spent < self.seconds:
            return True
        if not self._gradients:
            return self.spent < SECONDS_BEFORE_THE_FIRST
        return min(self._gradients.values()) < self.steps

    def spend(self, place: Hashable) -> None:
        """Count a gradient that was taken at `place`."""
        was_left = self.is_left
        self._extended = max(self._extended - 1, 0)
        if place not in self._gradients and (self._gradients or not was_left):
            self.extend(1 if self._gradients else self.steps)
        self._gradients[place] = self._gradients.get(place, 0) + 1

    def extend(self, gradients: int = STEPS) -> None:
        """Record until so many more gradients were taken."""
        self._extended = max(self._extended, gradients)


__all__ = ["SECONDS", "STEPS", "Budget"]
