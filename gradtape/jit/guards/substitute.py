"""Copies of functions and containers with traced tensors in the place of arrays, for the length of a trace.

The originals are never touched: what a trace binds anew in the copies is found in `Copies.changes`, and what it puts
into objects that were not copied is undone by `Keeper`.
"""

from __future__ import annotations

import copy
import functools
import types
import weakref
from collections import deque
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from gradtape.core.pytree import leaves
from gradtape.jit.errors import Untraceable
from gradtape.jit.guards.holders import BOUND, UNBOUND, contents, slot_names

if TYPE_CHECKING:
    from gradtape.jit.guards.captures import Survey


class Keeper:
    """A snapshot of the containers, names and attributes within reach before a trace."""

    def __init__(self, items: Iterable[Any], copied: Container[int], is_tracer: Callable[[Any], bool]) -> None:
        """`items` are what is within reach; of those in `copied`, by id, the trace sees copies only."""
        self._is_tracer = is_tracer
        self._dictionaries: list[tuple[dict[Any, Any], dict[Any, Any]]] = []
        self._lists: list[tuple[Any, list[Any]]] = []
        self._cells: list[tuple[types.CellType, Any]] = []
        seen: set[int] = set()
        for item in items:
            if isinstance(item, types.FunctionType):
                if id(item.__globals__) not in seen:
                    seen.add(id(item.__globals__))
                    self._dictionaries.append((item.__globals__, dict(item.__globals__)))
                self._cells += [(cell, contents(cell)) for cell in item.__closure__ or ()]
            elif id(item) in copied:
                continue
            elif isinstance(item, dict):
                self._dictionaries.append((item, dict(item)))
            elif isinstance(item, list | deque):
                self._lists.append((item, list(item)))
            elif isinstance(getattr(item, "__dict__", None), dict):
                self._dictionaries.append((vars(item), dict(vars(item))))

    def restore(self) -> str | None:
        """Undo assignments of traced values; returns the name of such a place, if there was one."""
        found: str | None = None
        for cell, before in self._cells:
            if (now := contents(cell)) is not before and self._holds_tracers(now):
                found = "a name of an enclosing function"
                if before is UNBOUND:
                    del cell.cell_contents
                else:
                    cell.cell_contents = before
        for held, earlier in self._dictionaries:
            changed = [key for key, value in list(held.items()) if key not in earlier or earlier[key] is not value]
            for key in changed:
                if self._holds_tracers(held[key]):
                    found = repr(key)
                    if key in earlier:
                        held[key] = earlier[key]
                    else:
                        del held[key]
        for listed, parts in self._lists:
            if not _same_items(listed, parts) and self._holds_tracers(list(listed)):
                found = "a list"
                listed.clear()
                listed.extend(parts)
        return found

    def _holds_tracers(self, value: Any) -> bool:
        return any(self._is_tracer(x) for x in leaves(value))


