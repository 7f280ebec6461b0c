"""Activations: what neural networks put between their layers. Each element by itself, but for `glu` and `softmin`.

At a kink the slope is the one of both sides that is smaller in size, as everywhere here: relu and its like are flat at
it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.rules import elementwise
from gradtape.core.tensor import Tensor
from gradtape.errors import OperandError, ShapeError
from gradtape.ops.arguments import as_value, one_axis, refused
from gradtape.ops.nn import sigmoid, softmax, softplus_kernel
from gradtape.ops.nn import softplus as smooth_relu
from gradtape.ops.special import log_expit, ndtr

__all__ = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "logsigmoid",
    "mish",
    "prelu",
    "relu6",
    "selu",
    "silu",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanhshrink",
    "threshold",
]


def _real(x: Any, name: str) -> Any:
    """`x`, if its numbers have an order."""
    if x.dtype.kind == "c":
        raise refused(
            OperandError,
            f"{name} of complex numbers ({x.dtype}): they have no order.",
            f"{name} of the real and of the imaginary part, or of the absolute value",
        )
    return x


def _floating(input: Any, name: str) -> Any:
    """`input` as real floating point numbers."""
    input = as_value(input)
    return _real(input, name) if input.dtype.kind in "fc" else input.astype(float)


def _inside(x: Any, low: float, high: float) -> Any:
    """1 strictly between two bounds, 0 elsewhere."""
    return ((x > low) & (x < high)).astype(x.dtype)


def _both(**params: Any) -> Any:
    """Samples of a row of one array with keywords."""
    return lambda draw: [((draw(3, 4),), params), ((draw(),), params), ((draw(0, 2),), params)]


BLOCK = 1 << 15
"""How many elements a formula of several steps takes at a time, so that what is in between stays in the cache."""


def blockwise(formula: Callable[..., Any]) -> Callable[..., Any]:
    """`formula`, of each element of its first argument by itself, block by block where that is a large array."""

    @functools.wraps(formula)
    def in_blocks(x: Any, *others: Any) -> Any:
        if not isinstance(x, np.ndarray) or x.size <= BLOCK:
            return formula(x, *others)
        flat = x.reshape(-1)
        first = formula(flat[:BLOCK], *others)
        out = np.empty(flat.shape, first.dtype)
        out[:BLOCK] = first
        for start in range(BLOCK, flat.size, BLOCK):
            out[start : start + BLOCK] = formula(flat[start : start + BLOCK], *others)
        return out.reshape(x.shape)

    return in_blocks


# -- of straight pieces

_leaky_relu = elementwise(
    lambda x, slope: (np.maximum if slope <= 1 else np.minimum)(_real(x, "leaky_relu"), x * x.dtype.type(slope)),
    lambda x, slope: (x > 0).astype(x.dtype) * (1 - slope) + slope,
    name="leaky_relu",
    samples=_both(slope=0.1),
)
_prelu = elementwise(
    lambda x, y: np.where(_real(x, "prelu") > 0, x, x * y),
    lambda x, y: np.where(x > 0, np.ones((), x.dtype), y),
    lambda x: np.where(x > 0, np.zeros((), x.dtype), x),
    name="prelu",
)
_hardtanh = elementwise(
    lambda x, low, high: np.clip(_real(x, "hardtanh"), x.dtype.type(low), x.dtype.type(high)),
    lambda x, low, high: _inside(x, low, high),
    name="hardtanh",
    samples=_both(low=-1.0, high=0.5),
)
_hardsigmoid = elementwise(
    lambda x: np.clip(_real(x, "hardsigmoid") / 6 + x.dtype.type(0.5), x.dtype.type(0), x.dtype.type(1)),
    lambda x: _inside(x, -3, 3) / 6,
    name="hardsigmoid",
    domain=[(-4.0, 4.0)],
)
_hardswish = elementwise(
    lambda x: _real(x, "hardswish") * np.clip(x / 6 + x.dtype.type(0.5), x.dtype.type(0), x.dtype.type(1)),
    lambda x: _inside(x, -3, 3) * (x / 3 + 0.5) + (x >= 3).astype(x.dtype),
    name="hardswish",
    domain=[(-4.0, 4.0)],
)
_hardshrink = elementwise(
    lambda x, bound: np.where(np.abs(_real(x, "hardshrink")) > bound, x, x.dtype.type(0)),
    lambda x, bound: (np.abs(x) > bound).astype(x.dtype),
    name="hardshrink",
    samples=_both(bound=0.7),
)
_softshrink = elementwise(
    lambda x, bound: _real(x, "softshrink") - np.clip(x, x.dtype.type(-bound), x.dtype.type(bound)),
    lambda x, bound: (np.abs(x) > bound).astype(x.dtype),
    name="softshrink",
    samples=_both(bound=0.7),
)
_threshold = elementwise(
    lambda x, bound, value: np.where(_real(x, "threshold") > bound, x, x.dtype.type(value)),
    lambda x, bound: (x > bound).astype(x.dtype),
    name="threshold",
    samples=_both(bound=0.3, value=7.0),
)


def leaky_relu(input: Any, negative_slope: float = 0.01) -> Any:
    """x where it is positive, `negative_slope` times x elsewhere.

    >>> import gradtape as gt
    >>> gt.nn.functional.leaky_relu(gt.tensor([-1.0, 2.0]))
    Tensor([-0.01,  2.  ])
    """
    return _leaky_relu(_floating(input, "leaky_relu"), slope=float(negative_slope))


def relu6(input: Any) -> Any:
    """x between 0 and 6; 0 below and 6 above.

    >>> import gradtape as gt
    >>> gt.nn.functional.relu6(gt.tensor([-1.0, 2.0, 9.0]))
    Tensor([0., 2., 6.])
    """
    return _hardtanh(_floating(input, "relu6"), low=0.0, high=6.0)


def prelu(input: Any, weight: Any) -> Any:
    """x where it is positive, `weight` times x elsewhere; one weight, or one for each channel (axis 1).

    >>> import gradtape as gt
    >>> gt.nn.functional.prelu(gt.tensor([[-1.0, -1.0]]), gt.tensor([0.5, 0.25]))
    Tensor([[-0.5 , -0.25]])
    """
    input, weight = _floating(input, "prelu"), as_value(weight)
    if weight.size != 1:
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.shape != (channels,):
            raise refused(
                ShapeError,
                f"prelu: weight has shape {weight.shape}, input {input.shape}; one weight is accepted, or one for each "
                f"of the {channels} channels (axis 1).",
                f"a weight of shape (1,) or ({channels},)",
            )
        weight = weight.reshape((-1,) + (1,) * (input.ndim - 2))
    else:
        weight = weight.reshape(())
    return _prelu(input, weight)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """x between `min_val` and `max_val`; the bounds outside of them.

    >>> import gradtape as gt
    >>> gt.nn.functional.hardtanh(gt.tensor([-2.0, 0.5, 2.0]))
    Tensor([-1. ,  0.5,  1. ])
    """
    if not min_val < max_val:
        raise refused(
            OperandError, f"hardtanh: min_val={min_val!r} and max_val={max_val!r}.", "a min_val below the max_val"
        )
    return _hardtanh(_floating(input, "hardtanh"), low=float(min_val), high=float(max_val))


def hardsigmoid(input: Any) -> Any:
    """x / 6 + 1/2, at least 0 and at most 1.

    >>> import gradtape as gt
    >>> gt.nn.functional.hardsigmoid(gt.tensor([-4.0, 0.0, 1.5]))
    Tensor([0.  , 0.5 , 0.75])
    """
    return _hardsigmoid(_floating(input, "hardsigmoid"))


def hardswish(input: Any) -> Any:
    """x times hardsigmoid(x).

    >>> import gradtape as gt
    >>> gt.nn.functional.hardswish(gt.tensor([-4.0, 1.5, 4.0]))
    Tensor([-0.   ,  1.125,  4.   ])
    """
    return _hardswish(_floating(input, "hardswish"))


def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """x where it is further from 0 than `lambd`, 0 elsewhere.

    >>> import gradtape as gt
    >>> gt.nn.functional.hardshrink(gt.tensor([-1.0, 0.25]))
    Tensor([-1.,  0.])
    """
    return _hardshrink(_floating(input, "hardshrink"), bound=_not_negative(lambd, "hardshrink"))


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """x moved by `lambd` towards 0, and 0 where it is nearer than that.

    >>> import gradtape as gt
    >>> gt.nn.functional.softshrink(gt.tensor([-1.0, 0.25]))
    Tensor([-0.5,  0. ])
    """
    return _softshrink(_floating(input, "softshrink"), bound=_not_negative(lambd, "softshrink"))


def _not_negative(lambd: float, name: str) -> float:
    if not lambd >= 0:
        raise refused(OperandError, f"{name}: lambd={lambd!r}.", "a distance from 0, so not negative")
    return float(lambd)


def threshold(input: Any, threshold: float, value: float) -> Any:
    """x where it is above `threshold`, `value` elsewhere.

    >>> import gradtape as gt
    >>> gt.nn.functional.threshold(gt.tensor([0.5, 2.0]), 1.0, -1.0)
    Tensor([-1.,  2.])
    """
    return _threshold(_floating(input, "threshold"), bound=float(threshold), value=float(value))


# -- exponential

_elu = elementwise(
    lambda x, alpha, scale, reach: _elu_kernel(_real(x, "elu"), alpha, scale, reach),
    lambda x, alpha, scale, reach: _elu_slope(x, alpha, scale, reach),
    name="elu",
    samples=lambda draw: [
        ((draw(3, 4),), {"alpha": 0.5, "scale": 1.0, "reach": 1.0}),
        ((draw(),), {"alpha": 1.5, "scale": 2.0, "reach": 1.5}),
        ((draw(0, 2),), {"alpha": 1.0, "scale": 1.0, "reach": 1.0}),
    ],
)


@blockwise
def _elu_slope(x: Any, alpha: float, scale: float, reach: float) -> Any:
    bell = np.exp(np.minimum(x, np.zeros((), x.dtype)) / reach)
    return (x > 0).astype(x.dtype) * (scale * (1 - alpha / reach)) + bell * (scale * alpha / reach)


@blockwise
def _elu_kernel(x: Any, alpha: float, scale: float, reach: float) -> Any:
    """scale (max(x, 0) + alpha (exp(y / reach) - 1)) with y = min(x, 0).

    exp(2 v) - 1 = 2 t / (1 - t) with t = tanh(v), exact near 0 too; NumPy's tanh is much faster than its expm1.
    """
    t = np.tanh(np.minimum(x, x.dtype.type(0)) * x.dtype.type(0.5 / reach))
    return t / (1 - t) * x.dtype.type(2 * scale * alpha) + np.maximum(x, x.dtype.type(0)) * x.dtype.type(scale)


_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def elu(input: Any, alpha: float = 1.0) -> Any:
    """x where it is positive, alpha (exp(x) - 1) elsewhere.

    >>> import gradtape as gt
    >>> gt.nn.functional.elu(gt.tensor([-1000.0, 0.0, 2.0]))
    Tensor([-1.,  0.,  2.])
    """
    return _elu(_floating(input, "elu"), alpha=float(alpha), scale=1.0, reach=1.0)


def selu(input: Any) -> Any:
    """`elu` with the scale and alpha that keep the mean 0 and the variance 1 from layer to layer.

    >>> import gradtape as gt
    >>> gt.nn.functional.selu(gt.tensor([-1000.0, 1.0]))
    Tensor([-1.75809934,  1.05070099])
    """
    return _elu(_floating(input, "selu"), alpha=_SELU_ALPHA, scale=_SELU_SCALE, reach=1.0)


def celu(input: Any, alpha: float = 1.0) -> Any:
    """x where it is positive, alpha (exp(x / alpha) - 1) elsewhere: without a kink for every alpha.

    >>> import gradtape as gt
    >>> gt.nn.functional.celu(gt.tensor([-1000.0, 2.0]), alpha=0.5)
    Tensor([-0.5,  2. ])
    """
    if not alpha:
        raise refused(OperandError, "celu: alpha=0 would be divided by.", "another alpha; relu has none")
    return _elu(_floating(input, "celu"), alpha=float(alpha), scale=1.0, reach=float(alpha))


_softplus = elementwise(
    lambda x, beta, limit: _softplus_kernel(_real(x, "softplus"), beta, limit),
    lambda x, beta, limit: np.where(x * beta > limit, np.ones((), x.dtype), sigmoid(x * beta)),
    name="softplus of beta",
    samples=_both(beta=2.0, limit=3.0),
)


@blockwise
def _softplus_kernel(x: Any, beta: float, limit: float) -> Any:
    scaled = x * x.dtype.type(beta)
    out = softplus_kernel(scaled) / x.dtype.type(beta)
    beyond = scaled > limit
    if not beyond.any():
        return out
    return np.where(beyond, x, out)


def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """log(1 + exp(beta x)) / beta without overflow; x itself where beta x is above `threshold`.

    >>> import gradtape as gt
    >>> gt.nn.functional.softplus(gt.tensor([0.0, 1000.0]))
    Tensor([6.93147181e-01, 1.00000000e+03])
    """
    if not beta:
        raise refused(OperandError, "softplus: beta=0 would be divided by.", "another beta")
    return _softplus(_floating(input, "softplus"), beta=float(beta), limit=float(threshold))


def logsigmoid(input: Any) -> Any:
    """log(sigmoid(x)), exact where it is large and negative too.

    >>> import gradtape as gt
    >>> gt.nn.functional.logsigmoid(gt.tensor([-1000.0, 0.0]))
    Tensor([-1.00000000e+03, -6.93147181e-01])
    """
    return log_expit(_floating(input, "logsigmoid"))


@blockwise
def _times_logistic(x: Any, a: float, b: float) -> Any:
    """x s(u) with s the logistic function and u = a (x + b x^3), as x / (1 + exp(-u))."""
    with np.errstate(over="ignore"):  # where s is 0
        return x / (1 + np.exp(x * (-a if not b else -a - a * b * (x * x))))


def _logistic(u: Any) -> Any:
    """The logistic function; of bare arrays without SciPy's care for results below the smallest normal number."""
    return sigmoid(u) if isinstance(u, Tensor) else 1 / (1 + np.exp(-u))


