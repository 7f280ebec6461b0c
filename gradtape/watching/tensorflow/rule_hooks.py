"""Hooks at the rules of `tf.custom_gradient`: what a rule returns is compared with what it should have."""

from __future__ import annotations

from typing import Any

from tensorflow.python.eager import record as tape_record

from gradtape.core.location import Location
from gradtape.watching.tensorflow import values
from gradtape.watching.tensorflow.errors import ErrorExplainer
from gradtape.watching.tensorflow.hooks import Patches
from gradtape.watching.tensorflow.recording import Recording
from gradtape.watching.tensorflow.replay import as_array, muted
from gradtape.watching.tensorflow.rules import CustomRule, count_problem, rule_code


class RuleHooks:
    """Puts a check around each rule of the user's that a tape is given."""

    def __init__(self, recording: Recording, errors: ErrorExplainer) -> None:
        self._recording = recording
        self._errors = errors

    def patch(self, patches: Patches) -> None:
        """Put the hook in place."""
        patches.wrap(tape_record, "record_operation", self._wrap_record_operation)

    def _wrap_record_operation(self, original: Any) -> Any:
        recording = self._recording

        def record_operation(
            name: Any, outputs: Any, inputs: Any, backward_function: Any, *rest: Any, **options: Any
        ) -> Any:
            is_rule = getattr(backward_function, "__name__", "") == "actual_grad_fn"
            if is_rule and recording.is_on and recording.is_mine():
                watched = recording.guard.call(self._watch_rule, name, outputs, inputs, backward_function)
                backward_function = watched or backward_function
            return original(name, outputs, inputs, backward_function, *rest, **options)

        return record_operation

    def _watch_rule(self, name: str, outputs: Any, inputs: Any, backward: Any) -> Any:
        found = self._recording.recorder.record_custom(name, outputs, inputs)
        if found is None:
            return self._watch_count(name, len(inputs), backward)
        rule = CustomRule(*found, backward, found[0].tapes)

        def watched(*seeds: Any) -> Any:
            try:
                given = backward(*seeds)
            except ValueError as error:
                if "expected to return" in str(error):
                    self._recording.guard.attempt(
                        self._explain_count, error, name, rule.code, len(inputs), rule.record.location
                    )
                raise
            if self._recording.is_on and self._recording.is_mine():
                self._recording.guard.call(self._judge_rule, rule, seeds, given)
            return given

        return watched

    def _watch_count(self, name: str, count: int, backward: Any) -> Any:
        """The rule of a function of which only the number of its gradients can be judged."""
        code, location = rule_code(backward), Location.here()

        def watched(*seeds: Any) -> Any:
            try:
                return backward(*seeds)
            except ValueError as error:
                if "expected to return" in str(error):
                    self._recording.guard.attempt(self._explain_count, error, name, code, count, location)
                raise

        return watched

    def _explain_count(self, error: Exception, name: str, code: Any, count: int, location: Any) -> None:
        self._errors.attach(error, count_problem(name, code, count, location, str(error)))

    def _judge_rule(self, rule: CustomRule, seeds: Any, given: Any) -> None:
        if not all(seed is None or values.is_eager(seed) for seed in seeds):
            return
        with muted():
            arrays = [as_array(seed) for seed in seeds], [as_array(each) for each in given]
        rule.judge(*arrays)


__all__ = ["RuleHooks"]
