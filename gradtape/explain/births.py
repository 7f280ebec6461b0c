"""Where a NaN or infinity was born, in words: what was computed there of which numbers, and what to write instead."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gradtape.core import graph
from gradtape.core.graph import Node
from gradtape.core.location import Location
from gradtape.explain import fixes
from gradtape.explain.broadcast import site_at
from gradtape.explain.messages import problem
from gradtape.explain.place import Place, is_finite, number
from gradtape.explain.problem import Fix, Problem
from gradtape.explain.replay import Replay
from gradtape.explain.site import Site
from gradtape.explain.source import one_line

TINY = "1e-12"


def born_forward(replay: Replay, node: Node) -> Problem:
    """The first operation, in the order of the program, that made NaN or infinity of finite numbers."""
    value = np.asarray(replay.values[node])
    index = first_index(~np.isfinite(value))
    place = Place(replay, node, index)
    return forward_problem(place, value, index)


def came_in(replay: Replay, node: Node, slot: int | None) -> Problem:
    """A NaN or infinity that was there before anything was computed: in the data, or in a parameter."""
    value = None if slot is None else replay.inputs(node)[slot]
    out = replay.values.get(node)
    spoiled = next(np.asarray(v) for v in (value, out) if v is not None and not is_finite(np.asarray(v)))
    index = first_index(np.isnan(spoiled) if has_nan(spoiled) else ~np.isfinite(spoiled))
    place = Place(replay, node, index, slot)
    what = number(spoiled[index])
    where = f" at {list(index)}" if index else ""
    title = f"{place.expression} is {what}{where}, which was in the data or in a parameter to begin with"
    is_parameter = slot is not None and node.parents[slot].bits > graph.FLAGS
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


def forward_problem(place: Place, value: Any, index: tuple[int, ...]) -> Problem:
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
        fixes=[*_edits(place), *_advice(place, value[index])],
    )


def born_backward(replay: Replay, node: Node, index: tuple[int, ...], slot: int) -> Problem:
    """The values are finite, the slope is not."""
    place = Place(replay, node, index, slot)
    cotangent = np.asarray(replay.cotangents[node][slot])
    gradient = replay.gradients[node]
    arrived = (
        "" if isinstance(gradient, list) or np.size(gradient) != 1 else f" {number(np.asarray(gradient).ravel()[0])}"
    )
    value = np.asarray(replay.values.get(node, np.nan))
    if np.isnan(cotangent[index]) and _is_zero_times_infinity(place, gradient, value):
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
        fixes=[*_edits(place), *_advice(place)],
    )


def _is_zero_times_infinity(place: Place, gradient: Any, value: Any) -> bool:
    """Whether a NaN at this element is a gradient of zero times a slope that is infinite by itself."""
    index, slot, op = place.index, place.slot, place.node.op
    if op is None or slot is None or np.shape(gradient) != np.shape(value) or len(index) != np.ndim(gradient):
        return False
    if np.asarray(gradient)[index] != 0 or any(v is None for v in place.values):
        return False
    with np.errstate(all="ignore"):
        slopes = op.reverse(np.ones_like(gradient), place.node, value, tuple(place.values))[slot]
    return np.shape(slopes) == np.shape(gradient) and bool(np.isinf(slopes[index]))


def from_branch(replay: Replay, node: Node, index: tuple[int, ...], slot: int, where: Node, branch: int) -> Problem:
    """Zero, from a `where` that takes the other branch, times an infinite slope."""
    place = Place(replay, node, index, slot)
    chooser = site_at(where.location)
    same = (where.code, where.offset) == (node.code, node.offset)
    spans = [place.span.labelled("computed and differentiated everywhere")]
    if not same:
        spans.append(chooser.span.labelled("chosen here"))
    offered = _double_where(place, slot, chooser, branch, where)
    return problem(
        "GT403",
        f"the branch that where does not take has no finite slope: {place.expression}{place.where()}",
        spans=spans,
        notes=["where passes a gradient of zero to the branch not taken, and zero times infinity is NaN"],
        consequence="the gradient is NaN at places whose value is not even used",
        fixes=[*offered, "choose the operand before, not only the result: "
               "np.where(ok, f(np.where(ok, x, 1.0)), other)"],
    )  # fmt: skip


def unknown(replay: Replay, culprit: Node | None, spoiled: bool) -> Problem:
    """The gradient is not finite, and what was saved is not enough to tell why."""
    place = culprit or next(iter(replay.nodes), None)
    spans: list[Location] = [] if place is None else [place.location]
    what = "the target is not finite, and so is its gradient not" if spoiled else "the gradient is not finite"
    if culprit is not None and culprit.op is not None:
        what = f"the gradient became NaN in the rule of {culprit.op.name!r}: zero times an infinite slope, or inf - inf"
    notes = [] if replay.lost is None else ["large arrays had been let go, so that the first element cannot be shown"]
    return problem(
        "GT401" if spoiled else "GT402",
        what,
        spans=spans,
        notes=notes,
        fixes="with gt.check_numerics(): around it stops at the first operation that makes NaN or infinity",
    )


def _edits(place: Place) -> list[Fix]:
    """The small changes of this operation's operands that keep it, and its slope, finite."""
    name, dtype = place.name, place.node.dtype
    tiny = TINY if dtype.itemsize >= 8 else "1e-6"
    spelled = place.site.source.spelled
    if _underflowed(place):  # a small number added would be all that is left of it
        return _of_logarithms(place)
    least: Any = dtype.type(float(tiny))
    if name in ("log", "log2", "log10", "sqrt", "reciprocal", "cbrt", "power"):
        added = place.edit(0, f"{{}} + {tiny}", lambda x: x + least)
        return added or place.edit(0, f"{spelled('maximum')}({{}}, {tiny})", lambda x: np.maximum(x, least))
    if name == "divide":
        return place.edit(1, f"{{}} + {tiny}", lambda x: x + least)
    if name in ("arccos", "arcsin", "arctanh"):
        limit = "1e-7" if dtype.itemsize >= 8 else "1e-4"
        most = dtype.type(1 - float(limit))
        return place.edit(0, f"{spelled('clip')}({{}}, -1 + {limit}, 1 - {limit})", lambda x: np.clip(x, -most, most))
    if name in ("exp", "expm1", "exp2", "sinh", "cosh"):
        limit = "700.0" if dtype.itemsize >= 8 else "80.0"
        return place.edit(0, f"{spelled('minimum')}({{}}, {limit})", lambda x: np.minimum(x, dtype.type(float(limit))))
    return []


