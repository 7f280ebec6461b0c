"""Convolutions and pooling, channels last, over `tf.nn`."""

from __future__ import annotations

from typing import Any, ClassVar

import gradtape as gt
from gradtape_standins.tensorflow import reductions
from gradtape_standins.tensorflow.conversion import value_of
from gradtape_standins.tensorflow.convolutions import (
    convolution_of,
    pooled,
    spread,
    transposed_convolution_of,
)
from gradtape_standins.tensorflow.errors import check_channels_last, in_tensorflow_terms
from gradtape_standins.tensorflow.keras import activations, initializers, regularizers
from gradtape_standins.tensorflow.keras.layers.base import Layer, checked_axes, checked_input
from gradtape_standins.tensorflow.tensor import wrap


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
        check_channels_last(self, data_format)
        self.filters, self.groups, self.use_bias = filters, groups, use_bias
        self.kernel_size = spread(kernel_size, self._rank)
        self.strides, self.dilation_rate = spread(strides, self._rank), spread(dilation_rate, self._rank)
        self.padding = padding
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)

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
        checked_axes(self, inputs, self._rank + 2)
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

    >>> from gradtape_standins import tensorflow as tf
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


class Conv3DTranspose(_Convolution):
    """The adjoint of a convolution over three axes."""

    _rank, _is_transposed = 3, True


class _Depthwise(Layer):
    """A convolution of each channel for itself."""

    _rank: ClassVar[int]

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_channels_last(self, data_format)
        self.kernel_size, self.strides = spread(kernel_size, self._rank), spread(strides, self._rank)
        self.dilation_rate, self.padding = spread(dilation_rate, self._rank), padding
        self.depth_multiplier, self.use_bias = depth_multiplier, use_bias
        self.activation = activations.get(activation)
        self.depthwise_initializer = initializers.get(depthwise_initializer)
        self.bias_initializer = initializers.get(bias_initializer)

    def build(self, input_shape: Any) -> None:
        """Make the kernel and the bias."""
        channels = input_shape[-1]
        shape = (*self.kernel_size, channels, self.depth_multiplier)
        self.kernel = self.add_weight(shape, self.depthwise_initializer, name="kernel")
        if self.use_bias:
            self.bias = self.add_weight((channels * self.depth_multiplier,), self.bias_initializer, name="bias")
        self.built = True

    @in_tensorflow_terms
    def call(self, inputs: Any) -> Any:
        """The convolution, the bias, the activation."""
        checked_input(self, inputs, self.kernel.shape[-2])
        made = depthwise(inputs, self.kernel, self.strides, self.padding, self.dilation_rate)
        return self.activation(made + self.bias if self.use_bias else made)


def depthwise(inputs: Any, kernel: Any, strides: Any, padding: str, dilation: Any) -> Any:
    """A convolution of each channel for itself; the kernel ends with (channels, multiplier)."""
    weight = value_of(kernel)
    *window, channels, multiplier = weight.shape
    merged = gt.reshape(weight, (*window, 1, channels * multiplier))
    return wrap(convolution_of(value_of(inputs), merged, strides, padding, dilation, None, channels))


class DepthwiseConv1D(_Depthwise):
    """A convolution along one axis, of each channel for itself."""

    _rank = 1


class DepthwiseConv2D(_Depthwise):
    """A convolution over two axes, of each channel for itself."""

    _rank = 2


class _Separable(_Convolution):
    """A convolution of each channel for itself, then a mixture of the channels at each place."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate=dilation_rate,
            activation=activation,
            use_bias=use_bias,
            bias_initializer=bias_initializer,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = initializers.get(depthwise_initializer)
        self.pointwise_initializer = initializers.get(pointwise_initializer)

    def build(self, input_shape: Any) -> None:
        """Make the two kernels and the bias."""
        channels, many = input_shape[-1], self.depth_multiplier
        shape = (*self.kernel_size, channels, many)
        self.depthwise_kernel = self.add_weight(shape, self.depthwise_initializer, name="depthwise_kernel")
        mixture = (*[1] * self._rank, channels * many, self.filters)
        self.pointwise_kernel = self.add_weight(mixture, self.pointwise_initializer, name="pointwise_kernel")
        if self.use_bias:
            self.bias = self.add_weight((self.filters,), self.bias_initializer, name="bias")
        self.built = True

    @in_tensorflow_terms
    def call(self, inputs: Any) -> Any:
        """Both convolutions, the bias, the activation."""
        checked_input(self, inputs, self.depthwise_kernel.shape[-2])
        made = depthwise(inputs, self.depthwise_kernel, self.strides, self.padding, self.dilation_rate)
        mixture = value_of(self.pointwise_kernel)
        made = wrap(convolution_of(value_of(made), mixture, 1, "valid", 1, None, 1))
        return self.activation(made + self.bias if self.use_bias else made)


class SeparableConv1D(_Separable):
    """A separable convolution along one axis."""

    _rank = 1


class SeparableConv2D(_Separable):
    """A separable convolution over two axes."""

    _rank = 2


class _Pooling(Layer):
    """The greatest element, or the mean, of each window."""

    _rank: ClassVar[int]
    _pools: ClassVar[str]

    def __init__(
        self, pool_size: Any = 2, strides: Any = None, padding: str = "valid", data_format: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        check_channels_last(self, data_format)
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


class MaxPooling3D(_Pooling):
    """The greatest element of each window over three axes."""

    _rank, _pools = 3, "max"


class AveragePooling3D(_Pooling):
    """The mean of each window over three axes."""

    _rank, _pools = 3, "avg"


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
        check_channels_last(self, data_format)
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


class GlobalAveragePooling3D(_GlobalPooling):
    """The mean over three axes."""

    _is_mean = True


class GlobalMaxPooling3D(_GlobalPooling):
    """The greatest element over three axes."""

    _is_mean = False


GlobalAvgPool1D, GlobalAvgPool2D = GlobalAveragePooling1D, GlobalAveragePooling2D
GlobalMaxPool1D, GlobalMaxPool2D = GlobalMaxPooling1D, GlobalMaxPooling2D
Convolution1D, Convolution2D = Conv1D, Conv2D
MaxPool1D, MaxPool2D, AvgPool1D, AvgPool2D = MaxPooling1D, MaxPooling2D, AveragePooling1D, AveragePooling2D

__all__ = ["AveragePooling1D", "AveragePooling2D", "AvgPool1D", "AvgPool2D", "Conv1D", "Conv1DTranspose", "Conv2D"]
__all__ += ["Conv2DTranspose", "Conv3D", "Convolution1D", "Convolution2D", "GlobalAveragePooling1D"]
__all__ += ["GlobalAveragePooling2D", "GlobalAvgPool1D", "GlobalAvgPool2D", "GlobalMaxPool1D", "GlobalMaxPool2D"]
__all__ += ["GlobalMaxPooling1D", "GlobalMaxPooling2D", "MaxPool1D", "MaxPool2D", "MaxPooling1D", "MaxPooling2D"]
__all__ += ["AveragePooling3D", "Conv3DTranspose", "DepthwiseConv1D", "DepthwiseConv2D", "GlobalAveragePooling3D"]
__all__ += ["GlobalMaxPooling3D", "MaxPooling3D", "SeparableConv1D", "SeparableConv2D"]
