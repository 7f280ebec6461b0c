"""TensorFlow's functions of one or two tensors, element by element, and those that limit the size of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape.standins.tensorflow.conversion import Holder, pair, same_dtype, tensors, value_of
from gradtape.standins.tensorflow.conversion import axes as all_axes
from gradtape.standins.tensorflow.errors import in_tensorflow_terms, invalid
from gradtape.standins.tensorflow.slices import values_of, with_values
from gradtape.standins.tensorflow.tensor import binary, unary, wrap

special = gt.special

_FLOAT = "fc"
abs = unary(gt.absolute, "abs", "The absolute value.")
acos = unary(gt.arccos, "acos", "The inverse cosine.", kinds=_FLOAT)
acosh = unary(gt.arccosh, "acosh", "The inverse hyperbolic cosine.", kinds=_FLOAT)
angle = unary(gt.angle, "angle", "The angle of a complex number.", kinds=_FLOAT)
asin = unary(gt.arcsin, "asin", "The inverse sine.", kinds=_FLOAT)
asinh = unary(gt.arcsinh, "asinh", "The inverse hyperbolic sine.", kinds=_FLOAT)
atan = unary(gt.arctan, "atan", "The inverse tangent.", kinds=_FLOAT)
atanh = unary(gt.arctanh, "atanh", "The inverse hyperbolic tangent.", kinds=_FLOAT)
bessel_i0 = unary(special.i0, "bessel_i0", "The modified Bessel function of order 0.", kinds="f")
bessel_i0e = unary(special.i0e, "bessel_i0e", "The scaled modified Bessel function of order 0.", kinds="f")
bessel_i1 = unary(special.i1, "bessel_i1", "The modified Bessel function of order 1.", kinds="f")
bessel_i1e = unary(special.i1e, "bessel_i1e", "The scaled modified Bessel function of order 1.", kinds="f")
ceil = unary(gt.ceil, "ceil", "Rounded up; no gradient passes.", kinds="f")
conj = unary(gt.conjugate, "conj", "The complex conjugate.")
cos = unary(
    gt.cos,
    "cos",
    "The cosine.",
    ">>> from gradtape.standins import tensorflow as tf\n>>> tf.cos(0.0).numpy()\nnp.float32(1.0)",
    _FLOAT,
)
cosh = unary(gt.cosh, "cosh", "The hyperbolic cosine.", kinds=_FLOAT)
digamma = unary(special.digamma, "digamma", "The derivative of `lgamma`.", kinds="f")
erf = unary(special.erf, "erf", "The error function.", kinds="f")
erfc = unary(special.erfc, "erfc", "One minus the error function.", kinds="f")
erfinv = unary(special.erfinv, "erfinv", "The inverse of the error function.", kinds="f")
erfcinv = unary(special.erfcinv, "erfcinv", "The inverse of `erfc`.", kinds="f")
exp = unary(gt.exp, "exp", "The exponential.", kinds=_FLOAT)
expm1 = unary(gt.expm1, "expm1", "The exponential minus one.", kinds=_FLOAT)
floor = unary(gt.floor, "floor", "Rounded down; no gradient passes.", kinds="f")
imag = unary(gt.imag, "imag", "The imaginary part.", kinds=_FLOAT)
is_finite = unary(gt.isfinite, "is_finite", "Where the numbers are finite.", kinds="f")
is_inf = unary(gt.isinf, "is_inf", "Where the numbers are infinite.", kinds="f")
is_nan = unary(gt.isnan, "is_nan", "Where the numbers are NaN.", kinds="f")
lgamma = unary(special.gammaln, "lgamma", "The logarithm of the absolute value of the gamma function.", kinds="f")
log = unary(gt.log, "log", "The natural logarithm.", kinds=_FLOAT)
log1p = unary(gt.log1p, "log1p", "The logarithm of one plus x.", kinds=_FLOAT)
log_sigmoid = unary(special.log_expit, "log_sigmoid", "The logarithm of the sigmoid.", kinds="f")
logical_not = unary(gt.logical_not, "logical_not", "Not.", kinds="b")
ndtri = unary(special.ndtri, "ndtri", "The quantile function of the normal distribution.", kinds="f")
negative = unary(gt.negative, "negative", "The negative.")
real = unary(gt.real, "real", "The real part.", kinds=_FLOAT)
reciprocal = unary(gt.reciprocal, "reciprocal", "One divided by x.", kinds=_FLOAT)
rint = unary(gt.rint, "rint", "Rounded to integers; no gradient passes.", kinds="f")
sigmoid = unary(gt.sigmoid, "sigmoid", "1 / (1 + exp(-x)).", kinds="f")
sign = unary(lambda x: _sign(x), "sign", "-1, 0 or 1; the gradient is 0.")
sin = unary(gt.sin, "sin", "The sine.", kinds=_FLOAT)
sinh = unary(gt.sinh, "sinh", "The hyperbolic sine.", kinds=_FLOAT)
softplus = unary(gt.softplus, "softplus", "log(1 + exp(x)).", kinds="f")
sqrt = unary(gt.sqrt, "sqrt", "The square root.", kinds=_FLOAT)
square = unary(gt.square, "square", "x times x.")
tan = unary(gt.tan, "tan", "The tangent.", kinds=_FLOAT)
tanh = unary(gt.tanh, "tanh", "The hyperbolic tangent.", kinds=_FLOAT)
rsqrt = unary(lambda x: gt.reciprocal(gt.sqrt(x)), "rsqrt", "One divided by the square root.", kinds=_FLOAT)
reciprocal_no_nan = unary(
    lambda x: _no_nan(gt.ones_like(x), x), "reciprocal_no_nan", "One divided by x; 0 where x is 0.", kinds=_FLOAT
)
softsign = unary(lambda x: gt.nn.functional.softsign(x), "softsign", "x / (1 + |x|).", kinds="f")


def _sign(x: Any) -> Any:
    if x.dtype.kind != "f":
        return gt.sign(x)
    return gt.where(np.False_, x, gt.sign(x) + 0.0)  # a path to x, along which nothing comes


@in_tensorflow_terms
def round(x: Any, name: str | None = None) -> Any:
    """Rounded to integers, halves to the even one; no gradient passes."""
    value = value_of(x)
    return wrap(gt.rint(value) if value.dtype.kind == "f" else value)


def _as_tensors(op: Any) -> Any:
    """`op` of two tensors: not all operations take a Python number for one of the other's dtype."""
    return lambda x, y: op(*(v if isinstance(v, gt.Tensor) else gt.Tensor(np.asarray(v, _other(x, y))) for v in (x, y)))


