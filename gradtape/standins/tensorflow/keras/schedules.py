"""`tf.keras.optimizers.schedules`: learning rates as functions of the number of steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.standins.names import missing
from gradtape.standins.tensorflow.arrays import constant
from gradtape.standins.tensorflow.conversion import value_of


class LearningRateSchedule:
    """The base of schedules: `rate(step)` gives a number."""

    def rate(self, step: float) -> float:
        """The learning rate at a step; subclasses write it, or `__call__`."""
        raise NotImplementedError

    def __call__(self, step: Any) -> Any:
        return constant(self.rate(float(np.asarray(value_of(step)._concrete()))))


class ExponentialDecay(LearningRateSchedule):
    """Multiplied by `decay_rate` every `decay_steps`."""

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: float,
        decay_rate: float,
        staircase: bool = False,
        name: Any = None,
    ) -> None:
        self._first, self._steps, self._decay, self._staircase = (
            initial_learning_rate,
            decay_steps,
            decay_rate,
            staircase,
        )

    def rate(self, step: float) -> float:
        times = step / self._steps
        return float(self._first * self._decay ** (math.floor(times) if self._staircase else times))


class InverseTimeDecay(ExponentialDecay):
    """Divided by 1 + `decay_rate` times the number of `decay_steps`."""

    def rate(self, step: float) -> float:
        times = step / self._steps
        return float(self._first / (1 + self._decay * (math.floor(times) if self._staircase else times)))


class PolynomialDecay(LearningRateSchedule):
    """From one rate to another, by a power of what is left."""

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: float,
        end_learning_rate: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        name: Any = None,
    ) -> None:
        self._first, self._steps, self._last, self._power = initial_learning_rate, decay_steps, end_learning_rate, power

    def rate(self, step: float) -> float:
        left = 1 - min(step, self._steps) / self._steps
        return float((self._first - self._last) * left**self._power + self._last)


class CosineDecay(LearningRateSchedule):
    """Half a cosine, from one rate to `alpha` times it."""

    def __init__(self, initial_learning_rate: float, decay_steps: float, alpha: float = 0.0, name: Any = None) -> None:
        self._first, self._steps, self._alpha = initial_learning_rate, decay_steps, alpha

    def rate(self, step: float) -> float:
        wave = 0.5 * (1 + math.cos(math.pi * min(step, self._steps) / self._steps))
        return float(self._first * ((1 - self._alpha) * wave + self._alpha))


class CosineDecayRestarts(LearningRateSchedule):
    """Half a cosine again and again, each `t_mul` times as long and `m_mul` times as high as the one before."""

    def __init__(
        self,
        initial_learning_rate: float,
        first_decay_steps: float,
        t_mul: float = 2.0,
        m_mul: float = 1.0,
        alpha: float = 0.0,
        name: Any = None,
    ) -> None:
        self._first, self._steps, self._longer, self._higher, self._alpha = (
            initial_learning_rate,
            first_decay_steps,
            t_mul,
            m_mul,
            alpha,
        )

    def rate(self, step: float) -> float:
        length, height = float(self._steps), 1.0
        while step >= length:
            step, length, height = step - length, length * self._longer, height * self._higher
        wave = 0.5 * height * (1 + math.cos(math.pi * step / length))
        return float(self._first * ((1 - self._alpha) * wave + self._alpha))


class PiecewiseConstantDecay(LearningRateSchedule):
    """One rate up to each boundary, and another after the last."""

    def __init__(self, boundaries: Any, values: Any, name: Any = None) -> None:
        self._boundaries, self._values = list(boundaries), list(values)

    def rate(self, step: float) -> float:
        return float(self._values[sum(step > boundary for boundary in self._boundaries)])


__all__ = ["CosineDecay", "ExponentialDecay", "InverseTimeDecay", "LearningRateSchedule", "PiecewiseConstantDecay"]
__all__ += ["CosineDecayRestarts", "PolynomialDecay"]
__getattr__ = missing(__name__)
