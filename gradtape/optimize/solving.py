"""What all solvers share: run SciPy's on plain arrays, and let the solution move with the arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.errors import OperandError
from gradtape.extend import (
    ImplicitCondition,
    Lifted,
    Packing,
    call_outside,
    is_array,
    is_recorded,
    off_tape,
    solver_error,
    split_arrays,
)
from gradtape.optimize.result import OptimizeResult

Function = Callable[..., Any]


class SolverArguments:
    """The arguments of a function besides its unknowns: plain for the solver, as they came for the derivative."""

    def __init__(self, args: Any, title: str) -> None:
        self.given: tuple[Any, ...] = args if isinstance(args, tuple) else (args,)
        self.title = title
        self.arrays, self.template = split_arrays(self.given, is_array)
        self.template.were_tensors = [False] * len(self.arrays)

    @property
    def are_followed(self) -> bool:
        """Whether somebody records what becomes of them, so that the solution has to move with them."""
        return any(is_recorded(x) for x in self.arrays)

    def solve(self, core: Callable[[Any, tuple[Any, ...]], Any], start: Any) -> tuple[OptimizeResult, Any]:
        """The result of `core(start, plain arguments)`, and its x. In a batch, x and success of every example."""
        if not any(isinstance(x, Lifted) for x in (start, *self.arrays)):
            found = core(start, self.template.fill([off_tape(x) for x in self.arrays]))
            return OptimizeResult(found), found["x"]

        def solved(start: Any, *arrays: Any) -> list[Any]:
            found = core(start, self.template.fill(arrays))
            return [np.asarray(found["x"]), np.asarray(found["success"])]

        flat, success = call_outside(self.title, solved, [start, *self.arrays])
        return OptimizeResult(success=success, message="solved example by example"), flat

    def moving(self, condition: Function, packing: Packing, flat: Any, solve: Any, *more: Any) -> Any:
        """The vector `flat` with its derivative as a root of `condition(x, *args, *more)`, if anyone wants it."""
        if not self.are_followed:
            return flat
        return ImplicitCondition(condition, (*self.given, *more), self.title).moving(packing, flat, solve)


def check_function(function: Any, title: str) -> None:
    """Raise unless `function` can be called."""
    if not callable(function):
        raise solver_error(
            OperandError, f"{title}: a function is wanted; got a {type(function).__name__}.", f"{title}(f, x0)"
        )
