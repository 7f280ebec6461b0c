"""Roots of equations: SciPy finds them, and they move with whatever the equations read."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.extend import Tensor
from gradtape.mirror import Original
from gradtape.scipy.callbacks import Run, as_tuple, solution, stacked, vector

original = Original("scipy.optimize")


def number(value: Any) -> Any:
    """An array of one element as a number: what SciPy's solvers in one variable take."""
    return value.reshape(())[()] if isinstance(value, np.ndarray) and value.size == 1 else value


def scalar_function(run: Run, function: Any, args: tuple[Any, ...]) -> Any:
    """A function of one number for SciPy; None and True as they are."""
    if not callable(function):
        return function
    numbers = run.function(lambda x: function(x, *args))
    return lambda x: number(numbers(x))


def moving_number(run: Run, call: Any, found: Any, part: Any) -> Any:
    """A root that SciPy found, as a tensor that moves with what `call` reads."""
    start = run.gathered(found, lambda each: np.atleast_1d(np.asarray(part(each), float)))
    return solution(lambda z: vector(call(z[0])), start, run.title)[0]


def bracketed(name: str) -> Any:
    """One of SciPy's functions `name(f, a, b, args, ...)`, with full_output."""

    def solver(f: Any, a: Any, b: Any, args: Any = (), *rest: Any, **options: Any) -> Any:
        title = f"scipy.optimize.{name}"
        theirs = getattr(original.contents, name)
        arguments = as_tuple(args)
        run = Run(title, a, b, arguments, traces=True)
        plain = scalar_function(run, f, arguments)
        found = run.solve(lambda: theirs(plain, run.numbers(a), run.numbers(b), (), *rest, **options))
        if not run.is_followed:
            return found
        is_pair = isinstance(found[0] if run.levels else found, tuple)
        root = moving_number(run, lambda x: f(x, *arguments), found, lambda each: each[0] if is_pair else each)
        if not is_pair or run.levels:
            return root
        details = run.fields(found, lambda each: each[1])
        details.root = root
        return root, details

    solver.__name__ = name
    solver.__qualname__ = name
    solver.__doc__ = f"""A root of `f(x, *args)` between a and b, by SciPy's `{name}`; it moves with whatever f reads.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.optimize import {name}
    >>> slope = gt.grad(lambda k: {name}(lambda x: x * x - k, 0.0, 5.0))(4.0)
    >>> round(float(slope), 6)                           # the root is sqrt(k)
    0.25
    """
    return original.differentiated_with_callbacks(solver)


brentq, brenth, ridder, bisect, toms748 = map(bracketed, ("brentq", "brenth", "ridder", "bisect", "toms748"))


@original.differentiated_with_callbacks
def root_scalar(
    f: Any,
    args: Any = (),
    method: Any = None,
    bracket: Any = None,
    fprime: Any = None,
    fprime2: Any = None,
    x0: Any = None,
    x1: Any = None,
    xtol: Any = None,
    rtol: Any = None,
    maxiter: Any = None,
    options: Any = None,
) -> Any:
    """A root of `f(x, *args)` by any of SciPy's methods; `root` of the result moves with whatever f reads.

    >>> import gradtape as gt
    >>> from gradtape.scipy.optimize import root_scalar
    >>> slope = gt.grad(lambda k: root_scalar(lambda x: x * x - k, bracket=(0, 5)).root)(4.0)
    >>> round(float(slope), 6)
    0.25
    """
    arguments = as_tuple(args)
    several = fprime is not None and not callable(fprime) and bool(fprime)
    run = Run("scipy.optimize.root_scalar", arguments, bracket, x0, x1, traces=not several)
    single = scalar_function(run, f, arguments)
    slopes = [scalar_function(run, each, arguments) for each in (fprime, fprime2)]

    def plain(x: Any) -> Any:
        return tuple([number(run.numbers(each)) for each in f(x, *arguments)]) if several else single(x)

    def compute() -> Any:
        ends = None if bracket is None else [run.numbers(end) for end in bracket]
        starts = [None if x is None else run.numbers(x) for x in (x0, x1)]
        return original.contents.root_scalar(
            plain, (), method, ends, *slopes, *starts, xtol=xtol, rtol=rtol, maxiter=maxiter, options=options
        )

    found = run.solve(compute)
    if not run.is_followed:
        return found
    value = (lambda x: f(x, *arguments)[0]) if several else (lambda x: f(x, *arguments))
    root = moving_number(run, value, found, lambda each: each.root)
    result = found[0] if run.levels else run.fields(found)
    result.root = root
    return result


