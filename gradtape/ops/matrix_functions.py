"""Functions of matrices: the part of `scipy.linalg` that has derivatives.

SciPy does not ask its arguments how they would like to be treated, as NumPy does, so these are called from gradtape.
Where SciPy takes one matrix they take stacks too. SciPy is imported when the first of them runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import general
from gradtape.core.shapes import unbroadcast
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import LinearAlgebraError
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.decompositions import cholesky
from gradtape.ops.linalg_common import (
    adjoint,
    batch_as_stack,
    extent,
    in_precision_of,
    over_stack,
    regular_matrix,
    transposed,
)
from gradtape.ops.triangular import solve_triangular


def _along(op: Callable[[Any], Any], a: Array, e: Array) -> Any:
    """The derivative along e of a function f of a matrix: f([[a, e], [0, a]]) has it in its upper right quarter.

    It is linear in e, which is brought to size 1 so that it does not spoil the accuracy of f(a).
    """
    size = extent(e)
    size = np.where(size == 0, 1, size)
    upper = np.concatenate([a, e / size], axis=-1)
    lower = np.concatenate([np.zeros(a.shape, a.dtype), a], axis=-1)
    n = a.shape[-1]
    return op(np.concatenate([upper, lower], axis=-2))[..., :n, n:] * size


# -- expm


def _expm_kernel(x: Array) -> Any:
    from scipy import linalg

    return in_precision_of(linalg.expm(x), x)


_expm: Op = general(
    _expm_kernel,
    reverse=lambda g, x: _along(_expm, adjoint(x), g),
    forward=lambda dx, x: _along(_expm, x, dx),
    name="expm",
    batch=batch_as_stack,
    samples=lambda draw: [((draw(3, 3),), {}), ((draw(2, 2, 2),), {}), ((draw(0, 0),), {})],
)


def expm(a: TensorLike) -> Any:
    """The exponential of a matrix, as `scipy.linalg.expm`.

    >>> import numpy as np, gradtape as gt
    >>> expm(gt.tensor([[0.0, 1.0], [0.0, 0.0]]))
    Tensor([[1., 1.],
            [0., 1.]])
    """
    return _expm(as_value(a))


# -- logm


def _logm_kernel(x: Array) -> Any:
    from scipy import linalg

    def one(matrix: Array) -> Any:
        if not matrix.size:
            return matrix
        matrix = matrix.astype(np.result_type(matrix, np.float64))  # SciPy finds single precision inaccurate
        sizes = np.abs(np.linalg.eigvals(matrix))
        if np.min(sizes) <= len(matrix) * np.finfo(sizes.dtype).eps * np.max(sizes):  # as far as zero is rounded to
            raise np.linalg.LinAlgError("the matrix is singular (to rounding) and has no logarithm")
        return np.asarray(linalg.logm(matrix))

    return in_precision_of(over_stack(one, np.asarray(x)), x)


_logm: Op = general(
    _logm_kernel,
    reverse=lambda g, x: _along(_logm, adjoint(x), g),
    forward=lambda dx, x: _along(_logm, x, dx),
    name="logm",
    batch=batch_as_stack,
    samples=lambda draw: [
        ((regular_matrix(draw, 3),), {}),
        ((np.stack([regular_matrix(draw, 2), regular_matrix(draw, 2)]),), {}),
        ((draw(0, 0),), {}),
    ],
)


def logm(a: TensorLike) -> Any:
    """The principal logarithm of a matrix, as `scipy.linalg.logm`: complex if it has negative eigenvalues.

    >>> import numpy as np, gradtape as gt
    >>> logm(gt.tensor([[1.0, 1.0], [0.0, 1.0]])).round(12)
    Tensor([[0., 1.],
            [0., 0.]])
    """
    return _logm(as_value(a))


# -- solve_sylvester: a x + x b = q,  a dx + dx b = dq - da x - x db


def _sylvester_kernel(a: Array, b: Array, q: Array) -> Any:
    from scipy import linalg

    def one(a: Array, b: Array, q: Array) -> Any:
        if not q.size:
            return np.zeros(q.shape, np.result_type(a, b, q))
        kind = np.result_type(a, b, q)  # SciPy is wrong where one of a and b is real and the other is not
        x = linalg.solve_sylvester(a.astype(kind), b.astype(kind), q)
        miss = np.max(np.abs(a @ x + x @ b - q))
        if not miss <= 1e-3 * np.max(np.abs(q)) and np.isfinite(q).all():
            raise np.linalg.LinAlgError("a and -b have an eigenvalue in common, so that there is no one solution")
        return x

    return in_precision_of(over_stack(one, np.asarray(a), np.asarray(b), np.asarray(q)), a, b, q)


def _sylvester_reverse(g: Array, a: Array, b: Array, q: Array, out: Array) -> Any:
    right = _sylvester(adjoint(a), adjoint(b), g)
    return (
        unbroadcast(-right @ adjoint(out), a.shape),
        unbroadcast(-adjoint(out) @ right, b.shape),
        unbroadcast(right, q.shape),
    )


_sylvester: Op = general(
    _sylvester_kernel,
    reverse=_sylvester_reverse,
    forward=lambda da, db, dq, a, b, out: _sylvester(a, b, dq - da @ out - out @ db),
    name="solve_sylvester",
    names=("a", "b", "q"),
    inputs=3,
    batch=batch_as_stack,
    samples=lambda draw: [
        ((regular_matrix(draw, 3), regular_matrix(draw, 2), draw(3, 2)), {}),
        ((regular_matrix(draw, 2), np.stack([regular_matrix(draw, 2)] * 2), draw(2, 2)), {}),
        ((regular_matrix(draw, 2), regular_matrix(draw, 2), draw(2, 2)), {}),
    ],
)


def solve_sylvester(a: TensorLike, b: TensorLike, q: TensorLike) -> Any:
    """The x with `a @ x + x @ b = q`, as `scipy.linalg.solve_sylvester`.

    >>> import numpy as np, gradtape as gt
    >>> solve_sylvester(gt.tensor([[1.0]]), gt.tensor([[2.0]]), gt.tensor([[6.0]]))
    Tensor([[2.]])
    """
    return _sylvester(as_value(a), as_value(b), as_value(q))


# -- sqrtm: x x = a,  x dx + dx x = da


def _sqrtm_kernel(x: Array) -> Any:
    from scipy import linalg

    def one(matrix: Array) -> Any:
        if not matrix.size:
            return matrix
        root = np.asarray(linalg.sqrtm(matrix))
        if root.dtype.kind != "c" or matrix.dtype.kind == "c" or _has_negative_eigenvalue(matrix):
            return root
        return root.real  # SciPy 1.15 makes it complex where eigenvalues are

    return in_precision_of(over_stack(one, np.asarray(x)), x)


def _has_negative_eigenvalue(matrix: Any) -> bool:
    """Whether a real matrix has one: in the real Schur form only complex eigenvalues are in blocks of two."""
    from scipy import linalg

    form = linalg.schur(matrix)[0]
    block = np.diagonal(form, -1) != 0
    alone = ~(np.append(block, False) | np.append(False, block))
    return bool(np.any(np.diagonal(form)[alone] < 0))


def _root_change(root: Any, change: Any) -> Any:
    try:
        return _sylvester(root, root, change)
    except LinearAlgebraError:
        raise argument_error(
            LinearAlgebraError,
            "the gradient of sqrtm does not exist here: the matrix is singular, where the square root has an infinite "
            "slope, or two of its eigenvalues are opposite.",
            "add a small multiple of the identity",
        ) from None


_sqrtm = general(
    _sqrtm_kernel,
    reverse=lambda g, out: _root_change(adjoint(out), g),
    forward=lambda dx, out: _root_change(out, dx),
    name="sqrtm",
    batch=batch_as_stack,
    samples=lambda draw: [
        ((regular_matrix(draw, 3),), {}),
        ((np.stack([regular_matrix(draw, 2), regular_matrix(draw, 2)]),), {}),
        ((draw(0, 0),), {}),
    ],
)


def sqrtm(a: TensorLike) -> Any:
    """The principal square root of a matrix, as `scipy.linalg.sqrtm`: complex if it has negative eigenvalues.

    >>> import numpy as np, gradtape as gt
    >>> sqrtm(gt.tensor([[4.0, 0.0], [0.0, 9.0]]))
    Tensor([[2., 0.],
            [0., 3.]])
    """
    return _sqrtm(as_value(a))


# -- fractional_matrix_power: along the matrix as the other functions, along the exponent log(a) a^t


def _power_kernel(x: Array, y: Array) -> Any:
    from scipy import linalg

    def one(matrix: Array, exponent: Array) -> Any:
        power = np.asarray(linalg.fractional_matrix_power(matrix, exponent.item()))
        if not np.isfinite(power).all() and np.isfinite(matrix).all():
            raise np.linalg.LinAlgError("the matrix has no such power: it is singular, or not diagonalisable at 0")
        if power.dtype.kind != "c" or matrix.dtype.kind == "c" or _has_negative_eigenvalue(matrix):
            return power
        return power.real  # SciPy makes it complex where eigenvalues are

    return in_precision_of(over_stack(one, np.asarray(x), np.asarray(y)[..., None, None]), x)


def _power_reverse(g: Array, x: Array, y: Array, out: Array) -> Any:
    along = _along(lambda a: fractional_power(a, y), adjoint(x), g)
    rate = np.real(np.sum(np.conj(g) * (_logm(x) @ out), axis=(-2, -1)))
    return unbroadcast(along, x.shape), unbroadcast(rate, y.shape)


fractional_power: Op = general(
    _power_kernel,
    reverse=_power_reverse,
    forward=lambda dx, dy, x, y, out: (
        _along(lambda a: fractional_power(a, y), x, dx) + dy[..., None, None] * (_logm(x) @ out)
    ),
    name="fractional_matrix_power",
    inputs=2,
    samples=lambda draw: [
        ((regular_matrix(draw, 2), np.array(0.4)), {}),
        ((regular_matrix(draw, 2), np.array(-1.5)), {}),
    ],
)


# -- by a Cholesky factor


def cho_factor(a: TensorLike, lower: bool = False) -> tuple[Any, bool]:
    """The Cholesky factor of a Hermitian matrix for `cho_solve`, as `scipy.linalg.cho_factor`.

    The other triangle, in which SciPy leaves what was there, is zero.

    >>> import numpy as np, gradtape as gt
    >>> cho_factor(gt.tensor([[4.0, 2.0], [2.0, 5.0]]))
    (Tensor([[2., 1.],
            [0., 2.]]), False)
    """
    return cholesky(a, upper=not lower), bool(lower)


def cho_solve(c_and_lower: tuple[Any, bool], b: TensorLike) -> Any:
    """The solution of `a @ x = b` from the result of `cho_factor(a)`, as `scipy.linalg.cho_solve`.

    >>> import numpy as np, gradtape as gt
    >>> cho_solve(cho_factor(gt.tensor([[4.0, 0.0], [0.0, 1.0]])), gt.tensor([4.0, 3.0]))
    Tensor([1., 3.])
    """
    factor, lower = c_and_lower
    first, second = (0, 2) if lower else (2, 0)
    return solve_triangular(factor, solve_triangular(factor, b, first, lower), second, lower)


# -- lu: a = p l u. Of the leading square parts, with m = l^-1 p^T da u^-1:  dl = l (m below the diagonal),
#    du = (the rest of m) u;  what is left of a tall l or a wide u follows by solving


def _lu_kernel(x: Array) -> tuple[Any, ...]:
    from scipy import linalg

    if 0 in x.shape[:-2]:  # the result for one matrix tells the shape of none
        factors = linalg.lu(np.eye(*x.shape[-2:], dtype=x.dtype))
        return tuple(np.zeros(x.shape[:-2] + factor.shape, factor.dtype) for factor in factors)
    return tuple(linalg.lu(x))


def _lu_reverse(g: Array, out: Array) -> Any:
    _, gl, gu = g
    p, low, up = out
    k = low.shape[-1]
    l1, l2, u1, u2 = low[..., :k, :], low[..., k:, :], up[..., :k], up[..., k:]
    below = _times_inverse(gl[..., k:, :], adjoint(u1))
    right = np.linalg.solve(adjoint(l1), gu[..., k:])
    inner_l = adjoint(l1) @ (gl[..., :k, :] - right @ adjoint(u2))
    inner_u = (gu[..., :k] - adjoint(l2) @ below) @ adjoint(u1)
    inner = np.tril(inner_l, -1) + np.triu(inner_u)
    square = _times_inverse(np.linalg.solve(adjoint(l1), inner), adjoint(u1))
    whole = np.concatenate([square, below], axis=-2) if u2.shape[-1] == 0 else np.concatenate([square, right], axis=-1)
    return p @ whole


def _lu_forward(dx: Array, out: Array) -> Any:
    p, low, up = out
    k = low.shape[-1]
    l1, l2, u1, u2 = low[..., :k, :], low[..., k:, :], up[..., :k], up[..., k:]
    turned = transposed(p) @ dx
    change = _times_inverse(np.linalg.solve(l1, turned[..., :k, :k]), u1)
    dl, du = l1 @ np.tril(change, -1), np.triu(change) @ u1
    below = _times_inverse(turned[..., k:, :k] - l2 @ du, u1)
    right = np.linalg.solve(l1, turned[..., :k, k:] - dl @ u2)
    return None, np.concatenate([dl, below], axis=-2), np.concatenate([du, right], axis=-1)


def _times_inverse(x: Array, u: Array) -> Any:
    """x u^-1; a singular u means that the elimination went on arbitrarily."""
    try:
        return transposed(np.linalg.solve(transposed(u), transposed(x)))
    except np.linalg.LinAlgError:
        raise argument_error(
            LinearAlgebraError,
            "the gradient of lu does not exist here: the matrix has not full rank.",
            "np.linalg.svd or np.linalg.pinv for matrices without full rank",
        ) from None


_lu = general(
    _lu_kernel,
    reverse=_lu_reverse,
    forward=_lu_forward,
    name="lu",
    outputs=True,
    batch=batch_as_stack,
    samples=lambda draw: [
        ((regular_matrix(draw, 3),), {}),
        ((np.concatenate([draw(2, 2), regular_matrix(draw, 2)]),), {}),
        ((np.concatenate([regular_matrix(draw, 2), draw(2, 2)], axis=1),), {}),
        ((np.stack([regular_matrix(draw, 2), regular_matrix(draw, 2)]),), {}),
    ],
)


def lu(a: TensorLike, permute_l: bool = False, p_indices: bool = False) -> tuple[Any, ...]:
    """The permutation, the lower and the upper triangular factor of a = P @ L @ U, as `scipy.linalg.lu`.

    With `permute_l` the pair of P @ L and U; with `p_indices` a permutation in place of the matrix P, which has no
    derivative either way.

    >>> import numpy as np, gradtape as gt
    >>> p, l, u = lu(gt.tensor([[2.0, 1.0], [4.0, 4.0]]))
    >>> u
    Tensor([[ 4.,  4.],
            [ 0., -1.]])
    """
    p, low, up = _lu(as_value(a))
    if permute_l:
        return p @ low, up
    return (np.argmax(p, axis=-1) if p_indices else p), low, up
