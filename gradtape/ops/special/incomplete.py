"""The incomplete gamma and beta functions: the distribution functions behind chi squared, Poisson, Student, F.

SciPy gives their values; the derivatives with respect to the shapes are integrals, and are computed as such. With
t the variable under the integral sign, u = log t (gamma) or logit t (beta) and h the logarithm of the density of u,

    d^k/da^k of the integral of exp(h) du  =  the integral of exp(h) B_k du,

where B_k = exp(-h) d^k/da^k exp(h) is a polynomial in the derivatives of h: log t - digamma(a), -polygamma(1, a), ...
Over the whole line it vanishes. B_1 changes its sign once, so that of the two sides of x there is one where all of it
has the same sign: nothing cancels, and the result is right to about 13 digits however small it is. Gauss' rule with 64
nodes spans the stretch over which exp(h) falls by 18 digits. For a shape below 1 the fall towards -inf is slow; there
a step up, F(a) = F(a + 1) + a term in closed form of the same sign, comes first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import comb, log, pi
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.core.typing import Array, TensorLike
from gradtape.ops.special.declare import double_kernel, result_dtype, row, samples_apart, scipy_ufunc
from gradtape.ops.special.gamma import BERNOULLI, POSITIVE, digamma, digamma_difference, polygamma

FALL = 42.0
"""Where the integrals end: at exp(-42) of where they begin."""

UNIT = (0.2, 0.8)


@cache
def _nodes() -> tuple[Any, Any]:
    """Gauss' nodes and weights for the interval from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    return (nodes + 1) / 2, weights / 2


def _reach(start: Array, fall: Callable[[Any], Any], slope: Callable[[Any], Any]) -> Any:
    """How far to go for a convex function `fall` to reach FALL, from a `start` beyond that: Newton's method."""
    width = start
    for _ in range(60):
        excess = fall(width) - FALL
        if np.all(excess < 1):
            break
        width = width - np.maximum(excess, 0) / slope(width)
    return width


def _stirling(x: Array) -> Any:
    """log gamma(x) - (x log x - x - log(x / 2 pi) / 2)"""
    large = np.maximum(x, 10.0)
    series = sum(b / (2 * k * (2 * k - 1) * large ** (2 * k - 1)) for k, b in enumerate(BERNOULLI, start=1))
    small = np.minimum(x, 10.0)
    exact = scipy_ufunc("gammaln")(small) - (small * np.log(small) - small - 0.5 * np.log(small / (2 * pi)))
    return np.where(x < 10, exact, series)


def _log_ratio(excess: Any, ratio: Any) -> Any:
    """log(ratio), where `excess` is ratio - 1 to full accuracy."""
    near = np.abs(excess) < 0.5
    return np.where(near, np.log1p(np.where(near, excess, 0)), np.log(np.where(near, 1, ratio)))


def _in_domain(result: Any, inside: Array, outside: Array, *inputs: Array) -> Any:
    """`result` of the inputs where they are `inside`, and `outside` elsewhere."""
    arrays = np.broadcast_arrays(*inputs)
    answer = np.array(np.broadcast_to(outside, arrays[0].shape), float)
    if np.any(inside):
        answer[inside] = result(*(array[inside] for array in arrays))
    return answer


Slopes = dict[tuple[int, int], Any]
"""The derivatives of h: at (i, j), i times with respect to the first shape and j times to the second."""


def _polynomial(i: int, j: int, slopes: Slopes) -> Any:
    """B = exp(-h) d^i/da^i d^j/db^j exp(h), by taking one derivative of exp(h) and the others of that product."""
    if i == j == 0:
        return 1.0
    outer, inner = (i - 1, j) if i else (i, j - 1)
    first = (1, 0) if i else (0, 1)
    return sum(
        comb(outer, p) * comb(inner, q) * _polynomial(outer - p, inner - q, slopes) * slopes[p + first[0], q + first[1]]
        for p in range(outer + 1)
        for q in range(inner + 1)
    )


# -- gamma: h = a u - exp(u) - log gamma(a)


def _log_gamma_mass(a: Array, x: Array) -> Any:
    """The logarithm of x times the gamma density, from its height at the mode: nothing large cancels."""
    is_far = x > 4 * a  # where x / a may be too large for a number, and the difference loses nothing
    point = np.where(is_far, a, x)
    excess = (point - a) / a
    near = a * (_log_ratio(excess, point / a) - excess)
    distance = np.where(is_far, a * (np.log(x) - np.log(a)) - (x - a), near)
    return distance + 0.5 * np.log(a / (2 * pi)) - _stirling(a)


