"""The classical orthogonal polynomials, and the functions that they are for a degree n which is no whole number.

The slope of each is a Gegenbauer, Jacobi, Laguerre or Hermite polynomial of the degree n - 1. Of those of Gegenbauer,
Jacobi and Laguerre the parameters are continuous: their derivatives by them come from the three-term recurrence, run
on truncated power series in the parameters, if the degrees are integers. Given as floating point numbers, degrees are
continuous too: then the derivatives by the degree and by the parameters are numerical (`parameter_derivative`), but
for Hermite polynomials, which SciPy has for integers only. Of Jacobi's and Gegenbauer's SciPy's values of high degrees
lose digits near x = -1, and so do these: seven are left for n = 8 and x = -0.9.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import factorial
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.ops.special.combinatorics import binom, binom_in_total
from gradtape.ops.special.declare import scipy_ufunc
from gradtape.ops.special.parameter_derivative import by_parameter
from gradtape.ops.special.rows import fixed, function_row, in_precision, refuse_complex, samples_of, samples_of_both

UNIT = (-0.9, 0.9)
DEGREES = [3, 2, 0]
REAL_DEGREES = (0.5, 3.0)

Series = dict[tuple[int, ...], Any]
"""The coefficients of a power series in as many variables as its keys have numbers, up to some order in each."""


def times(left: Series, right: Series, top: tuple[int, ...]) -> Series:
    """The product of two series, without the powers above `top`."""
    found: Series = {}
    for (p, a), (q, b) in product(left.items(), right.items()):
        power = tuple(i + j for i, j in zip(p, q, strict=True))
        if all(i <= limit for i, limit in zip(power, top, strict=True)):
            found[power] = found[power] + a * b if power in found else a * b
    return found


def plus(left: Series, right: Series) -> Series:
    """The sum of two series, given by their coefficients."""
    return {power: left.get(power, 0) + right.get(power, 0) for power in {**left, **right}}


def reciprocal(value: Any, slopes: tuple[float, ...], top: tuple[int, ...]) -> Series:
    """1 / (value + sum of slopes times variables), as a series."""
    found: Series = {}
    for power in product(*(range(limit + 1) for limit in top)):
        total = sum(power)
        count = factorial(total) // int(np.prod([factorial(i) for i in power]))
        weight = float(np.prod([slope**i for slope, i in zip(slopes, power, strict=True)]))
        if weight:
            found[power] = count * weight * (-1.0) ** total / value ** (total + 1)
    return found


def _degrees(n: Any) -> Any:
    """The degrees as integers; derivatives by parameters are of polynomials only."""
    whole = np.asarray(n)
    if whole.dtype.kind == "f" and not np.all(whole == np.round(whole)):
        raise TypeError("derivatives with respect to the parameters are there for integer degrees n only")
    return whole.astype(int)


def _by_recurrence(n: Any, x: Any, top: tuple[int, ...], first: Series, second: Any) -> Any:
    """The derivative of the order `top` of a polynomial of degree n, from the series for 1 and a step for the others.

    `second(k, p, q)` is the polynomial of degree k from those of the degrees k - 1 and k - 2.
    """
    n = _degrees(n)
    shape = np.broadcast_shapes(n.shape, np.shape(x), *(np.shape(c) for c in first.values()))
    scale = float(np.prod([factorial(i) for i in top]))
    answer = np.zeros(shape, np.result_type(x, float))
    zero = tuple(0 for _ in top)
    before: Series = {}
    here: Series = {zero: np.ones(shape)}
    for k in range(int(np.max(n, initial=0)) + 1):
        if k:
            before, here = here, first if k == 1 else second(k, here, before)
        answer = np.where(n == k, here.get(top, 0) * scale, answer)
    return answer


def _is_whole(n: Any) -> bool:
    """Whether degrees are integers by their dtype, and so what polynomials have."""
    return n.dtype.kind != "f" if hasattr(n, "dtype") else not isinstance(n, float)


def _plain(name: str, n: Any, *arguments: Any) -> Any:
    """SciPy's polynomial, and 0 for negative integer degrees, of which slopes are made."""
    whole = np.asarray(n)
    vanishes = (whole < 0) & (whole == np.round(whole))
    return np.where(vanishes, 0, scipy_ufunc(name)(np.where(vanishes, 0, whole), *arguments))


