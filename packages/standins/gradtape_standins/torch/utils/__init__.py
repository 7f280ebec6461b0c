"""`torch.utils`: data, checkpoint and hooks."""

from __future__ import annotations

from gradtape_standins.missing_names import missing
from gradtape_standins.torch.utils import checkpoint, data, hooks

__all__ = ["checkpoint", "data", "hooks"]
__getattr__ = missing(__name__)
