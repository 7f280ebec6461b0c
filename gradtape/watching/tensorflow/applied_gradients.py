"""Gradients that an optimiser is given: those that became NaN on the way to it, and variables that never get one."""

from __future__ import annotations

import math
import weakref
from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.location import Location
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.expression import UserExpression, site_at
from gradtape.explain.source.files import one_line, span_of
from gradtape.watching.tensorflow.gradients import Request, quiet_none
from gradtape.watching.tensorflow.recorder import TensorFlowRecorder, VariableRecord
from gradtape.watching.tensorflow.values import array_in, is_eager, is_floating

STEPS_AT_LEAST = 2
CHANGES_AT_MOST = 512
ELEMENTS_AT_MOST = 1 << 20
LOST_AT_MOST = 256


class _Change(NamedTuple):
    """What was computed from a gradient, and where it is no longer finite, if it is not."""

    reference: weakref.ref[Any]
    location: Location | None
    divides: bool


class _Lost:
    """A variable that an optimiser was given without a gradient, and why it has none."""

    def __init__(self, reason: Problem) -> None:
        self.reason = reason
        self.steps = 0


class AppliedGradients:
    """Compares what optimisers are given with what the tapes have answered."""

    def __init__(self, recorder: TensorFlowRecorder) -> None:
        self._recorder = recorder
        self._lost: dict[VariableRecord, _Lost] = {}
        self._changed: dict[int, _Change] = {}
        self._learning: set[VariableRecord] = set()  # had a gradient at some time

    def note_answers(self, request: Request, answers: Sequence[Any]) -> None:
        """Remember the variables without a gradient, while others have one, and why."""
        absent: list[VariableRecord] = []
        for source, gradient in zip(request.sources, answers):
            record = self._recorder.record_of(source)
            if isinstance(record, VariableRecord) and gradient is None:
                absent.append(record)
            elif isinstance(record, VariableRecord):
                self._learning.add(record)
        fresh = [record for record in absent if record not in self._lost]
        if not fresh or len(absent) == len(answers) or request.says_unconnected or len(self._lost) >= LOST_AT_MOST:
            return
        reason = quiet_none(request, answers, self._recorder)
        if reason is not None:
            for record in fresh:
                self._lost[record] = _Lost(reason)

    def see(self, gradients: Sequence[Any], variables: Sequence[Any], answered: Container[int]) -> None:
        """See the gradients that an optimiser is given; `answered` are the ids of those that a tape gave."""
        for gradient, variable in zip(gradients, variables):
            if gradient is None:
                record = self._recorder.record_of(variable)
                if isinstance(record, VariableRecord) and record in self._lost:
                    self._lost[record].steps += 1
            elif is_eager(gradient) and id(gradient) not in answered:
                array = array_in(gradient)
                if array is not None and array.dtype.kind == "f" and not np.isfinite(array).all():
                    self._judge_change(gradient)

    def note_operation(
        self, kind: str, inputs: Sequence[Any], outputs: Sequence[Any], answered: Mapping[int, Any]
    ) -> None:
        """Follow what the program computes of the gradients that a tape gave, and where that is no longer finite."""
        changed = [self._changed_to(x) for x in inputs]
        if not any(changed) and not any((known := answered.get(id(x))) is not None and known[0]() is x for x in inputs):
            return
        output = outputs[0]
        if not is_eager(output) or not is_floating(output.dtype) or math.prod(output.shape) > ELEMENTS_AT_MOST:
            return
        change = next((each for each in changed if each is not None and each.location is not None), None)
        if change is None:
            given = [np.asarray(array_in(x)) for x in inputs if is_eager(x) and is_floating(x.dtype)]
            is_lost = not np.isfinite(array_in(output)).all() and all(np.isfinite(array).all() for array in given)
            divides = kind == "RealDiv" and len(given) == 2 and not np.all(given[1])
            change = _Change(weakref.ref(output), Location.here() if is_lost else None, divides)
        while len(self._changed) >= CHANGES_AT_MOST:
            del self._changed[next(iter(self._changed))]
        self._changed[id(output)] = change._replace(reference=weakref.ref(output))

    def _changed_to(self, value: Any) -> _Change | None:
        """What is known of a value that was computed from a gradient."""
        found = self._changed.get(id(value))
        return found if found is not None and found.reference() is value else None

    def _judge_change(self, gradient: Any) -> None:
        """Report the operation that made a finite gradient NaN or infinite, between the tape and the optimiser."""
        change = self._changed_to(gradient)
        if change is None or change.location is None or not change.location.is_known:
            return
        text = one_line(site_at(change.location).span.text)
        why = ": it divides by 0" if change.divides else ""
        found = problem(
            "GT401",
            f"a gradient was finite when the tape gave it, and {text} makes it NaN or infinite{why}",
            spans=[span_of(change.location), UserExpression.present().span.labelled("it is applied here")],
            notes=["a gradient is zero where nothing depends on a variable, or at a minimum"] if change.divides else [],
            consequence="the optimiser writes it into the variable: from here on everything is NaN",
            fixes="a small number in the denominator: g / (norm + 1e-8); tf.clip_by_norm is safe at zero"
            if change.divides
            else "keep it finite: tf.clip_by_value, tf.clip_by_norm",
        )
        if is_due("GT401", *found.place[1:]):
            report(found)

    def finish(self) -> None:
        """Report the variables that an optimiser was given in each step, and that never had a gradient."""
        for record, lost in self._lost.items():
            variable = record.reference()
            if lost.steps < STEPS_AT_LEAST or record in self._learning or variable is None or record.writes > 1:
                continue
            names = [each.name for each in self._lost if each not in self._learning and self._lost[each].steps]
            others = f" and {len(names) - 1} more" if len(names) > 1 else ""
            found = lost.reason.with_(
                title=f"{record.name}{others} never had a gradient, and the optimiser was given it in each step: "
                f"{lost.reason.title.rpartition(': ')[2]}",
            )
            if is_due(found.code, *found.place[1:]):
                report(found)
            return


__all__ = ["AppliedGradients"]
