"""Minima: SciPy finds them; where no bound or constraint holds, the slope stays zero, and so they move."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from gradtape.errors import NumericsError, OperandError, UnsupportedError
from gradtape.extend import Tensor, off_tape, solver_error
from gradtape.ops import concatenate
from gradtape.ops import where as where_op
from gradtape.scipy.callbacks import Run, as_tuple, solution, stacked, vector
from gradtape.scipy.optimize.roots import number, original, scalar_function, unknowns
from gradtape.transforms.gradients import grad, vjp
from gradtape.transforms.jacobians import jacobian

NEAR = 1e-6
"""How far from a limit, relative to its size, a value counts as being at it."""


def near(value: Any, limit: Any, tolerance: float = NEAR) -> Any:
    """Where a value is at a limit that is finite."""
    finite = np.where(np.isfinite(limit), limit, 0.0)
    return np.isfinite(limit) & (np.abs(value - finite) <= tolerance * (1.0 + np.abs(finite)))


class Limits:
    """Lower and upper bounds of a vector, which may be tensors."""

    def __init__(self, bounds: Any, size: int) -> None:
        self.size = size
        if bounds is None:
            low, high = None, None
        elif hasattr(bounds, "lb"):
            low, high = bounds.lb, bounds.ub
        else:
            pairs = list(bounds)
            low, high = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        self.low, self.high = self._side(low, -np.inf), self._side(high, np.inf)

    @classmethod
    def of_sides(cls, low: Any, high: Any, size: int) -> Limits:
        """Bounds that are given as lower ones and upper ones."""
        made = cls(None, size)
        made.low, made.high = made._side(low, -np.inf), made._side(high, np.inf)
        return made

    def _side(self, side: Any, missing: float) -> Any:
        if side is None:
            return np.full(self.size, missing)
        if isinstance(side, list | tuple):
            side = stacked([missing if each is None else each for each in side])
        value = side if isinstance(side, Tensor) else np.asarray(side, float)
        return value + np.zeros(self.size)

    def plain(self, run: Run) -> list[tuple[float, float]]:
        """A pair of numbers for each element."""
        low, high = run.numbers(self.low), run.numbers(self.high)
        return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]

    def held(self, run: Run, x: Any, tolerance: float = NEAR) -> tuple[Any, Any]:
        """Which elements of x a lower or an upper bound holds."""
        numbers = run.all_numbers(x)
        low, high = run.all_numbers(self.low), run.all_numbers(self.high)
        return (
            run.lifted(near(numbers, low, tolerance) | (numbers < low)),
            run.lifted(near(numbers, high, tolerance) | (numbers > high)),
        )


def moving_minimum(
    run: Run, objective: Any, start: Any, limits: Limits | None, tolerance: float = NEAR, polish: bool = True
) -> Any:
    """The vector `start`, a minimum of `objective`, which moves with what that reads, and with bounds that hold it."""
    slope = grad(lambda z: _one_number(objective(z), run.title))
    if limits is None:
        return solution(slope, start, run.title, polish)
    at_low, at_high = limits.held(run, start, tolerance)
    low, high = (
        where_op(at, side, 0.0) if isinstance(side, Tensor) else np.where(np.isfinite(side), side, 0.0)
        for at, side in ((at_low, limits.low), (at_high, limits.high))
    )

    def condition(z: Any) -> Any:
        return where_op(at_low, z - low, where_op(at_high, z - high, slope(z)))

    return solution(condition, start, run.title, polish)


def _one_number(value: Any, title: str) -> Any:
    value = stacked(value)
    if isinstance(value, Tensor) and value.size != 1:
        raise solver_error(
            OperandError, f"{title}: the function returned shape {value.shape}.", "one number: a sum or a mean"
        )
    return value.reshape(()) if isinstance(value, Tensor) else value


class Constraints:
    """Constraints in any of SciPy's forms: for SciPy on numbers, and as functions of tensors."""

    def __init__(self, constraints: Any, run: Run) -> None:
        several = constraints if isinstance(constraints, list | tuple) else [constraints]
        self.run = run
        self.plain: list[Any] = []
        self.functions: list[Any] = []
        self.sides: list[tuple[Any, Any]] = []
        for each in several:
            self._add(each)

    def _add(self, each: Any) -> None:
        run, theirs = self.run, original.contents
        if isinstance(each, dict):
            args = as_tuple(each.get("args", ()))
            fun = each["fun"]
            run.note_all(args)
            plain = {**each, "fun": run.function(lambda x: fun(x, *args)), "args": ()}
            if callable(each.get("jac")):
                jac = each["jac"]
                plain["jac"] = run.function(lambda x: jac(x, *args))
            self.plain.append(plain)
            self.functions.append(lambda x: vector(fun(x, *args)))
            self.sides.append((0.0, 0.0 if str(each["type"]).lower() == "eq" else np.inf))
        elif isinstance(each, theirs.LinearConstraint):
            matrix = each.A.toarray() if hasattr(each.A, "toarray") else np.atleast_2d(each.A)
            self.plain.append(each)
            self.functions.append(lambda x: matrix @ x)
            self.sides.append((each.lb, each.ub))
        elif isinstance(each, theirs.NonlinearConstraint):
            fun = each.fun
            options = {name: getattr(each, name) for name in ("jac", "hess", "keep_feasible", "finite_diff_rel_step")}
            options["jac"] = run.function(options["jac"])
            options["hess"] = run.function(options["hess"])
            self.plain.append(theirs.NonlinearConstraint(run.function(fun), each.lb, each.ub, **options))
            self.functions.append(lambda x: vector(fun(x)))
            self.sides.append((each.lb, each.ub))
        else:
            raise solver_error(
                OperandError,
                f"{run.title}: constraints= was given a {type(each).__name__}.",
                "a dict with type and fun, LinearConstraint, NonlinearConstraint, or a list of these",
            )

    def values(self, x: Any) -> Any:
        """The values of all constraints."""
        return concatenate([function(x) for function in self.functions])

    def moving_minimum(self, objective: Any, start: Any, limits: Limits | None) -> Any:
        """A minimum by the conditions of Karush, Kuhn and Tucker, with the constraints that hold with equality."""
        run = self.run
        run.refuse_batches("constraints=", "a loop over the examples")
        size = start.shape[0]
        sizes = [off_tape(function(start)).size for function in self.functions]
        low, high = (
            np.concatenate([np.broadcast_to(pair[side], (n,)) for pair, n in zip(self.sides, sizes, strict=True)])
            for side in (0, 1)
        )
        hit = np.asarray(off_tape(self.values(start)))
        slope = grad(lambda z: _one_number(objective(z), run.title))
        limits = Limits(None, size) if limits is None else limits
        matrix = np.asarray(off_tape(jacobian(self.values)(start)))
        forces = np.asarray(off_tape(slope(start)))
        for tolerance in (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2):  # some solvers stay away from what holds the minimum
            at_low, at_high = limits.held(run, start, tolerance)
            free = ~(at_low | at_high)
            active = np.flatnonzero(near(hit, low, tolerance) | near(hit, high, tolerance))
            rows = matrix[active][:, free]
            multipliers = np.linalg.lstsq(rows.T, forces[free], rcond=None)[0]
            rest = np.abs(forces[free] - rows.T @ multipliers).max(initial=0.0)
            if rest <= 1e-3 * (1e-3 + np.abs(forces).max()):
                break
        else:
            raise solver_error(
                NumericsError,
                f"{run.title}: the conditions of a minimum with constraints do not hold at the solution (the slope "
                f"that no constraint accounts for is {rest:.1e}), so that it has no derivative.",
                "let the solver run longer, or to a smaller tolerance",
            )
        sides = [where_op(at, side, 0.0) for at, side in ((at_low, limits.low), (at_high, limits.high))]

        def conditions(z: Any) -> Any:
            x, weights = z[:size], z[size:]
            found, pull_back = vjp(lambda q: self.values(q)[active], x)
            free = slope(x) - pull_back(weights)[0]
            kept = where_op(at_low, x - sides[0], where_op(at_high, x - sides[1], free))
            return concatenate([kept, found - hit[active]])

        return solution(conditions, np.concatenate([start, multipliers]), run.title)[:size]


