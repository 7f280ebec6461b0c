"""`tf.keras.optimizers.schedules`: learning rates as functions of the number of steps."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from gradtape.extend import concrete
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.arrays import constant
from gradtape_standins.tensorflow.conversion import value_of


class LearningRateSchedule:
    """The base of schedules: `rate(step)` gives a number."""

    _own: ClassVar[tuple[str, ...]] = ()
    """The names of the arguments, which are attributes, too."""

    def rate(self, step: float) -> float:
        """The learning rate at a step; subclasses write it, or `__call__`."""
        raise NotImplementedError(f"{type(self).__name__} has neither `__call__` nor `rate`")

    def __call__(self, step: Any) -> Any:
        return constant(self.rate(float(np.asarray(concrete(value_of(step))))))

    def get_config(self) -> dict[str, Any]:
        """What the schedule was made with."""
        if not self._own:
            raise NotImplementedError(
                f"Learning rate schedule '{type(self).__name__}' must override `get_config()` in order to be "
                "serializable."
            )
        return {name: getattr(self, name) for name in (*self._own, "name")}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A new schedule, from what `get_config` gave."""
        return cls(**config)


class ExponentialDecay(LearningRateSchedule):
    """Multiplied by `decay_rate` every `decay_steps`."""

    _own = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase")

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: float,
        decay_rate: float,
        staircase: bool = False,
        name: Any = "ExponentialDecay",
    ) -> None:
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.decay_rate, self.staircase, self.name = decay_rate, staircase, name

    def _times(self, step: float) -> float:
        times = step / self.decay_steps
        return math.floor(times) if self.staircase else times

    def rate(self, step: float) -> float:
        """The initial rate times a power of `decay_rate`."""
        return float(self.initial_learning_rate * self.decay_rate ** self._times(step))


class InverseTimeDecay(ExponentialDecay):
    """Divided by 1 + `decay_rate` times the number of `decay_steps`."""

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: float,
        decay_rate: float,
        staircase: bool = False,
        name: Any = "InverseTimeDecay",
    ) -> None:
        super().__init__(initial_learning_rate, decay_steps, decay_rate, staircase, name)

    def rate(self, step: float) -> float:
        """The initial rate divided by 1 plus a multiple of the steps."""
        return float(self.initial_learning_rate / (1 + self.decay_rate * self._times(step)))


class PolynomialDecay(LearningRateSchedule):
    """From one rate to another, by a power of what is left; with `cycle`, again and again, each time more slowly."""

    _own = ("initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle")

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: float,
        end_learning_rate: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        name: Any = "PolynomialDecay",
    ) -> None:
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.end_learning_rate, self.power, self.cycle, self.name = end_learning_rate, power, cycle, name

    def rate(self, step: float) -> float:
        """A power of the steps that are left; with `cycle`, it starts again at the end."""
        length = self.decay_steps * (max(math.ceil(step / self.decay_steps), 1) if self.cycle else 1)
        left = 1 - min(step, length) / length
        return float((self.initial_learning_rate - self.end_learning_rate) * left**self.power + self.end_learning_rate)


class CosineDecay(LearningRateSchedule):
    """Half a cosine, from one rate to `alpha` times it; before it a straight line up to `warmup_target` if given.

    >>> from gradtape_standins import tensorflow as tf
    >>> rate = tf.keras.optimizers.schedules.CosineDecay(0.0, 4, warmup_target=1.0, warmup_steps=2)
    >>> [round(float(rate(step)), 3) for step in range(7)]
    [0.0, 0.5, 1.0, 0.854, 0.5, 0.146, 0.0]
    """

    _own = ("initial_learning_rate", "decay_steps", "alpha")

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: float,
        alpha: float = 0.0,
        name: Any = "CosineDecay",
        warmup_target: float | None = None,
        warmup_steps: float = 0,
    ) -> None:
        self.initial_learning_rate, self.decay_steps, self.alpha, self.name = (
            initial_learning_rate,
            decay_steps,
            alpha,
            name,
        )
        self.warmup_target, self.warmup_steps = warmup_target, warmup_steps

    def get_config(self) -> dict[str, Any]:
        """What the schedule was made with."""
        return super().get_config() | {"warmup_target": self.warmup_target, "warmup_steps": self.warmup_steps}

    def rate(self, step: float) -> float:
        """Half a cosine wave from the initial rate down, after a linear warm-up if there is one."""
        top = self.initial_learning_rate
        if self.warmup_target is not None:
            if step < self.warmup_steps:
                return float(top + (self.warmup_target - top) * step / self.warmup_steps)
            top, step = self.warmup_target, step - self.warmup_steps
        wave = 0.5 * (1 + math.cos(math.pi * min(step, self.decay_steps) / self.decay_steps))
        return float(top * ((1 - self.alpha) * wave + self.alpha))


class CosineDecayRestarts(LearningRateSchedule):
    """Half a cosine again and again, each `t_mul` times as long and `m_mul` times as high as the one before."""

    _own = ("initial_learning_rate", "first_decay_steps", "t_mul", "m_mul", "alpha")

    def __init__(
        self,
        initial_learning_rate: float,
        first_decay_steps: float,
        t_mul: float = 2.0,
        m_mul: float = 1.0,
        alpha: float = 0.0,
        name: Any = "SGDRDecay",
    ) -> None:
        self.initial_learning_rate, self.first_decay_steps = initial_learning_rate, first_decay_steps
        self.t_mul, self.m_mul, self.alpha, self.name = t_mul, m_mul, alpha, name

    def rate(self, step: float) -> float:
        """Half cosine waves that restart, each longer and lower than the one before."""
        length, height = float(self.first_decay_steps), 1.0
        while step >= length:
            step, length, height = step - length, length * self.t_mul, height * self.m_mul
        wave = 0.5 * height * (1 + math.cos(math.pi * step / length))
        return float(self.initial_learning_rate * ((1 - self.alpha) * wave + self.alpha))


class PiecewiseConstantDecay(LearningRateSchedule):
    """One rate up to each boundary, and another after the last."""

    _own = ("boundaries", "values")

    def __init__(self, boundaries: Any, values: Any, name: Any = "PiecewiseConstant") -> None:
        self.boundaries, self.values, self.name = list(boundaries), list(values), name
        if len(self.boundaries) != len(self.values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values. Received: "
                f"boundaries={self.boundaries} of length {len(self.boundaries)}, and values={self.values} of length "
                f"{len(self.values)}."
            )

    def rate(self, step: float) -> float:
        """The value of the interval that the step is in."""
        return float(self.values[sum(step > boundary for boundary in self.boundaries)])


__all__ = ["CosineDecay", "ExponentialDecay", "InverseTimeDecay", "LearningRateSchedule", "PiecewiseConstantDecay"]
__all__ += ["CosineDecayRestarts", "PolynomialDecay"]
__getattr__ = missing(__name__)
