"""What a function reads besides its arguments, so that a compiled one never computes with a stale value.

Before a function is traced, everything it can reach by name is surveyed: closed-over names, globals, defaults, the
attributes of objects, the items of lists and dictionaries, and the functions it calls, with what those reach. Arrays,
tensors and Variables found there become inputs of the program. For the length of the trace, copies of the functions
and containers on the way hold traced tensors in their place; the originals are never touched. In each call these
inputs are read again, by the same way. All else that was found on the way (numbers, functions, objects) has to be what
it was, or the function is traced again.
"""

from __future__ import annotations

import copy
import functools
import sys
import types
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

import numpy as np

from gradtape.core.graph import AMBIENT
from gradtape.core.location import is_library
from gradtape.core.operation import Lifted
from gradtape.core.recording import Recorder
from gradtape.core.structure import leaves
from gradtape.core.tensor import Tensor, Variable
from gradtape.jit.arguments import Inline
from gradtape.jit.readings import reads_on
from gradtape.jit.refusing import Untraceable
from gradtape.jit.tensors import TraceTensor, TraceVariable
from gradtape.jit.trace import NUMBERS, TraceLevel

_SCALARS = (type(None), bool, int, float, complex, str, bytes, np.generic, np.dtype)
_OPAQUE = ("numpy", "scipy", "gradtape.core", "gradtape.ops", "gradtape.explain", "gradtape.protocols")
_CONTAINERS = (list, tuple, dict, set, deque, types.MethodType, functools.partial)
_GENERATORS = (np.random.Generator, np.random.RandomState)


def is_leaf(value: Any) -> bool:
    """Whether a value becomes an input of the program: an array of numbers, a tensor or a Variable."""
    if type(value) is np.ndarray:
        return value.dtype.kind in NUMBERS
    return isinstance(value, Tensor | np.inexact)


class Place:
    """Where a value was found: an item of a list or dictionary (of globals, of attributes), or a closure's cell."""

    __slots__ = ("container", "key", "value")

    def __init__(self, container: Any, key: Any, value: Any) -> None:
        self.container, self.key, self.value = container, key, value

    def read(self) -> Any:
        """What is there now; raises one of `GONE` if there is nothing."""
        return self.container.cell_contents if self.key is None else self.container[self.key]


_UNBOUND = object()
GONE = (LookupError, ValueError, AttributeError)


_NOTHING = (np.empty(0), Tensor(np.empty(0)))


class Part:
    """Some of the items of a namespace. They are watched: what holds them is not copied."""

    def __init__(self, namespace: Any, names: Iterable[str]) -> None:
        self.namespace = namespace
        self.names = [name for name in names if name in namespace]


class Slots:
    """The attributes of an object that it keeps in slots, as a namespace."""

    def __init__(self, item: Any) -> None:
        self.item = item

    def __getitem__(self, name: str) -> Any:
        return getattr(self.item, name)

    def __contains__(self, name: str) -> bool:
        return hasattr(self.item, name)


