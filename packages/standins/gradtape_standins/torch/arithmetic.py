"""What is done to each element by itself: arithmetic, comparisons, logic, special functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape import nn
from gradtape.extend import Lifted, plain
from gradtape.extend import Tensor as Value
from gradtape_standins.torch import dtypes
from gradtape_standins.torch.wrapping import Function, cast, floating, function, operand, promoted

FUNCTIONS: dict[str, Function] = {}
"""Every function of this chapter by its name in `torch`; those named in `methods` are methods too."""


def _add(name: str, label: str | None, inner: Function, doc: str) -> None:
    inner.__name__ = inner.__qualname__ = name
    inner.__doc__ = doc
    FUNCTIONS[name] = function(label)(inner)


def has_nan(value: Any) -> bool:
    """Whether a value that is known has a NaN."""
    if isinstance(value, Lifted) or getattr(value, "dtype", np.dtype(int)).kind not in "fc":
        return False
    return bool(np.isnan(plain(value)).any())


def through_nan(compute: Callable[[Any], Any], slope: float) -> Callable[[Any], Any]:
    """`compute`, whose value at NaN is NaN, and whose derivative there is what PyTorch takes, because all comparisons
    with NaN are false: that of one of its branches.
    """

    def computed(input: Any, *args: Any, **kwargs: Any) -> Any:
        if not has_nan(input):
            return compute(input, *args, **kwargs)
        unknown = gt.isnan(gt.stop_gradient(input) if isinstance(input, Value) else input)
        known = compute(gt.where(unknown, np.asarray(0, input.dtype), input), *args, **kwargs)
        return gt.where(unknown, input * np.asarray(slope, input.dtype), known)

    return computed


def _unary(name: str, label: str | None, compute: Callable[[Any], Any], convert: Callable[[Any], Any]) -> None:
    def inner(input: Any) -> Any:
        if not isinstance(input, Value):
            raise TypeError(
                f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}.\n"
                f"  fix: torch.{name}(torch.tensor(x)), or math's and NumPy's function for numbers"
            )
        return compute(convert(input))

    _add(name, label, inner, f"`{name}` of each element.")


# -- of one argument; integers become floating point numbers

_FLOATING: dict[str, Any] = {
    "exp": ("Exp", gt.exp),
    "exp2": ("Exp2", gt.exp2),
    "expm1": ("Expm1", gt.expm1),
    "log": ("Log", gt.log),
    "log2": ("Log2", gt.log2),
    "log10": ("Log10", gt.log10),
    "log1p": ("Log1P", gt.log1p),
    "sqrt": ("Sqrt", gt.sqrt),
    "rsqrt": ("Rsqrt", lambda x: gt.reciprocal(gt.sqrt(x))),
    "reciprocal": ("Reciprocal", gt.reciprocal),
    "sin": ("Sin", gt.sin),
    "cos": ("Cos", gt.cos),
    "tan": ("Tan", gt.tan),
    "asin": ("Asin", gt.arcsin),
    "acos": ("Acos", gt.arccos),
    "atan": ("Atan", gt.arctan),
    "sinh": ("Sinh", gt.sinh),
    "cosh": ("Cosh", gt.cosh),
    "tanh": ("Tanh", gt.tanh),
    "asinh": ("Asinh", gt.arcsinh),
    "acosh": ("Acosh", gt.arccosh),
    "atanh": ("Atanh", gt.arctanh),
    "sigmoid": ("Sigmoid", gt.sigmoid),
    "sinc": ("Sinc", gt.sinc),
    "deg2rad": ("Deg2Rad", gt.deg2rad),
    "rad2deg": ("Rad2Deg", gt.rad2deg),
    "erf": ("Erf", lambda x: gt.special.erf(x)),
    "erfc": ("Erfc", lambda x: gt.special.erfc(x)),
    "erfinv": ("Erfinv", lambda x: gt.special.erfinv(x)),
    "lgamma": ("Lgamma", lambda x: gt.special.gammaln(x)),
    "digamma": ("Digamma", lambda x: gt.special.digamma(x)),
    "i0": ("I0", lambda x: gt.special.i0(x)),
}
for _name, (_label, _compute) in _FLOATING.items():
    _unary(_name, _label, _compute, floating)
for _alias, _name in {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
}.items():
    FUNCTIONS[_alias] = FUNCTIONS[_name]
FUNCTIONS["arctanh"] = FUNCTIONS["atanh"]

# -- of one argument; the type stays

_KEEPING: dict[str, Any] = {
    "abs": ("Abs", through_nan(gt.absolute, 0.0)),
    "neg": ("Neg", gt.negative),
    "positive": (None, gt.positive),
    "sign": ("Sign", lambda x: _zero_at_nan(x, gt.sign(x))),
    "sgn": ("Sgn", lambda x: _zero_at_nan(x, gt.sign(x))),
    "floor": ("Floor", gt.floor),
    "ceil": ("Ceil", gt.ceil),
    "trunc": ("Trunc", gt.trunc),
    "square": ("Pow", gt.square),
    "isnan": (None, gt.isnan),
    "isinf": (None, gt.isinf),
    "isfinite": (None, gt.isfinite),
    "isposinf": (None, gt.isposinf),
    "isneginf": (None, gt.isneginf),
    "signbit": (None, gt.signbit),
    "logical_not": (None, gt.logical_not),
    "bitwise_not": (None, gt.invert),
    "conj": ("Conj", gt.conjugate),
    "real": ("Select", gt.real),
    "imag": ("Select", gt.imag),
    "angle": ("Angle", gt.angle),
    "relu": ("Relu", through_nan(gt.relu, 1.0)),
}
for _name, (_label, _compute) in _KEEPING.items():
    _unary(_name, _label, _compute, operand)
for _alias, _name in {"absolute": "abs", "negative": "neg", "fix": "trunc", "conj_physical": "conj"}.items():
    FUNCTIONS[_alias] = FUNCTIONS[_name]


@function("Round")
def round(input: Any, *, decimals: int = 0) -> Any:
    """Each element rounded to `decimals` places, halves to even; the gradient is 0."""
    return _stepped(input, gt.round(input, decimals))


@function("Frac")
def frac(input: Any) -> Any:
    """The part of each element behind the point, with its sign."""
    return input - gt.trunc(input)


@function("NanToNum")
def nan_to_num(input: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Any:
    """NaN and infinities replaced."""
    return gt.nan_to_num(input, nan=nan, posinf=posinf, neginf=neginf)


@function("Logit")
def logit(input: Any, eps: float | None = None) -> Any:
    """log(p / (1 - p)); with `eps`, of p limited to eps and 1 - eps."""
    input = floating(input)
    return gt.special.logit(input if eps is None else gt.clip(input, eps, 1 - eps))


def _zero_at_nan(input: Any, steps: Any) -> Any:
    """What comparisons with NaN make of it, which are all false: 0."""
    if not has_nan(input) or input.dtype.kind != "f":
        return steps
    return gt.where(gt.isnan(gt.stop_gradient(input)), np.asarray(0, steps.dtype), steps)


def _stepped(input: Any, steps: Any) -> Any:
    """What is constant almost everywhere, on the graph with a gradient of zeros: `.backward()` passes as in PyTorch."""
    if isinstance(input, Value) and input.requires_grad and isinstance(steps, (Value, np.ndarray)):
        return gt.where(np.zeros(steps.shape, bool), input, steps)
    return steps


def _step(compute: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: _stepped(x, compute(x))


for _name in ("sign", "sgn", "floor", "ceil", "trunc"):
    _unary(_name, _KEEPING[_name][0], _step(_KEEPING[_name][1]), operand)
FUNCTIONS["fix"] = FUNCTIONS["trunc"]

# -- of two arguments


def _binary(name: str, label: str | None, compute: Callable[..., Any], floats: bool = False) -> None:
    _add(
        name,
        label,
        lambda input, other: compute(*promoted(input, other, floating=floats)),
        f"`{name}` of each pair of elements, broadcast against each other.",
    )


def _dividing(compute: Callable[..., Any]) -> Callable[..., Any]:
    """A division that refuses integers by 0, as PyTorch does on the CPU."""

    def divided(x: Any, y: Any) -> Any:
        kind = getattr(y, "dtype", None)
        if kind is not None and kind.kind in "iu" and not isinstance(y, Lifted) and not np.all(plain(y)):
            raise RuntimeError("ZeroDivisionError: integers are divided by 0.\n  fix: x / y, which gives inf and nan")
        return compute(x, y)

    return divided


def larger(compute: Callable[..., Any]) -> Callable[..., Any]:
    """`maximum` or `minimum`: where one operand is NaN, PyTorch sends the whole gradient to both."""

    def compared(x: Any, y: Any) -> Any:
        if not has_nan(x) and not has_nan(y):
            return compute(x, y)
        unknown = gt.isnan(x) | gt.isnan(y)
        none = np.asarray(0, np.result_type(x.dtype, y.dtype))
        return gt.where(unknown, x + y, compute(gt.where(unknown, none, x), gt.where(unknown, none, y)))

    return compared


def _fmax(x: Any, y: Any) -> Any:
    """The larger one, or the one that is not NaN; of two that are the same, the first."""
    return gt.where(gt.greater_equal(x, y) | gt.isnan(y), x, y) if _are_floats(x, y) else gt.fmax(x, y)


def _fmin(x: Any, y: Any) -> Any:
    """The smaller one, or the one that is not NaN; of two that are the same, the first."""
    return gt.where(gt.less_equal(x, y) | gt.isnan(y), x, y) if _are_floats(x, y) else gt.fmin(x, y)


def _are_floats(*operands: Any) -> bool:
    return all(getattr(x, "dtype", np.dtype(float)).kind == "f" for x in operands)


def _atan2(y: Any, x: Any) -> Any:
    """The angle; at the origin, where it has no derivative, PyTorch takes 0 for it."""
    if isinstance(y, Lifted) or isinstance(x, Lifted):
        return gt.arctan2(y, x)
    origin = (plain(y) == 0) & (plain(x) == 0)
    if not np.any(origin):
        return gt.arctan2(y, x)
    kind = np.result_type(y.dtype, x.dtype)
    there = np.arctan2(plain(y), plain(x)).astype(kind)
    moved = gt.arctan2(gt.where(origin, np.asarray(0, kind), y), gt.where(origin, np.asarray(1, kind), x))
    return gt.where(origin, there, moved)


def _copysign(x: Any, y: Any) -> Any:
    """The first with the sign of the second, which has a gradient of zeros."""
    return _stepped(y, gt.copysign(x, y))


_BINARY: dict[str, Any] = {
    "mul": ("Mul", gt.multiply),
    "remainder": ("Remainder", _dividing(gt.remainder)),
    "fmod": ("Fmod", _dividing(gt.fmod)),
    "maximum": ("Maximum", larger(gt.maximum)),
    "minimum": ("Minimum", larger(gt.minimum)),
    "fmax": ("Fmax", _fmax),
    "fmin": ("Fmin", _fmin),
    "floor_divide": (None, _dividing(gt.floor_divide)),
    "eq": (None, gt.equal),
    "ne": (None, gt.not_equal),
    "lt": (None, gt.less),
    "le": (None, gt.less_equal),
    "gt": (None, gt.greater),
    "ge": (None, gt.greater_equal),
    "logical_and": (None, gt.logical_and),
    "logical_or": (None, gt.logical_or),
    "logical_xor": (None, gt.logical_xor),
    "bitwise_and": (None, gt.bitwise_and),
    "bitwise_or": (None, gt.bitwise_or),
    "bitwise_xor": (None, gt.bitwise_xor),
    "bitwise_left_shift": (None, gt.left_shift),
    "bitwise_right_shift": (None, gt.right_shift),
    "gcd": (None, gt.gcd),
    "lcm": (None, gt.lcm),
    "heaviside": (None, lambda x, y: _zero_at_nan(x, gt.heaviside(x, y))),
}
for _name, (_label, _compute) in _BINARY.items():
    _binary(_name, _label, _compute)
_FLOAT_BINARY: dict[str, Any] = {
    "atan2": ("Atan2", _atan2),
    "hypot": ("Hypot", gt.hypot),
    "logaddexp": ("Logaddexp", gt.logaddexp),
    "logaddexp2": ("Logaddexp2", gt.logaddexp2),
    "copysign": ("Copysign", _copysign),
    "xlogy": ("Xlogy", lambda x, y: gt.special.xlogy(x, y)),
}
for _name, (_label, _compute) in _FLOAT_BINARY.items():
    _binary(_name, _label, _compute, True)
for _alias, _name in {
    "multiply": "mul",
    "arctan2": "atan2",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
}.items():
    FUNCTIONS[_alias] = FUNCTIONS[_name]


def _scaled(other: Any, alpha: Any) -> Any:
    return other if alpha == 1 else gt.multiply(*promoted(other, alpha))


@function("Add")
def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input + alpha * other."""
    return gt.add(*promoted(input, _scaled(other, alpha)))


