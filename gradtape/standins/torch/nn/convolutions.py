"""Convolutions as layers."""

from __future__ import annotations

from typing import Any

from gradtape import nn as ours
from gradtape.ops.convolution import for_each_axis, margins_of
from gradtape.standins.torch.errors import translating
from gradtape.standins.torch.nn import functional as F
from gradtape.standins.torch.nn.layers import adopt
from gradtape.standins.torch.nn.module import Module


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
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                f"padding_mode must be one of 'zeros', 'reflect', 'replicate', 'circular', but got {padding_mode!r}"
            )
        if padding_mode != "zeros" and self._transposed:
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self.padding_mode = padding_mode
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        with translating():
            self.kernel_size = self._each("kernel_size", kernel_size, 1)
            self.stride, self.dilation = self._each("stride", stride, 1), self._each("dilation", dilation, 1)
            self.padding = padding if isinstance(padding, str) else self._each("padding", padding, 0)
            self.output_padding = self._each("output_padding", output_padding, 0)
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

    def _each(self, what: str, value: Any, least: int) -> tuple[int, ...]:
        return for_each_axis(type(self).__name__, what, value, self._rank, least)

    def forward(self, input: Any) -> Any:
        steps = (self.stride, self.padding)
        if self._transposed:
            compute = getattr(F, f"conv_transpose{self._rank}d")
            return compute(input, self.weight, self.bias, *steps, self.output_padding, self.groups, self.dilation)
        compute = getattr(F, f"conv{self._rank}d")
        if self.padding_mode != "zeros":
            input = F.pad(input, self._around(), self.padding_mode)
            steps = (self.stride, (0,) * self._rank)
        return compute(input, self.weight, self.bias, *steps, self.dilation, self.groups)

    def _around(self) -> list[int]:
        """How much is added on both sides of each axis, from the last on, where it is not zeros."""
        with translating():
            around = margins_of(self.padding, type(self).__name__, self.stride, self.dilation, self.kernel_size)
        return [width for pair in reversed(around) for width in pair]

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
        text += ", bias=False" if self.bias is None else ""
        return text + (f", padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "")


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
