"""What can be asked of a compiled function: its program, the stages of the compiler, memory, time and statistics."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gradtape.core.explain_hooks import timers
from gradtape.core.location import Location
from gradtape.errors import OperandError
from gradtape.jit.diagnostics import retrace_reasons
from gradtape.jit.errors import GuardFailed, Untraceable
from gradtape.jit.guards.signature import Inline, quote_name
from gradtape.jit.ir.call_plan import Counters
from gradtape.jit.ir.program import Program
from gradtape.jit.pipeline import STAGES
from gradtape.jit.runtime import backends
from gradtape.jit.runtime.executable import Executable

if TYPE_CHECKING:
    from gradtape.jit.diagnostics.timeline import Timeline


class Statistics:
    """What has happened to a compiled function so far.

    >>> import numpy as np
    >>> from gradtape.jit import jit
    >>> step = jit(lambda x: x + 1.0)
    >>> _ = step(np.ones(2)), step(np.ones(2)), step(np.ones(3))
    >>> step.stats
    Statistics(traces=2, runs=3, guards_failed=0, uncompiled=0)
    """

    __slots__ = ("counters", "guards_failed", "traces", "uncompiled")

    traces: int
    """How often the function was traced."""
    guards_failed: int
    """How often a value was not what a trace had relied on."""
    uncompiled: int
    """How often the function itself was run instead."""

    def __init__(self) -> None:
        self.traces = self.guards_failed = self.uncompiled = 0
        self.counters = Counters()

    @property
    def runs(self) -> int:
        """How often a compiled program was run."""
        return int(self.counters.runs)

    def __repr__(self) -> str:
        numbers = {name: getattr(self, name) for name in ("traces", "runs", "guards_failed", "uncompiled")}
        return f"Statistics({', '.join(f'{name}={number}' for name, number in numbers.items())})"


class Inspection:
    """The part of `Compiled` that tells what was made of the function. It runs nothing but `timeline`."""

    _function: Callable[..., Any]
    _latest: Executable | None
    stats: Statistics
    """The executable that was run last."""
    _candidates: Callable[[Any, Any], Iterator[tuple[Executable, list[Any]]]]
    """For arguments (args, kwargs), the executables that fit, each with the arrays to run it on."""

    @property
    def _name(self) -> str:
        """The name of the function as messages show it."""
        return quote_name(self._function)

    @property
    def program(self) -> Program:
        """The program that was run last, after all passes. It prints with the user's lines, and how it is run."""
        return _find_printable(self._last())

    @property
    def traced(self) -> Program:
        """The program that was run last, as it was traced, before any pass."""
        return self._last().traced

    @property
    def memory(self) -> int:
        """The peak of the memory plan of the program that was run last, in bytes: results and intermediate values.

        >>> import numpy as np
        >>> from gradtape.jit import jit
        >>> step = jit(lambda x: np.exp(np.sin(x)) + 1.0)
        >>> _ = step(np.ones(1_000_000))
        >>> step.memory  # the result: native code keeps nothing else in memory
        8000000
        """
        runner = self._last().runner
        return runner.peak + backends.workspace(runner.steps)

    @property
    def source(self) -> str:
        """The Python function that the last program was made into."""
        return self._last().runner.source

    def stage(self, name: str) -> str:
        """What one stage of the compiler made of the function that was run last, as text.

        In order: "traced", "optimised", "scheduled" (native groups and NumPy kernels), "llvm" and "source", the Python
        function that runs the steps.

        >>> import numpy as np
        >>> from gradtape.jit import jit
        >>> step = jit(lambda x: np.exp(x * 1.0) + 2.0)
        >>> _ = step(np.zeros(3))
        >>> print(step.stage("scheduled"))
        step 0: native group, %0 -> %3
          %2: float64[3] = exp(%0)
          %3: float64[3] = add(%2, 2.0)
        """
        if name not in STAGES:
            raise OperandError(
                f"jit: there is no stage {name!r}.\n{Location.here().show()}\n"
                f"  fix: one of {', '.join(repr(stage) for stage in STAGES)}"
            )
        return STAGES[name](self._last())

    def timeline(self, *args: Any, **kwargs: Any) -> Timeline:
        """The time of a run by source line and by step: a table to print, and for notebooks.

        The program for these arguments is run some times over with a clock. Without any, it is the program that was
        run last, on the arrays that it was traced with. Large ones are not kept for that: if they are gone, arrays of
        ones are taken, with more on the diagonals of square ones. Nothing is assigned or written to, and generators are
        put back.

        >>> import numpy as np
        >>> from gradtape.jit import jit
        >>> step = jit(lambda x: np.sum(np.tanh(x) ** 2))
        >>> timeline = step.timeline(np.ones(1000))
        >>> [step.native for step in timeline.steps]
        [True]
        """
        if not args and not kwargs:
            try:
                return _measure(self._name, self._last(), None)
            except OperandError:
                raise
            except Exception as error:
                raise OperandError(
                    f"jit: the program of {self._name} that was run last cannot be run on arrays of ones "
                    f"({retrace_reasons.first_line(error)}).\n{Location.here().show()}\n"
                    f"  fix: step.timeline(...), with the arguments of a call"
                ) from None
        with refusals_as_errors(self._name):
            for executable, arrays in self._candidates(args, kwargs):
                try:
                    return _measure(self._name, executable, arrays)
                except GuardFailed:
                    continue
        raise OperandError(
            f"jit: {self._name} relies on a value that is another one in each run.\n{Location.here().show()}\n"
            f"  fix: compare tensors, use np.where, or return the value"
        )

    def _last(self) -> Executable:
        if self._latest is None:
            raise OperandError(
                f"jit: {self._name} has not been compiled yet.\n{Location.here().show()}\n"
                f"  fix: call it, or its .lower(...), first"
            )
        return self._latest