def _other(x: Any, y: Any) -> Any:
    return x.dtype if isinstance(x, gt.Tensor) else y.dtype


# -- two tensors

add = binary(
    gt.add,
    "add",
    "The sum of two tensors of one dtype.",
    ">>> from gradtape.standins import tensorflow as tf\n>>> tf.add([1.0, 2.0], 1.0).numpy()\n"
    "array([2., 3.], dtype=float32)",
    "fciu",
)
atan2 = binary(gt.arctan2, "atan2", "The angle of the point (x, y), given as y, x.", kinds="f")
divide = truediv = binary(gt.divide, "divide", "x divided by y; integers give float64.", kinds="fciu")
equal = binary(gt.equal, "equal", "Where x is y.", kinds="fciubO")
floordiv = binary(gt.floor_divide, "floordiv", "x divided by y, rounded down.", kinds="fiu")
floormod = mod = binary(gt.remainder, "floormod", "The remainder, of the sign of y.", kinds="fiu")
greater = binary(gt.greater, "greater", "Where x is greater than y.", kinds="fiu")
greater_equal = binary(gt.greater_equal, "greater_equal", "Where x is y or greater.", kinds="fiu")
igamma = binary(_as_tensors(special.gammainc), "igamma", "The lower incomplete gamma function.", kinds="f")
igammac = binary(_as_tensors(special.gammaincc), "igammac", "The upper incomplete gamma function.", kinds="f")
less = binary(gt.less, "less", "Where x is less than y.", kinds="fiu")
less_equal = binary(gt.less_equal, "less_equal", "Where x is y or less.", kinds="fiu")
logical_and = binary(gt.logical_and, "logical_and", "Where both are true.", kinds="b")
logical_or = binary(gt.logical_or, "logical_or", "Where one is true.", kinds="b")
logical_xor = binary(gt.logical_xor, "logical_xor", "Where exactly one is true.", kinds="b")
maximum = binary(
    lambda x, y: gt.where(gt.greater_equal(x, y) | gt.not_equal(x, x), x, y),
    "maximum",
    "The greater of the two; where they tie, x has the gradient.",
    kinds="fiu",
)
minimum = binary(
    lambda x, y: gt.where(gt.less_equal(x, y) | gt.not_equal(x, x), x, y),
    "minimum",
    "The lesser of the two; where they tie, x has the gradient.",
    kinds="fiu",
)
multiply = binary(gt.multiply, "multiply", "The product, element by element.", kinds="fciu")
nextafter = binary(gt.nextafter, "nextafter", "The next number from x towards y.", kinds="f")
not_equal = binary(gt.not_equal, "not_equal", "Where x is not y.", kinds="fciubO")
polygamma = binary(_as_tensors(special.polygamma), "polygamma", "The derivative of order `a` of digamma.", kinds="f")
pow = binary(gt.power, "pow", "x to the power y.", kinds="fciu")
squared_difference = binary(
    lambda x, y: gt.square(gt.subtract(x, y)), "squared_difference", "(x - y) squared.", kinds="fciu"
)
subtract = binary(gt.subtract, "subtract", "x minus y.", kinds="fciu")
xdivy = binary(
    lambda x, y: gt.where(gt.equal(x, 0), gt.zeros_like(x * y), x / gt.where(gt.equal(x, 0), gt.ones_like(y), y)),
    "xdivy",
    "x / y; 0 where x is 0.",
    kinds=_FLOAT,
)
realdiv = binary(gt.divide, "realdiv", "x divided by y.", kinds="fc")
truncatediv = binary(
    lambda x, y: gt.astype(gt.trunc(gt.divide(x, y)), x.dtype), "truncatediv", "x / y towards zero.", kinds="iu"
)
truncatemod = binary(gt.fmod, "truncatemod", "The remainder, of the sign of x.", kinds="fiu")
xlog1py = binary(_as_tensors(special.xlog1py), "xlog1py", "x * log1p(y); 0 where x is 0.", kinds="f")
xlogy = binary(_as_tensors(special.xlogy), "xlogy", "x * log(y); 0 where x is 0.", kinds="f")
zeta = binary(_as_tensors(special.zeta), "zeta", "The Hurwitz zeta function.", kinds="f")


