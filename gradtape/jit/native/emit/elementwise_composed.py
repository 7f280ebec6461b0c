"""Elementwise emitters that are composed of others: remainders, and functions that are formulas of vector maths.

The formulas are those of SciPy and NumPy, with their special cases, so that results agree with them to a few ulp.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.jit.native.emit.vectors import Vector

if TYPE_CHECKING:
    from gradtape.jit.native.emit.elementwise import Elements

DType = np.dtype[Any]
Emitter = Callable[["Elements", DType, Sequence[Vector], dict[str, Any]], Vector]
"""From elements, dtype, operands and parameters to the result: see `elementwise`."""

ROOT_HALF = math.sqrt(0.5)


# -- remainders


def _fmod(e: Elements, dtype: DType, x: Vector, y: Vector) -> Vector:
    """The remainder with the sign of x; for integers, 0 where y is 0."""
    if dtype.kind == "f":
        return Vector(e.lanes, e.lanes.builder.frem(x.ir, y.ir))  # exact; NaN where y is 0
    safe = _safe(e, dtype, y)
    rest = e.lanes.emit("urem" if dtype.kind == "u" else "srem", x, safe)
    return e.lanes.select(safe.equals(y), rest, 0)


def _safe(e: Elements, dtype: DType, y: Vector) -> Vector:
    """The divisor, or 1 where the division would trap: at 0, and at -1, which overflows for the lowest integer."""
    trap = y.equals(0) if dtype.kind == "u" else y.equals(0) | y.equals(-1)
    return e.lanes.select(trap, e.constant(dtype, 1), y)


def _remainder(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
    """The remainder with the sign of y."""
    x, y = operands
    rest = _fmod(e, dtype, x, y)
    if dtype.kind == "u":
        return rest
    return _with_sign_of(e, dtype, rest, y)


def _with_sign_of(e: Elements, dtype: DType, rest: Vector, y: Vector) -> Vector:
    zero = e.constant(dtype, 0)
    other_side = rest.differs(0) & ((rest < 0) ^ (y < 0))
    moved = e.lanes.select(other_side, rest + y, rest)
    if dtype.kind != "f":
        return moved
    return e.lanes.select(rest.equals(0), e.lanes.copysign(zero, y), moved)


def _floor_divide(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
    x, y = operands
    lanes = e.lanes
    if dtype.kind == "u":
        safe = _safe(e, dtype, y)
        return lanes.select(y.equals(0), e.constant(dtype, 0), lanes.emit("udiv", x, safe))
    if dtype.kind == "i":
        safe = _safe(e, dtype, y)
        quotient, rest = lanes.emit("sdiv", x, safe), lanes.emit("srem", x, safe)
        down = rest.differs(0) & ((rest < 0) ^ (y < 0))
        quotient = lanes.select(down, quotient - 1, quotient)
        return lanes.select(y.equals(0), e.constant(dtype, 0), lanes.select(y.equals(-1), -x, quotient))
    rest = _fmod(e, dtype, x, y)
    quotient = (x - rest) / y
    quotient = lanes.select(rest.differs(0) & ((rest < 0) ^ (y < 0)), quotient - 1.0, quotient)
    whole = lanes.intrinsic("floor", quotient)
    whole = lanes.select((quotient - whole) > 0.5, whole + 1.0, whole)
    whole = lanes.select(quotient.equals(0), lanes.copysign(e.constant(dtype, 0), x / y), whole)
    return lanes.select(y.equals(0), x / y, whole)


# -- steps, and products with logarithms


def _heaviside(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
    x, at_zero = operands
    beside = e.lanes.select(x < 0, e.constant(dtype, 0), e.constant(dtype, 1))
    return e.lanes.select(x.is_nan, x, e.lanes.select(x.equals(0), at_zero, beside))


def _times_log(name: str) -> Emitter:
    """x times a logarithm of y, and 0 where x is 0, unless y is NaN."""

    def emit(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
        x, y = operands
        product = x * e.function(name, dtype, y)
        return e.lanes.select(x.equals(0) & ~y.is_nan, e.constant(dtype, 0), product)

    return emit


def _entr(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
    (x,) = operands
    product = -x * e.function("log", dtype, x)
    below = e.lanes.select(x < 0, e.constant(dtype, -np.inf), product)
    return e.lanes.select(x.equals(0), e.constant(dtype, 0), below)


def _logit(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
    """log(x / (1 - x)); near 1/2, where that is small, by log1p of the distance from 1/2."""
    (x,) = operands
    lanes = e.lanes
    distance = (x - 0.5) * 2.0
    near = e.function("log1p", dtype, distance) - e.function("log1p", dtype, -distance)
    far = e.function("log", dtype, x / (1.0 - x))
    return lanes.select((x > 0.3) & (x < 0.65), near, far)


def _log_expit(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
    return -e.function("softplus", dtype, -operands[0])


# -- the normal distribution


def _log_ndtr(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
    """log(erfcx(-x / sqrt 2) / 2) - x**2 / 2 below -1, and log1p(-ndtr(-x)) from there on; all in double precision."""
    double = np.dtype(np.float64)
    x = e.cast(operands[0], dtype, double)
    tail = e.function("log", double, e.function("erfcx", double, -x * ROOT_HALF) * 0.5) - x * x * 0.5
    middle = e.function("log1p", double, -e.function("ndtr", double, -x))
    return e.cast(e.lanes.select(x < -1.0, tail, middle), double, dtype)


def signbit(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
    """Whether the sign bit is set, also of zeros and NaNs."""
    (x,) = operands
    one = e.constant(dtype, 1)
    return e.lanes.copysign(one, x) < 0


COMPOSED: dict[str, tuple[str, Emitter]] = {
    "remainder": ("iuf", _remainder),
    "fmod": ("iuf", lambda e, dtype, operands, params: _fmod(e, dtype, *operands)),
    "floor_divide": ("iuf", _floor_divide),
    "heaviside": ("f", _heaviside),
    "xlogy": ("f", _times_log("log")),
    "xlog1py": ("f", _times_log("log1p")),
    "entr": ("f", _entr),
    "logit": ("f", _logit),
    "log_expit": ("f", _log_expit),
    "log_ndtr": ("f", _log_ndtr),
}
"""Name: the kinds of dtype it is computed in, and its emitter."""

PARTS: dict[str, list[str]] = {
    "xlogy": ["log"],
    "xlog1py": ["log1p"],
    "entr": ["log"],
    "logit": ["log", "log1p", "log1p"],
    "log_expit": ["softplus"],
    "log_ndtr": ["log", "erfcx", "log1p", "ndtr"],
    "polygamma": ["trigamma"],
}
"""The vector functions that each is made of."""
