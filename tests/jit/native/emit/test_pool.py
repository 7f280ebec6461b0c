"""Pooling in native code: every kind of window, edges, ties, NaN, and derivatives."""

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit.native.lower import pool as pools
from gradtape.jit.native.lower.support import supports
from gradtape.nn import functional
from gradtape.ops.pooling_ops import Windows

from ..programs import Builder, by_kernels

# length, outputs, size, stride, step, start; a stride of 0 divides the axis evenly
WINDOWS = {
    "side by side": (Windows(28, 14, 2, 2, 1, 0), Windows(20, 10, 2, 2, 1, 0)),
    "overlapping, with edges": (Windows(13, 7, 3, 2, 1, -1), Windows(31, 16, 3, 2, 1, -1)),
    "at every element": (Windows(40, 38, 3, 1, 1, 0),),
    "with gaps inside": (Windows(7, 3, 2, 2, 3, -1),),
    "with gaps between": (Windows(11, 3, 2, 4, 1, 0),),
    "divided evenly": (Windows(5, 3, 3, 0, 1, 0), Windows(2, 3, 2, 0, 1, 0)),
    "three axes": (Windows(2, 1, 2, 1, 1, 0), Windows(3, 1, 3, 3, 1, 0), Windows(4, 2, 2, 2, 1, 0)),
}


def lengths(windows, of="length"):
    return tuple(getattr(along, of) for along in windows)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
@pytest.mark.parametrize("name", WINDOWS)
def test_the_largest_and_where_it_is(name, dtype):
    """The first of the largest of each window is found, a NaN before all else, and taken, and put back there."""
    windows, builder = WINDOWS[name], Builder()
    generator = np.random.default_rng(len(name))
    array = np.round(2 * np.abs(generator.normal(size=(3, 2, *lengths(windows))))).astype(dtype)  # many are equal
    params = {"shape": lengths(windows), "repeats": True}
    x = builder.input(array.shape, dtype)
    results = [builder("positions of the largest", x, windows=windows)]
    if np.dtype(dtype).kind == "f":
        array[generator.random(array.shape) < 0.1] = np.nan
        array[generator.random(array.shape) < 0.1] = -np.inf
        results.append(builder("take from windows", x, results[0], **params))
        results.append(builder("put into windows", results[1], results[0], **params))
    assert all(supports(instruction) for instruction in builder.instructions)
    for found, wanted in zip(builder.group(*results)(array), by_kernels(builder, [array], results), strict=True):
        np.testing.assert_array_equal(found, wanted, strict=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", WINDOWS)
def test_sums_and_shares(name, dtype):
    """Sums over windows, and their transpose, are those of the kernels."""
    windows, builder = WINDOWS[name], Builder()
    generator = np.random.default_rng(len(name))
    x = builder.input((3, 2, *lengths(windows)), dtype)
    total = builder("sums over windows", x, windows=windows)
    shared = builder("shares of windows", total, windows=windows)
    array = generator.uniform(0.1, 1.0, x.shape).astype(dtype)
    assert all(supports(instruction) for instruction in builder.instructions)
    wanted = by_kernels(builder, [array], [total, shared])
    for found, expected in zip(builder.group(total, shared)(array), wanted, strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=8 * np.finfo(dtype).eps)


def test_positions_that_do_not_exist():
    """A position outside of its image is an error, and nothing else is read or written."""
    builder = Builder()
    x, positions = builder.input((1, 4)), builder.input((1, 2), "int64")
    taken = builder("take from windows", x, positions, shape=(4,), repeats=False)
    put = builder("put into windows", taken, positions, shape=(4,), repeats=False)
    group = builder.group(taken, put)
    np.testing.assert_array_equal(group(np.arange(4.0)[None], np.array([[3, 1]]))[1], [[0.0, 1.0, 0.0, 3.0]])
    with pytest.raises(IndexError):
        group(np.arange(4.0)[None], np.array([[3, 10**12]]))


def test_elements_are_found_and_taken_at_once():
    """Positions and elements are one step, unless the elements are taken from elsewhere."""
    builder = Builder()
    windows = WINDOWS["at every element"]
    x, y = builder.input((1, 40)), builder.input((1, 40))
    positions = builder("positions of the largest", x, windows=windows)
    largest, other = (builder("take from windows", value, positions, shape=(40,), repeats=True) for value in (x, y))
    assert len(pools.find_partners(builder.instructions)) == 1
    arrays = np.random.default_rng(0).normal(size=(2, 1, 40))
    found = builder.group(largest, other)(*arrays)
    for one, wanted in zip(found, by_kernels(builder, arrays, [largest, other]), strict=True):
        np.testing.assert_array_equal(one, wanted)


@pytest.mark.parametrize(
    "pool",
    [
        lambda x: functional.max_pool2d(x, 3, stride=2, padding=1),
        lambda x: functional.avg_pool2d(x, 3, stride=2, padding=1, ceil_mode=True, count_include_pad=False),
        lambda x: functional.adaptive_max_pool2d(x, (2, 3)),
        lambda x: functional.adaptive_avg_pool2d(x, (2, 3)),
    ],
    ids=["max", "avg", "adaptive max", "adaptive avg"],
)
def test_derivatives_of_pooling(pool):
    """Values and gradients are those without `jit`, and no NumPy kernel is called for them."""
    x = np.random.default_rng(3).normal(size=(2, 3, 7, 8))
    compiled = gt.jit(gt.value_and_grad(lambda x: np.sum(pool(np.sin(x)) ** 3)))
    value, gradient = compiled(x)
    expected_value, expected = gt.value_and_grad(lambda x: np.sum(pool(np.sin(x)) ** 3))(x)
    np.testing.assert_allclose(value, expected_value, rtol=1e-13)
    np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-15)
    assert "kernel" not in compiled.source
