"""The derivative of an integral in eager mode: a recorded sum over the nodes of an adaptive rule.

The value of the integrand and its derivatives by all that it reads are integrated together, adaptively, which gives the
intervals on which a Gauss-Kronrod rule is exact enough for each. The integrand is evaluated at the nodes with
everything recorded; the weighted sum has the derivative of the integral, in any mode. A limit that moves adds the
integral from where it was to where it is (Gauss' rule with three points, of length zero), whose derivatives are those
of Leibniz' rule.
"""

from __future__ import annotations

import heapq
import itertools
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.errors import UnsupportedError
from gradtape.extend import (
    BatchTensor,
    Tensor,
    current_recording,
    is_followed,
    is_library,
    is_recorded,
    next_order,
    node_of,
    nodes_before_run,
    numbers_if_known,
    off_tape,
    report,
    solver_error,
    unshared,
    walk,
    withhold,
)
from gradtape.ops import stack
from gradtape.scipy.callbacks import Run, stacked
from gradtape.scipy.integrate.initial_values import original

Function = Callable[..., Any]


class _ReadsMore(Exception):
    """The integrand reads a tensor that it has not read at other points."""


class _Slopes:
    """The derivatives of recorded values by all that they were computed from, as numbers: what has to be integrated."""

    def __init__(self) -> None:
        self.sizes: dict[Any, int] = {}

    def of(self, value: Any, start: int) -> Any:
        """The derivatives of the sum of `value`, recorded since the order number `start`, as one vector.

        A tensor that was read at other points and is not read here counts with zeros.
        """
        found: dict[Any, Any] = {}
        state = current_recording()
        while isinstance(value, Tensor):
            node = node_of(value)
            mask = state.bits & ~state.forward & node.bits
            if mask and is_recorded(value):
                self._pull(node, start, mask, found)
            if node.extra is not None:
                for bit, tangent in node.extra.tangents.items():
                    found[bit] = _reals(tangent)
            value = value.value if isinstance(value, BatchTensor) else None
        if not found.keys() <= self.sizes.keys():
            self.sizes.update({key: part.size for key, part in found.items()})
            raise _ReadsMore
        parts = [found[key] if key in found else np.zeros(size) for key, size in self.sizes.items()]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _pull(self, node: Any, start: int, mask: int, found: dict[Any, Any]) -> None:
        """The gradients of a node, along the tapes in `mask`."""
        sources = [each for each in nodes_before_run([node], start, mask) if each.bits & mask]
        seeds = [np.ones(node.shape, node.dtype)]
        if node.dtype.kind == "c":
            seeds.append(1j * seeds[0])
        pulled = [walk([(node, seed)], mask, sources=sources) for seed in seeds]
        for each in sources:
            zeros = np.zeros(each.shape, each.dtype)
            found[each] = np.concatenate([_reals(gradients.get(each, zeros)) for gradients in pulled])


def _reals(value: Any) -> Any:
    """All numbers behind a value as a vector of real ones."""
    array = np.ascontiguousarray(numbers_if_known(value)).reshape(-1)
    return array.view(array.real.dtype).astype(float) if array.dtype.kind == "c" else array.astype(float)


