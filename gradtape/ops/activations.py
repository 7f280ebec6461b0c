"""Activations: what neural networks put between their layers. Each element by itself, but for `glu` and `softmin`.

Those of straight pieces are in `rectifiers`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.rules import elementwise
from gradtape.core.tensor import Tensor
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import OperandError, ShapeError
from gradtape.ops.arguments import argument_error, as_real_floating, one_axis, require_order
from gradtape.ops.rectifiers import samples_with
from gradtape.ops.softmax import sigmoid, softmax, softplus_kernel
from gradtape.ops.softmax import softplus as smooth_relu
from gradtape.ops.special import log_expit, ndtr

__all__ = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "logsigmoid",
    "mish",
    "selu",
    "silu",
    "softmin",
    "softplus",
    "softsign",
    "tanhshrink",
]


BLOCK = 1 << 15
"""How many elements a formula of several steps takes at a time, so that what is in between stays in the cache."""


def blockwise(formula: Callable[..., Any]) -> Callable[..., Any]:
    """`formula`, of each element of its first argument by itself, block by block where that is a large array."""

    @functools.wraps(formula)
    def in_blocks(x: Array, *others: Any) -> Any:
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


# -- exponential

_elu = elementwise(
    lambda x, alpha, scale, reach: _elu_kernel(require_order(x, "elu"), alpha, scale, reach),
    lambda x, alpha, scale, reach: _elu_slope(x, alpha, scale, reach),
    name="elu",
    samples=lambda draw: [
        ((draw(3, 4),), {"alpha": 0.5, "scale": 1.0, "reach": 1.0}),
        ((draw(),), {"alpha": 1.5, "scale": 2.0, "reach": 1.5}),
        ((draw(0, 2),), {"alpha": 1.0, "scale": 1.0, "reach": 1.0}),
    ],
)


@blockwise
def _elu_slope(x: Array, alpha: float, scale: float, reach: float) -> Any:
    bell = np.exp(np.minimum(x, np.zeros((), x.dtype)) / reach)
    return (x > 0).astype(x.dtype) * (scale * (1 - alpha / reach)) + bell * (scale * alpha / reach)


@blockwise
def _elu_kernel(x: Array, alpha: float, scale: float, reach: float) -> Any:
    """scale (max(x, 0) + alpha (exp(y / reach) - 1)) with y = min(x, 0).

    exp(2 v) - 1 = 2 t / (1 - t) with t = tanh(v), exact near 0 too; NumPy's tanh is much faster than its expm1.
    """
    t = np.tanh(np.minimum(x, x.dtype.type(0)) * x.dtype.type(0.5 / reach))
    return t / (1 - t) * x.dtype.type(2 * scale * alpha) + np.maximum(x, x.dtype.type(0)) * x.dtype.type(scale)


_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def elu(input: TensorLike, alpha: float = 1.0) -> Any:
    """x where it is positive, alpha (exp(x) - 1) elsewhere.

    >>> import gradtape as gt
    >>> gt.nn.functional.elu(gt.tensor([-1000.0, 0.0, 2.0]))
    Tensor([-1.,  0.,  2.])
    """
    return _elu(as_real_floating(input, "elu"), alpha=float(alpha), scale=1.0, reach=1.0)


def selu(input: TensorLike) -> Any:
    """`elu` with the scale and alpha that keep the mean 0 and the variance 1 from layer to layer.

    >>> import gradtape as gt
    >>> gt.nn.functional.selu(gt.tensor([-1000.0, 1.0]))
    Tensor([-1.75809934,  1.05070099])
    """
    return _elu(as_real_floating(input, "selu"), alpha=_SELU_ALPHA, scale=_SELU_SCALE, reach=1.0)


def celu(input: TensorLike, alpha: float = 1.0) -> Any:
    """x where it is positive, alpha (exp(x / alpha) - 1) elsewhere: without a kink for every alpha.

    >>> import gradtape as gt
    >>> gt.nn.functional.celu(gt.tensor([-1000.0, 2.0]), alpha=0.5)
    Tensor([-0.5,  2. ])
    """
    if not alpha:
        raise argument_error(OperandError, "celu: alpha=0 would be divided by.", "another alpha; relu has none")
    return _elu(as_real_floating(input, "celu"), alpha=float(alpha), scale=1.0, reach=float(alpha))


_softplus = elementwise(
    lambda x, beta, limit: _softplus_kernel(require_order(x, "softplus"), beta, limit),
    lambda x, beta, limit: np.where(x * beta > limit, np.ones((), x.dtype), sigmoid(x * beta)),
    name="softplus of beta",
    samples=samples_with(beta=2.0, limit=3.0),
)


@blockwise
def _softplus_kernel(x: Array, beta: float, limit: float) -> Any:
    scaled = x * x.dtype.type(beta)
    out = softplus_kernel(scaled) / x.dtype.type(beta)
    beyond = scaled > limit
    if not beyond.any():
        return out
    return np.where(beyond, x, out)


def softplus(input: TensorLike, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """log(1 + exp(beta x)) / beta without overflow; x itself where beta x is above `threshold`.

    >>> import gradtape as gt
    >>> gt.nn.functional.softplus(gt.tensor([0.0, 1000.0]))
    Tensor([6.93147181e-01, 1.00000000e+03])
    """
    if not beta:
        raise argument_error(OperandError, "softplus: beta=0 would be divided by.", "another beta")
    return _softplus(as_real_floating(input, "softplus"), beta=float(beta), limit=float(threshold))


def logsigmoid(input: TensorLike) -> Any:
    """log(sigmoid(x)), exact where it is large and negative too.

    >>> import gradtape as gt
    >>> gt.nn.functional.logsigmoid(gt.tensor([-1000.0, 0.0]))
    Tensor([-1.00000000e+03, -6.93147181e-01])
    """
    return log_expit(as_real_floating(input, "logsigmoid"))


@blockwise
def _times_logistic(x: Array, a: float, b: float) -> Any:
    """x s(u) with s the logistic function and u = a (x + b x^3), as x / (1 + exp(-u))."""
    with np.errstate(over="ignore"):  # where s is 0
        return x / (1 + np.exp(x * (-a if not b else -a - a * b * (x * x))))


def _logistic(u: Array) -> Any:
    """The logistic function; of bare arrays without SciPy's care for results below the smallest normal number."""
    return sigmoid(u) if isinstance(u, Tensor) else 1 / (1 + np.exp(-u))


