"""`tf.keras.initializers`: how layers' variables begin. Keras' layout: inputs come before outputs in a shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import dtypes
from gradtape_standins.tensorflow.conversion import lengths
from gradtape_standins.tensorflow.keras.constructor_arguments import KeepsConstructorArguments
from gradtape_standins.tensorflow.random import generator_for
from gradtape_standins.tensorflow.tensor import wrap


class Initializer(KeepsConstructorArguments):
    """Called with a shape and a dtype, gives a tensor."""

    def __call__(self, shape: Any, dtype: Any = "float32", **kwargs: Any) -> Any:
        array = self.draw(tuple(lengths(shape)))
        return wrap(gt.Tensor(np.asarray(array, dtypes.numpy_of(dtype))))

    def draw(self, shape: tuple[int, ...]) -> Any:
        """The numbers."""
        raise NotImplementedError


class Constant(Initializer):
    """The same number everywhere."""

    def __init__(self, value: Any = 0.0) -> None:
        self.value = value

    def draw(self, shape: tuple[int, ...]) -> Any:
        """The constant, broadcast to `shape`."""
        return np.broadcast_to(np.asarray(self.value), shape)


class Zeros(Constant):
    """Zeros."""

    def __init__(self) -> None:
        super().__init__(0.0)


class Ones(Constant):
    """Ones."""

    def __init__(self) -> None:
        super().__init__(1.0)


class Identity(Initializer):
    """The identity matrix."""

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def draw(self, shape: tuple[int, ...]) -> Any:
        """`gain` on the diagonal, zeros elsewhere."""
        return self.gain * np.eye(shape[0], shape[-1])


class RandomNormal(Initializer):
    """Normally distributed numbers."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def draw(self, shape: tuple[int, ...]) -> Any:
        """Normal numbers with the mean and standard deviation of the initializer."""
        return generator_for(self.seed).normal(self.mean, self.stddev, shape)


class TruncatedNormal(RandomNormal):
    """Normally distributed numbers, none further than two standard deviations from the mean."""

    def draw(self, shape: tuple[int, ...]) -> Any:
        """Normal numbers within two standard deviations of the mean."""
        drawn = gt.nn.init.truncated_normal(self.stddev)(generator_for(self.seed), shape)
        return np.asarray(drawn) + self.mean


class RandomUniform(Initializer):
    """Evenly distributed numbers."""

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: Any = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def draw(self, shape: tuple[int, ...]) -> Any:
        """Uniform numbers between `minval` and `maxval`."""
        return generator_for(self.seed).uniform(self.minval, self.maxval, shape)


class VarianceScaling(Initializer):
    """Numbers whose variance is `scale` divided by the number of inputs, outputs, or their mean."""

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal", seed: Any = None
    ) -> None:
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution, seed

    def draw(self, shape: tuple[int, ...]) -> Any:
        """Numbers whose variance is `scale` divided by the fan of the shape, by `mode`."""
        rng = generator_for(self.seed)
        receptive = math.prod(shape[:-2]) if len(shape) > 2 else 1
        fan_in, fan_out = (
            (shape[0] if len(shape) == 1 else shape[-2] * receptive if shape else 1),
            (shape[-1] * receptive if shape else 1),
        )
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(fan, 1.0)
        if self.distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return rng.uniform(-limit, limit, shape)
        if self.distribution == "truncated_normal":  # cut off at two standard deviations, which makes it narrower
            return TruncatedNormal(0.0, math.sqrt(variance) / 0.87962566103423978, int(rng.integers(2**31))).draw(shape)
        return rng.normal(0.0, math.sqrt(variance), shape)


def _scaling(name: str, scale: float, mode: str, distribution: str) -> Callable[..., Initializer]:
    def make(seed: Any = None) -> Initializer:
        return VarianceScaling(scale, mode, distribution, seed)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"Variance {scale} by {mode}, {distribution}."
    return make


GlorotUniform = _scaling("GlorotUniform", 1.0, "fan_avg", "uniform")
GlorotNormal = _scaling("GlorotNormal", 1.0, "fan_avg", "truncated_normal")
HeUniform = _scaling("HeUniform", 2.0, "fan_in", "uniform")
HeNormal = _scaling("HeNormal", 2.0, "fan_in", "truncated_normal")
LecunUniform = _scaling("LecunUniform", 1.0, "fan_in", "uniform")
LecunNormal = _scaling("LecunNormal", 1.0, "fan_in", "truncated_normal")


class Orthogonal(Initializer):
    """Orthogonal rows or columns."""

    def __init__(self, gain: float = 1.0, seed: Any = None) -> None:
        self.gain, self.seed = gain, seed

    def draw(self, shape: tuple[int, ...]) -> Any:
        """An orthogonal matrix times `gain`; further axes are joined for it."""
        return np.asarray(gt.nn.init.orthogonal(self.gain)(generator_for(self.seed), shape))


_BY_NAME: dict[str, Callable[..., Any]] = {
    "constant": Constant,
    "glorot_normal": GlorotNormal,
    "glorot_uniform": GlorotUniform,
    "he_normal": HeNormal,
    "he_uniform": HeUniform,
    "identity": Identity,
    "lecun_normal": LecunNormal,
    "lecun_uniform": LecunUniform,
    "normal": RandomNormal,
    "ones": Ones,
    "orthogonal": Orthogonal,
    "random_normal": RandomNormal,
    "random_uniform": RandomUniform,
    "truncated_normal": TruncatedNormal,
    "uniform": RandomUniform,
    "zeros": Zeros,
}


def get(identifier: Any) -> Any:
    """The initialiser of a name, a class, or itself."""
    if identifier is None or isinstance(identifier, Initializer):
        return identifier
    if callable(identifier):
        return identifier() if isinstance(identifier, type) or identifier in _BY_NAME.values() else identifier
    if str(identifier) in _BY_NAME:
        return _BY_NAME[str(identifier)]()
    by_class = {name.replace("_", ""): made for name, made in _BY_NAME.items()}
    if str(identifier).lower() in by_class:
        return by_class[str(identifier).lower()]()
    raise ValueError(f"there is no initialiser {identifier!r}; there are: {', '.join(sorted(_BY_NAME))}")


constant, zeros, ones, identity = Constant, Zeros, Ones, Identity
random_normal, random_uniform, truncated_normal = RandomNormal, RandomUniform, TruncatedNormal
glorot_uniform, glorot_normal, he_uniform, he_normal = GlorotUniform, GlorotNormal, HeUniform, HeNormal
lecun_uniform, lecun_normal, orthogonal, variance_scaling = LecunUniform, LecunNormal, Orthogonal, VarianceScaling

__all__ = ["Constant", "GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform", "Identity", "Initializer"]
__all__ += ["LecunNormal", "LecunUniform", "Ones", "Orthogonal", "RandomNormal", "RandomUniform", "TruncatedNormal"]
__all__ += ["VarianceScaling", "Zeros", "constant", "get", "glorot_normal", "glorot_uniform", "he_normal"]
__all__ += ["he_uniform", "identity", "lecun_normal", "lecun_uniform", "ones", "orthogonal", "random_normal"]
__all__ += ["random_uniform", "truncated_normal", "variance_scaling", "zeros"]
__getattr__ = missing(__name__)
