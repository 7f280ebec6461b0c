"""Functions that keep the state that they read: attributes, items and elements, as they are now.

`bind_early` binds the names of a function that runs again later. What the names stand for may change as well:

    for k in range(3):
        model.rate = rates[k]
        total = total + integrate.quad(model.decay, 0, 1)[0]

`bind_state` keeps what the function can read there: the attributes that its code names, of objects, classes and
modules; the items of lists, dictionaries and sets; the elements of arrays, and the versions of tensors. When the
function runs and something differs, it is put back for the length of the run. What a run itself does to these objects
stays, and is kept for the next run, if nothing had to be put back; otherwise the items that it adds stay, and what it
replaces is as before the run.
"""

from __future__ import annotations

import functools
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import RLock
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from gradtape.core import early_binding
from gradtape.core.early_binding import bind_early
from gradtape.core.location import is_library, is_own_file
from gradtape.core.operation import Lifted
from gradtape.core.saved_arrays import SMALL, fingerprint
from gradtape.core.tensor import Tensor, Variable
from gradtape.explain import messages

OBJECTS_AT_MOST = 4096
"""Objects that are looked into; what is further away is read as it is when the function runs."""

_DYNAMIC = frozenset({"getattr", "vars", "attrgetter", "__dict__", "__getattribute__", "dir", "getmembers"})
"""Names in a code by which it reads attributes that it does not name."""
_NEVER_CALLED = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__", "__del__"})
_ATOMS = frozenset(
    {int, float, complex, bool, str, bytes, type(None), type(Ellipsis), slice, range, np.ufunc, types.BuiltinMethodType}
)
_DEFINITIONS = frozenset({FunctionType, ModuleType, type})
"""Types of values that names keep: they are looked into, and not compared."""
_ABSENT = object()
_restoring = RLock()
"""Held while a function runs on restored state: two that share an object need other values in it."""


def bind_state(function: Any) -> Any:
    """The function with the names and the state of this moment; itself, if it reads nothing that can change.

    While nothing has changed, the function runs as it is.

    >>> rates = [1.0]
    >>> early = bind_state(lambda x: rates[0] * x)
    >>> rates[0] = 5.0
    >>> early(2.0), rates
    (2.0, [5.0])
    """
    bound: Any = bind_early(function)
    if type(bound) is _WithState:
        return bound
    state = ReachedState([bound])
    return _WithState(bound, state) if state.places or state.root.versions else bound


class _WithState:
    """A function and the state that it runs on."""

    def __init__(self, function: Any, state: ReachedState) -> None:
        for name in functools.WRAPPER_ASSIGNMENTS:
            if hasattr(function, name):
                setattr(self, name, getattr(function, name))
        self.__wrapped__ = function
        self._state = state
        self._runs_now = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        state = self._state
        if self._runs_now:
            return self.__wrapped__(*args, **kwargs)
        changed = [place for place in state.places if place.is_changed()]
        if not changed and not state.root.is_changed():
            try:
                return self.__wrapped__(*args, **kwargs)
            finally:
                for place in state.places:
                    place.keep_change()
        with _restoring:
            now = [(place, place.read(), place.before()) for place in changed]
            try:
                for place, _, before in now:
                    place.write(before)
                return state.root.before()[0](*args, **kwargs)
            finally:
                for place, values, before in now:
                    place.write(place.with_added(values, before))


@contextmanager
def running_now(function: Any) -> Iterator[None]:
    """Have a function of `bind_state` run on the present state in a block: for the first time, with its side effects.

    >>> seen = []
    >>> early = bind_state(lambda x: seen.append(x))
    >>> with running_now(early):
    ...     early(1.0)
    >>> early(2.0)
    >>> seen
    [1.0, 2.0]
    """
    is_bound = type(function) is _WithState
    if is_bound:
        function._runs_now = True
    try:
        yield
    finally:
        if is_bound:
            function._runs_now = False


# -- values with versions


