"""The steps of training, as far as they were seen: loss, norms of gradients, update to weight ratios, dead units.

A step is one gradient that a line of the program asked for. Numbers are kept for some hundred steps, evenly spaced; of
a parameter, up to `SAMPLE` elements are compared with those of the next step, so that no parameter is copied whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradtape.explain.report.facts import Facts

STEPS_KEPT = 240
SAMPLE = 4096  # elements of a parameter
PARAMETERS_FOLLOWED = 400


@dataclass
class Step:
    """What is known of one step: numbers by the position of the parameter among the sources, or by place."""

    number: int
    loss: float = math.nan
    gradients: dict[int, float] = field(default_factory=dict)
    updates: dict[int, float] = field(default_factory=dict)
    dead: dict[str, tuple[int, int]] = field(default_factory=dict)  # by line: units that are zero, of how many


class Steps:
    """The steps of one line that asks for gradients."""

    def __init__(self) -> None:
        self.kept: list[Step] = []
        self.names: list[str] = []
        self.stride = 1
        self._pending: tuple[Step, dict[int, Any]] | None = None  # a step, and its parameters before the update

    def wants(self, number: int) -> bool:
        """Whether step `number`, counted from 1, is one of those that are kept, or follows one."""
        return self._pending is not None or (number - 1) % self.stride == 0

    def add(
        self,
        number: int,
        loss: float,
        gradients: Mapping[int, float],
        parameters: Mapping[int, Any],
        facts: Facts | None,
    ) -> None:
        """Add a step whose parameters are these before they are updated; `facts` are those of this very step."""
        samples = {index: sample(parameters[index]) for index in list(parameters)[:PARAMETERS_FOLLOWED]}
        self._compare_pending(samples)
        if facts is not None and facts.sources:
            self.names = [source.name for source in facts.sources]
        if (number - 1) % self.stride:
            return
        step = Step(number, loss, dict(gradients))
        if facts is not None:
            step.dead = dead_units(facts)
        self.kept.append(step)
        self._pending = (step, samples) if samples else None
        if len(self.kept) > STEPS_KEPT:
            del self.kept[1::2]
            self.stride *= 2

    def add_update(
        self, number: int, loss: float, names: Sequence[str], before: Sequence[Any], after: Sequence[Any]
    ) -> None:
        """Add a step of which the parameters before and after are known."""
        if (number - 1) % self.stride == 0:
            self.names = list(names)
            self.add(number, loss, {}, dict(enumerate(before)), None)
            self._compare_pending({index: sample(value) for index, value in enumerate(after)})

    def _compare_pending(self, samples: Mapping[int, Any]) -> None:
        """Compare the parameters of the step before with those that its update made of them."""
        if self._pending is None:
            return
        step, before = self._pending
        self._pending = None
        for index, old in before.items():
            new = samples.get(index)
            size = 0.0 if old is None else float(np.linalg.norm(old))
            if new is not None and size and new.shape == old.shape:
                step.updates[index] = float(np.linalg.norm(new - old)) / size


def sample(value: Any) -> Any:
    """A copy of up to `SAMPLE` elements of a parameter as float64; None for what has no numbers of its own."""
    if not isinstance(value, np.ndarray | np.generic):
        return None
    array = np.asarray(value)
    if array.dtype.kind not in "fc" or not array.size:
        return None
    flat = array.reshape(-1)[:: -(-array.size // SAMPLE)]
    return flat.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def dead_units(facts: Facts) -> dict[str, tuple[int, int]]:
    """For each line with rectifiers, how many of their units are zero for all examples, of how many."""
    found: dict[str, tuple[int, int]] = {}
    for place in facts.places.values():
        if place.units:
            dead, units = found.get(str(place.location), (0, 0))
            found[str(place.location)] = dead + place.dead, units + place.units
    return found


def layer_of(name: str) -> str:
    """The layer of a parameter: its path to the number in it, else to its first dot.

    >>> layer_of("blocks.0.attn.out.weight"), layer_of("head.bias"), layer_of("0.weight"), layer_of("w")
    ('blocks.0', 'head', '0', 'w')
    """
    parts = name.split(".")
    numbers = [index for index, part in enumerate(parts) if part.isdecimal()]
    return ".".join(parts[: numbers[0] + 1]) if numbers else parts[0]
