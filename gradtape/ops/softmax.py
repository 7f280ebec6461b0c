"""The softmax family and activations."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.explain_hooks import suspect
from gradtape.core.operation import Op
from gradtape.core.rules import elementwise, general
from gradtape.core.typing import Array, Axis, TensorLike
from gradtape.extension import special_function
from gradtape.ops.arguments import all_axes, as_value, batch_shift_axes, note_reduction, restore_reduced_axes
from gradtape.ops.documentation import slopes
from gradtape.ops.loss_checks import note_doubled
from gradtape.ops.products import conjugated

__all__ = [
    "log_softmax",
    "logsumexp",
    "relu",
    "sigmoid",
    "softmax",
    "softplus",
]


def _top(x: Array, axis: tuple[int, ...]) -> Any:
    """The largest elements, which can be taken off before exp; 0 where they are not finite."""
    top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return np.where(np.isfinite(top), top, 0).astype(x.dtype)


def _floating(x: TensorLike) -> Array:
    """`x` with integers and booleans as floating point numbers."""
    x = as_value(x)
    return x if x.dtype.kind in "fc" else x.astype(float)


def _logsumexp_kernel(x: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
    top = _top(x, axis)
    with np.errstate(divide="ignore"):
        out = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return out if keepdims else np.squeeze(out, axis)


def _weights(x: Array, out: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
    """exp(x - logsumexp(x)): the softmax; 0 where everything is -inf."""
    level = restore_reduced_axes(out, axis, keepdims, x.ndim)
    height = level.real if level.dtype.kind == "c" else level
    return np.exp(x - np.where(np.isneginf(height), 0, level))


def _pulled(g: Array, x: Array, out: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
    return restore_reduced_axes(g, axis, keepdims, x.ndim) * conjugated(_weights(x, out, axis, keepdims))


_logsumexp = general(
    _logsumexp_kernel,
    reverse=_pulled,
    forward=lambda dx, x, out, axis, keepdims: (dx * _weights(x, out, axis, keepdims)).sum(
        axis=axis, keepdims=keepdims
    ),
    name="logsumexp",
    batch=batch_shift_axes("axis"),
    samples=lambda draw: [
        ((draw(3, 4),), {"axis": (1,), "keepdims": False}),
        ((draw(3, 4),), {"axis": (0, 1), "keepdims": True}),
        ((draw(),), {"axis": (), "keepdims": False}),
        ((draw(0, 3),), {"axis": (1,), "keepdims": False}),
    ],
)


def logsumexp(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Any:
    """log(sum(exp(x))), without overflow.

    >>> import gradtape as gt
    >>> gt.logsumexp(gt.tensor([1000.0, 1000.0])).item() - 1000.0  # doctest: +ELLIPSIS
    0.693147...
    """
    x = _floating(x)
    axes = all_axes(axis, x.ndim)
    return note_reduction(_logsumexp(x, axis=axes, keepdims=keepdims), x, axes, keepdims)


def _softmax_kernel(x: Array, axis: tuple[int, ...]) -> Any:
    powers = np.exp(x - _top(x, axis))
    return powers / np.sum(powers, axis=axis, keepdims=True)


_SOFTMAX_SAMPLES: Any = lambda draw: [
    ((draw(3, 4),), {"axis": (1,)}),
    ((draw(3, 4),), {"axis": (0, 1)}),
    ((draw(5),), {"axis": (0,)}),
    ((draw(0, 3),), {"axis": (0,)}),
]


def _softmax_forward(dx: Array, out: Array, axis: tuple[int, ...]) -> Any:
    return out * (dx - (dx * out).sum(axis=axis, keepdims=True))


_softmax = general(
    _softmax_kernel,
    reverse=lambda g, out, axis: _softmax_forward(g, conjugated(out), axis),  # a symmetric matrix
    forward=_softmax_forward,
    name="softmax",
    batch=batch_shift_axes("axis"),
    samples=_SOFTMAX_SAMPLES,
)


def _noted(out: Array) -> Any:
    """`out`, whose axis will be compared with the one that the loss uses when a gradient is taken."""
    node = getattr(out, "_node", None)
    if node is not None and node.op is not None and len(node.shape) > 1:
        suspect(node)
    return out


def softmax(x: TensorLike, axis: Axis = -1) -> Any:
    """exp(x) normalised to sum to 1 along `axis`.

    >>> import gradtape as gt
    >>> gt.softmax(gt.tensor([0.0, 0.0]))
    Tensor([0.5, 0.5])
    """
    x = _floating(x)
    axes = all_axes(axis, x.ndim)
    note_doubled("softmax", x, axes)
    return _noted(_softmax(x, axis=axes))


def _log_softmax_kernel(x: Array, axis: tuple[int, ...]) -> Any:
    shifted = x - _top(x, axis)
    with np.errstate(divide="ignore"):  # of nothing, or of -inf alone, the sum is 0
        return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


_log_softmax = general(
    _log_softmax_kernel,
    reverse=lambda g, out, axis: g - conjugated(np.exp(out)) * g.sum(axis=axis, keepdims=True),
    forward=lambda dx, out, axis: dx - (np.exp(out) * dx).sum(axis=axis, keepdims=True),
    name="log_softmax",
    batch=batch_shift_axes("axis"),
    samples=_SOFTMAX_SAMPLES,
)


def log_softmax(x: TensorLike, axis: Axis = -1) -> Any:
    """log(softmax(x)), exact for large differences too.

    >>> import gradtape as gt
    >>> gt.log_softmax(gt.tensor([0.0, -1000.0]))
    Tensor([    0., -1000.])
    """
    x = _floating(x)
    axes = all_axes(axis, x.ndim)
    note_doubled("log_softmax", x, axes)
    return _noted(_log_softmax(x, axis=axes))


def _sigmoid_kernel(x: Array) -> Any:
    """SciPy's; in single precision by way of double: its own is off by 2 units of the last place, and 0 below -88."""
    expit = special_function("expit")
    if getattr(x, "dtype", None) != np.float32:
        return expit(x)
    if x.size < 256:
        return expit(x, dtype=np.float64).astype(np.float32)
    wide = np.maximum(x, np.float32(-150)).astype(np.float64)
    np.negative(wide, out=wide)
    np.exp(wide, out=wide)
    wide += 1
    return np.reciprocal(wide, out=wide).astype(np.float32)


