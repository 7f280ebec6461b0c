"""Elementary functions on vectors of lanes, without branches, so that every lane costs the same.

A function takes `Maths` and binary64 lanes and returns binary64 lanes. With `maths.single` it computes what binary32
needs (shorter polynomials, no pairs), and the caller rounds the answer once; for some functions, `binary32` has another
version. Within 2 ulp everywhere; NaN, infinities, signed zeros and subnormal numbers as IEEE 754 and NumPy have them.

Polynomials come from `tools/fit_coefficients.py`, which states the interval and the form of each. Other numbers are
mathematical constants, written as the nearest binary64 number and, where a pair is needed, what that leaves.
"""

from __future__ import annotations

from collections.abc import Callable

from gradtape.jit.native.emit.vectors import Vector
from gradtape.jit.native.math.double_float import ONE_BITS, Maths, Pair, bits_of
from gradtape.jit.native.math.range_reduction import HALF_PI, reduce_angle

LOG2_E = (1.4426950408889634, 2.0355273740931033e-17)
LOG10_E = (0.4342944819032518, 1.098319650216765e-17)
# log 2 with 42 bits, so that its product with an exponent is exact, and the rest
LOG_2 = (0.6931471805598903, 5.497923018708371e-14)
# log10 2 likewise
LOG10_2 = (0.30102999566395283, 2.8363394551044964e-14)
TWO_THIRDS = (0.6666666666666666, 3.700743415417188e-17)
QUARTER_PI = (0.7853981633974483, 3.061616997868383e-17)
PI = (3.141592653589793, 1.2246467991473532e-16)
SQRT_HALF = 0.7071067811865476
TAN_EIGHTH_PI = 0.41421356237309503  # sqrt 2 - 1
SMALLEST_NORMAL = 2.0**-1022
INFINITY = float("inf")
NAN = float("nan")
SIGN_BIT = -(2**63)

# -- exponentials: x = k log 2 + r, exp x = 2**k exp r


def _exponent_and_rest(m: Maths, x: Vector, x_low: Vector | None = None, base_two: bool = False) -> tuple[Vector, Pair]:
    """The integer k and the rest r as a pair, for |x| below 2**20."""
    if base_two:  # x is already in units of log 2
        whole, exponent = m.rounded(x)
        rest, low = m.product_pair(x - whole, 0.6931471805599453)
        if low is not None:
            low = m.multiply_add(x - whole, 2.3190468138462996e-17, low)
        return exponent, m.ordered_pair(rest, low)
    whole, exponent = m.rounded(x, LOG2_E[0])
    rest = m.multiply_add(whole, -LOG_2[0], x)  # exact
    rest, low = m.sum_pair(rest, whole * -LOG_2[1])
    if x_low is not None and low is not None:
        rest, low = m.exact_sum(rest, low + x_low)
    return exponent, (rest, low)


def _exp_of_rest(m: Maths, rest: Pair) -> Vector:
    """exp r - 1 - r, with the low part of r added."""
    high, low = rest
    return m.plus(high * high * m.fitted_polynomial("exp", high), low)


def exp_pair(m: Maths, x: Vector, x_low: Vector | None = None, base_two: bool = False) -> tuple[Pair, Vector]:
    """exp x as a pair and a power of two that it is yet to be multiplied with."""
    exponent, rest = _exponent_and_rest(m, x, x_low, base_two)
    more = _exp_of_rest(m, rest)
    if m.single:
        return (1.0 + (rest[0] + more), None), exponent
    high, low = m.ordered_pair(m.like(x, 1.0), rest[0])
    assert low is not None
    return m.ordered_pair(high, low + more), exponent


def exp(m: Maths, x: Vector) -> Vector:
    """exp(x) = 2^k exp(r), with r in a small interval around 0."""
    x = m.at_least(m.at_most(x, 710.0), -746.0)
    exponent, rest = _exponent_and_rest(m, x)
    return m.scaled(1.0 + (rest[0] + _exp_of_rest(m, rest)), exponent)


