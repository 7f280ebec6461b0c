"""`torch.autograd.graph`: what can be asked about the graph itself."""

from __future__ import annotations

from gradtape.standins.names import missing
from gradtape.standins.torch.naming import GradFn as Node

__all__ = ["Node"]
__getattr__ = missing(
    __name__,
    reasons={
        "saved_tensors_hooks": "gradtape saves what its rules need and nothing else; to keep less, use gt.checkpoint",
    },
)
