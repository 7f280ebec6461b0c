"""Programs for TensorFlow and Keras, watched: what is found, and that nothing changes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import backprop, context, execute
from tensorflow.python.framework import op_callbacks

import gradtape as gt
from gradtape.explain.model.problem import Problem
from gradtape.watching import watch


@contextmanager
def watched() -> Iterator[list[Problem]]:
    """A block that is watched, and what is found in it."""
    found: list[Problem] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with watch("tensorflow"):
            yield found
    found += [w.message.problem for w in caught if hasattr(w.message, "problem")]


def codes(found: list[Problem]) -> list[tuple[str, ...]]:
    """The codes of what was found, with their causes."""
    return [problem.codes for problem in found]


def train(model: Any, x: Any, y: Any, steps: int = 4) -> list[Any]:
    """Train with a tape and an optimiser; the variables and the random state afterwards."""
    adam = keras.optimizers.Adam(0.01)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            noise = 0.1 * tf.random.normal(x.shape)
            loss = tf.reduce_mean((model(x + noise, training=True) - y) ** 2)
        adam.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return [v.numpy() for v in model.variables] + [tf.random.uniform((3,)).numpy(), np.random.rand(3)]


def make_network() -> tuple[Any, Any, Any]:
    """A network with dropout and batch normalisation, and data."""
    keras.utils.set_random_seed(0)
    x = np.random.randn(16, 5).astype("float32")
    layers = keras.layers
    model = keras.Sequential(
        [layers.Dense(8, activation="relu"), layers.Dropout(0.3), layers.BatchNormalization(), layers.Dense(1)]
    )
    return model, x, x.sum(axis=1, keepdims=True)


def fit(compiled: bool) -> list[Any]:
    """Train with `fit`; the variables, losses and random state afterwards."""
    model, x, y = make_network()
    model.compile("adam", "mse", run_eagerly=not compiled, jit_compile=False)
    history = model.fit(x, y, epochs=2, batch_size=8, verbose=0)
    return [v.numpy() for v in model.variables] + [np.array(history.history["loss"]), np.random.rand(3)]


@pytest.mark.parametrize(
    "program", [lambda: train(*make_network()), lambda: fit(True), lambda: fit(False)], ids=["loop", "fit", "eager fit"]
)
def test_numbers_are_the_same_to_the_last_bit(program: Callable[[], list[Any]]) -> None:
    """Watching changes neither parameters nor statistics nor random streams, and a healthy program is silent."""
    before = program()
    with watched() as found:
        after = program()
    assert codes(found) == []
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))


def test_tensorflow_is_left_as_it_was() -> None:
    """All that was patched is put back at the end of the block."""
    before = backprop.GradientTape.gradient, execute.quick_execute, tf.Tensor.__getitem__
    with watched():
        assert backprop.GradientTape.gradient is not before[0]
    assert (backprop.GradientTape.gradient, execute.quick_execute, tf.Tensor.__getitem__) == before
    assert execute.execute is execute.quick_execute
    assert not context.context().op_callbacks
    assert not op_callbacks.should_invoke_op_callbacks()


def test_broadcasts_are_found_in_loops_functions_and_fit() -> None:
    """Predictions (n, 1) minus targets (n,): in a loop, in a tf.function, and in a loss that fit calls."""
    x = np.random.default_rng(0).normal(size=(20, 3)).astype("float32")
    y = x.sum(axis=1)
    w = tf.Variable(tf.ones((3, 1)))
    with watched() as found:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w - y) ** 2)
        tape.gradient(loss, w)
    assert codes(found) == [("GT101",)]

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(x, w) - y) ** 2)
        return tape.gradient(loss, w)

    with watched() as found:
        step(x, y)
    assert codes(found) == [("GT101",)]
    assert found[0].spans[0].text == "tf.matmul(x, w) - y"

    class Squares(keras.losses.Loss):
        def call(self, y_true: Any, y_pred: Any) -> Any:
            return tf.square(y_true - y_pred)

    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", Squares())
    with watched() as found:
        model.fit(x, y, epochs=1, verbose=0)
    assert codes(found) == [("GT101",)]
    assert found[0].spans[0].text == "y_true - y_pred"


def ask(make: Callable[[Any, Any], Any], source: Any) -> list[tuple[str, ...]]:
    """The codes for the gradient of what `make` computes."""
    with watched() as found:
        with tf.GradientTape() as tape:
            target = make(source, tape)
        tape.gradient(target, source)
    return codes(found)


def stopped(x: Any, tape: Any) -> Any:
    """A value that is computed while the tape does not record."""
    with tape.stop_recording():
        y = x * 2.0
    return tf.reduce_sum(y * y)


@pytest.mark.parametrize(
    ("make", "cause"),
    [
        (lambda x, tape: tf.reduce_sum(tf.stop_gradient(x * 2.0)), "GT208"),
        (lambda x, tape: tf.reduce_sum(tf.cast(tf.cast(x, tf.int32), tf.float32)), "GT207"),
        (lambda x, tape: tf.cast(tf.argmax(x * 2.0), tf.float32), "GT209"),
        (lambda x, tape: tf.reduce_sum(tf.round(x * 3.0)), "GT209"),
        (lambda x, tape: tf.constant(np.sum((x * 2.0).numpy())), "GT210"),
        (lambda x, tape: tf.constant(float(x[0] * 2.5)) * 2.0, "GT210"),
        (lambda x, tape: tf.reduce_sum(tf.constant([1.0, 2.0]) ** 2), "GT202"),
        (stopped, "GT211"),
    ],
    ids=["stop_gradient", "cast", "argmax", "round", "numpy", "float", "not used", "stop_recording"],
)
def test_the_cause_of_none_is_named(make: Callable[[Any, Any], Any], cause: str) -> None:
    """Each way in which a gradient is lost between a variable and a target."""
    assert ask(make, tf.Variable([1.3, 2.2])) == [("GT201", cause)]


def test_sources_that_a_tape_does_not_watch() -> None:
    """A constant, a frozen variable, integers, and a name that was bound to a new tensor."""

    def squares(x: Any, tape: Any) -> Any:
        return tf.reduce_sum(x * x)

    assert ask(squares, tf.constant([1.0, 2.0])) == [("GT201", "GT203")]
    assert ask(squares, tf.Variable([1.0, 2.0], trainable=False)) == [("GT201", "GT212")]
    assert ask(squares, tf.Variable([1, 2])) == [("GT201", "GT207")]
    with watched() as found:
        w = tf.Variable(1.0)
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = w * w
            grad = tape.gradient(loss, w)
            if grad is not None:
                w = w - 0.1 * grad
    assert codes(found) == [("GT201", "GT205")]
    assert found[0].fixes[0] == "w.assign_sub(0.1 * grad)"


def test_a_seed_of_the_wrong_shape_explains_the_reshape_error() -> None:
    """The error stays TensorFlow's; the explanation names the seed and is added below it."""
    w = tf.Variable(tf.ones((400,)))
    with watched():
        with tf.GradientTape() as tape:
            image = tf.reshape(tf.tanh(w), (20, 20))
        with pytest.raises(tf.errors.InvalidArgumentError, match="reshape") as caught:
            tape.gradient(image, w, output_gradients=tf.constant([1.0]))
    assert caught.value.problem.code == "GT301"  # type: ignore[attr-defined]
    assert "(20, 20)" in caught.value.__notes__[0]


