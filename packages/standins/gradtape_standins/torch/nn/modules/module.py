"""`torch.nn.modules.module`: modules, and hooks that all of them share."""

from __future__ import annotations

from gradtape_standins.missing_names import missing
from gradtape_standins.torch.nn.module import (
    Module,
    register_module_forward_hook,
    register_module_forward_pre_hook,
)

__all__ = ["Module", "register_module_forward_hook", "register_module_forward_pre_hook"]
__getattr__ = missing(__name__)
