"""Indices that are not there: JAX moves them to the nearest element instead of raising an error."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gradtape.explain.emit.policy import is_due, warn
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, Span
from gradtape.explain.source.expression import site_at
from gradtape.explain.source.files import one_line
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.jax.values import IndexParams
from gradtape.watching.record import OperationRecord


def judge_indices(computation: RecordedComputation) -> None:
    """Report arrays of indices with elements past the end of an axis, where a gradient comes back through them."""
    for record in computation.records:
        if isinstance(record, OperationRecord) and record.operation == "getitem":
            found = _past_the_end(record, computation)
            if found is not None and is_due(found.code, *found.place[1:]):
                warn(found)


def _past_the_end(record: OperationRecord, computation: RecordedComputation) -> Problem | None:
    shape = record.operands[0].shape if record.operands else None
    parts = record.params.get("index", ()) if isinstance(record.params, IndexParams) else ()
    if shape is None or any(part is None or part is Ellipsis for part in parts) or len(parts) > len(shape):
        return None
    for axis, indices in enumerate(parts):
        if not isinstance(indices, np.ndarray) or indices.dtype.kind not in "iu" or not indices.size:
            continue
        length = shape[axis]
        outside = (indices >= length) | (indices.astype(np.int64) < -length)
        if outside.any() and _has_gradient(record, outside, computation):
            return _index_problem(record, axis, length, indices[outside])
    return None


def _has_gradient(record: OperationRecord, outside: Any, computation: RecordedComputation) -> bool:
    """Whether a gradient comes back for the elements that are not there; masked ones get none."""
    gradient = computation.gradients.get(record)
    if gradient is None:
        return False
    if gradient.shape[: outside.ndim] == outside.shape:
        return bool(np.any(gradient[outside]))
    return bool(np.any(gradient)) and bool(outside.all())


def _index_problem(record: OperationRecord, axis: int, length: int, indices: Any) -> Problem:
    site = site_at(record.location)
    node: Any = site.node.value if isinstance(site.node, ast.Expr) else site.node
    text = "the index"
    spans: list[Span] = [site.span]
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if axis < len(parts):
            text = one_line(site.source.text(parts[axis]))
            bound = site.binding(parts[axis])
            spans += [] if bound is None else [bound.labelled(f"{text} is made here")]
    wrong = int(indices.flat[0])
    fixes = [f"indices from 0 to {length - 1}"]
    if int(np.max(indices)) == length:
        fixes.insert(0, f"{text} - 1, if they are counted from 1")
    return problem(
        "GT115",
        f"{text} has the index {wrong}, and the axis has length {length}: JAX takes the last element instead",
        spans=spans,
        notes=[f"{indices.size} {'index is' if indices.size == 1 else 'indices are'} not there"],
        consequence="the gradient goes to another element than the one that was meant, without an error",
        fixes=fixes,
    )


__all__ = ["judge_indices"]
