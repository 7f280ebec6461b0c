"""Layers that pad, and layers that move elements between channels and places."""

from __future__ import annotations

from typing import Any

from gradtape.standins.torch.nn import functional as F
from gradtape.standins.torch.nn.module import Module

__all__ = ["PixelShuffle", "Unfold", "Upsample"]


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
    """Images and signals in another size; the nearest element is taken."""

    def __init__(self, size: Any = None, scale_factor: Any = None, mode: str = "nearest") -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode

    def forward(self, input: Any) -> Any:
        return F.interpolate(input, self.size, self.scale_factor, self.mode)

    def extra_repr(self) -> str:
        if self.scale_factor is None:
            return f"size={self.size!r}, mode={self.mode!r}"
        return f"scale_factor={float(self.scale_factor)!r}, mode={self.mode!r}"


class PixelShuffle(Module):
    """Channels as places: (examples, c r^2, h, w) to (examples, c, h r, w r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class Unfold(Module):
    """The patches of images as columns."""

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Any) -> Any:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        options = f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        return f"kernel_size={self.kernel_size}, {options}"