def _no_nan(x: Any, y: Any) -> Any:
    none = gt.equal(y, 0)
    return gt.where(none, gt.zeros_like(gt.multiply(x, y)), gt.divide(x, gt.where(none, gt.ones_like(y), y)))


def _mul_no_nan(x: Any, y: Any) -> Any:
    none = gt.equal(y, 0)
    return gt.where(none, gt.zeros_like(y), gt.multiply(gt.where(none, gt.zeros_like(x), x), y))


divide_no_nan = binary(_as_tensors(_no_nan), "divide_no_nan", "x / y; 0 where y is 0.", kinds=_FLOAT)
multiply_no_nan = binary(_as_tensors(_mul_no_nan), "multiply_no_nan", "x * y; 0 where y is 0.", kinds=_FLOAT)


@in_tensorflow_terms
def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Any:
    """The regularised incomplete beta function."""
    return wrap(special.betainc(*same_dtype([a, b, x], "betainc")))


@in_tensorflow_terms
def lbeta(x: Any, name: str | None = None) -> Any:
    """The logarithm of the beta function of the numbers along the last axis."""
    value = value_of(x)
    return wrap(gt.sum(special.gammaln(value), -1) - special.gammaln(gt.sum(value, -1)))


@in_tensorflow_terms
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A number times a tensor."""
    return multiply(scalar, x)


@in_tensorflow_terms
def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of tensors of one shape."""
    parts = [inputs] if isinstance(inputs, Holder) else list(inputs)
    values = same_dtype(parts, "add_n")
    total = values[0]
    for value in values[1:]:
        if value.shape != total.shape:
            raise invalid(f"add_n: tensors of one shape are wanted; got {total.shape} and {value.shape}")
        total = gt.add(total, value)
    return wrap(total)


