"""`solve_bvp`: SciPy solves the collocation equations, and the solution moves with whatever these depend on."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import UnsupportedError
from gradtape.extend import solver_error
from gradtape.mirror import holds_tensor
from gradtape.ops import concatenate
from gradtape.scipy.callbacks import Run, solution, stacked, vector
from gradtape.scipy.integrate.initial_values import original


@original.differentiated_with_callbacks
def solve_bvp(
    fun: Any,
    bc: Any,
    x: Any,
    y: Any,
    p: Any = None,
    S: Any = None,
    fun_jac: Any = None,
    bc_jac: Any = None,
    tol: float = 1e-3,
    max_nodes: int = 1000,
    verbose: int = 0,
    bc_tol: float | None = None,
) -> Any:
    """The solution of y' = fun(x, y, p) with bc(y(a), y(b), p) = 0, by SciPy's collocation on a mesh that it chooses.

    `y`, `yp`, `p` and the function `sol` of the result can be differentiated by whatever `fun` and `bc` read and by the
    ends of `x`, with which the mesh moves. Starting values have no derivative: the solution does not depend on them.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.integrate import solve_bvp
    >>> def middle(k):                                   # y'' = k, zero at both ends: y = k x (x - 1) / 2
    ...     fun = lambda x, y: np.stack([y[1], k + 0.0 * x])
    ...     bc = lambda ya, yb: [ya[0], yb[0]]
    ...     return solve_bvp(fun, bc, np.linspace(0, 1, 5), np.zeros((2, 5))).sol(0.5)[0]
    >>> round(float(gt.grad(middle)(3.0)), 8)
    -0.125
    """
    title = "scipy.integrate.solve_bvp"
    run = Run(title, x, y, p, S)
    unknown = p is not None

    def plain(value: Any) -> Any:
        return None if value is None else run.numbers(value)

    found = original.contents.solve_bvp(
        run.function(fun),
        run.function(bc),
        plain(x),
        plain(y),
        plain(p),
        plain(S),
        run.function(fun_jac),
        run.function(bc_jac),
        tol,
        max_nodes,
        verbose,
        bc_tol,
    )
    if not run.is_followed:
        return found
    run.refuse_batches("a boundary value problem", "a loop over the examples")
    if S is not None:
        raise solver_error(
            UnsupportedError, f"{title}: S= with tensors that have a gradient is not differentiated.", "S=None"
        )
    mesh, size = _moving_mesh(x, found.x), found.y.size
    h = np.diff(mesh)
    shape = found.y.shape

    def slopes(points: Any, states: Any, parameters: Any) -> Any:
        given = (points, states, parameters) if unknown else (points, states)
        value = stacked(fun(*given))
        return value if value.shape == states.shape else value + np.zeros(states.shape)

    def conditions(z: Any) -> Any:
        states, parameters = z[:size].reshape(shape), z[size:]
        f = slopes(mesh, states, parameters)
        left, right = states[:, :-1], states[:, 1:]
        middle = 0.5 * (left + right) - h / 8.0 * (f[:, 1:] - f[:, :-1])
        between = slopes(mesh[:-1] + 0.5 * h, middle, parameters)
        steps = right - left - h / 6.0 * (f[:, :-1] + f[:, 1:] + 4.0 * between)
        ends = (states[:, 0], states[:, -1], parameters) if unknown else (states[:, 0], states[:, -1])
        return concatenate([steps.reshape((-1,)), vector(bc(*ends))])

    start = np.concatenate([found.y.reshape(-1), found.p if unknown else np.zeros(0)])
    moving = solution(conditions, start, title, polish=False)
    states, parameters = moving[:size].reshape(shape), moving[size:]
    from gradtape.scipy.interpolate import CubicHermiteSpline

    found.x, found.y, found.yp = mesh, states, slopes(mesh, states, parameters)
    if unknown:
        found.p = parameters
    found.sol = CubicHermiteSpline(mesh, states, found.yp, axis=1)
    return found


def _moving_mesh(x: Any, mesh: Any) -> Any:
    """The mesh that SciPy chose; with tensors in `x`, each point keeps its ratio of the distances from both ends."""
    if not holds_tensor((x,)):
        return mesh
    given = stacked(x)
    part = (mesh - mesh[0]) / (mesh[-1] - mesh[0])
    return given[0] * (1.0 - part) + given[-1] * part
