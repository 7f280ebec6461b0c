"""Second derivatives that are not finite: finds the user's expression whose gradient rule produced them.

Operations of a gradient rule, in a backward pass that is itself recorded, have the location of the operation whose rule
it is. So the user's expression can be named, although its node is not in the graph that is replayed.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gradtape.explain.fixes.numeric_edits import ADVICE, TINY
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.model.record import Computation, Record
from gradtape.explain.source.expression import UserExpression, replace_span, site_at
from gradtape.explain.source.files import one_line
from gradtape.explain.source.operation_site import is_literal, number

FACTS_AT_MOST = 2
STEPS_AT_MOST = 20
_OPERATORS: dict[type, str] = {ast.Pow: "power", ast.Div: "divide", ast.Mult: "multiply"}
_SHIFTABLE = {"divide": 1, **dict.fromkeys(("sqrt", "log", "log2", "log10", "power", "cbrt", "reciprocal", "abs"), 0)}


def second_order_problem(replay: Computation, node: Record, index: tuple[int, ...], is_differentiated: bool) -> Problem:
    """The problem for `node`, computed by a gradient rule and not finite at `index`.

    With `is_differentiated` its value is finite, and its slope is not.
    """
    site = site_at(node.location)
    expression = one_line(site.span.text)
    if not isinstance(site.node, ast.expr) or len(expression) > 50:
        expression = "this expression"
    facts = " and ".join(f"{name} is {value}" for name, value in _operand_values(replay, node, index, site, expression))
    where = (f" at {list(index)}" if index else "") + (f", where {facts}" if facts else "")
    if is_differentiated:
        title = f"the slope of {expression} has no finite slope of its own{where}"
        notes = ["the first derivative is finite there; a derivative of that is not"]
    else:
        title = f"the slope of {expression} is infinite{where}"
        value = replay.values.get(node)
        notes = []
        if value is not None and np.isnan(np.asarray(value)[index]):
            notes = ["the gradient that comes back there is zero, and zero times infinity is NaN"]
    name = _operation_name(site)
    offered = _shift_from_zero(site, name, node)
    if not offered or not is_differentiated:
        offered.append(ADVICE.get(name, "keep its operands away from there"))
    if notes and not is_differentiated:
        offered.append("if where masks that place, choose the operand before: np.where(ok, f(np.where(ok, x, 1.0)), 0)")
    return problem(
        "GT402",
        title,
        spans=[site.span],
        notes=notes,
        consequence="derivatives of this derivative are infinite, or NaN where they meet a zero",
        fixes=offered,
    )


def _operand_values(
    replay: Computation, node: Record, index: tuple[int, ...], site: UserExpression, expression: str
) -> list[tuple[str, str]]:
    """The operands and the result of the expression that the rule used, by name, and their values at `index`."""
    operands = [part for part in site._candidates(0) if not is_literal(part)]
    found: dict[str, str] = {}
    results: list[Record] = []
    seen, pending = {node}, [node]
    while pending and len(seen) <= STEPS_AT_MOST and len(found) < FACTS_AT_MOST:
        inner = pending.pop(0)
        for parent, value in zip(inner.parents, replay.inputs(inner)):
            if parent in seen or not parent.is_tracked:
                continue
            seen.add(parent)
            if parent.location.in_rule:
                pending.append(parent)
                continue
            is_result = _expression_key(parent) == _expression_key(node)
            if value is None or np.shape(value) != node.shape or not (is_result or len(operands) == 1):
                continue
            if is_result:
                results.append(parent)
            name = expression if is_result else one_line(site.source.text(operands[0]))
            if is_result or not results or any(parent in result.parents for result in results):
                found.setdefault(name, number(np.asarray(value)[index]))
    return list(found.items())


def _expression_key(node: Record) -> tuple[Any, ...]:
    """The user's expression that a record belongs to, whether its value or its gradient rule was computed."""
    return node.location.file, node.location.positions


def _operation_name(site: UserExpression) -> str:
    """NumPy's name of the operation in the user's expression."""
    node: Any = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if isinstance(node, ast.Call):
        return str(node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""))
    return _OPERATORS.get(type(getattr(node, "op", None)), "")


def _shift_from_zero(site: UserExpression, name: str, node: Record) -> list[str]:
    """The expression with its operand kept away from zero."""
    parts = site._candidates(0)
    place = _SHIFTABLE.get(name)
    if place is None or place >= len(parts):
        return []
    part = parts[place]
    inner = one_line(site.source.text(part))
    tiny = TINY if node.dtype.itemsize >= 8 else "1e-6"
    is_argument = isinstance(site.node, ast.Call) and part in site.node.args
    text = f"{inner} + {tiny}" if is_argument else f"({inner} + {tiny})"
    written = replace_span(site.span, site.source.span(part), text)
    return [] if written is None else [f"away from zero: {written}"]