def test_errors_of_shapes_are_explained() -> None:
    """Sums, products and joints whose shapes do not fit; the message of TensorFlow stays."""
    a, b = tf.ones((2, 3)), tf.Variable(tf.ones((4, 5)))
    programs: list[tuple[Callable[[], Any], str]] = [
        (lambda: a + b, "GT110"),
        (lambda: tf.matmul(a, b), "GT111"),
        (lambda: tf.reshape(b, (7, 3)), "GT114"),
        (lambda: tf.concat([a, b], axis=1), "GT113"),
        (lambda: tf.reduce_sum(a, axis=2), "GT117"),
    ]
    for program, code in programs:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught, watched():
            program()
        assert caught.value.problem.code == code  # type: ignore[attr-defined]


def test_nan_is_followed_to_the_operation_that_made_it() -> None:
    """Forward, backward, and from the branch of where that is not taken."""

    def check(program: Callable[[Any], Any], code: str, start: list[float]) -> None:
        w = tf.Variable(start)
        with watched() as found:
            with tf.GradientTape() as tape:
                loss = program(w)
            tape.gradient(loss, w)
        assert [problem.code for problem in found] == [code]

    check(lambda w: tf.reduce_sum(tf.math.log(w * 0.0)), "GT401", [1.0, 2.0])
    check(lambda w: tf.reduce_sum(tf.sqrt(w * w)), "GT402", [0.0, 2.0])
    check(lambda w: tf.reduce_sum(tf.where(w > 0.0, tf.math.log(w), 0.0)), "GT403", [0.0, 2.0])


