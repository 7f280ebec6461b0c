"""`finish` for programs of PyTorch, and what torchvision needs where PyTorch has no CUDA."""

from __future__ import annotations

import random

import numpy as np
import torch
from measure import Steps


def finish(steps: Steps, *models: torch.nn.Module) -> None:
    """Print digests of the parameters, gradients and buffers of models, and of the three random states."""
    values = []
    for model in models:
        values += [p.detach().float().numpy() for p in model.parameters()]
        values += [p.grad.float().numpy() for p in model.parameters() if p.grad is not None]
        values += [b.detach().float().numpy() for b in model.buffers()]
    states = [torch.get_rng_state().numpy(), np.random.get_state()[1], np.array(random.getstate()[1], dtype=np.uint64)]
    steps.finish(values, states)


def allow_torchvision_without_cuda() -> torch.library.Library | None:
    """Declare the two operators without which torchvision cannot be imported beside a PyTorch for the CPU.

    The wheels of torchvision are linked with CUDA. Its models need none of the operators that are then missing.
    """
    if torch.version.cuda is not None:
        return None
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return library
