"""Differential equations whose solutions can be differentiated: by their starts, their times and their arguments."""

from __future__ import annotations

from typing import Any

from gradtape.errors import GradTapeError, OperandError
from gradtape.extend import bind_state, running_now, solver_error
from gradtape.odes.integration import integrate
from gradtape.odes.system import Function, System

__all__ = ["odeint"]


def odeint(
    function: Function,
    y0: Any,
    t: Any,
    *arguments: Any,
    args: Any = (),
    method: str = "dopri5",
    rtol: float = 1e-7,
    atol: float = 1e-9,
    adjoint: bool = True,
    max_steps: int = 10_000,
    first_step: float | None = None,
    max_step: float | None = None,
    step_size: float | None = None,
    tfirst: bool = False,
) -> Any:
    """The solution of dy/dt = `function(y, t, *args)` with y = `y0` at `t[0]`, at all times `t`: rows for times.

    The args follow the times, one by one, or are given as `args=(...)`, as SciPy's `odeint` takes them.

    y is an array or a nested structure of arrays, and what the function returns has the same structure. The times go
    up or down. Gradients by `y0`, `t` and `args`, and by whatever else the function reads, in both modes and of any
    order, are those of the steps that were taken, exactly; how long a step is counts as given. With `adjoint=True` the
    walk back recomputes one step at a time, so that only the states between the steps are kept (this is the discrete
    adjoint); with `adjoint=False` everything is kept, which is faster and takes more memory.

    - `method`: "dopri5" (order 5, steps by `rtol` and `atol`, times in between by interpolation); "rodas4" for stiff
      systems (order 4, linearly implicit with the exact Jacobian, steps end at the times); "rk4", "midpoint" and
      "euler" with fixed steps of at most `step_size`, or one from time to time.
    - `tfirst=True` is for functions `f(t, y, *args)`, such as `scipy.integrate.solve_ivp` takes.
    - `max_steps`: as many steps at most, accepted or not; then an error says where the solution has got to.
    - In `vmap` all examples take the same steps: those that the most demanding one needs.
    - In `jit` the steps are one native loop, and so is their gradient; second derivatives are not compiled.

    >>> import numpy as np, gradtape as gt
    >>> def decay(y, t, rate):
    ...     return -rate * y
    >>> gt.odeint(decay, 1.0, np.array([0.0, 1.0, 2.0]), 0.5).round(6)
    array([1.      , 0.606531, 0.367879])
    >>> last = lambda rate: gt.odeint(decay, 1.0, np.array([0.0, 2.0]), rate)[-1]
    >>> round(float(gt.grad(last)(0.5)), 6)      # -2 exp(-1)
    -0.735759
    """
    named = args if isinstance(args, tuple) else (args,)
    if arguments and named:
        raise solver_error(
            OperandError,
            f"gt.odeint: {len(arguments)} arguments after the times, and args= as well.",
            "gt.odeint(f, y0, t, a, b), or gt.odeint(f, y0, t, args=(a, b))",
        )
    given = arguments or named
    try:
        kept = bind_state(function)  # steps are run again, for their gradient
        with running_now(kept):
            system = System(kept, y0, tfirst)
            return integrate(system, t, given, method, rtol, atol, adjoint, max_steps, first_step, max_step, step_size)
    except TypeError as error:
        if isinstance(error, GradTapeError) or not (len(arguments) == 1 and isinstance(arguments[0], tuple)):
            raise
        raise solver_error(
            OperandError,
            f"gt.odeint: a tuple follows the times, which is one argument of the function: {error}.",
            "gt.odeint(f, y0, t, a, b), or gt.odeint(f, y0, t, args=(a, b))",
        ) from error
