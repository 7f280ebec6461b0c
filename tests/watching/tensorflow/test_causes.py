"""Causes that only some programs of TensorFlow and Keras show: where variables are read, made and left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradtape.commands import main
from gradtape.errors import GradientWarning
from gradtape.watching import watch
from tests.watching.tensorflow.test_tensorflow import codes, watched

X = np.random.default_rng(0).normal(size=(20, 10, 3)).astype("float32")


def test_a_tape_that_does_not_watch_variables_says_so() -> None:
    """With watch_accessed_variables=False the cause is where the tape was made, and the edit takes the argument out."""
    v = tf.Variable(1.0)
    with watched() as found:
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            loss = v * v
        assert tape.gradient(loss, v) is None
    assert codes(found) == [("GT201", "GT212")]
    assert str(found[0].fixes[0]) == "tf.GradientTape()"


def test_what_is_computed_after_the_block_is_moved_into_it() -> None:
    """A function that is called after the with block: the call is named, not the comparison inside of the loss."""
    dense = keras.layers.Dense(1)

    def loss_of(prediction: Any) -> Any:
        return tf.reduce_mean(keras.losses.huber(X[:, 0, :1], prediction))

    with watched() as found:
        with tf.GradientTape() as tape:
            prediction = dense(X[:, 0])
        loss = loss_of(prediction)
        tape.gradient(loss, dense.trainable_variables)
    assert codes(found) == [("GT201", "GT211")]
    assert "loss = loss_of(prediction)" in found[0].spans[0].source
    assert str(found[0].fixes[0]).strip() == "loss = loss_of(prediction)"


def test_layers_that_are_made_in_each_call_never_learn() -> None:
    """Their variables are new in each step; those of a layer that was read before it was built are left out."""
    hidden, late = keras.layers.Dense(4), keras.layers.Dense(1)
    hidden.build((None, 3))
    with watched() as found:
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(keras.layers.Dense(1)(hidden(X[:, 0])) ** 2)
            tape.gradient(loss, hidden.trainable_variables)
    assert codes(found) == [("GT513",)]
    assert "made anew" in found[0].title
    with watched() as found:
        variables = hidden.trainable_variables + late.trainable_variables
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(late(hidden(X[:, 0])) ** 2)
        tape.gradient(loss, variables)
    assert codes(found) == [("GT513",)]
    assert "before it had any" in found[0].title


def test_an_input_that_is_learned_leaves_its_network_alone() -> None:
    """The kernel of a network is no variable that was forgotten, where its input is what is changed."""
    image, network = tf.Variable(X[:1]), keras.layers.Dense(3)
    with watched() as found:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(network(image) + image)
        image.assign_sub(tape.gradient(loss, image))
    assert codes(found) == []


def test_overflow_of_a_scaled_loss_is_left_to_the_optimiser() -> None:
    """Half precision gradients that overflow under loss scaling are meant: the step is left out."""
    weight = tf.Variable(tf.ones((3, 1), tf.float16))
    with watched() as found:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.cast(tf.cast(100 * X[:, 0], tf.float16) @ weight, tf.float32) ** 2) * 65536.0
        assert not np.isfinite(tape.gradient(loss, weight).numpy()).all()
    assert codes(found) == []


def test_functions_made_of_several_operations() -> None:
    """A clip that is at its bound everywhere, a squared difference of one against many, a rule of a norm."""
    weight = tf.Variable([[6.0], [6.0], [6.0]])

    @tf.custom_gradient
    def length(v: Any) -> Any:
        n = tf.norm(v)
        return n, lambda upstream: upstream * v / (n * n)

    with watched() as found:
        with tf.GradientTape() as tape:
            clipped = tf.clip_by_value(tf.abs(X[:, 0]) @ weight + 9.0, 0.0, 1.0)
            loss = tf.reduce_mean((clipped - 0.5) ** 2)
        tape.gradient(loss, weight)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.math.squared_difference(X[:, 0] @ weight, X[:, :, 0]))
        tape.gradient(loss, weight)
        with tf.GradientTape() as tape:
            size = length(weight)
        tape.gradient(size, weight)
    assert codes(found) == [("GT404",), ("GT102",), ("GT320",)]


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda a, b: keras.layers.Concatenate()([a, b]), "GT113"),
        (lambda a, b: keras.layers.Add()([a, b]), "GT110"),
        (lambda a, b: keras.ops.matmul(a, b), "GT111"),
        (lambda a, b: keras.layers.Reshape((5, 5))(a), "GT114"),
        (lambda a, b: keras.layers.Conv1D(2, 9)(a), "GT116"),
        (lambda a, b: keras.Model([a, b], a)(a), "GT116"),
    ],
)
def test_errors_of_layers_that_are_put_together(build: Any, code: str) -> None:
    """Keras infers shapes before anything is computed: its errors are explained by what they say."""
    with pytest.raises(ValueError, match=r"shape|size|dimensions|input") as caught, watched():
        build(keras.Input((4, 3)), keras.Input((5, 2)))
    assert caught.value.problem.code == code  # type: ignore[attr-defined]


def test_a_reshape_inside_a_layer_is_explained() -> None:
    """Keras first calls a layer with tensors of a graph, whose lengths may be unknown, and then with numbers."""

    class Heads(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return tf.reshape(x, (tf.shape(x)[0], tf.shape(x)[1], 4, 8))

    with pytest.raises(tf.errors.InvalidArgumentError) as caught, watched():
        Heads()(tf.ones((2, 5, 30)))
    assert caught.value.problem.code == "GT114"  # type: ignore[attr-defined]


def test_values_that_leave_by_positions_numpy_and_lists() -> None:
    """Positions of argsort, functions of NumPy, and lists of new tensors that take the name of those of Variables."""
    w = tf.Variable([3.0, 1.0, 2.0])

    def gradient(compute: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(compute())
        return tape.gradient(loss, w)

    with watched() as found:
        assert gradient(lambda: tf.cast(tf.argsort(w), tf.float32)) is None
        assert gradient(lambda: tf.numpy_function(np.sinc, [w], tf.float32)) is None
    assert codes(found) == [("GT201", "GT209")] * 2
    theta = [tf.Variable(1.0), tf.Variable(2.0)]
    with watched() as found:
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = theta[0] * theta[1]
            grads = tape.gradient(loss, theta)
            if grads[0] is not None:
                theta = [p - 0.1 * g for p, g in zip(theta, grads)]
    assert codes(found) == [("GT201", "GT205")]
    assert "p.assign_sub(0.1 * g)" in str(found[0].fixes[0])


def test_a_gradient_for_no_variables_explains_the_error_of_the_optimiser() -> None:
    """All layers are frozen, so that the list is empty: Keras says only that it cannot unpack it."""
    dense = keras.layers.Dense(1)
    dense.trainable = False

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(dense(X[:, 0]))
        grads = tape.gradient(loss, dense.trainable_variables)
        keras.optimizers.SGD().apply_gradients(zip(grads, dense.trainable_variables))

    with pytest.raises(ValueError, match=r"unpack|gradients|empty") as caught, watched():
        step()
    assert caught.value.problem.code == "GT512"  # type: ignore[attr-defined]


def test_a_report_lists_what_got_no_gradient(tmp_path: Path) -> None:
    """Sources without a gradient are in the table of the report, by their names in the program and with the reason."""
    script, page = tmp_path / "train.py", tmp_path / "report.html"
    script.write_text(
        "import tensorflow as tf\n"
        "kept, lost = tf.Variable(1.0), tf.Variable(2.0)\n"
        "with tf.GradientTape() as tape:\n"
        "    loss = kept**2 + tf.stop_gradient(lost)\n"
        "tape.gradient(loss, [kept, lost])\n"
    )
    main(["run", "--report", str(page), str(script)])
    text = page.read_text()
    assert "1 of 2 sources reached" in text
    assert "no gradient: the value left the tape at stop_gradient" in text
    assert "Variable:0" not in text


def test_the_target_of_gradients_that_are_all_none_is_in_the_report() -> None:
    """The report names what was differentiated also if it was computed from no source."""
    seen: list[Any] = []
    w = tf.Variable([1.0, 2.0])
    with watch("tensorflow", tell=seen.append, observe=lambda where, collect: seen.append(collect())):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.constant(w.numpy()) * 3.0)
        with pytest.warns(GradientWarning):
            tape.gradient(loss, w)
    (facts,) = seen
    assert [facts.places[key].name for key in facts.targets] == ["sum"]
    assert [source.gradient for source in facts.sources] == [None]
