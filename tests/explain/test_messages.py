"""What messages say about common slips: parentheses, order, returns, texts; and near misses that are no slips."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
import gradtape.nn.functional as F


def test_a_tape_without_parentheses() -> None:
    """`with gt.GradientTape as tape` says that the parentheses are missing."""
    with pytest.raises(TypeError, match="GT315") as caught, gt.GradientTape:  # type: ignore[attr-defined]
        raise AssertionError("the block is never entered")
    assert "gt.GradientTape()" in caught.value.problem.fixes[0]  # type: ignore[attr-defined]


def test_a_method_that_was_not_called() -> None:
    """A target that is a method is told by the parentheses, by the name that it has."""
    w = gt.Variable([1.0, 2.0])
    with gt.GradientTape() as tape:
        total = (w**2).sum
    with pytest.raises(gt.UntrackedError) as caught:
        tape.gradient(total, w)
    assert caught.value.problem.fixes == ("call it, with parentheses: total()",)


def test_a_watched_array_whose_tensor_was_dropped() -> None:
    """The line that dropped what `watch` returned is shown; where there is none, only the line that asks."""
    x, y = np.ones(3), np.ones(3)
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        loss = tape.watch(np.ones(3)).sum()
    with pytest.raises(gt.OperandError) as caught:
        tape.gradient(loss, x)
    assert [span.text for span in caught.value.problem.spans] == ["tape.gradient(loss, x)", "tape.watch(x)"]
    with pytest.raises(gt.OperandError) as caught:
        tape.gradient(loss, y)
    assert [span.text for span in caught.value.problem.spans] == ["tape.gradient(loss, y)"]


def test_logits_and_labels_in_the_wrong_order() -> None:
    """Labels given as logits are told by the call with both in each other's place; integer logits are no slip."""
    labels, logits = np.array([0, 2]), gt.tensor(np.ones((2, 3)))
    with pytest.raises(gt.ShapeError) as caught:
        F.cross_entropy(labels, logits)
    assert caught.value.problem.fixes[0] == "F.cross_entropy(logits, labels)"
    assert caught.value.problem.fixes[0].is_edit
    assert np.isfinite(F.cross_entropy(np.ones((2, 3), int), labels))
    assert np.isfinite(F.cross_entropy(np.array([1, 2]), np.array([0.5, 0.5])))


def test_labels_in_a_column_of_floats() -> None:
    """A column of float labels is told to be integers without that axis."""
    with pytest.raises(gt.ShapeError) as caught:
        F.cross_entropy(np.ones((2, 3)), labels := np.array([[0.0], [1.0]]))
    assert "[:, 0].astype(int)" in caught.value.problem.fixes[0]
    assert np.isfinite(F.cross_entropy(np.ones((2, 3)), labels[:, 0].astype(int)))


def test_an_id_beyond_the_table() -> None:
    """An embedding speaks of ids and rows, and of how many rows would do; a loss still speaks of labels."""
    with pytest.raises(gt.IndexingError, match="3 rows") as caught:
        F.embedding(np.array([0, 3]), gt.tensor(np.ones((3, 2))))
    assert "Embedding(4, ...)" in caught.value.problem.fixes[0]
    with pytest.raises(gt.IndexingError, match="labels are out of range; there are 3 classes"):
        F.cross_entropy(np.ones((1, 3)), np.array([3]))


def test_gradients_where_variables_are_wanted() -> None:
    """A step that was given the gradients alone is told that it wants both."""
    w = gt.Variable([1.0])
    with pytest.raises(gt.OperandError) as caught:
        gt.optim.SGD(0.1).step(gt.tensor([1.0]))
    assert caught.value.problem.fixes[0].startswith("step(variables, gradients)")
    with pytest.raises(gt.OperandError) as caught:
        gt.optim.SGD(0.1).step(gt.tensor([1.0]), w)
    assert "if this is a gradient" not in caught.value.problem.fixes[0]


def test_texts_where_numbers_are_wanted() -> None:
    """Texts of numbers are told to be converted, in the user's expression; other texts are no numbers at all."""
    w = gt.Variable([1.0, 2.0])
    X = np.array([["1.0", "2.0"]])
    with pytest.raises(gt.OperandError, match="X holds texts") as caught:
        X @ w
    assert caught.value.problem.fixes == ("X.astype(float) @ w",)
    X = np.array([["one", "2.0"]])
    with pytest.raises(gt.OperandError) as caught:
        X @ w
    assert not caught.value.problem.fixes[0].is_edit


