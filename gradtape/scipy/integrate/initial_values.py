"""`solve_ivp` and `odeint`: SciPy takes the steps, and what it has found is recorded step by step afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.errors import DtypeError, OperandError, ShapeError, UnsupportedError
from gradtape.extend import Tensor, as_value, is_followed, is_tracing, leaves, off_tape, solver_error, unshared
from gradtape.mirror import Original
from gradtape.ops import concatenate, stack
from gradtape.scipy.callbacks import Run, as_tuple, solution, stacked, with_value
from gradtape.scipy.integrate.compiled import LSODA_TOLERANCE, odeint_traced, solve_traced
from gradtape.scipy.integrate.steps import NODES, ExplicitStep, ImplicitStep, Slope, Step

original = Original("scipy.integrate")

EXPLICIT = ("RK23", "RK45", "DOP853")
IMPLICIT = ("Radau", "BDF", "LSODA")


class Trajectory:
    """The steps of one integration, recorded, and SciPy's own values to go with them."""

    def __init__(self, times: list[float], steps: list[Step], direction: float) -> None:
        self.times, self.steps, self.direction = times, steps, direction

    def index(self, times: Any) -> Any:
        """The number of the step that each of the times is in; the one that ends there, where two meet."""
        ends = self.direction * np.asarray(self.times[1:])
        return np.clip(np.searchsorted(ends, self.direction * np.asarray(times)), 0, len(self.steps) - 1)

    def at(self, times: Any) -> Any:
        """The states at a vector of times, which may be a tensor; a column for each."""
        numbers = np.asarray(off_tape(times))
        indices = self.index(numbers)
        if not numbers.size:
            return self.steps[0].y[:, None][:, :0]
        places = np.flatnonzero(np.diff(indices, prepend=indices[0] - 1))
        parts = [
            self.steps[indices[low]].at(times[low:high])
            for low, high in zip(places, [*places[1:], len(indices)], strict=True)
        ]
        return parts[0] if len(parts) == 1 else concatenate(parts, axis=1)


class Recorder:
    """Remembers the steps that a solver of SciPy's takes, and the interpolation within each of them."""

    def __init__(self, method: Any, with_interpolation: bool) -> None:
        times: list[float] = []
        interpolants: list[Any] = []

        class Remembering(method):  # type: ignore[misc]
            def step(self) -> Any:
                if not times:
                    times.append(float(self.t))
                message = super().step()
                if self.status != "failed":
                    times.append(float(self.t))
                    if with_interpolation:
                        interpolants.append(self.dense_output())
                return message

        Remembering.__name__ = method.__name__
        self.solver, self.times, self.interpolants = Remembering, times, interpolants


def record_steps(
    method: Any, slope: Slope, recorder: Recorder, start: Any, end: Any, y0: Any, state: Callable[[Any], Any]
) -> Trajectory:
    """The steps that a solver has taken, again and recorded; `state` makes a state of a vector of SciPy's.

    `start` and `end` are the ends of the whole interval, which may be tensors; the times in between count as given.
    """
    numbers = recorder.times
    times: list[Any] = list(numbers)
    times[0] = start if is_followed(start) else times[0]
    times[-1] = end if is_followed(end) and float(off_tape(end)) == numbers[-1] else times[-1]
    steps: list[Step] = []
    y = y0
    last_slope = slope(times[0], y) if method.__name__ in EXPLICIT else None
    for index in range(len(numbers) - 1):
        low, high = times[index], times[index + 1]
        if last_slope is not None:
            step = ExplicitStep(method, slope, low, high, y, last_slope)
            last_slope = step.last_slope
            steps.append(step)
        else:
            h = numbers[index + 1] - numbers[index]
            found = recorder.interpolants[index]
            from_scipy = [state(found(numbers[index] + c * h)) for c in (*NODES, 0.0)]
            steps.append(ImplicitStep(slope, low, high, y, [move - from_scipy[3] for move in from_scipy[:3]]))
        y = steps[-1].last
    return Trajectory(numbers, steps, 1.0 if numbers[-1] >= numbers[0] else -1.0)


