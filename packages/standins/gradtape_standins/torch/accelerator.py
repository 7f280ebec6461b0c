"""`torch.accelerator`: there is none here."""

from __future__ import annotations

from typing import Any

from gradtape_standins.missing_names import missing

__all__ = ["current_accelerator", "device_count", "is_available", "synchronize"]


def is_available() -> bool:
    """False: the stand-in computes on the CPU."""
    return False


def current_accelerator(check_available: bool = False) -> None:
    """None."""


def device_count() -> int:
    """0."""
    return 0


def synchronize(device: Any = None) -> None:
    """Nothing is computed elsewhere that would have to be waited for."""


__getattr__ = missing(__name__)
