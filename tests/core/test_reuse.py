"""A cotangent that nobody else holds is written over. Somebody who does hold it must never notice."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import backprop, batch
from gradtape.core.references import COUNTS_LOCALS
from gradtape.core.rules import _parameters

LARGE = backprop.LARGE // 8 + 1  # elements of double precision


@pytest.fixture
def x() -> gt.Tensor:
    return gt.tensor(np.linspace(0.1, 1.0, LARGE), requires_grad=True)


def overwritten(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The arrays that the walk writes over from now on, as sums go."""
    seen: list[Any] = []
    decide = backprop.is_spare

    def spy(holders: int, array: Any) -> bool:
        spare = decide(holders, array)
        seen.extend([array] if spare else [])
        return spare

    monkeypatch.setattr(backprop, "is_spare", spy)
    return seen


def test_sums_reuse_the_memory_of_their_first_term(x: gt.Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three cotangents that meet in one tensor are added up in one array, where Python counts who holds it."""
    seen = overwritten(monkeypatch)
    (np.sin(x) + np.cos(x) + np.exp(x)).sum().backward()
    assert bool(seen) is COUNTS_LOCALS  # Python 3.14 does not count local variables: nothing is known to be spare
    np.testing.assert_allclose(x.grad, np.cos(x.numpy()) - np.sin(x.numpy()) + np.exp(x.numpy()))


def test_long_chains_of_large_arrays(x: gt.Tensor) -> None:
    """Written over a hundred times, the gradient is still the product of all slopes."""
    y: Any = x
    for _ in range(100):
        y = np.sin(y) * 1.01
    y.sum().backward()
    small = gt.tensor(np.asarray(x.detach())[::1000], requires_grad=True)
    z: Any = small
    for _ in range(100):
        z = np.sin(z) * 1.01
    z.sum().backward()
    np.testing.assert_array_equal(np.asarray(x.grad)[::1000], np.asarray(small.grad))


def test_seed_of_the_users_is_left_alone(x: gt.Tensor) -> None:
    """`output_gradients` is read, never written."""
    seed = np.full(LARGE, 2.0)
    (x * 3.0 * 4.0).backward(seed)
    np.testing.assert_array_equal(seed, 2.0)
    np.testing.assert_array_equal(x.grad, 24.0)


def test_one_cotangent_for_two_parents(x: gt.Tensor) -> None:
    """`x + y` hands the same array to both sides; one side's product must not show on the other's."""
    y = gt.tensor(np.ones(LARGE), requires_grad=True)
    (x * 2.0 + np.sin(y) * 3.0).sum().backward()
    np.testing.assert_array_equal(x.grad, 2.0)
    np.testing.assert_allclose(y.grad, 3.0 * np.cos(1.0))


def test_gradients_that_were_handed_out_stay(x: gt.Tensor) -> None:
    """What hooks, `retain_grad` and intermediate sources receive is theirs."""
    kept: list[Any] = []
    a: Any = np.sin(x)
    b = a * 2.0
    c = b * 5.0
    b.register_hook(kept.append)
    a.retain_grad()
    c.sum().backward()
    np.testing.assert_array_equal(kept[0], 5.0)
    np.testing.assert_array_equal(a.grad, 10.0)
    np.testing.assert_allclose(x.grad, 10.0 * np.cos(x.numpy()))


def test_intermediate_sources(x: gt.Tensor) -> None:
    """The gradient of a tensor on the way is not overwritten on the way further back."""
    with gt.GradientTape() as tape:
        start = tape.watch(np.ones(LARGE))
        middle = start * 3.0
        end = (middle * 7.0).sum()
    at_start, at_middle = tape.gradient(end, [start, middle])
    np.testing.assert_array_equal(at_middle, 7.0)
    np.testing.assert_array_equal(at_start, 21.0)


def test_saved_values_are_left_alone() -> None:
    """A persistent tape gives the same answer twice, though rules return what it saved."""
    with gt.GradientTape(persistent=True) as tape:
        x = tape.watch(np.linspace(1.0, 2.0, LARGE))
        y = (x * x * x).sum()
    first = np.asarray(tape.gradient(y, x)).copy()
    np.testing.assert_array_equal(tape.gradient(y, x), first)
    np.testing.assert_allclose(first, 3 * np.linspace(1.0, 2.0, LARGE) ** 2)


def test_second_order() -> None:
    """The walk that is itself recorded overwrites nothing that the second one needs."""
    second = gt.grad(lambda x: np.sum(gt.grad(lambda y: np.sum(np.sin(y) * y))(x)))
    at = np.linspace(0.0, 1.0, LARGE)
    np.testing.assert_allclose(second(at), 2 * np.cos(at) - at * np.sin(at))


class TestUnits:
    """The rows of a Jacobian start as unit vectors, and stay that for as long as it is cheaper."""

    @pytest.mark.parametrize(
        "function",
        [
            lambda x: np.tanh(np.arange(12.0).reshape(4, 3) @ x),
            lambda x: np.arange(12.0).reshape(4, 3) @ x - 1.0,
            lambda x: x @ np.arange(12.0).reshape(3, 4),
            lambda x: x**2 * 3.0,
            lambda x: x * 2.0,
            lambda x: x * np.ones((2, 3)),
            lambda x: x[::-1] * np.sum(x),
            lambda x: x.reshape(3, 1) * x,
            lambda x: np.outer(x, x) @ np.ones((3, 2)),
        ],
    )
    @pytest.mark.parametrize("transform", [gt.jacrev, gt.jacfwd])
    def test_jacobians(self, function: Any, transform: Any) -> None:
        """A Jacobian is what central differences say, whatever follows the unit vectors."""
        x = np.array([0.3, -0.5, 0.7])
        steps = 1e-6 * np.eye(3)
        columns = [(function(x + step) - function(x - step)) / 2e-6 for step in steps]
        np.testing.assert_allclose(transform(function)(x), np.stack(columns, -1), atol=1e-8)

    def test_second_order(self) -> None:
        """Weights that are on a tape stay on it."""
        found = gt.jacobian(gt.jacobian(lambda x: np.tanh(np.arange(6.0).reshape(2, 3) @ x)))(np.full(3, 0.1))
        again = gt.jacfwd(gt.jacfwd(lambda x: np.tanh(np.arange(6.0).reshape(2, 3) @ x)))(np.full(3, 0.1))
        np.testing.assert_allclose(found, again)

    def test_in_chunks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Too many rows at once go in chunks, as dense rows."""
        monkeypatch.setattr(batch, "CHUNK", 10)
        found = gt.jacrev(lambda x: np.sin(x) * x)(np.linspace(0.0, 1.0, 7))
        at = np.linspace(0.0, 1.0, 7)
        np.testing.assert_allclose(found, np.diag(np.cos(at) * at + np.sin(at)))

    def test_complex(self) -> None:
        """Conjugates are taken where they belong."""
        matrix = np.array([[1.0 + 2.0j, 0.5j], [2.0, 1.0 - 1.0j]])
        x = gt.tensor([1.0 + 0.0j, 2.0 - 1.0j])
        with gt.GradientTape(persistent=True) as tape:
            x = tape.watch(x)
            y = (matrix @ x) * 2.0
        rows = [np.asarray(tape.gradient(y, x, output_gradients=row)) for row in np.eye(2, dtype=complex)]
        np.testing.assert_allclose(tape.jacobian(y, x), np.stack(rows))

    def test_empty(self) -> None:
        """No outputs, no rows."""
        assert gt.jacrev(lambda x: x * 2.0)(np.zeros(0)).shape == (0, 0)


def test_dtype_that_is_equal_but_another_object(x: gt.Tensor) -> None:
    """A dtype with metadata equals the plain one; the cotangent is taken as it is."""
    tagged = np.dtype(float, metadata={"unit": "m"})

    @gt.custom_vjp
    def double(value: Any) -> Any:
        return value * 2.0

    double.defvjp(lambda value: (value * 2.0, None), lambda saved, g: ((g * 2.0).astype(tagged),))
    double(x).sum().backward()
    np.testing.assert_array_equal(x.grad, 2.0)


def test_numbers_that_meet_tensors() -> None:
    """A Python float is taken as an array from a small store: ever new ones, zeros of both signs, other dtypes."""
    x = gt.tensor([1.0, -2.0])
    for number in np.linspace(1.0, 2.0, 1100).tolist():
        np.testing.assert_array_equal((x * number).numpy(), x.numpy() * number)
    np.testing.assert_array_equal(np.signbit((x * -0.0).numpy()), [True, False])
    np.testing.assert_array_equal(np.signbit((0.0 * x).numpy()), [False, True])
    assert (gt.tensor([1.0], dtype=np.float32) * 1.5).dtype == np.float32


def test_rule_that_is_no_plain_function() -> None:
    """The parameters of a rule are known whatever it is made of."""
    assert _parameters(functools.partial(lambda x, y: x, y=2.0)) == ["x", "y"]
    assert _parameters(np.cos) == ["x"]
