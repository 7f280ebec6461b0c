"""The fast entry of a program that is one native function: a generated check of the arguments, then the native call.

It is for calls whose arguments are arrays, tuples, lists and dictionaries of them, and plain Python numbers and
strings. It checks all that an ordinary call checks, or returns None, upon which the call takes the ordinary way. The
generated function checks the structure of the arguments, the native entry the arrays' dtypes, shapes and layouts. What
the function read besides its arguments (its own code's globals and closed-over names) has to be the very objects it was
traced with, or arrays like those.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from operator import is_
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import recording
from gradtape.core.graph import AMBIENT
from gradtape.jit.guards.holders import GONE, Place, Scope
from gradtape.jit.ir.results import Output
from gradtape.jit.runtime import backends

if TYPE_CHECKING:
    from gradtape.jit.guards.signature import CallArguments
    from gradtape.jit.runtime.executable import Executable

FastEntry = Callable[..., Any]

_FILE = f"{__file__}:generated"


def make_fast_entry(executable: Executable, call: CallArguments) -> FastEntry | None:
    """The fast entry of `executable` for calls like `call`; None if it cannot have one."""
    if call.objects or call.variables or call.tensors or not all(type(array) is np.ndarray for array in call.arrays):
        return None
    survey, template = executable.survey, executable.template
    if executable.writes or survey.watched or survey.local_sizes:
        return None
    if not template.as_numpy or template.count != len(executable.program.outputs):
        return None
    writer = EntryWriter()
    try:
        leaves = [writer.read(place) for place in survey.leaves]
        if not all(type(place.read()) is np.ndarray for place in survey.leaves):
            return None
        writer.read_arguments(call.key)
        answer = writer.answer(template.tree)
    except (NoFastEntry, *GONE):
        return None
    entry = backends.whole(executable.program, executable.runner.steps, template.single)
    if entry is None:
        return None
    for place in survey.fixed:
        if not writer.is_built_in(place):
            writer.conditions.append(place.condition(writer.name))
    writer.conditions += [f"{writer.name(check)}()" for check in writer.checks()]
    for container, size in survey.sizes:
        writer.conditions.append(f"len({writer.name(container)}) == {size}")
    for container, items in survey.orders:
        writer.conditions.append(f"all(map(_is, {writer.name(container)}, {writer.name(items)}))")
    for place, index in survey.twins:
        writer.conditions.append(f"{writer.read(place)} is {leaves[index]}")
    plain = template.single or (template.flat and template.in_order)
    return writer.function(entry, leaves, template.count, None if plain else answer)


class NoFastEntry(Exception):
    """A captured value or an argument that a fast entry cannot check."""


class EntryWriter:
    """Generates the function that checks the arguments."""

    def __init__(self) -> None:
        self.scope: dict[str, Any] = {"_current": recording.current, "_AMBIENT": AMBIENT, "_is": is_}
        self.scope["_GONE"] = (*GONE, NameError)
        self.conditions = ["_current().bits & _AMBIENT"]
        self.lines: list[str] = []  # in which structures are taken apart
        self.arrays: list[str] = []
        self.positional: list[str] = []
        self.named: list[str] = []
        self.built_in: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}  # by namespace
        self._count = 0

    def name(self, thing: Any) -> str:
        """A name for something that the function has to know."""
        name = f"_k{len(self.scope)}"
        self.scope[name] = thing
        return name

    def read(self, place: Place) -> str:
        """What is at a place, as an expression."""
        return place.expression(self.name)

    def is_built_in(self, place: Place) -> bool:
        """Whether a place is that of a built-in name, which `checks` looks after."""
        if type(place) is not Place or type(place.container) is not Scope:
            return False
        names = place.container.globals
        self.built_in.setdefault(id(names), (names, {}))[1][place.key] = place.value
        return True

    def checks(self) -> Iterator[Callable[[], bool]]:
        """Functions that say whether built-in names still stand for what they did, one for each namespace.

        Each runs in the namespace itself: Python finds a built-in name faster than anything written here would.
        """
        for names, known in self.built_in.values():
            conditions = [f"{name} is _k{number}" for number, name in enumerate(known)]
            parameters = [f"_k{number}" for number in range(len(known))]
            source = f"def check({', '.join(parameters)}): return {' and '.join(conditions)}"
            scope: dict[str, Any] = {}
            exec(compile(source, _FILE, "exec"), scope)
            yield FunctionType(scope["check"].__code__, names, "check", tuple(known.values()))

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

    def function(self, entry: FastEntry, leaves: list[str], count: int, answer: str | None) -> FastEntry:
        """The function; without an `answer`, it returns what the entry does."""
        self.scope["_entry"] = entry
        arguments = ", ".join([*self.arrays, *leaves])
        lines = [f"if not ({' and '.join(self.conditions)}): return None"]
        if self.lines or leaves or len(self.arrays) != len(self.positional):
            if self.positional:
                lines += [f"if len(_args) != {len(self.positional)}: return None"]
                lines += [f"{', '.join(self.positional)}, = _args"]
            lines += self.lines
        else:
            arguments = "*_args"  # the entry counts them
        if self.named:
            lines.insert(0, f"if tuple(_named) != {self.name(tuple(self.named))}: return None")
        else:
            lines.insert(0, "if _named: return None")
        if answer is None:
            lines += [f"return _entry({arguments})"]
        else:
            lines += [f"_answer = _entry({arguments})", "if _answer is None: return None"]
            lines += [f"{', '.join(f'_r{i}' for i in range(count))}, = _answer", f"return {answer}"]
        body = "\n        ".join(lines)
        source = f"def shortcut(*_args, **_named):\n    try:\n        {body}\n    except _GONE:\n        return None\n"
        exec(compile(source, _FILE, "exec"), self.scope)
        made: FastEntry = self.scope["shortcut"]
        return made
