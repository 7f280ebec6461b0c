"""One row of the registry of native lowerings: see `support.LOWERINGS` for the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from gradtape.jit.native.lower.ir import AnyInstruction, LoweredInstruction


class Lowering(NamedTuple):
    """How the operations of one family become native code.

    A family is either taken apart by `decompose`, or emitted by `emit_call` of the module `emit.<emitter>` as a step of
    its own, or, with neither, a part of loop nests. The emitter is a name, so that it is loaded when it is first used:
    few programs have more than one kind of call.
    """

    names: frozenset[str]
    supports: Callable[[AnyInstruction], bool]
    """Whether an instruction of these names has a native form for its operands."""
    applies: Callable[[AnyInstruction], bool] | None = None
    """Which instructions of these names are of this family, where the rest is of a later row; None for all."""
    decompose: Callable[[AnyInstruction], list[LoweredInstruction]] | None = None
    """From an instruction to those of the native IR that replace it."""
    emitter: str | None = None
    has_memory: bool = False
    """Whether a call needs memory in the workspace, as large as its emitter says."""


def index_by_name(lowerings: Iterable[Lowering]) -> dict[str, tuple[Lowering, ...]]:
    """The rows of each name, in the order of the table."""
    found: dict[str, tuple[Lowering, ...]] = {}
    for lowering in lowerings:
        for name in lowering.names:
            found[name] = (*found.get(name, ()), lowering)
    return found


def find_lowering(index: dict[str, tuple[Lowering, ...]], instruction: AnyInstruction) -> Lowering | None:
    """The row of an instruction; None if there is none."""
    for lowering in index.get(instruction.name, ()):
        if lowering.applies is None or lowering.applies(instruction):
            return lowering
    return None
