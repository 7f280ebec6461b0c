"""`finish` for programs of TensorFlow."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from measure import Steps


class Timer(keras.callbacks.Callback):
    """Measures the batches of `fit`."""

    def __init__(self, steps: Steps) -> None:
        super().__init__()
        self.steps = steps

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """A step begins."""
        self.steps.begin()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """A step has ended."""
        self.steps.end()


def finish(steps: Steps, variables: Iterable[Any]) -> None:
    """Print digests of variables, and of the random states of TensorFlow, Keras, NumPy and Python."""
    values = [np.asarray(variable) for variable in variables]
    states = [
        tf.random.uniform((4,)).numpy(),
        np.asarray(keras.random.uniform((4,))),
        np.random.get_state()[1],
        np.array(random.getstate()[1], dtype=np.uint64),
    ]
    steps.finish(values, states)
