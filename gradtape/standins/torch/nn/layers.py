"""Layers with parameters: gradtape's layers say which there are and how they start, and compute."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from gradtape import nn as ours
from gradtape.core.tensor import Tensor as Value
from gradtape.standins.torch import dtypes
from gradtape.standins.torch.errors import translating
from gradtape.standins.torch.nn import functional as F
from gradtape.standins.torch.nn.module import Module
from gradtape.standins.torch.nn.parameter import Parameter
from gradtape.standins.torch.random import numpy_generator
from gradtape.standins.torch.tensor import Tensor, unwrap, wrap


def adopt(module: Module, layer: ours.Module, dtype: Any = None) -> None:
    """Give `module` the parameters of gradtape's `layer`, with numbers drawn from the common generator."""
    kind = dtypes.as_numpy(dtype) or dtypes.default()
    for path, inner in layer.named_modules():
        holder = module._at(path)
        for name, declared in inner._declared.items():
            array = declared.initialiser(numpy_generator(), declared.shape, kind)
            holder.register_parameter(name, Parameter(wrap(Value(np.asarray(array, kind)))))


class Linear(Module):
    """input @ weight.T + bias."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        with translating():
            adopt(self, ours.Linear(in_features, out_features, bias), dtype)
        if not bias:
            self.register_parameter("bias", None)

    def reset_parameters(self) -> None:
        """Fresh numbers."""
        _redraw(self, ours.Linear(self.in_features, self.out_features, self.bias is not None))

    def forward(self, input: Any) -> Any:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def _redraw(module: Module, layer: ours.Module) -> None:
    for name, declared in layer._declared.items():
        held = getattr(module, name)
        array = declared.initialiser(numpy_generator(), declared.shape, held._value.dtype)
        held.detach().copy_(wrap(Value(np.asarray(array))))


class Bilinear(Module):
    """input1 @ weight[out] @ input2 + bias."""

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, **options: Any
    ) -> None:
        super().__init__()
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        with translating():
            adopt(self, ours.Bilinear(in1_features, in2_features, out_features, bias), options.get("dtype"))
        if not bias:
            self.register_parameter("bias", None)

    def forward(self, input1: Any, input2: Any) -> Any:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}"
        return f"{sizes}, out_features={self.out_features}, bias={self.bias is not None}"


class Embedding(Module):
    """The rows of `weight` at integers."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        if max_norm is not None or scale_grad_by_freq:
            raise NotImplementedError("Embedding: max_norm and scale_grad_by_freq are not in the stand-in")
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        with translating():
            adopt(self, ours.Embedding(num_embeddings, embedding_dim, padding_idx), options.get("dtype"))

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None) -> Embedding:
        """A table that is given; not trained, unless `freeze=False`."""
        made = cls(embeddings.shape[0], embeddings.shape[1], padding_idx)
        made.weight = Parameter(embeddings, requires_grad=not freeze)
        return made

    def forward(self, input: Any) -> Any:
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


# -- convolutions


class _Convolution(Module):
    _rank: int
    _transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
        output_padding: Any = 0,
    ) -> None:
        super().__init__()
        if padding_mode != "zeros":
            raise NotImplementedError(
                f"{type(self).__name__}: padding_mode={padding_mode!r}; the stand-in pads with zeros.\n"
                "  fix: torch.nn.functional.pad(x, ..., mode=...) before a convolution without padding"
            )
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = (self._each(x) for x in (kernel_size, stride, dilation))
        self.padding = padding if isinstance(padding, str) else self._each(padding)
        self.output_padding = self._each(output_padding)
        make = getattr(ours, type(self).__name__)
        options = {"output_padding": self.output_padding} if self._transposed else {}
        with translating():
            layer = make(
                in_channels,
                out_channels,
                self.kernel_size,
                stride=self.stride,
                padding=self.padding,
                dilation=self.dilation,
                groups=groups,
                bias=bias,
                **options,
            )
            adopt(self, layer, dtype)
        if not bias:
            self.register_parameter("bias", None)

    def _each(self, value: Any) -> tuple[int, ...]:
        return (value,) * self._rank if isinstance(value, int) else tuple(value)

    def forward(self, input: Any) -> Any:
        steps = (self.stride, self.padding)
        if self._transposed:
            compute = getattr(F, f"conv_transpose{self._rank}d")
            return compute(input, self.weight, self.bias, *steps, self.output_padding, self.groups, self.dilation)
        compute = getattr(F, f"conv{self._rank}d")
        return compute(input, self.weight, self.bias, *steps, self.dilation, self.groups)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * self._rank:
            text += f", padding={self.padding!r}" if not isinstance(self.padding, str) else f", padding={self.padding}"
        if self.dilation != (1,) * self._rank:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * self._rank:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        return text + (", bias=False" if self.bias is None else "")


class Conv1d(_Convolution):
    """Convolution of signals (examples, channels, length)."""

    _rank = 1


class Conv2d(_Convolution):
    """Convolution of images (examples, channels, height, width)."""

    _rank = 2