# x s(x): derivative s (1 + x (1 - s))
_silu = elementwise(
    lambda x: _times_logistic(_real(x, "silu"), 1.0, 0.0),
    lambda x: _silu_slope(x),
    name="silu",
)


@blockwise
def _silu_slope(x: Any) -> Any:
    s = _logistic(x)
    return s * (1 + x * (1 - s))


def silu(input: Any) -> Any:
    """x sigmoid(x), which is also called swish.

    >>> import gradtape as gt
    >>> gt.nn.functional.silu(gt.tensor([-1000.0, 0.0, 1000.0]))
    Tensor([  -0.,    0., 1000.])
    """
    return _silu(_floating(input, "silu"))


# x tanh(softplus(x)); with u = tanh(softplus(x)) the derivative is u + x sigmoid(x) (1 - u^2)
_mish = elementwise(
    lambda x: _mish_kernel(_real(x, "mish")),
    lambda x: _mish_slope(x),
    name="mish",
)


@blockwise
def _mish_kernel(x: Any) -> Any:
    return x * np.tanh(softplus_kernel(x))


@blockwise
def _mish_slope(x: Any) -> Any:
    u = np.tanh(smooth_relu(x))
    return u + x * sigmoid(x) * (1 - u * u)


def mish(input: Any) -> Any:
    """x tanh(softplus(x)).

    >>> import gradtape as gt
    >>> gt.nn.functional.mish(gt.tensor([0.0, 1000.0]))
    Tensor([   0., 1000.])
    """
    return _mish(_floating(input, "mish"))


