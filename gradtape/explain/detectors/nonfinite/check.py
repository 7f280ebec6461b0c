"""Finds the operation that produced a NaN or infinity, in the forward or the backward pass.

Nothing is checked while gradients are finite. When one is not, the backward pass is replayed with all values kept
(a `Replayable`), and searched for the first operation that was given finite numbers and returned a
number that is not finite.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.explain.detectors.nonfinite.origin import (
    backward_origin_problem,
    first_index,
    forward_origin_problem,
    has_nan,
    input_problem,
    unknown_origin_problem,
    where_branch_problem,
)
from gradtape.explain.detectors.nonfinite.second_order import second_order_problem
from gradtape.explain.emit.policy import report
from gradtape.explain.model.problem import Problem
from gradtape.explain.model.record import Record, Replayable
from gradtape.explain.source.expression import is_written, site_at
from gradtape.explain.source.operation_site import is_finite

_PASSING_ON = frozenset({"where", "pad", "concatenate", "stack", "full", "getitem", "setitem"})


LEAVES_THE_DOMAIN = (
    "this is a step that scipy.optimize tries, out of where the function is defined: gt.optimize.minimize goes back "
    "from NaN; or bounds=, or np.inf for the value there"
)


def explain_nonfinite(replay: Replayable, origins: Sequence[Record], targets: Sequence[Any]) -> None:
    """Report the origin of the NaN or infinity in a gradient that was just taken."""
    spoiled = not all(is_finite(target) for target in targets)
    forward = forward_origins(replay) or (_first_nan(replay) if spoiled else [])
    entry = _find_nonfinite_input(replay) if spoiled else None
    if entry is not None:
        others = [origin for origin in forward if origin is not entry[0]]
        came = None if entry[1] is None else entry[0].parents[entry[1]]
        is_parameter = came is not None and came.is_tracked
        masked = not is_parameter and not has_nan(replay.values.get(entry[0], np.nan))
        if not any(masked or origin.order < entry[0].order for origin in others):
            report(input_problem(replay, *entry))
            return
    if spoiled and forward:
        found = _forward_or_rule_problem(replay, forward[0])
        report(found.with_(fixes=[LEAVES_THE_DOMAIN, *found.fixes]) if is_scipy_trial() else found)
        return
    culprit = _backward_origin(replay)
    if culprit is None:
        culprit_of_walk = origins[0] if origins else None
        report(unknown_origin_problem(replay, culprit_of_walk, spoiled))
        return
    node, index, slot = culprit
    if node.reports_itself:
        return
    if node.location.in_rule and node not in forward:
        report(second_order_problem(replay, node, index, is_differentiated=True))
        return
    where = _find_masking_where(replay, node, index)
    if where is not None:
        origin = next((origin for origin in forward if origin is node or _reaches(replay, origin, node)), None)
        if origin is not None:  # the fix belongs to the operation that made the infinity, not to the one that uses it
            index = first_index(~np.isfinite(np.asarray(replay.values[origin])))
            node, slot = origin, next(i for i, parent in enumerate(origin.parents) if parent.is_tracked)
        else:
            for i, value in enumerate(replay.inputs(node)):
                if value is not None and np.shape(value) == node.shape and not is_finite(np.asarray(value)):
                    index, slot = first_index(~np.isfinite(value)), i
        report(where_branch_problem(replay, node, index, slot, *where))
    elif node in forward:
        report(_forward_or_rule_problem(replay, node))
    else:
        report(backward_origin_problem(replay, node, index, slot))


def _forward_or_rule_problem(replay: Replayable, node: Record) -> Problem:
    node = _find_division(replay, node)
    if not node.location.in_rule:
        return forward_origin_problem(replay, node)
    return second_order_problem(replay, node, first_index(~np.isfinite(replay.values[node])), is_differentiated=False)


def _find_division(replay: Replayable, node: Record) -> Record:
    """The division by zero before sums that only passed its result on, where the dividend was not saved.

    `node` itself if there is none.
    """
    while node.operation and (node.operation in _TRANSPARENT or node.kind == "linear"):
        inputs = replay.inputs(node)
        unknown = [p for p, value in zip(node.parents, inputs) if value is None and p.operation]
        if len(unknown) != 1 or unknown[0].shape != node.shape:
            return node
        inner = unknown[0]
        divided = replay.inputs(inner)
        replay.values[inner] = replay.values[node]
        if inner.operation == "divide" and divided[1] is not None and not np.all(divided[1]):
            return inner
        node = inner
    return node


def _reaches(replay: Replayable, ancestor: Record, node: Record) -> bool:
    """Whether `node` was computed from `ancestor`."""
    seen, pending = {ancestor}, [ancestor]
    while pending:
        for consumer in replay.consumers.get(pending.pop(), ()):
            if consumer is node:
                return True
            if consumer not in seen:
                seen.add(consumer)
                pending.append(consumer)
    return False


def forward_origins(replay: Replayable) -> list[Record]:
    """The operations known to have returned NaN or infinity for finite operands, in the order they ran."""
    spoiled: set[Record] = set()
    origins: list[Record] = []
    for node in reversed(replay.records):
        value = replay.values.get(node)
        inherited = any(parent in spoiled for parent in node.parents)
        if (value is None and inherited) or not is_finite(value):
            spoiled.add(node)
        if not node.operation or inherited or node not in spoiled or node.operation in _PASSING_ON:
            continue
        if all(is_finite(np.asarray(x)) for x in replay.inputs(node) if x is not None):
            origins.append(node)
    return origins


def _first_nan(replay: Replayable) -> list[Record]:
    """The first operation known to have returned NaN for operands without one: infinity minus infinity, 0 * inf."""
    for node in reversed(replay.records):
        value = replay.values.get(node)
        if not node.operation or node.operation in _PASSING_ON or value is None or not has_nan(value):
            continue
        known = [x for x in replay.inputs(node) if x is not None]
        is_inherited = any(
            parent in replay.consumers and has_nan(replay.values.get(parent, 0.0)) for parent in node.parents
        )
        if known and not is_inherited and not any(has_nan(x) for x in known):
            return [node]
        return []
    return []


_TRANSPARENT = frozenset({"add", "subtract", "multiply", "square", "tanh", "sigmoid", "maximum", "minimum", "relu"})


def _find_nonfinite_input(replay: Replayable) -> tuple[Record, int | None] | None:
    """The first operation with a NaN or infinity in its data or parameters, and the index of that operand.

    Sums and products return NaN only for NaN and infinity: if an operand was not saved, their result shows it.
    """
    for node in reversed(replay.records):
        if not node.operation:
            continue
        inputs = replay.inputs(node)
        for slot, (value, parent) in enumerate(zip(inputs, node.parents)):
            if (parent.operation and parent.is_tracked) or value is None or is_finite(np.asarray(value)):
                continue
            if parent.is_tracked or has_nan(value):  # infinity in data may be meant: a mask
                return node, slot
        if node.operation not in _TRANSPARENT and node.kind not in ("linear", "multilinear"):
            continue
        out = replay.values.get(node)
        if out is None or is_finite(out):
            continue
        if not has_nan(out) and (node.operation in _PASSING_ON or not _cannot_overflow(inputs)):
            continue
        if all(is_finite(np.asarray(value)) for value in inputs if value is not None):
            unknown = [slot for slot, value in enumerate(inputs) if value is None]
            return (node, unknown[0] if len(unknown) == 1 else None) if unknown else None
        return None  # an earlier operation produced it
    return None


def _cannot_overflow(inputs: Sequence[Any]) -> bool:
    """Whether an operand is known, and all known ones are so small that the result cannot overflow."""
    known = [np.asarray(value) for value in inputs if value is not None]
    return bool(known) and all(
        value.dtype.kind not in "fc" or np.max(np.abs(value), initial=0) < 1e18 for value in known
    )


def _backward_origin(replay: Replayable) -> tuple[Record, tuple[int, ...], int] | None:
    """The operation whose rule turned finite cotangents into NaN or infinity, the first such element, and its input."""
    for node in replay.records:
        given = replay.cotangents.get(node)
        if given is None or not all(is_finite(part) for part in _gradient_parts(replay.gradients[node])):
            continue
        for slot, cotangent in enumerate(given):
            if cotangent is not None and not is_finite(cotangent):
                return node, first_index(~np.isfinite(cotangent)), slot
    return None


def _gradient_parts(gradient: Any) -> list[Any]:
    return [part for part in gradient if part is not None] if isinstance(gradient, list) else [gradient]


def _find_masking_where(replay: Replayable, node: Record, index: tuple[int, ...]) -> tuple[Record, int] | None:
    """The `where` that did not take the branch of `node`, and the index of that branch; None if there is none.

    It is recognised by the cotangent: zero at the elements where the rule returned NaN or infinity.
    """
    gradient = replay.gradients[node]
    if isinstance(gradient, list) or np.shape(gradient) != node.shape:
        return None
    bad = np.zeros(node.shape, bool)
    for parent, cotangent in zip(node.parents, replay.cotangents[node]):
        if cotangent is None:
            continue
        wrong = ~np.isfinite(cotangent)
        if parent.shape == node.shape:
            bad |= wrong
        elif not np.any(gradient):
            bad[...] = True
        elif node.kind == "elementwise":  # stretched: its slopes are those of the others
            for value in replay.inputs(node):
                if value is not None and np.shape(value) == node.shape:
                    bad |= ~np.isfinite(value)
    if not bad.any() or np.any(np.asarray(gradient)[bad] != 0):
        return None
    seen, pending = {node}, [node]
    while pending:
        inner = pending.pop(0)
        for consumer in replay.consumers.get(inner, ()):
            if not consumer.operation or consumer in seen:
                continue
            seen.add(consumer)
            if consumer.operation == "where" and is_written(site_at(consumer.location), "where"):
                return consumer, next(i for i, parent in enumerate(consumer.parents) if parent is inner)
            pending.append(consumer)
    return None


def is_scipy_trial() -> bool:
    """Whether a method of `scipy.optimize` is evaluating the function at a point after the first."""
    frame: Any = sys._getframe(1)
    found = False
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("scipy.optimize."):
            if frame.f_code.co_name in ("__init__", "_prepare_scalar_function"):
                return False
            found = True
        frame = frame.f_back
    return found
