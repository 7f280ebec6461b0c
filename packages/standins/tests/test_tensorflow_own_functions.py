"""gradtape's own functions of TensorFlow's tensors: they compute with them, and no gradient is lost in silence."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape_standins import tensorflow as tf

MATRIX = np.array([[0.3, 0.1, 0.2], [0.1, 0.5, 0.1], [0.2, 0.1, 0.6]])
CHAPTERS = (gt, gt.nn.functional, gt.special, gt.linalg, gt.fft, gt.signal)
CONVERSIONS = {"array", "asarray", "astype", "fromiter", "full_like", "linspace", "logspace"}
"""What makes a new array of its argument refuses a tensor of another class, with the reason."""


def smooth() -> Iterator[tuple[str, Callable[..., Any], int]]:
    """The functions that have a gradient at `MATRIX`, taken once or twice, and how often."""
    for chapter in CHAPTERS:
        for name in dir(chapter):
            function = getattr(chapter, name)
            if name.startswith("_") or name in CONVERSIONS or not callable(function) or inspect.isclass(function):
                continue
            for count in (1, 2):
                if expected(function, count) is not None:
                    yield f"{chapter.__name__}.{name}", function, count


def expected(function: Callable[..., Any], count: int) -> Any:
    """The gradient of a function of gradtape's tensors; None if it takes other arguments, or has none."""
    try:
        with gt.GradientTape() as tape:
            x = tape.watch(gt.Tensor(MATRIX.copy()))
            made = function(*[x] * count)
        if not isinstance(made, gt.Tensor) or made.dtype.kind != "f":
            return None
        gradient = tape.gradient(made, x, unconnected_gradients="zero")
        return gradient if np.any(gradient.numpy()) else None
    except Exception:
        return None


@pytest.mark.filterwarnings("ignore")
def test_functions_of_ours_take_tensors_of_tensorflow() -> None:
    """Each gives a tensor, and the gradient of TensorFlow's tape is that of gradtape's."""
    tried = 0
    for name, function, count in smooth():
        v = tf.Variable(MATRIX.copy())
        with tf.GradientTape() as tape:
            made = function(*[v] * count)
        assert isinstance(made, gt.Tensor), name
        gradient = tape.gradient(made, v)
        assert gradient is not None, name
        np.testing.assert_allclose(gradient.numpy(), expected(function, count).numpy(), err_msg=name)
        tried += 1
    assert tried > 200


@pytest.mark.parametrize("convert", [gt.asarray, gt.array, np.vectorize(lambda x: x), lambda x: gt.full_like(x, x)])
def test_conversions_of_recorded_tensors_lose_nothing_in_silence(convert: Callable[..., Any]) -> None:
    """gradtape's own conversions refuse a recorded tensor; NumPy's take its numbers, as under TensorFlow."""
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape():
        y = v * 2.0
        if isinstance(convert, np.vectorize):
            assert convert(y).tolist() == [2.0, 4.0]
        else:
            with pytest.raises(gt.DetachError, match="GT312"):
                convert(y)
    assert np.asarray(gt.asarray(tf.constant([1.0]))).tolist() == [1.0]


def test_results_mix_with_tensors_of_tensorflow() -> None:
    """What gradtape's function gives is an operand of TensorFlow's, on both sides, and a target of its tape."""
    v = tf.Variable([0.5, 1.0])
    with tf.GradientTape(persistent=True) as tape:
        left = v * gt.sin(v)
        right = gt.sin(v) * v
        both = tf.reduce_sum(left) + gt.sum(right)
    for target in (left, right):
        np.testing.assert_allclose(tape.gradient(target, v).numpy(), np.sin([0.5, 1.0]) + [0.5, 1.0] * np.cos([0.5, 1]))
    np.testing.assert_allclose(tape.gradient(both, v).numpy(), 2 * tape.gradient(left, v).numpy())
    np.testing.assert_allclose(tape.jacobian(right, v).numpy(), np.diag(tape.gradient(right, v).numpy()))
