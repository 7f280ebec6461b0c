"""Linear systems, inverses, determinants and factorisations: `numpy.linalg` but for eigenvalues and norms.

Everything works on the last two axes of stacks of matrices, real or complex; ^H is the conjugate transpose.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.location import Location
from gradtape.core.operation import Op
from gradtape.core.rules import constant, general
from gradtape.core.shapes import unbroadcast
from gradtape.core.tensor import Tensor
from gradtape.errors import LinearAlgebraError, OperandError, ShapeError, UnsupportedError
from gradtape.ops.arguments import as_value, refused
from gradtape.ops.conversion import stop_gradient
from gradtape.ops.linalg import matmul
from gradtape.ops.matrices import (
    adjoint,
    as_hermitian,
    by_stack,
    hermitian_part,
    is_absent,
    results_of,
    transposed,
)
from gradtape.protocols import answers


class SlogdetResult(NamedTuple):
    """The results of `slogdet`."""

    sign: Any
    logabsdet: Any


class QRResult(NamedTuple):
    """The results of `qr`."""

    Q: Any
    R: Any


def regular(draw: Any, n: int) -> Any:
    """A matrix far from singular."""
    return 0.4 * draw(n, n) + 2 * np.eye(n)


# -- solve: A x = b,  A dx = db - dA x


def _solve_reverse(g: Any, x: Any, y: Any, out: Any) -> Any:
    right = np.linalg.solve(adjoint(x), g)
    return unbroadcast(-right @ adjoint(out), x.shape), unbroadcast(right, y.shape)


_solve = general(
    lambda x, y: np.linalg.solve(x, y),
    reverse=_solve_reverse,
    forward=lambda dx, dy, x, out: np.linalg.solve(x, dy - dx @ out),
    name="solve",
    inputs=2,
    batch=by_stack,
    samples=lambda draw: [
        ((regular(draw, 3), draw(3, 2)), {}),
        ((regular(draw, 2), draw(2, 2)), {}),
        ((np.stack([regular(draw, 2), regular(draw, 2)]), draw(2, 1)), {}),
        ((regular(draw, 2), draw(3, 2, 2)), {}),
        ((draw(0, 0), draw(0, 2)), {}),
    ],
)


@answers(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    """The solution x of `a @ x = b`, as `np.linalg.solve`: `b` is a vector if it has one axis, else columns of them.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.solve(gt.tensor([[2.0, 0.0], [0.0, 4.0]]), gt.tensor([2.0, 4.0]))
    Tensor([1., 1.])
    """
    a, b = as_value(a), as_value(b)
    return _solve(a, b[:, None])[..., 0] if b.ndim == 1 else _solve(a, b)


_inv = general(
    lambda x: np.linalg.inv(x),
    reverse=lambda g, out: -adjoint(out) @ g @ adjoint(out),
    forward=lambda dx, out: -out @ dx @ out,
    name="inv",
    batch=by_stack,
    samples=lambda draw: [
        ((regular(draw, 3),), {}),
        ((np.stack([regular(draw, 2), regular(draw, 2)]),), {}),
        ((draw(0, 0),), {}),
    ],
)


@answers(np.linalg.inv)
def inv(a: Any) -> Any:
    """The inverse of a matrix, as `np.linalg.inv`.

    >>> import numpy as np, gradtape as gt
    >>> gt.grad(lambda a: np.linalg.inv(a)[0, 0])(np.array([[2.0, 0.0], [0.0, 1.0]]))
    array([[-0.25, -0.  ],
           [-0.  , -0.  ]])
    """
    return _inv(as_value(a))


# -- det: its derivative is the matrix of cofactors, which exists for singular matrices too. From a = u diag(s) vh the
#    cofactors are det(u) det(vh) conj(u diag(products of the other s) vh), and their change along e is, with
#    f = u^H e v and the products p_ij of the s other than s_i and s_j: diag_i(sum_j p_ij f_jj) - (p f)^T in place of diag


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


def _cofactor_kernel(x: Any) -> Any:
    if not x.size:
        return np.zeros_like(x)
    u, s, vh, turn = _finite_svd(x)
    return turn * np.conj((u * _others(s, 1)[..., None, :]) @ vh)


def _cofactor_change_kernel(x: Any, e: Any) -> Any:
    x, e = np.broadcast_arrays(x, e)
    if not x.size:
        return np.zeros(x.shape, np.result_type(x, e))
    u, s, vh, turn = _finite_svd(x)
    f = transposed(adjoint(u) @ e @ adjoint(vh))
    p = _others(s, 2)
    diagonal = p @ np.diagonal(f, axis1=-2, axis2=-1)[..., None]
    inner = np.eye(s.shape[-1], dtype=s.dtype) * diagonal - p * f
    return turn * np.conj(u) @ inner @ np.conj(vh)


def _cofactor_curvature(x: Any, e: Any, f: Any) -> Any:
    """The second change of the cofactors det(x) inv(x)^T, along e and f; of singular matrices it is not computed."""
    z = np.linalg.inv(x)
    ze, zf = z @ e, z @ f

    def trace(matrix: Any) -> Any:
        return np.trace(matrix, axis1=-2, axis2=-1)[..., None, None]

    terms = (trace(ze) * trace(zf) - trace(ze @ zf)) * z - trace(zf) * ze @ z - trace(ze) * zf @ z
    return np.linalg.det(x)[..., None, None] * transposed(terms + (ze @ zf + zf @ ze) @ z)


def _cofactor_change_reverse(g: Any, x: Any, e: Any) -> Any:
    along = np.conj(g)
    return (
        unbroadcast(np.conj(_cofactor_curvature(x, e, along)), x.shape),
        unbroadcast(np.conj(_cofactor_change(x, along)), e.shape),
    )


_cofactor_change = general(
    _cofactor_change_kernel,
    reverse=_cofactor_change_reverse,
    forward=lambda dx, de, x, e: _cofactor_change(x, de) + _cofactor_curvature(x, e, dx),
    name="cofactor_change",
    names=("x", "e"),
    inputs=2,
    batch=by_stack,
    samples=lambda draw: [((regular(draw, n), draw(n, n)), {}) for n in (1, 2, 3)],
)
_cofactor = general(
    _cofactor_kernel,
    reverse=lambda g, x: np.conj(_cofactor_change(x, np.conj(g))),
    forward=lambda dx, x: _cofactor_change(x, dx),
    name="cofactor",
    batch=by_stack,
    samples=lambda draw: [((regular(draw, n),), {}) for n in (1, 2, 3)],
)
_det = general(
    lambda x: np.asarray(np.linalg.det(x)),
    reverse=lambda g, x: g[..., None, None] * np.conj(_cofactor(x)),
    forward=lambda dx, x: np.sum(_cofactor(x) * dx, axis=(-2, -1)),
    name="det",
    batch=by_stack,
    samples=lambda draw: [
        *[((draw(n, n),), {}) for n in (0, 1, 2, 3)],
        ((draw(2, 3, 3),), {}),
        ((np.outer(draw(3), draw(3)),), {}),
        ((np.zeros((2, 2)),), {}),
    ],
)


@answers(np.linalg.det)
def det(a: Any) -> Any:
    """The determinant, as `np.linalg.det`; its gradient is exact for singular matrices too.

    >>> import numpy as np, gradtape as gt
    >>> gt.grad(np.linalg.det)(np.array([[1.0, 2.0], [2.0, 4.0]])).round(12)
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    return _det(as_value(a))


