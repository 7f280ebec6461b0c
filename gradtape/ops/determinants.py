"""Determinants, and their logarithms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import general
from gradtape.core.shapes import unbroadcast
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import LinearAlgebraError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.decompositions import inv
from gradtape.ops.linalg_common import adjoint, batch_as_stack, regular_matrix, transposed
from gradtape.ops.shared_factors import determinant_kernel, inverse_if_accurate, log_determinant_kernel


class SlogdetResult(NamedTuple):
    """The results of `slogdet`."""

    sign: Any
    logabsdet: Any


# -- det: its derivative is the matrix of cofactors, which exists for singular matrices too. Of up to three rows it is a
#    formula; of a large matrix far from singular, det(a) a^-T, with the factors that the determinant was computed from.
#    Otherwise, a = u diag(s) vh gives det(u) det(vh) conj(u) diag(products of the other s) conj(vh). The change of the
#    cofactors along e has, with f = (u^H e v)^T and the products p_ij of the s other than s_i and s_j, in the middle
#    diag(p diag(f)) - p f


def _others(s: Any, count: int) -> Any:
    """Products of all of the last axis but one (count 1), or but each pair (count 2, zero on the diagonal)."""
    if count == 1:
        before = np.cumprod(np.concatenate([np.ones_like(s[..., :1]), s[..., :-1]], axis=-1), axis=-1)
        after = np.cumprod(np.concatenate([np.ones_like(s[..., :1]), s[..., :0:-1]], axis=-1), axis=-1)
        return before * after[..., ::-1]
    places = np.arange(s.shape[-1])
    without = np.where(places[:, None] == places, 1, s[..., None, :])
    return np.where(places[:, None] == places, 0, _others(without, 1))


def _finite_svd(x: Any) -> tuple[Any, Any, Any, Any]:
    """u, s, vh and det(u) det(vh); NaN for matrices that are not finite, which LAPACK would refuse."""
    finite = np.isfinite(x).all(axis=(-2, -1))[..., None, None]
    u, s, vh = np.linalg.svd(np.where(finite, x, 0))
    return u, np.where(finite[..., 0], s, np.nan), vh, (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]


def _minors(x: Array, y: Array) -> Any:
    """The cofactors of matrices of up to three rows by their formula; of three, products of elements of x and of y."""
    size = x.shape[-1]
    if size == 1:
        return np.ones_like(x)
    if size == 2:
        signed = [[y[..., 1, 1], -y[..., 1, 0]], [-y[..., 0, 1], y[..., 0, 0]]]
    else:
        turns = [((i + 1) % 3, (i + 2) % 3) for i in range(3)]
        signed = [[x[..., i, k] * y[..., j, m] - x[..., i, m] * y[..., j, k] for k, m in turns] for i, j in turns]
    return np.stack([np.stack(row, axis=-1) for row in signed], axis=-2)


def _cofactor_kernel(x: Array) -> Any:
    if not x.size:
        return np.zeros_like(x)
    if x.shape[-1] <= 3:
        return _minors(x, x)
    inverse = inverse_if_accurate(x)
    if inverse is not None:
        determinant = determinant_kernel(x)
        if np.isfinite(determinant) and abs(determinant) >= np.finfo(x.dtype).tiny:
            return determinant * inverse.T
    u, s, vh, turn = _finite_svd(x)
    return turn * np.conj((u * _others(s, 1)[..., None, :]) @ vh)


def _cofactor_change_kernel(x: Array, e: Array) -> Any:
    x, e = np.broadcast_arrays(x, e)
    if not x.size:
        return np.zeros(x.shape, np.result_type(x, e))
    if x.shape[-1] <= 3:
        return _minors(x, e) + _minors(e, x) if x.shape[-1] == 3 else _minors(x, e) * (x.shape[-1] - 1)
    u, s, vh, turn = _finite_svd(x)
    f = transposed(adjoint(u) @ e @ adjoint(vh))
    p = _others(s, 2)
    diagonal = p @ np.diagonal(f, axis1=-2, axis2=-1)[..., None]
    inner = np.eye(s.shape[-1], dtype=s.dtype) * diagonal - p * f
    return turn * np.conj(u) @ inner @ np.conj(vh)


def _cofactor_curvature(x: Array, e: Array, f: Any) -> Any:
    """The second change of the cofactors det(x) inv(x)^T, along e and f; of singular matrices it is not computed."""
    z = inv(x)
    ze, zf = z @ e, z @ f

    def trace(matrix: Array) -> Any:
        return np.trace(matrix, axis1=-2, axis2=-1)[..., None, None]

    terms = (trace(ze) * trace(zf) - trace(ze @ zf)) * z - trace(zf) * ze @ z - trace(ze) * zf @ z
    return np.linalg.det(x)[..., None, None] * transposed(terms + (ze @ zf + zf @ ze) @ z)


def _cofactor_change_reverse(g: Array, x: Array, e: Array) -> Any:
    along = np.conj(g)
    return (
        unbroadcast(np.conj(_cofactor_curvature(x, e, along)), x.shape),
        unbroadcast(np.conj(_cofactor_change(x, along)), e.shape),
    )


_cofactor_change: Op = general(
    _cofactor_change_kernel,
    reverse=_cofactor_change_reverse,
    forward=lambda dx, de, x, e: _cofactor_change(x, de) + _cofactor_curvature(x, e, dx),
    name="cofactor_change",
    names=("x", "e"),
    inputs=2,
    batch=batch_as_stack,
    samples=lambda draw: [((regular_matrix(draw, n), draw(n, n)), {}) for n in (1, 2, 3)],
)
_cofactor = general(
    _cofactor_kernel,
    reverse=lambda g, x: np.conj(_cofactor_change(x, np.conj(g))),
    forward=lambda dx, x: _cofactor_change(x, dx),
    name="cofactor",
    batch=batch_as_stack,
    samples=lambda draw: [((regular_matrix(draw, n),), {}) for n in (1, 2, 3)],
)
_det = general(
    lambda x: determinant_kernel(x),
    reverse=lambda g, x: g[..., None, None] * np.conj(_cofactor(x)),
    forward=lambda dx, x: np.sum(_cofactor(x) * dx, axis=(-2, -1)),
    name="det",
    batch=batch_as_stack,
    samples=lambda draw: [
        *[((draw(n, n),), {}) for n in (0, 1, 2, 3)],
        ((draw(2, 3, 3),), {}),
        ((np.outer(draw(3), draw(3)),), {}),
        ((np.zeros((2, 2)),), {}),
    ],
)


@answers(np.linalg.det)
def det(a: TensorLike) -> Any:
    """The determinant, as `np.linalg.det`; its gradient is exact for singular matrices too.

    >>> import numpy as np, gradtape as gt
    >>> gt.grad(np.linalg.det)(np.array([[1.0, 2.0], [2.0, 4.0]])).round(12)
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    return _det(as_value(a))


