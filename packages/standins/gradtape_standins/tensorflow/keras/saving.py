"""`tf.keras.saving`: whole models in files, as numbers and plain data in the safetensors format.

A file holds what describes the model (see `describing`), its numbers, and what it was compiled with, the numbers of the
optimiser included. Nothing in it is code. Files of Keras itself have another format and are refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from gradtape.extend import concrete
from gradtape.nn.storage import read, write_whole, written
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import nest
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.keras.serialization import (
    CustomObjectScope,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    known,
    register_keras_serializable,
    serialize_keras_object,
)
from gradtape_standins.tensorflow.keras.symbolic import KerasTensor, symbolic_call

_FORMAT = "gradtape.standins.tensorflow.keras 1"
_SUFFIXES = (".keras", ".h5", ".hdf5")


def save_model(model: Any, filepath: Any, overwrite: bool = True, zipped: Any = None, **kwargs: Any) -> None:
    """Write a model to a file, to be read by `load_model`."""
    path = Path(filepath)
    if path.suffix not in _SUFFIXES:
        raise ValueError(
            explained(
                f"Invalid filepath extension for saving: {path.name}",
                "a name that ends in .keras; model.save_weights(path) or tf.train.Checkpoint for the numbers alone",
            )
        )
    if not overwrite and path.exists():
        raise FileExistsError(explained(f"{path.name} is there already; overwrite=True replaces it"))
    arrays = {f"model.{n:05d}": _array(v) for n, v in enumerate(model.weights)}
    data: dict[str, Any] = {"model": serialize_keras_object(model), "inputs": _inputs_of(model)}
    compiled = vars(model).get("_compile_arguments")
    if compiled is not None:
        data["compile"] = serialize_keras_object({**compiled, "optimizer": None})
        optimizer = model.optimizer
        data["optimizer"] = serialize_keras_object(optimizer)
        data["iterations"] = int(optimizer._steps)
        arrays |= {f"optimizer.{n:05d}": _array(v) for n, v in enumerate(optimizer.kept)}
    write_whole(path, written(arrays, {"format": _FORMAT, "data": json.dumps(data)}))


def _array(variable: Any) -> Any:
    return np.ascontiguousarray(concrete(variable._value))


def _inputs_of(model: Any) -> Any:
    """The shapes that the model was first called with, for models that have no symbolic inputs."""
    return serialize_keras_object(vars(model).get("_called_with"))


def load_model(filepath: Any, custom_objects: Any = None, compile: bool = True, safe_mode: bool = True) -> Any:
    """The model in a file that `model.save` wrote. All of it is made, or nothing.

    >>> import os, tempfile
    >>> from gradtape_standins import tensorflow as tf
    >>> model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3, activation="tanh")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.keras")
    ...     model.save(path)
    ...     again = tf.keras.models.load_model(path)
    >>> bool((again(tf.ones([1, 2])) == model(tf.ones([1, 2]))).numpy().all())
    True
    """
    path = Path(filepath)
    if not path.exists():
        raise ValueError(explained(f"File not found: {path.name} is not there", "the path that model.save was given"))
    if path.is_file() and path.read_bytes()[:4] in (b"PK\x03\x04", b"\x89HDF"):
        raise ValueError(
            explained(
                f"{path.name} was written by Keras itself, whose files this stand-in does not read",
                "there: np.savez(path, *model.get_weights()); here: make the model, then model.set_weights(arrays)",
            )
        )
    arrays, texts = read(path)
    if texts.get("format") != _FORMAT:
        raise ValueError(explained(f"{path.name} holds no model", "a file that model.save wrote"))
    try:
        data = json.loads(texts["data"])
        with known(custom_objects):
            model = deserialize_keras_object(data["model"])
            if not model.built and data.get("inputs") is not None:
                _build(model, data["inputs"])
            model.set_weights([arrays[name] for name in sorted(arrays) if name.startswith("model.")])
            if compile and "compile" in data:
                _compile(model, data, [arrays[name] for name in sorted(arrays) if name.startswith("optimizer.")])
    except (KeyError, IndexError, AttributeError, json.JSONDecodeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(
            explained(f"{path.name} describes no model that can be made ({reason})", "a file that was not changed")
        ) from None
    return model


def _build(model: Any, inputs: Any) -> None:
    """Make the variables of a model of the user's own, by a call with zeros."""
    args = deserialize_keras_object(inputs)
    symbols = nest.map_structure(
        lambda text: KerasTensor([None, *json.loads(text)[0][1:]], json.loads(text)[1]) if text else None, args
    )
    symbolic_call(model, (symbols,), {})
    model.built = True


def _compile(model: Any, data: dict[str, Any], kept: list[Any]) -> None:
    """Compile the model as it was, and give the optimiser what it had kept."""
    optimizer = deserialize_keras_object(data["optimizer"])
    model.compile(**{**deserialize_keras_object(data["compile"]), "optimizer": optimizer})
    optimizer.build(model.trainable_variables)
    optimizer._steps.assign(data["iterations"])
    optimizer.restore(kept)


def model_to_json(model: Any) -> str:
    """What describes a model, without its numbers, as JSON."""
    return json.dumps(serialize_keras_object(model) | {"inputs": _inputs_of(model)})


def model_from_json(json_string: str, custom_objects: Any = None) -> Any:
    """A new model, from what `to_json` gave."""
    with known(custom_objects):
        data = json.loads(json_string)
        model = deserialize_keras_object(data)
        if not model.built and data.get("inputs") is not None:
            _build(model, data["inputs"])
        return model


__all__ = ["CustomObjectScope", "custom_object_scope", "deserialize_keras_object", "get_custom_objects"]
__all__ += ["get_registered_name", "get_registered_object", "load_model", "register_keras_serializable", "save_model"]
__all__ += ["serialize_keras_object"]
__getattr__ = missing(__name__)
