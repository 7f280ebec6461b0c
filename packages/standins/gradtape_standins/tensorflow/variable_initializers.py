"""The initialisers that TensorFlow has outside of Keras: `tf.zeros_initializer` and the like."""

from __future__ import annotations

from typing import Any

from gradtape_standins.tensorflow import arrays, random
from gradtape_standins.tensorflow.dtypes import float32


class zeros_initializer:
    """Zeros of a shape."""

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        return arrays.zeros(shape, dtype)


class ones_initializer:
    """Ones of a shape."""

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        return arrays.ones(shape, dtype)


class constant_initializer:
    """One value, or values in order, in a shape."""

    def __init__(self, value: Any = 0) -> None:
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        return arrays.constant(self.value, dtype, shape)


class random_normal_initializer:
    """Normally distributed numbers."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        return random.normal(shape, self.mean, self.stddev, dtype, self.seed)


class random_uniform_initializer:
    """Evenly distributed numbers."""

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: Any = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        return random.uniform(shape, self.minval, self.maxval, dtype, self.seed)


__all__ = [
    "constant_initializer",
    "ones_initializer",
    "random_normal_initializer",
    "random_uniform_initializer",
    "zeros_initializer",
]
