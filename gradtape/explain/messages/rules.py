"""Errors of gradient rules and hooks that return something other than the gradient they have to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gradtape.core.location import Location
from gradtape.errors import GradTapeError, RuleError
from gradtape.explain.messages.build import at, failure, problem

if TYPE_CHECKING:
    from gradtape.core.graph import Node

Shape = tuple[int, ...]


def wrong_rule_shape(node: Node, index: int, given: Shape, shape: Shape) -> GradTapeError:
    """The error for a gradient rule whose result does not have the shape of its argument."""
    assert node.op is not None
    return failure(
        "GT302",
        f"the gradient rule of {node.op.name!r} returned shape {given} for argument {index}, which has shape {shape}",
        spans=[at(node.location, f"{node.op.name!r} was used here")],
        consequence="a gradient has the shape of what it belongs to; it is never summed or stretched into place",
        fixes=f"make the rule return shape {shape} for argument {index}",
    )


def broken_rule(title: str, rule: Location, call: Location, fix: str) -> GradTapeError:
    """A custom rule returned a wrong result: what it returned, where it is defined, and for which call."""
    from gradtape.explain.source.files import returned_span

    code = "GT304"
    if re.search(r" returned (shape|a result of)", title):
        code = "GT302"
    elif re.search(r" returned (something of )?dtype", title):
        code = "GT303"
    return failure(code, title, RuleError, spans=[returned_span(rule.code), at(call, "for this call")], fixes=fix)


def wrong_hook_shape(node: Node, given: Shape, hook: Any) -> GradTapeError:
    """The error for a hook that changes the shape of a gradient, at the hook's return statement."""
    from gradtape.explain.source.files import returned_span

    function = getattr(hook, "__wrapped__", hook)
    return failure(
        "GT302",
        f"a hook returned a gradient of shape {given} for a tensor of shape {node.shape}",
        spans=[
            returned_span(getattr(function, "__code__", None), "returned by the hook"),
            at(node.location, "for this tensor"),
        ],
        fixes=f"return None to leave the gradient as it is, or a gradient of shape {node.shape}",
    )


def warn_of_nan(node: Node) -> None:
    """The gradient became NaN in the rule of the operation at `node`."""
    from gradtape.explain.emit.policy import report

    assert node.op is not None
    found = problem(
        "GT402",
        f"the gradient became NaN in the rule of {node.op.name!r}: zero times an infinite slope, or inf - inf",
        spans=[at(node.location)],
        notes=["this happens where gt.where does not take a branch whose slope is infinite"],
        fixes="keep its argument away from there, too: gt.where(ok, f(gt.where(ok, x, 1.0)), other)",
    )
    report(found)


__all__ = [
    "broken_rule",
    "warn_of_nan",
    "wrong_hook_shape",
    "wrong_rule_shape",
]
