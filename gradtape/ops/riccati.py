"""The algebraic Riccati equations of optimal control, differentiated through the equations of the closed loop.

Both are solved for Hermitian x from a, g = b r^-1 b^H and q:

    continuous   a^H x + x a - x g x + q = 0                   with the closed loop  c = a - g x
    discrete     x = a^H x (1 + g x)^-1 a + q                  with the closed loop  c = (1 + g x)^-1 a
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import general
from gradtape.core.shapes import unbroadcast
from gradtape.core.typing import Array, Draw
from gradtape.ops.decompositions import inv, solve
from gradtape.ops.linalg_common import (
    adjoint,
    batch_as_stack,
    hermitian_part,
    in_precision_of,
    over_stack,
    regular_matrix,
)
from gradtape.ops.matrix_functions import solve_sylvester
from gradtape.ops.products import kron


def stein_solution(a: Array, q: Array, direct: bool | None = None) -> Any:
    """The x with x = a x a^H + q: for up to nine rows as one system, for more by a bilinear change to Lyapunov's."""
    n = a.shape[-1]
    conjugate = np.conj(a) if a.dtype.kind == "c" else a
    if (n < 10 if direct is None else direct) and a.ndim == q.ndim == 2:
        system = np.eye(n * n, dtype=a.dtype) - kron(a, conjugate)
        return solve(system, q.reshape((n * n,))).reshape((n, n))
    identity = np.eye(n, dtype=a.dtype)
    shifted = inv(adjoint(a) + identity)
    b = (adjoint(a) - identity) @ shifted
    c = 2 * inv(a + identity) @ q @ shifted
    return solve_sylvester(adjoint(b), b, -c)


def _factor(g: Array) -> tuple[Any, Any]:
    """b and r with b r^-1 b^H = g."""
    values, vectors = np.linalg.eigh(hermitian_part(g))
    sizes = np.abs(values)
    used = sizes > len(g) * np.finfo(sizes.dtype).eps * np.max(sizes, initial=0)
    if not used.any():
        return np.zeros((len(g), 1), g.dtype), np.eye(1)
    return vectors[:, used] * np.sqrt(sizes[used]), np.diag(np.sign(values[used]))


def _solved(name: str, a: Array, g: Array, q: Array) -> Any:
    from scipy import linalg

    def one(a: Array, g: Array, q: Array) -> Any:
        b, r = _factor(g)
        return getattr(linalg, name)(a, b, hermitian_part(q), r)

    return in_precision_of(over_stack(one, *map(np.asarray, (a, g, q))), a, g, q)


def _fitted(inputs: Sequence[Array], gradients: Sequence[Any]) -> tuple[Any, ...]:
    """Gradients in the shapes of the inputs, which may be fewer than the results of a stack."""
    return tuple(unbroadcast(gradient, x.shape) for x, gradient in zip(inputs, gradients, strict=True))


# -- continuous: c^H dx + dx c = -(da^H x + x da - x dg x + dq)


def _continuous_reverse(g: Array, a: Array, weights: Array, q: Array, out: Array) -> Any:
    closed = a - hermitian_part(weights) @ out
    w = hermitian_part(solve_sylvester(closed, adjoint(closed), hermitian_part(g)))
    return _fitted((a, weights, q), (-2 * out @ w, hermitian_part(out @ w @ out), -w))


def _continuous_forward(da: Array, dweights: Array, dq: Array, a: Array, weights: Array, out: Array) -> Any:
    closed = a - hermitian_part(weights) @ out
    change = out @ da
    change = change + adjoint(change) - out @ hermitian_part(dweights) @ out + hermitian_part(dq)
    return hermitian_part(solve_sylvester(adjoint(closed), closed, -change))


def _samples(draw: Draw) -> list[Any]:
    def definite(n: int) -> Any:
        b = regular_matrix(draw, n)
        return b @ b.T / 4

    return [((draw(2, 2), definite(2), definite(2)), {}), ((draw(3, 3) / 2, definite(3), definite(3)), {})]


continuous_riccati: Op = general(
    lambda a, weights, q: _solved("solve_continuous_are", a, weights, q),
    reverse=_continuous_reverse,
    forward=_continuous_forward,
    name="continuous Riccati equation",
    names=("a", "weights", "q"),
    inputs=3,
    batch=batch_as_stack,
    samples=_samples,
)


# -- discrete: dx = c^H dx c + da^H x c + c^H x da - c^H x dg x c + dq


def _closed_discrete(a: Array, weights: Array, x: Array) -> Any:
    return solve(np.eye(a.shape[-1], dtype=a.dtype) + hermitian_part(weights) @ x, a)


def _discrete_reverse(g: Array, a: Array, weights: Array, q: Array, out: Array) -> Any:
    closed = _closed_discrete(a, weights, out)
    w = hermitian_part(stein_solution(closed, hermitian_part(g)))
    through = out @ closed
    return _fitted((a, weights, q), (2 * through @ w, hermitian_part(-through @ w @ adjoint(through)), w))


def _discrete_forward(da: Array, dweights: Array, dq: Array, a: Array, weights: Array, out: Array) -> Any:
    closed = _closed_discrete(a, weights, out)
    through = out @ closed
    change = adjoint(da) @ through
    change = change + adjoint(change) - adjoint(through) @ hermitian_part(dweights) @ through + hermitian_part(dq)
    return hermitian_part(stein_solution(adjoint(closed), change))


discrete_riccati: Op = general(
    lambda a, weights, q: _solved("solve_discrete_are", a, weights, q),
    reverse=_discrete_reverse,
    forward=_discrete_forward,
    name="discrete Riccati equation",
    names=("a", "weights", "q"),
    inputs=3,
    batch=batch_as_stack,
    samples=_samples,
)
