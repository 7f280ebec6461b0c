"""Detector: an optimiser step with a `.grad` that still holds the gradient of the step before, or with none at all.

A change of a tensor by a gradient that was added to after it was used is a mistake. The backward pass alone is not: the
gradients of a generator also reach the discriminator, and are cleared before that is trained.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, source_edit
from gradtape.explain.model.record import SourceLocation
from gradtape.explain.render.spelling import library_of
from gradtape.explain.source.expression import UserExpression, site_at
from gradtape.explain.source.files import one_line, span_of
from gradtape.explain.source.parameter_names import name_of


def warn_added(where: SourceLocation, leaves: Sequence[Any] = ()) -> None:
    """Warn of a step, at the user's present expression, with a gradient that `where` has added to an earlier one.

    `leaves` are the tensors whose gradients were added to, where the program changes them one by one.
    """
    found = added_problem(where, leaves)
    if found is not None:
        report(found)


def added_problem(where: SourceLocation, leaves: Sequence[Any] = (), is_shared: bool = False) -> Problem | None:
    """The problem that `warn_added` reports; None if it is not to be reported at this place.

    If the gradient `is_shared`, another pass has added to it for another optimiser: clearing after the step is too
    early then.
    """
    span = span_of(where)
    if not is_due("GT511", span.file, span.line, span.column):
        return None
    site = UserExpression.present()
    return problem(
        "GT511",
        "backward() adds to the gradient of the step before, which was used and not cleared",
        spans=[span.labelled("adds to .grad"), site.span.labelled("uses the sum of both")],
        consequence="each step goes along the sum of all gradients so far, not along the last one",
        fixes=_cleared_before(where, site, leaves, is_shared) or _cleared(site),
        intent="gt.explain.configure(GT511='off')",
    )


def _cleared_before(where: SourceLocation, site: UserExpression, leaves: Sequence[Any], is_shared: bool) -> list[str]:
    """The statement of the backward pass, after one that clears all gradients.

    Needed where that of the step is too late, in the closure that an optimiser calls several times, where several
    tensors are changed by statements of their own, and where gradients are read after the step.
    """
    asked = site_at(where)
    statement = None if asked.node is None else asked.source.statement(asked.node)
    span = None if statement is None else asked.source.span(statement)
    if span is None or "\n" in span.text or not isinstance(statement, ast.Expr | ast.Assign):
        return []
    step = None if site.node is None else site.source.statement(site.node)
    call = step.value if isinstance(step, ast.Expr | ast.Assign) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "step":
        is_closure = bool(call.args or call.keywords) and where.code is not site.location.code
        is_read = step is not None and where.code is site.location.code and _is_read_after(site, step)
        owner = call.func.value
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        visible = site.frame is not None and isinstance(owner, ast.Name) and owner.id in site.frame.f_globals
        is_reachable = visible or where.code in getattr(site.location.code, "co_consts", ())
        is_shared = is_shared and where.code is site.location.code
        if not is_read and not is_shared and not (is_closure and is_reachable):
            return []
        clearing = f"{one_line(site.source.text(call.func.value))}.zero_grad()"
    else:
        names = [name_of(leaf, site) for leaf in leaves]
        if len({*names}) < 2 or "" in names or len(names) > 4 or where.code is not site.location.code:
            return []
        clearing = " = ".join([*(f"{name}.grad" for name in dict.fromkeys(names)), "None"])
    return [source_edit(f"{clearing}; {span.text}", span), f"{clearing} before backward()"]


def _is_read_after(site: UserExpression, step: ast.stmt) -> bool:
    """Whether gradients are read after a step, in a function or module with one backward pass."""
    scope = next(iter(site.source.scopes(step)), site.source.tree)
    attributes = [node for node in ast.walk(scope) if isinstance(node, ast.Attribute)] if scope is not None else []
    reads = [node for node in attributes if node.attr == "grad" and isinstance(node.ctx, ast.Load)]
    end = step.end_lineno or step.lineno
    return sum(node.attr == "backward" for node in attributes) == 1 and any(node.lineno > end for node in reads)


def _cleared(site: UserExpression) -> list[str]:
    """The statement of the step, followed by one that clears the gradient; advice where it cannot be written."""
    statement = None if site.node is None else site.source.statement(site.node)
    clearing = "" if statement is None else _clearing(site, statement)
    if statement is None or not clearing:
        return ["w.grad = None for each parameter w, or optimizer.zero_grad(), before backward()"]
    span = site.source.span(statement)
    if isinstance(statement, ast.Expr | ast.AugAssign | ast.Assign) and "\n" not in span.text:
        return [source_edit(f"{span.text}; {clearing}", span), f"{clearing} before backward()"]
    return [f"{clearing} before backward()"]


def _clearing(site: UserExpression, statement: ast.stmt) -> str:
    """The code that clears the gradient: a method of the optimiser, or `.grad = None` of the tensor; else empty."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "step":
        if library_of(site.source.imports)[0] == "torch":
            return f"{one_line(site.source.text(call.func.value))}.zero_grad()"
        listed = call.args[0].elts if call.args and isinstance(call.args[0], ast.List | ast.Tuple) else []
        if listed and all(isinstance(part, ast.Name | ast.Attribute) for part in listed):
            return "; ".join(f"{one_line(site.source.text(part))}.grad = None" for part in listed)
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute) and node.attr == "grad":
            return f"{one_line(site.source.text(node))} = None"
    return ""


def note_missing_gradients(name: str, count: int, made: SourceLocation | None, ran: SourceLocation) -> None:
    """Warn of a step of an optimiser none of whose parameters has a gradient."""
    span = UserExpression.present().span
    if is_due("GT512", span.file, span.line, span.column):
        report(missing_gradients_problem(name, count, made, ran))


def missing_gradients_problem(name: str, count: int, made: SourceLocation | None, ran: SourceLocation) -> Problem:
    """The problem of a step, at the user's present expression, of an optimiser without any gradient."""
    span = UserExpression.present().span
    spans: list[Any] = [span.labelled("changes nothing"), span_of(ran).labelled("reached none of its parameters")]
    if made is not None:
        spans.append(span_of(made).labelled("made here"))
    return problem(
        "GT512",
        f"{name}.step: none of its {count} parameters has a gradient, although backward() was called",
        spans=spans,
        consequence="no parameter changes: nothing is learnt",
        fixes="give the optimiser the parameters that the loss is computed from, not copies or those of another "
        "model; and compute the loss from them without .item(), .detach() or a new tensor on the way",
        intent="gt.explain.configure(GT512='off')",
    )
