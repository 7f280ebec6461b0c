"""Parts of an index that advance from step to step of a loop: operands of the instruction say where they are."""

from __future__ import annotations

from typing import NamedTuple


class Gap(NamedTuple):
    """In a template: a part of an index that an operand says."""


class SliceTemplate(NamedTuple):
    """In a template: a slice of `length` positions, `step` apart at most, from where an operand says."""

    length: int
    step: int | None
