"""Programs grown at random, of operations of all families on arrays of random shapes: compiled is eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt
from gradtape.jit import jit, verify
from gradtape.jit.passes import optimise

Arrays = list[Any]
pytestmark = pytest.mark.filterwarnings("ignore::gradtape.GradientWarning")  # accidents of broadcasting are meant here


def last_axis(x: Any) -> int:
    return -1 if x.ndim else 0


UNARY: list[Callable[[Any], Any]] = [
    np.sin,
    np.tanh,
    lambda x: np.exp(-(x**2)),
    lambda x: np.log(1.0 + x * x),
    lambda x: np.sqrt(x * x + 1.0),
    lambda x: -x,
    lambda x: x * 1,
    lambda x: x.T,
    lambda x: x.reshape(-1),
    lambda x: x[..., :1] if x.ndim else x,
    lambda x: x[::-1] if x.ndim else x,
    lambda x: np.sum(x, axis=last_axis(x), keepdims=True) * 0.1 if x.ndim else x,
    lambda x: np.mean(x) if x.size else x,
    lambda x: np.max(x, axis=0) if x.ndim and x.shape[0] else x,
    lambda x: np.sort(x, axis=-1) if x.ndim else x,
    lambda x: np.cumsum(x, axis=0) * 0.1 if x.ndim else x,
    lambda x: gt.softmax(x, axis=-1) if x.ndim else x,
    lambda x: np.where(x > 0, x, 0.5 * x),
    lambda x: np.clip(x, -0.5, 0.5),
    lambda x: np.concatenate([x, x * 2.0]) if x.ndim and x.size < 50 else x,
    lambda x: np.broadcast_to(x, (2, *x.shape)) if x.ndim < 3 else x,
    lambda x: x[np.array([0, -1, 0])] if x.ndim and x.shape[0] else x,
    lambda x: gt.stop_gradient(x) + x,
    lambda x: gt.checkpoint(lambda y: np.sin(y) * y)(x),
    lambda x: np.einsum("i,j->ij", x, x) * 0.1 if x.ndim == 1 and x.size < 8 else x,
    lambda x: x.astype("float32").astype(float),
]


def together(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`function` of two arrays if their shapes broadcast to something small; else the first."""

    def call(x: Any, y: Any) -> Any:
        try:
            shape = np.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            return x
        return function(x, y) if np.prod(shape, dtype=int) < 500 else x

    return call


def product(x: Any, y: Any) -> Any:
    fits = x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0]
    return x @ y * 0.1 if fits else x


BINARY: list[Callable[[Any, Any], Any]] = [
    together(lambda x, y: x + y),
    together(lambda x, y: x - y),
    together(lambda x, y: np.tanh(x * y)),
    together(lambda x, y: x / (1.0 + y * y)),
    together(np.maximum),
    together(lambda x, y: np.arctan2(x, y * y + 1.0)),
    product,
    lambda x, y: product(x, y.T),
]

steps = st.tuples(st.integers(0, len(UNARY) + len(BINARY) - 1), st.integers(0, 7), st.integers(0, 7))
shapes = st.sampled_from([(), (3,), (1,), (2, 3), (3, 2), (3, 3), (2, 1), (0, 3), (2, 2, 3)])


def grown(plan: list[tuple[int, int, int]]) -> Callable[..., Any]:
    """The function that a plan describes: each step applies an operation to two of the latest values."""

    def function(*arrays: Any) -> Any:
        values: Arrays = [x + 0.0 for x in arrays]
        used = sum(np.sum(x * 0.5) for x in arrays)
        for which, left, right in plan:
            x, y = values[-1 - left % len(values)], values[-1 - right % len(values)]
            values.append(UNARY[which](x) if which < len(UNARY) else BINARY[which - len(UNARY)](x, y))
        return sum((np.sum(np.sin(value)) for value in values[-4:]), start=used)

    return function


@settings(max_examples=25, deadline=None)
@given(st.lists(steps, min_size=1, max_size=60), st.lists(shapes, min_size=1, max_size=3), st.integers(0, 2**16))
def test_value_and_gradient_are_the_eager_ones(plan: Any, forms: Any, seed: int) -> None:
    """Value and gradient of a grown program, compiled, are the eager ones at two points; each pass keeps the spec."""
    generator = np.random.default_rng(seed)
    function = gt.value_and_grad(lambda arrays: grown(plan)(*arrays))
    step = jit(function)
    for _ in range(2):
        arrays = [generator.uniform(-1.5, 1.5, shape) for shape in forms]
        (value, gradients), (expected, slopes) = step(arrays), function(arrays)
        assert value == pytest.approx(expected, rel=1e-11, abs=1e-11)
        for a, b in zip(gradients, slopes, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    assert step.stats.uncompiled == 0
    optimise(step.traced, after=verify)


@settings(max_examples=15, deadline=None)
@given(st.lists(steps, min_size=1, max_size=15), st.sampled_from([(3,), (2, 3)]), st.integers(0, 2**16))
def test_single_precision_and_odd_layouts(plan: Any, shape: Any, seed: int) -> None:
    """In single precision and for arrays with strides, a grown program gives the eager numbers in the eager dtypes."""
    generator = np.random.default_rng(seed)
    function = grown(plan)
    step = jit(lambda x: function(x))
    for layout in (np.asarray, np.asfortranarray, lambda x: np.repeat(x, 2, axis=0)[::2], lambda x: x[::-1][::-1]):
        x = layout(generator.uniform(-1.5, 1.5, shape).astype("float32"))
        actual, expected = step(x), function(x)
        assert np.asarray(actual).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)
    assert step.stats.uncompiled == 0
