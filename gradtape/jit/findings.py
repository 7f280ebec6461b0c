"""What a compiled gradient that is not finite is explained by: the function itself is run once on the same arguments.

A program has no lines to show. Its results are looked at in the first, second, fourth, eighth run and so on, and a
first result that is one number, the value of a loss, in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.structure import leaves
from gradtape.core.tensor import Tensor
from gradtape.errors import GradTapeError

if TYPE_CHECKING:
    from gradtape.explain.problem import Problem
    from gradtape.jit.traces import Trace

_float64 = np.float64


def is_suspect(answer: Any, runs: int) -> bool:
    """Whether to look at the results of a run: cheap enough to ask each time."""
    if not runs & (runs - 1):
        return True
    first = answer[0] if type(answer) is tuple and answer else answer
    return type(first) is _float64 and not isfinite(first)


def is_finite(answer: Any) -> bool:
    """Whether there is no NaN and no infinity in a nested structure of arrays."""
    arrays = [x._array if isinstance(x, Tensor) else x for x in leaves(answer)]
    numbers = [x for x in arrays if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fc"]
    return all(bool(np.isfinite(x).all()) for x in numbers)


@contextmanager
def withheld() -> Iterator[list[Problem]]:
    """Inside a function is traced: what would be said about NaN and infinity there, the function itself says better."""
    from gradtape.explain.voices import withholding  # by those who compile something

    with withholding("GT401", "GT402", "GT403") as found:
        yield found


def explain(function: Callable[..., Any], args: Any, kwargs: Any, trace: Trace) -> None:
    """Run `function` as it is, for what it reports about its gradients; nothing is left behind by it.

    A function that assigns has done so: then what was found when it was traced is said.
    """
    if trace.writes:
        from gradtape.explain.voices import report

        for problem in trace.findings:
            report(problem)
        return
    after = [generator.bit_generator.state for generator in trace.generators]
    for generator, state in zip(trace.generators, trace.before, strict=True):
        generator.bit_generator.state = state
    try:
        with np.errstate(all="ignore"):
            function(*args, **kwargs)
    except (GradTapeError, Warning):
        raise
    except Exception:  # whatever else a second run meets is no part of the answer, which is there
        return
    finally:
        for generator, state in zip(trace.generators, after, strict=True):
            generator.bit_generator.state = state
