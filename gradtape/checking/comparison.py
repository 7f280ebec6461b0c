"""Derivatives against central differences, element by element or along random directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gradtape.checking.report import Comparison, GradcheckReport
from gradtape.checking.vectors import Coordinates, Vector, VectorFunction

FULL = 10_000
PROJECTIONS = 5
EPSILON = float(np.finfo(float).eps)
STEP = EPSILON ** (1 / 3)  # where the truncation of a central difference and its rounding are about equal
ROUNDING = 16 * EPSILON  # of a value, relative; divided by the step it is the rounding of a difference
REPEATED = 1e-12  # how far apart, relative, two evaluations at one point may be
KINKS = 8  # how many elements are looked at more closely although their derivatives agree


class _Difference(NamedTuple):
    """A central difference: for each output the slope, what of it may be rounding, and the slopes of the two sides."""

    direction: int | Vector  # a coordinate, or a vector
    step: float
    slope: Vector
    rounding: Vector
    left: Vector
    right: Vector


class _Found(NamedTuple):
    """What one comparison found, for the report."""

    compared: int
    failed: int
    worst: Comparison
    kink: str


class Check:
    """The derivatives of one function, in the modes it has, against differences."""

    def __init__(self, view: VectorFunction, suffix: str, eps: float | None, rtol: float, atol: float) -> None:
        self.view = view
        self.suffix = suffix
        self.modes = ("reverse", "forward") if view.can_push else ("reverse",)
        self.eps = eps
        self.rtol = rtol
        self.atol = atol
        self.value = np.zeros(0)

    def extend(self, report: GradcheckReport) -> GradcheckReport:
        """`report` with what is found here."""
        report = replace(report, modes=(*report.modes, *(mode + self.suffix for mode in self.modes)))
        first, *others = self.view(self.view.point), self.view(self.view.point), self.view.recorded()
        problem = self._not_repeatable(first, others)
        if problem or first is None:
            return replace(report, problem=problem)
        problem = _not_finite(self.view.inputs, self.view.point) or _not_finite(self.view.outputs, first)
        if problem:
            return replace(report, problem=problem)
        if not self.view.inputs.size or not self.view.outputs.size:
            return report
        self.value = first
        full = self.view.inputs.size * self.view.outputs.size <= FULL
        found = self._every_element() if full else self._projections()
        worst = found.worst
        if report.worst is not None and report.worst.excess > worst.excess:
            worst = report.worst
        compared, failed = report.compared + found.compared, report.failed + found.failed
        return replace(report, compared=compared, failed=failed, worst=worst, kink=found.kink or report.kink)

    def _not_repeatable(self, first: Vector | None, others: list[Vector | None]) -> str:
        for other in others:
            if first is None or other is None:
                return "  the function is not deterministic: called again, it returned numbers of other shapes"
            with np.errstate(invalid="ignore"):
                close = np.abs(first - other) <= REPEATED * np.abs(first).max(initial=0)
            differs = ~(close | (first == other))
            at = np.flatnonzero(differs & ~(np.isnan(first) & np.isnan(other)))
            if at.size:
                return (
                    f"  the function is not deterministic: at the same point {self.view.outputs.describe(int(at[0]))} "
                    f"was {first[at[0]]:.10g}, then {other[at[0]]:.10g}\n"
                    f"  fix: draw random numbers before and pass them in, or seed the generator inside the function"
                )
        return ""

    # -- differences

    def _step(self, coordinate: int) -> float:
        return STEP * max(1.0, abs(float(self.view.point[coordinate]))) if self.eps is None else self.eps

    def _difference(self, direction: int | Vector, step: float) -> _Difference:
        move = step * (_unit(direction, self.view.inputs.size) if isinstance(direction, int) else direction)
        above, below = self.view(self.view.point + move), self.view(self.view.point - move)
        if above is None or below is None:  # other shapes beside the point: no derivative to speak of
            above = below = np.full(self.value.size, np.nan)
        with np.errstate(all="ignore"):
            size = np.maximum(np.abs(self.value), np.maximum(np.abs(above), np.abs(below)))
            rounding = np.where(np.isfinite(size), ROUNDING * size / step, 0)
            left, right = (self.value - below) / step, (above - self.value) / step
            return _Difference(direction, step, (above - below) / (2 * step), rounding, left, right)

    def _allowed(self, slope: Vector, rounding: Vector) -> Vector:
        return self.atol + self.rtol * np.where(np.isfinite(slope), np.abs(slope), 0) + rounding

    def _excess(self, analytic: Vector, slope: Vector, allowed: Vector) -> Vector:
        """Differences in units of what is allowed; infinite where a number is not finite."""
        with np.errstate(all="ignore"):
            excess = np.where(analytic == slope, 0, np.abs(analytic - slope) / allowed)
        return np.where(np.isfinite(excess), excess, np.inf)

    def _second_opinion(self, first: _Difference) -> tuple[Vector, Vector]:
        """Slopes extrapolated from two steps, and what is allowed; where the function is not smooth, as they were.

        A function that bends a lot within a step is not wrong: (4 d(h/2) - d(h)) / 3 has an error of h^4 where it has
        enough derivatives, and one of the order of d(h/2) - d(h) where it has not.
        """
        half = self._difference(first.direction, first.step / 2)
        with np.errstate(all="ignore"):
            smooth = ~_bent(first, half, 2)
            slope = np.where(smooth, (4 * half.slope - first.slope) / 3, first.slope)
            uncertain = np.where(smooth, 3 * half.rounding + np.abs(half.slope - first.slope), first.rounding)
        return slope, self._allowed(slope, uncertain)

    def _comparison(self, mode: str, i: int, j: int, analytic: float, numeric: float, allowed: float) -> Comparison:
        names = self.view.outputs.describe(i), self.view.inputs.describe(j)
        return Comparison(mode + self.suffix, *names, float(analytic), float(numeric), float(allowed), self._step(j))

    # -- all elements

    def _every_element(self) -> _Found:
        rows, columns = self.view.outputs.size, self.view.inputs.size
        differences = [self._difference(j, self._step(j)) for j in range(columns)]
        analytic = {"reverse": np.stack([self.view.pull(_unit(i, rows)) for i in range(rows)])}
        if "forward" in self.modes:
            analytic["forward"] = np.stack([self.view.push(_unit(j, columns)) for j in range(columns)], axis=1)
        failed = 0
        worst: tuple[float, str, int, int, float, float] = (-1.0, "", 0, 0, 0.0, 0.0)
        for j, difference in enumerate(differences):
            slope, allowed = difference.slope, self._allowed(difference.slope, difference.rounding)
            if any((self._excess(a[:, j], slope, allowed) > 1).any() for a in analytic.values()):
                slope, allowed = self._second_opinion(difference)
            for mode, a in analytic.items():
                excess = self._excess(a[:, j], slope, allowed)
                failed += int(np.count_nonzero(excess > 1))
                i = int(np.argmax(excess))
                if excess[i] > worst[0]:
                    worst = float(excess[i]), mode, i, j, float(slope[i]), float(allowed[i])
        _, mode, i, j, numeric, tolerance = worst
        found = self._comparison(mode, i, j, analytic[mode][i, j], numeric, tolerance)
        for other in analytic.keys() - {mode}:
            found = replace(found, other_mode=(other + self.suffix, float(analytic[other][i, j])))
        kink = self._kink(i, differences[j], least=0) if failed else self._any_kink(differences)
        return _Found(len(analytic) * rows * columns, failed, found, kink)

    # -- what is not smooth

    def _any_kink(self, differences: list[_Difference]) -> str:
        """The first kink among the elements whose two sides differ most, though their mean is right."""
        apart = np.stack([np.abs(difference.right - difference.left) for difference in differences], axis=1)
        for flat in np.argsort(-apart, axis=None)[:KINKS]:
            i, j = np.unravel_index(int(flat), apart.shape)
            kink = self._kink(int(i), differences[int(j)], least=1e-2)
            if kink:
                return kink
        return ""

    def _kink(self, i: int, difference: _Difference, least: float) -> str:
        """What is not smooth about output `i` within the step, if its two sides differ by at least `least`."""
        assert isinstance(difference.direction, int)
        left, right = float(difference.left[i]), float(difference.right[i])
        place = f"d {self.view.outputs.describe(i)} / d {self.view.inputs.describe(difference.direction)}"
        if not np.isfinite(left) or not np.isfinite(right):
            return f"at {place} the step leaves the domain of the function: a value beside the point is not finite"
        apart = abs(right - left)
        if least and apart <= max(least, 1e-3 * max(abs(left), abs(right))):
            return ""
        near = self._difference(difference.direction, difference.step / 4)
        size, noise = abs(difference.slope[i]) + apart, 4 * near.rounding[i]
        if abs(near.slope[i]) + abs(near.right[i] - near.left[i]) > 3 * size + noise:  # steeper as the step shrinks
            kind = "jump"
        elif apart > 1e-3 * max(abs(left), abs(right)) + noise and _bent(difference, near, 4)[i]:
            kind = "kink"
        else:
            return ""
        return f"at {place} the step straddles a {kind}: the two one-sided slopes are {left:.6g} and {right:.6g}"

    # -- random directions, for what is too large to compare element by element

    def _projections(self) -> _Found:
        generator = np.random.default_rng(3)
        rows, columns = self.view.outputs.size, self.view.inputs.size
        scale = np.maximum(1, np.abs(self.view.point)) if self.eps is None else np.ones(columns)
        failed = 0
        worst: tuple[float, Comparison] | None = None
        culprit: tuple[float, str, int, Vector, _Difference] | None = None
        for _ in range(PROJECTIONS):
            direction = generator.choice([-1.0, 1.0], columns) * scale / np.sqrt(columns)
            weights = generator.choice([-1.0, 1.0], rows) / np.sqrt(rows)
            difference = self._difference(direction, STEP if self.eps is None else self.eps)
            analytic = {"reverse": np.array([self.view.pull(weights) @ direction])}
            if "forward" in self.modes:
                analytic["forward"] = self.view.push(direction)
            allowed = self._allowed(difference.slope, difference.rounding)
            found = self._projected(analytic, weights, difference.slope, allowed)
            if any((excess > 1).any() for _, excess, _, _ in found):
                found = self._projected(analytic, weights, *self._second_opinion(difference))
            for mode, excess, slope, tolerance in found:
                failed += int(np.count_nonzero(excess > 1))
                i = int(np.argmax(excess))
                if worst is None or excess[i] > worst[0]:
                    output = self.view.outputs.describe(i) if mode == "forward" else "a random sum of all outputs"
                    numbers = float(analytic[mode][i]), float(slope[i]), float(tolerance[i])
                    where = output, "a random direction"
                    worst = excess[i], Comparison(mode + self.suffix, *where, *numbers, difference.step)
                    culprit = excess[i], mode, i, weights, difference
        assert worst is not None
        assert culprit is not None
        compared = PROJECTIONS * (1 + rows * (len(self.modes) - 1))
        if not failed:
            return _Found(compared, failed, worst[1], "")
        comparison, kink = self._located(*culprit[1:])
        return _Found(compared, failed, comparison, kink)

    def _projected(
        self, analytic: dict[str, Vector], weights: Vector, slope: Vector, allowed: Vector
    ) -> list[tuple[str, Vector, Vector, Vector]]:
        """For each mode: how far off, the slopes and what is allowed, of the weighted sum or of each output."""
        sums = {
            "reverse": (np.array([weights @ slope]), np.array([np.abs(weights) @ allowed])),
            "forward": (slope, allowed),
        }
        return [(mode, self._excess(a, *sums[mode]), *sums[mode]) for mode, a in analytic.items()]

    def _located(self, mode: str, output: int, weights: Vector, wide: _Difference) -> tuple[Comparison, str]:
        """The element behind a projection that failed: the direction is halved until one coordinate is left."""
        assert not isinstance(wide.direction, int)
        direction, rows = wide.direction, self.view.outputs.size
        pulled = self.view.pull(weights)

        def off_by_direction(chosen: Vector) -> float:
            slope = self._difference(chosen, wide.step).slope
            if mode == "forward":
                return float(abs(self.view.push(chosen)[output] - slope[output]))
            return float(abs(pulled @ chosen - _weighted(weights, slope)))

        j = _halved(off_by_direction, direction)
        column = self._difference(j, self._step(j))
        if mode == "forward":
            analytic = self.view.push(_unit(j, self.view.inputs.size))
            excess = self._excess(analytic, column.slope, self._allowed(column.slope, column.rounding))
            i = int(np.argmax(excess))
            number = analytic[i]
        else:

            def off_by_weights(chosen: Vector) -> float:
                return float(abs(self.view.pull(chosen)[j] - _weighted(chosen, column.slope)))

            i = _halved(off_by_weights, weights)
            number = self.view.pull(_unit(i, rows))[j]
        allowed = self._allowed(column.slope, column.rounding)
        comparison = self._comparison(mode, i, j, number, column.slope[i], allowed[i])
        return comparison, self._kink(i, column, least=0)


def _not_finite(coordinates: Coordinates, values: Vector) -> str:
    """Which number is not finite, if one is."""
    bad = np.flatnonzero(~np.isfinite(values))
    if not bad.size:
        return ""
    return (
        f"  {coordinates.describe(int(bad[0]))} is {values[bad[0]]} at this point ({bad.size} of {values.size} numbers "
        f"are not finite)\n  fix: check at a point inside the domain of the function"
    )


def _unit(coordinate: int, size: int) -> Vector:
    unit = np.zeros(size)
    unit[coordinate] = 1
    return unit


def _weighted(weights: Vector, values: Vector) -> float:
    """The weighted sum of `values`, where those without weight may be anything."""
    counted = weights != 0
    return float(weights[counted] @ values[counted])


def _bent(wide: _Difference, narrow: _Difference, divisor: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where the slopes of the two sides do not come together in proportion to the step: not a smooth function."""
    apart, closer = np.abs(wide.right - wide.left), np.abs(narrow.right - narrow.left)
    rounding = 4 * (wide.rounding + narrow.rounding)
    return ~(np.abs(closer - apart / divisor) <= 0.4 * apart / divisor + rounding)


def _halved(off: Callable[[Vector], float], vector: Vector) -> int:
    """The coordinate that is most to blame: always the half of `vector` that is farther off."""
    chosen = np.arange(vector.size)
    while chosen.size > 1:
        halves = chosen[: chosen.size // 2], chosen[chosen.size // 2 :]
        errors = []
        for half in halves:
            part = np.zeros(vector.size)
            part[half] = vector[half]
            error = off(part)
            errors.append(np.inf if np.isnan(error) else error)
        chosen = halves[int(np.argmax(errors))]
    return int(chosen[0])
