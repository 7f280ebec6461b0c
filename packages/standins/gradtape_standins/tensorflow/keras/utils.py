"""`tf.keras.utils`."""

from __future__ import annotations

import random as python_random
from typing import Any

import numpy as np

from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import random
from gradtape_standins.tensorflow.keras.serialization import (
    CustomObjectScope,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
    serialize_keras_object,
)


def set_random_seed(seed: int) -> None:
    """Begin all sequences of random numbers: Python's, NumPy's and TensorFlow's."""
    python_random.seed(seed)
    np.random.seed(seed)
    random.set_seed(seed)


def to_categorical(x: Any, num_classes: int | None = None) -> Any:
    """A row with a one for each class number."""
    labels = np.asarray(x, dtype=np.int64)
    if labels.ndim > 1 and labels.shape[-1] == 1:
        labels = labels[..., 0]
    return np.eye(int(labels.max()) + 1 if num_classes is None else num_classes)[labels]


def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """An array divided by its norm along `axis`."""
    norms = np.atleast_1d(np.linalg.norm(x, order, axis))
    norms[norms == 0] = 1
    return x / np.expand_dims(norms, axis)


class PyDataset:
    """Batches by number: subclasses write `__len__` and `__getitem__`; `fit` goes through them."""

    def __init__(self, workers: int = 1, use_multiprocessing: bool = False, max_queue_size: int = 10) -> None:
        self.workers, self.use_multiprocessing, self.max_queue_size = workers, use_multiprocessing, max_queue_size

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no `__len__`")

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no `__getitem__`")

    def on_epoch_end(self) -> None:
        """After each epoch."""


Sequence = PyDataset


def pad_sequences(
    sequences: Any,
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> Any:
    """Lists of different lengths as rows of one array.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.keras.utils.pad_sequences([[1], [2, 3]], padding="post")
    array([[1, 0],
           [2, 3]], dtype=int32)
    """
    rows = [np.asarray(row) for row in sequences]
    length = max((len(row) for row in rows), default=0) if maxlen is None else maxlen
    inner = next((row.shape[1:] for row in rows if len(row)), ())
    made = np.full((len(rows), length, *inner), value, dtype)
    for place, row in enumerate(rows):
        kept = row[len(row) - min(length, len(row)) :] if truncating == "pre" else row[:length]
        if len(kept):
            where = slice(length - len(kept), None) if padding == "pre" else slice(0, len(kept))
            made[place, where] = kept
    return made


__all__ = ["PyDataset", "Sequence", "normalize", "pad_sequences", "register_keras_serializable", "set_random_seed"]
__all__ += ["CustomObjectScope", "custom_object_scope", "deserialize_keras_object", "get_custom_objects"]
__all__ += ["get_registered_name", "get_registered_object", "serialize_keras_object", "to_categorical"]
__getattr__ = missing(__name__)
