"""The logarithm of the gamma function and its first two derivatives on vectors of lanes.

Conventions are those of `elementary`. Up to 8, by polynomials on a few intervals, after factors for the zeros were
divided out; beyond, by Stirling's series. Near the zeros at negative arguments, between two poles, the last digits are
lost in cancellation.
"""

from __future__ import annotations

from gradtape.jit.native.emit.vectors import Vector
from gradtape.jit.native.math.double_float import Maths, Pair
from gradtape.jit.native.math.elementary import (
    INFINITY,
    LOG_2,
    NAN,
    PI,
    Function,
    cosine_of_rest,
    log,
    log_pair,
    sine_of_rest,
)

HALF_LOG_TWO_PI = 0.9189385332046728, -3.8782941580672414e-17
TINY = 2.0**-60  # below, 1/x is so large that all other terms are lost in rounding
DIGAMMA_ZERO = 1.4616321449683622, 9.549995429965697e-17


def _from_whole(m: Maths, x: Vector) -> Vector:
    """The distance to the nearest whole number."""
    return x - m.intrinsic("rint", x)


def _half_turns(m: Maths, rest: Vector) -> tuple[Pair, Pair]:
    """sin(pi r) and cos(pi r) as pairs, of r from 0 to 1/2: no reduction of an angle is needed."""
    far = rest > 0.25
    near = m.select(far, 0.5 - rest, rest)  # exact
    high, low = m.product_pair(near, PI[0])
    angle = m.ordered_pair(high, None if low is None else m.multiply_add(near, PI[1], low))
    sine, cosine = m.ordered_pair(*sine_of_rest(m, angle)), m.ordered_pair(*cosine_of_rest(m, angle))
    return _select_pair(m, far, cosine, sine), _select_pair(m, far, sine, cosine)


def _select_pair(m: Maths, mask: Vector, yes: Pair, no: Pair) -> Pair:
    high = m.select(mask, yes[0], no[0])
    return high, None if yes[1] is None or no[1] is None else m.select(mask, yes[1], no[1])


def _fitted(m: Maths, name: str, t: Vector) -> Pair:
    """A polynomial as a pair: its constant term, and t times the others."""
    constant, *others = m.fitted(name)
    product, product_low = m.product_pair(t, m.polynomial(others, t))
    total, low = m.ordered_pair(m.like(t, constant), product)
    return total, low if product_low is None else m.plus(product_low, low)


def _times(m: Maths, name: str, t: Vector, *factors: Pair) -> Pair:
    """A polynomial in t times some factors."""
    product = _fitted(m, name, t)
    for factor in factors:
        product = m.pair_times_pair(product, factor)
    return product


def _log(m: Maths, a: Vector) -> Pair:
    """The logarithm of a positive number as a pair."""
    exponent, (high, low) = log_pair(m, a)
    high, more = m.sum_pair(exponent * LOG_2[0], high)
    low = m.multiply_add(exponent, LOG_2[1], low if low is not None else 0.0)
    return high, m.plus(low, more)


def _stirling(m: Maths, a: Vector) -> Vector:
    """(a - 1/2) log a - a + log(2 pi) / 2 + P(1 / a**2) / a, for a from 8 on."""
    inverse = 1.0 / a
    rest = inverse * m.fitted_polynomial("gammaln_far", inverse * inverse)
    high, low = _log(m, a)
    assert low is not None
    # a log a overflows before a log a - a does; where that is near, log(2 pi) is too small to count
    vast = a > 2.0**900
    scale = m.select(vast, m.like(a, 2.0**-64), 1.0)
    b = a * scale
    factor = b - 0.5
    product, error = m.product_pair(factor, high)
    total, lost = m.ordered_pair(product, -b)
    total, lost_too = m.ordered_pair(total, m.like(a, HALF_LOG_TWO_PI[0]))
    rest = m.multiply_add(factor, low, rest + HALF_LOG_TWO_PI[1])
    for part in (error, lost, lost_too):
        rest = m.plus(rest, part)
    return (total + rest) * m.select(vast, m.like(a, 2.0**64), 1.0)


def _gammaln_from_minus_half(m: Maths, x: Vector) -> Vector:
    """log|gamma(x)| of x > -1/2."""
    below = x < 0.5
    one = m.select(below, x, x - 1.0)  # log gamma(1 + x) is computed below 1/2, log gamma(x) beyond
    first = m.plus(*_times(m, "gammaln_1", one, m.sum_pair(one, -1.0), (one, None))) + 0.0  # no -0
    two = x - 2.0
    second = m.plus(*_times(m, "gammaln_2", two, (two, None), (x - 1.0, None)))
    third = m.plus(*_times(m, "gammaln_3", x - 3.25, (two, None)))
    fourth = m.plus(*_times(m, "gammaln_6", x - 6.0, (two, None)))
    value = m.select(x < 4.0, third, m.select(x < 8.0, fourth, _stirling(m, m.at_least(x, 8.0))))
    value = m.select(x < 1.5, first, m.select(x < 2.5, second, value))
    return m.select(below, first - log(m, m.absolute(x)), value)


