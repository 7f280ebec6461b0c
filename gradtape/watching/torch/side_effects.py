"""Whether a function of the user's can be called once more without anybody noticing, as far as its source shows.

Only then the forward and backward of a custom function are called again to be compared. What cannot be read, and what
calls or writes to something that is not known, counts as noticeable: the function is left alone.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from types import FunctionType, ModuleType
from typing import Any

import torch

from gradtape.explain.source.files import source_of

CALLS_FOLLOWED = 4
_MODULES = ("torch", "numpy", "math", "cmath", "scipy", "operator", "functools")
_NOTICEABLE = frozenset(
    ["random", "seed", "manual_seed", "save", "load", "mark_dirty", "register_hook", "set_grad_enabled", "setattr"]
)
_BUILTINS = frozenset(
    [
        "abs",
        "all",
        "any",
        "bool",
        "dict",
        "divmod",
        "enumerate",
        "float",
        "getattr",
        "hasattr",
        "int",
        "isinstance",
        "len",
        "list",
        "map",
        "max",
        "min",
        "pow",
        "range",
        "reversed",
        "round",
        "set",
        "slice",
        "sorted",
        "sum",
        "super",
        "tuple",
        "type",
        "zip",
    ]
)
_REFUSED = (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.ClassDef, ast.AsyncFunctionDef)


def is_repeatable(cls: Any, args: Any) -> bool:
    """Whether the rule of a custom function can be run again on copies of its arguments."""
    if not all(map(_is_value, args)):
        return False
    own = [vars(base).get(name) for base in cls.__mro__ for name in ("forward", "setup_context", "backward", "vjp")]
    functions = [getattr(each, "__func__", each) for each in own if each is not None]
    users = [each for each in functions if getattr(each, "__module__", "").partition(".")[0] != "torch"]
    return bool(users) and all(_is_silent(each, 0) for each in users)


def _is_value(x: Any) -> bool:
    """Whether an argument is a tensor or a constant, which a function cannot change or of which a copy is made."""
    if isinstance(x, tuple):
        return all(map(_is_value, x))
    kinds = (torch.Tensor, bool, int, float, complex, str, torch.dtype, torch.device, torch.Size, type(None))
    return isinstance(x, kinds)


def _is_silent(function: Any, depth: int) -> bool:
    """Whether a function writes to nothing but its own variables and its context, and calls nothing that does."""
    function = inspect.unwrap(function)
    node = _definition(function) if isinstance(function, FunctionType) else None
    if node is None or depth > CALLS_FOLLOWED:
        return False
    return _Body(function, node, depth).is_silent()


def _definition(function: FunctionType) -> ast.FunctionDef | None:
    """The syntax of a function."""
    code = function.__code__
    source = source_of(code.co_filename)
    for node in () if source.tree is None else ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


class _Body:
    """The statements of one function, and what its names are."""

    def __init__(self, function: FunctionType, node: ast.FunctionDef, depth: int) -> None:
        self.nodes = [inner for statement in node.body for inner in ast.walk(statement)]
        self.depth = depth
        self.parameters = [*inspect.signature(function).parameters]
        stored = {n.id for n in self.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.local = {*self.parameters, *stored}
        self.outer: dict[str, Any] = {**vars(builtins), **function.__globals__}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            self.outer[name] = _content(cell)

    def is_silent(self) -> bool:
        if any(isinstance(node, _REFUSED) for node in self.nodes):
            return False
        return all(map(self._is_silent_node, self.nodes))

    def _is_silent_node(self, node: ast.AST) -> bool:
        if isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom):
            return False
        if isinstance(node, ast.Call):
            return self._is_silent_call(node.func)
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            return isinstance(node.value, ast.Name) and self.parameters[:1] == [node.value.id]  # ctx.size = ...
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            return self._is_own(node.value)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute | ast.Subscript):
            return self._is_own(node.value) or not self._is_changeable(node.value)
        return True

    def _is_silent_call(self, function: ast.expr) -> bool:
        names = _path(function)
        if names is None or _NOTICEABLE & {*names}:
            return isinstance(function, ast.Attribute) and names is None and self._is_own(function.value)
        if names[0] in self.local:
            return len(names) > 1
        value = self._value(names)
        if isinstance(value, type) and value.__module__.partition(".")[0] in ("builtins", *_MODULES):
            return True
        if isinstance(value, FunctionType) and not _is_of_library(value):
            return _is_silent(value, self.depth + 1)
        if len(names) == 1 and vars(builtins).get(names[0], _content) is value:
            return names[0] in _BUILTINS
        return _is_of_library(value)

    def _is_own(self, node: ast.expr) -> bool:
        """Whether an expression is computed here, or begins with a variable of this function."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return not isinstance(node, ast.Name) or node.id in self.local

    def _is_changeable(self, node: ast.expr) -> bool:
        """Whether a name from outside refers to something other than a constant."""
        names = _path(node)
        value = None if names is None else self._value(names)
        return names is None or not (_is_value(value) or isinstance(value, ModuleType) or callable(value))

    def _value(self, names: list[str]) -> Any:
        value = self.outer.get(names[0])
        for name in names[1:]:
            value = getattr(value, name, None) if isinstance(value, ModuleType | type) else None
        return value


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not yet assigned
        return None


def _path(node: ast.expr) -> list[str] | None:
    """The names of `torch.nn.functional.relu`; None for other expressions."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else None


def _is_of_library(value: Any) -> bool:
    """Whether a function is one of a library for arrays."""
    module = getattr(value, "__module__", None) or getattr(type(value), "__module__", None) or ""
    return callable(value) and str(module).partition(".")[0] in _MODULES


__all__ = ["is_repeatable"]
