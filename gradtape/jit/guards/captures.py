"""What a function reads besides its arguments, so that a compiled one never computes with a stale value.

Before a function is traced, everything it can reach by name is surveyed: closed-over names, globals, defaults, the
attributes of objects, the items of lists and dictionaries, and the functions it calls, with what those reach. Arrays,
tensors and Variables found there become inputs of the program. For the length of the trace, copies of the functions
and containers on the way hold traced tensors in their place; the originals are never touched. In each call these
inputs are read again, by the same way. All else that was found on the way (numbers, functions, objects) has to be what
it was, or the function is traced again. An object that cannot be asked for what it holds (see `holders`) makes a
function that reads it `Untraceable`.
"""

from __future__ import annotations

import functools
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from io import IOBase
from threading import local
from typing import Any

import numpy as np

from gradtape.core.graph import AMBIENT
from gradtape.core.location import is_library
from gradtape.core.tensor import Tensor, Variable
from gradtape.jit.errors import Untraceable
from gradtape.jit.guards.code_names import code_names, find_globals
from gradtape.jit.guards.holders import (
    GONE,
    LRU_CACHE,
    UNBOUND,
    Attribute,
    Missing,
    Place,
    State,
    cell_place,
    content,
    further_parts,
    has_content,
    is_leaf,
    is_scalar,
    items,
    may_be_read,
    parts_of,
    same_scalar,
    slot_names,
    state_of,
)
from gradtape.jit.guards.impure_reads import DYNAMIC_ATTRIBUTES, advances_iterator, is_reader
from gradtape.jit.guards.library_code import (
    is_constant_module,
    is_data,
    is_heap_object,
    is_installed,
    is_library_class,
    is_library_module,
    is_named_only,
    is_opaque,
    may_be_copied,
)
from gradtape.jit.guards.rng import GENERATORS
from gradtape.jit.guards.substitute import Copies, Keeper, Tracer

_NAMESPACES = frozenset({"__globals__", "__builtins__", "f_globals", "f_locals", "f_builtins", "gi_frame", "tb_frame"})
_NEVER_CALLED = frozenset(
    [
        *("__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__", "__class_getitem__", "__del__"),
        *("__repr__", "__str__", "__dir__", "__sizeof__", "__subclasshook__", "__replace__", "__copy__"),
        *("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__deepcopy__"),
    ]
)


_NOTHING = (np.empty(0), Tensor(np.empty(0)))


class Part:
    """Some of the items of a namespace. They are compared in each call; the namespace itself is not copied."""

    def __init__(self, namespace: Any, names: Iterable[str]) -> None:
        self.namespace = namespace
        self.names = [name for name in names if name in namespace]


class Named:
    """A namespace (module, class, service) of which only the names are compared that the surveyed code mentions."""

    def __init__(self, namespace: Any, names: Container[str] | None = None, is_module: bool = False) -> None:
        self.namespace = namespace
        self.names = names  # names that may be compared; all by default
        self.is_module = is_module
        self.known: set[str] = set()

    def new(self, mentioned: set[str], is_dynamic: bool) -> Iterator[str]:
        """The names that were not watched before, now that the code has those that are `mentioned`."""
        if self.is_module and is_dynamic:
            wanted = {name for name in self.namespace if not name.startswith("__")}
        else:
            wanted = {name for name in mentioned if name in self.namespace}
        if self.is_module and "__getattr__" in self.namespace:
            wanted.add("__getattr__")
        found = {name for name in wanted - self.known if self.names is None or name in self.names}
        self.known |= found
        yield from sorted(found)