def exp2(m: Maths, x: Vector) -> Vector:
    """2^x, by the exponential of a pair."""
    (high, low), exponent = exp_pair(m, m.at_least(m.at_most(x, 1025.0), -1076.0), base_two=True)
    return m.scaled(m.plus(high, low), exponent)


def expm1_pair(m: Maths, x: Vector) -> Pair:
    """exp x - 1 as a pair: 2**k (exp r - 1) + (2**k - 1), halved in between so that 2**k does not overflow."""
    exponent, rest = _exponent_and_rest(m, x)
    high, low = m.ordered_pair(rest[0], _exp_of_rest(m, rest))
    half_power = m.power_of_two(exponent - 1)
    total, error = m.exact_sum(half_power * high, half_power - 0.5)
    more = m.plus(error, m.times(low, half_power))
    high, low = m.ordered_pair(total, more)
    return high * 2.0, m.times(low, 2.0)


def expm1(m: Maths, x: Vector) -> Vector:
    """exp(x) - 1, exact near 0."""
    high, low = expm1_pair(m, m.at_least(m.at_most(x, 710.0), -60.0))
    return _odd_near_zero(m, x, m.plus(high, low), 2.0**-54)


def _odd_near_zero(m: Maths, x: Vector, value: Vector, bound: float) -> Vector:
    """x itself where it is so small that f(x) rounds to x: keeps the sign of zero and subnormal numbers."""
    return m.select(m.absolute(x) < bound, x, value)


def _half_exp(m: Maths, x: Vector) -> Vector:
    """exp(x) / 2, which overflows later than exp(x)."""
    exponent, rest = _exponent_and_rest(m, m.at_most(x, 712.0))
    return m.scaled(1.0 + (rest[0] + _exp_of_rest(m, rest)), exponent - 1)


def sinh(m: Maths, x: Vector) -> Vector:
    """(t + t / (t + 1)) / 2 with t = exp|x| - 1; exp|x| / 2 from 40 on."""
    magnitude = m.absolute(x)
    t = expm1_pair(m, m.at_most(magnitude, 41.0))
    high, low = m.sum_pair(t[0], 1.0)
    quotient = m.quotient_pair(t, (high, None if low is None else m.plus(low, t[1])))
    high, low = m.sum_pair(t[0], quotient[0])
    if low is not None and t[1] is not None and quotient[1] is not None:
        high = high + (low + (t[1] + quotient[1]))
    value = m.select(magnitude > 40.0, _half_exp(m, magnitude), high * 0.5)
    return _odd_near_zero(m, x, m.copysign(value, x), 2.0**-28)


def cosh(m: Maths, x: Vector) -> Vector:
    """h + 1 / (4 h) with h = exp|x| / 2; h alone from 40 on."""
    magnitude = m.absolute(x)
    (high, low), exponent = exp_pair(m, m.at_most(magnitude, 41.0))
    power = m.power_of_two(exponent - 1)
    high, low = high * power, m.times(low, power)
    return m.select(magnitude > 40.0, _half_exp(m, magnitude), high + m.plus(0.25 / high, low))


def tanh(m: Maths, x: Vector) -> Vector:
    """t / (t + 2) with t = exp(2|x|) - 1."""
    t = expm1_pair(m, m.at_most(m.absolute(x) * 2.0, 44.0))
    high, low = m.sum_pair(t[0], 2.0)
    quotient = m.quotient_pair(t, (high, None if low is None else m.plus(low, t[1])))
    return _odd_near_zero(m, x, m.copysign(m.plus(*quotient), x), 2.0**-28)


