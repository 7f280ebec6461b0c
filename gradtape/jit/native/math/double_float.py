"""Double-float arithmetic: unevaluated sums `high + low` of two floats, where one rounding too many would show.

`Maths` adds them to `Lanes`, with one switch: where the answer is wanted in binary32 only, binary64 arithmetic is
accurate enough by itself, the low parts are absent (None) and cost nothing. So a formula is written once for both.
"""

from __future__ import annotations

import struct
from typing import Any

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.vectors import Lanes, Number, Vector
from gradtape.jit.native.math import coefficients

Pair = tuple[Vector, Vector | None]

SHIFTER = 1.5 * 2.0**52  # adding it to |x| < 2**51 rounds x to an integer, which is left in the lowest bits
SPLITTER = 2.0**27 + 1
ONE_BITS = 1023 << 52


def bits_of(number: float) -> int:
    """The 64 bits of a number, as a signed integer.

    >>> from gradtape.jit.native.math.double_float import bits_of
    >>> hex(bits_of(1.0))
    '0x3ff0000000000000'
    """
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


class Maths(Lanes):
    """Arithmetic on binary64 lanes, for answers that are wanted in binary64 or (`single`) in binary32."""

    def __init__(self, lanes: Lanes, single: bool) -> None:
        self.builder = lanes.builder
        self.width = lanes.width
        self.fused = lanes.fused
        self._seen = lanes._seen
        self.single = single
        self.reductions: dict[ir.Value, Any] = {}

    def fitted(self, name: str) -> tuple[float, ...]:
        """The coefficients that `tools/fit_coefficients.py` found for a function, as many as the precision needs."""
        return (coefficients.SINGLE if self.single else coefficients.DOUBLE)[name]

    def fitted_polynomial(self, name: str, variable: Vector) -> Vector:
        """A polynomial of the table of fitted coefficients."""
        return self.polynomial(self.fitted(name), variable)

    # -- sums and products with their rounding errors ---------------------------------------------------------

    def exact_sum(self, left: Vector, right: Vector | Number) -> tuple[Vector, Vector]:
        """The rounded sum and what the rounding left out, exactly, whichever is the larger (Knuth)."""
        right = self.like(left, right)
        total = left + right
        shift = total - left
        return total, (left - (total - shift)) + (right - shift)

    def exact_product(self, left: Vector, right: Vector | Number) -> tuple[Vector, Vector]:
        """The rounded product and what the rounding left out, exactly."""
        right = self.like(left, right)
        product = left * right
        if self.fused:
            return product, self.multiply_add(left, right, -product)
        left_high, left_low = self._split(left)
        right_high, right_low = self._split(right)
        rest = ((left_high * right_high - product) + left_high * right_low) + left_low * right_high
        return product, rest + left_low * right_low

    def _split(self, value: Vector) -> tuple[Vector, Vector]:
        """Two halves of at most 26 bits each, whose products are exact (Veltkamp)."""
        scaled = value * SPLITTER
        high = scaled - (scaled - value)
        return high, value - high

    def sum_pair(self, left: Vector, right: Vector | Number) -> Pair:
        """Left and right as a pair."""
        return (left + right, None) if self.single else self.exact_sum(left, right)

    def ordered_pair(self, large: Vector, small: Vector | None) -> Pair:
        """Large and small as a pair, where the first is not smaller in magnitude (or is zero) (Dekker)."""
        if small is None:
            return large, None
        if self.single:
            return large + small, None
        total = large + small
        return total, small - (total - large)

    def product_pair(self, left: Vector, right: Vector | Number) -> Pair:
        """A product with its rounding error; without it for results in binary32, which need none."""
        return (left * right, None) if self.single else self.exact_product(left, right)

    def quotient_pair(self, above: Pair, below: Pair) -> Pair:
        """Above / below: one division, then a correction by what is left over."""
        if self.single:
            return above[0] / below[0], None
        inverse = 1.0 / below[0]
        quotient = above[0] * inverse
        product, rest = self.exact_product(quotient, below[0])
        left_over = (above[0] - product) - rest
        left_over = self.plus(left_over, above[1])
        if below[1] is not None:
            left_over = left_over - quotient * below[1]
        return quotient, left_over * inverse

    def pair_times_pair(self, left: Pair, right: Pair) -> Pair:
        """The product of two pairs."""
        high, low = self.product_pair(left[0], right[0])
        if low is None:
            return high, None
        for one, other in ((left[0], right[1]), (right[0], left[1])):
            if other is not None:
                low = self.multiply_add(one, other, low)
        return self.ordered_pair(high, low)

    def constant_pair(self, like: Vector, high: float, low: float) -> Pair:
        """A constant as a pair."""
        return self.like(like, high), None if self.single else self.like(like, low)

    @staticmethod
    def plus(value: Vector, low: Vector | None) -> Vector:
        """The sum, where the second may be absent."""
        return value if low is None else value + low

    @staticmethod
    def times(low: Vector | None, factor: Vector | Number) -> Vector | None:
        """The low part of a pair times a factor; None if there is no low part."""
        return None if low is None else low * factor

    # -- whole numbers and exponents --------------------------------------------------------------------------

    def rounded(self, value: Vector, factor: float = 1.0) -> tuple[Vector, Vector]:
        """`value * factor` rounded to a whole number (below 2**50), as a float and as an integer."""
        shifted = self.multiply_add(value, factor, SHIFTER)
        return shifted - SHIFTER, self.bits(shifted) - bits_of(SHIFTER)

    def power_of_two(self, exponent: Vector) -> Vector:
        """2.0 to an integer from -1022 to 1023."""
        return self.from_bits((exponent + 1023) << 52)

    def scaled(self, value: Vector, exponent: Vector) -> Vector:
        """`value * 2**exponent` in two steps, the first of them exact, so that subnormal results are rounded once."""
        half = ((exponent + 2048) >> 1) - 1024
        return value * self.power_of_two(half) * self.power_of_two(exponent - half)

    def at_most(self, value: Vector, bound: float) -> Vector:
        """The value, or the bound where it is larger; NaN stays."""
        return self.select(value > bound, bound, value)

    def at_least(self, value: Vector, bound: float) -> Vector:
        """The larger of a value and a bound; NaN stays NaN."""
        return self.select(value < bound, bound, value)
