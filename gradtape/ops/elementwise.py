"""Arithmetic, powers, exponentials and trigonometry on each element by itself, and choices between elements.

A row is a NumPy function and its partial derivatives: `x`, `y`, `z` are the inputs, `out` is the result. `domain` says
where the tests may draw each input from. Rules are NumPy code, so they can be differentiated again.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import Units, batch_elementwise
from gradtape.core.graph import Node
from gradtape.core.operation import Op
from gradtape.core.rules import elementwise, general, linear, over
from gradtape.core.shapes import unbroadcast
from gradtape.core.structural_zeros import Support, chosen_by_slope
from gradtape.core.tensor import Tensor
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import OperandError
from gradtape.numpy_dispatch.protocols import COMPOSED, answers
from gradtape.ops.arguments import argument_error, as_value, cast_to, write_result_into
from gradtape.ops.documentation import slopes

__all__ = [
    "acos",
    "acosh",
    "add",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "clip",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "divide",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "float_power",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "maximum",
    "minimum",
    "modf",
    "multiply",
    "nan_to_num",
    "negative",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "reciprocal",
    "remainder",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "where",
]

POSITIVE = (0.5, 2.0)
UNIT = (-0.8, 0.8)

# -- arithmetic


def _scaled_units(index: int, values: Sequence[Any]) -> Any:
    """Unit vectors times numbers that there are one of for each element, or one for all."""
    weights, factor = values[index], values[1 - index]
    return Units(weights * factor) if np.shape(factor) in ((), weights.shape) else None


add: Op = elementwise(np.add, 1, 1, doc=slopes("The sum", "1 and 1", "add(2.0, 3.0) -> 5., 1., 1."))
subtract: Op = elementwise(
    np.subtract, 1, -1, doc=slopes("The difference", "1 and -1", "subtract(2.0, 3.0) -> -1., 1., -1.")
)
multiply: Op = elementwise(
    np.multiply,
    lambda y: y,
    lambda x: x,
    units=_scaled_units,
    doc=slopes("The product", "y and x", "multiply(2.0, 3.0) -> 6., 3., 2."),
)
divide: Op = elementwise(
    np.divide,
    over(lambda y: y),
    lambda out, y: -out / y,
    name="divide",
    domain=[None, POSITIVE],
    doc=slopes("The quotient", "1 / y and -x / y^2", "divide(3.0, 2.0) -> 1.5, 0.5, -0.75"),
)
negative: Op = elementwise(np.negative, -1, doc=slopes("The negative", "-1", "negative(2.0) -> -2., -1."))
positive: Op = elementwise(np.positive, 1, doc=slopes("The same value", "1", "positive(2.0) -> 2., 1."))
reciprocal: Op = elementwise(
    np.reciprocal,
    lambda out: -out * out,
    domain=[POSITIVE],
    doc=slopes("One divided by each element", "-1 / x^2", "reciprocal(2.0) -> 0.5, -0.25"),
)
square: Op = elementwise(np.square, lambda x: 2 * x, doc=slopes("The square", "2 x", "square(3.0) -> 9., 6."))
remainder: Op = elementwise(
    np.remainder,
    1,
    lambda x, y: -np.floor_divide(x, y),
    domain=[(3.2, 3.8), (1.3, 1.45)],  # the quotient stays between 2 and 3
    doc=slopes(
        "What is left of x after division by y, with the sign of y",
        "1 and -floor(x / y)",
        "remainder(5.5, 2.0) -> 1.5, 1., -2.",
    ),
)
fmod: Op = elementwise(
    np.fmod,
    1,
    lambda x, y: -np.trunc(x / y),
    domain=[(3.2, 3.8), (1.3, 1.45)],  # the quotient stays between 2 and 3
    doc=slopes(
        "What is left of x after division by y, with the sign of x",
        "1 and -trunc(x / y)",
        "fmod(-5.5, 2.0) -> -1.5, 1., 2.",
    ),
)

# -- powers: d(x^y) = y x^(y-1) dx + x^y log(x) dy, with the limits 0 where x = y = 0 and where x = 0


def _power_slope(x: Any, y: Any) -> Any:
    if isinstance(y, (int, float)):
        return y * x ** (y - 1) if y != 0 else np.zeros_like(x)
    return y * np.where((x == 0) & (y == 0), 1, x) ** (y - 1)


def _exponent_slope(out: Array, x: Array) -> Any:
    return out * np.log(cast_to(np.where(x == 0, 1, x), out.dtype))  # of a small integer it would have half precision


def _nonzero(out: Array) -> Any:
    """A divisor: 1 in the place of 0."""
    return np.where(out == 0, 1, out)


power: Op = elementwise(
    operator.pow,
    _power_slope,
    _exponent_slope,
    name="power",
    domain=[POSITIVE, None],
    doc=slopes("x to the power y", "y x^(y-1) and x^y log(x)", "power(2.0, 3.0) -> 8., 12., 5.54517744"),
)


def _numpy_power(x: Any, y: Any) -> Any:
    """`np.power`, which is `x ** y` but for truth values: only `**` squares them as 8-bit integers."""
    if type(y) is int and x.dtype == bool:
        x = cast_to(x, np.result_type(x.dtype, y))
    return power(x, y)


COMPOSED[np.power] = _numpy_power
float_power: Op = elementwise(
    np.float_power,
    _power_slope,
    _exponent_slope,
    domain=[POSITIVE, None],
    doc=slopes(
        "x to the power y, in double precision",
        "y x^(y-1) and x^y log(x)",
        "float_power(2.0, 3.0) -> 8., 12., 5.54517744",
    ),
)
sqrt: Op = elementwise(
    np.sqrt,
    over(lambda out: 2 * out),
    domain=[POSITIVE],
    doc=slopes("The square root", "1 / (2 sqrt(x)), inf at 0", "sqrt(4.0) -> 2., 0.25"),
)
cbrt: Op = elementwise(
    np.cbrt,
    over(lambda out: 3 * out * out),
    domain=[POSITIVE],
    doc=slopes("The cube root", "1 / (3 cbrt(x)^2)", "cbrt(8.0) -> 2., 0.08333333"),
)
hypot: Op = elementwise(
    np.hypot,
    lambda out, x: x / _nonzero(out),
    lambda out, y: y / _nonzero(out),
    doc=slopes(
        "sqrt(x^2 + y^2) without overflow", "x / hypot and y / hypot, 0 at 0", "hypot(3.0, 4.0) -> 5., 0.6, 0.8"
    ),
)
# the square root of a sum of squares: its slope at 0 is the smallest of the subgradients, 0
root_of_squares = elementwise(
    lambda x: np.sqrt(x), lambda out: 0.5 / np.where(out == 0, np.inf, out), name="root of squares", domain=[POSITIVE]
)

# -- exponentials and logarithms

LN2, LN10 = float(np.log(2)), float(np.log(10))
exp: Op = elementwise(np.exp, lambda out: out, doc=slopes("e to the power x", "exp(x)", "exp(0.0) -> 1., 1."))
exp2: Op = elementwise(
    np.exp2, lambda out: out * LN2, doc=slopes("2 to the power x", "2^x log(2)", "exp2(1.0) -> 2., 1.38629436")
)
expm1: Op = elementwise(
    np.expm1, lambda x: np.exp(x), doc=slopes("exp(x) - 1, exact near 0", "exp(x)", "expm1(0.0) -> 0., 1.")
)
log: Op = elementwise(
    np.log,
    over(lambda x: x),
    domain=[POSITIVE],
    doc=slopes("The natural logarithm", "1 / x", "log(1.0) -> 0., 1."),
)
log2: Op = elementwise(
    np.log2,
    over(lambda x: x * LN2),
    domain=[POSITIVE],
    doc=slopes("The logarithm to base 2", "1 / (x log(2))", "log2(8.0) -> 3., 0.18033688"),
)
log10: Op = elementwise(
    np.log10,
    over(lambda x: x * LN10),
    domain=[POSITIVE],
    doc=slopes("The logarithm to base 10", "1 / (x log(10))", "log10(100.0) -> 2., 0.00434294"),
)
log1p: Op = elementwise(
    np.log1p,
    over(lambda x: 1 + x),
    domain=[POSITIVE],
    doc=slopes("log(1 + x), exact near 0", "1 / (1 + x)", "log1p(0.0) -> 0., 1."),
)


def log_share(x: Array, out: Array) -> Any:
    """exp(x - out), and 0 where both are -inf."""
    return np.exp(x - np.where(np.isneginf(out), 0, out))


logaddexp: Op = elementwise(
    np.logaddexp,
    lambda x, out: log_share(x, out),
    lambda y, out: log_share(y, out),
    doc=slopes(
        "log(exp(x) + exp(y)) without overflow",
        "the shares exp(x - out) and exp(y - out)",
        "logaddexp(0.0, 0.0) -> 0.69314718, 0.5, 0.5",
    ),
)
logaddexp2: Op = elementwise(
    np.logaddexp2,
    lambda x, out: log_share(x * LN2, out * LN2),
    lambda y, out: log_share(y * LN2, out * LN2),
    doc=slopes(
        "log2(2^x + 2^y) without overflow",
        "the shares 2^(x - out) and 2^(y - out)",
        "logaddexp2(0.0, 0.0) -> 1., 0.5, 0.5",
    ),
)

# -- trigonometry

sin: Op = elementwise(np.sin, np.cos, doc=slopes("The sine", "cos(x)", "sin(0.0) -> 0., 1."))
cos: Op = elementwise(np.cos, lambda x: -np.sin(x), doc=slopes("The cosine", "-sin(x)", "cos(0.0) -> 1., -0."))
tan: Op = elementwise(
    np.tan, lambda out: 1 + out * out, domain=[UNIT], doc=slopes("The tangent", "1 + tan(x)^2", "tan(0.0) -> 0., 1.")
)
arcsin: Op = elementwise(
    np.arcsin,
    over(lambda x: np.sqrt(1 - x * x)),
    domain=[UNIT],
    doc=slopes("The inverse sine", "1 / sqrt(1 - x^2)", "arcsin(0.6) -> 0.64350111, 1.25"),
)
arccos: Op = elementwise(
    np.arccos,
    lambda x: -1 / np.sqrt(1 - x * x),
    domain=[UNIT],
    doc=slopes("The inverse cosine", "-1 / sqrt(1 - x^2)", "arccos(0.6) -> 0.92729522, -1.25"),
)
arctan: Op = elementwise(
    np.arctan,
    over(lambda x: 1 + x * x),
    doc=slopes("The inverse tangent", "1 / (1 + x^2)", "arctan(1.0) -> 0.78539816, 0.5"),
)
arctan2: Op = elementwise(
    np.arctan2,
    lambda x, y: y / np.hypot(x, y) / np.hypot(x, y),  # the squares of large or small numbers may not exist
    lambda x, y: x / np.hypot(x, y) / -np.hypot(x, y),
    domain=[POSITIVE, POSITIVE],
    doc=slopes(
        "The angle whose tangent is x / y, in the right quadrant",
        "y / (x^2 + y^2) and -x / (x^2 + y^2)",
        "arctan2(1.0, 1.0) -> 0.78539816, 0.5, -0.5",
    ),
)
sinh: Op = elementwise(np.sinh, np.cosh, doc=slopes("The hyperbolic sine", "cosh(x)", "sinh(0.0) -> 0., 1."))
cosh: Op = elementwise(
    np.cosh, lambda x: np.sinh(x), doc=slopes("The hyperbolic cosine", "sinh(x)", "cosh(0.0) -> 1., 0.")
)
tanh: Op = elementwise(
    np.tanh, lambda out: 1 - out * out, doc=slopes("The hyperbolic tangent", "1 - tanh(x)^2", "tanh(0.0) -> 0., 1.")
)
arcsinh: Op = elementwise(
    np.arcsinh,
    over(lambda x: np.sqrt(x * x + 1)),
    doc=slopes("The inverse hyperbolic sine", "1 / sqrt(x^2 + 1)", "arcsinh(0.75) -> 0.69314718, 0.8"),
)
arccosh: Op = elementwise(
    np.arccosh,
    over(lambda x: np.sqrt(x - 1) * np.sqrt(x + 1)),  # not the root of the product, which is on another branch
    domain=[(1.5, 3.0)],
    doc=slopes("The inverse hyperbolic cosine", "1 / sqrt(x^2 - 1)", "arccosh(1.25) -> 0.69314718, 1.33333333"),
)
arctanh: Op = elementwise(
    np.arctanh,
    over(lambda x: (1 - x) * (1 + x)),
    domain=[UNIT],
    doc=slopes("The inverse hyperbolic tangent", "1 / (1 - x^2)", "arctanh(0.6) -> 0.69314718, 1.5625"),
)
deg2rad: Op = elementwise(
    np.deg2rad,
    float(np.pi / 180),
    answers=[np.radians],
    doc=slopes("Degrees as radians", "pi / 180", "deg2rad(180.0) -> 3.14159265, 0.01745329"),
)
rad2deg: Op = elementwise(
    np.rad2deg,
    float(180 / np.pi),
    answers=[np.degrees],
    doc=slopes("Radians as degrees", "180 / pi", "rad2deg(0.0) -> 0., 57.29577951"),
)


def _sinc_slope(x: Array) -> Any:
    """(cos(pi x) - sinc(x)) / x, and near 0, where that cancels, its series: -pi^2 x / 3 + pi^4 x^3 / 30."""
    near = np.abs(x) < 3e-3
    far = np.where(near, 1, x)
    series = x * (-(np.pi**2) / 3 + (np.pi**4) / 30 * x * x)
    return np.where(near, series, (np.cos(np.pi * far) - np.sinc(far)) / far)


sinc: Op = elementwise(
    lambda x: np.sinc(x),
    _sinc_slope,
    name="sinc",
    answers=[np.sinc],
    doc=slopes("sin(pi x) / (pi x), and 1 at 0", "(cos(pi x) - sinc(x)) / x", "sinc(0.5) -> 0.63661977, -1.27323954"),
)

# -- choices: ties share equally, a bound counts as inside


def _winner_share(mine: Any, other: Array, out: Array) -> Any:
    """1 where `mine` was chosen, one half where both were."""
    won, tied = np.equal(mine, out), np.equal(mine, other)
    return np.where(tied, 0.5, won).astype(out.dtype)


_SHARES = (lambda x, y, out: _winner_share(x, y, out), lambda x, y, out: _winner_share(y, x, out))
_SHARED = "1 for the one chosen, 0 for the other, one half each when tied"

maximum: Op = elementwise(
    np.maximum,
    *_SHARES,
    chosen=chosen_by_slope,
    doc=slopes("The larger of two elements", _SHARED, "maximum(2.0, 2.0) -> 2., 0.5, 0.5"),
)
minimum: Op = elementwise(
    np.minimum,
    *_SHARES,
    chosen=chosen_by_slope,
    doc=slopes("The smaller of two elements", _SHARED, "minimum(2.0, 3.0) -> 2., 1., 0."),
)
fmax: Op = elementwise(
    np.fmax,
    *_SHARES,
    chosen=chosen_by_slope,
    doc=slopes("The larger of two elements, ignoring nan", _SHARED, "fmax(2.0, 3.0) -> 3., 0., 1."),
)
fmin: Op = elementwise(
    np.fmin,
    *_SHARES,
    chosen=chosen_by_slope,
    doc=slopes("The smaller of two elements, ignoring nan", _SHARED, "fmin(2.0, 3.0) -> 2., 1., 0."),
)
fabs: Op = elementwise(
    np.fabs,
    lambda x: np.sign(x),
    doc=slopes("The absolute value of real numbers", "sign(x), 0 at 0", "fabs(-2.0) -> 2., -1."),
)
copysign: Op = elementwise(
    np.copysign,
    lambda x, y: np.sign(x) * np.copysign(1, y),
    None,
    doc=slopes(
        "The size of x with the sign of y",
        "1 where x keeps its sign, -1 where not; none for y",
        "copysign(-2.0, 3.0) -> 2., -1.",
    ),
)
modf: Op = general(
    np.modf,
    reverse=lambda g: g[0],
    forward=lambda dx: (dx, None),
    batch=batch_elementwise,
    outputs=True,
    doc="""The fractional and the integral part, with the sign of x. Derivatives: 1 and 0.

    >>> import gradtape as gt
    >>> gt.modf(gt.tensor([1.5, -2.25]))
    (Tensor([ 0.5 , -0.25]), Tensor([ 1., -2.]))
    """,
)

_clip = elementwise(
    lambda x, low, high: np.clip(x, low, high),
    lambda x, low, high, out: ((x >= low) & (x <= high)).astype(out.dtype),
    lambda x, low, high, out: ((x < low) & (low <= high)).astype(out.dtype),
    lambda x, low, high, out: ((x > high) | (low > high)).astype(out.dtype),
    name="clip",
    names=("x", "low", "high"),
    chosen=chosen_by_slope,
    domain=[(-2.0, 2.0), (-0.9, -0.6), (0.6, 0.9)],
)


@answers(np.clip)
def clip(
    x: TensorLike, min: Any = None, max: Any = None, out: Array | None = None, *, a_min: Any = None, a_max: Any = None
) -> Any:
    """`x` limited to the range from `min` to `max`; the derivative is 1 inside and at the bounds, 0 outside.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: gt.clip(x, 0.0, 1.0).sum())(gt.tensor([-1.0, 0.5, 1.0, 2.0]))
    Tensor([0., 1., 1., 0.])
    """
    low, high = a_min if min is None else min, a_max if max is None else max
    if out is not None:
        return write_result_into(out, clip, x, low, high)
    if low is None and high is None:
        return positive(x)
    kind = as_value(x).dtype
    least, most = (np.iinfo(kind).min, np.iinfo(kind).max) if kind.kind in "iu" else (-np.inf, np.inf)
    if kind.kind == "b":
        least, most = False, True
    return _clip(x, least if low is None else low, most if high is None else high)


def _chosen_by_condition(node: Node, out: Any, inputs: tuple[Any, ...]) -> list[Support | None]:
    condition = inputs[0] != 0
    taken = Support(lambda: np.broadcast_to(condition, node.shape))
    return [None, taken, Support(lambda: ~taken.places)]


_select = linear(
    lambda condition, x, y: np.where(condition, x, y),
    None,
    lambda g, condition, x: unbroadcast(np.where(condition, g, 0), x.shape),
    lambda g, condition, y: unbroadcast(np.where(condition, 0, g), y.shape),
    name="where",
    names=("condition", "x", "y"),
    batch=batch_elementwise,
    chosen=_chosen_by_condition,
    samples=lambda draw: [
        ((draw(3, 4) > 0, draw(3, 4), draw(3, 4)), {}),
        ((draw(3, 1) > 0, draw(4), draw()), {}),
        ((np.array([True, False]), draw(2), draw(2)), {}),
        ((draw(0, 2) > 0, draw(0, 2), draw(2)), {}),
    ],
)


@answers(np.where)
def where(condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None) -> Any:
    """`x` where `condition` holds and `y` elsewhere; each gets the gradient of the places it was taken at.

    With the condition alone, the positions where it holds, as `nonzero`.

    >>> import gradtape as gt
    >>> x = gt.tensor([-1.0, 2.0])
    >>> gt.grad(lambda x: gt.where(x > 0, 3.0 * x, 0.0).sum())(x)
    Tensor([0., 3.])
    """
    if x is None and y is None:
        from gradtape.ops.indexing import nonzero

        return nonzero(condition)
    if x is None or y is None:
        raise argument_error(
            OperandError, "where: one of x and y is missing.", "both of them: gt.where(condition, x, 0.0)"
        )
    return _select(condition, x, y)


_nan_to_num = elementwise(
    lambda x, nan, posinf, neginf: np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf),
    lambda x: np.isfinite(x).astype(x.dtype),
    name="nan_to_num",
    chosen=chosen_by_slope,
    samples=lambda draw: [
        ((draw(3, 4),), {"nan": 0.0, "posinf": None, "neginf": None}),
        ((np.array([np.nan, 1.5, np.inf, -np.inf]),), {"nan": 0.5, "posinf": 3.0, "neginf": -3.0}),
    ],
)


@answers(np.nan_to_num)
def nan_to_num(
    x: TensorLike, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """`x` with numbers in the place of nan and infinities; the gradient passes to the numbers that are tensors there.

    >>> import gradtape as gt
    >>> gt.nan_to_num(gt.tensor([1.0, float("nan")]))
    Tensor([1., 0.])
    """
    value: Any = x
    given: list[tuple[Any, Any]] = [(np.nan, nan), (np.inf, posinf), (-np.inf, neginf)]
    numbers = [0.0 if isinstance(number, Tensor) else number for _, number in given]
    found = _nan_to_num(value, nan=numbers[0], posinf=numbers[1], neginf=numbers[2])
    for bad, number in given:
        if isinstance(number, Tensor):
            found = _select(np.isnan(value) if np.isnan(bad) else np.equal(value, bad), number, found)
    return found if copy or not isinstance(x, Tensor) else x._replace(found, "np.nan_to_num(copy=False)")


# the names of the array API standard
acos = arccos
acosh = arccosh
asin = arcsin
asinh = arcsinh
atan = arctan
atan2 = arctan2
atanh = arctanh
pow = power
