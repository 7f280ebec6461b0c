"""Iterative solvers of sparse systems and of least squares, differentiated through the systems that they solve.

The derivative of a solution is that of the exact one: it takes a further solution with the same matrix, or its
conjugate transpose, by the same method with a tolerance of at most 1e-10. Where that does not converge it is found
by LU factors; with a linear operator, by GMRES, which raises if it does not converge either.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import LinearAlgebraError, UnsupportedError
from gradtape.extend import Lifted, Tensor, argument_error, as_value, may_record, plain
from gradtape.ops.conversion import stop_gradient
from gradtape.ops.sparse_methods import Method, info_of, operator_solution
from gradtape.ops.sparse_products import Pattern, sparse_iterate, sparse_solve
from gradtape.scipy.sparse.classes import holds_ours
from gradtape.scipy.sparse.linalg.arguments import (
    as_right_side,
    as_square,
    differentiated,
    differentiated_where,
    original,
)
from gradtape.scipy.sparse.linalg.operators import LinearOperator
from gradtape.scipy.sparse.matrices import SparseTensor, as_sparse, is_sparse

METHODS = ("bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr")
__all__ = [*METHODS, "lsmr", "lsqr"]


def _numbers(x: Any) -> Any:
    return None if x is None else np.asarray(plain(stop_gradient(x)) if isinstance(x, Tensor) else x)


def _iterate(name: str, A: Any, b: Any, x0: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    for preconditioner in ("M", "M1", "M2"):
        given = options.get(preconditioner)
        if isinstance(given, SparseTensor):
            options[preconditioner] = given.pattern.matrix(_numbers(given.entries))
        elif isinstance(given, Tensor):
            options[preconditioner] = _numbers(given)
    is_operator = isinstance(A, original.contents.LinearOperator)
    rows = A.shape[0]
    right = as_right_side(b, rows, name)
    vector = right[:, 0] if right.ndim == 2 else right
    if right.ndim == 2 and right.shape[1] != 1:
        raise argument_error(LinearAlgebraError, f"{name}: b of shape {right.shape}.", "one right-hand side")
    start = np.zeros(rows) if x0 is None or isinstance(x0, str) else _numbers(x0).reshape(-1)
    method = Method(name, options)
    if is_operator:
        if isinstance(A, LinearOperator):
            A.require_constant(name)
        x = operator_solution(vector, operator=A, method=method, adjoint=False, start=start)
    else:
        a = as_square(A, name)
        values = a.entries.astype(np.float64) if a.entries.dtype.kind in "iub" else a.entries
        if options.pop("shift", 0.0):
            raise argument_error(UnsupportedError, f"{name}: shift has no derivative.", "A - shift * I for A")
        x = sparse_iterate(values, vector, start, pattern=a.pattern, adjoint=False, method=method)
    info = info_of(x, method=method)
    return x, info if isinstance(info, Lifted) else int(plain(info))


def _is_ours(values: Any) -> bool:
    """Whether there is a tensor, or an operator whose functions may read one."""
    values = list(values)
    return holds_ours(values) or (may_record() and any(isinstance(value, LinearOperator) for value in values))


def _solver(name: str) -> Any:
    def solve(A: Any, b: Any, x0: Any = None, **options: Any) -> tuple[Any, Any]:
        return _iterate(name, A, b, x0, options)

    solve.__name__ = solve.__qualname__ = name
    solve.__doc__ = (
        f"The solution of A @ x = b and 0 if it converged, as `scipy.sparse.linalg.{name}`.\n\n"
        "    A is a sparse or dense matrix, which may be of tensors, or a linear operator of constants."
    )
    solve.__module__ = __name__
    return differentiated_where(_is_ours)(solve)


bicg, bicgstab, cg, cgs, gcrotmk = map(_solver, ("bicg", "bicgstab", "cg", "cgs", "gcrotmk"))
gmres, lgmres, minres, qmr, tfqmr = map(_solver, ("gmres", "lgmres", "minres", "qmr", "tfqmr"))


# -- least squares: the normal equations (A^H A + damp^2) x = A^H b, as a larger sparse system
#    [[1, A], [A^H, -damp^2]] [r, x] = [b, 0], which has the same solution and is as well conditioned as A


def _least_squares(A: Any, b: Any, damp: float, name: str) -> Any:
    a = as_sparse(A)
    m, n = a.shape
    if m < n and not damp:
        raise argument_error(
            UnsupportedError,
            f"{name}: of the many solutions of {m} equations with {n} unknowns, the smallest has no derivative here.",
            "damp > 0, or gradtape.scipy.linalg.lstsq for dense matrices",
        )
    right = as_right_side(b, m, name)
    vector = right[:, 0] if right.ndim == 2 else right
    values = as_value(a.entries).astype(np.result_type(a.dtype, np.float32))
    rows, columns = a.pattern.rows, a.pattern.columns
    first, second = np.arange(m), m + np.arange(n)
    pattern = Pattern(
        np.concatenate([first, rows, m + columns, second]),
        np.concatenate([first, m + columns, rows, second]),
        (m + n, m + n),
    )
    turned = np.conj(values) if values.dtype.kind == "c" else values
    whole = np.concatenate([np.ones(m, values.dtype), values, turned, np.full(n, -(damp**2), values.dtype)])
    extended = np.concatenate([vector, np.zeros(n, vector.dtype)])[:, None]
    return sparse_solve(whole, extended, pattern=pattern, adjoint=False)[m:, 0]


def _numbers_of(A: Any) -> Any:
    return A.pattern.matrix(_numbers(A.entries)) if isinstance(A, SparseTensor) else _numbers(A)


@differentiated
def lsqr(
    A: Any,
    b: Any,
    damp: float = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    iter_lim: int | None = None,
    show: bool = False,
    calc_var: bool = False,
    x0: Any = None,
) -> tuple[Any, ...]:
    """The x that makes A @ x closest to b, and what the iteration has found, as `scipy.sparse.linalg.lsqr`.

    With tensors x is the exact solution, by LU factors; the rest has no gradient.
    """
    rest = original.contents.lsqr(
        _numbers_of(A) if is_sparse(A) else A, _numbers(b), damp, atol, btol, conlim, iter_lim, show, calc_var, x0
    )
    return _least_squares(A, b, damp, "lsqr"), *rest[1:]


@differentiated
def lsmr(
    A: Any,
    b: Any,
    damp: float = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    maxiter: int | None = None,
    show: bool = False,
    x0: Any = None,
) -> tuple[Any, ...]:
    """The same, as `scipy.sparse.linalg.lsmr`."""
    rest = original.contents.lsmr(
        _numbers_of(A) if is_sparse(A) else A, _numbers(b), damp, atol, btol, conlim, maxiter, show, x0
    )
    return _least_squares(A, b, damp, "lsmr"), *rest[1:]
