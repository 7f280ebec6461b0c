"""`torch.nn.utils.stateless`: where `torch.func.functional_call` was before."""

from __future__ import annotations

from gradtape_standins.missing_names import missing
from gradtape_standins.torch.func import functional_call

__all__ = ["functional_call"]
__getattr__ = missing(__name__)