def sigmoid(m: Maths, x: Vector) -> Vector:
    """1 / (1 + z) for positive x and z / (1 + z) for negative, z = exp(-|x|)."""
    power = m.at_least(-m.absolute(x), -746.0)
    (high, low), exponent = exp_pair(m, power)
    high = m.scaled(high, exponent)
    low = None if low is None else m.scaled(low, exponent)
    total, rest = m.ordered_pair(m.like(x, 1.0), high)
    negative = x < 0.0
    above = m.select(negative, high, 1.0), None if low is None else m.select(negative, low, 0.0)
    return m.plus(*m.quotient_pair(above, (total, None if rest is None else m.plus(rest, low))))


def softplus(m: Maths, x: Vector) -> Vector:
    """log(1 + exp x) = max(x, 0) + log1p(exp(-|x|))."""
    (high, low), exponent = exp_pair(m, m.at_least(-m.absolute(x), -746.0))
    high = m.scaled(high, exponent)
    low = None if low is None else m.scaled(low, exponent)
    return m.select(x > 0.0, x, 0.0) + _log_of_sum(m, high, low)


# -- logarithms: x = 2**k (1 + f) with 1 + f from sqrt(1/2) to sqrt 2


def _exponent_and_mantissa(m: Maths, x: Vector) -> tuple[Vector, Vector]:
    """k as a float, and the mantissa, of a positive finite number (subnormal ones too)."""
    tiny = x < SMALLEST_NORMAL
    bits = m.bits(m.select(tiny, x * 2.0**54, x))
    top = bits + (ONE_BITS - bits_of(SQRT_HALF))
    mantissa = m.from_bits(bits - ((top & (0xFFF << 52)) - ONE_BITS))
    # an integer below 2**52 becomes a float when it is put into the low bits of 2**52
    bias = m.select(tiny, m.like(x, 2.0**52 + 1023 + 54), 2.0**52 + 1023)
    exponent = m.from_bits((top >> 52) | bits_of(2.0**52)) - bias
    return exponent, mantissa


def _log_sum(m: Maths, exponent: Vector, f: Vector, f_low: Vector | None = None) -> Vector:
    """k log 2 + log(1 + f + f_low), good to an ulp.

    With s = f / (2 + f), log(1 + f) = 2 s + s R(s**2); 2 s = f - s f and s f = (1 - s) f**2 / 2 give the first term
    without an error: log(1 + f) = f - (h - s (h + R)) with h = f**2 / 2.
    """
    s = f / (f + 2.0)
    z = s * s
    tail = z * m.multiply_add(z, m.fitted_polynomial("log", z), TWO_THIRDS[0])
    h = f * f * 0.5
    more = m.multiply_add(exponent, LOG_2[1], s * (h + tail))
    if f_low is not None:  # f_low / (1 + f), to a few digits where f is not small
        more = m.multiply_add(f_low, 1.0 - f * (1.0 - f), more)
    return m.multiply_add(exponent, LOG_2[0], f - (h - more))


def _log_ends(m: Maths, x: Vector, value: Vector) -> Vector:
    """The special cases of all logarithms: 0, infinity, negative numbers, NaN."""
    value = m.select(x < INFINITY, value, x)  # infinity and NaN stay
    value = m.select(x.equals(0.0), -INFINITY, value)
    return m.select(x < 0.0, NAN, value)


def log(m: Maths, x: Vector) -> Vector:
    """log(x) = k log(2) + log(m), with the mantissa m near 1."""
    exponent, mantissa = _exponent_and_mantissa(m, x)
    return _log_ends(m, x, _log_sum(m, exponent, mantissa - 1.0))


def _log_of_sum(m: Maths, x: Vector, x_low: Vector | None = None) -> Vector:
    """log(1 + x + x_low) for finite x > -1: the rounding error of 1 + x is carried along."""
    total, error = m.exact_sum(m.like(x, 1.0), x)
    error = m.plus(error, x_low)
    exponent, mantissa = _exponent_and_mantissa(m, total)
    value = _log_sum(m, exponent, mantissa - 1.0, error * _inverse_power(m, exponent))
    return m.select(m.absolute(x) < 2.0**-54, x, value)


