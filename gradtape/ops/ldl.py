"""The factors of a symmetric or Hermitian matrix that need not be definite: a = l d l^H with blocks of one and of two.

LAPACK exchanges rows and columns as it goes; the exchanges are whole numbers and stay the same nearby.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.rules import general
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import LinearAlgebraError
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.linalg_common import adjoint, batch_as_stack, over_stack, regular_matrix, transposed

# -- ldl: with k = l^-1 da l^-H:  dd = the blocks of k on the diagonal,  l^-1 dl = (what is below them in k) d^-1


def _ldl_kernel(x: Array, hermitian: bool) -> tuple[Any, Any, Any]:
    from scipy import linalg

    x = np.asarray(x)
    x = (x + _turned(x, hermitian)) / 2
    n = x.shape[-1]

    def factors(a: Array) -> Any:
        outer, d, permutation = linalg.ldl(a, lower=True, hermitian=hermitian, check_finite=False)
        return np.concatenate([outer, d, permutation[None].astype(d.dtype)])

    packed = over_stack(factors, x)
    outer, d, permutation = packed[..., :n, :], packed[..., n : 2 * n, :], packed[..., 2 * n, :]
    return outer.astype(x.dtype), d.astype(x.dtype), permutation.real.astype(np.intp)


def _sorted_rows(outer: Array, permutation: Array) -> Any:
    return np.take_along_axis(outer, permutation[..., None], axis=-2)


def _back_in_place(x: Array, permutation: Array) -> Any:
    return np.take_along_axis(x, np.argsort(permutation, axis=-1)[..., None], axis=-2)


def _below_blocks(d: Array) -> Any:
    """Where in a matrix is what lies below the blocks of d."""
    n = d.shape[-1]
    lower = np.tril(np.ones((n, n), bool), -1)
    return np.logical_and(lower, np.logical_not(d != 0))


def _turned(x: Array, hermitian: bool) -> Any:
    return adjoint(x) if hermitian else transposed(x)


def _inverse_times(matrix: Array, x: Array) -> Any:
    try:
        return np.linalg.solve(matrix, x)
    except np.linalg.LinAlgError:
        raise argument_error(
            LinearAlgebraError,
            "the gradient of ldl does not exist here: the matrix has not full rank.",
            "np.linalg.eigh, or add a small multiple of the identity",
        ) from None


def _ldl_reverse(g: Array, out: Array, hermitian: bool) -> Any:
    g_outer, gd, _ = g
    outer, d, permutation = out
    low, g_low = _sorted_rows(outer, permutation), _sorted_rows(g_outer, permutation)
    below = _below_blocks(d)
    blocks = np.logical_or(d != 0, np.eye(d.shape[-1], dtype=bool))
    g_inner = adjoint(low) @ g_low  # of x = l^-1 dl = (k below the blocks) d^-1
    g_k = np.where(below, adjoint(_inverse_times(d, adjoint(g_inner))), 0) + np.where(blocks, gd, 0)
    # k = l^-1 (da in the order of the permutation) l^-T or l^-H; conjugates of the second factor as it stands
    right = low if hermitian else np.conj(low)
    left = np.linalg.solve(adjoint(low), g_k)
    gradient = adjoint(np.linalg.solve(adjoint(right), adjoint(left)))
    rows = _back_in_place(gradient, permutation)
    whole = transposed(_back_in_place(transposed(rows), permutation))
    return (whole + _turned(whole, hermitian)) / 2


def _ldl_forward(dx: Array, out: Array, hermitian: bool) -> Any:
    outer, d, permutation = out
    low = _sorted_rows(outer, permutation)
    change = (dx + _turned(dx, hermitian)) / 2
    change = _sorted_rows(change, permutation)
    change = transposed(_sorted_rows(transposed(change), permutation))
    half = np.linalg.solve(low, change)
    k = _turned(np.linalg.solve(low, _turned(half, hermitian)), hermitian)
    blocks = np.logical_or(d != 0, np.eye(d.shape[-1], dtype=bool))
    inner = transposed(_inverse_times(transposed(d), transposed(np.where(_below_blocks(d), k, 0))))
    return _back_in_place(low @ inner, permutation), np.where(blocks, k, 0), None


def _symmetric(draw: Any, n: int) -> Any:
    a = regular_matrix(draw, n)
    return a + a.T


def _indefinite(draw: Any) -> Any:
    """A matrix of which LAPACK takes the first two rows and columns together."""
    a = 0.1 * _symmetric(draw, 3)
    return a + np.array([[0.0, 3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 2.0]])


_ldl = general(
    _ldl_kernel,
    reverse=_ldl_reverse,
    forward=_ldl_forward,
    name="ldl",
    outputs=True,
    batch=batch_as_stack,
    samples=lambda draw: [
        ((_symmetric(draw, 3),), {"hermitian": True}),
        ((_indefinite(draw),), {"hermitian": False}),
        ((np.stack([_symmetric(draw, 2), _symmetric(draw, 2)]),), {"hermitian": True}),
    ],
)


def ldl(a: TensorLike, lower: bool = True, hermitian: bool = True) -> tuple[Any, Any, Any]:
    """The factors l and d of a = l @ d @ l^H and the order of the rows in which l is triangular, as `scipy.linalg.ldl`.

    >>> import gradtape as gt
    >>> l, d, order = ldl(gt.tensor([[4.0, 2.0], [2.0, 3.0]]))
    >>> l, d, order
    (Tensor([[1. , 0. ],
            [0.5, 1. ]]), Tensor([[4., 0.],
            [0., 2.]]), Tensor([0, 1]))
    """
    a = as_value(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise argument_error(
            LinearAlgebraError, f"ldl: the last two axes of shape {a.shape} differ.", "a square matrix"
        )
    given = np.tril(a) if lower else np.triu(a)
    read = given + _turned(np.tril(given, -1) if lower else np.triu(given, 1), hermitian)
    if lower:
        low, d, order = _ldl(read, hermitian=hermitian)
        return low, d, order
    # the factors of the upper form are those of the lower form of the matrix with its rows and columns reversed
    outer, d, order = _ldl(read[..., ::-1, ::-1], hermitian=hermitian)
    return outer[..., ::-1, ::-1], d[..., ::-1, ::-1], a.shape[-1] - 1 - order[..., ::-1]