class Domain:
    """The way from t in [0, 1], or [-1, 1] where both limits are infinite, to the points of an integral."""

    def __init__(self, a: Any, b: Any, run: Run) -> None:
        self.low, self.high = off_tape(a), off_tape(b)
        finite = [np.isfinite(run.all_numbers(x)) for x in (self.low, self.high)]
        if not all(np.all(side == np.ravel(side)[0]) for side in finite):
            raise solver_error(
                UnsupportedError,
                f"{run.title}: a limit is finite in some examples of a batch and infinite in others.",
                "one call for the finite limits, and one for the infinite ones",
            )
        self.has_low, self.has_high = (bool(np.ravel(side)[0]) for side in finite)
        self.sign = 1.0
        if not (self.has_low and self.has_high):
            first = float(np.ravel(run.all_numbers(self.low if not self.has_low else self.high))[0])
            if (not self.has_low and first > 0) or (not self.has_high and self.has_low and first < 0):
                self.sign = -1.0  # from infinity, or to minus infinity: the limits change places
                self.low, self.high = self.high, self.low
                self.has_low, self.has_high = self.has_high, self.has_low
        self.start = -1.0 if not (self.has_low or self.has_high) else 0.0
        self.is_dense_at_ends = False
        """Whether the points crowd at finite limits, where the integrand may be singular."""

    @property
    def is_infinite(self) -> bool:
        """Whether a limit is infinite: the integrand vanishes far out, and so do its derivatives."""
        return not (self.has_low and self.has_high)

    def at(self, t: float) -> tuple[Any, Any]:
        """The point at t, and how fast it moves with t."""
        if self.has_low and self.has_high:
            length = self.high - self.low
            if not self.is_dense_at_ends:
                return self._inside(self.low + length * t), length
            rest = 1.0 - t
            near = self.low + length * t**3 * (10.0 - 15.0 * t + 6.0 * t**2)
            far = self.high - length * rest**3 * (10.0 - 15.0 * rest + 6.0 * rest**2)
            return self._inside(near if t < 0.5 else far), length * 30.0 * t**2 * rest**2
        if not (self.has_low or self.has_high):
            return (1.0 - abs(t)) / t, self.sign / t**2
        if self.has_low:
            return self.low + (1.0 - t) / t, self.sign / t**2
        return self.high - (1.0 - t) / t, self.sign / t**2

    def _inside(self, x: Any) -> Any:
        """A point that is no limit: where rounding made it one, the number next to that."""
        if isinstance(x, Tensor):
            return x
        if x == self.low:
            return np.nextafter(x, self.high)
        return np.nextafter(x, self.low) if x == self.high else x

    def break_points(self, points: Any, run: Run) -> list[float]:
        """The ends of the first intervals of t: both limits, and the break points between finite ones."""
        if self.start < 0.0:
            return [-1.0, 0.0, 1.0]
        if points is None or not (self.has_low and self.has_high):
            return [0.0, 1.0]
        low, high = (np.ravel(run.all_numbers(x))[0] for x in (self.low, self.high))
        inside = (np.ravel(np.asarray(points, float)) - low) / (high - low)
        inside = inside[(inside > 0.0) & (inside < 1.0)]
        if self.is_dense_at_ends:  # where 10 t**3 - 15 t**4 + 6 t**5 is a break point
            roots = [np.roots([6.0, -15.0, 10.0, 0.0, 0.0, -x]) for x in inside]
            inside = [float(x.real) for row in roots for x in row if abs(x.imag) < 1e-8 and 0.0 < x.real < 1.0]
        return [0.0, *sorted({float(x) for x in inside}), 1.0]


POSITIVE = (
    *(0.995657163025808080735527280689003, 0.973906528517171720077964012084452, 0.930157491355708226001207180059508),
    *(0.865063366688984510732096688423493, 0.780817726586416897063717578345042, 0.679409568299024406234327365114874),
    *(0.562757134668604683339000099272694, 0.433395394129247190799265943165784, 0.294392862701460198131126603103866),
    0.148874338981631210884826001129720,
)
NODES = np.array([*(-x for x in POSITIVE), 0.0, *reversed(POSITIVE)])
WEIGHTS = np.linalg.solve(np.polynomial.legendre.legvander(NODES, 20).T, 2.0 * np.eye(21)[0])
"""The Gauss-Kronrod rule with 21 points, QUADPACK's; the weights are those with which it is exact to degree 20."""

GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(10)[1]
"""The weights of Gauss' rule at every other of these points."""


class _Interval:
    """The samples in one interval, the integral there, and an estimate of its error."""

    def __init__(self, sample: Callable[[float], tuple[Any, Any, Any]], low: float, high: float) -> None:
        self.low, self.high, self.middle, self.half = low, high, 0.5 * (low + high), 0.5 * (high - low)
        self.samples = [sample(self.middle + self.half * node) for node in NODES]
        values = np.stack([vector for _, _, vector in self.samples])
        self.integral = self.half * (WEIGHTS @ values)
        spread = self.half * (WEIGHTS @ np.abs(values - self.integral / (2.0 * self.half)))
        error = np.abs(self.integral - self.half * (GAUSS_WEIGHTS @ values[1::2]))
        with np.errstate(all="ignore"):  # QUADPACK's estimate
            sharper = spread * np.minimum(1.0, (200.0 * error / spread) ** 1.5)
        self.error = np.where((spread > 0.0) & (error > 0.0), sharper, error)
        self.size = float(np.max(self.error, initial=0.0))