class Equation:
    """y' = fun(t, y), y(t0) = y0."""

    def __init__(self, title: str, fun: Any, y0: Any, args: tuple[Any, ...], vectorized: bool) -> None:
        self.title = title
        start = stacked(y0)
        start = start if isinstance(start, Tensor) else np.asarray(start)
        if start.dtype.kind not in "fc":
            start = start.astype(float)
        self.start, self.size = start, start.shape[0] if start.shape else 1
        self.call: Slope
        if vectorized:
            self.call = lambda t, y: stacked(fun(t, y[:, None], *args)).reshape(y.shape)
        else:
            self.call = lambda t, y: stacked(fun(t, y, *args))

    def slope(self, t: Any, y: Any) -> Any:
        """dy/dt as an array or tensor of the shape and dtype of y."""
        found = unshared(self.call(t, y))  # it may be a buffer that the next call fills
        found = found if isinstance(found, Tensor) else np.asarray(found)
        if found.shape != y.shape:
            if found.size != y.size:
                raise solver_error(
                    ShapeError,
                    f"{self.title}: fun returned shape {found.shape} for a state of shape {y.shape}.",
                    "return dy/dt, of the shape of y",
                )
            found = found.reshape(y.shape)
        if found.dtype.kind == "c" and y.dtype.kind != "c":
            raise solver_error(
                DtypeError,
                f"{self.title}: fun returned complex numbers, and y0 is real.",
                "start with a complex state: y0.astype(complex)",
            )
        return found if found.dtype == y.dtype else found.astype(y.dtype)


class Problem(Equation):
    """An equation that SciPy solves: in `vmap` one system for all examples together."""

    def __init__(
        self,
        title: str,
        fun: Any,
        y0: Any,
        args: tuple[Any, ...],
        given: Any,
        vectorized: bool,
        uncompiled: str = "whose steps depend on the numbers",
    ) -> None:
        self.run = Run(title, y0, args, given, uncompiled=uncompiled)
        super().__init__(title, fun, y0, args, vectorized)

    def find_batches(self, t: float) -> None:
        """Look at one evaluation, for batches that y0 and args do not belong to."""
        self.run.note(self.slope(t, self.start))

    def numbers(self, value: Any) -> Any:
        """A state as SciPy gets it: the numbers of all examples, one after the other."""
        return self.run.all_numbers(value).reshape(-1)

    def state(self, vector: Any) -> Any:
        """A state, or columns of states, from SciPy's."""
        if not self.run.levels:
            return vector
        return self.run.lifted(np.reshape(vector, (*self.run.sizes, self.size, *np.shape(vector)[1:])))

    def plain_slope(self, t: Any, y: Any) -> Any:
        """The function that SciPy gets."""
        if not self.run.levels:
            return self.run.numbers(self.call(t, y))
        return self.numbers(self.slope(t, self.state(y)))


