"""Triangular systems, for one right side or many, and for stacks of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import general
from gradtape.core.shapes import unbroadcast
from gradtape.core.typing import Array, Draw, TensorLike
from gradtape.errors import ShapeError
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.conversion import conjugate
from gradtape.ops.linalg_common import adjoint, batch_as_stack, in_precision_of, over_stack, regular_matrix, transposed
from gradtape.ops.rearranging import tril, triu

# -- t x = b with the triangle t of a, or its transpose


def _triangular_kernel(x: Array, y: Array, trans: int, lower: bool, unit: bool) -> Any:
    x, y = np.asarray(x), np.asarray(y)
    if math.prod(x.shape[:-2]) > x.shape[-1] and y.size:
        return in_precision_of(_substitute(x, y, trans, lower, unit), x, y)
    return in_precision_of(over_stack(lambda x, y: solve_one_triangle(x, y, trans, lower, unit), x, y), x, y)


def solve_one_triangle(x: Any, y: Any, trans: int, lower: bool, unit: bool) -> Any:
    """The solution of one triangular system, of arrays, by LAPACK; a matrix in C order is not copied."""
    from scipy import linalg

    if x.shape[0] != x.shape[1] or y.shape[0] != x.shape[0]:
        return linalg.solve_triangular(x, y)  # raises, with the shapes
    if not y.size:
        return np.zeros(y.shape, np.result_type(x, y))
    (trtrs,) = linalg.get_lapack_funcs(("trtrs",), (x, y))
    if x.flags.f_contiguous:
        result, info = trtrs(x, y, lower=lower, trans=trans, unitdiag=unit)
    else:
        result, info = trtrs(x.T, y, lower=not lower, trans=not trans, unitdiag=unit)
    if info > 0:
        raise np.linalg.LinAlgError(f"singular matrix: the element {info - 1} of the diagonal is 0")
    if info < 0:
        raise ValueError(f"LAPACK's trtrs refuses its argument {-info}")
    return result


def _substitute(x: Any, y: Any, trans: int, lower: bool, unit: bool) -> Any:
    """The solutions of many small systems: substitution, each step of it for the whole stack."""
    if trans:
        x, lower = transposed(x), not lower
    size = x.shape[-1]
    stack = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    diagonal = np.diagonal(x, axis1=-2, axis2=-1)
    if not unit and not diagonal.all():
        place = int(np.argwhere(diagonal == 0)[0][-1])
        raise np.linalg.LinAlgError(f"singular matrix: the element {place} of the diagonal is 0")
    result = np.empty((*stack, *y.shape[-2:]), np.result_type(x, y, np.float32))
    result[...] = y
    for row in range(size) if lower else range(size - 1, -1, -1):
        known = slice(0, row) if lower else slice(row + 1, size)
        here = result[..., row : row + 1, :]
        here -= x[..., row : row + 1, known] @ result[..., known, :]
        if not unit:
            here /= diagonal[..., row, None, None]
    return result


def _triangle(x: Array, lower: bool, unit: bool) -> Any:
    return tril(x, -1 if unit else 0) if lower else triu(x, 1 if unit else 0)


def _triangular_reverse(g: Array, x: Array, y: Array, out: Array, trans: int, lower: bool, unit: bool) -> Any:
    right = np.conj(triangular(x, np.conj(g), trans=1 - trans, lower=lower, unit=unit))
    change = -right @ adjoint(out)
    gradient = _triangle(transposed(change) if trans else change, lower, unit)
    return unbroadcast(gradient, x.shape), unbroadcast(right, y.shape)


def _triangular_forward(dx: Array, dy: Array, x: Array, out: Array, trans: int, lower: bool, unit: bool) -> Any:
    change = _triangle(dx, lower, unit)
    moved = dy - (transposed(change) if trans else change) @ out
    return triangular(x, moved, trans=trans, lower=lower, unit=unit)


def _triangular_samples(draw: Draw) -> list[Any]:
    return [
        ((regular_matrix(draw, 3), draw(3, 2)), {"trans": 0, "lower": False, "unit": False}),
        ((regular_matrix(draw, 3), draw(3, 3)), {"trans": 1, "lower": True, "unit": False}),
        ((regular_matrix(draw, 2), draw(4, 2, 1)), {"trans": 0, "lower": True, "unit": True}),
        ((np.stack([regular_matrix(draw, 2)] * 2), draw(2, 1)), {"trans": 1, "lower": False, "unit": True}),
        ((np.stack([regular_matrix(draw, 2)] * 3), draw(3, 2, 2)), {"trans": 1, "lower": True, "unit": False}),
        ((draw(0, 0), draw(0, 2)), {"trans": 0, "lower": True, "unit": False}),
    ]


triangular: Op = general(
    _triangular_kernel,
    reverse=_triangular_reverse,
    forward=_triangular_forward,
    name="solve_triangular",
    inputs=2,
    batch=batch_as_stack,
    samples=_triangular_samples,
)


def solve_triangular(
    a: TensorLike, b: TensorLike, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False
) -> Any:
    """The solution of a triangular system, as `scipy.linalg.solve_triangular`.

    Only the triangle of `a` is read, and only the triangle gets a gradient. `trans` is 0 or "N" for a x = b, 1 or "T"
    for a^T x = b, 2 or "C" for a^H x = b.

    >>> import numpy as np, gradtape as gt
    >>> solve_triangular(gt.tensor([[2.0, 0.0], [1.0, 1.0]]), gt.tensor([2.0, 3.0]), lower=True)
    Tensor([1., 2.])
    """
    a, b = as_value(a), as_value(b)
    codes = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}
    if trans not in codes:
        raise argument_error(ShapeError, f"solve_triangular: trans={trans!r}.", "0 or 'N', 1 or 'T', 2 or 'C'")
    code = codes[trans]
    if code == 2 and a.dtype.kind == "c":
        a = conjugate(a)
    how = {"trans": int(code > 0), "lower": bool(lower), "unit": bool(unit_diagonal)}
    return triangular(a, b[:, None], **how)[..., 0] if b.ndim == 1 else triangular(a, b, **how)
