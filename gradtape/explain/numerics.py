"""NaN and infinity: the operation where they were born, going forward or going back, and what to write instead.

Nothing is checked while a program is healthy. When a gradient has come out that is not finite, the walk is repeated
with everything kept (`gradtape.explain.replay`), and the first operation is found that made it so of finite numbers.
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtape.core import graph
from gradtape.core.graph import Node
from gradtape.core.location import Location
from gradtape.explain import fixes
from gradtape.explain.broadcast import site_at
from gradtape.explain.messages import problem
from gradtape.explain.problem import Fix, Operand, Problem
from gradtape.explain.replay import Replay
from gradtape.explain.site import Site
from gradtape.explain.source import one_line
from gradtape.explain.voices import configure, report

_NOT_A_BIRTH = frozenset({"where", "pad", "concatenate", "stack", "full", "getitem", "setitem"})
_EPSILON = "1e-12"


def explain(replay: Replay, births: Sequence[Node], targets: Sequence[Any]) -> None:
    """Report the birthplace of the NaN or infinity in a gradient that was just taken."""
    spoiled = not all(_is_finite(target) for target in targets)
    forward = _forward_births(replay)
    entry = _entry(replay) if spoiled else None
    if entry is not None:
        others = [birth for birth in forward if birth is not entry[0]]
        came = None if entry[1] is None else entry[0].parents[entry[1]]
        is_parameter = came is not None and came.bits > graph.FLAGS
        masked = not is_parameter and not _has_nan(replay.values.get(entry[0], np.nan))
        if not any(masked or birth.order < entry[0].order for birth in others):
            report(came_in(replay, *entry))
            return
    if spoiled and forward:
        report(born_forward(replay, forward[0]))
        return
    culprit = _backward_birth(replay)
    if culprit is None:
        culprit_of_walk = births[0] if births else None
        report(_unknown(replay, culprit_of_walk, spoiled))
        return
    node, index, slot = culprit
    where = _where_behind(replay, node, index)
    if where is not None:
        born = next((birth for birth in forward if birth is node or _is_behind(replay, birth, node)), None)
        if born is not None:  # what is infinite already needs the other operand, not the one that meets it
            index = _first(~np.isfinite(np.asarray(replay.values[born])))
            node, slot = born, next(i for i, parent in enumerate(born.parents) if parent.bits > graph.FLAGS)
        else:
            for i, value in enumerate(replay.inputs(node)):
                if value is not None and np.shape(value) == node.shape and not _is_finite(np.asarray(value)):
                    index, slot = _first(~np.isfinite(value)), i
        report(from_branch(replay, node, index, slot, *where))
    elif node in forward:
        report(born_forward(replay, node))
    else:
        report(born_backward(replay, node, index, slot))


def _is_behind(replay: Replay, ancestor: Node, node: Node) -> bool:
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


def _is_finite(value: Any) -> bool:
    return (
        not isinstance(value, (np.ndarray, np.generic))
        or value.dtype.kind not in "fc"
        or bool(np.isfinite(value).all())
    )


def _forward_births(replay: Replay) -> list[Node]:
    """The operations that are known to have made NaN or infinity of finite numbers, in the order they ran."""
    spoiled: set[Node] = set()
    born: list[Node] = []
    for node in reversed(replay.nodes):
        value = replay.values.get(node)
        inherited = any(parent in spoiled for parent in node.parents)
        if (value is None and inherited) or not _is_finite(value):
            spoiled.add(node)
        if node.op is None or inherited or node not in spoiled or node.op.name in _NOT_A_BIRTH:
            continue
        if all(_is_finite(np.asarray(x)) for x in replay.inputs(node) if x is not None):
            born.append(node)
    return born


_TRANSPARENT = frozenset({"add", "subtract", "multiply", "square", "tanh", "sigmoid", "maximum", "minimum", "relu"})


def _entry(replay: Replay) -> tuple[Node, int | None] | None:
    """The first operation that was given a NaN, or infinity, by data or by a parameter; and which operand it was in.

    Sums and products make NaN of NaN and infinity only: where the value of an operand was not saved, theirs tells.
    """
    for node in reversed(replay.nodes):
        if node.op is None:
            continue
        inputs = replay.inputs(node)
        for slot, (value, parent) in enumerate(zip(inputs, node.parents)):
            if parent.op is not None or value is None or _is_finite(np.asarray(value)):
                continue
            if parent.bits > graph.FLAGS or _has_nan(value):  # infinity in data may be meant: a mask
                return node, slot
        if node.op.name not in _TRANSPARENT and node.op.kind not in ("linear", "multilinear"):
            continue
        out = replay.values.get(node)
        if out is None or _is_finite(out):
            continue
        if not _has_nan(out) and (node.op.name in _NOT_A_BIRTH or not _is_small(inputs)):
            continue
        if all(_is_finite(np.asarray(value)) for value in inputs if value is not None):
            unknown = [slot for slot, value in enumerate(inputs) if value is None]
            return (node, unknown[0] if len(unknown) == 1 else None) if unknown else None
        return None  # an operation before it has made it so
    return None


def _has_nan(value: Any) -> bool:
    array = np.asarray(value)
    return array.dtype.kind in "fc" and bool(np.isnan(array).any())


def _is_small(inputs: Sequence[Any]) -> bool:
    """Whether some operand is known, and none of those that are is so large that it overflows."""
    known = [np.asarray(value) for value in inputs if value is not None]
    return bool(known) and all(
        value.dtype.kind not in "fc" or np.max(np.abs(value), initial=0) < 1e18 for value in known
    )


def _backward_birth(replay: Replay) -> tuple[Node, tuple[int, ...], int] | None:
    """The operation whose rule made NaN or infinity of finite cotangents; the first such element, and which input's."""
    for node in replay.nodes:
        given = replay.cotangents.get(node)
        if given is None or not all(_is_finite(part) for part in _parts(replay.gradients[node])):
            continue
        for slot, cotangent in enumerate(given):
            if cotangent is not None and not _is_finite(cotangent):
                return node, _first(~np.isfinite(cotangent)), slot
    return None


