"""The signature of a call: its arguments as a flat list of arrays and a key for all else, and which are static."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from gradtape.core import recording
from gradtape.core.graph import AMBIENT
from gradtape.core.location import Location
from gradtape.core.operation import Lifted
from gradtape.core.pytree import _children
from gradtape.core.tensor import Tensor, Variable, is_tracked
from gradtape.errors import OperandError
from gradtape.jit.errors import Untraceable
from gradtape.jit.guards.holders import is_scalar, same_scalar, slot_names
from gradtape.jit.ir.program import NUMERIC_KINDS
from gradtape.numpy_dispatch.protocols import plain_array_types

_BY_IDENTITY: Any = object.__eq__
_SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None)})


class Inline(Exception):
    """The arguments belong to a tape or another interpreter: the function itself has to run on them."""


class ById:
    """In a key: an object that is compared by identity. The key keeps it alive."""

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
        return False  # an array is an input only where the survey found it
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

    @classmethod
    def of(cls, function: Callable[..., Any], static: Static, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Self:
        """The arguments of a call of `function`."""
        call = cls()
        if not recording.current().bits & AMBIENT:
            call.key.append("no_grad")
        if static.numbers:
            numbers = static.positions(len(args))
            for number, x in enumerate(args):
                if number in numbers:
                    call._take_named_static(x, f"argument {number}", function)
                else:
                    call.take(x)
        else:
            for x in args:
                call.take(x)
        for name in kwargs:
            call.key.append(name)
            if name in static.names:
                call._take_named_static(kwargs[name], name, function)
            else:
                call.take(kwargs[name])
        return call

    def owner(self, index: int) -> Any:
        """The variable whose value the input at `index` is, else the array itself: what a write goes to."""
        return self.variables.get(index, self.arrays[index])

    def take(self, x: Any) -> None:
        """Add an argument, or a part of one."""
        kind = type(x)
        if kind is np.ndarray:
            if x.dtype.kind not in NUMERIC_KINDS:
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
        elif isinstance(x, np.generic) and x.dtype.kind in NUMERIC_KINDS:
            self.arrays.append(x)
            self.key += (np.generic, x.dtype)
        elif kind is slice:
            self.key += (slice, repr(x))
        elif kind is np.memmap or kind in plain_array_types:
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
        """Add a value to the key: the program is only valid for this value."""
        try:
            hash(x)
        except TypeError:
            raise Untraceable(f"{what} is a {type(x).__name__}, which has no hash to know it by") from None
        self.key += (type(x), Alike(x))
        self.objects.append(x)

    def _take_named_static(self, x: Any, what: str, function: Callable[..., Any]) -> None:
        """Add an argument that the user has named as static."""
        try:
            self.take_static(x, what)
        except Untraceable:
            raise OperandError(
                f"jit: {what} of {quote_name(function)} is static, and a {type(x).__name__} cannot be: it has no "
                f"hash.\n"
                f"{Location.here().show()}\n"
                f"  fix: pass a tuple instead of a list, or do not name it in static_argnums or static_argnames"
            ) from None


def quote_name(function: Callable[..., Any]) -> str:
    """The name of a function as messages show it."""
    return repr(getattr(function, "__name__", "the function"))


class Static(NamedTuple):
    """Which arguments of a function are static, whatever their values."""

    numbers: frozenset[int]
    names: frozenset[str]

    def positions(self, count: int) -> set[int]:
        """Which of `count` positional arguments they are."""
        return {n % count for n in self.numbers if -count <= n < count}


def parse_static_arguments(
    function: Callable[..., Any], argnums: int | Sequence[int], argnames: str | Sequence[str]
) -> Static:
    """Static arguments by position and by name; one that is named in one form may be passed in the other.

    >>> from gradtape.jit.guards.signature import parse_static_arguments
    >>> parse_static_arguments(lambda x, n: x * n, (), "n")
    Static(numbers=frozenset({1}), names=frozenset({'n'}))
    """
    numbers, names = _as_set(argnums, int, "static_argnums"), _as_set(argnames, str, "static_argnames")
    if not numbers and not names:
        return Static(numbers, names)
    try:
        own = inspect.signature(function, follow_wrapped=False).parameters.values()
        known = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a built-in function has no signature
        return Static(numbers, names)
    kinds = {parameter.kind for parameter in own}
    by_place = [p.name for p in own if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    unknown = sorted(names - {parameter.name for parameter in own})
    if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
        raise OperandError(
            f"jit: static_argnames={unknown[0]!r}; the function has no argument of that name, but "
            f"{', '.join(repr(parameter.name) for parameter in own) or 'none'}"
        )
    if inspect.Parameter.VAR_POSITIONAL not in kinds:
        far = [number for number in sorted(numbers) if not -len(by_place) <= number < len(by_place)]
        if far:
            raise OperandError(
                f"jit: static_argnums={far[0]}; the function has {len(by_place)} positional arguments, counted from 0"
            )
    both = [parameter.name for parameter in known if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    first = [parameter.name for parameter in known][: len(both)]
    if both != first:  # some can only be given by position
        return Static(numbers, names)
    return Static(
        numbers | {number for number, name in enumerate(both) if name in names},
        names | {both[number] for number in numbers if 0 <= number < len(both)},
    )


def _as_set(given: Any, kind: type, what: str) -> frozenset[Any]:
    items = (given,) if isinstance(given, kind) else tuple(given)
    for item in items:
        if not isinstance(item, kind):
            raise OperandError(f"jit: {what}={given!r}; {kind.__name__} or a sequence of them is wanted")
    return frozenset(items)
