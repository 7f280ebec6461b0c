"""Edits of an index: `x[:, t]` for `x[t]` where the steps are axis 1. Tried on shapes alone."""

from __future__ import annotations

import ast
import operator
from typing import Any

import numpy as np

from gradtape.explain.fixes import shape_edits
from gradtape.explain.model.problem import Fix
from gradtape.explain.source.expression import UserExpression, replace_span
from gradtape.explain.source.files import one_line

Shape = tuple[int, ...]


def index_second_axis(site: UserExpression) -> list[Fix]:
    """The expression with `x[:, t]` for an `x[t]` in it, if its shapes fit then: the first axis is the examples'."""
    whole = site.node
    if not isinstance(whole, ast.BinOp):
        return []
    for part in ast.walk(whole):
        shape = _indexed_shape(site, part)
        if shape is None or not isinstance(part, ast.Subscript) or len(shape) < 3:
            continue
        index = site.value(part.slice)
        if not -shape[1] <= operator.index(index) < shape[1]:
            continue
        if _infer_shape(site, whole, part, (shape[0], *shape[2:])) is not None:
            owner, text = (one_line(site.source.text(node)) for node in (part.value, part.slice))
            span = site.source.span(whole)
            written = replace_span(span, site.source.span(part), f"{owner}[:, {text}]")
            return [] if written is None else [Fix(written, True, span)]
    return []


def one_of_each_row(shape: Shape, labels: Any) -> bool:
    """Whether `x[np.arange(len(labels)), labels]` of an array of this shape is one element of each row.

    >>> one_of_each_row((3, 2), np.array([0, 1, 1])), one_of_each_row((3, 2), np.array([0, 1, 2]))
    (True, False)
    """
    try:
        picked = np.broadcast_to(False, shape)[np.arange(len(labels)), labels]
    except IndexError:
        return False
    return bool(picked.shape == shape[:1])


def _indexed_shape(site: UserExpression, part: ast.AST) -> Shape | None:
    """The shape of the array in a subscript with one integer index; None for any other expression."""
    if not isinstance(part, ast.Subscript):
        return None
    shape, index = getattr(site.value(part.value), "shape", None), site.value(part.slice)
    is_integer = isinstance(index, int | np.integer) and not isinstance(index, bool)
    return tuple(shape) if is_integer and isinstance(shape, tuple) and shape else None


def _infer_shape(site: UserExpression, node: ast.expr, other: ast.Subscript, instead: Shape) -> Shape | None:
    """The shape of an expression in which `other` has the shape `instead`; None if unknown, or if shapes do not fit."""
    if node is other:
        return instead
    if isinstance(node, ast.BinOp):
        sides = [_infer_shape(site, side, other, instead) for side in (node.left, node.right)]
        shapes: list[Any] = [side for side in sides if side is not None]
        if len(shapes) < 2:
            return None
        return (
            shape_edits.matmul_shape(shapes)
            if isinstance(node.op, ast.MatMult)
            else shape_edits.broadcast_shape(shapes)
        )
    if isinstance(node, ast.UnaryOp):
        return _infer_shape(site, node.operand, other, instead)
    indexed = _indexed_shape(site, node)
    if indexed is not None:
        return indexed[1:]
    value = site.value(node)
    if isinstance(value, int | float):
        return ()
    shape = getattr(value, "shape", None)
    return tuple(shape) if isinstance(shape, tuple) else None


__all__ = ["index_second_axis", "one_of_each_row"]
