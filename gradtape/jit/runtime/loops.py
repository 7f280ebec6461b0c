"""Loops that Python runs: the body's steps in a generated function around a `for`, compiled or with NumPy's kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.jit.ir.program import (
    LOOP,
    QUICK,
    Instruction,
    Literal,
    Loop,
    LoopFunction,
    Operand,
    Program,
    Value,
    new_stack,
)
from gradtape.jit.runtime import backends
from gradtape.jit.runtime.runner import Runner
from gradtape.jit.runtime.schedule import Step

KERNELS_AT_MOST = 200_000
"""How many calls of kernels take less time than native code takes to be made."""
_DOUBLE = np.dtype(float)


class LoopRunner(Runner):
    """A loop as a function of its operands: the body's kernels, one after the other, inside a Python `for`.

    >>> import numpy as np
    >>> from gradtape.jit import jit
    >>> def doubled(x):
    ...     for _ in range(50):
    ...         x = x + x
    ...     return x
    >>> (loop,) = jit(doubled).lower(np.ones(2)).instructions
    >>> print(loop.params["loop"].runner.source)
    def run(v0):
        for up in range(50):
            v1 = add(v0, v0)
            v0, = v1,
        return v0,
    """

    def __init__(self, loop: Loop, steps: Sequence[Step] | None = None) -> None:
        self.loop = loop
        super().__init__(loop.body, steps)

    def _lines(self) -> list[str]:
        loop, body = self.loop, self.program
        self.scope.update(new_stack=new_stack, array=np.array)
        for constant in body.constants:
            self.scope[f"v{constant.value.id}"] = constant.array
        lines = [f"def run({', '.join(f'v{value.id}' for value in body.inputs)}):"]
        if self.plan.buffers:
            self.scope.update(new_arena=self.new_arena, keep_arena=self.keep_arena)
            lines.append(
                f"    {''.join(f'b{index}, ' for index in range(len(self.plan.buffers)))}= arena = new_arena()"
            )
        stacked = list(zip(body.outputs[loop.carried :], loop.stacked, strict=True))
        for index, (value, _) in enumerate(stacked):
            lines.append(f"    s{index} = []" if not value.shape else f"    s{index} = None")
        lines += [f"    {self._for()}:", *[f"    {line}" for line in self._body()]]
        for index, (value, walk) in enumerate(stacked):
            row = "up" if walk.step > 0 else "down"
            if value.shape:
                lines.append(f"        if s{index} is None: s{index} = new_stack(v{value.id}, {loop.length})")
                lines.append(f"        s{index}[{row}] = v{value.id}")
            else:
                lines.append(f"        s{index}.append(v{value.id})")
        inner, outer = body.inputs[: loop.carried], body.outputs[: loop.carried]
        moved = [(old, new) for old, new in zip(inner, outer, strict=True) if old is not new]
        if moved:
            names = "".join(f"v{old.id}, " for old, _ in moved).rstrip(), "".join(f"v{new.id}, " for _, new in moved)
            lines.append(f"        {names[0]} = {names[1].rstrip()}")
        if len(lines[-1]) - len(lines[-1].lstrip()) == 4:  # nothing in it
            lines.append("        continue")
        answers = [f"v{value.id}" for value in inner]
        for index, (value, walk) in enumerate(stacked):
            rows = f"s{index}" if value.shape or walk.step > 0 else f"s{index}[::-1]"
            answers.append(rows if value.shape else f"array({rows}, {self._bind(value.dtype, 'dtype')})")
        lines.append(f"    answer = {''.join(f'{answer}, ' for answer in answers).rstrip() or '()'}")
        if self.plan.buffers:
            return [*lines, "    keep_arena(arena)", "    return answer"]
        return [*lines[:-1], lines[-1].replace("answer =", "return")]

    def _for(self) -> str:
        loop = self.loop
        targets, walked = ["up"], [f"range({loop.length})"]
        if any(walk.step < 0 for walk in loop.stacked):
            targets.append("down")
            walked.append(f"range({loop.length - 1}, -1, -1)")
        for value, walk in zip(self.program.inputs[loop.carried :], loop.sliced, strict=False):
            targets.append(f"v{value.id}")
            if walk.step:
                rows = walk.rows(loop.length)
                stop = "" if rows.stop is None else rows.stop
                walked.append(f"v{value.id}[{rows.start}:{stop}:{rows.step}]")
            else:
                walked.append(f"[v{value.id}[{walk.start}]] * {loop.length}")
        if len(targets) == 1:
            return f"for up in {walked[0]}"
        return f"for {', '.join(targets)} in zip({', '.join(walked)})"


class LoopEvaluator(LoopRunner):
    """A loop as a function that is called once or twice, while tracing, where compiling it would take longer.

    The longest loops work on scalars. The operators of NumPy scalars give the same bits as the kernels in a tenth of
    the time, so operations on float64 scalars use these.

    >>> import numpy as np
    >>> from gradtape.jit import jit
    >>> from gradtape.jit.runtime.loops import LoopEvaluator
    >>> def doubled(x):
    ...     for _ in range(50):
    ...         x = x + x
    ...     return x
    >>> (loop,) = jit(doubled).lower(np.float64(1.0)).instructions
    >>> LoopEvaluator(loop.params["loop"]).call(np.float64(1.0)) == (2.0**50,)
    True
    """

    _is_of_numbers = False

    def loop_function(self, loop: Any) -> LoopFunction:
        """The function of a loop in the body, which is called as seldom."""
        found: LoopFunction = loop.evaluator
        return found

    def _line(self, index: int, step: Step) -> str:
        values = (*step.values, *step.results)
        self._is_of_numbers = all(value.dtype == _DOUBLE and not value.shape for value in values)
        return super()._line(index, step)

    def _kernel(self, op: Op) -> str:
        quick = QUICK.get(op.name) if self._is_of_numbers and op.ufunc else None
        return super()._kernel(op) if quick is None else self._bind(quick, op.name)

    def _operand(self, operand: Operand, step: Instruction) -> str:
        if self._is_of_numbers and type(operand) is Literal and type(operand.value) is float:
            return self._bind(operand.value, f"n{len(self._bound)}")
        return super()._operand(operand, step)


def compile_loop(loop: Loop) -> LoopRunner:
    """The runner of a loop, with native code for what the backend supports."""
    runner = LoopRunner(loop, backends.steps(loop.body))
    backends.quicken(runner)  # at once: there are many steps in the first run
    return runner


class LongLoop:
    """A loop of many steps as a function that is called once or twice: one native function, where that is possible.

    >>> import numpy as np
    >>> from gradtape.jit import jit
    >>> from gradtape.jit.runtime.loops import LongLoop
    >>> def doubled(x):
    ...     for _ in range(50):
    ...         x = x + x
    ...     return x
    >>> (loop,) = jit(doubled).lower(np.ones(1)).instructions
    >>> LongLoop(loop.params["loop"]).call(np.ones(1)) == (2.0**50,)
    True
    """

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self._whole: Runner | None = None

    def call(self, *arrays: Any) -> tuple[Any, ...]:
        """The results of the loop for its operands."""
        if self._whole is None:
            self._whole = self._compile(arrays)
        found: tuple[Any, ...] = self._whole.call(*arrays)
        return found

    def _compile(self, arrays: Sequence[Any]) -> Runner:
        """The loop as a program of one instruction, for operands like these: their shapes are the same in all calls."""
        operands = [Value(number, np.shape(x), x.dtype) for number, x in enumerate(arrays)]
        specs = enumerate(self.loop.result_specs(), len(operands))
        results = [Value(number, shape, dtype) for number, (shape, dtype) in specs]
        whole = Instruction(LOOP, tuple(operands), {"loop": self.loop}, tuple(results))
        program = Program(tuple(operands), (), (whole,), tuple(results))
        return Runner(program, backends.steps(program))

    @property
    def source(self) -> str:
        """The source of the function that Python runs where the loop is not native."""
        return self.loop.runner.source

    @property
    def peak(self) -> int:
        """The bytes that this function needs besides its operands."""
        return self.loop.runner.peak

    @property
    def steps(self) -> Sequence[Any]:
        """The steps of this function."""
        return self.loop.runner.steps


def make_evaluator(loop: Loop) -> LoopFunction:
    """The function for one or two calls: with NumPy's kernels, unless they are very many."""
    if len(loop.body) * loop.length > KERNELS_AT_MOST:
        return LongLoop(loop)
    return LoopEvaluator(loop)
