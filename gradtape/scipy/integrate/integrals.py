"""Integrals of functions: the value is SciPy's, and the derivative an integral of its own, to the same tolerances.

The integrand may read any tensors. `recorded_integrals` has the derivative in eager mode, `traced_integrals` that of
a program which `jit` traces.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.errors import OperandError, UnsupportedError
from gradtape.extend import (
    Tensor,
    is_followed,
    numbers_if_known,
    off_tape,
    solver_error,
)
from gradtape.ops import where
from gradtape.scipy.callbacks import Run, as_tuple, stacked, with_value
from gradtape.scipy.integrate.initial_values import original
from gradtape.scipy.integrate.recorded_integrals import between, moving_integral
from gradtape.scipy.integrate.traced_integrals import TracedIntegral

Function = Callable[..., Any]


def _number(value: Any) -> Any:
    """What an integrand returned, as one number or as a tensor without axes."""
    value = stacked(value)
    if isinstance(value, Tensor):
        return value.reshape(()) if value.shape else value
    return value


@original.differentiated_with_callbacks
def quad(
    func: Any,
    a: Any,
    b: Any,
    args: Any = (),
    full_output: Any = 0,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
    weight: Any = None,
    wvar: Any = None,
    wopts: Any = None,
    maxp1: int = 50,
    limlst: int = 50,
    complex_func: bool = False,
) -> Any:
    """The integral of `func(x, *args)` from a to b, and an estimate of its error: SciPy's values.

    It can be differentiated by the limits, by args and by whatever the integrand reads; the derivative is integrated
    to the same tolerances. Limits may be infinite.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.integrate import quad
    >>> slope = gt.grad(lambda k: quad(lambda x: np.exp(-k * x), 0, np.inf)[0])(2.0)
    >>> bool(abs(slope + 0.25) < 1e-7)
    True
    """
    title = "scipy.integrate.quad"
    arguments = as_tuple(args)
    can_trace = weight is None and not full_output and not complex_func and not is_followed(points)
    run = Run(title, a, b, arguments, wvar, points, traces=can_trace)
    low, high = stacked(a), stacked(b)
    given = {
        "epsabs": epsabs,
        "epsrel": epsrel,
        "limit": limit,
        "weight": weight,
        "wopts": wopts,
        "maxp1": maxp1,
        "limlst": limlst,
        "complex_func": complex_func,
    }

    def compute() -> Any:
        if run.is_traced:
            return None
        return original.contents.quad(
            lambda x: _scalar(run.numbers(func(x, *arguments))),
            run.numbers(low),
            run.numbers(high),
            full_output=full_output,
            points=None if points is None else run.numbers(points),
            wvar=_weight_numbers(wvar, run),
            **given,
        )

    found = run.solve(compute)
    if run.is_traced:
        options = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit, "points": points}
        return _traced(title, lambda x: _number(func(x, *arguments)), low, high, options)
    if not run.is_followed:
        return found
    integrand = _weighted(func, arguments, weight, wvar, low, high, title)
    moving = moving_integral(integrand, low, high, run, epsabs, epsrel, limit, off_tape(points))
    value = with_value(moving, run.gathered(found, lambda each: np.asarray(each[0])))
    if run.levels:
        return value, run.gathered(found, lambda each: np.asarray(each[1]))
    return (value, *found[1:])


def _traced(title: str, function: Function, low: Any, high: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """The integral of a function that returns an array, and its error, in a program that is being traced."""
    shape: list[Any] = []

    def integrand(x: Any) -> Any:
        value = stacked(function(x))
        value = value if isinstance(value, Tensor) else np.asarray(value, float)
        shape[:] = value.shape
        return value.astype(float).reshape((-1,))

    found = TracedIntegral(title, integrand, (low, high), options)
    value = found.value
    for end, sign in ((low, -1.0), (high, 1.0)):
        if isinstance(end, Tensor):
            is_infinite = np.isinf(off_tape(end))
            finite = where(is_infinite, 0.0, end)
            value = value + where(is_infinite, 0.0, sign * between(integrand, off_tape(finite), finite))
    return value.reshape(tuple(shape)), found.error


def _scalar(value: Any) -> Any:
    return value.reshape(())[()] if isinstance(value, np.ndarray) and value.size == 1 else value


def _weight_numbers(wvar: Any, run: Run) -> Any:
    if isinstance(wvar, tuple | list):
        return tuple([run.numbers(x) for x in wvar])
    return run.numbers(wvar)


def _weighted(func: Any, arguments: Any, weight: Any, wvar: Any, a: Any, b: Any, title: str) -> Function:
    """The integrand with its weight, as a function of x alone."""

    def plain(x: Any) -> Any:
        return _number(func(x, *arguments))

    if weight is None:
        return plain
    infinite = not all(np.isfinite(np.asarray(numbers_if_known(off_tape(stacked(x))))).all() for x in (a, b))
    if weight in ("cos", "sin") and not infinite:
        wave = np.cos if weight == "cos" else np.sin
        return lambda x: plain(x) * wave(wvar * x)
    if weight in ("alg", "alg-loga", "alg-logb", "alg-log") and not (is_followed(a) or is_followed(b)):

        def algebraic(x: Any) -> Any:
            value = plain(x) * (x - a) ** wvar[0] * (b - x) ** wvar[1]
            value = value * np.log(x - a) if weight in ("alg-loga", "alg-log") else value
            return value * np.log(b - x) if weight in ("alg-logb", "alg-log") else value

        return algebraic
    raise solver_error(
        UnsupportedError,
        f"{title}: weight={weight!r} "
        + ("over an infinite range" if infinite else "with limits that have a gradient" if weight != "cauchy" else "")
        + " is not differentiated: the integral of the derivative does not converge without the weight's own rule.",
        "finite limits without a gradient, or the weight as a factor of the integrand",
    )


@original.differentiated_with_callbacks
def nquad(func: Any, ranges: Any, args: Any = None, opts: Any = None, full_output: bool = False) -> Any:
    """The integral of `func(x0, ..., xn, *args)` over several variables, by nested `quad`.

    >>> import gradtape as gt
    >>> from gradtape.scipy.integrate import nquad
    >>> slope = gt.grad(lambda k: nquad(lambda x, y: k * k * x * y, [(0, 1), (0, 2)])[0])(3.0)
    >>> round(float(slope), 8)                       # k ** 2, and so 2 k
    6.0
    """
    depth = len(ranges)
    limits = [each if callable(each) else _always(each) for each in ranges]
    extra = () if args is None else as_tuple(args)
    if opts is None:
        options = [_always({})] * depth
    elif isinstance(opts, dict):
        options = [_always(opts)] * depth
    else:
        options = [each if callable(each) else _always(each) for each in opts]
    run = Run("scipy.integrate.nquad", ranges, extra, traces=not full_output)

    def compute() -> Any:
        if run.is_traced:
            return None
        return original.contents.nquad(
            lambda *x: _scalar(run.numbers(func(*x, *extra))),
            [lambda *x, each=each: tuple([run.numbers(end) for end in each(*x, *extra)]) for each in limits],
            None,
            [lambda *x, each=each: each(*x, *extra) for each in options],
            full_output,
        )

    found = run.solve(compute)
    if not (run.is_followed or run.is_traced):
        return found

    def integrate(level: int, *rest: Any) -> Any:
        low, high = limits[level](*rest, *extra)
        chosen = {"epsabs": 1.49e-8, "epsrel": 1.49e-8, "limit": 50, "points": None, **options[level](*rest, *extra)}
        if chosen.keys() - {"epsabs", "epsrel", "limit", "points"}:
            raise solver_error(
                UnsupportedError,
                f"{run.title}: opts= with {', '.join(chosen)} is not differentiated.",
                "epsabs, epsrel, limit and points only",
            )

        def inner(x: Any) -> Any:
            return integrate(level - 1, x, *rest) if level else _number(func(x, *rest, *extra))

        if not run.is_traced:
            return moving_integral(inner, stacked(low), stacked(high), run, **chosen)
        value, error = _traced(run.title, inner, stacked(low), stacked(high), chosen)
        return (value, error) if level == depth - 1 else value

    if run.is_traced:  # the error is that of the outermost integral
        return integrate(depth - 1)
    value = with_value(integrate(depth - 1), run.gathered(found, lambda each: np.asarray(each[0])))
    if run.levels:
        return value, run.gathered(found, lambda each: np.asarray(each[1]))
    return (value, *found[1:])


def _always(value: Any) -> Function:
    return lambda *_: value


@original.differentiated_with_callbacks
def dblquad(
    func: Any, a: Any, b: Any, gfun: Any, hfun: Any, args: Any = (), epsabs: float = 1.49e-8, epsrel: float = 1.49e-8
) -> Any:
    """The integral of `func(y, x, *args)` for x from a to b and y from gfun(x) to hfun(x)."""
    inner = _range(gfun, hfun)
    return nquad(func, [lambda x, *_: inner(x), (a, b)], args, {"epsabs": epsabs, "epsrel": epsrel})


@original.differentiated_with_callbacks
def tplquad(
    func: Any,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    qfun: Any,
    rfun: Any,
    args: Any = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> Any:
    """The integral of `func(z, y, x, *args)` for x from a to b, y from gfun(x) to hfun(x), z from qfun to rfun."""
    middle, inner = _range(gfun, hfun), _range(qfun, rfun)
    ranges = [lambda y, x, *_: inner(x, y), lambda x, *_: middle(x), (a, b)]
    return nquad(func, ranges, args, {"epsabs": epsabs, "epsrel": epsrel})


def _range(low: Any, high: Any) -> Function:
    """Both limits, each a function or a number."""
    return lambda *x: tuple([side(*x) if callable(side) else side for side in (low, high)])


@original.differentiated_with_callbacks
def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: int = 5) -> Any:
    """The integral of `func(x, *args)` by the Gauss-Legendre rule with n points, and None, as SciPy returns it.

    >>> import gradtape as gt
    >>> from gradtape.scipy.integrate import fixed_quad
    >>> round(float(gt.grad(lambda b: fixed_quad(lambda x: x ** 3, 0.0, b)[0])(2.0)), 8)
    8.0
    """
    low, high = stacked(a), stacked(b)
    nodes, weights = np.polynomial.legendre.leggauss(int(n))
    for end, name in ((low, "a"), (high, "b")):
        known = numbers_if_known(end)
        if known is not None and np.isinf(known).any():
            raise solver_error(
                OperandError, f"scipy.integrate.fixed_quad: {name} is infinite.", "finite limits; or quad"
            )
    x = (high - low) * (nodes + 1.0) / 2.0 + low
    value = stacked(func(x, *as_tuple(args)))
    if not isinstance(value, Tensor) and not isinstance(x, Tensor):
        return original.contents.fixed_quad(func, a, b, args, n)
    return (high - low) / 2.0 * np.sum(weights * value, axis=-1), None


@original.differentiated_with_callbacks
def quad_vec(
    f: Any,
    a: Any,
    b: Any,
    epsabs: float = 1e-200,
    epsrel: float = 1e-8,
    norm: str = "2",
    cache_size: float = 100e6,
    limit: int = 10000,
    workers: Any = 1,
    points: Any = None,
    quadrature: Any = None,
    full_output: bool = False,
    *,
    args: Any = (),
) -> Any:
    """The integral of a function that returns an array, and an estimate of its error: SciPy's values; see `quad`.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.integrate import quad_vec
    >>> powers = np.arange(3)
    >>> gt.jacobian(lambda b: quad_vec(lambda x: x ** powers, 0.0, b)[0])(2.0).round(6)
    array([1., 2., 4.])
    """
    arguments = as_tuple(args)
    title = "scipy.integrate.quad_vec"
    can_trace = norm == "2" and quadrature is None and not full_output and not is_followed(points)
    run = Run(title, a, b, arguments, points, traces=can_trace)
    low, high = stacked(a), stacked(b)

    def compute() -> Any:
        if run.is_traced:
            return None
        return original.contents.quad_vec(
            lambda x: run.numbers(f(x, *arguments)),
            run.numbers(low),
            run.numbers(high),
            epsabs,
            epsrel,
            norm,
            cache_size,
            limit,
            1 if run.is_followed else workers,
            None if points is None else run.numbers(points),
            quadrature,
            full_output,
        )

    found = run.solve(compute)
    if run.is_traced:
        options = {"epsabs": epsabs, "epsrel": epsrel, "limit": max(limit // 200, 1), "points": points}
        return _traced(title, lambda x: f(x, *arguments), low, high, {**options, "is_vector": True})
    if not run.is_followed:
        return found
    moving = moving_integral(
        lambda x: stacked(f(x, *arguments)), low, high, run, epsabs, epsrel, max(limit // 200, 1), off_tape(points)
    )
    value = with_value(moving, run.gathered(found, lambda each: np.asarray(each[0])))
    if run.levels:
        return value, run.gathered(found, lambda each: np.asarray(each[1]))
    return (value, *found[1:])
