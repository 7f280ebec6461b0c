"""Mean, variance and entropy of the distributions: functions of the shape parameters, at location 0 and scale 1.

Where a distribution has no mean or no variance the formula gives NaN, or infinity where the integral grows beyond all
bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import e, log, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from gradtape.errors import OperandError
from gradtape.extend import argument_error
from gradtape.ops.special.entropy import entr
from gradtape.ops.special.gamma import betaln, gamma, gammaln, psi
from gradtape.random.drawing import floating

EULER = 0.5772156649015329
Formula = Callable[..., Any]


class Summary(NamedTuple):
    """The formulas of one distribution."""

    mean: Formula
    var: Formula
    entropy: Formula | None = None


def _constant(value: float) -> Formula:
    return lambda *shapes: value


def _gamma_entropy(a: Any) -> Any:
    return a + gammaln(a) + (1 - a) * psi(a)


def _beta_entropy(a: Any, b: Any) -> Any:
    return betaln(a, b) - (a - 1) * psi(a) - (b - 1) * psi(b) + (a + b - 2) * psi(a + b)


def _student_entropy(df: Any) -> Any:
    half = (df + 1) / 2
    return half * (psi(half) - psi(df / 2)) + 0.5 * np.log(df) + betaln(df / 2, 0.5 + 0 * df)


def _f_entropy(dfn: Any, dfd: Any) -> Any:
    n, d = dfn / 2, dfd / 2
    return np.log(dfd) - np.log(dfn) + betaln(n, d) + (1 - n) * psi(n) - (1 + d) * psi(d) + (n + d) * psi(n + d)


def _f_variance(dfn: Any, dfd: Any) -> Any:
    return _from(dfd, 4, lambda d: 2 * d**2 * (dfn + d - 2) / (dfn * (d - 2) ** 2 * (d - 4)), _from(dfd, 2, np.inf))


def _from(shape: Any, least: float, formula: Any, otherwise: Any = np.nan) -> Any:
    """`formula` of a shape parameter that is above `least`, else what there is instead."""
    above = shape > least
    value = formula(np.where(above, shape, least + 1)) if callable(formula) else formula
    return np.where(above, value, otherwise)


def _weibull_variance(c: Any) -> Any:
    return gamma(1 + 2 / c) - gamma(1 + 1 / c) ** 2


def _two_way(p: Any) -> Any:
    return entr(p) + entr(1 - p)


SUMMARIES = {
    "norm": Summary(_constant(0.0), _constant(1.0), _constant(0.5 * log(2 * pi * e))),
    "lognorm": Summary(
        lambda s: np.exp(s**2 / 2),
        lambda s: np.expm1(s**2) * np.exp(s**2),
        lambda s: 0.5 * log(2 * pi * e) + np.log(s),
    ),
    "halfnorm": Summary(_constant(sqrt(2 / pi)), _constant(1 - 2 / pi), _constant(0.5 * log(pi * e / 2))),
    "uniform": Summary(_constant(0.5), _constant(1 / 12), _constant(0.0)),
    "expon": Summary(_constant(1.0), _constant(1.0), _constant(1.0)),
    "laplace": Summary(_constant(0.0), _constant(2.0), _constant(1 + log(2))),
    "logistic": Summary(_constant(0.0), _constant(pi**2 / 3), _constant(2.0)),
    "cauchy": Summary(_constant(np.nan), _constant(np.nan), _constant(log(4 * pi))),
    "gumbel_r": Summary(_constant(EULER), _constant(pi**2 / 6), _constant(1 + EULER)),
    "rayleigh": Summary(_constant(sqrt(pi / 2)), _constant(2 - pi / 2), _constant(1 - 0.5 * log(2) + EULER / 2)),
    "gamma": Summary(lambda a: a, lambda a: a, _gamma_entropy),
    "chi2": Summary(lambda df: df, lambda df: 2 * df, lambda df: _gamma_entropy(df / 2) + log(2)),
    "invgamma": Summary(
        lambda a: _from(a, 1, lambda a: 1 / (a - 1), np.inf),
        lambda a: _from(a, 2, lambda a: 1 / ((a - 1) ** 2 * (a - 2)), np.inf),
        lambda a: a + gammaln(a) - (1 + a) * psi(a),
    ),
    "beta": Summary(
        lambda a, b: a / (a + b),
        lambda a, b: a * b / ((a + b) ** 2 * (a + b + 1)),
        _beta_entropy,
    ),
    "t": Summary(
        lambda df: _from(df, 1, 0.0),
        lambda df: _from(df, 2, lambda df: df / (df - 2), _from(df, 1, np.inf)),
        _student_entropy,
    ),
    "f": Summary(lambda dfn, dfd: _from(dfd, 2, lambda d: d / (d - 2), np.inf), _f_variance, _f_entropy),
    "pareto": Summary(
        lambda b: _from(b, 1, lambda b: b / (b - 1), np.inf),
        lambda b: _from(b, 2, lambda b: b / ((b - 1) ** 2 * (b - 2)), np.inf),
        lambda b: 1 + 1 / b - np.log(b),
    ),
    "weibull_min": Summary(
        lambda c: gamma(1 + 1 / c), _weibull_variance, lambda c: EULER * (1 - 1 / c) - np.log(c) + 1
    ),
    "bernoulli": Summary(lambda p: p, lambda p: p * (1 - p), _two_way),
    "binom": Summary(lambda n, p: n * p, lambda n, p: n * p * (1 - p)),
    "poisson": Summary(lambda mu: mu, lambda mu: mu),
    "nbinom": Summary(lambda n, p: n * (1 - p) / p, lambda n, p: n * (1 - p) / p**2),
    "geom": Summary(lambda p: 1 / p, lambda p: (1 - p) / p**2, lambda p: _two_way(p) / p),
}
"""By the names of the distributions."""


class Summarised:
    """Mean, variance, standard deviation and entropy of a distribution, with the arguments of its density."""

    name: str
    location: tuple[str, ...]
    _valid: Formula
    _read: Callable[[str, Sequence[Any], dict[str, Any]], tuple[Any, ...]]

    def _summary(self, method: str, args: Sequence[Any], named: dict[str, Any], placed: Formula) -> Any:
        """What a formula says of the shapes, moved to the location and the scale by `placed`."""
        summary = SUMMARIES.get(self.name)
        formula = None if summary is None else getattr(summary, method)
        if formula is None:
            raise argument_error(
                OperandError,
                f"stats.{self.name}.{method}: there is no formula for it here.",
                "the mean over many draws: rvs(..., size=100_000, random_state=rng)",
            )
        given = floating(*self._read(method, args, named))
        shapes, (loc, *scales) = given[: -len(self.location)], given[-len(self.location) :]
        scale = scales[0] if scales else np.ones((), loc.dtype)
        valid = (scale > 0) & (scale < np.inf) & np.isfinite(loc) & self._valid(*shapes)
        with np.errstate(all="ignore"):
            value = placed(formula(*shapes), np.where(valid, loc, 0), np.where(valid, scale, 1))
            return np.where(valid, value, np.nan).astype(loc.dtype)

    def mean(self, *args: Any, **named: Any) -> Any:
        """The mean; NaN or infinity where there is none."""
        return self._summary("mean", args, named, lambda mean, loc, scale: loc + scale * mean)

    def var(self, *args: Any, **named: Any) -> Any:
        """The variance; NaN or infinity where there is none."""
        return self._summary("var", args, named, lambda var, loc, scale: scale**2 * var + 0 * loc)

    def std(self, *args: Any, **named: Any) -> Any:
        """The standard deviation: the root of the variance."""
        with np.errstate(all="ignore"):
            return np.sqrt(self.var(*args, **named))

    def entropy(self, *args: Any, **named: Any) -> Any:
        """The mean of minus the logarithm of the density (or of the probability)."""
        return self._summary("entropy", args, named, lambda entropy, loc, scale: entropy + np.log(scale) + 0 * loc)