# -- Gegenbauer: k C_k = 2 (k + a - 1) x C_(k-1) - (k + 2a - 2) C_(k-2), and C_n' = 2 a C_(n-1) of a + 1


def _gegenbauer(n: Any, alpha: Any, x: Any, order: int) -> Any:
    if order == 0:
        return in_precision(_plain("eval_gegenbauer", n, alpha, x), alpha, x)
    refuse_complex(x)
    a, z, top = np.asarray(alpha, float), np.asarray(x, float), (order,)

    def step(k: int, p: Series, q: Series) -> Series:
        left = times(p, {(0,): 2 * (k + a - 1) * z / k, (1,): 2 * z / k}, top)
        return plus(left, times(q, {(0,): -(k + 2 * a - 2) / k, (1,): np.array(-2.0 / k)}, top))

    return in_precision(_by_recurrence(n, z, top, {(0,): 2 * a * z, (1,): 2 * z}, step), alpha, x)


def _gegenbauer_by_alpha(n: Any, alpha: Any, x: Any, order: int = 0) -> Any:
    if _is_whole(n):
        return gegenbauer_derivative(n, alpha, x, order=order + 1)
    return by_parameter(lambda alpha: gegenbauer_derivative(n, alpha, x, order=order), alpha)


gegenbauer_derivative: Op = elementwise(
    _gegenbauer,
    lambda n, alpha, x, order: by_parameter(lambda n: gegenbauer_derivative(n, alpha, x, order=order), n),
    _gegenbauer_by_alpha,
    lambda n, alpha, x, order: (
        2 * alpha * gegenbauer_derivative(n - 1, alpha + 1, x, order=order)
        + (2 * order * gegenbauer_derivative(n - 1, alpha + 1, x, order=order - 1) if order else 0)
    ),
    name="derivative of eval_gegenbauer",
    names=("n", "alpha", "x"),
    samples=lambda draw: [
        ((3, draw.between((0.5, 2.0), (2, 1)), draw.between(UNIT, (3,))), {"order": 0}),
        ((np.array([4, 1]), draw.between((0.5, 2.0), (2,)), draw.between(UNIT, (2,))), {"order": 1}),
        ((5, draw.between((0.5, 2.0), ()), draw.between(UNIT, ())), {"order": 2}),
        ((draw.between(REAL_DEGREES, (2,)), draw.between((0.5, 2.0), ()), draw.between(UNIT, (2,))), {"order": 0}),
    ],
    doc="A derivative of a Gegenbauer polynomial by its parameter. Derivatives: the next, and that of degree n - 1.",
)
eval_gegenbauer: Op = function_row(
    "eval_gegenbauer",
    lambda n, alpha, x: by_parameter(lambda n: eval_gegenbauer(n, alpha, x), n),
    lambda n, alpha, x: _gegenbauer_by_alpha(n, alpha, x),
    lambda n, alpha, x: 2 * alpha * gegenbauer_derivative(n - 1, alpha + 1, x, order=0),
    names=("n", "alpha", "x"),
    samples=samples_of_both(samples_of(DEGREES, (0.5, 2.0), UNIT), samples_of(REAL_DEGREES, (0.5, 2.0), UNIT)),
    doc=(
        "The Gegenbauer polynomial of degree n and parameter alpha",
        "by n, numerically; by the recurrence in alpha, and 2 alpha eval_gegenbauer(n - 1, alpha + 1, x) in x",
        "eval_gegenbauer(3, 1.5, 0.5) -> -1.5625, -1.04166667, 5.625",
    ),
)


def _of_degree(
    name: str,
    slope: Any,
    doc: tuple[str, str, str],
    bounds: tuple[float, float] = UNIT,
    by_degree: Callable[..., Any] | None = None,
) -> Op:
    """A polynomial of degree n at x; `by_degree` is its derivative by n, if not just a difference quotient."""
    what, derivative, call = doc
    row: Op = function_row(
        name,
        by_degree or (lambda n, x: by_parameter(lambda n: row(n, x), n)),
        slope,
        names=("n", "x"),
        samples=samples_of_both(samples_of(DEGREES, bounds), samples_of(REAL_DEGREES, bounds)),
        doc=(what, f"by the degree n, numerically; by x, {derivative}", call),
    )
    return row


