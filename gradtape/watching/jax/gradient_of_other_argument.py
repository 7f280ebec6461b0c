"""The gradient by one argument that a program subtracts from another: `w - 0.1 * grad(loss)(x, w)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np
from jax.tree_util import tree_leaves

from gradtape.explain.emit.policy import is_due, warn
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, Span, source_edit
from gradtape.explain.source.expression import UserExpression, site_at
from gradtape.explain.source.files import one_line, span_of
from gradtape.watching.jax.calls import GradientCall, argument_names


def judge_use(call: GradientCall) -> None:
    """Report that the gradient of a call is used to change an argument that it was not taken by.

    Certain only where their shapes differ: in mechanics the gradient by the positions changes the momenta.
    """
    if not isinstance(call.argnums, int) or call.is_jacobian or call.has_aux or len(call.arguments) < 2:
        return
    site = site_at(call.location)
    asked: Any = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(asked, ast.Call) or len(asked.args) != len(call.arguments):
        return
    name = _name_of_gradient(site, asked, call.wants_value)
    if name is None:
        return
    for changed, statement in _changes(site, asked, name):
        for index, part in enumerate(asked.args):
            if index == call.argnums or not isinstance(part, ast.Name) or part.id != changed:
                continue
            if _shapes(call.arguments[index]) != _shapes(call.arguments[call.argnums]):
                found = _use_problem(call, site, index, statement)
                if is_due("GT314", *found.place[1:]):
                    warn(found)
                return


def _shapes(tree: Any) -> list[tuple[int, ...]]:
    return [np.shape(leaf) for leaf in tree_leaves(tree)]


def _name_of_gradient(site: UserExpression, asked: ast.Call, wants_value: bool) -> str | None:
    """The name that the gradient is bound to."""
    statement = site.source.statement(asked)
    if not isinstance(statement, ast.Assign) or statement.value is not asked or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if wants_value:
        target = target.elts[1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else target
        return target.id if isinstance(target, ast.Name) and target is not statement.targets[0] else None
    return target.id if isinstance(target, ast.Name) else None


def _changes(site: UserExpression, asked: ast.Call, name: str) -> Iterator[tuple[str, ast.stmt]]:
    """The names that are changed by a sum or difference with the gradient, `w = w - 0.1 * g`, and the statements."""
    scope = next(iter(site.source.scopes(asked)), site.source.tree)
    for node in [] if scope is None else ast.walk(scope):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if not isinstance(node, ast.Assign | ast.AugAssign) or not isinstance(target, ast.Name):
            continue
        value = node.value
        is_step = isinstance(node, ast.AugAssign) or (
            isinstance(value, ast.BinOp)
            and isinstance(value.op, ast.Add | ast.Sub)
            and isinstance(value.left, ast.Name)
            and value.left.id == target.id
        )
        if is_step and any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(value)):
            yield target.id, node


def _use_problem(call: GradientCall, site: UserExpression, index: int, statement: ast.stmt) -> Problem:
    names = argument_names(call.function, len(call.arguments))
    wanted, given = names[index], names[call.argnums]
    made = site.source.span(statement)
    maker = _maker(site)
    offered: list[str] = []
    spans: list[Span] = [made.labelled(f"the gradient by {given} changes {wanted} here")]
    if maker is not None:
        spans.insert(0, site.source.span(maker, "taken by its first argument" if call.argnums == 0 else ""))
        if not any(keyword.arg == "argnums" for keyword in maker.keywords) and len(maker.args) == 1:
            inside = ", ".join(
                [one_line(site.source.text(maker.args[0])), f"argnums={index}"]
                + [one_line(site.source.text(keyword.value)) for keyword in maker.keywords if keyword.arg is None]
                + [f"{k.arg}={one_line(site.source.text(k.value))}" for k in maker.keywords if k.arg]
            )
            text = f"{one_line(site.source.text(maker.func))}({inside})"
            offered = [source_edit(text, site.source.span(maker))]
    return problem(
        "GT314",
        f"the gradient is taken by {given}, argument {call.argnums}, and used to change {wanted}, argument {index}",
        spans=[*spans, span_of(call.location, "asked here")],
        consequence=f"it has the shape of {given}, not that of {wanted}: the difference is stretched, or fails later",
        fixes=[*offered, f"argnums={index} takes it by {wanted}"],
    )


def _maker(site: UserExpression) -> ast.Call | None:
    """The call of `jax.grad` that made the function which was called: written there, or where its name was bound."""
    asked: Any = site.node.value if isinstance(site.node, ast.Expr) else site.node
    function = asked.func
    if isinstance(function, ast.Name):
        bindings = [
            node.value
            for node in ([] if site.source.tree is None else ast.walk(site.source.tree))
            if isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == function.id
        ]
        function = bindings[0] if len(bindings) == 1 else None
    for node in [] if function is None else ast.walk(function):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in (
            "grad",
            "value_and_grad",
        ):
            return node
    return None


__all__ = ["judge_use"]
