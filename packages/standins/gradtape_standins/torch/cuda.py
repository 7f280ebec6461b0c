"""`torch.cuda`: there is none here."""

from __future__ import annotations

from gradtape_standins.missing_names import missing
from gradtape_standins.torch import amp

__all__ = ["amp", "device_count", "is_available", "manual_seed", "manual_seed_all"]


def is_available() -> bool:
    """False: the stand-in computes on the CPU."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Accepted: there is no GPU whose numbers could be seeded."""


def manual_seed_all(seed: int) -> None:
    """Accepted: there is no GPU whose numbers could be seeded."""


__getattr__ = missing(__name__)
