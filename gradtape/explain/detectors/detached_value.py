"""Detector: a value left the tape as a plain number and came back as a constant, so its gradient is lost.

A number has no history. It is recognised by the source (the operand reads the expression at which the value left,
directly or through names), or by the number itself, if it has too many digits to be written by hand. Text and files are
mostly written to be looked at: they are recognised by their numbers only where no other value can have these.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradtape.explain.detectors.departure_fixes import (
    exit_expression,
    exit_words,
    fixes_for_departure,
)
from gradtape.explain.detectors.shown_text import is_only_shown
from gradtape.explain.detectors.value_flow import reads_departure
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.graph.cuts import IN_THREAD, TEXTS
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.model.record import Record, Replayable
from gradtape.explain.source.expression import UserExpression, site_at
from gradtape.explain.source.files import one_line, uses_own_numpy

PAIRS_AT_MOST = 4096
ARRAYS_AT_MOST = 64
_METHODS = frozenset({".item()", ".tolist()"})
_NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")

_unrelated_pairs: dict[tuple[Any, ...], tuple[Any, Any]] = {}


def judge_departures(departed: Sequence[Record], replay: Replayable) -> bool:
    """Warn of the first departed value that is a constant operand on the way to the target. Whether it warned."""
    departed = [departure for departure in departed if not _is_intended(departure) and not _is_only_shown(departure)]
    if not departed:
        return False
    constants = ConstantOperands(replay)
    for departure in departed:
        in_thread = departure.reason == "another thread"
        is_carried = in_thread or departure.reason == "pickle"  # the tensor that comes back has the cut for its node
        edges = constants.holding(departure) if is_carried else constants.computed_from(departure)
        if edges and not _cancels(edges, replay):
            found = (_problem_in_thread if in_thread else _detached_problem)(departure, *edges[0])
            if is_due(found.code, *found.place[1:]):
                report(found)
            return True
    return False


def _is_intended(departure: Record) -> bool:
    """Whether the code says that the gradient is not wanted: by `.item()`, unless it was written for NumPy."""
    return departure.reason in _METHODS and not departure.library and not uses_own_numpy(departure.location.file)


def _is_only_shown(departure: Record) -> bool:
    return departure.reason in TEXTS and is_only_shown(*exit_expression(departure))


class ConstantOperands:
    """The constant operands on the way to a target, grouped by their place in the code: a loop repeats each place."""

    def __init__(self, replay: Replayable) -> None:
        self._edges = [
            (node, slot)
            for node in reversed(replay.records)
            if node.location.is_known
            for slot in _constant_slots(node)
        ]
        self._by_place: dict[tuple[Any, ...], list[int]] = {}
        for index, (node, slot) in enumerate(self._edges):
            self._by_place.setdefault((*node.place_key, slot), []).append(index)
        self._by_departure: dict[tuple[Any, ...], list[int]] = {}  # by the place of a departure
        self._numbers: dict[Any, list[int]] | None = None
        self._arrays: list[int] = []

    def computed_from(self, departure: Record) -> list[tuple[Record, int]]:
        """The operands, younger than `departure`, that were computed from its value, as names or numbers show."""
        place = departure.place_key
        if place not in self._by_departure:
            self._by_departure[place] = self._find_by_source(departure)
        found = {*self._by_departure[place]}
        numbers = _recognisable_numbers(departure)
        if numbers:
            met = self._find_by_value(numbers)
            found.update(index for index in met if not (_is_mostly_shown(departure) and self._is_cut(index)))
        return [self._edges[index] for index in sorted(found) if self._edges[index][0].order >= departure.order]

    def holding(self, departure: Record) -> list[tuple[Record, int]]:
        """The operands that are the value of `departure` itself, or were computed from it by the same thread."""
        return [(node, slot) for node, slot in self._edges if departure in _cuts_of(node.parents[slot])]

    def _find_by_source(self, departure: Record) -> list[int]:
        found: list[int] = []
        for key, edges in self._by_place.items():
            pair = (*departure.place_key, *key)
            if pair in _unrelated_pairs:
                continue
            if _operand_reads(departure, *self._edges[edges[0]]):
                found += edges
            elif len(_unrelated_pairs) < PAIRS_AT_MOST:
                _unrelated_pairs[pair] = departure.location, self._edges[edges[0]][0].location
        return found

    def _find_by_value(self, values: Sequence[float]) -> list[int]:
        if self._numbers is None:
            self._numbers = {}
            for index, (node, slot) in enumerate(self._edges):
                constant = node.operand_value(slot)
                if constant is None:
                    continue
                if np.size(constant) == 1:
                    self._numbers.setdefault(np.asarray(constant).item(), []).append(index)
                elif len(self._arrays) < ARRAYS_AT_MOST:
                    self._arrays.append(index)
        arrays = [index for index in self._arrays if self._contains(index, values)]
        return [*(index for value in values for index in self._numbers.get(value, ())), *arrays]

    def _contains(self, index: int, values: Sequence[float]) -> bool:
        node, slot = self._edges[index]
        array = np.asarray(node.operand_value(slot))
        if len(values) == 1:
            return bool(np.any(array == values[0]))
        known = np.sort(values)
        at = np.minimum(np.searchsorted(known, array.real), len(known) - 1)
        return bool(np.any(known[at] == array))

    def _is_cut(self, index: int) -> bool:
        """Whether an operand is a tensor that left the tape in a way of its own, as by `gt.stop_gradient`."""
        node, slot = self._edges[index]
        return bool(getattr(node.parents[slot], "reason", ""))


def _cuts_of(parent: Any) -> Sequence[Any]:
    return getattr(parent, "joined", None) or (parent,)


def _constant_slots(node: Record) -> Iterator[int]:
    """The inputs of an operation that are numbers or arrays, not tensors on a tape."""
    if node.operation:
        for index, parent in enumerate(node.parents):
            if not parent.is_tracked:
                yield index


def _is_mostly_shown(departure: Record) -> bool:
    """Whether a value was made into text, or written to a file or into bytes: to be looked at, and not to come back."""
    return "text" in departure.params or "numbers" in departure.params


def _recognisable_numbers(departure: Record) -> list[float]:
    """The numbers by which what left at `departure` can be recognised.

    There are none for what is mostly shown and can have been met elsewhere: a source, which was a constant before it
    was one, and a value that left in another way too.
    """
    params = departure.params
    if _is_mostly_shown(departure) and (params["is_leaf"] or params.get("left_elsewhere")):
        return []
    if "text" in params:
        found: list[Any] = [float(number) for number in _NUMBER.findall(params["text"])]
    elif "numbers" in params:
        found = params["numbers"].tolist()
    else:
        found = [params.get("value")]
    return [number for number in dict.fromkeys(found) if _is_recognisable(number)]


def _is_recognisable(value: Any) -> bool:
    """Whether a number has so many digits that meeting it again is no coincidence."""
    if not isinstance(value, float) or not math.isfinite(value) or abs(value) < 1e-300:
        return False
    return float(f"{value:.6g}") != value


def _operand_reads(departure: Record, node: Record, slot: int) -> bool:
    """Whether an operand is computed from what left at `departure`, as far as names show."""
    site = site_at(node.location)
    part = _operand_expression(site, node, slot)
    return part is not None and reads_departure(site, part, departure)


def _operand_expression(site: UserExpression, node: Record, slot: int) -> ast.expr | None:
    if not isinstance(site.node, ast.expr | ast.stmt):
        return None
    candidates = site._candidates(len(node.parents))
    return candidates[slot] if slot < len(candidates) and len(candidates) == len(node.parents) else None


def _cancels(edges: Sequence[tuple[Record, int]], replay: Replayable) -> bool:
    """Whether the lost gradient is zero, as for a maximum that is subtracted and added again."""
    total, size = 0.0, 0.0
    for node, slot in edges:
        lost = replay.gradient_of_constant(node, slot)
        if lost is None:
            return False
        total += float(np.sum(lost).real)
        size += float(np.sum(np.abs(lost)))
    return abs(total) <= 1e-9 * size


# -- what to say


def _problem_in_thread(departure: Record, node: Record, slot: int) -> Problem:
    """The warning for a value that a thread has computed which did not see the tape."""
    site, came = site_at(departure.location), site_at(node.location)
    return problem(
        "GT211",
        "a value was computed in a thread that does not see the tape, and came back as a constant",
        spans=[site.span.labelled("computed here, in another thread"), came.span.labelled("came back here")],
        consequence="the gradient through it is lost: what arrives at the sources is only a part",
        fixes=[IN_THREAD],
        intent="say so in the code: gt.stop_gradient(x) in the thread",
    )


def _detached_problem(departure: Record, node: Record, slot: int) -> Problem:
    site, left = exit_expression(departure)
    came = site_at(node.location)
    part = _operand_expression(came, node, slot)
    back = came.span if part is None else came.source.span(part)
    how = exit_words(site, left, departure)
    words = one_line(site.span.text) if isinstance(left, ast.expr) else departure.reason
    if isinstance(left, ast.Subscript):
        words = site.source.text(left)
    inline = (back.file, back.line) == (site.span.file, site.span.line)
    spans = [site.span.labelled("left here" if not inline else "left and came back here")]
    if not inline:
        spans.append(back.labelled("came back here, as a constant"))
    meant = "gt.stop_gradient(x)" if departure.reason in _METHODS else ".item() or gt.stop_gradient(x)"
    return problem(
        "GT210",
        f"{words if len(words) <= 40 else 'a value'} left the tape as {how} and came back as a constant",
        spans=spans,
        consequence="the gradient through it is lost: what arrives at the sources is only a part",
        fixes=fixes_for_departure(site, left, departure),
        intent=f"say so in the code: {meant} instead",
    )
