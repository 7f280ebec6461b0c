"""Scaled dot-product attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.core.rules import general
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import OperandError, ShapeError
from gradtape.ops.arguments import argument_error, as_value, batch_shift_axes
from gradtape.ops.elementwise import where
from gradtape.ops.layers import dropout
from gradtape.ops.products import matmul
from gradtape.ops.reductions import sum
from gradtape.ops.shaping import swapaxes
from gradtape.ops.softmax import _top

__all__ = ["scaled_dot_product_attention"]


def _weights_kernel(x: Array, axis: int) -> Any:
    """The softmax; zeros where all is -inf, so that a row which may attend to nothing takes nothing."""
    if x.dtype.kind == "c":
        raise TypeError("scores are real numbers")
    out = np.exp(x - _top(x, (axis,)))
    total = np.sum(out, axis=axis, keepdims=True)
    total[total == 0] = 1
    out /= total
    return out


def _change(change: Any, out: Array, axis: int) -> Any:
    """The derivative of softmax, which is symmetric."""
    return out * (change - sum(change * out, axis=axis, keepdims=True))


_attention_weights = general(
    _weights_kernel,
    reverse=lambda g, out, axis: _change(g, out, axis),
    forward=lambda dx, out, axis: _change(dx, out, axis),
    name="attention weights",
    batch=batch_shift_axes("axis"),
    samples=lambda draw: [
        ((draw(3, 4),), {"axis": 1}),
        ((draw(2, 2, 3),), {"axis": 2}),
        ((draw(2, 0),), {"axis": 1}),
    ],
)


def scaled_dot_product_attention(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    attn_mask: TensorLike | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    rng: Any = None,
) -> Any:
    """softmax(query key^T scale) value, for query (..., L, E), key (..., S, E) and value (..., S, V).

    `scale` is 1 / sqrt(E) unless given. A boolean `attn_mask`, which broadcasts against (..., L, S), is True where a
    query may attend to a key; a floating point one is added to the scores. With `is_causal` query i attends to the keys
    up to i only. A query that may attend to no key at all gets zeros, and its gradient is zero. With `dropout_p`, a
    share of the weights is dropped, drawn from the NumPy generator `rng`.

    >>> import numpy as np, gradtape as gt
    >>> x = gt.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> gt.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)[0]
    Tensor([1., 0.])
    >>> gt.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=np.array([[False, True], [False, False]]))
    Tensor([[0., 1.],
            [0., 0.]])
    """
    query, key, value = _floating(query), _floating(key), _floating(value)
    _check_shapes(query, key, value)
    factor = 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else float(scale)
    scores = matmul(query * factor, swapaxes(key, -1, -2))
    if is_causal:
        length, width = scores.shape[-2:]
        scores = where(np.tri(length, width, dtype=bool), scores, scores.dtype.type(-np.inf))
    if attn_mask is not None:
        scores = _masked(scores, as_value(attn_mask))
    weights = _attention_weights(scores, axis=scores.ndim - 1)
    if dropout_p:
        weights = dropout(weights, dropout_p, rng=rng)
    return matmul(weights, value)


def _floating(x: TensorLike) -> Array:
    x = as_value(x)
    return x if x.dtype.kind in "fc" else x.astype(float)


def _check_shapes(query: Array, key: Array, value: Array) -> None:
    shapes = (query.shape, key.shape, value.shape)
    if min(len(shape) for shape in shapes) < 2 or shapes[0][-1] != shapes[1][-1] or shapes[1][-2] != shapes[2][-2]:
        raise argument_error(
            ShapeError,
            f"scaled_dot_product_attention: query has shape {shapes[0]}, key {shapes[1]} and value {shapes[2]}; "
            "(..., L, E), (..., S, E) and (..., S, V) are accepted.",
            "queries and keys of the same number of features, and a value for each key",
        )
    try:
        np.broadcast_shapes(*[shape[:-2] for shape in shapes])
    except ValueError:
        raise argument_error(
            ShapeError,
            f"scaled_dot_product_attention: query has shape {shapes[0]}, key {shapes[1]} and value {shapes[2]}; the "
            "axes before the last two do not broadcast.",
            "the same examples and heads in front of all three",
        ) from None


def _masked(scores: Array, mask: Array) -> Any:
    try:
        fits = np.broadcast_shapes(mask.shape, scores.shape)[-2:] == scores.shape[-2:]
    except ValueError:
        fits = False
    if not fits:
        raise argument_error(
            ShapeError,
            f"scaled_dot_product_attention: attn_mask has shape {mask.shape}; one that broadcasts against the scores, "
            f"{scores.shape}, is accepted.",
            f"a mask of shape {scores.shape[-2:]}, or mask[:, None] for one that is the same for all heads",
        )
    if mask.dtype.kind == "b":
        return where(mask, scores, scores.dtype.type(-np.inf))
    if mask.dtype.kind != "f":
        raise argument_error(
            OperandError,
            f"scaled_dot_product_attention: attn_mask has dtype {mask.dtype}; booleans (True: may attend) or floating "
            "point numbers (added to the scores) are accepted.",
            "attn_mask.astype(bool), if 1 means that a query may attend",
        )
    return scores + (mask if mask.dtype == scores.dtype else mask.astype(scores.dtype))