def _inverse_power(m: Maths, exponent: Vector) -> Vector:
    """2**-k for a whole float k from -1022 to 1022, and a number as small beyond."""
    return m.power_of_two(m.rounded(m.at_least(-exponent, -1022.0))[1])


def log1p(m: Maths, x: Vector) -> Vector:
    """log(1 + x), exact near 0."""
    value = m.select(x < INFINITY, _log_of_sum(m, x), x)  # infinity and NaN stay
    value = m.select(x.equals(-1.0), -INFINITY, value)
    return m.select(x < -1.0, NAN, value)


def logaddexp(m: Maths, x: Vector, y: Vector) -> Vector:
    """log(exp x + exp y) = max + log1p(exp(-|x - y|)); equal infinities are themselves."""
    larger, distance, low = _larger_and_distance(m, x, y)
    (high, low), exponent = exp_pair(m, m.at_least(-distance, -746.0), m.times(low, -1.0))
    low = None if low is None else m.scaled(low, exponent)
    return larger + _log_of_sum(m, m.scaled(high, exponent), low)


def logaddexp2(m: Maths, x: Vector, y: Vector) -> Vector:
    """The same to base two."""
    larger, distance, low = _larger_and_distance(m, x, y)
    (high, rest), exponent = exp_pair(m, m.at_least(-distance, -1076.0), base_two=True)
    if low is not None and rest is not None:
        rest = m.scaled(m.multiply_add(high * low, -0.6931471805599453, rest), exponent)
    return larger + _log_of_sum(m, m.scaled(high, exponent), rest) * LOG2_E[0]


def _larger_and_distance(m: Maths, x: Vector, y: Vector) -> tuple[Vector, Vector, Vector | None]:
    """The larger of two numbers, and by how much it is, in two parts: the first is rounded by half its last place."""
    difference, low = m.sum_pair(x, -y)
    difference = m.select(x.equals(y), 0.0, difference)
    distance = m.absolute(difference)
    if low is not None:  # of infinities it is NaN
        counts = (distance > 0.0) & (distance < 1100.0)
        low = m.select(counts, m.select(difference < 0.0, -low, low), 0.0)
    return m.select(difference > 0.0, x, y), distance, low


def _log_of_double(m: Maths, x: Vector) -> Vector:
    """log(2 x) of a positive number, infinity included."""
    exponent, mantissa = _exponent_and_mantissa(m, x)
    return m.select(x < INFINITY, _log_sum(m, exponent + 1.0, mantissa - 1.0), x)


def asinh(m: Maths, x: Vector) -> Vector:
    """log1p(a + a**2 / (1 + sqrt(1 + a**2))) with a = |x|; log(2 a) from 2**30 on."""
    a = m.absolute(x)
    near = m.at_most(a, 2.0**30)
    square = near * near
    value = _log_of_sum(m, *m.sum_pair(near, square / (m.square_root(square + 1.0) + 1.0)))
    value = m.copysign(m.select(a > 2.0**30, _log_of_double(m, a), value), x)
    return _odd_near_zero(m, x, m.select(x.is_nan, x, value), 2.0**-28)


def acosh(m: Maths, x: Vector) -> Vector:
    """log1p(t + sqrt(t (2 + t))) with t = x - 1; log(2 x) from 2**30 on."""
    t = m.at_most(x, 2.0**30) - 1.0
    value = _log_of_sum(m, *m.sum_pair(t, m.square_root(t * (t + 2.0))))
    value = m.select(x > 2.0**30, _log_of_double(m, x), value)
    return m.select(x >= 1.0, value, NAN)


def atanh(m: Maths, x: Vector) -> Vector:
    """log1p(2 a / (1 - a)) / 2 with a = |x|."""
    a = m.absolute(x)
    inside = m.select(a < 1.0, a, 0.0)
    high, low = m.quotient_pair((inside * 2.0, None), m.sum_pair(m.like(x, 1.0), -inside))
    value = m.select(a < 1.0, _log_of_sum(m, high, low) * 0.5, m.select(a.equals(1.0), m.like(x, INFINITY), NAN))
    return _odd_near_zero(m, x, m.copysign(value, x), 2.0**-28)


