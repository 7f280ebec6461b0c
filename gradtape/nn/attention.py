"""Attention as a layer: MultiheadAttention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import argument_error, as_value
from gradtape.nn import functional, init
from gradtape.nn.basic import Dense, checked_size
from gradtape.nn.module import Module
from gradtape.ops.elementwise import where

Generator = np.random.Generator


class MultiheadAttention(Module):
    """Attention of `num_heads` heads at once, each of embed_dim / num_heads features.

    Inputs are (time, examples, features), or (examples, time, features) with `batch_first`, or (time, features). In
    masks True means: may not be attended to; masks of numbers are added to the scores. Returns the output, and the
    weights (their mean over the heads, unless `average_attn_weights=False`; None unless `need_weights`).

    >>> import numpy as np, gradtape as gt
    >>> layer = gt.nn.MultiheadAttention(8, 2, batch_first=True, rng=np.random.default_rng(0))
    >>> x = np.ones((3, 5, 8), np.float32)
    >>> output, weights = layer(x, x, x)
    >>> output.shape, weights.shape
    ((3, 5, 8), (3, 5, 5))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        *,
        rng: Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self.embed_dim = checked_size("MultiheadAttention", "embed_dim", embed_dim)
        self.num_heads = checked_size("MultiheadAttention", "num_heads", num_heads)
        if embed_dim % num_heads:
            raise argument_error(
                OperandError,
                f"MultiheadAttention: {num_heads} heads of {embed_dim} features.",
                "a number of heads that divides embed_dim",
            )
        if not 0 <= dropout <= 1:
            raise argument_error(
                OperandError, f"MultiheadAttention: dropout={dropout!r}.", "a probability between 0 and 1"
            )
        self.dropout, self.batch_first, self.rng = dropout, batch_first, rng
        self.widths = (kdim or embed_dim, vdim or embed_dim)
        widths = (embed_dim, *self.widths)
        first = init.glorot_uniform()
        self.in_projections_apart = widths != (embed_dim,) * 3
        if self.in_projections_apart:
            for name, width in zip(("q", "k", "v"), widths, strict=True):
                self.declare(f"{name}_proj_weight", (embed_dim, width), first, dtype, rng)
        else:
            self.declare("in_proj_weight", (3 * embed_dim, embed_dim), first, dtype, rng)
        if bias:
            self.declare("in_proj_bias", (3 * embed_dim,), init.zeros(), dtype, rng)
        else:
            self.in_proj_bias = None
        self.out_proj = Dense(embed_dim, embed_dim, bias, bias_init=init.zeros(), rng=rng, dtype=dtype)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """The attended values and, with `need_weights`, the attention weights, else None."""
        inputs = [as_value(x) for x in (query, key, value)]
        single = inputs[0].ndim == 2
        if any(x.ndim != inputs[0].ndim for x in inputs) or inputs[0].ndim not in (2, 3):
            raise argument_error(
                ShapeError,
                f"MultiheadAttention: query, key and value have the shapes {', '.join(str(x.shape) for x in inputs)}.",
                "two axes each, (time, features), or three, with examples",
            )
        self._check([x.shape for x in inputs], single)
        if single:
            inputs = [x[None] for x in inputs]
        elif not self.batch_first:
            inputs = [x.swapaxes(0, 1) for x in inputs]
        heads = [self._heads(functional.linear(x, *p)) for x, p in zip(inputs, self._projections(), strict=True)]
        mask = self._mask(attn_mask, key_padding_mask, is_causal, heads[0], heads[1])
        out, weights = self._attend(heads, mask, need_weights)
        examples, _, length, _ = out.shape
        out = self.out_proj(out.swapaxes(1, 2).reshape((examples, length, self.embed_dim)))
        if weights is not None and average_attn_weights:
            weights = weights.mean(axis=1)
        if single:
            return out[0], None if weights is None else weights[0]
        return out if self.batch_first else out.swapaxes(0, 1), weights

    def _check(self, shapes: list[tuple[int, ...]], single: bool) -> None:
        """Raise unless queries, keys and values have the features of this layer, and belong together."""
        widths = (self.embed_dim, *self.widths)
        time = 0 if single or not self.batch_first else 1
        examples = {shape[1 - time] for shape in shapes} if not single else {1}
        if any(s[-1] != w for s, w in zip(shapes, widths, strict=True)) or len(examples) > 1:
            wrong = f"with {', '.join(map(str, widths))} features, and the same examples"
        elif shapes[1][time] != shapes[2][time]:
            wrong = "with a value for each key"
        else:
            return
        order = (
            "(time, features)" if single else ("(examples, time, features)" if time else "(time, examples, features)")
        )
        raise argument_error(
            ShapeError,
            f"MultiheadAttention: query, key and value have the shapes {', '.join(map(str, shapes))}; ({order}) is "
            f"accepted, {wrong}.",
            self._would_fit({shape[-1] for shape in shapes}),
        )

    def _would_fit(self, features: set[int]) -> str:
        width = min(features)
        if len(features) == 1 and width != self.embed_dim and width and not width % self.num_heads:
            return f"MultiheadAttention({width}, {self.num_heads}); batch_first=True if examples come first"
        return "kdim and vdim for other features, batch_first=True if examples come first"

    def _projections(self) -> list[tuple[Any, Any]]:
        width = self.embed_dim
        spans = [slice(i * width, (i + 1) * width) for i in range(3)]
        biases = [None if self.in_proj_bias is None else self.in_proj_bias[span] for span in spans]
        if self.in_projections_apart:
            weights = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
        else:
            weights = [self.in_proj_weight[span] for span in spans]
        return list(zip(weights, biases, strict=True))

    def _heads(self, x: Any) -> Any:
        """(examples, time, features) as (examples, heads, time, features of a head)."""
        examples, length, width = x.shape
        return x.reshape((examples, length, self.num_heads, width // self.num_heads)).swapaxes(1, 2)

    def _mask(self, attn_mask: Any, padding: Any, is_causal: bool, query: Any, key: Any) -> Any:
        """What is added to the scores: minus infinity where a query may not attend."""
        dtype, mask = query.dtype, None
        if is_causal and attn_mask is None:
            attn_mask = ~np.tri(query.shape[2], key.shape[2], dtype=bool)
        if attn_mask is not None:
            mask = _as_numbers(as_value(attn_mask), dtype)
            if mask.ndim == 3:
                mask = mask.reshape((-1, self.num_heads, *mask.shape[1:]))
        if padding is not None:
            padding = _as_numbers(as_value(padding), dtype)
            padding = padding.reshape((-1, 1, 1, padding.shape[-1]))
            mask = padding if mask is None else mask + padding
        return mask

    def _attend(self, heads: list[Any], mask: Any, need_weights: bool) -> tuple[Any, Any]:
        query, key, value = heads
        share = self.dropout if self.training else 0.0
        if not need_weights:
            return functional.scaled_dot_product_attention(query, key, value, mask, share, rng=self.rng), None
        scores = (query * (1 / math.sqrt(query.shape[-1]))) @ key.swapaxes(-1, -2)
        weights = functional.softmax(scores if mask is None else scores + mask, axis=-1)
        if share:
            weights = functional.dropout(weights, share, True, self.rng)
        return weights @ value, weights

    def extra_repr(self) -> str:
        """The number of features and of heads."""
        return f"{self.embed_dim}, {self.num_heads}"


def _as_numbers(mask: Any, dtype: Any) -> Any:
    if mask.dtype.kind != "b":
        return mask
    return where(mask, np.asarray(-np.inf, dtype), np.asarray(0, dtype))