# -- slogdet: d log|det a| = Re tr(a^-1 da),  d sign = i sign Im tr(a^-1 da)


def _inverse_for_logarithm(x: Array) -> Any:
    try:
        return inv(x)
    except np.linalg.LinAlgError:
        raise argument_error(
            LinearAlgebraError,
            "slogdet: the matrix is singular: the logarithm of its determinant is -inf there and has no derivative.",
            "np.linalg.det has one everywhere; or add a small multiple of the identity",
        ) from None


def _slogdet_reverse(g: Array, x: Array, out: Array) -> Any:
    g_sign, weight = g
    if x.dtype.kind == "c":
        weight = weight - 1j * np.imag(np.conj(g_sign) * out[0])
    return weight[..., None, None] * adjoint(_inverse_for_logarithm(x))


def _slogdet_forward(dx: Array, x: Array, out: Array) -> Any:
    change = np.sum(transposed(_inverse_for_logarithm(x)) * dx, axis=(-2, -1))
    if x.dtype.kind != "c":
        return None, change
    return 1j * out[0] * np.imag(change), np.real(change)


_slogdet = general(
    lambda x: log_determinant_kernel(x),
    reverse=_slogdet_reverse,
    forward=_slogdet_forward,
    name="slogdet",
    outputs=True,
    batch=batch_as_stack,
    samples=lambda draw: [
        ((regular_matrix(draw, 3),), {}),
        ((np.stack([-regular_matrix(draw, 3), regular_matrix(draw, 3)]),), {}),
        ((draw(0, 0),), {}),
    ],
)


@answers(np.linalg.slogdet)
def slogdet(a: TensorLike) -> SlogdetResult:
    """The sign (or phase) of the determinant and the logarithm of its size, as `np.linalg.slogdet`.

    >>> import numpy as np, gradtape as gt
    >>> gt.grad(lambda a: np.linalg.slogdet(a).logabsdet)(np.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return SlogdetResult(*_slogdet(as_value(a)))
