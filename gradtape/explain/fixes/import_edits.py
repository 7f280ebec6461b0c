"""Edits of imports: `import gradtape.numpy as np`, with which arrays that are made while a tape records can be written
to, and `from gradtape.scipy import interpolate`, whose functions have gradients.
"""

from __future__ import annotations

import ast
import importlib
from typing import Any

from gradtape.explain.model.problem import Fix, source_edit
from gradtape.explain.source.expression import UserExpression

NAMES_FOLLOWED = 3


def fixes_by_import(site: UserExpression, made: ast.AST | None = None) -> list[Fix]:
    """`import gradtape.numpy as np` in the place of `import numpy as np`, if the file has that.

    Of several such statements it is the one that binds a name in the user's expression, or in `made`, which is where an
    array is made that the expression writes to.
    """
    tree, used = site.source.tree, _names_in(site.node if made is None else made)
    found = []
    for statement in [] if tree is None else ast.walk(tree):
        aliases = statement.names if isinstance(statement, ast.Import) else []
        bound = {alias.asname or "numpy" for alias in aliases if alias.name == "numpy"}
        if bound and isinstance(statement, ast.Import):
            names = ", ".join(_import_ours(alias) for alias in aliases)
            found.append((bool(bound & used), source_edit(f"import {names}", site.source.span(statement))))
    return [max(found, key=lambda pair: pair[0])[1]] if found else []


def _names_in(node: ast.AST | None) -> set[str]:
    return set() if node is None else {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def import_from_our_scipy(site: UserExpression, function: ast.expr) -> str:
    """`from gradtape.scipy import signal` for the import from SciPy that binds the name by which `function` is called.

    Empty if there is no such statement, or none that says by which name: `import scipy.signal`.
    """
    tree, used = site.source.tree, _names_in(function)
    for statement in [] if tree is None else ast.walk(tree):
        for alias in statement.names if isinstance(statement, ast.Import | ast.ImportFrom) else []:
            is_from = isinstance(statement, ast.ImportFrom)
            module = (statement.module or "") if isinstance(statement, ast.ImportFrom) else alias.name
            bound = alias.asname or (alias.name if is_from else "")
            if module.partition(".")[0] == "scipy" and bound in used:
                name = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
                return f"from gradtape.{module} import {name}" if is_from else f"import gradtape.{name}"
    return ""


def _import_ours(alias: ast.alias) -> str:
    """One of the names that a statement imports; `gradtape.numpy as np` for `numpy as np`."""
    if alias.name == "numpy":
        return f"gradtape.numpy as {alias.asname or 'numpy'}"
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


_REFUSED = frozenset(["require", "bmat", "frombuffer", "matrix", "save", "savez", "savez_compressed", "savetxt"])


def takes_tensors(path: str) -> bool:
    """Whether `gradtape.numpy` has a function of its own for one of NumPy's, that takes tensors.

    >>> takes_tensors("polynomial.chebyshev.chebval"), takes_tensors("ma.masked_array")
    (True, False)
    """
    theirs: Any
    ours: Any
    theirs, ours = (importlib.import_module(name) for name in ("numpy", "gradtape.numpy"))
    for part in path.split("."):
        theirs, ours = getattr(theirs, part, None), getattr(ours, part, None)
    return theirs is not None and ours is not theirs and path not in _REFUSED


def fixes_by_import_for(site: UserExpression, array: ast.expr | None) -> list[Fix]:
    """The same for an array that is written to: it has to be made by a function of NumPy's inside of a function.

    An array that is made before the tape is no buffer, whatever made it.
    """
    bound = None if array is None else site.binding(array)
    made = None if bound is None or bound.file != site.source.file else site.source.at(bound)
    if made is None or not _is_made_by_numpy(site, made, NAMES_FOLLOWED):
        return []
    scopes = site.source.scopes(made)
    if not any(isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) for scope in scopes):
        return []
    return fixes_by_import(site, made)


def _is_made_by_numpy(site: UserExpression, made: ast.AST, names: int) -> bool:
    """Whether an expression is a call of a function of NumPy's, or a new array made of such a one."""
    if isinstance(made, ast.BinOp):
        return _is_made_by_numpy(site, made.left, names) or _is_made_by_numpy(site, made.right, names)
    if isinstance(made, ast.UnaryOp):
        return _is_made_by_numpy(site, made.operand, names)
    if isinstance(made, ast.Name) and names:  # of a new array: grid.copy(), 2.0 * grid
        bound = site.binding(made)
        value = None if bound is None or bound.file != site.source.file else site.source.at(bound)
        return value is not None and _is_made_by_numpy(site, value, names - 1)
    function = made.func if isinstance(made, ast.Call) else None
    if not isinstance(function, ast.Attribute):
        return False
    if function.attr in ("copy", "astype"):
        return _is_made_by_numpy(site, function.value, names)
    return isinstance(function.value, ast.Name) and site.source.imports.get(function.value.id) == "numpy"
