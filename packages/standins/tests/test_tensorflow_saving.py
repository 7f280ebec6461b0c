"""The TensorFlow stand-in: whole models in files, and what is refused of files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.nn.storage import read, written
from gradtape_standins import tensorflow as tf

keras = tf.keras
layers = tf.keras.layers
POINTS = np.linspace(-1, 1, 24).reshape(8, 3).astype("float32")
LABELS = (POINTS[:, 0] > 0).astype("int32")


@keras.utils.register_keras_serializable(package="tests")
class Scale(layers.Layer):
    """A layer with an argument and a variable."""

    def __init__(self, factor: float = 2.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.factor = factor

    def build(self, shape: Any) -> None:
        self.size = self.add_weight(shape=(shape[-1],), initializer="ones", name="size")

    def call(self, x: Any) -> Any:
        return x * self.size * self.factor

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "factor": self.factor}


class Own(keras.Model):
    """A model of the user's own, built at its first call."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.inner, self.outer = layers.Dense(units, activation="relu"), layers.Dense(1)

    def call(self, x: Any) -> Any:
        return self.outer(self.inner(x))


def test_a_model_comes_back_with_its_optimiser(tmp_path: Path) -> None:
    """Trained on, a model that was loaded takes the very steps that the one that was saved takes."""
    model = keras.Sequential([keras.Input((3,)), layers.Dense(4, "relu"), layers.BatchNormalization(), layers.Dense(2)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    rate = keras.optimizers.schedules.ExponentialDecay(0.05, 10, 0.9)
    model.compile(keras.optimizers.Adam(rate), loss, metrics=["accuracy", keras.metrics.SparseCategoricalAccuracy()])
    model.fit(POINTS, LABELS, epochs=3, verbose=0, shuffle=False)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert int(again.optimizer.iterations) == 3
    histories = [one.fit(POINTS, LABELS, epochs=2, verbose=0, shuffle=False).history for one in (model, again)]
    assert histories[0] == histories[1]
    assert all(np.array_equal(a, b) for a, b in zip(model.get_weights(), again.get_weights()))


def test_branches_operators_and_layers_of_ones_own_come_back(tmp_path: Path) -> None:
    """A functional model with shared layers, operators, indices and a registered layer is the same from a file."""
    first, second = keras.Input((3,), name="first"), keras.Input((2,), name="second")
    shared = layers.Dense(4, activation="tanh", kernel_regularizer=keras.regularizers.L2(0.1))
    joined = layers.Concatenate()([shared(first), shared(first * 2.0) - 1.0, Scale(3.0)(second)])
    model = keras.Model({"a": first, "b": second}, [layers.Dense(1)(joined), joined[:, :2]], name="branches")
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    given = {"a": POINTS, "b": POINTS[:, :2]}
    for one, other in zip(model(given), again(given)):
        assert np.array_equal(one, other)
    assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
    assert [float(penalty) for penalty in again.losses] == [float(penalty) for penalty in model.losses]


def test_a_model_of_ones_own_is_built_and_filled(tmp_path: Path) -> None:
    """A subclass is found by `custom_objects`, made with its arguments, built for its first inputs, and filled."""
    model = Own(5)
    model(POINTS)
    model.save(tmp_path / "own.keras")
    with pytest.raises(TypeError, match="Could not locate class 'Own'"):
        keras.models.load_model(tmp_path / "own.keras")
    again = keras.models.load_model(tmp_path / "own.keras", custom_objects={"Own": Own})
    assert np.array_equal(model(POINTS), again(POINTS))


def test_recurrent_and_wrapped_layers_come_back(tmp_path: Path) -> None:
    """Layers that are arguments of layers, initialisers and masks survive a file."""
    start = keras.initializers.RandomNormal(stddev=0.3)
    model = keras.Sequential(
        [
            keras.Input((5,), dtype="int32"),
            layers.Embedding(10, 4, mask_zero=True),
            layers.Bidirectional(layers.LSTM(3, kernel_initializer=start)),
            layers.Dense(1, activation=tf.nn.sigmoid),
        ]
    )
    model.save(tmp_path / "model.h5")
    words = np.array([[1, 2, 0, 0, 0], [3, 4, 5, 0, 0]])
    assert np.array_equal(model(words), keras.models.load_model(tmp_path / "model.h5")(words))


def test_files_run_no_code(tmp_path: Path) -> None:
    """A lambda is not stored, and a class or function is looked up among those that are known, never imported."""
    model = keras.Sequential([keras.Input((3,)), layers.Lambda(lambda x: x * 2.0)])
    model.save(tmp_path / "model.keras")
    with pytest.raises(ValueError, match="lambda"):
        keras.models.load_model(tmp_path / "model.keras")
    arrays, texts = read(tmp_path / "model.keras")
    for hostile in ({"class_name": "Popen", "arguments": {"args": ["true"], "kwargs": {}}}, {"__function__": "system"}):
        changed = json.dumps({"model": hostile})
        (tmp_path / "hostile.keras").write_bytes(written(arrays, {**texts, "data": changed}))
        with pytest.raises(TypeError, match="Could not locate"):
            keras.models.load_model(tmp_path / "hostile.keras")


def test_files_that_are_no_models_say_so(tmp_path: Path) -> None:
    """Missing, cut off, foreign and changed files are refused with the reason."""
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2)])
    model.save(tmp_path / "model.keras")
    with pytest.raises(ValueError, match="File not found"):
        keras.models.load_model(tmp_path / "nothing.keras")
    content = (tmp_path / "model.keras").read_bytes()
    (tmp_path / "cut.keras").write_bytes(content[:-9])
    with pytest.raises(gt.nn.CheckpointError, match="cut"):
        keras.models.load_model(tmp_path / "cut.keras")
    (tmp_path / "zip.keras").write_bytes(b"PK\x03\x04 and so on")
    with pytest.raises(ValueError, match="written by Keras itself"):
        keras.models.load_model(tmp_path / "zip.keras")
    gt.nn.save(tmp_path / "other.keras", {"a": np.ones(3)})
    with pytest.raises(ValueError, match="holds no model"):
        keras.models.load_model(tmp_path / "other.keras")
    arrays, texts = read(tmp_path / "model.keras")
    del arrays["model.00001"]
    (tmp_path / "less.keras").write_bytes(written(arrays, texts))
    with pytest.raises(ValueError, match="shapes"):
        keras.models.load_model(tmp_path / "less.keras")
    with pytest.raises(FileExistsError):
        model.save(tmp_path / "model.keras", overwrite=False)