def _gamma_slopes(order: int, log_t: Array, a: Array) -> Slopes:
    """In NumPy, so that they can be differentiated."""
    return {(1, 0): log_t - digamma(a), **{(k, 0): -polygamma(k - 1, a) for k in range(2, order + 1)}}


def _over(log_mass: Any, x: Array) -> Any:
    """exp(log_mass) / x, also where the mass is too small for a number."""
    return np.where(log_mass > -700, np.exp(log_mass) / x, np.exp(log_mass - np.log(x)))


def _gamma_density_kernel(a: Array, x: Array) -> Any:
    dtype = result_dtype(a, x)
    a, x = np.asarray(a, float), np.asarray(x, float)
    with np.errstate(invalid="ignore"):
        inside = (a > 0) & (x > 0) & (x < np.inf)
        at_zero = np.where(a < 1, np.inf, np.where(a == 1, 1.0, 0.0))
        outside = np.where((a > 0) & (x >= 0), np.where(x == 0, at_zero, 0.0), np.nan)
        return _in_domain(lambda a, x: _over(_log_gamma_mass(a, x), x), inside, outside, a, x).astype(dtype)


gamma_density = elementwise(
    _gamma_density_kernel,
    lambda a, x, out: out * (_log(x) - digamma(a)),
    lambda a, x, out: _at_end(x == 0, a, 1.0, out * ((a - 1) / np.where(x == 0, 1, x) - 1)),
    name="gamma density",
    names=("a", "x"),
    domain=[POSITIVE, POSITIVE],
    doc="x^(a-1) exp(-x) / gamma(a). Derivatives: that times log(x) - digamma(a), and times (a - 1) / x - 1.",
)


def _at_end(ends: Any, shape: Any, steep: Any, inside: Array) -> Any:
    """The slope of a density, also at an end where it rises from 0 like t^(shape - 1): `steep` for the shape 2."""
    rising = ends & (shape > 1) & (shape <= 2)
    at_end = np.where(shape == 2, steep, np.copysign(np.inf, steep))
    return np.where(rising, at_end.astype(inside.dtype), inside)


def _log(x: Array) -> Any:
    """log(x), and 0 at 0, where it is multiplied by a density of 0."""
    return np.log(np.where(x == 0, 1, x))


def _beyond_reach(a: Array, x: Array) -> Any:
    """Some w with x (exp(w) - 1) - a w > FALL: from the line (x - a) w if x is large, else from a parabola."""
    is_far = x > 2 * a
    return np.where(is_far, FALL / np.where(is_far, x - a, 1), (0.5 + np.sqrt(0.25 + 2 * FALL * x)) / x)


def _gamma_integral(a: Array, x: Array, order: int) -> Any:
    """d^k/da^k of the lower incomplete gamma function, for a > 0 and 0 < x < inf."""
    step = a < 1
    raised = np.where(step, a + 1, a)
    below = np.log(x) < scipy_ufunc("psi")(raised)
    shape, side = np.where(below, raised, a), np.where(below, -1.0, 1.0)
    width = _reach(
        np.where(below, (FALL + x) / shape, _beyond_reach(shape, x)),
        lambda w: x * np.expm1(side * w) - shape * side * w,
        lambda w: side * (x * np.exp(side * w) - shape),
    )
    slopes = _gamma_slopes(order, np.log(shape), shape)
    centre, log_x = slopes[1, 0], np.log(x / shape)
    total = np.zeros_like(x)
    for node, weight in zip(*_nodes(), strict=True):
        r = side * width * node
        slopes[1, 0] = log_x + r + centre
        total = total + weight * _polynomial(order, 0, slopes) * np.exp(shape * r - x * np.expm1(r))
    result = -side * width * total * np.exp(_log_gamma_mass(shape, x))
    stepped = np.exp(_log_gamma_mass(raised, x)) / x * _polynomial(order, 0, _gamma_slopes(order, np.log(x), raised))
    return result + np.where(below & step, stepped, 0)


def _gamma_derivative_kernel(a: Array, x: Array, order: int) -> Any:
    dtype = result_dtype(a, x)
    a, x = np.asarray(a, float), np.asarray(x, float)
    inside = (a > 0) & (a < np.inf) & (x > 0) & (x < np.inf)
    outside = np.where((a > 0) & (x >= 0), 0.0, np.nan)
    return _in_domain(lambda a, x: _gamma_integral(a, x, order), inside, outside, a, x).astype(dtype)