def test_an_error_of_our_own_ends_the_watching_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program goes on, with the gradient that TensorFlow gives."""
    from gradtape.watching.tensorflow import recorder

    def fail(*arguments: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.delenv("GRADTAPE_WATCH_DEBUG", raising=False)
    monkeypatch.setattr(recorder.TensorFlowRecorder, "record_operation", fail)
    w = tf.Variable(3.0)
    with watched() as found:
        with tf.GradientTape() as tape:
            loss = w * w
        grad = tape.gradient(loss, w)
    assert float(grad) == 6.0
    assert codes(found) == []


def test_why_answers_for_a_tape() -> None:
    """`gradtape.explain.why((tape, target, source))`: the path, or where the gradient was lost."""
    w, unused = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    with watched():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.stop_gradient(w) * w)
        assert "the gradient flows" in str(gt.explain.why((tape, loss, w)))
        assert gt.explain.why((tape, loss, unused)).problem.code == "GT202"


def test_audit_of_a_keras_model_finds_what_mixes_examples() -> None:
    """A mean over the batch is found, with its line; a model without one passes."""

    class Centred(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return x - tf.reduce_mean(x, axis=0)

    x = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
    assert gt.audit_batch(keras.Sequential([keras.layers.Dense(2, activation="tanh")]))(x)
    audit = gt.audit_batch(keras.Sequential([Centred(), keras.layers.Dense(2)]))(x)
    assert not audit
    assert len(audit.leaks) == 12
    assert "tf.reduce_mean(x, axis=0)" in audit.meetings[0].source


def test_a_nan_inside_fit_is_followed_to_its_line() -> None:
    """The compiled step runs as it is; its numbers are evaluated beside it."""

    class Standardise(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return (x - tf.reduce_mean(x, axis=0)) / tf.math.reduce_std(x, axis=0)

    x = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
    x[:, 1] = 1.0
    model = keras.Sequential([keras.layers.Input((3,)), Standardise(), keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    with watched() as found:
        model.fit(x, x[:, :1], epochs=1, batch_size=8, verbose=0)
    assert codes(found) == [("GT401",)]
    assert "reduce_std" in found[0].spans[0].source


def test_watching_comes_back_when_a_loss_is_no_longer_finite() -> None:
    """A NaN after the watched steps is explained: in a loop with tapes, in a compiled function, and in `fit`."""
    x = np.ones((8, 2), "float32")

    def step(w: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.math.log(tf.abs(x @ w)))
        tape.gradient(loss, w)
        return loss

    def loop(step: Any) -> list[Problem]:
        w = tf.Variable([[1.0], [2.0]])
        found: list[Problem] = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with watch("tensorflow", steps=1, seconds=0.0):
                for k in range(8):
                    if k == 5:
                        w.assign(tf.zeros((2, 1)))
                    step(w)
        found += [each.message.problem for each in caught if hasattr(each.message, "problem")]
        return found

    assert [(f.code, f.spans[0].text) for f in loop(step)] == [("GT401", "tf.math.log(tf.abs(x @ w))")]
    assert [f.code for f in loop(tf.function(step))] == ["GT401"]

    def fit_until_it_is_lost(eagerly: bool) -> list[Problem]:
        model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(1e12), "mse", run_eagerly=eagerly)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with watch("tensorflow", steps=1, seconds=0.0):
                model.fit(x, x[:, :1], epochs=8, verbose=0)
        return [each.message.problem for each in caught if hasattr(each.message, "problem")]

    assert [f.code for f in fit_until_it_is_lost(True)] == ["GT401"]
    assert [f.code for f in fit_until_it_is_lost(False)] == ["GT401"]