def log_pair(m: Maths, x: Vector) -> tuple[Vector, Pair]:
    """k, and log(1 + f) as a pair with some 65 good bits: 2 s + 2/3 s**3 in pairs, the rest of the series in plain."""
    exponent, mantissa = _exponent_and_mantissa(m, x)
    f = mantissa - 1.0
    s = m.quotient_pair((f, None), m.sum_pair(mantissa, 1.0))
    s = m.ordered_pair(*s)
    z = m.pair_times_pair(s, s)
    cube = m.pair_times_pair(z, s)
    third = m.pair_times_pair(cube, m.constant_pair(x, *TWO_THIRDS))
    rest = cube[0] * z[0] * m.fitted_polynomial("log", z[0])
    high, low = m.ordered_pair(s[0] * 2.0, third[0])
    if low is None or s[1] is None or third[1] is None:
        return exponent, (high + rest, None)
    return exponent, m.ordered_pair(high, low + (s[1] * 2.0 + third[1] + rest))


def log2(m: Maths, x: Vector) -> Vector:
    """log(x) / log(2), as a product of pairs; exact for powers of 2."""
    exponent, pair = log_pair(m, x)
    high, low = m.pair_times_pair(pair, m.constant_pair(x, *LOG2_E))
    total, rest = m.sum_pair(exponent, high)
    return _log_ends(m, x, m.plus(total, rest if low is None or rest is None else rest + low))


def log10(m: Maths, x: Vector) -> Vector:
    """log(x) / log(10), as a product of pairs."""
    exponent, pair = log_pair(m, x)
    high, low = m.pair_times_pair(pair, m.constant_pair(x, *LOG10_E))
    total, rest = m.sum_pair(exponent * LOG10_2[0], high)
    more = exponent * LOG10_2[1]
    if rest is not None and low is not None:
        more = more + (rest + low)
    return _log_ends(m, x, total + more)


# -- powers and roots


def power(m: Maths, x: Vector, y: Vector) -> Vector:
    """exp(y log|x|) with the logarithm as a pair, then the many special cases of IEEE 754."""
    magnitude = m.absolute(x)
    exponent, pair = log_pair(m, magnitude)
    high, low = m.sum_pair(exponent * LOG_2[0], pair[0])
    more = exponent * LOG_2[1]
    if low is not None and pair[1] is not None:
        more = more + (low + pair[1])
    log_high, log_low = m.ordered_pair(high, more)
    product, rest = m.product_pair(log_high, y)
    if rest is not None and log_low is not None:
        rest = m.multiply_add(log_low, y, rest)
        rest = m.select(m.absolute(product) < 800.0, rest, 0.0)
    product = m.at_least(m.at_most(product, 800.0), -800.0)
    (high, low), scale = exp_pair(m, product, rest)
    value = m.scaled(m.plus(high, low), scale)
    growing = y > 0.0
    value = m.select(magnitude.equals(0.0), m.select(growing, m.like(x, 0.0), INFINITY), value)
    value = m.select(magnitude.equals(INFINITY), m.select(growing, m.like(x, INFINITY), 0.0), value)
    # |y| >= 2**53 is an even integer; below, y is whole if rounding leaves it, and odd if y/2 is not whole
    size = m.absolute(y)
    whole = _is_whole(m, size)
    odd = whole & ~_is_whole(m, size * 0.5)
    minus = x < 0.0
    value = m.select(minus & ~whole & (magnitude < INFINITY), NAN, value)
    sign = m.bits(x) & m.select(odd, m.constant(m.bits(x).element, SIGN_BIT), 0)
    value = m.from_bits(m.bits(value) | sign)
    value = m.select(magnitude.equals(1.0) & size.equals(INFINITY), 1.0, value)
    value = m.select(x.is_nan | y.is_nan, x + y, value)
    return m.select(x.equals(1.0) | y.equals(0.0), 1.0, value)


