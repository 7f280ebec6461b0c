"""The coefficients of the methods, as they are printed in textbooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Vector = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Explicit:
    """An explicit Runge-Kutta method: k_i = f(y + h sum_j stages[i][j] k_j, t + times[i] h); y + h sum_i weights[i] k_i
    is the new state.

    `errors` are the weights of the error estimate, and `dense` those of the term that makes the interpolation one
    order better; both are None for methods with fixed steps. Where there are `errors`, the last stage is the slope at
    the end of the step, which the next step begins with.
    """

    order: int
    times: tuple[float, ...]
    stages: tuple[tuple[float, ...], ...]
    weights: Vector
    errors: Vector | None = None
    dense: Vector | None = None


EULER = Explicit(1, (0.0,), ((),), np.array([1.0]))
MIDPOINT = Explicit(2, (0.0, 0.5), ((), (0.5,)), np.array([0.0, 1.0]))
RK4 = Explicit(4, (0.0, 0.5, 0.5, 1.0), ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), np.array([1.0, 2.0, 2.0, 1.0]) / 6.0)

_DOPRI5_WEIGHTS = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
DOPRI5 = Explicit(  # Dormand and Prince 1980; the dense output is Shampine's 1986
    5,
    (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
    (
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        _DOPRI5_WEIGHTS,
    ),
    np.array([*_DOPRI5_WEIGHTS, 0.0]),
    np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]),
    np.array(
        [
            -12715105075 / 11282082432,
            0.0,
            87487479700 / 32700410799,
            -10690763975 / 1880347072,
            701980252875 / 199316789632,
            -1453857185 / 822651844,
            69997945 / 29380423,
        ]
    ),
)


@dataclass(frozen=True)
class Rosenbrock:
    """A linearly implicit method: (I / (gamma h) - J) u_i = f(y + sum_j stages[i][j] u_j, t + times[i] h)
    + sum_j couplings[i][j] u_j / h + slopes[i] h df/dt, and y + sum_i weights[i] u_i.

    The last u is the error estimate.
    """

    order: int
    gamma: float
    times: tuple[float, ...]
    slopes: tuple[float, ...]
    stages: tuple[tuple[float, ...], ...]
    couplings: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]


_RODAS4_FIFTH = (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950)
RODAS4 = Rosenbrock(  # Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.7
    4,
    0.25,
    (0.0, 0.386, 0.21, 0.63, 1.0, 1.0),
    (0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0),
    (
        (),
        (1.544,),
        (0.9466785280815826, 0.2557011698983284),
        (3.314825187068521, 2.896124015972201, 0.9986419139977817),
        _RODAS4_FIFTH,
        (*_RODAS4_FIFTH, 1.0),
    ),
    (
        (),
        (-5.6688,),
        (-2.430093356833875, -0.2063599157091915),
        (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
        (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
        (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
    ),
    (*_RODAS4_FIFTH, 1.0, 1.0),
)

METHODS: dict[str, Explicit | Rosenbrock] = {
    "euler": EULER,
    "midpoint": MIDPOINT,
    "rk4": RK4,
    "dopri5": DOPRI5,
    "rodas4": RODAS4,
}
