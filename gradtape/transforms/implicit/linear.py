"""The linear systems behind implicit derivatives: dense for few unknowns, matrix-free for many."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.tensor import Tensor
from gradtape.errors import LinearAlgebraError, OperandError
from gradtape.explain import messages
from gradtape.explain.emit.policy import report
from gradtape.transforms.custom.arrays import is_recorded
from gradtape.transforms.gradients import vjp
from gradtape.transforms.implicit.outside_tape import call_outside, numbers_if_known
from gradtape.transforms.implicit.packing import Packing
from gradtape.transforms.implicit.refusal import solver_error
from gradtape.transforms.jacobians import jacobian

Residual = Callable[..., Any]  # of a flat vector and of arrays, to a flat vector of the same length

DENSE_AT_MOST = 500
"""Unknowns up to which `solve="auto"` builds the Jacobian."""

METHODS = ("auto", "dense", "gmres", "cg", "bicgstab")


def check_method(solve: Any) -> None:
    """Raise unless `solve` names a way to solve linear systems, or is a function that does."""
    if not callable(solve) and solve not in METHODS:
        raise solver_error(
            OperandError,
            f"gt.implicit: solve={solve!r}.",
            f"one of {', '.join(map(repr, METHODS))}, or a function (multiply, b) -> x",
        )


def solve_adjoint(
    residual: Residual, at: Any, arrays: list[Any], cotangent: Any, solve: Any, packing: Packing, title: str
) -> Any:
    """The u with J^T u = cotangent, where J is the Jacobian of `residual(at, *arrays)` by `at`. All is recorded."""
    dense = solve == "dense" or (solve == "auto" and at.size <= DENSE_AT_MOST)
    if dense:
        matrix = jacobian(residual)(at, *arrays)
        numbers = numbers_if_known(matrix)
        if numbers is not None:
            _check_matrix(numbers, packing, title)
        if not any(isinstance(x, Lifted) for x in (matrix, at, *arrays)):
            _check_converged(
                numbers, residual, numbers_if_known(at), [numbers_if_known(x) for x in arrays], packing, title
            )
        return np.linalg.solve(matrix.T, cotangent)
    way = "gmres" if solve == "auto" else solve

    def found(at: Any, cotangent: Any, *arrays: Any) -> list[Any]:
        pull_back = vjp(lambda z: residual(z, *arrays), at)[1]
        return [_matrix_free(lambda u: pull_back(u)[0], cotangent, way, title)]

    def system(u: Any, at: Any, cotangent: Any, *arrays: Any) -> Any:
        return vjp(lambda z: residual(z, *arrays), at)[1](u)[0] - cotangent

    (u,) = call_outside("linear_solve", found, [at, cotangent, *arrays])
    if not any(isinstance(x, Tensor) and (isinstance(x, Lifted) or is_recorded(x)) for x in (at, cotangent, *arrays)):
        return u
    from gradtape.transforms.implicit.theorem import differentiable_root

    return differentiable_root(system, u, [at, cotangent, *arrays], way, packing, title)


def _matrix_free(multiply: Callable[[Any], Any], b: Any, way: Any, title: str) -> Any:
    """The x with `multiply(x)` equal to `b`."""
    if callable(way):
        x = np.asarray(way(multiply, b), dtype=b.dtype)
        if x.shape != b.shape:
            raise solver_error(
                LinearAlgebraError,
                f"{title}: the function given as solve= returned shape {x.shape} for a right-hand side of {b.shape}.",
                "return a vector of the same shape",
            )
        return x
    if not b.any():
        return np.zeros_like(b)
    from scipy.sparse.linalg import LinearOperator, bicgstab, cg, gmres

    operator = LinearOperator((b.size, b.size), matvec=lambda x: multiply(x.astype(b.dtype)), dtype=b.dtype)
    relative = "rtol" if "rtol" in inspect.signature(gmres).parameters else "tol"  # its name before SciPy 1.12
    tolerance = {relative: float(np.sqrt(np.finfo(b.dtype).eps)) * 1e-2, "atol": 0.0}
    if way == "gmres":
        x, flag = gmres(operator, b, restart=min(b.size, 100), maxiter=20, **tolerance)
    else:
        x, flag = (cg if way == "cg" else bicgstab)(operator, b, maxiter=10 * b.size, **tolerance)
    if flag or not np.isfinite(x).all():
        off = float(np.linalg.norm(multiply(x.astype(b.dtype)) - b) / np.linalg.norm(b))
        raise solver_error(
            LinearAlgebraError,
            f"{title}: {way} did not solve the linear system of {b.size} unknowns behind the derivative (relative "
            f"residual {off:.1e}); the Jacobian at the solution is singular or badly scaled.",
            'solve="dense" says which unknowns are to blame; or scale the unknowns alike',
        )
    return x.astype(b.dtype)


def _check_matrix(numbers: Any, packing: Packing, title: str) -> None:
    """Raise where the Jacobian is singular to working precision, naming the unknowns that are not determined."""
    if not np.isfinite(numbers).all():
        raise solver_error(
            LinearAlgebraError,
            f"{title}: the Jacobian at the solution has elements that are NaN or infinite.",
            "look at the condition there: gt.check_numerics() names the operation",
        )
    stack = numbers.reshape(-1, *numbers.shape[-2:])
    for one in stack:
        with np.errstate(all="ignore"):
            try:
                badness = float(np.linalg.cond(one, 1))
            except np.linalg.LinAlgError:
                badness = np.inf
        if badness * np.finfo(one.dtype).eps < 0.1:
            continue
        sizes, directions = np.linalg.svd(one)[1:]
        rank = int(np.count_nonzero(sizes > max(sizes[0], np.finfo(one.dtype).tiny) * np.finfo(one.dtype).eps * 10))
        free = np.abs(directions[min(rank, len(one) - 1)])
        blamed = ", ".join(name for name, _, _ in packing.guilty(lambda x: x >= 0.3 * x.max(), free)[:3])
        raise solver_error(
            LinearAlgebraError,
            f"{title}: the Jacobian at the solution is singular (rank {rank} of {len(one)}), so the solution is no "
            f"smooth function of the arguments; what is not determined lies in {blamed}.",
            "add the equation, penalty or bound that makes the solution unique",
        )


def _check_converged(matrix: Any, residual: Residual, at: Any, arrays: list[Any], packing: Packing, title: str) -> None:
    """Warn where a step of Newton's method would still move the solution: its derivative is of something else then."""
    step = np.linalg.solve(matrix, numbers_if_known(residual(at, *arrays)))
    size = float(np.abs(step).max())
    if size > 1e-3 * max(1.0, float(np.abs(at).max())):
        moved = packing.guilty(lambda x: np.abs(x) >= 0.5 * size, step)[0][0]
        report(
            messages.problem(
                "GT406",
                f"{title}: the solution does not satisfy its condition: a step of Newton's method would move {moved} "
                f"by {size:.1e}",
                consequence="the derivative is that of the condition, and so not that of the value",
                fixes="let the solver run longer, or check that the condition is the one it solves",
            )
        )