def gammaln(m: Maths, x: Vector) -> Vector:
    """log|gamma(x)|; from -1/2 down, log(pi / |x sin(pi x)|) - log gamma(|x|), which is infinite at whole numbers."""
    a = m.absolute(x)
    mirror = x <= -0.5
    value = _gammaln_from_minus_half(m, m.select(mirror, a, x))
    rest = m.absolute(_from_whole(m, a))
    sine, _ = _half_turns(m, rest)
    product = m.pair_times_pair((a, None), sine)
    quotient, low = m.quotient_pair(m.constant_pair(a, *PI), product)
    logarithm = log(m, quotient)
    if low is not None:
        logarithm = m.multiply_add(low * product[0], 1 / PI[0], logarithm)
    mirrored = m.select(rest.equals(0.0), INFINITY, logarithm - value)
    value = m.select(mirror, mirrored, value)
    return m.select(a.equals(INFINITY), x, value)  # of -inf, -inf, as SciPy has it


def _psi_of_positive(m: Maths, a: Vector, a_low: Vector | None) -> Pair:
    """digamma(a + a_low) as a pair, from -`TINY` on; from 8 on it has the digits of a pair."""
    below = a < 1.0
    b = m.select(below, a + 1.0, a)
    distance = m.sum_pair(b - DIGAMMA_ZERO[0], -DIGAMMA_ZERO[1])
    first = _times(m, "psi_1", b - 1.5, distance)
    second = _times(m, "psi_3", b - 3.0, distance)
    third = _times(m, "psi_6", b - 6.0)
    inverse = 1.0 / b
    z = inverse * inverse
    high, low = _log(m, b)
    less = m.multiply_add(z, m.fitted_polynomial("psi_far", z), inverse * 0.5)
    series = m.ordered_pair(high, -less)
    if series[1] is not None and low is not None:
        series = m.ordered_pair(series[0], series[1] + low)
    value = _select_pair(m, b < 4.0, second, _select_pair(m, b < 8.0, third, series))
    high, low = _select_pair(m, b < 2.0, first, value)
    if low is not None and a_low is not None:  # times the slope, which is good to a hundredth
        low = m.multiply_add(a_low * inverse, m.multiply_add(inverse, inverse * (1 / 6) + 0.5, 1.0), low)
    return m.select(below, m.plus(high, low) - 1.0 / a, high), None if low is None else m.select(below, 0.0, low)


def psi(m: Maths, x: Vector) -> Vector:
    """digamma; for negative x, digamma(1 - x) - pi / tan(pi x), and NaN at whole numbers; infinite at zero."""
    negative = x <= -TINY
    mirror, mirror_low = m.sum_pair(m.like(x, 1.0), -x)
    value = _psi_of_positive(m, m.select(negative, mirror, x), mirror_low)
    rest = _from_whole(m, x)
    sine, cosine = _half_turns(m, m.absolute(rest))
    cotangent = m.quotient_pair(m.pair_times_pair(cosine, m.constant_pair(x, *PI)), sine)
    cotangent = m.ordered_pair(*cotangent)
    high, low = m.sum_pair(value[0], -m.copysign(cotangent[0], rest))
    if low is not None and value[1] is not None and cotangent[1] is not None:
        high = high + (low + (value[1] - m.select(rest < 0.0, -cotangent[1], cotangent[1])))
    mirrored = m.select(rest.equals(0.0), NAN, high)
    result = m.select(negative, mirrored, m.plus(*value))
    result = m.select(x.equals(INFINITY), INFINITY, result)
    return m.select(x.equals(0.0), -m.copysign(m.like(x, INFINITY), x), result)


def _trigamma_of_positive(m: Maths, a: Vector) -> Vector:
    """Below 1/2 trigamma(a + 1) + 1 / a**2, up to 8 by polynomials in x**2 trigamma(x), beyond by the series."""
    below = a < 0.5
    b = m.select(below, a + 1.0, a)
    pieces = [_fitted(m, f"trigamma_{middle}", b - float(middle)) for middle in (1, 3, 6)]
    piece = _select_pair(m, b < 2.0, pieces[0], _select_pair(m, b < 4.0, pieces[1], pieces[2]))
    value, low = m.quotient_pair(piece, m.product_pair(b, b))
    # neither the square of a small number nor what it is multiplied with must be lost
    scale = m.select(a < 2.0**-300, m.like(a, 2.0**300), 1.0)
    small = m.at_least(a * scale, 2.0**-400)
    pole, pole_low = m.quotient_pair((m.like(a, 1.0), None), m.product_pair(small, small))
    pole = m.plus(pole, pole_low) * scale * scale + value
    inverse = 1.0 / m.at_least(a, 8.0)
    more = m.multiply_add(inverse, m.fitted_polynomial("trigamma_far", inverse * inverse), 0.5)
    series = m.multiply_add(inverse * inverse, more, inverse)
    return m.select(a < 8.0, m.select(below, pole, m.plus(value, low)), series)


def trigamma(m: Maths, x: Vector) -> Vector:
    """The derivative of digamma; for negative x, (pi / sin(pi x))**2 - trigamma(1 - x); infinite at whole numbers."""
    negative = x <= -TINY
    value = _trigamma_of_positive(m, m.select(negative, 1.0 - x, m.absolute(x)))
    rest = m.absolute(_from_whole(m, x))
    sine, _ = _half_turns(m, rest)
    ratio = m.quotient_pair(m.constant_pair(x, *PI), sine)
    square, low = m.pair_times_pair(ratio, ratio)
    mirrored = square - (value if low is None else value - low)
    value = m.select(negative, m.select(rest.equals(0.0), INFINITY, mirrored), value)
    return m.select(x.equals(-INFINITY), INFINITY, value)


GAMMA: dict[str, Function] = {"gammaln": gammaln, "psi": psi, "trigamma": trigamma}
"""The functions of this module by name."""