class Survey:
    """Everything a function can reach by name, and how to copy it with other values in place of the leaves."""

    def __init__(self, function: Any, ambient: bool = True, in_cache: bool = False) -> None:
        self.root = function
        self.ambient = ambient  # whether `.backward()` records, so that what requires a gradient would receive one
        self.in_cache = in_cache  # whether it is of a function whose results `functools.lru_cache` keeps
        self.leaves: list[Place] = []  # the first place of each leaf
        self.twins: list[tuple[Place, int]] = []  # further places of leaves that were found before
        self._leaf_places: dict[int, list[Place]] = {}
        self.fixed: list[Place] = []
        self.sizes: list[tuple[Any, int]] = []
        self.orders: list[tuple[Any, list[Any]]] = []  # what iterating over a dictionary or a set gives
        self.local_sizes: list[tuple[Any, int]] = []  # objects with attributes of their own in each thread
        self.watched: list[tuple[Place, bytes]] = []
        self.generators: list[Any] = []
        self.hidden: list[tuple[Place, Any]] = []  # objects whose state cannot be read
        self.classes: list[type] = []  # the user's classes
        self.edges: dict[int, list[Place]] = {}
        self._objects: dict[int, Any] = {}
        self._names: set[str] = set()  # all names in the code within reach
        self._paths: dict[int, tuple[str, str]] = {}  # access path of an object, for messages, and its last name
        self._pending: list[tuple[Any, bool]] = []
        self._namespaces: dict[int, Named] = {}
        self._explore(function)
        for index, (first, *others) in enumerate(self._leaf_places.values()):
            self.leaves.append(first)
            self.twins += [(place, index) for place in others]
        self.changing = self._reach_leaves()

    # -- the survey

    def _explore(self, root: Any) -> None:
        self._pending = [(root, True)]
        seen: set[tuple[int, bool]] = set()
        while self._pending or self._look_into_namespaces():
            item, copied = self._pending.pop()
            if (id(item), copied) in seen:
                continue
            seen.add((id(item), copied))
            self._objects[id(item)] = item
            self._visit(item, copied)

    def _visit(self, item: Any, copied: bool) -> None:
        edges = list(self._edges_of(item))
        is_set = isinstance(item, set | frozenset)  # which is not read by places, so that nothing can be exchanged
        if copied:
            self.edges[id(item)] = [] if is_set else edges
        self._measure(item)
        for place in edges:
            self._take(place, item, copied and not is_set)
        if isinstance(item, Part) or hasattr(type(item), "traced_function"):
            return
        for place in further_parts(item):
            self._take(place, item, False)
        self._pending += [(part, False) for part in self._of_class(type(item))]
        self._take_slots(item)
        is_object = not isinstance(item, types.FunctionType | type | local)
        own = getattr(item, "__dict__", None) if is_object or isinstance(item, types.FunctionType) else None
        if isinstance(own, dict) and own and (not edges or edges[0].container is not own):
            self._pending.append((Part(own, [name for name in own if name != "__wrapped__"]), False))
            self._follow(own, item)
        if is_object and isinstance(own, dict):
            self.sizes.append((own, len(own)))
            if is_heap_object(item):
                self._take(Attribute(item, "__class__", type(item)), item, False)
        elif isinstance(item, types.FunctionType) and not is_library(item.__code__.co_filename):
            self.sizes.append((vars(item), len(vars(item))))  # it may be given attributes

    def _measure(self, item: Any) -> None:
        """Record the length and the order of a container, where the places of its items do not determine them."""
        if isinstance(item, list | deque):
            self.sizes.append((item, len(item)))
        elif isinstance(item, dict | set | types.MappingProxyType):
            self.sizes.append((item, len(item)))
            if item:
                self.orders.append((item, [*item]))
        elif isinstance(item, local):
            self.local_sizes.append((item, len(vars(item))))
        elif isinstance(item, np.ndarray):
            self._fix(Attribute(item, "shape", item.shape))

    def _take_slots(self, item: Any) -> None:
        for name in slot_names(type(item)):
            if hasattr(item, name):
                self._take(Attribute(item, name, getattr(item, name)), item, False)
            else:
                self._fix(_unset(item, name))

    def _fix(self, place: Place) -> None:
        self.fixed.append(place)

    def _take(self, place: Place, item: Any, copied: bool) -> None:
        """Record the value at a place in `item`, and queue it for exploring."""
        value = place.value
        if isinstance(value, GENERATORS):
            self.generators.append(value)
        elif isinstance(item, types.FunctionType) and advances_iterator(item, place.key, value):
            raise Untraceable(
                f"it reads an iterator{_quote_name(place, item)}, which goes on from call to call. "
                f"Take the next item outside and pass it in"
            )
        if is_leaf(value):
            if self.ambient and isinstance(value, Tensor) and value._node.bits & AMBIENT:
                called = _quote_name(place, item)
                raise Untraceable(f"it reads a tensor with requires_grad=True that is not an argument{called}")
            if copied:
                self._leaf_places.setdefault(id(value), []).append(place)
            elif not isinstance(value, Variable):
                self.watched.append((place, content(value)))
            return
        if isinstance(value, types.ModuleType):
            if not is_constant_module(value):
                self._fix(place)
                self._follow(value, item, place)
                self._look_into_module(value)
            elif value.__name__ == "gradtape":  # all of it is constant, but for its settings
                self._namespaces.setdefault(id(value), Named(vars(value), {"config"}))
            return
        if not isinstance(place.container, tuple):  # nothing else can be put there
            self._fix(place)
        if isinstance(value, type):
            self._follow(value, item, place)
            self._pending += [(part, False) for part in self._of_class(value)]
            if type(value) is not type:
                self._pending += [(part, False) for part in self._of_class(type(value))]
        elif not is_scalar(value) and value is not UNBOUND and not is_opaque(value):
            self._look_into(place, item, copied)

    def _look_into(self, place: Place, item: Any, copied: bool) -> None:
        """Find out what the object at a place holds."""
        value = place.value
        self._follow(value, item, place)
        is_held = value is sys.modules or (is_reader(value) and not isinstance(item, types.FunctionType))
        state = State.HIDDEN if is_held else state_of(value)
        if state is State.HIDDEN:
            self.hidden.append((place, item))
        elif state is State.BYTES:
            self.watched.append((place, content(value)))
            if hasattr(value, "__dict__"):
                self._pending.append((Part(vars(value), list(vars(value))), False))
        elif state is State.PARTS:
            if type(value) is LRU_CACHE:
                self._look_into_cache(place, item)
            elif is_named_only(value):
                self._namespaces.setdefault(id(value), Named(vars(value)))
            else:
                self._pending.append((value, copied and may_be_copied(value)))

    def _look_into_cache(self, place: Place, item: Any) -> None:
        """Survey the function behind `lru_cache`: its results are cached, so it must read nothing that can change."""
        wrapped = place.value.__wrapped__
        self._pending.append((wrapped, False))
        if not self.in_cache and Survey(wrapped, ambient=False, in_cache=True).reads_values():
            self.hidden.append((place, item))

    def reads_values(self) -> bool:
        """Whether the function can reach any value other than functions, classes and modules."""
        fixed = (place for place in self.fixed if not isinstance(place, Attribute | Missing))
        is_used = bool(self.leaves or self.watched or self.hidden or self.orders or self.local_sizes)
        return is_used or any(is_scalar(place.value) for place in fixed)

    def _look_into_module(self, module: types.ModuleType) -> None:
        if id(module) not in self._namespaces:
            is_data_only = is_library_module(module)
            data = {name for name, value in list(vars(module).items()) if is_data(value)} if is_data_only else None
            self._namespaces[id(module)] = Named(vars(module), data, is_module=not is_data_only)
            self._paths.setdefault(id(self._namespaces[id(module)]), (module.__name__, module.__name__))
            self._pending += [(part, False) for part in self._of_class(type(module))]

    def _look_into_namespaces(self) -> bool:
        """Compare further names of modules, classes and services if code that was surveyed since mentions them."""
        is_dynamic = self._is_dynamic()
        namespaces = list(self._namespaces.values())
        for named in namespaces:
            is_first = not named.known
            for name in named.new(self._names, is_dynamic):
                self._take(Place(named.namespace, name, named.namespace[name]), named, False)
            if named.is_module and is_dynamic and is_first:
                self.sizes.append((named.namespace, len(named.namespace)))
        if len(self._namespaces) > len(namespaces) and not self._pending:
            return self._look_into_namespaces()
        return bool(self._pending)

    def _is_dynamic(self) -> bool:
        """Whether attributes are read whose names are not in the code."""
        return not DYNAMIC_ATTRIBUTES.isdisjoint(self._names)

    def _of_class(self, kind: type) -> Iterator[Any]:
        """The functions and attributes of the user's classes of an object; they are compared, not copied."""
        for base in kind.__mro__:
            if id(base) in self._namespaces or is_library_class(base):
                continue
            plain: list[str] = []
            called: set[str] = set()
            from_package = is_installed(base)
            for name, member in list(vars(base).items()):
                function = getattr(member, "__func__", getattr(member, "fget", member))
                if isinstance(function, types.FunctionType | functools.cached_property):
                    if name not in _NEVER_CALLED:
                        called.add(name)
                        if name.startswith("__"):
                            self._fix(Place(vars(base), name, member))
                    if not from_package:
                        yield function
                        if isinstance(member, property) and isinstance(member.fset, types.FunctionType):
                            yield member.fset
                elif hasattr(type(member), "traced_function"):
                    called.add(name)
                    yield member
                elif isinstance(member, types.MemberDescriptorType | types.GetSetDescriptorType):
                    continue
                elif not name.startswith("__"):
                    plain.append(name)
            self._namespaces[id(base)] = Named(vars(base), called | set(plain) if from_package else called)
            self._paths.setdefault(id(self._namespaces[id(base)]), (base.__qualname__, base.__name__))
            self.sizes.append((vars(base), len(vars(base))))
            if not from_package:
                self.classes.append(base)
                part = Part(vars(base), plain)
                self._paths[id(part)] = base.__qualname__, base.__name__
                yield part

    def _edges_of(self, item: Any) -> Iterator[Place]:
        if isinstance(item, types.FunctionType):
            yield from (cell_place(cell) for cell in item.__closure__ or ())
            if is_library(item.__code__.co_filename):
                for defaults in (item.__defaults__ or (), item.__kwdefaults__ or {}):
                    yield from items(defaults)
                return
            yield Attribute(item, "__code__", item.__code__)
            for name in ("__defaults__", "__kwdefaults__"):
                if getattr(item, name) is not None:
                    yield Attribute(item, name, getattr(item, name))
                    yield from items(getattr(item, name))
            self._names |= code_names(item.__code__)
            yield from find_globals(item)
        elif isinstance(item, Part):
            yield from (Place(item.namespace, name, item.namespace[name]) for name in item.names)
        else:
            yield from parts_of(item)

    # -- access paths for messages

    def _follow(self, value: Any, item: Any, place: Place | None = None) -> None:
        """Record the access path from `item` to `value`, for messages."""
        path, name = self._paths.get(id(item), ("", ""))
        if place is not None:
            path, name = _extend_path(path, name, place, item)
        self._paths.setdefault(id(value), (path, name))

    def check(self) -> None:
        """Raise `Untraceable` if the function may read something that can neither be an input nor be compared."""
        for name in sorted(_NAMESPACES & self._names):
            raise Untraceable(f"it reads {name!r}, by which it can read any name, in its code or not. Use the names")
        if self.generators and "spawn" in self._names:
            raise Untraceable(
                "it spawns generators of random numbers, others in each call. Spawn outside, and pass them in"
            )
        for place, item in self.hidden:
            if not self._is_read(place, item):
                continue
            path, name = _extend_path(*self._paths.get(id(item), ("", "")), place, item)
            where = f"{name!r}" if path == name else f"{name!r} (as {path})" if name else "an object"
            raise Untraceable(f"it reads {where}, {_why_hidden(place.value)}")

    def _is_read(self, place: Place, item: Any) -> bool:
        """Whether the code may read a place; an attribute only if the code mentions its name."""
        if isinstance(place.value, IOBase) and not may_be_read(place.value, self._names):
            return False
        return not _is_attribute(place, item) or place.key in self._names or self._is_dynamic()

    def _reach_leaves(self) -> set[int]:
        """The objects that hold a leaf, directly or through other objects."""
        leaves = list(self._leaf_places)
        parents: dict[int, list[int]] = {}
        for parent, places in self.edges.items():
            for place in places:
                parents.setdefault(id(place.value), []).append(parent)
        found: set[int] = set()
        pending = [parent for leaf in leaves for parent in parents.get(leaf, ())]
        while pending:
            item = pending.pop()
            if item not in found:
                found.add(item)
                pending.extend(parents.get(item, ()))
        return found

    def release(self) -> None:
        """Drop what is only needed to make copies, so that arrays do not outlive their names."""
        for places in self._leaf_places.values():
            for place in places:
                if not isinstance(place.value, Variable):
                    place.value = _NOTHING[isinstance(place.value, Tensor)]
        self.edges, self._objects, self._leaf_places, self.root = {}, {}, {}, None
        self._paths, self._namespaces, self.classes = {}, {}, []

    # -- comparing with the survey

    def read(self) -> list[Any] | None:
        """The current leaves; None if any other surveyed value has changed, which invalidates the trace."""
        try:
            for place in self.fixed:
                value = place.read()
                if value is not place.value and not same_scalar(value, place.value):
                    return None
            for container, size in self.sizes:
                if len(container) != size:
                    return None
            for held, size in self.local_sizes:
                if len(vars(held)) != size:
                    return None
            for container, order in self.orders:
                if not same_order(container, order):
                    return None
            for place, before in self.watched:
                if not has_content(place.read(), before):
                    return None
            leaves = [place.read() for place in self.leaves]
            return leaves if all(place.read() is leaves[index] for place, index in self.twins) else None
        except (*GONE, TypeError):  # what is compared as bytes may have become something that has none
            return None

    # -- copies for a trace

    def keeper(self, is_tracer: Callable[[Any], bool]) -> Keeper:
        """A snapshot of the objects that are not copied, to remove traced values from them after the trace."""
        return Keeper(self.reached(), self.changing, is_tracer)

    def functions(self) -> list[types.FunctionType]:
        """The user's functions within reach."""
        functions = [item for item in self._objects.values() if isinstance(item, types.FunctionType)]
        return [function for function in functions if not is_library(function.__code__.co_filename)]

    def reached(self) -> list[Any]:
        """The functions, containers and objects through which values were found."""
        return [item for key, item in self._objects.items() if key in self.edges]

    def substitute(self, replace: Callable[[Any], Tracer]) -> Copies:
        """Copies of all that holds leaves, with `replace(leaf)` in place of each."""
        return Copies(self, replace)


