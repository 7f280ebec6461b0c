"""`torch.utils.hooks`: what a hook is removed by."""

from __future__ import annotations

from gradtape_standins.missing_names import missing
from gradtape_standins.torch.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
__getattr__ = missing(__name__)
