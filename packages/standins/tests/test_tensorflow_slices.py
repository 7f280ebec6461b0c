"""The stand-in for TensorFlow: gradients as IndexedSlices, rows of different lengths, and masks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtape_standins import tensorflow as tf


def test_slices_are_the_dense_gradient() -> None:
    """Made dense, the slices of several gathers are the gradient that a product with a one-hot matrix has."""
    table = tf.Variable(np.arange(10.0, dtype="float32").reshape(5, 2))
    places = tf.constant([[3, 1], [3, 4]])
    with tf.GradientTape(persistent=True) as tape:
        gathered = tf.reduce_sum(tf.gather(table, places) ** 2) + tf.reduce_sum(tf.sin(tf.gather(table, 1)))
        product = tf.reduce_sum(tf.tensordot(tf.one_hot(places, 5), table, 1) ** 2)
        product += tf.reduce_sum(tf.sin(tf.one_hot([1], 5) @ table))
    for _ in range(2):
        rows = tape.gradient(gathered, table)
        assert isinstance(rows, tf.IndexedSlices)
        assert rows.values.shape == [5, 2]
        np.testing.assert_allclose(tf.convert_to_tensor(rows), tape.gradient(product, table), rtol=1e-6)


def test_slices_are_recorded_themselves() -> None:
    """An outer tape differentiates the rows again."""
    table = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.gather(table, [2, 0]) ** 3)
        rows = inner.gradient(y, table)
        z = tf.reduce_sum(rows.values)
    second = outer.gradient(z, table)
    np.testing.assert_allclose(tf.convert_to_tensor(second), [[6.0], [0.0], [18.0]])


def test_a_gather_that_leads_nowhere_is_passed_over() -> None:
    """Only the gathers that the target was computed from give rows; after `reset` there are none."""
    table = tf.Variable([[1.0], [2.0]])
    with tf.GradientTape(persistent=True) as tape:
        tf.gather(table, [0])
        y = tf.reduce_sum(tf.gather(table, [1]))
        z = tf.reduce_sum(table)
    assert tape.gradient(y, table).indices.numpy().tolist() == [1]
    assert isinstance(tape.gradient(z, table), tf.Tensor)
    with tf.GradientTape() as tape:
        y = tf.gather(table, [1])
        tape.reset()
    assert tape.gradient(y, table, unconnected_gradients="none") is None


def test_rows_of_different_lengths_explain_themselves() -> None:
    """A column of ragged rows, rows that do not match, and splits that make no rows are refused."""
    rows = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="column"):
        rows[:, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="row 7 of 2"):
        rows[7]
    with pytest.raises(tf.errors.InvalidArgumentError, match="different lengths"):
        rows + tf.ragged.constant([[1.0], [2.0, 3.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="row_splits"):
        tf.RaggedTensor.from_row_splits([1, 2], [0, 1])
    with pytest.raises(ValueError, match=r"rows\.to_tensor"):
        tf.matmul(rows, rows)
    assert rows.to_tensor(-1.0).numpy().tolist() == [[1.0, 2.0], [3.0, -1.0]]


def test_masked_steps_do_not_count() -> None:
    """What stands at places that are masked changes neither the loss nor the states of a recurrent layer."""
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Embedding(6, 3, mask_zero=True), layers.GRU(4, return_sequences=True), layers.Dense(2)]
    )
    loss = tf.keras.losses.MeanSquaredError()
    tokens = tf.constant([[1, 2, 0], [3, 0, 0]])
    one, other = np.zeros((2, 3, 2), "float32"), np.zeros((2, 3, 2), "float32")
    other[0, 2] = other[1, 1:] = 100.0
    assert float(loss(one, model(tokens))) == float(loss(other, model(tokens)))
    short = loss(one[:1, :2], model(tf.constant([[1, 2]])))
    assert float(loss(one[:1], model(tokens[:1]))) == pytest.approx(float(short), rel=1e-5)


def test_adam_is_keras_formula() -> None:
    """The number epsilon is added before the correction, which is seen where gradients are as small as it."""
    v, rate, epsilon = tf.Variable(1.0, dtype=tf.float64), 0.1, 1e-3
    optimizer = tf.keras.optimizers.Adam(rate, epsilon=epsilon)
    wanted, first, second = 1.0, 0.0, 0.0
    for step in range(1, 6):
        gradient = 1e-4 * step
        optimizer.apply_gradients([(tf.constant(gradient, tf.float64), v)])
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        scale = rate * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        wanted -= scale * first / (np.sqrt(second) + epsilon)
    assert float(v) == pytest.approx(wanted, rel=1e-7)


def test_checkpoint_of_another_optimiser_is_refused(tmp_path: Path) -> None:
    """What an optimiser keeps is restored at its first step; of another kind of optimiser, it is refused."""

    def made(kind: Any) -> tuple[Any, Any]:
        v = tf.Variable([1.0, 2.0])
        return v, kind(0.1)

    v, adam = made(tf.keras.optimizers.Adam)
    adam.apply_gradients([(tf.constant([1.0, 1.0]), v)])
    path = tf.train.Checkpoint(v=v, optimizer=adam).write(tmp_path / "run")
    u, sgd = made(tf.keras.optimizers.SGD)
    tf.train.Checkpoint(v=u, optimizer=sgd).restore(path)
    with pytest.raises(tf.errors.DataLossError, match="other numbers"):
        sgd.apply_gradients([(tf.constant([1.0, 1.0]), u)])
    w, again = made(tf.keras.optimizers.Adam)
    tf.train.Checkpoint(v=w, optimizer=again).restore(path)
    for variable, optimizer in ((v, adam), (w, again)):
        optimizer.apply_gradients([(tf.constant([0.5, -1.0]), variable)])
    assert v.numpy().tolist() == w.numpy().tolist()


def test_lookup_learns_its_words() -> None:
    """`adapt` puts the most frequent words first; a list with a word twice is refused."""
    layer = tf.keras.layers.StringLookup()
    layer.adapt(np.array(["b", "a", "b", "c"]))
    assert layer.get_vocabulary()[:2] == ["[UNK]", "b"]
    assert layer(tf.constant(["b", "?"])).numpy().tolist() == [1, 0]
    with pytest.raises(ValueError, match="repeated"):
        tf.keras.layers.StringLookup(vocabulary=["a", "a"])
