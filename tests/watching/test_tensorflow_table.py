"""The table of TensorFlow's operations, which needs no TensorFlow."""

from __future__ import annotations

from typing import Any

import pytest

from gradtape.watching.tensorflow.operations import ELEMENTWISE_PAIRS, STEPS, TABLE


def constants(*values: Any) -> Any:
    """The inputs of an operation as `Row.parameters` asks for them."""
    return lambda index: values[index] if -len(values) <= index < len(values) else None


def parameters(kind: str, attributes: dict[str, Any], inputs: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    """The parameters of gradtape's operation."""
    row = TABLE[kind]
    assert row.parameters is not None
    return row.parameters(attributes, inputs, shape)


@pytest.mark.parametrize(
    ("given", "axis"), [([1], (1,)), ([-1], (1,)), ([0, 1], None), (0, (0,))], ids=["one", "negative", "all", "number"]
)
def test_axes_of_reductions_are_counted_from_the_front(given: Any, axis: Any) -> None:
    """A sum over all axes has the axis None, as in gradtape's table."""
    found = parameters("Sum", {"keep_dims": True}, constants(None, given), (3, 4))
    assert found == {"axis": axis, "keepdims": True}


def test_masks_of_strided_slice_become_an_index() -> None:
    """`x[:, None, 2, ...]` is read from the masks of StridedSlice."""
    attributes = {"begin_mask": 1, "end_mask": 1, "new_axis_mask": 2, "shrink_axis_mask": 4, "ellipsis_mask": 8}
    inputs = constants(None, [0, 0, 2, 0], [0, 1, 3, 0], [1, 1, 1, 1])
    assert parameters("StridedSlice", attributes, inputs, (5, 6, 7))["index"] == (slice(None), None, 2, ...)


def test_an_added_axis_is_an_index_with_none() -> None:
    """tf.expand_dims(x, 1) is x[:, None]."""
    assert parameters("ExpandDims", {}, constants(None, 1), (3, 4))["index"] == (slice(None), None, slice(None))


def test_steps_and_pairs_are_in_the_table() -> None:
    """What broadcasts, and what has no gradient, has a name of gradtape's."""
    assert set(TABLE) >= ELEMENTWISE_PAIRS
    assert set(STEPS) - {"Where", "IsNan", "IsInf", "IsFinite"} <= set(TABLE)
