"""Which location operations get that are executed by a gradient rule, or on behalf of another operation."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.graph import Node
from gradtape.core.location import Location, call_at, location_of_running_rule, overrides
from gradtape.core.operation import Op, apply

SEEN: list[Location | None] = []
RULES: dict[str, Any] = {"SEEN": SEEN, "location_of_running_rule": location_of_running_rule, "call_at": call_at}
# compiled as a file of the library, because the search ends at the first frame of the user's
LIBRARY = """
def reverse(g, node, out, inputs):
    SEEN.append(location_of_running_rule())
    return (g * 2.0,)

def reverse_elsewhere(g, node, out, inputs):
    return call_at(PLACE, reverse, g, node, out, inputs)
"""
exec(compile(LIBRARY, gt.__file__, "exec"), RULES)


def double(x: Any, rule: str = "reverse") -> Any:
    return apply(Op("double", lambda x: 2.0 * x, reverse=RULES[rule]), (x,), {})


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    SEEN.clear()
    assert overrides.innermost is None


@pytest.mark.parametrize("rule", ["reverse", "reverse_elsewhere"])
def test_a_rule_has_the_location_of_its_operation(rule: str) -> None:
    """It is known while the rule runs, also inside a call on behalf of another operation, and not afterwards."""
    x = gt.tensor(1.0, requires_grad=True)
    RULES["PLACE"] = x._node
    y = double(x, rule)
    line = sys._getframe().f_lineno - 1
    y.backward()
    (location,) = SEEN
    assert location is not None
    assert location.line == line
    assert location_of_running_rule() is None
    assert overrides.innermost is None


def test_a_rule_of_the_user_has_its_own_location() -> None:
    """The frames of a custom rule are the user's: an error in it is reported there."""

    @gt.custom_gradient
    def twice(x: Any) -> Any:
        def pull(g: Any) -> Any:
            SEEN.append(location_of_running_rule())
            return g * 2.0

        return x * 2.0, pull

    gt.grad(twice)(1.0)
    assert SEEN == [None]


def test_the_location_of_a_recorded_rule_is_that_of_its_operation() -> None:
    """Where the backward pass is recorded, its nodes tell that they belong to the derivative of an operation."""
    x = gt.tensor(1.0, requires_grad=True)
    y = double(x)
    line = sys._getframe().f_lineno - 1
    (gradient,) = gt.gradients(y * y, [x], create_graph=True)
    node: Node | None = gradient._node
    while node is not None and node.op is not None:
        if node.location.in_rule and node.location.line == line:
            return
        node = node.parents[0]
    pytest.fail("no node of the backward pass has the location of the operation")


def test_a_walk_that_fails_leaves_no_override() -> None:
    """An error in a rule ends the override with the walk."""
    x = gt.tensor(1.0, requires_grad=True)
    y = apply(Op("fails", np.negative, reverse=lambda *_: pytest.fail("inside")), (x,), {})
    with pytest.raises(pytest.fail.Exception, match="inside"):
        y.backward()
    assert overrides.innermost is None


def test_a_call_on_behalf_of_an_operation_has_its_location() -> None:
    """What is computed in `call_at` is recorded at the location of the node that it is given."""
    x = gt.tensor(1.0, requires_grad=True)
    y = x * 2.0
    RULES["x"] = x
    exec(compile("def compute():\n    return x * 3.0\n", gt.__file__, "exec"), RULES)
    z = call_at(y._node, RULES["compute"])
    assert (z._node.code, z._node.offset) == (y._node.code, y._node.offset)
