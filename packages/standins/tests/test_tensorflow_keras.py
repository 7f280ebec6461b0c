"""The stand-in for TensorFlow: Keras' layers, models, losses, metrics and optimisers."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

from gradtape_standins import tensorflow as tf

layers = tf.keras.layers
RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(40, 3)).astype("float32")
TARGETS = (POINTS @ np.array([[1.0], [-2.0], [0.5]]) + 0.3).astype("float32")


def small_model() -> object:
    """A model of two layers, built."""
    tf.random.set_seed(1)
    return tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(8, activation="tanh"), layers.Dense(1)])


def test_training_makes_the_loss_small() -> None:
    """compile and fit with Adam bring the loss of a line down by a factor of a hundred."""
    model = small_model()
    model.compile(optimizer=tf.keras.optimizers.Adam(0.03), loss="mse", metrics=["mae"])
    history = model.fit(POINTS, TARGETS, epochs=60, verbose=0, validation_data=(POINTS[:8], TARGETS[:8]))
    assert history.history["loss"][-1] < history.history["loss"][0] / 100
    assert set(history.history) == {"loss", "mae", "val_loss", "val_mae"}
    loss, error = model.evaluate(POINTS, TARGETS, verbose=0)
    predictions = model.predict(POINTS, verbose=0)
    assert loss == pytest.approx(np.square(predictions - TARGETS).mean(), rel=1e-4)
    assert error == pytest.approx(np.abs(predictions - TARGETS).mean(), rel=1e-4)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam", "Lion"])
def test_every_optimiser_goes_downhill(name: str) -> None:
    """A few steps of each make a bowl's value smaller, and are counted."""
    optimizer = getattr(tf.keras.optimizers, name)(learning_rate=0.05)
    v = tf.Variable([1.0, -2.0])
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
    assert float(tf.reduce_sum(v * v)) < 5.0
    assert int(optimizer.iterations) == 5


def test_optimiser_refuses_what_it_cannot_use() -> None:
    """No gradients at all, and unknown variables, are errors that leave the variables as they were."""
    optimizer, v, w = tf.keras.optimizers.SGD(1.0), tf.Variable(1.0), tf.Variable(2.0)
    with pytest.raises(ValueError, match=r"No gradients provided for any variable[\s\S]*tape.why"):
        optimizer.apply_gradients([(None, v)])
    optimizer.apply_gradients([(tf.constant(0.5), v)])
    with pytest.raises(ValueError, match="other variables"):
        optimizer.apply_gradients([(tf.constant(0.5), w)])
    assert (float(v), float(w)) == (0.5, 2.0)


def test_learning_rate_can_be_changed() -> None:
    """By assignment, or by a schedule."""
    optimizer, v = tf.keras.optimizers.SGD(1.0), tf.Variable(0.0)
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    optimizer.learning_rate = 0.5
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    optimizer.learning_rate.assign(0.25)
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    assert float(v) == -1.75
    for schedule, rates in (
        (tf.keras.optimizers.schedules.PiecewiseConstantDecay([1, 2], [1.0, 0.5, 0.1]), [1.0, 1.0, 0.5, 0.1]),
        (tf.keras.optimizers.schedules.CosineDecay(1.0, 2), [1.0, 0.5, 0.0, 0.0]),
        (tf.keras.optimizers.schedules.PolynomialDecay(1.0, 2, 0.0), [1.0, 0.5, 0.0, 0.0]),
        (tf.keras.optimizers.schedules.InverseTimeDecay(1.0, 1, 1.0), [1.0, 0.5, 1 / 3, 0.25]),
    ):
        assert [float(schedule(step)) for step in range(4)] == pytest.approx(rates)


def test_clipping() -> None:
    """Gradients are limited by value, by norm, or by their common norm."""
    for option, moved in (("clipvalue", [0.5, 0.5]), ("clipnorm", [0.3, 0.4])):
        v = tf.Variable([0.0, 0.0])
        tf.keras.optimizers.SGD(1.0, **{option: 0.5}).apply_gradients([(tf.constant([3.0, 4.0]), v)])
        assert (-v.numpy()).tolist() == pytest.approx(moved)


