"""Detector: a write to an array that is locked, as gradient rules have saved it or it is the memory of a tensor."""

from __future__ import annotations

import ast

from gradtape.explain.fixes.import_edits import fixes_by_import_for
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem, Span
from gradtape.explain.model.record import SourceLocation
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import span_of


def saved_array_problem(site: UserExpression | None, name: str, saved: SourceLocation | None) -> Problem:
    """An array that gradient rules have saved: the line that writes, and the line that saved it."""
    spans: list[Span] = [] if site is None else [site.span.labelled("written here")]
    if saved is not None:
        spans.append(span_of(saved, "saved here"))
    return problem(
        "GT309",
        f"{name or 'an array that a tape has saved'} is locked until its gradient has been taken",
        spans=spans,
        notes=["the derivative of what was computed from it needs these numbers as they are"] if name else [],
        consequence="written to, it would no longer be what the value was computed from",
        fixes=[
            *_import_fixes(site, name),
            f"compute with a copy ({name or 'array'}.copy())",
            "write after the gradient has been taken: tape.gradient(...), or loss.backward()",
            "under gt.no_grad() if no gradient is wanted, and nothing is saved",
        ],
    )


def _import_fixes(site: UserExpression | None, name: str) -> list[Fix]:
    """The edit after which the array is a tensor, whose earlier versions are kept for the gradient."""
    if site is None or site.node is None:
        return []
    statement = site.source.statement(site.node)
    named = (node for node in ast.walk(statement or site.node) if isinstance(node, ast.Name) and node.id == name)
    return fixes_by_import_for(site, next(named, None))


def tensor_memory_problem(site: UserExpression, name: str) -> Problem:
    """The problem for a write to the array of a tensor, which `.numpy()` gave without a copy."""
    return problem(
        "GT309",
        f"{name} is the memory of a tensor, which only the tensor itself writes to",
        spans=[site.span.labelled("written here")],
        consequence="written to, the tensor would no longer be what its gradient is of",
        fixes=[f"write to a copy: {name} = {name}.copy()", "gt.at(x)[i].set(v) is a new tensor"],
    )
