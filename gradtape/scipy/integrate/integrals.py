"""Integrals of functions: the value is SciPy's, and the derivative an integral of its own, to the same tolerances.

The integrand may read any tensors. Its value and its derivatives by all of them are integrated together, adaptively,
which gives the intervals on which a Gauss-Kronrod rule is exact enough for each. The integrand is evaluated at the
points of these rules once more with everything recorded; the weighted sum has the derivative of the integral, in any
mode. A limit that moves adds the integral from where it was to where it is (Gauss' rule with three points, of length
zero), whose derivatives are those of Leibniz' rule.
"""

from __future__ import annotations

import heapq
import itertools
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.errors import OperandError, UnsupportedError
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
from gradtape.ops import stack, where
from gradtape.scipy.callbacks import Run, as_tuple, stacked, with_value
from gradtape.scipy.integrate.initial_values import original
from gradtape.scipy.integrate.traced_integrals import TracedIntegral

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
            total = total + sign * _between(integrand, off_tape(end), end)
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


def _between(integrand: Function, start: Any, end: Any) -> Any:
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


def _number(value: Any) -> Any:
    """What an integrand returned, as one number or as a tensor without axes."""
    value = stacked(value)
    if isinstance(value, Tensor):
        return value.reshape(()) if value.shape else value
    return value


@original.differentiated_with_callbacks
def quad(
    func: Any,
    a: Any,
    b: Any,
    args: Any = (),
    full_output: Any = 0,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
    weight: Any = None,
    wvar: Any = None,
    wopts: Any = None,
    maxp1: int = 50,
    limlst: int = 50,
    complex_func: bool = False,
) -> Any:
    """The integral of `func(x, *args)` from a to b, and an estimate of its error: SciPy's values.

    It can be differentiated by the limits, by args and by whatever the integrand reads; the derivative is integrated
    to the same tolerances. Limits may be infinite.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.integrate import quad
    >>> slope = gt.grad(lambda k: quad(lambda x: np.exp(-k * x), 0, np.inf)[0])(2.0)
    >>> bool(abs(slope + 0.25) < 1e-7)
    True
    """
    title = "scipy.integrate.quad"
    arguments = as_tuple(args)
    can_trace = weight is None and not full_output and not complex_func and not is_followed(points)
    run = Run(title, a, b, arguments, wvar, points, traces=can_trace)
    low, high = stacked(a), stacked(b)
    given = {
        "epsabs": epsabs,
        "epsrel": epsrel,
        "limit": limit,
        "weight": weight,
        "wopts": wopts,
        "maxp1": maxp1,
        "limlst": limlst,
        "complex_func": complex_func,
    }

    def compute() -> Any:
        if run.is_traced:
            return None
        return original.contents.quad(
            lambda x: _scalar(run.numbers(func(x, *arguments))),
            run.numbers(low),
            run.numbers(high),
            full_output=full_output,
            points=None if points is None else run.numbers(points),
            wvar=_weight_numbers(wvar, run),
            **given,
        )

    found = run.solve(compute)
    if run.is_traced:
        options = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit, "points": points}
        return _traced(title, lambda x: _number(func(x, *arguments)), low, high, options)
    if not run.is_followed:
        return found
    integrand = _weighted(func, arguments, weight, wvar, low, high, title)
    moving = moving_integral(integrand, low, high, run, epsabs, epsrel, limit, off_tape(points))
    value = with_value(moving, run.gathered(found, lambda each: np.asarray(each[0])))
    if run.levels:
        return value, run.gathered(found, lambda each: np.asarray(each[1]))
    return (value, *found[1:])