def moving_array(run: Run, call: Any, found: Any, part: Any) -> Any:
    """A solution that SciPy found, of any shape, as a tensor that moves with what `call` reads."""
    first = np.asarray(part(found[0] if run.levels else found))
    start = run.gathered(found, lambda each: np.asarray(part(each)).reshape(-1))
    return solution(lambda z: vector(call(z.reshape(first.shape))), start, run.title).reshape(first.shape)


def unknowns(run: Run, x0: Any) -> Any:
    """The numbers of a start, as SciPy gets it."""
    return run.numbers(stacked(x0)) if isinstance(stacked(x0), Tensor) else x0


@original.differentiated_with_callbacks
def newton(
    func: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = (),
    tol: float = 1.48e-8,
    maxiter: int = 50,
    fprime2: Any = None,
    x1: Any = None,
    rtol: float = 0.0,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """A root near x0, or one for each element of x0, by the methods of Newton, Halley or the secant.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.optimize import newton
    >>> slopes = gt.jacobian(lambda k: newton(lambda x: x**3 - k, np.ones(2)))(np.array([1.0, 8.0]))
    >>> slopes.diagonal().round(6)
    array([0.333333, 0.083333])
    """
    arguments = as_tuple(args)
    x0 = stacked(x0)
    run = Run("scipy.optimize.newton", x0, arguments, x1, traces=True)
    functions = [scalar_function(run, each, arguments) for each in (func, fprime, fprime2)]

    def compute() -> Any:
        start, second = unknowns(run, x0), None if x1 is None else run.numbers(x1)
        return original.contents.newton(
            functions[0], start, functions[1], (), tol, maxiter, functions[2], second, rtol, full_output, disp
        )

    found = run.solve(compute)
    if not run.is_followed:
        return found
    part = (lambda each: each[0]) if full_output else (lambda each: each)
    moved = moving_array(run, lambda x: func(x, *arguments), found, part)
    if not full_output or run.levels:
        return moved
    if len(found) == 2:
        details = run.fields(found, lambda each: each[1])
        details.root = moved
        return moved, details
    return moved, *(run.gathered(found, lambda each, i=i: each[i]) for i in (1, 2))  # type: ignore[misc]


@original.differentiated_with_callbacks
def root(
    fun: Any,
    x0: Any,
    args: Any = (),
    method: str = "hybr",
    jac: Any = None,
    tol: Any = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """A root of `fun(x, *args)`, with as many equations as unknowns; `x` of the result moves with what fun reads.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.optimize import root
    >>> def solved(k):
    ...     return root(lambda x: [x[0] + x[1] - k, x[0] * x[1] - 2.0], [0.5, 3.0]).x
    >>> gt.jacobian(solved)(3.0).round(6)
    array([-1.,  2.])
    """
    arguments = as_tuple(args)
    has_jacobian = jac is not None and not callable(jac) and bool(jac)
    x0 = stacked(x0)
    run = Run("scipy.optimize.root", x0, arguments, traces=not has_jacobian)
    single = run.function(lambda x: fun(x, *arguments))

    def plain(x: Any) -> Any:
        return tuple(map(run.numbers, fun(x, *arguments))) if has_jacobian else single(x)

    slope = run.function(lambda x: jac(x, *arguments)) if callable(jac) else jac
    found = run.solve(
        lambda: original.contents.root(plain, unknowns(run, x0), (), method, slope, tol, callback, options)
    )
    if not run.is_followed:
        return found
    value = (lambda x: fun(x, *arguments)[0]) if has_jacobian else (lambda x: fun(x, *arguments))
    moved = moving_array(run, value, found, lambda each: each.x)
    result = found[0] if run.levels else run.fields(found)
    if run.levels:
        result.success = run.gathered(found, lambda each: np.asarray(each.success))
    result.x = moved
    return result


@original.differentiated_with_callbacks
def fsolve(
    func: Any, x0: Any, args: Any = (), fprime: Any = None, full_output: Any = 0, *rest: Any, **options: Any
) -> Any:
    """A root of `func(x, *args)` by MINPACK's hybrid method; it moves with what func reads.

    >>> import gradtape as gt
    >>> from gradtape.scipy.optimize import fsolve
    >>> gt.grad(lambda k: fsolve(lambda x: x * x - k, 1.0)[0])(4.0).round(6)
    np.float64(0.25)
    """
    arguments = as_tuple(args)
    x0 = stacked(x0)
    run = Run("scipy.optimize.fsolve", x0, arguments, traces=True)
    call = run.function(lambda x: func(x, *arguments))
    slope = run.function(lambda x: fprime(x, *arguments)) if callable(fprime) else fprime
    found = run.solve(
        lambda: original.contents.fsolve(call, unknowns(run, x0), (), slope, full_output, *rest, **options)
    )
    if not run.is_followed:
        return found
    part = (lambda each: each[0]) if full_output else (lambda each: each)
    moved = moving_array(run, lambda x: func(x, *arguments), found, part)
    if not full_output or run.levels:
        return moved
    if not run.is_traced:
        return moved, *found[1:]
    # the message follows from the status: that this is the same in later calls is a guard
    status = int(run.gathered(found, lambda each: each[2]))
    return moved, run.fields(found, lambda each: each[1]), status, found[3]


@original.differentiated_with_callbacks
def fixed_point(
    func: Any, x0: Any, args: Any = (), xtol: float = 1e-8, maxiter: int = 500, method: str = "del2"
) -> Any:
    """The x with `func(x, *args) == x`, which moves with what func reads.

    >>> import gradtape as gt
    >>> from gradtape.scipy.optimize import fixed_point
    >>> round(float(gt.grad(lambda k: fixed_point(lambda x: 0.5 * (x + k / x), 1.0))(4.0)), 6)
    0.25
    """
    arguments = as_tuple(args)
    x0 = stacked(x0)
    run = Run("scipy.optimize.fixed_point", x0, arguments, traces=True)
    call = run.function(lambda x: func(x, *arguments))
    found = run.solve(lambda: original.contents.fixed_point(call, unknowns(run, x0), (), xtol, maxiter, method))
    if not run.is_followed:
        return found
    return moving_array(run, lambda x: stacked(func(x, *arguments)) - x, found, lambda each: each)


def quasi_newton(name: str) -> Any:
    """One of SciPy's functions `name(F, xin, ...)` for large systems."""

    def solver(F: Any, xin: Any, *rest: Any, **options: Any) -> Any:
        run = Run(f"scipy.optimize.{name}", xin)
        theirs = getattr(original.contents, name)
        found = run.solve(lambda: theirs(run.function(F), unknowns(run, xin), *rest, **options))
        if not run.is_followed:
            return found
        return moving_array(run, F, found, lambda each: each)

    solver.__name__ = name
    solver.__qualname__ = name
    solver.__doc__ = f"""A root of F by SciPy's `{name}`; it moves with what F reads."""
    return original.differentiated_with_callbacks(solver)


broyden1, broyden2, anderson, linearmixing, diagbroyden, excitingmixing, newton_krylov = map(
    quasi_newton,
    ("broyden1", "broyden2", "anderson", "linearmixing", "diagbroyden", "excitingmixing", "newton_krylov"),
)
