"""Mean, variance and entropy of the distributions: functions of the shape parameters, at location 0 and scale 1.

Where a distribution has no mean or no variance the formula gives NaN, or infinity where the integral grows beyond all
bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb, e, log, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from gradtape.errors import OperandError
from gradtape.extend import Lifted, argument_error, concrete, plain
from gradtape.ops.special.entropy import entr
from gradtape.ops.special.gamma import betaln, gamma, gammaln, psi, zeta
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


def harmonic_sum(a: Any, n: Any) -> Any:
    """The sum of 1 / k^a over k from 1 to n."""
    numbers = concrete(n) if isinstance(n, Lifted) else plain(n)
    k = np.arange(1.0, int(np.max(numbers, initial=1)) + 1).reshape(-1, *(1,) * max(np.ndim(a), np.ndim(n)))
    return np.where(k <= n, k**-a, 0).sum(0)


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
        lambda df: _from(df, 1, lambda df: 0 * df),
        lambda df: _from(df, 2, lambda df: df / (df - 2), _from(df, 1, np.inf)),
        _student_entropy,
    ),
    "f": Summary(lambda dfn, dfd: _from(dfd, 2, lambda d: d / (d - 2) + 0 * dfn, np.inf), _f_variance, _f_entropy),
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
    "betabinom": Summary(
        lambda n, a, b: n * a / (a + b),
        lambda n, a, b: n * a * b * (a + b + n) / ((a + b) ** 2 * (a + b + 1)),
    ),
    "betanbinom": Summary(
        lambda n, a, b: _from(a, 1, lambda a: n * b / (a - 1), np.inf),
        lambda n, a, b: _from(a, 2, lambda a: n * b * (n + a - 1) * (b + a - 1) / ((a - 2) * (a - 1) ** 2), np.inf),
    ),
    "planck": Summary(
        lambda rate: 1 / np.expm1(rate),
        lambda rate: np.exp(-rate) / np.expm1(-rate) ** 2,
        lambda rate: rate / np.expm1(rate) - np.log(-np.expm1(-rate)),
    ),
    "boltzmann": Summary(
        lambda rate, N: 1 / np.expm1(rate) - N / np.expm1(rate * N),
        lambda rate, N: np.exp(rate) / np.expm1(rate) ** 2 - N**2 * np.exp(rate * N) / np.expm1(rate * N) ** 2,
    ),
    "dlaplace": Summary(
        lambda a: 0 * a,
        lambda a: 2 * np.exp(a) / np.expm1(a) ** 2,
        lambda a: a / np.sinh(a) - np.log(np.tanh(a / 2)),
    ),
    "logser": Summary(
        lambda p: -p / ((1 - p) * np.log1p(-p)),
        lambda p: -p * (p + np.log1p(-p)) / ((1 - p) * np.log1p(-p)) ** 2,
    ),
    "yulesimon": Summary(
        lambda alpha: _from(alpha, 1, lambda alpha: alpha / (alpha - 1), np.inf),
        lambda alpha: _from(alpha, 2, lambda alpha: alpha**2 / ((alpha - 1) ** 2 * (alpha - 2)), np.inf),
    ),
    "zipf": Summary(
        lambda a: _from(a, 2, lambda a: zeta(a - 1, 1.0) / zeta(a, 1.0), np.inf),
        lambda a: _from(
            a, 3, lambda a: zeta(a - 2, 1.0) / zeta(a, 1.0) - (zeta(a - 1, 1.0) / zeta(a, 1.0)) ** 2, np.inf
        ),
    ),
    "zipfian": Summary(
        lambda a, n: harmonic_sum(a - 1, n) / harmonic_sum(a, n),
        lambda a, n: harmonic_sum(a - 2, n) / harmonic_sum(a, n) - (harmonic_sum(a - 1, n) / harmonic_sum(a, n)) ** 2,
    ),
    "skellam": Summary(lambda mu1, mu2: mu1 - mu2, lambda mu1, mu2: mu1 + mu2),
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
        given = floating(*self._read(method, args, named))
        shapes, (loc, *scales) = given[: -len(self.location)], given[-len(self.location) :]
        scale = scales[0] if scales else np.ones((), loc.dtype)
        valid = (scale > 0) & (scale < np.inf) & np.isfinite(loc) & self._valid(*shapes)
        summary = SUMMARIES.get(self.name)
        formula = None if summary is None else getattr(summary, method, None)
        with np.errstate(all="ignore"):
            value = self._integrated(method, shapes) if formula is None else formula(*shapes)
            value = placed(value, np.where(valid, loc, 0), np.where(valid, scale, 1))
            return np.where(valid, value, np.nan).astype(loc.dtype)

    def _integrated(self, method: str, shapes: Sequence[Any]) -> Any:
        """A summary for which there is no formula, at location 0 and scale 1."""
        raise argument_error(
            OperandError,
            f"stats.{self.name}.{method}: there is no formula for it here.",
            "the mean over many draws: rvs(..., size=100_000, random_state=rng)",
        )

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

    def stats(self, *args: Any, moments: str = "mv", **named: Any) -> Any:
        """Of mean ("m"), variance ("v"), skewness ("s") and excess kurtosis ("k") those that `moments` names."""
        found = []
        for letter in "mvsk":
            if letter not in moments:
                continue
            if letter in "mv":
                found.append(self.mean(*args, **named) if letter == "m" else self.var(*args, **named))
            else:
                method = "skew" if letter == "s" else "kurtosis"
                found.append(self._summary(method, args, named, lambda value, loc, scale: value + 0 * loc * scale))
        return found[0] if len(found) == 1 else tuple(found)

    def moment(self, order: int, *args: Any, **named: Any) -> Any:
        """The mean of the `order`-th power."""
        if not isinstance(order, int | np.integer) or order < 0:
            raise argument_error(
                OperandError, f"stats.{self.name}.moment: order={order!r}.", "a whole number that is not negative"
            )

        def placed(raw: Any, loc: Any, scale: Any) -> Any:
            terms = [comb(order, k) * loc ** (order - k) * scale**k * raw[k] for k in range(order + 1)]
            return sum(terms)

        return self._summary(f"moments up to {order}", args, named, placed)
