"""Minima: `minimize` over nested structures, and `minimize_scalar`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import optimize

from gradtape.errors import OperandError
from gradtape.extend import Lifted, Packing, solver_error
from gradtape.optimize.bounds import flat_bounds
from gradtape.optimize.constraints import Constraint, read_constraints
from gradtape.optimize.objective import Function, Objective
from gradtape.optimize.progress import SolverProgress
from gradtape.optimize.result import OptimizeResult
from gradtape.optimize.row_objective import RowObjective, check_unfollowed, has_rows
from gradtape.optimize.sensitivity import differentiable_minimum
from gradtape.optimize.solving import SolverArguments, check_function
from gradtape.transforms.gradients import grad

VALUES = ("Nelder-Mead", "Powell", "COBYLA", "COBYQA")
GRADIENTS = ("CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP")
PRODUCTS = ("Newton-CG", "trust-ncg", "trust-krylov", "trust-constr")
MATRICES = ("dogleg", "trust-exact")
CONSTRAINED = ("SLSQP", "trust-constr", "COBYLA", "COBYQA")
BOUNDED = ("L-BFGS-B", "TNC", *CONSTRAINED, "Nelder-Mead", "Powell")
METHODS = {name.lower(): name for name in (*VALUES, *GRADIENTS, *PRODUCTS, *MATRICES)}
MANY = 500
"""Unknowns from which the default method keeps no matrix."""


def minimize(
    function: Function,
    x0: Any,
    method: str | None = None,
    bounds: Any = None,
    constraints: Any = (),
    args: Any = (),
    tol: float | None = None,
    options: dict[str, Any] | None = None,
    callback: Function | None = None,
    progress: bool | None = None,
    jit: bool = False,
    hess: str | None = None,
    solve: Any = "auto",
) -> OptimizeResult:
    """The minimum of `function(x, *args)` over x, a nested structure of arrays, by `scipy.optimize.minimize`.

    The method gets the derivatives that it can use: gradients, products with the Hessian (Newton-CG, trust-ncg,
    trust-krylov, trust-constr) or the Hessian (dogleg, trust-exact); `hess="dense"` or "sparse" gives methods with a
    choice the matrix. Without a method: SLSQP with constraints, L-BFGS-B with bounds or many unknowns, else BFGS.

    - `bounds`: `(lower, upper)`, each a number or a structure like x0; a structure like x0 of pairs; SciPy's forms.
    - `constraints`: SciPy's forms, whose functions take x in its structure and need no derivatives.
    - `callback(x)`, or `callback(intermediate_result)`, is called after each iteration; StopIteration ends it.
    - `progress`: None shows a line on a terminal (tqdm if it is installed), True always, False never.
    - `jit=True` compiles the value and its gradient.

    `x` and `fun` of the result can be differentiated by `args`, by the implicit function theorem (see `gt.implicit`;
    `solve` is for its linear systems): unknowns at a bound stay there, and constraints that hold with
    equality go on to do so. A constraint in SciPy's dictionary form has "args" of its own, which move it.

    With Dask arrays among `args`, the function is a sum or a mean over their rows, and is computed chunk by chunk, on
    threads or on the workers of the current client: see `gt.distributed.value_and_grad`. Chunks are compiled then.

    >>> import numpy as np, gradtape as gt
    >>> def loss(p, y):
    ...     return np.sum((p["scale"] * np.arange(3.0) + p["shift"] - y) ** 2)
    >>> found = gt.optimize.minimize(loss, {"scale": 0.0, "shift": 0.0}, args=(np.array([1.0, 3.0, 5.0]),))
    >>> round(float(found.x["scale"]), 5), round(float(found.x["shift"]), 5)
    (2.0, 1.0)
    """
    title = "gt.optimize.minimize"
    check_function(function, title)
    if options is not None and not isinstance(options, dict):
        raise solver_error(OperandError, f"{title}: options is a {type(options).__name__}.", 'a dict: {"maxiter": 100}')
    packing = Packing(x0, "x0")
    limits, conditions = flat_bounds(bounds, packing, title), read_constraints(constraints, packing, title)
    way = _method(method, packing, limits is not None, bool(conditions), title)
    arguments = SolverArguments(
        (args if isinstance(args, tuple) else (args,), [each.args for each in conditions]), title
    )

    over_rows = has_rows(arguments.given[0])
    if over_rows:
        check_unfollowed(arguments, title)

    def core(start: Any, plain: tuple[Any, ...]) -> Any:
        objective = Objective(function, packing, plain[0], title, jit)
        if over_rows:
            objective = RowObjective(function, packing, plain[0], title)
        between = [each.for_scipy(packing, title, way, more) for each, more in zip(conditions, plain[1], strict=True)]
        with SolverProgress("minimising", progress, (options or {}).get("maxiter")) as shown:
            found = optimize.minimize(
                objective.value if way in VALUES else objective.value_and_gradient,
                start.astype(float),
                method=way,
                bounds=None if limits is None else optimize.Bounds(*limits),
                constraints=between,
                tol=tol,
                options=options,
                callback=_callback(callback, packing, shown),
                **_derivatives(way, hess, objective, title),
            )
        found["method"] = way
        return found

    result, flat = arguments.solve(core, packing.start)
    return _with_derivatives(result, flat, function, packing, arguments, limits, solve, conditions)


def _method(method: Any, packing: Packing, bounded: bool, constrained: bool, title: str) -> str:
    if method is None:
        if constrained:
            return "SLSQP"
        return "L-BFGS-B" if bounded or packing.size > MANY else "BFGS"
    known = METHODS.get(method.lower()) if isinstance(method, str) else None
    if known is None:
        raise solver_error(OperandError, f"{title}: method={method!r}.", f"one of {', '.join(METHODS.values())}")
    for wanted, what, able in ((bounded, "bounds", BOUNDED), (constrained, "constraints", CONSTRAINED)):
        if wanted and known not in able:  # SciPy warns and goes on without them
            raise solver_error(
                OperandError, f"{title}: method={method!r} takes no {what}.", f"one that does: {', '.join(able)}"
            )
    return known


def _derivatives(method: str, hess: str | None, objective: Objective, title: str) -> dict[str, Any]:
    if hess not in (None, "dense", "sparse", "products"):
        raise solver_error(OperandError, f"{title}: hess={hess!r}.", 'None, "dense", "sparse" or "products"')
    if method in VALUES:
        return {}
    if method in MATRICES:
        return {"jac": True, "hess": objective.hessian}
    if method not in PRODUCTS:
        return {"jac": True}
    if hess == "dense":
        return {"jac": True, "hess": objective.hessian}
    if hess == "sparse":
        return {"jac": True, "hess": objective.sparse_hessian()}
    return {"jac": True, "hessp": objective.hessian_product}


def _callback(callback: Function | None, packing: Packing, shown: SolverProgress) -> Function:
    wants_result = False
    if callback is not None:
        try:
            wants_result = list(inspect.signature(callback).parameters) == ["intermediate_result"]
        except (TypeError, ValueError):
            wants_result = False

    def after(intermediate_result: Any) -> None:
        if isinstance(intermediate_result, np.ndarray):  # what some of SciPy's methods pass
            intermediate_result = OptimizeResult(x=intermediate_result)
        gradient = intermediate_result.get("jac")
        largest = None if gradient is None or isinstance(gradient, list) else float(np.abs(gradient).max())
        value = intermediate_result.get("fun")
        shown.step(None if value is None else float(value), largest)
        if callback is not None:
            x = packing.handed_out(np.array(intermediate_result["x"]))
            if wants_result:
                callback(intermediate_result=OptimizeResult({**intermediate_result, "x": x}))
            else:
                callback(x)

    return after


def _with_derivatives(
    result: OptimizeResult,
    flat: Any,
    function: Function,
    packing: Packing,
    arguments: SolverArguments,
    limits: Any,
    solve: Any,
    constraints: Sequence[Constraint] = (),
) -> OptimizeResult:
    """The result in the structure of the unknowns; x and the value move with the arguments if anyone follows them."""
    gradient = grad(function)

    def slope(x: Any, args: tuple[Any, ...], extras: list[Any]) -> Any:
        return packing.pack(gradient(x, *args))

    moving = differentiable_minimum(slope, packing, arguments, flat, limits, solve, constraints)
    result["x"] = packing.handed_out(moving)
    if arguments.are_followed or isinstance(flat, Lifted):
        result["fun"] = function(result["x"], *arguments.given[0])
    for key in ("jac", "grad"):
        if isinstance(result.get(key), np.ndarray) and result[key].shape == (packing.size,):
            result[key] = packing.handed_out(result[key])
    return result


def minimize_scalar(
    function: Function,
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    method: str | None = None,
    tol: float | None = None,
    options: dict[str, Any] | None = None,
    solve: Any = "auto",
) -> OptimizeResult:
    """The minimum of a function of one number, by `scipy.optimize.minimize_scalar`, which wants no derivatives.

    `x` and `fun` can be differentiated by `args`; a minimum at one of the `bounds` stays there.

    >>> import numpy as np, gradtape as gt
    >>> def lowest(a):
    ...     return gt.optimize.minimize_scalar(lambda x, a: np.exp(x) - a * x, args=(a,)).x
    >>> round(float(gt.grad(lowest)(2.0)), 6)      # x = log(a)
    0.5
    """
    title = "gt.optimize.minimize_scalar"
    check_function(function, title)
    arguments = SolverArguments((args if isinstance(args, tuple) else (args,), []), title)
    packing = Packing(0.0, "x")

    def core(start: Any, plain: tuple[Any, ...]) -> Any:
        objective = Objective(function, packing, plain[0], title, False)
        found = optimize.minimize_scalar(
            lambda x: objective.value(np.array(x)), bracket, bounds, method=method, tol=tol, options=options
        )
        found["x"] = np.array([found["x"]], dtype=float)
        return found

    result, flat = arguments.solve(core, packing.start)
    limits = None
    if bounds is not None:
        low, high = (float(x) for x in bounds)
        slack = 1e-5 * (high - low)  # the method "bounded" does not evaluate at the bounds themselves
        limits = np.array([low + slack]), np.array([high - slack])
    return _with_derivatives(result, flat, function, packing, arguments, limits, solve)
