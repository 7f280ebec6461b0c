"""What optimisers are given, and what a program asks for: programs for TensorFlow, watched."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

from tests.watching.tensorflow.test_tensorflow import codes, watched


def random_variable(*shape: int) -> tf.Variable:
    """A variable none of whose units are equal."""
    return tf.Variable(np.random.default_rng(0).normal(size=shape), dtype=tf.float32)


def test_a_gradient_that_is_divided_by_its_norm_of_zero_is_reported_where_that_is_done() -> None:
    """The optimiser is given NaN although the tape gave zeros: the division is named, not the variable it spoils."""
    weight, scale = tf.Variable([[0.5], [0.25]]), tf.Variable(0.0)
    optimiser = keras.optimizers.SGD(0.1)
    x = tf.ones((4, 2))
    with watched() as found:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((scale * (x @ weight) - 1.0) ** 2)
        gradients = [g / tf.norm(g) for g in tape.gradient(loss, [weight, scale])]
        optimiser.apply_gradients(zip(gradients, [weight, scale]))
    assert codes(found) == [("GT401",)]
    assert "divides by 0" in found[0].title
    assert "g / tf.norm(g)" in found[0].title


def test_gradients_that_stay_finite_on_the_way_to_the_optimiser_are_not_reported() -> None:
    """A norm that is kept from zero says nothing."""
    weight, scale = tf.Variable([[0.5], [0.25]]), tf.Variable(0.0)
    optimiser = keras.optimizers.SGD(0.1)
    with watched() as found:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((scale * (tf.ones((4, 2)) @ weight) - 1.0) ** 2)
        gradients = [g / (tf.norm(g) + 1e-8) for g in tape.gradient(loss, [weight, scale])]
        optimiser.apply_gradients(zip(gradients, [weight, scale]))
    assert codes(found) == []


def _two_heads(uses_second: bool, filters: bool = False) -> list[tuple[str, ...]]:
    first, second = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    optimiser = keras.optimizers.SGD(0.01)
    with watched() as found:
        for _ in range(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(first**2) + (tf.reduce_sum(second**2) if uses_second else 0.0)
            pairs = [*zip(tape.gradient(loss, [first, second]), [first, second])]
            optimiser.apply_gradients([(g, v) for g, v in pairs if g is not None] if filters else pairs)
    return codes(found)


def test_a_variable_that_an_optimiser_gets_without_a_gradient_in_each_step_is_reported() -> None:
    """Keras warns of it each time; why it has none is said once, at the end."""
    assert _two_heads(uses_second=False) == [("GT201", "GT202")]


def test_a_variable_without_a_gradient_that_is_left_out_by_hand_is_not_reported() -> None:
    """Leaving the None out says that it was meant."""
    assert _two_heads(uses_second=False, filters=True) == []
    assert _two_heads(uses_second=True) == []


def test_gradients_that_are_only_looked_at_say_nothing_of_the_other_variables() -> None:
    """Without a step nothing is trained, so that a variable that was not asked for misses nothing."""
    with watched() as found:
        encoder, decoder = random_variable(3, 2), random_variable(2, 3)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((tf.tanh(tf.ones((4, 3)) @ encoder) @ decoder) ** 2)
        tape.gradient(loss, [decoder])
    assert codes(found) == []


def test_a_step_that_was_copied_is_named_as_the_place_that_asks_for_the_wrong_variables() -> None:
    """Both steps ask for the variables of one part: the second was to ask for those of the other."""
    optimiser = keras.optimizers.SGD(0.01)
    x = tf.ones((4, 3)) * tf.constant([1.0, -0.5, 0.25])
    with watched() as found:
        encoder, decoder = random_variable(3, 2), random_variable(2, 3)
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((tf.tanh(x @ encoder) @ decoder - 3.0) ** 2)
            optimiser.apply_gradients([(tape.gradient(loss, decoder), decoder)])
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((tf.tanh(x @ encoder) @ decoder - 1.0) ** 2)
            optimiser.apply_gradients([(tape.gradient(loss, decoder), decoder)])
    assert codes(found) == [("GT513",)]
    (first,) = [span for span in found[0].spans if span.label == "the same variables are asked for here"]
    assert found[0].spans[0].line > first.line


def test_fit_of_a_model_whose_layers_are_all_frozen_is_reported() -> None:
    """Keras trains nothing, with a warning of its own."""
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2), keras.layers.Dense(1)])
    for layer in model.layers:
        layer.trainable = False
    model.compile("sgd", loss="mse")
    with watched() as found:
        model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)
    assert codes(found) == [("GT512",)]
    assert found[0].spans[0].label == "frozen here"


def test_labels_with_an_axis_of_one_class_are_reported() -> None:
    """TensorFlow repeats them for all classes without a word."""
    w = random_variable(3, 5)
    labels = tf.constant([[0.0], [3.0]])
    with watched() as found:
        with tf.GradientTape() as tape:
            logits = tf.ones((2, 3)) @ w
            loss = tf.reduce_sum(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        tape.gradient(loss, w)
    assert codes(found) == [("GT509",)]
    assert "sparse_softmax_cross_entropy_with_logits(labels=tf.cast(labels[..., 0]" in found[0].fixes[0]


def test_a_sigmoid_before_the_weighted_cross_entropy_is_reported() -> None:
    """It takes logits as its unweighted counterpart does; a softmax is as wrong there."""
    for activation in (tf.sigmoid, tf.nn.softmax):
        w = random_variable(3, 2)
        with watched() as found:
            with tf.GradientTape() as tape:
                scores = activation(tf.ones((4, 3)) @ w)
                losses = tf.nn.weighted_cross_entropy_with_logits(tf.ones((4, 2)), scores, 2.0)
                loss = tf.reduce_mean(losses)
            tape.gradient(loss, w)
        assert codes(found) == [("GT509",)]


def test_a_relu_before_a_loss_that_takes_probabilities_is_reported() -> None:
    """Its results are 0 or any number, and are clipped."""
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="relu")])
    model.compile("sgd", loss="sparse_categorical_crossentropy")
    with watched() as found:
        model.fit(np.ones((4, 3)), np.array([0, 1, 2, 3]), verbose=0)
    assert ("GT509",) in codes(found)
    assert found[0].fixes[0] == '"softmax"'


def test_a_value_written_into_an_array_of_numpys_is_named_as_where_the_gradient_is_lost() -> None:
    """NumPy reads tensors without a call: the statements that made the array are read instead."""
    w = tf.Variable([1.0, 2.0])
    path = np.zeros((3, 2), dtype="float32")
    with watched() as found:
        with tf.GradientTape() as tape:
            for t in range(3):
                step = w * float(t)
                path[t] = step
            loss = tf.reduce_sum(tf.constant(path) ** 2)
        assert tape.gradient(loss, w) is None
    assert codes(found) == [("GT201", "GT210")]
    assert "path[t]" in found[0].title


def test_a_value_that_keras_converts_to_an_array_is_named_as_where_the_gradient_is_lost() -> None:
    """The conversion of keras.ops reads the numbers, as numpy() does."""
    w = tf.Variable([1.0, 2.0])
    with watched() as found:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(keras.ops.convert_to_numpy(w * 2.0))
        assert tape.gradient(loss, w) is None
    assert codes(found) == [("GT201", "GT210")]


def test_positions_that_pick_rows_are_named_where_all_gradients_are_none() -> None:
    """The nearest code is picked by argmin, so that the encoder has no gradient."""
    encoder, codebook = tf.Variable(tf.ones((3, 2))), tf.Variable([[0.0, 1.0], [2.0, 0.0]])
    with watched() as found:
        with tf.GradientTape() as tape:
            code = tf.ones((4, 3)) @ encoder
            nearest = tf.argmin(tf.reduce_sum((code[:, None] - codebook[None]) ** 2, axis=2), axis=1)
            loss = tf.reduce_sum(tf.gather(codebook, nearest) ** 2)
        assert tape.gradient(loss, encoder) is None
    assert codes(found) == [("GT201", "GT209")]


def test_a_first_derivative_taken_after_the_outer_tape_has_closed_is_named() -> None:
    """The second derivative is None because the first was not recorded."""
    x = tf.constant([0.5, 1.0])
    with watched() as found:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.sin(x)
        dy = inner.gradient(y, x)
        assert outer.gradient(dy, x) is None
    assert codes(found) == [("GT201", "GT211")]
    assert found[0].fixes[0] == "            dy = inner.gradient(y, x)"
