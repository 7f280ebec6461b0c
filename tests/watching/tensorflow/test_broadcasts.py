"""Broadcasts that are not in a difference: labels in a metric, conditions, picked actions, lengths of rows."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.watching.tensorflow.test_tensorflow import watched

X = tf.constant(np.random.default_rng(0).normal(size=(8, 4)), tf.float32)


@pytest.mark.parametrize("is_flat", [False, True])
def test_predicted_classes_against_a_column_of_labels(is_flat: bool) -> None:
    """The accuracy compares every class with every label; nothing of it is on a tape."""
    dense = keras.layers.Dense(3)
    labels = tf.constant(np.arange(8)[:, None] % 3, tf.int64)
    with watched() as found:
        classes = tf.argmax(dense(X), axis=1)
        tf.reduce_mean(tf.cast(tf.equal(classes, labels[:, 0] if is_flat else labels), tf.float32))
    assert [each.code for each in found] == ([] if is_flat else ["GT101"])


def test_a_condition_against_columns() -> None:
    """The condition of where is a vector, its branches are columns: the edit gives it their axis."""
    dense = keras.layers.Dense(1)
    y = tf.reduce_sum(X, axis=1)
    with watched() as found:
        with tf.GradientTape() as tape:
            error = tf.abs(dense(X) - y[:, None])
            loss = tf.reduce_mean(tf.where(y > 0.0, 2.0 * error, error))
        tape.gradient(loss, dense.trainable_variables)
    assert [each.code for each in found] == ["GT101"]
    assert "(y > 0.0)[:, None]" in str(found[0].fixes[0])


@pytest.mark.parametrize("is_right", [False, True])
def test_every_action_for_every_state(is_right: bool) -> None:
    """`tf.gather` along axis 1 picks a table, with batch_dims one element of each row."""
    dense = keras.layers.Dense(3)
    actions = tf.constant([0, 1, 2, 0, 1, 2, 0, 1])
    returns = tf.reduce_sum(X, axis=1)
    with watched() as found:
        with tf.GradientTape() as tape:
            values = dense(X)
            picked = tf.gather(values, actions, batch_dims=1) if is_right else tf.gather(values, actions, axis=1)
            loss = tf.reduce_mean((picked - returns) ** 2)
        tape.gradient(loss, dense.trainable_variables)
    assert [each.code for each in found] == ([] if is_right else ["GT101"])
    assert is_right or str(found[0].fixes[0]) == "tf.gather(values, actions, batch_dims=1)"


@pytest.mark.parametrize("keeps", [False, True])
def test_rows_that_are_divided_by_their_lengths(keeps: bool) -> None:
    """`tf.norm` without keepdims scales the columns of a square matrix."""
    dense = keras.layers.Dense(8)
    with watched() as found:
        with tf.GradientTape() as tape:
            z = dense(X)
            unit = z / (tf.norm(z, axis=1, keepdims=True) if keeps else tf.norm(z, axis=1))
            loss = tf.reduce_mean(unit[:, 0] * X[:, 0])
        tape.gradient(loss, dense.trainable_variables)
    assert [each.code for each in found] == ([] if keeps else ["GT103"])
