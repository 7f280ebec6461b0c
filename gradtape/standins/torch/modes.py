"""Whether operations are recorded: no_grad, enable_grad, inference_mode, set_grad_enabled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape.standins.torch.storage import is_grad_enabled

no_grad = gt.no_grad
enable_grad = gt.enable_grad
__all__ = [
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
]


class set_grad_enabled:
    """Switch recording on or off, at once; as a context manager, until the end of the block.

    >>> from gradtape.standins import torch
    >>> with torch.set_grad_enabled(False):
    ...     torch.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self._mode = gt.enable_grad() if mode else gt.no_grad()
        self._mode.__enter__()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *details: Any) -> None:
        self._mode.__exit__(*details)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        self._mode.__exit__(None, None, None)
        decorated: Callable[..., Any] = (gt.enable_grad if self.mode else gt.no_grad)(function)
        return decorated


_inferring = 0


class inference_mode:
    """`no_grad`, under the name for code that will never need a gradient: a context manager and a decorator."""

    def __new__(cls, mode: Any = True) -> Any:
        if callable(mode):
            return cls()(mode)
        return super().__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        self._mode = gt.no_grad() if mode else gt.enable_grad()
        self._counts = int(bool(mode))

    def __enter__(self) -> None:
        global _inferring
        _inferring += self._counts
        self._mode.__enter__()

    def __exit__(self, *details: Any) -> None:
        global _inferring
        _inferring -= self._counts
        self._mode.__exit__(*details)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        decorated: Callable[..., Any] = type(self._mode)(function)
        return decorated


def is_inference_mode_enabled() -> bool:
    """Whether this is inside of `inference_mode`."""
    return _inferring > 0