gamma_derivative: Op = elementwise(
    _gamma_derivative_kernel,
    lambda a, x, order: gamma_derivative(a, x, order=order + 1),
    lambda a, x, order: gamma_density(a, x) * _polynomial(order, 0, _gamma_slopes(order, _log(x), a)),
    name="derivative of gammainc",
    names=("a", "x"),
    samples=lambda draw: [
        ((draw.between(POSITIVE, (3, 1)), draw.between(POSITIVE, (4,))), {"order": 1}),
        ((draw.between(POSITIVE, ()), draw.between(POSITIVE, (2, 3))), {"order": 2}),
        ((draw.between((8.0, 30.0), (3,)), draw.between((8.0, 30.0), (3,))), {"order": 1}),
    ],
    doc="A derivative of gammainc with respect to a, of the given order. Derivatives: the next, and of the density.",
)
gammainc = row(
    "gammainc",
    lambda a, x: gamma_derivative(a, x, order=1),
    lambda a, x: gamma_density(a, x),
    names=("a", "x"),
    domain=[POSITIVE, POSITIVE],
    doc=(
        "The regularised lower incomplete gamma function: the distribution function of the gamma distribution",
        "by quadrature in the shape a, and the density x^(a-1) exp(-x) / gamma(a) in x",
        "gammainc(2.0, 3.0) -> 0.80085173, -0.19742542, 0.14936121",
    ),
)
gammaincc = row(
    "gammaincc",
    lambda a, x: -gamma_derivative(a, x, order=1),
    lambda a, x: -gamma_density(a, x),
    names=("a", "x"),
    domain=[POSITIVE, POSITIVE],
    doc=(
        "1 - gammainc(a, x), exact where it is small",
        "those of gammainc with the other sign",
        "gammaincc(2.0, 3.0) -> 0.19914827, 0.19742542, -0.14936121",
    ),
)
gammaincinv = row(
    "gammaincinv",
    lambda a, out: -gamma_derivative(a, out, order=1) / gamma_density(a, out),
    lambda a, out: 1 / gamma_density(a, out),
    names=("a", "y"),
    samples=samples_apart(POSITIVE, UNIT),
    doc=(
        "The x at which gammainc(a, x) is y: the quantile of the gamma distribution",
        "by the implicit function theorem; in y it is 1 / density",
        "gammaincinv(2.0, 0.5) -> 1.67834699, 0.99329489, 3.19164869",
    ),
)
gammainccinv = row(
    "gammainccinv",
    lambda a, out: -gamma_derivative(a, out, order=1) / gamma_density(a, out),
    lambda a, out: -1 / gamma_density(a, out),
    names=("a", "y"),
    samples=samples_apart(POSITIVE, UNIT),
    doc=(
        "The x at which gammaincc(a, x) is y",
        "by the implicit function theorem; in y it is -1 / density",
        "gammainccinv(2.0, 0.5) -> 1.67834699, 0.99329489, -3.19164869",
    ),
)

# -- beta: h = a log t + b log(1 - t) - log beta(a, b), with t = 1 / (1 + exp(-u))

_BETA_SAMPLES = samples_apart(POSITIVE, POSITIVE, UNIT)


def _log_beta_mass(a: Array, b: Array, x: Array, y: Array) -> Any:
    """The logarithm of x y times the beta density, y = 1 - x, from its height at the mode."""
    excess, total = b * x - a * y, a + b
    distance = a * _log_ratio(excess / a, x * (total / a)) + b * _log_ratio(-excess / b, y * (total / b))
    height = 0.5 * (log(0.5 / pi) + np.log(a) + np.log(b / total)) - _stirling(a) - _stirling(b) + _stirling(total)
    return distance + height


def _beta_slopes(
    i: int, j: int, log_t: TensorLike, log_s: Any, a: TensorLike, after_a: Any, b: Array, after_b: Any
) -> Slopes:
    """Those of a log t + b log s + log gamma(c) - log gamma(a) - log gamma(b), where c = a + after_a = b + after_b."""
    found: Slopes = {}
    for p in range(i + 1):
        for q in range(j + 1):
            if p + q == 1:
                found[p, q] = log_t + digamma_difference(a, after_a) if p else log_s + digamma_difference(b, after_b)
            elif p + q:
                found[p, q] = polygamma(p + q - 1, a + after_a)
                if not q:
                    found[p, q] = found[p, q] - polygamma(p - 1, a)
                elif not p:
                    found[p, q] = found[p, q] - polygamma(q - 1, b)
    return found


