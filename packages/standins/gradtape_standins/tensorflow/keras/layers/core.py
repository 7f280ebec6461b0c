"""Dense, Embedding, and layers that only rearrange or apply a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape_standins.tensorflow import arrays, elementwise, nn, reductions
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.gather_and_sort import gather
from gradtape_standins.tensorflow.keras import activations, initializers, regularizers
from gradtape_standins.tensorflow.keras.layers.base import Layer, checked_axes, checked_input
from gradtape_standins.tensorflow.keras.symbolic import Input
from gradtape_standins.tensorflow.linalg import einsum, matmul, tensordot


class Dense(Layer):
    """activation(inputs @ kernel + bias).

    >>> from gradtape_standins import tensorflow as tf
    >>> layer = tf.keras.layers.Dense(3, activation="relu")
    >>> layer(tf.ones([2, 4])).shape, [tuple(w.shape) for w in layer.weights]
    (TensorShape([2, 3]), [(4, 3), (3,)])
    """

    supports_masking = True

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        if not isinstance(units, int | np.integer) or units <= 0:
            raise ValueError(
                explained(
                    f"Received an invalid value for `units`, expected a positive integer. Received: units={units}"
                )
            )
        self.units, self.use_bias = units, use_bias
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = (
            regularizers.get(kernel_regularizer),
            regularizers.get(bias_regularizer),
        )

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        self.kernel = self.add_weight(
            (input_shape[-1], self.units),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            name="kernel",
        )
        if self.use_bias:
            self.bias = self.add_weight(
                (self.units,),
                self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                name="bias",
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The product, the bias, the activation."""
        checked_axes(self, inputs, 2, at_least=True)
        checked_input(self, inputs, self.kernel.shape[0])
        if len(inputs.shape) == 2:
            made = matmul(inputs, self.kernel)
        else:
            made = tensordot(inputs, self.kernel, [[len(inputs.shape) - 1], [0]])
        return self.activation(made + self.bias if self.use_bias else made)


