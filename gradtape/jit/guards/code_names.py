"""The names that the code of a function has: globals, attributes and imported modules."""

from __future__ import annotations

import builtins
import dis
import functools
import importlib.util
import sys
import types
from collections.abc import Iterator

from gradtape.jit.guards.holders import Missing, Place, Scope


@functools.cache
def code_names(code: types.CodeType) -> frozenset[str]:
    """All names that a function's code has, and that of the functions in it: of globals, attributes and modules."""
    nested = [code_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return frozenset(code.co_names).union(*nested)


@functools.cache
def _find_global_names(code: types.CodeType) -> tuple[str, ...]:
    """The names of globals that a function reads, itself or in functions that are written in it."""
    names = dict.fromkeys(
        step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    )
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(dict.fromkeys(_find_global_names(constant)))
    return tuple(names)


@functools.cache
def _find_imports(code: types.CodeType) -> tuple[tuple[int, str], ...]:
    """The modules that a function imports when it is run, each with the level of a relative import."""
    found: list[tuple[int, str]] = []
    steps = list(dis.get_instructions(code))
    for index, step in enumerate(steps):
        if step.opname == "IMPORT_NAME":
            level = steps[index - 2].argval if index > 1 else 0
            found.append((level if isinstance(level, int) else 0, step.argval))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _find_imports(constant)
    return tuple(found)


def find_globals(function: types.FunctionType) -> Iterator[Place]:
    """The globals, built-in names and modules that a function reads by name."""
    names = function.__globals__
    scope = Scope(names, getattr(function, "__builtins__", vars(builtins)))
    for name in _find_global_names(function.__code__):
        if name in names:
            yield Place(names, name, names[name])
        else:
            yield Place(scope, name, scope[name]) if name in scope else Missing(scope, name, False)
    for level, name in _find_imports(function.__code__):
        package = names.get("__package__") or ""
        full = importlib.util.resolve_name("." * level + name, package) if level and package else name
        for module in dict.fromkeys((full, full.partition(".")[0])):
            is_there = module in sys.modules
            yield Place(sys.modules, module, sys.modules[module]) if is_there else Missing(sys.modules, module, False)
