"""Recurrent layers: RNN, GRU and LSTM, of several layers and in both directions, and the single steps of them.

Parameters have the names and layouts that PyTorch gives them: `weight_ih_l0` of shape (gates x hidden, input),
`weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, and `_reverse` behind them for the other direction.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import argument_error, as_value
from gradtape.nn import functional
from gradtape.nn.basic import checked_size, fan_in_uniform
from gradtape.nn.module import Module
from gradtape.ops.elementwise import where
from gradtape.ops.joining import concatenate, stack
from gradtape.ops.softmax import relu, sigmoid

Generator = np.random.Generator
State = tuple[Any, ...]


# -- one step: (what the input contributes to the gates, the state, its weights) -> the new state


def _rnn_step(inputs: Any, state: State, weight: Any, bias: Any, nonlinearity: str) -> State:
    gates = inputs + functional.linear(state[0], weight, bias)
    return (relu(gates) if nonlinearity == "relu" else np.tanh(gates),)


def _lstm_step(inputs: Any, state: State, weight: Any, bias: Any, nonlinearity: str) -> State:
    hidden, cell = state
    gates = inputs + functional.linear(hidden, weight, bias)
    take, forget, candidate, give = _parts(gates, 4)
    cell = sigmoid(forget) * cell + sigmoid(take) * np.tanh(candidate)
    return sigmoid(give) * np.tanh(cell), cell


def _gru_step(inputs: Any, state: State, weight: Any, bias: Any, nonlinearity: str) -> State:
    (hidden,) = state
    reset_in, update_in, new_in = _parts(inputs, 3)
    reset_hidden, update_hidden, new_hidden = _parts(functional.linear(hidden, weight, bias), 3)
    update = sigmoid(update_in + update_hidden)
    new = np.tanh(new_in + sigmoid(reset_in + reset_hidden) * new_hidden)
    return ((1 - update) * new + update * hidden,)


def _parts(gates: Any, count: int) -> list[Any]:
    width = gates.shape[-1] // count
    return [gates[..., i * width : (i + 1) * width] for i in range(count)]


_STEPS = {"RNN": (_rnn_step, 1, 1), "GRU": (_gru_step, 3, 1), "LSTM": (_lstm_step, 4, 2)}
"""For each kind: its step, how many gates it has, and how many arrays its state has."""


class _Recurrent(Module):
    """Runs a step along time, layer upon layer."""

    _kind: ClassVar[str]

    def _set_up(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        nonlinearity: str,
        bias: bool,
        batch_first: bool,
        dropout: float,
        bidirectional: bool,
        rng: Generator | None,
        dtype: Any,
        proj_size: int = 0,
    ) -> None:
        name = type(self).__name__
        self.input_size = checked_size(name, "input_size", input_size)
        self.hidden_size = checked_size(name, "hidden_size", hidden_size)
        self.num_layers = checked_size(name, "num_layers", num_layers)
        if nonlinearity not in ("tanh", "relu"):
            raise argument_error(OperandError, f"{name}: nonlinearity={nonlinearity!r}.", '"tanh" or "relu"')
        if not 0 <= dropout <= 1:
            raise argument_error(OperandError, f"{name}: dropout={dropout!r}.", "a probability between 0 and 1")
        self.nonlinearity, self.batch_first, self.bidirectional = nonlinearity, batch_first, bidirectional
        self.dropout, self.has_bias, self.rng = dropout, bias, rng
        if not 0 <= proj_size < hidden_size:
            raise argument_error(
                OperandError,
                f"{name}: proj_size={proj_size!r} with hidden_size={hidden_size}.",
                "an integer below hidden_size, or 0 for no projection",
            )
        self.proj_size = proj_size
        gates, output_size = _STEPS[self._kind][1] * hidden_size, proj_size or hidden_size
        first = fan_in_uniform(hidden_size)
        for layer in range(num_layers):
            width = input_size if layer == 0 else output_size * (2 if bidirectional else 1)
            for suffix in self._suffixes(layer):
                self.declare(f"weight_ih{suffix}", (gates, width), first, dtype, rng)
                self.declare(f"weight_hh{suffix}", (gates, output_size), first, dtype, rng)
                if bias:
                    self.declare(f"bias_ih{suffix}", (gates,), first, dtype, rng)
                    self.declare(f"bias_hh{suffix}", (gates,), first, dtype, rng)
                if proj_size:
                    self.declare(f"weight_hr{suffix}", (proj_size, hidden_size), first, dtype, rng)

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"] if self.bidirectional else [f"_l{layer}"]

    def forward(self, x: Any, state: Any = None, lengths: Any = None) -> Any:
        x = as_value(x)
        name, kind = type(self).__name__, _STEPS[self._kind]
        if x.ndim not in (2, 3) or x.shape[-1] != self.input_size:
            order = "(examples, time, features)" if self.batch_first else "(time, examples, features)"
            raise argument_error(
                ShapeError,
                f"{name}: input has shape {x.shape}; {order} or (time, features) is accepted, with {self.input_size} "
                "features.",
                f"{name}({x.shape[-1] if x.ndim else '...'}, {self.hidden_size}), or an input with its axes in order",
            )
        single = x.ndim == 2
        if single:
            x = x[:, None, :]
        elif self.batch_first:
            x = x.swapaxes(0, 1)
        states = self._states(state, x, single, kind[2])
        there = None if lengths is None else self._there(lengths, x)
        ends: list[State] = []
        for layer in range(self.num_layers):
            outputs = []
            for direction, suffix in enumerate(self._suffixes(layer)):
                place = layer * len(self._suffixes(layer)) + direction
                output, end = self._along(x, tuple(part[place] for part in states), suffix, direction == 1, there)
                outputs.append(output)
                ends.append(end)
            x = concatenate(outputs, axis=-1) if len(outputs) > 1 else outputs[0]
            if self.dropout and self.training and layer < self.num_layers - 1:
                x = functional.dropout(x, self.dropout, True, self.rng)
        last = [stack([end[i] for end in ends], axis=0) for i in range(kind[2])]
        if single:
            x, last = x[:, 0], [part[:, 0] for part in last]
        elif self.batch_first:
            x = x.swapaxes(0, 1)
        return x, tuple(last) if len(last) > 1 else last[0]

    def _there(self, lengths: Any, x: Any) -> Any:
        """(time, examples, 1): whether an example has that time still."""
        known = np.asarray(lengths)
        if known.shape != (x.shape[1],) or known.dtype.kind not in "iu" or known.min() < 1 or known.max() > len(x):
            raise argument_error(
                ShapeError,
                f"{type(self).__name__}: lengths of shape {known.shape} and dtype {known.dtype}, for an input of "
                f"{x.shape[1]} examples and {len(x)} times.",
                "an integer for each example, from 1 to the number of times",
            )
        return np.arange(len(x))[:, None, None] < known[:, None]

    def _along(self, x: Any, state: State, suffix: str, backwards: bool, there: Any = None) -> tuple[Any, State]:
        """The outputs at all times, and the state at the end; what is not `there` leaves the state as it was."""
        step = _STEPS[self._kind][0]
        weight = getattr(self, f"weight_hh{suffix}")
        biases = [getattr(self, f"bias_{part}{suffix}") if self.has_bias else None for part in ("ih", "hh")]
        inputs = functional.linear(x, getattr(self, f"weight_ih{suffix}"), biases[0])  # for all times at once
        projection = getattr(self, f"weight_hr{suffix}") if self.proj_size else None
        times = range(x.shape[0])
        outputs: list[Any] = []
        for time in reversed(times) if backwards else times:
            new = step(inputs[time], state, weight, biases[1], self.nonlinearity)
            if projection is not None:
                new = functional.linear(new[0], projection), *new[1:]
            if there is None:
                state, output = new, new[0]
            else:
                state = tuple(where(there[time], changed, old) for changed, old in zip(new, state, strict=True))
                output = where(there[time], new[0], np.zeros((), x.dtype))
            outputs.append(output)
        return stack(outputs[::-1] if backwards else outputs, axis=0), state

    def _states(self, given: Any, x: Any, single: bool, count: int) -> list[Any]:
        places = self.num_layers * (2 if self.bidirectional else 1)
        widths = [self.proj_size or self.hidden_size, self.hidden_size][:count]
        if given is None:
            return [np.zeros((places, x.shape[1], width), x.dtype) for width in widths]
        parts = [as_value(part) for part in (given if isinstance(given, list | tuple) else (given,))]
        wanted = [(places, width) if single else (places, x.shape[1], width) for width in widths]
        if [part.shape for part in parts] != wanted:
            what = ", ".join(str(part.shape) for part in parts)
            shapes = str(wanted[0]) if len(set(wanted)) == 1 else f"{wanted[0]} and {wanted[1]}"
            raise argument_error(
                ShapeError,
                f"{type(self).__name__}: the state has the shapes {what}; {count} of shape {shapes} "
                f"{'is' if count == 1 else 'are'} accepted: (layers and directions, {'' if single else 'examples, '}"
                "hidden).",
                "the state that an earlier call returned, or none for zeros",
            )
        return [part[:, None] for part in parts] if single else parts

    def extra_repr(self) -> str:
        layers = f", num_layers={self.num_layers}" if self.num_layers > 1 else ""
        return f"{self.input_size}, {self.hidden_size}{layers}{', bidirectional=True' if self.bidirectional else ''}"


class RNN(_Recurrent):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh) along time. Returns all outputs and the last state.

    The input is (time, examples, features), or (examples, time, features) with `batch_first`, or (time, features).
    `dropout` is between layers. With `lengths`, an integer for each example, what an example has behind its length is
    passed over: outputs are 0 there, and the last state is that at the end of each example.

    >>> import numpy as np, gradtape as gt
    >>> output, state = gt.nn.RNN(3, 5, rng=np.random.default_rng(0))(np.ones((7, 2, 3), np.float32))
    >>> output.shape, state.shape
    ((7, 2, 5), (1, 2, 5))
    """

    _kind = "RNN"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        *,
        rng: Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        options = (nonlinearity, bias, batch_first, dropout, bidirectional, rng, dtype)
        self._set_up(input_size, hidden_size, num_layers, *options)


