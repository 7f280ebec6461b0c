"""Mistakes in layers of the program's own: attention, weights without use, rules, initial values, frozen models."""

from __future__ import annotations

import math
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradtape.watching import watch
from tests.watching.tensorflow.test_tensorflow import codes, watched

X = tf.constant(np.random.default_rng(0).normal(size=(6, 5, 4)), tf.float32)
ROWS = tf.constant(np.random.default_rng(1).normal(size=(12, 4)), tf.float32)


@pytest.mark.parametrize(("axis", "expected"), [(1, [("GT501",)]), (-1, [])])
def test_attention_with_transposed_keys_sums_over_the_keys(axis: int, expected: list[Any]) -> None:
    """`transpose_b=True` in the product that makes the scores hides nothing."""
    query, key = keras.layers.Dense(4), keras.layers.Dense(4)
    with watched() as found:
        with tf.GradientTape() as tape:
            scores = tf.matmul(query(X), key(X), transpose_b=True) / 2.0
            loss = tf.reduce_mean(tf.matmul(tf.nn.softmax(scores, axis=axis), X) ** 2)
        tape.gradient(loss, query.trainable_variables + key.trainable_variables)
    assert codes(found) == expected


def test_weights_that_are_transposed_by_the_product_sum_over_their_own_axis() -> None:
    """`transpose_a=True` sums over the axis before the last one, which a softmax over axis 1 is right for."""
    query, key = keras.layers.Dense(4), keras.layers.Dense(4)
    with watched() as found:
        with tf.GradientTape() as tape:
            scores = tf.matmul(query(X), key(X), transpose_b=True) / 2.0
            loss = tf.reduce_mean(tf.matmul(tf.nn.softmax(scores, axis=1), X, transpose_a=True) ** 2)
        tape.gradient(loss, query.trainable_variables + key.trainable_variables)
    assert not found


class Gated(keras.layers.Layer):
    """A layer with a weight that none of its methods reads."""

    def build(self, shape: Any) -> None:
        self.scale = self.add_weight(shape=(shape[-1],), name="scale")
        self.forgotten = self.add_weight(shape=(shape[-1],), name="forgotten")

    def call(self, x: Any) -> Any:
        return x * self.scale


class Phased(keras.layers.Layer):
    """A layer with a weight that is read in its second phase only."""

    def __init__(self) -> None:
        super().__init__()
        self.is_late = False

    def build(self, shape: Any) -> None:
        self.early = self.add_weight(shape=(shape[-1],), name="early")
        self.later = self.add_weight(shape=(shape[-1],), name="later")

    def call(self, x: Any) -> Any:
        return x * self.early * self.later if self.is_late else x * self.early


@pytest.mark.parametrize(("kind", "expected"), [(Gated, [("GT201", "GT202")]), (Phased, [])])
def test_a_weight_that_no_method_reads_is_named(kind: Any, expected: list[Any]) -> None:
    """The gradient of one weight among others may be None on purpose, but not if nothing can read it."""
    model = keras.Sequential([keras.Input((4,)), kind(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    with watched() as found:
        model.fit(ROWS, ROWS[:, :1], verbose=0)
    assert codes(found) == expected
    assert all("self.forgotten = " in each.spans[-1].source for each in found)


def hard_tanh(is_right: bool) -> Any:
    """A clipped activation whose rule passes the gradient inside of the limits, or only outside of them."""

    @tf.custom_gradient
    def function(x: Any) -> Any:
        def rule(upstream: Any) -> Any:
            inside = tf.abs(x) < 1.0
            return upstream * tf.cast(inside if is_right else tf.logical_not(inside), x.dtype)

        return tf.clip_by_value(x, -1.0, 1.0), rule

    return function


@tf.custom_gradient
def clip_straight_through(x: Any) -> Any:
    """A clip whose gradient passes everywhere, on purpose."""
    return tf.clip_by_value(x, -1.0, 1.0), lambda upstream: upstream


@pytest.mark.parametrize(
    ("function", "expected"),
    [(hard_tanh(False), [("GT320",)]), (hard_tanh(True), []), (clip_straight_through, [])],
)
def test_a_rule_whose_condition_is_reversed_is_not_the_derivative(function: Any, expected: list[Any]) -> None:
    """It is zero wherever the derivative is not; one that passes everything may be meant."""
    dense = keras.layers.Dense(3, kernel_initializer=keras.initializers.RandomNormal(seed=1))
    with watched() as found:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((function(dense(ROWS * 30.0)) - 0.3) ** 2) + tf.reduce_mean(function(dense(ROWS)))
        tape.gradient(loss, dense.trainable_variables)
    assert codes(found)[:1] == expected


def test_an_initialiser_that_has_a_name_is_where_units_become_equal() -> None:
    """The call that makes it is shown, and is replaced by the edit."""
    initial = keras.initializers.Constant(0.1)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, kernel_initializer=initial)])
    model.add(keras.layers.Dense(1, kernel_initializer=initial))
    model.compile("sgd", "mse")
    with watched() as found:
        model.fit(ROWS, ROWS[:, :1] * 3.0, epochs=2, verbose=0)
    assert [each.code for each in found] == ["GT514"]
    assert found[0].spans[0].text == "keras.initializers.Constant(0.1)"
    assert str(found[0].fixes[0]) == '"glorot_uniform"'


