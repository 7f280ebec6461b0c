"""One parameter on its way through an update, and the arithmetic that the formulas of optimisers share."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

Options = Mapping[str, Any]
Slots = dict[str, Any]


@dataclasses.dataclass(slots=True)
class Leaf:
    """What an update knows of a parameter. `steps` counts from 1; it and `rate` are doubles: see `like`."""

    value: Any
    gradient: Any
    slots: Slots
    steps: Any
    rate: Any
    options: Options

    def decay(self, apart: bool = False) -> None:
        """Let the parameter shrink: by what is added to its gradient, or, `apart` from that, by a factor of its own."""
        strength = self.options["weight_decay"]
        if strength and apart:
            self.value = self.value * self.like(1 - self.rate * strength)
        elif strength:
            self.gradient = self.gradient + strength * self.value

    def moments(self) -> tuple[Any, Any]:
        """The moving averages of the gradient and of its square, a step on."""
        beta1, beta2 = self.options["betas"]
        second = beta2 * self.slots["second"] + (1 - beta2) * self.gradient**2
        return averaged(self.slots["first"], self.gradient, beta1), second

    def along(self, direction: Any) -> Any:
        """The parameter after a step against `direction`, by the learning rate."""
        return self.value - self.like(self.rate) * direction

    def like(self, scalar: Any) -> Any:
        """A double as a number of the parameter's dtype: arithmetic with it does not widen."""
        return scalar.astype(self.value.dtype)


def averaged(average: Any, new: Any, beta: float) -> Any:
    """The moving average, a step on: beta average + (1 - beta) new."""
    return average + (1 - beta) * (new - average)
