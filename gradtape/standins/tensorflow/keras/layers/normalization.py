"""BatchNormalization and LayerNormalization."""

from __future__ import annotations

from typing import Any

from gradtape.standins.tensorflow.keras.layers.base import Layer
from gradtape.standins.tensorflow.nn import batch_normalization, moments
from gradtape.standins.tensorflow.tape import stop_gradient


class BatchNormalization(Layer):
    """Each channel with mean 0 and variance 1: of the batch while training, of what was seen so far otherwise.

    >>> from gradtape.standins import tensorflow as tf
    >>> layer = tf.keras.layers.BatchNormalization()
    >>> layer(tf.constant([[1.0], [3.0]]), training=True).numpy().round(2).tolist()
    [[-1.0], [1.0]]
    """

    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.axis, self.momentum, self.epsilon, self.center, self.scale = axis, momentum, epsilon, center, scale

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        size = (input_shape[self.axis],)
        self.gamma = self.add_weight(size, "ones", name="gamma") if self.scale else None
        self.beta = self.add_weight(size, "zeros", name="beta") if self.center else None
        self.moving_mean = self.add_weight(size, "zeros", trainable=False, name="moving_mean")
        self.moving_variance = self.add_weight(size, "ones", trainable=False, name="moving_variance")
        self.built = True

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Normalised; while training, the moving averages move."""
        if training and self.trainable:
            others = [place for place in range(len(inputs.shape)) if place != self.axis % len(inputs.shape)]
            mean, variance = moments(inputs, others)
            for moving, new in ((self.moving_mean, mean), (self.moving_variance, variance)):
                kept = stop_gradient(moving) * self.momentum
                moving.assign(kept + stop_gradient(new) * (1 - self.momentum))
        else:
            mean, variance = self.moving_mean, self.moving_variance
        return batch_normalization(inputs, mean, variance, self.beta, self.gamma, self.epsilon)


class LayerNormalization(Layer):
    """Each example with mean 0 and variance 1 along `axis`."""

    def __init__(
        self, axis: Any = -1, epsilon: float = 1e-3, center: bool = True, scale: bool = True, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.axis, self.epsilon, self.center, self.scale = axis, epsilon, center, scale

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        places = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        size = tuple(input_shape[place] for place in places)
        self.gamma = self.add_weight(size, "ones", name="gamma") if self.scale else None
        self.beta = self.add_weight(size, "zeros", name="beta") if self.center else None
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Normalised."""
        mean, variance = moments(inputs, self.axis, keepdims=True)
        return batch_normalization(inputs, mean, variance, self.beta, self.gamma, self.epsilon)


__all__ = ["BatchNormalization", "LayerNormalization"]
