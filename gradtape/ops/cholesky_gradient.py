"""The derivative of the Cholesky factor, in both directions, from the factor alone.

a = l l^H. With h = l^-1 da l^-H, l^-1 dl is the lower triangle of h with its diagonal halved. The adjoint of that map
takes the cotangent g of l to l^-H s l^-1 / 2, where s is Hermitian and has the lower triangle of l^H g.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import general
from gradtape.core.shapes import unbroadcast
from gradtape.core.typing import Array, Draw
from gradtape.ops.linalg_common import (
    adjoint,
    batch_as_stack,
    diagonal_part,
    hermitian_part,
    in_precision_of,
    over_stack,
    regular_matrix,
)
from gradtape.ops.triangular import solve_one_triangle, solve_triangular

SMALL = 96
"""Rows of a matrix that is not divided into blocks any further."""
BLOCK = 128
"""Rows of the blocks of a product of which the lower triangle is needed only."""


def _lower_half(x: Array) -> Any:
    lower = np.tril(x)
    return lower - diagonal_part(lower) / 2


def push_cholesky(change: Array, factor: Array) -> Any:
    """The change of the factor that goes with a change of the matrix, of which the Hermitian part counts."""
    left = solve_triangular(factor, hermitian_part(change), lower=True)
    return np.tril(factor) @ _lower_half(solve_triangular(factor, adjoint(left), lower=True))


# -- the kernel


def _pull_kernel(g: Array, factor: Array) -> Any:
    g, factor = np.asarray(g), np.asarray(factor)
    size = factor.shape[-1]
    if factor.ndim == g.ndim == 2 or size > SMALL:
        return in_precision_of(over_stack(_pull_one, g, factor), g, factor)
    lower = np.tril(factor)
    half = _hermitian_of_lower(adjoint(lower) @ g) / 2
    left = np.linalg.solve(adjoint(lower), half)
    return hermitian_part(adjoint(np.linalg.solve(adjoint(lower), adjoint(left))))


def _hermitian_of_lower(x: Any) -> Any:
    """The Hermitian matrix with the lower triangle of `x`, of which the diagonal is made real."""
    below = np.tril(x, -1)
    return below + adjoint(below) + np.real(diagonal_part(x))


def _pull_one(g: Any, factor: Any) -> Any:
    result = np.empty(factor.shape, np.result_type(g, factor))
    if result.size:
        _solve_congruence(_multiply_lower(factor, g), factor, result)
    return result


def _multiply_lower(factor: Any, g: Any) -> Any:
    """Half of factor^H g: blocks of rows, up to the diagonal. Its lower triangle depends on those of both only."""
    size = len(factor)
    product = np.zeros(factor.shape, np.result_type(g, factor))
    lower = np.tril(factor)
    lower *= 0.5
    for begin in range(0, size, BLOCK):
        end = min(begin + BLOCK, size)
        np.matmul(adjoint(lower[begin:, begin:end]), g[begin:, :end], out=product[begin:end, :end])
    return product


def _solve_congruence(middle: Any, factor: Any, result: Any) -> None:
    """Write factor^-H s factor^-1 to `result`, with the Hermitian s that has the lower triangle of `middle`.

    With halves of the rows and columns, the result t follows from l^H t l = s:
    t22 = l22^-H s22 l22^-1,  t21 = (y - z) l11^-1  with  y = l22^-H s21, z = t22 l21,  and t11 is that of s11 less
    l21^H (y - z/2) and its conjugate transpose. This takes half of the multiplications of two triangular systems, most
    of them in products. `middle` is written over.
    """
    size = len(factor)
    if size <= SMALL:
        left = _solve_adjoint(factor, _hermitian_of_lower(middle))
        result[...] = hermitian_part(_solve_adjoint(factor, adjoint(left)))
        return
    half = size // 2
    last, below, first = factor[half:, half:], factor[half:, :half], factor[:half, :half]
    _solve_congruence(middle[half:, half:], last, result[half:, half:])
    moved = _solve_adjoint(last, middle[half:, :half])
    product = result[half:, half:] @ below
    moved -= product
    corner = adjoint(_solve_adjoint(first, adjoint(moved)))
    result[half:, :half] = corner
    result[:half, half:] = adjoint(corner)
    product *= 0.5
    product += moved
    overlap = adjoint(below) @ product
    middle[:half, :half] -= overlap
    middle[:half, :half] -= adjoint(overlap)
    _solve_congruence(middle[:half, :half], first, result[:half, :half])


def _solve_adjoint(factor: Any, right: Any) -> Any:
    """factor^-H right, for the lower triangle of `factor`."""
    if factor.dtype.kind == "c":
        factor = np.conj(factor)
    return solve_one_triangle(np.ascontiguousarray(factor), right, 1, True, False)


# -- the rules. Of t = pull(g, l) along dl: l^H t l = s / 2 gives dt = pull(l^-H dl^H g, l) - t dl l^-1 - its adjoint


def _pull_reverse(g: Array, x: Array, y: Array, out: Array) -> Any:
    """With the cotangent w of the result, made Hermitian: v = push(w, l) of g, and (g v^H - 2 t w) l^-H of l."""
    along = push_cholesky(g, y)
    turned = x @ adjoint(along) - 2 * out @ hermitian_part(g)
    back = adjoint(solve_triangular(y, adjoint(turned), lower=True))
    return unbroadcast(along, x.shape), unbroadcast(np.tril(back), y.shape)


def _pull_forward(dx: Array, dy: Array, x: Array, y: Array, out: Array) -> Any:
    change = np.tril(dy)
    moved = dx + solve_triangular(y, adjoint(change) @ x, trans=2, lower=True)
    turned = solve_triangular(y, adjoint(out @ change), trans=2, lower=True)
    return pull_cholesky(moved, y) - turned - adjoint(turned)


def _samples(draw: Draw) -> list[Any]:
    return [
        ((draw(3, 3), np.tril(regular_matrix(draw, 3))), {}),
        ((draw(2, 2, 2), np.tril(np.stack([regular_matrix(draw, 2)] * 2))), {}),
        ((draw(0, 0), draw(0, 0)), {}),
    ]


pull_cholesky: Op = general(
    _pull_kernel,
    reverse=_pull_reverse,
    forward=_pull_forward,
    name="cholesky_gradient",
    inputs=2,
    batch=batch_as_stack,
    samples=_samples,
    doc="The cotangent of a Hermitian matrix from that of its lower Cholesky factor (x) and the factor (y).",
)
