"""Equations: `root` over nested structures, `root_scalar`, and `fixed_point`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import WRONG_VALUE, Packing, as_scalar, map_structure, solver_error
from gradtape.optimize.objective import Function, VectorObjective, function_name, plain_number
from gradtape.optimize.progress import SolverProgress
from gradtape.optimize.result import OptimizeResult
from gradtape.optimize.solving import SolverArguments, check_function
from gradtape.transforms.gradients import grad

WITH_JACOBIAN = ("hybr", "lm")
WITHOUT = ("broyden1", "broyden2", "anderson", "linearmixing", "diagbroyden", "excitingmixing", "krylov", "df-sane")
DERIVATIVES = {"newton": 1, "halley": 2}


def root(
    function: Function,
    x0: Any,
    method: str = "hybr",
    args: Any = (),
    tol: float | None = None,
    options: dict[str, Any] | None = None,
    jit: bool = False,
    solve: Any = "auto",
) -> OptimizeResult:
    """A solution of `function(x, *args) == 0`, as many equations as unknowns, by `scipy.optimize.root`.

    x0 is a nested structure of arrays, and so is what the function returns. The methods "hybr" and "lm" get the exact
    Jacobian; the others do without. `x` can be differentiated by `args`, by the implicit function theorem.

    >>> import numpy as np, gradtape as gt
    >>> def equations(p, a):
    ...     return [p["x"] + p["y"] - a, p["x"] * p["y"] - 2.0]
    >>> found = gt.optimize.root(equations, {"x": 0.5, "y": 3.0}, args=(3.0,))
    >>> round(float(found.x["x"]), 8), round(float(found.x["y"]), 8)
    (1.0, 2.0)
    """
    title = "gt.optimize.root"
    check_function(function, title)
    if method not in (*WITH_JACOBIAN, *WITHOUT):
        raise solver_error(
            OperandError, f"{title}: method={method!r}.", f"one of {', '.join((*WITH_JACOBIAN, *WITHOUT))}"
        )
    packing, arguments = Packing(x0, "x0"), SolverArguments(args, title)

    def core(start: Any, plain: tuple[Any, ...]) -> Any:
        flat = VectorObjective(function, packing, plain, title, jit)
        count = flat(start).size
        if count != packing.size and method != "lm":
            raise solver_error(
                ShapeError,
                f"{title}: {flat.name} returns {count} values for {packing.size} unknowns.",
                "as many equations as unknowns; gt.optimize.least_squares where there are more",
            )
        jacobian = flat.jacobian if method in WITH_JACOBIAN else None
        found = optimize.root(flat, start.astype(float), method=method, jac=jacobian, tol=tol, options=options)
        found["method"] = method
        return found

    result, flat = arguments.solve(core, packing.start)
    result["x"] = packing.handed_out(arguments.moving(function, packing, flat, solve))
    return result


def root_scalar(
    function: Function,
    x0: Any = None,
    bracket: Any = None,
    method: str | None = None,
    args: Any = (),
    x1: Any = None,
    xtol: float | None = None,
    rtol: float | None = None,
    maxiter: int | None = None,
    options: dict[str, Any] | None = None,
    solve: Any = "auto",
) -> OptimizeResult:
    """A root of a function of one number, by `scipy.optimize.root_scalar`.

    With a `bracket` and no method that is Brent's method; with a start `x0`, Newton's, whose derivatives are filled in,
    as are those of "halley". `x` (and `root`, which is the same) can be differentiated by `args`.

    >>> import numpy as np, gradtape as gt
    >>> def kepler(E, M, e):
    ...     return E - e * np.sin(E) - M
    >>> anomaly = lambda M: gt.optimize.root_scalar(kepler, bracket=(0.0, 4.0), args=(M, 0.5)).x
    >>> round(float(gt.grad(anomaly)(np.pi)), 6)      # 1 / (1 - e cos E)
    0.666667
    """
    title = "gt.optimize.root_scalar"
    check_function(function, title)
    if x0 is None and bracket is None:
        raise solver_error(OperandError, f"{title}: neither x0 nor bracket was given.", "x0=1.0, or bracket=(a, b)")
    way = method or ("brentq" if bracket is not None else "newton" if x1 is None else "secant")
    packing, arguments = Packing(0.0 if x0 is None else x0, "x0"), SolverArguments(args, title)
    if packing.size != 1:
        raise solver_error(ShapeError, f"{title}: x0 has {packing.size} elements.", "one number; or gt.optimize.root")
    name = function_name(function)

    def core(start: Any, plain: tuple[Any, ...]) -> Any:
        def value(x: float) -> float:
            return plain_number(as_scalar(function(np.float64(x), *plain), name), title)

        _check_bracket(value, bracket, name, title)
        slopes: dict[str, Any] = {}
        if way in DERIVATIVES:
            slopes["fprime"] = lambda x: float(grad(function)(np.float64(x), *plain))
        if DERIVATIVES.get(way) == 2:
            slopes["fprime2"] = lambda x: float(grad(grad(function))(np.float64(x), *plain))
        limits = {"bracket": bracket, "x0": None if x0 is None else float(start[0]), "x1": x1}
        found = optimize.root_scalar(
            value, method=way, xtol=xtol, rtol=rtol, maxiter=maxiter, options=options, **limits, **slopes
        )
        return OptimizeResult(
            x=np.array([found.root]),
            success=found.converged,
            message=str(found.flag),
            nit=found.iterations,
            nfev=found.function_calls,
            method=way,
        )

    result, flat = arguments.solve(core, packing.start)
    number = Packing(0.0, "x")
    result["x"] = result["root"] = number.handed_out(arguments.moving(function, number, flat, solve))
    return result


def _check_bracket(value: Any, bracket: Any, name: str, title: str) -> None:
    if bracket is None:
        return
    if np.size(bracket) != 2:
        raise solver_error(OperandError, f"{title}: bracket has {np.size(bracket)} elements.", "bracket=(a, b)")
    ends = [value(float(x)) for x in bracket]
    if not ends[0] * ends[1] <= 0.0:
        raise solver_error(
            ShapeError,
            f"{title}: {name} is {ends[0]:.6g} at {float(bracket[0]):.6g} and {ends[1]:.6g} at "
            f"{float(bracket[1]):.6g}; it has to change its sign in the bracket.",
            "widen the bracket, or give x0= for Newton's method",
            WRONG_VALUE,
        )


def fixed_point(
    function: Function,
    x0: Any,
    args: Any = (),
    tol: float = 1e-10,
    maxiter: int = 500,
    progress: bool | None = None,
    solve: Any = "auto",
) -> OptimizeResult:
    """A solution of `x == function(x, *args)` by iterating, with Anderson's acceleration over the last few steps.

    `x` can be differentiated by `args`. It has arrived when no element would move by more than `tol` times its size
    (or by more than `tol` if it is smaller than 1).

    >>> import numpy as np, gradtape as gt
    >>> found = gt.optimize.fixed_point(lambda x, a: np.cos(a * x), 0.5, args=(1.0,))
    >>> round(float(found.x), 6), found.success
    (0.739085, True)
    """
    title = "gt.optimize.fixed_point"
    check_function(function, title)
    packing, arguments = Packing(x0, "x0"), SolverArguments(args, title)

    def core(start: Any, plain: tuple[Any, ...]) -> Any:
        step = VectorObjective(function, packing, plain, title, False)
        count = step(start).size
        if count != packing.size:
            raise solver_error(
                ShapeError,
                f"{title}: {step.name} returns {count} values for {packing.size} unknowns.",
                "return the structure of x0",
            )
        with SolverProgress("iterating", progress, maxiter) as shown:
            return _accelerated(step, start.astype(float), tol, maxiter, shown)

    def condition(x: Any, *args: Any) -> Any:
        return map_structure(lambda new, old: new - old, function(x, *args), x)

    result, flat = arguments.solve(core, packing.start)
    result["x"] = packing.handed_out(arguments.moving(condition, packing, flat, solve))
    return result


MEMORY = 5


def _accelerated(step: Function, x: Any, tol: float, maxiter: int, shown: SolverProgress) -> OptimizeResult:
    """Anderson's acceleration: the mix of the last steps whose residuals cancel best; a plain step where that fails."""
    points: list[Any] = []
    moves: list[Any] = []
    evaluations, largest = 0, np.inf
    for _ in range(maxiter):
        move = step(x) - x
        evaluations += 1
        if not np.isfinite(move).all():
            break
        largest = float((np.abs(move) / np.maximum(1.0, np.abs(x))).max())
        shown.step(largest)
        if largest <= tol:
            return OptimizeResult(x=x + move, success=True, message="arrived", nit=evaluations, nfev=evaluations)
        points, moves = [*points, x][-MEMORY - 1 :], [*moves, move][-MEMORY - 1 :]
        x = x + move
        if len(moves) > 1:
            changes = np.stack([move - earlier for earlier in moves[:-1]], axis=1)
            weights = np.linalg.lstsq(changes, move, rcond=1e-10)[0]
            ways = np.stack([points[-1] + move - (a + b) for a, b in zip(points[:-1], moves[:-1], strict=True)], axis=1)
            x = x - ways @ weights
    message = f"not arrived after {evaluations} steps: an element still moves by {largest:.1e} of its size"
    return OptimizeResult(x=x, success=False, message=message, nit=evaluations, nfev=evaluations)
