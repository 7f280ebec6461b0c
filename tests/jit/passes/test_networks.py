"""Passes for networks: products with stacks of matrices as one product, and gradients of parts joined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt


def names(program: Any) -> list[str]:
    return [instruction.name for instruction in program.instructions]


def compare(function: Any, *arguments: Any, rtol: float) -> None:
    """Value and gradient of a compiled function are those of eager mode, with all accesses to memory checked."""
    step = gt.value_and_grad(function, argnums=tuple(range(len(arguments))))
    expected = step(*arguments)
    before, gt.config.check = gt.config.check, "memory"
    try:
        found = gt.jit(step)(*arguments)
    finally:
        gt.config.check = before
    np.testing.assert_allclose(found[0], expected[0], rtol=rtol)
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * np.max(np.abs(other), initial=0))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("ahead", [(3,), (2, 5), (1, 4)])
def test_products_with_a_stack_are_one_product(dtype: str, ahead: tuple[int, ...]) -> None:
    """A stack of matrices times one matrix is one product of two matrices, and so are both gradients."""
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(*ahead, 7, 19)).astype(dtype), rng.normal(size=(19, 21)).astype(dtype)

    def loss(x: Any, w: Any) -> Any:
        return np.sum(np.sin(x @ w))

    compare(loss, x, w, rtol=1e-4 if dtype == "float32" else 1e-11)
    program = gt.jit(gt.grad(loss, argnums=(0, 1))).lower(x, w)
    products = [i for i in program.instructions if i.name == "matmul"]
    assert len(products) == 3
    assert all(i.result.ndim == 2 for i in products)


@pytest.mark.parametrize("shape", [(2, 3, 0, 16), (0, 3, 16), (4, 3, 16)])
def test_stacks_of_every_length(shape: tuple[int, ...]) -> None:
    """Stacks without rows, without matrices and read backwards give NumPy's product and its gradient."""
    rng = np.random.default_rng(2)
    w = rng.normal(size=(16, 17))
    x = rng.normal(size=shape)
    np.testing.assert_allclose(gt.jit(lambda x, w: x @ w)(x, w), x @ w, rtol=1e-12)
    compare(lambda x, w: np.sum(np.flip(x, 0) @ w * np.swapaxes(x, 0, 1)[..., :1].sum()), x, w, rtol=1e-11)


def test_gradient_of_rows_is_a_stack() -> None:
    """The gradient of reading all rows of an array stacks those of the rows, behind the transpose before it."""
    x = np.random.default_rng(3).normal(size=(4, 5, 3, 2))

    def loss(x: Any) -> Any:
        q, k, v = x.transpose((2, 0, 3, 1))
        return np.sum(np.sin(q) * np.cos(k) + v * v)

    compare(loss, x, rtol=1e-12)
    found = names(gt.jit(gt.grad(loss)).lower(x))
    assert "scatter" not in found
    assert found.count("stack") == 1


def test_gradient_of_split_is_a_concatenation() -> None:
    """The gradient of the parts of an array that slices cover is their concatenation."""
    x = np.random.default_rng(4).normal(size=(6, 9))

    def loss(x: Any) -> Any:
        one, two, three = np.split(x, [2, 5], axis=1)
        return np.sum(np.sin(one)) + np.sum(np.exp(two)) * np.sum(three * three)

    compare(loss, x, rtol=1e-12)
    found = names(gt.jit(gt.grad(loss)).lower(x))
    assert "scatter" not in found
    assert found.count("concatenate") == 1


@pytest.mark.parametrize("part", [slice(0, 2), slice(2, 4), slice(None, None, 2)])
def test_parts_that_do_not_cover_an_array_are_added(part: slice) -> None:
    """Parts that overlap, or that leave elements out, are summed as before."""
    x = np.random.default_rng(5).normal(size=(5, 3))
    compare(lambda x: np.sum(np.sin(x[part])) + np.sum(np.cos(x[1:3])), x, rtol=1e-12)
