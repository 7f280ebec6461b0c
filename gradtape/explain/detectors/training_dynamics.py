"""Detectors for mistakes that only show in how training goes: a softmax over the wrong axis, dead or saturated units,
vanishing or exploding gradients.

The first is judged when a gradient is taken. The others are matters of degree, reported as notes: `survey_graph` looks
for them in a graph that is being replayed anyway.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtape.explain.detectors.broadcast import group_digits
from gradtape.explain.detectors.loss_reduction import sums_beside_means
from gradtape.explain.detectors.weighted_sums import einsum_axis, mixed_axis
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.fixes import shape_edits
from gradtape.explain.fixes.index_edits import one_of_each_row
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Operand, Problem, source_edit
from gradtape.explain.model.record import Computation, Record, Replayable
from gradtape.explain.render.spelling import library_of
from gradtape.explain.source.axes import is_outer, makes_axis
from gradtape.explain.source.expression import UserExpression, is_call_of, replace_span, site_at
from gradtape.explain.source.files import one_line

_TRANSPARENT = frozenset({"log", "negative", "positive", "copy"})
_GUARDS = frozenset({"add", "clip", "maximum", "minimum"})  # p + 1e-9, or p kept away from 0


# -- softmax


_DISTRIBUTIONS = ("Categorical", "OneHotCategorical", "OneHotCategoricalStraightThrough", "Multinomial")


def judge_softmax(node: Record, replay: Computation) -> bool:
    """Warn of a softmax whose axis is not the one that the loss picks from or sums over. Whether it warned."""
    axes = node.params.get("axis", ())
    if node not in replay.consumers or len(axes) != 1 or len(node.shape) < 2 or node.shape[axes[0]] < 2:
        return False
    axis = axes[0] % len(node.shape)
    table = _pick_table_problem(node, replay) or _pick_rows_problem(node, axis, replay)
    if table is not None:
        if is_due(table.code, *table.place[1:]):
            report(table)
        return True
    used = _used_axis(node, axis, replay)
    if used is None:
        return False
    wanted, words, where = used
    found = wrong_axis_problem(node, axis, wanted, words, where)
    if is_due("GT501", *found.place[1:]):
        report(found)
    return True


def judge_label_pick(node: Record, replay: Computation) -> bool:
    """Warn of `p[np.arange(n), labels]` where p is a softmax that was written out, over the axis of the examples."""
    if node not in replay.consumers or not node.parents:
        return False
    picked = node.parents[0]
    while (inner := _transparent_operand(picked)) is not None:
        picked = inner
    total = _softmax_sum(picked)
    if total is None or picked.shape != node.parents[0].shape:
        return False
    axes = total.params.get("axis") or tuple(range(len(picked.shape)))
    if len(axes) == 1:
        found = _picked_class_axis(node, axes[0])
    else:  # the softmax is over all axes, so also over that of the examples
        found = next((pick for axis in axes if (pick := _picked_class_axis(node, axis)) is not None), None)
    if found is None:
        return False
    wanted, words = found
    problem = wrong_axis_problem(picked, axes[0] if len(axes) == 1 else None, wanted, words, node, total)
    if is_due("GT501", *problem.place[1:]):
        report(problem)
    return True


def is_suspicious_pick(node: Record) -> bool:
    """Whether a traced index may be one that `judge_label_pick` and others warn of, to be judged without a trace."""
    table = node.parents[0].parents[0] if node.parents[0].parents else None
    positions = node.operand_value(1)
    if table is None or len(table.shape) != 2 or not isinstance(positions, np.ndarray):
        return False
    picked = table
    while (inner := _transparent_operand(picked)) is not None:
        picked = inner
    total = _softmax_sum(picked) or picked
    is_softmax = total is not picked or picked.operation in ("softmax", "log_softmax")
    if not is_softmax or picked.shape != table.shape:
        return False
    axes = total.params.get("axis") or (0, 1)
    places = np.unravel_index(positions, table.shape)
    counting = [axis for axis in (0, 1) if _is_range(places[axis], table.shape[axis])]
    return len(node.shape) > 1 or (len(counting) == 1 and counting[0] in axes)


def _softmax_sum(node: Record) -> Record | None:
    """The sum in a softmax that was written out, e / e.sum(axis) or z - log(exp(z).sum(axis)); otherwise None."""
    if node.operation not in ("divide", "subtract") or len(node.parents) != 2:
        return None
    left, right = node.parents
    while right.parents and right.operation in ("reshape", "getitem", "expand_dims"):
        right = right.parents[0]
    if node.operation == "divide":
        is_sum = right.operation == "sum" and right.parents[0] is left
        return right if is_sum and left.operation == "exp" else None
    if right.operation == "logsumexp":
        return right if right.parents[0] is left else None
    if right.operation != "log":
        return None
    total = right.parents[0]
    summed = total.parents[0] if total.operation == "sum" else None
    is_power = summed is not None and summed.operation == "exp" and summed.parents[0] is left
    return total if is_power else None


def _used_axis(softmax: Record, axis: int, replay: Computation) -> tuple[int, str, Record] | None:
    """The axis that a later operation uses for the classes, if it is certainly another one than `axis`."""
    for node, previous in _uses_of_softmax(softmax, replay):
        found: tuple[int, str] | None = None
        if node.operation == "getitem":
            found = _picked_class_axis(node, axis)
        elif node.operation == "multiply":
            found = _weighted_axis(node, previous, axis, softmax, replay)
        elif node.operation == "matmul" and not node.params.get("transposed", (False,))[0]:
            found = _attention_axis(node, previous, axis, softmax) or _assignment_axis(node, axis, softmax, replay)
        elif node.operation == "einsum" and previous is softmax:
            found = einsum_axis(node, axis, softmax)
        elif node.operation in ("sum", "divide") and is_call_of(site_at(node.location), *_DISTRIBUTIONS):
            last = len(softmax.shape) - 1
            found = None if axis == last else (last, f"the distribution normalises over its last axis, {last}")
        if found is not None:
            return (*found, node)
    return mixed_axis(softmax, axis, replay)


def _uses_of_softmax(softmax: Record, replay: Computation) -> Iterator[tuple[Record, Record]]:
    """The operations that use the result, or its logarithm, with what they use."""
    pending, seen = [softmax], {softmax}
    while pending:
        node = pending.pop()
        for consumer in replay.consumers.get(node, ()):
            if not consumer.operation or consumer in seen:
                continue
            seen.add(consumer)
            if consumer.shape == softmax.shape and _transparent_operand(consumer) is node:
                pending.append(consumer)
            yield consumer, node


def _transparent_operand(node: Record) -> Record | None:
    """The operand of `node`, if that is a logarithm, a negation, a clip or a sum with a constant: axes stay."""
    if not node.operation or not node.parents:
        return None
    if node.operation in _TRANSPARENT:
        return node.parents[0]
    tracked = [parent for parent in node.parents if parent.is_tracked]
    is_guard = node.operation in _GUARDS and len(tracked) == 1 and tracked[0].shape == node.shape
    return tracked[0] if is_guard else None


def _picked_class_axis(node: Record, axis: int) -> tuple[int, str] | None:
    """`p[np.arange(n), labels]`: one element from each row, so the labels' axis is that of the classes."""
    index = node.params.get("index", ())
    arrays = [(i, part) for i, part in enumerate(index) if isinstance(part, np.ndarray) and part.dtype.kind in "iu"]
    if len(arrays) < 2 or len(index) != len(node.parents[0].shape):
        return None
    counting = [i for i, part in arrays if _is_range(np.ravel(part), node.parents[0].shape[i])]
    if len(counting) != len(arrays) - 1:
        return None
    ((classes, labels),) = ((i, part) for i, part in arrays if i not in counting)
    if _is_range(np.sort(labels, axis=None), node.parents[0].shape[classes]):
        return None  # one in each row and each column: no axis is that of the classes
    return (classes, f"one of axis {classes} is picked for each of axis {axis}") if axis in counting else None


