"""The logarithm of the gamma function and its first two derivatives on vectors of lanes, in the manner of `vectormath`.

Up to 8 by polynomials on a few intervals, of what is left after the factors that are zero there; beyond by Stirling's
series. Where a negative argument makes the answer zero, between two poles, its last digits are lost in cancellation.
"""

from __future__ import annotations

from gradtape.jit.native.expression import Value
from gradtape.jit.native.pairs import Maths, Pair
from gradtape.jit.native.vectormath import INFINITY, LOG_2, NAN, PI, Function, log, log_pair, sin, tan

HALF_LOG_TWO_PI = 0.9189385332046728, -3.8782941580672414e-17
DIGAMMA_ZERO = 1.4616321449683622, 9.549995429965697e-17


def _from_whole(m: Maths, x: Value) -> Value:
    """The distance to the nearest whole number."""
    return x - m.intrinsic("rint", x)


def _fitted(m: Maths, name: str, t: Value) -> Pair:
    """A polynomial as a pair: its constant term, and t times the others."""
    constant, *others = m.fitted(name)
    product, product_low = m.product_pair(t, m.polynomial(others, t))
    total, low = m.ordered_pair(m.like(t, constant), product)
    return total, low if product_low is None else m.plus(product_low, low)


def _times(m: Maths, name: str, t: Value, *factors: Pair) -> Value:
    """A polynomial in t times some factors."""
    product = _fitted(m, name, t)
    for factor in factors:
        product = m.pair_times_pair(product, factor)
    return m.plus(*product)


def _stirling(m: Maths, a: Value) -> Value:
    """(a - 1/2) log a - a + log(2 pi) / 2 + P(1 / a**2) / a, for a from 8 on."""
    inverse = 1.0 / a
    rest = inverse * m.fitted_polynomial("gammaln_far", inverse * inverse)
    exponent, (high, low) = log_pair(m, a)
    high, more = m.sum_pair(exponent * LOG_2[0], high)
    low = m.multiply_add(exponent, LOG_2[1], low if low is not None else 0.0)
    low = m.plus(low, more)
    factor = a - 0.5
    product, error = m.product_pair(factor, high)
    total, lost = m.ordered_pair(product, -a)
    total, lost_too = m.ordered_pair(total, m.like(a, HALF_LOG_TWO_PI[0]))
    rest = m.multiply_add(factor, low, rest + HALF_LOG_TWO_PI[1])
    for part in (error, lost, lost_too):
        rest = m.plus(rest, part)
    return m.select(a > 2.5e305, INFINITY, total + rest)


def _gammaln_of_positive(m: Maths, a: Value) -> Value:
    below = a < 0.5
    one = m.select(below, a, a - 1.0)  # x - 1, where x is a, or a + 1 below 1/2
    first = _times(m, "gammaln_1", one, m.sum_pair(one, -1.0), (one, None)) + 0.0  # no -0
    two = a - 2.0
    second = _times(m, "gammaln_2", two, (two, None), (a - 1.0, None))
    third = _times(m, "gammaln_3", a - 3.25, (two, None))
    fourth = _times(m, "gammaln_6", a - 6.0, (two, None))
    value = m.select(a < 4.0, third, m.select(a < 8.0, fourth, _stirling(m, m.at_least(a, 8.0))))
    value = m.select(a < 1.5, first, m.select(a < 2.5, second, value))
    return m.select(below, first - log(m, a), value)


def gammaln(m: Maths, x: Value) -> Value:
    """log|gamma(x)|; for negative x, log(pi / |x sin(pi x)|) - log gamma(|x|), which is infinite at whole numbers."""
    a = m.absolute(x)
    value = _gammaln_of_positive(m, a)
    product = a * m.absolute(sin(m, _from_whole(m, a) * PI[0]))
    mirrored = log(m, PI[0] / product) - value
    value = m.select((x < 0.0) & (a > 2.0**-60), mirrored, value)
    return m.select(a.equals(INFINITY), x, value)  # of -inf, -inf, as SciPy has it


def _psi_of_positive(m: Maths, a: Value) -> Value:
    below = a < 1.0
    b = m.select(below, a + 1.0, a)
    distance = m.sum_pair(b - DIGAMMA_ZERO[0], -DIGAMMA_ZERO[1])
    first = _times(m, "psi_1", b - 1.5, distance)
    second = _times(m, "psi_3", b - 3.0, distance)
    third = _times(m, "psi_6", b - 6.0)
    far = m.at_least(b, 8.0)
    inverse = 1.0 / far
    z = inverse * inverse
    series = log(m, far) - m.multiply_add(z, m.fitted_polynomial("psi_far", z), inverse * 0.5)
    value = m.select(b < 4.0, second, m.select(b < 8.0, third, series))
    value = m.select(b < 2.0, first, value)
    return m.select(below, value - 1.0 / a, value)


def psi(m: Maths, x: Value) -> Value:
    """digamma; for negative x, digamma(1 - x) - pi / tan(pi x), and NaN at whole numbers; infinite at zero."""
    negative = x <= 0.0
    value = _psi_of_positive(m, m.select(negative, 1.0 - x, x))
    rest = _from_whole(m, x)
    mirrored = value - PI[0] / tan(m, rest * PI[0])
    mirrored = m.select(rest.equals(0.0), NAN, mirrored)
    value = m.select(negative, mirrored, value)
    return m.select(x.equals(0.0), -m.copysign(m.like(x, INFINITY), x), value)


def _trigamma_of_positive(m: Maths, a: Value) -> Value:
    pieces = [_fitted(m, f"trigamma_{middle}", a - float(middle)) for middle in (1, 3, 6)]
    high = m.select(a < 2.0, pieces[0][0], m.select(a < 4.0, pieces[1][0], pieces[2][0]))
    low = None
    if pieces[0][1] is not None and pieces[1][1] is not None and pieces[2][1] is not None:
        low = m.select(a < 2.0, pieces[0][1], m.select(a < 4.0, pieces[1][1], pieces[2][1]))
    value = m.plus(*m.quotient_pair((high, low), m.product_pair(a, a)))
    tiny = 1.0 / a
    value = m.select(a < 2.0**-60, tiny * tiny, value)
    inverse = 1.0 / m.at_least(a, 8.0)
    more = m.multiply_add(inverse, m.fitted_polynomial("trigamma_far", inverse * inverse), 0.5)
    series = m.multiply_add(inverse * inverse, more, inverse)
    return m.select(a < 8.0, value, series)


def trigamma(m: Maths, x: Value) -> Value:
    """The derivative of digamma; for negative x, (pi / sin(pi x))**2 - trigamma(1 - x); infinite at whole numbers."""
    negative = x < 0.0
    value = _trigamma_of_positive(m, m.select(negative, 1.0 - x, m.absolute(x)))
    ratio = PI[0] / sin(m, _from_whole(m, x) * PI[0])
    value = m.select(negative, ratio * ratio - value, value)
    return m.select(x.equals(-INFINITY), INFINITY, value)


GAMMA: dict[str, Function] = {"gammaln": gammaln, "psi": psi, "trigamma": trigamma}
"""Those of the gamma function by name."""