def _beta_density_kernel(a: Array, b: Array, x: Array) -> Any:
    dtype = result_dtype(a, b, x)
    a, b, x = np.asarray(a, float), np.asarray(b, float), np.asarray(x, float)
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1)
    shape = np.where(x == 0, a, b)
    at_end = np.where(shape < 1, np.inf, np.where(shape == 1, a * b, 0.0))
    outside = np.where((a > 0) & (b > 0) & ((x == 0) | (x == 1)), at_end, np.nan)
    return _in_domain(
        lambda a, b, x: _over(_log_beta_mass(a, b, x, 1 - x), x * (1 - x)), inside, outside, a, b, x
    ).astype(dtype)


beta_density = elementwise(
    _beta_density_kernel,
    lambda a, b, x, out: out * (_log(x) + digamma_difference(a, b)),
    lambda a, b, x, out: out * (_log1m(x) + digamma_difference(b, a)),
    lambda a, b, x, out: _beta_density_slope(a, b, x, out),
    name="beta density",
    names=("a", "b", "x"),
    samples=_BETA_SAMPLES,
    doc="x^(a-1) (1-x)^(b-1) / beta(a, b). Derivatives: that times those of its logarithm.",
)


def _beta_density_slope(a: Array, b: Array, x: Array, out: Array) -> Any:
    inside = out * ((a - 1) / np.where(x == 0, 1, x) - (b - 1) / np.where(x == 1, 1, 1 - x))
    return _at_end(x == 1, b, -a * (a + 1), _at_end(x == 0, a, b * (b + 1), inside))


def _log1m(x: Array) -> Any:
    """log(1 - x), and 0 at 1, where it is multiplied by a density of 0."""
    return np.log1p(-np.where(x == 1, 0, x))


def _log_part(x: Array, y: Array) -> Any:
    """log(x), where y = 1 - x, from the smaller of the two."""
    small = x < 0.5
    return np.where(small, np.log(np.where(small, x, 1)), np.log1p(-np.where(small, 0, y)))


def _beta_integral(a: Array, b: Array, x: Array, y: Array, i: int, j: int) -> Any:
    """d^i/da^i d^j/db^j of the incomplete beta function, for i > 0, a, b > 0, 0 < x < 1 and y = 1 - x."""
    log_x, log_y = _log_part(x, y), _log_part(y, x)
    below = log_x < -digamma_difference(np.where(a < 1, a + 1, a), b)
    step_a, step_b = below & (a < 1), ~below & (b < 1)
    first, second, side = a + step_a, b + step_b, np.where(below, -1.0, 1.0)

    def fallen(r: Array) -> tuple[Any, Any]:
        """log(x / t) and log(y / (1 - t)) at a distance r from x."""
        return np.log1p(y * np.expm1(-r)), np.log1p(x * np.expm1(r))

    def fall(w: Array) -> Any:
        from_x, from_y = fallen(side * w)
        return first * from_x + second * from_y

    def slope(w: Array) -> Any:
        from_x, from_y = fallen(side * w)
        return side * (second * x * np.exp(-from_x) - first * y * np.exp(-from_y))

    start = np.where(below, (FALL - (first + second) * log_y) / first, (FALL - (first + second) * log_x) / second)
    width = _reach(start, fall, slope)
    slopes = _beta_slopes(i, j, 0.0, 0.0, first, second, second, first)
    centre_x, centre_y = slopes[1, 0] + log_x, (slopes[0, 1] + log_y if j else None)
    total = np.zeros_like(x)
    for node, weight in zip(*_nodes(), strict=True):
        from_x, from_y = fallen(side * width * node)
        slopes[1, 0] = centre_x - from_x
        if j:
            slopes[0, 1] = centre_y - from_y
        total = total + weight * _polynomial(i, j, slopes) * np.exp(-first * from_x - second * from_y)
    result = -side * width * total * np.exp(_log_beta_mass(first, second, x, y))
    rest = np.where(below, b - 1, b), np.where(below, a, a - 1)
    stepped = _polynomial(i, j, _beta_slopes(i, j, log_x, log_y, first, rest[0], second, rest[1]))
    closed = np.exp(_log_beta_mass(a, b, x, y)) / np.where(below, a, b) * stepped
    return result - side * np.where(step_a | step_b, closed, 0)


def _beta_derivative_kernel(a: TensorLike, b: Array, x: Array, i: int, j: int) -> Any:
    dtype = result_dtype(a, b, x)
    a, b, x = np.asarray(a, float), np.asarray(b, float), np.asarray(x, float)
    inside = (a > 0) & (a < np.inf) & (b > 0) & (b < np.inf) & (x > 0) & (x < 1)
    outside = np.where((a > 0) & (b > 0) & (x >= 0) & (x <= 1), 0.0, np.nan)

    def integral(a: Array, b: Array, x: Array) -> Any:  # I(a, b, x) = 1 - I(b, a, 1 - x)
        return _beta_integral(a, b, x, 1 - x, i, j) if i else -_beta_integral(b, a, 1 - x, x, j, i)

    return _in_domain(integral, inside, outside, a, b, x).astype(dtype)