class _ArrayVersion:
    """The elements that an array has now: a copy, or of a large one only what tells whether they have changed."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.copy = array.copy() if array.size <= SMALL else None
        self.fingerprint = fingerprint(array) if self.copy is None else None

    def is_changed(self) -> bool:
        array, copy = self.array, self.copy
        if copy is None:
            return fingerprint(array) != self.fingerprint
        return array.shape != copy.shape or array.tobytes() != copy.tobytes()

    def before(self) -> Any:
        """An array of its own with the elements of before: the function may write to it."""
        if not self.is_changed():
            return self.array
        if self.copy is None:
            raise messages.read_array_changed(self.array.shape)
        return self.copy.copy()


class _TensorVersion:
    """The value and the node that a tensor has now. What is written to it afterwards makes another version."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.kept = _alias(tensor)

    def is_changed(self) -> bool:
        tensor, kept = self.tensor, self.kept
        if tensor._node is not kept._node or tensor._array is not kept._array:
            return True
        return isinstance(tensor, Lifted) and tensor._held is not kept._held  # type: ignore[attr-defined]

    def before(self) -> Any:
        return _alias(self.kept) if self.is_changed() else self.tensor


def _alias(tensor: Tensor) -> Tensor:
    return tensor._on(tensor._node) if isinstance(tensor, Lifted) else Tensor(tensor._array, tensor._node)


class _GroupVersion:
    """A tuple, or a `functools.partial`, in which there are values with versions."""

    def __init__(self, group: Any, parts: list[Any], versions: dict[int, Any]) -> None:
        self.group, self.parts, self.versions = group, parts, versions

    def is_changed(self) -> bool:
        return any(version.is_changed() for version in self.versions.values())

    def before(self) -> Any:
        if not self.is_changed():
            return self.group
        parts = [self.versions[i].before() if i in self.versions else part for i, part in enumerate(self.parts)]
        if type(self.group) is functools.partial:
            count = len(self.group.args) + 1
            named = dict(zip(self.group.keywords, parts[count:], strict=True))
            return functools.partial(parts[0], *parts[1:count], **named)
        return tuple(parts) if type(self.group) is tuple else self.group._make(parts)


def _version(value: Any) -> Any:
    """The present version of a value that can get another one while it stays the same object; None of any other."""
    if isinstance(value, np.ndarray):
        return None if value.dtype.hasobject else _ArrayVersion(value)
    if isinstance(value, Tensor):
        return None if isinstance(value, Variable) else _TensorVersion(value)
    parts = parts_of_group(value)
    if parts is None:
        return None
    versions = {index: found for index, part in enumerate(parts) if (found := _version(part)) is not None}
    return _GroupVersion(value, parts, versions) if versions else None


def parts_of_group(value: Any) -> list[Any] | None:
    if type(value) is functools.partial:
        return [value.func, *value.args, *value.keywords.values()]
    is_group = type(value) is tuple or (isinstance(value, tuple) and hasattr(value, "_make"))
    return list(value) if is_group else None


# -- places


class Place:
    """Where values are that may be replaced by others, and those that are there now."""

    def __init__(
        self,
        read: Callable[[], list[Any]],
        write: Callable[[list[Any]], None],
        added: Callable[[list[Any], list[Any]], list[Any]] = lambda found, before: [],
    ) -> None:
        self.read, self.write, self._added = read, write, added
        self._keep(read())

    def _keep(self, values: list[Any]) -> None:
        self.values = values
        versions = ((index, _version(value)) for index, value in enumerate(values) if type(value) not in _ATOMS)
        self.versions = {index: version for index, version in versions if version is not None}

    def keep_change(self) -> None:
        """Keep the values that are there now, if a run of the function itself has replaced them: a counter, say."""
        if self.is_changed():
            self._keep(self.read())

    def is_changed(self) -> bool:
        """Whether other values are there, or other versions of them."""
        now, values = self.read(), self.values
        if len(now) != len(values):
            return True
        if any(one is not other and not _is_same_number(one, other) for one, other in zip(now, values, strict=True)):
            return True
        return any(version.is_changed() for version in self.versions.values())

    def before(self) -> list[Any]:
        """The values that were there."""
        versions = self.versions
        return [versions[i].before() if i in versions else value for i, value in enumerate(self.values)]

    def with_added(self, values: list[Any], before: list[Any]) -> list[Any]:
        """`values`, and what was added to `before` since that was written: the user's list of calls, say."""
        return [*values, *self._added(self.read(), before)]


def _is_same_number(one: Any, other: Any) -> bool:
    return type(one) is type(other) and type(one) in _ATOMS and bool(one == other)