# -- slogdet: d log|det a| = Re tr(a^-1 da),  d sign = i sign Im tr(a^-1 da)


def _inverse_for_logarithm(x: Any) -> Any:
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        raise refused(
            LinearAlgebraError,
            "slogdet: the matrix is singular: the logarithm of its determinant is -inf there and has no derivative.",
            "np.linalg.det has one everywhere; or add a small multiple of the identity",
        ) from None


def _slogdet_reverse(g: Any, x: Any, out: Any) -> Any:
    g_sign, g_log = g
    weight = g_log
    if x.dtype.kind == "c":
        sign, _ = results_of(_slogdet, out, x)
        weight = g_log - 1j * np.imag(np.conj(g_sign) * sign)
    return weight[..., None, None] * adjoint(_inverse_for_logarithm(x))


def _slogdet_forward(dx: Any, x: Any, out: Any) -> Any:
    change = np.sum(transposed(_inverse_for_logarithm(x)) * dx, axis=(-2, -1))
    if x.dtype.kind != "c":
        return None, change
    sign, _ = results_of(_slogdet, out, x)
    return 1j * sign * np.imag(change), np.real(change)


_slogdet = general(
    lambda x: tuple(np.asarray(part) for part in np.linalg.slogdet(x)),
    reverse=_slogdet_reverse,
    forward=_slogdet_forward,
    name="slogdet",
    outputs=True,
    batch=by_stack,
    samples=lambda draw: [
        ((regular(draw, 3),), {}),
        ((np.stack([-regular(draw, 3), regular(draw, 3)]),), {}),
        ((draw(0, 0),), {}),
    ],
)


