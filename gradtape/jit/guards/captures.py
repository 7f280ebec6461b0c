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

import builtins
import copy
import dis
import functools
import importlib.util
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from io import IOBase
from threading import local
from typing import Any

import numpy as np

import gradtape
from gradtape.core.graph import AMBIENT
from gradtape.core.location import is_library
from gradtape.core.operation import Lifted
from gradtape.core.pytree import leaves
from gradtape.core.tensor import Tensor, Variable
from gradtape.jit.errors import Untraceable
from gradtape.jit.guards.holders import (
    BOUND,
    COPIED,
    GONE,
    LRU_CACHE,
    NAMED_ONLY,
    UNBOUND,
    Attribute,
    Missing,
    Place,
    Scope,
    State,
    cell_place,
    content,
    contents,
    further_parts,
    is_leaf,
    is_of_library,
    is_scalar,
    items,
    may_be_read,
    parts_of,
    same_scalar,
    slot_names,
    state_of,
)
from gradtape.jit.guards.impure_reads import DYNAMIC_ATTRIBUTES, is_reader, reads_on
from gradtape.jit.guards.signature import Inline
from gradtape.jit.trace.tracer import TraceLevel
from gradtape.jit.trace.tracers import TraceTensor, TraceVariable

_OPAQUE = ("numpy", "scipy", "gradtape.core", "gradtape.ops", "gradtape.explain", "gradtape.numpy_dispatch.protocols")
_KERNEL = ("gradtape.core", "gradtape.ops", "gradtape.explain", "gradtape.numpy_dispatch.protocols")
_CONSTANT_MODULES = ("numpy", "scipy", "gradtape", "math", "cmath", "builtins", "typing", "collections", "__future__")
_PACKAGE = gradtape.__path__[0]
_TOOLS = ("pytest", "_pytest", "coverage", "hypothesis")
_NAMESPACES = frozenset({"__globals__", "__builtins__", "f_globals", "f_locals", "f_builtins", "gi_frame", "tb_frame"})
_GENERATORS = (np.random.Generator, np.random.RandomState)
_CONTAINERS = (list, tuple, dict, deque, types.MethodType, functools.partial, weakref.ref, *BOUND)
_NEVER_CALLED = frozenset(
    [
        *("__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__", "__class_getitem__", "__del__"),
        *("__repr__", "__str__", "__dir__", "__sizeof__", "__subclasshook__", "__replace__", "__copy__"),
        *("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__deepcopy__"),
    ]
)


_NOTHING = (np.empty(0), Tensor(np.empty(0)))


class Part:
    """Some of the items of a namespace. They are watched: what holds them is not copied."""

    def __init__(self, namespace: Any, names: Iterable[str]) -> None:
        self.namespace = namespace
        self.names = [name for name in names if name in namespace]


