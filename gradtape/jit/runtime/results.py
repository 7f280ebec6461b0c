"""What a compiled call gives back: the template of its answer, what it writes besides, and a sample of its arrays."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from types import CellType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.pytree import leaves, rebuild
from gradtape.core.tensor import Tensor

if TYPE_CHECKING:
    from gradtape.jit.guards.signature import CallArguments

SAMPLE_BYTES = 1 << 14
"""Up to how many bytes of arguments are kept as copies."""


class Sample:
    """The arrays of a call, for another run of it: small ones as copies, large ones by weak references.

    >>> import numpy as np
    >>> from gradtape.jit.runtime.results import Sample
    >>> Sample([np.ones(2), np.ones(3)]).arrays()
    [array([1., 1.]), array([1., 1., 1.])]
    >>> Sample([np.ones(2), np.ones(100_000)]).arrays()
    [None, None]
    """

    __slots__ = ("_kept",)

    def __init__(self, arrays: Sequence[Any]) -> None:
        small = sum(array.nbytes for array in arrays) <= SAMPLE_BYTES
        self._kept = [x.copy() if small or type(x) is not np.ndarray else weakref.ref(x) for x in arrays]

    def arrays(self) -> list[Any]:
        """The arrays; None for those that are gone."""
        return [x() if isinstance(x, weakref.ref) else x for x in self._kept]


class Write:
    """Something that a call changes besides what it returns: a Variable, an array in place, an attribute or a name."""

    def __init__(self, kind: str, where: Any, key: Any = None, in_place: bool = False) -> None:
        self.kind, self.where, self.key = kind, where, key
        self.in_place = in_place  # whether it is an array that is written to

    def target(self, call: CallArguments, environment: list[Any]) -> Any:
        """The Variable, tensor or array that gets a new value."""
        return call.owner(self.where) if self.kind == "argument" else environment[self.where]

    def make(self, result: Any, call: CallArguments, environment: list[Any]) -> None:
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
