"""Shapes of expressions that are read from the values of their names, without computing anything."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gradtape.explain.source.expression import UserExpression

Shape = tuple[int, ...]
_PRODUCTS = ("matmul", "dot")


def added_shapes(site: UserExpression) -> list[Shape]:
    """The shapes of what the expression is added to or subtracted from where it is written, as far as they are known.

    For the product in `x @ w + b` that is the shape of b.
    """
    found: list[Shape] = []
    node: Any = site.node.value if isinstance(site.node, ast.Expr) else site.node
    outer = None if node is None else site.source.parents.get(node)
    while isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Add | ast.Sub):
        shape = known_shape(site, outer.right if outer.left is node else outer.left)
        if shape is not None:
            found.append(shape)
        node, outer = outer, site.source.parents.get(outer)
    return found


def known_shape(site: UserExpression, node: ast.expr) -> Shape | None:
    """The shape of a name, an attribute, or a product or sum of such; None if it is not known."""
    value = site.value(node)
    if isinstance(value, bool | int | float):
        return ()
    shape = getattr(value, "shape", None)
    if shape is not None and all(isinstance(length, int) for length in shape):
        return tuple(shape)
    parts = _parts(node)
    if parts is None:
        return None
    left, right = (known_shape(site, part) for part in parts[1:])
    if left is None or right is None:
        return None
    try:
        if parts[0]:
            return np.matmul(*(np.broadcast_to(np.zeros(()), each) for each in (left, right))).shape
        return np.broadcast_shapes(left, right)
    except ValueError:
        return None


def _parts(node: ast.expr) -> tuple[bool, ast.expr, ast.expr] | None:
    """The operands of a product of matrices or of an elementwise operation, and whether it is a product."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult | ast.Add | ast.Sub | ast.Mult | ast.Div):
        return isinstance(node.op, ast.MatMult), node.left, node.right
    if isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return (True, *node.args) if name in _PRODUCTS else None  # type: ignore[return-value]
    return None


__all__ = ["added_shapes", "known_shape"]