def _is_whole(m: Maths, size: Vector) -> Vector:
    """Whether a non-negative number is an integer."""
    return (size >= 2.0**52) | ((size + 2.0**52) - 2.0**52).equals(size)


def cbrt(m: Maths, x: Vector) -> Vector:
    """A short polynomial (13 bits), Halley's step (39) and a step of Newton's with the residue in pairs."""
    magnitude = m.absolute(x)
    tiny = magnitude < SMALLEST_NORMAL
    bits = m.bits(m.select(tiny, magnitude * 2.0**54, magnitude))
    mantissa = m.from_bits((bits & ((1 << 52) - 1)) | ONE_BITS)
    exponent = m.from_bits((bits >> 52) | bits_of(2.0**52)) - (2.0**52 + 1023)
    third, _ = m.rounded((exponent - 1.0) * (1 / 3))
    over = exponent - third * 3.0  # 0, 1 or 2
    start = m.polynomial(m.fitted("cbrt_start"), mantissa - 1.0)
    two, one = over > 1.5, over > 0.5
    start = start * m.select(two, m.like(x, 2.0 ** (2 / 3)), m.select(one, m.like(x, 2.0 ** (1 / 3)), 1.0))
    value = mantissa * m.select(two, m.like(x, 4.0), m.select(one, m.like(x, 2.0), 1.0))
    cube = start * start * start
    y = start * ((cube + value * 2.0) / (cube * 2.0 + value))
    square, square_low = m.product_pair(y, y)
    cubed, cubed_low = m.product_pair(square, y)
    residue = cubed - value
    if cubed_low is not None and square_low is not None:
        residue = residue + m.multiply_add(square_low, y, cubed_low)
    y = y - residue / (square * 3.0)
    scale = m.power_of_two(m.rounded(third - m.select(tiny, m.like(x, 18.0), 0.0))[1])
    special = ~((magnitude > 0.0) & (magnitude < INFINITY))
    return m.select(special, x, m.copysign(y * scale, x))


# -- trigonometry


def sine_of_rest(m: Maths, rest: Pair) -> Pair:
    """sin r of an r up to pi/4, as a sum of two."""
    r, low = rest
    z = r * r
    more = r * z * m.fitted_polynomial("sin", z)
    if low is not None:
        more = m.multiply_add(low, 1.0 - z * 0.5, more)
    return r, more


def cosine_of_rest(m: Maths, rest: Pair) -> Pair:
    """cos r of an r up to pi/4, as a sum of two."""
    r, low = rest
    z = r * r
    half = z * 0.5
    near = 1.0 - half
    more = z * z * m.fitted_polynomial("cos", z)
    if low is not None:
        more = ((1.0 - near) - half) + (more - r * low)
    return near, more


def _sine_of_quadrant(m: Maths, rest: Pair, quadrant: Vector) -> Vector:
    """sin(r + quadrant pi/2)."""
    swap = (quadrant & 1).differs(0)
    sine, cosine = m.plus(*sine_of_rest(m, rest)), m.plus(*cosine_of_rest(m, rest))
    value = m.select(swap, cosine, sine)
    return m.from_bits(m.bits(value) ^ ((quadrant & 2) << 62))


def sin(m: Maths, x: Vector) -> Vector:
    """The sine of the reduced argument, by its quadrant."""
    rest, quadrant = _reduce_argument(m, x)
    return _odd_near_zero(m, x, _sine_of_quadrant(m, rest, quadrant), 2.0**-28)


def cos(m: Maths, x: Vector) -> Vector:
    """The cosine: the sine one quadrant on."""
    rest, quadrant = _reduce_argument(m, x)
    return _sine_of_quadrant(m, rest, quadrant + 1)


