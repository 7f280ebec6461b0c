"""The polar decomposition of a matrix into one with orthonormal columns and a positive semi-definite one."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.rules import general
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import LinearAlgebraError, OperandError
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.decompositions import solve
from gradtape.ops.linalg_common import adjoint, batch_as_stack, in_precision_of, regular_matrix
from gradtape.ops.matrix_functions import solve_sylvester

# -- polar: a = u p, u^H u = 1, p = p^H. With w = u^H du, which is antihermitian:
#    w p + p w = u^H da - da^H u,   dp = u^H da - w p,   du = u w + (1 - u u^H) da p^-1


def _polar_kernel(x: Array) -> tuple[Any, Any]:
    left, values, right = np.linalg.svd(x, full_matrices=False)
    return left @ right, in_precision_of((adjoint(right) * values[..., None, :]) @ right, x)


def _rotation(p: Array, change: Array) -> Any:
    """The w with w p + p w = change."""
    try:
        return solve_sylvester(p, p, change)
    except LinearAlgebraError:
        raise argument_error(
            LinearAlgebraError,
            "the gradient of polar does not exist here: the matrix has not full rank, so that its orthonormal factor "
            "is not determined.",
            "a matrix of full rank; add a small multiple of the identity",
        ) from None


def _outside(u: Array, x: Array) -> Any:
    """The part of x that is orthogonal to the columns of u."""
    return x - u @ (adjoint(u) @ x)


def _polar_reverse(g: Array, out: Array) -> Any:
    (gu, gp), (u, p) = g, out
    turning = adjoint(u) @ gu - gp @ p
    w = _rotation(p, turning)
    inner = u @ (w - adjoint(w) + gp)
    if u.shape[-2] == u.shape[-1]:
        return inner
    return inner + adjoint(solve(p, adjoint(_outside(u, gu))))


def _polar_forward(dx: Array, out: Array) -> Any:
    u, p = out
    change = adjoint(u) @ dx
    w = _rotation(p, change - adjoint(change))
    du = u @ w
    if u.shape[-2] != u.shape[-1]:
        du = du + adjoint(solve(p, adjoint(_outside(u, dx))))
    return du, change - w @ p


_polar = general(
    _polar_kernel,
    reverse=_polar_reverse,
    forward=_polar_forward,
    name="polar",
    outputs=True,
    batch=batch_as_stack,
    samples=lambda draw: [
        ((regular_matrix(draw, 3),), {}),
        ((np.concatenate([regular_matrix(draw, 2), draw(1, 2)]),), {}),
        ((np.stack([regular_matrix(draw, 2), regular_matrix(draw, 2)]),), {}),
    ],
)


def polar(a: TensorLike, side: str = "right") -> tuple[Any, Any]:
    """The factors u and p of a = u @ p, or with side="left" of a = p @ u, as `scipy.linalg.polar`.

    >>> import gradtape as gt
    >>> u, p = polar(gt.tensor([[0.0, -2.0], [3.0, 0.0]]))
    >>> u.round(12) + 0.0, p.round(12) + 0.0
    (Tensor([[ 0., -1.],
            [ 1.,  0.]]), Tensor([[3., 0.],
            [0., 2.]]))
    """
    a = as_value(a)
    if side not in ("right", "left"):
        raise argument_error(OperandError, f"polar: side={side!r}.", "side='right' for u @ p, side='left' for p @ u")
    if a.ndim < 2:
        raise argument_error(LinearAlgebraError, f"polar: an array of shape {a.shape}.", "a matrix")
    tall = a.shape[-2] >= a.shape[-1]
    u, p = _polar(a if tall else adjoint(a))
    if not tall:
        u = adjoint(u)
    if side == ("right" if tall else "left"):
        return u, p
    return u, (u @ p @ adjoint(u) if tall else adjoint(u) @ p @ u)