@original.differentiated_with_callbacks
def solve_ivp(
    fun: Any,
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Any = None,
    **options: Any,
) -> Any:
    """The solution of y' = fun(t, y, *args) with y = y0 at t_span[0], by SciPy's methods, with SciPy's values.

    It can be differentiated by y0, t_span, t_eval, args and by all tensors that `fun` and `events` read. The lengths
    of the steps count as given. RK23, RK45 and DOP853 are differentiated as they stand; Radau, BDF and LSODA by the
    equations of the Radau method on their steps, so that the derivatives are as exact as the solution. Times and
    states of events are differentiated too, and so is the function `sol` of `dense_output=True`.

    In `jit`, RK23, RK45 and DOP853 are one native loop, and so are their gradients; give `t_eval`, without which a call
    that takes another number of steps is traced again. `nfev` is None there. In functions that a solver calls, and in
    bodies of loops, `t_eval` is needed, and a solution that fails is NaN. Other methods, `events` and `dense_output`
    are not compiled.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.integrate import solve_ivp
    >>> def last(k):
    ...     return solve_ivp(lambda t, y: -k * y, (0.0, 2.0), [1.0], rtol=1e-8).y[0, -1]
    >>> bool(abs(gt.grad(last)(0.5) + 2.0 * np.exp(-1.0)) < 1e-5)
    True
    """
    title = "scipy.integrate.solve_ivp"
    theirs = original.contents
    arguments = () if args is None else _unpacked(args, title)
    names = {name: getattr(theirs, name) for name in (*EXPLICIT, *IMPLICIT)}
    kind = names.get(method, method) if isinstance(method, str) else method
    start, end = t_span
    uncompiled = _why_uncompiled(kind, events, dense_output)
    if not uncompiled and is_tracing(leaves((y0, arguments, t_span, t_eval))):
        equation = Equation(title, fun, y0, arguments, vectorized)
        compiled = solve_traced(theirs, kind, equation, (start, end), t_eval, options)
        if compiled is not None:
            return compiled
    problem = Problem(
        title, fun, y0, arguments, (t_span, t_eval), vectorized, uncompiled or "whose function looks at a value"
    )
    run = problem.run
    t0, tf = (float(_plain_time(x, title, "t_span")) for x in (start, end))
    points = None if t_eval is None else _plain_time(stacked(t_eval), title, "t_eval")
    if problem.start.shape:
        problem.find_batches(t0)
    if not isinstance(kind, type) or not issubclass(kind, theirs.OdeSolver) or not problem.start.shape:
        return theirs.solve_ivp(fun, (t0, tf), problem.numbers(problem.start), method)  # which says what is wrong
    recorder = Recorder(kind, with_interpolation=kind.__name__ not in EXPLICIT)
    plain_events = _plain_events(events, problem, arguments)
    jac = options.get("jac")
    if callable(jac):
        options["jac"] = run.function(lambda t, y: jac(t, y, *arguments))
    if run.levels:
        options.pop("jac", None)
        options = {name: np.tile(x, np.prod(run.sizes)) if np.ndim(x) else x for name, x in options.items()}
        if events is not None:
            run.refuse_batches("events=", "a loop over the examples, or gt.odeint")
    found = theirs.solve_ivp(
        problem.plain_slope,
        (t0, tf),
        problem.numbers(problem.start),
        recorder.solver,
        points,
        dense_output,
        plain_events,
        False,  # `plain_slope` takes one state at a time, whatever fun takes
        None,
        **options,
    )
    if found.sol is not None and kind.__name__ in ("BDF", "LSODA"):
        found.sol = theirs.OdeSolution(found.sol.ts, found.sol.interpolants, alt_segment=True)
    if not run.is_followed or len(recorder.times) < 2:
        return found
    if kind.__name__ not in names:
        raise solver_error(
            UnsupportedError,
            f"{title}: method={kind.__name__} is a solver that gradtape does not know, and tensors with a gradient "
            f"are read.",
            f"one of {', '.join(names)}",
        )
    if problem.start.dtype.kind == "c" and kind.__name__ not in EXPLICIT:
        raise solver_error(
            UnsupportedError,
            f"{title}: a complex state with method={kind.__name__} is not differentiated.",
            "real and imaginary parts as two halves of a real state; or an explicit method",
        )
    return _differentiated(found, problem, recorder, names[kind.__name__], (start, end), t_eval, events, arguments)


def _why_uncompiled(method: Any, events: Any, dense_output: bool) -> str:
    """Why `jit` does not compile a call; empty if it does."""
    name = getattr(method, "__name__", str(method))
    if name not in EXPLICIT:
        return f'whose method="{name}" is not compiled: {", ".join(EXPLICIT)} are, and gt.odeint(method="rodas4")'
    if events is not None:
        return "whose events= are not compiled: take it out of the compiled function"
    return "whose dense_output=True is not compiled: give the times as t_eval=" if dense_output else ""


def _differentiated(
    found: Any,
    problem: Problem,
    recorder: Recorder,
    method: Any,
    span: tuple[Any, Any],
    t_eval: Any,
    events: Any,
    arguments: tuple[Any, ...],
) -> Any:
    """SciPy's result with its times and states as tensors."""
    trajectory = record_steps(method, problem.slope, recorder, *span, problem.start, problem.state)
    is_exact = method.__name__ in EXPLICIT

    def valued(moving: Any, numbers: Any) -> Any:
        return moving if is_exact else with_value(moving, problem.state(numbers))

    last_event = None
    if events is not None:
        functions = events if isinstance(events, list | tuple) else [events]
        final = _final(found, recorder) if found.status == 1 else None
        for index, event in enumerate(functions):
            pairs = [
                _event(event, arguments, trajectory, time, problem.title) for time in np.asarray(found.t_events[index])
            ]
            states = [valued(y, numbers) for (_, y), numbers in zip(pairs, found.y_events[index])]
            if pairs:
                if found.t_events[index][-1] == final:
                    last_event = (pairs[-1][0], states[-1])
                found.t_events[index] = stack([t for t, _ in pairs])
                found.y_events[index] = stack(states)
    numbers = np.asarray(found.t)
    if t_eval is None:
        columns = [problem.start, *(step.last for step in trajectory.steps)]
        times: list[Any] = [trajectory.steps[0].t, *(step.end for step in trajectory.steps)]
        if last_event is not None:
            times[-1], columns[-1] = last_event
        if len(times) != len(numbers):  # SciPy leaves out a step that ends where the one before does
            columns, times = columns[: len(numbers)], times[: len(numbers)]
        y = stack(columns, axis=1)
        found.t = stack(times) if any(isinstance(t, Tensor) for t in times) else numbers
    else:
        at = stacked(t_eval)
        at = at if isinstance(at, Tensor) and is_followed(at) else np.asarray(off_tape(at), float)
        at = at[: len(numbers)]
        y = trajectory.at(at)
        found.t = at
    found.y = valued(y, found.y)
    if found.sol is not None:
        found.sol = Solution(trajectory, found.sol, problem, is_exact)
    return found


