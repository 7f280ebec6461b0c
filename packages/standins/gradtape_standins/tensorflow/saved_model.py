"""`tf.saved_model`: not there. The names are, to say what to do instead."""

from __future__ import annotations

from typing import Any

from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.errors import explained

_FIX = (
    "tf.train.Checkpoint(model=model).save(path), or model.save_weights(path) for Keras models: they keep the "
    "numbers, and your program has the model"
)


def save(obj: Any, export_dir: Any, signatures: Any = None, options: Any = None) -> None:
    """Not there: a graph would have to be written, and here there is none."""
    raise NotImplementedError(explained("tf.saved_model.save writes graphs of TensorFlow, which are not here", _FIX))


def load(export_dir: Any, tags: Any = None, options: Any = None) -> None:
    """Not there: a graph would have to be run, and here there is none."""
    raise NotImplementedError(explained("tf.saved_model.load reads graphs of TensorFlow, which are not here", _FIX))


__all__ = ["load", "save"]
__getattr__ = missing(__name__)
