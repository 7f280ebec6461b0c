"""Fits: `least_squares` over nested structures, and `curve_fit` with covariances."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy import optimize

from gradtape.errors import DetachError, OperandError, ShapeError, UnsupportedError
from gradtape.extend import Lifted, Packing, ValuePacking, is_followed, solver_error
from gradtape.optimize.bounds import flat_bounds
from gradtape.optimize.constraints import is_sparse
from gradtape.optimize.objective import Function, VectorObjective, function_name
from gradtape.optimize.progress import SolverProgress
from gradtape.optimize.result import OptimizeResult
from gradtape.optimize.row_objective import RowResiduals, check_unfollowed, has_rows
from gradtape.optimize.sensitivity import differentiable_minimum
from gradtape.optimize.solving import SolverArguments, check_function
from gradtape.transforms.gradients import vjp

RHO: dict[str, Function] = {  # SciPy's losses of z, the square of a residual over its scale
    "linear": lambda z: z,
    "soft_l1": lambda z: 2.0 * (np.sqrt(1.0 + z) - 1.0),
    "huber": lambda z: np.where(z <= 1.0, z, 2.0 * np.sqrt(np.maximum(z, 1.0)) - 1.0),
    "cauchy": np.log1p,
    "arctan": np.arctan,
}
WEIGHTS: dict[str, Function] = {  # and their derivatives
    "linear": np.ones_like,
    "soft_l1": lambda z: 1.0 / np.sqrt(1.0 + z),
    "huber": lambda z: 1.0 / np.sqrt(np.maximum(z, 1.0)),
    "cauchy": lambda z: 1.0 / (1.0 + z),
    "arctan": lambda z: 1.0 / (1.0 + z**2),
}
LOSSES = tuple(RHO)


def least_squares(
    function: Function,
    x0: Any,
    method: str = "trf",
    bounds: Any = None,
    args: Any = (),
    loss: str = "linear",
    f_scale: float = 1.0,
    jac: str = "auto",
    tol: float = 1e-8,
    max_nfev: int | None = None,
    x_scale: Any = 1.0,
    progress: bool | None = None,
    jit: bool = False,
    solve: Any = "auto",
) -> OptimizeResult:
    """The x that makes half the sum of squares of `function(x, *args)` smallest, by `scipy.optimize.least_squares`.

    x and the residuals are nested structures of arrays. The Jacobian is exact: `jac="dense"`, `jac="sparse"` (by
    `gt.sparse_jacobian`, whose pattern is found once), or "auto", which takes the sparse one where it is large and
    mostly zeros. `bounds` as in `minimize`, but two rows are always the lower and the upper ones; `loss` is one of
    SciPy's robust losses, scaled by `f_scale`.

    `x` and `cost` can be differentiated by `args`; unknowns at a bound stay there.

    With Dask arrays among `args`, residuals have a row for each of their rows, and J^T J is put together chunk by
    chunk, on threads or on the workers of the current client. The result has no `fun` then, and its `jac` has as many
    rows as there are unknowns, and one: jac.T @ jac is J^T J.

    >>> import numpy as np, gradtape as gt
    >>> t = np.linspace(0.0, 1.0, 5)
    >>> def residuals(p):
    ...     return p["scale"] * np.exp(-p["rate"] * t) - 3.0 * np.exp(-2.0 * t)
    >>> found = gt.optimize.least_squares(residuals, {"scale": 1.0, "rate": 1.0})
    >>> round(float(found.x["scale"]), 6), round(float(found.x["rate"]), 6)
    (3.0, 2.0)
    """
    title = "gt.optimize.least_squares"
    check_function(function, title)
    if jac not in ("auto", "dense", "sparse"):
        raise solver_error(OperandError, f"{title}: jac={jac!r}.", '"auto", "dense" or "sparse"')
    if not callable(loss) and loss not in LOSSES:
        raise solver_error(OperandError, f"{title}: loss={loss!r}.", f"one of {', '.join(LOSSES)}")
    packing, arguments = Packing(x0, "x0"), SolverArguments(args, title)
    limits = flat_bounds(bounds, packing, title, sides_first=True)
    if arguments.are_followed and callable(loss):
        raise solver_error(
            UnsupportedError,
            f"{title}: with a function for loss= the solution is not differentiated by args.",
            f"one of {', '.join(LOSSES)}; or write the loss out and use gt.optimize.minimize",
        )

    over_rows = has_rows(arguments.given)
    if over_rows:
        check_unfollowed(arguments, title)
        _check_over_rows(loss, jac, title)

    def core(start: Any, plain: tuple[Any, ...]) -> Any:
        residuals: Any
        if over_rows:
            residuals, sparse = RowResiduals(function, packing, plain, title), False
        else:
            residuals = VectorObjective(function, packing, plain, title, jit)
            count = residuals(start).size
            sparse = jac == "sparse" or (jac == "auto" and method != "lm" and is_sparse(residuals, count, packing))
        between = {} if limits is None else {"bounds": limits}
        with SolverProgress("fitting", progress) as shown:

            def jacobian(flat: Any) -> Any:
                shown.step(None)
                return (residuals.sparse_jacobian if sparse else residuals.jacobian)(flat)

            found = optimize.least_squares(
                residuals,
                start.astype(float),
                jac=jacobian,
                method=method,
                ftol=tol,
                xtol=tol,
                gtol=tol,
                loss=loss,
                f_scale=f_scale,
                x_scale=x_scale,
                max_nfev=max_nfev,
                **between,
            )
        found["method"] = method
        return found

    result, flat = arguments.solve(core, packing.start)
    if over_rows:
        del result["fun"]
        result["x"] = packing.handed_out(flat)
        return result
    values = ValuePacking(function_name(function))

    def slope(x: Any, *given: Any) -> Any:
        found, pull_back = vjp(lambda z: values.pack(function(packing.unpack(z), *given)), packing.pack(x))
        return pull_back(found * WEIGHTS[loss]((found / f_scale) ** 2))[0]

    result["x"] = packing.handed_out(differentiable_minimum(slope, packing, arguments, flat, limits, solve))
    if arguments.are_followed or (isinstance(flat, Lifted) and loss in RHO):
        result["fun"] = found = values.pack(function(result["x"], *arguments.given))
        result["cost"] = 0.5 * f_scale**2 * np.sum(RHO[loss]((found / f_scale) ** 2))
    return result


def _check_over_rows(loss: Any, jac: str, title: str) -> None:
    for name, value, accepted in (("loss", loss, ("linear",)), ("jac", jac, ("auto", "dense"))):
        if value not in accepted:
            raise solver_error(
                UnsupportedError,
                f"{title}: {name}={value!r} with Dask arrays among args.",
                f"{name}={accepted[0]!r}; or gt.optimize.minimize of the sum over rows, with any loss",
            )


class CurveFit(OptimizeResult):
    """A fitted curve: `parameters, covariance = fit`, or `fit.x`, `fit.covariance`, `fit.errors`.

    >>> import numpy as np, gradtape as gt
    >>> fit = gt.optimize.curve_fit(lambda x, a, b: a * x + b, np.arange(4.0), np.array([1.0, 3.1, 4.9, 7.0]))
    >>> parameters, covariance = fit
    >>> parameters.round(2), covariance.shape, fit.errors.shape
    (array([1.98, 1.03]), (2, 2), (2,))
    """

    def __iter__(self) -> Any:
        return iter((self["x"], self["covariance"]))

    def __getitem__(self, key: Any) -> Any:
        return tuple(self)[key] if isinstance(key, int | slice) else super().__getitem__(key)


def curve_fit(
    function: Function,
    x: Any,
    y: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    bounds: Any = None,
    method: str | None = None,
    jit: bool = False,
    **options: Any,
) -> CurveFit:
    """The parameters with which `function(x, *parameters)` comes closest to `y`, by `scipy.optimize.curve_fit`.

    `p0` is a vector or a list of numbers (then they are passed one by one, as SciPy does) or a dictionary of numbers
    and arrays (then they are passed by name); without it, every parameter of the signature starts at 1. The Jacobian is
    exact. The result unpacks into the parameters, in the structure of `p0`, and their covariance, by elements; its
    `errors` are the standard deviations in the structure of `p0`.

    >>> import numpy as np, gradtape as gt
    >>> x = np.linspace(0.0, 2.0, 9)
    >>> parameters, covariance = gt.optimize.curve_fit(
    ...     lambda x, scale, rate: scale * np.exp(-rate * x), x, 3.0 * np.exp(-2.0 * x), p0={"scale": 1.0, "rate": 1.0})
    >>> round(float(parameters["scale"]), 6), round(float(parameters["rate"]), 6)
    (3.0, 2.0)
    """
    title = "gt.optimize.curve_fit"
    check_function(function, title)
    packing = Packing(_starts(function, title) if p0 is None else p0, "p0")
    limits = flat_bounds(bounds, packing, title, sides_first=True)
    by_name = isinstance(packing.tree, dict)
    if not by_name and (not packing.single or len(packing.shapes[0]) > 1):
        raise solver_error(
            OperandError, f"{title}: p0 is a {type(p0).__name__}.", "a vector or list of numbers, or a dictionary"
        )
    for given, which in ((x, "x"), (y, "y"), (sigma, "sigma")):
        if is_followed(given):
            raise solver_error(
                DetachError,
                f"{title}: {which} is tracked, and the fit is not differentiated by its data.",
                "gt.optimize.least_squares(residuals, p0, args=(x, y)), which is; or x.numpy()",
            )
    data = np.asarray(y, dtype=float).reshape(-1)
    x = np.asarray(x, dtype=float) if isinstance(x, list | tuple) else x

    def curve(parameters: Any) -> Any:
        return function(x, **parameters) if by_name else function(x, *parameters)

    curve.__name__ = function_name(function)
    flat = VectorObjective(curve, packing, (), title, jit)
    count = flat(packing.sample).size
    if count != data.size:
        raise solver_error(
            ShapeError,
            f"{title}: {flat.name} returns {count} values for {data.size} in y.",
            "one value of the curve for each element of y",
        )
    found, covariance, more, message, _ = optimize.curve_fit(
        lambda _, *p: flat(np.array(p)),
        np.arange(data.size),
        data,
        packing.sample.astype(float),
        sigma,
        absolute_sigma,
        bounds=(-np.inf, np.inf) if limits is None else limits,
        method=method,
        jac=lambda _, *p: flat.jacobian(np.array(p)),
        full_output=True,
        **options,
    )
    deviations = np.sqrt(np.diag(covariance))
    return CurveFit(
        x=packing.handed_out(found),
        covariance=covariance,
        errors=packing.handed_out(deviations.astype(packing.dtype)),
        fun=more["fvec"],
        cost=0.5 * float(np.sum(more["fvec"] ** 2)),
        nfev=more["nfev"],
        success=True,
        message=message,
    )


def _starts(function: Function, title: str) -> Any:
    """Ones, as many as the function has parameters besides the first."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[1:]
    except (TypeError, ValueError):
        parameters = []
    kinds = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    if not parameters or any(parameter.kind in kinds for parameter in parameters):
        raise solver_error(
            OperandError,
            f"{title}: how many parameters {function_name(function)} has cannot be told from its signature.",
            "give p0",
        )
    return np.ones(len(parameters))
