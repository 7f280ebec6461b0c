"""Builds the `Problem` for the operation that produced a NaN or infinity: its operands, their values, and fixes."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gradtape.explain.fixes.numeric_edits import numeric_advice, numeric_edits
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem
from gradtape.explain.model.record import Record, Replayable, SourceLocation
from gradtape.explain.source.expression import UserExpression, replace_span, site_at
from gradtape.explain.source.operation_site import OperationSite, is_finite, number


def forward_origin_problem(replay: Replayable, node: Record) -> Problem:
    """The problem for `node`, the first operation that returned NaN or infinity for finite operands."""
    value = np.asarray(replay.values[node])
    index = first_index(np.isnan(value) if has_nan(value) else ~np.isfinite(value))  # infinity may be meant: a mask
    place = OperationSite(replay, node, index)
    return forward_problem(place, value, index)


def input_problem(replay: Replayable, node: Record, slot: int | None) -> Problem:
    """The problem for a NaN or infinity that was in the data, or in a parameter, before any operation."""
    value = None if slot is None else replay.inputs(node)[slot]
    out = replay.values.get(node)
    spoiled = next(np.asarray(v) for v in (value, out) if v is not None and not is_finite(np.asarray(v)))
    index = first_index(np.isnan(spoiled) if has_nan(spoiled) else ~np.isfinite(spoiled))
    place = OperationSite(replay, node, index, slot)
    what = number(spoiled[index])
    where = f" at {list(index)}" if index else ""
    title = f"{place.expression} is {what}{where}, which was in the data or in a parameter to begin with"
    is_parameter = slot is not None and node.parents[slot].is_tracked
    if slot is not None:
        name = place.operand(slot)
        at = where if value is not None else ""
        title = f"{name} is {what}{at} to begin with"
        if value is None:
            title = f"{name} is not finite to begin with: {place.expression} is {what}{where}"
    bad = int(np.count_nonzero(~np.isfinite(spoiled)))
    name = "x" if slot is None or len(place.operand(slot)) > 20 else place.operand(slot)
    advice = (
        "look at the step before, which made it so: a smaller learning rate, or a gradient that was not finite"
        if is_parameter
        else f"leave those examples out, or fill them in: np.isfinite({name}) finds them, np.nan_to_num replaces them"
    )
    part = None if slot is None or is_parameter or slot >= len(place.parts) else place.parts[slot]
    made = place.site.binding(part) if isinstance(part, ast.Name) else None
    return problem(
        "GT401",
        title,
        spans=[place.span] if made is None or made.label else [place.span, made.labelled(f"{name} is from here")],
        operands=place.operands(),
        notes=[f"{bad} of {spoiled.size} elements are not finite"] if spoiled.size > 1 else [],
        consequence="everything that is computed from it, and its gradient, is lost",
        fixes=advice,
    )


def forward_problem(place: OperationSite, value: Any, index: tuple[int, ...]) -> Problem:
    """The problem for an operation whose result is the first that is not finite (GT401)."""
    bad = int(np.count_nonzero(~np.isfinite(value)))
    what = number(np.asarray(value)[index])
    notes = [f"{bad} of {value.size} elements are not finite"] if value.size > 1 else []
    return problem(
        "GT401",
        f"{place.expression} is {what}{place.where()}",
        spans=[place.span],
        operands=place.operands(),
        notes=notes,
        consequence="everything that is computed from it, and its gradient, is lost",
        fixes=[*numeric_edits(place), *numeric_advice(place, value[index])],
    )


def backward_origin_problem(replay: Replayable, node: Record, index: tuple[int, ...], slot: int) -> Problem:
    """The problem for an operation whose value is finite and whose slope is not."""
    place = OperationSite(replay, node, index, slot)
    cotangent = np.asarray(replay.cotangents[node][slot])
    gradient = replay.gradients[node]
    arrived = (
        "" if isinstance(gradient, list) or np.size(gradient) != 1 else f" {number(np.asarray(gradient).ravel()[0])}"
    )
    value = np.asarray(replay.values.get(node, np.nan))
    if np.isnan(cotangent[index]) and _is_zero_times_infinity(replay, place, gradient, value):
        what, met = "infinite", "the gradient that comes back there is zero, and zero times infinity is NaN"
    else:
        what = "NaN" if np.isnan(cotangent[index]) else "infinite"
        met = f"the gradient{arrived} that comes back is multiplied by that slope"
    title = f"the slope of {place.expression} is {what}{place.where()}"
    return problem(
        "GT402",
        title,
        spans=[place.span],
        operands=place.operands(),
        notes=[f"{'the value is finite there; ' if is_finite(value) else ''}{met}"],
        consequence="the gradient of everything before it is infinite, or NaN where it meets a zero",
        fixes=[*numeric_edits(place), *numeric_advice(place)],
    )


def _is_zero_times_infinity(replay: Replayable, place: OperationSite, gradient: Any, value: Any) -> bool:
    """Whether a NaN at this element is a gradient of zero times a slope that is infinite by itself."""
    index, slot = place.index, place.slot
    if isinstance(gradient, list):  # one for each of several results
        return False
    if slot is None or np.shape(gradient) != np.shape(value) or len(index) != np.ndim(gradient):
        return False
    if np.asarray(gradient)[index] != 0 or any(v is None for v in place.values):
        return False
    with np.errstate(all="ignore"):
        slopes = replay.apply_reverse(place.node, np.ones_like(gradient), value, place.values)[slot]
    return np.shape(slopes) == np.shape(gradient) and bool(np.isinf(slopes[index]))


def where_branch_problem(
    replay: Replayable, node: Record, index: tuple[int, ...], slot: int, where: Record, branch: int
) -> Problem:
    """The problem for zero, the gradient of the branch that `where` did not take, times an infinite slope."""
    place = OperationSite(replay, node, index, slot)
    chooser = site_at(where.location)
    same = where.place_key == node.place_key
    spans = [place.span.labelled("computed and differentiated everywhere")]
    if not same:
        spans.append(chooser.span.labelled("chosen here"))
    first, operand = _first_of_branch(replay, node, slot, index)
    masked = place if first is node else OperationSite(replay, first, index, operand)
    offered = _double_where(masked, operand, chooser, branch, where)
    return problem(
        "GT403",
        f"the branch that where does not take has no finite slope: {place.expression}{place.where()}",
        spans=spans,
        notes=["where passes a gradient of zero to the branch not taken, and zero times infinity is NaN"],
        consequence="the gradient is NaN at places whose value is not even used",
        fixes=[*offered, "choose the operand before, not only the result: "
               "np.where(ok, f(np.where(ok, x, 1.0)), other)"],
    )  # fmt: skip


def _first_of_branch(replay: Replayable, node: Record, slot: int, index: tuple[int, ...]) -> tuple[Record, int]:
    """The first of the elementwise operations up to `node` whose slopes are not finite at an element, and its operand.

    A `where` around the operand of a later one, such as 1 / sqrt(x) at 0, would leave the slopes of those before it.
    """
    while node.parents[slot].shape == node.shape and node.parents[slot].kind == "elementwise":
        before = node.parents[slot]
        values = replay.inputs(before)
        inner = next((i for i, parent in enumerate(before.parents) if parent.is_tracked), None)
        out = replay.values.get(before)
        if inner is None or out is None or any(value is None for value in values):
            break
        with np.errstate(all="ignore"):
            slopes = replay.apply_reverse(before, np.ones_like(out), out, values)[inner]
        if np.shape(slopes) != before.shape or bool(np.isfinite(np.asarray(slopes)[index])):
            break
        node, slot = before, inner
    return node, slot


def unknown_origin_problem(replay: Replayable, culprit: Record | None, spoiled: bool) -> Problem:
    """The problem where the gradient is not finite, and too little was saved to find the operation."""
    place = culprit or next(iter(replay.records), None)
    spans: list[SourceLocation] = [] if place is None else [place.location]
    what = "the target is not finite, and so is its gradient not" if spoiled else "the gradient is not finite"
    if culprit is not None and culprit.operation:
        what = (
            f"the gradient became NaN in the rule of {culprit.operation!r}: zero times an infinite slope, or inf - inf"
        )
    notes = [] if replay.lost is None else ["large arrays had been let go, so that the first element cannot be shown"]
    return problem(
        "GT401" if spoiled else "GT402",
        what,
        spans=spans,
        notes=notes,
        fixes="with gt.check_numerics(): around it stops at the first operation that makes NaN or infinity",
    )


def _double_where(place: OperationSite, slot: int, chooser: UserExpression, branch: int, where: Record) -> list[Fix]:
    """The operand with a `where` of its own, which puts a harmless number where the branch is not taken."""
    call = chooser.node
    part = place.parts[slot] if slot < len(place.parts) else None
    if not isinstance(call, ast.Call) or len(call.args) != 3 or part is None or branch not in (1, 2):
        return []
    condition = chooser.source.text(call.args[0])
    function = chooser.source.text(call.func)
    if not _names_mean_the_same(call.args[0], chooser, place):
        return []
    inner = place.site.source.text(part)
    chosen = (inner, "1.0") if branch == 1 else ("1.0", inner)
    written = replace_span(place.span, place.site.source.span(part), f"{function}({condition}, {', '.join(chosen)})")
    value, mask = place.values[slot], where.operand_value(0)
    if written is None or value is None or mask is None:
        return []
    try:
        taken = np.broadcast_to(mask, np.shape(value)) if branch == 1 else ~np.broadcast_to(mask, np.shape(value))
    except ValueError:
        return []
    inputs = [np.where(taken, v, np.asarray(v).dtype.type(1)) if k == slot else v for k, v in enumerate(place.values)]
    with np.errstate(all="ignore"):
        works = all(v is not None for v in inputs) and place.works(inputs)
    return [Fix(written, True, place.span)] if works else []


def _names_mean_the_same(condition: ast.expr, chooser: UserExpression, place: OperationSite) -> bool:
    """Whether the names in the condition of `where` have the same meaning at the line of the branch."""
    if chooser.source.file != place.site.source.file or place.site.node is None or chooser.node is None:
        return False
    scope = next(iter(chooser.source.scopes(chooser.node)), None)
    if scope is not next(iter(place.site.source.scopes(place.site.node)), None):
        return False
    if place.span.line == chooser.span.line:
        return True
    for name in ast.walk(condition):
        if isinstance(name, ast.Name):
            bound = chooser.binding(name)
            if bound is not None and bound.line >= place.span.line:
                return False
    return True


def first_index(mask: Any) -> tuple[int, ...]:
    """The index of the first element that is true."""
    flat = int(np.argmax(np.ravel(mask)))
    return tuple(int(i) for i in np.unravel_index(flat, np.shape(mask)))


def has_nan(value: Any) -> bool:
    """Whether a value has a NaN."""
    array = np.asarray(value)
    return array.dtype.kind in "fc" and bool(np.isnan(array).any())
