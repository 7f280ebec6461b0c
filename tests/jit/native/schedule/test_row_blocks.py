"""Blocks of rows: what has a row for each point is computed for some points at a time, to the same numbers."""

import sys

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit.native.lower.decompose import decompose
from gradtape.jit.native.runtime import threads
from gradtape.jit.native.runtime.function import NativeFunction
from gradtape.jit.native.schedule import row_blocks
from gradtape.scipy.special import logsumexp


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Small arrays are divided as large ones are."""
    for name, value in {"LARGE": 4, "FEWEST_ROWS": 3, "SHORTEST": 3, "LONGEST": 10, "SMALLER": 1}.items():
        monkeypatch.setattr(row_blocks, name, value)
    monkeypatch.setattr(sys.modules["gradtape.jit.passes.factor_sums"], "LARGE", 4)


def instructions_of(compiled):
    """The instructions of all native groups, after blocks of rows were made of them."""
    calls = [step.call for step in compiled._last().runner.steps]
    groups = [call if isinstance(call, NativeFunction) else call.__self__[0] for call in calls]
    return [
        instruction
        for group in groups
        for instruction in row_blocks.divide_into_row_blocks(decompose(group.instructions), group.outputs)
    ]


def has_blocks(compiled):
    return any(instruction.name == row_blocks.ROW_BLOCKS for instruction in instructions_of(compiled))


def mixture(weights, means, scales, x):
    scaled = (x[:, None, :] - means) * np.exp(scales)
    inner = weights - 0.5 * np.sum(scaled * scaled, axis=2)
    return np.mean(logsumexp(inner, axis=1))


def full_mixture(weights, means, matrices, x):
    centred = x[:, None, :] - means
    turned = centred + np.einsum("kij,nkj->nki", matrices, centred)
    inner = weights - 0.5 * np.sum(turned * turned, axis=2)
    return np.sum(logsumexp(inner, axis=1))


def nearest(means, x):
    """A row for each point is an output: distances to the means, the largest left out."""
    distances = np.sqrt(np.sum((x[:, None, :] - means) ** 2, axis=2) + 0.1)
    shares = distances / np.sum(distances, axis=1, keepdims=True)
    return shares, np.max(shares[:, 1:], axis=1), np.sum(shares, axis=0)


def parameters(n, k, d, dtype="f8", square=False):
    rng = np.random.default_rng(n * 100 + k * 10 + d)
    shapes = [(k,), (k, d), (k, d, d) if square else (k, d), (n, d)]
    return [(0.5 * rng.standard_normal(shape)).astype(dtype) for shape in shapes]


def compare(function, arguments, rtol=1e-11):
    step = gt.value_and_grad(function, argnums=tuple(range(len(arguments))))
    compiled = gt.jit(step)
    value, gradients = compiled(*arguments)
    expected, exact = step(*arguments)
    np.testing.assert_allclose(value, expected, rtol=rtol)
    for found, gradient in zip(gradients, exact, strict=True):
        np.testing.assert_allclose(found, gradient, rtol=rtol * 100, atol=rtol * np.max(np.abs(gradient)))
    return compiled


SIZES = [(3, 2, 3), (4, 1, 5), (7, 3, 2), (17, 2, 1), (30, 3, 4), (33, 5, 10)]


@pytest.mark.parametrize(("n", "k", "d"), SIZES)
def test_odd_numbers_of_rows(n, k, d):
    """Gradients agree with those of the uncompiled function when the last block is shorter, and when it is not."""
    arguments = parameters(n, k, d)

    def of_parameters(*given):
        return mixture(*given, arguments[3])

    assert has_blocks(compare(of_parameters, arguments[:3])) == (k > 1 or d > 1)


@pytest.mark.parametrize(("n", "k", "d"), [(7, 2, 3), (30, 3, 4), (33, 5, 10), (40, 2, 17)])
@pytest.mark.parametrize("features", ["", "-avx512f,-avx2,-fma"])
def test_products_of_small_matrices(n, k, d, features, monkeypatch):
    """Batches of products are computed in blocks, matrix by matrix, on machines with short vectors, too."""
    monkeypatch.setattr(gt.config, "native_features", features)
    arguments = parameters(n, k, d, square=True)

    def of_parameters(*given):
        return full_mixture(*given, arguments[3])

    assert has_blocks(compare(of_parameters, arguments[:3]))


def test_single_precision():
    """Float32 is computed in blocks as well, without the sums over rows."""
    x = parameters(30, 3, 4, "f4")[3]
    compare(lambda *given: mixture(*given, x), parameters(30, 3, 4, "f4")[:3], rtol=2e-5)


def test_inputs_that_are_not_contiguous():
    """Points that are every other column of an array give the same bits as a copy of them."""
    weights, means, scales, x = parameters(30, 3, 4)
    wide = np.repeat(x, 2, axis=1)[:, ::2]
    compiled = gt.jit(gt.grad(mixture, argnums=(0, 1, 2)))
    for one, other in zip(compiled(weights, means, scales, wide), compiled(weights, means, scales, x), strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("n", [30, 33])
def test_outputs_with_rows(n):
    """Results that have a row for each point are in the order of the axes that they have outside."""
    _, means, _, x = parameters(n, 3, 5)
    compiled = gt.jit(nearest)
    for one, other in zip(compiled(means, x), nearest(means, x), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert has_blocks(compiled)


@pytest.mark.parametrize("n", [40, 43])
def test_bits_do_not_depend_on_threads(n, monkeypatch):
    """One thread and two add up the sums over rows in the same order."""
    monkeypatch.setattr(threads, "WORTH", 0)
    arguments = parameters(n, 3, 4, square=True)
    found = []
    for number in (1, 2):
        monkeypatch.setattr(gt.config, "threads", number)
        compiled = gt.jit(gt.value_and_grad(full_mixture, argnums=(0, 1, 2)))
        value, gradients = compiled(*arguments)
        found.append([np.asarray(value).tobytes(), *(x.tobytes() for x in gradients)])
    assert has_blocks(compiled)
    assert found[0] == found[1]


def test_large_rows_are_not_transposed(monkeypatch):
    """Where inputs are as large as what is computed from them, there are no blocks of rows."""
    monkeypatch.setattr(row_blocks, "SMALLER", 4)
    x = np.random.default_rng(0).standard_normal((50, 30))
    compiled = gt.jit(gt.grad(lambda g, x: np.sum(np.exp(g * x / np.sum(x * x, axis=1, keepdims=True)))))
    compiled(np.ones(30), x)
    assert not has_blocks(compiled)


def test_arrays_between_blocks_stay_small():
    """No array of points by means by dimensions is in memory."""
    arguments = parameters(400, 5, 8)
    compiled = gt.jit(gt.grad(mixture, argnums=(0, 1, 2)))
    compiled(*arguments)
    assert compiled.memory < 400 * 5 * 8 * 8 / 2


def test_a_value_that_every_row_needs_ends_the_blocks():
    """What is normalised by a sum over all rows is computed after that sum."""

    def normalised(means, x):
        distances = np.sum((x[:, None, :] - means) ** 2, axis=2)
        weights = np.exp(-distances)
        shares = weights / np.sum(weights, axis=0)
        return np.sum(np.max(shares * distances, axis=1))

    _, means, _, x = parameters(31, 3, 4)
    compare(lambda means: normalised(means, x), [means])


def test_points_among_each_other():
    """An array that is read both row by row and as a whole: each point and all others."""

    def repulsion(x, charges):
        apart = x[:, None, :] - x[None, :, :]
        squares = np.sum(apart * apart, axis=2) + 0.5
        near = charges * np.exp(-squares)
        return np.sum(np.sum(near / np.max(near, axis=1, keepdims=True), axis=1))

    x = parameters(21, 2, 3)[3]
    compare(lambda charges: repulsion(x, charges), [np.linspace(1, 2, 21)])