class Named:
    """A namespace of which those names are watched that the surveyed code has: of a module, a class, a service."""

    def __init__(self, namespace: Any, names: Container[str] | None = None, is_module: bool = False) -> None:
        self.namespace = namespace
        self.names = names  # those that may be watched; all by default
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
    """All that a function can reach by name, and how to make a copy of it in which other values are in its places."""

    def __init__(self, function: Any, ambient: bool = True, in_cache: bool = False) -> None:
        self.root = function
        self.ambient = ambient  # whether `.backward()` records, so that what requires a gradient would receive one
        self.in_cache = in_cache  # whether it is of a function whose results `functools.lru_cache` keeps
        self.leaves: list[Place] = []  # one place for each leaf
        self.twins: list[tuple[Place, int]] = []  # other places that hold a leaf, and which
        self._leaf_places: dict[int, list[Place]] = {}
        self.fixed: list[Place] = []
        self.sizes: list[tuple[Any, int]] = []
        self.orders: list[tuple[Any, list[Any]]] = []  # what iterating over a dictionary or a set gives
        self.local_sizes: list[tuple[Any, int]] = []  # objects with attributes of their own in each thread
        self.watched: list[tuple[Place, bytes]] = []
        self.generators: list[Any] = []
        self.hidden: list[tuple[Place, Any]] = []  # objects that cannot be asked for what they hold
        self._edges: dict[int, list[Place]] = {}
        self._objects: dict[int, Any] = {}
        self._names: set[str] = set()  # all that the code within reach has
        self._paths: dict[int, tuple[str, str]] = {}  # how an object is reached, in words, and by which name
        self._pending: list[tuple[Any, bool]] = []
        self._namespaces: dict[int, Named] = {}
        self._explore(function)
        for index, (first, *others) in enumerate(self._leaf_places.values()):
            self.leaves.append(first)
            self.twins += [(place, index) for place in others]
        self._changing = self._reach_leaves()

    # -- looking around

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
            self._edges[id(item)] = [] if is_set else edges
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
            if _is_heap_object(item):
                self._take(Attribute(item, "__class__", type(item)), item, False)

    def _measure(self, item: Any) -> None:
        """Note how many items a container has, and in which order, where that is not a matter of their places."""
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
        """Note the value at a place in `item`, and that it is to be looked into."""
        value = place.value
        if isinstance(value, _GENERATORS):
            self.generators.append(value)
        elif isinstance(item, types.FunctionType) and reads_on(item, place.key, value):
            raise Untraceable(
                f"it reads an iterator{_called(place, item)}, which goes on from call to call. "
                f"Take the next item outside and pass it in"
            )
        if is_leaf(value):
            if self.ambient and isinstance(value, Tensor) and value._node.bits & AMBIENT:
                called = _called(place, item)
                raise Untraceable(f"it reads a tensor with requires_grad=True that is not an argument{called}")
            if copied:
                self._leaf_places.setdefault(id(value), []).append(place)
            elif not isinstance(value, Variable):
                self.watched.append((place, content(value)))
            return
        if isinstance(value, types.ModuleType):
            if not _is_constant_module(value):
                self._fix(place)
                self._follow(value, item, place)
                self._look_into_module(value)
            return
        if not isinstance(place.container, tuple):  # nothing else can be put there
            self._fix(place)
        if isinstance(value, type):
            self._follow(value, item, place)
            self._pending += [(part, False) for part in self._of_class(value)]
            if type(value) is not type:
                self._pending += [(part, False) for part in self._of_class(type(value))]
        elif not is_scalar(value) and value is not UNBOUND and not _is_opaque(value):
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
            elif _is_named_only(value):
                self._namespaces.setdefault(id(value), Named(vars(value)))
            else:
                self._pending.append((value, copied and _may_be_copied(value)))

    def _look_into_cache(self, place: Place, item: Any) -> None:
        """What a cached function reads is in its results, which outlive it: it may read nothing that changes."""
        wrapped = place.value.__wrapped__
        self._pending.append((wrapped, False))
        if not self.in_cache and Survey(wrapped, ambient=False, in_cache=True).reads_values():
            self.hidden.append((place, item))

    def reads_values(self) -> bool:
        """Whether there is anything within reach but functions, classes and modules."""
        fixed = (place for place in self.fixed if not isinstance(place, Attribute | Missing))
        is_used = bool(self.leaves or self.watched or self.hidden or self.orders or self.local_sizes)
        return is_used or any(is_scalar(place.value) for place in fixed)

    def _look_into_module(self, module: types.ModuleType) -> None:
        if id(module) not in self._namespaces:
            is_data_only = _is_library_module(module)
            data = {name for name, value in list(vars(module).items()) if _is_data(value)} if is_data_only else None
            self._namespaces[id(module)] = Named(vars(module), data, is_module=not is_data_only)
            self._paths.setdefault(id(self._namespaces[id(module)]), (module.__name__, module.__name__))
            self._pending += [(part, False) for part in self._of_class(type(module))]

    def _look_into_namespaces(self) -> bool:
        """Watch more names of modules, classes and services, if the code that was surveyed since has such."""
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
        """What the classes of the user's behind an object hold: functions, and other attributes. They are watched."""
        for base in kind.__mro__:
            if id(base) in self._namespaces or _is_library_class(base):
                continue
            plain: list[str] = []
            called: set[str] = set()
            is_installed = _is_installed(base)
            for name, member in list(vars(base).items()):
                function = getattr(member, "__func__", getattr(member, "fget", member))
                if isinstance(function, types.FunctionType | functools.cached_property):
                    if name not in _NEVER_CALLED:
                        called.add(name)
                        if name.startswith("__"):
                            self._fix(Place(vars(base), name, member))
                    if not is_installed:
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
            self._namespaces[id(base)] = Named(vars(base), called | set(plain) if is_installed else called)
            self._paths.setdefault(id(self._namespaces[id(base)]), (base.__qualname__, base.__name__))
            self.sizes.append((vars(base), len(vars(base))))
            if not is_installed:
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
            yield from _globals_of(item)
        elif isinstance(item, Part):
            yield from (Place(item.namespace, name, item.namespace[name]) for name in item.names)
        else:
            yield from parts_of(item)

    # -- what is said about it

    def _follow(self, value: Any, item: Any, place: Place | None = None) -> None:
        """Remember in words how `value` is reached from `item`."""
        path, name = self._paths.get(id(item), ("", ""))
        if place is not None:
            path, name = _step(path, name, place, item)
        self._paths.setdefault(id(value), (path, name))

    def check(self) -> None:
        """Raise `Untraceable` if the function may read something that cannot be read again, or compared."""
        for name in sorted(_NAMESPACES & self._names):
            raise Untraceable(f"it reads {name!r}, by which it can read any name, in its code or not. Use the names")
        for place, item in self.hidden:
            if not self._is_read(place, item):
                continue
            path, name = _step(*self._paths.get(id(item), ("", "")), place, item)
            where = f"{name!r}" if path == name else f"{name!r} (as {path})" if name else "an object"
            raise Untraceable(f"it reads {where}, {_why_hidden(place.value)}")

    def _is_read(self, place: Place, item: Any) -> bool:
        """Whether the code may read a place: of attributes, those that it names."""
        if isinstance(place.value, IOBase) and not may_be_read(place.value, self._names):
            return False
        return not _is_attribute(place, item) or place.key in self._names or self._is_dynamic()

    def _reach_leaves(self) -> set[int]:
        """The objects that hold a leaf, or hold something that does."""
        leaves = list(self._leaf_places)
        parents: dict[int, list[int]] = {}
        for parent, places in self._edges.items():
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

    def let_go(self) -> None:
        """Forget what is only needed to make copies: arrays that are bound anew are not kept alive from here."""
        for places in self._leaf_places.values():
            for place in places:
                if not isinstance(place.value, Variable):
                    place.value = _NOTHING[isinstance(place.value, Tensor)]
        self._edges, self._objects, self._leaf_places, self.root = {}, {}, {}, None
        self._paths, self._namespaces = {}, {}

    # -- is it still so?

    def read(self) -> list[Any] | None:
        """The leaves as they are now; None if anything else that was found has changed."""
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
                if content(place.read()) != before:
                    return None
            leaves = [place.read() for place in self.leaves]
            return leaves if all(place.read() is leaves[index] for place, index in self.twins) else None
        except (*GONE, TypeError):  # what is compared as bytes may have become something that has none
            return None

    # -- a copy of it

    def keeper(self) -> Keeper:
        """Sees to it that nothing traced stays in what is not copied."""
        return Keeper(self.reached(), self._changing)

    def functions(self) -> list[types.FunctionType]:
        """The user's functions within reach."""
        functions = [item for item in self._objects.values() if isinstance(item, types.FunctionType)]
        return [function for function in functions if not is_library(function.__code__.co_filename)]

    def reached(self) -> list[Any]:
        """The functions, containers and objects on the way to what was found."""
        return [item for key, item in self._objects.items() if key in self._edges]

    def substitute(self, replace: Callable[[Any], Any]) -> Copies:
        """Copies of all that holds leaves, with `replace(leaf)` in place of each."""
        return Copies(self, replace)


