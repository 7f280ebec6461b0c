"""Functions that keep what they read: the names of a function, bound to the values that they have now.

Some functions of the user's run again when a gradient is computed: a checkpointed function, the condition of a root,
an integrand, the rule of a custom function. By then the names that they read from the code around them may have other
values:

    for k in range(3):
        total = total + gt.quad(lambda x: np.cos(k * x * a), 0, 1).value

Python looks `k` up when the lambda runs, and after the loop it is 2 for all three. `bind_early` makes a copy of the
function whose names have the values of the moment of the call, as if it had been run to its end there.
"""

from __future__ import annotations

import builtins
import dis
import functools
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar

from gradtape.core.location import is_library

F = TypeVar("F", bound=Callable[..., Any])

_in_library = functools.lru_cache(maxsize=4096)(is_library)

FUNCTIONS_AT_MOST = 64
"""Functions that call one another which are looked at; the rest read their names when they run."""


OTHER_MEANS = frozenset({"globals", "eval", "exec", "vars"})
"""Functions that look up names of the module, or may."""


class _Names(NamedTuple):
    """What a function and the functions defined in it do with names of the code around them."""

    rebound: frozenset[str]
    """Names of enclosing functions that it assigns to (`nonlocal`)."""
    module_names: frozenset[str]
    """Names of the module that it reads; none if it assigns to one (`global`), or looks names up by other means."""


@functools.lru_cache(maxsize=4096)
def _names_in(code: CodeType) -> _Names:
    rebound: set[str] = set()
    loaded: set[str] = set()
    assigns_global = False
    for part in nested_codes(code):
        for instruction in dis.get_instructions(part):
            if instruction.opname in ("STORE_DEREF", "DELETE_DEREF"):
                rebound.add(instruction.argval)
            elif instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                loaded.add(instruction.argval)
            elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                assigns_global = True
    if assigns_global or not loaded.isdisjoint(OTHER_MEANS):
        loaded = set()
    return _Names(frozenset(rebound & {*code.co_freevars}), frozenset(loaded))


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """A code object, and those of the functions and classes that are defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested_codes(constant)


def bind_early(function: F) -> F:
    """The function with the values that its names have now; itself, if none of them can come to have another.

    Names of enclosing functions and of the module are bound, in the functions that it calls by such names, too, and
    in those that `functools.partial` holds. A name
    that one of these assigns to (`nonlocal`, `global`) stays shared. Objects are not copied: an array or a list that is
    changed in place is changed for the copy as well (see `core.kept_state`).

    >>> functions = [lambda: k for k in range(3)]
    >>> functions[0]()
    2
    >>> [bind_early(lambda: k)() for k in range(3)]
    [0, 1, 2]
    >>> early = [bind_early(lambda: k) for k in range(3)]
    >>> early[0]()
    0
    """
    found: Any = _partial(function) if type(function) is functools.partial else _function(function)
    return found  # type: ignore[no-any-return]


def _function(function: Any) -> Any:
    if type(function) is not FunctionType or (function.__closure__ is None and not module_names(function)):
        return function
    return _Binding(function).bound(function)


def _partial(function: Any) -> Any:
    values = [function.func, *function.args, *function.keywords.values()]
    bound = [bind_early(x) if callable(x) else x for x in values]
    if all(new is old for new, old in zip(bound, values, strict=True)):
        return function
    count = len(function.args) + 1
    return functools.partial(bound[0], *bound[1:count], **dict(zip(function.keywords, bound[count:], strict=True)))


def module_names(function: FunctionType) -> frozenset[str]:
    """The names of its module that a function of the user's reads; those of a library's module do not change."""
    return frozenset() if _in_library(function.__code__.co_filename) else _names_in(function.__code__).module_names


class _Reads(NamedTuple):
    """The values that the names of a function have now."""

    cells: tuple[CellType, ...]
    names: tuple[str, ...]
    """Those of the module."""
    functions: tuple[FunctionType, ...]
    """The functions among the values."""
    can_change: bool
    """Whether a value is no definition, and so likely to be another one later; names that stay shared count, too."""


def _reads(function: FunctionType) -> _Reads:
    cells, module = function.__closure__ or (), function.__globals__
    names = tuple([name for name in module_names(function) if not hasattr(builtins, name)])
    if any(name not in module for name in names):  # defined later
        names = ()
    values = [*contents(cells), *[module[name] for name in names]]
    return _Reads(
        cells,
        names,
        tuple([x for x in values if type(x) is FunctionType]),
        any(not isinstance(x, (ModuleType, type)) and not callable(x) for x in values),
    )


def shared_cells(function: FunctionType) -> set[int]:
    """The ids of the cells of names that a function assigns to (`nonlocal`): these stay shared."""
    rebound = _names_in(function.__code__).rebound
    if not rebound:
        return set()
    names = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {id(cell) for name, cell in names if name in rebound}


class _Binding:
    """The functions that can be reached from one by its names, and which of them are copied."""

    def __init__(self, function: FunctionType) -> None:
        self._reads: dict[FunctionType, _Reads] = {}
        self._copies: dict[FunctionType, FunctionType] = {}
        self._cells: dict[int, CellType] = {}
        self._shared: set[int] = set()
        waiting = [function]
        while waiting and len(self._reads) < FUNCTIONS_AT_MOST:
            each = waiting.pop()
            if each in self._reads:
                continue
            reads = self._reads[each] = _reads(each)
            self._shared |= shared_cells(each)
            waiting.extend(reads.functions)
        self._copied = {each for each, reads in self._reads.items() if reads.can_change}
        count = 0
        while count < len(self._copied) < len(self._reads):  # what calls a function that is copied is copied, too
            count = len(self._copied)
            self._copied |= {
                each for each, reads in self._reads.items() if not self._copied.isdisjoint(reads.functions)
            }

    def bound(self, value: Any) -> Any:
        """The copy of a function whose names can come to have other values; anything else as it is."""
        if type(value) is not FunctionType or value not in self._copied:
            return value
        if value in self._copies:
            return self._copies[value]
        reads = self._reads[value]
        scope = value.__globals__
        if reads.names:
            scope = {name: scope[name] for name in (*reads.names, "__name__", "__builtins__") if name in scope}
        cells = tuple([self._cells.setdefault(id(cell), self._new_cell(cell)) for cell in reads.cells])
        copy = FunctionType(value.__code__, scope, value.__name__, value.__defaults__, cells)
        self._copies[value] = copy
        copy.__kwdefaults__, copy.__qualname__ = value.__kwdefaults__, value.__qualname__
        copy.__annotations__, copy.__doc__ = value.__annotations__, value.__doc__
        copy.__dict__.update(value.__dict__)
        for old, new in zip(reads.cells, cells, strict=True):  # after the copy is known: it may call itself
            if new is not old:
                new.cell_contents = self.bound(old.cell_contents)
        for name in reads.names:
            scope[name] = self.bound(scope[name])
        return copy

    def _new_cell(self, cell: CellType) -> CellType:
        """An empty cell in the place of one that is copied; the cell itself, if it stays shared or has no value yet."""
        return cell if id(cell) in self._shared or not contents([cell]) else CellType()


def contents(cells: tuple[CellType, ...] | list[CellType]) -> list[Any]:
    """The values in cells; those of names that have none yet are left out."""
    found = []
    for cell in cells:
        try:
            found.append(cell.cell_contents)
        except ValueError:  # a name that is assigned later
            continue
    return found
