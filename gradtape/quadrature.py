"""Integrals that can be differentiated by their limits and by the arguments of the integrand.

`quad` is adaptive: the value is `scipy.integrate.quad`'s, and the derivatives follow Leibniz' rule,

    d/dp of the integral of f(x, p) from a to b  =  f(b, p) db/dp - f(a, p) da/dp + the integral of df/dp,

whose last term is again an adaptive integral. `fixed` is a Gauss-Legendre sum, vectorised, and differentiated through.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradtape.errors import DtypeError, NumericsError, OperandError, RuleError, ShapeError
from gradtape.extend import (
    Packing,
    Tensor,
    call_outside,
    closed_over_error,
    concrete,
    is_array,
    is_followed,
    is_library,
    is_recorded,
    numbers_if_known,
    off_tape,
    one_axis,
    solver_error,
    split_arrays,
)
from gradtape.ops import trapezoid
from gradtape.transforms.custom import custom_vjp
from gradtape.transforms.gradients import vjp

__all__ = ["fixed", "quad", "simpson", "trapezoid"]

Function = Callable[..., Any]


class Integral(NamedTuple):
    """What `quad` returns, like SciPy: the value, which can be differentiated, and an estimate of its error."""

    value: Any
    error: Any


def quad(
    function: Function,
    a: Any,
    b: Any,
    args: Any = (),
    *,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
) -> Integral:
    """The integral of `function(x, *args)` over x from a to b, and an estimate of its error, as SciPy's `quad`.

    The function takes one number x and returns one number. Limits may be infinite. The value can be differentiated by
    `a`, `b` and `args` (arrays in any nesting), in both modes, of any order, and in batches; for derivatives by `args`
    the integrand's derivative has to be integrable too. `epsabs`, `epsrel`, `limit` and `points` (places within the
    limits where the integrand is not smooth) are SciPy's.

    >>> import numpy as np, gradtape as gt
    >>> value, error = gt.quad(lambda x, k: np.exp(-k * x), 0.0, np.inf, args=(2.0,))
    >>> round(float(value), 8)
    0.5
    >>> gradient = gt.grad(lambda k: gt.quad(lambda x, k: np.exp(-k * x), 0.0, np.inf, args=(k,)).value)(2.0)
    >>> round(float(gradient), 6)                # -1 / k ** 2
    -0.25
    """
    title = "gt.quad"
    if not callable(function):
        raise solver_error(
            OperandError, f"{title}: a function is wanted; got a {type(function).__name__}.", "gt.quad(f, a, b)"
        )
    limits = [_limit(value, name) for value, name in ((a, "a"), (b, "b"))]
    arrays, template = split_arrays(args if isinstance(args, tuple) else (args,), is_array)
    template.were_tensors = [False] * len(arrays)
    options = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit, "points": points}
    errors: list[Any] = []

    def integrand(x: Any, *arrays: Any) -> Any:
        value = function(x, *template.fill(arrays))
        value = value if isinstance(value, Tensor) else np.asarray(value)
        if value.size != 1 or value.dtype.kind not in "fiub":
            raise solver_error(
                ShapeError if value.size != 1 else DtypeError,
                f"{title}: the integrand returned shape {value.shape} and dtype {value.dtype}; one real number is "
                f"wanted.",
                "one quad for each element; or gt.quadrature.fixed, which takes many points at once",
            )
        return value.reshape((1,))

    value = _integral(integrand, limits[0], limits[1], arrays, options, errors)
    return Integral(value[0], errors[0])


def _limit(value: Any, name: str) -> Any:
    given = value if isinstance(value, Tensor) else np.asarray(value)
    if given.shape != () or given.dtype.kind not in "fiu":
        raise solver_error(
            ShapeError,
            f"gt.quad: {name} has shape {given.shape} and dtype {given.dtype}; one real number is wanted.",
            f"gt.vmap over {name} for several integrals",
        )
    return given if given.dtype.kind == "f" else given.astype(float)


def _integral(
    integrand: Function, a: Any, b: Any, arrays: list[Any], options: dict[str, Any], errors: list[Any] | None = None
) -> Any:
    """The integral of a function of a number and of arrays that returns a vector, with Leibniz' rule."""

    def numbers(a: Any, b: Any, arrays: list[Any]) -> Any:
        compute = functools.partial(_numbers, integrand, options)
        value, error = call_outside("quad", compute, [a, b, *arrays])
        if errors is not None:
            errors.append(error)
        return value

    integral = custom_vjp(numbers)
    ends_move = [is_followed(a), is_followed(b)]

    first = _value_between(integrand, a, b, arrays)

    def forwards(a: Any, b: Any, arrays: list[Any]) -> Any:
        recorded = any(is_recorded(x) for x in (a, b, *arrays) if isinstance(x, Tensor))
        return (integral if recorded else numbers)(a, b, arrays), (a, b, arrays)

    def backwards(residuals: Any, cotangent: Any) -> Any:
        a, b, arrays = residuals
        if first is not None and not np.array_equal(first, _value_between(integrand, a, b, arrays), equal_nan=True):
            raise _changed()
        at_ends = [
            sign * np.sum(cotangent * _at_limit(integrand, end, arrays)).astype(end.dtype) if moves else None
            for sign, end, moves in zip((-1.0, 1.0), (a, b), ends_move, strict=True)
        ]
        smooth = [index for index, x in enumerate(arrays) if x.dtype.kind == "f"]
        found: dict[int, Any] = {}
        if smooth:
            packing = Packing([np.zeros(arrays[index].shape, arrays[index].dtype) for index in smooth], "args")

            def slope(x: Any, cotangent: Any, *arrays: Any) -> Any:
                def moving(*some: Any) -> Any:
                    given = dict(zip(smooth, some, strict=True))
                    return integrand(x, *[given.get(index, each) for index, each in enumerate(arrays)])

                pulled = vjp(moving, *[arrays[index] for index in smooth])[1](cotangent)
                return packing.pack(list(pulled))

            total = _integral(slope, a, b, [cotangent, *arrays], options)
            found = dict(zip(smooth, packing.unpack(total), strict=True))
        return *at_ends, [found.get(index) for index in range(len(arrays))]

    integral.defvjp(forwards, backwards)
    return integral(a, b, arrays)


