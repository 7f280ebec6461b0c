"""Recurrent layers and their single steps."""

from __future__ import annotations

from typing import Any

from gradtape import nn as ours
from gradtape_standins.torch import dtypes
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.nn.utils.rnn import PackedSequence, pack_again, pad_packed_sequence
from gradtape_standins.torch.nn.wrapped_layer import WrappedLayer


class _Recurrent(WrappedLayer):
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
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if proj_size < 0:
            raise ValueError(f"proj_size={proj_size}: it should be a positive integer, or zero to disable projections")
        if proj_size >= hidden_size > 0:
            raise ValueError(f"proj_size={proj_size} has to be smaller than hidden_size={hidden_size}")
        if proj_size and not isinstance(self, LSTM):
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        self.proj_size = proj_size
        self.input_size, self.hidden_size, self.num_layers, self.bias = input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional = batch_first, dropout, bidirectional
        options: dict[str, Any] = {"nonlinearity": nonlinearity} if isinstance(self, RNN) else {}
        if proj_size:
            options["proj_size"] = proj_size
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
        if isinstance(input, PackedSequence):
            return self._along_packed(input, hx)
        return self._called(self._labels(input), input, hx)

    def _labels(self, input: Any) -> tuple[str, str]:
        """What PyTorch calls the operations that make the output and the states."""
        is_lstm = self._kind == "LSTM"
        if len(input.shape) == 2:
            return "SqueezeBackward1", "SqueezeBackward1"
        if self.batch_first:
            output = "TransposeBackward0" if is_lstm else "TransposeBackward1"
        elif self.bidirectional:
            output = "CatBackward0"
        else:
            output = "MkldnnRnnLayerBackward0" if is_lstm and input.dtype is dtypes.float32 else "StackBackward0"
        return output, "StackBackward0"

    def _along_packed(self, packed: PackedSequence, hx: Any) -> Any:
        """The same over sequences of different lengths: each ends where it ends."""
        padded, lengths = pad_packed_sequence(packed, self.batch_first)
        label = "StackBackward0" if packed.unsorted_indices is None else "IndexSelectBackward0"
        output, state = self._called(label, padded, hx, lengths=lengths._numbers)
        return pack_again(output, packed, self.batch_first), state

    def flatten_parameters(self) -> None:
        """Nothing: parameters are where they are."""

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size:
            text += f", proj_size={self.proj_size}"
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


class _Cell(WrappedLayer):
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