def _final(found: Any, recorder: Recorder) -> float:
    """The time of the event that has ended the integration."""
    times = [t[-1] for t in found.t_events if len(t) and recorder.times[-2] != t[-1]]
    inside = [t for t in times if min(recorder.times[-2:]) <= t <= max(recorder.times[-2:])]
    direction = 1.0 if recorder.times[-1] >= recorder.times[0] else -1.0
    return float(max(inside, key=lambda t: direction * t))


def _event(event: Any, arguments: tuple[Any, ...], trajectory: Trajectory, time: Any, title: str) -> tuple[Any, Any]:
    """The time of an event, which moves so that the event's function stays zero, and the state then."""

    def value(t: Any) -> Any:
        state = trajectory.steps[int(trajectory.index(time))].at(t)[:, 0]
        found = event(t[0], state, *arguments)
        found = found if isinstance(found, Tensor) else np.asarray(found, float)
        return found.reshape((1,))

    at = solution(value, np.array([float(time)]), f"{title}: an event", polish=False)
    return at[0], trajectory.steps[int(trajectory.index(time))].at(at)[:, 0]


class Solution:
    """The solution as a function of time, as SciPy's `OdeSolution`: `sol(t)`, `ts`, `t_min`, `t_max`, `interpolants`.

    `sol(t)` can be differentiated by whatever the solution depends on, and by t.
    """

    def __init__(self, trajectory: Trajectory, theirs: Any, problem: Problem, is_exact: bool) -> None:
        self.trajectory, self.theirs, self.problem, self.is_exact = trajectory, theirs, problem, is_exact
        self.ts, self.t_min, self.t_max = theirs.ts, theirs.t_min, theirs.t_max
        self.interpolants, self.n_segments = theirs.interpolants, theirs.n_segments

    def __call__(self, t: Any) -> Any:
        """The state at a time, or a column for each of several times."""
        t = as_value(stacked(t))
        if len(t.shape) > 1:
            raise solver_error(ShapeError, f"sol: t has shape {t.shape}.", "a number, or a vector of times")
        flat = t.reshape((-1,))
        numbers = np.asarray(off_tape(flat))
        order = np.argsort(numbers, kind="stable")
        states = self.trajectory.at(flat[order] if isinstance(flat, Tensor) else numbers[order])
        states = states[:, np.argsort(order, kind="stable")]
        if not self.is_exact:
            states = with_value(states, self.problem.state(self.theirs(numbers)))
        return states if t.shape else states[:, 0]


def _plain_events(events: Any, problem: Problem, arguments: tuple[Any, ...]) -> Any:
    """The functions of events for SciPy, with the attributes that say how they count."""
    if events is None:
        return None

    def wrapped(event: Any) -> Any:
        def function(t: Any, y: Any) -> Any:
            return problem.run.numbers(event(t, y, *arguments))

        for name in ("terminal", "direction"):
            if hasattr(event, name):
                setattr(function, name, getattr(event, name))
        return function

    return wrapped(events) if callable(events) else [wrapped(event) for event in events]


def _plain_time(value: Any, title: str, name: str) -> Any:
    plain = off_tape(value)
    if isinstance(plain, Tensor):
        raise solver_error(
            OperandError,
            f"{title}: {name} differs between the examples of a batch.",
            "the same times for all; a change of variable makes intervals alike",
        )
    return plain


def _unpacked(args: Any, title: str) -> tuple[Any, ...]:
    try:
        return (*args,)
    except TypeError:
        raise solver_error(
            OperandError, f"{title}: args={args!r} cannot be unpacked.", f"a tuple: args=({args!r},)"
        ) from None


