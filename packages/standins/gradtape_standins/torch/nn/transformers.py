"""Attention and transformers."""

from __future__ import annotations

import copy
from typing import Any

from gradtape import nn as ours
from gradtape_standins.torch import creation
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.methods import FUNCTIONS
from gradtape_standins.torch.nn import init
from gradtape_standins.torch.nn.containers import ModuleList
from gradtape_standins.torch.nn.function_layers import LayerNorm
from gradtape_standins.torch.nn.module import Module
from gradtape_standins.torch.nn.wrapped_layer import WrappedLayer


class MultiheadAttention(WrappedLayer):
    """Attention of several heads at once."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim % num_heads:
            raise AssertionError(f"embed_dim must be divisible by num_heads: {embed_dim} features, {num_heads} heads")
        if add_bias_kv or add_zero_attn:
            raise NotImplementedError("MultiheadAttention: add_bias_kv and add_zero_attn are not in the stand-in")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        with translating():
            layer = ours.MultiheadAttention(embed_dim, num_heads, dropout, bias, kdim, vdim, batch_first)
            self._adopt(layer, dtype)

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
    ) -> Any:
        """gradtape's layer on PyTorch's tensors, with the names of PyTorch's graph nodes."""
        return self._called(
            ("TransposeBackward0" if self.batch_first else "ViewBackward0", "MeanBackward1"),
            query,
            key,
            value,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )


class _TransformerLayer(WrappedLayer):
    """What layers of encoders and decoders share."""

    _kind = ""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.norm_first = norm_first
        with translating():
            layer = getattr(ours, self._kind)(
                d_model,
                nhead,
                dim_feedforward,
                dropout,
                activation=activation if isinstance(activation, str) else activation.__name__,
                layer_norm_eps=layer_norm_eps,
                batch_first=batch_first,
                norm_first=norm_first,
                bias=bias,
            )
            self._adopt(layer, dtype)

    @property
    def _label(self) -> str:
        return "AddBackward0" if self.norm_first else "NativeLayerNormBackward0"


class TransformerEncoderLayer(_TransformerLayer):
    """Attention and two dense layers, each with a residual and a norm."""

    _kind = "TransformerEncoderLayer"

    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        """gradtape's layer, with PyTorch's names of the arguments."""
        return self._called(self._label, src, src_mask, src_key_padding_mask, is_causal)


class TransformerDecoderLayer(_TransformerLayer):
    """Attention to itself, attention to a memory, and two dense layers, each with a residual and a norm."""

    _kind = "TransformerDecoderLayer"

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        """gradtape's layer, with PyTorch's names of the arguments."""
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return self._called(self._label, tgt, memory, *masks, tgt_is_causal, memory_is_causal)


class _Stack(Module):
    """Layers one behind the other: copies of one, each with numbers of its own from then on."""

    def __init__(self, layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList(copy.deepcopy(layer) for _ in range(num_layers))
        self.num_layers, self.norm = num_layers, norm

    def _through(self, x: Any, *args: Any, **options: Any) -> Any:
        for layer in self.layers:
            x = layer(x, *args, **options)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """Encoder layers one behind the other."""

    def __init__(
        self, encoder_layer: Module, num_layers: int, norm: Module | None = None, enable_nested_tensor: bool = True
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        """The layers applied one after the other."""
        return self._through(src, mask, src_key_padding_mask, bool(is_causal))


class TransformerDecoder(_Stack):
    """Decoder layers one behind the other, all with the same memory."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        """The layers applied one after the other, each with the same memory."""
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return self._through(tgt, memory, *masks, bool(tgt_is_causal), memory_is_causal)


class Transformer(Module):
    """An encoder, and a decoder that looks at what it has made."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        own = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)

        def stacked(layer: Any, stack: Any, count: int) -> Module:
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
            made: Module = stack(layer(*own, dtype=dtype), count, norm)
            return made

        self.encoder = custom_encoder or stacked(TransformerEncoderLayer, TransformerEncoder, num_encoder_layers)
        self.decoder = custom_decoder or stacked(TransformerDecoderLayer, TransformerDecoder, num_decoder_layers)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """Minus infinity above the diagonal, 0 elsewhere: nothing attends to what comes later."""
        return FUNCTIONS["triu"](creation.full((sz, sz), float("-inf"), dtype=dtype), diagonal=1)

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        """The decoder of `tgt`, with the encoded `src` as memory."""
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return self.decoder(tgt, memory, *masks, tgt_is_causal, memory_is_causal)
