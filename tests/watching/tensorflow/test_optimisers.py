"""What the optimisers of Keras are given: gradients in another order, losses without their scale, growing losses."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.watching.tensorflow.test_tensorflow import watched

X = tf.constant(np.random.default_rng(0).normal(size=(8, 3)), tf.float32)


@pytest.mark.parametrize("is_swapped", [False, True])
def test_gradients_in_another_order_than_the_variables_are_found(is_swapped: bool) -> None:
    """Both have the same shapes, so that nothing fails; the edit is the list that was asked for."""
    one, two = keras.layers.Dense(2, use_bias=False), keras.layers.Dense(2, use_bias=False)
    optimizer = keras.optimizers.SGD(0.1)
    with watched() as found:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(one(X) ** 2) + tf.reduce_mean(tf.abs(two(X)))
        grads = tape.gradient(loss, [one.kernel, two.kernel])
        if is_swapped:
            optimizer.apply_gradients(zip(grads, [two.kernel, one.kernel]))
        else:
            optimizer.apply_gradients(zip(grads, [one.kernel, two.kernel]))
    assert [each.code for each in found] == ["GT306"] * is_swapped
    assert not is_swapped or str(found[0].fixes[0]) == "[one.kernel, two.kernel]"


def test_a_loss_that_was_not_scaled_for_its_optimiser_is_found() -> None:
    """The optimiser divides by its scale what was never multiplied by it; `fit` scales the loss itself."""
    dense = keras.layers.Dense(1)
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1))
    with watched() as found:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(dense(X) ** 2)
        grads = tape.gradient(loss, dense.trainable_variables)
        optimizer.apply_gradients(zip(grads, dense.trainable_variables))
    assert [each.code for each in found] == ["GT512"]
    assert "scale" in str(found[0].fixes[0])
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1)), "mse")
    with watched() as found:
        model.fit(X, X[:, :1], verbose=0)
    assert found == []


@pytest.mark.parametrize("rate", [10.0, 1e-3])
def test_a_loss_that_grows_until_it_overflows_is_found_in_fit(rate: float) -> None:
    """Each step overshoots, and the loss is no longer finite."""
    x = 100.0 * np.ones((32, 2), "float32")
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(rate * 1e-2), "mse")
    with watched() as found:
        model.fit(x, x[:, :1], batch_size=4, epochs=4 if rate > 1 else 1, verbose=0)
    assert [each.code for each in found][:1] == (["GT401"] if rate > 1 else [])
