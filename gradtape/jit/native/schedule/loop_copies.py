"""Arrays that the steps of a loop copy as a whole, since a part of them is written while the old version is needed."""

from __future__ import annotations

from typing import NamedTuple

from gradtape.jit.native.lower.ir import ArrayValue


class LoopCopy(NamedTuple):
    """A copy in each step: the new version, the bytes of the array and of the part that is written, and the steps.

    `steps` is None where the number of steps depends on values.
    """

    result: ArrayValue
    size: int
    part: int
    steps: int | None

    def repeated(self, steps: int | None) -> LoopCopy:
        """The same copy in each step of a loop around the loop."""
        return self._replace(steps=None if steps is None or self.steps is None else steps * self.steps)
