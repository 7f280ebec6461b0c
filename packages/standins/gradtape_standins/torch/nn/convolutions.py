"""Convolutions as layers."""

from __future__ import annotations

import inspect
from typing import Any

from gradtape import nn as ours
from gradtape.extend import integers_for_axes, padding_widths
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.nn import functional as F
from gradtape_standins.torch.nn.layers import adopt
from gradtape_standins.torch.nn.module import Module

_NAMED = inspect.Parameter.KEYWORD_ONLY


class _Convolution(Module):
    """A layer of gradtape's, whose arguments are PyTorch's; its options are kept with a number for each axis."""

    _kind: Any
    _rank: int
    _transposed = False

    def __init__(
        self, *args: Any, padding_mode: str = "zeros", device: Any = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        super().__init__()
        given, padding_mode = self._arguments(args, kwargs, padding_mode)
        self.padding_mode = padding_mode
        for name in ("in_channels", "out_channels", "groups"):
            setattr(self, name, given[name])
        with translating():
            for name, least in {"kernel_size": 1, "stride": 1, "dilation": 1, "padding": 0}.items():
                value = given[name]
                setattr(self, name, value if isinstance(value, str) else self._each(name, value, least))
            self.output_padding = self._each("output_padding", given.get("output_padding", 0), 0)
            adopt(self, self._kind(**{name: getattr(self, name, value) for name, value in given.items()}), dtype)
        if not given["bias"]:
            self.register_parameter("bias", None)

    def _arguments(self, args: Any, kwargs: Any, padding_mode: str) -> tuple[dict[str, Any], str]:
        """The arguments by name, as gradtape's layer has them, and how the padding is filled."""
        wanted = [name for name, about in inspect.signature(self._kind).parameters.items() if about.kind is not _NAMED]
        if len(args) == len(wanted) + 1:
            *args, padding_mode = args
        unknown = [name for name in kwargs if name not in wanted]
        if unknown:
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument {unknown[0]!r}")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                f"padding_mode must be one of 'zeros', 'reflect', 'replicate', 'circular', but got {padding_mode!r}"
            )
        if padding_mode != "zeros" and self._transposed:
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        bound = inspect.signature(self._kind).bind(*args, **kwargs)
        bound.apply_defaults()
        return {name: bound.arguments[name] for name in wanted}, padding_mode

    def _each(self, what: str, value: Any, least: int) -> tuple[int, ...]:
        return integers_for_axes(type(self).__name__, what, value, self._rank, least)

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
            around = padding_widths(self.padding, type(self).__name__, self.stride, self.dilation, self.kernel_size)
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

    _kind, _rank = ours.Conv1d, 1


class Conv2d(_Convolution):
    """Convolution of images (examples, channels, height, width)."""

    _kind, _rank = ours.Conv2d, 2


class Conv3d(_Convolution):
    """Convolution of volumes (examples, channels, depth, height, width)."""

    _kind, _rank = ours.Conv3d, 3


class ConvTranspose1d(_Convolution):
    """The transpose of a convolution of signals."""

    _kind, _rank, _transposed = ours.ConvTranspose1d, 1, True


class ConvTranspose2d(_Convolution):
    """The transpose of a convolution of images."""

    _kind, _rank, _transposed = ours.ConvTranspose2d, 2, True


class ConvTranspose3d(_Convolution):
    """The transpose of a convolution of volumes."""

    _kind, _rank, _transposed = ours.ConvTranspose3d, 3, True