class _Gated(_Recurrent):
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        *,
        rng: Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        options = ("tanh", bias, batch_first, dropout, bidirectional, rng, dtype)
        self._set_up(input_size, hidden_size, num_layers, *options)


class GRU(_Gated):
    """Gated recurrent units along time (gates: reset, update, new). Returns all outputs and the last state.

    >>> import numpy as np, gradtape as gt
    >>> layer = gt.nn.GRU(3, 5, batch_first=True, bidirectional=True, rng=np.random.default_rng(0))
    >>> output, state = layer(np.ones((2, 7, 3), np.float32))
    >>> output.shape, state.shape
    ((2, 7, 10), (2, 2, 5))
    """

    _kind = "GRU"


class LSTM(_Gated):
    """Long short-term memory along time (gates: input, forget, cell, output). Returns outputs, and the pair (h, c).

    With `proj_size`, h is projected to that many features by a matrix `weight_hr_l0` of each layer and direction.

    >>> import numpy as np, gradtape as gt
    >>> output, (h, c) = gt.nn.LSTM(3, 5, num_layers=2, rng=np.random.default_rng(0))(np.ones((7, 2, 3), np.float32))
    >>> output.shape, h.shape, c.shape
    ((7, 2, 5), (2, 2, 5), (2, 2, 5))
    """

    _kind = "LSTM"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        *,
        rng: Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        options = ("tanh", bias, batch_first, dropout, bidirectional, rng, dtype)
        self._set_up(input_size, hidden_size, num_layers, *options, proj_size)


