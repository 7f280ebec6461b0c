"""`torch.utils.checkpoint`: compute again on the way back instead of keeping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape.standins.names import missing
from gradtape.standins.torch.autograd.functional import plainly
from gradtape.standins.torch.errors import translating
from gradtape.standins.torch.tensor import unwrap, wrap

__all__ = ["checkpoint"]


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: Any = None, **kwargs: Any) -> Any:
    """Call `function`; what happens inside is computed again on the way back.

    >>> from gradtape.standins import torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> torch.utils.checkpoint.checkpoint(lambda x: x**3, x, use_reentrant=False).backward()
    >>> x.grad
    tensor(12.)
    """
    with translating():
        return wrap(gt.checkpoint(plainly(function))(*unwrap(args)), "CheckpointFunctionBackward")


__getattr__ = missing(__name__)
