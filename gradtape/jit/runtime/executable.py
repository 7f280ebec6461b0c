"""An optimised program that can be called: it checks that its guards hold, runs, and writes the results back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradtape.core.tensor import Tensor, Variable
from gradtape.jit.guards.holders import is_leaf
from gradtape.jit.guards.signature import CallArguments
from gradtape.jit.ir.program import Program
from gradtape.jit.runtime.fast_entry import Shortcut, shortcut
from gradtape.jit.runtime.results import Sample
from gradtape.jit.runtime.runner import Runner, quietly

if TYPE_CHECKING:
    from gradtape.jit.diagnostics.timeline import Timeline
    from gradtape.jit.trace.call import TracedCall


class Executable:
    """One compiled program, with its guards and with the template of its answer: see `gradtape.jit.pipeline`."""

    def __init__(self, traced: TracedCall, program: Program, runner: Runner) -> None:
        survey = traced.survey
        self.survey = survey
        self.traced = traced.program
        self.program = program  # after all passes
        self.runner = runner
        self.template = traced.template
        self.writes = traced.writes
        self.in_place = [write for write in traced.writes if write.in_place]
        self.alone = not (survey.leaves or survey.fixed or survey.sizes or survey.watched or survey.local_sizes)
        self.specs = [(value.shape, value.dtype) for value in traced.program.inputs]
        self.has_variables = any(isinstance(place.value, Variable) for place in survey.leaves)
        self.has_tensors = any(isinstance(place.value, Tensor) for place in survey.leaves)
        self.generators = traced.generators
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
        """What the function reads besides `count` arguments, as it is now; None if that is not what was traced."""
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
