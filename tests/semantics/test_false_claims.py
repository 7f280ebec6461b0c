"""What is often said about gradients of tensors, and what is true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt


def gradient(compute: Callable[[Any], Any], value: Any, **how: Any) -> np.ndarray[Any, Any]:
    """The tape's gradient of `compute` at `value`; its shape and dtype are the variable's, whatever is computed."""
    x = gt.Variable(value)
    with gt.GradientTape() as tape:
        y = compute(x)
    answer = tape.gradient(y, x, **how)
    assert answer.shape == x.shape
    assert answer.dtype == x.dtype
    return answer.numpy()  # type: ignore[no-any-return]


SQUARE = np.array([[1.0, 2.0], [3.0, 4.0]])


class TestNineClaims:
    """One test for each claim, which states the true answer."""

    def test_scalar_times_sum_has_a_gradient(self) -> None:
        """A scalar times the sum of a 2x2 variable: every entry of the gradient is the scalar."""
        np.testing.assert_array_equal(gradient(lambda x: 3.0 * np.sum(x), SQUARE), np.full((2, 2), 3.0))

    def test_scalar_variable_times_sum(self) -> None:
        """The scalar can be a variable itself: its gradient is the sum, a scalar."""
        a, x = gt.Variable(3.0), gt.Variable(SQUARE)
        with gt.GradientTape() as tape:
            loss = a * np.sum(x)
        for_a, for_x = tape.gradient(loss, (a, x))
        assert for_a.shape == ()
        assert float(for_a) == 10.0
        np.testing.assert_array_equal(for_x.numpy(), np.full((2, 2), 3.0))

    @pytest.mark.parametrize("axis", [0, -1, (0, 1)])
    def test_extra_axis_makes_no_difference(self, axis: Any) -> None:
        """`expand_dims` on the loss before asking changes nothing."""
        plain = gradient(lambda x: np.sum(x * x), SQUARE)
        expanded = gradient(lambda x: np.expand_dims(np.sum(x * x), axis), SQUARE)
        np.testing.assert_array_equal(plain, 2 * SQUARE)
        np.testing.assert_array_equal(expanded, plain)

    def test_result_reshaped_to_one_by_one(self) -> None:
        """A scalar variable whose result is reshaped to (1, 1) on the tape has a scalar gradient."""
        answer = gradient(lambda x: np.reshape(x * x, (1, 1)), 3.0)
        assert answer.shape == ()
        assert answer == 6.0

    def test_flattening_before_a_sum(self) -> None:
        """(2, 2) flattened to (4,) and summed: ones of shape (2, 2)."""
        np.testing.assert_array_equal(gradient(lambda x: np.reshape(x, (4,)).sum(), SQUARE), np.ones((2, 2)))

    def test_gradient_of_a_reshape_is_reshaped_back(self) -> None:
        """A weight for each flattened element arrives at the element it belongs to."""
        weights = np.array([1.0, 2.0, 3.0, 4.0])
        answer = gradient(lambda x: (x.reshape(4) * weights).sum(), SQUARE)
        np.testing.assert_array_equal(answer, weights.reshape(2, 2))

    def test_transpose_then_reshape_is_exact(self) -> None:
        """The gradient runs through the inverse permutation."""
        value = np.arange(24.0).reshape(2, 3, 4)
        weights = np.arange(1.0, 25.0)
        answer = gradient(lambda x: (np.transpose(x, (2, 0, 1)).reshape(24) * weights).sum(), value)
        np.testing.assert_array_equal(answer, weights.reshape(4, 2, 3).transpose(1, 2, 0))

    def test_jacobian_of_a_sum_of_four(self) -> None:
        """It is one row of four ones: 1x4 for a result of shape (1,), (4,) for a scalar."""
        x = gt.Variable([1.0, 2.0, 3.0, 4.0])
        with gt.GradientTape(persistent=True) as tape:
            row = np.sum(x, keepdims=True)
            scalar = np.sum(x)
        np.testing.assert_array_equal(tape.jacobian(row, x).numpy(), np.ones((1, 4)))
        np.testing.assert_array_equal(tape.jacobian(scalar, x).numpy(), np.ones(4))
        np.testing.assert_array_equal(gt.jacobian(np.sum)(np.arange(4.0)), np.ones(4))

    def test_mean_loss_over_ten_examples_is_a_scalar(self) -> None:
        """Cross entropy averaged over ten examples has shape () and can be sent back without a seed."""
        logits = gt.tensor(np.linspace(-1.0, 1.0, 30).reshape(10, 3), requires_grad=True)
        labels = np.arange(10) % 3
        loss = -gt.log_softmax(logits)[np.arange(10), labels].mean()
        assert loss.shape == ()
        loss.backward()
        expected = (gt.softmax(logits.detach()).numpy() - np.eye(3)[labels]) / 10
        np.testing.assert_allclose(logits.grad.numpy(), expected, rtol=1e-12)

    @pytest.mark.parametrize("shape", [(), (1,), (1, 1), (1, 1, 1)])
    def test_one_element_needs_no_seed(self, shape: tuple[int, ...]) -> None:
        """A one-element tensor of any rank can be sent back; only more than one element needs a seed."""
        x = gt.tensor(3.0, requires_grad=True)
        (x * x).reshape(shape).backward()
        assert x.grad.shape == ()
        assert float(x.grad) == 6.0

    def test_wrong_seed_is_refused_where_it_enters(self) -> None:
        """A scalar seed for a (20, 20) target is refused at once, with both shapes, not in a reshape later on."""
        x = gt.Variable(np.ones(400))
        with gt.GradientTape() as tape:
            y = np.tanh(x).reshape(20, 20) * 2.0
        with pytest.raises(gt.ShapeError) as caught:
            tape.gradient(y, x, output_gradients=1.0)
        message = str(caught.value)
        assert "shape ()" in message
        assert "(20, 20)" in message
        assert "output_gradients=np.broadcast_to(1.0, (20, 20))" in message
        assert "the requested shape" not in message

    def test_wrong_gradient_is_blamed_on_the_rule_that_made_it(self) -> None:
        """A reduced gradient that is injected on the way is refused on that edge, by name."""
        x = gt.tensor(np.ones(400), requires_grad=True)
        y = np.tanh(x)
        y.register_hook(lambda g: g.sum())
        with pytest.raises(gt.RuleError) as caught:
            y.reshape(20, 20).sum().backward()
        message = str(caught.value)
        assert "hook" in message
        assert "shape ()" in message
        assert "(400,)" in message

    @pytest.mark.parametrize(
        "compute",
        [
            lambda x: x.reshape(6).reshape(3, 2).T.reshape(1, 6, 1).sum(),
            lambda x: np.expand_dims(x.sum(axis=0), 0).reshape(3, 1),
            lambda x: (x[:, None] * x[None]).reshape(-1)[2:7].reshape(5, 1),
            lambda x: np.squeeze(x.sum(keepdims=True)).reshape(1, 1),
            lambda x: np.broadcast_to(x.reshape(2, 1, 3), (2, 4, 3)).reshape(24),
        ],
    )
    def test_built_in_operations_never_lose_the_shape(self, compute: Callable[[Any], Any]) -> None:
        """However the result is reshaped, sliced or stretched, the gradient has the variable's shape."""
        value = np.arange(6.0).reshape(2, 3)
        seed = np.ones(compute(gt.tensor(value)).shape)
        np.testing.assert_allclose(gradient(compute, value), gt.vjp(compute, value)[1](seed)[0])


