"""Derivatives by orders, degrees and parameters, of which SciPy's functions have no formula: by differences.

A central difference of order 10 in double precision, with a step for each element. Its own error is below 1e-11 of the
derivative; what rounds off in SciPy's values is divided by the step, which is some 1/32 to 1/100. Where these values
have all their digits, twelve of the derivative are right. It is made of recorded operations: derivatives by the other
arguments stay exact, and a second one by a parameter is a difference of differences, with ten digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import recording
from gradtape.core.batch import batch_elementwise
from gradtape.core.rules import constant

WEIGHTS = (5 / 6, -5 / 21, 5 / 84, -5 / 504, 1 / 1260)
"""Of (f(p + k h) - f(p - k h)) / h for k = 1, ..., 5: f' up to h^10 f^(11) / 2772."""

LARGEST_STEP = 0.05
LARGEST_CHANGE = 0.125
"""Of exp(r p) the error of the difference is (r h)^10 / 2772 of the derivative, and r h is at most this."""
STEPS_OF_ROOM = 48
"""Beside a pole at the distance of n steps the error of the difference is 11! / 2772 / n^10 of the derivative."""
PROBES = (0.1, 0.06)
"""Two distances, since of a function with a zero at one of them the rate of change looks large there."""


def _probes(room: Any) -> list[Any]:
    return [np.minimum(probe, probe * 1.25 * room) for probe in PROBES]


def _step(ahead: Any, behind: Any, near_ahead: Any, near_behind: Any, room: Any) -> Any:
    """The step, from the values at the ends of two probes: small where the function changes fast; NaN without room.

    A power of two, so that p + k h is exact, and that another rounding does not change it.
    """
    room = np.asarray(room, float)
    far, near = _probes(room)
    with np.errstate(all="ignore"):
        rates = [
            np.abs(np.log(np.abs(after) / np.abs(before))) / (2 * probe)
            for after, before, probe in ((ahead, behind, far), (near_ahead, near_behind, near))
        ]
        rate = np.fmin(*[np.where(np.isfinite(rate), rate, np.nan) for rate in rates])
        largest = np.fmin(LARGEST_STEP, LARGEST_CHANGE / rate)
        step = np.exp2(np.floor(np.log2(np.minimum(largest, room / STEPS_OF_ROOM))))
        return np.where(room > 0, step, np.nan)


difference_step = constant(
    _step,
    name="step of a difference quotient",
    batch=batch_elementwise,
    samples=lambda draw: [
        ((draw(2, 1), draw(3), draw(3), draw(3), 1.0), {}),
        ((draw(2), draw(2), draw(2), draw(2), draw.between((0.1, 2.0), (2,))), {}),
    ],
)


def by_parameter(function: Callable[[Any], Any], p: Any, room: Any = np.inf) -> Any:
    """The derivative of `function`, elementwise and analytic, at p, in the precision of its results.

    `room` is the distance to the nearest pole of the function, for each element.
    """
    wide = p if p.dtype == np.float64 else p.astype(np.float64)
    with np.errstate(all="ignore"):  # of infinite values there is no difference
        with recording.during(recording.current().mute(True)):  # the step is a constant
            dtype = p.dtype if p.dtype == np.float64 else function(p).dtype
            ends = [function(end) for probe in _probes(room) for end in (wide + probe, wide - probe)]
            step = difference_step(*ends, room)
        differences = [
            (function(wide + k * step) - function(wide - k * step)) * weight for k, weight in enumerate(WEIGHTS, 1)
        ]
        slope = sum(differences[1:], differences[0]) / step
    return slope if dtype == np.float64 else slope.astype(dtype)


def room_to_poles(p: Any) -> Any:
    """The distance to the nearest of 0, -1, -2, ..., the poles of the gamma function."""
    return np.where(p > 0, p, np.abs(p - np.round(p)))


def room_to_end(p: Any) -> Any:
    """A room that keeps the difference within p >= 0, where SciPy defines a function that has no pole at 0."""
    return 8 * p
