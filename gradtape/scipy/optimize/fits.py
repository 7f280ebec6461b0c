"""Fits: least squares with SciPy's solvers, and parameters that move with the data and with what the model reads."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.errors import OperandError, UnsupportedError
from gradtape.extend import Tensor, as_value, off_tape, solver_error
from gradtape.ops import arctan, log1p, sqrt
from gradtape.ops import where as where_op
from gradtape.scipy.callbacks import Run, as_tuple, stacked, vector, with_value
from gradtape.scipy.optimize.minima import Limits, moving_minimum
from gradtape.scipy.optimize.roots import original, unknowns
from gradtape.transforms.jacobians import jacobian

LOSSES: dict[str, Callable[[Any], Any]] = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2.0 * (sqrt(1.0 + z) - 1.0),
    "huber": lambda z: where_op(z <= 1.0, z, 2.0 * sqrt(where_op(z <= 1.0, 1.0, z)) - 1.0),
    "cauchy": log1p,
    "arctan": arctan,
}


def fitted(run: Run, residuals: Any, start: Any, limits: Limits | None, loss: Any = "linear", scale: Any = 1.0) -> Any:
    """The parameters `start` with the least sum of a loss of the squared residuals, which move with what these read."""
    if loss not in LOSSES:
        raise solver_error(
            UnsupportedError, f"{run.title}: a loss= of one's own is not differentiated.", f"one of {', '.join(LOSSES)}"
        )
    rho = LOSSES[loss]

    def cost(z: Any) -> Any:
        found = residuals(z)
        return 0.5 * (scale * scale * rho((found / scale) ** 2)).sum()

    return moving_minimum(run, cost, start, limits)


@original.differentiated_with_callbacks
def least_squares(
    fun: Any,
    x0: Any,
    jac: Any = "2-point",
    bounds: Any = (-np.inf, np.inf),
    method: str = "trf",
    ftol: Any = 1e-8,
    xtol: Any = 1e-8,
    gtol: Any = 1e-8,
    x_scale: Any = None,
    loss: Any = "linear",
    f_scale: Any = 1.0,
    diff_step: Any = None,
    tr_solver: Any = None,
    tr_options: Any = None,
    jac_sparsity: Any = None,
    max_nfev: Any = None,
    verbose: int = 0,
    args: Any = (),
    kwargs: Any = None,
    **more: Any,
) -> Any:
    """The x with the least sum of squares of `fun(x, *args, **kwargs)`; it moves with what fun reads, and the bounds.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.optimize import least_squares
    >>> t = np.linspace(0.0, 1.0, 5)
    >>> rate = lambda data: least_squares(lambda p: np.exp(-p[0] * t) - data, [1.0]).x[0]
    >>> gt.grad(rate)(np.exp(-2.0 * t)).shape
    (5,)
    """
    arguments, named = as_tuple(args), kwargs or {}
    x0 = stacked(x0)
    run = Run("scipy.optimize.least_squares", x0, arguments, list(named.values()), f_scale, traces=True)
    plain = run.function(lambda x: fun(x, *arguments, **named))

    def call(x: Any) -> Any:
        return vector(fun(x, *arguments, **named))

    is_object = hasattr(bounds, "lb")
    low, high = (bounds.lb, bounds.ub) if is_object else bounds
    run.note_all((low, high))
    scaling = {"x_scale": 1.0 if x_scale is None else x_scale}
    slope = run.function(lambda x, *_, **__: jac(x, *arguments, **named)) if callable(jac) else jac

    def compute() -> Any:
        return original.contents.least_squares(
            plain,
            unknowns(run, x0),
            slope,
            bounds if is_object and not run.is_followed else (run.numbers(low), run.numbers(high)),
            method,
            ftol,
            xtol,
            gtol,
            loss=loss,
            f_scale=run.numbers(f_scale),
            diff_step=diff_step,
            tr_solver=tr_solver,
            tr_options={} if tr_options is None else tr_options,
            jac_sparsity=jac_sparsity,
            max_nfev=max_nfev,
            verbose=verbose,
            **scaling,
            **more,
        )

    found = run.solve(compute)
    if not run.is_followed:
        return found
    at = run.gathered(found, lambda each: np.asarray(each.x, float))
    sides: list[Any] = [as_value(stacked(side)) for side in (low, high)]
    unbounded = (
        not any(isinstance(side, Tensor) for side in sides)
        and not np.isfinite(np.concatenate([np.ravel(side) for side in sides])).any()
    )
    limits = None if unbounded else Limits.of_sides(sides[0], sides[1], at.shape[0])
    moved = fitted(run, call, at, limits, loss, stacked(f_scale))
    result = found[0] if run.levels else run.fields(found)
    if run.levels:
        result.success = run.gathered(found, lambda each: np.asarray(each.success))
    result.x, result.fun = moved, call(moved)
    scale = stacked(f_scale)
    result.cost = 0.5 * (scale * scale * LOSSES[loss]((result.fun / scale) ** 2)).sum()
    return result


@original.differentiated_with_callbacks
def leastsq(
    func: Any, x0: Any, args: Any = (), Dfun: Any = None, full_output: Any = False, *rest: Any, **options: Any
) -> Any:
    """The x with the least sum of squares of `func(x, *args)`, by MINPACK; see `least_squares`."""
    arguments = as_tuple(args)
    run = Run("scipy.optimize.leastsq", x0, arguments)
    call = run.function(lambda x: func(x, *arguments))
    slope = run.function(lambda x: Dfun(x, *arguments)) if callable(Dfun) else Dfun
    found = run.solve(
        lambda: original.contents.leastsq(call, unknowns(run, x0), (), slope, full_output, *rest, **options)
    )
    if not run.is_followed:
        return found
    at = run.gathered(found, lambda each: np.atleast_1d(np.asarray(each[0], float)))
    moved = fitted(run, lambda z: vector(func(z, *arguments)), at, None)
    return (moved, *(found[0] if run.levels else found)[1:])


@original.differentiated_with_callbacks
def curve_fit(
    f: Any,
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    check_finite: Any = None,
    bounds: Any = (-np.inf, np.inf),
    method: Any = None,
    jac: Any = None,
    *,
    full_output: bool = False,
    nan_policy: Any = None,
    **kwargs: Any,
) -> Any:
    """The parameters with which `f(xdata, *parameters)` is nearest to ydata, and their covariance.

    Both can be differentiated by xdata, ydata, sigma and by whatever f reads.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.optimize import curve_fit
    >>> x = np.linspace(0.0, 1.0, 5)
    >>> line = lambda y: curve_fit(lambda x, a, b: a * x + b, x, y)[0]
    >>> gt.jacobian(line)(1.0 + x).round(4) + 0.0
    array([[-0.8, -0.4,  0. ,  0.4,  0.8],
           [ 0.6,  0.4,  0.2,  0. , -0.2]])
    """
    x, y, p0 = stacked(xdata), stacked(ydata), stacked(p0)
    weights = None if sigma is None else stacked(sigma)
    run = Run("scipy.optimize.curve_fit", x, y, p0, weights, traces=not full_output)
    single = run.function(f)

    @functools.wraps(f)
    def plain(points: Any, *parameters: Any) -> Any:
        return single(points, *parameters)

    slope = run.function(jac) if callable(jac) else jac
    options = {} if nan_policy is None else {"nan_policy": nan_policy}

    def compute() -> Any:
        return original.contents.curve_fit(
            plain,
            run.numbers(x),
            run.numbers(y),
            None if p0 is None else unknowns(run, p0),
            None if weights is None else run.numbers(weights),
            absolute_sigma,
            check_finite,
            bounds,
            method,
            slope,
            full_output=full_output,
            **options,
            **kwargs,
        )

    found = run.solve(compute)
    if not run.is_followed:
        return found
    if nan_policy == "omit" or kwargs.get("loss", "linear") != "linear":
        raise solver_error(
            UnsupportedError,
            "scipy.optimize.curve_fit: nan_policy='omit' and loss= are not differentiated.",
            "data without NaN; least_squares, which is differentiated for every loss",
        )

    def residuals(p: Any) -> Any:
        off = vector(f(x, *[p[index] for index in range(p.shape[0])])) - vector(y)
        if weights is None:
            return off
        spread = as_value(weights)
        if len(spread.shape) == 2:
            return np.linalg.solve(np.linalg.cholesky(spread), off)
        return off / spread

    at = run.gathered(found, lambda each: np.asarray(each[0], float))
    low, high = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    bounded = np.isfinite(np.concatenate([np.ravel(off_tape(low)), np.ravel(off_tape(high))])).any()
    moved = fitted(run, residuals, at, Limits.of_sides(low, high, at.shape[0]) if bounded else None)
    rest = () if run.levels else found[2:]
    known = run.gathered(found, lambda each: np.asarray(each[1]))
    return (moved, with_value(_covariance(residuals, moved, absolute_sigma), known), *rest)


def _covariance(residuals: Any, parameters: Any, is_absolute: bool) -> Any:
    """The covariance of fitted parameters: the inverse of J^T J, times the variance of the residuals."""
    matrix = jacobian(residuals)(parameters)
    covariance = np.linalg.inv(matrix.T @ matrix)
    if is_absolute:
        return covariance
    off = residuals(parameters)
    freedom = off.size - parameters.size
    if freedom <= 0:
        raise solver_error(
            OperandError,
            "scipy.optimize.curve_fit: there are no more values than parameters, so their covariance is infinite.",
            "absolute_sigma=True, or more values",
        )
    return covariance * ((off * off).sum() / freedom)