@function("Sub")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """input - alpha * other."""
    left, right = promoted(input, _scaled(other, alpha))
    if getattr(left, "dtype", None) == np.bool_:
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported.\n"
            "  fix: `~x` or torch.logical_not(x) inverts, torch.logical_xor(x, y) tells where two differ"
        )
    return gt.subtract(left, right)


@function("Rsub", lambda input, other, alpha=1: 1)
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """other - alpha * input."""
    left, right = promoted(other, _scaled(input, alpha))
    return gt.subtract(left, right)


@function("Div")
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """input / other; integers give floating point numbers, unless rounded down ("floor") or towards 0 ("trunc")."""
    if rounding_mode == "floor":
        return gt.floor_divide(*promoted(input, other))
    left, right = promoted(input, other, floating=rounding_mode is None)
    if rounding_mode is None:
        return gt.divide(left, right)
    kind = dtypes.result(left, right)
    return cast(gt.trunc(gt.divide(cast(left, np.float64), cast(right, np.float64))), kind)


@function("Addcmul")
def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """input + value * tensor1 * tensor2."""
    return input + _scaled(tensor1 * tensor2, value)


@function("Addcdiv")
def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """input + value * tensor1 / tensor2."""
    return input + _scaled(tensor1 / tensor2, value)


