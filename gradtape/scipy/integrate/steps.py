"""One step of an integration, recorded: the methods of `scipy.integrate.solve_ivp`, at times that are known already.

The lengths of the steps count as given. Explicit methods have SciPy's coefficients, and so SciPy's values to rounding.
The implicit ones are recorded as steps of the Radau IIA method of order 5, whose equations were solved beforehand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.errors import NumericsError
from gradtape.extend import current_recording, numbers_if_known, off_tape, solver_error, use_recording
from gradtape.odes.system import advance_state, weighted_sum
from gradtape.ops import concatenate, stack
from gradtape.transforms.jacobians import jacobian

Slope = Callable[[Any, Any], Any]  # of a time and a state


class Step(ABC):
    """A step from `t` to `end`, from the state `y` to the state `last`."""

    last: Any

    def __init__(self, t: Any, end: Any, y: Any) -> None:
        self.t, self.end, self.y = t, end, y
        self.h = end - t

    def fraction(self, times: Any) -> Any:
        """Where in the step the `times` are, 0 at its beginning and 1 at its end."""
        return (times - self.t) / self.h

    @abstractmethod
    def at(self, times: Any) -> Any:
        """The states at a vector of times, a column for each."""


class ExplicitStep(Step):
    """A step of an explicit Runge-Kutta method; `method` is SciPy's class for it, with the coefficients."""

    def __init__(self, method: Any, slope: Slope, t: Any, end: Any, y: Any, first: Any) -> None:
        super().__init__(t, end, y)
        self.method, self.slope = method, slope
        self.slopes: list[list[Any]] = [[first]]
        for c, row in zip(method.C[1:], method.A[1:], strict=True):
            self._add(c, row)
        (self.last,) = advance_state([y], self.h, self.slopes, method.B)
        self.last_slope = slope(end, self.last)
        self.slopes.append([self.last_slope])

    def _add(self, c: Any, row: Any) -> None:
        (state,) = advance_state([self.y], self.h, self.slopes, row[: len(self.slopes)])
        self.slopes.append([self.slope(self.t + c * self.h, state)])

    def at(self, times: Any) -> Any:
        """The states at a vector of times: the polynomial of SciPy's dense output."""
        x = self.fraction(times)
        if hasattr(self.method, "A_EXTRA"):
            return self._order_eight(x)
        powers = [x]
        for _ in range(self.method.P.shape[1] - 1):
            powers.append(powers[-1] * x)
        stages = stack([slope for (slope,) in self.slopes], axis=1)
        return self.y[:, None] + self.h * (stages @ (self.method.P @ stack(powers)))

    def combine(self, rows: Any) -> list[Any]:
        """The sums of the slopes at all stages, each times its weight: one for each row of weights."""
        stages = [slope for (slope,) in self.slopes]
        return [weighted_sum(stages[: len(row)], row) for row in rows]

    def add_extra_stages(self) -> None:
        """Add the three stages that the interpolation of order 8 needs, if they are not there."""
        if len(self.slopes) == len(self.method.B) + 1:
            for c, row in zip(self.method.C_EXTRA, self.method.A_EXTRA, strict=True):
                self._add(c, row)

    def _order_eight(self, x: Any) -> Any:
        method = self.method
        self.add_extra_stages()
        first, last = self.slopes[0][0], self.last_slope
        rise = self.last - self.y
        parts = [rise, self.h * first - rise, 2.0 * rise - self.h * (last + first)]
        stages = stack([slope for (slope,) in self.slopes], axis=1)
        rest = self.h * (stages @ method.D.T)
        parts += [rest[:, index] for index in range(rest.shape[1])]
        states: Any = 0.0
        for index, part in enumerate(reversed(parts)):
            states = (states + part[:, None]) * (1.0 - x if index % 2 else x)
        return states + self.y[:, None]


