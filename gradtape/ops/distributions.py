"""What `gt.random` and `gt.stats` stand on beside special functions: densities, far tails, and draws that move.

*Densities* of the gamma and the beta distribution by their logarithms, from the height at the mode, so that nothing
large cancels for large shapes. Those of the Poisson, binomial and negative binomial distributions are the same ones.

*Tails* by their logarithms, where the probability itself is too small for a number. They are the integrals of
`special.incomplete` without their common factor: with B_k as there,

    R_k = (the integral of exp(h) B_k) / (the integral of exp(h)),    d/da log of the integral = R_1,
    d/da R_k = R_(k+1) - R_k R_1,    d/dx R_k = (the slope of the logarithm) (B_k(x) - R_k).

*Transport*: the point that has under other parameters the probability that `draw` has under those it was drawn with.
At the very parameters it is the draw itself; its derivatives are those of a draw with fixed randomness, by the implicit
function theorem from F(a, x) = constant: dx/da = -(dF/da) / (dF/dx).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.core.typing import Array, Draw
from gradtape.ops.softmax import sigmoid
from gradtape.ops.special.declare import result_dtype, samples_apart, scipy_kernel, scipy_ufunc
from gradtape.ops.special.entropy import log_expit
from gradtape.ops.special.errorfunctions import normal_hazard
from gradtape.ops.special.gamma import POSITIVE, betaln, digamma, digamma_difference
from gradtape.ops.special.incomplete import (
    FALL,
    _beta_derivative_kernel,
    _beta_integral,
    _beta_slopes,
    _beyond_reach,
    _gamma_integral,
    _gamma_slopes,
    _in_domain,
    _log_beta_mass,
    _log_gamma_mass,
    _nodes,
    _polynomial,
    _reach,
    beta_density,
    beta_derivative,
    gamma_density,
    gamma_derivative,
)

UNIT = (0.2, 0.8)
FARTHEST = 700.0
"""The largest logit whose logistic function is a number to full accuracy on both sides."""


def _arrays(*values: Any) -> list[Any]:
    return [np.asarray(value, float) for value in values]


def _share(x: Array, y: Array) -> Any:
    """x / y, and 0 where both are 0."""
    return x / np.where((x == 0) & (y == 0), 1, y)


# -- densities


def _log_gamma_density_kernel(a: Array, x: Array) -> Any:
    dtype = result_dtype(a, x)
    a, x = _arrays(a, x)
    with np.errstate(invalid="ignore"):
        inside = (a > 0) & (a < np.inf) & (x > 0) & (x < np.inf)
        at_zero = np.where(a < 1, np.inf, np.where(a == 1, 0.0, -np.inf))
        outside = np.where((a > 0) & (x >= 0), np.where(x == 0, at_zero, -np.inf), np.nan)
        return _in_domain(lambda a, x: _log_gamma_mass(a, x) - np.log(x), inside, outside, a, x).astype(dtype)


log_gamma_density = elementwise(
    _log_gamma_density_kernel,
    lambda a, x: np.log(x) - digamma(a),
    lambda a, x: _share(a - 1, x) - 1,
    name="log gamma density",
    names=("a", "x"),
    domain=[POSITIVE, POSITIVE],
    doc="(a - 1) log x - x - log gamma(a). Derivatives: log x - digamma(a) and (a - 1) / x - 1.",
)


def _log_beta_density_kernel(a: Array, b: Array, x: Array) -> Any:
    dtype = result_dtype(a, b, x)
    a, b, x = _arrays(a, b, x)
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = (a > 0) & (a < np.inf) & (b > 0) & (b < np.inf) & (x > 0) & (x < 1)
        shape, other = np.where(x == 0, a, b), np.where(x == 0, b, a)
        at_end = np.where(shape < 1, np.inf, np.where(shape == 1, np.log(np.maximum(other, 0)), -np.inf))
        outside = np.where((a > 0) & (b > 0) & ((x == 0) | (x == 1)), at_end, np.nan)
        return _in_domain(
            lambda a, b, x: _log_beta_mass(a, b, x, 1 - x) - np.log(x) - np.log1p(-x), inside, outside, a, b, x
        ).astype(dtype)


log_beta_density = elementwise(
    _log_beta_density_kernel,
    lambda a, b, x: np.log(x) + digamma_difference(a, b),
    lambda a, b, x: np.log1p(-x) + digamma_difference(b, a),
    lambda a, b, x: _share(a - 1, x) - _share(b - 1, 1 - x),
    name="log beta density",
    names=("a", "b", "x"),
    samples=samples_apart(POSITIVE, POSITIVE, UNIT),
    doc="(a - 1) log x + (b - 1) log(1 - x) - log beta(a, b). Derivatives: those of its terms.",
)


def _mass_at_logit(a: Array, b: Array, r: Array) -> Any:
    """a log x + b log(1 - x) - log beta(a, b), where r = log(x / (1 - x))."""
    near = np.clip(r, -FARTHEST, FARTHEST)
    x, y = scipy_ufunc("expit")(near), scipy_ufunc("expit")(-near)
    far = a * scipy_ufunc("log_expit")(r) + b * scipy_ufunc("log_expit")(-r) - scipy_ufunc("betaln")(a, b)
    return np.where(near == r, _log_beta_mass(a, b, x, y), far)


def _logit_kernel(result: Callable[..., Any], at_end: float = np.nan) -> Callable[..., Any]:
    """The kernel of a function of a, b > 0 and a logit, with its value at -inf."""

    def kernel(a: Array, b: Array, r: Array, **order: int) -> Any:
        dtype = result_dtype(a, b, r)
        a, b, r = _arrays(a, b, r)
        inside = (a > 0) & (a < np.inf) & (b > 0) & (b < np.inf) & (np.abs(r) < np.inf)
        with np.errstate(over="ignore", under="ignore"):
            outside = np.where((a > 0) & (b > 0) & np.isneginf(r), at_end, np.nan)
            return _in_domain(lambda a, b, r: result(a, b, r, **order), inside, outside, a, b, r).astype(dtype)

    return kernel


log_beta_mass: Op = elementwise(
    _logit_kernel(_mass_at_logit, -np.inf),
    lambda a, b, r: log_expit(r) + digamma_difference(a, b),
    lambda a, b, r: log_expit(-r) + digamma_difference(b, a),
    lambda a, b, r: a * sigmoid(-r) - b * sigmoid(r),
    name="log beta mass",
    names=("a", "b", "r"),
    samples=samples_apart(POSITIVE, POSITIVE, (-2.0, 2.0)),
    doc="The logarithm of the density of the logit r of a beta variable. Derivatives: those of its terms.",
)

# -- the tails of the gamma distribution


def _gamma_tail(a: Array, x: Array, upper: bool, order: int) -> tuple[Any, Any]:
    """The logarithm of the tail beyond x, and R_k; for a tail that falls from x on, with a >= 1 if it is the lower."""
    side = 1.0 if upper else -1.0
    width = _reach(
        _beyond_reach(a, x) if upper else (FALL + x) / a,
        lambda w: x * np.expm1(side * w) - a * side * w,
        lambda w: side * (x * np.exp(side * w) - a),
    )
    slopes = _gamma_slopes(order, np.log(a), a)
    centre, log_x = slopes[1, 0], np.log(x / a)
    whole, weighted = np.zeros_like(x), np.zeros_like(x)
    for node, weight in zip(*_nodes(), strict=True):
        r = side * width * node
        power = weight * np.exp(a * r - x * np.expm1(r))
        slopes[1, 0] = log_x + r + centre
        whole, weighted = whole + power, weighted + power * _polynomial(order, 0, slopes)
    return np.log(width * whole) + _log_gamma_mass(a, x), weighted / whole


def _gamma_tail_kernel(part: int) -> Callable[..., Any]:
    def kernel(a: Array, x: Array, upper: bool, order: int = 1) -> Any:
        dtype = result_dtype(a, x)
        a, x = _arrays(a, x)
        inside = (a > 0) & (a < np.inf) & (x > 0) & (x < np.inf)
        outside = np.where((a > 0) & (x == (np.inf if upper else 0)) & (part == 0), -np.inf, np.nan)
        return _in_domain(lambda a, x: _gamma_tail(a, x, upper, order)[part], inside, outside, a, x).astype(dtype)

    return kernel


def _gamma_tail_samples(*orders: dict[str, int]) -> Callable[[Any], list[Any]]:
    return lambda draw: [
        (arrays, {"upper": upper, **order})
        for order in orders
        for arrays, upper in [
            ((draw.between((1.5, 3.0), (3, 1)), draw.between((5.0, 20.0), (4,))), True),
            ((draw.between((0.2, 0.9), ()), draw.between((2.0, 9.0), (2, 3))), True),
            ((draw.between((1.5, 3.0), (3,)), draw.between((0.1, 0.5), (3,))), False),
            ((draw.between((8.0, 30.0), (3,)), draw.between((1.0, 3.0), ())), False),
        ]
    ]


def _gamma_hazard(a: Array, x: Array, upper: bool) -> Any:
    """The slope of the logarithm of the tail: the density over the tail, with its sign."""
    hazard = np.exp(log_gamma_density(a, x) - log_gamma_tail(a, x, upper=upper))
    return -hazard if upper else hazard


gamma_tail_ratio: Op = elementwise(
    _gamma_tail_kernel(1),
    lambda a, x, out, upper, order: (
        gamma_tail_ratio(a, x, upper=upper, order=order + 1) - out * gamma_tail_ratio(a, x, upper=upper, order=1)
    ),
    lambda a, x, out, upper, order: (
        _gamma_hazard(a, x, upper) * (_polynomial(order, 0, _gamma_slopes(order, np.log(x), a)) - out)
    ),
    name="gamma tail ratio",
    names=("a", "x"),
    samples=_gamma_tail_samples({"order": 1}, {"order": 2}),
    doc="R_k of a tail of the gamma distribution. Derivatives: R_(k+1) - R_k R_1, and the hazard times B_k - R_k.",
)
log_gamma_tail: Op = elementwise(
    _gamma_tail_kernel(0),
    lambda a, x, upper: gamma_tail_ratio(a, x, upper=upper, order=1),
    lambda a, x, upper: _gamma_hazard(a, x, upper),
    name="log gamma tail",
    names=("a", "x"),
    samples=_gamma_tail_samples({}),
    doc="The logarithm of gammainc (or gammaincc) far in its tail. Derivatives: R_1, and the density over the tail.",
)

# -- the lower tail of the beta distribution; the upper one is that of 1 - x


def _beta_tail(a: Array, b: Array, r: Array, i: int = 1, j: int = 0) -> tuple[Any, Any]:
    """The logarithm of the tail below the logit r, and R_ij; for a >= 1 and a tail that falls from r on."""
    x, y = scipy_ufunc("expit")(r), scipy_ufunc("expit")(-r)
    log_x, log_y = scipy_ufunc("log_expit")(r), scipy_ufunc("log_expit")(-r)

    def fallen(w: Array) -> tuple[Any, Any]:
        """log(x / t) and log(y / (1 - t)) at a distance w below r."""
        return np.log1p(y * np.expm1(w)), np.log1p(x * np.expm1(-w))

    def fall(w: Array) -> Any:
        from_x, from_y = fallen(w)
        return a * from_x + b * from_y

    def slope(w: Array) -> Any:
        from_x, from_y = fallen(w)
        return a * y * np.exp(w - from_x) - b * x * np.exp(-w - from_y)

    width = _reach((FALL - (a + b) * log_y) / a, fall, slope)
    slopes = _beta_slopes(i, j, 0.0, 0.0, a, b, b, a)
    centre_x, centre_y = slopes.get((1, 0)), slopes.get((0, 1))
    whole, weighted = np.zeros_like(r), np.zeros_like(r)
    for node, weight in zip(*_nodes(), strict=True):
        from_x, from_y = fallen(width * node)
        power = weight * np.exp(-a * from_x - b * from_y)
        if i:
            slopes[1, 0] = centre_x + log_x - from_x
        if j:
            slopes[0, 1] = centre_y + log_y - from_y
        whole, weighted = whole + power, weighted + power * _polynomial(i, j, slopes)
    return np.log(width * whole) + _mass_at_logit(a, b, r), weighted / whole


def _beta_tail_samples(*orders: dict[str, int]) -> Callable[[Any], list[Any]]:
    return lambda draw: [
        ((draw.between((1.5, 3.0), shapes[0]), draw.between(POSITIVE, shapes[1]), draw.between(far, shapes[2])), order)
        for order in orders
        for shapes, far in [(((3, 1), (4,), ()), (-6.0, -4.0)), (((2,), (), (2,)), (-30.0, -5.0))]
    ]


def _beta_hazard(a: Array, b: Array, r: Array) -> Any:
    return np.exp(log_beta_mass(a, b, r) - log_beta_tail(a, b, r))


def _next_beta_ratio(a: Array, b: Array, r: Array, out: Array, i: int, j: int, di: int, dj: int) -> Any:
    return beta_tail_ratio(a, b, r, i=i + di, j=j + dj) - out * beta_tail_ratio(a, b, r, i=di, j=dj)


beta_tail_ratio: Op = elementwise(
    _logit_kernel(lambda a, b, r, i, j: _beta_tail(a, b, r, i, j)[1]),
    lambda a, b, r, out, i, j: _next_beta_ratio(a, b, r, out, i, j, 1, 0),
    lambda a, b, r, out, i, j: _next_beta_ratio(a, b, r, out, i, j, 0, 1),
    lambda a, b, r, out, i, j: (
        _beta_hazard(a, b, r) * (_polynomial(i, j, _beta_slopes(i, j, log_expit(r), log_expit(-r), a, b, b, a)) - out)
    ),
    name="beta tail ratio",
    names=("a", "b", "r"),
    samples=_beta_tail_samples({"i": 1, "j": 0}, {"i": 0, "j": 1}, {"i": 1, "j": 1}),
    doc="R_ij of the lower tail of the beta distribution. Derivatives: as for the gamma distribution.",
)
log_beta_tail: Op = elementwise(
    _logit_kernel(lambda a, b, r: _beta_tail(a, b, r)[0], -np.inf),
    lambda a, b, r: beta_tail_ratio(a, b, r, i=1, j=0),
    lambda a, b, r: beta_tail_ratio(a, b, r, i=0, j=1),
    lambda a, b, r: _beta_hazard(a, b, r),
    name="log beta tail",
    names=("a", "b", "r"),
    samples=_beta_tail_samples({}),
    doc="The logarithm of betainc far in its lower tail, at a logit. Derivatives: R_10, R_01, the mass over the tail.",
)

# -- transport


def _moved(draw: Any, kept: Any, below: Any, above: Any, share: Any) -> Any:
    """`draw` where it is `kept`; elsewhere the point with the same share below, found from the smaller side."""
    if np.all(kept):
        return draw
    with np.errstate(all="ignore"):
        return np.where(kept, draw, np.where(share < 0.5, below(), above()))


def _gamma_transport_kernel(a: Array, at: Any, draw: Draw) -> Any:
    dtype, shape = result_dtype(a, at, draw), np.broadcast_shapes(*map(np.shape, (a, at, draw)))
    a, at, draw = _arrays(a, at, draw)
    ufunc, share = scipy_ufunc, scipy_ufunc("gammainc")(at, draw)
    moved = _moved(
        draw,
        a == at,
        lambda: ufunc("gammaincinv")(a, share),
        lambda: ufunc("gammainccinv")(a, ufunc("gammaincc")(at, draw)),
        share,
    )
    return np.array(np.broadcast_to(moved, shape), dtype)


def _gamma_quotient_kernel(a: Array, x: Array, order: int) -> Any:
    dtype = result_dtype(a, x)
    a, x = _arrays(a, x)
    inside = (a > 0) & (a < np.inf) & (x > 0) & (x < np.inf)
    outside = np.where((a > 0) & (x == 0), 0.0, np.nan)
    quotient = lambda a, x: x * (_gamma_integral(a, x, order) / np.exp(_log_gamma_mass(a, x)))
    return _in_domain(quotient, inside, outside, a, x).astype(dtype)


gamma_quotient: Op = elementwise(
    _gamma_quotient_kernel,
    lambda a, x, out, order: gamma_quotient(a, x, order=order + 1) - out * (np.log(x) - digamma(a)),
    lambda a, x, out, order: _polynomial(order, 0, _gamma_slopes(order, np.log(x), a)) - ((a - 1) * (out / x) - out),
    name="gamma quotient",
    names=("a", "x"),
    samples=lambda draw: [
        ((draw.between(POSITIVE, (3, 1)), draw.between(POSITIVE, (4,))), {"order": 1}),
        ((draw.between(POSITIVE, ()), draw.between(POSITIVE, (2, 3))), {"order": 2}),
        ((draw.between((0.2, 0.5), (3,)), draw.between((0.1, 0.8), (3,))), {"order": 1}),
    ],
    doc="A derivative of gammainc in a over its density. Derivatives: the next, less those of the log density.",
)


def _away(x: Array) -> Any:
    """`x`, and 1 where it is 0: a draw of a small shape that is too small for a number, which does not move."""
    return np.where(x == 0, 1, x)


gamma_transport = elementwise(
    _gamma_transport_kernel,
    lambda a, out: np.where(out == 0, 0, -gamma_quotient(a, _away(out), order=1)),
    lambda a, at, draw, out: np.where(
        out == 0, 0, gamma_derivative(at, _away(draw), order=1) / gamma_density(a, _away(out))
    ),
    lambda a, at, draw, out: np.where(out == 0, 0, gamma_density(at, _away(draw)) / gamma_density(a, _away(out))),
    name="gamma transport",
    names=("a", "at", "draw"),
    domain=[POSITIVE, POSITIVE, POSITIVE],
    doc="The x with gammainc(a, x) = gammainc(at, draw). Derivatives: by the implicit function theorem.",
)


def _beta_transport_kernel(a: Any, b: Any, at_a: Any, at_b: Any, draw: Any) -> Any:
    inputs = (a, b, at_a, at_b, draw)
    dtype, shape = result_dtype(*inputs), np.broadcast_shapes(*map(np.shape, inputs))
    a, b, at_a, at_b, draw = _arrays(*inputs)
    ufunc, share = scipy_ufunc, scipy_ufunc("betainc")(at_a, at_b, draw)
    moved = _moved(
        draw,
        (a == at_a) & (b == at_b),
        lambda: ufunc("betaincinv")(a, b, share),
        lambda: ufunc("betainccinv")(a, b, ufunc("betaincc")(at_a, at_b, draw)),
        share,
    )
    return np.array(np.broadcast_to(moved, shape), dtype)


def _beta_quotient_kernel(a: Array, b: Array, x: Array, i: int, j: int) -> Any:
    dtype = result_dtype(a, b, x)
    a, b, x = _arrays(a, b, x)
    inside = (a > 0) & (a < np.inf) & (b > 0) & (b < np.inf) & (x > 0) & (x < 1)
    outside = np.where((a > 0) & (b > 0) & _at_end(x), 0.0, np.nan)

    def quotient(a: Array, b: Array, x: Array) -> Any:
        integral = _beta_integral(a, b, x, 1 - x, i, j) if i else -_beta_integral(b, a, 1 - x, x, j, i)
        return x * (1 - x) * (integral / np.exp(_log_beta_mass(a, b, x, 1 - x)))

    return _in_domain(quotient, inside, outside, a, b, x).astype(dtype)


beta_quotient: Op = elementwise(
    _beta_quotient_kernel,
    lambda a, b, x, out, i, j: beta_quotient(a, b, x, i=i + 1, j=j) - out * (np.log(x) + digamma_difference(a, b)),
    lambda a, b, x, out, i, j: beta_quotient(a, b, x, i=i, j=j + 1) - out * (np.log1p(-x) + digamma_difference(b, a)),
    lambda a, b, x, out, i, j: (
        _polynomial(i, j, _beta_slopes(i, j, np.log(x), np.log1p(-x), a, b, b, a))
        - ((a - 1) * (out / x) - (b - 1) * (out / (1 - x)))
    ),
    name="beta quotient",
    names=("a", "b", "x"),
    samples=lambda draw: [
        ((draw.between(POSITIVE, (3, 1)), draw.between(POSITIVE, (2,)), draw.between(UNIT, ())), {"i": 1, "j": 0}),
        ((draw.between(POSITIVE, (2,)), draw.between(POSITIVE, ()), draw.between(UNIT, (2,))), {"i": 0, "j": 1}),
        ((draw.between(POSITIVE, ()), draw.between(POSITIVE, (2,)), draw.between(UNIT, ())), {"i": 1, "j": 1}),
    ],
    doc="A derivative of betainc in a and b over its density. Derivatives: as for the gamma distribution.",
)


def _at_end(x: Array) -> Any:
    return (x == 0) | (x == 1)


def _beta_velocity(a: Array, b: Array, out: Array, i: int, j: int) -> Any:
    """How a draw moves with one of its shapes; not at all from the ends, where it was rounded to."""
    return np.where(_at_end(out), 0, -beta_quotient(a, b, np.where(_at_end(out), 0.5, out), i=i, j=j))


def _over_beta_density(slope: Callable[[Any], Any], point: Array, a: Array, b: Array, out: Array) -> Any:
    """The slope at a point over the density at `out`; 0 where that is at an end, which draws do not leave."""
    point, inside = (np.where(_at_end(x), 0.5, x) for x in (point, out))
    return np.where(_at_end(out), 0, slope(point) / beta_density(a, b, inside))


beta_transport = elementwise(
    _beta_transport_kernel,
    lambda a, b, out: _beta_velocity(a, b, out, 1, 0),
    lambda a, b, out: _beta_velocity(a, b, out, 0, 1),
    lambda a, b, at_a, at_b, draw, out: _over_beta_density(
        lambda x: beta_derivative(at_a, at_b, x, i=1, j=0), draw, a, b, out
    ),
    lambda a, b, at_a, at_b, draw, out: _over_beta_density(
        lambda x: beta_derivative(at_a, at_b, x, i=0, j=1), draw, a, b, out
    ),
    lambda a, b, at_a, at_b, draw, out: _over_beta_density(lambda x: beta_density(at_a, at_b, x), draw, a, b, out),
    name="beta transport",
    names=("a", "b", "at_a", "at_b", "draw"),
    samples=lambda draw: [
        ((*(draw.between(POSITIVE, shape) for shape in shapes[:4]), draw.between(UNIT, shapes[4])), {})
        for shapes in [((3, 1), (2,), (), (2,), ()), ((2,), (), (2,), (1,), (2,)), ((), (1,), (), (1,), ())]
    ],
    doc="The x with betainc(a, b, x) = betainc(at_a, at_b, draw). Derivatives: by the implicit function theorem.",
)

# -- quantiles and sides that special functions leave out

ndtri_exp = elementwise(
    scipy_kernel("ndtri_exp"),
    lambda out: 1 / normal_hazard(out),
    name="ndtri_exp",
    domain=[(-3.0, -0.2)],
    answers=["scipy.special.ndtri_exp"],
    doc="""The x at which log_ndtr(x) is y, far in the tail too. Derivative: ndtr(x) / density(x).

    >>> import gradtape as gt
    >>> gt.value_and_grad(gt.special.ndtri_exp)(gt.tensor(-2.0))
    (Tensor(-1.10151963), Tensor(0.62226532))
    """,
)


def _signed_kernel(b: Array, s: Any, order: int) -> Any:
    dtype, square = result_dtype(b, s), np.square(np.asarray(s, float))
    half = _beta_derivative_kernel(0.5, b, square, 0, order) if order else scipy_ufunc("betainc")(0.5, b, square)
    return np.asarray(np.sign(s) * half, dtype)


def _signed_slope(b: Array, s: Any, order: int) -> Any:
    log_rest = np.log1p(-s * s)
    height = 2 * np.exp((b - 1) * log_rest - betaln(0 * b + 0.5, b))  # of the dtype of b: SciPy would widen
    return height * _polynomial(0, order, _beta_slopes(0, order, 0.0, log_rest, 0.5, b, b, 0.5))


signed_betainc: Op = elementwise(
    _signed_kernel,
    lambda b, s, order: signed_betainc(b, s, order=order + 1),
    _signed_slope,
    name="signed betainc",
    names=("b", "s"),
    samples=lambda draw: [
        ((draw.between(POSITIVE, (3, 1)), draw.between((-0.6, 0.6), (4,))), {"order": 0}),
        ((draw.between(POSITIVE, ()), draw.between((-0.6, 0.6), (2, 3))), {"order": 1}),
        ((draw.between(POSITIVE, (2,)), draw.between((-0.6, 0.6), ())), {"order": 2}),
    ],
    doc="sign(s) betainc(1/2, b, s^2), smooth through 0, and its derivatives in b. Derivatives: the next; a density.",
)
