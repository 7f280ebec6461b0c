"""SimpleRNN, GRU and LSTM, their cells, and layers over cells of one's own: Keras' names over gradtape's modules."""

from __future__ import annotations

from typing import Any, ClassVar

import gradtape as gt
from gradtape_standins.tensorflow.arrays import concat, expand_dims, reverse, stack, zeros
from gradtape_standins.tensorflow.conversion import value_of
from gradtape_standins.tensorflow.errors import explained, in_tensorflow_terms
from gradtape_standins.tensorflow.gather_and_sort import where
from gradtape_standins.tensorflow.keras import initializers
from gradtape_standins.tensorflow.keras.layers.base import Layer, checked_axes, checked_input
from gradtape_standins.tensorflow.keras.variables import snake_case
from gradtape_standins.tensorflow.tape import stop_gradient
from gradtape_standins.tensorflow.tensor import wrap


class _Cell(Layer):
    """One step: (inputs, states) -> (output, new states), carried out by a cell of gradtape's."""

    _module: ClassVar[Any]
    _whole: ClassVar[Any]
    """gradtape's module that makes all steps at once."""
    _gates: ClassVar[int]
    _order: ClassVar[tuple[int, ...]]
    """For each gate of gradtape's, its place among Keras'."""
    _states: ClassVar[int] = 1

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        activation = getattr(activation, "__name__", activation)
        usual = activation == "tanh" and getattr(recurrent_activation, "__name__", recurrent_activation) == "sigmoid"
        if (not usual and not (type(self) is SimpleRNNCell and activation == "relu")) or recurrent_dropout or dropout:
            raise NotImplementedError(
                explained(
                    f"{type(self).__name__}: activation='tanh' and recurrent_activation='sigmoid', without dropout, "
                    "are what this stand-in has",
                    "a Dropout layer before it, or a cell of your own in tf.keras.layers.RNN",
                )
            )
        self.units, self.activation, self.use_bias = units, activation, use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.recurrent_initializer = initializers.get(recurrent_initializer)
        self.bias_initializer = initializers.get(bias_initializer)

    @property
    def state_size(self) -> Any:
        """The length of each state."""
        return self.units if self._states == 1 else [self.units] * self._states

    @property
    def output_size(self) -> int:
        """The length of the output."""
        return self.units

    def get_initial_state(self, batch_size: Any = None) -> list[Any]:
        """States of zeros."""
        return [zeros([batch_size, self.units], self.dtype) for _ in range(self._states)]

    def _bias_shape(self) -> tuple[int, ...]:
        return (self._gates * self.units,)

    def build(self, input_shape: Any) -> None:
        """Make the two kernels and the bias."""
        width = self._gates * self.units
        self.kernel = self.add_weight((input_shape[-1], width), self.kernel_initializer, name="kernel")
        self.recurrent_kernel = self.add_weight(
            (self.units, width), self.recurrent_initializer, name="recurrent_kernel"
        )
        if self.use_bias:
            self.bias = self.add_weight(self._bias_shape(), self.bias_initializer, name="bias")
        more = {"nonlinearity": self.activation} if self._module is gt.nn.RNNCell else {}
        self._step = self._module(input_shape[-1], self.units, bias=self.use_bias, **more)
        self._steps = self._whole(input_shape[-1], self.units, bias=self.use_bias, batch_first=True, **more)
        self.built = True

    def _for_module(self, x: Any) -> Any:
        """Keras' columns as gradtape's rows, gate by gate in gradtape's order."""
        parts = [x[..., place * self.units : (place + 1) * self.units] for place in self._order]
        joined = gt.concatenate(parts, -1) if len(parts) > 1 else parts[0]
        return joined if joined.ndim == 1 else gt.transpose(joined)

    def _parameters(self, suffix: str = "") -> dict[str, Any]:
        found = {
            f"weight_ih{suffix}": self._for_module(value_of(self.kernel)),
            f"weight_hh{suffix}": self._for_module(value_of(self.recurrent_kernel)),
        }
        if self.use_bias:
            found[f"bias_ih{suffix}"], found[f"bias_hh{suffix}"] = self._biases(value_of(self.bias))
        return found

    def _biases(self, bias: Any) -> tuple[Any, Any]:
        whole = self._for_module(bias)
        return whole, gt.zeros_like(whole)

    @in_tensorflow_terms
    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        """The output of one step, and the new states."""
        parts = [value_of(part) for part in (states if isinstance(states, list | tuple) else [states])]
        state = tuple(parts) if self._states > 1 else parts[0]
        new = gt.nn.functional_call(self._step, self._parameters(), value_of(inputs), state)
        made = [wrap(part) for part in (new if isinstance(new, tuple) else (new,))]
        return made[0], made

    @in_tensorflow_terms
    def all_steps(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """The outputs of all steps along the second axis, and the last states."""
        given = [gt.expand_dims(value_of(part), 0) for part in states]
        state = tuple(given) if self._states > 1 else given[0]
        outputs, last = gt.nn.functional_call(self._steps, self._parameters("_l0"), value_of(inputs), state)
        return wrap(outputs), [wrap(part[0]) for part in (last if isinstance(last, tuple) else (last,))]


class SimpleRNNCell(_Cell):
    """One step of h' = tanh(x W + h U + b)."""

    _module, _whole, _gates, _order = gt.nn.RNNCell, gt.nn.RNN, 1, (0,)


class LSTMCell(_Cell):
    """One step of long short-term memory."""

    _module, _whole, _gates, _order, _states = gt.nn.LSTMCell, gt.nn.LSTM, 4, (0, 1, 2, 3), 2

    def __init__(self, units: int, *args: Any, unit_forget_bias: bool = True, **kwargs: Any) -> None:
        super().__init__(units, *args, **kwargs)
        self.unit_forget_bias = unit_forget_bias

    def build(self, input_shape: Any) -> None:
        """Make the variables; the bias of the forget gate begins at one."""
        super().build(input_shape)
        if self.use_bias and self.unit_forget_bias:
            self.bias[self.units : 2 * self.units].assign([1.0] * self.units)


class GRUCell(_Cell):
    """One step of a gated recurrent unit, with the reset after the product (`reset_after=True`)."""

    _module, _whole, _gates, _order = gt.nn.GRUCell, gt.nn.GRU, 3, (1, 0, 2)

    def __init__(self, units: int, *args: Any, reset_after: bool = True, **kwargs: Any) -> None:
        super().__init__(units, *args, **kwargs)
        if not reset_after:
            raise NotImplementedError(explained("GRU: reset_after=True is what this stand-in has"))

    def _bias_shape(self) -> tuple[int, ...]:
        return (2, 3 * self.units)

    def _biases(self, bias: Any) -> tuple[Any, Any]:
        return self._for_module(bias[0]), self._for_module(bias[1])


class StackedRNNCells(Layer):
    """Cells one upon the other, as one cell."""

    def __init__(self, cells: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cells = list(cells)

    @property
    def state_size(self) -> list[Any]:
        """The lengths of the states of each cell."""
        return [cell.state_size for cell in self.cells]

    def get_initial_state(self, batch_size: Any = None) -> list[Any]:
        """States of zeros, cell by cell."""
        return [zeros_for(cell, batch_size) for cell in self.cells]

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        """One step of all cells."""
        new = []
        for cell, state in zip(self.cells, states, strict=True):
            inputs, made = cell(inputs, state)
            new.append(made)
        return inputs, new


def zeros_for(cell: Any, batch: Any) -> list[Any]:
    """The states that a cell begins with."""
    if hasattr(cell, "get_initial_state"):
        found = cell.get_initial_state(batch_size=batch)
        return found if isinstance(found, list | tuple) else [found]  # type: ignore[return-value]
    sizes = cell.state_size if isinstance(cell.state_size, list | tuple) else [cell.state_size]
    return [zeros([batch, *(size if isinstance(size, list | tuple) else [size])]) for size in sizes]


class RNN(Layer):
    """A cell applied along the second axis (time).

    >>> from gradtape_standins import tensorflow as tf
    >>> layer = tf.keras.layers.RNN(tf.keras.layers.GRUCell(3), return_sequences=True)
    >>> layer(tf.ones([2, 5, 4])).shape
    TensorShape([2, 5, 3])
    """

    supports_masking = True

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.zero_output_for_mask = zero_output_for_mask
        self.cell = StackedRNNCells(cell) if isinstance(cell, list | tuple) else cell
        self.return_sequences, self.return_state, self.go_backwards = return_sequences, return_state, go_backwards
        self.stateful, self.unroll = stateful, unroll
        self.states: Any = None

    def get_initial_state(self, batch_size: Any) -> list[Any]:
        """States of zeros."""
        return zeros_for(self.cell, batch_size)

    def reset_state(self) -> None:
        """Begin from zeros again."""
        self.states = None

    reset_states = reset_state

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask, if there is an output for each step."""
        return mask if self.return_sequences else None

    @in_tensorflow_terms
    def call(self, inputs: Any, initial_state: Any = None, mask: Any = None, training: bool = False) -> Any:
        """The last output, or all of them; and the states, if they are wanted."""
        if isinstance(self.cell, _Cell):
            checked_axes(self, inputs, 3)
        if self.go_backwards:
            inputs, mask = reverse(inputs, [1]), None if mask is None else reverse(mask, [1])
        if initial_state is None:
            states = self.get_initial_state(inputs.shape[0]) if self.states is None else self.states
        else:
            states = list(initial_state) if isinstance(initial_state, list | tuple) else [initial_state]
        outputs, states = self._run(inputs, states, mask)
        if self.stateful:
            self.states = [stop_gradient(state) for state in states]
        result = outputs if self.return_sequences else outputs[:, -1]
        return [result, *states] if self.return_state else result

    def _run(self, inputs: Any, states: list[Any], mask: Any) -> tuple[Any, list[Any]]:
        if isinstance(self.cell, _Cell) and mask is None:
            self.cell.ensure_built(inputs.shape)
            checked_input(self, inputs, self.cell.kernel.shape[0])
            return self.cell.all_steps(inputs, states)
        outputs: list[Any] = []
        for step in range(inputs.shape[1]):
            output, new = self.cell(inputs[:, step], states)
            new = list(new) if isinstance(new, list | tuple) else [new]
            if mask is not None:
                held = expand_dims(mask[:, step], -1)
                again = output * 0.0 if self.zero_output_for_mask or not outputs else outputs[-1]
                output = where(held, output, again)
                new = [where(held, one, old) for one, old in zip(new, states, strict=True)]
            outputs.append(output)
            states = new
        return stack(outputs, axis=1), states


_OF_LAYER = ["return_sequences", "return_state", "go_backwards", "stateful", "unroll"]
_OF_LAYER += ["name", "trainable", "dtype", "input_shape"]


class _Recurrent(RNN):
    """A layer over one of Keras' own cells."""

    _cell: ClassVar[type[_Cell]]

    def __init__(self, units: int, *args: Any, **kwargs: Any) -> None:
        own = {name: kwargs.pop(name) for name in _OF_LAYER if name in kwargs}
        kwargs.pop("use_cudnn", None)
        cell = self._cell(units, *args, name=snake_case(self._cell.__name__), **kwargs)
        super().__init__(cell, **own)
        self.units, self.use_bias = units, self.cell.use_bias


class SimpleRNN(_Recurrent):
    """h' = tanh(x W + h U + b)."""

    _cell = SimpleRNNCell


class LSTM(_Recurrent):
    """Long short-term memory: (batch, time, features) to (batch, units), or (batch, time, units).

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.keras.layers.LSTM(3)(tf.ones([2, 5, 4])).shape
    TensorShape([2, 3])
    """

    _cell = LSTMCell


class GRU(_Recurrent):
    """Gated recurrent unit, with the reset after the product (`reset_after=True`)."""

    _cell = GRUCell


class Bidirectional(Layer):
    """A recurrent layer forwards and another backwards, joined."""

    supports_masking = True

    def __init__(
        self, layer: Any, merge_mode: str | None = "concat", backward_layer: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.forward_layer, self.merge_mode = layer.again(name=f"forward_{layer.name}"), merge_mode
        self.backward_layer = backward_layer
        if backward_layer is None:
            self.backward_layer = layer.again(name=f"backward_{layer.name}", go_backwards=not layer.go_backwards)
        for one in (self.forward_layer, self.backward_layer):
            one.zero_output_for_mask = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask, if there is an output for each step."""
        return mask if self.forward_layer.return_sequences else None

    def call(self, inputs: Any, mask: Any = None, training: bool = False) -> Any:
        """Both ways; the states of both, if they are wanted."""
        one, other = self.forward_layer(inputs, mask=mask), self.backward_layer(inputs, mask=mask)
        states: list[Any] = []
        if self.forward_layer.return_state:
            (one, *before), (other, *behind) = one, other
            states = [*before, *behind]
        if self.forward_layer.return_sequences:
            other = reverse(other, [1])
        joined = self._joined(one, other)
        return [joined, *states] if states else joined

    def _joined(self, one: Any, other: Any) -> Any:
        if self.merge_mode == "concat":
            return concat([one, other], -1)
        if self.merge_mode == "sum":
            return one + other
        if self.merge_mode == "ave":
            return (one + other) / 2.0
        return one * other if self.merge_mode == "mul" else [one, other]


__all__ = ["GRU", "LSTM", "RNN", "Bidirectional", "GRUCell", "LSTMCell", "SimpleRNN", "SimpleRNNCell"]
__all__ += ["StackedRNNCells"]
