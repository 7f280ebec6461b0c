"""Runs the detectors on what was recorded of another library: at an operation, and when a gradient was taken."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradtape.core.location import Location
from gradtape.errors import GradTapeError
from gradtape.explain.detectors import axis_alignment, zero_gradient
from gradtape.explain.detectors.broadcast import Residual, diagnose_broadcast, judge_residual
from gradtape.explain.detectors.broadcast_places import diagnose_once
from gradtape.explain.detectors.detached_value import judge_departures
from gradtape.explain.detectors.lost_difference import judge_difference
from gradtape.explain.detectors.nonfinite import check
from gradtape.explain.detectors.reshape_for_transpose import check_reshape, is_swap
from gradtape.explain.detectors.training_dynamics import judge_label_pick, judge_softmax, survey_graph
from gradtape.explain.emit.policy import report
from gradtape.explain.graph import paths
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.model.record import Shape
from gradtape.explain.source.axes import is_outer
from gradtape.explain.source.expression import UserExpression, site_at
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.facts import facts_of
from gradtape.watching.observers import observers
from gradtape.watching.record import OperationRecord, ResultRecord, WatchedRecord

Arrival = tuple[WatchedRecord, np.ndarray[Any, Any] | None]
"""A source and the gradient that it got; None if it got none."""


_WITH_POSITIONS = frozenset({"max", "min", "median", "mode"})  # of PyTorch: along an axis they give positions too
NO_REASONS: Mapping[WatchedRecord, Problem] = {}


def judge_broadcast(record: OperationRecord, inputs: Sequence[Any], shapes: tuple[Shape, Shape]) -> None:
    """Report an accidental broadcast at an elementwise operation of two operands, or keep it for when a gradient is
    taken.
    """
    left, right = shapes
    if not left or not right or left == right or record.location.code is None:
        return
    if not is_outer(left, right) and not any(parent.is_tracked for parent in record.parents):
        return

    def diagnose() -> Any:
        return diagnose_broadcast(record, inputs, shapes, UserExpression.present)

    waiting = diagnose_once(record, record.location.code, record.location.offset, shapes, diagnose)
    if waiting is not None:
        record.finding = waiting


def judge_gradient(
    computation: RecordedComputation,
    arrivals: Sequence[Arrival],
    targets: Sequence[Any],
    departures: Sequence[WatchedRecord] = (),
    judges_zeros: bool = True,
    surveys: bool = True,
    where: Location | None = None,
    reasons: Mapping[WatchedRecord, Problem] = NO_REASONS,
) -> list[Problem]:
    """Run the detectors that apply to a gradient that was taken; they report what they find.

    `targets` are the values, as arrays, that were differentiated; `departures` the values that have left the graph as
    numbers or arrays since the gradient before; `where` is the place that asked for the gradient, if that is not the
    present one; `reasons` say why sources have no gradient. The notes of a survey, if it `surveys`, are returned.
    """
    numbers = [(record, g) for record, g in arrivals if g is not None and g.size]
    broken = not all(np.isfinite(target).all() for target in targets if target is not None)
    broken = broken or not all(np.isfinite(g).all() for _, g in numbers)
    zeros = [] if broken or not judges_zeros else [record for record, g in numbers if not np.any(g)]
    try:
        with np.errstate(all="ignore"):
            tell_observers(computation, arrivals, where, reasons)
            if broken:
                check.explain_nonfinite(computation, [], [target for target in targets if target is not None])
                return []
            if zeros:
                zero_gradient.explain_zeros(computation, zeros, len(zeros) == len(numbers), targets)
            judge_records(computation, departures)
            return [] if zeros or not surveys else list(survey_graph(computation))
    except (GradTapeError, Warning):
        raise
    except Exception as error:  # the gradient is right or wrong without its explanation
        if broken:
            title = "the gradient is not finite"
            report(problem("GT402", title, notes=[f"the search for the cause stopped: {type(error).__name__}"]))
        return []


def tell_observers(
    computation: RecordedComputation,
    arrivals: Sequence[Arrival],
    where: Location | None = None,
    reasons: Mapping[WatchedRecord, Problem] = NO_REASONS,
) -> None:
    """Tell those who want to know of each gradient, for a report."""
    for observe in observers:
        asked = where or Location.here()
        observe(asked, functools.partial(facts_of, computation, arrivals, asked, reasons))


def judge_records(computation: RecordedComputation, departures: Sequence[WatchedRecord] = ()) -> None:
    """Judge the operations on the way to the targets that only can be judged when a gradient is taken."""
    judge_departures([*departures], computation)
    _judge_reshapes(computation)
    for record in computation.records:
        if not isinstance(record, OperationRecord):
            if isinstance(record, ResultRecord) and record.part == 0 and record.parents[0].operation in _WITH_POSITIONS:
                axis_alignment.judge_reduction(record, computation, record.parents[0])
            continue
        finding = record.finding
        if isinstance(finding, Residual):
            judge_residual(finding, computation)
        elif record.operation == "getitem":
            if not judge_label_pick(record, computation):
                axis_alignment.judge_label_index(record, computation)
        elif record.operation in axis_alignment.REDUCTIONS or hasattr(record, "reduced"):
            axis_alignment.judge_reduction(record, computation)
        elif record.operation in ("softmax", "log_softmax"):
            judge_softmax(record, computation)
        elif record.operation == "subtract":
            judge_difference(record, computation)


def _judge_reshapes(computation: RecordedComputation) -> None:
    """Judge the reshapes of data and of what is computed from it, as far back as they were recorded."""
    behind: dict[Any, None] = {}
    for target in computation.targets:
        paths.all_behind(target, behind)
    for record in behind:
        if isinstance(record, OperationRecord) and record.operation == "reshape" and record.location.is_known:
            old = record.operands[0].shape if record.operands else None
            if old is not None and is_swap(old, record.shape):
                check_reshape(old, record.shape, site_at(record.location))


__all__ = ["Arrival", "judge_broadcast", "judge_gradient", "judge_records", "tell_observers"]