def _pick_table_problem(softmax: Record, replay: Computation) -> Problem | None:
    """`p[np.arange(n), labels]` with labels of shape (n, 1): a table of all pairs instead of one from each row."""
    for node, _ in _uses_of_softmax(softmax, replay):
        if node.operation != "getitem":
            continue
        arrays = [part for part in node.params.get("index", ()) if isinstance(part, np.ndarray)]
        site = site_at(node.location)
        index = site.node.slice if isinstance(site.node, ast.Subscript) else None
        if len(arrays) != 2 or not isinstance(index, ast.Tuple) or not is_outer(arrays[0].shape, arrays[1].shape):
            continue
        parts = index.elts[:2]
        if any(makes_axis(site, part) for part in parts):
            continue
        shapes = [array.shape for array in arrays]
        names = [one_line(site.source.text(part)) for part in parts]
        column = next(i for i, shape in enumerate(shapes) if 1 in shape)
        written = replace_span(site.span, site.source.span(parts[column]), f"{names[column]}[:, 0]")
        vector, other = shapes[column][:1], shapes[1 - column]
        fits = shapes[column][1:] == (1,) and shape_edits.broadcast_shape([vector, other]) == vector
        offered = [Fix(written, True, site.span)] if written is not None and fits else []
        return problem(
            "GT101",
            f"every element of {names[0]} {shapes[0]} meets every element of {names[1]} {shapes[1]} in this index",
            spans=[site.span],
            operands=[
                Operand(name, shape, str(array.dtype), site.binding(part), site.source.span(part))
                for name, shape, array, part in zip(names, shapes, arrays, parts)
            ],
            notes=[
                f"it picks {group_digits(math.prod(node.shape))} elements; {max(a.size for a in arrays)} if matched"
            ],
            consequence="the gradient has the right shape and the wrong value",
            fixes=offered or [f"give both the same shape: {shapes[0]} and {shapes[1]} are stretched to {node.shape}"],
            intent="say so in the code: np.ix_(rows, columns), or [None, :] on the other",
        )
    return None


