"""TensorFlow's functions of one or two tensors, element by element, and those that limit the size of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape_standins.tensorflow.conversion import Holder, pair, same_dtype, tensors, value_of
from gradtape_standins.tensorflow.conversion import axes as all_axes
from gradtape_standins.tensorflow.errors import explained, in_tensorflow_terms, invalid
from gradtape_standins.tensorflow.slices import values_of, with_values
from gradtape_standins.tensorflow.tensor import (
    binary,
    check_kind,
    dividing,
    floor_quotient,
    quotient,
    quotient_dtype,
    unary,
    wrap,
)

special = gt.special

_FLOAT = "fc"
abs = unary(gt.absolute, "abs", "The absolute value.", kinds="fci")
acos = unary(gt.arccos, "acos", "The inverse cosine.", kinds=_FLOAT)
acosh = unary(gt.arccosh, "acosh", "The inverse hyperbolic cosine.", kinds=_FLOAT)
angle = unary(gt.angle, "angle", "The angle of a complex number.", kinds=_FLOAT, parameter="input")
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
    ">>> from gradtape_standins import tensorflow as tf\n>>> tf.cos(0.0).numpy()\nnp.float32(1.0)",
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
imag = unary(gt.imag, "imag", "The imaginary part.", kinds="fciub", parameter="input")
is_finite = unary(gt.isfinite, "is_finite", "Where the numbers are finite.", kinds="f")
is_inf = unary(gt.isinf, "is_inf", "Where the numbers are infinite.", kinds="f")
is_nan = unary(gt.isnan, "is_nan", "Where the numbers are NaN.", kinds="f")
lgamma = unary(special.gammaln, "lgamma", "The logarithm of the absolute value of the gamma function.", kinds="f")
log = unary(gt.log, "log", "The natural logarithm.", kinds=_FLOAT)
log1p = unary(gt.log1p, "log1p", "The logarithm of one plus x.", kinds=_FLOAT)
log_sigmoid = unary(special.log_expit, "log_sigmoid", "The logarithm of the sigmoid.", kinds="f")
logical_not = unary(gt.logical_not, "logical_not", "Not.", kinds="b")
ndtri = unary(special.ndtri, "ndtri", "The quantile function of the normal distribution.", kinds="f")
negative = unary(gt.negative, "negative", "The negative.", kinds="fci")
real = unary(gt.real, "real", "The real part.", kinds="fciu", parameter="input")
reciprocal = unary(gt.reciprocal, "reciprocal", "One divided by x.", kinds=_FLOAT)
rint = unary(gt.rint, "rint", "Rounded to integers; no gradient passes.", kinds="f")
sigmoid = unary(
    lambda x: gt.sigmoid(x) if x.dtype.kind == "f" else gt.reciprocal(gt.add(gt.exp(gt.negative(x)), 1)),
    "sigmoid",
    "1 / (1 + exp(-x)).",
    kinds=_FLOAT,
)
sign = unary(lambda x: _sign(x), "sign", "-1, 0 or 1; the gradient is 0.", kinds="fci")
sin = unary(gt.sin, "sin", "The sine.", kinds=_FLOAT)
sinh = unary(gt.sinh, "sinh", "The hyperbolic sine.", kinds=_FLOAT)
softplus = unary(gt.softplus, "softplus", "log(1 + exp(x)).", kinds="f", parameter="features")
sqrt = unary(gt.sqrt, "sqrt", "The square root.", kinds=_FLOAT)
square = unary(gt.square, "square", "x times x.")
tan = unary(gt.tan, "tan", "The tangent.", kinds=_FLOAT)
tanh = unary(gt.tanh, "tanh", "The hyperbolic tangent.", kinds=_FLOAT)
rsqrt = unary(lambda x: gt.reciprocal(gt.sqrt(x)), "rsqrt", "One divided by the square root.", kinds=_FLOAT)
reciprocal_no_nan = unary(
    lambda x: _no_nan(gt.ones_like(x), x), "reciprocal_no_nan", "One divided by x; 0 where x is 0.", kinds=_FLOAT
)
softsign = unary(lambda x: gt.nn.functional.softsign(x), "softsign", "x / (1 + |x|).", kinds="f", parameter="features")


def _sign(x: Any) -> Any:
    if x.dtype.kind != "f":
        return gt.sign(x)
    return gt.where(np.False_, x, gt.sign(x) + 0.0)  # a path to x, along which nothing comes


@in_tensorflow_terms
def round(x: Any, name: str | None = None) -> Any:
    """Rounded to integers, halves to the even one; no gradient passes."""
    value = value_of(x)
    check_kind(value, "fiu", "round")
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
    ">>> from gradtape_standins import tensorflow as tf\n>>> tf.add([1.0, 2.0], 1.0).numpy()\n"
    "array([2., 3.], dtype=float32)",
    "fciu",
)
atan2 = binary(gt.arctan2, "atan2", "The angle of the point (x, y), given as y, x.", kinds="f")
divide = truediv = binary(
    quotient, "divide", "x divided by y; integers give float64, and short ones float32.", kinds="fciu"
)
equal = binary(gt.equal, "equal", "Where x is y.", kinds="fciubO")
floordiv = binary(dividing(floor_quotient, "floordiv"), "floordiv", "x divided by y, rounded down.", kinds="fiu")
floormod = mod = binary(dividing(gt.remainder, "floormod"), "floormod", "The remainder, of the sign of y.", kinds="fiu")
greater = binary(gt.greater, "greater", "Where x is greater than y.", kinds="fiu")
greater_equal = binary(gt.greater_equal, "greater_equal", "Where x is y or greater.", kinds="fiu")
igamma = binary(
    _as_tensors(special.gammainc), "igamma", "The lower incomplete gamma function.", kinds="f", parameters=("a", "x")
)
igammac = binary(
    _as_tensors(special.gammaincc), "igammac", "The upper incomplete gamma function.", kinds="f", parameters=("a", "x")
)
less = binary(gt.less, "less", "Where x is less than y.", kinds="fiu")
less_equal = binary(gt.less_equal, "less_equal", "Where x is y or less.", kinds="fiu")
logical_and = binary(gt.logical_and, "logical_and", "Where both are true.", kinds="b")
logical_or = binary(gt.logical_or, "logical_or", "Where one is true.", kinds="b")
logical_xor = binary(gt.logical_xor, "logical_xor", "Where exactly one is true.", kinds="b")
maximum = binary(
    lambda x, y: _chosen(gt.greater_equal, x, y),
    "maximum",
    "The greater of the two; where they tie, x has the gradient, and where one is NaN, y.",
    kinds="fiu",
)
minimum = binary(
    lambda x, y: _chosen(gt.less_equal, x, y),
    "minimum",
    "The lesser of the two; where they tie, x has the gradient, and where one is NaN, y.",
    kinds="fiu",
)


def _chosen(is_before: Any, x: Any, y: Any) -> Any:
    """x where it comes before y or ties with it, else y; NaN where one of them is, with a path to y."""
    other = y
    if isinstance(x, gt.Tensor) and x.dtype.kind == "f":
        other = y + gt.stop_gradient(gt.where(gt.isnan(x), x, gt.zeros_like(x)))
    return gt.where(is_before(x, y), x, other)


multiply = binary(gt.multiply, "multiply", "The product, element by element.", kinds="fciu")
nextafter = binary(gt.nextafter, "nextafter", "The next number from x1 towards x2.", kinds="f", parameters=("x1", "x2"))
not_equal = binary(gt.not_equal, "not_equal", "Where x is not y.", kinds="fciubO")
polygamma = binary(
    _as_tensors(lambda a, x: special.polygamma(gt.stop_gradient(a), x)),
    "polygamma",
    "The derivative of order `a` of digamma.",
    kinds="f",
    parameters=("a", "x"),
)
pow = binary(gt.power, "pow", "x to the power y.", kinds="fciu")
squared_difference = binary(
    lambda x, y: _absolute_square(gt.subtract(x, y)),
    "squared_difference",
    "(x - y) squared; of complex numbers, the square of the absolute value.",
    kinds="fci",
)


def _absolute_square(x: Any) -> Any:
    if x.dtype.kind != "c":
        return gt.square(x)
    return gt.astype(gt.add(gt.square(gt.real(x)), gt.square(gt.imag(x))), x.dtype)


subtract = binary(gt.subtract, "subtract", "x minus y.", kinds="fciu")
xdivy = binary(
    lambda x, y: gt.where(gt.equal(x, 0), gt.zeros_like(x * y), x / gt.where(gt.equal(x, 0), gt.ones_like(y), y)),
    "xdivy",
    "x / y; 0 where x is 0.",
    kinds=_FLOAT,
)
realdiv = binary(gt.divide, "realdiv", "x divided by y.", kinds="fc")
truncatediv = binary(
    dividing(lambda x, y: _truncated_quotient(x, y), "truncatediv"),
    "truncatediv",
    "x / y towards zero; exact for integers.",
    kinds="fiu",
)
truncatemod = binary(dividing(gt.fmod, "truncatemod"), "truncatemod", "The remainder, of the sign of x.", kinds="fiu")
xlog1py = binary(
    _as_tensors(lambda x, y: _times_unless_zero(x, y, gt.log1p)),
    "xlog1py",
    "x * log1p(y); 0 where x is 0, and so are the gradients there.",
    kinds=_FLOAT,
)
xlogy = binary(
    _as_tensors(lambda x, y: _times_unless_zero(x, y, gt.log)),
    "xlogy",
    "x * log(y); 0 where x is 0, and so are the gradients there.",
    kinds=_FLOAT,
)
zeta = binary(
    _as_tensors(lambda x, q: special.zeta(gt.stop_gradient(x), q)),
    "zeta",
    "The Hurwitz zeta function.",
    kinds="f",
    parameters=("x", "q"),
)


def _times_unless_zero(x: Any, y: Any, function: Any) -> Any:
    none = gt.equal(x, 0)
    safe = gt.where(none, gt.ones_like(y), y)
    return gt.where(none, gt.zeros_like(safe), gt.multiply(x, function(safe)))


def _truncated_quotient(x: Any, y: Any) -> Any:
    if x.dtype.kind == "f":
        return gt.trunc(gt.divide(x, y))
    lower = gt.floor_divide(x, y)
    inexact = gt.not_equal(gt.multiply(lower, y), x)  # wraps around where it overflows, and so does x
    return gt.add(lower, gt.astype(gt.logical_and(inexact, gt.less(gt.bitwise_xor(x, y), 0)), x.dtype))


def _no_nan(x: Any, y: Any) -> Any:
    none = gt.equal(y, 0)
    return gt.where(none, gt.zeros_like(gt.multiply(x, y)), gt.divide(x, gt.where(none, gt.ones_like(y), y)))


def _mul_no_nan(x: Any, y: Any) -> Any:
    shape = np.broadcast_shapes(x.shape, y.shape)
    return _product_no_nan(gt.broadcast_to(x, shape), gt.broadcast_to(y, shape))


@gt.custom_vjp
def _product_no_nan(x: Any, y: Any) -> Any:
    """x * y, and 0 where y is 0; the gradients are such products, too: that of y is x where both are finite."""
    none = gt.equal(y, 0)
    return gt.where(none, gt.zeros_like(y), gt.multiply(gt.where(none, gt.zeros_like(x), x), y))


_product_no_nan.defvjp(
    lambda x, y: (_product_no_nan(x, y), (x, y)),
    lambda saved, g: (_product_no_nan(g, gt.conjugate(saved[1])), _product_no_nan(gt.conjugate(saved[0]), g)),
)


def _quotient_no_nan(x: Any, y: Any) -> Any:
    return _no_nan(*(gt.astype(v, quotient_dtype(v.dtype)) if v.dtype.kind in "iu" else v for v in (x, y)))


divide_no_nan = binary(_as_tensors(_quotient_no_nan), "divide_no_nan", "x / y; 0 where y is 0.", kinds="fciu")
multiply_no_nan = binary(_as_tensors(_mul_no_nan), "multiply_no_nan", "x * y; 0 where y is 0.", kinds=_FLOAT)


@in_tensorflow_terms
def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Any:
    """The regularised incomplete beta function."""
    return wrap(special.betainc(*same_dtype([a, b, x], "betainc")))


@in_tensorflow_terms
def lbeta(x: Any, name: str | None = None) -> Any:
    """The logarithm of the beta function of the numbers along the last axis."""
    value = value_of(x)
    check_kind(value, "f", "lbeta")
    return wrap(gt.sum(special.gammaln(value), -1) - special.gammaln(gt.sum(value, -1)))


@in_tensorflow_terms
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A number times a tensor."""
    shape = value_of(scalar).shape
    if shape:
        raise ValueError(explained(f"The input scalar must be a 0-D value. Received shape {shape}", "tf.multiply"))
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
    check_kind(value, "f", "clip_by_norm")
    squares = gt.sum(value * value, all_axes(axes), keepdims=True)
    some = gt.greater(squares, 0)  # of zeros the norm has no slope
    length = gt.where(some, gt.sqrt(gt.where(some, squares, gt.ones_like(squares))), squares)
    return with_values(t, value * most / gt.maximum(length, most))


def global_norm(t_list: Any, name: str | None = None) -> Any:
    """The norm of all numbers in a list of tensors; None in it is passed over."""
    given = [values_of(t) for t in t_list if t is not None]
    for value in given:
        check_kind(value, "f", "global_norm")
    squares = [gt.sum(gt.square(value)) for value in given]
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
