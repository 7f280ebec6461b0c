"""A line search for the strong Wolfe conditions: the value falls enough, and the slope has flattened enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

ENOUGH_FALL, ENOUGH_FLATTER, MOST_STEPS = 1e-4, 0.9, 25


@dataclass(frozen=True)
class Point:
    """A place on the line: how far along it, the value, the gradient and the slope along the line there."""

    at: float
    value: float
    gradient: Any
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], Point],
    start: Point,
    first: float,
    length: float,
    tolerance: float,
    most: int = MOST_STEPS,
) -> tuple[Point, int]:
    """A point that fulfils the conditions, or the best that was found; and how often `evaluate` was called.

    `start` is the point at 0, `first` the first distance tried, `length` the largest entry of the direction; behind
    the first distance, `most` others are tried. A value that is not finite counts as infinitely high.
    """

    def too_high(point: Point) -> bool:
        return point.value > start.value + ENOUGH_FALL * point.at * start.slope

    def flat_enough(point: Point) -> bool:
        return abs(point.slope) <= -ENOUGH_FLATTER * start.slope

    # go on until two points enclose what is looked for
    previous, point = start, evaluate(first)
    calls = 1
    enclosed: list[Point] = []
    for number in range(most):
        if too_high(point) or (number > 1 and point.value >= previous.value):
            enclosed = [previous, point]
        elif flat_enough(point):
            return point, calls
        elif point.slope >= 0:
            enclosed = [previous, point]
        if enclosed:
            break
        bounds = (point.at + 0.01 * (point.at - previous.at), point.at * 10)
        at = cubic_minimum(previous, point, bounds)
        previous, point = point, evaluate(at)
        calls += 1
    else:
        enclosed = [start, point]

    # close in on it
    low, high = sorted(enclosed, key=lambda p: p.value)
    stalled = False
    while calls <= most and abs(high.at - low.at) * length >= tolerance:
        left, right = sorted((low.at, high.at))
        at = cubic_minimum(low, high, None)
        margin = 0.1 * (right - left)
        if min(right - at, at - left) < margin:
            if stalled or at >= right or at <= left:
                at = right - margin if abs(at - right) < abs(at - left) else left + margin
                stalled = False
            else:
                stalled = True
        else:
            stalled = False
        point = evaluate(at)
        calls += 1
        if too_high(point) or point.value >= low.value:
            high = point
            if high.value < low.value:
                low, high = high, low
            continue
        if flat_enough(point):
            return point, calls
        if point.slope * (high.at - low.at) >= 0:
            high = low
        low = point
    return low, calls


def cubic_minimum(one: Point, two: Point, bounds: tuple[float, float] | None) -> float:
    """Where the cubic with these values and slopes is smallest, within `bounds`; the middle if it has no minimum."""
    least, most = bounds or (min(one.at, two.at), max(one.at, two.at))
    if one.at == two.at or not (math.isfinite(one.value) and math.isfinite(two.value)):
        return (least + most) / 2
    middle = one.slope + two.slope - 3 * (one.value - two.value) / (one.at - two.at)
    under = middle**2 - one.slope * two.slope
    if not under >= 0:
        return (least + most) / 2
    root = math.sqrt(under)
    if one.at > two.at:
        one, two = two, one
    bottom = two.slope - one.slope + 2 * root
    if bottom == 0:
        return (least + most) / 2
    at = two.at - (two.at - one.at) * ((two.slope + root - middle) / bottom)
    return float(np.clip(at, least, most))