def _of_whole_degree(name: str, slope: Any, doc: tuple[str, str, str]) -> Op:
    """A polynomial of an integer degree n at x."""
    what, derivative, call = doc
    return function_row(
        name,
        fixed(name, "n", "which is a whole number"),
        slope,
        names=("n", "x"),
        samples=samples_of(DEGREES, UNIT),
        doc=(f"{what}, for an integer degree n", derivative, call),
    )


# -- by the degree, T_n = cos(n t) and U_n = sin((n + 1) t) / sin(t), t = arccos(x), for x <= 0, where SciPy's values of
#    a degree that is no whole number lose their digits; t has no slope at 1, and for x > 0 these values have all theirs


def _chebyt_by_degree(n: Any, x: Any) -> Any:
    positive = x > 0
    angle = np.arccos(np.where(positive, 0, x))
    numerical = by_parameter(lambda n: eval_chebyt(n, np.where(positive, x, 1)), n)
    return np.where(positive, numerical, -angle * np.sin(n * angle))


def _chebyu_by_degree(n: Any, x: Any) -> Any:
    positive = x > 0
    angle = np.arccos(np.where(positive, 0, x))
    numerical = by_parameter(lambda n: eval_chebyu(n, np.where(positive, x, 1)), n)
    return np.where(positive, numerical, angle * np.cos((n + 1) * angle) / np.sin(angle))


def _ultraspherical(n: Any, alpha: float, x: Any) -> Any:
    """C_n of a parameter that is a number."""
    return gegenbauer_derivative(n, alpha, x, order=0)


eval_legendre = _of_degree(
    "eval_legendre",
    lambda n, x: _ultraspherical(n - 1, 1.5, x),
    ("The Legendre polynomial", "eval_gegenbauer(n - 1, 3/2, x)", "eval_legendre(3, 0.5) -> -0.4375, 0.375"),
)
eval_chebyt: Op = _of_degree(
    "eval_chebyt",
    lambda n, x: n * _ultraspherical(n - 1, 1.0, x),
    ("The Chebyshev polynomial of the first kind", "n eval_chebyu(n - 1, x)", "eval_chebyt(3, 0.5) -> -1., 0."),
    by_degree=_chebyt_by_degree,
)
eval_chebyu: Op = _of_degree(
    "eval_chebyu",
    lambda n, x: 2 * _ultraspherical(n - 1, 2.0, x),
    ("The Chebyshev polynomial of the second kind", "2 eval_gegenbauer(n - 1, 2, x)", "eval_chebyu(3, 0.5) -> -1., 2."),
    by_degree=_chebyu_by_degree,
)
eval_chebyc = _of_degree(
    "eval_chebyc",
    lambda n, x: n * _ultraspherical(n - 1, 1.0, 0.5 * x),
    (
        "2 eval_chebyt(n, x / 2): the Chebyshev polynomial of the first kind on [-2, 2]",
        "n eval_chebyu(n - 1, x / 2)",
        "eval_chebyc(3, 0.5) -> -1.375, -2.25",
    ),
    by_degree=lambda n, x: 2 * _chebyt_by_degree(n, 0.5 * x),
)
eval_chebys = _of_degree(
    "eval_chebys",
    lambda n, x: _ultraspherical(n - 1, 2.0, 0.5 * x),
    (
        "eval_chebyu(n, x / 2): that of the second kind on [-2, 2]",
        "eval_gegenbauer(n - 1, 2, x / 2)",
        "eval_chebys(3, 0.5) -> -0.875, -1.25",
    ),
    by_degree=lambda n, x: _chebyu_by_degree(n, 0.5 * x),
)
eval_sh_legendre = _of_degree(
    "eval_sh_legendre",
    lambda n, x: 2 * _ultraspherical(n - 1, 1.5, 2 * x - 1),
    (
        "eval_legendre(n, 2 x - 1): the Legendre polynomial on [0, 1]",
        "twice that of eval_legendre",
        "eval_sh_legendre(3, 0.5) -> 0., -3.",
    ),
    (0.1, 0.9),
)
eval_sh_chebyt = _of_degree(
    "eval_sh_chebyt",
    lambda n, x: 2 * n * _ultraspherical(n - 1, 1.0, 2 * x - 1),
    (
        "eval_chebyt(n, 2 x - 1): the Chebyshev polynomial on [0, 1]",
        "twice that of eval_chebyt",
        "eval_sh_chebyt(3, 0.5) -> -0., -6.",
    ),
    (0.1, 0.9),
    by_degree=lambda n, x: _chebyt_by_degree(n, 2 * x - 1),
)
eval_sh_chebyu = _of_degree(
    "eval_sh_chebyu",
    lambda n, x: 4 * _ultraspherical(n - 1, 2.0, 2 * x - 1),
    (
        "eval_chebyu(n, 2 x - 1): that of the second kind on [0, 1]",
        "twice that of eval_chebyu",
        "eval_sh_chebyu(3, 0.5) -> -0., -8.",
    ),
    (0.1, 0.9),
    by_degree=lambda n, x: _chebyu_by_degree(n, 2 * x - 1),
)

