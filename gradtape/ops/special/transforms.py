"""Degrees, power transforms of statistics, losses, and what else is made of elementary functions."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from gradtape.core.batch import batch_elementwise
from gradtape.core.operation import Op
from gradtape.core.rules import constant
from gradtape.ops.arguments import as_value
from gradtape.ops.special.declare import scipy_kernel, scipy_ufunc
from gradtape.ops.special.entropy import exprel_derivative, log_expit
from gradtape.ops.special.hypergeometric import log1p_quotient
from gradtape.ops.special.orthogonal_polynomials import gegenbauer_derivative
from gradtape.ops.special.rows import fixed, function_row, in_precision, refuse_complex, samples_of

POSITIVE = (0.5, 3.0)
DEGREE = pi / 180

# -- angles in degrees

sindg: Op = function_row(
    "sindg",
    lambda x: DEGREE * cosdg(x),
    domain=[(-200.0, 200.0)],
    doc=("The sine of an angle in degrees", "pi / 180 cosdg(x)", "sindg(30.0) -> 0.5, 0.01511499"),
)
cosdg: Op = function_row(
    "cosdg",
    lambda x: -DEGREE * sindg(x),
    domain=[(-200.0, 200.0)],
    doc=("The cosine of an angle in degrees", "-pi / 180 sindg(x)", "cosdg(60.0) -> 0.5, -0.01511499"),
)
tandg = function_row(
    "tandg",
    lambda out: DEGREE * (1 + out * out),
    domain=[(10.0, 70.0)],
    doc=("The tangent of an angle in degrees", "pi / 180 (1 + tandg(x)^2)", "tandg(45.0) -> 1., 0.03490659"),
)
cotdg = function_row(
    "cotdg",
    lambda out: -DEGREE * (1 + out * out),
    domain=[(20.0, 80.0)],
    doc=("The cotangent of an angle in degrees", "-pi / 180 (1 + cotdg(x)^2)", "cotdg(45.0) -> 1., -0.03490659"),
)
radian = function_row(
    "radian",
    DEGREE,
    DEGREE / 60,
    DEGREE / 3600,
    names=("d", "m", "s"),
    domain=[(0.0, 90.0), (0.0, 60.0), (0.0, 60.0)],
    doc=(
        "An angle of d degrees, m minutes and s seconds in radians",
        "pi / 180, and that divided by 60 and by 3600",
        "radian(90.0, 30.0, 0.0) -> 1.57952297, 0.01745329, 0.00029089, 4.84813681e-06",
    ),
)

# -- Box and Cox: (x^p - 1) / p = log(x) exprel(p log x), and its inverse exp(log1p(p y) / p)


def _in_power(log_x: Any, p: Any) -> Any:
    """d/dp of (x^p - 1) / p; where x is 0 and p positive that is -1 / p."""
    at_zero = np.isneginf(log_x) & (p > 0)
    finite = np.where(at_zero, 0, log_x)
    inside = finite * finite * exprel_derivative(p * finite, order=1)
    return np.where(at_zero, 1 / np.where(at_zero, p * p, 1), inside)


def _log_inverse(y: Any, p: Any) -> Any:
    """log1p(p y) / p, the logarithm of the inverse."""
    return y * log1p_quotient(p * y)


boxcox = function_row(
    "boxcox",
    lambda x, lmbda: x ** (lmbda - 1),
    lambda x, lmbda: _in_power(np.log(x), lmbda),
    names=("x", "lmbda"),
    samples=samples_of(POSITIVE, (-2.0, 2.0)),
    doc=(
        "The power transform (x^p - 1) / p of Box and Cox, log(x) for p = 0",
        "x^(p - 1), and (x^p log(x) - boxcox) / p",
        "boxcox(2.0, 0.5) -> 0.82842712, 0.70710678, 0.30366204",
    ),
)
boxcox1p = function_row(
    "boxcox1p",
    lambda x, lmbda: np.exp((lmbda - 1) * np.log1p(x)),
    lambda x, lmbda: _in_power(np.log1p(x), lmbda),
    names=("x", "lmbda"),
    samples=samples_of(POSITIVE, (-2.0, 2.0)),
    doc=(
        "boxcox of 1 + x, exact near 0",
        "those of boxcox",
        "boxcox1p(1.0, 0.5) -> 0.82842712, 0.70710678, 0.30366204",
    ),
)
inv_boxcox = function_row(
    "inv_boxcox",
    lambda x, lmbda: np.exp((1 - lmbda) * _log_inverse(x, lmbda)),
    lambda x, lmbda: -_in_power(_log_inverse(x, lmbda), lmbda) * np.exp((1 - lmbda) * _log_inverse(x, lmbda)),
    names=("x", "lmbda"),
    samples=samples_of((0.2, 0.8), (-1.0, 2.0)),
    doc=(
        "The inverse of boxcox: (p x + 1)^(1 / p), exp(x) for p = 0",
        "by the implicit function theorem",
        "inv_boxcox(1.5, 0.5) -> 3.0625, 1.75, -1.6052934",
    ),
)
inv_boxcox1p = function_row(
    "inv_boxcox1p",
    lambda x, lmbda: np.exp((1 - lmbda) * _log_inverse(x, lmbda)),
    lambda x, lmbda: -_in_power(_log_inverse(x, lmbda), lmbda) * np.exp((1 - lmbda) * _log_inverse(x, lmbda)),
    names=("x", "lmbda"),
    samples=samples_of((0.2, 0.8), (-1.0, 2.0)),
    doc=(
        "The inverse of boxcox1p, exact near 0",
        "those of inv_boxcox",
        "inv_boxcox1p(1.5, 0.5) -> 2.0625, 1.75, -1.6052934",
    ),
)
powm1 = function_row(
    "powm1",
    lambda x, y: y * x ** (y - 1),
    lambda x, y: x**y * np.log(np.where((x == 0) & (y > 0), 1, x)),
    domain=[POSITIVE, POSITIVE],
    doc=("x^y - 1, exact where it is small", "y x^(y - 1) and x^y log(x)", "powm1(2.0, 3.0) -> 7., 12., 5.54517744"),
)


def _tukey_slope(out: Any, lmbda: Any) -> Any:
    """The density: p^(l - 1) + (1 - p)^(l - 1) below 1, with p the probability, and 0 off the support."""
    inside = (out > 0) & (out < 1)
    p = np.where(inside, out, 0.5)
    return np.where(inside, 1 / (p ** (lmbda - 1) + (1 - p) ** (lmbda - 1)), 0)


def _tukey_in_shape(out: Any, lmbda: Any) -> Any:
    p = np.where((out > 0) & (out < 1), out, 0.5)
    return (_in_power(np.log1p(-p), lmbda) - _in_power(np.log(p), lmbda)) * _tukey_slope(out, lmbda)


tklmbda = function_row(
    "tklmbda",
    lambda out, lmbda: _tukey_slope(out, lmbda),
    lambda out, lmbda: _tukey_in_shape(out, lmbda),
    names=("x", "lmbda"),
    samples=samples_of((-0.4, 0.4), (0.2, 1.5)),
    doc=(
        "The distribution function of Tukey's lambda distribution, whose quantiles are boxcox(p) - boxcox(1 - p)",
        "by the implicit function theorem",
        "tklmbda(0.5, 0.5) -> 0.67399264, 0.33675994, 0.12388628",
    ),
)

# -- losses

huber = function_row(
    "huber",
    lambda delta, r: np.maximum(np.abs(r) - delta, 0),
    lambda delta, r: np.where(np.abs(r) <= delta, r, delta * np.sign(r)),
    operation="scipy huber",
    names=("delta", "r"),
    samples=lambda draw: [
        ((draw.between((0.8, 1.2), shape), draw.between((1.3, 4.0), other) * sign), {})
        for shape, other, sign in (((2, 1), (3,), 1), ((2,), (2,), -0.1), ((), (), -1), ((0, 3), (3,), 1))
    ],
    doc=(
        "r^2 / 2 up to delta, then the straight line delta (r - delta / 2)",
        "max(abs(r) - delta, 0), and r cut off at delta",
        "huber(1.0, 3.0) -> 2.5, 2., 1.",
    ),
)


def _relative(delta: Any, r: Any) -> tuple[Any, Any]:
    """(r / delta)^2, and the root of 1 plus that; a delta of 0 gives a loss of 0."""
    quotient = np.where(delta == 0, 0, r) / np.where(delta == 0, 1, delta)
    square = quotient * quotient
    return square, np.sqrt(1 + square)


def _in_delta(delta: Any, r: Any) -> Any:
    """delta (s - 1)^2 / s with s the root: 2 delta (s - 1) - r^2 / (delta s) without cancellation"""
    square, root = _relative(delta, r)
    return delta * (square / (1 + root)) ** 2 / root


pseudo_huber = function_row(
    "pseudo_huber",
    lambda delta, r: _in_delta(delta, r),
    lambda delta, r: np.where(delta == 0, 0, r) / _relative(delta, r)[1],
    names=("delta", "r"),
    domain=[POSITIVE, None],
    doc=(
        "delta^2 (s - 1) with s = sqrt(1 + (r / delta)^2): a smooth form of huber",
        "delta (s - 1)^2 / s and r / s",
        "pseudo_huber(3.0, 4.0) -> 6., 0.8, 2.4",
    ),
)

# -- sin(n x / 2) / (n sin(x / 2)) is a Chebyshev polynomial of cos(x / 2), and so is its slope: smooth everywhere


def _diric_kernel(x: Any, n: Any) -> Any:
    refuse_complex(x)
    return in_precision(scipy_ufunc("diric")(x, n), x, n)


def _diric_slope(x: Any, n: Any) -> Any:
    return -np.sin(0.5 * x) * gegenbauer_derivative(n - 2, 2.0, np.cos(0.5 * x), order=0) / n


diric = function_row(
    "diric",
    _diric_slope,
    fixed("diric", "n", "which is a whole number"),
    kernel=_diric_kernel,
    names=("x", "n"),
    samples=samples_of((-3.0, 9.0), [3, 4, 1]),
    doc=(
        "Dirichlet's periodic sinc, sin(n x / 2) / (n sin(x / 2)), for a constant n",
        "that of the Chebyshev polynomial of cos(x / 2) that it is",
        "diric(1.0, 3) -> 0.69353487, -0.56098066",
    ),
)
round = constant(
    scipy_kernel("round"),
    name="scipy round",
    batch=batch_elementwise,
    domain=[(-2.0, 2.0)],
    answers=["scipy.special.round"],
    doc="""The nearest integer, the even one of two. No gradient passes.

    >>> import gradtape as gt
    >>> gt.special.round(gt.tensor([0.5, 1.75]))
    Tensor([0., 2.])
    """,
)


def softplus(x: Any) -> Any:
    """log(1 + exp(x)), exact for large x of either sign. Derivative: expit(x).

    >>> import gradtape as gt
    >>> gt.value_and_grad(gt.special.softplus)(gt.tensor(0.0))
    (Tensor(0.69314718), Tensor(0.5))
    """
    return -log_expit(-as_value(x))
