"""The gamma function and its relatives: logarithm, digamma, polygamma, beta, zeta."""

from __future__ import annotations

import importlib
from math import factorial, log, pi
from typing import Any

import numpy as np

from gradtape.core.batch import batch_elementwise
from gradtape.core.operation import Op
from gradtape.core.rules import constant, elementwise
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import OperandError
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.special.declare import no_slope, result_dtype, row, scipy_kernel, scipy_ufunc

POSITIVE = (0.5, 3.0)
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
"""B_2, B_4, ... of the expansions for large arguments."""

# -- the gamma function

gamma = row(
    "gamma",
    lambda out, x: out * digamma(x),
    domain=[POSITIVE],
    doc=("The gamma function", "gamma(x) digamma(x)", "gamma(3.0) -> 2., 1.84556867"),
)
gammaln = row(
    "gammaln",
    lambda x: digamma(x),
    domain=[POSITIVE],
    doc=("The logarithm of the absolute value of gamma(x)", "digamma(x)", "gammaln(3.0) -> 0.69314718, 0.92278434"),
)
loggamma = row(
    "loggamma",
    lambda x: digamma(x),
    domain=[POSITIVE],
    doc=(
        "The logarithm of gamma(x), complex in the plane and not a number for negative real x",
        "digamma(x)",
        "loggamma(3.0) -> 0.69314718, 0.92278434",
    ),
)
gammasgn = constant(
    scipy_kernel("gammasgn"),
    name="gammasgn",
    batch=batch_elementwise,
    domain=[(-0.8, 3.0)],
    answers=["scipy.special.gammasgn"],
    doc="""The sign of gamma(x). No gradient passes.

    >>> import gradtape as gt
    >>> gt.special.gammasgn(gt.tensor([-0.5, 0.5]))
    Tensor([-1.,  1.])
    """,
)


def rgamma_slope(x: Array) -> Any:
    """-digamma(x) / gamma(x), and left of 1/2 its reflection, which has no pole at 0, -1, -2, ..."""
    left = x < 0.5
    away, near = np.where(left, 1, x), np.where(left, x, 0)
    turned = gamma(1 - near) * (np.cos(pi * near) - np.sin(pi * near) * digamma(1 - near) / pi)
    return np.where(left, turned, -digamma(away) * rgamma(away))


rgamma: Op = row(
    "rgamma",
    rgamma_slope,
    real=True,
    doc=("The reciprocal of gamma(x)", "-digamma(x) / gamma(x)", "rgamma(3.0) -> 0.5, -0.46139217"),
)

# -- its logarithmic derivatives


digamma: Op = row(
    "psi",
    lambda x: polygamma(1, x),
    domain=[POSITIVE],
    doc=("The derivative of log gamma(x)", "polygamma(1, x)", "digamma(3.0) -> 0.92278434, 0.39493407"),
)
psi = digamma


def _polygamma_kernel(n: Any, x: Array) -> Any:
    if np.iscomplexobj(x):
        return _complex_polygamma(n, x)
    zeta_value = scipy_ufunc("zeta")(np.asarray(n) + 1.0, x)
    higher = np.where(np.asarray(n) % 2, 1.0, -1.0) * scipy_ufunc("gamma")(np.asarray(n) + 1.0) * zeta_value
    return np.where(np.equal(n, 0), scipy_ufunc("psi")(x), higher).astype(result_dtype(n, x))


def _complex_polygamma(n: Any, x: Array) -> Any:
    """(-1)^(n+1) n! sum_k (x + k)^-(n+1): term by term until x + k is large, then by the expansion of the rest."""
    orders = np.unique(n)
    if orders.size != 1:
        raise TypeError(f"polygamma of complex numbers takes one order n at a time, not {orders.size} different ones")
    order = int(orders[0])
    if order == 0:
        return scipy_ufunc("psi")(x)
    z = np.asarray(x, complex)
    total = np.zeros_like(z)
    for _ in range(15 + int(max(0.0, -np.min(z.real, initial=0.0)))):
        total = total + factorial(order) / z ** (order + 1)
        z = z + 1
    total = total + factorial(order - 1) / z**order + factorial(order) / (2 * z ** (order + 1))
    for k, number in enumerate(BERNOULLI, start=1):
        total = total + number * factorial(2 * k + order - 1) / factorial(2 * k) / z ** (2 * k + order)
    return np.asarray((-1) ** (order + 1) * total, np.result_type(x))


polygamma: Op = elementwise(
    _polygamma_kernel,
    no_slope("polygamma", "the order n", "give n as an integer"),
    lambda n, x: polygamma(n + 1, x),
    name="polygamma",
    names=("n", "x"),
    samples=lambda draw: [
        ((np.array([0, 1, 2]), draw.between(POSITIVE, (3,))), {}),
        ((np.array([[1], [4]]), draw.between(POSITIVE, (3,))), {}),
        ((2, draw.between(POSITIVE, (2, 3))), {}),
        ((1, draw.between(POSITIVE, ())), {}),
        ((3, draw.between(POSITIVE, (0, 3))), {}),
    ],
    doc="""The n-th derivative of digamma(x), for a constant integer n. Derivative: polygamma(n + 1, x).

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda x: gt.special.polygamma(1, x))(gt.tensor(3.0))
    (Tensor(0.39493407), Tensor(-0.15411381))
    """,
)


