"""Convolutions and pooling, channels last, over `tf.nn`."""

from __future__ import annotations

from typing import Any, ClassVar

from gradtape.standins.tensorflow import reductions
from gradtape.standins.tensorflow.arrays import pad, repeat
from gradtape.standins.tensorflow.conversion import value_of
from gradtape.standins.tensorflow.convolutions import (
    convolution_of,
    pooled,
    spread,
    transposed_convolution_of,
)
from gradtape.standins.tensorflow.errors import explained, in_tensorflow_terms
from gradtape.standins.tensorflow.keras import activations, initializers
from gradtape.standins.tensorflow.keras.layers.base import Layer, checked_input
from gradtape.standins.tensorflow.tensor import wrap


class _Convolution(Layer):
    """A convolution over `_rank` axes in space, a bias and an activation."""

    _rank: ClassVar[int]
    _is_transposed: ClassVar[bool] = False

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        groups: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.filters, self.groups, self.use_bias = filters, groups, use_bias
        self.kernel_size = spread(kernel_size, self._rank)
        self.strides, self.dilation_rate = spread(strides, self._rank), spread(dilation_rate, self._rank)
        self.padding = padding
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = kernel_regularizer

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        inputs = input_shape[-1]
        ends = (self.filters, inputs) if self._is_transposed else (inputs // self.groups, self.filters)
        self.kernel = self.add_weight(
            (*self.kernel_size, *ends), self.kernel_initializer, regularizer=self.kernel_regularizer, name="kernel"
        )
        if self.use_bias:
            self.bias = self.add_weight((self.filters,), self.bias_initializer, name="bias")
        self.built = True

    @in_tensorflow_terms
    def call(self, inputs: Any) -> Any:
        """The convolution, the bias, the activation."""
        value, kernel = value_of(inputs), value_of(self.kernel)
        if self._is_transposed:
            checked_input(self, inputs, self.kernel.shape[-1])
            made = wrap(transposed_convolution_of(value, kernel, self._output(value.shape), self.strides, self.padding))
        else:
            checked_input(self, inputs, self.kernel.shape[-2] * self.groups)
            steps, widths = self.strides, self.dilation_rate
            made = wrap(convolution_of(value, kernel, steps, self.padding, widths, None, self.groups))
        return self.activation(made + self.bias if self.use_bias else made)

    def _output(self, shape: Any) -> tuple[int, ...]:
        lengths = []
        for length, size, stride in zip(shape[1:-1], self.kernel_size, self.strides):
            lengths.append(length * stride + (max(size - stride, 0) if self.padding.lower() == "valid" else 0))
        return (shape[0], *lengths, self.filters)


class Conv1D(_Convolution):
    """A convolution along one axis."""

    _rank = 1


class Conv2D(_Convolution):
    """A convolution over two axes: (batch, height, width, channels).

    >>> from gradtape.standins import tensorflow as tf
    >>> tf.keras.layers.Conv2D(4, 3, padding="same")(tf.ones([1, 8, 8, 2])).shape
    TensorShape([1, 8, 8, 4])
    """

    _rank = 2


class Conv3D(_Convolution):
    """A convolution over three axes."""

    _rank = 3


class Conv1DTranspose(_Convolution):
    """The adjoint of a convolution along one axis."""

    _rank, _is_transposed = 1, True


class Conv2DTranspose(_Convolution):
    """The adjoint of a convolution over two axes."""

    _rank, _is_transposed = 2, True


class _Pooling(Layer):
    """The greatest element, or the mean, of each window."""

    _rank: ClassVar[int]
    _pools: ClassVar[str]

    def __init__(
        self, pool_size: Any = 2, strides: Any = None, padding: str = "valid", data_format: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.pool_size, self.padding = spread(pool_size, self._rank), padding
        self.strides = self.pool_size if strides is None else spread(strides, self._rank)

    @in_tensorflow_terms
    def call(self, inputs: Any) -> Any:
        """Pooled."""
        return wrap(pooled(value_of(inputs), self._pools, self.pool_size, self.strides, self.padding))


class MaxPooling1D(_Pooling):
    """The greatest element of each window along one axis."""

    _rank, _pools = 1, "max"


class MaxPooling2D(_Pooling):
    """The greatest element of each window over two axes."""

    _rank, _pools = 2, "max"


class AveragePooling1D(_Pooling):
    """The mean of each window along one axis."""

    _rank, _pools = 1, "avg"


class AveragePooling2D(_Pooling):
    """The mean of each window over two axes."""

    _rank, _pools = 2, "avg"


class _GlobalPooling(Layer):
    """The greatest element, or the mean, over all of space."""

    _is_mean: ClassVar[bool]

    def __init__(self, data_format: Any = None, keepdims: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.keepdims = keepdims

    def call(self, inputs: Any) -> Any:
        """Pooled."""
        space = list(range(1, len(inputs.shape) - 1))
        reduce = reductions.reduce_mean if self._is_mean else reductions.reduce_max
        return reduce(inputs, axis=space, keepdims=self.keepdims)


class GlobalAveragePooling1D(_GlobalPooling):
    """The mean along time."""

    _is_mean = True


class GlobalAveragePooling2D(_GlobalPooling):
    """The mean over height and width."""

    _is_mean = True


class GlobalMaxPooling1D(_GlobalPooling):
    """The greatest element along time."""

    _is_mean = False


class GlobalMaxPooling2D(_GlobalPooling):
    """The greatest element over height and width."""

    _is_mean = False


class ZeroPadding2D(Layer):
    """Zeros around height and width."""

    def __init__(self, padding: Any = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        pairs = (padding, padding) if isinstance(padding, int) else padding
        self.padding = [(p, p) if isinstance(p, int) else tuple(p) for p in pairs]

    def call(self, inputs: Any) -> Any:
        """Padded."""
        return pad(inputs, [(0, 0), *self.padding, (0, 0)])


class UpSampling2D(Layer):
    """Each place in space repeated."""

    def __init__(self, size: Any = 2, interpolation: str = "nearest", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if interpolation != "nearest":
            raise NotImplementedError(explained("UpSampling2D: interpolation='nearest' is what this stand-in has"))
        self.size = spread(size, 2)

    def call(self, inputs: Any) -> Any:
        """Repeated."""
        return repeat(repeat(inputs, self.size[0], axis=1), self.size[1], axis=2)


GlobalAvgPool1D, GlobalAvgPool2D = GlobalAveragePooling1D, GlobalAveragePooling2D
GlobalMaxPool1D, GlobalMaxPool2D = GlobalMaxPooling1D, GlobalMaxPooling2D
Convolution1D, Convolution2D = Conv1D, Conv2D
MaxPool1D, MaxPool2D, AvgPool1D, AvgPool2D = MaxPooling1D, MaxPooling2D, AveragePooling1D, AveragePooling2D

__all__ = ["AveragePooling1D", "AveragePooling2D", "AvgPool1D", "AvgPool2D", "Conv1D", "Conv1DTranspose", "Conv2D"]
__all__ += ["Conv2DTranspose", "Conv3D", "Convolution1D", "Convolution2D", "GlobalAveragePooling1D"]
__all__ += ["GlobalAveragePooling2D", "GlobalAvgPool1D", "GlobalAvgPool2D", "GlobalMaxPool1D", "GlobalMaxPool2D"]
__all__ += ["GlobalMaxPooling1D", "GlobalMaxPooling2D", "MaxPool1D", "MaxPool2D", "MaxPooling1D", "MaxPooling2D"]
__all__ += ["UpSampling2D", "ZeroPadding2D"]