def _root(function: Any) -> Place:
    return Place(lambda: [function], lambda _: None)


def _items(container: Any) -> Place:
    """The items of a list, deque, dictionary or set."""
    if isinstance(container, dict):

        def write(values: list[Any]) -> None:
            container.clear()
            for key, value in zip(values[::2], values[1::2], strict=True):
                container.setdefault(key, value)

        return Place(lambda: [part for item in container.items() for part in item], write, _added_keys)

    def refill(values: list[Any]) -> None:
        container.clear()
        container.update(values) if isinstance(container, set) else container.extend(values)

    return Place(lambda: list(container), refill, _added_elements if isinstance(container, set) else _added_behind)


def _added_behind(found: list[Any], before: list[Any]) -> list[Any]:
    """The items that were appended to a list."""
    is_longer = all(one is other for one, other in zip(found, before, strict=False))
    return found[len(before) :] if is_longer else []


def _added_keys(found: list[Any], before: list[Any]) -> list[Any]:
    """The keys that were added to a dictionary, each with its value."""
    known = set(before[::2])
    pairs = zip(found[::2], found[1::2], strict=True)
    return [part for pair in pairs if pair[0] not in known for part in pair]


def _added_elements(found: list[Any], before: list[Any]) -> list[Any]:
    """The elements that were added to a set."""
    return [*({*found} - {*before})]


def cell_place(cell: CellType) -> Place:
    def write(values: list[Any]) -> None:
        cell.cell_contents = values[0]

    return Place(lambda: [cell.cell_contents], write)


def _attribute(owner: Any, name: str) -> Place:
    """An attribute of an object, a class, a module or a function; it may be absent."""
    names = getattr(owner, "__dict__", {})
    of_type = isinstance(owner, type)

    def read() -> list[Any]:
        if name in names:
            return [names[name]]
        return [_ABSENT] if of_type else [getattr(owner, name, _ABSENT)]

    def write(values: list[Any]) -> None:
        if of_type or isinstance(owner, FunctionType) or name not in names:
            type.__setattr__(owner, name, values[0]) if of_type else object.__setattr__(owner, name, values[0])
        elif values[0] is _ABSENT:
            del names[name]
        else:
            names[name] = values[0]

    return Place(read, write)


def item_place(scope: dict[str, Any], name: str) -> Place:
    def write(values: list[Any]) -> None:
        if values[0] is _ABSENT:
            scope.pop(name, None)
        else:
            scope[name] = values[0]

    return Place(lambda: [scope.get(name, _ABSENT)], write)


# -- what a function can reach


_in_library = functools.lru_cache(maxsize=4096)(is_library)


@functools.lru_cache(maxsize=4096)
def _mentioned(code: CodeType) -> frozenset[str]:
    """The names in a code and those that are defined in it: of attributes, and of the module."""
    return frozenset([name for part in early_binding.nested_codes(code) for name in part.co_names])


@functools.lru_cache(maxsize=4096)
def _is_users(kind: type) -> bool:
    """Whether a class is the user's, so that its functions are looked at."""
    if kind.__module__ == "builtins":
        return False
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return not (file and _in_library(file))


@functools.lru_cache(maxsize=4096)
def _is_own(kind: type) -> bool:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return bool(file and is_own_file(file))


