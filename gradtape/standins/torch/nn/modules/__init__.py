"""`torch.nn.modules`: where PyTorch keeps the layers that `torch.nn` has."""

from __future__ import annotations

from typing import Any

from gradtape.standins.torch.nn.modules import module

__all__ = ["module"]


def __getattr__(name: str) -> Any:
    """The layers of `torch.nn`, under this name too."""
    from gradtape.standins.torch import nn

    return getattr(nn, name)
