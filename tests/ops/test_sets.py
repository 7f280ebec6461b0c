"""Distinct elements: where their gradients go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt

X = np.array([3.0, 1.0, 3.0, 2.0, 3.0])
WEIGHTS = np.array([10.0, 100.0, 6.0])  # of 1, 2 and 3

MODES: list[Callable[..., Any]] = [lambda f: f, gt.jit]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("flags", [{}, {"return_index": True}, {"return_inverse": True, "return_counts": True}])
def test_equal_elements_share_the_gradient_of_their_value(mode: Any, flags: dict[str, bool]) -> None:
    """The gradient of a distinct value is shared equally by the elements that have it, whatever else is asked for."""

    def f(x: Any) -> Any:
        found = np.unique(x, **flags)
        return np.sum(WEIGHTS * (found[0] if flags else found) ** 2)

    assert np.allclose(mode(gt.grad(f))(X), [12, 20, 12, 400, 12])


@pytest.mark.parametrize("mode", MODES)
def test_values_put_back_are_the_identity_on_average(mode: Any) -> None:
    """`values[inverse]` is x again: each group receives the sum of its gradients, in equal parts."""

    def f(x: Any) -> Any:
        values, inverse = np.unique(x, return_inverse=True)
        return np.sum(values[inverse] * np.array([1.0, 20.0, 3.0, 40.0, 5.0]))

    assert np.allclose(mode(gt.grad(f))(X), [3, 20, 3, 40, 3])


@pytest.mark.parametrize("mode", MODES)
def test_equal_slices_share_along_an_axis(mode: Any) -> None:
    """Columns that are equal share the gradient of the one that stands for them."""
    x = np.array([[1.0, 0.0, 1.0], [2.0, 5.0, 2.0]])
    weights = np.array([[1.0, 10.0], [100.0, 1000.0]])
    gradient = mode(gt.grad(lambda x: np.sum(weights * np.unique(x, axis=1))))(x)
    assert np.allclose(gradient, [[5, 1, 5], [500, 100, 500]])


def test_forward_and_reverse_mode_agree() -> None:
    """The tangent of a distinct value is the mean of its elements' tangents."""
    direction = np.array([1.0, 2.0, 5.0, 7.0, 9.0])
    value, tangent = gt.jvp(np.unique, (X,), (direction,))
    assert np.array_equal(value, [1, 2, 3])
    assert np.allclose(tangent, [2, 7, 5])
    assert np.allclose(gt.jacrev(np.unique)(X) @ direction, tangent)
    assert np.allclose(gt.jacfwd(np.unique)(X) @ direction, tangent)


def test_the_second_derivative_of_a_function_of_distinct_values() -> None:
    """A second derivative goes through the shares as well: of u**3 it is 6 u / n**2 in the group."""
    hessian = gt.hessian(lambda x: np.sum(np.unique(x) ** 3))(np.array([2.0, 2.0, 1.0]))
    assert np.allclose(hessian, [[3, 3, 0], [3, 3, 0], [0, 0, 6]])


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_gradients_keep_the_dtype(dtype: str) -> None:
    """Shares of a float32 gradient are float32 numbers, and those of a complex one complex."""
    x = X.astype(dtype)
    gradient = gt.grad(lambda x: np.real(np.sum(np.unique(x) ** 2)))(x)
    assert gradient.dtype == dtype
    assert np.allclose(gradient, [2, 2, 2, 4, 2])


A, B = np.array([3.0, 1.0, 2.0, 3.0]), np.array([3.0, 5.0])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("function", "of_a", "of_b"),
    [
        (np.union1d, [6 / 3, 2, 4, 6 / 3], [6 / 3, 10]),
        (np.intersect1d, [6 / 3, 0, 0, 6 / 3], [6 / 3, 0]),
        (np.setdiff1d, [0, 2, 4, 0], [0, 0]),
        (np.setxor1d, [0, 2, 4, 0], [0, 10]),
    ],
)
def test_sets_of_two_arrays_share_over_both(function: Any, of_a: Any, of_b: Any, mode: Any) -> None:
    """An element of a set that is made of two arrays is shared by all that equal it, in both of them."""
    value = np.sum(function(A, B) ** 2)

    def f(pair: tuple[Any, Any]) -> Any:
        return np.sum(function(*pair) ** 2)

    found, (left, right) = mode(gt.value_and_grad(f))((A, B))
    assert np.isclose(found, value)
    assert np.allclose(left, of_a)
    assert np.allclose(right, of_b)


def test_values_with_nan_are_numpys() -> None:
    """NaNs are one value or several, as NumPy is told to take them."""
    x = np.array([np.nan, 1.0, np.nan])
    for equal_nan in (True, False):
        expected = np.unique(x, equal_nan=equal_nan)
        assert np.array_equal(np.unique(gt.tensor(x), equal_nan=equal_nan).numpy(), expected, equal_nan=True)
