"""Detector: an update in a loop over parameters that only binds the name of the loop to a new tensor.

`for p in parameters: p = p - rate * p.grad` changes no parameter. The statement is certain to be a mistake where the
name is read nowhere after it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import source_edit
from gradtape.explain.model.record import SourceLocation
from gradtape.explain.source.expression import UserExpression, site_at
from gradtape.explain.source.files import one_line

_SIGNS = {ast.Sub: "-=", ast.Add: "+="}
_METHODS = {ast.Sub: "assign_sub", ast.Add: "assign_add"}


def judge_lost_update(location: SourceLocation, library: str) -> bool:
    """Warn of an update of a parameter, at `location`, that is bound to the name of a loop and lost. Whether it did."""
    site = site_at(location)
    statement = None if site.node is None else site.source.statement(site.node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Name) or not isinstance(value, ast.BinOp) or type(value.op) not in _SIGNS:
        return False
    loop = _loop_over(site, statement, target.id)
    if loop is None or _root(value.left) != target.id or _is_read_after(site, loop, statement, target.id):
        return False
    name, step = target.id, one_line(site.source.text(value.right))
    span = site.source.span(statement)
    if not is_due("GT205", span.file, span.line, span.column):
        return True
    if library == "tensorflow":
        text, advice = f"{name}.{_METHODS[type(value.op)]}({step})", f"a Variable keeps its place: {name}.assign(...)"
    else:
        text, advice = f"{name} {_SIGNS[type(value.op)]} {step}", f"change {name} itself, in torch.no_grad()"
    report(
        problem(
            "GT205",
            f"the update is lost: the name {name} is bound to a new tensor, and the parameter stays as it was",
            spans=[span, site.source.span(loop.target).labelled(f"{name} stands for a parameter")],
            consequence="no parameter changes, however many steps are made",
            fixes=[source_edit(text, span), advice],
        )
    )
    return True


def _loop_over(site: UserExpression, statement: ast.stmt, name: str) -> ast.For | None:
    """The innermost loop around a statement, in the same function, if it binds `name`."""
    node: Any = site.source.parents.get(statement)
    while node is not None and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        if isinstance(node, ast.For):
            return node if name in {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)} else None
        node = site.source.parents.get(node)
    return None


def _root(node: ast.AST) -> str:
    """The name of `p` in `p` and `p.data`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_read_after(site: UserExpression, loop: ast.For, statement: ast.stmt, name: str) -> bool:
    """Whether a name is read in the loop after a statement, or after the loop."""
    scope = next(iter(site.source.scopes(statement)), None)
    return any(node.lineno > (statement.end_lineno or statement.lineno) for node in _reads(scope or loop, name))


def _reads(scope: ast.AST, name: str) -> Iterator[ast.Name]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node


__all__ = ["judge_lost_update"]