class _Cell(Module):
    _kind: ClassVar[str]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        *,
        rng: Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        name = type(self).__name__
        self.input_size = checked_size(name, "input_size", input_size)
        self.hidden_size = checked_size(name, "hidden_size", hidden_size)
        if nonlinearity not in ("tanh", "relu"):
            raise argument_error(OperandError, f"{name}: nonlinearity={nonlinearity!r}.", '"tanh" or "relu"')
        self.nonlinearity = nonlinearity
        gates, first = _STEPS[self._kind][1] * hidden_size, fan_in_uniform(hidden_size)
        self.declare("weight_ih", (gates, input_size), first, dtype, rng)
        self.declare("weight_hh", (gates, hidden_size), first, dtype, rng)
        if bias:
            self.declare("bias_ih", (gates,), first, dtype, rng)
            self.declare("bias_hh", (gates,), first, dtype, rng)
        else:
            self.bias_ih = self.bias_hh = None

    def forward(self, x: Any, state: Any = None) -> Any:
        x = as_value(x)
        step, _, count = _STEPS[self._kind]
        if state is None:
            state = (np.zeros((*x.shape[:-1], self.hidden_size), x.dtype),) * count
        state = tuple(state) if isinstance(state, list | tuple) else (state,)
        inputs = functional.linear(x, self.weight_ih, self.bias_ih)
        new = step(inputs, state, self.weight_hh, self.bias_hh, self.nonlinearity)
        return new if count > 1 else new[0]

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


class RNNCell(_Cell):
    """One step of `RNN`: from (examples, features) and the state to the new state.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.RNNCell(3, 5, rng=np.random.default_rng(0))(np.ones((2, 3), np.float32)).shape
    (2, 5)
    """

    _kind = "RNN"


class GRUCell(_Cell):
    """One step of `GRU`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.GRUCell(3, 5, rng=np.random.default_rng(0))(np.ones((2, 3), np.float32)).shape
    (2, 5)
    """

    _kind = "GRU"


class LSTMCell(_Cell):
    """One step of `LSTM`: the state is the pair (h, c).

    >>> import numpy as np, gradtape as gt
    >>> h, c = gt.nn.LSTMCell(3, 5, rng=np.random.default_rng(0))(np.ones((2, 3), np.float32))
    >>> h.shape, c.shape
    ((2, 5), (2, 5))
    """

    _kind = "LSTM"
