"""Functions of each element by itself: the operations of gradtape under the standard's names and signatures."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from gradtape import ops
from gradtape.array_api.arguments import array, operand, operands
from gradtape.extend import Tensor
from gradtape.ops import numerics

Function = TypeVar("Function", bound=Callable[..., Any])


def _unary(name: str, operation: Any, says: str) -> Callable[[Any], Any]:
    """`operation` as a function of one array."""

    def function(x: Any, /) -> Any:
        return operation(array(x, name))

    return _named(function, name, says)


def _binary(name: str, operation: Any, says: str) -> Callable[[Any, Any], Any]:
    """`operation` as a function of two arrays, one of which may be a Python number."""

    def function(x1: Any, x2: Any, /) -> Any:
        return operation(*operands(x1, x2, name))

    return _named(function, name, says)


def _named(function: Function, name: str, says: str) -> Function:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = says
    return function


abs = _unary("abs", ops.absolute, "The absolute value.")
acos = _unary("acos", ops.arccos, "The angle that has this cosine.")
acosh = _unary("acosh", ops.arccosh, "The inverse of the hyperbolic cosine.")
asin = _unary("asin", ops.arcsin, "The angle that has this sine.")
asinh = _unary("asinh", ops.arcsinh, "The inverse of the hyperbolic sine.")
atan = _unary("atan", ops.arctan, "The angle that has this tangent.")
atanh = _unary("atanh", ops.arctanh, "The inverse of the hyperbolic tangent.")
bitwise_invert = _unary("bitwise_invert", ops.invert, "Every bit flipped.")
ceil = _unary("ceil", ops.ceil, "The next integer above.")
conj = _unary("conj", ops.conjugate, "The complex conjugate.")
cos = _unary("cos", ops.cos, "The cosine.")
cosh = _unary("cosh", ops.cosh, "The hyperbolic cosine.")
exp = _unary("exp", ops.exp, "The exponential function.")
expm1 = _unary("expm1", ops.expm1, "exp(x) - 1, exact for small x.")
floor = _unary("floor", ops.floor, "The next integer below.")
imag = _unary("imag", ops.imag, "The imaginary part.")
isfinite = _unary("isfinite", ops.isfinite, "Whether it is neither infinite nor NaN.")
isinf = _unary("isinf", ops.isinf, "Whether it is infinite.")
isnan = _unary("isnan", ops.isnan, "Whether it is NaN.")
log = _unary("log", ops.log, "The natural logarithm.")
log1p = _unary("log1p", ops.log1p, "log(1 + x), exact for small x.")
log2 = _unary("log2", ops.log2, "The logarithm to base 2.")
log10 = _unary("log10", ops.log10, "The logarithm to base 10.")
logical_not = _unary("logical_not", ops.logical_not, "Whether it is false.")
negative = _unary("negative", ops.negative, "-x.")
positive = _unary("positive", ops.positive, "+x.")
real = _unary("real", ops.real, "The real part.")
reciprocal = _unary("reciprocal", ops.reciprocal, "1 / x.")
round = _unary("round", ops.round, "The nearest integer, the even one of two.")
sign = _unary("sign", ops.sign, "-1, 0 or 1, without a gradient; x / abs(x) of a complex number, which has one.")
signbit = _unary("signbit", ops.signbit, "Whether the sign bit is set, that of -0.0 and of NaN too.")
sin = _unary("sin", ops.sin, "The sine.")
sinh = _unary("sinh", ops.sinh, "The hyperbolic sine.")
sqrt = _unary("sqrt", ops.sqrt, "The square root.")
square = _unary("square", ops.square, "x * x.")
tan = _unary("tan", ops.tan, "The tangent.")
tanh = _unary("tanh", ops.tanh, "The hyperbolic tangent.")
trunc = _unary("trunc", ops.trunc, "The next integer towards zero.")


add = _binary("add", ops.add, "x1 + x2.")
atan2 = _binary("atan2", ops.arctan2, "The angle of the point (x2, x1), in the right quadrant.")
bitwise_and = _binary("bitwise_and", ops.bitwise_and, "x1 & x2.")
bitwise_left_shift = _binary("bitwise_left_shift", ops.left_shift, "x1 << x2.")
bitwise_or = _binary("bitwise_or", ops.bitwise_or, "x1 | x2.")
bitwise_right_shift = _binary("bitwise_right_shift", ops.right_shift, "x1 >> x2.")
bitwise_xor = _binary("bitwise_xor", ops.bitwise_xor, "x1 ^ x2.")
copysign = _binary("copysign", ops.copysign, "The magnitude of x1 with the sign of x2.")
divide = _binary("divide", ops.divide, "x1 / x2.")
equal = _binary("equal", ops.equal, "x1 == x2.")
floor_divide = _binary("floor_divide", ops.floor_divide, "x1 // x2; an infinite x1 gives NaN, as in Python.")
greater = _binary("greater", ops.greater, "x1 > x2.")
greater_equal = _binary("greater_equal", ops.greater_equal, "x1 >= x2.")
hypot = _binary("hypot", ops.hypot, "sqrt(x1 ** 2 + x2 ** 2), without overflow on the way.")
less = _binary("less", ops.less, "x1 < x2.")
less_equal = _binary("less_equal", ops.less_equal, "x1 <= x2.")
logaddexp = _binary("logaddexp", ops.logaddexp, "log(exp(x1) + exp(x2)), without overflow on the way.")
logical_and = _binary("logical_and", ops.logical_and, "Whether both are true.")
logical_or = _binary("logical_or", ops.logical_or, "Whether one of them is true, or both.")
logical_xor = _binary("logical_xor", ops.logical_xor, "Whether exactly one of them is true.")
maximum = _binary("maximum", ops.maximum, "The larger one; NaN if one of them is.")
minimum = _binary("minimum", ops.minimum, "The smaller one; NaN if one of them is.")
multiply = _binary("multiply", ops.multiply, "x1 * x2.")
nextafter = _binary("nextafter", numerics.nextafter, "The number next to x1 in the direction of x2.")
not_equal = _binary("not_equal", ops.not_equal, "x1 != x2.")
pow = _binary("pow", ops.power, "x1 ** x2.")
remainder = _binary("remainder", ops.remainder, "x1 % x2, with the sign of x2.")
subtract = _binary("subtract", ops.subtract, "x1 - x2.")


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Each element limited to the range from `min` to `max`, in the data type of `x`.

    >>> import gradtape.array_api as xp
    >>> xp.clip(xp.asarray([-1.0, 0.5, 2.0]), 0, 1)
    Tensor([0. , 0.5, 1. ])
    """
    x = array(x, "clip")
    low, high = (
        None if bound is None else _bound(bound, x.dtype, name) for bound, name in ((min, "min"), (max, "max"))
    )
    if low is None and high is None:
        return ops.identity(x)
    return ops.clip(x, low, high)


def _bound(bound: Any, dtype: np.dtype[Any], name: str) -> Any:
    """A bound for `clip`, in the data type of what is clipped, so that the result keeps it."""
    bound = operand(bound, "clip", name)
    if not isinstance(bound, Tensor):
        if dtype.kind in "iu" and isinstance(bound, int):  # a bound beyond the range is no bound
            limits = np.iinfo(dtype)
            bound = builtins.max(limits.min, builtins.min(limits.max, bound))
        return bound
    return bound if bound.dtype == dtype else ops.astype(bound, dtype)
