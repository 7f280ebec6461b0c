"""What is judged when a tape has given its gradients: None, zero, NaN, and what only a gradient shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tensorflow.python.util import nest

from gradtape.core.location import Location
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages.gradients import all_none
from gradtape.explain.model.problem import Problem
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.judge import judge_gradient, judge_records, tell_observers
from gradtape.watching.observers import observers
from gradtape.watching.record import CONSTANT, WatchedRecord
from gradtape.watching.tensorflow import missing
from gradtape.watching.tensorflow.compiled_calls import explain_flat, explain_inside
from gradtape.watching.tensorflow.equal_units import judge_equal_gradients
from gradtape.watching.tensorflow.functions import evaluated
from gradtape.watching.tensorflow.recorder import DATA, TensorFlowRecorder, VariableRecord
from gradtape.watching.tensorflow.replay import as_array, muted
from gradtape.watching.tensorflow.tapes import TapeWatch
from gradtape.watching.tensorflow.training import TrainingJudge
from gradtape.watching.tensorflow.unread_weights import explain_unread_weight
from gradtape.watching.tensorflow.values import array_in, is_eager

_MEANT = (".numpy()", ".item()", ".tolist()", "bool()", "operator.index()")
REASONS_AT_MOST = 20
OWNERS_AT_MOST = 8  # variables whose owners are searched for, which takes long
SCALE_AT_LEAST = 2.0  # a factor of a loss that is there to keep small gradients in the range of half precision
_CUTS = ("GT206", "GT207", "GT208", "GT209", "GT210")
_QUIET_CAUSES = ("", "GT202", "GT208", "GT212")


class Request:
    """One call of `tape.gradient`, and its answer."""

    def __init__(
        self, watch: TapeWatch, targets: Any, sources: Any, seeds: Any, says_unconnected: bool, location: Location
    ) -> None:
        self.watch = watch
        self.targets = [target for target in nest.flatten(targets) if target is not None]
        self.sources = nest.flatten(sources)
        self.seeds = None if seeds is None else nest.flatten(seeds)
        self.says_unconnected = says_unconnected
        self.location = location
        self.answers: list[Any] = []  # of a graph, whose numbers are not known yet


def judge_values(request: Request, recorder: TensorFlowRecorder) -> None:
    """Judge a gradient inside a graph, whose numbers are known now, as far as they could be evaluated."""
    computation = RecordedComputation(_seeds(request, recorder), request.watch.tapes)
    arrivals = []
    for source, gradient in zip(request.sources, request.answers):
        record = recorder.record_of(source)
        array = None if gradient is None else evaluated.get(id(getattr(gradient, "values", gradient)))
        if record is not None and record is not CONSTANT and array is not None:
            arrivals.append((record, array))
    targets = [evaluated.get(id(target)) for target in request.targets]
    if any(target is None for target in targets) or not arrivals:
        return
    if not all(np.isfinite(np.asarray(target)).all() for target in targets):
        computation = RecordedComputation(_seeds(request, recorder), request.watch.tapes | DATA)
    elif is_loss_scaled(computation, arrivals):
        return
    judge_gradient(computation, arrivals, targets, (), judges_zeros=request.seeds is None)


def judge_request(
    request: Request,
    gradients: Any,
    recorder: TensorFlowRecorder,
    training: TrainingJudge,
    tell: Callable[[Problem], Any],
) -> Problem | None:
    """Report what is wrong with the gradients that were given. The problem, if they are None."""
    answers = nest.flatten(gradients)
    watch = request.watch
    absent: list[tuple[WatchedRecord, Any]] = []
    reasons: dict[WatchedRecord, Problem] = {}
    seeds = _seeds(request, recorder)
    computation = RecordedComputation(seeds, watch.tapes)
    if len(answers) == len(request.sources):
        if observers:
            absent, reasons = _absent(request, answers, recorder)
        found = None if request.says_unconnected else judge_none(request, answers, recorder)
        if found is not None:
            with muted():
                tell_observers(computation, [*_arrivals(request, answers, recorder), *absent], reasons=reasons)
            return found
    departures = [
        cut
        for cut in recorder.departures
        if cut.order > watch.opened and cut.reason not in _MEANT and not cut.reason.startswith("Variable.")
    ]
    if not all(is_eager(target) for target in request.targets):
        judge_records(computation, [])
        _judge_training(request, computation, recorder, training)
        request.answers = answers
        return None
    with muted():
        arrivals = _arrivals(request, answers, recorder)
        targets = [array_in(target) for target in request.targets]
        is_equal = request.seeds is None and judge_equal_gradients(
            arrivals, computation, request.location, recorder.array_of
        )
    if is_equal:
        arrivals = [(record, array) for record, array in arrivals if np.any(array)]
    if not all(np.isfinite(target).all() for target in targets if target is not None):
        computation = RecordedComputation(seeds, watch.tapes | DATA)
    elif is_loss_scaled(computation, arrivals):
        return None
    if not all(np.isfinite(array).all() for array in (*targets, *(g for _, g in arrivals)) if array is not None):
        inside = explain_inside(computation, recorder)
        if inside is not None:
            report(inside)
            return None
    elif request.seeds is None:
        lost = [record for record, array in arrivals if not np.any(array)]
        zeros = [record.reference() for record in lost if isinstance(record, VariableRecord)]
        flat = explain_flat(computation, zeros, recorder) if zeros else None
        if flat is not None:
            if is_due(flat.code, *flat.place[1:]):
                report(flat)
            return None
    notes = judge_gradient(
        computation,
        [*arrivals, *absent],
        targets,
        departures,
        judges_zeros=request.seeds is None,
        reasons=reasons,
    )
    for note in notes:
        tell(note)
    _judge_training(request, computation, recorder, training)
    return None


def _arrivals(
    request: Request, answers: Sequence[Any], recorder: TensorFlowRecorder
) -> list[tuple[WatchedRecord, Any]]:
    """The sources that got a gradient, with its numbers."""
    found = []
    for source, gradient in zip(request.sources, answers):
        record = recorder.record_of(source)
        array = None if gradient is None else as_array(gradient)
        if record is not None and record is not CONSTANT and array is not None:
            found.append((record, array))
    return found


def _absent(
    request: Request, answers: Sequence[Any], recorder: TensorFlowRecorder
) -> tuple[list[tuple[WatchedRecord, Any]], dict[WatchedRecord, Problem]]:
    """The sources that got no gradient, and why, for a report."""
    lost: list[tuple[WatchedRecord, Any]] = []
    reasons: dict[WatchedRecord, Problem] = {}
    for source, gradient in zip(request.sources, answers):
        record = recorder.record_of(source)
        if gradient is None and record is not None and record is not CONSTANT:
            lost.append((record, None))
            if request.targets and len(reasons) < REASONS_AT_MOST:
                reasons[record] = missing.why(request.targets[0], source, request.watch, recorder).problem
    return lost, reasons


def is_loss_scaled(computation: RecordedComputation, arrivals: Sequence[tuple[WatchedRecord, Any]]) -> bool:
    """Whether gradients overflowed that were computed in half precision from a loss that was scaled up.

    A loss-scaling optimiser leaves such a step out and takes a smaller factor.
    """
    if all(np.isfinite(array).all() for _, array in arrivals):
        return False
    if not any(record.dtype == np.float16 for record in computation.records):
        return False
    scaled = [target for target in computation.targets if target.operation == "multiply" and not target.shape]
    factors = [target.operand_value(k) for target in scaled for k in range(len(target.parents))]
    return any(factor is not None and np.size(factor) == 1 and float(factor) >= SCALE_AT_LEAST for factor in factors)


def _judge_training(
    request: Request, computation: RecordedComputation, recorder: TensorFlowRecorder, training: TrainingJudge
) -> None:
    sources = [record for source in request.sources if (record := recorder.record_of(source)) is not None]
    training.judge(computation, sources, request.location, request.watch)


def _seeds(request: Request, recorder: TensorFlowRecorder) -> list[tuple[WatchedRecord, Any]]:
    found: list[tuple[WatchedRecord, Any]] = []
    given = request.seeds or [None] * len(request.targets)
    for target, seed in zip(request.targets, given):
        record = recorder.record_of(target)
        if record is None or record is CONSTANT:
            continue
        array = None if seed is None else array_in(seed) if is_eager(seed) else np.asarray(seed)
        found.append((record, np.ones(record.shape, record.dtype) if array is None else array))
    return found


def judge_none(request: Request, answers: Sequence[Any], recorder: TensorFlowRecorder) -> Problem | None:
    """Report gradients that are None: all of them, or some for a reason that is a mistake."""
    absent = [source for source, gradient in zip(request.sources, answers) if gradient is None]
    if not absent or not request.targets or request.says_unconnected:
        return None
    everywhere = len(absent) == len(answers)
    looked_up = 0
    if everywhere:
        absent = _with_cut_first(request, absent, recorder)
    for source in absent:
        reason = missing.why(request.targets[0], source, request.watch, recorder)
        unread = None
        if reason.problem.code == "GT202" and looked_up < OWNERS_AT_MOST:
            looked_up += 1
            unread = explain_unread_weight(source)
        is_quiet = reason.problem.code in _QUIET_CAUSES or reason.problem.details.get("is_choice")
        if not reason.problem.code or (not everywhere and unread is None and is_quiet):
            continue
        reason = unread or reason
        found = all_none(request.targets[0], reason, request.location)
        if not everywhere:
            found = found.with_(title=found.title.replace("every gradient asked for", "a gradient", 1))
        found = found.with_(fixes=[*missing.joint_fixes(absent, recorder), *found.fixes])
        report(found)
        return found
    return None


def _with_cut_first(request: Request, absent: list[Any], recorder: TensorFlowRecorder) -> list[Any]:
    """The sources, those first that a cut leads to, if none is known to lead to the first.

    What is inside of a loop of a graph is not recorded: other variables may show where the gradient of all ends.
    """
    target = request.targets[0]
    if missing.why(target, absent[0], request.watch, recorder).problem.code != "GT202":
        return absent
    for source in absent[1:OWNERS_AT_MOST]:
        if missing.why(target, source, request.watch, recorder).problem.code in _CUTS:
            return [source, *(each for each in absent if each is not source)]
    return absent


def quiet_none(request: Request, answers: Sequence[Any], recorder: TensorFlowRecorder) -> Problem | None:
    """Why the first gradient that is None is, for an error that may come of it; nothing is reported."""
    absent = [source for source, gradient in zip(request.sources, answers) if gradient is None]
    if not absent or not request.targets:
        return None
    reason = missing.why(request.targets[0], absent[0], request.watch, recorder)
    if not reason.problem.code:
        return None
    found = all_none(request.targets[0], reason, request.location)
    return found.with_(
        title=found.title.replace("every gradient asked for", "a gradient", 1), fixes=reason.problem.fixes
    )


__all__ = ["Request", "judge_none", "judge_request", "judge_values", "quiet_none"]