ROOT = 6.0**0.5
NODES = np.array([(4.0 - ROOT) / 10.0, (4.0 + ROOT) / 10.0, 1.0])
MATRIX = np.array(
    [
        [(88 - 7 * ROOT) / 360, (296 - 169 * ROOT) / 1800, (-2 + 3 * ROOT) / 225],
        [(296 + 169 * ROOT) / 1800, (88 + 7 * ROOT) / 360, (-2 - 3 * ROOT) / 225],
        [(16 - ROOT) / 36, (16 + ROOT) / 36, 1 / 9],
    ]
)
"""Radau IIA of order 5; Hairer and Wanner, Solving Ordinary Differential Equations II, table IV.5.6."""

INTERPOLATION = np.linalg.inv(NODES[:, None] ** np.array([1, 2, 3]))
"""The powers of a fraction of the step, from the moves at the nodes."""


class ImplicitStep(Step):
    """A step of the Radau IIA method: the moves Z_i = h sum_j a_ij f(t + c_j h, y + Z_j) by the three nodes.

    `guess` are moves near them. The equations are solved by Newton's method for numbers, and once more with the
    Jacobian at the solution and all recorded, which gives the derivatives; see `gradtape.scipy.callbacks.solution`.
    """

    def __init__(self, slope: Slope, t: Any, end: Any, y: Any, guess: list[Any]) -> None:
        super().__init__(t, end, y)
        self.slope = slope
        self.moves = self._solved(guess)
        self.last = y + self.moves[2]

    def _residuals(self, moves: list[Any], t: Any, h: Any, y: Any) -> list[Any]:
        slopes = [self.slope(t + c * h, y + move) for c, move in zip(NODES, moves, strict=True)]
        return [
            move - h * (row[0] * slopes[0] + row[1] * slopes[1] + row[2] * slopes[2])
            for move, row in zip(moves, MATRIX, strict=True)
        ]

    def _inverse(self, moves: list[Any], t: Any, h: Any, y: Any) -> Any:
        """The inverse of the Jacobian of the residuals by the moves."""
        matrices = [
            jacobian(lambda z, c=c: self.slope(t + c * h, z))(y + move) for c, move in zip(NODES, moves, strict=True)
        ]
        identity = np.eye(y.shape[0])
        rows = [
            concatenate([(i == j) * identity - h * MATRIX[i, j] * matrices[j] for j in range(3)], axis=1)
            for i in range(3)
        ]
        return np.linalg.inv(concatenate(rows, axis=0))

    def _solved(self, guess: list[Any]) -> list[Any]:
        t, h, y = off_tape(self.t), off_tape(self.h), off_tape(self.y)
        size = y.shape[0]

        def step(moves: list[Any], residuals: list[Any], inverse: Any) -> tuple[list[Any], Any]:
            change = inverse @ concatenate(residuals)
            return [move - change[i * size : (i + 1) * size] for i, move in enumerate(moves)], change

        moves = [off_tape(move) for move in guess]
        with use_recording(current_recording().mute(True)):
            for _ in range(20):
                inverse = off_tape(self._inverse(moves, t, h, y))
                moves, change = step(moves, [off_tape(x) for x in self._residuals(moves, t, h, y)], inverse)
                if np.abs(numbers_if_known(change)).max() <= 1e-13 * (1.0 + np.abs(numbers_if_known(y)).max()):
                    break
            else:
                if not np.abs(numbers_if_known(change)).max() <= 1e-8 * (1.0 + np.abs(numbers_if_known(y)).max()):
                    raise solver_error(
                        NumericsError,
                        f"the equations of the step from t = {float(numbers_if_known(t)):.6g} do not converge, so that "
                        f"it cannot be differentiated.",
                        "a smaller max_step=, or a smaller rtol=",
                    )
        for _ in range(len(current_recording().recorders) + 2):
            residuals = self._residuals(moves, self.t, self.h, self.y)
            moves, _ = step(moves, [x - off_tape(x) for x in residuals], inverse)
        return moves

    def at(self, times: Any) -> Any:
        """The states at a vector of times: the cubic through the nodes."""
        x = self.fraction(times)
        powers = stack([x, x * x, x * x * x])
        return self.y[:, None] + stack(self.moves, axis=1) @ (INTERPOLATION.T @ powers)
