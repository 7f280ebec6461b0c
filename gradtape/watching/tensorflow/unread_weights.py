"""Weights that a class of the program makes and never reads: no target can depend on them."""

from __future__ import annotations

import ast
import gc
import inspect
from collections.abc import Iterator
from typing import Any

from gradtape.core.location import is_library
from gradtape.explain.detectors.missing_gradient import verdict
from gradtape.explain.model.problem import Span
from gradtape.explain.model.why import Why
from gradtape.explain.source.files import SourceFile, source_of

_HARMLESS = ("numpy", "shape", "name", "assign", "assign_add", "assign_sub", "dtype", "path")
_INDIRECT = ("getattr", "vars", "setattr")
_ALL_WEIGHTS = ("weights", "variables", "trainable_weights", "trainable_variables", "__dict__")


def explain_unread_weight(variable: Any) -> Why | None:
    """A variable that is an attribute of an object whose class assigns that attribute and computes nothing with it.

    None if it may be read: elsewhere in the program, by `getattr`, or by a class whose source is not known.
    """
    for owner, attribute in _owners_of(variable):
        made = _made_and_not_read(type(owner), attribute)
        if made is not None:
            name = f"{type(owner).__name__}.{attribute}"
            return verdict(
                "GT202",
                f"{name} is made and never used: no method of {type(owner).__name__} reads it",
                "made here",
                made,
                fix=f"compute with self.{attribute} where it was meant to be used, or do not make it",
            )
    return None


def _owners_of(value: Any) -> Iterator[tuple[Any, str]]:
    """The objects that have a value as an attribute, and its name."""
    for holder in gc.get_referrers(value):
        if isinstance(holder, dict):
            names = [name for name, held in holder.items() if held is value]
            owners = [owner for owner in gc.get_referrers(holder) if getattr(owner, "__dict__", None) is holder]
            yield from ((owner, name) for owner in owners for name in names)
        elif not isinstance(holder, (list, tuple, set)) and isinstance(getattr(holder, "__dict__", None), dict):
            yield from ((holder, name) for name, held in vars(holder).items() if held is value)


def _made_and_not_read(kind: type, attribute: str) -> Span | None:
    """Where a class of the program assigns `self.attribute`, if nothing reads it."""
    made: Span | None = None
    for each in kind.__mro__[:-1]:
        file = _file_of(each)
        if file is None:
            return None
        if is_library(file):
            continue
        source = source_of(file)
        if source.tree is None or _may_read(source, attribute):
            return None
        stores = [node for node in ast.walk(source.tree) if _is_attribute(node, attribute, ast.Store)]
        statements = [source.statement(node) for node in stores]
        if made is None and len(statements) == 1 and isinstance(statements[0], ast.Assign):
            made = source.span(statements[0])
    return made


def _file_of(kind: type) -> str | None:
    """The file that a class is written in, by its methods: a program that another one runs has no module of its own."""
    methods = [member for member in vars(kind).values() if inspect.isfunction(member)]
    if methods:
        return methods[0].__code__.co_filename
    try:
        return inspect.getfile(kind)
    except (OSError, TypeError):  # made without a file, or by an extension
        return None


def _may_read(source: SourceFile, attribute: str) -> bool:
    """Whether a file may compute with an attribute of that name."""
    for node in ast.walk(source.tree) if source.tree is not None else ():
        if _is_attribute(node, attribute, ast.Load):
            outer = source.parents.get(node)
            if not isinstance(outer, ast.Attribute) or outer.attr not in _HARMLESS:
                return True
        if isinstance(node, ast.Name) and node.id in _INDIRECT:
            return True
        is_own = isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self"
        if is_own and isinstance(node, ast.Attribute) and node.attr in _ALL_WEIGHTS and _is_computed_with(source, node):
            return True
    return False


def _is_computed_with(source: SourceFile, node: ast.AST) -> bool:
    """Whether a list of weights is used for something else than a gradient and an optimiser's step."""
    outer: ast.AST | None = source.statement(node)
    text = "" if outer is None else ast.unparse(outer)
    return not any(word in text for word in ("gradient(", "apply_gradients(", "apply(", "= self."))


def _is_attribute(node: ast.AST, name: str, context: type[ast.expr_context]) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, context)


__all__ = ["explain_unread_weight"]
