"""The stand-in for TensorFlow: functions that are called often are compiled, and nobody can tell but by the time."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtape_standins import tensorflow as tf
from gradtape_standins.tensorflow import auto_jit


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile after two calls."""
    monkeypatch.setattr(auto_jit, "WARM", 2)


def compiled(function: Any) -> list[bool]:
    """For each kind of arguments, whether the function runs through `gt.jit`."""
    return [trace.auto_jit._compiled is not None for trace in function._traces.values()]


def test_called_often_it_is_compiled() -> None:
    """After some calls the function runs through `gt.jit`, with the same numbers; other shapes are another kind."""

    @tf.function
    def f(x: Any) -> Any:
        return {"y": tf.reduce_sum(tf.tanh(x) ** 2), "rest": (x, None)}, 3

    x = tf.constant([0.5, -1.0])
    answers = [f(x) for _ in range(6)]
    assert compiled(f) == [True]
    for found, three in answers:
        assert float(found["y"]) == pytest.approx(float(np.sum(np.tanh([0.5, -1.0]) ** 2)), rel=1e-6)
        assert found["rest"][1] is None
        assert isinstance(three, tf.Tensor)
    f(tf.constant(1.0))
    assert compiled(f) == [True, False]


def test_a_training_step_is_compiled() -> None:
    """Layers, losses, tape, optimiser and metric in one function: compiled, it learns what it learns uncompiled."""

    def trained(decorate: Callable[..., Any]) -> tuple[list[float], float, list[Any], Any]:
        model = tf.keras.Sequential(
            [tf.keras.layers.Dense(3, activation="tanh", kernel_initializer="ones"), tf.keras.layers.Dense(2)]
        )
        optimizer = tf.keras.optimizers.Adam(0.05)
        loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
        x, y = tf.constant(np.linspace(-1, 1, 12).reshape(6, 2).astype("float32")), tf.constant([0, 1, 0, 1, 1, 1])
        model(x)
        model.layers[1].kernel.assign(np.linspace(-1, 1, 6).reshape(3, 2))

        def step(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                logits = model(x, training=True)
                loss = loss_of(y, logits)
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
            accuracy.update_state(y, logits)
            return loss

        run = decorate(step)
        losses = [float(run(x, y)) for _ in range(6)]
        assert int(optimizer.iterations) == 6
        return losses, float(accuracy.result()), model.get_weights(), run

    plain, compiled_run = trained(lambda f: f), trained(tf.function)
    assert compiled(compiled_run[3]) == [True]
    np.testing.assert_allclose(compiled_run[0], plain[0], rtol=1e-5)
    assert compiled_run[1] == pytest.approx(plain[1])
    for ours, theirs in zip(compiled_run[2], plain[2]):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_new_data_need_no_new_trace() -> None:
    """Indices and labels that are others in each call are inputs of the program, not constants; wrong ones are seen."""
    table = tf.Variable(np.linspace(-1, 1, 12).reshape(4, 3).astype("float32"))

    @tf.function
    def step(places: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = tf.gather(table, places)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(losses) + tf.reduce_sum(tf.one_hot(labels, 3) * logits)
        rows = tape.gradient(loss, table)
        return loss, rows.indices, tf.convert_to_tensor(rows)

    rng = np.random.default_rng(0)
    for _ in range(6):
        places, labels = tf.constant(rng.integers(0, 4, 5)), tf.constant(rng.integers(0, 3, 5))
        for ours, theirs in zip(step(places, labels), step.python_function(places, labels)):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    (trace,) = step._traces.values()
    assert trace.auto_jit._compiled.stats.traces == 1
    for wrong in (9, -1):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"index {wrong} is not in"):
            step(tf.constant(np.full(5, wrong)), labels)
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"label {wrong} is not in"):
            step(places, tf.constant(np.full(5, wrong)))


