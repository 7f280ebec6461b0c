"""Functions that are computed in binary32 throughout: twice as many lanes to a register as in binary64.

`elementary` computes an answer in binary32 with binary64 arithmetic. For the functions that networks consist of, the
few bits that this spares are not worth half the speed: here they are within 2 ulp by binary32 arithmetic alone.
Conventions are those of `elementary`, with binary32 lanes in and out.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.vectors import FLOAT, Lanes, Vector
from gradtape.jit.native.math import coefficients

LOG2_E = 1.4426950408889634
LOG_2 = (0.693359375, -2.1219444005469057e-4)
"""log 2 with 9 bits, so that its product with an exponent is exact, and the rest."""
SHIFTER = 1.5 * 2.0**23
"""Adding it to |x| < 2**22 rounds x to an integer, which is left in the lowest bits."""
SLOPE_LESS_ONE = 0.1283791670955126
"""2 / sqrt(pi) - 1: adding x times this to x rounds once, where x times 1.128... would round twice."""
_INTEGER = ir.IntType(32)
_SHIFTER_BITS = struct.unpack("<i", struct.pack("<f", SHIFTER))[0]


def _bits(m: Lanes, value: Vector) -> Vector:
    return m.convert("bitcast", value, _INTEGER)


def _power_of_two(m: Lanes, exponent: Vector) -> Vector:
    """2.0 to an integer from -126 to 127."""
    return m.convert("bitcast", (exponent + 127) << 23, FLOAT)


def _polynomial(m: Lanes, name: str, variable: Vector) -> Vector:
    return m.polynomial(coefficients.BINARY32[name], variable)


def _limit(m: Lanes, x: Vector, low: float, high: float) -> Vector:
    """The number, or the end of the interval that it is beyond; NaN stays."""
    x = m.select(x > high, high, x)
    return m.select(x < low, low, x)


def _exp_parts(m: Lanes, x: Vector) -> tuple[Vector, Vector]:
    """exp x as a number near 1 and a power of two, for |x| below 2**15."""
    shifted = m.multiply_add(x, LOG2_E, SHIFTER)
    whole, exponent = shifted - SHIFTER, _bits(m, shifted) - _SHIFTER_BITS
    high = m.multiply_add(whole, -LOG_2[0], x)  # exact
    low = whole * -LOG_2[1]
    rest = high + low
    low = low - (rest - high)
    more = m.multiply_add(rest * rest, _polynomial(m, "exp", rest), low) + rest
    return more + 1.0, exponent


def exp(m: Lanes, x: Vector) -> Vector:
    """exp(x) = 2^k exp(r), with r in a small interval around 0."""
    # products that underflow are slow, and masked attention has many of them: these are replaced before and after
    vanishes = x < -104.0
    value, exponent = _exp_parts(m, m.select(vanishes, 0.0, m.select(x > 89.0, 89.0, x)))
    half = ((exponent + 256) >> 1) - 128  # in two steps, so that subnormal results are rounded once
    return m.select(vanishes, 0.0, value * _power_of_two(m, half) * _power_of_two(m, exponent - half))


def _exp_of_moderate(m: Lanes, x: Vector) -> Vector:
    """exp(x) for |x| up to 87, which is a normal number."""
    value, exponent = _exp_parts(m, x)
    return value * _power_of_two(m, exponent)


def sigmoid(m: Lanes, x: Vector) -> Vector:
    """1 / (1 + z) for positive x and z / (1 + z) for negative, z = exp(-|x|)."""
    power = exp(m, -m.absolute(x))
    total = power + 1.0
    rest = power - (total - 1.0)  # exact: what rounding has left out of the total
    quotient = m.select(x < 0.0, power, m.like(x, 1.0)) / total
    inverse = 1.457 - total * 0.5  # to 6%, which is enough for the correction
    return quotient - quotient * rest * inverse


def tanh(m: Lanes, x: Vector) -> Vector:
    """A polynomial near 0, 1 - 2 / (exp(2 |x|) + 1) beyond."""
    magnitude = m.absolute(x)
    square = x * x
    near = m.multiply_add(x * square, _polynomial(m, "tanh", square), x)
    power = _exp_of_moderate(m, _limit(m, magnitude * 2.0, 0.0, 40.0))
    far = 1.0 - 2.0 / (power + 1.0)
    return m.copysign(m.select(magnitude < 0.625, near, far), x)


def erf(m: Lanes, x: Vector) -> Vector:
    """A polynomial near 0, 1 - erfc beyond; erfc is the exponential of a polynomial."""
    magnitude = m.absolute(x)
    square = x * x
    near = m.multiply_add(x, m.multiply_add(square, _polynomial(m, "erf", square), SLOPE_LESS_ONE), x)
    power = _polynomial(m, "log_erfc", _limit(m, magnitude, 1.0, 4.0) - 1.0)
    far = 1.0 - _exp_of_moderate(m, -power)
    return m.select(magnitude < 1.0, near, m.copysign(far, x))


FUNCTIONS: dict[str, Callable[[Lanes, Vector], Vector]] = {"exp": exp, "sigmoid": sigmoid, "tanh": tanh, "erf": erf}
"""The functions by name; all others are computed in binary64."""