class Survey:
    """All that a function can reach by name, and how to make a copy of it in which other values are in its places."""

    def __init__(self, function: Any, ambient: bool = True) -> None:
        self.root = function
        self.ambient = ambient  # whether `.backward()` records, so that what requires a gradient would receive one
        self.leaves: list[Place] = []  # one place for each leaf
        self.twins: list[tuple[Place, int]] = []  # other places that hold a leaf, and which
        self._leaf_places: dict[int, list[Place]] = {}
        self.fixed: list[Place] = []
        self.sizes: list[tuple[Any, int]] = []
        self.watched: list[tuple[Place, bytes]] = []
        self.generators: list[Any] = []
        self._edges: dict[int, list[Place]] = {}
        self._objects: dict[int, Any] = {}
        self._explore(function)
        for index, (first, *others) in enumerate(self._leaf_places.values()):
            self.leaves.append(first)
            self.twins += [(place, index) for place in others]
        self._changing = self._reach_leaves()

    # -- looking around

    def _explore(self, root: Any) -> None:
        pending: list[tuple[Any, bool]] = [(root, True)]
        seen: set[tuple[int, bool]] = set()
        while pending:
            item, copied = pending.pop()
            if (id(item), copied) in seen:
                continue
            seen.add((id(item), copied))
            self._objects[id(item)] = item
            edges = list(self._edges_of(item))
            if copied:
                self._edges[id(item)] = edges
            if isinstance(item, list | dict | set | deque):
                self.sizes.append((item, len(item)))
            elif copied and not isinstance(item, types.FunctionType | type) and hasattr(item, "__dict__"):
                self.sizes.append((vars(item), len(vars(item))))
            for place in edges:
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
                        self.watched.append((place, _bytes(value)))
                    continue
                if isinstance(value, types.ModuleType):
                    if not _is_library_module(value) and isinstance(item, types.FunctionType):
                        self.fixed.append(place)
                        pending.append((Part(vars(value), _global_names(item.__code__)), False))
                    continue
                if not isinstance(place.container, tuple):  # nobody can put anything else there
                    self.fixed.append(place)
                if isinstance(value, type):
                    pending += [(part, False) for part in _of_class(value)]
                elif not isinstance(value, _SCALARS) and not _is_opaque(value):
                    pending.append((value, copied))
            if not isinstance(item, Part):
                pending += [(part, False) for part in _of_class(type(item))]
                pending.append((Part(Slots(item), _slot_names(type(item))), False))
            if isinstance(item, types.FunctionType) and item.__dict__:
                pending.append((Part(item.__dict__, [name for name in item.__dict__ if name != "__wrapped__"]), False))

    def _edges_of(self, item: Any) -> Iterator[Place]:
        if isinstance(item, types.FunctionType):
            for cell in item.__closure__ or ():
                try:
                    yield Place(cell, None, cell.cell_contents)
                except ValueError:  # a name that is not bound yet
                    continue
            for defaults in (item.__defaults__ or (), item.__kwdefaults__ or {}):
                yield from _items(defaults)
            if not is_library(item.__code__.co_filename):
                names = item.__globals__
                yield from (Place(names, name, names[name]) for name in _global_names(item.__code__) if name in names)
        elif isinstance(item, types.MethodType):
            yield from _items((item.__func__, item.__self__))
        elif hasattr(type(item), "traced_function"):  # a compiled function: in a trace, it is the function itself
            yield from _items((item.traced_function,))
        elif isinstance(item, functools.partial):
            yield from _items((item.func, item.args, item.keywords))
        elif isinstance(item, list | tuple | dict | deque):
            yield from _items(item)
        elif isinstance(item, Part):
            yield from (Place(item.namespace, name, item.namespace[name]) for name in item.names)
        elif isinstance(item, (Recorder, types.ModuleType, *_GENERATORS)):
            return
        elif isinstance(getattr(item, "__dict__", None), dict):
            yield from _items(vars(item))

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
            for place, before in self.watched:
                if not is_leaf(value := place.read()) or _bytes(value) != before:
                    return None
            leaves = [place.read() for place in self.leaves]
            return leaves if all(place.read() is leaves[index] for place, index in self.twins) else None
        except GONE:
            return None

    # -- a copy of it

    def keeper(self) -> Keeper:
        """Sees to it that nothing traced stays in what is not copied."""
        return Keeper(self.reached(), self._changing)

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
                self._cells += [(cell, _contents(cell)) for cell in item.__closure__ or ()]
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
            if (now := _contents(cell)) is not before and _is_traced(now):
                found = "a name of an enclosing function"
                if before is _UNBOUND:
                    del cell.cell_contents
                else:
                    cell.cell_contents = before
        for held, items in self._dictionaries:
            changed = [key for key, value in list(held.items()) if key not in items or items[key] is not value]
            for key in changed:
                if _is_traced(held[key]):
                    found = repr(key)
                    if key in items:
                        held[key] = items[key]
                    else:
                        del held[key]
        for listed, parts in self._lists:
            if not _same_items(listed, parts) and _is_traced(list(listed)):
                found = "a list"
                listed.clear()
                listed.extend(parts)
        return found


