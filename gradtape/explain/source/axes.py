"""Axes of length 1: what they are stretched to where two arrays meet, and whether the source adds them on purpose."""

from __future__ import annotations

import ast
import functools

import numpy as np

from gradtape.explain.model.record import Shape
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import source_of

BINDINGS_FOLLOWED = 4


def is_outer(left: Shape, right: Shape) -> bool:
    """Whether two shapes make a table of all pairs by accident.

    Both are stretched, to a length that is the same on both sides, and at least one of them along an axis that it does
    not have.

    >>> is_outer((200, 1), (200,)), is_outer((200, 1), (1, 200)), is_outer((200, 1), (5,))
    (True, False, False)
    """
    own, missing = stretched_axes(left, right)
    other, other_missing = stretched_axes(right, left)
    if not (missing or other_missing):
        return False
    return bool({*own, *missing} & {*other, *other_missing})


def stretched_axes(shape: Shape, other: Shape) -> tuple[list[int], list[int]]:
    """The lengths that `shape` is stretched to by `other`: along axes of length 1, and along axes it does not have."""
    count = max(len(shape), len(other))
    padded, others = (1,) * (count - len(shape)) + shape, (1,) * (count - len(other)) + other
    pairs = list(zip(padded, others))
    absent = count - len(shape)
    missing = [n for length, n in pairs[:absent] if n > 1]
    own = [n for length, n in pairs[absent:] if length == 1 and n > 1]
    return own, missing


def makes_axis(site: UserExpression, expression: ast.expr, followed: int = 0, reshapes: bool = False) -> bool:
    """Whether an expression, or the elementwise operations it consists of, explicitly adds an axis of length 1.

    Names are followed to where they were bound. A `reshape` counts only in the expression itself, unless `reshapes` is
    true: a column that was made elsewhere is the usual mistake.
    """
    if isinstance(expression, ast.Subscript):
        return _has_none(expression.slice)
    if isinstance(expression, ast.Attribute) and expression.attr in SAME_AXES:
        return makes_axis(site, expression.value, followed, reshapes)
    if isinstance(expression, ast.IfExp):
        return all(makes_axis(site, part, followed, reshapes) for part in (expression.body, expression.orelse))
    if isinstance(expression, ast.UnaryOp):
        return makes_axis(site, expression.operand, followed, reshapes)
    if isinstance(expression, ast.BinOp):
        if isinstance(expression.op, ast.MatMult):
            return False
        return any(makes_axis(site, side, followed, reshapes) for side in (expression.left, expression.right))
    if isinstance(expression, ast.Call):
        return call_makes_axis(site, expression, followed, reshapes)
    if isinstance(expression, ast.Name) and followed < BINDINGS_FOLLOWED:
        bound = site.binding(expression)
        if bound is None or bound.label:
            return False
        source = source_of(bound.file)
        value = source.at(bound)
        elsewhere = UserExpression(None)
        elsewhere.source, elsewhere.node = source, value
        return isinstance(value, ast.expr) and makes_axis(elsewhere, value, followed + 1, reshapes)
    return False


def call_makes_axis(site: UserExpression, call: ast.Call, followed: int, reshapes: bool) -> bool:
    """Whether a call in the user's code adds an axis of length 1; with `reshapes`, `reshape` counts."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    is_function = owner is None or (isinstance(owner, ast.Name) and site.source.is_array_module(owner.id))
    is_layer = isinstance(owner, ast.Name) and owner.id == "self"  # whatever its name: self.outer(x)
    if not is_layer and name in ("expand_dims", "unsqueeze", "ix_", "atleast_2d", "atleast_3d", "outer"):
        return True
    is_position = name in ("argmax", "argmin") and followed > 0  # the class of each example, from another line
    for keyword in call.keywords:
        if not is_position and keyword.arg in ("keepdims", "keepdim") and getattr(keyword.value, "value", True):
            return True
    if name == "reshape" and (reshapes or not followed):
        return any(
            isinstance(length, ast.Constant) and length.value == 1
            for argument in call.args
            for length in (argument.elts if isinstance(argument, ast.Tuple | ast.List) else [argument])
        )
    arguments = call.args if is_function else [*([] if owner is None else [owner]), *call.args]
    if name in SAME_AXES or is_elementwise(name):
        return any(makes_axis(site, argument, followed, reshapes) for argument in arguments)
    return False


SAME_AXES = frozenset({
    "real", "imag", "T", "mT", "H", "conj", "conjugate", "angle", "real_if_close", "nan_to_num", "clip", "clamp",
    "where", "astype", "to", "float", "double", "cfloat", "copy", "clone", "array", "asarray", "asanyarray",
    "ascontiguousarray", "asfortranarray", "contiguous", "tensor", "as_tensor", "constant", "convert_to_tensor",
    "identity", "transpose", "permute", "permute_dims", "swapaxes", "moveaxis", "matrix_transpose", "flip", "fliplr",
    "flipud", "roll", "sort", "cumsum", "cumprod", "round", "around", "fix", "stop_gradient", "detach", "numpy",
    "cast",
})  # fmt: skip
"""Attributes, methods and functions whose result has the axes of their operand, at most in another order."""


_OTHER_SPELLINGS = frozenset({"clamp", "clamp_max", "clamp_min", "div", "logsigmoid", "mul", "neg", "pow", "sub"})
"""Functions of other libraries that are applied to each element, as far as NumPy and ours have them by another name."""


@functools.lru_cache(maxsize=512)
def is_elementwise(name: str) -> bool:
    """Whether the function that goes by `name` is applied to each element: a ufunc of NumPy's, or an operation of ours.

    >>> is_elementwise("conj"), is_elementwise("sigmoid"), is_elementwise("sum")
    (True, True, False)
    """
    from gradtape import ops

    if name in _OTHER_SPELLINGS or isinstance(getattr(np, name, None), np.ufunc):
        return True
    return bool(getattr(getattr(ops, name, None), "kind", "") == "elementwise")


def _has_none(index: ast.expr) -> bool:
    """Whether an index has `None` or `newaxis` in it."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(
        (isinstance(part, ast.Constant) and part.value is None)
        or (isinstance(part, ast.Attribute) and part.attr == "newaxis")
        or (isinstance(part, ast.Name) and part.id == "newaxis")
        for part in parts
    )


__all__ = [
    "BINDINGS_FOLLOWED",
    "SAME_AXES",
    "call_makes_axis",
    "is_elementwise",
    "is_outer",
    "makes_axis",
    "stretched_axes",
]
