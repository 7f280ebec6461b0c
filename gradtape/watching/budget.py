"""How long a program is watched: its first gradients at each place, and some more as long as that has cost little."""

from __future__ import annotations

from collections.abc import Hashable

STEPS = 3
STEPS_WHILE_CHEAP = 40
CALLS_WHILE_CHEAP = 10
"""Fewer calls of a function are recorded: one that gives NaN can be evaluated again with what it was given."""
SECONDS = 0.5
SECONDS_BEFORE_THE_FIRST = 10.0
PLACES_AT_MOST = 256


class Budget:
    """Decides whether the operations before the next gradient are recorded.

    Recorded are the first `steps` gradients that each place of the program takes, or `STEPS_WHILE_CHEAP` of them until
    recording has taken `seconds` in all. Afterwards the program runs at full speed. A program that takes no gradient is
    recorded for `SECONDS_BEFORE_THE_FIRST` at most. A gradient at a place that is met for the first time while nothing
    is recorded lets those after it be recorded. `extend` does so for some gradients: when the loss became NaN.

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
        self._taken = 0  # gradients, at all places
        self._counts: dict[Hashable, int] = {}  # of each place
        self._latest: dict[Hashable, int] = {}  # what `_taken` was at the latest gradient of each place
        self._fewest = 0  # gradients of a place that is in use
        self._extended = 0

    @property
    def is_left(self) -> bool:
        """Whether operations are to be recorded now."""
        if self._taken:
            return self._extended > 0 or self.wants(self._fewest)
        return self.spent < SECONDS_BEFORE_THE_FIRST

    def wants(self, count: int, most: int = STEPS_WHILE_CHEAP) -> bool:
        """Whether one more gradient is to be recorded where `count` have been taken; `most` while that is cheap."""
        return count < self.steps or (count < most and self.spent < self.seconds)

    def is_due(self, place: Hashable) -> bool:
        """Whether the call that is made next, at `place`, is to be recorded, where the place is known before.

        After the first ones these are the 17th, the 33rd, the 65th and so on.
        """
        count = self._counts.get(place, 0)
        is_sampled = count > CALLS_WHILE_CHEAP and count & (count - 1) == 0
        return self._extended > 0 or is_sampled or self.wants(count, CALLS_WHILE_CHEAP)

    def spend(self, place: Hashable) -> None:
        """Count a gradient that was taken at `place`, recorded or not."""
        if place in self._counts:
            self._counts[place] += 1
        elif len(self._counts) < PLACES_AT_MOST:
            self._counts[place] = int(self.is_left)
        else:
            return
        self._taken += 1
        self._latest[place] = self._taken
        self._extended = max(self._extended - 1, 0)
        # a place that was left alone for so long, such as a test before the loop, is not waited for
        oldest = self._taken - 2 * len(self._counts)
        self._fewest = min(self._counts[each] for each, latest in self._latest.items() if latest > oldest)

    def skip(self, place: Hashable) -> None:
        """Count a gradient of a place that was not due; of a place that has been met before."""
        if place in self._counts:
            self._counts[place] += 1

    def extend(self, gradients: int = STEPS) -> None:
        """Record until so many more gradients were taken."""
        self._extended = max(self._extended, gradients)


__all__ = ["SECONDS", "STEPS", "Budget"]