def _contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _UNBOUND


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
        elif hasattr(type(item), "traced_function"):
            self._copies[id(item)] = self.of(item.traced_function)
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
            stand_in = self._copies[id(item)] = object.__new__(type(item))
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
            self._cells[id(original)] = [original, types.CellType(), _UNBOUND]
        cell: types.CellType = self._cells[id(original)][1]
        return cell

    def _fill_cell(self, original: types.CellType) -> None:
        record = self._cells[id(original)]
        if record[2] is _UNBOUND:
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
        for listed, items in self._lists:
            if not _same_items(listed, items):
                raise Untraceable("it changes a list that holds arrays; pass the list in, and return it")
        found: list[tuple[Any, Any, Any]] = []
        for cell, copied, before in self._cells.values():
            try:
                now = copied.cell_contents
            except ValueError:
                now = before
            if now is not before:
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
    """Whether what a value holds is its own business: classes, and what belongs to libraries and to the kernel."""
    if isinstance(value, type | types.BuiltinFunctionType | Recorder):
        return True
    if isinstance(value, _CONTAINERS):
        return False
    module = getattr(value, "__module__", None) if isinstance(value, types.FunctionType) else type(value).__module__
    if any(module == name or str(module).startswith(f"{name}.") for name in _OPAQUE):
        return True
    ours = isinstance(value, types.FunctionType) or str(module).startswith("gradtape.")
    return not ours and _is_library_class(type(value))


def _called(place: Place, item: Any) -> str:
    """The name of a place in what holds it, in brackets; nothing where it has none."""
    name = place.key
    if name is None and isinstance(item, types.FunctionType):
        cells = zip(item.__code__.co_freevars, item.__closure__ or (), strict=True)
        name = next((name for name, cell in cells if cell is place.container), None)
    return f" ({name!r})" if isinstance(name, str) else ""


def _items(container: Any) -> Iterator[Place]:
    pairs = container.items() if isinstance(container, dict) else enumerate(container)
    for key, value in list(pairs):  # at once: another thread may be changing it
        yield Place(container, key, value)


def _of_class(kind: type) -> Iterator[Any]:
    """What the classes of the user's behind an object hold: functions, and other attributes. They are watched."""
    for base in kind.__mro__:
        if _is_library_class(base):
            continue
        plain = []
        for name, member in list(vars(base).items()):
            function = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(function, types.FunctionType):
                yield function
            elif hasattr(type(member), "traced_function"):
                yield member
            elif not name.startswith("__") and not hasattr(type(member), "__get__"):
                plain.append(name)
        yield Part(vars(base), plain)


def _is_library_class(kind: type) -> bool:
    if kind.__module__ == "__main__":
        return False
    module = sys.modules.get(kind.__module__)
    return module is None or _is_library_module(module)


def _slot_names(kind: type) -> tuple[str, ...]:
    if issubclass(kind, Tensor) or _is_library_class(kind):
        return ()
    found: list[str] = []
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        found += [name for name in ((slots,) if isinstance(slots, str) else slots) if not name.startswith("__")]
    return tuple(found)


@functools.cache
def _global_names(code: types.CodeType) -> tuple[str, ...]:
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(dict.fromkeys(_global_names(constant)))
    return tuple(names)


@functools.cache
def _is_library_path(path: str | None) -> bool:
    return path is None or is_library(path)


def _is_library_module(module: types.ModuleType) -> bool:
    return _is_library_path(getattr(module, "__file__", None)) or "site-packages" in str(module.__file__)


def same_scalar(value: Any, before: Any) -> bool:
    """Whether two values are numbers or strings of one type, and the same to the bit."""
    if type(value) is not type(before) or not isinstance(value, _SCALARS):
        return False
    if isinstance(value, float | complex | np.generic):
        return np.asarray(value).tobytes() == np.asarray(before).tobytes()
    return bool(value == before)


def _bytes(value: Any) -> bytes:
    array: np.ndarray[Any, Any] = value._array if isinstance(value, Tensor) else value
    return repr((array.shape, array.dtype.str)).encode() + array.tobytes()


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
