"""Convolutions as layers, and their transposes. The layout of weights is that of `gt.nn.functional`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from gradtape.errors import OperandError
from gradtape.extend import argument_error
from gradtape.nn import functional
from gradtape.nn.basic import checked_size, fan_in_uniform
from gradtape.nn.init import Initialiser
from gradtape.nn.module import Module
from gradtape.ops.convolution import integers_for_axes


class _Convolution(Module):
    """What all convolutions have in common; subclasses name the function and the number of its axes."""

    _function: ClassVar[Callable[..., Any]]
    _axes: ClassVar[int]
    _transposed: ClassVar[bool] = False

    def _set_up(
        self,
        channels: tuple[int, int],
        kernel_size: Any,
        groups: int,
        bias: bool,
        weight_init: Initialiser | None,
        bias_init: Initialiser | None,
        rng: np.random.Generator | None,
        dtype: Any,
    ) -> None:
        name = type(self).__name__
        self.in_channels = checked_size(name, "in_channels", channels[0])
        self.out_channels = checked_size(name, "out_channels", channels[1])
        self.groups = checked_size(name, "groups", groups)
        self.kernel_size = integers_for_axes(name, "kernel_size", kernel_size, self._axes, 1)
        if self.in_channels % groups or self.out_channels % groups:
            raise argument_error(
                OperandError,
                f"{name}: {groups} groups of {channels[0]} input and {channels[1]} output channels.",
                "a number of groups that divides both numbers of channels",
            )
        first, second = (channels[0], channels[1]) if self._transposed else (channels[1], channels[0])
        shape = (first, second // groups, *self.kernel_size)
        start = fan_in_uniform(shape[1] * math.prod(self.kernel_size))
        self.declare("weight", shape, weight_init or start, dtype, rng)
        if bias:
            self.declare("bias", (self.out_channels,), bias_init or start, dtype, rng)
        else:
            self.bias = None

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"


class _Conv(_Convolution):
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
        *,
        weight_init: Initialiser | None = None,
        bias_init: Initialiser | None = None,
        rng: np.random.Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self._set_up((in_channels, out_channels), kernel_size, groups, bias, weight_init, bias_init, rng, dtype)
        self.stride, self.padding, self.dilation = stride, padding, dilation

    def forward(self, x: Any) -> Any:
        return type(self)._function(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv1d(_Conv):
    """A convolution of signals (examples, channels, length), with a weight (out, in / groups, kernel).

    `padding` is a number, one for each axis, or "same" or "valid", as in `gt.nn.functional.conv1d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Conv1d(2, 4, 3, padding="same", rng=np.random.default_rng(0))(np.ones((1, 2, 8), np.float32)).shape
    (1, 4, 8)
    """

    _function = staticmethod(functional.conv1d)
    _axes = 1


class Conv2d(_Conv):
    """A convolution of images (examples, channels, height, width), with a weight (out, in / groups, kernel, kernel).

    >>> import numpy as np, gradtape as gt
    >>> layer = gt.nn.Conv2d(3, 8, 3, stride=2, padding=1, rng=np.random.default_rng(0))
    >>> layer(np.ones((1, 3, 8, 8), np.float32)).shape
    (1, 8, 4, 4)
    """

    _function = staticmethod(functional.conv2d)
    _axes = 2


class Conv3d(_Conv):
    """A convolution of volumes (examples, channels, depth, height, width).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.Conv3d(1, 2, 3, rng=np.random.default_rng(0))(np.ones((1, 1, 4, 4, 4), np.float32)).shape
    (1, 2, 2, 2, 2)
    """

    _function = staticmethod(functional.conv3d)
    _axes = 3


class _ConvTranspose(_Convolution):
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
        *,
        weight_init: Initialiser | None = None,
        bias_init: Initialiser | None = None,
        rng: np.random.Generator | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self._set_up((in_channels, out_channels), kernel_size, groups, bias, weight_init, bias_init, rng, dtype)
        self.stride, self.padding, self.output_padding, self.dilation = stride, padding, output_padding, dilation

    def forward(self, x: Any) -> Any:
        options = (self.stride, self.padding, self.output_padding, self.groups, self.dilation)
        return type(self)._function(x, self.weight, self.bias, *options)


class ConvTranspose1d(_ConvTranspose):
    """The transpose of `Conv1d`: from its outputs' shape back to its inputs'; the weight is (in, out / groups, kernel).

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.ConvTranspose1d(4, 2, 3, rng=np.random.default_rng(0))(np.ones((1, 4, 6), np.float32)).shape
    (1, 2, 8)
    """

    _function = staticmethod(functional.conv_transpose1d)
    _axes = 1


class ConvTranspose2d(_ConvTranspose):
    """The transpose of `Conv2d`.

    >>> import numpy as np, gradtape as gt
    >>> layer = gt.nn.ConvTranspose2d(4, 2, 2, stride=2, rng=np.random.default_rng(0))
    >>> layer(np.ones((1, 4, 3, 3), np.float32)).shape
    (1, 2, 6, 6)
    """

    _function = staticmethod(functional.conv_transpose2d)
    _axes = 2


class ConvTranspose3d(_ConvTranspose):
    """The transpose of `Conv3d`.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.ConvTranspose3d(2, 1, 2, rng=np.random.default_rng(0))(np.ones((1, 2, 3, 3, 3), np.float32)).shape
    (1, 1, 4, 4, 4)
    """

    _function = staticmethod(functional.conv_transpose3d)
    _axes = 3