_PEAK = 1 / math.sqrt(2 * math.pi)  # of the normal density

# with a = |x| and t = 1 / (1 + _REACH a), the distribution function at -a is exp(-a^2 / 2) times a polynomial in t
# without a constant term, fitted so that the relative error is below 4e-8: enough for single precision, and faster than
# SciPy's function by far
_REACH = 0.35
_TAIL = (
    -0.0291466731,
    0.143975202,
    -0.255721225,
    0.159181763,
    -0.0231147804,
    0.105509956,
    0.119832414,
    0.139861926,
    0.139621401,
)


def _single_tail(x: Any) -> tuple[Any, Any]:
    """The normal distribution function at -|x| and exp(-x^2 / 2), in single precision."""
    t = 1 / (1 + np.abs(x) * np.float32(_REACH))
    polynomial = np.zeros_like(t)
    for coefficient in _TAIL:
        polynomial += np.float32(coefficient)
        polynomial *= t
    bell = np.exp(x * x * np.float32(-0.5))
    return polynomial * bell, bell


@blockwise
def _gelu_kernel(x: Any) -> Any:
    if x.dtype != np.float32:
        return x * ndtr.kernel(x)
    with np.errstate(over="ignore"):  # of x * x, where the tail is 0
        return np.maximum(x, np.float32(0)) - np.abs(x) * _single_tail(x)[0]


