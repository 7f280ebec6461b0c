"""Picking, adding up and joining inside native code: index arrays, gradients of them, concatenation, softmax."""

import numpy as np
import pytest

import gradtape as gt
from gradtape.errors import IndexingError
from gradtape.jit import jit
from gradtape.jit.native.lower.support import supports
from gradtape.jit.runtime.schedule import NativeGroup

from .fuzz import LAYOUTS, laid_out
from .programs import Builder, by_kernels

RNG = np.random.default_rng(12)
INDICES = [
    ((5,), ([0, 4, 4, -1],)), ((5,), ([[0, 1], [2, -5]],)), ((3, 4), ([0, 2, 0],)), ((3, 4), (slice(None), [3, 1])),
    ((3, 4), ([[0], [2]], [0, 3])), ((2, 3, 4), ([1, 0], slice(None), [3, 0])), ((2, 3, 4), (0, slice(None), [3, 3])),
    ((2, 3, 4), (slice(None, None, -1), [1, 1], slice(1, 3))), ((3, 4), (None, [2, 0], None)), ((3, 4), ([],)),
]  # fmt: skip


def whole(function, *arguments):
    """What a compiled function gives, after a check that it is one native group."""
    step = jit(function)
    step(*arguments)
    steps = step._last().runner.steps
    assert [type(part) for part in steps] == [NativeGroup]
    return step(*arguments)


