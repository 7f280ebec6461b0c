"""Derivatives of solutions: what a solver found is differentiated by the condition that it satisfies, not by its steps.

A solution x of F(x, a) = 0 moves with a as the implicit function theorem says, however it was found. So the solver can
be anything, SciPy's or a loop of one's own; it runs on plain arrays and nothing of it is recorded. Both modes, higher
derivatives and batches work.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradtape.core.pytree import map_structure
from gradtape.errors import OperandError
from gradtape.transforms.gradients import grad
from gradtape.transforms.implicit.linear import check_method
from gradtape.transforms.implicit.refusal import solver_error
from gradtape.transforms.implicit.theorem import Function, ImplicitCondition, run_solver

__all__ = ["fixed_point", "minimum", "root", "solution"]


def root(condition: Function, *, solve: Any = "auto", has_start: bool = True) -> Callable[[Function], Function]:
    """A decorator for solvers of `condition(x, *args) == 0`: the solution can be differentiated by `args`.

    The solver is `solver(start, *args)`, or `solver(*args)` with `has_start=False`, and returns x, an array or a nested
    structure of arrays; the condition returns the same structure. The derivative by `start` is zero. The linear
    systems are solved as `solve` says: "dense" builds the Jacobian, "gmres", "cg" (for symmetric positive ones) and
    "bicgstab" only multiply by it, a function `(multiply, b) -> x` does it its own way, and "auto" is dense up to 500
    unknowns. A Jacobian that is singular is an error that names what is not determined.

    >>> import numpy as np, gradtape as gt
    >>> from scipy.optimize import brentq
    >>> @gt.implicit.root(lambda x, a: x + np.exp(x) - a, has_start=False)
    ... def solved(a):
    ...     return brentq(lambda x: x + np.exp(x) - a, -10.0, 10.0, xtol=1e-14)
    >>> bool(abs(gt.grad(solved)(1.0) - 0.5) < 1e-12)      # x = 0, and dx/da = 1 / (1 + exp(x))
    True
    """
    return _decorator(condition, "gt.implicit.root", solve, has_start)


def fixed_point(step: Function, *, solve: Any = "auto", has_start: bool = True) -> Callable[[Function], Function]:
    """A decorator for solvers of `x == step(x, *args)`; see `root`.

    >>> import numpy as np, gradtape as gt
    >>> def step(x, a):
    ...     return 0.5 * (x + a / x)
    >>> @gt.implicit.fixed_point(step)
    ... def square_root(x, a):
    ...     for _ in range(20):
    ...         x = step(x, a)
    ...     return x
    >>> gt.grad(square_root, argnums=1)(1.0, 4.0)
    np.float64(0.25)
    """

    @functools.wraps(step)
    def condition(x: Any, *args: Any) -> Any:
        return map_structure(lambda new, old: new - old, step(x, *args), x)

    return _decorator(condition, "gt.implicit.fixed_point", solve, has_start)


def minimum(objective: Function, *, solve: Any = "auto", has_start: bool = True) -> Callable[[Function], Function]:
    """A decorator for solvers that minimise `objective(x, *args)` over x; see `root`.

    The condition is that the gradient by x is zero, so this is for minima that no bound or constraint holds, and for
    maxima and saddles as well.

    >>> import numpy as np, gradtape as gt
    >>> from scipy.optimize import minimize
    >>> def loss(x, data):
    ...     return np.sum((x - data) ** 2) + np.sum(x) ** 2
    >>> @gt.implicit.minimum(loss)
    ... def fitted(start, data):
    ...     return minimize(gt.value_and_grad(loss), start, args=(data,), jac=True).x
    >>> gt.jacobian(fitted, argnums=1)(np.zeros(2), np.array([1.0, 2.0])).round(6)
    array([[ 0.666667, -0.333333],
           [-0.333333,  0.666667]])
    """
    return _decorator(grad(objective), "gt.implicit.minimum", solve, has_start)


def solution(condition: Function, x: Any, *args: Any, solve: Any = "auto") -> Any:
    """`x`, which was found somehow and is a root of `condition(x, *args)`, with the derivative of that root by `args`.

    >>> import numpy as np, gradtape as gt
    >>> gt.grad(lambda a: gt.implicit.solution(lambda x, a: x ** 2 - a, 3.0, a))(9.0)
    np.float64(0.16666666666666666)
    """
    tied = ImplicitCondition(condition, args, "gt.implicit.solution")
    flat, packing = run_solver(lambda x: x, (x,), (), tied.title)
    return packing.handed_out(tied.moving(packing, flat, solve))


def _decorator(condition: Any, title: str, solve: Any, has_start: bool) -> Callable[[Function], Function]:
    if not callable(condition):
        kind = type(condition).__name__
        raise solver_error(OperandError, f"{title}: a function is wanted; got a {kind}.", f"{title}(function)")
    check_method(solve)

    def decorate(solver: Function) -> Function:
        @functools.wraps(solver)
        def solved(*args: Any, **named: Any) -> Any:
            if named:
                raise solver_error(
                    OperandError,
                    f"{title}: {', '.join(named)} was passed by name; solver and condition share their arguments.",
                    "pass all arguments by position",
                )
            starts, rest = (args[:1], args[1:]) if has_start else ((), args)
            flat, packing = run_solver(solver, starts, rest, title)
            tied = ImplicitCondition(condition, rest, title)
            return packing.handed_out(tied.moving(packing, flat, solve))

        return solved

    return decorate
