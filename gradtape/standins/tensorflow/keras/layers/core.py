"""Dense, Embedding, Dropout, and layers that only rearrange, join or apply a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.standins.tensorflow import arrays, elementwise, nn, random, reductions
from gradtape.standins.tensorflow.keras import activations, initializers
from gradtape.standins.tensorflow.keras.layers.base import Layer, checked_input
from gradtape.standins.tensorflow.keras.symbolic import Input
from gradtape.standins.tensorflow.linalg import matmul, tensordot
from gradtape.standins.tensorflow.picking import gather


class Dense(Layer):
    """activation(inputs @ kernel + bias).

    >>> from gradtape.standins import tensorflow as tf
    >>> layer = tf.keras.layers.Dense(3, activation="relu")
    >>> layer(tf.ones([2, 4])).shape, [tuple(w.shape) for w in layer.weights]
    (TensorShape([2, 3]), [(4, 3), (3,)])
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units, self.use_bias = units, use_bias
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        self.kernel = self.add_weight(
            (input_shape[-1], self.units), self.kernel_initializer, regularizer=self.kernel_regularizer, name="kernel"
        )
        if self.use_bias:
            self.bias = self.add_weight(
                (self.units,), self.bias_initializer, regularizer=self.bias_regularizer, name="bias"
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The product, the bias, the activation."""
        checked_input(self, inputs, self.kernel.shape[0])
        if len(inputs.shape) == 2:
            made = matmul(inputs, self.kernel)
        else:
            made = tensordot(inputs, self.kernel, [[len(inputs.shape) - 1], [0]])
        return self.activation(made + self.bias if self.use_bias else made)


class Embedding(Layer):
    """A row of numbers for each integer. Its gradient is dense."""

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

    def call(self, inputs: Any) -> Any:
        """The rows."""
        return gather(self.embeddings, arrays.cast(inputs, "int32"))


class Dropout(Layer):
    """Zeros in the place of a share `rate` of the elements, while training."""

    def __init__(self, rate: float, noise_shape: Any = None, seed: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Dropout while training, else the inputs."""
        return nn.dropout(inputs, self.rate, self.noise_shape, self.seed) if training and self.rate else inputs


class GaussianNoise(Layer):
    """Normally distributed noise added, while training."""

    def __init__(self, stddev: float, seed: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.stddev, self.seed = stddev, seed

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Noise while training, else the inputs."""
        return inputs + random.normal(inputs.shape, 0.0, self.stddev, seed=self.seed) if training else inputs


class Flatten(Layer):
    """All axes but the first as one."""

    def __init__(self, data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def call(self, inputs: Any) -> Any:
        """The same elements in another shape."""
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

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        """The function."""
        return self.activation(inputs)


class ReLU(Layer):
    """x where it is positive, limited above by `max_value`."""

    def __init__(self, max_value: float | None = None, negative_slope: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.max_value, self.negative_slope = max_value, negative_slope

    def call(self, inputs: Any) -> Any:
        """The function."""
        made = nn.leaky_relu(inputs, self.negative_slope) if self.negative_slope else nn.relu(inputs)
        return made if self.max_value is None else elementwise.minimum(made, self.max_value)


class LeakyReLU(Layer):
    """x where it is positive, else `negative_slope` times x."""

    def __init__(self, negative_slope: float = 0.3, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.negative_slope = negative_slope

    def call(self, inputs: Any) -> Any:
        """The function."""
        return nn.leaky_relu(inputs, self.negative_slope)


class ELU(Layer):
    """x where it is positive, else exp(x) - 1."""

    def call(self, inputs: Any) -> Any:
        """The function."""
        return nn.elu(inputs)


class Identity(Layer):
    """The inputs."""

    def call(self, inputs: Any) -> Any:
        """The inputs."""
        return inputs


class Softmax(Layer):
    """exp(x) divided by its sum along `axis`."""

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


class _Merge(Layer):
    """Several inputs as one."""

    def merged(self, parts: list[Any]) -> Any:
        """The parts as one."""
        raise NotImplementedError

    def call(self, inputs: Any) -> Any:
        """The inputs as one."""
        return self.merged(list(inputs))


class Add(_Merge):
    """The sum of the inputs."""

    def merged(self, parts: list[Any]) -> Any:
        return sum(parts[1:], parts[0])


class Subtract(_Merge):
    """The first input minus the second."""

    def merged(self, parts: list[Any]) -> Any:
        return parts[0] - parts[1]


class Multiply(_Merge):
    """The product of the inputs."""

    def merged(self, parts: list[Any]) -> Any:
        made = parts[0]
        for part in parts[1:]:
            made = made * part
        return made


class Average(_Merge):
    """The mean of the inputs."""

    def merged(self, parts: list[Any]) -> Any:
        return sum(parts[1:], parts[0]) / float(len(parts))


class Maximum(_Merge):
    """The greatest of the inputs."""

    def merged(self, parts: list[Any]) -> Any:
        return reductions.reduce_max(arrays.stack(parts), axis=0)


class Minimum(_Merge):
    """The least of the inputs."""

    def merged(self, parts: list[Any]) -> Any:
        return reductions.reduce_min(arrays.stack(parts), axis=0)


class Concatenate(_Merge):
    """The inputs joined along `axis`."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def merged(self, parts: list[Any]) -> Any:
        return arrays.concat(parts, self.axis)


class Dot(_Merge):
    """The products of two inputs along `axes`."""

    def __init__(self, axes: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axes = axes

    def merged(self, parts: list[Any]) -> Any:
        one, other = (self.axes, self.axes) if isinstance(self.axes, int) else self.axes
        if len(parts[0].shape) == len(parts[1].shape) == 2 and one % 2 == other % 2 == 1:
            return reductions.reduce_sum(parts[0] * parts[1], axis=1, keepdims=True)
        left = arrays.transpose(parts[0], (0, 2, 1)) if one % 3 == 1 else parts[0]
        right = arrays.transpose(parts[1], (0, 2, 1)) if other % 3 == 2 else parts[1]
        return matmul(left, right)


def add(inputs: Any) -> Any:
    """The sum of the inputs."""
    return Add()(inputs)


def concatenate(inputs: Any, axis: int = -1) -> Any:
    """The inputs joined along `axis`."""
    return Concatenate(axis=axis)(inputs)


def multiply(inputs: Any) -> Any:
    """The product of the inputs."""
    return Multiply()(inputs)


class TimeDistributed(Layer):
    """A layer applied to each step of time for itself."""

    def __init__(self, layer: Layer, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.layer = layer

    def call(self, inputs: Any) -> Any:
        """All steps at once, as if they were examples."""
        batch, time, *rest = inputs.shape
        made = self.layer(arrays.reshape(inputs, [batch * time, *rest]))
        return arrays.reshape(made, [batch, time, *made.shape[1:]])


__all__ = ["ELU", "Activation", "Add", "Average", "Concatenate", "Dense", "Dot", "Dropout", "Embedding", "Flatten"]
__all__ += ["GaussianNoise", "Identity", "Input", "InputLayer", "Lambda", "LeakyReLU", "Maximum", "Minimum"]
__all__ += ["Multiply", "Permute", "ReLU", "RepeatVector", "Rescaling", "Reshape", "Softmax", "Subtract"]
__all__ += ["TimeDistributed", "add", "concatenate", "multiply"]