def _parts(gradient: Any) -> list[Any]:
    return [part for part in gradient if part is not None] if isinstance(gradient, list) else [gradient]


def _first(mask: Any) -> tuple[int, ...]:
    """The index of the first element that is true."""
    flat = int(np.argmax(np.ravel(mask)))
    return tuple(int(i) for i in np.unravel_index(flat, np.shape(mask)))


def _where_behind(replay: Replay, node: Node, index: tuple[int, ...]) -> tuple[Node, int] | None:
    """The `where` that did not take the branch which `node` is on, and the branch; None if it is another matter.

    The cotangent is zero at the places where the rule then made something infinite of it.
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
        elif node.op is not None and node.op.kind == "elementwise":  # stretched: its slopes are those of the others
            for value in replay.inputs(node):
                if value is not None and np.shape(value) == node.shape:
                    bad |= ~np.isfinite(value)
    if not bad.any() or np.any(np.asarray(gradient)[bad] != 0):
        return None
    seen, pending = {node}, [node]
    while pending:
        inner = pending.pop(0)
        for consumer in replay.consumers.get(inner, ()):
            if consumer.op is None or consumer in seen:
                continue
            seen.add(consumer)
            if consumer.op.name == "where":
                return consumer, next(i for i, parent in enumerate(consumer.parents) if parent is inner)
            pending.append(consumer)
    return None


# -- what to say


class Place:
    """The expression of an operation, its operands by their names, and their values at one element."""

    def __init__(self, replay: Replay, node: Node, index: tuple[int, ...], slot: int | None = None) -> None:
        assert node.op is not None
        self.node, self.name = node, node.op.name
        self.site = site_at(node.location)
        self.span = self.site.span
        self.values = replay.inputs(node)
        known = [np.empty(0) if value is None else value for value in self.values]
        self.parts = [None] * len(known) if not isinstance(self.site.node, ast.expr) else self.site.parts(known)
        if isinstance(self.site.node, ast.Call | ast.BinOp | ast.UnaryOp | ast.AugAssign):
            self.parts = [
                part or candidate
                for part, candidate in zip(self.parts, [*self.site._candidates(len(known)), *[None] * len(known)])
            ]
        for i, part in enumerate(self.parts):
            if self.values[i] is None and isinstance(part, ast.Constant) and isinstance(part.value, float | int):
                self.values[i] = part.value
        self.index = index
        self.slot = slot

    @property
    def expression(self) -> str:
        """The operation as it was written, if that is short, else its name."""
        text = one_line(self.span.text)
        return text if isinstance(self.site.node, ast.expr) and len(text) <= 50 else self.name

    def operand(self, i: int) -> str:
        part = self.parts[i] if i < len(self.parts) else None
        text = "" if part is None else one_line(self.site.source.text(part))
        if text and len(text) <= 40:
            return text
        return (
            "its operand"
            if len(self.values) == 1
            else ("the left operand", "the right operand", "operand 2")[min(i, 2)]
        )

    def element(self, i: int) -> Any:
        """The value of an operand at the element that this is about, if it is known."""
        value = self.values[i]
        if value is None:
            return None
        try:
            if np.shape(value) == () or np.size(value) == 1:
                return np.asarray(value).reshape(-1)[0]
            if self.slot == i:
                return np.asarray(value)[self.index]
            if len(self.index) != len(self.node.shape):
                return None
            shape = np.broadcast_shapes(np.shape(value), self.node.shape)
            return np.broadcast_to(value, shape)[self.index] if shape == self.node.shape else None
        except (ValueError, IndexError):
            return None

    def facts(self) -> str:
        """`where x is 0 and y is 2.5`."""
        assert self.node.op is not None
        found = []
        for i in range(len(self.values)):
            value = self.element(i) if self.node.op.kind == "elementwise" or self.slot == i else None
            if value is not None and not (i < len(self.parts) and is_literal(self.parts[i])):
                found.append(f"{self.operand(i)} is {number(value)}")
        return " and ".join(found)

    def where(self) -> str:
        place = f" at {list(self.index)}" if self.index else ""
        facts = self.facts()
        return place + (f", where {facts}" if facts else "")

    def operands(self) -> list[Operand]:
        shown = []
        for i, parent in enumerate(self.node.parents):
            part = self.parts[i] if i < len(self.parts) else None
            if part is None or is_literal(part):
                continue
            shape = parent.shape if parent.bits > graph.FLAGS else np.shape(self.values[i])
            if parent.bits <= graph.FLAGS and self.values[i] is None:
                continue
            made = None
            if parent.op is not None:
                made = site_at(parent.location).span
                if (made.file, made.line) == (self.span.file, self.span.line):
                    made = None
            shown.append(Operand(self.operand(i), shape, str(parent.dtype), made, self.site.source.span(part)))
        return shown

    # -- edits, tried on the numbers

    def edit(self, i: int, text: str, change: Callable[[Any], Any]) -> list[Fix]:
        """Operand `i` written as `text` (with {} for what it was), if the operation and its slope are finite then."""
        value, part = self.values[i], self.parts[i] if i < len(self.parts) else None
        if value is None or part is None or not isinstance(self.site.node, ast.expr):
            return []
        with np.errstate(all="ignore"):
            changed = [change(np.asarray(v)) if k == i else v for k, v in enumerate(self.values)]
            if any(v is None for v in changed) or not self._works(changed):
                return []
        source = self.site.source
        inner = source.text(part)
        if not isinstance(part, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant):
            inner = f"({inner})"
        new = text.format(inner)
        if not isinstance(self.site.node, ast.Call) or part not in self.site.node.args:
            new = f"({new})"
        written = fixes.replaced(self.span, source.span(part), new)
        return [] if written is None else [Fix(written, True, self.span)]

    def _works(self, inputs: Sequence[Any]) -> bool:
        op = self.node.op
        assert op is not None
        out = op.kernel(*inputs, **self.node.params)
        if not _is_finite(np.asarray(out)):
            return False
        given = op.reverse(np.ones(self.node.shape, self.node.dtype), self.node, out, tuple(inputs))
        return all(g is None or _is_finite(g) for g in given)


def is_literal(part: ast.expr | None) -> bool:
    """Whether an operand is a number that was written there."""
    return isinstance(part.operand if isinstance(part, ast.UnaryOp) else part, ast.Constant)


def number(value: Any) -> str:
    """A number in a few digits."""
    value = np.asarray(value).item()
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _edits(place: Place) -> list[Fix]:
    """The small changes of this operation's operands that keep it, and its slope, finite."""
    name, dtype = place.name, place.node.dtype
    tiny = _EPSILON if dtype.itemsize >= 8 else "1e-6"
    spelled = place.site.source.spelled
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