@pytest.mark.parametrize(("shape", "index"), INDICES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_indices_that_are_known(shape, index, dtype):
    """An index with arrays in it picks what NumPy picks, and its gradient adds up where it should."""
    index = tuple(np.array(part, int) if isinstance(part, list) else part for part in index)
    builder = Builder()
    x = builder.input(shape, dtype)
    picked = builder("getitem", builder("negative", x), index=index)
    spread = builder("scatter", builder("square", picked), index=index, shape=shape)
    assert all(map(supports, builder.instructions))
    array = RNG.normal(size=shape).astype(dtype)
    for found, wanted in zip(
        builder.group(picked, spread)(array), by_kernels(builder, [array], [picked, spread]), strict=True
    ):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def test_masks_that_are_known():
    """A mask of truth values that does not change picks what NumPy picks; what it puts back keeps its sign."""
    mask = np.array([[True, False, True], [False, False, True]])
    builder = Builder()
    x = builder.input((2, 3))
    picked = builder("getitem", x, index=(mask,))
    spread = builder("scatter", picked, index=(mask,), shape=(2, 3))
    array = np.array([[-0.0, 1.0, 2.0], [3.0, 4.0, -0.0]])
    found = builder.group(picked, spread)(array)
    for one, other in zip(found, by_kernels(builder, [array], [picked, spread]), strict=True):
        assert one.tobytes() == other.tobytes()


PICKING = {
    "rows": lambda x, i: x[i],
    "columns": lambda x, i: x[:, i],
    "pairs": lambda x, i: x[np.arange(4), i],
    "new axes": lambda x, i: x[None, i, None],
    "apart": lambda x, i: np.stack([x, 2 * x])[i % 2, :, i],
    "both": lambda x, i: x[i[:, None], i],
    "steps": lambda x, i: x[::-1, i],
}


@pytest.mark.parametrize("name", sorted(PICKING))
@pytest.mark.parametrize("kind", ["int64", "int32", "int8", "uint16"])
def test_indices_that_are_arguments(name, kind):
    """An index that is an argument picks what it picks without `jit`, there and back."""
    x = RNG.normal(size=(4, 4))
    index = np.array([3, 0, 2, 2]).astype(kind)
    function = gt.value_and_grad(lambda x, i: np.sum(np.sin(PICKING[name](x, i)) * 2))
    value, gradient = jit(function)(x, index)
    expected, slope = function(x, index)
    np.testing.assert_allclose(value, expected, rtol=1e-14)
    np.testing.assert_allclose(gradient, slope, rtol=1e-14)


def test_negative_indices_count_from_the_end():
    """An index of -1 is the last element, in a compiled function, too."""
    found = jit(lambda x, i: np.exp(x[i]) + 1)(np.arange(5.0), np.array([-1, 0, -5]))
    np.testing.assert_allclose(found, np.exp([4.0, 0.0, 0.0]) + 1)


@pytest.mark.parametrize("wrong", [5, -6, 2**62, -(2**62)])
@pytest.mark.parametrize("layout", ["plain", "every other"])
def test_indices_out_of_range_raise(wrong, layout):
    """An index that does not exist is an error of NumPy's, and the next call is none the worse."""
    step = jit(gt.value_and_grad(lambda x, i: np.sum(np.exp(x[np.arange(4), i]))))
    x, index = RNG.normal(size=(4, 5)), np.array([0, 4, 1, 2])
    expected = step(x, index)
    bad = laid_out(np.array([0, 4, wrong, 2]), layout, RNG)
    for _ in range(3):
        with pytest.raises(IndexingError, match=f"index {wrong} is out of bounds for axis 1 with size 5"):
            step(x, bad)
    for one, other in zip(step(x, index), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_indices_out_of_range_in_a_loop_raise():
    """An index that a loop reads is checked in every step."""

    def walk(x, i):
        total = 0.0
        for row in range(40):
            total = total + np.sin(x[i[row]]) * total
        return np.sum(total + x)

    step, x, index = jit(walk), RNG.normal(size=(6, 3)), RNG.integers(0, 6, 40)
    np.testing.assert_allclose(step(x, index), walk(x, index), rtol=1e-12)
    index[33] = 6
    with pytest.raises(IndexError):
        step(x, index)


def log_probability(x, labels):
    return -np.mean(gt.log_softmax(x)[np.arange(12), labels])


def test_labels_are_native():
    """The mean of log-probabilities of labels and its gradient are one native function."""
    x, labels = RNG.normal(size=(12, 5)), RNG.integers(0, 5, 12)
    value, gradient = whole(gt.value_and_grad(log_probability), x, labels)
    expected, slope = gt.value_and_grad(log_probability)(x, labels)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    np.testing.assert_allclose(gradient, slope, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_labels_of_any_layout(layout):
    """Labels and numbers of any layout give the same answer."""
    x, labels = RNG.normal(size=(12, 5)), RNG.integers(0, 5, 12)
    step = jit(gt.value_and_grad(log_probability))
    step(x, labels)
    x, labels = laid_out(x, layout, RNG), laid_out(labels, layout, RNG)
    value, gradient = step(x, labels)
    expected, slope = gt.value_and_grad(log_probability)(x, labels)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    np.testing.assert_allclose(gradient, slope, rtol=1e-12, atol=1e-15)


JOINED = {
    "concatenate": lambda x: np.concatenate([x, np.sin(x[:2]), x[::-1]]),
    "columns": lambda x: np.concatenate([x[:, :1], x * 2, x[:, 1:]], axis=1),
    "nothing": lambda x: np.concatenate([x[:0], x]),
    "stack": lambda x: np.stack([x, np.exp(x), x], axis=1),
    "last axis": lambda x: np.stack([x, -x], axis=-1),
    "numbers": lambda x: np.stack([x[0, 0], x[1, 1] * 2, x[0, 1]]),
    "rows in turn": lambda x: np.stack([x[i] for i in range(4)] + [x[0]]),
    "rows in reverse": lambda x: np.stack([np.sin(x)[i] for i in range(3, -1, -1)], axis=1),
    "every other": lambda x: np.stack([x[:, i] for i in (0, 2, 4, 1)]),
    "used": lambda x: (lambda joined: joined / np.sum(joined))(np.concatenate([x, x * x])),
}


@pytest.mark.parametrize("name", sorted(JOINED))
def test_joined_arrays(name):
    """Joined arrays, and what is computed from them, are those of NumPy, there and back."""
    x = RNG.normal(size=(4, 5))
    weights = RNG.normal(size=np.shape(JOINED[name](x)))
    function = gt.value_and_grad(lambda x: np.sum(np.cos(JOINED[name](x)) * weights))
    value, gradient = whole(function, x)
    expected, slope = function(x)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, slope, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(jit(JOINED[name])(x), JOINED[name](x), rtol=1e-14)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
@pytest.mark.parametrize("axis", [0, 1, (0, 2), None])
def test_softmax_family(name, axis):
    """Softmax and its kin are native, exact for large numbers, and have their answers for infinities and NaN."""
    function = getattr(gt, name)
    x = RNG.normal(size=(3, 4, 2)) * 300
    np.testing.assert_allclose(whole(lambda x: function(x, axis), x), function(x, axis), rtol=1e-13)
    x[1] = -np.inf
    x[0, 1] = np.inf
    x[2, 3] = np.nan
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(whole(lambda x: function(x, axis), x), function(x, axis), rtol=1e-13)


def test_diagonals_and_back():
    """A diagonal and its gradient, for several matrices at once."""
    x = RNG.normal(size=(3, 4, 5))
    function = gt.value_and_grad(lambda x: np.sum(np.sin(np.diagonal(x, 1, 1, 2)) * np.arange(4)))
    value, gradient = whole(function, x)
    expected, slope = function(x)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    np.testing.assert_allclose(gradient, slope, rtol=1e-13)


def test_results_that_are_reshapes_are_their_own():
    """An output that is another one reshaped has memory of its own."""
    flat, square, both = jit(lambda x: (np.sin(x), np.sin(x).reshape(2, 2), np.cos(x).reshape(2, 2)))(np.arange(4.0))
    square[:] = 7
    np.testing.assert_allclose(flat, np.sin(np.arange(4.0)))
    np.testing.assert_allclose(both, np.cos(np.arange(4.0)).reshape(2, 2))
