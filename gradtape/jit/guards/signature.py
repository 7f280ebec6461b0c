"""The arguments of a call and its answer: arrays taken out of nested structures, and put into them again."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from types import CellType
from typing import Any

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.pytree import _children, leaves, rebuild
from gradtape.core.tensor import Tensor, Variable, is_tracked
from gradtape.jit.errors import Untraceable
from gradtape.jit.guards.holders import is_scalar, same_scalar, slot_names
from gradtape.jit.trace.tracer import NUMBERS

SAMPLE_BYTES = 1 << 14
"""Up to how many bytes of arguments are kept as copies."""

_BY_IDENTITY: Any = object.__eq__
_SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None)})


class Inline(Exception):
    """The arguments belong to a tape or another interpreter: the function itself has to run on them."""


class ById:
    """In a key: an object that is only equal to itself, and lives as long as the key."""

    __slots__ = ("item",)

    def __init__(self, item: Any) -> None:
        self.item = item

    def __hash__(self) -> int:
        return id(self.item)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ById) and other.item is self.item


class Alike:
    """In a key: a static value. Another one is equal only if all that a function can read of it is the same.

    Values that are equal need not be: `1 == True == 1.0`, and a class may leave attributes out of its `__eq__`.

    >>> from gradtape.jit.guards.signature import Alike
    >>> Alike((1, "a")) == Alike((1, "a")), Alike((1,)) == Alike((True,))
    (True, False)
    """

    __slots__ = ("item",)

    def __init__(self, item: Any) -> None:
        self.item = item

    def __hash__(self) -> int:
        return hash(self.item)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike) and bool(self.item == other.item) and is_alike(self.item, other.item)


def is_alike(one: Any, other: Any) -> bool:
    """Whether two values that may be equal are of one type, with parts and attributes that are alike."""
    kind: Any = type(one)
    if one is other or kind is not type(other):
        return one is other
    if is_scalar(one):
        return same_scalar(one, other)
    if isinstance(one, tuple | list):
        if len(one) != len(other) or not all(map(is_alike, one, other)):
            return False
    elif isinstance(one, dict):
        if [*one] != [*other] or not all(map(is_alike, one.values(), other.values())):
            return False
    elif isinstance(one, frozenset):
        if {(type(x), x) for x in one} != {(type(x), x) for x in other}:
            return False
    elif kind.__eq__ is _BY_IDENTITY or isinstance(one, np.ndarray | Tensor) or one != other:
        return False  # an array is read anew only where it was found
    names = [name for name in slot_names(kind) if hasattr(one, name) or hasattr(other, name)]
    if not all(hasattr(one, name) and hasattr(other, name) for name in names):
        return False
    if not all(is_alike(getattr(one, name), getattr(other, name)) for name in names):
        return False
    return is_alike(getattr(one, "__dict__", None), getattr(other, "__dict__", None))


class CallArguments:
    """The arguments of one call: the arrays among them, and a key for all the rest."""

    __slots__ = ("arrays", "key", "objects", "tensors", "variables")

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self.key: list[Any] = []
        self.variables: dict[int, Variable] = {}
        self.objects: list[Any] = []
        self.tensors = False

    def owner(self, index: int) -> Any:
        return self.variables.get(index, self.arrays[index])

    def take(self, x: Any) -> None:
        """Add an argument, or a part of one."""
        kind = type(x)
        if kind is np.ndarray:
            if x.dtype.kind not in NUMBERS:
                raise Untraceable(f"an argument has dtype {x.dtype}")
            self.arrays.append(x)
            self.key += (x.dtype, x.shape)
        elif kind in _SCALARS:
            self.key += (kind, repr(x) if kind is float or kind is complex else x)
        elif kind is tuple or kind is list:
            self.key += (kind, len(x))
            for part in x:
                self.take(part)
        elif kind is dict:
            self.key += (kind, tuple(x))
            for part in x.values():
                self.take(part)
        else:
            self._take_other(x, kind)

    def _take_other(self, x: Any, kind: Any) -> None:
        if isinstance(x, Tensor):
            if isinstance(x, Lifted) or is_tracked(x):
                raise Inline
            if isinstance(x, Variable):
                self.variables[len(self.arrays)] = x
                self.key += (kind, ById(x))
            self.tensors = True
            self.arrays.append(x._array)
            self.key += (Tensor, x._array.dtype, x._array.shape)
        elif isinstance(x, np.generic) and x.dtype.kind in NUMBERS:
            self.arrays.append(x)
            self.key += (np.generic, x.dtype)
        elif kind is slice:
            self.key += (slice, repr(x))
        elif kind is np.memmap:
            self.take(np.asarray(x))
        elif isinstance(x, np.ndarray):
            raise Untraceable(f"an argument is a {kind.__name__}, which is more than an array")
        elif (branch := _children(x)) is not None:
            self.key.append(branch[0])
            for part in branch[1]:
                self.take(part)
        else:
            self.take_static(x, "an argument")

    def take_static(self, x: Any, what: str) -> None:
        """Add a value that the program depends on as it is."""
        try:
            hash(x)
        except TypeError:
            raise Untraceable(f"{what} is a {type(x).__name__}, which has no hash to know it by") from None
        self.key += (type(x), Alike(x))
        self.objects.append(x)


class Sample:
    """The arrays of a call, for whoever wants another run: few bytes as copies, others while somebody else has them.

    >>> import numpy as np
    >>> from gradtape.jit.guards.signature import Sample
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
        """Change it, now that the new value is known."""
        if self.kind == "bind" and isinstance(self.where, CellType):
            self.where.cell_contents = result
        elif self.kind == "bind":
            self.where[self.key] = result
        elif isinstance(target := self.target(call, environment), Tensor):
            target._array = np.asarray(result)
        else:
            np.copyto(target, result)


class Output:
    """In a template: the place of an output."""

    def __init__(self, index: int) -> None:
        self.index = index


class Template:
    """What a call returns, with the places of the program's outputs in it."""

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
