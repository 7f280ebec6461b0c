"""While loops that Python runs: the body's steps as a function, called as long as the carried condition holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.jit.ir.program import LoopFunction, new_stack
from gradtape.jit.ir.while_loop import GOES_ON, ROW, WhileLoop
from gradtape.jit.runtime import backends
from gradtape.jit.runtime.runner import Runner
from gradtape.jit.runtime.schedule import Step

KERNELS_AT_MOST = 400_000
"""How many calls of kernels take less time than native code takes to be made."""


class EvaluatingRunner(Runner):
    """A body that is run a few times, while tracing."""

    def loop_function(self, loop: Any) -> LoopFunction:
        """The function of a loop in the body, for a few calls."""
        found: LoopFunction = loop.evaluator
        return found


class WhileRunner:
    """A while loop as a function of its operands.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.jit import jit
    >>> from gradtape.jit.runtime.while_loops import WhileRunner
    >>> double = lambda x: gt.while_loop(lambda x: x < 100.0, lambda x: x + x, x)
    >>> *_, loop = jit(double).lower(np.float64(1.0)).instructions
    >>> WhileRunner(loop.params["loop"]).call(np.bool_(True), np.int64(0), np.float64(3.0))[-1]
    np.float64(192.0)
    """

    def __init__(self, loop: WhileLoop, steps: Sequence[Step] | None = None) -> None:
        self.loop = loop
        self.body = self.make_body(steps)

    def make_body(self, steps: Sequence[Step] | None) -> Runner:
        """The function that an iteration is."""
        return Runner(self.loop.body, steps)

    @property
    def source(self) -> str:
        """The source of the function of the body."""
        return self.body.source

    @property
    def peak(self) -> int:
        """The largest number of bytes that the temporaries of an iteration take at once."""
        return self.body.peak

    @property
    def steps(self) -> Sequence[Step]:
        """What an iteration runs: instructions and native groups, in order."""
        return self.body.steps

    def call(self, *arrays: Any) -> tuple[Any, ...]:
        """Run the loop: the carried values after the last step, and the stacks."""
        loop, carried = self.loop, self.loop.carried
        first = carried + loop.sliced
        state, walked, read = arrays[:carried], arrays[carried:first], arrays[first:]
        stacks: list[Any] | None = None
        steps_left = KERNELS_AT_MOST // max(1, len(loop.body))
        body = self.body
        while state[GOES_ON] and (not loop.has_rows or 0 <= state[ROW] < loop.rows):
            row = int(state[ROW])
            results = body.call(*state, *(array[row] for array in walked), *read)
            stacked = results[carried:]
            if stacks is None:
                stacks = [new_stack(np.asarray(value), loop.rows) for value in stacked]
            for stack, value in zip(stacks, stacked, strict=True):
                stack[row] = value
            state = results[:carried]
            steps_left -= 1
            if not steps_left:
                body = self.for_many_steps()
        if stacks is None:  # no step was taken: no row is read
            outputs = loop.body.outputs[carried:]
            stacks = [np.empty((loop.rows, *value.shape), value.dtype) for value in outputs]
        return (*state, *stacks)

    def for_many_steps(self) -> Runner:
        """What runs the body from here on, where there are many steps."""
        return self.body


class WhileEvaluator(WhileRunner):
    """A while loop that is run once, while tracing: with NumPy's kernels, until they have been called very often."""

    def make_body(self, steps: Sequence[Step] | None) -> Runner:
        """The function that an iteration is, with NumPy's kernels for the loops in it as well."""
        return EvaluatingRunner(self.loop.body, steps)

    def for_many_steps(self) -> Runner:
        """The body as native code."""
        runner = self.loop.runner
        assert isinstance(runner, WhileRunner)
        return runner.body


def compile_while(loop: WhileLoop) -> WhileRunner:
    """The runner of a while loop, with native code for what the backend supports."""
    runner = WhileRunner(loop, backends.steps(loop.body))
    backends.quicken(runner.body)  # at once: there are many steps in the first run
    return runner