def _unset(item: Any, name: str) -> Place:
    """The `Missing` place of a slot that has no value."""
    return Missing(Slots(item), name, False)


class Slots:
    """The attributes of an object that it keeps in slots, as a set of names."""

    def __init__(self, item: Any) -> None:
        self.item = item

    def __contains__(self, name: str) -> bool:
        return hasattr(self.item, name)


def _is_attribute(place: Place, item: Any) -> bool:
    """Whether a place in `item` is read by the name of an attribute."""
    if isinstance(place, Attribute) or isinstance(item, Part | Named):
        return True
    return not isinstance(item, types.FunctionType | dict) and place.container is getattr(item, "__dict__", UNBOUND)


def same_order(container: Any, before: list[Any]) -> bool:
    """Whether iterating over a container gives the same objects or numbers as before."""
    now = [*container]
    pairs = zip(now, before, strict=False)
    return len(now) == len(before) and all(one is other or same_scalar(one, other) for one, other in pairs)


def _extend_path(path: str, name: str, place: Place, item: Any) -> tuple[str, str]:
    """The access path of a place in `item`, given the path of `item`, for messages; and the last name in it."""
    if isinstance(item, types.FunctionType):
        called = _quote_name(place, item)[3:-2] if _quote_name(place, item) else ""
        return (called, called) if called else (path, name)
    key = place.key
    if _is_attribute(place, item):
        return (f"{path}.{key}" if path else str(key)), str(key)
    if isinstance(item, list | dict | deque | types.MappingProxyType) and path:
        return f"{path}[{key!r}]", name
    return path, name


