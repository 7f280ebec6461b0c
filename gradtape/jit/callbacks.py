"""Functions of the user's that a solver of another library calls, inside `jit`.

The solver runs when the compiled program runs, on plain numbers. The function that it calls was written for tensors,
and may read some from outside of it, which have other numbers in each call. So it is traced once, for arguments of one
shape, into a program whose inputs are its arguments and these tensors; `TracedCallback` runs that program on numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.tensor import Tensor
from gradtape.jit.errors import Unrollable, Untraceable
from gradtape.jit.runtime.while_loops import EvaluatingRunner
from gradtape.jit.trace.loops.scan_body import BodyLevel, TracedFunction, current_level, is_on_tape, pull_step


class TracedCallback:
    """A function of arrays as a program: `read` are the tensors from outside that it reads."""

    def __init__(self, traced: TracedFunction) -> None:
        self.read: list[Tensor] = traced.read
        self.shape, self.dtype = traced.program.outputs[0].shape, traced.program.outputs[0].dtype
        self._inputs = [(value.shape, value.dtype) for value in traced.program.inputs]
        self._run = EvaluatingRunner(traced.program)

    def __call__(self, arguments: Sequence[Any], read: Sequence[Any]) -> Any:
        """What the function returns for numbers: those of its arguments, and of the tensors that it reads."""
        given = [np.asarray(x, dtype) for x, (_, dtype) in zip((*arguments, *read), self._inputs, strict=True)]
        (found,) = self._run.call(*given)
        return found

    @property
    def on_tape(self) -> list[Tensor]:
        """The tensors from outside that a gradient may be needed of."""
        return [x for x in self.read if is_on_tape(x)]


def is_in_callback() -> bool:
    """Whether a function is being traced that runs several times in a call: nothing can depend on its numbers."""
    return isinstance(current_level([]), BodyLevel)


def pull_callback(function: Callable[[Any], Any], x: Any, read: Sequence[Tensor], cotangent: Any) -> list[Any]:
    """The cotangents of tensors that `function` reads from outside, at x; zeros where it does not depend on one."""
    found = pull_step(lambda given: ([function(*given)], []), [x], read, [cotangent], True)[2]
    return [np.zeros(x.shape, x.dtype) if g is None else g for x, g in zip(read, found, strict=True)]


def trace_callback(title: str, function: Callable[..., Any], samples: Sequence[Any]) -> TracedCallback:
    """The function that `title` calls, traced on arguments like `samples`, in the program that is being traced.

    Raises `Untraceable` if what it does depends on the numbers.
    """
    level = current_level([])
    assert level is not None
    try:
        traced = TracedFunction(level, lambda given: [function(*given)], list(samples))
    except Unrollable as error:
        raise Untraceable(f"it calls {title}, whose function cannot be traced: {error}") from None
    if isinstance(level, BodyLevel):  # the solver gets tensors without nodes: register those from outside before
        level.register(traced.read)
    return TracedCallback(traced)