def test_what_it_reads_is_never_stale() -> None:
    """Variables, attributes and members of lists that are changed between calls are read anew."""

    class Line(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.slope, self.scale, self.parts = tf.Variable(2.0), 3.0, [tf.Variable(1.0)]

        @tf.function
        def __call__(self, x: Any) -> Any:
            return self.slope * x * self.scale + self.parts[0]

    line = Line()
    changes: list[Callable[[], Any]] = [lambda: None] * 5
    changes += [
        lambda: line.slope.assign(5.0),
        lambda: setattr(line, "scale", 10.0),
        lambda: setattr(line, "slope", tf.Variable(7.0)),
        lambda: line.parts.__setitem__(0, tf.Variable(100.0)),
    ]
    for change in changes:
        change()
        wanted = float(line.slope) * 2.0 * line.scale + float(line.parts[0])
        assert float(line(tf.constant(2.0))) == wanted
    other = copy.deepcopy(line)
    other.slope.assign(0.0)
    assert float(other(tf.constant(2.0))) == 100.0
    assert float(line(tf.constant(2.0))) == 240.0
    assert [v.name for v in line.variables] == ["Variable:0"] * 2


def test_what_must_happen_each_time_happens(capsys: pytest.CaptureFixture[str]) -> None:
    """Draws, prints and elements of datasets keep a function from being compiled, also in a branch taken late."""

    @tf.function
    def noisy(x: Any) -> Any:
        return x + tf.random.normal([])

    assert len({float(noisy(tf.constant(0.0))) for _ in range(6)}) == 6

    @tf.function
    def loud(x: Any) -> Any:
        if x > 4.0:
            tf.print("big", x)
        return x

    for number in range(8):
        loud(tf.constant(float(number)))
    assert capsys.readouterr().err.splitlines() == ["big 5", "big 6", "big 7"]

    @tf.function
    def following(numbers: Any) -> Any:
        return next(numbers) * 1

    numbers = iter(tf.data.Dataset.range(6))
    assert [int(following(numbers)) for _ in range(6)] == [0, 1, 2, 3, 4, 5]
    assert not any(compiled(noisy) + compiled(loud) + compiled(following))


def test_values_that_decide_are_not_frozen() -> None:
    """Where the result's shape, or the rows that are read, depend on a value, each value gets its own answer."""

    @tf.function
    def count(n: Any) -> Any:
        return tf.reduce_sum(tf.range(n))

    @tf.function
    def row(table: Any, place: Any) -> Any:
        return tf.gather(table, place)

    table = tf.constant([0.0, 10.0, 20.0])
    for number in range(12):
        assert int(count(tf.constant(number))) == number * (number - 1) // 2
        assert float(row(table, tf.constant(number % 3))) == 10.0 * (number % 3)


def test_gradients_go_through_compiled_functions() -> None:
    """A tape around a function that was compiled gets the gradients of its arguments and variables."""
    w = tf.Variable(3.0)

    @tf.function
    def scaled(x: Any) -> Any:
        return w * x**2

    for start in (1.0, 2.0, 3.0, 4.0, 5.0):
        scaled(tf.constant(start))
    assert compiled(scaled) == [True]
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = scaled(x)
    assert [float(g) for g in tape.gradient(y, [x, w])] == [12.0, 4.0]


def test_compiled_on_request_or_never() -> None:
    """`jit_compile=True` compiles at the second call, `jit_compile=False` not at all."""
    x = tf.ones([3])
    for wanted, expected in ((True, [True]), (False, [False])):
        function = tf.function(lambda t: t * 2.0, jit_compile=wanted)
        for _ in range(5):
            assert float(function(x)[0]) == 2.0
        assert compiled(function) == expected


def test_fit_compiles_its_step() -> None:
    """`fit` runs its step as a tf.function; `run_eagerly=True` does not. Both find the same."""
    x = np.linspace(-1, 1, 16).reshape(8, 2).astype("float32")
    found = []
    for eager in (True, False):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile("adam", "mse", metrics=["mae"], run_eagerly=eager)
        target = x[:, :1] * 3.0
        how = {"epochs": 3, "batch_size": 2, "shuffle": False, "verbose": 0, "validation_data": (x, target)}
        model.fit(x, target, **how)
        found.append(model.fit(x, target, **how).history)
        if not eager:
            (trace,) = model._function("train_step")._traces.values()
            assert trace.auto_jit._compiled.stats.traces == 1
    for name in found[0]:
        np.testing.assert_allclose(found[0][name], found[1][name], rtol=1e-4)