def _value_between(integrand: Function, a: Any, b: Any, arrays: list[Any]) -> Any:
    """The numbers of the integrand at a point between the limits; None in a batch and while compiling."""
    given = [off_tape(x) for x in (a, b, *arrays)]
    if any(isinstance(x, Tensor) for x in given):
        return None
    value = integrand(np.float64(point_between(float(given[0]), float(given[1]))), *given[2:])
    return numbers_if_known(off_tape(value))


def _changed() -> Exception:
    """The error for an integrand that is another one when its derivative is computed."""
    return solver_error(
        RuleError,
        "gt.quad: the integrand was called again for the derivative, and returned another value than before: a list, "
        "an array or an attribute that it reads has changed since.",
        "pass what changes by args=, or a copy of it",
    )


def _at_limit(integrand: Function, end: Any, arrays: list[Any]) -> Any:
    """The integrand at a limit; zero at an infinite one, which does not move."""
    numbers = numbers_if_known(end)
    if numbers is not None and np.isfinite(numbers).all():
        return integrand(end, *arrays)
    infinite = np.isinf(off_tape(end))
    return np.where(infinite, 0.0, integrand(np.where(infinite, 0.0, end), *arrays))


def _numbers(integrand: Function, options: dict[str, Any], a: Any, b: Any, *arrays: Any) -> list[Any]:
    """The integral of plain arrays, and an estimate of its error."""

    def plain(x: float) -> Any:
        value = integrand(np.float64(x), *arrays)
        if isinstance(value, Tensor):
            if is_recorded(value):
                raise closed_over_error("gt.quad")
            value = concrete(value)
        return value

    low, high = float(a), float(b)
    dtype = np.result_type(a, b, *[x for x in arrays if x.dtype.kind == "f"])
    value, error = adaptive_integral("gt.quad", plain, low, high, plain(point_between(low, high)).size, options)
    return [value.astype(dtype), np.float64(error)]


def point_between(low: float, high: float) -> float:
    """A finite point between two limits."""
    return float(np.clip(0.5 * (max(low, -1e3) + min(high, 1e3)), min(low, high), max(low, high)))


def adaptive_integral(
    title: str, function: Function, low: float, high: float, size: int, options: dict[str, Any]
) -> tuple[Any, Any]:
    """The integral of a function that returns a vector, and its error: QUADPACK's for one number, else `quad_vec`'s.

    With `is_vector` among the options it is that of `quad_vec` for one number, too.
    """
    from scipy import integrate

    if np.isnan(low) or np.isnan(high):
        raise solver_error(NumericsError, f"{title}: the limits are {low} and {high}.", "numbers, or np.inf")
    if size == 1 and not options.get("is_vector"):
        value, error, *rest = integrate.quad(
            lambda x: float(function(x)[0]), low, high, full_output=1, **_finite(title, options, low, high)
        )
        if len(rest) > 1:
            _warn(title, str(rest[1]))
        return np.array([value]), error
    vector = {"epsabs": options["epsabs"], "epsrel": options["epsrel"], "limit": 200 * options["limit"]}
    if options["points"] is not None:
        vector["points"] = options["points"]
    values, error, info = integrate.quad_vec(lambda x: function(x).astype(float), low, high, full_output=True, **vector)
    if not info.success:
        _warn(title, str(info.message))
    return values, error


def _finite(title: str, options: dict[str, Any], low: float, high: float) -> dict[str, Any]:
    """QUADPACK takes `points` for finite limits only."""
    if options["points"] is None or (np.isfinite(low) and np.isfinite(high)):
        return options
    raise solver_error(OperandError, f"{title}: points= with an infinite limit.", "split the integral at the points")


def _warn(title: str, message: str) -> None:
    """SciPy's warning, in SciPy's class and at the user's line: the integral is not as exact as was asked for."""
    from scipy.integrate import IntegrationWarning

    level, frame = 1, sys._getframe()
    while is_library(frame.f_code.co_filename) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(f"{title}: {' '.join(message.split())}", IntegrationWarning, stacklevel=level)


