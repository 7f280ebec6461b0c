"""Operations on each element by itself: arithmetic, powers, exponentials, trigonometry, rounding, comparison.

A row is a NumPy function and its partial derivatives: `x`, `y`, `z` are the inputs, `out` is the result. `domain` says
where the tests may draw each input from. Rules are NumPy code, so they can be differentiated again.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradtape.core.batch import batch_elementwise
from gradtape.core.rules import constant, elementwise, general, linear
from gradtape.core.shapes import unbroadcast
from gradtape.protocols import answers

POSITIVE = (0.5, 2.0)
UNIT = (-0.8, 0.8)

# -- arithmetic

add = elementwise(np.add, 1, 1)
subtract = elementwise(np.subtract, 1, -1)
multiply = elementwise(np.multiply, lambda y: y, lambda x: x)
divide = elementwise(np.divide, lambda y: 1 / y, lambda out, y: -out / y, name="divide", domain=[None, POSITIVE])
negative = elementwise(np.negative, -1)
positive = elementwise(np.positive, 1)
reciprocal = elementwise(np.reciprocal, lambda out: -out * out, domain=[POSITIVE])
square = elementwise(np.square, lambda x: 2 * x)
remainder = elementwise(np.remainder, 1, lambda x, y: -np.floor_divide(x, y), domain=[(0.1, 0.9), (1.5, 2.5)])
fmod = elementwise(np.fmod, 1, lambda x, y: -np.trunc(x / y), domain=[(0.1, 0.9), (1.5, 2.5)])
floor_divide = constant(np.floor_divide)


# -- powers: d(x^y) = y x^(y-1) dx + x^y log(x) dy, with the limits 0 where y = 0 and where x = 0


def _power_slope(x: Any, y: Any) -> Any:
    if isinstance(y, int | float):
        return y * x ** (y - 1) if y != 0 else np.zeros_like(x)
    return y * x ** np.where(y == 0, 1, y - 1)


def _exponent_slope(out: Any, x: Any) -> Any:
    return out * np.log(np.where(x == 0, 1, x))


power = elementwise(operator.pow, _power_slope, _exponent_slope, name="power", domain=[POSITIVE, None])
float_power = elementwise(np.float_power, _power_slope, _exponent_slope, domain=[POSITIVE, None])
sqrt = elementwise(np.sqrt, lambda out: 0.5 / out, domain=[POSITIVE])
cbrt = elementwise(np.cbrt, lambda out: 1 / (3 * out * out), domain=[POSITIVE])
hypot = elementwise(
    np.hypot, lambda out, x: x / np.where(out == 0, 1, out), lambda out, y: y / np.where(out == 0, 1, out)
)

# -- exponentials and logarithms

LN2, LN10 = float(np.log(2)), float(np.log(10))
exp = elementwise(np.exp, lambda out: out)
exp2 = elementwise(np.exp2, lambda out: out * LN2)
expm1 = elementwise(np.expm1, lambda out: out + 1)
log = elementwise(np.log, lambda x: 1 / x, domain=[POSITIVE])
log2 = elementwise(np.log2, lambda x: 1 / (x * LN2), domain=[POSITIVE])
log10 = elementwise(np.log10, lambda x: 1 / (x * LN10), domain=[POSITIVE])
log1p = elementwise(np.log1p, lambda x: 1 / (1 + x), domain=[POSITIVE])


def _log_share(x: Any, out: Any) -> Any:
    """exp(x - out), and 0 where both are -inf."""
    return np.exp(x - np.where(np.isneginf(out), 0, out))


logaddexp = elementwise(np.logaddexp, lambda x, out: _log_share(x, out), lambda y, out: _log_share(y, out))
logaddexp2 = elementwise(
    np.logaddexp2, lambda x, out: _log_share(x * LN2, out * LN2), lambda y, out: _log_share(y * LN2, out * LN2)
)

# -- trigonometry

sin = elementwise(np.sin, lambda x: np.cos(x))
cos = elementwise(np.cos, lambda x: -np.sin(x))
tan = elementwise(np.tan, lambda out: 1 + out * out, domain=[UNIT])
arcsin = elementwise(np.arcsin, lambda x: 1 / np.sqrt(1 - x * x), domain=[UNIT])
arccos = elementwise(np.arccos, lambda x: -1 / np.sqrt(1 - x * x), domain=[UNIT])
arctan = elementwise(np.arctan, lambda x: 1 / (1 + x * x))
arctan2 = elementwise(
    np.arctan2, lambda x, y: y / (x * x + y * y), lambda x, y: -x / (x * x + y * y), domain=[POSITIVE, POSITIVE]
)
sinh = elementwise(np.sinh, lambda x: np.cosh(x))
cosh = elementwise(np.cosh, lambda x: np.sinh(x))
tanh = elementwise(np.tanh, lambda out: 1 - out * out)
arcsinh = elementwise(np.arcsinh, lambda x: 1 / np.sqrt(x * x + 1))
arccosh = elementwise(np.arccosh, lambda x: 1 / np.sqrt((x - 1) * (x + 1)), domain=[(1.5, 3.0)])
arctanh = elementwise(np.arctanh, lambda x: 1 / ((1 - x) * (1 + x)), domain=[UNIT])
deg2rad = elementwise(np.deg2rad, float(np.pi / 180), answers=[np.radians])
rad2deg = elementwise(np.rad2deg, float(180 / np.pi), answers=[np.degrees])

# -- choices: ties share equally, a bound counts as inside


def _winner_share(mine: Any, other: Any, out: Any) -> Any:
    """1 where `mine` was chosen, one half where both were."""
    won, tied = np.equal(mine, out), np.equal(mine, other)
    return np.where(tied, 0.5, won).astype(out.dtype)


maximum = elementwise(
    np.maximum, lambda x, y, out: _winner_share(x, y, out), lambda x, y, out: _winner_share(y, x, out)
)
minimum = elementwise(
    np.minimum, lambda x, y, out: _winner_share(x, y, out), lambda x, y, out: _winner_share(y, x, out)
)
fmax = elementwise(np.fmax, lambda x, y, out: _winner_share(x, y, out), lambda x, y, out: _winner_share(y, x, out))
fmin = elementwise(np.fmin, lambda x, y, out: _winner_share(x, y, out), lambda x, y, out: _winner_share(y, x, out))

_clip = elementwise(
    lambda x, low, high: np.clip(x, low, high),
    lambda x, low, high, out: ((x >= low) & (x <= high)).astype(out.dtype),
    lambda x, low, out: (x < low).astype(out.dtype),
    lambda x, high, out: (x > high).astype(out.dtype),
    name="clip",
    names=("x", "low", "high"),
    domain=[(-2.0, 2.0), (-0.9, -0.6), (0.6, 0.9)],
)


@answers(np.clip)
def clip(x: Any, min: Any = None, max: Any = None) -> Any:
    """`x` limited to the range from `min` to `max`; the derivative is 1 inside and at the bounds, 0 outside.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: gt.clip(x, 0.0, 1.0).sum())(gt.tensor([-1.0, 0.5, 1.0, 2.0]))
    Tensor([0., 1., 1., 0.])
    """
    if min is None and max is None:
        return positive(x)
    if min is None:
        return _clip(x, -np.inf, max)
    if max is None:
        return _clip(x, min, np.inf)
    return _clip(x, min, max)


_select = linear(
    lambda condition, x, y: np.where(condition, x, y),
    None,
    lambda g, condition, x: unbroadcast(np.where(condition, g, 0), x.shape),
    lambda g, condition, y: unbroadcast(np.where(condition, 0, g), y.shape),
    name="where",
    names=("condition", "x", "y"),
    batch=batch_elementwise,
    samples=lambda draw: [
        ((draw(3, 4) > 0, draw(3, 4), draw(3, 4)), {}),
        ((draw(3, 1) > 0, draw(4), draw()), {}),
        ((np.array([True, False]), draw(2), draw(2)), {}),
        ((draw(0, 2) > 0, draw(0, 2), draw(2)), {}),
    ],
)


@answers(np.where)
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """`x` where `condition` holds and `y` elsewhere; each gets the gradient of the places it was taken at.

    >>> import gradtape as gt
    >>> x = gt.tensor([-1.0, 2.0])
    >>> gt.grad(lambda x: gt.where(x > 0, x * x, 0.0).sum())(x)
    Tensor([0., 4.])
    """
    if x is None and y is None:
        from gradtape.ops.indexing import nonzero

        return nonzero(condition)
    return _select(condition, x, y)


# -- complex numbers: the gradient is the direction of steepest ascent, so real functions of complex inputs have
#    rules of their own

absolute = general(
    np.absolute,
    reverse=lambda g, x: g * np.sign(x),
    forward=lambda dx, x: np.real(np.conj(np.sign(x)) * dx),
    batch=batch_elementwise,
    domain=[POSITIVE],
)
conjugate = linear(np.conjugate, lambda g: np.conj(g), batch=batch_elementwise, answers=[np.conj])
real = linear(lambda x: np.real(x), lambda g: g, name="real", batch=batch_elementwise, answers=[np.real])
imag = linear(
    lambda x: np.imag(x),
    lambda g, x: g * (1j if x.dtype.kind == "c" else 0),
    name="imag",
    batch=batch_elementwise,
    answers=[np.imag],
)
fabs = elementwise(np.fabs, lambda x: np.sign(x), domain=[POSITIVE])

# -- no derivative: what goes in here leaves the tape

sign = constant(np.sign, batch=batch_elementwise)
floor = constant(np.floor, batch=batch_elementwise)
ceil = constant(np.ceil, batch=batch_elementwise)
trunc = constant(np.trunc, batch=batch_elementwise)
rint = constant(np.rint, batch=batch_elementwise)
isnan = constant(np.isnan, batch=batch_elementwise)
isinf = constant(np.isinf, batch=batch_elementwise)
isfinite = constant(np.isfinite, batch=batch_elementwise)
signbit = constant(np.signbit, batch=batch_elementwise)
isneginf = constant(np.isneginf, batch=batch_elementwise, answers=[np.isneginf])
isposinf = constant(np.isposinf, batch=batch_elementwise, answers=[np.isposinf])
equal = constant(np.equal, batch=batch_elementwise)
not_equal = constant(np.not_equal, batch=batch_elementwise)
less = constant(np.less, batch=batch_elementwise)
less_equal = constant(np.less_equal, batch=batch_elementwise)
greater = constant(np.greater, batch=batch_elementwise)
greater_equal = constant(np.greater_equal, batch=batch_elementwise)
logical_and = constant(np.logical_and, batch=batch_elementwise)
logical_or = constant(np.logical_or, batch=batch_elementwise)
logical_xor = constant(np.logical_xor, batch=batch_elementwise)
logical_not = constant(np.logical_not, batch=batch_elementwise)
bitwise_and = constant(np.bitwise_and, batch=batch_elementwise)
bitwise_or = constant(np.bitwise_or, batch=batch_elementwise)
bitwise_xor = constant(np.bitwise_xor, batch=batch_elementwise)
invert = constant(np.invert, batch=batch_elementwise)
left_shift = constant(np.left_shift, batch=batch_elementwise)
right_shift = constant(np.right_shift, batch=batch_elementwise)

_round = constant(lambda x, decimals: np.round(x, decimals), name="round", batch=batch_elementwise)


@answers(np.round, np.around)
def round(x: Any, decimals: int = 0) -> Any:
    """`x` rounded to `decimals` places. It is flat almost everywhere, so no gradient passes.

    >>> import gradtape as gt
    >>> gt.round(gt.tensor([0.4, 1.6]))
    Tensor([0., 2.])
    """
    return _round(x, decimals=decimals)


# -- leaving and changing dtype

stop_gradient = constant(lambda x: x, name="stop_gradient", batch=batch_elementwise)
to_integer = constant(
    lambda x, dtype: np.asarray(x).astype(dtype), name="a cast to integer or bool", batch=batch_elementwise
)
_cast = linear(
    lambda x, dtype: x.astype(dtype),
    lambda g, x: (np.real(g) if g.dtype.kind == "c" and x.dtype.kind != "c" else g).astype(x.dtype),
    name="astype",
    batch=batch_elementwise,
    samples=lambda draw: [
        ((draw(2, 3),), {"dtype": np.dtype("float32")}),
        ((draw(2),), {"dtype": np.dtype("complex128")}),
    ],
)


@answers(np.astype)
def astype(x: Any, dtype: Any, copy: bool = True) -> Any:
    """`x` as numbers of another dtype; a gradient passes between floating point types only.

    >>> import gradtape as gt
    >>> gt.tensor([1.5]).astype("float32").dtype
    dtype('float32')
    """
    dtype = np.dtype(dtype)
    return _cast(x, dtype=dtype) if dtype.kind in "fc" else to_integer(x, dtype=dtype)


@answers(np.isclose)
def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Where two arrays agree within a tolerance.

    >>> import gradtape as gt
    >>> gt.isclose(gt.tensor([1.0, 2.0]), [1.0, 2.1])
    Tensor([ True, False])
    """
    return _isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


_isclose = constant(lambda a, b, **how: np.isclose(a, b, **how), name="isclose", batch=batch_elementwise)
