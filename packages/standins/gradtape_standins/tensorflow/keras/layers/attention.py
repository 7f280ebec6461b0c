"""Attention, AdditiveAttention and MultiHeadAttention, over gradtape's scaled dot products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradtape as gt
from gradtape_standins.tensorflow import elementwise, nn, reductions
from gradtape_standins.tensorflow.arrays import cast, expand_dims
from gradtape_standins.tensorflow.conversion import value_of
from gradtape_standins.tensorflow.errors import check_supported, in_tensorflow_terms
from gradtape_standins.tensorflow.keras import initializers
from gradtape_standins.tensorflow.keras.layers.base import Layer
from gradtape_standins.tensorflow.linalg import einsum, matmul
from gradtape_standins.tensorflow.tensor import wrap

_NEVER = -1e9


def _causal(queries: int, keys: int) -> Any:
    """True where a query may look: at its own place, and before."""
    return wrap(gt.Tensor(np.tri(queries, keys, dtype=bool)))


def _weights(scores: Any, allowed: Any) -> Any:
    """The softmax of scores, none of it where `allowed` is False."""
    if allowed is not None:
        scores = scores + (1.0 - cast(allowed, scores.dtype)) * _NEVER
    return nn.softmax(scores, -1)


class Attention(Layer):
    """softmax(query key^T) value, called with [query, value] or [query, value, key].

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.keras.layers.Attention()([tf.ones([1, 2, 4]), tf.ones([1, 3, 4])]).shape
    TensorShape([1, 2, 4])
    """

    def __init__(
        self, use_scale: bool = False, score_mode: str = "dot", dropout: float = 0.0, seed: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.use_scale, self.score_mode, self.dropout, self.seed = use_scale, score_mode, dropout, seed

    def build(self, input_shape: Any) -> None:
        """Make the scale, if it is wanted."""
        self.scale = self.add_weight((), "ones", name="scale") if self.use_scale else None
        self.built = True

    def _scores(self, query: Any, key: Any) -> Any:
        if self.score_mode == "concat":
            return reductions.reduce_sum(
                elementwise.tanh(expand_dims(query, -2) + expand_dims(key, -3))
                * (1.0 if self.scale is None else self.scale),
                axis=-1,
            )
        scores = matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale

    def call(
        self,
        inputs: Any,
        mask: Any = None,
        training: bool = False,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
    ) -> Any:
        """The weighted mean of the values, for each query."""
        query, value = inputs[0], inputs[1]
        scores = self._scores(query, inputs[2] if len(inputs) > 2 else value)
        allowed = None
        if isinstance(mask, list | tuple) and len(mask) > 1 and mask[1] is not None:
            allowed = expand_dims(mask[1], -2)
        if use_causal_mask:
            before = _causal(*scores.shape[-2:])
            allowed = before if allowed is None else elementwise.logical_and(allowed, before)
        weights = _weights(scores, allowed)
        if training and self.dropout:
            weights = nn.dropout(weights, self.dropout, seed=self.seed)
        result = matmul(weights, value)
        if isinstance(mask, list | tuple) and mask[0] is not None:
            result = result * expand_dims(cast(mask[0], result.dtype), -1)
        return (result, weights) if return_attention_scores else result


class AdditiveAttention(Attention):
    """Attention by tanh(query + key), also known as Bahdanau's."""

    def __init__(self, use_scale: bool = True, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(use_scale, "concat", dropout, **kwargs)

    def build(self, input_shape: Any) -> None:
        """Make the scale: a number for each feature."""
        size = input_shape[0][-1]
        self.scale = self.add_weight((size,), "glorot_uniform", name="scale") if self.use_scale else None
        self.built = True


class MultiHeadAttention(Layer):
    """Attention of several heads at once, with a projection for queries, keys, values and the output.

    >>> from gradtape_standins import tensorflow as tf
    >>> layer = tf.keras.layers.MultiHeadAttention(num_heads=2, key_dim=3)
    >>> x = tf.ones([1, 5, 4])
    >>> layer(x, x).shape, [tuple(w.shape) for w in layer.weights[:2]]
    (TensorShape([1, 5, 4]), [(4, 2, 3), (2, 3)])
    """

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        dropout: float = 0.0,
        use_bias: bool = True,
        output_shape: int | None = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        seed: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.num_heads, self.key_dim, self.value_dim = num_heads, key_dim, value_dim or key_dim
        self.dropout, self.use_bias, self._width, self.seed = dropout, use_bias, output_shape, seed
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)

    def _projection(self, name: str, kernel: tuple[int, ...], bias: tuple[int, ...]) -> tuple[Any, Any]:
        weight = self.add_weight(kernel, self.kernel_initializer, name=f"{name}/kernel")
        return weight, self.add_weight(bias, self.bias_initializer, name=f"{name}/bias") if self.use_bias else None

    def _make(self, query: Any, key: Any, value: Any) -> None:
        heads, width = self.num_heads, self._width or query.shape[-1]
        for name, x, size in (
            ("query", query, self.key_dim),
            ("key", key, self.key_dim),
            ("value", value, self.value_dim),
        ):
            setattr(self, f"_{name}", self._projection(name, (x.shape[-1], heads, size), (heads, size)))
        self._output = self._projection("attention_output", (heads, self.value_dim, width), (width,))
        self.built = True

    def build(self, *shapes: Any) -> None:
        """The variables are made by the first call, which knows all shapes."""

    def _built_for(self, inputs: Any) -> None:
        """As in `build`."""

    @in_tensorflow_terms
    def call(
        self,
        query: Any,
        value: Any,
        key: Any = None,
        query_mask: Any = None,
        value_mask: Any = None,
        key_mask: Any = None,
        attention_mask: Any = None,
        return_attention_scores: bool = False,
        training: bool = False,
        use_causal_mask: bool = False,
    ) -> Any:
        """The output, and the weights of the heads if they are wanted."""
        key = value if key is None else key
        fix = "attention_mask of shape (batch, queries, keys)"
        masks = {"query_mask": query_mask, "value_mask": value_mask, "key_mask": key_mask}
        check_supported("MultiHeadAttention", fix, **{name: (mask, None) for name, mask in masks.items()})
        if not self.built:
            self._make(query, key, value)
        q, k, v = (
            _projected("...c,chd->...hd", x, p)
            for x, p in zip((query, key, value), (self._query, self._key, self._value))
        )
        scores = einsum("...qhd,...khd->...hqk", q * (1.0 / math.sqrt(self.key_dim)), k)
        allowed = None if attention_mask is None else expand_dims(attention_mask, -3)
        if use_causal_mask:
            before = _causal(*scores.shape[-2:])
            allowed = before if allowed is None else elementwise.logical_and(cast(allowed, "bool"), before)
        weights = _weights(scores, allowed)
        used = nn.dropout(weights, self.dropout, seed=self.seed) if training and self.dropout else weights
        result = _projected("...hd,hdc->...c", einsum("...hqk,...khd->...qhd", used, v), self._output)
        return (result, weights) if return_attention_scores else result


def _projected(how: str, x: Any, projection: tuple[Any, Any]) -> Any:
    kernel, bias = projection
    made = wrap(gt.einsum(how, value_of(x), value_of(kernel)))
    return made if bias is None else made + bias


__all__ = ["AdditiveAttention", "Attention", "MultiHeadAttention"]
