"""Data flow of unrecorded values: what an operand was computed from, read from the source and the values of names.

An accidental table of all pairs may be computed from plain arrays, or behind `stop_gradient`, and only later be
combined with a tracked tensor. A prediction may be computed from the mean of the data, which has lost their length.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtape.explain.model.problem import Span
from gradtape.explain.model.record import Shape
from gradtape.explain.source.axes import BINDINGS_FOLLOWED, is_outer, makes_axis
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import source_of

_SAME_SHAPE = frozenset({"detach", "stop_gradient", "copy", "clone", "numpy", "astype", "cpu", "float", "double"})
_MEASURES = frozenset({"shape", "size", "ndim", "dtype"})
_REARRANGING = frozenset(
    {"T", "mT", "transpose", "swapaxes", "permute", "reshape", "newaxis", "expand_dims", "unsqueeze"}
)


class EarlierExpression(UserExpression):
    """An expression of the present function that was evaluated earlier."""

    def __init__(self, site: UserExpression, node: ast.expr) -> None:
        self.frame, self.location, self.source, self.node = site.frame, site.location, site.source, node

    @property
    def span(self) -> Span:
        """The range of source of the expression."""
        assert isinstance(self.node, ast.expr)
        return self.source.span(self.node)


def bound_expression(site: UserExpression, name: ast.expr) -> ast.expr | None:
    """The expression that a name of the present function was bound to, if it is in the same file."""
    span = site.binding(name) if isinstance(name, ast.Name) else None
    if span is None or span.label or span.file != site.location.file:
        return None
    found = source_of(span.file).at(span)
    return found if isinstance(found, ast.expr) else None


def names_in(site: UserExpression, expression: ast.expr) -> Iterator[ast.Name]:
    """The names that an expression is computed from, through bindings; not those used only for a shape or dtype."""
    pending: list[tuple[ast.AST, int]] = [(expression, 0)]
    seen: set[str] = set()
    while pending:
        node, followed = pending.pop()
        if isinstance(node, ast.Attribute) and node.attr in _MEASURES:
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
            continue
        if isinstance(node, ast.Name) and node.id not in seen:
            seen.add(node.id)
            yield node
            value = bound_expression(site, node) if followed < BINDINGS_FOLLOWED else None
            if value is not None:
                pending.append((value, followed + 1))
        pending.extend((child, followed) for child in ast.iter_child_nodes(node))


def arrays_in(site: UserExpression, expression: ast.expr, length: int) -> set[str]:
    """The names of the arrays with an axis of this length that an expression is computed from."""
    return {name.id for name in names_in(site, expression) if length in _known_shape(site, name)}


def is_made_of_examples(
    site: UserExpression, prediction: ast.expr | None, target: ast.expr | None, length: int
) -> bool:
    """Whether a prediction is computed from arrays as long as its target, and not from the target."""
    if prediction is None or target is None:
        return False
    made = arrays_in(site, prediction, length)
    return bool(made) and not made & arrays_in(site, target, length)


def rearranges_axes(site: UserExpression, expression: ast.expr | None) -> bool:
    """Whether an expression, or the one its name was bound to, arranges its axes explicitly (`.T`, `reshape`)."""
    if expression is None:
        return False
    for part in (expression, bound_expression(site, expression)):
        for node in () if part is None else ast.walk(part):
            called = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            if called in _REARRANGING or (isinstance(node, ast.Constant) and node.value is None):
                return True
    return False


def find_accidental_table(
    site: UserExpression, expression: ast.expr | None, shape: Shape
) -> tuple[EarlierExpression, list[Any]] | None:
    """The operation in which `expression`, of a square shape, was broadcast by accident, with arrays like its operands.

    Accidental means that the axis of length 1 was not written (except as `keepdims` elsewhere), and that the operands
    are computed from different arrays.
    """
    value = expression if not isinstance(expression, ast.Name) else bound_expression(site, expression)
    for node in () if value is None else ast.walk(value):
        if not isinstance(node, ast.BinOp) or isinstance(node.op, ast.MatMult):
            continue
        place = EarlierExpression(site, node)
        sides = [node.left, node.right]
        shapes = [found for side in sides if (found := shape_of(place, side)) is not None]
        if len(shapes) != 2 or not is_outer(*shapes) or np.broadcast_shapes(*shapes) != shape:
            continue
        column = sides[next(i for i, found in enumerate(shapes) if 1 in found)]
        if makes_axis(place, column, reshapes=True) and not _is_kept(place, column):
            continue
        if arrays_in(place, sides[0], shape[0]) & arrays_in(place, sides[1], shape[0]):
            continue
        return place, [np.broadcast_to(0.0, found) for found in shapes]
    return None


def _is_kept(site: UserExpression, column: ast.expr) -> bool:
    """Whether a name in an expression was bound to a reduction that keeps its axis."""
    values = [bound_expression(site, node) for node in ast.walk(column) if isinstance(node, ast.Name)]
    calls = [value for value in values if isinstance(value, ast.Call)]
    return any(keyword.arg in ("keepdims", "keepdim") for call in calls for keyword in call.keywords)


def _known_shape(site: UserExpression, node: ast.expr) -> Shape:
    shape = getattr(site.value(node), "shape", ())
    return tuple(shape) if isinstance(shape, tuple) else ()


def shape_of(site: UserExpression, node: ast.expr) -> Shape | None:
    """The shape of an expression of names and elementwise operations; None if that takes executing it."""
    if isinstance(node, ast.Constant):
        return () if isinstance(node.value, int | float) else None
    if isinstance(node, ast.UnaryOp):
        return shape_of(site, node.operand)
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        sides = [shape_of(site, side) for side in (node.left, node.right)]
        known = [side for side in sides if side is not None]
        return np.broadcast_shapes(*known) if len(known) == 2 else None
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        inner = node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
        return shape_of(site, inner) if name in _SAME_SHAPE and inner is not None else None
    value = site.value(node)
    if isinstance(value, int | float):
        return ()
    shape = getattr(value, "shape", None)
    return tuple(shape) if isinstance(shape, tuple) else None
