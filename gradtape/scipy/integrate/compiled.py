"""`solve_ivp` and `odeint` inside `jit`: the steps as one loop of the compiled program.

`solve_ivp` needs SciPy's solver no more. `odeint` has the values of SciPy's, which the compiled program calls, and the
derivatives of the loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.extend import Tensor, bind_state, is_in_callback, off_tape, plain
from gradtape.odes.traced import RUNNING, NotTraced
from gradtape.ops import concatenate, where
from gradtape.scipy.callbacks import Run, stacked, with_value
from gradtape.scipy.integrate.traced_steps import ExplicitSteps

OPTIONS = {"rtol": 1e-3, "atol": 1e-6, "max_step": np.inf, "first_step": None}
FAILED = "Required step size is less than spacing between numbers."
REACHED = "The solver successfully reached the end of the integration interval."


def solve_traced(theirs: Any, method: Any, equation: Any, span: tuple[Any, Any], t_eval: Any, options: Any) -> Any:
    """SciPy's result, with the steps as a loop of the program that is traced; None where they cannot be one.

    The numbers of evaluations (`nfev`) are not counted. With t_eval=None, the number of steps is the shape of the
    result: a call that takes another number of steps is traced again.
    """
    if set(options) - set(OPTIONS) or len(equation.start.shape) != 1:
        return None  # SciPy says what is wrong
    equation.call = bind_state(equation.call)  # it runs again, for a gradient
    chosen = OPTIONS | options
    if any(isinstance(x, Tensor) for x in chosen.values()):
        return None
    begin, end = (x.astype(float) if isinstance(x, Tensor) else np.float64(x) for x in span)
    rtol, atol = np.maximum(chosen["rtol"], 100.0 * np.finfo(float).eps), chosen["atol"]
    if not _are_valid(chosen, rtol, atol, equation.start):
        return None  # SciPy says what is wrong
    targets = None if t_eval is None else _targets(t_eval, begin, end)
    if t_eval is not None and targets is None:
        return None
    steps = ExplicitSteps(method, equation.slope, (begin, end), rtol, atol, chosen["max_step"], targets is not None)
    try:
        first = steps.start(equation.start, chosen["first_step"])
        if targets is None:
            last, times, (rows,) = steps.walk_steps(first, end)
            t = concatenate([_row(begin), times])
            y = concatenate([equation.start[None], rows])
        else:
            t = targets
            last, (y,) = steps.walk(first, concatenate([targets, _row(end)]))
            y = y[:-1]
    except NotTraced:
        return None
    if is_in_callback():  # of a solver, say, which is told by NaN
        has_failed = off_tape(last.status) != RUNNING
        return _result(theirs, t, where(has_failed, np.nan, y).T, 0, REACHED)
    if last.status != RUNNING:  # a guard: a call in which the solution fails is traced again, and ends here
        failed = plain(last.t)
        count = int((np.asarray(plain(off_tape(t))) * np.sign(plain(end) - plain(begin)) <= failed).sum())
        return _result(theirs, t[:count], y[:count].T, -1, FAILED)
    return _result(theirs, t, y.T, 0, REACHED)


LSODA_TOLERANCE = 1.49012e-8
"""What `rtol` and `atol` of `odeint` are if they are not given."""


def odeint_traced(theirs: Any, equation: Any, t: Any, options: dict[str, Any]) -> Any:
    """SciPy's `odeint`, called by the program that is traced, with the derivatives of DOP853; None if it cannot be."""
    times = stacked(t)
    times = times if isinstance(times, Tensor) else np.asarray(times, float)
    if times.ndim != 1 or times.shape[0] < 2 or equation.start.dtype.kind != "f":
        return None
    tolerances = {name: LSODA_TOLERANCE if options[name] is None else options[name] for name in ("rtol", "atol")}
    longest = options["hmax"] or np.inf
    run = Run(equation.title, equation.start, times, traces=True)
    slope = run.function(lambda t, y: equation.slope(t, y))

    def compute() -> Any:
        found, info = theirs.odeint(
            slope, run.numbers(equation.start), run.numbers(times), tfirst=True, full_output=True, **options
        )
        return found, info["mused"]

    found = run.solve(compute)
    if not run.is_traced:
        run.is_traced, found = True, run.solve(compute)
    if np.any(found[1] == 2):
        return None
    moving = solve_traced(
        theirs, theirs.DOP853, equation, (times[0], times[-1]), times, {**tolerances, "max_step": longest}
    )
    if moving is None or not moving.success:
        return None
    return with_value(moving.y.T, run.gathered(found, lambda each: each[0]))


def _result(theirs: Any, t: Any, y: Any, status: int, message: str) -> Any:
    fields = {"t": t, "y": y, "sol": None, "t_events": None, "y_events": None, "nfev": None, "njev": None, "nlu": None}
    return theirs._ivp.ivp.OdeResult(**fields, status=status, message=message, success=status >= 0)


def _are_valid(chosen: dict[str, Any], rtol: Any, atol: Any, y: Any) -> bool:
    first, longest = chosen["first_step"], chosen["max_step"]
    if np.ndim(rtol) or np.any(np.asarray(atol) < 0) or np.shape(atol) not in ((), y.shape):
        return False
    return bool(longest > 0 and (first is None or first > 0) and chosen["rtol"] >= 100.0 * np.finfo(float).eps)


def _row(number: Any) -> Any:
    return number.reshape((1,))


def _targets(t_eval: Any, begin: Any, end: Any) -> Any:
    """The times asked for, if they are in order and within the interval: that they are is a guard."""
    given = stacked(t_eval)
    times = given.astype(float) if isinstance(given, Tensor) else np.asarray(given, float)
    if times.ndim != 1 or not times.shape[0]:
        return None
    at, low, high = (off_tape(x) for x in (times, begin, end))
    steps = (at[1:] - at[:-1]) * np.where(high < low, -1.0, 1.0)
    inside = ((at >= np.minimum(low, high)) & (at <= np.maximum(low, high))).all()
    return times if inside & (steps > 0.0).all() else None
