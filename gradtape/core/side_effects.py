"""What a run of a function has changed besides its results, and how that is undone before another run."""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.early_binding import nested_codes
from gradtape.core.kept_state import Place, ReachedState, cell_place, item_place, parts_of_group
from gradtape.core.tensor import Tensor
from gradtape.core.views import invalidate_views, root_of

_SLOTS = ("_array", "_node", "_source", "_held", "_level", "traced")


class Saved(NamedTuple):
    """How something is asked whether it is as it was, and made so again."""

    is_same: Callable[[], bool]
    restore: Callable[[], Any]


class StateBefore:
    """What functions and objects can change, as it is now: names, containers, attributes, tensors, arrays, generators.

    >>> seen = []
    >>> before = StateBefore([lambda x: seen.append(x)])
    >>> seen.append(1.0)
    >>> before.restore(), seen
    (True, [])
    """

    def __init__(self, roots: list[Any]) -> None:
        reached = ReachedState(roots)
        places = [*reached.places, *_assigned_names(reached.functions)]
        self._saved = [_save_place(place) for place in places]
        self._saved += [_save_attributes(owner) for owner, _ in reached.owners if _is_object(owner)]
        self._saved += [_save_class(owner) for owner, _ in reached.owners if isinstance(owner, type)]
        found = {id(x): x for x in [*roots, *_values_in(places)]}.values()
        self.has_iterators = any(isinstance(x, Iterator) for x in found)
        """Whether there is an iterator: where it is cannot be put back."""
        roots_of_views = {id(root): root for x in found if isinstance(x, Tensor) for root in [root_of(x)]}
        self._saved += [save_tensor(tensor) for tensor in roots_of_views.values()]
        self._saved += [save_array(x) for x in found if isinstance(x, np.ndarray) and x.flags.writeable]
        sources = [x.bit_generator for x in found if isinstance(x, np.random.Generator)]
        self._random = [(source, source.state) for source in sources]

    def restore(self) -> bool:
        """Make all as it was; whether anything was not. Random numbers that were drawn do not count by themselves."""
        changed = [saved for saved in self._saved if not saved.is_same()]
        for saved in reversed(changed):
            saved.restore()
        for source, position in self._random if changed else ():
            source.state = position
        return bool(changed)


def _assigned_names(functions: Iterable[types.FunctionType]) -> Iterator[Place]:
    """The places of the names that functions assign to: of enclosing functions, and of their modules."""
    for function in functions:
        instructions = [x for code in nested_codes(function.__code__) for x in dis.get_instructions(code)]
        for name in {x.argval for x in instructions if x.opname == "STORE_GLOBAL"}:
            yield item_place(function.__globals__, name)
        assigned = {x.argval for x in instructions if x.opname == "STORE_DEREF"}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            with suppress(ValueError):  # a name that has no value yet
                if name in assigned:
                    yield cell_place(cell)


def _values_in(places: Iterable[Place]) -> Iterator[Any]:
    pending = [value for place in places for value in place.values]
    while pending:
        value = pending.pop()
        yield value
        pending += parts_of_group(value) or ()


def _is_object(owner: Any) -> bool:
    return not isinstance(owner, type | types.ModuleType) and isinstance(getattr(owner, "__dict__", None), dict)


def _save_place(place: Place) -> Saved:
    values = place.read()
    return Saved(lambda: _same_items(place.read(), values), lambda: place.write(values))


def _save_attributes(owner: Any) -> Saved:
    names = vars(owner)
    before = dict(names)

    def restore() -> None:
        names.clear()
        names.update(before)

    return Saved(lambda: _same_items(names, before) and _same_items(names.values(), before.values()), restore)


def _save_class(kind: type) -> Saved:
    """The names of a class of the user's; the values of those that its functions read are in places."""
    before = {*vars(kind)}

    def restore() -> None:
        for name in vars(kind).keys() - before:
            delattr(kind, name)

    return Saved(lambda: vars(kind).keys() <= before, restore)


def _same_items(one: Any, other: Any) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def save_tensor(tensor: Tensor) -> Saved:
    """The value of a tensor that is no view, its place in the graph, and the interpreter whose tensor it is."""
    kind = type(tensor)

    def read() -> dict[str, Any]:
        found = {}
        for slot in _SLOTS:
            with suppress(AttributeError):
                found[slot] = object.__getattribute__(tensor, slot)
        return found

    before = read()

    def is_same() -> bool:
        now = read()
        return type(tensor) is kind and now.keys() == before.keys() and all(now[slot] is before[slot] for slot in now)

    def restore() -> None:
        if type(tensor) is not kind:
            object.__setattr__(tensor, "__class__", kind)
        for slot in read().keys() - before.keys():
            object.__delattr__(tensor, slot)
        for slot, value in before.items():
            object.__setattr__(tensor, slot, value)
        invalidate_views(tensor)

    return Saved(is_same, restore)


def save_array(array: np.ndarray[Any, Any]) -> Saved:
    """The elements of an array that can be written to."""
    before = array.copy()
    return Saved(lambda: array.tobytes() == before.tobytes(), lambda: np.copyto(array, before))
