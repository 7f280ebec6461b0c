"""Whether operations are recorded: no_grad, enable_grad, inference_mode, set_grad_enabled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape_standins.torch.storage import inferring, is_grad_enabled

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

    >>> from gradtape_standins import torch
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


class _Inferring(gt.no_grad):
    """`no_grad`, and tensors that are made inside are for inference only."""

    inside = True

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        super().__init__(function)
        self._inside_before: list[bool] = []

    def __enter__(self) -> None:
        self._inside_before.append(inferring.get())
        inferring.set(self.inside)
        super().__enter__()

    def __exit__(self, *details: Any) -> None:
        super().__exit__(*details)
        inferring.set(self._inside_before.pop())


class _NotInferring(_Inferring):
    """Normal tensors and recording again, inside of inference mode."""

    inside, mutes = False, False


class inference_mode:
    """`no_grad` for code that will never need a gradient: a context manager and a decorator.

    Tensors that are made inside cannot be written to outside, nor be saved for a gradient.

    >>> from gradtape_standins import torch
    >>> with torch.inference_mode():
    ...     x = torch.ones(2)
    >>> x.is_inference()
    True
    """

    def __new__(cls, mode: Any = True) -> Any:
        if callable(mode):
            return cls()(mode)
        return super().__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        self.mode = bool(mode)
        self._mode = _Inferring() if mode else _NotInferring()

    def __enter__(self) -> None:
        self._mode.__enter__()

    def __exit__(self, *details: Any) -> None:
        self._mode.__exit__(*details)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        decorated: Callable[..., Any] = type(self._mode)()(function)
        return decorated


def is_inference_mode_enabled() -> bool:
    """Whether this is inside of `inference_mode`."""
    return inferring.get()
