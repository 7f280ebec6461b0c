"""Factors that do not vary along the axes of a sum are taken out of it, and digits are not lost by that."""

import numpy as np
import pytest

import gradtape as gt

ROWS = 1500


def shapes_of(program, name):
    return [tuple(i.values[0].shape) for i in program.instructions if i.name == name]


def largest_products(program):
    """The names of the products that are as large as the largest array."""
    most = max(result.size for i in program.instructions for result in i.results)
    return [i.name for i in program.instructions if i.name in ("multiply", "negative", "add") and i.result.size == most]


def scaled_squares(means, scales, x):
    centred = (x[:, None, :] - means) * scales
    return -0.5 * np.sum(centred * centred)


def quotients(scales, x):
    return np.sum(np.sin(x) / scales, axis=0)


def quadratic_forms(means, matrices, x):
    turned = np.einsum("kij,nkj->nki", matrices, x[:, None, :] - means)
    return np.sum(turned * turned)


def linear_layer(bias, weights, x):
    return np.sum(np.tanh(np.sin(x + bias) @ weights))


def kept_axes(scales, x):
    return np.mean(np.cos(x) * scales * 3.0, axis=(0, 1), keepdims=True)


rng = np.random.default_rng(5)
POINTS = rng.standard_normal((ROWS, 6))
CASES = {
    "scaled squares": (scaled_squares, (rng.standard_normal((4, 6)), rng.uniform(0.5, 2, (4, 6)), POINTS)),
    "quotients": (lambda s, x: np.sum(quotients(s, x) ** 2), (rng.uniform(0.5, 2, 6), POINTS)),
    "quadratic forms": (quadratic_forms, (rng.standard_normal((4, 6)), rng.standard_normal((4, 6, 6)), POINTS)),
    "linear layer": (linear_layer, (rng.standard_normal(6), rng.standard_normal((6, 9)), POINTS)),
    "kept axes": (lambda s, x: np.sum(kept_axes(s, x) ** 2), (rng.uniform(1, 2, (1, 1, 6)), rng.random((50, 40, 6)))),
}


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_those_without_the_pass(case):
    """Value and gradients agree with the uncompiled function to the last digits."""
    function, arguments = CASES[case]
    step = gt.value_and_grad(function, argnums=tuple(range(len(arguments))))
    expected, gradients = step(*arguments)
    value, found = gt.jit(step)(*arguments)
    assert np.allclose(value, expected, rtol=1e-13)
    for one, other in zip(found, gradients, strict=True):
        assert np.allclose(one, other, rtol=1e-11, atol=1e-12 * np.max(np.abs(other)))


def test_products_with_what_does_not_vary_are_small():
    """The scales, which every point shares, and numbers are multiplied after the sum over the points."""
    function, arguments = CASES["scaled squares"]
    program = gt.jit(gt.grad(function, argnums=(0, 1))).lower(*arguments)
    assert largest_products(program) == ["multiply"]  # the square of the distance


def test_a_sum_of_a_product_of_matrices_is_a_product_with_a_sum():
    """The gradient of what is subtracted from all points takes no third product for every point."""
    function, arguments = CASES["quadratic forms"]
    program = gt.jit(gt.grad(function, argnums=(0, 1))).lower(*arguments)
    assert sum(ROWS in shape for shape in shapes_of(program, "einsum")) == 1


def test_differences_are_taken_before_they_are_added_up():
    """The sum of differences of large, nearly equal numbers keeps its digits."""
    x = 1e8 + np.linspace(0, 1, 10_000)

    def sum_of_differences(x, y):
        return np.sum((x - y) * 3.0)

    exact = 3.0 * np.sum(np.linspace(0, 1, 10_000))
    assert abs(gt.jit(sum_of_differences)(x, np.array(1e8)) - exact) < 1e-6 * exact


def test_single_precision_and_small_sums_stay_as_they_are():
    """Nothing is moved where exponents are short, or where nothing is gained."""
    for x in (np.ones((2000, 10), np.float32), np.ones((20, 10))):
        program = gt.jit(lambda x: np.sum(x * x[0] * 0.5, axis=0)).lower(x)
        assert program.instructions[-1].name == "sum"
    program = gt.jit(lambda x: np.sum(x * x[0] * 0.5, axis=0)).lower(np.ones((2000, 10)))
    assert program.instructions[-1].name == "multiply"


@pytest.mark.parametrize("number", [0.0, np.inf, np.nan])
def test_numbers_that_are_not_finite_and_zero_are_not_moved(number):
    """NaN is where it was: an infinity times zero is no infinity."""
    x = np.zeros(10_000)
    x[0] = 1.0 if number else np.inf

    def total(x):
        return np.sum(x * number)

    with np.errstate(all="ignore"):
        assert np.isnan(gt.jit(total)(x))
        assert np.isnan(total(x))