class Conv3d(_Convolution):
    """Convolution of volumes (examples, channels, depth, height, width)."""

    _rank = 3


class _Transposed(_Convolution):
    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        **options: Any,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            output_padding=output_padding,
            **options,
        )


class ConvTranspose1d(_Transposed):
    """The transpose of a convolution of signals."""

    _rank = 1


class ConvTranspose2d(_Transposed):
    """The transpose of a convolution of images."""

    _rank = 2


class ConvTranspose3d(_Transposed):
    """The transpose of a convolution of volumes."""

    _rank = 3


# -- layers that are gradtape's as a whole


class _Whole(Module):
    """A layer whose computation is gradtape's layer, called with the parameters that are here."""

    def _adopt(self, layer: ours.Module, dtype: Any = None) -> None:
        object.__setattr__(self, "_layer", layer)
        for path, inner in layer.named_modules():
            prefix, _, name = path.rpartition(".")
            if path:
                self._at(prefix).add_module(name, _holder(inner, name))
        adopt(self, layer, dtype)

    def _called(self, label: Any, *args: Any, **kwargs: Any) -> Any:
        """What gradtape's layer returns; `label` names the result, or has a name for each of several."""
        given = {name: parameter._value for name, parameter in self.named_parameters()}
        with translating():
            result = ours.functional_call(
                self._layer, given, *unwrap(args), rng=numpy_generator(), training=self.training, **unwrap(kwargs)
            )
        if isinstance(label, tuple):
            return tuple(wrap(part, name) for part, name in zip(result, label, strict=True))
        return wrap(result, label)


def _holder(layer: ours.Module, name: str) -> Module:
    """The module that holds the parameters of a part of a layer."""
    from gradtape.standins.torch.nn import simple

    if isinstance(layer, ours.Dense):
        kind = _Projection if name == "out_proj" else Linear
        return kind(layer.in_features, layer.out_features, "bias" in layer._declared)
    if isinstance(layer, ours.LayerNorm):
        return simple.LayerNorm(layer.normalized_shape, layer.eps, bias="bias" in layer._declared)
    if isinstance(layer, ours.Dropout):
        return simple.Dropout(layer.p)
    held = Module()
    held._kind = type(layer).__name__
    return held


class _Projection(Linear):
    """The last layer of an attention, which PyTorch gives a name of its own."""

    def _get_name(self) -> str:
        return "NonDynamicallyQuantizableLinear"


class _Recurrent(_Whole):
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers, self.bias = input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional = batch_first, dropout, bidirectional
        options: dict[str, Any] = {"nonlinearity": nonlinearity} if isinstance(self, RNN) else {}
        with translating():
            layer = getattr(ours, type(self)._kind)(
                input_size,
                hidden_size,
                num_layers,
                bias=bias,
                batch_first=batch_first,
                dropout=dropout,
                bidirectional=bidirectional,
                **options,
            )
            self._adopt(layer, dtype)

    _kind = ""

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._called("StackBackward0", input, hx)

    def flatten_parameters(self) -> None:
        """Nothing: parameters are where they are."""

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        given = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False}
        return text + "".join(f", {k}={getattr(self, k)}" for k, usual in given.items() if getattr(self, k) != usual)


class RNN(_Recurrent):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh) along time."""

    _kind = "RNN"


class GRU(_Recurrent):
    """Gated recurrent units along time."""

    _kind = "GRU"


class LSTM(_Recurrent):
    """Long short-term memory along time."""

    _kind = "LSTM"


class _Cell(_Whole):
    _kind = ""
    _labels: Any = "AddBackward0"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", **options: Any
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        with translating():
            kind = getattr(ours, self._kind)
            self._adopt(kind(input_size, hidden_size, bias, nonlinearity), options.get("dtype"))

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._called(self._labels, input, hx)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


class RNNCell(_Cell):
    """One step of `RNN`."""

    _kind = "RNNCell"
    _labels = "TanhBackward0"


class GRUCell(_Cell):
    """One step of `GRU`."""

    _kind = "GRUCell"


class LSTMCell(_Cell):
    """One step of `LSTM`: the state is the pair (h, c)."""

    _kind = "LSTMCell"
    _labels = ("MulBackward0", "AddBackward0")


class MultiheadAttention(_Whole):
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


class TransformerEncoderLayer(_Whole):
    """Attention and two dense layers, each with a residual and a norm."""

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
        with translating():
            layer = ours.TransformerEncoderLayer(
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

    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        return self._called("NativeLayerNormBackward0", src, src_mask, src_key_padding_mask, is_causal)


class TransformerEncoder(Module):
    """Encoder layers one behind the other: copies of one, each with numbers of its own from then on."""

    def __init__(
        self, encoder_layer: Module, num_layers: int, norm: Module | None = None, enable_nested_tensor: bool = True
    ) -> None:
        super().__init__()
        from gradtape.standins.torch.nn.containers import ModuleList

        self.layers = ModuleList(copy.deepcopy(encoder_layer) for _ in range(num_layers))
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, is_causal)
        return src if self.norm is None else self.norm(src)