def _is_range(part: Any, length: int) -> bool:
    """Whether an index goes through 0, 1, 2, ... once each."""
    return bool(length > 1 and part.size == length and np.array_equal(np.ravel(part), np.arange(length)))


def _weighted_axis(
    node: Record, previous: Record, axis: int, softmax: Record, replay: Computation
) -> tuple[int, str] | None:
    """A one-hot factor has its ones along the classes; a weighted mean is summed over the axis of the weights."""
    slot = next(i for i, parent in enumerate(node.parents) if parent is previous)
    other = node.parents[1 - slot]
    factor = node.operand_value(1 - slot)
    if node.shape != softmax.shape:
        return None
    if not other.is_tracked and factor is not None and np.shape(factor) == node.shape:
        hot = _one_hot_axes(np.asarray(factor))
        if hot and axis not in hot:
            return hot[0], f"it is multiplied with a one-hot code along axis {hot[0]}"
    shape = other.shape if other.is_tracked else np.shape(factor) if factor is not None else None
    if shape is None or previous is not softmax:
        return None
    padded = (1,) * (len(node.shape) - len(shape)) + tuple(shape)
    for consumer in replay.consumers.get(node, ()):
        summed = consumer.params.get("axis") if consumer.operation == "sum" else None
        if not summed or len(summed) != 1 or summed[0] == axis or padded[axis] != 1 or padded[summed[0]] == 1:
            continue
        if any(c.operation in ("sum", "mean") for c in replay.consumers.get(softmax, ())):
            continue  # normalised along the other axis afterwards, as in the M step of a mixture
        return summed[0], f"it weighs a sum over axis {summed[0]}"
    return None


def _pick_rows_problem(softmax: Record, axis: int, replay: Computation) -> Problem | None:
    """`logp[labels]`, which picks rows, where one class of each row is meant: labels for the rows, and no others."""
    if axis != 1 or len(softmax.shape) != 2:
        return None
    rows, classes = softmax.shape
    for node, _ in _uses_of_softmax(softmax, replay):
        index: tuple[Any, ...] = ()
        if node.operation == "getitem":
            index = node.params.get("index", ())
        labels = index[0] if len(index) == 1 else None
        if not isinstance(labels, np.ndarray) or labels.shape != (rows,) or labels.dtype.kind not in "iu":
            continue
        if not 1 < classes < rows or labels.min() < 0 or not one_of_each_row(softmax.shape, labels):
            continue
        ends = [c for c in replay.consumers.get(node, ()) if c.operation]
        if not ends or not all(c.operation in ("sum", "mean") and 1 in (c.params.get("axis") or [0, 1]) for c in ends):
            continue
        site = site_at(node.location)
        written = site.node
        if not isinstance(written, ast.Subscript):
            continue
        owner, name = (one_line(site.source.text(part)) for part in (written.value, written.slice))
        edited = f"{owner}[{site.source.spelled('arange')}(len({name})), {name}]"
        return problem(
            "GT501",
            f"{name} picks whole rows of {owner} {softmax.shape}, and all of their classes go into the loss",
            spans=[site.span, site_at(softmax.location).span.labelled("sums to 1 over axis 1, the classes")],
            notes=[f"the {rows} labels are below {classes}, the number of classes: one class of each row is meant"],
            consequence="the loss does not depend on which class is right, and neither does its gradient",
            fixes=[Fix(edited, True, site.span)],
            intent="gt.explain.configure(GT501='off') if rows are meant",
        )
    return None