def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None) -> Any:
    """The sum of tensors of one shape."""
    return add_n(inputs)


def complex(real: Any, imag: Any, name: str | None = None) -> Any:
    """Complex numbers of two parts."""
    one, other = tensors(real, imag, "complex")
    unit = np.array(1j, np.complex64 if one.dtype == np.float32 else np.complex128)
    return wrap(gt.astype(one, unit.dtype) + gt.multiply(gt.Tensor(unit), gt.astype(other, unit.dtype)))


@in_tensorflow_terms
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Limited to the range from `clip_value_min` to `clip_value_max`."""
    given = wrap(values_of(t))
    value, low = pair(given, clip_value_min, "clip_by_value")
    return with_values(t, gt.clip(value, low, pair(given, clip_value_max, "clip_by_value")[1]))


@in_tensorflow_terms
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """Scaled down so that its norm is at most `clip_norm`."""
    value, most = pair(wrap(values_of(t)), clip_norm, "clip_by_norm")
    length = gt.sqrt(gt.sum(value * value, all_axes(axes), keepdims=True))
    return with_values(t, value * most / gt.maximum(length, most))


def global_norm(t_list: Any, name: str | None = None) -> Any:
    """The norm of all numbers in a list of tensors; None in it is passed over."""
    squares = [gt.sum(gt.square(values_of(t))) for t in t_list if t is not None]
    total = squares[0]
    for part in squares[1:]:
        total = total + part
    return wrap(gt.sqrt(total))


def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None) -> Any:
    """All tensors scaled by one number so that their common norm is at most `clip_norm`; and the norm before."""
    norm = global_norm(t_list) if use_norm is None else wrap(value_of(use_norm))
    length, most = pair(norm, clip_norm, "clip_by_global_norm")
    scale = most / gt.maximum(length, most)
    return [None if t is None else with_values(t, values_of(t) * scale) for t in t_list], norm


__all__ = ["abs", "accumulate_n", "acos", "acosh", "add", "add_n", "angle", "asin", "asinh", "atan", "atan2", "atanh"]
__all__ += ["bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "betainc", "ceil", "clip_by_global_norm"]
__all__ += ["clip_by_norm", "clip_by_value", "complex", "conj", "cos", "cosh", "digamma", "divide", "divide_no_nan"]
__all__ += ["equal", "erf", "erfc", "erfcinv", "erfinv", "exp", "expm1", "floor", "floordiv", "floormod"]
__all__ += ["global_norm", "greater", "greater_equal", "igamma", "igammac", "imag", "is_finite", "is_inf", "is_nan"]
__all__ += ["lbeta", "less", "less_equal", "lgamma", "log", "log1p", "log_sigmoid", "logical_and", "logical_not"]
__all__ += ["logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply", "multiply_no_nan", "ndtri"]
__all__ += ["negative", "nextafter", "not_equal", "polygamma", "pow", "real", "realdiv", "reciprocal"]
__all__ += ["reciprocal_no_nan", "rint", "round", "rsqrt", "scalar_mul", "sigmoid", "sign", "sin", "sinh", "softplus"]
__all__ += ["softsign", "sqrt", "square", "squared_difference", "subtract", "tan", "tanh", "truediv", "truncatediv"]
__all__ += ["truncatemod", "xdivy", "xlog1py", "xlogy", "zeta"]
