"""`torch.types`: names for annotations."""

from __future__ import annotations

from typing import Any

from gradtape_standins.missing_names import missing
from gradtape_standins.torch.size_and_device import Size, device
from gradtape_standins.torch.tensor import Tensor

__all__ = ["Device", "Number", "Size", "Tensor"]
Device = device | str | int | None
Number = int | float | bool
_size = Size | list[int] | tuple[int, ...]
_dtype = _device = Any
__getattr__ = missing(__name__)
