"""Explanations of a compiled call: the function itself is run once more, uncompiled, to report its findings.

A program has no names and no frames to tell a cause from. So what is found while a function is traced is withheld, and
gradients that are zero or not finite there are only noted. If there was any of this, the function is run as it is, on
the same arguments, before its program is: it says what it says without `jit`, or raises. Nothing that it does is left
behind. Healthy functions are not run twice.

Numbers that were not computed while tracing are looked at in the first run: gradients of zeros, and results that are
not finite, where the run of the function also shows the floating-point warnings of NumPy that tracing has not.

After that, results are looked at in the first, second, fourth, eighth run and so on, and a first result that is one
number, the value of a loss, in every run. The first one that is not finite is looked into in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradtape.core.pytree import leaves
from gradtape.core.tensor import Tensor
from gradtape.errors import GradTapeError

if TYPE_CHECKING:
    from gradtape.explain.emit.withhold import Withheld
    from gradtape.jit.guards.signature import CallArguments
    from gradtape.jit.runtime.executable import Executable

_float64 = np.float64
_OTHERS = frozenset({np.float32, Tensor, tuple})


def is_suspect(answer: Any, runs: int) -> bool:
    """Whether to look at the results of a run: cheap enough to ask each time."""
    if not runs & (runs - 1):
        return True
    first = answer[0] if type(answer) is tuple and answer else answer
    if type(first) is _float64:
        return not isfinite(first)
    return type(first) in _OTHERS and _is_nonfinite_number(first)


def _is_nonfinite_number(first: Any) -> bool:
    """Whether a result is one number that is not finite, or begins with one, as the pair of a value and more does."""
    if type(first) is tuple:
        first = first[0] if first else None
    number = first._array if isinstance(first, Tensor) else first
    return isinstance(number, np.floating | np.ndarray) and number.shape == () and not isfinite(number)


def is_finite(answer: Any) -> bool:
    """Whether there is no NaN and no infinity in a nested structure of arrays."""
    arrays = [x._array if isinstance(x, Tensor) else x for x in leaves(answer)]
    numbers = [x for x in arrays if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fc"]
    return all(bool(np.isfinite(x).all()) for x in numbers)


def has_zero_gradient(answer: Any, places: Sequence[int]) -> bool:
    """Whether one of the leaves at `places` of an answer, which are gradients, is zero everywhere."""
    found = leaves(answer) if places else []
    return any(_is_zero(found[place]) for place in places)


def _is_zero(x: Any) -> bool:
    array = np.asarray(x._array if isinstance(x, Tensor) else x)
    return array.size > 0 and not array.any()


@contextmanager
def withhold_findings() -> Iterator[Withheld]:
    """Hold back findings about gradients while a function is traced: its own run reports them with more context."""
    from gradtape.explain.emit.withhold import withhold  # lazy: loaded with the first compiled function

    with withhold() as found:
        yield found


class ExecutableRun(NamedTuple):
    """One run of an executable: its input arrays, and the arguments and captured values that they came from."""

    call: CallArguments | None = None
    environment: list[Any] = []  # noqa: RUF012  (it is never changed)
    arrays: Sequence[Any] = ()
    is_over: bool = True

    @property
    def owners(self) -> list[Any]:
        """The arrays, tensors and Variables whose values the run was given."""
        given = [] if self.call is None else [self.call.owner(index) for index in range(len(self.call.arrays))]
        return [*given, *self.environment]


WITHOUT_WRITES = ExecutableRun()
"""A run that has written nothing, so that its inputs are unchanged."""


def explain(function: Callable[..., Any], args: Any, kwargs: Any, executable: Executable, run: ExecutableRun) -> None:
    """Run `function` uncompiled on the arguments of a call, for its reports; all its side effects are undone.

    Where it fails, what was found while it was traced is reported.
    """
    from gradtape.explain.emit.policy import report
    from gradtape.explain.model.codes import CODES
    from gradtape.jit.diagnostics.rollback import restore_after, rewind_during

    is_first_report = executable.hides_errors and run.is_over
    executable.hides_errors = False
    targets = [] if run.call is None else [write.target(run.call, run.environment) for write in executable.in_place]
    try:
        with (
            restore_after(function, [args, kwargs], [x for x in targets if isinstance(x, np.ndarray)]),
            rewind_during(executable, run.owners, run.arrays),
            nullcontext() if is_first_report else np.errstate(all="ignore"),
        ):
            function(*args, **kwargs)
    except Warning:
        raise
    except Exception as error:  # whatever else a second run meets is no part of the answer
        problem = error.problem if isinstance(error, GradTapeError) else None
        if problem is not None and problem.code in CODES and not CODES[problem.code].is_fixed:
            raise  # an explanation, which is to be an error
        for found in () if run.is_over else executable.withheld.problems:
            report(found)
