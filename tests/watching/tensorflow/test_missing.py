"""Gradients of TensorFlow that are None: values that took a way around the tape, and sources that are others."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.watching.tensorflow.test_tensorflow import codes, watched

X = tf.constant(np.random.default_rng(0).normal(size=(6, 3)), tf.float32)


def test_a_function_of_numpy_between_tensors_is_named() -> None:
    """NumPy reads tensors without a call that is seen; its function is named by the array that comes back."""
    members = [keras.layers.Dense(1) for _ in range(2)]
    with watched() as found:
        with tf.GradientTape() as tape:
            outputs = np.stack([member(X) for member in members])
            loss = tf.reduce_mean(outputs)
        tape.gradient(loss, members[0].trainable_variables)
    assert codes(found) == [("GT201", "GT210")]
    assert "np.stack" in found[0].spans[0].text
    assert str(found[0].fixes[0]) == "tf.stack([member(X) for member in members])"


def test_numpy_in_a_loss_of_fit_is_named() -> None:
    """With run_eagerly=True a loss may compute with NumPy: the error of the optimiser is explained by its line."""

    def absolute(y_true: Any, y_pred: Any) -> Any:
        return tf.constant(np.mean(np.abs(y_true - y_pred)), tf.float32)

    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", absolute, run_eagerly=True)
    with watched() as found, pytest.raises(ValueError, match="No gradients provided"):
        model.fit(X, X[:, :1], verbose=0)
    assert ("GT201", "GT210") in codes(found)
    assert "np.mean" in found[0].spans[0].source


def test_a_part_of_a_variable_that_is_assigned_ends_the_gradient() -> None:
    """A canvas that is painted with a slice assignment is a variable of its own."""
    painter = keras.layers.Dense(2)
    with watched() as found:
        with tf.GradientTape() as tape:
            canvas = tf.Variable(tf.zeros((6, 4)))
            canvas[:, 1:3].assign(painter(X))
            loss = tf.reduce_mean(canvas**2)
        tape.gradient(loss, painter.trainable_variables)
    assert codes(found) == [("GT201", "GT206")]
    assert "canvas[:, 1:3].assign" in found[0].spans[0].source


@pytest.mark.parametrize("clears_late", [False, True])
def test_a_tape_that_is_cleared_after_the_computation_is_found(clears_late: bool) -> None:
    """`reset` throws away what was recorded; before the computation it does no harm."""
    w = tf.Variable(2.0)
    with watched() as found:
        with tf.GradientTape() as tape:
            if not clears_late:
                tape.reset()
            square = w * w
            if clears_late:
                tape.reset()
            loss = square + 1.0
        tape.gradient(loss, w)
    assert codes(found) == ([("GT201", "GT211")] if clears_late else [])
    assert not clears_late or "tape.reset()" in found[0].spans[0].source


def test_a_source_that_is_made_in_the_request_is_another_tensor() -> None:
    """`tape.gradient(u, x[:, 0:1])` asks by a new tensor; the edit takes the column of the gradient."""
    with watched() as found:
        with tf.GradientTape() as tape:
            tape.watch(X)
            u = tf.reduce_sum(X**2)
        tape.gradient(u, X[:, 0:1])
    assert codes(found) == [("GT201", "GT202")]
    assert str(found[0].fixes[0]) == "tape.gradient(u, X)[:, 0:1]"


def test_a_tensor_that_only_the_outer_tape_watches_is_named_at_the_inner_one() -> None:
    """Each of two tapes is told by itself what to watch."""
    with watched() as found, tf.GradientTape() as outer:
        outer.watch(X)
        with tf.GradientTape() as inner:
            u = X**2
        inner.gradient(u, X)
    assert codes(found) == [("GT201", "GT203")]
    assert "as inner" in found[0].spans[0].source


def test_what_was_computed_before_the_block_is_named() -> None:
    """A tensor that was joined before the tape watched its part is a constant."""
    t = tf.constant([[1.0], [2.0]])
    with watched() as found:
        joined = tf.concat([t, t], axis=1)
        with tf.GradientTape() as tape:
            tape.watch(t)
            u = tf.reduce_sum(joined**2)
        tape.gradient(u, t)
    assert codes(found) == [("GT201", "GT204")]
    assert "tf.concat" in found[0].spans[0].source


@pytest.mark.parametrize("keeps", [False, True])
def test_what_is_written_to_a_tensor_array_has_to_be_kept_in_a_graph(keeps: bool) -> None:
    """In a graph `write` returns a new array; a call that drops it is reported, with an edit."""
    w = tf.Variable(0.5)

    @tf.function
    def lost() -> Any:
        states = tf.TensorArray(tf.float32, 3, element_shape=())
        for i in tf.range(3):
            states.write(i, w * tf.cast(i, tf.float32))
        return states.stack()

    @tf.function
    def kept() -> Any:
        states = tf.TensorArray(tf.float32, 3, element_shape=())
        for i in tf.range(3):
            states = states.write(i, w * tf.cast(i, tf.float32))
        return states.stack()

    with watched() as found:
        (kept if keeps else lost)()
    assert codes(found) == ([] if keeps else [("GT202",)])
    assert keeps or str(found[0].fixes[0]).startswith("states = states.write(i, ")
