"""The steps of a plan: loop nests, and calls between them."""

from __future__ import annotations

import dataclasses

from gradtape.jit.native.lower.ir import GATHER, AnyInstruction, ArrayValue
from gradtape.jit.native.lower.support import CHECKED


@dataclasses.dataclass(eq=False)
class Nest:
    """A loop nest over one shape: what it loads, computes, stores, scatters into other values, and reduces."""

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    level: int
    windowed: bool = False
    stores: list[ArrayValue] = dataclasses.field(default_factory=list)
    scatters: list[AnyInstruction] = dataclasses.field(default_factory=list)
    reductions: list[AnyInstruction] = dataclasses.field(default_factory=list)
    loads: list[ArrayValue] = dataclasses.field(default_factory=list)
    instructions: list[AnyInstruction] = dataclasses.field(default_factory=list)

    @property
    def tables(self) -> list[ArrayValue]:
        """The arrays that gathers read."""
        return list(dict.fromkeys(i.params["table"] for i in self.instructions if i.name == GATHER))

    @property
    def is_checked(self) -> bool:
        """Whether an instruction checks indices."""
        return any(instruction.name in CHECKED for instruction in self.instructions)

    @property
    def roots(self) -> list[ArrayValue]:
        """The values that the nest has to compute: what is stored, scattered or reduced."""
        return self.stores + [instruction.values[0] for instruction in self.scatters + self.reductions]


@dataclasses.dataclass(eq=False)
class CallStep:
    """A step that is one instruction, which reads and writes memory."""

    instruction: AnyInstruction
    level: int