def _traced(title: str, function: Function, low: Any, high: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """The integral of a function that returns an array, and its error, in a program that is being traced."""
    shape: list[Any] = []

    def integrand(x: Any) -> Any:
        value = stacked(function(x))
        value = value if isinstance(value, Tensor) else np.asarray(value, float)
        shape[:] = value.shape
        return value.astype(float).reshape((-1,))

    found = TracedIntegral(title, integrand, (low, high), options)
    value = found.value
    for end, sign in ((low, -1.0), (high, 1.0)):
        if isinstance(end, Tensor):
            is_infinite = np.isinf(off_tape(end))
            finite = where(is_infinite, 0.0, end)
            value = value + where(is_infinite, 0.0, sign * _between(integrand, off_tape(finite), finite))
    return value.reshape(tuple(shape)), found.error


def _scalar(value: Any) -> Any:
    return value.reshape(())[()] if isinstance(value, np.ndarray) and value.size == 1 else value


def _weight_numbers(wvar: Any, run: Run) -> Any:
    if isinstance(wvar, tuple | list):
        return tuple([run.numbers(x) for x in wvar])
    return run.numbers(wvar)


def _weighted(func: Any, arguments: Any, weight: Any, wvar: Any, a: Any, b: Any, title: str) -> Function:
    """The integrand with its weight, as a function of x alone."""

    def plain(x: Any) -> Any:
        return _number(func(x, *arguments))

    if weight is None:
        return plain
    infinite = not all(np.isfinite(np.asarray(numbers_if_known(off_tape(stacked(x))))).all() for x in (a, b))
    if weight in ("cos", "sin") and not infinite:
        wave = np.cos if weight == "cos" else np.sin
        return lambda x: plain(x) * wave(wvar * x)
    if weight in ("alg", "alg-loga", "alg-logb", "alg-log") and not (is_followed(a) or is_followed(b)):

        def algebraic(x: Any) -> Any:
            value = plain(x) * (x - a) ** wvar[0] * (b - x) ** wvar[1]
            value = value * np.log(x - a) if weight in ("alg-loga", "alg-log") else value
            return value * np.log(b - x) if weight in ("alg-logb", "alg-log") else value

        return algebraic
    raise solver_error(
        UnsupportedError,
        f"{title}: weight={weight!r} "
        + ("over an infinite range" if infinite else "with limits that have a gradient" if weight != "cauchy" else "")
        + " is not differentiated: the integral of the derivative does not converge without the weight's own rule.",
        "finite limits without a gradient, or the weight as a factor of the integrand",
    )


@original.differentiated_with_callbacks
def nquad(func: Any, ranges: Any, args: Any = None, opts: Any = None, full_output: bool = False) -> Any:
    """The integral of `func(x0, ..., xn, *args)` over several variables, by nested `quad`.

    >>> import gradtape as gt
    >>> from gradtape.scipy.integrate import nquad
    >>> slope = gt.grad(lambda k: nquad(lambda x, y: k * k * x * y, [(0, 1), (0, 2)])[0])(3.0)
    >>> round(float(slope), 8)                       # k ** 2, and so 2 k
    6.0
    """
    depth = len(ranges)
    limits = [each if callable(each) else _always(each) for each in ranges]
    extra = () if args is None else as_tuple(args)
    if opts is None:
        options = [_always({})] * depth
    elif isinstance(opts, dict):
        options = [_always(opts)] * depth
    else:
        options = [each if callable(each) else _always(each) for each in opts]
    run = Run("scipy.integrate.nquad", ranges, extra, traces=not full_output)

    def compute() -> Any:
        if run.is_traced:
            return None
        return original.contents.nquad(
            lambda *x: _scalar(run.numbers(func(*x, *extra))),
            [lambda *x, each=each: tuple([run.numbers(end) for end in each(*x, *extra)]) for each in limits],
            None,
            [lambda *x, each=each: each(*x, *extra) for each in options],
            full_output,
        )

    found = run.solve(compute)
    if not (run.is_followed or run.is_traced):
        return found

    def integrate(level: int, *rest: Any) -> Any:
        low, high = limits[level](*rest, *extra)
        chosen = {"epsabs": 1.49e-8, "epsrel": 1.49e-8, "limit": 50, "points": None, **options[level](*rest, *extra)}
        if chosen.keys() - {"epsabs", "epsrel", "limit", "points"}:
            raise solver_error(
                UnsupportedError,
                f"{run.title}: opts= with {', '.join(chosen)} is not differentiated.",
                "epsabs, epsrel, limit and points only",
            )

        def inner(x: Any) -> Any:
            return integrate(level - 1, x, *rest) if level else _number(func(x, *rest, *extra))

        if not run.is_traced:
            return moving_integral(inner, stacked(low), stacked(high), run, **chosen)
        value, error = _traced(run.title, inner, stacked(low), stacked(high), chosen)
        return (value, error) if level == depth - 1 else value

    if run.is_traced:  # the error is that of the outermost integral
        return integrate(depth - 1)
    value = with_value(integrate(depth - 1), run.gathered(found, lambda each: np.asarray(each[0])))
    if run.levels:
        return value, run.gathered(found, lambda each: np.asarray(each[1]))
    return (value, *found[1:])


def _always(value: Any) -> Function:
    return lambda *_: value


@original.differentiated_with_callbacks
def dblquad(
    func: Any, a: Any, b: Any, gfun: Any, hfun: Any, args: Any = (), epsabs: float = 1.49e-8, epsrel: float = 1.49e-8
) -> Any:
    """The integral of `func(y, x, *args)` for x from a to b and y from gfun(x) to hfun(x)."""
    inner = _range(gfun, hfun)
    return nquad(func, [lambda x, *_: inner(x), (a, b)], args, {"epsabs": epsabs, "epsrel": epsrel})


@original.differentiated_with_callbacks
def tplquad(
    func: Any,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    qfun: Any,
    rfun: Any,
    args: Any = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> Any:
    """The integral of `func(z, y, x, *args)` for x from a to b, y from gfun(x) to hfun(x), z from qfun to rfun."""
    middle, inner = _range(gfun, hfun), _range(qfun, rfun)
    ranges = [lambda y, x, *_: inner(x, y), lambda x, *_: middle(x), (a, b)]
    return nquad(func, ranges, args, {"epsabs": epsabs, "epsrel": epsrel})


def _range(low: Any, high: Any) -> Function:
    """Both limits, each a function or a number."""
    return lambda *x: tuple([side(*x) if callable(side) else side for side in (low, high)])


@original.differentiated_with_callbacks
def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: int = 5) -> Any:
    """The integral of `func(x, *args)` by the Gauss-Legendre rule with n points, and None, as SciPy returns it.

    >>> import gradtape as gt
    >>> from gradtape.scipy.integrate import fixed_quad
    >>> round(float(gt.grad(lambda b: fixed_quad(lambda x: x ** 3, 0.0, b)[0])(2.0)), 8)
    8.0
    """
    low, high = stacked(a), stacked(b)
    nodes, weights = np.polynomial.legendre.leggauss(int(n))
    for end, name in ((low, "a"), (high, "b")):
        known = numbers_if_known(end)
        if known is not None and np.isinf(known).any():
            raise solver_error(
                OperandError, f"scipy.integrate.fixed_quad: {name} is infinite.", "finite limits; or quad"
            )
    x = (high - low) * (nodes + 1.0) / 2.0 + low
    value = stacked(func(x, *as_tuple(args)))
    if not isinstance(value, Tensor) and not isinstance(x, Tensor):
        return original.contents.fixed_quad(func, a, b, args, n)
    return (high - low) / 2.0 * np.sum(weights * value, axis=-1), None


@original.differentiated_with_callbacks
def quad_vec(
    f: Any,
    a: Any,
    b: Any,
    epsabs: float = 1e-200,
    epsrel: float = 1e-8,
    norm: str = "2",
    cache_size: float = 100e6,
    limit: int = 10000,
    workers: Any = 1,
    points: Any = None,
    quadrature: Any = None,
    full_output: bool = False,
    *,
    args: Any = (),
) -> Any:
    """The integral of a function that returns an array, and an estimate of its error: SciPy's values; see `quad`.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.integrate import quad_vec
    >>> powers = np.arange(3)
    >>> gt.jacobian(lambda b: quad_vec(lambda x: x ** powers, 0.0, b)[0])(2.0).round(6)
    array([1., 2., 4.])
    """
    arguments = as_tuple(args)
    title = "scipy.integrate.quad_vec"
    can_trace = norm == "2" and quadrature is None and not full_output and not is_followed(points)
    run = Run(title, a, b, arguments, points, traces=can_trace)
    low, high = stacked(a), stacked(b)

    def compute() -> Any:
        if run.is_traced:
            return None
        return original.contents.quad_vec(
            lambda x: run.numbers(f(x, *arguments)),
            run.numbers(low),
            run.numbers(high),
            epsabs,
            epsrel,
            norm,
            cache_size,
            limit,
            1 if run.is_followed else workers,
            None if points is None else run.numbers(points),
            quadrature,
            full_output,
        )

    found = run.solve(compute)
    if run.is_traced:
        options = {"epsabs": epsabs, "epsrel": epsrel, "limit": max(limit // 200, 1), "points": points}
        return _traced(title, lambda x: f(x, *arguments), low, high, {**options, "is_vector": True})
    if not run.is_followed:
        return found
    moving = moving_integral(
        lambda x: stacked(f(x, *arguments)), low, high, run, epsabs, epsrel, max(limit // 200, 1), off_tape(points)
    )
    value = with_value(moving, run.gathered(found, lambda each: np.asarray(each[0])))
    if run.levels:
        return value, run.gathered(found, lambda each: np.asarray(each[1]))
    return (value, *found[1:])
