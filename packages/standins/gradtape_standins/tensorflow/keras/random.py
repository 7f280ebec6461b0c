"""`keras.random`: draws by a seed, or by a `SeedGenerator` that gives another one each time."""

from __future__ import annotations

from typing import Any

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import nn
from gradtape_standins.tensorflow import random as draws
from gradtape_standins.tensorflow.conversion import value_of
from gradtape_standins.tensorflow.tensor import wrap


class SeedGenerator:
    """Gives seeds, each another one.

    >>> from gradtape_standins import tensorflow as tf
    >>> seeds = tf.keras.random.SeedGenerator(7)
    >>> one, other = (tf.keras.random.uniform((2,), seed=seeds) for _ in range(2))
    >>> bool((one == other).numpy().any())
    False
    """

    def __init__(self, seed: int | None = None, name: str | None = None) -> None:
        self.seed = int(draws.generator_for().integers(2**31)) if seed is None else seed
        self._count = 0

    def next(self, ordered: bool = True) -> list[int]:
        """The next seed."""
        self._count += 1
        return [self.seed, self._count]


def _seed(seed: Any) -> Any:
    return seed.next() if isinstance(seed, SeedGenerator) else seed


def normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Normally distributed numbers."""
    return draws.normal(shape, mean, stddev, dtype or "float32", _seed(seed))


def uniform(shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Evenly distributed numbers."""
    return draws.uniform(shape, minval, maxval, dtype or "float32", _seed(seed))


def randint(shape: Any, minval: int, maxval: int, dtype: Any = "int32", seed: Any = None) -> Any:
    """Evenly distributed integers."""
    return draws.uniform(shape, minval, maxval, dtype, _seed(seed))


def truncated_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Normally distributed numbers, none beyond two standard deviations."""
    return draws.truncated_normal(shape, mean, stddev, dtype or "float32", _seed(seed))


def categorical(logits: Any, num_samples: int, dtype: Any = "int32", seed: Any = None) -> Any:
    """Class numbers, drawn by their logits."""
    return draws.categorical(logits, num_samples, dtype, _seed(seed))


def shuffle(x: Any, axis: int = 0, seed: Any = None) -> Any:
    """The slices along `axis` in another order."""
    value = value_of(x)
    mixed = value_of(draws.shuffle(wrap(gt.moveaxis(value, axis, 0)), _seed(seed)))
    return wrap(gt.moveaxis(mixed, 0, axis))


def dropout(inputs: Any, rate: float, noise_shape: Any = None, seed: Any = None) -> Any:
    """Zeros in the place of a share of the elements."""
    return nn.dropout(inputs, rate, noise_shape, _seed(seed))


__all__ = ["SeedGenerator", "categorical", "dropout", "normal", "randint", "shuffle", "truncated_normal", "uniform"]
__getattr__ = missing(__name__)
