"""What all distributions of one number share: arguments, location and scale, the support, and what follows from what.

A row gives functions of a standardised point inside the support. Outside they are never evaluated: there the result is
a constant, so that gradients are 0 and not NaN. Parameters that no distribution has give NaN, as in SciPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.errors import OperandError
from gradtape.extend import argument_error
from gradtape.random.drawing import fixed, floating, generator, size_of
from gradtape.stats.summaries import Summarised
from gradtape.stats.tails import any_of, log1mexp, power_of, vanishes

Function = Callable[..., Any]


def positive(*shapes: Any) -> Any:
    """Whether all shape parameters are above 0."""
    valid: Any = True
    for shape in shapes:
        valid = valid & (shape > 0)
    return valid


class Distribution(Summarised):
    """A distribution of one number, with the names and the order of arguments of `scipy.stats`."""

    first = "x"
    location: tuple[str, ...] = ("loc", "scale")

    def __init__(self, name: str, shapes: Sequence[str], about: str, example: str) -> None:
        self.name = self.__name__ = name
        self.shapes = tuple(shapes)
        call, _, result = example.partition(" -> ")
        self.__doc__ = (
            f"{about} Arguments: ({self.first}, {self._arguments()}).\n\n"
            f"    >>> import gradtape as gt\n    >>> gt.stats.{name}.{call}\n    {result}\n    "
        )

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


class Continuous(Distribution):
    """A distribution with a density. `x`, `loc`, `scale` and the shape parameters all have derivatives.

    A row gives the logarithm of the density and some of cdf, sf, logcdf, logsf, ppf and isf at a standardised point;
    the others follow from the first logarithm among them, those of a `symmetric` distribution by turning it round.
    """

    def __init__(
        self,
        name: str,
        *shapes: str,
        about: str,
        example: str,
        logpdf: Function,
        draw: Function,
        support: Function = lambda *shapes: (-np.inf, np.inf),
        ends: bool = True,
        typical: Function = lambda *shapes: 1.0,
        valid: Function = positive,
        symmetric: bool = False,
        **functions: Function,
    ) -> None:
        super().__init__(name, shapes, about, example)
        self._logpdf, self._draw = logpdf, draw
        self._support, self._ends, self._typical, self._valid = support, ends, typical, valid
        self._functions = functions
        if symmetric:
            given = dict(functions)
            functions["sf"] = lambda z, *shapes: given["cdf"](-z, *shapes)
            functions["logsf"] = lambda z, *shapes: given["logcdf"](-z, *shapes)
            functions["isf"] = lambda q, *shapes: -given["ppf"](q, *shapes)
        given_log = next(name for name in functions if name in ("logcdf", "logsf"))
        log, side, other = functions[given_log], given_log[3:], "cdf" if given_log == "logsf" else "sf"
        functions.setdefault(side, power_of(log, np.exp, 0.0, typical))
        functions.setdefault(other, power_of(log, lambda value: -np.expm1(value), 1.0, typical))
        functions.setdefault(f"log{other}", power_of(log, log1mexp, 0.0, typical))

    def _standardised(self, method: str, x: Any, args: Sequence[Any], named: dict[str, Any]) -> tuple[Any, ...]:
        """`x`, shapes, location and scale, what makes no distribution replaced, and whether nothing had to be."""
        x, *shapes, loc, scale = floating(x, *self._read(method, args, named))
        valid = (scale > 0) & (scale < np.inf) & np.isfinite(loc) & self._valid(*shapes)
        is_shape = self._valid(*shapes) & True
        safe = [np.where(is_shape, shape, like) for shape, like in zip(shapes, _likely(len(shapes)))]
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
            value = self._functions[method](z, *shapes)
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
            value = self._functions[method](np.where(inside, q, 0.5), *shapes)
            stuck = ~(np.isfinite(value) & (value != low) & (value != high))  # at an end, or too large for a number
            if any_of(stuck):
                likely = [np.where(stuck, like, shape) for shape, like in zip(shapes, _likely(len(shapes)))]
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

    def rvs(self, *args: Any, size: Any = None, random_state: Any = None, **named: Any) -> Any:
        """Draws, from the generator `random_state`: those of `gt.random`, with their derivatives."""
        rng = generator(random_state, f"stats.{self.name}.rvs", "random_state")
        *shapes, loc, scale = floating(*self._read("rvs", args, named))
        shape = size_of(f"stats.{self.name}.rvs", size, *(p.shape for p in (*shapes, loc, scale)))
        with np.errstate(all="ignore"):
            return loc + scale * self._draw(rng, np.ones((), loc.dtype), shape, *shapes)


def _likely(count: int) -> Sequence[float]:
    """Shape parameters that any distribution has, to stand in for some that are none."""
    return (1.0, 2.0, 3.0)[:count]


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
        example: str,
        draw: Function,
        support: Function,
        valid: Function,
        typical: Sequence[float],
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
        return self._functions[method](np.where(inside, z, self._support(*shapes)[0]), *shapes)

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
        return self._draw(rng, size, *shapes) + loc