def _adapted(
    sample: Callable[[float], tuple[Any, Any, Any]], ends: list[float], epsabs: float, epsrel: float, limit: int
) -> tuple[list[_Interval], bool]:
    """Intervals in which all that is sampled is integrated exactly enough, and whether they are.

    The one with the largest error is halved, until the sum of the errors is small.
    """
    intervals = [_Interval(sample, low, high) for low, high in itertools.pairwise(ends)]
    heap = [(-interval.size, index) for index, interval in enumerate(intervals)]
    heapq.heapify(heap)
    total = np.sum([interval.integral for interval in intervals], axis=0)
    error = np.sum([interval.error for interval in intervals], axis=0)
    while np.max(error, initial=0.0) > max(epsabs, epsrel * float(np.max(np.abs(total), initial=0.0))):
        index = heapq.heappop(heap)[1]
        old = intervals[index]
        if len(intervals) >= limit or not np.isfinite(error).all() or old.half < 1e-15 * max(abs(old.middle), 1e-5):
            return intervals, False
        halves = [_Interval(sample, old.low, old.middle), _Interval(sample, old.middle, old.high)]
        total = total + halves[0].integral + halves[1].integral - old.integral
        error = error + halves[0].error + halves[1].error - old.error
        intervals[index] = halves[0]
        intervals.append(halves[1])
        heapq.heappush(heap, (-halves[0].size, index))
        heapq.heappush(heap, (-halves[1].size, len(intervals) - 1))
    return intervals, True


def moving_integral(
    integrand: Function, a: Any, b: Any, run: Run, epsabs: float, epsrel: float, limit: int, points: Any = None
) -> Any:
    """A sum with the derivatives of the integral of `integrand` from a to b; its value is near that of the integral."""
    domain = Domain(a, b, run)
    slopes = _Slopes()

    def sample(t: float) -> tuple[Any, Any, Any]:
        """The recorded value of the integrand, what it counts with, and all that has to be integrated."""
        x, factor = domain.at(t)
        start = next_order()
        value = unshared(stacked(integrand(x)))
        found = np.asarray(run.all_numbers(value * factor))
        scale = float(np.max(np.abs(run.all_numbers(factor)))) if isinstance(factor, Tensor) else abs(factor)
        if domain.is_infinite and not found.any():
            value, by_read = _far_out(value, start, slopes)
        else:
            by_read = slopes.of(value, start)
        return value, factor, np.concatenate([_reals(found), scale * by_read])

    while True:
        ends = domain.break_points(points, run)
        try:
            intervals, is_exact = _adapted(sample, ends, epsabs, epsrel, max(200 * limit, 1000))
        except _ReadsMore:  # once more, with the derivative by what is read there too
            continue
        if is_exact or domain.is_dense_at_ends:
            break
        domain.is_dense_at_ends = True
    if not is_exact:
        warn(f"{run.title}: the derivative of the integral is not as exact as epsabs= and epsrel= ask for.")
    terms = [value for interval in intervals for value, _, _ in interval.samples]
    factors = [
        weight * interval.half * factor
        for interval in intervals
        for weight, (_, factor, _) in zip(WEIGHTS, interval.samples, strict=True)
    ]
    total = sum_of(terms, factors)
    for end, sign in ((a, -1.0), (b, 1.0)):
        if is_followed(end) and np.isfinite(run.all_numbers(off_tape(end))).all():
            total = total + sign * between(integrand, off_tape(end), end)
    return total


def _far_out(value: Any, start: int, slopes: _Slopes) -> tuple[Any, Any]:
    """An integrand that has underflown to zero, and its derivatives: zero, too, where they are infinity times zero."""
    with withhold("GT401", "GT402", "GT403") as withheld, np.errstate(all="ignore"):
        by_read = slopes.of(value, start)
    if np.isfinite(by_read).all():
        for problem in withheld.problems:
            report(problem)
        return value, by_read
    return off_tape(value), np.zeros_like(by_read)


GAUSS = np.polynomial.legendre.leggauss(3)


def between(integrand: Function, start: Any, end: Any) -> Any:
    """The integral from where a limit is to where it moves, by Gauss' rule: zero, with the right derivatives."""
    length = end - start
    total: Any = 0.0
    for node, weight in zip(*GAUSS, strict=True):
        total = total + 0.5 * weight * stacked(integrand(start + 0.5 * (node + 1.0) * length))
    return length * total


def sum_of(terms: list[Any], factors: list[Any]) -> Any:
    """The sum of terms with factors, in one product where the factors are numbers."""
    values = stack([term if isinstance(term, Tensor) else np.asarray(term, float) for term in terms])
    if any(isinstance(factor, Tensor) for factor in factors):
        weights = stack([factor if isinstance(factor, Tensor) else np.asarray(factor, float) for factor in factors])
    else:
        weights = np.asarray(factors, float)
    return (values * weights.reshape((-1,) + (1,) * (len(values.shape) - 1))).sum(axis=0)


def warn(message: str) -> None:
    """Warn of an integral that is not as exact as was asked for, at the user's line."""
    level, frame = 1, sys._getframe()
    while is_library(frame.f_code.co_filename) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(" ".join(message.split()), original.contents.IntegrationWarning, stacklevel=level)