def _difference_kernel(x: Array, y: Array) -> Any:
    """digamma(x + y) - digamma(x) without cancellation: ten steps up by the recurrence, then the expansion."""
    dtype = result_dtype(x, y)
    x, y = np.asarray(x, float), np.asarray(y, float)
    regular = (x > 0) & (x + y > 0)
    base, step = np.where(regular, x, 1.0), np.where(regular, y, 0.0)
    total = np.zeros(np.broadcast_shapes(x.shape, y.shape))
    for k in range(10):
        total = total + step / ((base + k) * (base + step + k))
    base = base + 10
    growth = np.log1p(step / base)
    total = total + growth + step / (2 * base * (base + step))
    for k, number in enumerate(BERNOULLI, start=1):
        total = total - number / (2 * k) * np.expm1(-2 * k * growth) / base ** (2 * k)
    with np.errstate(invalid="ignore"):
        elsewhere = scipy_ufunc("psi")(x + y) - scipy_ufunc("psi")(x)
    return np.where(regular, total, elsewhere).astype(dtype)


digamma_difference = elementwise(
    _difference_kernel,
    lambda x, y: polygamma(1, x + y) - polygamma(1, x),
    lambda x, y: polygamma(1, x + y),
    name="digamma difference",
    domain=[POSITIVE, POSITIVE],
    doc="digamma(x + y) - digamma(x), also where y is small beside x. Derivatives: those of the two terms.",
)

# -- beta and the rising factorial

beta = row(
    "beta",
    lambda out, x, y: -out * digamma_difference(x, y),
    lambda out, x, y: -out * digamma_difference(y, x),
    domain=[POSITIVE, POSITIVE],
    doc=(
        "The beta function gamma(x) gamma(y) / gamma(x + y)",
        "beta(x, y) (digamma(x) - digamma(x + y)), and the same of y",
        "beta(1.0, 2.0) -> 0.5, -0.75, -0.25",
    ),
)
betaln = row(
    "betaln",
    lambda x, y: -digamma_difference(x, y),
    lambda x, y: -digamma_difference(y, x),
    domain=[POSITIVE, POSITIVE],
    doc=(
        "The logarithm of beta(x, y)",
        "digamma(x) - digamma(x + y), and the same of y",
        "betaln(1.0, 2.0) -> -0.69314718, -1.5, -0.5",
    ),
)
poch = row(
    "poch",
    lambda out, x, y: out * digamma_difference(x, y),
    lambda out, x, y: out * digamma(x + y),
    domain=[POSITIVE, POSITIVE],
    doc=(
        "The rising factorial gamma(x + y) / gamma(x)",
        "poch(x, y) (digamma(x + y) - digamma(x)) and poch(x, y) digamma(x + y)",
        "poch(1.0, 2.0) -> 2., 3., 1.84556867",
    ),
)

# -- zeta


def _by_exponent() -> Any:
    """The chapter on derivatives by the exponent, which stands on this one."""
    return importlib.import_module("gradtape.ops.special.zeta_functions")


_hurwitz: Op = elementwise(
    scipy_kernel("zeta"),
    lambda s, q: _by_exponent().hurwitz_derivative(s, q, order=1),
    lambda s, q: -s * _hurwitz(s + 1, q),
    name="Hurwitz zeta",
    names=("s", "q"),
    answers=["scipy.special._zeta"],
    samples=lambda draw: [
        ((np.array([2, 3, 4]), draw.between(POSITIVE, (3,))), {}),
        ((np.array([[2], [5]]), draw.between(POSITIVE, (3,))), {}),
        ((2, draw.between(POSITIVE, ())), {}),
        ((draw.between((1.5, 3.0), (2,)), draw.between(POSITIVE, ())), {}),
    ],
)
_riemann = elementwise(
    scipy_kernel("zeta", real=True),
    lambda x: _by_exponent().riemann_derivative(x, order=1),
    name="Riemann zeta",
    domain=[(1.5, 3.0)],
)


def zeta(x: TensorLike, q: TensorLike | None = None) -> Any:
    """The sum of (k + q)^-x over k = 0, 1, ...; q is 1 by default. Differentiable in both.

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda q: gt.special.zeta(2.0, q))(gt.tensor(1.0))
    (Tensor(1.64493407), Tensor(-2.40411381))
    """
    return _riemann(x) if q is None else _hurwitz(x, q)


def multigammaln(a: TensorLike, d: int) -> Any:
    """The logarithm of the multivariate gamma function of dimension `d`: the normaliser of a Wishart density.

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda a: gt.special.multigammaln(a, 2))(gt.tensor(2.0))
    (Tensor(0.45158271), Tensor(0.45927431))
    """
    a = as_value(a)
    if int(d) != d or d < 1:
        raise argument_error(OperandError, f"multigammaln: d={d!r}.", "d is the dimension, a whole number from 1 up")
    total = gammaln(a)
    for step in range(1, int(d)):
        total = total + gammaln(a - step / 2)
    return total + d * (d - 1) / 4 * log(pi)