TIMED_AT_MOST = 8  # functions in a report, and so many additions that a run of one may take there
LARGEST_TIMED = 5e7


def time_for_report(counts_earlier: bool = False) -> Callable[[], list[Timeline]]:
    """Begin to look for compiled functions that run, for a report; what is returned times them at its end.

    With `counts_earlier`, those that have run already count too: nothing had been compiled when the report began. There
    is no list of them, so the objects of the garbage collector are searched.
    """
    before = {} if counts_earlier else {id(item): item.stats.runs for item in _live_compiled()}

    def end() -> list[Timeline]:
        from gradtape.jit.diagnostics.timeline import estimate_work  # lazy: few programs are measured

        runs = {item: item.stats.runs - before.get(id(item), 0) for item in _live_compiled()}
        timelines = []
        for item in sorted((item for item in runs if runs[item] > 0), key=lambda item: -runs[item])[:TIMED_AT_MOST]:
            if item._latest is None or estimate_work(item._latest.program) > LARGEST_TIMED:
                continue
            try:
                timelines.append(item.timeline())
            except OperandError:  # arrays that it was traced with are gone, and ones do not do
                continue
        return timelines

    return end


def _live_compiled() -> list[Any]:
    return [item for item in gc.get_objects() if issubclass(type(item), Inspection)]


timers.append(time_for_report)


@contextmanager
def refusals_as_errors(name: str) -> Iterator[None]:
    """Inside, what cannot be compiled is an error: there is no call to fall back to."""
    try:
        yield
    except Inline:
        raise OperandError(
            f"jit: {name} cannot be compiled ahead for tensors that are recorded or mapped over.\n"
            f"{Location.here().show()}\n  fix: pass arrays"
        ) from None
    except Untraceable as reason:
        raise OperandError(f"jit: {name} cannot be compiled, because {reason}.\n{Location.here().show()}") from None


def _find_printable(executable: Executable) -> Program:
    """The program of an executable with its schedule, for printing: the same object each time."""
    if executable.printable is None:
        from gradtape.jit.runtime.printing import ScheduledProgram  # lazy: few programs are printed

        executable.printable = ScheduledProgram.of(executable.traced, executable.program, executable.runner.steps)
    return executable.printable


def _measure(name: str, executable: Executable, arrays: list[Any] | None) -> Timeline:
    """The time of a run by source line, on `arrays` or those that were traced; nothing is left behind by it."""
    from gradtape.jit.diagnostics.timeline import measure  # lazy: few programs are measured

    before = [generator.bit_generator.state for generator in executable.generators]
    try:
        given = executable.sample_arrays() if arrays is None else arrays
        return measure(name, executable.program, executable.runner.steps, given, guarded=arrays is not None)
    finally:
        for generator, state in zip(executable.generators, before, strict=True):
            generator.bit_generator.state = state
