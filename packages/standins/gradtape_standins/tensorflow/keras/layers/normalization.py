"""Normalisations: of batches, of layers, of groups of channels, and to unit length."""

from __future__ import annotations

from typing import Any

import gradtape as gt
from gradtape_standins.tensorflow.conversion import value_of
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.keras.layers.base import Layer
from gradtape_standins.tensorflow.nn import batch_normalization, moments
from gradtape_standins.tensorflow.reductions import l2_normalize
from gradtape_standins.tensorflow.tape import stop_gradient
from gradtape_standins.tensorflow.tensor import wrap


class BatchNormalization(Layer):
    """Each channel with mean 0 and variance 1: of the batch while training, of what was seen so far otherwise.

    >>> from gradtape_standins import tensorflow as tf
    >>> layer = tf.keras.layers.BatchNormalization()
    >>> layer(tf.constant([[1.0], [3.0]]), training=True).numpy().round(2).tolist()
    [[-1.0], [1.0]]
    """

    supports_masking = True

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

    supports_masking = True

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


class GroupNormalization(Layer):
    """Groups of channels of each example with mean 0 and variance 1."""

    supports_masking = True

    def __init__(
        self,
        groups: int = 32,
        axis: int = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if axis != -1:
            raise NotImplementedError(explained("GroupNormalization: axis=-1 is what this stand-in has"))
        self.groups, self.epsilon, self.center, self.scale = groups, epsilon, center, scale

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        channels = input_shape[-1]
        self.groups = channels if self.groups == -1 else self.groups
        if channels % self.groups:
            raise ValueError(explained(f"GroupNormalization: {self.groups} groups do not divide {channels} channels"))
        self.gamma = self.add_weight((channels,), "ones", name="gamma") if self.scale else None
        self.beta = self.add_weight((channels,), "zeros", name="beta") if self.center else None
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Normalised."""
        parts = [None if v is None else value_of(v) for v in (self.gamma, self.beta)]
        value = gt.moveaxis(value_of(inputs), -1, 1)
        made = gt.nn.functional.group_norm(value, self.groups, *parts, eps=self.epsilon)
        return wrap(gt.moveaxis(made, 1, -1))


class RMSNormalization(Layer):
    """Each example divided by the root of its mean square along `axis`."""

    supports_masking = True

    def __init__(self, axis: int = -1, epsilon: float = 1e-6, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis, self.epsilon = axis, epsilon

    def build(self, input_shape: Any) -> None:
        """Make the scale."""
        self.scale = self.add_weight((input_shape[self.axis],), "ones", name="scale")
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Normalised."""
        value = value_of(inputs)
        size = gt.sqrt(gt.mean(value * value, self.axis, keepdims=True) + self.epsilon)
        return wrap(value / size) * self.scale


class UnitNormalization(Layer):
    """Each example divided by its norm along `axis`."""

    supports_masking = True

    def __init__(self, axis: Any = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any) -> Any:
        """Of norm one."""
        return l2_normalize(inputs, axis=self.axis, epsilon=1e-12)


__all__ = ["BatchNormalization", "GroupNormalization", "LayerNormalization", "RMSNormalization", "UnitNormalization"]
