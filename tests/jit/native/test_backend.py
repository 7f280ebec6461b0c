"""Native code behind `jit`: compiled functions against eager ones."""

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import backends, jit
from gradtape.jit.native.backend import NativeBackend

from .programs import Builder


@pytest.fixture(autouse=True)
def native_code():
    """Programs compiled in a test are given to native code."""
    before = backends.use(NativeBackend())
    yield
    backends.use(before)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def network(weights, bias, data):
    return np.mean(np.tanh(data @ weights + bias) ** 2)


def likelihood(scores, labels):
    shifted = scores - scores.max(axis=1, keepdims=True)
    return -np.mean(np.sum(labels * (shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))), axis=1))


def price(spot, time):
    root = 0.2 * np.sqrt(time)
    d = (np.log(spot) + 0.05 * time) / root
    return np.sum(spot * np.tanh(d) - np.exp(-0.05 * time) * np.arctan(d - root))


CASES = {
    "rosenbrock": (rosenbrock, [(10,)]),
    "network": (network, [(5, 8), (8,), (20, 5)]),
    "likelihood": (likelihood, [(12, 4), (12, 4)]),
    "price": (price, [(100,), (100,)]),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_gradients_agree_with_eager_ones(name, dtype):
    """Values and gradients of compiled functions are those of eager ones, in shape, dtype and value."""
    function, shapes = CASES[name]
    generator = np.random.default_rng(1)
    arrays = [generator.uniform(0.5, 2, shape).astype(dtype) for shape in shapes]
    everything = gt.value_and_grad(function, argnums=tuple(range(len(arrays))))
    value, gradients = everything(*arrays)
    found_value, found_gradients = jit(everything)(*arrays)
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    np.testing.assert_allclose(np.asarray(found_value), np.asarray(value), rtol=tolerance)
    for found, expected in zip(found_gradients, gradients, strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=tolerance, atol=tolerance)


def test_views_alone_are_left_to_numpy():
    """A group of nothing but views is not compiled: NumPy makes them without a copy."""
    builder = Builder()
    x = builder.input((4, 5))
    result = builder("getitem", x, index=(slice(1, None),))
    assert NativeBackend().compile_group(builder.instructions, [x], [result]) is None
