"""Layers that do something while training only: dropout and noise; and penalties on what passes."""

from __future__ import annotations

from typing import Any, ClassVar

from gradtape_standins.tensorflow import nn, random
from gradtape_standins.tensorflow.keras.layers.base import Layer
from gradtape_standins.tensorflow.keras.regularizers import L1L2


class Dropout(Layer):
    """Zeros in the place of a share `rate` of the elements, while training."""

    supports_masking = True

    def __init__(self, rate: float, noise_shape: Any = None, seed: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= rate <= 1:
            raise ValueError(
                f"Invalid value received for argument `rate`. Expected a float between 0 and 1: rate={rate}"
            )
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def _shape(self, inputs: Any) -> Any:
        return self.noise_shape

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Dropout while training, else the inputs."""
        if not (training and self.rate):
            return inputs
        if self.rate == 1:
            return inputs * 0.0
        return nn.dropout(inputs, self.rate, self._shape(inputs), self.seed)


class _SpatialDropout(Dropout):
    """Zeros in the place of whole channels, while training."""

    _rank: ClassVar[int]

    def _shape(self, inputs: Any) -> Any:
        return [inputs.shape[0], *[1] * self._rank, inputs.shape[-1]]


class SpatialDropout1D(_SpatialDropout):
    """Zeros in the place of whole channels along time, while training."""

    _rank = 1


class SpatialDropout2D(_SpatialDropout):
    """Zeros in the place of whole channels of images, while training."""

    _rank = 2


class SpatialDropout3D(_SpatialDropout):
    """Zeros in the place of whole channels of volumes, while training."""

    _rank = 3


class GaussianNoise(Layer):
    """Normally distributed noise added, while training."""

    supports_masking = True

    def __init__(self, stddev: float, seed: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.stddev, self.seed = stddev, seed

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Noise while training, else the inputs."""
        return inputs + random.normal(inputs.shape, 0.0, self.stddev, seed=self.seed) if training else inputs


class GaussianDropout(Layer):
    """Multiplied by normally distributed numbers around one, while training."""

    supports_masking = True

    def __init__(self, rate: float, seed: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rate, self.seed = rate, seed

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Noise while training, else the inputs."""
        if not training or not self.rate:
            return inputs
        return inputs * random.normal(inputs.shape, 1.0, (self.rate / (1.0 - self.rate)) ** 0.5, seed=self.seed)


class ActivityRegularization(Layer):
    """The inputs, with a penalty on their size among `losses`."""

    supports_masking = True

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=L1L2(l1, l2), **kwargs)
        self.l1, self.l2 = l1, l2

    def call(self, inputs: Any) -> Any:
        """The inputs."""
        return inputs


__all__ = ["ActivityRegularization", "Dropout", "GaussianDropout", "GaussianNoise", "SpatialDropout1D"]
__all__ += ["SpatialDropout2D", "SpatialDropout3D"]