def _same_items(one: Any, other: list[Any]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


class Tracer(Protocol):
    """The interface of traced tensors that copies use."""

    @property
    def traced(self) -> object:
        """The value of the program that the tensor stands for; it changes when the tensor is written to."""


class Copies:
    """Copies of functions and containers, in which traced tensors are in the place of arrays."""

    def __init__(self, survey: Survey, replace: Callable[[Any], Tracer]) -> None:
        self.survey = survey
        self._replaced: dict[int, Any] = {}
        for place in survey.leaves:
            self._replaced[id(place.value)] = replace(place.value)
        self._given = [self._replaced[id(place.value)].traced for place in survey.leaves]
        self._copies: dict[int, Any] = {}
        self._namespaces: dict[int, dict[str, Any]] = {}
        self._scopes: dict[int, int] = {}  # index of a namespace in the list below
        self._filled: list[tuple[Any, dict[Any, Any], dict[Any, Any]]] = []  # original, copy, content before the trace
        self._lists: list[tuple[Any, list[Any]]] = []
        self._cells: dict[int, list[Any]] = {}  # the original, its copy, and its value before the trace
        self.root = self.of(survey.root)

    def of(self, item: Any) -> Any:
        """The copy of `item` that the trace sees."""
        if id(item) in self._replaced:
            return self._replaced[id(item)]
        if id(item) not in self.survey.changing:
            return item
        if id(item) not in self._copies:
            self._make(item)
        return self._copies[id(item)]

    def _make(self, item: Any) -> None:
        if isinstance(item, types.FunctionType):
            self._make_function(item)
        elif isinstance(item, types.MethodType):
            self._copies[id(item)] = types.MethodType(self.of(item.__func__), self.of(item.__self__))
        elif isinstance(item, BOUND):
            self._copies[id(item)] = getattr(self.of(item.__self__), item.__name__)
        elif hasattr(type(item), "traced_function"):
            self._copies[id(item)] = self.of(item.traced_function)
        elif isinstance(item, weakref.ref):
            self._copies[id(item)] = weakref.ref(self.of(item()))
        elif isinstance(item, types.MappingProxyType):
            self._copies[id(item)] = types.MappingProxyType({key: self.of(value) for key, value in item.items()})
        elif isinstance(item, functools.partial):
            keywords = {name: self.of(value) for name, value in item.keywords.items()}
            self._copies[id(item)] = functools.partial(self.of(item.func), *map(self.of, item.args), **keywords)
        elif isinstance(item, tuple):
            parts = [self.of(part) for part in item]
            self._copies[id(item)] = type(item)(*parts) if hasattr(item, "_fields") else type(item)(parts)
        elif isinstance(item, list | deque):
            listed = self._copies[id(item)] = copy.copy(item)
            listed.clear()
            listed.extend(self.of(part) for part in item)
            self._lists.append((listed, list(listed)))
        elif isinstance(item, dict):
            self._fill(item, self._copies.setdefault(id(item), copy.copy(item)))
        else:
            is_namespace = isinstance(item, types.SimpleNamespace)
            make: Any = types.SimpleNamespace.__new__ if is_namespace else object.__new__
            stand_in = self._copies[id(item)] = make(type(item))
            for name in slot_names(type(item)):
                if hasattr(item, name):
                    object.__setattr__(stand_in, name, getattr(item, name))
            self._fill(vars(item), vars(stand_in))

    def _fill(self, original: dict[Any, Any], copied: dict[Any, Any]) -> None:
        for key, value in list(original.items()):
            copied[key] = self.of(value)
        self._filled.append((original, copied, dict(copied)))

    def _make_function(self, function: types.FunctionType) -> None:
        cells = [self._cell(cell) for cell in function.__closure__ or ()]
        places = self.survey.edges[id(function)]
        names = function.__globals__
        changed = {
            place.key: place.value for place in places if place.container is names and self.has_copy(place.value)
        }
        scope = self._namespace(names, changed) if changed else names
        copied = types.FunctionType(function.__code__, scope, function.__name__, None, tuple(cells) or None)
        self._copies[id(function)] = copied
        copied.__qualname__, copied.__module__, copied.__doc__ = (
            function.__qualname__,
            function.__module__,
            function.__doc__,
        )
        self._fill(function.__dict__, copied.__dict__)
        if function.__defaults__:
            copied.__defaults__ = tuple([self.of(value) for value in function.__defaults__])
        if function.__kwdefaults__:
            copied.__kwdefaults__ = {name: self.of(value) for name, value in function.__kwdefaults__.items()}
        for cell in function.__closure__ or ():
            self._fill_cell(cell)
        for name, value in changed.items():
            scope[name] = self.of(value)
            self._filled[self._scopes[id(names)]][2][name] = scope[name]

    def _cell(self, original: types.CellType) -> types.CellType:
        """The copy of a closure cell, shared by the copies of all functions that share the cell."""
        if id(original) not in self._cells:
            self._cells[id(original)] = [original, types.CellType(), UNBOUND]
        cell: types.CellType = self._cells[id(original)][1]
        return cell

    def _fill_cell(self, original: types.CellType) -> None:
        record = self._cells[id(original)]
        if record[2] is UNBOUND:
            try:
                record[2] = original.cell_contents
            except ValueError:  # a name that is not bound yet
                return
            record[2] = record[1].cell_contents = self.of(record[2])

    def has_copy(self, value: Any) -> bool:
        """Whether the trace sees a copy of `value`, made already or on demand."""
        return id(value) in self._replaced or id(value) in self.survey.changing

    def _namespace(self, names: dict[str, Any], changed: dict[str, Any]) -> dict[str, Any]:
        if id(names) not in self._namespaces:
            copied = self._namespaces[id(names)] = dict(names)
            self._scopes[id(names)] = len(self._filled)
            self._filled.append((names, copied, dict(copied)))
        return self._namespaces[id(names)]

    def changes(self) -> list[tuple[Any, Any, Any]]:
        """The names that the trace has assigned: (original dictionary or cell, key, value)."""
        for listed, before in self._lists:
            if not _same_items(listed, before):
                raise Untraceable("it changes a list that holds arrays; pass the list in, and return it")
        found: list[tuple[Any, Any, Any]] = []
        for cell, copied, bound in self._cells.values():
            try:
                now = copied.cell_contents
            except ValueError:
                now = bound
            if now is not bound:
                found.append((cell, None, now))
        for original, current, earlier in self._filled:
            found += [
                (original, key, value)
                for key, value in current.items()
                if key not in earlier or earlier[key] is not value
            ]
            if any(key not in current for key in earlier):
                raise Untraceable("it deletes a name or an item that holds arrays")
        return found

    def assigned_leaves(self) -> list[tuple[int, Any]]:
        """The leaves whose value the trace has changed in place: their position, and the traced tensor."""
        tensors = [self._replaced[id(place.value)] for place in self.survey.leaves]
        pairs = zip(tensors, self._given, strict=True)
        return [(index, tensor) for index, (tensor, given) in enumerate(pairs) if tensor.traced is not given]