# x s(x): derivative s (1 + x (1 - s))
_silu = elementwise(
    lambda x: _times_logistic(require_order(x, "silu"), 1.0, 0.0),
    lambda x: _silu_slope(x),
    name="silu",
)


@blockwise
def _silu_slope(x: Array) -> Any:
    s = _logistic(x)
    return s * (1 + x * (1 - s))


def silu(input: TensorLike) -> Any:
    """x sigmoid(x), which is also called swish.

    >>> import gradtape as gt
    >>> gt.nn.functional.silu(gt.tensor([-1000.0, 0.0, 1000.0]))
    Tensor([  -0.,    0., 1000.])
    """
    return _silu(as_real_floating(input, "silu"))


# x tanh(softplus(x)); with u = tanh(softplus(x)) the derivative is u + x sigmoid(x) (1 - u^2)
_mish = elementwise(
    lambda x: _mish_kernel(require_order(x, "mish")),
    lambda x: _mish_slope(x),
    name="mish",
)


@blockwise
def _mish_kernel(x: Array) -> Any:
    return x * np.tanh(softplus_kernel(x))


@blockwise
def _mish_slope(x: Array) -> Any:
    u = np.tanh(smooth_relu(x))
    return u + x * sigmoid(x) * (1 - u * u)


def mish(input: TensorLike) -> Any:
    """x tanh(softplus(x)).

    >>> import gradtape as gt
    >>> gt.nn.functional.mish(gt.tensor([0.0, 1000.0]))
    Tensor([   0., 1000.])
    """
    return _mish(as_real_floating(input, "mish"))


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


def _single_tail(x: Array) -> tuple[Any, Any]:
    """The normal distribution function at -|x| and exp(-x^2 / 2), in single precision."""
    t = 1 / (1 + np.abs(x) * np.float32(_REACH))
    polynomial = np.zeros_like(t)
    for coefficient in _TAIL:
        polynomial += np.float32(coefficient)
        polynomial *= t
    bell = np.exp(x * x * np.float32(-0.5))
    return polynomial * bell, bell


@blockwise
def _gelu_kernel(x: Array) -> Any:
    if x.dtype != np.float32:
        return x * ndtr.kernel(x)
    with np.errstate(over="ignore"):  # of x * x, where the tail is 0
        return np.maximum(x, np.float32(0)) - np.abs(x) * _single_tail(x)[0]


