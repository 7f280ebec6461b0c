"""`torch.backends`: what scripts ask about before they choose a device, and switches that change nothing here."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from gradtape_standins.missing_names import missing

__all__ = ["cuda", "cudnn", "mkl", "mps", "openmp"]


def _unavailable(name: str, **switches: Any) -> ModuleType:
    """A module for a device that is not there; its switches can be set, and nobody reads them."""
    module = ModuleType(f"{__name__}.{name}", "A device that is not there.")
    vars(module).update(is_available=lambda: False, is_built=lambda: False, **switches)
    sys.modules[module.__name__] = module
    return module


cudnn = _unavailable(
    "cudnn", deterministic=False, benchmark=False, enabled=False, allow_tf32=False, version=lambda: None
)
cuda = _unavailable("cuda", matmul=SimpleNamespace(allow_tf32=False))
mps = _unavailable("mps")
mkl = _unavailable("mkl")
openmp = _unavailable("openmp")

__getattr__ = missing(__name__)
