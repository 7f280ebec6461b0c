"""Transformers: encoder and decoder layers, stacks of them, and both together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gradtape.errors import OperandError
from gradtape.extend import argument_error
from gradtape.nn import functional
from gradtape.nn.attention import MultiheadAttention
from gradtape.nn.basic import Dense, Dropout
from gradtape.nn.containers import ModuleList
from gradtape.nn.module import Module
from gradtape.nn.norms import LayerNorm

Generator = np.random.Generator


class _Layer(Module):
    """Attentions and a network of two dense layers, each with a residual connection and a layer norm."""

    _attentions: tuple[str, ...]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        *,
        rng: Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        if activation not in ("relu", "gelu"):
            raise argument_error(OperandError, f"{type(self).__name__}: activation={activation!r}.", '"relu" or "gelu"')
        own: dict[str, Any] = {"rng": rng, "dtype": dtype}
        for name in self._attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **own))
        self.linear1 = Dense(d_model, dim_feedforward, bias, **own)
        self.dropout = Dropout(dropout, rng=rng)
        self.linear2 = Dense(dim_feedforward, d_model, bias, **own)
        for number in range(1, len(self._attentions) + 2):
            setattr(self, f"norm{number}", LayerNorm(d_model, layer_norm_eps, bias=bias, **own))
        for number in range(1, len(self._attentions) + 2):
            setattr(self, f"dropout{number}", Dropout(dropout, rng=rng))
        self.activation, self.norm_first = activation, norm_first

    def _added(self, number: int, x: Any, compute: Any) -> Any:
        """`x` and what is computed from it, with the norm of that number before the computation or behind the sum."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        return x + dropout(compute(norm(x))) if self.norm_first else norm(x + dropout(compute(x)))

    def _attended(self, name: str, x: Any, key: Any, mask: Any, padding_mask: Any, is_causal: bool) -> Any:
        attend = getattr(self, name)
        out, _ = attend(x, key, key, padding_mask, need_weights=False, attn_mask=mask, is_causal=is_causal)
        return out

    def _fed(self, x: Any) -> Any:
        activation = functional.relu if self.activation == "relu" else functional.gelu
        return self.linear2(self.dropout(activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and a network of two dense layers, each with a residual connection and a layer norm.

    >>> import numpy as np, gradtape as gt
    >>> layer = gt.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, rng=np.random.default_rng(0))
    >>> layer.eval()(np.ones((3, 5, 8), np.float32)).shape
    (3, 5, 8)
    """

    _attentions = ("self_attn",)

    def forward(self, x: Any, mask: Any = None, padding_mask: Any = None, is_causal: bool = False) -> Any:
        """Self-attention and a feed-forward block, each added to its input and normalised."""
        x = self._added(1, x, lambda x: self._attended("self_attn", x, x, mask, padding_mask, is_causal))
        return self._added(2, x, self._fed)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory, and two dense layers, each with a residual connection and a layer norm.

    The memory is what an encoder has made of another sequence.

    >>> import numpy as np, gradtape as gt
    >>> layer = gt.nn.TransformerDecoderLayer(8, 2, 16, batch_first=True, rng=np.random.default_rng(0))
    >>> layer.eval()(np.ones((3, 5, 8), np.float32), np.ones((3, 7, 8), np.float32)).shape
    (3, 5, 8)
    """

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        x: Any,
        memory: Any,
        mask: Any = None,
        memory_mask: Any = None,
        padding_mask: Any = None,
        memory_padding_mask: Any = None,
        is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        """Self-attention, attention to `memory`, and a feed-forward block, each added to its input."""
        x = self._added(1, x, lambda x: self._attended("self_attn", x, x, mask, padding_mask, is_causal))
        seen = (memory, memory_mask, memory_padding_mask, memory_is_causal)
        x = self._added(2, x, lambda x: self._attended("multihead_attn", x, *seen))
        return self._added(3, x, self._fed)


class _Stack(Module):
    """Layers one after the other, and a norm behind them if one is given."""

    def __init__(self, layers: Iterable[Module], norm: Module | None = None) -> None:
        for name, given, accepted in (("layers", layers, Iterable), ("norm", norm, Module | None)):
            if not isinstance(given, accepted):
                raise argument_error(
                    OperandError,
                    f"{type(self).__name__}: {name} is a {type(given).__name__}.",
                    "a list of layers, [make() for _ in range(number)], and a module as the norm, or none",
                )
        self.layers = ModuleList(layers)
        self.norm = norm

    def forward(self, x: Any, *args: Any, **options: Any) -> Any:
        for layer in self.layers:
            x = layer(x, *args, **options)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """Encoder layers one after the other, and a norm behind them if one is given.

    >>> import numpy as np, gradtape as gt
    >>> make = lambda: gt.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    >>> model = gt.nn.TransformerEncoder([make(), make()]).initialise(np.random.default_rng(0))
    >>> model(np.ones((5, 3, 8), np.float32)).shape
    (5, 3, 8)
    """


class TransformerDecoder(_Stack):
    """Decoder layers one after the other, all with the same memory, and a norm behind them if one is given.

    >>> import numpy as np, gradtape as gt
    >>> make = lambda: gt.nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0)
    >>> model = gt.nn.TransformerDecoder([make(), make()]).initialise(np.random.default_rng(0))
    >>> model(np.ones((5, 3, 8), np.float32), np.ones((7, 3, 8), np.float32)).shape
    (5, 3, 8)
    """
