"""Batches: tensors that stand for one example, what they refuse, and operations without a batching rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import recording
from gradtape.core.batch import BatchLevel, apply_to_each_example
from gradtape.core.operation import Op, apply

BATCH = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def test_a_copy_of_an_example_is_on_no_tape() -> None:
    """`gt.tensor(x)` inside `vmap` is a batch, as `x` is, and the gradient ends there; its dtype can be another one."""

    def function(x: Any) -> Any:
        return np.sum(gt.tensor(x) * x * x)

    np.testing.assert_array_equal(gt.vmap(function)(BATCH), np.sum(BATCH**3, axis=1))
    np.testing.assert_array_equal(gt.vmap(gt.grad(function))(BATCH), 2.0 * BATCH**2)
    np.testing.assert_array_equal(gt.grad(lambda batch: np.sum(gt.vmap(function)(batch)))(BATCH), 2.0 * BATCH**2)
    single = gt.vmap(lambda x: gt.tensor(x, dtype=np.float32))(BATCH)
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, BATCH)


def test_a_variable_cannot_hold_a_batch() -> None:
    """A write of one example into a variable is refused, with the shape of an example, and leaves the value."""
    variable = gt.Variable([0.0, 0.0])

    def function(x: Any) -> Any:
        variable[:] = x
        return x

    with gt.no_grad(), pytest.raises(gt.GradTapeError, match=r"stands for 3 examples at once \(each of shape \(2,\)\)"):
        gt.vmap(function)(BATCH)
    np.testing.assert_array_equal(variable.numpy(), [0.0, 0.0])


def test_a_tensor_in_a_batch_may_become_the_same_for_all_examples() -> None:
    """A view of a batched tensor that is overwritten with a constant is computed of that constant."""

    def function(x: Any) -> Any:
        y = x * 2.0
        view = y[:1]
        y[:] = np.array([7.0, 8.0])
        return view + x

    np.testing.assert_array_equal(gt.vmap(function)(BATCH), 7.0 + BATCH)


def test_a_tensor_may_be_written_over_by_one_of_no_batch() -> None:
    """What `out` has after an operation on constants is the same for all examples, and has no gradient."""

    def function(x: Any) -> Any:
        y = x * 2.0
        np.add(gt.tensor([1.0, 2.0]), 1.0, out=y)
        assert type(y) is gt.Tensor
        return np.sum(y * x)

    np.testing.assert_array_equal(gt.vmap(function)(BATCH), BATCH @ [2.0, 3.0])
    np.testing.assert_array_equal(gt.vmap(gt.grad(function))(BATCH), [[2.0, 3.0]] * 3)


def test_several_results_are_batches_each() -> None:
    """Eigenvalues and eigenvectors of each example, together."""
    matrices = np.array([[[2.0, 1.0], [1.0, 2.0]], [[1.0, 0.0], [0.0, 5.0]]])

    def rebuilt(matrix: Any) -> Any:
        values, vectors = np.linalg.eigh(matrix)
        return values, vectors * values @ vectors.T

    values, products = gt.vmap(rebuilt)(matrices)
    np.testing.assert_allclose(values, [[1.0, 3.0], [1.0, 5.0]])
    np.testing.assert_allclose(products, matrices, atol=1e-12)


def halves(x: Any) -> tuple[Any, Any]:
    middle = x.shape[0] // 2
    return np.cumsum(x[:middle]), np.cumsum(x[middle:])


@pytest.mark.parametrize("size", [0, 1, 3])
def test_operation_without_a_batching_rule_runs_example_by_example(size: int) -> None:
    """Each result is stacked; of no examples, it has the shape that one would have."""
    one, several = Op("cumulated", np.cumsum), Op("halves", halves, outputs=True)
    batch = np.arange(4.0 * size).reshape(size, 4)

    np.testing.assert_array_equal(apply_to_each_example(one, [True], [batch], {}), np.cumsum(batch, axis=1))
    first, second = apply_to_each_example(several, [True], [batch], {})
    np.testing.assert_array_equal(first, np.cumsum(batch[:, :2], axis=1))
    np.testing.assert_array_equal(second, np.cumsum(batch[:, 2:], axis=1))


def test_levels_are_known_while_they_live() -> None:
    """A value that is computed inside a batch may be followed: `may_record` says so until the batch is over."""
    before = set(recording.interpreters)
    level = BatchLevel(2)
    assert recording.interpreters == {*before, id(level)}
    assert recording.may_record()
    del level
    assert recording.interpreters == before


def test_list_of_numbers_meets_an_example() -> None:
    """A list is an operand that all examples share."""
    found = gt.vmap(lambda x: apply(gt.ops.add, (x, [10.0, 20.0]), {}))(BATCH)
    np.testing.assert_array_equal(found, BATCH + np.array([10.0, 20.0]))


@pytest.mark.parametrize("leaf", [lambda x: gt.tensor(x, requires_grad=True), lambda x: x.requires_grad_()])
def test_an_example_is_no_leaf_of_backward(leaf: Any) -> None:
    """`.backward()` records nothing of the examples of a batch: said at once, with what works there."""
    with pytest.raises(gt.OperandError, match=r"gt\.grad\(loss\)\(x\) inside of gt\.vmap"):
        gt.vmap(leaf)(np.ones((2, 3)))
    np.testing.assert_array_equal(gt.vmap(gt.grad(lambda x: np.sum(x * x)))(np.ones((2, 3))), np.full((2, 3), 2.0))


def test_rounding_a_number_gives_an_integer_and_in_a_batch_the_numbers() -> None:
    """`round(x)` of a number is an int, as in Python and NumPy; the examples of a batch are rounded as they are."""
    assert type(round(gt.tensor([1.2, 2.6]).sum())) is int
    np.testing.assert_array_equal(gt.vmap(lambda x: x * round(x))(np.array([1.25, 2.75])), [1.25, 8.25])
    np.testing.assert_array_equal(gt.vmap(lambda x: round(x, 1))(np.array([1.26, 2.74])), [1.3, 2.7])
