"""The declarations of operations: what rules return, and what becomes of it, in both modes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import rules


@pytest.fixture
def declared() -> Iterator[None]:
    """Operations that the test declares are taken out of the table again."""
    before = dict(rules.TABLE)
    yield
    for name in set(rules.TABLE) - set(before):
        del rules.TABLE[name]


@pytest.mark.usefixtures("declared")
def test_input_without_a_partial_has_no_gradient() -> None:
    """The others have theirs; large arrays have another version of the rule, with the same numbers."""
    steered = rules.elementwise(lambda x, y: x * np.sign(y), lambda y: np.sign(y), None, name="steered")
    for size in (3, 20_000):
        x, y = gt.tensor(np.ones(size), requires_grad=True), gt.tensor(-np.ones(size), requires_grad=True)
        np.sum(steered(x, y)).backward()
        np.testing.assert_array_equal(x.grad, -np.ones(size))
        assert y.grad is None


@pytest.mark.usefixtures("declared")
def test_tangents_of_several_results_are_stretched_and_cast() -> None:
    """A forward rule may return a number for a whole result, in another dtype, and None for a result that stays."""
    split = rules.general(
        lambda x: (x + 1.0, np.full(3, x), np.sign(x)),
        reverse=lambda g: g[0] + np.sum(g[1]),
        forward=lambda dx: (dx, np.float32(dx), None),
        name="split",
        outputs=True,
    )
    x = gt.tensor(2.0)
    with gt.ForwardAccumulator(x, 5.0) as accumulator:
        moved, spread, sign = split(x)
    assert float(accumulator.jvp(moved)) == 5.0
    stretched = accumulator.jvp(spread)
    assert (stretched.shape, stretched.dtype) == ((3,), np.float64)
    np.testing.assert_array_equal(stretched, np.full(3, 5.0))
    assert accumulator.jvp(sign) is None

    leaf = gt.tensor(2.0, requires_grad=True)
    moved, spread, _ = split(leaf)
    (moved + 2.0 * np.sum(spread)).backward()
    assert float(leaf.grad) == 7.0


def test_results_of_a_matrix_function_move_together() -> None:
    """The tangents of `eigh` are those of finite differences, for values and vectors."""
    matrix, direction = np.array([[2.0, 0.5], [0.5, -1.0]]), np.array([[0.3, 0.1], [0.1, 0.7]])
    (_, vectors), (moved_values, moved_vectors) = gt.jvp(lambda m: tuple(np.linalg.eigh(m)), (matrix,), (direction,))
    ahead, behind = (np.linalg.eigh(matrix + step * direction) for step in (1e-6, -1e-6))
    np.testing.assert_allclose(moved_values, (ahead[0] - behind[0]) / 2e-6, rtol=1e-6)
    for i in range(2):  # the projection on a vector has no sign to choose
        moved = np.outer(moved_vectors[:, i], vectors[:, i])
        expected = (np.outer(ahead[1][:, i], ahead[1][:, i]) - np.outer(behind[1][:, i], behind[1][:, i])) / 2e-6
        np.testing.assert_allclose(moved + moved.T, expected, rtol=1e-5, atol=1e-9)


def test_a_linear_map_has_the_tangents_of_several_results() -> None:
    """`linearize` walks forward over the graph: each part has its tangent, what only steers has none."""

    def function(matrix: Any, sign: Any) -> Any:
        direction, logarithm = np.linalg.slogdet(matrix)
        return direction * logarithm, np.sum(np.copysign(np.ones(2), sign))

    matrix = np.array([[2.0, 1.0], [0.0, 4.0]])
    value, push = gt.linearize(function, matrix, np.ones(2))
    assert float(value[0]) == pytest.approx(np.log(8.0))
    moved, steered = push(np.eye(2), np.ones(2))
    assert float(moved) == pytest.approx(1 / 2 + 1 / 4)  # the trace of the inverse
    assert float(steered) == 0.0


@pytest.mark.usefixtures("declared")
def test_constant_operation_ends_the_gradient() -> None:
    """What is computed of it has none."""
    rounded = rules.constant(np.rint, name="rounded")
    x = gt.tensor([1.4, 2.6], requires_grad=True)
    assert not rounded(x).requires_grad
    np.testing.assert_array_equal(rounded(x).numpy(), [1.0, 3.0])
    np.sum(x * rounded(x)).backward()
    np.testing.assert_array_equal(x.grad, [1.0, 3.0])
