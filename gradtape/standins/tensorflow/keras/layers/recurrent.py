"""SimpleRNN, GRU and LSTM: Keras' variables and arguments over gradtape's recurrent modules."""

from __future__ import annotations

from typing import Any, ClassVar

import gradtape as gt
from gradtape.standins.tensorflow.arrays import concat, reverse
from gradtape.standins.tensorflow.conversion import value_of
from gradtape.standins.tensorflow.errors import explained, in_tensorflow_terms
from gradtape.standins.tensorflow.keras import initializers
from gradtape.standins.tensorflow.keras.layers.base import Layer, checked_input
from gradtape.standins.tensorflow.tensor import wrap


class _Recurrent(Layer):
    """A step along the second axis (time), carried out by a module of gradtape's."""

    _module: ClassVar[Any]
    _gates: ClassVar[int]
    _order: ClassVar[tuple[int, ...]]
    """For each gate of gradtape's, its place among Keras'."""

    def __init__(
        self,
        units: int,
        activation: str = "tanh",
        recurrent_activation: str = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        **kwargs: Any,
    ) -> None:
        stateful, unroll = kwargs.pop("stateful", False), kwargs.pop("unroll", False)
        super().__init__(**kwargs)
        usual = activation == "tanh" and recurrent_activation == "sigmoid" and not stateful
        if not usual and not (type(self) is SimpleRNN and activation == "relu"):
            raise NotImplementedError(
                explained(
                    f"{type(self).__name__}: activation='tanh' and recurrent_activation='sigmoid', without state "
                    "between batches, are what this stand-in has",
                    "write the step as a layer of your own",
                )
            )
        self.units, self.activation, self.use_bias, self.unroll = units, activation, use_bias, unroll
        self.return_sequences, self.return_state, self.go_backwards = return_sequences, return_state, go_backwards
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.recurrent_initializer = initializers.get(recurrent_initializer)
        self.bias_initializer = initializers.get(bias_initializer)

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
        self._make_module(input_shape[-1])
        self.built = True

    def _make_module(self, inputs: int) -> None:
        more = {"nonlinearity": self.activation} if type(self) is SimpleRNN else {}
        self._step = self._module(inputs, self.units, bias=self.use_bias, batch_first=True, **more)

    def _for_module(self, x: Any) -> Any:
        """Keras' columns as gradtape's rows, gate by gate in gradtape's order."""
        parts = [x[..., place * self.units : (place + 1) * self.units] for place in self._order]
        joined = gt.concatenate(parts, -1) if len(parts) > 1 else parts[0]
        return joined if joined.ndim == 1 else gt.transpose(joined)

    def _parameters(self) -> dict[str, Any]:
        found = {
            "weight_ih_l0": self._for_module(value_of(self.kernel)),
            "weight_hh_l0": self._for_module(value_of(self.recurrent_kernel)),
        }
        if self.use_bias:
            found["bias_ih_l0"], found["bias_hh_l0"] = self._biases(value_of(self.bias))
        return found

    def _biases(self, bias: Any) -> tuple[Any, Any]:
        whole = self._for_module(bias)
        return whole, gt.zeros_like(whole)

    @in_tensorflow_terms
    def call(self, inputs: Any, initial_state: Any = None, mask: Any = None, training: bool = False) -> Any:
        """The last output, or all of them; and the state, if it is wanted."""
        checked_input(self, inputs, self.kernel.shape[0])
        x = reverse(inputs, [1]) if self.go_backwards else inputs
        state = None
        if initial_state is not None:
            parts = initial_state if isinstance(initial_state, list | tuple) else [initial_state]
            given = [gt.expand_dims(value_of(part), 0) for part in parts]
            state = tuple(given) if len(given) > 1 else given[0]
        outputs, last = gt.nn.functional_call(self._step, self._parameters(), value_of(x), state)
        result = wrap(outputs) if self.return_sequences else wrap(outputs[:, -1])
        if not self.return_state:
            return result
        return [result, *(wrap(part[0]) for part in (last if isinstance(last, tuple) else (last,)))]


class SimpleRNN(_Recurrent):
    """h' = tanh(x W + h U + b)."""

    _module, _gates, _order = gt.nn.RNN, 1, (0,)


class LSTM(_Recurrent):
    """Long short-term memory: (batch, time, features) to (batch, units), or (batch, time, units).

    >>> from gradtape.standins import tensorflow as tf
    >>> tf.keras.layers.LSTM(3)(tf.ones([2, 5, 4])).shape
    TensorShape([2, 3])
    """

    _module, _gates, _order = gt.nn.LSTM, 4, (0, 1, 2, 3)

    def __init__(self, units: int, *args: Any, unit_forget_bias: bool = True, **kwargs: Any) -> None:
        super().__init__(units, *args, **kwargs)
        self.unit_forget_bias = unit_forget_bias

    def build(self, input_shape: Any) -> None:
        """Make the variables; the bias of the forget gate begins at one."""
        super().build(input_shape)
        if self.use_bias and self.unit_forget_bias:
            self.bias[self.units : 2 * self.units].assign([1.0] * self.units)


class GRU(_Recurrent):
    """Gated recurrent unit, with the reset after the product (`reset_after=True`)."""

    _module, _gates, _order = gt.nn.GRU, 3, (1, 0, 2)

    def __init__(self, units: int, *args: Any, reset_after: bool = True, **kwargs: Any) -> None:
        super().__init__(units, *args, **kwargs)
        if not reset_after:
            raise NotImplementedError(explained("GRU: reset_after=True is what this stand-in has"))

    def _bias_shape(self) -> tuple[int, ...]:
        return (2, 3 * self.units)

    def _biases(self, bias: Any) -> tuple[Any, Any]:
        return self._for_module(bias[0]), self._for_module(bias[1])


class Bidirectional(Layer):
    """A recurrent layer forwards and another backwards, joined."""

    def __init__(self, layer: Any, merge_mode: str = "concat", backward_layer: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.forward_layer, self.merge_mode = layer, merge_mode
        if backward_layer is None:
            backward_layer = type(layer)(
                layer.units, return_sequences=layer.return_sequences, go_backwards=True, use_bias=layer.use_bias
            )
        self.backward_layer = backward_layer

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Both ways."""
        one, other = self.forward_layer(inputs), self.backward_layer(inputs)
        if self.forward_layer.return_sequences:
            other = reverse(other, [1])
        if self.merge_mode == "concat":
            return concat([one, other], -1)
        if self.merge_mode == "sum":
            return one + other
        if self.merge_mode == "ave":
            return (one + other) / 2.0
        return one * other if self.merge_mode == "mul" else [one, other]


__all__ = ["GRU", "LSTM", "Bidirectional", "SimpleRNN"]
