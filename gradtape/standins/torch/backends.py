"""`torch.backends`: what scripts ask about before they choose a device, and switches that change nothing here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from gradtape.standins.names import missing

__all__ = ["cuda", "cudnn", "mkl", "mps"]


def _unavailable(**switches: Any) -> SimpleNamespace:
    """A device that is not there; its switches can be set, and nobody reads them."""
    return SimpleNamespace(is_available=lambda: False, is_built=lambda: False, **switches)


cudnn = _unavailable(deterministic=False, benchmark=False, enabled=False, allow_tf32=False)
cuda = _unavailable(matmul=SimpleNamespace(allow_tf32=False))
mps = _unavailable()
mkl = _unavailable()

__getattr__ = missing(__name__)
