"""Pseudo-inverses and least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.rules import general
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import LinearAlgebraError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.conversion import stop_gradient
from gradtape.ops.linalg_common import adjoint, as_hermitian, batch_as_stack, hermitian_part, is_absent, regular_matrix
from gradtape.ops.svd import svd

# -- pinv: p = a^+ while the rank stays the same:
#    dp = -p da p + p p^H da^H (1 - a p) + (1 - p a) da^H p^H p


def _pinv_reverse(g: Array, x: Array, out: Array) -> Any:
    h, ph = adjoint(g), adjoint(out)
    left, right = h @ out, out @ h
    return left @ ph - x @ (out @ left @ ph) + ph @ right - (ph @ right @ out) @ x - ph @ g @ ph


def _pinv_forward(dx: Array, x: Array, out: Array) -> Any:
    h, ph = adjoint(dx), adjoint(out)
    left, right = out @ ph @ h, h @ ph @ out
    return left - left @ x @ out + right - out @ x @ right - out @ dx @ out


_pinv = general(
    lambda x, rcond: np.linalg.pinv(x, rcond),
    reverse=_pinv_reverse,
    forward=_pinv_forward,
    name="pinv",
    batch=batch_as_stack,
    samples=lambda draw: [
        ((regular_matrix(draw, 2),), {"rcond": None}),
        ((np.concatenate([regular_matrix(draw, 2), draw(2, 2)]),), {"rcond": 1e-12}),
        ((np.stack([np.concatenate([regular_matrix(draw, 2), draw(2, 2)], axis=1)] * 2),), {"rcond": None}),
        ((draw(0, 2),), {"rcond": None}),
    ],
)


@answers(np.linalg.pinv)
def pinv(a: TensorLike, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """The pseudo-inverse, as `np.linalg.pinv`; the gradient is that among matrices of the same rank.

    >>> import numpy as np, gradtape as gt
    >>> np.linalg.pinv(gt.tensor([[2.0, 0.0], [0.0, 0.0]]))
    Tensor([[0.5, 0. ],
            [0. , 0. ]])
    """
    if rcond is not None and rtol is not None:
        raise argument_error(ShapeError, "pinv: rcond and rtol are two names for one thing.", "give one of them")
    a = as_value(a)
    if hermitian:
        a = hermitian_part(as_hermitian(a, "L"))
    return _pinv(a, rcond=rtol if rcond is None else rcond)


# -- lstsq: x = a^+ b. With p = a^+ and the residual r = b - a x:
#    dx = p (db - da x) + p p^H da^H r + (1 - p a) da^H p^H x


def _lstsq_kernel(x: Array, y: Array, rcond: float) -> tuple[Any, Any]:
    solution, _, _, singular = np.linalg.lstsq(x, y, rcond)
    return solution, singular


def _lstsq_reverse(g: Array, x: Array, y: Array, out: Array, rcond: float) -> Any:
    g_solution, g_singular = g
    solution, _ = out
    p = np.linalg.pinv(x, rcond)
    right = adjoint(p) @ g_solution
    gradient = (
        (y - x @ solution) @ adjoint(p @ right)
        - right @ adjoint(solution)
        + adjoint(p) @ solution @ adjoint(g_solution - p @ (x @ g_solution))
    )
    if not is_absent(g_singular):
        u, _, vh = svd(x, full_matrices=False)
        gradient = gradient + (u * g_singular[..., None, :]) @ vh
    return gradient, right


def _lstsq_forward(dx: Array, dy: Array, x: Array, y: Array, out: Array, rcond: float) -> Any:
    solution, _ = out
    p = np.linalg.pinv(x, rcond)
    outside = adjoint(dx) @ adjoint(p) @ solution
    moved = p @ (dy - dx @ solution + adjoint(p) @ adjoint(dx) @ (y - x @ solution)) + outside - p @ x @ outside
    u, _, vh = svd(x, full_matrices=False)
    return moved, np.real(np.sum(np.conj(u) * (dx @ adjoint(vh)), axis=-2))


_lstsq = general(
    _lstsq_kernel,
    reverse=_lstsq_reverse,
    forward=_lstsq_forward,
    name="lstsq",
    outputs=True,
    inputs=2,
    samples=lambda draw: [
        ((np.concatenate([regular_matrix(draw, 2), draw(2, 2)]), draw(4, 3)), {"rcond": 1e-15}),
        ((np.concatenate([regular_matrix(draw, 2), draw(2, 2)], axis=1), draw(2, 1)), {"rcond": 1e-15}),
        ((regular_matrix(draw, 2), draw(2, 1)), {"rcond": 1e-15}),
    ],
)


@answers(np.linalg.lstsq)
def lstsq(a: TensorLike, b: TensorLike, rcond: float | None = None) -> tuple[Any, Any, Any, Any]:
    """The x that makes `a @ x` closest to `b`, the squared distances, the rank and the singular values of `a`.

    As `np.linalg.lstsq`. The rank is an integer and has no gradient; the other three have.

    >>> import numpy as np, gradtape as gt
    >>> x, distances, rank, singular = np.linalg.lstsq(gt.tensor([[1.0], [1.0]]), gt.tensor([1.0, 3.0]))
    >>> x, distances, rank
    (Tensor([2.]), Tensor([2.]), 1)
    """
    a, b = as_value(a), as_value(b)
    columns = b[:, None] if b.ndim == 1 else b
    if a.ndim != 2 or columns.ndim != 2:
        raise argument_error(
            LinearAlgebraError,
            f"lstsq: takes one matrix and one vector or matrix; got shapes {a.shape} and {b.shape}.",
            "gt.vmap(np.linalg.lstsq) for stacks of them",
        )
    rows, unknowns = a.shape
    epsilon = float(np.finfo(float).eps)
    limit = epsilon * max(rows, unknowns) if rcond is None else epsilon if rcond < 0 else float(rcond)
    x, singular = _lstsq(a, columns, rcond=limit)
    rank: Any = np.sum(stop_gradient(singular) > limit * stop_gradient(singular)[:1])
    if not isinstance(rank, Lifted):
        rank = int(rank)
    residual = columns - a @ x
    squares = np.sum(np.real(residual * np.conj(residual)), axis=0)
    determined = rows > unknowns and (isinstance(rank, Lifted) or rank == unknowns)
    return x[:, 0] if b.ndim == 1 else x, squares if determined else squares[:0], rank, singular