# -- Hermite: SciPy has them for integer degrees and real numbers


eval_hermite: Op = _of_whole_degree(
    "eval_hermite",
    lambda n, x: 2 * n * eval_hermite(n - (n > 0), x),
    ("The Hermite polynomial of physics", "2 n eval_hermite(n - 1, x)", "eval_hermite(3, 0.5) -> -5., -6."),
)
eval_hermitenorm: Op = _of_whole_degree(
    "eval_hermitenorm",
    lambda n, x: n * eval_hermitenorm(n - (n > 0), x),
    (
        "The Hermite polynomial of probability",
        "n eval_hermitenorm(n - 1, x)",
        "eval_hermitenorm(3, 0.5) -> -1.375, -2.25",
    ),
)

# -- Laguerre: k L_k = (2k - 1 + a - x) L_(k-1) - (k - 1 + a) L_(k-2), and L_n' = -L_(n-1) of a + 1


def _laguerre(n: Any, alpha: Any, x: Any, order: int) -> Any:
    if order == 0:
        return in_precision(_plain("eval_genlaguerre", n, alpha, x), alpha, x)
    refuse_complex(x)
    a, z, top = np.asarray(alpha, float), np.asarray(x, float), (order,)

    def step(k: int, p: Series, q: Series) -> Series:
        left = times(p, {(0,): (2 * k - 1 + a - z) / k, (1,): np.array(1 / k)}, top)
        return plus(left, times(q, {(0,): -(k - 1 + a) / k, (1,): np.array(-1 / k)}, top))

    return in_precision(_by_recurrence(n, z, top, {(0,): 1 + a - z, (1,): np.ones(())}, step), alpha, x)


def _laguerre_by_alpha(n: Any, alpha: Any, x: Any, order: int = 0) -> Any:
    if _is_whole(n):
        return laguerre_derivative(n, alpha, x, order=order + 1)
    return by_parameter(lambda alpha: laguerre_derivative(n, alpha, x, order=order), alpha)


laguerre_derivative: Op = elementwise(
    _laguerre,
    lambda n, alpha, x, order: by_parameter(lambda n: laguerre_derivative(n, alpha, x, order=order), n),
    _laguerre_by_alpha,
    lambda n, alpha, x, order: -laguerre_derivative(n - 1, alpha + 1, x, order=order),
    name="derivative of eval_genlaguerre",
    names=("n", "alpha", "x"),
    samples=lambda draw: [
        ((3, draw.between((0.5, 2.0), (2, 1)), draw.between((0.5, 3.0), (3,))), {"order": 0}),
        ((np.array([4, 1]), draw.between((0.5, 2.0), (2,)), draw.between((0.5, 3.0), (2,))), {"order": 1}),
        ((5, draw.between((0.5, 2.0), ()), draw.between((0.5, 3.0), ())), {"order": 2}),
        (
            (draw.between(REAL_DEGREES, (2,)), draw.between((0.5, 2.0), ()), draw.between((0.5, 3.0), (2,))),
            {"order": 0},
        ),
    ],
    doc="A derivative of a Laguerre polynomial by its parameter. Derivatives: the next one, and that of degree n - 1.",
)
eval_genlaguerre: Op = function_row(
    "eval_genlaguerre",
    lambda n, alpha, x: by_parameter(lambda n: eval_genlaguerre(n, alpha, x), n),
    lambda n, alpha, x: _laguerre_by_alpha(n, alpha, x),
    lambda n, alpha, x: -laguerre_derivative(n - 1, alpha + 1, x, order=0),
    names=("n", "alpha", "x"),
    samples=samples_of_both(
        samples_of(DEGREES, (0.5, 2.0), (0.5, 3.0)), samples_of(REAL_DEGREES, (0.5, 2.0), (0.5, 3.0))
    ),
    doc=(
        "The generalised Laguerre polynomial of degree n and parameter alpha",
        "by n, numerically; by the recurrence in alpha, and -eval_genlaguerre(n - 1, alpha + 1, x) in x",
        "eval_genlaguerre(3, 1.5, 0.5) -> 3.16666667, 4.08333333, -5.75",
    ),
)
eval_laguerre = _of_degree(
    "eval_laguerre",
    lambda n, x: -laguerre_derivative(n - 1, 1.0, x, order=0),
    ("The Laguerre polynomial", "-eval_genlaguerre(n - 1, 1, x)", "eval_laguerre(3, 0.5) -> -0.14583333, -1.625"),
    (0.5, 3.0),
)


