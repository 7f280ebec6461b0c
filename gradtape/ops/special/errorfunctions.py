"""The error function and the normal distribution function: theirs, their inverses, and their scaled forms.

With G(x) = exp(-x^2), erf' = 2 G / sqrt(pi); with g(x) = exp(-x^2 / 2) / sqrt(2 pi), ndtr' = g.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.core.typing import Array
from gradtape.ops.special.declare import result_dtype, row, scipy_ufunc

PEAK = 2 / sqrt(pi)  # of erf'
NORMAL_PEAK = 1 / sqrt(2 * pi)

erf = row(
    "erf",
    lambda x: PEAK * np.exp(-x * x),
    doc=("The error function", "2 exp(-x^2) / sqrt(pi)", "erf(0.5) -> 0.52049988, 0.87878258"),
)
erfc = row(
    "erfc",
    lambda x: -PEAK * np.exp(-x * x),
    doc=("1 - erf(x), exact where it is small", "-2 exp(-x^2) / sqrt(pi)", "erfc(0.5) -> 0.47950012, -0.87878258"),
)
erfi = row(
    "erfi",
    lambda x: PEAK * np.exp(x * x),
    doc=("erf(i x) / i", "2 exp(x^2) / sqrt(pi)", "erfi(0.5) -> 0.61495209, 1.44886753"),
)
erfinv = row(
    "erfinv",
    lambda out: np.exp(out * out) / PEAK,
    domain=[(-0.8, 0.8)],
    doc=("The inverse of erf", "sqrt(pi) exp(erfinv(x)^2) / 2", "erfinv(0.5) -> 0.47693628, 1.11258482"),
)
erfcinv = row(
    "erfcinv",
    lambda out: np.exp(out * out) / -PEAK,
    domain=[(0.2, 1.8)],
    doc=("The inverse of erfc", "-sqrt(pi) exp(erfcinv(x)^2) / 2", "erfcinv(0.5) -> 0.47693628, -1.11258482"),
)

# -- exp(x^2) erfc(x): y' = 2 x y - 2 / sqrt(pi), which cancels for large x. So do the higher derivatives
#    y'' = 2 x y' + 2 y, ..., y^(n+1) = 2 x y^(n) + 2 n y^(n-1). There they are taken from the expansion
#    y = 1 / (x sqrt(pi)) sum_k (-1)^k (2k-1)!! / (2 x^2)^k, term by term.


def _erfcx_derivative(x: Array, order: int) -> Any:
    dtype = np.result_type(x) if np.iscomplexobj(x) else result_dtype(x)
    x = np.asarray(x, complex if np.iscomplexobj(x) else float)
    before = scipy_ufunc("erfcx")(x)
    with np.errstate(invalid="ignore"):  # erfcx is infinite far left, and so are its derivatives
        here = np.where(np.isinf(before), -np.inf, 2 * x * before - PEAK)
        for n in range(1, order):
            before, here = here, 2 * x * here + 2 * n * before
    if not np.iscomplexobj(x):
        here = np.where(x > 6.5, _erfcx_expansion(np.where(x > 6.5, x, 7.0), order), here)
    return here.astype(dtype)


def _erfcx_expansion(x: Array, order: int) -> Any:
    total, term = np.zeros_like(x), 0.5 * PEAK / x
    for k in range(30):
        total = total + term * np.prod(np.arange(2 * k + 1, 2 * k + 1 + order, dtype=float))
        term = term * -(2 * k + 1) / (2 * x * x)
    return total / (-x) ** order


erfcx_derivative: Op = elementwise(
    _erfcx_derivative,
    lambda x, order: erfcx_derivative(x, order=order + 1),
    name="derivative of erfcx",
    samples=lambda draw: [
        ((draw(3),), {"order": 1}),
        ((draw(2, 3),), {"order": 2}),
        ((draw(),), {"order": 3}),
        ((draw.between((7.0, 30.0), (4,)),), {"order": 1}),
    ],
    doc="A derivative of erfcx, of the given order. Derivative: the next one.",
)
erfcx = row(
    "erfcx",
    lambda x: erfcx_derivative(x, order=1),
    doc=(
        "exp(x^2) erfc(x), which does not underflow",
        "2 x erfcx(x) - 2 / sqrt(pi)",
        "erfcx(0.5) -> 0.61569034, -0.51268882",
    ),
)

# -- the normal distribution function

ndtr = row(
    "ndtr",
    lambda x: NORMAL_PEAK * np.exp(-0.5 * x * x),
    real=True,
    doc=(
        "The distribution function of the normal distribution",
        "the normal density",
        "ndtr(0.5) -> 0.69146246, 0.35206533",
    ),
)
ndtri = row(
    "ndtri",
    lambda out: np.exp(0.5 * out * out) / NORMAL_PEAK,
    domain=[(0.1, 0.9)],
    doc=("The quantile of the normal distribution", "1 / density", "ndtri(0.7) -> 0.52440051, 2.87610366"),
)


def _hazard_kernel(x: Array) -> Any:
    """density(x) / ndtr(x) = sqrt(2/pi) / erfcx(-x / sqrt(2))"""
    return 2 * NORMAL_PEAK / scipy_ufunc("erfcx")(x * -sqrt(0.5))


def _hazard_slope(x: Array, out: Array) -> Any:
    """h' = -h (h + x); left of 0, where h + x cancels, through the derivative of erfcx."""
    left = x < 0
    turned = np.where(left, x, 0) * -sqrt(0.5)
    through_erfcx = erfcx_derivative(turned, order=1) * (sqrt(0.5) * 2 * NORMAL_PEAK) / erfcx(turned) ** 2
    return np.where(left, through_erfcx, -out * (out + np.where(left, 0, x)))


normal_hazard = elementwise(
    _hazard_kernel,
    _hazard_slope,
    name="normal hazard",
    doc="The slope of log_ndtr: density(x) / ndtr(x). Derivative: -h (h + x).",
)
log_ndtr = row(
    "log_ndtr",
    lambda x: normal_hazard(x),
    real=True,
    doc=("log(ndtr(x)), exact far in the tail", "density(x) / ndtr(x)", "log_ndtr(0.5) -> -0.36894642, 0.50916043"),
)
