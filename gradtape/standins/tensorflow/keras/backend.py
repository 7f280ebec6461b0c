"""`tf.keras.backend`: the few names of it that are still met."""

from __future__ import annotations

from gradtape.standins.names import missing
from gradtape.standins.tensorflow.keras.variables import clear_names


def epsilon() -> float:
    """The small number that keeps logarithms finite."""
    return 1e-7


def floatx() -> str:
    """The dtype of layers."""
    return "float32"


def clear_session() -> None:
    """Begin to count the names of layers anew."""
    clear_names()


__all__ = ["clear_session", "epsilon", "floatx"]
__getattr__ = missing(__name__)