def _one_hot_axes(factor: Any) -> list[int]:
    """The axes along which a factor is one 1 among zeros."""
    if factor.ndim < 2 or not np.isin(factor, (0, 1)).all():
        return []
    return [axis for axis in range(factor.ndim) if factor.shape[axis] > 1 and (factor.sum(axis=axis) == 1).all()]


def _attention_axis(node: Record, previous: Record, axis: int, softmax: Record) -> tuple[int, str] | None:
    """Attention: scores of queries and keys, a product of two, weigh the values, which are as many as the keys."""
    if previous is not softmax or node.parents[0] is not softmax or len(softmax.shape) < 2:
        return None
    last = len(softmax.shape) - 1
    values = node.parents[1].shape if node.parents[1].is_tracked else np.shape(node.operand_value(1))
    if axis == last or len(values) < 2 or softmax.shape[axis] == 1:
        return None
    scores = softmax.parents[0]
    for _ in range(6):  # scaled, masked, shifted
        if not scores.operation or scores.operation == "matmul":
            break
        scores = next((parent for parent in scores.parents if parent.shape == scores.shape), scores)
    if scores.operation != "matmul":
        return None
    count = values[-1 if node.params.get("transposed", (False, False))[1] else -2]
    if len(scores.shape) < 2 or scores.shape[-1] != count:
        return None
    return last, f"the values are summed over axis {last}"


def _assignment_axis(node: Record, axis: int, softmax: Record, replay: Computation) -> tuple[int, str] | None:
    """Soft assignment: similarities of points and centres, made of all pairs, weigh those very centres."""
    if node.parents[0] is not softmax or len(softmax.shape) != 2 or axis != 0 or len(node.parents) != 2:
        return None
    centres = node.parents[1]
    if not centres.is_tracked or any(c.operation in ("sum", "mean") for c in replay.consumers.get(softmax, ())):
        return None  # normalised along the other axis afterwards
    scores = softmax.parents[0]
    for _ in range(6):  # scaled, shifted, with the sign changed
        if not scores.operation or scores.operation == "sum":
            break
        scores = next((parent for parent in scores.parents if parent.shape == scores.shape), scores)
    table = scores.parents[0] if scores.operation == "sum" and scores.parents else None
    if table is None or table.shape[:2] != softmax.shape or len(table.shape) != 3:
        return None
    for _ in range(4):  # the differences, before they are squared
        pairs = [parent for parent in table.parents if parent.is_tracked and parent.shape != table.shape]
        if any(centres is origin for pair in pairs for origin in (pair, *pair.parents)):
            return 1, "the centres are summed over axis 1"
        table = next((parent for parent in table.parents if parent.shape == table.shape), table)
    return None


def wrong_axis_problem(
    node: Record, axis: int | None, wanted: int, words: str, where: Record, total: Record | None = None
) -> Problem:
    """`total` is the sum, where the softmax was written out; `axis` is None where that is over all axes."""
    site, use = site_at(node.location), site_at(where.location)
    over = "all axes" if axis is None else f"axis {axis}"
    spans = [site.span.labelled(f"sums to 1 over {over}")]
    if (use.span.file, use.span.line, use.span.column) != (site.span.file, site.span.line, site.span.column):
        spans.append(use.span.labelled(words))
    written = shape_edits.with_axis(site, wanted) if total is None and "softmax" in _called_name(site) else None
    offered = [] if written is None else [source_edit(written, site.span)]
    if total is not None:
        summed = site_at(total.location)
        again = shape_edits.with_axis(summed, wanted)
        if again is not None and "keepdim" not in again:
            in_torch = library_of(summed.source.imports)[0] == "torch"
            again = shape_edits.add_argument(again, "keepdim=True" if in_torch else "keepdims=True")
        offered = [] if again is None else [source_edit(again, summed.span)]
    return problem(
        "GT501",
        f"{node.operation if total is None else 'this softmax'} is over {over} of {node.shape}, and what follows is "
        f"over axis {wanted}",
        spans=spans,
        consequence="the probabilities of one example do not sum to 1: the loss and its gradient are of something else",
        fixes=offered or [f"normalise over axis={wanted}"],
        intent=f"gt.explain.configure(GT501='off') if {over} {'are' if axis is None else 'is'} meant",
    )


