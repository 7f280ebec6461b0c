"""Errors of the program's own expressions, and gradients that nothing uses, in small programs for TensorFlow."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradtape.explain.model.problem import Problem
from gradtape.watching import watch
from tests.watching.tensorflow.test_tensorflow import codes, watched

ANY = (AttributeError, IndexError, RuntimeError, TypeError, ValueError, tf.errors.OpError)


def explained(program: Callable[[], Any]) -> Problem:
    """The explanation of the error that a program raises."""
    with pytest.raises(ANY) as raised, watch("tensorflow", tell=lambda note: None):
        program()
    found: Problem = raised.value.problem  # type: ignore[attr-defined]
    return found


def numbers_in_a_graph() -> None:
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def step() -> Any:
        return tf.reduce_sum(w).numpy()

    step()


def branch_in_a_graph() -> None:
    w = tf.Variable(1.0)

    @tf.function(autograph=False)
    def step() -> Any:
        if w > 0.0:
            return w * 2.0
        return w

    step()


def item_of_a_variable() -> None:
    w: Any = tf.Variable([1.0, 2.0])
    w[0] = 3.0


def item_of_a_tensor() -> None:
    x: Any = tf.constant([1.0, 2.0])
    x[0] = 3.0


def index_out_of_range() -> None:
    tf.gather(tf.Variable(tf.ones((5, 2))), tf.constant([0, 5]))


def gradient_of_a_number() -> None:
    w = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        loss = w * w
    tape.gradient(loss.numpy(), w)


def gradient_of_a_class() -> None:
    w = tf.Variable([[1.0]])
    with tf.GradientTape() as tape:
        loss = keras.losses.BinaryCrossentropy(w, 2.0 * w)
    tape.gradient(loss, w)


def watching_an_array() -> None:
    x = np.ones(2)
    with tf.GradientTape() as tape:
        tape.watch(x)


def swapped_pairs() -> None:
    w = keras.Variable([1.0])
    grads = [tf.constant([1.0])]
    variables = [w]
    keras.optimizers.SGD(0.1).apply_gradients(zip(variables, grads))


def gradients_without_variables() -> None:
    w = tf.Variable([1.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    grads = tape.gradient(loss, [w])
    keras.optimizers.SGD(0.1).apply_gradients(grads)


def optimiser_of_another_version() -> None:
    keras.optimizers.SGD(0.1).minimize(lambda: 0.0, [])  # type: ignore[attr-defined]


def gradient_by_arrays() -> None:
    dense = keras.layers.Dense(1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(dense(tf.ones((2, 2))))
    weights = dense.get_weights()
    tape.gradient(loss, weights)


def gradient_of_an_empty_sum() -> None:
    w = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        penalty = sum(list[Any]())
    tape.gradient(penalty, w)


def arithmetic_with_sparse_gradients() -> None:
    table = tf.Variable(tf.ones((4, 2)))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [0, 1]))
    g = tape.gradient(loss, table)
    tf.reduce_sum(g**2)


def rule_without_variables() -> None:
    scale = tf.Variable(2.0)

    @tf.custom_gradient
    def scaled(x: Any) -> Any:
        def backward(upstream: Any) -> Any:
            return upstream * scale

        return x * scale, backward

    with tf.GradientTape():
        scaled(tf.constant(1.0))


def examples_that_were_summed() -> None:
    x = tf.ones((3, 2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x, axis=0)
    tape.batch_jacobian(y, x)


def map_over_integers() -> None:
    w = tf.Variable(tf.ones((3,)))
    tf.map_fn(lambda i: w[i], tf.constant([0, 2]))


def function_of_a_symbolic_input() -> None:
    inputs = keras.Input((2,))
    tf.math.log(inputs)


def loss_without_return() -> None:
    def squares(y_true: Any, y_pred: Any) -> Any:
        loss = tf.reduce_mean((y_true - y_pred) ** 2)  # noqa: F841

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", squares)
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)


def column_of_logits() -> None:
    labels, logits = tf.ones((4,)), tf.Variable(tf.ones((4, 1)))
    tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def unknown_refusal() -> None:
    tf.one_hot(tf.constant([0.5]), 3)


@pytest.mark.parametrize(
    ("program", "code", "edit"),
    [
        (numbers_in_a_graph, "GT312", "tf.reduce_sum(w)"),
        (branch_in_a_graph, "GT314", ""),
        (item_of_a_variable, "GT309", "w[0].assign(3.0)"),
        (item_of_a_tensor, "GT309", ""),
        (index_out_of_range, "GT115", ""),
        (gradient_of_a_number, "GT210", ""),
        (gradient_of_a_class, "GT314", "keras.losses.BinaryCrossentropy()(w, 2.0 * w)"),
        (watching_an_array, "GT203", "tf.constant(np.ones(2))"),
        (swapped_pairs, "GT306", "zip(grads, variables)"),
        (gradients_without_variables, "GT306", "zip(grads, [w])"),
        (optimiser_of_another_version, "GT314", ""),
        (gradient_by_arrays, "GT314", "dense.trainable_variables"),
        (gradient_of_an_empty_sum, "GT305", ""),
        (arithmetic_with_sparse_gradients, "GT314", "tf.convert_to_tensor(g)"),
        (rule_without_variables, "GT304", ""),
        (examples_that_were_summed, "GT301", ""),
        (map_over_integers, "GT314", "tf.map_fn(lambda i: w[i], tf.constant([0, 2]), fn_output_signature=tf.float32)"),
        (function_of_a_symbolic_input, "GT313", "keras.ops.log"),
        (loss_without_return, "GT311", "return tf.reduce_mean((y_true - y_pred) ** 2)"),
        (column_of_logits, "GT118", "logits[:, 0]"),
        (unknown_refusal, "GT314", ""),
    ],
)
def test_error_is_explained_with_an_edit(program: Callable[[], Any], code: str, edit: str) -> None:
    """What is wrong is named, with what to write instead."""
    found = explained(program)
    assert found.code == code
    assert not edit or str(found.fixes[0]) == edit


def test_jacobian_of_a_tensor_that_is_not_watched_is_explained() -> None:
    """`jacobian` gives None as `gradient` does, for the same reasons."""
    x = tf.constant([1.0, 2.0])
    with watched() as found:
        with tf.GradientTape() as tape:
            y = x * x
        assert tape.jacobian(y, x) is None
    assert codes(found) == [("GT201", "GT203")]


def test_swapped_arguments_of_a_loss_are_found() -> None:
    """Keras takes the labels first; the right order is silent."""
    dense = keras.layers.Dense(1, activation="sigmoid")
    x, y = tf.random.normal((6, 2), seed=1), tf.constant([[0.0], [1.0]] * 3)
    bce = keras.losses.BinaryCrossentropy()
    for is_swapped in (False, True):
        with watched() as found:
            with tf.GradientTape() as tape:
                loss = bce(dense(x), y) if is_swapped else bce(y, dense(x))
            tape.gradient(loss, dense.trainable_variables)
        assert [each.code for each in found] == ["GT509"] * is_swapped


@pytest.mark.parametrize("use", ["", "apply", "measure"])
def test_gradients_that_are_never_applied_are_found(use: str) -> None:
    """An optimiser is there, and what the tape gives is not used at all."""
    gc.collect()  # optimisers of other tests, which have made steps
    dense = keras.layers.Dense(1)
    dense.build((None, 2))
    optimizer = keras.optimizers.SGD(0.1)
    with watched() as found:
        for _ in range(4):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(dense(tf.ones((3, 2))) ** 2)
            grads = tape.gradient(loss, dense.trainable_variables)
            if use == "apply":
                optimizer.apply_gradients(zip(grads, dense.trainable_variables))
            elif use == "measure":
                float(tf.norm(grads[0]))
    assert [each.code for each in found] == ([] if use else ["GT512"])


def test_product_of_zero_and_infinity_is_the_origin_of_nan() -> None:
    """A mask that is multiplied by infinity is NaN where it is zero: that operation is named, not one after it."""
    w = tf.Variable([1.0, 2.0])
    mask = tf.constant([1.0, 0.0])
    with watched() as found:
        with tf.GradientTape() as tape:
            scores = w + mask * -np.inf
            loss = tf.reduce_sum(tf.nn.softmax(scores) ** 2)
        tape.gradient(loss, w)
    assert [each.code for each in found] == ["GT401"]
    assert "mask * -np.inf" in found[0].spans[0].text
