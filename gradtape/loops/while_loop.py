"""`while_loop`: a loop whose number of steps depends on values, and its form for steps that may be rejected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from gradtape.core import recording
from gradtape.core.batch import BatchTensor
from gradtape.core.early_binding import bind_early
from gradtape.core.graph import concrete_value
from gradtape.core.kept_state import bind_state
from gradtape.core.location import Location
from gradtape.core.operation import Lifted
from gradtape.core.pytree import leaves, rebuild
from gradtape.core.tensor import Tensor
from gradtape.errors import OperandError
from gradtape.loops import checks
from gradtape.ops import where

Function = Callable[..., Any]
TITLE = "while_loop"


class Attempts(NamedTuple):
    """A loop of attempts: as long as `condition(carry)` holds, `carry, accepted = attempt(carry, None)`.

    An attempt that is not accepted leaves all differentiable parts of the carry as they were. So a derivative is that
    of the accepted attempts, one after the other: `attempt(carry, True)` computes one without looking whether it is
    accepted. All other parts of the carry, such as the length of a step, count as given.
    """

    condition: Function
    attempt: Function
    carry: Any


class TracedAttempts(NamedTuple):
    """What a loop of attempts ended with, as values of the program that is traced."""

    carry: Any
    accepted: Any  # how many attempts were
    is_full: Any  # whether it ended for lack of rows to keep the carries of accepted attempts in


AttemptsTracer = Callable[[Attempts, int | None], TracedAttempts | None]
"""Traces attempts as one loop of the program that is being traced; None if none is, or if the steps have to be traced
one by one. The second argument is the number of rows for a gradient; with None there are enough."""
_tracers: list[AttemptsTracer] = []
_activity: list[Callable[[list[Any]], bool]] = []


def register_tracer(trace: AttemptsTracer, is_active: Callable[[list[Any]], bool]) -> None:
    """Ask `trace` before the steps of a while loop are run. `jit` registers its own when it is loaded.

    `is_active` tells whether a program is being traced that values belong to.
    """
    _tracers.append(trace)
    _activity.append(is_active)


def is_tracing(values: Iterable[Any]) -> bool:
    """Whether a program is being traced, and none of the values is of another interpreter, such as a batch."""
    return any(is_active(list(values)) for is_active in _activity)


def trace_attempts(attempts: Attempts, rows: int | None = None) -> TracedAttempts | None:
    """The attempts as one loop of the program that is traced; None where the steps have to be run one by one."""
    for trace in _tracers:
        found = trace(attempts, rows)
        if found is not None:
            return found
    return None


def number_in_trace(value: Any) -> Any:
    """The number that a value has in the call that is traced. Other calls may have another one: no guard is added."""
    return concrete_value(value)


def while_loop(condition: Function, body: Function, init: Any) -> Any:
    """`value = body(value)` as long as `condition(value)` holds, from `init` on; the last value.

    `init` is a nested structure of arrays, and the value keeps its structure, shapes and dtypes. The condition is one
    truth value. What is differentiated, mapped or compiled around it goes through, with the gradient of the steps that
    were taken. Inside `jit`, the loop is compiled once for any number of steps; for a gradient, the values before all
    steps are kept, and each step is run again on the walk back. In `vmap`, steps are taken until the condition holds
    for no example, and the examples for which it does not hold stay as they are.

    >>> import numpy as np, gradtape as gt
    >>> def root(a):
    ...     def improve(x):
    ...         return 0.5 * (x + a / x)
    ...     return gt.while_loop(lambda x: abs(x * x - a) > 1e-12 * a, improve, np.ones(()))
    >>> round(float(root(2.0)), 6)
    1.414214
    >>> round(float(gt.jit(gt.grad(root))(np.float64(4.0))), 6)      # 1 / (2 sqrt(4))
    0.25
    """
    bind = bind_state if is_tracing([]) else bind_early  # a trace runs the step again, for its gradient
    condition, body = bind(condition), bind(body)
    carry = checks.as_carry(init, TITLE)
    checked = checks.CheckedBody(_Repeated(body), carry)

    def attempt(carry: Any, accepted: Any) -> tuple[Any, bool]:
        return checked.step(carry, None, 0)[0], True

    found = trace_attempts(Attempts(lambda carry: truth_of(condition(carry)), attempt, carry))
    return _run(condition, checked, carry) if found is None else found.carry


class _Repeated:
    """The body of a while loop as that of a scan."""

    loop = TITLE

    def __init__(self, body: Function) -> None:
        self.body = body
        self.__name__ = getattr(body, "__name__", "body")
        self.__wrapped__ = body

    def __call__(self, carry: Any, x: Any) -> tuple[Any, None]:
        return self.body(carry), None


def _run(condition: Function, checked: checks.CheckedBody, carry: Any) -> Any:
    """Step by step, recorded as ever."""
    step = 0
    while True:
        with recording.during(recording.current().mute(True)):
            holds = truth_of(condition(carry))
        if not isinstance(holds, BatchTensor):
            if not holds:
                return carry
            carry, _ = checked.step(carry, None, step)
        else:
            numbers: Any = holds
            while isinstance(numbers, BatchTensor):
                numbers = numbers.value
            if not np.any(numbers):
                return carry
            new, _ = checked.step(carry, None, step)
            pairs = zip(leaves(new), leaves(carry), strict=True)
            carry = rebuild(carry, [None if old is None else where(holds, x, old) for x, old in pairs])
        step += 1


def truth_of(holds: Any) -> Any:
    """A condition as a truth value, if it is one."""
    value = holds if isinstance(holds, Tensor) else np.asarray(holds)
    if value.shape or value.dtype != np.dtype(bool):
        raise OperandError(
            f"{TITLE}: the condition returned {_told(holds)}; one truth value is wanted.\n{Location.here().show()}\n"
            f"  fix: compare (x > 0.0), and join several with & and |, or np.any and np.all"
        )
    return (
        value if isinstance(value, Lifted) else bool(np.asarray(value._array if isinstance(value, Tensor) else value))
    )


def _told(holds: Any) -> str:
    if isinstance(holds, Tensor | np.ndarray | np.generic):
        return f"shape {tuple(holds.shape)} and dtype {holds.dtype}"
    return f"a {type(holds).__name__}"