def tan(m: Maths, x: Vector) -> Vector:
    """sin r / cos r in even quadrants, -cos r / sin r in odd ones."""
    rest, quadrant = _reduce_argument(m, x)
    sine = m.ordered_pair(*sine_of_rest(m, rest))
    cosine = m.ordered_pair(*cosine_of_rest(m, rest))
    swap = (quadrant & 1).differs(0)
    above = m.select(swap, -cosine[0], sine[0])
    below = m.select(swap, sine[0], cosine[0])
    if sine[1] is None or cosine[1] is None:
        value = above / below
    else:
        above_low = m.select(swap, -cosine[1], sine[1])
        value = m.plus(*m.quotient_pair((above, above_low), (below, m.select(swap, sine[1], cosine[1]))))
    return _odd_near_zero(m, x, value, 2.0**-28)


def _reduce_argument(m: Maths, x: Vector) -> tuple[Pair, Vector]:
    """The reduced angle; once for all functions of one x, as the branch in it is not shared by `Lanes`."""
    found: tuple[Pair, Vector] | None = m.reductions.get(x.ir)
    if found is None:
        found = m.reductions[x.ir] = reduce_angle(m, x)
    return found


def atan(m: Maths, x: Vector) -> Vector:
    """atan a = atan q + base: q = a up to tan(pi/8), (a-1)/(a+1) with pi/4 up to its inverse, -1/a with pi/2 beyond."""
    magnitude = m.at_most(m.absolute(x), 2.0**60)
    value = m.plus(*_angle(m, magnitude, m.like(x, 1.0)))
    return _odd_near_zero(m, x, m.copysign(value, x), 2.0**-28)


def _angle(m: Maths, y: Vector, x: Vector, lifted: Vector | None = None) -> Pair:
    """The angle of the point (x, y) in the first quadrant as a pair; in `lifted` lanes y / x, for y far below x."""
    middle = y > x * TAN_EIGHTH_PI
    steep = y > x * (1 / TAN_EIGHTH_PI)
    if lifted is not None:
        middle, steep = middle & ~lifted, steep & ~lifted
    difference, sum_ = m.sum_pair(y, -x), m.sum_pair(y, x)
    above = m.select(steep, -x, m.select(middle, difference[0], y))
    below = m.select(steep, y, m.select(middle, sum_[0], x))
    if difference[1] is None or sum_[1] is None:
        q, q_low = m.quotient_pair((above, None), (below, None))
    else:
        between = middle & ~steep
        above_low, below_low = m.select(between, difference[1], 0.0), m.select(between, sum_[1], 0.0)
        q, q_low = m.quotient_pair((above, above_low), (below, below_low))
    small = q if lifted is None else m.select(lifted, 0.0, q)
    z = small * small
    more = q * z * m.fitted_polynomial("atan", z)
    zero = m.like(x, 0.0)
    base = m.select(steep, m.like(x, HALF_PI[0]), m.select(middle, m.like(x, QUARTER_PI[0]), zero))
    if q_low is None:
        return base + (q + more), None
    base_low = m.select(steep, m.like(x, HALF_PI[1]), m.select(middle, m.like(x, QUARTER_PI[1]), zero))
    high, low = m.ordered_pair(base, q)
    assert low is not None
    return m.ordered_pair(high, low + (base_low + (q_low + more)))


