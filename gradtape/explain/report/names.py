"""The name of a tensor in the user's code, from the statement that made it."""

from __future__ import annotations

import ast

from gradtape.core.location import Location
from gradtape.explain.source.files import SourceFile, source_of

LONGEST = 40


def name_of(location: Location) -> str:
    """The name that the expression at `location` is bound to; the expression itself where it is bound to none.

    >>> from gradtape.core.location import Location
    >>> here = Location.here()
    >>> name_of(here)
    'here'
    """
    source = source_of(location.file)
    node = source.find(location)
    name = _bound(source, node) if isinstance(node, ast.expr) else ""
    return _short(name or location.segment or "an unnamed tensor")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _bound(source: SourceFile, node: ast.expr) -> str:
    """The left-hand side that `node` is assigned to, alone or as an element of a tuple, a list or a dictionary."""
    suffix = ""
    child: ast.AST = node
    parent = source.parents.get(child)
    while isinstance(parent, ast.expr | ast.keyword):
        if isinstance(parent, ast.Dict) and child in parent.values:
            key = parent.keys[parent.values.index(child)]
            suffix = f"[{'...' if key is None else source.text(key)}]{suffix}"
        elif isinstance(parent, ast.List | ast.Tuple) and child in parent.elts:
            position = parent.elts.index(child)
            statement = source.parents.get(parent)
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
                names = statement.targets[0].elts
                return source.text(names[position]) + suffix if position < len(names) else ""
            suffix = f"[{position}]{suffix}"
        elif not isinstance(parent, ast.NamedExpr | ast.Await):
            return ""
        if isinstance(parent, ast.NamedExpr):
            return source.text(parent.target) + suffix
        child, parent = parent, source.parents.get(parent)
    if isinstance(parent, ast.Assign):
        return source.text(parent.targets[0]) + suffix
    if isinstance(parent, ast.AnnAssign):
        return source.text(parent.target) + suffix
    return ""