def test_the_statement_that_froze_a_model_is_shown() -> None:
    """A gradient for no variables ends in an error of the optimiser, which does not name it."""
    dense = keras.layers.Dense(1)
    dense(ROWS)
    dense.trainable = False

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(dense(ROWS) ** 2)
        gradients = tape.gradient(loss, dense.trainable_variables)
        keras.optimizers.SGD(0.1).apply_gradients(zip(gradients, dense.trainable_variables))

    with pytest.raises(ValueError, match="not enough values") as raised, watch("tensorflow", tell=lambda note: None):
        step()
    found = raised.value.problem  # type: ignore[attr-defined]
    assert found.code == "GT512"
    assert "dense.trainable = False" in found.spans[0].source
    assert str(found.fixes[0]) == "True"


def test_integers_that_were_passed_to_a_function_are_shown_where_they_were_made() -> None:
    """Where they are watched is not where they became integers."""

    def slope(positions: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(positions)
            energy = tf.cast(positions, tf.float32) ** 2
        return tape.gradient(energy, positions)

    with watched() as found:
        distances = tf.range(1, 9)
        slope(distances)
    assert codes(found) == [("GT201", "GT207")]
    assert found[0].spans[0].text == "tf.range(1, 9)"
    assert str(found[0].fixes[0]) == "tf.range(1.0, 9.0)"


log_gamma = np.vectorize(math.lgamma)


def test_a_function_of_numpy_that_has_a_name_of_its_own_is_named() -> None:
    """`np.vectorize(f)` takes the numbers of a tensor as other functions of NumPy do."""
    shape = tf.Variable([1.5, 2.5])
    with watched() as found:
        with tf.GradientTape() as tape:
            value = shape * 2.0
            loss = tf.reduce_sum(tf.constant(log_gamma(value), tf.float32))
        tape.gradient(loss, shape)
    assert codes(found) == [("GT201", "GT210")]
    assert found[0].spans[0].text == "log_gamma(value)"


@pytest.mark.parametrize("units", [5, 7])
def test_a_transposition_is_offered_only_where_the_sum_around_it_exists(units: int) -> None:
    """(3, 7) @ (7, 5) exists, and cannot be added to a bias of 7."""
    h, w, b = tf.ones((3, 7)), tf.Variable(tf.ones((5, 7))), tf.Variable(tf.zeros(units))
    with pytest.raises(tf.errors.InvalidArgumentError) as raised, watch("tensorflow", tell=lambda note: None):
        tf.matmul(h, w) + b
    found = raised.value.problem  # type: ignore[attr-defined]
    edits = [str(fix) for fix in found.fixes if "tf.transpose" in str(fix)]
    assert edits == (["tf.matmul(h, tf.transpose(w))"] if units == 5 else [])