def _called_name(site: UserExpression) -> str:
    """The name of the function that is called, in lower case; empty if the expression is no call."""
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    function = getattr(node, "func", None)
    return str(getattr(function, "attr", getattr(function, "id", ""))).lower()


# -- how training goes

SATURATED_SHARE = 0.9
DEAD_SHARE = 0.25  # a few dead units do no harm
STEPS_AT_LEAST = 4
FACTOR = 1e3  # a gradient that shrinks or grows by this is worth a note,
STEP_FACTOR = 2.0  # if it does so by this in each operation on the way,
TOTAL_FACTOR = 1e9  # or by this over all of them


LAYERS = frozenset(
    {"matmul", "dot", "einsum", "tensordot", "inner", "linear", "conv", "convolution", "bilinear", "tanh", "relu"}
)
ADVICE_WITHOUT_LAYERS = "measure the variables in units in which they, and the factor of each operation, are about 1"


def survey_graph(replay: Replayable) -> list[Problem]:
    """Notes on a graph: saturated and dead units, a gradient that vanishes or explodes, a sum where a mean was.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.explain.graph.replay import Replay
    >>> x = gt.Variable(np.linspace(-30.0, 30.0, 8))
    >>> with gt.GradientTape(persistent=True) as tape:
    ...     y = np.tanh(x).sum()
    >>> [found.code for found in survey_graph(Replay([(y._node, np.ones(()))], tape.mask))]
    ['GT503']
    """
    targets = [node for node, _ in replay.seeds]
    found = [
        *_unit_problems(replay),
        *_double_reductions(replay),
        *sums_beside_means(targets),
        *_ambiguous_biases(replay),
    ]
    drift = _gradient_drift(replay)
    return found if drift is None else [*found, drift]


def _is_not_written(node: Record) -> bool:
    """Whether a node has no line in the user's code: its location is not known, or a gradient rule computed it."""
    return not node.location.is_known or node.location.in_rule


_RANGES = {"tanh": (-1.0, 1.0), "sigmoid": (0.0, 1.0), "erf": (-1.0, 1.0)}


def _unit_problems(replay: Replayable) -> Iterator[Problem]:
    for node in replay.records:
        name = node.operation
        out = replay.values.get(node)
        if out is None or np.size(out) < 4 or _is_not_written(node):
            continue
        out = np.asarray(out)
        if name in _RANGES:
            low, high = _RANGES[name]
            near = (out - low < 0.01 * (high - low)) | (high - out < 0.01 * (high - low))
            if near.mean() >= SATURATED_SHARE:
                yield problem(
                    "GT503",
                    f"{near.mean():.0%} of the {out.size} elements of this {name} are next to an end of its range",
                    spans=[node.location],
                    consequence="their slope is next to zero, so that next to no gradient comes back through them",
                    fixes="scale its operand down: inputs of about 1, smaller weights, or a normalisation before it",
                )
        elif name == "relu" and out.ndim == 2 and len(out) >= 4:
            dead = int((~out.any(axis=0)).sum())
            if dead >= DEAD_SHARE * out.shape[1]:
                yield problem(
                    "GT504",
                    f"{dead} of {out.shape[1]} units of this relu are zero for all {len(out)} examples",
                    spans=[node.location],
                    consequence="they get no gradient, and stay as they are as long as the examples are like these",
                    fixes="a smaller learning rate or bias; leaky_relu and gelu have a slope below 0",
                )


def _double_reductions(replay: Replayable) -> Iterator[Problem]:
    for node in replay.records:
        if node.operation not in ("mean", "sum") or not node.parents or _is_not_written(node):
            continue
        inner = node.parents[0]
        reduced = inner.operation in ("mean", "sum")
        if reduced and math.prod(inner.shape) == 1 and inner.place_key != node.place_key:
            yield problem(
                "GT502",
                f"the {node.operation} of one number, which already is a {inner.operation}",
                spans=[site_at(node.location).span, site_at(inner.location).span.labelled("reduced here before")],
                fixes="leave it out; if a mean over examples was meant, leave the first reduction out",
            )