class TestAlsoTrue:
    """What is to be known instead."""

    def test_tensor_target_means_its_sum(self) -> None:
        """The gradient of a tensor is the gradient of its sum."""
        np.testing.assert_array_equal(
            gradient(lambda x: np.sin(x), SQUARE), gradient(lambda x: np.sum(np.sin(x)), SQUARE)
        )

    def test_seed_of_ones_is_the_default(self) -> None:
        """`output_gradients` of ones is what no `output_gradients` means."""
        ones = gradient(lambda x: np.exp(x), SQUARE, output_gradients=np.ones((2, 2)))
        np.testing.assert_array_equal(ones, gradient(lambda x: np.exp(x), SQUARE))

    def test_seed_weighs_the_rows_of_the_jacobian(self) -> None:
        """A seed v gives v @ J: a vector-Jacobian product."""
        matrix, seed = np.arange(6.0).reshape(2, 3), np.array([5.0, -1.0])
        x = gt.Variable([1.0, 2.0, 3.0])
        with gt.GradientTape(persistent=True) as tape:
            y = matrix @ (x * x)
        jacobian = tape.jacobian(y, x).numpy()
        np.testing.assert_allclose(tape.gradient(y, x, output_gradients=seed).numpy(), seed @ jacobian)
        np.testing.assert_allclose(jacobian, matrix * [2.0, 4.0, 6.0])

    def test_gradient_never_builds_the_jacobian(self) -> None:
        """A hundred thousand outputs by a hundred thousand inputs: the Jacobian would need 80 gigabytes."""
        answer = gradient(lambda x: x * x, np.ones(100_000))
        np.testing.assert_array_equal(answer, np.full(100_000, 2.0))

    def test_picking_one_element(self) -> None:
        """One 1 among zeros."""
        np.testing.assert_array_equal(gradient(lambda x: x[1, 0], SQUARE), [[0.0, 0.0], [1.0, 0.0]])

    def test_mean_of_n(self) -> None:
        """Each of n elements gets 1/n."""
        np.testing.assert_array_equal(gradient(np.mean, np.arange(5.0)), np.full(5, 0.2))

    def test_no_path_gives_none(self) -> None:
        """Where nothing connects, the answer is None."""
        x, y = gt.Variable(1.0), gt.Variable(2.0)
        with gt.GradientTape() as tape:
            loss = x * x
        assert tape.gradient(loss, [x, y])[1] is None

    def test_cross_entropy_of_one_example_is_a_scalar(self) -> None:
        """Picking the label's log-probability of one example leaves shape ()."""
        logits = gt.tensor([0.5, -1.0, 2.0], requires_grad=True)
        loss = -gt.log_softmax(logits)[2]
        assert loss.shape == ()
        loss.backward()
        np.testing.assert_allclose(logits.grad.numpy(), gt.softmax(logits.detach()).numpy() - [0.0, 0.0, 1.0])
