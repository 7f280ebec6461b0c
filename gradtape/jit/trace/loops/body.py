"""Body of an elided loop, as a function that `scan_op.trace_scan` traces (see `gradtape.jit.trace.loops.elide`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.location import call_at
from gradtape.jit.ir.locations import apply_at
from gradtape.jit.ir.program import Literal, params_key
from gradtape.jit.passes.reroll.induction import progression
from gradtape.jit.trace.loops.live_in import CarryKey, LiveIn
from gradtape.jit.trace.loops.template import OpTemplate


class ElidedBody:
    """One iteration as a function of the carried values and of the varying ones.

    Loop-invariant operations are not part of it: they are applied once, before the loop, and equal ones are shared.
    """

    def __init__(
        self,
        templates: Sequence[OpTemplate],
        live_in: LiveIn,
        order: list[CarryKey],
        varying: dict[int, Any],
        stacked: Sequence[int],
    ) -> None:
        """`templates` are the operations; `order` are the keys of the carried values, in the order of the carry.

        `varying` are the indices or numbers of all iterations, by operation, where they differ. `stacked` are the
        operations whose results are wanted from all iterations.
        """
        self.templates, self.operands, self.order, self.stacked = templates, live_in.operands, order, stacked
        self.__name__ = "loop"
        self.walked = [self._stack_varying(place, found) for place, found in varying.items()]
        self._places = {place: number for number, place in enumerate(varying)}  # position in `walked`
        self.invariant: dict[int, Any] = {}  # results of loop-invariant operations
        self._hoist_invariants()

    def _stack_varying(self, place: int, varying: list[Any]) -> Any:
        """The varying values, stacked: one row for each iteration."""
        template = self.templates[place]
        if len(template.offsets.back) == 1:
            return call_at(template, _gather_rows, self.operands[place][0], varying)
        return np.array(varying, template.dtype)

    def _hoist_invariants(self) -> None:
        known: dict[Any, Any] = {}
        for place in invariant_operations(self.templates):
            template = self.templates[place]
            operands = [
                id(self.invariant[place - back])
                if back
                else repr(operand.value)
                if isinstance(operand, Literal)
                else operand
                for back, operand in zip(template.offsets.back, template.model.operands, strict=True)
            ]
            key = template.model.op, *operands, params_key(template.params)
            if key not in known or key[-1] is None:
                known[key] = self._apply_op(place, self.invariant, {}, None)
            self.invariant[place] = known[key]

    def __call__(self, carry: list[Any], given: list[Any] | None) -> tuple[list[Any], list[Any]]:
        carried = dict(zip(self.order, carry, strict=True))
        made = dict(self.invariant)
        for place in range(len(self.templates)):
            if place not in made:
                made[place] = self._apply_op(place, made, carried, given)
        following = [made[origin] if ago == 1 else carried[origin, ago - 1] for origin, ago in self.order]
        return following, [made[origin] for origin in self.stacked]

    def _apply_op(self, place: int, made: dict[int, Any], carried: dict[CarryKey, Any], given: list[Any] | None) -> Any:
        """Apply an operation to results `made` in this iteration, `carried` values and invariants."""
        template = self.templates[place]
        inputs = []
        for back, operand in zip(template.offsets.back, self.operands[place], strict=True):
            ago, origin = divmod(place - back, len(self.templates))
            inputs.append(operand if not back else carried[origin, -ago] if ago else made[origin])
        if given is not None and place in self._places:
            varying = given[self._places[place]]
            if len(inputs) == 1:
                return varying
            inputs[template.number_at] = varying
        return apply_at(template, template.model.op, inputs, template.params)


def invariant_operations(templates: Sequence[OpTemplate]) -> list[int]:
    """The operations of the body that give the same result in all iterations."""
    found: dict[int, None] = {}
    for place, template in enumerate(templates):
        sources = [place - back for back in template.offsets.back if back]
        if not template.varies and all(source in found for source in sources):
            found[place] = None
    return list(found)


def _gather_rows(array: Any, indices: list[tuple[Any, ...]]) -> Any:
    """The parts of `array` at `indices`, stacked along a new first axis; the indices differ in integers only."""
    columns = [*zip(*indices, strict=True)]
    moving = [axis for axis, parts in enumerate(columns) if any(part != parts[0] for part in parts)]
    places = {axis: np.array(columns[axis]) % array.shape[axis] for axis in moving}
    if len(moving) != 1:
        if any(type(part) is slice for part in indices[0]):
            return np.stack([array[index] for index in indices])
        return array[tuple([np.array(parts) for parts in columns])]
    (axis,) = moving
    walk = progression(places[axis])
    along = places[axis] if walk is None else walk.rows(len(indices))  # a slice: a view, no copy
    parts = array[(slice(None),) * axis + (along,)]
    rest = [slice(None) if place == axis else part for place, part in enumerate(indices[0])]
    before = sum(type(part) is slice for part in indices[0][:axis])
    return np.moveaxis(parts[tuple(rest)], before, 0)
