"""`tf.keras.utils`."""

from __future__ import annotations

import random as python_random
from typing import Any

import numpy as np

from gradtape.standins.names import missing
from gradtape.standins.tensorflow import random


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


__all__ = ["normalize", "set_random_seed", "to_categorical"]
__getattr__ = missing(__name__)