def test_an_array_of_objects() -> None:
    """An array of rows of different lengths is told by those lengths; one of numbers by its conversion."""
    rows = np.array([np.ones(2), np.ones(3)], dtype=object)
    with pytest.raises(gt.DtypeError, match=r"rows is an array of Python objects") as caught:
        rows * gt.Variable(2.0)
    assert "one length" in caught.value.problem.fixes[0]
    rows = np.array([1.0, 2.0], dtype=object)
    with pytest.raises(gt.DtypeError) as caught:
        rows * gt.Variable(2.0)
    assert caught.value.problem.fixes[0].startswith("rows.astype(float)")


class _Silent(gt.nn.Module):
    def forward(self, x: Any) -> Any:
        x * 2.0


class _Assigning(gt.nn.Module):
    def forward(self, x: Any) -> Any:
        result = x * 2.0  # noqa: F841


class _Counting(gt.nn.Module):
    def __init__(self) -> None:
        self.count = 0

    def forward(self, x: Any) -> None:
        self.count += 1


class _Maybe(gt.nn.Module):
    def forward(self, x: Any) -> Any:
        if x is None:
            return None
        x * 2.0


def test_a_forward_that_drops_what_it_computes() -> None:
    """A forward without a return says so where it ends in a value; one with an effect, or a return, may be meant."""
    for kind in (_Silent, _Assigning):
        with pytest.raises(gt.OperandError, match="GT311") as caught:
            kind()(np.ones(2))
        assert caught.value.problem.fixes == ("return x * 2.0",)
    counting = _Counting()
    assert counting(np.ones(2)) is None
    assert counting.count == 1
    assert _Maybe()(np.ones(2)) is None


def test_a_stack_of_rows_of_different_lengths_is_padded() -> None:
    """Advice for a ragged stack begins with padding, and that works."""
    rows = [gt.tensor(np.ones((n, 2))) for n in (3, 1)]
    with pytest.raises(gt.ShapeError) as caught:
        np.stack(rows)
    assert "np.pad(x, ((0, 3 - len(x)), (0, 0)))" in caught.value.problem.fixes[0]
    assert np.stack([np.pad(x, ((0, 3 - len(x)), (0, 0))) for x in rows]).shape == (2, 3, 2)


def test_attention_of_other_features() -> None:
    """The layer that would fit is named if all inputs have the same features and the heads divide them."""
    layer = gt.nn.MultiheadAttention(10, 2, rng=np.random.default_rng(0))
    with pytest.raises(gt.ShapeError) as caught:
        layer(*[np.ones((7, 3, 12))] * 3)
    assert caught.value.problem.fixes[0].startswith("MultiheadAttention(12, 2)")
    with pytest.raises(gt.ShapeError) as caught:
        layer(*[np.ones((7, 3, 11))] * 3)
    assert caught.value.problem.fixes[0].startswith("kdim")


def test_what_a_function_of_the_users_returned() -> None:
    """A right-hand side and the body of a loop are shown at their `return`."""

    def slope(y: Any, t: Any) -> Any:
        return np.ones(3)

    def body(carry: Any, x: Any) -> Any:
        carry = carry[None]
        return carry, None

    with pytest.raises(gt.ShapeError) as caught:
        gt.odeint(slope, np.ones(2), np.linspace(0, 1, 3))
    assert caught.value.problem.main.text == "np.ones(3)"
    with pytest.raises(gt.ShapeError) as caught:
        gt.scan(body, np.ones(2), np.ones(4))
    assert caught.value.problem.main.source == "return carry, None"


def test_a_result_of_another_dtype_in_place() -> None:
    """Written in place, a value of a dtype that does not fit is an error of dtypes; one of a shape, of shapes."""
    x = gt.tensor(np.array([1, 2], np.int8))
    with pytest.raises(gt.DtypeError, match="GT314"):
        x += 1.5
    with pytest.raises(gt.ShapeError, match="GT110"):
        x += np.ones((3, 2), np.int8)
