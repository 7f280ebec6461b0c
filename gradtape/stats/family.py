"""What all distributions of one number share: arguments, location and scale, the support, and what follows from what.

A row gives functions of a standardised point inside the support. Outside they are never evaluated: there the result is
a constant, so that gradients are 0 and not NaN. Parameters that no distribution has give NaN, as in SciPy.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.errors import NumericsError, OperandError
from gradtape.extend import Lifted, Tensor, argument_error
from gradtape.random.continuous import uniform as draw_uniform
from gradtape.random.drawing import fixed, floating, generator, size_of
from gradtape.stats.expectation import mean_by_density, mean_by_quantiles
from gradtape.stats.scipy_values import quantile_like_scipy, scipy_value
from gradtape.stats.summaries import Summarised
from gradtape.stats.tails import any_of, log1mexp, log_side, power_of, vanishes

Function = Callable[..., Any]


def positive(*shapes: Any) -> Any:
    """Whether all shape parameters are above 0."""
    valid: Any = True
    for shape in shapes:
        valid = valid & (shape > 0)
    return valid


def _turned_round(function: Function, sign: int) -> Function:
    """A function of the other side of a distribution that is symmetric around 0."""
    if sign > 0:
        return lambda z, *shapes: function(-z, *shapes)
    return lambda q, *shapes: -function(q, *shapes)


def _nothing(mask: Any) -> float:
    """The logarithm of a probability that is too small for a number."""
    return -np.inf


def _power(k: int) -> Function:
    return lambda z, *shapes: z**k


class Distribution(Summarised):
    """A distribution of one number, with the names and the order of arguments of `scipy.stats`."""

    first = "x"
    location: tuple[str, ...] = ("loc", "scale")

    def __init__(self, name: str, shapes: Sequence[str], about: str, example: str) -> None:
        self.name = self.__name__ = name
        self.shapes = tuple(shapes)
        self.__doc__ = f"{about} Arguments: ({self.first}, {self._arguments()})."
        if example:
            call, _, result = example.partition(" -> ")
            self.__doc__ += f"\n\n    >>> import gradtape as gt\n    >>> gt.stats.{name}.{call}\n    {result}\n    "

    def _arguments(self) -> str:
        return ", ".join([*self.shapes, *(f"{name}={int(name == 'scale')}" for name in self.location)])

    def __repr__(self) -> str:
        return f"<distribution {self.name}>"

    def _read(self, method: str, args: Sequence[Any], named: dict[str, Any]) -> tuple[Any, ...]:
        """All parameters in order, the location and the scale last."""
        names = (*self.shapes, *self.location)
        given = {**dict(zip(names, args)), **named}
        twice = [name for name in names[: len(args)] if name in named]
        missing = [name for name in self.shapes if name not in given]
        unknown = [name for name in named if name not in names]
        problems = {
            f"{len(args)} parameters": len(args) > len(names),
            f"{', '.join(twice)} given twice": bool(twice),
            f"{', '.join(missing)} missing": bool(missing),
            f"no parameter {', '.join(unknown)}": bool(unknown),
        }
        for problem, is_there in problems.items():
            if is_there:
                accepted = f"{self.name}.{method}({self.first}, {self._arguments()})"
                raise argument_error(OperandError, f"stats.{self.name}.{method}: {problem}.", accepted)
        return tuple(given.get(name, int(name == "scale")) for name in names)

    def read(self, method: str, args: Sequence[Any], named: dict[str, Any]) -> tuple[Any, ...]:
        """All parameters in order, as they were given or are by default, the location and the scale last."""
        return self._read(method, args, named)


class Continuous(Distribution):
    """A distribution with a density. `x`, `loc`, `scale` and the shape parameters all have derivatives.

    A row gives the logarithm of the density and some of cdf, sf, logcdf, logsf, ppf and isf at a standardised point;
    the others follow: from the first logarithm among them, or from cdf and sf, those of a `symmetric` distribution by
    turning it round. A quantile without a formula is SciPy's, and its derivatives follow from cdf, sf and the density.
    Draws are quantiles of uniform ones, unless the row has a better way.

    `is_moving` says that the support depends on the shapes, and `kinks` where the density is not smooth.
    """

    def __init__(
        self,
        name: str,
        *shapes: str,
        about: str,
        logpdf: Function,
        example: str = "",
        draw: Function | None = None,
        support: Function = lambda *shapes: (-np.inf, np.inf),
        ends: bool = True,
        typical: Function = lambda *shapes: 1.0,
        valid: Function = positive,
        likely: Sequence[float] | None = None,
        symmetric: bool = False,
        is_moving: bool = False,
        kinks: Function = lambda *shapes: (),
        **functions: Function,
    ) -> None:
        super().__init__(name, shapes, about, example)
        self._is_moving, self._kinks = is_moving, kinks
        self._logpdf, self._draw = logpdf, draw or self._draw_quantiles
        self._support, self._ends, self._typical, self._valid = support, ends, typical, valid
        self._likely = (1.0, 2.0, 3.0)[: len(shapes)] if likely is None else likely
        self._functions = functions
        if symmetric:
            for method, turned in (("cdf", "sf"), ("logcdf", "logsf"), ("ppf", "isf")):
                if method in functions:
                    sign = 1 if method != "ppf" else -1
                    functions[turned] = _turned_round(functions[method], sign)
        self._derive_sides()
        for method in ("ppf", "isf"):
            if method not in functions and "cdf" in functions:
                functions[method] = quantile_like_scipy(
                    name, method, functions["cdf"], functions["sf"], logpdf, typical
                )

    def _derive_sides(self) -> None:
        """What follows from one logarithm of a probability, or from the probabilities of both sides."""
        functions, typical = self._functions, self._typical
        logs = [name for name in functions if name in ("logcdf", "logsf")]
        if not logs and "cdf" in functions and "sf" in functions:
            cdf, sf = functions["cdf"], functions["sf"]
            functions["logcdf"] = lambda z, *shapes: log_side(cdf(z, *shapes), sf(z, *shapes), _nothing)
            functions["logsf"] = lambda z, *shapes: log_side(sf(z, *shapes), cdf(z, *shapes), _nothing)
        elif logs:
            log, side, other = functions[logs[0]], logs[0][3:], "cdf" if logs[0] == "logsf" else "sf"
            functions.setdefault(side, power_of(log, np.exp, 0.0, typical))
            functions.setdefault(other, power_of(log, lambda value: -np.expm1(value), 1.0, typical))
            functions.setdefault(f"log{other}", power_of(log, log1mexp, 0.0, typical))

    def standard(self, method: str) -> Function:
        """A function of the row: `method` at a standardised point inside the support, and of the shapes."""
        return self._logpdf if method == "logpdf" else self._functions[method]

    def formula(self, method: str) -> Function:
        """The function of the row, or the reason why there is none."""
        if method not in self._functions:
            raise argument_error(
                OperandError,
                f"stats.{self.name}.{method}: its derivatives are not known here.",
                f"stats.{self.name} has " + ", ".join(["logpdf", "pdf", *sorted(self._functions)]),
            )
        return self._functions[method]

    def expected(self, function: Function, shapes: Sequence[Any]) -> Any:
        """The mean of a function of a standardised point and the shapes."""
        if self._is_moving:
            return mean_by_quantiles(function, self.standard("ppf"), self.standard("isf"), shapes)
        low, high = (fixed(end) for end in self._support(*shapes))
        ends = [low, *(fixed(kink) for kink in self._kinks(*shapes)), high]
        middle, width = (scipy_value(self.name, method, *shapes) for method in ("median", "std"))
        middle = np.where(np.isfinite(middle), middle, 0)
        width = np.where(np.isfinite(width) & (width > 0), width, np.maximum(np.abs(middle), 1))
        return mean_by_density(function, self._logpdf, ends, middle, width, fixed(self._typical(*shapes)), shapes)

    def _integrated(self, method: str, shapes: Sequence[Any]) -> Any:
        """A summary whose value is SciPy's, and whose derivatives are those of an integral."""
        if method.startswith("moments up to"):
            order = int(method.rpartition(" ")[2])
            return [self._like_scipy(_power(k), shapes, "moment", first=(k,)) for k in range(order + 1)]
        if method == "mean":
            return self._like_scipy(_power(1), shapes, "mean")
        if method == "entropy":
            logpdf = self._logpdf
            return self._like_scipy(lambda z, *shapes: -logpdf(z, *shapes), shapes, "entropy")
        mean = self._summary("mean", shapes, {}, lambda mean, loc, scale: mean)
        variance = self._like_scipy(lambda z, *shapes: (z - mean) ** 2, shapes, "var")
        if method == "var":
            return variance
        root = np.sqrt(variance)
        if method == "skew":
            return self._like_scipy(lambda z, *shapes: ((z - mean) / root) ** 3, shapes, "stats", moments="s")
        return self._like_scipy(lambda z, *shapes: ((z - mean) / root) ** 4, shapes, "stats", moments="k")

    def _like_scipy(self, function: Function, shapes: Sequence[Any], method: str, **details: Any) -> Any:
        """SciPy's value of the mean of a function; where it is finite, with the derivatives of the integral."""
        value = scipy_value(self.name, method, *shapes, **details)
        if not any(isinstance(shape, Tensor) for shape in shapes):
            return value
        exists = np.isfinite(value)
        if not any_of(exists):
            return value
        safe = [np.where(exists, shape, like) for shape, like in zip(shapes, self._likely)]
        integral = self.expected(function, safe)
        excess = fixed(integral) - value - (3.0 if details.get("moments") == "k" else 0.0)
        is_wrong = exists & ~(np.abs(excess) <= 1e-5 * np.abs(value) + 1e-7)
        if not isinstance(is_wrong, Lifted) and np.any(is_wrong):
            raise argument_error(
                NumericsError,
                f"stats.{self.name}.{method}: its derivative is an integral that was not found to enough digits.",
                f"{self.name}.{method} of parameters further from where it ceases to exist",
            )
        return np.where(exists, value + np.where(is_wrong, np.nan, integral - fixed(integral)), value)

    def _draw_quantiles(self, rng: Any, one: Any, size: Any, *shapes: Any) -> Any:
        return self.formula("ppf")(draw_uniform(rng, 0 * one, one, size), *shapes)

    def _standardised(self, method: str, x: Any, args: Sequence[Any], named: dict[str, Any]) -> tuple[Any, ...]:
        """`x`, shapes, location and scale, what makes no distribution replaced, and whether nothing had to be."""
        x, *shapes, loc, scale = floating(x, *self._read(method, args, named))
        valid = (scale > 0) & (scale < np.inf) & np.isfinite(loc) & self._valid(*shapes)
        is_shape = self._valid(*shapes) & True
        safe = [np.where(is_shape, shape, like) for shape, like in zip(shapes, self._likely)]
        loc, scale = np.where(np.isfinite(loc), loc, 0), np.where((scale > 0) & (scale < np.inf), scale, 1)
        return x, safe, loc, scale, valid & (x == x)

    def _placed(self, x: Any, loc: Any, scale: Any, shapes: Sequence[Any], ends: bool) -> tuple[Any, Any, Any]:
        """The standardised point, and whether it is inside of the support, and below it; beyond it, a typical one."""
        is_finite = np.isfinite(x)
        z = (np.where(is_finite, x, loc) - loc) / scale
        low, high = self._support(*shapes)
        inside = ((z >= low) & (z <= high) if ends else (z > low) & (z < high)) & np.isfinite(z) & is_finite
        below = (x == -np.inf) | (is_finite & (z <= low))
        return np.where(inside, z, self._typical(*shapes)), inside, below

    def logpdf(self, x: Any, *args: Any, **named: Any) -> Any:
        """The logarithm of the density at `x`; -inf outside of the support, with a gradient of 0."""
        with np.errstate(all="ignore"):
            x, shapes, loc, scale, valid = self._standardised("logpdf", x, args, named)
            z, inside, _ = self._placed(x, loc, scale, shapes, self._ends)
            z, at_end = self._off_the_ends(z, shapes)
            density = np.where(at_end == 0, self._logpdf(z, *shapes) - np.log(scale), at_end)
            return np.where(valid, np.where(inside, density, -np.inf), np.nan).astype(x.dtype)

    def _off_the_ends(self, z: Any, shapes: Sequence[Any]) -> tuple[Any, Any]:
        """`z` moved away from ends of the support where the density is 0 or infinite, and its logarithm there; else 0.

        There is no slope to speak of at such an end: the gradient is 0, as outside.
        """
        low, high = self._support(*shapes)
        ends = (z == low) | (z == high)
        if not any_of(ends):
            return z, np.zeros((), z.dtype)
        value = self._logpdf(z, *shapes)
        height = np.where(np.isposinf(value), np.inf, np.where(np.isneginf(value), -np.inf, 0)).astype(z.dtype)
        return np.where(height == 0, z, self._typical(*shapes)), height

    def pdf(self, x: Any, *args: Any, **named: Any) -> Any:
        """The density at `x`; 0 outside of the support."""
        with np.errstate(all="ignore"):
            value = self.logpdf(x, *args, **named)
            gone = vanishes(value)
            if any_of(gone):  # 0, while the slope of its logarithm may be infinite: a typical point stands in
                x, shapes, loc, scale, _ = self._standardised("pdf", x, args, named)
                value = self.logpdf(np.where(gone, loc + scale * self._typical(*shapes), x), *args, **named)
            return np.where(gone, 0, np.exp(value)).astype(value.dtype)

    def _side(self, method: str, x: Any, args: Any, named: Any, below: float, above: float) -> Any:
        with np.errstate(all="ignore"):
            x, shapes, loc, scale, valid = self._standardised(method, x, args, named)
            z, inside, is_below = self._placed(x, loc, scale, shapes, ends=False)
            value = self.formula(method)(z, *shapes)
            return np.where(valid, np.where(inside, value, np.where(is_below, below, above)), np.nan).astype(x.dtype)

    def cdf(self, x: Any, *args: Any, **named: Any) -> Any:
        """The probability of a value up to `x`."""
        return self._side("cdf", x, args, named, 0.0, 1.0)

    def sf(self, x: Any, *args: Any, **named: Any) -> Any:
        """The probability of a value above `x`, exact where it is small."""
        return self._side("sf", x, args, named, 1.0, 0.0)

    def logcdf(self, x: Any, *args: Any, **named: Any) -> Any:
        """The logarithm of cdf, exact however far out `x` is."""
        return self._side("logcdf", x, args, named, -np.inf, 0.0)

    def logsf(self, x: Any, *args: Any, **named: Any) -> Any:
        """The logarithm of sf, exact however far out `x` is."""
        return self._side("logsf", x, args, named, 0.0, -np.inf)

    def _quantile(self, method: str, q: Any, args: Any, named: Any) -> Any:
        with np.errstate(all="ignore"):
            q, shapes, loc, scale, valid = self._standardised(method, q, args, named)
            low, high = self._support(*shapes)
            first, last = (low, high) if method == "ppf" else (high, low)
            inside = (q > 0) & (q < 1)
            value = self.formula(method)(np.where(inside, q, 0.5), *shapes)
            stuck = ~(np.isfinite(value) & (value != low) & (value != high))  # at an end, or too large for a number
            if any_of(stuck):
                likely = [np.where(stuck, like, shape) for shape, like in zip(shapes, self._likely)]
                end = np.where(stuck, fixed(value), 0)
                value = np.where(stuck, end, self._functions[method](np.where(inside & ~stuck, q, 0.5), *likely))
            z = np.where(inside, value, np.where(q <= 0, first, last))
            return np.where(valid & (q >= 0) & (q <= 1), loc + scale * z, np.nan).astype(q.dtype)

    def ppf(self, q: Any, *args: Any, **named: Any) -> Any:
        """The value that is not exceeded with probability `q`: the inverse of cdf."""
        return self._quantile("ppf", q, args, named)

    def isf(self, q: Any, *args: Any, **named: Any) -> Any:
        """The value that is exceeded with probability `q`: the inverse of sf."""
        return self._quantile("isf", q, args, named)

    def median(self, *args: Any, **named: Any) -> Any:
        """The value that is exceeded with probability 1 / 2."""
        return self.ppf(0.5, *args, **named)

    def interval(self, confidence: Any, *args: Any, **named: Any) -> tuple[Any, Any]:
        """The ends of the interval around the median that has the probability `confidence`."""
        half = 0.5 * (1 - confidence)
        return self.ppf(half, *args, **named), self.isf(half, *args, **named)

    def support(self, *args: Any, **named: Any) -> tuple[Any, Any]:
        """The ends of the support, which may be infinite."""
        with np.errstate(all="ignore"):
            _, shapes, loc, scale, valid = self._standardised("support", 0.0, args, named)
            ends = (
                np.where(np.isfinite(end), loc + scale * np.where(np.isfinite(end), end, 0), end)
                for end in self._support(*shapes)
            )
            low, high = (np.where(valid, end, np.nan) for end in ends)
            return low, high

    def rvs(self, *args: Any, size: Any = None, random_state: Any = None, **named: Any) -> Any:
        """Draws, from the generator `random_state`: those of `gt.random`, with their derivatives."""
        rng = generator(random_state, f"stats.{self.name}.rvs", "random_state")
        *shapes, loc, scale = floating(*self._read("rvs", args, named))
        shape = size_of(f"stats.{self.name}.rvs", size, *(p.shape for p in (*shapes, loc, scale)))
        with np.errstate(all="ignore"):
            return loc + scale * self._draw(rng, np.ones((), loc.dtype), shape, *shapes)


