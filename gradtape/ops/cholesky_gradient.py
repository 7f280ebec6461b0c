"""The derivative of the Cholesky factor, in both directions, from the factor alone.

a = l l^H. With h = l^-1 da l^-H, l^-1 dl is the lower triangle of h with its diagonal halved. The adjoint of that map
takes the cotangent g of l to l^-H s l^-1 / 2, where s is Hermitian and has the lower triangle of l^H g.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import constant, general
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

SMALL = 64
"""Rows of a matrix that is not divided into blocks any further."""
FEW = 8
"""Right sides up to which LAPACK solves as quickly as memory is read."""
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
    """factor^-H right, for the lower triangle of `factor`.

    By halves of the rows, so that most of it are products: LAPACK takes three times as long.
    """
    size = len(factor)
    if size <= SMALL or right.shape[1] < FEW:
        whole = np.ascontiguousarray(np.conj(factor) if factor.dtype.kind == "c" else factor)
        return solve_one_triangle(whole, right, 1, True, False)
    half = size // 2
    result = np.empty(right.shape, np.result_type(factor, right))
    result[half:] = _solve_adjoint(factor[half:, half:], right[half:])
    rest = right[:half] - adjoint(factor[half:, :half]) @ result[half:]
    result[:half] = _solve_adjoint(factor[:half, :half], rest)
    return result


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


# -- the same for a cotangent of known parts. In likelihoods, g is a diagonal d and the lower triangles of products
#    l^-H w y^H of few columns. Then l^H g has l_ii d_i on the diagonal, and w y^H, without a product of matrices. Where
#    all l_ii d_i are equal and w is a multiple of y, the result is made of the inverse l^-H l^-1 and of l^-H y


def _parts_kernel(factor: Array, *parts: Array, diagonal: bool, signs: tuple[int, ...]) -> Any:
    from scipy import linalg

    columns = parts[1:] if diagonal else parts
    pairs = list(zip(columns[::2], columns[1::2], strict=True))
    level = _common_ratio(parts[0], 1 / np.diagonal(factor)) if diagonal else 0.0
    ratios = [_common_ratio(left, right) for left, right in pairs]
    if level is None or None in ratios:
        middle = np.zeros(factor.shape, factor.dtype)
        for sign, (left, right) in zip(signs, pairs, strict=True):
            middle += (0.5 * sign * left) @ right.T
        if diagonal:
            places = np.arange(len(factor))
            middle[places, places] += 0.5 * parts[0] * np.diagonal(factor)
        result = np.empty(factor.shape, factor.dtype)
        _solve_congruence(middle, factor, result)
        return result
    scaled = _inverse_triangle(factor) if diagonal else np.zeros(factor.shape, factor.dtype, "F")
    (syrk,) = linalg.get_blas_funcs(("syrk",), (factor,))
    scale = 0.5 * level  # of what is there, in the first product
    for sign, ratio, (_, right) in zip(signs, ratios, pairs, strict=True):
        white = _solve_adjoint(factor, right)
        scaled = syrk(0.5 * sign * ratio, white, beta=scale, c=scaled, lower=False, overwrite_c=True)
        scale = 1.0
    if not pairs:
        scaled *= scale
    return _mirror_lower(scaled.T)


def _common_ratio(x: Any, y: Any) -> Any:
    """The number c with x = c y up to rounding; None if there is none."""
    place = np.unravel_index(np.argmax(np.abs(y)), y.shape)
    if not y[place] or not np.isfinite(x[place]) or not np.isfinite(y[place]):
        return None
    ratio = x[place] / y[place]
    return ratio if np.all(np.abs(x - ratio * y) <= 4 * np.finfo(x.dtype).eps * np.abs(x)) else None


def _inverse_triangle(factor: Any) -> Any:
    """The upper triangle of l^-T l^-1, for LAPACK, which reads the factor as an upper one."""
    from scipy import linalg

    (potri,) = linalg.get_lapack_funcs(("potri",), (factor,))
    found, info = potri(factor.T, lower=False)
    if info:
        raise np.linalg.LinAlgError(f"singular matrix: the element {info - 1} of the diagonal is 0")
    return found


def _mirror_lower(x: Any) -> Any:
    """`x` with its lower triangle above the diagonal, too, in place: in blocks, of which the cache holds both."""
    for begin in range(0, len(x), SMALL):
        end = min(begin + SMALL, len(x))
        x[:begin, begin:end] = x[begin:end, :begin].T
        block = np.tril(x[begin:end, begin:end])
        x[begin:end, begin:end] = block + np.tril(block, -1).T
    return x


def _parts_samples(draw: Draw) -> list[Any]:
    factor, columns, diagonal = np.tril(regular_matrix(draw, 3)), draw(3, 2), draw(3)
    return [
        ((factor, diagonal, columns, draw(3, 2)), {"diagonal": True, "signs": (1,)}),
        ((factor, 2 / np.diagonal(factor), columns, 3 * columns), {"diagonal": True, "signs": (-1,)}),
        ((factor, columns, columns, columns, draw(3, 2)), {"diagonal": False, "signs": (-1, 1)}),
        ((factor, columns, -columns), {"diagonal": False, "signs": (-1,)}),
    ]


pull_cholesky_parts: Op = constant(
    _parts_kernel,
    name="cholesky_gradient_of_parts",
    samples=_parts_samples,
    doc="cholesky_gradient for a real cotangent of known parts; a pass of the compiler makes it.",
)
