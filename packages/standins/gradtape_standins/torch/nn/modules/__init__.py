"""`torch.nn.modules`: where PyTorch keeps the layers that `torch.nn` has."""

from __future__ import annotations

from typing import Any

from gradtape_standins.torch.module_aliases import MODULE_ALIASES
from gradtape_standins.torch.nn.modules import module, utils

__all__ = ["module", "utils"]


def __getattr__(name: str) -> Any:
    """The layers of `torch.nn`, under this name too."""
    from gradtape_standins.torch import nn

    return nn if f"torch.nn.modules.{name}" in MODULE_ALIASES else getattr(nn, name)
