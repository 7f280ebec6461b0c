"""The distributions of Kolmogorov and Smirnov: their survival functions and quantiles, by series."""

from __future__ import annotations

from math import ceil, comb, pi, sqrt
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.ops.special.declare import scipy_ufunc
from gradtape.ops.special.faddeeva import _gaussian
from gradtape.ops.special.rows import fixed, function_row, in_precision, refuse_complex, samples_of

# -- Kolmogorov: 2 sum (-1)^(k-1) exp(-2 k^2 y^2), and for small y 1 - sqrt(2 pi) / y sum exp(-(2k-1)^2 pi^2 / (8 y^2))


def _kolmogorov_derivative(y: Any, order: int) -> Any:
    refuse_complex(y)
    x = np.asarray(y, float)
    large = np.where(x < 0.8, 1.0, x)
    above = np.zeros_like(x)
    for k in range(1, 9):
        above = above - 2 * (-1.0) ** k * (sqrt(2) * k) ** order * _gaussian(sqrt(2) * k * large, order)
    small = np.where((x < 0.8) & (x > 0.02), x, 0.5)
    below = np.zeros_like(x)
    for k in (1, 3, 5):
        scale = k * k * pi * pi / 8
        powers = {1: 1.0}  # the coefficients of y^-m exp(-scale / y^2)
        for _ in range(order):
            moved: dict[int, float] = {}
            for m, coefficient in powers.items():
                moved[m + 1] = moved.get(m + 1, 0.0) - m * coefficient
                moved[m + 3] = moved.get(m + 3, 0.0) + 2 * scale * coefficient
            powers = moved
        terms: Any = sum(coefficient * small**-m for m, coefficient in powers.items())
        below = below - sqrt(2 * pi) * terms * np.exp(-scale / small**2)
    return in_precision(np.where(x < 0.8, np.where(x > 0.02, below, 0), above), y)


kolmogorov_derivative: Op = elementwise(
    _kolmogorov_derivative,
    lambda y, order: kolmogorov_derivative(y, order=order + 1),
    name="derivative of kolmogorov",
    names=("y",),
    samples=lambda draw: [
        ((draw.between((0.4, 0.7), (2,)),), {"order": 1}),
        ((draw.between((0.9, 2.0), (2, 2)),), {"order": 2}),
        ((draw.between((0.9, 2.0), ()),), {"order": 1}),
    ],
    doc="A derivative of kolmogorov, of the given order. Derivative: the next one.",
)
kolmogorov = function_row(
    "kolmogorov",
    lambda y: kolmogorov_derivative(y, order=1),
    names=("y",),
    domain=[(0.4, 2.0)],
    real=True,
    doc=(
        "The survival function of Kolmogorov's distribution, 2 sum (-1)^(k-1) exp(-2 k^2 y^2)",
        "-8 y sum (-1)^(k-1) k^2 exp(-2 k^2 y^2)",
        "kolmogorov(1.0) -> 0.26999967, -1.07194856",
    ),
)
kolmogi = function_row(
    "kolmogi",
    lambda out: 1 / kolmogorov_derivative(out, order=1),
    names=("p",),
    domain=[(0.2, 0.8)],
    real=True,
    doc=("The inverse of kolmogorov", "1 / that of kolmogorov", "kolmogi(0.25) -> 1.01918472, -0.98700483"),
)

# -- Smirnov: (1 - d)^n + d sum over 0 < v < n (1 - d) of binom(n, v) (d + v / n)^(v - 1) (1 - d - v / n)^(n - v)


def _smirnov_derivative(n: Any, d: Any, order: int) -> Any:
    refuse_complex(d)
    counts, points = np.broadcast_arrays(np.asarray(n), np.asarray(d, float))
    answer = np.empty(points.shape)
    for place in np.ndindex(points.shape):
        answer[place] = _smirnov_at(int(counts[place]), float(points[place]), order)
    return in_precision(answer, n, d)


def _smirnov_at(n: int, d: float, order: int) -> float:
    if not 0 <= d < 1:
        return 0.0
    v = np.arange(1, ceil(n * (1 - d)))
    rising, falling = d + v / n, np.maximum(1 - d - v / n, 1e-300)
    log_count = scipy_ufunc("gammaln")(n + 1.0) - scipy_ufunc("gammaln")(v + 1.0) - scipy_ufunc("gammaln")(n - v + 1.0)
    height = np.exp(log_count + (v - 1) * np.log(rising) + (n - v) * np.log(falling))
    binom = scipy_ufunc("binom")

    def product(times: int) -> Any:
        """The derivative of the product of the two powers, over the product itself and `times` factorial."""
        found = np.zeros(v.shape)
        for j in range(times + 1):
            power = binom(v - 1.0, j) * rising ** -float(j)
            found = found + power * binom(n - v + 0.0, times - j) * (-1 / falling) ** (times - j)
        return found

    total = d * np.sum(height * product(order)) + (np.sum(height * product(order - 1)) if order else 0)
    first = comb(n, order) * (-1.0) ** order * (1 - d) ** (n - order) if n >= order else 0.0
    scale = float(np.prod(np.arange(1.0, order + 1)))
    return float(scale * (total + first))


smirnov_derivative: Op = elementwise(
    _smirnov_derivative,
    fixed("smirnov", "n", "which counts"),
    lambda n, d, order: smirnov_derivative(n, d, order=order + 1),
    name="derivative of smirnov",
    names=("n", "d"),
    samples=lambda draw: [
        ((5, draw.between((0.25, 0.35), (2,))), {"order": 1}),
        ((np.array([4, 7]), draw.between((0.3, 0.4), (2,))), {"order": 2}),
        ((6, draw.between((0.2, 0.3), ())), {"order": 1}),
    ],
    doc="A derivative of smirnov by d, of the given order. Derivative: the next one.",
)
smirnov = function_row(
    "smirnov",
    fixed("smirnov", "n", "which counts"),
    lambda n, d: smirnov_derivative(n, d, order=1),
    names=("n", "d"),
    samples=samples_of([5, 4], (0.27, 0.37)),
    doc=(
        "The survival function of Smirnov's distribution: of the largest excess of n draws over their distribution",
        "that of its sum, term by term",
        "smirnov(5, 0.3) -> 0.34282, -2.286",
    ),
)
smirnovi = function_row(
    "smirnovi",
    fixed("smirnovi", "n", "which counts"),
    lambda n, out: 1 / smirnov_derivative(n, out, order=1),
    names=("n", "p"),
    samples=samples_of([5, 4], (0.3, 0.5)),
    doc=("The inverse of smirnov", "1 / that of smirnov", "smirnovi(5, 0.25) -> 0.34319485, -0.5037863"),
)
