"""The order of writes: which of them may be in place, and what is stored before them for that."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from gradtape.jit.native.lower.ir import (
    WRITE,
    AnyInstruction,
    ArrayValue,
    LoweredInstruction,
    LoweredValue,
    is_value,
    values_read,
)
from gradtape.jit.native.lower.support import is_view, leaves_memory
from gradtape.jit.native.schedule.layout import Layout, contiguous_steps


class WriteOrder:
    """Orders the instructions of a plan so that writes can be in place; `layouts` gets those of the copies."""

    def __init__(
        self,
        inputs: Sequence[ArrayValue],
        outputs: Sequence[ArrayValue],
        constants: Collection[ArrayValue],
        layouts: dict[ArrayValue, Layout],
    ) -> None:
        self.inputs, self.outputs, self.constants, self.layouts = inputs, outputs, constants, layouts
        self.tracked: dict[ArrayValue, frozenset[ArrayValue]] = {}
        """Value -> bases of writes that it is computed from."""
        self.materialised: set[ArrayValue] = set()
        """Values that are stored before a base of theirs is written to."""

    def order(self, instructions: list[AnyInstruction], owned: set[ArrayValue]) -> list[AnyInstruction]:
        """Make writes in place possible: nothing is read from the memory of a base after the write.

        A value that was computed from the base before, and is read later, is stored before the write. Of a view of the
        base that is read later, a copy is made before it. Where the base is read later by other views, or as a whole,
        it cannot be overwritten: the write makes a copy of it.
        """
        if not any(instruction.name == WRITE for instruction in instructions):
            return instructions
        instructions = self._move_views_before_writes(instructions)
        defined = {result: place for place, i in enumerate(instructions) for result in i.results}
        reads: dict[ArrayValue, list[tuple[int, ArrayValue]]] = {}  # memory -> who reads which view of it
        for place, instruction in enumerate(instructions):
            if not is_view(instruction):
                for value in values_read(instruction):
                    reads.setdefault(self.layouts[value].root, []).append((place, value))
        for value in self.outputs:
            reads.setdefault(self.layouts[value].root, []).append((len(instructions), value))
        fixed = {*self.constants, *(value for value in self.inputs if value not in owned)}
        overwritten: dict[ArrayValue, int] = {}  # memory -> place of the write that takes it over
        copied: dict[int, list[ArrayValue]] = {}  # place of a write -> views that are copied before it
        for place, instruction in enumerate(instructions):
            root = self.layouts[instruction.values[1]].root if instruction.name == WRITE else None
            if root is None or root in fixed:
                continue
            late = {value for at, value in reads[root] if at > place and at < len(instructions)}
            kept = {value for at, value in reads[root] if at == len(instructions)}
            if any(value is root or defined.get(value, -1) > place for value in late | kept):
                continue
            if sum(math.prod(value.shape) for value in late) >= math.prod(root.shape):
                continue  # a copy of the base is no larger than those of the views
            overwritten[root] = place
            new = instruction.values[0]
            copied[place] = [*late, *([new] if self.layouts[new].root is root and new not in late else ())]
        return self._store_before_writes(instructions, overwritten, copied)

    def _move_views_before_writes(self, instructions: list[AnyInstruction]) -> list[AnyInstruction]:
        """Views of a base that are taken after the write, though they could be before it, are taken before it.

        No code is emitted for a view. In the gradient of `x[i] = y` the old part is read after it is set to zero.
        """
        writes: dict[ArrayValue, int] = {}  # memory -> place of the first write to it
        defined: dict[ArrayValue, int] = {}
        moved: dict[int, list[AnyInstruction]] = {}
        for place, instruction in enumerate(instructions):
            at = writes.get(self.layouts[instruction.values[0]].root) if is_view(instruction) else None
            if at is not None and all(defined.get(value, -1) < at for value in instruction.values):
                moved.setdefault(at, []).append(instruction)
                defined.update(dict.fromkeys(instruction.results, at - 1))
                continue
            if instruction.name == WRITE:
                writes.setdefault(self.layouts[instruction.values[1]].root, place)
            defined.update(dict.fromkeys(instruction.results, place))
        if not moved:
            return instructions
        views = {instruction for taken in moved.values() for instruction in taken}
        made: list[AnyInstruction] = []
        for place, instruction in enumerate(instructions):
            made += moved.get(place, ())
            if instruction not in views:
                made.append(instruction)
        return made

    def _store_before_writes(
        self,
        instructions: list[AnyInstruction],
        overwritten: dict[ArrayValue, int],
        copied: dict[int, list[ArrayValue]],
    ) -> list[AnyInstruction]:
        """Insert the copies of views, and find the values that have to be stored; `tracked` is filled."""
        made: list[AnyInstruction] = []
        copies: dict[ArrayValue, LoweredValue] = {}
        nothing: frozenset[ArrayValue] = frozenset()
        tracked = self.tracked
        tracked.update((value, frozenset({value})) for value in self.inputs if value in overwritten)
        for place, instruction in enumerate(instructions):
            for view in copied.get(place, ()):
                if view not in copies:
                    copies[view] = LoweredValue(view.shape, view.dtype)
                    self.layouts[copies[view]] = Layout(copies[view], 0, contiguous_steps(view.shape))
                    tracked[copies[view]] = tracked.get(view, nothing)
                    self.materialised.add(copies[view])
                    made.append(LoweredInstruction((view,), (copies[view],), "positive", {}))
            if copies and not is_view(instruction) and any(x in copies for x in values_read(instruction)):
                operands = tuple([copies.get(x, x) if is_value(x) else x for x in instruction.operands])
                params, table = instruction.params, instruction.params.get("table")
                if table in copies:
                    params = {**params, "table": copies[table]}
                instruction = LoweredInstruction(
                    operands, instruction.results, instruction.name, params, instruction.op, instruction.effect
                )
            found = nothing
            for value in values_read(instruction):
                bases = tracked.get(value, nothing)
                late = [base for base in bases if overwritten[base] < place]
                if instruction.name == WRITE and value is instruction.values[0]:
                    late += [base for base in bases if overwritten[base] == place]
                if late and not is_view(instruction):
                    self.materialised.add(value)
                elif not leaves_memory(instruction):
                    found |= bases
            for result in instruction.results:
                tracked[result] = found | {result} if result in overwritten else found
            made.append(instruction)
        return made