@original.differentiated_with_callbacks
def minimize(
    fun: Any,
    x0: Any,
    args: Any = (),
    method: Any = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: Any = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """A minimum of `fun(x, *args)` by any of SciPy's methods: `x` and `fun` of the result move with what fun reads.

    The derivative is that of a minimum, by the implicit function theorem: the steps of the solver have no part in it.
    An element of x at a bound stays at it, and constraints that hold with equality go on to do so.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.optimize import minimize
    >>> def best(data):
    ...     return minimize(lambda x: ((x - data) ** 2).sum() + x.sum() ** 2, np.zeros(2)).x
    >>> gt.jacobian(best)(np.array([1.0, 2.0])).round(4)
    array([[ 0.6667, -0.3333],
           [-0.3333,  0.6667]])
    """
    arguments = as_tuple(args)
    has_slope = jac is not None and not callable(jac) and not isinstance(jac, str) and bool(jac)
    start = stacked(x0)
    run = Run("scipy.optimize.minimize", start, arguments, traces=not has_slope and _is_empty(constraints))
    single = run.function(lambda x: fun(x, *arguments))

    def plain(x: Any) -> Any:
        if not has_slope:
            return number(single(x))
        found = fun(x, *arguments)
        return number(run.numbers(found[0])), run.numbers(found[1])

    def extra(function: Any) -> Any:
        return run.function(lambda x, *more: function(x, *more, *arguments)) if callable(function) else function

    slope, product = jac if isinstance(jac, str) or not callable(jac) else extra(jac), extra(hessp)
    curvature = extra(hess) if callable(hess) and not isinstance(hess, type) else hess
    size = int(np.size(start)) if not isinstance(start, Tensor) else start.size
    limits = None if bounds is None else Limits(bounds, size)
    if limits is not None:
        run.note_all((limits.low, limits.high))
    tied = Constraints(constraints, run) if not _is_empty(constraints) else None

    def compute() -> Any:
        return original.contents.minimize(
            plain,
            unknowns(run, start),
            (),
            method,
            slope,
            curvature,
            product,
            bounds
            if limits is None or (hasattr(bounds, "keep_feasible") and not run.is_followed)
            else limits.plain(run),
            constraints if tied is None else tied.plain if len(tied.plain) > 1 else tied.plain[0],
            tol,
            callback,
            options,
        )

    found = run.solve(compute)
    if not run.is_followed:
        return found
    value = (lambda x: fun(x, *arguments)[0]) if has_slope else (lambda x: fun(x, *arguments))
    at = run.gathered(found, lambda each: np.asarray(each.x, float))
    if tied is None and limits is not None and method == "trust-constr" and not run.levels:
        nothing = {"type": "ineq", "fun": lambda x: 1.0 + 0.0 * x[:1]}  # bounds only, which it does not reach
        moved = Constraints(nothing, run).moving_minimum(value, at, limits)
    elif tied is None:
        moved = moving_minimum(run, value, at, limits)
    else:
        moved = tied.moving_minimum(value, at, limits)
    return _result(run, found, moved, value)


def _is_empty(constraints: Any) -> bool:
    return constraints is None or (isinstance(constraints, list | tuple) and not constraints)


def _result(run: Run, found: Any, moved: Any, value: Any) -> Any:
    """SciPy's result with the minimum and its value as tensors."""
    result = found[0] if run.levels else run.fields(found)
    if run.levels:
        result.success = run.gathered(found, lambda each: np.asarray(each.success))
    result.x = moved
    result.fun = _one_number(value(moved), run.title)
    return result


@original.differentiated_with_callbacks
def minimize_scalar(
    fun: Any,
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    method: Any = None,
    tol: Any = None,
    options: Any = None,
) -> Any:
    """A minimum of a function of one number; `x` and `fun` of the result move with what fun reads.

    >>> import gradtape as gt
    >>> from gradtape.scipy.optimize import minimize_scalar
    >>> round(float(gt.grad(lambda k: minimize_scalar(lambda x: (x - k) ** 2 + 0.1 * x**4).x)(1.0)), 4)
    0.6883
    """
    arguments = as_tuple(args)
    run = Run("scipy.optimize.minimize_scalar", arguments, bracket, bounds, traces=True)
    plain = scalar_function(run, fun, arguments)

    def compute() -> Any:
        pairs = [None if each is None else tuple([run.numbers(x) for x in each]) for each in (bracket, bounds)]
        return original.contents.minimize_scalar(plain, *pairs, (), method, tol, options)

    found = run.solve(compute)
    if not run.is_followed:
        return found
    at = run.gathered(found, lambda each: np.atleast_1d(np.asarray(each.x, float)))
    limits = None if bounds is None else Limits.of_sides(bounds[0], bounds[1], 1)
    moved = moving_minimum(run, lambda z: fun(z[0], *arguments), at, limits, 2e-5)
    return _result(run, found, moved[0], lambda x: fun(x, *arguments))


WITHOUT_BOUNDS = ("fmin", "fmin_powell", "fmin_cg", "fmin_bfgs", "fmin_ncg", "brent", "golden", "fminbound")
GLOBAL = ("differential_evolution", "dual_annealing", "shgo", "direct", "basinhopping", "brute")


def minimiser(name: str) -> Any:
    """One of SciPy's older or global minimisers: the function first, x0 or bounds behind it, `args=` by name."""

    def solver(*args: Any, **named: Any) -> Any:
        title = f"scipy.optimize.{name}"
        theirs = getattr(original.contents, name)
        given = inspect.signature(theirs).bind(*args, **named).arguments
        names = list(inspect.signature(theirs).parameters)
        options = given.pop("options", {}) if "options" not in names or names[-1] == "options" else {}
        extra = given.pop("kwargs", {})
        given = {**given, **(options if isinstance(options, dict) else {}), **extra}
        function = given.pop(names[0])
        arguments = as_tuple(given.pop("args", ()))
        inner = dict(given.get("minimizer_kwargs") or {}) if name == "basinhopping" else {}
        if inner:
            arguments = as_tuple(inner.pop("args", arguments))
        run = Run(title, arguments, *[x for x in given.values() if not isinstance(x, dict)])

        def plain(x: Any) -> Any:
            return number(run.numbers(function(x, *arguments)))

        if inner:
            slope = inner.get("jac")
            if callable(slope):
                inner["jac"] = run.function(lambda x: slope(x, *arguments))
            given["minimizer_kwargs"] = inner
        for key in ("fprime", "fhess", "fhess_p"):
            if callable(given.get(key)):
                each = given[key]
                given[key] = run.function(lambda *x, each=each: each(*x, *arguments))

        def compute() -> Any:
            plainly = {key: _plain(run, x) for key, x in given.items()}
            return theirs(plain, **plainly)

        found = run.solve(compute)
        if not run.is_followed:
            return found
        if not _is_empty(given.get("constraints", ())):
            raise solver_error(
                UnsupportedError,
                f"{title}: solutions with constraints= are not differentiated here.",
                "minimize(..., constraints=...) from the solution found",
            )
        part = _part(found[0] if run.levels else found)
        first = np.asarray(part(found[0] if run.levels else found), float)
        at = run.gathered(found, lambda each: np.asarray(part(each), float).reshape(-1))
        limits = None
        if name in ("differential_evolution", "dual_annealing", "shgo", "direct"):
            limits = Limits(given["bounds"], first.size)
        elif name == "fminbound":
            limits = Limits.of_sides(given["x1"], given["x2"], 1)
        value = lambda z: function(z.reshape(first.shape), *arguments)
        moved = moving_minimum(run, value, at, limits, 2e-5).reshape(first.shape)
        if hasattr(found[0] if run.levels else found, "keys"):
            return _result(run, found, moved, lambda x: function(x, *arguments))
        return (moved, *found[1:]) if isinstance(found, tuple) else moved

    solver.__name__ = name
    solver.__qualname__ = name
    solver.__doc__ = f"""SciPy's `{name}`: the minimum that it finds moves with what the function reads."""
    return original.differentiated_with_callbacks(solver)


def _plain(run: Run, value: Any) -> Any:
    if isinstance(value, Tensor):
        return run.numbers(value)
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)([_plain(run, each) for each in value])
    return value


def _part(found: Any) -> Any:
    if hasattr(found, "keys"):
        return lambda each: each.x
    return (lambda each: each[0]) if isinstance(found, tuple) else (lambda each: each)


fmin, fmin_powell, fmin_cg, fmin_bfgs, fmin_ncg, brent, golden, fminbound = map(minimiser, WITHOUT_BOUNDS)
differential_evolution, dual_annealing, shgo, direct, basinhopping, brute = map(minimiser, GLOBAL)