beta_derivative: Op = elementwise(
    _beta_derivative_kernel,
    lambda a, b, x, i, j: beta_derivative(a, b, x, i=i + 1, j=j),
    lambda a, b, x, i, j: beta_derivative(a, b, x, i=i, j=j + 1),
    lambda a, b, x, i, j: beta_density(a, b, x) * _polynomial(i, j, _beta_slopes(i, j, _log(x), _log1m(x), a, b, b, a)),
    name="derivative of betainc",
    names=("a", "b", "x"),
    samples=lambda draw: [
        ((draw.between(POSITIVE, (3, 1)), draw.between(POSITIVE, (2,)), draw.between(UNIT, ())), {"i": 1, "j": 0}),
        ((draw.between(POSITIVE, (2,)), draw.between(POSITIVE, (2,)), draw.between(UNIT, ())), {"i": 0, "j": 1}),
        ((draw.between(POSITIVE, (2,)), draw.between(POSITIVE, (2,)), draw.between(UNIT, ())), {"i": 1, "j": 1}),
        ((draw.between((8.0, 30.0), (2,)), draw.between((8.0, 30.0), (2,)), draw.between(UNIT, ())), {"i": 1, "j": 0}),
    ],
    doc="A derivative of betainc: i times with respect to a, j times to b. Derivatives: the next, and of the density.",
)

betainc = row(
    "betainc",
    lambda a, b, x: beta_derivative(a, b, x, i=1, j=0),
    lambda a, b, x: beta_derivative(a, b, x, i=0, j=1),
    lambda a, b, x: beta_density(a, b, x),
    names=("a", "b", "x"),
    samples=_BETA_SAMPLES,
    kernel=double_kernel("betainc"),
    doc=(
        "The regularised incomplete beta function: the distribution function of the beta distribution",
        "by quadrature in the shapes a and b, and the density x^(a-1) (1-x)^(b-1) / beta(a, b) in x",
        "betainc(2.0, 3.0, 0.25) -> 0.26171875, -0.2280536, 0.10692153, 1.6875",
    ),
)
betaincc = row(
    "betaincc",
    lambda a, b, x: -beta_derivative(a, b, x, i=1, j=0),
    lambda a, b, x: -beta_derivative(a, b, x, i=0, j=1),
    lambda a, b, x: -beta_density(a, b, x),
    names=("a", "b", "x"),
    samples=_BETA_SAMPLES,
    kernel=double_kernel("betaincc"),
    doc=(
        "1 - betainc(a, b, x), exact where it is small",
        "those of betainc with the other sign",
        "betaincc(2.0, 3.0, 0.25) -> 0.73828125, 0.2280536, -0.10692153, -1.6875",
    ),
)
betaincinv = row(
    "betaincinv",
    lambda a, b, out: -beta_derivative(a, b, out, i=1, j=0) / beta_density(a, b, out),
    lambda a, b, out: -beta_derivative(a, b, out, i=0, j=1) / beta_density(a, b, out),
    lambda a, b, out: 1 / beta_density(a, b, out),
    names=("a", "b", "y"),
    samples=_BETA_SAMPLES,
    kernel=double_kernel("betaincinv"),
    doc=(
        "The x at which betainc(a, b, x) is y: the quantile of the beta distribution",
        "by the implicit function theorem; in y it is 1 / density",
        "betaincinv(2.0, 1.0, 0.25) -> 0.5, 0.1732868, -0.26986039, 1.",
    ),
)
betainccinv = row(
    "betainccinv",
    lambda a, b, out: -beta_derivative(a, b, out, i=1, j=0) / beta_density(a, b, out),
    lambda a, b, out: -beta_derivative(a, b, out, i=0, j=1) / beta_density(a, b, out),
    lambda a, b, out: -1 / beta_density(a, b, out),
    names=("a", "b", "y"),
    samples=_BETA_SAMPLES,
    kernel=double_kernel("betainccinv"),
    doc=(
        "The x at which betaincc(a, b, x) is y",
        "by the implicit function theorem; in y it is -1 / density",
        "betainccinv(2.0, 1.0, 0.75) -> 0.5, 0.1732868, -0.26986039, -1.",
    ),
)
