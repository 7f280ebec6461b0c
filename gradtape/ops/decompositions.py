"""Linear systems, inverses, determinants and factorisations: `numpy.linalg` but for eigenvalues and norms.

Everything works on the last two axes of stacks of matrices, real or complex; ^H is the conjugate transpose.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import constant, general
from gradtape.core.shapes import unbroadcast
from gradtape.core.tensor import Tensor, is_tracked
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import LinearAlgebraError, OperandError, ShapeError, UnsupportedError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import argument_error, as_value, write_result_into
from gradtape.ops.cholesky_gradient import pull_cholesky, push_cholesky
from gradtape.ops.linalg_common import (
    SMALL_HERMITIAN,
    adjoint,
    append_basis_vectors,
    as_hermitian,
    batch_as_stack,
    diagonal_part,
    hermitian_part,
    regular_matrix,
    transposed,
)
from gradtape.ops.products import matmul
from gradtape.ops.shared_factors import inverse_kernel, solve_kernel


class QRResult(NamedTuple):
    """The results of `qr`."""

    Q: Any
    R: Any


# -- solve: A x = b,  A dx = db - dA x


def _solve_reverse(g: Array, x: Array, y: Array, out: Array) -> Any:
    right = _solve(adjoint(x), g)
    return unbroadcast(-right @ adjoint(out), x.shape), unbroadcast(right, y.shape)


_solve: Op = general(
    lambda x, y: solve_kernel(x, y),
    reverse=_solve_reverse,
    forward=lambda dx, dy, x, out: _solve(x, dy - dx @ out),
    name="solve",
    inputs=2,
    batch=batch_as_stack,
    samples=lambda draw: [
        ((regular_matrix(draw, 3), draw(3, 2)), {}),
        ((regular_matrix(draw, 2), draw(2, 2)), {}),
        ((np.stack([regular_matrix(draw, 2), regular_matrix(draw, 2)]), draw(2, 1)), {}),
        ((regular_matrix(draw, 2), draw(3, 2, 2)), {}),
        ((draw(0, 0), draw(0, 2)), {}),
    ],
)


@answers(np.linalg.solve)
def solve(a: TensorLike, b: TensorLike) -> Any:
    """The solution x of `a @ x = b`, as `np.linalg.solve`: `b` is a vector if it has one axis, else columns of them.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.solve(gt.tensor([[2.0, 0.0], [0.0, 4.0]]), gt.tensor([2.0, 4.0]))
    Tensor([1., 1.])
    """
    a, b = as_value(a), as_value(b)
    return _solve(a, b[:, None])[..., 0] if b.ndim == 1 else _solve(a, b)


_inv = general(
    lambda x: inverse_kernel(x),
    reverse=lambda g, out: -adjoint(out) @ g @ adjoint(out),
    forward=lambda dx, out: -out @ dx @ out,
    name="inv",
    batch=batch_as_stack,
    samples=lambda draw: [
        ((regular_matrix(draw, 3),), {}),
        ((np.stack([regular_matrix(draw, 2), regular_matrix(draw, 2)]),), {}),
        ((draw(0, 0),), {}),
    ],
)


@answers(np.linalg.inv)
def inv(a: TensorLike) -> Any:
    """The inverse of a matrix, as `np.linalg.inv`.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.inv(gt.tensor([[2.0, 0.0], [1.0, 1.0]]))
    Tensor([[ 0.5,  0. ],
            [-0.5,  1. ]])
    """
    return _inv(as_value(a))


# -- cholesky: a = l l^H


def _cholesky_kernel(x: Array) -> Any:
    whole = hermitian_part(x)
    if x.ndim != 2 or x.shape[0] != x.shape[1] or len(x) <= SMALL_HERMITIAN or whole.dtype.char not in "fdFD":
        return np.linalg.cholesky(whole)
    from scipy import linalg

    (potrf,) = linalg.get_lapack_funcs(("potrf",), (whole,))
    upper, info = potrf(whole.T, lower=False, clean=True, overwrite_a=True)  # in place: LAPACK reads columns
    if info:
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    return upper.T


_cholesky = general(
    _cholesky_kernel,
    reverse=lambda g, out: pull_cholesky(g, out),
    forward=lambda dx, out: push_cholesky(dx, out),
    name="cholesky",
    batch=batch_as_stack,
    samples=lambda draw: [
        ((regular_matrix(draw, 3),), {}),
        ((np.stack([regular_matrix(draw, 2), regular_matrix(draw, 2)]),), {}),
        ((draw(0, 0),), {}),
    ],
)


@answers(np.linalg.cholesky)
def cholesky(a: TensorLike, /, *, upper: bool = False) -> Any:
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


def _full_rank_kernel(r: Array) -> Any:
    steps = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    limit = 8 * max(r.shape[-2:]) * np.finfo(r.dtype).eps * np.max(steps, axis=-1, keepdims=True, initial=0)
    deficient = steps <= limit
    if deficient.any():
        column = int(np.argwhere(deficient)[0][-1])
        raise argument_error(
            LinearAlgebraError,
            f"the gradient of qr does not exist here: column {column} depends on those before it, so that column "
            f"{column} of Q is arbitrary.",
            "np.linalg.svd or np.linalg.pinv for matrices without full rank; or leave the dependent columns out",
        )
    return np.ones(r.shape[:-2], bool)


_require_full_rank = constant(
    _full_rank_kernel, name="full rank", batch=batch_as_stack, samples=lambda draw: [((draw(3, 3),), {})]
)


def _rotation(c: Array) -> Any:
    """The antihermitian matrix that is `c` below the diagonal and its imaginary part on it."""
    lower = np.tril(c, -1)
    turned = lower - adjoint(lower)
    return turned if c.dtype.kind != "c" else turned + 1j * np.imag(diagonal_part(c))


def _hermitian_above(x: Array) -> Any:
    """The Hermitian matrix that is `x` above the diagonal and its real part on it."""
    upper = np.triu(x, 1)
    return upper + adjoint(upper) + np.real(diagonal_part(x))


def _times_inverse(x: Array, r: Array) -> Any:
    """x r^-1."""
    return transposed(np.linalg.solve(transposed(r), transposed(x)))


def _qr_reverse(g: Array, out: Array) -> Any:
    (gq, gr), (q, r) = g, out
    k = q.shape[-1]
    if not k:
        return np.zeros((*q.shape[:-1], r.shape[-1]), q.dtype)
    square, g_square, g_rest = r[..., :k], gr[..., :k], gr[..., k:]
    _require_full_rank(square)
    gq = gq + q @ (r[..., k:] @ adjoint(g_rest))
    inner = _hermitian_above(g_square @ adjoint(square) - adjoint(q) @ gq)
    return np.concatenate([_times_inverse(gq + q @ inner, adjoint(square)), q @ g_rest], axis=-1)


def _qr_forward(dx: Array, out: Array) -> Any:
    q, r = out
    k = q.shape[-1]
    if not k:
        return tuple(np.zeros(part.shape, part.dtype) for part in out)
    square = r[..., :k]
    _require_full_rank(square)
    change = adjoint(q) @ dx
    dr = change - _rotation(_times_inverse(change[..., :k], square)) @ r
    return _times_inverse(dx[..., :k] - q @ dr[..., :k], square), np.triu(dr)


_qr = general(
    lambda x: tuple(np.linalg.qr(x)),
    reverse=_qr_reverse,
    forward=_qr_forward,
    name="qr",
    outputs=True,
    batch=batch_as_stack,
    samples=lambda draw: [
        ((regular_matrix(draw, 3),), {}),
        ((np.concatenate([regular_matrix(draw, 2), draw(2, 2)]),), {}),
        ((np.concatenate([regular_matrix(draw, 2), draw(2, 2)], axis=1),), {}),
        ((np.stack([regular_matrix(draw, 2), regular_matrix(draw, 2)]),), {}),
        ((draw(0, 2),), {}),
    ],
)


_other_qr = constant(
    lambda x, mode: tuple(np.linalg.qr(x, mode)),
    name="qr in other modes",
    outputs=True,
    batch=batch_as_stack,
    samples=lambda draw: [((draw(3, 2),), {"mode": "complete"}), ((draw(3, 2),), {"mode": "raw"})],
)


@answers(np.linalg.qr)
def qr(a: TensorLike, mode: str = "reduced") -> Any:
    """The factors Q, with orthonormal columns, and R, upper triangular, of a = Q @ R, as `np.linalg.qr`.

    A gradient that depends on the columns that mode "complete" adds to Q, which are arbitrary, raises
    `UnsupportedError`; "raw" has no derivative. The columns before the last of R have to be independent, else Q is
    arbitrary, which raises `LinearAlgebraError` when a gradient passes.

    >>> import numpy as np, gradtape as gt
    >>> abs(np.linalg.qr(gt.tensor([[3.0, 1.0], [4.0, 2.0]]), mode="r")).round(12)
    Tensor([[5. , 2.2],
            [0. , 0.4]])
    """
    a = as_value(a)
    if mode not in ("reduced", "complete", "r", "raw"):
        raise argument_error(ShapeError, f"qr: mode={mode!r} is not a mode.", "mode='reduced' or mode='r'")
    if mode == "raw":
        if isinstance(a, Tensor) and is_tracked(a):
            raise argument_error(
                UnsupportedError,
                f"qr: mode='raw' of a matrix of shape {a.shape} has no derivative: it is packed as LAPACK likes.",
                "mode='reduced' has one; np.linalg.qr(a.numpy(), mode) if no gradient is wanted",
            )
        return _other_qr(a, mode=mode)
    q, r = _qr(a)
    if mode == "complete" and a.shape[-2] > a.shape[-1]:
        known = q.shape[-1]
        q = append_basis_vectors(a, q, -1, _other_qr(a, mode=mode)[0][..., known:], "qr")
        r = np.concatenate([r, np.zeros((*r.shape[:-2], a.shape[-2] - known, r.shape[-1]), r.dtype)], -2)
    return r if mode == "r" else QRResult(q, r)


# -- by the operations above


@answers(np.linalg.matrix_power)
def matrix_power(a: TensorLike, n: int) -> Any:
    """`a` multiplied with itself, or its inverse with itself, as `np.linalg.matrix_power`.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.matrix_power(gt.tensor([[2.0, 0.0], [0.0, 4.0]]), -2)
    Tensor([[0.25  , 0.    ],
            [0.    , 0.0625]])
    """
    a = _square(a, "matrix_power")
    try:
        n = operator.index(n)
    except TypeError:
        raise argument_error(
            OperandError, f"matrix_power: the exponent is {n!r}.", "an integer; gt.linalg.expm for others"
        ) from None
    if n == 0:
        return np.zeros_like(a) + np.eye(a.shape[-1], dtype=a.dtype)
    power, result = inv(a) if n < 0 else a, None
    for bit in reversed(f"{abs(n):b}"):
        if bit == "1":
            result = power if result is None else matmul(result, power)
        power = matmul(power, power)
    return result


def _square(a: TensorLike, what: str) -> Array:
    a = as_value(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise argument_error(
            LinearAlgebraError, f"{what}: the last two axes of shape {a.shape} differ.", "a square matrix"
        )
    return a


@answers(np.linalg.multi_dot)
def multi_dot(arrays: Sequence[Any], *, out: Array | None = None) -> Any:
    """The product of several matrices, in the order of multiplication that costs least, as `np.linalg.multi_dot`.

    The first and the last may be vectors.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.multi_dot([gt.tensor([1.0, 2.0]), gt.tensor([[1.0, 0.0], [0.0, 3.0]]), gt.tensor([1.0, 1.0])])
    Tensor(7.)
    """
    if out is not None:
        return write_result_into(out, multi_dot, arrays)
    values = [as_value(x) for x in arrays]
    inner = [x.ndim == 2 for x in values[1:-1]]
    if len(values) < 2 or not all(inner) or any(x.ndim not in (1, 2) for x in (values[0], values[-1])):
        raise argument_error(
            LinearAlgebraError,
            f"multi_dot: got shapes {', '.join(str(x.shape) for x in values)}.",
            "at least two arrays, all matrices but for the first and the last, which may be vectors",
        )
    return _product(values, _cheapest(values), 0, len(values) - 1)


def _cheapest(values: list[Any]) -> dict[tuple[int, int], int]:
    """For each stretch of the factors, after which of them to split it so that multiplications are fewest."""
    first = 1 if values[0].ndim == 1 else values[0].shape[0]
    sizes = [first, *(x.shape[-2] if x.ndim == 2 else x.shape[0] for x in values[1:])]
    sizes.append(1 if values[-1].ndim == 1 else values[-1].shape[1])
    cost, split = {(i, i): 0 for i in range(len(values))}, {}
    for length in range(1, len(values)):
        for i in range(len(values) - length):
            j = i + length
            costs = {k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)}
            split[i, j] = min(costs, key=lambda k: costs[k])
            cost[i, j] = costs[split[i, j]]
    return split


def _product(values: list[Any], split: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return values[i]
    middle = split[i, j]
    return matmul(_product(values, split, i, middle), _product(values, split, middle + 1, j))


@answers(np.linalg.tensorinv)
def tensorinv(a: TensorLike, ind: int = 2) -> Any:
    """The inverse of `tensordot(a, x, ind)` as a linear map of x, as `np.linalg.tensorinv`.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.tensorinv(gt.tensor([[[2.0]]]), ind=1).shape
    (1, 1, 1)
    """
    a = as_value(a)
    if ind <= 0:
        raise argument_error(ShapeError, f"tensorinv: ind={ind}.", "a positive number of axes")
    flat = a.reshape((int(np.prod(a.shape[ind:])), -1))
    return inv(flat).reshape(a.shape[ind:] + a.shape[:ind])


@answers(np.linalg.tensorsolve)
def tensorsolve(a: TensorLike, b: TensorLike, axes: Sequence[int] | None = None) -> Any:
    """The x with `tensordot(a, x, x.ndim) = b`, as `np.linalg.tensorsolve`.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.tensorsolve(gt.tensor([[[2.0]]]), gt.tensor([4.0]))
    Tensor([[2.]])
    """
    a, b = as_value(a), as_value(b)
    if axes is not None:
        kept = [axis for axis in range(a.ndim) if axis not in axes]
        a = a.transpose((*kept, *axes))
    shape = a.shape[b.ndim - a.ndim :]
    size = int(np.prod(shape))
    if a.size != size**2:
        raise argument_error(
            LinearAlgebraError,
            f"tensorsolve: shape {a.shape} against {b.shape}: the axes of a beyond those of b make {size} unknowns for "
            f"{b.size} equations.",
            "prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])",
        )
    return solve(a.reshape((size, size)), b.reshape((-1,))).reshape(shape)