@original.differentiated_with_callbacks
def odeint(
    func: Any,
    y0: Any,
    t: Any,
    args: Any = (),
    Dfun: Any = None,
    col_deriv: Any = 0,
    full_output: Any = 0,
    ml: Any = None,
    mu: Any = None,
    rtol: Any = None,
    atol: Any = None,
    tcrit: Any = None,
    h0: float = 0.0,
    hmax: float = 0.0,
    hmin: float = 0.0,
    ixpr: Any = 0,
    mxstep: int = 0,
    mxhnil: int = 0,
    mxordn: int = 12,
    mxords: int = 5,
    printmessg: Any = 0,
    tfirst: bool = False,
) -> Any:
    """The solution of y' = func(y, t, *args) at the times t: the value is SciPy's (LSODA).

    LSODA does not tell its steps, so that the derivatives, by y0, t, args and whatever `func` reads, are those of
    another solution to the same tolerances: by DOP853, or by Radau where LSODA found the system stiff. In `jit`, the
    compiled program calls LSODA, and the other solution is a native loop; systems that are stiff in the call that is
    traced are not compiled, and neither are calls with `Dfun` or `full_output`.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.integrate import odeint
    >>> last = lambda k: odeint(lambda y, t: -k * y, 1.0, np.array([0.0, 2.0]))[-1, 0]
    >>> bool(abs(gt.grad(last)(0.5) + 2.0 * np.exp(-1.0)) < 1e-6)
    True
    """
    title = "scipy.integrate.odeint"
    theirs = original.contents
    arguments = as_tuple(args)
    start = stacked(y0)
    start = start.reshape((-1,)) if isinstance(start, Tensor) else np.atleast_1d(np.asarray(start))
    with_time_first = func if tfirst else lambda t, y, *rest: func(y, t, *rest)
    if is_tracing(leaves((y0, arguments, t))) and Dfun is None and not full_output:
        options = {
            "rtol": rtol,
            "atol": atol,
            "tcrit": tcrit,
            "h0": h0,
            "hmax": hmax,
            "hmin": hmin,
            "mxstep": mxstep,
            "mxordn": mxordn,
            "mxords": mxords,
        }
        compiled = odeint_traced(theirs, Equation(title, with_time_first, start, arguments, False), t, options)
        if compiled is not None:
            return compiled
    problem = Problem(title, with_time_first, start, arguments, t, False)
    run = problem.run
    given = stacked(t)
    times = np.asarray(_plain_time(given, title, "t"))
    if times.ndim == 1 and times.size:
        problem.find_batches(float(times[0]))
    derivative = Dfun
    if callable(Dfun) and not run.levels:
        derivative = run.function(lambda t, y: Dfun(t, y, *arguments) if tfirst else Dfun(y, t, *arguments))
    elif run.levels:
        derivative, ml, mu = None, None, None
        rtol, atol = (np.tile(x, np.prod(run.sizes)) if np.ndim(x) else x for x in (rtol, atol))
    y, info = theirs.odeint(
        problem.plain_slope,
        problem.numbers(problem.start),
        times,
        (),
        derivative,
        col_deriv,
        1,
        ml,
        mu,
        rtol,
        atol,
        tcrit,
        h0,
        hmax,
        hmin,
        ixpr,
        mxstep,
        mxhnil,
        mxordn,
        mxords,
        printmessg,
        True,
    )
    if run.is_followed and times.size > 1:
        exact = np.flatnonzero(np.diff(times))
        method = theirs.DOP853 if np.all(info["mused"] != 2) else theirs.Radau
        if exact.size:
            moving = _again(problem, given, times, method, rtol, atol, hmax)
            y = with_value(moving, problem.state(y.T)).T
    return (y, info) if full_output else y


def _again(problem: Problem, given: Any, times: Any, method: Any, rtol: Any, atol: Any, hmax: float) -> Any:
    """The solution at the times by another method, recorded, a column for each time."""
    recorder = Recorder(method, with_interpolation=method.__name__ == "Radau")
    tolerances = {
        "rtol": np.maximum(LSODA_TOLERANCE if rtol is None else rtol, 1e-13),
        "atol": LSODA_TOLERANCE if atol is None else atol,
    }
    ends = float(times[0]), float(times[-1])
    solver = recorder.solver(
        problem.plain_slope, ends[0], problem.numbers(problem.start), ends[1], max_step=hmax or np.inf, **tolerances
    )
    while solver.status == "running":
        message = solver.step()
        if solver.status == "failed":
            raise solver_error(
                UnsupportedError,
                f"{problem.title}: the solution could not be followed to t = {ends[1]:.6g} for its derivative: "
                f"{message}",
                "a larger rtol=; or solve_ivp",
            )
    followed = isinstance(given, Tensor) and is_followed(given)
    start, end = (given[0], given[-1]) if followed else ends
    trajectory = record_steps(method, problem.slope, recorder, start, end, problem.start, problem.state)
    rest = trajectory.at(given[1:] if followed else times[1:].astype(float))
    return concatenate([problem.start[:, None], rest], axis=1)