def _ambiguous_biases(replay: Replayable) -> Iterator[Problem]:
    for node in replay.records:
        if node.operation != "add" or len(node.shape) != 2 or _is_not_written(node):
            continue
        rows, columns = node.shape
        vectors = [p for p in node.parents if p.is_tracked and not p.operation and p.shape == (columns,)]
        products = [p for p in node.parents if p.operation in ("matmul", "dot", "linear")]
        if rows == columns > 1 and vectors and not products:  # the columns of a product are those of its weights
            site = site_at(node.location)
            if isinstance(site.node, ast.BinOp):
                yield problem(
                    "GT508",
                    f"a vector of {columns} is added to a square array {node.shape}, along its last axis",
                    spans=[site.span],
                    consequence="it would fit along the other axis as well: no shape tells a mistake",
                    intent="[None, :] says that the last axis is meant, [:, None] the first",
                )


def _gradient_drift(replay: Replayable) -> Problem | None:
    """A gradient that becomes much smaller or larger than it was, step by step, over several operations.

    Derivatives of derivatives are left alone: those of a formula grow with their order.
    """
    if any(node.location.in_rule for node in replay.records):
        return None
    sizes = {node: _rms(gradient) for node, gradient in replay.gradients.items()}
    ways: dict[Record, tuple[Record, int, bool]] = {}  # where the gradient began to shrink or grow, for how many steps
    best: tuple[float, Record, Record, int] | None = None
    for node in replay.records:  # youngest first, so that the path to a node is known before it is extended
        for parent in replay.parents(node):
            before, after = sizes.get(node), sizes.get(parent)
            if not before or not after or node.shape != parent.shape:
                continue
            if before == after:  # a sum passes the gradient on: a shrinking one is no harm there, a growing one is
                is_sum = node.operation in ("add", "subtract")
                goes_on = node in ways and not (is_sum and ways[node][2])
                if goes_on and (parent not in ways or ways[parent][1] < ways[node][1]):
                    ways[parent] = ways[node]
                continue
            start, count, shrinks = ways.get(node, (node, 0, after < before))
            if count and not shrinks and before / STEP_FACTOR < after < before:  # a relu on the way
                if parent not in ways or ways[parent][1] < count:
                    ways[parent] = ways[node]
                continue
            if shrinks != (after < before):
                start, count = node, 0
            if parent not in ways or ways[parent][1] < count + 1:
                ways[parent] = (start, count + 1, after < before)
            drift = abs(math.log(after / sizes[start]))
            steep = min((count + 1) * math.log(STEP_FACTOR), math.log(TOTAL_FACTOR))
            is_steep = drift > max(math.log(FACTOR), steep)
            if count + 1 >= STEPS_AT_LEAST and is_steep and (best is None or drift > best[0]):
                best = drift, start, parent, count + 1
    if best is None:
        return None
    _, start, end, count = best
    ratio = sizes[end] / sizes[start]
    code, word = ("GT505", "shrinks") if ratio < 1 else ("GT506", "grows")
    last = end if end.operation else replay.consumers[end][-1]
    has_layers = any(node.operation in LAYERS for node in replay.records)
    otherwise = "add what goes in to what comes out (a residual)" if ratio < 1 else "clip the gradient"
    advice = f"normalise between the steps, scale the weights so that the factor is about 1, or {otherwise}"
    return problem(
        code,
        f"the gradient {word} from {sizes[start]:.2g} to {sizes[end]:.2g} over {count} operations",
        spans=list({node.place_key: node.location for node in (last, start)}.values()),
        notes=[f"a factor of {ratio ** (1 / count):.2g} for each operation, going back"],
        fixes=advice if has_layers else ADVICE_WITHOUT_LAYERS,
    )


def _rms(gradient: Any) -> float:
    if isinstance(gradient, list) or not np.size(gradient) or not np.isfinite(gradient).all():
        return 0.0
    with np.errstate(over="ignore"):
        return float(np.sqrt(np.mean(np.abs(gradient) ** 2)))