@functools.lru_cache(maxsize=64)
def _gauss(n: int) -> tuple[Any, Any]:
    return np.polynomial.legendre.leggauss(n)


def fixed(function: Function, a: Any, b: Any, args: Any = (), n: int = 5) -> Any:
    """The integral of `function(x, *args)` from a to b by the Gauss-Legendre rule with `n` points, all at once.

    The function gets the vector of points and returns values along the last axis, one for each point. The rule is exact
    for polynomials of degree up to 2 n - 1. Every derivative is that of the sum.

    >>> import numpy as np, gradtape as gt
    >>> round(float(gt.quadrature.fixed(np.sin, 0.0, np.pi, n=12)), 10)
    2.0
    >>> gt.grad(lambda b: gt.quadrature.fixed(lambda x: x ** 3, 0.0, b))(2.0).round(10)
    np.float64(8.0)
    """
    if not isinstance(n, int | np.integer) or n < 1:
        raise solver_error(OperandError, f"gt.quadrature.fixed: n={n!r}.", "a number of points, at least 1")
    ends = []
    for value, name in ((a, "a"), (b, "b")):
        end = value if isinstance(value, Tensor) else np.asarray(value)
        seen = off_tape(end)
        if end.shape != () or (isinstance(seen, np.ndarray | np.generic) and not np.isfinite(seen)):
            raise solver_error(
                ShapeError,
                f"gt.quadrature.fixed: {name} is {'infinite' if end.shape == () else f'of shape {end.shape}'}.",
                "one finite number; gt.quad for infinite limits, gt.vmap for several",
            )
        ends.append(end)
    nodes, weights = _gauss(int(n))
    half = 0.5 * (ends[1] - ends[0])
    x = half * nodes + 0.5 * (ends[0] + ends[1])
    value = function(x, *(args if isinstance(args, tuple) else (args,)))
    value = value if isinstance(value, Tensor) else np.asarray(value)
    if not value.shape or value.shape[-1] != n:
        raise solver_error(
            ShapeError,
            f"gt.quadrature.fixed: the integrand returned shape {value.shape} for {n} points.",
            f"one value for each point along the last axis: (..., {n}); 0.0 * x + c for a constant",
        )
    return half * np.sum(weights * value, axis=-1)


def simpson(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral of `y` along `axis` by Simpson's rule, at the points `x` or `dx` apart.

    With an even number of points the last interval is integrated by the parabola through the last three points, as in
    SciPy. Two points are a trapezium. It can be differentiated by `y`, `x` and `dx`.

    >>> import gradtape as gt
    >>> gt.quadrature.simpson(gt.tensor([0.0, 1.0, 4.0, 9.0, 16.0])).round(6)
    Tensor(21.333333)
    """
    values: Any = y if isinstance(y, Tensor) else np.asarray(y)
    values = np.moveaxis(values, one_axis(axis, len(values.shape)), -1)
    count = values.shape[-1]
    if not count:
        raise solver_error(
            ShapeError, "gt.quadrature.simpson: there are no points along the axis.", "at least one point"
        )
    if x is None:
        steps = dx * np.ones(max(count - 1, 0))
    else:
        points: Any = x if isinstance(x, Tensor) else np.asarray(x)
        if len(points.shape) > 1:
            points = np.moveaxis(points, one_axis(axis, len(points.shape)), -1)
        if points.shape[-1] != count:
            raise solver_error(
                ShapeError,
                f"gt.quadrature.simpson: y has {count} points along the axis, and x {points.shape[-1]}.",
                "as many points in x as in y",
            )
        steps = points[..., 1:] - points[..., :-1]
    if count == 1:
        return 0.0 * values[..., 0]
    if count == 2:
        return 0.5 * steps[..., 0] * (values[..., 0] + values[..., 1])
    pairs = count - 1 if count % 2 else count - 2
    total = np.sum(_parabolas(values[..., : pairs + 1], steps[..., :pairs]), axis=-1)
    return total if count % 2 else total + _last_interval(values, steps)


def _parabolas(y: Any, steps: Any) -> Any:
    """The integrals over pairs of intervals of the parabolas through their three points."""
    h, k = steps[..., 0::2], steps[..., 1::2]
    low, middle, high = y[..., 0:-2:2], y[..., 1:-1:2], y[..., 2::2]
    return (h + k) / 6.0 * ((2.0 - k / h) * low + (h + k) ** 2 / (h * k) * middle + (2.0 - h / k) * high)


def _last_interval(y: Any, steps: Any) -> Any:
    """The integral over the last interval of the parabola through the last three points."""
    h, k = steps[..., -2], steps[..., -1]
    high = (2.0 * k**2 + 3.0 * h * k) / (6.0 * (h + k))
    middle = (k**2 + 3.0 * h * k) / (6.0 * h)
    low = k**3 / (6.0 * h * (h + k))
    return high * y[..., -1] + middle * y[..., -2] - low * y[..., -3]