def assoc_laguerre(x: Any, n: Any, k: Any = 0.0) -> Any:
    """The generalised Laguerre polynomial of degree n and parameter k: eval_genlaguerre(n, k, x).

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda x: gt.special.assoc_laguerre(x, 3, 1.0))(gt.tensor(0.5))
    (Tensor(1.47916667), Tensor(-4.125))
    """
    return eval_genlaguerre(n, k, x)


# -- Jacobi: with s = 2k + a + b, 2k (k + a + b) (s - 2) P_k = (s - 1) (s (s - 2) x + a^2 - b^2) P_(k-1)
#    - 2 (k + a - 1) (k + b - 1) s P_(k-2), and P_n' = (n + a + b + 1) / 2 P_(n-1) of a + 1 and b + 1


def _jacobi(n: Any, alpha: Any, beta: Any, x: Any, i: int, j: int) -> Any:
    if i == j == 0:
        return in_precision(_plain("eval_jacobi", n, alpha, beta, x), alpha, beta, x)
    refuse_complex(x)
    a, b, z = np.asarray(alpha, float), np.asarray(beta, float), np.asarray(x, float)
    top, one = (i, j), np.ones(())

    def linear(value: Any, in_a: float, in_b: float) -> Series:
        return {(0, 0): value + 0 * z, (1, 0): in_a * one, (0, 1): in_b * one}

    def step(k: int, p: Series, q: Series) -> Series:
        s = 2 * k + a + b
        squares = times(linear(a - b, 1, -1), linear(a + b, 1, 1), top)
        middle = times(linear(s, 1, 1), linear(s - 2, 1, 1), top)
        middle = plus({power: c * z for power, c in middle.items()}, squares)
        left = times(times(p, linear(s - 1, 1, 1), top), middle, top)
        right = times(times(linear(-2 * (k + a - 1), -2, 0), linear(k + b - 1, 0, 1), top), linear(s, 1, 1), top)
        whole = plus(left, times(q, right, top))
        below = times(reciprocal(2 * k * (k + a + b), (2.0 * k, 2.0 * k), top), reciprocal(s - 2, (1.0, 1.0), top), top)
        return times(whole, below, top)

    first: Series = {(0, 0): (a - b + (a + b + 2) * z) / 2, (1, 0): (1 + z) / 2, (0, 1): (z - 1) / 2}
    return in_precision(_by_recurrence(n, z, top, first, step), alpha, beta, x)


def _jacobi_slope(n: Any, alpha: Any, beta: Any, x: Any, i: int, j: int) -> Any:
    """Of (n + a + b + 1) / 2 P_(n-1), whose factor depends on the parameters too."""

    def lower(i: int, j: int) -> Any:
        return jacobi_derivative(n - 1, alpha + 1, beta + 1, x, i=i, j=j)

    found = 0.5 * (n + alpha + beta + 1) * lower(i, j)
    found = found + 0.5 * i * lower(i - 1, j) if i else found
    return found + 0.5 * j * lower(i, j - 1) if j else found


def _jacobi_by_alpha(n: Any, alpha: Any, beta: Any, x: Any, i: int = 0, j: int = 0) -> Any:
    if _is_whole(n):
        return jacobi_derivative(n, alpha, beta, x, i=i + 1, j=j)
    return by_parameter(lambda alpha: jacobi_derivative(n, alpha, beta, x, i=i, j=j), alpha)


def _jacobi_by_beta(n: Any, alpha: Any, beta: Any, x: Any, i: int = 0, j: int = 0) -> Any:
    if _is_whole(n):
        return jacobi_derivative(n, alpha, beta, x, i=i, j=j + 1)
    return by_parameter(lambda beta: jacobi_derivative(n, alpha, beta, x, i=i, j=j), beta)