def _zero(x: Array) -> Any:
    return np.zeros((), np.result_type(x))


def softplus_kernel(x: Array) -> Any:
    """max(x, 0) + log(1 + e) with e = exp(-|x|), exact to rounding.

    log(1 + e) is log(u) for the rounded u = 1 + e, and (e - (u - 1)) / u for what rounding took away: NumPy's log is
    several times faster than its log1p and logaddexp.
    """
    small = np.exp(-np.abs(x))
    rounded = 1 + small
    return np.log(rounded) + (small - (rounded - 1)) / rounded + np.maximum(x, _zero(x))


sigmoid: Op = elementwise(
    _sigmoid_kernel,
    lambda out: out * (1 - out),
    name="sigmoid",
    answers=["scipy.special.expit"],
    doc=slopes("1 / (1 + exp(-x))", "sigmoid(x) (1 - sigmoid(x))", "sigmoid(0.0) -> 0.5, 0.25"),
)
softplus: Op = elementwise(
    softplus_kernel,
    lambda x: sigmoid(x),
    name="softplus",
    doc=slopes("log(1 + exp(x)) without overflow", "sigmoid(x)", "softplus(0.0) -> 0.69314718, 0.5"),
)
relu: Op = elementwise(
    lambda x: np.maximum(x, _zero(x)),
    lambda out: out > 0,  # the next layer saves the result anyway
    name="relu",
    doc=slopes("x where it is positive, 0 elsewhere", "1 where x > 0, 0 elsewhere and at 0", "relu(2.0) -> 2., 1."),
)
