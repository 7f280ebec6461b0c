"""The softmax family and activations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Op, apply
from gradtape.core.rules import elementwise, general
from gradtape.ops.reductions import restored
from gradtape.ops.shaping import as_value

Axes = tuple[int, ...] | None


def _batch_axes(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    return apply(op, tuple(values), {**params, "axis": tuple(a + 1 for a in params["axis"])})


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    from numpy.lib.array_utils import normalize_axis_tuple

    return tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim, "axis")


def _logsumexp_kernel(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        out = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return out if keepdims else np.squeeze(out, axis)


def _weights(x: Any, out: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """exp(x - logsumexp(x)): the softmax; 0 where everything is -inf."""
    level = restored(out, axis, keepdims, x.ndim)
    return np.exp(x - np.where(np.isneginf(level), 0, level))


_logsumexp = general(
    _logsumexp_kernel,
    reverse=lambda g, x, out, axis, keepdims: restored(g, axis, keepdims, x.ndim) * _weights(x, out, axis, keepdims),
    forward=lambda dx, x, out, axis, keepdims: (dx * _weights(x, out, axis, keepdims)).sum(
        axis=axis, keepdims=keepdims
    ),
    name="logsumexp",
    batch=_batch_axes,
    samples=lambda draw: [
        ((draw(3, 4),), {"axis": (1,), "keepdims": False}),
        ((draw(3, 4),), {"axis": (0, 1), "keepdims": True}),
        ((draw(),), {"axis": (), "keepdims": False}),
    ],
)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """log(sum(exp(x))), without overflow.

    >>> import gradtape as gt
    >>> gt.logsumexp(gt.tensor([1000.0, 1000.0])).item() - 1000.0  # doctest: +ELLIPSIS
    0.693147...
    """
    x = as_value(x)
    return _logsumexp(x, axis=_axes(axis, x.ndim), keepdims=keepdims)


def _softmax_kernel(x: Any, axis: tuple[int, ...]) -> Any:
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


_SOFTMAX_SAMPLES: Any = lambda draw: [
    ((draw(3, 4),), {"axis": (1,)}),
    ((draw(3, 4),), {"axis": (0, 1)}),
    ((draw(5),), {"axis": (0,)}),
]

_softmax = general(
    _softmax_kernel,
    reverse=lambda g, out, axis: out * (g - (g * out).sum(axis=axis, keepdims=True)),
    forward=lambda dx, out, axis: out * (dx - (dx * out).sum(axis=axis, keepdims=True)),
    name="softmax",
    batch=_batch_axes,
    samples=_SOFTMAX_SAMPLES,
)


def softmax(x: Any, axis: Any = -1) -> Any:
    """exp(x) normalised to sum to 1 along `axis`.

    >>> import gradtape as gt
    >>> gt.softmax(gt.tensor([0.0, 0.0]))
    Tensor([0.5, 0.5])
    """
    x = as_value(x)
    return _softmax(x, axis=_axes(axis, x.ndim))


def _log_softmax_kernel(x: Any, axis: tuple[int, ...]) -> Any:
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


_log_softmax = general(
    _log_softmax_kernel,
    reverse=lambda g, out, axis: g - np.exp(out) * g.sum(axis=axis, keepdims=True),
    forward=lambda dx, out, axis: dx - (np.exp(out) * dx).sum(axis=axis, keepdims=True),
    name="log_softmax",
    batch=_batch_axes,
    samples=_SOFTMAX_SAMPLES,
)


def log_softmax(x: Any, axis: Any = -1) -> Any:
    """log(softmax(x)), exact for large differences too.

    >>> import gradtape as gt
    >>> gt.log_softmax(gt.tensor([0.0, -1000.0]))
    Tensor([    0., -1000.])
    """
    x = as_value(x)
    return _log_softmax(x, axis=_axes(axis, x.ndim))


def _sigmoid_kernel(x: Any) -> Any:
    from scipy.special import expit

    return expit(x)


sigmoid = elementwise(_sigmoid_kernel, lambda out: out * (1 - out), name="sigmoid", answers=["scipy.special.expit"])
softplus = elementwise(
    lambda x: np.logaddexp(x, np.zeros((), np.result_type(x))), lambda x: sigmoid(x), name="softplus"
)
relu = elementwise(
    lambda x: np.maximum(x, np.zeros((), np.result_type(x))),
    lambda x: (x > 0).astype(x.dtype),
    name="relu",
    domain=[(0.2, 2.0)],
)