class Discrete(Distribution):
    """A distribution over the integers. Its parameters have derivatives; the integer has none.

    A row gives the mass, its logarithm, cdf, sf, logcdf and logsf at an integer inside the support. The mass is no
    exponential of its logarithm, which has no slope where a parameter is at an end: p (1 - p) has one at 0 and at 1.
    """

    first = "k"
    location = ("loc",)

    def __init__(
        self,
        name: str,
        *shapes: str,
        about: str,
        support: Function,
        valid: Function,
        typical: Sequence[float],
        example: str = "",
        draw: Function | None = None,
        **functions: Function,
    ) -> None:
        super().__init__(name, shapes, about, example)
        self._draw, self._support, self._valid, self._likely = draw, support, valid, typical
        self._functions = functions

    def _standardised(self, method: str, k: Any, args: Any, named: Any) -> tuple[Any, ...]:
        k, *shapes, loc = floating(k, *self._read(method, args, named))
        is_shape = self._valid(*shapes)
        safe = [np.where(is_shape, shape, like) for shape, like in zip(shapes, self._likely, strict=True)]
        return k - loc, safe, is_shape & (loc == loc) & (k == k), k.dtype

    def _inside(self, method: str, z: Any, shapes: Sequence[Any], inside: Any) -> Any:
        """A function of the row; where the integer is not inside of the support, of parameters that may be anything."""
        shapes = [np.where(inside, shape, like) for shape, like in zip(shapes, self._likely, strict=True)]
        low = self._support(*shapes)[0]
        return self._functions[method](np.where(inside, z, np.where(np.isfinite(low), low, 0)), *shapes)

    def _mass(self, method: str, k: Any, args: Any, named: Any, outside: float) -> Any:
        with np.errstate(all="ignore"):
            z, shapes, valid, dtype = self._standardised(method, k, args, named)
            low, high = self._support(*shapes)
            inside = (z >= low) & (z <= high) & (np.floor(z) == z) & np.isfinite(z)
            value = self._inside(method, z, shapes, inside)
            return np.where(valid, np.where(inside, value, outside), np.nan).astype(dtype)

    def logpmf(self, k: Any, *args: Any, **named: Any) -> Any:
        """The logarithm of the probability of `k`; -inf where there is none, with a gradient of 0."""
        return self._mass("logpmf", k, args, named, -np.inf)

    def pmf(self, k: Any, *args: Any, **named: Any) -> Any:
        """The probability of `k`."""
        return self._mass("pmf", k, args, named, 0.0)

    def _side(self, method: str, k: Any, args: Any, named: Any, below: float, above: float) -> Any:
        with np.errstate(all="ignore"):
            z, shapes, valid, dtype = self._standardised(method, k, args, named)
            low, high = self._support(*shapes)
            z = np.floor(z)
            inside = (z >= low) & (z < high) & np.isfinite(z)
            value = self._inside(method, z, shapes, inside)
            return np.where(valid, np.where(inside, value, np.where(z < low, below, above)), np.nan).astype(dtype)

    def cdf(self, k: Any, *args: Any, **named: Any) -> Any:
        """The probability of a value up to `k`."""
        return self._side("cdf", k, args, named, 0.0, 1.0)

    def sf(self, k: Any, *args: Any, **named: Any) -> Any:
        """The probability of a value above `k`, exact where it is small."""
        return self._side("sf", k, args, named, 1.0, 0.0)

    def logcdf(self, k: Any, *args: Any, **named: Any) -> Any:
        """The logarithm of cdf, exact however far out `k` is."""
        return self._side("logcdf", k, args, named, -np.inf, 0.0)

    def logsf(self, k: Any, *args: Any, **named: Any) -> Any:
        """The logarithm of sf, exact however far out `k` is."""
        return self._side("logsf", k, args, named, 0.0, -np.inf)

    def rvs(self, *args: Any, size: Any = None, random_state: Any = None, **named: Any) -> Any:
        """Draws, from the generator `random_state`: those of `gt.random`, which have no derivative."""
        rng = generator(random_state, f"stats.{self.name}.rvs", "random_state")
        *shapes, loc = self._read("rvs", args, named)
        if self._draw is None:
            draws = importlib.import_module("scipy.stats")
            values = [fixed(shape) if isinstance(shape, Tensor) else shape for shape in shapes]
            return getattr(draws, self.name).rvs(*values, size=size, random_state=rng) + loc
        return self._draw(rng, size, *shapes) + loc
