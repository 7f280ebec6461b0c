"""What a function can change, as it is now: names, containers, attributes of objects, tensors and arrays."""

from __future__ import annotations

import dis
import types
from array import array
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gradtape.core.side_effects import Saved, save_array, save_tensor
from gradtape.core.tensor import Tensor
from gradtape.core.views import root_of
from gradtape.jit.guards.captures import Survey
from gradtape.jit.guards.holders import UNBOUND, Attribute, Place, contents, has_content, slot_names
from gradtape.jit.guards.impure_reads import codes_of


class Snapshot:
    """All that a function reaches by name or through its arguments.

    Arrays are looked after by copies, so it says which: those in `arrays`, or all that are reached if that is None.
    """

    def __init__(self, survey: Survey, arrays: Iterable[np.ndarray[Any, Any]] | None = None) -> None:
        found = [place.value for place in survey.leaves]
        tensors = {id(root): root for x in found if isinstance(x, Tensor) for root in [root_of(x)]}.values()
        if arrays is None:
            arrays = [x for x in found if isinstance(x, np.ndarray) and x.flags.writeable]
        self._saved = [saved for item in survey.reached() for saved in _save(item)]
        self._saved += [_save_slot(place) for place in survey.fixed if _is_slot(place)]
        self._saved += [_save_class(kind) for kind in survey.classes]
        self._saved += [
            _save_memory(place.value, before) for place, before in survey.watched if _is_memory(place.value)
        ]
        self._saved += [save_tensor(tensor) for tensor in tensors]
        self._saved += [save_array(array) for array in arrays]

    def restore(self) -> bool:
        """Make all as it was; whether anything was not."""
        changed = [saved for saved in self._saved if not saved.is_same()]
        for saved in reversed(changed):
            saved.restore()
        return bool(changed)


def _save(item: Any) -> Iterator[Saved]:
    """The names that a function binds, the content of a container, or the attributes of an object."""
    if isinstance(item, types.FunctionType):
        yield from _save_names(item)
    elif isinstance(item, list | deque):
        yield _save_list(item)
    elif isinstance(item, set):
        yield _save_set(item)
    elif isinstance(item, dict):
        yield _save_dict(item)
    elif isinstance(getattr(item, "__dict__", None), dict):
        yield _save_dict(vars(item))


def _save_names(function: types.FunctionType) -> Iterator[Saved]:
    stored = _find_stored_names(function.__code__)
    names = function.__globals__
    bound = {name: names[name] for name in stored & {*names}}
    if bound:
        yield Saved(lambda: all(names.get(name) is value for name, value in bound.items()), lambda: names.update(bound))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name in stored and contents(cell) is not UNBOUND:
            yield _save_cell(cell)


def _save_cell(cell: types.CellType) -> Saved:
    before = cell.cell_contents
    return Saved(lambda: contents(cell) is before, lambda: setattr(cell, "cell_contents", before))


def _find_stored_names(code: types.CodeType) -> set[str]:
    """The names outside of itself that a function binds: only these, for other threads may bind others meanwhile."""
    instructions = [instruction for part in codes_of(code) for instruction in dis.get_instructions(part)]
    return {x.argval for x in instructions if x.opname in ("STORE_GLOBAL", "STORE_DEREF")}


def _save_list(listed: Any) -> Saved:
    items = list(listed)

    def restore() -> None:
        listed.clear()
        listed.extend(items)

    return Saved(lambda: _same_items(listed, items), restore)


def _save_set(held: set[Any]) -> Saved:
    items = set(held)

    def restore() -> None:
        held.clear()
        held.update(items)

    return Saved(lambda: held == items, restore)


def _save_dict(held: dict[Any, Any]) -> Saved:
    items = dict(held)

    def restore() -> None:
        held.clear()
        for key, value in items.items():
            put(held, key, value)

    put = OrderedDict.__setitem__ if isinstance(held, OrderedDict) else dict.__setitem__
    return Saved(lambda: _same_items(held, items) and _same_items(held.values(), items.values()), restore)


def _same_items(one: Any, other: Any) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _is_slot(place: Place) -> bool:
    return isinstance(place, Attribute) and place.key in slot_names(type(place.container))


def _save_slot(place: Place) -> Saved:
    return Saved(lambda: place.read() is place.value, lambda: setattr(place.container, place.key, place.value))


def _save_class(kind: type) -> Saved:
    """The members of a class of the user's."""
    before = dict(vars(kind))

    def restore() -> None:
        for name in vars(kind).keys() - before.keys():
            delattr(kind, name)
        for name, value in before.items():
            if vars(kind).get(name) is not value:
                setattr(kind, name, value)

    return Saved(lambda: _same_items(vars(kind).values(), before.values()), restore)


def _is_memory(value: Any) -> bool:
    """Whether the bytes of a value can be written as they were read."""
    if isinstance(value, np.ndarray):
        return value.flags.writeable and not value.dtype.hasobject
    return isinstance(value, bytearray | array)


def _save_memory(value: Any, before: bytes) -> Saved:
    """Memory that is compared with `before`, which ends with the bytes of it."""
    size = memoryview(value).nbytes

    def restore() -> None:
        start = len(before) - size
        if isinstance(value, np.ndarray):
            np.copyto(value, np.frombuffer(before[start:], value.dtype).reshape(value.shape))
        else:
            value[:] = array(value.typecode, before[start:]) if isinstance(value, array) else before[start:]

    return Saved(lambda: has_content(value, before), restore)