class ReachedState:
    """What functions, and other objects, can read: the places that keep it, without names that the functions assign to.

    The functions of the user's that were looked into, and the objects whose attributes they name, are there as well.
    """

    def __init__(self, roots: list[Any]) -> None:
        self.places: list[Place] = []
        self.functions: list[FunctionType] = []
        self.owners: list[tuple[Any, set[str]]] = []
        self.root = _root(roots[0])
        self._known: dict[int, Any] = {}
        self._names: set[str] = set()
        self._cells: dict[int, CellType] = {}
        self._shared: set[int] = set()
        self._pending: list[Any] = [*roots]
        while self._pending:
            while self._pending and len(self._known) < OBJECTS_AT_MOST:
                self._look_at(self._pending.pop())
            self._pending.clear()
            for owner, taken in self.owners:
                self._look_at_names(owner, taken)
        self.places += [cell_place(cell) for key, cell in self._cells.items() if key not in self._shared]

    def _take(self, place: Place) -> None:
        self.places.append(place)
        self._pending += place.values

    def _look_at(self, value: Any) -> None:
        kind = type(value)
        if kind in _ATOMS or id(value) in self._known or isinstance(value, np.ndarray | np.generic | Tensor):
            return
        self._known[id(value)] = value
        if kind is FunctionType:
            self._look_at_function(value)
        elif kind is MethodType:
            self._pending += [value.__func__, value.__self__]
        elif (parts := parts_of_group(value)) is not None:
            self._pending += parts
        elif isinstance(value, list | dict | set | deque):
            self._take(_items(value))
            self._look_at_object(value)
        elif isinstance(value, ModuleType):
            file = getattr(value, "__file__", None)
            if file and not _in_library(file):
                self.owners.append((value, set()))
        elif isinstance(value, type):
            if _is_users(value):
                self.owners.append((value, set()))
        else:
            self._look_at_object(value)

    def _look_at_object(self, value: Any) -> None:
        wrapped = getattr(value, "__wrapped__", None)
        if wrapped is not None:
            self._pending.append(wrapped)
        kind: type = type(value)
        if (hasattr(value, "__dict__") or _is_users(kind)) and not _is_own(kind):
            self.owners.append((value, set()))

    def _look_at_function(self, function: FunctionType) -> None:
        in_library = _in_library(function.__code__.co_filename)
        self._shared |= early_binding.shared_cells(function)
        for cell in function.__closure__ or ():
            for value in early_binding.contents([cell]):
                # what else a library keeps there is its own business
                if not in_library or callable(value) or isinstance(value, tuple):
                    self._pending.append(value)
                    if type(value) not in _DEFINITIONS:
                        self._cells[id(cell)] = cell
        if in_library:
            return
        self.functions.append(function)
        self._names |= _mentioned(function.__code__)
        scope = function.__globals__
        for name in early_binding.module_names(function):
            value = scope.get(name, _ABSENT)
            if type(value) in _DEFINITIONS:
                self._pending.append(value)
            elif value is not _ABSENT:
                self._take(item_place(scope, name))
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(function, name):
                self._take(_attribute(function, name))
        if function.__dict__:
            self.owners.append((function, set()))

    def _look_at_names(self, owner: Any, taken: set[str]) -> None:
        """Take the attributes of an object that are named in the code that was looked at since."""
        names = getattr(owner, "__dict__", {})
        found = names.keys() if not _DYNAMIC.isdisjoint(self._names) else names.keys() & self._names
        for name in [name for name in found if name not in taken]:
            taken.add(name)
            value = names[name]
            is_definition = isinstance(owner, type | ModuleType) and _is_definition(value)
            if is_definition:
                self._pending += _functions_of(value)
            elif not (isinstance(owner, type) and name.startswith("__")):
                self._take(_attribute(owner, name))
        for base in (owner if isinstance(owner, type) else type(owner)).__mro__:
            if _is_users(base):
                self._look_at_class(owner, base, taken)

    def _look_at_class(self, owner: Any, base: type, taken: set[str]) -> None:
        """Look at the methods and properties of a class that the code names, or that operators call."""
        for name, member in list(vars(base).items()):
            is_called = name in self._names or (name.startswith("__") and name not in _NEVER_CALLED)
            if not is_called or (base.__qualname__ + "." + name) in taken:
                continue
            taken.add(base.__qualname__ + "." + name)
            if isinstance(member, types.MemberDescriptorType):
                if not isinstance(owner, type):
                    self._take(_attribute(owner, name))
            elif _is_definition(member):
                self._pending += _functions_of(member)
            elif not name.startswith("__") and base is not owner:
                self._take(_attribute(base, name))


def _is_definition(value: Any) -> bool:
    return isinstance(value, FunctionType | type | ModuleType | property | staticmethod | classmethod) or (
        hasattr(type(value), "__get__") and not isinstance(value, MethodType)
    )


def _functions_of(member: Any) -> Iterable[Any]:
    """The functions that a member of a class or module runs when it is read or called."""

    def found() -> Iterator[Any]:
        for part in (member, getattr(member, "fget", None), getattr(member, "__func__", None)):
            if isinstance(part, FunctionType):
                yield part
        wrapped = getattr(member, "func", None) or getattr(member, "__wrapped__", None)
        if callable(wrapped):
            yield wrapped

    return list(found())