@blockwise
def _gelu_slope(x: Any) -> Any:
    """The distribution function and x times the density; of bare arrays in single precision, by the fit."""
    if isinstance(x, Tensor) or x.dtype != np.float32:
        return ndtr(x) + x * (_PEAK * np.exp(-0.5 * x * x))
    tail, bell = _single_tail(x)
    right = (x > 0).astype(x.dtype)
    return right + (1 - 2 * right) * tail + x * bell * np.float32(_PEAK)


_gelu = elementwise(
    lambda x: _gelu_kernel(_real(x, "gelu")),
    lambda x: _gelu_slope(x),
    name="gelu",
)

# the approximation x s(2 u), because (1 + tanh(u)) / 2 = s(2 u), with 2 u = a (x + b x^3)
_GELU_A, _GELU_B = 2 * math.sqrt(2 / math.pi), 0.044715
_gelu_tanh = elementwise(
    lambda x: _times_logistic(_real(x, "gelu"), _GELU_A, _GELU_B),
    lambda x: _gelu_tanh_slope(x),
    name="gelu by tanh",
)


@blockwise
def _gelu_tanh_slope(x: Any) -> Any:
    s = _logistic(_GELU_A * x * (1 + _GELU_B * x * x))
    return s * (1 + x * (1 - s) * (_GELU_A * (1 + 3 * _GELU_B * x * x)))


