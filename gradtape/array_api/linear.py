"""Products of matrices and vectors: the part of linear algebra that is in the main namespace."""

from __future__ import annotations

from typing import Any

from gradtape import ops
from gradtape.array_api.arguments import ArgumentError, array
from gradtape.extend import argument_error, messages

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def matmul(x1: Any, x2: Any, /) -> Any:
    """The product of matrices, or of stacks of them."""
    return ops.matmul(array(x1, "matmul", "x1"), array(x2, "matmul", "x2"))


def matrix_transpose(x: Any, /) -> Any:
    """Matrices with rows and columns exchanged."""
    x = array(x, "matrix_transpose")
    if x.ndim < 2:
        raise argument_error(ArgumentError, f"matrix_transpose: x has shape {x.shape}.", "at least two axes")
    return ops.matrix_transpose(x)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """The sum of products over axes of both: the last and the first `axes`, or two sequences of them."""
    return ops.tensordot(array(x1, "tensordot", "x1"), array(x2, "tensordot", "x2"), axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The inner products of the vectors along an axis of both; complex ones of `x1` are conjugated."""
    x1, x2 = array(x1, "vecdot", "x1"), array(x2, "vecdot", "x2")
    shorter = min(x1.ndim, x2.ndim)
    if not -shorter <= axis < shorter:
        raise messages.no_such_axis(axis, shorter)
    return ops.vecdot(ops.moveaxis(x1, axis, -1), ops.moveaxis(x2, axis, -1))
