"""Powers with small constant exponents by products, reciprocals and square roots, instead of logarithms.

`x ** -1.5` is `r * sqrt(r)` for `r = 1 / x`: the reciprocal first, so that nothing overflows or vanishes before the
result does. What the roundings of the reciprocal, the root and the products left out is added at the end, where it is
finite: negative powers are within 1 ulp. Zeros, infinities, NaN and negative numbers are as in `np.power`.
"""

from __future__ import annotations

import math

from gradtape.jit.native.emit.vectors import Vector
from gradtape.jit.native.math.double_float import Maths

EXPONENTS = frozenset({-3.0, -2.5, -2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0})
"""The exponents that `small_power` takes."""
CORRECTION = 2.0**-49
"""What a correction is at most, relative to the result."""


def small_power(m: Maths, x: Vector, exponent: float) -> Vector:
    """x to a constant power, one of `EXPONENTS`."""
    if exponent == 1:
        return x
    if exponent == 4:
        return (x * x) * (x * x)
    if exponent == 0.5:
        return m.square_root(x)
    if exponent == -1:
        return 1.0 / x
    whole = math.floor(abs(exponent))
    if exponent == whole:
        return x * x * x if whole == 3 else x * x
    if abs(exponent) != whole:
        # the power of -inf is that of inf, and that of -0.0 is that of 0.0
        x = m.select(x.equals(-math.inf), math.inf, x) + 0.0
    if exponent > 0:
        return x * m.square_root(x) if whole == 1 else (x * x) * m.square_root(x)
    if exponent == -0.5:
        return _inverse_root(m, x)
    return _negative_power(m, x, whole, abs(exponent) != whole)


def _inverse_root(m: Maths, x: Vector) -> Vector:
    """1 / sqrt(x), corrected by what the root leaves of x and the quotient of 1."""
    root = m.square_root(x)
    found = 1.0 / root
    if m.single:
        return found
    product, rest = m.exact_product(root, root)
    above = ((x - product) - rest) * found * 0.5  # sqrt(x) - root
    product, rest = m.exact_product(found, root)
    more = (((1.0 - product) - rest) - found * above) * found
    return _corrected(m, found, more)


def _negative_power(m: Maths, x: Vector, whole: int, half: bool) -> Vector:
    """x ** -(whole + half / 2) for a whole number from 1 to 3: r * ... * r * sqrt(r) with r = 1 / x."""
    inverse = 1.0 / x
    found: Vector = inverse
    errors: list[Vector] = []
    factors = [inverse] * (whole - 1) + ([m.square_root(inverse)] if half else [])
    for factor in factors:
        errors = [error * factor for error in errors]
        product, rest = m.exact_product(found, factor)
        found = product
        errors.append(rest)
    if m.single:
        return found
    product, rest = m.exact_product(x, inverse)
    relative = ((1.0 - product) - rest) * (whole + 0.5 * half)  # of the reciprocal, to that power
    if half:
        root = factors[-1]
        product, rest = m.exact_product(root, root)
        relative = relative + ((inverse - product) - rest) * x * 0.5
    more = found * relative
    for error in errors:
        more = more + error
    return _corrected(m, found, more)


def _corrected(m: Maths, found: Vector, more: Vector) -> Vector:
    """The sum, where the correction is one of the last digits: it is not where a step overflowed or vanished."""
    return m.select(m.absolute(more) < m.absolute(found) * CORRECTION, found + more, found)