def gelu(input: Any, approximate: str = "none") -> Any:
    """x times the normal distribution function of x; with approximate="tanh", the usual approximation of it.

    >>> import gradtape as gt
    >>> gt.nn.functional.gelu(gt.tensor([-1.0, 1.0]))
    Tensor([-0.15865525,  0.84134475])
    >>> gt.nn.functional.gelu(gt.tensor([-1.0, 1.0]), approximate="tanh")
    Tensor([-0.15880801,  0.84119199])
    """
    if approximate not in ("none", "tanh"):
        raise refused(OperandError, f"gelu: approximate={approximate!r}.", "approximate 'none' or 'tanh'")
    return (_gelu if approximate == "none" else _gelu_tanh)(_floating(input, "gelu"))


_softsign = elementwise(
    lambda x: x / (1 + np.abs(_real(x, "softsign"))),
    lambda x: 1 / (1 + np.abs(x)) ** 2,
    name="softsign",
)


def softsign(input: Any) -> Any:
    """x / (1 + |x|).

    >>> import gradtape as gt
    >>> gt.nn.functional.softsign(gt.tensor([-1.0, 3.0]))
    Tensor([-0.5 ,  0.75])
    """
    return _softsign(_floating(input, "softsign"))


_tanhshrink = elementwise(
    lambda x: x - np.tanh(_real(x, "tanhshrink")),
    lambda x: np.tanh(x) ** 2,
    name="tanhshrink",
)


def tanhshrink(input: Any) -> Any:
    """x - tanh(x).

    >>> import gradtape as gt
    >>> gt.nn.functional.tanhshrink(gt.tensor([0.0, 1000.0]))
    Tensor([  0., 999.])
    """
    return _tanhshrink(_floating(input, "tanhshrink"))


# -- along an axis


def glu(input: Any, axis: int = -1) -> Any:
    """The first half along `axis`, times the sigmoid of the second.

    >>> import gradtape as gt
    >>> gt.nn.functional.glu(gt.tensor([2.0, 4.0, 0.0, 0.0]))
    Tensor([1., 2.])
    """
    input = _floating(input, "glu")
    place = one_axis(axis, input.ndim)
    half, odd = divmod(input.shape[place], 2)
    if odd:
        raise refused(
            ShapeError,
            f"glu: axis {axis} of input, of shape {input.shape}, has {input.shape[place]} elements; it is cut into two "
            "halves.",
            "an even number of elements along that axis",
        )
    before = (slice(None),) * place
    return input[(*before, slice(0, half))] * sigmoid(input[(*before, slice(half, None))])


def softmin(input: Any, axis: int = -1) -> Any:
    """The softmax of -x: the smallest elements have the most weight.

    >>> import gradtape as gt
    >>> gt.nn.functional.softmin(gt.tensor([0.0, 1000.0]))
    Tensor([1., 0.])
    """
    return softmax(-_floating(input, "softmin"), axis)
