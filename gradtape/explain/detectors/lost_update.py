"""Detector: an update in a loop over parameters that only binds the name of the loop to a new tensor.

`for p in parameters: p = p - rate * p.grad` changes no parameter, and `for old, new in zip(slow, fast): old = 0.9 * old
+ 0.1 * new` no average. The statement is certain to be a mistake where the name is read nowhere after it.
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
    if _is_entry_of_state(statement.targets[0]):
        return _warn_entry(site, statement)
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Name) or not isinstance(value, ast.BinOp):
        return False
    loop, name = _loop_over(site, statement, target.id), target.id
    if loop is None or not any(_reads(value, name)) or _is_read_after(site, loop, statement, name):
        return False
    span = site.source.span(statement)
    if not is_due("GT205", span.file, span.line, span.column):
        return True
    text, advice = _updates_in_place(site, value, name, library)
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


def _is_entry_of_state(target: ast.expr) -> bool:
    """Whether something is assigned to `model.state_dict()[name]`."""
    call = target.value if isinstance(target, ast.Subscript) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "state_dict"


def _warn_entry(site: UserExpression, statement: ast.Assign) -> bool:
    """Warn of an assignment to an entry of a dictionary that is made anew in each call."""
    span = site.source.span(statement)
    if is_due("GT205", span.file, span.line, span.column):
        entry, value = (one_line(site.source.text(part)) for part in (statement.targets[0], statement.value))
        report(
            problem(
                "GT205",
                "the update is lost: state_dict() makes a new dictionary, and only an entry of that is changed",
                spans=[span],
                consequence="the model stays as it was, however often this runs",
                fixes=[
                    source_edit(f"{entry}.copy_({value})", span),
                    "change a copy of the dictionary and call model.load_state_dict(...)",
                ],
            )
        )
    return True


def _updates_in_place(site: UserExpression, value: ast.BinOp, name: str, library: str) -> tuple[str, str]:
    """The statement that changes what `name` stands for, and the rule behind it."""
    is_step = type(value.op) in _SIGNS and _root(value.left) == name
    whole, step = (one_line(site.source.text(part)) for part in (value, value.right))
    if library == "tensorflow":
        method = f"{_METHODS[type(value.op)]}({step})" if is_step else f"assign({whole})"
        return f"{name}.{method}", f"a Variable keeps its place: {name}.assign(...)"
    text = f"{name} {_SIGNS[type(value.op)]} {step}" if is_step else f"{name}.copy_({whole})"
    return text, f"change {name} itself, in torch.no_grad()"


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
