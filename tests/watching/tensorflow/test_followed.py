"""Functions that are compiled, rules of rounding functions, targets that are repeated; and what is left alone."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.watching.tensorflow.test_tensorflow import codes, watched

X = np.random.default_rng(0).normal(size=(12, 6)).astype("float32")


def step(target: Any, variables: Any) -> None:
    """Two gradients of a loss by variables, applied."""
    optimizer = keras.optimizers.SGD(0.1)
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = target()
        optimizer.apply_gradients(zip(tape.gradient(loss, variables()), variables(), strict=True))


def test_a_number_may_be_fitted_to_a_model_as_it_is() -> None:
    """A temperature is asked for alone, and the layers before it are not to learn."""
    layer, temperature = keras.layers.Dense(3), tf.Variable(1.0)
    with watched() as found:
        step(lambda: tf.reduce_mean(tf.nn.softmax(layer(X) * temperature)[:, 0]), lambda: [temperature])
    assert codes(found) == []


def test_the_operation_inside_a_compiled_function_is_found() -> None:
    """The tape outside records one operation; the one that gives NaN in the branch not taken is named."""
    shift = tf.Variable(0.0)

    @tf.function
    def utility(shift: Any) -> Any:
        z = tf.constant([0.0, 0.5, 2.0]) + shift
        return tf.reduce_sum(tf.where(z > 0, tf.math.log(z), tf.zeros_like(z)))

    with watched() as found:
        with tf.GradientTape() as tape:
            value = utility(shift)
        tape.gradient(value, shift)
    assert codes(found) == [("GT403",)]
    assert "tf.math.log(z)" in found[0].spans[0].source


@pytest.mark.parametrize(("scale", "expected"), [(1e4, [("GT404",)]), (0.1, [])])
def test_a_saturated_activation_inside_a_compiled_function_is_found(scale: float, expected: list[tuple[str]]) -> None:
    """Gradients of exactly zero, because a sigmoid is 1 for all examples."""
    weight, last = tf.Variable(tf.ones((6, 4))), tf.Variable(tf.ones((4, 1)))

    @tf.function
    def network(x: Any) -> Any:
        return tf.sigmoid(x @ weight) @ last

    with watched() as found:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(network(tf.abs(X) * scale) ** 2)
        tape.gradient(loss, [weight, last])
    assert [code for code in codes(found) if code != ("GT514",)] == expected


def test_a_rule_of_a_rounding_function_has_a_gradient_for_each_argument() -> None:
    """The number of gradients is checked where nothing else of the rule can be."""

    @tf.custom_gradient
    def quantised(x: Any, levels: Any) -> Any:
        def grad(upstream: Any) -> Any:
            return upstream

        return tf.round(x * levels) / levels, grad

    w = tf.Variable([0.3, 1.2])
    with tf.GradientTape() as tape, watched():
        loss = tf.reduce_sum(quantised(w, tf.constant(8.0)))
        with pytest.raises(ValueError, match="expected to return") as raised:
            tape.gradient(loss, w)
    assert raised.value.problem.code == "GT304"  # type: ignore[attr-defined]


@pytest.mark.parametrize(("rule", "expected"), [(tf.tanh, [("GT320",)]), (tf.sigmoid, [])])
def test_a_rule_of_a_function_with_branches_is_compared(rule: Any, expected: list[tuple[str]]) -> None:
    """Softplus by maximum and log1p: a rule that is the derivative nowhere is wrong."""

    @tf.custom_gradient
    def softplus(x: Any) -> Any:
        return tf.maximum(x, 0.0) + tf.math.log1p(tf.exp(-tf.abs(x))), lambda upstream: upstream * rule(x)

    w = tf.Variable([0.3, -1.2, 2.0, -0.4, 0.5])
    with watched() as found:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(softplus(w) ** 2)
        tape.gradient(loss, w)
    assert codes(found) == expected


@pytest.mark.parametrize("is_sequence", [True, False])
def test_a_target_that_keras_repeats_for_each_step_is_reported(is_sequence: bool) -> None:
    """One target for each example, and an output for each step."""
    model = keras.Sequential([keras.layers.SimpleRNN(3, return_sequences=is_sequence), keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    with watched() as found:
        model.fit(X.reshape(12, 3, 2), X[:, :1], verbose=0)
    assert codes(found) == ([("GT102",)] if is_sequence else [])


@pytest.mark.parametrize("activation", ["softmax", "linear"])
def test_a_loss_that_is_told_of_logits_and_gets_probabilities_is_reported(activation: str) -> None:
    """Keras takes what the softmax was given; the program says two things that exclude each other."""
    model = keras.Sequential([keras.layers.Dense(3, activation=activation)])
    model.compile(optimizer="sgd", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    with watched() as found:
        model.fit(X, np.arange(12) % 3, verbose=0)
    assert codes(found) == ([("GT509",)] if activation == "softmax" else [])
