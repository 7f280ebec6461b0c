"""Logistic functions, x log y and its relatives, and exponentials with care: what likelihoods are made of."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any

import numpy as np

from gradtape.core.batch import repeat_for_batch
from gradtape.core.operation import Op, apply
from gradtape.core.rules import constant, elementwise, general
from gradtape.core.typing import Array, Axis, TensorLike
from gradtape.ops.arguments import all_axes, as_value, restore_reduced_axes
from gradtape.ops.elementwise import where
from gradtape.ops.shaping import broadcast_arrays
from gradtape.ops.softmax import log_softmax as log_softmax_along
from gradtape.ops.softmax import logsumexp as logsumexp_along
from gradtape.ops.softmax import sigmoid
from gradtape.ops.softmax import softmax as softmax_along
from gradtape.ops.special.declare import result_dtype, row, scipy_ufunc

POSITIVE = (0.5, 2.0)

# -- logistic

expit = sigmoid
logit = row(
    "logit",
    lambda x: 1 / (x * (1 - x)),
    domain=[(0.1, 0.9)],
    doc=("log(x / (1 - x)), the inverse of expit", "1 / (x (1 - x))", "logit(0.25) -> -1.09861229, 5.33333333"),
)
log_expit = row(
    "log_expit",
    lambda x: sigmoid(-x),
    doc=("log(expit(x)), without underflow", "expit(-x)", "log_expit(0.0) -> -0.69314718, 0.5"),
)

# -- x log y, which is 0 where x is


def _share(x: Array, y: Array) -> Any:
    """x / y, and 0 where both are 0."""
    return x / np.where((x == 0) & (y == 0), 1, y)


def _log_quotient(x: Array, y: Array) -> Any:
    """log(x / y), also where the quotient itself would be too large or too small for a number."""
    quotient = x / y
    in_range = (quotient > 0) & (quotient < np.inf)
    return np.where(in_range, np.log(np.where(in_range, quotient, 1)), np.log(x) - np.log(y))


xlogy = row(
    "xlogy",
    lambda y: np.log(y),
    lambda x, y: _share(x, y),
    domain=[POSITIVE, POSITIVE],
    doc=("x log(y), and 0 where x is", "log(y) and x / y", "xlogy(2.0, 4.0) -> 2.77258872, 1.38629436, 0.5"),
)
xlog1py = row(
    "xlog1py",
    lambda y: np.log1p(y),
    lambda x, y: _share(x, 1 + y),
    domain=[POSITIVE, POSITIVE],
    doc=(
        "x log(1 + y), and 0 where x is",
        "log(1 + y) and x / (1 + y)",
        "xlog1py(2.0, 3.0) -> 2.77258872, 1.38629436, 0.5",
    ),
)
entr = row(
    "entr",
    lambda x: -np.log(x) - 1,
    domain=[POSITIVE],
    doc=("-x log(x), 0 at 0: a term of an entropy", "-log(x) - 1", "entr(2.0) -> -1.38629436, -1.69314718"),
)
rel_entr = row(
    "rel_entr",
    lambda x, y: _log_quotient(x, y) + 1,
    lambda x, y: -_share(x, y),
    domain=[POSITIVE, POSITIVE],
    doc=(
        "x log(x / y), 0 at x = 0: a term of a relative entropy",
        "log(x / y) + 1 and -x / y",
        "rel_entr(2.0, 4.0) -> -1.38629436, 0.30685282, -0.5",
    ),
)
kl_div = row(
    "kl_div",
    lambda x, y: _log_quotient(x, y),
    lambda x, y: 1 - _share(x, y),
    domain=[POSITIVE, POSITIVE],
    doc=(
        "x log(x / y) - x + y: a term of a divergence, never negative",
        "log(x / y) and 1 - x / y",
        "kl_div(2.0, 4.0) -> 0.61370564, -0.69314718, 0.5",
    ),
)

# -- (exp(x) - 1) / x: its n-th derivative is the integral of t^n exp(x t) from 0 to 1


def _exprel_derivative(x: Array, order: int) -> Any:
    dtype = result_dtype(x)
    x = np.asarray(x, float)
    near = np.where(np.abs(x) < 1, x, 0.0)
    series = sum(near**k / (factorial(k) * (order + k + 1)) for k in range(20))
    left = np.where(x <= -1, -x, 1.0)  # n! gammainc(n + 1, -x) / (-x)^(n + 1)
    falling = factorial(order) * scipy_ufunc("gammainc")(order + 1.0, left) / left ** (order + 1)
    right = np.where(x >= 1, x, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        power = np.exp(right)
        rising = np.expm1(right) / right
        for n in range(1, order + 1):  # by parts
            rising = (power - n * rising) / right
        rising = np.where(np.isinf(power), np.inf, rising)
    return np.where(np.abs(x) < 1, series, np.where(x < 0, falling, rising)).astype(dtype)


exprel_derivative: Op = elementwise(
    _exprel_derivative,
    lambda x, order: exprel_derivative(x, order=order + 1),
    name="derivative of exprel",
    samples=lambda draw: [((draw(3, 4),), {"order": 1}), ((draw(),), {"order": 2}), ((5 * draw(4),), {"order": 1})],
    doc="A derivative of exprel, of the given order. Derivative: the next one.",
)
exprel = row(
    "exprel",
    lambda x: exprel_derivative(x, order=1),
    doc=(
        "(exp(x) - 1) / x, 1 at 0",
        "((x - 1) exp(x) + 1) / x^2, 1/2 at 0",
        "exprel(1.0) -> 1.71828183, 1.",
    ),
)

# -- exponential integrals, and the ufuncs that SciPy has beside NumPy's

exp1 = row(
    "exp1",
    lambda x: -np.exp(-x) / x,
    domain=[POSITIVE],
    doc=("The integral of exp(-t) / t from x up", "-exp(-x) / x", "exp1(1.0) -> 0.21938393, -0.36787944"),
)
expi = row(
    "expi",
    lambda x: np.exp(x) / x,
    domain=[POSITIVE],
    doc=("The integral of exp(t) / t up to x", "exp(x) / x", "expi(1.0) -> 1.89511782, 2.71828183"),
)
exp10 = row(
    "exp10",
    lambda out: out * float(np.log(10)),
    doc=("10 to the power x", "exp10(x) log(10)", "exp10(1.0) -> 10., 23.02585093"),
)
cosm1 = row(
    "cosm1",
    lambda x: -np.sin(x),
    doc=("cos(x) - 1, exact near 0", "-sin(x)", "cosm1(1.0) -> -0.45969769, -0.84147098"),
)

# -- sums of exponentials, with SciPy's signatures


def softmax(x: TensorLike, axis: Axis = None) -> Any:
    """exp(x) normalised to sum to 1 along `axis` (over everything by default).

    >>> import gradtape as gt
    >>> gt.special.softmax(gt.tensor([[0.0, 0.0], [0.0, 0.0]]))
    Tensor([[0.25, 0.25],
            [0.25, 0.25]])
    """
    return softmax_along(x, axis)


def log_softmax(x: TensorLike, axis: Axis = None) -> Any:
    """log(softmax(x)) along `axis` (over everything by default), exact for large differences too.

    >>> import gradtape as gt
    >>> gt.special.log_softmax(gt.tensor([0.0, -1000.0]))
    Tensor([    0., -1000.])
    """
    return log_softmax_along(x, axis)


def _weighted_total(a: Array, b: Array, axis: tuple[int, ...]) -> tuple[Any, Any]:
    """sum(b exp(a - top)) and a top that keeps it in range; what has no weight has no say, even at infinity."""
    exponent = np.where(b == 0, -np.inf, a)
    top = np.max(exponent, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    return np.sum(b * np.exp(exponent - top), axis=axis, keepdims=True), top


def _weighted_kernel(a: Array, b: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
    dtype = result_dtype(a, b)
    total, top = _weighted_total(a, b, axis)
    with np.errstate(divide="ignore"):
        level = (np.log(np.abs(total)) + top).astype(dtype)
    return level if keepdims else np.squeeze(level, axis)


def _weighted_shares(a: Array, b: Array, out: Array, axis: tuple[int, ...], keepdims: bool) -> tuple[Any, Any]:
    """exp(a - out) b and exp(a - out), both divided by the sign of the sum."""
    level = restore_reduced_axes(out, axis, keepdims, a.ndim)
    powers = np.exp(a - np.where(np.isneginf(level), 0, level))
    weighted = b * np.where((b == 0) & np.isinf(powers), 0, powers)
    sign = np.sum(weighted, axis=axis, keepdims=True)
    sign = np.where(sign == 0, 1, sign)
    return weighted / sign, powers / sign


def _weighted_reverse(
    g: Array, a: Array, b: Array, out: Array, axis: tuple[int, ...], keepdims: bool
) -> tuple[Any, Any]:
    for_a, for_b = _weighted_shares(a, b, out, axis, keepdims)
    spread_out = restore_reduced_axes(g, axis, keepdims, a.ndim)
    return spread_out * for_a, spread_out * for_b


def _weighted_forward(da: Any, db: Any, a: Array, b: Array, out: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
    for_a, for_b = _weighted_shares(a, b, out, axis, keepdims)
    return (da * for_a + db * for_b).sum(axis=axis, keepdims=keepdims)


def _batch_weighted(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    size = next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag)
    spreads = tuple(v if flag else repeat_for_batch(v, size) for v, flag in zip(values, flags, strict=True))
    return apply(op, spreads, {**params, "axis": tuple(axis + 1 for axis in params["axis"])})


_WEIGHTED_SAMPLES: Any = lambda draw: [
    ((draw(3, 4), draw.between(POSITIVE, (3, 4))), {"axis": (1,), "keepdims": False}),
    ((draw(3, 4), draw(3, 4)), {"axis": (0, 1), "keepdims": True}),
    ((draw(2), np.array([0.0, 2.0])), {"axis": (0,), "keepdims": False}),
]
_weighted_logsumexp = general(
    _weighted_kernel,
    reverse=_weighted_reverse,
    forward=_weighted_forward,
    name="weighted logsumexp",
    names=("a", "b"),
    inputs=2,
    batch=_batch_weighted,
    samples=_WEIGHTED_SAMPLES,
)
_weighted_sign = constant(
    lambda a, b, axis, keepdims: np.sign(
        np.sum(_weighted_total(a, b, axis)[0], axis=axis, keepdims=keepdims)  # the axes already have length 1
    ),
    name="sign of a weighted logsumexp",
    batch=_batch_weighted,
    samples=_WEIGHTED_SAMPLES,
)


def logsumexp(
    a: Any, axis: Any = None, b: TensorLike | None = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """log(sum(b exp(a))) along `axis` without overflow; the weights `b` are 1 by default.

    Where the sum is negative the result is not a number, unless `return_sign` asks for the logarithm of its absolute
    value and for its sign, which has no gradient.

    >>> import gradtape as gt
    >>> gt.special.logsumexp(gt.tensor([1000.0, 1000.0]), b=[0.5, 0.5])
    Tensor(1000.)
    """
    if b is None and not return_sign:
        return logsumexp_along(a, axis, keepdims)
    a = as_value(a)
    a, b = broadcast_arrays(a, np.ones((), a.dtype) if b is None else b)
    axes = all_axes(axis, a.ndim)
    level = _weighted_logsumexp(a, b, axis=axes, keepdims=keepdims)
    sign = _weighted_sign(a, b, axis=axes, keepdims=keepdims)
    return (level, sign) if return_sign else where(sign < 0, np.nan, level)
