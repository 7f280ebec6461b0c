"""Which rows of an array that it carries a loop reads and writes, and how they move from step to step.

In step k all accesses are to rows `start + step * (k + d)`, where the *shift* d is a constant of the access. Row m is
touched first by the access with the largest shift and last by that with the smallest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.jit.ir.moving_index import Gap, SliceTemplate
from gradtape.jit.ir.program import Instruction, Loop, Operand, Value, Walk

CARRIED_AT_MOST = 8
"""How many rows a loop may carry for one array."""

READS, SETS, ADDS = (
    frozenset({"getitem_at", "getitem"}),
    frozenset({"set_at", "set"}),
    frozenset({"add_at_at", "add_at"}),
)
ALL = slice(None)


class Access(NamedTuple):
    """A read of, or a write to, a version of the array: `parts` are its index with one part for each axis.

    A part that an operand says is that operand. `shift` and `chain` say which row it is: see `Rows`.
    """

    instruction: Instruction
    parts: tuple[Any, ...]
    chain: int = 0
    shift: int = 0

    @property
    def is_write(self) -> bool:
        """Whether the row is changed."""
        return self.instruction.name not in READS


class Chain(NamedTuple):
    """Rows `start + step * m` of the array, and the shifts at which they are accessed and written to.

    Without writes, `first_write` and `last_write` are None. A row that is the same in all steps has step 0.
    """

    start: int
    step: int
    smallest: int
    largest: int
    first_write: int | None
    last_write: int | None

    def carried(self) -> range:
        """The shifts of the rows that are carried."""
        if self.last_write is None:
            return range(0)
        return range(self.smallest, self.last_write) if self.step else range(1)

    def follows(self, shift: int) -> int:
        """The shift that a carried row has in the step before."""
        return shift + 1 if self.step else shift

    def rows(self, length: int) -> set[int]:
        """All rows that are accessed."""
        steps = range(self.smallest, self.largest + (length if self.step else 1))
        return {self.start + self.step * m for m in steps}


class Rows(NamedTuple):
    """What a loop accesses of an array that it carries: rows along `axis`, of the part that `common` selects.

    `common` has one part for each axis; that of `axis` is all of it. Rows `chain.start + chain.step * (k + shift)` are
    accessed in step k.
    """

    accesses: dict[Instruction, Access]
    common: tuple[Any, ...]
    axis: int
    chains: tuple[Chain, ...]

    @property
    def moves(self) -> bool:
        """Whether some rows are others in each step."""
        return any(chain.step for chain in self.chains)


def find_rows(instruction: Instruction, number: int, constants: dict[Value, np.ndarray[Any, Any]]) -> Rows | None:
    """The rows that a loop accesses of its carried value `number`; None if it does not access it row by row."""
    loop: Loop = instruction.params["loop"]
    body, array = loop.body, loop.body.inputs[number]
    accesses = _find_accesses(loop, number)
    if not accesses or not any(access.is_write for access in accesses):
        return None
    tables = _find_tables(instruction, constants)
    fixed = {*body.inputs[loop.carried + len(loop.sliced) :]}
    for moves in (True, False):
        for axis in range(array.ndim):
            walks = [_progression(access.parts, axis, array.shape[axis], tables) for access in accesses]
            known = [walk for walk in walks if walk is not None]
            steps = {walk.step for walk in known if walk.step}
            if len(known) < len(walks) or len(steps) != moves:
                continue
            placed, chains = _place(accesses, known)
            length, count = loop.length, sum(len(chain.carried()) for chain in chains)
            rows = [chain.rows(length) for chain in chains]
            if count > CARRIED_AT_MOST or any(len(chain.carried()) >= length for chain in chains):
                return None
            if sum(map(len, rows)) > len(set().union(*rows)):
                return None
            common = tuple(
                [ALL if other == axis else _common_part(accesses, other, fixed) for other in range(array.ndim)]
            )
            return Rows({access.instruction: access for access in placed}, common, axis, chains)
    return None


def _place(accesses: Sequence[Access], walks: Sequence[Walk]) -> tuple[list[Access], tuple[Chain, ...]]:
    """The accesses with their chains and shifts: one chain for all rows that are a multiple of the step apart."""
    starts: dict[tuple[int, int], int] = {}
    placed = []
    for access, (first, step) in zip(accesses, walks, strict=True):
        key = step, first % abs(step) if step else first
        start = starts.setdefault(key, first)
        shift = (first - start) // step if step else 0
        placed.append(access._replace(chain=list(starts).index(key), shift=shift))
    chains = []
    for number, ((step, _), start) in enumerate(starts.items()):
        shifts = [access.shift for access in placed if access.chain == number]
        writes = [access.shift for access in placed if access.chain == number and access.is_write]
        last = max(writes, default=None)
        chains.append(Chain(start, step, min(shifts), max(shifts), min(writes, default=None), last))
    return placed, tuple(chains)


def _find_accesses(loop: Loop, number: int) -> list[Access] | None:
    """All accesses to the versions of a carried value; None if it is used in other ways, too."""
    body = loop.body
    last = body.outputs[number]
    versions = {body.inputs[number]}
    found: list[Access] = []
    for instruction in body.instructions:
        if not any(value in versions for value in instruction.values):
            continue
        first, *others = instruction.operands
        writes = instruction.name in SETS or instruction.name in ADDS
        if not writes and instruction.name not in READS:
            return None
        if first not in versions or any(x in versions for x in others) or instruction.effect:
            return None
        params = instruction.params
        template = params["template"] if "template" in params else params["index"]
        parts = _expand(template, others[1:] if writes else others, body.inputs[number].ndim)
        if parts is None or (writes and None in parts):
            return None
        found.append(Access(instruction, parts))
        if writes:
            versions.add(instruction.result)
    used = [value for value in body.outputs if value in versions]
    return found if used == [last] and last is not body.inputs[number] else None


def _expand(template: tuple[Any, ...], operands: Sequence[Operand], rank: int) -> tuple[Any, ...] | None:
    """The index with one part for each axis, and with the operands in the gaps; None if it has arrays in it."""
    kinds = (int, slice, Gap, type(None), type(Ellipsis))
    if any(not isinstance(part, kinds) or isinstance(part, bool) for part in template):
        return None
    named = sum(part is not None and part is not Ellipsis for part in template)
    supply = iter(operands)
    parts: list[Any] = []
    for part in template:
        if part is Ellipsis:
            parts += [ALL] * (rank - named)
        else:
            parts.append(next(supply) if isinstance(part, Gap) else part)
    axes = sum(part is not None for part in parts)
    return (*parts, *[ALL] * (rank - axes))


def _part(parts: tuple[Any, ...], axis: int) -> Any:
    """The part of an index for an axis of the array."""
    return [part for part in parts if part is not None][axis]


def _find_tables(
    instruction: Instruction, constants: dict[Value, np.ndarray[Any, Any]]
) -> dict[Value, np.ndarray[Any, Any]]:
    """The inputs of the body that are integers known for each step."""
    loop: Loop = instruction.params["loop"]
    found = {}
    for place, walk in enumerate(loop.sliced, loop.carried):
        array = constants.get(instruction.operands[place])  # type: ignore[arg-type]
        if array is not None and array.ndim == 1 and array.dtype.kind == "i":
            found[loop.body.inputs[place]] = array[walk.rows(loop.length)]
    return found


def _progression(
    parts: tuple[Any, ...], axis: int, length: int, tables: dict[Value, np.ndarray[Any, Any]]
) -> Walk | None:
    """How an index advances along an axis of that length; None if that is not known, or if it is a slice."""
    part = _part(parts, axis)
    if type(part) is int:
        return Walk(part % length, 0)
    table = tables.get(part) if type(part) is Value else None
    if table is None or len(table) < 2:
        return None
    moves = np.diff(table)
    return Walk(int(table[0]), int(moves[0])) if (moves == moves[0]).all() else None


def _common_part(accesses: Sequence[Access], axis: int, fixed: set[Value]) -> Any:
    """The part of the index for an axis, if all accesses have the same one and it is the same in all steps."""
    first, *others = [_part(access.parts, axis) for access in accesses]
    if type(first) is Value:
        return first if first in fixed and not first.shape and all(part is first for part in others) else ALL
    same = all(type(part) is type(first) and part == first for part in others)
    return first if same and not isinstance(first, SliceTemplate) else ALL