class EinsumDense(Layer):
    """activation(einsum(equation, inputs, kernel) + bias)."""

    def __init__(
        self,
        equation: str,
        output_shape: Any,
        activation: Any = None,
        bias_axes: str | None = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.equation, self.bias_axes = equation.replace(" ", ""), bias_axes
        self._sizes = (output_shape,) if isinstance(output_shape, int) else tuple(output_shape)
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)

    def build(self, input_shape: Any) -> None:
        """Make the kernel, and the bias if it is wanted."""
        operands, result = self.equation.split("->")
        first, kernel = (part.replace("...", "") for part in operands.split(","))
        ends = result.replace("...", "")
        known = dict(zip(reversed(ends), reversed(self._sizes))) | dict(zip(reversed(first), reversed(input_shape)))
        self.kernel = self.add_weight([known[axis] for axis in kernel], self.kernel_initializer, name="kernel")
        if self.bias_axes is not None:
            after = ends[min(ends.index(axis) for axis in self.bias_axes) :]
            sizes = [known[axis] if axis in self.bias_axes else 1 for axis in after]
            self.bias = self.add_weight(sizes, self.bias_initializer, name="bias")
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The product, the bias, the activation."""
        made = einsum(self.equation, inputs, self.kernel)
        return self.activation(made if self.bias_axes is None else made + self.bias)


class Embedding(Layer):
    """A row of numbers for each integer. Its gradient is given as `tf.IndexedSlices`."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        mask_zero: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.input_dim, self.output_dim, self.mask_zero = input_dim, output_dim, mask_zero
        self.embeddings_initializer = initializers.get(embeddings_initializer)

    def build(self, input_shape: Any = None) -> None:
        """Make the table."""
        shape = (self.input_dim, self.output_dim)
        self.embeddings = self.add_weight(shape, self.embeddings_initializer, name="embeddings")
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Where the integers are not 0, if 0 stands for nothing."""
        return elementwise.not_equal(inputs, 0) if self.mask_zero else None

    def call(self, inputs: Any) -> Any:
        """The rows."""
        return gather(self.embeddings, arrays.cast(inputs, "int32"))


class Masking(Layer):
    """Marks the steps of time whose numbers are all `mask_value` as not there."""

    supports_masking = True

    def __init__(self, mask_value: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mask_value = mask_value

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Where a number is not `mask_value`."""
        return reductions.reduce_any(elementwise.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Any) -> Any:
        """The inputs, with zeros in the steps that are not there."""
        there = reductions.reduce_any(elementwise.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        return inputs * arrays.cast(there, inputs.dtype)


class Flatten(Layer):
    """All axes but the first as one."""

    def __init__(self, data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = "channels_last" if data_format is None else data_format

    def call(self, inputs: Any) -> Any:
        """The same elements in another shape, in the order of channels last."""
        if self.data_format == "channels_first" and len(inputs.shape) > 2:
            count = len(inputs.shape)
            inputs = arrays.transpose(inputs, [0, *range(2, count), 1])
        return arrays.reshape(inputs, [inputs.shape[0], -1])


class Reshape(Layer):
    """Each example in another shape."""

    def __init__(self, target_shape: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def call(self, inputs: Any) -> Any:
        """The same elements in another shape."""
        return arrays.reshape(inputs, [inputs.shape[0], *self.target_shape])


class Permute(Layer):
    """The axes of each example in another order; they are counted from 1."""

    def __init__(self, dims: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(dims)

    def call(self, inputs: Any) -> Any:
        """The axes in another order."""
        return arrays.transpose(inputs, (0, *self.dims))


class RepeatVector(Layer):
    """Each example `n` times along a new axis."""

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n = n

    def call(self, inputs: Any) -> Any:
        """Repeated."""
        return arrays.repeat(arrays.expand_dims(inputs, 1), self.n, axis=1)


class Activation(Layer):
    """A function of each element."""

    supports_masking = True

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        """The function."""
        return self.activation(inputs)


class ReLU(Layer):
    """x above `threshold`, limited above by `max_value`; `negative_slope` (x - threshold) below."""

    supports_masking = True

    def __init__(
        self, max_value: float | None = None, negative_slope: float = 0.0, threshold: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        given = {"max_value": 0.0 if max_value is None else max_value, "negative_slope": negative_slope}
        for name, value in {**given, "threshold": threshold}.items():
            if value is None or value < 0.0:
                raise ValueError(explained(f"ReLU: {name}={value!r}; a number that is not negative is wanted"))
        self.max_value, self.negative_slope, self.threshold = max_value, negative_slope, threshold

    def call(self, inputs: Any) -> Any:
        """The function."""
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(Layer):
    """x where it is positive, else `negative_slope` times x."""

    supports_masking = True

    def __init__(self, negative_slope: float = 0.3, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.negative_slope = negative_slope

    def call(self, inputs: Any) -> Any:
        """The function."""
        return nn.leaky_relu(inputs, self.negative_slope)


class PReLU(Layer):
    """x where it is positive, else x times a number that is learned for each place."""

    supports_masking = True

    def __init__(self, alpha_initializer: Any = "zeros", shared_axes: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha_initializer = initializers.get(alpha_initializer)
        self.shared_axes = [shared_axes] if isinstance(shared_axes, int) else list(shared_axes or [])

    def build(self, input_shape: Any) -> None:
        """Make the slopes."""
        sizes = [1 if place in self.shared_axes else n for place, n in enumerate(input_shape)][1:]
        self.alpha = self.add_weight(sizes, self.alpha_initializer, name="alpha")
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The function."""
        return nn.relu(inputs) - self.alpha * nn.relu(-inputs)


class ELU(Layer):
    """x where it is positive, else `alpha` (exp(x) - 1)."""

    supports_masking = True

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = alpha

    def call(self, inputs: Any) -> Any:
        """The function."""
        return activations.elu(inputs, self.alpha)


class Identity(Layer):
    """The inputs."""

    supports_masking = True

    def call(self, inputs: Any) -> Any:
        """The inputs."""
        return inputs


class Softmax(Layer):
    """exp(x) divided by its sum along `axis`."""

    supports_masking = True

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any) -> Any:
        """The function."""
        return nn.softmax(inputs, self.axis)


class Lambda(Layer):
    """Any function as a layer."""

    def __init__(self, function: Callable[..., Any], output_shape: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.function = function

    def call(self, inputs: Any) -> Any:
        """The function."""
        return self.function(inputs)


class Rescaling(Layer):
    """inputs * scale + offset."""

    def __init__(self, scale: float, offset: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale, self.offset = scale, offset

    def call(self, inputs: Any) -> Any:
        """Scaled and shifted."""
        return arrays.cast(inputs, self.dtype) * self.scale + self.offset


class InputLayer(Layer):
    """Says the shape of the input of a `Sequential`."""

    def __init__(
        self, shape: Any = None, input_shape: Any = None, batch_size: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._given_shape = (batch_size, *(shape if shape is not None else input_shape))

    def call(self, inputs: Any) -> Any:
        """The inputs."""
        return inputs


class TimeDistributed(Layer):
    """A layer applied to each step of time for itself."""

    supports_masking = True

    def __init__(self, layer: Layer, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.layer = layer

    def call(self, inputs: Any) -> Any:
        """All steps at once, as if they were examples."""
        batch, time, *rest = inputs.shape
        made = self.layer(arrays.reshape(inputs, [batch * time, *rest]))
        return arrays.reshape(made, [batch, time, *made.shape[1:]])


__all__ = ["ELU", "Activation", "Dense", "EinsumDense", "Embedding", "Flatten", "Identity", "Input", "InputLayer"]
__all__ += ["Lambda", "LeakyReLU", "Masking", "PReLU", "Permute", "ReLU", "RepeatVector", "Rescaling", "Reshape"]
__all__ += ["Softmax", "TimeDistributed"]