jacobi_derivative: Op = elementwise(
    _jacobi,
    lambda n, alpha, beta, x, i, j: by_parameter(lambda n: jacobi_derivative(n, alpha, beta, x, i=i, j=j), n),
    _jacobi_by_alpha,
    _jacobi_by_beta,
    _jacobi_slope,
    name="derivative of eval_jacobi",
    names=("n", "alpha", "beta", "x"),
    samples=lambda draw: [
        ((n, *(draw.between((0.5, 2.0), s) for s in shapes), draw.between(UNIT, last)), {"i": i, "j": j})
        for n, shapes, last, i, j in (
            (3, ((2, 1), (3,)), (), 0, 0),
            (4, ((2,), (2,)), (2,), 1, 0),
            (4, ((), ()), (2,), 0, 1),
            (5, ((), ()), (), 1, 1),
            (0, ((), ()), (), 1, 0),
            (draw.between(REAL_DEGREES, (2,)), ((2,), ()), (), 0, 0),
        )
    ],
    doc="A derivative of a Jacobi polynomial by its parameters. Derivatives: the next ones, and that of degree n - 1.",
)
eval_jacobi: Op = function_row(
    "eval_jacobi",
    lambda n, alpha, beta, x: by_parameter(lambda n: eval_jacobi(n, alpha, beta, x), n),
    lambda n, alpha, beta, x: _jacobi_by_alpha(n, alpha, beta, x),
    lambda n, alpha, beta, x: _jacobi_by_beta(n, alpha, beta, x),
    lambda n, alpha, beta, x: _jacobi_slope(n, alpha, beta, x, 0, 0),
    names=("n", "alpha", "beta", "x"),
    samples=samples_of_both(
        samples_of(DEGREES, (0.5, 2.0), (0.5, 2.0), UNIT), samples_of(REAL_DEGREES, (0.5, 2.0), (0.5, 2.0), UNIT)
    ),
    doc=(
        "The Jacobi polynomial of degree n and parameters alpha and beta",
        "by n, numerically; by the recurrence in the parameters; "
        "(n + alpha + beta + 1) / 2 eval_jacobi(n - 1, alpha + 1, beta + 1, x) in x",
        "eval_jacobi(3, 1.5, 0.5, 0.25) -> -0.8203125, -0.21158854, -0.12304687, 0.",
    ),
)


def _shifted_in_p(n: Any, p: Any, q: Any, x: Any, out: Any) -> Any:
    scale = binom_in_total(2 * n + p - 1, n) / binom(2 * n + p - 1, n)
    return _jacobi_by_alpha(n, p - q, q - 1, 2 * x - 1) / binom(2 * n + p - 1, n) - out * scale


def _shifted_in_q(n: Any, p: Any, q: Any, x: Any) -> Any:
    arguments = n, p - q, q - 1, 2 * x - 1
    return (_jacobi_by_beta(*arguments) - _jacobi_by_alpha(*arguments)) / binom(2 * n + p - 1, n)


# P_n of the parameters p - q and q - 1 at 2 x - 1, over binom(2n + p - 1, n)
eval_sh_jacobi: Op = function_row(
    "eval_sh_jacobi",
    lambda n, p, q, x: by_parameter(lambda n: eval_sh_jacobi(n, p, q, x), n),
    _shifted_in_p,
    _shifted_in_q,
    lambda n, p, q, x: 2 * _jacobi_slope(n, p - q, q - 1, 2 * x - 1, 0, 0) / binom(2 * n + p - 1, n),
    names=("n", "p", "q", "x"),
    samples=samples_of_both(
        samples_of(DEGREES, (2.0, 3.0), (1.2, 1.8), (0.1, 0.9)),
        samples_of(REAL_DEGREES, (2.0, 3.0), (1.2, 1.8), (0.1, 0.9)),
    ),
    doc=(
        "eval_jacobi(n, p - q, q - 1, 2 x - 1) / binom(2 n + p - 1, n): the Jacobi polynomial on [0, 1]",
        "those of eval_jacobi and binom",
        "eval_sh_jacobi(3, 2.5, 1.5, 0.25) -> 0.01378934, -0.00403418, 0.00110723, 0.02596154",
    ),
)