@function("Lerp")
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """input + weight * (end - input)."""
    return input + operand(weight) * (end - input)


@function("Clamp", lambda input, min=None, max=None: 0 if isinstance(min, Value) or isinstance(max, Value) else 1)
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Each element limited to the range from `min` to `max`."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    bounds = [x for x in (min, max) if x is not None]
    kind = dtypes.result(input, *bounds)
    return gt.clip(cast(input, kind), *(None if x is None else cast(operand(x), kind) for x in (min, max)))


@function("ClampMin")
def clamp_min(input: Any, min: Any) -> Any:
    """Each element, or `min` where that is larger."""
    left, right = promoted(input, min)
    return gt.clip(left, right, None)


@function("ClampMax")
def clamp_max(input: Any, max: Any) -> Any:
    """Each element, or `max` where that is smaller."""
    left, right = promoted(input, max)
    return gt.clip(left, None, right)


@function("ViewAsReal")
def view_as_real(input: Any) -> Any:
    """Real and imaginary parts along a last axis."""
    return gt.stack([gt.real(input), gt.imag(input)], axis=-1)


@function("ViewAsComplex")
def view_as_complex(input: Any) -> Any:
    """Complex numbers from real and imaginary parts along the last axis."""
    unit = np.asarray(1j, np.result_type(input.dtype, np.complex64))
    return input[..., 0] + input[..., 1] * unit


