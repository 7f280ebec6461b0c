"""What the outputs of a program are to the caller: the template of the answer, and what a call writes besides."""

from __future__ import annotations

from types import CellType
from typing import Any, Protocol

import numpy as np

from gradtape.core.pytree import leaves, rebuild
from gradtape.core.tensor import Tensor


class Arguments(Protocol):
    """The arguments of a call, as far as writes to them are concerned."""

    def owner(self, index: int) -> Any:
        """The Variable or array that is input `index` of the program."""


class Write:
    """Something that a call changes besides what it returns: a Variable, an array in place, an attribute or a name."""

    def __init__(self, kind: str, where: Any, key: Any = None, in_place: bool = False) -> None:
        self.kind, self.where, self.key = kind, where, key
        self.in_place = in_place  # whether it is an array that is written to

    def target(self, call: Arguments, environment: list[Any]) -> Any:
        """The Variable, tensor or array that gets a new value."""
        return call.owner(self.where) if self.kind == "argument" else environment[self.where]

    def make(self, result: Any, call: Arguments, environment: list[Any]) -> None:
        """Write the new value."""
        if self.kind == "bind" and isinstance(self.where, CellType):
            self.where.cell_contents = result
        elif self.kind == "bind":
            self.where[self.key] = result
        elif isinstance(target := self.target(call, environment), Tensor):
            target._array = np.asarray(result)
        else:
            np.copyto(target, result)


class Output:
    """In a template: a placeholder for one output of the program."""

    def __init__(self, index: int) -> None:
        self.index = index


class Template:
    """What a call returns: a nested structure with placeholders for the program's outputs."""

    def __init__(self, tree: Any, as_numpy: bool) -> None:
        self.tree = tree
        self.as_numpy = as_numpy
        self.parts: list[Any] = leaves(tree)
        self.single = isinstance(tree, Output)
        self.flat = type(tree) is tuple and all(isinstance(part, Output) for part in tree)
        order = [part.index for part in self.parts if isinstance(part, Output)]
        self.in_order = order == list(range(len(order)))
        self.count = len(order)

    def fill(self, results: tuple[Any, ...]) -> Any:
        """The result of a call: the structure with `results` in place of the placeholders, as arrays or tensors."""
        if self.as_numpy:
            if self.single:
                return results[0]
            if self.flat and self.in_order:
                return results[: self.count]
            values = results
        else:
            values = tuple([Tensor(np.asarray(result)) for result in results[: self.count]])
        filled = [values[part.index] if isinstance(part, Output) else part for part in self.parts]
        return rebuild(self.tree, filled)
