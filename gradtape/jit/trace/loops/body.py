"""Steps that Python has run, as the body of a loop (see `gradtape.jit.trace.loops.elide`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.location import as_from
from gradtape.jit.ir.locations import apply_at
from gradtape.jit.ir.program import Literal, Operand, params_key
from gradtape.jit.passes.reroll.induction import progression
from gradtape.jit.trace.loops.live_in import Beginning, Key
from gradtape.jit.trace.loops.template import Row


class Body:
    """One step of a loop, as a function of what it carries and of what varies.

    What is the same in all steps is not part of it, but done before, once, however often a step does it.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        beginning: Beginning,
        order: list[Key],
        varying: dict[int, Any],
        stacked: Sequence[int],
    ) -> None:
        """`rows` are the operations; what is carried comes in the `order` of these keys.

        `varying` are, by operation, the indices or the numbers of all steps, where these are not the same. `stacked`
        are the operations whose results are wanted from all steps.
        """
        self.rows, self.operands, self.order, self.stacked = rows, beginning.operands, order, stacked
        self.__name__ = "loop"
        self.walked = [self._walked(place, found) for place, found in varying.items()]
        self._places = {place: number for number, place in enumerate(varying)}  # where to find what varies
        self._done: dict[int, Any] = {}  # what is the same in all steps, by operation
        self._do_before()

    def _walked(self, place: int, varying: list[Any]) -> Any:
        """What varies, with a row for each step."""
        row = self.rows[place]
        if len(row.like.back) == 1:
            return as_from(row, _rows_of, self.operands[place][0], varying)
        return np.array(varying, row.dtype)

    def _do_before(self) -> None:
        known: dict[Any, Any] = {}
        for place, row in enumerate(self.rows):
            sources = [place - back for back in row.like.back if back]
            if row.varies or not all(source in self._done for source in sources):
                continue
            operands = [
                id(self._done[place - back])
                if back
                else repr(operand.value)
                if isinstance(operand, Literal)
                else operand
                for back, operand in zip(row.like.back, row.model.operands, strict=True)
            ]
            key = row.op, *operands, params_key(row.params)
            if key not in known or key[-1] is None:
                known[key] = self._computed(place, self._done, {}, None)
            self._done[place] = known[key]

    def __call__(self, carry: list[Any], given: list[Any] | None) -> tuple[list[Any], list[Any]]:
        carried = dict(zip(self.order, carry, strict=True))
        made = dict(self._done)
        for place in range(len(self.rows)):
            if place not in made:
                made[place] = self._computed(place, made, carried, given)
        following = [made[origin] if ago == 1 else carried[origin, ago - 1] for origin, ago in self.order]
        return following, [made[origin] for origin in self.stacked]

    def _computed(self, place: int, made: dict[int, Any], carried: dict[Key, Any], given: list[Any] | None) -> Any:
        """The result of an operation, of those that were `made` in this step, and of those that are `carried`."""
        row = self.rows[place]
        inputs = []
        for back, operand in zip(row.like.back, self.operands[place], strict=True):
            ago, origin = divmod(place - back, len(self.rows))
            inputs.append(operand if not back else carried[origin, -ago] if ago else made[origin])
        if given is not None and place in self._places:
            varying = given[self._places[place]]
            if len(inputs) == 1:
                return varying
            inputs[row.number_at] = varying
        assert row.op is not None  # it came through a door
        return apply_at(row, row.op, inputs, row.params)


def _key(operand: Operand) -> Any:
    return (type(operand.value), repr(operand.value)) if isinstance(operand, Literal) else operand


def _rows_of(array: Any, indices: list[tuple[Any, ...]]) -> Any:
    """The parts of `array` at `indices`, along a first axis; where the indices differ, they are integers."""
    columns = [*zip(*indices, strict=True)]
    moving = [axis for axis, parts in enumerate(columns) if any(part != parts[0] for part in parts)]
    places = {axis: np.array(columns[axis]) % array.shape[axis] for axis in moving}
    if len(moving) != 1:
        if any(type(part) is slice for part in indices[0]):
            return np.stack([array[index] for index in indices])
        return array[tuple([np.array(parts) for parts in columns])]
    (axis,) = moving
    walk = progression(places[axis])
    along = places[axis] if walk is None else walk.rows(len(indices))  # which no copy is made of
    rows = array[(slice(None),) * axis + (along,)]
    rest = [slice(None) if place == axis else part for place, part in enumerate(indices[0])]
    before = sum(type(part) is slice for part in indices[0][:axis])
    return np.moveaxis(rows[tuple(rest)], before, 0)