def test_weights_are_set_all_or_none() -> None:
    """Arrays that do not fit are refused before anything is assigned."""
    model = small_model()
    before = model.get_weights()
    with pytest.raises(ValueError, match="shapes"):
        model.set_weights([np.zeros((3, 8)), np.zeros(8), np.zeros((8, 1)), np.zeros(2)])
    assert all(np.array_equal(a, b) for a, b in zip(before, model.get_weights()))


def test_weights_in_files(tmp_path: Path) -> None:
    """Weights come back from a file; those of another model do not."""
    model = small_model()
    model.save_weights(tmp_path / "w.safetensors")
    before = model.predict(POINTS, verbose=0)
    model.set_weights([0 * w for w in model.get_weights()])
    model.load_weights(tmp_path / "w.safetensors")
    assert np.array_equal(before, model.predict(POINTS, verbose=0))
    other = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(1)])
    with pytest.raises(tf.errors.DataLossError, match="shapes"):
        other.load_weights(tmp_path / "w.safetensors")
    with pytest.raises(ValueError, match=r"\.keras"):
        model.save("model")


def test_functional_model_with_branches() -> None:
    """Layers shared and joined: each runs once a call, and gradients reach all of them."""
    inputs = tf.keras.Input(shape=(4,))
    shared = layers.Dense(3, activation="tanh")
    left, right = shared(inputs), shared(inputs * 2.0)
    outputs = layers.Dense(1)(layers.Add()([left, right]))
    model = tf.keras.Model(inputs, outputs)
    assert len(model.trainable_variables) == 4
    with tf.GradientTape() as tape:
        y = model(tf.ones([2, 4]))
    assert all(g is not None for g in tape.gradient(y, model.trainable_variables))
    with pytest.raises(ValueError, match="not among the inputs"):
        tf.keras.Model(tf.keras.Input((4,)), outputs)
    with pytest.raises(ValueError, match="Lambda"):
        tf.sin(inputs)


def test_training_flag_reaches_inner_layers() -> None:
    """Dropout inside of a model drops while training, and batch statistics move then only."""
    model = tf.keras.Sequential([layers.Dropout(0.5), layers.BatchNormalization()])
    x = tf.ones([64, 10])
    assert np.allclose(model(x).numpy(), model(x, training=False).numpy())
    moving = model.layers[1].moving_mean
    assert moving.numpy().max() == 0.0
    model(x, training=True)
    assert moving.numpy().min() > 0.0
    assert 0.2 < np.mean(layers.Dropout(0.5)(x, training=True).numpy() == 0.0) < 0.8


def test_regularisers_count_in_the_loss() -> None:
    """Penalties are in `losses`, and `fit` adds them."""
    layer = layers.Dense(1, kernel_initializer="ones", kernel_regularizer=tf.keras.regularizers.L2(0.5))
    layer(tf.ones([1, 4]))
    assert [float(penalty) for penalty in layer.losses] == [2.0]
    model = tf.keras.Sequential([layer])
    model.compile("sgd", "mse")
    assert model.test_on_batch(np.ones((1, 4)), np.full((1, 1), 4.0)) == pytest.approx(2.0)


def test_early_stopping_brings_the_best_weights_back() -> None:
    """Training ends when the figure has not become better, and callbacks hear of every epoch."""
    model, heard = small_model(), []
    model.compile(tf.keras.optimizers.SGD(3.0, clipvalue=1.0), "mse")
    stop = tf.keras.callbacks.EarlyStopping("loss", patience=2, restore_best_weights=True)
    tell = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: heard.append(logs["loss"]))
    model.fit(POINTS, TARGETS, epochs=50, verbose=0, callbacks=[stop, tell])
    assert len(heard) < 50
    assert min(heard[-2:]) >= min(heard)


