"""The plan of native calls of an executable that is one native function: see `gradtape.jit.native.runtime.call`.

It is for calls whose arguments are arrays, tuples, lists and dictionaries of them, and plain Python numbers and
strings. A native call checks all that an ordinary call checks, or the call takes the ordinary way. What the function
read besides its arguments (its own code's globals and closed-over names) has to be the very objects it was traced with,
or arrays like those. Native code compares and reads what is in cells, dictionaries, lists and tuples itself. For other
places, and for arguments that are nested or named, there is a generated Python function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import is_
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.jit.guards.holders import GONE, Attribute, Missing, Place, Scope
from gradtape.jit.ir.call_plan import ABSENT, CallPlan, Counters
from gradtape.jit.ir.results import Output
from gradtape.jit.runtime import backends

if TYPE_CHECKING:
    from gradtape.jit.guards.signature import CallArguments
    from gradtape.jit.runtime.executable import Executable

FastEntry = tuple[Any, ...]
"""What a native call needs: see `gradtape.jit.native.runtime.call.make_call`."""

_FILE = f"{__file__}:generated"


def make_fast_entry(executable: Executable, call: CallArguments, counters: Counters) -> FastEntry | None:
    """The fast entry of `executable` for calls like `call`; None if it cannot have one."""
    if call.objects or call.variables or call.tensors or not all(type(array) is np.ndarray for array in call.arrays):
        return None
    survey, template = executable.survey, executable.template
    if executable.writes or survey.watched or survey.local_sizes:
        return None
    indices = sorted(part.index for part in template.parts if type(part) is Output)
    if not template.as_numpy or indices != list(range(len(executable.program.outputs))):
        return None
    writer = EntryWriter()
    try:
        if not all(type(place.read()) is np.ndarray for place in survey.leaves):
            return None
        writer.read_arguments(call.key)
        answer = _native_answer(template.tree)
        pack = None if answer is not NotImplemented else writer.pack(template.tree, template.count)
    except (NoFastEntry, *GONE):
        return None
    reads = [_native_read(place) for place in survey.leaves]
    if None in reads:  # captured arrays are the last inputs, in this order
        leaves, reads = [writer.read(place) for place in survey.leaves], []
    else:
        leaves = []
    guards = _guards(executable, writer)
    first = template.tree
    for _ in range(2):
        first = first[0] if type(first) is tuple and first else first
    number = first.index if type(first) is Output else None
    plan = CallPlan(guards, [read for read in reads if read], writer.unpack(leaves), answer, pack, number, counters)
    return backends.native_call(executable.program, executable.runner.steps, plan)


def _guards(executable: Executable, writer: EntryWriter) -> list[tuple[str, Any, Any, Any]]:
    """The guards that native code compares; all others become conditions of the generated function."""
    survey, guards = executable.survey, []
    for place in survey.fixed:
        native = _native_guards(place)
        guards += native
        if not native:
            writer.conditions.append(place.condition(writer.name))
    for container, size in survey.sizes:
        if type(container) is list or type(container) is dict:
            guards.append(("size", container, None, size))
        else:
            writer.conditions.append(f"len({writer.name(container)}) == {size}")
    for container, items in survey.orders:
        writer.conditions.append(f"all(map(_is, {writer.name(container)}, {writer.name(items)}))")
    for place, index in survey.twins:
        writer.conditions.append(f"{writer.read(place)} is {writer.read(survey.leaves[index])}")
    return guards


def _native_guards(place: Place) -> list[tuple[str, Any, Any, Any]]:
    """A guard as native code checks it; none if it cannot."""
    container, key = place.container, place.key
    if type(place) is Missing:
        is_plain = type(container) is dict and type(key) is str
        return [("item", container, key, ABSENT)] if is_plain else []
    if type(place) is Place and type(container) is Scope:  # a built-in name, which no global has
        names, known = container.globals, container.builtins
        if type(names) is not dict or type(known) is not dict or key in names:
            return []
        return [("item", names, key, ABSENT), ("item", known, key, place.value)]
    if type(place) is Attribute and key == "__code__" and type(container) is FunctionType:
        return [("code", container, None, place.value)]
    if type(place) is Attribute and key == "__class__" and place.value is type(container):
        is_own = any("__class__" in vars(base) for base in type(container).__mro__ if base is not object)
        return [] if is_own else [("type", container, None, place.value)]
    read = _native_read(place)
    return [(*read, place.value)] if read is not None else []


def _native_read(place: Place) -> tuple[str, Any, Any] | None:
    """How native code reads what is at a place; None if it cannot."""
    container, key = place.container, place.key
    if type(place) is not Place:
        return None
    if key is None:
        return ("cell", container, None) if type(container) is CellType else None
    if type(container) is dict and type(key) is str:
        return "item", container, key
    if type(container) is list and type(key) is int and key >= 0:
        return "list", container, key
    if type(container) is tuple and type(key) is int and key >= 0:
        return "tuple", container, key
    return None


def _native_answer(tree: Any) -> Any:
    """The structure of the answer with numbers of results; NotImplemented if native code does not build it."""
    if type(tree) is Output:
        return tree.index
    if tree is None:
        return None
    if type(tree) is not tuple and type(tree) is not list:
        return NotImplemented
    parts = [_native_answer(part) for part in tree]
    return NotImplemented if NotImplemented in parts else type(tree)(parts)


class NoFastEntry(Exception):
    """A captured value or an argument that a fast entry cannot check."""


class EntryWriter:
    """Generates the functions that take arguments apart and build answers, where native code does not."""

    def __init__(self) -> None:
        self.scope: dict[str, Any] = {"_is": is_, "_GONE": (*GONE, NameError)}
        self.conditions: list[str] = []
        self.lines: list[str] = []  # in which structures are taken apart
        self.arrays: list[str] = []
        self.positional: list[str] = []
        self.named: list[str] = []
        self._count = 0

    def name(self, thing: Any) -> str:
        """A name for something that the function has to know."""
        name = f"_k{len(self.scope)}"
        self.scope[name] = thing
        return name

    def read(self, place: Place) -> str:
        """What is at a place, as an expression."""
        return place.expression(self.name)

    def _new(self) -> str:
        self._count += 1
        return f"_a{self._count}"

    # -- arguments

    def read_arguments(self, key: list[Any]) -> None:
        """The arguments that a call's key tells of."""
        position = 0
        while position < len(key):
            name = self._new()
            if type(key[position]) is str:  # of an argument that is given by name
                if key[position] == "no_grad" and position == 0:
                    raise NoFastEntry
                self.named.append(key[position])
                self.lines.append(f"{name} = _named[{key[position]!r}]")
                position += 1
            elif self.named:
                raise NoFastEntry
            else:
                self.positional.append(name)
            position = self._take(key, position, name)

    def _take(self, key: list[Any], position: int, name: str) -> int:
        """One argument or a part of one, which the function knows by `name`; where the next one is."""
        kind, what = key[position], key[position + 1] if position + 1 < len(key) else None
        position += 2
        if isinstance(kind, np.dtype):
            self.arrays.append(name)
        elif kind is tuple or kind is list or kind is dict:
            assert what is not None
            size, values = (what, name) if kind is not dict else (len(what), f"{name}.values()")
            self._require(f"type({name}) is {kind.__name__} and len({name}) == {size}")
            if kind is dict:
                self._require(f"tuple({name}) == {self.name(what)}")
            parts = [self._new() for _ in range(size)]
            if parts:
                self.lines.append(f"{', '.join(parts)}, = {values}")
            for part in parts:
                position = self._take(key, position, part)
        elif kind is type(None):
            self._require(f"{name} is None")
        elif kind in (bool, int, str, bytes):
            self._require(f"type({name}) is {kind.__name__} and {name} == {self.name(what)}")
        elif kind is float and isinstance(what, str) and math.isfinite(float(what)) and float(what):
            self._require(f"type({name}) is float and {name} == {self.name(float(what))}")
        else:
            raise NoFastEntry
        return position

    def _require(self, condition: str) -> None:
        self.lines.append(f"if not ({condition}): return None")

    # -- the answer

    def answer(self, tree: Any) -> str:
        """What is returned, as an expression of the results `_r0, _r1 ...`."""
        kind = type(tree)
        if kind is Output:
            return f"_r{tree.index}"
        if tree is None:
            return "None"
        if kind is tuple:
            return f"({''.join(f'{self.answer(part)}, ' for part in tree)})"
        if kind is list:
            return f"[{', '.join(self.answer(part) for part in tree)}]"
        if kind is dict:
            items = [f"{self.name(name)}: {self.answer(part)}" for name, part in tree.items()]
            return f"{{{', '.join(items)}}}"
        raise NoFastEntry

    def unpack(self, leaves: list[str]) -> Callable[..., Any] | None:
        """From the arguments to the arrays among them, and `leaves`; None if they are arrays, given by position."""
        if not (self.conditions or self.lines or leaves):
            return None
        lines = [f"if tuple(_named) != {self.name(tuple(self.named))}: return None"]
        lines += [f"if not ({condition}): return None" for condition in self.conditions]
        lines += [f"if len(_args) != {len(self.positional)}: return None"]
        if self.positional:
            lines += [f"{', '.join(self.positional)}, = _args"]
        lines += [*self.lines, f"return ({''.join(f'{array}, ' for array in (*self.arrays, *leaves))})"]
        body = "\n        ".join(lines)
        source = f"def unpack(*_args, **_named):\n    try:\n        {body}\n    except _GONE:\n        return None\n"
        return self._compile(source, "unpack")

    def pack(self, tree: Any, count: int) -> Callable[..., Any]:
        """From the results to the answer."""
        results = ", ".join(f"_r{i}" for i in range(count))
        return self._compile(f"def pack({results}): return {self.answer(tree)}", "pack")

    def _compile(self, source: str, name: str) -> Callable[..., Any]:
        exec(compile(source, _FILE, "exec"), self.scope)
        made: Callable[..., Any] = self.scope[name]
        return made