@answers(np.linalg.slogdet)
def slogdet(a: Any) -> SlogdetResult:
    """The sign (or phase) of the determinant and the logarithm of its size, as `np.linalg.slogdet`.

    >>> import numpy as np, gradtape as gt
    >>> gt.grad(lambda a: np.linalg.slogdet(a).logabsdet)(np.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return SlogdetResult(*_slogdet(as_value(a)))


# -- cholesky: a = l l^H. With h = l^-1 da l^-H:  l^-1 dl = the lower triangle of h, its diagonal halved


def _lower_half(x: Any) -> Any:
    halved = np.tril(np.ones(x.shape[-2:])) - np.eye(x.shape[-1]) / 2
    return x * halved.astype(np.real(x).dtype if isinstance(x, np.ndarray) else np.zeros(0, x.dtype).real.dtype)


def _cholesky_reverse(g: Any, out: Any) -> Any:
    inner = _lower_half(adjoint(out) @ g)
    left = np.linalg.solve(adjoint(out), inner)
    return hermitian_part(adjoint(np.linalg.solve(adjoint(out), adjoint(left))))


def _cholesky_forward(dx: Any, out: Any) -> Any:
    left = np.linalg.solve(out, hermitian_part(dx))
    return out @ _lower_half(np.linalg.solve(out, adjoint(left)))


_cholesky = general(
    lambda x: np.linalg.cholesky(hermitian_part(x)),
    reverse=_cholesky_reverse,
    forward=_cholesky_forward,
    name="cholesky",
    batch=by_stack,
    samples=lambda draw: [
        ((regular(draw, 3),), {}),
        ((np.stack([regular(draw, 2), regular(draw, 2)]),), {}),
        ((draw(0, 0),), {}),
    ],
)


@answers(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """The triangular L with L @ L.conj().T = a, or with `upper` its conjugate transpose, as `np.linalg.cholesky`.

    A Hermitian argument gets a Hermitian gradient; of any other, the triangle that is read.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.cholesky(gt.tensor([[4.0, 2.0], [2.0, 5.0]]))
    Tensor([[2., 0.],
            [1., 2.]])
    """
    lower = _cholesky(as_hermitian(as_value(a), "U" if upper else "L"))
    return adjoint(lower) if upper else lower


# -- qr: a = q r, q^H q = 1. With c = q^H da r^-1 and w = q^H dq, which is what is below the diagonal of c, made
#    antihermitian:  dr = q^H da - w r,  dq = (da - q dr) r^-1. Of a wide matrix q comes from its first, square part


def _full_rank_kernel(r: Any) -> Any:
    steps = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    limit = 8 * max(r.shape[-2:]) * np.finfo(r.dtype).eps * np.max(steps, axis=-1, keepdims=True, initial=0)
    deficient = steps <= limit
    if deficient.any():
        column = int(np.argwhere(deficient)[0][-1])
        raise refused(
            LinearAlgebraError,
            f"the gradient of qr does not exist here: column {column} depends on those before it, so that column "
            f"{column} of Q is arbitrary.",
            "np.linalg.svd or np.linalg.pinv for matrices without full rank; or leave the dependent columns out",
        )
    return np.ones(r.shape[:-2], bool)


_require_full_rank = constant(
    _full_rank_kernel, name="full rank", batch=by_stack, samples=lambda draw: [((draw(3, 3),), {})]
)


def _below(c: Any) -> Any:
    """The antihermitian matrix with `c` below its diagonal, and on it the imaginary part of c."""
    lower = np.tril(c, -1)
    turned = lower - adjoint(lower)
    return turned if c.dtype.kind != "c" else turned + np.tril(np.triu(1j * np.imag(c)))


def _times_inverse(x: Any, r: Any) -> Any:
    """x r^-1."""
    return transposed(np.linalg.solve(transposed(r), transposed(x)))


def _qr_reverse(g: Any, out: Any, x: Any) -> Any:
    if not x.size:
        return np.zeros(x.shape, x.dtype)
    gq, gr = g
    q, r = results_of(_qr, out, x)
    k = q.shape[-1]
    square, rest = r[..., :k], r[..., k:]
    _require_full_rank(square)
    right = q @ gr[..., k:]
    gq = gq + right @ adjoint(q @ rest) @ q if False else gq + (q @ rest) @ adjoint(gr[..., k:])
    inner = np.triu(gr[..., :k] @ adjoint(square) - adjoint(q) @ gq)
    symmetric = inner + adjoint(np.triu(inner, 1)) if x.dtype.kind != "c" else _hermitian_from_upper(inner)
    left = _times_inverse(gq + q @ symmetric, adjoint(square))
    return left if k == x.shape[-1] else np.concatenate([left, right], axis=-1)


def _hermitian_from_upper(x: Any) -> Any:
    above = np.triu(x, 1)
    return above + adjoint(above) + np.tril(np.triu(np.real(x)))
