"""An optimised program that can be called: it checks that its guards hold, runs, and writes the results back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradtape.core.tensor import Tensor, Variable
from gradtape.jit.guards.holders import array_behind, is_leaf
from gradtape.jit.guards.signature import CallArguments
from gradtape.jit.ir.call_plan import Counters
from gradtape.jit.ir.kernels import call_silently
from gradtape.jit.ir.program import Program
from gradtape.jit.runtime.fast_entry import FastEntry, make_fast_entry
from gradtape.jit.runtime.runner import Runner
from gradtape.jit.runtime.sample import Sample

if TYPE_CHECKING:
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
        self.reads_only_arguments = not (
            survey.leaves or survey.fixed or survey.sizes or survey.watched or survey.local_sizes
        )
        self.specs = [(value.shape, value.dtype) for value in traced.program.inputs]
        self.has_variables = any(isinstance(place.value, Variable) for place in survey.leaves)
        self.has_tensors = any(isinstance(place.value, Tensor) for place in survey.leaves)
        self.generators = traced.generators
        self.states_before: list[Any] = []  # of the generators, before the last run
        self.unchecked, self.hides_errors = traced.unchecked, traced.hides_errors
        self.withheld: Any = None  # findings about its gradients that tracing held back: a `Withheld`
        self.printable: Program | None = None  # the program with its schedule, for users
        self.sample = Sample(())  # the arrays of the call that was traced
        self.is_current = True  # whether the guards still held right after tracing: if not, it runs only once
        self.has_run = self.has_tried_fast_entry = False
        self._fast_entry: FastEntry | None = None
        survey.release()

    def find_fast_entry(self, call: CallArguments, counters: Counters) -> FastEntry | None:
        """The fast entry for calls like `call`, if there is one. It is made in the second call."""
        if self.has_run and not self.has_tried_fast_entry:
            self.has_tried_fast_entry = True
            self._fast_entry = make_fast_entry(self, call, counters)
        self.has_run = True
        return self._fast_entry

    def read_captures(self, count: int) -> list[Any] | None:
        """The captured values as they are now, after `count` arguments; None if a guard does not hold."""
        found = self.survey.read() if self.is_current else None
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
        """The inputs of the program: arrays of the arguments, then captured ones."""
        if not environment:
            return call.arrays
        return call.arrays + [array_behind(x) for x in environment]

    def sample_arrays(self) -> list[Any]:
        """The arrays of the call that was traced, with captured arrays as they are now."""
        arrays = self.sample.arrays()
        count = len(arrays) - len(self.survey.leaves)
        environment = self.read_captures(count)
        if environment:
            arrays[count:] = [array_behind(x) for x in environment]
        return arrays

    def run(self, call: CallArguments, environment: list[Any], arrays: list[Any]) -> Any:
        """Run the program on `arrays`, write back what the function writes to, and return its answer."""
        results = call_silently(self.runner.call, arrays) if not self.generators else self._draw(arrays)
        if self.writes:
            count = len(results) - len(self.writes)
            for write, result in zip(self.writes, results[count:], strict=True):
                write.make(result, call, environment)
        return self.template.fill(results)

    def _draw(self, arrays: list[Any]) -> Any:
        """Run a program that draws random numbers. If it fails, generators are put back, to draw again."""
        self.states_before = before = [generator.bit_generator.state for generator in self.generators]
        try:
            return call_silently(self.runner.call, arrays)
        except Exception:
            for generator, state in zip(self.generators, before, strict=True):
                generator.bit_generator.state = state
            raise