_ADVICE = {
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


def _advice(place: Place, value: Any = None) -> list[str]:
    if place.name in ("multiply", "add", "subtract", "square", "power", "sum", "matmul") and np.isinf(value or 0.0):
        return ["numbers of this size overflow: take smaller steps, or scale what grows"]
    return [_ADVICE.get(place.name, "keep its operands away from there: np.clip, np.where, or a small number added")]


def born_forward(replay: Replay, node: Node) -> Problem:
    """The first operation, in the order of the program, that made NaN or infinity of finite numbers."""
    value = np.asarray(replay.values[node])
    index = _first(~np.isfinite(value))
    place = Place(replay, node, index)
    return _forward_problem(place, value, index)


def came_in(replay: Replay, node: Node, slot: int | None) -> Problem:
    """A NaN or infinity that was there before anything was computed: in the data, or in a parameter."""
    value = None if slot is None else replay.inputs(node)[slot]
    out = replay.values.get(node)
    spoiled = next(np.asarray(v) for v in (value, out) if v is not None and not _is_finite(np.asarray(v)))
    index = _first(np.isnan(spoiled) if _has_nan(spoiled) else ~np.isfinite(spoiled))
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
    return problem(
        "GT401",
        title,
        spans=[place.span],
        operands=place.operands(),
        notes=[f"{bad} of {spoiled.size} elements are not finite"] if spoiled.size > 1 else [],
        consequence="everything that is computed from it, and its gradient, is lost",
        fixes=advice,
    )


def _forward_problem(place: Place, value: Any, index: tuple[int, ...]) -> Problem:
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
    what = "NaN" if np.isnan(cotangent[index]) else "infinite"
    title = f"the slope of {place.expression} is {what}{place.where()}"
    return problem(
        "GT402",
        title,
        spans=[place.span],
        operands=place.operands(),
        notes=[
            f"{'the value is finite there; ' if _is_finite(np.asarray(replay.values.get(node, np.nan))) else ''}"
            f"the gradient{arrived} that comes back is multiplied by that slope"
        ],
        consequence="the gradient of everything before it is infinite, or NaN where it meets a zero",
        fixes=[*_edits(place), *_advice(place)],
    )


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
        works = all(v is not None for v in inputs) and place._works(inputs)
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


def _unknown(replay: Replay, culprit: Node | None, spoiled: bool) -> Problem:
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


# -- stopping at once


@contextmanager
def check_numerics() -> Iterator[None]:
    """Inside, the first operation that makes NaN or infinity raises `NumericsError`, going forward or going back.

    Large arrays are kept until the gradient has been checked, so that the first bad element can be shown. NumPy
    operations on plain arrays are checked as well; what is computed under `np.errstate(...="ignore")` is not.

    >>> import numpy as np, gradtape as gt
    >>> x = gt.tensor([1.0, 0.0], requires_grad=True)
    >>> with gt.check_numerics():
    ...     try:
    ...         np.log(x)
    ...     except gt.NumericsError as error:
    ...         print(error.problem.title)
    np.log(x) is -inf at [1], where x is 0
    """
    token = graph.keeping.set(True)
    try:
        with (
            configure(GT401="raise", GT402="raise", GT403="raise"),
            np.errstate(divide="call", over="call", invalid="call", call=_raise_here),
        ):
            yield
    finally:
        graph.keeping.reset(token)


def _raise_here(kind: str, flags: int) -> None:
    """NumPy's floating point flags went up: raise at the user's operation, which is still on the stack."""
    from gradtape.core.operation import apply

    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code is not apply.__code__:
        frame = frame.f_back
    site = Site.present()
    found: Problem | None
    if frame is None:
        found = problem("GT401", f"{one_line(site.span.text)}: {kind}", spans=[site.span])
    else:
        found = _at_operation(site, frame.f_locals["op"], frame.f_locals["inputs"], frame.f_locals["params"])
    if found is not None:
        report(found)


def _at_operation(site: Site, op: Any, inputs: Sequence[Any], params: dict[str, Any]) -> Problem | None:
    """What an operation that is being run has made of its operands."""
    arrays = [getattr(x, "_array", x) for x in inputs]
    with np.errstate(all="ignore"):
        value = np.asarray(op.kernel(*arrays, **params)) if not op.outputs else np.asarray(np.nan)
    node = graph.Node()
    node.op, node.params, node.inputs, node.out = op, params, tuple(arrays), None
    node.shape, node.dtype = value.shape, value.dtype
    node.code, node.offset = site.location.code, site.location.offset
    leaves = [graph.leaf(np.shape(x), np.result_type(x), graph.AMBIENT) for x in arrays]
    node.parents, node.bits, node.order = tuple(leaves), graph.AMBIENT, 0
    bad = ~np.isfinite(value)
    if not bad.any():  # it was made and hidden again inside the operation
        return None
    place = Place(Replay([], 0), node, _first(bad))
    return _forward_problem(place, value, place.index)
