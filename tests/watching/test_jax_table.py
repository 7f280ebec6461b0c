"""JAX's operations in the names of gradtape's table, which needs no JAX."""

from __future__ import annotations

import pytest

from gradtape.core.rules import TABLE
from gradtape.watching.jax.operations import CONSTANT, FUNCTIONS, PRIMITIVES, describe, function_name, kind_of


def test_names_are_those_of_the_table() -> None:
    """What a primitive or a function is called is an operation of gradtape's, or one that detectors know by name."""
    known = {*TABLE, "convolution", "setitem"}
    assert {*PRIMITIVES.values(), *FUNCTIONS.values()} <= known


@pytest.mark.parametrize(
    ("axes", "result", "axis", "keepdims"),
    [((1,), (3,), (1,), False), ((0, 1), (), None, False), ((1,), (3, 1), (1,), True)],
    ids=["one", "all", "kept"],
)
def test_axes_of_reductions(
    axes: tuple[int, ...], result: tuple[int, ...], axis: tuple[int, ...] | None, keepdims: bool
) -> None:
    """A sum has the axis of gradtape's table: a tuple, and None for all."""
    found = describe("reduce_sum", {"axes": axes}, [(3, 4)], result)
    assert (found.name, found.params) == ("sum", {"axis": axis, "keepdims": keepdims})


def test_an_added_axis_is_an_index_with_none() -> None:
    """`x[:, None]`, which JAX executes as a broadcast, is told from a stretched axis."""
    added = describe("broadcast_in_dim", {"broadcast_dimensions": (0,)}, [(4,)], (4, 1))
    assert (added.name, added.params["index"]) == ("getitem", (slice(None), None))
    assert describe("broadcast_in_dim", {"broadcast_dimensions": (1,)}, [(4,)], (3, 4)).name == "broadcast_to"


def test_the_branches_of_where_are_in_the_order_of_numpy() -> None:
    """`select_n` has the branch for false first."""
    found = describe("select_n", {}, [(4,), (4,), (4,)], (4,))
    assert (found.name, found.order) == ("where", (0, 2, 1))


def test_steps_have_no_derivative() -> None:
    """Comparisons, roundings and positions are known to end a gradient."""
    assert {"argmax", "round", "greater", "sign", "stop_gradient"} <= CONSTANT
    assert kind_of("subtract") == kind_of(function_name("true_divide")) == "elementwise"