@function("Where")
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """`input` where `condition` holds, `other` elsewhere; without these, the positions where it holds."""
    if input is None:
        return gt.nonzero(condition)
    return gt.where(condition, *promoted(input, other))


@function()
def isclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether each pair of elements is the same up to rounding."""
    return gt.isclose(input, other, rtol, atol, equal_nan)


@function()
def allclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether two tensors are the same up to rounding."""
    return bool(gt.allclose(input, other, rtol, atol, equal_nan))


@function()
def equal(input: Any, other: Any) -> Any:
    """Whether two tensors have the same shape and elements."""
    return bool(gt.array_equal(input, other))


@function("Pow", lambda input, exponent: 2 if not isinstance(input, Value) else int(isinstance(exponent, Value)))
def pow(input: Any, exponent: Any) -> Any:
    """Each element of `input` to the power of that of `exponent`."""
    return gt.power(*promoted(input, exponent))


@function("FloatPower")
def float_power(input: Any, exponent: Any) -> Any:
    """Powers in double precision."""
    return gt.power(cast(operand(input), np.float64), cast(operand(exponent), np.float64))


def softmax_of(compute: Function) -> Function:
    """A softmax along `dim`, in the type `dtype` if that is given."""

    def along(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
        input = input if dtype is None else gt.astype(input, dtype)
        if input.dtype.kind not in "fc":
            raise NotImplementedError(f"softmax is not implemented for {dtypes.of(input.dtype)}.\n  fix: x.float()")
        if dim is None:  # PyTorch's guess, of which it warns
            dim = 0 if len(input.shape) in (0, 1, 3) else 1
            warnings.warn(
                f"Implicit dimension choice for softmax has been deprecated: dim={dim} is taken.\n"
                f"  fix: dim={dim}, or dim=-1",
                UserWarning,
                stacklevel=_stacklevel,
            )
        return compute(input, dim)

    return along


_add("softmax", "Softmax", softmax_of(gt.softmax), "exp(x), normalised to sum to 1 along `dim`.")
_add("log_softmax", "LogSoftmax", softmax_of(gt.log_softmax), "The logarithm of the softmax along `dim`.")
_add("softmin", "Softmax", softmax_of(lambda x, dim: nn.functional.softmin(x, dim)), "The softmax of -x along `dim`.")

FUNCTIONS.update(
    round=round,
    frac=frac,
    nan_to_num=nan_to_num,
    logit=logit,
    add=add,
    sub=sub,
    subtract=sub,
    rsub=rsub,
    div=div,
    divide=div,
    true_divide=div,
    addcmul=addcmul,
    addcdiv=addcdiv,
    lerp=lerp,
    clamp=clamp,
    clip=clamp,
    clamp_min=clamp_min,
    clamp_max=clamp_max,
    view_as_real=view_as_real,
    view_as_complex=view_as_complex,
    where=where,
    isclose=isclose,
    allclose=allclose,
    equal=equal,
    float_power=float_power,
    pow=pow,
)
