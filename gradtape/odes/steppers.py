"""One step of each kind of method: the new state, the error estimate, and the states at times within the step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.errors import DtypeError
from gradtape.extend import Tensor, as_vector, concrete, solver_error
from gradtape.odes.system import TITLE, State, System, advance_state, weighted_sum
from gradtape.odes.tableaus import Explicit, Rosenbrock
from gradtape.transforms.jacobians import jacobian


class StepResult(NamedTuple):
    """What a step ends with."""

    state: State
    slope: State  # at the end, for methods that begin with it; else empty
    error: State | None
    within: list[State]  # at the times asked for


class Stepper(ABC):
    """A method for one system. `interpolates`: times within a step come without steps that end there."""

    interpolates = False
    adaptive = True
    order: int

    def __init__(self, system: System) -> None:
        self.system = system

    def first_slope(self, y: State, t: Any, args: tuple[Any, ...]) -> State:
        """The slope that the first step begins with, where the method has use for it."""
        return []

    @abstractmethod
    def step(self, y: State, slope: State, t: Any, h: Any, within: Sequence[Any], args: tuple[Any, ...]) -> StepResult:
        """A step of length h; `within` are fractions of it."""


class ExplicitStepper(Stepper):
    """Runge-Kutta methods."""

    def __init__(self, system: System, table: Explicit) -> None:
        super().__init__(system)
        self.table = table
        self.order = table.order
        self.adaptive = self.interpolates = table.errors is not None

    def first_slope(self, y: State, t: Any, args: tuple[Any, ...]) -> State:
        """The slope at the start, which adaptive steps need to choose their first size; else nothing."""
        return self.system.slope(y, t, args) if self.adaptive else []

    def step(self, y: State, slope: State, t: Any, h: Any, within: Sequence[Any], args: tuple[Any, ...]) -> StepResult:
        """The state after one step of the tableau, its error estimate, and the states at times `within`."""
        slopes, at = self.stages(y, slope, t, h, args)
        if self.table.errors is None:
            return StepResult(advance_state(y, h, slopes, self.table.weights), [], None, [])
        estimate = [part * _plain(h) for part in self.combine(slopes, self.table.errors)]
        return StepResult(at, slopes[-1], estimate, [self._within(y, h, slopes, fraction) for fraction in within])

    def stages(self, y: State, slope: State, t: Any, h: Any, args: tuple[Any, ...]) -> tuple[list[State], State]:
        """The slopes at all stages of a step, and the state at the last stage."""
        slopes = [slope or self.system.slope(y, t, args)]
        at = y
        for time, row in zip(self.table.times[1:], self.table.stages[1:], strict=True):
            at = advance_state(y, h, slopes, row)
            slopes.append(self.system.slope(at, t + time * h, args))
        return slopes, at

    def combine(self, slopes: list[State], weights: Any) -> State:
        """The sum of the slopes of all stages, each times its weight, leaf by leaf."""
        used = [index for index, weight in enumerate(weights) if weight]
        return [weighted_sum([slopes[i][n] for i in used], [weights[i] for i in used]) for n in range(len(slopes[0]))]

    def _within(self, y: State, h: Any, slopes: list[State], fraction: Any) -> State:
        """The state at a fraction of the step: the polynomial of degree 4 of the dense output."""
        b, d = self.table.weights, self.table.dense
        first, last = np.eye(len(b))[0], np.eye(len(b))[-1]
        rest = 1.0 - fraction
        weights = fraction * (b + rest * ((first - b) + fraction * ((2.0 * b - last - first) + rest * d)))
        if not isinstance(weights, Tensor):
            return advance_state(y, h, slopes, weights)
        scaled = h * weights
        return [
            leaf + sum(scaled[i].astype(leaf.real.dtype) * slopes[i][n] for i in range(len(b)))
            for n, leaf in enumerate(y)
        ]


def _plain(h: Any) -> float:
    return float(concrete(h)) if isinstance(h, Tensor) else float(h)


class RosenbrockStepper(Stepper):
    """Linearly implicit methods, for stiff systems: each step solves linear systems with the Jacobian of the slope."""

    def __init__(self, system: System, table: Rosenbrock) -> None:
        super().__init__(system)
        self.table = table
        self.order = table.order
        for name, dtype in zip(system.names, system.dtypes, strict=True):
            if dtype.kind == "c":
                raise solver_error(
                    DtypeError,
                    f"{TITLE}: the method for stiff systems takes real states, and {name} is {dtype}.",
                    "real and imaginary parts as two leaves of the state",
                )

    def step(self, y: State, slope: State, t: Any, h: Any, within: Sequence[Any], args: tuple[Any, ...]) -> StepResult:
        """The state after one step: linear systems with the Jacobian of the slope at the start."""
        table, system = self.table, self.system
        flat = _flat(y)

        def flat_slope(z: Any, t: Any) -> Any:
            return _flat(system.slope(self._parts(z), t, args))

        h = h.astype(flat.dtype) if isinstance(h, Tensor) else h
        time = t if isinstance(t, Tensor) else np.float64(t)
        matrix, by_time = jacobian(flat_slope, argnums=(0, 1))(flat, time)
        inverse = np.linalg.inv(np.eye(flat.size, dtype=flat.dtype) / (table.gamma * h) - matrix)
        stages: list[Any] = []
        for index, fraction in enumerate(table.times):
            at = weighted_sum([flat, *stages], [1.0, *table.stages[index]]) if stages else flat
            right = flat_slope(at, t + fraction * h)
            if stages:
                right = right + weighted_sum(stages, table.couplings[index]) / h
            if table.slopes[index]:
                right = right + table.slopes[index] * h * by_time
            stages.append(inverse @ right)
        end = weighted_sum([flat, *stages], [1.0, *table.weights])
        return StepResult(self._parts(end), [], self._parts(stages[-1]), [])

    def _parts(self, flat: Any) -> State:
        found, place = [], 0
        for shape, dtype in zip(self.system.shapes, self.system.dtypes, strict=True):
            size = int(np.prod(shape))
            part = flat[place : place + size].reshape(shape)
            found.append(part if part.dtype == dtype else part.astype(dtype))
            place += size
        return found


def _flat(state: State) -> Any:
    return as_vector(state, "the state")
