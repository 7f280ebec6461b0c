"""Finds the statements that write into an array in place, from the source and the values of names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradtape.core.location import is_library
from gradtape.explain.model.problem import Span
from gradtape.explain.source.expression import UserExpression

FRAMES_AT_MOST = 8
SHOWN_AT_MOST = 3
_METHODS = frozenset({"sort", "fill", "partition", "resize", "put", "itemset", "setfield"})
_TAKERS = frozenset({"shuffle", "copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis"})


def find_writes(site: UserExpression, arrays: Sequence[Any]) -> list[Span]:
    """The statements around `site`, and in the functions of its file, that write into the memory of one of `arrays`.

    Only names count whose present value is a view of that memory.
    """
    if site.source.tree is None:
        return []
    found = [
        site.source.span(statement)
        for statement, name in _writes(site.source.tree)
        if any(_shares(value, array) for value in _values(site, name) for array in arrays)
    ]
    return sorted(found, key=lambda span: span.line)[:SHOWN_AT_MOST]


def _writes(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, ast.expr]]:
    """Expressions and statements that write in place, with the expression they write into."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign):
            yield node, _owner(node.target)
        elif isinstance(node, ast.Assign):
            yield from ((node, _owner(target)) for target in node.targets if isinstance(target, ast.Subscript))
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _METHODS and isinstance(node.func, ast.Attribute):
                yield node, node.func.value
            if name in _TAKERS and node.args:
                yield node, node.args[0]
            yield from ((node, keyword.value) for keyword in node.keywords if keyword.arg == "out")


def _owner(target: ast.expr) -> ast.expr:
    while isinstance(target, ast.Subscript):
        target = target.value
    return target


def _values(site: UserExpression, name: ast.expr) -> Iterator[Any]:
    """The arrays that are the value of a name in the user's frames that are being executed."""
    frame = site.frame
    for _ in range(FRAMES_AT_MOST):
        if frame is None:
            return
        if not is_library(frame.f_code.co_filename) and frame.f_code.co_filename == site.source.file:
            value = UserExpression(frame).value(name)
            if isinstance(value, np.ndarray):
                yield value
        frame = frame.f_back


def _shares(value: Any, array: Any) -> bool:
    return isinstance(array, np.ndarray) and bool(np.may_share_memory(value, array))


__all__ = ["find_writes"]
