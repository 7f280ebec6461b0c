"""`squeeze()` without an axis, which also drops the axis of the examples where a batch has one.

It is the cause of shapes that do not fit in the last batch of an epoch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from gradtape.explain.graph import paths
from gradtape.explain.model.problem import Fix, Problem, source_edit
from gradtape.explain.model.record import Record
from gradtape.explain.source.expression import site_at
from gradtape.explain.source.files import one_line
from gradtape.watching.torch.recorder import TorchOperation

SHAPE_CODES = frozenset(["GT110", "GT111", "GT113", "GT114", "GT115", "GT116", "GT117", "GT118"])


def blame_squeeze(found: Problem, records: Iterable[Record | None]) -> Problem:
    """A problem of shapes that do not fit, with the `squeeze()` first that has dropped the axis of the examples."""
    if found.code not in SHAPE_CODES:
        return found
    reached: dict[Record, None] = {}
    for start in records:
        if start is not None:
            paths.all_behind(start, reached)
    for record in sorted(reached, key=lambda record: -record.order):
        if not isinstance(record, TorchOperation) or record.own_name != "squeeze" or not record.operands:
            continue
        shape = record.operands[0].shape
        if shape is None or len(shape) < 2 or shape[0] != 1 or not record.location.is_known:
            continue
        call = _call_without_axis(record)
        if call is None:
            continue
        site = site_at(record.location)
        span = site.source.span(call)
        others = [axis for axis, length in enumerate(shape) if length == 1 and axis]
        fixes: list[Fix] = []
        if "\n" not in span.text and others:
            fixes = [source_edit(f"{one_line(span.text)[:-1]}{', ' * bool(call.args)}{others[-1] - len(shape)})", span)]
        return found.with_(
            title=f"squeeze() has dropped the axis of the examples, of which this batch has one: {found.title}",
            spans=[span.labelled(f"makes {record.shape} of {shape}"), *found.spans],
            fixes=[*fixes, "name the axis that is to go: x.squeeze(-1); or drop_last=True in the DataLoader"],
        )
    return found


def _call_without_axis(record: Any) -> ast.Call | None:
    """The user's call of squeeze, if it names no axis."""
    site = site_at(record.location)
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(call, ast.Call) or call.keywords or not isinstance(call.func, ast.Attribute):
        return None
    is_function = isinstance(call.func.value, ast.Name) and site.source.is_array_module(call.func.value.id)
    return call if call.func.attr == "squeeze" and len(call.args) == int(is_function) else None


__all__ = ["blame_squeeze"]
