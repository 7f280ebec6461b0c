"""What tensors say of themselves: shapes, the device, the layout."""

from __future__ import annotations

from typing import Any

import numpy as np


class Size(tuple[int, ...]):
    """The shape of a tensor.

    >>> from gradtape_standins import torch
    >>> torch.zeros(2, 3).shape
    torch.Size([2, 3])
    """

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return int(np.prod(self, dtype=int))

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __add__(self, other: Any) -> Size:
        return Size(tuple(self) + tuple(other))

    def __getitem__(self, index: Any) -> Any:
        picked = tuple.__getitem__(self, index)
        return Size(picked) if isinstance(index, slice) else picked


class NoDeviceError(AssertionError, RuntimeError):
    """A device that is not there: PyTorch raises the one without a driver, the other without a device."""


NoDeviceError.__name__ = NoDeviceError.__qualname__ = "AssertionError"


_KINDS = ("cpu", "cuda", "mps", "xpu", "meta", "xla", "hpu", "mtia", "vulkan")
"""The kinds of devices that PyTorch knows by name."""


class device:
    """Where a tensor is: always the CPU here. What is sent to "meta", where tensors are only shapes, stays as it is.

    >>> from gradtape_standins import torch
    >>> torch.device("cpu")
    device(type='cpu')
    """

    type: str

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        name = str(type)
        kind = name.partition(":")[0]
        if kind not in _KINDS:
            raise RuntimeError(f"Expected one of {', '.join(_KINDS)} device type at start of device string: {name}")
        if kind not in ("cpu", "meta"):
            raise NoDeviceError(
                f"torch.device({name!r}): the stand-in computes with NumPy on the CPU.\n"
                "  fix: torch.device('cpu'), or choose by torch.cuda.is_available(), which is False here"
            )
        self.type = kind
        self.index = index

    def __enter__(self) -> device:
        """Nothing: tensors that are made inside are on the CPU, as they would be anyway."""
        return self

    def __exit__(self, *details: object) -> None:
        """Nothing: see `__enter__`."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and other.type == self.type

    def __hash__(self) -> int:
        return hash(self.type)

    def __str__(self) -> str:
        return self.type

    def __repr__(self) -> str:
        return f"device(type={self.type!r})"


class layout:
    """How numbers are laid out in memory."""

    def __repr__(self) -> str:
        return "torch.strided"


strided = layout()


class memory_format:
    """An order of axes in memory: accepted wherever PyTorch takes one, and it changes nothing here."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"


_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
contiguous_format, preserve_format, channels_last, channels_last_3d = (memory_format(name) for name in _FORMATS)
