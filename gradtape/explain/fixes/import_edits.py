"""The edit `import gradtape.numpy as np`, with which arrays that are made while a tape records can be written to."""

from __future__ import annotations

import ast

from gradtape.explain.model.problem import Fix
from gradtape.explain.source.expression import UserExpression


def fixes_by_import(site: UserExpression) -> list[Fix]:
    """`import gradtape.numpy as np` in the place of `import numpy as np`, if the file has that."""
    tree = site.source.tree
    for statement in [] if tree is None else ast.walk(tree):
        if isinstance(statement, ast.Import) and any(alias.name == "numpy" for alias in statement.names):
            names = ", ".join(_import_ours(alias) for alias in statement.names)
            return [Fix(f"import {names}", True, site.source.span(statement))]
    return []


def _import_ours(alias: ast.alias) -> str:
    """One of the names that a statement imports; `gradtape.numpy as np` for `numpy as np`."""
    if alias.name == "numpy":
        return f"gradtape.numpy as {alias.asname or 'numpy'}"
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def fixes_by_import_for(site: UserExpression, array: ast.expr | None) -> list[Fix]:
    """The same for an array that is written to: it has to be made by a function of NumPy's inside of a function.

    An array that is made before the tape is no buffer, whatever made it.
    """
    bound = None if array is None else site.binding(array)
    made = None if bound is None or bound.file != site.source.file else site.source.at(bound)
    if made is None or not _is_made_by_numpy(site, made):
        return []
    scopes = site.source.scopes(made)
    if not any(isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) for scope in scopes):
        return []
    return fixes_by_import(site)


def _is_made_by_numpy(site: UserExpression, made: ast.AST) -> bool:
    """Whether an expression is a call of a function of NumPy's, or an operator with such an operand."""
    if isinstance(made, ast.BinOp):
        return _is_made_by_numpy(site, made.left) or _is_made_by_numpy(site, made.right)
    if isinstance(made, ast.UnaryOp):
        return _is_made_by_numpy(site, made.operand)
    owner = made.func.value if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) else None
    return isinstance(owner, ast.Name) and site.source.imports.get(owner.id) == "numpy"
