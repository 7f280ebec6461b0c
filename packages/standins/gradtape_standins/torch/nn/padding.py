"""Layers that pad, and layers that move elements: patches, pixels and channels, images in other sizes."""

from __future__ import annotations

from typing import Any

from gradtape_standins.torch.nn import functional as F
from gradtape_standins.torch.nn.module import Module

__all__ = [
    "ChannelShuffle",
    "Fold",
    "MaxUnpool2d",
    "PixelShuffle",
    "PixelUnshuffle",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]


class _Pad(Module):
    _rank = 1
    _mode = "constant"

    def __init__(self, padding: Any, value: float = 0.0) -> None:
        super().__init__()
        self.padding = (padding,) * (2 * self._rank) if isinstance(padding, int) else tuple(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self) -> str:
        return str(self.padding) if not self._shows_value else f"padding={self.padding}, value={self.value}"

    _shows_value = False


_KINDS = {"ZeroPad": "constant", "ConstantPad": "constant", "ReflectionPad": "reflect", "ReplicationPad": "replicate"}
_KINDS |= {"CircularPad": "circular"}
for _kind, _mode in _KINDS.items():
    for _rank in (1, 2, 3):
        _name = f"{_kind}{_rank}d"
        _body = {
            "_rank": _rank,
            "_mode": _mode,
            "_shows_value": _kind == "ConstantPad",
            "__doc__": f"Pads the last {_rank} axes: {_mode}.",
            "__module__": __name__,
        }
        globals()[_name] = type(_name, (_Pad,), _body)
        __all__ += [_name]


class Upsample(Module):
    """Images and signals in another size."""

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode, self.align_corners = size, scale_factor, mode, align_corners

    def forward(self, input: Any) -> Any:
        """`F.interpolate` to the size, or by the factor, of the layer."""
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners)

    def extra_repr(self) -> str:
        """The size or the factor, and the mode."""
        if self.scale_factor is None:
            return f"size={self.size!r}, mode={self.mode!r}"
        given = self.scale_factor
        factor = tuple(float(each) for each in given) if isinstance(given, (list, tuple)) else float(given)
        return f"scale_factor={factor!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` by the nearest elements."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` by straight lines, with the corners in their places."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


class PixelUnshuffle(Module):
    """Places as channels: (examples, c, h r, w r) to (examples, c r^2, h, w)."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Any:
        """Squares of pixels moved into channels."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """The side of the squares."""
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """The channels of groups, one of each group by turns."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Any) -> Any:
        """The channels of all groups, interleaved."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """The number of groups."""
        return f"groups={self.groups}"


class MaxUnpool2d(Module):
    """Maxima put back where `MaxPool2d(..., return_indices=True)` found them, among zeros."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, kernel_size if stride is None else stride, padding

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        """The elements put back where `max_pool2d` found them, zeros elsewhere."""
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        """Kernel size, stride and padding as pairs."""
        sizes = [(x, x) if isinstance(x, int) else tuple(x) for x in (self.kernel_size, self.stride, self.padding)]
        return f"kernel_size={sizes[0]}, stride={sizes[1]}, padding={sizes[2]}"


class PixelShuffle(Module):
    """Channels as places: (examples, c r^2, h, w) to (examples, c, h r, w r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        """Channels moved into squares of pixels."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """The side of the squares."""
        return f"upscale_factor={self.upscale_factor}"


class Unfold(Module):
    """The patches of images as columns."""

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Any) -> Any:
        """The patches of the images as columns."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """The size of the patches, and how they are placed."""
        options = f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        return f"kernel_size={self.kernel_size}, {options}"


class Fold(Module):
    """Images from patches as columns."""

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: Any) -> Any:
        """Images as sums of patches that are given as columns."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """The size of the images and of the patches, and how these are placed."""
        options = f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        return f"output_size={self.output_size}, kernel_size={self.kernel_size}, {options}"