ADVICE = {
    "log": "of probabilities, gt.log_softmax(logits) stays in range; scipy.special.xlogy(x, y) knows that 0 log 0 is 0",
    "exp": "take off the maximum first (gt.softmax, gt.logsumexp and np.logaddexp do), or np.expm1 and gt.sigmoid",
    "divide": "a denominator away from zero: y + 1e-12 if y >= 0; or np.where on y before dividing",
    "sqrt": "np.linalg.norm has a slope of zero at zero; np.sqrt(x + 1e-12) a finite one",
    "power": "x**0.5 and smaller powers have no finite slope at zero, negative numbers no real root",
    "arccos": "np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b) is an angle with a finite slope everywhere",
    "log1p": "keep its operand above -1",
    "multiply": "keep both factors finite: 0 times infinity is NaN",
    "add": "keep both terms finite and smaller",
    "subtract": "keep both terms finite: infinity minus infinity is NaN",
}


_OF_CALLS = {
    "std": "one example has no spread: more of them, or ddof=0",
    "var": "one example has no spread: more of them, or ddof=0",
}


_OF_PRODUCTS = {
    "prod": "the product is too small for a number: add logarithms instead, np.sum(np.log(x)) for np.log(np.prod(x))",
    "det": "the determinant is too small for a number: np.linalg.slogdet(x)[1] is its logarithm",
}


def _underflowed(place: Place) -> str:
    """The name of the product of many numbers, none of them zero, that is 0 where its logarithm is taken."""
    parent = place.node.parents[0] if place.node.parents else None
    name = "" if parent is None or parent.op is None else parent.op.name
    if place.name not in ("log", "log2", "log10") or name not in _OF_PRODUCTS or np.any(place.values[0]):
        return ""
    factors = place.replay.inputs(parent)[0] if parent is not None else None
    if factors is None:
        return name
    with np.errstate(all="ignore"):
        has_zero = not np.all(factors) if name == "prod" else not is_finite(np.linalg.slogdet(factors)[1])
    return "" if has_zero else name


def _of_logarithms(place: Place) -> list[Fix]:
    """`np.sum(np.log(x))` for `np.log(np.prod(x))`, where it is written like that."""
    call = place.site.node
    inner = call.args[0] if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords else None
    if not isinstance(inner, ast.Call) or not isinstance(inner.func, ast.Attribute) or not isinstance(call, ast.Call):
        return []
    source = place.site.source
    if inner.func.attr not in _OF_PRODUCTS or len(inner.args) != 1 or inner.keywords or place.name != "log":
        return []
    x = one_line(source.text(inner.args[0]))
    if inner.func.attr == "prod":
        written = f"{source.spelled('sum')}({one_line(source.text(call.func))}({x}))"
    else:
        written = f"{one_line(source.text(inner.func.value))}.slogdet({x})[1]"
    is_known = place.replay.inputs(place.node.parents[0])[0] is not None  # and has been tried, then
    return [Fix(written, is_known, place.span)]


def _advice(place: Place, value: Any = None) -> list[str]:
    if underflowed := _underflowed(place):
        return [_OF_PRODUCTS[underflowed]]
    if place.called in _OF_CALLS and not place.is_written:
        return [_OF_CALLS[place.called]]
    if place.name in ("softmax", "log_softmax"):  # of finite numbers there always is one
        return ["what is -inf everywhere has no softmax: -1e9 instead of -np.inf in the mask, or leave that row out"]
    if place.name in ("multiply", "add", "subtract", "square", "power", "sum", "matmul") and np.isinf(value or 0.0):
        return ["numbers of this size overflow: take smaller steps, or scale what grows"]
    return [ADVICE.get(place.name, "keep its operands away from there: np.clip, np.where, or a small number added")]


def _double_where(place: Place, slot: int, chooser: Site, branch: int, where: Node) -> list[Fix]:
    """The operand with a `where` of its own, which puts a harmless number where the branch is not taken."""
    call = chooser.node
    part = place.parts[slot] if slot < len(place.parts) else None
    if not isinstance(call, ast.Call) or len(call.args) != 3 or part is None or branch not in (1, 2):
        return []
    condition = chooser.source.text(call.args[0])
    function = chooser.source.text(call.func)
    if not _is_known_at(call.args[0], chooser, place):
        return []
    inner = place.site.source.text(part)
    chosen = (inner, "1.0") if branch == 1 else ("1.0", inner)
    written = fixes.replaced(place.span, place.site.source.span(part), f"{function}({condition}, {', '.join(chosen)})")
    value, mask = place.values[slot], where.inputs[0] if where.inputs else None
    mask = getattr(mask, "array", mask)
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


def _is_known_at(condition: ast.expr, chooser: Site, place: Place) -> bool:
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
    array = np.asarray(value)
    return array.dtype.kind in "fc" and bool(np.isnan(array).any())