def atan2(m: Maths, y: Vector, x: Vector) -> Vector:
    """The angle of the point (x, y), from -pi to pi, signed zeros and infinities included."""
    up, right = m.absolute(y), m.absolute(x)
    zero, one = m.like(x, 0.0), m.like(x, 1.0)
    # an infinite coordinate counts as 1 and the other then as 0; two infinite ones, or two zeros, are alike or (1, 0)
    up_infinite, right_infinite = up.equals(INFINITY), right.equals(INFINITY)
    infinite = up_infinite | right_infinite
    up = m.select(infinite, m.select(up_infinite, one, zero), up)
    right = m.select(infinite, m.select(right_infinite, one, zero), right)
    right = m.select(up.equals(0.0) & right.equals(0.0), one, right)
    behind = m.bits(x) < 0
    if m.single:  # numbers of single precision have no quotients that overflow or vanish in double precision
        angle, _ = _angle(m, up, right)
        value = m.select(behind, PI[0] - angle, angle)
    else:
        value = _scaled_angle(m, up, right, behind)
    return m.select(x.is_nan | y.is_nan, x + y, m.copysign(value, y))


def _scaled_angle(m: Maths, up: Vector, right: Vector, behind: Vector) -> Vector:
    """The angle in the first quadrant, or pi less it; neither a quotient nor 1/x may overflow or lose digits.

    Where the angle is as small as 2**-200 it is up / right, and computed 2**600 times as large, as its digits, or those
    of `up`, may be subnormal ones.
    """
    one = m.like(up, 1.0)
    larger = m.select(up > right, up, right)
    huge, small = larger > 2.0**500, larger < 2.0**-400
    factor = m.select(huge, m.like(up, 2.0**-600), m.select(small, m.like(up, 2.0**600), one))
    lifted = (up < right * 2.0**-200) & ~small
    up_factor = m.select(lifted, m.select(huge, one, 2.0**600), factor)
    back = m.select(lifted, m.like(up, 2.0**-600), 1.0)
    high, low = _angle(m, up * up_factor, right * factor, lifted)
    assert low is not None
    total, rest = m.ordered_pair(m.like(up, PI[0]), -high * back)
    assert rest is not None
    return m.select(behind, total + (rest + (PI[1] - low * back)), (high + low) * back)


def _asin_parts(m: Maths, x: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """|x|, whether it is above 1/2, s and asin(s) - s, where s = |x| or sqrt((1 - |x|) / 2)."""
    magnitude = m.absolute(x)
    big = magnitude > 0.5
    z = m.select(big, (1.0 - magnitude) * 0.5, magnitude * magnitude)
    s = m.select(big, m.square_root(z), magnitude)
    return magnitude, big, s, s * z * m.fitted_polynomial("asin", z)


def asin(m: Maths, x: Vector) -> Vector:
    """s + s**3 P(s**2) up to 1/2, pi/2 - 2 asin(sqrt((1 - |x|) / 2)) beyond."""
    _, big, s, more = _asin_parts(m, x)
    beyond = (HALF_PI[0] - s * 2.0) - (more * 2.0 - HALF_PI[1])
    value = m.select(big, beyond, s + more)
    return _odd_near_zero(m, x, m.copysign(value, x), 2.0**-28)


def acos(m: Maths, x: Vector) -> Vector:
    """pi / 2 - asin(x), computed without cancellation near 1."""
    _, big, s, more = _asin_parts(m, x)
    negative = x < 0.0
    near = m.copysign(s, x)
    inside = HALF_PI[0] - (near - (HALF_PI[1] - m.copysign(m.absolute(more), x)))
    twice = (s + more) * 2.0
    beyond = m.select(negative, PI[0] - (twice - PI[1]), twice)
    return m.select(big, beyond, inside)


Function = Callable[..., Vector]

ELEMENTARY: dict[str, Function] = {
    "acos": acos,
    "acosh": acosh,
    "asin": asin,
    "asinh": asinh,
    "atan": atan,
    "atan2": atan2,
    "atanh": atanh,
    "cbrt": cbrt,
    "cos": cos,
    "cosh": cosh,
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "log": log,
    "log10": log10,
    "log1p": log1p,
    "log2": log2,
    "logaddexp": logaddexp,
    "logaddexp2": logaddexp2,
    "power": power,
    "sigmoid": sigmoid,
    "sin": sin,
    "sinh": sinh,
    "softplus": softplus,
    "tan": tan,
    "tanh": tanh,
}