def test_best_models_are_kept(tmp_path: Path) -> None:
    """ModelCheckpoint writes whole models, which can be loaded."""
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    model.compile("sgd", "mse")
    keep = keras.callbacks.ModelCheckpoint(str(tmp_path / "best-{epoch}.keras"), monitor="loss", save_best_only=True)
    model.fit(POINTS, POINTS[:, :1], epochs=2, verbose=0, callbacks=[keep])
    again = keras.models.load_model(tmp_path / "best-2.keras")
    assert np.array_equal(model(POINTS), again(POINTS))


def test_models_as_json() -> None:
    """`to_json` and `get_config` describe a model without its numbers."""
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2, name="line")])
    again = keras.models.model_from_json(model.to_json())
    assert [layer.name for layer in again.layers] == ["line"]
    assert again.layers[0].kernel.shape == (3, 2)
    inputs = keras.Input((3,))
    functional = keras.Model(inputs, layers.Dense(1)(inputs))
    assert type(keras.Model.from_config(functional.get_config())).__name__ == "Functional"


def test_a_flipped_bit_is_found_in_every_kind_of_file(tmp_path: Path) -> None:
    """Models, weights and checkpoints whose numbers were changed are refused, and the variables are as they were."""
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    before = [weight.copy() for weight in model.get_weights()]
    model.save(tmp_path / "model.keras")
    model.save_weights(tmp_path / "model.weights.h5")
    prefix = tf.train.Checkpoint(model=model).write(tmp_path / "checkpoint")
    for path in tmp_path.iterdir():
        content = bytearray(path.read_bytes())
        content[-1] ^= 0x40
        path.write_bytes(content)
    with pytest.raises(ValueError, match="are not those that were saved"):
        keras.models.load_model(tmp_path / "model.keras")
    with pytest.raises(tf.errors.DataLossError, match="are not those that were saved"):
        model.load_weights(tmp_path / "model.weights.h5")
    with pytest.raises(tf.errors.DataLossError, match="are not those that were saved"):
        tf.train.Checkpoint(model=model).read(prefix)
    assert all((one == other).all() for one, other in zip(before, model.get_weights(), strict=True))
