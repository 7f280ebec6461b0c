"""`torch.utils.checkpoint`: compute again on the way back instead of keeping."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.torch.autograd.functional import plainly
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.tensor import unwrap, wrap

__all__ = ["checkpoint", "checkpoint_sequential"]


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: Any = None, **kwargs: Any) -> Any:
    """Call `function`; what happens inside is computed again on the way back.

    >>> from gradtape_standins import torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> torch.utils.checkpoint.checkpoint(lambda x: x**3, x, use_reentrant=False).backward()
    >>> x.grad
    tensor(12.)
    """
    kept = functools.partial(function, **kwargs) if kwargs else function
    with translating():
        return wrap(gt.checkpoint(plainly(kept))(*unwrap(args)), "CheckpointFunctionBackward")


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: Any = None, **_: Any) -> Any:
    """Call functions one after the other, in `segments` stretches that are computed again on the way back."""
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    length = max(len(steps) // segments, 1)
    starts = [length * number for number in range(segments)]

    def stretch(begin: int, end: int) -> Callable[[Any], Any]:
        def run(value: Any) -> Any:
            for step in steps[begin:end]:
                value = step(value)
            return value

        return run

    for begin, end in zip(starts, [*starts[1:], len(steps)], strict=True):
        run = stretch(begin, end)
        input = run(input) if begin == starts[-1] else checkpoint(run, input, use_reentrant=use_reentrant)
    return input


__getattr__ = missing(__name__)
