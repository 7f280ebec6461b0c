"""The zeta functions as functions of the exponent: by Euler's and Maclaurin's sum, as power series in the exponent."""

from __future__ import annotations

from math import factorial, log, pi
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.ops.special.declare import scipy_ufunc
from gradtape.ops.special.gamma import BERNOULLI
from gradtape.ops.special.rows import function_row, in_precision, refuse_complex, samples_of

DIRECT = 14
"""How many terms are summed one by one."""

Coefficients = list[Any]
"""Those of a power series in the exponent, from that of the power 0 up."""


def _times(left: Coefficients, right: Coefficients) -> Coefficients:
    return [sum(left[i] * right[n - i] for i in range(n + 1)) for n in range(len(left))]


def _exponential(rate: Any, order: int) -> Coefficients:
    """exp(rate e)"""
    return [rate**n / factorial(n) for n in range(order + 1)]


def _hurwitz(s: Any, q: Any, order: int) -> Coefficients:
    """zeta(s + e, q), for q > 0 and s above -5 or so."""
    total: Coefficients = [0.0] * (order + 1)

    def add(value: Any, series: Coefficients) -> None:
        for n, coefficient in enumerate(series):
            total[n] = total[n] + value * coefficient

    for k in range(DIRECT):
        add((q + k) ** -s, _exponential(-np.log(q + k), order))
    edge = q + DIRECT
    falling = _exponential(-np.log(edge), order)
    add(edge ** (1 - s), _times(falling, [(-1.0) ** n / (s - 1) ** (n + 1) for n in range(order + 1)]))
    add(0.5 * edge**-s, falling)
    rising: Coefficients = [s, 1.0, *[0.0] * order][: order + 1]
    for k, number in enumerate(BERNOULLI, start=1):
        add(number / factorial(2 * k) * edge ** (1 - s - 2 * k), _times(falling, rising))
        for i in (2 * k - 1, 2 * k):
            rising = _times(rising, [s + i, 1.0, *[0.0] * order][: order + 1])
    return total


def _gamma_series(x: Any, order: int) -> Coefficients:
    """gamma(x - e), from its logarithm: n c_n = sum k l_k c_(n-k)"""
    psi = [scipy_ufunc("psi")(x), *[scipy_ufunc("polygamma")(k, x) for k in range(1, order)]][:order]
    logarithm = [(-1.0) ** (k + 1) * value / factorial(k + 1) for k, value in enumerate(psi)]
    found: Coefficients = [scipy_ufunc("gamma")(x)]
    for n in range(1, order + 1):
        found.append(sum(k * logarithm[k - 1] * found[n - k] for k in range(1, n + 1)) / n)
    return found


def _reflected(s: Any, order: int) -> Any:
    """The last coefficient of 2^s pi^(s-1) sin(pi s / 2) gamma(1 - s) zeta(1 - s), for s < 0."""
    sine, cosine = scipy_ufunc("sindg")(90 * s), scipy_ufunc("cosdg")(90 * s)
    turns = [sine, cosine, -sine, -cosine]
    wave = [turns[n % 4] * (pi / 2) ** n / factorial(n) for n in range(order + 1)]
    zeta = [(-1.0) ** n * c for n, c in enumerate(_hurwitz(1 - s, 1.0, order))]
    power = [(2 * pi) ** s / pi * c for c in _exponential(log(2 * pi), order)]
    return _times(_times(power, wave), _times(_gamma_series(1 - s, order), zeta))[order]


def _riemann_derivative(x: Any, order: int) -> Any:
    refuse_complex(x)
    s = np.asarray(x, float)
    left = s < 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        right_side = _hurwitz(np.where(left, 2.0, s), 1.0, order)[order]
        found = np.where(left, _reflected(np.where(left, s, -0.5), order), right_side)
    return in_precision(factorial(order) * found, x)


riemann_derivative: Op = elementwise(
    _riemann_derivative,
    lambda x, order: riemann_derivative(x, order=order + 1),
    name="derivative of the Riemann zeta function",
    samples=lambda draw: [
        ((draw.between((1.5, 4.0), (2,)),), {"order": 1}),
        ((draw.between((-3.5, -0.5), (2, 2)),), {"order": 1}),
        ((draw.between((1.5, 4.0), ()),), {"order": 2}),
    ],
    doc="A derivative of the Riemann zeta function, of the given order. Derivative: the next one.",
)


def _hurwitz_derivative(s: Any, q: Any, order: int) -> Any:
    refuse_complex(s, q)
    exponent, shift = np.asarray(s, float), np.asarray(q, float)
    known = (exponent > 1) & (shift > 0)
    found = _hurwitz(np.where(known, exponent, 2.0), np.where(known, shift, 1.0), order)[order]
    return in_precision(np.where(known, factorial(order) * found, np.nan), s, q)


hurwitz_derivative: Op = elementwise(
    _hurwitz_derivative,
    lambda s, q, order: hurwitz_derivative(s, q, order=order + 1),
    lambda s, q, order: (
        -s * hurwitz_derivative(s + 1, q, order=order)
        - (order * hurwitz_derivative(s + 1, q, order=order - 1) if order else 0)
    ),
    name="derivative of the Hurwitz zeta function",
    names=("s", "q"),
    samples=lambda draw: [
        (arrays, {"order": order})
        for (arrays, _), order in zip(samples_of((1.5, 4.0), (0.5, 3.0))(draw), (1, 2, 0, 1), strict=True)
    ],
    doc="A derivative of the Hurwitz zeta function by the exponent. Derivatives: the next, and of s + 1 by q.",
)
zetac = function_row(
    "zetac",
    lambda x: riemann_derivative(x, order=1),
    domain=[(1.5, 4.0)],
    doc=(
        "The Riemann zeta function minus 1",
        "that of the zeta function, by its sum",
        "zetac(2.0) -> 0.64493407, -0.93754825",
    ),
)
