"""The error functions on vectors of lanes; conventions and accuracy as in `elementary`."""

from __future__ import annotations

from gradtape.jit.native.emit.vectors import Vector
from gradtape.jit.native.math.double_float import Maths, Pair
from gradtape.jit.native.math.elementary import ELEMENTARY, INFINITY, Function, exp_pair
from gradtape.jit.native.math.gamma import GAMMA

TWO_OVER_SQRT_PI = (1.1283791670955126, 1.533545961316588e-17)
ROOT_HALF = (0.7071067811865476, -4.833646656726457e-17)
INVERSE_ROOT_PI = 0.5641895835477563


def _erf_near_zero(m: Maths, x: Vector) -> Pair:
    """x (2/sqrt(pi) + x**2 P(x**2)) as a pair, for |x| up to 1."""
    z = x * x
    high, low = m.product_pair(x, TWO_OVER_SQRT_PI[0])
    more = x * z * m.fitted_polynomial("erf", z)
    if low is not None:
        more = more + m.multiply_add(x, TWO_OVER_SQRT_PI[1], low)
    return m.ordered_pair(high, more)


def _scaled_series(m: Maths, a: Vector) -> tuple[Pair, Pair]:
    """P(t), t = (a - 2) / (a + 2), and 1 + 2 a: the one by the other is exp(a**2) erfc(a), for a >= 0."""
    t = (a - 2.0) / (a + 2.0)
    constant, *others = m.fitted("erfc")
    product, product_low = m.product_pair(t, m.polynomial(others, t))
    series, series_low = m.sum_pair(m.like(a, constant), product)
    if series_low is not None and product_low is not None:
        series_low = series_low + (product_low + m.fitted("erfc_low")[0])
    return (series, series_low), m.sum_pair(m.like(a, 1.0), a * 2.0)


def _erfc_of_positive(m: Maths, a: Vector, square: Pair) -> Pair:
    """exp(-a**2) P(t) / (1 + 2 a), as a pair, for a from 0 to 28 with its square as a pair."""
    power, exponent = exp_pair(m, -square[0], None if square[1] is None else -square[1])
    series, below = _scaled_series(m, a)
    high, low = m.quotient_pair(m.pair_times_pair(series, power), below)
    if low is None:
        return m.scaled(high, exponent), None
    # rounded before it is scaled down, so that a subnormal answer is rounded at the very end only
    high, low = m.ordered_pair(high, low)
    assert low is not None
    return m.scaled(high, exponent), m.scaled(low, exponent)


def _with_square(m: Maths, a: Vector) -> tuple[Vector, Pair]:
    """A non-negative number, limited to 28, and its square."""
    a = m.at_most(a, 28.0)
    return a, m.product_pair(a, a)


def erfcx(m: Maths, x: Vector) -> Vector:
    """exp(x**2) erfc(x): P(t) / (1 + 2 a) of a = |x|, and 2 exp(x**2) less that for a negative x."""
    a = m.absolute(x)
    near = m.at_most(a, 2.0**60)
    right, right_low = m.quotient_pair(*_scaled_series(m, near))
    _, square = _with_square(m, a)
    (high, low), exponent = exp_pair(m, *square)
    double = m.scaled(high * 2.0, exponent)
    left, rest = m.sum_pair(double, -right)
    if rest is not None and low is not None and right_low is not None:
        left = left + (rest + (m.scaled(low * 2.0, exponent) - right_low))
    right = m.select(a > 2.0**60, INVERSE_ROOT_PI / a, m.plus(right, right_low))
    return m.select(x < 0.0, m.select(double.equals(INFINITY), INFINITY, left), right)


def erf(m: Maths, x: Vector) -> Vector:
    """The error function: a polynomial near 0, 1 - erfc beyond."""
    a = m.absolute(x)
    beyond = _erfc_of_positive(m, *_with_square(m, a))
    high, low = m.ordered_pair(m.like(x, 1.0), -beyond[0])
    far = high if low is None or beyond[1] is None else high + (low - beyond[1])
    return m.copysign(m.select(a < 1.0, m.plus(*_erf_near_zero(m, x)), far), x)


def erfc(m: Maths, x: Vector) -> Vector:
    """The complementary error function: 1 - erf near 0, an expansion beyond."""
    a = m.absolute(x)
    far, far_low = _erfc_of_positive(m, *_with_square(m, a))
    near, near_low = _erf_near_zero(m, m.select(a < 0.5, x, 0.0))
    inside, rest = m.ordered_pair(m.like(x, 1.0), -near)
    behind, behind_rest = m.ordered_pair(m.like(x, 2.0), -far)
    if rest is not None and near_low is not None:
        inside = inside + (rest - near_low)
    if behind_rest is not None and far_low is not None:
        behind = behind + (behind_rest - far_low)
    value = m.select(x < 0.0, behind, m.plus(far, far_low))
    return m.select(a < 0.5, inside, value)


def ndtr(m: Maths, x: Vector) -> Vector:
    """erfc(-x / sqrt 2) / 2. In the tail x**2 / 2 is the exponent: the square of a rounded x / sqrt 2 would not do."""
    magnitude = m.at_most(m.absolute(x), 39.0)
    a = magnitude * ROOT_HALF[0]
    high, low = m.product_pair(magnitude, magnitude)
    far, far_low = _erfc_of_positive(m, a, (high * 0.5, m.times(low, 0.5)))
    inside = m.select(magnitude < 1.0, x, 0.0)
    near, near_low = m.product_pair(inside, ROOT_HALF[0])
    near_low = None if near_low is None else m.multiply_add(inside, ROOT_HALF[1], near_low)
    slope = TWO_OVER_SQRT_PI[0]
    near, more = _erf_near_zero(m, near)
    if more is not None and near_low is not None:
        more = m.multiply_add(near_low, slope, more)
    middle, rest = m.ordered_pair(m.like(x, 0.5), near * 0.5)
    middle = m.plus(middle, None if rest is None or more is None else m.multiply_add(more, 0.5, rest))
    behind, behind_rest = m.ordered_pair(m.like(x, 1.0), far * -0.5)
    behind = m.plus(behind, None if behind_rest is None or far_low is None else behind_rest - far_low * 0.5)
    value = m.select(x > 0.0, behind, m.plus(far, far_low) * 0.5)
    return m.select(x.is_nan, x, m.select(magnitude < 1.0, middle, value))


FUNCTIONS: dict[str, Function] = {**ELEMENTARY, **GAMMA, "erf": erf, "erfc": erfc, "erfcx": erfcx, "ndtr": ndtr}
"""Every vector function by name."""
