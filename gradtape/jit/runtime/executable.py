"""One trace of a function, and those of them that are kept: which of them is for a call, and what it answers."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core.tensor import Tensor, Variable
from gradtape.forking import fork_safe
from gradtape.jit.guards.captures import Survey
from gradtape.jit.guards.holders import is_leaf
from gradtape.jit.guards.signature import CallArguments, Sample, Template, Write
from gradtape.jit.ir.program import Program
from gradtape.jit.passes.simplify import simplified
from gradtape.jit.runtime import backends
from gradtape.jit.runtime.fast_entry import Shortcut, shortcut
from gradtape.jit.runtime.runner import Runner, quietly

if TYPE_CHECKING:
    from gradtape.jit.diagnostics.timeline import Timeline
    from gradtape.jit.passes.reroll.find import Found


class Trace:
    """One compiled program, and all it takes to decide whether it fits a call, and to make its answer."""

    def __init__(
        self,
        survey: Survey,
        program: Program,
        template: Template,
        writes: list[Write],
        generators: tuple[np.random.Generator, ...] = (),
        found: Found | None = None,
    ) -> None:
        self.survey = survey
        self.traced = program
        self.program = simplified(program, found=found)
        self.runner = Runner(self.program, backends.steps(self.program))
        self.template = template
        self.writes = writes
        self.in_place = [write for write in writes if write.in_place]
        self.alone = not (survey.leaves or survey.fixed or survey.sizes or survey.watched or survey.local_sizes)
        self.specs = [(value.shape, value.dtype) for value in program.inputs]
        self.has_variables = any(isinstance(place.value, Variable) for place in survey.leaves)
        self.has_tensors = any(isinstance(place.value, Tensor) for place in survey.leaves)
        self.generators = generators
        self.before: list[Any] = []  # the states of the generators before the last run
        self.found: Any = None  # what there is to say about its gradients: a `Withheld`
        self.shown: Program | None = None  # as a user looks at it
        self.sample = Sample(())  # the arrays of the call that was traced
        self.lasts = True  # whether what the function reads was still so when it had been traced
        self.has_run = self.has_asked = False
        self._shortcut: Shortcut | None = None
        survey.let_go()

    def shortcut(self, call: CallArguments) -> Shortcut | None:
        """A shorter way for more calls like `call`, if there is one; made for the second of them."""
        if self.has_run and not self.has_asked:
            self.has_asked = True
            self._shortcut = shortcut(self, call)
        self.has_run = True
        return self._shortcut

    def environment(self, count: int) -> list[Any] | None:
        """What the function reads besides `count` arguments, as it is now; None if this trace is not for that."""
        found = self.survey.read()
        if not found:
            return found
        for value, place, spec in zip(found, self.survey.leaves, self.specs[count:], strict=True):
            array = value._array if isinstance(value, Tensor) else value
            if not is_leaf(value) or (array.shape, array.dtype) != spec:
                return None
            if isinstance(value, Tensor) is not isinstance(place.value, Tensor):
                return None
            if isinstance(value, Variable) and value is not place.value:
                return None
        return found

    def arrays(self, call: CallArguments, environment: list[Any]) -> list[Any]:
        """What the program is run on."""
        if not environment:
            return call.arrays
        return call.arrays + [x._array if isinstance(x, Tensor) else x for x in environment]

    def timeline(self, name: str, arrays: list[Any] | None) -> Timeline:
        """The time of a run by source line, on `arrays` or those that were traced; nothing is left behind by it."""
        from gradtape.jit.diagnostics.timeline import measured  # by those who ask for one

        before = [generator.bit_generator.state for generator in self.generators]
        try:
            given = self._sampled() if arrays is None else arrays
            return measured(name, self.program, self.runner.steps, given, guarded=arrays is not None)
        finally:
            for generator, state in zip(self.generators, before, strict=True):
                generator.bit_generator.state = state

    def _sampled(self) -> list[Any]:
        """The arrays of the call that was traced, with what the function reads besides as it is now."""
        arrays = self.sample.arrays()
        count = len(arrays) - len(self.survey.leaves)
        environment = self.environment(count)
        if environment:
            arrays[count:] = [x._array if isinstance(x, Tensor) else x for x in environment]
        return arrays

    def run(self, call: CallArguments, environment: list[Any], arrays: list[Any]) -> Any:
        """The answer to a call, and what the function writes to, written; `arrays` are what the program is run on."""
        results = quietly(self.runner.call, arrays) if not self.generators else self._draw(arrays)
        if self.writes:
            count = len(results) - len(self.writes)
            for write, result in zip(self.writes, results[count:], strict=True):
                write.make(result, call, environment)
        return self.template.fill(results)

    def _draw(self, arrays: list[Any]) -> Any:
        """What the program gives. If it is given up on the way, what it has drawn will be drawn again."""
        self.before = before = [generator.bit_generator.state for generator in self.generators]
        try:
            return quietly(self.runner.call, arrays)
        except Exception:
            for generator, state in zip(self.generators, before, strict=True):
                generator.bit_generator.state = state
            raise


class Traces:
    """The traces by what they are for: shapes, dtypes, structure and static values. Those used last are kept."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._kept: OrderedDict[Any, list[Trace] | None] = OrderedDict()
        self._lock = fork_safe(threading.RLock())

    def found(self, key: Any) -> list[Trace] | None:
        """The traces for a key, which is now the one that was used last; None if it is not to be compiled."""
        with self._lock:
            traces = self._kept.get(key, [])
            if traces != []:
                self._kept.move_to_end(key)
            return traces

    def keep(self, key: Any, traces: list[Trace] | None) -> bool:
        """Keep `traces` for a key, or that it is not to be compiled; whether others had to go for that."""
        with self._lock:
            self._kept[key] = traces
            self._kept.move_to_end(key)
            crowded = len(self._kept) > self.size
            while len(self._kept) > self.size:
                self._kept.popitem(last=False)
            return crowded

    def give_up(self, trace: Trace) -> None:
        """Never use a trace again, nor make another one for what it was for."""
        with self._lock:
            for key, traces in list(self._kept.items()):
                if traces and trace in traces:
                    self._kept[key] = None

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
