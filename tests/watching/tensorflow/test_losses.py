"""What losses of Keras are given: numbers that are no probabilities, classes along another axis, negative rates."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.watching.tensorflow.test_tensorflow import watched

X = tf.constant(np.random.default_rng(0).normal(size=(8, 5)), tf.float32)
LABELS = tf.argmax(X[:, :3], axis=1)


def found_codes(model: Any, loss_of: Any) -> list[str]:
    """The codes of what is found in one gradient of a loss of a model."""
    with watched() as found:
        with tf.GradientTape() as tape:
            loss = loss_of(model(X))
        tape.gradient(loss, model.trainable_variables)
    return [each.code for each in found]


@pytest.mark.parametrize("is_right", [False, True])
def test_the_divergence_takes_probabilities(is_right: bool) -> None:
    """Logits are clipped by it; their softmax is what it compares."""
    divergence = keras.losses.KLDivergence()
    target = tf.nn.softmax(X[:, :3])
    dense = keras.layers.Dense(3, activation="softmax" if is_right else None)
    assert found_codes(dense, lambda y: divergence(target, y)) == ([] if is_right else ["GT509"])


@pytest.mark.parametrize(("activation", "expected"), [("softmax", []), ("log_softmax", ["GT509"]), ("tanh", ["GT509"])])
def test_an_entropy_of_probabilities_takes_no_negative_numbers(activation: str, expected: list[str]) -> None:
    """Logarithms of probabilities, and outputs of tanh, are below zero."""
    entropy = keras.losses.SparseCategoricalCrossentropy()
    dense = keras.layers.Dense(3, activation=activation)
    assert found_codes(dense, lambda y: entropy(LABELS, y))[:1] == expected


@pytest.mark.parametrize("bias", [-30.0, 30.0])
def test_a_loss_of_logarithms_has_no_slope_below_zero(bias: float) -> None:
    """It cuts predictions off at zero: where all are negative, no gradient is left."""
    dense = keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(bias))

    def loss_of(y: Any) -> Any:
        return tf.reduce_mean(keras.losses.mean_squared_logarithmic_error(tf.ones((8, 1)), y))

    assert found_codes(dense, loss_of)[:1] == (["GT404"] if bias < 0 else [])


@pytest.mark.parametrize("axis", [1, -1])
def test_a_softmax_over_time_is_not_over_the_classes(axis: int) -> None:
    """The loss picks classes along the last axis, also where Keras computes with the logits itself."""
    x = np.random.default_rng(0).normal(size=(8, 6, 3)).astype("float32")
    inputs = keras.Input((6, 3))
    model = keras.Model(inputs, keras.layers.Softmax(axis=axis)(keras.layers.Dense(3)(inputs)))
    model.compile("sgd", "sparse_categorical_crossentropy")
    with watched() as found:
        model.fit(x, x.argmax(axis=-1), verbose=0)
    assert [each.code for each in found] == (["GT501"] if axis == 1 else [])


def test_a_gradient_that_underflows_in_half_precision_is_named() -> None:
    """The slope of a mean of small squares is below the smallest number of float16, and not of float32."""
    x = tf.fill((8192,), 1e-2)
    for dtype, expected in ((tf.float16, ["GT404"]), (tf.float32, [])):
        w = tf.Variable(1.0)
        with watched() as found:
            with tf.GradientTape() as tape:
                error = tf.cast(x * w - 1.001 * x, dtype)
                loss = tf.reduce_mean(error**2)
            tape.gradient(loss, w)
        assert [each.code for each in found] == expected
