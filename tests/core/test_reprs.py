"""What the parts of the kernel look like, to those who print them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.operation import Op


def test_an_operation_is_shown_by_its_name() -> None:
    """A row of the table prints as what it is called."""
    assert repr(Op("halve", lambda x: x / 2)) == "<operation halve>"


def test_one_of_a_batch_shows_its_own_shape() -> None:
    """Inside `vmap` a tensor prints with the shape of one example, and of how many it is."""
    shown: list[str] = []

    def look(x: Any) -> Any:
        shown.append(repr(x))
        return x

    gt.vmap(look)(np.ones((3, 2)))
    assert shown == ["BatchTensor(shape=(2,), dtype=float64, one of 3)"]


def test_a_rule_of_another_shape_is_blamed_on_the_edge() -> None:
    """A cotangent that has not the shape of the input is refused, with both shapes and the operation."""
    halve = Op(
        "halve",
        lambda x: x / 2,
        reverse=lambda g, node, out, inputs: (g[:1],),
        needs=(frozenset(),),
    )
    x = gt.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(gt.RuleError, match=r"(?s)'halve' returned shape \(1,\) for argument 0, which has shape \(2,\)"):
        gt.sum(halve(x)).backward()