def _why_hidden(value: Any) -> str:
    """Why an object cannot be compared between calls, and how to fix that, for the error."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    if type(value) is LRU_CACHE:
        return (
            f"the cached function {value.__wrapped__.__qualname__}, whose results are kept with the values that it "
            f"read by name when they were made. Pass these values to it as arguments"
        )
    if value is sys.modules:
        return "by which it can read any module. Import the module that it reads"
    if isinstance(value, types.BuiltinFunctionType):
        return (
            f"the function {value.__name__}, which may give something else in each call. Call it outside, and pass "
            f"what it gives in as an array"
        )
    if isinstance(value, weakref.ProxyTypes):
        return "a weak proxy, which cannot be compared from call to call. Use weakref.ref, or pass the object in"
    if hasattr(type(value), "__next__"):
        return f"an iterator ({kind}), which goes on from call to call. Take the next item outside and pass it in"
    return (
        f"a {kind}, and what that holds cannot be compared from call to call. Read it outside, and pass what it gives "
        f"in as an array"
    )


def _quote_name(place: Place, item: Any) -> str:
    """The name of a place within its container, in brackets; empty if it has none."""
    name = place.key
    if name is None and isinstance(item, types.FunctionType):
        cells = zip(item.__code__.co_freevars, item.__closure__ or (), strict=True)
        name = next((name for name, cell in cells if cell is place.container), None)
    return f" ({name!r})" if isinstance(name, str) else ""
