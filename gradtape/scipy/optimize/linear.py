"""Problems that are linear: programs, least squares with bounds, assignments."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import LinearAlgebraError
from gradtape.extend import as_value, solver_error
from gradtape.ops import concatenate
from gradtape.ops import where as where_op
from gradtape.scipy.callbacks import Run, solution, stacked
from gradtape.scipy.optimize.minima import Limits, near
from gradtape.scipy.optimize.roots import original


def _value(x: Any) -> Any:
    value = as_value(stacked(x))
    return value if value.dtype.kind == "f" else value.astype(float)


@original.differentiated
def linprog(
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    bounds: Any = (0, None),
    method: str = "highs",
    callback: Any = None,
    options: Any = None,
    x0: Any = None,
    integrality: Any = None,
) -> Any:
    """The minimum of c @ x with A_ub @ x <= b_ub, A_eq @ x == b_eq and bounds: a corner, which moves with its sides.

    `x`, `fun` and `slack` of the result are differentiated by A_ub, b_ub, A_eq, b_eq, bounds and c. A corner on which
    more constraints meet than there are unknowns is not differentiable, and refused.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.optimize import linprog
    >>> value = lambda b: linprog([-1.0, -2.0], [[1.0, 1.0], [1.0, 3.0]], b).fun
    >>> gt.grad(value)(np.array([4.0, 6.0])).round(6)
    array([-0.5, -0.5])
    """
    title = "scipy.optimize.linprog"
    run = Run(title, c, A_ub, b_ub, A_eq, b_eq, bounds)
    cost = _value(c)
    size = cost.shape[0]
    pairs = bounds if bounds is not None else (0, None)
    single = (
        len(pairs) == 2
        and not any(isinstance(each, list | tuple) for each in pairs)
        and (not isinstance(pairs, np.ndarray) or pairs.ndim == 1)
    )
    limits = Limits([tuple(pairs)] * size if single else pairs, size)

    def plain(value: Any) -> Any:
        return None if value is None else run.numbers(stacked(value))

    def compute() -> Any:
        return original.contents.linprog(
            plain(c),
            plain(A_ub),
            plain(b_ub),
            plain(A_eq),
            plain(b_eq),
            limits.plain(run),
            method,
            callback,
            options,
            None,
            integrality,
        )

    found = run.solve(compute)
    if not run.is_followed:
        return found
    run.refuse_batches("a linear program", "a loop over the examples")
    if not found.success or (integrality is not None and np.any(integrality)):
        raise solver_error(
            LinearAlgebraError,
            f"{title}: "
            + (found.message if not found.success else "whole numbers, by integrality=, have no derivative."),
            "a program with a solution, over real numbers",
        )
    x = found.x
    rows, sides = [], []
    if A_eq is not None:
        rows.append(_value(A_eq))
        sides.append(_value(b_eq))
    if A_ub is not None:
        active = np.flatnonzero(near(np.asarray(found.slack), 0.0, 1e-7))
        rows.append(_value(A_ub)[active])
        sides.append(_value(b_ub)[active])
    at_low, at_high = limits.held(run, x, 1e-7)
    for at, side in ((at_low, limits.low), (at_high & ~at_low, limits.high)):
        places = np.flatnonzero(at)
        rows.append(np.eye(size)[places])
        sides.append(side[places])
    matrix, right = concatenate(rows, axis=0), concatenate(sides)
    if matrix.shape[0] != size:
        more = matrix.shape[0] > size
        raise solver_error(
            LinearAlgebraError,
            f"{title}: {matrix.shape[0]} constraints hold with equality at the solution, for {size} unknowns: "
            + (
                "the corner is degenerate, and its derivative depends on the direction."
                if more
                else "the solution is not unique."
            ),
            "constraints that are needed once; or a small quadratic term, by minimize",
        )
    found.x = solution(lambda z: matrix @ z - right, x, title, polish=False)
    found.fun = cost @ found.x
    if A_ub is not None:
        found.slack = _value(b_ub) - _value(A_ub) @ found.x
    return found


@original.differentiated
def nnls(A: Any, b: Any, *rest: Any, **options: Any) -> Any:
    """The x >= 0 with the least norm of A @ x - b, and that norm.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.optimize import nnls
    >>> gt.jacobian(lambda b: nnls(np.eye(2), b)[0])(np.array([1.0, -1.0])) + 0.0
    array([[1., 0.],
           [0., 0.]])
    """
    matrix, right = _value(A), _value(b)
    run = Run("scipy.optimize.nnls", matrix, right, traces=True)
    found = run.solve(lambda: original.contents.nnls(run.numbers(matrix), run.numbers(right), *rest, **options))
    x = run.gathered(found, lambda each: np.asarray(each[0]))
    positive = x > 0.0
    moved = solution(lambda z: where_op(positive, matrix.T @ (matrix @ z - right), z), x, run.title, polish=False)
    off = matrix @ moved - right
    return moved, ((off * off).sum()) ** 0.5


@original.differentiated
def lsq_linear(A: Any, b: Any, bounds: Any = (-np.inf, np.inf), *rest: Any, **options: Any) -> Any:
    """The x between bounds with the least norm of A @ x - b: `x`, `fun` and `cost` of the result are differentiated.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.optimize import lsq_linear
    >>> gt.jacobian(lambda b: lsq_linear(np.eye(2), b, (0.0, 3.0)).x)(np.array([1.0, 5.0])) + 0.0
    array([[1., 0.],
           [0., 0.]])
    """
    run = Run("scipy.optimize.lsq_linear", A, b, None if hasattr(bounds, "lb") else bounds)
    matrix, right = _value(A), _value(b)
    low, high = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    limits = Limits.of_sides(stacked(low), stacked(high), matrix.shape[1])
    found = run.solve(
        lambda: original.contents.lsq_linear(
            run.numbers(matrix),
            run.numbers(right),
            (run.numbers(limits.low), run.numbers(limits.high)),
            *rest,
            **options,
        )
    )
    x = run.gathered(found, lambda each: np.asarray(each.x))
    at_low, at_high = limits.held(run, x)
    sides = [where_op(at, side, 0.0) for at, side in ((at_low, limits.low), (at_high, limits.high))]

    def condition(z: Any) -> Any:
        free = matrix.T @ (matrix @ z - right)
        return where_op(at_low, z - sides[0], where_op(at_high, z - sides[1], free))

    result = found[0] if run.levels else found
    result.x = solution(condition, x, run.title, polish=False)
    result.fun = matrix @ result.x - right
    result.cost = 0.5 * (result.fun * result.fun).sum()
    return result


@original.differentiated
def linear_sum_assignment(cost_matrix: Any, maximize: bool = False) -> Any:
    """The rows and columns of the best assignment: whole numbers, without a gradient; `cost[rows, columns]` has one.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.optimize import linear_sum_assignment
    >>> cost = np.array([[4.0, 1.0], [2.0, 3.0]])
    >>> gt.grad(lambda cost: cost[linear_sum_assignment(cost)].sum())(cost)
    array([[0., 1.],
           [1., 0.]])
    """
    cost = stacked(cost_matrix)
    run = Run("scipy.optimize.linear_sum_assignment", cost, traces=True)
    found = run.solve(lambda: original.contents.linear_sum_assignment(run.numbers(cost), maximize))
    if not run.levels and not run.is_traced:
        return found
    return run.gathered(found, lambda each: each[0]), run.gathered(found, lambda each: each[1])


@original.differentiated
def rosen(x: Any) -> Any:
    """Rosenbrock's function.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.optimize import rosen
    >>> gt.grad(rosen)(np.array([1.0, 2.0]))
    array([-400.,  200.])
    """
    x = stacked(x)
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum(axis=0)


@original.differentiated
def rosen_der(x: Any) -> Any:
    """The gradient of Rosenbrock's function."""
    x = stacked(x)
    inner = x[1:] - x[:-1] ** 2
    zero = 0.0 * x[:1]
    low = concatenate([-400.0 * x[:-1] * inner - 2.0 * (1.0 - x[:-1]), zero])
    return low + concatenate([zero, 200.0 * inner])