@blockwise
def _gelu_slope(x: Array) -> Any:
    """The distribution function and x times the density; of bare arrays in single precision, by the fit."""
    if isinstance(x, Tensor) or x.dtype != np.float32:
        return ndtr(x) + x * (_PEAK * np.exp(-0.5 * x * x))
    tail, bell = _single_tail(x)
    right = (x > 0).astype(x.dtype)
    return right + (1 - 2 * right) * tail + x * bell * np.float32(_PEAK)


_gelu = elementwise(
    lambda x: _gelu_kernel(require_order(x, "gelu")),
    lambda x: _gelu_slope(x),
    name="gelu",
)

# the approximation x s(2 u), because (1 + tanh(u)) / 2 = s(2 u), with 2 u = a (x + b x^3)
_GELU_A, _GELU_B = 2 * math.sqrt(2 / math.pi), 0.044715
_gelu_tanh = elementwise(
    lambda x: _times_logistic(require_order(x, "gelu"), _GELU_A, _GELU_B),
    lambda x: _gelu_tanh_slope(x),
    name="gelu by tanh",
)


@blockwise
def _gelu_tanh_slope(x: Array) -> Any:
    s = _logistic(_GELU_A * x * (1 + _GELU_B * x * x))
    return s * (1 + x * (1 - s) * (_GELU_A * (1 + 3 * _GELU_B * x * x)))


def gelu(input: TensorLike, approximate: str = "none") -> Any:
    """x times the normal distribution function of x; with approximate="tanh", the usual approximation of it.

    >>> import gradtape as gt
    >>> gt.nn.functional.gelu(gt.tensor([-1.0, 1.0]))
    Tensor([-0.15865525,  0.84134475])
    >>> gt.nn.functional.gelu(gt.tensor([-1.0, 1.0]), approximate="tanh")
    Tensor([-0.15880801,  0.84119199])
    """
    if approximate not in ("none", "tanh"):
        raise argument_error(OperandError, f"gelu: approximate={approximate!r}.", "approximate 'none' or 'tanh'")
    return (_gelu if approximate == "none" else _gelu_tanh)(as_real_floating(input, "gelu"))


_softsign = elementwise(
    lambda x: x / (1 + np.abs(require_order(x, "softsign"))),
    lambda x: 1 / (1 + np.abs(x)) ** 2,
    name="softsign",
)


def softsign(input: TensorLike) -> Any:
    """x / (1 + |x|).

    >>> import gradtape as gt
    >>> gt.nn.functional.softsign(gt.tensor([-1.0, 3.0]))
    Tensor([-0.5 ,  0.75])
    """
    return _softsign(as_real_floating(input, "softsign"))


_tanhshrink = elementwise(
    lambda x: x - np.tanh(require_order(x, "tanhshrink")),
    lambda x: np.tanh(x) ** 2,
    name="tanhshrink",
)


def tanhshrink(input: TensorLike) -> Any:
    """x - tanh(x).

    >>> import gradtape as gt
    >>> gt.nn.functional.tanhshrink(gt.tensor([0.0, 1000.0]))
    Tensor([  0., 999.])
    """
    return _tanhshrink(as_real_floating(input, "tanhshrink"))


# -- along an axis


def glu(input: TensorLike, axis: int = -1) -> Any:
    """The first half along `axis`, times the sigmoid of the second.

    >>> import gradtape as gt
    >>> gt.nn.functional.glu(gt.tensor([2.0, 4.0, 0.0, 0.0]))
    Tensor([1., 2.])
    """
    input = as_real_floating(input, "glu")
    place = one_axis(axis, input.ndim)
    half, odd = divmod(input.shape[place], 2)
    if odd:
        raise argument_error(
            ShapeError,
            f"glu: axis {axis} of input, of shape {input.shape}, has {input.shape[place]} elements; it is cut into two "
            "halves.",
            "an even number of elements along that axis",
        )
    before = (slice(None),) * place
    return input[(*before, slice(0, half))] * sigmoid(input[(*before, slice(half, None))])


def softmin(input: TensorLike, axis: int = -1) -> Any:
    """The softmax of -x: the smallest elements have the most weight.

    >>> import gradtape as gt
    >>> gt.nn.functional.softmin(gt.tensor([0.0, 1000.0]))
    Tensor([1., 0.])
    """
    return softmax(-as_real_floating(input, "softmin"), axis)