def test_own_train_step() -> None:
    """A model may say itself what a step of training is."""

    class Custom(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(1)

        def call(self, x: object) -> object:
            return self.dense(x)

        def train_step(self, data: object) -> dict[str, object]:
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.abs(self(x) - y))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
            return {"distance": loss}

    model = Custom()
    model.compile(optimizer="adam")
    dataset = tf.data.Dataset.from_tensor_slices((POINTS, TARGETS)).batch(10)
    assert list(model.fit(dataset, epochs=1, verbose=0).history) == ["distance"]


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
def test_recurrent_layers_step_by_step(kind: str) -> None:
    """A sequence in two halves, with the state handed over, gives what the whole gives; both directions can be had."""
    layer = getattr(layers, kind)(3, return_sequences=True, return_state=True)
    x = tf.random.normal([2, 6, 4])
    whole, *end = layer(x)
    first, *state = layer(x[:, :3])
    second, *last = layer(x[:, 3:], initial_state=state)
    assert np.allclose(tf.concat([first, second], 1).numpy(), whole.numpy(), atol=1e-5)
    assert np.allclose(end[0].numpy(), last[0].numpy(), atol=1e-5)
    both = layers.Bidirectional(getattr(layers, kind)(3, return_sequences=True))
    assert both(x).shape == (2, 6, 6)


def test_copies_of_models_are_apart() -> None:
    """A deep copy has the same numbers and names, and what is done to it does not reach the original."""
    model = tf.keras.Sequential([tf.keras.Input((2,)), layers.BatchNormalization(), layers.Dense(1)])
    other = copy.deepcopy(model)
    assert [v.path for v in other.weights] == [v.path for v in model.weights]
    assert [v.trainable for v in other.weights] == [v.trainable for v in model.weights]
    other.set_weights([w + 1.0 for w in other.get_weights()])
    assert np.array_equal(model.layers[0].gamma.numpy(), np.ones(2))
    assert repr(pickle.loads(pickle.dumps(model.weights[0]))) == repr(model.weights[0])


def test_jacobians_through_layers() -> None:
    """Jacobians pass through convolutions and recurrent layers, and agree with the gradient when summed."""
    for layer, x in (
        (layers.Conv2D(2, 2, activation="tanh"), tf.random.normal([2, 3, 3, 1])),
        (layers.LSTM(2), tf.random.normal([2, 3, 2])),
        (layers.GRU(2), tf.random.normal([2, 3, 2])),
    ):
        with tf.GradientTape(persistent=True) as tape:
            y = layer(x)
        for variable in layer.trainable_variables:
            rows = tape.jacobian(y, variable)
            assert rows.shape == y.shape + variable.shape
            summed = tf.reduce_sum(rows, axis=list(range(len(y.shape))))
            assert np.allclose(summed.numpy(), tape.gradient(y, variable).numpy(), atol=1e-5)


def test_metrics_over_batches() -> None:
    """A metric gathers batches and begins anew when told to."""
    precision, recall = tf.keras.metrics.Precision(), tf.keras.metrics.Recall()
    for metric in (precision, recall):
        metric.update_state([0, 1, 1, 1], [0.9, 0.8, 0.1, 0.7])
    assert float(precision.result()) == pytest.approx(2 / 3)
    assert float(recall.result()) == pytest.approx(2 / 3)
    mean = tf.keras.metrics.Mean()
    mean.update_state([1.0, 2.0], sample_weight=[3.0, 1.0])
    assert float(mean.result()) == 1.25
    mean.reset_state()
    assert float(mean.result()) == 0.0


def test_mistakes_are_explained() -> None:
    """fit before compile, no super().__init__(), unknown arguments and names."""
    with pytest.raises(ValueError, match="compile"):
        small_model().fit(POINTS, TARGETS)

    class Forgetful(layers.Layer):
        def __init__(self) -> None:
            self.x = 1

        def call(self, x: object) -> object:
            return x

    with pytest.raises(RuntimeError, match="super"):
        Forgetful()(tf.ones([1]))
    with pytest.raises(ValueError, match="widht"):
        layers.Dense(3, widht=2)
    with pytest.raises(ValueError, match="adam"):
        tf.keras.optimizers.get("adamm")
    with pytest.raises(ValueError, match="relu"):
        layers.Dense(3, activation="rellu")
    with pytest.raises(AttributeError, match="build"):
        layers.Dense(3).kernel  # noqa: B018
    with pytest.raises(AttributeError, match="Conv2D"):
        layers.Conv2d  # noqa: B018


def test_summary_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """The table has each layer and the number of its parameters."""
    small_model().summary()
    text = capsys.readouterr().out
    assert "Total params: 41" in text
    assert "(Dense)" in text
