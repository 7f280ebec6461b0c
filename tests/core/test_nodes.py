"""What explanations read of recorded operations."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import explain_hooks
from gradtape.core.explain_hooks import LOOKS_AT_MOST, is_nan, suspect, suspects, times_cleared
from gradtape.core.graph import Node


class Unevaluated:
    """A number that `jit` has not computed yet."""

    size = 1

    def __init__(self, number: float, is_checked_later: bool) -> None:
        self.number, self.is_checked_later = number, is_checked_later

    def check_later(self, check: str) -> bool:
        assert check == "target"
        return self.is_checked_later

    def evaluate(self) -> Any:
        return np.array(self.number)


def recorded() -> tuple[Any, Any, Node]:
    """Two leaves, and the node of an operation on one of them and an array."""
    x = gt.tensor([[1.0, 2.0]], requires_grad=True)
    weights = np.array([[3.0], [4.0]])
    return x, weights, (x * weights)._node


def test_operands_have_shapes_dtypes_and_whether_they_are_tracked() -> None:
    """Also of arrays that are locked, of numbers, and of what was not saved."""
    x, weights, node = recorded()
    tracked, constant = node.operands
    assert (tracked.shape, tracked.dtype, tracked.is_tracked) == ((1, 2), np.dtype(float), True)
    assert (constant.shape, constant.dtype, constant.is_tracked) == ((2, 1), np.dtype(float), False)
    number = (x * 3)._node.operands[1]
    assert (number.shape, number.dtype, number.is_tracked) == ((), np.dtype(int), False)
    unsaved = (x + weights)._node.operands[1]
    assert (unsaved.shape, unsaved.dtype, unsaved.is_tracked) == (None, None, False)


def test_saved_values_can_be_read_and_others_are_none() -> None:
    """A product saves its operands where they are needed, an exponential its result, a sum neither."""
    x, weights, node = recorded()
    assert node.operand_value(0) is None
    assert node.operand_value(1) is weights
    assert node.operand_value(2) is None
    assert node.value() is None
    np.testing.assert_array_equal(np.exp(x)._node.value(), np.exp([[1.0, 2.0]]))
    assert np.sum(x)._node.operand_value(0) is None


def test_a_node_tells_whether_it_has_its_values() -> None:
    """It has none after the backward pass that freed them, and a leaf never had any."""
    x, weights, _ = recorded()
    y = np.sum(x * weights)
    product = y._node.parents[0]
    assert product.has_values
    assert not x._node.has_values
    y.backward()
    assert not product.has_values


def test_origins_of_an_operation_are_its_parents_and_are_never_lost() -> None:
    """A node holds them; a cut does not, and can tell."""
    x, _, node = recorded()
    assert x._node in list(node.origins())
    assert not node.is_cut
    assert not node.has_lost_origins
    y = x * 2.0
    left = y.detach()._node
    assert left.is_cut
    assert list(left.origins()) == [y._node]
    assert not left.has_lost_origins
    del y
    gc.collect()
    assert list(left.origins()) == []
    assert left.has_lost_origins


def test_facts_of_a_node() -> None:
    """Name, kind and flags are those of the operation, or of a leaf."""
    x, _, node = recorded()
    variable = gt.Variable(1.0)
    assert (node.operation, node.kind, node.is_differentiable, node.requires_grad) == (
        *("multiply", "elementwise", True, True),
    )
    assert (x._node.operation, x._node.kind, x._node.is_differentiable) == ("", "", False)
    assert (variable._node.is_variable, node.is_variable) == (True, False)
    assert gt.tensor(1.0)._node.is_shared
    assert not node.is_shared
    assert node.ndim == 2


def test_a_result_that_was_cleared_often_is_not_judged_again() -> None:
    """At one place and with one shape, it is looked at a limited number of times."""
    _, _, node = recorded()
    key = (id(node.code), node.offset, node.shape)
    suspects.clear()
    suspect(node)
    assert [reference() for reference in suspects] == [node]
    times_cleared[key] = LOOKS_AT_MOST
    try:
        suspect(node)
    finally:
        del times_cleared[key]
    assert len(suspects) == 1
    suspects.clear()


@pytest.mark.parametrize("number", [1.0, np.nan])
def test_target_that_is_computed_later_is_checked_then(number: float) -> None:
    """Of a number that `jit` has not computed, it makes the check itself, or computes the number for it."""
    assert is_nan([Unevaluated(number, is_checked_later=False)]) is bool(np.isnan(number))
    assert not is_nan([Unevaluated(number, is_checked_later=True)])
    assert is_nan([np.array(number)]) is bool(np.isnan(number))
    assert not is_nan(["no number", np.array([number, number])])


def test_zeros_and_numbers_that_are_not_finite_are_found() -> None:
    """A gradient that is zero everywhere or infinite somewhere is worth a look; a healthy one is not."""
    healthy = np.array([0.0, 1.0])
    assert not explain_hooks.any_zero_or_nonfinite([healthy, None, np.empty(0)])
    for doubtful in (np.zeros(2), np.array([1.0, np.inf]), np.array([np.nan, 1.0])):
        assert explain_hooks.any_zero_or_nonfinite([healthy, doubtful])


@pytest.mark.parametrize("value", [np.ones(1000, int), "text", None])
def test_what_is_no_array_of_floating_point_numbers_counts_as_finite(value: Any) -> None:
    """There is no NaN and no infinity in it."""
    assert explain_hooks.is_finite(value)


def test_large_numbers_whose_squares_overflow_are_finite() -> None:
    """A large array is multiplied with itself, and looked through where that is infinite."""
    assert explain_hooks.is_finite(np.full(1000, 1e200))
    assert not explain_hooks.is_finite(np.append(np.full(1000, 1e200), np.inf))
