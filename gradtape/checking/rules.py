"""Which of the user's own rules is wrong: each function with a rule on the path is checked by itself."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtape.errors import GradTapeError
from gradtape.extend import Node, current_recording, saved_inputs

CALLS_AT_MOST = 20  # of functions with rules that are checked by themselves


def rules_on(nodes: list[Node]) -> Iterator[tuple[Any, list[Any]]]:
    """The calls of functions with a rule of the user's among recorded nodes: the rule, and the arrays it was given."""
    from gradtape.extend import BatchedRule, FunctionRule

    seen = set()
    for node in nodes:
        if node.op is None or node.op.kind != "custom" or not node.inputs:
            continue
        *inputs, rule = saved_inputs(node)
        if not all(isinstance(x, np.ndarray) for x in inputs):
            continue
        while isinstance(rule, BatchedRule):  # the first example will do
            inputs = [x[0] if flag else x for x, flag in zip(inputs, rule.flags, strict=True)]
            rule = rule.one
        if isinstance(rule, FunctionRule) and id(rule.function) not in seen:
            seen.add(id(rule.function))
            yield rule, inputs


def alone(rule: Any) -> Any:
    """The function that `rule` belongs to, as one of its arrays, recorded with the rule where it is recorded."""
    from gradtape.extend import apply_rule, is_recorded

    def part(*arrays: Any) -> Any:
        own = copy.copy(rule)
        own.state = current_recording()
        return apply_rule(own, list(arrays)) if any(map(is_recorded, arrays)) else own.value(list(arrays))

    part.__name__ = rule.call.name
    return part


def rule_of(rule: Any) -> tuple[str, str]:
    """What the user wrote as the derivative, in words, and the line that computes it, as it is to be shown."""
    from gradtape.extend import definition_of, function_name, returned_span

    kept = getattr(getattr(rule, "memory", None), "kept", None)
    residuals = None if kept is None else kept.form.residuals  # of custom_gradient: the function that it returned
    written = getattr(rule, "bwd", None) or getattr(rule, "rule", None) or residuals
    written = written if callable(written) else rule.function
    name, of = function_name(written), f"the rule of {rule.call.name!r}"
    span = returned_span(definition_of(written).code)
    told = of if name in ("<lambda>", rule.call.name) else f"{name!r}, {of},"
    return told, f"  {span.place}   {span.source.strip()}"


def blamed(nodes: list[Node], check: Any) -> str:
    """A line, and the places, of the rules on the path that are wrong by themselves; empty if none of them is.

    `check(function, arrays)` is the report of the function alone.
    """
    rows: list[str] = []
    for rule, arrays in list(rules_on(nodes))[:CALLS_AT_MOST]:
        try:
            report = check(alone(rule), arrays)
        except GradTapeError:  # it has no numbers that can be varied, or none of the precision
            continue
        if report.ok or report.worst is None or report.kink:
            continue
        name, where = rule_of(rule)
        rows.append(
            f"  {name} is wrong by itself: d {report.worst.output} / d {report.worst.argument} is "
            f"{report.worst.analytic:.6g}, and {report.worst.numeric:.6g} by differences\n{where}"
        )
    return "\n".join(rows)


__all__ = ["blamed"]
