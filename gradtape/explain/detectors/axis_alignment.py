"""Detector: arrays that broadcast only because two axes have the same length.

Two cases: `x / x.sum(axis=1)` of a square x, where the sums of the rows meet the columns; and `logp[:, labels]`, which
picks a table instead of one element from each row. Their shapes occur in correct programs too, so they are judged when
a gradient is taken, by how the results were used.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtape.explain.detectors.broadcast import group_digits
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.fixes import shape_edits
from gradtape.explain.fixes.index_edits import one_of_each_row
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Operand, Problem
from gradtape.explain.model.record import Computation, Record, operand_values
from gradtape.explain.source.expression import is_call_of, is_written, site_at
from gradtape.explain.source.files import one_line
from gradtape.explain.source.libraries import array_of

REDUCTIONS = frozenset({"sum", "mean", "max", "min", "logsumexp", "prod", "norm", "std", "var"})
_RECURRENCE_REDUCTIONS = frozenset({"max", "min", "logsumexp"})
STEPS_AT_MOST = 64


# -- reduced without keepdims


def judge_reduction(node: Record, replay: Computation, reduction: Record | None = None) -> bool:
    """Warn of `x / x.sum(axis=1)` where x is square: the sums of the rows meet the columns. Whether it warned.

    Of a reduction with several results, such as PyTorch's `x.max(dim=1)`, `node` is the one with the values.
    """
    inside = getattr(node, "reduced", None)  # of a function that keeps the axis until its end
    reduction = reduction or inside or node
    axes = reduction.params.get("axis")
    if node not in replay.consumers or not axes or len(axes) != 1:
        return False
    if inside is None and reduction.params.get("keepdims") is not False:
        return False
    reduced, axis = reduction.parents[0], axes[0]
    vectors = list(_elementwise_results(node, replay))
    if any(len(user.shape) > len(node.shape) and _changes_axes(user) for v in vectors for user in replay.consumers[v]):
        return False  # another use restores the axis, so the author knows both
    beginning = _reduced_array(reduced, reduction)
    for vector in vectors:
        for user in replay.consumers[vector]:
            if not _is_normalisation(user, vector, reduced.shape) or not _is_computed_from(user.parents[0], beginning):
                continue
            again = [c.operation for c in replay.consumers[user] if c.operation and c.params.get("axis") == axes]
            if _RECURRENCE_REDUCTIONS.intersection(again):
                continue  # the next step of a recurrence along this axis
            if is_written(site_at(user.location), user.operation):
                value = array_of(replay.values.get(reduced))
                place = axis - len(reduced.shape)  # from the end: inside vmap the batch axis comes first
                if value is not None and np.allclose(value, np.swapaxes(value, place - 1, place), equal_nan=True):
                    return False  # of a symmetric array both axes have the same sums
                found = _misaligned_problem(reduction, user, axis)
                if is_due("GT103", *found.place[1:]):
                    report(found)
                return True
    return False


def _elementwise_results(start: Record, replay: Computation) -> Iterator[Record]:
    """A node, and the results of the elementwise operations on it that keep its shape."""
    pending, seen = [start], {start}
    while pending and len(seen) < STEPS_AT_MOST:
        node = pending.pop()
        yield node
        for user in replay.consumers[node]:
            if user not in seen and user.shape == start.shape and _is_elementwise(user):
                seen.add(user)
                pending.append(user)


def _is_elementwise(node: Record) -> bool:
    return node.kind == "elementwise"


def _changes_axes(node: Record) -> bool:
    return node.operation in ("getitem", "reshape", "expand_dims", "broadcast_to")


def _is_normalisation(node: Record, vector: Record, shape: tuple[int, ...]) -> bool:
    """Whether an operation centres or scales an array of this shape by the vector."""
    is_scaling = node.operation in ("subtract", "divide") and len(node.parents) == 2
    return is_scaling and node.parents[1] is vector and node.parents[0].shape == shape == node.shape


def _reduced_array(node: Record, reduction: Record) -> Record:
    """The array that a reduction is computed from.

    Elementwise functions of one operand are skipped, and so is what the reducing function computes itself, such as the
    deviation in `std`.
    """
    for _ in range(STEPS_AT_MOST):
        same = {parent for parent in node.parents if parent.shape == node.shape and parent.is_tracked}
        others = [(parent, value) for parent, value in zip(node.parents, operand_values(node)) if parent not in same]
        is_simple = _is_elementwise(node) and all(_is_number(parent, value) for parent, value in others)
        if len(same) != 1 or not (is_simple or node.place_key == reduction.place_key):
            break
        (node,) = same
    return node


def _is_number(node: Record, value: Any) -> bool:
    """Whether an operand is known to be a single number."""
    return node.shape == () if node.is_tracked else value is not None and np.size(value) == 1


def _is_computed_from(node: Record, beginning: Record) -> bool:
    """Whether an array was computed from `beginning` element by element."""
    pending, seen = [node], {node}
    while pending and len(seen) < STEPS_AT_MOST:
        node = pending.pop()
        if node is beginning:
            return True
        if _is_elementwise(node):
            fresh = {parent for parent in node.parents if parent.shape == beginning.shape and parent not in seen}
            seen |= fresh
            pending.extend(fresh)
    return False


def _misaligned_problem(reduction: Record, user: Record, axis: int) -> Problem:
    made, used = site_at(reduction.location), site_at(user.location)
    shape = user.shape
    name = one_line(made.span.text)
    kept = shape_edits.with_keepdims(made.span, reduction.shape)
    fits = kept is not None and shape_edits.broadcast_shape([kept[1], shape]) == shape
    offered = [Fix(kept[0], True, made.span)] if kept is not None and fits else []
    spans = [used.span]
    if (made.span.file, made.span.line) != (used.span.file, used.span.line):
        spans.append(made.span.labelled(f"axis {axis} is reduced away here"))
    return problem(
        "GT103",
        f"{name} has one element for each of axis {axis - 1}, and meets axis {axis} of {shape}",
        spans=spans,
        notes=[f"{reduction.shape} is aligned with the last axes of {shape}; both lengths are {shape[axis]}"],
        consequence="every element is centred or scaled by the number of another row or column",
        fixes=offered or [f"keep the axis: keepdims=True, or an index with None at axis {axis}"],
        intent=f"reduce over axis {axis - 1} if its axis is the one that is meant, or write the axis: [None, :]",
    )


# -- labels that pick a table


def judge_label_index(node: Record, replay: Computation) -> bool:
    """Warn of `logp[:, labels]` whose (n, n) elements all go into the loss. Whether it warned."""
    index = node.params.get("index", ())
    if node not in replay.consumers or [type(part) for part in index] != [slice, np.ndarray]:
        return False
    labels, count = index[1], node.shape[0] if node.shape else 0
    is_table = index[0] == slice(None) and node.shape == (count, count) and node.parents[0].shape[0] == count
    if not is_table or count < 2 or labels.dtype.kind not in "iu" or len(np.unique(labels)) == count:
        return False  # every column once: a choice or an order of the columns
    if not _is_reduced_whole(node, replay):
        return False
    found = _label_table_problem(node, labels)
    if found is not None and is_due("GT101", *found.place[1:]):
        report(found)
    return found is not None


def _is_reduced_whole(start: Record, replay: Computation) -> bool:
    """Whether every element of a table goes into a sum or mean of all of it, and meets no other table before."""
    pending, seen, ends = [start], {start}, 0
    while pending:
        node = pending.pop()
        for user in replay.consumers[node]:
            if user in seen:
                continue
            seen.add(user)
            axes = user.params.get("axis")
            if user.operation in ("sum", "mean") and (axes is None or len(axes) == 2):
                ends += 1
            elif _is_elementwise(user) and user.shape == start.shape and _has_no_other_table(user, node, replay):
                pending.append(user)
            else:
                return False
        if not replay.consumers[node]:
            return False
    return ends > 0


def _has_no_other_table(user: Record, table: Record, replay: Computation) -> bool:
    """Whether the other operand of an operation on a table is a number or a vector."""
    for parent, value in zip(user.parents, operand_values(user)):
        if parent is table:
            continue
        if parent.is_tracked or value is not None:
            if len(parent.shape if parent.is_tracked else np.shape(value)) > 1:
                return False
            continue
        # the value was not saved: recover the term from the result
        one, other = array_of(replay.values.get(table)), array_of(replay.values.get(user))
        if one is None or other is None or user.operation not in ("add", "subtract"):
            return False
        if not any(np.allclose(term, term[..., :1, :]) for term in (other - one, other + one)):
            return False
    return True


def _label_table_problem(node: Record, labels: Any) -> Problem | None:
    site = site_at(node.location)
    written = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if isinstance(written, ast.Subscript) and isinstance(written.slice, ast.Tuple):
        owner, part = written.value, written.slice.elts[-1]
        edited = "{0}[{arange}(len({1})), {1}]"
    elif isinstance(written, ast.Call) and is_call_of(site, "gather") and len(written.args) >= 2:
        owner, part = written.args[:2]
        edited = f"{one_line(site.source.text(written.func))}({{0}}, {{1}}, batch_dims=1)"
    else:
        return None
    names = [one_line(site.source.text(expression)) for expression in (owner, part)]
    shapes = [node.parents[0].shape, labels.shape]
    edited = edited.format(*names, arange=site.source.spelled("arange"))
    return problem(
        "GT101",
        f"every row of {names[0]} {shapes[0]} meets every element of {names[1]} {shapes[1]} in this index",
        spans=[site.span],
        operands=[
            Operand(names[0], shapes[0], str(node.dtype), site.binding(owner), site.source.span(owner)),
            Operand(names[1], shapes[1], str(labels.dtype), site.binding(part), site.source.span(part)),
        ],
        notes=[
            f"it picks {group_digits(math.prod(node.shape))} elements; {len(labels)} if one is picked from each row"
        ],
        consequence="the gradient has the right shape and the wrong value",
        fixes=[Fix(edited, True, site.span)] if one_of_each_row(shapes[0], labels) else ["one label for each row"],
        intent="gt.explain.configure(GT101='off') if all of them are meant",
    )
