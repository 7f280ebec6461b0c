"""`torch.utils`: data and checkpoint."""

from __future__ import annotations

from gradtape.standins.names import missing
from gradtape.standins.torch.utils import checkpoint, data

__all__ = ["checkpoint", "data"]
__getattr__ = missing(__name__)