class Keeper:
    """How the containers, names and attributes within reach were before a trace."""

    def __init__(self, items: Iterable[Any], copied: Container[int]) -> None:
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
        """Put back what traced values have taken the place of; the name of such a place, if there was one."""
        found: str | None = None
        for cell, before in self._cells:
            if (now := contents(cell)) is not before and _is_traced(now):
                found = "a name of an enclosing function"
                if before is UNBOUND:
                    del cell.cell_contents
                else:
                    cell.cell_contents = before
        for held, earlier in self._dictionaries:
            changed = [key for key, value in list(held.items()) if key not in earlier or earlier[key] is not value]
            for key in changed:
                if _is_traced(held[key]):
                    found = repr(key)
                    if key in earlier:
                        held[key] = earlier[key]
                    else:
                        del held[key]
        for listed, parts in self._lists:
            if not _same_items(listed, parts) and _is_traced(list(listed)):
                found = "a list"
                listed.clear()
                listed.extend(parts)
        return found


def _is_traced(value: Any) -> bool:
    return any(isinstance(x, TraceTensor) for x in leaves(value))


def _same_items(one: Any, other: list[Any]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


class Copies:
    """Copies of functions and containers, in which traced tensors are in the place of arrays."""

    def __init__(self, survey: Survey, replace: Callable[[Any], Any]) -> None:
        self.survey = survey
        self._replaced: dict[int, Any] = {}
        for place in survey.leaves:
            self._replaced[id(place.value)] = replace(place.value)
        self._given = [self._replaced[id(place.value)].traced for place in survey.leaves]
        self._copies: dict[int, Any] = {}
        self._namespaces: dict[int, dict[str, Any]] = {}
        self._scopes: dict[int, int] = {}  # where in the list below a namespace is
        self._filled: list[tuple[Any, dict[Any, Any], dict[Any, Any]]] = []  # the original, its copy, and how it was
        self._lists: list[tuple[Any, list[Any]]] = []
        self._cells: dict[int, list[Any]] = {}  # the original, its copy, and what was in it
        self.root = self.of(survey.root)

    def of(self, item: Any) -> Any:
        """What stands for `item` in the trace."""
        if id(item) in self._replaced:
            return self._replaced[id(item)]
        if id(item) not in self.survey._changing:
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
        places = self.survey._edges[id(function)]
        names = function.__globals__
        changed = {
            place.key: place.value for place in places if place.container is names and self.of_later(place.value)
        }
        scope = self._namespace(names, changed) if changed else names
        copied = types.FunctionType(function.__code__, scope, function.__name__, None, tuple(cells) or None)
        self._copies[id(function)] = copied
        copied.__qualname__, copied.__module__, copied.__doc__ = (
            function.__qualname__,
            function.__module__,
            function.__doc__,
        )
        copied.__dict__.update(function.__dict__)
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
        """The cell that stands for one in all copies of the functions that share it."""
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

    def of_later(self, value: Any) -> bool:
        """Whether `value` has a copy, made or to be made."""
        return id(value) in self._replaced or id(value) in self.survey._changing

    def _namespace(self, names: dict[str, Any], changed: dict[str, Any]) -> dict[str, Any]:
        if id(names) not in self._namespaces:
            copied = self._namespaces[id(names)] = dict(names)
            self._scopes[id(names)] = len(self._filled)
            self._filled.append((names, copied, dict(copied)))
        return self._namespaces[id(names)]

    def changes(self) -> list[tuple[Any, Any, Any]]:
        """What the trace has bound anew: (the original dictionary or cell, key, value)."""
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

    def assigned(self) -> list[tuple[int, Any]]:
        """The leaves whose value the trace has changed in place: their position, and the traced tensor."""
        tensors = [self._replaced[id(place.value)] for place in self.survey.leaves]
        pairs = zip(tensors, self._given, strict=True)
        return [(index, tensor) for index, (tensor, given) in enumerate(pairs) if tensor.traced is not given]


def _is_opaque(value: Any) -> bool:
    """Whether what a value holds is no concern of a function: the kernel's, and what libraries have as globals."""
    if isinstance(value, types.FunctionType):
        return _is_within(value.__module__, (*_OPAQUE, *_TOOLS))
    module = type(value).__module__
    if _is_within(module, _KERNEL) or _is_stand_in(type(value)) or getattr(type(value), "is_opaque_to_jit", False):
        return True
    is_plain = not isinstance(value, _CONTAINERS) and not str(module).startswith("gradtape.")
    return is_plain and _is_library_class(type(value)) and is_of_library(value)


def _may_be_copied(value: Any) -> bool:
    """Whether a copy of an object may hold traced tensors: not one of a library, whose own code would meet them."""
    kind = type(value)
    if isinstance(value, types.FunctionType):  # one of `functools.singledispatch` keeps what it has called
        return value.__code__.co_filename != functools.__file__
    if hasattr(kind, "traced_function"):
        return True
    if isinstance(value, weakref.ref):
        return kind is weakref.ref
    if isinstance(value, _CONTAINERS):
        return True
    if isinstance(value, local | BaseException | np.ndarray):
        return False
    if (
        isinstance(value, set | frozenset)
        or kind in COPIED
        or kind.__module__ == "argparse"
        or kind.__module__.startswith("gradtape.")
    ):
        return True
    return not _is_library_class(kind) and not _is_installed(kind)


def _is_heap_object(item: Any) -> bool:
    """Whether the class of an object can be bound anew."""
    return not _is_library_class(type(item)) and not issubclass(type(item), Tensor)


def _is_named_only(value: Any) -> bool:
    return isinstance(getattr(value, "__dict__", None), dict) and _is_within(type(value).__module__, NAMED_ONLY)


def _is_data(value: Any) -> bool:
    """Whether a global of a library is a value: all else is the library's own code."""
    return not isinstance(value, types.ModuleType | types.FunctionType | types.BuiltinFunctionType | type)


def _is_within(module: Any, names: tuple[str, ...]) -> bool:
    return any(module == name or str(module).startswith(f"{name}.") for name in names)


def _unset(item: Any, name: str) -> Place:
    """The place of a slot that holds nothing."""
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


def _step(path: str, name: str, place: Place, item: Any) -> tuple[str, str]:
    """How a place in `item` is reached, in words, if `item` itself is by `path`; and the last name on the way."""
    if isinstance(item, types.FunctionType):
        called = _called(place, item)[3:-2] if _called(place, item) else ""
        return (called, called) if called else (path, name)
    key = place.key
    if _is_attribute(place, item):
        return (f"{path}.{key}" if path else str(key)), str(key)
    if isinstance(item, list | dict | deque | types.MappingProxyType) and path:
        return f"{path}[{key!r}]", name
    return path, name


def _why_hidden(value: Any) -> str:
    """What is the matter with an object that is not compared, and what to do."""
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


def _called(place: Place, item: Any) -> str:
    """The name of a place in what holds it, in brackets; nothing where it has none."""
    name = place.key
    if name is None and isinstance(item, types.FunctionType):
        cells = zip(item.__code__.co_freevars, item.__closure__ or (), strict=True)
        name = next((name for name, cell in cells if cell is place.container), None)
    return f" ({name!r})" if isinstance(name, str) else ""


def _is_library_class(kind: type) -> bool:
    module = sys.modules.get(kind.__module__)
    return _is_stand_in(kind) if module is None else _is_library_module(module)


def _is_stand_in(kind: type) -> bool:
    """Whether a class is one of gradtape's that goes by the name of another library's module."""
    if kind.__module__ in sys.modules:
        return False
    functions = (member for base in kind.__mro__ for member in vars(base).values())
    first = next((function for function in functions if isinstance(function, types.FunctionType)), None)
    return first is not None and first.__code__.co_filename.startswith(_PACKAGE)


def _is_installed(kind: type) -> bool:
    """Whether a class is of a package that was installed, and is not the user's own code."""
    return "-packages" in str(getattr(sys.modules.get(kind.__module__), "__file__", None))


@functools.cache
def code_names(code: types.CodeType) -> frozenset[str]:
    """All names that a function's code has, and that of the functions in it: of globals, attributes and modules."""
    nested = [code_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return frozenset(code.co_names).union(*nested)


@functools.cache
def _global_names(code: types.CodeType) -> tuple[str, ...]:
    """The names of globals that a function reads, itself or in functions that are written in it."""
    names = dict.fromkeys(
        step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    )
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(dict.fromkeys(_global_names(constant)))
    return tuple(names)


@functools.cache
def _imported_names(code: types.CodeType) -> tuple[tuple[int, str], ...]:
    """The modules that a function imports when it is run, each with the level of a relative import."""
    found: list[tuple[int, str]] = []
    steps = list(dis.get_instructions(code))
    for index, step in enumerate(steps):
        if step.opname == "IMPORT_NAME":
            level = steps[index - 2].argval if index > 1 else 0
            found.append((level if isinstance(level, int) else 0, step.argval))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _imported_names(constant)
    return tuple(found)


def _globals_of(function: types.FunctionType) -> Iterator[Place]:
    """The globals, built-in names and modules that a function reads by name."""
    names = function.__globals__
    scope = Scope(names, getattr(function, "__builtins__", vars(builtins)))
    for name in _global_names(function.__code__):
        if name in names:
            yield Place(names, name, names[name])
        else:
            yield Place(scope, name, scope[name]) if name in scope else Missing(scope, name, False)
    for level, name in _imported_names(function.__code__):
        package = names.get("__package__") or ""
        full = importlib.util.resolve_name("." * level + name, package) if level and package else name
        for module in dict.fromkeys((full, full.partition(".")[0])):
            is_there = module in sys.modules
            yield Place(sys.modules, module, sys.modules[module]) if is_there else Missing(sys.modules, module, False)


@functools.cache
def _is_library_path(path: str) -> bool:
    return is_library(path)


def _is_library_module(module: types.ModuleType) -> bool:
    path = getattr(module, "__file__", None)
    if path is not None:
        return _is_library_path(path)
    spec = getattr(module, "__spec__", None)
    return module.__name__ in sys.builtin_module_names or getattr(spec, "origin", None) in ("built-in", "frozen")


def _is_constant_module(module: types.ModuleType) -> bool:
    """Whether a module is of functions and constants only, which are taken to stay as they are."""
    if _is_within(module.__name__, _TOOLS):
        return True
    return _is_library_module(module) and _is_within(module.__name__, _CONSTANT_MODULES)


def traced_leaf(level: TraceLevel, bits: int) -> Callable[[Any], Any]:
    """How leaves are replaced: by new inputs of a trace. A tensor on one of the tapes in `bits` cannot be."""

    def replace(value: Any) -> TraceTensor | TraceVariable:
        if isinstance(value, Variable):
            return level.new_variable(value)
        if isinstance(value, Tensor) and (isinstance(value, Lifted) or value._node.bits & bits):
            raise Inline
        return level.new_input(value._array if isinstance(value, Tensor) else value)

    return replace


def random_states(survey: Survey, values: Any) -> list[Any]:
    """The states of all generators that the function can reach, to tell whether it has drawn from one."""
    random = sys.modules.get("random")
    found = [_state(generator) for generator in _within_reach(survey, values)]
    return [*map(_plain_state, found), None if random is None else hash(random.getstate())]


def _within_reach(survey: Survey, values: Any) -> list[Any]:
    """The generators that the function can reach, that behind `np.random`'s functions first."""
    given = [value for value in values if isinstance(value, _GENERATORS)]
    return [np.random.mtrand._rand, *survey.generators, *given]


def _state(generator: Any) -> Any:
    """All that decides what is drawn next: an old generator keeps the second of two normal numbers back."""
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.get_state(legacy=False)


def rewinder(survey: Survey, values: Any) -> Callable[[], None]:
    """A function that puts the generators within reach back to where they are now.

    Not the ones behind `np.random` and `random`: other threads may be drawing from them.
    """
    before = [(generator, _state(generator)) for generator in _within_reach(survey, values)[1:]]

    def rewind() -> None:
        for generator, state in before:
            if isinstance(generator, np.random.Generator):
                generator.bit_generator.state = state
            else:
                generator.set_state(state)

    return rewind


def _plain_state(state: Any) -> Any:
    if isinstance(state, dict):
        return tuple([_plain_state(part) for part in state.values()])
    return state.tobytes() if isinstance(state, np.ndarray) else state
